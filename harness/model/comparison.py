"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.run import Verdict
from harness.model.suite import Profile


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """
    One measure of two runs over the queries that both scored.

    *difference* is candidate minus reference, with the limits of its confidence interval. *p_value* is of the test
    named in `Comparison`, *adjusted* corrected for the number of measures; *least_p* is the least that so many queries
    can give. *detectable* is the smallest true difference that the test finds in such queries with 80 % power, None
    where it is not known; where *detectable_if_all_move*, all of them would have to move. *moved* holds (query,
    reference, candidate), the greatest change first.
    """

    measure: str
    queries: int
    reference: float
    candidate: float
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    least_p: float
    wins: int
    ties: int
    losses: int
    effect: float | None
    detectable: float | None
    moved: tuple[tuple[str, float, float], ...] = ()
    detectable_if_all_move: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    A candidate run beside a reference run, measure by measure, and how that was tested.

    *left_out* counts by measure the queries that were not scored in both. *weighted* says that the means, and what is
    tested, count queries by what they weigh; wins, ties and losses count each alike.
    """

    reference: str
    candidate: str
    test: str
    alternative: str
    level: float
    correction: str
    measures: tuple[MeasureComparison, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    samples: int = 0
    seed: int = 0
    weighted: bool = False


class SideKind(StrEnum):
    """What one of the two that are compared came from."""

    BASELINE = "baseline"
    REPORT = "report"
    RUN = "run"
    REQUEST = "request"
    INDEX = "index"
    CLUSTER = "cluster"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Side:
    """
    One of the two that are compared: *name* is what people call it, *kind* and the rest what it came from.

    *created* is when it was made, where that is known and not now; *engine* what answered. *unanswered* holds the
    queries that have no ranking, with the reason.
    """

    name: str
    kind: SideKind
    engine: str = ""
    request: str | None = None
    index: str | None = None
    created: str = ""
    unanswered: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """
    One document of two rankings: its rank in each, counting from 1, None where it is not there.

    *grade* and *gain* are None for an unjudged document; *tied* says that only an order among equal scores changed.
    """

    id: str
    reference: int | None
    candidate: int | None
    grade: float | None = None
    gain: float | None = None
    title: str | None = None
    tied: bool = False


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """
    One query in two runs.

    *scores* maps a measure to (reference, candidate), None where a side has none. *documents* holds each document of
    either ranking once: those of the candidate in its order, then those that left in the reference's; none where a side
    has no ranking. *entered*, *left* and *moved* count them. *rbo*, *overlap* and *tau* say how far the rankings agree,
    None where that is undefined or a side has no ranking. *ties_only* says that nothing but the order among equal
    scores changed.
    """

    id: str
    text: str
    tags: tuple[str, ...] = ()
    scores: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    documents: tuple[MovedDocument, ...] = ()
    entered: int = 0
    left: int = 0
    moved: int = 0
    rbo: float | None = None
    overlap: float | None = None
    tau: float | None = None
    ties_only: bool = False


@dataclass(frozen=True, slots=True)
class Agreement:
    """
    How far two runs rank alike, with no judgment needed.

    Means over the *queries* that both answered, each counting what it weighs, down to *depth*: rank-biased overlap with
    persistence *p*, the share of documents in common (of the longer ranking where both are shorter than *depth*), and
    Kendall's tau on these (over *tau_queries*, where it is defined). Two rankings without a hit are the same.
    *same_ranking*, *same_documents* and *same_first* count queries.
    """

    depth: int
    p: float
    queries: int
    rbo: float
    overlap: float
    tau: float | None
    tau_queries: int
    same_ranking: int
    same_documents: int
    same_first: int


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """
    Two runs of the same queries side by side: what the terminal, the HTML page and the JSON file print.

    *measures* is None where nothing is judged, *agreement* where no query has a ranking in both. *queries* stand with
    those first that moved most. *verdicts* are on the thresholds that the comparison was held to. *schema* is the
    version of the JSON form. *only_reference* and *only_candidate* are queries that the other side does not know.
    *exit_status* is 3 where a query of either side failed or a threshold could not be judged, else 1 where one does
    not hold, else 0.
    """

    created: str
    harness: str
    suite: str
    reference: Side
    candidate: Side
    gain: str
    profile: Profile
    depth: int
    measures: Comparison | None
    agreement: Agreement | None
    queries: tuple[QueryComparison, ...]
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()
    only_reference: tuple[str, ...] = ()
    only_candidate: tuple[str, ...] = ()
    exit_status: int = 0
    schema: int = 1
