"""A report as one HTML page: what it shows is chosen and bounded here, laid out by the template."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.means import are_weighted
from harness.model import (
    MeasureSummary,
    MissingDocument,
    MovedDocument,
    Outcome,
    QueryReport,
    RankedDocument,
    Report,
    Status,
    SuiteReport,
    Verdict,
)
from harness.report.html.charts import Bin, histogram, meter_marks, plotted
from harness.report.overview import TagTable, cell_names, compared_text, figure_text, overview, remarks, tag_table
from harness.report.run_sentences import BAD, LOOKED_AT, closing, grade_text, headline, missing_place, outcome_lines
from harness.report.sentences import (
    matching_text,
    mean_heading,
    observed_text,
    plain_text,
    printable,
    required_text,
    score_text,
    tally_text,
    untold_waiver,
)
from harness.words import count

__all__ = ["VerdictView", "VerdictViews", "verdict_views", "verdicts_left_out", "worst_status"]


SCRIPT = "report.js"


def fill(environment: Environment, template: str, styles: Sequence[str], **values: object) -> str:
    """*template* with *values*, and with *styles* and the script of all pages in it; each is the name of a file."""
    style, script = "".join(map(_source, styles)), _source(SCRIPT)
    return environment.get_template(template).render(
        **values,
        style=Markup(style),
        script=Markup(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
    )


def environment(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """A new one, with *filters* and those that every page uses."""
    made = Environment(loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, finalize=_readable)
    made.filters |= {
        "clipped": _clipped,
        "counted": count,
        "tally": tally_text,
        "grade_text": grade_text,
        "listed": lambda texts: ", ".join(texts),  # jinja's own join gives markup, which is not neutralised any more
        "mean_heading": lambda weighted: mean_heading(weighted=weighted),
        "meter_marks": meter_marks,
        "number": lambda count: "–" if count is None else f"{count:,}",
        "observed": observed_text,
        "plain": plain_text,
        "plotted": plotted,
        "required": required_text,
        "score": score_text,
        "untold_waiver": untold_waiver,
        "status_class": lambda status: "status-" + status.replace(" ", "-"),
        **filters,
    }
    return made


@cache
def _source(name: str) -> str:
    return (resources.files("harness.report.html") / "templates" / name).read_text(encoding="utf-8")


def _readable(value: Any) -> Any:
    """What is put in a page is neutralised as on a terminal before it is escaped; markup of ours is left alone."""
    return value if isinstance(value, Markup | int | float) else printable(str(value))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass(frozen=True, slots=True)
class VerdictView:
    """A threshold, and the queries to look at: their ids and the anchors of those that the page holds."""

    verdict: Verdict
    blamed: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class VerdictViews:
    """*held_by_queries* are passed thresholds of single queries: there may be hundreds, and nothing to look at."""

    foremost: tuple[VerdictView, ...]
    held_by_queries: tuple[VerdictView, ...]


def verdict_views(verdicts: Sequence[Verdict], anchors: Mapping[str, str], most: int) -> VerdictViews:
    """At most *most* of *verdicts*, with links to the queries of *anchors*."""
    views = [_view(verdict, anchors) for verdict in _listed(verdicts, most)]
    return VerdictViews(
        tuple(view for view in views if not _is_held_by_query(view.verdict)),
        tuple(view for view in views if _is_held_by_query(view.verdict)),
    )


def verdicts_left_out(verdicts: Sequence[Verdict], most: int) -> Iterator[str]:
    """What is not listed where *most* are, first of all those that did not hold."""
    bad = sum(verdict.status in BAD for verdict in verdicts)
    if bad > most:
        yield f"{count(bad - most, 'threshold')} that did not hold"
    if len(verdicts) > max(bad, most):
        yield f"{count(len(verdicts) - max(bad, most), 'threshold')} that held"


def worst_status(verdicts: Iterable[Verdict]) -> Status:
    """What is undecided before a failure, as in the exit status."""
    statuses = {verdict.status for verdict in verdicts}
    worse = (Status.ERROR, Status.INCONCLUSIVE, Status.FAILED, Status.NOT_DECIDED)
    return next((status for status in worse if status in statuses), Status.PASSED)


def _is_held_by_query(verdict: Verdict) -> bool:
    return verdict.query is not None and verdict.status is Status.PASSED


def _view(verdict: Verdict, anchors: Mapping[str, str]) -> VerdictView:
    return VerdictView(verdict, tuple((name, anchors.get(name)) for name in verdict.blamed))


def _listed(verdicts: Sequence[Verdict], most: int) -> list[Verdict]:
    """All in the order of the suite; where they are too many, those to look at first, then the suite's own."""
    return list(verdicts) if len(verdicts) <= most else sorted(verdicts, key=_urgency)[:most]


