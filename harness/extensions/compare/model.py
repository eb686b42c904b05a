"""Two runs or more side by side, each compared with the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from harness.extensions.compare.why.model import WhyReport
from harness.model.comparison import Agreement, Comparison, MeasurePlan, MovedDocument
from harness.model.kept import TextDiff
from harness.model.report import QuoteReport
from harness.model.run import QuotePlaces, Verdict
from harness.model.suite import Profile
from harness.model.timing import ReportTiming
from harness.redaction import UNMASKED


class SideKind(StrEnum):
    """The source of one side of a comparison: the word before the colon where it is written as text."""

    BASELINE = "baseline"
    REPORT = "report"
    RUN = "run"
    REQUEST = "request"
    INDEX = "index"
    CLUSTER = "cluster"
    EMBEDDED = "embedded"
    """A cluster, once it was searched."""
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs of a comparison, and its source."""

    name: str = field(metadata=UNMASKED)
    kind: SideKind
    engine: str = field(default="", metadata=UNMASKED)
    request: str | None = field(default=None, metadata=UNMASKED)
    index: str | None = None
    created: str = field(default="", metadata=UNMASKED)
    """Empty if unknown or now."""
    unanswered: Mapping[str, str] = field(default_factory=dict)
    """Query to the reason why it has no ranking."""
    cluster: str = ""
    """The name of the server that was searched; empty if it is not known."""


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """One query in two runs."""

    id: str = field(metadata=UNMASKED)
    text: str
    tags: tuple[str, ...] = field(default=(), metadata=UNMASKED)
    scores: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict, metadata=UNMASKED)
    """Measure to reference score and candidate score, None if a side has none."""
    documents: tuple[MovedDocument, ...] = ()
    """
    Each document of either ranking once: the candidate's in its order, then those only in the reference; empty if a
    side has no ranking.
    """
    entered: int = 0
    """The number of documents only in the candidate."""
    left: int = 0
    """The number of documents only in the reference."""
    moved: int = 0
    """The number of documents with another rank."""
    rbo: float | None = None
    """None if it is undefined or a side has no ranking, as are *overlap* and *tau*."""
    overlap: float | None = None
    tau: float | None = None
    ties_only: bool = False
    """Whether only the order among ties changed."""
    quotes: tuple[QuoteReport, ...] = ()
    """Its quotes with their places in the candidate, and as *was* in the reference; empty if a side has no ranking."""

    @property
    def has_only_quotes(self) -> bool:
        """Whether quotes say what is relevant, and no document has a grade."""
        return bool(self.quotes) and all(document.grade is None for document in self.documents)

    @property
    def changed_quotes(self) -> list[tuple[int, QuoteReport]]:
        """The quotes of which another share is in the hits, with their numbers in the suite; the most lost first."""
        changed = [(number, quote) for number, quote in enumerate(self.quotes, start=1) if quote.gained]
        return sorted(changed, key=lambda pair: pair[1].gained)

    def list_places(self, *, of_reference: bool) -> list[QuotePlaces]:
        """The places of each of its quotes on one side."""
        if of_reference:
            return [quote.was or () for quote in self.quotes]
        return [quote.hits for quote in self.quotes]


@dataclass(frozen=True, slots=True)
class SideCoverage:
    """How many of the first hits of one side are judged."""

    judged: float | None
    """The mean of Judged@k; None if no query has it."""
    hits: int
    """The number of hits in the top k."""
    unjudged: int
    """The number of those without a judgment."""
    queries: int
    """The number of queries with unjudged hits."""
    irrelevant: int = 0
    """The number of hits with a grade of 0 or less."""


@dataclass(frozen=True, slots=True)
class DifferenceRange:
    """How far the unjudged hits of both sides may move the mean difference of a measure."""

    measure: str
    low: float
    """
    The difference if every unjudged hit had the worst or the best grade, whichever favors the reference most; for
    *high* the candidate.
    """
    high: float


