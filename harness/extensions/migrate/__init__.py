"""
Imports suites from the files of other systems, and exports suites to such files.

Each format has a module that reads and writes it. What the target format cannot hold is listed, not silently dropped.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from harness.errors import Problem, SuiteError, UsageError
from harness.files.writing import refuse_existing, write_whole
from harness.words import choose_unused, listed

if TYPE_CHECKING:
    from harness.extensions.migrate.draft import Draft, Leftover
    from harness.extensions.migrate.exported import Exported
    from harness.extensions.migrate.matching import IdMatching
    from harness.model.suite import Json, Suite

__all__ = [
    "FORMATS",
    "ImportOptions",
    "MigrationResult",
    "export_suites",
    "import_suites",
    "refuse_repeated",
    "write_drafts",
    "write_files",
]


@dataclass(frozen=True, slots=True)
class Format:
    """
    A format: its *summary* in the help, and the *module* that reads it.

    *writes* is True if suites are exported to it too. *has_query_ids* is True if judgments name queries by their ids,
    which the file of the queries has too. *has_labels* is True if grades may be words, which `ImportOptions.grades`
    maps to numbers. *is_judged* is True if a source has judgments as a rule.
    """

    summary: str
    module: str
    writes: bool = False
    has_query_ids: bool = False
    has_labels: bool = False
    is_judged: bool = False


FORMATS = {
    "quepid": Format("Quepid: ratings (CSV, LTR, JSON), a case, a snapshot or a book", "quepid", is_judged=True),
    "rre": Format("Rated Ranking Evaluator: ratings, with their templates", "rre", is_judged=True),
    "rank_eval": Format("the body of _rank_eval of Elasticsearch or OpenSearch", "rank_eval", is_judged=True),
    "opensearch-srw": Format("Search Relevance Workbench: query sets, judgments, configurations", "workbench"),
    "trec": Format("TREC: topics, qrels, runs", "trec", writes=True, has_query_ids=True),
    "beir": Format("BEIR: a folder with a corpus, queries and qrels", "beir", has_query_ids=True, is_judged=True),
    "ir_datasets": Format("a dataset of ir_datasets, by its id", "datasets", has_query_ids=True),
    "ubi": Format("User Behavior Insights: ubi_queries and ubi_events, as grades", "clicks"),
    "clicks": Format("impressions and clicks as CSV, as grades", "clicks"),
    "csv": Format("queries and judgments as CSV", "records", writes=True, has_query_ids=True, has_labels=True),
    "jsonl": Format("queries and judgments as JSON lines", "records", writes=True, has_query_ids=True, has_labels=True),
}
"""The formats by name."""

_SUFFIX = ".relevance.yaml"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Values from the user that replace those of the sources; None keeps what a source has."""

    name: str | None = None
    """The name of the suite."""
    index: str | None = None
    request: Json = None
    """The body of the request."""
    matching: IdMatching | None = None
    """How judgments find their queries; None refuses a source of which most queries find none."""
    grades: Mapping[str, float] | None = None
    """The grades of labels in words, for formats that have such labels."""


@dataclass(frozen=True, slots=True)
class MigrationResult:
    """The files that were written, and what could not be carried over."""

    written: tuple[Path, ...]
    leftovers: tuple[Leftover, ...]
    unjudged: tuple[str, ...] = ()
    """The names of the suites that have no judgments, where a source may have had them."""
    problems: tuple[Problem, ...] = ()
    """What `relevance validate` refuses in the suites, unless it is only what the sources do not say."""


