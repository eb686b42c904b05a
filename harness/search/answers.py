"""The answer to an `_msearch` -> a response for each of its searches, and what went wrong as a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from harness.model.run import Failure, FailureKind, Response
from harness.model.suite import Json
from harness.search.connection import LARGEST_ANSWER, Answer, AnswerTooLarge
from harness.search.esql_rows import read_rows
from harness.search.hits import MalformedAnswer, describe_kind, describe_value, make_excerpt, read_count, read_ranking
from harness.search.msearch import Entry

BUSY = frozenset({429, 502, 503})
"""Statuses of a whole answer, or of an item in one, after which a retry may succeed."""

BAD_REQUEST = 400
"""The status of a search that the engine refuses, and of a document that it cannot index."""

COMPLETE = frozenset({200, 201, 203})
"""Statuses of a complete answer: 202 is pending, 206 is partial."""

TOO_SLOW = frozenset({408, 504})
"""A proxy in front of the engine timed out."""

FAULTS_OF_ALL = frozenset({401, 403, 404, 405, 406, 410, 415})
"""Statuses that a single search of a batch cannot cause."""

LOGIN_REFUSALS = frozenset({401, 403})
"""Statuses of a refused login, unless the error is one of `BLOCKED`."""

BLOCKED = ("cluster_block_exception", "index_closed_exception")
"""The errors of an index or cluster that does not serve, whatever the login."""

NO_TEMPLATES = b"no handler found"

NO_ESQL = b"for uri [/_query]"
"""Elasticsearch without its module x-pack-esql takes the path for the name of an index, for which it has no POST."""

NO_TEMPLATE = b"no requests added"
"""OpenSearch's message if it could render none of the templates of a request."""

NO_REASON = "the engine gave no reason"

TIME_SPENT = Failure(FailureKind.NOT_RUN, "the time budget of the run is used up")


@dataclass(frozen=True, slots=True)
class RetriableResponse:
    """The response to one search, and whether it may be sent again."""

    response: Response
    may_retry: bool = False
    """Whether a retry may succeed."""
    server_pause: float | None = None
    """Seconds of a Retry-After header."""

    @property
    def cause(self) -> str:
        """Why the search is sent again."""
        status = self.response.status if isinstance(self.response, Failure) else None
        return "connection closed" if status is None else f"status {status}"

    def with_attempts(self, attempts: int) -> Response:
        """The response; the reason of a failure after several *attempts* gives their number."""
        if attempts == 1 or not self.may_retry or not isinstance(self.response, Failure):
            return self.response
        return replace(self.response, reason=f"{self.response.reason} ({attempts} attempts)")


