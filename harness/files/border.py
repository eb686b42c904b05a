"""
The border between suites, which strangers may have written, and the other files of the machine.

What a suite leads to passes here before it is opened: a suite that is found in a folder, a file that a suite names, its
baseline, the files of its judges, and what an import finds beside its source. A path is judged by where it leads after
all links. What the user names on the command line does not pass here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import InputError, Problem
from harness.files.opening import find_inner_suffix

QUOTED = (".yaml", ".yml", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".npy", ".qrels", ".qrel", ".trec", ".ids")
"""
The suffixes of files whose content errors may quote.

Not .txt and .json: scripts of CI write tokens and credentials to such files, also in the folder of the checkout.
"""

_SYSTEM = ("proc", "sys", "dev")
"""Folders whose files are no files: `/proc/self/environ` holds all secrets of a CI job."""

NOT_QUOTED = (
    "this is not as expected; what was found is not shown, as the name of the real file does not end like that of a "
    "known format, such as .yaml, .csv or .qrels"
)


@dataclass(frozen=True, slots=True)
class Border:
    """
    What paths may lead to.

    Args:
        folder: Where the paths begin. The user chose it, so hidden folders in its own path do not matter.
        roots: The folders that files may be in. Refusals name the first.
    """

    folder: Path
    roots: Sequence[Path]

    def explain_refusal(self, path: Path) -> str | None:
        """Why *path* must not be opened, as the end of a sentence; None if it may be. Does not open it."""
        real = _resolve(path)
        roots = [root for root in map(_resolve, self.roots) if real.is_relative_to(root)]
        if not roots:
            return f"is outside of the suite's root, the folder {self.roots[0]}"
        # What the user chose may be hidden; what is below the deepest folder that was chosen may not.
        folders = [*roots, _find_common_folder(real, _resolve(self.folder))]
        chosen = max(folders, key=lambda folder: len(folder.parts))
        below = real.relative_to(chosen).parts
        hidden = _find_hidden(below)
        if hidden:
            return f"is hidden: the name of {hidden} begins with a dot"
        if len(chosen.parts) == 1 and below[:1] and below[0] in _SYSTEM:
            return f"is a file of the system, in /{below[0]}"
        return None


def check_found(path: Path, folder: Path) -> None:
    """
    Refuse what was found at *path* below *folder*, which the user named, if it leads elsewhere.

    Raises:
        InputError: It does; it was not opened.
    """
    sentence = Border(folder, [folder]).explain_refusal(path)
    if sentence:
        raise InputError.at(path, 0, 0, f"this is not read, as what it leads to {sentence}")


def is_quotable(path: Path, suffixes: Sequence[str] = QUOTED) -> bool:
    """
    Whether errors may quote the content of the file at *path*: its real name has one of *suffixes*, of known formats.

    A file that a link leads to must not be hidden either: `~/.config/gh/hosts.yml` holds a token.

    >>> [is_quotable(Path(name)) for name in ("judgments.csv.gz", "id_rsa", "token.txt")]
    [True, False, False]
    """
    real, folder = _resolve(path), _resolve(path.parent)
    if real != folder / path.name:
        below = real.relative_to(_find_common_folder(real, folder)).parts
        if _find_hidden(below):
            return False
    return find_inner_suffix(real) in suffixes


def conceal(problem: Problem) -> Problem:
    """*problem* without what was found in its line; one of the file as a whole is not changed, as it quotes nothing."""
    return replace(problem, message=NOT_QUOTED, excerpt="") if problem.line else problem


def _resolve(path: Path) -> Path:
    """The real path, also of what does not exist; unlike Path.resolve, no error for circular links."""
    return Path(os.path.realpath(path))


def _find_common_folder(path: Path, folder: Path) -> Path:
    """The part of *folder* that *path* has too; of Windows drives that differ there is none."""
    for above in (folder, *folder.parents):
        if path.is_relative_to(above):
            return above
    return Path(path.anchor)


def _find_hidden(parts: Sequence[str]) -> str | None:
    return next((part for part in parts if part.startswith(".")), None)
