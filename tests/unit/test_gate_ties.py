"""Thresholds on a baseline where documents tie: what is excused, what is a change, and what cannot be known."""

from dataclasses import replace
from itertools import permutations

import pytest

from builders.gating import TODAY, threshold
from builders.suites import BODY, make_suite
from harness.gate import ties
from harness.gate.decide import decide
from harness.gate.ties import has_ties, read_ties, suggest_tie_break, truncate_ranking
from harness.metrics import parse_measure, score_query
from harness.metrics.run_scores import score_run
from harness.metrics.ties import tie_range
from harness.model.kept import Reference
from harness.model.run import Engine, Hit, HitColumns, Ranking, Run, Status
from harness.model.suite import HttpRequest, Profile, Query, RequestTemplate

TEN = [f"good{n}" for n in range(10)]
BAD = [f"bad{n}" for n in range(10)]
GRADES = dict.fromkeys(TEN, 3) | dict.fromkeys(BAD, 0)

EVERY_KIND = [
    "drop nDCG@10 <= 0.02",
    "drop nDCG@10 <= 2%",
    "drop every nDCG@10 <= 0.02",
    "drop nDCG@10 <= 0.02 for head",
    "worse nDCG@10 by 0 <= 0 queries",
    "worse nDCG@10 by 0 <= 0%",
    "drop nDCG@10 is not significant at 5%",
]


def hit_of(name, score, *field):
    number = float(score) if score else None
    keys = (*field, number) if number is not None else field
    return Hit(name, number, sort=tuple(keys) if field else None)


def hits(text):
    """
    ``a5 b5 c3`` are three documents with their scores, which are all that match.

    Those behind ``|`` are below the ranking; ``...`` says that more may follow that tie with the last. ``a5/acme`` was
    sorted by its score and a field, ``a/acme`` by the field alone.
    """
    shown, _, below = text.removesuffix("...").partition("|")
    of = [[hit_of(word[0], *word[1:].split("/")) for word in part.split()] for part in (shown, below)]
    return Ranking(tuple(of[0]), tail=tuple(of[1]), closed=not text.endswith("..."))


def decided(before, after, *texts, judgments, body=BODY, same_request=True, depth=4, own="", **fields):
    """The verdicts on queries q0, q1 …, whose rankings are in *before* and *after*."""
    gated = (threshold(own, of_query=True),) if own else ()
    queries = [
        Query(f"q{n}", "q", tags=("head",), judgments=judgments, thresholds=gated if not n else ())
        for n in range(len(before))
    ]
    suite = make_suite(*queries, thresholds=texts, body=body, depth=depth, **fields)
    first, second = (
        Run({f"q{n}": one for n, one in enumerate(each)}, Engine("fake"), "current") for each in (before, after)
    )
    reference = Reference(first, score_run(suite, first), depth, "2026-05-01", same_request)
    return decide(suite, second, score_run(suite, second), today=TODAY, reference=reference)


def tied_verdict(before, after, *, judgments=None, text="drop RR <= 0", **fields):
    [verdict] = decided([hits(before)], [hits(after)], text, judgments=judgments or {"a": 1}, **fields)
    return verdict


# ------------------------------------------------------------------------------------------------ only another order


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a5 b5 c3", "b5 a5 c3"),
        ("c6 a5 b5", "c6 b5 a5"),
        ("a5 b5 c5 d5 | e5", "b5 c5 d5 e5 | a5"),
        ("b5 a3 c3 d3 | e3", "b5 c3 d3 e3 | a3"),
        ("a5 b5 c5 d5 ...", "b5 c5 d5 a5 ..."),
        ("a5 b5 c5 d5 | e5 ...", "b5 c5 d5 e5 | a5 x5 ..."),
        ("a5 b5 c3", "b5.0000001 a5 c3"),
        ("a16777218 b16777216 c3", "b16777218 a16777216 c3"),
    ],
    ids=[
        "swapped",
        "below another",
        "cut by the depth",
        "the last group is cut",
        "open, and what is shown is the same",
        "open, and what is shown is known on both sides",
        "rounding",
        "rounding of whole numbers that a 32-bit float does not hold",
    ],
)
def test_another_order_of_ties_is_no_drop_and_is_named(before, after):
    verdict = tied_verdict(before, after)
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)
    assert verdict.reason.endswith("; only the order of ties changed in 1 query: q0")
    assert verdict.caveat == "only the order of ties changed in 1 query: q0"


