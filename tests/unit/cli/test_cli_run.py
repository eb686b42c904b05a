import os
import subprocess
import sys
from dataclasses import replace
from json import loads
from pathlib import Path

import pytest
from rich.text import Text

from harness.cli import main
from harness.cli.terminal import print_all
from harness.errors import EngineStartError, SuiteError
from harness.model.report import QueryReport, Report, SuiteReport
from harness.model.run import Engine, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Profile
from harness.model.timing import ReportTiming
from harness.report import json
from harness.run import Matrix


def report(status=Status.PASSED, exit_status=0):
    verdict = Verdict("v", "hits >= 1", status, "2 documents match", 2, 1, query="靴")
    queries = (QueryReport("靴", "shoes", Outcome.SCORED),)
    engine = Engine("opensearch", "3.8.0")
    suite = SuiteReport(
        "shop", "s.yaml", "r", "c", "i", engine, Profile.STANDARD, "linear", 10, (), (verdict,), queries
    )
    return Report(ReportTiming("2026-11-21T06:00:00+00:00"), "0.1.0", (suite,), exit_status)


@pytest.fixture
def pipeline(stand_in):
    """Gives the report of this module, unless a test says otherwise."""
    stand_in.answer = report()
    return stand_in


def test_every_option_reaches_the_pipeline(pipeline):
    words = ["run", "a.yaml", "folder", "--url", "http://x:9200", "--allow-write"]
    words += ["--tag", "head", "--tag", "tail", "--baseline", "kept.json"]
    assert main(words) == 0
    assert list(pipeline.paths) == [Path("a.yaml"), Path("folder")]
    options = pipeline.options
    assert (options.url, options.tags) == ("http://x:9200", ("head", "tail"))
    assert (options.allow_write, options.embedded, options.engine_version) == (True, False, None)
    assert (options.baseline, options.save_baseline) == (Path("kept.json"), False)
    assert pipeline.environ is os.environ
    main(["run", "a.yaml", "--embedded", "--engine-version", "2.19"])
    assert (pipeline.options.embedded, pipeline.options.engine_version) == (True, "2.19")
    assert pipeline.options.allow_write is False


@pytest.mark.parametrize(
    ("words", "matrix"),
    [
        ([], Matrix()),
        (["--request", "new"], Matrix(("new",))),
        (["--request", "b", "--request", "a", "--index", "v1", "--index", "v2"], Matrix(("b", "a"), ("v1", "v2"))),
        (["--all-requests", "--index", "v1"], Matrix((), ("v1",), all_requests=True)),
    ],
)
def test_requests_and_indexes_are_cells(pipeline, words, matrix):
    assert main(["run", "a.yaml", *words]) == 0
    assert pipeline.matrix == matrix


def test_all_requests_and_a_named_one_contradict_each_other(pipeline, capsys):
    assert main(["run", "a.yaml", "--all-requests", "--request", "new"]) == 2
    assert "--all-requests sends every request; remove --request" in capsys.readouterr().err


def test_that_the_selection_leaves_nothing_to_decide_is_said(pipeline, capsys):
    assert main(["run", "a.yaml", "--query", "red-shoes"]) == 0
    assert pipeline.options.queries == ("red-shoes",)
    pipeline.answer = replace(pipeline.answer, undecided="no threshold applies to 'head'", exit_status=1)
    assert main(["run", "a.yaml", "--tag", "head"]) == 1
    assert "nothing was decided: no threshold applies to 'head'" in capsys.readouterr().err


def test_a_budget_and_strictness_reach_the_pipeline(pipeline):
    assert main(["run", "a.yaml"]) == 0
    assert (pipeline.options.budget, pipeline.options.strict_xfail) == (None, False)
    assert main(["run", "a.yaml", "--budget", "2.5", "--strict-xfail"]) == 0
    assert (pipeline.options.budget, pipeline.options.strict_xfail) == (2.5, True)


