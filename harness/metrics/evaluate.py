"""
The scores of many queries: from judgments and rankings of ids, from judgments by subtopic, and from TREC files.

`harness.metrics.score_query` scores one query. For many, this module uses `harness.metrics.bulk` with numpy if that is
installed and there are enough hits for its import to pay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import chain, compress, filterfalse, repeat
from math import fsum, isfinite, isnan
from operator import not_
from typing import TYPE_CHECKING, TypeVar

from harness.errors import UndefinedScore, UsageError
from harness.metrics.profiles import rules_of, sort_by_score
from harness.metrics.registry import batch_formula_of, deepest_cutoff, definition_of
from harness.metrics.score import score_diverse_query, score_query
from harness.model.suite import Gain, Measure, Profile

if TYPE_CHECKING:
    from harness.metrics.bulk import Batch, FloatArray, TrecJudgments, TrecRankings

Judgments = Mapping[str, Mapping[str, float]]
Rankings = Mapping[str, Sequence[str]]
Scores = Mapping[str, Sequence[float | None]]

T = TypeVar("T")

WORTH_NUMPY = 5_000
"""The number of hits from which on the import of numpy pays."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """
    The scores of a run.

    *scores* maps the text of a measure to the value of each query, None where it is undefined; a query that is in no
    mean is not there. *missing* names judged queries that the run does not hold, *unjudged* queries of the run
    without judgments. *summed* names the measures that count documents. *tie_ranges* has the least and the greatest
    value over the orders of documents with equal scores, by measure and query, where that order moves the value and the
    profile does not say what it is. *near_ids* is a sentence on hits that are judged under another form of their id.
    """

    profile: Profile
    scores: Mapping[str, Mapping[str, float | None]]
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    summed: frozenset[str] = field(default_factory=frozenset)
    tie_ranges: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    near_ids: str = ""

    @property
    def run_queries(self) -> list[str]:
        """The queries of the run, those without judgments last."""
        absent = set(self.missing)
        scored = dict.fromkeys(chain.from_iterable(self.scores.values()))
        return list(dict.fromkeys([*(query for query in scored if query not in absent), *self.unjudged]))

    @property
    def judged_queries(self) -> list[str]:
        """The queries that are judged, those that the run does not hold last."""
        unjudged = set(self.unjudged)
        scored = dict.fromkeys(chain.from_iterable(self.scores.values()))
        return list(dict.fromkeys([*(query for query in scored if query not in unjudged), *self.missing]))

    def mean(self, measure: str) -> float | None:
        """The mean over the queries that have a value, None where there is none."""
        values = self.values(measure)
        return fsum(values) / len(values) if values else None

    def sum(self, measure: str) -> float:
        """The sum over the queries, for counts such as NumRet."""
        return fsum(self.values(measure))

    def means_over_ties(self, measure: str) -> tuple[float, float] | None:
        """The least and the greatest mean over the orders of documents with equal scores, None where it is one."""
        ranges = self.tie_ranges.get(measure, {})
        least, greatest = [], []
        for query, value in self.scores[measure].items():
            if value is not None:
                # The score of a query that ties do not move is both ends of its range.
                low, high = ranges.get(query, (value, value))
                least.append(low)
                greatest.append(high)
        if not ranges or not least:
            return None
        return fsum(least) / len(least), fsum(greatest) / len(greatest)

    def values(self, measure: str) -> list[float]:
        """The values there are, in the order of the queries."""
        return [value for value in self.scores[measure].values() if value is not None]


def evaluate(
    rankings: Rankings,
    judgments: Judgments,
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    scores: Scores | None = None,
    complete: bool = False,
) -> RunScores:
    """
    Score every query of a run.

    Args:
        rankings: Query id to document ids, best first; a document that comes twice counts once.
        judgments: Query id to document id to grade.
        measures: The measures to compute.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: The profile whose rules apply. Under `trec` a query without judgments is left out, and one without any
            relevant document scores 0; else both are undefined, and in no mean.
        scores: Query id to the score of each document of its ranking; only the trec profile orders by them.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        MeasureError: a grade that a gain map or a measure's scale does not hold.
        UsageError: a grade or a score that is not a number, a query with more scores than documents.
    """
    unjudged, missing, queries = _select_queries(rankings, judgments, profile, complete=complete)
    ranked = _list_rankings(queries, rankings, profile, scores)
    judged = list(map(judgments.get, queries, repeat({})))
    batched: list[Measure] = []
    if _is_numpy_worth_it(ranked):
        batched = [measure for measure in measures if batch_formula_of(measure, profile)]
    arrays: Mapping[str, FloatArray] = {}
    if batched:
        from harness.metrics.bulk import batches_of_ids, score_batches

        batches = batches_of_ids(ranked, judged, depth=_find_depth(batched))
        arrays = score_batches(batches, batched, gain=gain, profile=profile)
    by_query: dict[str, dict[str, float | None]] = {}
    for measure in measures:
        if measure in batched:
            values = _list_values(arrays[measure.text])
        else:
            score = partial(score_query, measure, gain=gain, profile=profile)
            values = _score_one_by_one(score, ranked, judged)
        by_query[measure.text] = dict(zip(queries, values, strict=True))
    return RunScores(profile, by_query, missing, unjudged, _name_summed(measures))


def _select_queries(
    rankings: Collection[str], judgments: Mapping[str, object], profile: Profile, *, complete: bool
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Queries of the run without judgments, judged queries that the run does not hold, and the queries to score."""
    # No loop in Python: scripts/bench/metrics measures it.
    unjudged = tuple(compress(rankings, map(not_, map(judgments.get, rankings))))
    missing = tuple(query for query in filterfalse(rankings.__contains__, judgments) if judgments[query])
    skipped = set(unjudged) if rules_of(profile).skips_unjudged else set()
    queries = list(filterfalse(skipped.__contains__, rankings))
    if complete:
        queries += missing
    return unjudged, missing, queries


