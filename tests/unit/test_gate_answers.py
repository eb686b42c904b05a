"""Rank expectations, hit counts and latency: thresholds on the answers themselves."""

from dataclasses import replace

import pytest

from builders.gating import TODAY, empty_run, queries_of, ranking, threshold
from builders.suites import BODY, make_suite
from harness.gate.decide import decide
from harness.gate.decide_answers import DOUBT_OF_SERVICE
from harness.gate.expectations import parse_expectation
from harness.gate.stability import explain_changed_target
from harness.metrics.run_scores import score_run
from harness.model.kept import Reference
from harness.model.run import Definitions, Engine, Failure, FailureKind, IndexState, Ranking, Repeat, Run, Status
from harness.model.suite import (
    HttpRequest,
    LatencyCondition,
    Query,
    RequestTemplate,
    Threshold,
    UnresolvedCondition,
    Waiver,
)
from harness.report.sentences import format_required, format_verdict_figure

DEPTH = 5


def expect(text, response, depth=DEPTH):
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    responses = {} if response is None else {"q": response}
    suite = make_suite(query, depth=depth)
    [verdict] = decide(suite, Run(responses, Engine("fake")), [], today=TODAY)
    assert (verdict.query, verdict.counted) == ("q", 0 if verdict.status.is_undecided else 1)
    assert verdict.blamed == (() if verdict.status is Status.PASSED else ("q",))
    return verdict


# ------------------------------------------------------------------------------------------------ ranks


@pytest.mark.parametrize(
    ("text", "hits", "status", "reason", "figures"),
    [
        ("b in top 2", "ab", Status.PASSED,
         "b is at rank 2, required in the top 2", "rank 2; rank <= 2"),
        ("b in top 1", "ab", Status.FAILED,
         "b is at rank 2, required in the top 1", "rank 2; rank <= 1"),
        ("x in top 2", "ab", Status.FAILED,
         "x is not among the 2 hits, required in the top 2", "no rank; rank <= 2"),
        ("x in top 2", "", Status.FAILED,
         "x is not among the 0 hits, required in the top 2", "no rank; rank <= 2"),
        ("x in top 5", "abcde", Status.FAILED,
         "x is not among the 5 hits, required in the top 5", "no rank; rank <= 5"),
        ("b not in top 1", "ab", Status.PASSED,
         "b is at rank 2, required not in the top 1", "rank 2; rank > 1"),
        ("b not in top 2", "ab", Status.FAILED,
         "b is at rank 2, required not in the top 2", "rank 2; rank > 2"),
        ("x not in top 2", "ab", Status.PASSED,
         "x is not among the 2 hits, required not in the top 2", "no rank; rank > 2"),
        ("a before b", "ab", Status.PASSED,
         "a is at rank 1, b is at rank 2", "rank 1; rank < 2"),
        ("b before a", "ab", Status.FAILED,
         "b is at rank 2, a is at rank 1, required in the opposite order", "rank 2; rank < 1"),
        ("a before x", "ab", Status.PASSED,
         "a is at rank 1, x is not among the 2 hits", "rank 1; –"),
        ("x before a", "ab", Status.FAILED,
         "x is not among the 2 hits, a is at rank 1", "no rank; rank < 1"),
        ("x before y", "ab", Status.FAILED,
         "x is not among the 2 hits, y is not among the 2 hits", "no rank; –"),
    ],
)  # fmt: skip
def test_where_documents_stand(text, hits, status, reason, figures):
    verdict = expect(text, ranking(hits))
    assert (verdict.status, verdict.reason) == (status, reason)
    assert f"{format_verdict_figure(verdict)}; {format_required(verdict)}" == figures


def test_a_rank_that_is_not_known_is_no_absent_one():
    assert format_verdict_figure(expect("x in top 8", ranking("abcde"))) == "–"


@pytest.mark.parametrize("k", [6, 8])
@pytest.mark.parametrize("wanted", ["in", "not in"])
def test_a_ranking_that_is_not_deep_enough_is_inconclusive(wanted, k):
    verdict = expect(f"x {wanted} top {k}", ranking("abcde"))
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason == f"cannot be decided: x is not in the 5 hits requested, set `depth: {k}`"


def test_a_short_ranking_is_whole_and_decides():
    assert expect("x in top 8", ranking("abcd")).status is Status.FAILED
    assert expect("x not in top 8", ranking("abcd")).status is Status.PASSED


