"""Errors and suspicious values in judgments, found from the files and from the ids that an index holds. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.extensions.judging.model import FindingKind, JudgmentFinding
from harness.id_forms import describe_difference, find_other_names, fold_id
from harness.metrics import settings_of
from harness.metrics.measures import common_measures, measures_of
from harness.model.suite import GainKind, Mark, Suite, Target
from harness.words import did_you_mean, format_exactly


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


def _find_aliases(judgments: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    """
    Ids that differ in their form only, each at its first place, with the id that came first.

    Where it is known which ids exist, two that both exist are two documents, and one that does not is missing.
    """
    documents: dict[str, PlacedJudgment] = {}
    for judgment in judgments:
        documents.setdefault(judgment.document, judgment)
    first_by_form: dict[str, PlacedJudgment] = {}
    for document, judgment in documents.items():
        first = first_by_form.setdefault(fold_id(document), judgment)
        if first is not judgment:
            sentence = (
                f"document {document!r} differs from {first.document!r}, judged at {first.mark}, only in "
                f"{describe_difference(document, first.document)}; if they are one document, use its id in the index"
            )
            yield JudgmentFinding(judgment.mark, FindingKind.ALIAS, sentence)


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
    match = _SCALE.fullmatch(text)
    if match is None or float(match[1]) > float(match[2]):
        raise UsageError(f"found {text!r} as a scale, expected the least and the greatest grade, as in 0..3")
    return Scale(float(match[1]), float(match[2]), "--scale")


def list_scales(suite: Suite) -> tuple[Scale, ...]:
    """The scale of the suite's named grades, and those of its measures that name their top, each top once."""
    scales = []
    if suite.grades:
        scales.append(Scale(min(suite.grades.values()), max(suite.grades.values()), "`grades`"))
    measures = list(common_measures(suite))
    for query in suite.queries:
        measures += measures_of(suite, query)
    tops: dict[float, Scale] = {}
    for measure in measures:
        top = settings_of(measure, suite.gain, suite.profile).values.get("max")
        if isinstance(top, int | float) and not isinstance(top, bool):
            tops.setdefault(float(top), Scale(-math.inf, float(top), measure.text))
    return (*scales, *tops.values())


def _find_off_scale(judgments: Iterable[PlacedJudgment], scales: Sequence[Scale]) -> Iterator[JudgmentFinding]:
    """Each grade that is not on all of *scales*, with the first scale that lacks it."""
    for judgment in judgments:
        grade = judgment.grade
        if grade is None:
            continue
        for scale in scales:
            if grade > scale.greatest:
                bound = f"above {format_exactly(scale.greatest)}, the greatest of {scale.owner}"
            elif grade < scale.least:
                bound = f"below {format_exactly(scale.least)}, the least of {scale.owner}"
            else:
                continue
            sentence = f"grade {format_exactly(grade)} of {judgment} is {bound}; correct the grade, or the scale"
            yield JudgmentFinding(judgment.mark, FindingKind.OFF_SCALE, sentence)
            break


# Checks.


_NAMED = 5
"""Documents that one finding names."""

MANY = 20
"""From so many judged documents on, at least one should exist."""


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """A suite with every judgment that was read, including those that its loader refuses."""

    suite: Suite
    """With the queries and their joined judgments."""
    judged: tuple[PlacedJudgment, ...]
    """Each judgment with its place, in the order in which they were read."""
    unreadable: tuple[JudgmentFinding, ...] = ()
    """On entries that are not judgments, or that judgments cause in the suite."""
    strict: bool = True
    """Whether judgments for other queries are errors."""
    skip_ungraded: bool = False
    """Whether grades may be missing."""


@dataclass(frozen=True, slots=True)
class IndexKnowledge:
    """Which judged documents exist, and where."""

    places: str
    """The places that were searched, in words."""
    existing: frozenset[str]
    """The ids of documents that exist in one of them."""
    repeated: Mapping[str, Set[str]] = field(default_factory=dict)
    """For each index, alias or pattern, the ids of several documents."""
    without_field: Mapping[str, str | None] = field(default_factory=dict)
    """
    The names, if any, behind which no index has the target's id field, each with the field that was probably meant.
    """
    moved: Mapping[str, str] = field(default_factory=dict)
    """Documents that do not exist, each with the one document that has its title; empty unless half are missing."""


