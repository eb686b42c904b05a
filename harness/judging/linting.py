"""
A look at the judgments of suites: what was read, and whether the index still holds what was judged.

Everything is read by the loader of suites and looked up over the connections of a run; `harness.judgment_findings`
says what is to be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import Problem, SearchError, SuiteError
from harness.judgment_findings import (
    IndexKnowledge,
    JudgedSuite,
    JudgmentFinding,
    Scale,
    find_in,
    other_spellings,
    scales_of,
)
from harness.model import Suite
from harness.run import connections_for
from harness.run.options import RunOptions
from harness.search.lookup import find_documents
from harness.suites.discovery import find_suites

if TYPE_CHECKING:
    from harness.run.connections import Connections, OpenCluster
    from harness.search import Search
    from harness.suites.fixtures import FixtureFile

__all__ = ["Lint", "lint_suites"]


@dataclass(slots=True)
class Lint:
    """
    What came of it: *findings* by place, *notes* on what was not looked at and why, and *errors* of engines that did
    not answer, for which something is not known. *problems* are what else is wrong in suites, which were not looked at.
    *judgments* and *suites* count what was.
    """

    findings: list[JudgmentFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    judgments: int = 0
    suites: int = 0


@dataclass(frozen=True, slots=True)
class _Read:
    """A suite as read; *brought* is what its fixture holds."""

    judged: JudgedSuite
    brought: FixtureFile | None

    @property
    def suite(self) -> Suite:
        return self.judged.suite

    def indexes(self) -> list[str]:
        """The indexes that its requests search, each once, without that of its fixture."""
        own = None if self.brought is not None else self.suite.target.index
        names = [template.index or own for template in self.suite.requests.values()]
        return list(dict.fromkeys(name for name in names if name is not None))


def lint_suites(
    paths: Sequence[Path], options: RunOptions, *, offline: bool, scale: Scale | None, environ: Mapping[str, str]
) -> Lint:
    """
    Look at the judgments of suites.

    Args:
        paths: Suite files, or folders of them.
        options: Where the engine is.
        offline: Whether no engine is asked; documents of a fixture are known all the same.
        scale: Where grades have to be, beside the scales of the suites.
        environ: Where variables and logins are looked up; left alone where *offline*.

    Raises:
        SuiteError: Something else than judgments is wrong in every suite.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    read, problems = _read_all(find_suites(paths).suites, None if offline else environ)
    asked = [] if offline else [one for one in read if one.indexes() and one.judged.judged]
    lint = Lint(suites=len(read), judgments=sum(len(one.judged.judged) for one in read), problems=problems)
    with connections_for(options, environ) as connections:
        doors = _open(connections, asked)
        for one in read:
            known = _knowledge(one, doors.get(one.suite.path), lint, offline=offline)
            scales = (*scales_of(one.suite), *(() if scale is None else (scale,)))
            lint.findings += find_in(one.judged, scales, known)
            lint.notes += _notes(one, bool(scales))
    lint.findings = sorted(set(lint.findings))
    return lint


def _read_all(paths: Sequence[Path], environ: Mapping[str, str] | None) -> tuple[list[_Read], list[Problem]]:
    """The suites that can be looked at, and what is wrong with the others."""
    from harness.suites.judged import read_judged

    read: list[_Read] = []
    problems: dict[Problem, None] = {}
    for path in paths:
        try:
            read.append(_Read(*read_judged(path, environ)))
        except SuiteError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems and not read:
        raise SuiteError(list(problems))
    return read, list(problems)


def _open(connections: Connections, asked: Sequence[_Read]) -> dict[str, OpenCluster]:
    doors = connections.open_all([one.suite for one in asked]) if asked else []
    return {one.suite.path: door for one, door in zip(asked, doors, strict=True)}


def _knowledge(one: _Read, door: OpenCluster | None, lint: Lint, *, offline: bool) -> IndexKnowledge | None:
    """What is known of the judged documents; None where it is not known of all places where they may be."""
    indexes, brought = one.indexes(), one.brought
    ids = {judgment.document for judgment in one.judged.judged}
    if one.suite.target.service == "http":
        lint.notes.append(f"{one.suite.path}: an HTTP service is not asked for documents by their ids")
        return None
    if (indexes and offline) or (brought is not None and brought.ids is None):
        lint.notes.append(f"{one.suite.path}: whether the judged documents are still there was not looked up")
        return None
    places = [*([brought.file] if brought else []), *(f"index {name}" for name in indexes)]
    found: set[str] = set(brought.ids or ()) if brought else set()
    repeated: dict[str, frozenset[str]] = {}
    try:
        for name in indexes if door is not None else ():
            known, repeated[name] = _look_up(door, name, ids)
            found |= known
    except SearchError as error:
        lint.errors.append(f"{one.suite.path}: {error}")
        return None
    return IndexKnowledge(" or ".join(places), frozenset(found), repeated) if places else None


def _look_up(door: OpenCluster | None, index: str, ids: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The documents that are there, and those of another spelling in place of those that are not."""
    if door is None or door.search is None:
        raise (door.error if door is not None and door.error else SearchError(f"nobody was asked for index {index}"))
    search: Search = door.search
    known = find_documents(search, index, sorted(ids))
    others = {other for document in ids - known.found for other in other_spellings(document)} - ids
    spelt = find_documents(search, index, sorted(others)) if others else known
    return known.found | spelt.found, known.repeated


def _notes(one: _Read, has_scale: bool) -> list[str]:
    notes = []
    if not has_scale and one.judged.judged:
        notes.append(f"{one.suite.path}: grades were held to no scale: name them under `grades`, or give --scale")
    left_out = sum(judgment.grade is None for judgment in one.judged.judged)
    if one.judged.skip_ungraded and left_out:
        documents = "1 document has" if left_out == 1 else f"{left_out:,} documents have"
        notes.append(f"{one.suite.path}: {documents} no grade yet, and the suite says to leave such out")
    return notes
