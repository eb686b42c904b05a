"""The document of a comparison: what is said of sides beside each other, in which order, made from their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.extensions.compare.model import ComparisonReport, QueryComparison
from harness.extensions.compare.sentences import (
    IF_JUDGED,
    describe_agreement,
    describe_compared_query,
    describe_coverage,
    describe_detectable,
    describe_measure_limits,
    describe_method,
    describe_new_zero_hits,
    describe_origin,
    describe_unequal_coverage,
    describe_unpaired,
    find_last_rank,
    find_moved_queries,
    find_pool_command,
    format_measure,
    is_shown_significant,
    list_compared_measures,
    list_first_ranks,
    list_shown_figures,
    list_verdicts,
    mark_change,
    mark_left,
    write_comparison_closing,
    write_comparison_headline,
)
from harness.extensions.compare.why.document import list_why_blocks
from harness.gate.selection import interleave_blamed
from harness.model.comparison import Comparison, MeasureComparison, MovedDocument
from harness.model.run import Verdict
from harness.report.attention import LOOKED_AT, is_passed_of_query, list_looked_at, order_verdicts
from harness.report.document import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Difference,
    Document,
    Fact,
    Facts,
    Notes,
    Overflow,
    Queries,
    QuerySection,
    Rankings,
    Section,
    Span,
    Table,
    ThresholdLine,
    Thresholds,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.run_document import describe_verdict, make_grade_cell, make_quotes_table
from harness.report.run_sentences import (
    RANKS_SHOWN,
    count_hidden_lines,
    describe_held_quotes,
    may_be_no_drop,
    name_blaming_thresholds,
)
from harness.report.sentences import format_difference, format_score
from harness.statistics.paired import compute_change
from harness.words import NAMES_SHOWN, count, grouped, listed

MOVED_SHOWN = 3
"""Queries of a measure that are named, those that changed most first."""

MARKS = {"entered": Tone.ENTERED, "left": Tone.LEFT, "tied": Tone.QUIET}
"""The tones of words on how a document moved."""


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


def build_comparison_document(report: ComparisonReport, *, most: int) -> Document:
    """
    All that is said of *report*; what is empty is left out.

    At most *most* queries are shown: of two sides with their rankings, those that thresholds blame and then those that
    moved most; of several sides with their scores, those that changed most.
    """
    closing = write_comparison_closing(report)
    return Document(
        headline=write_comparison_headline(report),
        closing=make_words(closing, Tone.BAD if report.exit_status else Tone.BEST),
        sections=(Section(build_comparison_title(report), tuple(_list_blocks(report, most))),),
    )


def _list_blocks(report: ComparisonReport, most: int) -> Iterator[Block]:
    yield build_comparison_facts(report)
    yield from build_comparison_warnings(report)
    thresholds = build_comparison_thresholds(report)
    if not thresholds.is_empty:
        yield thresholds
    method = describe_method(report)
    if method:
        yield Notes(make_words(method, Tone.QUIET))
        yield build_comparison_table(report)
    if report.why is not None:
        yield from list_why_blocks(report.why)
    measure_notes = build_measure_notes(report)
    if measure_notes.lines:
        yield measure_notes
    agreement = build_agreement(report)
    if agreement.rows:
        yield agreement
    remarks = build_comparison_remarks(report)
    if remarks.lines:
        yield remarks
    strips = build_strips(report, most)
    if report.further and strips.rows:
        yield strips
    yield from list_request_differences(report)
    queries = build_compared_queries(report, most)
    if queries.queries:
        yield queries


def build_comparison_title(report: ComparisonReport, *, with_suite: bool = True) -> Cell:
    """The suite, the sides and the reference."""
    sides = Span(listed(report.names), Tone.STRONG)
    title = (sides, Span(" against "), Span(report.reference.name, Tone.STRONG))
    if report.suite and with_suite:
        return (Span(f"{report.suite}  ", Tone.STRONG), *title)
    return title


def build_comparison_warnings(report: ComparisonReport) -> list[Notes]:
    """What makes the figures say less than they seem to; no block for nothing."""
    warnings = dict.fromkeys(warning for comparison in report.comparisons for warning in comparison.warnings)
    return [Notes(make_notes(list(warnings), Tone.WARNING))] if warnings else []


def build_comparison_remarks(report: ComparisonReport) -> Notes:
    """What is not compared, how far hits are judged, and the notes of all sides."""
    remarks = make_notes(
        [*describe_unpaired(report), *describe_new_zero_hits(report), *describe_unequal_coverage(report)], Tone.NOTED
    )
    remarks += make_notes(list(dict.fromkeys(describe_coverage(report))), Tone.PLAIN)
    notes = dict.fromkeys(note for comparison in report.comparisons for note in comparison.notes)
    return Notes(remarks + make_notes(list(notes), Tone.QUIET))


def build_compared_queries(report: ComparisonReport, most: int) -> Queries:
    """At most *most* queries of two sides with their rankings; of several sides none, whose strips show more."""
    if report.further:
        return Queries((), "")
    bad = list_looked_at(report.verdicts)
    shown, more = find_moved_queries(report, most)
    queries = [build_compared_query(query, name_blaming_thresholds(query.id, bad)) for query in shown]
    sentence = ""
    if more:
        sentence = f"{count(more, 'more query')} moved; `relevance compare --output html=FILE` shows them."
    return Queries(tuple(queries), sentence)


def build_comparison_facts(report: ComparisonReport) -> Facts:
    """The sides, the gain and the depth."""
    facts = []
    headings = ["reference", "candidate"]
    if report.further:
        headings = ["reference", *(f"side {number}" for number in range(1, len(report.comparisons) + 1))]
    for heading, side in zip(headings, report.list_sides(), strict=True):
        facts.append(Fact(heading, (Span(side.name, is_name=True), Span(f": {describe_origin(side)}"))))
    if report.gain:
        facts.append(Fact("gain", make_words(f"{report.gain}, profile {report.profile}")))
    depths = sorted({comparison.depth for comparison in report.comparisons})
    parts = [" or ".join(count(depth, "rank") for depth in depths)]
    for comparison in report.comparisons:
        if comparison.own_depths:
            before, after = comparison.own_depths
            sides = f"{count(before, 'hit')} of {comparison.reference.name} and {after} of {comparison.candidate.name}"
            parts.append(f"measures without a cutoff count {sides}")
    facts.append(Fact("depth", make_words("; ".join(parts))))
    return Facts(tuple(facts))


def list_request_differences(report: ComparisonReport) -> Iterator[Difference]:
    """How the requests differ, where they do."""
    for comparison in report.comparisons:
        diff = comparison.request_diff
        if diff is not None:
            heading = f"the requests differ (- {comparison.reference.name}, + {comparison.candidate.name})"
            yield Difference(heading, diff.lines, count_hidden_lines(diff))


def build_comparison_thresholds(report: ComparisonReport) -> Thresholds:
    """The thresholds of all sides, the worst first."""
    verdicts, pool_command = list_verdicts(report), find_pool_command(report)
    listed_verdicts = [verdict for verdict in order_verdicts(verdicts) if not is_passed_of_query(verdict)]
    thresholds = tuple(describe_compared_verdict(verdict, pool_command) for verdict in listed_verdicts)
    return Thresholds(thresholds, unanswered=0, passed_of_queries=len(verdicts) - len(listed_verdicts))


def describe_compared_verdict(verdict: Verdict, pool_command: str) -> ThresholdLine:
    """The threshold of *verdict*; *pool_command* comes next where it may settle it, as no command shows a query."""
    command = pool_command if may_be_no_drop(verdict) else ""
    return describe_verdict(verdict, command=command, is_explained=verdict.status in LOOKED_AT)


# Measures.


def list_rows(report: ComparisonReport) -> list[tuple[MeasureComparison, Comparison, str]]:
    """Each measure of each side, those of one measure together, with the comparison that it is of and its side."""
    rows: dict[str, list[tuple[MeasureComparison, Comparison, str]]] = {}
    for comparison in report.comparisons:
        if comparison.measures is not None:
            for row in comparison.measures.measures:
                rows.setdefault(row.measure, []).append((row, comparison.measures, comparison.candidate.name))
    return [row for rows_of_measure in rows.values() for row in rows_of_measure]


def build_comparison_table(report: ComparisonReport) -> Table:
    """A row for each measure and side; a significant difference stands out, unless judgments may change that."""
    rows = list_rows(report)
    headings = list_shown_figures([measures for _, measures, _ in rows])
    cells = []
    for row, measures, side in rows:
        figures = format_measure(row)
        names = [make_name(row.measure)]
        if report.further:
            names.append(make_name(side))
        for heading in headings:
            tone = Tone.PLAIN
            if heading == "difference" and is_shown_significant(row, measures):
                tone = Tone.BEST if row.difference > 0 else Tone.BAD
            names.append(make_words(figures[heading], tone))
        cells.append(tuple(names))
    columns = [Column("measure")]
    if report.further:
        columns.append(Column("side"))
    columns += [Column(heading, ColumnKind.FIGURE, may_stand_below=heading == IF_JUDGED) for heading in headings]
    return Table(tuple(columns), tuple(cells), overflow=Overflow.STACK)


def build_measure_notes(report: ComparisonReport) -> Notes:
    """What limits the figures, which difference the test detects, and what changed most, each with its measures."""
    limits: list[tuple[str, str]] = []
    detectable: list[tuple[str, str]] = []
    moved: list[Span] = []
    rows = list_rows(report)
    for row, measures, side in rows:
        subject = f"{row.measure} of {side}" if report.further else row.measure
        limits += [(sentence, subject) for sentence in describe_measure_limits(row, measures)]
        # Of several sides the other measures have figures like those of the first.
        if not report.further or row.measure == rows[0][0].measure:
            sentence = describe_detectable(row, measures)
            if sentence:
                detectable.append((sentence, f"{subject} {row.detectable:.4f}"))
        if row.moved and not report.further:
            queries = [f"{query} {before:.4f} → {after:.4f}" for query, before, after in row.moved[:MOVED_SHOWN]]
            moved.append(Span(f"{row.measure}: changed most: {', '.join(queries)}"))
    # Several sides have too many measures to name all.
    most = NAMES_SHOWN if report.further else len(rows)
    notes = [Span(f"{listed(subjects, most)}: {text}", Tone.NOTED) for text, subjects in grouped(limits).items()]
    notes += [Span(f"{text}: {listed(figures, most)}") for text, figures in grouped(detectable).items()]
    return Notes((*notes, *moved))


def build_agreement(report: ComparisonReport) -> Table:
    """How far the rankings of each side agree with those of the reference; needs no judgments."""
    rows = []
    headings: tuple[str, ...] = ()
    over = []
    for comparison in report.comparisons:
        agreement = comparison.agreement
        if agreement is not None:
            figures = describe_agreement(agreement)
            headings = tuple(figures)
            rows.append((make_name(comparison.candidate.name), *map(make_words, figures.values())))
            over.append(f"{count(agreement.queries, 'query')} and {count(agreement.depth, 'rank')}")
    columns = (Column("agreement"), *(Column(heading, ColumnKind.FIGURE) for heading in headings))
    remark = f"agreement of the rankings over {' or '.join(dict.fromkeys(over))}, without judgments"
    return Table(columns, tuple(rows), (remark,), overflow=Overflow.STACK)


# Queries on several sides.


def make_strips(report: ComparisonReport, measure: str) -> list[QueryStrip]:
    """The scores of each query by *measure* on all sides: for each side in turn the query that changed most on it."""
    scores_by_side = []
    texts: dict[str, str] = {}
    for comparison in report.comparisons:
        scores_by_side.append({query.id: query.scores.get(measure, (None, None)) for query in comparison.queries})
        texts |= {query.id: query.text for query in comparison.queries}
    strips = []
    for query, text in texts.items():
        pairs = [scores.get(query, (None, None)) for scores in scores_by_side]
        references = [before for before, _ in pairs if before is not None]
        changes = tuple(compute_change(before, after) for before, after in pairs)
        scores = tuple(after for _, after in pairs)
        strips.append(QueryStrip(query, text, references[0] if references else None, scores, changes))
    return _take_sides_in_turn(strips, len(scores_by_side))


def _take_sides_in_turn(strips: Sequence[QueryStrip], sides: int) -> list[QueryStrip]:
    """*strips* in the order of their changes on each of the *sides* in turn: one does not fill the first rows."""
    orders = []
    for side in range(sides):
        sizes = {strip.id: abs(strip.changes[side] or 0.0) for strip in strips}
        changed = [query for query, size in sizes.items() if size]
        orders.append(sorted(changed, key=sizes.__getitem__, reverse=True))
    by_id = {strip.id: strip for strip in strips}
    unchanged_last = dict.fromkeys([*interleave_blamed(orders), *by_id])
    return [by_id[query] for query in unchanged_last]


def build_strips(report: ComparisonReport, most: int) -> Table:
    """A row for each of the *most* queries that changed most, with its score by the first measure on each side."""
    measures = list_compared_measures(report)
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


# One query on two sides.


def build_compared_query(query: QueryComparison, concerns: str) -> QuerySection:
    """What changed, and the two rankings; *concerns* says why the query is shown."""
    blocks: list[Rankings | Table] = []
    if query.documents:
        blocks.append(Rankings(build_beside(query), build_below(query)))
    changed = query.changed_quotes
    if changed:
        blocks.append(make_quotes_table(changed, ("changed quote", "reference", "candidate"), len(changed)))
    return QuerySection(query.id, query.text, "; ".join(describe_compared_query(query)), concerns, tuple(blocks))


def build_beside(query: QueryComparison) -> Table:
    """A row per rank: the reference's document, whether it left, how the candidate's moved, and the candidate's."""
    judged = _choose_judged_column(query)
    columns = (
        Column("rank", ColumnKind.FIGURE),
        Column("reference", ColumnKind.SIDE),
        judged,
        Column("now", ColumnKind.WORD, least_width=len("left")),
        Column("change", ColumnKind.WORD, least_width=len("entered")),
        Column("candidate", ColumnKind.SIDE),
        judged,
    )
    rows = []
    for rank, before, after in list_first_ranks(query):
        row: list[Cell] = [make_words(str(rank))]
        if before is None:
            row += [(), (), ()]
        else:
            judged_cell = _make_judged_cell(query, before, of_reference=True)
            row += [_name_document(before), judged_cell, _make_mark_cell(mark_left(before))]
        if after is None:
            row += [(), (), ()]
        else:
            judged_cell = _make_judged_cell(query, after, of_reference=False)
            row += [_make_mark_cell(mark_change(after)), _name_document(after), judged_cell]
        rows.append(tuple(row))
    return Table(columns, tuple(rows), tuple(_count_more_ranks(query)))


