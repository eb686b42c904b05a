"""The sentences of a comparison, the same on the terminal, in a page and in Markdown; not escaped yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from harness.extensions.compare.model import (
    ComparisonReport,
    JudgedHits,
    QueryComparison,
    Side,
    SideComparison,
    SideCoverage,
    SideKind,
)
from harness.gate.finding import describe_if_judged
from harness.gate.grammar import TOLERANCE
from harness.gate.selection import interleave_blamed
from harness.model.comparison import (
    FEWEST_CHANGED,
    POWER,
    TESTS_OF_MEANS,
    Agreement,
    Comparison,
    MeasureComparison,
    MovedDocument,
)
from harness.model.run import Verdict
from harness.report.attention import list_looked_at
from harness.report.run_sentences import RANKS_SHOWN, write_thresholds_headline
from harness.report.sentences import (
    count_queries,
    explain_few_by_weights,
    format_difference,
    format_limits,
    format_p,
    format_score,
    format_tally,
)
from harness.words import count, grouped


class Change(StrEnum):
    """How a query's ranking changed, the greatest change first."""

    DOCUMENTS = "other documents"
    ORDER = "other order"
    TIES = "only ties"
    SAME = "same ranking"
    NONE = "not compared"


NO_SPREAD = "all differences are equal, so Cohen's d and the smallest detectable difference are undefined"


def classify_change(query: QueryComparison) -> Change:
    """How the ranking of *query* changed."""
    if not query.documents:
        return Change.NONE if query.rbo is None else Change.SAME
    if query.ties_only:
        return Change.TIES
    if query.entered or query.left:
        return Change.DOCUMENTS
    return Change.ORDER if query.moved else Change.SAME


def describe_moves(query: QueryComparison) -> str:
    """How many documents ``2 entered, 2 left, 5 moved``, and that only ties changed their order."""
    change = classify_change(query)
    counts = {"entered": query.entered, "left": query.left, "moved": query.moved}
    parts = [f"{size:,} {what}" for what, size in counts.items() if size]
    if not parts:
        return str(change)
    only_ties = " (only ties)" if change is Change.TIES else ""
    return f"{', '.join(parts)}{only_ties}"


def mark_change(document: MovedDocument) -> str:
    """
    How a document of the candidate's ranking moved; empty where it kept its rank.

    >>> mark_change(MovedDocument("a", reference=5, candidate=2))
    'up 3'
    """
    if document.candidate is None or document.reference == document.candidate:
        return ""
    if document.reference is None:
        return "entered"
    if document.tied:
        return "tied"
    ranks = document.reference - document.candidate
    return f"up {ranks:,}" if ranks > 0 else f"down {-ranks:,}"


def mark_left(document: MovedDocument) -> str:
    """That a document of the reference's ranking is not in the candidate's."""
    return "left" if document.candidate is None else ""


def describe_origin(side: Side) -> str:
    """
    The origin of a side, such as ``baseline of 2026-11-21, elasticsearch 9.4.3, index products, request current``.

    The server is that of a search now: a baseline and a report name none, or one of another day.
    """
    parts = []
    if side.created:
        parts.append(f"{side.kind} of {side.created}")
    elif not side.name.startswith(f"{side.kind}:"):
        parts.append(str(side.kind))
    if side.engine:
        parts.append(f"{side.engine} at {side.cluster}" if side.cluster else side.engine)
    if side.index is not None:
        parts.append(f"index {side.index}")
    if side.request is not None:
        parts.append(f"request {side.request}")
    # The kind is in the name of the side, but a line must not be empty.
    if not parts:
        parts.append(str(side.kind))
    return ", ".join(parts)


def list_compared_measures(report: ComparisonReport) -> tuple[str, ...]:
    """The measures that were compared, then those that only queries have."""
    names: dict[str, None] = {}
    for comparison in report.comparisons:
        if comparison.measures is not None:
            names.update((row.measure, None) for row in comparison.measures.measures)
    for comparison in report.comparisons:
        for query in comparison.queries:
            names.update(dict.fromkeys(query.scores))
    return tuple(names)


def format_scores(query: QueryComparison) -> Iterator[tuple[str, str]]:
    """Each measure with ``0.4000 → 0.5000``, or with its one value where nothing changed."""
    for measure, (before, after) in query.scores.items():
        first, second = format_score(before), format_score(after)
        yield measure, first if before == after else f"{first} → {second}"


