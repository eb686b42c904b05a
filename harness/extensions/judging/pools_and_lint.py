"""Work on judgments that needs suites and an engine: pools of unjudged documents, and lint of judgments."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from harness.config import Configs
from harness.errors import InputError, Problem, SearchError, SuiteError
from harness.extensions.judging.findings import (
    IndexKnowledge,
    JudgedSuite,
    PlacedJudgment,
    Scale,
    check_judgments,
    list_scales,
)
from harness.extensions.judging.model import FindingKind, JudgmentFinding, Pool
from harness.extensions.judging.pool import PooledRun, add_documents, add_texts, find_pooling_depth, pool_runs
from harness.extensions.judging.quote_findings import check_quotes
from harness.extensions.judging.remap.moved_titles import find_moved_titles
from harness.extensions.judging.texts import HitsByPair, TextOptions, read_pooled_texts
from harness.files.border import conceal, is_quotable
from harness.files.judgments import read_grade
from harness.files.opening import JUDGMENTS, FileFormat, FileProblems, detect_format
from harness.files.records import check_ids, read_records
from harness.masking import Masker
from harness.model.request import SearchRequest
from harness.model.suite import Mark, Suite, select_scored
from harness.options import RunOptions
from harness.redaction import redact
from harness.run import Matrix, Runner
from harness.run.cell import AnsweredCell, Progress
from harness.run.connections import Connections, OpenCluster, make_masker, move_to_target
from harness.search.dialects import find_dialect
from harness.search.lookup import LookUp, find_similar, look_up_documents
from harness.search.protocol import Search
from harness.suites import load_suites
from harness.suites.depth import find_size
from harness.suites.display import list_shown_fields
from harness.suites.files import NamedFile
from harness.suites.fixtures import FixtureFile
from harness.suites.grades import list_judgment_files, read_written_grade
from harness.suites.loading import LoadedSuite, load_unchecked
from harness.suites.yaml import ListNode, MappingNode, RepeatedKey, ScalarNode, describe
from harness.words import count, find_nearest, grouped, listed

__all__ = ["Lint", "PoolOptions", "TextOptions", "lint_suites", "pool_suites", "read_judged"]


# Pools.


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Where suites run (*run*, *matrix*), and what is pooled."""

    run: RunOptions
    matrix: Matrix
    depth: int | None = None
    """The ranks that are pooled; None for the suite's deepest cutoff."""
    shown: TextOptions = field(default_factory=TextOptions)
    """What is shown of the documents."""
    reopened: frozenset[tuple[str, str]] = frozenset()
    """Queries and documents that are pooled although judged."""
    added: frozenset[tuple[str, str]] = frozenset()
    """Queries and documents that are pooled although judged, and although no request may return them."""
    only_added: bool = False
    """Whether nothing but *added* is pooled."""


