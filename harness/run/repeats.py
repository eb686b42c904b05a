"""Repeats of the searches of a run, to find the queries whose ranking varies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.errors import SearchError
from harness.model import Failure, FailureKind, Repeat, Response, Run, Suite
from harness.run.searching import execute, search_tails
from harness.run.watching import TargetWatch
from harness.search import Search
from harness.search.msearch import PREFERENCE


def search_again(
    suite: Suite,
    search: Search,
    run: Run,
    watch: TargetWatch,
    *,
    times: int,
    further: bool,
    tails: bool,
    on_answers: Callable[[Mapping[str, Response]], None],
) -> tuple[Repeat, ...]:
    """
    Make the searches of *run* again, over the same connection.

    Each repeat has a `preference` of its own, so that other copies of a shard may answer, unless the request has one.

    Args:
        suite: The suite, as it ran.
        search: The search that returned *run*.
        run: The first repeat.
        watch: The watch of the target; a repeat that its budget cuts short is left out, and so are those after it.
        times: The number of repeats, with the first.
        further: Whether one hit more than is needed is requested, as in *run*.
        tails: Whether documents that tie with the last hits are searched for, as in *run*.
        on_answers: Called with new responses, by query.
    """
    repeats: list[Repeat] = []
    for number in range(2, times + 1):
        preference = f"{PREFERENCE}-{number}"
        try:
            again = execute(
                suite,
                search,
                request=run.request,
                on_answers=on_answers,
                budget=watch.left,
                further=further,
                preference=preference,
            )
            if tails:
                again = search_tails(suite, again, search, budget=watch.left, preference=preference)
            responses = again.responses
        except SearchError as error:
            responses = dict.fromkeys(run.responses, Failure(FailureKind.ERROR, str(error)))
        if watch.left is not None and any(_did_not_run(one) for one in responses.values()):
            break
        repeats.append(Repeat(responses, watch.copies_with(preference)))
    return tuple(repeats)


def _did_not_run(response: Response) -> bool:
    return isinstance(response, Failure) and response.kind is FailureKind.NOT_RUN
