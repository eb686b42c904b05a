"""Explains the difference of two requests: sends what lies between them, and decides which differences did it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from harness.errors import UsageError
from harness.extensions.compare.coverage import count_judged, find_range
from harness.extensions.compare.scores import ScoredSides, tabulate_scores
from harness.extensions.compare.sides import truncate_run
from harness.extensions.compare.why.arms import (
    SEARCHES,
    build_arms,
    fit_first,
    group_parts,
    join_differences,
    list_rebuilt,
    split_causes,
)
from harness.extensions.compare.why.asking import (
    PLACES,
    ArmSender,
    explain_refusal,
    find_other_parts,
    make_template,
    name_place,
)
from harness.extensions.compare.why.causes import (
    LEVEL,
    ArmPair,
    DecidedCauses,
    Ends,
    ScoredArm,
    decide_causes,
    estimate_interaction,
)
from harness.extensions.compare.why.differences import Difference, Splitting, split_requests
from harness.extensions.compare.why.indexes import IndexSide, describe_indexes
from harness.extensions.compare.why.model import (
    Estimate,
    ExplainedDifference,
    ExplainedQuery,
    Finding,
    QueryEffect,
    WhyReport,
)
from harness.extensions.compare.why.queries import (
    MovedQuery,
    Numbers,
    explain_queries,
    find_moved,
    list_pairs,
    name_alone,
)
from harness.extensions.compare.why.sentences import name_difference
from harness.means import are_weighted, mean_of
from harness.metrics import deepest_cutoff
from harness.metrics.measures import common_measures
from harness.metrics.run_scores import score_of
from harness.metrics.unjudged import needs_grades
from harness.model.run import Ranking, Run
from harness.model.suite import Measure, Query, Suite
from harness.statistics.paired import EQUAL, pair_defined
from harness.words import count


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """How a difference is explained."""

    each: bool = False
    """Whether the same replacement at sibling places is taken apart."""
    searches: int = SEARCHES
    """The most searches."""
    old_suite: Path | None = None
    """The suite that has the first of the two requests, where it is another."""
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores runs by the first measure of *suite*."""

    suite: Suite
    """With the queries that have a score of both ends."""
    measure: Measure
    depth: int | None
    """The number of hits that are compared; None for all."""

    def truncate(self, run: Run) -> Run:
        return truncate_run(run, self.depth)

    def score(self, run: Run) -> dict[str, float]:
        """The score of each query that has one."""
        scores = {}
        truncated = self.truncate(run)
        for query in self.suite.queries:
            value = score_of(self.suite, query, self.measure, truncated).value
            if value is not None:
                scores[query.id] = value
        return scores

    def score_arm(self, arm: Run, end: Run, end_scores: Mapping[str, float], *, is_after: bool) -> ScoredArm:
        """The scores of *arm*, whose effect is from *end* to it if it *is_after* that, else from it to *end*."""
        ranks = deepest_cutoff(common_measures(self.suite)) or self.suite.depth
        judged = count_judged(self.suite, self.truncate(arm), ranks).judged
        scores = self.score(arm)
        limits = None
        if needs_grades(self.measure):
            sign = 1 if is_after else -1
            runs = (end, arm) if is_after else (arm, end)
            truncated = (self.truncate(runs[0]), self.truncate(runs[1]))
            differences = {
                query: sign * (score - end_scores[query]) for query, score in scores.items() if query in end_scores
            }
            found = find_range(self.suite, truncated, self.measure, differences)
            limits = None if found is None else (found.low, found.high)
        return ScoredArm(scores, judged, limits)


def explain_requests(
    splitting: Splitting, scored: ScoredSides, sender: ArmSender, runs: tuple[Run, Run], options: WhyOptions
) -> WhyReport:
    """
    Explain the difference of two requests whose responses are *runs*.

    Args:
        splitting: The requests, taken apart.
        scored: Their scores.
        sender: Sends what lies between them.
        runs: The responses, as they were given to be scored.
        options: How.

    Raises:
        UsageError: A query has no answer, or `--searches` are too few.
        EngineUnreachable, SuiteError: as `ArmSender.send`.
    """
    return _Explanation(splitting, scored, sender, runs, options).explain()


def estimate_difference(scored: ScoredSides, level: float) -> Estimate:
    """The mean difference of two sides by the first measure, over the queries that have a score on both."""
    measure = common_measures(scored.suite)[0].text
    before, after = (tabulate_scores(scored, scores)[measure] for scores in scored.scores)
    pairs = pair_defined(before, after)
    weights = {query.id: query.weight for query in scored.suite.queries if query.id in pairs}
    ends = Ends(
        {query: pair[0] for query, pair in pairs.items()},
        {query: pair[1] for query, pair in pairs.items()},
        weights if are_weighted(weights.values()) else {},
    )
    return decide_causes(ends, [], level).whole


