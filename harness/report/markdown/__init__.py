"""A report as Markdown, for GitHub's job summary or to post elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.model import (
    MissingDocument,
    MissingSuite,
    MovedDocument,
    QueryComparison,
    QueryReport,
    RankedDocument,
    Report,
    Status,
    SuiteReport,
    Verdict,
)
from harness.report.markdown.escape import (
    MOST_BYTES,
    MOST_TEXT,
    Piece,
    block,
    code,
    escape,
    fitted,
    notes_markdown,
    sign,
    table,
)
from harness.report.overview import (
    BEST,
    Figure,
    Overview,
    Row,
    TagRow,
    TagTable,
    cell_names,
    change_cell,
    compared_text,
    figure_text,
    overview,
    remarks,
    tag_table,
)
from harness.report.run_sentences import (
    BAD,
    LOOKED_AT,
    MISSING_SHOWN,
    RANKS_SHOWN,
    Attention,
    attention_of,
    baseline_text,
    cause_lines,
    closing,
    concerned_text,
    diff_heading,
    diff_rest,
    grade_text,
    headline,
    is_hardly_judged,
    is_held_by_query,
    judged_line,
    known_text,
    left_documents,
    missing_place,
    old_ranks,
    outcome_lines,
    remark_lines,
)
from harness.report.sentences import (
    hit_score_text,
    mean_heading,
    observed_text,
    plain_text,
    qualified_text,
    required_text,
    score_text,
    tally_text,
    waiver_not_in_reason,
)
from harness.words import count

# The cells of a report side by side, as Markdown.


COUNTS = ["queries", "held", "failed", "errors", "other"]


def overview_markdown(overview: Overview) -> str:
    """The table, with the meaning of its signs."""
    names = ["suite", *(["request"] if overview.requests else []), *(["index"] if overview.indexes else [])]
    measures = [code(measure) for measure in overview.measures]
    rows = [list(_cells(row, overview)) for row in overview.rows]
    shown = table([*names, *measures, *COUNTS], rows, right=[*measures, *COUNTS])
    return f"{shown}\n\n{escape('; '.join(remarks(overview)))}\n"


def _cells(row: Row, overview: Overview) -> Iterator[str]:
    yield escape(row.suite.name)
    if overview.requests:
        yield code(row.suite.request)
    if overview.indexes:
        yield code(row.suite.index or "–")
    for measure in overview.measures:
        figure = row.figures.get(measure)
        yield _figure(figure) if figure else ""
    for size in (len(row.suite.queries), row.held, row.failed, row.errors, row.other):
        yield f"{size:,}"


def _figure(figure: Figure) -> str:
    mean = f"**{score_text(figure.mean)}**{escape(BEST)}" if figure.best else score_text(figure.mean)
    return f"{mean} {escape(compared_text(figure))}".rstrip()


# One query in Markdown: its ranking with grades, and what is missing from it, folded below a line that names it.


MOST_DIFF = 10_000
"""Characters of a difference between two texts."""


MOST_TITLE = 80
"""Characters of a title, which may be a whole description."""


def query_markdown(query: QueryReport, concerns: str) -> str:
    """*query*, folded; *concerns* names the thresholds that blame it."""
    return folded_query(query, known_text(query), concerns, _body(query))


def folded_query(query: QueryReport | QueryComparison, known: str, concerns: str, body: Iterable[str]) -> str:
    """*concerns* and the paragraphs of *body*, folded below a line with the id, the text and what is *known*."""
    text = f" {escape(query.text, most=MOST_TEXT)}" if query.text not in ("", query.id) else ""
    concerned = [f"concerns {code(concerns, most=MOST_TEXT)}"] if concerns else []
    shown = "\n\n".join([*concerned, *body])
    return f"<details><summary>query {code(query.id)}{text} ({escape(known)})</summary>\n\n{shown}\n\n</details>\n"


def _body(query: QueryReport) -> Iterator[str]:
    if query.reason:
        yield escape(query.reason, most=MOST_TEXT)
    if query.ranking:
        yield _ranking(query.ranking[:RANKS_SHOWN], old_ranks(query))
    if len(query.ranking) > RANKS_SHOWN:
        yield f"and {count(len(query.ranking) - RANKS_SHOWN, 'hit')} more"
    left = left_documents(query)
    if left:
        yield _left(left[:RANKS_SHOWN])
    if len(left) > RANKS_SHOWN:
        yield f"and {count(len(left) - RANKS_SHOWN, 'document')} more that left"
    if query.missing:
        yield _missing(query.missing[:MISSING_SHOWN])
    if len(query.missing) > MISSING_SHOWN:
        yield f"and {count(len(query.missing) - MISSING_SHOWN, 'relevant document')} more missing"


def _ranking(ranking: Sequence[RankedDocument], before: Mapping[str, str]) -> str:
    rows = [
        [
            str(document.rank),
            *([before.get(document.id, "")] if before else []),
            code(document.id),
            grade_text(document),
            plain_text(document.gain),
            hit_score_text(document.score) + (" (tied)" if document.tied else ""),
            _title(document),
        ]
        for document in ranking
    ]
    headings = ["rank", *(["was"] if before else []), "document", "grade", "gain", "score", "title"]
    return table(headings, rows, right=["rank", "was", "grade", "gain", "score"])


def _left(left: Sequence[MovedDocument]) -> str:
    rows = [[code(one.id), grade_text(one), f"{one.reference:,}", _title(one)] for one in left]
    return table(["left since the baseline", "grade", "was", "title"], rows, right=["grade", "was"])


def _missing(missing: Sequence[MissingDocument]) -> str:
    rows = [[code(one.id), grade_text(one), missing_place(one), _title(one)] for one in missing]
    return table(["missing relevant document", "grade", "where it is", "title"], rows, right=["grade"])


def _title(document: RankedDocument | MovedDocument | MissingDocument) -> str:
    return escape(document.title or "", most=MOST_TITLE)


# The figures of each tag, as Markdown.


def tags_markdown(suite: SuiteReport) -> Iterator[str]:
    """Paragraphs: a table with a line per tag, and what it leaves out; none where no query has a tag."""
    found = tag_table(suite)
    if found is None:
        return
    figures = ["queries", *(["weight"] if found.weighted else []), *map(code, found.measures)]
    held = ["thresholds"] if found.held else []
    heading = f"{mean_heading(weighted=found.weighted)} by tag"
    yield table([heading, *figures, *held], [_tag_cells(row, found) for row in found.rows], right=figures)
    if found.remarks:
        yield escape("; ".join(found.remarks))


def _tag_cells(row: TagRow, table: TagTable) -> list[str]:
    name = escape(row.name) if row.tag is None else code(row.name)
    share = [f"{row.share:.1%}"] if table.weighted else []
    figures = [figure_text(row, summary) for summary in row.figures]
    return [name, f"{row.queries:,}", *share, *figures, *([_statuses(row)] if table.held else [])]


def _statuses(row: TagRow) -> str:
    """The statuses of the tag's thresholds in words; empty where it has none."""
    if not row.statuses:
        return ""
    tally = tally_text(row.statuses)
    return f"**{tally}**" if any(status in BAD for status in row.statuses) else tally


