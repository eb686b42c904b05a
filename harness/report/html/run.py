"""The page of a run: what its document says of each suite, and all queries with their rankings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar
from urllib.parse import quote

from harness.errors import SearchError
from harness.gate.decide import compute_exit_status
from harness.means import are_weighted
from harness.model.report import BaselineSummary, MeasureSummary, MissingSuite, QueryReport, Report, SuiteReport
from harness.model.run import Status, Verdict
from harness.model.scores import Outcome
from harness.pages import choose_one_of_each_page, find_site, format_link
from harness.report.attention import (
    BAD,
    find_attention,
    is_passed_of_query,
    list_looked_at,
    measure_fall,
    order_verdicts,
    split_unanswered,
)
from harness.report.document import (
    Block,
    Cell,
    Code,
    Column,
    Details,
    Document,
    Drawing,
    Fact,
    Facts,
    Link,
    Notes,
    Paragraph,
    Section,
    Span,
    Table,
    Thresholds,
    Tone,
    make_notes,
    make_words,
)
from harness.report.html import FirstQueries, Page, Part, note_omissions, render_page
from harness.report.html.charts import (
    Bin,
    Strip,
    choose_step,
    count_bins,
    find_greatest_gain,
    make_strip,
)
from harness.report.overview import TagTable, build_overview, build_tag_table, find_differing_parts, name_cells
from harness.report.run_document import (
    VARIANTS_SHOWN,
    build_compared_table,
    build_differences,
    build_facts,
    build_notes,
    build_overview_table,
    build_tags_table,
    build_threshold_lines,
    build_variants_table,
    build_warnings,
    has_figures,
)
from harness.report.run_sentences import write_closing, write_headline
from harness.report.sentences import (
    format_score,
    format_tally,
    name_mean_column,
)
from harness.report.topics import find_suite_topics
from harness.words import count, grouped, shorten


def describe_omitted(
    verdicts: Sequence[Verdict], queries: int, limits: Limits, rows: str, details: str
) -> Iterator[str]:
    """
    What a page of *limits* leaves out: *verdicts*, those that did not hold first, and some of so many *queries*.

    *rows* says which queries have no row, *details* which of those with a row have no rankings.
    """
    hidden = order_verdicts(verdicts)[limits.thresholds :]
    for ending, number in Counter(map(_describe_ending, hidden)).items():
        yield f"{count(number, 'threshold')} that {ending}"
    with_row = min(queries, limits.rows)
    if queries > with_row:
        yield f"{count(queries - with_row, 'query')} {rows}"
    if with_row > limits.details:
        yield f"the rankings of {count(with_row - limits.details, 'query')} {details}"


def find_worst_status(verdicts: Collection[Verdict], status: int) -> Status:
    """
    The worst status of *verdicts*, undecided ones before failures, as in the exit *status*: that of errors without
    an undecided verdict is due to a query without an answer. NOT_DECIDED without verdicts.
    """
    statuses = {verdict.status for verdict in verdicts}
    if status == SearchError.exit_status and not any(status.is_undecided for status in statuses):
        return Status.ERROR
    if status == 1 and Status.FAILED not in statuses:
        return Status.FAILED
    for bad in (Status.ERROR, Status.INCONCLUSIVE, Status.FAILED, Status.NOT_DECIDED):
        if bad in statuses:
            return bad
    if statuses:
        return Status.PASSED
    return Status.NOT_DECIDED


def _describe_ending(verdict: Verdict) -> str:
    """Whether the threshold of *verdict* holds, as the end of a sentence on thresholds that are left out."""
    if verdict.status not in BAD:
        return "held"
    if verdict.is_unexpected_pass:
        return "passed though expected to fail"
    return "did not hold"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the page for each suite: *rows* of queries, *details* of these with rankings, and so on."""

    rows: int = 5_000
    first_rows: int = 200
    """Rows that stand in the table at once; its script adds the others when they are needed."""
    details: int = 500
    ranks: int = 20
    missing: int = 20
    thresholds: int = 500
    tags: int = 100
    measures: int = 10


