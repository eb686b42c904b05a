"""
The engines that tests of real engines run on.

RELEVANCE_TEST_ELASTICSEARCH holds URLs, comma separated; RELEVANCE_TEST_OPENSEARCH one, without which the embedded node
is started; RELEVANCE_TEST_SECURE a URL, the path of its CA, a user and a password, comma separated; RELEVANCE_TEST_SOLR
the URL of what `python -m builders.solr` has up, without which one is started.

What is not there is skipped with its reason. With RELEVANCE_TEST_REQUIRED=started the embedded node and Solr, which the
tests start, have to be there; with RELEVANCE_TEST_REQUIRED=1 all of them.

`-m engine` selects the tests that are run on each Elasticsearch and OpenSearch. It leaves out what else is here: tests
that need an engine and show the same on each (`one_engine`), which are run on the embedded node only, tests of Solr
alone, the life of the embedded node, and the tests that kill the nodes that RELEVANCE_TEST_NODES names.
"""

from __future__ import annotations

import json
import os
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from builders.nodes import obtain_node
from builders.solr import make_core, obtain_solr, remove_core
from harness.embedded import DEFAULT_VERSION, EmbeddedNode, versions
from harness.embedded.jars import cache_folder
from harness.errors import EngineStartError
from harness.model.request import Cluster
from harness.search.dialects import open_search
from harness.search.engine import EngineSearch

EMBEDDED = "opensearch"
SERVERS = {"engine_url", "opensearch_url", "elasticsearch_urls", "secure_server"}
"""The fixtures that give an Elasticsearch or an OpenSearch, of which there are several versions."""


def missing(reason: str, *, is_started: bool = False) -> NoReturn:
    """Skip the test, or fail it where nothing may be missing, or nothing that the tests start themselves."""
    required = os.environ.get("RELEVANCE_TEST_REQUIRED")
    if required == "1" or (required == "started" and is_started):
        pytest.fail(reason)
    pytest.skip(reason)