def build_below(query: QueryComparison) -> Table:
    """A row per document, with its rank before and now."""
    columns = (
        Column("was", ColumnKind.FIGURE),
        Column("now", ColumnKind.FIGURE),
        Column("change", ColumnKind.WORD),
        Column("document"),
        _choose_judged_column(query),
    )
    rows = []
    for document in query.documents:
        ranks = [document.reference, document.candidate]
        if any(rank is not None and rank <= RANKS_SHOWN for rank in ranks):
            mark = mark_change(document) or mark_left(document)
            texts = [make_words("–" if rank is None else str(rank)) for rank in ranks]
            judged_cell = _make_judged_cell(query, document, of_reference=document.candidate is None)
            rows.append((*texts, _make_mark_cell(mark), _name_document(document), judged_cell))
    return Table(columns, tuple(rows), tuple(_count_more_ranks(query)))


def _choose_judged_column(query: QueryComparison) -> Column:
    """The column that says what a document is worth: its quotes where only these are judged, else its grade."""
    if query.has_only_quotes:
        return Column("quotes", ColumnKind.WORD)
    return Column("grade", ColumnKind.FIGURE)


def _make_judged_cell(query: QueryComparison, document: MovedDocument, *, of_reference: bool) -> Cell:
    """What *document* is worth in the ranking of one side."""
    if not query.has_only_quotes:
        return make_grade_cell(document)
    rank = document.reference if of_reference else document.candidate
    return make_words(describe_held_quotes(query.list_places(of_reference=of_reference), rank), Tone.GOOD)


def _count_more_ranks(query: QueryComparison) -> Iterator[str]:
    more = find_last_rank(query) - RANKS_SHOWN
    if more > 0:
        yield f"and {count(more, 'rank')} more"


def _make_mark_cell(mark: str) -> Cell:
    return make_words(mark, MARKS.get(mark, Tone.PLAIN))


def _name_document(document: MovedDocument) -> Cell:
    identity = Span(document.id, is_name=True)
    if not document.title:
        return (identity,)
    return (identity, Span(" "), Span(document.title, Tone.QUIET, is_title=True))
