"""A measure that only pytest knows: what is said where a suite names it to a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.errors import Problem

__all__ = ["conftest_hint"]


UNKNOWN = "unknown measure "
REGISTERS = b"register_measure"


def conftest_hint(problems: Iterable[Problem]) -> str | None:
    """
    What to do where one of *problems* is a measure that nobody knows, and a conftest.py that pytest would read for its
    suite registers measures; None elsewhere.
    """
    folders = {Path(problem.path).absolute().parent for problem in problems if problem.message.startswith(UNKNOWN)}
    found = next((path for folder in sorted(folders) for path in _conftests(folder) if _registers(path)), None)
    if found is None:
        return None
    return (
        f"{found} registers measures, which pytest alone reads; a package that offers them under the entry point group "
        "relevance_harness.measures serves this command and pytest"
    )


def _conftests(folder: Path) -> Iterator[Path]:
    """Those beside and above a suite, the nearest first."""
    return (parent / "conftest.py" for parent in (folder, *folder.parents))


def _registers(path: Path) -> bool:
    try:
        return REGISTERS in path.read_bytes()
    except OSError:
        return False
