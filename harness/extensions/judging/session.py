"""
What is judged and what each judge sees of it: the documents of a pool in order, the existing grades, and those given so
far, each of which is written to a file before it counts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.agreement import Pair, find_disagreements
from harness.config import Configs
from harness.errors import FormatError, HarnessError, Problem, UsageError
from harness.extensions.judging.assignment import assign_documents
from harness.extensions.judging.beyond_pool import BeyondPool
from harness.extensions.judging.findings import Scale, list_scales
from harness.extensions.judging.model import Pool, PooledDocument
from harness.extensions.judging.pools_and_lint import PooledSuite, PoolOptions, answer_and_pool
from harness.extensions.judging.sentences import describe_unanswered, describe_zero_hits
from harness.files.judge_files import JudgeFile, describe_outdated
from harness.model.judging import JudgeAnswer
from harness.model.suite import GainKind, Suite
from harness.run import Runner
from harness.run.cell import Progress
from harness.suites import load_suites
from harness.words import format_exactly, grouped, shorten

# The grades to choose from.


MOST_GRADES = 11
"""Grades of a scale that are offered; more whole numbers in a row are no scale for people."""

DEFAULT_TOP = 3.0


@dataclass(frozen=True, slots=True)
class GradeChoice:
    """
    A grade to give: its *name* in the suite, empty where it has none, and the *key* to press for it, empty where none
    is left.
    """

    grade: float
    name: str
    key: str


def list_choices(suite: Suite, scale: Scale | None = None) -> tuple[GradeChoice, ...]:
    """
    The grades that a judge can give, the least first: those of *scale*, else those that have a name, else those with a
    gain, else the whole numbers from 0 to the greatest grade that is in use or that a measure allows, else 0 to 3.

    The key of a grade from 0 to 9 is its digit; if there are other grades too, they are numbered from 1.

    Raises:
        UsageError: There are too many.
    """
    names = {grade: name for name, grade in suite.grades.items()}
    if scale is not None:
        grades = _list_whole_numbers(scale.least, scale.greatest, scale.owner)
    elif names:
        grades = sorted(names)
    elif suite.gain.kind is GainKind.MAP:
        grades = [grade for grade, _ in suite.gain.table]
    else:
        grades = _list_grades_in_use(suite)
    are_digits = all(grade.is_integer() and 0 <= grade <= 9 for grade in grades)
    choices = []
    for number, grade in enumerate(grades, start=1):
        key = format_exactly(grade) if are_digits else str(number)
        if len(key) > 1:
            key = ""  # a key is one character
        choices.append(GradeChoice(grade, names.get(grade, ""), key))
    return tuple(choices)


def _list_grades_in_use(suite: Suite) -> list[float]:
    """
    The grades to offer for a suite that does not name its grades.

    If all grades in use are whole numbers, they are those from 0, or a lower grade, to the greatest grade that is used
    or that a measure allows; to `DEFAULT_TOP` if there is neither. Else they are the grades in use, and 0.
    """
    used_grades = {0.0}
    for query in suite.queries:
        used_grades.update(query.judgments.values())
    greatest_allowed = [scale.greatest for scale in list_scales(suite)]
    has_judgments = any(query.judgments for query in suite.queries)
    greatest = DEFAULT_TOP
    if has_judgments or greatest_allowed:
        greatest = max(*used_grades, *greatest_allowed, 1.0)
    least = min(used_grades)
    are_whole = all(grade.is_integer() for grade in (*used_grades, greatest))
    if are_whole and greatest - least < MOST_GRADES:
        return _list_whole_numbers(least, greatest, "the suite")
    return sorted(used_grades)


def _list_whole_numbers(least: float, greatest: float, owner: str) -> list[float]:
    """The whole numbers from *least* to *greatest* of *owner*, a scale; raises UsageError if they are too many."""
    if not (least.is_integer() and greatest.is_integer() and greatest - least < MOST_GRADES):
        raise UsageError(
            f"found grades from {format_exactly(least)} to {format_exactly(greatest)} in {owner}, expected at most "
            f"{MOST_GRADES} whole numbers; name the grades under `grades` in the suite, or give --scale, such as 0..3"
        )
    return [least + step for step in range(int(greatest - least) + 1)]


def describe_choices(choices: Iterable[GradeChoice]) -> str:
    """
    The grades of *choices* with their names.

    >>> describe_choices([GradeChoice(0.0, "bad", "0"), GradeChoice(0.5, "", "")])
    '0 (bad), 0.5'
    """
    grades = []
    for choice in choices:
        name = f" ({choice.name})" if choice.name else ""
        grades.append(f"{format_exactly(choice.grade)}{name}")
    return ", ".join(grades)


def check_on_scale(judges: Iterable[JudgeFile], suite: Suite, scale: Scale | None = None) -> None:
    """
    Check that the grades of *judges* are among those of `list_choices`.

    If neither *scale* nor the suite names each grade, the choices grow with the grades in use. Then a grade counts if
    it is between the least and the greatest choice, or up to 3, which a judge may have been offered before.

    Raises:
        FormatError: Some grades are not; each with its line.
        UsageError: As `list_choices`.
    """
    choices = list_choices(suite, scale)
    grades = [choice.grade for choice in choices]
    least, greatest = min(grades), max(grades)
    names_each_grade = bool(scale is not None or suite.grades or suite.gain.table)
    if names_each_grade:
        expected = f"one of {describe_choices(choices)}"
    else:
        if not list_scales(suite):
            greatest = max(greatest, DEFAULT_TOP)
        expected = f"a grade from {format_exactly(least)} to {format_exactly(greatest)}"
    problems = []
    for judge_file in judges:
        for (query, document), grade in judge_file.grades.items():
            is_on_scale = grade in grades if names_each_grade else least <= grade <= greatest
            if is_on_scale:
                continue
            line = judge_file.lines.get((query, document), 0)
            found = f"found grade {format_exactly(grade)} of document {document} of query {query}"
            sentence = f"{found}, expected {expected}; correct it, or give --scale"
            problems.append(Problem(str(judge_file.path), line, min(line, 1), sentence))
    if problems:
        raise FormatError(problems)


# The documents, in an order.


def sort_by_query(pool: Pool) -> tuple[PooledDocument, ...]:
    """The documents by query, the query first whose score may change most; those of a query by their best rank."""
    ranks: dict[str, int] = {}
    for coverage in pool.queries:
        ranks.setdefault(coverage.query, len(ranks))
    for document in pool.documents:
        ranks.setdefault(document.query, len(ranks))
    return tuple(sorted(pool.documents, key=lambda document: ranks[document.query]))


def shuffle_documents(documents: Sequence[PooledDocument], *, seed: str) -> list[PooledDocument]:
    """*documents* in the same order of queries; those of each query shuffled, the same way each time."""
    ranks: dict[str, int] = {}
    for document in documents:
        ranks.setdefault(document.query, len(ranks))
    # Sorted first, so that the order does not depend on the ranks of today.
    shuffled = sorted(documents, key=lambda document: document.pair)
    random.Random(seed).shuffle(shuffled)
    return sorted(shuffled, key=lambda document: ranks[document.query])


class RefusedGrade(UsageError):
    """What the page sent is no grade of a document to judge."""


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """What is judged: the same for all judges."""

    suite: Suite
    documents: Sequence[PooledDocument]
    choices: Sequence[GradeChoice]
    existing: Mapping[Pair, float] = field(default_factory=dict)
    """The suite's own grades."""
    queries: Sequence[str] = ()
    """The ids of the queries that are judged, in the order of the suite; some may have no documents."""
    beyond: BeyondPool | None = None
    """Finds other documents; None where the target cannot be asked any more."""
    found: dict[Pair, PooledDocument] = field(default_factory=dict)
    """The documents that *beyond* found. Each judge may grade them."""
    regraded: Set[Pair] = frozenset()
    """The documents that are graded by choice although the suite judges them."""
    notes: tuple[str, ...] = ()
    unanswered: bool = False
    """Whether a query had no ranking, so that its documents are missing."""

    def add_found(self, documents: Iterable[PooledDocument]) -> None:
        """Let judges grade *documents*, which were found beyond the pool."""
        for document in documents:
            self.found[document.pair] = document


