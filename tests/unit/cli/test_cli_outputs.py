import os
import stat
from pathlib import Path

import click
import pytest

from harness.cli.options import Output, OutputType, write_outputs
from harness.errors import UsageError
from harness.model import Report
from harness.report import json

REPORT = Report("2026-11-21T06:00:00+00:00", "0.1.0", (), 0)


def test_kind_and_file_are_read(tmp_path):
    assert OutputType().convert(f"json={tmp_path}/a=b.json", None, None) == Output("json", tmp_path / "a=b.json")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("report.html", "KIND=FILE is expected"),
        ("html=", "KIND=FILE is expected"),
        ("htlm=x", "did you mean 'html'"),
        ("html=.", "is a folder"),
        ("html=no/such/folder/x.html", "the folder no/such/folder is not there"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(value, sentence):
    with pytest.raises(click.BadParameter, match=sentence):
        OutputType().convert(value, None, None)


def test_files_are_written_whole_with_the_usual_permissions(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("what was there before, and much longer than a report without suites" * 9)
    write_outputs(REPORT, [Output("json", path)])
    assert json.loads_report(path.read_text()) == REPORT
    assert list(tmp_path.iterdir()) == [path]
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a folder that nobody can write to")
def test_a_file_that_cannot_be_written_is_a_sentence():
    with pytest.raises(UsageError, match="the json report could not be written"):
        write_outputs(REPORT, [Output("json", Path("/proc/report.json"))])


def test_a_pipe_is_written_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_outputs(REPORT, [Output("json", pipe)])
    assert json.loads_report(os.read(reader, 65536).decode()) == REPORT
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
