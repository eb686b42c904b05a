"""Servers, and the requests that they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.model.suite import HttpRequest, Json, Mark, Query


class AddressOrigin(Enum):
    """Who wrote the address of a server. A suite may come from somebody who may not use the login of its owner."""

    SUITE = "suite"
    """The suite itself, or a file beside it."""
    CONFIGURATION = "configuration"
    """The configuration of the person who runs the harness."""
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach a server; logins are given as names of environment variables, never as values."""

    name: str
    url: str | None = None
    """One of *url* and *cloud_id* is set."""
    cloud_id: str | None = None
    engine: str | None = None
    service: str = "engine"
    """Such as "engine", "http" or "solr"."""
    api_key_env: str | None = None
    username_env: str | None = None
    password_env: str | None = None
    ca_certs: str | None = None
    """A PEM file, relative to relevance.toml."""
    fingerprint: str | None = None
    """The SHA-256 of the server's certificate."""
    timeout: float = 30.0
    """Seconds for one request."""
    headers_env: Mapping[str, str] = field(default_factory=dict)
    """Header to the name of the variable that holds its value."""
    concurrency: int = 4
    """The largest number of requests sent at once."""
    batch: int | None = None
    """The largest number of searches in one request; None for the default."""
    rate: float | None = None
    """The most searches a second; None for no limit."""
    mark: Mark = Mark()
    origin: AddressOrigin = AddressOrigin.SUITE
    nodes: tuple[str, ...] = ()
    """More URLs of the same cluster."""
    bearer_token_env: str | None = None
    client_cert: str | None = None
    """A PEM file with the client's certificate, relative to relevance.toml."""
    client_key: str | None = None
    """A PEM file with its private key, relative to relevance.toml; None if *client_cert* contains the key."""
    client_key_password_env: str | None = None
    verify_certs: bool = True
    """Whether the server's certificate is verified."""
    proxy: str | None = None
    """The URL of a proxy, without a login; if None, the proxy of the environment is used."""
    proxy_username_env: str | None = None
    proxy_password_env: str | None = None
    host: str | None = None
    """The value of the header `Host`, if it is not the host of the URL."""
    requests: tuple[str, ...] = ()
    """Requests that a service may be sent though they may change data: method and path, `*` for any name."""

    @property
    def logins(self) -> tuple[str, ...]:
        """The keys in relevance.toml of the logins that are given; an engine takes only one of them."""
        variables = {
            "api_key_env": self.api_key_env,
            "username_env": self.username_env,
            "bearer_token_env": self.bearer_token_env,
        }
        return tuple(key for key, variable in variables.items() if variable)

    @property
    def secret_variables(self) -> tuple[str, ...]:
        """The names of the variables that hold secrets."""
        variables = (
            self.api_key_env,
            self.password_env,
            self.bearer_token_env,
            self.client_key_password_env,
            self.proxy_password_env,
            *self.headers_env.values(),
        )
        return tuple(variable for variable in variables if variable)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all environment variables that are read."""
        users = [name for name in (self.username_env, self.proxy_username_env) if name]
        return (*users, *self.secret_variables)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The request for one query, with placeholders and variables filled in."""

    query: str
    index: str | None
    body: Json
    """Has a `size`."""
    http: HttpRequest | None = None
    title_field: str | None = None
    """The field to return as title. It is ignored if the body selects fields itself, as are snippet and *fields*."""
    has_snippet: bool = False
    """Whether to return a snippet of the longest text that is not the title."""
    fields: tuple[str, ...] = ()
    """The fields whose texts to return."""
    value_fields: tuple[str, ...] = ()
    """The fields whose values to return, which expectations read, whatever the body selects."""
    highlights: bool = False
    """Whether the body has a `highlight` of the harness, which marks words in the title and in *fields*."""
    unique_ids: bool = False
    """Whether an id identifies one document in all indexes searched."""
    id_field: str | None = None
    """The field that holds the id of a document; None for its `_id`."""
    url_params: Mapping[str, str] = field(default_factory=dict)
    """URL parameters of `_search`, as in the suite."""
    document_ids: tuple[str, ...] = ()
    """The documents that a service is asked for, by *http.documents*, in place of a search; empty for a search."""
    built_for: Query | None = field(default=None, compare=False, repr=False)
    """The query of the suite that it was built for; None for look-ups by the harness itself."""


@dataclass(frozen=True, slots=True)
class Route:
    """How a request reaches its server: client certificate, proxy and verification; a text is empty if not used."""

    client_cert: str = ""
    """The file with the client's certificate."""
    client_key: str = ""
    """The file with its private key, if it is not in *client_cert*."""
    client_key_password: str = ""
    proxy: str = ""
    """The URL of the proxy in relevance.toml."""
    proxy_login: str = ""
    """User and password, separated by a colon."""
    verify_certs: bool = True


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it is sent; ``${NAME}`` stands for the value of an environment variable that may be secret."""

    method: str
    url: str
    """With path and parameters; without the server if only the user's client object knows it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    """None if there is none."""
    login: str = ""
    """User and password of basic authentication, separated by a colon; empty if there is none."""
    ca_certs: str = ""
    """The file with the CA certificates; empty to use those that the system trusts."""
    fingerprint: str = ""
    """The SHA-256 of the server's certificate; empty if it is not pinned."""
    route: Route | None = None
    """None if all fields have their defaults, and in the requests that the report of a run stores."""
    variables: tuple[str, ...] = ()
    """The names of the environment variables in the request."""
    encoded: tuple[str, ...] = ()
    """The names of those whose value is sent in base64."""
    verbatim: tuple[str, ...] = ()
    """
    The parts in which ``${NAME}`` is a text of the suite, of which no value is to be filled in: "url", "body", or a
    header. A value that may be secret would else be sent in a query.
    """


def find_sort_places(body: Mapping[str, Json]) -> tuple[int, ...]:
    """
    The places of the keys in the `sort` of *body* by which it orders documents; none if it orders them by score only.

    The place of a document in its shard is no such key, because it changes with the index. Engines add it as a last key
    to the searches of a point in time.

    >>> find_sort_places({"sort": ["_score", {"brand": "asc"}, "_doc"]}), find_sort_places({"sort": ["_score", "_doc"]})
    ((0, 1), ())
    """
    sort = body.get("sort") or []
    keys = sort if isinstance(sort, list) else [sort]
    names: list[Json] = []
    for key in keys:
        if isinstance(key, Mapping):
            names += key
        else:
            names.append(key)
    places = tuple(place for place, name in enumerate(names) if name not in ("_doc", "_shard_doc"))
    is_by_score = all(names[place] == "_score" for place in places)
    return () if is_by_score else places
