"""The indexes that a text inside a request names: collections of GraphQL, joins of Typesense, sources of YQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.config.addresses import normalize_name

_TYPESENSE_JOIN = re.compile(r"\$([^\s()$]+)\s*\(")
"""A collection that is joined, as in `$reviews(stars:>3)`."""

_YQL_SOURCES = re.compile(r"\bfrom\s+(?:sources\s+)?(.*?)(?=\s+where\b|\s+limit\b|[;)]|$)", re.IGNORECASE | re.DOTALL)

_GRAPHQL_TOKEN = re.compile(
    r"""
    \"{3}(?:\\"{3}|.)*?(?:"{3}|$)  # a block of text
    | "(?:\\.|[^"\\\n])*"?         # a text
    | \#[^\n]*                     # a comment
    | [$@]?[A-Za-z_]\w*            # a name, a variable, a directive
    | [{}():]
    """,
    re.VERBOSE | re.DOTALL,
)


def list_named_indexes(key: str, text: str) -> Iterator[str]:
    """
    The indexes that *text*, the value of *key* in a request over HTTP, names; of what only may be one too.

    >>> list(list_named_indexes("filter_by", "price:>5 && $reviews(stars:>3)"))
    ['reviews']
    >>> list(list_named_indexes("yql", "select * from sources products, users where true"))
    ['products', 'users']
    """
    name = normalize_name(key).rpartition(".")[2]
    yield from (match[1] for match in _TYPESENSE_JOIN.finditer(text))
    if name == "yql":
        for match in _YQL_SOURCES.finditer(text):
            yield from filter(None, re.split(r"[\s,]+", match[1]))
    # The query of Solr begins with a brace too, if it has local params.
    if name == "query" and "{" in text and not text.lstrip().startswith("{!"):
        yield from _list_fields(text)


def _list_fields(text: str) -> Iterator[str]:
    """
    The fields of GraphQL that may stand for a collection, and the types of fragments.

    The fields are those at the top, and those with a capital letter and fields or arguments of their own, as the
    collections of Weaviate.
    """
    tokens = [token for token in _GRAPHQL_TOKEN.findall(text) if token[0] not in '"#@']
    braces = parentheses = 0
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        braces += {"{": 1, "}": -1}.get(token, 0)
        parentheses += {"(": 1, ")": -1}.get(token, 0)
        if not (token[0].isalpha() or token[0] == "_"):
            continue
        is_top = braces == 1 and not parentheses and after != ":"
        is_collection = token[0].isupper() and braces > 0 and after in ("(", "{")
        if is_top or is_collection or before == "on":
            yield token
