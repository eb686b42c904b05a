"""A threshold on Judged@k that does not hold names the documents that nobody has judged."""

from datetime import date

import pytest

from builders.extension_cases import needs_extension
from builders.gating import threshold
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.metrics.unjudged import bound_differences
from harness.model.kept import Reference
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run, Status
from harness.model.suite import Query

REMEDY = "`relevance judgments pool` collects them for grading"


def verdict_of(text, *, rankings, judgments, of_query=False, **fields):
    own = (threshold(text, of_query=True),) if of_query else ()
    queries = [Query(name, name, judgments=judgments.get(name, {}), thresholds=own) for name in rankings]
    suite = make_suite(*queries, thresholds=[] if of_query else [threshold(text)], **fields)
    responses = {
        name: found if isinstance(found, Failure) else Ranking(tuple(map(Hit, found)))
        for name, found in rankings.items()
    }
    run = Run(responses, Engine("fake"))
    return decide(suite, run, score_run(suite, run), today=date(2026, 1, 1))[0]


@needs_extension("judging")
@pytest.mark.parametrize("statistic", ["mean", "median", "every", "95%"])
def test_every_kind_of_threshold_names_the_unjudged_hits_of_its_worst_queries(statistic):
    verdict = verdict_of(
        f"{statistic} Judged@3 >= 0.9",
        rankings={"p": ["a", "x", "b"], "q": ["y", "z"]},
        judgments={"p": {"a": 1, "b": 0}, "q": {"c": 1}},
    )
    assert verdict.status is Status.FAILED
    assert verdict.blamed == ("q", "p")
    assert verdict.reason.endswith(f"; unjudged hits of q: y (rank 1), z (rank 2); of p: x (rank 2); {REMEDY}")


@needs_extension("judging")
def test_a_query_s_own_threshold_names_its_own():
    verdict = verdict_of("Judged@2 >= 1", rankings={"q": ["a", "x", "y"]}, judgments={"q": {"a": 1}}, of_query=True)
    assert verdict.reason == f"Judged@2 is 0.5000, required >= 1; unjudged hits of q: x (rank 2); {REMEDY}"


@needs_extension("judging")
def test_only_the_worst_queries_and_the_first_of_many_documents_are_named():
    rankings = {f"q{n}": [f"d{rank}" for rank in range(20)] for n in range(5)}
    verdict = verdict_of("mean Judged@15 >= 0.9", rankings=rankings, judgments={})
    assert verdict.reason.count("; of q") == 2
    assert "q0: d0 (rank 1), d1 (rank 2), d2 (rank 3) and 12 more; of q1: " in verdict.reason
    assert f"d2 (rank 3) and 12 more; and of 2 more queries; {REMEDY}" in verdict.reason


@needs_extension("judging")
def test_more_documents_are_named_of_a_query_by_itself():
    verdict = verdict_of("mean Judged@15 >= 0.9", rankings={"q": [f"d{rank}" for rank in range(20)]}, judgments={})
    assert f"d8 (rank 9), d9 (rank 10) and 5 more; {REMEDY}" in verdict.reason


@pytest.mark.parametrize(
    ("text", "rankings"),
    [
        ("mean Judged@3 >= 0.5", {"q": ["a"]}),  # holds
        ("mean Judged@3 >= 0.5", {"q": []}),  # nothing was returned, so nothing of it is unjudged
        ("mean Judged@3 >= 0.5", {"q": Failure(FailureKind.ERROR, "no")}),  # no answer
        ("mean P@3 >= 0.9", {"q": ["a", "x"]}),  # another measure
        ("mean Judged@3 <= 0.5", {"q": ["a"]}),  # too much is judged
    ],
)
def test_anything_else_names_none(text, rankings):
    assert "unjudged hits" not in verdict_of(text, rankings=rankings, judgments={"q": {"a": 1}}).reason


# A significant drop: how far unjudged hits may move it.


def drop_of(before, after, judgments, text="drop P@2 is not significant at 5%", *, size=12):
    names = [f"q{number}" for number in range(size)]
    queries = [Query(name, name, judgments=judgments) for name in names]
    suite = make_suite(*queries, thresholds=[threshold(text)])
    runs = []
    for found in (before, after):
        responses = {
            name: Ranking(tuple(Hit(document, 9.0 - rank) for rank, document in enumerate(found))) for name in names
        }
        runs.append(Run(responses, Engine("fake")))
    reference = Reference(runs[0], score_run(suite, runs[0]), depth=10, created="2026-01-01")
    [verdict] = decide(suite, runs[1], score_run(suite, runs[1]), today=date(2026, 1, 1), reference=reference)
    return verdict


def test_a_significant_drop_has_the_range_that_unjudged_hits_leave():
    verdict = drop_of(["a", "b"], ["a", "x"], {"a": 1, "b": 1})
    assert (verdict.status, verdict.observed < 0.001) == (Status.FAILED, True)
    assert verdict.if_judged == (pytest.approx(-0.5), pytest.approx(0.0))
    assert "the difference may be -0.5000 to 0.0000 if the unjudged hits are the worst or the best" in verdict.reason


def test_unjudged_hits_of_the_baseline_count_too():
    verdict = drop_of(["x", "b"], ["c", "d"], {"b": 1, "c": 0, "d": 0})
    assert (verdict.status, verdict.if_judged) == (Status.FAILED, (pytest.approx(-1.0), pytest.approx(-0.5)))


