"""
What a server has stored that decides how a request matches and scores: mappings, settings, scripts, pipelines.

`find_references` collects what requests can name of it, `read_definitions` reads these parts. Two results show whether
a part changed between. Parts that cannot change a ranking are left out: `_meta`, replicas, refreshes and lifecycles,
and fields that no request names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias
from urllib.parse import quote, urlencode

from harness.errors import SearchError
from harness.masking import fingerprint
from harness.model.request import SearchRequest
from harness.model.run import Definitions
from harness.model.suite import Json, iterate_members
from harness.search.answers import read_json
from harness.search.connection import Connection
from harness.search.fields import LISTING, list_parents
from harness.search.hits import make_printable
from harness.search.msearch import INDEX_PARAMS, make_index_path

# What requests name.


StoredObject: TypeAlias = tuple[str, str]
"""What a server has stored under a name of its own: its kind, a key of `_PATHS`, and the name."""

_PATHS: Mapping[str, str] = {
    "stored script": "/_scripts/{}",
    "search template": "/_scripts/{}",
    "search pipeline": "/_search/pipeline/{}",
    "query ruleset": "/_query_rules/{}",
    "synonyms set": "/_synonyms/{}?size=10000",
}
"""Where each kind of stored object is read."""

ANY_FIELD = "*"

_WORD = re.compile(r"[^\W\d][\w.@-]*")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_PATTERN = re.compile(r"([\w.@-]*\*[\w.@*-]*)(\^[\d.]+)?")
_QUOTED_PATTERN = re.compile(r'["\']([\w.@-]*\*[\w.@*-]*)(?:\^[\d.]+)?["\']')
_SCRIPT_IN_TEXT = re.compile(r'script"\s*:\s*\{\s*"id"\s*:\s*"([^"{}]+)"')


@dataclass(frozen=True, slots=True)
class References:
    """What requests can name of what a server has stored."""

    words: frozenset[str] = frozenset()
    """All words of the requests, among which are the names of fields."""
    patterns: frozenset[str] = frozenset()
    """Patterns that stand for fields, such as `title_*`."""
    objects: frozenset[StoredObject] = frozenset()

    def __or__(self, other: References) -> References:
        """What either names."""
        return References(self.words | other.words, self.patterns | other.patterns, self.objects | other.objects)

    def names_field(self, field: str) -> bool:
        """Whether *field*, or a part of it, is named."""
        return field in self.words

    def matches_field(self, field: str) -> bool:
        """Whether a pattern stands for *field*."""
        return any(fnmatchcase(field, pattern) for pattern in self.patterns)

    def concerns_field(self, field: str) -> bool:
        """Whether *field* is named, or a pattern stands for it."""
        return self.names_field(field) or self.matches_field(field)


EVERYTHING = References(patterns=frozenset({ANY_FIELD}))
"""For requests that are not known before they are sent."""


def find_references(body: Json, url_params: Mapping[str, Json], values: Iterable[Json] = ()) -> References:
    """
    What requests name.

    Args:
        body: A request's body, which may have placeholders.
        url_params: Its parameters.
        values: The texts and params of the queries, which may name fields too.
    """
    words = set(_walk_words([body, url_params]))
    for value in values:
        words.update(_walk_words(value))
    # A field that is named is a part of objects, whose own definition counts too.
    for word in list(words):
        words.update(list_parents(word))
    objects = {*_walk_objects(body), *_walk_objects(url_params)}
    return References(frozenset(words), frozenset(_walk_patterns(body)), frozenset(objects))


def _walk_strings(value: Json) -> Iterator[str]:
    """Each key and each text in *value*, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield key
            yield from _walk_strings(member)
    elif isinstance(value, list):
        if value and isinstance(value[0], float):
            return  # a vector, which may have thousands of numbers
        for item in value:
            yield from _walk_strings(item)


def _walk_words(value: Json) -> Iterator[str]:
    for text in _walk_strings(value):
        for word in _WORD.findall(text):
            yield word.rstrip(".-")


def _walk_patterns(body: Json) -> Iterator[str]:
    """The patterns of fields in *body*, and `*` where a query without fields searches all of them."""
    for key, value in iterate_members(body):
        if key in ("fields", "default_field"):
            for field in value if isinstance(value, list) else [value]:
                match = _PATTERN.fullmatch(field) if isinstance(field, str) else None
                if match is not None:
                    yield match[1]
        elif key in LISTING and isinstance(value, Mapping) and not {"fields", "default_field"} & value.keys():
            yield ANY_FIELD
        elif key == "source" and isinstance(value, str):
            yield from _walk_source_patterns(value)
    for text in _walk_strings(body):
        # Each `{{` after the last closing braces would be searched to the end of the text.
        border = text.rfind("}}") + 2
        pattern = _PLACEHOLDER.sub("*", text[:border]) + text[border:]
        if pattern != text and _PATTERN.fullmatch(pattern) and _WORD.search(pattern):
            yield pattern


