"""
The jobs of docs/examples for GitHub, GitLab and Jenkins, as far as they run without these: their shell steps.

A job runs in a checkout with one small suite. Its steps are as they stand, but for the address of the engine. What
installs packages, or starts and stops the engine, is answered by programs that do nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import textwrap
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from builders.action import BASH, INSTALL, ROOT, RUN, Step
from builders.engine import ScriptedEngine
from builders.typed_page import find_blocks

EXAMPLES = ROOT / "docs" / "examples"
COMPOSE = "http://127.0.0.1:9200"
KEY = "a-key-that-no-report-shows"
SUITE = """\
suite: shop
target: {{index: ci-jobs}}
request:
  query: {{match: {{title: "{{{{text}}}}"}}}}
measures: ["nDCG@10"]
thresholds:
  - "mean nDCG@10 >= {required}"
queries:
  - {{id: shoes, text: red shoes, judgments: {{a: 3}}}}
  - {{id: boots, text: rubber boots, judgments: {{d: 3}}}}
"""
THRESHOLD = "7"
"""The line of the threshold."""
FIXTURE = """\
fixture:
  documents: shop.jsonl
  mappings: {properties: {title: {type: text}}}
  settings: {number_of_shards: 1}
"""
DOCUMENTS = {"a": "red shoes", "d": "rubber boots for rain", "e": "rubber boots"}
pytestmark = pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="needs bash and curl")


@dataclass
class JobResult:
    """What a job leaves: the status of the step that failed or 0, the log, and the files that it publishes."""

    status: int = 0
    log: str = ""
    published: list[Path] = field(default_factory=list)

    def publish(self, folder: Path, pattern: str) -> None:
        """Add the files that *pattern* names, at least one."""
        paths = sorted(folder.glob(pattern))
        assert paths, f"{pattern} is not there\n{self.log}"
        self.published += paths


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """A step in a checkout with nothing, where what installs packages or starts an engine does nothing."""
    made = Step(tmp_path)
    for program in ("pip", "docker", "python", "python3"):
        made.fake(program)
    (made.workspace / "suites").mkdir()
    return made


@pytest.fixture
def own_index(step: Step, engine: ScriptedEngine) -> ScriptedEngine:
    """The team's own index, which wants a login, and the relevance.toml of the page that names both."""
    engine.login = f"ApiKey {KEY}"
    [settings] = find_blocks((ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8"), "toml")
    settings = re.sub('url = ".*"', f'url = "{engine.url}"', settings)
    (step.workspace / "relevance.toml").write_text(settings, encoding="utf-8")
    return engine


def write_suite(step: Step, required: float, fixture: str = "") -> None:
    """Write the suite, whose mean is (1 + 1 / log2(3)) / 2 = 0.8155 on each engine."""
    suites = step.workspace / "suites"
    text = SUITE.format(required=required) + fixture
    (suites / "shop.relevance.yaml").write_text(text, encoding="utf-8")
    documents = [json.dumps({"id": name, "title": title}) for name, title in DOCUMENTS.items()]
    (suites / "shop.jsonl").write_text("\n".join(documents), encoding="utf-8")


def run_github(step: Step, name: str, url: str = COMPOSE) -> JobResult:
    """Run the steps of a workflow, those of the action of this repository too."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    text = text.replace(COMPOSE, url).replace("${{ secrets.SEARCH_API_KEY }}", KEY)
    job = JobResult()
    for part in yaml.safe_load(text)["jobs"]["relevance"]["steps"]:
        if job.status and part.get("if") != "always()":
            continue
        uses = part.get("uses", "")
        done = []
        if "run" in part:
            done = [step.run_script(part["run"], BASH, step.runner)]
        elif uses.startswith("OWNER/relevance-harness@"):
            inputs = {name.replace("-", "_"): value for name, value in part["with"].items()}
            done = [step.run(action_step, part.get("env", {}), **inputs) for action_step in (INSTALL, RUN)]
            job.publish(Path(step.outputs()["report"]), "*")
        elif uses.startswith("actions/upload-artifact@"):
            job.publish(step.workspace, part["with"]["path"])
        for process in done:
            job.status = job.status or process.returncode
            job.log += process.stdout + process.stderr
    job.published.append(step.files["GITHUB_STEP_SUMMARY"])
    return job


def run_gitlab(step: Step, name: str, url: str) -> JobResult:
    """Run a job's lines, which are one script."""
    described = yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))["relevance"]
    [service] = described["services"]
    lines = "\n".join([*described["before_script"], *described["script"]])
    lines = lines.replace(f"http://{service['alias']}:9200", url)
    done = step.run_script(lines, BASH, {"GITLAB_CI": "true", "CI_PROJECT_DIR": str(step.workspace)})
    job = JobResult(done.returncode, done.stdout + done.stderr)
    artifacts = described["artifacts"]
    for pattern in [*artifacts["paths"], *artifacts["reports"].values()]:
        job.publish(step.workspace, pattern)
    return job


