"""``relevance engine`` as a user types it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import requests

from harness.embedded.jars import cache_folder

pytestmark = pytest.mark.embedded

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Command]:
    """Runs the command with states of its own and the jars of everybody."""
    (tmp_path / "jars").symlink_to(cache_folder() / "jars")
    environment = {**os.environ, "RELEVANCE_CACHE_DIR": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "harness", "engine", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)

    yield run
    run("down")


def test_a_node_is_started_found_shown_and_stopped(engine: Command) -> None:
    started = engine("up", "--engine-version", "2.19")
    assert started.returncode == 0, started.stderr
    url = started.stdout.strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
    assert requests.get(url, timeout=60).json()["version"]["number"].startswith("2.19.")

    assert engine("up", "--engine-version", "2.19", "--quiet").stdout == f"{url}\n"
    status = engine("status").stdout
    assert status.startswith(f"OpenSearch 2.19 at {url}, process ")
    process = int(re.findall(r"process (\d+)", status)[0])
    assert psutil.pid_exists(process)
    elsewhere = engine("up", "--engine-version", "2.19", "--port", "9")
    assert elsewhere.returncode == 2
    assert f"already runs at {url}" in elsewhere.stderr

    assert engine("down").stdout == f"stopped OpenSearch 2.19 at {url}\n"
    assert not psutil.pid_exists(process)
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=60)


def test_where_none_runs_status_says_so_and_fails(engine: Command) -> None:
    answer = engine("status")
    assert answer.returncode == 3
    assert "relevance engine up" in answer.stdout
    assert engine("down").returncode == 0


@pytest.mark.parametrize("command", ["up", "down"])
def test_an_unknown_version_is_a_wrong_command_line(engine: Command, command: str) -> None:
    answer = engine(command, "--engine-version", "2.9")
    assert answer.returncode == 2
    assert "2.19" in answer.stderr
    assert "Traceback" not in answer.stderr
