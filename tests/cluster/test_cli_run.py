"""``harness init`` and ``harness run`` as a user types them, on a real engine."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.model import Status
from harness.report import json

Command = Callable[..., subprocess.CompletedProcess[str]]
NOBODY = "http://127.0.0.1:9"  # the port of a service that nobody runs


@pytest.fixture
def harness(tmp_path: Path) -> Command:
    """Runs the command in a folder of its own, where ``init`` has written its suite."""

    def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "harness", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
        )

    assert run("init").returncode == 0
    return run


@pytest.fixture(params=[url.strip() for url in os.environ.get("RELEVANCE_TEST_ELASTICSEARCH", "").split(",")])
def elasticsearch(request: pytest.FixtureRequest) -> str:
    """Each server in turn."""
    if not request.param:
        pytest.skip("RELEVANCE_TEST_ELASTICSEARCH names no server")
    return str(request.param)


def passes(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    [suite] = json.loads(done.stdout).suites
    assert len(suite.queries) == 6
    assert {verdict.status for verdict in suite.verdicts} == {Status.PASSED}
    assert all(query.ranking and query.ranking[0].title for query in suite.queries)


@pytest.mark.embedded
@pytest.mark.parametrize("version", ["3.8", "2.19"])
def test_the_suite_of_init_passes_on_the_embedded_engine(harness: Command, version: str) -> None:
    words = ("run", "products.relevance.yaml", "--embedded", "--engine-version", version, "--allow-write", "--json")
    passes(harness(*words))


@pytest.mark.cluster
def test_it_passes_on_elasticsearch(harness: Command, elasticsearch: str) -> None:
    passes(harness("run", ".", "--url", elasticsearch, "--allow-write", "--json"))


@pytest.mark.cluster
def test_a_threshold_that_does_not_hold_is_1_and_shows_why(
    harness: Command, elasticsearch: str, tmp_path: Path
) -> None:
    suite = tmp_path / "products.relevance.yaml"
    suite.write_text(suite.read_text().replace("p14 not in top 2", "p14 in top 1"))
    done = harness("run", ".", "--url", elasticsearch, "--allow-write", "--output", "html=r.html")
    assert done.returncode == 1
    assert "FAILED  p14 in top 1  (query sleeping-bag)" in done.stdout
    assert "Summer sleeping bag" in done.stdout
    assert "p14 in top 1" in (tmp_path / "r.html").read_text()
    assert "products: 6 queries to run" in done.stderr


@pytest.mark.cluster
def test_a_tag_selects_queries_and_what_is_about_them(harness: Command, elasticsearch: str) -> None:
    done = harness("run", ".", "--url", elasticsearch, "--allow-write", "--tag", "head", "--json")
    [suite] = json.loads(done.stdout).suites
    assert (len(suite.queries), suite.deselected) == (3, 3)
    assert "mean nDCG@10 >= 0.85 for head" in {verdict.threshold for verdict in suite.verdicts}
    assert "mean nDCG@10 >= 0.85" not in {verdict.threshold for verdict in suite.verdicts}


def test_an_engine_that_is_down_is_3_and_no_traceback(harness: Command) -> None:
    done = harness("run", ".", "--url", NOBODY, "--json")
    assert done.returncode == 3
    assert {verdict.status for verdict in json.loads(done.stdout).suites[0].verdicts} == {Status.ERROR}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tag", "heed"), "did you mean 'head'"),
        (("--request", "other"), "other"),
        (("--url", NOBODY, "--embedded"), "--url and --embedded name two engines"),
        (("--engine-version", "3.8"), "give --embedded too"),
    ],
)
def test_what_no_suite_has_is_2(harness: Command, words: tuple[str, ...], said: str) -> None:
    done = harness("run", ".", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
