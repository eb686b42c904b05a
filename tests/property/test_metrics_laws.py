"""What must hold of every measure, whatever the judgments and the ranking."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from harness.errors import UndefinedScore
from harness.metrics import measure_range, parse_measure, score_query, unjudged_bounds
from harness.metrics.rank_correlation import kendall_tau, overlap, rbo
from harness.metrics.registry import DEFINITIONS
from harness.model.suite import Gain, GainKind, Profile

DOCUMENTS = [f"d{number}" for number in range(14)]
RANKINGS = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=12)
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), max_size=12)
GAINS = st.sampled_from([
    Gain(GainKind.LINEAR),
    Gain(GainKind.EXPONENTIAL),
    Gain(GainKind.MAP, ((-1, -3), (0, -0.5), (1, 1), (2, 1.5), (3, 0), (4, 6))),
])  # fmt: skip

ALL = [
    parse_measure(text)
    for text in [
        "CG", "CG@3", "CG(missing=-1)@4", "DCG", "DCG@3", "DCG(discount=jarvelin)@5", "nDCG", "nDCG@3",
        "nDCG(missing=-2)@5", "nDCG(log=10)@2", "P", "P@3", "P(rel=2)@4", "R", "R@3", "F", "F@3",
        "F(beta=0.5)@3", "RR", "RR@2", "AP", "AP@3", "Rprec", "Success", "Success@2", "Judged", "Judged@4",
        "NumRet", "NumRet@3", "NumRel", "NumRelRet", "NumRelRet@3", "ERR", "ERR@3", "RBP", "RBP@3",
        "RBP(max=4)@3", "RBPResidual", "RBPResidual@3", "Q", "Q@3", "Bpref", "infAP", "Compat", "IPrec@0",
        "IPrec@0.5", "SetP", "SetP(relative=true)", "SetR", "SetF(beta=3)", "SetAP", "NumQ",
    ]
]  # fmt: skip
DEPEND_ON_LENGTH = {"P", "F", "SetP", "SetF", "SetAP", "Judged", "NumRet", "RBPResidual", "Compat"}
"""Without a cutoff these change with the number of hits; with one, they may where the ranking is shorter."""


def test_every_measure_of_one_ranking_is_covered():
    assert {measure.name for measure in ALL} == {definition.name for definition in DEFINITIONS if definition.formula}


def score(measure, ranking, grades, gain=None, profile=Profile.STANDARD):
    """None where undefined."""
    try:
        return score_query(measure, ranking, grades, gain=gain, profile=profile)
    except UndefinedScore:
        return None


@settings(deadline=None)
@given(ranking=RANKINGS, grades=GRADES, gain=GAINS, profile=st.sampled_from(Profile))
@example(ranking=[], grades={"a": 1.0}, gain=Gain(), profile=Profile.RRE)
def test_every_value_lies_in_the_range_of_its_measure(ranking, grades, gain, profile):
    for measure in ALL:
        value = score(measure, ranking, grades, gain, profile)
        least, greatest = measure_range(measure, gain, profile)
        if value is not None:
            assert least is None or value >= least - 1e-12, measure
            assert greatest is None or value <= greatest + 1e-12, measure


@settings(deadline=None)
@given(grades=GRADES, gain=GAINS, extra=RANKINGS)
def test_the_ideal_order_is_1(grades, gain, extra):
    worth = dict(gain.table).get
    positive = [each for each, grade in grades.items() if (worth(grade) if gain.table else grade) > 0]
    assume(positive)
    value_of = (lambda each: worth(grades[each])) if gain.table else grades.__getitem__
    ideal = sorted(positive, key=value_of, reverse=True)
    unjudged = [each for each in extra if each not in grades]
    for text in ("nDCG", "nDCG@1", "nDCG@3", "nDCG@20", "nDCG(discount=jarvelin)@4", "Q", "Q@2"):
        assert score_query(parse_measure(text), ideal + unjudged, grades, gain=gain) == pytest.approx(1, abs=1e-12), (
            text
        )


@settings(deadline=None)
@given(grades=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 4), min_size=1))
def test_all_relevant_documents_first_is_1(grades):
    ranking = sorted(grades, key=grades.__getitem__, reverse=True)
    for text in ("AP", "Rprec", "RR", "R", "Success@1", "Bpref", "F", "P", "Compat", "Judged"):
        assert score_query(parse_measure(text), ranking, grades) == pytest.approx(1, abs=1e-12), text
    assert score_query(parse_measure("infAP"), ranking, grades) == pytest.approx(1, abs=1e-5)  # it smooths


@settings(deadline=None)
@given(ranking=RANKINGS, grades=GRADES, gain=GAINS, data=st.data())
def test_moving_a_better_document_up_never_lowers_a_score(ranking, grades, gain, data):
    assume(len(ranking) > 1)
    at = data.draw(st.integers(0, len(ranking) - 2))
    upper, lower = ranking[at], ranking[at + 1]
    table = dict(gain.table)
    worth = {
        each: (table[grades[each]] if table else max(0, grades[each])) if each in grades else 0
        for each in (upper, lower)
    }
    swapped = [*ranking[:at], lower, upper, *ranking[at + 2 :]]
    if worth[lower] >= worth[upper]:
        for text in ("DCG", "DCG@3", "nDCG", "nDCG@3", "nDCG(missing=-1)@4"):
            measure = parse_measure(text)
            before, after = score(measure, ranking, grades, gain), score(measure, swapped, grades, gain)
            assert (before is None) == (after is None)
            assert before is None or after >= before - 1e-12, text
    if grades.get(lower, 0) >= grades.get(upper, 0):
        for text in ("AP", "AP@3", "RR", "ERR", "ERR@3", "RBP", "RBP(max=4)", "P@3", "Rprec"):
            before, after = score(parse_measure(text), ranking, grades), score(parse_measure(text), swapped, grades)
            assert before is None or after >= before - 1e-12, text


@settings(deadline=None)
@given(
    ranking=RANKINGS,
    grades=GRADES,
    more=st.lists(st.from_regex(r"new[0-9]{3}", fullmatch=True), unique=True, max_size=4),
)
def test_unjudged_documents_at_the_end_change_only_what_counts_hits(ranking, grades, more):
    for measure in ALL:
        if measure.name in DEPEND_ON_LENGTH or dict(measure.parameters).get("missing"):
            continue
        assert score(measure, [*ranking, *more], grades) == score(measure, ranking, grades), measure


@settings(deadline=None)
@given(ranking=RANKINGS, grades=GRADES)
def test_unjudged_documents_within_the_cutoff_lower_only_judged(ranking, grades):
    longer = [*ranking, "new1", "new2"]
    for text in ("P@14", "F@14", "nDCG@14"):
        assert score(parse_measure(text), longer, grades) == score(parse_measure(text), ranking, grades)
    assert score(parse_measure("Judged@14"), longer, grades) < 1


@settings(max_examples=50, deadline=None)
@given(ranking=RANKINGS, grades=GRADES, names=st.permutations(DOCUMENTS))
def test_names_of_documents_do_not_matter(ranking, grades, names):
    new_name = dict(zip(DOCUMENTS, names, strict=True))
    renamed_ranking = [new_name[each] for each in ranking]
    renamed_grades = {new_name[each]: grade for each, grade in grades.items()}
    for measure in ALL:
        assert score(measure, renamed_ranking, renamed_grades) == score(measure, ranking, grades), measure


@settings(deadline=None)
@given(ranking=RANKINGS, grades=GRADES)
def test_bounds_are_the_score_where_all_is_judged(ranking, grades):
    judged = {**dict.fromkeys(ranking, 0), **grades}
    for text in ("nDCG@3", "AP", "P@3"):
        bounds = unjudged_bounds(parse_measure(text), ranking, judged, best=4)
        assert bounds.if_worst == bounds.as_judged == bounds.if_best
        assert bounds.judged == (1 if ranking else 0)


@settings(deadline=None)
@given(ranking=RANKINGS, grades=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4), max_size=12))
def test_bounds_enclose_measures_without_an_ideal(ranking, grades):
    for text in ("P@3", "RR@5", "Success@3", "RBP@4", "ERR@4", "DCG@4"):
        bounds = unjudged_bounds(parse_measure(text), ranking, grades, best=4)
        if bounds.as_judged is not None:
            assert bounds.if_worst == bounds.as_judged <= bounds.if_best + 1e-12


@settings(deadline=None)
@given(ranking=RANKINGS, grades=GRADES, p=st.floats(0.05, 0.95))
def test_the_residual_is_how_far_rbp_could_rise(ranking, grades, p):
    assume(any(grade >= 1 for grade in grades.values()))
    low = score_query(parse_measure(f"RBP(p={p})"), ranking, grades)
    residual = score_query(parse_measure(f"RBPResidual(p={p})"), ranking, grades)
    supposed = {**dict.fromkeys(ranking, 1), **grades}
    best_seen = score_query(parse_measure(f"RBP(p={p})"), ranking, supposed)
    assert low + residual == pytest.approx(best_seen + p ** len(ranking), abs=1e-9)


class TestRankAgainstRank:
    @settings(deadline=None)
    @given(first=RANKINGS, second=RANKINGS, p=st.floats(0, 1, exclude_min=True, exclude_max=True), ended=st.booleans())
    def test_rbo_lies_in_0_to_1_and_is_symmetric(self, first, second, p, ended):
        assume(first or second)
        value = rbo(first, second, p, ended=ended)
        assert 0 <= value <= 1
        assert value == pytest.approx(rbo(second, first, p, ended=ended), abs=1e-12)

    @settings(deadline=None)
    @given(
        size=st.integers(1, 400),
        place=st.integers(0, 398),
        p=st.floats(0, 1, exclude_min=True, exclude_max=True),
        ended=st.booleans(),
    )
    def test_rbo_of_rankings_that_are_nearly_the_same_is_not_above_1(self, size, place, p, ended):
        first = [str(number) for number in range(size)]
        second = first[:]
        second[place : place + 2] = second[place : place + 2][::-1]
        assert 0 <= rbo(first, second, p, ended=ended) <= 1

    @settings(deadline=None)
    @given(
        ranking=RANKINGS.filter(bool),
        size=st.integers(1, 400),
        p=st.floats(0.05, 0.95),
        ended=st.booleans(),
        longer=st.integers(1, 5),
    )
    def test_rbo_of_a_ranking_with_itself_is_1_and_with_strangers_0(self, ranking, size, p, ended, longer):
        same = [str(number) for number in range(size)]
        assert rbo(same, same, p, ended=ended) == 1
        assert rbo(same, [*same, *(f"more {number}" for number in range(longer))], p) == 1
        assert rbo(ranking, [f"other {each}" for each in ranking], p) == pytest.approx(0, abs=1e-12)

    @settings(deadline=None)
    @given(ranking=RANKINGS, p=st.floats(0.3, 0.95))
    def test_rbo_lies_between_the_sums_of_what_was_seen_and_what_could_be(self, ranking, p):
        """The least that agreement can be is what was seen, to a depth past which the weight is nothing."""
        assume(len(ranking) > 2)
        other = ranking[::-1]
        seen = sum(
            len(set(ranking[:depth]) & set(other[:depth])) / depth * p ** (depth - 1)
            for depth in range(1, len(ranking) + 1)
        )
        least, greatest = (1 - p) * seen, (1 - p) * seen + p ** len(ranking)
        assert least - 1e-9 <= rbo(ranking, other, p) <= greatest + 1e-9

    @settings(deadline=None)
    @given(first=RANKINGS, second=RANKINGS, cutoff=st.integers(1, 15))
    def test_overlap(self, first, second, cutoff):
        assert overlap(first, second, cutoff) == overlap(second, first, cutoff) <= 1
        assert overlap(first, first, cutoff) == min(len(first), cutoff) / cutoff

    @settings(deadline=None)
    @given(ranking=RANKINGS)
    def test_kendalls_tau_of_opposites(self, ranking):
        assume(len(ranking) > 1)
        assert kendall_tau(ranking, ranking) == 1
        assert kendall_tau(ranking, ranking[::-1]) == -1

    def test_nothing_to_compare(self):
        with pytest.raises(UndefinedScore, match="two empty rankings"):
            rbo([], [])
        with pytest.raises(UndefinedScore, match="two shared documents, found 1"):
            kendall_tau(["a"], ["a", "b"])
        assert rbo([], ["a"]) == 0