def run_jenkins(step: Step, name: str) -> JobResult:
    """Run the shell step of a declarative pipeline, with its credentials in the environment."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    programs = step.workspace / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "pip").symlink_to(step.programs / "pip")
    (programs / "relevance").symlink_to(shutil.which("relevance"))
    [script] = re.findall(r"sh '''\n(.*?)'''", text, re.DOTALL)
    variables = dict.fromkeys(re.findall(r"(\w+) = credentials\('[\w-]+'\)", text), KEY)
    done = step.run_script(textwrap.dedent(script), ["sh", "-xe"], {"JENKINS_URL": "http://ci", **variables})
    job = JobResult(done.returncode, done.stdout + done.stderr)
    [always] = re.findall(r"post \{\n +always \{\n(.*?)\n    \}", text, re.DOTALL)
    for pattern in re.findall(r"(?:junit|archiveArtifacts) '(.*)'", always):
        job.publish(step.workspace, pattern)
    return job


FIXTURE_JOBS = {
    "relevance-gate.yml": (run_github, ["relevance.html", "relevance.json", "relevance.xml", "github_step_summary"]),
    "relevance-gate-action.yml": (run_github, ["report.html", "report.json", "report.md", "github_step_summary"]),
    "relevance-gate.gitlab-ci.yml": (run_gitlab, ["relevance.html", "relevance.xml", "relevance.codequality.json"]),
}
OWN_INDEX_JOBS = {
    "relevance-gate-own-index.yml": (run_github, ["report.html", "report.json", "report.md", "github_step_summary"]),
    "relevance-gate.Jenkinsfile": (run_jenkins, ["relevance.xml", "relevance.html"]),
}
"""Each example with what runs it, and the names of the files that it publishes."""


def count_failures(path: Path) -> int:
    """How many thresholds failed, as a report says."""
    text = path.read_text(encoding="utf-8")
    if path.name.endswith(".codequality.json"):
        return len(json.loads(text))
    if path.suffix == ".json":
        verdicts = [verdict for suite in json.loads(text)["suites"] for verdict in suite["verdicts"]]
        return sum(verdict["status"] == "failed" for verdict in verdicts)
    if path.suffix == ".xml":
        return len(ET.fromstring(text).findall(".//failure"))
    [headline] = re.findall(r"<h1>(.*?)</h1>" if path.suffix == ".html" else r"\A## . (.*)\n", text)
    found = re.fullmatch(r"(?:(\d+) thresholds? of \d+ did not hold|\d+ thresholds?, all hold)", headline)
    assert found, headline
    return int(found[1] or 0)


def assert_result(job: JobResult, published: list[str], failures: int) -> None:
    """Hold that the job tells of *failures* by its status, by each file that it publishes and by each annotation."""
    assert job.status == failures, job.log
    assert {path.name: count_failures(path) for path in job.published} == dict.fromkeys(published, failures)
    annotations = re.findall(r"^::error file=(.*?),line=(\d+),.*?::mean nDCG@10 .* is 0\.8155,", job.log, re.MULTILINE)
    has_annotations = "github_step_summary" in published
    assert annotations == [("suites/shop.relevance.yaml", THRESHOLD)] * (failures * has_annotations)


@pytest.mark.parametrize(("required", "failures"), [(0.8, 0), (0.9, 1)], ids=["green", "red"])
@pytest.mark.parametrize("name", FIXTURE_JOBS)
@pytest.mark.one_engine
def test_a_job_with_documents_of_its_own(
    step: Step, engine_url: str, name: str, required: float, failures: int
) -> None:
    run, published = FIXTURE_JOBS[name]
    write_suite(step, required, FIXTURE)
    assert_result(run(step, name, engine_url), published, failures)


@pytest.mark.parametrize(("required", "failures"), [(0.8, 0), (0.9, 1)], ids=["green", "red"])
@pytest.mark.parametrize("name", OWN_INDEX_JOBS)
@pytest.mark.usefixtures("own_index")
def test_a_job_on_an_index_of_the_team(step: Step, name: str, required: float, failures: int) -> None:
    run, published = OWN_INDEX_JOBS[name]
    write_suite(step, required)
    job = run(step, name)
    assert_result(job, published, failures)
    assert KEY not in "".join([job.log, *(path.read_text(encoding="utf-8") for path in job.published)])


def test_a_job_with_a_wrong_login_has_no_answer(step: Step, own_index: ScriptedEngine) -> None:
    own_index.login = "ApiKey another"
    write_suite(step, 0.8)
    job = run_jenkins(step, "relevance-gate.Jenkinsfile")
    assert job.status == 3, job.log
    assert [path.name for path in job.published] == ["relevance.xml", "relevance.html"]
