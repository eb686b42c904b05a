"""Errors and suspicious values in judgments, found from the files and from the ids that an index holds. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.metrics import settings_of
from harness.metrics.score import common_measures, measures_of
from harness.model import FindingKind, GainKind, JudgmentFinding, Mark, Measure, Suite
from harness.words import did_you_mean, difference, folded_id, other_names


@dataclass(frozen=True, slots=True)
class PlacedJudgment:
    """A judgment as written in the suite or in a file; *grade* is None where none was given yet."""

    query: str
    document: str
    grade: float | None
    mark: Mark

    def __str__(self) -> str:
        return f"document {self.document!r} for query {self.query!r}"


# Ids.


def alias_findings(judged: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    """
    Ids that differ in their form only, each at its first place, with the id that came first.

    Where it is known which ids exist, two that both exist are two documents, and one that does not is missing.
    """
    documents: dict[str, PlacedJudgment] = {}
    for one in judged:
        documents.setdefault(one.document, one)
    first: dict[str, PlacedJudgment] = {}
    for document, one in documents.items():
        known = first.setdefault(folded_id(document), one)
        if known is not one:
            yield JudgmentFinding(one.mark, FindingKind.ALIAS, _sentence(one, known))


def _sentence(one: PlacedJudgment, known: PlacedJudgment) -> str:
    what = difference(one.document, known.document)
    return (
        f"document {one.document!r} differs from {known.document!r}, judged at {known.mark}, only in {what}; "
        "if they are one document, use its id in the index"
    )


# Scales.


_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?"
_SCALE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")


@dataclass(frozen=True, slots=True)
class Scale:
    """The *least* and the *greatest* grade, infinite where unbounded; *owner* names the scale in messages."""

    least: float
    greatest: float
    owner: str


def parse_scale(text: str) -> Scale:
    """
    Read a scale as given on the command line.

    Raises:
        UsageError: *text* is no scale.

    >>> parse_scale("0..3")
    Scale(least=0.0, greatest=3.0, owner='--scale')
    """
    found = _SCALE.fullmatch(text)
    if found is None or float(found[1]) > float(found[2]):
        raise UsageError(f"found {text!r} as a scale, expected the least and the greatest grade, as in 0..3")
    return Scale(float(found[1]), float(found[2]), "--scale")


def scales_of(suite: Suite) -> tuple[Scale, ...]:
    """The scale of the suite's named grades, and those of its measures that name their top, each top once."""
    named = [Scale(min(suite.grades.values()), max(suite.grades.values()), "`grades`")] if suite.grades else []
    measures = [measure for query in suite.queries for measure in measures_of(suite, query)]
    tops: dict[float, Scale] = {}
    for measure in [*common_measures(suite), *measures]:
        top = _top_of(measure, suite)
        if top is not None:
            tops.setdefault(top, Scale(-math.inf, top, measure.text))
    return (*named, *tops.values())


def off_scale(judged: Iterable[PlacedJudgment], scales: Iterable[Scale]) -> Iterator[JudgmentFinding]:
    """Each grade that is not on all of *scales*, with the first scale that lacks it."""
    known = tuple(scales)
    for one in judged:
        sentence = None if one.grade is None else next(_sentences(one, one.grade, known), None)
        if sentence is not None:
            yield JudgmentFinding(one.mark, FindingKind.OFF_SCALE, sentence)


def _sentences(one: PlacedJudgment, grade: float, scales: Iterable[Scale]) -> Iterator[str]:
    for scale in scales:
        if grade > scale.greatest:
            bound = f"above {scale.greatest:g}, the greatest of {scale.owner}"
        elif grade < scale.least:
            bound = f"below {scale.least:g}, the least of {scale.owner}"
        else:
            continue
        yield f"grade {grade:g} of {one} is {bound}; correct the grade, or the scale"


def _top_of(measure: Measure, suite: Suite) -> float | None:
    top = settings_of(measure, suite.gain, suite.profile).values.get("max")
    return float(top) if isinstance(top, int | float) and not isinstance(top, bool) else None


# Checks.


NAMED = 5
"""Documents that one finding names."""

