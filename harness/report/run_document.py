"""The document of a run: what is said of it, in which order, made from a `Report`."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from harness.model.comparison import MovedDocument
from harness.model.kept import TextDiff
from harness.model.report import (
    ComparedRequest,
    DocumentTexts,
    FieldText,
    MissingDocument,
    QueryReport,
    QuoteReport,
    RankedDocument,
    Report,
    SuiteReport,
    VariantReport,
)
from harness.model.run import Highlight, Status, Verdict
from harness.report.attention import (
    BAD,
    find_attention,
    find_repeated_causes,
    is_hardly_judged,
    is_passed_of_query,
    lacks_judgments,
    needs_attention,
    order_verdicts,
    split_unanswered,
)
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
    Section,
    Span,
    Table,
    ThresholdLine,
    Thresholds,
    Tone,
    make_name,
    make_notes,
    make_title,
    make_words,
    split_marked,
)
from harness.report.overview import (
    BEST,
    Figure,
    Overview,
    OverviewRow,
    TagRow,
    TagTable,
    build_overview,
    build_tag_table,
    describe_overview,
    format_compared,
    format_figure,
    format_mean_change,
    name_cells,
)
from harness.report.run_sentences import (
    RANKS_SHOWN,
    count_compared_queries,
    count_hidden_lines,
    describe_causes,
    describe_diff,
    describe_held_quotes,
    describe_judged,
    describe_mean_change,
    describe_outcomes,
    describe_place,
    describe_query,
    describe_quote_places,
    describe_remarks,
    find_left_documents,
    find_old_ranks,
    format_grade,
    format_machine_share,
    format_query_change,
    is_report_only,
    name_blaming_thresholds,
    refer_to_cause,
    suggest_command,
    write_closing,
    write_headline,
)
from harness.report.safe_text import join_lines
from harness.report.sentences import (
    MEAN_INTERVAL,
    describe_caveat,
    describe_waiver,
    format_hit_score,
    format_mean_interval,
    format_required,
    format_score,
    format_tally,
    format_value,
    format_verdict_figure,
    list_missing_intervals,
    name_mean_column,
)
from harness.words import count, grouped, listed, shorten

_FIGURE, _NAME, _SCORE, _TITLE, _WORD = (
    ColumnKind.FIGURE,
    ColumnKind.NAME,
    ColumnKind.SCORE,
    ColumnKind.TITLE,
    ColumnKind.WORD,
)

VARIANTS_SHOWN = 20
"""Variants of a suite in its table; the JSON report has all."""

MISSING_SHOWN = 10
"""Missing relevant documents of a query."""


def build_run_document(report: Report) -> Document:
    """All that is said of *report*."""
    tone = Tone.BEST
    if report.exit_status:
        tone = Tone.BAD
    elif is_report_only(report):
        tone = Tone.WARNING
    cells = build_overview(report)
    sections = []
    for heading, suite in zip(name_cells(report.suites), report.suites, strict=True):
        sections.append(build_suite_section(suite, heading))
    return Document(
        headline=write_headline(report),
        closing=make_words(write_closing(report), tone),
        sections=tuple(sections),
        overview=None if cells is None else build_overview_table(cells),
    )


def build_suite_section(suite: SuiteReport, heading: str) -> Section:
    """All that is said of *suite*, which is a cell of a run, under *heading*; what is empty is left out."""
    title = (Span(heading, Tone.STRONG), Span("  "), Span(suite.path, Tone.QUIET))
    blocks: list[Block] = [build_facts(suite)]
    warnings, notes = build_warnings(suite), build_notes(suite)
    if warnings.lines:
        blocks.append(warnings)
    thresholds = build_thresholds(suite)
    if not thresholds.is_empty:
        blocks.append(thresholds)
    if has_figures(suite):
        blocks.append(build_measures_table(suite))
        tags = build_tag_table(suite)
        if tags is not None:
            blocks.append(build_tags_table(tags))
    if any(query.variants for query in suite.queries):
        blocks.append(build_variants_table(suite.queries, VARIANTS_SHOWN))
    compared = build_compared_table(suite.queries)
    if compared.rows:
        blocks.append(compared)
    if notes.lines:
        blocks.append(notes)
    if suite.baseline:
        blocks += build_differences(suite.baseline.diffs)
    queries = build_queries(suite)
    if queries.queries:
        blocks.append(queries)
    return Section(title, tuple(blocks))


def has_decisions(report: Report) -> bool:
    """Whether a threshold of *report* was decided, and counts."""
    for suite in report.suites:
        if any(verdict.status is not Status.NOT_DECIDED for verdict in suite.verdicts) and not suite.report_only:
            return True
    return False


def has_figures(suite: SuiteReport) -> bool:
    """Whether *suite* has means; without any answer no measure has one, and neither has a tag."""
    unanswered, _ = split_unanswered(suite)
    return bool(suite.summaries) and not unanswered


def build_warnings(suite: SuiteReport) -> Notes:
    """What is probably wrong with the set-up of *suite*, or makes its figures say little."""
    warnings = list(describe_causes(suite.queries, suite.checks))
    if lacks_judgments(suite):
        warnings.append(describe_judged(suite))
    return Notes(make_notes(warnings, Tone.WARNING))


def build_notes(suite: SuiteReport) -> Notes:
    """The queries of *suite* without a plain score, and remarks."""
    remarks = []
    if suite.hits and not is_hardly_judged(suite.hits, suite.judged_hits):
        remarks.append(describe_judged(suite))
    remarks += describe_remarks(suite)
    outcomes = make_notes(list(describe_outcomes(suite.unscored)), Tone.NOTED)
    return Notes(outcomes + make_notes(remarks, Tone.QUIET))


def build_queries(suite: SuiteReport) -> Queries:
    """The queries of *suite* to look at, with the thresholds that blame them."""
    attention = find_attention(suite)
    queries = []
    for query in attention.queries:
        concerns = name_blaming_thresholds(query.id, attention.verdicts)
        queries.append(build_query_section(query, concerns=concerns))
    return Queries(tuple(queries), _name_more_queries(suite, attention.more_queries))


MORE_NAMED = 20
"""Queries that are named of those that thresholds blame and that are not shown."""


def _name_more_queries(suite: SuiteReport, queries: Sequence[QueryReport]) -> str:
    """The *queries* that are affected too, each with its score by the first measure; empty where there are none."""
    if not queries:
        return ""
    measure = suite.summaries[0].measure if suite.summaries else ""
    names = []
    for query in queries:
        name = query.id
        if measure in query.scores:
            name += f" {format_score(query.scores[measure])}"
        change = format_query_change(query, measure)
        if change not in ("", "="):
            name += f" ({change})"
        names.append(name)
    verb = "is" if len(queries) == 1 else "are"
    figures = f", with {measure}" if measure else ""
    more = count(len(queries), "more query")
    return f"{more} {verb} affected{figures}: {listed(names, MORE_NAMED)}; an HTML report shows each."


def build_facts(suite: SuiteReport) -> Facts:
    """The engine, the configuration, the request, the gain and the queries of *suite*."""
    stated = " (as stated in the target)" if suite.engine.stated else ""
    engine = make_words(f"{suite.engine}{stated} at {suite.cluster}")
    if suite.index is not None:
        engine += (Span(", index "), Span(suite.index, is_name=True))
    facts = [Fact("engine", engine)]
    if suite.configuration:
        files = make_name(suite.configuration[0])
        for path in suite.configuration[1:]:
            files += (Span(" and "), Span(path, is_name=True))
        facts.append(Fact("config", files))
    requested = f", {count(suite.depth, 'hit')} requested"
    facts.append(Fact("request", (Span(suite.request, is_name=True), Span(requested))))
    facts.append(Fact("gain", make_words(f"{suite.gain}, profile {suite.profile}")))
    queries = f"{len(suite.queries):,} in {suite.timing.search_seconds:.2f} s"
    variants = sum(len(query.variants) for query in suite.queries)
    if variants:
        queries += f", {count(variants, 'variant')}"
    if suite.deselected:
        queries += f", {suite.deselected:,} more not selected"
    if suite.baseline:
        queries += f", {count_compared_queries(suite)}"
    facts.append(Fact("queries", make_words(queries)))
    return Facts(tuple(facts))


# Thresholds.


def build_thresholds(suite: SuiteReport) -> Thresholds:
    """
    The thresholds of *suite*, the worst first.

    If no query has an answer, those that say no more than that are only counted.
    """
    unanswered, others = split_unanswered(suite)
    shown = [verdict for verdict in order_verdicts(others) if not is_passed_of_query(verdict)]
    lines = build_threshold_lines(suite, shown)
    return Thresholds(tuple(lines), unanswered=len(unanswered), passed_of_queries=len(others) - len(shown))


def build_threshold_lines(suite: SuiteReport, verdicts: Iterable[Verdict]) -> list[ThresholdLine]:
    """The thresholds of *verdicts*; of those with one cause, the first says it and names the others."""
    unanswered = suite.unanswered
    first_by_id = find_repeated_causes(suite)
    ids_by_first = grouped((first.id, repeating_id) for repeating_id, first in first_by_id.items())
    threshold_by_id = {verdict.id: verdict.threshold for verdict in suite.verdicts}
    lines = []
    for verdict in verdicts:
        line = build_threshold(suite, verdict, unanswered)
        first = first_by_id.get(verdict.id)
        if first is not None:
            line = replace(line, details=(refer_to_cause(verdict, first),), command="", is_repeated=True)
        others = [threshold_by_id[repeating_id] for repeating_id in ids_by_first.get(verdict.id, ())]
        if others:
            line = replace(line, details=(*line.details, f"for the same reason: {', '.join(others)}"))
        lines.append(line)
    return lines


def build_threshold(suite: SuiteReport, verdict: Verdict, unanswered: Container[str]) -> ThresholdLine:
    """The threshold of *verdict*, which is one of *suite*, whose queries *unanswered* have no ranking."""
    return describe_verdict(
        verdict, command=suggest_command(suite, verdict), is_explained=needs_attention(verdict, unanswered)
    )


def describe_verdict(verdict: Verdict, *, command: str, is_explained: bool) -> ThresholdLine:
    """The threshold of *verdict* with its figures and its reason."""
    details = [verdict.reason]
    if verdict.left_out:
        details.append(f"{count(verdict.counted, 'query')} counted, {verdict.left_out:,} left out")
    waiver = describe_waiver(verdict)
    if waiver is not None:
        details.append(f"waived: {waiver}")
    return ThresholdLine(
        verdict=verdict,
        observed=format_verdict_figure(verdict),
        required=format_required(verdict),
        caveat=describe_caveat(verdict),
        details=tuple(details),
        command=command,
        needs_attention=is_explained,
    )


# Tables of figures.


def build_measures_table(suite: SuiteReport) -> Table:
    """
    A row for each measure; the intervals only where a mean has one, the gain only where it is not that of the suite,
    and the share of machines' grades only where machines judge.
    """
    has_intervals = any(summary.interval for summary in suite.summaries)
    is_compared = any(summary.change for summary in suite.summaries)
    has_machines = any(summary.machine_share is not None for summary in suite.summaries)
    has_gains = any(summary.gain not in (suite.gain, "") for summary in suite.summaries)
    headings = [name_mean_column(weighted=any(summary.weighted for summary in suite.summaries))]
    if has_intervals:
        headings.append(MEAN_INTERVAL)
    headings += ["median", "least", "greatest", "counted", "left out"]
    if is_compared:
        headings.append("vs baseline")
    if has_machines:
        headings.append("by machines")
    columns = [Column("measure"), *(Column(heading, _SCORE) for heading in headings)]
    if has_gains:
        columns.append(Column("gain"))
    rows = []
    for summary in suite.summaries:
        row = [make_name(summary.measure), make_words(format_score(summary.mean))]
        if has_intervals:
            row.append(make_words(format_mean_interval(summary.interval)))
        scores = (summary.median, summary.least, summary.greatest)
        row += [make_words(format_score(score)) for score in scores]
        row += [make_words(f"{summary.counted:,}"), make_words(f"{summary.left_out:,}")]
        if is_compared:
            change = format_mean_change(summary) or "–"
            row.append(make_words(change, _choose_tone(change)))
        if has_machines:
            row.append(make_words(format_machine_share(summary.machine_share)))
        if has_gains:
            row.append(make_words(summary.gain))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), tuple(list_missing_intervals(suite.summaries)))


def build_tags_table(tags: TagTable) -> Table:
    """A row for each tag, with its share of the weights where these differ, and the intervals of means if they fit."""
    columns = [Column(f"{name_mean_column(weighted=tags.weighted)} by tag"), Column("queries", _SCORE)]
    if tags.weighted:
        columns.append(Column("weight", _SCORE))
    for measure in tags.measures:
        columns.append(Column(measure, _SCORE, is_name=True))
        if tags.has_intervals:
            columns.append(Column(MEAN_INTERVAL, _SCORE))
    if tags.held:
        columns.append(Column("thresholds"))
    rows = []
    for tag in tags.rows:
        row = [
            make_words(tag.name, Tone.QUIET) if tag.tag is None else make_name(tag.name),
            make_words(f"{tag.queries:,}"),
        ]
        if tags.weighted:
            row.append(make_words(f"{tag.share:.1%}"))
        for summary in tag.figures:
            row.append(make_words(format_figure(tag, summary)))
            if tags.has_intervals:
                row.append(make_words(format_mean_interval(summary.interval)))
        if tags.held:
            row.append(_make_statuses_cell(tag))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), tags.remarks)


def build_variants_table(queries: Sequence[QueryReport], most: int | None = None) -> Table:
    """
    The variants of *queries*, those that agree least with their query first; of many the first *most*.

    A column for each agreement, and one for what each measure loses.
    """
    variants = [variant for query in queries for variant in query.variants]
    agreements = list(dict.fromkeys(name for variant in variants for name in variant.agreements))
    measures = list(dict.fromkeys(name for variant in variants for name in variant.losses))
    variants.sort(key=_rank_variant)
    columns = [Column("variant"), Column("text"), Column("made by"), Column("hits", _FIGURE)]
    columns += [Column(name, _SCORE, is_name=True) for name in agreements]
    columns += [Column(f"loss {name}", _SCORE, is_name=True) for name in measures]
    rows = []
    for variant in variants[:most]:
        row = [make_name(variant.id), make_words(variant.text), make_words(variant.rule)]
        if variant.hits is None:
            row.append(make_words(shorten(variant.reason), Tone.UNDECIDED))
        else:
            row.append(make_words(f"{variant.hits:,}", Tone.PLAIN if variant.hits else Tone.BAD))
        row += [make_words(format_score(variant.agreements.get(name))) for name in agreements]
        row += [make_words(format_score(variant.losses.get(name))) for name in measures]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), _count_more(len(variants), len(rows), "variant", "more"))


COMPARED_SHOWN = 20
"""Queries of a suite that are compared with another request, in its table; the JSON report has all."""


def build_compared_table(queries: Sequence[QueryReport]) -> Table:
    """
    The *queries* whose rankings miss hits of the request that they are compared with, those that agree least first.

    A column for each agreement, and one for what each measure loses. It has no rows where nothing is missed.
    """
    pairs = []
    for query in queries:
        pairs += [(query, compared) for compared in query.compared if compared.missed or compared.reason]
    pairs.sort(key=lambda pair: _rank_compared(pair[1]))
    agreements = list(dict.fromkeys(name for _, compared in pairs for name in compared.agreements))
    measures = list(dict.fromkeys(name for _, compared in pairs for name in compared.losses))
    columns = [Column("query"), Column("compared with"), Column("missed", _FIGURE)]
    columns += [Column(name, _SCORE, is_name=True) for name in agreements]
    columns += [Column(f"loss {name}", _SCORE, is_name=True) for name in measures]
    rows = []
    for query, compared in pairs[:COMPARED_SHOWN]:
        row = [make_name(query.id), make_name(compared.request)]
        if compared.hits is None:
            row.append(make_words(shorten(compared.reason), Tone.UNDECIDED))
        else:
            row.append(make_words(f"{len(compared.missed):,} of {compared.hits:,}"))
        row += [make_words(format_score(compared.agreements.get(name))) for name in agreements]
        row += [make_words(format_score(compared.losses.get(name))) for name in measures]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), _count_more(len(pairs), len(rows), "query", "more"))


def _rank_compared(compared: ComparedRequest) -> tuple[bool, float, float]:
    """Sorts comparisons: first those without a ranking, then those that agree least, and of these what loses most."""
    agreement = next((value for value in compared.agreements.values() if value is not None), 0.0)
    loss = next((value for value in compared.losses.values() if value is not None), 0.0)
    return compared.hits is not None, agreement, -loss


def _rank_variant(variant: VariantReport) -> tuple[bool, float, float]:
    """Sorts variants: first those without a ranking, then those that agree least, and of these what loses most."""
    agreement = next((value for value in variant.agreements.values() if value is not None), 0.0)
    loss = next((value for value in variant.losses.values() if value is not None), 0.0)
    return variant.hits is not None, agreement, -loss


def _make_statuses_cell(tag: TagRow) -> Cell:
    """The statuses of the tag's thresholds in words; empty where it has none."""
    if not tag.statuses:
        return ()
    is_bad = any(status in BAD for status in tag.statuses)
    return make_words(format_tally(tag.statuses), Tone.BAD if is_bad else Tone.PLAIN)


