"""All checks of the judgments of one suite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import did_you_mean
from harness.judgment_findings.aliases import alias_findings, difference, other_names
from harness.judgment_findings.findings import FindingKind, JudgmentFinding, PlacedJudgment
from harness.judgment_findings.scales import Scale, off_scale
from harness.metrics.run_scores import measures_of
from harness.model import GainKind, Mark, Suite

__all__ = ["IndexKnowledge", "JudgedSuite", "find_in"]


NAMED = 5
"""Documents that one finding names."""

MANY = 20
"""Judged documents of which one at least should be there."""


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """
    A suite with every judgment that was read, those that its loader refuses too.

    *suite* holds the queries and their joined judgments, *judged* each judgment with its place, in the order in which
    they were read. *unreadable* is what was found in the place of judgments, or follows from them for the suite.
    *strict* says that judgments for other queries are not wanted, *skip_ungraded* that missing grades are.
    """

    suite: Suite
    judged: tuple[PlacedJudgment, ...]
    unreadable: tuple[JudgmentFinding, ...] = ()
    strict: bool = True
    skip_ungraded: bool = False


@dataclass(frozen=True, slots=True)
class IndexKnowledge:
    """
    What is known of the judged documents: the ids that were *found*, and where.

    *places* says where they were looked for, in words. *repeated* holds, for each alias or pattern, the ids that are in
    more than one of its indexes.
    """

    places: str
    found: frozenset[str]
    repeated: Mapping[str, frozenset[str]] = field(default_factory=dict)


def find_in(judged: JudgedSuite, scales: Iterable[Scale], known: IndexKnowledge | None) -> list[JudgmentFinding]:
    """
    Everything to look at in the judgments of one suite, sorted by place.

    Args:
        judged: As read.
        scales: The scales that grades have to be on.
        known: What the index holds; None where nobody was asked.
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
        *(() if known is None else _not_in_index(judged.suite, ours, known)),
        *(() if known is None else _in_several(judged.suite, ours, known)),
        *alias_findings(ours, None if known is None else known.found),
    }
    return sorted(findings)


def _ungraded(judged: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    for one in judged:
        if one.grade is None:
            remedy = "grade it, take it out, or say 'judgments: {files: …, ungraded: ignore}' in the suite"
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
            sentence = f"{one} is judged twice with grade {one.grade:g}, first at {known.mark}; take one out"
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
            f"the suite has no query {query!r}, for which {documents} judged; correct the id, or say "
            f"'judgments: {{files: …, other_queries: ignore}}'{did_you_mean(query, own)}"
        )
        yield JudgmentFinding(one.mark, FindingKind.UNKNOWN_QUERY, sentence)


def _without_positive(judged: JudgedSuite) -> Iterator[JudgmentFinding]:
    """A judgment counts where it was read, also from a file that the loader refuses for something else in it."""
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
    """One that the gain map lacks is told as that; NaN stands for a variable that is not set yet."""
    if suite.gain.kind is GainKind.MAP and not math.isnan(grade):
        return dict(suite.gain.table).get(grade, 0.0) > 0
    return grade > 0 or math.isnan(grade)


def _not_in_index(suite: Suite, judged: Sequence[PlacedJudgment], known: IndexKnowledge) -> Iterator[JudgmentFinding]:
    """Each judgment of a document that is gone; where all of many are, it is rather the place that is wrong."""
    missing = [one for one in judged if one.document not in known.found]
    ids = {one.document for one in missing}
    if len(missing) == len(judged) and len(ids) >= MANY and not known.found:
        sentence = f"none of the {len(ids):,} judged documents is in {known.places}; is that the right place?"
        yield JudgmentFinding(_target_mark(suite), FindingKind.MISSING_DOCUMENT, sentence)
        return
    meant = other_names(ids, known.found)
    for one in missing:
        hint = _hint(one.document, meant.get(one.document))
        sentence = f"{one} is not in {known.places}{hint}; take the judgment out, or bring the document back"
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
