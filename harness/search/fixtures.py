"""The index of a suite's fixture: built from its files, and reused until they change."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness.errors import FixtureError, Option, SearchError
from harness.model.suite import Fixture, Json, Mark
from harness.search.engine import SERVERLESS, EngineSearch
from harness.search.indexes import Document, Indexes, Marker, read_documents
from harness.search.protocol import Search
from harness.search.server_health import Clock

BUILD = 1
"""The version of the build; increase it if the same files give another index, so that old indexes are not reused."""

DEFAULTS: Mapping[str, Json] = {"index.number_of_shards": 1, "index.number_of_replicas": 0}
"""One shard has one set of term statistics, so scores do not depend on the shard of a document."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """
    Everything that an index is built from.

    *name* is the suite's, *shown* the name of the document file in errors, *fingerprint* the SHA-256 of everything,
    *mark* the place of the fixture in the suite.
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
        return make_index_name(self.name, self.fingerprint)


def make_index_name(suite: str, fingerprint: str) -> str:
    """The name of the index that *suite* builds from what has *fingerprint*."""
    return f"{make_slug(suite)}-{fingerprint[:12]}"


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
    settings = _add_defaults(fixture.settings)
    fingerprint = _compute_fingerprint(fixture.mappings, settings, documents)
    return Recipe(name, shown, fingerprint, fixture.mappings, settings, documents, fixture.mark)


def make_slug(name: str) -> str:
    """
    *name* as a part of an index's name: lower case, with a dash for what engines do not take there.

    >>> make_slug("Products, DE")
    'products-de'
    """
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-_.")[:150] or "suite"


