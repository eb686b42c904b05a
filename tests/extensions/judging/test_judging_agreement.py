"""Agreement of judges, held to the worked examples of those who defined the coefficients."""

import random

import pytest

from harness.agreement import (
    ResolutionRule,
    Weights,
    cohen_kappa,
    compute_agreement,
    fleiss_kappa,
    krippendorff_alphas,
    resolve,
)
from harness.errors import UsageError


def pairs_of(table):
    """The grades of a table of two judges: a row for each grade of the first, a column for each of the second."""
    return [
        (row, column)
        for row, cells in enumerate(table, start=1)
        for column, count in enumerate(cells, start=1)
        for _ in range(count)
    ]


def judges_of(*rows):
    """Judges a, b, … with the grades of each row; None where a judge gave none."""
    return {
        "abcdefgh"[place]: {("q", f"d{number:02}"): grade for number, grade in enumerate(row) if grade is not None}
        for place, row in enumerate(rows)
    }


def test_cohen_s_kappa_is_that_of_his_example():
    """
    Cohen, J. (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20,
    37-46: 200 subjects in three categories, with 0.70 agreed and 0.41 expected, give 0.492; Cohen (1968) has the same.
    """
    pairs = pairs_of([[88, 10, 2], [14, 40, 6], [18, 10, 12]])
    assert cohen_kappa(pairs) == pytest.approx(0.492, abs=5e-4)


def test_weighted_kappa_is_that_of_sas():
    """What PROC FREQ of SAS prints for this table, as the tests of statsmodels quote it: 0.4842, weighted 0.4701."""
    pairs = pairs_of([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
    assert cohen_kappa(pairs) == pytest.approx(0.4842, abs=5e-5)
    assert cohen_kappa(pairs, weights=Weights.LINEAR) == pytest.approx(0.4701, abs=5e-5)


FLEISS = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
    "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
)


def test_fleiss_kappa_is_that_of_his_example():
    """
    Fleiss, J. L. (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76, table 1:
    30 patients, 6 diagnoses each, in five categories: 0.430.
    """
    assert fleiss_kappa([[int(digit) for digit in patient] for patient in FLEISS.split()]) == pytest.approx(
        0.430, abs=5e-4
    )


KRIPPENDORFF = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)


def test_krippendorff_s_alpha_is_that_of_his_example_with_grades_missing():
    """
    Krippendorff, K. (2011), Computing Krippendorff's alpha-reliability, University of Pennsylvania, section D: four
    observers of twelve units: nominal 0.743, ordinal 0.815, interval 0.849.
    """
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    assert krippendorff_alphas(KRIPPENDORFF) == pytest.approx(
        {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}, abs=5e-4
    )


def test_krippendorff_s_alpha_is_that_of_his_example_of_two_observers():
    """The same, section A: two observers of ten units in two categories: 0.095."""
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    two = [[int(digit) for digit in row] for row in ("0100000010", "1110010000")]
    assert krippendorff_alphas(two)["nominal"] == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize("weights", Weights)
@pytest.mark.parametrize("seed", range(5))
def test_cohen_s_kappa_is_that_of_scikit_learn(weights, seed):
    oracle = pytest.importorskip("sklearn.metrics").cohen_kappa_score
    drawn = random.Random(seed)
    pairs = [(drawn.randrange(4), drawn.randrange(4)) for _ in range(30)]
    expected = oracle(*zip(*pairs, strict=True), labels=range(5), weights=None if weights is Weights.NONE else weights)
    assert cohen_kappa(pairs, range(5), weights=weights) == pytest.approx(expected, abs=1e-12)


def test_a_step_of_the_scale_counts_though_nobody_gave_the_grade():
    pairs = [(0, 3), (3, 3), (0, 0), (1, 0)]
    assert cohen_kappa(pairs, weights=Weights.LINEAR) != cohen_kappa(pairs, range(4), weights=Weights.LINEAR)
    assert cohen_kappa(pairs) == cohen_kappa(pairs, range(4))


