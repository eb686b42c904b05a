import io
from dataclasses import replace

import pytest
from rich.text import Text

from harness.cli.terminal import LineProgress, run_progress
from harness.model.run import Engine, Failure, FailureKind, Ranking, Run, Status, Verdict
from harness.model.suite import RequestTemplate, Suite, Target
from harness.report.terminal import render_plain


class Terminal(io.StringIO):
    def isatty(self):
        return True


def suite(name):
    return Suite(name, "s.yaml", Target(), {"request": RequestTemplate("request", {})}, (), ())


RUN = Run({"q": Ranking(), "r": Failure(FailureKind.TIMEOUT, "too slow")}, Engine("x"), seconds=0.5)


def verdicts(*statuses):
    return tuple(Verdict(str(n), "t", status, "") for n, status in enumerate(statuses))


def follow(progress, name, decided):
    progress.suite_started(suite(name), 2, "")
    progress.queries_done(2)
    progress.suite_finished(RUN, decided)


def test_a_log_gets_two_lines_a_suite():
    stream = io.StringIO()
    with run_progress(quiet=False, stream=stream) as progress:
        assert isinstance(progress, LineProgress)
        follow(progress, "products\x1b[2J", verdicts(Status.PASSED, Status.FAILED, Status.PASSED))
    assert stream.getvalue() == ("products\\x1b[2J: 2 queries to run\nproducts\\x1b[2J: 2 passed, 1 failed in 0.50 s\n")


def test_where_no_threshold_decides_the_answers_are_counted():
    stream = io.StringIO()
    with run_progress(quiet=False, stream=stream) as progress:
        follow(progress, "products", None)
    assert stream.getvalue() == "products: 2 queries to run\nproducts: 1 of 2 queries answered in 0.50 s\n"


def test_both_figures_of_the_answers_have_thousands_separators():
    stream = io.StringIO()
    with run_progress(quiet=False, stream=stream) as progress:
        run = replace(RUN, responses={str(number): Ranking() for number in range(1000)})
        progress.suite_finished(run, None)
    assert "1,000 of 1,000 queries answered" in stream.getvalue()


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with run_progress(quiet=False, stream=stream) as progress:
        progress.suite_started(suite("[red]shoes"), 2, "")
        progress.queries_done(1)
        progress._bars.refresh()
        assert "[red]shoes" in stream.getvalue()
        assert "1/2" in stream.getvalue()
        progress.suite_finished(RUN, verdicts(Status.PASSED))
        assert progress._bars.tasks == []


def test_a_run_that_starts_anew_has_one_bar():
    with run_progress(quiet=False, stream=Terminal()) as progress:
        progress.suite_started(suite("shoes"), 1, "")
        progress.suite_started(suite("shoes"), 60, "")
        assert [task.total for task in progress._bars.tasks] == [60]


def test_quiet_is_quiet():
    stream = Terminal()
    with run_progress(quiet=True, stream=stream) as progress:
        assert progress is None
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    "name", ["::error title=x::all is well", "##[error]x", "##vso[task.complete result=Succeeded]"]
)
def test_a_suite_s_name_is_no_command_in_a_log(name):
    log = io.StringIO()
    follow(LineProgress(log), name, verdicts(Status.PASSED))
    lines = log.getvalue().splitlines()
    assert len(lines) == 2
    assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line or "##vso[" in line]


def test_a_report_without_colours_has_no_command_either():
    text = render_plain([Text("  ::error::x"), "::warning::y", Text("a ##[error] b ::c")])
    assert text.splitlines() == ["  \\x3a:error::x", "\\x3a:warning::y", "a \\x23#[error] b ::c"]
