"""Thresholds `since` earlier runs: compared with the median of the last ones, on the queries that all of them have."""

from dataclasses import replace

import pytest

from builders.gating import TODAY, reference_of, threshold
from builders.histories import entries_of, make_kept_suite, ranking_of, run_of
from harness.errors import GrammarError
from harness.gate.decide import decide
from harness.gate.grammar import parse_threshold
from harness.gate.selection import count_history_runs, needs_baseline
from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.model.kept import History
from harness.model.run import Failure, FailureKind, Hit, Ranking, Status
from harness.model.scores import Outcome, Score
from harness.model.suite import DropCondition, Query, Waiver, WorseCondition
from harness.report.junit import list_verdict_figures
from harness.store.history import rescore

# RR@10 is 1 divided by the rank of the one relevant document, "r".
RR = parse_measure("RR@10")
NAMES = ("boots", "shoes")


def suite_with(*texts, names=NAMES, **fields):
    queries = fields.pop("queries", None) or [
        Query(name, name, judgments={"r": 1}, tags=("head",) if name == "shoes" else ()) for name in names
    ]
    known = {"measures": (RR,), "depth": 10, "thresholds": tuple(map(threshold, texts)), **fields}
    return make_kept_suite(*queries, **known)


def ranked(rank):
    """A ranking with the relevant document at *rank*; 0 for one without it."""
    others = [f"x{place}" for place in range(1, 10)]
    return ranking_of(*others[: rank - 1], "r", *others[rank - 1 :]) if rank else ranking_of(*others)


def run_with(suite, **ranks):
    return run_of(suite, **{query: ranked(rank) for query, rank in ranks.items()})


def history_of(suite, *runs, today=None, folder="kept"):
    """The history of *runs*, each by the ranks of its queries, as *today*'s suite scores it."""
    entries = entries_of(suite, [run_with(suite, **ranks) for ranks in runs])
    return History(rescore(entries, today or suite), folder)


def verdict_of(suite, history, *, run=None, reference=None, **ranks):
    run = run or run_with(suite, **ranks)
    [verdict] = decide(suite, run, score_run(suite, run), today=TODAY, history=history, reference=reference)
    return verdict


def both(rank):
    return {"boots": rank, "shoes": rank}


# The text.


@pytest.mark.parametrize(
    ("text", "condition", "tag"),
    [
        ("drop RR@10 <= 0.02 since 5 runs", DropCondition(RR, 0.02, since=5), None),
        ("drop RR@10 <= 2% since 1 run for head", DropCondition(RR, 0.02, relative=True, since=1), "head"),
        ("drop every RR@10 <= 0.1 since 5 runs", DropCondition(RR, 0.1, every=True, since=5), None),
        ("worse RR@10 by 0.1 <= 3 queries since 7 runs", WorseCondition(RR, 0.1, 3, since=7), None),
        ("worse RR@10 by 0.1 <= 5% since 5 runs for a b", WorseCondition(RR, 0.1, 0.05, True, 5), "a b"),
    ],
)
def test_the_number_of_runs_is_read(text, condition, tag):
    assert parse_threshold(text, of_query=False) == (condition, tag)


