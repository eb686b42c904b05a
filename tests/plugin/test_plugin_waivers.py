"""xfail and skip in a suite are pytest's own, until their last day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.pytest_plugin.items import SuiteItem
from harness.report.json import loads_report

TODAY = date(2026, 3, 9)
PAST = TODAY - timedelta(days=2)
FUTURE = TODAY + timedelta(days=200)
FAILS = 'thresholds: ["nDCG@10 >= 0.9"]'
HOLDS = 'thresholds: ["nDCG@10 >= 0.5"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


class ThatDay(date):
    """A clock that stands still, so that midnight does not come between collection and run."""

    @classmethod
    def today(cls) -> date:
        return TODAY


@pytest.fixture(autouse=True)
def _that_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.pytest_plugin.session.date", ThatDay)


def waived(kind: str, until: date | None = None) -> str:
    last_day = f", until: {until}" if until else ""
    return f'\n    {kind}: {{reason: "waits for synonyms"{last_day}}}'


@pytest.mark.parametrize("until", [None, TODAY, FUTURE])
def test_an_expected_failure_is_xfailed(suite: Suite, run: Run, until: date | None) -> None:
    suite(boots=FAILS + waived("xfail", until))

    result = run("-rx")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(xfailed=1)
    reason = f"waits for synonyms (until {until})" if until else "waits for synonyms"
    result.stdout.fnmatch_lines(f"XFAIL *::query.boots - {reason}")


def test_after_its_last_day_an_expected_failure_is_a_failure(suite: Suite, run: Run) -> None:
    suite(boots=FAILS + waived("xfail", PAST))

    result = run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(f"*waits for synonyms*ended on {PAST}*")


def test_runxfail_looks_through_it(suite: Suite, run: Run) -> None:
    suite(boots=FAILS + waived("xfail", FUTURE))

    run("--runxfail").assert_outcomes(failed=1)


@pytest.mark.parametrize(("strict", "outcome"), [("false", "xpassed"), ("true", "failed")])
def test_an_unexpected_pass_is_what_the_ini_file_says_of_such(
    suite: Suite, run: Run, pytester: pytest.Pytester, strict: str, outcome: str
) -> None:
    pytester.makeini(f"[pytest]\nxfail_strict = {strict}\n")
    suite(boots=HOLDS + waived("xfail", FUTURE))

    result = run("-rX")

    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines(
        "*::query.boots*waits for synonyms (until *"
        if outcome == "xpassed"
        else "*passed, though expected to fail until *: waits for synonyms; remove the xfail*"
    )


def test_an_unexpected_pass_that_fails_shows_no_figures_that_it_missed(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\nxfail_strict = true\n")
    suite('thresholds: [{threshold: "mean nDCG@10 >= 0.1", xfail: {reason: waits}}]')

    result = run("--relevance-report", "r.md", "--junit-xml", "j.xml")

    [line] = [line for line in result.outlines if line.startswith("FAILED ")]
    assert line.partition(" - ")[2].startswith("unexpected pass: mean nDCG@10 >= 0.1; ")
    failure = ElementTree.parse(pytester.path / "j.xml").find(".//failure")
    assert failure is not None
    assert failure.get("message", "").startswith("unexpected pass: mean nDCG@10 >= 0.1; ")
    headline = "## ❌ 1 threshold of 1 passed though expected to fail"
    assert (pytester.path / "r.md").read_text().startswith(headline)


@pytest.mark.parametrize("given", [("-o", "xfail_strict=true"), ("-o", "strict_xfail=true"), ("-o", "strict=true")])
def test_where_an_unexpected_pass_fails_an_expected_failure_does_not_hide_it_nor_do_reports(
    suite: Suite, run: Run, pytester: pytest.Pytester, given: tuple[str, ...]
) -> None:
    if "xfail_strict" not in given[1] and not hasattr(pytest, "RaisesGroup"):
        pytest.skip("this pytest has no such ini option")
    waiver = f"xfail: {{reason: waits, until: {FUTURE}}}"
    suite(boots=f'expect: [{{expect: "e in top 1", {waiver}}}, {{expect: "e not in top 1", {waiver}}}]')

    result = run(*given, "--relevance-report", "r.json")

    result.assert_outcomes(failed=1)
    verdicts = loads_report((pytester.path / "r.json").read_text()).suites[0].verdicts
    assert sorted(verdict.status for verdict in verdicts) == ["expected failure", "failed"]
    assert run("--runxfail", *given).ret == pytest.ExitCode.TESTS_FAILED, "one of them does not hold"
    suite(boots=HOLDS + waived("xfail", FUTURE))
    assert run("--runxfail", *given).ret == pytest.ExitCode.OK


def test_an_engine_error_is_not_what_was_expected(suite: Suite, run: Run, engine: object) -> None:
    engine.broken["rubber boots"] = 400
    suite(boots=FAILS + waived("xfail", FUTURE))

    result = run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)


@pytest.mark.parametrize("until", [None, TODAY, FUTURE])
def test_a_skipped_query_is_not_asked_and_in_no_mean(
    suite: Suite, run: Run, engine: object, until: date | None
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.99"]', boots=FAILS + waived("skip", until))

    result = run("-rs")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, skipped=1)
    assert engine.asked == {"red shoes": 1}
    result.stdout.fnmatch_lines("SKIPPED * shop.relevance.yaml*: waits for synonyms*")


def test_after_its_last_day_a_skipped_query_runs(suite: Suite, run: Run, engine: object) -> None:
    suite(boots=FAILS + waived("skip", PAST))

    result = run()

    result.assert_outcomes(failed=1)
    assert engine.asked["rubber boots"] == 1


def test_where_all_that_was_chosen_is_skipped_no_server_is_asked(suite: Suite, run: Run, engine: object) -> None:
    suite(boots=FAILS + waived("skip"))

    run().assert_outcomes(skipped=1)

    assert engine.asked == {}


EVERY = 'thresholds: ["every nDCG@10 >= {}", "mean nDCG@10 >= 0.9"]'
WAITS = "xfail: {reason: waits}"


def test_a_query_expected_to_fail_is_expected_by_what_asks_each_query_and_not_by_the_mean(
    suite: Suite, run: Run
) -> None:
    suite(EVERY.format(0.9), boots=WAITS)

    result = run("--relevance-each-query", "-v")

    result.assert_outcomes(passed=1, xfailed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*::every-nDCG-10-ge-0.9 XFAIL (waits)*", "*::mean-nDCG-10-ge-0.9 FAILED*", "*::query.boots XFAIL (waits)*"]
    )


def test_where_another_query_falls_short_too_only_the_query_s_own_item_is_expected(
    suite: Suite, run: Run, engine: Any
) -> None:
    suite(EVERY.format(0.9), boots=WAITS)
    engine.rankings["red shoes"] = ["c", "b", "a"]

    result = run("--relevance-each-query", "-v")

    result.assert_outcomes(failed=3, xfailed=1)
    result.stdout.fnmatch_lines(["*::every-nDCG-10-ge-0.9 FAILED*", "*::query.boots XFAIL (waits)*"])


def test_runxfail_shows_what_was_expected(suite: Suite, run: Run) -> None:
    suite(EVERY.format(0.9), boots=WAITS)

    result = run("--relevance-each-query", "--runxfail", "-k", "query")

    result.assert_outcomes(passed=1, failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*for 0 of 1 query, required for every one; worst: boots 0.6309*"])


@pytest.mark.parametrize(("strict", "outcome"), [("false", "xpassed"), ("true", "failed")])
def test_a_query_that_holds_where_each_is_asked_passes_unexpectedly(
    suite: Suite, run: Run, pytester: pytest.Pytester, strict: str, outcome: str
) -> None:
    pytester.makeini(f"[pytest]\nxfail_strict = {strict}\n")
    suite(EVERY.format(0.5), boots=WAITS)

    run("--relevance-each-query", "-k", "boots").assert_outcomes(**{outcome: 1}, deselected=3)


def test_an_engine_error_is_not_what_a_threshold_was_expected_to_fail_of(suite: Suite, run: Run, engine: Any) -> None:
    suite('thresholds: [{threshold: "mean nDCG@10 >= 0.9", xfail: {reason: waits}}]')
    engine.broken["rubber boots"] = 400

    result = run("-v")

    result.assert_outcomes(errors=1)
    result.stdout.no_fnmatch_line("*XFAIL*")


def test_an_error_of_the_harness_is_not_what_was_expected(
    suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item that is expected to fail may only fail by its verdict."""
    suite('thresholds: [{threshold: "mean nDCG@10 >= 0.9", xfail: {reason: waits}}]')

    def broken(item: SuiteItem) -> None:
        raise RuntimeError("a fault in the code")

    monkeypatch.setattr(SuiteItem, "runtest", broken)

    run().assert_outcomes(failed=1)


