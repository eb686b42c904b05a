"""The scores of two sides: by which judgments, down to which depth, and how they are tested. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.errors import MeasureError, UsageError, pip_install
from harness.extensions.compare.model import SideComparison, SideKind
from harness.extensions.compare.sides import QRELS, SUITE, ComparedSide, may_share_request, truncate_run
from harness.extensions.compare.ties import add_tie_moves, settle_run
from harness.files.query_ids import check_runs_meet
from harness.files.runs import FileScorer
from harness.means import mean_of
from harness.metrics import parse_measure, profile_gain
from harness.metrics.measures import common_measures, get_measure
from harness.metrics.near_ids import JudgedRanking, describe_near_ids
from harness.metrics.run_scores import outcome_of, score_run
from harness.model.comparison import Comparison
from harness.model.run import Ranking, Response, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import (
    AgreementCondition,
    Gain,
    Measure,
    Profile,
    Query,
    Suite,
    Target,
    Threshold,
    select_scored,
)
from harness.statistics.paired import pair_defined
from harness.words import count, counted, listed

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions


def add_threshold_measures(measures: Iterable[Measure], thresholds: Iterable[Threshold]) -> list[Measure]:
    """*measures*, and those that *thresholds* name."""
    named = list(measures)
    for threshold in thresholds:
        measure = get_measure(threshold)
        if measure is not None:
            named.append(measure)
    return named


# Depths.


@dataclass(frozen=True, slots=True)
class Depths:
    """The number of hits per query that each side requested, and refusals of what looks deeper."""

    sides: tuple[tuple[str, int | None], ...]
    """The name and the depth of each side; None where its rankings are whole."""
    suite: str = ""
    """The file of the suite that both are compared by; empty without one."""
    of_suite: int | None = None
    """The number of hits that the requests of the suite ask for; None without a suite or requests."""

    @property
    def common(self) -> int | None:
        """The number of hits per query that both have; None where the rankings are whole."""
        depths = [depth for _, depth in self.sides if depth is not None]
        if self.of_suite is not None:
            depths.append(self.of_suite)
        return min(depths, default=None)

    def refuse_ranks(self, depth: int | None) -> None:
        """
        Raise UsageError where *depth* ranks are more than both have.

        None, for as many as there are, is always fine.
        """
        if depth is not None and self.common is not None and depth > self.common:
            raise UsageError(
                f"depth {depth} is deeper than the {self.common} hits a query that {self._name_shallowest()} asked for"
            )

    def refuse_measures(self, measures: Iterable[Measure]) -> None:
        """Raise UsageError where one of *measures* is deeper than both rankings; names all such measures."""
        if self.common is None:
            return
        deeper = sorted({measure.text for measure in measures if (measure.cutoff or 0) > self.common})
        if deeper:
            raise UsageError(
                f"{', '.join(deeper)} looks at more hits than the {self.common} a query that "
                f"{self._name_shallowest()} asked for"
            )

    def refuse_agreements(self, thresholds: Iterable[Threshold]) -> None:
        """Raise UsageError where an agreement without a cutoff would have fewer hits than the suite requests."""
        if self.of_suite is None or self.common == self.of_suite:
            return
        uncut = set()
        for threshold in thresholds:
            condition = threshold.condition
            if isinstance(condition, AgreementCondition) and condition.agreement.cutoff is None:
                uncut.add(condition.agreement.text)
        if uncut:
            names = sorted(uncut)
            raise UsageError(
                f"{', '.join(names)} looks at the {self.of_suite} hits a query that the suite asks for, more than the "
                f"{self.common} that {self._name_shallowest()} asked for: say {names[0]}@{self.common}"
            )

    def _name_shallowest(self) -> str:
        """The sides that asked for the fewest hits; the suite where it asks for fewer than both."""
        return " and ".join(name for name, depth in self.sides if depth == self.common) or self.suite


def make_depths(sides: Iterable[tuple[str, int | None]], suite: Suite | None) -> Depths:
    """The depths of *sides*, as names and depths; a side need not be searched yet."""
    if suite is None:
        return Depths(tuple(sides))
    return Depths(tuple(sides), suite.path, suite.depth if suite.requests else None)


def read_depths(pair: Iterable[ComparedSide], suite: Suite | None) -> Depths:
    """The depths of two sides that were read or run."""
    return make_depths([(side.name, side.depth) for side in pair], suite)


# With judgments both runs are scored anew, so that only the rankings differ. Without judgments the stored scores of
# both are compared, if they were computed alike; else only the rankings.


@dataclass(frozen=True, slots=True)
class ScoredSides:
    """Both sides as they are compared: the same queries, and scores of the same kind."""

    suite: Suite
    """Holds the queries that are compared, the measures, gain and profile."""
    runs: tuple[Run, Run]
    """No deeper than *depth*: what rankings are compared by, and measures with a cutoff."""
    deep_runs: tuple[Run, Run]
    """The same if both sides asked for as many hits; else each as deep as it asked, for measures without a cutoff."""
    scores: tuple[Sequence[Score], Sequence[Score]]
    """Of both runs; empty where nothing is judged."""
    depth: int | None
    """The number of hits per query that both have; None where the rankings are whole."""
    notes: tuple[str, ...] = ()
    """Sentences on how the scores were computed."""
    grades_known: bool = False
    """Whether the queries of *suite* have all judgments of the hits."""
    is_rescored: bool = False
    """Whether the scores were computed from these judgments now."""
    settled: Sequence[Score] = ()
    """
    The scores of the candidate with documents of equal score in the order of the reference; empty where that changes
    nothing.
    """
    warnings: tuple[str, ...] = ()
    """What makes the scores say less than they seem to."""
    false_hits: str = ""
    """How many hits each side has where no result is right, in words; empty without such queries."""

    @property
    def uncut_measures(self) -> list[Measure]:
        """The measures that are compared and have no cutoff, so that they count all hits of a side."""
        return _list_uncut(self.suite)

    @property
    def is_judged(self) -> bool:
        """Whether there are scores."""
        return bool(self.scores[0] or self.scores[1])


def _list_uncut(suite: Suite) -> list[Measure]:
    """The measures of *suite* and its thresholds that have no cutoff."""
    measures = add_threshold_measures(suite.measures, suite.thresholds)
    return [measure for measure in measures if measure.cutoff is None]


def count_own_hits(pair: Iterable[ComparedSide], common: int | None) -> tuple[int | None, ...]:
    """
    How many hits a query each of *pair* asked for, where *common* is what both have.

    A run file does not say how many were asked for: it counts as *common*.
    """
    return tuple(common if side.depth is None else side.depth for side in pair)


def _truncate_runs(pair: tuple[ComparedSide, ComparedSide], common: int | None) -> tuple[tuple[Run, Run], ...]:
    """The runs of *pair* cut at *common* hits a query, and each cut at its own depth."""
    own = count_own_hits(pair, common)
    runs = (truncate_run(pair[0].run, common), truncate_run(pair[1].run, common))
    if own == (common, common):
        return runs, runs
    return runs, (truncate_run(pair[0].run, own[0]), truncate_run(pair[1].run, own[1]))


def score_by_suite(
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
    scored_suite = replace(
        suite,
        queries=tuple(replace(query, thresholds=(), xfail=None, skip=None) for query in select_scored(queries)),
        measures=tuple(measures) or common_measures(suite),
        thresholds=tuple(thresholds),
    )
    source = f"the suite {suite.name}" if suite.path else "the evaluation"
    notes = [f"the sides are scored with the judgments of {source}", *_list_unknown_queries(pair, suite)]
    false_hits = _describe_false_hits(pair, [query.id for query in queries if query.nothing])
    return replace(_score_both(pair, scored_suite, notes, None), false_hits=false_hits)


def _describe_false_hits(pair: Iterable[ComparedSide], queries: Sequence[str]) -> str:
    """On how many of *queries*, for which no result is right, each side has hits; they are in no other figure."""
    if not queries:
        return ""
    sides = []
    for side in pair:
        rankings = [side.run.responses.get(query) for query in queries]
        answered = [ranking for ranking in rankings if isinstance(ranking, Ranking)]
        with_hits = sum(bool(ranking.ids) for ranking in answered)
        sides.append(f"{side.name} {with_hits} of {len(answered)} answered")
    return f"no result is right for {counted(queries, 'query')}, not compared; false hits: {', '.join(sides)}"


def _list_nothing(pair: Iterable[ComparedSide]) -> tuple[str, ...]:
    """The queries of both sides for which one of them says that no result is right."""
    return tuple(dict.fromkeys(query.id for side in pair for query in side.queries if query.nothing))


def _list_unknown_queries(pair: Iterable[ComparedSide], suite: Suite) -> Iterator[str]:
    """A note on each side that has queries which *suite* does not have."""
    ids = {query.id for query in suite.queries}
    for side in pair:
        unknown = [query.id for query in side.queries if query.id not in ids]
        if unknown:
            size = count(len(unknown), "query")
            yield f"{side.name} has {size} that the suite does not have: {listed(unknown)}"


def score_by_judgments(
    pair: tuple[ComparedSide, ComparedSide],
    judgments: FileScorer,
    measures: Sequence[Measure],
    thresholds: Sequence[Threshold],
) -> ScoredSides:
    """
    Score both runs with *judgments*, as `FileScorer` scores the file of a run.

    Queries without judgments have no score, and count in the agreement. Raises as `score_by_suite`.
    """
    judged = set(judgments.judged_queries)
    judged_of_sides = (judged & pair[0].run.responses.keys(), judged & pair[1].run.responses.keys())
    check_runs_meet(judged_of_sides, (pair[0].name, pair[1].name))
    suite = _join_queries(pair, judgments.profile, judgments.gain or profile_gain(judgments.profile))
    suite = replace(
        suite,
        queries=tuple(replace(query, judgments=judgments.grades.get(query.id, {})) for query in suite.queries),
        measures=tuple(measures),
        thresholds=tuple(thresholds),
    )
    notes = [f"the sides are scored with the judgments of {judgments.judgments}"]
    ids = {query.id for query in suite.queries}
    absent = [query for query in judgments.judged_queries if query not in ids]
    if absent:
        notes.append(f"judged and in neither run: {counted(absent, 'query')}")
    if any(side.kind is SideKind.RUN and judged - side.run.responses.keys() for side in pair):
        notes.append("`--complete` counts a judged query that is not in a run file as one without hits")
    scored = _score_both(pair, suite, notes, judgments)
    return replace(scored, false_hits=_describe_false_hits(pair, _list_nothing(pair)))


def _score_both(
    pair: tuple[ComparedSide, ComparedSide], suite: Suite, notes: Iterable[str], judgments: FileScorer | None
) -> ScoredSides:
    """Score both of *pair* by *judgments*, or by those of *suite* where there are none, each down to its own depth."""
    depths = read_depths(pair, suite)
    depths.refuse_measures(add_threshold_measures(suite.measures, suite.thresholds))
    depth = depths.common
    runs, deep_runs = _truncate_runs(pair, depth)
    first, second = deep_runs
    suite = replace(suite, depth=depth or _find_longest(first, second))
    notes = [*notes, *_list_near_ids(pair, runs, suite)]
    scores = (_score_run(first, suite, judgments), _score_run(second, suite, judgments))
    _refuse_unscored(pair[0].name, first, scores[0])
    _refuse_unscored(pair[1].name, second, scores[1])
    settled: Sequence[Score] = ()
    if may_share_request(*pair):
        settled = _score_settled(runs, suite, judgments)
        if deep_runs is not runs:
            deep_settled = _score_settled(deep_runs, suite, judgments)
            settled = _replace_uncut(settled or scores[1], deep_settled or scores[1], suite)
    # Judgments by subtopic are not grades.
    grades_known = any(query.judgments for query in suite.queries)
    return ScoredSides(
        suite, runs, deep_runs, scores, depth, tuple(notes), grades_known, is_rescored=True, settled=settled
    )


def _score_settled(runs: tuple[Run, Run], suite: Suite, judgments: FileScorer | None) -> Sequence[Score]:
    """The scores of the second of *runs* with ties in the order of the first; empty where no tie is reordered."""
    in_order = settle_run(*runs)
    # The same run comes back where no tie was reordered: then there is nothing to score again.
    if in_order is runs[1]:
        return ()
    return _score_run(in_order, suite, judgments)


def _replace_uncut(scores: Sequence[Score], deep_scores: Sequence[Score], suite: Suite) -> Sequence[Score]:
    """*scores*, with those of *deep_scores* by measures without a cutoff, where there are any."""
    uncut = {measure.text for measure in _list_uncut(suite)}
    deep = {(score.query, score.measure): score for score in deep_scores if score.measure in uncut}
    return [deep.get((score.query, score.measure), score) for score in scores]


def _list_near_ids(pair: tuple[ComparedSide, ComparedSide], runs: tuple[Run, Run], suite: Suite) -> Iterator[str]:
    """A note on each side whose hits are judged under another form of their id."""
    for side, run in zip(pair, runs, strict=True):
        sentence = describe_near_ids(
            JudgedRanking(_list_ids(run.responses[query.id]), query.judgments)
            for query in suite.queries
            if query.id in run.responses
        )
        if sentence:
            yield f"{side.name}: {sentence}"


def _score_run(run: Run, suite: Suite, judgments: FileScorer | None) -> tuple[Score, ...]:
    """The scores of *run* by *judgments* from a file, or by those of *suite*."""
    if judgments is None:
        return score_run(suite, run)
    rankings = {}
    for query_id, response in run.responses.items():
        if isinstance(response, Ranking):
            rankings[query_id] = _list_ids(response)
    measures = {measure.text: measure for measure in add_threshold_measures(suite.measures, suite.thresholds)}
    values_by_measure = judgments.score_rankings(rankings, list(measures.values())).scores
    scores = []
    for query in suite.queries:
        for measure, values in values_by_measure.items():
            value = values.get(query.id)
            if value is None and query.id in rankings:
                scores.append(Score(query.id, measure, None, Outcome.UNDEFINED))
            else:
                outcome, reason = outcome_of(query, run.responses.get(query.id))
                scores.append(Score(query.id, measure, value, outcome, reason))
    return tuple(scores)


def _list_ids(response: Response) -> tuple[str, ...]:
    """The documents of a ranking; none of a failure."""
    return response.ids if isinstance(response, Ranking) else ()


def _refuse_unscored(name: str, run: Run, scores: Iterable[Score]) -> None:
    """Raise MeasureError where a measure cannot score a ranking: it would be compared over fewer queries."""
    for score in scores:
        if score.outcome is Outcome.ERROR and isinstance(run.responses.get(score.query), Ranking):
            raise MeasureError(f"{name}: {score.measure} cannot score query {score.query!r}: {score.reason}")


def _find_longest(*runs: Run) -> int:
    """The number of hits of the longest ranking, at least 1."""
    longest = 1
    for run in runs:
        for response in run.responses.values():
            longest = max(longest, len(_list_ids(response)))
    return longest


def _join_queries(pair: tuple[ComparedSide, ComparedSide], profile: Profile, gain: Gain) -> Suite:
    """
    All queries of both sides, as a suite without a name, a file, requests or measures.

    Queries with an undefined score are left out, and counted, as under `undefined: skip`. The weights are those of the
    second side, unless it has no scores.
    """
    queries: dict[str, Query] = {}
    weights: dict[str, float] = {}
    nothing = set(_list_nothing(pair))
    for side in pair:
        for query in side.queries:
            if query.id in nothing:
                continue
            # A run file has no texts, and a baseline no grades: each takes from the other what it lacks.
            first = queries.get(query.id, query)
            queries[query.id] = replace(
                first,
                text=query.text if first.text == first.id else first.text,
                tags=first.tags or query.tags,
                judgments={**query.judgments, **first.judgments},
                quotes=first.quotes or query.quotes,
            )
            if side.scores:
                weights[query.id] = query.weight
    weighted = tuple(replace(query, weight=weights.get(query.id, query.weight)) for query in queries.values())
    return Suite("", "", Target(), {}, (), weighted, gain=gain, profile=profile, skip_undefined=True)


# Stored scores.


def use_stored_scores(
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
    profile = reference.profile or candidate.profile or Profile.STANDARD
    gain = reference.gain or candidate.gain or Gain()
    depth = read_depths(pair, None).common
    runs, deep_runs = _truncate_runs(pair, depth)
    suite = _join_queries(pair, profile, gain)
    suite = replace(suite, thresholds=tuple(thresholds), depth=depth or _find_longest(*runs))
    false_hits = _describe_false_hits(pair, _list_nothing(pair))
    unscored = [side.name for side in pair if not side.scores]
    if unscored:
        without = f"{' and '.join(unscored)} {'has' if len(unscored) == 1 else 'have'} no scores"
        if measures:
            names = ", ".join(measure.text for measure in measures)
            raise UsageError(f"{names} cannot be compared, as {without}; give ", SUITE, " or ", QRELS)
        notes = [f"{without}, so only the rankings are compared"]
        return ScoredSides(suite, runs, deep_runs, ((), ()), depth, tuple(notes), false_hits=false_hits)
    _refuse_unlike(reference, candidate)
    shared = _list_shared_measures(reference, candidate, add_threshold_measures(measures, thresholds))
    suite = replace(suite, measures=tuple(measures) or tuple(map(parse_measure, shared)))
    scores = (_mark_unjudged(reference, candidate), _mark_unjudged(candidate, reference))
    settled: Sequence[Score] = ()
    if may_share_request(*pair):
        settled = _settle_stored_scores(runs, scores)
        # The first hits of both may be the same where the hits below, which the score counts too, are not.
        if settled and deep_runs is not runs:
            settled = _replace_uncut(settled, scores[1], suite)
    notes = ["the scores are those that both hold"]
    notes += _note_judgments(reference, candidate)
    notes += _note_weights(reference, candidate)
    # A baseline has fingerprints of its judgments, and not the grades.
    grades_known = all(any(query.judgments for query in side.queries) for side in pair)
    return ScoredSides(
        suite, runs, deep_runs, scores, depth, tuple(notes), grades_known, settled=settled, false_hits=false_hits
    )


def _refuse_unlike(reference: ComparedSide, candidate: ComparedSide) -> None:
    """Raise UsageError where the scores of both sides were computed with another gain or profile."""
    unlike = []
    if str(reference.gain) != str(candidate.gain):
        unlike.append(f"gain {reference.gain} and {candidate.gain}")
    if reference.profile != candidate.profile:
        unlike.append(f"profile {reference.profile} and {candidate.profile}")
    if unlike:
        raise UsageError(
            f"the scores of {reference.name} and {candidate.name} were computed with different settings: "
            f"{', '.join(unlike)}; give ",
            SUITE,
            " or ",
            QRELS,
            " to score both sides in the same way",
        )


def _list_shared_measures(reference: ComparedSide, candidate: ComparedSide, named: Iterable[Measure]) -> list[str]:
    """The measures that both sides have scores of; refuses where there is none, or where one of *named* is not."""
    of_candidate = {score.measure for score in candidate.scores}
    of_reference = dict.fromkeys(score.measure for score in reference.scores)
    shared = [measure for measure in of_reference if measure in of_candidate]
    lacking = [measure.text for measure in named if measure.text not in shared]
    if lacking or not shared:
        sentence = f"{reference.name} and {candidate.name} both hold {', '.join(shared) or 'no measure'}"
        if lacking:
            sentence += f", and not {', '.join(dict.fromkeys(lacking))}"
        raise UsageError(f"{sentence}; give ", SUITE, " or ", QRELS, " to compute other measures")
    return shared


def _mark_unjudged(side: ComparedSide, other: ComparedSide) -> tuple[Score, ...]:
    """
    The scores of *side*; a score that is undefined there and has a value in *other* becomes an error.

    Only the judgments decide whether a score is defined, so judgments of *side* are missing. Such a query must not be
    left out as if it had never been judged.
    """
    defined = {(score.query, score.measure) for score in other.scores if score.value is not None}
    reason = f"undefined, where {other.name} has a score: its judgments are missing"
    scores = []
    for score in side.scores:
        if score.outcome is Outcome.UNDEFINED and (score.query, score.measure) in defined:
            scores.append(replace(score, outcome=Outcome.ERROR, reason=reason))
        else:
            scores.append(score)
    return tuple(scores)


def _settle_stored_scores(runs: tuple[Run, Run], scores: tuple[Sequence[Score], Sequence[Score]]) -> tuple[Score, ...]:
    """
    The candidate's scores, with those of the reference where only the order of ties differs; empty if that is nowhere.

    Where more differs, a stored score cannot be computed again.
    """
    reference, candidate = runs
    only_ties = set()
    for query, ranking in settle_run(reference, candidate).responses.items():
        is_reordered = ranking is not candidate.responses[query]
        if is_reordered and _list_ids(ranking) == _list_ids(reference.responses[query]):
            only_ties.add(query)
    if not only_ties:
        return ()
    values = {(score.query, score.measure): score.value for score in scores[0]}
    settled = []
    for score in scores[1]:
        if score.query in only_ties and score.value is not None:
            settled.append(replace(score, value=values.get((score.query, score.measure), score.value)))
        else:
            settled.append(score)
    return tuple(settled)


def _note_judgments(reference: ComparedSide, candidate: ComparedSide) -> Iterator[str]:
    """A note where the scores of both sides were computed with different judgments."""
    before, after = reference.fingerprints, candidate.fingerprints
    if bool(before) != bool(after):
        yield "whether both were judged alike cannot be told; with a suite both are scored anew"
        return
    if before:
        changed = sorted(query for query in before.keys() & after.keys() if before[query] != after[query])
    else:
        queries = {query.id: query for query in candidate.queries}
        changed = [query.id for query in reference.queries if query.id in queries and _differ(query, queries[query.id])]
    if changed:
        yield (
            f"{count(len(changed), 'query')} not judged alike ({listed(changed)}), so scores may differ for that; "
            "with a suite both are scored anew"
        )


def _differ(before: Query, after: Query) -> bool:
    """Whether a document has another grade, or quotes differ; a report has the grades of some documents only."""
    grades, grades_after = before.judgments, after.judgments
    if any(grades[document] != grades_after[document] for document in grades.keys() & grades_after.keys()):
        return True
    quotes, quotes_after = ({quote.key: quote.grade for quote in query.quotes} for query in (before, after))
    return quotes != quotes_after


def _note_weights(reference: ComparedSide, candidate: ComparedSide) -> Iterator[str]:
    """A note where queries have another weight in the candidate, whose weights are used."""
    before = {query.id: query.weight for query in reference.queries}
    changed = [query.id for query in candidate.queries if before.get(query.id, query.weight) != query.weight]
    if changed:
        size = count(len(changed), "query")
        yield f"the weights of {candidate.name} hold: {size} had another ({listed(changed)})"


# Tests.


NEEDED = ("numpy", "scipy")
_FEWEST = 2
"""Queries that a test needs."""


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
    if not scored.is_judged:
        return None, ()
    reference, returned = (tabulate_scores(scored, scores) for scores in scored.scores)
    candidate = returned
    if scored.settled:
        candidate = tabulate_scores(scored, scored.settled)
    tested, notes = [], []
    for measure in reference:
        pairs = pair_defined(reference[measure], candidate[measure])
        if len(pairs) >= _FEWEST:
            tested.append(measure)
        else:
            verb = "has" if len(pairs) == 1 else "have"
            notes.append(f"{measure} is not tested: {count(len(pairs), 'query')} {verb} a score on both sides")
    if not tested:
        return None, tuple(notes)
    weights = {query.id: query.weight for query in scored.suite.queries}
    if list_absent_packages():
        pairs_of_tested = {measure: pair_defined(reference[measure], candidate[measure]) for measure in tested}
        notes += [_describe_means(measure, pairs, weights) for measure, pairs in pairs_of_tested.items()]
        return None, tuple(notes)
    from harness.statistics.compare import compare

    comparison = compare(
        {measure: reference[measure] for measure in tested},
        {measure: candidate[measure] for measure in tested},
        names=names,
        options=how,
        weights=weights,
    )
    return add_tie_moves(comparison, reference, candidate, returned, weights), tuple(notes)


def correct_together(comparisons: Sequence[SideComparison]) -> list[SideComparison]:
    """*comparisons*, with p corrected over all measures of all of them; a side without scores has no measures."""
    tested = [comparison.measures for comparison in comparisons if comparison.measures is not None]
    if not tested:
        return list(comparisons)
    from harness.statistics.compare import CORRECTED

    p_values = [row.p_value for measures in tested for row in measures.measures]
    adjusted = iter(CORRECTED[tested[0].correction](p_values))
    corrected = []
    for comparison in comparisons:
        if comparison.measures is not None:
            rows = tuple(replace(row, adjusted=next(adjusted)) for row in comparison.measures.measures)
            comparison = replace(comparison, measures=replace(comparison.measures, measures=rows))
        corrected.append(comparison)
    return corrected


def tabulate_scores(scored: ScoredSides, scores: Sequence[Score]) -> dict[str, dict[str, float | None]]:
    """The values of *scores* by measure, then by query of *scored*; None where there is no finite value."""
    values = {}
    for score in scores:
        if score.value is not None and math.isfinite(score.value):
            values[score.query, score.measure] = score.value
    tables = {}
    for measure in common_measures(scored.suite):
        tables[measure.text] = {query.id: values.get((query.id, measure.text)) for query in scored.suite.queries}
    return tables


def _describe_means(measure: str, pairs: Mapping[str, tuple[float, float]], weights: Mapping[str, float]) -> str:
    """A sentence with the means of a measure that cannot be tested."""
    before = mean_of({query: pair[0] for query, pair in pairs.items()}, weights)
    after = mean_of({query: pair[1] for query, pair in pairs.items()}, weights)
    means = f"{before:.4f} → {after:.4f} ({after - before:+.4f})"
    return f"{measure} {means} over {count(len(pairs), 'query')}; {_needs_packages('it is not tested')}"


def list_absent_packages() -> list[str]:
    """The packages for statistics that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def require_packages() -> None:
    """Raise UsageError where the packages for statistics are not installed."""
    if list_absent_packages():
        raise UsageError(_needs_packages("measures are not compared"))


def _needs_packages(what: str) -> str:
    return f"{what} without {' and '.join(list_absent_packages())}: {pip_install('statistics')} brings what is needed"
