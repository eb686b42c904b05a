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
from harness.files.border import Border
from harness.words import count, listed

SUITE_SUFFIX = ".relevance.yaml"
MISNAMED = (".relevance.yml", SUITE_SUFFIX)
"""Suffixes, in lower case, that are mistaken for that of a suite."""

EDITED = ".#"

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


def is_suite_name(name: str) -> bool:
    """
    Whether a file of that name is a suite.

    A name that begins with ``.#`` is a lock of Emacs, a broken link beside a file that is being edited.

    >>> [is_suite_name(name) for name in ("shop.relevance.yaml", "shop.relevance.yml", ".#shop.relevance.yaml")]
    [True, False, False]
    """
    return name.endswith(SUITE_SUFFIX) and not name.startswith(EDITED)


def is_misnamed(name: str) -> bool:
    """
    Whether a name is not that of a suite, but probably a mistake for one.

    >>> [is_misnamed(name) for name in ("shop.relevance.yml", "Shop.Relevance.YAML", "shop.relevance.yaml")]
    [True, True, False]
    """
    return name.lower().endswith(MISNAMED) and not is_suite_name(name) and not name.startswith(EDITED)


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
    problems = [problem for walk in walks for problem in walk.problems]
    named = {_identity(path) for path in paths}
    for walk in walks:
        refused = {path: sentence for path, sentence in walk.refused.items() if _identity(path) not in named}
        problems += [Problem(str(path), 0, 0, sentence) for path, sentence in refused.items()]
    if problems:
        raise SuiteError(problems)
    empty = [walk.nothing_found() for walk in walks if not walk.suites]
    if empty:
        raise UsageError("\n".join(empty))
    found: dict[Path, Path] = {}
    for suite in (suite for walk in walks for suite in walk.suites):
        found.setdefault(_identity(suite), suite)
    if not found:
        raise UsageError(f"found no suite to run, expected a file named *{SUITE_SUFFIX} or a folder with such files")
    return FoundSuites(
        suites=tuple(found.values()),
        misnamed=tuple(dict.fromkeys(path for walk in walks for path in walk.misnamed if _identity(path) not in found)),
        left_out=_unread({folder: suites for walk in walks for folder, suites in walk.left_out.items()}, found),
        not_followed=tuple(dict.fromkeys(path for walk in walks for path in walk.not_followed)),
    )


def explain_refusal(path: Path, roots: Sequence[Path]) -> str | None:
    """
    Why the suite at *path*, which was found below one of *roots*, must not be read; None if it may be.

    What no link leads to may be read wherever it is, such as in a hidden folder that pytest was told to search.
    """
    if Path(os.path.realpath(path)) == path.absolute():
        return None
    # pytest follows links to folders, and nobody chose the folder that such a link leads to
    parent = path.parent.absolute()
    folder = parent if Path(os.path.realpath(parent)) == parent else roots[0]
    sentence = Border(folder, roots).explain_refusal(path)
    return sentence and f"this link is not followed: what it leads to {sentence}; {NAME_IT}"


