"""
The score of one query, in plain Python, its bounds over unjudged hits, and the scores of a run with their outcomes.

numpy is not imported.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.cumulative import DISCOUNTED, contributions
from harness.metrics.definition import SMALLEST_POSITIVE, Definition, DiverseFormula, Formula, Needs, Settings
from harness.metrics.grammar import parse_measure
from harness.metrics.incomplete import find_judged_share
from harness.metrics.profiles import rules_of, sort_by_score
from harness.metrics.ranking import GradedRanking, cover_subtopics, gain_function, grade_ranking, without_duplicates
from harness.metrics.registry import (
    definition_of,
    gain_in_force,
    is_built_in,
    needs_level,
    settings_for,
    settings_of,
)
from harness.model.run import Failure, FailureKind, Ranking, Response, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import (
    BaselineCondition,
    Gain,
    LossCondition,
    MachineShareCondition,
    Measure,
    Profile,
    Query,
    ScoreCondition,
    Suite,
    Threshold,
)

if TYPE_CHECKING:
    from harness.model.inspection import Contributions
    from harness.model.judging import UnjudgedBounds

GREATEST_SCORE = 1e100
"""Scores beyond are refused: statistics sum their cubes, and a float ends at 1.8e308."""


def score_query(
    measure: Measure,
    ranking: Sequence[str],
    grades: Mapping[str, float],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    scores: Sequence[float | None] | None = None,
) -> float:
    """
    The score of one query.

    Args:
        measure: The measure to compute.
        ranking: Document ids, best first; one that comes twice counts once.
        grades: Document id to grade, all judged documents of the query, returned or not.
        gain: What a grade is worth where the measure's text does not say; None is the profile's own.
        profile: The profile whose rules apply.
        scores: The engine's score of each hit. Only the trec profile orders by them, and only if all are known.

    Raises:
        UndefinedScore: nothing that the measure needs is judged, in a profile that does not call that 0.
        MeasureError: a grade that the gain map or the measure's scale does not hold, a score beyond what can be summed,
            or a measure of novelty, which needs judgments by subtopic.
        UsageError: a grade or a score that is not a number.

    >>> from harness.metrics import parse_measure
    >>> round(score_query(parse_measure("nDCG@3"), ["a", "x", "b"], {"a": 3, "b": 1, "c": 2}), 4)
    0.7985
    """
    scorer = _scorer(definition_of(measure), measure, gain, profile)
    return scorer.score(scorer.grade(ranking, grades, scores))


def score_graded(
    measure: Measure, ranking: GradedRanking, gain: Gain | None = None, profile: Profile = Profile.STANDARD
) -> float:
    """As `score_query`, for a ranking that is cut and has its grades."""
    return _scorer(definition_of(measure), measure, gain, profile).score(ranking)


class _Scorer:
    """What does not depend on the query when it is scored by *measure*."""

    def __init__(self, definition: Definition, measure: Measure, gain: Gain | None, profile: Profile) -> None:
        self._definition, self._measure, self._profile = definition, measure, profile
        self._rules = rules = rules_of(profile)
        self._settings = settings = settings_of(measure, gain, profile)
        by_judgments = rules.level is not None and needs_level(measure, settings)
        self._settings_for = partial(settings_for, measure, gain=gain, profile=profile) if by_judgments else None
        self.has_own_formula = definition.name in rules.formulas
        """Whether the profile has a formula of its own for the measure."""
        self._needs_grades = settings.given("unjudged") and not rules.grades_unjudged
        self.depth = settings.cutoff, bool(settings.values.get("judged_only"))
        """The cutoff, and whether unjudged documents are left out: rankings of the same depth have the same grades."""
        self.is_built_in = is_built_in(measure)

    @cached_property
    def _formula(self) -> Formula:
        """The formula under the profile; MeasureError for a measure of novelty, which has none."""
        name = self._definition.name
        formula = self._rules.formulas.get(name, self._definition.formula)
        if formula is None:
            raise MeasureError(f"{name} needs judgments by subtopic, and a suite has none")
        return formula

    def grade(
        self, ranking: Sequence[str], grades: Mapping[str, float], scores: Sequence[float | None] | None
    ) -> GradedRanking:
        """*ranking* with its grades, in the order and down to the depth that are scored."""
        (cutoff, condensed), rules = self.depth, self._rules
        if rules.sorts and scores is not None:
            ranking = sort_by_score(ranking, scores)
        if condensed and rules.cuts_first:
            ranking = without_duplicates(ranking)[:cutoff]
        return grade_ranking(ranking, grades, cutoff, judged_only=condensed, least=rules.least_judged)

    def settings(self, judgments: Mapping[str, float]) -> Settings:
        """The settings for a query with these *judgments*."""
        return self._settings if self._settings_for is None else self._settings_for(judgments)

    def score(self, ranking: GradedRanking) -> float:
        """The score of *ranking*; raises as `score_query`."""
        settings, formula = self.settings(ranking.judgments), self._formula
        if self._needs_grades:
            raise MeasureError(f"{self._measure}: an unjudged document has no grade under the profile {self._profile}")
        try:
            if not self.has_own_formula:
                _check_defined(self._definition, ranking, settings)
            value = formula(ranking, settings)
        except UndefinedScore:
            if self._rules.zero_undefined:
                return 0.0
            raise
        return check_bounds(self._measure, value)

    def find_machine_share(self, ranking: GradedRanking, query: Query) -> float | None:
        """
        The share of a machine's grades among those that the score of *ranking* reads: of its hits, and for a measure
        with an ideal of as many of the best judged documents.

        None where no machine judges *query*; 0 where no grade is read.
        """
        if query.people_grades is None:
            return None
        read = {name for name, grade in zip(ranking.ids, ranking.grades, strict=True) if grade is not None}
        if self._definition.needs is not Needs.NOTHING:
            best_first = sorted(ranking.judgments, key=lambda name: (-ranking.judgments[name], name))
            read.update(best_first[: self.depth[0]])
        return len(read & query.machine_graded) / len(read) if read else 0.0


_scorer = lru_cache(maxsize=512)(_Scorer)


def check_bounds(measure: Measure, value: float) -> float:
    """
    *value*, a score of *measure*.

    Raises:
        MeasureError: *value* is not a number, or too large to be summed with others.
    """
    if abs(value) <= GREATEST_SCORE:
        return value
    raise MeasureError(
        f"the score of {measure} is {value:g}, expected a number from {-GREATEST_SCORE:g} to {GREATEST_SCORE:g}; "
        "use smaller gains"
    )


def is_of_novelty(measure: Measure) -> bool:
    """Whether *measure* takes judgments by subtopic, and `score_diverse_query` scores it."""
    return definition_of(measure).diverse is not None


def score_diverse_query(
    measure: Measure,
    ranking: Sequence[str],
    judgments: Mapping[str, Mapping[str, float]],
    *,
    profile: Profile = Profile.STANDARD,
) -> float:
    """
    The score of one query with several meanings.

    Args:
        measure: A measure of novelty, such as alpha_nDCG@10.
        ranking: Document ids, best first; one that comes twice counts once.
        judgments: Document id to subtopic to grade, all judged documents of the query.
        profile: The profile whose rules apply.

    Raises:
        UndefinedScore: no document is relevant to a subtopic, in a profile that does not call that 0.
        MeasureError: a measure that is not one of novelty.

    >>> from harness.metrics import parse_measure
    >>> score_diverse_query(parse_measure("StRecall@1"), ["a"], {"a": {"s": 1}, "b": {"t": 1}})
    0.5
    """
    formula: DiverseFormula | None = definition_of(measure).diverse
    if formula is None:
        raise MeasureError(f"{measure} does not use judgments by subtopic")
    settings = settings_of(measure, None, profile)
    diverse = cover_subtopics(ranking, judgments, settings.level, settings.cutoff)
    if diverse.subtopics:
        return formula(diverse, settings)
    if rules_of(profile).zero_undefined:
        return 0.0
    raise UndefinedScore("no judged document is relevant to a subtopic")


def _check_defined(definition: Definition, ranking: GradedRanking, settings: Settings) -> None:
    """Raise UndefinedScore without the judgments that a measure needs, unless unjudged hits have a grade."""
    undefined = None
    if definition.needs is Needs.RELEVANT and not ranking.total_relevant(settings.level):
        undefined = f"no judged document has a grade of {_describe_level(settings)}"
    if definition.needs is Needs.GAIN:
        worth = gain_function(settings.gain)
        gains = [worth(grade) for grade in ranking.judgments.values()]  # all, so that a gap in a map is always found
        if not any(gain > 0 for gain in gains):
            undefined = "no judged document has a positive gain"
    if undefined and not settings.given("unjudged"):
        raise UndefinedScore(undefined)


def _describe_level(settings: Settings) -> str:
    return "more than 0" if settings.level == SMALLEST_POSITIVE else f"at least {settings.level:g}"


def unjudged_bounds(
    measure: Measure,
    ranking: Sequence[str],
    grades: Mapping[str, float],
    *,
    worst: float = 0.0,
    best: float,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> UnjudgedBounds:
    """
    The least and the greatest score if the unjudged hits down to the cutoff had the worst, or the best, grade.

    Args:
        measure: The measure to compute.
        ranking: Document ids, best first.
        grades: Document id to grade, all judged documents of the query.
        worst: The scale's lowest grade.
        best: The scale's top grade.
        gain: What a grade is worth where the measure's text does not say.
        profile: The profile whose rules apply.

    Raises:
        MeasureError: a grade that the gain map or the measure's scale does not hold.

    >>> from harness.metrics import parse_measure
    >>> bounds = unjudged_bounds(parse_measure("P@2"), ["a", "x"], {"a": 1}, best=1)
    >>> bounds.judged, bounds.if_worst, bounds.as_judged, bounds.if_best
    (0.5, 0.5, 0.5, 1.0)
    """
    from harness.model.judging import UnjudgedBounds

    hits = grade_ranking(ranking, grades, measure.cutoff)
    unjudged = [document for document, grade in zip(hits.ids, hits.grades, strict=True) if grade is None]
    scores: list[float | None] = []
    for supposed in ({}, dict.fromkeys(unjudged, worst), dict.fromkeys(unjudged, best)):
        try:
            scores.append(score_query(measure, ranking, {**grades, **supposed}, gain=gain, profile=profile))
        except UndefinedScore:
            scores.append(None)
    as_judged, if_worst, if_best = scores
    return UnjudgedBounds(find_judged_share(hits.grades), if_worst, as_judged, if_best)


DEFAULT_MEASURE = "nDCG@10"
"""The measure of a suite that names none."""


def common_measures(suite: Suite) -> tuple[Measure, ...]:
    """The measures of every query: the suite's, then those that its thresholds on all queries name."""
    measures_of_thresholds = [get_measure(threshold) for threshold in suite.thresholds if threshold.tag is None]
    return _list_distinct([*suite.measures, *measures_of_thresholds])


