"""docs/examples/relevance-compare.yml and its script: who may write, and what they do without an engine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from extensions.compare.builders.workflow import COMPARE, ROOT, fake_program, run_step

JOBS = COMPARE["jobs"]
SCRIPT = ROOT / "docs" / "examples" / "relevance-compare.sh"
SUITE = "suites/shop.relevance.yaml"
HARNESS = """\
#!{python}
import os, pathlib, sys
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    print(*words, file=calls)
output = words[words.index("--output") + 1].partition("=")[2]
side = "compare" if words[0] == "compare" else pathlib.Path(words[1]).parent.name
status = int(os.environ.get(side.upper(), "0"))
if status != 2:
    pathlib.Path(output).write_text("#" * int(os.environ.get("BYTES", "0")) + "## nDCG of " + words[-1] + "\\n")
sys.exit(status)
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def test_only_the_job_that_comments_may_write_and_it_runs_nothing_of_the_pull_request():
    assert COMPARE["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "compare": {"contents": "read"},
        "comment": {"pull-requests": "write"},
    }
    assert not [step for step in JOBS["comment"]["steps"] if "checkout" in step.get("uses", "")]
    assert "secrets." not in json.dumps(COMPARE)
    assert COMPARE[True] == ["pull_request"], "`on`, which YAML reads as true"


def test_a_fork_gets_no_comment():
    assert "github.event.pull_request.head.repo.full_name == github.repository" in JOBS["comment"]["if"]


def test_the_token_stays_out_of_the_checkout():
    [checkout] = [step for step in JOBS["compare"]["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["with"]["persist-credentials"] is False


def test_the_jobs_hand_on_what_the_script_writes():
    [upload] = [step for step in JOBS["compare"]["steps"] if "upload-artifact" in step.get("uses", "")]
    [download] = [step for step in JOBS["comment"]["steps"] if "download-artifact" in step.get("uses", "")]
    assert upload["with"] == {"name": download["with"]["name"], "path": "comparison"}


@pytest.mark.parametrize(
    ("found", "method", "path"),
    [("", "POST", "repos/owner/shop/issues/7/comments"), ("12\n13\n", "PATCH", "repos/owner/shop/issues/comments/12")],
)
def test_one_comment_is_posted_and_later_replaced(tmp_path, found, method, path):
    calls = fake_program(tmp_path, "gh", printed=found)
    [step] = [step for step in JOBS["comment"]["steps"] if "run" in step]
    values = {"GH_TOKEN": "t", "REPOSITORY": "owner/shop", "NUMBER": "7"}
    assert set(step["env"]) == set(values)

    done = run_step(step, tmp_path, values)

    assert (done.returncode, done.stderr) == (0, "")
    listing, sending = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    assert listing[:3] == ["api", "--paginate", "repos/owner/shop/issues/7/comments"]
    assert "<!-- relevance-compare -->" in listing[-1]
    assert sending == ["api", "--silent", "--method", method, path, "--field", "body=@comment.md"]


# ----------------------------------------------------------------------------------------------- the script


@pytest.fixture
def compare(tmp_path):
    """Runs the script on two folders, with a harness that writes reports and ends as the environment says."""
    for side in ("base", "changed"):
        path = tmp_path / side / SUITE
        path.parent.mkdir(parents=True)
        path.touch()
    harness = tmp_path / "programs" / "relevance"
    harness.parent.mkdir()
    harness.write_text(HARNESS.format(python=sys.executable), encoding="utf-8")
    harness.chmod(0o755)
    calls = tmp_path / "calls"

    def run(**environ):
        path = f"{harness.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", str(SCRIPT), "base", "changed", "suites", "--url", "http://a b:9200"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": path, "CALLS": str(calls), **environ},
        )  # fmt: skip
        comment = tmp_path / "comparison" / "comment.md"
        return done.returncode, comment.read_text(encoding="utf-8"), calls.read_text(encoding="utf-8").splitlines()

    return run


def test_both_sides_are_searched_with_the_same_options_and_compared_with_the_judgments_of_the_change(compare, tmp_path):
    status, comment, calls = compare()
    assert status == 0
    assert comment == "<!-- relevance-compare -->\n\n## nDCG of markdown=part.md\n"
    assert calls == [
        f"run {tmp_path}/{side}/suites --quiet --url http://a b:9200 --output json={side}.json"
        for side in ("changed", "base")
    ] + [
        f"compare report:base.json report:changed.json --suite {tmp_path}/changed/{SUITE} --queries 3 --quiet"
        " --output markdown=part.md"
    ]


@pytest.mark.parametrize(("statuses", "is_refused"), [({}, False), ({"COMPARE": "2"}, True)])
def test_why_is_an_input(compare, tmp_path, statuses, is_refused):
    """With WHY=yes both versions of a suite are compared; their reports are where these cannot be."""
    [step] = [step for step in JOBS["compare"]["steps"] if "relevance-compare.sh" in step.get("run", "")]
    assert step["env"] == {"WHY": "${{ vars.RELEVANCE_WHY || 'no' }}"}
    calls = compare(WHY="yes", **statuses)[2]
    assert calls[2] == (
        f"compare --suite {tmp_path}/changed/{SUITE} --old-suite {tmp_path}/base/{SUITE} --url http://a b:9200 --why"
        " --queries 3 --quiet --output markdown=part.md"
    )
    assert ["report:base.json" in call for call in calls[3:]] == [True] * is_refused


def test_the_configuration_of_the_base_branch_counts_for_both(compare, tmp_path):
    for side in ("base", "changed"):
        (tmp_path / side / "relevance.toml").touch()
    assert all(f" --config {tmp_path}/base/relevance.toml " in call for call in compare()[2])


@pytest.mark.parametrize(
    ("statuses", "status", "said"),
    [
        ({"BASE": "1", "CHANGED": "1"}, 0, "## nDCG"),
        ({"BASE": "3"}, 3, "## nDCG"),
        ({"CHANGED": "3"}, 3, "## nDCG"),
        ({"COMPARE": "3"}, 3, "## nDCG"),
        ({"COMPARE": "2"}, 0, f"`{SUITE}` cannot be compared; the log of the job says why."),
        ({"CHANGED": "2"}, 2, "The suites of this change cannot run; the log of the job says why."),
        ({"BASE": "2"}, 0, "The base branch has no suites that can run, so there is nothing to compare with."),
        ({"BYTES": "70000"}, 0, f"`{SUITE}` is left out, as the comment would be too long."),
    ],
)
def test_every_end_is_told(compare, statuses, status, said):
    ended, comment, _ = compare(**statuses)
    assert ended == status
    assert comment.startswith("<!-- relevance-compare -->\n\n")
    assert said in comment


def test_a_base_branch_without_suites_is_no_failure(compare, tmp_path):
    shutil.rmtree(tmp_path / "base" / "suites")
    status, comment, _ = compare()
    assert (status, "nothing to compare with" in comment) == (0, True)


def test_a_new_suite_is_named_without_markup(compare, tmp_path):
    Path(tmp_path, "changed", "suites", "a`<img src=x>@all b.relevance.yaml").touch()
    status, comment, _ = compare()
    assert status == 0
    assert "\n`suites/aimg srcxall b.relevance.yaml` is new.\n" in comment
