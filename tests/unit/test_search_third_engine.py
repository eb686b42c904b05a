"""A kind of server is one module: a shelf of books, which is searched by whole words, runs a suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.config import shape
from harness.model.request import Cluster, SearchRequest, SentRequest
from harness.model.run import Engine, Hit, Ranking
from harness.options import RunOptions
from harness.run import run_suites
from harness.search.dialects import DIALECTS
from harness.search.protocol import ConnectOptions, Dialect, ResponseStream, Search, StreamedResponse

BOOKS = {
    "b1": "trail running shoes",
    "b2": "running a kitchen",
    "b3": "shoes of the world",
}


class ShelfSearch(Search):
    """Finds the books that have any of the words, those with most of them first."""

    service = "shelf"
    engine = Engine("shelf", "1")

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        for place, request in enumerate(requests):
            words = set(request.body["words"].split())
            scores = {book: len(words & set(title.split())) for book, title in BOOKS.items()}
            found = sorted((book for book, score in scores.items() if score), key=lambda book: -scores[book])
            hits = tuple(Hit(book, float(scores[book])) for book in found[: request.body["size"]])
            yield StreamedResponse(place, request, Ranking(hits, total=len(found)))

    def close(self) -> None:
        """Nothing is open."""


class ShelfDialect(Dialect):
    def connect(self, cluster: Cluster, options: ConnectOptions) -> Search:
        return ShelfSearch()

    def describe(self, request: SearchRequest, cluster: Cluster) -> SentRequest:
        return SentRequest("LOOK", cluster.url or "", body=request.body)

    def count_hits(self, request: SearchRequest) -> int | None:
        size: int = request.body["size"]
        return size

    def has_all_matches(self, ranking: Ranking, request: SearchRequest) -> bool:
        return ranking.total == ranking.returned


SUITE = """
suite: books
target: {cluster: library, index: shelf}
request: {words: "{{text}}"}
measures: [nDCG@10]
thresholds: [mean nDCG@10 >= 0.8]
queries:
  - {id: shoes, text: running shoes, judgments: {b1: 3, b2: 1}}
  - {id: world, text: world kitchen, judgments: {b3: 1}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(DIALECTS, "shelf", ShelfDialect())
    monkeypatch.setattr(shape, "SERVICES", [*shape.SERVICES, "shelf"])
    (tmp_path / "relevance.toml").write_text('[clusters.library]\nurl = "http://127.0.0.1:1"\nservice = "shelf"\n')
    (tmp_path / "books.relevance.yaml").write_text(SUITE)
    return tmp_path


def test_relevance_toml_takes_every_kind_of_server() -> None:
    """`config` is a layer below `search`, and so has a list of its own."""
    assert set(shape.SERVICES) == DIALECTS.keys()


def test_a_third_engine_runs_a_suite(folder: Path) -> None:
    options = RunOptions(config=folder / "relevance.toml")
    report = run_suites([folder / "books.relevance.yaml"], options, environ={})
    [suite] = report.suites
    assert (str(suite.engine), suite.index, suite.name) == ("shelf 1", "shelf", "books")
    assert [hit.id for hit in suite.queries[0].ranking] == ["b1", "b2", "b3"]
    [verdict] = suite.verdicts
    assert verdict.status.value == "passed", verdict.reason
    assert (suite.checks, suite.unanswered_once, report.exit_status) == (None, set(), 0)
