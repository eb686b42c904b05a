"""Each profile gives its system's numbers: the quirks as read and run in the peers' own code."""

from math import inf, log2, nan

import pytest

from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.metrics import parse_measure, score_query
from harness.metrics.evaluate import evaluate
from harness.metrics.profiles import sort_by_score
from harness.metrics.ties import tie_band
from harness.model.suite import Gain, GainKind, Profile

OTHERS = [profile for profile in Profile if profile is not Profile.STANDARD]


def dcg(gains):
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def score(text, returned, *, not_returned=(), profile=Profile.STANDARD, gain=None):
    """The score of hits with these grades, None for unjudged, beside others that are judged and not returned."""
    ranking = [f"d{rank}" for rank, _ in enumerate(returned)]
    judgments = {document: grade for document, grade in zip(ranking, returned, strict=True) if grade is not None}
    judgments |= {f"missing{number}": grade for number, grade in enumerate(not_returned)}
    return score_query(parse_measure(text), ranking, judgments, profile=profile, gain=gain)


class TestSixHitsAndOneMissing:
    RETURNED, MISSING = (3, 2, 3, 0, 1, 2), (3,)

    @pytest.mark.parametrize(
        "profile", [Profile.STANDARD, Profile.OPENSEARCH_SRW, Profile.OPENSEARCH_SRW_3_5, Profile.QUEPID]
    )
    def test_dcg_and_ndcg(self, profile):
        assert score("DCG@10", self.RETURNED, not_returned=self.MISSING, profile=profile) == pytest.approx(
            13.8483, abs=5e-5
        )
        assert score("nDCG@10", self.RETURNED, not_returned=self.MISSING, profile=profile) == pytest.approx(
            0.7813, abs=5e-5
        )

    def test_the_ideal(self):
        assert dcg([7, 7, 7, 3, 3, 1]) == pytest.approx(17.7253, abs=5e-5)

    def test_linear_gain(self):
        assert score("nDCG(gain=linear)@10", self.RETURNED, not_returned=self.MISSING) == pytest.approx(
            0.8184, abs=5e-5
        )
        assert score("nDCG@10", self.RETURNED, not_returned=self.MISSING, profile=Profile.TREC) == pytest.approx(
            0.8184, abs=5e-5
        )

    def test_an_ideal_of_the_returned_only_would_be_wrong(self):
        assert score("nDCG@10", self.RETURNED) == pytest.approx(0.9488, abs=5e-5)


class TestOneOfFiveGoodDocuments:
    @pytest.mark.parametrize(
        "profile", [Profile.STANDARD, Profile.QUEPID, Profile.OPENSEARCH_SRW, Profile.OPENSEARCH_SRW_3_5]
    )
    def test_the_ideal_holds_all_five(self, profile):
        assert score("nDCG@10", [3], not_returned=[3] * 4, profile=profile) == pytest.approx(0.339, abs=5e-4)

    def test_rank_eval_cuts_the_ideal_at_the_hits(self):
        assert score("nDCG@10", [3], not_returned=[3] * 4, profile=Profile.RANK_EVAL) == 1
        assert score("nDCG(ideal=returned)@10", [3], not_returned=[3] * 4) == 1
        assert score("nDCG(ideal=cut)@10", [3], not_returned=[3] * 4, profile=Profile.RANK_EVAL) == pytest.approx(
            0.339, abs=5e-4
        )


class TestFifteenGoodDocuments:
    @pytest.mark.parametrize("profile", [Profile.STANDARD, Profile.RANK_EVAL, Profile.OPENSEARCH_SRW, Profile.TREC])
    def test_ten_of_them_are_ideal(self, profile):
        assert score("nDCG@10", [3] * 10, not_returned=[3] * 5, profile=profile) == 1

    def test_quepids_ideal_has_no_cut_and_its_ndcg_cut_has(self):
        assert score("nDCG@10", [3] * 10, not_returned=[3] * 5, profile=Profile.QUEPID) == pytest.approx(
            0.775, abs=5e-4
        )
        assert score("nDCG(ideal=cut)@10", [3] * 10, not_returned=[3] * 5, profile=Profile.QUEPID) == 1


