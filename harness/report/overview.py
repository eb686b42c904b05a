"""The tables of a report's cells and of the figures of each tag, the same for every output format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from harness.gate.grammar import TOLERANCE
from harness.means import are_weighted, find_percentile, mean_of
from harness.model.report import MeasureSummary, Report, SuiteReport, TagSummary
from harness.model.run import Status
from harness.report.sentences import MEAN_INTERVAL, explain_no_interval, format_change, format_score
from harness.words import count, grouped, listed

# The cells of a report side by side.


BEST = "*"
"""Marks, without color, the best figure of a suite."""

HELD = (Status.PASSED, Status.XPASSED)


@dataclass(frozen=True, slots=True)
class Figure:
    """
    One measure in one cell: its *mean* over *counted* queries, None where none has a score.

    *partial* is set where another cell of the suite has scores of more queries. *difference* is the difference from the
    suite's first cell, None for that cell itself and where the two have scores of different queries. *best* marks the
    greatest mean of the suite's cells, where they differ.
    """

    mean: float | None
    counted: int
    partial: bool = False
    difference: float | None = None
    best: bool = False


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """
    One cell.

    *figures* has no entry for a measure that is not the suite's. *held* counts thresholds that passed, also
    unexpectedly; *other* those that warned, failed as expected or were skipped; *errors* those that are undecided.
    *agreements* has the means of those with other requests. *p95* is that of the server's own times in milliseconds,
    None where a query has none.
    """

    suite: SuiteReport
    figures: Mapping[str, Figure]
    held: int
    failed: int
    errors: int
    other: int
    agreements: Mapping[str, float] = field(default_factory=dict)
    p95: float | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """
    The table: a row per cell, a column per measure, in the order in which suites name them.

    *requests* says whether rows differ in the request, *indexes* whether cells of one suite differ in the index.
    *gains* are those of the suites. *agreements* are those of rows with other requests.
    """

    measures: tuple[str, ...]
    rows: tuple[OverviewRow, ...]
    requests: bool
    indexes: bool
    gains: tuple[str, ...]
    agreements: tuple[str, ...] = ()


def build_overview(report: Report) -> Overview | None:
    """The table of *report*; None where it has only one cell."""
    suites = report.suites
    if len(suites) < 2:
        return None
    figures: dict[int, Mapping[str, Figure]] = {}
    has_several_indexes = False
    for places in _group_cells(suites):
        cells = [suites[place] for place in places]
        figures.update(zip(places, _compare_cells(cells), strict=True))
        has_several_indexes = has_several_indexes or _differ(cells, "index")
    rows = tuple(_make_row(suite, figures[place]) for place, suite in enumerate(suites))
    agreements: dict[str, None] = {}
    for row in rows:
        agreements |= dict.fromkeys(row.agreements)
    return Overview(
        measures=_list_measures(suites),
        rows=rows,
        agreements=tuple(agreements),
        requests=len({suite.request for suite in suites}) > 1,
        indexes=has_several_indexes,
        gains=tuple(dict.fromkeys(suite.gain for suite in suites)),
    )


def name_cells(suites: Sequence[SuiteReport]) -> tuple[str, ...]:
    """A name for each of *suites*: its own, with the request and the index where cells of a suite differ in them."""
    if len(suites) < 2:
        return tuple(suite.name for suite in suites)
    names = []
    for suite, parts in zip(suites, find_differing_parts(suites), strict=True):
        texts = [f"{what} {name}" for what, name in parts.items()]
        names.append(", ".join([suite.name, *texts]))
    return tuple(names)


def find_differing_parts(suites: Sequence[SuiteReport]) -> list[dict[str, str | None]]:
    """The request and the index of each of *suites*, by these words, where cells of a suite differ in them."""
    parts: list[dict[str, str | None]] = [{} for _ in suites]
    for places in _group_cells(suites):
        cells = [suites[place] for place in places]
        for place in places:
            if _differ(cells, "request"):
                parts[place]["request"] = suites[place].request
            # A service has no index.
            if _differ(cells, "index") and suites[place].index is not None:
                parts[place]["index"] = suites[place].index
    return parts


def count_suites(report: Report) -> str:
    """How many suites ran, and in how many cells where these are more: ``1 suite in 4 cells``."""
    suites = len(_group_cells(report.suites))
    cells = len(report.suites)
    if cells == suites:
        return count(suites, "suite")
    return f"{count(suites, 'suite')} in {count(cells, 'cell')}"


def describe_overview(cells: Overview) -> Iterator[str]:
    """Sentences that explain the table."""
    figures: list[Figure] = []
    for row in cells.rows:
        figures += row.figures.values()
    if any(figure.best for figure in figures):
        yield f"{BEST} the greatest mean of a suite's cells"
    if any(figure.difference is not None for figure in figures):
        yield "differences are relative to the suite's first cell"
    if any(figure.partial for figure in figures):
        yield "a mean over fewer queries than another cell's is not compared"
    weighted = [row.suite.name for row in cells.rows if _is_weighted(row)]
    if weighted:
        yield f"means are weighted by query: {', '.join(dict.fromkeys(weighted))}"
    if cells.agreements:
        yield "p95 is that of the server's own times"
    if len(cells.gains) == 1:
        yield f"gain {cells.gains[0]}"


def _is_weighted(row: OverviewRow) -> bool:
    return any(summary.weighted for summary in row.suite.summaries)


def format_compared(figure: Figure) -> str:
    """
    The text beside a mean: its difference with a sign, ``=`` where no decimal shows one, or the number of its queries
    where another cell has scores of more; empty for neither.
    """
    if figure.difference is None:
        return f"of {figure.counted:,}" if figure.partial else ""
    return format_change(0.0, figure.difference)


def format_mean_change(summary: MeasureSummary) -> str:
    """
    How the mean changed since the baseline, with the number of queries where these are fewer than the mean's; empty
    where it is not compared.
    """
    change = summary.change
    if change is None:
        return ""
    text = format_change(change.baseline, change.now)
    return text if change.queries == summary.counted else f"{text} over {change.queries:,}"


def _group_cells(suites: Sequence[SuiteReport]) -> list[list[int]]:
    """The places of the cells of each suite; suites are identified by their files."""
    return list(grouped((suite.path, place) for place, suite in enumerate(suites)).values())


def _differ(cells: Iterable[SuiteReport], part: Literal["request", "index"]) -> bool:
    return len({cell.request if part == "request" else cell.index for cell in cells}) > 1


def _list_measures(cells: Iterable[SuiteReport]) -> tuple[str, ...]:
    measures: dict[str, None] = {}
    for cell in cells:
        measures.update((summary.measure, None) for summary in cell.summaries)
    return tuple(measures)


def _make_row(suite: SuiteReport, figures: Mapping[str, Figure]) -> OverviewRow:
    statuses = [verdict.status for verdict in suite.verdicts]
    held, failed = sum(status in HELD for status in statuses), statuses.count(Status.FAILED)
    errors = sum(status.is_undecided for status in statuses)
    other = len(statuses) - held - failed - errors
    return OverviewRow(suite, figures, held, failed, errors, other, _compute_agreements(suite), _find_p95(suite))


def _compute_agreements(suite: SuiteReport) -> dict[str, float]:
    """The mean agreements of the queries of *suite* with other requests: "overlap@10 with exact" to value."""
    values: dict[str, dict[str, float]] = {}
    for query in suite.queries:
        for compared in query.compared:
            for agreement, value in compared.agreements.items():
                if value is not None:
                    values.setdefault(f"{agreement} with {compared.request}", {})[query.id] = value
    weights = {query.id: query.weight for query in suite.queries}
    return {name: mean_of(by_query, weights) for name, by_query in values.items()}


def _find_p95(suite: SuiteReport) -> float | None:
    """The 95th percentile of the server's own times, by nearest rank, as thresholds on latency have it."""
    times = [query.timing.took for query in suite.queries]
    known = [time for time in times if time is not None]
    if not known or len(known) < len(times):
        return None
    return find_percentile(known, 95)


