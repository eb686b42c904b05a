"""Runs that are kept for later ones to be held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.measures import Profile
from harness.model.places import Json
from harness.model.searches import IndexFacts, Run
from harness.model.verdicts import Outcome, Score

__all__ = ["Baseline", "BaselineFile", "BaselineQuery", "Question", "Reference"]


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
