"""What a text may ask for: hits of what the suite searches, and no more of them. The rest is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from harness.config.addresses import normalize_name
from harness.extensions.workbench.named_indexes import list_named_indexes
from harness.model.suite import Json, RequestTemplate, Suite
from harness.search.bodies import COSTLY_KEYS
from harness.search.service_sizes import read_size
from harness.search.solr_requests import undo_escapes
from harness.suites.esql import parse_node
from harness.suites.placeholders import esql_node
from harness.suites.scalars import BESIDE_A_BODY
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, ScalarNode, find_child, resolve

OTHER_INDEX = frozenset({"index", "_index", "indexed_shape", "target_index"})
"""Keys that name another index: in `terms`, `more_like_this`, `geo_shape`, `percolate`, look-ups at run time."""

OTHER_INDEX_OVER_HTTP = OTHER_INDEX | {
    "collection", "fromindex", "indexname", "indexuid", "restrict", "shards", "sources", "with_lookup",
}  # fmt: skip
"""The same of services, in small letters; of a name with dots, as of a sub-query of Solr, the last part."""

REFUSED = {
    "pit": "a point in time is one of another search",
    "scroll": "a scroll is kept open on the engine",
    "profile": "a profile takes the engine many times as long",
    "wrapper": "a query in Base64 may name another index",
}
"""Keys of a body that ask for more than a search, with the reason."""

_FIXED = ("index", "target", "routing", "file")
"""What stands beside a body and says where it is sent."""

_FIXED_OF_TEMPLATE = ("source", "id")
"""What the engine makes a body of, whose keys nobody can see here."""

_FREE_OF_HTTP = frozenset({"params", "json"})
"""The keys of `http` that may be changed."""


_JOIN = "fromIndex"
"""The parameter of a join of Solr, inside a text."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks texts for one request of a suite, which has *own* nodes; *others* are those of all its requests."""

    own: Node
    others: tuple[Node, ...]
    depth: int

    def check(self, node: Node, problems: Problems) -> None:
        """Note what *node*, a request, must not have."""
        is_wrapped = isinstance(node, MappingNode) and bool(node.keys() & set(BESIDE_A_BODY))
        body = node
        if is_wrapped:
            self._check_fixed(node, problems)
            body = find_child(node, "body")
        if isinstance(body, MappingNode):
            self._check_size(body, problems)
            self._check_template(body, problems)
            self._check_esql(body, problems)
        over_http = find_child(node, "http") is not None
        known, named = self._list_known()
        for key, value in _iterate_pairs(node if is_wrapped and over_http else body):
            problem = ""
            if _names_index(key, over_http=over_http):
                problem = f"found {str(key)!r}, which names another index: only the suite's own requests may"
            elif key in REFUSED and not over_http:
                problem = f"found {str(key)!r}, expected a search alone: {REFUSED[key]}"
            if problem and _format_pair(key, value) not in known:
                problems.note(key.mark, problem)
            if not over_http or not isinstance(value, ScalarNode):
                continue
            if _JOIN.lower() in undo_escapes(value) and _format_pair(key, value) not in known:
                message = f"found {_JOIN}, which searches another index: only the suite's own requests may"
                problems.note(value.mark, message)
            others = [name for name in list_named_indexes(key, value) if name not in named]
            if others:
                message = f"found {others[0]!r}, which searches another index: only the suite's own requests may"
                problems.note(value.mark, message)

    def _list_known(self) -> tuple[set[str], set[str]]:
        """The keys with their values that the suite's own requests have, and the indexes that their texts name."""
        known: set[str] = set()
        named: set[str] = set()
        for other in self.others:
            for key, value in _iterate_pairs(other):
                known.add(_format_pair(key, value))
                if isinstance(value, ScalarNode):
                    named.update(list_named_indexes(key, value))
        return known, named

    def _check_fixed(self, node: Node, problems: Problems) -> None:
        """Note where the request is sent elsewhere than the suite's own."""
        assert isinstance(node, MappingNode)
        for name in _FIXED:
            if _read_plain(node.find_child(name)) != _read_plain(find_child(self.own, name)):
                mark = node.find_key(name).mark if name in node else node.mark
                problems.note(mark, f"{name!r} is not that of the suite's request: a text is sent where that is sent")
        routing = find_child(node.find_child("url_params"), "routing")
        if _read_plain(routing) != _read_plain(find_child(find_child(self.own, "url_params"), "routing")):
            mark = node.mark if routing is None else routing.mark
            problems.note(mark, "'routing' is not that of the suite's request: a text is sent where that is sent")
        http, own = node.find_child("http"), find_child(self.own, "http")
        if not isinstance(http, MappingNode) or not isinstance(own, MappingNode):
            return
        for key in (*http, *own):
            if key not in _FREE_OF_HTTP and _read_plain(http.find_child(key)) != _read_plain(own.find_child(key)):
                mark = http.find_key(key).mark if key in http else http.mark
                problems.note(mark, f"{str(key)!r} of 'http' is not that of the suite: change its params or its json")

    def _check_size(self, body: MappingNode, problems: Problems) -> None:
        size = body.find_child("size")
        value = resolve(size) if isinstance(size, ScalarNode) and size.plain else None
        problem = self.explain_size(value)
        if problem:
            problems.note(size.mark, problem)

    def explain_size(self, size: Json) -> str:
        """Why a text must not ask for *size* hits; empty where it may."""
        if not isinstance(size, int | float) or size <= self.depth:
            return ""
        # Not in groups of three digits, which would hide the value of a variable from what masks it.
        return f"found {size} hits, expected at most {self.depth:,}, the depth of the suite"

    def _check_template(self, body: MappingNode, problems: Problems) -> None:
        """Note another template: the engine puts keys into it, or has its text."""
        template = body.find_child("template")
        own = find_child(find_child(self.own, "body") or self.own, "template")
        for key in _FIXED_OF_TEMPLATE if isinstance(template, MappingNode) else ():
            if _read_plain(template.find_child(key)) != _read_plain(find_child(own, key)):
                mark = template.find_key(key).mark if key in template else template.mark
                problems.note(mark, f"{key!r} of 'template' is not that of the suite: change its params")

    def _check_esql(self, body: MappingNode, problems: Problems) -> None:
        """Note a text of ES|QL that reads other indexes, or other policies, than that of the suite."""
        text = esql_node(body)
        query = parse_node(text)
        if text is None or query is None:
            return
        own = parse_node(esql_node(find_child(self.own, "body") or self.own))
        if own is None or query.sources != own.sources:
            message = "this ES|QL does not read what that of the suite reads behind FROM, JOIN and ENRICH: only the "
            problems.note(text.mark, f"{message}suite's own requests may name an index")


