"""The lines of an `_msearch`, and how they are cut into requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.model.request import SearchRequest
from harness.model.run import Failure
from harness.search.msearch import PREFERENCE, Entry, choose_path, join_lines, make_entry


def entry(body: Any, index: str | None = "products", title_field: str | None = None) -> Entry:
    made = make_entry(0, SearchRequest("q", index, body, title_field=title_field))
    assert isinstance(made, Entry), made
    return made


def lines(body: Any, **more: Any) -> tuple[Any, Any]:
    header, content, rest = entry(body, **more).lines.split(b"\n")
    assert rest == b""
    return json.loads(header), json.loads(content)


class TestLines:
    def test_partial_answers_are_refused_and_the_shard_copy_is_fixed(self) -> None:
        header, _ = lines({"size": 10})

        assert header == {"preference": PREFERENCE, "allow_partial_search_results": False}

    def test_the_body_goes_out_as_it_is_but_for_the_source(self) -> None:
        body = {"query": {"match": {"title": "schuhe größe 42"}}, "size": 10, "aggs": {"n": {"max": {"field": "n"}}}}

        assert lines(body)[1] == {**body, "_source": False}

    def test_the_title_is_brought_back(self) -> None:
        assert lines({"size": 1}, title_field="name.en")[1] == {"size": 1, "_source": ["name.en"]}

    @pytest.mark.parametrize("body", [{"_source": ["a"]}, {"_source": True}, {"stored_fields": ["_none_"]}])
    def test_a_body_that_says_what_comes_back_is_left_alone(self, body: dict[str, Any]) -> None:
        assert lines(body, title_field="title")[1] == body

    def test_a_point_in_time_bears_neither_index_nor_preference(self) -> None:
        header, body = lines({"pit": {"id": "abc"}, "size": 3})

        assert header == {"allow_partial_search_results": False}
        assert body["pit"] == {"id": "abc"}

    @pytest.mark.parametrize(
        ("index", "path"),
        [
            ("products", "/products/_msearch"),
            ("shop-*,böoks", "/shop-*,b%C3%B6oks/_msearch"),
            (None, "/_msearch"),
        ],
    )
    def test_the_path_names_the_index_and_the_header_does_not(self, index: str | None, path: str) -> None:
        entries = [entry({"size": size}, index=index) for size in (1, 2)]

        assert choose_path(entries).partition("?")[0] == path
        assert [json.loads(line).get("index") for line in join_lines(entries).splitlines()[::2]] == [None, None]

    @pytest.mark.parametrize(
        "indexes",
        [("products", "books"), ("products", None), ("<logs-{now/d}>",) * 2, (",".join(["products"] * 300),) * 2],
        ids=["several", "one-without", "a-slash", "long"],
    )
    def test_indexes_that_no_path_can_name_are_in_the_headers(self, indexes: tuple[str | None, ...]) -> None:
        entries = [entry({"size": 1}, index=index) for index in indexes]

        assert choose_path(entries).partition("?")[0] == "/_msearch"
        headers = [json.loads(line) for line in join_lines(entries).splitlines()[::2]]
        assert tuple(header.get("index") for header in headers) == indexes
        assert all(header["preference"] == PREFERENCE for header in headers)

    def test_a_point_in_time_is_searched_without_an_index(self) -> None:
        made = entry({"pit": {"id": "abc"}})

        assert choose_path([made]).partition("?")[0] == "/_msearch"
        assert "index" not in json.loads(join_lines([made]).splitlines()[0])

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (["query"], "object"),
            ({"query": float("nan")}, "JSON"),
            ({"query": "\ud800"}, "JSON"),
            ({"query": {1, 2}}, "JSON"),
        ],
    )
    def test_what_cannot_be_sent_is_a_failure_of_its_query(self, body: Any, words: str) -> None:
        made = make_entry(0, SearchRequest("q", "products", body))

        assert isinstance(made, Failure)
        assert words in made.reason


class TestTemplates:
    def test_the_depth_becomes_a_parameter(self) -> None:
        made = entry({"template": {"id": "products", "params": {"q": "shoes"}}, "size": 25})

        assert json.loads(made.lines.split(b"\n")[1]) == {"id": "products", "params": {"size": 25, "q": "shoes"}}
        assert choose_path([made]) == "/products/_msearch/template?max_concurrent_searches=5"

    def test_a_size_of_its_own_wins(self) -> None:
        made = entry({"template": {"id": "products", "params": {"size": 7}}, "size": 25})

        assert json.loads(made.lines.split(b"\n")[1])["params"] == {"size": 7}

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({"template": "products"}, "object"),
            ({"template": {"id": "x"}, "query": {}}, "`query`"),
            ({"template": {"id": "x", "params": []}}, "params"),
        ],
    )
    def test_another_form_is_a_failure(self, body: Any, words: str) -> None:
        made = make_entry(0, SearchRequest("q", "products", body))

        assert isinstance(made, Failure)
        assert words in made.reason
