"""What a report says of quotes: which hits hold them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.metrics.quotes import place_quotes
from harness.model.report import QuoteReport
from harness.model.run import Ranking, Response, Run
from harness.model.suite import Query, Suite
from harness.words import count


def describe_quotes(
    query: Query, ranking: Ranking, field: str, before: Response | None = None
) -> tuple[QuoteReport, ...]:
    """
    The quotes of *query* with their places in *ranking*, by the texts in *field*, and in the ranking *before* it.

    None if the texts of *ranking* are not known.
    """
    places = place_quotes(query, ranking, field)
    if places is None:
        return ()
    places_before = place_quotes(query, before, field) if isinstance(before, Ranking) else None
    described = []
    for quote in query.quotes:
        was = None if places_before is None else places_before[quote.key]
        described.append(QuoteReport(quote.text, quote.key, quote.grade, quote.document, places[quote.key], was))
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
