"""
Packing: the old files of a suite joined in one file, an entry a line.

A packed file is written before the files that it has are removed, and it is never changed. A kill in between leaves
entries in two files, which readers count once. git merges a branch that packed with one that did not. Where both
packed, git may take a new file for an old one that was renamed, as runs are alike: ``git merge -s resolve`` does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import HistoryError
from harness.masking import fingerprint
from harness.store.history_files import (
    PACKED_PREFIX,
    dump_line,
    list_files,
    name_moment,
    place_file,
    read_file,
    sort_entries,
)


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file that has the *entries*, by their number, of the files *old*, which it replaces."""

    path: Path
    text: str
    entries: int
    old: tuple[Path, ...]

    def write(self) -> None:
        """
        Write the file, then remove the old ones.

        Raises:
            HistoryError: A file cannot be written or removed. Nothing is lost then.
        """
        path = self.path
        try:
            place_file(path).write(self.text)
            for path in self.old:
                place_file(path).remove()
        except OSError as error:
            name = path.as_posix()
            raise HistoryError(f"the history {name} cannot be written: {error.strerror or error}") from None


def pack_suite(folder: Path, *, keep: int) -> PackedFile | None:
    """
    Join the files of runs in *folder*, that of a suite, in one, but for the last ones. Nothing is written yet.

    Args:
        folder: The folder of the suite, in which packed files stay as they are.
        keep: The number of runs, the last ones, that keep files of their own.

    Returns:
        None if there are no more runs than that.

    Raises:
        HistoryError: A file cannot be read.
    """
    entries_by_file = {path: read_file(path) for path in list_files(folder) if path.suffix == ".json"}
    newest_last = sorted(entries_by_file, key=lambda path: (entries_by_file[path][0].moment, path.name))
    old = newest_last[: max(0, len(newest_last) - keep)]
    if not old:
        return None
    entries = sort_entries(entry for path in old for entry in entries_by_file[path])
    text = "".join(f"{dump_line(entry)}\n" for entry in entries)
    path = folder / f"{PACKED_PREFIX}{name_moment(entries[-1].moment)}-{fingerprint(text)[:8]}.jsonl"
    return PackedFile(path, text, len(entries), tuple(old))
