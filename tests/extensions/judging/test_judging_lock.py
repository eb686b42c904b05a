"""One process grades as a judge, and one that was killed keeps nobody out."""

import pytest

pytest.importorskip("fcntl", reason="this system has no locks")

import errno
import json
import signal
import subprocess
import sys
from types import SimpleNamespace

from harness.errors import UsageError
from harness.extensions.judging.judge_lock import lock_judge_file
from harness.files import locks
from harness.files.beside import BesideFile, build_lock_path

HOLD = """
import sys, time
from pathlib import Path
from harness.files.beside import BesideFile
from harness.extensions.judging.judge_lock import lock_judge_file

with lock_judge_file(BesideFile(Path(sys.argv[1])), "anna"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.judged-by.anna.jsonl"


@pytest.fixture
def other_process(path):
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def refuse(path):
    """The message to a second process."""
    with pytest.raises(UsageError) as refusal, lock_judge_file(BesideFile(path), "anna"):
        raise AssertionError
    return str(refusal.value)


def test_the_message_names_the_process_that_grades(path, other_process):
    said = refuse(path)
    assert said.startswith(f"{path}: process {other_process.pid}, started 20")
    remedy = "finish on its page or end it with Ctrl-C, or grade under another name with --judge"
    assert said.endswith(f", grades as anna already; {remedy}")
    with lock_judge_file(BesideFile(path.with_name("shop.judged-by.bob.jsonl")), "bob") as is_held:
        assert is_held


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_that_ended_in_any_way_keeps_nobody_out(path, other_process, sent):
    other_process.send_signal(sent)
    other_process.wait()
    assert build_lock_path(path).exists() == (sent != signal.SIGINT)
    with lock_judge_file(BesideFile(path), "anna") as is_held:
        assert is_held
    assert not build_lock_path(path).exists()


@pytest.mark.parametrize("owner", ["", "{", "[" * 900, "1", '{"process": "x"}', '{"process": 1, "host": "a"}'])
def test_what_is_no_owner_is_another_process(path, owner):
    with lock_judge_file(BesideFile(path), "anna"):
        build_lock_path(path).write_text(owner)
        assert ": another process grades as anna already; " in refuse(path)


def test_an_owner_on_another_machine_is_named_with_it(path):
    with lock_judge_file(BesideFile(path), "anna"):
        owner = {"process": 7, "host": "desk", "started": "2026-01-02T03:04:05+00:00"}
        build_lock_path(path).write_text(json.dumps(owner))
        assert ": process 7 on desk, started 2026-01-0" in refuse(path)


def test_a_lock_that_its_owner_removed_meanwhile_is_made_anew(path, monkeypatch):
    """The owner ends between the opening of the file and the lock on it."""
    flock = locks.flock
    removed = []

    def lock(file, operation):
        if not removed:
            removed.append(build_lock_path(path).unlink())
        flock.flock(file, operation)

    fake = SimpleNamespace(flock=lock, LOCK_EX=flock.LOCK_EX, LOCK_NB=flock.LOCK_NB)
    monkeypatch.setattr(locks, "flock", fake)
    with lock_judge_file(BesideFile(path), "anna"):
        assert build_lock_path(path).exists()
        assert "grades as anna already" in refuse(path)


def test_a_disk_without_locks_is_said(path, monkeypatch):
    def fail(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "flock", SimpleNamespace(flock=fail, LOCK_EX=2, LOCK_NB=4))
    with lock_judge_file(BesideFile(path), "anna") as is_held:
        assert not is_held


def test_a_link_in_place_of_the_lock_is_refused_and_what_it_leads_to_stays(path, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("words")
    build_lock_path(path).symlink_to(precious)
    said = refuse(path)
    assert "this lock cannot be opened: " in said
    assert said.endswith("; remove this file, or choose another folder with --progress")
    assert precious.read_text() == "words"