def build_overview_table(cells: Overview) -> Table:
    """The cells of a run side by side, with their means, and how many thresholds hold."""
    has_gains = len(cells.gains) > 1
    has_others = any(row.other for row in cells.rows)
    columns = [Column("suite")]
    choices = {"request": cells.requests, "index": cells.indexes, "gain": has_gains}
    columns += [Column(heading) for heading, is_shown in choices.items() if is_shown]
    columns += [Column(name, _SCORE, is_name=True) for name in (*cells.agreements, *cells.measures)]
    if cells.agreements:
        # An approximate search is a trade of hits for time.
        columns.append(Column("p95 ms", _FIGURE))
    columns += [Column(heading, _FIGURE) for heading in ("queries", "held", "failed", "errors")]
    if has_others:
        columns.append(Column("other", _FIGURE))
    rows = [_make_overview_row(row, cells, has_gains=has_gains, has_others=has_others) for row in cells.rows]
    return Table(tuple(columns), tuple(rows), tuple(describe_overview(cells)), overflow=Overflow.SPLIT)


def _make_overview_row(row: OverviewRow, cells: Overview, *, has_gains: bool, has_others: bool) -> tuple[Cell, ...]:
    suite = row.suite
    texts: list[Cell] = [make_words(suite.name)]
    if cells.requests:
        texts.append(make_name(suite.request))
    if cells.indexes:
        texts.append(make_name("–" if suite.index is None else suite.index))
    if has_gains:
        texts.append(make_words(suite.gain))
    texts += [make_words(format_score(row.agreements.get(agreement))) for agreement in cells.agreements]
    texts += [_make_figure_cell(row.figures.get(measure)) for measure in cells.measures]
    if cells.agreements:
        texts.append(make_words(format_value(row.p95)))
    texts += [make_words(f"{len(suite.queries):,}"), make_words(f"{row.held:,}")]
    texts.append(make_words(f"{row.failed:,}", Tone.BAD if row.failed else Tone.PLAIN))
    texts.append(make_words(f"{row.errors:,}", Tone.UNDECIDED if row.errors else Tone.PLAIN))
    if has_others:
        texts.append(make_words(f"{row.other:,}"))
    return tuple(texts)


