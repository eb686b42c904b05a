"""
Runs in folders of Parquet files: each file is scored by itself, and the scores are joined.

This requires that each query is whole in one file, with all its judgments, which is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from harness.errors import UsageError
from harness.metrics.evaluate import RunScores
from harness.words import listed

_SHOWN = 5
"""Files that a message names."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a *run*, and the *judgments* that it is scored by: those of all parts, or its own."""

    judgments: Path
    run: Path


def list_partitions(judgments: Path, run: Path) -> list[Partition]:
    """
    The parts of a run.

    Args:
        judgments: A file, or a folder with the same files as *run*.
        run: A folder; what is named like ``_metadata`` or ``.crc`` is skipped.

    Raises:
        UsageError: a folder has no Parquet file, or a file has no counterpart.
    """
    runs = _list_files(run)
    if not judgments.is_dir():
        return [Partition(judgments, path) for path in runs.values()]
    judgment_files = _list_files(judgments)
    unmatched = [str(run / name) for name in runs if name not in judgment_files]
    unmatched += [str(judgments / name) for name in judgment_files if name not in runs]
    if unmatched:
        raise UsageError(
            f"{listed(unmatched, _SHOWN)}: there is no file of that name in the other folder; where the judgments"
            " are in a folder, each file of the run needs one of the same name there"
        )
    return [Partition(judgment_files[name], path) for name, path in runs.items()]


def join_evaluations(partitions: Sequence[Partition], evaluations: Sequence[RunScores]) -> RunScores:
    """
    The scores of a whole run.

    Args:
        partitions: Its parts.
        evaluations: Of each part.

    Raises:
        UsageError: a query, or its judgments, are in several files.
    """
    parts = list(zip(partitions, evaluations, strict=True))
    queries_of_runs = {str(part.run): _list_returned(evaluation) for part, evaluation in parts}
    _check_whole(queries_of_runs, "the query")
    # Several parts may have the same judgments, which are not in several files then.
    if len({partition.judgments for partition in partitions}) > 1:
        queries_of_judgments = {str(part.judgments): _list_judged(evaluation) for part, evaluation in parts}
        _check_whole(queries_of_judgments, "the judgments of the query")
        _check_together(parts)
    returned = set().union(*queries_of_runs.values())
    missing: dict[str, None] = {}
    scores: dict[str, dict[str, float | None]] = {measure: {} for measure in evaluations[0].scores}
    tie_ranges: dict[str, dict[str, tuple[float, float]]] = {}
    for evaluation in evaluations:
        for measure, ranges in evaluation.tie_ranges.items():
            tie_ranges.setdefault(measure, {}).update(ranges)
        # With shared judgments, each part lacks the queries of the others, and scores them 0 here.
        elsewhere = returned.intersection(evaluation.missing)
        missing |= dict.fromkeys(query for query in evaluation.missing if query not in elsewhere)
        for measure, values in evaluation.scores.items():
            scores[measure].update({query: value for query, value in values.items() if query not in elsewhere})
    # The parts are scored alike: the profile and the measures of the first are those of all.
    first = evaluations[0]
    return RunScores(
        profile=first.profile,
        scores=scores,
        missing=tuple(missing),
        unjudged=tuple(chain.from_iterable(evaluation.unjudged for evaluation in evaluations)),
        summed=first.summed,
        tie_ranges=tie_ranges,
        near_ids=next((evaluation.near_ids for evaluation in evaluations if evaluation.near_ids), ""),
    )


def _list_files(folder: Path) -> dict[Path, Path]:
    """The Parquet files below *folder*, by their paths in it."""
    names = []
    for name in sorted(path.relative_to(folder) for path in folder.rglob("*.parquet")):
        is_skipped = any(part.startswith(("_", ".")) for part in name.parts)
        if not is_skipped:
            names.append(name)
    if not names:
        raise UsageError(f"{folder}: the folder has no .parquet file")
    return {name: folder / name for name in names}


def _list_returned(evaluation: RunScores) -> set[str]:
    """The queries that the run of a part has."""
    scored = set(chain.from_iterable(evaluation.scores.values()))
    return (scored - set(evaluation.missing)) | set(evaluation.unjudged)


def _list_judged(evaluation: RunScores) -> set[str]:
    scored = set(chain.from_iterable(evaluation.scores.values()))
    return (scored | set(evaluation.missing)) - set(evaluation.unjudged)


def _check_whole(queries_of_files: Mapping[str, set[str]], what: str) -> None:
    """Refuse a query that is in several files."""
    files: dict[str, str] = {}
    for file, queries in queries_of_files.items():
        repeated = sorted(query for query in queries if query in files)
        if repeated:
            first = repeated[0]
            others = f" (as are {len(repeated) - 1:,} more)" if len(repeated) > 1 else ""
            raise UsageError(
                f"{file}: {what} {first!r} is in {files[first]} too{others}; write all rows of a query to one file"
            )
        files |= dict.fromkeys(queries, file)


def _check_together(parts: Sequence[tuple[Partition, RunScores]]) -> None:
    """Refuse a query whose judgments are not in the file that belongs to its hits."""
    files: dict[str, str] = {}
    for part, evaluation in parts:
        files |= dict.fromkeys(evaluation.missing, str(part.judgments))
    for part, evaluation in parts:
        separated = sorted(query for query in evaluation.unjudged if query in files)
        if separated:
            first = separated[0]
            raise UsageError(
                f"{part.run}: the query {first!r} has its judgments in {files[first]}; write hits and judgments"
                " of a query to files of the same name"
            )
