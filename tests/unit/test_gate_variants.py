"""Thresholds on variants: what they compare, what they refuse to decide, and what they say."""

from dataclasses import replace

import pytest

from builders.gating import TODAY, threshold
from builders.suites import make_suite
from harness.errors import GrammarError, UndefinedScore
from harness.gate.decide import decide
from harness.gate.grammar import check_reach, parse_threshold
from harness.metrics import Definition, Needs, register_measure, registry
from harness.metrics.registry import DEFINITIONS, Registry
from harness.metrics.run_scores import score_run
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Repeat, Run, Status
from harness.model.suite import Gain, HttpRequest, Query, RequestTemplate, StatisticKind, Variant, Waiver


def ranking(documents, **fields):
    hits = tuple(Hit(document, score=10.0 - place) for place, document in enumerate(documents))
    return Ranking(hits, **fields)


def query_of(name, *texts, **fields):
    variants = tuple(Variant(f"{name}~{number}", text) for number, text in enumerate(texts, start=1))
    return Query(name, name, variants=variants, **fields)


SHOES = query_of("shoes", "shoos", "SHOES", judgments={"a": 1, "b": 1})
BOOTS = query_of("boots", "bootss", judgments={"a": 1})
ALIKE = {"shoes": "ab", "boots": "ab", "shoes~1": "ab", "shoes~2": "ab", "boots~1": "ab"}


def decide_one(text, rankings, *queries, of_query=False, **fields):
    """The verdict of one threshold over rankings of queries and variants, whose ids have a tilde."""
    responses, variants = {}, {}
    for name, found in rankings.items():
        response = ranking(found) if isinstance(found, str) else found
        (variants if "~" in name else responses)[name] = response
    run = Run(responses, Engine("fake"), "current", variants=variants, repeats=fields.pop("repeats", ()))
    suite = make_suite(*(queries or (SHOES, BOOTS)), thresholds=[text], depth=fields.pop("depth", 2), **fields)
    repeated = [score_run(suite, run)] * len(run.repeats)
    [verdict] = decide(suite, run, score_run(suite, run), today=TODAY, repeated=repeated)
    return verdict


# ------------------------------------------------------------------------------------------------ the grammar


@pytest.mark.parametrize(
    ("text", "statistic", "tag"),
    [
        ("mean RBO of variants >= 0.8", StatisticKind.MEAN, None),
        ("every overlap@5 of variants >= 0.6 for head", StatisticKind.EVERY, "head"),
        ("95% RBO(p=0.8)@5 of  variants > 0.6", StatisticKind.SHARE, None),
        ("loss nDCG@10 of variants <= 0.1", StatisticKind.MEAN, None),
        ("loss every nDCG@10 of variants <= 0.1 for head", StatisticKind.EVERY, "head"),
        ("loss nDCG(gain=linear, log=e)@10 of variants <= 0.1", StatisticKind.MEAN, None),
    ],
)
def test_a_threshold_on_variants_is_read(text, statistic, tag):
    condition, found_tag = parse_threshold(text, of_query=False)
    assert (condition.statistic, found_tag) == (statistic, tag)


@pytest.mark.parametrize(
    ("text", "of_query", "message", "offset"),
    [
        ("mean RBO of variant >= 0.8", False, "found 'of', expected 'of variants'", 9),
        ("mean nDCG@10 of variants >= 0.8", False, "found 'of', which only RBO and overlap take, not a score", 13),
        ("loss nDCG@10 <= 0.1", False, "found '<=', expected 'of variants' or 'against request NAME'", 13),
        ("loss nDCG@10 of variants >= 0.1", False, "found '>=', but a loss takes only '<='", 25),
        ("loss nDCG@10 of variants <= -0.1", False, "found -0.1, expected an allowed loss of at least 0", 28),
        ("loss nDCG@10 of variants <= 5%", False, "not per cent; expected 0.05", 29),
        ("loss every nDCG@10 of variants <= 0.1", True, "a query's own threshold has no statistic", 5),
        ("mean RBO of variants >= 0.8", True, "a query's own threshold has no statistic", 0),
        ("RBO of variants >= 0.8 for head", True, "a query's own threshold has no tag", 23),
    ],
)
def test_a_wrong_threshold_on_variants_is_refused_at_its_place(text, of_query, message, offset):
    with pytest.raises(GrammarError) as caught:
        parse_threshold(text, of_query=of_query)
    assert message in str(caught.value)
    assert caught.value.offset == offset


