"""The shape of relevance.toml, as pydantic models, and the checks that involve several keys of a table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from harness.config.addresses import SERVICES, VARIABLE_PATTERN, find_engine_problem, find_url_problem, uses_tls
from harness.config.places import ConfigProblems
from harness.files.judge_files import JUDGE_NAME
from harness.model.judging import MachineJudge
from harness.model.request import Cluster
from harness.model.suite import PEOPLE
from harness.words import did_you_mean, listed, one_of, unknown_key

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FINGERPRINT = re.compile(r"[0-9a-fA-F]{64}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_REQUEST = re.compile(r"(?:GET|POST|PUT) /[^\s?#\\]*")
MOST_AT_ONCE = 64
"""The most concurrent requests; each has a thread and a connection."""

_TYPES = {
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "dict_type": "a table",
    "tuple_type": "a list",
    "model_type": "a table",
}


def _refuse_value(value: Any, find_problem: Callable[[Any], str | None]) -> Any:
    sentence = find_problem(value)
    if sentence:
        raise PydanticCustomError("harness", "{sentence}", {"sentence": sentence})
    return value


def _check(find_problem: Callable[[Any], str | None]) -> AfterValidator:
    """A validator that refuses values for which *find_problem* returns a sentence."""
    return AfterValidator(partial(_refuse_value, find_problem=find_problem))


def _find_variable_problem(name: str) -> str | None:
    """Why *name* is not the name of a variable; it is not repeated, as it may be the secret itself."""
    if _VARIABLE.fullmatch(name):
        return None
    return "expected the name of an environment variable, such as SEARCH_API_KEY, not the secret itself"


def _find_header_problem(name: str) -> str | None:
    return None if _HEADER.fullmatch(name) else f"found {name!r}, expected the name of a header, such as X-Tenant"


def _find_host_problem(text: str) -> str | None:
    return None if _HOST.fullmatch(text) else f"found {text!r}, expected a host such as shop.example, or with its port"


def _find_request_problem(text: str) -> str | None:
    if _REQUEST.fullmatch(text) and not {".", ".."}.intersection(text.split("/")):
        return None
    return f"found {text!r}, expected a method and a path below the url, such as POST /indexes/*/search"


def _find_proxy_problem(url: str) -> str | None:
    if "@" in url:
        return "a URL must not contain a login; name its variables: proxy_username_env and proxy_password_env"
    return find_url_problem(url)


def _find_service_problem(text: str) -> str | None:
    if text in SERVICES:
        return None
    return f"found {text!r}, expected {one_of(SERVICES)}{did_you_mean(text, SERVICES)}"


def _find_fingerprint_problem(text: str) -> str | None:
    plain = text.replace(":", "")
    return None if _FINGERPRINT.fullmatch(plain) else "expected the certificate's SHA-256: 64 hexadecimal digits"


def _find_timeout_problem(seconds: float) -> str | None:
    return None if 0 < seconds < math.inf else f"found {seconds:g}, expected seconds, more than 0"


def _find_concurrency_problem(number: int) -> str | None:
    return None if 1 <= number <= MOST_AT_ONCE else f"found {number}, expected requests at once, 1 to {MOST_AT_ONCE}"


def _find_batch_problem(number: int) -> str | None:
    return None if number >= 1 else f"found {number}, expected searches of one request, at least 1"


def _find_rate_problem(rate: float) -> str | None:
    return None if 0 < rate < math.inf else f"found {rate:g}, expected searches a second, more than 0"


def _find_blank_problem(text: str) -> str | None:
    return None if text.strip() else "found blank text, expected text"


_Text = Annotated[str, _check(_find_blank_problem)]
_Variable = Annotated[str, _check(_find_variable_problem)]


class ClusterShape(BaseModel):
    """A table of a cluster. The reference of relevance.toml shows the descriptions of its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: Annotated[str, _check(find_url_problem)] | None = Field(
        None,
        description="The address, http or https; it may have a path, and no login. A cluster has `url` or `cloud_id`.",
    )
    nodes: tuple[Annotated[str, _check(find_url_problem)], ...] = Field(
        default=(),
        strict=False,
        description="URLs of the cluster's other nodes. All take turns, and one that does not answer is left out.",
    )
    cloud_id: _Text | None = Field(None, description="The id of a deployment in Elastic Cloud, in place of `url`.")
    engine: Annotated[str, _check(find_engine_problem)] | None = Field(
        None,
        description="The engine and its version, such as `elasticsearch 9.4.3`, if the login may not ask the server. "
        "Default: asked.",
    )
    service: Annotated[str, _check(_find_service_problem)] = Field(
        "engine",
        description="`engine` for Elasticsearch and OpenSearch, `http` for an application's own search API, or `solr`, "
        "`typesense`, `weaviate`. Default: `engine`.",
    )
    api_key_env: _Variable | None = Field(
        None,
        description="The variable with an API key, base64-encoded or as `id:key`.",
    )
    username_env: _Variable | None = Field(None, description="The variable with a user name; needs `password_env`.")
    password_env: _Variable | None = Field(None, description="The variable with the password; needs `username_env`.")
    ca_certs: _Text | None = Field(
        None,
        description="A PEM file with the CA of the server's certificate, relative to relevance.toml. Default: "
        "the CAs of the system.",
    )
    fingerprint: Annotated[str, _check(_find_fingerprint_problem)] | None = Field(
        None,
        description="The SHA-256 of the server's certificate, 64 hexadecimal digits with or without colons. Nothing "
        "else of it is then checked.",
    )
    timeout: Annotated[float, _check(_find_timeout_problem)] = Field(
        30.0,
        description="Seconds for one request, including its whole answer. Default: 30.",
    )
    headers_env: dict[Annotated[str, _check(_find_header_problem)], _Variable] = Field(
        default_factory=dict,
        description='Headers, each with the variable that holds its value: `{Authorization = "SHOP_TOKEN"}`.',
    )
    bearer_token_env: _Variable | None = Field(
        None,
        description="The variable with a token, sent as `Authorization: Bearer …`.",
    )
    client_cert: _Text | None = Field(
        None,
        description="A PEM file with the client's certificate, relative to relevance.toml; it may hold the key too.",
    )
    client_key: _Text | None = Field(None, description="A PEM file with the key of `client_cert`.")
    client_key_password_env: _Variable | None = Field(
        None,
        description="The variable with the password of an encrypted key.",
    )
    verify_certs: bool = Field(
        True,
        description="`false` accepts any certificate, and each report says so. Default: `true`.",
    )
    proxy: Annotated[str, _check(_find_proxy_problem)] | None = Field(
        None,
        description="The URL of an HTTP proxy, without a login. Default: that of the environment.",
    )
    proxy_username_env: _Variable | None = Field(
        None,
        description="The variable with the user name for the proxy; needs `proxy_password_env`.",
    )
    proxy_password_env: _Variable | None = Field(
        None,
        description="The variable with the password for the proxy; needs `proxy_username_env`.",
    )
    host: Annotated[str, _check(_find_host_problem)] | None = Field(
        None,
        description="The value of the header `Host`. Default: the host of `url`.",
    )
    requests: tuple[Annotated[str, _check(_find_request_problem)], ...] = Field(
        default=(),
        strict=False,
        description="Requests that may be sent to an HTTP service though they may change data, such as "
        '`["POST /indexes/*/search"]`.',
    )
    concurrency: Annotated[int, _check(_find_concurrency_problem)] = Field(
        4,
        description="Requests at once, at most: 1 to 64. Default: 4.",
    )
    batch: Annotated[int, _check(_find_batch_problem)] | None = Field(
        None,
        description="Searches of one request, at most; fewer while the engine is slow or busy. Default: 1000.",
    )
    rate: Annotated[float, _check(_find_rate_problem)] | None = Field(
        None,
        description="Searches a second, at most, for a cluster that others use. Default: no limit.",
    )


PLAIN_KEYS = frozenset({"url", "nodes", "engine", "timeout", "concurrency", "batch", "rate"})
"""The keys of a cluster that a relevance.toml beside a suite may have: with them it is a plain address."""


def _read_variables(names: Any, problems: ConfigProblems) -> tuple[str, ...]:
    """The names, or patterns with `*`, of the variables that suites may read."""
    are_names = isinstance(names, list) and all(map(_is_variable_pattern, names))
    if not are_names:
        message = "expected a list of names of environment variables, such as SHOP_LANGUAGE or SHOP_*"
        problems.note(("variables",), message)
        return ()
    return tuple(names)


def _is_variable_pattern(name: Any) -> bool:
    return isinstance(name, str) and VARIABLE_PATTERN.fullmatch(name) is not None


def _read_addresses(text: Any, problems: ConfigProblems) -> str:
    """Whether suites may name addresses of their own."""
    words = ("any", "listed")
    if text not in words:
        found = repr(text) if isinstance(text, str) else _describe_type(text)
        problems.note(("addresses",), f"found {found}, expected any or listed{did_you_mean(str(text), words)}")
    return str(text)


def _read_intervals(value: Any, problems: ConfigProblems) -> bool:
    """Whether reports show means with their intervals."""
    if not isinstance(value, bool):
        problems.note(("intervals",), f"found {_describe_type(value)}, expected true or false")
        return True
    return value


