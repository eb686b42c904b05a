"""The tables of a report's cells and of the figures of each tag, the same for every output format."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.gate.grammar import TOLERANCE
from harness.means import are_weighted
from harness.model import MeasureSummary, Report, Status, SuiteReport, TagSummary
from harness.report.sentences import change_text, score_text
from harness.words import count, grouped

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
class Row:
    """
    One cell.

    *figures* has no entry for a measure that is not the suite's. *held* counts thresholds that passed, also
    unexpectedly; *other* those that warned, failed as expected or were skipped; *errors* those that are undecided.
    """

    suite: SuiteReport
    figures: Mapping[str, Figure]
    held: int
    failed: int
    errors: int
    other: int


@dataclass(frozen=True, slots=True)
class Overview:
    """
    The table: a row per cell, a column per measure, in the order in which suites name them.

    *requests* says whether rows differ in the request, *indexes* whether cells of one suite differ in the index.
    *gains* are those of the suites.
    """

    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    requests: bool
    indexes: bool
    gains: tuple[str, ...]


def overview(report: Report) -> Overview | None:
    """The table of *report*; None where it has only one cell."""
    suites = report.suites
    if len(suites) < 2:
        return None
    groups = _by_suite(suites)
    figures: dict[int, Mapping[str, Figure]] = {}
    for places in groups:
        figures.update(zip(places, _compared([suites[place] for place in places]), strict=True))
    rows = tuple(_row(suite, figures[place]) for place, suite in enumerate(suites))
    return Overview(
        measures=tuple(dict.fromkeys(summary.measure for suite in suites for summary in suite.summaries)),
        rows=rows,
        requests=len({suite.request for suite in suites}) > 1,
        indexes=any(_vary([suites[place] for place in places], "index") for places in groups),
        gains=tuple(dict.fromkeys(suite.gain for suite in suites)),
    )


def cell_names(suites: Sequence[SuiteReport]) -> tuple[str, ...]:
    """A name for each of *suites*: its own, with the request and the index where cells of a suite differ in them."""
    named = zip(suites, differing_parts(suites), strict=True)
    return tuple("".join([suite.name, *(f", {what} {name}" for what, name in parts.items())]) for suite, parts in named)


def differing_parts(suites: Sequence[SuiteReport]) -> list[dict[str, str | None]]:
    """The request and the index of each of *suites*, by these words, where cells of a suite differ in them."""
    found: list[dict[str, str | None]] = [{} for _ in suites]
    for places in _by_suite(suites):
        cells = [suites[place] for place in places]
        for what in ("request", "index"):
            if _vary(cells, what):
                for place in places:
                    found[place][what] = getattr(suites[place], what)
    return found


def suites_text(report: Report) -> str:
    """How many suites ran, and in how many cells where these are more: ``1 suite in 4 cells``."""
    suites = len(_by_suite(report.suites))
    cells = len(report.suites)
    return count(suites, "suite") + (f" in {count(cells, 'cell')}" if cells > suites else "")


def describe_overview(overview: Overview) -> Iterator[str]:
    """Sentences that explain the table."""
    figures = [figure for row in overview.rows for figure in row.figures.values()]
    if any(figure.best for figure in figures):
        yield f"{BEST} the greatest mean of a suite's cells"
    if any(figure.difference is not None for figure in figures):
        yield "differences are relative to the suite's first cell"
    if any(figure.partial for figure in figures):
        yield "a mean over fewer queries than another cell's is not compared"
    weighted = dict.fromkeys(row.suite.name for row in overview.rows if _is_weighted(row))
    if weighted:
        yield f"means are weighted by query: {', '.join(weighted)}"
    if len(overview.gains) == 1:
        yield f"gain {overview.gains[0]}"


def _is_weighted(row: Row) -> bool:
    return any(summary.weighted for summary in row.suite.summaries)


def compared_text(figure: Figure) -> str:
    """
    The text beside a mean: its difference with a sign, ``=`` where no decimal shows one, or the number of its queries
    where another cell has scores of more; empty for neither.
    """
    if figure.difference is None:
        return f"of {figure.counted:,}" if figure.partial else ""
    return change_text(0.0, figure.difference)


def change_cell(summary: MeasureSummary) -> str:
    """
    How the mean changed since the baseline, with the number of queries where these are fewer than the mean's; empty
    where it is not compared.
    """
    change = summary.change
    if change is None:
        return ""
    text = change_text(change.baseline, change.now)
    return text if change.queries == summary.counted else f"{text} over {change.queries:,}"


def _by_suite(suites: Sequence[SuiteReport]) -> list[list[int]]:
    """The places of the cells of each suite; suites are identified by their files."""
    return list(grouped((suite.path, place) for place, suite in enumerate(suites)).values())


def _vary(cells: Iterable[SuiteReport], what: str) -> bool:
    return len({getattr(cell, what) for cell in cells}) > 1


def _row(suite: SuiteReport, figures: Mapping[str, Figure]) -> Row:
    statuses = [verdict.status for verdict in suite.verdicts]
    held, failed = sum(status in HELD for status in statuses), statuses.count(Status.FAILED)
    errors = sum(status.is_undecided for status in statuses)
    return Row(suite, figures, held, failed, errors, len(statuses) - held - failed - errors)


def _compared(cells: Sequence[SuiteReport]) -> list[dict[str, Figure]]:
    """The figures of each of a suite's cells, by measure."""
    found: list[dict[str, Figure]] = [{} for _ in cells]
    for measure in dict.fromkeys(summary.measure for cell in cells for summary in cell.summaries):
        column = [_summary(cell, measure) for cell in cells]
        scored = [_scored(cell, measure) for cell in cells]
        for figures, summary, figure in zip(found, column, _column(column, scored), strict=True):
            if summary is not None:
                figures[measure] = figure
    return found