@dataclass(frozen=True, slots=True)
class JudgeView:
    """What one judge sees of a task, and the file with what the judge says."""

    task: JudgingTask
    judge: str
    file: JudgeFile
    documents: Sequence[PooledDocument]
    """Those of the task that the judge is given, in the order of the page."""
    others: Mapping[Pair, Mapping[str, JudgeAnswer]] = field(default_factory=dict)
    """What other judges say of the documents to be settled, by their names."""
    blind: bool = False
    """Whether grades that others gave, ranks and the names of requests are not shown."""
    order_seed: str = ""
    """Of the order where it is *blind*."""
    settles: bool = False
    """Whether the judge decides what others differ on."""

    def check_grade(self, pair: Pair, grade: object) -> None:
        """
        Check that *pair* is a document to grade, and *grade* one of the choices, or None for no grade.

        Raises:
            RefusedGrade: It is not.
        """
        query, document = pair
        if pair not in _list_pairs(self.documents) and pair not in self.task.found:
            raise RefusedGrade(f"found document {document!r} of query {query!r}, expected a document of this pool")
        if grade is None:
            return
        # In Python True is equal to 1, and the page has no business to send it.
        if isinstance(grade, bool) or grade not in [choice.grade for choice in self.task.choices]:
            found = shorten(repr(grade))
            raise RefusedGrade(f"found {found} as a grade, expected one of {describe_choices(self.task.choices)}")

    @property
    def graded_count(self) -> int:
        """The number of documents that the judge has graded, or cannot grade."""
        answered = 0
        for document in self.list_documents():
            answer = self.file.answers.get(document.pair)
            if answer is not None and (answer.grade is not None or answer.cannot_tell):
                answered += 1
        return answered

    def count_elsewhere(self, query: str) -> int:
        """The number of documents of *query* that are given to other judges, and not to this one."""
        own_pairs = _list_pairs(self.documents)
        elsewhere = 0
        for document in self.task.documents:
            is_graded_here = document.pair in own_pairs or document.pair in self.task.existing
            if document.query == query and not is_graded_here:
                elsewhere += 1
        return elsewhere

    def list_documents(self) -> list[PooledDocument]:
        """The documents of the judge, with those found beyond the pool of which the judge says something."""
        documents = {document.pair: document for document in self.documents}
        for pair, document in list(self.task.found.items()):
            if pair in self.file.answers:
                documents.setdefault(pair, document)
        return list(documents.values())

    def find_document(self, pair: Pair) -> PooledDocument | None:
        """The document of *pair* as the judge sees it; None if it is not shown."""
        if pair in self.task.found:
            return self.task.found[pair]
        for document in self.documents:
            if document.pair == pair:
                return document
        return None

    def find_replaced_grade(self, pair: Pair) -> float | None:
        """
        The suite's grade of a document that the judge grades although the suite judges it.

        One of the pool was graded here before. Its grade in the suite may be a correction, which stays.
        """
        if pair not in self.task.found and pair not in self.task.regraded:
            return None
        return self.task.existing.get(pair)


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who judges what."""

    pooling: PoolOptions
    judges: tuple[str, ...]
    blind: bool = False
    seed: int = 0
    """Of the order where it is *blind*."""
    scale: Scale | None = None
    """Of the grades."""
    settler: str | None = None
    """The one of *judges* who sees only documents on which all others differ."""
    overlap: int | None = None
    """To how many of the others each document is given; None for all."""
    regrades: bool = False
    """Whether they see what the suite judges too."""


def open_views(
    path: Path,
    judges: Mapping[str, JudgeFile],
    options: JudgeOptions,
    *,
    environ: Mapping[str, str],
    resources: ExitStack,
    progress: Progress | None = None,
) -> dict[str, JudgeView]:
    """
    What each judge of *options* sees of the suite *path*: its pool, and documents that a judge graded before, unless
    the suite has the grade that this judge gave.

    The target can be searched for other documents until *resources* are closed.

    Args:
        path: The suite.
        judges: The grades kept so far, by the name of each judge, including the judges of *options*.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        resources: Closes the connections.
        progress: Receives how far the run is.

    Raises:
        InputError: The suite or relevance.toml is wrong, or a kept grade is not on the scale.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.from_options(options.pooling.run, environ)
    [suite] = load_suites([path], environ, needs_judgments=False, machines=False, configs=configs)
    check_on_scale(judges.values(), suite, options.scale)
    reopened = _reopen_documents(judges, options, suite)
    pooling = replace(options.pooling, reopened=reopened.all_pairs)
    runner = resources.enter_context(Runner(environ, progress))
    # There is none where no query of the suite is selected.
    pooled_suites = answer_and_pool([path], pooling, runner, environ=environ)
    pooled = pooled_suites[0] if pooled_suites else None
    task = _make_task(suite, pooled, judges, options, reopened)
    assigned = _assign(task.documents, judges, options)
    views = {}
    for judge in options.judges:
        is_settler = judge == options.settler
        if is_settler:
            pairs = set(reopened.to_settle)
        else:
            graded_before = reopened.existing.keys() - reopened.by_judge[judge]
            pairs = assigned[judge] - graded_before
        documents = [document for document in task.documents if document.pair in pairs]
        order_seed = f"{options.seed}:{judge}"
        if options.blind:
            documents = shuffle_documents(documents, seed=order_seed)
        views[judge] = JudgeView(
            task=task,
            judge=judge,
            file=judges[judge],
            documents=documents,
            others=reopened.to_settle if is_settler else {},
            blind=options.blind,
            order_seed=order_seed,
            settles=is_settler,
        )
    return views