def test_the_reason_of_what_is_excused_has_the_value_that_came_and_never_the_baseline_s_in_its_place():
    assert tied_verdict("a5 b5 c3", "b5 a5 c3").reason == (
        "with ties as in the baseline, mean RR is 1.0000 as in the baseline, allowed 0, over 1 query; with ties as "
        "returned, the mean fell by 0.5000 from 1.0000 to 0.5000 (q0 1.0000 -> 0.5000); "
        "only the order of ties changed in 1 query: q0"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a5 b4 c3", "b5 a4 c3"),
        ("a5 b5 c3", "b5 a4.9 c3"),
        ("a5 b4.99999 c3", "b5 a4.99999 c3"),
        ("a5000004 b5000000 c3", "b5000004 a5000000 c3"),
        ("a-5000000 b-5000004", "b-5000000 a-5000004"),
        ("a5 b5 c3", "x5 b5 c3"),
        ("a5 b5 c3", "x5 a5 c3"),
        ("a5 b5", "b5 a5 c5"),
        ("a5 b5 c3 d2", "b5 c5 a3 d2"),
        ("a5 b5 c5 d5 | e5", "b5 c5 d5 e5 | x5"),
    ],
    ids=[
        "other scores",
        "a score fell",
        "scores that differ by two millionths",
        "whole numbers, which no sum rounded",
        "whole numbers below zero",
        "a judged document left its group",
        "a document that is not judged took the place of another",
        "more hits",
        "moved between groups",
        "a document left its group, which the depth cuts",
    ],
)
def test_anything_more_than_the_order_of_ties_is_a_drop(before, after):
    verdict = tied_verdict(before, after)
    assert verdict.status is Status.FAILED
    assert "ties" not in verdict.reason
    assert verdict.caveat == ""


@pytest.mark.parametrize("of", [("before",), ("after",), ("before", "after")])
def test_exact_scores_of_either_run_tie_only_where_they_are_equal(of):
    """As where an engine is replaced by a service, or a hook begins to change its scores."""
    before, after = hits("a5.0000001 b5 c3"), hits("b5.0000001 a5 c3")
    before = replace(before, exact_scores="before" in of)
    after = replace(after, exact_scores="after" in of)
    [verdict] = decided([before], [after], "drop RR <= 0", judgments={"a": 1})
    assert verdict.status is Status.FAILED


def test_exact_scores_that_are_equal_tie():
    before, after = (replace(hits(text), exact_scores=True) for text in ("a5.5 b5.5 c3", "b5.5 a5.5 c3"))
    [verdict] = decided([before], [after], "drop RR <= 0", judgments={"a": 1})
    assert verdict.status is Status.PASSED


def test_a_tie_that_rose_counts_for_nothing_either():
    verdict = tied_verdict("b5 a5 c3", "a5 b5 c3")
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)
    assert "only the order of ties" in verdict.reason


def test_below_the_cutoff_nothing_matters_to_the_ties_above_it():
    verdict = tied_verdict("a5 b5 c3 d2", "b5 a5 x1 y1", text="drop RR@2 <= 0")
    assert verdict.status is Status.PASSED
    assert verdict.caveat == "only the order of ties changed in 1 query: q0"


def test_a_measure_that_leaves_unjudged_documents_out_looks_below_its_cutoff():
    before, after = "x5 y4 a3 b2", "x5 y4 z3 b2"
    text = "drop nDCG(judged_only=true)@2 <= 0"
    assert tied_verdict(before, after, judgments={"a": 3, "b": 1}, text=text).status is Status.FAILED