def test_a_query_s_own_drop_takes_it_too():
    assert parse_threshold("drop RR@10 <= 0.1 since 5 runs", of_query=True)[0].since == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drop RR@10 <= 0.02 since 0 runs", "found '0', expected a number of runs such as 5 runs, at least 1"),
        ("drop RR@10 <= 0.02 since five runs", "found 'five', expected a number of runs such as 5 runs"),
        ("drop RR@10 <= 0.02 since 5", "found the end, expected 'runs'"),
        ("drop RR@10 <= 0.02 since 5 days", "found 'days', expected 'runs'"),
        ("drop RR@10 is not significant at 5% since 5 runs", "significance is tested against one run; use 'drop RR@10"),
        ("mean RR@10 >= 0.8 since 5 runs", "found 'since', but only 'drop' and 'worse' compare with earlier runs"),
        ("mean RBO >= 0.8 since 5 runs", "found 'since', but only 'drop' and 'worse' compare with earlier runs"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(GrammarError, match=message):
        parse_threshold(text, of_query=False)


def test_it_needs_a_history_and_no_baseline():
    suite = suite_with("drop RR@10 <= 0.02 since 5 runs", "worse RR@10 by 0.1 <= 1 queries since 7 runs")
    assert not needs_baseline(suite, "current")
    assert count_history_runs(suite, "current") == 7
    assert count_history_runs(suite_with("drop RR@10 <= 0.02"), "current") == 0


# The mean.

DROP = "drop RR@10 <= 0.2 since 3 runs"


def test_the_median_is_compared_and_neither_the_last_run_nor_a_lucky_one():
    suite = suite_with(DROP)
    # The means are 0.25, 1 and 0.5: neither the first, the second or the last run, nor the best one, is the median.
    history = history_of(suite, both(2), both(1), both(10), both(4))
    history = History(history.entries[:2] + history.entries[3:], "kept")
    assert verdict_of(suite, history, **both(3)).status is Status.PASSED
    verdict = verdict_of(suite, history, **both(4))
    assert verdict.status is Status.FAILED
    assert verdict.observed == 0.25
    assert verdict.required == 0.2
    assert verdict.spread == (0.25, 1.0)


def test_the_median_of_the_means_is_not_the_mean_of_the_medians():
    suite = suite_with(DROP)
    # The means are 0.625, 0.75 and 0.375, the medians of the queries 0.5 each.
    history = history_of(suite, {"boots": 1, "shoes": 4}, {"boots": 2, "shoes": 1}, {"boots": 4, "shoes": 2})
    assert verdict_of(suite, history, boots=1, shoes=0).observed == 0.125


def test_a_failure_says_from_where_to_where_and_how_far_the_runs_are_apart():
    suite = suite_with(DROP)
    verdict = verdict_of(suite, history_of(suite, both(1), both(2), both(4)), boots=2, shoes=0)
    assert verdict.reason == (
        "mean RR@10 fell by 0.2500 from 0.5000, the median of the last 3 runs (0.2500 to 1.0000, since 2026-11-01), to "
        "0.2500, allowed 0.2, over 2 queries; fell most: shoes 0.5000 -> 0.0000; 9 of 9 hits of this query are unjudged"
    )
    assert verdict.blamed == ("shoes",)


def test_the_spread_is_a_property_in_junit_xml():
    suite = suite_with(DROP)
    verdict = verdict_of(suite, history_of(suite, both(1), both(2), both(4)), **both(2))
    assert ("relevance.spread", "0.25 to 1") in list_verdict_figures(verdict)


def test_a_mean_as_before_is_said_to_be_that_of_the_median():
    suite = suite_with(DROP)
    history = history_of(suite, *[both(2)] * 3)
    verdict = verdict_of(suite, history, **both(2))
    since = "the median of the last 3 runs (0.5000 to 0.5000, since 2026-11-01)"
    assert verdict.reason.startswith(f"mean RR@10 is 0.5000 as in {since}, allowed 0.2")
    assert f"mean RR@10 rose by 0.5000 from 0.5000, {since}, to 1.0000" in verdict_of(suite, history, **both(1)).reason


def test_only_the_last_runs_count():
    suite = suite_with("drop RR@10 <= 0.2 since 2 runs")
    history = history_of(suite, both(1), both(1), both(4), both(4))
    assert verdict_of(suite, history, **both(4)).spread == (0.25, 0.25)


def test_of_an_even_number_of_runs_the_median_is_half_way_between_the_two_in_the_middle():
    suite = suite_with("drop RR@10 <= 0.1 since 4 runs")
    history = history_of(suite, both(1), both(5), both(2), both(10))
    verdict = verdict_of(suite, history, **both(4))
    assert verdict.observed == pytest.approx((0.5 + 0.2) / 2 - 0.25)


def test_one_run_is_compared_with_as_a_baseline_is():
    suite = suite_with("drop RR@10 <= 0.2 since 1 run")
    verdict = verdict_of(suite, history_of(suite, both(1), both(2)), **both(4))
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.25)
    assert "from 0.5000, the median of the last 1 run (0.5000 to 0.5000, since 2026-11-02), to 0.2500" in verdict.reason


def test_a_share_is_one_of_the_median():
    suite = suite_with("drop RR@10 <= 40% since 3 runs")
    history = history_of(suite, both(1), both(2), both(2))
    assert verdict_of(suite, history, **both(3)).status is Status.PASSED
    verdict = verdict_of(suite, history, **both(4))
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.5)


