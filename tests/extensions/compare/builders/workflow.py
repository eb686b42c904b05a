"""A workflow of docs/, and GitHub's runner as far as its shell steps need one."""

import os
from pathlib import Path

import yaml

from builders.action import fake_program as write_program
from builders.action import run_script

ROOT = Path(__file__).parents[4]
COMPARE = yaml.safe_load((ROOT / "docs" / "examples" / "relevance-compare.yml").read_text(encoding="utf-8"))


def run_step(step, folder, environ=None):
    """Run the shell step *step* in *folder*; *environ* has the values of its expressions."""
    script = folder / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    variables = {**os.environ, "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), **(environ or {})}
    return run_script(script, folder / "programs", cwd=folder, environ=variables)


def fake_program(folder, name, printed=""):
    """Put a program first on PATH of steps in *folder*; it appends its words to the file, one call a line."""
    path = folder / "programs" / name
    path.parent.mkdir(exist_ok=True)
    calls = folder / f"{name}.jsonl"
    write_program(path, calls, printed=printed)
    return calls
