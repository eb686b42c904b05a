from pathlib import Path

from harness.report import json

DOCS = Path(__file__).parents[3] / "docs"


def test_the_example_of_the_manual_runs(report, tmp_path, monkeypatch, capsys):
    text = (DOCS / "report.md").read_text(encoding="utf-8")
    example = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/report.md", "exec"), {})
    assert capsys.readouterr().out == "{'red-shoes': 0.41213, 'q2': 0.0, 'q3': None, 'q4': 1.0}\n"