@dataclass(frozen=True, slots=True)
class QueryView:
    """
    One query: a row of the table, and if *detailed* its ranking beside its ideal.

    *strip* has the grades of its first hits, *steps* the colors of its scores. *greatest* is the greatest gain of the
    suite.
    """

    anchor: str
    query: QueryReport
    tags: tuple[int, ...]
    blamed: bool
    detailed: bool
    strip: Strip
    steps: tuple[str, ...]
    greatest: float
    verdicts: Sequence[Verdict]


@dataclass(frozen=True, slots=True)
class MeasureCards(Drawing):
    """Each measure with the spread of its scores, in *bins* by its name."""

    template: ClassVar[str] = "measures.html.jinja"

    summaries: tuple[MeasureSummary, ...]
    bins: Mapping[str, tuple[Bin, ...]]


@dataclass(frozen=True, slots=True)
class QueryTable(Drawing):
    """
    The queries of a suite: a table to filter and to sort, and the rankings of each.

    *weighted* says that the queries' weights differ, *to_last_byte* that the times of queries are those to the last
    byte of their answers. *opened* is the anchor of the query that is open from the start.
    """

    template: ClassVar[str] = "queries.html.jinja"

    anchor: str
    title: str
    queries: Sequence[QueryView]
    summaries: tuple[MeasureSummary, ...]
    baseline: BaselineSummary | None
    outcomes: Mapping[Outcome, int]
    tags: Sequence[str]
    weighted: bool
    to_last_byte: bool
    opened: str | None
    limits: Limits


def make_addresses(suites: Sequence[SuiteReport]) -> tuple[str, ...]:
    """
    The prefix of the addresses of each suite's queries: its name, and the request and the index where the cells of a
    suite differ in them. If names are unique, it does not depend on the rest of the report.
    """
    uses: Counter[str] = Counter()
    unique = []
    for suite, parts in zip(suites, find_differing_parts(suites), strict=True):
        names = [suite.name, *map(str, parts.values())]
        address = ":".join(map(encode_address, names))
        uses[address] += 1
        unique.append(address if uses[address] == 1 else f"{address}~{uses[address]}")
    return tuple(unique)