def test_where_only_one_grade_was_given_nothing_is_defined():
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    found = compute_agreement(judges_of([2, 2, 2], [2, 2, None]))
    assert (found.shared, found.complete, found.same) == (2, 2, 2)
    assert (*found.cohen.values(), found.fleiss, *found.alpha.values()) == (None,) * 7


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (([1, None, 0], [None, 2, None]), "a, b"),
        (([1, None, None], [None, 2, None], [None, None, 0]), "a, b, c"),
    ],
)
def test_judges_who_share_no_document_have_no_agreement(rows, said):
    with pytest.raises(UsageError) as refusal:
        compute_agreement(judges_of(*rows))
    assert str(refusal.value) == (
        f"agreement needs documents that two judges graded, found none among those of {said}; let one of them grade "
        "what another one graded"
    )


@pytest.mark.parametrize("place", range(3))
def test_a_judge_who_shares_no_document_changes_no_coefficient(place):
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    together = [[0, 2, 1, None, None], [0, 1, 1, 3, None]]
    names = ["a", "b", "c"]
    rows = [*together[:place], [None] * 4 + [2], *together[place:]]
    found = compute_agreement(judges_of(*rows), range(4))
    alone = compute_agreement(judges_of(*together), range(4))
    assert (found.alone, found.graded[names[place]]) == ((names[place],), 1)
    assert (found.shared, found.complete, found.same) == (alone.shared, alone.complete, alone.same) == (3, 3, 2)
    assert (found.cohen, found.fleiss, found.alpha) == (alone.cohen, alone.fleiss, alone.alpha)
    assert set(found.cohen) == set(Weights)


def test_two_pairs_of_judges_have_an_alpha_and_no_document_for_fleiss_kappa():
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    found = compute_agreement(judges_of([1, 0, None, None], [1, 1, None, None], [None, None, 2, 2], [None, None, 2, 0]))
    assert (found.alone, found.shared, found.complete, found.cohen, found.fleiss) == ((), 4, 0, {}, None)
    assert all(found.alpha.values())


def test_the_greatest_disagreements_come_first():
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    found = compute_agreement(judges_of([0, 1, 3, 2], [0, 2, 0, None], [0, 1, 3, 2]))
    assert [(one.document, one.spread, dict(one.grades)) for one in found.disagreements] == [
        ("d02", 3, {"a": 3, "b": 0, "c": 3}),
        ("d01", 1, {"a": 1, "b": 2, "c": 1}),
    ]
    assert (found.shared, found.complete, found.same, found.cohen) == (4, 3, 2, {})


@pytest.mark.parametrize(("judges", "said"), [({}, "nobody has"), (judges_of([1]), "only a has")])
def test_one_judge_agrees_with_nobody(judges, said):
    with pytest.raises(UsageError, match=f"at least two judges, and {said} graded documents"):
        compute_agreement(judges)


@pytest.mark.parametrize(
    ("rule", "most_apart", "expected"),
    [
        (ResolutionRule.AGREED, 9, {"d00": 2, "d03": 1}),
        (ResolutionRule.MAJORITY, 9, {"d00": 2, "d01": 3, "d03": 1}),
        (ResolutionRule.MEDIAN, 9, {"d00": 2, "d01": 3, "d02": 1, "d03": 1, "d04": 0}),
        (ResolutionRule.MEDIAN, 1, {"d00": 2, "d02": 1, "d03": 1}),
    ],
)
def test_a_rule_gives_a_document_one_grade_or_leaves_it_open(rule, most_apart, expected):
    judges = judges_of([2, 3, 0, 1, 0], [2, 0, 1, None, 3], [2, 3, 2 if most_apart > 1 else 1, None, None])
    found = resolve(judges, rule, most_apart=most_apart)
    assert {document: grade for (_, document), grade in found.grades.items()} == expected
    assert {one.document for one in found.open} == {"d00", "d01", "d02", "d03", "d04"} - expected.keys()