@dataclass(frozen=True, slots=True)
class JudgedHits:
    """How far the hits of both sides are judged."""

    depth: int
    """The number of ranks looked at: the k of the top k."""
    queries: int
    """The number of queries that both sides have a score for."""
    reference: SideCoverage
    candidate: SideCoverage
    ranges: tuple[DifferenceRange, ...] = ()
    """One for each measure that depends on grades; empty if all hits are judged."""
    pool_command: str = ""
    """The command that collects the unjudged hits of both sides; empty if there is none."""
    judged_only: str = ""
    """A measure that leaves out unjudged hits; empty if all hits are judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideComparison:
    """One side compared with the reference."""

    reference: Side
    candidate: Side
    gain: str = field(metadata=UNMASKED)
    profile: Profile
    depth: int
    measures: Comparison | None = field(metadata=UNMASKED)
    """None without judgments."""
    agreement: Agreement | None = field(metadata=UNMASKED)
    """None if no query has a ranking on both sides."""
    queries: tuple[QueryComparison, ...]
    """Those that changed most come first."""
    verdicts: tuple[Verdict, ...] = ()
    """One for each threshold of the comparison."""
    warnings: tuple[str, ...] = ()
    """What makes the figures say less than they seem to, such as queries that chose the request."""
    notes: tuple[str, ...] = ()
    only_reference: tuple[str, ...] = field(default=(), metadata=UNMASKED)
    """Queries that only this side has; likewise *only_candidate*."""
    only_candidate: tuple[str, ...] = field(default=(), metadata=UNMASKED)
    judged: JudgedHits | None = None
    """None if it is not known which documents are judged."""
    request_diff: TextDiff | None = None
    """How the two requests differ, from the reference to the candidate; None if they do not, or if one is not known."""
    own_depths: tuple[int, ...] = ()
    """
    How many hits measures without a cutoff count of the reference and of the candidate; empty if all measures have a
    cutoff, or both sides asked for *depth* hits.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonReport(SideComparison):
    """
    Sides beside each other, as the terminal, the HTML page and the JSON file show them.

    The report is itself the comparison of the second side with the first; *further* has those of the other sides. So
    the JSON of two sides is that of more without these.
    """

    timing: ReportTiming = field(metadata=UNMASKED)
    harness: str = field(metadata=UNMASKED)
    """The version of the harness."""
    suite: str = field(metadata=UNMASKED)
    further: tuple[SideComparison, ...] = ()
    """One for each side after the second, all with the same reference; p is corrected over all their measures."""
    why: WhyReport | None = None
    """Which differences between the two requests moved the results; None where that was not asked for."""
    exit_status: int = 0
    """3 if a query of any side failed or a threshold is undecided, else 1 if a threshold fails, else 0."""
    schema: int = 1
    """The version of the JSON form."""

    @property
    def comparisons(self) -> tuple[SideComparison, ...]:
        """One for each side after the first."""
        return (self, *self.further)

    @property
    def names(self) -> list[str]:
        """The names of the sides after the first."""
        return [comparison.candidate.name for comparison in self.comparisons]

    def list_sides(self) -> list[Side]:
        """The reference, then the others; a query without a ranking has the reason of any comparison."""
        unanswered: dict[str, str] = {}
        for comparison in self.comparisons:
            unanswered.update(comparison.reference.unanswered)
        reference = replace(self.reference, unanswered=unanswered)
        return [reference, *(comparison.candidate for comparison in self.comparisons)]


@dataclass(frozen=True, slots=True)
class PlanReport:
    """How many queries would show an effect, by the paired differences of two sides."""

    suite: str
    reference: str
    candidate: str
    effect: float
    """In the unit of each measure."""
    level: float
    """Of the paired t test."""
    alternative: str
    weighted: bool
    """Whether means use weights of queries."""
    measures: tuple[MeasurePlan, ...]
    warnings: tuple[str, ...] = ()
    """As in a comparison."""
    notes: tuple[str, ...] = ()
    """Sentences on the two sides."""
    exit_status: int = 0
    """3 if a query of either side has no answer, else 0."""
    schema: int = 1
    """The version of the JSON form."""
