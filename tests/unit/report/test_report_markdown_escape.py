"""What others wrote reads in Markdown as they wrote it; GitHub's own parser is the judge."""

import pytest

pytest.importorskip("cmarkgfm")

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from builders.markdown import Page
from harness.report.markdown.escape import escape, format_code
from harness.report.safe_text import printable

HOSTILE = [
    "a|b", "`x` ``y``", "*bold* _it_ ~~gone~~", "<b>x</b><script>alert(1)</script>", "&lt;&#64;", "[l](http://x.y)",
    "![i](x.png)", "http://x.example/?a=1&b=2", "www.x.example", "a@x.example", "@somebody", "#123", "GH-123", "o/r#1",
    ":smile:", "$x^2$", "1. one", "- one", "+ one", "# head", "> quote", "    code", "---", "===", "[^1]", "\\",
    "a\nb", "a\r\n\r\n| b |", "\x1b[31mred", "\u202eabc", "!12", "| --- |", "<!-- -->", "</details>", "</code>",
    "~label",
]  # fmt: skip


def words(text: str) -> list[str]:
    """HTML shows any number of blanks as one."""
    return printable(text).split()


def in_places(text: str) -> dict[str, tuple[str, list[str]]]:
    """*text* in every kind of place, and the elements that are the place's own."""
    table = ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    return {
        "list": (f"- {text}\n", ["ul", "li"]),
        "cell": (f"| x | y |\n| --- | --- |\n| {text} | z |\n", table),
        "summary": (f"<details><summary>{text}</summary>\n\nx\n\n</details>\n", ["details", "summary", "p"]),
        "paragraph": (f"{text}\n", ["p"]),
    }


def reads_as_it_is(text: str) -> None:
    for wrap, own in ((escape, []), (format_code, ["code"])):
        for place, (markdown, elements) in in_places(wrap(text)).items():
            page = Page(markdown)
            found = [element for element in page.elements if element != "span"]
            assert sorted(found) == sorted(elements + own), (place, markdown)
            extra = {"cell": "x y z", "summary": "x"}.get(place, "").split()
            assert sorted(page.text.split()) == sorted(words(text) + extra), (place, markdown)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_reads_as_it_is(text):
    reads_as_it_is(text)


@given(st.text(alphabet=st.one_of(st.sampled_from("|`*_~<>&[]()#@:!$+-=.\\\n\t 1aw/'\""), st.characters()), min_size=1))
def test_any_text_reads_as_it_is(text):
    if printable(text).strip():
        reads_as_it_is(text)


@pytest.mark.parametrize(
    "text", ["@somebody", "see #123", "gh-7", "GH-7", "o/r#1", "a :smile: b", "$x$", "!12", "~bug"]
)
def test_what_is_looked_for_on_the_page_stands_in_two_pieces(text):
    pattern = re.compile(r"@\w|#\d|gh-\d|:\w+:|\$\w|!\d|~\w", re.IGNORECASE)
    assert pattern.search(text)
    assert not any(pattern.search(piece) for piece in Page(escape(text)).pieces)
    assert html.unescape(Page(escape(text)).text).strip() == text


def test_long_text_is_cut_before_it_is_escaped():
    assert escape("<<<<", most=3) == "&#60;&#60;…"
    assert format_code("abc", most=3) == "<code>abc</code>"
