"""Markdown as GitHub's own parser reads it."""

from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options


class Page(HTMLParser):
    """The elements of a page, its text in the pieces in which later filters see it, and its tables by row and cell."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.pieces: list[str] = []
        self.rows: list[list[str]] = []
        self._in_cell = False
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self._in_cell = False

    def handle_data(self, data):
        self.pieces.append(data)
        if self._in_cell:
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def row(self, first: str) -> list[str]:
        """The one row that begins with *first*."""
        [found] = [row for row in self.rows if row[0] == first]
        return found
