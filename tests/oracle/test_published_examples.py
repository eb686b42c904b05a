"""
The figures that other systems publish in tests of their own measures, each with the file that has them.

Their rankings and grades are written anew here; the numbers are theirs.

- Elasticsearch, elastic/elasticsearch: modules/rank-eval/src/test/java/org/elasticsearch/index/rankeval, and the YAML
  tests in modules/rank-eval/src/yamlRestTest/resources/rest-api-spec/test/rank_eval.
- OpenSearch, opensearch-project/OpenSearch: modules/rank-eval/src/test/java/org/opensearch/index/rankeval.
- The Search Relevance Workbench, opensearch-project/search-relevance, before 3.6.0 and since:
  src/test/java/org/opensearch/searchrelevance/metrics/calculator.
"""

import pytest

from harness.metrics import parse_measure, score_query
from harness.metrics.profiles import workbench_level
from harness.metrics.rank_correlation import rbo
from harness.metrics.user_models import stop_probability
from harness.model.suite import Profile

RANK_EVAL, SRW, SRW_3_5 = Profile.RANK_EVAL, Profile.OPENSEARCH_SRW, Profile.OPENSEARCH_SRW_3_5


def score(profile, text, returned, *, elsewhere=()):
    """The score of hits with these grades, None for unjudged, beside documents that are judged and not returned."""
    grades = {f"d{rank}": grade for rank, grade in enumerate(returned) if grade is not None}
    grades |= {f"e{number}": grade for number, grade in enumerate(elsewhere)}
    return score_query(parse_measure(text), [f"d{rank}" for rank, _ in enumerate(returned)], grades, profile=profile)


class TestDiscountedCumulativeGain:
    """DiscountedCumulativeGainTests.java of both engines; within 1e-13, as they have it."""

    SIX, FIVE_OF_SIX = [3, 2, 3, 0, 1, 2], [3, 2, 3, None, 1, None]

    @pytest.mark.parametrize(
        ("text", "returned", "elsewhere", "published"),
        [
            ("DCG@10", SIX, [], 13.84826362927298),
            ("nDCG@10", SIX, [], 13.84826362927298 / 14.595390756454922),
            ("DCG@10", FIVE_OF_SIX, [], 12.779642067948913),
            ("nDCG@10", FIVE_OF_SIX, [], 12.779642067948913 / 13.347184833073591),
            ("DCG@10", FIVE_OF_SIX[:4], [1], 12.392789260714371),
            ("nDCG@10", FIVE_OF_SIX[:4], [1], 12.392789260714371 / 13.347184833073591),
            ("DCG@10", [], [3, 2, 3, 1], 0),
            ("nDCG@10", [], [3, 2, 3, 1], 0),
        ],
    )
    def test_it(self, text, returned, elsewhere, published):
        assert score(RANK_EVAL, text, returned, elsewhere=elsewhere) == pytest.approx(published, abs=1e-13)

    def test_both_directions_of_a_sort(self):
        """20_dcg.yml of Elasticsearch 6 and 7, which gives the bounds of its six decimals."""
        assert 13.848263 < score(RANK_EVAL, "DCG@10", self.SIX) < 13.848264
        assert 10.299674 < score(RANK_EVAL, "DCG@10", self.SIX[::-1]) < 10.299675
        mean = (score(RANK_EVAL, "DCG@10", self.SIX) + score(RANK_EVAL, "DCG@10", self.SIX[::-1])) / 2
        assert 12.073969 < mean < 12.073970