def _urgency(verdict: Verdict) -> tuple[bool, bool, bool]:
    return (verdict.status not in BAD, verdict.status not in LOOKED_AT, verdict.query is not None)


GRADE_STEPS = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that the page holds of each suite: *rows* of queries, *details* of these with rankings, and so on."""

    rows: int = 5_000
    details: int = 500
    ranks: int = 20
    missing: int = 20
    thresholds: int = 500
    tags: int = 100
    measures: int = 10


@dataclass(frozen=True, slots=True)
class Placed:
    """A document of the ideal: *found* is its rank in the ranking, None where it is missing."""

    document: RankedDocument
    shade: str
    found: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit of the ranking, with the *shade* of its gain."""

    document: RankedDocument
    shade: str


@dataclass(frozen=True, slots=True)
class QueryView:
    """One query: a row of the table, and where *detailed* its ranking beside its ideal."""

    anchor: str
    query: QueryReport
    tags: tuple[int, ...]
    blamed: bool
    detailed: bool
    ranking: tuple[Shown, ...] = ()
    ideal: tuple[Placed, ...] = ()
    missing: tuple[MissingDocument, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasureView:
    """One measure with the spread of its scores."""

    summary: MeasureSummary
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class SuiteView:
    """
    What the page shows of a suite, or of a cell, which *name* tells from others; *remarks* are as on a terminal.

    *by_tag* are the figures of the *tags*, *weighted* says that queries do not all weigh the same.
    """

    anchor: str
    name: str
    suite: SuiteReport
    status: Status
    verdicts: VerdictViews
    measures: tuple[MeasureView, ...]
    queries: tuple[QueryView, ...]
    outcomes: Mapping[Outcome, int]
    tags: tuple[str, ...]
    by_tag: TagTable | None
    weighted: bool
    left_out: tuple[str, ...]
    remarks: tuple[str, ...]


def suite_views(report: Report, limits: Limits) -> tuple[SuiteView, ...]:
    """The page's view of each suite of *report*."""
    named = zip(cell_names(report.suites), report.suites, strict=True)
    return tuple(_suite_view(f"s{number}", name, suite, limits) for number, (name, suite) in enumerate(named, start=1))


def shade_of(document: RankedDocument | MovedDocument, greatest: float) -> str:
    """
    The class that colours a document: *greatest* is the greatest gain of all.

    >>> shade_of(RankedDocument(1, "a", grade=3, gain=7.0), 7.0)
    'gain-4'
    """
    if document.gain is None:
        return "unjudged"
    if document.gain <= 0:
        return "gain-negative" if document.gain < 0 else "gain-0"
    share = document.gain / greatest if greatest > 0 else 1.0
    return f"gain-{min(GRADE_STEPS, int(share * GRADE_STEPS) + 1)}"


def _suite_view(anchor: str, name: str, suite: SuiteReport, limits: Limits) -> SuiteView:
    tags = tuple(sorted({tag for query in suite.queries for tag in query.tags}))
    queries = _query_views(anchor, suite, tags, limits)
    anchors = {view.query.id: view.anchor for view in queries if view.detailed}
    return SuiteView(
        anchor=anchor,
        name=name,
        suite=suite,
        status=Status.NOT_DECIDED if suite.report_only else worst_status(suite.verdicts),
        verdicts=verdict_views(suite.verdicts, anchors, limits.thresholds),
        measures=tuple(
            MeasureView(summary, histogram(query.scores.get(summary.measure) for query in suite.queries))
            for summary in suite.summaries
        ),
        queries=queries,
        outcomes=Counter(query.outcome for query in suite.queries),
        tags=tags,
        by_tag=tag_table(suite, most=limits.tags, measures=limits.measures),
        weighted=are_weighted(query.weight for query in suite.queries),
        left_out=tuple(_left_out(suite, queries, limits.thresholds)),
        remarks=(*outcome_lines(suite.queries), *suite.notes),
    )


def _left_out(suite: SuiteReport, queries: Sequence[QueryView], thresholds: int) -> Iterable[str]:
    """What is not on the page, of which at most *thresholds* are there."""
    rows = len(suite.queries) - len(queries)
    details = len(queries) - sum(view.detailed for view in queries)
    yield from verdicts_left_out(suite.verdicts, thresholds)
    if rows:
        yield f"{count(rows, 'query')} with the best scores"
    if details:
        yield f"the rankings of {count(details, 'query')} with better scores than those shown"


# ------------------------------------------------------------------------------------------------ queries


def _query_views(anchor: str, suite: SuiteReport, tags: Sequence[str], limits: Limits) -> tuple[QueryView, ...]:
    blamed = {name for verdict in suite.verdicts if verdict.status in BAD for name in verdict.blamed}
    numbers = {tag: number for number, tag in enumerate(tags)}
    own: dict[str | None, list[Verdict]] = {}
    for verdict in suite.verdicts:
        own.setdefault(verdict.query, []).append(verdict)
    measure = suite.summaries[0].measure if suite.summaries else None
    greatest = _greatest_gain(suite.queries)
    views = []
    numbered = enumerate(suite.queries, start=1)
    ordered = sorted(numbered, key=lambda pair: _badness(pair[1], measure, pair[1].id in blamed))
    for place, (number, query) in enumerate(ordered[: limits.rows]):
        row = QueryView(
            anchor=f"{anchor}q{number}",
            query=query,
            tags=tuple(numbers[tag] for tag in query.tags),
            blamed=query.id in blamed,
            detailed=place < limits.details,
            verdicts=tuple(own.get(query.id, ())),
        )
        views.append(_with_rankings(row, greatest, limits) if row.detailed else row)
    return tuple(views)


def _badness(query: QueryReport, measure: str | None, blamed: bool) -> tuple[bool, bool, float]:
    """Sorts what needs a look first: queries that a threshold blames, those without a score, then the lowest scores."""
    score = query.scores.get(measure) if measure is not None else None
    return (not blamed, score is not None, score if score is not None else 0.0)


def _with_rankings(row: QueryView, greatest: float, limits: Limits) -> QueryView:
    query = row.query
    ranks = {document.id: document.rank for document in query.ranking}
    return QueryView(
        anchor=row.anchor,
        query=query,
        tags=row.tags,
        blamed=row.blamed,
        detailed=True,
        ranking=tuple(Shown(document, shade_of(document, greatest)) for document in query.ranking[: limits.ranks]),
        ideal=tuple(
            Placed(document, shade_of(document, greatest), ranks.get(document.id))
            for document in query.ideal[: limits.ranks]
        ),
        missing=query.missing[: limits.missing],
        verdicts=row.verdicts,
    )


def _greatest_gain(queries: Iterable[QueryReport]) -> float:
    gains = (document.gain for query in queries for document in (*query.ideal, *query.ranking))
    return max((gain for gain in gains if gain is not None), default=0.0)


def render(report: Report, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    return fill(
        _environment(),
        "report.html.jinja",
        ["report.css"],
        report=report,
        suites=suite_views(report, limits or Limits()),
        overview=overview(report),
        product="Relevance report",
        headline=headline(report),
        closing=closing(report),
    )


@cache
def _environment() -> Environment:
    return environment(
        {
            "remarks": remarks,
            "matching": matching_text,
            "tag_figure": figure_text,
            "missing_place": missing_place,
            "beside": compared_text,
        }
    )
