"""
Finds suites in folders, for the command and for pytest.

A file that is named as an argument is always read, whatever its name.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from harness.errors import Problem, SuiteError, UsageError
from harness.suites.names import SUITE_SUFFIX, describe_misnamed, is_misnamed, is_suite_name
from harness.words import count, listed

LEFT_OUT = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}", "__pycache__")
"""Names of folders that are skipped: pytest's default of `norecursedirs`, and `__pycache__`."""


@dataclass(frozen=True, slots=True)
class FoundSuites:
    """
    The *suites* to read, each once. *misnamed* are files with a mistaken suffix; *left_out* maps each skipped folder
    with suites to their number. *not_followed* are links to folders behind the border.
    """

    suites: tuple[Path, ...]
    misnamed: tuple[Path, ...] = ()
    left_out: Mapping[Path, int] = field(default_factory=dict)
    not_followed: tuple[Path, ...] = ()


def find_suites(paths: Sequence[Path], root: Path | None = None) -> FoundSuites:
    """
    The suites of *paths*: a file itself, and all suites below a folder, in the order of their paths.

    A link to a suite is a separate suite, whose files are beside the link. A broken link is found too, and is an error
    when it is read. Linked folders are searched, each folder once. A link that is found leads nowhere but into one of
    the folders or *root*: a stranger's suite may be a link to any file of the machine, and errors quote what they read.

    Raises:
        UsageError: a folder holds no suite, or no path was given.
        SuiteError: a folder cannot be read, or a suite in it is a link that leads elsewhere.
    """
    roots = [path for path in (*paths, root) if path is not None and path.is_dir()]
    walks = [_Walk(path, roots) for path in paths]
    named = {_identify(path) for path in paths}
    problems: list[Problem] = []
    for walk in walks:
        problems += walk.problems
    for walk in walks:
        # A link out of the folder is read if the user names it too.
        refused = {path: sentence for path, sentence in walk.refused.items() if _identify(path) not in named}
        problems += [Problem(str(path), 0, 0, sentence) for path, sentence in refused.items()]
    if problems:
        raise SuiteError(problems)
    empty = [walk.describe_empty() for walk in walks if not walk.suites]
    if empty:
        raise UsageError("\n".join(empty))
    suites: dict[Path, Path] = {}
    misnamed: list[Path] = []
    left_out: dict[Path, Sequence[Path]] = {}
    not_followed: list[Path] = []
    for walk in walks:
        for suite in walk.suites:
            suites.setdefault(_identify(suite), suite)
        misnamed += walk.misnamed
        left_out |= walk.left_out
        not_followed += walk.not_followed
    if not suites:
        raise UsageError(f"found no suite to run, expected a file named *{SUITE_SUFFIX} or a folder with such files")
    return FoundSuites(
        suites=tuple(suites.values()),
        misnamed=tuple(dict.fromkeys(path for path in misnamed if _identify(path) not in suites)),
        left_out=_count_unread(left_out, suites),
        not_followed=tuple(dict.fromkeys(not_followed)),
    )


def explain_refusal(path: Path, roots: Sequence[Path]) -> str | None:
    """
    Why the suite at *path*, which was found below one of *roots*, must not be read; None if it may be.

    What no link leads to may be read wherever it is, such as in a hidden folder that pytest was told to search.
    """
    if Path(os.path.realpath(path)) == path.absolute():
        return None
    from harness.files.border import Border

    # pytest follows links to folders, and nobody chose the folder that such a link leads to
    parent = path.parent.absolute()
    folder = parent if Path(os.path.realpath(parent)) == parent else roots[0]
    sentence = Border(folder, roots).explain_refusal(path)
    if sentence is None:
        return None
    remedy = "pass the path of the link itself, or --root DIR (in pytest --relevance-root DIR) to follow links into DIR"
    return f"this link is not followed: what it leads to {sentence}; {remedy}"