def _make_figure_cell(figure: Figure | None) -> Cell:
    """A mean, the mark of the best one, and what it is compared with; each is aligned by itself."""
    if figure is None:
        return ()
    mean = Span(format_score(figure.mean), Tone.BEST if figure.best else Tone.PLAIN)
    mark = Span(BEST if figure.best else "")
    compared = format_compared(figure)
    if not compared:
        return (mean, mark)
    return (mean, mark, Span(f" {compared}", _choose_tone(compared)))


def _choose_tone(text: str) -> Tone:
    """The tone of a difference, by its sign."""
    if text.startswith("+"):
        return Tone.GOOD
    if text.startswith("-"):
        return Tone.POOR
    return Tone.QUIET


# Changes since the baseline.


def build_differences(diffs: Sequence[TextDiff]) -> tuple[Difference, ...]:
    """How the request, the mapping and the settings changed since the baseline."""
    return tuple(Difference(describe_diff(diff), diff.lines, count_hidden_lines(diff)) for diff in diffs)


def build_changes(suite: SuiteReport, verdict: Verdict) -> Iterator[Notes | Difference]:
    """The changes since the baseline that concern *verdict*: its mean, other changes, and the texts."""
    lines = []
    change = describe_mean_change(suite, verdict)
    if change:
        lines.append(change)
    if suite.baseline is not None:
        lines += suite.baseline.changes
    if lines:
        yield Notes(make_notes(lines, Tone.PLAIN))
    if suite.baseline is not None:
        yield from build_differences(suite.baseline.diffs)


