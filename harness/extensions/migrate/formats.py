"""
Imports suites from the files of other systems, and exports suites to such files.

Each format has a module that reads and writes it. What the target format cannot hold is listed, not silently dropped.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from harness.drafts.writing import DraftOptions, WrittenFiles, write_drafts, write_files
from harness.errors import UsageError
from harness.files.paths import refuse_repeated
from harness.suites.names import strip_suite_suffix
from harness.words import listed

if TYPE_CHECKING:
    from harness.drafts.draft import Draft, Leftover
    from harness.extensions.migrate.exported import Exported
    from harness.extensions.migrate.matching import IdMatching
    from harness.model.suite import Suite


@dataclass(frozen=True, slots=True)
class Format:
    """
    A format: its *summary* in the help, the *module* that reads it, and what an *example* in the help imports.

    *writes* is True if suites are exported to it too. *has_query_ids* is True if judgments name queries by their ids,
    which the file of the queries has too. *has_labels* is True if grades may be words, which `ImportOptions.grades`
    maps to numbers. *is_judged* is True if a source has judgments as a rule.
    """

    summary: str
    module: str
    example: str
    writes: bool = False
    has_query_ids: bool = False
    has_labels: bool = False
    is_judged: bool = False


FORMATS = {
    "quepid": Format(
        "Quepid: ratings (CSV, LTR, JSON), a case, a snapshot or a book",
        "quepid",
        "ratings.csv --output suites",
        is_judged=True,
    ),
    "rre": Format(
        "Rated Ranking Evaluator: ratings, with their templates",
        "rre",
        "ratings/shop.json --output suites",
        is_judged=True,
    ),
    "rank_eval": Format(
        "the body of _rank_eval of Elasticsearch or OpenSearch",
        "rank_eval",
        "rank_eval.json --output suites",
        is_judged=True,
    ),
    "opensearch-srw": Format(
        "Search Relevance Workbench: query sets, judgments, configurations",
        "workbench",
        "query_set.json judgments.json --output suites",
    ),
    "trec": Format(
        "TREC: topics, qrels, runs",
        "trec",
        "topics.txt products.qrels --output suites",
        writes=True,
        has_query_ids=True,
    ),
    "beir": Format(
        "BEIR: a folder with a corpus, queries and qrels",
        "beir",
        "scifact --output suites",
        has_query_ids=True,
        is_judged=True,
    ),
    "ir_datasets": Format(
        "a dataset of ir_datasets, by its id", "datasets", "beir/scifact/test --output suites", has_query_ids=True
    ),
    "ubi": Format(
        "User Behavior Insights: ubi_queries and ubi_events, as grades",
        "clicks",
        "ubi_queries.csv ubi_events.csv --output judged.csv",
    ),
    "clicks": Format("impressions and clicks as CSV, as grades", "clicks", "clicks.csv --output judged.csv"),
    "csv": Format(
        "queries and judgments as CSV",
        "records",
        "judged.csv --output suites",
        writes=True,
        has_query_ids=True,
        has_labels=True,
    ),
    "jsonl": Format(
        "queries and judgments as JSON lines",
        "records",
        "judged.jsonl --output suites",
        writes=True,
        has_query_ids=True,
        has_labels=True,
    ),
}
"""The formats by name."""


@dataclass(frozen=True, slots=True)
class ImportOptions(DraftOptions):
    """Values from the user that replace those of the sources, and how these are read."""

    matching: IdMatching | None = None
    """How judgments find their queries; None refuses a source of which most queries find none."""
    grades: Mapping[str, float] | None = None
    """The grades of labels in words, for formats that have such labels."""


def import_suites(kind: str, sources: Sequence[str], output: Path, given: ImportOptions) -> WrittenFiles:
    """
    Read *sources* in the format *kind*, and write them as suites.

    Args:
        kind: A key of `FORMATS`.
        sources: Files or folders; for ir_datasets the ids of datasets.
        output: The file of the suite if its name ends in .yaml or .yml, else a folder.
        given: Replaces what the sources have.

    Returns:
        The files that were written, what was not carried over, and what changed.

    Raises:
        InputError: A source cannot be read, names each place; or its judgments are of other queries than it has.
        UsageError: A source is given twice, a file to write exists already or cannot be written, or *output* is one
            file for several suites.
    """
    from harness.extensions.migrate.matching import match_strangers

    refuse_repeated(sources)
    if FORMATS[kind].has_labels:
        drafts = cast("_LabelsModule", _import_module(kind)).read(sources, given.grades)
    else:
        drafts = _import_module(kind).read(sources)
    for draft in drafts:
        match_strangers(draft, given.matching)
        _check_content(draft, sources)
        # Queries alone are usual in other formats, and what is not read of CSV may be the judgments.
        is_expected = FORMATS[kind].is_judged or draft.names_judgments
        is_expected = is_expected or (FORMATS[kind].has_labels and bool(draft.leftovers))
        draft.is_unjudged = is_expected and not any(
            query.judgments or query.machine_judgments for query in draft.queries
        )
    remedy = "" if given.is_separate else "--separate replaces only queries and judgments that an import wrote"
    return write_drafts(drafts, output, given, remedy=remedy)


def _check_content(draft: Draft, sources: Sequence[str]) -> None:
    """Raise UsageError for a draft without queries, with what was not carried over."""
    if draft.queries:
        return
    what = f"the suite {draft.name!r}" if draft.name else "the suite"
    sentence = f"{what} would have no query, as none was found in {listed(list(sources))}; nothing was written"
    raise UsageError("\n  ".join([sentence, *map(str, draft.leftovers.values())]))


def export_suites(kind: str, suites: Sequence[Suite], output: Path, *, machine_grades: bool = False) -> WrittenFiles:
    """
    Write *suites* as files of the format *kind*.

    Args:
        kind: The name of a format that is written.
        suites: Loaded without an environment, so that no values from it are written.
        output: A folder, in which each of several suites gets a folder of its own.
        machine_grades: Whether the grades of machines are written beside people's, and said to be theirs where the
            format can.

    Returns:
        The files that were written, and what was not carried over, such as the grades of machines.

    Raises:
        UsageError: Two suites would be written to one file, or a file exists already or cannot be written.
    """
    from harness.extensions.migrate.exported import choose_grades, note_machine_grades

    module = _import_module(kind)
    files: dict[Path, str] = {}
    leftovers: list[Leftover] = []
    for suite in suites:
        graded = suite if machine_grades else choose_grades(suite)
        exported = module.write(graded, kind)
        note_machine_grades(suite, exported, are_written=machine_grades, names_machines=FORMATS[kind].has_labels)
        folder = output / strip_suite_suffix(suite.path) if len(suites) > 1 else output
        for name, text in exported.files.items():
            path = folder / name
            if path in files:
                raise UsageError(f"{path}: two of the suites would be written there; export them one by one")
            files[path] = text
        leftovers += exported.leftovers.values()
    write_files(files)
    return WrittenFiles(tuple(files), tuple(leftovers))


class _FormatModule(Protocol):
    """The functions of a format's module; a format that is only imported has no `write`."""

    def read(self, sources: Sequence[str]) -> list[Draft]: ...

    def write(self, suite: Suite, kind: str) -> Exported: ...


class _LabelsModule(Protocol):
    """A module of a format whose grades may be words."""

    def read(self, sources: Sequence[str], grades: Mapping[str, float] | None) -> list[Draft]: ...


def _import_module(kind: str) -> _FormatModule:
    return cast("_FormatModule", importlib.import_module(f"harness.extensions.migrate.{FORMATS[kind].module}"))
