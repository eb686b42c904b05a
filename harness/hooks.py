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
from importlib.metadata import entry_points
from pathlib import Path
from traceback import extract_tb
from typing import Any

from pluggy import PluginManager, PluginValidationError

from harness import hookspecs
from harness.errors import HookError, UsageError
from harness.masking import Masker, login_values
from harness.metrics.ranking import exact_number, finite
from harness.model import (
    Cluster,
    Definitions,
    Failure,
    FailureKind,
    Hit,
    IndexFacts,
    IndexState,
    Ranking,
    Response,
    SearchRequest,
)
from harness.search import ResponseStream, Search, StreamedResponse, in_order
from harness.search.definitions import References
from harness.search.hits import MalformedAnswer, drop_repeated_hits, is_text
from harness.search.protocol import Inspector

CLIENT, REQUEST, RESPONSE = "pytest_relevance_client", "pytest_relevance_request", "pytest_relevance_response"
PREFIX = "pytest_relevance_"
ENTRY_POINTS = "relevance_harness.hooks"


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
    def concern_searches(self) -> bool:
        """Whether a hook changes requests or responses."""
        return bool(self._implementations(REQUEST) or self._implementations(RESPONSE))

    def around(self, search: Search, sent: dict[str, SearchRequest] | None = None) -> Search:
        """*search* with these hooks, or *search* itself if none concerns it; *sent* is as for `HookedSearch`."""
        return HookedSearch(search, self, sent) if self.concern_searches else search

    def client(self, cluster: Cluster) -> Any:
        """The user's own client for *cluster*, None where no hook makes one; raises HookError."""
        return self._call(CLIENT, cluster=cluster) if self._implementations(CLIENT) else None

    def request(self, request: SearchRequest) -> SearchRequest:
        """*request* as the hook changes it, if it was built for a query of a suite; raises HookError."""
        query = request.built_for
        if query is None or not self._implementations(REQUEST):
            return request
        given = replace(request, body=deepcopy(request.body))
        changed = self._call(REQUEST, request=given, query=query)
        if changed is None:
            changed = given
        if not isinstance(changed, SearchRequest):
            raise self.wrong(REQUEST, f"returned {_described(changed)}, expected a SearchRequest or None")
        if (changed.query, changed.index) != (request.query, request.index):
            raise self.wrong(REQUEST, f"changed the query or the index of the request for query {query.id!r}")
        body = changed.body
        if isinstance(body, dict) and isinstance(request.body, dict) and "size" in request.body:
            body = {"size": request.body["size"], **body}
            if wrong := _wrong_window(body, request.body):
                raise self.wrong(REQUEST, f"{wrong} for query {query.id!r}")
        return replace(request, body=body, http=changed.http, url_params=changed.url_params)

    def response(self, response: Response, request: SearchRequest) -> Response:
        """*response*, to *request*, as the hook changes it; raises HookError."""
        query = request.built_for
        if query is None or not self._implementations(RESPONSE):
            return response
        changed = self._call(RESPONSE, response=response, request=request, query=query)
        if changed is not None and not isinstance(changed, Ranking | Failure):
            raise self.wrong(RESPONSE, f"returned {_described(changed)}, expected a Ranking, a Failure or None")
        if changed is None or changed is response:
            return response
        try:
            checked = _checked_failure(changed) if isinstance(changed, Failure) else _checked(changed)
        except MalformedAnswer as error:
            raise self.wrong(RESPONSE, f"returned a {type(changed).__name__} whose {error}") from None
        return _as_ordered(checked, response)

    def wrong(self, name: str, what: str) -> HookError:
        """The error for a hook *name* that did *what*."""
        return HookError(f"the hook {name} ({', '.join(self._places(name))}) {what}")

    def in_force(self) -> Iterator[str]:
        """Each implemented hook, with the places of its implementations."""
        for name in (CLIENT, REQUEST, RESPONSE):
            if self._implementations(name):
                yield f"{name} ({', '.join(self._places(name))})"

    def _call(self, name: str, **arguments: Any) -> Any:
        try:
            return getattr(self._relay, name)(**arguments)
        except self._ending:
            raise
        # What `pytest.skip`, `pytest.xfail` and `sys.exit` raise is no Exception: it would skip all items of a suite,
        # or end the command with 0.
        except BaseException as error:
            raise self.wrong(name, f"failed{self._line(name, error)}: {_first_line(error)}") from error

    def _implementations(self, name: str) -> list[Any]:
        caller = getattr(self._relay, name, None)
        return [] if caller is None else caller.get_hookimpls()

    def _places(self, name: str) -> list[str]:
        """The file of each implementation, the first to be called first."""
        return [_shown(_file(each)) or each.plugin_name for each in reversed(self._implementations(name))]

    def _line(self, name: str, error: BaseException) -> str:
        """The line of an implementation in the traceback of *error*, if it is known."""
        files = {_file(each) for each in self._implementations(name)}
        passed = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename in files]
        return f" in line {passed[-1]}" if passed else ""


