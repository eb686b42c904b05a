"""Names of the files of suites. Every session of pytest imports this module, if the package is installed."""

from __future__ import annotations

from pathlib import Path

SUITE_SUFFIX = ".relevance.yaml"
MISNAMED = (".relevance.yml", SUITE_SUFFIX)
"""Suffixes, in lower case, that are mistaken for that of a suite."""

_LOCK_PREFIX = ".#"


def is_suite_name(name: str) -> bool:
    """
    Whether a file of that name is a suite.

    A name that begins with ``.#`` is a lock of Emacs, a broken link beside a file that is being edited.

    >>> [is_suite_name(name) for name in ("shop.relevance.yaml", "shop.relevance.yml", ".#shop.relevance.yaml")]
    [True, False, False]
    """
    return name.endswith(SUITE_SUFFIX) and not name.startswith(_LOCK_PREFIX)


def is_misnamed(name: str) -> bool:
    """
    Whether a name is not that of a suite, but probably a mistake for one.

    >>> [is_misnamed(name) for name in ("shop.relevance.yml", "Shop.Relevance.YAML", "shop.relevance.yaml")]
    [True, True, False]
    """
    return name.lower().endswith(MISNAMED) and not is_suite_name(name) and not name.startswith(_LOCK_PREFIX)


def find_broken_links(folder: Path) -> list[Path]:
    """
    Broken links in *folder* itself with the name of a suite.

    Empty if the folder cannot be read; pytest reports that.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if is_suite_name(path.name))
    except OSError:
        return []
    return [path for path in paths if not path.is_dir() and not path.is_file()]


def describe_misnamed(path: Path) -> str:
    """Why *path* is not read, with the remedy."""
    return f"{path.as_posix()} is not read: the name of a suite ends in {SUITE_SUFFIX}; rename it, or pass its path"


def strip_suite_suffix(path: str) -> str:
    """The name of the suite's file *path* without its suffixes: ``shop`` of ``suites/shop.relevance.yaml``."""
    return Path(path).name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".relevance")
