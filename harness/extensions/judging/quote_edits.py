"""Puts quotes beside their queries in the text of a suite, with the least change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import yaml

from harness.errors import InputError
from harness.extensions.judging.grade_edits import format_key, list_query_nodes, read_plain
from harness.files.editing import Edit, add_members, apply_edits, compose_nodes, find_node, insert_below, replace_node
from harness.model.suite import Quote
from harness.suites.dumping import escape_dollars, format_scalar, quote_doubly
from harness.words import format_exactly

WrittenQuotes: TypeAlias = Mapping[str, Sequence[Quote]]
"""Quotes by the id of their query."""


def add_quotes(text: str, quotes: WrittenQuotes) -> str | None:
    """*text*, a suite, with *quotes* beside their queries; None where they cannot be put there without more changes."""
    try:
        edited = apply_edits(text, _edit_quotes(text, quotes))
        queries, others = _read_quotes(text)
        expected = {name: [*written, *map(_list_values, quotes.get(name, ()))] for name, written in queries.items()}
        is_sound = _read_quotes(edited) == (expected, others)
    except (InputError, yaml.YAMLError):
        return None
    return edited if is_sound else None


def list_quotable_queries(text: str) -> set[str]:
    """The ids of the queries that stand in *text*, a suite, itself."""
    return set(list_query_nodes(compose_nodes(text)))


def _edit_quotes(text: str, quotes: WrittenQuotes) -> list[Edit]:
    edits: list[Edit] = []
    nodes = list_query_nodes(compose_nodes(text))
    for query, new_quotes in quotes.items():
        entry = nodes[query]
        sibling = entry.value[-1][0]
        items = [_format_quote(quote, sibling) for quote in new_quotes]
        known = find_node(entry, ["quotes"])
        key = format_key("quotes", sibling)
        if known is None and entry.flow_style:
            edits += add_members(text, entry, [f"{key}: [{', '.join(items)}]"])
        elif known is None:
            edits.append(insert_below(text, entry, [f"{key}:", *(f"  - {item}" for item in items)]))
        elif not isinstance(known, yaml.SequenceNode) or not known.value:
            edits.append(replace_node(text, known, f"[{', '.join(items)}]"))
        elif known.flow_style:
            end = known.value[-1].end_mark.index
            edits.append((end, end, "".join(f", {item}" for item in items)))
        else:
            edits.append(insert_below(text, known, [f"- {item}" for item in items]))
    return edits


def _format_quote(quote: Quote, sibling: Any) -> str:
    """*quote* as a mapping in braces, with keys as *sibling* is written."""
    members = []
    for name, value in _list_values(quote):
        written = value if name == "grade" else quote_doubly(value)
        if name == "document" and sibling.style != '"':
            written = format_scalar(value)
        members.append(f"{format_key(name, sibling)}: {written}")
    return "{" + ", ".join(members) + "}"


def _list_values(quote: Quote) -> list[tuple[str, str]]:
    """The keys of *quote* with their values, as `read_plain` finds them in the suite."""
    values = [("text", str(escape_dollars(quote.text)))]
    if quote.document:
        values.append(("document", str(escape_dollars(quote.document))))
    return [*values, ("grade", format_exactly(quote.grade))]


def _read_quotes(text: str) -> tuple[dict[str, Any], Any]:
    """The quotes of each query of *text*, a suite, and all else in it, as nested lists of scalars."""
    root = compose_nodes(text)
    quotes: dict[str, Any] = {}
    for query, entry in list_query_nodes(root).items():
        quotes[query] = read_plain(find_node(entry, ["quotes"])) or []
        entry.value = [(key, value) for key, value in entry.value if key.value != "quotes"]
    return quotes, read_plain(root)