class TestExpectedReciprocalRank:
    """ExpectedReciprocalRankTests.java of both engines."""

    @pytest.mark.parametrize(("grade", "published"), [(0, 0), (1, 1), (2, 3), (3, 7), (4, 15), (5, 31)])
    def test_probability_of_relevance(self, grade, published):
        assert stop_probability(grade, 5) == published / 32

    @pytest.mark.parametrize(
        ("text", "returned", "published"),
        [
            ("ERR(max=3,unjudged=0)@3", [3, 2, 0, 1], 0.8984375),
            ("ERR(max=3,unjudged=0)@4", [3, 2, 0, 1], 0.8984375 + 0.00244140625),
            ("ERR(max=3)@4", [3, None, 0, 1], 0.875 + 0.00390625),
            ("ERR(max=3,unjudged=2)@4", [3, None, 0, 1], 0.8984375 + 0.00244140625),
            ("ERR(max=5,unjudged=0)@10", [], 0),
        ],
    )
    def test_it(self, text, returned, published):
        assert score(RANK_EVAL, text, returned) == pytest.approx(published, abs=1e-13)

    def test_over_the_wire(self):
        """10_basic.yml: one relevant hit, in the third place of one query and in the second of another."""
        values = [score(RANK_EVAL, "ERR(max=1)@5", returned) for returned in ([None, None, 1], [None, 1])]
        assert 0.2083333 < sum(values) / 2 < 0.2083334


class TestBinaryMeasures:
    """PrecisionAtKTests.java, RecallAtKTests.java and MeanReciprocalRankTests.java of both engines."""

    @pytest.mark.parametrize(
        ("text", "returned", "elsewhere", "published"),
        [
            ("P@10", [1], [], 1),
            ("P@10", [1, 1, 1, 1, 0], [], 4 / 5),
            ("P(rel=2)@5", [0, 1, 2, 3, 4], [], 3 / 5),
            ("P@5", [1, 1, 0], [1, 1], 2 / 3),
            ("P@10", [1, 1, None], [], 2 / 3),
            ("P(judged_only=true)@10", [1, 1, None], [], 1),
            ("P@10", [None] * 5, [], 0),
            ("P(judged_only=true)@10", [None] * 5, [], 0),
            ("P@10", [], [], 0),
            ("R@10", [1], [], 1),
            ("R@10", [1, 1, 1, 1, 0], [], 1),
            ("R(rel=2)@5", [0, 1, 2], [3, 4], 1 / 3),
            ("R@5", [1, 1, 0], [1, 1], 2 / 4),
            ("R@10", [None] * 5, [], 0),
            ("R@10", [], [], 0),
            ("R@10", [], [1], 0),
            ("RR(rel=2)@10", [0, 1, 2, 3, 4], [], 1 / 3),
            ("RR@10", [None] * 10, [], 0),
            ("RR@10", [], [], 0),
        ],
    )
    def test_it(self, text, returned, elsewhere, published):
        assert score(RANK_EVAL, text, returned, elsewhere=elsewhere) == pytest.approx(published, abs=1e-13)

    @pytest.mark.parametrize("place", range(10))
    def test_one_relevant_document_at_any_place(self, place):
        grades = [int(rank == place) for rank in range(21)]
        assert score(RANK_EVAL, "RR@10", grades[:10], elsewhere=grades[10:]) == 1 / (place + 1)
        assert score(RANK_EVAL, "RR@10", grades[:place], elsewhere=grades[place:]) == 0

    def test_over_the_wire(self):
        """10_basic.yml and 40_rank_eval_templated.yml."""
        assert score(RANK_EVAL, "P(judged_only=true)@10", [1, 1, None], elsewhere=[0]) == 1
        assert score(RANK_EVAL, "P(judged_only=true)@10", [1, None]) == 1
        reciprocal = [score(RANK_EVAL, "RR@10", returned) for returned in ([None, None, 1], [None, 1])]
        assert reciprocal == [pytest.approx(1 / 3), 0.5]
        assert 0.416 < sum(reciprocal) / 2 < 0.417
        assert (score(RANK_EVAL, "P@10", [1, 1, 1, 1, None]) + score(RANK_EVAL, "P@10", [1])) / 2 == 0.9


GRADES = [number % 3 for number in range(1, 21)]
"""The twenty documents of EvaluationTests.java: grades 1, 2, 0, 1, 2, 0 and so on, returned in that order."""


