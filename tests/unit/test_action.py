"""action.yml: nothing that a user gives is script, and its shell steps do for real what they say."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from harness.scaffold import write_scaffold

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SHELL_STEPS = [step for step in STEPS if "run" in step]
[INSTALL, RUN] = SHELL_STEPS
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.mark.parametrize("step", SHELL_STEPS, ids=lambda step: step["name"])
def test_no_expression_is_put_into_a_script(step):
    assert "${{" not in step["run"]
    assert step["shell"] == "bash"


def test_every_input_reaches_the_step_that_needs_it_and_no_other_is_asked_for():
    asked = re.findall(r"inputs\.([\w-]+)", yaml.safe_dump(ACTION["runs"]))
    assert set(asked) == set(ACTION["inputs"])
    for step in SHELL_STEPS:
        for name, value in step["env"].items():
            assert EXPRESSION.fullmatch(value), f"{name} is one input and nothing else"
            assert f"${name}" in step["run"], f"{name} is used"


def test_every_input_is_described_and_optional():
    for name, given in ACTION["inputs"].items():
        assert given["description"].endswith("."), name
        assert isinstance(given["default"], str), name


def test_outputs_are_those_of_the_step():
    written = set(re.findall(r'echo "([\w-]+)=', RUN["run"]))
    assert written == set(ACTION["outputs"])
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.{RUN['id']}.outputs.{name} }}}}"


def test_reports_are_uploaded_also_where_the_gate_fails():
    upload = STEPS[-1]
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert upload["if"].startswith("always() && ")


# ------------------------------------------------------------------------------------------------ for real


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
        """Puts *program* first on PATH: it keeps the words that it is given, one an entry of a JSON list."""
        kept = self.folder / f"{program}.json"
        path = self.programs / program
        code = f"import json, sys; json.dump(sys.argv[1:], open({str(kept)!r}, 'w')); sys.exit({status})"
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


@pytest.fixture
def step(tmp_path):
    return Step(tmp_path)


@needs_bash
def test_inputs_become_arguments(step):
    kept = step.fake("harness")
    done = step.run(
        RUN, suites="suites\nmore suites/a.relevance.yaml\n", url="http://h:9200", allow_write="true",
        baseline="kept.json", args="--tag\nhead tail\n\n--strict-xfail",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    report = step.outputs()["report"]
    assert json.loads(kept.read_text()) == [
        "run", "--github",
        "--output", f"html={report}/report.html", "--output", f"json={report}/report.json",
        "--output", f"markdown={report}/report.md",
        "--url", "http://h:9200", "--allow-write", "--baseline", "kept.json",
        "--tag", "head tail", "--strict-xfail", "--", "suites", "more suites/a.relevance.yaml",
    ]  # fmt: skip
    assert Path(report).is_dir()


@needs_bash
def test_what_is_not_given_is_not_an_argument(step):
    kept = step.fake("harness")
    assert step.run(RUN).returncode == 0
    words = json.loads(kept.read_text())
    assert words[-2:] == ["--", "suites"]
    assert not {"--url", "--embedded", "--allow-write", "--baseline", ""} & set(words)


@needs_bash
@pytest.mark.parametrize(
    "evil", ['"; touch hacked; "', "$(touch hacked)", "`touch hacked`", "' ; touch hacked #", "*", "-x"]
)
def test_what_is_given_is_never_run(step, evil):
    kept = step.fake("harness")
    inputs = dict.fromkeys(("suites", "url", "baseline", "args"), evil)
    assert step.run(RUN, **inputs, embedded=evil, allow_write=evil).returncode == 0
    words = json.loads(kept.read_text())
    assert [words.count(evil), words[-2:]] == [4, ["--", evil]]
    assert words[words.index("--url") + 1] == evil
    pip = step.fake("python")
    assert step.run(INSTALL, package=evil, embedded=evil).returncode == 0
    assert json.loads(pip.read_text())[-2:] == ["--", evil]
    assert not list(step.folder.rglob("hacked"))


@needs_bash
@pytest.mark.parametrize("status", [0, 1, 2, 3])
def test_the_exit_status_is_an_output_and_that_of_the_step(step, status):
    step.fake("harness", status)
    assert step.run(RUN).returncode == status
    assert step.outputs()["exit-status"] == str(status)


@needs_bash
@pytest.mark.parametrize(
    ("inputs", "package"),
    [
        ({}, str(ROOT)),
        ({"embedded": "true"}, f"{ROOT}[embedded]"),
        ({"package": "relevance-harness==1"}, "relevance-harness==1"),
    ],
)
def test_the_harness_of_the_action_is_installed_unless_another_is_named(step, inputs, package):
    kept = step.fake("python")
    assert step.run(INSTALL, **inputs).returncode == 0
    words = json.loads(kept.read_text())
    assert words[:3] == ["-m", "pip", "install"]
    assert words[-2:] == ["--", package]


@needs_bash
def test_the_real_command_annotates_and_reports(step):
    """No engine answers at this port, so that every threshold is an error: status 3, and the reports are there."""
    write_scaffold(step.workspace)
    done = step.run(RUN, suites=".", url="http://127.0.0.1:9", allow_write="true")
    assert done.returncode == 3, done.stderr
    assert "::error file=products.relevance.yaml,line=" in done.stdout
    outputs = step.outputs()
    assert outputs["exit-status"] == "3"
    report = Path(outputs["report"])
    assert {path.name for path in report.iterdir()} == {"report.html", "report.json", "report.md"}
    assert json.loads((report / "report.json").read_text())["exit_status"] == 3
    assert step.files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8").startswith("## ❌")


@needs_bash
def test_the_real_command_annotates_a_wrong_suite(step):
    write_scaffold(step.workspace)
    suite = step.workspace / "products.relevance.yaml"
    suite.write_text(suite.read_text().replace("measures:", "mesures:"))
    done = step.run(RUN, suites=".", url="http://127.0.0.1:9")
    assert done.returncode == 2
    assert "::error file=products.relevance.yaml,line=" in done.stderr
    assert step.outputs()["exit-status"] == "2"
