"""Means whose queries weigh more or less: worked by hand, and what counts queries counts them alike."""

import pytest

pytest.importorskip("numpy")

import itertools
from datetime import date
from fractions import Fraction

from builders.gating import scores_of
from harness.gate.decide import decide
from harness.gate.grammar import parse_threshold
from harness.model.kept import Reference
from harness.model.run import Engine, Ranking, Run, Status
from harness.model.scores import Outcome
from harness.model.suite import Query, Suite, Target, Threshold
from harness.statistics.power import detectable_by_sign_flip

TODAY = date(2026, 6, 1)


def verdict_on(text, weights, after, before=None, *, tags=None, own=False, **fields):
    """One threshold on queries of these weights; *after* and *before* are values of its measure by query."""
    condition, tag = parse_threshold(text, of_query=own)
    gated = Threshold(text, condition, tag)
    queries = tuple(
        Query(name, name, weight=weight, tags=(tags or {}).get(name, ()), thresholds=(gated,) if own else ())
        for name, weight in weights.items()
    )
    suite = Suite("s", "s", Target(), {}, (), queries, () if own else (gated,), **fields)
    run = Run({name: Ranking() for name in weights}, Engine("fake"))
    reference = Reference(run, scores_of(before or {}, condition.measure.text), depth=10)
    scores = scores_of(after, condition.measure.text)
    return decide(suite, run, scores, today=TODAY, reference=reference)[0]


HEAVY = {"a": 8.0, "b": 1.0, "c": 1.0}
SCORES = {"a": 0.5, "b": 1.0, "c": 0.0}
"""Weighted (8 * 0.5 + 1 * 1 + 1 * 0) / 10 = 0.5 as without weights; with the first two swapped 0.85."""


# ------------------------------------------------------------------------------------------------ a mean


def test_a_mean_is_weighted_and_says_so():
    verdict = verdict_on("mean P@10 >= 0.8", HEAVY, {"a": 1.0, "b": 0.5, "c": 0.0})
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.85)
    assert verdict.reason == "weighted mean P@10 is 0.8500, required >= 0.8, over 3 queries"


def test_a_mean_that_is_missed_blames_what_costs_it_most():
    """`a` lacks 0.3 at weight 8, `c` lacks 0.8 at weight 1."""
    verdict = verdict_on("mean P@10 >= 0.8", HEAVY, SCORES)
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.5)
    assert verdict.blamed == ("a", "c")
    assert verdict.reason == (
        "weighted mean P@10 is 0.5000, required >= 0.8, over 3 queries; "
        "cost most: a 0.5000 (weight 8), c 0.0000 (weight 1)"
    )


@pytest.mark.parametrize(("operator", "blamed"), [("<=", ("a", "b")), ("<", ("a", "b")), ("=", ("a", "b", "c"))])
def test_what_costs_a_mean_is_a_distance_whichever_way_it_is_held(operator, blamed):
    verdict = verdict_on(f"mean P@10 {operator} 0.2", HEAVY, {"a": 0.4, "b": 1.0, "c": 0.1})
    assert (verdict.status, verdict.blamed) == (Status.FAILED, blamed)


def test_equal_weights_are_no_weights():
    same = verdict_on("mean P@10 >= 0.8", dict.fromkeys(HEAVY, 7.0), SCORES)
    assert same == verdict_on("mean P@10 >= 0.8", dict.fromkeys(HEAVY, 1.0), SCORES)
    assert "weight" not in same.reason
    assert same.blamed == ("c", "a")


def test_a_tag_has_a_mean_of_its_own_weights():
    tags = {"a": ("head",), "b": ("head",)}
    weights = {"a": 3.0, "b": 1.0, "c": 96.0}
    verdict = verdict_on("mean P@10 >= 0.8 for head", weights, {"a": 0.9, "b": 0.5, "c": 0.0}, tags=tags)
    assert (verdict.status, verdict.counted) == (Status.PASSED, 2)
    assert verdict.observed == pytest.approx(0.8, abs=1e-15)


def test_a_query_that_is_left_out_takes_its_weight_with_it():
    verdict = verdict_on("mean P@10 >= 0.2", HEAVY, {**SCORES, "a": Outcome.UNDEFINED}, skip_undefined=True)
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.5)
    assert verdict.reason.startswith("mean P@10 is 0.5000")


def test_weights_of_any_size_do():
    for scale in (5e-324, 1e-300, 1e300, 2e307):
        weights = {name: weight * scale for name, weight in HEAVY.items()}
        assert verdict_on("mean P@10 >= 0.8", weights, {"a": 1.0, "b": 0.5, "c": 0.0}).observed == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("text", "observed"),
    [("median P@10 >= 0", 0.5), ("every P@10 >= 0", 0.0), ("66% P@10 >= 0.5", 2 / 3), ("67% P@10 >= 0.5", 2 / 3)],
)
def test_what_counts_queries_counts_them_alike(text, observed):
    verdict = verdict_on(text, HEAVY, SCORES)
    assert (verdict.observed, "weight" in verdict.reason) == (observed, False)


def test_the_worst_of_every_query_come_by_their_score():
    assert verdict_on("every P@10 >= 0.8", HEAVY, SCORES).blamed == ("c", "a")


