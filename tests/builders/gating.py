"""What the gate is asked about: thresholds by their text, and no more of suites, runs and baselines than they need."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from harness.gate.grammar import parse_threshold
from harness.model.kept import Reference
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Query, Threshold

TODAY = date(2026, 6, 1)


def threshold(text: str, of_query: bool = False, **fields: Any) -> Threshold:
    """What *text* says; *fields* are those of `Threshold`."""
    condition, tag = parse_threshold(text, of_query=of_query)
    return Threshold(text, condition, tag, **fields)


def queries_of(names: Iterable[str], tags: Mapping[str, tuple[str, ...]] | None = None) -> tuple[Query, ...]:
    """Queries whose text is their id."""
    return tuple(Query(name, name, tags=(tags or {}).get(name, ())) for name in names)


def scores_of(values: Mapping[str, float | Outcome], measure: str) -> tuple[Score, ...]:
    """One score a query; an Outcome in place of a value is a score without one."""
    return tuple(
        Score(query, measure, None, value, "why")
        if isinstance(value, Outcome)
        else Score(query, measure, value, Outcome.SCORED)
        for query, value in values.items()
    )


def empty_run(queries: Iterable[str]) -> Run:
    """A run in which no query had a hit."""
    return Run({query: Ranking() for query in queries}, Engine("fake"), "current")


def reference_of(values: Mapping[str, float | Outcome], measure: str, **fields: Any) -> Reference:
    """A baseline of the same request whose queries scored *values*; *fields* are those of `Reference`."""
    known = {"depth": 10, "created": "2026-05-01", "same_request": True, "remedy": "REMEDY", **fields}
    return Reference(empty_run(values), scores_of(values, measure), **known)


def ranking(ids: Iterable[str], **fields: Any) -> Ranking:
    """Hits without scores; *fields* are those of `Ranking`."""
    return Ranking(tuple(Hit(id) for id in ids), **fields)
