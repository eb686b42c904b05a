"""The options of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from harness.errors import EntryPoint

__all__ = ["RunOptions"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """
    What the user asked for.

    *url*, *cluster*, which is a name in harness.toml, or *embedded* with *engine_version*, takes the place of the
    suites' own clusters. *request* names one of a
    suite's request templates, *index* takes the place of the target's index and of a template's own. *tags* select
    queries. *allow_write* lets fixtures build their index, which on the embedded node they always may. *locate* allows
    deeper searches for missing documents. *baseline* is a file of baselines in place of the one beside the suite;
    *save_baseline* says that the run is to become the baseline, so that nothing is compared with the old one. *today*
    decides which waivers hold, by the clock where it is None. *strict_xfail* makes an unexpected pass a failure.
    *unjudged* lets suites run that score and have no judgment at all.
    *depth* is how many hits are asked for where that is more than the suite asks for.
    *budget* is how many seconds the searches of one cell may take; queries that are left then did not run. *tails*
    looks for what ties with the last hits also where no threshold compares with a baseline. *client* is the user's own
    client object. *entry* is whose names of options messages have.
    """

    url: str | None = None
    embedded: bool = False
    engine_version: str | None = None
    request: str | None = None
    index: str | None = None
    cluster: str | None = None
    tags: tuple[str, ...] = ()
    allow_write: bool = False
    locate: bool = True
    baseline: Path | None = None
    save_baseline: bool = False
    today: date | None = None
    budget: float | None = None
    strict_xfail: bool = False
    depth: int | None = None
    unjudged: bool = False
    tails: bool = False
    client: Any = field(default=None, compare=False, repr=False)
    entry: EntryPoint = EntryPoint.PYTHON

    def day(self) -> date:
        """The day that waivers are held against."""
        return self.today or date.today()

    def chosen(self) -> str:
        """
        The request and the index that were asked for, in words; empty where neither was.

        >>> RunOptions(request="candidate", index="products_v2").chosen()
        'request candidate, index products_v2'
        """
        named = {"request": self.request, "index": self.index}
        return ", ".join(f"{what} {name}" for what, name in named.items() if name is not None)