def _list_rankings(
    queries: Sequence[str], rankings: Rankings, profile: Profile, scores: Scores | None
) -> list[Sequence[str]]:
    """The ranking of each query, by score where *profile* sorts; a query that has none returned nothing."""
    ranked = map(rankings.get, queries, repeat(()))
    if scores is None or not rules_of(profile).sorts:
        return list(ranked)
    return [_sort_hits(query, ranking, scores.get(query)) for query, ranking in zip(queries, ranked, strict=True)]


def _sort_hits(query: str, ranking: Sequence[str], given: Sequence[float | None] | None) -> Sequence[str]:
    if given is None:
        return ranking
    try:
        return sort_by_score(ranking, given)
    except UsageError as error:
        raise UsageError(f"query {query!r}: {error}") from None


def _find_depth(measures: Sequence[Measure]) -> int | None:
    """The number of hits that *measures* use; None for all: without a cutoff, or if unjudged ones are removed first."""
    # NumRel has no cutoff and looks at no hit.
    cutoffs = [measure.cutoff for measure in measures if measure.name != "NumRel"]
    condensed = any(dict(measure.parameters).get("judged_only") for measure in measures)
    return None if condensed or None in cutoffs else deepest_cutoff(measures)


def _is_numpy_worth_it(rankings: Sequence[Sequence[str]]) -> bool:
    return sum(map(len, rankings)) >= WORTH_NUMPY and find_spec("numpy") is not None


def _list_values(scores: FloatArray) -> list[float | None]:
    """*scores* as Python's floats, None for NaN."""
    values: list[float | None] = scores.tolist()
    # The sum tells at once whether there is any; it cannot overflow, see GREATEST_SCORE.
    if isfinite(scores.sum()):
        return values
    return [None if isnan(value) else value for value in scores.tolist()]


def _score_one_by_one(
    score: Callable[[Sequence[str], T], float], rankings: Sequence[Sequence[str]], judgments: Sequence[T]
) -> list[float | None]:
    """The score of each query, None where it is undefined."""
    values: list[float | None] = []
    for ranking, judged in zip(rankings, judgments, strict=True):
        try:
            values.append(score(ranking, judged))
        except UndefinedScore:
            values.append(None)
    return values


