"""Compares the scores of a suite with those of the cluster's `_rank_eval`, and explains the differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isfinite, log2
from pathlib import Path

from harness.config import Configs
from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.extensions.migrate.rank_eval import OF_RULES, build_rated_request, find_metric, list_templates
from harness.extensions.migrate.verification import (
    Cause,
    CauseKind,
    ScoreDifference,
    Verification,
    VerificationReport,
    VerifiedMeasure,
)
from harness.gate.stability import explain_changed_target
from harness.means import are_weighted, mean_of
from harness.metrics import parse_measure, score_query, settings_of
from harness.metrics.definition import as_text
from harness.metrics.measures import measures_of
from harness.metrics.run_scores import failure_text
from harness.model.request import SearchRequest
from harness.model.run import Ranking, Run
from harness.model.suite import Gain, Json, Measure, Profile, Query, Suite
from harness.options import RunOptions
from harness.run import Matrix, Runner
from harness.run.cell import AnsweredCell, Progress
from harness.search.bodies import deepen, find_deepest_size
from harness.search.dialects import find_dialect
from harness.search.esql import is_esql
from harness.search.protocol import Dialect, Inspector, RatedQuery
from harness.search.rank_eval import URL_PARAMS
from harness.suites import load_suites
from harness.suites.requests import build_requests, move_to_index

SCORE_TOLERANCE = 1e-9
"""Scores may differ by rounding: both sides add up 64-bit floats, but in a different order."""

EXPONENTIAL = ("DCG", "nDCG", "ERR")
"""The measures of `_rank_eval` that compute 2^grade."""

HUGE_GRADE = 1023
"""The least grade at which a sum of gains may overflow: 2^1023 + 2^1023 is too large for a 64-bit float."""


def verify_suites(
    paths: Sequence[Path],
    options: RunOptions,
    *,
    environ: Mapping[str, str],
    matrix: Matrix | None = None,
    progress: Progress | None = None,
) -> VerificationReport:
    """
    Run suites, send the same requests and judgments to `_rank_eval`, and compare the scores. No threshold is decided.

    Args:
        paths: Suite files.
        options: The options of the run.
        environ: Where variables and logins are looked up.
        matrix: The requests and indexes that each suite runs with.
        progress: Receives the progress of the runs.

    Raises:
        InputError: A suite or relevance.toml is not valid; holds all problems of all files.
        UsageError: The options cannot be used, a suite searches an HTTP service or sets `id_field`, or `_rank_eval` has
            none of its measures.
        SearchError: The engine has no `_rank_eval`, or did not answer.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.from_options(options, environ)
    suites = load_suites(paths, environ, configs=configs)
    matrix = matrix or Matrix.from_options(options)
    _check_suites(suites, options, matrix)
    with Runner(environ, progress) as runner:
        cells = runner.answer(suites, options, matrix=matrix, configs=configs)
        verifications = [_RatedSuite.from_cell(answered).verify() for answered in cells]
    status = 0
    if any(verification.unanswered for verification in verifications):
        status = 3
    elif any(verification.unexplained for verification in verifications):
        status = 1
    elif not any(verification.compared for verification in verifications):
        status = 1  # nothing is verified
    return VerificationReport(tuple(verifications), status)


def _check_suites(suites: Sequence[Suite], options: RunOptions, matrix: Matrix) -> None:
    """Refuse suites that `_rank_eval` cannot score at all with the requests of *matrix*."""
    refusals = []
    for suite in suites:
        measures = _list_measures(suite)
        targets = [suite.find_target(cell_options.request) for cell_options in matrix.list_cells(suite, options)]
        id_fields = [target.id_field for target in targets if target.id_field is not None]
        if not all(find_dialect(target.service).has_rank_eval for target in targets):
            refusals.append(f"{suite.path}: the suite asks an HTTP service, which has no _rank_eval")
        elif id_fields:
            reason = f"'id_field' {id_fields[0]}, and _rank_eval knows documents by _id only"
            refusals.append(f"{suite.path}: the suite's target has {reason}")
        elif not measures:
            refusals.append(f"{suite.path}: the suite has no measure to verify")
        elif all(find_metric(measure, suite, nearest=True) is None for measure in measures):
            names = ", ".join(measure.text for measure in measures)
            refusals.append(f"{suite.path}: _rank_eval has none of the suite's measures: {names}")
    if refusals:
        raise UsageError("\n".join(refusals))


