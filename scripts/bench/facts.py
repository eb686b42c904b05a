"""What scripts/bench/compare-checkouts compares of outputs: text without what differs from one run to the next."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

NAMES = (
    (re.compile(r"harness\.plugin|pytest_relevance"), "PLUGIN"),
    (re.compile(r"\bharness\b(?!\.\w+\.)"), "relevance"),
    (re.compile(r"\b(_?)HARNESS_"), r"\1RELEVANCE_"),
)
"""The names of the command and its files before they were renamed. The import package keeps its name."""

MASKS = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( ?[+-]\d\d:?\d\d| ?Z| UTC)?", "<time>"),
        (r"\b\d\d:\d\d(:\d\d)?( UTC)?\b", "<time>"),
        (r"\d{4}-\d\d-\d\dT\d{6}Z(-[\w-]*?)?-[0-9a-f]{8}\b", "<kept run>"),
        (r"(127\.0\.0\.1|localhost):\d+", "<host>"),
        (r"\b\d+(\.\d+)? ?s\b", "<seconds>"),
        (r'"(\w*seconds|to_last_byte)": [\d.e-]+', r'"\1": "<seconds>"'),
        (r'\b(time|timestamp|hostname)="[^"]*"', r'\1="<masked>"'),
        (r"\b\d+\.\d+\.\d+((rc|a|b|\.dev)\d+)?(\+[\w.]+)?\b", "<version>"),
        (r"^platform .*$", "<platform>"),
        (r"^plugins: .*$", "<plugins>"),
        (r" +\[ *\d+%\]$", ""),
        (r"::stop-commands::\w+|^::[0-9a-f]{16,}::$", "<token>"),
        (r"/[\w./-]*/harness/[\w./-]+\.py:\d+", "<source>"),
    )
)
"""What differs from one run to the next."""

BORDERS = re.compile(r"[│┃─━┄┈╭╮╰╯├┤┬┴┼┏┓┗┛┡┩╇╈╞╪╡═|*`]+|[=_]{3,}|(?<!\S)(#+|[-+:]+|[•·])(?!\S)")


def list_lines(name: str, text: str, folders: Sequence[str], further: Sequence[str]) -> list[str]:
    """
    The lines of the output *name* that are compared, without what differs between runs.

    Args:
        name: Its file name; the suffix tells what it is.
        text: The output.
        folders: Paths that are masked.
        further: Regular expressions of what else is masked.
    """
    for pattern, name_of_today in NAMES:
        text = pattern.sub(name_of_today, text)
    for folder in folders:
        text = text.replace(folder, "FOLDER")
    lines = list_facts(name, text) if is_for_people(name) else list_exact(name, text)
    return [mask_line(line, further) for line in lines]


def is_for_people(name: str) -> bool:
    """Whether people read the output *name*, so that its words and numbers count and not its form."""
    return name.endswith((".txt", ".md", ".html"))


def mask_line(line: str, further: Sequence[str]) -> str:
    """*line* without times, versions, ports, and what the patterns *further* find."""
    for pattern, mask in MASKS:
        line = pattern.sub(mask, line)
    for text in further:
        line = re.sub(text, "<masked>", line)
    return line


def list_exact(name: str, text: str) -> list[str]:
    """The lines of an output that has to be the same: JSON and XML a value a line, anything else as it is."""
    if name.endswith(".json") and text.strip():
        try:
            content = json.loads(text)
        except ValueError:
            return text.splitlines()
        return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False).splitlines()
    if name.endswith(".xml") and text.strip():
        root = ElementTree.fromstring(text)
        ElementTree.indent(root)
        return ElementTree.canonicalize(ElementTree.tostring(root, encoding="unicode")).splitlines()
    return text.splitlines()


def list_facts(name: str, text: str) -> list[str]:
    """The lines that people read, without borders, markup and runs of blanks."""
    if name.endswith(".html"):
        text = VisibleText(text).read()
    elif name.endswith(".md"):
        text = re.sub(r"</?(span|code|b|strong)>", "", text)
    lines = (" ".join(BORDERS.sub(" ", line).split()) for line in text.splitlines())
    return [line for line in lines if line]


class VisibleText(HTMLParser):
    """The text of a page, a line for each block."""

    INLINE = frozenset({"a", "b", "bdi", "code", "em", "mark", "span", "strong", "time", "output", "label", "small"})
    HIDDEN = frozenset({"script", "style", "template"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._hidden = 0
        self.feed(text)
        self.close()

    def read(self) -> str:
        """The whole text."""
        return "".join(self._parts)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._hidden += tag in self.HIDDEN
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self.HIDDEN
        self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._parts.append(data.replace("\n", " "))

    def _separate(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._parts.append(" ")
        elif tag not in self.INLINE and tag != "wbr":
            self._parts.append("\n")


def split_words(lines: Sequence[str]) -> list[str]:
    """The numbers and words of *lines*, in order."""
    return [word for line in lines for word in line.split()]


def sort_words(lines: Sequence[str]) -> Any:
    """The numbers and words of *lines*, in an order that does not depend on theirs."""
    return sorted(split_words(lines))
