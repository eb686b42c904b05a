"""Thresholds on how far rankings agree with a baseline's."""

from datetime import date

import pytest

from builders.gating import ranking
from harness.errors import GrammarError
from harness.gate.decide import compute_comparison_status, decide
from harness.gate.grammar import check_reach, parse_threshold
from harness.model.kept import Reference
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run, Status, Verdict
from harness.model.suite import (
    AgreementCondition,
    Gain,
    HttpRequest,
    Operator,
    Query,
    RequestTemplate,
    StatisticKind,
    Suite,
    Target,
    Threshold,
    Waiver,
)

TODAY = date(2026, 5, 1)


def run_of(**rankings):
    responses = {
        query: found if isinstance(found, Failure | Ranking) else ranking(map(str, found))
        for query, found in rankings.items()
    }
    return Run(responses, Engine("elasticsearch", "9.4.3"), "current")


def held(text, before, after, *, reference=None, skip=None, weights=None, **suite):
    condition, tag = parse_threshold(text, of_query=False)
    ids = dict.fromkeys([*(before or {}), *after])
    queries = tuple(
        Query(name, name, tags=("head",) if name == "q1" else (), skip=skip if name == "q2" else None,
              weight=(weights or {}).get(name, 1.0))
        for name in ids
    )  # fmt: skip
    requests = suite.pop("requests", {})
    suite = Suite("s", "s.yaml", Target(), requests, (), queries, (Threshold(text, condition, tag),), **suite)
    known = reference or Reference(run_of(**before), depth=10, created="2026-04-01", remedy="save one")
    [verdict] = decide(suite, run_of(**after), (), today=TODAY, reference=known)
    return verdict


SAME = {"q1": "abc", "q2": "abc"}


def test_rankings_that_are_the_same_agree_wholly():
    verdict = held("every RBO >= 1", SAME, SAME)
    assert (verdict.status, verdict.observed, verdict.counted) == (Status.PASSED, 1.0, 2)
    assert verdict.reason.endswith("compared with the baseline")


def test_a_mean_below_what_is_required_fails_with_the_queries_that_agree_least():
    verdict = held("mean overlap@2 >= 0.9", SAME, {"q1": "axb", "q2": "xyz"})
    assert (verdict.status, verdict.observed, verdict.blamed) == (Status.FAILED, 0.25, ("q2", "q1"))
    assert "mean overlap@2 is 0.2500, required >= 0.9, over 2 queries; worst: q2 0.0000, q1 0.5000" in verdict.reason


def test_a_tag_limits_it_and_a_weight_counts():
    assert held("mean overlap >= 0.5 for head", SAME, {"q1": "abc", "q2": "xyz"}).observed == 1.0
    weighed = held("mean overlap >= 0.5", SAME, {"q1": "abc", "q2": "xyz"}, weights={"q1": 3.0})
    assert weighed.observed == 0.75


def test_a_share_of_the_queries_is_enough_where_it_says_so():
    assert held("50% RBO >= 0.9", SAME, {"q1": "abc", "q2": "xyz"}).status is Status.PASSED
    assert held("51% RBO >= 0.9", SAME, {"q1": "abc", "q2": "xyz"}).status is Status.FAILED


def test_a_query_that_is_skipped_is_left_out():
    verdict = held("every RBO >= 1", SAME, {"q1": "abc"}, skip=Waiver("later"))
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)


@pytest.mark.parametrize("failing", ["before", "after"])
def test_a_query_without_an_answer_on_either_side_is_an_error(failing):
    broken = {**SAME, "q2": Failure(FailureKind.TIMEOUT, "too slow")}
    runs = (broken, SAME) if failing == "before" else (SAME, broken)
    verdict = held("mean RBO >= 0.1", *runs)
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("q2",))
    assert "RBO cannot be decided: no ranking for 1 query: q2 (timeout: too slow" in verdict.reason


def test_a_query_that_did_not_run_is_an_error():
    assert held("mean RBO >= 0.1", SAME, {"q1": "abc"}).status is Status.ERROR