def test_what_no_agreement_and_no_loss_reaches_is_refused():
    assert "RBO of variants is 0 to 1" in check_reach(threshold("mean RBO of variants >= 1.2").condition, Gain())
    assert "nDCG@10 is 0 to 1" in check_reach(threshold("loss nDCG@10 of variants <= 2").condition, Gain())


# ------------------------------------------------------------------------------------------------ the figures


@pytest.mark.parametrize(
    ("text", "observed", "status"),
    [
        ("mean overlap@2 of variants >= 0.9", 0.875, Status.FAILED),
        ("mean overlap@2 of variants >= 0.8", 0.875, Status.PASSED),
        ("median overlap@2 of variants >= 0.8", 0.875, Status.PASSED),
        ("every overlap@2 of variants >= 0.6", 0.5, Status.FAILED),
        ("every overlap@2 of variants >= 0.5", 0.5, Status.PASSED),
        ("50% overlap@2 of variants >= 0.6", 0.5, Status.PASSED),
        ("60% overlap@2 of variants >= 0.6", 0.5, Status.FAILED),
        ("loss P@2 of variants <= 0.1", 0.125, Status.FAILED),
        ("loss every P@2 of variants <= 0.5", 0.5, Status.PASSED),
        ("loss every P@2 of variants <= 0.4", 0.5, Status.FAILED),
    ],
)
def test_the_figure_of_a_query_is_the_mean_of_its_variants_or_its_worst(text, observed, status):
    # One of two variants of shoes finds one of its two documents, and the other finds both.
    verdict = decide_one(text, {**ALIKE, "shoes~1": "ac"})
    assert (verdict.observed, verdict.status) == (pytest.approx(observed), status)


def test_a_failure_blames_the_query_and_names_the_variants():
    verdict = decide_one("every overlap@2 of variants >= 0.6", {**ALIKE, "shoes~1": "ac"})
    assert verdict.blamed == ("shoes",)
    assert verdict.measure == "overlap@2 of variants"
    assert verdict.reason == (
        "overlap@2 of variants is >= 0.6 for 1 of 2 queries, required for every one; worst: shoes 0.5000; "
        "3 variants, worst: shoes~1 'shoos' 0.5000"
    )


def test_a_query_has_a_threshold_of_its_own_on_its_worst_variant():
    shoes = query_of("shoes", "shoos", "SHOES", thresholds=(threshold("overlap@2 of variants >= 0.6", of_query=True),))
    run = Run(
        {"shoes": ranking("ab")},
        Engine("fake"),
        "current",
        variants={"shoes~1": ranking("ab"), "shoes~2": ranking("ac")},
    )
    [verdict] = decide(make_suite(shoes, depth=2), run, (), today=TODAY)
    assert (verdict.status, verdict.observed, verdict.query) == (Status.FAILED, 0.5, "shoes")


def test_a_threshold_for_a_tag_and_weights_count_as_for_scores():
    head = query_of("head", "x", tags=("head",), weight=3.0)
    tail = query_of("tail", "y", weight=1.0)
    rankings = {"head": "ab", "head~1": "ab", "tail": "ab", "tail~1": "cd"}
    assert decide_one("mean RBO of variants >= 0.9 for head", rankings, head, tail).status is Status.PASSED
    verdict = decide_one("mean RBO of variants >= 0.7", rankings, head, tail)
    assert verdict.observed == pytest.approx(0.75)
    assert verdict.reason.startswith("weighted mean RBO of variants is 0.7500")


