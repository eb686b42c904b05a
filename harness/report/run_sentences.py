"""The sentences of a report, the same in every output format: headlines, and what needs attention."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.gate import compute_exit_status
from harness.gate.selection import interleave_blamed
from harness.model import (
    Absence,
    Instability,
    MissingDocument,
    MovedDocument,
    NamedField,
    Outcome,
    QueryComparison,
    QueryReport,
    RankedDocument,
    Report,
    ShardCopy,
    Status,
    SuiteReport,
    TargetChecks,
    TextDiff,
    Verdict,
)
from harness.options import option_words
from harness.report.overview import suites_text
from harness.report.sentences import (
    change_text,
    counted_queries,
    first_named,
    matching_text,
    plain_text,
    printable,
    score_text,
    span_text,
    tally_text,
)
from harness.words import count, counted, grouped, instead, listed

if TYPE_CHECKING:
    from harness.metrics.evaluate import Evaluation


# What needs attention in a suite: thresholds that do not hold by themselves, and the queries they blame.


BAD = (Status.FAILED, Status.INCONCLUSIVE, Status.ERROR)
"""The statuses of thresholds that do not hold: the exit status is not 0."""

LOOKED_AT = (*BAD, Status.WARNED, Status.XPASSED)
"""
Statuses that need attention: a warning is meant to be read, and the `xfail` of an unexpected pass would hide the next
failure.
"""

QUERIES_OF_THRESHOLD = 3
"""The worst queries that are shown for one threshold."""

QUERIES_OF_SUITE = 10
"""The queries that are shown for all thresholds of a suite together."""

THRESHOLDS_NAMED = 5
"""Thresholds that are named with a query that they blame."""


@dataclass(frozen=True, slots=True)
class Attention:
    """
    *verdicts* that need attention, in the order of the report, without those that only repeat that queries had no
    answer; the *queries* that they blame, the worst of each before the second of any, and how many more are *left*.
    """

    verdicts: tuple[Verdict, ...]
    queries: tuple[QueryReport, ...]
    left: int


def attention_of(suite: SuiteReport) -> Attention:
    """What needs attention in *suite*; where the run only reports, all its answered queries, if these are few."""
    unanswered = suite.unanswered
    verdicts = [one for one in suite.verdicts if _to_look_at(one) and not only_repeats_unanswered(one, unanswered)]
    if suite.report_only and len(suite.queries) - len(unanswered) <= QUERIES_OF_SUITE:
        sent = (query.id for query in suite.queries if query.outcome is not Outcome.SKIPPED)
        return Attention(tuple(verdicts), tuple(suite.find_queries(one for one in sent if one not in unanswered)), 0)
    return _with_queries(suite, verdicts, unanswered)


def _to_look_at(verdict: Verdict) -> bool:
    """Whether *verdict* needs attention; one that was not decided does if it blames a query."""
    return verdict.status in LOOKED_AT or (verdict.status is Status.NOT_DECIDED and bool(verdict.blamed))


def only_repeats_unanswered(verdict: Verdict, unanswered: Collection[str]) -> bool:
    """Whether *verdict* only repeats that queries had no answer, which is reported once for all of them."""
    has_no_figure = verdict.status is Status.ERROR or (
        verdict.status is Status.NOT_DECIDED and verdict.observed is None
    )
    return has_no_figure and bool(verdict.blamed) and set(unanswered) >= set(verdict.blamed)


def is_held_by_query(verdict: Verdict) -> bool:
    """Whether *verdict* is a passed threshold of a single query: there may be thousands, and none needs a look."""
    return verdict.query is not None and verdict.status is Status.PASSED


def concerned_text(query: QueryReport | QueryComparison, verdicts: Iterable[Verdict]) -> str:
    """Which of *verdicts* blame *query*, by their thresholds."""
    thresholds = [verdict.threshold for verdict in verdicts if query.id in verdict.blamed]
    named = thresholds[:THRESHOLDS_NAMED]
    if len(thresholds) > THRESHOLDS_NAMED:
        named.append(f"and {count(len(thresholds) - THRESHOLDS_NAMED, 'more threshold')}")
    return "; ".join(named)


def _with_queries(suite: SuiteReport, verdicts: Sequence[Verdict], unanswered: Collection[str]) -> Attention:
    known = {query.id for query in suite.queries} if any(verdict.blamed for verdict in verdicts) else set()
    blamed = [[name for name in one.blamed if name in known and name not in unanswered] for one in verdicts]
    shown = interleave_blamed([names[:QUERIES_OF_THRESHOLD] for names in blamed])[:QUERIES_OF_SUITE]
    left = len({name for names in blamed for name in names}) - len(shown)
    return Attention(tuple(verdicts), tuple(suite.find_queries(shown)), left)


# Probable causes other than the ranking, to be read before the figures.


def cause_lines(queries: Sequence[QueryReport], checks: TargetChecks | None) -> Iterator[str]:
    """A line for each thing that is probably wrong with the set-up, whatever the figures say."""
    yield from ranking_causes(queries, checks)
    title = checks.untitled if checks is not None else None
    if title is not None:
        yield f"no hit has the field {title.name}, which the suite names as its title_field{_meant(title)}"


def ranking_causes(queries: Sequence[QueryReport], checks: TargetChecks | None) -> Iterator[str]:
    """Those of `cause_lines` that lower scores."""
    asked = 0
    for query in queries:
        if query.ranking or query.outcome.is_unanswered:
            asked = 0
            break
        asked += query.outcome is not Outcome.SKIPPED
    if asked:
        yield "the only query has 0 hits" if asked == 1 else f"all {count(asked, 'query')} have 0 hits"
    rising = [query.id for query in queries if query.scores_rise]
    if rising:
        yield (
            f"the scores of {counted(rising, 'query')} rise from one rank to the next, and the request has no `sort`: "
            "the hits are not in the order of their scores"
        )
    for field in () if checks is None else checks.unknown_fields:
        yield (
            f"the request names the field {field.name}, which no searched index has{_meant(field)} (in {field.place})"
        )


def _meant(field: NamedField) -> str:
    return "" if field.meant is None else f"; did you mean {field.meant!r}?"


def next_command(suite: SuiteReport, verdict: Verdict) -> str:
    """
    The command that shows the worst query of *verdict*, for a POSIX shell.

    Empty where the threshold was measured and reached, or blames no query, or no command can search the same.
    """
    if verdict.status not in (Status.FAILED, Status.INCONCLUSIVE) or suite.searched is None or not suite.path:
        return ""
    query = verdict.query or next(iter(verdict.blamed), None)
    return "" if query is None else show_command(suite.path, query, suite.searched)


def show_command(path: str, query: str, searched: Mapping[str, str | bool]) -> str:
    """
    ``harness show`` for one query, with the options that search the same.

    >>> show_command("shop.relevance.yaml", "red shoes", {"url": "http://shop", "allow_write": True})
    "harness show shop.relevance.yaml 'red shoes' --url http://shop --allow-write"
    """
    words, given = [path, query], option_words(searched)
    dashed = any(word.startswith("-") for word in words)
    return shlex.join(["harness", "show", *given, "--", *words] if dashed else ["harness", "show", *words, *given])


# The result of a report in one line.


def only_reports(report: Report) -> bool:
    """Whether no threshold was to be decided."""
    return any(suite.report_only for suite in report.suites)


def headline(report: Report) -> str:
    """Whether all suites ran, and all thresholds hold; where none fails but the run does, why."""
    decided = _decided(report)
    return f"{count(len(report.missing), 'suite')} did not run; the others: {decided}" if report.missing else decided


def _decided(report: Report) -> str:
    verdicts = [verdict for suite in report.suites for verdict in suite.verdicts]
    failed = [suite for suite in report.suites if compute_exit_status([suite]) == SearchError.exit_status]
    unanswered = sum(len(suite.unanswered_once) for suite in failed)
    if only_reports(report) and not unanswered:
        return "Nothing was decided: --report-only"
    if report.undecided and not unanswered:
        return "Nothing was decided: the selection of queries left no threshold"
    said = thresholds_headline(verdicts, unanswered, report.exit_status)
    if compute_exit_status(report.suites) and not unanswered and not any(verdict.status in BAD for verdict in verdicts):
        return f"Items failed in pytest for another reason than a threshold; {said}"
    return said


def thresholds_headline(verdicts: Collection[Verdict], unanswered: int, exit_status: int) -> str:
    """As `headline`, from *verdicts*, the number of queries *unanswered*, and their exit status."""
    verdicts = [verdict for verdict in verdicts if verdict.status is not Status.NOT_DECIDED]
    counts = Counter(verdict.status for verdict in verdicts)
    bad = Counter(verdict.is_unexpected_pass for verdict in verdicts if verdict.status in BAD)
    if bad:
        what = {False: "did not hold", True: "passed though expected to fail"}
        return ", ".join(f"{count(bad[one], 'threshold')} of {len(verdicts):,} {what[one]}" for one in sorted(bad))
    if unanswered and exit_status:
        return f"{count(unanswered, 'query')} had no answer"
    if not counts:
        return "No threshold was decided"
    waived = counts[Status.XFAILED]
    held = f"{count(len(verdicts), 'threshold')}, all hold"
    return f"{held} but {count(waived, 'expected failure')}" if waived else held


def closing(report: Report) -> str:
    """The numbers of suites and queries, and the statuses of the thresholds."""
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    queries = sum(len(suite.queries) for suite in report.suites)
    return f"{suites_text(report)}, {count(queries, 'query')}: {tally_text(statuses)}"


# The outcomes of queries without a plain score, in words.


def remark_lines(suite: SuiteReport) -> Iterator[str]:
    """Requests that were sent again, shard copies that changed, and the notes on *suite*."""
    resent = suite.timing.resent
    if resent:
        reasons = ", ".join(f"{reason} ({number:,})" for reason, number in resent.items())
        sent, all_of_them = sum(resent.values()), count(len(suite.queries), "query")
        yield f"{sent:,} of {all_of_them} {'was' if sent == 1 else 'were'} sent again: {reasons}"
    yield from stability_lines(suite)
    yield from suite.notes


WHY_UNSTABLE = {
    Instability.TIES: "tied documents change places",
    Instability.COPIES: "other copies of a shard answered, which may have other deleted documents",
    Instability.MOVING: "the index changed",
    Instability.UNANSWERED: "a repeat has no answer",
    Instability.UNKNOWN: "documents have other scores, and why is not known",
}


def stability_lines(suite: SuiteReport) -> Iterator[str]:
    """Which shard copies changed, which rankings are not the same in each repeat and why, and how far figures move."""
    changes = [change for before, after in pairwise(suite.timing.copies) for change in _moved_copies(before, after)]
    if changes:
        yield (
            f"while the queries ran, {', then '.join(changes)}: rankings may differ where copies of a shard have other "
            "deleted documents"
        )
    if suite.repeats is None:
        return
    repeats, unstable = suite.repeats.repeats, suite.repeats.unstable
    if not unstable:
        yield f"each ranking is the same in {repeats} repeats"
    for cause, why in WHY_UNSTABLE.items():
        ids = [one.query for one in unstable if one.cause is cause]
        if ids:
            have = f"{len(ids):,} of {count(len(suite.queries), 'query')} {'has' if len(ids) == 1 else 'have'}"
            yield f"{have} several rankings in {repeats} repeats, as {why}: {listed(ids)}"
    moved = [f"{one.threshold}: {span_text(one, one.repeats)}" for one in suite.verdicts if one.repeats]
    if moved:
        yield f"over the repeats the figures move: {'; '.join(moved[:SPANS])}{'; …' if len(moved) > SPANS else ''}"


SPANS = 20
"""Thresholds whose figures over the repeats a line gives."""


def _moved_copies(before: Mapping[str, Sequence[ShardCopy]], after: Mapping[str, Sequence[ShardCopy]]) -> Iterator[str]:
    """Which nodes no longer hold copies, which hold some now, and which shards have other copies on the same nodes."""
    nodes, now = ({copy.node for held in one.values() for copy in held} for one in (before, after))
    indexes = listed(sorted({shard.rpartition("[")[0] for shard in (*before, *after)}))
    if nodes - now:
        yield f"node {listed(sorted(nodes - now))} left the cluster or lost its copies of {indexes}"
    if now - nodes:
        yield f"node {listed(sorted(now - nodes))} got copies of {indexes}"
    anew = [shard for shard in sorted(before.keys() & after.keys()) if _built(before[shard]) != _built(after[shard])]
    if anew and nodes == now:
        yield f"copies of {listed(anew)} were built anew"


def _built(copies: Iterable[ShardCopy]) -> set[tuple[str, str]]:
    return {(copy.node, copy.allocation) for copy in copies}


def outcome_lines(queries: Iterable[QueryReport]) -> Iterator[str]:
    """A line for each outcome other than a plain score: how many queries have it, why, and the first of them."""
    unscored = (query for query in queries if query.outcome is not Outcome.SCORED)
    for (outcome, reason), affected in grouped(((query.outcome, query.reason), query.id) for query in unscored).items():
        why = f": {reason}" if reason else ""
        yield f"{count(len(affected), 'query')} with outcome {outcome}{why} ({first_named(affected)})"


LEAST_JUDGED = 0.5
"""The share of judged hits below which a report warns: most of what users see then does not count."""


def is_hardly_judged(hits: int, judged: int) -> bool:
    """Whether so few of *hits* are judged that scores say little."""
    return hits > 0 and judged / hits < LEAST_JUDGED


def judged_line(suite: SuiteReport) -> str:
    """How many hits are judged, and what to do if these are few; empty where there are no hits."""
    if not suite.hits:
        return ""
    if not suite.judged_hits:
        return f"none of {count(suite.hits, 'hit')} is judged: `harness judgments pool` lists what to judge"
    share = f"{suite.judged_hits:,} of {suite.hits:,} hits are judged ({suite.judged_hits / suite.hits:.1%})"
    if not is_hardly_judged(suite.hits, suite.judged_hits):
        return share
    return f"only {share}; the others count as if they had no gain: `harness judgments pool` lists what to judge"


# One query's ranking in words and numbers, the same on a terminal, in a page and in Markdown; nothing is escaped.


RANKS_SHOWN = 10
MISSING_SHOWN = 10
UNJUDGED = "unjudged"


def missing_place(missing: MissingDocument) -> str:
    """Where the document is, or why it is in no ranking, in words."""
    match missing.absence:
        case Absence.NOT_VISIBLE:
            return f"not visible through {missing.target or 'the target'}{instead(missing.id, missing.similar)}"
        case Absence.NO_MATCH:
            return "does not match"
        case Absence.COLLAPSED:
            return "hidden by collapse"
        case Absence.BEYOND:
            return f"not among the {count(missing.searched, 'hit')} that the request can return"
        case Absence.BELOW:
            return f"matches, not in the first {missing.searched:,}"
    if missing.rank is not None:
        return f"at rank {missing.rank:,}"
    return f"not in the first {missing.searched:,}" if missing.searched else "not returned"


def known_text(query: QueryReport, measure: str | None = None) -> str:
    """
    The score of *measure*, or of all measures, each with its difference from the baseline where there is one, the
    outcome of the query, and the number of matching documents.
    """
    scores = query.scores if measure is None else {measure: query.scores.get(measure)}
    changes = {name: change for name in scores if (change := query_change(query, name)) not in ("", "=")}
    said = {name: f" ({change}{'' if at else ' vs baseline'})" for at, (name, change) in enumerate(changes.items())}
    shown = ", ".join(f"{name} {score_text(value)}{said.get(name, '')}" for name, value in scores.items())
    known = [shown] if shown else []
    known.append(str(query.outcome))
    if query.total is not None:
        known.append(f"{matching_text(query)} matching")
    return "; ".join(known)


def query_change(query: QueryReport, measure: str) -> str:
    """How the score of *query* changed since the baseline: ``-0.3869`` or ``=``; empty where it is not compared."""
    now = query.scores.get(measure)
    before = None if query.baseline is None else query.baseline.scores.get(measure)
    return "" if now is None or before is None else change_text(before, now)


# Changes since a baseline: the old rank of each document that moved, documents that left, and other facts.


def old_ranks(query: QueryReport) -> dict[str, str]:
    """The rank in the baseline, or ``new``, by document; only for documents whose rank changed."""
    changed = query.baseline.documents if query.baseline else ()
    return {one.id: "new" if one.reference is None else f"{one.reference:,}" for one in changed if one.candidate}


def left_documents(query: QueryReport) -> tuple[MovedDocument, ...]:
    """The documents that the baseline ranked within the compared depth and the run does not, in their old order."""
    changed = query.baseline.documents if query.baseline else ()
    return tuple(one for one in changed if one.candidate is None)


def baseline_text(suite: SuiteReport) -> str:
    """How many queries were compared: ``12 compared with the baseline of 2026-11-20``; empty without a baseline."""
    if suite.baseline is None:
        return ""
    return f"{suite.baseline.queries:,} compared with the baseline of {suite.baseline.created}"


def mean_change_text(suite: SuiteReport, verdict: Verdict) -> str:
    """How the mean of the measure of *verdict* changed since the baseline, over the same queries; empty if unknown."""
    of_tag = (one.summaries for one in suite.tags if one.tag == verdict.tag)
    summaries = suite.summaries if verdict.tag is None else next(of_tag, ())
    change = next((one.change for one in summaries if one.measure == verdict.measure), None)
    if verdict.query is not None or suite.baseline is None or change is None:
        return ""
    before, now = score_text(change.baseline), score_text(change.now)
    difference = change_text(change.baseline, change.now)
    means = f"{before} → {now} ({difference}) over {count(change.queries, 'query')}"
    return f"mean {verdict.measure} since the baseline of {suite.baseline.created}: {means}"


def diff_heading(diff: TextDiff) -> str:
    """The subject of a difference of texts, and which side is which."""
    return f"the {diff.name} changed (- baseline, + now)"


def diff_rest(diff: TextDiff) -> str:
    """How many lines of the difference are not shown; empty where all are."""
    return f"and {count(diff.left_out, 'more line')}" if diff.left_out else ""


def grade_text(document: RankedDocument | MovedDocument | MissingDocument) -> str:
    """The grade, or that there is none: unjudged is not grade 0."""
    return UNJUDGED if document.grade is None else plain_text(document.grade)


# Queries that the scores of a run file do not count.


def left_out_lines(evaluation: Evaluation, *, complete: bool) -> Iterator[str]:
    """Sentences on the queries that the means do not count."""
    if evaluation.missing:
        missing = printable(counted_queries(evaluation.missing, "judged query"))
        yield f"{missing} not in the run {_fate(len(evaluation.missing), complete)}"
    if evaluation.unjudged:
        yield f"{printable(counted_queries(evaluation.unjudged))} of the run without judgments"


def _fate(queries: int, complete: bool) -> str:
    if complete:
        return "counts as a query without hits" if queries == 1 else "count as queries without hits"
    return f"{'is' if queries == 1 else 'are'} in no mean; --complete counts {'it' if queries == 1 else 'them'}"
