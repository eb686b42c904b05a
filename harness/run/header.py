"""The header of a section of a journal: what its answers depend on, and whether another run asks for the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from harness import __version__
from harness.baseline.questions import UsedValues
from harness.gate.selection import Selection
from harness.gate.stability import explain_changed_target
from harness.masking import Masker, fingerprint, names_login
from harness.model import Engine, IndexState, Json, Query, Run, Suite
from harness.options import ALL_QUERIES, SENT_BY, RunOptions, Shard

SCHEMA = 1
"""The version that is written, and the only one that is read."""

NOT_ASKED = Engine("not asked")

COMPARED = ("uuids", "documents")
"""What of two states of a target is compared."""

Cell: TypeAlias = tuple[str, Json, Json]
"""What identifies a cell in a journal: the suite, and the request and the index that were selected."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a section of a journal: the cell, and what its responses depend on."""

    journal: int
    """`SCHEMA`."""
    suite: str
    """The path of its file, as it was given."""
    name: str
    cluster: str
    """The server's name in reports."""
    queries: int
    """The number of queries that run, in all parts."""
    parts: Mapping[str, str]
    """What the responses depend on, by a name for users: texts and fingerprints."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """The options of `SENT_BY` that were given, by field."""
    shard: Shard = ALL_QUERIES
    """The part of the queries that runs."""
    matrix: Mapping[str, Json] = field(default_factory=dict)
    """The fields of the cell's `Matrix`."""
    builds_index: bool = False
    """Whether the suite builds its index, whose name then identifies its content."""
    engine: Engine = NOT_ASKED
    state: IndexState | None = None
    """The target before the searches."""
    continues: bool = False
    """Whether the section continues the previous section of the same cell."""

    @property
    def own_queries(self) -> int:
        """The number of queries in the part that runs."""
        return len(range(self.queries)[self.shard.number - 1 :: self.shard.parts])

    @property
    def cell(self) -> Cell:
        """The cell of the section."""
        return self.suite, self.options.get("request"), self.options.get("index")

    def differences(self, other: Header) -> list[str]:
        """The parts in which *other* differs."""
        parts, others = ({**one.parts, "part of the queries": str(one.shard)} for one in (self, other))
        return [name for name in {**parts, **others} if parts.get(name) != others.get(name)]

    def change_since(self, other: Header) -> str:
        """How the target differs from that of *other*; empty if it does not, or if that is not known."""
        if NOT_ASKED in (self.engine, other.engine):
            return ""
        if self.engine != other.engine:
            return f"{other.engine} is {self.engine} now"
        if self.known != other.known:
            return "the state of the index could not be read each time"
        before, now = other.comparable(other.state), self.comparable(self.state)
        if before is None or now is None:
            return ""
        return explain_changed_target(Run({}, self.engine, states=(before, now)))

    @property
    def known(self) -> list[str]:
        """The names among `COMPARED` that are known of the target's state."""
        return [name for name in COMPARED if getattr(self.state, name, None) is not None]

    def comparable(self, state: IndexState | None) -> IndexState | None:
        """*state*, without what differs between two builds of the same index."""
        if state is None or state.uuids is None or not self.builds_index:
            return state
        return replace(state, uuids=dict.fromkeys(state.uuids, ""), newest=None)


KINDS: Mapping[str, tuple[type, ...]] = {
    "embedded": (bool,), "allow_write": (bool,), "no_checks": (bool,), "listed_addresses": (bool,), "tags": (list,),
    "queries": (list,), "budget": (int, float), "warm_up": (int,), "variables": (list,), "requests": (list,),
    "indexes": (list,), "all_requests": (bool,),
}  # fmt: skip
"""The JSON types of the options and of the fields of a `Matrix` that are not texts; a list holds texts."""

MATRIX = ("requests", "indexes", "all_requests")


