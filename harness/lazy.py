"""Sequences and mappings that build their values on access: not all are in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

Key = TypeVar("Key")
Item = TypeVar("Item")
Made = TypeVar("Made", covariant=True)


SHOWN = 3
"""Items in the repr of a sequence."""


class LazySequence(Sequence[Made]):
    """
    *make* applied to each of *items* on each access; only the first few results are kept.

    >>> squares = LazySequence(range(1_000_000), lambda number: number * number)
    >>> squares[999_999], list(squares[:3])
    (999998000001, [0, 1, 4])
    """

    def __init__(self, items: Sequence[Item], make: Callable[[Item], Made], *, keep: int = 0) -> None:
        """
        Args:
            items: The arguments of *make*, one per value.
            make: Builds a value; it must return equal values for the same item.
            keep: The number of first values to build once and keep: those of a small suite are all read often.
        """
        self._items = items
        self._make = make
        self._keep = keep
        self._kept: dict[int, Made] = {}

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> Made: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Made]: ...

    def __getitem__(self, place: int | slice) -> Made | Sequence[Made]:
        if isinstance(place, slice):
            return LazySequence(range(len(self))[place], self.__getitem__)
        if place < 0:
            place = range(len(self))[place]
        if place in self._kept:
            return self._kept[place]
        made: Made = self._make(self._items[place])
        if place < self._keep:
            self._kept[place] = made
        return made

    def __iter__(self) -> Iterator[Made]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:SHOWN]))
        return f"({shown}, and {len(self) - SHOWN:,} more)" if len(self) > SHOWN else f"({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what is pickled, is a plain tuple."""
        return tuple, (tuple(self),)


def chained(first: Sequence[Made], second: Sequence[Made]) -> Sequence[Made]:
    """The items of both, one after the other."""

    def item(place: int) -> Made:
        return first[place] if place < len(first) else second[place - len(first)]

    return LazySequence(range(len(first) + len(second)), item)


class LazyMapping(Mapping[Key, Made]):
    """*make* applied to each value of *items*, on each access."""

    def __init__(self, items: Mapping[Key, Item], make: Callable[[Item], Made]) -> None:
        """*make* must return equal values for the same item."""
        self._items = items
        self._make: Callable[[Any], Made] = make

    def __getitem__(self, key: Key) -> Made:
        return self._make(self._items[key])

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<mapping of {len(self):,}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what is pickled, is a plain dict."""
        return dict, (dict(self),)