def test_a_variant_that_finds_more_makes_up_for_one_that_loses_in_the_mean_only():
    rankings = {**ALIKE, "shoes": "ac", "shoes~1": "ab", "shoes~2": "cd"}
    assert decide_one("loss P@2 of variants <= 0", rankings).observed == pytest.approx(0.0)
    assert decide_one("loss every P@2 of variants <= 0", rankings).observed == pytest.approx(0.5)


def test_the_order_of_tied_documents_is_that_of_the_query():
    tied = Ranking((Hit("b", score=1.0), Hit("a", score=1.0)), closed=True)
    also = Ranking((Hit("a", score=1.0), Hit("b", score=1.0)), closed=True)
    verdict = decide_one("mean RBO of variants >= 1", {"boots": also, "boots~1": tied}, BOOTS)
    assert verdict.status is Status.PASSED


# ------------------------------------------------------------------------------------------------ ties


def tied(*groups):
    """Groups of documents, a letter each, whose scores are equal."""
    hits = [Hit(document, score=9.0 - place) for place, group in enumerate(groups) for document in group]
    return Ranking(tuple(hits), closed=True)


RELEVANT = query_of("boots", "bootss", judgments={"r": 1})


@pytest.mark.parametrize(
    "text", ["loss RR@10 of variants <= 0", "loss every nDCG@3 of variants <= 0", "every RBO of variants >= 1"]
)
def test_the_same_ties_in_another_order_are_no_loss(text):
    verdict = decide_one(text, {"boots": tied("rxy"), "boots~1": tied("xyr")}, RELEVANT, depth=3)
    assert (verdict.status, verdict.observed, verdict.ties) == (Status.PASSED, 0.0 if "loss" in text else 1.0, None)


@pytest.mark.parametrize(
    ("text", "status", "ties"),
    [
        ("loss RR@10 of variants <= 0.1", Status.INCONCLUSIVE, None),
        ("loss RR@10 of variants <= 0.7", Status.PASSED, (0.0, 2 / 3)),
        ("loss every RR@10 of variants <= 0.3", Status.INCONCLUSIVE, None),
        ("mean overlap@1 of variants >= 0.5", Status.INCONCLUSIVE, None),
        ("mean overlap@3 of variants >= 1", Status.PASSED, None),
        ("every RBO of variants >= 0.99", Status.INCONCLUSIVE, None),
        ("50% RBO of variants >= 0.99", Status.INCONCLUSIVE, None),
        ("mean RBO(p=0.5) of variants >= 0.1", Status.PASSED, (0.375, 1.0)),
    ],
)
@pytest.mark.parametrize("order", ["rxy", "xyr", "yrx"])
def test_other_ties_of_a_variant_are_a_range_whatever_their_order(text, status, ties, order):
    verdict = decide_one(text, {"boots": tied(*"rxy"), "boots~1": tied(order)}, RELEVANT, depth=3)
    assert (verdict.status, verdict.ties) == (status, ties and pytest.approx(ties))
    assert ("ties" in verdict.reason) is (status is Status.INCONCLUSIVE or ties is not None)


def test_ties_of_the_query_are_a_range_too():
    rankings = {"boots": tied("rxy"), "boots~1": tied(*"xry")}
    verdict = decide_one("loss RR@10 of variants <= 0.1", rankings, RELEVANT, depth=3)
    assert (verdict.status, verdict.blamed) == (Status.INCONCLUSIVE, ("boots",))
    assert "-0.1667" in verdict.reason
    assert "0.5000" in verdict.reason
    assert "break ties in the request" in verdict.reason


def test_a_loss_that_no_order_of_ties_makes_good_fails():
    rankings = {"boots": tied(*"rab"), "boots~1": tied(*"ab", "rcd")}
    verdict = decide_one("loss RR@10 of variants <= 0.5", rankings, RELEVANT, depth=5)
    assert (verdict.status, verdict.ties) == (Status.FAILED, pytest.approx((2 / 3, 0.8)))


def test_a_group_of_ties_that_the_cutoff_cuts_may_have_any_of_its_documents_within():
    rankings = {"boots": tied(*"rab"), "boots~1": tied("a", "xyr")}
    assert decide_one("mean overlap@2 of variants >= 1", rankings, RELEVANT, depth=4).status is Status.INCONCLUSIVE
    assert decide_one("mean overlap@2 of variants >= 0.5", rankings, RELEVANT, depth=4).status is Status.PASSED


