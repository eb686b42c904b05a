"""
A lexical and a vector request of one suite on an index that the harness did not make: judged, compared, gated.

The suite and the commands are those of docs/guides/hybrid.md. An engine without kNN gets the page's exact script.
"""

from __future__ import annotations

import json
import math
import random
import re
import shlex
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from builders.pages import JudgingPage
from harness.cli import main
from harness.extensions.compare.outputs import loads_comparison
from harness.report.json import loads_report
from harness.search.engine import EngineSearch

PAGE = (Path(__file__).parents[4] / "docs" / "guides" / "hybrid.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## A lexical and a vector request")[2].partition("\n## ")[0]
SUITE = re.search(r"```yaml\n(.*?)```", SECTION, re.DOTALL)[1]  # type: ignore[index]
COMMANDS = dict(
    line.removeprefix("$ relevance ").removeprefix("$ ").split(" ", 1)
    for line in SECTION.splitlines()
    if line.startswith("$ ")
)
DIMENSIONS = 96
KINDS = {"tents": ["tent", "shelter", "tarp"], "rope": ["rope", "cord", "sling"], "light": ["lamp", "torch", "lantern"]}
SCRIPT = {
    "script_score": {
        "query": {"match_all": {}},
        "script": {
            "source": "double score = 0; def vector = params._source.vector; for (int i = 0; i < vector.length; i++) "
            "{ score += vector[i] * params.near[i]; } return score + 1;",
            "params": {"near": "{{query_vector}}"},
        },
    }
}
FIELDS = {
    "elasticsearch": {"type": "dense_vector", "dims": DIMENSIONS, "index": True, "similarity": "cosine"},
    "opensearch": {"type": "float", "index": False},
}


class Shop:
    """An index whose words mislead and whose vectors do not, and the suite of the page."""

    def __init__(self, folder: Path, engine: EngineSearch, index: Callable[..., str]) -> None:
        self.folder = folder
        self._random = random.Random(7)
        self._centers = {kind: [self._random.gauss(0, 1) for _ in range(DIMENSIONS)] for kind in KINDS}
        self.kinds: dict[str, str] = {}
        documents = {}
        for kind, words in KINDS.items():
            for number in range(40):
                name = f"{kind}-{number}"
                self.kinds[name] = kind
                other = KINDS[self._random.choice(list(KINDS))][0]
                title = f"{words[number % 3]} beside a {other}"
                documents[name] = {"title": title, "vector": self.vector(kind, 0.5)}
        properties = {"title": {"type": "text"}, "vector": FIELDS[engine.engine.kind]}
        self.suite = yaml.safe_load(SUITE)
        self.suite["target"]["index"] = index(documents, mappings={"properties": properties})
        self.suite["queries"] = [{"id": kind, "text": words[0]} for kind, words in KINDS.items()]
        if engine.engine.kind == "opensearch":
            self.suite["requests"]["vector"] = {"query": SCRIPT}
        self.vectors = {kind: self.vector(kind, 0.2) for kind in KINDS}

    def vector(self, kind: str, noise: float) -> list[float]:
        """A vector of length 1 near the center of *kind*."""
        numbers = [center + self._random.gauss(0, noise) for center in self._centers[kind]]
        length = math.sqrt(sum(number * number for number in numbers))
        return [round(number / length, 6) for number in numbers]

    def write(self) -> None:
        """Write the suite and the vectors."""
        (self.folder / "shop.relevance.yaml").write_text(yaml.safe_dump(self.suite), encoding="utf-8")
        lines = [json.dumps({"id": query, "vector": vector}) for query, vector in self.vectors.items()]
        (self.folder / "vectors.jsonl").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def shop(
    engine_url: str,
    search: EngineSearch,
    index: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Shop:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "relevance.toml").write_text(f'[clusters.default]\nurl = "{engine_url}"\n', encoding="utf-8")
    return Shop(tmp_path, search, index)


def run(name: str, *more: str) -> int:
    """The exit status of a command of the page."""
    return main([name, *shlex.split(COMMANDS[name]), "--quiet", *more])


def judge(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Grade by the kind of each document, and write the grades; the documents and the queries of the page."""
    shown: list[dict[str, Any]] = []
    queries: list[dict[str, Any]] = []

    def browse(url: str) -> bool:
        page = JudgingPage(url)
        shown.extend(page.documents)
        queries.extend(page.ask("/session")["queries"])
        for one in shown:
            grade = 2 if shop.kinds[one["document"]] == one["query"] else 0
            page.grade({f"{one['query']}/{one['document']}": grade})
        page.ask("/finish", {})
        return True

    monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(open=browse))
    assert run("judge") == 0
    return shown, queries


@pytest.mark.one_engine
def test_a_vector_request_is_judged_beside_a_lexical_one_and_gated_by_its_own_baseline(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lexical = ["--request", "lexical", "--quiet"]
    shop.write()
    shown, queries = judge(shop, monkeypatch)
    assert {name for one in shown for name in one["ranks"]} == {"lexical", "vector"}
    assert all(query["params"] == {} for query in queries), "a vector is not shown"

    # The baseline of the lexical request is saved before there is any vector.
    whole = yaml.safe_load((shop.folder / "shop.relevance.yaml").read_text(encoding="utf-8"))
    shop.suite = {key: value for key, value in whole.items() if key != "vectors"}
    shop.suite["requests"] = {"lexical": whole["requests"]["lexical"]}
    shop.write()
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    shop.suite = whole
    shop.write()
    assert main(["run", "shop.relevance.yaml", *lexical]) == 0

    assert run("compare", "--output", "json=comparison.json") == 0
    comparison = loads_comparison(Path("comparison.json").read_text(encoding="utf-8"))
    assert not [note for note in comparison.notes if "asked something else" in note]
    assert comparison.measures is not None
    [ndcg, judged] = comparison.measures.measures
    assert (ndcg.measure, judged.measure, ndcg.queries) == ("nDCG@5", "Judged@5", 3)
    assert ndcg.candidate > ndcg.reference + 0.05
    assert judged.candidate == judged.reference == 1.0
    assert len(comparison.queries) == 3

    assert run("baseline") == 0
    assert run("run", "--output", "json=report.json") == 0
    report = loads_report(Path("report.json").read_text(encoding="utf-8"))
    assert [one.request for one in report.suites] == ["lexical", "vector"]
    assert {query.question.partition(":")[0] for query in report.suites[0].queries} == {"text"}
    assert {query.question.partition(":")[0] for query in report.suites[1].queries} == {"query_vector"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *shlex.split(COMMANDS["pytest"])]
    assert subprocess.run(command, check=False, timeout=120).returncode == 0

    # Another model's vectors end the baseline of the vector request only, and no grade.
    shop.vectors["tents"] = shop.vector("tents", 0.3)
    shop.write()
    capsys.readouterr()
    assert main(["run", "shop.relevance.yaml", *lexical]) == 0
    assert main(["run", "shop.relevance.yaml", "--request", "vector", "--quiet"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "it asked something else for 1 query: tents (its params were" in said
    assert str(shop.vectors["tents"][4]) not in said, "no vector is printed"
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert "no grade is new" in capsys.readouterr().out