# One query.


def build_query_section(query: QueryReport, measure: str | None = None, *, concerns: str = "") -> QuerySection:
    """
    The ranking of *query*, what left it since the baseline, and what is missing.

    Its heading has the score of *measure*, or of all measures. *concerns* says why the query is shown. Its variants
    follow where it is shown for a measure alone: the report of a suite has a table of them.
    """
    blocks: list[Notes | Table] = []
    if query.reason:
        blocks.append(Notes((Span(query.reason),)))
    if query.ranking:
        blocks.append(build_ranking_table(query))
    blocks += build_since_baseline(query)
    if query.missing:
        blocks.append(build_missing_table(query, MISSING_SHOWN))
    blocks += build_missed_tables(query)
    if query.quotes:
        blocks.append(build_quotes_table(query, MISSING_SHOWN))
    if measure is not None and query.variants:
        blocks.append(build_variants_table([query]))
    return QuerySection(
        query.id, query.text, describe_query(query, measure), concerns, tuple(blocks), join_lines(query.need)
    )


def build_ranking_table(query: QueryReport, most: int | None = RANKS_SHOWN) -> Table:
    """
    The first *most* ranks of *query*, all where None; old ranks, ties and titles have a column where there are any.

    Where only quotes are judged, those that a hit holds stand in place of its grade.
    """
    ranking: Sequence[RankedDocument] = query.ranking[:most]
    old_rank = find_old_ranks(query)
    has_ties = any(document.tied for document in ranking)
    figures = ["quotes", "score"] if query.has_only_quotes else ["grade", "gain", "score"]
    columns = make_ranking_columns(figures, has_old_ranks=bool(old_rank), has_ties=has_ties)
    text_columns = make_text_columns(ranking)
    places = [quote.hits for quote in query.quotes]
    rows = []
    for document in ranking:
        row = [make_words(str(document.rank))]
        if old_rank:
            row.append(make_words(old_rank.get(document.id, ""), Tone.STRONG))
        row.append(make_name(document.id))
        if query.has_only_quotes:
            row.append(make_words(describe_held_quotes(places, document.rank), Tone.GOOD))
        else:
            row += [make_grade_cell(document), make_words(format_value(document.gain))]
        row.append(make_words(format_hit_score(document.score)))
        if has_ties:
            row.append(make_words("tied" if document.tied else ""))
        row += make_text_cells(document, text_columns)
        rows.append(tuple(row))
    return Table((*columns, *text_columns), tuple(rows), _count_more(len(query.ranking), len(rows), "hit", "more"))


