"""Sends a trial as a run sends a suite, and scores and gates what is answered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from harness.errors import EngineUnreachable
from harness.gate.decide import decide
from harness.gate.selection import collect_thresholds, needs_baseline, select_counted
from harness.gate.ties import find_bands
from harness.masking import fingerprint
from harness.means import mean_of
from harness.metrics import parse_measure
from harness.metrics.run_scores import failure_text, score_of, score_run
from harness.model.kept import Reference
from harness.model.run import Failure, IndexFacts, Ranking, Run, Status, Verdict
from harness.model.suite import (
    FalseHitsCondition,
    Json,
    Measure,
    Query,
    Suite,
    Threshold,
    get_counterpart,
    select_tagged,
)
from harness.options import RunOptions
from harness.store.baseline import find_reference
from harness.suites.parameters import fill_parameters
from harness.words import counted

if TYPE_CHECKING:
    from harness.config import Configs
    from harness.run.cell import AnsweredCell


class SuiteRunner(Protocol):
    """What sends the queries of suites: `harness.run.Runner`."""

    def answer(self, suites: Sequence[Suite], options: RunOptions, *, configs: Configs) -> list[AnsweredCell]:
        """See `Runner.answer`."""
        ...


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What a request with certain values of its parameters is worth on some queries."""

    scores: Mapping[str, float]
    """
    By query; one whose score is undefined is left out. Empty where *failure* says why.

    Where documents tie, it is the least over their orders: the engine had none, so that no request scores by chance.
    """
    judged: float | None
    """The mean share of judged hits among the first k."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """The thresholds that do not hold, by id, each with its text and the reason."""
    greatest: Mapping[str, float] = field(default_factory=dict)
    """The greatest score over the orders of ties, for each query that ties move."""
    failure: str = ""
    """Why there are no scores: a query has no answer, or the measure cannot score it."""
    false_hits: tuple[str, ...] = ()
    """The queries with a hit for which no result is right."""


@dataclass(slots=True)
class TrialSender:
    """Sends trials of *suite* on some of its queries."""

    runner: SuiteRunner
    suite: Suite
    """With the measure as its first."""
    measure: Measure
    options: RunOptions
    configs: Configs
    engine: str = ""
    """The engine that answered last; empty before."""
    index: str | None = None
    facts: IndexFacts | None = None
    """Of the index, as it was when the first trial was sent; None before, or where it is unknown."""
    sent: int = 0
    """The searches that were sent."""

    def send(self, queries: Sequence[Query], values: Mapping[str, Json], *, is_checked: bool = False) -> TrialAnswer:
        """
        Send *queries* with *values* of the parameters, score what is answered and decide the thresholds.

        Args:
            queries: Those to send; thresholds on all queries are decided on these.
            values: The value of each parameter.
            is_checked: Whether the target is checked for the judged documents, as by a run.

        Raises:
            UsageError: A value cannot be inserted into a text.
            SuiteError: A request cannot be built.
            EngineUnreachable: The server answers nothing at all.
        """
        suite = replace(fill_parameters(self.suite, values), queries=tuple(queries))
        suite = replace(suite, thresholds=list_decidable(suite.thresholds, queries))
        options = replace(self.options, no_checks=self.options.no_checks or not is_checked)
        [answered] = self.runner.answer([suite], options, configs=self.configs)
        run = answered.mask_run()
        self.sent += len(queries)
        self.engine, self.index = str(run.engine), run.index
        if self.facts is None and answered.search is not None:
            self.facts = answered.search.index_facts(run.index)
        return self._score_run(suite, run)

    def _score_run(self, suite: Suite, run: Run) -> TrialAnswer:
        """The scores of *run*, a trial, and the thresholds of *suite* that do not hold."""
        failures = {query: response for query, response in run.responses.items() if isinstance(response, Failure)}
        if failures:
            _refuse_unreachable(run, list(failures.values()))
            first = failure_text(next(iter(failures.values())))
            return TrialAnswer({}, None, failure=f"without an answer: {counted(list(failures), 'query')}: {first}")
        scores = {}
        for query in suite.queries:
            score = score_of(suite, query, self.measure, run)
            if score.value is not None and math.isfinite(score.value):
                scores[query.id] = score.value
        greatest = {}
        for query_id, (least, most) in find_bands(suite, run, self.measure).items():
            if query_id in scores:
                # Of very many orders only a sample is scored.
                greatest[query_id] = max(most, scores[query_id])
                scores[query_id] = min(least, scores[query_id])
        if not scores:
            return TrialAnswer({}, None, failure=f"no query has a score of {self.measure}")
        verdicts = {}
        for verdict in self._decide(suite, run):
            if verdict.status is Status.FAILED or verdict.status.is_undecided:
                threshold = verdict.threshold
                if verdict.query is not None:
                    threshold += f" of {verdict.query}"
                verdicts[verdict.id] = f"{threshold}: {verdict.reason}"
        judged = compute_judged(suite, run, self.depth)
        return TrialAnswer(scores, judged, verdicts, greatest, false_hits=list_false_hits(suite, run))

    def _decide(self, suite: Suite, run: Run) -> Sequence[Verdict]:
        """The gate's own verdicts on the thresholds of *suite*."""
        reference: Reference | None = None
        if needs_baseline(suite, run.request):
            sent_ids = {query.id for query in suite.queries}
            others = [query for query in self.suite.queries if query.id not in sent_ids]
            run = replace(run, facts=self.facts)
            reference = find_reference(suite, run, self.options.baseline, self.options.searched(), others)
        return decide(suite, run, score_run(suite, run), today=self.options.day(), reference=reference)

    @property
    def depth(self) -> int:
        """The k of judged hits: the cutoff of the measure, or as many hits as are requested."""
        return self.measure.cutoff or self.suite.depth


