"""How the target changed during the searches of a run, from the states in which it was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TypeVar

from harness.model import Run
from harness.words import count, listed

T = TypeVar("T")


def why_moving(run: Run, before: Run | None = None) -> str:
    """
    How the target changed during the searches of *run*; empty if it did not, or if that is not known.

    With *before*, a run that it is compared with, also how it changed during that one, and between both where they
    searched the same index, by its name and UUID. The runs of a baseline or a report are of another day, and have no
    states.
    """
    if run.target_changed:
        return run.target_changed
    if before is not None:
        if before.index != run.index or not _uuids_of(before) & _uuids_of(run):
            return why_moving(before) or why_moving(run)
        run = replace(run, states=(*before.states, *run.states))
    uuids = [state.uuids for state in run.states if state.uuids is not None]
    changes = [*_moved(uuids), *_grown([state.documents for state in run.states if state.documents is not None])]
    if len(_each_change([state.filters for state in run.states if state.filters is not None])) > 1:
        changes.append("the filter of its alias is another one")
    changes = changes or [*_rewritten([state.writes for state in run.states if state.writes is not None])]
    return f"{run.index or 'the target'} changed during the run: {'; '.join(changes)}" if changes else ""


def _uuids_of(run: Run) -> set[str]:
    """The UUIDs of the indexes that *run* searched; another cluster may have an index of the same name."""
    return {uuid for state in run.states for uuid in (state.uuids or {}).values()}


def _moved(uuids: Sequence[Mapping[str, str]]) -> Iterator[str]:
    names = _each_change([sorted(one) for one in uuids])
    if len(names) > 1:
        *before, now = map(listed, names)
        yield f"it stood for {', then '.join(before)} and stands for {now}"
    rebuilt = {
        name
        for before, after in pairwise(uuids)
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    }
    if rebuilt:
        yield f"{listed(sorted(rebuilt))} was deleted and created again"


def _grown(documents: Sequence[int]) -> Iterator[str]:
    found = _each_change(documents)
    if len(found) > 1:
        first, *between, now = found
        yield f"it had {count(first, 'document')}{''.join(f', then {one:,}' for one in between)} and has {now:,}"


def _rewritten(writes: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """Writes to shards that existed before and after, while the number of documents stayed the same."""
    number = sum(
        abs(after[shard] - before[shard])
        for before, after in pairwise(writes)
        for shard in before.keys() & after.keys()
    )
    if number:
        yield f"documents were replaced, or others added and deleted ({count(number, 'write')})"


def _each_change(values: Sequence[T]) -> list[T]:
    """*values* without those that equal the one before."""
    return [value for value, _ in groupby(values)]
