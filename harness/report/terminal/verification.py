"""The scores of suites beside those of `_rank_eval`, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from harness.extensions.migrate.verification import Cause, CauseKind, ScoreDifference, Verification, VerifiedMeasure
from harness.report.sentences import (
    format_difference,
    format_score,
    name_mean_column,
    name_queries,
    printable,
    printable_lines,
)
from harness.report.terminal import align_right, indent, make_table, make_text
from harness.words import count, grouped, listed

DIFFERENCES_SHOWN = 20
"""Differences shown for each measure; JSON has all."""

_SENTENCES: Mapping[CauseKind, str] = {
    CauseKind.GRADES: "_rank_eval takes whole numbers as ratings, so these documents are not rated there",
    CauseKind.GAIN: "_rank_eval has the exponential gain only",
    CauseKind.NEGATIVE: "a grade below 0 costs gain with _rank_eval, and has none here",
    CauseKind.OVERFLOW: "2^grade is too large for a number of _rank_eval, so it has no sound score",
    CauseKind.UNDEFINED: "the score is undefined here, and _rank_eval has a number for it",
    CauseKind.PARAMETERS: "_rank_eval does not take all parameters of the request's URL, and has other hits",
    CauseKind.SIZE: "the request's ranking depends on its size, which _rank_eval replaces by k",
    CauseKind.TIES: "documents with the same score are in another order; a sort by a unique field would order them",
    CauseKind.SCORES: "the engine gave these documents other scores; _rank_eval takes no preference for shard copies",
    CauseKind.INDEXES: "these documents are in several indexes: a rating belongs to one, and each hit counts",
    CauseKind.CHANGED: "the index changed meanwhile",
    CauseKind.UNKNOWN: "no known reason",
}

_RULES: Mapping[str, str] = {
    "nDCG": "the ideal ranking of _rank_eval is no longer than the hits returned",
    "P": "_rank_eval divides by the hits returned, not by the cutoff",
}


def describe_cause(cause: Cause, measure: str, verification: Verification) -> str:
    """The reason in words, with how far it moves the score and the documents it is about."""
    if cause.kind is CauseKind.RULES:
        name = measure.partition("@")[0].partition("(")[0]
        sentence = _RULES.get(name, f"the rules of _rank_eval are not those of the profile {verification.profile}")
    elif cause.kind is CauseKind.PARAMETERS:
        sentence = f"{_SENTENCES[cause.kind]}: {', '.join(verification.parameters)}"
    else:
        sentence = _SENTENCES[cause.kind]
    if cause.change is not None:
        sentence += f" ({format_difference(cause.change)})"
    if cause.documents:
        sentence += f": {listed(cause.documents)}"
    return sentence


def print_verification(verification: Verification) -> Iterator[RenderableType]:
    """The means, the differences with their reasons, and what was not compared."""
    heading = f"  request {verification.request} on {verification.cluster}, {verification.engine}"
    if verification.index is not None:
        heading += f", index {verification.index}"
    yield Text.assemble((printable(verification.suite), "bold"), printable(heading))
    yield indent(_lay_out_means(verification))
    for measure in verification.measures:
        yield from _print_differences(measure, verification)
    by_reason = grouped((reason, query) for query, reason in verification.unanswered.items())
    for reason, queries in by_reason.items():
        verb = "is" if len(queries) == 1 else "are"
        yield indent(make_text(f"{name_queries(queries)} {verb} not compared: {reason}", "bold red"))
    if verification.not_compared:
        names = ", ".join(verification.not_compared)
        yield indent(make_text(f"not compared, as _rank_eval has no such measure: {names}", "dim"))
    if verification.parameters:
        names = ", ".join(verification.parameters)
        yield indent(make_text(f"not sent, as _rank_eval does not take it: {names}", "dim"))
    if verification.weighted:
        yield indent(Text("the suite's means are weighted, those of _rank_eval are not", style="dim"))
    yield indent(Text(_describe_total(verification)))


def _lay_out_means(verification: Verification) -> RenderableType:
    mean = name_mean_column(weighted=verification.weighted)
    table = make_table("measure", *map(align_right, (mean, "_rank_eval", "queries", "different")))
    for measure in verification.measures:
        means = (format_score(measure.ours), format_score(measure.theirs))
        table.add_row(make_text(measure.measure), *means, f"{measure.queries:,}", f"{len(measure.differences):,}")
    return table


def _print_differences(measure: VerifiedMeasure, verification: Verification) -> Iterator[RenderableType]:
    if not measure.differences:
        return
    table = make_table(make_text(measure.measure), align_right("harness"), align_right("_rank_eval"), "reason")
    # Those without a known reason come first.
    shown = sorted(measure.differences, key=lambda difference: difference.is_explained)[:DIFFERENCES_SHOWN]
    for difference in shown:
        reasons = [describe_cause(cause, measure.measure, verification) for cause in difference.causes]
        style = "" if difference.is_explained else "bold red"
        digits = _choose_digits(difference)
        scores = (format_score(difference.ours, digits), format_score(difference.theirs, digits))
        table.add_row(make_text(difference.query), *scores, Text(printable_lines("\n".join(reasons)), style=style))
    yield Text()
    yield indent(table)
    if len(measure.differences) > len(shown):
        more = count(len(measure.differences) - len(shown), "query")
        yield indent(Text(f"and {more} more; --json lists all", style="dim"))


def _choose_digits(difference: ScoreDifference) -> int:
    """The number of decimals at which the two scores differ."""
    if difference.ours is None:
        return 4
    for digits in (4, 6, 9):
        if round(difference.ours, digits) != round(difference.theirs, digits):
            return digits
    return 12


def _describe_total(verification: Verification) -> str:
    different = sum(len(measure.differences) for measure in verification.measures)
    if not verification.compared:
        return "nothing was compared"
    scores = f"{count(verification.compared, 'score')} compared within {verification.tolerance:g}"
    if not different:
        return f"{scores}: all equal"
    explained = "all explained"
    if verification.unexplained:
        explained = f"{verification.unexplained:,} without a known reason"
    return f"{scores}: {different:,} different, {explained}"
