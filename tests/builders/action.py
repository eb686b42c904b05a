"""The action of the repository, and GitHub's runner as far as its shell steps need one."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
[INSTALL, RUN] = [step for step in STEPS if "run" in step]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Step:
    """Runs a shell step as GitHub's runner does, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.workspace = folder / "repository"
        self.files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in (self.programs, self.workspace, folder / "temporary files"):
            path.mkdir()

    def fake(self, program: str, status: int = 0) -> Path:
        """Puts *program* first on PATH: it appends the words that it is given to a file, one JSON list a call."""
        kept = self.folder / f"{program}.json"
        path = self.programs / program
        code = f"import json, sys; print(json.dumps(sys.argv[1:]), file=open({str(kept)!r}, 'a')); sys.exit({status})"
        path.write_text(f"#!{sys.executable}\n{code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return kept

    def run(self, step: dict, **inputs: str) -> subprocess.CompletedProcess[str]:
        given = {name: value["default"] for name, value in ACTION["inputs"].items()} | {
            name.replace("_", "-"): value for name, value in inputs.items()
        }
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        environ = {
            "PATH": f"{self.programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.folder / "temporary files"),
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT),
            **{name: str(path) for name, path in self.files.items()},
            **{
                name: given[EXPRESSION.fullmatch(value)[1].removeprefix("inputs.")]
                for name, value in step["env"].items()
            },
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.files["GITHUB_OUTPUT"].read_text().splitlines())
