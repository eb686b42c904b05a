"""The header of a section of a journal: what its answers depend on, and whether another run asks for the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from harness import __version__
from harness.gate.selection import Selection
from harness.gate.stability import explain_changed_target
from harness.gate.variants import add_variant_queries
from harness.masking import Masker, fingerprint, names_login
from harness.model.run import Engine, IndexState, Run
from harness.model.suite import Display, Json, Query, Suite
from harness.options import ALL_QUERIES, OPTIONS, SENDING_OPTIONS, RunOptions, Shard
from harness.store.what_changed import UsedValues, select_all_values, select_request_values

JOURNAL_SCHEMA = 1
"""The version that is written, and the only one that is read."""

NOT_ASKED = Engine("not asked")

COMPARED = ("uuids", "documents")
"""What of two states of a target is compared."""

CellKey: TypeAlias = tuple[str, Json, Json]
"""What identifies a cell in a journal: the suite, and the request and the index that were selected."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a section of a journal: the cell, and what its responses depend on."""

    journal: int
    """`JOURNAL_SCHEMA`."""
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
    """The options of `SENDING_OPTIONS` that were given, by field."""
    shard: Shard = ALL_QUERIES
    """The part of the queries that runs."""
    matrix: Mapping[str, Json] = field(default_factory=dict)
    """The fields of the cell's `Matrix`."""
    builds_index: bool = False
    """Whether the suite builds its index, whose name then identifies its content."""
    engine: Engine = NOT_ASKED
    state: IndexState | None = None
    """The target before the searches."""
    variants: int = 0
    """The number of variants that are sent beside the queries of the part that runs."""
    continues: bool = False
    """Whether the section continues the previous section of the same cell."""
    begun: str = ""
    """When the section was begun, in UTC and in the ISO format; empty where a journal does not say it."""

    @property
    def own_queries(self) -> int:
        """The number of queries in the part that runs."""
        return len(range(self.queries)[self.shard.number - 1 :: self.shard.parts])

    @property
    def own_searches(self) -> int:
        """The number of searches in the part that runs: of its queries, and of their variants."""
        return self.own_queries + self.variants

    @property
    def cell_key(self) -> CellKey:
        """Identifies the cell of the section."""
        return self.suite, self.options.get("request"), self.options.get("index")

    def list_differences(self, other: Header) -> list[str]:
        """The parts in which *other* differs."""
        parts = {**self.parts, "part of the queries": str(self.shard)}
        other_parts = {**other.parts, "part of the queries": str(other.shard)}
        return [name for name in {**parts, **other_parts} if parts.get(name) != other_parts.get(name)]

    def describe_change_since(self, other: Header) -> str:
        """How the target differs from that of *other*; empty if it does not, or if that is not known."""
        if NOT_ASKED in (self.engine, other.engine):
            return ""
        if self.engine != other.engine:
            return f"{other.engine} is {self.engine} now"
        if self.known_facts != other.known_facts:
            return "the state of the index could not be read each time"
        before, now = other.make_comparable(other.state), self.make_comparable(self.state)
        if before is None or now is None:
            return ""
        return explain_changed_target(Run({}, self.engine, states=(before, now)))

    @property
    def known_facts(self) -> list[str]:
        """The names among `COMPARED` that are known of the target's state."""
        return [name for name in COMPARED if getattr(self.state, name, None) is not None]

    def make_comparable(self, state: IndexState | None) -> IndexState | None:
        """*state*, without what differs between two builds of the same index."""
        if state is None or state.uuids is None or not self.builds_index:
            return state
        return replace(state, uuids=dict.fromkeys(state.uuids, ""), newest=None)


MATRIX: Mapping[str, tuple[type, ...]] = {"requests": (list,), "indexes": (list,), "all_requests": (bool,)}
"""The JSON types of the fields of a `Matrix`; a list holds texts."""


def find_problem(header: Header) -> str:
    """A value in *header* that no run writes, for an error; empty if there is none."""
    for what, given, known in (("options", header.options, SENDING_OPTIONS), ("matrix", header.matrix, MATRIX)):
        for name, value in given.items():
            if name not in known:
                return f"found {name!r} in {what}, expected one of {', '.join(known)}"
            types = MATRIX[name] if name in MATRIX else OPTIONS[name].kind.json
            has_known_type = type(value) in types
            if isinstance(value, list) and not all(isinstance(text, str) for text in value):
                has_known_type = False
            if not has_known_type:
                return f"found {value!r} as {what}.{name}"
            if name in ("budget", "warm_up") and not 0 <= value < float("inf"):
                return f"found {value!r} as {what}.{name}"
    if not 1 <= header.shard.number <= header.shard.parts:
        return f"found part {header.shard}, expected one such as 2/4"
    if min(header.queries, header.variants) < 0:
        return f"found {header.queries} queries and {header.variants} variants"
    url = header.options.get("url", header.cluster)
    if header.queries and url != header.cluster:
        return f"found the URL {url!r}, expected that of the cluster, {header.cluster!r}"
    return ""