def _read_history(value: Any, problems: ConfigProblems) -> str | None:
    """The folder in which runs are kept."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        found = repr(value) if isinstance(value, str) else _describe_type(value)
        problems.note(("history",), f"found {found}, expected the path of a folder, such as history")
        return None
    return value


def _read_clusters(tables: Any, problems: ConfigProblems) -> dict[str, Cluster]:
    if not isinstance(tables, Mapping):
        problems.note(("clusters",), f"found {_describe_type(tables)}, expected tables such as [clusters.default]")
        return {}
    clusters = {}
    for name, table in tables.items():
        cluster = _read_cluster(name, table, problems)
        if cluster is not None:
            clusters[name] = cluster
    return clusters


# Language models that judge.


def _find_judge_url_problem(url: str) -> str | None:
    sentence = find_url_problem(url)
    if sentence is None and ("?" in url or "#" in url):
        return "found a query or a fragment in the URL, expected one such as https://api.openai.com/v1"
    return sentence


def _find_answers_problem(text: str) -> str | None:
    words = ("schema", "text")
    return None if text in words else f"found {text!r}, expected schema or text{did_you_mean(text, words)}"


def _find_number_problem(number: float) -> str | None:
    return None if 0 <= number < math.inf else f"found {number:g}, expected a number of at least 0"


def _find_count_problem(number: int) -> str | None:
    return None if number >= 1 else f"found {number}, expected a whole number of at least 1"


_Number = Annotated[float, _check(_find_number_problem)]
_Count = Annotated[int, _check(_find_count_problem)]


class JudgeShape(BaseModel):
    """A table of a language model that judges. The reference of relevance.toml shows the descriptions of its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    base_url: Annotated[str, _check(_find_judge_url_problem)] = Field(
        description="An API like that of OpenAI: OpenAI, Azure (`https://NAME.openai.azure.com/openai/v1`), vLLM, "
        "Ollama (`http://localhost:11434/v1`), llama.cpp, LiteLLM. Required.",
    )
    model: _Text = Field(description="The name of the model there. Required.")
    api_key_env: _Variable | None = Field(
        None,
        description="The variable with the key, masked in all output. Default: no key.",
    )
    prompt: _Text | None = Field(
        None,
        description="A prompt of your own, relative to relevance.toml. Default: that of the harness.",
    )
    fields: tuple[_Text, ...] = Field(
        default=(),
        strict=False,
        description="The fields of a document that may be sent. Default: those that people are shown.",
    )
    temperature: _Number = Field(0.0, description="Default: 0.")
    seed: int | None = Field(None, description="A number sent with each call. Default: none.")
    reasoning: _Text | None = Field(
        None,
        description="The effort of a model that thinks before it answers, such as `low`. It is sent `reasoning_effort` "
        "and `max_completion_tokens`, and no temperature.",
    )
    answers: Annotated[str, _check(_find_answers_problem)] = Field(
        "schema",
        description="`schema` if the server keeps the model to a JSON schema, `text` if it cannot. Default: `schema`.",
    )
    most_output_tokens: _Count = Field(
        300,
        description="Tokens of an answer, thoughts included; a longer one is cut, and is no grade. Default: 300.",
    )
    timeout: Annotated[float, _check(_find_timeout_problem)] = Field(
        60.0,
        description="Seconds for one answer. Default: 60.",
    )
    concurrency: Annotated[int, _check(_find_concurrency_problem)] = Field(
        4,
        description="Calls at once, 1 to 64. Default: 4.",
    )
    requests_per_minute: _Count | None = Field(
        None,
        description="Calls are spread so that they stay within it. Default: no limit.",
    )
    tokens_per_minute: _Count | None = Field(
        None,
        description="Calls are spread so that they stay within it. Default: no limit.",
    )
    input_price: _Number | None = Field(
        None,
        description="The price of a million tokens that are sent; needs `output_price`.",
    )
    output_price: _Number | None = Field(
        None,
        description="The price of a million tokens of answers; needs `input_price`.",
    )
    batch_input_price: _Number | None = Field(
        None,
        description="As `input_price`, with `--batch`; needs `batch_output_price`. Default: `input_price`.",
    )
    batch_output_price: _Number | None = Field(
        None,
        description="As `output_price`, with `--batch`; needs `batch_input_price`. Default: `output_price`.",
    )
    budget: _Number | None = Field(None, description="What one command may spend at these prices. Default: no limit.")