class TestUnknownDocRating:
    @pytest.mark.parametrize(("unjudged", "expected"), [(None, 0.896), (2, 1.038), (3, 1.227)])
    def test_the_ideal_ignores_it(self, unjudged, expected):
        text = "nDCG@10" if unjudged is None else f"nDCG(unjudged={unjudged})@10"
        value = score(text, [3, None, 3, 0, 1, 2], profile=Profile.RANK_EVAL)
        assert value == pytest.approx(expected, abs=5e-4)

    @pytest.mark.parametrize(("unjudged", "unknown"), [(0, 0), (2, 3), (3, 7)])
    def test_with_one_more_judged_and_not_returned(self, unjudged, unknown):
        value = score(
            f"nDCG(unjudged={unjudged})@10", [3, None, 3, 0, 1, 2], not_returned=[2], profile=Profile.RANK_EVAL
        )
        assert value == pytest.approx(dcg([7, unknown, 7, 0, 1, 3]) / dcg([7, 7, 3, 3, 1, 0]))

    def test_it_counts_where_nothing_judged_is_relevant(self):
        """`_rank_eval` divides DCG and ERR by nothing, so they are those of the unknown documents there."""
        for returned in ([None, 0, None], [None, None, None]):
            unknown = [3 if grade is None else 0 for grade in returned]
            assert score("DCG(unjudged=2)@10", returned, profile=Profile.RANK_EVAL) == pytest.approx(dcg(unknown))
            assert score("nDCG(unjudged=2)@10", returned, profile=Profile.RANK_EVAL) == 0
            assert score("DCG@10", returned, profile=Profile.RANK_EVAL) == 0
        assert score("CG(unjudged=2)", [None, 0, None], profile=Profile.RANK_EVAL) == 6
        one, two = (2**1 - 1) / 2**3, (1 - (2**1 - 1) / 2**3) * (2**1 - 1) / 2**3 / 3
        err = score("ERR(max=3,unjudged=1)@5", [None, 0, None], profile=Profile.RANK_EVAL)
        assert err == pytest.approx(one + two)
        assert score("ERR(max=3)@5", [None, 0, None], profile=Profile.RANK_EVAL) == 0

    @pytest.mark.parametrize(
        "profile",
        [Profile.STANDARD, Profile.TREC, Profile.QUEPID, Profile.OPENSEARCH_SRW, Profile.OPENSEARCH_SRW_3_5],
    )
    def test_elsewhere_an_unjudged_document_has_no_grade(self, profile):
        with pytest.raises(MeasureError, match=f"an unjudged document has no grade under the profile {profile}"):
            score("nDCG(unjudged=2)@10", [3, None], profile=profile)


class TestPrecisionOfOneHit:
    @pytest.mark.parametrize(
        "profile", [Profile.RANK_EVAL, Profile.OPENSEARCH_SRW, Profile.OPENSEARCH_SRW_3_5, Profile.RRE, Profile.QUEPID]
    )
    def test_divided_by_the_hits(self, profile):
        assert score("P@10", [1], profile=profile) == 1

    @pytest.mark.parametrize("profile", [Profile.STANDARD, Profile.TREC])
    def test_divided_by_the_cutoff(self, profile):
        assert score("P@10", [1], profile=profile) == 0.1

    def test_either_can_be_asked_for(self):
        assert score("P(over=hits)@10", [1]) == 1
        assert score("P(over=cutoff)@10", [1], profile=Profile.RANK_EVAL) == 0.1


