"""
A run while nodes of its cluster are stopped, killed and started again, and while its index changes.

RELEVANCE_TEST_NODES holds the URLs of a cluster of three nodes on this machine, comma separated, which the tests may
stop, kill and start: a cluster of their own. Without it they are skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from harness.model.report import SuiteReport
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Failure, Ranking, Response, Status
from harness.model.scores import Outcome
from harness.options import RunOptions
from harness.run import run_suites
from harness.search.dialects import open_search
from harness.search.protocol import Search

pytestmark = pytest.mark.cluster

QUERIES = 4000
"""Searches of a run: a few seconds of them."""

TIMEOUT = 5.0
"""Seconds for one request."""


@dataclass
class Node:
    """A server that listens on *url*, with the process that started it."""

    url: str
    process: psutil.Process = field(init=False)
    _parent: psutil.Process | None = field(init=False)
    _start: dict[str, Any] = field(init=False)
    _started: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        assert self.find(), f"nothing listens at {self.url}"

    def find(self) -> bool:
        """Whether a process listens; how it was started: by a launcher whose only child it is."""
        port = urlsplit(self.url).port
        listening = [
            psutil.Process(one.pid)
            for one in psutil.net_connections("tcp")
            if one.laddr and one.laddr.port == port and one.status == psutil.CONN_LISTEN and one.pid
        ]
        if not listening:
            return False
        self.process = listening[0]
        parent = self.process.parent()
        self._parent = parent if parent is not None and "launcher" in " ".join(parent.cmdline()).lower() else None
        started = self._parent or self.process
        self._start = {
            "args": started.cmdline(),
            "cwd": started.cwd(),
            "env": started.environ(),
            "user": started.uids().real,
            "group": started.gids().real,
        }
        return True

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        with suppress(psutil.NoSuchProcess):
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        for process in (self._parent, self.process):
            with suppress(psutil.NoSuchProcess):
                if process is not None:
                    process.kill()
        self.process.wait(30)

    def start(self) -> None:
        """Start it again, in a session of its own, whose leader's id the tool that made the cluster may look for."""
        self.leave()
        self._started = subprocess.Popen(
            **self._start,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            extra_groups=[],
        )
        with suppress(OSError):
            (Path(self._start["env"]["ES_PATH_CONF"]).parent / "pid").write_text(str(self._started.pid))

    def ensure(self) -> None:
        """Start it if it does not run, or if a start of it failed."""
        runs = self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE
        if not runs and (self._started is None or self._started.poll() is not None):
            self.start()

    def leave(self) -> None:
        """Let it go on when this process ends."""
        if self._started is not None:
            self._started.returncode = 0


