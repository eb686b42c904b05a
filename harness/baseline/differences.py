"""
Differences between two runs, or a run and its baseline: scores, rankings, and the texts of the request, the mapping and
the settings. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from harness.baseline.entries import request_fingerprint, request_json
from harness.gate.ties import group_ties, pair_groups, truncate_ranking
from harness.masking import Masker, if_small
from harness.metrics.ranking import gain_of
from harness.metrics.score import measures_of
from harness.model import (
    Baseline,
    Gain,
    Hit,
    IndexFacts,
    Json,
    Measure,
    MovedDocument,
    QueryBaseline,
    Ranking,
    Reference,
    Run,
    Score,
    Suite,
    TextDiff,
    index_scores,
)
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
    before, after = _ranks(first.hits), _ranks(second.hits)
    tied = _tied(first, second) if ties else frozenset()
    names = [*after, *(document for document in before if document not in after)]
    if below:
        before, after = _ranks(reference.hits), _ranks(candidate.hits)
    return tuple(_document(name, before.get(name), after.get(name), notes, name in tied) for name in names)


def changed_ranks(documents: Iterable[MovedDocument]) -> tuple[MovedDocument, ...]:
    """Those of *documents* that have another rank in the candidate, or are in only one of the two rankings."""
    return tuple(document for document in documents if document.reference != document.candidate)


def are_only_ties(changed: Sequence[MovedDocument]) -> bool:
    """Whether documents *changed* ranks, and all of them only among tied documents."""
    return bool(changed) and all(document.tied for document in changed)


def _ranks(hits: Iterable[Hit]) -> dict[str, int]:
    return {hit.id: rank for rank, hit in enumerate(hits, start=1)}


def _document(name: str, before: int | None, after: int | None, notes: DocumentNotes, tied: bool) -> MovedDocument:
    grade = notes.grades.get(name)
    gain = None if grade is None or notes.gain is None else gain_of(notes.gain, grade)
    return MovedDocument(name, before, after, grade, gain, notes.titles.get(name), tied and before != after)


def _tied(first: Ranking, second: Ranking) -> frozenset[str]:
    """The documents of tie groups that are at the same places with the same documents on both sides."""
    found: set[str] = set()
    for group, match in pair_groups(group_ties(second), group_ties(first)):
        if match is not None and group.is_interchangeable_with(match):
            found.update(group.shown, match.shown)
    return frozenset(found)


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
    now, before = index_scores(scores), index_scores(reference.scores)
    found = {}
    for query in suite.queries:
        first, second = reference.run.responses.get(query.id), run.responses.get(query.id)
        if not (isinstance(first, Ranking) and isinstance(second, Ranking)):
            continue
        measures = measures_of(suite, query)
        depth = min(reference.depth, max((_depth(one, suite) for one in measures), default=suite.depth))
        notes = DocumentNotes(query.judgments, suite.gain, titles)
        documents = compare_documents(first, second, depth=depth, notes=notes, ties=reference.same_request, below=True)
        changed = changed_ranks(documents)
        reached = [one.text for one in measures if _reaches(reference, one, suite)]
        comparable = {}
        for text in reached:
            old, new = before.get(query.id, {}).get(text), now.get(query.id, {}).get(text)
            if old is not None and old.value is not None and new is not None and new.value is not None:
                comparable[text] = old.value
        found[query.id] = QueryBaseline(comparable, changed, depth, are_only_ties(changed))
    return found


def _depth(measure: Measure, suite: Suite) -> int:
    """The number of ranks that *measure* counts."""
    return min(measure.cutoff or suite.depth, suite.depth)


def _reaches(reference: Reference, measure: Measure, suite: Suite) -> bool:
    """Whether *reference* has as many hits as *measure* counts."""
    return _depth(measure, suite) <= reference.depth


def left_out_note(suite: Suite, run: Run, reference: Reference) -> str:
    """Which queries and measures of *run* are not compared with *reference*, and why; empty if all are."""
    if reference.run is None:
        return f"not compared with a baseline: {reference.problem}" if reference.problem else ""
    parts = "; ".join(_left_out(suite, run, reference, reference.run))
    return f"not compared with the baseline of {reference.created}: {parts}" if parts else ""


def _left_out(suite: Suite, run: Run, reference: Reference, kept: Run) -> Iterator[str]:
    answered = [query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking)]
    absent = [query.id for query in answered if query.id not in kept.responses]
    changed = [query for query in absent if query in reference.changed_questions]
    unknown = [query for query in absent if query not in reference.changed_questions]
    if changed:
        yield f"{counted(changed, 'query')}, of which the text or params changed"
    if unknown:
        yield f"{counted(unknown, 'query')}, which it does not have"
    measures = {one.text: one for query in answered for one in measures_of(suite, query)}
    deep = [text for text, one in measures.items() if not _reaches(reference, one, suite)]
    if deep:
        verb = "looks" if len(deep) == 1 else "look"
        yield f"{listed(deep)}, which {verb} at more than the {count(reference.depth, 'hit')} that it keeps per query"


# Texts.


DIFF_LINES = 40
"""The most lines of a difference between two texts that are kept."""


def text_diffs(baseline: Baseline, suite: Suite, run: Run) -> tuple[TextDiff, ...]:
    """
    How the request, the mapping and the settings changed since *baseline*, as far as both texts are known.

    Secrets are masked. A change within a masked part, or in a text too large to be kept, is not shown.
    """
    masker, facts = Masker(suite.variables), run.facts or IndexFacts()
    before, request = baseline.index, request_json(suite, run.request)
    is_same = request_fingerprint(suite, run.request) == baseline.template
    pairs: dict[str, tuple[Json, Json]] = {
        "request": (None, None) if is_same else (baseline.request, if_small(request)),
        "mapping": (None, None) if before.mapping == facts.mapping else (before.mapping_json, facts.mapping_json),
        "settings": (None, None) if before.settings == facts.settings else (before.settings_json, facts.settings_json),
    }
    found = (_diff(name, then, masker.mask_json(now)) for name, (then, now) in pairs.items())
    return tuple(diff for diff in found if diff is not None)


def _diff(name: str, before: Json, now: Json) -> TextDiff | None:
    if before is None or now is None:
        return None
    lines = list(unified_diff(_lines(before), _lines(now), lineterm=""))[2:]
    return TextDiff(name, tuple(lines[:DIFF_LINES]), max(0, len(lines) - DIFF_LINES)) if lines else None


def _lines(value: Json) -> list[str]:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).splitlines()
