"""
Expectations of the fields of hits, and expectations that a suite has of each query.

A hit has a requirement if any of the field's values meets it. A field that a hit lacks, or that is null, an empty list
or an object, has no value: such a hit meets no requirement, adds no distinct value, and repeats none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.gate.decide_answers import (
    RequestedDepth,
    decide_expectation,
    describe_incomplete_hits,
    explain_no_ranking,
    list_without_hits,
)
from harness.gate.expectations import read_date, read_number
from harness.gate.field_values import BOOLEANS, FieldKind, find_incomparable, find_kind, make_key, meets
from harness.gate.finding import (
    Finding,
    add_left_out,
    explain_nothing_left,
    is_met,
    list_by_cause,
    split_skipped,
)
from harness.gate.inputs import GateInputs
from harness.model.run import Cause, CheckedField, FieldScalar, Hit, Ranking, Response, Run, Status, Unit
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
    error = Finding(Status.ERROR, "", blamed=(query.id,), cause=Cause.FIELD)
    if not isinstance(response, Ranking):
        return replace(error, reason=f"cannot be decided: {explain_no_ranking(response)}", cause=Cause.UNANSWERED)
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
    kind = FieldKind.UNKNOWN
    if checked is not None:
        kind = find_kind(checked.types)
    if isinstance(condition, FieldInTop):
        incomparable = _find_incomparable(condition.requirement, hits, kind)
        if incomparable:
            return replace(error, reason=f"cannot be decided: {incomparable}{_describe_types(checked)}")
        decision = _decide_requirement(condition, hits, kind)
    elif isinstance(condition, DistinctValues):
        decision = _decide_distinct(condition, hits, kind)
    else:
        decision = _decide_repeats(condition, hits, kind)
    incomplete_hits = ""
    if condition.k > len(response.hits):
        incomplete_hits = describe_incomplete_hits(response, inputs.requested)
    finding = decision.make_finding(query, incomplete_hits, _suggest_depth(condition, response, inputs.requested))
    if finding.status is Status.PASSED and not is_returned and checked is None:
        caveat = f"no hit of the run has a value in the field {field!r}"
        finding = replace(finding, caveat=caveat, reason=f"{finding.reason}; {caveat}")
    return finding


@dataclass(frozen=True, slots=True)
class _Decision:
    """What the first hits say about a condition."""

    passed: bool
    is_final: bool
    """Whether it is the same whatever hits may follow."""
    reason: str
    figures: Finding
    """A finding that has only the figures: what was observed, what is required, and their unit."""

    def make_finding(self, query: Query, incomplete_hits: str, remedy: str) -> Finding:
        """
        The finding on *query*.

        *incomplete_hits* are the hits in words if others may follow them, else empty; *remedy* says what then to do.
        """
        if incomplete_hits and not self.is_final:
            reason = f"cannot be decided: {self.reason}; other hits may follow the {incomplete_hits}{remedy}"
            undecided = replace(self.figures, status=Status.INCONCLUSIVE, observed=None, cause=Cause.MORE_HITS)
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
    """Decide whether any of *hits*, every one or none meets the requirement of *condition*."""
    if condition.quantifier is HitQuantifier.ANY:
        return _decide_any_hit(condition, hits, kind)
    requirement = condition.requirement
    text = describe_requirement(requirement)
    is_every = condition.quantifier is HitQuantifier.EVERY
    # "every hit has" is broken by hits that do not meet the requirement, "no hit has" by hits that do.
    breaking = []
    for rank, hit in enumerate(hits, start=1):
        if _has(hit, requirement, kind) != is_every:
            breaking.append(f"{hit.id} at rank {rank} ({_describe_values(hit, requirement.field)})")
    figures = Finding(Status.FAILED, "", len(breaking), 0, unit=Unit.HITS, operator=Operator.AT_MOST)
    if is_every and not hits:
        reason = f"there are no hits, required that every hit has {text}"
        return _Decision(passed=False, is_final=False, reason=reason, figures=figures)
    if not breaking:
        subject = _name_each_hit(hits) if is_every else _name_no_hit(hits)
        return _Decision(passed=True, is_final=False, reason=f"{subject} {text}", figures=figures)
    singular, plural = "has", "have"
    if is_every:
        singular, plural = "lacks", "lack"
    verb = singular if len(breaking) == 1 else plural
    reason = f"{len(breaking)} of {_name_first_hits(hits)} {verb} {text}: {listed(breaking)}"
    return _Decision(passed=False, is_final=True, reason=reason, figures=figures)


def _decide_any_hit(condition: FieldInTop, hits: Sequence[Hit], kind: FieldKind) -> _Decision:
    """Decide whether one of *hits* meets the requirement of *condition*; the figure is the rank of the first one."""
    requirement = condition.requirement
    text = describe_requirement(requirement)
    figures = Finding(Status.FAILED, "", required=condition.k, unit=Unit.RANK, operator=Operator.AT_MOST)
    for rank, hit in enumerate(hits, start=1):
        if _has(hit, requirement, kind):
            reason = f"{hit.id} at rank {rank} has {text}, required in the top {condition.k}"
            return _Decision(passed=True, is_final=True, reason=reason, figures=replace(figures, observed=rank))
    reason = f"there are no hits, required one with {text}"
    if hits:
        values_of_hits = [f"{hit.id} ({_describe_values(hit, requirement.field)})" for hit in hits]
        reason = f"{_name_no_hit(hits)} {text}: {listed(values_of_hits)}"
    return _Decision(passed=False, is_final=False, reason=reason, figures=figures)


def _decide_distinct(condition: DistinctValues, hits: Sequence[Hit], kind: FieldKind) -> _Decision:
    """Decide how many different values of the field *hits* have."""
    operator, required = condition.operator, condition.required
    values: dict[tuple[str, FieldScalar], FieldScalar] = {}
    for hit in hits:
        for value in _list_values(hit, condition.field):
            values.setdefault(make_key(value, kind), value)
    observed = len(values)
    passed = is_met(observed, operator, required)
    # More hits can only add values: a minimum stays reached, and a maximum stays exceeded.
    if operator in (Operator.AT_LEAST, Operator.ABOVE):
        is_final = passed
    elif operator is Operator.BELOW:
        is_final = observed >= required
    else:
        is_final = observed > required
    figures = Finding(Status.FAILED, "", observed, required, unit=Unit.VALUES, operator=operator)
    reason = f"{count(observed, 'distinct value')} of {condition.field} in {_name_first_hits(hits)}"
    reason += f", required {operator} {required}"
    if not passed:
        details = []
        has_too_few = observed < required or (operator is Operator.ABOVE and observed == required)
        if has_too_few:
            details = _describe_repeats(condition.field, hits, kind)
            details += [f"{hit.id} has none" for hit in hits if not _list_values(hit, condition.field)]
        if not details:
            details = [_format_value(value) for value in values.values()]
        if details:
            reason += f": {listed(details)}"
    return _Decision(passed=passed, is_final=is_final, reason=reason, figures=figures)


def _decide_repeats(condition: NoRepeats, hits: Sequence[Hit], kind: FieldKind) -> _Decision:
    """Decide whether two of *hits* have the same value of the field."""
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
    """The hits that have a value of an earlier hit in *field*: "sku-2 at rank 3 (red, as sku-1)"."""
    first_hit_with: dict[tuple[str, FieldScalar], str] = {}
    repeats = []
    for rank, hit in enumerate(hits, start=1):
        values = {make_key(value, kind): value for value in _list_values(hit, field)}
        repeated_keys = [key for key in values if key in first_hit_with]
        if repeated_keys:
            key = repeated_keys[0]
            repeats.append(f"{hit.id} at rank {rank} ({_format_value(values[key])}, as {first_hit_with[key]})")
        for key in values:
            first_hit_with.setdefault(key, hit.id)
    return repeats


def _name_first_hits(hits: Sequence[Hit]) -> str:
    return f"the first {count(len(hits), 'hit')}"


def _name_each_hit(hits: Sequence[Hit]) -> str:
    """All *hits*, as the beginning of a sentence on what they have."""
    if len(hits) == 1:
        return "the first hit has"
    return f"each of {_name_first_hits(hits)} has"


def _name_no_hit(hits: Sequence[Hit]) -> str:
    """None of *hits*, as the beginning of a sentence on what they do not have."""
    if len(hits) == 1:
        return "the first hit does not have"
    return f"none of {_name_first_hits(hits)} has"


# Values.


def _list_values(hit: Hit, field: str) -> tuple[FieldScalar, ...]:
    """The values that *hit* has in *field*; none where it lacks the field."""
    if hit.values is None:
        return ()
    return hit.values.get(field, ())


def _has(hit: Hit, requirement: FieldRequirement, kind: FieldKind) -> bool:
    """Whether any value of *hit* meets *requirement*; all can be compared with it."""
    return any(meets(value, requirement, kind) for value in _list_values(hit, requirement.field))


def _find_incomparable(requirement: FieldRequirement, hits: Sequence[Hit], kind: FieldKind) -> str:
    """The first value of *hits* that cannot be compared with *requirement*, in words; empty if all can."""
    for rank, hit in enumerate(hits, start=1):
        for value in _list_values(hit, requirement.field):
            wanted = find_incomparable(value, requirement, kind)
            if wanted is not None:
                sentence = f"{hit.id} at rank {rank} has {requirement.field} = {_format_value(value)}"
                sentence += f", which cannot be compared with {wanted.text}"
                if requirement.allowed:
                    sentence += "; a value in quotes is compared as a text"
                return sentence
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
    values = [_format_wanted(value) for value in requirement.allowed]
    if len(values) == 1:
        return f"{field} = {values[0]}"
    return f"{field} in {{{', '.join(values)}}}"


def _format_wanted(value: FieldValue) -> str:
    """*value* as the expectation has it, in quotes if it was written so."""
    if value.is_quoted:
        return json.dumps(value.text, ensure_ascii=False)
    return value.text


def _describe_values(hit: Hit, field: str) -> str:
    values = _list_values(hit, field)
    if not values:
        return f"no {field}"
    return listed([_format_value(value) for value in values])


def _format_value(value: FieldScalar) -> str:
    """*value* of a hit on one line, shortened."""
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
    for checked in run.checks.read_fields:
        if checked.name == field:
            return checked
    return None


def _describe_types(checked: CheckedField | None) -> str:
    """The types in the mapping, as the end of a sentence; empty if they are not known."""
    if checked is None or not checked.types:
        return ""
    return f" (the field is mapped as {one_of(checked.types)})"


def _explain_mapping(condition: FieldExpectation, checked: CheckedField | None, *, is_returned: bool) -> str:
    """
    Why no document can meet *condition*, by the mapping; empty if one can, or if that is not known.

    *is_returned* says that a hit has a value in the field: then the mapping does not tell all.
    """
    if checked is None:
        return ""
    field, types = condition.field, frozenset(checked.types)
    mapped = f"the field {field!r} is mapped as {one_of(checked.types)}" if types else ""
    if not is_returned:
        if not types:
            suggestion = f"; did you mean {checked.meant!r}?" if checked.meant else ""
            return f"no searched index has a field {field!r}{suggestion}"
        if types <= OBJECT_TYPES:
            return f"{mapped}, which has no value; name a field in it"
        if types <= OTHER_TYPES:
            return f"{mapped}, whose values cannot be compared"
    if not types or not isinstance(condition, FieldInTop):
        return ""
    kind = find_kind(types)
    bounds = [bound.value for bound in condition.requirement.bounds]
    for value in (*condition.requirement.allowed, *bounds):
        expected = _find_expected_value(value, kind)
        if expected:
            return f"{mapped}, which is never {_format_wanted(value)}; expected {expected}"
    return ""


def _find_expected_value(value: FieldValue, kind: FieldKind) -> str:
    """What a field of this *kind* can have, in words, if it can never have *value*; else empty."""
    is_number = not value.is_quoted and read_number(value.text) is not None
    is_date = not value.is_quoted and read_date(value.text) is not None
    is_boolean = not value.is_quoted and value.text in BOOLEANS
    if kind is FieldKind.NUMBER and not is_number:
        return "a number without quotes"
    if kind is FieldKind.DATE and not (is_date or is_number):
        return "a date or a number, without quotes"
    if kind is FieldKind.BOOLEAN and not is_boolean:
        return "true or false, without quotes"
    return ""


# All queries of a suite.


def decide_each_query(condition: FieldExpectation | HitCount, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare the hits of each of *queries* with *condition*, which all must meet.

    Returns:
        ERROR if the finding of one query is; else FAILED if one does not meet it, or every query is skipped; else
        INCONCLUSIVE if that of one is; else PASSED. The figure is the number of queries that do not meet it.
    """
    findings: dict[str, Finding] = {}
    active, skipped = split_skipped(queries, inputs.today)
    for query in active:
        response = inputs.run.responses.get(query.id)
        if isinstance(condition, HitCount):
            findings[query.id] = decide_expectation(condition, query, response, inputs.requested)
        else:
            findings[query.id] = decide_field_expectation(condition, query, response, inputs)
    of_suite = Finding(
        Status.FAILED, "", required=0, left_out=len(skipped), unit=Unit.QUERIES, operator=Operator.AT_MOST
    )
    if not findings:
        reason = f"has nothing to decide: {explain_nothing_left(skipped)}"
        return replace(of_suite, reason=reason, cause=Cause.NOTHING_TO_DECIDE)
    size = count(len(findings), "query")
    for status in (Status.ERROR, Status.FAILED, Status.INCONCLUSIVE):
        reasons = {query: finding.reason for query, finding in findings.items() if finding.status is status}
        if not reasons:
            continue
        blamed = tuple(reasons)
        if status is not Status.FAILED:
            causes = {query: reason.removeprefix("cannot be decided: ") for query, reason in reasons.items()}
            reason = f"cannot be decided for {len(causes)} of {size}: {list_by_cause(causes)}"
            # One cause, as a program that mends it looks again: that of the first query.
            return replace(of_suite, status=status, reason=reason, blamed=blamed, cause=findings[blamed[0]].cause)
        reason = f"not met by {len(reasons)} of {size}: {list_by_cause(reasons)}"
        failed = replace(of_suite, reason=reason, blamed=blamed, observed=len(reasons), counted=len(findings))
        return add_left_out(failed, skipped)
    subject = "the query" if len(findings) == 1 else f"each of {size}"
    reason = f"met by {subject}"
    without_hits = list_without_hits([query.id for query in active], inputs.run.responses)
    if without_hits:
        # What no hit may have is met by no hits.
        reason += f"; zero hits: {listed(without_hits)}"
    # The caveat is about the field, and so the same for each query that has one.
    caveats = [finding.caveat for finding in findings.values() if finding.caveat]
    caveat = caveats[0] if caveats else ""
    if caveat:
        reason += f"; {caveat}"
    passed = replace(of_suite, status=Status.PASSED, reason=reason, observed=0, counted=len(findings), caveat=caveat)
    return add_left_out(passed, skipped)
