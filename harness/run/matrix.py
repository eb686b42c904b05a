"""Which cells a run has: each suite with each request on each index that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.errors import UsageError, did_you_mean
from harness.model import RequestTemplate, Suite
from harness.options import RunOptions


@dataclass(frozen=True, slots=True)
class Matrix:
    """
    The *requests* and *indexes* that every suite runs with; its own first request, or its own index, where none is
    named. With *all_requests* a suite runs with each of those that it has, whatever their names are.
    """

    requests: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    all_requests: bool = False

    @classmethod
    def of_one(cls, options: RunOptions) -> Matrix:
        """What *options* ask for, which is one cell a suite."""
        return cls(_given(options.request), _given(options.index))

    def cells(self, suite: Suite, options: RunOptions) -> tuple[RunOptions, ...]:
        """
        The options of each cell of *suite*: every index for the first request, then for the next.

        Each is *options* with another request or index.
        """
        every = tuple(suite.requests) if len(suite.requests) > 1 else ()  # the only one is the suite's own anyway
        requests = every if self.all_requests else _each_once(self.requests)
        return tuple(
            replace(options, request=request, index=index)
            for request in requests or (None,)
            for index in _each_once(self.indexes) or (None,)
        )

    def check(self, suites: Sequence[Suite]) -> None:
        """
        Refuse what one of *suites* cannot be run with.

        Raises:
            UsageError: both named requests and all of them are wanted, or a suite lacks a request or cannot search
                another index; names every such suite.
        """
        if self.all_requests and self.requests:
            raise UsageError(f"found all requests and {', '.join(self.requests)}, expected one or the other")
        if "" in self.indexes:
            raise UsageError("an index without a name was asked for")
        problems = [*_lacking(suites, self.requests), *self._bound(suites)]
        if problems:
            raise UsageError("\n".join(problems))

    def _bound(self, suites: Sequence[Suite]) -> Iterator[str]:
        """A sentence for each suite that searches what it searches, and nothing else."""
        if not self.indexes:
            return
        for suite in suites:
            sent = suite.requests if self.all_requests else self.requests or tuple(suite.requests)[:1]
            reason = _why_bound(suite, [suite.requests[name] for name in sent if name in suite.requests])
            if reason:
                yield f"{suite.path}: {reason}, so that no other index can be asked for"


def _lacking(suites: Sequence[Suite], requests: Sequence[str]) -> Iterator[str]:
    for suite in suites:
        for request in _each_once(requests):
            if request not in suite.requests:
                known = ", ".join(suite.requests)
                guess = did_you_mean(request, suite.requests)
                yield f"{suite.path}: found no request {request!r}, known are {known}{guess}"


def _why_bound(suite: Suite, templates: Sequence[RequestTemplate]) -> str | None:
    if suite.fixture is not None:
        return "the suite builds its index itself, from its fixture"
    if suite.target.service != "engine":
        return "the suite asks an HTTP service, which has no index to choose"
    pinned = [template.name for template in templates if isinstance(template.body, Mapping) and "pit" in template.body]
    return f"the request {pinned[0]!r} searches a point in time, which is one of its own index" if pinned else None


def _given(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _each_once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
