"""Queries for which no result is right: the share that has hits decides, and they are in no figure of the others."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from builders.executions import run_suite
from builders.gating import TODAY, ranking
from builders.suites import make_suite
from harness.errors import GrammarError
from harness.gate.decide import compute_exit_status, decide
from harness.gate.grammar import parse_threshold
from harness.metrics import parse_measure
from harness.metrics.measures import measures_of
from harness.metrics.run_scores import score_of, score_run
from harness.model.kept import Reference
from harness.model.report import Report
from harness.model.run import Engine, Failure, FailureKind, Response, Run, Status, Unit, Verdict
from harness.model.scores import Outcome
from harness.model.suite import FalseHitsCondition, Query, Waiver
from harness.model.timing import ReportTiming
from harness.options import RunOptions
from harness.report.html.run import render as render_html
from harness.report.json import dumps_report, loads_report
from harness.report.markdown import render as render_markdown
from harness.search.testing import FakeSearch

TWO = ranking(["d", "e"], total=2)
ONE = ranking(["d"], total=1)
NONE = ranking([], total=0)
SHOES = Query("shoes", "shoes", judgments={"a": 1})


def nothing(name: str, **fields: Any) -> Query:
    return Query(name, name, nothing=True, **fields)


EMPTY = (nothing("xq"), nothing("flights"), nothing("tax"), nothing("boat", tags=("far",)))


def decide_text(text: str, answers: Mapping[str, Response | None], *queries: Query, **fields: Any) -> Verdict:
    suite = make_suite(*(queries or EMPTY), thresholds=[text], **fields)
    known = {query: response for query, response in answers.items() if response is not None}
    run = Run(known, Engine("fake"), "current")
    [verdict] = decide(suite, run, score_run(suite, run), today=TODAY)
    return verdict


class TestTheText:
    @pytest.mark.parametrize(
        ("text", "allowed", "tag"),
        [
            ("false hits <= 5%", 0.05, None),
            ("false  hits <= 0 % for out of range", 0.0, "out of range"),
            ("false hits<=100%", 1.0, None),
        ],
    )
    def test_it_limits_a_share(self, text: str, allowed: float, tag: str | None) -> None:
        assert parse_threshold(text, of_query=False) == (FalseHitsCondition(allowed), tag)

    @pytest.mark.parametrize(
        ("text", "sentence", "offset"),
        [
            ("false <= 5%", "found 'false', expected 'false hits' and a share, as in 'false hits <= 5%'", 0),
            ("false hits < 5%", "found '<', but a share of false hits takes only '<='", 11),
            ("false hits <= 5", "found the end, expected '%' after the share", 15),
            ("false hits <= 101%", "found 101%, expected a share from 0% to 100%", 14),
            ("false hits <= 5% since 3 runs", "found 'since', but only 'drop' and 'worse' compare", 17),
        ],
    )
    def test_what_is_wrong_is_told_with_its_place(self, text: str, sentence: str, offset: int) -> None:
        with pytest.raises(GrammarError) as error:
            parse_threshold(text, of_query=False)
        assert (str(error.value)[: len(sentence)], error.value.offset) == (sentence, offset)

    def test_a_query_has_an_expectation_in_its_place(self) -> None:
        with pytest.raises(GrammarError, match="a query's own is an expectation: 'hits = 0'"):
            parse_threshold("false hits <= 5%", of_query=True)


class TestTheShare:
    ANSWERS: Mapping[str, Response] = {"xq": TWO, "flights": NONE, "tax": ONE, "boat": NONE}

    def test_those_with_most_hits_are_named_first(self) -> None:
        verdict = decide_text("false hits <= 25%", {**self.ANSWERS, "tax": TWO, "xq": ONE})
        assert verdict.status is Status.FAILED
        assert (verdict.observed, verdict.required, verdict.unit) == (0.5, 0.25, Unit.SHARE)
        assert verdict.blamed == ("tax", "xq")
        assert verdict.reason == (
            "false hits in 2 of 4 queries for which no result is right: 50.00% > 25.00%; "
            "most for tax (2 hits), xq (1 hit)"
        )

    def test_it_may_be_as_great_as_allowed(self) -> None:
        verdict = decide_text("false hits <= 50%", self.ANSWERS)
        assert (verdict.status, verdict.counted, verdict.blamed) == (Status.PASSED, 4, ())
        assert verdict.reason.endswith("50.00% <= 50.00%; most for xq (2 hits), tax (1 hit)")

    def test_hits_below_the_depth_are_not_counted(self) -> None:
        verdict = decide_text("false hits <= 0%", {**self.ANSWERS, "tax": NONE}, depth=1)
        assert verdict.reason.endswith("most for xq (1 hit)")

    def test_a_tag_limits_it(self) -> None:
        query = replace(SHOES, tags=("far",))
        verdict = decide_text("false hits <= 0% for far", {**self.ANSWERS, "shoes": TWO}, *EMPTY, query)
        assert (verdict.status, verdict.counted) == (Status.PASSED, 1)

    @pytest.mark.parametrize(
        "response", [None, Failure(FailureKind.ERROR, "2 of 5 shards failed"), Failure(FailureKind.TIMEOUT, "slow")]
    )
    def test_an_error_or_a_partial_answer_is_not_nothing(self, response: Response | None) -> None:
        verdict = decide_text("false hits <= 100%", {**self.ANSWERS, "flights": response})
        assert (verdict.status, verdict.observed, verdict.blamed) == (Status.ERROR, None, ("flights",))
        assert verdict.reason.startswith("false hits cannot be decided: no ranking for 1 query: flights")

    def test_an_answer_that_hides_its_hits_decides_nothing(self) -> None:
        verdict = decide_text("false hits <= 100%", {**self.ANSWERS, "flights": ranking([], total=7)})
        assert (verdict.status, verdict.blamed) == (Status.INCONCLUSIVE, ("flights",))

    def test_a_skipped_query_is_left_out_and_counted(self) -> None:
        skipped = nothing("boat", skip=Waiver("winter"))
        verdict = decide_text("false hits <= 0%", {"flights": NONE}, nothing("flights"), skipped)
        assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)
        assert verdict.reason.endswith("; left out: 1 skipped")
        verdict = decide_text("false hits <= 0%", {}, skipped)
        assert (verdict.status, verdict.observed) == (Status.FAILED, None)

    def test_an_expected_failure_excuses_no_share(self) -> None:
        query = nothing("xq", xfail=Waiver("known"))
        assert decide_text("false hits <= 0%", {"xq": ONE}, query).status is Status.FAILED


class TestTheOthers:
    """A suite of `shoes`, whose measures are 1, and of `xq`, which finds two documents though none is right."""

    QUERIES = (SHOES, nothing("xq", judgments={"d": 0}))
    ANSWERS: Mapping[str, Response] = {"shoes": ranking(["a"], total=1, took=3), "xq": TWO}

    def make_run(self) -> Run:
        return Run(dict(self.ANSWERS), Engine("fake"), "current")

    @pytest.mark.parametrize("measure", ["nDCG@10", "P@1", "RR@10", "Judged@10", "NumRet"])
    def test_no_measure_scores_them(self, measure: str) -> None:
        suite = make_suite(*self.QUERIES, measures=[measure])
        assert [score.query for score in score_run(suite, self.make_run())] == ["shoes"]
        assert measures_of(suite, suite.queries[1]) == ()
        score = score_of(suite, suite.queries[1], parse_measure(measure), self.make_run())
        assert (score.value, score.outcome) == (None, Outcome.FALSE_HITS)

    @pytest.mark.parametrize(
        "text",
        ["mean P@1 >= 1", "median P@1 >= 1", "every P@1 >= 1", "100% P@1 >= 1", "mean Judged@1 >= 1"],
    )
    def test_they_are_in_no_mean_and_in_no_every(self, text: str) -> None:
        verdict = decide_text(text, self.ANSWERS, *self.QUERIES)
        assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 0), verdict.reason

    @pytest.mark.parametrize("text", ["drop P@1 <= 0", "drop every P@1 <= 0", "worse P@1 by 0 <= 0%", "every RBO >= 1"])
    def test_a_baseline_compares_them_not(self, text: str) -> None:
        suite = make_suite(*self.QUERIES, thresholds=[text])
        before = Run({**self.ANSWERS, "xq": ranking(["x"])}, Engine("fake"), "current")
        reference = Reference(before, score_run(suite, before), depth=10, created="2026-05-01", same_request=True)
        run = self.make_run()
        [verdict] = decide(suite, run, score_run(suite, run), today=TODAY, reference=reference)
        assert (verdict.status, verdict.counted) == (Status.PASSED, 1), verdict.reason

    def test_latency_is_that_of_all_queries(self) -> None:
        answers = {**self.ANSWERS, "xq": replace(TWO, took=300)}
        verdict = decide_text("max latency <= 100 ms", answers, *self.QUERIES)
        assert (verdict.status, verdict.blamed) == (Status.FAILED, ("xq",))


def make_report(answers: Mapping[str, list[str] | Response], *queries: Query, **fields: Any) -> Report:
    suite = make_suite(*queries, checks=False, **fields)
    report = run_suite(suite, FakeSearch(answers), RunOptions(today=date(2026, 6, 1)))
    status = compute_exit_status([report])
    return Report(ReportTiming(created="2026-06-01"), "1", (report,), status)


class TestTheReport:
    def test_they_are_counted_by_what_became_of_them(self) -> None:
        report = make_report(
            {"shoes": ["a", "b"], "xq": ["d"], "tax": []},
            SHOES,
            nothing("xq", need="A part number that was never sold."),
            nothing("tax"),
            measures=["P@1"],
            thresholds=["mean P@1 >= 1", "false hits <= 0%"],
        )
        [suite] = report.suites
        outcomes = {query.id: (query.outcome, query.nothing, query.scores) for query in suite.queries}
        assert outcomes == {
            "shoes": (Outcome.SCORED, False, {"P@1": 1}),
            "xq": (Outcome.FALSE_HITS, True, {}),
            "tax": (Outcome.NOTHING_FOUND, True, {}),
        }
        assert [(summary.mean, summary.counted, summary.left_out) for summary in suite.summaries] == [(1, 1, 0)]
        assert (suite.hits, suite.judged_hits) == (2, 1), "hits that nobody is to judge are not counted as unjudged"
        assert report.exit_status == 1
        assert loads_report(dumps_report(report)) == report
        for text in (render_markdown(report), render_html(report)):
            assert "false hits in 1 of 2 queries for which no result is right" in text.replace("\\", "")
            assert "1 query with outcome nothing found (tax)" in text

    def test_a_suite_of_them_alone_decides_on_false_hits(self) -> None:
        report = make_report({"xq": [], "tax": []}, nothing("xq"), nothing("tax"), thresholds=["false hits <= 0%"])
        [suite] = report.suites
        assert (report.exit_status, suite.summaries) == (0, ())
        assert "have 0 hits" not in render_markdown(report), "that nothing is found is right"

    def test_an_error_is_one_of_the_run(self) -> None:
        answers = {"shoes": ["a"], "xq": Failure(FailureKind.ERROR, "1 of 2 shards failed")}
        thresholds = ["mean P@1 >= 1", "false hits <= 100%"]
        report = make_report(answers, SHOES, nothing("xq"), measures=["P@1"], thresholds=thresholds)
        assert [verdict.status for verdict in report.suites[0].verdicts] == [Status.PASSED, Status.ERROR]
        assert report.exit_status == 3