def test_weights_of_today_count():
    queries = [Query("boots", "boots", judgments={"r": 1}, weight=3.0), Query("shoes", "shoes", judgments={"r": 1})]
    suite = suite_with(DROP, queries=queries)
    history = history_of(suite_with(), both(1), both(1), both(1))
    verdict = verdict_of(suite, history_of(suite_with(), *[both(1)] * 3, today=suite), boots=2, shoes=1)
    assert verdict.observed == 0.375
    assert history.entries[0].entry.queries["boots"].weight == 1.0


def test_a_tag_has_a_median_of_its_own():
    suite = suite_with("drop RR@10 <= 0.2 since 3 runs for head")
    history = history_of(suite, *[{"boots": 1, "shoes": 2}] * 3)
    verdict = verdict_of(suite, history, boots=0, shoes=3)
    assert (verdict.status, verdict.counted, verdict.spread) == (Status.PASSED, 1, (0.5, 0.5))


# Each query.


def test_every_query_is_compared_with_its_own_median():
    suite = suite_with("drop every RR@10 <= 0.2 since 3 runs")
    # No run has the median of both queries.
    history = history_of(suite, {"boots": 1, "shoes": 4}, {"boots": 2, "shoes": 1}, {"boots": 4, "shoes": 2})
    assert verdict_of(suite, history, **both(3)).status is Status.PASSED
    verdict = verdict_of(suite, history, boots=2, shoes=4)
    assert (verdict.status, verdict.blamed, verdict.observed) == (Status.FAILED, ("shoes",), 0.25)
    runs = "the median of each query in the last 3 runs (means 0.3750 to 0.7500, since 2026-11-01)"
    assert f"; compared with {runs}" in verdict.reason


def test_queries_that_fell_below_their_own_medians_are_counted():
    suite = suite_with("worse RR@10 by 0.2 <= 1 queries since 3 runs")
    history = history_of(suite, {"boots": 1, "shoes": 4}, {"boots": 2, "shoes": 1}, {"boots": 4, "shoes": 2})
    assert verdict_of(suite, history, boots=2, shoes=4).status is Status.PASSED
    assert verdict_of(suite, history, boots=4, shoes=4).status is Status.FAILED


def test_a_query_s_own_threshold_is_on_its_own_median():
    own = threshold("drop RR@10 <= 0.2 since 3 runs", of_query=True)
    queries = [Query("boots", "boots", judgments={"r": 1}, thresholds=(own,)), Query("shoes", "shoes")]
    suite = suite_with(queries=queries, skip_undefined=True)
    history = history_of(suite, {"boots": 1}, {"boots": 2}, {"boots": 4})
    assert verdict_of(suite, history, boots=4).status is Status.FAILED
    assert verdict_of(suite, history, boots=3).spread == (0.25, 1.0)


# What is compared.


def test_kept_rankings_are_scored_with_the_judgments_of_today():
    before = suite_with(DROP)
    runs = [run_of(before, boots=ranked(2), shoes=ranked(2))] * 3
    # Somebody has judged the first hit since: today's ranking is the same, and so is its score.
    queries = [replace(query, judgments={"r": 1, "x1": 1}) for query in before.queries]
    after = suite_with(DROP, queries=queries)
    history = History(rescore(entries_of(before, runs), after), "kept")
    verdict = verdict_of(after, history, run=run_of(after, boots=ranked(2), shoes=ranked(2)))
    assert (verdict.observed, verdict.spread) == (0.0, (1.0, 1.0))


def test_queries_that_are_new_or_changed_are_left_out_and_weaken_a_pass():
    before = suite_with(DROP)
    queries = [before.queries[0], replace(before.queries[1], text="red shoes"), Query("new", "new", judgments={"r": 1})]
    after = suite_with(DROP, queries=queries)
    history = history_of(before, *[both(2)] * 3, today=after)
    verdict = verdict_of(after, history, boots=2, shoes=0, new=0)
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 2)
    assert verdict.caveat == "not in all of these runs: 2 queries (shoes, new)"
    assert verdict.caveat in verdict.reason
    failed = verdict_of(after, history, boots=0, shoes=2, new=2)
    assert (failed.status, failed.caveat) == (Status.FAILED, "")


def test_a_query_that_one_of_the_runs_lacks_is_left_out_of_all():
    suite = suite_with(DROP)
    history = history_of(suite, both(2), both(2), {"boots": 2, "shoes": 1})
    first = history.entries[0]
    boots = {"boots": first.run.responses["boots"]}
    lacking = replace(first, run=replace(first.run, responses=boots), scores=first.scores[:1])
    verdict = verdict_of(suite, History((lacking, *history.entries[1:]), "kept"), boots=2, shoes=0)
    assert (verdict.status, verdict.counted, verdict.spread) == (Status.PASSED, 1, (0.5, 0.5))


