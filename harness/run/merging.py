"""
The parts of a run merged: the journals of all shards, as one run that has all responses.

The parts have to be of one run: the same suites, judgments, requests and target, each part once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.gate.stability import explain_changed_target
from harness.masking import Masker
from harness.model import IndexState, Json, Run, TailSearch, TargetChecks
from harness.options import ALL_QUERIES, RunOptions
from harness.run.header import COMPARED, NOT_ASKED, Cell, Header
from harness.run.journal import Recorded, Section, parse_journal
from harness.words import count, grouped, listed

ANOTHER_PLACE = frozenset({"cluster", "hooks", "version of the harness"})
"""What may differ where the parts are put together, as nothing is sent there."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The records of one cell in the journal *file*."""

    file: str
    recorded: Recorded

    @property
    def header(self) -> Header:
        return self.recorded.header

    def __str__(self) -> str:
        return f"part {self.header.shard} of {_called(self.header)}"


class MergedJournal:
    """
    The journals of all parts of a run, used as its journal: nothing is written, and no query is sent.

    *suites* are the suites that ran.
    """

    def __init__(self, contents: Sequence[tuple[str, bytes]]) -> None:
        """
        Args:
            contents: The name of each journal, for errors, and its content.

        Raises:
            FormatError: A file is not a journal.
            UsageError: The journals are not the parts of one run; names every reason.
        """
        parts = grouped(
            (recorded.header.cell, _Part(file, recorded))
            for file, content in contents
            for recorded in parse_journal(content, file)[0]
        )
        problems = list(_problems([file for file, _ in contents], parts))
        if problems:
            raise UsageError("\n".join(problems))
        self._left = {cell: _merged([one.recorded for one in found]) for cell, found in parts.items()}
        self.suites = list(dict.fromkeys(Path(suite) for suite, _, _ in parts))
        self._first = next(iter(parts.values()))[0].header

    @property
    def matrix(self) -> Mapping[str, Any]:
        """The fields of the `Matrix` that the parts ran with."""
        return {name: _hashable(one) for name, one in self._first.matrix.items()}

    @property
    def is_offline(self) -> bool:
        """Whether the server was an embedded node, which ended with the run."""
        return "embedded" in self._first.options

    def options(self, others: RunOptions) -> RunOptions:
        """
        *others* with the options of the parts that decided what was sent and where.

        The configuration of the parts is used where *others* name none, if it is on this machine too.
        """
        given: dict[str, Any] = {**self._first.options, "request": None, "index": None}
        recorded = given.pop("config", None)
        if others.config is None and recorded is not None and Path(recorded).is_file():
            given["config"] = Path(recorded)
        given["variables"] = (*given.get("variables", ()), *others.variables)
        return replace(others, **{name: _hashable(one) for name, one in given.items()})

    def check_all_taken(self) -> None:
        """
        Refuse recorded cells that no suite has by now.

        Raises:
            UsageError: A suite was changed after it ran.
        """
        left = [_called(recorded.header) for recorded in self._left.values()]
        if left:
            raise UsageError(f"{listed(left)} cannot be run any more: the suite was changed after it ran")

    def section(self, header: Header, masker: Masker) -> Section:
        """
        The whole run of the cell of *header*.

        Raises:
            UsageError: The suite changed.
        """
        recorded = self._left.pop(header.cell, None)
        if recorded is None:
            raise UsageError(f"{_called(header)} is in none of the journals: the suite was changed after it ran")
        names = [name for name in recorded.header.differences(header) if name not in ANOTHER_PLACE]
        if names:
            raise UsageError(f"{header.suite}: the suite was changed after it ran; it differs in {listed(names)}")
        return Section(header, masker, lambda _: None, recorded, lambda _: None, asks=False)


def _hashable(value: Json) -> Json:
    return tuple(value) if isinstance(value, list) else value


def _called(header: Header) -> str:
    chosen = [f"{name} {header.options[name]}" for name in ("request", "index") if name in header.options]
    return ", ".join([header.name, *chosen])


def _problems(files: Sequence[str], parts: Mapping[Cell, Sequence[_Part]]) -> Iterator[str]:
    """Why the journals called *files* are not the parts of one run, a sentence for each reason."""
    filled = {part.file for part in chain.from_iterable(parts.values())}
    yield from (f"{file}: the journal is empty" for file in files if file not in filled)
    every = list(chain.from_iterable(parts.values()))
    others = [part for part in every if part.header.matrix != every[0].header.matrix]
    yield from (
        f"{part.file}: {part} is of another run than {every[0]} in {every[0].file}:"
        " other requests or indexes were named"
        for part in others
    )
    if others:
        return
    for found in parts.values():
        first = found[0]
        unlike = [part for part in found if _unlike(first, part)]
        yield from (
            f"{part.file}: {part} is of another run than {first.file}: {_unlike(first, part)}" for part in unlike
        )
        if not unlike:
            yield from _gaps(found)
            yield from _unfinished(found)
            yield from _moved(found)


