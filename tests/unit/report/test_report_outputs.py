"""Reports in files: whole or not at all, for the command and pytest alike."""

import errno
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from builders.html import Page
from builders.reports import NDCG, products, report_of
from harness.errors import UsageError
from harness.files.folders import Folder
from harness.files.writing import write_whole
from harness.model.report import MeasureSummary, QueryReport, Report
from harness.model.run import Status, Verdict
from harness.model.scores import Outcome
from harness.model.timing import ReportTiming
from harness.options import RunOptions
from harness.report import json
from harness.report.output_files import read_states, refuse_inputs, remove_outdated, render, write_output, write_report
from harness.report.outputs import OUTPUT_KINDS, SUFFIXES, Output, find_output
from harness.suites.inputs import RunInputs

REPORT = Report(ReportTiming("2026-11-21T06:00:00+00:00"), "0.1.0", (), 0)


@pytest.mark.parametrize(("suffix", "kind"), SUFFIXES.items())
def test_the_name_of_a_file_says_what_goes_into_it(suffix, kind):
    path = Path(f"out/Shop{suffix.upper()}")
    assert find_output(path) == Output(kind, path)
    assert kind in OUTPUT_KINDS


def test_a_name_that_says_nothing_is_no_report():
    assert find_output(Path("report.pdf")) is None


def test_each_kind_has_a_form_of_its_own():
    assert len({"".join(render(REPORT, kind)) for kind in OUTPUT_KINDS}) == len(OUTPUT_KINDS)


SCORE_IN_KIND = {
    "html": {None: "nDCG@10 –", 0.0: "nDCG@10 0.0000"},
    "json": {None: '"scores":{"nDCG@10":null}', 0.0: '"scores":{"nDCG@10":0.0}'},
    "markdown": {None: "10 –; undefined)</summary>", 0.0: "10 0.0000; undefined)</summary>"},
    "csv": {None: "undefined,no judgment,\n", 0.0: "undefined,no judgment,0.0\n"},
    # These have thresholds, and no score of a query that has none.
    "junit": {None: "it is undefined", 0.0: "it is undefined"},
    "codequality": {None: "it is undefined", 0.0: "it is undefined"},
}


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_no_kind_writes_a_query_without_a_score_as_0(kind):
    """Such a query is blamed, and the only one, so that each kind shows it, and means of none beside it."""
    texts = {}
    for score in (None, 0.0):
        query = QueryReport("q", "boots", Outcome.UNDEFINED, "no judgment", (), {NDCG: score})
        verdict = Verdict("v", "every nDCG@10 >= 0.3", Status.FAILED, "it is undefined", None, 0.3, NDCG, blamed=("q",))
        summary = MeasureSummary(NDCG, "exponential", score, score, score, score, 0, 1)
        suite = replace(products(), queries=(query,), verdicts=(verdict,), summaries=(summary,))
        text = "".join(render(report_of(suite), kind))
        if kind == "html":
            text = Page(text).text
        texts[score] = text
        assert SCORE_IN_KIND[kind][score] in text
    assert "0.0000" not in texts[None]
    assert '"nDCG@10":0' not in texts[None]


def test_a_kind_without_a_form_is_not_written_as_another():
    with pytest.raises(ValueError, match="'pdf'"):
        render(REPORT, "pdf")


def test_files_are_written_whole_with_the_usual_permissions(tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"timing": {}, "harness": "a report before, and much longer than one without suites"}' * 9)
    write_report(REPORT, Output("json", path))
    assert json.loads_report(path.read_text()) == REPORT
    assert list(tmp_path.iterdir()) == [path]
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a folder that nobody can write to")
def test_a_file_that_cannot_be_written_is_a_sentence():
    with pytest.raises(UsageError, match="the json report could not be written"):
        write_report(REPORT, Output("json", Path("/proc/report.json")))


def test_a_pipe_is_written_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_report(REPORT, Output("json", pipe))
    assert json.loads_report(os.read(reader, 65536).decode()) == REPORT
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "kept.json"
    path.touch(mode=0o600)
    write_whole(path, "{}")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("{}", 0o600)


def test_what_breaks_off_leaves_the_file_that_was_there_and_nothing_else(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "kept.json"
    path.write_text("[]")
    monkeypatch.setattr(Folder, "replace", full)
    with pytest.raises(UsageError, match="the report could not be written: No space left on device"):
        write_output(Output("json", path), "after", "the report")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"kept.json": "[]"}


def test_outdated_files_are_removed_and_what_cannot_be_is_told(tmp_path, monkeypatch):
    old, never = tmp_path / "old.json", tmp_path / "never.json"
    old.touch()
    assert remove_outdated(read_states([Output("json", old), Output("json", never)])) == ([old], [])

    def refuse(*_):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    old.touch()
    monkeypatch.setattr(Path, "unlink", refuse)
    removed, [problem] = remove_outdated(read_states([Output("json", old)]))
    assert (removed, problem.endswith("could not be removed: Permission denied")) == ([], True)