def import_suites(kind: str, sources: Sequence[str], output: Path, given: ImportOptions) -> MigrationResult:
    """
    Read *sources* in the format *kind*, and write them as suites.

    Args:
        kind: A key of `FORMATS`.
        sources: Files or folders; for ir_datasets the ids of datasets.
        output: The file of the suite if its name ends in .yaml or .yml, else a folder.
        given: Replaces what the sources have.

    Returns:
        The files that were written, and what was not carried over.

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
    return write_drafts(drafts, output, given)


def _check_content(draft: Draft, sources: Sequence[str]) -> None:
    """Raise UsageError for a draft without queries, with what was not carried over."""
    if draft.queries:
        return
    what = f"the suite {draft.name!r}" if draft.name else "the suite"
    sentence = f"{what} would have no query, as none was found in {listed(list(sources))}; nothing was written"
    raise UsageError("\n  ".join([sentence, *map(str, draft.leftovers.values())]))


def refuse_repeated(sources: Sequence[str], *, are_files: bool = True) -> None:
    """
    Refuse a source that is given twice: its clicks, queries or judgments would count twice.

    Args:
        sources: As the user gave them; files may have their kind before them, as in ``qrels=FILE``.
        are_files: Whether they are files, which may be given by several paths; else they are names.

    Raises:
        UsageError: Names the source, and its other path.
    """
    by_identity: dict[object, str] = {}
    for source in sources:
        identity = _identify_file(source) if are_files else source
        if identity in by_identity:
            earlier = by_identity[identity]
            reason = "is given twice" if earlier == source else f"is the same as {earlier}"
            raise UsageError(f"{source} {reason}, and would count twice; give it once")
        by_identity[identity] = source


def _identify_file(source: str) -> tuple[int, int] | str:
    """What two paths of one file have in common; the text itself where there is no such file."""
    for path in (source, source.partition("=")[2]):  # FILE or KIND=FILE
        if not path:
            continue
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            continue
        # A file system without inode numbers has 0 for each file, and all would be the same.
        if status.st_ino:
            return status.st_dev, status.st_ino
    return source


def write_drafts(
    drafts: Sequence[Draft],
    output: Path,
    given: ImportOptions,
    *,
    beside: Mapping[Path, str] | None = None,
    remedy: str = "",
) -> MigrationResult:
    """
    Write *drafts* as suites.

    Args:
        drafts: One for each suite; *given* is put into them.
        output: The file of the suite if its name ends in .yaml or .yml, else a folder.
        given: Replaces what *drafts* have.
        beside: The texts of other files to write, by path.
        remedy: What to do if a file is there already, for the error.

    Returns:
        The files that were written, with the schema that the suites name, what was not carried over, and the problems
        of the suites.

    Raises:
        UsageError: A file to write exists already or cannot be written, or *output* is one file for several suites.
            The schema may exist, and is brought up to date.
    """
    from harness.extensions.migrate.spellings import leave_look_alikes
    from harness.extensions.migrate.suite_yaml import render_suite
    from harness.suites.schema_file import refuse_foreign_schema, update_schema

    files: dict[Path, str] = {}
    leftovers: list[Leftover] = []
    paths = _choose_suite_paths(output, drafts, given.name)
    for draft, path in zip(drafts, paths, strict=True):
        _apply_options(draft, given)
        leave_look_alikes(draft)
        files |= render_suite(draft, path)
        leftovers += draft.leftovers.values()
    if beside is not None:
        files |= beside
    folders = dict.fromkeys(path.parent for path in paths)
    for folder in folders:
        refuse_foreign_schema(folder)
    write_files(files, remedy)
    schemas = [schema for schema in map(update_schema, folders) if schema is not None]
    problems: list[Problem] = []
    for draft, path in zip(drafts, paths, strict=True):
        problems += _validate_suite(draft, path)
    unjudged = tuple(str(path) for draft, path in zip(drafts, paths, strict=True) if draft.is_unjudged)
    return MigrationResult((*files, *schemas), tuple(leftovers), unjudged, tuple(dict.fromkeys(problems)))


def _validate_suite(draft: Draft, path: Path) -> tuple[Problem, ...]:
    """The problems of the suite at *path*; none if all that is wrong is what the source of *draft* does not say."""
    from harness.suites.loading import load_unchecked

    # Each TODO line is a problem too, but one that the file itself tells.
    has_texts = any(query.text for query in draft.queries)
    to_fill_in = {"no value"} if has_texts else {"no value", "no text"}
    try:
        loaded = load_unchecked(path, None)
        problems = loaded.reading.problems
        problems.extend(problem for problem in loaded.judgments.problems.found if problem.kind != "no judgments")
        loaded.require_sound(but={problem for problem in problems.found if problem.kind in to_fill_in})
    except SuiteError as error:
        return error.problems
    return ()


def export_suites(kind: str, suites: Sequence[Suite], output: Path, *, machine_grades: bool = False) -> MigrationResult:
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
    from harness.extensions.migrate.exported import choose_grades, leave_machine_grades, strip_suite_suffix

    module = _import_module(kind)
    files: dict[Path, str] = {}
    leftovers: list[Leftover] = []
    for suite in suites:
        graded = suite if machine_grades else choose_grades(suite)
        exported = module.write(graded, kind)
        leave_machine_grades(suite, exported, are_written=machine_grades, are_told=FORMATS[kind].has_labels)
        folder = output / strip_suite_suffix(suite.path) if len(suites) > 1 else output
        for name, text in exported.files.items():
            path = folder / name
            if path in files:
                raise UsageError(f"{path}: two of the suites would be written there; export them one by one")
            files[path] = text
        leftovers += exported.leftovers.values()
    write_files(files)
    return MigrationResult(tuple(files), tuple(leftovers))


class _FormatModule(Protocol):
    """The functions of a format's module; a format that is only imported has no `write`."""

    def read(self, sources: Sequence[str]) -> list[Draft]: ...

    def write(self, suite: Suite, kind: str) -> Exported: ...


