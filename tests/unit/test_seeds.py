"""
The four texts that the project started from, each formula, worked number and drawback shown.

Seed 000: an encyclopaedic answer on DCG with two drawbacks of nDCG. Seed 001: a tutorial with exponential gain worked
through. Seed 002: a researcher's note with both tables and three drawbacks. Seed 003: course notes on CG, DCG and nDCG.
"""

from math import e, log2
from math import log as ln

import pytest

from harness.errors import MeasureError
from harness.metrics import parse_measure, score_query
from harness.metrics.cumulative import list_divisors
from harness.metrics.ranking import gain_of, gains_of, ideal_gains
from harness.model.suite import Gain, GainKind

LINEAR = Gain(GainKind.LINEAR)
EXPONENTIAL = Gain(GainKind.EXPONENTIAL)

SEED_002_GRADES = [3, 2, 3, 0, 1, 2]
SEED_001_GRADES = [3, 2, 3, 0, 1]


def score(measure, grades_by_rank, *, not_returned=(), gain=LINEAR):
    """The score of a ranking whose documents have these grades, others judged and *not_returned*."""
    ranking = [f"d{rank}" for rank, _ in enumerate(grades_by_rank, 1)]
    judgments = dict(zip(ranking, grades_by_rank, strict=True))
    judgments |= {f"missing{number}": grade for number, grade in enumerate(not_returned)}
    return score_query(parse_measure(measure), ranking, judgments, gain=gain)


def terms(gains):
    return [gain / divisor for gain, divisor in zip(gains, list_divisors("log", 2, len(gains)), strict=True)]


def dcg(gains, base=2):
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1)) * log2(base)


class TestCumulativeGain:
    def test_seed_002_sums_the_six_grades_to_11(self):
        assert score("CG@6", SEED_002_GRADES) == 11

    @pytest.mark.parametrize("swapped", [[3, 2, 0, 3, 1, 2], [2, 3, 3, 0, 1, 2], [0, 1, 2, 2, 3, 3]])
    def test_seeds_000_002_003_swapping_documents_leaves_cg_and_changes_dcg(self, swapped):
        assert score("CG@6", swapped) == score("CG@6", SEED_002_GRADES) == 11
        assert score("DCG@6", swapped) < score("DCG@6", SEED_002_GRADES)

    def test_seed_003_moving_a_highly_relevant_document_above_a_less_relevant_one_leaves_cg(self):
        assert score("CG", [1, 3]) == score("CG", [3, 1]) == 4
        assert score("DCG", [3, 1]) > score("DCG", [1, 3])


