"""Comparisons on real engines: two requests, two engines, an index that was built in another order."""

from __future__ import annotations

import re
import shlex
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.api import Relevance
from harness.cli import main
from harness.extensions.compare.model import ComparisonReport, SideKind
from harness.extensions.compare.outputs import loads_comparison
from harness.model.request import Cluster
from harness.options import RunOptions
from harness.search.dialects import open_search

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "guides" / "compare.md").read_text(encoding="utf-8")
PYTHON = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")


class Shop:
    """A copy of the product suite under a name of its own, which remembers the indexes that it built."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT / "suites", folder / "suites")
        self.path = folder / "suites" / "products.relevance.yaml"
        self.output = folder / "comparison.json"
        self.built: set[tuple[str, str]] = set()
        suite = yaml.safe_load(self.path.read_text(encoding="utf-8"))
        self.write({**suite, "suite": f"compare-test-{uuid.uuid4().hex[:8]}"})

    def write(self, suite: dict[str, Any]) -> None:
        self.suite = suite
        self.path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")

    def compare(self, *words: str, urls: tuple[str, str]) -> tuple[int, ComparisonReport]:
        self.output.unlink(missing_ok=True)
        asked = ["compare", *words, "--suite", str(self.path), "--allow-write", "-q", "--output", f"json={self.output}"]
        status = main(asked)
        report = loads_comparison(self.output.read_text(encoding="utf-8"))
        for url, side in zip(urls, (report.reference, report.candidate), strict=True):
            if side.index is not None:
                self.built.add((url, side.index))
        return status, report


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path)
    yield shop
    for url, index in shop.built:
        with open_search(Cluster("test", url=url), {}) as search:
            search.connection.perform("DELETE", f"/{index}")  # type: ignore[attr-defined]


def test_two_requests_on_one_engine(shop: Shop, engine_url: str) -> None:
    words = ["--url", engine_url, "--threshold", "drop nDCG@10 <= 0.02", "--threshold", "mean RBO >= 0.9"]
    status, report = shop.compare("request:current", "request:candidate", *words, urls=(engine_url, engine_url))
    assert status == 1
    assert [verdict.status.value for verdict in report.verdicts] == ["passed", "failed"]
    assert report.reference.index == report.candidate.index
    assert report.measures is not None
    ndcg = report.measures.measures[0]
    assert (round(ndcg.reference, 4), round(ndcg.candidate, 4), ndcg.queries) == (0.7058, 0.8701, 45)
    assert ndcg.low > 0
    assert report.agreement is not None
    assert 0 < report.agreement.rbo < 0.9
    first = report.queries[0]
    before, after = first.scores["nDCG@10"]
    assert (first.id, before) == ("raincoat", 0.0)
    assert after == max(b - (a or 0) for a, b in (one.scores["nDCG@10"] for one in report.queries) if b is not None)
    assert all(document.title for document in first.documents)


@pytest.mark.cluster
@pytest.mark.embedded
def test_another_engine_gives_the_same_rankings(shop: Shop, elasticsearch_urls: list[str], opensearch_url: str) -> None:
    """The two multiply their scores by another constant, so scores differ and rankings do not."""
    urls = (elasticsearch_urls[0], opensearch_url)
    words = ["--threshold", "every RBO >= 1", "--threshold", "drop every nDCG@10 <= 0"]
    status, report = shop.compare(*urls, *words, urls=urls)
    assert (status, [verdict.observed for verdict in report.verdicts]) == (0, [pytest.approx(1), pytest.approx(0)])
    assert (report.reference.kind, report.candidate.kind) == (SideKind.CLUSTER, SideKind.CLUSTER)
    assert report.reference.engine.startswith("elasticsearch")
    assert report.candidate.engine.startswith("opensearch")
    assert report.agreement is not None
    assert report.agreement.same_ranking == report.agreement.queries == 45


def test_an_index_in_another_order_differs_by_ties_alone(shop: Shop, engine_url: str) -> None:
    current = shop.suite["requests"]["current"]
    shop.write({**shop.suite, "requests": {"current": {"query": current["query"]}}, "thresholds": []})
    words = ["--url", engine_url]
    _, before = shop.compare("request:current", "request:current", *words, urls=(engine_url, engine_url))
    assert main(["baseline", "save", str(shop.path), "--url", engine_url, "--allow-write", "-q"]) == 0
    documents = shop.path.parent / "products" / "documents.jsonl"
    lines = documents.read_text(encoding="utf-8").splitlines()
    documents.write_text("\n".join(reversed(lines)) + "\n", encoding="utf-8")
    words += ["--threshold", "drop every nDCG@10 <= 0"]
    status, report = shop.compare("baseline", "request:current", *words, urls=(engine_url, engine_url))
    assert report.candidate.index != before.candidate.index
    changed = [query for query in report.queries if query.entered or query.left or query.moved]
    assert changed, "ties must have changed places for this to show anything"
    assert (status, report.verdicts[0].observed) == (0, 0.0)
    assert [query.id for query in changed if not query.ties_only] == []


@pytest.mark.cluster
def test_a_request_that_the_engine_refuses_is_no_low_score(shop: Shop, elasticsearch_urls: list[str]) -> None:
    url = elasticsearch_urls[0]
    broken = {"query": {"no_such_query": {"title": "{{text}}"}}}
    shop.write({**shop.suite, "requests": {**shop.suite["requests"], "candidate": broken}})
    words = ["--url", url, "--threshold", "mean RBO >= 0.5"]
    status, report = shop.compare("request:current", "request:candidate", *words, urls=(url, url))
    assert (status, report.verdicts[0].status.value) == (3, "error")
    assert len(report.candidate.unanswered) == 45
    assert "no_such_query" in next(iter(report.candidate.unanswered.values()))
    assert (report.measures, report.agreement) == (None, None)


@pytest.mark.one_engine
def test_the_session_of_the_page_is_so(engine_url: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    [(command, shown)] = [
        (block.removeprefix("$ relevance ").partition("\n")[0], block.partition("\n")[2])
        for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
        if "relevance compare request" in block
    ]
    words = shlex.split(command.replace("--embedded", f"--url {engine_url} --allow-write"))
    assert main(words) == 1
    output, position = capsys.readouterr().out, 0
    for passage in re.split(r"^…\n", shown, flags=re.M):
        assert passage in output[position:], passage
        position = output.index(passage, position) + len(passage)


@pytest.mark.one_engine
def test_the_test_of_the_page_passes(engine_url: str) -> None:
    [text] = [one for one in re.findall(r"^```python\n(.*?)^```$", PYTHON, re.M | re.S) if "test_the_candidate" in one]
    names: dict[str, Any] = {}
    exec(compile(text, "docs/reference/python.md", "exec"), names)
    with Relevance(ROOT, options=RunOptions(url=engine_url)) as relevance:
        names["test_the_candidate_costs_nothing"](relevance)
