"""The lines of the README that end with a failed threshold, pasted into a shell, and its test of the same."""

import os
import re
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
    finished = run_in_shell(lines, tmp_path)
    assert finished.returncode == 1, finished.stderr
    assert_shown(shown, finished.stdout, "the README's lines")

    [test] = find_blocks(README, "python")
    [command] = re.findall(r"`(pytest --relevance[^`]+)`", README)
    (tmp_path / "shop" / "test_headlamp.py").write_text(test, encoding="utf-8")
    finished = run_in_shell(f"{command} test_headlamp.py", tmp_path / "shop")
    assert finished.returncode == 1, finished.stderr
    assert "assert run.mean" in finished.stdout
    assert "1 failed" in finished.stdout.splitlines()[-1]


def run_in_shell(lines, folder):
    """What became of *lines* in a shell that finds the command `relevance`."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    return subprocess.run(
        ["bash", "-e", "-c", lines],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
