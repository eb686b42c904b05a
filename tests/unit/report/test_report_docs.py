"""docs/reference/reports.md says what the forms hold, and its examples run."""

from pathlib import Path

import pytest

from builders.comparisons import comparison_report
from harness.extensions.compare import outputs as comparison_json
from harness.extensions.compare.printers import QUERIES_IN_MARKDOWN as MOST
from harness.extensions.compare.sentences import Change
from harness.report import json
from harness.report.markdown.escape import MOST_BYTES

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "reports.md").read_text(encoding="utf-8")


@pytest.fixture
def run_example(tmp_path, monkeypatch, capsys):
    def run(number):
        example = PAGE.split("```python\n")[number].split("```")[0]
        monkeypatch.chdir(tmp_path)
        exec(compile(example, "docs/reference/reports.md", "exec"), {})
        return capsys.readouterr().out

    return run


def test_the_example_of_a_report_runs(report, tmp_path, run_example):
    (tmp_path / "report.json").write_text(json.dumps_report(report), encoding="utf-8")
    assert run_example(1) == "{'red-shoes': 0.41213, 'q2': 0.0, 'q3': None, 'q4': 1.0}\n"


def test_the_example_of_a_comparison_runs(tmp_path, run_example):
    (tmp_path / "comparison.json").write_text(comparison_json.dumps_comparison(comparison_report()), encoding="utf-8")
    lines = run_example(2).splitlines()
    assert lines[:3] == ["nDCG@10 0.075", "P@5 0.0", "red-shoes 0.6123 ['文書-22']"]
    assert lines[-1] == "gloves None []"


def test_every_change_of_a_query_has_its_meaning():
    for change in Change:
        assert f"| `{change}` | " in PAGE


def test_the_bounds_of_the_markdown_are_told():
    assert (MOST, MOST_BYTES) == (10, 1024**2)
    assert "It shows ten queries" in PAGE
    assert "1 MiB" in PAGE