def make_ranking_columns(figures: Sequence[str], *, has_old_ranks: bool, has_ties: bool) -> tuple[Column, ...]:
    """
    The columns of a table of ranked documents, in their order.

    Args:
        figures: The headings of the columns with figures, such as "grade".
        has_old_ranks: Whether a column has the rank of each document in the baseline.
        has_ties: Whether a column says which documents tie with others.
    """
    columns = [Column("rank", _FIGURE)]
    if has_old_ranks:
        columns.append(Column("was", _FIGURE))
    columns.append(Column("document"))
    columns += [Column(figure, _FIGURE) for figure in figures]
    if has_ties:
        columns.append(Column("ties", _WORD))
    return tuple(columns)


def make_text_columns(documents: Sequence[RankedDocument | MissingDocument]) -> tuple[Column, ...]:
    """The columns of titles, and of the fields that the suite displays, where one of *documents* has some."""
    columns = []
    if any(document.title for document in documents):
        columns.append(Column("title", _TITLE))
    if any(document.texts is not None and document.texts.fields for document in documents):
        columns.append(Column("fields"))
    return tuple(columns)


FIELD_LENGTH = 40
"""Characters of a field's text in a table, where all fields are in one cell."""


def make_text_cells(document: RankedDocument | MissingDocument, columns: Sequence[Column]) -> list[Cell]:
    """The cells of *document* in *columns*, which are those of `make_text_columns`."""
    texts = document.texts or DocumentTexts(())
    cells = []
    for column in columns:
        if column.kind is _TITLE:
            cells.append(make_title(document.title, texts.title_spans))
        else:
            cells.append(_make_fields_cell(texts.fields))
    return cells


