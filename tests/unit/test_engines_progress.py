import io

import pytest

from harness.embedded.jars import DownloadBar, DownloadLines, SilentProgress, download_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(progress: DownloadLines | DownloadBar | SilentProgress, blocks: int) -> None:
    with progress.download("OpenSearch 9", 4, 1000 * 1000 * blocks):
        for _ in range(blocks):
            progress.advance(1000 * 1000)


def test_a_terminal_gets_a_bar_and_a_file_plain_lines() -> None:
    assert isinstance(download_progress(Terminal()), DownloadBar)
    assert isinstance(download_progress(io.StringIO()), DownloadLines)


def test_plain_lines_are_few_and_carry_no_control_characters() -> None:
    out = io.StringIO()
    run(DownloadLines(out), 80)
    assert out.getvalue().splitlines() == [
        "OpenSearch 9: downloading 4 jars, 80 MB, once",
        "  20 of 80 MB",
        "  40 of 80 MB",
        "  60 of 80 MB",
        "OpenSearch 9: downloaded and checked",
    ]


def test_a_failed_download_is_not_called_finished() -> None:
    out = io.StringIO()

    def fail() -> None:
        with DownloadLines(out).download("OpenSearch 9", 4, 1000):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert "checked" not in out.getvalue()


def test_the_bar_ends_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    out = Terminal()
    run(DownloadBar(out), 3)
    assert "OpenSearch 9, 4 jars" in out.getvalue()
    assert "3.0/3.0 MB" in out.getvalue()


def test_silence_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run(SilentProgress(), 3)
    assert capsys.readouterr() == ("", "")
