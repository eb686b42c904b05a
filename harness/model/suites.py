"""A suite as loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.conditions import Threshold, Waiver
from harness.model.measures import Gain, Measure, Profile
from harness.model.places import Json, Mark

__all__ = ["Fixture", "HttpRequest", "Judgment", "Query", "RequestTemplate", "Suite", "Target"]


@dataclass(frozen=True, slots=True)
class Judgment:
    """The grade of one document for one query; finite, mostly a small integer."""

    query: str
    document: str
    grade: float


@dataclass(frozen=True, slots=True)
class Query:
    """
    One information need.

    *judgments* map document to grade, all judged documents of the query. *params* fill placeholders of the request
    beside ``{{text}}``. *thresholds* hold the query's own thresholds and its rank expectations. *weight* is what the
    query counts in a mean beside the others, above 0; 1 for all where the suite has none. *masked* is a mapping of text
    and params with ``${NAME}`` in the place of values from the environment that may be secret; None where none is.
    """

    id: str
    text: str
    params: Mapping[str, Json] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    judgments: Mapping[str, float] = field(default_factory=dict)
    thresholds: tuple[Threshold, ...] = ()
    markers: tuple[str, ...] = ()
    xfail: Waiver | None = None
    skip: Waiver | None = None
    mark: Mark = Mark()
    weight: float = 1.0
    masked: Json = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where a suite runs.

    *cluster* is a name in harness.toml or a URL, *index* a name, alias, pattern or None (an HTTP service), *engine*
    what the server is where it may not be asked: "elasticsearch 9.4.3" or "opensearch 2.19". *service* is "http" where
    the suite's requests go to an application's own search API. *unique_ids* says that an id names one document in all
    the indexes that *index* leads to.
    """

    cluster: str = "default"
    index: str | None = None
    engine: str | None = None
    mark: Mark = Mark()
    service: str = "engine"
    unique_ids: bool = False


@dataclass(frozen=True, slots=True)
class Fixture:
    """An index that the suite builds for itself from mappings, settings, and a file with one JSON document a line."""

    documents: str
    mappings: Mapping[str, Json] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
    id_field: str = "id"
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """
    The body that is sent for each query, ``{{placeholders}}`` unfilled.

    *index* overrides the target's. For an HTTP service (`http` not None) the body is what `http` says. *masked* is a
    mapping of body, index and http as a query's is.
    """

    name: str
    body: Json
    index: str | None = None
    http: HttpRequest | None = None
    mark: Mark = Mark()
    masked: Json = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """
    A request to a service that is not an engine, with JSONPath expressions from its answer to hits.

    *path* is joined to the cluster's URL; *params*, *headers* and *json* may hold placeholders. *ids* finds the list
    of ids, best first; *scores* and *titles*, where given, lists of the same length; *total* one number.
    """

    method: str
    path: str
    ids: str
    params: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = None
    scores: str | None = None
    titles: str | None = None
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """
    A suite as loaded: checked, judgments joined to their queries, measures parsed.

    *requests* holds at least one template, the first is the default. *depth* is the number of hits asked for.
    *skip_undefined* is ``undefined: skip``, *baseline_optional* ``baseline: optional``. *grades* names grades.
    *variables* holds what was taken from the environment, by name, so that it can be masked in whatever is printed;
    empty while there was no environment. *ungraded* counts what judgment files name and nobody graded yet.
    """

    name: str
    path: str
    target: Target
    requests: Mapping[str, RequestTemplate]
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    thresholds: tuple[Threshold, ...] = ()
    gain: Gain = Gain()
    profile: Profile = Profile.STANDARD
    grades: Mapping[str, float] = field(default_factory=dict)
    depth: int = 10
    skip_undefined: bool = False
    title_field: str | None = None
    fixture: Fixture | None = None
    markers: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    mark: Mark = Mark()
    baseline_optional: bool = False
    ungraded: int = 0