class TestDiscountedCumulativeGain:
    def test_seeds_000_003_the_first_rank_is_not_discounted(self):
        tail = sum(grade / log2(rank + 1) for rank, grade in enumerate(SEED_002_GRADES[1:], 2))
        assert score("DCG", SEED_002_GRADES) == pytest.approx(SEED_002_GRADES[0] + tail, abs=1e-12)

    def test_seed_002_table_of_linear_terms(self):
        assert [round(divisor, 3) for divisor in list_divisors("log", 2, 6)] == [1, 1.585, 2, 2.322, 2.585, 2.807]
        assert [round(term, 3) for term in terms(SEED_002_GRADES)] == [3, 1.262, 1.5, 0, 0.387, 0.712]
        assert round(score("DCG@6", SEED_002_GRADES), 3) == 6.861

    def test_seed_002_swapping_the_third_and_the_fourth_document_lowers_dcg(self):
        assert score("DCG@6", [3, 2, 0, 3, 1, 2]) < score("DCG@6", SEED_002_GRADES)

    def test_seed_001_exponential_terms_sum_to_12_78(self):
        gains = gains_of(EXPONENTIAL, SEED_001_GRADES)
        assert gains == [7, 3, 7, 0, 1]
        assert [round(term, 2) for term in terms(gains)] == [7, 1.89, 3.5, 0, 0.39]
        assert round(score("DCG(gain=exponential)@5", SEED_001_GRADES), 2) == 12.78

    def test_seed_001_grade_3_is_worth_more_than_three_times_grade_1(self):
        assert gain_of(EXPONENTIAL, 3) == 7 > 3 * gain_of(EXPONENTIAL, 1)
        assert gain_of(LINEAR, 3) == 3 * gain_of(LINEAR, 1)

    def test_seeds_000_003_exponential_gain_stresses_the_retrieval_of_relevant_documents(self):
        one_perfect, three_fair = [3, 0, 0], [1, 1, 1]
        ratio = {
            gain: score("DCG@3", one_perfect, gain=gain) / score("DCG@3", three_fair, gain=gain)
            for gain in (LINEAR, EXPONENTIAL)
        }
        assert ratio[EXPONENTIAL] > 2 * ratio[LINEAR]

    def test_seed_002_both_forms_agree_on_binary_grades(self):
        binary = [1, 0, 1, 1, 0]
        for measure in ("DCG@5", "nDCG@5"):
            assert score(measure, binary, gain=LINEAR) == score(measure, binary, gain=EXPONENTIAL)

    def test_seed_002_natural_logarithm_changes_dcg_by_a_factor_and_ndcg_not_at_all(self):
        assert score("DCG(log=e)@6", SEED_002_GRADES) == pytest.approx(score("DCG@6", SEED_002_GRADES) / ln(2))
        assert dcg(SEED_002_GRADES, e) == pytest.approx(score("DCG(log=e)@6", SEED_002_GRADES))
        assert score("nDCG(log=e)@6", SEED_002_GRADES) == pytest.approx(score("nDCG@6", SEED_002_GRADES), abs=1e-15)

    def test_the_discount_of_jarvelin_and_kekalainen_gives_8_097_for_the_same_grades(self):
        assert round(score("DCG(discount=jarvelin)@6", SEED_002_GRADES), 3) == 8.097

    def test_seed_000_more_results_make_a_larger_dcg_that_need_not_be_better(self):
        short, long = [3, 3, 3], [1] * 30
        assert score("DCG", long) > score("DCG", short)
        assert score("nDCG@3", long, not_returned=[3] * 3) < score("nDCG@3", short, not_returned=[1] * 30)

    def test_seed_001_dcg_has_no_upper_bound_and_ndcg_has(self):
        deep = {depth: score("DCG", [1] * depth) for depth in (10, 100, 1000)}
        assert deep[10] < deep[100] < deep[1000]
        assert score("nDCG", [1] * 1000) == 1


class TestNormalised:
    def test_seed_002_table_of_ideal_terms(self):
        ideal = ideal_gains(LINEAR, SEED_002_GRADES, 6)
        assert list(ideal) == [3, 3, 2, 2, 1]  # the grade 0 of the table's last row gains nothing
        assert [round(term, 3) for term in terms(ideal)] == [3, 1.893, 1, 0.861, 0.387]
        assert round(dcg(ideal), 3) == 7.141

    def test_seed_002_ndcg_is_0_961(self):
        assert round(score("nDCG@6", SEED_002_GRADES), 3) == 0.961

    def test_seed_002_ndcg_is_0_785_when_a_3_and_a_2_more_are_judged(self):
        assert round(score("nDCG@6", SEED_002_GRADES, not_returned=[3, 2]), 3) == 0.785

    def test_seed_001_ndcg_is_0_957(self):
        ideal = ideal_gains(EXPONENTIAL, [3, 3, 2, 1, 0], 5)
        assert round(dcg(gains_of(EXPONENTIAL, SEED_001_GRADES)) / dcg(ideal), 3) == 0.957
        assert round(score("nDCG@5", SEED_001_GRADES, gain=EXPONENTIAL), 3) == 0.957

    @pytest.mark.parametrize("gain", [LINEAR, EXPONENTIAL])
    def test_seeds_000_to_003_a_perfect_ranking_scores_1(self, gain):
        assert score("nDCG@6", sorted(SEED_002_GRADES, reverse=True), gain=gain) == 1

    def test_seeds_000_003_the_ideal_is_of_the_documents_of_the_corpus_up_to_position_p(self):
        assert score("nDCG@2", [3, 2], not_returned=[3]) == pytest.approx(dcg([3, 2]) / dcg([3, 3]))

    def test_seeds_001_002_values_lie_between_0_and_1_and_compare_across_queries(self):
        assert score("nDCG@3", [0, 0, 0], not_returned=[1]) == 0
        assert score("nDCG@3", [3, 2, 1]) == score("nDCG@3", [2, 1]) == 1
        assert score("DCG@3", [3, 2, 1]) != score("DCG@3", [2, 1])


