"""The result of a command is not lost with one of its outputs: each of the others is written all the same."""

import errno
import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

import harness.cli.running
import harness.report.outputs
import harness.run.keeping
import harness.search.dialects
from builders.extension_cases import map_cases, needs_extension
from builders.histories import entry_of, make_kept_suite, run_of
from harness.api import Relevance
from harness.cli import main
from harness.errors import HistoryError
from harness.search.testing import FakeSearch
from harness.store.history_files import read_history, write_entry

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  other: {query: {match: {name: "{{text}}"}}}
measures: ["P@1"]
thresholds: ["mean P@1 >= LEAST"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 1}}
  - {id: boots, text: rubber boots, judgments: {b: 1}}
"""
PASSES, FAILS = "0.5", "0.9"
TUNED = """\
suite: tuned
target: {index: products}
tune: {parameters: {field: {choices: [a, b], today: a}}}
request: {query: {match: {title: "{{text}} {{param:field}}"}}}
measures: ["P@1"]
queries:
"""


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """What the engine answers, by query; the folder has suites, and parts of a run."""
    monkeypatch.chdir(tmp_path)
    known = {"shoes": ["a", "b"], "boots": ["a", "b"], **{f"q{n}": ["a", "b"] for n in range(40)}}
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: FakeSearch(known))
    Path("relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    write_suite(PASSES)
    queries = "".join(f"  - {{id: q{n}, text: text {n}, judgments: {{a: 1}}}}\n" for n in range(40))
    Path("tuned.relevance.yaml").write_text(TUNED + queries)
    Path("log.csv").write_text("query,count\nred shoes,3\nboots,2\n")
    suite = make_kept_suite()
    for day in range(3):
        write_entry(Path("seen"), entry_of(suite, run_of(suite), day=day))
    return known


def write_suite(least):
    Path("shop.relevance.yaml").write_text(SUITE.replace("LEAST", least))


@pytest.fixture
def full_stdout(monkeypatch):
    """Standard output on a disk without room."""
    with Path("/dev/full").open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        yield
    monkeypatch.undo()


COMMANDS = {
    "run": (("run", "shop.relevance.yaml", "-q"), ("html", "json")),
    "run as JSON": (("run", "shop.relevance.yaml", "--json"), ("html", "json")),
    **map_cases("LOST"),
}
"""The words of each command by its name, and two kinds of report that it writes."""


def list_words(name):
    """The words of the command *name*, and two kinds of report that it writes."""
    words, kinds = COMMANDS[name]
    if words[0] == "tune" and importlib.util.find_spec("optuna") is None:
        pytest.skip("needs optuna")
    if words[0] == "merge":
        main(["run", "shop.relevance.yaml", "-q", "--shard", "1/1", "--journal", "part.journal"])
    return words, kinds


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_that_cannot_be_written_costs_no_other_output(answers, capsys, name, lost):
    words, kinds = list_words(name)
    files = ["/dev/full" if place == lost else "kept" for place in range(2)]
    outputs = [f"{kind}={file}" for kind, file in zip(kinds, files, strict=True)]
    capsys.readouterr()
    assert main([*words, "--output", outputs[0], "--output", outputs[1]]) == 2
    printed = capsys.readouterr()
    assert printed.out
    assert Path("kept").stat().st_size > 0
    assert "/dev/full: " in printed.err
    assert "could not be written: No space left on device" in printed.err


@pytest.mark.parametrize("name", COMMANDS)
def test_standard_output_that_is_full_costs_no_file(answers, capfd, request, name):
    words, kinds = list_words(name)
    request.getfixturevalue("full_stdout")
    assert main([*words, "--output", f"{kinds[0]}=kept"]) == 2
    assert Path("kept").stat().st_size > 0
    assert "standard output could not be written: No space left on device" in capfd.readouterr().err


@pytest.mark.parametrize(("least", "status"), [(PASSES, 2), (FAILS, 2)])
def test_the_exit_status_is_the_worst_of_both(answers, capsys, least, status):
    write_suite(least)
    assert main(["run", "shop.relevance.yaml", "--output", "html=/dev/full"]) == status
    verdict = "passed" if least == PASSES else "failed"
    assert f"1 threshold: 1 {verdict}" in capsys.readouterr().out


def test_no_answer_is_worse_than_a_report_that_cannot_be_written(answers, capsys):
    del answers["boots"]
    assert main(["run", "shop.relevance.yaml", "--output", "html=/dev/full"]) == 3
    assert "No space left on device" in capsys.readouterr().err


# The history.


def fill_disk(folder, entry):
    raise HistoryError(f"the history {folder}/{entry.suite} cannot be written: {os.strerror(errno.ENOSPC)}")


@pytest.mark.parametrize(("least", "verdict"), [(PASSES, "passed"), (FAILS, "failed")])
def test_a_history_that_cannot_be_written_costs_no_verdict(answers, capsys, monkeypatch, least, verdict):
    write_suite(least)
    monkeypatch.setattr(harness.run.keeping, "write_entry", fill_disk)
    words = ["--history", "kept", "--output", "json=report.json", "--output", "html=page.html"]
    assert main(["run", "shop.relevance.yaml", *words]) == 2
    printed = capsys.readouterr()
    assert f"1 threshold: 1 {verdict}" in printed.out
    assert printed.err.rstrip().endswith("cannot be written: No space left on device")
    report = json.loads(Path("report.json").read_text())
    assert report["exit_status"] == (0 if least == PASSES else 1)
    assert "No space left on device" in report["suites"][0]["not_kept"]
    assert "the run is not kept in the history" in Path("page.html").read_text()
    # The answers are still there, so that the run can be kept without asking again.
    assert Path("report.json.journal").exists()


def test_a_run_whose_history_was_full_is_kept_by_resuming_it(answers, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(harness.run.keeping, "write_entry", fill_disk)
        assert main(["run", "shop.relevance.yaml", "--history", "kept", "--output", "json=report.json"]) == 2
    assert read_history(Path("kept"), "shop") == []
    words = ["--history", "kept", "--output", "json=report.json", "--resume"]
    assert main(["run", "shop.relevance.yaml", *words]) == 0
    assert len(read_history(Path("kept"), "shop")) == 1


def test_a_file_in_place_of_the_folder_of_a_suite_costs_no_verdict(answers, capsys):
    Path("kept").mkdir()
    Path("kept/shop").write_text("in the way")
    assert main(["run", "shop.relevance.yaml", "--history", "kept"]) == 2
    printed = capsys.readouterr()
    assert "1 threshold: 1 passed" in printed.out
    assert "relevance: the history kept/shop/" in printed.err


@needs_extension("distributed")
def test_merging_loses_no_verdict_with_the_history(answers, capsys, monkeypatch):
    words, _ = list_words("merge")
    monkeypatch.setattr(harness.run.keeping, "write_entry", fill_disk)
    assert main([*words, "--history", "kept", "--output", "json=report.json"]) == 2
    assert "1 threshold: 1 passed" in capsys.readouterr().out
    assert Path("report.json").exists()


def test_python_gets_its_run_and_a_warning(answers, monkeypatch):
    monkeypatch.setattr(harness.run.keeping, "write_entry", fill_disk)
    with Relevance(environ={}) as relevance, pytest.warns(RuntimeWarning, match="No space left on device") as caught:
        run = relevance.run("shop.relevance.yaml", history="kept")
    assert [str(verdict.status) for verdict in run.verdicts] == ["passed"]
    assert caught[0].filename == __file__


# What nobody expects.


def test_a_bug_in_one_kind_of_report_costs_no_other_and_is_told(answers, capsys, monkeypatch):
    write_report = harness.cli.running.write_report

    def fail(report, output):
        if output.kind == "html":
            raise ZeroDivisionError
        write_report(report, output)

    monkeypatch.setattr(harness.cli.running, "write_report", fail)
    assert main(["run", "shop.relevance.yaml", "--output", "html=page.html", "--output", "json=report.json"]) == 3
    printed = capsys.readouterr()
    assert "1 threshold: 1 passed" in printed.out
    assert Path("report.json").exists()
    assert "internal error: ZeroDivisionError" in printed.err


@needs_extension("tuning")
def test_a_choice_that_cannot_be_applied_costs_no_report_of_the_tuning(answers, capsys, monkeypatch):
    pytest.importorskip("optuna")
    from harness.errors import UsageError
    from harness.extensions.tuning.changes import SuiteChanges

    def refuse(self, report, changes):
        raise UsageError("tuned.relevance.yaml was changed since it was read; it was not written")

    monkeypatch.setattr(SuiteChanges, "finish", refuse)
    words = ["--trials", "2", "--effect", "0.9", "-q", "--apply", "--output", "json=kept.json"]
    assert main(["tune", "tuned.relevance.yaml", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out
    assert Path("kept.json").exists()
    assert "was changed since it was read" in printed.err


@needs_extension("sampling")
def test_a_sample_of_queries_is_written_though_standard_output_is_full(answers, capfd, request):
    request.getfixturevalue("full_stdout")
    assert main(["queries", "sample", "log.csv", "--output", "drawn.csv"]) == 2
    assert "red shoes" in Path("drawn.csv").read_text()
