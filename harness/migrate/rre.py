"""
Import and export of files of the Rated Ranking Evaluator (RRE): ratings, and the templates that they name.

Source: RRE's `Engine` (topics, query groups, queries, both forms of relevant documents) and `BaseEvaluationManager`,
which replaces placeholders in the text of a template.
"""

from __future__ import annotations

import glob
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.files.border import Border, check_found
from harness.files.records import read_number
from harness.migrate.draft import Draft, DraftQuery, make_error
from harness.migrate.json_nodes import JsonNode, parse_json, read_import, read_node
from harness.migrate.templates import convert_placeholders, make_param_name, parse_value
from harness.model import Json, Mark, Profile
from harness.suites.placeholders import RESERVED
from harness.suites.requests import ASKING
from harness.words import grouped

_FOLDERS = ("../templates", "templates", ".", "../src/etc/templates")
_VERSION = "${version}"
_DEFAULT_GAIN = 2.0


@dataclass(frozen=True, slots=True)
class _Rated:
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
    for path in _files(sources):
        root = read_node(path)
        if "metrics" in root.members():
            root.refuse("ratings; this is the evaluation that RRE writes")
        found = _drafts(root, path)
        found[0].leave_unread(root)
        drafts += found
    return drafts


def _files(sources: Sequence[str]) -> Iterator[Path]:
    for source in map(Path, sources):
        if not source.is_dir():
            yield source
            continue
        found = sorted(source.glob("ratings/*.json")) or sorted(source.glob("*.json"))
        if not found:
            raise UsageError(f"{source}: the folder has no ratings/*.json")
        for path in found:
            check_found(path, source)
            yield path


def _drafts(root: JsonNode, path: Path) -> list[Draft]:
    index = root.get("index")
    placeholder = root.get("query_placeholder")
    text_name = "$query" if placeholder is None else placeholder.text()
    by_template = grouped(("" if one.template is None else one.template.text(), one) for one in _rated(root))
    if not by_template:
        root.refuse("topics, query groups or queries with at least one query")
    drafts = []
    id_field = root.get("id_field")
    for template, chosen in by_template.items():
        draft = Draft(Profile.RRE, index=None if index is None else index.text())
        draft.id_field = None if id_field is None or id_field.text() == "_id" else id_field.text()
        draft.name = path.stem if len(by_template) == 1 else f"{path.stem}-{Path(template).stem}"
        names = _names(chosen, text_name)
        for rated in chosen:
            _add(draft, rated, text_name, names)
        if template:
            _add_request(draft, chosen, path, names)
        drafts.append(draft)
    if len(drafts) > 1:
        drafts[0].leave(root.place, f"the mean over all queries: each template is a suite, {len(drafts)} in all")
    return drafts


def _rated(root: JsonNode) -> Iterator[_Rated]:
    for topic in _below(root, "topics"):
        for group in _below(topic, "query_groups"):
            tags = tuple(dict.fromkeys(name for node in (topic, group) if node is not root and (name := _name(node))))
            for node in _below(group, "queries", required=True):
                templates = (one.get("template") for one in (node, group, topic, root))
                documents = (one.get("relevant_documents") for one in (node, group))
                yield _Rated(node, tags, _first(templates), _first(documents))


def _first(found: Iterable[JsonNode | None]) -> JsonNode | None:
    return next((one for one in found if one is not None), None)


def _below(node: JsonNode, key: str, *, required: bool = False) -> Iterator[JsonNode]:
    """The nodes under *key*; *node* itself if the file leaves out that level, as Quepid's export does."""
    found = node.need(key) if required else node.get(key)
    if found is None:
        yield node
    else:
        yield from found.elements()


def _name(node: JsonNode) -> str:
    """The name of a topic or a group, or else its description: RRE prefers the description, which is long for a tag."""
    found = node.get("name", "description")
    return "" if found is None else found.text().strip()


def _names(chosen: Sequence[_Rated], text_name: str) -> dict[str, str]:
    """Placeholder to its name in the suite; no two placeholders get the same name."""
    taken = set(RESERVED)
    theirs = dict.fromkeys(name for rated in chosen for name in rated.node.need("placeholders").members())
    return {name: "text" if name == text_name else make_param_name(name, taken) for name in theirs}


