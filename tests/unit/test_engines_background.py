"""The states of background nodes; a sleeping process stands in for the node where none has to answer."""

import pytest

pytest.importorskip("jpype")

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from harness import embedded as background
from harness.embedded import EmbeddedNode, down, find_running, open_node, status, up
from harness.embedded.state import make_state_folder, write_state
from harness.errors import EngineStartError, UsageError

Pretend = Callable[..., EmbeddedNode]


SERVER = """
import http.server, json, sys
answer = json.dumps({"name": sys.argv[1]}).encode()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("platformdirs.user_runtime_path", lambda *_, **__: tmp_path / "runtime")
    return make_state_folder()


@pytest.fixture
def pretend(states: Path, tmp_path: Path) -> Iterator[Pretend]:
    """Write a state, with a process that answers as *answers*; with *ours* its command line has the node's folder."""
    processes = []

    def write(version: str = "3.8", *, ours: bool = True, answers: str | None = None, **changed: Any) -> EmbeddedNode:
        home, name = tmp_path / f"relevance-node-{version}", f"relevance-{version}"
        home.mkdir()
        (home / "node.log").write_text("started")
        (home / "node.json").write_text(json.dumps({"name": name}))
        command = [sys.executable, "-c", SERVER, answers or name, *([str(home)] if ours else [])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        processes.append(process)
        assert process.stdout is not None
        port = int(process.stdout.readline())  # from here on its command line is the one above
        state = EmbeddedNode(f"http://127.0.0.1:{port}", version, process.pid, home, name)
        write_state(state)
        file = states / f"{version}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **changed}, default=str))
        return state

    yield write
    for process in processes:
        process.kill()
        process.communicate()


def alive(state: EmbeddedNode) -> bool:
    return find_running(state.version) == state


def is_process_alive(state: EmbeddedNode) -> bool:
    return psutil.pid_exists(state.pid) and psutil.Process(state.pid).status() != psutil.STATUS_ZOMBIE


def test_nothing_runs_where_nothing_was_started(states: Path) -> None:
    assert find_running("3.8") is None
    assert status() == ()
    assert down() == ()


def test_status_lists_every_version_newest_first(pretend: Pretend) -> None:
    older, newer = pretend("2.19"), pretend("3.8")
    assert status() == (newer, older)
    assert newer.log.read_text() == "started"


def test_up_finds_the_node_that_runs_and_starts_no_other(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    state = pretend()
    monkeypatch.setattr(background, "launch", lambda *_, **__: pytest.fail("a second node was started"))
    assert up("3.8") == state
    assert up("3.8", int(state.url.rpartition(":")[2])) == state


def test_up_on_another_port_than_the_one_that_runs_is_refused(pretend: Pretend) -> None:
    state = pretend()
    with pytest.raises(UsageError, match=f"already runs at {state.url}: stop it with .* port 9999"):
        up("3.8", 9999)


def test_down_ends_the_process_and_removes_data_and_state(pretend: Pretend, states: Path) -> None:
    state = pretend()
    assert down() == (state,)
    assert not alive(state)
    assert not state.home.exists()
    assert not (states / "3.8.json").exists()
    assert down() == ()


def test_down_of_one_version_leaves_the_other(pretend: Pretend) -> None:
    older, newer = pretend("2.19"), pretend("3.8")
    assert down("2.19") == (older,)
    assert status() == (newer,)


def test_a_process_that_got_the_id_of_a_dead_node_is_not_taken_for_it_and_not_ended(pretend: Pretend) -> None:
    state = pretend(ours=False)
    assert find_running("3.8") is None
    assert down() == ()
    assert not state.home.exists()
    assert psutil.Process(state.pid).status() != psutil.STATUS_ZOMBIE


def test_a_node_that_died_is_not_found_and_its_folder_goes(pretend: Pretend, states: Path) -> None:
    state = pretend()
    psutil.Process(state.pid).kill()
    psutil.wait_procs([psutil.Process(state.pid)], timeout=10)
    assert find_running("3.8") is None
    assert down() == ()
    assert not state.home.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": "x"}', '{"url": "x", "colour": 1}'])
def test_a_state_that_is_not_ours_counts_as_none(states: Path, text: str) -> None:
    (states / "3.8.json").write_text(text)
    assert find_running("3.8") is None
    assert status() == down() == ()


def test_open_node_takes_the_node_that_runs_and_leaves_it_running(pretend: Pretend) -> None:
    state = pretend()
    with open_node("3.8") as url:
        assert url == state.url
    assert alive(state)


@pytest.mark.parametrize("call", [up, lambda version: open_node(version).__enter__()])
def test_an_unknown_version_is_refused_before_anything_is_started(states: Path, call: Callable[[str], object]) -> None:
    with pytest.raises(UsageError, match=r"found engine version 1\.0, expected 3\.8 or 2\.19"):
        call("1.0")


def test_a_node_of_another_environment_needs_the_extra_to_be_looked_at(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend()
    monkeypatch.setattr("harness.embedded.jars.MODULES", ("no_such_bridge",))
    with pytest.raises(EngineStartError, match="no_such_bridge"):
        find_running("3.8")


def test_up_needs_the_extra(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.embedded.jars.MODULES", ("no_such_bridge",))
    with pytest.raises(EngineStartError, match="no_such_bridge"):
        up()


# What a state file must not bring about, whoever wrote it.


def test_a_state_in_the_cache_folder_counts_as_none(pretend: Pretend, states: Path, tmp_path: Path) -> None:
    """A cache may come with a checkout, as that of GitLab does."""
    state = pretend()
    nodes = tmp_path / "cache" / "nodes"
    nodes.mkdir(parents=True)
    (states / "3.8.json").rename(nodes / "3.8.json")
    assert find_running("3.8") is None
    assert status() == down() == ()
    assert is_process_alive(state)
    assert state.home.exists()
    assert (nodes / "3.8.json").exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "http://attacker.example:9200"},
        {"url": "http://127.0.0.1:9200@attacker.example"},
        {"url": "https://127.0.0.1:9200"},
        {"pid": 0},
        {"pid": -1},
        {"pid": "all"},
        {"pid": os.getpid()},
        {"started": 0},
        {"started": None},
        {"name": ""},
    ],
)
def test_a_state_that_does_not_hold_is_not_followed(pretend: Pretend, changed: dict[str, Any]) -> None:
    state = pretend(**changed)
    assert find_running("3.8") is None
    assert down() == ()
    assert is_process_alive(state)


@pytest.mark.parametrize("answers", ["relevance-other", "Node 1"])
def test_another_node_at_the_url_is_not_searched(pretend: Pretend, answers: str) -> None:
    pretend(answers=answers)
    assert find_running("3.8") is None
    assert status() == ()


def test_a_node_that_does_not_answer_is_not_searched_and_can_be_stopped(pretend: Pretend) -> None:
    state = pretend(url="http://127.0.0.1:1")
    assert find_running("3.8") is None
    [stopped] = down()
    assert stopped.pid == state.pid
    assert not is_process_alive(state)


def test_up_stops_a_node_that_does_not_answer(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    state = pretend(answers="relevance-other")
    monkeypatch.setattr(background, "_launch", lambda *_, **__: state)
    up()
    assert not is_process_alive(state)


@pytest.mark.parametrize("name", ["photos", "relevance-node-of-another", "relevance-node-link"])
def test_only_a_folder_that_was_made_for_the_node_is_deleted(pretend: Pretend, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    if name.endswith("link"):
        folder.symlink_to(tmp_path / "relevance-node-3.8")
    else:
        folder.mkdir()
        (folder / "node.json").write_text('{"name": "relevance-of-another"}')
    state = pretend(home=folder)
    assert down() == ()
    assert folder.exists()
    assert (folder / "node.json").exists()
    assert is_process_alive(state)


@pytest.mark.skipif(sys.platform == "win32", reason="the rights of POSIX")
@pytest.mark.parametrize("level", ["folder", "above"])
def test_states_that_others_can_write_are_not_read(pretend: Pretend, states: Path, level: str) -> None:
    state = pretend()
    (states if level == "folder" else states.parent).chmod(0o777)
    assert find_running("3.8") is None
    assert down() == ()
    assert is_process_alive(state)
    with pytest.raises(EngineStartError, match=r"others can write to it; remove it, or .* XDG_RUNTIME_DIR"):
        up()


@pytest.mark.skipif(sys.platform == "win32", reason="the rights of POSIX")
def test_states_of_another_user_are_not_read(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    state = pretend()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert find_running("3.8") is None
    assert down() == ()
    assert is_process_alive(state)
    with pytest.raises(EngineStartError, match="belongs to another user"):
        up()


def test_a_link_in_place_of_the_folder_is_not_followed(pretend: Pretend, states: Path, tmp_path: Path) -> None:
    state = pretend()
    states.rename(tmp_path / "elsewhere")
    states.symlink_to(tmp_path / "elsewhere")
    assert find_running("3.8") is None
    assert down() == ()
    assert is_process_alive(state)


def test_each_cache_folder_has_nodes_of_its_own(
    pretend: Pretend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = pretend()
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(tmp_path / "other-cache"))
    assert status() == down() == ()
    assert is_process_alive(state)
