"""The measures that can be written by name: the harness's own, those of installed packages, and those registered."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from harness.errors import UsageError
from harness.measures.definition import Definition
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


class Registry:
    """Definitions by name; packages' entry points are only looked at for a name that is not known otherwise."""

    def __init__(self, definitions: Iterable[Definition] = ()) -> None:
        self._definitions: dict[str, Definition] = {}
        self._entry_points_read = False
        for definition in definitions:
            self.add(definition)

    def add(self, definition: Definition) -> None:
        """
        Make a measure known.

        Raises:
            UsageError: the name is taken by another definition, or is none that a measure's text can hold.
        """
        if not NAME.fullmatch(definition.name):
            raise UsageError(f"{definition.name!r} cannot name a measure: letters, digits and _ only, a letter first")
        if self._definitions.get(definition.name, definition) is not definition:
            raise UsageError(f"a measure named {definition.name} is registered already")
        self._definitions[definition.name] = definition

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

        self._entry_points_read = True
        for entry_point in entry_points(group=ENTRY_POINTS):
            definition = entry_point.load()
            if not isinstance(definition, Definition):
                raise UsageError(
                    f"entry point {entry_point.name} of {ENTRY_POINTS} ({entry_point.value}) is no measure Definition"
                )
            self.add(definition)
