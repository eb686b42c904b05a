"""JSON text -> the tree of nodes that YAML gives, with the same limits. What is YAML and not JSON is an error."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from harness.errors import Problem, SuiteError
from harness.files.json import TOKEN, WrongJson, check_syntax, read_scalar
from harness.files.opening import TextSource
from harness.suites.yaml import Composer, Node


def compose_json(source: TextSource) -> tuple[Node | None, list[Problem]]:
    """
    Build the tree of a file of JSON, as `harness.suites.yaml.compose` does of YAML.

    Raises:
        SuiteError: The text is not JSON; the messages quote nothing of it. Or it exceeds a limit.
    """
    composer = Composer(source)
    try:
        check_syntax(source.text)
        for event in _iterate_events(source):
            composer.take(event)
    except WrongJson as error:
        raise SuiteError([source.make_problem(*source.find_place(error.offset), str(error), "syntax")]) from None
    return composer.root, composer.problems


def _iterate_events(source: TextSource) -> Iterator[yaml.Event]:
    """The tokens of *source*, which is JSON, as the events of a YAML parser."""
    for match in TOKEN.finditer(source.text):
        token, offset = match[1], match.start(1)
        if token in (",", ":"):
            continue
        line, column = source.find_place(offset)
        place = yaml.Mark(source.path, offset, line - 1, column - 1, "", 0)
        if token == "{":
            yield yaml.MappingStartEvent(None, None, True, place, place)
        elif token == "[":
            yield yaml.SequenceStartEvent(None, None, True, place, place)
        elif token == "}":
            yield yaml.MappingEndEvent(place, place)
        elif token == "]":
            yield yaml.SequenceEndEvent(place, place)
        elif token.startswith('"'):
            yield yaml.ScalarEvent(None, None, (False, True), read_scalar(token, offset), place, place, style='"')
        else:
            yield yaml.ScalarEvent(None, None, (True, False), token, place, place)
