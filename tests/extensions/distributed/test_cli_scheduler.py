"""The parts of a run on a Dask cluster of two processes, one of which is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.extras import skip_without
from builders.journaled import QUERIES, SUITE, engine_of_shop, report_at
from harness.cli import main
from harness.extensions.distributed import scheduler
from harness.extensions.distributed.scheduler import is_scheduler_verified, list_command_words
from harness.options import RunOptions
from harness.run import Matrix

skip_without("distributed")


QUIET = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False", "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s"}
"""Otherwise a cluster looks a hundred times a second at what its threads do, and whether it is late."""


@pytest.fixture
def engine(working_folder):
    with engine_of_shop() as engine:
        yield engine


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """The scheduler's address, and two workers of one thread, of which a test may kill one."""
    service = tmp_path_factory.mktemp("cluster") / "scheduler.json"

    def start(what, *words):
        command = [sys.executable, "-m", "distributed.cli." + what, *words, "--no-dashboard"]
        environ = os.environ | QUIET
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environ)

    scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(service))
    while not service.exists():
        assert scheduler.poll() is None
        time.sleep(0.05)
    address = report_at(service)["address"]
    both = [start("dask_worker", address, "--nthreads", "1", "--no-nanny") for _ in range(2)]
    try:
        assert all(any("Registered to" in line for line in worker.stderr) for worker in both)
        yield address, both
    finally:
        for process in (*both, scheduler):
            process.kill()
            process.communicate()


def run(*words):
    """`relevance run` in a process of its own, as Dask's threads are not to outlive a test."""
    command = [sys.executable, "-m", "harness", "run", SUITE, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_run_on_workers_equals_one_process(engine, workers):
    """A run on workers is that of one process, although one of them is killed."""
    whole = main(["run", SUITE, "--url", engine.url, "--output", "json=whole.json"])
    engine.asked.clear()
    address, (first, _) = workers
    searched = threading.Event()

    def kill_one_of_two():
        if not searched.is_set():
            searched.set()
            os.kill(first.pid, signal.SIGKILL)

    engine.before_search = kill_one_of_two
    spread = run("--url", engine.url, "--output", "json=spread.json", "--scheduler", address)

    assert first.wait() == -signal.SIGKILL
    assert spread.returncode == whole == 1
    assert report_at(Path("spread.json")) == report_at(Path("whole.json"))
    assert len(engine.asked) == QUERIES
    assert spread.stderr.count(" is done") >= 2


def test_folder_scored_on_workers(engine, workers, capsys):
    """The files of a folder are scored on workers as they are here."""
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    import pyarrow.parquet as parquet
    from pyarrow import table

    judged = {"query": ["a", "b"], "document": ["x", "y"], "grade": [1, 2]}
    parquet.write_table(table(judged), "qrels.parquet")
    Path("run").mkdir()
    for query in ("a", "b"):
        hits = {"query": [query] * 2, "document": ["y", "x"], "score": [2.0, 1.0]}
        parquet.write_table(table(hits), f"run/{query}.parquet")
    words = ["evaluate", "--qrels", "qrels.parquet", "--run", "run", "--measure", "AP", "--json"]
    assert main(words) == 0
    here = capsys.readouterr().out
    command = [sys.executable, "-m", "harness", *words, "--scheduler", workers[0]]
    there = subprocess.run(command, capture_output=True, text=True, check=True)
    assert here == there.stdout
    assert '"mean": 0.75' in here


class OneWorker:
    """A client whose tasks run here when their result is asked for."""

    def nthreads(self):
        return {"worker": 1}

    def submit(self, task, *arguments, pure):
        return SimpleNamespace(result=lambda: task(*arguments))


def test_what_is_wrong_on_a_worker_is_said(engine, monkeypatch, capsys):
    monkeypatch.setattr(scheduler, "_connect", lambda address: nullcontext(OneWorker()))
    Path("relevance.toml").write_text("[clusters.default]\nurl = 3\n", encoding="utf-8")
    assert main(["run", SUITE, "--scheduler", "tcp://127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "ended with 2 on a worker: " in told
    assert "relevance.toml" in told


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--shard", "1/2", "--journal", "j"], 2, "--scheduler makes parts of its own"),
        (["--resume"], 2, "--scheduler makes parts of its own"),
        (["--embedded"], 2, "an embedded node answers on its own machine only"),
    ],
)
def test_what_cannot_be_with_a_scheduler_is_refused(engine, words, status, told, capsys):
    assert main(["run", SUITE, "--scheduler", "tcp://127.0.0.1:1", *words]) == status
    assert told in capsys.readouterr().err


def test_workers_send_what_was_asked_for():
    options = RunOptions(url="http://es:9200", tags=("head", "tail"), allow_write=True, budget=3.0)
    assert list_command_words(options, Matrix(("a",), ("v1", "v2"))) == [
        "--url=http://es:9200", "--request=a", "--index=v1", "--index=v2", "--tag=head", "--tag=tail", "--allow-write",
        "--budget=3.0",
    ]  # fmt: skip
    assert list_command_words(RunOptions(), Matrix(all_requests=True)) == ["--all-requests"]


@pytest.mark.parametrize(
    ("address", "is_verified"),
    [
        ("tcp://127.0.0.1:8786", True),
        ("localhost:8786", True),
        ("LOCALHOST:8786", True),
        ("tcp://[::1]:8786", True),
        ("ws://127.0.0.1:8786", True),
        ("tls://dask.internal:8786", True),
        ("wss://dask.internal:8786", True),
        ("tcp://10.0.0.1:8786", False),
        ("10.0.0.1:8786", False),
        ("dask.internal:8786", False),
        ("ws://dask.internal:8786", False),
        ("ucx://10.0.0.1:8786", False),
        ("tcp://localhost.internal:8786", False),
        ("tcp://127.0.0.1@10.0.0.1:8786", False),
        ("tcp://[::1:8786", False),
        ("", False),
    ],
)
def test_remote_scheduler_needs_tls(address, is_verified):
    """A scheduler on another machine is verified by TLS only."""
    assert is_scheduler_verified(address) is is_verified


@pytest.mark.parametrize(
    "command", [["run", SUITE], ["evaluate", "--measure", "AP", "--qrels", "qrels", "--run", "run"]]
)
@pytest.mark.parametrize(("address", "is_warned"), [("tcp://10.0.0.1:8786", True), ("tls://10.0.0.1:8786", False)])
def test_unverified_scheduler_warned_of(command, address, is_warned, engine, monkeypatch, capsys):
    """A scheduler that nothing verifies is warned of."""
    import distributed

    def refuse(*_, **__):
        raise OSError("refused")

    for folder in ("qrels", "run"):
        Path(folder).mkdir()
        Path(folder, "a.parquet").touch()
    monkeypatch.setattr(distributed, "Client", refuse)
    assert main([*command, "--scheduler", address]) == 3
    told = capsys.readouterr().err
    assert ("can run code on this machine" in told) is is_warned
    assert f"the scheduler {address} does not answer" in told


def test_tls_without_certificates(engine, capsys):
    """The error of an address of TLS without certificates names where they belong."""
    assert main(["run", SUITE, "--scheduler", "tls://127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "tls://127.0.0.1:1 needs certificates in Dask's configuration: distributed.comm.tls.ca-file" in told
    assert "internal error" not in told
