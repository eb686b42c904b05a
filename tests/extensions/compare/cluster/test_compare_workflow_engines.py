"""The shell steps of docs/examples/relevance-compare.yml on two branches of a repository, on a real engine."""

import shutil
import subprocess

import pytest

from extensions.compare.builders.workflow import COMPARE, ROOT, run_step

pytest.importorskip("scipy", reason="comparisons need the extra statistics")

STEPS = [step for step in COMPARE["jobs"]["compare"]["steps"] if "run" in step]
INSTALLING = ("pip ", "docker ")


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """What the checkout of the workflow leaves: the pull request merged into its base branch, two commits deep."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "anna")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "anna@example.org")
    origin = tmp_path / "origin"
    suites = origin / "suites"
    shutil.copytree(ROOT / "suites", suites, ignore=shutil.ignore_patterns("failing"))
    (origin / "docs" / "examples").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "examples" / "relevance-compare.sh", origin / "docs" / "examples")

    def git(*words):
        subprocess.run(["git", "-C", str(origin), *words], check=True, capture_output=True)

    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "--message", "The base branch")
    git("switch", "--create", "pull-request")
    suite = suites / "products.relevance.yaml"
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("fields: [title^3, brand^2,", "fields: [title^1, brand^2,", 1), encoding="utf-8")
    (suites / "lessons.relevance.yaml").rename(suites / "worked.relevance.yaml")
    git("add", ".")
    git("commit", "--message", "Titles count less")
    git("switch", "main")
    git("merge", "--no-ff", "--message", "Merge the pull request", "pull-request")
    clone = ["git", "clone", "--quiet", "--depth", "2", origin.as_uri(), str(tmp_path / "changed")]
    subprocess.run(clone, check=True)
    return tmp_path


@pytest.mark.skipif(shutil.which("git") is None or shutil.which("bash") is None, reason="needs git and bash")
@pytest.mark.one_engine
def test_the_steps_compare_the_base_branch_with_the_pull_request(workspace, engine_url):
    for step in STEPS:
        if not step["run"].startswith(INSTALLING):
            command = step["run"].replace("http://127.0.0.1:9200", engine_url)
            done = run_step({"run": command}, workspace)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    comment = (workspace / "comparison" / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- relevance-compare -->\n")
    assert "| 0.7058 | 0.6672 | -0.0387 |" in comment
    assert "`suites/worked.relevance.yaml` is new." in comment
    assert "### traffic: " in comment
    assert len(comment) < 65_536
    assert (workspace / "summary.md").read_text(encoding="utf-8") == comment
    assert "### Why" not in comment


@pytest.mark.skipif(shutil.which("git") is None or shutil.which("bash") is None, reason="needs git and bash")
@pytest.mark.one_engine
def test_why_is_in_the_comment(workspace, engine_url):
    """With its input the workflow says which difference between the branches did it; a suite without one says so."""
    for step in STEPS:
        if not step["run"].startswith(INSTALLING):
            command = step["run"].replace("http://127.0.0.1:9200", engine_url)
            done = run_step({"run": command}, workspace, {"WHY": "yes"})
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    comment = (workspace / "comparison" / "comment.md").read_text(encoding="utf-8")
    assert "| 0.7058 | 0.6672 | -0.0387 |" in comment
    assert "title^3 → title^1" in comment.replace("<span>", "").replace("</span>", "")
    assert "the requests do not differ in what is sent" in comment
