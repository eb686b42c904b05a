"""A request as the text of a template, in which another system writes its placeholders; JSON once they are filled."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from harness.model import Json, Suite

__all__ = ["placeholders_written", "template_text"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_OURS = re.compile(r'("?)\{\{\s*([A-Za-z_][\w-]*)\s*\}\}("?)')


def placeholders_written(
    text: str, theirs: re.Pattern[str], name: Callable[[re.Match[str]], str]
) -> tuple[str, set[str]]:
    r"""
    *text* with a suite's placeholders.

    Args:
        text: A template, which need not be JSON: what is inserted outside of quotes may be a number or a list.
        theirs: Matches the other system's placeholders.
        name: The suite's name of a match.

    Returns:
        The text, in which each placeholder is in quotes; and those that were not, so that their values are no strings.

    >>> import re
    >>> placeholders_written('{"a": "$q", "b": $n}', re.compile(r"\$(\w)"), lambda match: match[1])
    ('{"a": "{{q}}", "b": "{{n}}"}', {'n'})
    """
    bare: set[str] = set()

    def in_quotes(match: re.Match[str]) -> str:
        return "{{" + name(match) + "}}"

    def outside(match: re.Match[str]) -> str:
        bare.add(name(match))
        return f'"{in_quotes(match)}"'

    parts, end = [], 0
    for string in _STRING.finditer(text):
        parts += [theirs.sub(outside, text[end : string.start()]), theirs.sub(in_quotes, string[0])]
        end = string.end()
    return "".join([*parts, theirs.sub(outside, text[end:])]), bare


def template_text(body: Json, suite: Suite, marker: Callable[[str], str]) -> str:
    """
    *body* with the other system's placeholders, *marker* of the name; those of params that are no text have no quotes.

    The number of hits is written as it is.
    """
    bare = {name for query in suite.queries for name, value in query.params.items() if not isinstance(value, str)}

    def written(match: re.Match[str]) -> str:
        before, name, after = match.groups()
        if name == "depth":
            return str(suite.depth) if before and after else f"{before}{suite.depth}{after}"
        return marker(name) if name in bare and before and after else f"{before}{marker(name)}{after}"

    return _OURS.sub(written, json.dumps(body, indent=2, ensure_ascii=False)) + "\n"
