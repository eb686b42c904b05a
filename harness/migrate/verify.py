"""Compares the scores of a suite with those of the cluster's `_rank_eval`, and explains the differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isfinite, log2
from pathlib import Path

from harness.config import Configs
from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.gate.stability import explain_changed_target
from harness.means import are_weighted, mean_of
from harness.metrics import parse_measure, score_query, settings_of
from harness.metrics.definition import as_text
from harness.metrics.score import failure_text, measures_of
from harness.migrate.rank_eval import OF_RULES, build_rated_request, find_metric, list_templates
from harness.model import (
    Cause,
    CauseKind,
    Gain,
    Json,
    Measure,
    Profile,
    Query,
    Ranking,
    Run,
    ScoreDifference,
    SearchRequest,
    Suite,
    Verification,
    VerificationReport,
    VerifiedMeasure,
)
from harness.options import RunOptions
from harness.run import Matrix, Runner
from harness.run.cell import AnsweredCell, Progress
from harness.search import Dialect, find_dialect
from harness.search.bodies import deepen, find_deepest_size
from harness.search.protocol import Inspector, RatedQuery
from harness.search.rank_eval import URL_PARAMS
from harness.suites import load_suites
from harness.suites.requests import build_requests, move_to_index

TOLERANCE = 1e-9
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
    tolerance: float = TOLERANCE,
    matrix: Matrix | None = None,
    progress: Progress | None = None,
) -> VerificationReport:
    """
    Run suites, send the same requests and judgments to `_rank_eval`, and compare the scores. No threshold is decided.

    Args:
        paths: Suite files.
        options: The options of the run.
        environ: Where variables and logins are looked up.
        tolerance: The largest difference at which two scores count as equal.
        matrix: The requests and indexes that each suite runs with.
        progress: Receives the progress of the runs.

    Raises:
        InputError: A suite or harness.toml is not valid; holds all problems of all files.
        UsageError: The options cannot be used, a suite searches an HTTP service or sets `id_field`, or `_rank_eval` has
            none of its measures.
        SearchError: The engine has no `_rank_eval`, or did not answer.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.of(options, environ)
    suites = load_suites(paths, environ, configs=configs)
    _check(suites)
    with Runner(environ, progress) as runner:
        answered = runner.answer(suites, options, matrix=matrix, configs=configs)
        found = tuple(_Verifying.of(one, tolerance).verification() for one in answered)
    if any(one.unanswered for one in found):
        return VerificationReport(found, 3)
    sound = any(one.compared for one in found) and not any(one.unexplained for one in found)
    return VerificationReport(found, 0 if sound else 1)


def _check(suites: Sequence[Suite]) -> None:
    refusals = []
    for suite in suites:
        measures = {one.text: find_metric(one, suite, nearest=True) for one in _measures(suite)}
        if not find_dialect(suite.target.service).has_rank_eval:
            refusals.append(f"{suite.path}: the suite asks an HTTP service, which has no _rank_eval")
        elif suite.target.id_field is not None:
            found = f"'id_field' {suite.target.id_field}, and _rank_eval knows documents by _id only"
            refusals.append(f"{suite.path}: the suite's target has {found}")
        elif not any(measures.values()):
            refusals.append(f"{suite.path}: _rank_eval has none of the suite's measures: {', '.join(measures)}")
    if refusals:
        raise UsageError("\n".join(refusals))


def _measures(suite: Suite) -> list[Measure]:
    return list({one.text: one for query in suite.queries for one in measures_of(suite, query)}.values())