def may_be_fault_of_one(answer: Answer) -> bool:
    """Whether parts of the batch may succeed although the whole failed: one invalid body makes all of them fail."""
    if answer.status < 400 or answer.status in BUSY | FAULTS_OF_ALL:
        return False
    return not any(words in answer.body for words in (NO_TEMPLATES, NO_TEMPLATE))


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The most that is read of an answer."""

    most_bytes: int
    """After decompression."""
    most_values: int
    """See `MOST_VALUES`."""


LARGEST_BATCH_ANSWER = 64 * 2**20
"""Bytes of the answer to several searches, or to one of few hits: the batch is divided if its answer has more."""

BYTES_OF_HIT = 256 * 2**10
"""Bytes for each hit of a single search that asks for many; at most `LARGEST_ANSWER` in all."""

MOST_VALUES = 4_000_000
"""
Values of an answer, counted as the commas, brackets and braces of its text. Two bytes of text such as `[]` become a
list of sixty bytes, so that the bytes alone do not limit the memory that an answer takes.
"""

VALUES_OF_HIT = 2_000
"""Values for each hit of a single search that asks for many; a document may have a vector of a thousand numbers."""


def find_answer_limits(entries: Sequence[Entry]) -> AnswerLimits:
    """The limits of the answer to *entries*, from the number of hits that they ask for."""
    hits = 0
    if len(entries) == 1:
        # A batch is divided when its answer is too large, so only a single search needs a higher limit.
        hits = entries[0].size or 0
    most_bytes = min(LARGEST_ANSWER, max(LARGEST_BATCH_ANSWER, hits * BYTES_OF_HIT))
    return AnswerLimits(most_bytes, max(MOST_VALUES, hits * VALUES_OF_HIT))


def check_values(answer: Answer, most_values: int = MOST_VALUES) -> None:
    """Raise AnswerTooLarge if the JSON of *answer* may have more than *most_values* values."""
    if len(answer.body) <= most_values:
        return  # each value has a byte or more
    if sum(map(answer.body.count, (b",", b"[", b"{"))) > most_values:
        raise AnswerTooLarge(f"the answer has more than {most_values:,} values")


def wrap_single_answer(answer: Answer) -> Answer:
    """The *answer* to a `_search` in the form of that to an `_msearch` with this search alone."""
    if answer.status not in COMPLETE:
        return answer
    return replace(answer, body=b'{"responses": [%b]}' % answer.body)


def read_answer(answer: Answer, entries: Sequence[Entry]) -> list[RetriableResponse]:
    """The response to each of *entries*, in their order; an error of the whole answer is an error of each."""
    server_pause = read_retry_after(answer.headers)
    if answer.status not in COMPLETE:
        failed = RetriableResponse(read_failure(answer), answer.status in BUSY, server_pause)
        return [failed] * len(entries)
    content = read_json(answer, find_answer_limits(entries).most_values)
    if isinstance(content, Mapping) and content.get("error") is not None:
        # An engine may answer with status 200 and one error for all searches.
        items: list[Json] | Failure = [content] * len(entries)
    else:
        items = _find_items(content, answer, len(entries))
    if isinstance(items, Failure):
        return [RetriableResponse(items)] * len(entries)
    responses = []
    for item, entry in zip(items, entries, strict=True):
        response = read_item(item, entry)
        responses.append(RetriableResponse(response, may_succeed_again(response, item), server_pause))
    return responses


def _find_items(content: Json | Failure, answer: Answer, expected: int) -> list[Json] | Failure:
    """The results of the *expected* searches in *content*, that of *answer*; or why they are not there."""
    if isinstance(content, Failure):
        return content
    items = content.get("responses") if isinstance(content, Mapping) else None
    if not isinstance(items, list):
        return _make_malformed(f"the answer should have a list `responses`, found {describe_kind(items)}", answer)
    if len(items) != expected:
        return _make_malformed(f"{expected} searches were sent, and there are {len(items)} responses", answer)
    return items


def read_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """
    Seconds of a Retry-After header, None if there is no valid one.

    The header has seconds or a date (RFC 9110, section 10.2.3); for a past date there is no wait.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def read_json(answer: Answer, most_values: int = MOST_VALUES) -> Json | Failure:
    """What the body of *answer* holds; a Failure where it is no JSON, or has more than *most_values* values."""
    try:
        check_values(answer, most_values)
    except AnswerTooLarge as error:
        return _make_malformed(str(error), answer)
    try:
        try:
            return json.loads(answer.body)
        except ValueError:
            # Python refuses a number of more than 4,300 digits: it is an error only of the value that it is.
            return json.loads(answer.body, parse_int=_parse_whole_number)
    except (ValueError, RecursionError) as error:
        text = make_excerpt(answer.body[:400].decode("utf-8", "replace"), 120)
        found = f'found "{text}"' if text else "it is empty"
        return _make_malformed(f"the answer is not JSON ({error}): {found}", answer)


def _parse_whole_number(digits: str) -> float:
    try:
        return int(digits)
    except ValueError:
        return math.inf


def read_failure(answer: Answer) -> Failure:
    """The failure of *answer*, whose status is no success, with the engine's reason if there is one."""
    if answer.status < 400:
        place = answer.headers.get("location")
        if not place:
            return _make_malformed("the server did not return a complete answer", answer)
        sentence = f"the server redirects to {make_excerpt(place, 200)}; no redirect is followed: correct the URL"
        return _make_malformed(sentence, answer)
    kind = FailureKind.TIMEOUT if answer.status in TOO_SLOW else FailureKind.ERROR
    return Failure(kind, _read_reason(answer), answer.status)


