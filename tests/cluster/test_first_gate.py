"""The lines of the README that end with a failed threshold, pasted into a shell, and what it shows of their output."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders.typed_page import assert_shown, find_blocks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.embedded
@pytest.mark.usefixtures("embedded_node")
def test_the_first_gate_is_red_and_says_why(tmp_path):
    [lines] = find_blocks(README, "sh")
    [shown, *_] = find_blocks(README, "")
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    finished = subprocess.run(
        ["bash", "-e", "-c", lines],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 1, finished.stderr
    assert_shown(shown, finished.stdout, "the README's lines")
