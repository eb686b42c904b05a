"""JSON text -> the tree of nodes that YAML gives, with the same limits. What is YAML and not JSON is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

import yaml

from harness.errors import Problem, SuiteError
from harness.files.opening import TextSource
from harness.suites.yaml import Composer, Node

_TOKEN = re.compile(r'[ \t\n\r]*([{}\[\]:,]|"(?:[^"\\]|\\.)*"|[^ \t\n\r{}\[\]:,"]+)')
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")


def compose_json(source: TextSource) -> tuple[Node | None, list[Problem]]:
    """
    Build the tree of a file of JSON, as `harness.suites.yaml.compose` does of YAML.

    Raises:
        SuiteError: The text is not JSON; the messages quote nothing of it. Or it exceeds a limit.
    """
    # Python's parser finds what is no JSON, and words it; so the order of the tokens can be trusted.
    try:
        json.loads(source.text, parse_constant=_refuse_constant)
    except RecursionError:
        raise SuiteError([source.make_problem(0, 0, "the JSON is nested too deeply")]) from None
    except ValueError as error:
        line, column = source.find_place(getattr(error, "pos", 0))
        message = f"this is not JSON: {getattr(error, 'msg', error)}"
        raise SuiteError([source.make_problem(line, column, message)]) from None
    composer = Composer(source)
    for event in _iterate_events(source):
        composer.take(event)
    return composer.root, composer.problems


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON has")


def _iterate_events(source: TextSource) -> Iterator[yaml.Event]:
    """The tokens of *source*, which is JSON, as the events of a YAML parser."""
    for match in _TOKEN.finditer(source.text):
        token = match[1]
        if token in (",", ":"):
            continue
        line, column = source.find_place(match.start(1))
        place = yaml.Mark(source.path, match.start(1), line - 1, column - 1, "", 0)
        if token == "{":
            yield yaml.MappingStartEvent(None, None, True, place, place)
        elif token == "[":
            yield yaml.SequenceStartEvent(None, None, True, place, place)
        elif token == "}":
            yield yaml.MappingEndEvent(place, place)
        elif token == "]":
            yield yaml.SequenceEndEvent(place, place)
        elif token.startswith('"'):
            text = json.loads(token)
            if _HALF_A_CHARACTER.search(text):
                message = "this text has half of a character; write both halves, as in \\ud83d\\ude00"
                raise SuiteError([source.make_problem(line, column, message)])
            yield yaml.ScalarEvent(None, None, (False, True), text, place, place, style='"')
        else:
            yield yaml.ScalarEvent(None, None, (True, False), token, place, place)
