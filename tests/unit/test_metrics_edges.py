"""Where a formula has no value, and where its input is at an end of what it may be."""

import pytest

pytest.importorskip("numpy")

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.metrics import Settings, measure_range, parse_measure, rank_correlation, score_diverse_query, score_query
from harness.metrics.bulk import batch_of_grades, score_batches
from harness.metrics.bulk.batch import compact
from harness.metrics.evaluate import evaluate
from harness.metrics.registry import DEFINITIONS, Registry
from harness.metrics.ties import tie_band
from harness.model.suite import Gain, GainKind, Profile


def score_grades(text, grades):
    ids = [f"d{rank}" for rank, _ in enumerate(grades)]
    return score_query(parse_measure(text), ids, dict(zip(ids, grades, strict=True)))


JAGUAR = {"a": {"car": 1, "cat": 0}, "b": {"cat": 2}}


@pytest.mark.parametrize("text", ["nDCG@5", "R", "AP", "Rprec", "SetF", "Bpref", "infAP", "Q", "Compat"])
def test_a_measure_without_anything_relevant_has_no_value(text):
    with pytest.raises(UndefinedScore, match="no judged document"):
        score_query(parse_measure(text), ["a"], {"a": 0})


@pytest.mark.parametrize("text", ["alpha_DCG", "alpha_nDCG@5", "ERR_IA@5", "StRecall"])
def test_a_measure_of_novelty_without_anything_relevant_has_no_value(text):
    with pytest.raises(UndefinedScore, match="no judged document"):
        score_diverse_query(parse_measure(text), ["a"], {"a": {"car": 0}})


class TestSubtopics:
    def test_a_plain_measure_takes_none(self):
        with pytest.raises(MeasureError, match="nDCG@5 does not use judgments by subtopic"):
            score_diverse_query(parse_measure("nDCG@5"), ["a"], JAGUAR)

    @pytest.mark.parametrize("text", ["alpha_nDCG@5", "alpha_DCG", "ERR_IA", "StRecall@2"])
    def test_a_measure_of_novelty_takes_nothing_else(self, text):
        with pytest.raises(MeasureError, match="needs judgments by subtopic, and a suite has none"):
            score_query(parse_measure(text), ["a"], {"a": 1})

    @pytest.mark.parametrize("text", ["alpha_nDCG@5", "alpha_DCG", "ERR_IA", "StRecall@2"])
    def test_nothing_relevant(self, text):
        with pytest.raises(UndefinedScore, match="no judged document is relevant to a subtopic"):
            score_diverse_query(parse_measure(text), ["a"], {"a": {"car": 0}})
        assert score_diverse_query(parse_measure(text), ["a"], {"a": {"car": 0}}, profile=Profile.TREC) == 0

    def test_the_relevance_level(self):
        assert score_diverse_query(parse_measure("StRecall"), ["a", "b"], JAGUAR) == 1
        assert score_diverse_query(parse_measure("StRecall(rel=2)"), ["a"], JAGUAR) == 0

    def test_no_hits(self):
        assert score_diverse_query(parse_measure("ERR_IA"), [], JAGUAR) == 0
        assert score_diverse_query(parse_measure("alpha_nDCG@5"), [], JAGUAR) == 0

    def test_a_document_returned_twice_brings_nothing_new(self):
        measure = parse_measure("alpha_nDCG@3")
        assert score_diverse_query(measure, ["a", "a", "b"], JAGUAR) == score_diverse_query(measure, ["a", "b"], JAGUAR)


class TestSettings:
    def test_a_parameter_that_is_no_number(self):
        with pytest.raises(TypeError, match="parameter gain holds 'linear', not a number"):
            Settings(None, Gain(), {"gain": "linear"}).number("gain")

    def test_all_names_are_known_before_any_is_looked_for(self):
        assert Registry(DEFINITIONS).names() == [definition.name for definition in DEFINITIONS]


def test_a_band_needs_a_score_for_each_document():
    with pytest.raises(UsageError, match="2 documents came with 1 scores"):
        tie_band(parse_measure("RR"), ["a", "b"], [1.0], {"a": 1})


def test_a_ranking_without_scores_keeps_its_order_under_trec():
    ranking, measure = {"q": ["a", "b"], "r": ["b", "a"]}, parse_measure("RR")
    result = evaluate(
        ranking, {"q": {"b": 1}, "r": {"b": 1}}, [measure], profile=Profile.TREC, scores={"q": [1.0, 2.0]}
    )
    assert result.scores["RR"] == {"q": 1, "r": 1}


