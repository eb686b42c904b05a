"""A report as one HTML page: this module chooses and limits the content, the template lays it out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.errors import SearchError
from harness.gate import compute_exit_status
from harness.means import are_weighted
from harness.model.comparison import ComparisonReport
from harness.model.report import QueryReport, Report, SuiteReport
from harness.model.request import SentRequest
from harness.model.run import Highlight, Status, Verdict
from harness.model.scores import Outcome
from harness.pages import choose_one_of_each_page, find_site, format_link
from harness.report.attention import (
    BAD,
    is_hardly_judged,
    is_passed_of_query,
    measure_fall,
    order_verdicts,
    split_unanswered,
)
from harness.report.document import SuiteSection, ThresholdLine, join_spans, split_marked
from harness.report.html.charts import (
    Bin,
    Strip,
    choose_shade,
    choose_step,
    count_bins,
    find_greatest_gain,
    make_strip,
    place_meter,
    plot_bins,
)
from harness.report.overview import (
    TagTable,
    build_overview,
    build_tag_table,
    find_differing_parts,
    format_compared,
    format_mean,
    format_mean_change,
)
from harness.report.run_document import build_run_document, build_threshold_lines
from harness.report.run_sentences import (
    describe_place,
    find_left_documents,
    find_old_ranks,
    format_grade,
    format_query_change,
)
from harness.report.sentences import (
    explain_no_interval,
    format_matching,
    format_mean_interval,
    format_score,
    format_tally,
    format_value,
    name_mean_column,
    printable,
)
from harness.report.topics import find_suite_topics
from harness.words import count, grouped, shorten

SCRIPT = "report.js"
"""The script of a report's pages."""


def render_template(
    jinja: Environment, template: str, styles: Sequence[str], *, script: str = SCRIPT, **values: object
) -> str:
    """Render *template* with *values*, and with *styles* and a *script*; each is the name of a file."""
    style, source = "".join(map(_read_template, styles)), _read_template(script)
    return jinja.get_template(template).render(
        **values,
        style=Markup(style),
        script=Markup(source),
        style_hash=_hash_source(style),
        script_hash=_hash_source(source),
    )


_BREAKS = re.compile(r"(?=@)|(?<=,)")


def allow_breaks(measure: str) -> Markup:
    """*measure*, whose text may continue on the next line before its cutoff and between its parameters."""
    return Markup("<wbr>").join(map(printable, _BREAKS.split(measure)))