def _read_judges(tables: Any, problems: ConfigProblems) -> dict[str, MachineJudge]:
    if not isinstance(tables, Mapping):
        problems.note(("judge",), f"found {_describe_type(tables)}, expected tables such as [judge.gpt]")
        return {}
    judges = {}
    for name, table in tables.items():
        judge = _read_judge(name, table, problems)
        if judge is not None:
            judges[name] = judge
    return judges


def _read_judge(name: str, table: Any, problems: ConfigProblems) -> MachineJudge | None:
    place = ("judge", name)
    if not JUDGE_NAME.fullmatch(name):
        problems.note(place, "expected letters, digits, _ and - as the name of a judge, such as gpt")
    elif name == PEOPLE:
        problems.note(place, f"expected another name than {PEOPLE}, which stands for all judges who are people")
    try:
        shape = JudgeShape.model_validate(table)
    except ValidationError as error:
        for failure in error.errors(include_url=False):
            problems.note((*place, *map(str, failure["loc"])), _describe_failure(failure, JudgeShape))
        return None
    if (shape.input_price is None) != (shape.output_price is None):
        problems.note(place, "expected input_price and output_price together")
    elif (shape.batch_input_price is None) != (shape.batch_output_price is None):
        problems.note(place, "expected batch_input_price and batch_output_price together")
    elif shape.budget is not None and shape.input_price is None:
        problems.note((*place, "budget"), "budget needs input_price and output_price, the prices of a million tokens")
    return MachineJudge(name=name, **shape.model_dump())


@dataclass(frozen=True, slots=True)
class TopLevelKey:
    """A key at the top of the file."""

    read: Callable[[Any, ConfigProblems], Any]
    """Takes the value, returns that of the field of the same name in `Config`, and notes problems."""
    description: str


TOP_LEVEL: Mapping[str, TopLevelKey] = {
    "clusters": TopLevelKey(_read_clusters, "Tables such as `[clusters.default]`, each with a server."),
    "variables": TopLevelKey(
        _read_variables,
        "The variables of the environment that suites may read: names, or patterns such as `SHOP_*`.",
    ),
    "addresses": TopLevelKey(
        _read_addresses,
        "`listed` allows suites the addresses of this file and of the command line only. Default: `any`.",
    ),
    "judge": TopLevelKey(_read_judges, "Tables such as `[judge.gpt]`, each with a language model that judges."),
    "intervals": TopLevelKey(_read_intervals, "`false` leaves the intervals of means out of reports. Default: `true`."),
    "history": TopLevelKey(_read_history, "The folder in which each whole run is kept, relative to relevance.toml."),
}


def check_top_level(content: Mapping[str, Any], problems: ConfigProblems) -> None:
    """Note keys of a parsed relevance.toml that are unknown."""
    for key in content:
        if key not in TOP_LEVEL:
            problems.note((key,), unknown_key(key, tuple(TOP_LEVEL)))


