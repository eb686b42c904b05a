"""
Suites from other systems' files, and their files from suites.

Each format is a module with what reads it and what writes it. What one side has no place for is listed, never dropped.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from harness.errors import UsageError
from harness.files.writing import write_whole

if TYPE_CHECKING:
    from harness.migrate.draft import Draft, Leftover
    from harness.migrate.exported import Exported
    from harness.model import Json, Suite

__all__ = ["FORMATS", "Given", "Migrated", "export_suites", "import_suites", "write_drafts", "write_files"]


@dataclass(frozen=True, slots=True)
class Format:
    """
    A format: what it is, the *module* that reads and writes it, and the *suffix* of its file.

    The suffix is empty where a suite becomes several files in a folder.
    """

    summary: str
    module: str
    suffix: str = ""
    writes: bool = True


FORMATS = {
    "quepid": Format("Quepid: ratings (CSV, LTR, JSON), a case, a snapshot or a book", "quepid", ".csv"),
    "rre": Format("Rated Ranking Evaluator: ratings, with their templates", "rre"),
    "rank_eval": Format("the body of _rank_eval of Elasticsearch or OpenSearch", "rank_eval", ".json"),
    "opensearch-srw": Format("Search Relevance Workbench: query sets, judgments, configurations", "workbench"),
    "trec": Format("TREC: topics, qrels, runs", "trec"),
    "beir": Format("BEIR: a folder with queries, qrels and corpus", "beir"),
    "ir_datasets": Format("a dataset of ir_datasets, by its id", "datasets", writes=False),
    "ubi": Format("User Behavior Insights: ubi_queries and ubi_events, as grades", "clicks", writes=False),
    "clicks": Format("impressions and clicks as CSV, as grades", "clicks", writes=False),
    "csv": Format("queries and judgments as CSV", "records"),
    "jsonl": Format("queries and judgments as JSON lines", "records"),
}
"""What is read and written, by its name."""

_SUFFIX = ".relevance.yaml"
_PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Given:
    """What the user says beside the source: the suite's name, its index, and the body of its request."""

    name: str | None = None
    index: str | None = None
    request: Json = None


@dataclass(frozen=True, slots=True)
class Migrated:
    """The files that were written, and what is in none of them."""

    written: tuple[Path, ...]
    leftovers: tuple[Leftover, ...]


def import_suites(kind: str, sources: Sequence[str], output: Path, given: Given) -> Migrated:
    """
    Write suites from *sources*, which are of the format *kind*.

    Args:
        kind: One of `FORMATS`.
        sources: Files or folders; the id of a dataset for ir_datasets.
        output: The suite's file, or a folder: where its name does not end in .yaml or .yml.
        given: What the sources may lack.

    Raises:
        InputError: A source is not what it should be, with each place.
        UsageError: A file that would be written is there already, and then none is.
    """
    return write_drafts(_module(kind).read(sources), output, given)


def write_drafts(
    drafts: Sequence[Draft], output: Path, given: Given, *, beside: Mapping[Path, str] | None = None
) -> Migrated:
    """
    Write suites.

    Args:
        drafts: What they hold.
        output: The file, or a folder: where its name does not end in .yaml or .yml.
        given: What takes the place of what *drafts* say.
        beside: Other files, with their texts.

    Raises:
        UsageError: A file that would be written is there already, and then none is.
    """
    from harness.migrate.suite_yaml import suite_files

    files: dict[Path, str] = {}
    for draft, path in zip(drafts, _suite_paths(output, drafts, given.name), strict=True):
        _complete(draft, given)
        files |= suite_files(draft, path)
    files |= beside or {}
    write_files(files)
    return Migrated(tuple(files), tuple(leftover for draft in drafts for leftover in draft.leftovers.values()))


def export_suites(kind: str, suites: Sequence[Suite], output: Path) -> Migrated:
    """
    Write *suites* as files of the format *kind*.

    Args:
        kind: One of `FORMATS`.
        suites: Loaded without an environment, so that no value from it is written.
        output: The file; a folder for several suites, or for a format of several files.

    Raises:
        UsageError: The format cannot have a suite's requests or measures, or a file is there already.
    """
    suffix = FORMATS[kind].suffix
    if not FORMATS[kind].writes:
        raise UsageError(f"{kind} is only read; export another format")
    from harness.migrate.exported import suite_stem

    module = _module(kind)
    files: dict[Path, str] = {}
    leftovers: list[Leftover] = []
    for suite in suites:
        exported: Exported = module.write(suite, kind if not suffix else output.suffix.lower())
        own = output if len(suites) == 1 else output / f"{suite_stem(suite.path)}{suffix}"
        written = {own / name if name else own: text for name, text in exported.files.items()}
        for path in written.keys() & files.keys():
            raise UsageError(f"{path}: two of the suites would be written there; export them one by one")
        files |= written
        leftovers += exported.leftovers.values()
    write_files(files)
    return Migrated(tuple(files), tuple(leftovers))


class _Module(Protocol):
    """What the module of a format has; *form* is the suffix of the file, or the format's name where it is a folder."""

    def read(self, sources: Sequence[str]) -> list[Draft]: ...

    def write(self, suite: Suite, form: str) -> Exported: ...


def _module(kind: str) -> _Module:
    return cast("_Module", importlib.import_module(f"harness.migrate.{FORMATS[kind].module}"))


def _complete(draft: Draft, given: Given) -> None:
    """Put what the user says in the place of what the source says."""
    draft.name = given.name or draft.name
    if given.index:
        draft.index, draft.documents = given.index, None
    if given.request is not None:
        draft.request, draft.requests = given.request, {}
    used = set(_PLACEHOLDER.findall(json.dumps([draft.request, draft.requests])))
    for query in draft.queries:
        for name in [name for name in query.params if name not in used]:
            draft.leave(query.place, f"{name!r} of queries, which no request uses")
            del query.params[name]


def _suite_paths(output: Path, drafts: Sequence[Draft], name: str | None) -> list[Path]:
    """A file for each draft; in a folder it is named as the suite, as far as a name of a source can name a file."""
    if output.suffix.lower() in (".yaml", ".yml"):
        if len(drafts) > 1:
            raise UsageError(f"{output}: the source is {len(drafts)} suites; expected a folder to write them to")
        return [output]
    stems: list[str] = []
    for draft in drafts:
        base = re.sub(r"[^\w.-]+", "-", name or draft.name or "").strip(".-") or "suite"
        numbered = (base, *(f"{base}-{number}" for number in range(2, len(drafts) + 1)))
        stems.append(next(stem for stem in numbered if stem not in stems))
    return [output / f"{stem}{_SUFFIX}" for stem in stems]


def write_files(files: Mapping[Path, str]) -> None:
    """
    Write each file, whole.

    Raises:
        UsageError: One of them is there already, and then none is written; or it cannot be written.
    """
    taken = [path for path in files if path.exists() or path.is_symlink()]
    if taken:
        raise UsageError("\n".join(f"{path}: this is there already, and nothing was written" for path in taken))
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
