"""What a run sends to a target for its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.gate.selection import list_read_fields
from harness.model.request import SearchRequest
from harness.model.suite import RequestTemplate, Suite, iterate_members
from harness.search.dialects import find_dialect


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The requests of a run: one for each query of *suite*, made from *template*."""

    suite: Suite
    template: RequestTemplate
    requests: Sequence[SearchRequest]
    further: bool
    """Whether they ask for one hit more than is needed."""


def plan_searches(
    suite: Suite,
    request: str | None = None,
    *,
    further: bool = True,
    titles: bool = False,
    preference: str | None = None,
) -> SearchPlan:
    """
    The requests for the queries of *suite* as they are sent.

    Args:
        suite: The queries that are sent, on the index that is searched.
        request: The name of the request template; the suite's first where None.
        further: Whether to request one hit more than is needed, where the request allows it, to see whether the last
            hit ties with others.
        titles: Whether the searches return titles, for hooks that may read them; else they are looked up later.
        preference: Chooses the shard copies that answer, unless the request or a point in time does.

    Raises:
        SuiteError: A query's values make a request that cannot be sent.
    """
    from harness.suites.requests import build_request, choose_template

    template = choose_template(suite, request)
    dialect = find_dialect(suite.target.service)
    further = further and dialect.may_request_more(template)
    size = _find_common_size(suite, template) if further else suite.depth
    # A look-up by id cannot read titles where the request selects fields, or where ids may be of other documents.
    may_find_another = suite.target.id_field is not None or suite.target.unique_ids
    reads_titles = titles or dialect.selects_fields(template) or may_find_another
    returns_titles = suite.display.title is not None and reads_titles
    value_fields = list_read_fields(suite, template.name) if dialect.has_indexes else ()
    requests = []
    for query in suite.queries:
        search_request = build_request(suite, template, query, size)
        if size is None:
            search_request = dialect.with_size(search_request, _count_with_one_more(suite, search_request))
        if returns_titles:
            search_request = replace(search_request, title_field=suite.display.title)
        if value_fields:
            search_request = replace(search_request, value_fields=value_fields)
        if preference is not None:
            search_request = dialect.prefer(search_request, preference)
        requests.append(search_request)
    return SearchPlan(suite, template, requests, further)


def _find_common_size(suite: Suite, template: RequestTemplate) -> int | None:
    """The number of hits that the requests for all queries ask for, one more than needed; None where it may differ."""
    from harness.suites.requests import build_request

    if not suite.queries or any(query.params for query in suite.queries):
        return None
    if any("{{" in key for key, _ in iterate_members(template.body)):
        return None  # the text of a query becomes a key
    return _count_with_one_more(suite, build_request(suite, template, suite.queries[0]))


def _count_with_one_more(suite: Suite, request: SearchRequest) -> int:
    """The hits that *request* asks for and one more, where that cannot change the other hits."""
    size = count_requested_hits(request, suite)
    may_be_deeper = size < find_dialect(suite.target.service).find_deepest_size(request)
    return size + 1 if may_be_deeper else size


def count_requested_hits(request: SearchRequest, suite: Suite) -> int:
    """How many hits *request* asks for, as far as it says."""
    size = find_dialect(suite.target.service).count_hits(request)
    return suite.depth if size is None else size