def contributions_of(suite: Suite, query: Query, ranking: Ranking) -> Contributions | None:
    """
    The DCG of *ranking* by rank, for the query's first nDCG or DCG, else for `DEFAULT_MEASURE`.

    None where the profile of *suite* has a formula of its own for the measure, or a grade has no gain.
    """
    from harness.model.inspection import Contributions

    measure = parse_measure(DEFAULT_MEASURE)
    for measure_of_query in measures_of(suite, query):
        if measure_of_query.name in DISCOUNTED:
            measure = measure_of_query
            break
    scorer = _scorer(definition_of(measure), measure, suite.gain, suite.profile)
    if scorer.has_own_formula:
        return None
    documents, scores = ranking.ids, ranking.scores
    try:
        ranks = contributions(scorer.grade(documents, query.judgments, scores), scorer.settings(query.judgments))
    except MeasureError:
        return None
    total = math.fsum(rank.adds for rank in ranks)
    ideal = total + math.fsum(rank.loses for rank in ranks)
    return Contributions(measure.text, gain_text(measure, suite), total, ideal, ranks)


def measures_of(suite: Suite, query: Query) -> tuple[Measure, ...]:
    """
    The measures of *query*: the common ones, and those of thresholds on its tags and of its own.

    Other measures are left out, as they may be undefined for it.
    """
    return _list_distinct([*_measures_of_tags(suite, query.tags), *map(get_measure, query.thresholds)])


