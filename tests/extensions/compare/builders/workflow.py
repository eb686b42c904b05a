"""A workflow of docs/, and GitHub's runner as far as its shell steps need one."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[4]
COMPARE = yaml.safe_load((ROOT / "docs" / "examples" / "relevance-compare.yml").read_text(encoding="utf-8"))


def run_step(step, folder, environ=None):
    """Run the shell step *step* in *folder*; *environ* has the values of its expressions."""
    script = folder / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    programs = [str(folder / "programs"), str(Path(sys.executable).parent), os.environ["PATH"]]
    summary = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **summary, **(environ or {}), "PATH": os.pathsep.join(programs)},
    )  # fmt: skip


def fake_program(folder, name, printed=""):
    """Put a program first on PATH of steps in *folder*; it appends its words to the file, one call a line."""
    path = folder / "programs" / name
    path.parent.mkdir(exist_ok=True)
    calls = folder / f"{name}.jsonl"
    code = (
        f"import json, sys; print(json.dumps(sys.argv[1:]), file=open({str(calls)!r}, 'a')); print({printed!r}, end='')"
    )
    path.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return calls