class _Walk:
    """
    The suites of a path: the path itself, or those below the folder.

    *left_out* maps each skipped folder to its suites; *problems* are the folders that cannot be read. *refused* are
    suites that are links out of *roots*, with the reason, *not_followed* such links to folders.
    """

    def __init__(self, path: Path, roots: Sequence[Path]) -> None:
        self.path = path
        self.roots = [path, *roots]
        self.suites: list[Path] = []
        self.misnamed: list[Path] = []
        self.left_out: dict[Path, list[Path]] = {}
        self.problems: list[Problem] = []
        self.refused: dict[Path, str] = {}
        self.not_followed: list[Path] = []
        if not path.is_dir():
            self.suites.append(path)
            return
        entered: set[Path] = set()
        links = [path]
        # Links come after the folders, so that a suite has its path without a link. The list grows meanwhile.
        for link in links:
            links += self._enter(link, entered)
        self.suites.sort()
        self.misnamed.sort()

    def _enter(self, folder: Path, entered: set[Path]) -> list[Path]:
        """Search *folder* and those below it, unless they are in *entered*; returns the linked folders."""
        links: list[Path] = []
        real = folder.resolve()
        if real in entered:
            return links
        entered.add(real)
        try:
            entries = _list_entries(folder)
        except OSError as error:
            self.problems.append(Problem(str(folder), 0, 0, f"the folder cannot be read: {error.strerror or error}"))
            return links
        for entry in entries:
            path = folder / entry.name
            refusal = explain_refusal(path, self.roots) if entry.is_symlink() else None
            if not _is_folder(entry):
                self._sort_in(path, refusal)
            elif is_left_out(path):
                self.left_out[path] = [] if refusal else find_suites_left_in(path)
            elif refusal:
                self.not_followed.append(path)
            elif entry.is_symlink():
                links.append(path)
            else:
                links += self._enter(path, entered)
        return links

    def _sort_in(self, path: Path, refusal: str | None) -> None:
        if is_suite_name(path.name):
            self.suites.append(path)
            if refusal:
                self.refused[path] = refusal
        elif is_misnamed(path.name):
            self.misnamed.append(path)

    def describe_empty(self) -> str:
        """The error that the folder has no suite, with misnamed files and skipped folders."""
        sentences = [f"{self.path}: found no suite in this folder, expected files named *{SUITE_SUFFIX}"]
        sentences += map(describe_misnamed, self.misnamed)
        left_out = _count_unread(self.left_out, ())
        if left_out:
            sentences.append(f"left out: {format_left_out(left_out)}")
        if self.not_followed:
            sentences.append(describe_not_followed(self.not_followed))
        return "; ".join(sentences)


def is_left_out(folder: Path) -> bool:
    """Whether a folder is skipped: by its name, or as the root of a virtual environment."""
    return any(fnmatch(folder.name, pattern) for pattern in LEFT_OUT) or _is_virtual_environment(folder)


def find_suites_left_in(folder: Path) -> list[Path]:
    """
    The suites in a skipped folder and all folders below it.

    Virtual environments are excluded, because installed packages contain suites, such as that of `relevance init`.
    """
    suites: list[Path] = []
    for inside, folders, files in os.walk(folder):
        if _is_virtual_environment(Path(inside)):
            folders.clear()
        else:
            suites += [Path(inside, name) for name in files if is_suite_name(name)]
    return suites


def format_left_out(left_out: Mapping[Path, int]) -> str:
    """
    The skipped folders, each with the number of its suites.

    >>> format_left_out({Path("build"): 1, Path("web/node_modules"): 2})
    'build (1 suite), web/node_modules (2 suites)'
    """
    return ", ".join(f"{folder.as_posix()} ({count(number, 'suite')})" for folder, number in left_out.items())


def describe_not_followed(links: Sequence[Path]) -> str:
    """
    The links to folders that are not searched, with the remedy.

    >>> describe_not_followed([Path("shared")])
    'shared leads out of the folder that is searched; pass its path, or --root DIR to follow links into DIR'
    """
    verb = "leads" if len(links) == 1 else "lead"
    shown = listed([link.as_posix() for link in links], 5)
    return f"{shown} {verb} out of the folder that is searched; pass its path, or --root DIR to follow links into DIR"


def _count_unread(left_out: Mapping[Path, Sequence[Path]], read: Collection[Path]) -> dict[Path, int]:
    """The number of suites in each folder that are not *read*, without folders that have none."""
    numbers: dict[Path, int] = {}
    for folder, suites in sorted(left_out.items()):
        number = sum(_identify(suite) not in read for suite in suites)
        if number:
            numbers[folder] = number
    return numbers


def _identify(suite: Path) -> Path:
    """The identity of a suite: a link is a separate suite, whose files are beside the link."""
    # Unlike Path.resolve, os.path.realpath raises no error for circular links.
    return Path(os.path.realpath(suite.parent)) / suite.name


def _list_entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether *entry* is a folder; a circular link is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_virtual_environment(folder: Path) -> bool:
    """Whether *folder* is a virtual environment, by pytest's check: the file of PEP 405, or that of conda."""
    try:
        return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta" / "history").is_file()
    except OSError:
        return False