def test_without_a_query_in_common_it_fails():
    before, after = suite_with(DROP), suite_with(DROP, names=("new",))
    verdict = verdict_of(after, history_of(before, *[both(2)] * 3, today=after), new=1)
    assert verdict.status is Status.FAILED
    assert verdict.reason == "RR@10 cannot be compared with the last 3 runs: they have no query in common: new"


def test_queries_that_are_undefined_in_a_run_are_left_out_of_all():
    suite = suite_with("drop RR@10 <= 0.2 since 2 runs", skip_undefined=True)
    first, second = history_of(suite, both(2), both(2)).entries
    lacking_boots = replace(first, scores=(Score("boots", "RR@10", None, Outcome.UNDEFINED), *first.scores[1:]))
    lacking_shoes = replace(second, scores=(*second.scores[:1], Score("shoes", "RR@10", None, Outcome.UNDEFINED)))
    verdict = verdict_of(suite, History((lacking_boots, second), "kept"), **both(2))
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)
    verdict = verdict_of(suite, History((lacking_boots, lacking_shoes), "kept"), **both(2))
    assert verdict.status is Status.FAILED
    assert verdict.reason.endswith("cannot be compared with the last 2 runs: no query has a score in all of them")


@pytest.mark.parametrize("folder", ["kept", None])
@pytest.mark.parametrize(("optional", "status"), [(False, Status.FAILED), (True, Status.WARNED)])
def test_too_few_runs_are_as_a_missing_baseline(folder, optional, status):
    suite = suite_with(DROP, baseline_optional=optional)
    verdict = verdict_of(suite, history_of(suite, both(2), both(2), folder=folder), **both(2))
    problems = {
        "kept": "kept has 2 runs of this suite and request, expected 3; each `relevance run --history kept` adds one",
        None: "no history was named; `relevance run --history DIR` keeps runs in one",
    }
    assert verdict.status is status
    assert verdict.reason == f"RR@10 cannot be compared with the last 3 runs: {problems[folder]}"
    assert verdict_of(suite, None, **both(2)).status is status


def test_a_query_without_an_answer_is_an_error_whatever_the_history_has():
    suite = suite_with(DROP)
    run = run_of(suite, boots=Failure(FailureKind.TIMEOUT, "slow"), shoes=ranked(1))
    for history in (history_of(suite, *[both(2)] * 3), history_of(suite), None):
        verdict = verdict_of(suite, history, run=run)
        assert (verdict.status, verdict.blamed) == (Status.ERROR, ("boots",))


def test_runs_of_too_few_hits_are_not_compared_with():
    before, after = suite_with(DROP, depth=5), suite_with(DROP)
    verdict = verdict_of(after, history_of(before, *[both(2)] * 3, today=after), **both(2))
    assert verdict.status is Status.FAILED
    assert "the run of 2026-11-01 03:00 keeps 5 hits per query, but 10 are needed" in verdict.reason


def test_a_skipped_query_is_left_out():
    suite = suite_with(DROP)
    history = history_of(suite, *[both(2)] * 3)
    queries = [suite.queries[0], replace(suite.queries[1], skip=Waiver("winter"))]
    skipping = suite_with(DROP, queries=queries)
    run = run_with(suite, boots=2)
    run = replace(run, responses={"boots": run.responses["boots"]})
    verdict = verdict_of(skipping, history, run=run)
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)
    assert verdict.caveat == "with scores in these runs and not compared: 1 query (shoes)"
    new = suite_with(DROP, queries=[*suite.queries, Query("new", "new", judgments={"r": 1}, skip=Waiver("winter"))])
    run = replace(run, responses=run_with(suite, **both(2)).responses)
    verdict = verdict_of(new, history_of(suite, *[both(2)] * 3, today=new), run=run)
    assert (verdict.status, verdict.counted, verdict.left_out, verdict.caveat) == (Status.PASSED, 2, 1, "")


THREE = ("boots", "shoes", "socks")