@dataclass(frozen=True, slots=True)
class _Verifying:
    """A suite that ran, and its requests, by query."""

    answered: AnsweredCell
    suite: Suite
    run: Run
    requests: Mapping[str, SearchRequest]
    tolerance: float

    @classmethod
    def of(cls, answered: AnsweredCell, tolerance: float) -> _Verifying:
        run, suite = answered.mask_run(), answered.cell.selection.selected
        ranked = tuple(query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking))
        built = build_requests(replace(move_to_index(suite, run.index), queries=ranked), run.request) if ranked else ()
        requests = {one.query: answered.sent.get(one.query, one) for one in built}
        return cls(answered, suite, run, requests, tolerance)

    def verification(self) -> Verification:
        """Compare each measure that `_rank_eval` has; the measures are requested one after the other."""
        suite, run = self.suite, self.run
        unanswered = {
            query.id: failure_text(response)
            for query in suite.queries
            if (response := run.responses.get(query.id)) is not None and not isinstance(response, Ranking)
        }
        metrics = {measure: find_metric(measure, suite, nearest=True) for measure in _measures(suite)}
        homes = self._homes()
        verified = []
        for measure, metric in metrics.items():
            if metric is not None:
                theirs = self._rated(measure, metric, homes)
                unanswered |= {query: self._masked(one) for query, one in theirs.items() if isinstance(one, str)}
                found = {query: one for query, one in theirs.items() if isinstance(one, RatedQuery)}
                verified.append(self._compared(measure, metric, found))
        return Verification(
            suite=suite.name,
            path=suite.path,
            request=run.request,
            index=run.index,
            cluster=self.answered.cluster,
            engine=run.engine,
            profile=suite.profile,
            tolerance=self.tolerance,
            measures=tuple(verified),
            not_compared=tuple(measure.text for measure, metric in metrics.items() if metric is None),
            unanswered=unanswered,
            parameters=self._parameters,
            weighted=self._is_weighted,
        )

    @property
    def _is_weighted(self) -> bool:
        return are_weighted(query.weight for query in self.suite.queries)

    def _masked(self, text: str) -> str:
        return self.answered.cell.masker.mask(text)

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
    def _parameters(self) -> tuple[str, ...]:
        """The URL parameters that `_rank_eval` does not support."""
        return tuple(sorted({name for one in self.requests.values() for name in one.url_params} - {*URL_PARAMS}))

    def _homes(self) -> dict[str, tuple[str, ...]]:
        """Judged document to the indexes that contain it; empty if no index is searched by name (a point in time)."""
        sent = next(iter(self.requests.values()), None)
        if sent is None or sent.index is None or self._dialect.is_pinned(sent):
            return {}
        ids = list(dict.fromkeys(document for query in self.suite.queries for document in query.judgments))
        return self._inspector.find_homes(sent.index, ids, _url_params(sent))

    def _rated(
        self, measure: Measure, metric: Mapping[str, Mapping[str, int | bool]], homes: Mapping[str, tuple[str, ...]]
    ) -> dict[str, RatedQuery | str]:
        """The result of `_rank_eval` for each query that has *measure*; a text says why there is none."""
        templates: dict[str, str] = {}
        by_target: dict[tuple[str | None, tuple[tuple[str, str], ...]], list[Json]] = {}
        for query in self.suite.queries:
            if query.id not in self.requests or measure not in measures_of(self.suite, query):
                continue
            sent = self.requests[query.id]
            body = deepen(sent, _k(metric)).body
            index = None if self._dialect.is_pinned(sent) else sent.index
            entry = {"id": query.id, **build_rated_request(body, templates), "ratings": _ratings(query, index, homes)}
            by_target.setdefault((index, tuple(_url_params(sent).items())), []).append(entry)
        found: dict[str, RatedQuery | str] = {}
        for (index, url_params), entries in by_target.items():
            spec = {"requests": entries, "metric": metric, "templates": list_templates(templates)}
            found |= self._inspector.rate_requests(index, spec, dict(url_params))
        return found

    def _compared(
        self, measure: Measure, metric: Mapping[str, Mapping[str, int | bool]], theirs: Mapping[str, RatedQuery]
    ) -> VerifiedMeasure:
        queries = [query for query in self.suite.queries if query.id in theirs]
        ours: dict[str, float | None] = {}
        differences = []
        for query in queries:
            ranking = self.run.responses[query.id]
            assert isinstance(ranking, Ranking)
            pair = _Pair(self, query, measure, ranking, theirs[query.id], _k(metric))
            ours[query.id] = pair.ours
            if _differ(pair.ours, pair.theirs.score, self.tolerance):
                differences.append(ScoreDifference(query.id, pair.ours, pair.theirs.score, tuple(pair.causes())))
        weights = {query.id: query.weight for query in queries} if self._is_weighted else {}
        defined = {query: score for query, score in ours.items() if score is not None}
        scores = {query: one.score for query, one in theirs.items()}
        return VerifiedMeasure(
            measure=measure.text,
            metric=metric,
            queries=len(queries),
            ours=mean_of(defined, weights) if defined else None,
            theirs=mean_of(scores, {}) if scores and all(map(isfinite, scores.values())) else None,
            differences=tuple(differences),
        )


