"""
The measures that can be written by name: the harness's own, those of installed packages, and those registered.

What is not the harness's own is code of the user's. What it gives is made a float here, and what it raises a
`MeasureError`, so that nothing else meets a number of another kind or an error that nobody expects.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from math import isfinite
from typing import Any, SupportsFloat, TypeVar

from harness.errors import HarnessError, MeasureError, UsageError
from harness.measures.definition import Definition, Range, Settings
from harness.measures.grammar import NAME

__all__ = ["ENTRY_POINTS", "Registry"]


ENTRY_POINTS = "relevance_harness.measures"
"""The entry point group in which a package offers its `Definition` objects."""

OTHER_NAMES = {
    "average_precision": "AP",
    "map": "AP",
    "map_cut": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "mean_reciprocal_rank": "RR",
    "prec": "P",
    "precision": "P",
    "recall": "R",
    "iprec_at_recall": "IPrec",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "setrelp": "SetP",
    "f1": "F",
    "ndcg_cut": "nDCG",
    "cumulative_gain": "CG",
    "hit": "Success",
    "hits": "Success",
    "hit_rate": "Success",
    "expected_reciprocal_rank": "ERR",
    "q": "Q",
    "qmeasure": "Q",
    "set_f": "SetF",
    "num_q": "NumQ",
}
"""What other tools call the same thing, in lower case; only for the hint in an error."""


LONGEST_SHOWN = 60
"""Characters of what a user's function gave that an error repeats."""


class Registry:
    """Definitions by name; packages' entry points are only looked at for a name that is not known otherwise."""

    def __init__(self, definitions: Iterable[Definition] = ()) -> None:
        """
        Args:
            definitions: The harness's own.
        """
        self._definitions = {definition.name: definition for definition in definitions}
        self._added: dict[str, Definition] = {}
        self._replaceable: set[str] = set()
        self._entry_points_read = False

    def add(self, definition: Definition) -> None:
        """
        Make a measure of the user's known.

        Raises:
            UsageError: the name is taken by another definition, or is none that a measure's text can hold.
        """
        name = definition.name
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot name a measure: letters, digits and _ only, a letter first")
        if self._added.get(name) is definition:
            return
        if name in self._definitions and name not in self._replaceable and not _is_interactive(definition):
            raise UsageError(f"a measure named {name} is registered already")
        self._replaceable.discard(name)
        self._added[name] = definition
        self._definitions[name] = _guarded(definition)

    def let_replace(self) -> None:
        """Let each measure that was added so far be added anew, by code that is executed again."""
        self._replaceable.update(self._added)

    def find(self, name: str) -> Definition | None:
        """The definition of *name*, None where there is none."""
        if name not in self._definitions and not self._entry_points_read:
            self._read_entry_points()
        return self._definitions.get(name)

    def names(self) -> list[str]:
        """All known names, packages' own included."""
        if not self._entry_points_read:
            self._read_entry_points()
        return list(self._definitions)

    def nearest(self, name: str) -> str | None:
        """The known measure that *name* probably means."""
        folded = name.lower()
        by_folded = {known.lower(): known for known in self.names()}
        if folded in by_folded or folded in OTHER_NAMES:
            return by_folded.get(folded) or OTHER_NAMES[folded]
        near = get_close_matches(folded, [*by_folded, *OTHER_NAMES], n=1, cutoff=0.5)
        return by_folded.get(near[0]) or OTHER_NAMES[near[0]] if near else None

    def _read_entry_points(self) -> None:
        from importlib.metadata import entry_points

        for entry_point in entry_points(group=ENTRY_POINTS):
            called = f"entry point {entry_point.name} of {ENTRY_POINTS} ({entry_point.value})"
            try:
                definition = entry_point.load()
            except Exception as error:
                raise UsageError(f"{called} cannot be loaded: {_told(error)}") from error
            if not isinstance(definition, Definition):
                raise UsageError(f"{called} is no measure Definition")
            self.add(definition)
        self._entry_points_read = True


def _is_interactive(definition: Definition) -> bool:
    """Whether it was written in a notebook or at a prompt, where a cell is executed as often as its author likes."""
    formula = definition.formula or definition.diverse
    return getattr(formula, "__module__", None) == "__main__" and not hasattr(sys.modules["__main__"], "__file__")


Given = TypeVar("Given")


def _guarded(definition: Definition) -> Definition:
    """*definition* with functions that give what theirs should give, or raise MeasureError."""
    formula, diverse, name = definition.formula, definition.diverse, definition.name
    return replace(
        definition,
        formula=None if formula is None else partial(_score, name, formula),
        diverse=None if diverse is None else partial(_score, name, diverse),
        reach=partial(_range, name, definition.reach),
        check=partial(_asked, name, "check", definition.check),
        batched=False,
    )


def _score(name: str, formula: Callable[[Any, Settings], object], ranking: object, settings: Settings) -> float:
    return _number(_asked(name, "formula", formula, ranking, settings), f"the formula of {name} gave")


def _range(name: str, reach: Callable[[Settings], object], settings: Settings) -> Range:
    found = _asked(name, "reach", reach, settings)
    if not isinstance(found, tuple) or len(found) != 2:
        raise MeasureError(f"the reach of {name} is {_shown(found)}, expected the least and the greatest value")
    least, greatest = (None if end is None else _number(end, f"the reach of {name} holds") for end in found)
    return least, greatest


def _asked(name: str, what: str, function: Callable[..., Given], *given: object) -> Given:
    """What a function of the user's gives; an error of ours, such as `UndefinedScore`, may be what it says."""
    try:
        return function(*given)
    except HarnessError:
        raise
    except Exception as error:
        raise MeasureError(f"the {what} of {name} raised {_told(error)}") from error


def _number(value: object, found: str) -> float:
    """
    *value* as a float: that of numpy, a Decimal, a Fraction, True and False too.

    Raises:
        MeasureError: it is none, or not finite; a text and an array are no numbers.
    """
    try:
        number = float(value) if isinstance(value, SupportsFloat) and not hasattr(value, "__len__") else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number):
        raise MeasureError(f"{found} {_shown(value)}, expected a finite number")
    return number


def _shown(value: object) -> str:
    """As Python writes it, if it can and that is short."""
    try:
        text = repr(value)
    except Exception:
        text = ""
    return text if 0 < len(text) <= LONGEST_SHOWN else f"an object of type {type(value).__name__}"


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
