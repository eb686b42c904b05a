"""What judges say of documents, and machines among them; how far they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.suite import Quote


@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """
    A score, and what it would be if every unjudged hit had the worst grade, or the best grade.

    *judged* is the share of the hits that have a judgment, down to the cutoff. A value is None where it is undefined.
    *as_judged* need not lie between the other two, and *if_worst* may be greater than *if_best*: a document with a high
    grade also raises the score of the ideal ranking.
    """

    judged: float
    if_worst: float | None
    as_judged: float | None
    if_best: float | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document that judges graded differently; *grades* maps each judge to the grade."""

    query: str
    document: str
    grades: Mapping[str, float]

    @property
    def spread(self) -> float:
        """The greatest grade minus the least."""
        return max(self.grades.values()) - min(self.grades.values())


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far judges agree; a coefficient is None where it is undefined."""

    graded: Mapping[str, int]
    """The number of documents that each judge graded, by judge."""
    alone: tuple[str, ...]
    """The judges who share no document with another one; no coefficient counts them."""
    shared: int
    """The number of documents that at least two judges graded; *alpha* is computed from them."""
    complete: int
    """The number of documents that all judges but those *alone* graded; *cohen* and *fleiss* are computed from them."""
    same: int
    """The number of *shared* documents to which each of their judges gave the same grade."""
    cohen: Mapping[str, float | None]
    """Cohen's kappa by weighting scheme; empty unless exactly two judges share documents."""
    fleiss: float | None
    alpha: Mapping[str, float | None]
    """Krippendorff's alpha by level of measurement."""
    disagreements: tuple[Disagreement, ...]
    """The one whose grades are furthest apart comes first."""


@dataclass(frozen=True, slots=True)
class MachineJudge:
    """A language model that grades, as relevance.toml describes it; its key is the name of an environment variable."""

    name: str
    base_url: str
    """Of an API like that of OpenAI, with its version: ends in /v1 mostly."""
    model: str
    api_key_env: str | None = None
    prompt: str | None = None
    """A Jinja template in place of the harness's own, relative to relevance.toml."""
    fields: tuple[str, ...] = ()
    """The fields that it is shown; empty for those that people are shown."""
    temperature: float = 0.0
    seed: int | None = None
    reasoning: str | None = None
    """The effort of a model that thinks first, such as "low"; it takes no temperature."""
    answers: str = "schema"
    """Either "schema", which the server keeps the model to, or "text"."""
    most_output_tokens: int = 300
    timeout: float = 60.0
    """Seconds for one answer."""
    concurrency: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    input_price: float | None = None
    """Of a million tokens that are sent."""
    output_price: float | None = None
    """Of a million tokens of answers."""
    batch_input_price: float | None = None
    """As *input_price*, in a batch."""
    batch_output_price: float | None = None
    budget: float | None = None
    """What one command may spend at these prices."""


@dataclass(frozen=True, slots=True)
class MachineAnswer:
    """How a language model came to its grade; *prompt* and *shown* are fingerprints."""

    model: str
    """As the server names it."""
    version: str
    """As the server names it, such as its `system_fingerprint`; empty if it names none."""
    prompt: str
    """Of the instructions, without the query and the document."""
    shown: str
    """Of the query and the document, as they were shown."""
    reason: str
    input_tokens: int
    output_tokens: int


SEEN_RANKS = "ranks"
"""What a judge saw beside the document, who was shown rankings."""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What a judge says of a document for a query: a line of the judge's file."""

    query: str
    document: str
    grade: float | None
    """None if a grade was taken away, or if the judge cannot tell."""
    cannot_tell: bool = False
    comment: str = ""
    undoes: bool = False
    """Whether it restores what the judge said before the last answer."""
    suite: str | None = None
    """The name of the suite; None where the line does not say it."""
    question: str | None = None
    """The fingerprint of what the page shows of the query; None where the line does not say it."""
    machine: MachineAnswer | None = None
    """None for the answer of a person."""
    replaces: float | None = None
    """The suite's own grade, which the judge replaces by choice; None where the suite had none."""
    time: str | None = None
    """When the judge said it, in UTC and ISO 8601; None where the line does not say it."""
    settles: bool = False
    """Whether the judge saw the grades of others, to settle their differences; the grade is not independent then."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """A fingerprint of each text of the document that the judge saw, by field; empty where the line has none."""

    quotes: tuple[Quote, ...] = ()
    """The texts of the document that the judge marked as quotes for the query."""

    seen: str = ""
    """`SEEN_RANKS` if the judge saw which request finds the document, and at which rank; else empty."""

    @property
    def is_empty(self) -> bool:
        """Whether it takes an answer away."""
        return self.grade is None and not self.cannot_tell and not self.comment and not self.quotes