def pool_suites(
    paths: Sequence[Path], options: PoolOptions, *, environ: Mapping[str, str], progress: Progress | None = None
) -> list[Pool]:
    """
    Run suites with each of the selected requests, and pool the unjudged documents.

    Nothing is compared or decided. The pool names a query without a ranking, and has no document of it. A suite of
    which the tags select no query has no pool.

    Args:
        paths: Suite files.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Receives how far the runs are.

    Raises:
        InputError: A suite or relevance.toml is wrong; holds all problems of all files.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    with Runner(environ, progress) as runner:
        return [pooled.pool for pooled in answer_and_pool(paths, options, runner, environ=environ)]


@dataclass(frozen=True, slots=True)
class PooledSuite:
    """The pool of a suite, and the cells that it is from, the first request on the first index first."""

    pool: Pool
    cells: tuple[AnsweredCell, ...]


def answer_and_pool(
    paths: Sequence[Path], options: PoolOptions, runner: Runner, *, environ: Mapping[str, str]
) -> list[PooledSuite]:
    """As `pool_suites`; the connections of the cells are open until *runner* ends."""
    run = replace(options.run, depth=options.depth, unjudged=True)
    configs = Configs.from_options(run, environ)
    loaded = load_suites(paths, environ, needs_judgments=False, machines=False, configs=configs)
    # Where no result is right there is nothing to judge.
    judged = [replace(suite, queries=select_scored(suite.queries)) for suite in loaded]
    suites = [_reopen(suite, options.reopened | options.added) for suite in judged]
    answered = runner.answer(suites, run, matrix=options.matrix, configs=configs)
    selected = (cell for cell in answered if cell.cell.selection.selected.queries)
    pooled_suites = []
    # The cells of a suite follow each other. Its connection, which has the texts, is open until the runner ends.
    for _, group in groupby(selected, key=lambda cell: cell.cell.selection.whole_suite.path):
        cells = tuple(group)
        pooled_suites.append(PooledSuite(_pool_cells(cells, options), cells))
    return pooled_suites


def _reopen(suite: Suite, pairs: frozenset[tuple[str, str]]) -> Suite:
    """*suite* without the judgments of *pairs*."""
    if not pairs:
        return suite
    queries = []
    for query in suite.queries:
        judgments = dict(query.judgments)
        for document in query.judgments:
            if (query.id, document) in pairs:
                del judgments[document]
        queries.append(replace(query, judgments=judgments))
    return replace(suite, queries=tuple(queries))


def _pool_cells(cells: Sequence[AnsweredCell], options: PoolOptions) -> Pool:
    """The pool of all cells of one suite, with titles and snippets as far as they can be read."""
    suite = cells[0].cell.selection.selected
    names = [cell.run.request for cell in cells]
    # Where one request was sent to several indexes, its name alone does not tell the runs apart.
    if len(set(names)) < len(names):
        names = [f"{cell.run.request} on {cell.run.index}" for cell in cells]
    runs = [PooledRun(name, cell.run) for name, cell in zip(names, cells, strict=True)]
    pool = pool_runs(suite, runs, options.depth or find_pooling_depth(suite))
    if options.added or options.only_added:
        pool = add_documents(pool, suite, options.added, only_added=options.only_added)
    notes = []
    for name in sorted({cell.run.request for cell in cells}):
        size = find_size(suite.requests[name])
        if size is not None and size < pool.depth:
            notes.append(f"the request {name} asks for {size} hits itself, and is pooled no deeper")
    mask = cells[0].cell.masker.mask
    texts, text_notes = _read_texts(pool, cells, runs, options.shown)
    notes += map(mask, text_notes)
    unanswered = {place: mask(reason) for place, reason in pool.unanswered.items()}
    texts = {place: redact(hit, mask) for place, hit in texts.items()}
    shown = options.shown.fields or list_shown_fields(suite, [cell.run.request for cell in cells])
    pool = add_texts(replace(pool, unanswered=unanswered), texts, suite.display, shown)
    absent = [field for field in shown if not any(field in document.texts for document in pool.documents)]
    if absent and pool.documents and not text_notes:
        notes.append(f"none of {count(len(pool.documents), 'document')} has a text in {listed(absent)}")
    return replace(pool, notes=tuple(notes))


def _read_texts(
    pool: Pool, cells: Sequence[AnsweredCell], runs: Sequence[PooledRun], shown: TextOptions
) -> tuple[HitsByPair, list[str]]:
    """
    Read the texts of the documents of *pool* from the servers that were searched.

    A document is read from the first server that ranks it and has a text of it. One that none ranks is looked up on
    the first.

    Args:
        pool: The documents.
        cells: The cells of the suite, with their searches as long as these are open.
        runs: The run of each of *cells*.
        shown: Which texts are read.

    Returns:
        The documents with their texts, and sentences on why some are missing.
    """
    texts: HitsByPair = {}
    notes: list[str] = []
    cells_with_runs = zip(cells, runs, strict=True)
    answered = [(cell.search, (cell, run)) for cell, run in cells_with_runs if cell.search is not None]
    for number, (search, cells_of_server) in enumerate(grouped(answered).items()):
        first_cell, _ = cells_of_server[0]
        suite = first_cell.cell.selection.selected
        runs_there = [run for _, run in cells_of_server]
        names = {run.name for run in runs_there}
        documents = []
        for document in pool.documents:
            hit = texts.get(document.pair)
            is_known = hit is not None and bool(hit.title or hit.snippet or hit.texts)
            is_ranked_here = not names.isdisjoint(document.ranks)
            is_ranked_nowhere = not document.ranks
            if not is_known and (is_ranked_here or (is_ranked_nowhere and number == 0)):
                documents.append(document)
        if not documents:
            continue
        part = replace(pool, documents=tuple(documents))
        texts_there, notes_there = read_pooled_texts(search, suite, part, runs_there, shown)
        texts |= texts_there
        notes += notes_there
    return texts, notes


# Lint.


@dataclass(slots=True)
class Lint:
    """The result of a lint."""

    findings: list[JudgmentFinding] = field(default_factory=list)
    """By place."""
    notes: list[str] = field(default_factory=list)
    """On what was not checked and why."""
    errors: list[str] = field(default_factory=list)
    """Of engines that did not answer, which leave something unknown."""
    problems: list[Problem] = field(default_factory=list)
    """Other errors in suites, which were not checked."""
    judgments: int = 0
    """The number of judgments that were checked; likewise *suites*."""
    suites: int = 0


@dataclass(frozen=True, slots=True)
class _LintedSuite:
    """A suite as read; *fixture* has the documents of its fixture."""

    judged: JudgedSuite
    fixture: FixtureFile | None

    @property
    def suite(self) -> Suite:
        return self.judged.suite

    @property
    def quotes(self) -> int:
        """The number of quotes of its queries."""
        return sum(len(query.quotes) for query in self.suite.queries)

    def list_places(self) -> list[_Place]:
        """The places where documents can be looked up, each once on each cluster, without the index of its fixture."""
        places: dict[tuple[str, str], _Place] = {}
        for name, template in self.suite.requests.items():
            suite = move_to_target(self.suite, name)
            target = suite.target
            index = template.index or (None if suite.fixture is not None else target.index)
            if template.http is None and index is not None:
                request = SearchRequest("", index, {}, id_field=target.id_field)
                places.setdefault((target.cluster, index), _Place(suite, index, request))
            elif template.http is not None and find_dialect(target.service).looks_up_documents(template):
                service = f"the service by {name}" if places else "the service"
                places[target.cluster, service] = _Place(suite, service, SearchRequest("", None, None, template.http))
        return list(places.values())


@dataclass(frozen=True, slots=True)
class _Place:
    """A place where documents are looked up: an index by its name, or a service."""

    suite: Suite
    """On the target of the request that searches there."""
    name: str
    request: SearchRequest

    def __str__(self) -> str:
        return self.name if self.request.index is None else f"index {self.name}"


_OpenPlace: TypeAlias = tuple[_Place, OpenCluster]


def lint_suites(
    paths: Sequence[Path], options: RunOptions, *, offline: bool, scale: Scale | None, environ: Mapping[str, str]
) -> Lint:
    """
    Check the judgments of suites.

    Args:
        paths: Suite files.
        options: Where the engine is.
        offline: Whether to ask no engine; documents of a fixture are known all the same.
        scale: A scale that grades must be on, beside the scales of the suites.
        environ: Where variables and logins are looked up; left alone where *offline*.

    Raises:
        SuiteError: Something else than judgments is wrong in every suite.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.from_options(options, environ)
    suites, problems = _read_suites(paths, None if offline else environ, configs)
    judgments = sum(len(linted.judged.judged) + linted.quotes for linted in suites)
    lint = Lint(suites=len(suites), judgments=judgments, problems=problems)
    online = []
    if not offline:
        online = [linted for linted in suites if linted.judged.judged or linted.quotes]
    with Connections(environ, options) as connections:
        opened = _open_places(online, connections, configs)
        for linted in suites:
            suite = linted.suite
            places = opened.get(suite.path, [])
            servers = [cluster.cluster for _, cluster in places]
            masker = make_masker(suite, servers, environ, connections.hooks) if servers else Masker(suite.variables)
            knowledge = None
            quote_findings: list[JudgmentFinding] = []
            reason = _explain_no_look_up(linted, offline)
            if reason:
                lint.notes.append(f"{suite.path}: {reason}")
            else:
                try:
                    knowledge = _find_judged_documents(linted, places)
                    quote_findings = _check_quotes(linted, places)
                except SearchError as error:
                    lint.errors.append(f"{suite.path}: {masker.mask(str(error))}")
            scales = list(list_scales(suite))
            if scale is not None:
                scales.append(scale)
            findings = [*check_judgments(linted.judged, scales, knowledge), *quote_findings]
            lint.findings += [replace(finding, message=masker.mask(finding.message)) for finding in findings]
            lint.notes += _list_notes(linted, has_scale=bool(scales))
    # Two suites may name one file, which has the same findings then.
    lint.findings = sorted(set(lint.findings))
    return lint


