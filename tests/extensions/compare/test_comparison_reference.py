"""docs/reference/reports.md says what a comparison holds, and the example of json.md runs."""

from pathlib import Path

from extensions.compare.builders.comparisons import comparison_report
from harness.extensions.compare.outputs import dumps_comparison
from harness.extensions.compare.printers import QUERIES_IN_MARKDOWN
from harness.extensions.compare.sentences import Change
from harness.report.markdown.escape import LARGEST_SUMMARY

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGE = (REFERENCE / "reports.md").read_text(encoding="utf-8")


def test_the_example_of_a_comparison_runs(tmp_path, monkeypatch, capsys):
    (tmp_path / "comparison.json").write_text(dumps_comparison(comparison_report()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    example = (REFERENCE / "json.md").read_text(encoding="utf-8").split("```python\n")[2].split("```")[0]
    exec(compile(example, "docs/reference/json.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["nDCG@10 0.075", "P@5 0.0", "red-shoes 0.6123 ['文書-22']"]
    assert lines[-1] == "gloves None []"


def test_every_change_of_a_query_has_its_meaning():
    for change in Change:
        assert f"| `{change}` | " in PAGE


def test_the_bounds_of_the_markdown_are_told():
    assert (QUERIES_IN_MARKDOWN, LARGEST_SUMMARY) == (10, 1024**2)
    assert "It shows ten queries" in PAGE
    assert "1 MiB" in PAGE