def test_a_deleted_query_weakens_a_pass_and_more_than_half_fail():
    before = suite_with(DROP, names=THREE)
    past = [dict.fromkeys(THREE, 2)] * 3
    after = suite_with(DROP)
    verdict = verdict_of(after, history_of(before, *past, today=after), **both(2))
    caveat = "with scores in these runs and not compared: 1 query (socks)"
    assert (verdict.status, verdict.caveat) == (Status.PASSED, caveat)
    assert caveat in verdict.reason
    after = suite_with(DROP, names=THREE[:1])
    verdict = verdict_of(after, history_of(before, *past, today=after), boots=2)
    assert verdict.status is Status.FAILED
    sentence = "only 1 of 3 queries that they have scores of can be compared; not: shoes, socks"
    assert verdict.reason == f"RR@10 cannot be compared with the last 3 runs: {sentence}"


def test_queries_without_judgments_by_now_are_missed_too():
    before = suite_with(DROP, names=THREE)
    queries = [before.queries[0], *(replace(query, judgments={}) for query in before.queries[1:])]
    after = suite_with(DROP, queries=queries, skip_undefined=True)
    ranks = dict.fromkeys(THREE, 2)
    verdict = verdict_of(after, history_of(before, *[ranks] * 3, today=after), **ranks)
    assert verdict.status is Status.FAILED
    assert "only 1 of 3 queries" in verdict.reason


def test_only_queries_of_the_tag_are_missed():
    before = suite_with(names=THREE)
    after = suite_with("drop RR@10 <= 0.2 since 3 runs for head", names=("shoes",))
    ranks = dict.fromkeys(THREE, 2)
    verdict = verdict_of(after, history_of(before, *[ranks] * 3, today=after), shoes=2)
    assert (verdict.status, verdict.caveat) == (Status.PASSED, "")


# Ties.

TIED = [("a", 2.0), ("r", 1.0), ("x", 1.0)]


def test_another_order_of_ties_is_no_drop():
    suite = suite_with("drop RR@10 <= 0.1 since 3 runs", names=("boots",))
    swapped = [TIED[0], TIED[2], TIED[1]]
    history = History(rescore(entries_of(suite, [run_of(suite, boots=ranking_of(*TIED))] * 3), suite), "kept")
    verdict = verdict_of(suite, history, run=run_of(suite, boots=ranking_of(*swapped)))
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)
    assert "only the order of ties changed in 1 query: boots" in verdict.caveat
    # Where no ties are known, the order counts.
    apart = ranking_of(("a", 2.0), ("x", 1.5), ("r", 1.0))
    assert verdict_of(suite, history, run=run_of(suite, boots=apart)).status is Status.FAILED


def test_the_order_of_ties_counts_if_the_request_changed():
    suite = suite_with("drop RR@10 <= 0.1 since 3 runs", names=("boots",))
    swapped = [TIED[0], TIED[2], TIED[1]]
    rescored = rescore(entries_of(suite, [run_of(suite, boots=ranking_of(*TIED))] * 3), suite)
    assert all(entry.same_request for entry in rescored)
    history = History(tuple(replace(entry, same_request=False) for entry in rescored), "kept")
    assert verdict_of(suite, history, run=run_of(suite, boots=ranking_of(*swapped))).status is Status.FAILED


def test_hits_that_tie_by_their_sort_values_may_be_in_another_order():
    suite = suite_with("drop RR@10 <= 0.1 since 3 runs", names=("boots",))
    first, second, third = Hit("a", sort=(1,)), Hit("r", sort=(2,)), Hit("x", sort=(2,))
    kept = run_of(suite, boots=Ranking((first, second, third), closed=True))
    history = History(rescore(entries_of(suite, [kept] * 3), suite), "kept")
    swapped = run_of(suite, boots=Ranking((first, third, second), closed=True))
    assert verdict_of(suite, history, run=swapped).observed == 0.0


def test_unknown_ties_that_decide_are_inconclusive():
    measures = (parse_measure("RR@2"),)
    suite = suite_with("drop RR@2 <= 0.1 since 3 runs", names=("boots",), depth=2, measures=measures)
    kept = ranking_of(("a", 2.0), ("r", 1.0), closed=True)
    history = History(rescore(entries_of(suite, [run_of(suite, boots=kept)] * 3), suite), "kept")
    now = ranking_of(("a", 2.0), ("x", 1.0), tail=(Hit("r", 1.0),))
    baseline = reference_of({"boots": 1.0}, "RR@2")
    verdict = verdict_of(suite, history, run=run_of(suite, boots=now), reference=baseline)
    assert verdict.status is Status.INCONCLUSIVE
    assert "break ties in the request" in verdict.reason
    assert "baseline" not in verdict.reason
