"""Every outcome of the table in docs/reference/outcomes.md has its own score, and only two of them have a value."""

import pytest

from builders.gating import threshold
from builders.suites import make_suite
from harness.metrics import parse_measure
from harness.metrics.measures import common_measures, measures_of
from harness.metrics.run_scores import contributions_of, failure_text, gain_text, score_run
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Gain, GainKind, Profile, Query, Waiver

NDCG = parse_measure("nDCG@3")
JUDGED = parse_measure("Judged@3")


def ranking(*ids, **fields):
    return Ranking(tuple(Hit(id) for id in ids), **fields)


def only_score(query, response, measure=NDCG, **fields):
    responses = {} if response is None else {query.id: response}
    [score] = score_run(make_suite(query, measures=[measure], **fields), Run(responses, Engine("fake")))
    return score


def test_a_ranking_is_scored_with_the_ideal_from_all_judged_documents():
    score = only_score(Query("q", "q", judgments={"a": 1, "b": 1}), ranking("a"))
    assert score == Score("q", "nDCG@3", pytest.approx(1 / (1 + 1 / 1.584962500721156)), Outcome.SCORED)


def test_the_contributions_of_a_measure_that_the_profile_cannot_compute_are_known():
    measure = parse_measure("nDCG(unjudged=1)@3")
    query = Query("q", "q", judgments={"a": 1})
    found = contributions_of(make_suite(query, measures=[measure]), query, ranking("x", "a"))
    assert [rank.document for rank in found.ranks][:2] == ["x", "a"]
    score = only_score(query, ranking("x", "a"), measure)
    assert score.outcome is Outcome.ERROR
    assert score.reason == "nDCG(unjudged=1)@3: an unjudged document has no grade under the profile standard"


def test_zero_hits_with_judgments_score_zero_and_say_so():
    score = only_score(Query("q", "q", judgments={"a": 1}), ranking())
    assert (score.value, score.outcome) == (0.0, Outcome.ZERO_HITS)
    assert score.reason == "the engine returned no document"


def test_zero_hits_score_the_minimum_gain_where_the_measure_gives_one():
    query = Query("q", "q", judgments={"a": 1})
    score = only_score(query, ranking(), parse_measure("nDCG(missing=-1)@3"))
    assert score.outcome is Outcome.ZERO_HITS
    discounts = 1 + 1 / 1.584962500721156 + 1 / 2
    assert score.value == pytest.approx(-discounts)


@pytest.mark.parametrize("judgments", [{}, {"a": 0}, {"a": -1, "b": 0}], ids=["none", "only zero", "none positive"])
@pytest.mark.parametrize("hits", [(), ("a", "x")], ids=["no hits", "hits"])
def test_without_a_positive_judgment_the_score_is_undefined(judgments, hits):
    score = only_score(Query("q", "q", judgments=judgments), ranking(*hits))
    assert (score.value, score.outcome) == (None, Outcome.UNDEFINED)
    assert "no judged document has a positive gain" in score.reason


@pytest.mark.parametrize("judgments", [{}, {"a": 0}, {"a": 3}])
def test_judged_is_always_defined(judgments):
    query = Query("q", "q", judgments=judgments)
    assert only_score(query, ranking("a", "x"), JUDGED).value == pytest.approx(0.5 if judgments else 0.0)
    assert only_score(query, ranking(), JUDGED).value == 0.0


@pytest.mark.parametrize(
    "profile", [Profile.RANK_EVAL, Profile.QUEPID, Profile.OPENSEARCH_SRW, Profile.OPENSEARCH_SRW_3_5, Profile.RRE]
)
def test_a_profile_whose_system_scores_the_unjudged_zero_does_so(profile):
    score = only_score(Query("q", "q"), ranking("a"), profile=profile)
    assert (score.value, score.outcome) == (0.0, Outcome.SCORED)


def test_trec_eval_leaves_out_a_query_without_judgments_and_scores_one_without_relevant_documents_zero():
    unjudged = only_score(Query("q", "q"), ranking("a"), profile=Profile.TREC)
    assert (unjudged.value, unjudged.outcome) == (None, Outcome.UNDEFINED)
    assert unjudged.reason == "it has no judgments, and 'trec' leaves out such queries"
    judged = only_score(Query("q", "q", judgments={"b": 0}), ranking("a"), profile=Profile.TREC)
    assert (judged.value, judged.outcome) == (0.0, Outcome.SCORED)


