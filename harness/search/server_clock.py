"""Reads the clock of an engine's node."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from harness.errors import SearchError
from harness.search.connected import ConnectedSearch, ask_json
from harness.search.connection import Connection

# `GET /` has no header Date on either engine; the statistics of a node have its time in milliseconds.
PATH = "/_nodes/_local/stats/process?filter_path=nodes.*.timestamp"


def read_clock(search: ConnectedSearch[Connection]) -> datetime:
    """
    The time on the node that answers, with its zone.

    Raises:
        SearchError: The login may not read it, or there is no answer.
    """
    content = ask_json(search, "GET", PATH)
    nodes = content.get("nodes")
    if isinstance(nodes, Mapping):
        for node in nodes.values():
            if isinstance(node, Mapping) and isinstance(node.get("timestamp"), int):
                return datetime.fromtimestamp(node["timestamp"] / 1000, UTC)
    raise SearchError("the statistics of the node have no time")