def _make_task(
    suite: Suite,
    pooled: PooledSuite | None,
    judges: Mapping[str, JudgeFile],
    options: JudgeOptions,
    reopened: _Reopened,
) -> JudgingTask:
    """What all judges share: the documents of the pool, and those of which a judge says something beyond it."""
    documents: list[PooledDocument] = []
    notes = describe_outdated(judges)
    queries: list[str] = []
    beyond = None
    if pooled is not None:
        beyond = BeyondPool(pooled.cells[0], options.pooling.shown)
        documents += sort_by_query(pooled.pool)
        notes += _list_notes(pooled.pool)
        queries += pooled.pool.selected
    # What is settled, or was graded, need not be a hit today: a judge may have found it beyond the pool.
    to_settle = reopened.to_settle.keys()
    documents += _find_unpooled(to_settle - _list_pairs(documents), beyond)
    documents += _find_unpooled(reopened.all_pairs - to_settle - _list_pairs(documents), beyond, needs_text=True)
    answered: set[Pair] = set()
    for judge in options.judges:
        answered.update(_find_open_answers(judges[judge], reopened.existing))
    found = _find_unpooled(answered - _list_pairs(documents), beyond)
    return JudgingTask(
        suite=suite,
        documents=documents,
        choices=list_choices(suite, options.scale),
        existing=reopened.existing,
        queries=queries,
        beyond=beyond,
        found={document.pair: document for document in found},
        regraded=reopened.regraded,
        notes=tuple(notes),
        unanswered=pooled is not None and bool(pooled.pool.unanswered),
    )


