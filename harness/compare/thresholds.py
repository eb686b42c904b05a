"""The thresholds that a comparison is held to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.errors import GrammarError, UsageError, did_you_mean
from harness.gate.grammar import check_reach, parse_threshold
from harness.metrics.agreement import RBO
from harness.model import AgreementCondition, BaselineCondition, Condition, Measure, Suite, Threshold

__all__ = ["check_thresholds", "deepest_looks", "read_thresholds", "with_defaults"]


EXPECTED = "a drop, such as 'drop nDCG@10 <= 0.02', 'worse … by …', or an agreement such as 'mean RBO >= 0.9'"


def read_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """
    The thresholds, read by the grammar of suites.

    Raises:
        UsageError: A text is out of the grammar, or is not about a difference; names all such.
    """
    thresholds, refusals = [], []
    for text in texts:
        try:
            condition, tag = parse_threshold(text, of_query=False)
        except GrammarError as error:
            refusals.append(f"threshold {text!r}: {error}")
            continue
        if isinstance(condition, BaselineCondition | AgreementCondition):
            thresholds.append(Threshold(text, condition, tag))
        else:
            refusals.append(
                f"threshold {text!r} is about one run and not about a difference; expected {EXPECTED}; "
                "harness run holds a run to it"
            )
    if refusals:
        raise UsageError("\n".join(refusals))
    return tuple(thresholds)


def check_thresholds(suite: Suite, *, judged: bool, depth: int | None) -> None:
    """
    Refuse thresholds that cannot be decided.

    Args:
        suite: Holds them, and the queries that are compared with their tags.
        judged: Whether there are scores.
        depth: How many hits of a query there are, None where the rankings are whole.

    Raises:
        UsageError: A tag that no query has, a number out of reach, an agreement that looks too deep, or a drop of
            scores where there are none.
    """
    refusals = [
        f"threshold {one.text!r}: {sentence}"
        for one in suite.thresholds
        if (sentence := _refusal(one, suite, judged, depth))
    ]
    if refusals:
        raise UsageError("\n".join(refusals))


def _refusal(threshold: Threshold, suite: Suite, judged: bool, depth: int | None) -> str | None:
    tags = {tag for query in suite.queries for tag in query.tags}
    condition = threshold.condition
    if threshold.tag is not None and threshold.tag not in tags:
        return f"no query has the tag {threshold.tag!r}{did_you_mean(threshold.tag, tags)}"
    if not judged and isinstance(condition, BaselineCondition):
        return "there are no scores to compare; give --suite, or --qrels and --measure, or ask for an RBO or overlap"
    if isinstance(condition, AgreementCondition) and depth is not None and (condition.agreement.cutoff or 0) > depth:
        return f"{condition.agreement} looks at more hits than the {depth} a query that both sides have"
    return check_reach(condition, suite.gain, suite.profile)


def deepest_looks(thresholds: Iterable[Threshold]) -> list[int]:
    """The cutoffs of what *thresholds* name, and at least one number."""
    conditions = [one.condition for one in thresholds]
    agreements = [one.agreement for one in conditions if isinstance(one, AgreementCondition)]
    measures = [one.measure for one in conditions if isinstance(one, BaselineCondition)]
    return [1, *(measure.cutoff or 1 for measure in [*agreements, *measures])]


def with_defaults(thresholds: Iterable[Threshold], *, depth: int, p: float) -> tuple[Threshold, ...]:
    """*thresholds* whose agreements look as deep, and with the same persistence, as the report unless they say."""
    return tuple(replace(one, condition=_with_defaults(one.condition, depth, p)) for one in thresholds)


def _with_defaults(condition: Condition, depth: int, p: float) -> Condition:
    if not isinstance(condition, AgreementCondition):
        return condition
    asked: Measure = condition.agreement
    parameters = asked.parameters or ((("p", p),) if asked.name == RBO else ())
    return replace(condition, agreement=replace(asked, cutoff=asked.cutoff or depth, parameters=parameters))