def test_documents_that_may_tie_below_the_last_hit_are_counted_in():
    """All documents match alike, and of each ranking only three are returned."""
    one, other = (replace(tied(order), closed=False) for order in ("rxy", "xyz"))
    verdict = decide_one("loss RR@10 of variants <= 0.5", {"boots": one, "boots~1": other}, RELEVANT, depth=3)
    assert verdict.status is Status.INCONCLUSIVE


# ------------------------------------------------------------------------------------------------ what cannot pass


@pytest.mark.parametrize("of_query", ["ab", ""])
def test_a_variant_without_hits_agrees_with_nothing_and_is_named(of_query):
    verdict = decide_one("mean RBO of variants >= 0.5", {"boots": of_query, "boots~1": ""}, BOOTS)
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.0)
    without_hits = "boots~1 'bootss'" if of_query else "boots, boots~1 'bootss'"
    assert verdict.reason.endswith(f"1 variant, worst: boots~1 'bootss' 0.0000; zero hits: {without_hits}")


@pytest.mark.parametrize("text", ["mean RBO of variants >= 0", "loss P@2 of variants <= 1"])
@pytest.mark.parametrize("lost", ["boots", "boots~1"])
def test_without_a_ranking_nothing_is_decided(text, lost):
    gone = Failure(FailureKind.TIMEOUT, "too slow")
    verdict = decide_one(text, {"boots": "ab", "boots~1": "ab", lost: gone}, BOOTS)
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("boots",))
    noun = "variant" if "~" in lost else "query"
    assert verdict.reason.endswith(f"cannot be decided: no ranking for 1 {noun}: {lost} (timeout: too slow)")


def test_a_variant_that_was_not_sent_is_an_error():
    verdict = decide_one("mean RBO of variants >= 0", {"boots": "ab"}, BOOTS)
    assert verdict.status is Status.ERROR
    assert "boots~1 (did not run)" in verdict.reason


def test_without_any_variant_in_scope_a_threshold_fails():
    skipped = query_of("boots", "bootss", skip=Waiver("winter"))
    verdict = decide_one("mean RBO of variants >= 0", {"boots": "ab", "boots~1": "ab"}, skipped)
    assert (verdict.status, verdict.observed) == (Status.FAILED, None)
    assert "no query in its scope has a variant that was sent" in verdict.reason


def test_a_variant_that_is_a_skipped_query_is_left_out():
    shoes = Query("shoes", "shoes", variants=(Variant("schuhe", "Schuhe", "same as"), Variant("shoes~1", "shoos")))
    schuhe = Query("schuhe", "Schuhe", skip=Waiver("not translated yet"))
    verdict = decide_one("mean RBO of variants >= 1", {"shoes": "ab", "shoes~1": "ab"}, shoes, schuhe)
    assert verdict.status is Status.PASSED
    assert "1 variant" in verdict.reason


@pytest.mark.parametrize(("of_query", "of_variant"), [("ab", "abcde"), ("abcde", "ab")])
def test_a_short_ranking_is_inconclusive_where_more_documents_may_match(of_query, of_variant):
    http = HttpRequest("GET", "/search", "$.ids[*]", total="$.total")
    requests = {"current": RequestTemplate("current", None, http=http)}
    run = Run(
        {"boots": ranking(of_query, total=9)},
        Engine("http"),
        "current",
        variants={"boots~1": ranking(of_variant, total=9)},
    )
    for text, status in (
        ("mean RBO of variants >= 0.1", Status.INCONCLUSIVE),
        ("mean RBO@5 of variants >= 0.1", Status.INCONCLUSIVE),
        ("mean RBO@2 of variants >= 0.1", Status.PASSED),
    ):
        suite = replace(make_suite(BOOTS, thresholds=[text], depth=5), requests=requests)
        [verdict] = decide(suite, run, (), today=TODAY)
        assert verdict.status is status, text
        assert verdict.blamed == (("boots",) if status is Status.INCONCLUSIVE else ())


