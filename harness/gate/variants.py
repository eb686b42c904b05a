"""
The variants of queries on their way through a run.

A variant is searched as a query of its own, after the queries, so that it is recorded, repeated and resumed like one.
Before anything is scored, the responses to variants are put beside those to the queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.model.run import Response, Run
from harness.model.suite import Query, Suite, Variant


def add_variant_queries(suite: Suite, whole_suite: Suite) -> Suite:
    """
    *suite*, followed by the variants of its queries.

    A variant that is another query is that of *whole_suite*, with its own params. It is left out where *suite* has it
    already, so that nothing is searched twice.
    """
    if not any(query.variants for query in suite.queries):
        return suite
    others = {query.id: query for query in whole_suite.queries}
    added: dict[str, Query] = {}
    for query in suite.queries:
        for variant in query.variants:
            added[variant.id] = others[variant.id] if variant.is_query else make_variant_query(query, variant)
    for query in suite.queries:
        added.pop(query.id, None)
    return replace(suite, queries=(*suite.queries, *added.values()))


def make_variant_query(query: Query, variant: Variant) -> Query:
    """*query* with the text of *variant*: nothing else of the request changes, and nothing is expected of it."""
    return Query(variant.id, variant.text, query.params, tags=query.tags, mark=query.mark)


def split_run(run: Run, suite: Suite) -> Run:
    """*run* with the responses to variants of the queries of *suite* apart from those to the queries."""
    variants = [variant.id for query in suite.queries for variant in query.variants]
    if not variants:
        return run
    queries = {query.id for query in suite.queries}
    repeats = []
    for repeat in run.repeats:
        responses, of_variants = _split(repeat.responses, queries, variants)
        repeats.append(replace(repeat, responses=responses, variants=of_variants))
    responses, of_variants = _split(run.responses, queries, variants)
    return replace(run, responses=responses, variants=of_variants, repeats=tuple(repeats))


def _split(
    responses: Mapping[str, Response], queries: set[str], variants: list[str]
) -> tuple[dict[str, Response], dict[str, Response]]:
    of_queries = {query: response for query, response in responses.items() if query in queries}
    of_variants = {variant: responses[variant] for variant in variants if variant in responses}
    return of_queries, of_variants


def join_run(run: Run) -> Run:
    """*run*, which `split_run` made, with all responses in one."""
    repeats = tuple(replace(repeat, responses={**repeat.variants, **repeat.responses}) for repeat in run.repeats)
    return replace(run, responses={**run.variants, **run.responses}, variants={}, repeats=repeats)


def remove_variants(suite: Suite) -> Suite:
    """*suite* without variants, for what reads rankings of queries only."""
    if not any(query.variants for query in suite.queries):
        return suite
    return replace(suite, queries=tuple(replace(query, variants=()) for query in suite.queries))