def _measures_of_tags(suite: Suite, tags: Collection[str]) -> tuple[Measure, ...]:
    tagged = [threshold for threshold in suite.thresholds if threshold.tag in tags]
    return _list_distinct([*common_measures(suite), *map(get_measure, tagged)])


def score_run(suite: Suite, run: Run) -> tuple[Score, ...]:
    """
    Score every query of *suite* by each of its measures.

    Args:
        suite: Gives the judgments, the gain, the profile and the measures.
        run: The responses by query id. A query without one did not run, unless it is to be skipped.

    Returns:
        Scores in the order of the queries, then of the measures.
    """
    # Many queries have few combinations of tags, and few measures: scripts/bench/runner.
    measures_by_tags: dict[tuple[str, ...], tuple[Measure, ...]] = {}
    scorers: dict[str, _Scorer] = {}
    scores: list[Score] = []
    for query in suite.queries:
        if query.thresholds:
            measures = measures_of(suite, query)
        elif query.tags in measures_by_tags:
            measures = measures_by_tags[query.tags]
        else:
            measures = _measures_of_tags(suite, query.tags)
            measures_by_tags[query.tags] = measures
        scores += _score_query(suite, query, measures, run.responses.get(query.id), scorers)
    return tuple(scores)


def score_of(suite: Suite, query: Query, measure: Measure, run: Run) -> Score:
    """One query's score of one measure, which need not be one of the suite's."""
    [score] = _score_query(suite, query, [measure], run.responses.get(query.id), {})
    return score


