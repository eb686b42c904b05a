"""
A comparison as Markdown, for GitHub's job summary or to post elsewhere.

The first line has the result. Parts that would exceed GitHub's limit are left out, the least moved queries first, and
counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.model import Agreement, Comparison, ComparisonReport, MovedDocument, QueryComparison
from harness.report.comparison_sentences import (
    FIGURES,
    agreement_facts,
    change_mark,
    closing,
    detectable_lines,
    figure_texts,
    first_ranks,
    headline,
    known_texts,
    last_rank,
    left_mark,
    measure_warnings,
    method_text,
    moved_queries,
    origin_text,
    remarks,
)
from harness.report.markdown import MOST_TITLE, folded_query, verdicts_markdown
from harness.report.markdown.escape import (
    MOST_BYTES,
    MOST_TEXT,
    Piece,
    code,
    escape,
    fitted,
    notes_markdown,
    sign,
    table,
)
from harness.report.run_sentences import LOOKED_AT, RANKS_SHOWN, concerned_text, grade_text
from harness.words import count

MOST = 10
"""Queries that are shown with their rankings by default."""


def render(report: ComparisonReport, *, most: int = MOST, limit: int = MOST_BYTES) -> str:
    """
    *report* in at most *limit* bytes of UTF-8; its first lines, which are always there, take a few hundred.

    The rankings are those of at most *most* queries: those that thresholds blame, then those that moved most.
    """
    held_to = bool(report.verdicts or report.exit_status)
    first = f"## {sign(report.exit_status, decided=True)} " if held_to else "## "
    shown, left = moved_queries(report, most)
    bad = [verdict for verdict in report.verdicts if verdict.status in LOOKED_AT]
    pieces = [
        Piece(0, "summary", "\n\n".join(_summary(report, left)) + "\n"),
        *(Piece(turn, "query", _query(query, concerned_text(query, bad))) for turn, query in enumerate(shown, start=1)),
    ]
    return fitted(f"{first}{escape(headline(report), most=MOST_TEXT)}\n\n{escape(closing(report))}\n", pieces, limit)


def _summary(report: ComparisonReport, left: int) -> Iterator[str]:
    suite = f"{escape(report.suite)}: " if report.suite else ""
    yield f"### {suite}{code(report.candidate.name)} against {code(report.reference.name)}"
    yield _sides(report)
    yield from verdicts_markdown(report.verdicts)
    if report.measures is not None:
        yield from _measures(report.measures)
    if report.agreement is not None:
        yield _agreement(report.agreement)
    yield from notes_markdown(list(remarks(report)))
    if left:
        yield f"{count(left, 'more query')} moved: an HTML report shows them"


def _sides(report: ComparisonReport) -> str:
    sides = (("reference", report.reference), ("candidate", report.candidate))
    lines = [f"- {which} {code(side.name)}: {escape(origin_text(side))}" for which, side in sides]
    gain = f"gain {escape(report.gain)}, profile {report.profile}, " if report.gain else ""
    return "\n".join([*lines, f"- {gain}{count(report.depth, 'rank')} compared"])


def _measures(comparison: Comparison) -> Iterator[str]:
    rows = []
    for row in comparison.measures:
        texts = figure_texts(row)
        texts |= {heading: escape(texts[heading]) for heading in ("p", "corrected")}
        if comparison.is_significant(row):
            texts["difference"] = f"**{texts['difference']}**"
        rows.append([code(row.measure), *texts.values()])
    yield table(["measure", *FIGURES], rows, right=FIGURES)
    yield escape(method_text(comparison), most=MOST_TEXT)
    told = [line for row in comparison.measures for line in measure_warnings(row, comparison)]
    told += [line for row in comparison.measures for line in detectable_lines(row, comparison)]
    yield from notes_markdown(told)


def _agreement(agreement: Agreement) -> str:
    facts = agreement_facts(agreement)
    over = f"Agreement of the rankings over {count(agreement.queries, 'query')}, without judgments:"
    return f"{over}\n\n{table([*map(escape, facts)], [[*map(escape, facts.values())]], right=[*map(escape, facts)])}"


# ------------------------------------------------------------------------------------------------ a query


def _query(query: QueryComparison, concerns: str) -> str:
    return folded_query(query, "; ".join(known_texts(query)), concerns, _rankings(query))


def _rankings(query: QueryComparison) -> Iterator[str]:
    rows = [_row(*of_rank) for of_rank in first_ranks(query)]
    yield table(["rank", "reference", "grade", "", "", "candidate", "grade"], rows, right=["rank", "grade"])
    more = last_rank(query) - RANKS_SHOWN
    if more > 0:
        yield f"and {count(more, 'rank')} more"


def _row(rank: int, before: MovedDocument | None, after: MovedDocument | None) -> list[str]:
    first = [_named(before), grade_text(before), left_mark(before)] if before else [""] * 3
    second = [change_mark(after), _named(after), grade_text(after)] if after else [""] * 3
    return [str(rank), *first, *second]


def _named(document: MovedDocument) -> str:
    title = f" {escape(document.title, most=MOST_TITLE)}" if document.title else ""
    return f"{code(document.id)}{title}"