def test_ties_beside_another_change_do_not_count_with_it():
    """a and b changed places, and d, which was relevant, went: only that costs."""
    judgments = {"a": 3, "b": 0, "d": 3}
    before, after = "a5 b5 c4 d3", "b5 a5 c4 x2"
    verdict = tied_verdict(before, after, judgments=judgments, text="drop nDCG@4 <= 0")
    measure = parse_measure("nDCG@4")
    was, as_before, came = (score_query(measure, order, judgments) for order in ("abcd", "abcx", "bacx"))
    assert verdict.status is Status.FAILED
    assert verdict.observed == pytest.approx(was - as_before)
    assert verdict.reason.startswith("with ties as in the baseline, mean nDCG@4")
    assert f"from {was:.4f} to {as_before:.4f}" in verdict.reason
    assert f"with ties as returned, the mean fell by {was - came:.4f}" in verdict.reason
    assert "; beside other changes the order of ties changed in 1 query: q0" in verdict.reason


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ("a5/x b5/y c3/z", "b5/y a5/x c3/z", Status.FAILED),  # each score and field is another
        ("a/x b/y c/z", "b/y a/x c/z", Status.FAILED),
        ("a5/x b5/x c3/z", "b5/x a5/x c3/z", Status.PASSED),
        ("a/x b/x c/z", "b/x a/x c/z", Status.PASSED),
        ("a/x b/x c/z", "b/y a/y c/z", Status.FAILED),  # both have another price now
        ("a5/x b5/x c3/z", "b5 a5 c3", Status.FAILED),  # now sorted by the score only
        ("a/x b/x c/x d/x | e/x", "b/x c/x d/x e/x | a/x", Status.PASSED),
        ("a/x b/x c/x d/x ...", "b/x c/x d/x e/x ...", Status.INCONCLUSIVE),
    ],
)
def test_where_the_request_sorts_documents_tie_by_their_sort_values(before, after, status):
    assert tied_verdict(before, after).status is status


def test_sort_values_that_are_unknown_tie_nothing():
    first, second = (Ranking(tuple(Hit(one, 1.0, sort=()) for one in order), closed=True) for order in ("abc", "bac"))
    [verdict] = decided([first], [second], "drop RR <= 0", judgments={"a": 1})
    assert verdict.status is Status.FAILED
    [verdict] = decided([first], [first], "mean RR >= 0.9", judgments={"a": 1})
    assert (verdict.status, verdict.ties) == (Status.PASSED, None)


def test_under_the_order_of_trec_eval_the_sort_of_the_request_ties_nothing():
    """It scores by score and id: c a b, whatever the request sorts by."""
    kept = hits("a1/x b1/x c5/x")
    [verdict] = decided([kept], [kept], "mean RR >= 0.9", judgments={"c": 1}, profile=Profile.TREC)
    assert (verdict.status, verdict.ties, verdict.observed) == (Status.PASSED, None, 1.0)


def test_a_threshold_that_the_order_of_equal_sort_values_decides_says_so():
    [verdict] = decided([hits("a/x b/x c/y")], [hits("a/x b/x c/y")], "mean RR >= 0.9", judgments={"a": 1})
    assert verdict.ties == (0.5, 1.0)
    assert "0.5000 to 1.0000 over the orders of ties, so their order decides" in verdict.reason


def test_another_request_may_have_meant_its_order():
    assert tied_verdict("a5 b5 c3", "b5 a5 c3", same_request=False).status is Status.FAILED
    assert tied_verdict("a5 b5 c5 ...", "x5 y5 z5 ...", same_request=False).status is Status.FAILED


def test_a_hit_without_a_score_ties_with_nothing():
    first, second = (Ranking(tuple(map(Hit, order))) for order in ("ab", "ba"))
    [verdict] = decided([first], [second], "drop RR <= 0", judgments={"a": 1})
    assert verdict.status is Status.FAILED


def test_under_the_order_of_trec_eval_ties_move_nothing_within_the_ranking():
    """It orders ties by id itself, the last first, whatever the server did."""
    fields = {"profile": Profile.TREC, "text": "drop RR <= 0"}
    verdict = tied_verdict("a5 b5 c3", "b5 a5 c3", **fields)
    assert (verdict.status, verdict.caveat) == (Status.PASSED, "")
    cut_off = tied_verdict("a5 b5 | c5", "b5 c5 | a5", depth=2, **fields)
    assert (cut_off.status, cut_off.observed) == (Status.PASSED, 0.0)
    assert "only the order of ties changed" in cut_off.caveat


# ------------------------------------------------------------------------------------------------ all replaced