def describe_refusal(answer: Answer) -> str:
    """The reason of `read_failure` as a text that begins with the status."""
    return f"status {answer.status}: {read_failure(answer).reason}"


def list_error_kinds(answer: Answer) -> frozenset[str]:
    """The types of all errors in *answer*, as the engine names them."""
    content = read_json(answer)
    error = content.get("error") if isinstance(content, Mapping) else None
    return frozenset(str(cause.get("type")) for cause in walk_causes(error))


def _read_reason(answer: Answer) -> str:
    """The reason that the engine gives, or else the beginning of the answer."""
    content = read_json(answer)
    if isinstance(content, Mapping) and content.get("error"):
        reason = explain_error(content["error"])
        if NO_TEMPLATES in answer.body and b"template" in answer.body:
            reason += "; this server has no search templates (its module lang-mustache is missing)"
        elif NO_ESQL in answer.body:
            reason += (
                "; this server has no ES|QL: Elasticsearch has it from version 8.11 on, with its module x-pack-esql"
            )
        elif NO_TEMPLATE in answer.body:
            reason += "; the engine has no search template with that id, or cannot render it"
        return reason
    text = make_excerpt(answer.body[:2000].decode("utf-8", "replace"), 200)
    return text or "the server gave no reason"


def find_login_refusal(response: Response) -> Failure | None:
    """*response* if it is a refusal of the login."""
    if not isinstance(response, Failure) or response.status not in LOGIN_REFUSALS:
        return None
    return None if is_blocked(response) else response


def is_blocked(failure: Failure) -> bool:
    """Whether *failure* says that the index or the cluster does not serve; a reason begins with the type of error."""
    return failure.reason.startswith(BLOCKED)


def refuses_login(answer: Answer) -> bool:
    """Whether the whole *answer* is a refusal of the login."""
    return answer.status in LOGIN_REFUSALS and find_login_refusal(read_failure(answer)) is not None


WINDOW_SETTING = "index.max_result_window"
"""The setting of an index that limits how many hits a request may ask for; the engines name it in their refusal."""


def exceeds_window(response: Response) -> bool:
    """Whether an index refused the request because of the number of hits that it asks for."""
    return isinstance(response, Failure) and WINDOW_SETTING in response.reason


def add_window_hint(reason: str) -> str:
    """*reason*, why a search was refused whose size is not that of the suite, with who chose the size."""
    if WINDOW_SETTING not in reason:
        return reason
    return f"{reason.rstrip('.')}; the harness chose that number of hits, which this setting of the index limits"


def _make_malformed(sentence: str, answer: Answer) -> Failure:
    return Failure(FailureKind.MALFORMED, sentence, answer.status)


NO_SHARD = frozenset({"no_shard_available_action_exception", "unavailable_shards_exception"})
OUT_OF_TIME = frozenset({"search_timeout_exception", "timeout_exception", "receive_timeout_transport_exception"})


def read_item(item: Json, entry: Entry) -> Response:
    """
    The ranking in *item*, or why there is none.

    An item may be an error, timed out, or lack shards, even if the whole answer has status 200.

    Args:
        item: One element of an `_msearch`'s ``responses``, or a whole answer of `_search`.
        entry: The search that was sent.
    """
    if not isinstance(item, Mapping):
        return Failure(FailureKind.MALFORMED, f"an answer should be an object, found {describe_kind(item)}")
    try:
        if entry.esql is not None:
            return _find_failure_of_rows(item) or read_rows(item, entry.esql, entry)
        return _find_failure(item) or read_ranking(item, entry, stopped_early=_has_stopped_early(item, entry))
    except MalformedAnswer as error:
        return Failure(FailureKind.MALFORMED, str(error), _read_status(item))
    except RecursionError:
        return Failure(FailureKind.MALFORMED, "the nesting of the answer is too deep", _read_status(item))