def stated_urls() -> list[str]:
    """The Elasticsearch servers that the environment names."""
    return [url.strip() for url in os.environ.get("RELEVANCE_TEST_ELASTICSEARCH", "").split(",") if url.strip()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `engine_url` runs once on each engine, or on one where that shows the same."""
    if "engine_url" in metafunc.fixturenames:
        embedded = pytest.param(EMBEDDED, id=EMBEDDED, marks=[pytest.mark.embedded])
        if metafunc.definition.get_closest_marker("one_engine"):
            metafunc.parametrize("engine_url", [embedded], indirect=True, scope="session")
            return
        marks = [pytest.mark.cluster]
        servers = [pytest.param(url, id=f"elasticsearch{n}", marks=marks) for n, url in enumerate(stated_urls())]
        absent = pytest.param(None, id="elasticsearch", marks=marks)
        metafunc.parametrize("engine_url", [*(servers or [absent]), embedded], indirect=True, scope="session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test that takes one of the servers above asks an engine, which is another on each."""
    if SERVERS & set(getattr(item, "fixturenames", ())) and not item.get_closest_marker("one_engine"):
        item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def elasticsearch_urls() -> list[str]:
    """Elasticsearch servers, at least one."""
    return stated_urls() or missing("RELEVANCE_TEST_ELASTICSEARCH names no server")


@pytest.fixture(scope="session")
def secure_server() -> str:
    """URL, path of ca.crt, user and password of a server with TLS, comma separated."""
    return os.environ.get("RELEVANCE_TEST_SECURE") or missing("RELEVANCE_TEST_SECURE names no server")


@pytest.fixture(scope="session")
def opensearch_url() -> str:
    """An OpenSearch: the one that the environment names, or the embedded node that all workers share."""
    return os.environ.get("RELEVANCE_TEST_OPENSEARCH") or find_node(DEFAULT_VERSION).url


@pytest.fixture(scope="session")
def embedded_node() -> EmbeddedNode:
    """The node that commands with `--embedded` use, and that all workers share."""
    return find_node(DEFAULT_VERSION)


@pytest.fixture(scope="session")
def older_node() -> EmbeddedNode:
    """The node that commands with `--embedded --engine-version 2.19` use, and that all workers share."""
    return find_node(versions()[-1])


def find_node(version: str) -> EmbeddedNode:
    """The embedded node of *version*; skips where it cannot be had."""
    try:
        return obtain_node(version)
    except EngineStartError as error:
        missing(str(error), is_started=True)


@pytest.fixture(scope="session")
def solr_url() -> str:
    """A Solr with the catalogue in the core `products`, which all workers share; no test may change that core."""
    stated = os.environ.get("RELEVANCE_TEST_SOLR")
    try:
        return stated or obtain_solr(cache_folder())
    except EngineStartError as error:
        missing(str(error), is_started=True)


@pytest.fixture
def solr_core(solr_url: str) -> Iterator[Callable[..., str]]:
    """Makes cores with the catalogue's schema and documents of the test's, and removes them."""
    made: list[str] = []

    def make(documents: Iterable[Mapping[str, Any]] = ()) -> str:
        name = f"relevance-test-{uuid.uuid4().hex[:12]}"
        made.append(name)
        make_core(solr_url, name, documents)
        return name

    yield make
    for name in made:
        remove_core(solr_url, name)


@pytest.fixture(scope="session")
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine in turn."""
    if request.param is None:
        missing("RELEVANCE_TEST_ELASTICSEARCH names no server")
    return str(request.getfixturevalue("opensearch_url") if request.param == EMBEDDED else request.param)


@pytest.fixture
def search(engine_url: str) -> Iterator[EngineSearch]:
    """An open door to each engine in turn."""
    with open_search(Cluster("test", url=engine_url, timeout=30.0), {}) as door:
        assert isinstance(door, EngineSearch)
        yield door


def send(search: EngineSearch, method: str, path: str, body: Any = None) -> Any:
    """Send anything to the engine, for what a test has to set up by itself; the answer."""
    data = None if body is None else json.dumps(body).encode()
    answer = search.connection.perform(method, path, body=data)
    assert answer.status < 300, answer.body
    return json.loads(answer.body) if answer.body else None


@pytest.fixture
def call(search: EngineSearch) -> Callable[..., Any]:
    """Sends anything to the engine."""
    return partial(send, search)


@pytest.fixture
def skip_without_module() -> Callable[[str, str], AbstractContextManager[None]]:
    """Skips the test where the server refuses what is in the block, with a text, for lack of a module of its own."""

    @contextmanager
    def skip(module: str, refusal: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            if refusal not in str(error):
                raise
            pytest.skip(f"this node has no {module}, which is a module of its own")

    return skip


def make_index(
    search: EngineSearch, name: str, documents: dict[str, Any], *, mappings: Any = None, settings: Any = None
) -> None:
    send(
        search,
        "PUT",
        f"/{name}",
        {"mappings": mappings or {}, "settings": {"number_of_replicas": 0, **(settings or {})}},
    )
    lines = [line for key, document in documents.items() for line in ({"index": {"_id": key}}, document)]
    if lines:
        body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        added = search.connection.perform("POST", f"/{name}/_bulk?refresh=true", body=body)
        assert json.loads(added.body)["errors"] is False, added.body


@pytest.fixture
def index(search: EngineSearch) -> Iterator[Callable[..., str]]:
    """Makes indexes with documents, and removes them."""
    made: list[str] = []

    def make(documents: dict[str, Any], **rest: Any) -> str:
        name = f"relevance-test-{uuid.uuid4().hex[:12]}"
        made.append(name)
        make_index(search, name, documents, **rest)
        return name

    yield make
    for name in made:
        search.connection.perform("DELETE", f"/{name}")


@pytest.fixture(scope="module")
def kept_index(engine_url: str) -> Iterator[Callable[..., str]]:
    """
    Makes an index as `index` does, once for all tests of a file that ask for the same documents and mappings.

    For tests that only read it: to make and to remove an index takes an engine longer than most tests.
    """
    made: dict[str, str] = {}
    with open_search(Cluster("test", url=engine_url, timeout=30.0), {}) as search:
        assert isinstance(search, EngineSearch)

        def make(documents: dict[str, Any], **rest: Any) -> str:
            content = json.dumps([documents, rest])
            if content not in made:
                name = f"relevance-test-{uuid.uuid4().hex[:12]}"
                make_index(search, name, documents, **rest)
                made[content] = name
            return made[content]

        yield make
        for name in made.values():
            search.connection.perform("DELETE", f"/{name}")


@pytest.fixture(scope="session")
def cranfield() -> Path:
    """The folder of the Cranfield collection."""
    folder = os.environ.get("RELEVANCE_TEST_CRANFIELD")
    if not folder:
        missing("RELEVANCE_TEST_CRANFIELD names no folder")
    return Path(folder)


def send_to(method: str, url: str, body: Any = None) -> Any:
    """Send anything to the address of an engine; the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
