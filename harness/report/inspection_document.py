"""The document of one query looked at by itself."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.masking import shorten_vectors
from harness.model.inspection import (
    Contributions,
    Explained,
    Explanation,
    PartDifference,
    PartKind,
    QueryInspection,
    RankContribution,
    ScoreDetail,
    ScorePart,
    TiedDocuments,
)
from harness.model.report import QueryReport
from harness.model.request import SentRequest
from harness.report.curl import format_curl
from harness.report.document import (
    Block,
    Cell,
    Code,
    Column,
    ColumnKind,
    Document,
    Fact,
    Facts,
    Heading,
    Notes,
    Paragraph,
    Section,
    Span,
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.run_document import (
    build_differences,
    build_missed_tables,
    build_missing_table,
    build_quotes_table,
    build_ranking_table,
    build_since_baseline,
    build_variants_table,
    make_grade_cell,
    make_ranking_columns,
    make_text_cells,
    make_text_columns,
)
from harness.report.run_sentences import describe_causes, describe_query, find_old_ranks
from harness.report.safe_text import join_lines
from harness.report.sentences import TEXT_SHOWN, format_difference, format_hit_score, format_score, format_value
from harness.words import shorten

_LONGEST_LINE = 2000
"""Characters of a line of the body of a request; the curl line has all of it."""

_LONGEST_REQUEST = 400
"""Characters of the body of a request that are shown, unless all of it is asked for."""


def build_inspection_document(inspection: QueryInspection, *, whole_request: bool = False) -> Document:
    """
    The query, its ranking rank by rank, what is missing, why documents have their scores, and the request.

    The request is shortened, unless *whole_request* is true: its body may be longer than all else.
    """
    blocks = [*_build_facts(inspection), *_build_ranking(inspection), *_build_explanations(inspection)]
    blocks.append(Heading("request as sent"))
    if whole_request:
        blocks += _build_request(inspection.sent)
    else:
        blocks += _build_short_request(inspection.sent)
    title = (Span(inspection.suite, Tone.STRONG), Span(f"  {inspection.path}", Tone.QUIET))
    section = Section(title, tuple(blocks))
    return Document("", make_notes(inspection.notes, Tone.QUIET), (section,))


def _build_facts(inspection: QueryInspection) -> Iterator[Block]:
    """The query, what it was sent to, and probable causes of a wrong set-up."""
    query = inspection.query
    engine = f"{inspection.engine} at {inspection.cluster}"
    if inspection.index is not None:
        engine += f", index {inspection.index}"
    name = query.id if query.text in ("", query.id) else f"{query.id}  {query.text}"
    facts = [
        Fact("engine", make_words(engine)),
        Fact("request", make_words(inspection.request)),
        Fact("query", make_words(shorten(name, TEXT_SHOWN))),
    ]
    if query.need:
        facts.append(Fact("need", make_words(join_lines(query.need))))
    facts.append(Fact("scores", make_words(describe_query(query))))
    yield Facts(tuple(facts))
    notes = make_notes([query.reason], Tone.NOTED) if query.reason else ()
    notes += make_notes(list(describe_causes([query], inspection.checks)), Tone.WARNING)
    if notes:
        yield Notes(notes)


def _build_short_request(sent: SentRequest) -> Iterator[Block]:
    """The beginning of the request, and the option that shows all of it."""
    lines = f"{sent.method} {sent.url}"
    if sent.body is not None:
        body = json.dumps(shorten_vectors(sent.body), ensure_ascii=False)
        if len(body) > _LONGEST_REQUEST:
            body = body[:_LONGEST_REQUEST] + "…"
        lines += f"\n{body}"
    yield Code(lines)
    yield Paragraph(make_words("--request-body prints all of it, and a curl line that sends it", Tone.QUIET))


def _build_request(sent: SentRequest) -> Iterator[Block]:
    """All of the request, and the curl line that sends it."""
    lines = [f"{sent.method} {sent.url}"]
    if sent.body is not None:
        body = json.dumps(shorten_vectors(sent.body), indent=2, ensure_ascii=False)
        lines += map(_shorten_line, body.splitlines())
    yield Code("\n".join(lines))
    yield Code(format_curl(sent))
    if sent.fingerprint:
        remark = "curl does not check the `fingerprint` of the certificate: add --cacert FILE"
        yield Paragraph(make_words(remark, Tone.QUIET))


def _shorten_line(line: str) -> str:
    """The beginning of a *line* of a body, with its length; all of it if it is not too long."""
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}… {len(line):,} characters in all, which the curl line has"


def _build_ranking(inspection: QueryInspection) -> Iterator[Block]:
    """The ranking with what each rank adds, what changed since the baseline, and what is missing."""
    query, contributions = inspection.query, inspection.contributions
    if query.ranking or contributions:
        yield Heading("ranking")
        if contributions:
            yield Paragraph(make_words(describe_contributions(contributions)))
        if query.has_only_quotes:
            yield build_ranking_table(query, most=None)
        else:
            yield build_contributions_table(query, contributions)
    yield from _build_changes(inspection)
    if inspection.ties:
        yield Notes(make_notes(list(map(describe_ties, inspection.ties)), Tone.NOTED))
    if query.missing:
        yield build_missing_table(query)
    yield from build_missed_tables(query)
    if query.quotes:
        yield build_quotes_table(query)
    if query.variants:
        yield build_variants_table([query])


def _build_changes(inspection: QueryInspection) -> Iterator[Block]:
    """What changed since the baseline: the scores, the ranking, and the texts of the request and the index."""
    query, summary = inspection.query, inspection.baseline
    if summary is None or query.baseline is None:
        return
    scores = []
    for measure, before in query.baseline.scores.items():
        now = query.scores.get(measure)
        if now is not None:
            scores.append(f"{measure} {format_score(before)} → {format_score(now)}")
    yield Paragraph(make_words(f"since the baseline of {summary.created}: {', '.join(scores) or 'no score'}"))
    yield from build_since_baseline(query)
    yield from build_differences(summary.diffs)


def describe_contributions(contributions: Contributions) -> str:
    """The sum of what the ranks add, in words."""
    dcg = format_score(contributions.dcg)
    gained = f"{contributions.measure}, gain {contributions.gain}: the ranks add {dcg}"
    if not contributions.ideal:
        return f"{gained}; no judged document has a positive gain"
    return f"{gained} of the {format_score(contributions.ideal)} of the ideal ranking"


def describe_ties(tied: TiedDocuments) -> str:
    """Which documents tie, in words."""
    last = tied.rank + len(tied.documents) - 1
    ranks = f"rank {tied.rank}" if last == tied.rank else f"ranks {tied.rank} to {last}"
    below = f", with {', '.join(tied.below)} below the ranking" if tied.below else ""
    others = "" if tied.closed else ", and possibly others below"
    if tied.sort is None:
        alike = f"the score {format_hit_score(tied.score)}"
    else:
        values = [json.dumps(value, ensure_ascii=False) for value in tied.sort]
        alike = f"the sort values {', '.join(values)}"
    return f"tied with {alike}: {', '.join(tied.documents)} ({ranks}){below}{others}"


NO_CONTRIBUTION: tuple[Cell, ...] = (make_words("–"),) * 4
"""The figures of a rank that the measure does not count."""


def build_contributions_table(query: QueryReport, contributions: Contributions | None) -> Table:
    """The ranking with what each rank adds to the DCG and loses against the ideal ranking, if a result can be right."""
    ranks = contributions.ranks if contributions is not None else ()
    by_document = {rank.document: rank for rank in ranks if rank.document is not None}
    old_rank = find_old_ranks(query)
    has_ties = any(document.tied for document in query.ranking)
    figures = [] if query.nothing else ["gain", "discount", "adds", "loses"]
    table_columns = make_ranking_columns(
        ["grade", *figures, "score"],
        has_old_ranks=bool(old_rank),
        has_ties=has_ties,
    )
    text_columns = make_text_columns(query.ranking)
    table_columns += text_columns
    rows = []
    for document in query.ranking:
        row = [make_words(str(document.rank))]
        if old_rank:
            row.append(make_words(old_rank.get(document.id, ""), Tone.STRONG))
        row += [make_name(document.id), make_grade_cell(document)]
        rank = by_document.get(document.id)
        if rank is not None:
            row += _list_figures(rank)
        elif figures:
            row += NO_CONTRIBUTION
        row.append(make_words(format_hit_score(document.score)))
        if has_ties:
            row.append(make_words("tied" if document.tied else ""))
        row += make_text_cells(document, text_columns)
        rows.append(row)

    # The ideal ranking may be longer than the one returned.
    no_old_rank: list[Cell] = [()] if old_rank else []
    for rank in ranks:
        if rank.document is None:
            no_grade: Cell = ()
            no_hit = [*no_old_rank, make_words("no hit", Tone.QUIET), no_grade]
            rows.append([make_words(str(rank.rank)), *no_hit, *_list_figures(rank)])
    if contributions is not None:
        lost = format_score(contributions.ideal - contributions.dcg)
        sums = [make_words(format_score(contributions.dcg)), make_words(lost)]
        # Nothing below the grade, the gain and the discount.
        rows.append([(), *no_old_rank, make_words("sum", Tone.QUIET), (), (), (), *sums])
    return Table(table_columns, tuple(_fill_row(row, len(table_columns)) for row in rows))


def build_short_contributions_table(query: QueryReport, contributions: Contributions) -> Table:
    """The ranks that count, with what each adds to the DCG and loses against the ideal ranking."""
    documents = {document.id: document for document in query.ranking}
    figures = [Column(heading, ColumnKind.FIGURE) for heading in ("grade", "adds", "loses")]
    rows: list[tuple[Cell, ...]] = []
    for rank in contributions.ranks:
        cells = (make_words(format_score(rank.adds)), make_words(format_score(rank.loses)))
        if rank.document is None:
            rows.append((make_words(str(rank.rank)), make_words("no hit", Tone.QUIET), (), *cells))
        elif rank.document in documents:
            document = documents[rank.document]
            rows.append((make_words(str(document.rank)), make_name(document.id), make_grade_cell(document), *cells))
    lost = format_score(contributions.ideal - contributions.dcg)
    rows.append(((), make_words("sum", Tone.QUIET), (), make_words(format_score(contributions.dcg)), make_words(lost)))
    return Table((Column("rank", ColumnKind.FIGURE), Column("document"), *figures), tuple(rows))


def _list_figures(rank: RankContribution) -> list[Cell]:
    """The gain and the discount of *rank*, what it adds, and what it loses."""
    texts = (format_value(rank.gain), format_score(rank.discount), format_score(rank.adds), format_score(rank.loses))
    return list(map(make_words, texts))


def _fill_row(row: Sequence[Cell], size: int) -> tuple[Cell, ...]:
    """*row* with empty cells up to *size*."""
    return (*row, *[()] * (size - len(row)))


# Why documents have their scores.


def _build_explanations(inspection: QueryInspection) -> Iterator[Block]:
    """Each explanation under a heading, and what differs between two of them."""
    titles = {document.id: document.title for document in inspection.query.ranking}
    titles |= {document.id: document.title for document in inspection.query.missing}
    for explanation in inspection.explanations:
        score = str(explanation.outcome)
        if explanation.score is not None:
            score = f"score {explanation.score:.5g}"
            if explanation.rank is not None:
                score += f", rank {explanation.rank}"
        title = titles.get(explanation.document) or ""
        yield Heading(f"explanation of {explanation.document}  {score}  {title}".rstrip())
        yield from _build_explanation(explanation)
    if inspection.differences:
        first, second = inspection.explanations
        yield Heading("what differs")
        yield _build_differences(inspection.differences, first, second)


def _build_explanation(explanation: Explanation) -> Iterator[Block]:
    """What is said of the document, the parts of its score with their details, and the clauses that were tried."""
    facts = list(describe_explanation(explanation))
    if facts:
        yield Notes(make_notes(facts, Tone.PLAIN))
    if explanation.parts:
        yield _build_parts(explanation)
    yield from build_details(explanation.parts)
    coarse = list(describe_coarse_parts(explanation.parts))
    if coarse:
        yield Notes(make_notes(coarse, Tone.NOTED))
    if explanation.clauses:
        yield _build_clauses(explanation)


def _build_parts(explanation: Explanation) -> Table:
    """The parts of a score, with a column for each figure that any part has."""
    figures_of_parts = [_list_part_figures(part) for part in explanation.parts]
    headings = [heading for heading in PART_FIGURES if any(figures[heading] for figures in figures_of_parts)]
    columns = [Column("adds", ColumnKind.FIGURE), Column("clause")]
    for heading in headings:
        kind = ColumnKind.NAME if heading == "times" else ColumnKind.FIGURE
        columns.append(Column(heading, kind))
    rows = []
    for part, figures in zip(explanation.parts, figures_of_parts, strict=True):
        tone = Tone.PLAIN if part.score else Tone.QUIET
        texts = [format_score(part.score), part.clause, *(figures[heading] for heading in headings)]
        rows.append(tuple(make_words(text, tone) for text in texts))
    total = format_score(math.fsum(part.score for part in explanation.parts))
    rows.append(_fill_row([make_words(total), make_words("sum", Tone.QUIET)], len(columns)))
    return Table(tuple(columns), tuple(rows))


PART_FIGURES = ("boost", "idf", "tf", "freq", "length (mean)", "times")
"""The headings of the figures of a part, in their order."""


def _list_part_figures(part: ScorePart) -> dict[str, str]:
    """The figures of *part* by their headings; empty texts for those that it does not have."""
    return {
        "boost": _format_figure(part.boost),
        "idf": _format_figure(part.idf),
        "tf": _format_figure(part.tf),
        "freq": _format_figure(part.frequency),
        "length (mean)": _format_length(part),
        "times": _format_factors(part),
    }


def build_details(parts: Sequence[ScorePart]) -> Iterator[Table]:
    """A table for each part and each factor that has details. A factor of several parts has one."""
    details_by_name: dict[tuple[str, tuple[ScoreDetail, ...]], None] = {}
    for part in parts:
        details_by_name[part.clause, part.details] = None
        for factor in part.factors:
            details_by_name[factor.name, factor.details] = None
    for name, details in details_by_name:
        if details:
            heading = "in the engine's words"
            if details[0].description != name:
                heading = f"{name}, {heading}"
            rows = []
            for detail in details:
                description = "  " * detail.level + detail.description
                rows.append((make_words(f"{detail.value:.5g}"), make_words(description)))
            yield Table((Column("value", ColumnKind.FIGURE), Column(heading)), tuple(rows))


def _format_length(part: ScorePart) -> str:
    """The length of the field, and the mean length in the index in parentheses; empty where there is none."""
    if part.length is None:
        return ""
    return f"{format_value(part.length)} ({format_score(part.average_length, 1)})"


def _format_factors(part: ScorePart) -> str:
    """The factors of *part*, in words."""
    texts = []
    for factor in part.factors:
        text = factor.name
        if factor.value:
            text += f" {factor.value:.4g}"
        texts.append(text)
    return ", ".join(texts)


def _format_figure(value: float | None) -> str:
    """*value* with four digits; empty where there is none."""
    if value is None:
        return ""
    return f"{value:.4g}"


def _build_clauses(explanation: Explanation) -> Table:
    """A row for each clause that was tried: whether the document matches it, and where it is in the body."""
    rows = []
    for clause in explanation.clauses:
        matches = "matches" if clause.matches else "no match"
        tone = Tone.BAD if clause.decides else Tone.PLAIN
        rows.append((make_words(matches, tone), make_words(clause.clause, tone), make_words(clause.place)))
    return Table((Column("outcome"), Column("clause"), Column("place")), tuple(rows))


def _build_differences(differences: Sequence[PartDifference], first: Explanation, second: Explanation) -> Table:
    """A row for each clause: what it adds to the scores of two documents, and why that differs."""
    # Of parts with one clause the first one counts.
    first_parts = {part.clause: part for part in reversed(first.parts)}
    second_parts = {part.clause: part for part in reversed(second.parts)}
    columns = (
        Column("difference", ColumnKind.FIGURE),
        Column("clause"),
        Column(first.document, ColumnKind.SCORE),
        Column(second.document, ColumnKind.SCORE),
        Column("why"),
    )
    rows = []
    for row in differences:
        if row.first or row.second:
            why = explain_difference(first_parts.get(row.clause), second_parts.get(row.clause))
            scores = (format_score(row.first), format_score(row.second))
            rows.append(tuple(map(make_words, (format_difference(row.difference), row.clause, *scores, why))))
    total = format_difference(math.fsum(row.difference for row in differences))
    sums = (make_words(format_score(first.score)), make_words(format_score(second.score)))
    rows.append((make_words(total), make_words("sum", Tone.QUIET), *sums, ()))
    return Table(columns, tuple(rows))


def describe_explanation(explanation: Explanation) -> Iterator[str]:
    """The facts about the document, in words."""
    if explanation.outcome is Explained.INVISIBLE:
        guess = f"; did you mean {explanation.nearest!r}?" if explanation.nearest is not None else ""
        yield f"no document with this id is visible through the target{guess}"
    if explanation.outcome is Explained.UNMATCHED:
        deciding = [clause for clause in explanation.clauses if clause.decides]
        colon = ":" if deciding else ""
        yield f"it is in the index {explanation.index}, and the request does not find it{colon}"
        for clause in deciding:
            result = "matches, and must not" if clause.matches else "does not match"
            yield f"{clause.place} {result}"
    if explanation.reason:
        yield explanation.reason


def describe_coarse_parts(parts: Sequence[ScorePart]) -> Iterator[str]:
    """A line for each kind of part that the engine does not explain further."""
    coarse_parts = [part for part in parts if part.kind in COARSE]
    coarse_kinds = [part.kind for part in coarse_parts if not any(detail.level for detail in part.details)]
    for kind in dict.fromkeys(coarse_kinds):
        yield f"{kind}: the engine gives its value and no finer parts"


COARSE = (PartKind.VECTOR, PartKind.FUSION, PartKind.OTHER)
"""The kinds that may have no finer parts. The engine names each function and each script."""


def explain_difference(first: ScorePart | None, second: ScorePart | None) -> str:
    """Which figures of one clause differ between two documents."""
    if second is None:
        return "only in the first"
    if first is None:
        return "only in the second"
    figures = (
        ("freq", first.frequency, second.frequency),
        ("length", first.length, second.length),
        ("idf", first.idf, second.idf),
        ("boost", first.boost, second.boost),
    )
    reasons = []
    for figure, first_value, second_value in figures:
        if first_value != second_value:
            reasons.append(f"{figure} {_format_figure(first_value)} and {_format_figure(second_value)}")
    first_factors, second_factors = _format_factors(first) or "1", _format_factors(second) or "1"
    if first_factors != second_factors:
        reasons.append(f"times {first_factors} and {second_factors}")
    reasons += _list_different_details(first, second)
    return "; ".join(reasons)


def _list_different_details(first: ScorePart, second: ScorePart) -> Iterator[str]:
    """What two documents have different values of, such as one function of several, by the engine's words for it."""
    second_values = _collect_details(second)
    for description, value in _collect_details(first).items():
        other_value = second_values.get(description, value)
        if other_value != value:
            yield f"{description} {_format_figure(value)} and {_format_figure(other_value)}"


def _collect_details(part: ScorePart) -> dict[str, float]:
    """
    The value of each detail of *part* and of its factors, by its description.

    What is there twice is left out, and the clause itself: its values are in columns of their own.
    """
    details = [detail for detail in part.details if detail.description != part.clause]
    for factor in part.factors:
        details += factor.details
    counts = Counter(detail.description for detail in details)
    return {detail.description: detail.value for detail in details if counts[detail.description] == 1}
