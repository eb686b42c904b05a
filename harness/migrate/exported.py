"""A suite as another system's files, and what they have no place for."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.migrate.draft import Leftovers
from harness.model import Json, Mark, Measure, Suite

__all__ = ["Exported", "json_lines", "suite_stem", "whole"]


def suite_stem(path: str) -> str:
    """The name of a suite's file without its endings."""
    return Path(path).name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".relevance")


def whole(number: float) -> float:
    """*number* without a point where it is a whole one."""
    return int(number) if number == int(number) else number


def json_lines(entries: Iterable[Json]) -> str:
    """Each of *entries* on a line."""
    return "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in entries)


@dataclass(slots=True)
class Exported:
    """
    The *files* of one suite by their names; a format of one file names it "".

    What they do not hold is in *leftovers*.
    """

    files: dict[str, str] = field(default_factory=dict)
    leftovers: Leftovers = field(default_factory=Leftovers)

    def leave(self, mark: Mark, what: str, count: int = 1) -> None:
        """Note that *what* at *mark* is not in the files."""
        self.leftovers.add((mark.path, mark.line, mark.column), what, count)

    def leave_rules(self, suite: Suite, *, but: Collection[str] = ()) -> None:
        """Note what nearly no other format has: thresholds, tags and so on, *but* those that this one has."""
        owned = [threshold for query in suite.queries for threshold in query.thresholds]
        self._leave_any("thresholds", suite.thresholds, suite.mark, but)
        self._leave_any("thresholds and expectations of single queries", owned, suite.mark, but)
        for key, plain in (
            ("tags", ()),
            ("params", {}),
            ("weight", 1.0),
            ("xfail", None),
            ("skip", None),
            ("markers", ()),
        ):
            self._leave_any(key, [query for query in suite.queries if getattr(query, key) != plain], suite.mark, but)
        if suite.grades and "grades" not in but:
            self.leave(suite.mark, f"'grades', the names of grades: {', '.join(suite.grades)}")
        if suite.fixture is not None:
            self.leave(suite.fixture.mark, "'fixture', the documents of the suite's own index")
        for template in suite.requests.values():
            if template.url_params and "url_params" not in but:
                self.leave(
                    template.mark, f"'url_params' {', '.join(template.url_params)} of the request {template.name!r}"
                )
        if suite.ungraded:
            self.leave(suite.mark, "documents without a grade", suite.ungraded)

    def leave_measures(self, suite: Suite, measures: Iterable[Measure]) -> None:
        """Note measures that the format does not have."""
        names = [measure.text for measure in measures]
        if names:
            self.leave(suite.mark, f"'measures' {', '.join(names)}")

    def _leave_any(self, key: str, found: Collection[object], mark: Mark, but: Collection[str]) -> None:
        if found and key not in but:
            first = getattr(next(iter(found)), "mark", mark)
            self.leave(first, repr(key), len(found))