@pytest.mark.parametrize(
    "kind", [FailureKind.ERROR, FailureKind.TIMEOUT, FailureKind.SHARDS, FailureKind.MALFORMED], ids=str
)
def test_an_engine_failure_is_an_error_without_value_that_names_its_kind(kind):
    score = only_score(Query("q", "q", judgments={"a": 1}), Failure(kind, "shard 0 is gone", 503))
    assert (score.value, score.outcome) == (None, Outcome.ERROR)
    assert score.reason == f"{kind.value} (503): shard 0 is gone"


def test_a_score_that_is_no_number_is_an_error_of_its_query_and_of_no_other():
    large, small = Query("large", "large", judgments={"a": 3, "b": 3}), Query("small", "small", judgments={"a": 1})
    suite = make_suite(large, small, gain=Gain(GainKind.MAP, ((1, 1), (3, 1e308))), measures=[parse_measure("CG@3")])
    first, second = score_run(suite, Run({"large": ranking("a", "b"), "small": ranking("a")}, Engine("fake")))
    assert (first.value, first.outcome) == (None, Outcome.ERROR)
    assert first.reason == "the score of CG@3 is inf, expected a number from -1e+100 to 1e+100; use smaller gains"
    assert (second.value, second.outcome) == (1.0, Outcome.SCORED)


def test_a_query_that_did_not_run_is_not_an_error_of_the_engine():
    query = Query("q", "q", judgments={"a": 1})
    stopped = only_score(query, Failure(FailureKind.NOT_RUN, "the time is spent"))
    assert (stopped.value, stopped.outcome, stopped.reason) == (
        None,
        Outcome.NOT_RUN,
        "did not run: the time is spent",
    )
    assert only_score(query, None).outcome is Outcome.NOT_RUN


def test_a_skipped_query_is_skipped_with_its_reason():
    score = only_score(Query("q", "q", judgments={"a": 1}, skip=Waiver("no stock in winter")), None)
    assert (score.value, score.outcome, score.reason) == (None, Outcome.SKIPPED, "no stock in winter")


def test_a_skipped_query_that_ran_all_the_same_is_scored():
    score = only_score(Query("q", "q", judgments={"a": 1}, skip=Waiver("over since")), ranking("a"))
    assert (score.value, score.outcome) == (1.0, Outcome.SCORED)


def test_scores_come_in_the_order_of_queries_then_measures():
    queries = [Query(name, name, judgments={"a": 1}) for name in ("z", "a")]
    run = Run({name: ranking("a") for name in ("a", "z")}, Engine("fake"))
    scores = score_run(make_suite(*queries, measures=[NDCG, JUDGED]), run)
    assert [(score.query, score.measure) for score in scores] == [
        ("z", "nDCG@3"),
        ("z", "Judged@3"),
        ("a", "nDCG@3"),
        ("a", "Judged@3"),
    ]


def test_a_query_is_scored_by_the_measures_of_the_thresholds_it_falls_under_and_by_no_others():
    own = (threshold("RR@5 >= 0.5", of_query=True), threshold("P@2 >= 0.5", of_query=True))
    queries = Query("q", "q", tags=("head",), thresholds=own), Query("r", "r", tags=("tail",)), Query("s", "s")
    texts = ("mean P@2 >= 0.5", "mean nDCG@3 >= 0.5", "mean R@4 >= 0.5 for head", "p95 latency <= 9 ms")
    suite = make_suite(*queries, measures=[NDCG], thresholds=texts)
    assert [[measure.text for measure in measures_of(suite, query)] for query in queries] == [
        ["nDCG@3", "P@2", "R@4", "RR@5"],
        ["nDCG@3", "P@2"],
        ["nDCG@3", "P@2"],
    ]
    assert [measure.text for measure in common_measures(suite)] == ["nDCG@3", "P@2"]
    scores = score_run(suite, Run({}, Engine("fake")))
    assert [(score.query, score.measure) for score in scores if score.query != "q"] == [
        ("r", "nDCG@3"),
        ("r", "P@2"),
        ("s", "nDCG@3"),
        ("s", "P@2"),
    ]


def test_the_gain_in_force_is_the_measures_own_then_the_suites():
    suite = make_suite(measures=[NDCG], gain=Gain(GainKind.LINEAR))
    assert gain_text(NDCG, suite) == "linear"
    assert gain_text(parse_measure("nDCG(gain=exponential)@3"), suite) == "exponential"
    assert gain_text(parse_measure("nDCG(gain={0: -1, 1: 2})@3"), suite) == "{0: -1, 1: 2}"
    assert gain_text(parse_measure("P@3"), suite) == ""


def test_failure_text_without_a_status():
    assert failure_text(Failure(FailureKind.TIMEOUT, "30 s passed")) == "timeout: 30 s passed"
