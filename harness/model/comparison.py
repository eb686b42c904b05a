"""How the scores and rankings of two runs differ, and the choices and defaults of the tests of a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TESTS = ("sign-flip", "t", "wilcoxon", "sign")
CORRECTIONS = ("holm", "benjamini-hochberg", "none")
SAMPLES = 10_000
SEED = 20_020_101
TESTS_OF_MEANS = ("sign-flip", "t")
"""The tests that test the mean and take weights; the others rank or count queries."""
FEWEST_CHANGED = 20
"""Changed queries from which on an interval of a test holds the true mean about as often as its level says."""
POWER = 0.8
"""The chance of finding a difference that is called detectable."""
TEST_OPTIONS = ("test", "alternative", "level", "correction", "seed")
"""The names of the options on tests, for commands and for Python."""


@dataclass(frozen=True, slots=True)
class ReorderedTies:
    """
    Queries whose score only changes with the order of documents of equal score, which no side defines.

    The figures of the measure read such documents in the order of the reference.
    """

    queries: tuple[str, ...]
    difference: float
    """The difference of the means with such documents as returned."""


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """One measure of two runs over the queries that both scored."""

    measure: str
    queries: int
    reference: float
    candidate: float
    difference: float
    """Candidate minus reference."""
    low: float | None
    """
    The lower limit of the differences that the test does not reject, *high* the upper. None on the side that a
    one-sided test leaves open; both are None if the test can reject no difference or does not test the mean, and where
    weights are too unequal.
    """
    high: float | None
    p_value: float
    """Of the test named in `Comparison`."""
    adjusted: float
    """Corrected for the number of measures."""
    least_p: float
    """The smallest p-value possible with this number of queries."""
    wins: int
    ties: int
    losses: int
    effect: float | None
    """Cohen's d of the paired differences; None if it is undefined."""
    detectable: float | None
    """The smallest true difference that the test detects with 80 % power on average; None if unknown."""
    moved: tuple[tuple[str, float, float], ...] = ()
    """Query, reference score and candidate score of each query that changed, the greatest change first."""
    detectable_if_all_move: bool = False
    """Whether *detectable* assumes that all queries change."""
    reordered: ReorderedTies | None = None
    """None if the order of documents of equal score moves no score."""
    counts_as: int | None = None
    """As how many queries of equal weight the queries count, as in `MeasureSummary`; None where all weigh the same."""
    if_judged: tuple[float, float] | None = None
    """
    The least and the greatest *difference* that the unjudged hits of both sides allow; None if all are judged, the
    measure needs no grades, or that is not known.
    """

    @property
    def changed(self) -> int:
        """The number of queries with another score."""
        return self.wins + self.losses


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs measure by measure, and the settings of the tests."""

    reference: str
    candidate: str
    test: str
    alternative: str
    level: float
    """The significance level; the level of the intervals is 1 - *level*."""
    correction: str
    measures: tuple[MeasureComparison, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Measure to the number of queries that do not have a score in both runs."""
    samples: int = 0
    seed: int = 0
    weighted: bool = False
    """Whether means and tests use weights; wins, ties and losses ignore them."""

    def is_significant(self, row: MeasureComparison) -> bool:
        """Whether the difference of *row*, one of *measures*, is significant among all that are tested."""
        return row.adjusted <= self.level


PLANNED_POWERS = (0.5, 0.8, 0.9, 0.95)
"""The chances of finding a difference for which queries are counted."""


@dataclass(frozen=True, slots=True)
class PlannedQueries:
    """With how many queries a difference is found with a chance of *power*."""

    power: float
    queries: int
    """If the differences of queries spread as far as those that were measured."""
    queries_at_most: int
    """If their spread is at its upper 95 % limit."""
    detectable: float
    """The smallest difference that is found with this chance by as many queries as were measured."""


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """How many queries would show an effect in one measure."""

    measure: str
    queries: int
    """The number of queries with a score on both sides."""
    difference: float | None = None
    """The mean difference that was measured, candidate minus reference; None where no query has both scores."""
    standard_deviation: float | None = None
    """Of the differences of queries, each times its weight over the mean weight; None where it is not known."""
    plans: tuple[PlannedQueries, ...] = ()
    """One for each of several powers; empty where the spread is not known."""
    reason: str = ""
    """Why there is no plan."""


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """One document of two rankings."""

    id: str
    reference: int | None
    """Its rank, from 1; None if it is not there. Likewise *candidate*."""
    candidate: int | None
    grade: float | None = None
    """None for an unjudged document, as is *gain*."""
    gain: float | None = None
    title: str | None = None
    tied: bool = False
    """Whether only an order among ties changed."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the rankings of two runs agree, which needs no judgments. Means are weighted, counts are not."""

    depth: int
    """The number of ranks compared."""
    p: float
    """The persistence of *rbo*."""
    queries: int
    """The number of queries that both sides answered."""
    rbo: float
    """Mean rank-biased overlap."""
    overlap: float
    """Mean share of documents in common, relative to the longer ranking if both are shorter than *depth*."""
    tau: float | None
    """Mean of Kendall's tau of the documents in common."""
    tau_queries: int
    """The number of queries for which tau is defined."""
    same_ranking: int
    """The number of queries with the same ranking; two empty rankings are the same."""
    same_documents: int
    """The number of queries with the same documents, in any order."""
    same_first: int
    """The number of queries with the same first document."""
