"""Everything a run found out, as it is printed and written, and the baselines that it is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.run import Engine, Failure, IndexFacts, Outcome, Run, Score, Verdict
from harness.model.suite import Json, Profile


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A hit beside what is known of it: *grade* and *gain* are None for an unjudged document; *rank* counts from 1."""

    rank: int
    id: str
    grade: float | None = None
    gain: float | None = None
    score: float | None = None
    title: str | None = None
    tied: bool = False


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """
    A relevant document that is not in the ranking; *rank* is where a deeper search found it, *searched* how deep that
    went, *title* what people know it by, None where nothing told it.
    """

    id: str
    grade: float
    rank: int | None = None
    searched: int = 0
    title: str | None = None


@dataclass(frozen=True, slots=True)
class QueryReport:
    """
    All that is known of one query after a run.

    *reason* says in words why it has no score, or none of a measure; *failure* is why it has no ranking.
    *scores* maps a measure's text to its value, None where there is none. *judged* counts the query's judged documents,
    returned or not. *total* is what the engine counted, and no more than a lower bound where it stopped counting.
    *weight* is what the query counts in means, *question* a fingerprint of its text and its own params. *tail* are
    documents below *ranking* that have the score of its last, *closed* says that no other document has it.
    """

    id: str
    text: str
    outcome: Outcome
    reason: str = ""
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    ranking: tuple[RankedDocument, ...] = ()
    ideal: tuple[RankedDocument, ...] = ()
    missing: tuple[MissingDocument, ...] = ()
    total: int | None = None
    took: float | None = None
    judged: int = 0
    duplicates: tuple[str, ...] = ()
    total_is_lower_bound: bool = False
    weight: float = 1.0
    question: str = ""
    tail: tuple[str, ...] = ()
    closed: bool = False
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """
    One measure over queries: *counted* queries went in, *left_out* did not; the figures are None where none did.

    *weighted* says that the queries of the mean do not all weigh the same; the other figures count each query alike.
    """

    measure: str
    gain: str
    mean: float | None
    median: float | None
    least: float | None
    greatest: float | None
    counted: int
    left_out: int
    weighted: bool = False


@dataclass(frozen=True, slots=True)
class TagSummary:
    """
    The queries with one tag, or with none where *tag* is None; a query with two tags is in the summaries of both.

    *queries* counts them, *share* is what they weigh of all queries of the run, in (0, 1]. *summaries* are of the same
    measures as the suite's, *verdicts* the ids of the suite's thresholds `for` the tag.
    """

    tag: str | None
    queries: int
    share: float
    summaries: tuple[MeasureSummary, ...]
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineSummary:
    """The baseline that a run was held against: the ISO date of its making, and sentences on what changed since."""

    created: str
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """
    One suite, run once with one request. *queries* hold those that were selected, *deselected* counts the others.

    *tags* are the tags of these queries, those of the greatest share first, and last the queries without any; empty
    where no query has one. *baseline* is None where no threshold compares with one, or where there is none to compare
    with.
    """

    name: str
    path: str
    request: str
    cluster: str
    index: str | None
    engine: Engine
    profile: Profile
    gain: str
    depth: int
    summaries: tuple[MeasureSummary, ...]
    verdicts: tuple[Verdict, ...]
    queries: tuple[QueryReport, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    deselected: int = 0
    tags: tuple[TagSummary, ...] = ()
    baseline: BaselineSummary | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """
    Everything a run found out: what the terminal, the HTML page and the JSON file print.

    *schema* is the version of the JSON form; *created* is an ISO 8601 time in UTC; *exit_status* as decision 1 has it.
    """

    created: str
    harness: str
    suites: tuple[SuiteReport, ...]
    exit_status: int
    schema: int = 1


@dataclass(frozen=True, slots=True)
class BaselineQuery:
    """
    One query in a baseline: what became of it, its ranking as (document, score of the engine), its scores by measure.

    *question* is a fingerprint of what was asked, the query's *text* and its own *params*, which are kept for people to
    read, masked; params that are too large are None. *bands* holds (least, greatest) by measure, over all orders of
    documents that tie; a measure that no tie moves has none. *judgments* is a fingerprint of those that the scores were
    made with, *weight* what the query counts in means. *tail* are the documents below the ranking that share the score
    of its last, *closed* says that no other does.
    """

    outcome: Outcome
    question: str
    text: str
    judgments: str
    ranking: tuple[tuple[str, float | None], ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    weight: float = 1.0
    params: Mapping[str, Json] | None = field(default_factory=dict)
    tail: tuple[str, ...] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Baseline:
    """
    One request's run, kept for later runs to be held against, and what it was made from.

    *created* is an ISO date, *depth* the number of hits that were asked for, *template* a fingerprint of the request
    before placeholders were filled. *request* is that request for people to read, masked; None where it is too large.
    """

    created: str
    harness: str
    engine: str
    gain: str
    profile: Profile
    depth: int
    template: str
    index: IndexFacts
    queries: Mapping[str, BaselineQuery]
    request: Json = None


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """The baselines of one suite, by request; *schema* is the version of the JSON form."""

    suite: str
    requests: Mapping[str, Baseline]
    schema: int = 2


@dataclass(frozen=True, slots=True)
class Question:
    """
    What a query asks: a *fingerprint* of its text and its own params, empty where that is not known.

    *text* and *params* are for people to read, masked; params are None where they are not known, or too large.
    """

    fingerprint: str
    text: str
    params: Json = None

    def is_another(self, other: Question) -> bool:
        """Whether *other* asks something else, as far as both are known."""
        if self.fingerprint and other.fingerprint:
            return self.fingerprint != other.fingerprint
        return self.text != other.text


@dataclass(frozen=True, slots=True)
class Reference:
    """
    What a run is held against: a baseline's *run*, with *scores* by the judgments, gain and profile of today.

    *run* is None where there is no baseline to compare with, and *problem* says why. *depth* is the number of hits that
    the baseline keeps of a query, *same_request* whether the request is still what it was, *changes* are sentences on
    what is not. *remedy* says what to do about a baseline that does not serve. *updating* is set where the run is to
    become the baseline, so that nothing is compared. *name* is what sentences call it where it is no baseline.
    *changed_questions* are what queries asked then and ask now, where that is not the same; *run* does not have those.
    """

    run: Run | None = None
    scores: tuple[Score, ...] = ()
    depth: int = 0
    created: str = ""
    same_request: bool = False
    changes: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""
    updating: bool = False
    name: str = ""
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """What sentences call it."""
        return self.name or "the baseline"