def describe_compared_query(query: QueryComparison) -> list[str]:
    """The facts about a query beside its id: its scores, how far its rankings agree, and what changed."""
    texts = [f"{measure} {values}" for measure, values in format_scores(query)]
    if query.rbo is not None:
        texts.append(f"RBO {format_score(query.rbo)}")
    texts.append(describe_moves(query))
    return texts


def find_last_rank(query: QueryComparison) -> int:
    """The last rank of the longer ranking of *query*; 0 where no document is known."""
    last = 0
    for document in query.documents:
        last = max(last, document.reference or 0, document.candidate or 0)
    return last


def list_first_ranks(query: QueryComparison) -> Iterator[tuple[int, MovedDocument | None, MovedDocument | None]]:
    """The first ranks of *query*, each with the reference's document and the candidate's, None where it has none."""
    before = {document.reference: document for document in query.documents}
    after = {document.candidate: document for document in query.documents}
    for rank in range(1, min(RANKS_SHOWN, find_last_rank(query)) + 1):
        yield rank, before.get(rank), after.get(rank)


def find_moved_queries(report: ComparisonReport, most: int) -> tuple[list[QueryComparison], int]:
    """At most *most* queries that moved, first those that thresholds blame; and how many more moved."""
    blamed = interleave_blamed(verdict.blamed for verdict in list_looked_at(report.verdicts))
    moved = {}
    for query in report.queries:
        if classify_change(query) not in (Change.SAME, Change.NONE):
            moved[query.id] = query
    blamed_and_moved = [query for query in blamed if query in moved]
    # The queries of a report are in the order of how much they moved.
    shown = list(dict.fromkeys([*blamed_and_moved, *moved]))[:most]
    return [moved[query] for query in shown], len(moved) - len(shown)


def describe_method(report: ComparisonReport) -> str:
    """How the differences were tested; empty where they were not."""
    tested = [comparison.measures for comparison in report.comparisons if comparison.measures is not None]
    if not tested:
        return ""
    first = tested[0]
    correction = "not corrected" if first.correction == "none" else f"corrected by {first.correction}"
    test = f"weighted means, {first.test} test" if first.weighted else f"{first.test} test"
    text = f"{test}, {first.alternative}, level {first.level:g}, {correction}; "
    if first.test not in TESTS_OF_MEANS:
        text += "no intervals, as this test is not of the mean"
    else:
        text += f"{100 * (1 - first.level):.4g} % intervals by the same test"
        if first.test == "sign-flip":
            text += f", from {first.samples:,} samples, seed {first.seed}"
    if report.further and first.correction != "none":
        differences = sum(len(measures.measures) for measures in tested)
        text += f"; corrected over {count(differences, 'difference')}, all sides and measures"
    return text


def describe_measure_limits(row: MeasureComparison, comparison: Comparison) -> Iterator[str]:
    """What limits the figures of a measure: few changes, ties, weights, or queries that are left out of it."""
    can_detect = row.least_p <= comparison.level
    if not can_detect:
        yield f"so few queries changed that p cannot be below {comparison.level:g}; the test cannot detect a difference"
    elif row.changed < FEWEST_CHANGED and (row.low is not None or row.high is not None):
        changed = f"fewer than {FEWEST_CHANGED} queries changed"
        yield f"{changed}, so the interval is of differences not rejected, no confidence interval"
    why = explain_few_by_weights(row.queries, row.counts_as)
    if why and can_detect and row.low is None and row.high is None:
        yield f"no interval, as {why}"
    if row.effect is None and row.wins + row.losses:
        yield NO_SPREAD
    if row.reordered is not None:
        returned = f"as returned the difference is {format_difference(row.reordered.difference)}"
        moved = f"moved by the order of ties in {count_queries(row.reordered.queries)}"
        yield f"with ties as in {comparison.reference}; {returned}, {moved}"
    left_out = comparison.left_out.get(row.measure, 0)
    if left_out:
        yield f"{count(left_out, 'query')} not scored in both runs, left out"


def describe_detectable(row: MeasureComparison, comparison: Comparison) -> str:
    """What the smallest true difference is that the test finds four times in five; empty where none is known."""
    if row.detectable is None:
        return ""
    sentence = f"smallest detectable difference ({POWER * 100:g} % power on average, {comparison.test} test)"
    if row.detectable_if_all_move:
        sentence += f", roughly, if all {count(row.queries, 'query')} changed"
    return sentence