def _k(metric: Mapping[str, Mapping[str, int | bool]]) -> int:
    [settings] = metric.values()
    return settings["k"]


def _url_params(sent: SearchRequest) -> dict[str, str]:
    return {name: value for name, value in sent.url_params.items() if name in URL_PARAMS}


def _ratings(query: Query, index: str | None, homes: Mapping[str, tuple[str, ...]]) -> list[Json]:
    """The ratings of *query*; each names the index that contains the document, or *index* if none contains it."""
    return [
        {"_index": homes.get(document, (index or "",))[0], "_id": document, "rating": int(grade)}
        for document, grade in query.judgments.items()
        if grade == int(grade)
    ]


@dataclass(frozen=True, slots=True)
class _Rules:
    """The inputs of a score: measure, profile, gain, judgments and ranking."""

    measure: Measure
    profile: Profile
    gain: Gain
    grades: Mapping[str, float]
    documents: Sequence[str]
    scores: Sequence[float | None]
    negative: bool = False
    """Whether a grade below 0 has a gain below 0."""

    def score(self) -> float | None:
        """The score; None if it is undefined."""
        try:
            if self.negative and self.measure.name in EXPONENTIAL:
                return self._as_rank_eval()
            return score_query(
                self.measure, self.documents, self.grades, gain=self.gain, profile=self.profile, scores=self.scores
            )
        except (UndefinedScore, MeasureError, OverflowError):
            return None

    def _as_rank_eval(self) -> float:
        """The score by the formulas of `_rank_eval`, with negative gains; they count in the ideal ranking too."""
        unjudged = dict(self.measure.parameters).get("unjudged")
        returned = self.documents[: self.measure.cutoff]
        unknown = float(unjudged) if isinstance(unjudged, (int, float)) else None
        grades = [self.grades.get(document, unknown) for document in returned]
        if self.measure.name == "ERR":
            return _err(grades, settings_of(self.measure, self.gain, self.profile).number("max"))
        total = _dcg(grades)
        if self.measure.name == "DCG":
            return total
        ideal = _dcg(sorted(self.grades.values(), reverse=True)[: len(returned)])
        return total / ideal if ideal else 0.0


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two scores of a query for one measure."""

    of: _Verifying
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
        suite, hits = self.of.suite, self.ranking.hits
        grades = self.query.judgments
        return _Rules(
            self.measure, suite.profile, suite.gain, grades, [hit.id for hit in hits], [hit.score for hit in hits]
        )

    def causes(self) -> Iterator[Cause]:
        """
        The causes of the difference between the two scores.

        The rules of the suite are replaced by those of `_rank_eval` one after the other. Each step that changes the
        score is a cause. If a difference remains, `_left` names its cause, which may be UNKNOWN.
        """
        score = self.ours
        for kind, documents, rules in self._steps(self._own_rules):
            following = rules.score()
            if _differ(score, following, self.of.tolerance):
                yield Cause(CauseKind.UNDEFINED if score is None else kind, _change(score, following), documents)
            score = following
        if _differ(score, self.theirs.score, self.of.tolerance):
            kind, documents = self._left(score)
            yield Cause(kind, _change(score, self.theirs.score), documents)

    def _left(self, score: float | None) -> tuple[CauseKind, tuple[str, ...]]:
        """Why *score*, computed from the rules and hits of `_rank_eval`, differs from its own; with the documents."""
        judged = self.query.judgments
        huge = tuple(document for document, grade in judged.items() if grade == int(grade) and grade >= HUGE_GRADE)
        if huge and self.measure.name in EXPONENTIAL and (score is None or not isfinite(self.theirs.score)):
            return CauseKind.OVERFLOW, huge
        elsewhere = self._rated_elsewhere() if isfinite(self.theirs.score) else ()
        return (CauseKind.INDEXES, elsewhere) if elsewhere else (CauseKind.UNKNOWN, ())

    def _steps(self, rules: _Rules) -> Iterator[tuple[CauseKind, tuple[str, ...], _Rules]]:
        """The steps from the suite's rules to those of `_rank_eval`: cause, documents concerned, and rules after it."""
        whole = {document: grade for document, grade in rules.grades.items() if grade == int(grade)}
        rules = replace(rules, grades=whole)
        yield CauseKind.GRADES, tuple(document for document in self.query.judgments if document not in whole), rules
        rules = replace(rules, measure=_without(rules.measure, "gain"), gain=Gain())
        yield CauseKind.GAIN, (), rules
        rules = replace(rules, measure=_without(rules.measure, *OF_RULES), profile=Profile.RANK_EVAL)
        yield CauseKind.RULES, (), rules
        below = tuple(document for document, grade in whole.items() if grade < 0)
        if below:
            rules = replace(rules, negative=True)
            yield CauseKind.NEGATIVE, below, rules
        hits = self.theirs.hits
        kind, documents = self._moved()
        yield kind, documents, replace(rules, documents=[hit.id for hit in hits], scores=[hit.score for hit in hits])

    def _moved(self) -> tuple[CauseKind, tuple[str, ...]]:
        """Why the hits of `_rank_eval` differ from those of the run, and the documents concerned."""
        ours, theirs = self.ranking.hits[: self.k], self.theirs.hits
        ids, found = [hit.id for hit in ours], [hit.id for hit in theirs]
        pairs = zip([*ids, *found[len(ids) :]], [*found, *ids[len(found) :]], strict=True)
        at = next((tuple(dict.fromkeys(pair)) for pair in pairs if pair[0] != pair[1]), ())
        repeated = tuple(document for document, times in Counter(found).items() if times > 1)
        if repeated or self.ranking.duplicates:
            return CauseKind.INDEXES, repeated or self.ranking.duplicates
        sent = self.of.requests[self.query.id]
        scores = {hit.id: hit.score for hit in ours}
        if explain_changed_target(self.of.run):
            return CauseKind.CHANGED, at
        if self.of._parameters:
            return CauseKind.PARAMETERS, at
        if (len(ids) < self.k and found[: len(ids)] == ids) or not find_deepest_size([sent.url_params, sent.body]):
            return CauseKind.SIZE, at
        if self._are_tied():
            return CauseKind.TIES, at
        other = tuple(hit.id for hit in theirs if hit.id in scores and scores[hit.id] != hit.score)
        return (CauseKind.SCORES, other) if other else (CauseKind.UNKNOWN, at)

    def _are_tied(self) -> bool:
        """
        Whether the two rankings differ only in the order of hits with the same score.

        A hit that only one ranking has must have the score of the last hit, and both rankings must have k hits.
        """
        ours, theirs = self.ranking.hits[: self.k], self.theirs.hits
        if None in (by_rank := [hit.score for hit in ours]) or by_rank != [hit.score for hit in theirs]:
            return False
        here, there = ({hit.id: hit.score for hit in hits} for hits in (ours, theirs))
        at_the_cut = by_rank[-1:] if len(by_rank) == self.k else []
        return all(
            here[document] == there[document] if document in here and document in there else score in at_the_cut
            for document, score in (here | there).items()
        )

    def _rated_elsewhere(self) -> tuple[str, ...]:
        """The judged hits without a rating in `_rank_eval`, as their rating names another index."""
        judged = self.query.judgments
        return tuple(
            hit.id
            for hit in self.theirs.hits
            if hit.rating is None and hit.id in judged and judged[hit.id] == int(judged[hit.id])
        )


