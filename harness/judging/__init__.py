"""Work on judgments that needs suites and an engine: pools of unjudged documents, and lint of judgments."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Configs
from harness.errors import InputError, Problem, SearchError, SuiteError
from harness.files.border import conceal, is_quotable
from harness.files.judgments import read_grade
from harness.files.opening import JUDGMENTS, FileFormat, FileProblems, detect_format
from harness.files.records import check_ids, read_records
from harness.judging.findings import IndexKnowledge, JudgedSuite, PlacedJudgment, Scale, find_in, scales_of
from harness.judging.pool import PooledRun, pool_runs, pooling_depth, with_texts
from harness.masking import Masker
from harness.model import (
    ANY_TEXT,
    FindingKind,
    Hit,
    JudgmentFinding,
    Mark,
    Pool,
    PooledDocument,
    SearchRequest,
    Suite,
    select_by_id,
)
from harness.options import RunOptions
from harness.run import Matrix, Runner
from harness.run.cell import AnsweredCell, Progress
from harness.run.connections import Connections, OpenCluster
from harness.search import find_dialect
from harness.search.lookup import find_documents, find_texts
from harness.search.protocol import LookUpOptions
from harness.suites import load_suites
from harness.suites.depth import find_size
from harness.suites.fixtures import FixtureFile
from harness.suites.grades import judgment_files, read_written_grade
from harness.suites.loading import LoadedSuite, load_unchecked
from harness.suites.reading import NamedFile
from harness.suites.requests import build_request
from harness.suites.yaml import ListNode, MappingNode, Repeat, ScalarNode, describe
from harness.words import nearest, other_spellings

if TYPE_CHECKING:
    from harness.search import Search

__all__ = ["Lint", "PoolOptions", "lint_suites", "pool_suites", "read_judged"]


# Pools.


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """
    Where suites run (*run*, *matrix*), down to which rank they are pooled, and which field a *snippet* is cut from.

    If *depth* is None, it is the suite's deepest cutoff; if *snippet* is None, it is the field with the longest text.
    With *fields* their texts are read instead of a snippet. Documents of *reopened*, by query, are pooled although
    judged.
    """

    run: RunOptions
    matrix: Matrix
    depth: int | None = None
    snippet: str | None = None
    fields: tuple[str, ...] = ()
    reopened: frozenset[tuple[str, str]] = frozenset()


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
        InputError: A suite or harness.toml is wrong; holds all problems of all files.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    run = replace(options.run, depth=options.depth, unjudged=True)
    configs = Configs.of(run, environ)
    loaded = load_suites(paths, environ, needs_judgments=False, configs=configs)
    suites = [_reopened(suite, options.reopened) for suite in loaded]
    with Runner(environ, progress) as runner:
        answered = runner.answer(suites, run, matrix=options.matrix, configs=configs)
        selected = [one for one in answered if one.cell.selection.selected.queries]
        return [
            _Pooling(list(cells), options).pool()
            for _, cells in groupby(selected, key=lambda one: one.cell.selection.suite.path)
        ]


def _reopened(suite: Suite, pairs: frozenset[tuple[str, str]]) -> Suite:
    """*suite* without the judgments of *pairs*."""
    queries = [
        replace(query, judgments={one: grade for one, grade in query.judgments.items() if (query.id, one) not in pairs})
        for query in suite.queries
    ]
    return replace(suite, queries=tuple(queries)) if pairs else suite


@dataclass(frozen=True, slots=True)
class _Pooling:
    """All cells of one suite, with their open connection."""

    cells: Sequence[AnsweredCell]
    options: PoolOptions

    @property
    def suite(self) -> Suite:
        return self.cells[0].cell.selection.selected

    def pool(self) -> Pool:
        """The pool of all cells, with titles and snippets as far as they can be read."""
        runs = [PooledRun(name, cell.run) for name, cell in zip(self._names(), self.cells, strict=True)]
        pool = pool_runs(self.suite, runs, self.options.depth or pooling_depth(self.suite))
        found, notes = self._texts(pool, runs)
        mask = self.cells[0].cell.masker.mask
        pool = replace(pool, unanswered={place: mask(reason) for place, reason in pool.unanswered.items()})
        notes = list(map(mask, notes))
        pool = replace(pool, notes=(*self._shallow(pool), *notes))
        return with_texts(pool, found)

    def _names(self) -> list[str]:
        """The requests' names, with the indexes behind them where one request was sent to several."""
        names = [cell.run.request for cell in self.cells]
        if len(set(names)) == len(names):
            return names
        return [f"{cell.run.request} on {cell.run.index}" for cell in self.cells]

    def _shallow(self, pool: Pool) -> list[str]:
        """A sentence for each request with a size of its own that is less than the pooling depth."""
        sizes = {name: find_size(self.suite.requests[name]) for name in {cell.run.request for cell in self.cells}}
        return [
            f"the request {name} asks for {size} hits itself, and is pooled no deeper"
            for name, size in sorted(sizes.items())
            if size is not None and size < pool.depth
        ]

    def _texts(self, pool: Pool, runs: Sequence[PooledRun]) -> tuple[dict[tuple[str, str], Hit], list[str]]:
        """Title and snippet of each document, by query and document; and sentences on why some are missing."""
        search = self.cells[0].search
        if search is None or not pool.documents:
            return {}, []
        if not find_dialect(self.suite.target.service).has_indexes:
            return {}, ["there are no snippets: documents cannot be looked up by id in an HTTP service"]
        by_place: dict[tuple[str | None, str], list[PooledDocument]] = {}
        for document in pool.documents:
            best = min(document.ranks, key=lambda name: document.ranks[name])
            run = next(one.run for one in runs if one.name == best)
            by_place.setdefault((run.index, run.request), []).append(document)
        try:
            return self._read(by_place, search)
        except SearchError as error:
            return {}, [f"there are no snippets: {error}"]

    def _read(
        self, by_place: Mapping[tuple[str | None, str], Sequence[PooledDocument]], search: Search
    ) -> tuple[dict[tuple[str, str], Hit], list[str]]:
        found: dict[tuple[str, str], Hit] = {}
        notes: dict[str, None] = {}
        for (index, request), documents in by_place.items():
            [query] = select_by_id(self.suite.queries, {documents[0].query})
            sent = build_request(self.suite, self.suite.requests[request], query)
            ids = list(dict.fromkeys(one.document for one in documents))
            hits, reasons = find_texts(
                search,
                replace(sent, index=index),
                ids,
                LookUpOptions(
                    title_field=self.suite.title_field,
                    snippet=None if self.options.fields else self.options.snippet or ANY_TEXT,
                    fields=self.options.fields,
                ),
            )
            found |= {(one.query, one.document): hits[one.document] for one in documents if one.document in hits}
            notes |= dict.fromkeys(f"some documents of {index} have no snippet: {reason}" for reason in reasons)
        return found, list(notes)


