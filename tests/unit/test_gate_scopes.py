"""
Each kind of threshold beside each state of a query in its scope: what has no score never passes, and never in silence.

docs/reference/outcomes.md is the specification. Five queries meet every threshold; then one or all of them are skipped,
undefined, without an answer, without hits or expected to fail.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import pytest

from builders.gating import TODAY, threshold
from builders.histories import entries_of
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.gate.expectations import parse_suite_expectation
from harness.metrics.run_scores import score_run
from harness.model.kept import History, Reference
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Response, Run, Status, Verdict
from harness.model.suite import (
    Before,
    Condition,
    FalseHitsCondition,
    InTop,
    Query,
    QuerySample,
    Threshold,
    UnresolvedCondition,
    Variant,
    Waiver,
)
from harness.store.history import rescore

NAMES = ("a", "b", "c", "d", "e")
BROKEN = Waiver("broken")


@dataclass(frozen=True)
class Kind:
    """A kind of threshold that five queries meet."""

    text: str
    is_estimated: bool = False
    is_expectation: bool = False

    def make(self) -> Threshold:
        """The threshold."""
        if self.is_expectation:
            condition, tag = parse_suite_expectation(self.text)
            return Threshold(self.text, condition, tag)
        return threshold(self.text, is_estimated=self.is_estimated)


OF_SCORES = (
    Kind("mean nDCG@3 >= 0.1"),
    Kind("median nDCG@3 >= 0.1"),
    Kind("every nDCG@3 >= 0"),
    Kind("60% nDCG@3 >= 0.1"),
    Kind("machine nDCG@3 <= 90%"),
    Kind("loss nDCG@3 of variants <= 0.9"),
    Kind("loss every nDCG@3 of variants <= 1"),
    Kind("loss nDCG@3 against request exact <= 0.9"),
    Kind("loss every nDCG@3 against request exact <= 1"),
    Kind("drop nDCG@3 <= 0.9"),
    Kind("drop nDCG@3 <= 90%"),
    Kind("drop every nDCG@3 <= 1"),
    Kind("drop nDCG@3 is not significant at 3%"),
    Kind("worse nDCG@3 by 0.1 <= 3 queries"),
    Kind("worse nDCG@3 by 0.1 <= 80%"),
    Kind("drop nDCG@3 <= 0.9 since 2 runs"),
    Kind("drop every nDCG@3 <= 1 since 2 runs"),
    Kind("worse nDCG@3 by 0.1 <= 80% since 2 runs"),
)
OF_ANSWERS = (
    Kind("kappa gpt >= -1 over 2 documents"),
    Kind("mean RBO@3 >= 0.1"),
    Kind("every overlap@3 >= 0"),
    Kind("mean RBO@3 of variants >= 0.1"),
    Kind("every overlap@3 of variants >= 0"),
    Kind("mean RBO@3 with request exact >= 0.1"),
    Kind("every overlap@3 with request exact >= 0"),
    Kind("p50 latency <= 10 ms"),
    Kind("max latency <= 10 ms"),
    Kind("hits >= 0", is_expectation=True),
    Kind("distinct brand >= 0 in top 3", is_expectation=True),
    Kind("no repeated sku in top 3", is_expectation=True),
    Kind("no hit in top 3 has stock = 0", is_expectation=True),
)
ESTIMATED = (Kind("mean nDCG@3 >= 0.1", is_estimated=True), Kind("drop nDCG@3 <= 0.9", is_estimated=True))
KINDS = (*OF_SCORES, *OF_ANSWERS, *ESTIMATED)

OF_ONE_QUERY = (InTop, Before)
"""The conditions that only a query has: their scope is one query, and a skip of it is one of theirs."""


def name_kind(kind: Kind) -> str:
    return f"{kind.text}{' (estimated)' if kind.is_estimated else ''}"


def each(kinds: tuple[Kind, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", kinds, ids=name_kind)


def answer(*documents: str) -> Ranking:
    hits = [
        Hit(document, score=9.0 - place, values={"sku": (document,), "stock": (1,), "brand": ("x",)})
        for place, document in enumerate(documents)
    ]
    return Ranking(tuple(hits), total=len(hits), took=3)


def make_query(name: str) -> Query:
    people = {"r": 2.0, "s": 1.0, "t": 0.0, "u": 0.0}
    return Query(
        name,
        name,
        judgments=people,
        people_grades=people,
        machine_grades={"gpt": {**people, "s": 0.0 if name == "a" else 1.0}},
        machine_graded=frozenset({"u"}),
        variants=(Variant(f"{name}~1", f"the {name}"),),
    )


def make_undefined(query: Query) -> Query:
    """*query* without a relevant document."""
    none = dict.fromkeys(query.judgments, 0.0)
    of_people = dict.fromkeys(query.people_grades or (), 0.0)
    return replace(query, judgments=none, people_grades=of_people, machine_grades={"gpt": none})


def decide_kind(
    kind: Kind,
    change: Callable[[Query], Query] = lambda query: query,
    changed: tuple[str, ...] = (),
    answers: Mapping[str, Response | None] | None = None,
    new: tuple[str, ...] = (),
    **fields: Any,
) -> Verdict:
    """
    The verdict on *kind* where the queries *changed* are so by *change*, and *answers* take the place of theirs.

    None as an answer is none. The runs before were answered for all queries but those that are *new*.
    """
    gated = kind.make()
    earlier: dict[str, Response] = {name: answer("r", "s" if name < "c" else "t", "u") for name in NAMES}
    variants: dict[str, Response] = {f"{name}~1": response for name, response in earlier.items()}
    responses = {**earlier, **{name: response for name, response in (answers or {}).items() if response is not None}}
    for name, response in (answers or {}).items():
        if response is None:
            responses.pop(name, None)
    queries = [change(query) if query.id in changed else query for query in map(make_query, (*NAMES, *new))]
    sample = QuerySample(1, NAMES, "")
    known = {"judges": ("people", "gpt"), "sample": sample, "depth": 3, **fields}
    suite = make_suite(*queries, thresholds=[gated], **known)
    before = Run(earlier, Engine("fake"), "current", variants=variants)
    reference = Reference(before, score_run(suite, before), depth=3, created="2026-05-01", same_request=True)
    history = History(rescore(entries_of(suite, [before, before]), suite), "kept")
    exact = Run(earlier, Engine("fake"), "exact")
    run = Run(responses, Engine("fake"), "current", variants=variants, others={"exact": exact})
    [verdict] = decide(suite, run, score_run(suite, run), today=TODAY, reference=reference, history=history)
    return verdict


def skip(query: Query) -> Query:
    return replace(query, skip=BROKEN)


def expect_failure(query: Query) -> Query:
    return replace(query, xfail=BROKEN)


def test_every_kind_of_condition_is_in_the_table() -> None:
    tested = {type(kind.make().condition) for kind in KINDS}
    of_suites = set(get_args(Condition)) - set(OF_ONE_QUERY)
    # A condition with a variable is an error, whatever the queries are. False hits are those of other queries than
    # these: tests/unit/test_gate_false_hits.py.
    assert of_suites - tested == {UnresolvedCondition, FalseHitsCondition}


@each(KINDS)
def test_it_passes_where_all_queries_count(kind: Kind) -> None:
    verdict = decide_kind(kind)
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 0), verdict.reason
    assert "left out" not in verdict.reason


@each(KINDS)
def test_a_skipped_query_is_left_out_and_counted(kind: Kind) -> None:
    verdict = decide_kind(kind, skip, ("b",), {"b": None})
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 1), verdict.reason
    assert "left out: 1 skipped" in verdict.reason


@each(KINDS)
def test_where_every_query_is_skipped_it_fails(kind: Kind) -> None:
    verdict = decide_kind(kind, skip, NAMES, dict.fromkeys(NAMES))
    assert (verdict.status, verdict.observed) == (Status.FAILED, None), verdict.reason


@each(OF_SCORES)
def test_an_undefined_query_fails_it(kind: Kind) -> None:
    verdict = decide_kind(kind, make_undefined, ("b", "c"))
    assert (verdict.status, verdict.observed) == (Status.FAILED, None), verdict.reason
    assert verdict.blamed == ("b", "c")
    assert "is undefined for 2 of 5 queries: b, c; judge a relevant document" in verdict.reason


@each(ESTIMATED)
@pytest.mark.parametrize("changed", [("b", "c"), NAMES], ids=["two", "all"])
def test_an_undefined_query_keeps_an_estimate_from_passing(kind: Kind, changed: tuple[str, ...]) -> None:
    verdict = decide_kind(kind, make_undefined, changed)
    assert verdict.status in (Status.FAILED, Status.INCONCLUSIVE), verdict.reason
    # An estimate quotes the names, a comparison with the baseline does not.
    assert "b, c" in verdict.reason.replace("'", "")


@each(ESTIMATED)
def test_where_every_query_is_undefined_no_estimate_passes(kind: Kind) -> None:
    verdict = decide_kind(kind, make_undefined, NAMES, skip_undefined=True)
    assert verdict.status in (Status.FAILED, Status.INCONCLUSIVE), verdict.reason


@each(OF_SCORES)
def test_an_undefined_query_is_left_out_and_counted_where_the_suite_says_so(kind: Kind) -> None:
    verdict = decide_kind(kind, make_undefined, ("b", "c"), skip_undefined=True)
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 2), verdict.reason
    assert "left out: 2 undefined" in verdict.reason


@each(OF_SCORES)
def test_where_every_query_is_undefined_it_fails_though_the_suite_leaves_them_out(kind: Kind) -> None:
    verdict = decide_kind(kind, make_undefined, NAMES, skip_undefined=True)
    assert (verdict.status, verdict.observed) == (Status.FAILED, None), verdict.reason


@each(OF_ANSWERS)
def test_what_reads_no_score_passes_without_a_relevant_document(kind: Kind) -> None:
    assert decide_kind(kind, make_undefined, ("b",)).status is Status.PASSED


NO_ANSWER = (
    None,
    Failure(FailureKind.ERROR, "no"),
    Failure(FailureKind.TIMEOUT, "slow"),
    Failure(FailureKind.NOT_RUN, "end"),
)


@each(KINDS)
def test_a_query_without_an_answer_is_an_error(kind: Kind) -> None:
    for response in NO_ANSWER:
        verdict = decide_kind(kind, answers={"d": response})
        assert (verdict.status, verdict.blamed) == (Status.ERROR, ("d",)), f"{response}: {verdict.reason}"


@each(KINDS)
def test_a_query_without_an_answer_is_no_expected_failure(kind: Kind) -> None:
    verdict = decide_kind(kind, expect_failure, ("d",), {"d": Failure(FailureKind.ERROR, "no")})
    assert verdict.status is Status.ERROR, verdict.reason


@each(KINDS)
def test_a_query_that_is_expected_to_fail_counts(kind: Kind) -> None:
    verdict = decide_kind(kind, expect_failure, ("d",))
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 0), verdict.reason


def find_nothing(query: Query) -> Query:
    return replace(query, nothing=True, judgments={}, people_grades={}, machine_grades={}, variants=())


@each(tuple(kind for kind in KINDS if "latency" not in kind.text))
@pytest.mark.parametrize("response", [answer("x"), answer(), Failure(FailureKind.ERROR, "no"), None])
def test_a_query_without_a_right_result_is_in_no_figure(kind: Kind, response: Response | None) -> None:
    verdict = decide_kind(kind, find_nothing, ("d",), {"d": response})
    without = decide_kind(kind, skip, ("d",), {"d": None})
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 0), verdict.reason
    assert (verdict.observed, verdict.counted) == (without.observed, without.counted)
    assert "d" not in verdict.blamed


NAMES_NO_HITS = ("kappa", "p50", "max")
"""How kinds begin that say nothing of hits."""


@each(tuple(kind for kind in KINDS if kind.text.split()[0] not in NAMES_NO_HITS))
def test_a_query_without_hits_is_named(kind: Kind) -> None:
    verdict = decide_kind(kind, answers={"d": answer()})
    assert verdict.observed is not None, verdict.reason
    assert "zero hits: d" in verdict.reason


# What an expected failure must not stand for: each kind that looks at every query by itself, with one that fails and is
# expected to, and another one that decides nothing.


def test_an_expected_failure_does_not_stand_for_a_query_that_is_inconclusive() -> None:
    kind = Kind("hits <= 20", is_expectation=True)
    counted_in_part = replace(answer("r"), total=15, total_is_lower_bound=True)
    too_many = replace(answer("r"), total=30)
    assert decide_kind(kind, expect_failure, ("b",), {"b": too_many}).status is Status.XFAILED
    verdict = decide_kind(kind, expect_failure, ("b",), {"b": too_many, "d": counted_in_part})
    assert (verdict.status, verdict.blamed) == (Status.INCONCLUSIVE, ("d",)), verdict.reason
    verdict = decide_kind(kind, expect_failure, ("b", "d"), {"b": too_many, "d": counted_in_part})
    assert verdict.status is Status.INCONCLUSIVE, "an expected failure excuses nothing that is not decided"


def test_an_expected_failure_does_not_stand_for_a_ranking_that_may_continue() -> None:
    kind = Kind("every Judged@3 >= 0.6")
    body = {"template": {"id": "stored"}}
    short = replace(answer("r"), total=9)
    unjudged = answer("x", "y", "z")
    assert decide_kind(kind, expect_failure, ("b",), {"b": unjudged}, body=body, depth=5).status is Status.XFAILED
    verdict = decide_kind(kind, expect_failure, ("b",), {"b": unjudged, "d": short}, body=body, depth=5)
    assert verdict.status is Status.INCONCLUSIVE, verdict.reason


# A query that the earlier runs do not have is compared with nothing, and still in the scope.


@each(tuple(kind for kind in OF_SCORES if "since" in kind.text))
@pytest.mark.parametrize("response", [None, Failure(FailureKind.TIMEOUT, "slow")], ids=["none", "timeout"])
def test_a_new_query_without_an_answer_is_an_error_of_what_looks_back(kind: Kind, response: Response | None) -> None:
    verdict = decide_kind(kind, answers={"new": response}, new=("new",))
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("new",)), verdict.reason


@each(tuple(kind for kind in OF_SCORES if "since" in kind.text))
@pytest.mark.parametrize(("skips", "status"), [(False, Status.FAILED), (True, Status.PASSED)])
def test_a_new_query_without_a_relevant_document_fails_what_looks_back(kind: Kind, skips: bool, status: Status) -> None:
    answers = {"new": answer("r")}
    verdict = decide_kind(kind, make_undefined, ("new",), answers, new=("new",), skip_undefined=skips)
    assert verdict.status is status, verdict.reason
    assert ("is undefined for 1 of 6 queries: new" in verdict.reason) is not skips