def replaced(text, *, of_query=False, closed, tail=(), last=None, queries=6):
    """Ten hits of one score, or only the *last*, became documents of grade 0, in every query."""
    score = 1.0
    names = TEN if last is None else [*TEN[:9], "bad9"]
    before, after = (
        Ranking(
            tuple(Hit(name, score if last is None else 20.0 - place) for place, name in enumerate(order)),
            tail=tuple(Hit(name, score) for name in tail),
            closed=closed,
        )
        for order in (TEN, BAD if last is None else names)
    )
    gated = {"own": text} if of_query else {}
    texts = [] if of_query else [text]
    judgments = {**GRADES, **(dict.fromkeys(TEN[:9], 0) if last is not None else {})}
    [verdict] = decided([before] * queries, [after] * queries, *texts, judgments=judgments, depth=10, **gated)
    return verdict


@pytest.mark.parametrize("text", EVERY_KIND)
def test_ten_hits_that_were_all_replaced_fail_where_nothing_else_has_their_score(text):
    pytest.importorskip("numpy")
    verdict = replaced(text, closed=True)
    assert verdict.status is Status.FAILED
    assert "ties" not in verdict.reason


@pytest.mark.parametrize("text", EVERY_KIND)
def test_where_more_may_have_it_that_is_inconclusive(text):
    pytest.importorskip("numpy")
    verdict = replaced(text, closed=False)
    assert (verdict.status, verdict.observed, len(verdict.blamed)) == (Status.INCONCLUSIVE, None, 6)
    assert verdict.reason.startswith("cannot be decided: with ties at their worst, ")
    assert "; at their best, " in verdict.reason
    assert "1.0000 -> 0.0000" in verdict.reason
    assert "with ties as returned, the mean fell by 1.0000 from 1.0000 to 0.0000" in verdict.reason
    assert verdict.reason.endswith(
        "more documents may tie with the last hit in 6 queries (q0, q1, q2 and 3 more): break ties in the "
        "request (`sort: [_score, FIELD]`, if a field is unique) or increase `depth`, then save the baseline again"
    )


@pytest.mark.parametrize("text", ["drop nDCG@10 <= 0.02", "worse nDCG@10 by 0.5 <= 0 queries"])
def test_a_query_s_own_threshold_is_judged_so_too(text):
    text = text if "drop" in text else "drop nDCG@10 <= 2%"
    assert replaced(text, of_query=True, closed=True).status is Status.FAILED
    open_one = replaced(text, of_query=True, closed=False)
    assert (open_one.status, open_one.query) == (Status.INCONCLUSIVE, "q0")
    assert "with ties as returned, it fell by 1.0000 from 1.0000 to 0.0000; " in open_one.reason


@pytest.mark.parametrize("closed", [True, False])
def test_the_last_hit_alone_in_its_score_and_replaced(closed):
    verdict = replaced("drop every nDCG@10 <= 0.001", closed=closed, last="bad9")
    assert verdict.status is (Status.FAILED if closed else Status.INCONCLUSIVE)


def test_where_best_and_worst_agree_an_open_group_is_decided():
    """The first hit, alone in its score, holds all that is relevant."""
    judgments, text = {"a": 3, "z": 1}, "drop nDCG@3 <= 0.3"
    passed = tied_verdict("a5 b1 c1 ...", "a5 d1 e1 ...", judgments=judgments, text=text, depth=3)
    assert (passed.status, passed.observed, passed.caveat) == (Status.PASSED, 0.0, "")
    gone = tied_verdict("a5 b1 c1 ...", "x5 d1 e1 ...", judgments=judgments, text=text, depth=3)
    assert (gone.status, gone.observed) == (Status.FAILED, 1.0 * score_query(parse_measure("nDCG@3"), "abc", judgments))


def test_at_its_worst_it_passes_and_says_what_came():
    judgments = {"a": 3, "b": 0, "c": 1}
    verdict = tied_verdict("a5 b1 ...", "a5 c1 ...", judgments=judgments, text="drop nDCG@2 <= 0.02", depth=2)
    was, now = (score_query(parse_measure("nDCG@2"), order, judgments) for order in ("ab", "ac"))
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)
    assert verdict.reason == (
        f"with ties at their worst, mean nDCG@2 (gain exponential) is {was:.4f} as in the baseline, allowed 0.02, over "
        f"1 query; with ties as returned, the mean rose by {now - was:.4f} from {was:.4f} to "
        f"{now:.4f} (q0 {was:.4f} -> {now:.4f})"
    )


