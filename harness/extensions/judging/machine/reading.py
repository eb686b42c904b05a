"""
Reads the answers of a language model, strictly: what is not one grade of the scale is no grade. Pure.

Nothing is guessed. An answer that was cut may hold a whole object all the same, and a sentence may hold a number: to
take these would count what the model did not say. Models that think first write their thoughts, or a sentence, before
the object: these are left out, if nothing in them could be an object too and nothing stands behind the object.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from harness.files.json import WrongJson, parse_json
from harness.words import format_exactly, shorten

MALFORMED = "malformed"
"""How an answer ended that is none of a chat, such as a page of HTML."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of calls: those that were sent, and those of the answers."""

    input: int = 0
    output: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer of the model, as the server sent it."""

    text: str
    """Empty if there is none."""
    ended: str
    """Why the answer ended, as the server says it: "stop" where the model was finished."""
    refusal: str = ""
    """What the model says in place of an answer, where the server tells that apart."""
    model: str = ""
    version: str = ""
    tokens: Tokens | None = None
    """None if the server does not count them."""


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """A grade of the scale, and why the model gave it."""

    grade: float
    reason: str


@dataclass(frozen=True, slots=True)
class NoGrade:
    """Why an answer is no grade, and its text."""

    why: str
    text: str


def read_completion(completion: Completion, grades: Collection[float]) -> GivenGrade | NoGrade:
    """
    The grade in *completion*, which must be one of *grades*.

    >>> read_completion(Completion('{"reason": "on the subject", "grade": 2}', "stop"), [0, 1, 2, 3])
    GivenGrade(grade=2.0, reason='on the subject')
    >>> read_completion(Completion('{"reason": "perfect", "grade": 5}', "stop"), [0, 1, 2, 3])
    NoGrade(why='the grade 5 is not on the scale', text='{"reason": "perfect", "grade": 5}')
    """
    text = completion.text
    if completion.refusal or completion.ended == "content_filter":
        return NoGrade("the model refused", completion.refusal or text)
    if completion.ended == "length":
        return NoGrade("the answer was cut", text)
    if completion.ended == MALFORMED:
        return NoGrade("the server did not answer as in a chat", text)
    if completion.ended != "stop":
        return NoGrade(f"the answer ended with {shorten(completion.ended or 'nothing')}, not with stop", text)
    return _read_object(text, grades)


def _read_object(text: str, grades: Collection[float]) -> GivenGrade | NoGrade:
    """The grade in *text*, which must be one JSON object with just a reason and a grade."""
    try:
        content = parse_json(_find_object(text))
    except WrongJson:
        content = None
    if not isinstance(content, dict):
        return NoGrade("the answer is not one JSON object", text)
    if content.keys() != {"grade", "reason"}:
        return NoGrade("the answer does not have just a reason and a grade", text)
    if not isinstance(content["reason"], str):
        return NoGrade("the reason is no text", text)
    grade = content["grade"]
    # In Python True is equal to 1, and "2" may be anything.
    if isinstance(grade, bool) or not isinstance(grade, int | float):
        return NoGrade("the grade is no number", text)
    if grade not in grades:
        return NoGrade(f"the grade {_format_number(grade)} is not on the scale", text)
    return GivenGrade(float(grade), content["reason"])


_THOUGHTS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_THINKING = re.compile(rf"\s*<({_THOUGHTS})>(?:(?!</?\1>).)*</\1>", re.DOTALL | re.IGNORECASE)
"""What a model thinks, at the beginning of its answer."""

_THOUGHT_BEGINS = re.compile(rf"<(?:{_THOUGHTS})>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"</(?:{_THOUGHTS})>", re.IGNORECASE)

_FENCE_BEGINS = re.compile(r"```(?:json)?[ \t]*\n\s*$", re.IGNORECASE)
_FENCE_ENDS = re.compile(r"\n[ \t]*```$")


def _find_object(text: str) -> str:
    """The part of *text* that must be one JSON object: without thoughts, a sentence and a code fence around it."""
    stripped = _remove_thoughts(text).strip()
    before, brace, after = stripped.partition("{")
    candidate = brace + after
    # A thought that does not end, and an object in what stands before, may be what the model did not decide.
    if "}" in before or _THOUGHT_BEGINS.search(before):
        return stripped
    fence = _FENCE_BEGINS.search(before)
    if fence is not None:
        before, candidate = before[: fence.start()], _FENCE_ENDS.sub("", candidate)
    return stripped if "```" in before else candidate


def _remove_thoughts(text: str) -> str:
    """*text* without the thoughts at its beginning, whose first mark may stand in the template of the chat."""
    thought = _THINKING.match(text)
    while thought is not None:
        text = text[thought.end() :]
        thought = _THINKING.match(text)
    endings = list(_THOUGHT_ENDS.finditer(text))
    if len(endings) == 1 and not text.lstrip().startswith("{") and not _THOUGHT_BEGINS.search(text):
        return text[endings[0].end() :]
    return text


def _format_number(number: float) -> str:
    # JSON can hold numbers of any length, and infinite ones such as 1e999.
    return format_exactly(float(number)) if abs(number) < 10**20 else "of more than 20 digits"
