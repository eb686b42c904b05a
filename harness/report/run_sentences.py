"""The sentences of the report of a run, the same in every output; nothing is escaped."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.extensions import Remedy, find_command, find_remedy
from harness.gate.decide import compute_exit_status
from harness.gate.grammar import TOLERANCE
from harness.id_forms import suggest_instead
from harness.model.comparison import MovedDocument
from harness.model.kept import TextDiff
from harness.model.report import (
    Absence,
    MeasureSummary,
    MissingDocument,
    QueryReport,
    RankedDocument,
    Report,
    SuiteReport,
)
from harness.model.run import Instability, NamedField, QuotePlaces, Status, TargetChecks, Unit, Verdict
from harness.model.scores import Outcome
from harness.model.timing import ShardCopy
from harness.options import format_options
from harness.report.attention import BAD, find_repeated_causes, is_hardly_judged, order_blamed
from harness.report.overview import count_suites
from harness.report.safe_text import make_loggable, printable
from harness.report.sentences import (
    MEAN_INTERVAL,
    count_queries,
    explain_no_interval,
    format_change,
    format_matching,
    format_mean_interval,
    format_score,
    format_span,
    format_tally,
    format_value,
    name_first,
)
from harness.words import count, counted, listed

if TYPE_CHECKING:
    from harness.metrics.evaluate import RunScores


THRESHOLDS_NAMED = 5
"""Thresholds that are named with a query that they blame."""


def name_blaming_thresholds(query: str, verdicts: Iterable[Verdict]) -> str:
    """Which of *verdicts* blame the query of this id, by their thresholds."""
    thresholds = [verdict.threshold for verdict in verdicts if query in verdict.blamed]
    named = thresholds[:THRESHOLDS_NAMED]
    if len(thresholds) > THRESHOLDS_NAMED:
        named.append(f"and {count(len(thresholds) - THRESHOLDS_NAMED, 'more threshold')}")
    return "; ".join(named)


# Probable causes other than the ranking, to be read before the figures.


def describe_causes(queries: Sequence[QueryReport], checks: TargetChecks | None) -> Iterator[str]:
    """A line for each thing that is probably wrong with the set-up, whatever the figures say."""
    yield from describe_ranking_causes(queries, checks)
    title = checks.untitled if checks is not None else None
    if title is not None:
        yield f"no hit has the field {title.name}, which the suite names as its display.title{_suggest_name(title)}"


def describe_ranking_causes(queries: Sequence[QueryReport], checks: TargetChecks | None) -> Iterator[str]:
    """Those of `describe_causes` that lower scores."""
    # Hits where no result is right count too: the set-up that finds them is not broken as a whole.
    has_hits = any(query.ranking or query.outcome.is_unanswered for query in queries)
    expected_to_find = [query for query in queries if not query.nothing]
    queries_that_ran = sum(query.outcome is not Outcome.SKIPPED for query in expected_to_find)
    if queries_that_ran == 1 and not has_hits:
        yield "the only query has 0 hits"
    elif queries_that_ran and not has_hits:
        yield f"all {count(queries_that_ran, 'query')} have 0 hits"
    rising = [query.id for query in queries if query.scores_rise]
    if rising:
        yield (
            f"the scores of {counted(rising, 'query')} rise from one rank to the next, and the request has no `sort`: "
            "the hits are not in the order of their scores"
        )
    if checks is None:
        return
    for field in checks.unknown_fields:
        guess = _suggest_name(field)
        yield f"the request names the field {field.name}, which no searched index has{guess} (in {field.place})"


def _suggest_name(field: NamedField) -> str:
    """The field that was probably meant, as the end of a sentence; empty where none is known."""
    if field.meant is None:
        return ""
    return f"; did you mean {field.meant!r}?"


def suggest_command(suite: SuiteReport, verdict: Verdict) -> str:
    """
    The command that shows the worst query of *verdict*, for a POSIX shell.

    It is the one that grades unjudged hits, if these may make a significant drop none. Empty where the threshold was
    measured and reached, or blames no query, or no command can search the same.
    """
    if verdict.status not in (Status.FAILED, Status.INCONCLUSIVE) or suite.searched is None or not suite.path:
        return ""
    if may_be_no_drop(verdict):
        # What is graded does not depend on what it is compared with.
        options = {name: value for name, value in suite.searched.items() if name != "baseline"}
        command = find_command(Remedy.GRADE)
        if command:
            return _format_command(command, [suite.path], options)
    if verdict.query is not None:
        return format_show_command(suite.path, verdict.query, suite.searched)
    if verdict.blamed:
        return format_show_command(suite.path, order_blamed(suite, verdict)[0], suite.searched)
    return ""


def list_next_commands(suite: SuiteReport) -> tuple[tuple[str, ...], ...]:
    """
    The commands that a report of *suite* names to go on with, each once, as the list of its words.

    Without those of thresholds on the latency, which differ from run to run.
    """
    commands = list(suggest_why(suite))
    commands += [suggest_command(suite, verdict) for verdict in suite.verdicts if verdict.unit is not Unit.MILLISECONDS]
    return tuple(tuple(shlex.split(command)) for command in dict.fromkeys(commands) if command)


BASE_BRANCH = "../main"
"""Where the suite of the base branch is put that a changed fixture is compared with."""


def suggest_why(suite: SuiteReport) -> tuple[str, ...]:
    """
    The commands that find which difference to the baseline moved the results of *suite*.

    A baseline keeps the request, and of an index only facts. So where the fixture changed, the first command gets the
    suite of the base branch, which the second one compares with. Empty where no threshold fails, neither the request
    nor the fixture is known to have changed, or no command can search the same.
    """
    is_failed = any(
        verdict.status is Status.FAILED and verdict.unit is not Unit.MILLISECONDS for verdict in suite.verdicts
    )
    if not is_failed or suite.baseline is None or suite.searched is None or not suite.path:
        return ()
    options = dict(suite.searched)
    file = options.pop("baseline", None)
    path = PurePath(suite.path)
    # A path that leads out of the working directory leads out of the worktree beside it, too.
    if suite.baseline.fixture_changed and not path.is_absolute() and ".." not in path.parts:
        old = shlex.quote(f"{BASE_BRANCH}/{suite.path}")
        command = find_command(Remedy.EXPLAIN_FIXTURE, suite=shlex.quote(suite.path), old=old)
        if command:
            worktree = f"git worktree add {BASE_BRANCH} {PurePath(BASE_BRANCH).name}"
            return worktree, f"{command} {shlex.join(format_options(options))}".rstrip()
    if all(diff.name != "request" for diff in suite.baseline.diffs):
        return ()
    options.pop("request", None)
    command = find_command(
        Remedy.EXPLAIN,
        file="" if file is None else shlex.quote(f":{file}"),
        request=shlex.quote(suite.request),
        suite=shlex.quote(suite.path),
    )
    if not command:
        return ()
    return (f"{command} {shlex.join(format_options(options))}".rstrip(),)


def refer_to_cause(verdict: Verdict, first: Verdict) -> str:
    """That *verdict* fails for the same queries without a score as *first*, whose reason says what to do."""
    return f"no score for {listed(verdict.blamed)}, as for {first.threshold}"


def describe_shared_causes(suite: SuiteReport) -> Iterator[str]:
    """For each cause for which several thresholds fail: how many, and the reason once."""
    counts = Counter(first.id for first in find_repeated_causes(suite).values())
    for verdict in suite.verdicts:
        if counts[verdict.id]:
            yield f"{count(counts[verdict.id] + 1, 'threshold')} fail for one reason: {verdict.reason}"


def may_be_no_drop(verdict: Verdict) -> bool:
    """Whether *verdict* fails for a significant drop that unjudged hits may make none."""
    return verdict.status is Status.FAILED and verdict.if_judged is not None and verdict.if_judged[1] >= -TOLERANCE


def format_show_command(path: str, query: str, searched: Mapping[str, str | bool]) -> str:
    """
    ``relevance show`` for one query, with the options that search the same.

    >>> format_show_command("shop.relevance.yaml", "red shoes", {"url": "http://shop", "allow_write": True})
    "relevance show shop.relevance.yaml 'red shoes' --url http://shop --allow-write"
    """
    return _format_command("relevance show", [path, query], searched)


def _format_command(command: str, names: Sequence[str], searched: Mapping[str, str | bool]) -> str:
    """
    A line to copy into a shell.

    Args:
        command: Such as "relevance show".
        names: Its arguments.
        searched: Its options, with which the same is searched as in the run.
    """
    words = command.split()
    options = format_options(searched)
    # A name that begins with a dash would be read as an option.
    if any(name.startswith("-") for name in names):
        words += [*options, "--", *names]
    else:
        words += [*names, *options]
    return shlex.join(words)


# The result of a report in one line.


def is_report_only(report: Report) -> bool:
    """Whether no threshold was to be decided."""
    return any(suite.report_only for suite in report.suites)


def write_headline(report: Report) -> str:
    """Whether all suites ran, and all thresholds hold; where none fails but the run does, why."""
    decided = _describe_decision(report)
    if report.missing:
        return f"{count(len(report.missing), 'suite')} did not run; the others: {decided}"
    return decided


def _describe_decision(report: Report) -> str:
    """What was decided of the suites that ran, as a headline."""
    verdicts: list[Verdict] = []
    for suite in report.suites:
        verdicts += suite.verdicts
    # In a pytest session the queries without an answer matter only where an item needs them.
    unanswered = 0
    for suite in report.suites:
        if compute_exit_status([suite]) == SearchError.exit_status:
            unanswered += len(suite.unanswered_once)
    if not unanswered:
        if is_report_only(report):
            return "Nothing was decided: --report-only"
        if report.undecided:
            selected = "requests" if any(suite.for_other_requests for suite in report.suites) else "queries"
            return f"Nothing was decided: the selection of {selected} left no threshold"
    decision = write_thresholds_headline(verdicts, unanswered, report.exit_status)
    holds = not unanswered and not any(verdict.status in BAD for verdict in verdicts)
    if holds and compute_exit_status(report.suites):
        return f"Items failed in pytest for another reason than a threshold; {decision}"
    return decision


def write_thresholds_headline(verdicts: Iterable[Verdict], unanswered: int, exit_status: int) -> str:
    """
    Whether all thresholds hold; where none fails but the run does, why.

    Args:
        verdicts: Of all thresholds.
        unanswered: The number of queries without an answer.
        exit_status: Of the run.
    """
    decided = [verdict for verdict in verdicts if verdict.status is not Status.NOT_DECIDED]
    bad = [verdict for verdict in decided if verdict.status in BAD]
    unexpected_passes = sum(verdict.is_unexpected_pass for verdict in bad)
    parts = []
    if len(bad) > unexpected_passes:
        missed = count(len(bad) - unexpected_passes, "threshold")
        parts.append(f"{missed} of {len(decided):,} did not hold")
    if unexpected_passes:
        unexpected = count(unexpected_passes, "threshold")
        parts.append(f"{unexpected} of {len(decided):,} passed though expected to fail")
    if parts:
        return ", ".join(parts)
    if unanswered and exit_status:
        return f"{count(unanswered, 'query')} had no answer"
    if not decided:
        return "No threshold was decided"
    waived = sum(verdict.status is Status.XFAILED for verdict in decided)
    but = f" but {count(waived, 'expected failure')}" if waived else ""
    return f"{count(len(decided), 'threshold')}, all hold{but}"


def write_closing(report: Report) -> str:
    """The numbers of suites and thresholds, the statuses of these, and the queries without an answer."""
    statuses: list[Status] = []
    unanswered = unanswered_not_gated = 0
    for suite in report.suites:
        statuses += [verdict.status for verdict in suite.verdicts]
        if suite.gates:
            unanswered += len(suite.unanswered_once)
        else:
            unanswered_not_gated += len(suite.unanswered_once)
    total = f"{count_suites(report)}, {count(len(statuses), 'threshold')}"
    if statuses:
        total += f": {format_tally(statuses)}"
    if unanswered:
        total += f"; {count(unanswered, 'query')} without an answer"
    if unanswered_not_gated:
        total += f"; {count(unanswered_not_gated, 'query')} without an answer of requests that gate nothing"
    if is_report_only(report):
        total += "; --report-only decides nothing"
    return total


# The outcomes of queries without a plain score, in words.


def describe_remarks(suite: SuiteReport) -> Iterator[str]:
    """Requests that were sent again, shard copies that changed, and the notes on *suite*."""
    resent = suite.timing.resent
    if resent:
        reasons = ", ".join(f"{reason} ({number:,})" for reason, number in resent.items())
        number = sum(resent.values())
        verb = "was" if number == 1 else "were"
        yield f"{number:,} of {count(len(suite.queries), 'query')} {verb} sent again: {reasons}"
    yield from describe_stability(suite)
    yield from suite.notes
    match suggest_why(suite):
        case (command,):
            yield f"next: `{command}` finds which difference of the request moved the results"
        case (worktree, command):
            yield (
                f"next: `{worktree}` gets the suite of the base branch, here main, and `{command}` finds which "
                "difference of the request or of the fixture moved the results"
            )


WHY_UNSTABLE = {
    Instability.TIES: "tied documents change places",
    Instability.COPIES: "other copies of a shard answered, which may have other deleted documents",
    Instability.MOVING: "the index changed",
    Instability.UNANSWERED: "a repeat has no answer",
    Instability.ZERO_HITS: "a search found no hits and another one did",
    Instability.DOCUMENTS: "other documents were found, and why is not known",
    Instability.UNKNOWN: "scores or the order differ, and why is not known",
}


def describe_stability(suite: SuiteReport) -> Iterator[str]:
    """Which shard copies changed, which rankings are not the same in each repeat and why, and how far figures move."""
    changes: list[str] = []
    for before, after in pairwise(suite.timing.copies):
        changes += _describe_moved_copies(before, after)
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
        ids = [ranking.query for ranking in unstable if ranking.cause is cause]
        if ids:
            verb = "has" if len(ids) == 1 else "have"
            queries = f"{len(ids):,} of {count(len(suite.queries), 'query')}"
            yield f"{queries} {verb} several rankings in {repeats} repeats, as {why}: {listed(ids)}"
    spans = [
        f"{verdict.threshold}: {format_span(verdict, verdict.repeats)}" for verdict in suite.verdicts if verdict.repeats
    ]
    if spans:
        more = "; …" if len(spans) > SPANS_SHOWN else ""
        yield f"over the repeats the figures move: {'; '.join(spans[:SPANS_SHOWN])}{more}"


SPANS_SHOWN = 20
"""Thresholds whose figures over the repeats a line gives."""


def _describe_moved_copies(
    before: Mapping[str, Sequence[ShardCopy]], after: Mapping[str, Sequence[ShardCopy]]
) -> Iterator[str]:
    """Which nodes no longer hold copies, which hold some now, and which shards have other copies on the same nodes."""
    nodes_before = {copy.node for copy in chain.from_iterable(before.values())}
    nodes_after = {copy.node for copy in chain.from_iterable(after.values())}
    # A shard is named as `products[0]`.
    indexes = listed(sorted({shard.rpartition("[")[0] for shard in (*before, *after)}))
    lost, gained = nodes_before - nodes_after, nodes_after - nodes_before
    if lost:
        yield f"node {listed(sorted(lost))} left the cluster or lost its copies of {indexes}"
    if gained:
        yield f"node {listed(sorted(gained))} got copies of {indexes}"
    if lost or gained:
        return
    shards = sorted(before.keys() & after.keys())
    rebuilt = [shard for shard in shards if _list_allocations(before[shard]) != _list_allocations(after[shard])]
    if rebuilt:
        yield f"copies of {listed(rebuilt)} were built anew"


def _list_allocations(copies: Iterable[ShardCopy]) -> set[tuple[str, str]]:
    """The node of each copy of a shard, with the id that a copy gets when it is built."""
    return {(copy.node, copy.allocation) for copy in copies}


def describe_outcomes(queries: Iterable[QueryReport]) -> Iterator[str]:
    """A line for each outcome other than a plain score: how many queries have it, why, and the first of them."""
    by_outcome: dict[tuple[Outcome, str], list[str]] = {}
    for query in queries:
        if query.outcome is not Outcome.SCORED:
            by_outcome.setdefault((query.outcome, query.reason), []).append(query.id)
    for (outcome, reason), affected in by_outcome.items():
        why = f": {reason}" if reason else ""
        yield f"{count(len(affected), 'query')} with outcome {outcome}{why} ({name_first(affected)})"


def describe_judged(suite: SuiteReport) -> str:
    """How many of the hits of *suite*, which has some, are judged, and what to do if these are few."""
    share = f"{suite.judged_hits:,} of {suite.hits:,} hits are judged ({suite.judged_hits / suite.hits:.1%})"
    if suite.judged_hits and not is_hardly_judged(suite.hits, suite.judged_hits):
        return share
    remedy = find_remedy(Remedy.GRADE, ": grade them with `{command}`")
    if not suite.judged_hits:
        return f"none of {count(suite.hits, 'hit')} is judged{remedy}"
    return f"only {share}; the others count as if they had no gain{remedy}"


# One query's ranking in words and numbers.


RANKS_SHOWN = 10
"""Ranks of a ranking, and documents that left it."""

_UNJUDGED = "unjudged"


def describe_quote_places(hits: QuotePlaces) -> str:
    """
    Where a quote is among the hits.

    >>> describe_quote_places(((2, 0.75), (5, 1.0)))
    'at rank 5; 75% of it at rank 2'
    """
    whole = [f"{rank:,}" for rank, share in hits if share == 1]
    places = []
    if whole:
        places.append(f"at {'rank' if len(whole) == 1 else 'ranks'} {listed(whole)}")
    # A part counts until a hit below holds more.
    best = 0.0
    for rank, share in hits:
        if best < share < 1:
            places.append(f"{share:.0%} of it at rank {rank:,}")
        best = max(best, share)
    return "; ".join(places) or "in no hit"


def describe_held_quotes(places: Iterable[QuotePlaces], rank: int | None) -> str:
    """
    The quotes that the hit at *rank* holds, by their numbers in the suite; empty if it holds none.

    *places* are those of all quotes, in the order of the suite.

    >>> describe_held_quotes([((1, 1.0),), ((1, 0.87), (4, 1.0))], 1)
    '#1, 87% of #2'
    """
    held = []
    for number, places_of_quote in enumerate(places, start=1):
        share = dict(places_of_quote).get(rank or 0, 0.0)
        if share:
            held.append(f"#{number}" if share == 1 else f"{share:.0%} of #{number}")
    return ", ".join(held)


def describe_place(missing: MissingDocument) -> str:
    """Where the document is, or why it is in no ranking, in words."""
    match missing.absence:
        case Absence.NOT_VISIBLE:
            return f"not visible through {missing.target or 'the target'}{suggest_instead(missing.id, missing.similar)}"
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


def describe_query(query: QueryReport, measure: str | None = None) -> str:
    """
    The score of *measure*, or of all measures, each with its difference from the baseline where there is one, the
    outcome of the query, and the number of matching documents.
    """
    scores = query.scores
    # A threshold may name what is no score of the query, such as an agreement of two rankings.
    if measure is not None and measure in scores:
        scores = {measure: scores[measure]}
    texts = []
    is_first_change = True
    for name, value in scores.items():
        text = f"{name} {format_score(value)}"
        change = format_query_change(query, name)
        if change not in ("", "="):
            # The first one says what it is compared with.
            text += f" ({change} vs baseline)" if is_first_change else f" ({change})"
            is_first_change = False
        if query.machine_shares.get(name):
            text += f" ({format_machine_share(query.machine_shares[name])} of the grades by machines)"
        texts.append(text)
    facts = [", ".join(texts)] if texts else []
    facts.append(str(query.outcome))
    if query.total is not None:
        facts.append(f"{format_matching(query)} matching")
    return "; ".join(facts)


def format_machine_share(share: float | None) -> str:
    """The share of machines' grades in whole per cent, or a dash; never 0 % or 100 % where some are, or are not."""
    if share is None:
        return "–"
    per_cent = round(100 * share)
    if 0 < share < 1:
        per_cent = min(max(per_cent, 1), 99)
    return f"{per_cent}%"


