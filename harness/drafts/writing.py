"""Writes drafts as suites: no file is replaced, and what `relevance validate` refuses in them is known."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.drafts.draft import Draft, Leftover
from harness.drafts.look_alikes import note_look_alikes
from harness.drafts.suite_yaml import name_tables, render_suite
from harness.drafts.table_changes import TableChanges, compare_tables
from harness.errors import Problem, SuiteError, UsageError
from harness.files.opening import YAML_SUFFIXES
from harness.files.writing import refuse_existing, write_whole
from harness.model.suite import Json
from harness.suites.loading import load_unchecked
from harness.suites.names import SUITE_SUFFIX
from harness.suites.placeholders import locate_placeholders
from harness.suites.schema_file import refuse_foreign_schema, update_schema
from harness.words import choose_unused


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """Values from the user that replace those of drafts; None keeps what a draft has."""

    name: str | None = None
    """The name of the suite."""
    index: str | None = None
    request: Json = None
    """The body of the request."""
    is_separate: bool = False
    """Whether queries and judgments get files of their own, which alone are replaced if the suite is there."""


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files that were written, and what could not be carried over."""

    written: tuple[Path, ...]
    leftovers: tuple[Leftover, ...]
    unjudged: tuple[str, ...] = ()
    """The names of the suites that have no judgments, where a source may have had them."""
    problems: tuple[Problem, ...] = ()
    """What `relevance validate` refuses in the suites, unless it is only what the sources do not say."""
    changes: tuple[TableChanges, ...] = ()
    """What changed in the queries and judgments of suites that were there."""


def write_drafts(
    drafts: Sequence[Draft],
    output: Path,
    given: DraftOptions,
    *,
    beside: Mapping[Path, str] | None = None,
    remedy: str = "",
) -> WrittenFiles:
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
            The schema may exist, and is brought up to date. So may a suite that names its queries and judgments, if
            these are *given* to be separate.
        InputError: Such queries or judgments cannot be read.
    """
    files: dict[Path, str] = {}
    leftovers: list[Leftover] = []
    replaced: list[Path] = []
    changes: list[TableChanges] = []
    paths = _choose_suite_paths(output, drafts, given.name)
    for draft, path in zip(drafts, paths, strict=True):
        _apply_options(draft, given)
        note_look_alikes(draft)
        rendered = render_suite(draft, path, is_separate=given.is_separate)
        if given.is_separate and path.exists():
            changes.append(compare_tables(draft.queries, path))
            replaced += name_tables(path)
            del rendered[path]
        files |= rendered
        leftovers += draft.leftovers.values()
    if beside is not None:
        files |= beside
    folders = dict.fromkeys(path.parent for path in paths)
    for folder in folders:
        refuse_foreign_schema(folder)
    write_files(files, remedy, replaced=replaced)
    schemas = [schema for schema in map(update_schema, folders) if schema is not None]
    problems: list[Problem] = []
    for draft, path in zip(drafts, paths, strict=True):
        problems += _validate_suite(draft, path)
    unjudged = tuple(str(path) for draft, path in zip(drafts, paths, strict=True) if draft.is_unjudged)
    return WrittenFiles((*files, *schemas), tuple(leftovers), unjudged, tuple(dict.fromkeys(problems)), tuple(changes))


def _validate_suite(draft: Draft, path: Path) -> tuple[Problem, ...]:
    """The problems of the suite at *path*; none if all that is wrong is what the source of *draft* does not say."""
    # Each TODO line is a problem too, but one that the file itself tells.
    has_texts = any(query.text for query in draft.queries)
    to_fill_in = {"no-value"} if has_texts else {"no-value", "no-text"}
    try:
        loaded = load_unchecked(path, None)
        problems = loaded.reading.problems
        problems.extend(problem for problem in loaded.judgments.problems.found if problem.code != "no-judgments")
        loaded.require_sound(but={problem for problem in problems.found if problem.code in to_fill_in})
    except SuiteError as error:
        return error.problems
    return ()


def _apply_options(draft: Draft, given: DraftOptions) -> None:
    """Replace values of *draft* by those *given*, and note the params that no request uses."""
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
            draft.add_leftover(query.place, f"{name!r} of queries, which no request uses")
            del query.params[name]


def _choose_suite_paths(output: Path, drafts: Sequence[Draft], name: str | None) -> list[Path]:
    """A path for each draft; in a folder, the suite's name without the characters that a file name should not have."""
    if output.suffix.lower() in YAML_SUFFIXES:
        if len(drafts) > 1:
            raise UsageError(f"{output}: the source is {len(drafts)} suites; expected a folder to write them to")
        return [output]
    paths = []
    taken: set[str] = set()
    for draft in drafts:
        stem = re.sub(r"[^\w.-]+", "-", name or draft.name or "").strip(".-")
        paths.append(output / f"{choose_unused(stem or 'suite', taken)}{SUITE_SUFFIX}")
    return paths


def write_files(files: Mapping[Path, str], remedy: str = "", *, replaced: Collection[Path] = ()) -> None:
    """
    Write *files*, text by path, each atomically; *remedy* is for the error if a file is there that is not *replaced*.

    Raises:
        UsageError: Such a file exists already, and then none is written; or a file cannot be written.
    """
    refuse_existing([path for path in files if path not in replaced], remedy)
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