def _read_suites(
    paths: Sequence[Path], environ: Mapping[str, str] | None, configs: Configs
) -> tuple[list[_LintedSuite], list[Problem]]:
    """The suites that can be checked, and the problems of the others."""
    suites: list[_LintedSuite] = []
    problems: dict[Problem, None] = {}
    for path in paths:
        try:
            suites.append(_LintedSuite(*read_judged(path, environ, configs=configs)))
        except SuiteError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems and not suites:
        raise SuiteError(list(problems))
    return suites, list(problems)


def _open_places(
    suites: Sequence[_LintedSuite], connections: Connections, configs: Configs
) -> dict[str, list[_OpenPlace]]:
    """The places where documents of each of *suites* are looked up, by path, with their open clusters."""
    places: list[_Place] = []
    for linted in suites:
        places += linted.list_places()
    if not places:
        return {}
    clusters = connections.open_all([place.suite for place in places], configs)
    places_by_path: dict[str, list[_OpenPlace]] = {}
    for place, cluster in zip(places, clusters, strict=True):
        places_by_path.setdefault(place.suite.path, []).append((place, cluster))
    return places_by_path


def _explain_no_look_up(linted: _LintedSuite, offline: bool) -> str:
    """Why the judged documents are not looked up, as where *offline* forbids it; empty if they are."""
    places = linted.list_places()
    dialects = [find_dialect(linted.suite.find_target(name).service) for name in linted.suite.requests]
    has_indexes = any(dialect.has_indexes for dialect in dialects)
    if not places and not has_indexes:
        return "documents cannot be looked up by id in an HTTP service; the requests have no `documents`"
    # The ids of a fixture are known without a server, unless its documents could not be read.
    has_unread_fixture = linted.fixture is not None and linted.fixture.ids is None
    if has_unread_fixture or (offline and places):
        return "the judged documents were not looked up"
    return ""


