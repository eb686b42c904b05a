"""What an item came to, read from the report of its suite."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from harness import __version__
from harness.model.report import BaselineSummary, QueryReport, RankedDocument, SuiteReport
from harness.model.run import Engine, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Mark, Profile, Waiver
from harness.pytest_plugin.outcomes import IndexedReport, ItemOutcome, SingleQueries, find_outcome
from harness.pytest_plugin.plan import PlannedItem

WAIVER = Waiver("waits for synonyms", date(2027, 1, 1))


def verdict(name: str, status: Status, *, blamed: tuple[str, ...] = (), **others: object) -> Verdict:
    return Verdict(
        name, f"text of {name}", status, f"reason of {name}", blamed=blamed, mark=Mark("s.yaml", 3, 5), **others
    )


def query(name: str, outcome: Outcome = Outcome.SCORED, reason: str = "", **others: object) -> QueryReport:
    ranking = (RankedDocument(1, f"document of {name}", grade=2.0, gain=3.0),)
    return QueryReport(name, f"text of {name}", outcome, reason, ranking=ranking, **others)


class Lone(SingleQueries):
    """Knows what queries fall short of when they are judged alone."""

    def __init__(self, *shortfalls: Verdict) -> None:
        self.shortfalls = {(each.id, query): each for each in shortfalls for query in each.blamed}

    def find_shortfall(self, threshold: str, query: str) -> Verdict | None:
        return self.shortfalls.get((threshold, query))


def report(
    *verdicts: Verdict, queries: tuple[QueryReport, ...] = (), lone: SingleQueries | None = None
) -> IndexedReport:
    engine = Engine("opensearch", "3.8.0")
    exponential, standard = "exponential", Profile.STANDARD
    return IndexedReport(
        SuiteReport("shop", "s.yaml", "r", "default", None, engine, standard, exponential, 10, (), verdicts, queries),
        lone or Lone(),
        [of_threshold(*(each.id for each in verdicts))],
    )


def of_threshold(*verdicts: str) -> PlannedItem:
    return PlannedItem("of a threshold", "headline", Mark(), verdicts=verdicts)


def of_query(name: str, *, own: tuple[str, ...] = (), shared: tuple[str, ...] = (), **others: object) -> PlannedItem:
    return PlannedItem("item", "headline", Mark("s.yaml", 1, 3), verdicts=own, shared=shared, query=name, **others)


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.NOT_DECIDED])
def test_a_threshold_is_what_the_gate_says(status: Status) -> None:
    outcome = find_outcome(of_threshold("mean"), report(verdict("mean", status), verdict("other", Status.ERROR)))

    assert (outcome.status, outcome.reason) == (status, "reason of mean")


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((Status.FAILED, Status.ERROR), Status.ERROR),
        ((Status.XFAILED, Status.FAILED), Status.FAILED),
        ((Status.XPASSED, Status.XFAILED), Status.XFAILED),
        ((Status.PASSED, Status.XPASSED), Status.XPASSED),
        ((Status.PASSED, Status.WARNED), Status.WARNED),
        ((Status.SKIPPED, Status.PASSED), Status.PASSED),
        ((Status.SKIPPED, Status.SKIPPED), Status.SKIPPED),
    ],
)
def test_the_worst_of_a_querys_verdicts_is_the_items(statuses: tuple[Status, Status], expected: Status) -> None:
    item = of_query("q", own=("one", "two"))
    verdicts = [verdict(name, status) for name, status in zip(item.verdicts, statuses, strict=True)]

    assert find_outcome(item, report(*verdicts, queries=(query("q"),))).status is expected


def test_only_the_verdicts_that_decide_give_the_reason() -> None:
    item = of_query("q", own=("one", "two", "three"))
    verdicts = [verdict("one", Status.FAILED), verdict("two", Status.PASSED), verdict("three", Status.FAILED)]

    outcome = find_outcome(item, report(*verdicts, queries=(query("q"),)))

    assert outcome.reason == "reason of one\nreason of three"
    [(title, text)] = outcome.sections
    assert title == "query q (s.yaml:1:3)"
    assert text.count("document of q") == 1


def test_a_failure_shows_the_three_worst_queries_in_the_gates_order() -> None:
    names = ("q1", "q2", "q3", "q4", "q5")
    failed = verdict("mean", Status.FAILED, blamed=("q5", "q1", "q3", "q2"))

    [(_, text)] = find_outcome(of_threshold("mean"), report(failed, queries=tuple(map(query, names)))).sections

    shown = [name for name in ("q5", "q1", "q3") if f"document of {name}" in text]
    assert shown == ["q5", "q1", "q3"]
    assert text.index("text of q5") < text.index("text of q1") < text.index("text of q3")
    assert "document of q2" not in text
    assert text.endswith("and 1 more")


def test_of_a_verdict_on_many_queries_a_querys_item_shows_itself_only() -> None:
    failed = verdict("every", Status.FAILED, blamed=("q1", "q2"))
    outcome = find_outcome(of_query("q2", shared=("every",)), report(failed, queries=(query("q1"), query("q2"))))

    assert outcome.status is Status.FAILED
    [(_, text)] = outcome.sections
    assert "document of q2" in text
    assert "document of q1" not in text


def test_a_query_that_a_shared_verdict_does_not_blame_passes() -> None:
    failed = verdict("every", Status.FAILED, blamed=("q1",), observed=0.2)
    outcome = find_outcome(of_query("q2", shared=("every",)), report(failed, queries=(query("q1"), query("q2"))))

    assert outcome.status is Status.PASSED


@pytest.mark.parametrize(
    ("blamed", "expected"),
    [((), Status.INCONCLUSIVE), (("q2",), Status.INCONCLUSIVE), (("q1",), Status.PASSED)],
)
def test_an_inconclusive_shared_verdict_is_that_of_the_queries_it_blames_or_of_all(
    blamed: tuple[str, ...], expected: Status
) -> None:
    inconclusive = verdict("every", Status.INCONCLUSIVE, blamed=blamed)
    outcome = find_outcome(of_query("q2", shared=("every",)), report(inconclusive, queries=(query("q1"), query("q2"))))

    assert outcome.status is expected


def test_a_query_expected_to_fail_is_forgiven_what_a_shared_verdict_blames_it_for() -> None:
    failed = verdict("every", Status.FAILED, blamed=("q",))
    outcome = find_outcome(of_query("q", shared=("every",), xfail=WAIVER), report(failed, queries=(query("q"),)))

    assert (outcome.status, outcome.waiver, outcome.reason) == (Status.XFAILED, WAIVER, "reason of every")
    [(_, text)] = outcome.sections
    assert "document of q" in text


def test_what_a_shared_verdict_blames_it_for_is_forgiven_beside_thresholds_of_its_own_too() -> None:
    item = of_query("q", own=("own",), shared=("every",), xfail=WAIVER)
    failed = verdict("every", Status.FAILED, blamed=("q",))

    assert (
        find_outcome(item, report(verdict("own", Status.XFAILED), failed, queries=(query("q"),))).status
        is Status.XFAILED
    )
    # what the gate fails in spite of the waiver is an unexpected pass that was asked to fail
    assert (
        find_outcome(item, report(verdict("own", Status.FAILED), failed, queries=(query("q"),))).status is Status.FAILED
    )
    assert (
        find_outcome(item, report(verdict("own", Status.ERROR), failed, queries=(query("q"),))).status is Status.ERROR
    )


def test_a_query_expected_to_fail_that_holds_passes_unexpectedly() -> None:
    passed = report(verdict("every", Status.PASSED, observed=1.0), queries=(query("q"),))

    assert find_outcome(of_query("q", shared=("every",), xfail=WAIVER), passed).status is Status.XPASSED
    assert find_outcome(of_query("q", xfail=WAIVER), passed).status is Status.PASSED  # nothing is asked of it
    waived = of_query("q", shared=("every",), waived=("every",), xfail=WAIVER)
    assert find_outcome(waived, passed).status is Status.PASSED


def test_an_undefined_query_can_be_expected() -> None:
    undefined = report(queries=(query("q", Outcome.UNDEFINED, "no document is relevant"),))
    outcome = find_outcome(of_query("q", xfail=WAIVER), undefined)

    assert (outcome.status, outcome.waiver) == (Status.XFAILED, WAIVER)
    assert "no document is relevant" in outcome.reason


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.NOT_RUN])
def test_a_missing_answer_is_never_expected(outcome: Outcome) -> None:
    unanswered = report(queries=(query("q", outcome, "503 from the engine"),))

    assert find_outcome(of_query("q", shared=("every",), xfail=WAIVER), unanswered).status is Status.ERROR


@pytest.mark.parametrize("undecided", [(verdict("every", Status.ERROR, blamed=("q1",)),), ()])
def test_a_query_is_judged_alone_where_no_verdict_tells_of_it(undecided: tuple[Verdict, ...]) -> None:
    short = verdict("every", Status.FAILED, blamed=("q2",), observed=0.1)
    indexed = report(*undecided, queries=(query("q1", Outcome.ERROR), query("q2"), query("q3")), lone=Lone(short))

    assert find_outcome(of_query("q2", shared=("every",)), indexed).status is Status.FAILED
    assert find_outcome(of_query("q2", shared=("every",), waived=("every",)), indexed).status is Status.PASSED
    assert find_outcome(of_query("q3", shared=("every",)), indexed).status is Status.PASSED
    assert find_outcome(of_query("q1", shared=("every",)), indexed).status is Status.ERROR


def test_a_query_that_the_report_does_not_hold_is_an_error() -> None:
    outcome = find_outcome(of_query("gone"), report(queries=(query("q"),)))

    assert outcome.status is Status.ERROR
    assert "query gone" in outcome.reason


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.NOT_RUN])
def test_a_query_of_which_nothing_is_asked_still_needs_its_answer(outcome: Outcome) -> None:
    of_item = find_outcome(of_query("q"), report(queries=(query("q", outcome, "503 from the engine"),)))

    assert of_item.status is Status.ERROR
    assert of_item.reason == f"query q: {outcome}: 503 from the engine"


@pytest.mark.parametrize(("skipped", "expected"), [(False, Status.FAILED), (True, Status.SKIPPED)])
def test_an_undefined_query_fails_unless_the_suite_leaves_such_out(*, skipped: bool, expected: Status) -> None:
    undefined = report(queries=(query("q", Outcome.UNDEFINED, "no document is relevant"),))
    outcome = find_outcome(of_query("q", skip_undefined=skipped), undefined)

    assert outcome.status is expected
    assert "no document is relevant" in outcome.reason


def test_zero_hits_of_which_nothing_is_asked_pass_and_are_named() -> None:
    outcome = find_outcome(of_query("q"), report(queries=(query("q", Outcome.ZERO_HITS),)))

    assert outcome.status is Status.PASSED
    assert ("relevance.outcome", "zero hits") in outcome.properties


def test_a_verdict_that_is_not_there_is_an_error() -> None:
    outcome = find_outcome(of_threshold("mean"), report(verdict("median", Status.PASSED)))

    assert outcome.status is Status.ERROR
    assert "mean" in outcome.reason


def test_a_verdict_that_no_item_is_about_is_an_error_of_each_item() -> None:
    passed = verdict("mean", Status.PASSED)
    ran = report(passed, queries=(query("q"),))
    items = [of_threshold("mean"), of_query("q")]
    indexed = IndexedReport(
        replace(ran.report, verdicts=(passed, verdict("every", Status.FAILED))), ran.single_queries, items
    )

    for item in items:
        outcome = find_outcome(item, indexed)
        assert outcome.status is Status.ERROR
        assert outcome.reason == "no item is about every: the suite was changed while it was tested"


def test_a_query_without_an_item_is_an_error_where_each_has_one() -> None:
    items = [of_threshold("mean"), of_query("q")]
    ran = report(verdict("mean", Status.PASSED), queries=(query("q"), query("r")))

    assert find_outcome(items[0], IndexedReport(ran.report, ran.single_queries, items)).status is Status.PASSED
    outcome = find_outcome(items[0], IndexedReport(ran.report, ran.single_queries, items, each_query=True))
    assert outcome.reason == "no item is about r: the suite was changed while it was tested"


def test_properties_are_builtin_and_say_what_was_measured() -> None:
    measured = verdict("mean", Status.FAILED, observed=0.7, required=0.8)
    assert properties(find_outcome(of_threshold("mean"), report(measured))) == {
        "relevance.verdict": "failed",
        "relevance.observed": 0.7,
        "relevance.required": 0.8,
        "relevance.request": "r",
        "relevance.cluster": "default",
        "relevance.gain": "exponential",
        "relevance.profile": "standard",
        "relevance.engine": "opensearch 3.8.0",
        "relevance.harness": __version__,
    }


def test_the_baseline_is_named_where_there_is_one() -> None:
    indexed = report(verdict("drop", Status.PASSED))
    baseline = BaselineSummary("2026-11-20", ("a changed", "b too"))
    compared = IndexedReport(
        replace(indexed.report, baseline=baseline, index="products"), indexed.single_queries, [of_threshold("drop")]
    )
    found = properties(find_outcome(of_threshold("drop"), compared))
    assert found["relevance.index"] == "products"
    assert found["relevance.baseline"] == "2026-11-20"
    assert found["relevance.baseline-changes"] == "a changed; b too"


def test_what_an_item_tells_before_it_runs_is_not_told_twice() -> None:
    planned = replace(of_threshold("mean"), properties=(("relevance.request", "r"),))
    assert "relevance.request" not in properties(find_outcome(planned, report(verdict("mean", Status.PASSED))))


def test_a_querys_properties_hold_its_scores_and_the_numbers_of_each_threshold() -> None:
    item = of_query("q", own=("one", "two"))
    verdicts = [verdict("one", Status.PASSED, observed=1.0, required=0.5), verdict("two", Status.PASSED)]
    scored = query("q", scores={"nDCG@10": 0.25, "AP": None})

    found = properties(find_outcome(item, report(*verdicts, queries=(scored,))))

    assert found["relevance.nDCG@10"] == 0.25
    assert "relevance.AP" not in found
    assert found["relevance.observed.one"] == 1.0
    assert found["relevance.outcome"] == "scored"
    assert {type(value) for value in found.values()} <= {str, int, float}


def properties(outcome: ItemOutcome) -> dict[str, object]:
    found = dict(outcome.properties)
    assert len(found) == len(outcome.properties)
    return found