def encode_address(name: str) -> str:
    """*name* as a part of an address; a lone surrogate, which UTF-8 cannot encode, becomes a question mark."""
    return quote(name, safe="", errors="replace")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a run with the *address* that those of its queries begin with, and the *anchor* of its other parts."""

    suite: SuiteReport
    title: str
    address: str
    anchor: str

    @property
    def status(self) -> Status:
        """The worst status of its thresholds, as in the exit status."""
        return find_worst_status(self.suite.verdicts, compute_exit_status([self.suite]))

    @property
    def looked_at(self) -> list[Verdict]:
        """Its thresholds that need attention, the worst first."""
        return list_looked_at(self.suite.verdicts)

    @property
    def needs_attention(self) -> bool:
        """Whether a threshold needs attention, or a query has no answer."""
        return self.status in BAD or bool(self.looked_at)


MEANS_IN_DIGEST = 3
"""Measures whose means stand beside their heading."""


def _build_suite(cell: _Cell, limits: Limits, *, opens_worst: bool) -> Section:
    """The document's section of a suite, with what a page shows of all queries."""
    suite, anchor = cell.suite, cell.anchor
    all_tags: set[str] = set()
    for query in suite.queries:
        all_tags.update(query.tags)
    tags = sorted(all_tags)
    bins = {}
    for summary in suite.summaries:
        bins[summary.measure] = count_bins(query.scores.get(summary.measure) for query in suite.queries)
    queries = _make_query_views(cell.address, suite, tags, bins, limits)

    # Where a threshold fails, it and the queries that it blames come first, and all else opens.
    holds = not find_attention(suite).verdicts
    blocks: list[Block] = [build_warnings(suite), *_build_first_queries(suite, queries)]
    tally = format_tally(verdict.status for verdict in suite.verdicts)
    blocks.append(Part("Thresholds", tuple(_build_thresholds(cell, queries, limits)), tally))
    ends = ("with the best scores", "with better scores than those shown")
    left_out = describe_omitted(suite.verdicts, len(suite.queries), limits, *ends)
    notes = (*build_notes(suite).lines, *note_omissions(left_out))
    if notes:
        # What changed since a baseline may be the cause.
        has_changes = suite.baseline is not None and bool(suite.baseline.changes)
        blocks.append(Part("Notes", (Notes(notes),), f"{len(notes):,}", is_open=holds or has_changes))
    if suite.baseline:
        blocks += build_differences(suite.baseline.diffs)
    if has_figures(suite):
        means = [f"{summary.measure} {format_score(summary.mean)}" for summary in suite.summaries[:MEANS_IN_DIGEST]]
        cards = MeasureCards(suite.summaries, bins)
        blocks.append(Part("Measures", (cards,), ", ".join(means), is_open=holds))
        by_tag = build_tag_table(suite, most=limits.tags, measures=limits.measures)
        if by_tag is not None and by_tag.measures:
            blocks.append(Part("Tags", tuple(_build_tags(by_tag, tags, anchor)), f"{len(tags):,}", is_open=holds))
    variants = build_variants_table(suite.queries, VARIANTS_SHOWN)
    if variants.rows:
        caption = "Variants of queries, those that agree least with their query first"
        blocks.append(Part("Variants", (replace(variants, caption=caption),), is_open=holds))
    compared = build_compared_table(suite.queries)
    if compared.rows:
        caption = "Queries that miss hits of the request that they are compared with, those that agree least first"
        blocks.append(Part("Compared requests", (replace(compared, caption=caption),), is_open=holds))
    blocks += _build_links(suite)
    facts = Facts((Fact("suite", make_words(suite.path)), *build_facts(suite).facts))
    blocks.append(Part("Run", (facts,), suite.path, is_open=holds))
    table = QueryTable(
        anchor=anchor,
        title=cell.title,
        queries=queries,
        summaries=suite.summaries,
        baseline=suite.baseline,
        outcomes=Counter(query.outcome for query in suite.queries),
        tags=tags,
        weighted=are_weighted(query.weight for query in suite.queries),
        to_last_byte=_has_times_to_last_byte(suite),
        opened=queries[0].anchor if opens_worst else None,
        limits=limits,
    )
    blocks.append(Part("Queries", (table,), f"{len(suite.queries):,}", f"{anchor}-queries"))
    title = (Span(f"{cell.title} "), Span(cell.status, status=cell.status))
    return Section(title, tuple(blocks), anchor, address=f"{cell.address}/")


def _build_first_queries(suite: SuiteReport, queries: Iterable[QueryView]) -> Iterator[Block]:
    """The worst of the queries that thresholds blame, each with its score and a link to its ranking."""
    attention = find_attention(suite)
    if not attention.verdicts:
        return
    measure = suite.summaries[0].measure if suite.summaries else ""
    worst = {}
    for query in attention.queries:
        worst[query.id] = format_score(query.scores[measure]) if measure in query.scores else ""
    anchors = {view.query.id: view.anchor for view in queries if view.detailed}
    yield from link_first_queries(measure, worst, anchors, len(attention.more_queries))


LONGEST_FIRST_NAME = 40
"""Characters of the id of a query in the first sentence of a page."""

LONGEST_FIRST_REASON = 200
"""Characters of a reason in the first table of a page: it may quote a server."""