def _make_fields_cell(fields: Sequence[FieldText]) -> Cell:
    """The names and texts of *fields*, with the words of the query in strong letters."""
    spans: list[Span] = []
    for field in fields:
        separator = " · " if spans else ""
        spans.append(Span(f"{separator}{field.field} ", Tone.QUIET))
        shown = Highlight(field.text, field.spans).shorten(FIELD_LENGTH)
        for part, is_marked in split_marked(shown.text, shown.spans):
            spans.append(Span(part, Tone.STRONG if is_marked else Tone.PLAIN))
    return tuple(spans)


def build_since_baseline(query: QueryReport) -> Iterator[Notes | Table]:
    """That only ties changed the order of documents since the baseline, and the documents that left."""
    if query.baseline is not None and query.baseline.ties_only:
        note = "since the baseline only tied documents changed their order"
        yield Notes((Span(note, Tone.QUIET),))
    left = find_left_documents(query)
    if not left:
        return
    shown = left[:RANKS_SHOWN]
    has_titles = any(document.title for document in shown)
    columns = [Column("left since the baseline")]
    if not query.has_only_quotes:
        columns.append(Column("grade", _FIGURE))
    columns.append(Column("was", _FIGURE))
    if has_titles:
        columns.append(Column("title", _TITLE))
    rows = []
    for document in shown:
        row = [make_name(document.id)]
        if not query.has_only_quotes:
            row.append(make_grade_cell(document))
        row.append(make_words(f"{document.reference:,}"))
        if has_titles:
            row.append(make_title(document.title))
        rows.append(tuple(row))
    yield Table(tuple(columns), tuple(rows), _count_more(len(left), RANKS_SHOWN, "document", "more that left"))


