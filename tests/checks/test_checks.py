"""Lint, format, types and known vulnerabilities, in a worker of their own while others run the tests."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_scripts_check_finds_nothing():
    done = subprocess.run(
        [sys.executable, "scripts/check"],
        cwd=ROOT,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