def make_header(
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
    suite = selection.whole_suite
    own_queries = selection.active
    if options.shard is not None:
        own_queries = options.shard.take(own_queries)
    searched = add_variant_queries(replace(suite, queries=own_queries), suite)
    queries = suite.queries
    request = options.request or next(iter(suite.requests))
    template = suite.requests.get(request)
    # Hooks may use any value of a query.
    used = select_all_values(suite) if options.hooks.has_search_hooks else select_request_values(suite, request)
    values: dict[str, Iterable[Json]] = {
        "judgments": chain(
            [suite.gain, suite.grades],
            ([query.id, query.judgments] for query in queries),
            ([query.id, query.quotes] for query in queries if query.quotes),
        ),
        "queries": chain((_describe_query(query, used) for query in queries), (query.id for query in selection.active)),
        "request": [template, suite.depth, suite.display.title, suite.display.text],
        "thresholds": chain(
            [suite.thresholds],
            ([query.id, query.thresholds] for query in queries if query.thresholds),
        ),
        "other settings of the suite": [
            replace(
                suite,
                queries=(),
                requests={},
                thresholds=(),
                depth=0,
                display=Display(),
                grade_descriptions={},
                guidelines="",
                # What is read from them is compared, wherever it is.
                files=(),
                vectors=(),
            )
        ],
        "index": [options.index, suite.target.index],
        "options": [options.tags, options.queries, options.no_checks, options.depth, options.unjudged, options.repeat],
    }
    parts = {name: _fingerprint(part_values, mask) for name, part_values in values.items()}
    open_values = {name: value for name, value in suite.variables.items() if not names_login(name)}
    parts["variables of the environment"] = fingerprint(open_values)
    parts["cluster"] = f"embedded {options.engine_version or ''}" if options.embedded else mask(cluster)
    parts["hooks"] = mask(", ".join(options.hooks.describe()))
    parts["version of the harness"] = __version__
    given: dict[str, Json] = {}
    for name in SENDING_OPTIONS:
        value = getattr(options, name)
        if value:
            given[name] = mask(str(value)) if isinstance(value, str | Path) else value
    return Header(
        journal=JOURNAL_SCHEMA,
        suite=suite.path,
        name=mask(suite.name),
        cluster=mask(cluster),
        queries=len(selection.active),
        variants=len(searched.queries) - len(own_queries),
        parts=parts,
        options=given,
        shard=options.shard or ALL_QUERIES,
        matrix=matrix,
        builds_index=suite.fixture is not None,
        begun=datetime.now(UTC).isoformat(timespec="microseconds"),
    )


def _fingerprint(values: Iterable[Json], mask: Callable[[str], str]) -> str:
    """One fingerprint of all *values*, secrets masked."""
    chained = ""
    # One encoder for all: `json.dumps` would make one for each query.
    encoder = json.JSONEncoder(default=_make_plain)
    for value in values:
        chained = fingerprint([chained, mask(encoder.encode(value))])
    return chained


_DESCRIBED_ELSEWHERE = frozenset(
    {"judgments", "quotes", "people_grades", "machine_grades", "machine_graded", "thresholds", "skip"}
    | {"need", "mark", "params", "masked"}
)
"""The fields of a query that its description leaves out: other parts have them, or they change nothing that is sent."""


def _describe_query(query: Query, used: UsedValues) -> Json:
    """
    The parts of *query* that decide what is sent and how it counts, without judgments and thresholds: of its params
    and vectors those that are *used*.
    """
    values = [getattr(query, value.name) for value in fields(query) if value.name not in _DESCRIBED_ELSEWHERE]
    return [*values, used.fingerprint(query)]


def _make_plain(value: object) -> Json:
    """A value of a suite as JSON, without its places in files and without values of the environment."""
    if is_dataclass(value):
        left_out = {"mark", "path", "variables"} if isinstance(value, Suite) else {"mark"}
        return {part.name: getattr(value, part.name) for part in fields(value) if part.name not in left_out}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)
