"""What all tests share."""

import gc
import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Before anything loads numpy: its threads wait for each other in a loop, which takes three times the processor time of
# the arrays here, and the workers are as many as the cores. Processes that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from builders.nodes import host_nodes
from builders.solr import OWNER_VARIABLE, stop_solr
from harness.embedded.jars import CACHE_VARIABLE, cache_folder
from harness.store.baseline import CI_VARIABLES

pytest_plugins = [
    "pytester",
    "builders.engine_fixtures",
    "builders.browser_fixtures",
    "builders.other_browsers",
    "builders.docstrings",
    "builders.fixtures",
    "builders.pictures",
]

# Two workers and an engine share a machine: how long an example takes proves nothing.
# Hypothesis takes 100 examples by default; half of them keep .ci/run short.
# A build that fails for a rare example, which no change brought, stops the wrong person: the examples are the same each
# time. `pytest --hypothesis-profile=search` looks for others.
settings.register_profile("search", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("tests", settings.get_profile("search"), max_examples=50, derandomize=True)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden outputs anew")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """
    With `--dist loadgroup` one worker runs all tests that need the browser, one those of a file on one engine, and one
    those of the history, most of which read the same 300 runs.

    Such tests share what is dear to set up. Marks would say the same, but pytest-xdist 3.8 does not find them under
    pytest 9.2 (pytest-dev/pytest-xdist#1386).

    All other tests are given out a file at a time. With a group for each test the controller would compare each with
    all that ran before, which takes as long as a thousand tests.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    # What takes longest is collected first: the browser, the engines, the plugin, the commands. The files with the most
    # tests, which would come first otherwise, take little.
    config.option.loadscopereorder = False
    return Grouped(config, log)


def _group(nodeid: str) -> str:
    path, _, test = nodeid.partition("::")
    if "/browser/" in path:
        return "browser"
    if "/extensions/history/" in path:
        return "history"
    if "/cluster/" in path:
        return path + "".join(re.findall(r"elasticsearch\d*|opensearch", test.partition("[")[2]))
    return path


def pytest_configure(config: pytest.Config) -> None:
    _heed_signals()
    if not hasattr(config, "workerinput"):
        _own_engines(config)


def _heed_signals() -> None:
    """
    Let Ctrl-C and the end of a terminal reach the processes that tests start.

    A shell starts jobs in the background with SIGINT ignored, nohup starts them with SIGHUP ignored, and every process
    below inherits that.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _own_engines(config: pytest.Config) -> None:
    """
    Have one embedded node of each version and one Solr for all tests, apart from those that a developer has up.

    The process that owns it is the only one, or the controller of pytest-xdist: workers end at different times, and a
    node ends with its owner, however that ends. The first test that asks starts it; see `builders.nodes` and
    `builders.solr`.
    """
    jars = cache_folder() / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="relevance-tests-"))
    (folder / "jars").symlink_to(jars)
    os.environ[CACHE_VARIABLE] = str(folder)  # workers inherit both
    os.environ[OWNER_VARIABLE] = str(os.getpid())
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.add_cleanup(lambda: stop_solr(folder))
    host_nodes(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """
    Leave what is collected, which stays until the end, out of each search for reference cycles, and search seldom.

    With Python's own thresholds, which search after 700 objects, tests take a tenth longer.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 50, 100)
        gc.enable()


SECONDS_TO_HANG = 300
"""How long a test may take. It says nothing of speed: the slowest take a few seconds, and minutes on a busy machine."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that hangs, where it hangs; a signal reaches waits for locks, sockets and processes too."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        return (yield)

    def fail_where_it_hangs(*_: object) -> None:
        pytest.fail(f"{item.nodeid} took more than {SECONDS_TO_HANG} s")

    before = signal.signal(signal.SIGALRM, fail_where_it_hangs)
    signal.alarm(SECONDS_TO_HANG)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True, scope="session")
def _outside_of_ci() -> Iterator[None]:
    """What saves a baseline is refused in CI, and the tests of it run there."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CI_VARIABLES:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _without_waiting_for_the_disk() -> Iterator[None]:
    """What is kept of grades and trials waits for the disk after each line; no test pulls the plug."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield
