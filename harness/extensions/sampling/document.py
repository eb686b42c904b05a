"""The document of a sample of the queries of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.extensions.sampling.draw import Sample, StratumShare, Way
from harness.extensions.sampling.logs import ReadLog
from harness.extensions.sampling.tally import CountedQueries, LeftOut
from harness.report.document import (
    Block,
    Column,
    ColumnKind,
    Document,
    Notes,
    Section,
    Span,
    Table,
    Tone,
    make_columns,
    make_notes,
    make_row,
)
from harness.words import count, format_exactly

WAYS = {
    Way.FREQUENCY: "the most frequent",
    Way.RANDOM: "drawn at random",
    Way.TRAFFIC: "drawn in proportion to traffic",
    Way.STRATA: "drawn from each stratum in proportion to traffic",
}


def build_sample_document(
    logs: Sequence[ReadLog], counted: CountedQueries, sample: Sample, *, lists_queries: bool
) -> Document:
    """
    What was read, what was drawn of each stratum, what the weighted mean estimates, and what was left out.

    With *lists_queries* each query that was drawn, too.
    """
    total = f"{_count_searches(counted.traffic)} for {count(len(counted.queries), 'query')}"
    notes = [*make_notes(list(_describe_sample(sample, counted)), Tone.PLAIN)]
    notes += make_notes(list(map(_describe_left_out, counted.left_out)), Tone.NOTED)
    blocks: list[Block] = [
        Notes(make_notes([f"{total} in {count(counted.spellings, 'spelling')}"], Tone.PLAIN)),
        _build_strata(sample),
        Notes(tuple(notes)),
    ]
    if lists_queries:
        blocks.append(_build_drawn(sample))
    sections = []
    for log in logs:
        heading = (Span(log.path, Tone.STRONG), Span(f"  {log.form}, {_count_searches(log.searches)}"))
        # What is said of all logs stands below the last one.
        blocks_below = tuple(blocks) if log is logs[-1] else ()
        sections.append(Section(heading, blocks_below))
    return Document("", (), tuple(sections))


def _count_searches(number: int) -> str:
    """The number of searches, in words."""
    if number == 1:
        return "1 search"
    return f"{number:,} searches"


def _build_strata(sample: Sample) -> Table:
    """A line for each stratum, and one for all."""
    figures = ("each sent", "queries", "searches", "share", "sampled", "covers")
    columns = (Column("stratum", ColumnKind.WORD), *make_columns(ColumnKind.FIGURE, *figures))
    total = sum(share.traffic for share in sample.strata)
    everything = StratumShare(
        sample.strata[0].stratum,
        queries=sum(share.queries for share in sample.strata),
        traffic=total,
        least_traffic=0,
        most_traffic=0,
        drawn=len(sample.queries),
        drawn_traffic=sum(share.drawn_traffic for share in sample.strata),
    )
    rows = [make_row(share.stratum, _format_range(share), *_format_figures(share, total)) for share in sample.strata]
    rows.append(make_row("all", "", *_format_figures(everything, total)))
    return Table(columns, tuple(rows))


def _format_range(share: StratumShare) -> str:
    """The traffic of the queries of a stratum, from the most to the least."""
    if share.queries == 0:
        return "–"
    if share.least_traffic == share.most_traffic:
        return f"{share.most_traffic:,}"
    return f"{share.most_traffic:,} to {share.least_traffic:,}"


def _format_figures(share: StratumShare, total: int) -> tuple[str, ...]:
    """The queries of a stratum and their searches, their share of the *total*, and what was drawn of them."""
    return (
        f"{share.queries:,}",
        f"{share.traffic:,}",
        _format_share(share.traffic, total),
        f"{share.drawn:,}",
        _format_share(share.drawn_traffic, share.traffic),
    )


def _format_share(part: int, total: int) -> str:
    """How many per cent *part* is of *total*; a dash where that is nothing."""
    if not total:
        return "–"
    return f"{100 * part / total:.1f}%"


def _describe_sample(sample: Sample, counted: CountedQueries) -> Iterator[str]:
    """How queries were drawn, and what a weighted mean over them estimates."""
    plan = sample.plan
    if len(sample.queries) == len(counted.queries):
        yield f"{count(len(sample.queries), 'query')}, all of the log; the weight of each is its number of searches"
        return
    yield f"{count(len(sample.queries), 'query')}, {WAYS[plan.way]}, seed {plan.seed}"
    if plan.way in (Way.TRAFFIC, Way.STRATA):
        yield "a weighted mean estimates the mean over all searches"
        return
    drawn_traffic = sum(share.drawn_traffic for share in sample.strata)
    share = _format_share(drawn_traffic, counted.traffic)
    yield f"a weighted mean is that of {share} of the searches; --by traffic or strata estimates that of all"


def _describe_left_out(left_out: LeftOut) -> str:
    """How many queries were left out for one reason, and what the most frequent of them look like."""
    sentence = f"left out: {count(left_out.queries, 'query')} with {left_out.reason.value}"
    sentence += f", {_count_searches(left_out.traffic)}"
    if left_out.shapes:
        sentence += f": {', '.join(left_out.shapes)}"
    return sentence


def _build_drawn(sample: Sample) -> Table:
    """The queries of *sample*, each with its searches and its weight."""
    figures = make_columns(ColumnKind.FIGURE, "searches", "weight")
    rows = []
    for drawn in sample.queries:
        weight = format_exactly(round(drawn.weight, 2))
        rows.append(make_row(drawn.query.text, drawn.stratum, f"{drawn.query.traffic:,}", weight))
    return Table((Column("query"), Column("stratum"), *figures), tuple(rows))
