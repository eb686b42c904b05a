"""
The folder of a history: one JSON file a run and suite, and packed files of one entry a line.

::

    FOLDER/SUITE/2026-11-25T231946Z-REQUEST-1f0c9a2e.json
    FOLDER/SUITE/packed-9b1d4c07.jsonl

No file is ever changed, so that git merges two branches without conflict. An entry that is in two files counts once. A
file has its keys sorted, and a line for each query. Its name ends with a fingerprint of its content.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import TypeAlias

from harness.errors import FormatError, HistoryError
from harness.files.beside import BesideFile
from harness.files.paths import CONFIG_NAME
from harness.files.versioned import MOST_READ, VersionedJson
from harness.masking import fingerprint
from harness.model.kept import HistoryEntry
from harness.model.suite import Json
from harness.store.history import format_created


def leave_bands_out(entry: HistoryEntry) -> HistoryEntry:
    """*entry*, of schema 1, without the bands of its queries: these are computed where they are shown."""
    queries = {}
    for query, kept in entry.queries.items():
        queries[query] = replace(kept, bands={}) if kept.bands else kept
    return replace(entry, queries=queries, schema=2)


ENTRIES = VersionedJson(
    HistoryEntry, "history entry", remedy="correct the file, or remove it", earlier={1: leave_bands_out}
)

PACKED_PREFIX = "packed-"
"""How the names of files with several entries begin."""

_MOMENT = re.compile(rf"(?:{PACKED_PREFIX})?(\d{{4}}-\d{{2}}-\d{{2}}T\d{{6}}Z)-")
"""Begins the names of files: the place of the entry, or of the last one of a packed file."""

_LEAST_STEP = timedelta(microseconds=1)

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80


def make_file_name(name: str) -> str:
    """
    *name* as part of a path; names that differ may become the same, so readers look into the files.

    >>> make_file_name("Shop: red shoes/boots"), make_file_name("..")
    ('Shop-red-shoes-boots', 'suite')
    """
    return _UNSAFE.sub("-", name).strip(".-")[:_LONGEST_NAME] or "suite"


def place_file(path: Path) -> BesideFile:
    """The file at *path* in the folder of a suite. A link may lead to another file of the history."""
    return BesideFile(path, (path.parent.parent,), follows_links=True)


# Reading.


def list_suites(folder: Path) -> list[Path]:
    """
    The folders of suites in *folder*, by name.

    Raises:
        HistoryError: *folder* cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and list_files(path))
    except OSError as error:
        raise HistoryError(f"the history {folder.as_posix()} cannot be read: {error.strerror or error}") from None


def read_history(folder: Path, suite: str) -> list[HistoryEntry]:
    """
    The entries of the suite of that name, in the order in which they were kept; none if *folder* has none.

    Raises:
        HistoryError: A file cannot be read, or is not of this version.
    """
    entries = []
    for path in list_files(folder / make_file_name(suite)):
        entries += [entry for entry in read_file(path) if entry.suite == suite]
    return sort_entries(entries)


def sort_entries(entries: Iterable[HistoryEntry]) -> list[HistoryEntry]:
    """*entries* in the order in which they were kept, each once."""
    by_moment: dict[tuple[str, tuple[str, str, str]], list[HistoryEntry]] = {}
    for entry in entries:
        known = by_moment.setdefault((entry.moment, entry.series), [])
        # An entry may be in two files while it is packed, and where two branches packed it.
        if entry not in known:
            known.append(entry)
    ordered: list[HistoryEntry] = []
    for moment in sorted(by_moment):
        entries_of_moment = by_moment[moment]
        if len(entries_of_moment) > 1:
            entries_of_moment.sort(key=dump_line)
        ordered += entries_of_moment
    return ordered


