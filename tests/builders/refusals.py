"""What is said where a suite or a file is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import FormatError, SuiteError
from harness.files.judgments import read_judgments


def list_problems(load: Callable[..., object], *given: Any, **options: Any) -> list[str]:
    """The line, the column and the sentence of each problem of the suite that *load* makes of what is given."""
    with pytest.raises(SuiteError) as caught:
        load(*given, **options)
    return [f"{problem.line}:{problem.column} {problem.message}" for problem in caught.value.problems]


def refuse_judgments(path: Path, **options: Any) -> str:
    """The sentence with which the judgments at *path* are refused."""
    with pytest.raises(FormatError) as caught:
        read_judgments(path, **options)
    return str(caught.value)