def may_succeed_again(response: Response, item: Json) -> bool:
    """Whether a retry may succeed: the engine was busy, and the query was neither wrong nor slow."""
    if not isinstance(response, Failure) or response.kind in (FailureKind.TIMEOUT, FailureKind.MALFORMED):
        return False
    return _read_status(item) in BUSY


def _find_failure(item: Mapping[str, Any]) -> Failure | None:
    """Why *item* has no ranking of all shards; None if it has one."""
    status, error, timed_out = _read_status(item), item.get("error"), item.get("timed_out")
    if error is not None or (status is not None and status >= 400):
        return _read_error(error, status)
    # A status that is no number counts as none, so it is compared with what is there.
    if status != item.get("status") or status not in (None, 200):
        raise MalformedAnswer(f"`status` should be 200, or an error status, found {describe_value(item['status'])}")
    if not isinstance(timed_out, bool):
        raise MalformedAnswer(f"`timed_out` should be true or false, found {describe_value(timed_out)}")
    if timed_out:
        return Failure(FailureKind.TIMEOUT, "the search timed out and covered only a part of the index", status)
    missing = None
    if item.get("_clusters") is not None:
        missing = _find_missing_clusters(item["_clusters"], status)
    return missing or find_missing_shards(item, status)


def _find_failure_of_rows(item: Mapping[str, Any]) -> Failure | None:
    """Why an answer to ES|QL has not all rows; None if it has."""
    status, error = _read_status(item), item.get("error")
    if error is not None or (status is not None and status >= 400):
        return _read_error(error, status)
    missing = None
    # It is there if a shard or a cluster failed, even in an answer of this cluster alone.
    if item.get("_clusters") is not None:
        missing = _find_missing_clusters(item["_clusters"], status)
    # Versions up to 8.17 do not say it.
    for name in ("is_partial", "is_running"):
        value = item.get(name, False)
        if not isinstance(value, bool):
            raise MalformedAnswer(f"`{name}` should be true or false, found {describe_value(value)}")
        if value and missing is None:
            missing = Failure(FailureKind.PARTIAL, f"the answer is partial: `{name}` is true", status)
    return missing


def _has_stopped_early(item: Mapping[str, Any], entry: Entry) -> bool:
    """Whether the engine stopped at `terminate_after` documents of a shard."""
    stopped = item.get("terminated_early")
    if stopped is not None and not isinstance(stopped, bool):
        raise MalformedAnswer(f"`terminated_early` should be true or false, found {describe_value(stopped)}")
    if stopped and not entry.may_stop_early:
        raise MalformedAnswer("`terminated_early` is true, and the request sets no `terminate_after`")
    return bool(stopped)


def _read_error(error: Json, status: int | None) -> Failure:
    """The failure that *error*, the member of an answer with *status*, is: a timeout, lacking shards, or any other."""
    kinds: set[str] = set()
    is_timeout = False
    for cause in walk_causes(error):
        kinds.add(str(cause.get("type")))
        # Elasticsearch has a member for it, OpenSearch a sentence; both may use the status of another error.
        if cause.get("timed_out") is True or cause.get("reason") == "Time exceeded":
            is_timeout = True
    reason = explain_error(error)
    if is_timeout or not kinds.isdisjoint(OUT_OF_TIME):
        return Failure(FailureKind.TIMEOUT, reason, status)
    if not kinds.isdisjoint(NO_SHARD) or _lacks_shards(error):
        return Failure(FailureKind.SHARDS, f"{_list_failed_shards(error)}{reason}", status)
    return Failure(FailureKind.ERROR, reason, status)


def _lacks_shards(error: Json) -> bool:
    """Whether *error* is that of a search of which some shards failed, or have no copy."""
    if not isinstance(error, Mapping):
        return False
    if error.get("reason") == "Partial shards failure":
        return True
    # Where all copies of a shard are missing, the engine returns neither a root cause nor a failed shard.
    has_cause = error.get("root_cause") or error.get("failed_shards")
    return error.get("type") == "search_phase_execution_exception" and not has_cause


