"""docs/reference/json.md: the example of a report runs."""

from pathlib import Path

import pytest

from harness.report import json

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")


@pytest.fixture
def run_example(tmp_path, monkeypatch, capsys):
    def run(number):
        example = PAGE.split("```python\n")[number].split("```")[0]
        monkeypatch.chdir(tmp_path)
        exec(compile(example, "docs/reference/json.md", "exec"), {})
        return capsys.readouterr().out

    return run


def test_the_example_of_a_report_runs(report, tmp_path, run_example):
    (tmp_path / "report.json").write_text(json.dumps_report(report), encoding="utf-8")
    assert run_example(1) == "{'red-shoes': 0.41213, 'q2': 0.0, 'q3': None, 'q4': 1.0}\n"
