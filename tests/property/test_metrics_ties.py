"""The tie band is that of all orders of documents with equal scores, looked at one by one."""

from itertools import chain, groupby, permutations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UndefinedScore
from harness.metrics import parse_measure, score_query
from harness.metrics.registry import DEFINITIONS, definition_of
from harness.metrics.ties import tie_band, tie_range
from harness.model.suite import Gain, GainKind, Profile

MEASURES = [
    parse_measure(text)
    for text in [
        "CG@2", "CG(missing=-1)@5", "DCG", "DCG@3", "nDCG", "nDCG@2", "nDCG(missing=-1)@6",
        "nDCG(ideal=all)@2", "nDCG(judged_only=true)@2", "P@1", "P@3", "P(rel=2)@2", "P(over=hits)@7", "P",
        "R@2", "F@2", "F(beta=2)@3", "F", "Rprec", "RR", "RR@2", "AP", "AP@3", "AP(rel=2)", "Success@1",
        "Success@3", "Judged@2", "NumRet@3", "NumRel", "NumRelRet@2", "RBP", "RBP@2", "RBP(max=4)@3",
        "RBPResidual@2", "RBPResidual", "RBPResidual(negative=skipped,tail=unjudged)@2",
        "ERR", "ERR@2", "Q", "Q@2", "Q(beta=0)", "Bpref", "Bpref(rel=2)",
        "IPrec@0.5", "IPrec(rel=2,rounding=nearest)@0.2", "SetP", "SetP(relative=true)", "SetR", "SetF(beta=2)",
        "SetAP", "NumQ", "NumRet", "Bpref(negative=skipped)", "infAP", "Compat(p=0.8)",
    ]
]  # fmt: skip
MAP = Gain(GainKind.MAP, ((-1, -2), (0, -0.5), (1, 1), (2, 0), (3, 4)))
TIED_SCORES = st.lists(st.sampled_from([3.0, 2.0, 1.0]), min_size=1, max_size=6).map(
    lambda scores: sorted(scores)[::-1]
)


def test_every_measure_of_one_ranking_is_covered():
    assert {measure.name for measure in MEASURES} == {
        definition.name for definition in DEFINITIONS if definition.formula
    }


def all_orders(ranking, scores):
    hits = list(zip(ranking, scores, strict=True))
    groups = [[document for document, _ in members] for _, members in groupby(hits, key=lambda hit: hit[1])]
    for order in product(*(permutations(members) for members in groups)):
        yield [document for members in order for document in members]


def scores_of_all_orders(measure, ranking, scores, grades, **options):
    return [score_query(measure, order, grades, **options) for order in all_orders(ranking, scores)]


@settings(max_examples=40, deadline=None)
@given(scores=TIED_SCORES, data=st.data(), gain=st.sampled_from([None, MAP]))
def test_band_is_that_of_all_orders(scores, data, gain):
    ranking = [f"d{number}" for number, _ in enumerate(scores)]
    judged = data.draw(st.lists(st.sampled_from([*ranking, "elsewhere"]), unique=True))
    grades = {document: data.draw(st.integers(-1, 3)) for document in judged}
    for measure in MEASURES:
        try:
            values = scores_of_all_orders(measure, ranking, scores, grades, gain=gain)
        except UndefinedScore:
            with pytest.raises(UndefinedScore):
                tie_band(measure, ranking, scores, grades, gain=gain)
            continue
        band = tie_band(measure, ranking, scores, grades, gain=gain)
        assert band.drawn == 0
        assert (band.least, band.greatest) == pytest.approx((min(values), max(values)), abs=1e-12), measure