def _list_failed_shards(error: Json) -> str:
    """The beginning of a sentence that names the failed shards in *error*, such as "shard products[2] failed: "."""
    if not isinstance(error, Mapping) or not isinstance(error.get("failed_shards"), list):
        return ""
    names = []
    for shard in error["failed_shards"]:
        if isinstance(shard, Mapping):
            index, number = shard.get("index", "index"), shard.get("shard", "?")
            names.append(f"{index}[{number}]")
    if not names:
        return ""
    return f"shard {', '.join(names)} failed: "


def find_missing_shards(item: Mapping[str, Any], status: int | None) -> Failure | None:
    """
    Shards that failed or were not searched. Skipped shards have no match and count as successful.

    An engine answers a pattern that matches no index with no hits from no shards, which is not a result of zero hits.

    Raises:
        MalformedAnswer: *item* does not give the number of shards and their results.
    """
    shards = item.get("_shards")
    if not isinstance(shards, Mapping):
        raise MalformedAnswer(f"`_shards` should be an object, found {describe_kind(shards)}")
    total, successful, failed = (read_count(shards, name) for name in ("total", "successful", "failed"))
    read_count(shards, "skipped", 0)
    failures = shards.get("failures")
    if not total and not failed:
        return Failure(FailureKind.ERROR, "nothing was searched: no index matches the target's pattern", status)
    if successful + failed > total:
        raise MalformedAnswer(f"`_shards` counts {successful} successful and {failed} failed of {total}")
    if successful == total and failures in (None, []):
        return None
    because = _read_first_reason(failures)
    if successful == total:
        return Failure(FailureKind.SHARDS, f"`_shards` lists failures but counts none{because}", status)
    return Failure(FailureKind.SHARDS, f"{total - successful} of {total} shards did not answer{because}", status)


def _find_missing_clusters(clusters: Any, status: int | None) -> Failure | None:
    """A search across clusters has status 200 even if an optional remote cluster is missing or incomplete."""
    if not isinstance(clusters, Mapping):
        raise MalformedAnswer(f"`_clusters` should be an object, found {describe_kind(clusters)}")
    total, successful = read_count(clusters, "total"), read_count(clusters, "successful")
    counted = sum(read_count(clusters, name, 0) for name in ("skipped", "partial", "failed", "running"))
    if successful > total:
        raise MalformedAnswer(f"`_clusters` counts {successful} successful of {total}")
    details = clusters.get("details", {})
    if not isinstance(details, Mapping):
        raise MalformedAnswer(f"`_clusters.details` should be an object, found {describe_kind(details)}")
    incomplete = 0
    because = ""
    for name, cluster in details.items():
        is_cluster = isinstance(cluster, Mapping)
        if is_cluster and cluster.get("status") == "successful":
            continue
        incomplete += 1
        reason = _read_first_reason(cluster.get("failures") if is_cluster else None)
        if reason and not because:
            because = f": {name}{reason}"
    # The counts and the details of an engine may differ: the larger number is the safe one.
    lacking = max(total - successful, counted, incomplete)
    if not lacking:
        return None
    return Failure(FailureKind.SHARDS, f"{lacking} of {total} clusters did not answer in full{because}", status)


def _read_first_reason(failures: Json) -> str:
    """The reason of the first of *failures* behind a colon; empty if there is none."""
    if not isinstance(failures, list) or not failures:
        return ""
    first = failures[0]
    if not isinstance(first, Mapping) or not first.get("reason"):
        return ""
    return f": {explain_error(first['reason'])}"


def _read_status(item: Json) -> int | None:
    status = item.get("status") if isinstance(item, Mapping) else None
    return status if type(status) is int else None


_DEEPEST = 12
"""Causes that are followed down; an engine's own chains have three or four."""

