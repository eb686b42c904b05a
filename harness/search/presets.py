"""
Search engines that are asked over HTTP and whose requests and answers are known: `service = "solr"` in relevance.toml.

A preset has defaults for the keys of `http` in a suite, which the suite's own keys replace, and the requests that only
search. These may be sent where relevance.toml itself gives the service, as if its `requests` listed them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from harness.model.suite import HttpRequest, Json, find_placeholders
from harness.search.pointers import find_value
from harness.search.solr_requests import find_solr_parameter_problem, find_solr_problem


def _allow_parameter(name: str, value: Json) -> str:  # noqa: ARG001
    return ""


def _allow_request(http: HttpRequest) -> str:  # noqa: ARG001
    return ""


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a search engine that is asked over HTTP."""

    title: str
    """Its name in sentences."""
    defaults: Mapping[str, Json]
    """Keys of `http` in a suite: paths, and `max_size`."""
    requests: tuple[str, ...]
    """What only searches: methods and paths, as `requests` of a cluster."""
    size: str = ""
    """The default of `size` for a request without a body."""
    body_size: str = ""
    """The same for one with a body."""
    documents: Mapping[str, Json] = field(default_factory=dict)
    """The default of `documents`, in which ID_FIELD stands for the field that `ids` reads. Empty if there is none."""
    documents_paths: str = ".*"
    """A regular expression for paths of searches that answer *documents* too."""
    moving_parameters: frozenset[str] = frozenset()
    """
    Parameters by which a request searches elsewhere than its path says. The default of `documents`, which lacks them,
    would look elsewhere than the search, and is left out beside them.
    """
    document: str = "$"
    """The path in a hit to the document, whose members are its fields."""
    offsets: Mapping[str, Json] = field(default_factory=dict)
    """
    Parameters, and JSON pointers into the body, that skip hits, with the value that skips none. A ranking begins at its
    first hit.
    """
    gets_may_write: bool = False
    """Whether GET requests beside *requests* may change data."""
    find_parameter_problem: Callable[[str, Json], str] = _allow_parameter
    """Why a request must not have a parameter, given its name and its value, as a sentence; empty if it may."""
    find_problem: Callable[[HttpRequest], str] = _allow_request
    """Why a request must not be sent, as a sentence; empty if it may. It knows all parameters and the body."""

    def make_field_path(self, name: str) -> str:
        """The path in a hit to the field *name* of the document."""
        if _MEMBER.fullmatch(name):
            return f"{self.document}.{name}"
        return f"{self.document}[{json.dumps(name)}]"

    def find_field(self, path: str) -> str:
        """The field of the document that is at *path* in a hit; empty if that is none by its name alone."""
        parent, _, name = path.rpartition(".")
        return name if parent == self.document and _MEMBER.fullmatch(name) else ""


_MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A name that a JSONPath has without quotes."""

ID_FIELD = "ID_FIELD"
"""In `Preset.documents`."""


def find_preset_problem(preset: Preset, http: HttpRequest) -> str:
    """Why *http* must not be sent to an engine of *preset*, as a sentence; empty if it may."""
    problem = preset.find_problem(http)
    if problem:
        return problem
    return find_offset_problem(http, preset)


def find_offset_problem(http: HttpRequest, preset: Preset | None = None) -> str:
    """Why *http*, for an engine of *preset*, skips hits, as a sentence; empty if it skips none."""
    for place in find_offsets(http, preset):
        return explain_offset(place, list_offsets(http, preset))
    return ""


def list_offsets(http: HttpRequest, preset: Preset | None = None) -> dict[str, Json]:
    """What makes a service skip hits, as `Preset.offsets`: by *preset*, and by the suite of *http*."""
    offsets = {} if preset is None else dict(preset.offsets)
    return {**offsets, **(http.first_page or {})}


def find_offsets(http: HttpRequest, preset: Preset | None = None) -> list[str]:
    """
    Those of `list_offsets` by which *http* skips hits. A value with placeholders may skip none.

    >>> find_offsets(HttpRequest("POST", "/select?start=10", "$.id", {"start": 0}, json={"offset": 10}), _SOLR)
    ['start', '/offset']
    """
    written = parse_qsl(urlsplit(http.path).query)
    places = []
    for place, first in list_offsets(http, preset).items():
        values: list[Json]
        if place.startswith("/"):
            values = [_find_in_body(http.json, place)]
        else:
            values = [http.params.get(place), *(value for name, value in written if name == place)]
        if any(_skips_hits(value, first) for value in values):
            places.append(place)
    return places


def _find_in_body(body: Json, pointer: str) -> Json:
    try:
        return find_value(body, pointer)
    except LookupError:
        return None


def _skips_hits(value: Json, first: Json) -> bool:
    """
    Whether *value* skips hits, where *first* skips none.

    Where *first* is a number, a text such as a date or the name of a town skips none: it is no place in a list.

    >>> _skips_hits("3", 0), _skips_hits("2026-01-01", 0), _skips_hits("AoJ", "*")
    (True, False, True)
    """
    if isinstance(value, list):
        return any(_skips_hits(item, first) for item in value)
    if value is None or find_placeholders(value):
        return False
    first_number = _read_whole_number(first)
    if first_number is None:
        return str(value) != str(first)
    number = _read_whole_number(value)
    return number is not None and number != first_number


def _read_whole_number(value: Json) -> int | None:
    """The whole number that *value* is or spells, such as "+3" and 3.0; None if it is none."""
    if isinstance(value, bool):
        return None
    try:
        return int(str(value))
    except ValueError:
        pass
    try:
        number = float(str(value))  # such as "3.00" and "1e1", which many services read as a number
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def explain_offset(place: str, offsets: Mapping[str, Json]) -> str:
    """Why a request must not skip hits at *place*, one of *offsets*."""
    return f"a ranking begins at its first hit; remove `{place}`, which skips hits (or set it to {offsets[place]})"


_NO_PART_OF_IDS = "\x01"
"""A control character, which stands between ids: they may have commas, blanks and quotes."""

_SOLR = Preset(
    "Solr",
    defaults={
        "hits": "$.response.docs[*]",
        "ids": "$.id",
        "scores": "$.score",
        "total": "$.response.numFound",
        "total_exact": "$.response.numFoundExact",
        "took": "$.responseHeader.QTime",
        "partial": "$.responseHeader.partialResults",
        "error": "$.error.msg",
    },
    # The URL of the cluster may end with /solr or not.
    requests=tuple(
        f"{method} {folder}/*/{handler}"
        for method in ("GET", "POST")
        for folder in ("", "/solr")
        for handler in ("select", "query", "get")
    ),
    size="rows",
    body_size="/limit",
    documents={
        "params": {
            "q": f"{{!terms f=ID_FIELD separator={_NO_PART_OF_IDS}}}{{{{ids}}}}",
            # The handler may have another parser as its default, which would take the braces for words.
            "defType": "lucene",
            # Else an id such as ${x} would be the value of a parameter.
            "expandMacros": "false",
            "rows": "{{count}}",
            "fl": "*",
            "wt": "json",
        },
        "join": _NO_PART_OF_IDS,
        "filter": {"fq": f"{{!terms f=ID_FIELD separator={_NO_PART_OF_IDS}}}{{{{ids}}}}"},
    },
    moving_parameters=frozenset({"collection", "shards", "_route_", "shard.keys", "distrib"}),
    # A cursor goes on behind its last hit, and * begins. Solr takes parts of its body as parameters too.
    offsets={
        "start": 0,
        "cursorMark": "*",
        "json.offset": 0,
        "/offset": 0,
        "/params/start": 0,
        "/params/cursorMark": "*",
    },
    # Such as /admin/collections?action=DELETE.
    gets_may_write=True,
    find_parameter_problem=find_solr_parameter_problem,
    find_problem=find_solr_problem,
)  # fmt: skip

_TYPESENSE = Preset(
    "Typesense",
    defaults={
        "hits": "$.hits[*]",
        "ids": "$.document.id",
        # A whole number of 64 bits. With `sort_by` another order may come first, which `sort` of a suite says.
        "scores": "$.text_match",
        "total": "$.found",
        "took": "$.search_time_ms",
        "partial": "$.search_cutoff",
        "error": "$.message",
        "max_size": 250,
    },
    requests=("GET /collections/*/documents/search", "POST /multi_search"),
    size="per_page",
    documents={
        "params": {"q": "*", "filter_by": "ID_FIELD:=[{{ids}}]", "per_page": "{{count}}"},
        "join": ",",
        "each": "`{{id}}`",
        # A backslash before the closing backtick is an escape, and blanks at the ends are cut off. Nothing escapes a
        # backtick in all passes over a filter.
        "unwritable": ["\\`", "` ", " `"],
    },
    documents_paths=r"(?s:.*)/documents/search/?",
    # Parameters of the URL are those of each search of /multi_search.
    offsets={"page": 1, "offset": 0, "/searches/0/page": 1, "/searches/0/offset": 0},
    document="$.document",
)

_GRAPHQL_TEXT = re.compile(r'"""(?:\\"""|.)*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*', re.DOTALL)
"""A text, or a remark, of GraphQL."""

_GRAPHQL_OFFSET = re.compile(r"\boffset[\s,]*:[\s,]*(?:\$(\w+)|([+-]?\w+))")
"""The argument of a class that skips hits: the name of a variable, or a number."""


def _find_weaviate_problem(http: HttpRequest) -> str:
    """Why the GraphQL in *http* skips hits, as a sentence; empty if it skips none."""
    body = http.json if isinstance(http.json, Mapping) else {}
    query, variables = body.get("query"), body.get("variables")
    if not isinstance(query, str):
        return ""
    for match in _GRAPHQL_OFFSET.finditer(_GRAPHQL_TEXT.sub('""', query)):
        variable, number = match.groups()
        value = number
        if variable is not None:
            value = variables.get(variable) if isinstance(variables, Mapping) else None
        if _skips_hits(value, 0):
            return explain_offset("offset", {"offset": 0})
    return ""


_WEAVIATE = Preset(
    "Weaviate",
    defaults={
        "method": "POST",
        "path": "/v1/graphql",
        # Below Get is one class, whose name is in the query.
        "hits": "$.data.Get.*[*]",
        "ids": "$._additional.id",
        "scores": "$._additional.score",
        # GraphQL answers errors with status 200, and refused requests have `error`.
        "partial": "$.errors",
        "error": "$['errors', 'error'][*].message",
    },
    requests=("POST /v1/graphql",),
    find_problem=_find_weaviate_problem,
)

PRESETS: Mapping[str, Preset] = {"solr": _SOLR, "typesense": _TYPESENSE, "weaviate": _WEAVIATE}
"""By the `service` of clusters and targets."""
