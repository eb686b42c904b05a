"""A BEIR folder runs at once, and its rankings leave as a TREC run with the same score."""

import json
from pathlib import Path

import pytest

from extensions.migrate.builders.moving import write_files
from harness.cli import main
from harness.report.json import loads_report

TITLES = ["red tent", "blue tent", "climbing rope", "red rope", "stove", "tent for two"]
FILES = {
    "camp/corpus.jsonl": "".join(
        json.dumps({"_id": f"d{n}", "title": title, "text": f"{title} {'and more ' * n}"}) + "\n"
        for n, title in enumerate(TITLES)
    ),
    "camp/queries.jsonl": '{"_id": "q1", "text": "red tent"}\n{"_id": "q2", "text": "rope"}\n',
    "camp/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td0\t1\nq1\td5\t2\nq2\td3\t1\n",
}


def test_a_beir_folder_runs_and_leaves_as_a_run(engine_url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files(FILES)
    assert main(["import", "beir", "camp", "--output", "camp.relevance.yaml"]) == 0
    on_engine = ("camp.relevance.yaml", "--url", engine_url, "--allow-write")
    capsys.readouterr()
    assert main(["run", *on_engine, "--json", "-q"]) == 0
    [suite] = loads_report(capsys.readouterr().out).suites
    mean = {summary.measure: summary.mean for summary in suite.summaries}["nDCG@10"]
    assert 0.5 < mean < 1

    assert main(["baseline", "save", *on_engine, "-q"]) == 0
    assert main(["export", "trec", "camp.relevance.yaml", "--output", "trec"]) == 0
    capsys.readouterr()
    scored = ("--qrels", "trec/camp.qrels", "--run", "trec/camp.run", "--measure", "nDCG@10", "--profile", "trec")
    assert main(["evaluate", *scored, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"]["nDCG@10"]["mean"] == pytest.approx(mean, abs=1e-9)
    assert Path("trec/camp.topics.tsv").read_text() == "q1\tred tent\nq2\trope\n"