def build_missing_table(query: QueryReport, most: int | None = None) -> Table:
    """The first *most* missing relevant documents of *query*, all where None."""
    shown: tuple[MissingDocument, ...] = query.missing[:most]
    columns = [Column("missing relevant document"), Column("grade", _FIGURE), Column("where it is")]
    text_columns = make_text_columns(shown)
    rows = []
    for document in shown:
        row = [make_name(document.id), make_words(format_grade(document)), make_words(describe_place(document))]
        row += make_text_cells(document, text_columns)
        rows.append(tuple(row))
    remarks = _count_more(len(query.missing), len(shown), "relevant document", "more missing")
    return Table((*columns, *text_columns), tuple(rows), remarks)


def build_missed_tables(query: QueryReport) -> Iterator[Table]:
    """For each request that *query* is compared with, the hits that it misses, by their rank and score there."""
    for compared in query.compared:
        if not compared.missed:
            continue
        shown = compared.missed[:MISSING_SHOWN]
        has_titles = any(hit.title for hit in shown)
        columns = [Column(f"missed hit of {compared.request}"), Column("rank", _FIGURE), Column("score", _FIGURE)]
        if has_titles:
            columns.append(Column("title", _TITLE))
        rows = []
        for hit in shown:
            row = [make_name(hit.id), make_words(f"{hit.rank:,}"), make_words(format_hit_score(hit.score))]
            if has_titles:
                row.append(make_title(hit.title))
            rows.append(tuple(row))
        remarks = _count_more(len(compared.missed), len(shown), "hit", "more missed")
        yield Table(tuple(columns), tuple(rows), remarks)


