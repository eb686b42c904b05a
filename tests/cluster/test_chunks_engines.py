"""
Cranfield in chunks of 40 and of 80 words on the embedded node: the same quotes judge both, and none names a chunk.

An index of chunks may also be judged by document, where each document counts at its best chunk.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.model.report import SuiteReport
from harness.report.json import loads_report

pytestmark = [pytest.mark.embedded, pytest.mark.one_engine]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(cranfield: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("chunks")
    command = [sys.executable, "scripts/make-chunks", cranfield, made]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return made


@pytest.fixture(scope="module")
def reports(folder: Path, opensearch_url: str) -> dict[int, SuiteReport]:
    found = {}
    for words in (40, 80):
        file = folder / f"{words}.json"
        options = ["--url", opensearch_url, "--allow-write", "-q", "--output", f"json={file}"]
        assert main(["run", str(folder / f"chunks-{words}.relevance.yaml"), *options]) == 0
        [found[words]] = loads_report(file.read_text(encoding="utf-8")).suites
    return found


@pytest.mark.cranfield
def test_quotes_gate_two_chunkings_of_one_collection(reports: dict[int, SuiteReport], folder: Path) -> None:
    chunk_ids = {json.loads(line)["id"] for line in (folder / "chunks-40.jsonl").read_text().splitlines()}
    judged = json.dumps([json.loads(line)["quotes"] for line in (folder / "queries.jsonl").read_text().splitlines()])
    assert not any(f'"{chunk}"' in judged for chunk in chunk_ids)
    means = {}
    for words, report in reports.items():
        assert [verdict.status.value for verdict in report.verdicts] == ["passed", "warned"]
        means[words] = report.summaries[0].mean
        assert report.summaries[0].counted == 225
    assert means[40] < means[80]


@pytest.mark.cranfield
def test_two_chunkings_compare_on_the_same_quotes(
    reports: dict[int, SuiteReport], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reports
    assert main(["compare", str(folder / "40.json"), str(folder / "80.json"), "--json"]) == 0
    rows = {row["measure"]: row for row in json.loads(capsys.readouterr().out)["measures"]["measures"]}
    assert rows["St_nDCG@10"]["queries"] == 225
    assert rows["St_nDCG@10"]["difference"] > 0


@pytest.mark.cranfield
def test_a_baseline_of_one_chunking_holds_for_the_other(
    reports: dict[int, SuiteReport], folder: Path, opensearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reports
    monkeypatch.delenv("CI", raising=False)
    options = ["--url", opensearch_url, "--allow-write", "-q"]
    baseline = ["--baseline", str(folder / "40.baseline.json")]
    assert main(["baseline", "save", str(folder / "chunks-40.relevance.yaml"), *options[:-1], *baseline]) == 0
    file = folder / "beside.json"
    suite = str(folder / "chunks-80.relevance.yaml")
    assert main(["run", suite, *options, *baseline, "--output", f"json={file}"]) == 0
    [report] = loads_report(file.read_text(encoding="utf-8")).suites
    assert [verdict.status.value for verdict in report.verdicts] == ["passed", "passed"]


SUITE = """\
suite: manuals
target: {index: manuals, id_field: document, ids: unique}
fixture:
  documents: chunks.jsonl
  mappings: {properties: {document: {type: keyword}, body: {type: text}}}
request: {query: {match: {body: "{{text}}"}}}
depth: 2
measures: ["R@2"]
thresholds: ["mean R@2 >= 1"]
queries:
  - {id: valve, text: the valve, judgments: {"1": 1, "2": 1}}
"""


def test_a_fixture_of_chunks_is_judged_by_document(
    tmp_path: Path, opensearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty chunks of one document are above the only one of another."""
    monkeypatch.chdir(tmp_path)
    chunks = [{"id": f"a{number}", "document": "1", "body": "the valve"} for number in range(30)]
    chunks.append({"id": "b", "document": "2", "body": "the valve of a pump that is far longer than all others"})
    Path("chunks.jsonl").write_text("\n".join(map(json.dumps, chunks)), encoding="utf-8")
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    options = ["--url", opensearch_url, "--allow-write", "-q", "--output", "json=report.json"]
    assert main(["run", "shop.relevance.yaml", *options]) == 0
    [report] = loads_report(Path("report.json").read_text(encoding="utf-8")).suites
    assert [document.id for document in report.queries[0].ranking] == ["1", "2"]
    assert any("up to 100 hits were asked for" in note for note in report.notes)