def test_what_another_run_has_written_meanwhile_is_not_outdated(tmp_path):
    kept, replaced, new = (tmp_path / name for name in ("kept.json", "replaced.json", "new.json"))
    kept.write_text("1")
    replaced.write_text("1")
    states = read_states([Output("json", path) for path in (kept, replaced, new)])
    write_output(Output("json", replaced), "2", "the report")
    new.write_text("2")
    assert remove_outdated(states) == ([kept], [])
    assert (replaced.read_text(), new.read_text()) == ("2", "2")


@pytest.mark.parametrize("content", ["query,document,grade\nq,d,3\n", "<p>mine</p>", '{"harness": "1"}', ""])
def test_whatever_the_run_does_not_read_is_overwritten(tmp_path, content):
    path = tmp_path / "any"
    path.write_text(content)
    output = Output("json", path)
    refuse_inputs([output], RunInputs([], RunOptions(), {}))
    write_output(output, "new", "the report")
    assert path.read_text() == "new"


SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
queries: {file: queries.tsv, inline: [{id: words, text: words.txt}]}
judgments: {files: [qrels.txt, "${RELEVANCE_MORE}"], ungraded: ignore}
vectors: {near: {file: near.npy, ids: near.ids}}
fixture: {documents: sub/documents.jsonl}
"""
READ = (
    "shop.relevance.yaml",
    "shop.baseline.json",
    "queries.tsv",
    "qrels.txt",
    "more.csv",
    "near.npy",
    "near.ids",
    "sub/documents.jsonl",
    "relevance.toml",
    "ca.pem",
    "kept.json",
)
NOT_READ = ("words.txt", "shop", "products", "other.csv", "other.relevance.yaml")


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    for name in (*READ, *NOT_READ):
        Path(name).write_text(name)
    Path("shop.relevance.yaml").write_text(SUITE)
    Path("relevance.toml").write_text('[clusters.c]\nurl = "https://h:9200"\nca_certs = "ca.pem"\n')
    options = RunOptions(baseline=Path("kept.json"))
    return RunInputs([Path("shop.relevance.yaml")], options, {"RELEVANCE_MORE": "more.csv"})


@pytest.mark.parametrize("name", READ)
def test_what_the_run_reads_is_refused_by_any_path(inputs, tmp_path, name):
    Path("link").symlink_to(name)
    Path("hard").hardlink_to(name)
    for form in ("{}", "./{}", "sub/../{}", "{folder}/{}", "link", "hard"):
        path = Path(form.format(name, folder=tmp_path))
        refused = f"^{re.escape(str(path))} is read by this run.*; name another file to write"
        with pytest.raises(UsageError, match=refused):
            refuse_inputs([Output("json", path)], inputs)


@pytest.mark.parametrize("name", NOT_READ)
def test_a_name_in_a_suite_that_is_no_file_of_its_is_not_refused(inputs, name):
    refuse_inputs([Output("json", Path(name))], inputs)


@pytest.mark.parametrize(
    "mistake",
    [
        "judgments: [{file: qrels.txt}]",
        "judgements: qrels.txt",
        "judgments: a.csv\njudgments: qrels.txt",
        "judgments: qrels.txt\nthresholds: {",
        "judgments: [a.csv, 'qrels.txt'\n- b",
        "queries: [qrels.txt]",
        "[qrels.txt]",
    ],
)
def test_what_a_suite_with_mistakes_names_is_refused_too(inputs, mistake):
    Path("shop.relevance.yaml").write_text(f"suite: shop\n{mistake}\n")
    with pytest.raises(UsageError, match=r"qrels\.txt is read by this run"):
        refuse_inputs([Output("json", Path("qrels.txt"))], inputs)


def test_the_configuration_that_is_named_or_beside_a_suite_is_refused(inputs, tmp_path):
    other = tmp_path / "sub" / "mine.toml"
    other.write_text("")
    (tmp_path / "sub" / "relevance.toml").write_text("")
    below = RunInputs([tmp_path / "sub" / "b.relevance.yaml"], RunOptions(config=other), {})
    for path in (other, tmp_path / "sub" / "relevance.toml"):
        with pytest.raises(UsageError, match="is read by this run"):
            refuse_inputs([Output("json", path)], below)


def test_a_file_for_two_outputs_and_a_folder_are_refused(inputs, tmp_path):
    Path("link").symlink_to("new")
    with pytest.raises(UsageError, match=r"^link is named for two outputs"):
        refuse_inputs([Output("json", Path("new")), Output("html", Path("link"))], inputs)
    with pytest.raises(UsageError, match=r"^sub is a folder, expected a file"):
        refuse_inputs([Output("json", Path("sub"))], inputs)
    refuse_inputs([Output("json", Path("/dev/stdout")), Output("html", Path("/dev/stdout"))], inputs)


def test_a_device_that_leads_to_a_file_is_written_to_and_stays(tmp_path):
    code = "from pathlib import Path; from harness.files.writing import write_whole as w; w(Path('/dev/stdout'), 'x')"
    with (tmp_path / "out").open("w") as file:
        file.write("before ")
        file.flush()
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "out").read_text() == "before x"
    assert Path("/dev/stdout").is_symlink()
