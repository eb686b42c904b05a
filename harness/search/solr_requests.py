"""
What a request to Solr must not have, and which GET requests Solr takes for commands.

Solr reads a parameter from many places: the query of the path, the parameters beside it, `params` and `queries` of a
JSON body, and each of them may be spelled in several ways. So all rules see the names that `normalize_name` makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from urllib.parse import unquote_plus

from harness.config.addresses import list_plain_names, normalize_name
from harness.model.suite import HttpRequest, Json
from harness.search.pointers import iterate_keys


def list_parameters(http: HttpRequest) -> Iterator[tuple[str, Json]]:
    """The parameters of *http*, with names as they are written: in the path, beside it, and in its body."""
    _, _, query = http.path.partition("?")
    for parameter in re.split("[&;]", query):
        name, _, value = parameter.partition("=")
        yield name, unquote_plus(value)
    yield from http.params.items()
    if isinstance(http.json, Mapping):
        # Each key of `queries` is a parameter as well, whose value is a query.
        for key in ("params", "queries"):
            content = http.json.get(key)
            if isinstance(content, Mapping):
                yield from content.items()


_SHARDS = re.compile(r"[A-Za-z0-9_,|-]*")
"""Names of shards of SolrCloud. A host has a dot, a colon or a slash, and ${…} may stand for one."""

_SAFE_JSON_PARAMETER = re.compile(r"json\.(nl|wrf|(facet|query|filter|limit|offset|sort|fields)(\..+)?)", re.DOTALL)
"""Parts of a JSON body in a parameter that set no other parameters, as `json.queries` does."""

_SERVERS = re.compile(r"zkhost|solrurl")
"""Local parameters of a join that name another Solr, in small letters."""

_SERVERS_IN_LOCAL_PARAMETERS = re.compile(r"\{!.*(zkhost|solrurl)\s*=", re.DOTALL)

_OTHER_SERVERS = "may send the request to other servers"


def find_solr_parameter_problem(name: str, value: Json) -> str:
    """
    Why a request to Solr must not have the parameter *name* with this *value*; empty if it may.

    A sub-query (`[subquery]` in `fl`) reads the same parameters behind a name and a dot.

    >>> find_solr_parameter_problem("qf", "title^3 brand"), find_solr_parameter_problem("shards", "shard1,shard2")
    ('', '')
    >>> find_solr_parameter_problem("rows.qt", "/update")
    'the parameter rows.qt chooses the handler of the request; expected it in the path'
    >>> find_solr_parameter_problem("fq", "{!join method=crossCollection zkHost='elsewhere:2181' …}")
    'the parameter fq may send the request to other servers; expected no zkHost and no solrUrl in it'
    """
    plain = normalize_name(name)
    values = _list_values(value)
    reason = _explain_name(plain) or _explain_values(plain, values)
    return f"the parameter {name} {reason}" if reason else ""


def _explain_name(plain: str) -> str:
    """Why a parameter must not have the name *plain*, whatever its value, as the end of a sentence."""
    parts = _split_name(plain)
    if "${" in plain:
        return "takes its name from another one; expected a plain name"
    if parts[-1] == "qt":
        return "chooses the handler of the request; expected it in the path"
    if "stream" in parts[-2:-1]:
        return "makes Solr read from elsewhere; expected no such parameter in a suite"
    if parts == ["sync"]:
        return "makes Solr copy from other servers; expected no such parameter in a suite"
    if parts == ["json"]:
        return "is a body in the URL; expected `json` of the request"
    if parts[0] == "json" and not _SAFE_JSON_PARAMETER.fullmatch(plain):
        return "sets other parameters; expected `json` of the request"
    if parts[0] in ("spellcheck", "suggest") and parts[-1] in ("build", "buildall", "reload"):
        return "makes Solr write a dictionary; expected no such parameter in a suite"
    return ""


def _explain_values(plain: str, values: list[str]) -> str:
    """Why the parameter *plain* must not have one of *values*, as the end of a sentence."""
    parts = _split_name(plain)
    if parts[-1] == "shards" and not all(_SHARDS.fullmatch(text) for text in values):
        return f"{_OTHER_SERVERS}; expected names of shards, shard1,shard2"
    if parts == ["wt"] and values != ["json"]:
        return "chooses another form of the answer; expected json, which the harness reads"
    if parts == ["ie"] and not _are_utf_8(values):
        return "spells all others in another character set; expected utf-8"
    names_server = _SERVERS if parts[0] == "json" else _SERVERS_IN_LOCAL_PARAMETERS
    if any(names_server.search(text) for text in [plain, *map(undo_escapes, values)]):
        return f"{_OTHER_SERVERS}; expected no zkHost and no solrUrl in it"
    return ""


def _split_name(plain: str) -> list[str]:
    return [part.strip() for part in plain.split(".")]


def find_solr_problem(http: HttpRequest) -> str:
    """Why Solr must not be sent *http*, as a sentence; empty if it may."""
    parameters = list(list_parameters(http))
    for name, value in parameters:
        problem = find_solr_parameter_problem(name, value)
        if problem:
            return problem
    for key in iterate_keys(http.json):
        if _SERVERS.search(undo_escapes(normalize_name(key))):
            return f"{key} in the body {_OTHER_SERVERS}; expected no zkHost and no solrUrl in it"
    texts = list(_list_texts(http.json))
    if any(_SERVERS_IN_LOCAL_PARAMETERS.search(undo_escapes(text)) for text in texts):
        return f"the body {_OTHER_SERVERS}; expected no zkHost and no solrUrl in it"
    for _, value in parameters:
        texts += _list_values(value)
    # Put together from several parameters, a text could be any of those above.
    if any("${" in text for text in texts) and not _are_macros_off(parameters):
        return "it has ${, for which Solr puts in other parameters; expected `expandMacros: false` in its parameters"
    return ""


def _list_values(value: Json) -> list[str]:
    return [str(item) for item in (value if isinstance(value, list) else [value])]


def _list_texts(value: Json) -> Iterator[str]:
    """All texts in *value* at any depth, its keys among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _list_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _list_texts(item)