def _gain(grade: float | None) -> float:
    return 0.0 if grade is None else 2.0**grade - 1.0


def _dcg(grades: Iterable[float | None]) -> float:
    return fsum(_gain(grade) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _err(grades: Iterable[float | None], top: float) -> float:
    value, looking = 0.0, 1.0
    for rank, grade in enumerate(grades, start=1):
        stop = _gain(grade) / 2.0**top
        value += looking * stop / rank
        looking *= 1.0 - stop
    return value


def _differ(one: float | None, other: float | None, tolerance: float) -> bool:
    """Whether two scores differ by more than *tolerance*; a score that is not finite differs from every score."""
    if one is None or other is None:
        return one is not other
    return not abs(one - other) <= tolerance


def _change(score: float | None, following: float | None) -> float | None:
    """*following* minus *score*; None if one of them is undefined or not finite."""
    if score is None or following is None or not isfinite(following - score):
        return None
    return following - score


def _without(measure: Measure, *names: str) -> Measure:
    """*measure* without the parameters *names*, so that their defaults apply."""
    kept = [f"{name}={as_text(value)}" for name, value in measure.parameters if name not in names]
    cutoff = "" if measure.cutoff is None else f"@{measure.cutoff}"
    given = f"({', '.join(kept)})" if kept else ""
    return parse_measure(f"{measure.name}{given}{cutoff}")
