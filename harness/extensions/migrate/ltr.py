"""
Reads ratings for learning to rank: lines of SVMrank, as Quepid and RankLib write them, and of LETOR.

Source: the format of SVMrank (Joachims), the comments of LETOR 4.0, and the judgment lists of the Learning to Rank
plugin of Elasticsearch, whose header has the texts of the queries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.drafts.draft import Draft, DraftQuery
from harness.extensions.migrate.json_nodes import read_import
from harness.files.opening import TextSource
from harness.files.tables import read_number
from harness.model.suite import Mark

_LINE = re.compile(
    r"\s*(?P<grade>\S+)\s+qid:(?P<id>\S+)(?P<features>(?:\s+\d+:\S+)*)\s*#\s*"
    r"(?:docid\s*=\s*(?P<named>\S+)(?P<more>.*)|(?P<document>\S+)(?:\s+(?P<text>\S.*?))?\s*)"
)
"""
A line of SVMrank. ``#`` precedes a document and the query's text, as in Quepid, or the document's title, as in the
judgment lists of the Learning to Rank plugin, or ``docid = …``, as in LETOR.
"""

_HEADER = re.compile(r"\s*#\s*qid:\s*(?P<id>[^\s:]+)\s*:\s*(?P<text>\S.*?)\s*")
_WEIGHTED = re.compile(r"(?P<text>\S.*?)\s*\*\s*(?P<weight>\d+(?:\.\d+)?)")
"""The text of a header with the weight of the query, ``rambo*2``."""


@dataclass(frozen=True, slots=True)
class _HeaderQuery:
    """A query of the header, ``# qid:1: rambo``."""

    text: str
    place: Mark
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class _Rating:
    """A line with a rating; *text* is what stands behind the document, the text of the query or a title."""

    qid: str
    document: str
    grade: float
    text: str
    place: Mark


def read_ltr(path: Path, draft: Draft) -> None:
    """
    Add the ratings in *path* to *draft*.

    Each qid is a query. Its text is that of the header, or else what stands behind the document in all of its lines. If
    its lines differ in that, they have titles there, and the query gets no text but its qid as id.

    Raises:
        InputError: The file cannot be read, a line has no rating or no document, a document has two grades, or a qid
            has two texts in the header.
    """
    source = read_import(path)
    header = _read_header(source)
    ratings_by_qid: dict[str, list[_Rating]] = {qid: [] for qid in header}
    for rating in _read_ratings(source, draft):
        ratings_by_qid.setdefault(rating.qid, []).append(rating)
    have_keyword = _have_keyword(ratings_by_qid.values())
    texts: set[str] = set()
    for qid, ratings in ratings_by_qid.items():
        if qid in header:
            text, place = header[qid].text, header[qid].place
        else:
            text, place = _find_text(ratings, have_keyword=have_keyword), ratings[0].place
        query = _add_query(draft, qid, text, place, has_text_already=text in texts)
        texts.add(text)
        if qid in header:
            query.weight = header[qid].weight
        what = "what stands behind the docid"
        if not text:
            what += ", which differs in the lines of a qid; a header '# qid:1: TEXT' gives the query its text"
        for rating in ratings:
            if rating.text not in ("", text):
                draft.add_leftover(rating.place, what, first=repr(rating.text))
            draft.add_judgment(query, rating.document, rating.grade, rating.place)


def _read_header(source: TextSource) -> dict[str, _HeaderQuery]:
    """The queries of the header by their qids, with weights if all have one and they differ."""
    queries: dict[str, _HeaderQuery] = {}
    for number, line in enumerate(source.lines, start=1):
        match = _HEADER.fullmatch(line)
        if match is None:
            continue
        qid, text = match["id"], match["text"]
        if qid in queries and queries[qid].text != text:
            first = queries[qid]
            message = f"qid:{qid} has the text {text!r} here, and {first.text!r} in line {first.place.line}"
            raise source.make_error(number, 1, f"{message}; keep the right one")
        queries.setdefault(qid, _HeaderQuery(text, Mark(source.path, number, 1)))
    # The text of one query may end with * and a number by itself.
    matches = {qid: _WEIGHTED.fullmatch(query.text) for qid, query in queries.items()}
    if not all(matches.values()):
        return queries
    weights = {match["weight"] for match in matches.values() if match is not None}
    weighted: dict[str, _HeaderQuery] = {}
    for qid, match in matches.items():
        assert match is not None
        weight = float(match["weight"]) if len(weights) > 1 else None
        weighted[qid] = _HeaderQuery(match["text"], queries[qid].place, weight)
    return weighted


def _read_ratings(source: TextSource, draft: Draft) -> Iterator[_Rating]:
    """The lines with ratings; what a suite has no place for is noted."""
    for number, line in enumerate(source.lines, start=1):
        place = Mark(source.path, number, 1)
        if not line.strip() or _HEADER.fullmatch(line):
            continue
        if line.lstrip().startswith("#"):
            # An empty comment separates others.
            if line.strip(" \t#"):
                draft.add_leftover(place, "lines that are comments")
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            message = "expected a line such as '3 qid:1 # sku-17 red shoes'; for TREC qrels use the format trec"
            raise source.make_error(number, 1, message)
        grade = read_number(match["grade"])
        if grade is None or not math.isfinite(grade):
            raise source.make_error(number, 1, f"found {match['grade']!r}, expected a rating, a finite number")
        if match["features"]:
            draft.add_leftover(place, "features; a suite has grades alone")
        comment = (match["more"] or "").strip()
        if comment:
            draft.add_leftover(place, "what stands behind the docid", first=repr(comment))
        yield _Rating(match["id"], match["document"] or match["named"], grade, match["text"] or "", place)


def _list_texts(ratings: Iterable[_Rating]) -> list[str]:
    """The different texts of *ratings*, in their order."""
    return list(dict.fromkeys(rating.text for rating in ratings if rating.text))


def _have_keyword(ratings_of_queries: Iterable[Sequence[_Rating]]) -> bool:
    """Whether all lines have the query's text before a title, as in ``rocky@Rocky II``."""
    have_titles = False
    for ratings in ratings_of_queries:
        texts = _list_texts(ratings)
        keywords = {text.partition("@")[0] for text in texts}
        if len(keywords) > 1 or not all("@" in text for text in texts):
            return False
        # The text of a query may have an @ by itself, as an address; but then it is the same in all lines.
        have_titles = have_titles or len(texts) > 1
    return have_titles


def _find_text(ratings: Sequence[_Rating], *, have_keyword: bool) -> str:
    """The text of the query that all *ratings* are of; "" if they have none or several."""
    texts = _list_texts(ratings)
    if have_keyword and texts:
        return texts[0].partition("@")[0].strip()
    return texts[0] if len(texts) == 1 else ""


def _add_query(draft: Draft, qid: str, text: str, place: Mark, *, has_text_already: bool) -> DraftQuery:
    """Add the query *qid*; that its *text* is that of another query of the file is noted."""
    if not text:
        return draft.add(qid, place)
    if not has_text_already:
        return draft.find_or_add_text(text)
    what = "a text with several qid; each is a query of its own"
    draft.add_leftover(place, what, first=f"qid:{qid}, {text!r}")
    return draft.add_text(text)