def _score_query(
    suite: Suite, query: Query, measures: Iterable[Measure], response: Response | None, scorers: dict[str, _Scorer]
) -> Iterator[Score]:
    """The score of *query* by each of *measures*, whose *scorers* are kept by their text."""
    outcome, reason = outcome_of(query, response)
    if not isinstance(response, Ranking):
        yield from (Score(query.id, measure.text, None, outcome, reason) for measure in measures)
        return
    if not query.judgments and rules_of(suite.profile).skips_unjudged:
        reason = f"it has no judgments, and '{suite.profile}' leaves out such queries"
        yield from (Score(query.id, measure.text, None, Outcome.UNDEFINED, reason) for measure in measures)
        return
    # In lists: a user's formula may change what it is given.
    documents, scores = list(response.ids), list(response.scores)
    graded: dict[tuple[int | None, bool], GradedRanking] = {}
    for measure in measures:
        try:
            scorer = scorers.get(measure.text)
            if scorer is None:
                scorer = _scorer(definition_of(measure), measure, suite.gain, suite.profile)
                scorers[measure.text] = scorer
            ranking = graded.get(scorer.depth)
            if ranking is None or not scorer.is_built_in:  # a user's formula may change the lists that it is given
                ranking = scorer.grade(documents, query.judgments, scores)
            if scorer.is_built_in:
                graded[scorer.depth] = ranking
            value = scorer.score(ranking)
            machine_share = scorer.find_machine_share(ranking, query)
        except UndefinedScore as error:
            yield Score(query.id, measure.text, None, Outcome.UNDEFINED, str(error))
        except MeasureError as error:
            yield Score(query.id, measure.text, None, Outcome.ERROR, str(error))
        else:
            yield Score(query.id, measure.text, value, outcome, reason, machine_share)


def outcome_of(query: Query, response: Response | None) -> tuple[Outcome, str]:
    """The outcome of *query* by its response alone, with a reason; whether it has a score depends on the measure."""
    if isinstance(response, Ranking):
        return (Outcome.SCORED, "") if response.ids else (Outcome.ZERO_HITS, "the engine returned no document")
    if isinstance(response, Failure):
        kind = Outcome.NOT_RUN if response.kind is FailureKind.NOT_RUN else Outcome.ERROR
        return kind, failure_text(response)
    if query.skip is not None:
        return Outcome.SKIPPED, query.skip.reason
    return Outcome.NOT_RUN, "the query was not sent"


def gain_text(measure: Measure, suite: Suite) -> str:
    """The gain that *measure* is computed with in *suite*, in words; empty for a measure without gain."""
    if "gain" not in definition_of(measure).parameters:
        return ""
    return str(gain_in_force(measure, suite.gain, suite.profile))


def failure_text(failure: Failure) -> str:
    """The failure of one query in a line: the kind, the HTTP status if there is one, the engine's reason."""
    status = f" ({failure.status})" if failure.status is not None else ""
    return f"{failure.kind}{status}: {failure.reason}"


def get_measure(threshold: Threshold) -> Measure | None:
    """The measure whose scores *threshold* is about; None where it is about something else."""
    condition = threshold.condition
    if isinstance(condition, ScoreCondition | BaselineCondition | LossCondition | MachineShareCondition):
        return condition.measure
    return None


def _list_distinct(measures: Iterable[Measure | None]) -> tuple[Measure, ...]:
    return tuple({measure.text: measure for measure in measures if measure is not None}.values())
