"""
TLS and logins on a real engine.

The user of RELEVANCE_TEST_SECURE may create API keys and roles.
"""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.errors import EngineUnreachable, FixtureError, LoginRefused
from harness.gate.stability import explain_changed_target
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Definitions, Engine, Failure, Ranking, Run
from harness.model.suite import Fixture
from harness.search.definitions import find_references
from harness.search.dialects import open_search
from harness.search.engine import EngineSearch
from harness.search.fixtures import ensure_index

pytestmark = pytest.mark.cluster


@dataclass(frozen=True)
class Secure:
    """A server with TLS and a superuser."""

    url: str
    ca: str
    user: str
    password: str

    def cluster(self, **more: Any) -> Cluster:
        """It, trusted by its CA, with no login."""
        return Cluster("secure", **{"url": self.url, "ca_certs": self.ca, **more})

    def admin(self) -> EngineSearch:
        """An open door for the superuser."""
        door = open_search(self.cluster(username_env="U", password_env="P"), {"U": self.user, "P": self.password})
        assert isinstance(door, EngineSearch)
        return door


@pytest.fixture(scope="module")
def secure(secure_server: str) -> Secure:
    return Secure(*secure_server.split(",", 3))


@pytest.fixture(scope="module")
def call(secure: Secure) -> Iterator[Callable[..., Any]]:
    """Sends anything as the superuser."""
    with secure.admin() as door:

        def send(method: str, path: str, body: Any = None) -> Any:
            data = None if body is None else json.dumps(body).encode()
            answer = door.connection.perform(method, path, body=data)
            assert answer.status < 300, answer.body
            return json.loads(answer.body)

        yield send


@pytest.fixture(scope="module")
def index(call: Callable[..., Any]) -> Iterator[str]:
    name = f"relevance-test-secure-{uuid.uuid4().hex[:8]}"
    call("PUT", f"/{name}/_doc/1?refresh=true", {"title": "red shoes"})
    yield name
    call("DELETE", f"/{name}")


@pytest.fixture
def api_key(call: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, str]]:
    """Makes API keys with one role."""

    def make(role: dict[str, Any]) -> dict[str, str]:
        made = call("POST", "/_security/api_key", {"name": f"test-{uuid.uuid4().hex}", "role_descriptors": {"r": role}})
        return dict(made)

    return make


def read_only(index: str) -> dict[str, Any]:
    return {"cluster": [], "indices": [{"names": [index], "privileges": ["read"]}]}


def one_search(door: Any, index: str) -> Any:
    return door.search([SearchRequest("q", index, {"query": {"match": {"title": "shoes"}}})])[0]


def test_user_and_password(secure: Secure, index: str) -> None:
    with secure.admin() as door:
        assert door.engine.kind == "elasticsearch"
        response = one_search(door, index)

    assert isinstance(response, Ranking)
    assert [hit.id for hit in response.hits] == ["1"]


def test_a_wrong_password(secure: Secure) -> None:
    cluster = secure.cluster(username_env="U", password_env="P")

    with pytest.raises(LoginRefused, match="unable to authenticate user") as caught:
        open_search(cluster, {"U": secure.user, "P": "not-the-password"})
    assert "not-the-password" not in str(caught.value)


def test_no_login(secure: Secure) -> None:
    with pytest.raises(LoginRefused, match="missing authentication credentials"):
        open_search(secure.cluster(), {})


@pytest.mark.parametrize("form", ["encoded", "id:key"])
def test_an_api_key_that_may_only_read_the_index(
    secure: Secure, index: str, api_key: Callable[..., dict[str, str]], form: str
) -> None:
    made = api_key(read_only(index))
    key = made["encoded"] if form == "encoded" else f"{made['id']}:{made['api_key']}"
    cluster = secure.cluster(api_key_env="KEY")

    with open_search(cluster, {"KEY": key}) as door:
        assert door.engine == Engine("elasticsearch")
        assert isinstance(one_search(door, index), Ranking)
    with open_search(cluster, {"KEY": key}, engine="elasticsearch 9.4.3") as door:
        assert isinstance(one_search(door, index), Ranking)


def test_a_login_that_may_only_read_sees_documents_that_become_visible(
    secure: Secure, index: str, call: Callable[..., Any], api_key: Callable[..., dict[str, str]]
) -> None:
    key = api_key(read_only(index))["encoded"]
    references = find_references({"query": {"script_score": {"script": {"id": "boost"}}}}, {})
    with open_search(secure.cluster(api_key_env="KEY"), {"KEY": key}) as door:
        before = door.index_state(index, timeout=5.0, url_params={})
        call("PUT", f"/{index}/_doc/1?refresh=true", {"title": "red shoes"})
        after = door.index_state(index, timeout=5.0, url_params={})
        definitions = door.read_definitions(index, references, timeout=5.0, url_params={})
    assert (before.uuids, before.visible, before.documents) == (None, None, after.documents)
    assert "became visible" in explain_changed_target(Run({}, door.engine, states=(before, after)))
    assert definitions == Definitions(unread=("the settings", "the stored script boost", "the mapping"))