# ------------------------------------------------------------------------------------------------ a drop


BEFORE = {"a": 0.9, "b": 0.5, "c": 0.5}
AFTER = {"a": 0.8, "b": 0.1, "c": 0.5}
"""Weighted means 0.82 and 0.70: `a` takes 8 * 0.1, `b` 1 * 0.4."""


def test_the_drop_of_a_weighted_mean():
    verdict = verdict_on("drop P@10 <= 0.1", HEAVY, AFTER, BEFORE)
    assert verdict.status is Status.FAILED
    assert verdict.observed == pytest.approx(0.12, abs=1e-15)
    assert verdict.blamed == ("a", "b")
    assert verdict.reason == (
        "weighted mean P@10 fell by 0.1200 from 0.8200 to 0.7000, allowed 0.1, over 3 queries; "
        "cost most: a 0.9000 -> 0.8000 (weight 8), b 0.5000 -> 0.1000 (weight 1)"
    )


def test_a_relative_drop_is_of_the_weighted_mean():
    assert verdict_on("drop P@10 <= 15%", HEAVY, AFTER, BEFORE).observed == pytest.approx(0.12 / 0.82)
    assert verdict_on("drop P@10 <= 14%", HEAVY, AFTER, BEFORE).status is Status.FAILED


@pytest.mark.parametrize("text", ["drop every P@10 <= 0.3", "worse P@10 by 0.05 <= 1 queries"])
def test_drops_of_single_queries_count_them_alike(text):
    verdict = verdict_on(text, HEAVY, AFTER, BEFORE)
    assert verdict.status is Status.FAILED
    assert verdict.blamed[0] == "b"
    assert "weight" not in verdict.reason


def test_a_query_s_own_drop_knows_no_weight():
    verdict = verdict_on("drop P@10 <= 0.05", HEAVY, AFTER, BEFORE, own=True)
    assert verdict.reason.startswith("P@10 fell by 0.1000 from 0.9000 to 0.8000, allowed 0.05")
    assert "weight" not in verdict.reason


# ------------------------------------------------------------------------------------------------ chance


NINE = {f"q{number}": weight for number, weight in enumerate((1.0, 2.0, 2.5, 40.0, 3.0, 7.0, 1.5, 12.0, 5.0))}
DROPS = dict(zip(NINE, (0.11, -0.07, 0.13, 0.29, -0.17, 0.19, 0.23, 0.31, 0.05), strict=True))


def p_by_enumeration(weights, drops):
    """The share of all sign patterns under which the weighted mean falls as far, in exact arithmetic."""
    taken = [Fraction(weights[query]) * Fraction(drops[query]) for query in drops]
    swapped = (
        sum(sign * part for sign, part in zip(signs, taken, strict=True))
        for signs in itertools.product((1, -1), repeat=len(taken))
    )
    return sum(fall >= sum(taken) for fall in swapped) / 2 ** len(taken)


def significance(drops, weights, level="5%"):
    before = dict.fromkeys(drops, 0.5)
    after = {query: 0.5 - drop for query, drop in drops.items()}
    return verdict_on(f"drop P@10 is not significant at {level}", weights, after, before)


def test_the_test_of_a_weighted_mean_counts_every_swap():
    verdict = significance(DROPS, NINE)
    assert verdict.observed == pytest.approx(p_by_enumeration(NINE, DROPS), abs=1e-12)
    assert verdict.observed != pytest.approx(p_by_enumeration(dict.fromkeys(NINE, 1.0), DROPS), abs=1e-3)
    assert verdict.reason.startswith("the drop of weighted mean P@10, from 0.5000 to ")


def test_a_weighted_mean_raises_false_alarms_no_oftener_than_its_level():
    """Where chance alone gave each difference its sign: every pattern of signs, and how many of them are alarms."""
    seven = dict(itertools.islice(NINE.items(), 7))
    sizes = {query: abs(DROPS[query]) for query in seven}
    verdicts = [
        significance({query: sign * sizes[query] for sign, query in zip(signs, sizes, strict=True)}, seven)
        for signs in itertools.product((1, -1), repeat=len(sizes))
    ]
    assert sum(verdict.status is Status.FAILED for verdict in verdicts) == int(0.05 * 2 ** len(sizes))
    for level in (0.01, 0.05, 0.1, 0.25):
        assert sum(verdict.observed <= level for verdict in verdicts) == int(level * 2 ** len(sizes))


def test_what_costs_most_is_blamed_and_the_detectable_drop_is_of_the_weighted_mean():
    failed = significance(dict.fromkeys(NINE, 0.2), NINE)
    assert failed.blamed[:3] == ("q3", "q7", "q5")
    assert "; cost most: q3 0.5000 -> 0.3000 (weight 40), " in failed.reason
    passed = significance({**DROPS, "q3": -0.02}, NINE)
    differences = [-drop for drop in {**DROPS, "q3": -0.02}.values()]
    smallest = detectable_by_sign_flip(differences, weights=list(NINE.values()), alternative="less").difference
    assert passed.status is Status.PASSED
    assert smallest != pytest.approx(detectable_by_sign_flip(differences, alternative="less").difference, rel=0.05)
    assert passed.caveat == f"smallest detectable drop {smallest + 0.005:.2f} (80 % power on average)"
