"""What of a document is cut out for a person to read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.request import SearchRequest
from harness.search.hits import read_ranking
from harness.search.msearch import Entry, make_entry
from harness.search.texts import SNIPPET_LENGTH, make_snippet, read_texts

DOCUMENT = {
    "title": "A very long title that has many more words in it than any other text here",
    "image": "aGFybmVzcw" * 40,
    "body": {"text": "Light shoes for\nlong runs.", "notes": ["on  roads", "on \x1b[31mtrails\u2028"]},
    "price": 79.5,
    "sizes": [40, 41],
    "new": True,
    "nothing": None,
}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("body.text", "Light shoes for long runs."),
        ("body.notes", "on roads · on [31mtrails"),
        ("body", "Light shoes for long runs. · on roads · on [31mtrails"),
        ("price", "79.5"),
        ("sizes", "40 · 41"),
        ("new", "true"),
        ("nothing", None),
        ("absent", None),
    ],
)
def test_the_text_of_a_field_is_one_line(field, expected):
    assert read_texts(DOCUMENT, [field]).get(field) == expected


def test_a_snippet_is_one_line_of_the_longest_text():
    assert make_snippet(DOCUMENT, "title") == "Light shoes for long runs."


def test_without_a_title_field_the_longest_text_is_taken():
    assert make_snippet(DOCUMENT) == DOCUMENT["title"]


@pytest.mark.parametrize("source", [None, {}, [], "text", {"n": 3}, {"a": ""}, {"a": " \n"}])
def test_where_there_is_nothing_to_read_there_is_no_snippet(source):
    assert make_snippet(source, "title") in (None, "text")


def test_a_long_text_is_cut_behind_a_word():
    snippet = make_snippet({"a": "word " * 100})
    assert snippet == ("word " * 39).strip() + " word…"
    assert make_snippet({"a": "w" * 500}) == "w" * (SNIPPET_LENGTH - 1) + "…"
    assert make_snippet({"a": "w" * SNIPPET_LENGTH}) == "w" * SNIPPET_LENGTH


TEXTS = st.recursive(
    st.none() | st.text() | st.integers(), lambda held: st.lists(held) | st.dictionaries(st.text(), held), max_leaves=20
)


@given(TEXTS)
def test_whatever_a_document_holds_a_snippet_is_short_and_one_line(source):
    snippet = make_snippet(source, "title")
    assert snippet is None or (
        0 < len(snippet) <= SNIPPET_LENGTH and len(snippet.splitlines()) == 1 and "\x1b" not in snippet
    )


def test_the_engine_is_asked_for_what_is_read_and_for_nothing_else():
    def source_of(**fields):
        entry = make_entry(0, SearchRequest("q", "i", {"size": 1}, **fields))
        return json.loads(entry.lines.splitlines()[1])["_source"]

    assert source_of() is False
    assert source_of(fields=("body",)) == ["body"]
    assert source_of(title_field="title", has_snippet=True) == ["title", "*"]


def test_a_hit_brings_its_snippet_only_where_one_was_asked_for():
    found = [{"_index": "i", "_id": "a", "_source": DOCUMENT}, {"_index": "i", "_id": "b"}]
    answer = {"hits": {"hits": found}}
    assert [hit.snippet for hit in read_ranking(answer, Entry(0, b"", title_field="title", has_snippet=True)).hits] == [
        "Light shoes for long runs.",
        None,
    ]
    assert [hit.snippet for hit in read_ranking(answer, Entry(0, b"", title_field="title")).hits] == [None, None]