class TestRre:
    def test_a_grade_below_0_loses(self):
        ndcg, grades = parse_measure("nDCG"), {"bad": -1, "good": 3}
        first, without = (score_query(ndcg, [each, "good"], grades, profile=Profile.RRE) for each in ("bad", "x"))
        assert first < without
        assert score_query(ndcg, ["good"], grades, profile=Profile.RRE) > 1, "the ideal holds the bad one too"

    def test_terms_and_result_are_cut_to_two_decimals(self):
        terms = [7, 1.89, 3.5, 0, 0.38, 1.06]
        ideal = [7, 4.41, 1.5, 1.29, 0.38, 0]
        assert score("nDCG@10", [3, 2, 3, 0, 1, 2], profile=Profile.RRE) == int(sum(terms) / sum(ideal) * 100) / 100

    def test_gains_of_many_digits_are_divided_too(self):
        assert score("nDCG@10", [300, 1000, 0], profile=Profile.RRE) == 0.63

    def test_a_grade_without_a_gain_is_told(self):
        with pytest.raises(MeasureError, match="grade 1024 is too large"):
            score("nDCG@10", [1024], profile=Profile.RRE)

    @pytest.mark.parametrize("text", ["nDCG@10", "P@10", "P", "R@10", "RR@10", "AP", "ERR@10"])
    def test_no_hits_and_no_judgments_score_1(self, text):
        assert score(text, [], profile=Profile.RRE) == 1
        assert score(text, [], not_returned=[3], profile=Profile.RRE) == (1 if text == "ERR@10" else 0)

    def test_f_of_nothing_is_made_of_both(self):
        assert score("F@10", [], profile=Profile.RRE) == 1

    def test_an_unjudged_document_has_grade_2_in_err(self):
        useful, unknown = 7 / 8, 3 / 8
        expected = useful + (1 - useful) * unknown / 2
        assert score("ERR@10", [3, None], profile=Profile.RRE) == pytest.approx(expected, abs=1e-8)
        assert score("ERR(unjudged=0)@10", [3, None], profile=Profile.RRE) == pytest.approx(useful, abs=1e-8)
        assert score("ERR@10", [None, None], not_returned=[3], profile=Profile.RRE) == 0

    def test_every_judged_document_is_relevant(self):
        assert score("P@4", [0, None, 1], profile=Profile.RRE) == 0.67
        assert score("R@4", [0, None, 1], not_returned=[3], profile=Profile.RRE) == 0.6667
        assert score("AP", [None, 0], profile=Profile.RRE) == 0.5

    def test_rr_is_that_of_the_best_grade_returned(self):
        assert score("RR@10", [1, 0, 3], profile=Profile.RRE) == 0.33
        assert score("RR@10", [0, None], profile=Profile.RRE) == 0

    def test_decimals_go_up_in_recall_and_precision_without_cutoff(self):
        assert score("P", [1, None, None], profile=Profile.RRE) == 0.3334
        assert score("R", [1], not_returned=[1, 1], profile=Profile.RRE) == 0.3334
        precision, recall = 0.33, 0.5
        expected = 2 * 0.1988  # 0.165 / 0.83, rounded up to four decimals
        assert precision * recall / (precision + recall) < expected / 2
        assert score("F@10", [1, None, None], not_returned=[1], profile=Profile.RRE) == pytest.approx(expected)


class TestTrec:
    def test_order_by_score_ties_by_id_descending_in_bytes(self):
        ranking = ["a", "b", "é", "~", "Z"]
        assert sort_by_score(ranking, [1, 1, 1, 1, 1]) == ["é", "~", "b", "a", "Z"]
        assert sort_by_score(["d10", "d9", "d1"], [1, 1, 2]) == ["d1", "d9", "d10"]

    def test_infinities_are_scores_and_minus_0_is_0(self):
        assert sort_by_score(["a", "b", "c", "d"], [-inf, inf, 0.0, -0.0]) == ["b", "d", "c", "a"]

    def test_scores_are_float64(self):
        assert sort_by_score(["a", "b"], [16777216.0, 16777217.0]) == ["b", "a"]

    @pytest.mark.parametrize("scores", [[nan], [2.0, nan], [nan, 2.0], [3.0, nan, 1.0]])
    def test_a_score_that_is_no_number_wherever_it_stands(self, scores):
        with pytest.raises(UsageError, match="is not a number"):
            sort_by_score(["a", "b", "c"][: len(scores)], scores)

    @pytest.mark.parametrize("scores", [[], [1.0], [3.0, 2.0, 1.0], [inf, 0.0, -inf]])
    def test_what_is_in_order_stays(self, scores):
        ranking = ["a", "b", "c"][: len(scores)]
        assert sort_by_score(ranking, scores) == ranking

    def test_a_score_that_is_no_number(self):
        with pytest.raises(UsageError, match="the score of document 'b' is not a number"):
            sort_by_score(["a", "b"], [1.0, nan])

    def test_as_many_scores_as_documents(self):
        with pytest.raises(UsageError, match="2 documents came with 1 scores"):
            sort_by_score(["a", "b"], [1.0])

    def test_where_a_score_is_not_known_the_order_stands(self):
        assert sort_by_score(["a", "b"], [1.0, None]) == ["a", "b"]

    def test_only_this_profile_reorders(self):
        grades = {"b": 1}
        for profile in Profile:
            value = score_query(parse_measure("RR"), ["a", "b"], grades, profile=profile, scores=[1.0, 2.0])
            assert value == (1 if profile is Profile.TREC else 0.5)

    def test_a_negative_grade(self):
        returned = [-1, 1, None]
        assert score("nDCG@3", returned, profile=Profile.TREC) == pytest.approx(1 / log2(3))
        assert score("Judged@3", returned, profile=Profile.TREC) == pytest.approx(2 / 3)
        assert score("Bpref", returned, not_returned=[0], profile=Profile.TREC) == 1
        assert score("Bpref", returned, not_returned=[0]) == 0
        pooled = 1 / 2 + 1 / 2 * 1 * 0.5
        assert score("infAP", returned, profile=Profile.TREC) == pytest.approx(pooled)
        assert score("infAP", [None, 1], profile=Profile.TREC) == pytest.approx(1 / 2)

    def test_a_negative_grade_is_no_judgment_where_only_judged_documents_count(self):
        returned = [-1, 1]
        assert score("RR(judged_only=true)", returned) == 0.5
        assert score("RR(judged_only=true)", returned, profile=Profile.TREC) == 1

    def test_judged_is_over_the_lesser_of_cutoff_and_hits(self):
        assert score("Judged@10", [1, None], profile=Profile.TREC) == 0.5
        assert score("Judged@1", [1, None], profile=Profile.TREC) == 1

    def test_ap_is_over_all_relevant_documents(self):
        assert score("AP@1", [1, 1], not_returned=[1, 1], profile=Profile.TREC) == 0.25

    def test_fractional_grades_are_kept(self):
        assert score("DCG@1", [0.5], profile=Profile.TREC) == 0.5
        assert score("P@1", [0.5], not_returned=[1], profile=Profile.TREC) == 0
        assert score("P(rel=0.5)@1", [0.5], profile=Profile.TREC) == 1

    def test_the_suites_gain_is_used_where_it_gives_one(self):
        gain = Gain(GainKind.MAP, ((1, 3.5), (2, 9)))
        assert score("DCG@1", [2], profile=Profile.TREC, gain=gain) == 9
        assert score("DCG(gain=exponential)@1", [3], profile=Profile.TREC) == 7