def wrong_in(header: Header) -> str:
    """A value in *header* that no run writes, for an error; empty if there is none."""
    for what, given, known in (("options", header.options, SENT_BY), ("matrix", header.matrix, MATRIX)):
        for name, value in given.items():
            if name not in known:
                return f"found {name!r} in {what}, expected one of {', '.join(known)}"
            is_known = type(value) in KINDS.get(name, (str,))
            if not is_known or (isinstance(value, list) and not all(isinstance(one, str) for one in value)):
                return f"found {value!r} as {what}.{name}"
            if name in ("budget", "warm_up") and not 0 <= value < float("inf"):
                return f"found {value!r} as {what}.{name}"
    if not 1 <= header.shard.number <= header.shard.parts:
        return f"found part {header.shard}, expected one such as 2/4"
    if header.queries < 0:
        return f"found {header.queries} queries"
    url = header.options.get("url", header.cluster)
    if header.queries and url != header.cluster:
        return f"found the URL {url!r}, expected that of the cluster, {header.cluster!r}"
    return ""


def header_of(
    selection: Selection, options: RunOptions, matrix: Mapping[str, Json], cluster: str, masker: Masker
) -> Header:
    """
    The header of a section.

    Args:
        selection: All queries that run, of which a shard has some.
        options: The options of the cell.
        matrix: The fields of the cell's `Matrix`.
        cluster: The server's name in reports.
        masker: Hides secrets.
    """
    mask = masker.mask
    suite = selection.suite
    request = options.request or next(iter(suite.requests))
    template = suite.requests.get(request)
    given = {name: getattr(options, name) for name in SENT_BY}
    used = UsedValues.of_all(suite) if options.hooks.concern_searches else UsedValues.of_request(suite, request)
    queries = suite.queries
    values: dict[str, Iterable[Json]] = {
        "judgments": chain([suite.gain, suite.grades], ([one.id, one.judgments] for one in queries)),
        "queries": chain(
            (_sent_parts(query, used) for query in queries), (query.id for query in selection.active.queries)
        ),
        "request": [template, suite.depth, suite.title_field],
        "thresholds": chain(
            [suite.thresholds],
            ([query.id, query.thresholds] for query in queries if query.thresholds),
        ),
        "other settings of the suite": [
            replace(suite, queries=(), requests={}, thresholds=(), depth=0, title_field=None, vectors=())
        ],
        "index": [options.index, suite.target.index],
        "options": [options.tags, options.queries, options.no_checks, options.depth, options.unjudged, options.repeat],
    }
    parts = {name: _fingerprint(some, mask) for name, some in values.items()}
    open_values = {name: value for name, value in suite.variables.items() if not names_login(name)}
    parts["variables of the environment"] = fingerprint(open_values)
    parts["cluster"] = f"embedded {options.engine_version or ''}" if options.embedded else mask(cluster)
    parts["hooks"] = mask(", ".join(options.hooks.in_force()))
    parts["version of the harness"] = __version__
    return Header(
        SCHEMA,
        suite.path,
        mask(suite.name),
        mask(cluster),
        len(selection.active.queries),
        parts,
        {name: mask(str(value)) if isinstance(value, str | Path) else value for name, value in given.items() if value},
        options.shard or ALL_QUERIES,
        matrix,
        suite.fixture is not None,
    )


def _fingerprint(values: Iterable[Json], mask: Callable[[str], str]) -> str:
    """One fingerprint of all *values*, secrets masked; the values need not be in memory at once."""
    found = ""
    for value in values:
        found = fingerprint([found, mask(json.dumps(value, default=_plain))])
    return found


def _sent_parts(query: Query, used: UsedValues) -> Json:
    """
    The parts of *query* that decide what is sent and how it counts, without judgments and thresholds: of its params
    and vectors those that are *used*.
    """
    left_out = ("judgments", "thresholds", "skip", "mark", "params", "masked")
    parts = [getattr(query, part.name) for part in fields(query) if part.name not in left_out]
    return [*parts, used.fingerprint(query)]


def _plain(value: object) -> Json:
    """A value of a suite as JSON, without its places in files and without values of the environment."""
    if is_dataclass(value):
        left_out = {"mark", *(("path", "variables") if isinstance(value, Suite) else ())}
        return {one.name: getattr(value, one.name) for one in fields(value) if one.name not in left_out}
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, set | frozenset) else str(value)