def test_a_drop_of_too_few_queries_to_test_has_it_too():
    verdict = drop_of(["a", "b"], ["a", "x"], {"a": 1, "b": 1}, size=3)
    assert (verdict.status, verdict.if_judged) == (Status.FAILED, (pytest.approx(-0.5), pytest.approx(0.0)))
    assert (
        "no drop is detectable: compare more queries, or use `drop P@2 <= …`; the difference may be" in verdict.reason
    )


def test_a_pass_has_it_as_its_caveat():
    verdict = drop_of(["a", "x"], ["a", "y"], {"a": 1})
    assert (verdict.status, verdict.if_judged) == (Status.PASSED, (pytest.approx(-0.5), pytest.approx(0.5)))
    assert "may be -0.5000 to +0.5000" in verdict.caveat


def test_a_pass_that_no_grade_turns_has_no_caveat():
    verdict = drop_of(["b", "c"], ["a", "x"], {"a": 1, "b": 0, "c": 0})
    assert (verdict.status, verdict.if_judged) == (Status.PASSED, (pytest.approx(0.5), pytest.approx(1.0)))
    assert verdict.caveat == ""


@pytest.mark.parametrize(
    ("measure", "before", "after", "ends"),
    [
        ("RR@3", "uxz", "uyz", (-1 / 6, 1 / 6)),  # u is first on both sides, and hides what is below it
        ("Success@2", "uxy", "uyx", (-1.0, 1.0)),
        ("R@2", "uxa", "uya", (-0.5, 0.5)),  # u helps neither, but it is one more that is relevant
        ("P@2", "uxa", "uya", (-0.5, 0.5)),
    ],
)
def test_what_both_sides_have_does_not_narrow_the_range(measure, before, after, ends):
    query = Query("q", "q", judgments={"z": 1.0, "a": 0.0})
    suite = make_suite(query)
    rankings = tuple(Ranking(tuple(map(Hit, found))) for found in (before, after))
    [(low, high)] = bound_differences(suite, parse_measure(measure), {"q": rankings}).values()
    assert (low, high) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    [mirrored] = bound_differences(suite, parse_measure(measure), {"q": rankings[::-1]}).values()
    assert mirrored == (pytest.approx(-high), pytest.approx(-low))


@pytest.mark.parametrize(
    ("text", "judgments"),
    [
        ("drop P@2 is not significant at 5%", {"a": 1, "b": 1, "x": 0}),  # all is judged
        ("drop P@2 <= 0.1", {"a": 1, "b": 1}),  # no p
        ("drop Judged@2 is not significant at 5%", {"a": 1, "b": 1}),  # needs no grades
    ],
)
def test_nothing_else_has_one(text, judgments):
    verdict = drop_of(["a", "b"], ["a", "x"], judgments, text)
    assert (verdict.status, verdict.if_judged) == (Status.FAILED, None)
    assert "may be" not in verdict.reason


# Measures that count an unjudged hit as not relevant: how many hits of the blamed queries are unjudged.


@pytest.mark.parametrize("statistic", ["mean", "median", "every", "95%"])
def test_a_score_that_falls_short_says_how_many_hits_of_the_blamed_queries_are_unjudged(statistic):
    verdict = verdict_of(
        f"{statistic} P@3 >= 0.6",
        rankings={"p": ["a", "x", "y", "z"], "q": ["x", "y"], "r": ["a", "b"], "s": ["a", "b", "x"]},
        judgments={"p": {"a": 1, "x": 0}, "q": {"a": 1}, "r": {"a": 1, "b": 1}, "s": {"a": 1, "b": 1}},
    )
    assert (verdict.status, verdict.blamed) == (Status.FAILED, ("q", "p"))
    assert verdict.reason.endswith("; 3 of 5 hits of these queries are unjudged")


def test_a_query_s_own_score_that_falls_short_says_it_too():
    verdict = verdict_of("P@3 >= 0.9", rankings={"q": ["a", "x"]}, judgments={"q": {"a": 1}}, of_query=True)
    assert verdict.reason == "P@3 is 0.3333, required >= 0.9; 1 of 2 hits of this query is unjudged"


@pytest.mark.parametrize("text", ["drop P@2 <= 0.1", "drop every P@2 <= 0.1", "worse P@2 by 0.1 <= 3 queries"])
def test_a_drop_says_how_many_hits_of_the_fallen_queries_are_unjudged_today(text):
    verdict = drop_of(["a", "b"], ["a", "x"], {"a": 1, "b": 1}, text)
    assert verdict.status is Status.FAILED
    assert verdict.reason.endswith("; 12 of 24 hits of these queries are unjudged")


@pytest.mark.parametrize(
    ("text", "rankings", "judgments"),
    [
        ("mean P@2 >= 0.9", {"q": ["a", "b"]}, {"a": 1, "b": 0}),  # all is judged
        ("mean P@2 >= 0.5", {"q": ["a", "x"]}, {"a": 1}),  # holds
        ("mean P@2 <= 0.1", {"q": ["a", "x"]}, {"a": 1}),  # judging raises it
        ("mean P(judged_only=true)@2 >= 0.9", {"q": ["b", "x"]}, {"a": 1, "b": 0}),  # they do not count
        ("mean Bpref >= 0.9", {"q": ["b", "x"]}, {"a": 1, "b": 0}),  # nor here
        ("mean P@2 >= 0.9", {"q": ["x", "y"]}, {}),  # undefined: its own sentence says what to judge
    ],
)
def test_any_other_score_says_nothing_of_unjudged_hits(text, rankings, judgments):
    assert "unjudged" not in verdict_of(text, rankings=rankings, judgments={"q": judgments}).reason