def format_query_change(query: QueryReport, measure: str) -> str:
    """How the score of *query* changed since the baseline: ``-0.3869`` or ``=``; empty where it is not compared."""
    now = query.scores.get(measure)
    before = None if query.baseline is None else query.baseline.scores.get(measure)
    return "" if now is None or before is None else format_change(before, now)


# Changes since a baseline: the old rank of each document that moved, documents that left, and other facts.


def find_old_ranks(query: QueryReport) -> dict[str, str]:
    """The rank in the baseline, or ``new``, by document; only for documents whose rank changed."""
    ranks: dict[str, str] = {}
    if query.baseline is None:
        return ranks
    for document in query.baseline.documents:
        if document.candidate:
            ranks[document.id] = "new" if document.reference is None else f"{document.reference:,}"
    return ranks


def find_left_documents(query: QueryReport) -> tuple[MovedDocument, ...]:
    """The documents that the baseline ranked within the compared depth and the run does not, in their old order."""
    if query.baseline is None:
        return ()
    return tuple(document for document in query.baseline.documents if document.candidate is None)


def count_compared_queries(suite: SuiteReport) -> str:
    """How many queries were compared: ``12 compared with the baseline of 2026-11-20``; empty without a baseline."""
    if suite.baseline is None:
        return ""
    return f"{suite.baseline.queries:,} compared with the baseline of {suite.baseline.created}"


