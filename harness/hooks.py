"""Calls the user's hooks, which `harness.hookspecs` specifies, and finds those of installed packages."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb
from typing import Any

from pluggy import PluginManager, PluginValidationError

from harness import hookspecs
from harness.errors import HookError, UsageError
from harness.masking import Masker, find_login_values
from harness.metrics.ranking import exact_number, finite
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Definitions, Failure, FailureKind, Hit, IndexFacts, IndexState, Ranking, Response
from harness.search.definitions import References
from harness.search.hits import MalformedAnswer, drop_repeated_hits, is_text
from harness.search.protocol import Inspector, ResponseStream, Search, StreamedResponse, in_order

CLIENT_HOOK = "pytest_relevance_client"
REQUEST_HOOK = "pytest_relevance_request"
RESPONSE_HOOK = "pytest_relevance_response"
_PREFIX = "pytest_relevance_"
HOOK_ENTRY_POINTS = "relevance_harness.hooks"


class Hooks:
    """Calls the implementations of the hooks; their errors become a HookError that names the hook and its place."""

    def __init__(self, relay: Any = None, ending: tuple[type[BaseException], ...] = (KeyboardInterrupt,)) -> None:
        """
        Args:
            relay: That of pluggy or pytest, with a caller for each hook; None without implementations.
            ending: What ends the whole run if a hook raises it; anything else is an error of the hook.
        """
        self._relay = relay
        self._ending = ending

    @property
    def has_search_hooks(self) -> bool:
        """Whether a hook changes requests or responses."""
        return bool(self._list_implementations(REQUEST_HOOK) or self._list_implementations(RESPONSE_HOOK))

    def wrap(self, search: Search, sent: dict[str, SearchRequest] | None = None) -> Search:
        """*search* with these hooks, or *search* itself if none concerns it; *sent* is as for `HookedSearch`."""
        return HookedSearch(search, self, sent) if self.has_search_hooks else search

    def make_client(self, cluster: Cluster) -> Any:
        """The user's own client for *cluster*, None where no hook makes one; raises HookError."""
        return self._call(CLIENT_HOOK, cluster=cluster) if self._list_implementations(CLIENT_HOOK) else None

    def change_request(self, request: SearchRequest) -> SearchRequest:
        """*request* as the hook changes it, if it was built for a query of a suite; raises HookError."""
        query = request.built_for
        if query is None or not self._list_implementations(REQUEST_HOOK):
            return request
        # The hook may change the body in place; what it made of it is compared with the body as it was.
        copied = replace(request, body=deepcopy(request.body))
        changed = self._call(REQUEST_HOOK, request=copied, query=query)
        if changed is None:
            changed = copied
        if not isinstance(changed, SearchRequest):
            raise self.make_error(REQUEST_HOOK, f"returned {_describe_type(changed)}, expected a SearchRequest or None")
        if (changed.query, changed.index) != (request.query, request.index):
            raise self.make_error(REQUEST_HOOK, f"changed the query or the index of the request for query {query.id!r}")
        body = changed.body
        if isinstance(body, dict) and isinstance(request.body, dict) and "size" in request.body:
            body = {"size": request.body["size"], **body}
            problem = _find_window_problem(body, request.body)
            if problem:
                raise self.make_error(REQUEST_HOOK, f"{problem} for query {query.id!r}")
        return replace(request, body=body, http=changed.http, url_params=changed.url_params)

    def change_response(self, response: Response, request: SearchRequest) -> Response:
        """*response*, to *request*, as the hook changes it; raises HookError."""
        query = request.built_for
        if query is None or not self._list_implementations(RESPONSE_HOOK):
            return response
        changed = self._call(RESPONSE_HOOK, response=response, request=request, query=query)
        if changed is None or changed is response:
            return response
        if not isinstance(changed, Ranking | Failure):
            raise self.make_error(
                RESPONSE_HOOK, f"returned {_describe_type(changed)}, expected a Ranking, a Failure or None"
            )
        try:
            if isinstance(changed, Failure):
                return _check_failure(changed)
            return _restore_order(_check_ranking(changed, request), response)
        except MalformedAnswer as error:
            raise self.make_error(RESPONSE_HOOK, f"returned a {type(changed).__name__} whose {error}") from None

    def make_error(self, name: str, what: str) -> HookError:
        """The error for a hook *name* that did *what*."""
        return HookError(f"the hook {name} ({', '.join(self._list_places(name))}) {what}")

    def describe(self) -> list[str]:
        """Each implemented hook, with the places of its implementations."""
        names = [name for name in (CLIENT_HOOK, REQUEST_HOOK, RESPONSE_HOOK) if self._list_implementations(name)]
        return [f"{name} ({', '.join(self._list_places(name))})" for name in names]

    def _call(self, name: str, **arguments: Any) -> Any:
        try:
            return getattr(self._relay, name)(**arguments)
        except self._ending:
            raise
        # What `pytest.skip`, `pytest.xfail` and `sys.exit` raise is no Exception: it would skip all items of a suite,
        # or end the command with 0.
        except BaseException as error:
            line = self._find_line(name, error)
            where = f" in line {line}" if line else ""
            raise self.make_error(name, f"failed{where}: {_describe_error(error)}") from error

    def _list_implementations(self, name: str) -> list[Any]:
        caller = getattr(self._relay, name, None)
        return [] if caller is None else caller.get_hookimpls()

    def _list_places(self, name: str) -> list[str]:
        """The file of each implementation, the first to be called first."""
        places = []
        for implementation in reversed(self._list_implementations(name)):
            file = _find_file(implementation)
            places.append(_shorten_path(file) if file else implementation.plugin_name)
        return places

    def _find_line(self, name: str, error: BaseException) -> int | None:
        """The line of an implementation in the traceback of *error*, if it is known."""
        files = {_find_file(implementation) for implementation in self._list_implementations(name)}
        line = None
        for frame in extract_tb(error.__traceback__):
            if frame.filename in files:
                line = frame.lineno
        return line


