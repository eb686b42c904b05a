from dataclasses import replace

from harness.model.report import RepeatSummary, Report
from harness.model.run import Instability, Status, UnstableQuery, Verdict
from harness.model.suite import Waiver
from harness.report.run_sentences import write_headline


def with_verdicts(report: Report, *statuses: Status, exit_status: int) -> Report:
    verdict = report.suites[0].verdicts[0]
    return of_verdicts(report, *(replace(verdict, status=status) for status in statuses), exit_status=exit_status)


def of_verdicts(report: Report, *verdicts: Verdict, exit_status: int = 1) -> Report:
    [suite] = report.suites
    return replace(report, suites=(replace(suite, verdicts=verdicts),), exit_status=exit_status)


def test_what_does_not_hold_comes_before_all_else(report):
    assert write_headline(report) == "2 thresholds of 5 did not hold"


def test_a_run_that_fails_with_no_threshold_on_the_query_says_why(report):
    assert write_headline(with_verdicts(report, Status.PASSED, exit_status=3)) == "1 query had no answer"
    assert write_headline(with_verdicts(report, exit_status=3)) == "1 query had no answer"


def test_a_query_without_an_answer_in_a_repeat_is_counted(report):
    unstable = (UnstableQuery("slow", Instability.UNANSWERED, 1), UnstableQuery("tied", Instability.TIES, 2))
    suite = replace(report.suites[0], queries=(), repeats=RepeatSummary(3, unstable=unstable))
    run = with_verdicts(replace(report, suites=(suite,)), Status.PASSED, exit_status=3)
    assert write_headline(run) == "1 query had no answer"


def test_nothing_decided_is_not_all_well(report):
    answered = replace(report.suites[0], queries=(), verdicts=())
    assert write_headline(replace(report, suites=(answered,), exit_status=0)) == "No threshold was decided"


def test_expected_failures_are_told(report):
    one = with_verdicts(report, Status.PASSED, Status.XFAILED, exit_status=0)
    assert write_headline(one) == "2 thresholds, all hold but 1 expected failure"


def test_an_unexpected_pass_that_fails_held(report):
    [suite] = report.suites
    missed = replace(suite.verdicts[0], status=Status.FAILED, waiver=None)
    held = replace(missed, waiver=Waiver("waits"))
    assert write_headline(of_verdicts(report, held)) == "1 threshold of 1 passed though expected to fail"
    assert write_headline(of_verdicts(report, held, missed, held)) == (
        "1 threshold of 3 did not hold, 2 thresholds of 3 passed though expected to fail"
    )
