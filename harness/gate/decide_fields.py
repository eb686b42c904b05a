"""
Expectations of the fields of hits, and expectations that a suite has of each query.

A hit has a requirement if any of the field's values meets it. A field that a hit lacks, or that is null, an empty list
or an object, has no value: such a hit meets no requirement, adds no distinct value, and repeats none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.gate.decide_answers import (
    RequestedDepth,
    decide_expectation,
    explain_no_ranking,
    explain_what_may_follow,
    list_without_hits,
)
from harness.gate.expectations import read_date, read_number
from harness.gate.field_values import FieldKind, find_incomparable, find_kind, make_key, meets
from harness.gate.finding import (
    Finding,
    add_left_out,
    explain_nothing_left,
    is_met,
    list_by_cause,
    split_skipped,
)
from harness.gate.inputs import GateInputs
from harness.model.run import CheckedField, FieldScalar, Hit, Ranking, Response, Run, Status, Unit
from harness.model.suite import (
    DistinctValues,
    FieldExpectation,
    FieldInTop,
    FieldRequirement,
    FieldValue,
    HitCount,
    HitQuantifier,
    NoRepeats,
    Operator,
    Query,
)
from harness.words import count, listed, one_of, shorten

OBJECT_TYPES = frozenset({"flattened", "join", "nested", "object"})
OTHER_TYPES = frozenset(
    {
        "aggregate_metric_double", "date_range", "double_range", "float_range", "geo_point", "geo_shape", "histogram",
        "integer_range", "ip_range", "long_range", "point", "shape",
    }
)  # fmt: skip
"""Types of fields whose values may be maps of several numbers, dates or addresses."""


def decide_field_expectation(
    condition: FieldExpectation, query: Query, response: Response | None, inputs: GateInputs
) -> Finding:
    """
    Compare the fields of the first hits of one ranking with what *condition* requires.

    Returns:
        ERROR where there is no ranking, where the values are unknown or cannot be compared, or where the mapping says
        that no document can meet the requirement; INCONCLUSIVE where hits that may follow could decide otherwise; else
        PASSED or FAILED. A pass has a caveat where nothing shows that there is such a field.
    """
    error = Finding(Status.ERROR, "", blamed=(query.id,))
    if not isinstance(response, Ranking):
        return replace(error, reason=f"cannot be decided: {explain_no_ranking(response)}")
    field = condition.field
    hits = response.hits[: condition.k]
    unread = [hit.id for hit in hits if hit.values is None]
    if unread:
        reason = f"cannot be decided: the values of {field!r} are unknown for {listed(unread)}"
        return replace(error, reason=reason)
    is_returned = _is_returned(field, inputs.run)
    checked = _find_checked_field(field, inputs.run)
    problem = _explain_mapping(condition, checked, is_returned=is_returned)
    if problem:
        return replace(error, reason=f"cannot be decided: {problem}")
    kind = find_kind(checked.types if checked is not None else ())
    if isinstance(condition, FieldInTop):
        incomparable = _find_incomparable(condition.requirement, hits, kind)
        if incomparable:
            return replace(error, reason=f"cannot be decided: {incomparable}{_describe_types(checked)}")
        decision = _decide_requirement(condition, hits, kind)
    elif isinstance(condition, DistinctValues):
        decision = _decide_distinct(condition, hits, kind)
    else:
        decision = _decide_repeats(condition, hits, kind)
    may_follow = ""
    if condition.k > len(response.hits):
        may_follow = explain_what_may_follow(response, inputs.requested)
    finding = decision.make_finding(query, may_follow, _suggest_depth(condition, response, inputs.requested))
    if finding.status is Status.PASSED and not is_returned and checked is None:
        caveat = f"no hit of the run has a value in the field {field!r}"
        finding = replace(finding, caveat=caveat, reason=f"{finding.reason}; {caveat}")
    return finding


@dataclass(frozen=True, slots=True)
class _Decision:
    """What the first hits say about a condition."""

    passed: bool
    is_final: bool
    """Whether more hits could not change it."""
    reason: str
    figures: Finding
    """Has the figures of the finding."""

    def make_finding(self, query: Query, may_follow: str, remedy: str) -> Finding:
        """The finding on *query*; *may_follow* says which hits others may follow, empty where none do."""
        if may_follow and not self.is_final:
            reason = f"cannot be decided: {self.reason}; other hits may follow the {may_follow}{remedy}"
            undecided = replace(self.figures, status=Status.INCONCLUSIVE, observed=None)
            return replace(undecided, reason=reason, blamed=(query.id,))
        finding = replace(self.figures, reason=self.reason, counted=1)
        if self.passed:
            return replace(finding, status=Status.PASSED)
        return replace(finding, status=Status.FAILED, blamed=(query.id,))


def _suggest_depth(condition: FieldExpectation, ranking: Ranking, requested: RequestedDepth) -> str:
    """The depth that would do, as the end of a sentence; empty where more hits were not returned for another reason."""
    if ranking.returned < requested.depth:
        return ""
    # Hits that repeat a document take a rank of the response, and none of the ranking.
    return f", set `depth: {condition.k + len(ranking.duplicates)}`"


# What a requirement says of hits.


def _decide_requirement(condition: FieldInTop, hits: Sequence[Hit], kind: FieldKind) -> _Decision:
    requirement, quantifier = condition.requirement, condition.quantifier
    text = describe_requirement(requirement)
    first_hits = _name_first_hits(hits)
    meeting = [rank for rank, hit in enumerate(hits, start=1) if _has(hit, requirement, kind)]
    if quantifier is HitQuantifier.ANY:
        figures = Finding(
            Status.FAILED, "", meeting[0] if meeting else None, condition.k, unit=Unit.RANK, operator=Operator.AT_MOST
        )
        if meeting:
            reason = f"{hits[meeting[0] - 1].id} at rank {meeting[0]} has {text}, required in the top {condition.k}"
            return _Decision(passed=True, is_final=True, reason=reason, figures=figures)
        seen = listed([f"{hit.id} ({_describe_values(hit, requirement.field)})" for hit in hits])
        reason = f"{_name_no_hit(hits)} {text}: {seen}" if hits else f"there are no hits, required one with {text}"
        return _Decision(passed=False, is_final=False, reason=reason, figures=figures)
    is_every = quantifier is HitQuantifier.EVERY
    breaking = meeting
    if is_every:
        breaking = [rank for rank, hit in enumerate(hits, start=1) if not _has(hit, requirement, kind)]
    figures = Finding(Status.FAILED, "", len(breaking), 0, unit=Unit.HITS, operator=Operator.AT_MOST)
    if is_every and not hits:
        reason = f"there are no hits, required that every hit has {text}"
        return _Decision(passed=False, is_final=False, reason=reason, figures=figures)
    if not breaking:
        reason = f"{_name_each_hit(hits)} {text}" if is_every else f"{_name_no_hit(hits)} {text}"
        return _Decision(passed=True, is_final=False, reason=reason, figures=figures)
    named = [
        f"{hits[rank - 1].id} at rank {rank} ({_describe_values(hits[rank - 1], requirement.field)})"
        for rank in breaking
    ]
    verb = "lack" if is_every else "have"
    if len(breaking) == 1:
        verb = f"{verb}s" if is_every else "has"
    reason = f"{len(breaking)} of {first_hits} {verb} {text}: {listed(named)}"
    return _Decision(passed=False, is_final=True, reason=reason, figures=figures)


def _decide_distinct(condition: DistinctValues, hits: Sequence[Hit], kind: FieldKind) -> _Decision:
    operator, required = condition.operator, condition.required
    values: dict[tuple[str, FieldScalar], FieldScalar] = {}
    for hit in hits:
        for value in _list_values(hit, condition.field):
            values.setdefault(make_key(value, kind), value)
    observed = len(values)
    passed = is_met(observed, operator, required)
    # More hits can only add values.
    is_final = passed if operator in (Operator.AT_LEAST, Operator.ABOVE) else observed > required
    if operator is Operator.BELOW:
        is_final = observed >= required
    figures = Finding(Status.FAILED, "", observed, required, unit=Unit.VALUES, operator=operator)
    reason = f"{count(observed, 'distinct value')} of {condition.field} in {_name_first_hits(hits)}"
    reason += f", required {operator} {required}"
    if not passed:
        wants_more = observed < required or (operator is Operator.ABOVE and observed == required)
        named = _describe_repeats(condition.field, hits, kind) if wants_more else []
        without = [f"{hit.id} has none" for hit in hits if wants_more and not _list_values(hit, condition.field)]
        shown = [*named, *without] or [_format_value(value) for value in values.values()]
        if shown:
            reason += f": {listed(shown)}"
    return _Decision(passed=passed, is_final=is_final, reason=reason, figures=figures)


def _decide_repeats(condition: NoRepeats, hits: Sequence[Hit], kind: FieldKind) -> _Decision:
    repeats = _describe_repeats(condition.field, hits, kind)
    figures = Finding(Status.FAILED, "", len(repeats), 0, unit=Unit.HITS, operator=Operator.AT_MOST)
    if not repeats:
        reason = f"no two of {_name_first_hits(hits)} have the same {condition.field}"
        # One more hit repeats nothing where no hit before it has a value.
        has_values = any(_list_values(hit, condition.field) for hit in hits)
        is_final = not has_values and condition.k - len(hits) < 2
        return _Decision(passed=True, is_final=is_final, reason=reason, figures=figures)
    verb = "repeats" if len(repeats) == 1 else "repeat"
    reason = f"{len(repeats)} of {_name_first_hits(hits)} {verb} the {condition.field} of an earlier one"
    reason += f": {listed(repeats)}"
    return _Decision(passed=False, is_final=True, reason=reason, figures=figures)


def _describe_repeats(field: str, hits: Sequence[Hit], kind: FieldKind) -> list[str]:
    """The hits that have a value of an earlier hit in *field*, each with the first of these."""
    first: dict[tuple[str, FieldScalar], str] = {}
    repeats = []
    for rank, hit in enumerate(hits, start=1):
        values = {make_key(value, kind): value for value in _list_values(hit, field)}
        repeated = [key for key in values if key in first]
        if repeated:
            value = _format_value(values[repeated[0]])
            repeats.append(f"{hit.id} at rank {rank} ({value}, as {first[repeated[0]]})")
        for key in values:
            first.setdefault(key, hit.id)
    return repeats


def _name_first_hits(hits: Sequence[Hit]) -> str:
    return f"the first {count(len(hits), 'hit')}"


def _name_each_hit(hits: Sequence[Hit]) -> str:
    return "the first hit has" if len(hits) == 1 else f"each of {_name_first_hits(hits)} has"


def _name_no_hit(hits: Sequence[Hit]) -> str:
    return "the first hit does not have" if len(hits) == 1 else f"none of {_name_first_hits(hits)} has"


# Values.


def _list_values(hit: Hit, field: str) -> tuple[FieldScalar, ...]:
    return () if hit.values is None else hit.values.get(field, ())


def _has(hit: Hit, requirement: FieldRequirement, kind: FieldKind) -> bool:
    """Whether any value of *hit* meets *requirement*; all can be compared with it."""
    return any(meets(value, requirement, kind) for value in _list_values(hit, requirement.field))


def _find_incomparable(requirement: FieldRequirement, hits: Sequence[Hit], kind: FieldKind) -> str:
    """The first value of *hits* that cannot be compared with *requirement*, in words; empty if all can."""
    for rank, hit in enumerate(hits, start=1):
        for value in _list_values(hit, requirement.field):
            wanted = find_incomparable(value, requirement, kind)
            if wanted is not None:
                has = f"{hit.id} at rank {rank} has {requirement.field} = {_format_value(value)}"
                remedy = "; a value in quotes is compared as a text" if requirement.allowed else ""
                return f"{has}, which cannot be compared with {wanted.text}{remedy}"
    return ""


def describe_requirement(requirement: FieldRequirement) -> str:
    """*requirement* in words."""
    field, bounds = requirement.field, requirement.bounds
    if len(bounds) == 2:
        return f"{field} in {bounds[0].value.text}..{bounds[1].value.text}"
    if bounds:
        return f"{field} {bounds[0].operator} {bounds[0].value.text}"
    if not requirement.allowed:
        return f"a value of {field}"
    values = [_quote(value) for value in requirement.allowed]
    return f"{field} = {values[0]}" if len(values) == 1 else f"{field} in {{{', '.join(values)}}}"


def _quote(value: FieldValue) -> str:
    return json.dumps(value.text, ensure_ascii=False) if value.is_quoted else value.text


def _describe_values(hit: Hit, field: str) -> str:
    values = _list_values(hit, field)
    if not values:
        return f"no {field}"
    return listed([_format_value(value) for value in values])


def _format_value(value: FieldScalar) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return shorten(" ".join(text.split()))


# The field, as mappings and hits have it.


def _is_returned(field: str, run: Run) -> bool:
    """Whether any hit of *run* has a value in *field*."""
    return any(hit.values is not None and field in hit.values for hit in run.hits)


def _find_checked_field(field: str, run: Run) -> CheckedField | None:
    """What the mappings say about *field*; None if that is not known."""
    if run.checks is None:
        return None
    return next((checked for checked in run.checks.read_fields if checked.name == field), None)


def _describe_types(checked: CheckedField | None) -> str:
    """The types in the mapping, as the end of a sentence; empty if they are not known."""
    return f" (the field is mapped as {one_of(checked.types)})" if checked is not None and checked.types else ""


def _explain_mapping(condition: FieldExpectation, checked: CheckedField | None, *, is_returned: bool) -> str:
    """Why no document can meet *condition*, by the mapping; empty if one can, or if that is not known."""
    if checked is None:
        return ""
    field, types = condition.field, frozenset(checked.types)
    if not types:
        # A field that is not mapped may still be in the documents that were returned.
        meant = f"; did you mean {checked.meant!r}?" if checked.meant else ""
        return "" if is_returned else f"no searched index has a field {field!r}{meant}"
    if types <= OBJECT_TYPES and not is_returned:
        return f"the field {field!r} is mapped as {one_of(checked.types)}, which has no value; name a field in it"
    if types <= OTHER_TYPES and not is_returned:
        return f"the field {field!r} is mapped as {one_of(checked.types)}, whose values cannot be compared"
    if not isinstance(condition, FieldInTop):
        return ""
    is_fitting, expected = _find_fitting(types)
    if is_fitting is None:
        return ""
    wanted = [*condition.requirement.allowed, *(bound.value for bound in condition.requirement.bounds)]
    for value in wanted:
        if not is_fitting(value):
            mapped = f"the field {field!r} is mapped as {one_of(checked.types)}"
            return f"{mapped}, which is never {_quote(value)}; expected {expected}"
    return ""


def _find_fitting(types: frozenset[str]) -> tuple[Callable[[FieldValue], bool] | None, str]:
    """What says whether a value can be one of a field of *types*, and what can; None where any text can."""
    kind = find_kind(types)
    if kind is FieldKind.NUMBER:
        return _is_number, "a number without quotes"
    if kind is FieldKind.DATE:
        return _is_date_or_number, "a date or a number, without quotes"
    if kind is FieldKind.BOOLEAN:
        return _is_boolean, "true or false, without quotes"
    return None, ""


def _is_number(value: FieldValue) -> bool:
    return not value.is_quoted and read_number(value.text) is not None


def _is_date_or_number(value: FieldValue) -> bool:
    return _is_number(value) or (not value.is_quoted and read_date(value.text) is not None)


def _is_boolean(value: FieldValue) -> bool:
    return not value.is_quoted and value.text in ("true", "false")


# All queries of a suite.


def decide_each_query(condition: FieldExpectation | HitCount, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare the hits of each of *queries* with *condition*, which all must meet.

    Returns:
        ERROR where a query is; else FAILED where one does not meet it, or none is left to decide; else INCONCLUSIVE
        where one is; else PASSED. The figure is the number of queries that do not meet it.
    """
    findings: dict[str, Finding] = {}
    active, skipped = split_skipped(queries, inputs.today)
    for query in active:
        response = inputs.run.responses.get(query.id)
        if isinstance(condition, HitCount):
            findings[query.id] = decide_expectation(condition, query, response, inputs.requested)
        else:
            findings[query.id] = decide_field_expectation(condition, query, response, inputs)
    left_out = len(skipped)
    whole = Finding(Status.FAILED, "", required=0, left_out=left_out, unit=Unit.QUERIES, operator=Operator.AT_MOST)
    if not findings:
        return replace(whole, reason=f"has nothing to decide: {explain_nothing_left(skipped)}")
    size = count(len(findings), "query")
    for status in (Status.ERROR, Status.FAILED, Status.INCONCLUSIVE):
        reasons = {query: finding.reason for query, finding in findings.items() if finding.status is status}
        if not reasons:
            continue
        blamed = tuple(reasons)
        if status is not Status.FAILED:
            reasons = {query: reason.removeprefix("cannot be decided: ") for query, reason in reasons.items()}
            reason = f"cannot be decided for {len(reasons)} of {size}: {list_by_cause(reasons)}"
            return replace(whole, status=status, reason=reason, blamed=blamed)
        reason = f"not met by {len(reasons)} of {size}: {list_by_cause(reasons)}"
        failed = replace(whole, reason=reason, blamed=blamed, observed=len(reasons), counted=len(findings))
        return add_left_out(failed, skipped)
    reason = f"met by {'the query' if len(findings) == 1 else f'each of {size}'}"
    without_hits = list_without_hits([query.id for query in active], inputs.run.responses)
    if without_hits:
        # What no hit may have is met by no hits.
        reason += f"; zero hits: {listed(without_hits)}"
    # It is about the field, and so the same for each query.
    caveat = next((finding.caveat for finding in findings.values() if finding.caveat), "")
    if caveat:
        reason += f"; {caveat}"
    passed = replace(whole, status=Status.PASSED, reason=reason, observed=0, counted=len(findings), caveat=caveat)
    return add_left_out(passed, skipped)
