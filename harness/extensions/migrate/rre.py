"""
Import of files of the Rated Ranking Evaluator (RRE): ratings, and the templates that they name.

Source: RRE's `Engine` (topics, query groups, queries, both forms of relevant documents) and `BaseEvaluationManager`,
which replaces placeholders in the text of a template.
"""

from __future__ import annotations

import glob
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.drafts.draft import Draft, DraftQuery, make_error
from harness.errors import UsageError
from harness.extensions.migrate.json_nodes import JsonNode, note_unread, parse_text, read_import, read_node
from harness.extensions.migrate.templates import convert_placeholders, make_param_name, parse_value
from harness.files.border import Border, check_found
from harness.files.tables import read_number
from harness.model.suite import Json, Mark, Profile
from harness.suites.placeholders import RESERVED
from harness.suites.request_files import SELECTING_KEYS

_FOLDERS = ("../templates", "templates", ".", "../src/etc/templates")
_VERSION = "${version}"
_DEFAULT_GAIN = 2.0


@dataclass(frozen=True, slots=True)
class _RatedQuery:
    """A query of a file of ratings, with what it inherits from its group and topic."""

    node: JsonNode
    tags: tuple[str, ...]
    template: JsonNode | None
    documents: JsonNode | None


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read the suites of files of ratings: one for each template that a file names.

    Args:
        sources: Files of ratings, or folders with ``ratings/*.json`` or ``*.json``. Templates are looked up in
            `_FOLDERS`, relative to the file of ratings.

    Raises:
        InputError: A file cannot be read or does not contain ratings.
        UsageError: A folder has no such files.
    """
    drafts: list[Draft] = []
    for path in _list_files(sources):
        root = read_node(path)
        if "metrics" in root.members():
            root.refuse("ratings; this is the evaluation that RRE writes")
        drafts_of_file = _read_ratings(root, path)
        note_unread(drafts_of_file[0], root)
        drafts += drafts_of_file
    return drafts


def _list_files(sources: Sequence[str]) -> Iterator[Path]:
    for source in map(Path, sources):
        if not source.is_dir():
            yield source
            continue
        paths = sorted(source.glob("ratings/*.json")) or sorted(source.glob("*.json"))
        if not paths:
            raise UsageError(f"{source}: the folder has no ratings/*.json")
        for path in paths:
            check_found(path, source)
            yield path


def _read_ratings(root: JsonNode, path: Path) -> list[Draft]:
    index = root.get("index")
    id_field = root.get("id_field")
    placeholder = root.get("query_placeholder")
    text_name = "$query" if placeholder is None else placeholder.text()
    by_template: dict[str, list[_RatedQuery]] = {}
    for rated in _list_queries(root):
        template = "" if rated.template is None else rated.template.text()
        by_template.setdefault(template, []).append(rated)
    if not by_template:
        root.refuse("topics, query groups or queries with at least one query")
    drafts = []
    for template, queries in by_template.items():
        draft = Draft(Profile.RRE, index=None if index is None else index.text())
        if id_field is not None and id_field.text() != "_id":
            draft.id_field = id_field.text()
        draft.name = path.stem if len(by_template) == 1 else f"{path.stem}-{Path(template).stem}"
        names = _name_params(queries, text_name)
        for rated in queries:
            _add_query(draft, rated, text_name, names)
        # All queries of the draft name the same template.
        if template and queries[0].template is not None:
            _add_request(draft, queries[0].template, path, names)
        drafts.append(draft)
    if len(drafts) > 1:
        drafts[0].add_leftover(root.place, f"the mean over all queries: each template is a suite, {len(drafts)} in all")
    return drafts


def _list_queries(root: JsonNode) -> Iterator[_RatedQuery]:
    """The queries of all topics and groups."""
    for topic in _list_below(root, "topics"):
        for group in _list_below(topic, "query_groups"):
            # A level that the file leaves out is the level above it, which may be the file itself.
            tags = [_get_name(node) for node in (topic, group) if node is not root]
            distinct_tags = tuple(dict.fromkeys(filter(None, tags)))
            for node in _list_below(group, "queries", required=True):
                template = _get_first([node, group, topic, root], "template")
                documents = _get_first([node, group], "relevant_documents")
                yield _RatedQuery(node, distinct_tags, template, documents)


def _get_first(holders: Sequence[JsonNode], key: str) -> JsonNode | None:
    """The value of *key* in the first of *holders* that has one: the nearest level counts."""
    for holder in holders:
        value = holder.get(key)
        if value is not None:
            return value
    return None


def _list_below(node: JsonNode, key: str, *, required: bool = False) -> Iterator[JsonNode]:
    """The nodes under *key*; *node* itself if the file leaves out that level, as Quepid's export does."""
    level = node.require(key) if required else node.get(key)
    if level is None:
        yield node
    else:
        yield from level.elements()


def _get_name(node: JsonNode) -> str:
    """The name of a topic or a group, or else its description: RRE prefers the description, which is long for a tag."""
    name = node.get("name", "description")
    return "" if name is None else name.text().strip()


def _name_params(queries: Sequence[_RatedQuery], text_name: str) -> dict[str, str]:
    """Placeholder to its name in the suite; no two placeholders get the same name."""
    taken = set(RESERVED)
    names: dict[str, str] = {}
    for rated in queries:
        for placeholder in rated.node.require("placeholders").members():
            if placeholder not in names:
                names[placeholder] = "text" if placeholder == text_name else make_param_name(placeholder, taken)
    return names


def _add_query(draft: Draft, rated: _RatedQuery, text_name: str, names: Mapping[str, str]) -> None:
    placeholders = rated.node.require("placeholders")
    values = {name: value.json() for name, value in placeholders.items()}
    if text_name not in values:
        placeholders.refuse(f"the placeholder {text_name!r} in it")
    query = draft.add_text(_format_value(values.pop(text_name)))
    query.params = {names[name]: _format_value(value) for name, value in values.items()}
    query.place = placeholders.place
    query.tags = list(rated.tags)
    nested = _find_nested_placeholder(placeholders)
    if nested:
        what = "placeholders that RRE replaces within other ones; a suite fills each by itself"
        draft.add_leftover(placeholders.place, what, first=nested)
    if rated.documents is not None:
        _add_judgments(draft, query, rated.documents)


def _find_nested_placeholder(placeholders: JsonNode) -> str:
    """
    A description of the first placeholder that RRE replaces within another one; empty if there is none.

    RRE replaces one after the other, so a name is found in the name of a later one and in the value of an earlier one.
    """
    values = [(name, _format_value(value.json())) for name, value in placeholders.items() if name]
    for number, (name, value) in enumerate(values, start=1):
        for later, _ in values[number:]:
            if name in later:
                return f"{name!r} in {later!r}"
            if later in value:
                return f"{later!r} in the value of {name!r}"
    return ""


def _format_value(value: Json) -> str:
    """The value of a placeholder as RRE inserts it: the result of Jackson's `asText`."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return ""
    return json.dumps(value)


def _add_judgments(draft: Draft, query: DraftQuery, documents: JsonNode) -> None:
    """Add judgments in either form: a document with its gain, or a gain with its documents."""
    if documents.value == []:
        return
    for key, value in documents.items():
        if isinstance(value.value, list):
            gain = read_number(key)
            if gain is None or not math.isfinite(gain):
                raise make_error(value.place, f"found the key {key!r}, expected a gain with its documents")
            for document in value.elements():
                draft.add_judgment(query, document.text(), gain, document.place)
        elif isinstance(value.value, dict):
            gain_node = value.get("gain", "rating")
            if gain_node is None:
                draft.add_document_leftover(
                    query, key, value.place, "documents without a gain; they get 2, RRE's default"
                )
            draft.add_judgment(query, key, _DEFAULT_GAIN if gain_node is None else gain_node.number(), value.place)
        else:
            draft.add_judgment(query, key, value.number(), value.place)


def _add_request(draft: Draft, template: JsonNode, ratings: Path, names: Mapping[str, str]) -> None:
    """Make the template the request of *draft*, if it is found and is a body of _search."""
    name = template.text()
    paths = _find_templates(ratings, name)
    if not paths:
        draft.add_leftover(
            template.place, f"the template {name!r}, which is in no folder 'templates' beside the ratings"
        )
        return
    path = paths[0]
    if _VERSION in name:
        draft.add_leftover(template.place, f"the other versions of the template {name!r}; {path} is carried over")
    elif len(paths) > 1:
        draft.add_leftover(template.place, f"the other files {name!r} below the same folder; {path} is carried over")
    place = Mark(str(path), 1, 1)
    # The longest first: RRE's placeholders have no end, and $query begins $query_type.
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    placeholders = re.compile("|".join(map(re.escape, longest_first)))
    text, unquoted = convert_placeholders(read_import(path).text, placeholders, lambda match: names[match[0]])
    try:
        body = parse_text(text)
    except ValueError as error:
        draft.add_leftover(place, f"the template, which is not JSON: {error}")
        return
    if not isinstance(body, dict) or not body.keys() & SELECTING_KEYS:
        draft.add_leftover(place, "the template, which is not a body of _search")
        return
    # RRE sends nothing but the query, if the template has one.
    superfluous = sorted(body.keys() - {"query"}) if "query" in body else []
    if superfluous:
        draft.add_leftover(place, f"{', '.join(map(repr, superfluous))} of the template, as RRE sends its query alone")
    draft.request = {key: value for key, value in body.items() if key not in superfluous}
    for query in draft.queries:
        for param in query.params.keys() & unquoted:
            query.params[param] = parse_value(query.params[param])


def _find_templates(ratings: Path, name: str) -> list[Path]:
    """The files that match the name of a template in the first folder with a match; the one to use comes first."""
    if "\0" in name:  # `Path.glob` raises on Python 3.13
        return []
    pattern = "*".join(map(glob.escape, name.lstrip("/").split(_VERSION)))
    if not pattern:
        return []
    # The name may have .. in it, and must not lead out of these folders.
    roots = [ratings.parent / folder for folder in _FOLDERS]
    for root in roots:
        border = Border(root, roots)
        candidates = [*sorted(root.glob(pattern)), *sorted(root.glob(f"*/{pattern}"))]
        paths = [path for path in candidates if path.is_file() and border.explain_refusal(path) is None]
        if paths and _VERSION in name:
            paths.reverse()  # the last version
        if paths:
            return [Path(os.path.normpath(path)) for path in paths]
    return []