def _find_judged_documents(linted: _LintedSuite, opened: Sequence[_OpenPlace]) -> IndexKnowledge | None:
    """
    Which judged documents exist; None where there is no place to look.

    *opened* are the places that are searched; none where no cluster was opened, for a suite without judgments.

    Raises:
        SearchError: One of the places where they may be could not be searched.
    """
    fixture = linted.fixture
    judged = sorted({judgment.document for judgment in linted.judged.judged})
    places = list(dict.fromkeys(map(str, linted.list_places())))
    existing: set[str] = set()
    if fixture is not None:
        places.insert(0, fixture.file)
        existing.update(fixture.ids or ())
    if not places:
        return None
    repeated: dict[str, set[str]] = {}
    without_field: dict[str, str | None] = {}
    moved: dict[str, str] = {}
    for place, cluster in opened:
        name, request = place.name, place.request
        search = cluster.search
        if search is None:
            raise cluster.error or SearchError(f"no server was asked for {name}")
        [documents] = look_up_documents(search, [LookUp(request, judged)])
        reasons = [*documents.unwritable.values(), *documents.reasons]
        if reasons:
            raise SearchError(f"cannot look up documents in {name}: {reasons[0]}")
        similar = find_similar(search, request, documents.missing)
        found = documents.found.union(similar.values())
        existing |= found
        if request.index is not None and 2 * len(found) <= len(judged):
            missing = documents.missing.difference(similar)
            moved |= find_moved_titles(place.suite, missing, search, request.index, request.id_field)
        repeated.setdefault(name, set()).update(documents.repeated)
        if not found and request.id_field is not None:
            without_field |= _find_missing_field(search, name, request.id_field)
    return IndexKnowledge(" or ".join(places), frozenset(existing), repeated, without_field, moved)


def _check_quotes(linted: _LintedSuite, opened: Sequence[_OpenPlace]) -> list[JudgmentFinding]:
    """
    What is wrong with the quotes, by the first index that is searched: all have to hold them.

    Raises:
        SearchError: It could not be searched.
    """
    if not linted.quotes:
        return []
    for place, cluster in opened:
        request = place.request
        if request.index is not None and cluster.search is not None:
            return check_quotes(place.suite, request.index, cluster.search, request.id_field)
    return []


def _find_missing_field(search: Search, index: str, id_field: str) -> dict[str, str | None]:
    """*index* with its field nearest to *id_field* if it lacks that; empty if it has it, or its fields are unknown."""
    try:
        types = search.field_types(index, ["*", id_field], {})
    except SearchError:
        return {}
    if not types or id_field in types:
        return {}
    return {index: find_nearest(id_field, [name for name in types if not name.startswith("_")])}


def _list_notes(linted: _LintedSuite, *, has_scale: bool) -> list[str]:
    """
    Sentences on what was not checked.

    It is the grades, unless *has_scale* says that there is a scale, and documents without a grade.
    """
    path, judgments = linted.suite.path, linted.judged.judged
    notes = []
    if not has_scale and judgments:
        notes.append(f"{path}: grades were not checked against a scale: name them under `grades`, or give --scale")
    ungraded = sum(judgment.grade is None for judgment in judgments)
    has_index = any(place.request.index is not None for place in linted.list_places())
    if linted.quotes and not has_index:
        notes.append(f"{path}: quotes were not looked for, which needs an index that is there before the run")
    if linted.judged.skip_ungraded and ungraded:
        documents = "1 document has" if ungraded == 1 else f"{ungraded:,} documents have"
        notes.append(f"{path}: {documents} no grade yet, which the suite ignores")
    return notes


