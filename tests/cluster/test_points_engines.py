"""Points in time of our own, `dfs_query_then_fetch`, warming up and repeats, on real engines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.model.inspection import Explained
from harness.model.request import SearchRequest
from harness.model.run import Failure, Ranking
from harness.options import RunOptions
from harness.run import Runner
from harness.search.engine import EngineSearch

ALL = {"query": {"match_all": {}}, "size": 10}


def found(search: EngineSearch, request: SearchRequest) -> list[str]:
    [response] = search.search([request])
    assert isinstance(response, Ranking), response
    return sorted(hit.id for hit in response.hits)


def test_a_point_in_time_does_not_change_and_ends(
    search: EngineSearch, index: Callable[..., str], call: Callable[..., Any]
) -> None:
    name = index({"a": {"t": 1}, "b": {"t": 2}})
    request = SearchRequest("q", name, ALL, url_params={"preference": "_local", "ignore_unavailable": "true"})
    with search.at_point_in_time(name, request.url_params) as pinned:
        call("DELETE", f"/{name}/_doc/a?refresh=true")
        assert found(search, request) == ["b"]
        assert found(pinned, request) == ["a", "b"]
        assert found(pinned, replace(request, url_params={"search_type": "dfs_query_then_fetch"})) == ["a", "b"]
        explained = pinned.inspector.explain(request, ["a"], ranking=["a"])
        assert [explanation.outcome for explanation in explained] == [Explained.SCORED]
        assert pinned._point is not None
        point = pinned._point.id
    [response] = search.search([SearchRequest("q", None, {**ALL, "pit": {"id": point}})])
    assert isinstance(response, Failure), "it is closed"


def test_an_index_that_is_not_there_is_told(search: EngineSearch) -> None:
    with pytest.raises(Exception, match=r"no point in time was opened by `POST /there-is-none/"):  # noqa: SIM117
        with search.at_point_in_time("there-is-none", {}):
            pass


def test_a_suite_runs_on_a_point_in_time_with_global_statistics(
    engine_url: str, index: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = {f"d{n}": {"title": "red shoes" if n % 3 else "red boots"} for n in range(20)}
    name = index(documents, settings={"number_of_shards": 3})
    suite = tmp_path / "shop.relevance.yaml"
    suite.write_text(
        f"""\
suite: shop
target: {{index: {name}, point_in_time: true}}
request:
  url_params: {{search_type: dfs_query_then_fetch}}
  body: {{query: {{match: {{title: "{{{{text}}}}"}}}}, sort: [_score, {{_doc: asc}}]}}
warm_up: 1
thresholds: ["mean Success@1 >= 1", "p50 latency <= 60000 ms"]
queries:
  - {{id: shoes, text: shoes, judgments: {{{", ".join(f"d{n}: 1" for n in range(20) if n % 3)}}}}}
""",
        encoding="utf-8",
    )
    assert main(["run", str(suite), "--url", engine_url, "--repeat", "2", "--json"]) == 0
    [report] = json.loads(capsys.readouterr().out)["suites"]
    assert report["repeats"] == {"repeats": 2, "unstable": []}
    assert len({document["score"] for document in report["queries"][0]["ranking"]}) == 1, "one statistic for all shards"
    assert [len(report["timing"]["copies"]), len(report["timing"]["copies"][0])] == [1, 3]


def test_missing_documents_are_looked_for_in_the_state_that_was_searched(
    engine_url: str, index: Callable[..., str], call: Callable[..., Any], tmp_path: Path
) -> None:
    name = index({"a": {"title": "red red shoes"}, "b": {"title": "red shoes and blue boots"}})
    suite = tmp_path / "shop.relevance.yaml"
    suite.write_text(
        f"""\
suite: shop
target: {{index: {name}, point_in_time: true}}
depth: 1
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
thresholds: [mean RR@1 >= 1]
queries: [{{id: shoes, text: red, judgments: {{a: 0, b: 1}}}}]
""",
        encoding="utf-8",
    )

    class Deleting:
        def suite_started(self, *_: object) -> None: ...
        def suite_finished(self, *_: object) -> None: ...
        def queries_done(self, _: int) -> None:
            call("DELETE", f"/{name}/_doc/b?refresh=true")

    with Runner({}, Deleting()) as runner:
        [finished] = runner.run([suite], RunOptions(url=engine_url))
    [missing] = finished.report.queries[0].missing
    assert (missing.id, missing.rank, missing.absence) == ("b", 2, None)