# Lint.


@dataclass(slots=True)
class Lint:
    """
    The result of a lint: *findings* by place, *notes* on what was not checked and why, and *errors* of engines that did
    not answer, which leave something unknown. *problems* are other errors in suites, which were not checked.
    *judgments* and *suites* count what was checked.
    """

    findings: list[JudgmentFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    judgments: int = 0
    suites: int = 0


@dataclass(frozen=True, slots=True)
class _Read:
    """A suite as read; *fixture* has the documents of its fixture."""

    judged: JudgedSuite
    fixture: FixtureFile | None

    @property
    def suite(self) -> Suite:
        return self.judged.suite

    def indexes(self) -> list[str]:
        """The indexes that its requests search, each once, without that of its fixture."""
        own = None if self.fixture is not None else self.suite.target.index
        names = [template.index or own for template in self.suite.requests.values()]
        return list(dict.fromkeys(name for name in names if name is not None))


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
    configs = Configs.of(options, environ)
    read, problems = _read_all(paths, None if offline else environ, configs)
    online = [] if offline else [one for one in read if one.indexes() and one.judged.judged]
    lint = Lint(suites=len(read), judgments=sum(len(one.judged.judged) for one in read), problems=problems)
    with Connections(environ, options) as connections:
        clusters = _open(connections, online, configs)
        for one in read:
            cluster = clusters.get(one.suite.path)
            masker = (
                cluster.make_masker(one.suite, environ, connections.hooks) if cluster else Masker(one.suite.variables)
            )
            known = _knowledge(one, cluster, lint, masker, offline=offline)
            scales = (*scales_of(one.suite), *(() if scale is None else (scale,)))
            found = find_in(one.judged, scales, known)
            lint.findings += [replace(finding, message=masker.mask(finding.message)) for finding in found]
            lint.notes += _notes(one, bool(scales))
    lint.findings = sorted(set(lint.findings))
    return lint


def _read_all(
    paths: Sequence[Path], environ: Mapping[str, str] | None, configs: Configs
) -> tuple[list[_Read], list[Problem]]:
    """The suites that can be checked, and the problems of the others."""
    read: list[_Read] = []
    problems: dict[Problem, None] = {}
    for path in paths:
        try:
            read.append(_Read(*read_judged(path, environ, configs=configs)))
        except SuiteError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems and not read:
        raise SuiteError(list(problems))
    return read, list(problems)


def _open(connections: Connections, online: Sequence[_Read], configs: Configs) -> dict[str, OpenCluster]:
    clusters = connections.open_all([one.suite for one in online], configs) if online else []
    return {one.suite.path: cluster for one, cluster in zip(online, clusters, strict=True)}


def _knowledge(
    one: _Read, cluster: OpenCluster | None, lint: Lint, masker: Masker, *, offline: bool
) -> IndexKnowledge | None:
    """Which judged documents exist; None where one of the places where they may be could not be searched."""
    indexes, fixture = one.indexes(), one.fixture
    ids = {judgment.document for judgment in one.judged.judged}
    if not find_dialect(one.suite.target.service).has_indexes:
        lint.notes.append(f"{one.suite.path}: documents cannot be looked up by id in an HTTP service")
        return None
    if (indexes and offline) or (fixture is not None and fixture.ids is None):
        lint.notes.append(f"{one.suite.path}: the judged documents were not looked up")
        return None
    places = [*([fixture.file] if fixture else []), *(f"index {name}" for name in indexes)]
    found: set[str] = set(fixture.ids or ()) if fixture else set()
    repeated: dict[str, frozenset[str]] = {}
    without_field: dict[str, str | None] = {}
    try:
        if cluster is not None:
            for name in indexes:
                known, repeated[name] = _look_up(cluster, name, ids, one.suite.target.id_field)
                found |= known
                if not known and one.suite.target.id_field is not None:
                    without_field |= _without_field(cluster, name, one.suite.target.id_field)
    except SearchError as error:
        lint.errors.append(f"{one.suite.path}: {masker.mask(str(error))}")
        return None
    return IndexKnowledge(" or ".join(places), frozenset(found), repeated, without_field) if places else None


def _look_up(
    cluster: OpenCluster, index: str, ids: set[str], id_field: str | None
) -> tuple[frozenset[str], frozenset[str]]:
    """The documents that exist, and for missing ones the existing ids in another spelling."""
    search = cluster.search
    if search is None:
        raise cluster.error or SearchError(f"no server was asked for index {index}")
    request = SearchRequest("", index, {}, id_field=id_field)
    known = find_documents(search, request, sorted(ids))
    others = {other for document in ids - known.found for other in other_spellings(document)} - ids
    spelt = find_documents(search, request, sorted(others)) if others else known
    return known.found | spelt.found, known.repeated


def _without_field(cluster: OpenCluster, index: str, id_field: str) -> dict[str, str | None]:
    """*index* with its field nearest to *id_field* if it lacks that; empty if it has it, or its fields are unknown."""
    try:
        types = {} if cluster.search is None else cluster.search.field_types(index, ["*", id_field], {})
    except SearchError:
        return {}
    names = [name for name in types if not name.startswith("_")]
    return {} if not types or id_field in types else {index: nearest(id_field, names)}


def _notes(one: _Read, has_scale: bool) -> list[str]:
    notes = []
    if not has_scale and one.judged.judged:
        notes.append(
            f"{one.suite.path}: grades were not checked against a scale: name them under `grades`, or give --scale"
        )
    left_out = sum(judgment.grade is None for judgment in one.judged.judged)
    if one.judged.skip_ungraded and left_out:
        documents = "1 document has" if left_out == 1 else f"{left_out:,} documents have"
        notes.append(f"{one.suite.path}: {documents} no grade yet, which the suite ignores")
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
    repeats = list(_repeats(loaded.reading.root))
    loaded.require_sound(but=[repeat.problem for _, repeat in repeats])
    named = judgment_files(loaded.reading.shape.judgments)
    problems: list[Problem] = []
    judged = [*_inline(loaded), *_repeated(repeats, loaded)]
    for file in loaded.judgments.named:
        judged += _from_file(file, loaded.suite.grades, problems)
    problems += _loader_problems(loaded)
    unreadable = tuple(
        JudgmentFinding(Mark(one.path, one.line, one.column), FindingKind.UNREADABLE, one.message) for one in problems
    )
    return JudgedSuite(loaded.suite, tuple(judged), unreadable, named.strict, named.skip_ungraded), loaded.fixture_file


def _inline(loaded: LoadedSuite) -> Iterator[PlacedJudgment]:
    judgments = loaded.judgments
    for (query, document), mark in judgments.inline.items():
        yield PlacedJudgment(query, document, judgments.grades[query][document], mark)


def _repeats(root: MappingNode) -> Iterator[tuple[str, Repeat]]:
    """Documents that are judged twice in a query's own `judgments` in the suite, with the query's id."""
    queries = root.find_child("queries")
    for entry in queries if isinstance(queries, ListNode) else ():
        query, judged = (
            entry.find_child(key) if isinstance(entry, MappingNode) else None for key in ("id", "judgments")
        )
        if isinstance(query, ScalarNode) and isinstance(judged, MappingNode):
            yield from ((str(query), repeat) for repeat in judged.repeats)


def _repeated(repeats: Iterable[tuple[str, Repeat]], loaded: LoadedSuite) -> Iterator[PlacedJudgment]:
    for query, repeat in repeats:
        if not isinstance(repeat.value, ScalarNode):
            found = f"found {describe(repeat.value)} as a grade, expected a number or the name of a grade"
            loaded.judgments.problems.note(repeat.value.mark, found)
            continue
        grade = read_written_grade(repeat.value, loaded.suite.grades, loaded.judgments.problems)
        if grade is not None:
            yield PlacedJudgment(query, str(repeat.key), grade, repeat.key.mark)


def _from_file(file: NamedFile, names: Mapping[str, float], problems: list[Problem]) -> Iterator[PlacedJudgment]:
    """Each judgment of the file, repeated ones too; every entry that is not a judgment goes to *problems*."""
    findings = FileProblems(file.name, most=sys.maxsize)
    known = {} if detect_format(file.path) is FileFormat.TREC else names
    unreadable: Sequence[Problem] = ()
    try:
        for record in read_records(file.path, JUDGMENTS, findings):
            grade = None if record.value == "" else read_grade(record, known, findings)
            if check_ids(record, findings) and (grade is not None or record.value == ""):
                yield PlacedJudgment(record.query, record.document, grade, Mark(file.name, record.line, record.column))
    except InputError as error:
        unreadable = error.problems
    found = [*unreadable, *findings.problems]
    problems.extend(found if is_quotable(file.path) else map(conceal, found))


def _loader_problems(loaded: LoadedSuite) -> Iterator[Problem]:
    """
    The loader's problems in the suite itself: invalid grades, and judgments that do not fit a measure or a gain.

    Its problems in a file, and documents that the fixture lacks, are left out: the lint finds all of them again.
    """
    inline = {(mark.line, mark.column) for mark in loaded.judgments.inline.values()}
    for problem in loaded.judgments.problems.found:
        if problem.path == loaded.suite.path and problem.line and (problem.line, problem.column) not in inline:
            yield problem
