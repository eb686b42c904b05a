"""Lists of fields with their weights, as requests have them: ``title^3``, in a list or in one text. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from harness.extensions.compare.why.clauses import make_list
from harness.model.suite import Json

FIELD_LISTS = frozenset({"fields"})
"""Keys of lists of texts such as ``title^3``."""

FIELD_TEXTS = frozenset({"qf", "pf", "pf2", "pf3", "bf"})
"""Parameters of Solr: texts such as ``title^3 name``."""

COUPLED_NAMES, COUPLED_WEIGHTS = "query_by", "query_by_weights"
"""Two texts of Typesense, such as ``title,name`` and ``3,1``, which belong together."""


NamedWeight: TypeAlias = tuple[str, "str | None"]
"""The name of a field, and its weight as it is written; None where it has none."""


def write_field(name: str, weight: str | None) -> str:
    """A field as a text: ``title^3``."""
    return name if weight is None else f"{name}^{weight}"


def write_list(fields: Sequence[NamedWeight]) -> list[str]:
    """The texts of *fields* as a list."""
    return [write_field(*pair) for pair in fields]


def write_text(fields: Sequence[NamedWeight]) -> str:
    """The texts of *fields* as one, as Solr has them."""
    return " ".join(write_list(fields))


def write_names(fields: Sequence[NamedWeight]) -> str:
    """The first of two coupled texts."""
    return ",".join(name for name, _ in fields)


def write_weights(fields: Sequence[NamedWeight]) -> str:
    """The second of two coupled texts."""
    return ",".join(weight or "1" for _, weight in fields)


def read_field(text: str) -> NamedWeight:
    """
    The name and the weight in *text*.

    >>> read_field("title^3"), read_field("title")
    (('title', '3'), ('title', None))
    """
    name, caret, weight = text.rpartition("^")
    return (name, weight) if caret else (text, None)


def split_field_text(text: str) -> list[str]:
    """
    The fields, or the functions, of a parameter of Solr: separated by blanks that are in no parentheses.

    >>> split_field_text("title^3 log(sum(views, 1))^2")
    ['title^3', 'log(sum(views, 1))^2']
    """
    parts: list[str] = []
    depth = 0
    for word in text.split():
        if depth:
            parts[-1] += f" {word}"
        else:
            parts.append(word)
        depth += word.count("(") - word.count(")")
    return parts


def find_base(name: str) -> str:
    """What two fields have in common of which one took the place of the other; of a function all of it."""
    return name if "(" in name else re.split("[.~]", name)[0]


def find_stem(name: str, names: Collection[str]) -> str:
    """
    The field of *names* that *name* is a form of, by an underscore, as is usual in Solr; itself where there is none.

    >>> find_stem("title_shop", {"title", "brand_id"}), find_stem("brand_name", {"title", "brand_id"})
    ('title', 'brand_name')
    """
    parts = name.split("_")
    stems = ["_".join(parts[:end]) for end in range(1, len(parts))]
    return next((stem for stem in stems if stem in names), name)


def are_texts(value: Json) -> bool:
    """Whether *value* is a text, or a list of nothing else."""
    return all(isinstance(item, str) for item in make_list(value))


def read_list(value: Json) -> list[NamedWeight]:
    """The fields of a list of texts, or of one text by itself."""
    return [read_field(text) for text in make_list(value)]


def are_coupled(request: Mapping[str, Json]) -> bool:
    """Whether *request* has as many weights as fields, in two texts."""
    names, weights = request.get(COUPLED_NAMES), request.get(COUPLED_WEIGHTS)
    if not isinstance(names, str) or not isinstance(weights, str):
        return False
    return names.count(",") == weights.count(",")


def read_coupled(request: Mapping[str, Json]) -> list[NamedWeight]:
    """The fields of two coupled texts."""
    names, weights = ([part.strip() for part in request[key].split(",")] for key in (COUPLED_NAMES, COUPLED_WEIGHTS))
    return list(zip(names, weights, strict=True))