HINTS: Mapping[str, str] = {
    "index_closed_exception": "the index is closed: open it with `POST /<index>/_open`",
    "index_not_found_exception": "the index in the target's `index:` does not exist",
    "circuit_breaking_exception": "the node has too little memory for it",
    "es_rejected_execution_exception": "its search queue is full",
    "rejected_execution_exception": "its search queue is full",
}

DISK_FULL = "a disk of the cluster is or was full: free space, then set `{}.blocks.read_only_allow_delete` to null"
BLOCKS: Mapping[str, str] = {
    "SERVICE_UNAVAILABLE/": "the cluster is not ready: wait until it has a master and has recovered its state",
    "/4/": HINTS["index_closed_exception"],
    "/12/": DISK_FULL.format("index"),
    "/13/": DISK_FULL.format("cluster"),
    "/": "remove this block: set its `index.blocks.*`, or `cluster.blocks.*`, to null",
}
"""Remedies by what the reason of a `cluster_block_exception` contains, such as "FORBIDDEN/7/index read (api)"."""


def explain_error(error: Json) -> str:
    """
    Type and reason of the root cause, its place in the body, and the cause below it if that has more information.

    *error* is the ``error`` member of an answer: an object, or a plain text.

    >>> explain_error({"type": "parsing_exception", "reason": "unknown query [mtch]", "line": 1, "col": 18})
    'parsing_exception: unknown query [mtch], at line 1, column 18 of the request'
    """
    if not isinstance(error, Mapping):
        return (make_excerpt(str(error)) if error else "") or NO_REASON
    root = _find_root_cause(error)
    parts = [_describe_cause(root)]
    line, column = root.get("line"), root.get("col")
    deeper = _find_deepest_reason(error)
    if isinstance(line, int) and isinstance(column, int) and line > 0:
        parts.append(f"at line {line}, column {column} of the request")
    elif deeper and deeper not in parts[0]:
        parts.append(f"because of {deeper}")
    hint = _find_hint(root)
    if hint is not None:
        parts.append(hint)
    return make_excerpt(", ".join(parts)) or NO_REASON


def _find_hint(cause: Mapping[str, Any]) -> str | None:
    """What to do about an error of this kind; None where nothing is known."""
    kind = str(cause.get("type"))
    if kind != "cluster_block_exception":
        return HINTS.get(kind)
    for block, remedy in BLOCKS.items():
        if block in str(cause.get("reason")):
            return remedy
    return None


def walk_causes(error: Json, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """*error* and every error inside it: root causes, reasons of failed shards, and their causes."""
    if not isinstance(error, Mapping) or depth > _DEEPEST:
        return
    yield error
    for name in ("root_cause", "failed_shards", "failures"):
        causes = error.get(name)
        if isinstance(causes, list):
            for cause in causes:
                yield from walk_causes(cause, depth + 1)
    for name in ("caused_by", "reason"):
        yield from walk_causes(error.get(name), depth + 1)


def _find_root_cause(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first root cause that *error* names; *error* itself if it names none."""
    causes = error.get("root_cause")
    if isinstance(causes, list) and causes and isinstance(causes[0], Mapping):
        return causes[0]
    return error


def _describe_cause(error: Mapping[str, Any]) -> str:
    """The type and the reason of *error*, as far as it has them."""
    kind, reason = error.get("type"), error.get("reason")
    if kind and isinstance(reason, str) and reason:
        return f"{kind}: {reason.rstrip(';')}"
    return str(kind or reason or NO_REASON)


def _find_deepest_reason(error: Mapping[str, Any]) -> str | None:
    """The last cause of the chain, often the most useful one, such as a script's exception."""
    cause: Json = error
    shards = error.get("failed_shards")
    if isinstance(shards, list) and shards and isinstance(shards[0], Mapping):
        cause = shards[0].get("reason") or error
    depth = 0
    while isinstance(cause, Mapping) and isinstance(cause.get("caused_by"), Mapping) and depth < _DEEPEST:
        cause = cause["caused_by"]
        depth += 1
    if depth == 0 or not isinstance(cause, Mapping):
        return None
    reason = cause.get("reason")
    return reason if isinstance(reason, str) else None