def test_what_the_baseline_lacks_fails_with_the_remedy():
    verdict = held("mean RBO >= 0.1", {"q1": "abc"}, SAME)
    assert verdict.status is Status.FAILED
    assert verdict.reason == (
        "RBO cannot be decided: the baseline of 2026-04-01 is older than the suite: it does not have 1 query (q2); "
        "save one"
    )
    optional = held("mean RBO >= 0.1", {"q1": "abc"}, SAME, baseline_optional=True)
    assert optional.status is Status.WARNED
    shallow = held("mean RBO@20 >= 0.1", SAME, SAME)
    assert "keeps 10 hits per query, but 20 are needed" in shallow.reason


@pytest.mark.parametrize("agreement", ["RBO", "overlap", "RBO(p=0.5)"])
def test_without_a_cutoff_the_baseline_has_to_be_as_deep_as_the_suite(agreement):
    """Ten ranks of fifty that agree are no agreement of fifty."""
    ten = {"q1": "abcdefghij", "q2": "abcdefghij"}
    fifty = {query: [*found, *range(40)] for query, found in ten.items()}
    verdict = held(f"mean {agreement} >= 0.9", ten, fifty, depth=50)
    assert (verdict.status, verdict.observed) == (Status.FAILED, None)
    assert "it keeps 10 hits per query, but 50 are needed; save one" in verdict.reason
    deep = Reference(run_of(**fifty), depth=50, created="2026-04-01")
    assert held(f"mean {agreement} >= 0.9", None, fifty, reference=deep, depth=50).status is Status.PASSED


@pytest.mark.parametrize("agreement", ["RBO", "overlap", "RBO@10", "overlap@10"])
def test_a_list_that_ends_because_no_more_matched_is_compared_to_its_end(agreement):
    ended = {query: ranking(found, total=len(found), closed=True) for query, found in SAME.items()}
    deep = Reference(run_of(**ended), depth=50, created="2026-04-01")
    verdict = held(f"every {agreement} >= 1", None, ended, reference=deep, depth=50)
    assert (verdict.status, verdict.observed) == (Status.PASSED, 1.0)
    other = {"q1": "abd", "q2": "abc"}
    assert held(f"every {agreement} >= 1", None, other, reference=deep, depth=50).blamed == ("q1",)


@pytest.mark.parametrize("complete_side", ["the baseline", "today"])
def test_a_side_that_is_complete_does_not_hide_that_the_other_may_not_be(complete_side):
    complete = {query: ranking(found, total=3, closed=False) for query, found in SAME.items()}
    open_ended = {query: ranking(found, total=None, closed=False) for query, found in SAME.items()}
    before, after = (complete, open_ended) if complete_side == "the baseline" else (open_ended, complete)
    service = RequestTemplate("current", None, http=HttpRequest("GET", "/search", "$.ids"))
    reference = Reference(run_of(**before), depth=50, created="2026-04-01")
    verdict = held("every RBO >= 1", None, after, reference=reference, depth=50, requests={"current": service})
    assert (verdict.status, verdict.blamed) == (Status.INCONCLUSIVE, ("q1", "q2"))
    assert "more documents may match than were returned: q1 (3 hits returned, where" in verdict.reason


@pytest.mark.parametrize(("closed_before", "total"), [(False, 3), (True, None)])
def test_one_that_a_service_may_have_ended_is_inconclusive(closed_before, total):
    before = {query: ranking(found, closed=closed_before) for query, found in SAME.items()}
    after = {query: ranking(found, total=total, closed=total is not None) for query, found in SAME.items()}
    service = RequestTemplate("current", None, http=HttpRequest("GET", "/search", "$.ids"))
    asked = {"reference": Reference(run_of(**before), depth=50, created="2026-04-01"), "depth": 50}
    verdict = held("every RBO >= 1", None, after, requests={"current": service}, **asked)
    assert (verdict.status, verdict.blamed) == (Status.INCONCLUSIVE, ("q1", "q2"))
    assert (
        "RBO cannot be decided: more documents may match than were returned: q1 (3 hits returned, where"
        in verdict.reason
    )
    assert held("every RBO@3 >= 1", None, after, requests={"current": service}, **asked).status is Status.PASSED


