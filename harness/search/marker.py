"""The mark that tells an index of ours from any other: `_meta` of its mappings says who made it, and from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from harness.model import Json

__all__ = ["KEY", "Marker", "read_marker"]


KEY = "relevance_harness"


@dataclass(frozen=True, slots=True)
class Marker:
    """
    What we wrote into an index.

    *name* is the suite's, *fingerprint* that of what the index is built from. *build* tells one builder from another,
    *indexed* is how far it is, *complete* that it is done. *used* is when a run last took the index, in ISO 8601.
    """

    name: str
    fingerprint: str
    build: str
    indexed: int
    complete: bool
    used: str
    made_by: str = "relevance-harness"

    def as_meta(self, own: Json) -> dict[str, Any]:
        """The `_meta` that holds this, beside what the suite's *own* mappings have there."""
        return {**(own if isinstance(own, Mapping) else {}), KEY: asdict(self)}

    def used_at(self) -> datetime | None:
        """When it was last used, None where that cannot be read or has no time zone, as none that we wrote."""
        try:
            moment = datetime.fromisoformat(self.used)
        except ValueError:
            return None
        return moment if moment.tzinfo is not None else None


def read_marker(meta: Json) -> Marker | None:
    """The marker in a mapping's `_meta`; None where there is none of ours, or not in our form."""
    held = meta.get(KEY) if isinstance(meta, Mapping) else None
    if not isinstance(held, Mapping) or held.get("made_by") != "relevance-harness":
        return None
    kinds = {"name": str, "fingerprint": str, "build": str, "indexed": int, "complete": bool, "used": str}
    values = {name: held.get(name) for name in kinds}
    if not all(isinstance(values[name], kind) for name, kind in kinds.items()):
        return None
    return Marker(**values)  # type: ignore[arg-type]  # each value's type was just checked
