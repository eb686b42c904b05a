"""What `relevance doctor` finds out of a server: what a run needs of it, and what a run can use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from harness.errors import SearchError
from harness.model.request import SearchRequest
from harness.model.run import Failure
from harness.pages import Topic
from harness.search.dialects import find_dialect
from harness.search.protocol import IndexField, Search
from harness.words import count, listed

_SECONDS_FOR_STATE = 10.0

TOLERATED_SECONDS = 60.0
"""How far the server's clock may be off before it is worth a remark: waivers and fixtures have times."""

PROBE = {"size": 1, "query": {"match_all": {}}}


class Health(StrEnum):
    """How a finding is to be taken."""

    FINE = "ok"
    LIMITED = "limited"
    """A run works, and knows less."""
    BROKEN = "broken"
    """No run works."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One line of `relevance doctor`."""

    name: str
    health: Health
    text: str
    topics: Sequence[Topic] = ()
    """What explains it."""


def examine_server(search: Search, index: str | None, *, now: Callable[[], datetime]) -> Iterator[Diagnosis]:
    """
    What *search* and *index* of it can do, one finding after another.

    Args:
        search: Open.
        index: An index, an alias or a pattern; None to examine the server alone.
        now: The time, with its zone.
    """
    yield Diagnosis("engine", Health.FINE, str(search.engine))
    if not find_dialect(search.service).has_indexes:
        yield Diagnosis("index", Health.LIMITED, "a service has none; `relevance run` tells whether its requests work")
        return
    yield _ask("clock", lambda: _compare_clocks(search.inspector.read_clock(), now()))
    if index is None:
        yield _ask("indexes", lambda: _list_names(search))
        return
    found = _examine_search(search, index)
    yield found
    if found.health is Health.BROKEN:
        return
    yield _examine_facts(search, index)
    yield _ask("fields", lambda: _describe_fields(search.inspector.read_fields(index)))
    yield _examine_state(search, index)
    yield _ask("point in time", lambda: _open_point(search, index))
    yield _ask("_rank_eval", lambda: _try_rank_eval(search, index))


def _ask(name: str, describe: Callable[[], str]) -> Diagnosis:
    """What *describe* says, or why it could not; a run works without."""
    try:
        return Diagnosis(name, Health.FINE, describe())
    except SearchError as error:
        return Diagnosis(name, Health.LIMITED, str(error), error.topics)


def _compare_clocks(server: datetime, here: datetime) -> str:
    """
    How far apart the clocks are, in words.

    Raises:
        SearchError: Too far.
    """
    seconds = (server - here).total_seconds()
    direction = "ahead of" if seconds > 0 else "behind"
    text = f"{abs(seconds):.1f} s {direction} the clock here"
    if abs(seconds) > TOLERATED_SECONDS:
        raise SearchError(text)
    return text


def _list_names(search: Search) -> str:
    names_by_kind = search.inspector.read_names()
    parts = [f"{kind}: {listed(names)}" for kind, names in names_by_kind.items()]
    return "; ".join(parts) + "; give one with --index" if parts else "none yet"


def _examine_search(search: Search, index: str) -> Diagnosis:
    """Whether a search is answered, without which nothing works."""
    [response] = search.search([SearchRequest("doctor", index, PROBE)])
    if isinstance(response, Failure):
        return Diagnosis("search", Health.BROKEN, response.reason)
    took = "" if response.took is None else f" in {response.took:g} ms"
    return Diagnosis("search", Health.FINE, f"answered{took}")


def _examine_facts(search: Search, index: str) -> Diagnosis:
    """The number of documents, and whether a baseline can tell that mapping and settings changed."""
    facts = search.index_facts(index)
    documents = "" if facts.documents is None else count(facts.documents, "document")
    if not facts.missing:
        return Diagnosis("index", Health.FINE, f"{documents}; mapping and settings can be read")
    unread = f"cannot be read: {', '.join(facts.missing)}"
    return Diagnosis("index", Health.LIMITED, "; ".join(filter(None, [documents, unread])), (Topic.PRIVILEGES,))


def _describe_fields(fields: dict[str, IndexField]) -> str:
    types = Counter(", ".join(sorted(field.types)) for field in fields.values())
    kinds = listed([f"{number} {kind}" for kind, number in types.most_common()], 6)
    return f"{count(len(fields), 'field')}: {kinds}" if fields else "none"


def _examine_state(search: Search, index: str) -> Diagnosis:
    """Whether a run can see that the index changed meanwhile."""
    state = search.index_state(index, timeout=_SECONDS_FOR_STATE, url_params={})
    parts = {"UUIDs": state.uuids, "shard copies": state.copies, "sequence numbers": state.writes}
    unread = [name for name, value in parts.items() if value is None]
    if unread:
        text = f"a run cannot see all changes of the index: no {listed(unread)}"
        return Diagnosis("changes", Health.LIMITED, text, (Topic.PRIVILEGES,))
    return Diagnosis(
        "changes", Health.FINE, f"a run sees changes of the index; {count(len(state.copies or {}), 'shard')}"
    )


def _open_point(search: Search, index: str) -> str:
    with search.at_point_in_time(index, {}):
        return "can be opened"


def _try_rank_eval(search: Search, index: str) -> str:
    request = {"id": "doctor", "request": {"query": {"match_all": {}}}, "ratings": []}
    spec = {"requests": [request], "metric": {"precision": {"k": 1, "ignore_unlabeled": True}}}
    rated = search.inspector.rate_requests(index, spec, {})["doctor"]
    if isinstance(rated, str):
        raise SearchError(rated)
    return "answers, for `relevance verify`"
