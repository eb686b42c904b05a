"""Which documents a language model is asked for: what is selected, what it graded before, and which of that is old."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from harness.agreement import Pair
from harness.config import Configs
from harness.extensions.judging.findings import Scale
from harness.extensions.judging.machine.prompt import OfferedGrade, ShownPair
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.pools_and_lint import PoolOptions, pool_suites
from harness.extensions.judging.sentences import describe_unanswered, describe_zero_hits
from harness.extensions.judging.session import list_choices
from harness.extensions.judging.texts import fingerprint_texts
from harness.files.judge_files import JudgeFile, read_shown_params
from harness.model.judging import JudgeAnswer, MachineJudge
from harness.model.suite import Query, Suite
from harness.run.cell import Progress
from harness.suites import load_suites


class TaskDocuments(StrEnum):
    """Which documents are selected; the values are those of the option."""

    UNGRADED = "ungraded"
    """Hits that people have not graded."""
    GRADED = "graded"
    """Documents that people have graded, whether or not a request returns them."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What the user asked for."""

    pooling: PoolOptions
    judge: MachineJudge
    """Names the fields that may be shown, if not all that people are shown."""
    selection: TaskDocuments = TaskDocuments.UNGRADED
    sample: int | None = None
    """The number of documents that are drawn of those selected; None for all."""
    seed: int = 0
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class MachineTask:
    """What a language model may be asked for."""

    suite: Suite
    grades: tuple[OfferedGrade, ...]
    pairs: tuple[ShownPair, ...]
    """The documents to grade: all that are selected, or a sample of them."""
    selected: int
    """The number from which they were drawn."""
    unshown: tuple[Pair, ...] = ()
    """Documents of which nothing can be shown; they are not selected."""
    notes: tuple[str, ...] = ()
    unanswered: bool = False
    """Whether a query had no ranking, so that its documents are missing."""