def find_private_keys(content: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The paths of the keys in a valid relevance.toml that only the file of the person who runs it may have."""
    keys: list[tuple[str, ...]] = [(key,) for key in content if key != "clusters"]
    for name, table in content.get("clusters", {}).items():
        keys += [("clusters", name, key) for key in table if key not in PLAIN_KEYS]
    return keys


def _read_cluster(name: str, table: Any, problems: ConfigProblems) -> Cluster | None:
    place = ("clusters", name)
    if "://" in name or not name.strip():
        problems.note(place, "expected the name of a cluster, such as default; its address is its url")
    try:
        shape = ClusterShape.model_validate(table)
    except ValidationError as error:
        for failure in error.errors(include_url=False):
            problems.note((*place, *map(str, failure["loc"])), _describe_failure(failure, ClusterShape))
        return None
    _check_together(shape, place, problems)
    return Cluster(name=name, **shape.model_dump())


def _describe_failure(failure: Any, shape: type[BaseModel]) -> str:
    kind = failure["type"]
    if kind == "harness":
        return str(failure["msg"])
    if kind == "extra_forbidden":
        key = str(failure["loc"][-1])
        # Who writes `password` has written the secret itself beside it.
        if f"{key}_env" in shape.model_fields:
            return f"{key!r} is not allowed here; expected {key}_env, the name of an environment variable"
        return unknown_key(key, shape.model_fields)
    if kind == "missing":
        return f"expected {failure['loc'][-1]}"
    return f"found {_describe_type(failure['input'])}, expected {_TYPES.get(kind, failure['msg'])}"


def _check_together(shape: ClusterShape, place: tuple[str, ...], problems: ConfigProblems) -> None:
    if (shape.url is None) == (shape.cloud_id is None):
        found = "neither" if shape.url is None else "both"
        problems.note(place, f"found {found} url and cloud_id, expected one of them")
    if shape.nodes and (shape.url is None or shape.service != "engine"):
        problems.note((*place, "nodes"), "nodes are URLs of an engine's other nodes, in addition to its url")
    if shape.requests and shape.service == "engine":
        problems.note((*place, "requests"), 'requests are those of an HTTP service, which has service = "http"')
    if shape.service != "engine" and shape.batch is not None:
        problems.note((*place, "batch"), "an HTTP service has one search in each request")
    if shape.service != "engine" and shape.cloud_id is not None:
        problems.note(place, "an HTTP service has a url, not a cloud_id")
    _check_logins(shape, place, problems)
    _check_tls(shape, place, problems)


_NEEDED_KEYS = {"client_key": "client_cert", "client_key_password_env": "client_cert", "proxy_username_env": "proxy"}
"""Keys that need another key."""

_TLS_KEYS = ("ca_certs", "fingerprint", "client_cert")


def _check_logins(shape: ClusterShape, place: tuple[str, ...], problems: ConfigProblems) -> None:
    for name, password in (("username_env", "password_env"), ("proxy_username_env", "proxy_password_env")):
        if (getattr(shape, name) is None) != (getattr(shape, password) is None):
            problems.note(place, f"expected {name} and {password} together")
    logins = Cluster("", **shape.model_dump()).logins
    if len(logins) > 1:
        problems.note(place, f"found {len(logins)} logins, {listed(logins)}, expected one of them")
    for key, needed in _NEEDED_KEYS.items():
        if getattr(shape, key) is not None and getattr(shape, needed) is None:
            problems.note((*place, key), f"{key} needs {needed}")


def _check_tls(shape: ClusterShape, place: tuple[str, ...], problems: ConfigProblems) -> None:
    keys = [key for key in _TLS_KEYS if getattr(shape, key) is not None]
    is_secure = shape.cloud_id is not None or uses_tls(shape.url or "")
    if keys and not is_secure:
        problems.note((*place, keys[0]), f"{keys[0]} needs https, but the url begins with http://")
    # The certificate of the client says nothing of the server's, which the others verify.
    verifying_keys = [key for key in keys if key != "client_cert"]
    if verifying_keys and not shape.verify_certs:
        sentence = f"{verifying_keys[0]} verifies the certificate; expected no verify_certs = false"
        problems.note((*place, "verify_certs"), sentence)


def _describe_type(value: Any) -> str:
    """The type of *value* in words, without the value, which may be a secret."""
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), "a date or a time")
