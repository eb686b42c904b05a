"""Reports in files: whole or not at all, for the command and pytest alike."""

import errno
import os
import stat
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.files.writing import write_whole
from harness.model import Report, ReportTiming
from harness.report import json
from harness.report.outputs import KINDS, SUFFIXES, Output, output_named, remove_outdated, write_output, write_report

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
    path.write_text("what was there before, and much longer than a report without suites" * 9)
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
    path.write_text("before")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="the report could not be written: No space left on device"):
        write_output(Output("json", path), "after", "the report")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"kept.json": "before"}


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
