"""Fields of a value that are made when they are first read, since most are not: scripts/bench/runner --by-hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

AValue = TypeVar("AValue", bound="LateFields")


class LateFields:
    """
    The base of a dataclass with slots whose `LATE` fields may have no value until they are read.

    Nobody who reads a field sees a difference: to compare, to pickle and to write a value reads all of its fields.
    """

    __slots__ = ("_make_field",)

    LATE: ClassVar[tuple[str, ...]] = ()
    """The names of these fields."""

    if TYPE_CHECKING:
        _make_field: Callable[[str], Any]
    else:
        # Python calls this for a field without a value. A type checker would take any name for one.
        def __getattr__(self, name: str) -> Any:
            if name not in self.LATE:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            value = self._make_field(name)
            object.__setattr__(self, name, value)
            return value

    def make_late(self, make_field: Callable[[str], Any]) -> None:
        """Let *make_field* make each of the `LATE` fields from its name; the values that they have are forgotten."""
        object.__setattr__(self, "_make_field", make_field)
        for name in self.LATE:
            object.__delattr__(self, name)

    @property
    def late_maker(self) -> Callable[[str], Any] | None:
        """What makes the `LATE` fields; None where they have values from the beginning."""
        try:
            return self._make_field
        except AttributeError:
            return None

    def change(self: AValue, make_field: Callable[[str], Any] | None = None, /, **fields: Any) -> AValue:
        """
        A copy with other *fields*, none of them late, in which nothing is made that was not read.

        *make_field* makes its late fields; by default, what makes those of the original.
        """
        make_field = make_field or self.late_maker
        if make_field is None:
            return replace(self, **fields)  # type: ignore[type-var]
        copy = replace(self, **dict.fromkeys(self.LATE), **fields)  # type: ignore[type-var]
        copy.make_late(make_field)
        return copy