def test_at_its_best_it_fails():
    judgments = {"a": 3, "b": 1}
    verdict = tied_verdict("a5 b1 ...", "x5 c1 ...", judgments=judgments, text="drop nDCG@2 <= 0.02", depth=2)
    was, best = (score_query(parse_measure("nDCG@2"), order, judgments) for order in ("ab", "xb"))
    assert verdict.status is Status.FAILED
    assert verdict.observed == pytest.approx(was - best)
    assert verdict.reason.startswith("with ties at their best, mean nDCG@2 (gain exponential) fell by ")


def test_documents_that_stand_above_today_are_not_taken_for_tied_below():
    """b was in the open group, and is known to have another score today."""
    text = "drop every P@3 <= 0"
    verdict = tied_verdict("a5 b1 d1 ...", "b6 a5 d1 ...", judgments={"b": 3, "d": 3}, text=text, depth=3)
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)


@pytest.mark.parametrize(("waiver", "status"), [({"warns": True}, Status.INCONCLUSIVE), ({}, Status.INCONCLUSIVE)])
def test_what_is_inconclusive_is_not_forgiven(waiver, status):
    before, after = hits("a5 b5 ..."), hits("x5 y5 ...")
    gated = threshold("drop RR <= 0", **waiver)
    [verdict] = decided([before], [after], gated, judgments={"a": 1}, depth=2)
    assert verdict.status is status


def test_a_sample_of_orders_decides_nothing():
    """infAP has no formula for its extremes, and forty documents have too many orders."""
    names = [f"d{n}" for n in range(40)]
    judgments = {name: n % 2 for n, name in enumerate(names)}
    before = Ranking(tuple(Hit(name, 1.0) for name in names[:20]))
    after = Ranking(tuple(Hit(name, 1.0) for name in names[20:]))
    [verdict] = decided([before], [after], "drop infAP <= 0.2", judgments=judgments, depth=20)
    assert verdict.status is Status.INCONCLUSIVE
    [certain] = decided([before], [after], "drop infAP <= 1", judgments=judgments, depth=20)
    assert certain.status is Status.PASSED, "no value of infAP is further from another"


def test_without_bounds_the_reason_has_no_figures():
    names = [f"d{n}" for n in range(40)]
    judgments = {name: n % 4 for n, name in enumerate(names)}
    before, after = (Ranking(tuple(Hit(name, 1.0) for name in order)) for order in (names[:20], names[20:]))
    text = "drop DCG(judged_only=true) <= 0.5"
    [verdict] = decided([before], [after], text, judgments=judgments, depth=20)
    assert verdict.status is Status.INCONCLUSIVE
    assert "too many orders of ties to check" in verdict.reason
    assert "inf" not in verdict.reason


# ------------------------------------------------------------------------------------------------ by looking at all


@pytest.mark.parametrize("measure", ["nDCG@3", "P@2", "RR", "AP", "ERR@3", "R@3"])
@pytest.mark.parametrize("judgments", [{"a": 3, "d": 1}, {"b": 2, "c": 2, "e": 0}, {"a": 1, "b": 2, "e": 3}])
def test_least_and_greatest_are_those_of_all_orders_of_today_s_documents_and_the_baseline_s(measure, judgments):
    before, after = hits("a9 b1 c1 ..."), hits("a9 d1 e1 ...")
    orders = {("a", *rest) for rest in permutations("bcde", 2)}
    values = [score_query(parse_measure(measure), order, judgments) for order in orders]
    was = score_query(parse_measure(measure), "abc", judgments)
    for limit in {round(was - value, 6) for value in values}:
        statuses = {was - value <= limit + 1e-6 for value in values}
        expected = Status.INCONCLUSIVE if len(statuses) == 2 else Status.PASSED if statuses == {True} else Status.FAILED
        if limit < 0:
            continue
        text = f"drop {measure} <= {limit + 1e-6:.7f}"
        [verdict] = decided([before], [after], text, judgments=judgments, depth=3)
        assert verdict.status is expected, (text, verdict.reason)


# ------------------------------------------------------------------------------------------------ cutting


