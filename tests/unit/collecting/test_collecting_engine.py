"""Who starts the embedded node of a session, how often, and who ends it. The node itself is tested on real ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import harness.embedded
from harness.errors import EngineStartError
from harness.pytest_plugin.node import LocalNode, NodeHost, RemoteNode


@dataclass
class Engines:
    """Stands for `harness.embedded`: what was started and ended, what runs in the background, why nothing can start."""

    running: dict[str, str] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    error: Exception | None = None

    @contextmanager
    def start(self, version: str) -> Iterator[object]:
        self.events.append(f"start {version}")
        if self.error is not None:
            raise self.error
        yield Address(f"http://127.0.0.1:1/{version}")
        self.events.append(f"end {version}")

    def find_running(self, version: str) -> object | None:
        return Address(self.running[version]) if version in self.running else None


@dataclass(frozen=True)
class Address:
    url: str


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    stand_in = Engines()
    monkeypatch.setattr(harness.embedded, "start", stand_in.start, raising=False)
    monkeypatch.setattr(harness.embedded, "find_running", stand_in.find_running, raising=False)
    return stand_in


def test_a_node_starts_when_it_is_first_needed_and_once(engines: Engines) -> None:
    node = LocalNode("2.19")
    assert engines.events == []

    assert node.obtain_url() == node.obtain_url() == "http://127.0.0.1:1/2.19"
    assert engines.events == ["start 2.19"]

    node.close()
    assert engines.events == ["start 2.19", "end 2.19"]


def test_without_a_version_it_is_the_default_one(engines: Engines) -> None:
    assert LocalNode(None).obtain_url().endswith(harness.embedded.DEFAULT_VERSION)


def test_what_was_not_needed_is_not_started(engines: Engines) -> None:
    LocalNode("3.8").close()

    assert engines.events == []


def test_a_node_in_the_background_is_used_and_left_running(engines: Engines) -> None:
    engines.running["3.8"] = "http://127.0.0.1:2"
    node = LocalNode("3.8")

    assert node.obtain_url() == "http://127.0.0.1:2"
    node.close()

    assert engines.events == []


def test_a_start_that_failed_is_not_tried_again(engines: Engines) -> None:
    engines.error = EngineStartError("no Java")
    node = LocalNode("3.8")

    for _ in range(2):
        with pytest.raises(EngineStartError, match="no Java"):
            node.obtain_url()

    assert engines.events == ["start 3.8"]


def test_workers_share_the_controllers_node(engines: Engines, tmp_path: Path) -> None:
    host = NodeHost(LocalNode("3.8"), tmp_path)
    urls: list[str] = []
    workers = [threading.Thread(target=lambda: urls.append(RemoteNode(tmp_path).obtain_url())) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert urls == ["http://127.0.0.1:1/3.8"] * 3
    assert engines.events == ["start 3.8"]
    RemoteNode(tmp_path).close()
    assert engines.events == ["start 3.8"]

    host.close()
    assert engines.events == ["start 3.8", "end 3.8"]


def test_where_no_worker_asks_the_controller_starts_nothing(engines: Engines, tmp_path: Path) -> None:
    NodeHost(LocalNode("3.8"), tmp_path).close()

    assert engines.events == []


@pytest.mark.parametrize("error", [EngineStartError("no Java"), OSError("no space left")])
def test_workers_are_told_why_there_is_no_node(engines: Engines, tmp_path: Path, error: Exception) -> None:
    engines.error = error
    host = NodeHost(LocalNode("3.8"), tmp_path)

    for _ in range(2):
        with pytest.raises(EngineStartError, match=str(error)):
            RemoteNode(tmp_path).obtain_url()
    host.close()

    assert json.loads((tmp_path / "node.answer").read_text(encoding="utf-8"))["error"].strip().endswith(str(error))
    assert engines.events == ["start 3.8"]
