"""
Runs in folders of Parquet files: each file is scored by itself, and the scores are joined.

This requires that each query is whole in one file, with all its judgments, which is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from harness.errors import UsageError
from harness.metrics.evaluate import Evaluation
from harness.words import listed

SHOWN = 5
"""Files that a message names."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a *run*, and the *judgments* that it is scored by: those of all parts, or its own."""

    judgments: Path
    run: Path


def partitions_of(judgments: Path, run: Path) -> list[Partition]:
    """
    The parts of a run.

    Args:
        judgments: A file, or a folder with the same files as *run*.
        run: A folder; what is named like ``_metadata`` or ``.crc`` is skipped.

    Raises:
        UsageError: a folder has no Parquet file, or a file has no counterpart.
    """
    runs = _files_in(run)
    if not judgments.is_dir():
        return [Partition(judgments, path) for path in runs.values()]
    judged = _files_in(judgments)
    alone = [str(run / name) for name in runs if name not in judged]
    alone += [str(judgments / name) for name in judged if name not in runs]
    if alone:
        raise UsageError(
            f"{listed(alone, SHOWN)}: there is no file of that name in the other folder; where the judgments"
            " are in a folder, each file of the run needs one of the same name there"
        )
    return [Partition(judged[name], path) for name, path in runs.items()]


def join(partitions: Sequence[Partition], evaluations: Sequence[Evaluation]) -> Evaluation:
    """
    The scores of a whole run.

    Args:
        partitions: Its parts.
        evaluations: Of each part.

    Raises:
        UsageError: a query, or its judgments, are in several files.
    """
    parts = list(zip(partitions, evaluations, strict=True))
    is_shared = len({partition.judgments for partition in partitions}) == 1
    _check_whole(((str(part.run), _returned(one)) for part, one in parts), "the query")
    if not is_shared:
        _check_whole(((str(part.judgments), _judged(one)) for part, one in parts), "the judgments of the query")
        _check_together(parts)
    returned = set().union(*map(_returned, evaluations))
    missing = dict.fromkeys(query for one in evaluations for query in one.missing if query not in returned)
    scores: dict[str, dict[str, float | None]] = {measure: {} for measure in evaluations[0].scores}
    tie_ranges: dict[str, dict[str, tuple[float, float]]] = {}
    for one in evaluations:
        for measure, ranges in one.tie_ranges.items():
            tie_ranges.setdefault(measure, {}).update(ranges)
        left = set(one.missing) & returned
        for measure, values in one.scores.items():
            scores[measure].update({query: value for query, value in values.items() if query not in left})
    return Evaluation(
        evaluations[0].profile,
        scores,
        tuple(missing),
        tuple(chain.from_iterable(one.unjudged for one in evaluations)),
        evaluations[0].summed,
        tie_ranges,
    )


def _files_in(folder: Path) -> dict[Path, Path]:
    """The Parquet files below *folder*, by their paths in it."""
    found = sorted(path.relative_to(folder) for path in folder.rglob("*.parquet"))
    names = [name for name in found if not any(part.startswith(("_", ".")) for part in name.parts)]
    if not names:
        raise UsageError(f"{folder}: the folder has no .parquet file")
    return {name: folder / name for name in names}


def _returned(evaluation: Evaluation) -> set[str]:
    """The queries that the run of a part has."""
    scored = set(chain.from_iterable(evaluation.scores.values()))
    return (scored - set(evaluation.missing)) | set(evaluation.unjudged)


def _judged(evaluation: Evaluation) -> set[str]:
    return (set(chain.from_iterable(evaluation.scores.values())) | set(evaluation.missing)) - set(evaluation.unjudged)


def _check_whole(files: Iterator[tuple[str, set[str]]], what: str) -> None:
    owner: dict[str, str] = {}
    for file, queries in files:
        twice = sorted(query for query in queries if query in owner)
        if twice:
            more = f" (as are {len(twice) - 1:,} more)" if len(twice) > 1 else ""
            other = owner[twice[0]]
            raise UsageError(
                f"{file}: {what} {twice[0]!r} is in {other} too{more}; write all rows of a query to one file"
            )
        owner |= dict.fromkeys(queries, file)


def _check_together(parts: Sequence[tuple[Partition, Evaluation]]) -> None:
    """Refuse a query whose judgments are not in the file that belongs to its hits."""
    missing = {query: str(part.judgments) for part, one in parts for query in one.missing}
    for part, one in parts:
        apart = sorted(query for query in one.unjudged if query in missing)
        if apart:
            raise UsageError(
                f"{part.run}: the query {apart[0]!r} has its judgments in {missing[apart[0]]}; write hits and judgments"
                " of a query to files of the same name"
            )