def _compute_fingerprint(mappings: Json, settings: Json, documents: tuple[Document, ...]) -> str:
    """A fingerprint of all that an index of a fixture is built from, and of how this version builds it."""
    recipe = json.dumps([BUILD, mappings, settings], sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(recipe.encode())
    for document in documents:
        digest.update(b"\n%b\n%b" % (json.dumps(document.id).encode(), document.source))
    return digest.hexdigest()


def _add_defaults(settings: Mapping[str, Json]) -> dict[str, Any]:
    """*settings* with those of `DEFAULTS` that they do not have."""
    names = set(_walk_setting_names(settings))
    # Engines take each name with and without its beginning.
    names |= {f"index.{name}" for name in names}
    missing = {name: value for name, value in DEFAULTS.items() if name not in names}
    return {**settings, **missing}


def _walk_setting_names(settings: Mapping[str, Json], prefix: str = "") -> Iterator[str]:
    """The names of all settings, whose dots may be written as objects."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _walk_setting_names(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


@dataclass(frozen=True, slots=True)
class Times:
    """
    Waiting times in seconds, and clocks.

    *abandoned* is the time without progress after which another run takes over a build. An older build of the same
    suite is removed if it was not used for *kept*.
    """

    abandoned: float = 60.0
    poll: float = 0.5
    kept: timedelta = timedelta(hours=1)
    clock: Clock = field(default_factory=Clock)
    today: Callable[[], datetime] = lambda: datetime.now(UTC)


class _TakenOver(Exception):
    """Another run took over the build of this index."""


def ensure_index(
    search: Search, fixture: Fixture, base: Path, name: str, *, allow_write: bool, times: Times | None = None
) -> str:
    """
    The index that *fixture* describes, built if it is not there.

    Args:
        search: Of an engine.
        fixture: Of the suite.
        base: The folder that its paths start from.
        name: Of the suite; the index's name begins with it.
        allow_write: Whether the harness may write to the cluster.
        times: How long to wait for another builder.

    Returns:
        The name of an index with exactly the documents of the fixture, visible to searches.

    Raises:
        SuiteError: The file of documents cannot be used, or the engine refuses its documents or the mappings as such.
        FixtureError: The index may not be built, cannot be built, or is not the harness's.
        LoginRefused: The login lacks the privileges.
    """
    if not isinstance(search, EngineSearch):
        raise FixtureError(f'suite "{name}" builds its own index, which needs an engine, not {search.engine}')
    recipe = read_recipe(fixture, base, name)
    if search.engine.version == SERVERLESS:
        # It decides on shards and replicas itself, and refuses these settings.
        kept = {name: value for name, value in recipe.settings.items() if name not in DEFAULTS}
        recipe = replace(recipe, settings=kept)
    indexes = Indexes(search.connection, search.retries)
    return _FixtureIndex(recipe, indexes, times or Times(), allow_write).ensure()


def remove_index(search: Search, index: str) -> None:
    """
    Remove *index*, which `ensure_index` gave.

    Raises:
        SearchError: It cannot be removed.
    """
    assert isinstance(search, EngineSearch)  # no other server has an index of a fixture
    Indexes(search.connection, search.retries).delete(index)


class _FixtureIndex:
    """Builds or reuses the index of one recipe."""

    def __init__(self, recipe: Recipe, indexes: Indexes, times: Times, allow_write: bool) -> None:
        self._recipe = recipe
        self._index = recipe.index
        self._indexes = indexes
        self._times = times
        self._allow_write = allow_write

    def ensure(self) -> str:
        """Build the index or reuse it; several runs may try at the same time."""
        while True:
            markers = self._indexes.read_markers(self._index)
            if not markers:
                self._build()
                continue
            marker = self._check_marker(markers[self._index])
            if not marker.complete:
                self._wait_for_builder(marker)
                continue
            self._check_count(marker)
            self._maintain(marker)
            return self._index

    def _check_marker(self, marker: Marker | None) -> Marker:
        """*marker*, if it is that of the same files; raises FixtureError if not."""
        if marker is None:
            raise FixtureError(
                f'"{self._index}" exists, but the harness did not create it and will not change it; '
                "rename the suite, or delete the index"
            )
        if marker.fingerprint != self._recipe.fingerprint:
            raise FixtureError(
                f'"{self._index}" was built from other files whose fingerprint begins with the same characters'
            )
        return marker

    def _build(self) -> None:
        """Build the index, unless another run creates it first; an incomplete index is removed again."""
        self._require_permission("does not exist")
        recipe = self._recipe
        marker = Marker(recipe.name, recipe.fingerprint, uuid.uuid4().hex, 0, False, self._now())
        mappings = {**recipe.mappings, "_meta": marker.as_meta(recipe.mappings.get("_meta"))}
        try:
            created = self._indexes.create(self._index, recipe.settings, mappings, recipe.mark)
            if created or self._is_own_build(marker):
                self._fill(marker)
        except _TakenOver:
            return
        except BaseException:
            self._remove_incomplete(marker)
            raise

    def _fill(self, marker: Marker) -> None:
        """Index the documents, and record in *marker* how many there are, so that others see that the build goes on."""
        indexed = 0
        for chunk in self._indexes.split_documents(self._recipe.documents):
            self._indexes.index_documents(self._index, chunk, self._recipe.shown)
            indexed += len(chunk)
            self._record_progress(replace(marker, indexed=indexed))
        self._indexes.refresh(self._index)
        count = self._indexes.count_documents(self._index)
        if count != indexed:
            raise FixtureError(f'"{self._index}" should have {indexed} documents, but has {count}')
        self._record_progress(replace(marker, indexed=indexed, complete=True, used=self._now()))

    def _record_progress(self, marker: Marker) -> None:
        """Record the progress, unless another run took over."""
        if not self._is_own_build(marker):
            raise _TakenOver
        self._indexes.write_marker(self._index, marker, self._recipe.mappings.get("_meta"))

    def _remove_incomplete(self, marker: Marker) -> None:
        """Remove the incomplete index; an error of that must not hide the first one."""
        with suppress(SearchError):
            if self._is_own_build(marker):
                self._indexes.delete(self._index)

    def _is_own_build(self, marker: Marker) -> bool:
        """Whether the index belongs to this build: the answer to the request that created it may have been lost."""
        current = self._indexes.read_markers(self._index).get(self._index)
        return current is not None and current.build == marker.build

    def _wait_for_builder(self, marker: Marker) -> None:
        """Wait until *marker* changes; if it does not, remove the abandoned index."""
        clock = self._times.clock
        end = clock.now() + self._times.abandoned
        while clock.now() < end:
            clock.sleep(self._times.poll)
            if self._indexes.read_markers(self._index).get(self._index) != marker:
                return
        self._require_permission("is incomplete")
        self._indexes.delete(self._index)

    def _require_permission(self, state: str) -> None:
        if not self._allow_write:
            raise FixtureError(
                f'the index "{self._index}" of suite "{self._recipe.name}" {state}, and the harness writes to a '
                "cluster only with ",
                Option("allow-write"),
            )

    def _check_count(self, marker: Marker) -> None:
        count = self._indexes.count_documents(self._index)
        if count != marker.indexed:
            raise FixtureError(
                f'"{self._index}" was built with {marker.indexed} documents, but has {count}: it was changed '
                "by something else; delete it, and the harness builds it again"
            )

    def _maintain(self, marker: Marker) -> None:
        """Maintenance of the cluster that this run does not need, so its errors are ignored."""
        if not self._allow_write:
            return
        with suppress(SearchError):
            self._record_use(marker)
            self._remove_old_builds()

    def _record_use(self, marker: Marker) -> None:
        """Record that the index is in use, a few times an hour at most, because that changes the cluster state."""
        used = marker.find_last_use()
        if used is None or self._times.today() - used > self._times.kept / 4:
            self._indexes.write_marker(
                self._index, replace(marker, used=self._now()), self._recipe.mappings.get("_meta")
            )

    def _remove_old_builds(self) -> None:
        """
        Remove old builds of this suite; a run of another branch may be using a recent one.

        A clone has the marker of the index that it was made from, and another name than that marker's.
        """
        for index, marker in self._indexes.read_markers(f"{make_slug(self._recipe.name)}-*").items():
            if marker is None or index == self._index or index != make_index_name(marker.name, marker.fingerprint):
                continue
            if marker.name != self._recipe.name:
                continue
            used = marker.find_last_use()
            if used is None or self._times.today() - used > self._times.kept:
                self._indexes.delete(index)

    def _now(self) -> str:
        return self._times.today().isoformat(timespec="seconds")
