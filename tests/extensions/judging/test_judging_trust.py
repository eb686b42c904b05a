"""How far a machine's grades may be trusted: beside people's on the same documents, and on requests."""

from typing import Any

import pytest

from builders.gating import ranking
from builders.suites import make_suite
from harness.agreement import Grades, Weights, cohen_kappa
from harness.extensions.judging.document import build_agreement_document
from harness.extensions.judging.model import GradedAlike, RequestMeans
from harness.extensions.judging.trust import compare_machine, rank_requests
from harness.metrics import parse_measure
from harness.model.run import Engine, Run
from harness.model.suite import Query, Suite
from harness.report.document import Table

TAGS = {"a": ("head",), "b": ("head", "shoes"), "c": ()}
PEOPLE = {("a", "1"): 2.0, ("a", "2"): 0.0, ("b", "1"): 1.0, ("b", "2"): 0.0, ("c", "1"): 2.0, ("c", "9"): 1.0}
MACHINE = {("a", "1"): 2.0, ("a", "2"): 1.0, ("b", "1"): 2.0, ("b", "2"): 0.0, ("c", "1"): 2.0, ("gone", "1"): 1.0}


def make_tagged_suite(**judgments: dict[str, float]) -> Suite:
    return make_suite(*(Query(name, name, tags=tags, judgments=judgments.get(name, {})) for name, tags in TAGS.items()))


def test_a_machine_is_compared_on_the_documents_that_people_graded_too() -> None:
    trust = compare_machine("gpt", make_tagged_suite(), PEOPLE, MACHINE)
    pairs = [(2.0, 2.0), (0.0, 1.0), (1.0, 2.0), (0.0, 0.0), (2.0, 2.0)]
    assert trust.graded == 6
    assert trust.shared == GradedAlike(5, 3, pytest.approx(0.4), cohen_kappa(pairs, weights=Weights.QUADRATIC))
    assert trust.confusion == ((0.0, 0.0, 1), (0.0, 1.0, 1), (1.0, 2.0, 1), (2.0, 2.0, 2))
    # Krippendorff's formula by hand: observed 2 * (1 + 1) / 10; expected from five 2s, two 1s and three 0s.
    assert trust.alpha == pytest.approx(1 - 0.4 / (2 * (5 * 2 * 1 + 5 * 3 * 4 + 2 * 3 * 1) / 90))


def test_it_is_told_by_grade_and_by_tag() -> None:
    trust = compare_machine("gpt", make_tagged_suite(), PEOPLE, MACHINE)
    by_grade = {grade: (alike.documents, alike.same, alike.leniency) for grade, alike in trust.by_grade.items()}
    assert by_grade == {0.0: (2, 1, 0.5), 1.0: (1, 0, 1.0), 2.0: (2, 2, 0.0)}
    assert {tag: (alike.documents, alike.leniency) for tag, alike in trust.by_tag.items()} == {
        "head": (4, 0.5),
        "shoes": (2, 0.5),
    }


def test_the_interval_of_the_leniency_is_over_queries() -> None:
    # Per query the sums of differences are 1, 1 and 0, over 2, 2 and 1 documents. By the t distribution with 2 degrees
    # of freedom (4.302653) and Fieller's ratio.
    trust = compare_machine("gpt", make_tagged_suite(), PEOPLE, MACHINE)
    assert trust.leniency_range is not None
    low, high = trust.leniency_range
    assert low < 0.4 < high
    # The limits are the ratios at which sum - ratio * size has a mean of exactly t standard errors.
    for ratio in (low, high):
        residuals = [1 - 2 * ratio, 1 - 2 * ratio, 0 - ratio]
        mean = sum(residuals) / 3
        error = (sum((one - mean) ** 2 for one in residuals) / 2 / 3) ** 0.5
        assert abs(mean) / error == pytest.approx(4.302653, abs=1e-5)


def test_one_query_has_no_interval_and_no_document_no_figure() -> None:
    assert compare_machine("gpt", make_tagged_suite(), {("a", "1"): 1.0}, MACHINE).leniency_range is None
    nothing = compare_machine("gpt", make_tagged_suite(), {}, MACHINE)
    assert nothing.shared == GradedAlike(0, 0, None, None)
    assert (nothing.alpha, nothing.confusion, nothing.leniency_range) == (None, (), None)


class TestDoubts:
    """Why a leniency says little, below the figures of `judge agreement`."""

    def list_doubts(self, people: Grades, machine: Grades) -> list[str]:
        trust = compare_machine("gpt", make_tagged_suite(), people, machine)
        [section] = build_agreement_document(None, [trust], {}).sections
        figures = section.blocks[0]
        assert isinstance(figures, Table)
        return list(figures.remarks)

    def test_a_machine_that_agrees_has_none(self) -> None:
        assert self.list_doubts(PEOPLE, MACHINE) == []

    def test_one_that_agrees_no_better_than_chance_has_a_leniency_by_accident(self) -> None:
        machine = {pair: 2.0 - grade for pair, grade in PEOPLE.items()}
        [doubt] = self.list_doubts(PEOPLE, machine)
        assert doubt.startswith("leniency says little: by kappa the grades agree no better than chance")

    def test_one_beside_grades_without_zeros_cannot_be_seen_to_be_kind(self) -> None:
        people = {pair: grade for pair, grade in PEOPLE.items() if grade}
        [doubt] = self.list_doubts(people, people)
        assert doubt.startswith("leniency says little: people gave the grade 0 to 0 of 4 documents, so how kind the")


class TestRequests:
    MEASURE = parse_measure("P@1")

    def runs(self, **tops: Any) -> dict[str, Run]:
        """A run for each request: the first document of each query."""
        return {
            request: Run({query: ranking([document]) for query, document in top.items()}, Engine("fake"), request)
            for request, top in tops.items()
        }

    def test_requests_are_ranked_by_both(self) -> None:
        suite = make_tagged_suite(a={"1": 1.0, "2": 0.0}, b={"1": 1.0, "2": 0.0}, c={"1": 1.0, "2": 0.0})
        machine = {name: {"1": 0.0, "2": 1.0} for name in ("a", "b")}
        runs = self.runs(
            old={"a": "2", "b": "2", "c": "1"}, mid={"a": "1", "b": "2", "c": "1"}, new={"a": "1", "b": "1", "c": "2"}
        )
        ranks = rank_requests(suite, runs, self.MEASURE, machine)
        assert ranks is not None
        # The machine has graded nothing of c, which is left out.
        assert ranks.queries == 2
        assert ranks.means == (
            RequestMeans("new", 1.0, 0.0),
            RequestMeans("mid", 0.5, 0.5),
            RequestMeans("old", 0.0, 1.0),
        )
        assert ranks.tau == -1.0

    @pytest.mark.parametrize("machine", [{}, {"a": {"1": 0.0}}])
    def test_without_scores_by_both_there_is_no_rank(self, machine: Any) -> None:
        runs = self.runs(old={"a": "1"}, new={"a": "2"})
        assert rank_requests(make_tagged_suite(a={"1": 1.0}), runs, parse_measure("RR"), machine) is None

    def test_one_request_has_no_rank(self) -> None:
        assert (
            rank_requests(make_tagged_suite(a={"1": 1.0}), self.runs(old={"a": "1"}), self.MEASURE, {"a": {"1": 1.0}})
            is None
        )
