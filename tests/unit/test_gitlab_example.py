"""docs/examples/relevance-gate.gitlab-ci.yml: GitLab can read it, and its commands write its artifacts."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from harness.report.outputs import find_output

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
JOB = yaml.safe_load((EXAMPLES / "relevance-gate.gitlab-ci.yml").read_text(encoding="utf-8"))["relevance"]
LINES = [*JOB["before_script"], *JOB["script"]]
PYTEST = shlex.split(JOB["script"][-1])


def test_the_keys_are_gitlab_s():
    assert set(JOB) <= {"image", "timeout", "services", "rules", "before_script", "script", "artifacts"}
    assert all(isinstance(line, str) for line in LINES)
    assert {"name", "alias", "command", "variables"} >= set(JOB["services"][0])
    assert set(JOB["artifacts"]) <= {"when", "paths", "reports", "expire_in", "name"}
    assert JOB["artifacts"]["when"] == "always", "reports matter most where the job fails"


def test_every_artifact_is_written_by_the_last_command():
    reports = JOB["artifacts"]["reports"]
    assert PYTEST[PYTEST.index("--junit-xml") + 1] == reports["junit"]
    written = [value for option, value in pairwise(PYTEST) if option == "--relevance-report"]
    assert sorted(written) == sorted([reports["codequality"], *JOB["artifacts"]["paths"]])
    kinds = {value: find_output(Path(value)).kind for value in written}
    assert kinds[reports["codequality"]] == "codequality"


def test_the_options_exist(pytestconfig):
    for word in PYTEST:
        if word.startswith("--") and word != "--junit-xml":
            pytestconfig.getoption(word.removeprefix("--").replace("-", "_"))


def test_the_engine_is_the_one_of_the_compose_file():
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    image = JOB["services"][0]["name"]
    assert image == re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", compose["services"]["elasticsearch"]["image"])
    assert f"//{JOB['services'][0]['alias']}:9200" in PYTEST[PYTEST.index("--relevance-url") + 1]


@pytest.mark.parametrize("line", LINES)
def test_the_lines_are_shell(line):
    assert shlex.split(line)[0] in ("pip", "curl", "pytest")