def _refuse_unreachable(run: Run, failures: Sequence[Failure]) -> None:
    """Raise EngineUnreachable where no query was answered: the values of the trial have nothing to do with that."""
    if len(failures) == len(run.responses) and all(failure.status is None for failure in failures):
        raise EngineUnreachable(failure_text(failures[0]))


def list_decidable(thresholds: Sequence[Threshold], queries: Sequence[Query]) -> tuple[Threshold, ...]:
    """
    The thresholds that *queries* can decide by themselves.

    Variants and other requests are not sent with trials, an estimate needs the sample that people graded, and a tag may
    have no query here, or none that the threshold counts.
    """
    decidable = []
    for threshold in thresholds:
        needs_more = get_counterpart(threshold.condition) is not None
        scope = queries if threshold.tag is None else select_tagged(queries, threshold.tag)
        has_queries = bool(select_counted(threshold.condition, scope))
        if has_queries and not needs_more and not threshold.is_estimated:
            decidable.append(threshold)
    return tuple(decidable)


def list_false_hits(suite: Suite, run: Run) -> tuple[str, ...]:
    """The queries of *suite* for which no result is right, and to which *run* has a hit."""
    false_hits = []
    for query in suite.queries:
        response = run.responses.get(query.id)
        if query.nothing and isinstance(response, Ranking) and response.ids:
            false_hits.append(query.id)
    return tuple(false_hits)


def list_limits(suite: Suite, queries: Sequence[Query]) -> dict[str, str]:
    """
    The thresholds on false hits that *queries* can decide, by id, each with its text.

    They limit the choice even where today's request does not hold them: a floor is tuned so that it holds.
    """
    thresholds = list_decidable(suite.thresholds, queries)
    limits = {}
    for gated in collect_thresholds(replace(suite, queries=tuple(queries), thresholds=thresholds)):
        if isinstance(gated.condition, FalseHitsCondition):
            limits[gated.id] = gated.threshold.text
    return limits


def compute_judged(suite: Suite, run: Run, depth: int) -> float | None:
    """The mean share of judged hits among the first *depth*; None where no query has hits."""
    measure = parse_measure(f"Judged@{depth}")
    shares = {}
    for query in suite.queries:
        score = score_of(suite, query, measure, run)
        if score.value is not None and math.isfinite(score.value):
            shares[query.id] = score.value
    if not shares:
        return None
    return mean_of(shares, {query.id: query.weight for query in suite.queries})


def fingerprint_requests(suite: Suite, values: Mapping[str, Json], request: str) -> str:
    """A fingerprint of the request with *values*: trials of the same have the same answers."""
    template = fill_parameters(suite, values).requests[request]
    http = template.http
    parts: list[Json] = [template.body, dict(template.url_params), template.index]
    if http is not None:
        parts += [http.method, http.path, dict(http.params), dict(http.headers), http.json]
    return fingerprint(parts)