def _add(draft: Draft, rated: _Rated, text_name: str, names: Mapping[str, str]) -> None:
    placeholders = rated.node.need("placeholders")
    values = {name: value.json() for name, value in placeholders.items()}
    if text_name not in values:
        placeholders.refuse(f"the placeholder {text_name!r} in it")
    text = _as_text(values.pop(text_name))
    query = draft.add_text(text)
    query.params = {names[name]: _as_text(value) for name, value in values.items()}
    query.place = placeholders.place
    query.tags = list(rated.tags)
    within = _replaced_within(placeholders)
    if within:
        what = "placeholders that RRE replaces within other ones; a suite fills each by itself"
        draft.leave(placeholders.place, what, first=within)
    if rated.documents is not None:
        _judge(draft, query, rated.documents)


def _replaced_within(placeholders: JsonNode) -> str:
    """
    A description of the first placeholder that RRE replaces within another one; empty if there is none.

    RRE replaces one after the other, so a name is found in the name of a later one and in the value of an earlier one.
    """
    given = [(name, _as_text(value.json())) for name, value in placeholders.items() if name]
    for place, (name, value) in enumerate(given):
        for later, _ in given[place + 1 :]:
            if name in later:
                return f"{name!r} in {later!r}"
            if later in value:
                return f"{later!r} in the value of {name!r}"
    return ""


def _as_text(value: Json) -> str:
    """The value of a placeholder as RRE inserts it: the result of Jackson's `asText`."""
    if isinstance(value, str):
        return value
    return "" if isinstance(value, (dict, list)) else json.dumps(value)


def _judge(draft: Draft, query: DraftQuery, documents: JsonNode) -> None:
    """Add judgments in either form: a document with its gain, or a gain with its documents."""
    if documents.value == []:
        return
    for key, value in documents.items():
        if isinstance(value.value, list):
            gain = read_number(key)
            if gain is None or not math.isfinite(gain):
                raise make_error(value.place, f"found the key {key!r}, expected a gain with its documents")
            for document in value.elements():
                draft.judge(query, document.text(), gain, document.place)
        elif isinstance(value.value, dict):
            gained = value.get("gain", "rating")
            if gained is None:
                draft.leave_document(query, key, value.place, "documents without a gain; they get 2, RRE's default")
            draft.judge(query, key, _DEFAULT_GAIN if gained is None else gained.number(), value.place)
        else:
            draft.judge(query, key, value.number(), value.place)


def _add_request(draft: Draft, chosen: Sequence[_Rated], ratings: Path, names: Mapping[str, str]) -> None:
    """Make the template the request of *draft*, if it is found and is a body of _search."""
    named = chosen[0].template
    assert named is not None
    found = _find(ratings, named.text())
    if not found:
        draft.leave(named.place, f"the template {named.text()!r}, which is in no folder 'templates' beside the ratings")
        return
    path = found[0]
    if _VERSION in named.text():
        draft.leave(named.place, f"the other versions of the template {named.text()!r}; {path} is carried over")
    elif len(found) > 1:
        draft.leave(named.place, f"the other files {named.text()!r} below the same folder; {path} is carried over")
    source, place = read_import(path), Mark(str(path), 1, 1)
    theirs = re.compile("|".join(map(re.escape, sorted(filter(None, names), key=len, reverse=True))))
    written, bare = convert_placeholders(source.text, theirs, lambda match: names[match[0]])
    try:
        body = parse_json(written)
    except ValueError as error:
        draft.leave(place, f"the template, which is not JSON: {error}")
        return
    if not isinstance(body, dict) or not body.keys() & ASKING:
        draft.leave(place, "the template, which is not a body of _search")
        return
    beside = sorted(body.keys() - {"query"}) if "query" in body else []
    if beside:
        draft.leave(place, f"{', '.join(map(repr, beside))} of the template, as RRE sends its query alone")
    draft.request = {key: value for key, value in body.items() if key not in beside}
    for query in draft.queries:
        query.params = {name: parse_value(value) if name in bare else value for name, value in query.params.items()}


def _find(ratings: Path, name: str) -> list[Path]:
    """The files that match the name of a template in the first folder with a match; the one to use comes first."""
    if "\0" in name:  # `Path.glob` raises on Python 3.13
        return []
    pattern = "*".join(map(glob.escape, name.lstrip("/").split(_VERSION)))
    for folder in _FOLDERS:
        base = ratings.parent / folder
        candidates = [*sorted(base.glob(pattern)), *sorted(base.glob(f"*/{pattern}"))] if pattern else []
        border = Border(base, [ratings.parent / name for name in _FOLDERS])  # the name may have .. in it
        found = [path for path in candidates if path.is_file() and border.explain_refusal(path) is None]
        if found:
            return [Path(os.path.normpath(one)) for one in (reversed(found) if _VERSION in name else found)]
    return []
