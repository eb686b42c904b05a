"""The document of a comparison: what is said of two runs side by side, in which order, made from their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.extensions.compare.sentences import (
    IF_JUDGED,
    describe_agreement,
    describe_compared_query,
    describe_coverage,
    describe_detectable,
    describe_measure_limits,
    describe_method,
    describe_origin,
    describe_unequal_coverage,
    describe_unpaired,
    find_last_rank,
    find_moved_queries,
    find_pool_command,
    format_measure,
    is_shown_significant,
    list_figures,
    list_first_ranks,
    mark_change,
    mark_left,
    write_comparison_closing,
    write_comparison_headline,
)
from harness.model.comparison import Comparison, ComparisonReport, MovedDocument, QueryComparison
from harness.model.run import Verdict
from harness.report.attention import LOOKED_AT, is_passed_of_query, list_looked_at, order_verdicts
from harness.report.document import (
    Cell,
    Column,
    ColumnKind,
    ComparisonDocument,
    Difference,
    Fact,
    Facts,
    Notes,
    Overflow,
    QuerySection,
    Rankings,
    Span,
    Table,
    ThresholdLine,
    Thresholds,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.run_document import describe_verdict, make_grade_cell
from harness.report.run_sentences import RANKS_SHOWN, count_hidden_lines, may_be_no_drop, name_blaming_thresholds
from harness.words import count

MOVED_SHOWN = 3
"""Queries of a measure that are named, those that changed most first."""

MARKS = {"entered": Tone.ENTERED, "left": Tone.LEFT, "tied": Tone.QUIET}
"""The tones of words on how a document moved."""


def build_comparison_document(report: ComparisonReport, *, most: int) -> ComparisonDocument:
    """
    All that is said of *report*.

    At most *most* queries are shown with their rankings: those that thresholds blame, then those that moved most.
    """
    remarks = make_notes([*describe_unpaired(report), *describe_unequal_coverage(report)], Tone.NOTED)
    remarks += make_notes(list(describe_coverage(report)), Tone.PLAIN)
    remarks += make_notes(report.notes, Tone.QUIET)

    bad = list_looked_at(report.verdicts)
    shown, more = find_moved_queries(report, most)
    queries = tuple(build_compared_query(query, name_blaming_thresholds(query, bad)) for query in shown)
    more_queries = ""
    if more:
        more_queries = f"{count(more, 'more query')} moved; `relevance compare --output html=FILE` shows them."

    comparison = report.measures
    return ComparisonDocument(
        headline=write_comparison_headline(report),
        closing=write_comparison_closing(report),
        exit_status=report.exit_status,
        is_decided=bool(report.verdicts or report.exit_status),
        suite=report.suite or "",
        candidate=report.candidate.name,
        reference=report.reference.name,
        facts=build_comparison_facts(report),
        thresholds=build_comparison_thresholds(report.verdicts, find_pool_command(report)),
        method="" if comparison is None else describe_method(comparison),
        measures=Table((), ()) if comparison is None else build_comparison_table(comparison),
        measure_notes=Notes(()) if comparison is None else build_measure_notes(comparison),
        agreement=build_agreement(report),
        remarks=Notes(remarks),
        differences=build_request_difference(report),
        queries=queries,
        more_queries=more_queries,
    )


def build_comparison_facts(report: ComparisonReport) -> Facts:
    """The two sides, the gain and the depth."""
    facts = []
    for heading, side in (("reference", report.reference), ("candidate", report.candidate)):
        facts.append(Fact(heading, (Span(side.name, is_name=True), Span(f": {describe_origin(side)}"))))
    if report.gain:
        facts.append(Fact("gain", make_words(f"{report.gain}, profile {report.profile}")))
    facts.append(Fact("depth", make_words(count(report.depth, "rank"))))
    return Facts(tuple(facts))


def build_request_difference(report: ComparisonReport) -> tuple[Difference, ...]:
    """How the requests differ, if they do."""
    diff = report.request_diff
    if diff is None:
        return ()
    heading = f"the requests differ (- {report.reference.name}, + {report.candidate.name})"
    return (Difference(heading, diff.lines, count_hidden_lines(diff)),)


def build_comparison_thresholds(verdicts: Sequence[Verdict], pool_command: str) -> Thresholds:
    """The thresholds of a comparison, the worst first; *pool_command* collects the unjudged hits of its sides."""
    listed = [verdict for verdict in order_verdicts(verdicts) if not is_passed_of_query(verdict)]
    thresholds = tuple(describe_compared_verdict(verdict, pool_command) for verdict in listed)
    return Thresholds(thresholds, unanswered=0, passed_of_queries=len(verdicts) - len(listed))


def describe_compared_verdict(verdict: Verdict, pool_command: str) -> ThresholdLine:
    """The threshold of *verdict*; *pool_command* comes next where it may settle it, as no command shows a query."""
    command = pool_command if may_be_no_drop(verdict) else ""
    return describe_verdict(verdict, command=command, is_explained=verdict.status in LOOKED_AT)


def build_comparison_table(comparison: Comparison) -> Table:
    """A row for each measure; a significant difference stands out, unless further judgments may change that."""
    headings = list_figures([comparison])
    rows = []
    for measure in comparison.measures:
        figures = format_measure(measure)
        row = [make_name(measure.measure)]
        for heading in headings:
            tone = Tone.PLAIN
            if heading == "difference" and is_shown_significant(measure, comparison):
                tone = Tone.BEST if measure.difference > 0 else Tone.BAD
            row.append(make_words(figures[heading], tone))
        rows.append(tuple(row))
    columns = (Column("measure"), *map(make_figure_column, headings))
    return Table(columns, tuple(rows), overflow=Overflow.STACK)


def make_figure_column(heading: str) -> Column:
    """The column of the figure *heading* of measures."""
    return Column(heading, ColumnKind.FIGURE, may_stand_below=heading == IF_JUDGED)


def build_measure_notes(comparison: Comparison) -> Notes:
    """For each measure what limits its figures, which difference the test detects, and what changed most."""
    notes: list[Span] = []
    for measure in comparison.measures:
        notes += make_notes(list(describe_measure_limits(measure, comparison)), Tone.NOTED)
        notes += make_notes(list(describe_detectable(measure, comparison)), Tone.PLAIN)
        if measure.moved:
            moved = [f"{query} {before:.4f} → {after:.4f}" for query, before, after in measure.moved[:MOVED_SHOWN]]
            notes.append(Span(f"{measure.measure}: changed most: {', '.join(moved)}"))
    return Notes(tuple(notes))


def build_agreement(report: ComparisonReport) -> Facts:
    """How far the rankings agree, without facts where that is not known."""
    agreement = report.agreement
    if agreement is None:
        return Facts(())
    queries, ranks = count(agreement.queries, "query"), count(agreement.depth, "rank")
    facts = [Fact(heading, make_words(text)) for heading, text in describe_agreement(agreement).items()]
    return Facts(tuple(facts), f"agreement of the rankings, over {queries} and {ranks}; without judgments")


# One query.


def build_compared_query(query: QueryComparison, concerns: str) -> QuerySection:
    """What changed, and the two rankings; *concerns* says why the query is shown."""
    blocks: tuple[Rankings, ...] = ()
    if query.documents:
        blocks = (Rankings(build_beside(query), build_below(query)),)
    return QuerySection(query.id, query.text, "; ".join(describe_compared_query(query)), concerns, blocks)


def build_beside(query: QueryComparison) -> Table:
    """A row per rank: the reference's document, whether it left, how the candidate's moved, and the candidate's."""
    columns = (
        Column("rank", ColumnKind.FIGURE),
        Column("reference", ColumnKind.SIDE),
        Column("grade", ColumnKind.FIGURE),
        Column("now", ColumnKind.WORD, least_width=len("left")),
        Column("change", ColumnKind.WORD, least_width=len("entered")),
        Column("candidate", ColumnKind.SIDE),
        Column("grade", ColumnKind.FIGURE),
    )
    rows = []
    for rank, before, after in list_first_ranks(query):
        row: list[Cell] = [make_words(str(rank))]
        if before is None:
            row += [(), (), ()]
        else:
            row += [_name_document(before), make_grade_cell(before), _make_mark_cell(mark_left(before))]
        if after is None:
            row += [(), (), ()]
        else:
            row += [_make_mark_cell(mark_change(after)), _name_document(after), make_grade_cell(after)]
        rows.append(tuple(row))
    return Table(columns, tuple(rows), tuple(_count_more_ranks(query)))


def build_below(query: QueryComparison) -> Table:
    """A row per document, with its rank before and now."""
    columns = (
        Column("was", ColumnKind.FIGURE),
        Column("now", ColumnKind.FIGURE),
        Column("change", ColumnKind.WORD),
        Column("document"),
        Column("grade", ColumnKind.FIGURE),
    )
    rows = []
    for document in query.documents:
        ranks = [document.reference, document.candidate]
        if any(rank is not None and rank <= RANKS_SHOWN for rank in ranks):
            mark = mark_change(document) or mark_left(document)
            texts = [make_words("–" if rank is None else str(rank)) for rank in ranks]
            rows.append((*texts, _make_mark_cell(mark), _name_document(document), make_grade_cell(document)))
    return Table(columns, tuple(rows), tuple(_count_more_ranks(query)))


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
