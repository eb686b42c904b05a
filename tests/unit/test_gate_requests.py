"""Thresholds that compare a request with another: what they compare, what they refuse to decide, and what they say."""

from dataclasses import replace

import pytest

from builders.gating import TODAY, threshold
from builders.suites import make_suite
from harness.errors import GrammarError
from harness.gate.conditions import is_for_request
from harness.gate.decide import decide
from harness.gate.grammar import check_reach, parse_threshold
from harness.gate.selection import QueryFilter, list_compared_requests
from harness.gate.two_rankings import compare_with_reference, list_missed
from harness.metrics.grammar import read_agreement
from harness.metrics.run_scores import score_run
from harness.model.run import Engine, Failure, FailureKind, Hit, IndexState, Ranking, Repeat, Run, Status
from harness.model.suite import (
    AgreementCondition,
    Gain,
    LossCondition,
    Query,
    RequestTemplate,
    StatisticKind,
    Waiver,
)

OVERLAP = "mean overlap@2 with request exact >= 0.95"
LOSS = "loss nDCG@2 against request exact <= 0.1"
REQUESTS = {name: RequestTemplate(name, {"query": {}}) for name in ("approximate", "exact")}


def ranking(found, **fields):
    """A ranking of documents with falling scores, or of pairs of a document and its score; it has all that match."""
    hits = []
    for place, document in enumerate(found):
        name, score = document if isinstance(document, tuple) else (document, 10.0 - place)
        hits.append(Hit(name, score))
    return Ranking(tuple(hits), **{"closed": True, "total": len(hits), **fields})


def decide_one(text, found, exact, *queries, of_query=False, repeats=(), states=(), **fields):
    """The verdict of one threshold over rankings by query, of the request and of the exact one."""
    queries = queries or tuple(Query(name, name, judgments={"a": 1}) for name in found)
    if of_query:
        [query] = queries
        queries = (replace(query, thresholds=(threshold(text, of_query=True),)),)
    responses = {name: ranking(one) if not isinstance(one, (Ranking, Failure)) else one for name, one in found.items()}
    others = {}
    if exact is not None:
        right = {name: ranking(one) if not isinstance(one, (Ranking, Failure)) else one for name, one in exact.items()}
        others["exact"] = Run(right, Engine("fake"), "exact", "products", states=states[:1])
    run = Run(responses, Engine("fake"), "approximate", "products", others=others, repeats=repeats, states=states[1:])
    thresholds = [] if of_query else [text]
    suite = make_suite(*queries, thresholds=thresholds, depth=fields.pop("depth", 2), requests=REQUESTS, **fields)
    [verdict] = decide(
        suite, run, score_run(suite, run), today=TODAY, repeated=[score_run(suite, run)] * len(run.repeats)
    )
    return verdict


# ------------------------------------------------------------------------------------------------ the grammar


@pytest.mark.parametrize(
    ("text", "statistic", "request_name", "tag"),
    [
        ("mean overlap@10 with request exact >= 0.95", StatisticKind.MEAN, "exact", None),
        ("every overlap@10  with  request exact>=0.7 for long-tail", StatisticKind.EVERY, "exact", "long-tail"),
        ("95% RBO(p=0.8)@5 with request exact-2 > 0.6", StatisticKind.SHARE, "exact-2", None),
        ("median RBO with request 'exact search' >= 0.9 for head", StatisticKind.MEDIAN, "exact search", "head"),
    ],
)
def test_an_agreement_with_a_request_is_read(text, statistic, request_name, tag):
    condition, found_tag = parse_threshold(text, of_query=False)
    assert isinstance(condition, AgreementCondition)
    assert (condition.statistic, condition.counterpart.request, found_tag) == (statistic, request_name, tag)


@pytest.mark.parametrize(
    ("text", "statistic", "tag"),
    [
        ("loss nDCG@10 against request exact <= 0.01", StatisticKind.MEAN, None),
        ("loss every nDCG(gain=linear)@10 against request exact <= 0.1 for head", StatisticKind.EVERY, "head"),
    ],
)
def test_a_loss_against_a_request_is_read(text, statistic, tag):
    condition, found_tag = parse_threshold(text, of_query=False)
    assert isinstance(condition, LossCondition)
    assert (condition.statistic, condition.counterpart.request, found_tag) == (statistic, "exact", tag)