def test_a_ranking_short_by_its_duplicates_may_go_on():
    assert expect("x not in top 8", ranking("abcd", duplicates=("a",))).status is Status.INCONCLUSIVE


def test_a_document_found_above_decides_whatever_the_depth():
    assert expect("c in top 8", ranking("abcde")).status is Status.PASSED
    assert expect("c not in top 8", ranking("abcde")).status is Status.FAILED


def test_neither_document_in_a_full_ranking_is_inconclusive_and_says_how_to_look_deeper():
    verdict = expect("x before y", ranking("abcde"))
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason == "cannot be decided: neither x nor y is in the 5 hits requested, increase `depth`"


@pytest.mark.parametrize("text", ["x in top 8", "x before y"])
def test_a_ranking_as_deep_as_asked_for_is_whole_where_no_more_match(text):
    assert expect(text, ranking("abcde", total=5)).status is Status.FAILED
    assert expect(text, ranking("abcde", total=5, total_is_lower_bound=True)).status is Status.INCONCLUSIVE


# ------------------------------------------------------------------------------------------------ sizes of their own


SERVICE = RequestTemplate("current", None, http=HttpRequest("GET", "/search", ids="$.ids"))
SIZED = RequestTemplate("current", None, http=HttpRequest("GET", "/search", ids="$.ids", size="rows"))
JUDGED = {"a": 1, "b": 1, "c": 1, "d": -1, "e": -1, "f": 1}
STORED = RequestTemplate("current", {"template": {"id": "products-search", "params": {"q": "{{text}}"}}})
TEMPLATE = RequestTemplate("current", BODY)


def expect_of(template, text, response, *others):
    """The verdict of the query q, where *others* are the answers to the suite's other queries."""
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    names = [f"other{place}" for place in range(len(others))]
    suite = replace(make_suite(query, *queries_of(names), depth=8), requests={"current": template})
    responses = {"q": response, **dict(zip(names, others, strict=True))}
    [verdict] = decide(suite, Run(responses, Engine("fake"), "current"), [], today=TODAY)
    return verdict


@pytest.mark.parametrize("wanted", ["in", "not in"])
@pytest.mark.parametrize(
    ("template", "remedy"),
    [
        (SERVICE, "the service may return fewer by default: send it `{{depth}}`, and set `total`"),
        (SIZED, "the service may have a limit: set `total`, and a `depth` within the limit"),
        (STORED, "the search template may have its own size: use `{{size}}` in it"),
    ],
)
def test_fewer_hits_than_asked_for_is_inconclusive_where_the_size_need_not_be_heeded(wanted, template, remedy):
    short = expect_of(template, f"x {wanted} top 8", ranking("abcde", total=213), ranking("fghij"))
    assert short.status is Status.INCONCLUSIVE
    assert short.reason == (
        f"cannot be decided: x is not in the 5 hits returned, where 8 were requested and 213 match; {remedy}"
    )
    unsaid = expect_of(template, f"x {wanted} top 8", ranking("abcde"))
    assert unsaid.status is Status.INCONCLUSIVE
    assert unsaid.reason == f"cannot be decided: x is not in the 5 hits returned, where 8 were requested; {remedy}"


@pytest.mark.parametrize("template", [SERVICE, STORED])
@pytest.mark.parametrize(
    ("text", "response", "others"),
    [
        pytest.param("x not in top 8", ranking("abcde", total=5), (), id="no more match"),
        pytest.param("x not in top 8", ranking(""), (), id="none match"),
        pytest.param("x not in top 8", ranking("abcde"), (ranking("fghijklm"),), id="another answer is as long"),
        pytest.param("x not in top 5", ranking("abcde", total=213), (), id="enough came"),
        pytest.param("c in top 8", ranking("abcde", total=213), (), id="it came"),
        pytest.param("a before x", ranking("abcde", total=213), (), id="the first came"),
        pytest.param("hits >= 200", ranking("abcde", total=213), (), id="what matches is counted apart"),
    ],
)
def test_fewer_hits_than_asked_for_decide_where_nothing_is_in_doubt(template, text, response, others):
    assert expect_of(template, text, response, *others).status is Status.PASSED


def test_an_engine_heeds_the_size_of_a_body_though_more_documents_match_than_it_has_groups():
    assert expect_of(TEMPLATE, "x not in top 8", ranking("abc", total=213)).status is Status.PASSED