def test_what_is_cut_off_becomes_the_tail_as_far_as_it_ties():
    assert truncate_ranking(hits("a5 b5 c5 d3"), 2) == hits("a5 b5 | c5")
    assert truncate_ranking(hits("a5 b5 c5 | d5"), 2) == hits("a5 b5 | c5 d5")
    assert truncate_ranking(hits("a5 b5 c5 | d5 ..."), 2) == replace(hits("a5 b5 | c5 d5"), closed=False)
    assert truncate_ranking(replace(hits("a5 b4 c3"), closed=False), 2) == hits("a5 b4")
    assert truncate_ranking(hits("a5 b4"), 2) == hits("a5 b4")


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((3.0, 2.0, 1.0), False),
        ((3.0, 2.0, 2.0), True),
        ((3.0, 2.0, 2.0 * (1 - 1e-8)), True),
        ((16_777_216.0, 16_777_215.0, 1.0), False),
        ((16_777_218.0, 16_777_217.0, 1.0), True),
    ],
    ids=["apart", "equal", "close", "whole numbers", "whole numbers that no 32-bit float holds"],
)
def test_ties_are_found_by_scores_alone_as_by_hits(scores, expected):
    whole = Ranking(tuple(map(Hit, "abc", scores)))
    late = Ranking()
    late.make_late(HitColumns(tuple("abc"), scores))
    assert (has_ties(late), has_ties(whole)) == (expected, expected)


# ------------------------------------------------------------------------------------------------ the remedy


@pytest.mark.parametrize(
    ("body", "takes"),
    [
        (BODY, True),
        ({**BODY, "collapse": {"field": "brand"}}, True),
        ({**BODY, "rescore": {"query": {}}}, False),
        ({"retriever": {"standard": {}}}, False),
        ({"query": {"hybrid": {"queries": []}}}, False),
    ],
)
def test_a_sort_is_proposed_where_the_request_takes_one(body, takes):
    assert ("`sort:" in suggest_tie_break(RequestTemplate("current", body))) is takes


def test_a_service_is_to_order_them_itself():
    service = RequestTemplate("current", None, http=HttpRequest("GET", "/search", "$.ids"))
    assert suggest_tie_break(service) == "make the service break ties"


# ------------------------------------------------------------------------------------------------ agreement


@pytest.mark.parametrize("text", ["every RBO >= 1", "mean overlap@2 >= 1", "100% RBO(p=0.5)@2 >= 1"])
def test_another_order_of_ties_agrees_and_is_named(text):
    verdict = tied_verdict("a5 b5 c3", "b5 a5 c3", text=text)
    assert (verdict.status, verdict.observed) == (Status.PASSED, 1.0)
    assert verdict.caveat == "only the order of ties changed in 1 query: q0"
    assert verdict.reason.endswith("; compared with the baseline; only the order of ties changed in 1 query: q0")


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ("a5 b4 c3", "b5 a4 c3", {}),
        ("a5 b5 c3", "x5 b5 c3", {}),
        ("a5 b5 c3", "b5 a5 c3", {"same_request": False}),
        ("a5/x b5/y c3/z", "b5/y a5/x c3/z", {}),
    ],
    ids=["other scores", "another document", "another request", "the request orders them"],
)
def test_anything_more_than_the_order_of_ties_agrees_less(before, after, fields):
    verdict = tied_verdict(before, after, text="every RBO >= 1", **fields)
    assert (verdict.status, verdict.caveat) == (Status.FAILED, "")
    assert "ties" not in verdict.reason


def test_what_ties_moved_beside_other_changes_is_named():
    verdict = tied_verdict("a5 b5 c3 d2", "b5 a5 d3 c2", text="every RBO >= 1")
    assert verdict.status is Status.FAILED
    assert "; beside other changes the order of ties changed in 1 query: q0" in verdict.reason


# ------------------------------------------------------------------------------------------------ without a baseline


def on_scores(text, *after, body=BODY, judgments=None):
    [verdict] = decided(
        [hits("x1")] * len(after), [hits(one) for one in after], text, judgments=judgments or {"a": 1}, body=body
    )
    return verdict


@pytest.mark.parametrize(
    ("text", "status", "caveat"),
    [
        ("mean RR >= 0.7", Status.PASSED, "0.6667 to 1.0000 over the orders of ties, so their order decides"),
        ("mean RR >= 0.6", Status.PASSED, ""),
        ("mean RR >= 1", Status.FAILED, ""),
        ("every RR >= 1", Status.FAILED, ""),
        ("60% RR >= 1", Status.PASSED, "33.33% to 100.00% over the orders of ties, so their order decides"),
        ("mean RR <= 0.9", Status.PASSED, "0.6667 to 1.0000 over the orders of ties, so their order decides"),
    ],
)
def test_how_far_a_threshold_depends_on_ties_is_said(text, status, caveat):
    verdict = on_scores(text, "a5 b5 c3", "b5 a5 c3", "a5 b4")
    assert (verdict.status, verdict.caveat) == (status, caveat)
    assert verdict.ties == pytest.approx(
        (1 / 3, 1.0) if "%" in text else (0.5, 1.0) if "every" in text else (2 / 3, 1.0)
    )
    decides = text not in ("mean RR >= 0.6",)
    assert verdict.reason.count(" over the orders of ties") == 1
    assert ("their order decides" in verdict.reason) == decides


