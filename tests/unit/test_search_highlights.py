"""Words of a query in the texts of a document: what is sent to find them, and where they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Highlight, Hit, Ranking, Response
from harness.search.bodies import make_ids_request
from harness.search.highlights import MATCH_BEGIN, MATCH_END, find_highlight_query, read_highlights, read_marks
from harness.search.hits import read_ranking
from harness.search.lookup import KnownDocuments, LookUp, look_up_documents
from harness.search.msearch import Entry, make_entry
from harness.search.protocol import LookUpOptions
from harness.search.testing import FakeSearch
from harness.search.texts import make_text

TENT = {"match": {"name": "tent"}}
REQUEST = SearchRequest("tents", "products", {"query": TENT, "size": 10})
OPTIONS = LookUpOptions(title_field="name", fields=("summary", "name"), highlights=True)


def mark(text: str) -> str:
    return text.replace("[", MATCH_BEGIN).replace("]", MATCH_END)


def test_the_query_of_the_request_marks_words_in_each_field_that_is_shown() -> None:
    look_up = make_ids_request(REQUEST, ["a", "b"], OPTIONS)
    assert look_up.highlights
    assert look_up.body["query"] == {"ids": {"values": ["a", "b"]}}, "the words do not choose the documents"
    assert look_up.body["highlight"] == {
        "pre_tags": [MATCH_BEGIN],
        "post_tags": [MATCH_END],
        "number_of_fragments": 0,
        "require_field_match": False,
        "highlight_query": TENT,
        "fields": {"name": {}, "summary": {}},
    }


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ({"retriever": {"standard": {"query": TENT}}}, TENT),
        ({"query": {"hybrid": {"queries": [TENT, {"knn": {"v": {"vector": [1]}}}]}}}, {"bool": {"should": [TENT]}}),
        ({"query": {"hybrid": {"queries": [{"neural": {}}]}}}, None),
        ({"query": {"knn": {"field": "v"}}}, None),
        ({"knn": {"field": "v"}}, None),
        ({"template": {"id": "stored", "params": {}}}, None),
        ({"query": "{{text}}"}, None),
        (None, None),
    ],
)
def test_a_request_without_words_marks_none(body: Any, query: Any) -> None:
    assert find_highlight_query(body) == query
    look_up = make_ids_request(SearchRequest("q", "products", body), ["a"], OPTIONS)
    assert ("highlight" in look_up.body, look_up.highlights) == (query is not None, query is not None)


@pytest.mark.parametrize(
    ("values", "source", "words"),
    [
        (["a [red] [tent]"], "a red tent", ["red", "tent"]),
        (["a  [red\n]\ttent "], "a  red\n\ttent ", ["red"]),
        (["[red]", "light [red]"], ["blue", "red", "light red"], ["red", "red"]),
        (["[re][d] tent"], "red tent", ["red"]),
        (["[red tent"], "red tent", []),
        (["red] tent[ ]"], "red tent", []),
        (["[red] boots"], "red tent", []),
        ([7, None], "red tent", []),
        ("[red]", "red tent", []),
    ],
)
def test_words_are_found_in_the_text_that_is_shown(values: Any, source: Any, words: list[str]) -> None:
    text = make_text(source)
    marked = [mark(value) if isinstance(value, str) else value for value in values] if isinstance(values, list) else ""
    highlight = read_highlights({"name": marked}, {"name": text}).get("name")
    spans = highlight.spans if highlight is not None else ()
    assert [text[start:end] for start, end in spans] == words


def test_in_a_text_that_was_cut_the_words_before_the_cut_are_found() -> None:
    value = "[red] tent " + "word " * 1000 + "[red]"
    text = make_text(value.replace("[", "").replace("]", ""))
    assert text.endswith("…")
    assert read_highlights({"name": [mark(value)]}, {"name": text})["name"].spans == ((0, 3),)


@given(st.lists(st.text(alphabet="ab \n" + MATCH_BEGIN + MATCH_END), max_size=4), st.text(alphabet="ab ·…"))
def test_whatever_an_engine_marks_the_places_are_in_the_text_and_in_order(values: list[str], text: str) -> None:
    for highlight in read_highlights({"name": values}, {"name": text}).values():
        flat = [place for span in highlight.spans for place in span]
        assert flat == sorted(set(flat))
        assert flat[0] >= 0
        assert flat[-1] <= len(text)
    for value in values:
        plain, spans = read_marks(value)
        assert MATCH_BEGIN not in plain
        assert all(plain[start:end].strip() for start, end in spans)


def test_a_hit_has_the_highlights_of_its_title_and_its_fields() -> None:
    entry = make_entry(0, make_ids_request(REQUEST, ["a"], OPTIONS))
    assert isinstance(entry, Entry)
    source = {"name": "Red tent", "summary": "A tent for two."}
    highlight = {"name": [mark("Red [tent]")], "summary": [mark("A [tent] for two.")], "sku": [mark("[a]")]}
    found = {"_id": "a", "_index": "products", "_score": 1.0, "_source": source, "highlight": highlight}
    ranking = read_ranking({"hits": {"hits": [found]}}, entry)
    assert isinstance(ranking, Ranking)
    [hit] = ranking.hits
    assert hit.highlights == {
        "summary": Highlight("A tent for two.", ((2, 6),)),
        "name": Highlight("Red tent", ((4, 8),)),
    }


class Refusing(FakeSearch):
    """Refuses highlights of a query, or everything, and finds all else."""

    def __init__(self, refused: str | None, kind: FailureKind = FailureKind.ERROR) -> None:
        super().__init__({})
        self.refused, self.kind = refused, kind

    def _respond(self, request: SearchRequest) -> Response:
        highlight = request.body.get("highlight")
        words = str(highlight["highlight_query"]) if highlight else ""
        if self.refused is not None and (self.refused == "*" or self.refused in words):
            return Failure(self.kind, "cannot highlight", 400)
        ids = request.body["query"]["ids"]["values"]
        return Ranking(tuple(Hit(name, highlights={} if highlight else None) for name in ids))


def look_up(search: FakeSearch) -> list[KnownDocuments]:
    boots = SearchRequest("boots", "products", {"query": {"match": {"name": "boots"}}})
    return look_up_documents(search, [LookUp(REQUEST, ["a", "b"], OPTIONS), LookUp(boots, ["b"], OPTIONS)])


def test_a_server_that_refuses_highlights_is_asked_once_more_without() -> None:
    search = Refusing("boots")
    tents, boots = look_up(search)
    assert (sorted(tents.hits), sorted(boots.hits), tents.unread, boots.unread) == (["a", "b"], ["b"], {}, {})
    assert (tents.hits["b"].highlights, boots.hits["b"].highlights) == ({}, None)
    assert [look_up.highlights for look_up in search.look_ups] == [True, True, False]


def test_a_server_that_refuses_both_is_not_asked_a_third_time() -> None:
    search = Refusing("*")
    for known in look_up(search):
        assert (known.hits, known.reasons) == ({}, ["engine error (400): cannot highlight"])
    assert len(search.look_ups) == 4


def test_what_was_never_sent_is_not_sent_again() -> None:
    search = Refusing("*", FailureKind.NOT_RUN)
    assert look_up(search)[0].hits == {}
    assert len(search.look_ups) == 2


@given(st.text(alphabet="ab ", min_size=1, max_size=60), st.data(), st.integers(3, 40))
def test_a_shortened_text_has_the_first_word_and_nothing_else_is_marked(
    text: str, data: st.DataObject, length: int
) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = tuple(zip(places[::2], places[1::2], strict=False))
    highlight = Highlight(text, spans)
    shown = highlight.shorten(length)
    assert len(shown.text) <= max(length, 3)
    assert shown.text.strip("…") in text
    marked = [text[start:end] for start, end in spans]
    for start, end in shown.spans:
        assert 0 <= start < end <= len(shown.text)
        assert any(shown.text[start:end] in word for word in marked)
    if spans:
        assert shown.spans
        assert shown.text[slice(*shown.spans[0])] == marked[0][: shown.spans[0][1] - shown.spans[0][0]]