def list_files(folder: Path) -> list[Path]:
    """
    The files of entries in the folder of a suite, by name; none if there is no such folder.

    Raises:
        HistoryError: *folder* cannot be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HistoryError(f"the history {folder.as_posix()} cannot be read: {error.strerror or error}") from None
    # A file whose name begins with a dot is still being written.
    return [path for path in paths if path.suffix in (".json", ".jsonl") and not path.name.startswith(".")]


def read_file(path: Path) -> list[HistoryEntry]:
    """
    The entries of a file: one of a `.json`, one a line of a `.jsonl`.

    Raises:
        HistoryError: The file cannot be read, is no entry, is of another version, or was edited.
    """
    try:
        text = place_file(path).read(MOST_READ).decode()
    except OSError as error:
        raise _refuse(path.as_posix(), error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise _refuse(path.as_posix(), "it is not UTF-8") from None
    if path.suffix == ".json":
        entries = [load_entry(text, path.as_posix())]
        # Of the JSON and not of the entry: a later version may know more keys than the file has.
        content = json.dumps(json.loads(text), sort_keys=True)
    else:
        entries = []
        content = ""
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                entries.append(load_entry(line, path.as_posix(), first_line=number))
                content += f"{line}\n"
    if not path.stem.endswith(f"-{fingerprint(content)[:8]}"):
        problem = "its name does not end with the fingerprint of its content, so it was edited or renamed"
        raise HistoryError(f"the history {path.as_posix()} cannot be read: {problem}; restore the file, or remove it")
    return entries


def load_entry(text: str, path: str, *, first_line: int = 1) -> HistoryEntry:
    """
    The entry in *text*, which begins at *first_line* of *path*.

    Raises:
        HistoryError: It is no entry, or of another version.
    """
    try:
        entry = ENTRIES.loads(text, path=path, first_line=first_line)
    except FormatError as error:
        raise HistoryError(f"the history cannot be read: {error}") from None
    place = f"{path}:{first_line}" if path.endswith(".jsonl") else path
    _refuse_other_times(entry, place)
    _refuse_contradictions(entry, place)
    return entry


def _refuse(place: str, problem: str) -> HistoryError:
    return HistoryError(f"the history {place} cannot be read: {problem}; correct the file, or remove it")


def _refuse_other_times(entry: HistoryEntry, place: str) -> None:
    """Refuse a time that is not written as `make_entry` does: entries are put in order by that text."""
    for name, text in (("created", entry.created), ("kept", entry.moment)):
        try:
            time = datetime.fromisoformat(text)
            is_as_written = time.tzinfo is not None and format_created(time) == text
        except (ValueError, OverflowError):
            is_as_written = False
        if not is_as_written:
            expected = "expected a time in UTC such as '2026-11-25T23:19:46.123456+00:00'"
            raise _refuse(place, f"at {name}: found {text!r}, {expected}")


def _refuse_contradictions(entry: HistoryEntry, place: str) -> None:
    """Refuse ranks of ties that are not those of the ranking, and documents that are in a ranking twice."""
    for query, kept in entry.queries.items():
        rank = 0
        for first, last in kept.ties:
            if not rank < first < last <= len(kept.ranking):
                sentence = f"at queries.{query}.ties: found [{first}, {last}], expected ranks of its ranking in order"
                raise _refuse(place, sentence)
            rank = last
        if len({*kept.ranking, *kept.tail}) < len(kept.ranking) + len(kept.tail):
            raise _refuse(place, f"at queries.{query}.ranking: a document is in it twice")


# Writing.


def check_writable(folder: Path) -> None:
    """
    Check that files can be written into *folder*, or that it can be made. Nothing stays behind: the run may be refused
    yet.

    Raises:
        HistoryError: That cannot be done.
    """
    existing = folder.absolute()
    # Path.exists is false for a link that leads nowhere, where no folder can be made.
    while not os.path.lexists(existing):
        existing = existing.parent
    try:
        with TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise HistoryError(f"the history {folder.as_posix()} cannot be written: {error.strerror or error}") from None


def write_entry(folder: Path, entry: HistoryEntry) -> Path:
    """
    Write *entry* to a file of its own, whole or not at all; returns its path.

    Raises:
        HistoryError: It cannot be written.
    """
    parts = _dump_parts(entry)
    path = folder / make_file_name(entry.suite) / _name_file(entry, parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        BesideFile(path.parent).create_folder()
        place_file(path).write(_join_lines(parts))
    except OSError as error:
        reason = error.strerror or error
        raise HistoryError(f"the history {path.as_posix()} cannot be written: {reason}") from None
    return path


def _name_file(entry: HistoryEntry, parts: Mapping[str, _DumpedPart]) -> str:
    """
    The name of the file of *entry*: its place in the order, the request, and a fingerprint of all that it says.

    So a second run in the same second has another name, and two branches never have different files of one name.
    """
    digest = fingerprint(_join_line(parts))[:8]
    return f"{name_moment(entry.moment)}-{make_file_name(entry.request)}-{digest}.json"


def name_moment(moment: str) -> str:
    """*moment*, which is written as `format_created` does, as names of files begin: to the second."""
    return f"{moment[:19].replace(':', '')}Z"


def dump_line(entry: HistoryEntry) -> str:
    """*entry* as one line of JSON, keys sorted."""
    return _join_line(_dump_parts(entry))


_DumpedPart: TypeAlias = str | list[str]
"""The JSON of a key and its value; of the queries a list of these."""


def _dump_parts(entry: HistoryEntry) -> dict[str, _DumpedPart]:
    """The parts of *entry* by their key, sorted: what a line and a file of it both have."""
    plain = _make_plain(entry)
    parts: dict[str, _DumpedPart] = {}
    for key in sorted(plain):
        value = plain[key]
        if key == "queries":
            parts[key] = [_dump_item(query, value[query]) for query in sorted(value)]
        else:
            parts[key] = _dump_item(key, value)
    return parts


def _join_line(parts: Mapping[str, _DumpedPart]) -> str:
    items = []
    for key, part in parts.items():
        items.append(part if isinstance(part, str) else f'"{key}": {{{", ".join(part)}}}')
    return "{" + ", ".join(items) + "}"


def _join_lines(parts: Mapping[str, _DumpedPart]) -> str:
    lines = []
    for key, part in parts.items():
        if isinstance(part, str):
            lines.append(f" {part}")
        elif part:
            lines.append(f' "{key}": {{\n  ' + ",\n  ".join(part) + "\n }")
        else:
            lines.append(f' "{key}": {{}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _make_plain(entry: HistoryEntry) -> dict[str, Json]:
    """*entry* as JSON values; what a query has by default, or only in a baseline, is left out."""
    plain: dict[str, Json] = ENTRIES.adapter.dump_python(entry, mode="json")
    for query in plain["queries"].values():
        for name, default in (("weight", 1), ("closed", True), ("judged", 0)):
            if query[name] == default:
                del query[name]
        for name in ("ties", "tail", "tags", "found_quotes"):
            if not query[name]:
                del query[name]
        for name in ("bands", "engine_scores", "sort", "exact_scores", "short", "params", "created", "documents"):
            del query[name]
    return plain


def _dump_item(key: str, value: Json) -> str:
    return f"{_ENCODER.encode(key)}: {_ENCODER.encode(value)}"


# ASCII, so that no editor takes a character in a text for the end of a line.
_ENCODER = json.JSONEncoder(sort_keys=True, allow_nan=False)


# The order.


def put_last(folder: Path, entry: HistoryEntry, now: datetime) -> HistoryEntry:
    """
    *entry* with a place after all entries that *folder*, a history, has of its suite.

    The time of a run is its place, as long as clocks are right: so the runs of two branches that git merges are in
    order too. A run whose clock is behind the last one gets a place after that one, and its time stays what its clock
    said: it is moved by as much as *now* is behind the last entry. An entry that *folder* has already, such as that of
    parts that are merged again, keeps its place.

    Raises:
        HistoryError: A file cannot be read.
    """
    last = _find_last_moment(folder / make_file_name(entry.suite), format_created(now))
    is_merged = entry.created != format_created(now)
    if is_merged:
        for known in read_history(folder, entry.suite):
            if replace(known, kept=None) == entry:
                return known
    if last is None:
        return entry
    behind = datetime.fromisoformat(last) + _LEAST_STEP - now
    return replace(entry, kept=format_created(datetime.fromisoformat(entry.created) + behind))


def _find_last_moment(folder: Path, now: str) -> str | None:
    """The place of the last entry in *folder*, that of a suite; None if it is before *now*."""
    if not folder.is_dir():
        return None
    newest_name = name_moment(now)
    newest_files: list[Path] = []
    unnamed_files: list[Path] = []
    for path in list_files(folder):
        named = _MOMENT.match(path.name)
        if named is None:
            # Packed files of earlier versions.
            unnamed_files.append(path)
        elif named.group(1) > newest_name:
            newest_name, newest_files = named.group(1), [path]
        elif named.group(1) == newest_name:
            newest_files.append(path)
    # Names have no more than the second. Where clocks are right, nothing is read here.
    moments = [entry.moment for path in (*newest_files, *unnamed_files) for entry in read_file(path)]
    last = max(moments, default=now)
    return last if last > now else None


# The file of a suite: two files may have suites of one name.


def name_suite_file(suite: Path, folder: Path) -> str:
    """
    The file of a *suite* as entries in *folder* have it: the same in each checkout, from any working folder.

    It is relative to the root of the project, or to *folder* where no root is found. Links are followed.
    """
    path, root = suite.resolve(), _find_root(suite, folder)
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:
        # On Windows, the two may be on two drives.
        return path.name


def _find_root(suite: Path, folder: Path) -> Path:
    """The root of the project of *suite*: its working tree of git, else the uppermost folder with a relevance.toml."""
    folders = suite.resolve().parents
    for parent in folders:
        if (parent / ".git").exists():
            return parent
    for parent in reversed(folders):
        if (parent / CONFIG_NAME).is_file():
            return parent
    return folder.resolve()


def select_of_file(
    entries: Sequence[HistoryEntry], suite: Path, folder: Path
) -> tuple[list[HistoryEntry], tuple[str, ...]]:
    """
    Those of *entries* that are of the file *suite*, and the other files that the rest is of.

    An entry that names no file counts: it is of an earlier version. So does one of a file that the project has no
    longer, if it was kept before all entries of *suite*: the file was renamed or moved. If such a file ends with the
    same path, the root of its project was found in another place, and all of its entries count.

    Args:
        entries: Of suites of the name of this one, in the order in which they were kept.
        suite: The file of the suite.
        folder: The folder of the history.
    """
    own, root = name_suite_file(suite, folder), _find_root(suite, folder)
    first = next((place for place, entry in enumerate(entries) if entry.file == own), len(entries))
    others: dict[str, None] = {}
    for name in dict.fromkeys(entry.file for entry in entries):
        if name is None or name == own:
            continue
        last = max(place for place, entry in enumerate(entries) if entry.file == name)
        is_moved = last < first or _is_same_end(name, own)
        if (root / name).is_file() or not is_moved:
            others[name] = None
    return [entry for entry in entries if entry.file not in others], tuple(others)


def _is_same_end(first: str, second: str) -> bool:
    """Whether one of two relative paths ends with the other."""
    short, long = sorted((PurePosixPath(first).parts, PurePosixPath(second).parts), key=len)
    return long[len(long) - len(short) :] == short