@pytest.mark.parametrize(
    "after",
    ["b5 a4 c3", "a5/x b5/y c3/z", "a6 b5 c5"],
    ids=["no ties", "the request orders them", "ties that no judgment moves"],
)
def test_where_ties_move_nothing_nothing_is_said(after):
    verdict = on_scores("mean RR >= 0.1", after)
    assert verdict.ties is None
    assert "ties" not in verdict.reason


@pytest.fixture
def looked(monkeypatch):
    """The measures of which orders of ties are looked at, once for each query."""
    found = []
    monkeypatch.setattr(
        ties,
        "tie_range",
        lambda measure, *rest, **named: found.append(measure.text) or tie_range(measure, *rest, **named),
    )
    return found


def test_the_orders_of_ties_are_looked_at_once_a_query_and_measure(looked):
    texts = ["mean RR >= 0.1", "every RR >= 0.1", "60% RR >= 0.1", "mean P@1 >= 0.1"]
    after = [hits("a5 b5 c3"), hits("b5 a5 c3"), hits("a5 b4")]
    decided([hits("x1")] * 3, after, *texts, judgments={"a": 1})
    assert sorted(looked) == ["P@1", "P@1", "RR", "RR"]


@pytest.mark.parametrize("queries", [1, 3])
def test_ties_move_a_threshold_of_one_query_by_that_query_alone(queries):
    after = [hits("a5 b5 c3"), hits("b5 a5 c3"), hits("a5 b4")][:queries]
    of_all, *of_one = decided([hits("x1")] * queries, after, "mean P@1 >= 0.1", own="RR >= 0.1", judgments={"a": 1})
    assert [verdict.ties for verdict in of_one] == [(0.5, 1.0)]
    assert of_all.ties == pytest.approx((0.0, 1.0) if queries == 1 else (1 / 3, 1.0))


def test_the_measure_of_another_querys_threshold_is_not_computed(looked):
    after = [hits("a5 b5 c3"), hits("b5 a5 c3")]
    decided([hits("x1")] * 2, after, "mean P@1 >= 0.1", own="RR >= 0.1", judgments={"a": 1})
    assert sorted(looked) == ["P@1", "P@1", "RR"]


def test_no_order_is_looked_at_where_documents_of_one_grade_tie(monkeypatch):
    monkeypatch.setattr(ties, "tie_range", lambda *_, **__: pytest.fail("an order was looked at"))
    after = [hits("a9 b5 c5 d4"), hits("a9 b5 | c5"), hits("b5 c5 a3")]
    [verdict] = decided([hits("x1")] * 3, after, "mean RR >= 0.1", judgments={"a": 1})
    assert verdict.ties is None


def test_documents_below_the_ranking_that_tie_with_its_last_count():
    verdict = on_scores("mean RR >= 0.1", "c6 d5 e5 f5 | a5")
    assert verdict.ties == pytest.approx((0.0, 0.5))


def test_a_document_that_had_todays_score_of_the_last_hit_may_be_in_its_place():
    """The last hit has another score than in the baseline, where f had that score: f may tie with it below."""
    before = Ranking((Hit("c", 3.0), Hit("b", 2.0), Hit("f", 1.0)))
    after = Ranking((Hit("c", 3.0), Hit("b", 1.0)))
    query = Query("q", "q", judgments={"b": 1, "elsewhere": 1})
    suite = make_suite(query, depth=3)

    value = read_ties(suite, query, parse_measure("P@2"), before, after)

    assert (value.least, value.greatest) == (0.0, 0.5)
    whole = read_ties(suite, query, parse_measure("P@2"), before, replace(after, closed=True))
    assert (whole.least, whole.greatest) == (0.5, 0.5)