def open_task(
    path: Path,
    judges: Mapping[str, JudgeFile],
    options: TaskOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
) -> MachineTask:
    """
    Collect what the judge of *options* may be asked for in the suite *path*.

    Args:
        path: The suite.
        judges: The grades kept so far, by the name of each judge.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Receives how far the run is.

    Raises:
        InputError: The suite or relevance.toml is wrong.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.from_options(options.pooling.run, environ)
    [suite] = load_suites([path], environ, needs_judgments=False, machines=False, configs=configs)
    graded, judge = list_graded(suite, judges), options.judge
    shown = options.pooling.shown
    pooling = replace(options.pooling, shown=replace(shown, fields=shown.fields or judge.fields))
    if options.selection is not TaskDocuments.UNGRADED:
        pooling = replace(pooling, added=graded, only_added=options.selection is TaskDocuments.GRADED)
    documents: list[PooledDocument] = []
    notes: list[str] = []
    pools = pool_suites([path], pooling, environ=environ, progress=progress)
    for pool in pools:
        documents += pool.documents
        notes += [*pool.notes, *describe_zero_hits(pool), *describe_unanswered(pool)]
    if options.selection is TaskDocuments.UNGRADED:
        documents = [document for document in documents if document.pair not in graded]
    queries = {query.id: query for query in suite.queries}
    shows_title = not judge.fields or suite.display.title in judge.fields
    pairs, unshown = [], []
    for document in documents:
        pair = build_pair(suite, queries[document.query], document, shows_title=shows_title)
        if pair.is_empty:
            unshown.append((pair.query, pair.document))
        else:
            pairs.append(pair)
    drawn = pairs
    if options.sample is not None:
        drawn = draw_sample(pairs, options.sample, options.seed)
    return MachineTask(
        suite=suite,
        grades=list_offered_grades(suite, options.scale),
        pairs=tuple(drawn),
        selected=len(pairs),
        unshown=tuple(unshown),
        notes=tuple(notes),
        unanswered=any(pool.unanswered for pool in pools),
    )


def list_graded(suite: Suite, judges: Mapping[str, JudgeFile]) -> frozenset[Pair]:
    """The documents that people have graded: those judged in *suite*, and those in the files of people."""
    graded = {(query.id, document) for query in suite.queries for document in query.judgments}
    queries = {query.id for query in suite.queries}
    for file in judges.values():
        if not file.is_machine:
            graded.update(pair for pair in file.grades if pair[0] in queries)
    return frozenset(graded)


def list_offered_grades(suite: Suite, scale: Scale | None) -> tuple[OfferedGrade, ...]:
    """The grades that a person could give, with what the suite says of them."""
    return tuple(
        OfferedGrade(choice.grade, choice.name, suite.grade_descriptions.get(choice.grade, ""))
        for choice in list_choices(suite, scale)
    )


def draw_sample(pairs: Sequence[ShownPair], size: int, seed: int) -> list[ShownPair]:
    """
    *size* of *pairs* at random, in their order.

    Each document has a random number of its own, made of *seed* and its ids, and those with the least are drawn. So the
    same seed draws the same documents, and most of the same where a few documents come and go.
    """

    def draw_number(pair: ShownPair) -> str:
        return hashlib.sha256(json.dumps([seed, pair.query, pair.document]).encode()).hexdigest()

    drawn = sorted(pairs, key=draw_number)[:size]
    keys = {(pair.query, pair.document) for pair in drawn}
    return [pair for pair in pairs if (pair.query, pair.document) in keys]


def build_pair(suite: Suite, query: Query, document: PooledDocument, *, shows_title: bool) -> ShownPair:
    """What is shown of *document* for *query*: the same as to people, with values of the environment masked."""
    text = query.text
    if query.masked is not None and query.masked.get("text"):
        text = query.masked["text"]
    params = {}
    for name, value in read_shown_params(suite, query).items():
        params[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    texts = dict(document.texts)
    if shows_title and document.title and suite.display.title is not None:
        texts.pop(suite.display.title, None)
    if not texts and document.snippet:
        texts = {"text": document.snippet}
    title = document.title if shows_title else None
    fingerprints = fingerprint_texts(document if shows_title else replace(document, title=None), suite.display)
    return ShownPair(query.id, document.document, text, query.need, params, title, texts, fingerprints)


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """What is asked, and what is known."""

    to_ask: tuple[ShownPair, ...]
    kept: Mapping[Pair, JudgeAnswer] = field(default_factory=dict)
    """What the model said before of documents that are selected, and that counts."""
    old: Mapping[Pair, str] = field(default_factory=dict)
    """Documents whose grade does not count any more, and why."""
    waiting: int = 0
    """The number of documents that are asked for already, in batches."""

    def leave_out(self, waiting: frozenset[Pair]) -> AskingPlan:
        """The plan without the documents that are *waiting* in batches."""
        to_ask = tuple(pair for pair in self.to_ask if (pair.query, pair.document) not in waiting)
        return replace(self, to_ask=to_ask, waiting=len(waiting))

    @property
    def without_grade(self) -> dict[Pair, JudgeAnswer]:
        """Those *kept* that are no grade."""
        return {pair: answer for pair, answer in self.kept.items() if answer.grade is None}


ANOTHER_WAY = "another model, prompt or setting"
ANOTHER_TEXT = "the query or the document changed"


def plan_asking(pairs: Sequence[ShownPair], file: JudgeFile, way: str, *, again: bool = False) -> AskingPlan:
    """
    Divide *pairs* into those to ask for, and those of which *file* has an answer.

    Args:
        pairs: The documents that are selected.
        file: What the model said before.
        way: The fingerprint of how it is asked now; see `fingerprint_asking`.
        again: Whether to ask again for documents whose answer was no grade.
    """
    old = {}
    for key, answer in file.answers.items():
        if answer.machine is not None and answer.machine.prompt != way:
            old[key] = ANOTHER_WAY
    kept, to_ask = {}, []
    for pair in pairs:
        key = (pair.query, pair.document)
        known = file.answers.get(key)
        if known is not None and known.machine is not None and key not in old:
            if known.machine.shown != pair.fingerprint:
                old[key] = ANOTHER_TEXT
            elif known.grade is not None or not again:
                kept[key] = known
        if key not in kept:
            to_ask.append(pair)
    return AskingPlan(tuple(to_ask), kept, old)