@pytest.mark.parametrize("budget", ["0", "-1", "nan", "inf", "soon"])
def test_a_budget_is_a_number_of_seconds(pipeline, capsys, budget):
    assert main(["run", "a.yaml", "--budget", budget]) == 2
    assert f"found '{budget}', expected a number of seconds above 0" in capsys.readouterr().err


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_exit_status_is_the_report_s(pipeline, status):
    pipeline.answer = report(exit_status=status)
    assert main(["run", "a.yaml"]) == status
    assert main(["run", "a.yaml", "--json"]) == status
    assert main(["run", "a.yaml", "--quiet"]) == status


@pytest.mark.parametrize(
    ("error", "status"),
    [(SuiteError.at("a.yaml", 1, 2, "bad"), 2), (EngineStartError("no java"), 3), (KeyboardInterrupt(), 130)],
)
def test_an_error_prints_no_report_and_writes_none(pipeline, tmp_path, capsys, error, status):
    pipeline.answer = error
    assert main(["run", "a.yaml", "--json", "--output", f"json={tmp_path}/r.json"]) == status
    printed = loads(capsys.readouterr().out)
    assert (set(printed), printed["exit_status"]) == ({"problems", "exit_status", "schema"}, status)
    assert list(tmp_path.iterdir()) == []


def test_json_stands_alone_on_standard_output(pipeline, tmp_path, capsys):
    assert main(["run", "a.yaml", "--json", "--output", f"html={tmp_path}/r.html"]) == 0
    printed = capsys.readouterr()
    assert json.loads_report(printed.out) == pipeline.answer
    assert f"wrote {tmp_path}/r.html" in printed.err


def test_the_terminal_gets_the_report_without_colours_off_a_terminal(pipeline, capsys):
    pipeline.answer = report(Status.FAILED, 1)
    main(["run", "a.yaml"])
    text = capsys.readouterr().out
    assert "FAILED  hits >= 1  (query 靴)" in text
    assert "\x1b" not in text


def test_quiet_prints_nothing_but_what_does_not_hold(pipeline, tmp_path, capsys):
    main(["run", "a.yaml", "--quiet", "--output", f"json={tmp_path}/r.json"])
    printed = capsys.readouterr()
    assert printed.out == "1 suite, 1 threshold: 1 passed\n"
    assert printed.err == ""
    assert pipeline.progress is None


def test_all_outputs_are_written(pipeline, tmp_path):
    words = ["run", "a.yaml", "--output", f"html={tmp_path}/r.html", "--output", f"json={tmp_path}/r.json"]
    assert main(words) == 0
    assert json.loads_report((tmp_path / "r.json").read_text()) == pipeline.answer
    assert "靴" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("asked", "width"), [("100", 100), ("40", 80), ("0", 120), ("wide", 120), (None, 120)])
def test_columns_set_the_width_from_80_on(monkeypatch, capsys, asked, width):
    monkeypatch.delenv("COLUMNS", raising=False)
    if asked is not None:
        monkeypatch.setenv("COLUMNS", asked)
    print_all([Text("word " * 100)])
    lines = capsys.readouterr().out.splitlines()
    assert width - 5 <= max(map(len, lines)) <= width


