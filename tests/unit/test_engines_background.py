"""The states of background nodes; a sleeping process stands in for the node where none has to answer."""

import pytest

pytest.importorskip("jpype")

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from harness import embedded as background
from harness.embedded import EmbeddedNode, down, find_running, open_node, status, up
from harness.errors import EngineStartError, UsageError

Pretend = Callable[..., EmbeddedNode]


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "nodes"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def pretend(states: Path, tmp_path: Path) -> Iterator[Pretend]:
    """Write a state, with a process that sleeps; only *ours* names the node's folder on its command line."""
    processes = []

    def write(version: str = "3.8", *, ours: bool = True) -> EmbeddedNode:
        home = tmp_path / f"home-{version}"
        home.mkdir()
        (home / "node.log").write_text("started")
        sleep = "import time; print(flush=True); time.sleep(600)"
        command = [sys.executable, "-c", sleep, *([str(home)] if ours else [])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        processes.append(process)
        assert process.stdout is not None
        process.stdout.readline()  # from here on its command line is the one above
        state = EmbeddedNode("http://127.0.0.1:1", version, process.pid, home)
        record = {"url": state.url, "version": version, "pid": process.pid, "home": str(home)}
        (states / f"{version}.json").write_text(json.dumps(record))
        return state

    yield write
    for process in processes:
        process.kill()
        process.communicate()


def alive(state: EmbeddedNode) -> bool:
    return find_running(state.version) == state


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
    assert up("3.8", 1) == state


def test_up_on_another_port_than_the_one_that_runs_is_refused(pretend: Pretend) -> None:
    pretend()
    with pytest.raises(UsageError, match=r"already runs at http://127\.0\.0\.1:1: stop it with .* port 9999"):
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
