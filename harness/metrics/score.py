"""
The score of one query, in plain Python, its bounds over unjudged hits, and the scores of a run with their outcomes.

numpy is not imported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.cumulative import DISCOUNTED, contributions
from harness.metrics.definition import SMALLEST_POSITIVE, Definition, DiverseFormula, Formula, Needs, Settings
from harness.metrics.grammar import parse_measure
from harness.metrics.incomplete import judged
from harness.metrics.profiles import Rules, by_score, rules_of
from harness.metrics.ranking import GradedRanking, cover_subtopics, gain_function, grade_ranking, without_duplicates
from harness.metrics.registry import definition_of, gain_in_force, settings_for, settings_of
from harness.model import (
    BaselineCondition,
    Contributions,
    Failure,
    FailureKind,
    Gain,
    Measure,
    Outcome,
    Profile,
    Query,
    Ranking,
    Response,
    Run,
    Score,
    ScoreColumns,
    ScoreCondition,
    Suite,
    Threshold,
    UnjudgedBounds,
    places_of,
)

__all__ = [
    "DEFAULT_MEASURE",
    "GREATEST_SCORE",
    "UnjudgedBounds",
    "common_measures",
    "contributions_of",
    "failure_text",
    "formula_of",
    "gain_text",
    "in_bounds",
    "is_of_novelty",
    "measure_named",
    "measures_of",
    "outcome_of",
    "score_diverse_query",
    "score_graded",
    "score_of",
    "score_query",
    "score_run",
    "unjudged_bounds",
]


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
    settings = settings_of(measure, gain, profile)
    return score_graded(measure, _graded(ranking, grades, settings, rules_of(profile), scores), gain, profile)


def _graded(
    ranking: Sequence[str],
    grades: Mapping[str, float],
    settings: Settings,
    rules: Rules,
    scores: Sequence[float | None] | None,
) -> GradedRanking:
    """*ranking* with its grades, in the order and down to the depth that are scored."""
    if rules.sorts and scores is not None:
        ranking = by_score(ranking, scores)
    condensed = bool(settings.values.get("judged_only"))
    if condensed and rules.cuts_first:
        ranking = without_duplicates(ranking)[: settings.cutoff]
    return grade_ranking(ranking, grades, settings.cutoff, judged_only=condensed, least=rules.least_judged)


def score_graded(
    measure: Measure, ranking: GradedRanking, gain: Gain | None = None, profile: Profile = Profile.STANDARD
) -> float:
    """As `score_query`, for a ranking that is cut and has its grades."""
    rules, definition = rules_of(profile), definition_of(measure)
    settings = settings_for(measure, ranking.judgments, gain, profile)
    formula = formula_of(definition, rules)
    if settings.given("unjudged") and not rules.grades_unjudged:
        raise MeasureError(f"{measure}: an unjudged document has no grade under the profile {profile}")
    try:
        if definition.name not in rules.formulas:
            _check_defined(definition, ranking, settings)
        value = formula(ranking, settings)
    except UndefinedScore:
        if rules.zero_undefined:
            return 0.0
        raise
    return in_bounds(measure, value)


def in_bounds(measure: Measure, value: float) -> float:
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


def formula_of(definition: Definition, rules: Rules) -> Formula:
    """
    The formula of a measure under a profile.

    Raises:
        MeasureError: the measure is one of novelty.
    """
    formula = rules.formulas.get(definition.name, definition.formula)
    if formula is None:
        raise MeasureError(f"{definition.name} needs judgments by subtopic, and a suite has none")
    return formula


def _check_defined(definition: Definition, ranking: GradedRanking, settings: Settings) -> None:
    """Raise UndefinedScore without the judgments that a measure needs, unless unjudged hits have a grade."""
    undefined = None
    if definition.needs is Needs.RELEVANT and not ranking.total_relevant(settings.level):
        undefined = f"no judged document has a grade of {_least(settings)}"
    if definition.needs is Needs.GAIN:
        worth = gain_function(settings.gain)
        gains = [worth(grade) for grade in ranking.judgments.values()]  # all, so that a gap in a map is always found
        if not any(gain > 0 for gain in gains):
            undefined = "no judged document has a positive gain"
    if undefined and not settings.given("unjudged"):
        raise UndefinedScore(undefined)


def _least(settings: Settings) -> str:
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
    hits = grade_ranking(ranking, grades, measure.cutoff)
    unjudged = [document for document, grade in zip(hits.ids, hits.grades, strict=True) if grade is None]

    def score(supposed: float | None) -> float | None:
        known = grades if supposed is None else {**grades, **dict.fromkeys(unjudged, supposed)}
        try:
            return score_query(measure, ranking, known, gain=gain, profile=profile)
        except UndefinedScore:
            return None

    return UnjudgedBounds(judged(hits.grades), score(worst), score(None), score(best))


DEFAULT_MEASURE = "nDCG@10"
"""The measure of a suite that names none."""


def common_measures(suite: Suite) -> tuple[Measure, ...]:
    """The measures of every query: the suite's, then those that its thresholds on all queries name."""
    of_thresholds = (measure_named(threshold) for threshold in suite.thresholds if threshold.tag is None)
    return _each_once([*suite.measures, *of_thresholds])


