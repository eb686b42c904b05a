"""The embedded node: it is a whole OpenSearch, only this machine reaches it, and it always ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from builders.engine_fixtures import find_node
from builders.waiting import wait_until
from harness.embedded import DEFAULT_VERSION, EmbeddedNode, start, versions
from harness.embedded.jars import cache_folder
from harness.embedded.process import launch
from harness.errors import EngineStartError

pytestmark = pytest.mark.embedded

PATIENCE = 60.0  # seconds; a node ends within one, on a machine that is not busy


@pytest.fixture(params=versions())
def node(request: pytest.FixtureRequest) -> EmbeddedNode:
    """The node of each version that all tests share; how a node ends is shown by nodes of their own below."""
    return find_node(request.param)


def call(node: EmbeddedNode, method: str, path: str, body: object = None, status: int = 200) -> Any:
    answer = requests.request(method, f"{node.url}/{path}", json=body, timeout=60)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_it_says_the_version_that_was_asked_for(node: EmbeddedNode) -> None:
    answer = call(node, "GET", "")
    assert answer["version"]["distribution"] == "opensearch"
    assert answer["version"]["number"].startswith(f"{node.version}.")


def test_only_this_machine_reaches_it(node: EmbeddedNode) -> None:
    sockets = psutil.Process(node.pid).net_connections(kind="tcp")
    listening = {s.laddr.ip.removeprefix("::ffff:") for s in sockets if s.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}


def send_raw(port: int, headers: dict[str, str], request_line: str) -> str:
    """The answer to exactly these headers: clients of HTTP set Host themselves."""
    lines = [request_line, *(f"{name}: {value}" for name, value in headers.items()), "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()


def test_requests_of_web_pages_are_refused(node: EmbeddedNode) -> None:
    call(node, "PUT", "kept/_doc/1?refresh=true", {}, status=201)
    host = node.url.removeprefix("http://")
    port = int(host.rpartition(":")[2])
    refused: list[dict[str, str]] = [
        {},
        {"Host": f"rebound.example:{port}"},
        {"host": "rebound.example", "origin": "http://rebound.example"},
        {"Host": host, "Origin": "http://evil"},
        {"Host": host, "origin": "null"},
        {"Host": host, "Origin": "http://localhost:3000"},
    ]
    requests_of_pages = (
        "POST /kept/_delete_by_query?q=*",
        "DELETE /kept",
        "GET /kept/_search",
        "OPTIONS /",
        "GET /%zz",
    )
    for headers in refused:
        for request in requests_of_pages:
            answer = send_raw(port, headers, f"{request} HTTP/1.1")
            assert answer.startswith("HTTP/1.1 403 "), (headers, request, answer)
            assert "the header" in answer
    assert call(node, "GET", "kept/_count")["count"] == 1
    for allowed in (host, f"localhost:{port}", "[::1]:9200", "127.0.0.1:1"):
        for headers in ({"Host": allowed}, {"Host": allowed, "Origin": f"http://{allowed}"}):
            assert send_raw(port, headers, "GET /kept/_count HTTP/1.1").startswith("HTTP/1.1 200 ")
            # What OpenSearch itself refuses is still told by it.
            assert send_raw(port, headers, "GET /kept/_count?x=1 HTTP/1.1").startswith("HTTP/1.1 400 ")
    call(node, "DELETE", "kept")


def test_it_has_the_modules_of_the_engine(node: EmbeddedNode) -> None:
    mapping = {"mappings": {"properties": {"title": {"type": "text", "analyzer": "english"}, "n": {"type": "integer"}}}}
    call(node, "PUT", "shoes", mapping)
    for number, title in enumerate(["red running shoes", "blue shoes", "a shirt"]):
        call(node, "PUT", f"shoes/_doc/{number}?refresh=true", {"title": title, "n": number}, status=201)
    query = {"match": {"title": "run shoe"}}
    rank_eval = {
        "requests": [
            {"id": "q", "request": {"query": query}, "ratings": [{"_index": "shoes", "_id": "0", "rating": 1}]}
        ],
        "metric": {"precision": {"k": 2}},
    }
    assert call(node, "POST", "shoes/_rank_eval", rank_eval)["metric_score"] == 0.5
    # A fraction of a rating is cut off: docs/reference/measures.md says so of the profile.
    rank_eval["requests"][0]["ratings"][0]["rating"] = 1.9
    rank_eval["metric"] = {"dcg": {"k": 1}}
    assert call(node, "POST", "shoes/_rank_eval", rank_eval)["metric_score"] == 1.0
    template = {"source": {"query": {"match": {"title": "{{text}}"}}}, "params": {"text": "shirts"}}
    assert [hit["_id"] for hit in call(node, "POST", "shoes/_search/template", template)["hits"]["hits"]] == ["2"]
    scored = {"query": {"script_score": {"query": query, "script": {"source": "doc['n'].value + 1"}}}}
    assert [hit["_score"] for hit in call(node, "POST", "shoes/_search", scored)["hits"]["hits"]] == [2.0, 1.0]
    call(node, "DELETE", "shoes")


def test_its_folder_holds_all_that_it_writes(node: EmbeddedNode) -> None:
    assert (node.home / "node.log").stat().st_size > 0
    written = {Path(file.path) for file in psutil.Process(node.pid).open_files() if "w" in file.mode}
    assert all(path.is_relative_to(node.home) for path in written if path.is_file()), written
    assert not Path(f"/tmp/.java_pid{node.pid}").exists()  # where a Java machine listens for tools that attach


def test_a_port_that_is_taken_is_in_the_error() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        with pytest.raises(EngineStartError, match=f"port {port} of 127.0.0.1 is taken"):
            launch(DEFAULT_VERSION, port=port, background=False)


PARENT = textwrap.dedent(
    """
    import json, sys, time
    from harness.embedded import start
    with start() as node:
        print(json.dumps({"pid": node.pid, "home": str(node.home)}), flush=True)
        time.sleep(600)
    """
)


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds a node; a session of its own lets a signal reach all of its group, as Ctrl-C does."""
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, start_new_session=True)
    yield process
    process.kill()
    process.communicate()