def undo_escapes(text: str) -> str:
    r"""
    *text* in small letters and without backslashes, however deep it is quoted.

    >>> undo_escapes(r"_query_:'{!join zk\\u0048ost=\'a\'}'")
    "_query_:'{!join zkhost='a'}'"
    """
    before = ""
    while before != text:
        before, text = text, re.sub(r"\\+u+([0-9A-Fa-f]{4})", lambda match: chr(int(match[1], 16)), text)
    return text.replace("\\", "").lower()


def _are_utf_8(values: list[str]) -> bool:
    return all(text.strip().lower() in ("utf-8", "utf8") for text in values)


def _are_macros_off(parameters: list[tuple[str, Json]]) -> bool:
    # The name as Solr has it: another spelling may be another parameter.
    values = [text for name, value in parameters if name == "expandMacros" for text in _list_values(value)]
    return bool(values) and all(text.lower() == "false" for text in values)


_HANDLERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "admin": frozenset({"action", "command", "set"}),
        "dataimport": frozenset({"action", "command"}),
        "get": frozenset({"sync"}),
        "replication": frozenset({"action", "command"}),
        "stream": frozenset({"action", "expr"}),
        "update": frozenset({"commit", "expungedeletes", "optimize", "preparecommit", "rollback", "softcommit"}),
    }
)
"""Parts of Solr that delete and replace what it has, with the parameters that say so."""

_COMMANDS = frozenset(
    {
        "backup",
        "delta-import",
        "deletebackup",
        "disablereplication",
        "enablereplication",
        "fetchindex",
        "full-import",
        "reload-config",
        "restore",
    }
)
"""Values of `command` for handlers that may have any name."""


def find_solr_command(http: HttpRequest) -> str:
    """What in *http*, a GET request, Solr takes for a command, whatever the service is said to be; empty if nothing."""
    names = list_plain_names(http.path)
    parameters = [(normalize_name(name), _list_values(value)) for name, value in list_parameters(http)]
    for name, values in parameters:
        for handler in names:
            if name in _HANDLERS.get(handler, ()):
                return f"the path has {handler} with a parameter {name}"
        is_command = name == "command" and not _COMMANDS.isdisjoint(text.strip().lower() for text in values)
        # `shards.qt` is the handler of other servers, with all parameters of this request.
        is_handler = name.rpartition(".")[2].strip() == "qt" and any("/" in text for text in values)
        is_spelling = name == "ie" and not _are_utf_8(values)
        if is_command or is_handler or is_spelling or _HIDING.fullmatch(name):
            return f"it has the parameter {name}"
    return ""


_HIDING = re.compile(r"stream\..*|json|json\..*(params|queries).*", re.DOTALL)
"""Parameters that have a body, or other parameters, in them."""