def link_first_queries(
    measure: str, figures: Mapping[str, str], anchors: Mapping[str, str], more: int
) -> Iterator[FirstQueries]:
    """
    A sentence with the queries to look at first; nothing where there are none.

    Args:
        measure: What the figures are of; empty where there is no measure.
        figures: The figure of each query by its id, empty where it has none.
        anchors: Where the page shows them, by id.
        more: How many others are to be looked at.
    """
    if not figures:
        return
    heading = f"Queries to look at, with {measure}" if measure else "Queries to look at"
    spans = [Span(heading, Tone.STRONG)]
    for query, figure in figures.items():
        spans.append(Span(": " if len(spans) == 1 else ", "))
        link = Link(f"#{anchors[query]}") if query in anchors else None
        spans.append(Span(shorten(query, LONGEST_FIRST_NAME), is_name=True, link=link))
        if figure:
            # A figure stays beside the name that it belongs to.
            spans.append(Span(f"\N{NO-BREAK SPACE}{figure}"))
    if more:
        spans.append(Span(f" and {more:,} more"))
    yield FirstQueries(tuple(spans))


def _build_thresholds(cell: _Cell, queries: Iterable[QueryView], limits: Limits) -> Iterator[Block]:
    """The statuses of the thresholds, and each with its reason; the passed ones of single queries are folded away."""
    suite = cell.suite
    if not suite.verdicts:
        yield Paragraph(make_words("This suite has no threshold that was decided."))
        return
    unanswered, verdicts = split_unanswered(suite)
    thresholds = Thresholds(
        thresholds=tuple(build_threshold_lines(suite, order_verdicts(verdicts)[: limits.thresholds])),
        unanswered=len(unanswered),
        passed_of_queries=0,
        path=suite.path,
        anchors={view.query.id: view.anchor for view in queries if view.detailed},
    )
    yield from list_threshold_blocks(cell.title, thresholds)


FIRST_THRESHOLDS = 5
"""Thresholds that need attention which stand on the page at once; the others open."""


def list_threshold_blocks(title: str, thresholds: Thresholds) -> Iterator[Block]:
    """*thresholds* of *title*: the first that need attention, or all where none does; the others are folded away."""
    passed = [line for line in thresholds.thresholds if is_passed_of_query(line.verdict)]
    others = [line for line in thresholds.thresholds if not is_passed_of_query(line.verdict)]
    bad = [line for line in others if line.needs_attention]
    held = [line for line in others if not line.needs_attention]
    more = bad[FIRST_THRESHOLDS:]
    yield replace(
        thresholds,
        thresholds=tuple(bad[:FIRST_THRESHOLDS] or held),
        caption=f"Thresholds of {title} with their verdicts",
    )
    folded = []
    if more:
        folded.append((f"{count(len(more), 'more threshold')} to look at", "More thresholds of {} to look at", more))
    if bad and held:
        folded.append((f"{count(len(held), 'other threshold')}", "Other thresholds of {}", held))
    if passed:
        summary = f"{count(len(passed), 'threshold')} of single queries that passed"
        folded.append((summary, "Thresholds of single queries of {} that passed", passed))
    for summary, caption, lines in folded:
        table = replace(thresholds, thresholds=tuple(lines), unanswered=0, caption=caption.format(title))
        yield Details(summary, (table,))


def _build_tags(by_tag: TagTable, tags: Sequence[str], anchor: str) -> Iterator[Block]:
    """The figures of each tag, which leads to its queries; *tags* are all of the suite, in the order of the filter."""
    yield Paragraph(make_words(f"The {name_mean_column(weighted=by_tag.weighted)} of the queries with each tag."))
    table = build_tags_table(by_tag)
    rows: list[tuple[Cell, ...]] = []
    for row, tag in zip(table.rows, by_tag.rows, strict=True):
        # The first row is that of all queries, and one more may be of those without a tag.
        tag_number = "none" if rows else ""
        if tag.tag is not None:
            tag_number = str(tags.index(tag.tag))
        name_cell, *figure_cells = row
        [name] = name_cell
        link = Link(f"#{anchor}-queries", data={"filters": f"{anchor}-table", "tag": tag_number})
        rows.append(((replace(name, link=link),), *figure_cells))
    heading, *columns = table.columns
    columns = [replace(heading, heading="tag"), *columns]
    yield replace(table, columns=tuple(columns), rows=tuple(rows), caption="Means of each tag")