def _list_measures(suite: Suite) -> list[Measure]:
    """The measures of all queries, each once."""
    measures: dict[str, Measure] = {}
    for query in suite.queries:
        for measure in measures_of(suite, query):
            measures.setdefault(measure.text, measure)
    return list(measures.values())


@dataclass(frozen=True, slots=True)
class _RatedSuite:
    """A suite that ran, and its requests, by query."""

    answered: AnsweredCell
    suite: Suite
    run: Run
    requests: Mapping[str, SearchRequest]

    @classmethod
    def from_cell(cls, answered: AnsweredCell) -> _RatedSuite:
        """The suite of a cell, with the requests of the queries that have an answer, as hooks changed them."""
        run, suite = answered.mask_run(), answered.cell.selection.selected
        ranked = tuple(query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking))
        requests: dict[str, SearchRequest] = {}
        if ranked:
            for request in build_requests(replace(move_to_index(suite, run.index), queries=ranked), run.request):
                requests[request.query] = answered.sent.get(request.query, request)
        return cls(answered, suite, run, requests)

    def verify(self) -> Verification:
        """Compare each measure that `_rank_eval` has; the measures are requested one after the other."""
        suite, run = self.suite, self.run
        if any(is_esql(request.body) for request in self.requests.values()):
            raise UsageError(f"{suite.path}: the request {run.request!r} is ES|QL, which has no _rank_eval")
        unanswered: dict[str, str] = {}
        for query in suite.queries:
            response = run.responses.get(query.id)
            if response is not None and not isinstance(response, Ranking):
                unanswered[query.id] = failure_text(response)
        homes = self._find_homes()
        verified, not_compared = [], []
        for measure in _list_measures(suite):
            metric = find_metric(measure, suite, nearest=True)
            if metric is None:
                not_compared.append(measure.text)
                continue
            rated: dict[str, RatedQuery] = {}
            for query_id, answer in self._rate(measure, metric, homes).items():
                if isinstance(answer, str):
                    unanswered[query_id] = self.answered.cell.masker.mask(answer)
                else:
                    rated[query_id] = answer
            verified.append(self._compare(measure, metric, rated))
        return Verification(
            suite=suite.name,
            path=suite.path,
            request=run.request,
            index=run.index,
            cluster=self.answered.cluster,
            engine=run.engine,
            profile=suite.profile,
            tolerance=SCORE_TOLERANCE,
            measures=tuple(verified),
            not_compared=tuple(not_compared),
            unanswered=unanswered,
            parameters=self.unsupported_parameters,
            weighted=self._is_weighted,
        )

    @property
    def _is_weighted(self) -> bool:
        return are_weighted(query.weight for query in self.suite.queries)

    @property
    def _dialect(self) -> Dialect:
        return find_dialect(self.suite.target.service)

    @property
    def _inspector(self) -> Inspector:
        search = self.answered.search
        if search is None:
            raise UsageError(f"{self.suite.path}: only Elasticsearch and OpenSearch have a _rank_eval")
        return search.inspector

    @property
    def unsupported_parameters(self) -> tuple[str, ...]:
        """The URL parameters that `_rank_eval` does not support."""
        names: set[str] = set()
        for request in self.requests.values():
            names.update(request.url_params)
        return tuple(sorted(names.difference(URL_PARAMS)))

    def _find_homes(self) -> dict[str, tuple[str, ...]]:
        """Judged document to the indexes that contain it; empty if no index is searched by name (a point in time)."""
        request = next(iter(self.requests.values()), None)
        if request is None or request.index is None or self._dialect.is_pinned(request):
            return {}
        documents: dict[str, None] = {}
        for query in self.suite.queries:
            documents |= dict.fromkeys(query.judgments)
        return self._inspector.find_homes(request.index, list(documents), _select_url_params(request))

    def _rate(
        self, measure: Measure, metric: Mapping[str, Mapping[str, int | bool]], homes: Mapping[str, tuple[str, ...]]
    ) -> dict[str, RatedQuery | str]:
        """The result of `_rank_eval` for each query that has *measure*; a text says why there is none."""
        templates: dict[str, str] = {}
        # One request of `_rank_eval` has one index, and one set of URL parameters.
        by_target: dict[tuple[str | None, tuple[tuple[str, str], ...]], list[Json]] = {}
        for query in self.suite.queries:
            if query.id not in self.requests or measure not in measures_of(self.suite, query):
                continue
            request = self.requests[query.id]
            body = deepen(request, _get_k(metric)).body
            index = None if self._dialect.is_pinned(request) else request.index
            ratings = _build_ratings(query, index, homes)
            entry = {"id": query.id, **build_rated_request(body, templates), "ratings": ratings}
            by_target.setdefault((index, tuple(_select_url_params(request).items())), []).append(entry)
        answers: dict[str, RatedQuery | str] = {}
        for (index, url_params), entries in by_target.items():
            spec = {"requests": entries, "metric": metric, "templates": list_templates(templates)}
            answers |= self._inspector.rate_requests(index, spec, dict(url_params))
        return answers

    def _compare(
        self, measure: Measure, metric: Mapping[str, Mapping[str, int | bool]], rated: Mapping[str, RatedQuery]
    ) -> VerifiedMeasure:
        """The scores of *measure* beside those of `_rank_eval`."""
        queries = [query for query in self.suite.queries if query.id in rated]
        our_scores: dict[str, float] = {}
        differences = []
        for query in queries:
            ranking = self.run.responses[query.id]
            assert isinstance(ranking, Ranking)
            pair = _Pair(self, query, measure, ranking, rated[query.id], _get_k(metric))
            if pair.ours is not None:
                our_scores[query.id] = pair.ours
            if _differ(pair.ours, pair.theirs.score):
                causes = tuple(pair.find_causes())
                differences.append(ScoreDifference(query.id, pair.ours, pair.theirs.score, causes))
        weights = {query.id: query.weight for query in queries} if self._is_weighted else {}
        their_scores = {query_id: answer.score for query_id, answer in rated.items()}
        our_mean, their_mean = None, None
        if our_scores:
            our_mean = mean_of(our_scores, weights)
        if their_scores and all(map(isfinite, their_scores.values())):
            their_mean = mean_of(their_scores, {})  # `_rank_eval` has no weights
        return VerifiedMeasure(
            measure=measure.text,
            metric=metric,
            queries=len(queries),
            ours=our_mean,
            theirs=their_mean,
            differences=tuple(differences),
        )


