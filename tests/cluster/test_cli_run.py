"""``relevance init`` and ``relevance run`` as a user types them, on a real engine."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.cli import main
from harness.embedded.jars import cache_folder
from harness.embedded.process import launch
from harness.model.run import Status
from harness.report import json

NOBODY = "http://127.0.0.1:9"  # the port of a service that nobody runs


@dataclass
class Done:
    """A command that ended."""

    status: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command in a folder of its own, where ``init`` has written its suite."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Done:
        return Done(main(list(words)), *capsys.readouterr())

    assert run("init").status == 0
    return run


def passes(done: Done) -> None:
    assert done.status == 0, done.stdout + done.stderr
    [suite] = json.loads_report(done.stdout).suites
    assert len(suite.queries) == 6
    assert {verdict.status for verdict in suite.verdicts} == {Status.PASSED}
    assert all(query.ranking and query.ranking[0].title for query in suite.queries)


@pytest.mark.embedded
def test_it_passes_on_the_embedded_engine(
    harness: Command, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node of its own is started, as there is none in the background, and nothing of it is left."""
    cache, temporary = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("temporary")
    (cache / "jars").symlink_to(cache_folder() / "jars")
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(cache))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    started = []

    def note_start(*arguments: Any, **options: Any) -> Any:
        node, process = launch(*arguments, **options)
        started.append(node)
        return node, process

    monkeypatch.setattr("harness.embedded.process.launch", note_start)

    passes(harness("run", "products.relevance.yaml", "--embedded", "--allow-write", "--json"))

    [node] = started
    assert node.home.parent == temporary
    assert not list(temporary.glob("relevance-*"))
    assert not psutil.pid_exists(node.pid)


def test_it_passes_on_each_engine(harness: Command, engine_url: str) -> None:
    passes(harness("run", ".", "--url", engine_url, "--allow-write", "--json"))


@pytest.mark.one_engine
def test_a_threshold_that_does_not_hold_is_1_and_shows_why(harness: Command, engine_url: str, tmp_path: Path) -> None:
    suite = tmp_path / "products.relevance.yaml"
    suite.write_text(suite.read_text().replace("p14 not in top 2", "p14 in top 1"))
    done = harness("run", ".", "--url", engine_url, "--allow-write", "--output", "html=r.html")
    assert done.status == 1
    assert "FAILED  p14 in top 1  (query sleeping-bag)" in done.stdout
    assert "Summer sleeping bag" in done.stdout
    assert "p14 in top 1" in (tmp_path / "r.html").read_text()
    assert "products: 6 queries to run" in done.stderr


@pytest.mark.one_engine
def test_a_tag_selects_queries_and_what_is_about_them(harness: Command, engine_url: str) -> None:
    done = harness("run", ".", "--url", engine_url, "--allow-write", "--tag", "head", "--json")
    [suite] = json.loads_report(done.stdout).suites
    assert (len(suite.queries), suite.deselected) == (3, 3)
    assert "mean nDCG@10 >= 0.85 for head" in {verdict.threshold for verdict in suite.verdicts}
    assert "mean nDCG@10 >= 0.85" not in {verdict.threshold for verdict in suite.verdicts}


def test_an_engine_that_is_down_is_3_and_no_traceback(harness: Command) -> None:
    done = harness("run", ".", "--url", NOBODY, "--json")
    assert done.status == 3
    assert {verdict.status for verdict in json.loads_report(done.stdout).suites[0].verdicts} == {Status.ERROR}
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
    assert done.status == 2
    assert said in done.stderr
    assert done.stdout == ""


DELETING = """\
suite: deleting
target: {cluster: "URL"}
request:
  http:
    method: METHOD
    path: /INDEX/ACTION
    params: {preference: "{{text}}"}
    json: {query: {match_all: {}}}
    ids: $.ids
queries:
  - {id: q, text: all, judgments: {a: 1}}
thresholds: ["mean P@1 >= 0"]
"""


@pytest.mark.parametrize(("method", "action"), [("POST", "_delete_by_query"), ("PUT", "_settings"), ("GET", "x")])
@pytest.mark.parametrize("words", [[], ["--allow-write"]], ids=["", "writing"])
@pytest.mark.parametrize("place", ["", "relevance.toml"])
def test_an_engine_is_sent_nothing_by_http(
    harness: Command,
    engine_url: str,
    kept_index: Callable[..., str],
    call: Callable[..., dict[str, object]],
    tmp_path: Path,
    method: str,
    action: str,
    words: list[str],
    place: str,
) -> None:
    name = kept_index({"a": {"title": "a"}, "b": {"title": "b"}})
    if place:
        (tmp_path / place).write_text(f'[clusters.shop]\nurl = "{engine_url}"\nservice = "http"\n')
    url = "shop" if place else engine_url
    suite = tmp_path / "deleting.relevance.yaml"
    filled = {"URL": url, "METHOD": method, "INDEX": name, "ACTION": action}
    suite.write_text(reduce(lambda text, word: text.replace(word, filled[word]), filled, DELETING))

    done = harness("run", str(suite), *words)

    assert done.status == 3, done.stderr
    call("POST", f"/{name}/_refresh")
    assert call("GET", f"/{name}/_count")["count"] == 2
    assert call("GET", f"/{name}/_settings").keys() == {name}