def _compare_cells(cells: Sequence[SuiteReport]) -> list[dict[str, Figure]]:
    """The figures of each of a suite's cells, by measure."""
    figures_of_cells: list[dict[str, Figure]] = [{} for _ in cells]
    for measure in _list_measures(cells):
        for place, figure in _compare_means(cells, measure).items():
            figures_of_cells[place][measure] = figure
    return figures_of_cells


@dataclass(frozen=True, slots=True)
class _CellMean:
    """The *mean* of a measure in one cell, None where no query has a score, and the *queries* that it is over."""

    mean: float | None
    queries: frozenset[str]


def _compare_means(cells: Sequence[SuiteReport], measure: str) -> dict[int, Figure]:
    """The figures of *measure*, by the places of the *cells* that have it."""
    scored = [_find_scored(cell, measure) for cell in cells]
    scored_somewhere = frozenset().union(*scored)
    means: dict[int, _CellMean] = {}
    for place, cell in enumerate(cells):
        summary = _find_summary(cell, measure)
        if summary is not None:
            means[place] = _CellMean(summary.mean, scored[place])
    # A mean over other queries than that of the first cell is not compared with it, and is not the best.
    comparable: dict[int, float] = {}
    for place, cell_mean in means.items():
        if cell_mean.mean is not None and cell_mean.queries == scored[0]:
            comparable[place] = cell_mean.mean
    # Where all are equal none is the best.
    greatest = max(comparable.values(), default=0.0)
    has_best = greatest - min(comparable.values(), default=0.0) > TOLERANCE

    figures = {}
    for place, cell_mean in means.items():
        is_partial = len(cell_mean.queries) < len(scored_somewhere)
        figure = Figure(cell_mean.mean, len(cell_mean.queries), partial=is_partial)
        if place in comparable:
            if place > 0 and 0 in comparable:
                figure = replace(figure, difference=comparable[place] - comparable[0])
            is_greatest = greatest - comparable[place] <= TOLERANCE
            figure = replace(figure, best=has_best and is_greatest)
        figures[place] = figure
    return figures


