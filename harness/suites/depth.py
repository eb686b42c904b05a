"""How many hits a suite asks for: enough for everything that looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.metrics.run_scores import measure_named
from harness.model import AgreementCondition, InTop, Measure, RequestTemplate, Threshold
from harness.suites.reading import Reading
from harness.suites.templates import size_of

LEAST_DEPTH = 10
"""Hits asked for where nothing looks deeper: what a page of results shows."""


def choose_depth(
    reading: Reading,
    templates: Iterable[RequestTemplate],
    measures: Iterable[Measure],
    thresholds: Iterable[Threshold],
) -> int:
    """
    The hits asked for: the suite's own depth, else the deepest of its cutoffs, expectations and requests' sizes.

    An own size of a request may be deeper than needed where the suite gives no depth, and is never shallower. Where
    each request has one, no more is asked for than they say.
    """
    needed, by_what = max(_needs(measures, thresholds), default=(0, ""))
    given: int | None = reading.shape.depth
    if given is not None and given < needed:
        message = f"depth {given} is too shallow for '{by_what}', which needs {needed} hits"
        reading.problems.at(reading.key_mark("depth"), message)
    sizes, least = [], 1
    for template in templates:
        size = size_of(template)
        if size is None:
            least = LEAST_DEPTH
            continue
        sizes.append(size)
        _check_size(reading, template, size, needed, by_what)
    return given or max(least, needed, *sizes)


def _needs(measures: Iterable[Measure], thresholds: Iterable[Threshold]) -> Iterator[tuple[int, str]]:
    """Each rank that something looks down to, and what that is."""
    for measure in measures:
        yield measure.cutoff or 0, measure.text
    for threshold in thresholds:
        condition = threshold.condition
        named = measure_named(threshold)
        if named is not None:
            yield named.cutoff or 0, threshold.text
        elif isinstance(condition, InTop):
            yield condition.k, threshold.text
        elif isinstance(condition, AgreementCondition):
            yield condition.agreement.cutoff or 0, threshold.text


def _check_size(reading: Reading, template: RequestTemplate, size: int, needed: int, by_what: str) -> None:
    given = reading.shape.depth
    if given is not None and size != given:
        message = f"the request {template.name!r} has size {size}, but depth is {given}; leave one of them out"
        reading.problems.at(template.mark, message)
    elif size < needed:
        message = f"the request {template.name!r} has size {size}, but '{by_what}' needs {needed} hits"
        reading.problems.at(template.mark, message)