def _find_window_problem(body: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """What a hook did so that the answer to *body*, which was *before*, may not be the best hits; else empty."""
    size, needed = body["size"], before["size"]
    if isinstance(needed, int) and _read_size(size) < needed:
        return f"set the size to {size}, where {needed} hits are requested,"
    for key in ("from", "search_after"):
        if body.get(key) and not before.get(key):
            return f"set `{key}`, which skips hits,"
    return ""


def _read_size(size: object) -> float:
    """The number that an engine takes *size* for; infinite where it refuses it, with an error of its own."""
    if not isinstance(size, (int, float, str)) or isinstance(size, bool):
        return math.inf
    try:
        return float(size)
    except ValueError:
        return math.inf


def _check_failure(failure: Failure) -> Failure:
    """*failure*, which a hook made; raises MalformedAnswer where it lacks its kind or its reason."""
    if not isinstance(failure.kind, FailureKind):
        raise MalformedAnswer(f"`kind` is {_describe_type(failure.kind)}, expected a FailureKind")
    if not isinstance(failure.reason, str):
        raise MalformedAnswer(f"`reason` is {_describe_type(failure.reason)}, expected a text")
    return failure


def _check_ranking(ranking: Ranking, request: SearchRequest) -> Ranking:
    """
    *ranking*, which a hook made for *request*, with Python's own numbers and each document at its first rank only.

    Raises:
        MalformedAnswer: A value in it has the wrong type for its field, or a document is in it twice.
    """
    hits = _check_hits(ranking.hits, "hits")
    try:
        unique_hits, repeated = drop_repeated_hits(hits, unique_ids=request.unique_ids)
    except MalformedAnswer as error:
        raise MalformedAnswer(f"`hits` repeats a document: {error}") from None
    tail = _check_hits(ranking.tail, "tail")
    duplicates = ranking.duplicates
    if not isinstance(duplicates, (tuple, list)) or not all(map(is_text, duplicates)):
        raise MalformedAnswer(f"`duplicates` is {duplicates!r}, expected a tuple of texts")
    total, took = _read_number(ranking.total, "total"), _read_number(ranking.took, "took")
    if total is not None and (total < 0 or total != int(total)):
        raise MalformedAnswer(f"`total` is {ranking.total!r}, expected a whole number from 0 on or None")
    if took is not None and took < 0:
        raise MalformedAnswer(f"`took` is {ranking.took!r}, expected a number from 0 on or None")
    return replace(
        ranking,
        hits=unique_hits,
        tail=tuple(tail),
        total=None if total is None else int(total),
        took=took,
        duplicates=(*duplicates, *repeated),
    )


def _restore_order(changed: Ranking, before: Response) -> Ranking:
    """
    *changed* with what ordered its hits: the sort values that they had *before*, or their scores, which are exact if a
    hook changed any. Unknown sort values if a hook ordered the hits by something else: then nothing ties.
    """
    hits_before = {hit.id: hit for hit in before.hits} if isinstance(before, Ranking) else {}
    keeps_scores = all(hit.id in hits_before and hit.score == hits_before[hit.id].score for hit in changed.hits)
    if not keeps_scores:
        changed = replace(changed, exact_scores=True)
    is_sorted = any(hit.sort is not None for hit in hits_before.values())
    ids = dict.fromkeys(changed.ids)
    keeps_order = list(ids) == [document for document in hits_before if document in ids]
    # What orders the hits now; a hook that drops hits keeps the order of the others, one that adds hits does not:
    #
    #   order    sort values before   scores    ordered by
    #   kept     yes                  any       the sort values before
    #   kept     no                   any       the scores
    #   other    yes                  any       unknown: by anything but the sort values
    #   other    no                   kept      unknown: by anything but the scores
    #   other    no                   changed   the scores, which are the hook's own
    if keeps_order and is_sorted:
        return replace(changed, hits=tuple(replace(hit, sort=hits_before[hit.id].sort) for hit in changed.hits))
    if keeps_order:
        return changed
    if is_sorted or keeps_scores:
        return replace(changed, hits=tuple(replace(hit, sort=()) for hit in changed.hits), tail=())
    return changed


def _check_hits(hits: Sequence[Hit], name: str) -> list[Hit]:
    if not isinstance(hits, (tuple, list)):
        raise MalformedAnswer(f"`{name}` is {_describe_type(hits)}, expected a tuple")
    return [_check_hit(hit, f"{name}[{place}]") for place, hit in enumerate(hits)]


def _check_hit(hit: Hit, name: str) -> Hit:
    if not isinstance(hit, Hit):
        raise MalformedAnswer(f"`{name}` is {_describe_type(hit)}, expected a Hit")
    if not is_text(hit.id):
        raise MalformedAnswer(f"`{name}.id` is {hit.id!r}, expected a text")
    for field, value in (("title", hit.title), ("snippet", hit.snippet)):
        if not isinstance(value, str | None):
            raise MalformedAnswer(f"`{name}.{field}` is {_describe_type(value)}, expected a text or None")
    score = exact_number(hit.score)
    if score is None and hit.score is not None:
        raise MalformedAnswer(f"`{name}.score` is {hit.score!r}, expected a finite number or None")
    return replace(hit, score=score, texts=_check_texts(hit.texts, f"{name}.texts"))


def _check_texts(texts: Mapping[str, str] | None, name: str) -> Mapping[str, str] | None:
    """*texts* as a dictionary, whatever mapping the hook returned."""
    if texts is None:
        return None
    if not isinstance(texts, Mapping):
        raise MalformedAnswer(f"`{name}` is {_describe_type(texts)}, expected a mapping or None")
    checked = dict(texts)
    for field, value in checked.items():
        if not isinstance(field, str) or not isinstance(value, str):
            raise MalformedAnswer(
                f"`{name}[{field!r}]` is {_describe_type(value)}, expected a text by the name of a field"
            )
    return checked


def _read_number(value: object, name: str) -> float | None:
    """*value* as a float; a MalformedAnswer if it is neither a finite number nor None."""
    number = finite(value)
    if number is None and value is not None:
        raise MalformedAnswer(f"`{name}` is {value!r}, expected a finite number or None")
    return number


class HookedSearch(Search):
    """
    A search that passes requests of suites, and their responses, through hooks; look-ups are not passed. It equals any
    other over the same connection, so that each target is checked once.
    """

    def __init__(self, inner: Search, hooks: Hooks, sent: dict[str, SearchRequest] | None = None) -> None:
        """*inner* sends the requests as *hooks* change them; *sent* receives the first request of each query."""
        self.inner = inner
        self.hooks = hooks
        self.sent = {} if sent is None else sent
        self.service = inner.service
        self.engine = inner.engine

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HookedSearch) and (self.inner, self.hooks) == (other.inner, other.hooks)

    def __hash__(self) -> int:
        return hash((self.inner, self.hooks))

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """
        See `Search.stream`. A query whose hook fails has a `Failure`, and is not sent if that is the request hook.

        Raises:
            HookError: A hook failed for every query.
        """
        changed, failed = self._change_requests(requests)
        with closing(self.inner.stream(list(changed.values()), budget=budget)) as stream:
            yield from self._change_responses(requests, list(changed), failed, stream)

    def search(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> list[Response]:
        """See `Search.search`; raises as `stream`."""
        changed, failed = self._change_requests(requests)
        sent = list(changed.values())
        responses = self.inner.search(sent, budget=budget)
        stream = [StreamedResponse(place, sent[place], response) for place, response in enumerate(responses)]
        return in_order(self._change_responses(requests, list(changed), failed, stream))

    def _change_requests(
        self, requests: Sequence[SearchRequest]
    ) -> tuple[dict[int, SearchRequest], dict[int, HookError]]:
        """The *requests* as hooks change them, and the errors of hooks, by place; raises if all have an error."""
        changed: dict[int, SearchRequest] = {}
        failed: dict[int, HookError] = {}
        for place, request in enumerate(requests):
            try:
                changed[place] = self.hooks.change_request(request)
            except HookError as error:
                failed[place] = error
        for request in changed.values():
            if request.built_for is not None:
                self.sent.setdefault(request.query, request)
        _raise_if_all(failed, requests)
        return changed, failed

    def _change_responses(
        self,
        requests: Sequence[SearchRequest],
        sent: Sequence[int],
        failed: Mapping[int, HookError],
        stream: Iterable[StreamedResponse],
    ) -> Iterator[StreamedResponse]:
        """
        The responses to *requests* as hooks change them.

        Args:
            requests: All requests.
            sent: The places of those that were sent, in the order in which they were sent.
            failed: The errors of request hooks, by place.
            stream: The responses to those that were sent.
        """
        errors = dict(failed)
        for place, error in errors.items():
            yield StreamedResponse(place, requests[place], Failure(FailureKind.ERROR, str(error)))
        for streamed in stream:
            place, response = sent[streamed.position], streamed.response
            try:
                response = self.hooks.change_response(response, streamed.request)
            except HookError as error:
                errors[place] = error
                response = Failure(FailureKind.ERROR, str(error))
            yield replace(streamed, position=place, response=response)
        _raise_if_all(errors, requests)

    def index_facts(self, index: str | None) -> IndexFacts:
        """See `Search.index_facts`."""
        return self.inner.index_facts(index)

    def field_types(
        self, index: str, names: Sequence[str], url_params: Mapping[str, str]
    ) -> Mapping[str, frozenset[str]]:
        """See `Search.field_types`."""
        return self.inner.field_types(index, names, url_params)

    def index_state(self, index: str | None, *, timeout: float, url_params: Mapping[str, str]) -> IndexState:
        """See `Search.index_state`."""
        return self.inner.index_state(index, timeout=timeout, url_params=url_params)

    def read_definitions(
        self, index: str | None, references: References, *, timeout: float, url_params: Mapping[str, str]
    ) -> Definitions:
        """See `Search.read_definitions`."""
        return self.inner.read_definitions(index, references, timeout=timeout, url_params=url_params)

    @contextmanager
    def at_point_in_time(self, index: str | None, url_params: Mapping[str, str]) -> Iterator[HookedSearch]:
        """See `Search.at_point_in_time`."""
        with self.inner.at_point_in_time(index, url_params) as pinned:
            yield HookedSearch(pinned, self.hooks, self.sent)

    @property
    def inspector(self) -> Inspector:
        """See `Search.inspector`."""
        return self.inner.inspector

    def close(self) -> None:
        """See `Search.close`."""
        self.inner.close()


def _raise_if_all(errors: Mapping[int, HookError], requests: Sequence[SearchRequest]) -> None:
    """Raise the first error if every query of *requests* has one; look-ups do not count."""
    queries = sum(request.built_for is not None for request in requests)
    if errors and len(errors) == queries:
        raise errors[min(errors)]


def _find_file(implementation: Any) -> str:
    code = getattr(inspect.unwrap(implementation.function), "__code__", None)
    return code.co_filename if code is not None else ""


def _shorten_path(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _describe_error(error: BaseException) -> str:
    """The type of *error* and the first line of its text, in which logins of the environment are masked."""
    lines = Masker(find_login_values(os.environ)).mask(str(error)).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _describe_type(value: object) -> str:
    return f"a value of type {type(value).__name__}"


class _Manager(PluginManager):
    """Takes functions by their names without a marker, as pytest does."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        options = super().parse_hookimpl_opts(plugin, name)
        is_unmarked_hook = options is None and name.startswith(_PREFIX) and callable(getattr(plugin, name))
        return {} if is_unmarked_hook else options


def _make_manager() -> PluginManager:
    manager = _Manager("pytest")
    manager.add_hookspecs(hookspecs)
    return manager


@cache
def find_hook_entry_points() -> tuple[EntryPoint, ...]:
    """The entry points of the group, found once in a process: a file of each installed package is read for them."""
    return tuple(entry_points(group=HOOK_ENTRY_POINTS))


def load_installed_plugins() -> Iterator[tuple[str, Any]]:
    """
    The plugins that installed packages register under the entry point group, with their names.

    Raises:
        UsageError: one cannot be loaded, or has no hook or a wrong one.
    """
    for entry_point in find_hook_entry_points():
        name = f"entry point {entry_point.name} of {HOOK_ENTRY_POINTS} ({entry_point.value})"
        try:
            plugin = entry_point.load()
        except KeyboardInterrupt:
            raise
        # `pytest.importorskip` in the module raises no Exception, and would skip the suite.
        except BaseException as error:
            raise UsageError(f"{name} cannot be loaded: {_describe_error(error)}") from error
        if not any(attribute.startswith(_PREFIX) for attribute in dir(plugin)):
            raise UsageError(f"{name} has no hook, expected functions {CLIENT_HOOK}, {REQUEST_HOOK} or {RESPONSE_HOOK}")
        try:
            manager = _make_manager()
            manager.register(plugin, name)
            manager.check_pending()
        except PluginValidationError as error:
            raise UsageError(f"{name} has a wrong hook: {str(error).splitlines()[-1]}") from error
        yield name, plugin


@cache
def load_installed_hooks() -> Hooks:
    """The hooks of installed packages; raises as `load_installed_plugins`."""
    manager = _make_manager()
    for name, plugin in load_installed_plugins():
        manager.register(plugin, name)
    return Hooks(manager.hook)
