"""
The variants of queries: written in the suite, made by rule, or other queries that should find the same.

A variant of the query `shoes` has the id `shoes~1`, `shoes~2` and so on: first those that are written, then those that
are made, in the order of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.model.suite import (
    SAME_AS,
    VARIANTS,
    Query,
    Suite,
    Threshold,
    Variant,
    get_counterpart,
    select_tagged,
)
from harness.suites.reading import Reading
from harness.suites.shape import QueryVariantsShape, VariantRulesShape
from harness.suites.variant_rules import VariantRules, make_variants
from harness.suites.yaml import Problems, ScalarNode
from harness.words import did_you_mean


@dataclass(frozen=True, slots=True)
class WrittenVariants:
    """What is written of the variants of a query."""

    variants: Sequence[ScalarNode] | QueryVariantsShape | None = None
    """Texts, or rules; None if the query says nothing, so that the rules of the suite apply."""
    same_as: ScalarNode | None = None
    """The id of a query that should find the same."""


def merge_variants(from_file: WrittenVariants, from_suite: WrittenVariants) -> WrittenVariants:
    """What is written of a query in both places; the suite has the last word."""
    variants = from_file.variants if from_suite.variants is None else from_suite.variants
    return WrittenVariants(variants, from_suite.same_as or from_file.same_as)


def add_variants(
    queries: Mapping[str, Query], written: Mapping[str, WrittenVariants], reading: Reading
) -> tuple[Query, ...]:
    """*queries*, by id, with the variants that are *written* of them; notes what is wrong."""
    of_suite = _read_rules(reading.shape.variants)
    variants: dict[str, tuple[Variant, ...]] = {}
    for query in queries.values():
        if query.nothing:
            _refuse_variants(query, written[query.id], reading.problems)
            variants[query.id] = ()
            continue
        texts = list(_list_texts(query, written[query.id].variants, of_suite, reading.problems))
        variants[query.id] = tuple(
            Variant(f"{query.id}~{number}", text, rule) for number, (text, rule) in enumerate(texts, start=1)
        )
        for variant in variants[query.id]:
            if variant.id in queries:
                message = f"the query id {variant.id!r} is that of a variant of {query.id!r}; expected another id"
                reading.problems.note(queries[variant.id].mark, message)
    for query in queries.values():
        same_as = written[query.id].same_as
        if same_as is not None and not query.nothing and _is_known(same_as, query, queries, written, reading.problems):
            variants[str(same_as)] += (Variant(query.id, query.text, SAME_AS),)
    return tuple(replace(query, variants=variants[query.id]) for query in queries.values())


def _refuse_variants(query: Query, written: WrittenVariants, problems: Problems) -> None:
    """Note variants of *query*, for which no result is right: no ranking is left to agree with."""
    message = f"no result is right for {query.id!r}, so that it has no variants; make each a query with 'nothing: true'"
    if written.variants:
        problems.note(query.mark, message)
    if written.same_as is not None:
        problems.note(written.same_as.mark, message)


def _list_texts(
    query: Query,
    written: Sequence[ScalarNode] | QueryVariantsShape | None,
    of_suite: VariantRules,
    problems: Problems,
) -> Iterator[tuple[str, str]]:
    """The text of each variant, with the rule that made it."""
    texts: Sequence[ScalarNode] = ()
    rules = VariantRules()
    if written is None:
        rules = of_suite
    elif isinstance(written, QueryVariantsShape):
        texts, rules = written.written, _read_rules(written)
    else:
        texts = written
    seen = {query.text}
    for text in texts:
        if text.unset:
            continue
        if text in seen:
            found = "the text of its query" if text == query.text else "a variant twice"
            problems.note(text.mark, f"found {found}: {str(text)!r}; expected another text, which should find the same")
            continue
        seen.add(str(text))
        yield str(text), ""
    if query.masked is not None:
        # Nothing is made of a text with a value from the environment: the mask of the value would not cover it.
        return
    for made in make_variants(query.text, rules):
        if made.text not in seen:
            seen.add(made.text)
            yield made.text, made.rule


def _read_rules(shape: VariantRulesShape | None) -> VariantRules:
    if shape is None:
        return VariantRules()
    return VariantRules(shape.typos or 0, shape.plural, shape.case, shape.accents, shape.order)


def _is_known(
    same_as: ScalarNode,
    query: Query,
    queries: Mapping[str, Query],
    written: Mapping[str, WrittenVariants],
    problems: Problems,
) -> bool:
    """Whether *same_as*, which is written at *query*, is another query, and no variant itself; notes the problem."""
    name = str(same_as)
    if name not in queries:
        problems.note(same_as.mark, f"no query has the id {name!r}{did_you_mean(name, queries)}", "unknown-name")
    elif name == query.id:
        problems.note(same_as.mark, f"the query {name!r} is 'same_as' itself; expected the id of another query")
    elif queries[name].nothing:
        problems.note(same_as.mark, f"no result is right for {name!r}; expected the id of a query with results")
    elif written[name].same_as is not None:
        other = str(written[name].same_as)
        problems.note(same_as.mark, f"the query {name!r} is 'same_as' {other!r} itself; expected {other!r} here too")
    else:
        return True
    return False


def check_variant_thresholds(thresholds: Sequence[Threshold], queries: Sequence[Query], problems: Problems) -> None:
    """Check that each threshold on variants, of the suite or of a query, has a query with variants."""
    for threshold in thresholds:
        scope = queries if threshold.tag is None else select_tagged(queries, threshold.tag)
        if is_of_variants(threshold) and not any(query.variants for query in scope):
            which = "" if threshold.tag is None else f" with the tag {threshold.tag!r}"
            message = f"no query{which} has variants; expected `variants` in a query or in the suite, or `same_as`"
            problems.note(threshold.mark, message)
    for query in queries:
        for threshold in query.thresholds:
            if is_of_variants(threshold) and not query.variants:
                message = f"the query {query.id!r} has no variants; expected `variants` in it or in the suite"
                problems.note(threshold.mark, message)


def is_of_variants(threshold: Threshold) -> bool:
    """Whether *threshold* compares variants with their queries."""
    return get_counterpart(threshold.condition) == VARIANTS


def check_variant_requests(suite: Suite, problems: Problems) -> None:
    """Check that a variant is sent as another request than its query, and as a whole one."""
    if not any(not variant.is_query for query in suite.queries for variant in query.variants):
        return
    remedy = "write a variant as a query of its own with `same_as`, or set `gate: false` for the request"
    for template in suite.requests.values():
        vectors = [name for name in suite.vectors if name in template.placeholders]
        if not template.gates:
            continue
        if vectors:
            message = f"the request {template.name!r} uses the vector {vectors[0]!r}, which variants do not have"
            problems.note(template.mark, f"{message}; {remedy}")
        elif "text" not in template.placeholders:
            message = f"the request {template.name!r} does not use {{{{text}}}}, so that variants change nothing"
            problems.note(template.mark, f"{message}; {remedy}")
