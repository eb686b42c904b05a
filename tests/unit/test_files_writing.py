"""Files are written whole; what a killed process left is removed by the next one that writes the same file."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from harness.files import locks, writing
from harness.files.folders import Folder
from harness.files.judge_files import JudgeFile
from harness.files.writing import PRIVATE, create_part, write_whole

WRITER = """
import sys
from pathlib import Path
from harness.files.writing import write_whole

def wait_in_the_middle():
    yield "x" * 100_000
    print("begun", flush=True)
    sys.stdin.readline()
    yield "end"

write_whole(Path(sys.argv[1]), wait_in_the_middle(), rights=int(sys.argv[2], 8))
"""


def start_writer(path, rights="600"):
    """A process that has begun to write *path*, and ends it with a line on its standard input."""
    command = [sys.executable, "-c", WRITER, str(path), rights]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def read_rights(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("name", ["k.json", "[k] *.csv", "päron.journal"])
@pytest.mark.parametrize("rights", [None, 0o644, 0o444])
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_file(tmp_path, name, rights):
    path = tmp_path / name
    if rights is not None:
        path.write_text("before")
        path.chmod(rights)
    for _ in range(2):
        kill(start_writer(path))
    [part] = [left for left in tmp_path.iterdir() if left != path]
    assert read_rights(part) == (rights or 0o600)
    assert path.exists() == (rights is not None)
    write_whole(path, "after")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "after"


def test_what_another_process_is_writing_stays(tmp_path):
    path = tmp_path / "k.json"
    process = start_writer(path)
    write_whole(path, "first")
    assert len(list(tmp_path.iterdir())) == 2
    process.communicate(b"\n")
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text().endswith("end")


def test_only_parts_of_the_same_file_are_removed(tmp_path):
    others = [
        ".k.json.20261125", ".k.json.deadbeef", ".k.json.deadbeef.part.bak", ".k.json.DEADBEEF.part",
        ".kxjson.deadbeef.part", ".other.json.deadbeef.part", "k.json.deadbeef.part", ".k.json.journal.deadbeef.part",
    ]  # fmt: skip
    for name in others:
        (tmp_path / name).write_text("kept")
    (tmp_path / ".k.json.deadbee1.part").symlink_to(tmp_path / others[0])
    (tmp_path / ".k.json.deadbee2.part").mkdir()
    os.mkfifo(tmp_path / ".k.json.deadbee3.part")
    before = {path.name for path in tmp_path.iterdir()}
    (tmp_path / ".k.json.deadbee4.part").write_text("left")
    write_whole(tmp_path / "k.json", "{}")
    assert {path.name for path in tmp_path.iterdir()} == before | {"k.json"}


def test_a_part_that_was_taken_for_one_that_was_left_is_made_again(tmp_path, monkeypatch):
    lock, removed = locks.flock.flock, []

    def remove_once(file, operation):
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        lock(file, operation)

    monkeypatch.setattr(locks.flock, "flock", remove_once)
    write_whole(tmp_path / "k.json", "{}")
    assert removed
    assert (tmp_path / "k.json").read_text() == "{}"


@pytest.mark.parametrize("has_locks", [True, False])
def test_a_disk_and_a_system_without_locks_can_be_written(tmp_path, monkeypatch, has_locks):
    class NoLocks:
        LOCK_EX = LOCK_NB = 0

        def flock(self, *_):
            raise OSError(95, "not supported")

    monkeypatch.setattr(locks, "flock", NoLocks() if has_locks else None)
    left = tmp_path / ".k.json.deadbeef.part"
    left.touch()
    write_whole(tmp_path / "k.json", "{}")
    assert (tmp_path / "k.json").read_text() == "{}"
    assert left.exists()


@pytest.mark.parametrize("rights", [0o600, 0o640, 0o644, 0o666])
def test_an_existing_file_keeps_the_rights_that_it_was_given(tmp_path, rights):
    path = tmp_path / "pool.csv"
    path.touch()
    path.chmod(rights)
    write_whole(path, "query", rights=PRIVATE)
    assert read_rights(path) == rights
    part = create_part(Folder(path.parent), path.name, PRIVATE)
    with part.file:
        assert read_rights(tmp_path / part.name) == rights


def test_a_new_file_is_private_where_that_is_asked_for(tmp_path):
    write_whole(tmp_path / "pool.csv", "query", rights=PRIVATE)
    write_whole(tmp_path / "report.json", "{}")
    assert read_rights(tmp_path / "pool.csv") == 0o600
    assert read_rights(tmp_path / "report.json") == 0o644


@pytest.mark.parametrize("rights", [None, 0o600, 0o664])
def test_a_judges_file_is_private_unless_the_user_says_otherwise(tmp_path, rights):
    path = tmp_path / "shop.judged-by.anna.jsonl"
    if rights is not None:
        path.touch()
        path.chmod(rights)
    judge_file = JudgeFile.read(path)
    judge_file.check_writable()
    judge_file.grade(("q", "d"), 2.0)
    judge_file.grade(("q", "e"), 1.0)
    assert read_rights(path) == (rights or 0o600)
    assert JudgeFile.read(path).grades == {("q", "d"): 2, ("q", "e"): 1}


def test_a_part_that_another_process_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    path = tmp_path / "k.json"
    path.write_text("old")
    path.chmod(0o640)
    made = []

    class Unsafe(Folder):
        def open_file(self, name, flags, rights=0o600):
            descriptor = super().open_file(name, flags, rights)
            made.append(name)
            if len(made) == 1:
                self.remove(name)
            return descriptor

    monkeypatch.setattr(writing, "Folder", Unsafe)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(set(made)) == 2
