"""
A judging session: the documents of a pool in order, the existing grades, and those given so far, each of which is
written to a file before it counts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.config import Configs
from harness.errors import FormatError, Problem, UsageError
from harness.judging import PoolOptions, pool_suites
from harness.judging.agreement import Pair, differing
from harness.judging.findings import Scale, scales_of
from harness.judging.judge_file import JudgeFile, outdated_lines, read_shown_params
from harness.judging.writing import number_text
from harness.model import GainKind, Pool, PooledDocument, Query, Suite
from harness.report.sentences import zero_hit_lines
from harness.run.cell import Progress
from harness.suites import load_suites
from harness.words import count, listed

# The grades to choose from.


MOST_GRADES = 11
"""Grades of a scale that are offered; more whole numbers in a row are no scale for people."""

DEFAULT_TOP = 3.0


@dataclass(frozen=True, slots=True)
class GradeChoice:
    """A grade to give: its *label*, and the *key* to press for it, empty where none is left."""

    grade: float
    label: str
    key: str


def choices_of(suite: Suite, scale: Scale | None = None) -> tuple[GradeChoice, ...]:
    """
    The grades that a judge can give, the least first: those of *scale*, else those that have a name, else those with a
    gain, else the whole numbers from 0 to the greatest grade that is in use or that a measure allows, else 0 to 3.

    The key of a grade from 0 to 9 is its digit; if there are other grades too, the keys are the places from 1.

    Raises:
        UsageError: There are too many.
    """
    labels = {grade: name for name, grade in suite.grades.items()}
    if scale is not None:
        grades = _whole_numbers(scale.least, scale.greatest, scale.owner)
    elif labels:
        grades = sorted(labels)
    elif suite.gain.kind is GainKind.MAP:
        grades = [grade for grade, _ in suite.gain.table]
    else:
        grades = _grades_in_use(suite)
    digits = all(grade.is_integer() and 0 <= grade <= 9 for grade in grades)
    keys = [number_text(grade) if digits else str(place) for place, grade in enumerate(grades, start=1)]
    return tuple(
        GradeChoice(grade, labels.get(grade, ""), key if len(key) == 1 else "")
        for grade, key in zip(grades, keys, strict=True)
    )


def _grades_in_use(suite: Suite) -> list[float]:
    used = {grade for query in suite.queries for grade in query.judgments.values()}
    tops = [one.greatest for one in scales_of(suite)]
    top = max([*used, *tops, 1.0]) if used or tops else DEFAULT_TOP
    if all(grade.is_integer() for grade in (*used, top)) and top - min([*used, 0.0]) < MOST_GRADES:
        return _whole_numbers(min([*used, 0.0]), top, "the suite")
    return sorted({*used, 0.0})


def _whole_numbers(least: float, greatest: float, owner: str) -> list[float]:
    if not (least.is_integer() and greatest.is_integer() and greatest - least < MOST_GRADES):
        found = f"{number_text(least)} to {number_text(greatest)}"
        raise UsageError(
            f"found grades from {found} in {owner}, expected at most {MOST_GRADES} whole numbers; "
            "name the grades under `grades` in the suite, or give --scale, such as 0..3"
        )
    return [least + step for step in range(int(greatest - least) + 1)]


def check_on_scale(judges: Iterable[JudgeFile], suite: Suite, scale: Scale | None = None) -> None:
    """
    Check that the grades of *judges* are on the scale of `choices_of`, or up to 3 where the suite names no scale.

    Raises:
        FormatError: Some grades are not; each with its line.
        UsageError: As `choices_of`.
    """
    choices = [one.grade for one in choices_of(suite, scale)]
    least, greatest = min(choices), max(choices)
    is_named = scale is not None or suite.grades or suite.gain.table or scales_of(suite)
    if not is_named:
        greatest = max(greatest, DEFAULT_TOP)
    gains = [grade for grade, _ in suite.gain.table]
    expected = f"expected a grade from {number_text(least)} to {number_text(greatest)}"
    if gains:
        expected = f"expected one of the gain map, {', '.join(map(number_text, gains))}"
    problems = [
        Problem(
            str(kept.path),
            kept.lines.get(pair, 0),
            min(kept.lines.get(pair, 0), 1),
            f"found grade {grade:g} of document {pair[1]} of query {pair[0]}, {expected}; correct it, or give --scale",
        )
        for kept in judges
        for pair, grade in kept.grades.items()
        if not least <= grade <= greatest or (gains and grade not in gains)
    ]
    if problems:
        raise FormatError(problems)


# The documents, in an order.


def ordered(pool: Pool, *, seed: str | None) -> tuple[PooledDocument, ...]:
    """
    The documents by query, the query first whose score may change most.

    Args:
        pool: The documents.
        seed: Shuffles the documents of each query, the same way each time; None sorts them by their best rank.
    """
    places: dict[str, int] = {}
    for query in (*(one.query for one in pool.queries), *(one.query for one in pool.documents)):
        places.setdefault(query, len(places))
    documents = list(pool.documents)
    if seed is not None:
        shuffled = random.Random(seed)
        documents.sort(key=lambda one: (one.query, one.document))
        shuffled.shuffle(documents)
    return tuple(sorted(documents, key=lambda one: places[one.query]))


@dataclass(frozen=True, slots=True)
class Session:
    """
    What a judge sees.

    *existing* are the suite's own grades, shown unless *blind*; so are those of *others*, ranks and the names of
    requests. *unanswered* says whether a query had no ranking, so that its documents are missing.
    """

    suite: Suite
    judge: str
    documents: Sequence[PooledDocument]
    choices: Sequence[GradeChoice]
    file: JudgeFile
    existing: Mapping[Pair, float] = field(default_factory=dict)
    others: Mapping[Pair, Mapping[str, float]] = field(default_factory=dict)
    """The grades of other judges, by their names, for the documents to be settled."""
    blind: bool = False
    notes: tuple[str, ...] = ()
    unanswered: bool = False

    def as_json(self) -> dict[str, Any]:
        """The session as JSON values for the page."""
        queries = {query.id: query for query in self.suite.queries}
        return {
            "suite": self.suite.name,
            "judge": self.judge,
            "blind": self.blind,
            "notes": list(self.notes),
            "choices": [{"grade": one.grade, "label": one.label, "key": one.key} for one in self.choices],
            "documents": [
                {
                    "query": one.query,
                    "document": one.document,
                    **_question(self.suite, queries[one.query]),
                    "title": one.title,
                    "snippet": one.snippet,
                    "fields": dict(one.texts),
                    "grade": self.file.grades.get((one.query, one.document)),
                    "ranks": {} if self.blind else dict(one.ranks),
                    "existing": None if self.blind else self.existing.get((one.query, one.document)),
                    "others": {} if self.blind else dict(self.others.get((one.query, one.document), {})),
                }
                for one in self.documents
            ],
        }

    def takes(self, pair: Pair, grade: object) -> bool:
        """Whether *pair* is a document to grade, and *grade* one of the choices, or None for no grade."""
        known = any((one.query, one.document) == pair for one in self.documents)
        is_number = isinstance(grade, (int, float)) and not isinstance(grade, bool)
        return known and (grade is None or (is_number and any(one.grade == grade for one in self.choices)))

    @property
    def graded(self) -> int:
        """The number of documents that the judge has graded."""
        return sum((one.query, one.document) in self.file.grades for one in self.documents)


def _question(suite: Suite, query: Query) -> dict[str, Any]:
    """The query's text, or its id where it has none, and its params as texts; values of the environment are masked."""
    masked = query.masked or {}
    params = read_shown_params(suite, query)
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
    return {"text": masked.get("text") or query.text or query.id, "params": texts}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """
    Who judges what: the *pooling*, the *judge*, the *seed* of a *blind* order, and the *scale* of the grades.

    A judge who *settles* sees only documents on which the others differ.
    """

    pooling: PoolOptions
    judge: str
    blind: bool = False
    seed: int = 0
    scale: Scale | None = None
    settles: bool = False