class _LabelsModule(Protocol):
    """A module of a format whose grades may be words."""

    def read(self, sources: Sequence[str], grades: Mapping[str, float] | None) -> list[Draft]: ...


def _import_module(kind: str) -> _FormatModule:
    return cast("_FormatModule", importlib.import_module(f"harness.extensions.migrate.{FORMATS[kind].module}"))


def _apply_options(draft: Draft, given: ImportOptions) -> None:
    """Replace values of *draft* by those *given*, and note the params that no request uses."""
    from harness.suites.placeholders import locate_placeholders

    if given.name:
        draft.name = given.name
    if given.index:
        # The documents of the source would be indexed under another name.
        draft.index, draft.documents = given.index, None
    if given.request is not None:
        draft.request, draft.requests = given.request, {}
    requests = json.dumps([draft.request, draft.requests])
    placeholders = {placeholder.name for placeholder in locate_placeholders(requests)}
    for query in draft.queries:
        # A suite with a param that no request uses would be refused.
        superfluous = [name for name in query.params if name not in placeholders]
        for name in superfluous:
            draft.leave(query.place, f"{name!r} of queries, which no request uses")
            del query.params[name]


def _choose_suite_paths(output: Path, drafts: Sequence[Draft], name: str | None) -> list[Path]:
    """A path for each draft; in a folder, the suite's name without the characters that a file name should not have."""
    if output.suffix.lower() in (".yaml", ".yml"):
        if len(drafts) > 1:
            raise UsageError(f"{output}: the source is {len(drafts)} suites; expected a folder to write them to")
        return [output]
    paths = []
    taken: set[str] = set()
    for draft in drafts:
        stem = re.sub(r"[^\w.-]+", "-", name or draft.name or "").strip(".-")
        paths.append(output / f"{choose_unused(stem or 'suite', taken)}{_SUFFIX}")
    return paths


def write_files(files: Mapping[Path, str], remedy: str = "") -> None:
    """
    Write *files*, text by path, each atomically; *remedy* is for the error if a file is there.

    Raises:
        UsageError: A file exists already, and then none is written; or a file cannot be written.
    """
    refuse_existing(files, remedy)
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
