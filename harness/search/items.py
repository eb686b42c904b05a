"""An answer inside an `_msearch`, as JSON, to the response of its query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.model import Failure, FailureKind, Json, Response
from harness.search.hits import MalformedAnswer, count_of, kind_of, read_ranking, reason_of, shown, walk_causes
from harness.search.wire import Entry

__all__ = ["lacking_shards", "read_item", "retriable"]


BUSY = frozenset({429, 503})
"""The statuses of an item that may be answered when it is asked again."""

NO_SHARD = frozenset({"no_shard_available_action_exception", "unavailable_shards_exception"})
OUT_OF_TIME = frozenset({"search_timeout_exception", "timeout_exception", "receive_timeout_transport_exception"})


def read_item(item: Json, entry: Entry) -> Response:
    """
    The ranking that *item* holds, or why it holds none.

    An item is an error, or timed out, or lacks shards, even where the whole answer came with status 200.

    Args:
        item: One element of an `_msearch`'s ``responses``, or a whole answer of `_search`.
        entry: What was asked.
    """
    if not isinstance(item, Mapping):
        return Failure(FailureKind.MALFORMED, f"an answer should be an object, found {kind_of(item)}")
    try:
        return _failure(item) or read_ranking(item, entry, stopped_early=_stopped_early(item, entry))
    except MalformedAnswer as error:
        return Failure(FailureKind.MALFORMED, str(error), _status(item))


def retriable(response: Response, item: Json) -> bool:
    """Whether the same request may be answered a moment later: the engine was busy, not the query wrong or slow."""
    if not isinstance(response, Failure) or response.kind in (FailureKind.TIMEOUT, FailureKind.MALFORMED):
        return False
    return _status(item) in BUSY


def _failure(item: Mapping[str, Any]) -> Failure | None:
    status, error, timed_out = _status(item), item.get("error"), item.get("timed_out")
    if error is not None or (status is not None and status >= 400):
        return _error(error, status)
    if status != item.get("status") or status not in (None, 200):
        raise MalformedAnswer(f"`status` should be 200, or that of an error, found {shown(item['status'])}")
    if not isinstance(timed_out, bool):
        raise MalformedAnswer(f"`timed_out` should be true or false, found {shown(timed_out)}")
    if timed_out:
        return Failure(
            FailureKind.TIMEOUT, "the search ran into its time limit and saw only a part of the index", status
        )
    return _lacking_clusters(item, status) or lacking_shards(item, status)


def _stopped_early(item: Mapping[str, Any], entry: Entry) -> bool:
    """Whether the engine looked at a part of the documents only, as a request may want."""
    stopped = item.get("terminated_early")
    if stopped is not None and not isinstance(stopped, bool):
        raise MalformedAnswer(f"`terminated_early` should be true or false, found {shown(stopped)}")
    if stopped and not entry.may_stop_early:
        raise MalformedAnswer("`terminated_early` is true, and the request sets no `terminate_after`")
    return bool(stopped)


def _error(error: Json, status: int | None) -> Failure:
    causes = list(walk_causes(error))
    kinds = {str(cause.get("type")) for cause in causes}
    reason = reason_of(error)
    if kinds & OUT_OF_TIME or any(map(_is_timeout, causes)):
        return Failure(FailureKind.TIMEOUT, reason, status)
    partial = isinstance(error, Mapping) and error.get("reason") == "Partial shards failure"
    if partial or kinds & NO_SHARD or _no_shard_left(error):
        return Failure(FailureKind.SHARDS, f"{_failed_places(error)}{reason}", status)
    return Failure(FailureKind.ERROR, reason, status)


def _is_timeout(cause: Mapping[str, Any]) -> bool:
    """Elasticsearch says it in a member, OpenSearch in words; both may give it the status of another error."""
    return cause.get("timed_out") is True or cause.get("reason") == "Time exceeded"


def _no_shard_left(error: Json) -> bool:
    """All copies of a shard are gone: the engine then gives neither a root cause nor a failed shard."""
    if not isinstance(error, Mapping) or error.get("type") != "search_phase_execution_exception":
        return False
    return not error.get("root_cause") and not error.get("failed_shards")


def _failed_places(error: Json) -> str:
    shards = error.get("failed_shards") if isinstance(error, Mapping) else None
    places = [
        f"{shard.get('index', 'index')}[{shard.get('shard', '?')}]"
        for shard in (shards if isinstance(shards, list) else ())
        if isinstance(shard, Mapping)
    ]
    return f"shard {', '.join(places)} failed: " if places else ""


def lacking_shards(item: Mapping[str, Any], status: int | None) -> Failure | None:
    """
    Shards that failed or were not asked. Those that were skipped hold no match and count as successful.

    An engine answers a pattern that fits no index with no hits of no shards, which is not an answer of no hits.

    Raises:
        MalformedAnswer: *item* does not say how many shards there are and what became of them.
    """
    shards = item.get("_shards")
    if not isinstance(shards, Mapping):
        raise MalformedAnswer(f"`_shards` should be an object, found {kind_of(shards)}")
    total, successful, failed = (count_of(shards, name) for name in ("total", "successful", "failed"))
    count_of(shards, "skipped", 0)
    failures = shards.get("failures")
    if not total and not failed:
        return Failure(
            FailureKind.ERROR, "nothing was searched: no index has a name that the target's pattern fits", status
        )
    if successful + failed > total:
        raise MalformedAnswer(f"`_shards` counts {successful} successful and {failed} failed of {total}")
    if successful == total and failures in (None, []):
        return None
    first = next(iter(failures), None) if isinstance(failures, list) else None
    because = f": {reason_of(first['reason'])}" if isinstance(first, Mapping) and first.get("reason") else ""
    if successful == total:
        return Failure(FailureKind.SHARDS, f"`_shards` names failures, and counts none{because}", status)
    return Failure(FailureKind.SHARDS, f"{total - successful} of {total} shards did not answer{because}", status)


def _lacking_clusters(item: Mapping[str, Any], status: int | None) -> Failure | None:
    """A search across clusters answers 200 without a remote one that it may leave out, or with a part of it."""
    clusters = item.get("_clusters")
    if clusters is None:
        return None
    if not isinstance(clusters, Mapping):
        raise MalformedAnswer(f"`_clusters` should be an object, found {kind_of(clusters)}")
    total, successful = count_of(clusters, "total"), count_of(clusters, "successful")
    counted = sum(count_of(clusters, name, 0) for name in ("skipped", "partial", "failed", "running"))
    if successful > total:
        raise MalformedAnswer(f"`_clusters` counts {successful} successful of {total}")
    details = clusters.get("details", {})
    if not isinstance(details, Mapping):
        raise MalformedAnswer(f"`_clusters.details` should be an object, found {kind_of(details)}")
    lacking = max(total - successful, counted, sum(not _is_whole(each) for each in details.values()))
    if not lacking:
        return None
    return Failure(FailureKind.SHARDS, f"{lacking} of {total} clusters did not answer in full", status)


def _is_whole(cluster: Json) -> bool:
    return isinstance(cluster, Mapping) and cluster.get("status") == "successful"


def _status(item: Json) -> int | None:
    status = item.get("status") if isinstance(item, Mapping) else None
    return status if type(status) is int else None
