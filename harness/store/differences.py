"""Differences between two runs, or a run and its baseline: scores and rankings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.gate.ties import group_ties, pair_groups, truncate_ranking
from harness.metrics.measures import measures_of
from harness.metrics.ranking import gain_of
from harness.model.comparison import MovedDocument
from harness.model.kept import Reference
from harness.model.report import QueryBaseline
from harness.model.run import Hit, Ranking, Run
from harness.model.scores import Score, index_scores
from harness.model.suite import Gain, Measure, Suite
from harness.words import count, counted, listed

# Two rankings.


@dataclass(frozen=True, slots=True)
class DocumentNotes:
    """What is known of documents apart from their ranks; *gain* is None where there are no gains."""

    grades: Mapping[str, float] = field(default_factory=dict)
    gain: Gain | None = None
    titles: Mapping[str, str] = field(default_factory=dict)


def compare_documents(
    reference: Ranking, candidate: Ranking, *, depth: int, notes: DocumentNotes, ties: bool = True, below: bool = False
) -> tuple[MovedDocument, ...]:
    """
    Compare two rankings document by document.

    Args:
        reference: The ranking to compare with.
        candidate: The ranking to compare.
        depth: Ranks to compare; documents that are below on both sides are ignored.
        notes: Grades and titles.
        ties: Whether documents that tie on both sides are marked where their order changed.
        below: Whether a document that is below *depth* on one side has its rank there, or none.

    Returns:
        Each document of either ranking once: the candidate's in its order, then those only in the reference.
    """
    first, second = truncate_ranking(reference, depth), truncate_ranking(candidate, depth)
    before, after = _number_ranks(first.hits), _number_ranks(second.hits)
    tied = _find_tied(first, second) if ties else frozenset()
    ids = [*after, *(document for document in before if document not in after)]
    if below:
        before, after = _number_ranks(reference.hits), _number_ranks(candidate.hits)
    documents = []
    for document in ids:
        grade = notes.grades.get(document)
        gain = None
        if grade is not None and notes.gain is not None:
            gain = gain_of(notes.gain, grade)
        rank_before, rank_after = before.get(document), after.get(document)
        has_moved_by_tie = document in tied and rank_before != rank_after
        title = notes.titles.get(document)
        documents.append(MovedDocument(document, rank_before, rank_after, grade, gain, title, has_moved_by_tie))
    return tuple(documents)


def select_moved(documents: Iterable[MovedDocument]) -> tuple[MovedDocument, ...]:
    """Those of *documents* that have another rank in the candidate, or are in only one of the two rankings."""
    return tuple(document for document in documents if document.reference != document.candidate)


def are_only_ties(changed: Sequence[MovedDocument]) -> bool:
    """Whether documents *changed* ranks, and all of them only among tied documents."""
    return bool(changed) and all(document.tied for document in changed)


def _number_ranks(hits: Iterable[Hit]) -> dict[str, int]:
    return {hit.id: rank for rank, hit in enumerate(hits, start=1)}


def _find_tied(first: Ranking, second: Ranking) -> frozenset[str]:
    """The documents of tie groups that are at the same places with the same documents on both sides."""
    tied: set[str] = set()
    for group, match in pair_groups(group_ties(second), group_ties(first)):
        if match is not None and group.is_interchangeable_with(match):
            tied.update(group.shown, match.shown)
    return frozenset(tied)


# A run and its baseline.


def compare_queries(
    suite: Suite, run: Run, scores: Iterable[Score], reference: Reference, titles: Mapping[str, str]
) -> dict[str, QueryBaseline]:
    """
    Each query of *suite* that has a ranking in *run* and in *reference*, by id.

    Args:
        suite: The suite with the queries that were selected.
        run: Its responses.
        scores: The scores of the run.
        reference: The run to compare with; scored by today's judgments, so that only the rankings cause differences.
        titles: Titles by document, as far as they are known.
    """
    if reference.run is None:
        return {}
    scores_now, scores_before = index_scores(scores), index_scores(reference.scores)
    compared = {}
    for query in suite.queries:
        first, second = reference.run.responses.get(query.id), run.responses.get(query.id)
        if not (isinstance(first, Ranking) and isinstance(second, Ranking)):
            continue
        measures = measures_of(suite, query)
        depths = [_find_depth(measure, suite) for measure in measures]
        depth = min(reference.depth, max(depths, default=suite.depth))
        notes = DocumentNotes(query.judgments, suite.gain, titles)
        documents = compare_documents(first, second, depth=depth, notes=notes, ties=reference.same_request, below=True)
        moved = select_moved(documents)
        values = {}
        for measure in measures:
            before = scores_before.get(query.id, {}).get(measure.text)
            after = scores_now.get(query.id, {}).get(measure.text)
            if before is None or before.value is None or after is None or after.value is None:
                continue
            if _has_depth(reference, measure, suite) and not reference.is_cut(measure, suite.depth):
                values[measure.text] = before.value
        compared[query.id] = QueryBaseline(values, moved, depth, are_only_ties(moved))
    return compared


def _find_depth(measure: Measure, suite: Suite) -> int:
    """The number of ranks that *measure* counts."""
    return min(measure.cutoff or suite.depth, suite.depth)


def _has_depth(reference: Reference, measure: Measure, suite: Suite) -> bool:
    """Whether *reference* has as many hits as *measure* counts."""
    return _find_depth(measure, suite) <= reference.depth


def describe_not_compared(suite: Suite, run: Run, reference: Reference) -> str:
    """Which queries and measures of *run* are not compared with *reference*, and why; empty if all are."""
    if reference.run is None:
        return f"not compared with a baseline: {reference.problem}" if reference.problem else ""
    parts = list(_list_left_out(suite, run, reference, reference.run))
    if not parts:
        return ""
    return f"not compared with the baseline of {reference.created}: {'; '.join(parts)}"


def _list_left_out(suite: Suite, run: Run, reference: Reference, kept: Run) -> Iterator[str]:
    answered = [query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking)]
    absent = [query.id for query in answered if query.id not in kept.responses]
    changed = [query for query in absent if query in reference.changed_questions]
    unsearched = [query for query in absent if query in reference.unsearched]
    unknown = [query for query in absent if query not in changed and query not in unsearched]
    if changed:
        yield f"{counted(changed, 'query')}, of which the text or params changed"
    if unsearched:
        yield f"{counted(unsearched, 'query')}, of which it did not look for all quotes"
    if unknown:
        yield f"{counted(unknown, 'query')}, which it does not have"
    deeper: dict[str, None] = {}
    cut: dict[str, None] = {}
    for query in answered:
        for measure in measures_of(suite, query):
            if not _has_depth(reference, measure, suite):
                deeper[measure.text] = None
            elif reference.is_cut(measure, suite.depth):
                cut[measure.text] = None
    hits = count(reference.depth, "hit")
    if cut:
        verb = "counts" if len(cut) == 1 else "count"
        why = f"it keeps {hits} per query, but the suite asks for {suite.depth}"
        yield f"{listed(list(cut))}, which {verb} all hits: {why}"
    if deeper:
        verb = "looks" if len(deeper) == 1 else "look"
        yield f"{listed(list(deeper))}, which {verb} at more than the {hits} that it keeps per query"