def test_an_api_key_that_may_read_another_index(
    secure: Secure, index: str, api_key: Callable[..., dict[str, str]]
) -> None:
    key = api_key(read_only("another"))["encoded"]

    with (
        open_search(secure.cluster(api_key_env="KEY"), {"KEY": key}, engine="elasticsearch 9") as door,
        pytest.raises(LoginRefused, match="privilege `read`"),
    ):
        one_search(door, index)


def test_one_index_that_may_not_be_read_fails_its_query_alone(
    secure: Secure, index: str, api_key: Callable[..., dict[str, str]]
) -> None:
    key = api_key(read_only(index))["encoded"]

    with open_search(secure.cluster(api_key_env="KEY"), {"KEY": key}, engine="elasticsearch 9") as door:
        mine, other = door.search([SearchRequest("a", index, {}), SearchRequest("b", "another", {})])

    assert isinstance(mine, Ranking)
    assert isinstance(other, Failure)
    assert other.status == 403


def test_a_wrong_api_key(secure: Secure) -> None:
    key = base64.b64encode(b"nobody:secret-key-1").decode()

    with pytest.raises(LoginRefused) as caught:
        open_search(secure.cluster(api_key_env="KEY"), {"KEY": key})
    assert key not in str(caught.value)


def test_an_api_key_that_expired(secure: Secure, call: Callable[..., Any]) -> None:
    made = call("POST", "/_security/api_key", {"name": f"test-{uuid.uuid4().hex}", "expiration": "1ms"})
    time.sleep(0.01)

    with pytest.raises(LoginRefused, match="has an API key not expired"):
        open_search(secure.cluster(api_key_env="KEY"), {"KEY": made["encoded"]})


def test_a_wrong_ca(secure: Secure, tmp_path: Path) -> None:
    import trustme

    trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))

    with pytest.raises(EngineUnreachable, match="not trusted"):
        open_search(secure.cluster(ca_certs=str(tmp_path / "other.pem")), {})


def test_no_ca(secure: Secure) -> None:
    with pytest.raises(EngineUnreachable, match="`ca_certs`"):
        open_search(secure.cluster(ca_certs=None), {})


def fingerprint(secure: Secure) -> str:
    place = urlsplit(secure.url)
    assert place.hostname is not None
    certificate = ssl.get_server_certificate((place.hostname, place.port or 443))
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest()


@pytest.mark.parametrize("separator", ["", ":"])
def test_a_fingerprint(secure: Secure, separator: str) -> None:
    digits = fingerprint(secure)
    pinned = separator.join(digits[place : place + 2] for place in range(0, 64, 2))
    cluster = secure.cluster(ca_certs=None, fingerprint=pinned, username_env="U", password_env="P")

    with open_search(cluster, {"U": secure.user, "P": secure.password}) as door:
        assert door.engine.kind == "elasticsearch"


def test_a_wrong_fingerprint(secure: Secure) -> None:
    with pytest.raises(EngineUnreachable, match="differs from `fingerprint`"):
        open_search(secure.cluster(ca_certs=None, fingerprint="ab" * 32), {})


def test_a_plain_url_to_a_server_with_tls(secure: Secure) -> None:
    with pytest.raises(EngineUnreachable, match="https://"):
        open_search(Cluster("plain", url=secure.url.replace("https://", "http://")), {})


def test_an_index_of_its_own_needs_the_privileges_that_the_docs_name(
    secure: Secure, api_key: Callable[..., dict[str, str]], tmp_path: Path, call: Callable[..., Any]
) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": "a", "title": "red shoes"}\n')
    fixture, name = Fixture("d.jsonl"), f"relevance-test-{uuid.uuid4().hex[:8]}"
    builder = {
        "cluster": [],
        "indices": [
            {"names": [f"{name}-*"], "privileges": ["create_index", "delete_index", "manage", "read", "write"]}
        ],
    }
    reader = {"cluster": [], "indices": [{"names": [f"{name}-*"], "privileges": ["read", "view_index_metadata"]}]}
    cluster = secure.cluster(api_key_env="KEY", engine="elasticsearch 9")

    with (
        open_search(cluster, {"KEY": api_key(read_only(f"{name}-*"))["encoded"]}) as door,
        pytest.raises(LoginRefused, match="create_index"),
    ):
        ensure_index(door, fixture, tmp_path, name, allow_write=True)
    with open_search(cluster, {"KEY": api_key(builder)["encoded"]}) as door:
        index = ensure_index(door, fixture, tmp_path, name, allow_write=True)
        assert isinstance(one_search(door, index), Ranking)
    with open_search(cluster, {"KEY": api_key(reader)["encoded"]}) as door:
        assert ensure_index(door, fixture, tmp_path, name, allow_write=False) == index
        with pytest.raises(FixtureError, match="only with allow_write"):
            ensure_index(door, replace(fixture, id_field="title"), tmp_path, name, allow_write=False)
    call("DELETE", f"/{index}")