def describe_mean_change(suite: SuiteReport, verdict: Verdict) -> str:
    """How the mean of the measure of *verdict* changed since the baseline, over the same queries; empty if unknown."""
    if suite.baseline is None:
        return ""
    summary = _find_summary(suite, verdict)
    if summary is None or summary.change is None:
        return ""
    change = summary.change
    before, now = format_score(change.baseline), format_score(change.now)
    difference = format_change(change.baseline, change.now)
    means = f"{before} → {now} ({difference}) over {count(change.queries, 'query')}"
    return f"mean {verdict.measure} since the baseline of {suite.baseline.created}: {means}"


def describe_mean_interval(suite: SuiteReport, verdict: Verdict) -> str:
    """
    The interval of the mean that *verdict* is about, or that it has none for the weights of its queries; else empty, as
    where it is about another figure.
    """
    summary = _find_summary(suite, verdict)
    # What was observed may be another figure over the same scores, such as the least one.
    if summary is None or verdict.observed != summary.mean:
        return ""
    if summary.interval is None:
        why = explain_no_interval(summary)
        return f"no {MEAN_INTERVAL} of this mean: {why}" if why else ""
    interval = format_mean_interval(summary.interval)
    return f"{MEAN_INTERVAL} of this mean: {interval}, over {count(summary.counted, 'query')}"