class TestWorkbench:
    """EvaluationTests.java of the workbench, which rounds to two decimals; the first column is today's, since 3.6.0."""

    @pytest.mark.parametrize(
        ("text", "returned", "since", "before"),
        [
            ("P@20", 20, 0.35, 0.7),
            ("P@5", 20, 0.4, 0.8),
            ("P@8", 5, 0.4, 0.8),
            ("P@5", 8, 0.4, 0.8),
            ("AP@20", 20, 0.39, 0.76),
            ("AP@5", 5, 0.13, 0.25),
            ("AP@8", 5, 0.13, 0.25),
            ("AP@5", 8, 0.13, 0.25),
            ("nDCG@20", 20, 0.76, 0.76),
            ("nDCG@5", 5, 0.51, 0.51),
            ("nDCG@8", 5, 0.4, 0.4),
            ("nDCG@5", 8, 0.51, 0.51),
            ("R@20", 20, 1, None),
            ("R@5", 20, 0.29, None),
            ("R@5", 0, 0, None),
            ("RR@20", 20, 0.5, None),
            ("RR@1", 20, 0, None),
            ("DCG@5", 20, 4.48, None),
            ("DCG@5", 0, 0, None),
            ("P@5", 0, 0, None),
            ("AP@5", 0, 0, None),
            ("nDCG@5", 0, 0, None),
        ],
    )
    def test_twenty_documents(self, text, returned, since, before):
        for profile, published in ((SRW, since), (SRW_3_5, before)):
            if published is not None:
                value = score(profile, text, GRADES[:returned], elsewhere=GRADES[returned:])
                assert round(value, 2) == published, profile

    @pytest.mark.parametrize(
        ("grades", "since"),
        [([1] * 7 + [0] * 3, 0.7), ([3] * 5, 1), ([number % 5 + 1 for number in range(10)], 0.2)],
        ids=["binary", "constant", "1 to 5"],
    )
    def test_precision_of_other_scales(self, grades, since):
        assert score(SRW, f"P@{len(grades)}", grades) == pytest.approx(since)

    def test_strangers(self):
        for text in ("P@3", "AP@3", "RR@5"):
            assert score(SRW, text, [None] * 3, elsewhere=GRADES) == 0

    @pytest.mark.parametrize(
        ("grades", "published"),
        [
            ([1] * 10, 1),
            ([3] * 5, 3),
            ([1] * 7 + [0] * 3, 1),
            ([1] * 2 + [0] * 8, 1),
            ([0] * 91 + [1] * 9, 0.5),
            (GRADES, 2),
            ([number % 5 + 1 for number in range(10)], 5),
            ([number % 5 + 1 for number in range(50)], 5),
            ([number / 10 for number in range(11)], 0.9),
            ([1, 2, 3], 3),
            ([0, 5], 5),
            ([4], 4),
            ([0] * 18 + [1, 10], 5),
            ([number % 5 for number in range(1000)], 4),
            ([-1, 0, 3], 3),
        ],
    )
    def test_threshold(self, grades, published):
        """JudgmentThresholdCalculatorTests.java."""
        assert workbench_level(grades) == pytest.approx(published)

    @pytest.mark.parametrize("grades", [[], [0] * 10, [0], [-1, -2]])
    def test_where_it_is_0_there_any_grade_above_0_is_relevant(self, grades):
        """The same; a document has to be above 0 besides."""
        assert 0 < workbench_level(grades) < 1e-300

    def test_overlap_of_rankings_is_another_measure_there(self):
        """
        PairComparisonTests.java has 0.86 for a, b, c beside a, c, b at p = 0.5, not extrapolated and over 1 - p^depth.

        Here it is extrapolated, as the source has it. Rankings that are the same give 1 and strangers 0 in both.
        """
        first, second = ["a", "b", "c"], ["a", "c", "b"]
        seen = (1 - 0.5) * sum(share * 0.5**depth for depth, share in enumerate([1, 1 / 2, 1])) / (1 - 0.5**3)
        assert round(seen, 2) == 0.86
        assert rbo(first, second, 0.5) == pytest.approx(seen * (1 - 0.5**3) + 0.5**3)
        assert (rbo(first, first, 0.5), rbo(first, ["d", "e", "f"], 0.9)) == (1, 0)