def scored(template, text, response, judgments=JUDGED):
    """The verdict of a threshold on a measure over one query, in a suite that requests eight hits."""
    query = Query("q", "q", judgments=judgments)
    suite = make_suite(query, thresholds=[threshold(text)], depth=8)
    suite = replace(suite, requests={"current": template})
    run = Run({"q": response}, Engine("fake"), "current")
    [verdict] = decide(suite, run, score_run(suite, run), today=TODAY)
    return verdict


@pytest.mark.parametrize("template", [SERVICE, STORED])
@pytest.mark.parametrize(
    "text",
    [
        "every Judged@8 = 1",
        "every P(over=hits)@8 >= 0.9",
        "mean SetP >= 0.9",
        "mean nDCG(gain={-1: -1, 0: 0, 1: 1})@8 >= 0.8",
        "mean P@8 <= 0.4",
    ],
)
def test_a_measure_that_further_hits_could_change_is_inconclusive(template, text):
    verdict = scored(template, text, ranking("abc", total=30))
    assert verdict.status is Status.INCONCLUSIVE, verdict.reason
    assert verdict.reason.startswith("cannot be decided: q: 3 hits returned, where 8 were requested and 30 match; the ")
    assert verdict.blamed == ("q",)
    assert scored(TEMPLATE, text, ranking("abc", total=3)).status is Status.PASSED
    assert scored(template, text, ranking("abc", total=3)).status is Status.PASSED


@pytest.mark.parametrize(
    "text", ["mean nDCG@8 >= 0.5", "every RR@8 = 1", "mean AP@8 >= 0.5", "every P@3 = 1", "mean Judged@3 = 1"]
)
def test_a_measure_that_further_hits_cannot_lower_is_decided(text):
    assert scored(STORED, text, ranking("abc", total=30)).status is Status.PASSED


def test_a_score_that_is_low_for_want_of_hits_says_so():
    verdict = scored(SERVICE, "mean R@8 >= 0.9", ranking("ab", total=30))
    assert verdict.status is Status.FAILED
    assert verdict.reason.endswith("; q: 2 hits returned, where 8 were requested and 30 match; " + DOUBT_OF_SERVICE)


def test_a_total_of_its_own_contradicts_that_a_service_returned_all():
    """The query was decided by whether another one had a long answer."""
    short, long = ranking("abcde", total=30), ranking("fghijklm")
    assert expect_of(SERVICE, "x not in top 8", short, long).status is Status.INCONCLUSIVE
    assert expect_of(STORED, "x not in top 8", short, long).status is Status.PASSED  # it may collapse


def test_a_rank_below_the_documents_is_unknown_where_hits_repeat_some():
    """Ten hits of seven documents: the eighth may be anywhere below."""
    repeated = replace(ranking("abcdefg", total=30), duplicates=("a", "b", "c"))
    query = Query("q", "q", thresholds=(Threshold("x not in top 8", parse_expectation("x not in top 8")),))
    suite = replace(make_suite(query, depth=10), requests={"current": TEMPLATE})
    [verdict] = decide(suite, Run({"q": repeated}, Engine("fake"), "current"), [], today=TODAY)
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason == (
        "cannot be decided: x is not in the 10 hits requested, 3 of which repeat a document, set `depth: 11`"
    )


def test_hits_that_repeat_a_document_are_counted_among_all_that_were_returned():
    """With the hit beyond the depth there are eleven of one document, of which ten repeat it."""
    repeated = replace(ranking("a", total=30), duplicates=("a",) * 10)
    query = Query("q", "q", thresholds=(Threshold("x not in top 8", parse_expectation("x not in top 8")),))
    suite = replace(make_suite(query, depth=10), requests={"current": TEMPLATE})
    [verdict] = decide(suite, Run({"q": repeated}, Engine("fake"), "current"), [], today=TODAY)
    assert verdict.reason == (
        "cannot be decided: x is not in the 11 hits returned, 10 of which repeat a document, set `depth: 18`"
    )


def test_neither_document_in_a_short_answer_says_that_more_may_follow():
    verdict = expect_of(SERVICE, "x before y", ranking("abcde", total=213))
    assert verdict.status is Status.INCONCLUSIVE
    assert (
        "neither x nor y is in the 5 hits returned, where 8 were requested and 213 match; the service" in verdict.reason
    )


# ------------------------------------------------------------------------------------------------ hits