def contributions_of(suite: Suite, query: Query, ranking: Ranking) -> Contributions | None:
    """
    The DCG of *ranking* by rank, for the query's first nDCG or DCG, else for `DEFAULT_MEASURE`.

    None where the profile of *suite* has a formula of its own for the measure, or a grade has no gain.
    """
    named = [measure for measure in measures_of(suite, query) if measure.name in DISCOUNTED]
    measure = named[0] if named else parse_measure(DEFAULT_MEASURE)
    rules = rules_of(suite.profile)
    if measure.name in rules.formulas:
        return None
    settings = settings_for(measure, query.judgments, suite.gain, suite.profile)
    documents, scores = [hit.id for hit in ranking.hits], [hit.score for hit in ranking.hits]
    try:
        ranks = contributions(_graded(documents, query.judgments, settings, rules, scores), settings)
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
    tagged = [threshold for threshold in suite.thresholds if threshold.tag in query.tags]
    return _each_once([*common_measures(suite), *map(measure_named, [*tagged, *query.thresholds])])


def score_run(suite: Suite, run: Run) -> ScoreColumns:
    """
    Score every query of *suite* by each of its measures.

    Args:
        suite: Gives the judgments, the gain, the profile and the measures.
        run: The responses by query id. A query without one did not run, unless it is to be skipped.

    Returns:
        Scores in the order of the queries, then of the measures.
    """
    answered = ((query, run.responses.get(query.id)) for query in suite.queries)
    return ScoreColumns(
        (_score(suite, query, measure, one) for query, one in answered for measure in measures_of(suite, query)),
        places_of(suite.queries),
    )


def score_of(suite: Suite, query: Query, measure: Measure, run: Run) -> Score:
    """One query's score of one measure, which need not be one of the suite's."""
    return _score(suite, query, measure, run.responses.get(query.id))


def _score(suite: Suite, query: Query, measure: Measure, response: Response | None) -> Score:
    if isinstance(response, Ranking):
        return _score_ranking(suite, query, measure, response)
    outcome, reason = outcome_of(query, response)
    return Score(query.id, measure.text, None, outcome, reason)


def _score_ranking(suite: Suite, query: Query, measure: Measure, ranking: Ranking) -> Score:
    documents = [hit.id for hit in ranking.hits]
    scores = [hit.score for hit in ranking.hits]
    try:
        value = score_query(measure, documents, query.judgments, gain=suite.gain, profile=suite.profile, scores=scores)
    except UndefinedScore as error:
        return Score(query.id, measure.text, None, Outcome.UNDEFINED, str(error))
    except MeasureError as error:
        return Score(query.id, measure.text, None, Outcome.ERROR, str(error))
    return Score(query.id, measure.text, value, *outcome_of(query, ranking))


def outcome_of(query: Query, response: Response | None) -> tuple[Outcome, str]:
    """The outcome of *query* by its response alone, with a reason; whether it has a score depends on the measure."""
    if isinstance(response, Ranking):
        return (Outcome.SCORED, "") if response.hits else (Outcome.ZERO_HITS, "the engine returned no document")
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


def measure_named(threshold: Threshold) -> Measure | None:
    """The measure whose scores *threshold* is about; None where it is about something else."""
    condition = threshold.condition
    return condition.measure if isinstance(condition, ScoreCondition | BaselineCondition) else None


def _each_once(measures: Iterable[Measure | None]) -> tuple[Measure, ...]:
    return tuple({measure.text: measure for measure in measures if measure is not None}.values())