@dataclass(frozen=True, slots=True)
class _Reopened:
    """Documents that are shown although the suite judges them, or though they are no hits."""

    existing: Mapping[Pair, float]
    """The grades of the suite."""
    to_settle: Mapping[Pair, Mapping[str, JudgeAnswer]]
    """What the other judges say of them, by their names."""
    by_judge: Mapping[str, Set[Pair]]
    """Those that a judge grades once more, by the judge's name."""
    regraded: Set[Pair]
    """Those of the suite that are graded again by choice."""

    @property
    def all_pairs(self) -> frozenset[Pair]:
        """All of them."""
        return frozenset(self.to_settle).union(*self.by_judge.values())


def _reopen_documents(judges: Mapping[str, JudgeFile], options: JudgeOptions, suite: Suite) -> _Reopened:
    """Find the documents to be shown once more; *judges* are the files of all judges, by name."""
    existing: dict[Pair, float] = {}
    for query in suite.queries:
        existing.update({(query.id, document): grade for document, grade in query.judgments.items()})
    to_settle: dict[Pair, dict[str, JudgeAnswer]] = {}
    if options.settler is not None:
        to_settle = find_differing_answers(judges, options.settler)
    regraded: frozenset[Pair] = frozenset(existing) if options.regrades else frozenset()
    by_judge = {judge: _find_reopened(judges, judge, existing) | regraded for judge in options.judges}
    return _Reopened(existing, to_settle, by_judge, regraded)