class TestDrawbacks:
    PUNISHING = Gain(GainKind.MAP, ((0, -1), (1, 0), (2, 1)))  # bad, fair, good as seed 002 proposes

    def test_seeds_000_002_a_bad_document_costs_nothing_with_plain_gains(self):
        assert score("nDCG@4", [1, 1, 1], not_returned=[0]) == score("nDCG@4", [1, 1, 1, 0]) == 1

    def test_seeds_000_002_gains_of_1_0_minus_1_punish_it(self):
        without = score("nDCG@4", [2, 2, 2], not_returned=[0], gain=self.PUNISHING)
        with_bad = score("nDCG@4", [2, 2, 2, 0], gain=self.PUNISHING)
        assert without == 1
        assert with_bad == pytest.approx((dcg([1, 1, 1]) - 1 / log2(5)) / dcg([1, 1, 1]))
        assert score("DCG@4", [2, 2, 2, 0], gain=self.PUNISHING) < score("DCG@4", [2, 2, 2], gain=self.PUNISHING)

    def test_gains_below_0_make_a_ranking_of_bad_documents_worse_than_none(self):
        assert score("nDCG@4", [0, 0], not_returned=[2], gain=self.PUNISHING) < 0
        assert score("nDCG@4", [], not_returned=[2], gain=self.PUNISHING) == 0

    def test_the_map_of_gains_must_hold_every_grade_in_use(self):
        with pytest.raises(MeasureError, match=r"grade 3 has no gain: the map in use is \{0: -1, 1: 0, 2: 1\}"):
            score("nDCG@4", [2], not_returned=[3], gain=self.PUNISHING)

    def test_seeds_000_002_missing_documents_cost_nothing_where_the_ideal_comes_from_the_returned(self):
        three, five = [1.0] * 3, [1.0] * 5
        assert score("nDCG(ideal=returned)", three, not_returned=[1, 1]) == score("nDCG(ideal=returned)", five) == 1

    def test_seeds_000_002_missing_documents_lose_where_the_ideal_comes_from_all_judged(self):
        assert score("nDCG@5", [1, 1, 1], not_returned=[1, 1]) < score("nDCG@5", [1] * 5) == 1

    def test_seeds_000_002_a_fixed_length_gives_the_missing_documents_the_minimum_gain(self):
        padded = score("nDCG(missing=0)@5", [1, 1, 1], not_returned=[1, 1])
        punished = score("nDCG(missing=-1)@5", [1, 1, 1], not_returned=[1, 1])
        assert padded == pytest.approx(dcg([1, 1, 1, 0, 0]) / dcg([1] * 5))
        assert punished == pytest.approx(dcg([1, 1, 1, -1, -1]) / dcg([1] * 5))
        assert punished < padded < score("nDCG(missing=-1)@5", [1] * 5) == 1

    def test_a_fixed_length_can_tell_a_short_list_even_where_nothing_more_is_judged(self):
        assert score("nDCG@5", [1, 1, 1]) == 1
        assert score("nDCG(missing=-1)@5", [1, 1, 1]) < 1

    def test_seed_002_ndcg_at_1_cannot_tell_one_restaurant_from_five(self):
        def one_nearby(measure):
            return score(measure, [1, 0, 0, 0, 0], not_returned=[1] * 4)

        def five_nearby(measure):
            return score(measure, [1, 1, 1, 1, 1], not_returned=[0] * 4)

        assert one_nearby("nDCG@1") == five_nearby("nDCG@1") == 1
        assert one_nearby("nDCG@5") < five_nearby("nDCG@5") == 1

    def test_seed_002_with_part_of_the_documents_judged_the_ideal_is_only_what_is_known(self):
        judged_in_part = {"a": 1, "b": 1}
        judged_in_full = {**judged_in_part, "c": 3, "d": 3}
        ranking = ["a", "b", "c", "d"]
        measure, share = parse_measure("nDCG@4"), parse_measure("Judged@4")
        assert score_query(measure, ranking, judged_in_part, gain=LINEAR) == 1
        assert score_query(measure, ranking, judged_in_full, gain=LINEAR) < 0.8
        assert score_query(share, ranking, judged_in_part) == 0.5
        assert score_query(share, ranking, judged_in_full) == 1

    def test_seed_002_the_mean_over_the_queries_measures_a_ranking_function(self):
        from harness.metrics.evaluate import evaluate

        judgments = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
        result = evaluate({"q1": ["a", "b"], "q2": ["b", "a"]}, judgments, [parse_measure("nDCG@2")])
        assert result.mean("nDCG@2") == pytest.approx((1 + 1 / log2(3)) / 2)