@pytest.mark.parametrize(
    ("text", "of_query", "message", "offset"),
    [
        ("mean RBO with exact >= 0.8", False, "found 'with', expected 'of variants' or 'with request NAME'", 9),
        ("mean RBO with request >= 0.8", False, "expected the name of a request after 'with request'", 22),
        (
            "mean nDCG@10 with request exact >= 0.8",
            False,
            "found 'with', which only RBO and overlap take, not a score; expected 'loss nDCG@10 of variants <= 0.1'",
            13,
        ),
        (
            "loss nDCG@10 against exact <= 0.1",
            False,
            "found 'against', expected 'of variants' or 'against request NAME'",
            13,
        ),
        ("loss nDCG@10 against request exact >= 0.1", False, "found '>=', but a loss takes only '<='", 35),
        ("loss nDCG@10 against request exact <= 5%", False, "not per cent; expected 0.05", 39),
        ("every RBO with request exact >= 0.8", True, "a query's own threshold has no statistic", 0),
    ],
)
def test_a_wrong_comparison_is_refused_at_its_place(text, of_query, message, offset):
    with pytest.raises(GrammarError) as caught:
        parse_threshold(text, of_query=of_query)
    assert message in str(caught.value)
    assert caught.value.offset == offset


def test_what_no_comparison_reaches_is_refused():
    assert "is 0 to 1" in check_reach(threshold("mean RBO with request exact >= 1.2").condition, Gain())
    assert "nDCG@10 is 0 to 1" in check_reach(threshold("loss nDCG@10 against request exact <= 2").condition, Gain())


# ------------------------------------------------------------------------------------------- which request it is for


def test_it_is_for_all_requests_but_the_one_that_it_names():
    suite = make_suite(Query("q", "q"), thresholds=[OVERLAP], requests=REQUESTS)
    [one] = suite.thresholds
    assert is_for_request(one, suite, "approximate")
    assert not is_for_request(one, suite, "exact")
    assert list_compared_requests(suite, "approximate") == ("exact",)
    assert list_compared_requests(suite, "exact") == ()


def test_a_part_of_the_queries_that_cannot_decide_it_needs_no_other_request():
    tagged = "every overlap@2 with request exact >= 0.5 for head"
    suite = make_suite(Query("q", "q", tags=("head",)), thresholds=[OVERLAP], requests=REQUESTS)
    assert list_compared_requests(suite, "approximate", QueryFilter(("head",))) == ()
    suite = replace(suite, thresholds=(threshold(tagged),))
    assert list_compared_requests(suite, "approximate", QueryFilter(("head",))) == ("exact",)


# ------------------------------------------------------------------------------------------------ the decision


def test_an_overlap_is_the_share_of_the_exact_hits_that_were_found():
    verdict = decide_one(OVERLAP, {"p": "ab", "q": "ax"}, {"p": "ab", "q": "ab"})
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.75)
    figure = "mean overlap@2 with request exact is 0.7500, required >= 0.95"
    assert verdict.reason == f"{figure}, over 2 queries; worst: q 0.5000"


def test_each_query_a_share_and_a_querys_own_threshold():
    found, exact = {"p": "ab", "q": "ax"}, {"p": "ab", "q": "ab"}
    every = decide_one("every overlap@2 with request exact >= 0.7", found, exact)
    assert (every.status, every.blamed) == (Status.FAILED, ("q",))
    assert decide_one("50% overlap@2 with request exact >= 0.7", found, exact).status is Status.PASSED
    own = decide_one("overlap@2 with request exact >= 0.7", {"q": "ax"}, {"q": "ab"}, of_query=True)
    assert (own.status, own.observed) == (Status.FAILED, 0.5)


def test_a_loss_is_scored_with_the_judgments():
    verdict = decide_one(LOSS, {"q": "bc"}, {"q": "ab"})
    assert (verdict.status, verdict.observed) == (Status.FAILED, 1.0)
    assert decide_one(LOSS, {"q": "ab"}, {"q": "bc"}).observed == -1.0


def test_weights_count():
    queries = (Query("p", "p", weight=3.0), Query("q", "q"))
    verdict = decide_one(OVERLAP, {"p": "ab", "q": "xy"}, {"p": "ab", "q": "ab"}, *queries)
    assert verdict.observed == 0.75


def test_a_document_that_ties_with_the_last_exact_one_is_found_in_its_place():
    exact = ranking([("a", 2.0), ("b", 1.0)], tail=(Hit("c", 1.0),))
    assert decide_one(OVERLAP, {"q": "ac"}, {"q": exact}).status is Status.PASSED
    assert decide_one(OVERLAP, {"q": "ad"}, {"q": exact}).observed == 0.5


def test_the_order_of_ties_is_no_difference():
    found, exact = ranking([("b", 1.0), ("a", 1.0)]), ranking([("a", 1.0), ("b", 1.0)])
    assert decide_one("mean RBO@2 with request exact = 1", {"q": found}, {"q": exact}).status is Status.PASSED
    assert decide_one("mean RBO@2 with request exact = 1", {"q": "ba"}, {"q": exact}).status is Status.PASSED
    assert decide_one("mean RBO@2 with request exact = 1", {"q": "ba"}, {"q": "ab"}).status is Status.FAILED