@dataclass
class Nodes:
    """The cluster; the first node is the one that `url` of relevance.toml names."""

    all: list[Node]

    @property
    def urls(self) -> list[str]:
        return [node.url for node in self.all]

    def call(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        """Sends anything to the last node, which no test stops alone."""
        data = None
        if body is not None:
            data = ("".join(f"{json.dumps(one)}\n" for one in body) if lines else json.dumps(body)).encode()
        request = urllib.request.Request(
            f"{self.urls[-1]}{path}", data, {"content-type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)

    def heal(self) -> None:
        """Every node runs, and all shards that can be are there."""
        for node in self.all:
            node.go_on()
        end = time.monotonic() + 120
        while time.monotonic() < end:
            for node in self.all:
                node.ensure()
            with suppress(OSError, urllib.error.HTTPError):
                health = self.call("GET", "/_cluster/health?wait_for_nodes=3&wait_for_no_relocating_shards&timeout=10s")
                if health["number_of_nodes"] == 3 and not health["initializing_shards"]:
                    break
            time.sleep(0.5)
        for node in self.all:
            while not node.find():
                assert time.monotonic() < end + 60, f"{node.url} did not start again"
                node.ensure()
                time.sleep(0.5)


@pytest.fixture(scope="module")
def cluster_of_three() -> Iterator[Nodes]:
    urls = [url.strip() for url in os.environ.get("RELEVANCE_TEST_NODES", "").split(",") if url.strip()]
    if len(urls) != 3:
        pytest.skip("RELEVANCE_TEST_NODES names no three nodes that may be killed")
    nodes = Nodes([Node(url) for url in urls])
    yield nodes
    for node in nodes.all:
        node.leave()


@pytest.fixture
def nodes(cluster_of_three: Nodes) -> Iterator[Nodes]:
    cluster_of_three.heal()
    yield cluster_of_three
    cluster_of_three.heal()


@pytest.fixture
def index(nodes: Nodes) -> Iterator[Callable[..., str]]:
    """Makes an index of three shards in which document n has the words w0 to wn, and removes it."""
    made: list[str] = []

    def make(*, replicas: int = 1, documents: int = 100, name: str | None = None) -> str:
        name = name or f"relevance-test-{uuid.uuid4().hex[:12]}"
        made.append(name)
        properties = {"title": {"type": "text"}, "rank": {"type": "integer"}}
        settings = {
            "number_of_shards": 3,
            "number_of_replicas": replicas,
            "index.unassigned.node_left.delayed_timeout": "10m",
        }
        nodes.call("PUT", f"/{name}", {"mappings": {"properties": properties}, "settings": settings})
        lines: list[Any] = []
        for number in range(documents):
            title = " ".join(f"w{word}" for word in range(number + 1))
            lines += [{"index": {"_id": f"d{number}"}}, {"title": title, "rank": number}]
        if lines:
            assert not nodes.call("POST", f"/{name}/_bulk?refresh=true", lines, lines=True)["errors"]
        nodes.call("GET", f"/_cluster/health/{name}?wait_for_no_initializing_shards=true&timeout=60s")
        return name

    yield make
    nodes.heal()
    for name in made:
        with suppress(urllib.error.HTTPError):
            nodes.call("DELETE", f"/{name}")


def requests_of(index: str) -> list[SearchRequest]:
    return [
        SearchRequest(
            f"q{n}",
            index,
            {"query": {"match": {"title": f"w{n % 100}"}}, "sort": [{"rank": "asc"}], "size": 5},
        )
        for n in range(QUERIES)
    ]


def opened(nodes: Nodes) -> Search:
    first, *others = nodes.urls
    return open_search(Cluster("three", url=first, nodes=tuple(others), timeout=TIMEOUT), {})


@dataclass
class At:
    """Does something once, when so many queries have their response; it has the responses, if it hears of them."""

    queries: int
    do: Callable[[], object]
    done: int = 0
    responses: dict[int, Response] = field(default_factory=dict)

    def __call__(self, done: int | Mapping[int, Response]) -> None:
        self.responses |= {} if isinstance(done, int) else done
        count = done if isinstance(done, int) else len(done)
        before, self.done = self.done, self.done + count
        if before < self.queries <= self.done:
            self.do()


def searched(nodes: Nodes, index: str, fault: Callable[[], object]) -> tuple[list[Response], float]:
    """The responses of a run during which *fault* happens, and its seconds."""
    with opened(nodes) as search:
        began, at = time.monotonic(), At(QUERIES // 8, fault)
        for streamed in search.stream(requests_of(index), budget=240):
            at({streamed.position: streamed.response})
    return [at.responses[place] for place in range(QUERIES)], time.monotonic() - began


def ids(responses: list[Response]) -> list[list[str]]:
    failures = [one for one in responses if isinstance(one, Failure)]
    assert not failures, (len(failures), failures[0])
    return [[hit.id for hit in one.hits] for one in responses if isinstance(one, Ranking)]


EXPECTED = [[f"d{rank}" for rank in range(n % 100, min(n % 100 + 5, 100))] for n in range(QUERIES)]


@pytest.mark.parametrize("place", [0, 1], ids=["the first listed", "another"])
@pytest.mark.parametrize("fault", ["kill", "stop"])
def test_a_node_goes_and_every_query_is_answered(
    nodes: Nodes, index: Callable[..., str], place: int, fault: str, record_property: Callable[[str, object], None]
) -> None:
    name = index()

    found, seconds = searched(nodes, name, getattr(nodes.all[place], fault))

    record_property("seconds", seconds)
    assert ids(found) == EXPECTED
    assert seconds < 150


@pytest.mark.parametrize("fault", ["kill", "stop"])
def test_all_nodes_go_and_come_back(
    nodes: Nodes, index: Callable[..., str], fault: str, record_property: Callable[[str, object], None]
) -> None:
    """Within the patience of the retries."""
    name = index()

    def go_and_come_back() -> None:
        for node in nodes.all:
            getattr(node, fault)()
        time.sleep(2)
        for node in nodes.all:
            (node.start if fault == "kill" else node.go_on)()

    found, seconds = searched(nodes, name, go_and_come_back)

    record_property("seconds", seconds)
    assert ids(found) == EXPECTED


def test_all_nodes_go_for_good_and_the_run_ends(
    nodes: Nodes, index: Callable[..., str], record_property: Callable[[str, object], None]
) -> None:
    name = index()

    found, seconds = searched(nodes, name, lambda: [node.stop() for node in nodes.all])

    record_property("seconds", seconds)
    answered = [one for one in found if isinstance(one, Ranking)]
    assert len(found) == QUERIES
    assert len(answered) < QUERIES
    assert seconds < 60


def test_a_lost_shard_is_no_score_and_the_run_ends(
    nodes: Nodes, index: Callable[..., str], record_property: Callable[[str, object], None]
) -> None:
    name = index(replicas=0)

    found, seconds = searched(nodes, name, nodes.all[0].kill)

    record_property("seconds", seconds)
    wrong = [n for n, one in enumerate(found) if isinstance(one, Ranking) and [h.id for h in one.hits] != EXPECTED[n]]
    assert len(found) == QUERIES
    assert not wrong
    assert any(isinstance(one, Failure) for one in found)
    assert seconds < 150


# What changes under a run, decided as the command decides.


class During:
    """A `Progress` that does something while the queries are sent."""

    def __init__(self, fault: Callable[[], object]) -> None:
        self._at = At(QUERIES // 8, fault)

    def suite_started(self, *_: object) -> None:
        pass

    def queries_done(self, count: int) -> None:
        self._at(count)

    def suite_finished(self, *_: object) -> None:
        pass


@pytest.fixture
def run(nodes: Nodes, tmp_path: Path) -> Callable[[str, Callable[[], object]], tuple[SuiteReport, int]]:
    first, *others = nodes.urls
    (tmp_path / "relevance.toml").write_text(
        f'[clusters.default]\nurl = "{first}"\nnodes = {json.dumps(others)}\ntimeout = {TIMEOUT}\n'
    )

    def run_suite(index: str, fault: Callable[[], object]) -> tuple[SuiteReport, int]:
        queries = "".join(f"  - {{id: q{n}, text: w{n % 100}, judgments: {{d{n % 100}: 1}}}}\n" for n in range(QUERIES))
        path = tmp_path / "faults.relevance.yaml"
        path.write_text(
            f"suite: faults\ntarget: {{index: {index}}}\ndepth: 5\n"
            'request: {query: {match: {title: "{{text}}"}}, sort: [{rank: asc}]}\n'
            f'thresholds: ["mean RR@5 >= 0.05"]\nqueries:\n{queries}'
        )
        report = run_suites([path], RunOptions(), environ={}, progress=During(fault))
        return report.suites[0], report.exit_status

    return run_suite


def outcomes(report: SuiteReport) -> set[Outcome]:
    return {query.outcome for query in report.queries}


def test_an_undisturbed_run_passes(index: Callable[..., str], run: Callable[..., Any]) -> None:
    report, status = run(index(), lambda: None)

    assert (outcomes(report), status) == ({Outcome.SCORED}, 0)


def test_a_node_that_is_killed_changes_no_verdict(
    nodes: Nodes, index: Callable[..., str], run: Callable[..., Any]
) -> None:
    report, status = run(index(), nodes.all[0].kill)

    assert (outcomes(report), status) == ({Outcome.SCORED}, 0)


def test_an_index_that_is_deleted_is_an_error_of_the_queries_that_follow(
    nodes: Nodes, index: Callable[..., str], run: Callable[..., Any]
) -> None:
    name = index()
    report, status = run(name, lambda: nodes.call("DELETE", f"/{name}"))

    assert Outcome.ERROR in outcomes(report)
    assert Outcome.ZERO_HITS not in outcomes(report)
    assert {verdict.status for verdict in report.verdicts} == {Status.ERROR}
    assert status == 3


@pytest.mark.parametrize("documents", [0, 50, 100])
def test_an_index_that_is_made_again_decides_nothing(
    nodes: Nodes, index: Callable[..., str], run: Callable[..., Any], documents: int
) -> None:
    name = index()

    def make_again() -> None:
        nodes.call("DELETE", f"/{name}")
        index(documents=documents, name=name)

    report, status = run(name, make_again)

    assert {verdict.status for verdict in report.verdicts} <= {Status.INCONCLUSIVE, Status.ERROR}
    assert status == 3


def test_an_alias_that_is_moved_decides_nothing(
    nodes: Nodes, index: Callable[..., str], run: Callable[..., Any]
) -> None:
    one, other = index(), index(documents=50)
    alias = f"{one}-alias"
    nodes.call("POST", "/_aliases", {"actions": [{"add": {"index": one, "alias": alias}}]})
    moves = [{"remove": {"index": one, "alias": alias}}, {"add": {"index": other, "alias": alias}}]

    report, status = run(alias, lambda: nodes.call("POST", "/_aliases", {"actions": moves}))

    assert {verdict.status for verdict in report.verdicts} == {Status.INCONCLUSIVE}
    assert status == 3