def test_whole_grades_beyond_every_integer_stay_floats():
    huge = np.array([1e300, 2.0])
    assert compact(huge) is huge
    assert compact(np.array([300.0, 2.0])).dtype == np.int16


def test_grade_0_is_not_positive_in_float32():
    grades, offsets = np.array([0.0, 0.5], np.float32), np.array([0, 2])
    scores = score_batches(
        [batch_of_grades(offsets, grades, offsets, grades)], [parse_measure("RR")], profile=Profile.QUEPID
    )
    assert scores["RR"].tolist() == [0.5]


def test_a_band_counts_hits_where_a_profile_does():
    band = tie_band(parse_measure("P@5"), ["a", "b"], [1.0, 1.0], {"a": 1}, profile=Profile.RANK_EVAL)
    assert (band.least, band.greatest) == (0.5, 0.5)


class TestNumbersThatAreTooLarge:
    """Nothing that can be written in a suite ends as a score that is no number."""

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("ERR(max=2000)", "ERR's max: expected a number from 0 to 1024, exclusive, found 2000"),
            ("ERR(max=1024)", "ERR's max: expected a number from 0 to 1024, exclusive, found 1024"),
            ("ERR(max=1e400)", "ERR's max: expected a number, found 1e400"),
            ("nDCG(missing=-1)@1000001", "fills the ranking up to the cutoff, which may be no more than @1000000 then"),
        ],
    )
    def test_a_parameter(self, text, sentence):
        with pytest.raises(MeasureError, match=sentence):
            parse_measure(text)

    @pytest.mark.parametrize("text", ["F(beta=1e200)@3", "F(beta=1e308)@3"])
    def test_a_beta_beyond_all_leaves_recall(self, text):
        for returned in (["a", "x"], ["x"], ["a", "b", "c"]):
            grades = {"a": 1, "b": 1, "c": 0}
            recall = score_query(parse_measure("R@3"), returned, grades)
            assert score_query(parse_measure(text), returned, grades) == recall
            band = tie_band(parse_measure(text), returned, [1.0] * len(returned), grades)
            assert (band.least, band.greatest) == (recall, recall)

    def test_a_beta_beyond_all_leaves_cumulative_gain_in_q(self):
        ranking, grades = ["b", "x", "a"], {"a": 3, "b": 1}
        q = score_query(parse_measure("Q(gain=linear,beta=1e308)"), ranking, grades)
        assert q == pytest.approx((1 / 3 + 4 / 4) / 2)
        band = tie_band(parse_measure("Q(gain=linear,beta=1e308)"), ranking, [3.0, 2.0, 1.0], grades)
        assert (band.least, band.greatest) == pytest.approx((q, q))

    @pytest.mark.parametrize("text", ["F@4", "F(beta=0)@4", "F(beta=2)@4", "F(beta=0.5)"])
    def test_f_is_as_van_rijsbergen_has_it(self, text):
        grades, ranking = dict.fromkeys("abcde", 1), ["a", "x", "b", "y"]
        beta, precision, recall = dict(parse_measure(text).parameters).get("beta", 1.0), 2 / 4, 2 / 5
        expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert score_query(parse_measure(text), ranking, grades) == pytest.approx(expected, abs=1e-15)

    @pytest.mark.parametrize("text", ["CG", "DCG@5", "nDCG", "CG(missing=-1e200)@9", "Q"])
    @pytest.mark.parametrize("batched", [False, True])
    def test_gains_that_sum_to_no_number(self, text, batched, monkeypatch):
        monkeypatch.setattr("harness.metrics.evaluate.WORTH_NUMPY", 0 if batched else 10**9)
        documents = [f"d{number}" for number in range(9)]
        gain = Gain(GainKind.MAP, ((0, -1e308), (1, 1e308)))
        grades = {document: number % 2 for number, document in enumerate(documents)}
        if text.startswith(("nDCG", "Q")):
            grades |= dict.fromkeys(documents[:8], 1)
        with pytest.raises(
            MeasureError, match=r"the score of .* is -?(inf|nan|[\d.]+e\+\d+), expected a number from -1e\+100"
        ):
            evaluate({"q": documents}, {"q": grades}, [parse_measure(text)], gain=gain)

    def test_scores_up_to_the_bound_can_be_compared(self):
        from harness.statistics.compare import compare

        before, after = ({"CG": {str(query): sign * 1e100 for query in range(12)}} for sign in (-1, 1))
        after["CG"]["3"] = 0.0
        (row,) = compare(before, after).measures
        assert np.isfinite([row.difference, row.low, row.high, row.p_value, row.effect, row.detectable]).all()

    def test_a_persistence_near_0_is_the_first_rank(self):
        assert rank_correlation.rbo(["a", "b"], ["a", "c"], p=5e-324) == 1
        assert rank_correlation.rbo(["b", "a"], ["a", "b"], p=5e-324) < 1e-300