def _find_summary(cell: SuiteReport, measure: str) -> MeasureSummary | None:
    for summary in cell.summaries:
        if summary.measure == measure:
            return summary
    return None


def _find_scored(cell: SuiteReport, measure: str) -> frozenset[str]:
    """The queries that have a score, which the mean is over."""
    return frozenset(query.id for query in cell.queries if query.scores.get(measure) is not None)


# The figures of each tag.


TAG_LINES = 12
"""Tags that have a line by default."""

MEASURE_COLUMNS = 5
"""Measures that have a column: the suite's own come before those that only thresholds name."""

MEASURES_WITH_INTERVALS = 2
"""The most measures of which the means have their intervals beside them: those of more do not fit a terminal."""


@dataclass(frozen=True, slots=True)
class TagRow:
    """
    One line: the queries with *tag*, where *tag* is None those of *name*, "all" or "no tag".

    *share* is their share of the weight of all queries, *figures* are those of the table's measures, *statuses* those
    of the thresholds `for` the tag.
    """

    name: str
    tag: str | None
    queries: int
    share: float
    figures: tuple[MeasureSummary, ...]
    statuses: tuple[Status, ...] = ()


@dataclass(frozen=True, slots=True)
class TagTable:
    """
    All lines: all queries, each tag, the queries without one.

    *weighted* says that the queries' weights differ, *held* that a tag has thresholds, *has_intervals* that means have
    intervals and these are shown. *remarks* are sentences on what the table leaves out.
    """

    measures: tuple[str, ...]
    rows: tuple[TagRow, ...]
    weighted: bool
    held: bool
    has_intervals: bool
    remarks: tuple[str, ...]


