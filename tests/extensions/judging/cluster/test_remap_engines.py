"""``relevance judgments remap`` on real engines: the example suite keeps its scores when all ids change places."""

from __future__ import annotations

import json
import random
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import yaml

from harness.cli import main

SUITES = Path(__file__).parents[4] / "suites"


def ask(url: str, method: str, path: str, body: str = "") -> None:
    """Send one request, whose answer does not matter; raises an error of `urllib` where it is refused."""
    headers = {"content-type": "application/x-ndjson"}
    with urlopen(Request(url + path, body.encode() or None, headers, method=method)) as answer:
        answer.read()


@pytest.fixture
def indexes(engine_url: str) -> Iterator[tuple[str, str]]:
    """The products under their ids, and under ids that changed places."""
    documents = [json.loads(line) for line in (SUITES / "products/documents.jsonl").read_text().splitlines()]
    ids = [document.pop("id") for document in documents]
    other_ids = random.Random(3).sample(ids, len(ids))
    names = (f"remap-{uuid.uuid4().hex}", f"remap-{uuid.uuid4().hex}")
    for index, ids_there in zip(names, (ids, other_ids), strict=True):
        lines = []
        for identity, document in zip(ids_there, documents, strict=True):
            lines += [json.dumps({"index": {"_index": index, "_id": identity}}), json.dumps(document)]
        ask(engine_url, "POST", "/_bulk?refresh=true", "\n".join(lines) + "\n")
    yield names
    for index in names:
        ask(engine_url, "DELETE", f"/{index}")


def test_scores_stay_when_all_ids_change_places(
    engine_url: str,
    indexes: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = indexes
    shutil.copytree(SUITES / "products", "products")
    suite = yaml.safe_load((SUITES / "products.relevance.yaml").read_text(encoding="utf-8"))
    kept = {key: suite[key] for key in ("suite", "grades", "display", "judgments", "queries")}
    # Popularity breaks most ties, and documents that still tie have another order in each index.
    body = {**suite["requests"]["current"], "sort": ["_score", {"popularity": "desc"}]}
    for query in kept["queries"]:
        for key in ("thresholds", "xfail", "skip"):
            query.pop(key, None)
    content = {**kept, "target": {"index": before}, "request": body, "measures": ["nDCG@10"]}
    Path("shop.relevance.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    words = ["shop.relevance.yaml", "--url", engine_url, "-q"]
    expected = run(words)
    capsys.readouterr()

    options = ["--index", after, "--by", "title", "--by", "description", "--write"]
    assert main(["judgments", "remap", *words, *options]) == 0

    first = capsys.readouterr().out.splitlines()[0]
    assert (
        first == "shop.relevance.yaml: 278 documents judged or expected, by title, description: 274 moved, 4 as before"
    )
    assert run([*words, "--index", after]) == pytest.approx(expected, abs=1e-3)


def run(words: list[str]) -> float:
    """The mean nDCG@10 of a run."""
    main(["run", *words, "--output", "json=report.json"])
    [suite] = json.loads(Path("report.json").read_text(encoding="utf-8"))["suites"]
    [summary] = suite["summaries"]
    return float(summary["mean"])