def _walk_source_patterns(source: str) -> Iterator[str]:
    """The same for the source of a search template, a text."""
    for match in _QUOTED_PATTERN.finditer(source):
        yield match[1]
    if any(f'"{kind}"' in source for kind in LISTING) and '"fields"' not in source:
        yield ANY_FIELD


def _walk_objects(content: Json) -> Iterator[StoredObject]:
    for key, value in iterate_members(content):
        name = value.get("id") if isinstance(value, Mapping) else None
        if key.endswith("script") and isinstance(name, str):
            yield "stored script", name
        elif key == "template" and isinstance(name, str):
            yield "search template", name
        elif key == "search_pipeline" and isinstance(value, str):
            yield "search pipeline", value
        elif key in ("ruleset_id", "ruleset_ids"):
            for ruleset in value if isinstance(value, list) else [value]:
                if isinstance(ruleset, str):
                    yield "query ruleset", ruleset
        elif key == "source" and isinstance(value, str):
            # The source of a search template is a text, which may name scripts.
            for script in _SCRIPT_IN_TEXT.findall(value):
                yield "stored script", script


def find_objects(requests: Iterable[SearchRequest]) -> frozenset[StoredObject]:
    """The stored objects that *requests*, which have no placeholders any more, name."""
    objects: set[StoredObject] = set()
    for request in requests:
        objects.update(_walk_objects(request.body))
        objects.update(_walk_objects(request.url_params))
    return frozenset(objects)


# What a server has.


HARMLESS_PARAMETERS = frozenset(
    {
        "coerce", "copy_to", "dynamic", "eager_global_ordinals", "fields", "ignore_above", "ignore_malformed", "meta",
        "properties",
    }
)  # fmt: skip
"""Parameters of a field that change no search of documents that are there, and those that hold other fields."""

COMPUTED_FIELDS = ("derived", "runtime")
"""The keys of a mapping with fields that are computed for each search."""

SEARCH_SETTINGS = ("analysis", "knn", "query", "query_string", "similarity")
"""The settings of an index that searches depend on. All others are about storage, writes, limits and lifecycles."""


def read_definitions(
    connection: Connection,
    index: str | None,
    references: References,
    timeout: float,
    url_params: Mapping[str, str],
) -> Definitions:
    """
    What the server has stored of *references*, for searches of *index*, which may be an alias or a pattern.

    Nothing is sent again, and nothing more once a request has no answer within *timeout* seconds.
    """
    return _DefinitionsReader(connection, timeout).read(index, references, url_params)


