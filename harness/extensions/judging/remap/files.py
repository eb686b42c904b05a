"""The files that have ids of judged documents, edited by place; and the map of ids that is kept beside the suite."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from yaml import YAMLError

from harness.errors import InputError, UsageError
from harness.extensions.judging.grade_edits import list_query_nodes, read_plain
from harness.extensions.judging.graded_documents import build_record_path
from harness.extensions.judging.remap.id_edits import (
    EDITORS,
    NewIds,
    edit_json_lines,
    edit_suite,
    list_expectations,
    list_judged,
    rewrite_expectation,
)
from harness.extensions.judging.writing import GradedFiles
from harness.files.beside import BesideFile
from harness.files.editing import apply_edits, compose_nodes
from harness.files.judge_files import JudgeFile
from harness.files.opening import JUDGMENTS, FileProblems, detect_format
from harness.files.paths import cut_suffix
from harness.files.records import read_records
from harness.files.tables import iterate_lines, read_json_rows
from harness.files.trec import BYTE_ORDER_MARK
from harness.files.versioned import VersionedJson
from harness.words import count


@dataclass(frozen=True, slots=True)
class KeptRemap:
    """The *ids* that moved when the documents of a suite went to *index*, as they were found by *fields*."""

    day: str
    index: str
    fields: tuple[str, ...]
    ids: Mapping[str, str]
    """The old id to the new one."""
    files: tuple[str, ...] = ()
    """The files that were edited, relative to the folder of the suite."""


@dataclass(frozen=True, slots=True)
class KeptRemaps:
    """All remaps of a suite, in the order in which they were written."""

    remaps: tuple[KeptRemap, ...] = field(default=())
    schema: int = 1


MAPS = VersionedJson(KeptRemaps, "map of ids", remedy="restore the file", is_merged=True, is_strict=True)


_SUFFIX = ".remapped-ids.json"


def build_map_path(suite: Path) -> Path:
    """
    The file with the ids that moved, beside *suite*.

    >>> str(build_map_path(Path("shop.relevance.yaml")))
    'shop.remapped-ids.json'
    """
    return suite.with_name(f"{cut_suffix(suite)}{_SUFFIX}")


def read_maps(file: BesideFile) -> KeptRemaps:
    """
    The remaps in *file*; none where there is none.

    Raises:
        FormatError: It cannot be read.
    """
    return MAPS.read(file) if file.exists() else KeptRemaps()


def explain_repeated(file: BesideFile, new_ids: NewIds, paths: Collection[Path]) -> str:
    """
    Why *new_ids* must not be written to *paths* once more: ids that were swapped would be swapped back.

    Empty where they may be. *file* has the map of the suite; maps of other suites in its folder count for the files
    that both suites name.

    Raises:
        FormatError: A map cannot be read.
    """
    folder = file.path.parent
    real_paths = {os.path.realpath(path) for path in paths}
    for path in sorted({file.path, *folder.glob(f"*{_SUFFIX}")}):
        for remap in read_maps(replace(file, path=path)).remaps:
            repeated = [old for old, new in new_ids.items() if remap.ids.get(old) == new]
            shared = [name for name in remap.files if os.path.realpath(folder / name) in real_paths]
            if repeated and (path == file.path or shared):
                what = f"{shared[0]} has them" if shared else "the files have them"
                return (
                    f"{path}: {count(len(repeated), 'id')} such as {repeated[0]!r} moved to {remap.index} on "
                    f"{remap.day}, and {what} since; if it has the ids of before again, remove that entry"
                )
    return ""


@dataclass(frozen=True, slots=True)
class IdFiles:
    """All files of a suite that have ids of documents: itself, its judgment files, and what judges left beside it."""

    graded: GradedFiles
    beside: frozenset[Path]
    """Files of JSON lines that the harness writes: those of judges, and the record of graded documents."""

    @classmethod
    def read(cls, graded: GradedFiles, judges: Mapping[str, JudgeFile], roots: Sequence[str]) -> IdFiles:
        """The files of *graded*, those of *judges* and the record; raises OSError where one is not to be read."""
        beside = [file.place for file in judges.values()]
        record = BesideFile(build_record_path(graded.suite), roots)
        if record.exists():
            beside.append(record)
        contents = {file.path: file.read() for file in beside}
        return cls(replace(graded, contents={**graded.contents, **contents}), frozenset(contents))

    def edit(self, new_ids: NewIds) -> dict[Path, bytes]:
        """
        The contents of the files that change, with *new_ids*, each read again to see that nothing else did.

        Raises:
            UsageError: A file cannot have them.
        """
        edited = {path: self._edit(path, content, new_ids) for path, content in self.graded.contents.items()}
        return {path: content for path, content in edited.items() if content != self.graded.contents[path]}

    def _edit(self, path: Path, content: bytes, new_ids: NewIds) -> bytes:
        mark = BYTE_ORDER_MARK if content.startswith(BYTE_ORDER_MARK) else b""
        try:
            before = self._read(path, content, new_ids)
            if before == self._read(path, content, {}):
                return content
            editor = EDITORS.get(detect_format(path))
            if path == self.graded.suite:
                editor = edit_suite
            elif path in self.beside:
                editor = edit_json_lines
            if editor is None or path.suffix.lower() in (".gz", ".zst"):
                raise UsageError(f"{path}: ids cannot be edited in a file of this kind; write it as CSV or JSON lines")
            text = content[len(mark) :].decode()
            # An alias stands for a node that is edited once.
            edited = mark + apply_edits(text, sorted(set(editor(text, new_ids)))).encode()
            is_sound = self._read(path, edited, {}) == before
        except (InputError, YAMLError, UnicodeDecodeError):
            is_sound = False
        if not is_sound:
            raise UsageError(f"{path}: the ids cannot be put into this file without changing more; edit it by hand")
        return edited

    def _read(self, path: Path, content: bytes, new_ids: NewIds) -> Any:
        """What *content*, that of *path*, says with *new_ids* in the place of the old ones."""
        if path == self.graded.suite:
            return _read_suite(content.decode("utf-8-sig"), new_ids)
        if path in self.beside:
            return _read_lines(path, content, new_ids)
        # The readers of files read a path, whose name says the format.
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_bytes(content)
            records = []
            for record in read_records(copy, JUDGMENTS, FileProblems(str(path))):
                document = new_ids.get(record.document, record.document)
                records.append((record.line, record.query, document, record.value, record.subtopic))
        return records


def _read_suite(text: str, new_ids: NewIds) -> Any:
    root = compose_nodes(text)
    # An alias is the node that it stands for, whose ids move once.
    seen: set[int] = set()
    for entry in list_query_nodes(root).values():
        for key in list_judged(entry):
            if id(key) not in seen:
                seen.add(id(key))
                key.value = new_ids.get(key.value, key.value)
        for node in list_expectations(entry):
            if id(node) not in seen:
                seen.add(id(node))
                node.value = rewrite_expectation(node.value, new_ids)
    return read_plain(root)


def _read_lines(path: Path, content: bytes, new_ids: NewIds) -> list[Any]:
    findings = FileProblems(str(path))
    numbered = iterate_lines(iter(content.splitlines(keepends=True)), findings)  # type: ignore[arg-type]
    entries = []
    for _, entry, _ in read_json_rows(numbered, findings, [], needed=False):
        if "document" in entry:
            document = str(entry["document"])
            entry["document"] = new_ids.get(document, document)
        entries.append(entry)
    findings.raise_any(path)
    return entries
