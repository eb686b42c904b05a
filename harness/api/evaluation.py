"""Scores from Python: of plain rankings and judgments without a suite, and of a run, by the names of its queries."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import date
from statistics import median
from typing import Any

from harness.api.choices import AnyGain, read_argument, refuse
from harness.api.frames import ColumnType, TypedColumn, list_ranking_columns, make_frame, read_content
from harness.errors import SearchError, UndefinedScore, UsageError
from harness.gate.finding import Scope, scope_scores
from harness.means import mean_of
from harness.metrics import parse_measure, profile_gain
from harness.metrics.near_ids import JudgedRanking, describe_near_ids
from harness.metrics.ranking import finite, gain_of
from harness.metrics.run_scores import score_of
from harness.model.report import RankedDocument
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.scores import Score, index_scores
from harness.model.suite import Measure, Profile, Query, Suite, Target, select_scored
from harness.words import count, did_you_mean, listed


class Scores:
    """
    The scores of queries that ran.

    A figure over queries is only returned if every query has a score: an unanswered query raises `SearchError`, an
    undefined one `UndefinedScore`, unless such queries are to be left out.
    """

    def __init__(self, suite: Suite, run: Run, *, depth: int | None, today: date) -> None:
        """
        Args:
            suite: Gives the queries, the judgments and the gain.
            run: The responses.
            depth: The number of hits requested; None where the rankings are whole.
            today: Decides which skips are in force.
        """
        self._suite = suite
        self._run = run
        self._depth = depth
        self._today = today
        self._by_measure: dict[str, dict[str, Score]] = {}

    @property
    def suite(self) -> Suite:
        """The queries that were selected, with their judgments; of plain rankings, one without requests."""
        return self._suite

    @property
    def rankings(self) -> Run:
        """The responses to the queries."""
        return self._run

    @property
    def title(self) -> str:
        """What was scored; empty for plain rankings."""
        return ""

    def mean(self, measure: str) -> float:
        """
        The mean of *measure*, such as ``nDCG@10``, over the queries; weighted where the suite's queries have weights.

        Raises:
            MeasureError: the measure is not known.
            UsageError: its cutoff is deeper than the requested hits.
            SearchError: a query has no answer.
            UndefinedScore: a query has no score and may not be left out, or none is left.
        """
        scope = self._count_scores(measure)
        return mean_of(scope.counted, scope.weights)

    def median(self, measure: str) -> float:
        """The median of *measure* over the queries; raises as `mean`."""
        return median(list(self._count_scores(measure).counted.values()))

    def score(self, query: str, measure: str) -> float:
        """
        The score of one query, by its id; raises as `mean`.

        Raises:
            UsageError: there is no such query.
        """
        scores = self._score_queries(_read_measure(measure))
        if read_argument("query", query) not in scores:
            raise UsageError(f"there is no query {query!r}{did_you_mean(query, scores)}")
        score = scores[query]
        if score.value is not None:
            return score.value
        sentence = f"query {query} has no {score.measure}: {score.outcome}: {score.reason}"
        if score.outcome.is_unanswered:
            raise SearchError(sentence)
        raise UndefinedScore(sentence)

    def scores(self, measure: str) -> dict[str, float | None]:
        """The score of every query, None for those without one."""
        return {query: score.value for query, score in self._score_queries(_read_measure(measure)).items()}

    def to_frame(
        self, content: str = "scores", *, measures: Sequence[str] | None = None, package: str | None = None
    ) -> Any:
        """
        The scores or the rankings as a data frame.

        Args:
            content: ``"scores"`` for a row a query and a column a measure, ``"rankings"`` for a row a hit.
            measures: The measures of the scores, such as ``["P@5"]``; those that were configured where None.
            package: ``"pandas"`` or ``"polars"``; the one that is installed, pandas before polars, where None.

        Returns:
            A `pandas.DataFrame` or `polars.DataFrame`. A score that is missing is NaN in pandas and null in polars.

        Raises:
            MeasureError: a measure is not known.
            UsageError: an argument is wrong, or the package is not installed.
        """
        if read_content(content) == "rankings":
            if measures is not None:
                raise UsageError("measures are columns of the scores, and content is 'rankings'; leave one of them out")
            return make_frame(list_ranking_columns(self._iterate_rankings()), package)
        texts = self._list_measures() if measures is None else read_argument("measures", measures)
        queries = self._suite.queries
        columns = [
            TypedColumn("query", ColumnType.TEXT, [query.id for query in queries]),
            TypedColumn("text", ColumnType.TEXT, [query.text for query in queries]),
            TypedColumn("tags", ColumnType.TEXTS, [list(query.tags) for query in queries]),
        ]
        measures_once = dict.fromkeys(texts)
        columns += [TypedColumn(text, ColumnType.NUMBER, list(self.scores(text).values())) for text in measures_once]
        return make_frame(columns, package)

    def _list_measures(self) -> Sequence[str]:
        """The measures that were configured."""
        return [measure.text for measure in self._suite.measures]

    def _iterate_rankings(self) -> Iterator[tuple[str, Sequence[RankedDocument]]]:
        """The ranking of each query that has one."""
        for query in self._suite.queries:
            ranking = self._run.responses.get(query.id)
            if not isinstance(ranking, Ranking):
                continue
            documents = []
            for rank, hit in enumerate(ranking.hits, start=1):
                grade = query.judgments.get(hit.id)
                gain = None if grade is None else gain_of(self._suite.gain, grade)
                documents.append(RankedDocument(rank, hit.id, grade, gain, hit.score, hit.title))
            yield query.id, documents

    def _count_scores(self, text: str) -> Scope:
        """The scores that count; raises as `mean` where one is missing."""
        measure = _read_measure(text)
        scores = index_scores(self._score_queries(measure).values())
        scope = scope_scores(select_scored(self._suite.queries), measure.text, scores, self._today)
        _check_complete(measure, scope, skip_undefined=self._suite.skip_undefined)
        return scope

    def _score_queries(self, measure: Measure) -> Mapping[str, Score]:
        """The score of each query; raises UsageError where the rankings end before the cutoff."""
        if self._depth is not None and (measure.cutoff or 0) > self._depth:
            raise UsageError(
                f"{measure} looks at {measure.cutoff} hits, and only {self._depth} were asked for; "
                f"set `depth: {measure.cutoff}` in the suite"
            )
        if measure.text not in self._by_measure:
            scores = [score_of(self._suite, query, measure, self._run) for query in self._suite.queries]
            self._by_measure[measure.text] = {score.query: score for score in scores}
        return self._by_measure[measure.text]


def _read_measure(text: object) -> Measure:
    """The measure that an argument names; raises MeasureError, or UsageError if it is no text."""
    return parse_measure(read_argument("measure", text))


def _check_complete(measure: Measure, scope: Scope, *, skip_undefined: bool) -> None:
    """
    Refuse a figure over the queries of *scope* where one that has to count has no score.

    Raises:
        SearchError: A query has no answer.
        UndefinedScore: A query has no score and is not to be skipped, or none has one.
    """
    if scope.unanswered:
        missing = listed([f"{query} ({reason})" for query, reason in scope.unanswered.items()])
        raise SearchError(
            f"{measure} is unknown for {len(scope.unanswered)} of {count(scope.size, 'query')}: {missing}"
        )
    if scope.undefined and not skip_undefined:
        raise UndefinedScore(
            f"{measure} is undefined for {len(scope.undefined)} of {count(scope.size, 'query')}: "
            f"{listed(scope.undefined)}; judge a relevant document for each, or leave undefined queries out"
        )
    if not scope.counted:
        raise UndefinedScore(f"no query has a score of {measure}: {count(scope.size, 'query')}, all left out")


class Evaluation(Scores):
    """Rankings that were scored as they are, without a suite."""

    def __init__(self, suite: Suite, run: Run) -> None:
        """
        Args:
            suite: The judgments, as a suite without requests.
            run: The rankings.
        """
        super().__init__(suite, run, depth=None, today=date.min)

    def means(self) -> dict[str, float]:
        """The mean of each measure that was named; raises as `mean`."""
        return {measure.text: self.mean(measure.text) for measure in self._suite.measures}


def evaluate(
    rankings: Mapping[str, Sequence[str]],
    judgments: Mapping[str, Mapping[str, float]],
    *,
    measures: Sequence[str],
    gain: AnyGain | None = None,
    profile: Profile | str = Profile.STANDARD,
    skip_undefined: bool = False,
) -> Evaluation:
    """
    Score plain rankings with plain judgments.

    Args:
        rankings: Query id to document ids, best first; a document that comes twice counts once.
        judgments: Query id to grades by document id. A judged query without a ranking did not run, and a ranking
            without judgments is undefined: neither counts as 0.
        measures: Such as ``nDCG@10``.
        gain: What a grade is worth: ``"linear"``, ``"exponential"``, a map from grade to gain, or a `Gain`; the
            profile's own where None.
        profile: The profile to reproduce, such as ``"trec"``.
        skip_undefined: Whether queries without a score are left out of means and medians.

    Hits that are judged under another form of their id, such as ``007`` for ``7``, give a UserWarning.

    Raises:
        MeasureError: a measure is not known.
        UsageError: an argument has the wrong type, such as a ranking that is a text or a set, a grade that is no
            number.

    >>> evaluate({"q": ["a", "b"]}, {"q": {"b": 1}}, measures=["RR@10"]).mean("RR@10")
    0.5
    """
    parsed_profile = read_argument("profile", profile)
    parsed_gain = read_argument("gain", gain)
    parsed_measures = [parse_measure(text) for text in read_argument("measures", measures)]
    responses = {}
    for query, documents in _read_by_query("rankings", rankings):
        hits = map(Hit, dict.fromkeys(_read_ids(query, documents)))
        responses[query] = Ranking(tuple(hits), total=None)
    grades = {}
    for query, judgments_of_query in _read_by_query("judgments", judgments):
        grades[query] = _read_grades(query, judgments_of_query)
    query_ids = dict.fromkeys([*grades, *responses])
    suite = Suite(
        name="evaluation",
        path="",
        target=Target(),
        requests={},
        measures=tuple(parsed_measures),
        queries=tuple(Query(query, query, judgments=grades.get(query, {})) for query in query_ids),
        gain=profile_gain(parsed_profile) if parsed_gain is None else parsed_gain,
        profile=parsed_profile,
        skip_undefined=read_argument("skip_undefined", skip_undefined),
    )
    near_ids = describe_near_ids(
        JudgedRanking(response.ids, grades.get(query, {})) for query, response in responses.items()
    )
    if near_ids:
        warnings.warn(near_ids, UserWarning, stacklevel=2)
    return Evaluation(suite, Run(responses, Engine("none")))


def _read_by_query(name: str, argument: object) -> Iterable[tuple[str, Any]]:
    """The items of the mapping *argument*, whose keys are ids of queries; *name* is its name in an error."""
    if not isinstance(argument, Mapping):
        refuse(name, argument, "a mapping by query id")
    for query in argument:
        if not isinstance(query, str):
            refuse(f"a query id of {name}", query, "a text")
    return argument.items()


def _read_ids(query: str, documents: object) -> list[str]:
    """The ids of a ranking; refuses a text, which iterates over letters, and sets and mappings, which have no order."""
    what = f"the ranking of query {query!r}"
    if not isinstance(documents, Iterable) or isinstance(documents, str | bytes | Set | Mapping):
        refuse(what, documents, "a sequence of document ids")
    ids = list(documents)
    for document in ids:
        if not isinstance(document, str):
            refuse(f"a document id in {what}", document, "a text")
    # Texts of numpy become plain ones.
    return list(map(str, ids))


def _read_grades(query: str, judgments: object) -> dict[str, float]:
    """The grades of *query* by document id; raises UsageError where *judgments* are no such mapping."""
    if not isinstance(judgments, Mapping):
        refuse(f"judgments of query {query!r}", judgments, "a mapping from document id to grade")
    grades: dict[str, float] = {}
    for document, value in judgments.items():
        if not isinstance(document, str):
            refuse(f"a document id in the judgments of query {query!r}", document, "a text")
        grade = finite(value)
        if grade is None:
            refuse(f"the grade of document {document!r} for query {query!r}", value, "a finite number")
        grades[document] = grade
    return grades
