"""What a suite's own index is built from, and the name that tells it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.model import Fixture, Json, Mark
from harness.search.documents import Document, read_documents

__all__ = ["Recipe", "read_recipe", "slug"]


BUILD = 1
"""Raised when an index comes out otherwise from the same files, so that none is reused that was built the old way."""

DEFAULTS: Mapping[str, Json] = {"index.number_of_shards": 1, "index.number_of_replicas": 0}
"""One shard has one set of term statistics, so scores do not depend on which shard a document came to."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """
    All that an index is built from.

    *name* is the suite's, *shown* what errors call the file of documents, *fingerprint* the SHA-256 of everything,
    *mark* where the suite says it.
    """

    name: str
    shown: str
    fingerprint: str
    mappings: Mapping[str, Json]
    settings: Mapping[str, Json]
    documents: tuple[Document, ...]
    mark: Mark

    @property
    def index(self) -> str:
        """The name of the index: the suite's, and the beginning of the fingerprint."""
        return f"{slug(self.name)}-{self.fingerprint[:12]}"


def read_recipe(fixture: Fixture, base: Path, name: str) -> Recipe:
    """
    Read what *fixture* names.

    Args:
        fixture: Of the suite.
        base: The folder that its paths start from.
        name: Of the suite.

    Raises:
        SuiteError: The file of documents cannot be used.
    """
    shown = str(base / fixture.documents)
    documents = tuple(read_documents(base / fixture.documents, shown, fixture.id_field))
    settings = _with_defaults(fixture.settings)
    fingerprint = _fingerprint(fixture.mappings, settings, documents)
    return Recipe(name, shown, fingerprint, fixture.mappings, settings, documents, fixture.mark)


def slug(name: str) -> str:
    """
    *name* as a part of an index's name: lower case, with a dash for what engines do not take there.

    >>> slug("Products, DE")
    'products-de'
    """
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-_.")[:150] or "suite"


def _fingerprint(mappings: Json, settings: Json, documents: tuple[Document, ...]) -> str:
    recipe = json.dumps([BUILD, mappings, settings], sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(recipe.encode())
    for document in documents:
        digest.update(b"\n%b\n%b" % (json.dumps(document.id).encode(), document.source))
    return digest.hexdigest()


def _with_defaults(settings: Mapping[str, Json]) -> dict[str, Any]:
    given = {name if name.startswith("index.") else f"index.{name}" for name in _flat_names(settings)}
    return {**settings, **{name: value for name, value in DEFAULTS.items() if name not in given}}


def _flat_names(settings: Mapping[str, Json], prefix: str = "") -> Iterator[str]:
    """The names of all settings, whose dots may be written as objects."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat_names(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
