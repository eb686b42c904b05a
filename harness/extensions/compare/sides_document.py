"""The document of several sides, each compared with the first: made from the values of their comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.extensions.compare.comparison_document import build_comparison_thresholds, make_figure_column
from harness.extensions.compare.sentences import (
    describe_agreement,
    describe_detectable,
    describe_method,
    describe_origin,
    describe_unusual_figures,
    format_measure,
    format_open_difference,
    is_judged_unequally,
    is_open,
    is_shown_significant,
    list_figures,
    list_measures,
    suggest_judging,
)
from harness.gate.grammar import TOLERANCE
from harness.model.comparison import FEWEST_CHANGED, ComparisonReport, SideCoverage, SidesReport
from harness.model.run import Verdict
from harness.report.document import (
    Cell,
    Column,
    ColumnKind,
    Difference,
    Fact,
    Facts,
    Notes,
    Overflow,
    SidesDocument,
    Span,
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.run_sentences import count_hidden_lines, write_thresholds_headline
from harness.report.sentences import count_queries, format_difference, format_score, format_tally
from harness.words import count, grouped, listed

IF_JUDGED_MEANS = "if judged: from where to where a difference may be if the unjudged hits are the worst or the best"

CHANGES_SHOWN = 3
"""Sides whose difference is in the headline."""


@dataclass(frozen=True, slots=True)
class QueryStrip:
    """One query: its score on the reference, and its score and change on each other side; None where there is none."""

    id: str
    text: str
    reference: float | None
    scores: tuple[float | None, ...]
    changes: tuple[float | None, ...]

    @property
    def greatest_change(self) -> float:
        """The greatest change of any side, in either direction; -1 where no side has one."""
        return max((abs(change) for change in self.changes if change is not None), default=-1.0)


def build_sides_document(report: SidesReport, *, most: int) -> SidesDocument:
    """All that is said of *report*; at most *most* queries have a strip of scores, those that changed most."""
    comparisons = report.comparisons
    first_measures = [comparison.measures for comparison in comparisons if comparison.measures is not None]
    method = make_notes([describe_sides_method(report)], Tone.QUIET) if first_measures else ()
    return SidesDocument(
        headline=write_sides_headline(report),
        closing=write_sides_closing(report),
        exit_status=report.exit_status,
        is_decided=bool(report.verdicts or report.exit_status),
        suite=report.suite,
        reference=report.reference.name,
        sides=tuple(comparison.candidate.name for comparison in comparisons),
        facts=build_sides_facts(report),
        thresholds=build_comparison_thresholds(name_verdicts(report), report.pool_command),
        method=Notes(tuple(method)),
        measures=build_measures(comparisons),
        measure_notes=Notes(tuple(_list_measure_notes(comparisons))),
        coverage=build_coverage(report),
        agreement=build_agreements(comparisons),
        remarks=Notes(tuple(_list_remarks(report))),
        differences=tuple(_list_differences(comparisons)),
        strips=build_strips(report, most),
    )


def describe_sides_method(report: SidesReport) -> str:
    """How the differences were tested, and over how many of them p is corrected."""
    tested = [comparison.measures for comparison in report.comparisons if comparison.measures is not None]
    text = describe_method(tested[0])
    if tested[0].correction == "none":
        return text
    differences = sum(len(comparison.measures) for comparison in tested)
    return f"{text}; corrected over {count(differences, 'difference')}, all sides and measures"


def write_sides_headline(report: SidesReport) -> str:
    """Whether the thresholds hold; where there are none, how the first measure differs."""
    unanswered = len(report.list_unanswered())
    if report.verdicts or (unanswered and report.exit_status):
        return write_thresholds_headline(report.verdicts, unanswered, report.exit_status)
    changes = []
    measure = ""
    for comparison in report.comparisons:
        if comparison.measures is not None and comparison.measures.measures:
            row = comparison.measures.measures[0]
            measure = row.measure
            changes.append(f"{comparison.candidate.name} {format_open_difference(row, comparison.measures)}")
    against = f"against {report.reference.name}"
    if not changes:
        return f"{count(len(report.comparisons), 'side')} {against}"
    more = len(changes) - CHANGES_SHOWN
    shown = changes[:CHANGES_SHOWN]
    if more > 0:
        shown.append(f"and {more} more")
    return f"{measure} {against}: {', '.join(shown)}"


def write_sides_closing(report: SidesReport) -> str:
    """How many sides and queries were compared, and how the thresholds came out."""
    queries: set[str] = set()
    for comparison in report.comparisons:
        queries.update(query.id for query in comparison.queries)
    text = f"{count(len(report.comparisons), 'side')} against {report.reference.name}, {count(len(queries), 'query')}"
    if report.verdicts:
        statuses = [verdict.status for verdict in report.verdicts]
        text += f"; {count(len(statuses), 'threshold')}: {format_tally(statuses)}"
    return text


def build_sides_facts(report: SidesReport) -> Facts:
    """The sides, the gain and the depth."""
    facts = []
    headings = ["reference", *(f"side {number}" for number in range(1, len(report.comparisons) + 1))]
    sides = [report.reference, *(comparison.candidate for comparison in report.comparisons)]
    for heading, side in zip(headings, sides, strict=True):
        facts.append(Fact(heading, (Span(side.name, is_name=True), Span(f": {describe_origin(side)}"))))
    first = report.comparisons[0]
    if first.gain:
        facts.append(Fact("gain", make_words(f"{first.gain}, profile {first.profile}")))
    depths = sorted({comparison.depth for comparison in report.comparisons})
    facts.append(Fact("depth", make_words(" or ".join(count(depth, "rank") for depth in depths))))
    return Facts(tuple(facts))


def name_verdicts(report: SidesReport) -> list[Verdict]:
    """The verdicts of all sides, each with the name of its side, as a threshold is decided for each of them."""
    verdicts = []
    for comparison in report.comparisons:
        name = comparison.candidate.name
        verdicts += [replace(verdict, threshold=f"{verdict.threshold} ({name})") for verdict in comparison.verdicts]
    return verdicts


def build_measures(comparisons: Sequence[ComparisonReport]) -> Table:
    """
    For each measure a row of the reference, then one of each side.

    A significant difference stands out, unless further judgments may change that.
    """
    tested = [comparison.measures for comparison in comparisons if comparison.measures is not None]
    headings = ("mean", *(heading for heading in list_figures(tested) if heading not in ("reference", "candidate")))
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for comparison in comparisons:
        if comparison.measures is None:
            continue
        for measure in comparison.measures.measures:
            name = make_name(measure.measure)
            figures = format_measure(measure)
            if measure.measure not in rows:
                nothing = [() for _ in headings[1:]]
                reference = (name, make_name(comparison.reference.name), make_words(figures["reference"]), *nothing)
                rows[measure.measure] = [reference]
            row = [name, make_name(comparison.candidate.name), make_words(figures["candidate"])]
            for heading in headings[1:]:
                tone = Tone.PLAIN
                if heading == "difference" and is_shown_significant(measure, comparison.measures):
                    tone = Tone.BEST if measure.difference > 0 else Tone.BAD
                row.append(make_words(figures[heading], tone))
            rows[measure.measure].append(tuple(row))
    columns = (Column("measure"), Column("side"), *map(make_figure_column, headings))
    in_order = tuple(row for rows_of_measure in rows.values() for row in rows_of_measure)
    return Table(columns, in_order, overflow=Overflow.STACK)


def _list_measure_notes(comparisons: Sequence[ComparisonReport]) -> Iterator[Span]:
    """What limits the figures, each reason once with the measures and sides that it concerns."""
    undetectable: list[str] = []
    uncertain: list[str] = []
    others: list[str] = []
    detectable: list[str] = []
    references: dict[str, float] = {}
    for comparison in comparisons:
        if comparison.measures is None:
            continue
        name = comparison.candidate.name
        for row in comparison.measures.measures:
            subject = f"{row.measure} of {name}"
            if row.least_p > comparison.measures.level:
                undetectable.append(subject)
            elif row.changed < FEWEST_CHANGED and (row.low is not None or row.high is not None):
                uncertain.append(subject)
            others += [f"{name}: {line}" for line in describe_unusual_figures(row, comparison.measures)]
            mean = references.setdefault(row.measure, row.reference)
            if abs(mean - row.reference) > TOLERANCE:
                shared = f"over the queries of {name} the mean of {comparison.reference.name}"
                others.append(f"{subject}: {shared} is {format_score(row.reference)}")
        # The other measures have figures like those of the first; a comparison of two sides has all.
        first = comparison.measures.measures[0]
        detectable += [f"{name}: {line}" for line in describe_detectable(first, comparison.measures)]
    if undetectable:
        yield Span(
            f"so few queries differ that the test cannot detect a difference: {listed(undetectable)}", Tone.NOTED
        )
    if uncertain:
        few = f"fewer than {FEWEST_CHANGED} queries changed, so the interval is of differences not rejected"
        yield Span(f"{few}, no confidence interval: {listed(uncertain)}", Tone.NOTED)
    yield from make_notes(others, Tone.NOTED)
    yield from make_notes(detectable, Tone.PLAIN)


def build_coverage(report: SidesReport) -> Table:
    """How many hits of each side are judged."""
    judged = [comparison.judged for comparison in report.comparisons if comparison.judged is not None]
    if not judged:
        return Table((), ())
    rows = [_make_coverage_row(report.reference.name, judged[0].depth, judged[0].reference)]
    for comparison in report.comparisons:
        if comparison.judged is not None:
            depth = comparison.judged.depth
            rows.append(_make_coverage_row(comparison.candidate.name, depth, comparison.judged.candidate))
    figures = ("ranks", "judged", "hits", "unjudged", "in queries")
    columns = (Column("coverage"), *(Column(heading, ColumnKind.FIGURE) for heading in figures))
    return Table(columns, tuple(rows))


def _make_coverage_row(name: str, depth: int, coverage: SideCoverage) -> tuple[Cell, ...]:
    figures = [f"{depth:,}", format_score(coverage.judged)]
    figures += [f"{number:,}" for number in (coverage.hits, coverage.unjudged, coverage.queries)]
    return (make_name(name), *map(make_words, figures))


def build_agreements(comparisons: Sequence[ComparisonReport]) -> Table:
    """How far the rankings of each side agree with those of the reference; needs no judgments."""
    rows = []
    headings: tuple[str, ...] = ()
    for comparison in comparisons:
        if comparison.agreement is not None:
            figures = describe_agreement(comparison.agreement)
            headings = tuple(figures)
            rows.append((make_name(comparison.candidate.name), *map(make_words, figures.values())))
    columns = (Column("agreement"), *(Column(heading, ColumnKind.FIGURE) for heading in headings))
    return Table(columns, tuple(rows), overflow=Overflow.STACK)


def _list_remarks(report: SidesReport) -> Iterator[Span]:
    """Queries that a side lacks, sides that are not judged alike, and the notes, each once."""
    for side in (report.reference, *(comparison.candidate for comparison in report.comparisons)):
        by_reason = grouped((reason, query) for query, reason in side.unanswered.items())
        for reason, queries in by_reason.items():
            why = f": {reason}" if reason else ""
            yield Span(f"{side.name}: no ranking for {count_queries(queries)}{why}", Tone.NOTED)
    for comparison in report.comparisons:
        for side, only in (
            (report.reference, comparison.only_reference),
            (comparison.candidate, comparison.only_candidate),
        ):
            if only:
                others = f"of {report.reference.name} and {comparison.candidate.name}"
                yield Span(f"only in {side.name}, {others}: {count_queries(only)}", Tone.NOTED)
    unequal = [comparison.candidate.name for comparison in report.comparisons if is_judged_unequally(comparison)]
    if unequal:
        sides = f"not judged like {report.reference.name}: {listed(unequal)}"
        yield Span(f"{sides}; most measures count an unjudged hit as not relevant", Tone.NOTED)
    if any(comparison.judged is not None and comparison.judged.ranges for comparison in report.comparisons):
        yield Span(IF_JUDGED_MEANS, Tone.PLAIN)
        yield Span(suggest_judging(report.pool_command, is_next=any(map(is_open, report.comparisons))), Tone.PLAIN)
    notes: dict[str, None] = {}
    for comparison in report.comparisons:
        notes |= dict.fromkeys(comparison.notes)
    yield from make_notes(list(notes), Tone.QUIET)


def _list_differences(comparisons: Sequence[ComparisonReport]) -> Iterator[Difference]:
    for comparison in comparisons:
        diff = comparison.request_diff
        if diff is not None:
            heading = f"the requests differ (- {comparison.reference.name}, + {comparison.candidate.name})"
            yield Difference(heading, diff.lines, count_hidden_lines(diff))


# Queries.


def list_sides_measures(report: SidesReport) -> tuple[str, ...]:
    """The measures of all sides."""
    measures: dict[str, None] = {}
    for comparison in report.comparisons:
        measures |= dict.fromkeys(list_measures(comparison))
    return tuple(measures)


def make_strips(report: SidesReport, measure: str) -> list[QueryStrip]:
    """The scores of each query by *measure* on all sides, the query that changed most on any side first."""
    scores_by_side = []
    texts: dict[str, str] = {}
    for comparison in report.comparisons:
        scores_by_side.append({query.id: query.scores.get(measure, (None, None)) for query in comparison.queries})
        texts |= {query.id: query.text for query in comparison.queries}
    strips = []
    for query, text in texts.items():
        pairs = [scores.get(query, (None, None)) for scores in scores_by_side]
        references = [before for before, _ in pairs if before is not None]
        changes = tuple(_compute_change(before, after) for before, after in pairs)
        scores = tuple(after for _, after in pairs)
        strips.append(QueryStrip(query, text, references[0] if references else None, scores, changes))
    return sorted(strips, key=lambda strip: -strip.greatest_change)


def _compute_change(before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    # The same score may be summed in another order.
    return 0.0 if abs(after - before) <= TOLERANCE else after - before


def build_strips(report: SidesReport, most: int) -> Table:
    """A row for each of the *most* queries that changed most, with its score by the first measure on each side."""
    measures = list_sides_measures(report)
    if not measures:
        return Table((), ())
    strips = [strip for strip in make_strips(report, measures[0]) if strip.greatest_change > 0]
    rows = []
    for strip in strips[:most]:
        row = [make_name(strip.id), make_words(format_score(strip.reference))]
        for score, change in zip(strip.scores, strip.changes, strict=True):
            row.append(_make_strip_cell(score, change))
        rows.append(tuple(row))
    names = [comparison.candidate.name for comparison in report.comparisons]
    columns = (
        Column(f"{measures[0]} by query"),
        *(Column(name, ColumnKind.SCORE, is_name=True) for name in (report.reference.name, *names)),
    )
    more = len(strips) - len(rows)
    remarks = (
        (f"{count(more, 'more query')} changed; `relevance compare --output html=FILE` shows them",) if more else ()
    )
    return Table(columns, tuple(rows), remarks, overflow=Overflow.SPLIT)


def _make_strip_cell(score: float | None, change: float | None) -> Cell:
    """The score with its change, which no sign and no color marks where it is 0."""
    if not change:
        return make_words(format_score(score))
    tone = Tone.BEST if change > 0 else Tone.BAD
    return (Span(f"{format_score(score)} "), Span(format_difference(change), tone))
