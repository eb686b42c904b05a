"""Building a suite's own index when something comes in between; the server is a small one in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from harness.errors import EngineUnreachable, FixtureError, LoginRefused, SuiteError
from harness.model.run import Engine
from harness.model.suite import Fixture, Mark
from harness.search.connection import Answer, ConnectionClosed
from harness.search.engine import EngineSearch
from harness.search.fixtures import Times, ensure_index, read_recipe
from harness.search.indexes import KEY, Marker, read_marker
from harness.search.server_health import Clock, Retries

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Server:
    """Indexes in memory; *before* may answer a call, change something or raise before the call is served."""

    nodes = 1

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.slept: list[float] = []
        self.before: Callable[[str, bytes], Answer | None] = lambda call, body: None

    def perform(
        self, method: str, path: str, *, body: bytes | None = None, mime: str = "", timeout: float | None = None
    ) -> Answer:
        call = f"{method} {unquote(path)}"
        self.calls.append(call)
        early = self.before(call, body or b"")
        if early is not None:
            return early
        place, _, _ = path.partition("?")
        index, _, action = unquote(place).strip("/").partition("/")
        serve: Callable[[str, bytes], Answer] = getattr(self, f"{method.lower()}_{action.strip('_') or 'index'}")
        return serve(index, body or b"")

    def get_mapping(self, pattern: str, body: bytes) -> Answer:
        found = {
            name: {"mappings": {"_meta": held["meta"]}} for name, held in self.indexes.items() if fnmatch(name, pattern)
        }
        return reply(found) if found or "*" in pattern else reply({}, 404)

    def put_index(self, index: str, body: bytes) -> Answer:
        if index in self.indexes:
            error = {"type": "resource_already_exists_exception", "reason": f"index [{index}] already exists"}
            return reply({"error": error, "status": 400}, 400)
        self.indexes[index] = {"meta": json.loads(body)["mappings"]["_meta"], "documents": {}}
        return reply({"acknowledged": True, "shards_acknowledged": True})

    def put_mapping(self, index: str, body: bytes) -> Answer:
        self.indexes[index]["meta"] = json.loads(body)["_meta"]
        return reply({})

    def delete_index(self, index: str, body: bytes) -> Answer:
        return reply({}) if self.indexes.pop(index, None) else reply({}, 404)

    def post_bulk(self, index: str, body: bytes) -> Answer:
        lines = [json.loads(line) for line in body.splitlines()]
        pairs = [(header["index"]["_id"], document) for header, document in zip(lines[::2], lines[1::2], strict=True)]
        self.indexes[index]["documents"].update(pairs)
        return bulk_reply([201] * len(pairs), [identity for identity, _ in pairs])

    def post_refresh(self, index: str, body: bytes) -> Answer:
        return reply({})

    def get_count(self, index: str, body: bytes) -> Answer:
        return counted(len(self.indexes[index]["documents"]))

    has_login = True

    def mask(self, text: str) -> str:
        return text.replace("hunter2", "${PASSWORD}")

    def close(self) -> None:
        return


def reply(content: Any, status: int = 200, **headers: str) -> Answer:
    return Answer(status, json.dumps(content).encode(), headers)


def bulk_reply(statuses: Sequence[Any], ids: Sequence[Any] | None = None, **more: Any) -> Answer:
    """The answer to a bulk request: of the documents d0, d1 …, or of those of *ids*, each with its status."""
    named = zip(ids or [f"d{n}" for n in range(len(statuses))], statuses, strict=True)
    items = [
        {"_id": identity, "status": status} | ({} if status == 201 else {"error": {"type": "x", "reason": "no"}})
        for identity, status in named
    ]
    errors = any(status != 201 for status in statuses)
    return reply({"took": 1, "errors": errors, "items": [{"index": item} for item in items], **more})


def counted(count: int, **shards: int) -> Answer:
    return reply({"count": count, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0, **shards}})


REST = [201] * 498


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [json.dumps({"id": f"d{n}", "n": n}) for n in range(1100)]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.fixture
def index(folder: Path) -> str:
    return read_recipe(Fixture("d.jsonl"), folder, "products").index


def ensure(server: Server, folder: Path, *, allow_write: bool = True, documents: str = "d.jsonl") -> str:
    time = iter(range(10_000))
    clock = Clock(now=lambda: float(next(time)), sleep=server.slept.append, chance=lambda: 0.5)
    search = EngineSearch(server, Engine("opensearch"), retries=Retries(attempts=3, clock=clock))
    times = Times(clock=clock, today=lambda: NOW)
    fixture = Fixture(documents, mark=Mark("shop.relevance.yaml", 3, 1))
    return ensure_index(search, fixture, folder, "products", allow_write=allow_write, times=times)


def marker(server: Server, index: str) -> Marker:
    found = read_marker(server.indexes[index]["meta"])
    assert found is not None
    return found


def test_is_built_in_chunks_and_marked_after_each(server: Server, folder: Path, index: str) -> None:
    steps: list[tuple[int, bool]] = []

    def watch(call: str, body: bytes) -> None:
        if call == f"PUT /{index}/_mapping":
            held = json.loads(body)["_meta"][KEY]
            steps.append((held["indexed"], held["complete"]))

    server.before = watch

    assert ensure(server, folder) == index
    assert steps == [(500, False), (1000, False), (1100, False), (1100, True)]
    assert len(server.indexes[index]["documents"]) == 1100
    assert marker(server, index).used == NOW.isoformat()


def test_no_pipeline_of_the_cluster_sees_the_documents(server: Server, folder: Path, index: str) -> None:
    created: list[dict[str, Any]] = []

    def watch(call: str, body: bytes) -> None:
        if call == f"PUT /{index}":
            created.append(json.loads(body)["settings"])

    server.before = watch
    ensure(server, folder)
    # An index template of the cluster may name pipelines for any index.
    [settings] = created
    assert (settings["index.default_pipeline"], settings["index.final_pipeline"]) == ("_none", "_none")
    bulk_calls = [call for call in server.calls if "/_bulk" in call]
    assert bulk_calls == [f"POST /{index}/_bulk?pipeline=_none"] * 3


def test_documents_that_the_engine_is_too_busy_for_are_sent_again_alone(
    server: Server, folder: Path, index: str
) -> None:
    sent: list[int] = []

    def turn_away(call: str, body: bytes) -> Answer | None:
        if not call.partition("?")[0].endswith("/_bulk"):
            return None
        ids = [json.loads(line)["index"]["_id"] for line in body.splitlines()[::2]]
        sent.append(len(ids))
        if len(sent) > 1:
            return None
        server.post_bulk(index, b"\n".join(body.splitlines()[:-4]))
        return bulk_reply([*REST, 429, 429], ids)

    server.before = turn_away

    ensure(server, folder)

    assert sent == [500, 2, 500, 100]
    assert len(server.indexes[index]["documents"]) == 1100


def test_an_engine_that_stays_too_busy_leaves_no_half_of_an_index(server: Server, folder: Path) -> None:
    def busy(call: str, body: bytes) -> Answer | None:
        return bulk_reply([429] * (len(body.splitlines()) // 2)) if call.partition("?")[0].endswith("/_bulk") else None

    server.before = busy

    with pytest.raises(FixtureError, match=r"too busy to index 500 documents of .*: "):
        ensure(server, folder)
    assert server.indexes == {}


def test_a_busy_call_is_made_again_when_the_server_says(server: Server, folder: Path, index: str) -> None:
    answers = iter([reply({}, 503, **{"retry-after": "4"})])
    server.before = lambda call, body: next(answers, None) if call == f"PUT /{index}" else None

    assert ensure(server, folder) == index
    assert server.slept == [4.25]


def test_an_index_whose_creation_was_never_answered_is_built_by_who_created_it(
    server: Server, folder: Path, index: str
) -> None:
    lost = iter([True])

    def hang_up(call: str, body: bytes) -> None:
        if call == f"PUT /{index}" and next(lost, False):
            server.put_index(index, body)
            raise ConnectionClosed("it closed the connection")

    server.before = hang_up

    assert ensure(server, folder) == index
    assert server.calls.count(f"PUT /{index}") == 2
    assert not any(call.startswith("DELETE") for call in server.calls)
    assert len(server.indexes[index]["documents"]) == 1100


@pytest.mark.parametrize("error", [EngineUnreachable("gone"), KeyboardInterrupt()])
def test_an_end_in_the_middle_leaves_no_half_of_an_index(
    server: Server, folder: Path, index: str, error: BaseException
) -> None:
    def end(call: str, body: bytes) -> None:
        if call.partition("?")[0].endswith("/_bulk") and b"d700" in body:
            raise error

    server.before = end

    with pytest.raises(type(error)):
        ensure(server, folder)
    assert server.indexes == {}


def test_that_the_rest_cannot_be_removed_hides_nothing(server: Server, folder: Path) -> None:
    def fail(call: str, body: bytes) -> None:
        if call.partition("?")[0].endswith("/_bulk"):
            raise EngineUnreachable("the first reason")
        if call.startswith("DELETE"):
            raise EngineUnreachable("the second reason")

    server.before = fail

    with pytest.raises(EngineUnreachable, match="the first reason"):
        ensure(server, folder)


def test_a_builder_that_was_taken_for_gone_lets_the_other_finish(server: Server, folder: Path, index: str) -> None:
    """Another process finds our marker still, removes the index, and builds it: we wait for it and keep off."""
    takeovers = iter([True])

    def take_over(call: str, body: bytes) -> None:
        if call == f"GET /{index}/_mapping?filter_path=*.mappings._meta" and index in server.indexes:
            ours = read_marker(server.indexes[index]["meta"])
            assert ours is not None
            if ours.indexed == 500 and next(takeovers, False):
                documents: dict[str, Any] = {f"d{n}": {} for n in range(1100)}
                theirs = replace(ours, build="theirs", indexed=1100, complete=True)
                server.indexes[index] = {"meta": {KEY: asdict(theirs)}, "documents": documents}

    server.before = take_over

    assert ensure(server, folder) == index
    assert marker(server, index).build == "theirs"
    assert not any(call.startswith("DELETE") for call in server.calls)


def test_who_creates_it_first_builds_it_and_the_other_waits(server: Server, folder: Path, index: str) -> None:
    recipe = read_recipe(Fixture("d.jsonl"), folder, "products")
    theirs = Marker("products", recipe.fingerprint, "theirs", 0, False, NOW.isoformat())
    race = iter([True])

    def create_first(call: str, body: bytes) -> None:
        if call == f"PUT /{index}" and next(race, False):
            server.indexes[index] = {"meta": {KEY: asdict(theirs)}, "documents": {}}
        elif len(server.slept) == 3 and not marker(server, index).complete:
            server.indexes[index]["meta"] = {KEY: asdict(replace(theirs, complete=True))}

    server.before = create_first

    assert ensure(server, folder) == index
    assert not any(call.partition("?")[0].endswith("/_bulk") for call in server.calls)
    assert set(server.slept) == {0.5}


def test_an_index_whose_shards_no_node_takes_is_removed(server: Server, folder: Path, index: str) -> None:
    def create_only(call: str, body: bytes) -> Answer | None:
        if call != f"PUT /{index}":
            return None
        server.put_index(index, body)
        return reply({"acknowledged": True, "shards_acknowledged": False})

    server.before = create_only

    with pytest.raises(FixtureError, match="shards were not allocated"):
        ensure(server, folder)
    assert server.indexes == {}


def test_an_index_of_other_files_by_the_same_name_is_refused(server: Server, folder: Path, index: str) -> None:
    other = Marker("products", "0" * 64, "b", 1, True, NOW.isoformat())
    server.indexes[index] = {"meta": {KEY: asdict(other)}, "documents": {}}

    with pytest.raises(FixtureError, match="other files"):
        ensure(server, folder)


def test_documents_that_went_missing_are_noticed(server: Server, folder: Path) -> None:
    server.before = lambda call, body: counted(1099) if call.endswith("/_count") else None

    with pytest.raises(FixtureError, match="should have 1100 documents, but has 1099"):
        ensure(server, folder)
    assert server.indexes == {}


def test_housekeeping_that_fails_fails_no_run(server: Server, folder: Path, index: str) -> None:
    ensure(server, folder)
    refused = reply({"error": {"type": "security_exception", "reason": "no"}}, 403)
    server.before = lambda call, body: refused if "products-*" in call or call.startswith("PUT") else None

    assert ensure(server, folder) == index


@pytest.mark.parametrize(
    ("call", "answer", "error", "words"),
    [
        ("PUT /products", reply({"error": "no"}, 403), LoginRefused, "create_index"),
        ("GET /products", reply({"error": "no"}, 401), LoginRefused, "privileges"),
        (
            "PUT /products",
            reply({"error": {"type": "cluster_block_exception", "reason": "[FORBIDDEN/10/cluster create-index]"}}, 403),
            FixtureError,
            r"refuses PUT .* status 403: cluster_block_exception: .* remove this block",
        ),
        ("PUT /products", reply({"error": {"type": "x", "reason": "hunter2"}}, 400), FixtureError, "PASSWORD"),
        (
            "PUT /products",
            reply({"error": {"type": "mapper_parsing_exception", "reason": "no hunter2 handler"}}, 400),
            SuiteError,
            r"shop\.relevance\.yaml:3:1: the index .* status 400: .* handler",
        ),
        (
            "POST /products",
            bulk_reply([400, 400, *REST]),
            SuiteError,
            r":1:1: the engine refuses the document: .*\n.*:2:1: ",
        ),
        ("POST /products", bulk_reply([400, 403, *REST]), FixtureError, ":2:1: the engine refuses"),
        (
            "PUT /products",
            reply({"error": {"type": "invalid_index_name_exception", "reason": "bad"}}, 400),
            FixtureError,
            "bad",
        ),
        ("PUT /products", reply({"shards_acknowledged": False}), FixtureError, "shards were not allocated"),
        ("PUT /products", reply({}), FixtureError, "shards were not allocated"),
        ("PUT /products", reply({}, 206), FixtureError, "refuses PUT .* status 206"),
        ("PUT /products", reply({"error": "oh"}, 500), FixtureError, "refuses PUT"),
        ("GET /products", Answer(200, b"<html>"), FixtureError, "not JSON"),
        ("POST /products", reply({"items": []}), FixtureError, "the result of each document"),
        ("POST /products", reply({}), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([201] * 499), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([201] * 500, ["d0"] * 500), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([201] * 500, errors=True), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([201] * 500, errors=None), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([400, 400, *REST], errors=False), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply(["201", 201, *REST]), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([True, 201, *REST]), FixtureError, "the result of each document"),
        ("POST /products", bulk_reply([100, 201, *REST]), FixtureError, "the result of each document"),
    ],
)
def test_answers_that_are_none(
    server: Server, folder: Path, call: str, answer: Answer, error: type[Exception], words: str
) -> None:
    server.before = lambda made, body: answer if made.startswith(call) else None

    with pytest.raises(error, match=words) as caught:
        ensure(server, folder)
    assert "hunter2" not in str(caught.value)


def test_the_reason_of_an_engine_is_not_told_for_a_file_that_errors_must_not_quote(
    server: Server, folder: Path
) -> None:
    (folder / "d.jsonl").rename(folder / "token.txt")
    server.before = lambda made, _: bulk_reply([400, 400, *REST]) if made.startswith("POST /products") else None
    with pytest.raises(
        SuiteError, match=r"token\.txt:1:1: this is not as expected; what was found is not shown"
    ) as caught:
        ensure(server, folder, documents="token.txt")
    assert "the engine refuses" not in str(caught.value)


@pytest.mark.parametrize(
    ("suite", "used", "stays"),
    [
        ("products", "2026-11-21T10:59:00+00:00", False),
        ("products", "2026-11-21T11:01:00+00:00", True),
        ("products", "long ago", False),
        ("Products", "2020-01-01T00:00:00+00:00", True),
    ],
)
def test_a_build_makes_room_if_it_is_this_suites_and_was_not_used_for_an_hour(
    server: Server, folder: Path, suite: str, used: str, stays: bool
) -> None:
    old = "products-0123456789ab"
    marked = Marker(suite, "0123456789ab" + "0" * 52, "b", 0, True, used)
    server.indexes[old] = {"meta": {KEY: asdict(marked)}, "documents": {}}

    ensure(server, folder)

    assert (old in server.indexes) is stays


LONG_AGO = "2020-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("other", "meta"),
    [
        ("products-0123456789ab", {}),
        ("products-0123456789ab", {KEY: {"made_by": "somebody"}}),
        ("products-copy", {KEY: asdict(Marker("products", "0" * 64, "b", 0, True, LONG_AGO))}),
        ("products-0123456789ab-copy", {KEY: asdict(Marker("products", "0" * 64, "b", 0, True, LONG_AGO))}),
        ("products-20260101abcd", {KEY: asdict(Marker("products", "0" * 64, "b", 0, True, LONG_AGO))}),
    ],
    ids=[
        "of our name without our mark",
        "of our name with a mark of theirs",
        "a copy",
        "a copy of a copy",
        "a copy whose name ends as ours do",
    ],
)
def test_an_index_that_only_looks_like_an_old_build_stays(
    server: Server, folder: Path, index: str, other: str, meta: dict[str, Any]
) -> None:
    server.indexes[other] = {"meta": meta, "documents": {}}

    assert ensure(server, folder) == index
    assert sorted(server.indexes) == sorted([index, other])


def test_an_alias_of_that_name_is_left_as_it_is(server: Server, folder: Path, index: str) -> None:
    behind = {"mappings": {"_meta": {KEY: asdict(Marker("products", "0" * 64, "b", 1, True, LONG_AGO))}}}
    server.before = lambda call, body: reply({"behind-the-alias": behind}) if "_mapping" in call else None

    with pytest.raises(FixtureError, match=f'"{index}" exists, but the harness did not create it'):
        ensure(server, folder)
    assert {call.partition(" ")[0] for call in server.calls} == {"GET"}


def test_an_index_that_somebody_wrote_to_is_not_reused(server: Server, folder: Path, index: str) -> None:
    ensure(server, folder)
    server.indexes[index]["documents"]["theirs"] = {}

    with pytest.raises(FixtureError, match="was built with 1100 documents, but has 1101"):
        ensure(server, folder)
    assert "theirs" in server.indexes[index]["documents"]


def test_a_builder_that_fails_after_it_was_taken_for_gone_removes_nothing(
    server: Server, folder: Path, index: str
) -> None:
    def take_over_and_fail(call: str, body: bytes) -> None:
        if call.partition("?")[0].endswith("/_bulk"):
            theirs = replace(marker(server, index), build="theirs")
            server.indexes[index] = {"meta": {KEY: asdict(theirs)}, "documents": {}}
            raise EngineUnreachable("gone")

    server.before = take_over_and_fail

    with pytest.raises(EngineUnreachable):
        ensure(server, folder)
    assert marker(server, index).build == "theirs"


def test_a_marker_whose_time_has_no_zone_is_read(server: Server, folder: Path, index: str) -> None:
    ensure(server, folder)
    server.indexes[index]["meta"] = {KEY: asdict(replace(marker(server, index), used="2026-11-21T11:00:00"))}

    assert ensure(server, folder) == index
    assert marker(server, index).used == NOW.isoformat()