def open_session(
    path: Path,
    judges: Mapping[str, JudgeFile],
    options: JudgeOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
) -> Session:
    """
    The documents to judge in the suite *path*: its pool, and documents that a judge graded before, unless the suite has
    the grade that the judge of *options* gave.

    Args:
        path: The suite.
        judges: The grades kept so far, by the name of each judge, including the judge of *options*.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Receives how far the run is.

    Raises:
        InputError: The suite or harness.toml is wrong, or a kept grade is not on the scale.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.of(options.pooling.run, environ)
    [suite] = load_suites([path], environ, needs_judgments=False, configs=configs)
    check_on_scale(judges.values(), suite, options.scale)
    choices, own = choices_of(suite, options.scale), judges[options.judge]
    existing = {(query.id, one): grade for query in suite.queries for one, grade in query.judgments.items()}
    graded = {pair for kept in judges.values() for pair in kept.grades}
    again = frozenset(pair for pair in graded if pair not in existing or own.grades.get(pair) != existing[pair])
    others = differing({name: kept.grades for name, kept in judges.items() if name != options.judge})
    to_settle = {(one.query, one.document): one.grades for one in others} if options.settles else {}
    again |= to_settle.keys()
    pools = pool_suites([path], replace(options.pooling, reopened=again), environ=environ, progress=progress)
    seed = f"{options.seed}:{options.judge}" if options.blind else None
    documents = [one for pool in pools for one in ordered(pool, seed=seed)]
    if options.settles:
        documents = [one for one in documents if (one.query, one.document) in to_settle]
    return Session(
        suite=suite,
        judge=options.judge,
        documents=documents,
        choices=choices,
        file=own,
        existing=existing,
        others=to_settle,
        blind=options.blind,
        notes=(
            *outdated_lines(judges),
            *(note for pool in pools for note in _notes(pool, options.pooling.fields, to_settle)),
        ),
        unanswered=any(pool.unanswered for pool in pools),
    )


def _notes(pool: Pool, fields: Sequence[str], to_settle: Collection[Pair]) -> Iterable[str]:
    yield from pool.notes
    yield from zero_hit_lines(pool)
    for (query, request), reason in pool.unanswered.items():
        yield f"query {query} has no answer for {request}: {reason}"
    lost = len({*to_settle} - {(one.query, one.document) for one in pool.documents})
    if lost:
        yield f"not among the hits: {count(lost, 'document')} on which judges differ"
    missing = [one for one in fields if not any(one in document.texts for document in pool.documents)]
    if missing and pool.documents and not pool.notes:
        yield f"none of {count(len(pool.documents), 'document')} has a text in {listed(missing)}"
