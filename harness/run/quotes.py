"""What a report says of quotes: which hits hold them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import MeasureError
from harness.metrics.quotes import find_quotes
from harness.model.report import QuoteReport
from harness.model.run import Ranking, Run
from harness.model.suite import Query, Suite
from harness.words import count


def describe_quotes(query: Query, ranking: Ranking, field: str) -> tuple[QuoteReport, ...]:
    """The quotes of *query* with the hits of *ranking* whose texts in *field* hold them; none if unknown."""
    try:
        found = find_quotes(query, ranking, field)
    except MeasureError:
        return ()
    described = []
    for quote in query.quotes:
        hits = []
        for rank, document in enumerate(ranking.ids, start=1):
            share = found.shares.get(document, {}).get(quote.key)
            if share is not None:
                hits.append((rank, share))
        described.append(QuoteReport(quote.text, quote.key, quote.grade, quote.document, tuple(hits)))
    return tuple(described)


def describe_found_quotes(suite: Suite, run: Run) -> Iterator[str]:
    """How many quotes hits hold, and how many of them only in part."""
    quotes: list[QuoteReport] = []
    for query in suite.queries:
        response = run.responses.get(query.id)
        if query.quotes and isinstance(response, Ranking):
            quotes += describe_quotes(query, response, suite.display.text or "")
    if not quotes:
        return
    held = [quote.share for quote in quotes if quote.share]
    in_part = sum(share < 1 for share in held)
    sentence = f"{len(held):,} of {count(len(quotes), 'quote')} are in hits"
    if in_part:
        sentence += f", {in_part:,} of them cut by the border of a hit, which count by the share that it holds"
    yield sentence
