import io

from harness.cli.terminal import LineProgress, run_progress
from harness.model import (
    Engine,
    Outcome,
    Profile,
    QueryReport,
    RequestTemplate,
    Status,
    Suite,
    SuiteReport,
    Target,
    Verdict,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def suite(name):
    return Suite(name, "s.yaml", Target(), {"request": RequestTemplate("request", {})}, (), ())


def report(name, *statuses):
    verdicts = tuple(Verdict(str(n), "t", status, "") for n, status in enumerate(statuses))
    queries = (QueryReport("q", "q", Outcome.SCORED),)
    return SuiteReport(
        name, "s.yaml", "request", "c", "i", Engine("x"), Profile.STANDARD, "linear", 10, (), verdicts, queries, 0.5
    )


def follow(progress, name):
    progress.suite_started(suite(name), 2, "")
    progress.queries_done(2)
    progress.suite_finished(report(name, Status.PASSED, Status.FAILED, Status.PASSED))


def test_a_log_gets_two_lines_a_suite():
    stream = io.StringIO()
    with run_progress(quiet=False, stream=stream) as progress:
        assert isinstance(progress, LineProgress)
        follow(progress, "products\x1b[2J")
    assert stream.getvalue() == ("products\\x1b[2J: 2 queries to run\nproducts\\x1b[2J: 2 passed, 1 failed in 0.50 s\n")


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with run_progress(quiet=False, stream=stream) as progress:
        progress.suite_started(suite("[red]shoes"), 2, "")
        progress.queries_done(1)
        progress._bars.refresh()
        assert "[red]shoes" in stream.getvalue()
        assert "1/2" in stream.getvalue()
        progress.suite_finished(report("[red]shoes", Status.PASSED))
        assert progress._bars.tasks == []


def test_quiet_is_quiet():
    stream = Terminal()
    with run_progress(quiet=True, stream=stream) as progress:
        assert progress is None
    assert stream.getvalue() == ""
