"""The plugin on real engines: one run for all items and workers, and an embedded node that ends with its session."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import builders.loaded  # noqa: F401
from builders.waiting import wait_until
from builders.workers import IN_TWO_WORKERS
from harness.embedded.jars import cache_folder
from harness.report.json import loads_report

SUITE = """\
suite: {name}
target: {{}}
fixture:
  documents: documents.jsonl
  settings: {{number_of_shards: 1, number_of_replicas: 0}}
  mappings: {{properties: {{title: {{type: text, analyzer: english}}}}}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= 0.9", "every nDCG@10 >= 0.8", "median nDCG@10 < 0.99"]
queries:
  - {{id: shoes, text: running shoes, judgments: {{s1: 3, s2: 1}}, expect: ["s1 in top 1"]}}
  - {{id: boots, text: boot, judgments: {{b1: 2}}, thresholds: ["nDCG@10 >= 0.9"]}}
"""
DOCUMENTS = """\
{"id": "s1", "title": "Shoes for running"}
{"id": "s2", "title": "A pair of red shoes with laces that do not come loose"}
{"id": "b1", "title": "Rubber boots"}
"""
PATIENCE = 180.0  # seconds
CACHE = cache_folder()  # as it is before pytester moves the home folder
IN_TWO = ["-p", "xdist", "-n2"]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def suite_name(pytester: pytest.Pytester) -> str:
    name = f"plugin-{uuid.uuid4().hex[:8]}"
    (pytester.path / "shop.relevance.yaml").write_text(SUITE.format(name=name), encoding="utf-8")
    (pytester.path / "documents.jsonl").write_text(DOCUMENTS, encoding="utf-8")
    return name


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return lambda *options: pytester.runpytest("-p", "relevance", "-W", "error", "-v", *options)


@pytest.mark.parametrize("workers", [(), IN_TWO_WORKERS], ids=["alone", "two-workers"])
@pytest.mark.one_engine
def test_a_suite_builds_its_index_and_runs_once(
    suite_name: str,
    run: Run,
    engine_url: str,
    call: Callable[..., object],
    pytester: pytest.Pytester,
    workers: tuple[str, ...],
) -> None:
    options = ["--relevance-url", engine_url, "--relevance-report=report.json", *workers]

    refused = run(*options)
    built = run(*options, "--relevance-allow-write")
    reused = run(*options)

    refused.assert_outcomes(errors=5)
    refused.stdout.fnmatch_lines("*--relevance-allow-write*")
    for result in (built, reused):
        result.assert_outcomes(passed=4, failed=1)
        result.stdout.fnmatch_lines("*::median-nDCG-10-lt-0.99 FAILED*" if not workers else "*FAILED*::median-nDCG-*")
    [report] = loads_report((pytester.path / "report.json").read_text(encoding="utf-8")).suites
    assert report.index is not None
    call("DELETE", f"/{report.index}")


@pytest.fixture
def temporary(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made; a cache of its own hides nodes in the background, and has the jars."""
    cache = pytester.mkdir("cache")
    (cache / "jars").symlink_to(CACHE / "jars")
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(cache))
    folder = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
    for process in node_processes(folder):
        process.kill()


def node_processes(folder: Path) -> list[psutil.Process]:
    """The embedded nodes whose home is in *folder*."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(part.startswith(f"{folder}/relevance-node-") for part in process.info["cmdline"] or ())
    ]


NOTE_NODES = """
import pathlib, tempfile

def pytest_runtest_teardown(item):
    nodes = sorted(path.name for path in pathlib.Path(tempfile.gettempdir()).glob("relevance-node-*"))
    with open("nodes", "a") as seen:
        print(*nodes, file=seen)
"""


@pytest.mark.embedded
def test_one_node_of_the_chosen_version_serves_a_session_and_ends_with_it(
    suite_name: str, run: Run, pytester: pytest.Pytester, temporary: Path
) -> None:
    (pytester.path / "two.relevance.yaml").write_text(SUITE.format(name=f"{suite_name}-two"), encoding="utf-8")
    pytester.makeconftest(NOTE_NODES)

    result = run("--relevance-embedded", "--relevance-engine-version", "2.19", *IN_TWO)

    result.assert_outcomes(passed=8, failed=2)
    result.stdout.fnmatch_lines("plugin-*: nDCG@10 *; opensearch 2.19.*")
    seen = (pytester.path / "nodes").read_text(encoding="utf-8").splitlines()
    assert len(seen) == 10
    assert len(set(seen)) == 1
    assert re.fullmatch(r"relevance-node-\S+", seen[0])
    assert node_processes(temporary) == []
    assert list(temporary.glob("relevance-*")) == []


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("how", "workers"),
    [(signal.SIGINT, IN_TWO), (signal.SIGKILL, IN_TWO)],
    ids=["ctrl-c", "killed"],
)
def test_however_a_session_ends_its_node_ends(
    suite_name: str, pytester: pytest.Pytester, temporary: Path, workers: list[str], how: signal.Signals
) -> None:
    pytester.makepyfile(
        test_zz="""
        import pathlib, time

        def test_it(relevance):
            relevance.run("shop.relevance.yaml")
            pathlib.Path("running").touch()
            time.sleep(600)
        """
    )
    command = [sys.executable, "-m", "pytest", "--relevance-embedded", "-p", "no:cacheprovider", *workers]
    session = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until((pytester.path / "running").exists, PATIENCE)
        assert len(node_processes(temporary)) == 1

        session.send_signal(how)
        session.wait(PATIENCE)
    finally:
        session.kill()

    wait_until(lambda: not node_processes(temporary), PATIENCE)