LARGEST_SHARE_RELEVANT = 0.9
"""Of the judged hits; above it, judgments list hardly more than relevant documents."""
_CHANGES_SHOWN = 3
"""Sides whose difference is in the headline."""
IF_JUDGED = "if judged"
IF_JUDGED_MEANS = "if judged: from where to where a difference may be if the unjudged hits are the worst or the best"
FIGURES = ("reference", "candidate", "difference", "interval", IF_JUDGED, "p", "corrected", "won/tied/lost", "queries")
"""The headings of `format_measure`."""


def list_shown_figures(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """Those of `FIGURES` that are shown; what the unjudged hits allow only where a measure has that."""
    for comparison in comparisons:
        if any(row.if_judged is not None for row in comparison.measures):
            return FIGURES
    return tuple(heading for heading in FIGURES if heading != IF_JUDGED)


def may_change_with_judgments(row: MeasureComparison, comparison: Comparison) -> bool:
    """
    Whether the unjudged hits may change what *row* says: make a significant difference none, or the other way round.

    What is significant is taken from the interval, as if the differences of queries kept their spread. Without an
    interval, whether they may turn the sign.
    """
    if row.if_judged is None:
        return False
    least, greatest = row.if_judged
    if comparison.is_significant(row):
        return least <= TOLERANCE and greatest >= -TOLERANCE
    if row.low is None and row.high is None:
        return least < -TOLERANCE and greatest > TOLERANCE
    may_rise = row.low is not None and greatest > row.difference - row.low + TOLERANCE
    may_fall = row.high is not None and least < row.difference - row.high - TOLERANCE
    return may_rise or may_fall


def format_open_difference(row: MeasureComparison, comparison: Comparison) -> str:
    """The difference of *row*, with its range where the unjudged hits may change what it says."""
    difference = format_difference(row.difference)
    if not may_change_with_judgments(row, comparison):
        return difference
    return f"{difference} ({IF_JUDGED} {format_if_judged(row)})"


def is_shown_significant(row: MeasureComparison, comparison: Comparison) -> bool:
    """Whether the difference of *row* stands out: it is significant, and no judgments of further hits change that."""
    return comparison.is_significant(row) and not may_change_with_judgments(row, comparison)


def format_measure(row: MeasureComparison) -> dict[str, str]:
    """The figures of a measure, by their headings."""
    texts = (
        format_score(row.reference),
        format_score(row.candidate),
        format_difference(row.difference),
        format_interval(row),
        format_if_judged(row),
        format_p(row.p_value),
        format_p(row.adjusted),
        f"{row.wins:,}/{row.ties:,}/{row.losses:,}",
        f"{row.queries:,}",
    )
    return dict(zip(FIGURES, texts, strict=True))


def format_interval(row: MeasureComparison) -> str:
    """The differences that the test does not reject: from where to where, or on which side of what."""
    return format_limits(row.low, row.high)


def format_if_judged(row: MeasureComparison) -> str:
    """The differences that the unjudged hits allow: from where to where."""
    if row.if_judged is None:
        return "–"
    return format_limits(*row.if_judged)


def describe_agreement(agreement: Agreement) -> Mapping[str, str]:
    """How far the rankings agree, by name."""
    of = f"of {agreement.queries:,}"
    tau = format_score(agreement.tau)
    if agreement.tau is not None:
        tau += f" over {count(agreement.tau_queries, 'query')}"
    return {
        f"RBO (p={agreement.p:g})": format_score(agreement.rbo),
        "overlap": format_score(agreement.overlap),
        "Kendall's tau": tau,
        "same ranking": f"{agreement.same_ranking:,} {of}",
        "same documents": f"{agreement.same_documents:,} {of}",
        "same first": f"{agreement.same_first:,} {of}",
    }


def describe_coverage(report: ComparisonReport) -> Iterator[str]:
    """How many hits of each side are judged, how far the others may move the differences, and what to run next."""
    comparisons = [comparison for comparison in report.comparisons if comparison.judged is not None]
    judged = [comparison.judged for comparison in comparisons if comparison.judged is not None]
    if not judged:
        if report.measures is not None and not report.suite and has_baseline_side(report):
            yield "which hits are judged is not known; with a suite the range of the difference is shown"
        return
    if not any(hits.reference.unjudged or hits.candidate.unjudged for hits in judged):
        sides = "both sides" if len(report.comparisons) == 1 else "all sides"
        yield f"all hits of the first {count(judged[0].depth, 'rank')} are judged on {sides}"
        return
    for comparison, hits in zip(comparisons, judged, strict=True):
        yield _describe_covered_side(comparison.reference, hits, hits.reference)
        yield _describe_covered_side(comparison.candidate, hits, hits.candidate)
    yield from _describe_relevant_moves(report)
    yield from _describe_ranges(report, judged)
    yield from _suggest_judged_only(judged)


def _describe_relevant_moves(report: ComparisonReport) -> Iterator[str]:
    """How many hits with a grade above 0 each side gained and lost: evidence that unjudged hits cannot undo."""
    for comparison in report.comparisons:
        entered = left = 0
        for query in comparison.queries:
            relevant = [document for document in query.documents if (document.grade or 0.0) > 0]
            entered += sum(document.reference is None for document in relevant)
            left += sum(document.candidate is None for document in relevant)
        if entered or left:
            yield f"{comparison.candidate.name}: {count(entered, 'relevant hit')} entered, {left:,} left"


def _describe_ranges(report: ComparisonReport, judged: Sequence[JudgedHits]) -> Iterator[str]:
    """How far the unjudged hits may move the differences, and how they are judged."""
    if not any(hits.ranges for hits in judged):
        yield "with a suite or judgments the sides are scored anew, and the range of the difference is shown"
        return
    if report.further:
        # The table has the range of each measure and side.
        yield IF_JUDGED_MEANS
    else:
        for limits in judged[0].ranges:
            yield f"{limits.measure}: {describe_if_judged(limits.low, limits.high)}"
    yield suggest_judging(find_pool_command(report), is_next=any(map(is_open, report.comparisons)))


def _suggest_judged_only(judged: Sequence[JudgedHits]) -> Iterator[str]:
    """The measure that leaves out unjudged hits, where judged hits that are not relevant remain to compare by."""
    measures = dict.fromkeys(hits.judged_only for hits in judged if hits.judged_only)
    sides = [side for hits in judged for side in (hits.reference, hits.candidate)]
    known = sum(side.hits - side.unjudged for side in sides)
    relevant = known - sum(side.irrelevant for side in sides)
    for measure in measures:
        if relevant > LARGEST_SHARE_RELEVANT * known:
            yield f"{relevant / known:.1%} of the judged hits are relevant, so measures of judged hits alone say little"
        else:
            yield f"`--measure '{measure}'` compares without them"


def _describe_covered_side(side: Side, judged: JudgedHits, coverage: SideCoverage) -> str:
    unjudged = f"{coverage.unjudged:,} of {count(coverage.hits, 'hit')} have no judgment"
    if coverage.unjudged:
        unjudged += f", in {coverage.queries:,} of {count(judged.queries, 'query')}"
    return f"{side.name}: Judged@{judged.depth} {format_score(coverage.judged)}; {unjudged}"


def has_baseline_side(report: ComparisonReport) -> bool:
    """Whether a side is a baseline, which keeps scores without the judgments that they come from."""
    return any(side.kind is SideKind.BASELINE for side in report.list_sides())


def suggest_judging(command: str, *, is_next: bool) -> str:
    """
    How the unjudged hits are judged: by *command*, or as the guide says where it is empty.

    If *is_next*, as what to do next, since their grades may change what the figures say.
    """
    sentence = f"`{command}` collects them for grading"
    if not command:
        sentence = "`relevance judgments pool` collects the unjudged hits of a suite's requests for grading"
    return f"next: {sentence}" if is_next else sentence


def find_pool_command(report: ComparisonReport) -> str:
    """The command that collects the unjudged hits of all sides; empty if there is none."""
    for comparison in report.comparisons:
        if comparison.judged is not None and comparison.judged.pool_command:
            return comparison.judged.pool_command
    return ""


def is_open(report: SideComparison) -> bool:
    """Whether the unjudged hits may change what the figures of a measure say."""
    if report.measures is None:
        return False
    return any(may_change_with_judgments(row, report.measures) for row in report.measures.measures)


def is_judged_unequally(report: SideComparison) -> bool:
    """
    Whether the two sides are not judged alike, and the unjudged hits may change what the figures say.

    Where it is not known how far they move the differences, it is enough that the sides are not judged alike.
    """
    judged = report.judged
    if judged is None or judged.reference.judged is None or judged.candidate.judged is None:
        return False
    if abs(judged.reference.judged - judged.candidate.judged) <= TOLERANCE:
        return False
    return is_open(report) or not judged.ranges


def describe_unequal_coverage(report: ComparisonReport) -> Iterator[str]:
    """That sides are not judged alike, where that matters: it moves a difference by itself."""
    shares = {}
    for comparison in report.comparisons:
        judged = comparison.judged
        if judged is not None and is_judged_unequally(comparison):
            shares[comparison.reference.name] = f"{judged.reference.judged:.1%}"
            shares[comparison.candidate.name] = f"{judged.candidate.judged:.1%}"
    if shares:
        why = "most measures count an unjudged hit as not relevant"
        hits = f"{' and '.join(shares.values())} of the hits of {' and '.join(shares)}"
        yield f"the sides are not judged alike: {hits}; {why}"


def describe_unpaired(report: ComparisonReport) -> Iterator[str]:
    """Queries that a side did not answer, with the reason, and queries that only one of two sides knows."""
    for side in report.list_sides():
        by_reason = grouped((reason, query) for query, reason in side.unanswered.items())
        for reason, queries in by_reason.items():
            why = f": {reason}" if reason else ""
            yield f"{side.name}: no ranking for {count_queries(queries)}{why}"
    for comparison in report.comparisons:
        of_both = ""
        if report.further:
            of_both = f", of {comparison.reference.name} and {comparison.candidate.name}"
        if comparison.only_reference:
            yield f"only in {comparison.reference.name}{of_both}: {count_queries(comparison.only_reference)}"
        if comparison.only_candidate:
            yield f"only in {comparison.candidate.name}{of_both}: {count_queries(comparison.only_candidate)}"


def describe_new_zero_hits(report: ComparisonReport) -> Iterator[str]:
    """The queries that have hits on the reference and none on another side."""
    for comparison in report.comparisons:
        queries = [query.id for query in comparison.queries if query.left and query.left == len(query.documents)]
        if queries:
            yield f"{comparison.candidate.name}: zero hits for {count_queries(queries)}"


def list_verdicts(report: ComparisonReport) -> list[Verdict]:
    """The verdicts of all sides; with the name of its side if there are several, as a threshold is decided for each."""
    if not report.further:
        return list(report.verdicts)
    verdicts = []
    for comparison in report.comparisons:
        side = comparison.candidate.name
        verdicts += [replace(verdict, threshold=f"{verdict.threshold} ({side})") for verdict in comparison.verdicts]
    return verdicts


def write_comparison_headline(report: ComparisonReport) -> str:
    """Whether the thresholds hold; where there are none, what changed."""
    unanswered = {query for side in report.list_sides() for query in side.unanswered}
    verdicts = list_verdicts(report)
    if verdicts or (unanswered and report.exit_status):
        return write_thresholds_headline(verdicts, len(unanswered), report.exit_status)
    if report.further:
        return _write_differences(report)
    if report.measures and report.measures.measures:
        row = report.measures.measures[0]
        return f"{row.measure} {format_open_difference(row, report.measures)} over {count(row.queries, 'query')}"
    if report.agreement:
        agreement = report.agreement
        return f"The same ranking for {agreement.same_ranking:,} of {count(agreement.queries, 'query')}"
    return "Nothing could be compared"


def _write_differences(report: ComparisonReport) -> str:
    """How each of several sides differs by the first measure."""
    measure = ""
    changes = []
    for comparison in report.comparisons:
        if comparison.measures is not None and comparison.measures.measures:
            row = comparison.measures.measures[0]
            measure = row.measure
            changes.append(f"{comparison.candidate.name} {format_open_difference(row, comparison.measures)}")
    against = f"against {report.reference.name}"
    if not changes:
        return f"{count(len(report.comparisons), 'side')} {against}"
    more = len(changes) - _CHANGES_SHOWN
    shown = changes[:_CHANGES_SHOWN]
    if more > 0:
        shown.append(f"and {more} more")
    return f"{measure} {against}: {', '.join(shown)}"


def write_comparison_closing(report: ComparisonReport) -> str:
    """How many queries changed and how, and how the thresholds came out."""
    queries = {query.id for comparison in report.comparisons for query in comparison.queries}
    text = count(len(queries), "query")
    if report.further:
        text = f"{count(len(report.comparisons), 'side')} against {report.reference.name}, {text}"
    else:
        changes = Counter(map(classify_change, report.queries))
        parts = [f"{change} {changes[change]:,}" for change in Change if changes[change]]
        if parts:
            text += f": {', '.join(parts)}"
    statuses = [verdict.status for verdict in list_verdicts(report)]
    if statuses:
        text += f"; {count(len(statuses), 'threshold')}: {format_tally(statuses)}"
    return text