@pytest.mark.parametrize(
    ("text", "total", "passes"),
    [
        ("hits >= 1", 1, True),
        ("hits >= 1", 0, False),
        ("hits > 1", 1, False),
        ("hits > 1", 2, True),
        ("hits <= 3", 3, True),
        ("hits <= 3", 4, False),
        ("hits < 3", 3, False),
        ("hits < 3", 2, True),
        ("hits = 0", 0, True),
        ("hits = 0", 1, False),
    ],
)
def test_the_number_of_hits(text, total, passes):
    verdict = expect(text, ranking("", total=total))
    assert verdict.status is (Status.PASSED if passes else Status.FAILED)
    assert verdict.observed == total


LEAST = 100


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("hits >= 100", Status.PASSED),
        ("hits >= 101", Status.INCONCLUSIVE),
        ("hits > 99", Status.PASSED),
        ("hits > 100", Status.INCONCLUSIVE),
        ("hits <= 99", Status.FAILED),
        ("hits <= 100", Status.INCONCLUSIVE),
        ("hits < 100", Status.FAILED),
        ("hits < 101", Status.INCONCLUSIVE),
        ("hits = 99", Status.FAILED),
        ("hits = 100", Status.INCONCLUSIVE),
        ("hits = 101", Status.INCONCLUSIVE),
    ],
)
def test_a_lower_bound_decides_only_what_follows_from_it(text, status):
    """At least 100 match: the verdict must be the same whether 100 match, or 101, or a thousand; else there is none."""
    verdict = expect(text, ranking("", total=LEAST, total_is_lower_bound=True))
    possible = {expect(text, ranking("", total=total)).status for total in (100, 101, 102, 1000)}
    assert verdict.status is (possible.pop() if len(possible) == 1 else Status.INCONCLUSIVE)
    assert verdict.status is status
    if status is Status.INCONCLUSIVE:
        assert "at least 100 hits" in verdict.reason
        assert "track_total_hits: true" in verdict.reason


@pytest.mark.parametrize(
    ("text", "status"),
    [("hits >= 2", Status.PASSED), ("hits < 2", Status.FAILED), ("hits = 1", Status.FAILED)],
)
def test_without_a_total_the_returned_hits_decide_what_follows_from_them(text, status):
    assert expect(text, ranking("ab")).status is status
    assert expect(text, ranking("ab", total_doubt="`hits.total` is true")).status is Status.INCONCLUSIVE


def test_an_answer_without_a_total_is_inconclusive_where_more_hits_are_required():
    verdict = expect("hits >= 3", ranking("ab"))
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason == (
        "cannot be decided: the answer has no number of matching documents, at least 2 hits, required >= 3"
    )


@pytest.mark.parametrize("text", ["a not in top 1", "a in top 1", "a before b", "hits >= 0"])
def test_a_query_without_a_ranking_is_an_error(text):
    failed = expect(text, Failure(FailureKind.SHARDS, "1 of 2 failed"))
    assert (failed.status, failed.reason) == (Status.ERROR, "cannot be decided: failed shards: 1 of 2 failed")
    assert expect(text, None).reason == "cannot be decided: did not run"


def test_an_expectation_of_a_document_of_a_whole_suite_decides_nothing():
    suite = make_suite(thresholds=[Threshold("a in top 3", parse_expectation("a in top 3"))])
    [verdict] = decide(suite, empty_run(()), [], today=TODAY)
    assert verdict.status is Status.ERROR


def test_a_condition_that_still_holds_variables_is_an_error_that_names_them():
    suite = make_suite(thresholds=[Threshold("mean P@1 >= ${LEAST}", UnresolvedCondition(("LEAST",)))])
    [verdict] = decide(suite, empty_run(()), [], today=TODAY)
    assert (verdict.status, verdict.id) == (Status.ERROR, "mean-P-1-ge-LEAST")
    assert verdict.reason == "cannot be decided: the suite was loaded without values for LEAST"


# ------------------------------------------------------------------------------------------------ latency


def latency(text, times, skip=()):
    queries = tuple(Query(name, name, skip=Waiver("winter") if name in skip else None) for name in times)
    suite = make_suite(*queries, thresholds=[text])
    assert isinstance(suite.thresholds[0].condition, LatencyCondition)
    responses = {name: took if isinstance(took, Failure) else ranking("", took=took) for name, took in times.items()}
    [verdict] = decide(suite, Run(responses, Engine("fake")), [], today=TODAY)
    return verdict