def _unlike(first: _Part, part: _Part) -> str:
    """How *part* shows that it is of another run than *first*; empty if it is of the same."""
    if first.header.shard.parts != part.header.shard.parts:
        return f"it is one of {part.header.shard.parts} parts, and the other one of {first.header.shard.parts}"
    names = first.header.differences(replace(part.header, shard=first.header.shard))
    return f"it differs in {listed(names)}" if names else ""


def _gaps(found: Sequence[_Part]) -> Iterator[str]:
    by_number = grouped((part.header.shard.number, part) for part in found)
    for same in by_number.values():
        if len(same) > 1:
            yield f"{same[0]} is in {listed([part.file for part in same])}"
    parts, name = found[0].header.shard.parts, _called(found[0].header)
    missing = [f"{number}/{parts}" for number in range(1, parts + 1) if number not in by_number]
    if missing:
        yield f"{name} lacks {'part' if len(missing) == 1 else 'parts'} {listed(missing)}"


def _unfinished(found: Sequence[_Part]) -> Iterator[str]:
    for part in found:
        known, queries = len(part.recorded.responses), part.header.own_queries
        if part.recorded.rest is None or known != queries:
            yield f"{part.file}: {part} did not end, with {known:,} of {count(queries, 'query')}; go on with --resume"


def _moved(found: Sequence[_Part]) -> Iterator[str]:
    """How the target of a part differs from the target of the first."""
    asked = [part for part in found if _is_asked(part.header)]
    for part in asked[1:]:
        change = part.header.change_since(asked[0].header)
        if change:
            yield f"{part.file}: {part} is of another target than {asked[0].file}: {change}"


def _is_asked(header: Header) -> bool:
    """Whether a target was asked: a part may have no query, and an engine may have been away."""
    return header.engine != NOT_ASKED and header.own_queries > 0


def _merged(parts: Sequence[Recorded]) -> Recorded:
    """One run of all *parts*."""
    asked = [part for part in parts if _is_asked(part.header)] or list(parts)
    runs = [part.run for part in asked]
    every = [part.run for part in parts]
    responses = dict(chain.from_iterable(run.responses.items() for run in every))
    titles = dict(chain.from_iterable(run.titles.items() for run in every))
    run = replace(
        runs[0],
        responses=responses,
        seconds=sum(run.seconds for run in every),
        tails=_all_tails([run.tails for run in every if run.tails is not None]),
        titles=titles,
        resent=dict(chain.from_iterable(run.resent.items() for run in every)),
        checks=_all_checks([run.checks for run in every if run.checks is not None], is_titled=bool(titles)),
        states=_states(runs),
        window_is_full=any(run.window_is_full for run in runs),
        target_unknown=any(run.target_unknown for run in runs) or (len(runs) > 1 and _lacks_state(asked)),
    )
    return Recorded(replace(asked[0].header, shard=ALL_QUERIES), responses, replace(run, responses={}))


def _all_tails(tails: Sequence[TailSearch]) -> TailSearch | None:
    if not tails:
        return None
    return TailSearch(
        sum(one.queries for one in tails),
        max(one.hits for one in tails),
        sum(one.seconds for one in tails),
        sum(one.left_open for one in tails),
        next((one.problem for one in tails if one.problem), ""),
    )


def _all_checks(checks: Sequence[TargetChecks], *, is_titled: bool) -> TargetChecks | None:
    """The checks of all parts as one: a document that any part returned is not absent, and any title is enough."""
    if not checks:
        return None
    untitled = next((one.untitled for one in checks if one.untitled is not None), None)
    absent = {
        document: next((one.absent[document] for one in checks if one.absent[document] is not None), None)
        for document in checks[0].absent
        if all(document in one.absent for one in checks)
    }
    return replace(
        checks[0],
        absent=absent,
        unknown_fields=tuple(dict.fromkeys(chain.from_iterable(one.unknown_fields for one in checks))),
        untitled=None if is_titled else untitled,
        problems=tuple(dict.fromkeys(chain.from_iterable(one.problems for one in checks))),
    )


def _lacks_state(parts: Sequence[Recorded]) -> bool:
    return any(part.header.known != list(COMPARED) for part in parts)


def _states(runs: Sequence[Run]) -> tuple[IndexState, ...]:
    """The states of the part during which the target changed, else of the first part that has some."""
    moving = [run for run in runs if explain_changed_target(run)]
    return next((run.states for run in [*moving, *runs] if run.states), ())