NUMBERS = st.sampled_from(["5e-324", "1e-308", "1e-9", "0.5", "1", "3", "1e9", "1e154", "1e200", "1e308"])
FRACTIONS = st.sampled_from(["5e-324", "1e-308", "0.5", "0.9999999999999999"])
LEVELS = st.sampled_from([-1e308, -1.0, 0.0, 5e-324, 0.5, 1.0, 3.0, 1e9, 1e308])
TEXTS = {
    "CG(missing=-{n})@{k}": NUMBERS, "DCG(log={n})": NUMBERS, "DCG(log=1.0000000000000002)@{k}": NUMBERS,
    "nDCG(missing=-{n})@{k}": NUMBERS, "nDCG@{k}": NUMBERS, "F(beta={n})@{k}": NUMBERS, "F(beta={n})": NUMBERS,
    "Q(beta={n})@{k}": NUMBERS, "ERR(max={n})@{k}": NUMBERS, "ERR(max={n})": NUMBERS, "RBP(max={n})": NUMBERS,
    "RBP(p={n})": FRACTIONS, "RBPResidual(p={n})@{k}": FRACTIONS, "Compat(p={n})": FRACTIONS, "P(rel={n})@{k}": NUMBERS,
    "AP(rel={n})": NUMBERS, "Bpref(rel={n})": NUMBERS, "infAP(rel={n})": NUMBERS,
}  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(data=st.data(), profile=st.sampled_from(Profile))
def test_every_score_is_a_number_whatever_the_numbers(data, profile):
    text = data.draw(st.sampled_from(sorted(TEXTS)))
    number, cutoff = data.draw(TEXTS[text]), data.draw(st.sampled_from([1, 2, 5]))
    try:
        measure = parse_measure(text.format(n=number, k=cutoff))
    except MeasureError:
        return
    grades = data.draw(st.dictionaries(st.sampled_from("abcd"), LEVELS, min_size=1))
    gain = data.draw(
        st.sampled_from(
            [Gain(GainKind.LINEAR), Gain(), Gain(GainKind.MAP, tuple((each, each) for each in grades.values()))]
        )
    )
    ranking = data.draw(st.permutations("abcdx"))
    assert not any(np.isnan(end) for end in measure_range(measure, gain) if end is not None)
    for compute in (
        lambda: score_query(measure, ranking, grades, gain=gain, profile=profile),
        lambda: tie_band(measure, ranking, [2.0, 1.0, 1.0, 1.0, 0.5], grades, gain=gain, profile=profile).greatest,
    ):
        try:
            assert np.isfinite(compute()), measure
        except (MeasureError, UndefinedScore):
            continue


@pytest.mark.parametrize(
    ("score", "exact"),
    [
        (lambda: score_grades("CG(gain=linear)", [0.1] * 10), 1.0),
        (lambda: score_grades("DCG(gain=linear)", [3, 2, 3, 0, 1, 2]), 6.861126688593501),
        (lambda: score_grades("RBP(p=0.5,max=1)", [0.3] * 6), 0.2953125),
        (lambda: rank_correlation.rbo([*"abcdefghij"], [*"abcdefghij"], p=0.9), 1.0),
    ],
)
def test_a_sum_is_rounded_once_so_that_each_version_of_python_has_the_same_score(score, exact):
    assert score() == exact


def test_a_sum_beyond_what_a_float_holds_is_an_error_and_no_crash():
    gain = Gain(GainKind.MAP, ((1.0, 1e308),))
    with pytest.raises(MeasureError, match="the score of CG@3 is inf"):
        score_query(parse_measure("CG@3"), ["a", "b"], {"a": 1, "b": 1}, gain=gain)