# A report as Markdown, for GitHub's job summary or to post elsewhere.


REFUSAL_SHOWN = 20_000


def render(report: Report, *, limit: int = MOST_BYTES) -> str:
    """*report* in at most *limit* bytes of UTF-8; its first lines, which are always there, take a few hundred."""
    verdicts = (verdict for suite in report.suites if not suite.report_only for verdict in suite.verdicts)
    decided = any(verdict.status is not Status.NOT_DECIDED for verdict in verdicts)
    head = f"## {sign(report.exit_status, decided=decided)} {headline(report)}"
    named = zip(cell_names(report.suites), report.suites, strict=True)
    pieces = [piece for name, suite in named for piece in _pieces(name, suite)]
    cells = overview(report)
    if cells is not None:
        pieces.insert(0, Piece(0, "table", overview_markdown(cells)))
    pieces[:0] = [Piece(0, "suite", _missing_suite(one)) for one in report.missing]
    return fitted(f"{head}\n\n{closing(report)}\n", pieces, limit)


def _missing_suite(suite: MissingSuite) -> str:
    return f"### {escape(suite.path)}\n\n❌ It did not run.\n\n{block(suite.reason, most=REFUSAL_SHOWN)}\n"


def render_refusal(text: str) -> str:
    """Why nothing ran, in the words of the terminal."""
    return f"## ❌ Nothing was decided\n\n{block(text, most=REFUSAL_SHOWN)}\n"


def _pieces(name: str, suite: SuiteReport) -> Iterator[Piece]:
    attention = attention_of(suite)
    calm = not attention.verdicts and not suite.unanswered
    yield Piece(int(calm), "suite", "\n\n".join(_suite_parts(name, suite, attention)) + "\n")
    for turn, query in enumerate(attention.queries, start=2):
        yield Piece(turn, "query", query_markdown(query, concerned_text(query, attention.verdicts)))


# ------------------------------------------------------------------------------------------------ a suite