@pytest.mark.parametrize("profile", OTHERS)
@pytest.mark.parametrize("text", ["nDCG@10", "AP", "P@5", "RR", "R@5", "ERR(max=4)@5", "Success@5"])
def test_nothing_relevant_is_0_in_every_other_system(profile, text):
    with pytest.raises(UndefinedScore):
        score(text, [None])
    if profile is not Profile.RRE:
        assert score(text, [0, None], profile=profile) == 0


class TestWorkbench:
    """Since 3.6.0 a document is relevant from a grade on that all grades of its query decide."""

    RETURNED, MISSING = (1, 2, None, 5, 0), (3, 3, 5, 0, 1)

    def test_relevant_is_from_the_90th_percentile_on_or_from_half_the_greatest(self):
        assert score("P@5", self.RETURNED, not_returned=self.MISSING, profile=Profile.OPENSEARCH_SRW) == 0.2
        assert score("P@5", self.RETURNED, not_returned=self.MISSING, profile=Profile.OPENSEARCH_SRW_3_5) == 0.6
        rare = [0] * 18
        assert score("R@1", [6], not_returned=[4, 2, *rare], profile=Profile.OPENSEARCH_SRW) == 0.5
        assert score("R@1", [6], not_returned=[4, 2, *rare], profile=Profile.OPENSEARCH_SRW_3_5) == 1 / 3

    @pytest.mark.parametrize("text", ["P", "R", "F", "RR", "AP", "Rprec", "Success", "NumRel", "NumRelRet", "RBP"])
    def test_every_measure_of_what_is_relevant_has_that_level(self, text):
        found = score(text, self.RETURNED, not_returned=self.MISSING, profile=Profile.OPENSEARCH_SRW)
        same = score(f"{text}(rel=5)", self.RETURNED, not_returned=self.MISSING, profile=Profile.OPENSEARCH_SRW_3_5)
        assert found == same

    def test_a_level_in_a_measure_s_text_wins(self):
        own = {"not_returned": self.MISSING, "profile": Profile.OPENSEARCH_SRW}
        assert score("P(rel=1)@5", self.RETURNED, **own) == 0.6
        assert score("RBP(max=5)", self.RETURNED, **own) == score(
            "RBP(max=5)", self.RETURNED, not_returned=self.MISSING
        )

    def test_grades_of_0_or_less_are_never_relevant(self):
        for returned in ([0, 0], [-1, -2], [None]):
            assert score("P@2", returned, profile=Profile.OPENSEARCH_SRW) == 0

    def test_a_tie_band_has_the_same_level(self):
        grades = {"a": 1, "b": 5, "c": 2}
        band = tie_band(parse_measure("RR"), ["a", "b", "c"], [1, 1, 1], grades, profile=Profile.OPENSEARCH_SRW)
        assert (band.least, band.greatest) == (pytest.approx(1 / 3), 1)