def _build_links(suite: SuiteReport) -> Iterator[Paragraph]:
    """Where the outcomes are explained, if the documentation has an address."""
    site = find_site()
    # A path in the repository is no link that a reader of the page could follow.
    if site is not None:
        for topic in choose_one_of_each_page(find_suite_topics(suite)):
            address = format_link(topic, site)
            yield Paragraph((Span("See "), Span(address, link=Link(address)), Span(".")))


def _build_overview(table: Table, cells: Sequence[_Cell]) -> Table:
    """The cells side by side, each with its status and a link to its section."""
    rows = []
    for row, cell in zip(table.rows, cells, strict=True):
        link = Link(f"#{cell.address}/")
        # Of one suite in several cells the names are alike.
        if cell.title != cell.suite.name:
            link = replace(link, label=cell.title)
        name = Span(cell.suite.name, link=link)
        status = Span(cell.status, status=cell.status)
        rows.append(((name,), (status,), *row[1:], make_words(str(cell.suite.engine))))
    suite, *others = table.columns
    columns = (suite, Column("outcome"), *others, Column("engine"))
    return replace(table, columns=columns, rows=tuple(rows), caption="Suites")


FIRST_SUITES = 5
"""Suites that need attention whose worst threshold stands at the beginning of the page."""


def _build_first_suites(broken: Sequence[_Cell], overview: Table) -> Section:
    """The worst threshold of each of the first *broken* suites, with its reason; a long table of all is folded away."""
    rows: list[tuple[Cell, ...]] = []
    # A suite that only has a warning does not come before one that fails.
    failed_first = sorted(broken, key=lambda cell: cell.status not in BAD)
    for cell in failed_first[:FIRST_SUITES]:
        name = Span(cell.title, link=Link(f"#{cell.address}/"))
        status = cell.status
        threshold: list[Span] = []
        why = f"{count(len(cell.suite.unanswered), 'query')} without an answer"
        if cell.looked_at:
            worst, *others = cell.looked_at
            status, why = worst.status, worst.reason
            threshold.append(Span(worst.threshold, is_name=True))
            if others:
                threshold.append(Span(f" and {len(others):,} more", Tone.QUIET))
        reason = make_words(shorten(why, LONGEST_FIRST_REASON))
        rows.append(((name,), (Span(status, status=status),), tuple(threshold), reason))
    columns = tuple(Column(heading) for heading in ("suite", "outcome", "threshold", "why"))
    first = Table(columns, tuple(rows), caption="The worst threshold of each suite to look at")
    if len(broken) > FIRST_SUITES:
        more = f"{count(len(broken) - FIRST_SUITES, 'more suite')} to look at, in the table of all"
        first = replace(first, remarks=(more,))
    # The rows of a short one may be requests of a suite, whose figures are what was asked for.
    is_short = len(overview.rows) <= FIRST_SUITES
    every = Part("All suites", (overview,), f"{len(overview.rows):,}", is_open=is_short)
    return Section(make_words("Suites to look at"), (first, every), "first-suites")


def _build_missing(missing: Sequence[MissingSuite]) -> Section:
    blocks: list[Block] = []
    for suite in missing:
        blocks += [Notes(make_notes([suite.path], Tone.WARNING)), Code(suite.reason)]
    return Section(make_words(f"{count(len(missing), 'suite')} did not run"), tuple(blocks), "missing")


def _has_times_to_last_byte(suite: SuiteReport) -> bool:
    """Whether the harness measured the times of the queries of *suite*, because nothing returned its own."""
    has_own_times = any(query.timing.took is not None for query in suite.queries)
    return not has_own_times and any(query.timing.to_last_byte is not None for query in suite.queries)


# ------------------------------------------------------------------------------------------------ queries


