"""The quotes of queries, as they are written in a suite or a query file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.metrics.quotes import fold_text, make_quote
from harness.model.suite import Display, Query, Quote
from harness.suites.grades import read_written_grade
from harness.suites.shape import QuoteShape
from harness.suites.yaml import Problems
from harness.words import shorten


def read_quotes(
    written: Iterable[QuoteShape], grade_names: Mapping[str, float] | None, problems: Problems
) -> tuple[Quote, ...]:
    """The quotes of a query; one that is there before is a problem."""
    quotes: dict[str, Quote] = {}
    for shape in written:
        if shape.text.unset:
            continue
        grade: float | None = 1.0
        if shape.grade is not None:
            grade = read_written_grade(shape.grade, grade_names, problems)
        if grade is None:
            continue
        document = "" if shape.document is None else str(shape.document)
        quote = make_quote(str(shape.text), grade, document, shape.text.mark)
        if not fold_text(quote.text):
            problems.note(quote.mark, "the quote has no visible character; expected a text that a hit can hold")
        elif quote.key in quotes:
            first = quotes[quote.key].mark
            problems.note(
                quote.mark, f"the quote {shorten(quote.text)!r} is given twice, first at {first}", "duplicate"
            )
        else:
            quotes[quote.key] = quote
    return tuple(quotes.values())


def merge_quotes(from_file: Query, from_suite: Query, problems: Problems) -> tuple[Quote, ...]:
    """The quotes of a query in its file and in the suite; one that both have must be the same."""
    quotes = {quote.key: quote for quote in from_file.quotes}
    for quote in from_suite.quotes:
        first = quotes.setdefault(quote.key, quote)
        if (first.grade, first.document) != (quote.grade, quote.document):
            message = f"the quote {shorten(quote.text)!r} has another grade or document at {first.mark}"
            problems.note(quote.mark, message)
    return tuple(quotes.values())


def check_quote_field(queries: Sequence[Query], display: Display, problems: Problems) -> None:
    """Check that the suite says in which field quotes are looked for."""
    if display.text is not None:
        return
    for query in queries:
        if query.quotes:
            message = "quotes are looked for in the field `text` of `display`, which the suite does not name"
            problems.note(query.quotes[0].mark, f"{message}; expected 'display: {{text: FIELD}}'")
            return