class TestInterpolatedPrecision:
    """iprec_at_recall of trec_eval 10 rounds recall times R to the nearest; 9 rounded it up from a tenth on."""

    @pytest.mark.parametrize(("recall", "up", "nearest"), [(0.4, 2 / 3, 1), (0.5, 2 / 3, 2 / 3), (1, 3 / 5, 3 / 5)])
    def test_it(self, recall, up, nearest):
        returned = [1, 0, 1, None, 1]
        assert score(f"IPrec@{recall}", returned) == pytest.approx(up)
        assert score(f"IPrec@{recall}", returned, profile=Profile.TREC) == pytest.approx(nearest)
        assert score(f"IPrec(rounding=up)@{recall}", returned, profile=Profile.TREC) == pytest.approx(up)

    def test_recall_that_is_not_reached(self):
        assert score("IPrec@0.5", [1, 0], not_returned=[1, 1]) == 0
        assert score("IPrec@0", [0, 1], not_returned=[1]) == 0.5
        assert score("IPrec@0", [0, 0], not_returned=[1]) == 0


class TestResidualOfRbp:
    """rbp_resid of trec_eval 10: a grade below 0 is no judgment, and where no hit is unjudged there is no residual."""

    def test_a_grade_below_0(self):
        assert score("RBPResidual(p=0.8)", [2, None, 1, -1]) == pytest.approx(0.8**4 + 0.2 * 0.8)
        trec = score("RBPResidual(p=0.8)", [2, None, 1, -1], profile=Profile.TREC)
        assert trec == pytest.approx(0.8**4 + 0.2 * (0.8 + 0.8**3))
        assert trec == pytest.approx(0.672)  # rbp_resid.p=0.8 of trec_eval 10.0 on the same four hits

    @pytest.mark.parametrize("returned", [[], [1], [3, 0, 1]])
    def test_no_hit_is_unjudged(self, returned):
        assert score("RBPResidual(p=0.8)", returned, not_returned=[1]) == pytest.approx(0.8 ** len(returned))
        assert score("RBPResidual(p=0.8)", returned, not_returned=[1], profile=Profile.TREC) == 0

    def test_a_query_that_is_not_in_the_run(self):
        measure = parse_measure("RBPResidual")
        judgments, rankings = {"q": {"a": 1}, "gone": {"a": 1}}, {"q": ["x"]}
        for profile, residual in ((Profile.TREC, 0), (Profile.STANDARD, 1)):
            scores = evaluate(rankings, judgments, [measure], profile=profile, complete=True).scores
            assert scores["RBPResidual"] == {"q": pytest.approx(1), "gone": residual}

    def test_either_can_be_asked_for(self):
        assert score("RBPResidual(tail=unjudged)", [1]) == 0
        assert score("RBPResidual(tail=always)", [1], profile=Profile.TREC) == 0.8
        assert score("RBPResidual(negative=judged,tail=unjudged)", [-1], profile=Profile.TREC) == 0


@pytest.mark.parametrize("profile", [Profile.QUEPID, Profile.OPENSEARCH_SRW_3_5])
def test_any_positive_grade_is_relevant(profile):
    assert score("P@1", [0.2], profile=profile) == 1
    assert score("AP", [None, 0.2], profile=profile) == 0.5
    assert score("P(rel=1)@1", [0.2], not_returned=[1], profile=profile) == 0


def test_quepids_cg_is_of_grades():
    assert score("CG@10", [3, 2], profile=Profile.QUEPID) == 5
    assert score("CG@10", [3, 2]) == 10


def test_rank_eval_cuts_before_it_leaves_out_unjudged_documents():
    returned = [None, 1, 1]
    assert score("P(judged_only=true)@2", returned, profile=Profile.RANK_EVAL) == 1
    assert score("R(judged_only=true)@2", returned, profile=Profile.RANK_EVAL) == 0.5
    assert score("R(judged_only=true)@2", returned) == 1
