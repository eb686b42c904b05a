"""What is shown of a download: a bar on a terminal, two lines in a log."""

import io
import sys

import pytest

from harness.embedded.jars import show_download
from harness.embedded.lock import Jar

JARS = [Jar(f"org.example:part{number}:1.0", 20_000_000, "") for number in range(4)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show(blocks: int, *, quiet: bool = False) -> None:
    with show_download("OpenSearch 9", JARS, quiet=quiet) as count_bytes:
        for _ in range(blocks):
            count_bytes(1000 * 1000)


def test_a_log_gets_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show(80)
    lines = ["OpenSearch 9: downloading 4 jars, 80 MB, once", "OpenSearch 9: downloaded and checked"]
    assert capsys.readouterr().err.splitlines() == lines


def test_a_failed_download_is_not_called_finished(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with show_download("OpenSearch 9", JARS, quiet=False):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert "checked" not in capsys.readouterr().err


def test_a_terminal_gets_a_bar_that_ends_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show(80)
    assert "OpenSearch 9, 4 jars" in terminal.getvalue()
    assert "80.0/80.0 MB" in terminal.getvalue()
    assert "downloading" not in terminal.getvalue()


def test_silence_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show(3, quiet=True)
    assert capsys.readouterr() == ("", "")