def held(parent: subprocess.Popen[bytes]) -> tuple[psutil.Process, Path]:
    assert parent.stdout is not None
    node = json.loads(parent.stdout.readline())
    return psutil.Process(node["pid"]), Path(node["home"])


def test_a_node_ends_when_its_parent_is_killed(parent: subprocess.Popen[bytes]) -> None:
    node, home = held(parent)
    parent.kill()
    parent.wait(PATIENCE)
    wait_until(lambda: not node.is_running(), PATIENCE)
    assert not home.exists()


def test_ctrl_c_ends_the_node_before_its_parent(parent: subprocess.Popen[bytes]) -> None:
    node, home = held(parent)
    os.killpg(parent.pid, signal.SIGINT)
    assert parent.wait(PATIENCE) in (-signal.SIGINT, 130)
    assert not node.is_running()
    assert not home.exists()


@pytest.mark.parametrize("code", [PARENT, "from harness.embedded import up; up()"], ids=["start", "up"])
def test_a_parent_killed_while_the_node_starts_leaves_nothing(tmp_path: Path, code: str) -> None:
    (tmp_path / "jars").symlink_to(cache_folder() / "jars")
    environment = {**os.environ, "TMPDIR": str(tmp_path), "RELEVANCE_CACHE_DIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, env=environment)
    wait_until(lambda: any(tmp_path.glob("relevance-node-*/data")), PATIENCE)
    (child,) = psutil.Process(process.pid).children()
    process.kill()
    process.wait()
    wait_until(lambda: not child.is_running(), PATIENCE)
    assert list(tmp_path.glob("relevance-node-*")) == []


def test_a_node_that_is_killed_leaves_nothing_once_its_parent_ends() -> None:
    with start() as running:
        psutil.Process(running.pid).kill()
    assert not running.home.exists()
