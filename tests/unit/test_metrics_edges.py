"""Where a formula has no value, and where its input is at an end of what it may be."""

import numpy as np
import pytest

from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.evaluation import evaluate
from harness.evaluation.arrays import evaluate_grades
from harness.measures import (
    Cutoff,
    Definition,
    Settings,
    parse_measure,
    register_measure,
    score_diverse_query,
    score_query,
    tie_band,
)
from harness.measures import builtin as builtin_measures
from harness.measures.builtin import DEFINITIONS
from harness.measures.registry import Registry
from harness.metrics import binary, cumulative, diversity, graded, incomplete, lookup, ties
from harness.model import Gain, Profile

JAGUAR = {"a": {"car": 1, "cat": 0}, "b": {"cat": 2}}


@pytest.mark.parametrize(
    "formula",
    [
        lambda: cumulative.ndcg([1.0], []),
        lambda: binary.recall([True], 0),
        lambda: binary.average_precision([True], 0),
        lambda: binary.r_precision([True], 0),
        lambda: incomplete.bpref([0], [0]),
        lambda: incomplete.inferred_ap([0], 0),
        lambda: graded.q_measure([0.0], [], None),
        lambda: graded.compatibility(["a"], {"a": 0}),
        lambda: diversity.alpha_ndcg([frozenset()], [], 5),
        lambda: diversity.err_ia([frozenset()], 0, 5),
        lambda: diversity.subtopic_recall([], 0),
    ],
)
def test_a_formula_without_anything_relevant_has_no_value(formula):
    with pytest.raises(UndefinedScore, match="no judged document"):
        formula()


def test_nothing_relevant_among_the_tied():
    assert ties.expected_reciprocal_rank([False, False], [2], None) == 0
    assert ties.expected_success([False, True], [1, 1], 1) == 0


class TestSubtopics:
    def test_a_plain_measure_takes_none(self):
        with pytest.raises(MeasureError, match="nDCG@5 takes no judgments by subtopic"):
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

    def test_a_measure_that_needs_a_cutoff(self, monkeypatch):
        monkeypatch.setattr(builtin_measures, "_REGISTRY", Registry(DEFINITIONS))
        register_measure(Definition("Top", lambda ranking, _: float(len(ranking.ids)), cutoff=Cutoff.REQUIRED))
        with pytest.raises(MeasureError, match="Top needs a cutoff, such as Top@10"):
            parse_measure("Top")
        assert score_query(parse_measure("Top@1"), ["a", "b"], {"a": 1}) == 1

    def test_all_names_are_known_before_any_is_looked_for(self):
        assert Registry(DEFINITIONS).names() == [definition.name for definition in DEFINITIONS]


def test_a_band_needs_a_score_for_each_document():
    with pytest.raises(UsageError, match="2 documents came with 1 scores"):
        tie_band(parse_measure("RR"), ["a", "b"], [1.0], {"a": 1})


def test_a_ranking_without_scores_keeps_its_order_under_trec():
    ranking, measure = {"q": ["a", "b"], "r": ["b", "a"]}, parse_measure("RR")
    result = evaluate(
        {"q": {"b": 1}, "r": {"b": 1}}, ranking, [measure], profile=Profile.TREC, scores={"q": [1.0, 2.0]}
    )
    assert result.scores["RR"] == {"q": 1, "r": 1}


def test_whole_grades_beyond_every_integer_stay_floats():
    huge = np.array([1e300, 2.0])
    assert lookup.compact(huge) is huge
    assert lookup.compact(np.array([300.0, 2.0])).dtype == np.int16


def test_grade_0_is_not_positive_in_float32():
    grades, offsets = np.array([0.0, 0.5], np.float32), np.array([0, 2])
    scores = evaluate_grades(offsets, grades, offsets, grades, [parse_measure("RR")], profile=Profile.QUEPID)
    assert scores["RR"].tolist() == [0.5]


def test_an_expected_value_counts_hits_where_a_profile_does():
    band = tie_band(parse_measure("P@5"), ["a", "b"], [1.0, 1.0], {"a": 1}, profile=Profile.RANK_EVAL)
    assert (band.least, band.expected, band.greatest) == (0.5, 0.5, 0.5)
