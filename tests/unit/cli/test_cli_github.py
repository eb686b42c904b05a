"""--github: what GitHub's runner reads, what is added to the summary, and what stays as it was."""

import json as stdlib_json

import pytest

from builders.first_suite import write_first_suite
from builders.reports import products, report_of
from harness.cli import main
from harness.errors import EngineStartError, SuiteError
from harness.report import json
from harness.report.markdown.escape import LARGEST_SUMMARY


@pytest.fixture
def summary(tmp_path, monkeypatch):
    """A step of GitHub Actions, in the root of its repository."""
    path = tmp_path / "summary.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


@pytest.fixture
def pipeline(stand_in):
    """Gives a report with a failure and an error in it, unless a test says otherwise."""
    stand_in.answer = report_of(products())
    return stand_in


ANNOTATION = "::error file=suites/products.relevance.yaml,line=14,col=5,title=products%3A mean nDCG@10 >= 0.80::"


def test_the_run_is_annotated_and_summarized(summary, pipeline, capsys):
    assert main(["run", "a.yaml", "--github"]) == 3
    printed = capsys.readouterr()
    lines = [line for line in printed.out.splitlines() if line.startswith("::error")]
    assert lines[1].startswith(ANNOTATION)
    assert "::error" not in printed.err
    assert summary.read_text(encoding="utf-8").startswith("## ❌ 2 thresholds of 5 did not hold\n")


def test_what_the_report_says_is_no_command_of_the_runner(summary, pipeline, capsys):
    main(["run", "a.yaml", "--github"])
    lines = capsys.readouterr().out.splitlines()
    stop = lines[0]
    assert stop.startswith("::stop-commands::")
    resume = lines.index(f"::{stop.removeprefix('::stop-commands::')}::")
    assert "products" in lines[1]
    assert all(line.startswith("::error ") for line in lines[resume + 1 :])
    assert not any(line.startswith("::error ") for line in lines[:resume])
    main(["run", "a.yaml", "--github"])
    assert capsys.readouterr().out.splitlines()[0] != stop, "nobody can know the word that ends it"


def test_json_stays_alone_on_standard_output(summary, pipeline, capsys):
    assert main(["run", "a.yaml", "--github", "--json"]) == 3
    printed = capsys.readouterr()
    assert json.loads_report(printed.out) == pipeline.answer
    assert ANNOTATION in printed.err
    assert summary.exists()


def test_without_the_option_nothing_is_said_to_the_runner(summary, pipeline, capsys):
    assert main(["run", "a.yaml"]) == 3
    printed = capsys.readouterr()
    assert "::" not in printed.out + printed.err
    assert not summary.exists()


def test_what_the_step_has_written_before_stays(summary, pipeline):
    summary.write_text("# Built\n")
    main(["run", "a.yaml", "--github", "-q"])
    assert summary.read_text(encoding="utf-8").startswith("# Built\n\n## ❌")


def test_a_summary_has_the_size_of_all_that_the_step_wrote(summary, pipeline):
    summary.write_text("x" * (LARGEST_SUMMARY - 1500))
    main(["run", "a.yaml", "--github", "-q"])
    assert summary.stat().st_size <= LARGEST_SUMMARY
    assert "Omitted because of the size limit" in summary.read_text(encoding="utf-8")


def test_a_full_summary_is_a_sentence_and_stays_what_it_is(summary, pipeline, capsys):
    summary.write_text("x" * (LARGEST_SUMMARY - 20))
    assert main(["run", "a.yaml", "--github", "-q"]) == max(2, pipeline.answer.exit_status)
    assert "summary of this step is full" in capsys.readouterr().err
    assert summary.stat().st_size == LARGEST_SUMMARY - 20


@pytest.mark.parametrize("command", ["run", "validate"])
def test_elsewhere_it_is_refused_before_anything_runs(command, summary, pipeline, capsys, monkeypatch):
    pipeline.answer = AssertionError("nothing may run")
    for name, sentence in [("GITHUB_STEP_SUMMARY", "no job summary"), ("GITHUB_ACTIONS", "--output markdown=")]:
        monkeypatch.delenv(name)
        assert main([command, "a.yaml", "--github"]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("relevance: --github")
        assert sentence in printed.err


def test_a_summary_that_cannot_be_written_is_a_sentence(summary, pipeline, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary / "no" / "folder"))
    assert main(["run", "a.yaml", "--github"]) == max(2, pipeline.answer.exit_status)
    assert "the job's summary could not be written: No such file" in capsys.readouterr().err


def test_a_wrong_suite_is_annotated_on_its_lines(summary, pipeline, capsys):
    pipeline.answer = SuiteError.at("suites/a.relevance.yaml", 3, 1, "found 'mesures', expected 'measures'")
    assert main(["run", "a.yaml", "--github"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    line = "::error file=suites/a.relevance.yaml,line=3,col=1,title=relevance::found 'mesures', expected 'measures'"
    assert line in printed.err.splitlines()
    assert "suites/a.relevance.yaml:3:1: found 'mesures'" in printed.err
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("## ❌ Nothing was decided\n")
    assert "mesures" in text


def test_an_engine_that_does_not_start_is_annotated_too(summary, pipeline, capsys):
    pipeline.answer = EngineStartError("no Java was found")
    assert main(["run", "a.yaml", "--github"]) == 3
    assert "::error title=relevance::no Java was found" in capsys.readouterr().err


def test_validate_annotates_every_problem_of_every_file(summary, tmp_path, capsys):
    write_first_suite(tmp_path)
    assert main(["validate", ".", "--github"]) == 0
    assert "::" not in capsys.readouterr().out
    good = (tmp_path / "products.relevance.yaml").read_text()
    (tmp_path / "products.relevance.yaml").write_text(good.replace("measures:", "mesures:"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.relevance.yaml").write_text("suite: [\n")
    assert main(["validate", ".", "--github"]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("::error ")]
    assert [line.split(",")[0] for line in lines] == [
        "::error file=products.relevance.yaml",
        "::error file=sub/b.relevance.yaml",
    ]


def test_markdown_and_code_quality_are_outputs(pipeline, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    words = ["--output", "markdown=a.md", "--output", "codequality=gl.json"]
    assert main(["run", "a.yaml", *words]) == 3
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("## ❌")
    entries = stdlib_json.loads((tmp_path / "gl.json").read_text())
    assert [entry["severity"] for entry in entries] == ["critical", "major"]
    assert capsys.readouterr().err.splitlines()[:2] == ["wrote a.md", "wrote gl.json"]
