"""action.yml: nothing that a user gives is script, and its shell steps do for real what they say."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from builders.action import ACTION, EXPRESSION, INSTALL, ROOT, RUN, STEPS, Step
from builders.first_suite import write_first_suite

SHELL_STEPS = [INSTALL, RUN]

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
    # Without a run there is no folder, and the action that uploads refuses an empty path.
    assert upload["if"].endswith(" && steps.run.outputs.report != ''")


# ------------------------------------------------------------------------------------------------ for real


@pytest.fixture
def step(tmp_path):
    return Step(tmp_path)


@needs_bash
def test_inputs_become_arguments(step):
    kept = step.fake("relevance")
    done = step.run(
        RUN, suites="suites\nmore suites/a.relevance.yaml\n", url="http://h:9200", listed_addresses="true",
        allow_write="true", baseline="kept.json", args="--tag\nhead tail\n\n--strict-xfail",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    report = step.outputs()["report"]
    assert json.loads(kept.read_text()) == [
        "run", "--github",
        "--output", f"html={report}/report.html", "--output", f"json={report}/report.json",
        "--output", f"markdown={report}/report.md",
        "--url", "http://h:9200", "--listed-addresses", "--allow-write", "--baseline", "kept.json",
        "--tag", "head tail", "--strict-xfail", "--", "suites", "more suites/a.relevance.yaml",
    ]  # fmt: skip
    assert Path(report).is_dir()


@needs_bash
def test_what_is_not_given_is_not_an_argument(step):
    kept = step.fake("relevance")
    assert step.run(RUN).returncode == 0
    words = json.loads(kept.read_text())
    assert words[-2:] == ["--", "suites"]
    assert not {"--url", "--embedded", "--listed-addresses", "--allow-write", "--baseline", ""} & set(words)


@needs_bash
@pytest.mark.parametrize(
    "evil", ['"; touch hacked; "', "$(touch hacked)", "`touch hacked`", "' ; touch hacked #", "*", "-x"]
)
def test_what_is_given_is_never_run(step, evil):
    kept = step.fake("relevance")
    inputs = dict.fromkeys(("suites", "url", "baseline", "args"), evil)
    assert step.run(RUN, **inputs).returncode == 0
    words = json.loads(kept.read_text())
    assert [words.count(evil), words[-2:]] == [4, ["--", evil]]
    assert words[words.index("--url") + 1] == evil
    pip = step.fake("python")
    assert step.run(INSTALL, package=evil, embedded=evil).returncode == 0
    assert json.loads(pip.read_text())[-2:] == ["--", evil]
    assert not list(step.folder.rglob("hacked"))


@needs_bash
@pytest.mark.parametrize("name", ["embedded", "listed-addresses", "allow-write"])
@pytest.mark.parametrize("value", ["True", "yes", "true ", '"; touch hacked; "', "$(touch hacked)", "::x::y"])
def test_a_word_that_is_neither_true_nor_false_is_refused(step, name, value):
    """A misspelled `listed-addresses` must not let suites name addresses."""
    kept = step.fake("relevance")
    done = step.run(RUN, **{name: value})
    assert done.returncode == 2
    assert done.stdout == f"::error::the input {name} is neither 'true' nor 'false'\n"
    assert not kept.exists()
    assert not list(step.folder.rglob("hacked"))


@needs_bash
@pytest.mark.parametrize("status", [0, 1, 2, 3])
def test_the_exit_status_is_an_output_and_that_of_the_step(step, status):
    step.fake("relevance", status)
    assert step.run(RUN).returncode == status
    assert step.outputs()["exit-status"] == str(status)


@needs_bash
@pytest.mark.parametrize(("inputs", "lock"), [({}, "statistics-files"), ({"embedded": "true"}, "embedded")])
def test_the_harness_of_the_action_is_installed_by_the_hashes_of_its_lock(step, inputs, lock):
    kept = step.fake("python")
    assert step.run(INSTALL, **inputs).returncode == 0
    packages, harness = [json.loads(line) for line in kept.read_text().splitlines()]
    assert packages[-3:] == ["--require-hashes", "--requirement", f"{ROOT}/scripts/locks/{lock}.txt"]
    assert Path(packages[-1]).is_file()
    assert harness[:3] == ["-m", "pip", "install"]
    assert harness[-4:] == ["--no-deps", "--no-build-isolation", "--", str(ROOT)]


@needs_bash
def test_another_package_is_installed_where_one_is_named(step):
    kept = step.fake("python")
    assert step.run(INSTALL, package="relevance-harness==1", embedded="true").returncode == 0
    words = json.loads(kept.read_text())
    assert words[:3] == ["-m", "pip", "install"]
    assert words[-2:] == ["--", "relevance-harness==1"]


@needs_bash
def test_the_real_command_annotates_and_reports(step):
    """No engine answers at this port, so that every threshold is an error: status 3, and the reports are there."""
    write_first_suite(step.workspace)
    done = step.run(RUN, suites=".", url="http://127.0.0.1:9", allow_write="true")
    assert done.returncode == 3, done.stderr
    assert "::error file=products.relevance.yaml,line=" in done.stdout
    outputs = step.outputs()
    assert outputs["exit-status"] == "3"
    report = Path(outputs["report"])
    assert {path.name for path in report.iterdir()} == {
        "report.html", "report.json", "report.md",
        "report.html.journal",  # of a run that has no answers yet, see --resume
    }  # fmt: skip
    assert json.loads((report / "report.json").read_text())["exit_status"] == 3
    assert step.files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8").startswith("## ❌")


@needs_bash
def test_the_real_command_annotates_a_wrong_suite(step):
    write_first_suite(step.workspace)
    suite = step.workspace / "products.relevance.yaml"
    suite.write_text(suite.read_text().replace("measures:", "mesures:"))
    done = step.run(RUN, suites=".", url="http://127.0.0.1:9")
    assert done.returncode == 2
    assert "::error file=products.relevance.yaml,line=" in done.stderr
    assert step.outputs()["exit-status"] == "2"
