"""
Reads the answers of a language model, strictly: what is not one grade of the scale is no grade. Pure.

Nothing is guessed. An answer that was cut may hold a whole object all the same, and a sentence may hold a number: to
take these would count what the model did not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

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
        content = json.loads(_unwrap(text), object_pairs_hook=_make_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
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


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


def _unwrap(text: str) -> str:
    """*text* without the code fence around the whole of it, which many models add to JSON."""
    stripped = text.strip()
    fenced = _FENCED.fullmatch(stripped)
    return fenced[1] if fenced else stripped


def _make_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(members)
    # Of two grades, Python would take the last one.
    if len(content) < len(members):
        raise ValueError
    return content


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _format_number(number: float) -> str:
    # JSON can hold numbers of any length, and infinite ones such as 1e999.
    return format_exactly(float(number)) if abs(number) < 10**20 else "of more than 20 digits"
