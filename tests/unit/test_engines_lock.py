import re
from pathlib import Path

import pytest

from harness.embedded.lock import LOCK_FOLDER, Jar, Lock, dump_lock, load_lock, parse_lock, versions
from harness.errors import EngineStartError, UsageError

SHA = "0" * 64
HEAD = 'server = "Solr"\nversion = "1"\nroots = []\n'
LOCK = Lock("OpenSearch", "3.8.0", ("a.b:root:1",), (Jar("a.b:root:1", 10, SHA), Jar("a.b.c:leaf:2.0-x", 20, "f" * 64)))


def test_a_lock_survives_being_written_and_read() -> None:
    assert parse_lock(dump_lock(LOCK), name="x.lock.toml") == LOCK


def test_a_jar_is_one_line_so_that_a_change_is_a_small_diff() -> None:
    assert [line for line in dump_lock(LOCK).splitlines() if "a.b.c:leaf" in line] == [
        f'  {{ coordinate = "a.b.c:leaf:2.0-x", size = 20, sha256 = "{"f" * 64}" }},'
    ]


def test_a_jar_lies_where_a_maven_repository_keeps_it() -> None:
    assert LOCK.jars[1].path == Path("a/b/c/leaf/2.0-x/leaf-2.0-x.jar")
    assert LOCK.size == 30


def test_the_newest_version_comes_first_by_number() -> None:
    assert versions() == ("3.8", "2.19")


@pytest.mark.parametrize("version", versions())
def test_each_committed_lock_is_what_the_script_writes(version: str) -> None:
    text = (LOCK_FOLDER / f"opensearch-{version}.lock.toml").read_text()
    lock = load_lock(version)
    assert dump_lock(lock) == text
    assert lock.version.startswith(f"{version}.")


@pytest.mark.parametrize("version", versions())
def test_each_committed_lock_names_jars_once_with_a_checksum_and_no_host(version: str) -> None:
    lock = load_lock(version)
    coordinates = [jar.coordinate for jar in lock.jars]
    assert set(lock.roots) <= set(coordinates)
    assert len(set(coordinates)) == len(coordinates)
    assert all(re.fullmatch(r"[0-9a-f]{64}", jar.sha256) and jar.size > 0 for jar in lock.jars)
    assert "//" not in (LOCK_FOLDER / f"opensearch-{version}.lock.toml").read_text()


def test_an_unknown_version_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        load_lock("2.9")
    assert str(caught.value) == "found engine version 2.9, expected 3.8 or 2.19; did you mean '2.19'?"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("jars = [", "Invalid"),
        ("roots = []\njars = []\n", "'server' is missing"),
        (HEAD + 'jars = [{ coordinate = "a:b:1", size = 1 }]\n', "'sha256' is missing"),
        (HEAD + 'jars = [{ coordinate = "a:b:1", size = "x", sha256 = "" }]\n', "invalid literal"),
        (HEAD + "jars = [1]\n", "not subscriptable"),
    ],
)
def test_a_damaged_lock_says_which_file_and_what_to_do(text: str, reason: str) -> None:
    with pytest.raises(EngineStartError, match=f"(?s)^x.lock.toml: not a lock file.*{reason}.*reinstall"):
        parse_lock(text, name="x.lock.toml")