def _suite_parts(name: str, suite: SuiteReport, attention: Attention) -> Iterator[str]:
    yield f"### {escape(name)}"
    yield _facts(suite)
    yield from (f"⚠️ **{escape(line, most=MOST_TEXT)}**" for line in cause_lines(suite.queries, suite.checks))
    yield from verdicts_markdown(suite.verdicts)
    if suite.summaries:
        yield _measures(suite)
    yield from tags_markdown(suite)
    judged = judged_line(suite)
    warned = f"⚠️ {judged}" if is_hardly_judged(suite.hits, suite.judged_hits) else judged
    yield from notes_markdown([*outcome_lines(suite.unscored), *filter(None, [warned]), *remark_lines(suite)])
    for diff in suite.baseline.diffs if suite.baseline else ():
        lines = block("\n".join([*diff.lines, diff_rest(diff)]), most=MOST_DIFF, language="diff")
        yield f"{escape(diff_heading(diff))}\n\n{lines}"
    if attention.left:
        yield f"{count(attention.left, 'more query')} to look at: an HTML report shows each"


def _facts(suite: SuiteReport) -> str:
    stated = " (as stated in the target)" if suite.engine.stated else ""
    index = f", index {code(suite.index)}" if suite.index is not None else ""
    files = " and ".join(map(code, suite.configuration))
    configuration = f", configuration {files}" if files else ""
    deselected = f", {suite.deselected:,} more not selected" if suite.deselected else ""
    compared = f", {escape(baseline_text(suite))}" if suite.baseline else ""
    return (
        f"{code(suite.path)}: {escape(str(suite.engine))}{stated} at {escape(suite.cluster)}{index}{configuration}, "
        f"request {code(suite.request)}, gain {escape(suite.gain)}, profile {suite.profile}, "
        f"{count(len(suite.queries), 'query')}{deselected}{compared}"
    )


def _measures(suite: SuiteReport) -> str:
    mean = mean_heading(weighted=any(summary.weighted for summary in suite.summaries))
    compared = any(summary.change for summary in suite.summaries)
    figures = [mean, "median", "least", "greatest", "counted", "left out", *(["vs baseline"] if compared else [])]
    rows = []
    for summary in suite.summaries:
        values = (summary.mean, summary.median, summary.least, summary.greatest)
        cells = [*map(score_text, values), f"{summary.counted:,}", f"{summary.left_out:,}"]
        since = [escape(change_cell(summary)) or "–"] if compared else []
        rows.append([code(summary.measure), escape(summary.gain), *cells, *since])
    return table(["measure", "gain", *figures], rows, right=figures)


THRESHOLDS_SHOWN = 100


WORST_FIRST = (
    Status.ERROR,
    Status.INCONCLUSIVE,
    Status.FAILED,
    Status.WARNED,
    Status.XPASSED,
    Status.XFAILED,
    Status.NOT_DECIDED,
    Status.PASSED,
    Status.SKIPPED,
)


def verdicts_markdown(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Paragraphs: a table, and how many more there are; the passed thresholds of single queries are only counted."""
    listed = [verdict for verdict in verdicts if not is_held_by_query(verdict)]
    if listed:
        yield _table(sorted(listed, key=lambda verdict: WORST_FIRST.index(verdict.status)))
    if len(listed) > THRESHOLDS_SHOWN:
        yield f"and {count(len(listed) - THRESHOLDS_SHOWN, 'more threshold')}"
    if len(listed) < len(verdicts):
        yield f"{count(len(verdicts) - len(listed), 'threshold')} of single queries passed"


def _table(verdicts: Sequence[Verdict]) -> str:
    rows = [
        [
            f"**{verdict.status.upper()}**" if verdict.status in LOOKED_AT else str(verdict.status),
            code(verdict.threshold) + (f" (query {code(verdict.query)})" if verdict.query is not None else ""),
            escape(observed_text(verdict)),
            escape(required_text(verdict)),
            _why(verdict),
        ]
        for verdict in verdicts[:THRESHOLDS_SHOWN]
    ]
    return table(["verdict", "threshold", "observed", "required", "why"], rows, right=["observed", "required"])


def _why(verdict: Verdict) -> str:
    """For a pass its caveat; else the reason, the waiver, and the line of the suite."""
    if verdict.status in (Status.PASSED, Status.SKIPPED):
        return escape(qualified_text(verdict), most=MOST_TEXT)
    waiver = waiver_not_in_reason(verdict)
    reason = verdict.reason if waiver is None else f"{verdict.reason}; waived: {waiver}"
    place = f" {code(str(verdict.mark))}" if verdict.mark.line else ""
    return f"{escape(reason, most=MOST_TEXT)}{place}"
