"""The document of scores of suites beside those of `_rank_eval`, and their JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.extensions.migrate.verification import (
    Cause,
    CauseKind,
    ScoreDifference,
    Verification,
    VerificationReport,
    VerifiedMeasure,
)
from harness.files.versioned import VersionedJson
from harness.report.document import (
    Cell,
    Column,
    ColumnKind,
    Document,
    Notes,
    Section,
    Span,
    Table,
    Tone,
    make_columns,
    make_notes,
    make_row,
    make_words,
)
from harness.report.sentences import describe_queries, format_difference, format_score, name_mean_column
from harness.words import count, grouped, listed

_FORM = VersionedJson(VerificationReport, "verification")

dumps_verification = _FORM.dumps
verification_schema = _FORM.schema

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


def build_verification_document(verifications: Iterable[Verification]) -> Document:
    """The means, the differences with their reasons, and what was not compared, of each request."""
    return Document("", (), tuple(map(_build_section, verifications)))


def _build_section(verification: Verification) -> Section:
    heading = f"  request {verification.request} on {verification.cluster}, {verification.engine}"
    if verification.index is not None:
        heading += f", index {verification.index}"
    tables = [_build_means(verification)]
    tables += [_build_differences(measure, verification) for measure in verification.measures if measure.differences]
    notes = Notes(tuple(_list_notes(verification)))
    return Section((Span(verification.suite, Tone.STRONG), Span(heading)), (*tables, notes))


def _list_notes(verification: Verification) -> Iterator[Span]:
    """What was not compared, and how many scores differ."""
    by_reason = grouped((reason, query) for query, reason in verification.unanswered.items())
    for reason, queries in by_reason.items():
        verb = "is" if len(queries) == 1 else "are"
        yield Span(f"{describe_queries(queries)} {verb} not compared: {reason}", Tone.BAD)
    quiet = []
    if verification.not_compared:
        names = ", ".join(verification.not_compared)
        quiet.append(f"not compared, as _rank_eval has no such measure: {names}")
    if verification.parameters:
        names = ", ".join(verification.parameters)
        quiet.append(f"not sent, as _rank_eval does not take it: {names}")
    if verification.weighted:
        quiet.append("the suite's means are weighted, those of _rank_eval are not")
    yield from make_notes(quiet, Tone.QUIET)
    yield Span(_describe_total(verification))


def _build_means(verification: Verification) -> Table:
    figures = (name_mean_column(weighted=verification.weighted), "_rank_eval", "queries", "different")
    rows = []
    for measure in verification.measures:
        numbers = (f"{measure.queries:,}", f"{len(measure.differences):,}")
        texts = (format_score(measure.ours), format_score(measure.theirs), *numbers)
        rows.append(make_row(measure.measure, *texts))
    return Table((Column("measure"), *make_columns(ColumnKind.FIGURE, *figures)), tuple(rows))


def _build_differences(measure: VerifiedMeasure, verification: Verification) -> Table:
    """The queries whose scores differ; those without a known reason come first."""
    shown = sorted(measure.differences, key=lambda difference: difference.is_explained)[:DIFFERENCES_SHOWN]
    rows: list[tuple[Cell, ...]] = []
    for difference in shown:
        reasons = [describe_cause(cause, measure.measure, verification) for cause in difference.causes]
        tone = Tone.PLAIN if difference.is_explained else Tone.BAD
        digits = _choose_digits(difference)
        scores = (format_score(difference.ours, digits), format_score(difference.theirs, digits))
        rows.append((*make_row(difference.query, *scores), make_words("; ".join(reasons), tone)))
    more = len(measure.differences) - len(shown)
    figures = make_columns(ColumnKind.FIGURE, "harness", "_rank_eval")
    return Table(
        columns=(Column(measure.measure, is_name=True), *figures, Column("reason")),
        rows=tuple(rows),
        remarks=(f"and {count(more, 'query')} more; --json lists all",) if more else (),
    )


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