def test_a_threshold_has_waivers_of_its_own(suite: Suite, run: Run) -> None:
    suite(
        "thresholds:\n"
        '  - {threshold: "mean nDCG@10 >= 0.9", xfail: {reason: known}}\n'
        '  - {threshold: "median nDCG@10 >= 0.9", skip: {reason: unclear}}\n'
        '  - "mean nDCG@10 >= 0.8"\n',
        boots='expect: ["d in top 2", {expect: "d in top 1", xfail: {reason: waits}}]',
    )

    result = run("-v")

    result.assert_outcomes(passed=1, skipped=1, xfailed=2)
    result.stdout.fnmatch_lines(
        [
            "*::mean-nDCG-10-ge-0.9 XFAIL (known)*",
            "*::median-nDCG-10-ge-0.9 SKIPPED (unclear)*",
            "*::mean-nDCG-10-ge-0.8 PASSED*",
            "*::query.boots XFAIL (waits)*",
        ]
    )


def test_where_every_threshold_of_a_query_is_skipped_so_is_its_item(suite: Suite, run: Run) -> None:
    suite(boots='expect: [{expect: "d in top 1", skip: {reason: unclear}}]')

    result = run("-v")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines("*::query.boots SKIPPED (unclear)*")


def test_without_pytest_s_plugin_for_skips_thresholds_are_decided(suite: Suite, run: Run) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8", "mean nDCG@10 >= 0.9"]')
    run("-p", "no:skipping").assert_outcomes(passed=1, failed=1)