def check_judgments(
    judged: JudgedSuite, scales: Sequence[Scale], knowledge: IndexKnowledge | None
) -> list[JudgmentFinding]:
    """
    All findings on the judgments of one suite, sorted by place.

    Args:
        judged: The suite, as read.
        scales: The scales that grades must be on.
        knowledge: Which documents exist; None where no index was asked.
    """
    queries = {query.id for query in judged.suite.queries}
    judgments = [judgment for judgment in judged.judged if judgment.query in queries]
    findings = set(judged.unreadable)
    if not judged.skip_ungraded:
        findings.update(_find_ungraded(judgments))
    findings.update(_find_off_scale(judgments, scales))
    findings.update(_find_repeats(judgments))
    if judged.strict:
        findings.update(_find_unknown_queries(judged, queries))
    findings.update(_find_queries_without_gain(judged))
    if knowledge is None:
        findings.update(_find_aliases(judgments))
    else:
        findings.update(_find_missing_field(judged.suite, knowledge))
        findings.update(_find_missing(judged.suite, judgments, knowledge))
        findings.update(_find_moved(judged.suite, judgments, knowledge))
        findings.update(_find_ambiguous(judged.suite, judgments, knowledge))
    return sorted(findings)


def _find_ungraded(judgments: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    """Each judgment without a grade."""
    for judgment in judgments:
        if judgment.grade is None:
            remedy = "grade it, remove it, or set 'judgments: {files: …, ungraded: ignore}' in the suite"
            yield JudgmentFinding(judgment.mark, FindingKind.NO_GRADE, f"{judgment} has no grade yet; {remedy}")


def _find_repeats(judgments: Iterable[PlacedJudgment]) -> Iterator[JudgmentFinding]:
    """Each judgment of a document that was judged before for the same query."""
    first_by_pair: dict[tuple[str, str], PlacedJudgment] = {}
    for judgment in judgments:
        grade = judgment.grade
        if grade is None:
            continue
        first = first_by_pair.setdefault((judgment.query, judgment.document), judgment)
        # NaN is a grade from a variable that is not set yet: nothing is known of it.
        if first is judgment or first.grade is None or math.isnan(first.grade) or math.isnan(grade):
            continue
        shown = format_exactly(grade)
        if first.grade == grade:
            sentence = f"{judgment} is judged twice with grade {shown}, first at {first.mark}; remove one"
            yield JudgmentFinding(judgment.mark, FindingKind.DUPLICATE, sentence)
        else:
            other = f"{format_exactly(first.grade)} at {first.mark}"
            sentence = f"{judgment} has grade {shown} here and {other}; keep the right one"
            yield JudgmentFinding(judgment.mark, FindingKind.CONTRADICTION, sentence)


def _find_unknown_queries(judged: JudgedSuite, queries: set[str]) -> Iterator[JudgmentFinding]:
    """One finding for each query that is judged and is not one of *queries*, at its first judgment."""
    first_by_query: dict[str, PlacedJudgment] = {}
    counts: Counter[str] = Counter()
    for judgment in judged.judged:
        if judgment.query not in queries:
            first_by_query.setdefault(judgment.query, judgment)
            counts[judgment.query] += 1
    for query, judgment in first_by_query.items():
        documents = "1 document is" if counts[query] == 1 else f"{counts[query]:,} documents are"
        sentence = (
            f"the suite has no query {query!r}, for which {documents} judged; correct the id, or set "
            f"'judgments: {{files: …, other_queries: ignore}}'{did_you_mean(query, queries)}"
        )
        yield JudgmentFinding(judgment.mark, FindingKind.UNKNOWN_QUERY, sentence)


def _find_queries_without_gain(judged: JudgedSuite) -> Iterator[JudgmentFinding]:
    """Queries without a positive judgment or a quote; judgments of files that the loader refuses count too."""
    suite = judged.suite
    grades: dict[str, list[float]] = {query.id: list(query.judgments.values()) for query in suite.queries}
    for judgment in judged.judged:
        if judgment.grade is not None and judgment.query in grades:
            grades[judgment.query].append(judgment.grade)
    for query in suite.queries:
        if query.quotes and not grades[query.id]:
            continue
        if measures_of(suite, query) and not any(_is_positive(suite, grade) for grade in grades[query.id]):
            problem = "only judgments without gain" if grades[query.id] else "no judgment"
            sentence = (
                f"query {query.id!r} has {problem}, so that measures such as nDCG are undefined for it; judge a "
                "relevant document"
            )
            yield JudgmentFinding(query.mark, FindingKind.NO_POSITIVE, sentence)


def _is_positive(suite: Suite, grade: float) -> bool:
    """Whether *grade* has a positive gain; NaN, for a variable that is not set yet, counts as positive."""
    if suite.gain.kind is GainKind.MAP and not math.isnan(grade):
        return dict(suite.gain.table).get(grade, 0.0) > 0
    return grade > 0 or math.isnan(grade)


def _find_missing_field(suite: Suite, knowledge: IndexKnowledge) -> Iterator[JudgmentFinding]:
    """Each index that has no field of the name that the target gives for ids."""
    for index, likely_field in knowledge.without_field.items():
        guess = "" if likely_field is None else f"; did you mean {likely_field!r}?"
        sentence = (
            f"no judged document can be found by its id in index {index}, which has no field "
            f"{_find_target(index, suite).id_field!r}, the `id_field` of the target; name a field that it has{guess}"
        )
        yield JudgmentFinding(_find_target_mark(suite), FindingKind.MISSING_DOCUMENT, sentence)


def _find_missing(
    suite: Suite, judgments: Sequence[PlacedJudgment], knowledge: IndexKnowledge
) -> Iterator[JudgmentFinding]:
    """Each judgment of a missing document; where all of many are missing, the index is probably wrong."""
    # The missing field, which has a finding of its own, is why no document was found.
    if knowledge.without_field and not knowledge.existing:
        return
    missing = [judgment for judgment in judgments if judgment.document not in knowledge.existing]
    ids = {judgment.document for judgment in missing}
    if len(missing) == len(judgments) and len(ids) >= MANY and not knowledge.existing:
        sentence = f"none of the {len(ids):,} judged documents is in {knowledge.places}; is this the right index?"
        yield JudgmentFinding(_find_target_mark(suite), FindingKind.MISSING_DOCUMENT, sentence)
        return
    existing_names = find_other_names(ids, knowledge.existing)
    for judgment in missing:
        name = existing_names.get(judgment.document)
        hint = ""
        if name is not None:
            hint = f", but {name!r} is, which differs only in {describe_difference(judgment.document, name)}"
        sentence = f"{judgment} is not in {knowledge.places}{hint}; remove the judgment, or restore the document"
        yield JudgmentFinding(judgment.mark, FindingKind.MISSING_DOCUMENT, sentence)


def _find_moved(
    suite: Suite, judgments: Sequence[PlacedJudgment], knowledge: IndexKnowledge
) -> Iterator[JudgmentFinding]:
    """That documents have other ids, where half of them are missing, and some are there under others."""
    documents = {judgment.document for judgment in judgments}
    missing = documents - knowledge.existing
    moved = {document: new for document, new in sorted(knowledge.moved.items()) if document in missing}
    if not moved or 2 * len(missing) < len(documents):
        return
    named = ", ".join(f"{document!r} is {new!r}" for document, new in list(moved.items())[:_NAMED])
    sentence = (
        f"{len(missing):,} of {len(documents):,} judged documents are not in {knowledge.places}, and the titles of "
        f"{len(moved):,} of them are there under other ids: {named}{', …' if len(moved) > _NAMED else ''}; "
        "relevance judgments remap finds the new ids"
    )
    yield JudgmentFinding(_find_target_mark(suite), FindingKind.MOVED_DOCUMENTS, sentence)


def _find_ambiguous(
    suite: Suite, judgments: Iterable[PlacedJudgment], knowledge: IndexKnowledge
) -> Iterator[JudgmentFinding]:
    """Judged ids that several documents have, for each place where they do."""
    judged = {judgment.document for judgment in judgments}
    for index, repeated in knowledge.repeated.items():
        target = _find_target(index, suite)
        documents = sorted(judged & repeated)
        if not documents or target.unique_ids:
            continue
        names = ", ".join(map(repr, documents[:_NAMED]))
        if len(documents) > _NAMED:
            names += ", …"
        if target.id_field is not None:
            kind = FindingKind.REPEATED_ID
            ids = "1 judged id is" if len(documents) == 1 else f"{len(documents):,} judged ids are each"
            sentence = (
                f"{ids} the {target.id_field!r} of several documents of {index!r}: {names}; a judgment cannot "
                "tell them apart: name an 'id_field' whose values differ, let the target lead to one index, or say "
                "'ids: unique' in the target where they are the same document"
            )
        else:
            kind = FindingKind.SEVERAL_INDEXES
            ids = "1 judged document is" if len(documents) == 1 else f"{len(documents):,} judged documents are"
            sentence = (
                f"{index!r} leads to several indexes, and {ids} in more than one of them: {names}; a judgment cannot "
                "tell them apart: let it lead to one index, or say 'ids: unique' in the target where they are the same "
                "document"
            )
        yield JudgmentFinding(_find_index_mark(index, suite), kind, sentence)


def _find_target(index: str, suite: Suite) -> Target:
    """The target of the first request that searches *index*, else that of the suite."""
    for name, template in suite.requests.items():
        target = suite.find_target(name)
        if index == (template.index or target.index):
            return target
    return suite.target


def _find_index_mark(index: str, suite: Suite) -> Mark:
    """The request that names *index*, else the target."""
    for template in suite.requests.values():
        if template.index == index and template.mark.line:
            return template.mark
    return _find_target_mark(suite)


def _find_target_mark(suite: Suite) -> Mark:
    return suite.target.mark if suite.target.mark.line else suite.mark
