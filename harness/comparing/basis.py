"""
By what two runs are compared: which queries, and which scores.

With judgments both runs are scored anew, so that nothing but the rankings differs. Without, the scores that both hold
serve, if they were made alike. Else the rankings alone are compared. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.comparing.depths import Depths
from harness.comparing.sides import ComparedSide, cut_at
from harness.errors import MeasureError
from harness.gate.scope import count, listed
from harness.metrics import profile_gain
from harness.metrics.run_scores import common_measures, measure_named, score_run
from harness.model import Gain, Measure, Outcome, Profile, Query, Ranking, Run, Score, Suite, Target, Threshold

__all__ = ["Judgments", "ScoredSides", "by_judgments", "by_suite", "deepest_ranking", "plain_suite"]


@dataclass(frozen=True, slots=True)
class ScoredSides:
    """
    *suite* holds the queries that are compared, the measures, gain and profile; *scores* those of both runs, empty
    where nothing is judged. *depth* is how many hits both have of a query, None where the rankings are whole. *notes*
    are sentences on how the scores came about.
    """

    suite: Suite
    runs: tuple[Run, Run]
    scores: tuple[tuple[Score, ...], tuple[Score, ...]]
    depth: int | None
    notes: tuple[str, ...] = ()

    @property
    def is_judged(self) -> bool:
        """Whether there are scores."""
        return bool(self.scores[0] or self.scores[1])


@dataclass(frozen=True, slots=True)
class Judgments:
    """Judgments without a suite: *grades* by query and document; *gain* is the profile's own where it is None."""

    name: str
    grades: Mapping[str, Mapping[str, float]]
    gain: Gain | None = None
    profile: Profile = Profile.STANDARD


def by_suite(
    pair: tuple[ComparedSide, ComparedSide],
    suite: Suite,
    queries: Sequence[Query],
    measures: Sequence[Measure],
    thresholds: Sequence[Threshold],
) -> ScoredSides:
    """
    Score both runs with the judgments of *suite*, whose own thresholds are left aside.

    Args:
        pair: What is compared.
        suite: Gives judgments, gain and profile.
        queries: Those of its queries that are compared.
        measures: What is computed; the suite's own where it is empty.
        thresholds: What the comparison is held to.

    Raises:
        UsageError: A measure looks at more hits than a side has.
        MeasureError: A measure has no number for a ranking.
    """
    bare = replace(
        suite,
        queries=tuple(replace(query, thresholds=(), xfail=None, skip=None) for query in queries),
        measures=tuple(measures) or common_measures(suite),
        thresholds=tuple(thresholds),
    )
    judged_by = f"the suite {suite.name}" if suite.path else "the evaluation"
    notes = [f"both are scored with the judgments of {judged_by}", *_strangers(pair, suite)]
    return _scored(pair, bare, notes)


def by_judgments(
    pair: tuple[ComparedSide, ComparedSide],
    judgments: Judgments,
    measures: Sequence[Measure],
    thresholds: Sequence[Threshold],
) -> ScoredSides:
    """Score both runs with *judgments*; queries that nobody judged have no score, and count in the agreement."""
    suite = plain_suite(pair, judgments.profile, judgments.gain or profile_gain(judgments.profile))
    suite = replace(
        suite,
        queries=tuple(replace(query, judgments=judgments.grades.get(query.id, {})) for query in suite.queries),
        measures=tuple(measures),
        thresholds=tuple(thresholds),
    )
    notes = [f"both are scored with the judgments of {judgments.name}"]
    known = {query.id for query in suite.queries}
    absent = [query for query in judgments.grades if query not in known]
    if absent:
        notes.append(f"judged and in neither run: {count(len(absent), 'query')} ({listed(absent)})")
    return _scored(pair, suite, notes)


def _scored(pair: tuple[ComparedSide, ComparedSide], suite: Suite, notes: Iterable[str]) -> ScoredSides:
    depths = Depths.of(pair, suite)
    depths.refuse_measures({*suite.measures, *filter(None, map(measure_named, suite.thresholds))})
    depth = depths.common
    first, second = (cut_at(one.run, depth) for one in pair)
    deep = replace(suite, depth=depth or deepest_ranking(first, second))
    scores = score_run(deep, first), score_run(deep, second)
    for one, run, found in zip(pair, (first, second), scores, strict=True):
        _refuse_unscored(one.side.name, run, found)
    return ScoredSides(deep, (first, second), scores, depth, tuple(notes))


def _refuse_unscored(name: str, run: Run, scores: Iterable[Score]) -> None:
    """A measure that has no number for a ranking would be compared over other queries than the rest."""
    for score in scores:
        if score.outcome is Outcome.ERROR and isinstance(run.responses.get(score.query), Ranking):
            raise MeasureError(f"{name}: {score.measure} cannot score query {score.query!r}: {score.reason}")


def deepest_ranking(*runs: Run) -> int:
    """How many hits the longest ranking has, and at least 1."""
    rankings = (response for run in runs for response in run.responses.values())
    return max((len(one.hits) for one in rankings if isinstance(one, Ranking)), default=1) or 1


def plain_suite(pair: tuple[ComparedSide, ComparedSide], profile: Profile, gain: Gain) -> Suite:
    """
    All queries that the two know, as a suite without a name, a file, requests or measures.

    Who compares without a suite has not said `undefined: fail`: queries without a score are left out, and counted.
    What queries weigh is the second's to say, unless it has no scores.
    """
    known: dict[str, Query] = {}
    for query in (query for one in pair for query in one.queries):
        known[query.id] = _joined(known.get(query.id), query)
    weights = {query.id: query.weight for one in pair if one.scores for query in one.queries}
    queries = tuple(replace(query, weight=weights.get(query.id, query.weight)) for query in known.values())
    return Suite("", "", Target(), {}, (), queries, gain=gain, profile=profile, skip_undefined=True)


def _joined(first: Query | None, second: Query) -> Query:
    """What two sides know of one query: a run file has no text, and a baseline no grades."""
    if first is None:
        return second
    text = first.text if first.text != first.id else second.text
    return replace(first, text=text, tags=first.tags or second.tags, judgments={**second.judgments, **first.judgments})


def _strangers(pair: Iterable[ComparedSide], suite: Suite) -> Iterator[str]:
    known = {query.id for query in suite.queries}
    for one in pair:
        others = [query.id for query in one.queries if query.id not in known]
        if others:
            yield f"{one.side.name} has {count(len(others), 'query')} that are not compared: {listed(others)}"
