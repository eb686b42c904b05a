"""
Quotes: judgments of texts in place of ids, which survive that documents are cut into other chunks.

This is the one place where hits meet quotes. `look_for_quotes` finds them in the texts of hits, and `cover_quotes`
makes subtopics of them, which measures of novelty score. Pure.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from harness.errors import MeasureError
from harness.masking import fingerprint
from harness.metrics.ranking import Covering, DiverseRanking, without_duplicates
from harness.model.run import FoundQuotes, QuotePlaces, Ranking
from harness.model.suite import Mark, Query, Quote

LEAST_SHARE = 0.5
"""The share of a quote below which a chunk that has a part of it does not count."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)
"""Characters that nobody sees, such as a soft hyphen or a blank without width: Unicode's Default_Ignorable."""


def fold_text(text: str) -> str:
    r"""
    *text* as quotes are compared: compatible characters are one (NFKC), case is folded, blanks collapse, and characters
    that nobody sees are left out.

    >>> fold_text("The  VALVE\nopens at 3\u00a0\uff42ar")
    'the valve opens at 3 bar'
    """
    # Folding the case may take characters apart again.
    visible = _INVISIBLE.sub("", text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return " ".join(folded.split())


def make_quote(text: str, grade: float = 1.0, document: str = "", mark: Mark | None = None) -> Quote:
    """A quote of *text*; two that differ in their form only have the same key."""
    return Quote(text, fingerprint(fold_text(text)), grade, document, mark or Mark())


def find_share(quote: str, text: str) -> float:
    """
    The share of *quote* that *text* holds, both folded: 1 for all of it, 0 for less than half.

    A part counts only where the border of the text cuts the quote: the text ends with the beginning of the quote, or
    begins with its end, or is a part of it. The share is that of the characters. What merely resembles the quote in the
    middle of a text counts nothing: it may say the opposite.

    >>> find_share("the valve opens at 3 bar", "note: the valve opens at 3 bar.")
    1.0
    >>> round(find_share("the valve opens at 3 bar", "note: the valve opens at"), 2)
    0.75
    >>> find_share("the valve opens at 3 bar", "the valve opens at 4 bar")
    0.0
    """
    if not quote or not text:
        return 0.0
    place = text.find(quote)
    while place >= 0:
        if not (_cuts_word(text, place) or _cuts_word(text, place + len(quote))):
            return 1.0
        place = text.find(quote, place + 1)
    least = math.ceil(len(quote) * LEAST_SHARE)
    if len(text) >= least and text in quote:
        return len(text) / len(quote)
    return max(_measure_beginning(quote, text, least), _measure_end(quote, text, least)) / len(quote)


def _measure_beginning(quote: str, text: str, least: int) -> int:
    """How many characters of the beginning of *quote*, but not all, *text* ends with; 0 for fewer than *least*."""
    # At the border itself a chunker may have cut within a word, so only the other side is checked for that.
    place = text.find(quote[:least], max(0, len(text) - len(quote) + 1))
    while place >= 0:
        if quote.startswith(text[place:]) and not _cuts_word(text, place):
            return len(text) - place
        place = text.find(quote[:least], place + 1)
    return 0


def _measure_end(quote: str, text: str, least: int) -> int:
    """How many characters of the end of *quote*, but not all, *text* begins with; 0 for fewer than *least*."""
    place = text.rfind(quote[-least:], 0, len(quote) - 1)
    while place >= 0:
        length = place + least
        if quote.endswith(text[:length]) and not _cuts_word(text, length):
            return length
        place = text.rfind(quote[-least:], 0, length - 1)
    return 0


def _cuts_word(text: str, place: int) -> bool:
    """
    Whether *place* is within a word or a number of *text*: "3 bar" is not in "13 bar", nor in "1.3 bar".

    Letters of scripts without case, of which many write no blanks between words, begin a word anywhere.
    """
    if not 0 < place < len(text):
        return False
    if all(_is_of_word(character) for character in text[place - 1 : place + 1]):
        return True
    around = (text[max(0, place - 2) : place + 1], text[place - 1 : place + 2])
    return any(_NUMBER_WITH_MARK.fullmatch(part) for part in around)


_NUMBER_WITH_MARK = re.compile(r"\d[.,]\d")
"""The middle of a number such as 3.5 or 3,000."""


def _is_of_word(character: str) -> bool:
    return character.islower() or character.isdecimal()


def look_for_quotes(quotes: Iterable[Quote], texts: Mapping[str, Sequence[str]]) -> FoundQuotes:
    """How much of each of *quotes* is in the *texts* of each hit; of several texts the best counts."""
    folded_quotes = {quote.key: fold_text(quote.text) for quote in quotes}
    shares: dict[str, dict[str, float]] = {}
    for document, texts_of_hit in texts.items():
        folded_texts = [fold_text(text) for text in texts_of_hit]
        shares_of_hit = {}
        for key, quote in folded_quotes.items():
            share = max((find_share(quote, text) for text in folded_texts), default=0.0)
            if share:
                shares_of_hit[key] = share
        if shares_of_hit:
            shares[document] = shares_of_hit
    return FoundQuotes(tuple(folded_quotes), shares)


def find_quotes(query: Query, ranking: Ranking, field: str, *, with_tail: bool = False) -> FoundQuotes:
    """
    The quotes of *query* that the hits of *ranking* hold, in the texts of *field*; those of a kept ranking as kept.

    *with_tail* looks at the hits of the tail too, which may take the places of the last hits.

    Raises:
        MeasureError: The text of a hit is not known, no hit has one, or a kept ranking was not searched for a quote.
    """
    known = ranking.found_quotes
    if known is not None:
        unknown = list_unknown_quotes(query, known)
        if unknown:
            raise MeasureError(f"the hits were kept before the quote {unknown[0].text!r} was added")
        return known
    texts: dict[str, list[str]] = {}
    hits = (*ranking.hits, *ranking.tail) if with_tail else ranking.hits
    for hit in hits:
        if hit.values is None:
            raise MeasureError(f"the text of the hit {hit.id!r} is not known, so quotes cannot be looked for in it")
        texts[hit.id] = [str(value) for value in hit.values.get(field, ())]
    if hits and not any(texts.values()):
        raise MeasureError(f"no hit has a text in {field!r}, where `display.text` says that quotes are looked for")
    return look_for_quotes(query.quotes, texts)


def place_quotes(query: Query, ranking: Ranking, field: str) -> dict[str, QuotePlaces] | None:
    """The places of each quote of *query* in the hits of *ranking*, by its key; None if what they hold is not known."""
    try:
        found = find_quotes(query, ranking, field)
    except MeasureError:
        return None
    places: dict[str, QuotePlaces] = {quote.key: () for quote in query.quotes}
    for rank, document in enumerate(ranking.ids, start=1):
        for key, share in found.shares.get(document, {}).items():
            if key in places:
                places[key] += ((rank, share),)
    return places


def list_unknown_quotes(query: Query, found: FoundQuotes) -> list[Quote]:
    """The quotes of *query* that were not looked for."""
    return [quote for quote in query.quotes if quote.key not in found.quotes]


def cover_quotes(
    ranking: Sequence[str], quotes: Iterable[Quote], found: FoundQuotes, level: float, cutoff: int | None
) -> DiverseRanking:
    """
    The subtopics that the documents of *ranking* cover, down to *cutoff*: quotes of at least the grade *level*.

    A quote counts once, at the first hit that holds it. A hit that holds more of it than those above it adds the rest.
    Nothing is known of other chunks, so that the ideal hits are whole documents, each with all of its quotes.
    """
    wanted = {quote.key: quote for quote in quotes if quote.grade >= level}
    shares_so_far: dict[str, float] = {}
    hits: list[dict[str, Covering]] = []
    for document in without_duplicates(ranking)[:cutoff]:
        covered = {}
        for key, share in found.shares.get(document, {}).items():
            added = share - shares_so_far.get(key, 0.0)
            if key in wanted and added > 0:
                covered[key] = Covering(wanted[key].grade, added)
                shares_so_far[key] = share
        hits.append(covered)
    by_document: dict[tuple[str, str], dict[str, Covering]] = {}
    for quote in wanted.values():
        # A quote of no document may be anywhere.
        place = (quote.document, "") if quote.document else ("", quote.key)
        by_document.setdefault(place, {})[quote.key] = Covering(quote.grade)
    return DiverseRanking(hits, [by_document[place] for place in sorted(by_document, reverse=True)])