def test_an_agreement_compares_ranks_down_to_its_cutoff():
    rankings = {"boots": "ab", "boots~1": "ac"}
    assert decide_one("mean overlap@1 of variants >= 1", rankings, BOOTS).observed == 1
    assert decide_one("mean overlap of variants >= 0", rankings, BOOTS).observed == 0.5


def test_skipped_queries_are_counted_as_left_out():
    skipped = query_of("boots", "bootss", skip=Waiver("winter"))
    verdict = decide_one("mean RBO of variants >= 0.9", ALIKE, SHOES, skipped)
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)


@pytest.mark.parametrize("text", ["every RBO of variants >= 0.9", "loss every P@2 of variants <= 0"])
def test_a_threshold_on_each_query_excuses_those_that_are_expected_to_fail(text):
    boots = query_of("boots", "bootss", judgments={"a": 1}, xfail=Waiver("no synonyms yet"))
    verdict = decide_one(text, {**ALIKE, "boots~1": "cd"}, SHOES, boots)
    assert verdict.status is Status.XFAILED
    mean = text.replace("loss every", "loss").replace("every", "mean")
    assert decide_one(mean, {**ALIKE, "boots~1": "cd"}, SHOES, boots).status is Status.FAILED


def test_a_score_that_is_undefined_is_no_loss():
    unjudged = query_of("boots", "bootss")
    rankings = {**ALIKE}
    failed = decide_one("loss nDCG@2 of variants <= 0.1", rankings, SHOES, unjudged)
    assert (failed.status, failed.blamed) == (Status.FAILED, ("boots",))
    skipped = decide_one("loss nDCG@2 of variants <= 0.1", rankings, SHOES, unjudged, skip_undefined=True)
    assert (skipped.status, skipped.counted, skipped.left_out) == (Status.PASSED, 1, 1)


def test_each_repeat_is_judged_with_its_own_variants():
    repeat = Repeat({"boots": ranking("ab")}, variants={"boots~1": ranking("cd")})
    verdict = decide_one("mean RBO of variants >= 0.9", {"boots": "ab", "boots~1": "ab"}, BOOTS, repeats=(repeat,))
    assert verdict.status is Status.INCONCLUSIVE


def test_a_variant_without_a_score_is_no_loss(monkeypatch):
    def top_is_judged(ranking, _):
        if ranking.grades[0] is None:
            raise UndefinedScore("the first hit is not judged")
        return 1.0

    monkeypatch.setattr(registry, "_REGISTRY", Registry(DEFINITIONS))
    register_measure(Definition("TopIsJudged", top_is_judged, needs=Needs.NOTHING))
    verdict = decide_one("loss TopIsJudged@2 of variants <= 1", {"boots": "ab", "boots~1": "xa"}, BOOTS)
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("boots",))
    assert "no score for 1 of 1 query: boots (a variant has no TopIsJudged@2)" in verdict.reason


@pytest.mark.parametrize("score", [1.0, 2.0], ids=["same score", "other score"])
@pytest.mark.parametrize(
    "text",
    ["loss nDCG@2 of variants <= 0.1", "every overlap@2 of variants >= 0.9", "mean RBO(p=0.8) of variants >= 0.9"],
)
def test_what_may_tie_below_the_last_hit_decides_nothing_whatever_the_score_of_each_text(text, score):
    """A constant for each word: all that one text finds has one score, and all that the other finds has another."""
    query = query_of("shoes", "red shoes", judgments={"a": 1})
    found = {
        "shoes": Ranking((Hit("a", score=1.0), Hit("b", score=1.0)), total=50),
        "shoes~1": Ranking((Hit("x", score=score), Hit("y", score=score)), total=50),
    }
    assert decide_one(text, found, query).status is Status.INCONCLUSIVE
    # All that matches is known, so that nothing else can tie.
    closed = {name: replace(ranking, closed=True, total=2) for name, ranking in found.items()}
    assert decide_one(text, closed, query).status is Status.FAILED