def _get_k(metric: Mapping[str, Mapping[str, int | bool]]) -> int:
    [settings] = metric.values()
    return settings["k"]


def _select_url_params(sent: SearchRequest) -> dict[str, str]:
    return {name: value for name, value in sent.url_params.items() if name in URL_PARAMS}


def _build_ratings(query: Query, index: str | None, homes: Mapping[str, tuple[str, ...]]) -> list[Json]:
    """The ratings of *query*; each names the index that contains the document, or *index* if none contains it."""
    ratings = []
    for document, grade in query.judgments.items():
        if grade == int(grade):
            home = homes.get(document, (index or "",))[0]
            ratings.append({"_index": home, "_id": document, "rating": int(grade)})
    return ratings


@dataclass(frozen=True, slots=True)
class _Rules:
    """The inputs of a score: measure, profile, gain, judgments and ranking."""

    measure: Measure
    profile: Profile
    gain: Gain
    grades: Mapping[str, float]
    documents: Sequence[str]
    scores: Sequence[float | None]
    has_negative_gains: bool = False
    """Whether a grade below 0 has a gain below 0."""

    def score(self) -> float | None:
        """The score; None if it is undefined."""
        try:
            if self.has_negative_gains and self.measure.name in EXPONENTIAL:
                return self._score_with_negative_gains()
            return score_query(
                self.measure, self.documents, self.grades, gain=self.gain, profile=self.profile, scores=self.scores
            )
        except (UndefinedScore, MeasureError, OverflowError):
            return None

    def _score_with_negative_gains(self) -> float:
        """The score by the formulas of `_rank_eval`, with negative gains; they count in the ideal ranking too."""
        unjudged = dict(self.measure.parameters).get("unjudged")
        grade_of_unjudged = float(unjudged) if isinstance(unjudged, (int, float)) else None
        returned = self.documents[: self.measure.cutoff]
        grades = [self.grades.get(document, grade_of_unjudged) for document in returned]
        if self.measure.name == "ERR":
            return _compute_err(grades, settings_of(self.measure, self.gain, self.profile).number("max"))
        total = _compute_dcg(grades)
        if self.measure.name == "DCG":
            return total
        ideal = _compute_dcg(sorted(self.grades.values(), reverse=True)[: len(returned)])
        return total / ideal if ideal else 0.0


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two scores of a query for one measure."""

    rated: _RatedSuite
    query: Query
    measure: Measure
    ranking: Ranking
    theirs: RatedQuery
    k: int

    @property
    def ours(self) -> float | None:
        """The score by the rules of the suite; None if it is undefined."""
        return self._own_rules.score()

    @property
    def _own_rules(self) -> _Rules:
        suite, hits = self.rated.suite, self.ranking.hits
        grades = self.query.judgments
        return _Rules(
            self.measure, suite.profile, suite.gain, grades, [hit.id for hit in hits], [hit.score for hit in hits]
        )

    def find_causes(self) -> Iterator[Cause]:
        """
        The causes of the difference between the two scores.

        The rules of the suite are replaced by those of `_rank_eval` one after the other. Each step that changes the
        score is a cause. If a difference remains, `_explain_remainder` names its cause, which may be UNKNOWN.
        """
        score = self.ours
        for kind, documents, rules in self._list_steps(self._own_rules):
            next_score = rules.score()
            if _differ(score, next_score):
                yield Cause(CauseKind.UNDEFINED if score is None else kind, _subtract(next_score, score), documents)
            score = next_score
        if _differ(score, self.theirs.score):
            kind, documents = self._explain_remainder(score)
            yield Cause(kind, _subtract(self.theirs.score, score), documents)

    def _explain_remainder(self, score: float | None) -> tuple[CauseKind, tuple[str, ...]]:
        """Why *score*, computed from the rules and hits of `_rank_eval`, differs from its own; with the documents."""
        is_finite = isfinite(self.theirs.score)
        sent_grades = {document: grade for document, grade in self.query.judgments.items() if grade == int(grade)}
        huge = tuple(document for document, grade in sent_grades.items() if grade >= HUGE_GRADE)
        if huge and self.measure.name in EXPONENTIAL and (score is None or not is_finite):
            return CauseKind.OVERFLOW, huge
        if is_finite:
            # A judged hit without a rating: its rating names another index than the one that the hit came from.
            unrated = tuple(hit.id for hit in self.theirs.hits if hit.rating is None and hit.id in sent_grades)
            if unrated:
                return CauseKind.INDEXES, unrated
        return CauseKind.UNKNOWN, ()

    def _list_steps(self, rules: _Rules) -> Iterator[tuple[CauseKind, tuple[str, ...], _Rules]]:
        """The steps from the suite's rules to those of `_rank_eval`: cause, documents concerned, and rules after it."""
        whole_grades = {document: grade for document, grade in rules.grades.items() if grade == int(grade)}
        fractional = tuple(document for document in self.query.judgments if document not in whole_grades)
        rules = replace(rules, grades=whole_grades)
        yield CauseKind.GRADES, fractional, rules
        rules = replace(rules, measure=_remove_parameters(rules.measure, "gain"), gain=Gain())
        yield CauseKind.GAIN, (), rules
        rules = replace(rules, measure=_remove_parameters(rules.measure, *OF_RULES), profile=Profile.RANK_EVAL)
        yield CauseKind.RULES, (), rules
        negative = tuple(document for document, grade in whole_grades.items() if grade < 0)
        if negative:
            rules = replace(rules, has_negative_gains=True)
            yield CauseKind.NEGATIVE, negative, rules
        hits = self.theirs.hits
        kind, documents = self._explain_hits()
        yield kind, documents, replace(rules, documents=[hit.id for hit in hits], scores=[hit.score for hit in hits])

    def _explain_hits(self) -> tuple[CauseKind, tuple[str, ...]]:
        """Why the hits of `_rank_eval` differ from those of the run, and the documents concerned."""
        our_hits, their_hits = self.ranking.hits[: self.k], self.theirs.hits
        our_ids, their_ids = [hit.id for hit in our_hits], [hit.id for hit in their_hits]
        # Two indexes may have a document of one id each; `_rank_eval` returns both, and the run counts the first.
        repeated = tuple(document for document, times in Counter(their_ids).items() if times > 1)
        if repeated or self.ranking.duplicates:
            return CauseKind.INDEXES, repeated or self.ranking.duplicates
        first = self._find_first_difference(our_ids, their_ids)
        if explain_changed_target(self.rated.run):
            return CauseKind.CHANGED, first
        if self.rated.unsupported_parameters:
            return CauseKind.PARAMETERS, first
        request = self.rated.requests[self.query.id]
        is_shorter = len(our_ids) < self.k and their_ids[: len(our_ids)] == our_ids
        if is_shorter or not find_deepest_size([request.url_params, request.body]):
            return CauseKind.SIZE, first
        if self._are_tied():
            return CauseKind.TIES, first
        our_scores = {hit.id: hit.score for hit in our_hits}
        rescored = tuple(hit.id for hit in their_hits if our_scores.get(hit.id, hit.score) != hit.score)
        return (CauseKind.SCORES, rescored) if rescored else (CauseKind.UNKNOWN, first)

    @staticmethod
    def _find_first_difference(our_ids: Sequence[str], their_ids: Sequence[str]) -> tuple[str, ...]:
        """The documents at the first rank at which the two rankings differ; none where one continues the other."""
        for ours, theirs in zip(our_ids, their_ids, strict=False):
            if ours != theirs:
                return ours, theirs
        return ()

    def _are_tied(self) -> bool:
        """
        Whether the two rankings differ only in the order of hits with the same score.

        A hit that only one ranking has must have the score of the last hit, and both rankings must have k hits.
        """
        our_hits, their_hits = self.ranking.hits[: self.k], self.theirs.hits
        scores = [hit.score for hit in our_hits]
        if None in scores or scores != [hit.score for hit in their_hits]:
            return False
        our_scores = {hit.id: hit.score for hit in our_hits}
        their_scores = {hit.id: hit.score for hit in their_hits}
        for document, score in (our_scores | their_scores).items():
            if document in our_scores and document in their_scores:
                if our_scores[document] != their_scores[document]:
                    return False
            elif len(scores) < self.k or score != scores[-1]:
                return False
        return True


