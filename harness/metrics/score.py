"""
The score of one query, in plain Python, and its bounds over unjudged hits.

numpy is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.definition import SMALLEST_POSITIVE, Definition, DiverseFormula, Formula, Needs, Settings
from harness.metrics.incomplete import find_judged_share
from harness.metrics.profiles import rules_of, sort_by_score
from harness.metrics.quotes import cover_quotes
from harness.metrics.ranking import GradedRanking, cover_subtopics, gain_function, grade_ranking, without_duplicates
from harness.metrics.registry import (
    definition_of,
    is_built_in,
    measure_range,
    needs_level,
    settings_for,
    settings_of,
)
from harness.model.run import FoundQuotes
from harness.model.suite import (
    Gain,
    Measure,
    Profile,
    Query,
    Quote,
)

if TYPE_CHECKING:
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
    scorer = make_scorer(definition_of(measure), measure, gain, profile)
    return scorer.score(scorer.grade(ranking, grades, scores))


def score_graded(
    measure: Measure, ranking: GradedRanking, gain: Gain | None = None, profile: Profile = Profile.STANDARD
) -> float:
    """As `score_query`, for a ranking that is cut and has its grades."""
    return make_scorer(definition_of(measure), measure, gain, profile).score(ranking)


class Scorer:
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
        self.is_of_novelty = definition.diverse is not None
        """Whether it scores quotes, and no grades of documents."""

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

    def score_quotes(
        self, ranking: Sequence[str], scores: Sequence[float | None], query: Query, found: FoundQuotes
    ) -> float:
        """The score of *ranking* by the quotes of *query* that are *found* in it; raises as `score_quotes`."""
        if self._rules.sorts:
            ranking = sort_by_score(ranking, scores)
        return score_quotes(
            self._measure, ranking, query.quotes, found, gain=self._settings.gain, profile=self._profile
        )

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


make_scorer = lru_cache(maxsize=512)(Scorer)


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
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> float:
    """
    The score of one query with several meanings.

    Args:
        measure: A measure of novelty, such as alpha_nDCG@10.
        ranking: Document ids, best first; one that comes twice counts once.
        judgments: Document id to subtopic to grade, all judged documents of the query.
        gain: What a grade is worth where the measure's text does not say; None is the profile's own.
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
    settings = settings_of(measure, gain, profile)
    diverse = cover_subtopics(ranking, judgments, _find_least_grade(measure, settings), settings.cutoff)
    if diverse.judged and any(diverse.judged):
        return formula(diverse, settings)
    if rules_of(profile).zero_undefined:
        return 0.0
    raise UndefinedScore("no judged document is relevant to a subtopic")


def score_quotes(
    measure: Measure,
    ranking: Sequence[str],
    quotes: Sequence[Quote],
    found: FoundQuotes,
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> float:
    """
    The score of one query by the quotes in its hits, by a measure of novelty.

    Args:
        measure: The measure to compute.
        ranking: Document ids, best first.
        quotes: All quotes of the query.
        found: Which of them are in the documents of *ranking*.
        gain: What a grade is worth where the measure's text does not say; None is the profile's own.
        profile: The profile whose rules apply.

    Raises:
        UndefinedScore: no quote is relevant, in a profile that does not call that 0.
        MeasureError: a measure that is not one of novelty, or a score beyond what can be summed.
    """
    formula: DiverseFormula | None = definition_of(measure).diverse
    if formula is None:
        raise MeasureError(f"{measure} does not use quotes")
    settings = settings_of(measure, gain, profile)
    diverse = cover_quotes(ranking, quotes, found, _find_least_grade(measure, settings), settings.cutoff)
    if diverse.judged:
        value = check_bounds(measure, formula(diverse, settings))
        # A text that stands in two documents may give one hit more than the best document has.
        _, greatest = measure_range(measure, gain, profile)
        return value if greatest is None else min(value, greatest)
    if rules_of(profile).zero_undefined:
        return 0.0
    raise UndefinedScore("no quote is relevant" if quotes else "the query has no quotes")


def _find_least_grade(measure: Measure, settings: Settings) -> float:
    """The least grade that counts: with gains any above 0, as the gain says what it is worth."""
    return SMALLEST_POSITIVE if "gain" in definition_of(measure).parameters else settings.level


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