def make_environment(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """A new environment of Jinja, with *filters* and those that every page uses."""
    made = Environment(
        loader=FunctionLoader(_read_template), autoescape=True, undefined=StrictUndefined, finalize=_make_printable
    )
    made.filters |= {
        "breakable": allow_breaks,
        "clipped": shorten,
        "counted": count,
        "tally": format_tally,
        "grade_text": format_grade,
        "joined": join_spans,
        "listed": lambda texts: ", ".join(texts),  # jinja's own join returns markup, which is not made printable again
        "marked": mark_words,
        "mean_heading": lambda weighted: name_mean_column(weighted=weighted),
        "mean_interval": format_mean_interval,
        "meter_marks": place_meter,
        "no_interval": explain_no_interval,
        "number": lambda count: "–" if count is None else f"{count:,}",
        "plain": format_value,
        "plotted": plot_bins,
        "score": format_score,
        "shade": choose_shade,
        "status_class": lambda status: "status-" + status.replace(" ", "-"),
        **filters,
    }
    made.tests["passed_of_query"] = lambda threshold: is_passed_of_query(threshold.verdict)
    return made


@cache
def _read_template(name: str) -> str:
    return (resources.files("harness.report.html") / "templates" / name).read_text(encoding="utf-8")


def mark_words(text: str, marked: tuple[tuple[int, int], ...], length: int) -> Markup:
    """*text*, cut to *length* characters, with the places of words that are *marked* in it."""
    shown = Highlight(text, marked).shorten(length)
    pieces = []
    for part, is_marked in split_marked(shown.text, shown.spans):
        piece = escape(printable(part))
        pieces.append(Markup("<mark>{}</mark>").format(piece) if is_marked else piece)
    return Markup("").join(pieces)


def _make_printable(value: Any) -> Any:
    """*value* made printable, as on a terminal, before it is escaped; our own markup is not changed."""
    return value if isinstance(value, Markup | int | float) else printable(str(value))


def _hash_source(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def describe_omitted(report: SuiteReport | ComparisonReport, limits: Limits, rows: str, details: str) -> Iterator[str]:
    """
    What a page of *limits* leaves out of *report*: thresholds, those that did not hold first, and queries.

    *rows* says which queries have no row, *details* which of those with a row have no rankings.
    """
    hidden = order_verdicts(report.verdicts)[limits.thresholds :]
    for ending, number in Counter(map(_describe_ending, hidden)).items():
        yield f"{count(number, 'threshold')} that {ending}"
    queries = len(report.queries)
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
    return Status.PASSED if statuses else Status.NOT_DECIDED


def _describe_ending(verdict: Verdict) -> str:
    if verdict.status not in BAD:
        return "held"
    return "passed though expected to fail" if verdict.is_unexpected_pass else "did not hold"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the page for each suite: *rows* of queries, *details* of these with rankings, and so on."""

    rows: int = 5_000
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
class SuiteView:
    """
    What the page shows of a suite, or of a cell: what the *section* of the document says, and pictures.

    *address* begins the addresses of its queries, *anchor* those of other parts of the page. *anchors* are those of the
    queries with rankings, by id. *bins* has the spread of the scores of each measure.

    *by_tag* are the figures of the *tags*, *weighted* says that the queries' weights differ. *to_last_byte* says that
    the times of queries are those to the last byte of their answers. *links* lead to what explains the outcomes, if the
    documentation has an address.
    """

    anchor: str
    address: str
    section: SuiteSection
    suite: SuiteReport
    status: Status
    thresholds: Sequence[ThresholdLine]
    anchors: Mapping[str, str]
    bins: Mapping[str, tuple[Bin, ...]]
    queries: tuple[QueryView, ...]
    outcomes: Mapping[Outcome, int]
    tags: tuple[str, ...]
    by_tag: TagTable | None
    weighted: bool
    to_last_byte: bool
    left_out: tuple[str, ...]
    links: tuple[str, ...]


def make_suite_views(report: Report, sections: Sequence[SuiteSection], limits: Limits) -> tuple[SuiteView, ...]:
    """The page's view of each suite of *report*, which has the *sections*."""
    views: list[SuiteView] = []
    for section, address, suite in zip(sections, make_addresses(report.suites), report.suites, strict=True):
        views.append(_make_suite_view(f"s{len(views) + 1}", section, address, suite, limits))
    return tuple(views)


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


def _make_suite_view(anchor: str, section: SuiteSection, address: str, suite: SuiteReport, limits: Limits) -> SuiteView:
    all_tags: set[str] = set()
    for query in suite.queries:
        all_tags.update(query.tags)
    tags = tuple(sorted(all_tags))
    bins = {}
    for summary in suite.summaries:
        bins[summary.measure] = count_bins(query.scores.get(summary.measure) for query in suite.queries)
    queries = _make_query_views(address, suite, tags, bins, limits)
    links = []
    site = find_site()
    # A path in the repository is no link that a reader of the page could follow.
    if site is not None:
        links = [format_link(topic, site) for topic in choose_one_of_each_page(find_suite_topics(suite))]
    return SuiteView(
        anchor=anchor,
        address=address,
        section=section,
        suite=suite,
        status=find_worst_status(suite.verdicts, compute_exit_status([suite])),
        thresholds=list_thresholds(suite, limits.thresholds),
        anchors={view.query.id: view.anchor for view in queries if view.detailed},
        bins=bins,
        queries=tuple(queries),
        outcomes=Counter(query.outcome for query in suite.queries),
        tags=tags,
        by_tag=build_tag_table(suite, most=limits.tags, measures=limits.measures),
        weighted=are_weighted(query.weight for query in suite.queries),
        to_last_byte=_has_times_to_last_byte(suite),
        left_out=tuple(describe_omitted(suite, limits, "with the best scores", "with better scores than those shown")),
        links=tuple(links),
    )


def _has_times_to_last_byte(suite: SuiteReport) -> bool:
    """Whether the harness measured the times of the queries of *suite*, because nothing returned its own."""
    has_own_times = any(query.timing.took is not None for query in suite.queries)
    return not has_own_times and any(query.timing.to_last_byte is not None for query in suite.queries)


def list_thresholds(suite: SuiteReport, most: int) -> list[ThresholdLine]:
    """The first *most* thresholds of *suite* in the order of the document, also the passed ones of single queries."""
    _, verdicts = split_unanswered(suite)
    return build_threshold_lines(suite, order_verdicts(verdicts)[:most])


# ------------------------------------------------------------------------------------------------ queries


def _make_query_views(
    address: str, suite: SuiteReport, tags: Sequence[str], bins: Mapping[str, tuple[Bin, ...]], limits: Limits
) -> list[QueryView]:
    blamed: set[str] = set()
    for verdict in suite.verdicts:
        if verdict.status in BAD:
            blamed.update(verdict.blamed)
    numbers = {tag: number for number, tag in enumerate(tags)}
    verdicts_by_query = grouped((verdict.query, verdict) for verdict in suite.verdicts)
    measure = suite.summaries[0].measure if suite.summaries else None
    worst_first = sorted(suite.queries, key=lambda query: _rate_badness(query, measure, query.id in blamed))
    greatest = 0.0
    for query in suite.queries:
        greatest = max(greatest, find_greatest_gain((*query.ideal, *query.ranking)))
    views = []
    for place, query in enumerate(worst_first[: limits.rows]):
        steps = [choose_step(query.scores.get(summary.measure), bins[summary.measure]) for summary in suite.summaries]
        view = QueryView(
            anchor=f"{address}/{encode_address(query.id)}",
            query=query,
            tags=tuple(numbers[tag] for tag in query.tags),
            blamed=query.id in blamed,
            detailed=place < limits.details,
            strip=make_strip(query, greatest, suite.depth),
            steps=tuple(steps),
            greatest=greatest,
            verdicts=verdicts_by_query.get(query.id, ()),
        )
        views.append(view)
    return views


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
    document = build_run_document(report)
    suites = make_suite_views(report, document.suites, limits)
    # The worst query of the first suite in which a threshold failed is open.
    opened = None
    for view in suites:
        if opened is None and view.queries and view.queries[0].blamed:
            opened = view.queries[0].anchor
    return render_template(
        _make_run_environment(),
        "report.html.jinja",
        ["report.css"],
        report=report,
        suites=suites,
        opened=opened,
        limits=limits,
        overview=build_overview(report),
        product="Relevance report",
        document=document,
        headline=document.headline,
        closing=document.closing,
    )


def format_request(sent: SentRequest) -> list[str]:
    """A request in the format of the engines' consoles: method and path, then the body."""
    lines = [f"{sent.method} {sent.url}"]
    if sent.body is not None:
        lines += json.dumps(sent.body, indent=2, ensure_ascii=False).splitlines()
    return lines


@cache
def _make_run_environment() -> Environment:
    return make_environment(
        {
            "change": format_mean_change,
            "changed": format_query_change,
            "hardly_judged": is_hardly_judged,
            "left": find_left_documents,
            "matching": format_matching,
            "old_ranks": find_old_ranks,
            "ranks": lambda query: {document.id: document.rank for document in query.ranking},
            "request_lines": format_request,
            "sign_class": lambda text: {"+": "rise", "-": "fall"}.get(text[:1], "muted"),
            "tag_mean": format_mean,
            "missing_place": describe_place,
            "beside": format_compared,
        }
    )