def _compute_gain(grade: float | None) -> float:
    """2^grade - 1, also below 0."""
    return 0.0 if grade is None else 2.0**grade - 1.0


def _compute_dcg(grades: Iterable[float | None]) -> float:
    return fsum(_compute_gain(grade) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _compute_err(grades: Iterable[float | None], top: float) -> float:
    value, looking = 0.0, 1.0
    for rank, grade in enumerate(grades, start=1):
        stop = _compute_gain(grade) / 2.0**top
        value += looking * stop / rank
        looking *= 1.0 - stop
    return value


def _differ(one: float | None, other: float | None) -> bool:
    """Whether two scores differ by more than rounding does; a score that is not finite differs from every score."""
    if one is None or other is None:
        return one is not other
    return not abs(one - other) <= SCORE_TOLERANCE


def _subtract(score: float | None, earlier: float | None) -> float | None:
    """*score* minus *earlier*; None if one of them is undefined, or the difference not finite."""
    if score is None or earlier is None or not isfinite(score - earlier):
        return None
    return score - earlier


def _remove_parameters(measure: Measure, *names: str) -> Measure:
    """*measure* without the parameters *names*, so that their defaults apply."""
    kept = [f"{name}={as_text(value)}" for name, value in measure.parameters if name not in names]
    cutoff = "" if measure.cutoff is None else f"@{measure.cutoff}"
    parameters = f"({', '.join(kept)})" if kept else ""
    return parse_measure(f"{measure.name}{parameters}{cutoff}")
