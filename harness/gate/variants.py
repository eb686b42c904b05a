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
    queries_by_id = {query.id: query for query in whole_suite.queries}
    ids_in_suite = {query.id for query in suite.queries}
    added: dict[str, Query] = {}
    for query in suite.queries:
        for variant in query.variants:
            if variant.id in ids_in_suite:
                continue
            if variant.is_query:
                added[variant.id] = queries_by_id[variant.id]
            else:
                added[variant.id] = make_variant_query(query, variant)
    return replace(suite, queries=(*suite.queries, *added.values()))


def make_variant_query(query: Query, variant: Variant) -> Query:
    """*query* with the text of *variant*: nothing else of the request changes, and nothing is expected of it."""
    return Query(variant.id, variant.text, query.params, tags=query.tags, mark=query.mark)


def split_run(run: Run, suite: Suite) -> Run:
    """*run* with the responses to variants of the queries of *suite* apart from those to the queries."""
    query_ids = {query.id for query in suite.queries}
    variant_ids: list[str] = []
    for query in suite.queries:
        variant_ids += [variant.id for variant in query.variants]
    if not variant_ids:
        return run
    repeats = []
    for repeat in run.repeats:
        responses, responses_to_variants = _split_responses(repeat.responses, query_ids, variant_ids)
        repeats.append(replace(repeat, responses=responses, variants=responses_to_variants))
    responses, responses_to_variants = _split_responses(run.responses, query_ids, variant_ids)
    return replace(run, responses=responses, variants=responses_to_variants, repeats=tuple(repeats))


def _split_responses(
    responses: Mapping[str, Response], query_ids: set[str], variant_ids: list[str]
) -> tuple[dict[str, Response], dict[str, Response]]:
    """The *responses* to queries, and those to variants; one to a query that is a variant too is in both."""
    to_queries = {query_id: response for query_id, response in responses.items() if query_id in query_ids}
    to_variants = {variant_id: responses[variant_id] for variant_id in variant_ids if variant_id in responses}
    return to_queries, to_variants


def join_run(run: Run) -> Run:
    """*run*, which `split_run` made, with all responses in one."""
    repeats = tuple(replace(repeat, responses={**repeat.variants, **repeat.responses}) for repeat in run.repeats)
    return replace(run, responses={**run.variants, **run.responses}, variants={}, repeats=repeats)


def remove_variants(suite: Suite) -> Suite:
    """*suite* without variants, for what reads rankings of queries only."""
    if not any(query.variants for query in suite.queries):
        return suite
    return replace(suite, queries=tuple(replace(query, variants=()) for query in suite.queries))
