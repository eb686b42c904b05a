"""Reports in files: whole or not at all, for the command and pytest alike."""

import errno
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from builders.comparisons import comparison_report
from builders.reports import products, report_of
from harness.errors import UsageError
from harness.files.writing import write_whole
from harness.model import ComparisonReport, Report, ReportTiming
from harness.report import json
from harness.report.annotations import code_quality
from harness.report.outputs import (
    COMPARISON_KINDS,
    KINDS,
    SUFFIXES,
    Output,
    output_named,
    remove_outdated,
    render,
    render_comparison,
    write_output,
    write_report,
)

REPORT = Report(ReportTiming("2026-11-21T06:00:00+00:00"), "0.1.0", (), 0)


@pytest.mark.parametrize(("suffix", "kind"), SUFFIXES.items())
def test_the_name_of_a_file_says_what_goes_into_it(suffix, kind):
    path = Path(f"out/Shop{suffix.upper()}")
    assert output_named(path) == Output(kind, path)
    assert kind in KINDS


def test_a_name_that_says_nothing_is_no_report():
    assert output_named(Path("report.pdf")) is None


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
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="the report could not be written: No space left on device"):
        write_output(Output("json", path), "after", "the report")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"kept.json": "[]"}


def test_outdated_files_are_removed_and_what_cannot_be_is_told(tmp_path, monkeypatch):
    old, never = tmp_path / "old.json", tmp_path / "never.json"
    old.touch()
    assert remove_outdated([Output("json", old), Output("json", never)]) == ([old], [])

    def refuse(*_):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    old.touch()
    monkeypatch.setattr(Path, "unlink", refuse)
    removed, [problem] = remove_outdated([Output("json", old)])
    assert (removed, problem.endswith("could not be removed: Permission denied")) == ([], True)


FULL = report_of(products())


def written(kind, report):
    text = render_comparison(report, kind) if isinstance(report, ComparisonReport) else render(report, kind)
    return text if isinstance(text, str) else "".join(text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "begin",
    [
        *(written(kind, FULL) for kind in KINDS),
        *(written(kind, comparison_report()) for kind in COMPARISON_KINDS),
        written("markdown", replace(FULL, suites=(products(), replace(products(), request="candidate")))),
        code_quality(report_of(replace(products(), verdicts=(), queries=())), Path()),
        "",
    ],
)
def test_a_report_replaces_a_report_of_any_kind(tmp_path, kind, begin):
    (tmp_path / "report").write_text(begin, encoding="utf-8")
    write_output(Output(kind, tmp_path / "report"), "new", "the report")
    assert (tmp_path / "report").read_text() == "new"


OTHERS = [
    "suite: products\n",
    "query,document,grade\nq,d,3\n",
    "q 0 d 3\n",
    '{"harness": "1"}',
    "[]]",
    '[{"check_name": "eslint"}]',
    "## Notes\n",
    "<!doctype html><title>ours</title>",
    '{"query": "q", "document": "d", "grade": 3}\n',
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("begin", OTHERS)
def test_no_other_file_is_replaced_or_removed(tmp_path, kind, begin):
    path = tmp_path / "judged"
    path.write_text(begin)
    output = Output(kind, path)
    with pytest.raises(UsageError, match="judged exists and is not a report: name another file, or remove it"):
        write_output(output, "new", "the report")
    removed, [problem] = remove_outdated([output])
    assert (removed, "is not a report" in problem) == ([], True)
    assert path.read_text() == begin


@pytest.mark.parametrize(
    ("kind", "begin", "is_replaced"),
    [
        ("csv", "\ufeffquery,document,grade,text,title,snippet,rank\n", True),
        ("yaml", "# products: unjudged documents of the top 10; write a grade\n", True),
        ("jsonl", '{"query": "q", "document": "d", "grade": 3}\n', True),
        ("csv", '{"id": "sku-1"}\n', False),
        ("yaml", "suite: products\n", False),
        ("jsonl", '{"id": "sku-1", "title": "Tent"}\n', False),
    ],
)
def test_grades_replace_grades_only(tmp_path, kind, begin, is_replaced):
    path = tmp_path / "file"
    path.write_text(begin, encoding="utf-8")
    if not is_replaced:
        with pytest.raises(UsageError, match="holds other documents than those to grade"):
            write_output(Output(kind, path), "new", "the grades")
    else:
        write_output(Output(kind, path), "new", "the grades")
    assert path.read_text(encoding="utf-8") == ("new" if is_replaced else begin)


def test_a_device_that_leads_to_a_file_is_written_to_and_stays(tmp_path):
    code = "from pathlib import Path; from harness.files.writing import write_whole as w; w(Path('/dev/stdout'), 'x')"
    with (tmp_path / "out").open("w") as file:
        file.write("before ")
        file.flush()
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "out").read_text() == "before x"
    assert Path("/dev/stdout").is_symlink()