class _Explanation:
    """One explanation, as it goes on."""

    def __init__(
        self,
        splitting: Splitting,
        scored: ScoredSides,
        sender: ArmSender,
        runs: tuple[Run, Run],
        options: WhyOptions,
    ) -> None:
        self.splitting, self.sender, self.runs, self.options = splitting, sender, runs, options
        measure = common_measures(scored.suite)[0]
        tables = [tabulate_scores(scored, scores)[measure.text] for scores in scored.scores]
        queries = [
            query
            for query in scored.suite.queries
            if tables[0][query.id] is not None and tables[1][query.id] is not None
        ]
        if len(queries) < 2:
            raise UsageError(f"{count(len(queries), 'query')} with a score of {measure.text} on both sides, expected 2")
        self.scorer = _Scorer(replace(scored.suite, queries=tuple(queries)), measure, scored.depth)
        self.scores = [self.scorer.score(run) for run in runs]
        """Of both ends."""
        self.notes: list[str] = []
        self.refusals: dict[frozenset[int], str] = {}
        self.bound: list[Difference] = []
        """Those that the engine takes only together."""
        for run, request in zip(runs, (splitting.old, splitting.new), strict=True):
            sender.add_run(request, run)

    def explain(self) -> WhyReport:
        """See `explain_requests`."""
        ends, floors = self.measure_ends()
        self.prove_rebuilt(floors)
        finest = self.splitting.list_differences(each=self.options.each)
        size = len(self.sender.suite.queries)
        differences = fit_first(finest, size, self.options.searches)
        while True:
            differences, arms = self.send_arms(differences)
            decided = decide_causes(ends, arms, self.options.level)
            causes = [place for place, finding in enumerate(decided.findings) if finding is Finding.CAUSE]
            room = (self.options.searches - self.sender.searches) // size // 2
            parted = split_causes(differences, causes, self.bind(finest), len(differences) + room)
            if parted is None:
                break
            differences = parted
        finest = self.bind(finest)
        if len(differences) < len(finest):
            self.notes.append(
                f"{count(len(finest), 'difference')} were joined to {len(differences)}, as --searches "
                f"{self.options.searches} allow"
            )
        return self.report(ends, floors, differences, arms, decided)

    def measure_ends(self) -> tuple[Ends, dict[str, float]]:
        """The scores of both ends, and how far the score of each query moved between two sends."""
        scores = self.scores
        again = [self.scorer.score(run) for run in self.sender.send_again([self.splitting.old, self.splitting.new])]
        queries = self.scorer.suite.queries
        weights = {query.id: query.weight for query in queries}
        if not are_weighted(weights.values()):
            weights = {}
        floor = 0.0
        floors = dict.fromkeys((query.id for query in queries), 0.0)
        for first, second in zip(scores, again, strict=True):
            moves = {query: second.get(query, score) - score for query, score in first.items()}
            floor = max(floor, abs(mean_of(moves, weights)))
            for query, move in moves.items():
                floors[query] = max(floors[query], abs(move))
        return Ends(scores[0], scores[1], weights, floor), floors

    def prove_rebuilt(self, floors: Mapping[str, float]) -> None:
        """Send the ends as they are rebuilt; what does not rank as the original is left whole."""
        all_differences = self.splitting.list_differences()
        rebuilt = list_rebuilt(self.splitting, all_differences)
        whole: list[str] = []
        for request, run in zip(rebuilt, self.sender.send(rebuilt), strict=True):
            is_old = request == self.splitting.build([])
            original, end = (self.splitting.old, self.runs[0]) if is_old else (self.splitting.new, self.runs[1])
            queries = [query for query in self.scorer.suite.queries if not floors[query.id]]
            if any(_list_ids(run, query) != _list_ids(end, query) for query in queries):
                whole += find_other_parts(request, original)
        if whole:
            places = ", ".join(dict.fromkeys(whole))
            self.notes.append(
                f"taken apart and put together, it does not rank as before, so it is left whole: {places}"
            )
            self.splitting = split_requests(self.splitting.old, self.splitting.new, whole)

    # Arms.

    def send_arms(self, differences: Sequence[Difference]) -> tuple[tuple[Difference, ...], list[ArmPair]]:
        """
        Send both arms of each of *differences*; those that the engine refuses are joined with what makes them valid.

        Returns:
            The differences, and the arms of each.
        """
        requests = []
        for difference in differences:
            arms = build_arms(self.splitting, differences, [difference])
            requests += [arms.reverted, arms.alone]
        runs = self.sender.send(requests)
        pairs = []
        for place, difference in enumerate(differences):
            reverted, alone = runs[2 * place], runs[2 * place + 1]
            refusal = explain_refusal(reverted) or explain_refusal(alone)
            if refusal:
                self.refusals[difference.switches] = refusal
                partner = self.find_partner(difference, differences)
                if partner is not None:
                    rest = [other for other in differences if other not in (difference, partner)]
                    joined = join_differences([difference, partner])
                    self.bound = [other for other in self.bound if not other.switches <= joined.switches]
                    self.bound.append(joined)
                    self.notes.append(
                        f"only together: {name_difference(difference)}; {name_difference(partner)} (the engine refuses "
                        f"one without the other: {refusal})"
                    )
                    return self.send_arms([*rest, joined])
            pairs.append(self.score_pair(reverted, alone))
        return tuple(differences), pairs

    def bind(self, differences: Sequence[Difference]) -> tuple[Difference, ...]:
        """*differences*, with those joined that the engine takes only together."""
        taken = frozenset().union(*(joined.switches for joined in self.bound))
        free = [difference for difference in differences if not difference.switches & taken]
        return (*free, *self.bound)

    def find_partner(self, difference: Difference, differences: Sequence[Difference]) -> Difference | None:
        """The first of *differences* that *difference* is valid with, in both arms, tried with one query."""
        first = self.scorer.suite.queries[:1]
        for other in differences:
            if other is difference or len(differences) < 3:
                continue
            arms = build_arms(self.splitting, differences, [difference, other])
            if not any(map(explain_refusal, self.sender.send([arms.reverted, arms.alone], first))):
                return other
        return None

    def score_pair(self, reverted: Run, alone: Run) -> ArmPair:
        """The arms with these responses; one with a query that has no answer is refused."""
        (old, new), (old_scores, new_scores) = self.runs, self.scores
        first = second = None
        if not explain_refusal(reverted):
            first = self.scorer.score_arm(reverted, new, new_scores, is_after=False)
        if not explain_refusal(alone):
            second = self.scorer.score_arm(alone, old, old_scores, is_after=True)
        return ArmPair(first, second)

    # By query.

    def fit_pairs(self, differences: Sequence[Difference], numbers: Sequence[Numbers], queries: int) -> list[Numbers]:
        """The first of the pairs *numbers*, as many as the searches allow; arms that were sent already are free."""
        room = self.options.searches - self.sender.searches
        fitted = []
        for pair in numbers:
            arms = build_arms(self.splitting, differences, [differences[number] for number in sorted(pair)])
            room -= queries * sum(not self.sender.is_known(request) for request in (arms.reverted, arms.alone))
            if room < 0:
                break
            fitted.append(pair)
        return fitted

    def send_pairs(
        self, differences: Sequence[Difference], numbers: Sequence[Numbers], queries: Sequence[Query]
    ) -> dict[Numbers, ArmPair]:
        """The arms of pairs of *differences*, by their numbers, for *queries* alone."""
        requests = []
        for pair in numbers:
            arms = build_arms(self.splitting, differences, [differences[number] for number in sorted(pair)])
            requests += [arms.reverted, arms.alone]
        runs = self.sender.send(requests, queries)
        scorer = replace(self.scorer, suite=replace(self.scorer.suite, queries=tuple(queries)))
        pairs = {}
        for place, pair in enumerate(numbers):
            scores = [
                None if explain_refusal(run) else ScoredArm(scorer.score(run))
                for run in runs[2 * place : 2 * place + 2]
            ]
            pairs[pair] = ArmPair(*scores)
        return pairs

    def explain_parts(
        self, ends: Ends, differences: Sequence[Difference]
    ) -> tuple[tuple[ExplainedDifference, ...], Estimate | None]:
        """What the request does, what the index does, and what both do together, where both differ."""
        parts = group_parts(differences)
        if len(parts) < 2:
            return (), None
        arms = build_arms(self.splitting, differences, parts[0].members)
        reverted, alone = self.sender.send([arms.reverted, arms.alone])
        first = self.score_pair(reverted, alone)
        # What is the one part alone is beside the rest for the other.
        pairs = [first, self.score_pair(alone, reverted)]
        decided = decide_causes(ends, pairs, self.options.level)
        explained = []
        for part, finding, effects in zip(parts, decided.findings, decided.effects, strict=True):
            pointers = tuple(member.pointer for member in part.members)
            explained.append(ExplainedDifference(part.name, pointers, finding, *effects))
        together = None
        if first.reverted is not None and first.alone is not None:
            together = estimate_interaction(ends, first.reverted.scores, first.alone.scores, self.options.level)
        return tuple(explained), together

    def describe_indexes(self, differences: Sequence[Difference], moved: Sequence[str]) -> tuple[str, ...]:
        """How the two indexes differ that the old and the new request search, where both exist already."""
        places = [difference for difference in differences if difference.pointer in PLACES]
        if not places:
            return ()
        alone = build_arms(self.splitting, differences, places).alone
        [run_alone] = self.sender.send([alone])
        sides = []
        for request, run in ((self.splitting.old, self.runs[0]), (alone, run_alone)):
            search = self.sender.find_search(request)
            if search is None:
                return ("how they differ was not looked at, as their answers are from an earlier run: run it again",)
            if run.index is None:
                return ("how they differ is not known: such a server does not say what it holds",)
            suite, template = self.sender.suite, make_template(self.sender.template, self.sender.template.name, request)
            sides.append(IndexSide(name_place(request, run.index), run.index, search, suite, template, run))
        queries = {query.id: query for query in self.scorer.suite.queries}
        return tuple(describe_indexes((sides[0], sides[1]), [queries[query] for query in moved]))

    def report(
        self,
        ends: Ends,
        floors: Mapping[str, float],
        differences: Sequence[Difference],
        arms: Sequence[ArmPair],
        decided: DecidedCauses,
    ) -> WhyReport:
        """What was found, after pairs were sent for the queries that no single difference explains."""
        singles = {frozenset({number}): pair for number, pair in enumerate(arms)}
        moved = explain_queries(find_moved(ends, floors), ends, singles, floors)
        moved = name_alone(moved, ends, arms, floors)
        left = [query.id for query in moved if not query.causes and not query.alone]
        numbers = list_pairs(left, ends, arms) if len(differences) > 2 else []
        sent = self.fit_pairs(differences, numbers, len(left))
        if sent:
            queries = [query for query in self.scorer.suite.queries if query.id in left]
            moved = explain_queries(moved, ends, self.send_pairs(differences, sent, queries), floors)
        explained = []
        for place, difference in enumerate(differences):
            reverted, alone = decided.effects[place]
            explained.append(
                ExplainedDifference(
                    name_difference(difference),
                    tuple(change.pointer for change in difference.changes),
                    decided.findings[place],
                    reverted,
                    alone,
                    self.refusals.get(difference.switches, ""),
                )
            )
        parts, together = self.explain_parts(ends, differences)
        return WhyReport(
            parts=parts,
            together=together,
            indexes=self.describe_indexes(differences, [query.id for query in moved]),
            measure=self.scorer.measure.text,
            queries=len(self.scorer.suite.queries),
            level=self.options.level,
            searches=self.sender.searches,
            whole=decided.whole,
            floor=ends.floor,
            differences=tuple(explained),
            moved=tuple(_describe_query(query, ends, arms) for query in moved),
            unexplained=decided.unexplained,
            pairs=len(sent),
            pairs_left=len(numbers) - len(sent),
            notes=tuple(self.notes),
        )