THOUSAND = {f"q{number:04}": float(number) for number in range(1, 1001)}


@pytest.mark.parametrize(("name", "expected"), [("p50", 500), ("p95", 950), ("p99", 990), ("max", 1000)])
def test_a_percentile_is_the_least_time_that_so_many_queries_do_not_exceed(name, expected):
    assert latency(f"{name} latency <= 5000 ms", THOUSAND).observed == expected
    assert latency(f"{name} latency <= {expected} ms", THOUSAND).status is Status.PASSED
    assert latency(f"{name} latency <= {expected - 0.5} ms", THOUSAND).status is Status.FAILED


def test_the_p95_of_a_few_queries_is_the_slowest():
    assert latency("p95 latency <= 5 ms", {"a": 1, "b": 9, "c": 2}).observed == 9


def test_a_slow_answer_is_blamed_slowest_first():
    verdict = latency("max latency <= 5 ms", {"a": 6, "b": 9, "c": 2})
    assert (verdict.status, verdict.blamed, verdict.counted) == (Status.FAILED, ("b", "a"), 3)
    assert verdict.reason == "max latency is 9 ms, required <= 5 ms, over 3 queries; slowest: b 9 ms, a 6 ms"


@pytest.mark.parametrize(
    ("took", "status", "reason"),
    [
        (Failure(FailureKind.TIMEOUT, "30 s"), Status.ERROR, "p50 latency cannot be decided: b (timeout: 30 s)"),
        (None, Status.INCONCLUSIVE, "p50 latency cannot be decided: b (the answer has no `took`)"),
    ],
    ids=["failed", "no time"],
)
def test_a_query_without_a_time_leaves_a_latency_undecided(took, status, reason):
    verdict = latency("p50 latency <= 100 ms", {"a": 1, "b": took})
    assert (verdict.status, verdict.reason, verdict.blamed) == (status, reason, ("b",))


def test_a_query_without_an_answer_beside_one_without_a_time_is_an_error():
    unanswered = Failure(FailureKind.TIMEOUT, "30 s")
    assert latency("p50 latency <= 100 ms", {"a": None, "b": unanswered}).status is Status.ERROR


def test_a_skipped_query_has_no_time_and_is_left_out():
    verdict = latency("max latency <= 5 ms", {"a": 1, "b": 9}, skip=["b"])
    assert (verdict.status, verdict.observed, verdict.left_out) == (Status.PASSED, 1, 1)


def test_without_the_time_of_a_service_that_to_the_last_byte_is_judged():
    def decide_times(text, *rankings):
        suite = make_suite(*(Query(str(n), str(n)) for n in range(len(rankings))), thresholds=[text])
        responses = {str(number): response for number, response in enumerate(rankings)}
        [verdict] = decide(suite, Run(responses, Engine("http")), [], today=TODAY)
        return verdict

    measured = [Ranking(to_last_byte=4.5), Ranking(to_last_byte=9.0)]
    verdict = decide_times("max latency <= 5 ms", *measured)
    assert verdict.observed == 9.0
    assert verdict.reason == ("max latency to the last byte is 9 ms, required <= 5 ms, over 2 queries; slowest: 1 9 ms")
    assert decide_times("p50 latency <= 5 ms", *measured).status is Status.PASSED
    own = [Ranking(took=1.0, to_last_byte=90.0), Ranking(took=2.0, to_last_byte=80.0)]
    assert decide_times("max latency <= 2 ms", *own).reason == "max latency is 2 ms, required <= 2 ms, over 2 queries"
    doubtful = Ranking(took_doubt="`$.ms` finds 0 values", to_last_byte=1.0)
    verdict = decide_times("max latency <= 5 ms", own[0], doubtful)
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.reason == "max latency cannot be decided: 1 (`$.ms` finds 0 values)"


