"""How many queries would show an effect: from the scores of two sides that were read or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.extensions.compare.model import PlanReport
from harness.extensions.compare.preparing import PreparedComparison
from harness.extensions.compare.scores import tabulate_scores
from harness.masking import Masker
from harness.means import are_weighted
from harness.model.comparison import MeasurePlan
from harness.redaction import redact
from harness.report.document import (
    Block,
    Column,
    ColumnKind,
    Document,
    Notes,
    Paragraph,
    Section,
    Table,
    Tone,
    make_notes,
    make_words,
)
from harness.report.sentences import format_difference, format_score
from harness.statistics.paired import pair_defined
from harness.words import count, counted

if TYPE_CHECKING:
    from harness.statistics.planning import PlanSettings


def plan_comparison(prepared: PreparedComparison, settings: PlanSettings) -> PlanReport:
    """
    Count the queries that would show an effect, by the differences of two sides; needs the packages for statistics.

    Documents of equal score are taken in the order of the reference, as in a comparison.

    Raises:
        UsageError: No query has a score on both sides.
    """
    from harness.statistics.compare import pair_up
    from harness.statistics.planning import plan_queries

    assert prepared.selection is not None  # a plan has a suite
    pair, scored = prepared.score_sides(prepared.sides[1])
    names = (pair[0].name, pair[1].name)
    reference = tabulate_scores(scored, scored.scores[0])
    candidate = tabulate_scores(scored, scored.settled or scored.scores[1])
    weights = {query.id: query.weight for query in scored.suite.queries}
    is_weighted = are_weighted(weights.values())
    plans = []
    for measure in reference:
        if pair_defined(reference[measure], candidate[measure]):
            scores = pair_up(measure, reference[measure], candidate[measure], weights if is_weighted else {})
            plans.append(plan_queries(scores, settings))
        else:
            plans.append(MeasurePlan(measure, 0, reason="no query has a score on both sides"))
    if not any(plan.queries for plan in plans):
        raise UsageError(f"no query has a score of both {names[0]} and {names[1]}: nothing says how far scores differ")
    notes = list(scored.notes)
    if scored.false_hits:
        notes.append(scored.false_hits)
    compared = {query.id for query in scored.suite.queries}
    is_unanswered = False
    for side in pair:
        unanswered = [query for query in side.unanswered if query in compared]
        if unanswered:
            is_unanswered = True
            notes.append(f"without an answer of {side.name}: {counted(unanswered, 'query')}")
    report = PlanReport(
        suite=prepared.selection.whole_suite.path,
        reference=names[0],
        candidate=names[1],
        effect=settings.effect,
        level=settings.level,
        alternative=settings.alternative,
        weighted=is_weighted,
        measures=tuple(plans),
        warnings=scored.warnings,
        notes=tuple(notes),
        exit_status=3 if is_unanswered else 0,
    )
    return redact(report, Masker(prepared.selection.whole_suite.variables).mask)


def build_plan_document(report: PlanReport) -> Document:
    """The two sides and the test, and how many queries show the effect by each measure."""
    mean = "weighted mean" if report.weighted else "mean"
    sides = "" if report.alternative == "two-sided" else f", {report.alternative}"
    test = f"a difference of the {mean} by {report.effect:g}, in a paired t test at {report.level:g}{sides}"
    title = make_words(f"{report.candidate} against {report.reference}", Tone.STRONG)
    blocks: list[Block] = [Paragraph(make_words(test))]
    if report.warnings:
        blocks.append(Notes(make_notes(report.warnings, Tone.WARNING)))
    sections = [Section(title, tuple(blocks)), *map(_build_measure, report.measures)]
    closing = (
        *report.notes,
        "queries: how many show the difference with this power, if their differences spread like those that were "
        "measured; at most: the same for the upper 95 % limit of the spread; found with: the smallest difference that "
        "the queries measured show",
    )
    return Document("", make_notes(closing, Tone.QUIET), tuple(sections))


def _build_measure(plan: MeasurePlan) -> Section:
    """What was measured, and the numbers of queries by power; or why there are none."""
    if plan.reason:
        return Section(make_words(f"{plan.measure}: no plan, {plan.reason}"), ())
    measured = (
        f"{plan.measure}: {count(plan.queries, 'query')}, difference {format_difference(plan.difference)}, "
        f"standard deviation {format_score(plan.standard_deviation)}"
    )
    headings = ("queries", "at most", f"found with {plan.queries:,}")
    columns = (Column("power"), *(Column(heading, ColumnKind.SCORE) for heading in headings))
    rows = []
    for planned in plan.plans:
        texts = (f"{planned.power:.0%}", f"{planned.queries:,}", f"{planned.queries_at_most:,}")
        rows.append(tuple(make_words(text) for text in (*texts, format_score(planned.detectable))))
    return Section(make_words(measured), (Table(columns, tuple(rows)),))
