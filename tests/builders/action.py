"""The action of the repository, and a CI system as far as shell steps need one."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
[INSTALL, RUN] = [step for step in STEPS if "run" in step]
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def fake_program(path: Path, calls: Path, *, status: int = 0, printed: str = "") -> None:
    """Write a program to *path* that appends the words that it is given to *calls*, one JSON list a call."""
    code = f"import json, sys; print(json.dumps(sys.argv[1:]), file=open({str(calls)!r}, 'a')); "
    code += f"print({printed!r}, end=''); sys.exit({status})"
    path.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run_script(
    script: Path, programs: Path, *, cwd: Path, environ: Mapping[str, str], shell: Sequence[str] = BASH
) -> subprocess.CompletedProcess[str]:
    """Run *script* by *shell* with *environ* alone, and with the folder *programs* first on PATH."""
    path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    return subprocess.run(
        [*shell, str(script)],
        cwd=cwd, env={**environ, "PATH": os.pathsep.join(path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


class Step:
    """Runs shell steps as GitHub's runner and others do, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.workspace = folder / "repository"
        self.files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        self.runner = {
            "RUNNER_TEMP": str(folder / "temporary files"),
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT),
            **{name: str(path) for name, path in self.files.items()},
        }
        for path in (self.programs, self.workspace, folder / "temporary files"):
            path.mkdir()

    def fake(self, program: str, status: int = 0) -> Path:
        """Puts *program* first on PATH: it appends the words that it is given to a file, one JSON list a call."""
        kept = self.folder / f"{program}.json"
        fake_program(self.programs / program, kept, status=status)
        return kept

    def run(
        self, step: dict, environ: Mapping[str, str] = MappingProxyType({}), **inputs: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a step of the action, which a workflow gives *inputs* and the variables *environ*."""
        given = {name: value["default"] for name, value in ACTION["inputs"].items()} | {
            name.replace("_", "-"): value for name, value in inputs.items()
        }
        variables = {
            name: given[EXPRESSION.fullmatch(value)[1].removeprefix("inputs.")] for name, value in step["env"].items()
        }
        return self.run_script(step["run"], BASH, {**self.runner, **environ, **variables})

    def run_script(
        self, text: str, shell: Sequence[str], environ: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Runs *text* by *shell* in the workspace. It inherits no variable but PATH."""
        script = self.folder / "script.sh"
        script.write_text(text)
        variables = {"HOME": str(self.folder), **environ}
        return run_script(script, self.programs, cwd=self.workspace, environ=variables, shell=shell)

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.files["GITHUB_OUTPUT"].read_text().splitlines())
