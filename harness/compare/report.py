"""
Two sides and their scores -> the report: thresholds are decided, and the rankings of each query stand beside each
other, with what entered, what left and what moved. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from harness import __version__
from harness.baseline.differences import DocumentNotes, are_only_ties, changed_ranks, compare_documents
from harness.baseline.questions import UsedValues
from harness.compare.coverage import cover_sides
from harness.compare.scores import Depths, ScoredSides, compare_measures, score_tables
from harness.compare.sides import MEASURE, QRELS, SUITE, ComparedSide, may_share_request, read_questions
from harness.errors import GrammarError, Sentence, UsageError
from harness.gate import compute_comparison_status, decide
from harness.gate.finding import compute_merit, describe_changed_question, read_weights
from harness.gate.grammar import TOLERANCE, check_reach, parse_threshold
from harness.gate.judge_scores import JUDGED
from harness.gate.stability import explain_changed_target
from harness.metrics.agreement import PERSISTENCE, RankPair, compare_rankings, mean_agreement
from harness.metrics.grammar import RBO
from harness.metrics.score import common_measures
from harness.model import (
    AgreementCondition,
    BaselineCondition,
    ComparisonReport,
    Condition,
    Failure,
    FailureKind,
    MovedDocument,
    Query,
    QueryComparison,
    Question,
    Ranking,
    Reference,
    ReportTiming,
    Run,
    ScoreCondition,
    Side,
    Status,
    Suite,
    Threshold,
    Verdict,
)
from harness.words import count, counted, did_you_mean, listed

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions


USUAL_DEPTH = 10
"""Ranks that are compared where the rankings are whole and no depth is given."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """
    How two runs are compared.

    *depth* is the number of ranks to compare; None for all that both have. *p* is the persistence of rank-biased
    overlap. *how* says how differences are tested. *today* decides which skips are in force.
    """

    today: date
    depth: int | None = None
    p: float = PERSISTENCE
    how: ComparisonOptions | None = None

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise UsageError(f"found p {self.p:g}, expected a persistence above 0 and below 1, such as 0.9")
        if self.depth is not None and self.depth < 1:
            raise UsageError(f"found depth {self.depth}, expected at least 1")


def assemble_comparison(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, options: CompareOptions, created: str
) -> ComparisonReport:
    """
    Compare the second of *pair* with the first, and decide the thresholds of *scored*.

    Args:
        pair: The reference and the candidate.
        scored: Their scores.
        options: How they are compared.
        created: The time in the report.

    Raises:
        UsageError: There is no query to compare, *options* have more ranks than there are, a threshold cannot be
            decided, or the packages for statistics are not installed.
        StatisticError: The test is the t test and no query differs.
    """
    suite, names = scored.suite, (pair[0].side.name, pair[1].side.name)
    if not any(all(query.id in one.run.responses for one in pair) for query in suite.queries):
        raise UsageError(f"there is no query on which to compare {names[1]} with {names[0]}")
    Depths.of(pair, suite).refuse_ranks(options.depth)
    depth = options.depth or scored.depth or USUAL_DEPTH
    check_thresholds(suite, judged=scored.is_judged, depth=scored.depth)
    by_side = SideBySide(scored, depth, options.p)
    rankings = by_side.pairs()
    measures, untested = compare_measures(names, scored, options.how)
    first = next((measure.text for measure in common_measures(suite)), None)
    sides = [_within(one.side, suite) for one in pair]
    verdicts = _verdicts(pair, scored, depth, options)
    runs, moving = scored.runs, explain_changed_target(scored.runs[1], scored.runs[0])
    return ComparisonReport(
        timing=ReportTiming(created),
        harness=__version__,
        suite=suite.name,
        reference=sides[0],
        candidate=sides[1],
        gain=str(suite.gain) if scored.is_judged else "",
        profile=suite.profile,
        depth=depth,
        measures=measures,
        agreement=mean_agreement(rankings, depth=depth, p=options.p, weights=read_weights(suite.queries, rankings)),
        queries=tuple(most_moved_first(by_side.queries(rankings), first)),
        verdicts=verdicts,
        notes=(*scored.notes, *untested, *_changes(pair), *_in_neither(scored), *filter(None, [moving])),
        only_reference=_only(scored, runs[0], runs[1]),
        only_candidate=tuple(one for one in _only(scored, runs[1], runs[0]) if one not in pair[0].changed_questions),
        judged=cover_sides(pair, scored, depth) if scored.is_judged else None,
        exit_status=compute_comparison_status(verdicts, unanswered=any(side.unanswered for side in sides)),
    )


def _verdicts(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, depth: int, options: CompareOptions
) -> tuple[Verdict, ...]:
    """The verdicts of the gate, with the first side as the baseline."""
    reference, candidate = pair
    thresholds = tuple(_with_defaults(one, depth, options.p) for one in scored.suite.thresholds)
    suite = replace(scored.suite, thresholds=thresholds)
    if scored.depth is None:  # whole rankings have all the hits that a cutoff may look at, however few they are
        suite = replace(suite, depth=max(suite.depth, *_deepest_looks(thresholds)))
    held_against = Reference(
        run=scored.runs[0],
        scores=scored.scores[0],
        depth=suite.depth,
        same_request=may_share_request(reference, candidate),
        name=reference.side.name,
        changed_questions=reference.changed_questions,
    )
    verdicts = decide(suite, scored.runs[1], scored.scores[1], today=options.today, reference=held_against)
    if not any(isinstance(threshold.condition, ScoreCondition) for threshold in thresholds):
        return verdicts
    of_reference = decide(suite, scored.runs[0], scored.scores[0], today=options.today)
    names = (reference.side.name, candidate.side.name)
    return tuple(
        _decide_for_both(names, first, second) if isinstance(threshold.condition, ScoreCondition) else second
        for threshold, first, second in zip(thresholds, of_reference, verdicts, strict=True)
    )


def _decide_for_both(names: tuple[str, str], reference: Verdict, candidate: Verdict) -> Verdict:
    """The verdict of a threshold on coverage, which has to hold for each side; its reason has both."""
    order = (Status.ERROR, Status.FAILED, Status.INCONCLUSIVE, Status.PASSED)
    worse, better = sorted((reference, candidate), key=lambda verdict: (order.index(verdict.status), _merit(verdict)))
    reason = "; ".join(f"{name}: {verdict.reason}" for name, verdict in zip(names, (reference, candidate), strict=True))
    blamed = worse.blamed if better.status is Status.PASSED else (*worse.blamed, *better.blamed)
    return replace(worse, reason=reason, blamed=tuple(dict.fromkeys(blamed)))


def _merit(verdict: Verdict) -> float:
    """A number to sort verdicts of a threshold by, the worst first."""
    if verdict.observed is None or verdict.operator is None or verdict.required is None:
        return -math.inf
    return compute_merit(verdict.observed, verdict.operator, verdict.required)


def _within(side: Side, suite: Suite) -> Side:
    """*side* with only the failures of queries that are compared."""
    known = {query.id for query in suite.queries}
    return replace(side, unanswered={query: why for query, why in side.unanswered.items() if query in known})


def _only(scored: ScoredSides, here: Run, there: Run) -> tuple[str, ...]:
    ids = (query.id for query in scored.suite.queries)
    return tuple(query for query in ids if query in here.responses and query not in there.responses)


def _in_neither(scored: ScoredSides) -> Iterator[str]:
    first, second = (run.responses for run in scored.runs)
    absent = [one.id for one in scored.suite.queries if one.id not in first and one.id not in second]
    if absent:
        yield f"on neither side: {counted(absent, 'query')}"


def _changes(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    """A sentence where both sides have a request of the same name with another content."""
    first, second = pair
    known = first.template is not None and second.template is not None
    if known and first.template != second.template and first.side.request == second.side.request:
        yield f"the request {first.side.request} is not the same on both sides"


# Thresholds.


EXPECTED = (
    "a drop, such as 'drop nDCG@10 <= 0.02', 'worse … by …', an agreement such as 'mean RBO >= 0.9', or the share of "
    "judged hits of both sides, such as 'mean Judged@10 >= 0.9'"
)


def read_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """
    The thresholds, read by the grammar of suites.

    Raises:
        UsageError: A text does not fit the grammar, or is not about a difference; names all such texts.
    """
    thresholds, refusals = [], []
    for text in texts:
        try:
            condition, tag = parse_threshold(text, of_query=False)
        except GrammarError as error:
            refusals.append(f"threshold {text!r}: {error}")
            continue
        of_coverage = isinstance(condition, ScoreCondition) and condition.measure.name == JUDGED
        if of_coverage or isinstance(condition, BaselineCondition | AgreementCondition):
            thresholds.append(Threshold(text, condition, tag))
        else:
            refusals.append(
                f"threshold {text!r} applies to one run and not to a difference; expected {EXPECTED}; "
                "use harness run for it"
            )
    if refusals:
        raise UsageError("\n".join(refusals))
    return tuple(thresholds)


def check_thresholds(suite: Suite, *, judged: bool, depth: int | None) -> None:
    """
    Refuse thresholds that cannot be decided.

    Args:
        suite: Holds them, and the queries that are compared with their tags.
        judged: Whether there are scores.
        depth: The number of hits per query, None where the rankings are whole.

    Raises:
        UsageError: No query has a threshold's tag, a number is out of reach, an agreement is deeper than the rankings,
            or a threshold is on a drop of scores where there are none.
    """
    refusals = [
        (f"threshold {one.text!r}: ", *sentence)
        for one in suite.thresholds
        if (sentence := _refusal(one, suite, judged, depth))
    ]
    if refusals:
        raise UsageError.of_lines(refusals)


def _refusal(threshold: Threshold, suite: Suite, judged: bool, depth: int | None) -> Sentence:
    tags = {tag for query in suite.queries for tag in query.tags}
    condition = threshold.condition
    if threshold.tag is not None and threshold.tag not in tags:
        return (f"no query has the tag {threshold.tag!r}{did_you_mean(threshold.tag, tags)}",)
    if not judged and isinstance(condition, BaselineCondition | ScoreCondition):
        found = "there are no scores to compare; give "
        return found, SUITE, ", or ", QRELS, " and ", MEASURE, ", or use a threshold on RBO or overlap"
    if isinstance(condition, AgreementCondition) and depth is not None and (condition.agreement.cutoff or 0) > depth:
        return (f"{condition.agreement} looks at more hits than the {depth} a query that both sides have",)
    sentence = check_reach(condition, suite.gain, suite.profile)
    return (sentence,) if sentence else ()


def _deepest_looks(thresholds: Iterable[Threshold]) -> list[int]:
    """The cutoffs of the measures and agreements of *thresholds*; never empty."""
    conditions = [one.condition for one in thresholds]
    agreements = [one.agreement for one in conditions if isinstance(one, AgreementCondition)]
    measures = [one.measure for one in conditions if isinstance(one, BaselineCondition | ScoreCondition)]
    return [1, *(measure.cutoff or 1 for measure in [*agreements, *measures])]


def _with_defaults(threshold: Threshold, depth: int, p: float) -> Threshold:
    """*threshold*; an agreement without a cutoff or a persistence of its own takes that of the report."""
    condition: Condition = threshold.condition
    if not isinstance(condition, AgreementCondition):
        return threshold
    written = condition.agreement
    parameters = written.parameters or ((("p", p),) if written.name == RBO else ())
    agreement = replace(written, cutoff=written.cutoff or depth, parameters=parameters)
    return replace(threshold, condition=replace(condition, agreement=agreement))


# Queries that ask the same.


def same_questions(
    pair: tuple[ComparedSide, ComparedSide], suite: Suite | None
) -> tuple[tuple[ComparedSide, ComparedSide], tuple[str, ...]]:
    """
    Remove the responses to queries whose text or params differ.

    A query of the reference with another text or other params than in the candidate, or in *suite*, is removed from the
    reference. Where only the candidate is known to differ from the suite, its response becomes a failure.

    Returns:
        Both sides, and a sentence on each that has other texts or params.
    """
    reference, candidate = pair
    now = {} if suite is None else read_questions(suite, UsedValues.of_all(suite))
    known = {query: one for query, one in candidate.questions.items() if not now or query in now}
    then = _changed(reference.questions, known) | _changed(reference.questions, now)
    strange = {
        query: both for query, both in _changed(candidate.questions, now).items() if query not in reference.questions
    }
    failed = {query: _unasked(query, both) for query, both in strange.items()}
    run = replace(candidate.run, responses={**candidate.run.responses, **failed})
    notes = (*_note(reference, then), *_note(candidate, strange))
    return (_without(reference, then), replace(candidate, run=run)), notes


def _changed(then: Mapping[str, Question], now: Mapping[str, Question]) -> dict[str, tuple[Question, Question]]:
    return {query: (then[query], now[query]) for query in then if query in now and then[query].is_another(now[query])}


def _unasked(query: str, both: tuple[Question, Question]) -> Failure:
    return Failure(FailureKind.NOT_RUN, f"another text or params: {describe_changed_question(query, *both)}")


def _note(side: ComparedSide, changed: Mapping[str, tuple[Question, Question]]) -> Iterator[str]:
    if changed:
        changes = listed([describe_changed_question(query, *both) for query, both in changed.items()])
        yield f"{side.side.name} asked something else for {count(len(changed), 'query')}, not compared: {changes}"


def _without(one: ComparedSide, changed: Mapping[str, tuple[Question, Question]]) -> ComparedSide:
    """*one* without the responses, scores and judgments of the queries *changed*."""
    responses = {query: response for query, response in one.run.responses.items() if query not in changed}
    return replace(
        one,
        run=replace(one.run, responses=responses),
        queries=tuple(query for query in one.queries if query.id not in changed),
        scores=tuple(score for score in one.scores if score.query not in changed),
        fingerprints={query: judged for query, judged in one.fingerprints.items() if query not in changed},
        changed_questions=changed,
    )


# Rankings.


def with_documents(query: QueryComparison, documents: tuple[MovedDocument, ...]) -> QueryComparison:
    """*query* with the *documents* of its two rankings, and how many of them entered, left and moved."""
    changed = changed_ranks(documents)
    entered, left = (sum(one.reference is None for one in changed), sum(one.candidate is None for one in changed))
    return replace(
        query,
        documents=documents,
        entered=entered,
        left=left,
        moved=len(changed) - entered - left,
        ties_only=are_only_ties(changed),
    )


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Compares queries one by one: *depth* ranks, with persistence *p*."""

    scored: ScoredSides
    depth: int
    p: float

    def pairs(self) -> dict[str, RankPair]:
        """The rankings of the queries that have one on both sides."""
        answered = {query.id: self._rankings(query.id) for query in self.scored.suite.queries}
        return {
            query: compare_rankings(*([hit.id for hit in one.hits] for one in rankings), depth=self.depth, p=self.p)
            for query, rankings in answered.items()
            if rankings is not None
        }

    def queries(self, pairs: Mapping[str, RankPair]) -> list[QueryComparison]:
        """Every query, in the suite's order; *pairs* are the rankings from `pairs`."""
        titles = self._titles()
        tables = [score_tables(self.scored, scores) for scores in self.scored.scores]
        found = []
        for query in self.scored.suite.queries:
            scores = {measure: (tables[0][measure][query.id], tables[1][measure][query.id]) for measure in tables[0]}
            plain = QueryComparison(query.id, query.text, query.tags, scores if self.scored.is_judged else {})
            pair = pairs.get(query.id)
            found.append(plain if pair is None else self._compared(plain, query, pair, titles))
        return found

    def _compared(
        self, plain: QueryComparison, query: Query, pair: RankPair, titles: Mapping[str, str]
    ) -> QueryComparison:
        rankings = self._rankings(query.id)
        assert rankings is not None
        notes = DocumentNotes(query.judgments, self.scored.suite.gain, titles)
        documents = compare_documents(*rankings, depth=self.depth, notes=notes)
        return replace(with_documents(plain, documents), rbo=pair.rbo, overlap=pair.overlap, tau=pair.tau)

    def _rankings(self, query: str) -> tuple[Ranking, Ranking] | None:
        first, second = (run.responses.get(query) for run in self.scored.runs)
        return (first, second) if isinstance(first, Ranking) and isinstance(second, Ranking) else None

    def _titles(self) -> dict[str, str]:
        """Every title that either run returned or looked up, the candidate's first."""
        looked_up = {document: title for run in self.scored.runs for document, title in run.titles.items()}
        hits = chain.from_iterable(run.hits for run in self.scored.runs)
        return {**looked_up, **{hit.id: hit.title for hit in hits if hit.title is not None}}


def most_moved_first(queries: Sequence[QueryComparison], measure: str | None) -> list[QueryComparison]:
    """
    *queries* by how far *measure* changed, then by how little their rankings agree; those without both rankings last.

    Equal ones keep their order.
    """

    def order(query: QueryComparison) -> tuple[bool, bool, float, float]:
        before, after = query.scores.get(measure or "", (None, None))
        change = None if before is None or after is None else abs(after - before)
        size = 0.0 if change is None or change <= TOLERANCE else change
        return query.rbo is None, change is None, -size, query.rbo or 0.0

    return sorted(queries, key=order)