def test_without_a_baseline_it_fails_and_while_one_is_made_it_is_skipped():
    none = held("mean RBO >= 0.1", SAME, SAME, reference=Reference(problem="there is no baseline"))
    assert (none.status, none.reason) == (Status.FAILED, "RBO cannot be decided: there is no baseline")
    assert held("mean RBO >= 0.1", SAME, SAME, reference=Reference(updating=True)).status is Status.SKIPPED


def test_the_grammar_reads_agreements_as_it_reads_measures():
    condition, tag = parse_threshold("95% RBO(p=0.8)@20 >= 0.7 for head", of_query=False)
    assert isinstance(condition, AgreementCondition)
    assert (condition.agreement.text, condition.share, tag) == ("RBO(p=0.8)@20", 0.95, "head")
    own, _ = parse_threshold("overlap@3 > 0.5", of_query=True)
    assert (own.statistic, own.operator) == (StatisticKind.QUERY, Operator.ABOVE)


@pytest.mark.parametrize(
    ("text", "said", "offset"),
    [
        ("mean RBO(p=2) >= 0.9", "RBO's p: found 2", 11),
        ("mean RBOX >= 0.9", "unknown measure", 5),
        ("RBO >= 0.9", "expected a statistic first", 0),
        ("drop RBO <= 0.1", "unknown measure", 5),
    ],
)
def test_what_is_out_of_the_grammar_is_told_with_its_place(text, said, offset):
    with pytest.raises(GrammarError) as caught:
        parse_threshold(text, of_query=False)
    assert said in str(caught.value)
    assert caught.value.offset == offset


def test_no_agreement_is_above_1():
    condition, _ = parse_threshold("mean RBO >= 1.5", of_query=False)
    assert check_reach(condition, Gain()) == "1.5 is out of range: RBO is 0 to 1"


@pytest.mark.parametrize(
    ("statuses", "unanswered", "status"),
    [
        ([], False, 0),
        ([Status.PASSED, Status.WARNED, Status.SKIPPED], False, 0),
        ([Status.FAILED, Status.PASSED], False, 1),
        ([Status.FAILED, Status.ERROR], False, 3),
        ([], True, 3),
        ([Status.FAILED], True, 3),
    ],
)
def test_the_exit_status_of_a_comparison(statuses, unanswered, status):
    verdicts = [Verdict(str(n), "t", one, "") for n, one in enumerate(statuses)]
    assert compute_comparison_status(verdicts, unanswered=unanswered) == status


def tied(*groups, closed):
    """Groups of documents, a letter each, whose scores are equal; more may tie with the last unless it is *closed*."""
    hits = [Hit(document, score=9.0 - place) for place, group in enumerate(groups) for document in group]
    return Ranking(tuple(hits), closed=closed)


@pytest.mark.parametrize(
    ("text", "is_closed", "status"),
    [
        ("every overlap@3 >= 1", False, Status.INCONCLUSIVE),
        ("every overlap@3 >= 0.5", False, Status.PASSED),
        ("every overlap@1 >= 1", False, Status.PASSED),
        ("mean RBO >= 0.9", False, Status.INCONCLUSIVE),
        ("every overlap@3 >= 1", True, Status.FAILED),  # All that tie are known, and the engine returned another one.
    ],
)
def test_documents_that_may_tie_below_the_last_hit_decide_nothing(text, is_closed, status):
    before, after = tied("a", "bc", closed=is_closed), tied("a", "bd", closed=is_closed)
    reference = Reference(run_of(q1=before), depth=3, created="2026-04-01", same_request=True, remedy="save one")
    verdict = held(text, None, {"q1": after}, reference=reference, depth=3)
    assert verdict.status is status
    assert ("ties" in verdict.reason) is (not is_closed and "overlap@1" not in text)


def test_ties_are_an_order_where_the_request_changed():
    before, after = tied("a", "bc", closed=False), tied("a", "bd", closed=False)
    reference = Reference(run_of(q1=before), depth=3, created="2026-04-01", remedy="save one")
    assert held("every overlap@3 >= 1", None, {"q1": after}, reference=reference, depth=3).status is Status.FAILED