MANY = 20
"""From so many judged documents on, at least one should exist."""


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """
    A suite with every judgment that was read, including those that its loader refuses.

    *suite* holds the queries and their joined judgments, *judged* each judgment with its place, in the order in which
    they were read. *unreadable* are findings on entries that are not judgments, or that judgments cause in the suite.
    *strict* forbids judgments for other queries, *skip_ungraded* allows missing grades.
    """

    suite: Suite
    judged: tuple[PlacedJudgment, ...]
    unreadable: tuple[JudgmentFinding, ...] = ()
    strict: bool = True
    skip_ungraded: bool = False


@dataclass(frozen=True, slots=True)
class IndexKnowledge:
    """
    Which judged documents exist: the ids that were *found*, and where.

    *places* names the places that were searched, in words. *repeated* holds, for each index, alias or pattern, the ids
    of several documents. *without_field* are the names, if any, behind which no index has the target's id field, each
    with the field that was probably meant.
    """

    places: str
    found: frozenset[str]
    repeated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    without_field: Mapping[str, str | None] = field(default_factory=dict)


def find_in(judged: JudgedSuite, scales: Iterable[Scale], known: IndexKnowledge | None) -> list[JudgmentFinding]:
    """
    All findings on the judgments of one suite, sorted by place.

    Args:
        judged: The suite, as read.
        scales: The scales that grades must be on.
        known: Which documents exist; None where no index was asked.
    """
    own = {query.id for query in judged.suite.queries}
    ours = [one for one in judged.judged if one.query in own]
    findings = {
        *judged.unreadable,
        *(() if judged.skip_ungraded else _ungraded(ours)),
        *off_scale(ours, scales),
        *_repeats(ours),
        *(_unknown_queries(judged, own) if judged.strict else ()),
        *_without_positive(judged),
        *(alias_findings(ours) if known is None else _of_index(judged.suite, ours, known)),
    }
    return sorted(findings)