def _find_summary(suite: SuiteReport, verdict: Verdict) -> MeasureSummary | None:
    """The figures of the measure and the tag of *verdict*; None if it is about one query or has no such measure."""
    if verdict.query is not None:
        return None
    summaries = suite.summaries
    if verdict.tag is not None:
        summaries = ()
        for tag in suite.tags:
            if tag.tag == verdict.tag:
                summaries = tag.summaries
    for summary in summaries:
        if summary.measure == verdict.measure:
            return summary
    return None


def describe_diff(diff: TextDiff) -> str:
    """The subject of a difference of texts, and which side is which."""
    return f"the {diff.name} changed (- baseline, + now)"


def count_hidden_lines(diff: TextDiff) -> str:
    """How many lines of the difference are not shown; empty where all are."""
    return f"and {count(diff.left_out, 'more line')}" if diff.left_out else ""


def format_grade(document: RankedDocument | MovedDocument | MissingDocument) -> str:
    """The grade, or that there is none: unjudged is not grade 0."""
    return _UNJUDGED if document.grade is None else format_value(document.grade)


# Queries that the scores of a run file do not count.


def describe_uncounted(evaluation: RunScores, *, complete: bool) -> Iterator[str]:
    """Sentences on the queries that the means do not count, and on ids in two forms."""
    if evaluation.missing:
        missing = printable(count_queries(evaluation.missing, "judged query"))
        yield f"{missing} not in the run {_describe_missing(len(evaluation.missing), complete)}"
    if evaluation.unjudged:
        yield f"{printable(count_queries(evaluation.unjudged))} of the run without judgments"
    if evaluation.near_ids:
        yield make_loggable(evaluation.near_ids)


def _describe_missing(queries: int, complete: bool) -> str:
    if complete:
        return "counts as a query without hits" if queries == 1 else "count as queries without hits"
    if queries == 1:
        return "is in no mean; --complete counts it"
    return "are in no mean; --complete counts them"