def test_where_no_query_ran_there_is_no_latency_to_pass():
    verdict = latency("max latency <= 5 ms", {"a": 1}, skip=["a"])
    assert (verdict.status, verdict.reason) == (
        Status.FAILED,
        "max latency has nothing to decide: every query is left out (1 skipped)",
    )


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (IndexState({"a": "1"}, 10), IndexState({"a": "1"}, 10), ""),
        (IndexState({"a": "1"}, 10), IndexState({"a": "1"}, 5), "it had 10 documents and has 5"),
        (IndexState({"a": "1"}, 1), IndexState({"a": "2"}, 1), "a was deleted and created again"),
        (IndexState({"a": "1"}, 1), IndexState({"b": "2"}, 1), "it stood for a and stands for b"),
        (
            IndexState({"a": "1", "b": "2"}, 1),
            IndexState({"a": "3"}, 0),
            "it stood for a, b and stands for a; a was deleted and created again; it had 1 document and has 0",
        ),
        (IndexState(None, 10), IndexState({"a": "1"}, None), ""),
        (IndexState(), IndexState(), ""),
        (
            IndexState({"a": "1"}, 10, writes={"1[0]": 9, "1[1]": 4}),
            IndexState({"a": "1"}, 10, writes={"1[0]": 9, "1[1]": 6}),
            "documents were replaced, or others added and deleted (2 writes)",
        ),
        (
            IndexState({"a": "1"}, 10, writes={"1[0]": 9}),
            IndexState({"a": "1"}, 11, writes={"1[0]": 10}),
            "it had 10 documents and has 11",
        ),
        (IndexState({"a": "1"}, 10, writes={"1[0]": 9, "1[1]": 4}), IndexState({"a": "1"}, 10, writes={"1[0]": 9}), ""),
        (IndexState({"a": "1"}, 10, writes={"1[0]": 9}), IndexState({"a": "1"}, 10), ""),
    ],
)
def test_a_run_on_an_index_that_changed_decides_nothing(before, after, reason):
    run = Run({}, Engine("fake"), index="products", states=(before, after))
    assert explain_changed_target(run) == (f"products changed during the run: {reason}" if reason else "")
    assert explain_changed_target(replace(run, states=())) == ""


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        # Each request names a field that the other does not name.
        ({"title": "t1", "brand": "b1"}, {"title": "t1", "price": "p1"}, ""),
        ({"title": "t1", "brand": "b1"}, {"title": "t2", "price": "p1"}, "the mapping of products changed (title)"),
    ],
)
def test_runs_of_two_requests_are_compared_by_the_fields_that_both_name(before, after, reason):
    states = [
        IndexState({"products": "1"}, 10, definitions=Definitions(named={"mapping of products": fields}))
        for fields in (before, after)
    ]
    first, second = (
        Run({}, Engine("fake"), request, index="products", states=(state,))
        for request, state in zip(("current", "candidate"), states, strict=True)
    )
    told = f"products changed during the run: {reason}" if reason else ""
    assert explain_changed_target(second, first) == told
    same_request = explain_changed_target(replace(second, request="current"), first)
    assert same_request.startswith("products changed during the run: the mapping of products changed (brand, ")


BECAME_VISIBLE = "documents that were written before became visible to searches (a refresh)"


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ([{"newest": 7}, {"newest": 9}], BECAME_VISIBLE),
        ([{"newest": 7}, {}, {"newest": 9}, {"newest": 9}], BECAME_VISIBLE),
        ([{"newest": 7}, {"newest": 7}], ""),
        ([{"newest": 7}, {}], ""),
        ([{"visible": {"1[0] n1": 10}}, {"visible": {"1[0] n1": 11}}], BECAME_VISIBLE),
        ([{"visible": {"1[0] n1": 10}}, {}, {"visible": {"1[0] n1": 11}}], BECAME_VISIBLE),
        ([{"visible": {"1[0] n1": 15}}, {"visible": {"1[0] n1": 10}}, {"visible": {"1[0] n1": 11}}], BECAME_VISIBLE),
        # A merge, a copy on another node, and a shard that is not known any more.
        ([{"visible": {"1[0] n1": 15}}, {"visible": {"1[0] n1": 10}}], ""),
        ([{"visible": {"1[0] n1": 10}}, {"visible": {"1[0] n2": 12}}], ""),
        ([{"visible": {"1[0] n1": 10, "1[1] n1": 4}}, {"visible": {"1[0] n1": 10}}], ""),
        ([{"visible": None}, {"visible": {"1[0] n1": 10}}], ""),
        # A write that is seen is told as such.
        ([{"writes": {"1[0]": 1}, "newest": 1}, {"writes": {"1[0]": 2}, "newest": 2}], "documents were replaced"),
    ],
)
def test_documents_that_become_visible_are_a_change(numbers, reason):
    states = tuple(IndexState({"a": "1"}, 10, **known) for known in numbers)
    told = explain_changed_target(Run({}, Engine("fake"), index="products", states=states))
    assert told.startswith(f"products changed during the run: {reason}" if reason else "")
    assert bool(told) == bool(reason)