def _list_pairs(documents: Iterable[PooledDocument]) -> set[Pair]:
    """The ids of the queries and documents."""
    return {document.pair for document in documents}


def _assign(
    documents: Iterable[PooledDocument], judges: Mapping[str, JudgeFile], options: JudgeOptions
) -> dict[str, set[Pair]]:
    """The documents of each judge of *options* but the one who settles."""
    names = [judge for judge in options.judges if judge != options.settler]
    pairs = [document.pair for document in documents]
    if options.overlap is None:
        return {judge: set(pairs) for judge in names}
    # People who do not judge now count too; a machine takes nobody's place.
    answered = {}
    for judge, file in judges.items():
        if judge != options.settler and not file.is_machine:
            answered[judge] = file.answers.keys()
    return assign_documents(pairs, names, answered, overlap=options.overlap, seed=options.seed)


def find_differing_answers(judges: Mapping[str, JudgeFile], settler: str) -> dict[Pair, dict[str, JudgeAnswer]]:
    """
    What all people but *settler* say of the documents on which their grades differ.

    Grades of machines are not shown: a machine is compared with people, who must not have seen what it gave.
    """
    others = {name: file for name, file in judges.items() if name != settler and not file.is_machine}
    differing: dict[Pair, dict[str, JudgeAnswer]] = {}
    for disagreement in find_disagreements({name: file.grades for name, file in others.items()}):
        pair = (disagreement.query, disagreement.document)
        # Also of those who cannot tell: their comments may decide it.
        differing[pair] = {name: file.answers[pair] for name, file in sorted(others.items()) if pair in file.answers}
    return differing


def _find_reopened(judges: Mapping[str, JudgeFile], judge: str, existing: Mapping[Pair, float]) -> set[Pair]:
    """
    The documents that a person graded, but those of which the suite has the grade that *judge* gave.

    They are shown again, so that grades can be changed.
    """
    own_grades = judges[judge].grades
    reopened = set()
    people = [file for file in judges.values() if not file.is_machine]
    for file in people:
        for pair in file.grades:
            if pair not in existing or own_grades.get(pair) != existing[pair]:
                reopened.add(pair)
    return reopened


def _find_open_answers(file: JudgeFile, existing: Mapping[Pair, float]) -> Iterator[Pair]:
    """The documents of which a judge says something that the suite does not have."""
    for pair, answer in file.answers.items():
        if answer.grade is None or existing.get(pair) != answer.grade:
            yield pair


def _find_unpooled(pairs: Set[Pair], beyond: BeyondPool | None, *, needs_text: bool = False) -> list[PooledDocument]:
    """
    The documents *pairs* of selected queries, which are in no pool.

    One that cannot be looked up has only its id; it is left out where *needs_text*, as nobody could grade it.
    """
    if beyond is None:
        return []
    texts = {query.id: query.text for query in beyond.suite.queries}
    documents: list[PooledDocument] = []
    for query, ids in grouped(sorted(pairs)).items():
        if query not in texts:
            continue
        found: dict[str, PooledDocument] = {}
        with suppress(HarnessError):
            found = {document.document: document for document in beyond.find_ids(query, ids)}
        for document in ids:
            if document in found:
                documents.append(found[document])
            elif not needs_text:
                documents.append(PooledDocument(query, texts[query], document, {}))
    return documents


def _list_notes(pool: Pool) -> Iterator[str]:
    """Sentences on the whole pool, and on queries without hits or without an answer."""
    yield from pool.notes
    yield from describe_zero_hits(pool)
    yield from describe_unanswered(pool)
