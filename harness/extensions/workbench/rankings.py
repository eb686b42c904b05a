"""One query of a try, in full: both rankings, the relevant documents that are missing, and why a hit has its score."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.agreement import Pair
from harness.errors import UsageError
from harness.extensions.workbench.figures import ScoredSide, judge_variant
from harness.extensions.workbench.guard import leave_out_unranked
from harness.extensions.workbench.scored_tries import ScoredTries
from harness.files.judge_files import read_shown_params
from harness.gate.ties import group_ties
from harness.metrics.run_scores import contributions_of
from harness.model.inspection import Explained, Explanation, ScorePart
from harness.model.report import MissingDocument
from harness.model.run import Hit, Ranking, Response
from harness.model.suite import Json, Query, Suite
from harness.redaction import redact
from harness.report.run_sentences import describe_place
from harness.run.look_ups import locate_missing
from harness.search.dialects import find_dialect
from harness.search.lookup import LookUp, look_up_documents
from harness.search.protocol import LookUpOptions
from harness.search.score_parts import find_part_differences
from harness.suites.display import list_shown_fields
from harness.suites.requests import build_request
from harness.words import shorten

LINES_OF_EXPLANATION = 60

LONGEST_TEXT = 400
"""Characters of a field of a document that are shown."""


@dataclass(frozen=True, slots=True)
class RankedSide:
    """One side of a ranking that is shown: its request, and the response to the query."""

    suite: Suite
    side: ScoredSide
    response: Response | None

    def hits(self, depth: int) -> tuple[str, ...]:
        """The ids of the first hits; none where there is no ranking."""
        return tuple(self.response.ids[:depth]) if isinstance(self.response, Ranking) else ()


class Rankings:
    """What is shown of single queries; documents and ranks that were looked up are kept."""

    def __init__(self, scored: ScoredTries, given: Container[Pair]) -> None:
        """*given* has what was graded in this session."""
        self._scored = scored
        self._given = given
        self._documents: dict[str, Hit] = {}
        """Those that were looked up; one that was not found has its id alone."""
        self._located: dict[tuple[str, str], dict[str, MissingDocument]] = {}
        """By the fingerprint of a request and a query."""

    def show(self, query_id: str, live: RankedSide, tried: RankedSide | None) -> dict[str, Any]:
        """Both rankings of a query as JSON values; with *tried* None the live one alone."""
        suite = self._scored.suite
        query = find_query(suite, query_id)
        depth = suite.depth
        sides = [live] if tried is None else [live, tried]
        self._look_up({document for side in sides for document in side.hits(depth)})
        others = live.hits(depth) if tried is None else tried.hits(depth)
        answer: dict[str, Any] = {
            "query": query_id,
            "live": [
                hit | {"move": None, "is_new": False, "is_gone": hit["document"] not in others}
                for hit in self._list_hits(query, live, others)
            ],
            "try": None,
            "params": {
                name: value if isinstance(value, str) else str(value)
                for name, value in read_shown_params(suite, query).items()
            },
        }
        if tried is not None and isinstance(tried.response, Ranking):
            answer["try"] = self._list_hits(query, tried, live.hits(depth))
        answer["missing"] = self._list_missing(query, sides)
        return answer

    def title(self, document: str) -> str | None:
        """The title of a document, as far as it is known."""
        return self._documents[document].title if document in self._documents else None

    def _list_texts(self, document: str) -> dict[str, str]:
        """The fields of a document that the suite displays, each shortened."""
        hit = self._documents.get(document)
        texts = {} if hit is None or hit.texts is None else hit.texts
        return {field: shorten(text, LONGEST_TEXT) for field, text in texts.items() if text}

    def _list_hits(self, query: Query, side: RankedSide, others: Sequence[str]) -> list[dict[str, Any]]:
        response = side.response
        if not isinstance(response, Ranking):
            return []
        suite = self._scored.suite
        contributions = contributions_of(suite, query, response)
        gains = [] if contributions is None else [rank.adds for rank in contributions.ranks]
        ideal = 0.0 if contributions is None else contributions.ideal
        tied = {document for group in group_ties(response) if len(group.documents) > 1 for document in group.documents}
        hits = []
        for rank, document in enumerate(response.ids[: suite.depth], start=1):
            gain = gains[rank - 1] / ideal if rank <= len(gains) and ideal else None
            hits.append(
                {
                    "rank": rank,
                    "document": document,
                    "title": self.title(document),
                    "texts": self._list_texts(document),
                    "move": others.index(document) + 1 - rank if document in others else None,
                    "is_new": document not in others,
                    "is_gone": False,
                    **self._describe_grade(query, document),
                    "gain": gain,
                    "tied": document in tied,
                }
            )
        return hits

    def _describe_grade(self, query: Query, document: str) -> dict[str, Any]:
        owner = self._scored.find_owner(query.id)
        is_own = owner is not None and (owner.id, document) in self._given
        return {"grade": query.judgments.get(document), "is_own": is_own}

    # What is looked up.

    def _look_up(self, documents: Iterable[str]) -> None:
        """Look up the titles and the fields that the suite displays; a look-up that fails decides nothing."""
        material = self._scored.material
        answered = material.live.answered
        unknown = [document for document in documents if document not in self._documents]
        if not unknown or answered is None or answered.search is None:
            return
        suite, run = answered.cell.searched, answered.run
        template = suite.requests[run.request]
        fields = list_shown_fields(suite, [run.request])
        is_shown = bool(fields) or suite.display.title is not None
        if not is_shown or not find_dialect(suite.target.service).looks_up_documents(template):
            return
        query = next(query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking))
        request = replace(build_request(suite, template, query), index=run.index)
        options = LookUpOptions(title_field=suite.display.title, fields=fields)
        [known] = look_up_documents(answered.search, [LookUp(request, unknown, options)])
        hits = redact(known.hits, material.masker.mask)
        self._documents |= {document: hits.get(document, Hit(document)) for document in unknown}

    def _list_missing(self, query: Query, sides: Sequence[RankedSide]) -> list[dict[str, Any]]:
        """The relevant documents that a side does not show, with the rank on each, or why there is none."""
        depth = self._scored.suite.depth
        located = [self._locate(query, side) for side in sides]
        documents = dict.fromkeys(document for found in located for document in found)
        self._look_up(documents)
        shown = [side.hits(depth) for side in sides]
        missing = []
        for document in documents:
            ranks = [_find_rank(document, *pair) for pair in zip(shown, located, strict=True)]
            places = [found[document] for found in located if document in found]
            reasons = [describe_place(place) for place in places if place.rank is None]
            # Before the first try there is one side.
            words = [f"{name} {_describe_rank(rank)}" for name, rank in zip(("live", "try"), ranks, strict=False)]
            titles = [place.title for place in places if place.title]
            missing.append(
                {
                    "document": document,
                    "title": titles[0] if titles else self.title(document),
                    "texts": self._list_texts(document),
                    **self._describe_grade(query, document),
                    "where": ": ".join([", ".join(words), *reasons[-1:]]),
                }
            )
        return missing

    def _locate(self, query: Query, side: RankedSide) -> dict[str, MissingDocument]:
        """The relevant documents that *side* does not show, looked for once, by their ids."""
        material = self._scored.material
        if material.search is None or not isinstance(side.response, Ranking):
            return {}
        template = next(iter(side.suite.requests.values()))
        key = (f"{template.body}{template.http}{sorted(query.judgments.items())}", query.id)
        if key not in self._located:
            suite = replace(side.suite, queries=(query,))
            run = replace(side.side.run, request=template.name, responses={query.id: side.response})
            answered = material.live.answered
            assert answered is not None
            hooks = answered.cell.options.hooks
            located, _ = locate_missing(suite, run, hooks.wrap(material.search), [query.id], hooks=hooks)
            found = [redact(document, material.masker.mask) for document in located.get(query.id, ())]
            self._located[key] = {document.id: document for document in found}
        return self._located[key]

    def explain(self, query_id: str, document: str, side: RankedSide, *, above: bool) -> list[dict[str, Any]]:
        """
        Why *document* has its score, in lines; with *above* against the hit above it.

        Raises:
            UsageError: The target explains nothing, or there is no hit above.
            SearchError: The engine cannot be asked.
        """
        material = self._scored.material
        if not material.explains or material.search is None:
            raise UsageError("scores are explained by an engine only")
        query = find_query(self._scored.suite, query_id)
        template = next(iter(side.suite.requests.values()))
        answered = material.live.answered
        assert answered is not None
        target = replace(side.suite, target=answered.cell.searched.target)
        request = build_request(target, template, query)
        hits = side.hits(self._scored.suite.depth)
        documents = [document]
        if above:
            if document not in hits or hits.index(document) == 0:
                raise UsageError("there is no hit above this one")
            documents = [hits[hits.index(document) - 1], document]
        found = material.search.inspector.explain(request, documents, ranking=hits, known=query.judgments)
        explanations = [redact(explanation, material.masker.mask) for explanation in found]
        if len(explanations) == 2:
            return _describe_difference(*explanations)
        return _describe_explanation(explanations[0])


def find_query(suite: Suite, query_id: str) -> Query:
    """
    The query of an id; a variant as a query of its own.

    Raises:
        UsageError: It is not shown.
    """
    for query in suite.queries:
        if query.id == query_id:
            return query
        for variant in query.variants:
            if variant.id == query_id:
                return judge_variant(query, variant)
    raise UsageError(f"found no query {query_id!r} among those that are shown")


def make_side(suite: Suite, side: ScoredSide, query_id: str) -> RankedSide:
    """The ranking of a query on one side, whose request is that of *suite*."""
    return RankedSide(leave_out_unranked(suite), side, side.responses.get(query_id))


def _find_rank(document: str, shown: Sequence[str], located: dict[str, MissingDocument]) -> int | None:
    if document in shown:
        return shown.index(document) + 1
    return located[document].rank if document in located else None


def _describe_rank(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"


# Explanations.


def _describe_explanation(explanation: Explanation) -> list[dict[str, Any]]:
    if explanation.outcome is not Explained.SCORED and not explanation.parts:
        lines = [_make_line(0, None, explanation.reason or str(explanation.outcome))]
        for clause in explanation.clauses:
            matches = "matches" if clause.matches else "does not match"
            lines.append(_make_line(1, None, f"{clause.place}: {matches}: {clause.clause}"))
        return lines[:LINES_OF_EXPLANATION]
    lines = [_make_line(0, explanation.score, explanation.reason or "the score, of these parts:")]
    for part in explanation.parts:
        lines.append(_make_line(1, part.score, part.clause))
        # Of what adds nothing, the details are noise.
        if part.score:
            lines += [_make_line(2, value, text) for text, value in _list_details(part)]
    return lines[:LINES_OF_EXPLANATION]


def _list_details(part: ScorePart) -> list[tuple[str, Json]]:
    known = [("boost", part.boost), ("idf", part.idf), ("tf", part.tf), ("times in the field", part.frequency)]
    known.append(("words in the field", part.length))
    return [(text, value) for text, value in known if value is not None]


def _describe_difference(above: Explanation, below: Explanation) -> list[dict[str, Any]]:
    if not above.parts or not below.parts:
        return _describe_explanation(below)
    lines = [_make_line(0, (above.score or 0.0) - (below.score or 0.0), "more than this hit has, of these parts:")]
    lines += [
        _make_line(1, part.difference, f"{part.clause} ({part.first:g}, {part.second:g})")
        for part in find_part_differences(above.parts, below.parts)
    ]
    return lines[:LINES_OF_EXPLANATION]


def _make_line(depth: int, value: Any, text: str) -> dict[str, Any]:
    return {"depth": depth, "value": value, "text": text}
