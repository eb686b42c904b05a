"""A plugin of pytest for scripts/bench/mutants: the tests that passed, with their seconds, in the file of DURATIONS."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A worker has no terminal, so that each test is written once."""
    seconds = {report.nodeid: report.duration for report in terminalreporter.getreports("passed")}
    Path(os.environ["DURATIONS"]).write_text(json.dumps(seconds), encoding="utf-8")