def test_unknown_documents_that_tie_with_the_last_exact_one_leave_it_undecided():
    exact = ranking([("a", 2.0), ("b", 1.0), ("c", 1.0)], closed=False, total=9)
    verdict = decide_one("mean overlap@3 with request exact >= 0.95", {"q": "abx"}, {"q": exact}, depth=3)
    assert verdict.status is Status.INCONCLUSIVE
    assert "the order of tied documents decides" in verdict.reason


def test_a_document_that_was_not_returned_and_ties_with_the_last_hit_leaves_it_undecided():
    found = ranking([("a", 2.0), ("x", 1.0)], tail=(Hit("b", 1.0),), total=3)
    verdict = decide_one(OVERLAP, {"q": found}, {"q": "ab"})
    assert (verdict.status, verdict.observed) == (Status.INCONCLUSIVE, 0.5)
    assert decide_one("mean overlap@2 with request exact >= 0.5", {"q": found}, {"q": "ab"}).status is Status.PASSED


@pytest.mark.parametrize("side", ["found", "exact"])
def test_a_query_that_only_one_request_answers_is_an_error(side):
    rankings = {"found": {"p": "ab", "q": "ab"}, "exact": {"p": "ab", "q": "ab"}}
    rankings[side]["q"] = Failure(FailureKind.TIMEOUT, "timed out after 30 s")
    verdict = decide_one(OVERLAP, rankings["found"], rankings["exact"])
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("q",))
    assert ("q (with request exact: timeout" in verdict.reason) == (side == "exact")


def test_a_request_that_was_not_sent_is_an_error():
    verdict = decide_one(OVERLAP, {"q": "ab"}, None)
    assert verdict.status is Status.ERROR
    assert verdict.reason == "overlap@2 with request exact cannot be decided: the request exact was not sent"


def test_a_query_for_which_neither_finds_anything_is_left_out_and_named():
    verdict = decide_one(OVERLAP, {"p": "ab", "q": ""}, {"p": "ab", "q": ""})
    assert verdict.status is Status.PASSED
    assert "left out, as neither request finds anything: q" in verdict.reason
    alone = decide_one(OVERLAP, {"q": ""}, {"q": ""})
    assert alone.status is Status.FAILED
    assert "neither request finds anything for q" in alone.reason


def test_an_approximate_search_that_finds_nothing_has_missed_all():
    verdict = decide_one(OVERLAP, {"q": ""}, {"q": "ab"})
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.0)
    assert "zero hits: q" in verdict.reason


def test_fewer_hits_count_as_what_is_missing():
    assert decide_one(OVERLAP, {"q": "a"}, {"q": "ab"}).observed == 0.5
    assert decide_one(OVERLAP, {"q": "a"}, {"q": "a"}).status is Status.PASSED


def test_rankings_without_a_common_document_ask_for_their_ids():
    verdict = decide_one(OVERLAP, {"p": "ab", "q": "c"}, {"p": ["doc-a", "doc-b"], "q": ["doc-c"]})
    assert verdict.reason.endswith("are the ids of both the same?")


def test_a_skipped_query_is_left_out():
    queries = (Query("p", "p"), Query("q", "q", skip=Waiver("winter")))
    verdict = decide_one(OVERLAP, {"p": "ab"}, {"p": "ab"}, *queries)
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 1)


def test_an_undefined_score_fails_a_loss():
    verdict = decide_one(LOSS, {"q": "ab"}, {"q": "ab"}, Query("q", "q"))
    assert verdict.status is Status.FAILED
    assert "is undefined for 1 of 1 query" in verdict.reason


def test_an_index_that_changed_between_both_leaves_it_undecided():
    states = (IndexState({"products": "1"}, documents=5), IndexState({"products": "1"}, documents=6))
    verdict = decide_one(OVERLAP, {"q": "ab"}, {"q": "ab"}, states=states)
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason.startswith("products changed during the run")


def test_each_repeat_is_compared_with_the_other_request():
    repeats = (Repeat({"q": ranking("ax")}),)
    verdict = decide_one(OVERLAP, {"q": "ab"}, {"q": "ab"}, repeats=repeats)
    assert verdict.status is not Status.PASSED


# ------------------------------------------------------------------------------------------------ what was missed


def test_what_is_missed_is_named_by_its_rank():
    assert list_missed(ranking("abcd"), ranking("acxy"), depth=4) == [1, 3]
    assert list_missed(ranking("abcd"), ranking("ab"), depth=2) == []


def test_of_tied_documents_as_many_are_missed_as_are_lacking():
    exact = ranking([("a", 3.0), ("b", 1.0), ("c", 1.0)], tail=(Hit("d", 1.0),))
    assert list_missed(exact, ranking("abd"), depth=3) == []
    assert list_missed(exact, ranking("adx"), depth=3) == [1]


def test_an_agreement_without_ties_has_no_range():
    agreed = compare_with_reference(read_agreement("overlap@2"), ranking("ab"), ranking("bx"), depth=2)
    assert (agreed.value, agreed.least, agreed.greatest) == (0.5, 0.5, 0.5)
