"""Which requests are sent for the differences between two, and how many searches that takes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.errors import Option, UsageError
from harness.extensions.compare.why.clauses import are_same, write_json
from harness.extensions.compare.why.differences import FIXTURE, SERVER, Difference, Splitting
from harness.model.suite import Json
from harness.search.pointers import parse_pointer
from harness.words import count, grouped

SEARCHES = 5000
"""The most searches for one explanation, where nothing else is asked for."""

OF_INDEX = (FIXTURE, "index", SERVER)
"""The parts of requests that say which index is searched."""

ENDS = 4
"""How often ends are sent: both, twice."""


@dataclass(frozen=True, slots=True)
class Arms:
    """The two requests that differ from an end in some differences alone."""

    reverted: Json
    """The new request without them."""
    alone: Json
    """The old request with them."""


@dataclass(frozen=True, slots=True)
class Part:
    """All differences of the request, or all of the index."""

    name: str
    members: tuple[Difference, ...]


def group_parts(differences: Iterable[Difference]) -> list[Part]:
    """The differences of the request, and those of the index; one of them may have none."""
    names = []
    members = list(differences)
    for difference in members:
        part = difference.pointer.split("/")[1:2]
        names.append("the index" if part and part[0] in OF_INDEX else "the request")
    groups = grouped(zip(names, members, strict=True))
    return [Part(name, tuple(groups[name])) for name in sorted(groups, reverse=True)]


def build_arms(splitting: Splitting, all_differences: Sequence[Difference], tested: Iterable[Difference]) -> Arms:
    """The arms of the *tested* ones of *all_differences*."""
    chosen = list(tested)
    rest = [difference for difference in all_differences if difference not in chosen]
    return Arms(splitting.build(rest), splitting.build(chosen))


def list_rebuilt(splitting: Splitting, differences: Sequence[Difference]) -> list[Json]:
    """
    The ends as the tree builds them, old and new, of which the text is another than that of the request.

    They have to rank as the requests do: only the order of fields and the like is another.
    """
    rebuilt = [(splitting.build([]), splitting.old), (splitting.build(differences), splitting.new)]
    return [built for built, original in rebuilt if not are_same(built, original)]


def count_searches(splitting: Splitting, differences: Sequence[Difference], queries: int) -> int:
    """The searches: both ends twice, what is rebuilt, and two arms for each difference; what is equal counts once."""
    requests = {write_json(request) for request in _list_requests(splitting, differences)}
    requests -= {write_json(splitting.old), write_json(splitting.new)}
    return (len(requests) + ENDS) * queries


def count_fixtures(splitting: Splitting, differences: Sequence[Difference]) -> int:
    """The number of indexes that are built of fixtures: those of both ends, and of arms."""
    requests = [splitting.old, splitting.new, *_list_requests(splitting, differences)]
    places = [[request[FIXTURE], request.get(SERVER)] for request in requests if FIXTURE in request]
    return len(set(map(write_json, places)))


def _list_requests(splitting: Splitting, differences: Sequence[Difference]) -> Iterator[Json]:
    """What is sent beside both ends, some of it perhaps twice."""
    yield from list_rebuilt(splitting, differences)
    tested: list[Sequence[Difference]] = [[difference] for difference in differences]
    parts = group_parts(differences)
    if len(parts) > 1:
        tested.append(parts[0].members)
    for members in tested:
        arms = build_arms(splitting, differences, members)
        yield arms.reverted
        yield arms.alone


def count_pair_searches(differences: Sequence[Difference], queries: int) -> int:
    """The most searches for pairs of *differences*, if no query is explained by a single one."""
    if len(differences) < 4:
        return 0  # the arms of a pair are the ends, or those of the third difference
    return len(differences) * (len(differences) - 1) * queries


def fit_differences(differences: Sequence[Difference], most: int) -> tuple[Difference, ...]:
    """
    At most so many differences: where there are more, those below the same uppermost places are joined.

    Returns:
        As many as the places of some depth have; one where nothing else fits.
    """
    depth = max((len(parse_pointer(difference.pointer)) for difference in differences if difference.pointer), default=0)
    for level in range(depth + 1, -1, -1):
        joined = list(differences)
        if level <= depth:
            groups: dict[tuple[str, ...], list[Difference]] = {}
            for difference in differences:
                keys = parse_pointer(difference.pointer) if difference.pointer else ()
                groups.setdefault(keys[:level], []).append(difference)
            joined = [join_differences(group) for group in groups.values()]
        if len(joined) <= most:
            return tuple(joined)
    return (join_differences(differences),)


def join_differences(differences: Iterable[Difference]) -> Difference:
    """One difference of several, which are switched together."""
    members = list(differences)
    return Difference(
        tuple(change for member in members for change in member.changes),
        frozenset().union(*(member.switches for member in members)),
    )


def split_causes(
    differences: Sequence[Difference], causes: Collection[int], finest: Sequence[Difference], most: int
) -> tuple[Difference, ...] | None:
    """
    The *differences* with those parted that are causes and have parts.

    Args:
        differences: Some of which were joined of *finest*.
        causes: The places of causes among them.
        finest: The differences as they are without being joined.
        most: The most that there may be.

    Returns:
        None where nothing can be parted, or not within *most*.
    """
    parts: dict[int, list[Difference]] = {}
    for place in causes:
        members = [member for member in finest if member.switches <= differences[place].switches]
        if len(members) > 1:
            parts[place] = members
    room = most - len(differences)
    split: list[Difference] = []
    for place, difference in enumerate(differences):
        if place in parts:
            split += fit_differences(parts[place], max(1, 1 + room // len(parts)))
        else:
            split.append(difference)
    return tuple(split) if len(split) > len(differences) else None


def fit_first(finest: Sequence[Difference], queries: int, most_searches: int) -> tuple[Difference, ...]:
    """
    As many differences as *most_searches* allow.

    Raises:
        UsageError: They do not allow to send both ends twice, and two arms of two differences.
    """
    most = (most_searches // max(queries, 1) - ENDS - 2) // 2
    if len(finest) > 1 and most < 2:
        needed = (2 * 2 + ENDS + 2) * queries
        raise UsageError(
            f"found {most_searches:,} searches, expected at least {needed:,} for {count(queries, 'query')} with ",
            Option("searches"),
            ": both requests are sent twice, and two for each of two differences",
        )
    return fit_differences(finest, most)