class _DefinitionsReader:
    """Reads the parts of `Definitions` one after the other, until the server does not answer."""

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self._is_answering = timeout > 0
        self._named: dict[str, dict[str, str]] = {}
        self._matched: dict[str, dict[str, str]] = {}
        self._unread: list[str] = []

    def read(self, index: str | None, references: References, url_params: Mapping[str, str]) -> Definitions:
        """See `read_definitions`."""
        settings = self._read_each(index, "settings", url_params)
        references |= References(objects=frozenset(self._take_settings(settings)))
        references |= self._read_objects(references.objects)
        mappings = self._read_each(index, "mappings", url_params)
        self._take_mappings(mappings, references)
        return Definitions(self._named, self._matched, tuple(self._unread))

    def _ask(self, path: str) -> tuple[int, Json]:
        """The status and the content of the answer; 0 and None where there is none."""
        if self._is_answering:
            try:
                answer = self._connection.perform("GET", path, timeout=self._timeout)
                return answer.status, read_json(answer)
            except SearchError:
                self._is_answering = False
        return 0, None

    def _read_each(
        self, index: str | None, key: str, url_params: Mapping[str, str]
    ) -> Mapping[str, Mapping[str, Json]]:
        """The *key*, "settings" or "mappings", of each index behind *index*; nothing where it cannot be read."""
        if index is None:
            return {}
        endpoint, unread = ("_mapping", "the mapping") if key == "mappings" else ("_settings", "the settings")
        path = f"{make_index_path(index)}/{endpoint}"
        query = urlencode({name: url_params[name] for name in INDEX_PARAMS if name in url_params})
        if query:
            path += f"?{query}"
        status, content = self._ask(path)
        parts: dict[str, Mapping[str, Json]] = {}
        if status == 200 and isinstance(content, Mapping):
            for name, member in content.items():
                part = _get_member(member, key)
                if isinstance(part, Mapping):
                    parts[make_printable(name)] = part
        if not parts:
            self._unread.append(unread)
        return parts

    def _take_settings(self, settings: Mapping[str, Mapping[str, Json]]) -> list[StoredObject]:
        """Take the *settings* of each index; returns the stored objects that they name."""
        objects: list[StoredObject] = []
        for index, member in settings.items():
            own_settings = _as_mapping(member.get("index"))
            parts = {name: own_settings[name] for name in SEARCH_SETTINGS if name in own_settings}
            pipeline = _get_member(own_settings, "search", "default_pipeline")
            if isinstance(pipeline, str):
                parts["search.default_pipeline"] = pipeline
                if pipeline != "_none":
                    objects.append(("search pipeline", pipeline))
            self._named[f"settings of {index}"] = {name: fingerprint(value) for name, value in parts.items()}
            for key, value in iterate_members(own_settings.get("analysis")):
                if key == "synonyms_set":
                    names = value if isinstance(value, list) else [value]
                    objects += [("synonyms set", name) for name in names if isinstance(name, str)]
        return objects

    def _read_objects(self, objects: Iterable[StoredObject]) -> References:
        """Take the stored *objects*, and those that they name; returns what those name that were not read before."""
        references = References()
        pending = sorted(objects)
        while pending:
            kind, name = pending.pop(0)
            place = f"{kind} {make_printable(name)}"
            is_read_already = place in self._named or f"the {place}" in self._unread
            if is_read_already:
                continue
            status, content = self._ask(_PATHS[kind].format(quote(name, safe="")))
            if status == 404:
                # It has no parts: it differs from itself once it is there.
                self._named[place] = {}
            elif status == 200 and isinstance(content, Mapping):
                self._named[place] = {"": fingerprint(content)}
                references_of_object = find_references(content, {})
                references |= references_of_object
                pending += sorted(references_of_object.objects)
            else:
                self._unread.append(f"the {place}")
        return references

    def _take_mappings(self, mappings: Mapping[str, Mapping[str, Json]], references: References) -> None:
        """Take those fields of *mappings* that *references*, or a computed field that they name, name."""
        for index, mapping in mappings.items():
            fields = list(_walk_fields(mapping))
            references = _add_computed_fields(fields, references)
            named: dict[str, str] = {}
            matched: dict[str, str] = {}
            for field in fields:
                is_matched = references.matches_field(field.name)
                if references.names_field(field.name) or (field.is_computed and is_matched):
                    named[field.name] = field.fingerprint
                elif is_matched:
                    matched[field.name] = field.fingerprint
            self._named[f"mapping of {index}"] = named
            self._matched[f"mapping of {index}"] = matched


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a mapping. It is computed if a search makes its values from a script or from another field."""

    name: str
    definition: Mapping[str, Json]
    is_computed: bool

    @property
    def fingerprint(self) -> str:
        """A fingerprint of its definition, without `HARMLESS_PARAMETERS`."""
        return fingerprint({key: value for key, value in self.definition.items() if key not in HARMLESS_PARAMETERS})


def _add_computed_fields(fields: Sequence[_Field], references: References) -> References:
    """*references*, and what those computed *fields* name that these name, and so on."""
    computed = [field for field in fields if field.is_computed]
    while True:
        definitions = [field.definition for field in computed if references.concerns_field(field.name)]
        extended = references | find_references(definitions, {})
        if extended == references:
            return references
        references = extended


def _walk_fields(mapping: Mapping[str, Json]) -> Iterator[_Field]:
    """Each field of *mapping*, at any depth."""
    for key in COMPUTED_FIELDS:
        for name, definition in _as_mapping(mapping.get(key)).items():
            yield _Field(name, _as_mapping(definition), is_computed=True)
            for part in _as_mapping(_as_mapping(definition).get("fields")):
                yield _Field(f"{name}.{part}", _as_mapping(definition), is_computed=True)
    pending = [("", mapping)]
    while pending:
        path, parent = pending.pop()
        for key in ("properties", "fields"):
            for name, member in _as_mapping(parent.get(key)).items():
                field = f"{path}.{name}" if path else name
                definition = _as_mapping(member)
                yield _Field(field, definition, is_computed=definition.get("type") == "alias")
                pending.append((field, definition))


def _as_mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _get_member(value: Json, *path: str) -> Json:
    for name in path:
        value = _as_mapping(value).get(name)
    return value