REPORTS_AND_LEAVES = """
import sys, harness.run
sys.path.insert(0, {folder!r})
from test_cli_run import report
from harness.model.run import Status
harness.run.run_suites = lambda *a, **k: report(Status.FAILED, 1)
from harness.cli import main
sys.exit(main(["run", "a.yaml", "--output", "json=" + sys.argv[1], *sys.argv[2:]]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_reader_that_leaves_changes_neither_status_nor_files(tmp_path, more):
    read, write = os.pipe()
    os.close(read)
    code = REPORTS_AND_LEAVES.format(folder=str(Path(__file__).parent))
    file = tmp_path / "r.json"
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), *more], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert done.returncode == 1, done.stderr
    assert json.loads_report(file.read_text()).exit_status == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(("no_colour", "colours"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_unless_told_not_to(tmp_path, no_colour, colours):
    import pty

    leader, follower = pty.openpty()
    code = REPORTS_AND_LEAVES.format(folder=str(Path(__file__).parent))
    environ = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_colour}
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "r.json")], stdout=follower, env=environ)
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:
        pass  # Linux says so when the other end is closed
    os.close(leader)
    assert process.wait() == 1
    assert (b"\x1b[1;31m" in text) is colours
    assert b"FAILED" in text


@pytest.mark.parametrize("error", [EngineStartError("no Java"), KeyboardInterrupt()])
def test_a_run_that_comes_to_nothing_leaves_no_report_of_an_earlier_one(pipeline, tmp_path, capsys, error):
    page, absent = tmp_path / "report.html", tmp_path / "report.json"
    page.write_text('<!doctype html><meta name="generator" content="relevance-harness">')
    pipeline.answer = error
    assert main(["run", "a.yaml", "--output", f"html={page}", "--output", f"json={absent}"]) != 0
    assert list(tmp_path.iterdir()) == []
    assert f"removed {page}, the report of an earlier run" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["suite: a\njudgments: graded.csv\n", "suite: a\njudgments: [graded.csv\n"])
@pytest.mark.parametrize("name", ["a.relevance.yaml", "graded.csv", "kept.json", "linked.json"])
def test_what_a_run_reads_is_neither_removed_nor_overwritten(pipeline, tmp_path, monkeypatch, capsys, name, text):
    """The suite itself was removed, as `the report of an earlier run`, where it had a mistake."""
    monkeypatch.chdir(tmp_path)
    Path("a.relevance.yaml").write_text(text)
    Path("graded.csv").write_text("query,document,grade\nq,d,3\n")
    Path("kept.json").write_text("{}")
    Path("linked.json").symlink_to("graded.csv")
    before = Path(name).read_bytes()
    pipeline.answer = SuiteError([])
    words = ["run", "a.relevance.yaml", "--baseline", "kept.json"]
    assert main([*words, "--output", "html=page.html", "--output", f"json=./{name}"]) == 2
    assert f"{name} is read by this run" in capsys.readouterr().err
    assert Path(name).read_bytes() == before


def test_a_report_overwrites_what_the_run_does_not_read(pipeline, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>mine</p>")
    assert main(["run", "a.yaml", "--output", f"html={page}"]) == 0
    assert "<p>mine</p>" not in page.read_text()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["--output", "json=r.json"], ["--output", "html=r.json"]),
        (["--output", "json=r.json"], ["--output", "json=./r.json"]),
        (["--output", "json=r.json"], ["--output", "markdown=linked.md"]),
        (["--output", "json=r.json"], ["--journal", "r.json"]),
        (["--output", "html=linked.md"], ["--journal", "r.json"]),
    ],
)
def test_two_outputs_into_one_file_are_refused_with_both_options(
    pipeline, tmp_path, monkeypatch, capsys, first, second
):
    monkeypatch.chdir(tmp_path)
    Path("linked.md").symlink_to("r.json")
    assert main(["run", "a.yaml", *first, *second]) == 2
    refused = capsys.readouterr().err
    assert f"is named for two outputs, {' '.join(first)} and {' '.join(second)}; name another file" in refused
    assert not Path("r.json").exists()


def test_a_report_is_not_written_to_the_journal_beside_another(pipeline, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "a.yaml", "--output", "json=r.json", "--output", "html=r.json.journal"]) == 2
    assert "--output html=r.json.journal and the journal of --output json=r.json; name" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--baseline", "a.baseline.json"]])
@pytest.mark.parametrize("option", [["--output", "json=a.baseline.json"], ["--journal", "a.baseline.json"]])
def test_nothing_is_written_in_place_of_a_baseline_that_is_still_to_be_saved(
    pipeline, tmp_path, monkeypatch, capsys, words, option
):
    monkeypatch.chdir(tmp_path)
    Path("a.relevance.yaml").write_text("suite: a\n")
    assert main(["run", "a.relevance.yaml", *words, *option]) == 2
    refused = capsys.readouterr().err
    assert f"a.baseline.json is read by this run, and {' '.join(option)} would overwrite it; name another" in refused


def test_a_report_goes_to_a_device_that_an_error_leaves_alone(pipeline, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pipeline.answer = EngineStartError("no Java")
    assert main(["run", "a.yaml", "--output", f"html={pipe}"]) == 3
    assert pipe.exists()