def build_quotes_table(query: QueryReport, most: int | None = None) -> Table:
    """The first *most* quotes of *query*, all where None, those first of which hits hold least."""
    numbered = sorted(enumerate(query.quotes, start=1), key=lambda pair: (pair[1].share, -pair[1].grade))
    was = "was" if any(quote.was is not None for quote in query.quotes) else ""
    return make_quotes_table(numbered[:most], ("quote", was, "where it is"), len(numbered))


def make_quotes_table(numbered: Sequence[tuple[int, QuoteReport]], headings: tuple[str, str, str], size: int) -> Table:
    """
    A table of quotes.

    Args:
        numbered: The quotes that are shown, with their numbers in the suite.
        headings: Those of the quotes, of their places in what they are compared with, and of their places now. Without
            the second one that column is left out.
        size: How many quotes there are in all.
    """
    quote_heading, was, now = headings
    columns = [Column("#"), Column(quote_heading, _TITLE), Column("grade", _FIGURE), Column("document")]
    if was:
        columns.append(Column(was))
    columns.append(Column(now))
    rows = []
    for number, quote in numbered:
        row = [make_words(f"#{number}"), make_words(quote.text), make_words(f"{quote.grade:g}")]
        row.append(make_name(quote.document))
        if was:
            row.append(make_words("" if quote.was is None else describe_quote_places(quote.was), Tone.QUIET))
        row.append(make_words(describe_quote_places(quote.hits), Tone.GOOD if quote.share == 1 else Tone.POOR))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), _count_more(size, len(rows), "quote", "more"))


def make_grade_cell(document: RankedDocument | MovedDocument) -> Cell:
    """The grade, in the tone of its gain."""
    tone = Tone.POOR
    if document.grade is None:
        tone = Tone.QUIET
    elif document.gain is not None and document.gain > 0:
        tone = Tone.GOOD
    return make_words(format_grade(document), tone)


def _count_more(size: int, shown: int, noun: str, ending: str) -> tuple[str, ...]:
    """A remark on how many more there are than are *shown*."""
    if size <= shown:
        return ()
    return (f"and {count(size - shown, noun)} {ending}",)