def _number_of(size: object) -> float:
    """The number that an engine takes *size* for; infinite where it refuses it."""
    try:
        return float(size) if isinstance(size, (int, float, str)) and not isinstance(size, bool) else math.inf
    except ValueError:
        return math.inf


def _wrong_window(body: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """What a hook did so that the answer to *body*, which was *before*, may not be the best hits; else empty."""
    size, needed = body["size"], before["size"]
    if isinstance(needed, int) and _number_of(size) < needed:
        return f"set the size to {size}, where {needed} hits are requested,"
    key = next((key for key in ("from", "search_after") if body.get(key) and not before.get(key)), "")
    return f"set `{key}`, which skips hits," if key else ""


def _checked_failure(failure: Failure) -> Failure:
    """*failure*, which a hook made; raises MalformedAnswer where it lacks its kind or its reason."""
    if not isinstance(failure.kind, FailureKind):
        raise MalformedAnswer(f"`kind` is {_described(failure.kind)}, expected a FailureKind")
    if not isinstance(failure.reason, str):
        raise MalformedAnswer(f"`reason` is {_described(failure.reason)}, expected a text")
    return failure


def _checked(ranking: Ranking) -> Ranking:
    """
    *ranking*, which a hook made, with Python's own numbers and each document at its first rank only.

    Raises:
        MalformedAnswer: A value in it has the wrong type for its field.
    """
    hits, again = drop_repeated_hits(_checked_hits(ranking.hits, "hits"))
    tail, before = tuple(_checked_hits(ranking.tail, "tail")), ranking.duplicates
    if not isinstance(before, (tuple, list)) or not all(map(is_text, before)):
        raise MalformedAnswer(f"`duplicates` is {before!r}, expected a tuple of texts")
    total, took = _number(ranking.total, "total"), _number(ranking.took, "took")
    if total is not None and (total < 0 or total != int(total)):
        raise MalformedAnswer(f"`total` is {ranking.total!r}, expected a whole number from 0 on or None")
    if took is not None and took < 0:
        raise MalformedAnswer(f"`took` is {ranking.took!r}, expected a number from 0 on or None")
    whole = None if total is None else int(total)
    return replace(ranking, hits=hits, tail=tail, total=whole, took=took, duplicates=(*before, *again))


def _as_ordered(changed: Response, before: Response) -> Response:
    """
    *changed* with what ordered its hits: the sort values that they had *before*, or their scores, which are exact if a
    hook changed any. Unknown sort values if a hook ordered the hits by something else: then nothing ties.
    """
    if not isinstance(changed, Ranking):
        return changed
    earlier = {hit.id: hit for hit in before.hits} if isinstance(before, Ranking) else {}
    has_scores_of_before = all(hit.id in earlier and hit.score == earlier[hit.id].score for hit in changed.hits)
    if not has_scores_of_before:
        changed = replace(changed, exact_scores=True)
    is_sorted = any(hit.sort is not None for hit in earlier.values())
    ids = {hit.id for hit in changed.hits}
    is_in_order = [hit.id for hit in changed.hits] == [document for document in earlier if document in ids]
    if is_in_order:
        hits = [replace(hit, sort=earlier[hit.id].sort) for hit in changed.hits] if is_sorted else changed.hits
        return replace(changed, hits=tuple(hits))
    if is_sorted or has_scores_of_before:
        return replace(changed, hits=tuple(replace(hit, sort=()) for hit in changed.hits), tail=())
    return changed


def _checked_hits(hits: Sequence[Hit], name: str) -> list[Hit]:
    if not isinstance(hits, (tuple, list)):
        raise MalformedAnswer(f"`{name}` is {_described(hits)}, expected a tuple")
    return [_checked_hit(hit, f"{name}[{place}]") for place, hit in enumerate(hits)]


def _checked_hit(hit: Hit, name: str) -> Hit:
    if not isinstance(hit, Hit):
        raise MalformedAnswer(f"`{name}` is {_described(hit)}, expected a Hit")
    if not is_text(hit.id):
        raise MalformedAnswer(f"`{name}.id` is {hit.id!r}, expected a text")
    for field, value in (("title", hit.title), ("snippet", hit.snippet)):
        if not isinstance(value, str | None):
            raise MalformedAnswer(f"`{name}.{field}` is {_described(value)}, expected a text or None")
    score = exact_number(hit.score)
    if score is None and hit.score is not None:
        raise MalformedAnswer(f"`{name}.score` is {hit.score!r}, expected a finite number or None")
    return replace(hit, score=score, texts=_checked_texts(hit.texts, f"{name}.texts"))


def _checked_texts(texts: Mapping[str, str] | None, name: str) -> Mapping[str, str] | None:
    """*texts* as a dictionary, whatever mapping the hook returned."""
    if texts is None:
        return None
    if not isinstance(texts, Mapping):
        raise MalformedAnswer(f"`{name}` is {_described(texts)}, expected a mapping or None")
    found = dict(texts)
    for field, value in found.items():
        if not isinstance(field, str) or not isinstance(value, str):
            raise MalformedAnswer(f"`{name}[{field!r}]` is {_described(value)}, expected a text by the name of a field")
    return found


def _number(value: object, name: str) -> float | None:
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
        answers = zip(sent, self.inner.search(sent, budget=budget), strict=True)
        stream = [StreamedResponse(place, *answer) for place, answer in enumerate(answers)]
        return in_order(self._change_responses(requests, list(changed), failed, stream))

    def _change_requests(
        self, requests: Sequence[SearchRequest]
    ) -> tuple[dict[int, SearchRequest], dict[int, HookError]]:
        """The *requests* as hooks change them, and the errors of hooks, by place; raises if all have an error."""
        changed: dict[int, SearchRequest] = {}
        failed: dict[int, HookError] = {}
        for place, request in enumerate(requests):
            try:
                changed[place] = self.hooks.request(request)
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
        failed: dict[int, HookError],
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
        for place, error in failed.items():
            yield StreamedResponse(place, requests[place], Failure(FailureKind.ERROR, str(error)))
        for streamed in stream:
            place, response = sent[streamed.place], streamed.response
            try:
                response = self.hooks.response(response, streamed.request)
            except HookError as error:
                failed[place] = error
                response = Failure(FailureKind.ERROR, str(error))
            yield replace(streamed, place=place, response=response)
        _raise_if_all(failed, requests)

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


def _raise_if_all(failed: Mapping[int, HookError], requests: Sequence[SearchRequest]) -> None:
    """Raise the first error if every query of *requests* has one; look-ups do not count."""
    if failed and len(failed) == sum(one.built_for is not None for one in requests):
        raise failed[min(failed)]


def _file(implementation: Any) -> str:
    code = getattr(inspect.unwrap(implementation.function), "__code__", None)
    return code.co_filename if code is not None else ""


def _shown(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _first_line(error: BaseException) -> str:
    """The type of *error* and the first line of its text, in which logins of the environment are masked."""
    lines = Masker(login_values(os.environ)).mask(str(error)).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _described(value: object) -> str:
    return f"a value of type {type(value).__name__}"


class _Manager(PluginManager):
    """Takes functions by their names without a marker, as pytest does."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        marked = super().parse_hookimpl_opts(plugin, name)
        return {} if marked is None and name.startswith(PREFIX) and callable(getattr(plugin, name)) else marked


def installed_plugins() -> Iterator[tuple[str, Any]]:
    """
    The plugins that installed packages register under the entry point group, with their names.

    Raises:
        UsageError: one cannot be loaded, or has no hook or a wrong one.
    """
    for entry_point in entry_points(group=ENTRY_POINTS):
        called = f"entry point {entry_point.name} of {ENTRY_POINTS} ({entry_point.value})"
        try:
            plugin = entry_point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # `pytest.importorskip` would skip the suite
            raise UsageError(f"{called} cannot be loaded: {_first_line(error)}") from error
        if not any(name.startswith(PREFIX) for name in dir(plugin)):
            raise UsageError(f"{called} has no hook, expected functions {CLIENT}, {REQUEST} or {RESPONSE}")
        _check(plugin, called)
        yield called, plugin


def _check(plugin: Any, called: str) -> None:
    try:
        manager = _manager()
        manager.register(plugin, called)
        manager.check_pending()
    except PluginValidationError as error:
        raise UsageError(f"{called} has a wrong hook: {str(error).splitlines()[-1]}") from error


def _manager() -> PluginManager:
    manager = _Manager("pytest")
    manager.add_hookspecs(hookspecs)
    return manager


@cache
def installed_hooks() -> Hooks:
    """The hooks of installed packages; raises as `installed_plugins`."""
    manager = _manager()
    for name, plugin in installed_plugins():
        manager.register(plugin, name)
    return Hooks(manager.hook)