NAME_IT = "pass the path of the link itself, or --root DIR (in pytest --relevance-root DIR) to follow links into DIR"


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
        seen: set[Path] = set()
        links = [path]
        for linked in links:  # links come after the folders themselves
            links += self._enter(linked, seen)
        for found in (self.suites, self.misnamed):
            found.sort()

    def _enter(self, folder: Path, seen: set[Path]) -> list[Path]:
        """Search *folder* and those below it, unless they are in *seen*; returns the linked folders."""
        links: list[Path] = []
        real = folder.resolve()
        if real in seen:
            return links
        seen.add(real)
        for entry in self._entries(folder):
            path = folder / entry.name
            refusal = explain_refusal(path, self.roots) if entry.is_symlink() else None
            if not _is_folder(entry):
                self._sort_in(path, refusal)
            elif is_left_out(path):
                self.left_out[path] = [] if refusal else suites_left_in(path)
            elif refusal:
                self.not_followed.append(path)
            elif entry.is_symlink():
                links.append(path)
            else:
                links += self._enter(path, seen)
        return links

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            return _entries(folder)
        except OSError as error:
            self.problems.append(Problem(str(folder), 0, 0, f"the folder cannot be read: {error.strerror or error}"))
            return []

    def _sort_in(self, path: Path, refusal: str | None) -> None:
        if is_suite_name(path.name):
            self.suites.append(path)
            if refusal:
                self.refused[path] = refusal
        elif is_misnamed(path.name):
            self.misnamed.append(path)

    def nothing_found(self) -> str:
        """The error that the folder has no suite, with misnamed files and skipped folders."""
        sentences = [f"{self.path}: found no suite in this folder, expected files named *{SUITE_SUFFIX}"]
        sentences += map(misnamed_text, self.misnamed)
        left_out = _unread(self.left_out, ())
        if left_out:
            sentences.append(f"left out: {left_out_text(left_out)}")
        if self.not_followed:
            sentences.append(not_followed_text(self.not_followed))
        return "; ".join(sentences)


def is_left_out(folder: Path) -> bool:
    """Whether a folder is skipped: by its name, or as the root of a virtual environment."""
    return any(fnmatch(folder.name, pattern) for pattern in LEFT_OUT) or _is_virtual_environment(folder)


def suites_left_in(folder: Path) -> list[Path]:
    """
    The suites in a skipped folder and all folders below it.

    Virtual environments are excluded, because installed packages contain suites, such as that of `harness init`.
    """
    suites: list[Path] = []
    for inside, folders, files in os.walk(folder):
        if _is_virtual_environment(Path(inside)):
            folders.clear()
        else:
            suites += [Path(inside, name) for name in files if is_suite_name(name)]
    return suites


def suites_that_are_no_files(folder: Path) -> list[Path]:
    """
    Broken links in *folder* itself with the name of a suite.

    Empty if the folder cannot be read; pytest reports that.
    """
    try:
        entries = [entry for entry in _entries(folder) if is_suite_name(entry.name) and not _is_folder(entry)]
    except OSError:
        return []
    return [path for path in (folder / entry.name for entry in entries) if not path.is_file()]


def left_out_text(left_out: Mapping[Path, int]) -> str:
    """
    The skipped folders, each with the number of its suites.

    >>> left_out_text({Path("build"): 1, Path("web/node_modules"): 2})
    'build (1 suite), web/node_modules (2 suites)'
    """
    return ", ".join(f"{folder.as_posix()} ({count(number, 'suite')})" for folder, number in left_out.items())


def not_followed_text(links: Sequence[Path]) -> str:
    """
    The links to folders that are not searched, with the remedy.

    >>> not_followed_text([Path("shared")])
    'shared leads out of the folder that is searched; pass its path, or --root DIR to follow links into DIR'
    """
    verb = "leads" if len(links) == 1 else "lead"
    shown = listed([link.as_posix() for link in links], 5)
    return f"{shown} {verb} out of the folder that is searched; pass its path, or --root DIR to follow links into DIR"


def misnamed_text(path: Path) -> str:
    """Why *path* is not read, with the remedy."""
    return f"{path.as_posix()} is not read: the name of a suite ends in {SUITE_SUFFIX}; rename it, or pass its path"


def _unread(left_out: Mapping[Path, Sequence[Path]], read: Collection[Path]) -> dict[Path, int]:
    """The number of suites in each folder that are not *read*, without folders that have none."""
    unread = {folder: sum(_identity(suite) not in read for suite in suites) for folder, suites in left_out.items()}
    return {folder: number for folder, number in sorted(unread.items()) if number}


def _identity(suite: Path) -> Path:
    """The identity of a suite: a link is a separate suite, whose files are beside the link."""
    return Path(os.path.realpath(suite.parent)) / suite.name  # unlike Path.resolve, no error for circular links


def _entries(folder: Path) -> list[os.DirEntry[str]]:
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
