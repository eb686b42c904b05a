"""Kept rankings scored with the judgments of today: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.baseline.entries import fingerprint_request
from harness.baseline.questions import select_all_values, select_request_values
from harness.history.entries import restore_run
from harness.masking import Masker
from harness.metrics.score import measures_of, score_run
from harness.model.baseline import Question
from harness.model.history import HistoryEntry, HistoryQuery, RescoredEntry
from harness.model.run import Run
from harness.model.scores import Score
from harness.model.suite import Query, Suite


def rescore(entries: Iterable[HistoryEntry], suite: Suite, *, hooked: bool = False) -> tuple[RescoredEntry, ...]:
    """
    Each of *entries* with the judgments, the gain, the profile and the measures of *suite*.

    A query counts if the suite still has it with the same text and params, as far as the request uses them. A measure
    counts if the entry has as many hits as it reads.

    Args:
        entries: Of the suite, of any request.
        suite: The suite of today.
        hooked: Whether hooks may have used any value of a query.
    """
    questions: dict[str, Mapping[str, Question]] = {}
    scorer = _Scorer(suite)
    rescored = []
    for entry in entries:
        if entry.request not in questions:
            questions[entry.request] = _make_questions(suite, entry.request, hooked=hooked)
        rescored.append(_rescore_entry(entry, scorer, questions[entry.request]))
    return tuple(rescored)


def _make_questions(suite: Suite, request: str, *, hooked: bool) -> dict[str, Question]:
    """What *request* asks today, by query."""
    masker = Masker(suite.variables)
    used = select_all_values(suite) if hooked else select_request_values(suite, request)
    return {query.id: used.make_question(query, masker) for query in suite.queries}


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores kept rankings with *suite*; one that many runs have, as most do, is scored once."""

    suite: Suite
    known: dict[tuple[object, ...], list[Score]] = field(default_factory=dict)

    def score(self, entry: HistoryEntry, queries: Sequence[Query], run: Run) -> tuple[Score, ...]:
        """The scores of *queries* in *run*, which has their rankings in *entry*."""
        keys: dict[str, tuple[object, ...]] = {}
        unknown = []
        for query in queries:
            kept = entry.queries[query.id]
            key = (query.id, kept.ranking, kept.ties, kept.tail, kept.closed)
            keys[query.id] = key
            if key not in self.known:
                self.known[key] = []
                unknown.append(query)
        for score in score_run(replace(self.suite, queries=tuple(unknown)), run):
            self.known[keys[score.query]].append(score)
        return tuple(score for query in queries for score in self.known[keys[query.id]])


def _rescore_entry(entry: HistoryEntry, scorer: _Scorer, questions: Mapping[str, Question]) -> RescoredEntry:
    suite = scorer.suite
    same: list[Query] = []
    changed = []
    for query in suite.queries:
        kept = entry.queries.get(query.id)
        if kept is None:
            continue
        if _is_another(kept, questions[query.id]):
            changed.append(query.id)
        else:
            same.append(query)
    run = restore_run(entry, [query.id for query in same], depth=suite.depth)
    scores = scorer.score(entry, same, run)
    too_deep = _find_too_deep(entry, suite, same)
    if too_deep:
        scores = tuple(score for score in scores if score.measure not in too_deep)
    same_request = entry.state.request == fingerprint_request(suite, entry.request)
    return RescoredEntry(entry, run, scores, same_request, tuple(changed))


def _is_another(kept: HistoryQuery, now: Question) -> bool:
    """Whether *kept* was asked with another text or other params than *now*."""
    if kept.question == now.fingerprint:
        return False
    return Question(kept.question, kept.text).is_another(now)


def _find_too_deep(entry: HistoryEntry, suite: Suite, queries: Iterable[Query]) -> set[str]:
    """The measures that read more hits than *entry* keeps."""
    too_deep = set()
    if entry.depth < suite.depth:
        for query in queries:
            for measure in measures_of(suite, query):
                if entry.depth < (measure.cutoff or suite.depth):
                    too_deep.add(measure.text)
    return too_deep
