"""
Golden outputs: texts of the program that a change of its inside must not change, kept as files and compared whole.

A test gives all that it kept, by name, and its folder of `tests/golden/outputs` holds exactly that. `masked` takes out
what differs from one run to the next; the rest of this module brings outputs into lines, so that a diff can be read.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness import __version__

__all__ = ["REMEDY", "difference", "hold", "json_lines", "junit_lines", "masked", "page_lines", "read", "rewrite"]

REMEDY = "pytest tests/golden --update-golden"
WIDTH = 160
MOST_LINES = 400

MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)?"), "<time>"),
    (re.compile(r"(127\.0\.0\.1|localhost)(<span>)?:(</span>)?\d+"), "<host>"),
    # The day on which the test runs. Other days are kept: they are of fixed inputs, and one of them may be today.
    (re.compile(r'(?<=baseline of )\d{4}-\d\d-\d\d|(?<="created": ")\d{4}-\d\d-\d\d(?=")'), "<today>"),
    (re.compile(r"\b\d+\.\d+ ?s\b"), "<seconds> s"),
    (re.compile(r'"(\w*seconds)": [\d.e-]+'), r'"\1": "<seconds>"'),
    (re.compile(r'\btime="[\d.]+"'), 'time="<seconds>"'),
    (re.compile(r'hostname="[^"]*"'), 'hostname="<host>"'),
    (re.compile(rf"\b{re.escape(__version__)}\b(?!\.)"), "<version>"),
    (re.compile(r"^platform .*$", re.MULTILINE), "platform <platform>"),
    (re.compile(r"^usage: .* \[options\]", re.MULTILINE), "usage: pytest [options]"),
    (re.compile(r"^plugins: .*$", re.MULTILINE), "plugins: <plugins>"),
    (re.compile(r"::stop-commands::\w+"), "::stop-commands::<token>"),
    (re.compile(r"^::[0-9a-f]{16,}::$", re.MULTILINE), "::<token>::"),
    (re.compile(r"^([=_-])\1{2,} (.*) \1{3,}$", re.MULTILINE), r"\1\1\1 \2 \1\1\1"),
    (re.compile(r" +\[ *\d+%\]$", re.MULTILINE), ""),
    (re.compile(r"(?<![\w/])/[\w./-]*/harness/[\w./-]+\.py:[0-9]+(?=: )"), "<source>"),
)


def masked(text: str, folder: Path) -> str:
    """*text* without times, the day of its baseline, ports, versions, and the path of *folder*, where the test runs."""
    for path in {str(folder.resolve()), str(folder)}:
        text = text.replace(path, "<folder>")
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def json_lines(text: str) -> str:
    """The JSON *text* with its order and numbers, and with each small object and list on one line."""
    return _laid_out(json.loads(text), "") + "\n"


def _laid_out(value: object, indent: str) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) <= WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(held, deeper)}" for key, held in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [_laid_out(held, deeper) for held in value]
        opening, closing = "[", "]"
    return opening + "\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}{closing}"


def junit_lines(text: str) -> str:
    """The JUnit XML *text* with an element, or a line of text, a line."""
    root = ElementTree.fromstring(text)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def page_lines(text: str) -> str:
    """What a page shows and carries: its texts, what it says to who cannot see, and its data, in the page's order."""
    return "".join(f"{line}\n" for line in _Page(text).lines)


class _Page(HTMLParser):
    """A line for each block of text, and one for each element with data."""

    INLINE = frozenset({"a", "b", "bdi", "code", "em", "span", "strong", "time", "output", "label", "option", "small"})
    CARRIES = ("aria-label", "title", "datetime", "placeholder", "value", "id", "href")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._open = ""
        self._hidden = 0
        self._in_word = False
        self.feed(text)
        self.close()
        self._end()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")
        self._in_word = tag == "wbr"
        if self._in_word:
            return
        if tag in ("td", "th") and self._open:
            self._open += " |"
        elif tag not in (*self.INLINE, "td", "th"):
            self._end()
        for name, value in attributes:
            if name.startswith("data-") or name in self.CARRIES:
                self._open += f" [{name}={value}]"

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")
        if tag not in (*self.INLINE, "td", "th"):
            self._end()

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            blank = "" if self._in_word else " "
            self._open += blank + " ".join(data.split())
            self._in_word = False

    def _end(self) -> None:
        if self._open.strip():
            self.lines.append(self._open.strip())
        self._open = ""


def read(folder: Path) -> dict[str, str]:
    """What *folder* holds, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))}


def hold(folder: Path, outputs: Mapping[str, str], *, update: bool) -> None:
    """Fail the test if *folder* holds anything but *outputs*; write them there first if *update*."""
    if update:
        rewrite(folder, outputs)
    differences = difference(folder, outputs)
    if differences:
        pytest.fail(f"{differences}\n\nWhere the change is meant: {REMEDY}", pytrace=False)


def rewrite(folder: Path, outputs: Mapping[str, str]) -> None:
    """Let *folder* hold *outputs* and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in read(folder).keys() - outputs.keys():
        (folder / name).unlink()
    for name, text in outputs.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def difference(folder: Path, outputs: Mapping[str, str]) -> str:
    """How *outputs* differ from what *folder* holds, as a diff for people; empty where they do not."""
    lines = list(_diffs(folder.name, read(folder), outputs))
    more = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES] + ([f"… and {more} lines more"] if more > 0 else []))


def _diffs(folder: str, kept: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(kept.keys() | found.keys()):
        if name not in found:
            yield f"{folder}/{name}: no test makes it any more"
        elif name not in kept:
            yield f"{folder}/{name}: is not kept yet"
        else:
            before, after = kept[name].splitlines(), found[name].splitlines()
            yield from difflib.unified_diff(before, after, f"{folder}/{name} as kept", "now", lineterm="", n=2)