def build_tag_table(suite: SuiteReport, *, most: int = TAG_LINES, measures: int = MEASURE_COLUMNS) -> TagTable | None:
    """
    The table of *suite*, None where no query has a tag.

    At most *most* tags have a line, those with thresholds before others, and then those that weigh more.
    """
    tagged = [tag for tag in suite.tags if tag.tag is not None]
    if not tagged:
        return None
    with_thresholds_first = sorted(tagged, key=lambda tag: not tag.verdicts)
    shown_tags = {tag.tag for tag in with_thresholds_first[:most]}
    shown_measures = suite.summaries[:measures]
    statuses = {verdict.id: verdict.status for verdict in suite.verdicts}
    rows = [TagRow("all", None, len(suite.queries), 1.0, shown_measures)]
    shown = [tag for tag in suite.tags if tag.tag is None or tag.tag in shown_tags]
    rows += [_make_tag_row(tag, len(shown_measures), statuses) for tag in shown]
    has_intervals = False
    if len(shown_measures) <= MEASURES_WITH_INTERVALS:
        has_intervals = any(summary.interval for row in rows for summary in row.figures)
    more_tags, more_measures = len(tagged) - len(shown_tags), len(suite.summaries) - len(shown_measures)
    return TagTable(
        measures=tuple(summary.measure for summary in shown_measures),
        rows=tuple(rows),
        weighted=are_weighted(query.weight for query in suite.queries),
        held=any(row.statuses for row in rows),
        has_intervals=has_intervals,
        remarks=tuple(_describe_tags(suite, more_tags, more_measures)),
    )


def format_mean(row: TagRow, summary: MeasureSummary) -> str:
    """The mean, with the number of its queries where some were left out."""
    text = format_score(summary.mean)
    return text if summary.counted in (0, row.queries) else f"{text} of {summary.counted:,}"


def format_figure(row: TagRow, summary: MeasureSummary) -> str:
    """The mean, with its change since the baseline."""
    return f"{format_mean(row, summary)} {format_mean_change(summary)}".rstrip()


def _make_tag_row(tag: TagSummary, measures: int, statuses: Mapping[str, Status]) -> TagRow:
    return TagRow(
        name="no tag" if tag.tag is None else tag.tag,
        tag=tag.tag,
        queries=tag.queries,
        share=tag.share,
        figures=tag.summaries[:measures],
        statuses=tuple(statuses[verdict] for verdict in tag.verdicts if verdict in statuses),
    )


def _name_without_interval(tag: TagSummary) -> str:
    """*tag* with the reason why a mean of its queries has no interval for their weights; else empty."""
    for summary in tag.summaries:
        why = explain_no_interval(summary)
        if why:
            name = "the queries without a tag" if tag.tag is None else tag.tag
            return f"{name} ({why})"
    return ""


def _describe_tags(suite: SuiteReport, more_tags: int, more_measures: int) -> Iterator[str]:
    """Sentences on the table: what is counted several times, and how many *more_tags* and *more_measures* there are."""
    several = sum(len(query.tags) > 1 for query in suite.queries)
    if several:
        verb = "has several tags and is" if several == 1 else "have several tags and are"
        yield f"{count(several, 'query')} {verb} counted for each"
    if any(summary.change is not None for summary in suite.summaries):
        yield "differences are to the baseline"
    without_interval = []
    if len(suite.summaries) <= MEASURES_WITH_INTERVALS:
        without_interval = list(filter(None, map(_name_without_interval, suite.tags)))
    if without_interval:
        yield f"no {MEAN_INTERVAL} of {listed(without_interval)}"
    left_out = []
    if more_tags:
        left_out.append(count(more_tags, "more tag"))
    if more_measures:
        left_out.append(count(more_measures, "more measure"))
    if left_out:
        yield f"{' and '.join(left_out)} in the JSON report"
