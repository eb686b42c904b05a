"""What is fetched from elsewhere is pinned: actions by commit, packages by hash; an image says how."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
WORKFLOWS = sorted([*EXAMPLES.glob("relevance-*.yml"), *(ROOT / ".github" / "workflows").glob("*.yml")])
PAGES = [ROOT / "README.md", ROOT / "action.yml", *sorted((ROOT / "docs").rglob("*.md")), *WORKFLOWS]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCKS = ROOT / "scripts" / "locks"
CONTENTS = {
    "development": [*EXTRAS.values(), PROJECT["dependency-groups"]["dev"]],
    "embedded": [EXTRAS["embedded"]],
    "judge": [EXTRAS["embedded"], EXTRAS["judge"], EXTRAS["llm"]],
    "statistics-files": [EXTRAS["statistics"], EXTRAS["files"]],
}


WRITING_JOBS = {
    "relevance-compare.yml": ["comment"],
    "docs.yml": ["publish"],
    "release.yml": ["publish", "image", "major"],
}
"""The jobs of a workflow whose token may write, or is an identity that may."""


def read_pins(name):
    """The version of each package of a lock."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}


def test_actions_are_pinned_by_commit_and_alike_everywhere():
    used = [
        (path.name, *found)
        for path in PAGES
        for found in re.findall(r"uses: ((?!OWNER)[\w-]+/[\w-]+)@(\S+)(.*)", path.read_text(encoding="utf-8"))
    ]
    assert len(used) > 10
    for page, action, commit, comment in used:
        assert re.fullmatch(r"[0-9a-f]{40}", commit), f"{page}: {action}@{commit}"
        assert re.match(r" # v\d+\.\d+\.\d+\b", comment), f"{page}: {action} has no version in a comment"
    versions = {(action, commit, comment.split(";")[0]) for _, action, commit, comment in used}
    assert len(versions) == len({action for action, _, _ in versions})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_says_what_its_token_may(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    if "jobs" not in workflow:
        return  # GitLab's
    assert workflow["permissions"] in ({}, {"contents": "read"})
    jobs = [name for name, job in workflow["jobs"].items() if "write" in str(job.get("permissions"))]
    assert jobs == WRITING_JOBS.get(path.name, [])


@pytest.mark.parametrize("name", CONTENTS)
def test_a_lock_has_what_the_project_needs_in_versions_that_it_allows(name):
    pins = read_pins(name)
    needed = [PROJECT["project"]["dependencies"], *CONTENTS[name], PROJECT["build-system"]["requires"], ["editables"]]
    for requirement in (Requirement(text) for texts in needed for text in texts):
        version = pins.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is missing: run scripts/lock-packages"
        assert requirement.specifier.contains(version), f"{requirement} and {version}: run scripts/lock-packages"


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_each_package_of_a_lock_has_a_hash(path):
    entries = re.split(r"^(?=\w)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    # That of the language model has the model and its server.
    assert len(entries) > (1 if path.stem == "model" else 20)
    for entry in entries:
        assert re.match(r"\S+==\S+(?: ;.*)? \\\n    --hash=sha256:[0-9a-f]{64}", entry), entry[:60]


def test_locks_have_the_same_versions():
    everything = read_pins("development")
    for name in CONTENTS:
        assert read_pins(name).items() <= everything.items()
    tools = read_pins("package")
    shared = tools.keys() & everything.keys()
    assert "hatchling" in shared
    assert {name: tools[name] for name in shared} == {name: everything[name] for name in shared}


def test_the_lowest_lock_has_the_floors_that_the_project_promises():
    pins = read_pins("lowest")
    assert pins["urllib3"] == "2.6.3", "the first that bounds what a small answer decompresses to"
    texts = [*PROJECT["project"]["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    for requirement in map(Requirement, texts):
        [floor] = requirement.specifier
        assert floor.operator == ">=", requirement
        pinned = Version(pins[canonicalize_name(requirement.name)]).release
        promised = Version(floor.version).release
        assert pinned[: len(promised)] == promised, f"{requirement}: run scripts/lock-packages"


def test_the_published_workflow_runs_the_lowest_and_the_newest_versions():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8"))
    versions = workflow["jobs"]["versions"]["strategy"]["matrix"]["versions"]
    environments = PROJECT["tool"]["tox"]["env"]
    assert versions == list(environments) == ["lowest", "newest"]
    assert environments["lowest"]["deps"] == ["-r scripts/locks/lowest.txt"]
    assert "tox" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["Dockerfile", "docs/examples/relevance-gate.gitlab-ci.yml", "docker-compose.yml"])
def test_an_image_without_a_digest_says_how_it_is_pinned(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert "@sha256:" in text
    assert "docker buildx imagetools inspect" in text