def _describe_query(query: MovedQuery, ends: Ends, arms: Sequence[ArmPair]) -> ExplainedQuery:
    """*query* with what the differences do that move it, whose *arms* are by their places."""
    causes = tuple(tuple(sorted(numbers)) for numbers in query.causes)
    effects = []
    for place, pair in enumerate(arms):
        reverted = alone = None
        if pair.reverted is not None:
            reverted = ends.new[query.id] - pair.reverted.scores[query.id]
        if pair.alone is not None:
            alone = pair.alone.scores[query.id] - ends.old[query.id]
        effects.append(QueryEffect(place, reverted, alone))
    if causes:
        named = [effects[place] for place in dict.fromkeys(chain.from_iterable(causes))]
    else:
        movers = [effect for effect in effects if _measure_effect(effect) > EQUAL]
        named = sorted(movers, key=lambda effect: (effect.difference not in query.alone, -_measure_effect(effect)))
    return ExplainedQuery(query.id, query.change, causes, tuple(sorted(query.alone)), tuple(named))


def _measure_effect(effect: QueryEffect) -> float:
    """How far *effect* moves the score, in the arm where it moves it further."""
    return max(abs(effect.reverted or 0.0), abs(effect.alone or 0.0))


def _list_ids(run: Run, query: Query) -> tuple[str, ...]:
    response = run.responses.get(query.id)
    return response.ids if isinstance(response, Ranking) else ()
