"""The scores of two sides: by which judgments, down to which depth, and how they are tested. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from harness.compare.sides import QRELS, SUITE, ComparedSide, cut_at, may_share_request
from harness.compare.ties import settle_run, tell_all_ties
from harness.errors import MeasureError, UsageError, pip_install
from harness.files.runs import FileScorer
from harness.means import mean_of
from harness.metrics import parse_measure, profile_gain
from harness.metrics.score import common_measures, measure_named, outcome_of, score_run
from harness.model import (
    AgreementCondition,
    Comparison,
    Gain,
    Measure,
    Outcome,
    Profile,
    Query,
    Ranking,
    Response,
    Run,
    Score,
    Suite,
    Target,
    Threshold,
)
from harness.words import count, counted, listed

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions, Scores


@dataclass(frozen=True, slots=True)
class Depths:
    """
    The number of hits per query that each side requested, by its name; None where its rankings are whole.

    *suite* is the file of the suite that both are compared by, and *of_suite* the number of hits that its requests ask
    for; empty and None without a suite.
    """

    sides: tuple[tuple[str, int | None], ...]
    suite: str = ""
    of_suite: int | None = None

    @classmethod
    def of(cls, pair: Iterable[ComparedSide], suite: Suite | None) -> Self:
        """The depths of two sides that were read or run."""
        return cls.named(((one.side.name, one.depth) for one in pair), suite)

    @classmethod
    def named(cls, sides: Iterable[tuple[str, int | None]], suite: Suite | None) -> Self:
        """The depths of *sides*, as names and depths; a side need not be searched yet."""
        asks = suite is not None and bool(suite.requests)
        return cls(tuple(sides), suite.path if suite else "", suite.depth if suite and asks else None)

    @property
    def common(self) -> int | None:
        """The number of hits per query that both have; None where the rankings are whole."""
        known = [depth for _, depth in self.sides if depth is not None]
        return min([*known, self.of_suite] if self.of_suite is not None else known, default=None)

    def refuse_ranks(self, depth: int | None) -> None:
        """
        Raise UsageError where *depth* ranks are more than both have.

        None, for as many as there are, is always fine.
        """
        if depth is not None and self.common is not None and depth > self.common:
            raise UsageError(
                f"depth {depth} is deeper than the {self.common} hits a query that {self._whose()} asked for"
            )

    def refuse_measures(self, measures: Iterable[Measure]) -> None:
        """Raise UsageError where one of *measures* is deeper than both rankings; names all such measures."""
        deeper = sorted({one.text for one in measures if self.common is not None and (one.cutoff or 0) > self.common})
        if deeper:
            names = ", ".join(deeper)
            raise UsageError(
                f"{names} looks at more hits than the {self.common} a query that {self._whose()} asked for"
            )

    def refuse_agreements(self, thresholds: Iterable[Threshold]) -> None:
        """Raise UsageError where an agreement without a cutoff would have fewer hits than the suite requests."""
        if self.of_suite is None or self.common == self.of_suite:
            return
        conditions = (one.condition for one in thresholds)
        agreements = (one.agreement for one in conditions if isinstance(one, AgreementCondition))
        uncut = sorted({one.text for one in agreements if one.cutoff is None})
        if uncut:
            raise UsageError(
                f"{', '.join(uncut)} looks at the {self.of_suite} hits a query that the suite asks for, more than the "
                f"{self.common} that {self._whose()} asked for: say {uncut[0]}@{self.common}"
            )

    def _whose(self) -> str:
        return " and ".join(name for name, depth in self.sides if depth == self.common) or self.suite


# With judgments both runs are scored anew, so that only the rankings differ. Without judgments the stored scores of
# both are compared, if they were computed alike; else only the rankings.


@dataclass(frozen=True, slots=True)
class ScoredSides:
    """
    *suite* holds the queries that are compared, the measures, gain and profile; *scores* the scores of both runs, empty
    where nothing is judged. *depth* is the number of hits per query that both have, None where the rankings are whole.
    *notes* are sentences on how the scores were computed. *grades_known* says whether the queries of *suite* have all
    judgments of the hits, and *is_rescored* whether the scores were computed from these now. *settled* are the scores
    of the candidate with documents of equal score in the order of the reference; empty where that changes nothing.
    """

    suite: Suite
    runs: tuple[Run, Run]
    scores: tuple[Sequence[Score], Sequence[Score]]
    depth: int | None
    notes: tuple[str, ...] = ()
    grades_known: bool = False
    is_rescored: bool = False
    settled: Sequence[Score] = ()

    @property
    def is_judged(self) -> bool:
        """Whether there are scores."""
        return bool(self.scores[0] or self.scores[1])


def by_suite(
    pair: tuple[ComparedSide, ComparedSide],
    suite: Suite,
    queries: Sequence[Query],
    measures: Sequence[Measure],
    thresholds: Sequence[Threshold],
) -> ScoredSides:
    """
    Score both runs with the judgments of *suite*, whose own thresholds are ignored.

    Args:
        pair: The sides to compare.
        suite: Gives judgments, gain and profile.
        queries: The queries of the suite to compare.
        measures: The measures to compute; the suite's own where it is empty.
        thresholds: The thresholds of the comparison.

    Raises:
        UsageError: A measure is deeper than the rankings of a side.
        MeasureError: A measure cannot score a ranking.
    """
    bare = replace(
        suite,
        queries=tuple(replace(query, thresholds=(), xfail=None, skip=None) for query in queries),
        measures=tuple(measures) or common_measures(suite),
        thresholds=tuple(thresholds),
    )
    judged_by = f"the suite {suite.name}" if suite.path else "the evaluation"
    notes = [f"both sides are scored with the judgments of {judged_by}", *_strangers(pair, suite)]
    return _scored(pair, bare, notes, score_run)


def by_judgments(
    pair: tuple[ComparedSide, ComparedSide],
    judgments: FileScorer,
    measures: Sequence[Measure],
    thresholds: Sequence[Threshold],
) -> ScoredSides:
    """
    Score both runs with *judgments*, as `FileScorer` scores the file of a run.

    Queries without judgments have no score, and count in the agreement. Raises as `by_suite`.
    """
    suite = plain_suite(pair, judgments.profile, judgments.gain or profile_gain(judgments.profile))
    suite = replace(
        suite,
        queries=tuple(replace(query, judgments=judgments.grades.get(query.id, {})) for query in suite.queries),
        measures=tuple(measures),
        thresholds=tuple(thresholds),
    )
    notes = [f"both sides are scored with the judgments of {judgments.judgments}"]
    known = {query.id for query in suite.queries}
    absent = [query for query in judgments.judged_queries if query not in known]
    if absent:
        notes.append(f"judged and in neither run: {counted(absent, 'query')}")
    return _scored(pair, suite, notes, partial(_score_rankings, judgments))


def _score_rankings(judgments: FileScorer, suite: Suite, run: Run) -> tuple[Score, ...]:
    rankings = {query: one for query, one in run.responses.items() if isinstance(one, Ranking)}
    ids = {query: [hit.id for hit in one.hits] for query, one in rankings.items()}
    measures = {one.text: one for one in (*suite.measures, *filter(None, map(measure_named, suite.thresholds)))}
    found = judgments.score_rankings(ids, list(measures.values())).scores
    return tuple(
        _score(query, measure, values.get(query.id), run)
        for query in suite.queries
        for measure, values in found.items()
    )


def _score(query: Query, measure: str, value: float | None, run: Run) -> Score:
    response = run.responses.get(query.id)
    if value is None and isinstance(response, Ranking):
        return Score(query.id, measure, None, Outcome.UNDEFINED)
    return Score(query.id, measure, value, *outcome_of(query, response))


def _scored(
    pair: tuple[ComparedSide, ComparedSide],
    suite: Suite,
    notes: Iterable[str],
    score: Callable[[Suite, Run], Sequence[Score]],
) -> ScoredSides:
    depths = Depths.of(pair, suite)
    depths.refuse_measures({*suite.measures, *filter(None, map(measure_named, suite.thresholds))})
    depth = depths.common
    first, second = (cut_at(one.run, depth) for one in pair)
    deep = replace(suite, depth=depth or deepest_ranking(first, second))
    scores = score(deep, first), score(deep, second)
    for one, run, found in zip(pair, (first, second), scores, strict=True):
        _refuse_unscored(one.side.name, run, found)
    settled: Sequence[Score] = ()
    if may_share_request(*pair):
        in_order = settle_run(first, second)
        settled = score(deep, in_order) if in_order is not second else ()
    grades_known = any(query.judgments for query in suite.queries)  # judgments by subtopic are not grades
    return ScoredSides(
        deep, (first, second), scores, depth, tuple(notes), grades_known, is_rescored=True, settled=settled
    )


def _refuse_unscored(name: str, run: Run, scores: Iterable[Score]) -> None:
    """Raise MeasureError where a measure cannot score a ranking: it would be compared over fewer queries."""
    for score in scores:
        if score.outcome is Outcome.ERROR and isinstance(run.responses.get(score.query), Ranking):
            raise MeasureError(f"{name}: {score.measure} cannot score query {score.query!r}: {score.reason}")


def deepest_ranking(*runs: Run) -> int:
    """The number of hits of the longest ranking, at least 1."""
    rankings = (response for run in runs for response in run.responses.values())
    return max((len(one.hits) for one in rankings if isinstance(one, Ranking)), default=1) or 1


def plain_suite(pair: tuple[ComparedSide, ComparedSide], profile: Profile, gain: Gain) -> Suite:
    """
    All queries of both sides, as a suite without a name, a file, requests or measures.

    Queries with an undefined score are left out, and counted, as under `undefined: skip`. The weights are those of the
    second side, unless it has no scores.
    """
    known: dict[str, Query] = {}
    for query in (query for one in pair for query in one.queries):
        known[query.id] = _joined(known.get(query.id), query)
    weights = {query.id: query.weight for one in pair if one.scores for query in one.queries}
    queries = tuple(replace(query, weight=weights.get(query.id, query.weight)) for query in known.values())
    return Suite("", "", Target(), {}, (), queries, gain=gain, profile=profile, skip_undefined=True)


def _joined(first: Query | None, second: Query) -> Query:
    """One query from what two sides have of it: a run file has no text, and a baseline no grades."""
    if first is None:
        return second
    text = first.text if first.text != first.id else second.text
    return replace(first, text=text, tags=first.tags or second.tags, judgments={**second.judgments, **first.judgments})


def _strangers(pair: Iterable[ComparedSide], suite: Suite) -> Iterator[str]:
    known = {query.id for query in suite.queries}
    for one in pair:
        others = [query.id for query in one.queries if query.id not in known]
        if others:
            yield f"{one.side.name} has {count(len(others), 'query')} that the suite does not have: {listed(others)}"


def by_stored_scores(
    pair: tuple[ComparedSide, ComparedSide], measures: Sequence[Measure], thresholds: Sequence[Threshold]
) -> ScoredSides:
    """
    Use the stored scores of both sides; where one has none, only the rankings are compared.

    Args:
        pair: The sides to compare.
        measures: The measures to compare; all that both have where it is empty.
        thresholds: The thresholds of the comparison.

    Raises:
        UsageError: The scores were computed with different gains or profiles, or a requested measure has none.
    """
    reference, candidate = pair
    profile, gain = reference.profile or candidate.profile, reference.gain or candidate.gain
    suite = plain_suite(pair, profile or Profile.STANDARD, gain or Gain())
    depth = Depths.of(pair, None).common
    runs = (cut_at(reference.run, depth), cut_at(candidate.run, depth))
    suite = replace(suite, thresholds=tuple(thresholds), depth=depth or deepest_ranking(*runs))
    if not reference.scores or not candidate.scores:
        _refuse_without_scores(pair, measures)
        return ScoredSides(suite, runs, ((), ()), depth, (f"{_unscored(pair)}, so only the rankings are compared",))
    _refuse_unlike(pair)
    shared = _shared_measures(pair, [*measures, *filter(None, map(measure_named, thresholds))])
    suite = replace(suite, measures=tuple(measures) or tuple(map(parse_measure, shared)))
    notes = ["the scores are those that both hold", *_judged_otherwise(pair), *_weighed_otherwise(pair)]
    scores = (_judged_by_both(reference, candidate), _judged_by_both(candidate, reference))
    settled = _settle_stored_scores(runs, scores) if may_share_request(*pair) else ()
    # A baseline has fingerprints of its judgments, and not the grades.
    grades_known = all(any(query.judgments for query in side.queries) for side in pair)
    return ScoredSides(suite, runs, scores, depth, tuple(notes), grades_known, settled=settled)


def _settle_stored_scores(runs: tuple[Run, Run], scores: tuple[Sequence[Score], Sequence[Score]]) -> tuple[Score, ...]:
    """
    The candidate's scores, with those of the reference where only the order of ties differs; empty if that is nowhere.

    Where more differs, a stored score cannot be computed again.
    """
    reference, candidate = (run.responses for run in runs)
    settled = settle_run(*runs).responses
    only_ties = {
        query
        for query, ranking in settled.items()
        if ranking is not candidate[query] and _ids_of(ranking) == _ids_of(reference[query])
    }
    values = {(score.query, score.measure): score.value for score in scores[0]}
    if not only_ties:
        return ()
    return tuple(
        replace(score, value=values.get((score.query, score.measure), score.value))
        if score.query in only_ties and score.value is not None
        else score
        for score in scores[1]
    )


def _ids_of(response: Response) -> list[str]:
    return [hit.id for hit in response.hits] if isinstance(response, Ranking) else []


def _judged_by_both(one: ComparedSide, other: ComparedSide) -> tuple[Score, ...]:
    """
    The scores of *one*; a score that is undefined there and has a value in *other* becomes an error.

    Only the judgments decide whether a score is defined, so judgments of *one* are missing. Such a query must not be
    left out as if it had never been judged.
    """
    there = {(score.query, score.measure) for score in other.scores if score.value is not None}
    gone = f"undefined, where {other.side.name} has a score: its judgments are missing"
    return tuple(
        replace(score, outcome=Outcome.ERROR, reason=gone)
        if score.outcome is Outcome.UNDEFINED and (score.query, score.measure) in there
        else score
        for score in one.scores
    )


def _unscored(pair: Iterable[ComparedSide]) -> str:
    without = [one.side.name for one in pair if not one.scores]
    return f"{' and '.join(without)} {'have' if len(without) > 1 else 'has'} no scores"


def _refuse_without_scores(pair: Iterable[ComparedSide], measures: Sequence[Measure]) -> None:
    if measures:
        names = ", ".join(measure.text for measure in measures)
        raise UsageError(f"{names} cannot be compared, as {_unscored(pair)}; give ", SUITE, " or ", QRELS)


def _refuse_unlike(pair: tuple[ComparedSide, ComparedSide]) -> None:
    first, second = pair
    unlike = [
        f"{what} {ours} and {theirs}"
        for what, ours, theirs in (
            ("gain", str(first.gain), str(second.gain)),
            ("profile", str(first.profile), str(second.profile)),
        )
        if ours != theirs
    ]
    if unlike:
        raise UsageError(
            f"the scores of {first.side.name} and {second.side.name} were computed with different settings: "
            f"{', '.join(unlike)}; give ",
            SUITE,
            " or ",
            QRELS,
            " to score both sides in the same way",
        )


def _shared_measures(pair: tuple[ComparedSide, ComparedSide], named: Iterable[Measure]) -> list[str]:
    first, second = ({score.measure: None for score in one.scores} for one in pair)
    shared = [measure for measure in first if measure in second]
    lacking = [measure.text for measure in named if measure.text not in shared]
    if lacking or not shared:
        both = f"{pair[0].side.name} and {pair[1].side.name} both hold {', '.join(shared) or 'no measure'}"
        others = f", and not {', '.join(dict.fromkeys(lacking))}" if lacking else ""
        raise UsageError(f"{both}{others}; give ", SUITE, " or ", QRELS, " to compute other measures")
    return shared


def _judged_otherwise(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    """A sentence where the scores of both sides were computed with different judgments."""
    first, second = pair
    if first.fingerprints and second.fingerprints:
        both = first.fingerprints.keys() & second.fingerprints.keys()
        changed = sorted(query for query in both if first.fingerprints[query] != second.fingerprints[query])
    elif first.fingerprints or second.fingerprints:
        yield "whether both were judged alike cannot be told; with a suite both are scored anew"
        return
    else:
        grades = {query.id: query.judgments for query in second.queries}
        changed = [query.id for query in first.queries if _differ(query.judgments, grades.get(query.id, {}))]
    if changed:
        yield (
            f"{count(len(changed), 'query')} not judged alike ({listed(changed)}), so scores may differ for that; "
            "with a suite both are scored anew"
        )


def _weighed_otherwise(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    before = {query.id: query.weight for query in pair[0].queries}
    changed = [query.id for query in pair[1].queries if before.get(query.id, query.weight) != query.weight]
    if changed:
        yield f"the weights of {pair[1].side.name} hold: {count(len(changed), 'query')} had another ({listed(changed)})"


def _differ(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    return any(first[document] != second[document] for document in first.keys() & second.keys())


# Tests.


NEEDED = ("numpy", "scipy")
FEWEST = 2
"""Queries that a test needs."""

Table = dict[str, float | None]


def compare_measures(
    names: tuple[str, str], scored: ScoredSides, how: ComparisonOptions | None
) -> tuple[Comparison | None, tuple[str, ...]]:
    """
    Test each measure of *scored* over the queries that have a score on both sides.

    Args:
        names: The names of the two sides.
        scored: The scores.
        how: How differences are tested; None for the defaults.

    Returns:
        The comparison, None where no measure has two such queries or the packages for statistics are not installed; and
        a sentence for each measure that is not tested.

    Raises:
        StatisticError: The test is the t test and no query differs.
    """
    reference, returned = (score_tables(scored, scores) for scores in scored.scores)
    candidate = score_tables(scored, scored.settled) if scored.settled else returned
    both = {measure: _in_both(reference[measure], candidate[measure]) for measure in reference}
    tested = [measure for measure in reference if both[measure] >= FEWEST]
    notes = tuple(
        f"{measure} is not tested: {count(scored, 'query')} {'has' if scored == 1 else 'have'} a score on both sides"
        for measure, scored in both.items()
        if scored < FEWEST
    )
    if not tested or not scored.is_judged:
        return None, notes if scored.is_judged else ()
    weights = {query.id: query.weight for query in scored.suite.queries}
    if absent_packages():
        return None, (*notes, *(_untested(name, reference[name], candidate[name], weights) for name in tested))
    from harness.statistics.compare import compare

    sides = ({measure: table[measure] for measure in tested} for table in (reference, candidate))
    comparison = compare(*sides, names=names, options=how, weights=weights)
    return tell_all_ties(comparison, reference, candidate, returned, weights), notes


def compare_scores(runs: Sequence[tuple[str, Scores]], how: ComparisonOptions) -> tuple[Comparison, ...]:
    """
    Compare each of *runs* with the first, by its name; needs the packages for statistics.

    With several candidates, the p-values are corrected for all comparisons, not for those of one candidate.

    Raises:
        UsageError: the runs have no scored query in common.
        StatisticError: there are too few queries for the test.
    """
    from harness.statistics.compare import CORRECTED, compare

    (name, reference), *candidates = runs
    found = [compare(reference, scores, names=(name, other), options=how) for other, scores in candidates]
    p_values = [row.p_value for comparison in found for row in comparison.measures]
    adjusted = iter(CORRECTED[how.correction](p_values))
    return tuple(
        replace(comparison, measures=tuple(replace(row, adjusted=next(adjusted)) for row in comparison.measures))
        for comparison in found
    )


def score_tables(scored: ScoredSides, scores: Sequence[Score]) -> dict[str, Table]:
    """The values of *scores* by measure, then by query of *scored*; None where there is no finite value."""
    values = {
        (score.query, score.measure): score.value
        for score in scores
        if score.value is not None and math.isfinite(score.value)
    }
    return {
        measure.text: {query.id: values.get((query.id, measure.text)) for query in scored.suite.queries}
        for measure in common_measures(scored.suite)
    }


def _untested(measure: str, reference: Table, candidate: Table, weights: Mapping[str, float]) -> str:
    """A sentence with the means of a measure that cannot be tested."""
    both = {query: (value, candidate[query]) for query, value in reference.items()}
    pairs = {query: pair for query, pair in both.items() if None not in pair}
    before, after = (mean_of({query: pair[side] or 0.0 for query, pair in pairs.items()}, weights) for side in (0, 1))
    means = f"{before:.4f} → {after:.4f} ({after - before:+.4f})"
    return f"{measure} {means} over {count(len(pairs), 'query')}; {_needs_packages('it is not tested')}"


def _in_both(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> int:
    return sum(value is not None and second.get(query) is not None for query, value in first.items())


def absent_packages() -> list[str]:
    """The packages for statistics that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def require_packages() -> None:
    """Raise UsageError where the packages for statistics are not installed."""
    if absent_packages():
        raise UsageError(_needs_packages("measures are not compared"))


def _needs_packages(what: str) -> str:
    return f"{what} without {' and '.join(absent_packages())}: {pip_install('statistics')} brings what is needed"