def evaluate_trec(
    run: Iterable[bytes],
    judgments: TrecJudgments,
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    complete: bool = False,
) -> RunScores:
    """
    Score every query of a TREC run, each ranked by score; the result equals that of `evaluate`.

    Args:
        run: Blocks of whole lines, each ended by a newline, without comments.
        judgments: All judgments, as `harness.metrics.bulk.read_judgments` reads them.
        measures: The measures to compute; each has a batch formula.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: The profile whose rules apply.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        MeasureError: a grade that a gain map or a measure's scale does not hold.
        CannotReadInBulk: the run has to be read line by line.
    """
    from harness.metrics.bulk import score_batches

    lines = _TrecLines(run, judgments, measures, gain, profile)
    columns = score_batches(lines.read_batches(complete=complete), measures, gain=gain, profile=profile)
    judged = dict.fromkeys(judgments.queries, True)
    unjudged, missing, scored = _select_queries(lines.queries, judged, profile, complete=complete)
    # The batches have all queries, also those that the profile leaves out of the mean.
    rows = list(lines.queries)
    if complete:
        rows += missing
    left_out = set(rows).difference(scored)
    by_query: dict[str, dict[str, float | None]] = {}
    for text, column in columns.items():
        values = dict(zip(rows, _list_values(column), strict=True))
        for query in left_out:
            del values[query]
        by_query[text] = values
    ranges = _find_ranges(by_query, lines.tied_values)
    return RunScores(profile, by_query, missing, unjudged, _name_summed(measures), ranges)


@dataclass(slots=True)
class _TrecLines:
    """The lines of a run, and what is found out while they are read."""

    run: Iterable[bytes]
    judgments: TrecJudgments
    measures: Sequence[Measure]
    gain: Gain | None
    profile: Profile
    queries: dict[str, None] = field(default_factory=dict)
    """The queries of the run, in its order."""
    tied_values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """By measure and query, the values with other orders of documents with equal scores."""

    def read_batches(self, *, complete: bool) -> Iterator[Batch]:
        """The batches, one at a time, as a run may be larger than the memory; *complete* as in `evaluate_trec`."""
        from harness.metrics.bulk import TrecRankings, read_rankings

        sorts = rules_of(self.profile).sorts
        for rankings in read_rankings(self.run):
            self.queries.update(dict.fromkeys(rankings.queries))
            # A profile that sorts also says how documents with equal scores are ordered.
            if not sorts:
                self._score_ties(rankings)
            yield self.judgments.batch(rankings, ties_by_id=sorts)
        if complete:
            absent = [query for query in self.judgments.queries if query not in self.queries]
            if absent:
                yield self.judgments.batch(TrecRankings.empty(absent), ties_by_id=False)

    def _score_ties(self, rankings: TrecRankings) -> None:
        from harness.metrics.bulk import score_batches

        for batch in self.judgments.orders_of_ties(rankings):
            columns = score_batches([batch], self.measures, gain=self.gain, profile=self.profile)
            for text, column in columns.items():
                by_query = self.tied_values.setdefault(text, {})
                for query, value in zip(rankings.queries, column.tolist(), strict=True):
                    by_query.setdefault(query, []).append(value)


def _find_ranges(
    scores: Mapping[str, Mapping[str, float | None]], tied: Mapping[str, Mapping[str, Sequence[float]]]
) -> dict[str, dict[str, tuple[float, float]]]:
    """The ranges of the *scores* that differ from the values *tied*, those with other orders of ties."""
    ranges: dict[str, dict[str, tuple[float, float]]] = {}
    for text, by_query in tied.items():
        for query, values in by_query.items():
            value = scores[text].get(query)
            if value is not None and max(values) > min(values):
                ranges.setdefault(text, {})[query] = min(value, *values), max(value, *values)
    return ranges


def _name_summed(measures: Sequence[Measure]) -> frozenset[str]:
    return frozenset(measure.text for measure in measures if definition_of(measure).summed)


def evaluate_novelty(
    rankings: Rankings,
    judgments: Mapping[str, Mapping[str, Mapping[str, float]]],
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    scores: Scores | None = None,
    complete: bool = False,
) -> RunScores:
    """
    Score every query of a run whose queries have several meanings.

    Args:
        rankings: Query id to document ids, best first.
        judgments: Query id to document id to subtopic to grade.
        measures: Measures of novelty, such as alpha_nDCG@10.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: The profile whose rules apply, as for `harness.metrics.evaluate.evaluate`.
        scores: Query id to the score of each document; only the trec profile orders by them.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        MeasureError: a measure that is not one of novelty.
    """
    unjudged, missing, queries = _select_queries(rankings, judgments, profile, complete=complete)
    ranked = _list_rankings(queries, rankings, profile, scores)
    judged = list(map(judgments.get, queries, repeat({})))
    by_query: dict[str, dict[str, float | None]] = {}
    for measure in measures:
        score = partial(score_diverse_query, measure, gain=gain, profile=profile)
        by_query[measure.text] = dict(zip(queries, _score_one_by_one(score, ranked, judged), strict=True))
    return RunScores(profile, by_query, missing, unjudged)