def _ungraded(judged: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    for one in judged:
        if one.grade is None:
            remedy = "grade it, remove it, or set 'judgments: {files: …, ungraded: ignore}' in the suite"
            yield JudgmentFinding(one.mark, FindingKind.NO_GRADE, f"{one} has no grade yet; {remedy}")


def _repeats(judged: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    first: dict[tuple[str, str], PlacedJudgment] = {}
    for one in judged:
        if one.grade is None:
            continue
        known = first.setdefault((one.query, one.document), one)
        if known is one or known.grade is None or math.isnan(known.grade) or math.isnan(one.grade):
            continue
        if known.grade == one.grade:
            sentence = f"{one} is judged twice with grade {one.grade:g}, first at {known.mark}; remove one"
            yield JudgmentFinding(one.mark, FindingKind.DUPLICATE, sentence)
        else:
            sentence = f"{one} has grade {one.grade:g} here and {known.grade:g} at {known.mark}; keep the right one"
            yield JudgmentFinding(one.mark, FindingKind.CONTRADICTION, sentence)


def _unknown_queries(judged: JudgedSuite, own: set[str]) -> Iterator[JudgmentFinding]:
    first: dict[str, PlacedJudgment] = {}
    counts: dict[str, int] = {}
    for one in judged.judged:
        if one.query not in own:
            first.setdefault(one.query, one)
            counts[one.query] = counts.get(one.query, 0) + 1
    for query, one in first.items():
        documents = "1 document is" if counts[query] == 1 else f"{counts[query]:,} documents are"
        sentence = (
            f"the suite has no query {query!r}, for which {documents} judged; correct the id, or set "
            f"'judgments: {{files: …, other_queries: ignore}}'{did_you_mean(query, own)}"
        )
        yield JudgmentFinding(one.mark, FindingKind.UNKNOWN_QUERY, sentence)


def _without_positive(judged: JudgedSuite) -> Iterator[JudgmentFinding]:
    """Queries without a positive judgment; judgments of files that the loader refuses count too."""
    suite = judged.suite
    read: dict[str, list[float]] = {query.id: list(query.judgments.values()) for query in suite.queries}
    for one in judged.judged:
        if one.grade is not None and one.query in read:
            read[one.query].append(one.grade)
    for query in suite.queries:
        if measures_of(suite, query) and not any(_is_positive(suite, grade) for grade in read[query.id]):
            found = "only judgments without gain" if read[query.id] else "no judgment"
            sentence = (
                f"query {query.id!r} has {found}, so that measures such as nDCG are undefined for it; judge a relevant "
                "document"
            )
            yield JudgmentFinding(query.mark, FindingKind.NO_POSITIVE, sentence)


def _is_positive(suite: Suite, grade: float) -> bool:
    """Whether *grade* has a positive gain; NaN, for a variable that is not set yet, counts as positive."""
    if suite.gain.kind is GainKind.MAP and not math.isnan(grade):
        return dict(suite.gain.table).get(grade, 0.0) > 0
    return grade > 0 or math.isnan(grade)


def _of_index(suite: Suite, judged: Sequence[PlacedJudgment], known: IndexKnowledge) -> Iterator[JudgmentFinding]:
    yield from _without_id_field(suite, known)
    yield from _not_in_index(suite, judged, known)
    yield from _in_several(suite, judged, known)


def _without_id_field(suite: Suite, known: IndexKnowledge) -> Iterator[JudgmentFinding]:
    for index, meant in known.without_field.items():
        guess = "" if meant is None else f"; did you mean {meant!r}?"
        sentence = (
            f"no judged document can be found by its id in index {index}, which has no field "
            f"{suite.target.id_field!r}, the `id_field` of the target; name a field that it has{guess}"
        )
        yield JudgmentFinding(_target_mark(suite), FindingKind.MISSING_DOCUMENT, sentence)


def _not_in_index(suite: Suite, judged: Sequence[PlacedJudgment], known: IndexKnowledge) -> Iterator[JudgmentFinding]:
    """Each judgment of a missing document; where all of many are missing, the index is probably wrong."""
    if known.without_field and not known.found:
        return
    missing = [one for one in judged if one.document not in known.found]
    ids = {one.document for one in missing}
    if len(missing) == len(judged) and len(ids) >= MANY and not known.found:
        sentence = f"none of the {len(ids):,} judged documents is in {known.places}; is this the right index?"
        yield JudgmentFinding(_target_mark(suite), FindingKind.MISSING_DOCUMENT, sentence)
        return
    meant = other_names(ids, known.found)
    for one in missing:
        hint = _hint(one.document, meant.get(one.document))
        sentence = f"{one} is not in {known.places}{hint}; remove the judgment, or restore the document"
        yield JudgmentFinding(one.mark, FindingKind.MISSING_DOCUMENT, sentence)


def _hint(document: str, other: str | None) -> str:
    return "" if other is None else f", but {other!r} is, which differs only in {difference(document, other)}"


def _in_several(suite: Suite, judged: Iterable[PlacedJudgment], known: IndexKnowledge) -> Iterator[JudgmentFinding]:
    judged_ids = set() if suite.target.unique_ids else {one.document for one in judged}
    for index, repeated in known.repeated.items():
        documents = sorted(judged_ids & repeated)
        if not documents:
            continue
        named = ", ".join(map(repr, documents[:NAMED])) + (", …" if len(documents) > NAMED else "")
        if suite.target.id_field is not None:
            what = "1 judged id is" if len(documents) == 1 else f"{len(documents):,} judged ids are each"
            sentence = (
                f"{what} the {suite.target.id_field!r} of several documents of {index!r}: {named}; a judgment cannot "
                "tell them apart: name an 'id_field' whose values differ, let the target lead to one index, or say "
                "'ids: unique' in the target where they are the same document"
            )
            yield JudgmentFinding(_mark_of(index, suite), FindingKind.REPEATED_ID, sentence)
            continue
        what = "1 judged document is" if len(documents) == 1 else f"{len(documents):,} judged documents are"
        sentence = (
            f"{index!r} leads to several indexes, and {what} in more than one of them: {named}; a judgment cannot tell "
            "them apart: let it lead to one index, or say 'ids: unique' in the target where they are the same document"
        )
        yield JudgmentFinding(_mark_of(index, suite), FindingKind.SEVERAL_INDEXES, sentence)


def _mark_of(index: str, suite: Suite) -> Mark:
    """The request that names *index*, else the target."""
    marks = [template.mark for template in suite.requests.values() if template.index == index]
    return next((mark for mark in marks if mark.line), _target_mark(suite))


def _target_mark(suite: Suite) -> Mark:
    return suite.target.mark if suite.target.mark.line else suite.mark