@pytest.mark.parametrize(
    ("uuids", "hit_indexes", "repeated", "strange"),
    [
        ([{"a": "1"}, {"a": "1"}], ["a"], ["a"], ""),
        ([{"a": "1"}, {"a": "1"}], ["a", "b"], ["a"], "b"),
        ([{"a": "1"}, {"a": "1"}], ["a"], ["b"], "b"),
        ([{"a": "1"}, {"a": "1"}], ["c", "b"], [], "b, c"),
        ([{"a": "1"}, None], ["b"], [], "b"),
        ([{"a": "1", "b": "2"}], ["b"], [], ""),
        ([{"a": "1"}], [], [], ""),
        ([{"a": "1"}], ["a", "remote:b"], [], ""),
        # Where the indexes of the target are unknown, any may be one of them.
        ([None, None], ["b"], [], ""),
        ([], ["b"], [], ""),
    ],
)
def test_hits_in_an_index_that_was_in_no_state_are_a_change(uuids, hit_indexes, repeated, strange):
    states = tuple(IndexState(one, 10) for one in uuids)
    first, second = (replace(ranking("x"), indexes=tuple(indexes)) for indexes in (hit_indexes, repeated))
    repeats = (Repeat({"q": second}),)
    run = Run({"q": first}, Engine("fake"), index="live", states=states, repeats=repeats)
    reason = f"some hits are in {strange}, for which it did not stand whenever that was looked up"
    assert explain_changed_target(run) == (f"live changed during the run: {reason}" if strange else "")


def test_another_filter_of_the_alias_is_a_change():
    states = [IndexState({"a": "1"}, 700, filters={"a": one}) for one in ("x", "y")]
    run = Run({}, Engine("fake"), index="live", states=tuple(states))
    assert explain_changed_target(run) == "live changed during the run: the filter of its alias is another one"
    assert explain_changed_target(replace(run, states=(states[0], IndexState({"a": "1"}, 700), states[0]))) == ""


@pytest.mark.parametrize(
    ("before", "after", "uuid", "is_moving"),
    [
        ([10, 5], [5], "1", True),
        ([10], [5], "1", True),
        ([10], [10, 5], "1", True),
        ([10], [10], "1", False),
        ([10], [5], "of another cluster", False),
        ([10, 5], [7], "of another cluster", True),
        ([], [5], "1", False),
    ],
)
def test_an_index_that_changed_on_the_other_side_of_a_comparison_decides_nothing(before, after, uuid, is_moving):
    """Documents that are deleted while the first side runs lower what the second is compared with."""

    def run_over(documents, uuid):
        states = tuple(IndexState({"a": uuid}, one) for one in documents)
        return Run({"q": ranking("a")}, Engine("fake"), "current", "products", states=states)

    suite = make_suite(Query("q", "q", judgments={"a": 1}), thresholds=[threshold("drop nDCG@5 <= 0.5")], depth=5)
    first, second = run_over(before, uuid), run_over(after, "1")
    of_another_name = explain_changed_target(second, replace(first, index="an alias with another index too"))
    assert bool(of_another_name) == (len(before) > 1 or len(after) > 1)
    reference = Reference(run=first, scores=score_run(suite, first), depth=5)
    [verdict] = decide(suite, second, score_run(suite, second), today=TODAY, reference=reference)
    assert (verdict.status is Status.INCONCLUSIVE) == is_moving, verdict.reason


def test_a_change_that_was_taken_back_is_one():
    states = IndexState({"a": "1"}, 10), IndexState({"b": "2"}, 5), IndexState(), IndexState({"a": "1"}, 10)
    moved = "it stood for a, then b and stands for a; it had 10 documents, then 5 and has 10"
    assert (
        explain_changed_target(Run({}, Engine("fake"), states=states)) == f"the target changed during the run: {moved}"
    )


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("hits >= 2", Status.PASSED),
        ("hits >= 3", Status.INCONCLUSIVE),
        ("hits < 3", Status.INCONCLUSIVE),
        ("hits < 2", Status.FAILED),
    ],
)
def test_without_a_total_a_document_returned_twice_is_one_hit(text, status):
    assert expect(text, replace(ranking("ab", total=None), duplicates=("a",))).status is status