# A suite with every judgment that it and its files hold, also those that keep it from running.


def read_judged(
    path: Path, environ: Mapping[str, str] | None, *, configs: Configs | None = None
) -> tuple[JudgedSuite, FixtureFile | None]:
    """
    Read a suite to check its judgments, with the documents of its fixture.

    Args:
        path: The suite file.
        environ: Where variables are taken from; None leaves them as they are.
        configs: Say which configuration counts.

    Raises:
        SuiteError: Something else than the judgments is wrong; a document that stands twice for a query is not.
    """
    loaded = load_unchecked(path, environ, configs=configs)
    repeats = _list_repeats(loaded.reading.root)
    loaded.require_sound(but=[repeat.problem for _, repeat in repeats])
    named = list_judgment_files(loaded.reading.shape.judgments)
    judged = []
    for (query, document), mark in loaded.judgments.inline.items():
        judged.append(PlacedJudgment(query, document, loaded.judgments.grades[query][document], mark))
    judged += _read_repeats(repeats, loaded)
    problems: list[Problem] = []
    for file in loaded.judgments.named:
        judgments, problems_of_file = _read_file(file, loaded.suite.grades)
        judged += judgments
        problems += problems_of_file
    problems += _list_loader_problems(loaded)
    unreadable = []
    for problem in problems:
        mark = Mark(problem.path, problem.line, problem.column)
        unreadable.append(JudgmentFinding(mark, FindingKind.UNREADABLE, problem.message))
    judged_suite = JudgedSuite(loaded.suite, tuple(judged), tuple(unreadable), named.strict, named.skip_ungraded)
    return judged_suite, loaded.fixture_file


def _list_repeats(root: MappingNode) -> list[tuple[str, RepeatedKey]]:
    """Documents that are judged twice in a query's own `judgments` in the suite, with the query's id."""
    queries = root.find_child("queries")
    if not isinstance(queries, ListNode):
        return []
    repeats = []
    for entry in queries:
        if not isinstance(entry, MappingNode):
            continue
        query, judgments = entry.find_child("id"), entry.find_child("judgments")
        if isinstance(query, ScalarNode) and isinstance(judgments, MappingNode):
            repeats += [(str(query), repeat) for repeat in judgments.repeats]
    return repeats


def _read_repeats(repeats: Iterable[tuple[str, RepeatedKey]], loaded: LoadedSuite) -> Iterator[PlacedJudgment]:
    """The judgments that YAML would drop, as their key stands twice; what is no grade becomes a problem of *loaded*."""
    for query, repeat in repeats:
        if not isinstance(repeat.value, ScalarNode):
            sentence = f"found {describe(repeat.value)} as a grade, expected a number or the name of a grade"
            loaded.judgments.problems.note(repeat.value.mark, sentence)
            continue
        grade = read_written_grade(repeat.value, loaded.suite.grades, loaded.judgments.problems)
        if grade is not None:
            yield PlacedJudgment(query, str(repeat.key), grade, repeat.key.mark)


def _read_file(file: NamedFile, names: Mapping[str, float]) -> tuple[list[PlacedJudgment], list[Problem]]:
    """Each judgment of the file, repeated ones too; and a problem for every entry that is not a judgment."""
    found = FileProblems(file.name, most=sys.maxsize)
    # A file of TREC cannot have names.
    if detect_format(file.path) is FileFormat.TREC:
        names = {}
    judgments = []
    unreadable: Sequence[Problem] = ()
    try:
        for record in read_records(file.path, JUDGMENTS, found):
            grade = None
            if record.value != "":
                grade = read_grade(record, names, found)
            if check_ids(record, found) and (grade is not None or record.value == ""):
                mark = Mark(file.name, record.line, record.column)
                judgments.append(PlacedJudgment(record.query, record.document, grade, mark))
    except InputError as error:
        unreadable = error.problems
    problems = [*unreadable, *found.problems]
    # A file of an unknown kind, which a suite or a link leads to, may hold a secret.
    if not is_quotable(file.path):
        problems = list(map(conceal, problems))
    return judgments, problems


def _list_loader_problems(loaded: LoadedSuite) -> Iterator[Problem]:
    """
    The loader's problems in the suite itself: invalid grades, and judgments that do not fit a measure or a gain.

    Its problems in a file, and documents that the fixture lacks, are left out: the lint finds all of them again.
    """
    inline = {(mark.line, mark.column) for mark in loaded.judgments.inline.values()}
    for problem in loaded.judgments.problems.found:
        if problem.path == loaded.suite.path and problem.line and (problem.line, problem.column) not in inline:
            yield problem