def _make_query_views(
    address: str, suite: SuiteReport, tags: Sequence[str], bins: Mapping[str, tuple[Bin, ...]], limits: Limits
) -> list[QueryView]:
    """
    The queries of *suite* as the page shows them, the worst first.

    Args:
        address: What the anchor of each query begins with.
        suite: The report on the suite.
        tags: All tags of the suite, in the order of the filter.
        bins: The spread of the scores of each measure, by its text.
        limits: How many queries have a row, and how many of these a ranking.
    """
    blamed = _find_blamed(suite)
    tag_numbers = {tag: number for number, tag in enumerate(tags)}
    verdicts_by_query = grouped((verdict.query, verdict) for verdict in suite.verdicts)
    measure = suite.summaries[0].measure if suite.summaries else None
    worst_first = sorted(suite.queries, key=lambda query: _rate_badness(query, measure, query.id in blamed))
    greatest = 0.0
    for query in suite.queries:
        # An ideal ranking begins with the greatest gain of the query. To ask hits for theirs would make the rows of all
        # rankings, of which the page shows some: scripts/bench/report-page.
        greatest = max(greatest, find_greatest_gain(query.ideal[:1]))
    views = []
    for number, query in enumerate(worst_first[: limits.rows]):
        steps = [choose_step(query.scores.get(summary.measure), bins[summary.measure]) for summary in suite.summaries]
        view = QueryView(
            anchor=f"{address}/{encode_address(query.id)}",
            query=query,
            tags=tuple(tag_numbers[tag] for tag in query.tags),
            blamed=query.id in blamed,
            detailed=number < limits.details,
            strip=make_strip(query, greatest, suite.depth),
            steps=tuple(steps),
            greatest=greatest,
            verdicts=verdicts_by_query.get(query.id, ()),
        )
        views.append(view)
    return views


def _find_blamed(suite: SuiteReport) -> set[str]:
    """The queries that made a threshold fail."""
    blamed: set[str] = set()
    for verdict in suite.verdicts:
        if verdict.status in BAD:
            blamed.update(verdict.blamed)
    return blamed


def _rate_badness(query: QueryReport, measure: str | None, is_blamed: bool) -> tuple[bool, float, bool, float]:
    """
    A sort key: queries that a threshold blames first, then those without a score, then the lowest scores.

    Of those that are blamed, the ones that fell since the baseline come first: they changed the verdict.
    """
    fall = measure_fall(query, measure) if is_blamed else 0.0
    score = query.scores.get(measure) if measure is not None else None
    if score is None:
        return (not is_blamed, -fall, False, 0.0)
    return (not is_blamed, -fall, True, score)


def render(report: Report, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    if limits is None:
        limits = Limits()
    cells: list[_Cell] = []
    titles, addresses = name_cells(report.suites), make_addresses(report.suites)
    for suite, title, address in zip(report.suites, titles, addresses, strict=True):
        cells.append(_Cell(suite, title, address, f"s{len(cells) + 1}"))
    sections = [_build_missing(report.missing)] if report.missing else []
    # The worst query of the first suite in which a threshold failed is open.
    is_opened = False
    for cell in cells:
        blamed = _find_blamed(cell.suite)
        opens_worst = not is_opened and any(query.id in blamed for query in cell.suite.queries)
        is_opened = is_opened or opens_worst
        sections.append(_build_suite(cell, limits, opens_worst=opens_worst))
    figures = build_overview(report)
    overview = None if figures is None else _build_overview(build_overview_table(figures), cells)
    broken = [cell for cell in cells if cell.needs_attention]
    if overview is not None and broken:
        sections.insert(0, _build_first_suites(broken, overview))
        overview = None
    page = Page(
        document=Document(write_headline(report), make_words(write_closing(report)), tuple(sections), overview),
        product="Relevance report",
        footer=make_words(
            "Grades are the judges'; gain is the worth of a grade. Unjudged is not grade 0. Tied documents have equal "
            "scores or sort values, so nothing defines their order."
        ),
        created=report.timing.created,
        maker=f"relevance-harness {report.harness}; exit status {report.exit_status}",
    )
    return render_page(page)
