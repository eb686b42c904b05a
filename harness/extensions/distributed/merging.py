"""
The parts of a run merged: the journals of all shards, as one run that has all responses.

The parts have to be of one run: the same suites, judgments, requests and target, each part once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.gate.stability import explain_changed_target
from harness.masking import Masker
from harness.model.run import IndexState, NamedField, Response, Run, TailSearch, TargetChecks
from harness.model.suite import Json
from harness.options import ALL_QUERIES, RunOptions
from harness.store.header import COMPARED, NOT_ASKED, CellKey, Header
from harness.store.journal import Section, SectionOutput
from harness.store.journal_lines import Recorded, parse_journal
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
        return f"part {self.header.shard} of {_name_cell(self.header)}"


class MergedJournal:
    """
    The journals of all parts of a run, used as its journal: nothing is written, and no query is sent.

    *suites* are the suites that ran.
    """

    sends_queries = False

    def __init__(self, contents: Sequence[tuple[str, bytes]]) -> None:
        """
        Args:
            contents: The name of each journal, for errors, and its content.

        Raises:
            FormatError: A file is not a journal.
            UsageError: The journals are not the parts of one run; names every reason.
        """
        parts: dict[CellKey, list[_Part]] = {}
        damages = []
        for file, content in contents:
            journal = parse_journal(content, file)
            for recorded in journal.cells:
                parts.setdefault(recorded.header.cell_key, []).append(_Part(file, recorded))
            damage = journal.describe_damage()
            if damage:
                damages.append(f"{file}: the journal is damaged, {damage}; go on with --resume")
        if damages:
            raise UsageError("\n".join(damages))
        problems = list(_find_problems([file for file, _ in contents], parts))
        if problems:
            raise UsageError("\n".join(problems))
        self._not_taken: dict[CellKey, Recorded] = {}
        """The merged cells that no suite has asked for yet."""
        for cell_key, parts_of_cell in parts.items():
            self._not_taken[cell_key] = _merge_parts([part.recorded for part in parts_of_cell])
        self.suites = list(dict.fromkeys(Path(suite) for suite, _, _ in parts))
        self._first = next(iter(parts.values()))[0].header
        headers = [part.header for parts_of_cell in parts.values() for part in parts_of_cell]
        times = [datetime.fromisoformat(header.begun) for header in headers if header.begun]
        self.begun = max(times, default=None)
        """When the last part was begun; None where no journal says it."""
        self._options: dict[str, Json] = dict(self._first.options)
        """Those that the run was given; a cell has no server among them if its request kept a cluster of its own."""
        for parts_of_cell in parts.values():
            self._options |= parts_of_cell[0].header.options

    @property
    def matrix(self) -> Mapping[str, Any]:
        """The fields of the `Matrix` that the parts ran with."""
        return {name: _make_hashable(value) for name, value in self._first.matrix.items()}

    @property
    def is_offline(self) -> bool:
        """Whether the server was an embedded node, which ended with the run."""
        return "embedded" in self._options

    def add_options(self, others: RunOptions) -> RunOptions:
        """
        *others* with the options of the parts that decided what was sent and where.

        The configuration of the parts is used where *others* name none, if it is on this machine too.
        """
        options: dict[str, Any] = {name: _make_hashable(value) for name, value in self._options.items()}
        # The matrix has the requests and indexes of all cells, of which the first is one.
        options |= {"request": None, "index": None}
        config = options.pop("config", None)
        if others.config is None and config is not None and Path(config).is_file():
            options["config"] = Path(config)
        options["variables"] = (*options.get("variables", ()), *others.variables)
        return replace(others, **options)

    def check_all_taken(self) -> None:
        """
        Refuse recorded cells that no suite has by now.

        Raises:
            UsageError: A suite was changed after it ran.
        """
        names = [_name_cell(recorded.header) for recorded in self._not_taken.values()]
        if names:
            raise UsageError(f"{listed(names)} cannot be run any more: the suite was changed after it ran")

    def open_section(self, header: Header, masker: Masker) -> Section:
        """
        The whole run of the cell of *header*.

        Raises:
            UsageError: The suite changed.
        """
        recorded = self._not_taken.pop(header.cell_key, None)
        if recorded is None:
            raise UsageError(f"{_name_cell(header)} is in none of the journals: the suite was changed after it ran")
        names = [name for name in recorded.header.list_differences(header) if name not in ANOTHER_PLACE]
        if names:
            raise UsageError(f"{header.suite}: the suite was changed after it ran; it differs in {listed(names)}")
        return Section(header, masker, recorded, SectionOutput(_ignore, _ignore), sends_queries=False)


def _ignore(_: object) -> None:
    """Write nothing, tell nothing."""


def _make_hashable(value: Json) -> Json:
    return tuple(value) if isinstance(value, list) else value


def _name_cell(header: Header) -> str:
    chosen = [f"{name} {header.options[name]}" for name in ("request", "index") if name in header.options]
    return ", ".join([header.name, *chosen])


def _find_problems(files: Sequence[str], parts: Mapping[CellKey, Sequence[_Part]]) -> Iterator[str]:
    """Why the journals called *files* are not the parts of one run, a sentence for each reason."""
    all_parts = list(chain.from_iterable(parts.values()))
    filled = {part.file for part in all_parts}
    for file in files:
        if file not in filled:
            yield f"{file}: the journal is empty"
    others = [part for part in all_parts if part.header.matrix != all_parts[0].header.matrix]
    for part in others:
        yield (
            f"{part.file}: {part} is of another run than {all_parts[0]} in {all_parts[0].file}:"
            " other requests or indexes were named"
        )
    if others:
        return
    for parts_of_cell in parts.values():
        first = parts_of_cell[0]
        is_one_run = True
        for part in parts_of_cell:
            difference = _describe_difference(first, part)
            if difference:
                is_one_run = False
                yield f"{part.file}: {part} is of another run than {first.file}: {difference}"
        if is_one_run:
            yield from _find_repeated_and_missing(parts_of_cell)
            yield from _find_unfinished(parts_of_cell)
            yield from _find_changed_targets(parts_of_cell)


def _describe_difference(first: _Part, part: _Part) -> str:
    """How *part* shows that it is of another run than *first*; empty if it is of the same."""
    if first.header.shard.parts != part.header.shard.parts:
        return f"it is one of {part.header.shard.parts} parts, and the other one of {first.header.shard.parts}"
    names = first.header.list_differences(replace(part.header, shard=first.header.shard))
    return f"it differs in {listed(names)}" if names else ""


def _find_repeated_and_missing(parts: Sequence[_Part]) -> Iterator[str]:
    by_number = grouped((part.header.shard.number, part) for part in parts)
    for same in by_number.values():
        if len(same) > 1:
            yield f"{same[0]} is in {listed([part.file for part in same])}"
    number_of_parts = parts[0].header.shard.parts
    missing = [f"{number}/{number_of_parts}" for number in range(1, number_of_parts + 1) if number not in by_number]
    if missing:
        noun = "part" if len(missing) == 1 else "parts"
        yield f"{_name_cell(parts[0].header)} lacks {noun} {listed(missing)}"


def _find_unfinished(parts: Sequence[_Part]) -> Iterator[str]:
    for part in parts:
        known, queries = len(part.recorded.responses), part.header.own_searches
        if part.recorded.rest is None or known != queries:
            yield f"{part.file}: {part} did not end, with {known:,} of {count(queries, 'query')}; go on with --resume"


def _find_changed_targets(parts: Sequence[_Part]) -> Iterator[str]:
    """How the target of a part differs from the target of the first."""
    asked = [part for part in parts if _is_asked(part.header)]
    for part in asked[1:]:
        change = part.header.describe_change_since(asked[0].header)
        if change:
            yield f"{part.file}: {part} is of another target than {asked[0].file}: {change}"


def _is_asked(header: Header) -> bool:
    """Whether a target was asked: a part may have no query, and an engine may have been away."""
    return header.engine != NOT_ASKED and header.own_queries > 0


def _merge_parts(parts: Sequence[Recorded]) -> Recorded:
    """One run of all *parts*."""
    # A part that asked no target says nothing about it.
    asked = [part for part in parts if _is_asked(part.header)] or list(parts)
    runs_asked = [part.run for part in asked]
    responses: dict[str, Response] = {}
    titles: dict[str, str] = {}
    resent: dict[str, str] = {}
    deepened: dict[str, int] = {}
    tails: list[TailSearch] = []
    checks: list[TargetChecks] = []
    seconds = 0.0
    for part in parts:
        run = part.run
        responses.update(run.responses)
        titles.update(run.titles)
        resent.update(run.resent)
        deepened.update(run.deepened)
        seconds += run.seconds
        if run.tails is not None:
            tails.append(run.tails)
        if run.checks is not None:
            checks.append(run.checks)
    is_state_unknown = len(asked) > 1 and any(part.header.known_facts != list(COMPARED) for part in asked)
    rest = replace(
        runs_asked[0],
        responses={},
        seconds=seconds,
        tails=_merge_tails(tails),
        titles=titles,
        resent=resent,
        deepened=deepened,
        checks=_merge_checks(checks, is_titled=bool(titles)),
        states=_choose_states(runs_asked),
        window_is_full=any(run.window_is_full for run in runs_asked),
        target_unknown=is_state_unknown or any(run.target_unknown for run in runs_asked),
    )
    return Recorded(replace(asked[0].header, shard=ALL_QUERIES), responses, rest)


def _merge_tails(tails: Sequence[TailSearch]) -> TailSearch | None:
    if not tails:
        return None
    merged = tails[0]
    for part in tails[1:]:
        merged = TailSearch(
            queries=merged.queries + part.queries,
            hits=max(merged.hits, part.hits),
            seconds=merged.seconds + part.seconds,
            left_open=merged.left_open + part.left_open,
            problem=merged.problem or part.problem,
        )
    return merged


def _merge_checks(checks: Sequence[TargetChecks], *, is_titled: bool) -> TargetChecks | None:
    """The checks of all parts as one: a document that any part returned is not absent, and any title is enough."""
    if not checks:
        return None
    absent = dict(checks[0].absent)
    unknown_fields: dict[NamedField, None] = {}
    problems: dict[str, None] = {}
    untitled: NamedField | None = None
    for part in checks:
        for document in list(absent):
            if document not in part.absent:
                del absent[document]
            elif absent[document] is None:
                absent[document] = part.absent[document]
        unknown_fields.update(dict.fromkeys(part.unknown_fields))
        problems.update(dict.fromkeys(part.problems))
        untitled = untitled or part.untitled
    return replace(
        checks[0],
        absent=absent,
        unknown_fields=tuple(unknown_fields),
        untitled=None if is_titled else untitled,
        problems=tuple(problems),
    )


def _choose_states(runs: Sequence[Run]) -> tuple[IndexState, ...]:
    """The states of the part during which the target changed, else of the first part that has some."""
    changed = [run for run in runs if explain_changed_target(run)]
    for run in [*changed, *runs]:
        if run.states:
            return run.states
    return ()
