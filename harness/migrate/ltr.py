"""
Reads ratings for learning to rank: lines of SVMrank, as Quepid and RankLib write them, and of LETOR.

Source: the format of SVMrank (Joachims), and the comments of LETOR 4.0.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.files.records import read_number
from harness.migrate.draft import Draft, DraftQuery
from harness.migrate.json_nodes import read_import
from harness.model import Mark

_LINE = re.compile(
    r"\s*(?P<grade>\S+)\s+qid:(?P<id>\S+)(?P<features>(?:\s+\d+:\S+)*)\s*#\s*"
    r"(?:docid\s*=\s*(?P<named>\S+)(?P<more>.*)|(?P<document>\S+)(?:\s+(?P<text>\S.*?))?\s*)"
)
"""A line of SVMrank. ``#`` precedes a document and the query's text, as in Quepid, or ``docid = …``, as in LETOR."""


def read_ltr(path: Path, draft: Draft) -> None:
    """
    Add the ratings in *path* to *draft*.

    A query is identified by its qid and its text: one text with two qids gives two queries. A query without a text gets
    its qid as id.

    Raises:
        InputError: The file cannot be read, a line has no rating or no document, or a document has two grades.
    """
    source = read_import(path)
    queries = _Queries(draft)
    for number, line in enumerate(source.lines, start=1):
        place = Mark(source.path, number, 1)
        if not line.strip():
            continue
        if line.lstrip().startswith("#"):
            draft.leave(place, "lines that are comments")
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            message = "expected a line such as '3 qid:1 # sku-17 red shoes'; for TREC qrels use the format trec"
            raise source.make_error(number, 1, message)
        grade = read_number(match["grade"])
        if grade is None or not math.isfinite(grade):
            raise source.make_error(number, 1, f"found {match['grade']!r}, expected a rating, a finite number")
        if match["features"]:
            draft.leave(place, "features; a suite has grades alone")
        comment = (match["more"] or "").strip()
        if comment:
            draft.leave(place, "what stands behind the docid", first=repr(comment))
        query = queries.find_or_add(match["id"], match["text"] or "", place)
        draft.judge(query, match["document"] or match["named"], grade, place)


@dataclass(slots=True)
class _Queries:
    """The queries of a file of ratings."""

    draft: Draft
    by_qid: dict[str, dict[str, DraftQuery]] = field(default_factory=dict)
    """The queries of each qid by their texts."""
    texts: set[str] = field(default_factory=set)

    def find_or_add(self, qid: str, text: str, place: Mark) -> DraftQuery:
        """The query of *qid* and *text*, which is added to the draft if it is new."""
        queries = self.by_qid.setdefault(qid, {})
        if text in queries:
            return queries[text]
        first = f"qid:{qid}, {text!r}"
        if queries:
            self.draft.leave(place, "a qid with several texts; each is a query of its own", first=first)
        if not text:
            query = self.draft.add(qid, place)
        elif text in self.texts:
            self.draft.leave(place, "a text with several qid; each is a query of its own", first=first)
            query = self.draft.add_text(text)
        else:
            query = self.draft.find_or_add_text(text)
        queries[text] = query
        self.texts.add(text)
        return query
