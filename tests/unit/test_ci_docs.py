"""docs/guides/ci.md, reports for CI systems, and the workflows of docs/examples: what they name and promise is so."""

import configparser
import re
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from harness.cli import COMMANDS, root
from harness.report.annotations import CODE_QUALITY
from harness.report.markdown import THRESHOLDS_SHOWN
from harness.report.markdown.escape import LARGEST_SUMMARY, NOTES_SHOWN
from harness.report.outputs import OUTPUT_KINDS, SUFFIXES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "guides" / "ci.md").read_text(encoding="utf-8")
REPORTS = (DOCS / "reference" / "reports.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((DOCS / "examples").glob("relevance-*.yml"))
GITLAB = yaml.safe_load((DOCS / "examples" / "relevance-gate.gitlab-ci.yml").read_text(encoding="utf-8"))["relevance"]
JENKINS = DOCS / "examples" / "relevance-gate.Jenkinsfile"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_workflow_is_told_of():
    assert len(WORKFLOWS) == 5
    assert all(f"(../examples/{path.name})" in PAGE for path in [*WORKFLOWS, JENKINS])


def test_the_table_of_inputs_is_that_of_the_action():
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (?:`([^`]+)`)? *\| ", PAGE.split("### The action")[1], re.MULTILINE))
    assert rows == {name: given["default"] for name, given in ACTION["inputs"].items()}
    for name in ACTION["outputs"]:
        assert f"`{name}`" in PAGE


def test_the_action_s_workflows_are_those_of_the_page():
    steps = [block for block in blocks("yml") if block.startswith("- uses")]
    for step, name in zip(steps, ["relevance-gate-own-index.yml", "relevance-gate-action.yml"], strict=True):
        [used] = yaml.safe_load(step)
        workflow = yaml.safe_load((DOCS / "examples" / name).read_text(encoding="utf-8"))
        assert used in workflow["jobs"]["relevance"]["steps"]
        assert set(used["with"]) <= set(ACTION["inputs"])


def test_the_login_of_the_page_reaches_the_engine_that_it_names():
    [settings] = blocks("toml")
    [cluster] = tomllib.loads(settings)["clusters"].values()
    workflow = yaml.safe_load((DOCS / "examples" / "relevance-gate-own-index.yml").read_text(encoding="utf-8"))
    [step] = [step for step in workflow["jobs"]["relevance"]["steps"] if "with" in step]
    assert list(step["env"]) == [cluster["api_key_env"]]


def test_jenkins_has_the_login_under_the_same_name():
    [settings] = blocks("toml")
    [cluster] = tomllib.loads(settings)["clusters"].values()
    assert f"{cluster['api_key_env']} = credentials(" in JENKINS.read_text(encoding="utf-8")


def test_the_keys_of_gitlab_s_job_are_gitlab_s():
    assert set(GITLAB) <= {"image", "timeout", "services", "rules", "before_script", "script", "artifacts"}
    assert {"name", "alias", "command", "variables"} >= set(GITLAB["services"][0])
    assert set(GITLAB["artifacts"]) <= {"when", "paths", "reports", "expire_in", "name"}
    assert GITLAB["artifacts"]["when"] == "always", "reports matter most where the job fails"


def test_the_engine_of_gitlab_s_job_is_that_of_the_compose_file():
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    image = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", compose["services"]["elasticsearch"]["image"])
    assert GITLAB["services"][0]["name"] == image


def test_workflows_put_no_expression_into_a_script():
    for path in WORKFLOWS:
        jobs = yaml.safe_load(path.read_text(encoding="utf-8")).get("jobs", {})
        for step in (step for job in jobs.values() for step in job["steps"]):
            assert "${{" not in step.get("run", ""), path.name


def test_the_page_of_the_command_names_the_hooks():
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(relevance-validate[a-z-]*)`", page)) == hooks


def test_the_line_of_the_ini_file_is_one(pytestconfig):
    [block] = blocks("ini")
    parser = configparser.ConfigParser()
    parser.read_string(block)
    for name in parser["pytest"]:
        pytestconfig.getini(name)


def test_options_exist(pytestconfig):
    known = set()
    for name in COMMANDS:
        command = root.get_command(click.Context(root), name)
        known |= {option for parameter in command.params for option in parameter.opts}
    text = re.sub(r"^\$ docker .*$|`docker [^`]*`", "", PAGE, flags=re.MULTILINE)
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)):
        if option not in known:
            pytestconfig.getoption(option)  # an error where there is none


def test_every_kind_of_report_is_named():
    assert all(f"`--output {kind}=FILE`" in REPORTS for kind in OUTPUT_KINDS)
    assert all(f"`{suffix}`" in REPORTS for suffix in SUFFIXES)
    assert all(f"`{severity}`" in PAGE for severity in CODE_QUALITY.values())


@pytest.mark.parametrize("number", [LARGEST_SUMMARY, THRESHOLDS_SHOWN, NOTES_SHOWN])
def test_the_limits_of_markdown_are_told(number):
    text = REPORTS.split("## Markdown\n")[1].split("\n## ")[0]
    assert re.search(rf"(?<![\d,]){number:,}(?![\d,])", text)


def test_every_property_of_junit_xml_is_told():
    named = set(re.findall(r"`relevance\.([a-z-]+)`", REPORTS))
    modules = ("pytest_plugin/plan.py", "pytest_plugin/outcomes.py", "report/junit.py")
    source = "".join((ROOT / "harness" / module).read_text(encoding="utf-8") for module in modules)
    written = set(re.findall(r'"relevance\.([a-z-]+)"', source)) | {
        "observed",
        "required",
        "unit",
        "repeats",
        "spread",
        "runs",
        "caveat",
    }
    facts = source.split("facts = {")[1].split("}")[0]
    assert named == written | set(re.findall(r'^ *"([a-z-]+)": ', facts, re.MULTILINE))