@settings(max_examples=25, deadline=None)
@given(scores=TIED_SCORES, data=st.data(), profile=st.sampled_from(Profile))
def test_band_holds_under_every_profile(scores, data, profile):
    ranking = [f"d{number}" for number, _ in enumerate(scores)]
    grades = {document: data.draw(st.integers(-1, 3)) for document in ranking[::2]} | {"elsewhere": 2}
    for measure in MEASURES:
        values = scores_of_all_orders(measure, ranking, scores, grades, profile=profile)
        band = tie_band(measure, ranking, scores, grades, profile=profile)
        assert (band.least, band.greatest) == pytest.approx((min(values), max(values)), abs=1e-12), measure


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_band_brackets_sampled_orders_of_a_long_tie(measure):
    random = Random(7)
    ranking = [f"d{number}" for number in range(120)]
    scores = [float(1 - number // 40) for number in range(120)]
    grades = {document: random.choice([-1, 0, 0, 1, 2, 3]) for document in random.sample(ranking, 70)}
    band = tie_band(measure, ranking, scores, grades)
    orders = [
        [*random.sample(ranking[:40], 40), *random.sample(ranking[40:80], 40), *random.sample(ranking[80:], 40)]
        for _ in range(200)
    ]
    values = [score_query(measure, order, grades) for order in orders]
    if not band.drawn:
        assert band.least - 1e-12 <= min(values)
        assert max(values) <= band.greatest + 1e-12


def test_untied_scores_leave_no_band():
    band = tie_band(parse_measure("nDCG@2"), ["a", "b"], [2.0, 1.0], {"a": 1, "b": 3})
    assert band.tied == 0
    assert band.least == band.greatest


def test_a_tie_beyond_the_cutoff_reaches_into_it():
    band = tie_band(parse_measure("P@1"), ["a", "b", "c"], [1.0, 1.0, 1.0], {"c": 1})
    assert (band.least, band.greatest) == (0.0, 1.0)
    assert band.tied == 3


LONG = [f"d{number}" for number in range(2_000)]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_tie_of_thousands_has_a_band(measure, monkeypatch):
    """Nothing grows with the orders there are, of which 2,000 documents have more than any number holds."""
    monkeypatch.setattr("harness.metrics.ties.MOST_HITS", 20_000)
    for judged in (0, 3, 1_500):
        draw = Random(11)
        grades = {document: draw.choice([-1, 0, 1, 2, 3]) for document in draw.sample(LONG, judged)} | {"elsewhere": 2}
        band = tie_band(measure, LONG, [1.0] * len(LONG), grades)
        assert band.least <= band.greatest + 1e-12, judged
        # Without a worth of documents it is not known which order is best; without judgments all orders are alike.
        needs_sample = definition_of(measure).worth is None and judged > 0
        assert band.drawn == (10 if needs_sample else 0), judged


@pytest.mark.parametrize("text", ["Compat(p=0.8)", "IPrec@0.5", "IPrec(rel=2)@0.2"])
@pytest.mark.parametrize("seed", range(20))
def test_the_ends_of_a_sample_are_exact_where_it_is_known_which_order_is_best(text, seed, monkeypatch):
    draw = Random(seed)
    ranking = [f"d{number}" for number in range(7)]
    scores = sorted((draw.choice([1.0, 2.0]) for _ in ranking), reverse=True)
    grades = {document: draw.choice([-1, 0, 1, 1, 2, 3]) for document in [*draw.sample(ranking, 5), "elsewhere"]}
    grades["d0"] = 3
    values = scores_of_all_orders(parse_measure(text), ranking, scores, grades)
    monkeypatch.setattr("harness.metrics.ties.MOST_ORDERS", 3)
    band = tie_band(parse_measure(text), ranking, scores, grades)
    assert (band.least, band.greatest) == (pytest.approx(min(values)), pytest.approx(max(values)))
    assert band.drawn == 0


# ---------------------------------------------------------------------------------------- more than are returned


GROUPS = st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda sizes: sum(sizes) <= 6)


@settings(max_examples=40, deadline=None)
@given(sizes=GROUPS, data=st.data(), profile=st.sampled_from(Profile), gain=st.sampled_from([None, MAP]))
def test_the_range_is_that_of_all_orders_of_what_may_be_returned(sizes, data, profile, gain):
    names = iter(f"d{number}" for number in range(sum(sizes)))
    groups = [[next(names) for _ in range(size)] for size in sizes]
    depth = data.draw(st.integers(1, sum(sizes)))
    judged = data.draw(st.lists(st.sampled_from([*chain.from_iterable(groups), "elsewhere"]), unique=True))
    grades = {document: data.draw(st.integers(-1, 3)) for document in judged}
    orders = product(*(permutations(members) for members in groups))
    answers = {tuple(chain.from_iterable(order))[:depth] for order in orders}
    for measure in MEASURES:
        try:
            values = [score_query(measure, order, grades, gain=gain, profile=profile) for order in answers]
        except UndefinedScore:
            with pytest.raises(UndefinedScore):
                tie_range(measure, groups, grades, depth=depth, gain=gain, profile=profile)
            continue
        found = tie_range(measure, groups, grades, depth=depth, gain=gain, profile=profile)
        assert found.exact
        assert (found.least, found.greatest) == pytest.approx((min(values), max(values)), abs=1e-12), measure


def test_a_range_over_too_many_orders_says_that_it_is_a_sample():
    groups = [[f"d{number}" for number in range(40)]]
    grades = {f"d{number}": number % 4 for number in range(0, 40, 2)}
    assert not tie_range(parse_measure("infAP"), groups, grades, depth=20).exact
    assert tie_range(parse_measure("nDCG@10"), groups, grades, depth=20).exact