def find_size(template: RequestTemplate) -> Json:
    """The hits that *template* asks for; None where it does not say a number."""
    if template.http is not None:
        return read_size(template.http)
    return template.body.get("size") if isinstance(template.body, Mapping) else None


def _names_index(key: str, *, over_http: bool) -> bool:
    if not over_http:
        return key in OTHER_INDEX
    return normalize_name(key).rpartition(".")[2] in OTHER_INDEX_OVER_HTTP


def leave_out_unranked(suite: Suite) -> Suite:
    """*suite*, whose requests for engines lack what does not rank, such as aggregations and highlights."""
    return replace(suite, requests={name: _leave_out(template) for name, template in suite.requests.items()})


def _leave_out(template: RequestTemplate) -> RequestTemplate:
    if template.http is not None or not isinstance(template.body, Mapping):
        return template
    kept = {key: value for key, value in template.body.items() if key not in COSTLY_KEYS}
    return replace(template, body=kept)


def _iterate_pairs(node: Node | None) -> Iterator[tuple[ScalarNode, Node]]:
    """Each key below *node* with its value; an item of a list with the key of the list."""
    if isinstance(node, MappingNode):
        for key, value in node.items():
            yield key, value
            yield from _iterate_pairs(value)
            if isinstance(value, ListNode):
                yield from ((key, item) for item in value if isinstance(item, ScalarNode))
    elif isinstance(node, ListNode):
        for item in node:
            yield from _iterate_pairs(item)


def _format_pair(key: ScalarNode, value: Node) -> str:
    return json.dumps([str(key), _read_plain(value)])


def _read_plain(node: Node | None) -> Json:
    """*node* as JSON, as it is written."""
    if isinstance(node, MappingNode):
        return {str(key): _read_plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_read_plain(item) for item in node]
    return None if node is None else node.raw