def _column(summaries: Sequence[MeasureSummary | None], scored: Sequence[Collection[str]]) -> list[Figure]:
    means = [summary.mean if summary else None for summary in summaries]
    alike = [mean if queries == scored[0] else None for mean, queries in zip(means, scored, strict=True)]
    known = [mean for mean in alike if mean is not None]
    greatest = max(known) if known and max(known) - min(known) > TOLERANCE else None
    every = frozenset().union(*scored)
    first = alike[0]
    return [
        Figure(
            mean=mean,
            counted=len(scored[place]),
            partial=len(scored[place]) < len(every),
            difference=None if place == 0 or comparable is None or first is None else comparable - first,
            best=greatest is not None and comparable is not None and greatest - comparable <= TOLERANCE,
        )
        for place, (mean, comparable) in enumerate(zip(means, alike, strict=True))
    ]


def _summary(cell: SuiteReport, measure: str) -> MeasureSummary | None:
    return next((summary for summary in cell.summaries if summary.measure == measure), None)


def _scored(cell: SuiteReport, measure: str) -> frozenset[str]:
    """The queries that have a score, which the mean is over."""
    return frozenset(query.id for query in cell.queries if query.scores.get(measure) is not None)


# The figures of each tag.


TAGS = 12
"""Tags that have a line by default."""

MEASURES = 5
"""Measures that have a column: the suite's own come before those that only thresholds name."""


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

    *weighted* says that the queries' weights differ, *held* that a tag has thresholds. *remarks* are sentences on what
    the table leaves out.
    """

    measures: tuple[str, ...]
    rows: tuple[TagRow, ...]
    weighted: bool
    held: bool
    remarks: tuple[str, ...]


def tag_table(suite: SuiteReport, *, most: int = TAGS, measures: int = MEASURES) -> TagTable | None:
    """
    The table of *suite*, None where no query has a tag.

    At most *most* tags have a line, those with thresholds before others, and then those that weigh more.
    """
    tagged = [summary for summary in suite.tags if summary.tag is not None]
    if not tagged:
        return None
    kept = {summary.tag for summary in sorted(tagged, key=lambda summary: not summary.verdicts)[:most]}
    shown = suite.summaries[:measures]
    statuses = {verdict.id: verdict.status for verdict in suite.verdicts}
    rows = [_tag_row(one, len(shown), statuses) for one in suite.tags if one.tag is None or one.tag in kept]
    return TagTable(
        measures=tuple(summary.measure for summary in shown),
        rows=(TagRow("all", None, len(suite.queries), 1.0, shown), *rows),
        weighted=are_weighted(query.weight for query in suite.queries),
        held=any(row.statuses for row in rows),
        remarks=tuple(_remarks(suite, len(tagged) - len(kept), len(suite.summaries) - len(shown))),
    )


def mean_text(row: TagRow, summary: MeasureSummary) -> str:
    """The mean, with the number of its queries where some were left out."""
    text = score_text(summary.mean)
    return text if summary.counted in (0, row.queries) else f"{text} of {summary.counted:,}"


def figure_text(row: TagRow, summary: MeasureSummary) -> str:
    """The mean, with its change since the baseline."""
    return f"{mean_text(row, summary)} {change_cell(summary)}".rstrip()


def _tag_row(summary: TagSummary, measures: int, statuses: dict[str, Status]) -> TagRow:
    return TagRow(
        name="no tag" if summary.tag is None else summary.tag,
        tag=summary.tag,
        queries=summary.queries,
        share=summary.share,
        figures=summary.summaries[:measures],
        statuses=tuple(statuses[verdict] for verdict in summary.verdicts if verdict in statuses),
    )


def _remarks(suite: SuiteReport, tags: int, measures: int) -> list[str]:
    several = sum(len(query.tags) > 1 for query in suite.queries)
    remarks = []
    if several:
        verb = "has several tags and is" if several == 1 else "have several tags and are"
        remarks.append(f"{count(several, 'query')} {verb} counted for each")
    if any(summary.change is not None for summary in suite.summaries):
        remarks.append("differences are to the baseline")
    left_out = [count(size, noun) for size, noun in ((tags, "more tag"), (measures, "more measure")) if size]
    if left_out:
        remarks.append(f"{' and '.join(left_out)} in the JSON report")
    return remarks
