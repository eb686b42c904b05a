"""The answer to an `_msearch` -> a response for each of its searches, and what went wrong as a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from harness.model import Failure, FailureKind, Json, Response
from harness.search.connection import Answer
from harness.search.hits import MalformedAnswer, count_of, excerpt, kind_of, read_ranking, shown
from harness.search.msearch import Entry

BUSY = frozenset({429, 502, 503})
"""Statuses of a whole answer, or of an item in one, after which a retry may succeed."""

BAD_REQUEST = 400
"""The status of a search that the engine refuses, and of a document that it cannot index."""

WHOLE = frozenset({200, 201, 203})
"""Statuses of a complete answer: 202 is pending, 206 is partial."""

TOO_SLOW = frozenset({408, 504})
"""A proxy in front of the engine timed out."""

OF_ALL = frozenset({401, 403, 404, 405, 406, 410, 415})
"""Statuses that a single search of a batch cannot cause."""

REFUSED = frozenset({401, 403})
"""Statuses of a refused login, unless the error is one of `BLOCKED`."""

BLOCKED = ("cluster_block_exception", "index_closed_exception")
"""The errors of an index or cluster that does not serve, whatever the login."""

NO_TEMPLATES = b"no handler found"

NO_TEMPLATE = b"no requests added"
"""OpenSearch's message if it could render none of the templates of a request."""

NO_REASON = "the engine gave no reason"

TIME_SPENT = Failure(FailureKind.NOT_RUN, "the time budget of the run is used up")


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of one search: *again* if a retry may succeed, *after* the seconds of a Retry-After header."""

    response: Response
    again: bool = False
    after: float | None = None

    @property
    def cause(self) -> str:
        """Why it is sent again."""
        status = self.response.status if isinstance(self.response, Failure) else None
        return "connection closed" if status is None else f"status {status}"

    def noted(self, attempt: int) -> Response:
        """The response; the reason of a failure after several attempts gives their number."""
        if attempt == 1 or not self.again or not isinstance(self.response, Failure):
            return self.response
        return replace(self.response, reason=f"{self.response.reason} ({attempt} attempts)")


def may_be_one_at_fault(answer: Answer) -> bool:
    """Whether parts of the batch may succeed although the whole failed: one invalid body makes all of them fail."""
    if answer.status < 400 or answer.status in BUSY | OF_ALL:
        return False
    return not any(words in answer.body for words in (NO_TEMPLATES, NO_TEMPLATE))


def as_batch(answer: Answer) -> Answer:
    """The *answer* to a `_search` in the form of that to an `_msearch` with this search alone."""
    if answer.status not in WHOLE:
        return answer
    return replace(answer, body=b'{"responses": [%b]}' % answer.body)


def read_answer(answer: Answer, entries: Sequence[Entry]) -> list[Reply]:
    """A reply for each of *entries*, in their order; an error of the whole answer is an error of each."""
    after = retry_after(answer.headers)
    if answer.status not in WHOLE:
        return [Reply(failure_of(answer), answer.status in BUSY, after)] * len(entries)
    content = json_of(answer)
    if isinstance(content, Mapping) and content.get("error") is not None:
        return [_reply(content, entry, after) for entry in entries]
    items = _items(content, answer, len(entries))
    if isinstance(items, Failure):
        return [Reply(items)] * len(entries)
    return [_reply(item, entry, after) for item, entry in zip(items, entries, strict=True)]


def _reply(item: Json, entry: Entry, after: float | None) -> Reply:
    response = read_item(item, entry)
    return Reply(response, retriable(response, item), after)


def _items(content: Json | Failure, answer: Answer, expected: int) -> list[Json] | Failure:
    if isinstance(content, Failure):
        return content
    items = content.get("responses") if isinstance(content, Mapping) else None
    if not isinstance(items, list):
        return _malformed(f"the answer should have a list `responses`, found {kind_of(items)}", answer)
    if len(items) != expected:
        return _malformed(f"{expected} searches were sent, and there are {len(items)} responses", answer)
    return items


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
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


def json_of(answer: Answer) -> Json | Failure:
    """What the body of *answer* holds; a Failure where it is no JSON."""
    try:
        return _loads(answer.body)
    except (ValueError, RecursionError) as error:
        text = excerpt(answer.body[:400].decode("utf-8", "replace"), 120)
        found = f'found "{text}"' if text else "it is empty"
        return _malformed(f"the answer is not JSON ({error}): {found}", answer)


def _loads(body: bytes) -> Json:
    """The JSON in *body*; each number is parsed separately only if Python refuses to read one."""
    try:
        return json.loads(body)
    except ValueError:
        return json.loads(body, parse_int=_whole_number)


def _whole_number(digits: str) -> float:
    """Python reads at most 4,300 digits; a longer number is an error only of the value that it is."""
    try:
        return int(digits)
    except ValueError:
        return math.inf


def failure_of(answer: Answer) -> Failure:
    """The failure of *answer*, whose status is no success, with the engine's reason if there is one."""
    if answer.status < 400:
        place = answer.headers.get("location")
        redirect = (
            f"the server redirects to {excerpt(place, 200)}; no redirect is followed: correct the URL" if place else ""
        )
        return _malformed(redirect or "the server did not return a complete answer", answer)
    kind = FailureKind.TIMEOUT if answer.status in TOO_SLOW else FailureKind.ERROR
    return Failure(kind, _words(answer), answer.status)


def refusal_text(answer: Answer) -> str:
    """The reason of `failure_of` as a text that begins with the status."""
    return f"status {answer.status}: {failure_of(answer).reason}"


def error_kinds(answer: Answer) -> frozenset[str]:
    """The types of all errors in *answer*, as the engine names them."""
    content = json_of(answer)
    error = content.get("error") if isinstance(content, Mapping) else None
    return frozenset(str(cause.get("type")) for cause in walk_causes(error))


def _words(answer: Answer) -> str:
    content = json_of(answer)
    if isinstance(content, Mapping) and content.get("error"):
        reason = reason_of(content["error"])
        return reason + _template_hint(answer.body)
    text = excerpt(answer.body[:2000].decode("utf-8", "replace"), 200)
    return text or "the server gave no reason"


def refusal_of(response: Response) -> Failure | None:
    """*response* if it is a refusal of the login."""
    if not isinstance(response, Failure) or response.status not in REFUSED:
        return None
    return None if is_blocked(response) else response


def is_blocked(failure: Failure) -> bool:
    """Whether *failure* says that the index or the cluster does not serve; a reason begins with the type of error."""
    return failure.reason.startswith(BLOCKED)


def refuses_login(answer: Answer) -> bool:
    """Whether the whole *answer* is a refusal of the login."""
    return answer.status in REFUSED and refusal_of(failure_of(answer)) is not None


WINDOW = "index.max_result_window"
"""The setting of an index that limits how many hits a request may ask for; the engines name it in their refusal."""


def exceeds_window(response: Response) -> bool:
    """Whether an index refused the request because of the number of hits that it asks for."""
    return isinstance(response, Failure) and WINDOW in response.reason


def with_window_hint(reason: str) -> str:
    """*reason*, why a search was refused whose size is not that of the suite, with who chose the size."""
    if WINDOW not in reason:
        return reason
    return f"{reason.rstrip('.')}; the harness chose that number of hits, which this setting of the index limits"


def _template_hint(body: bytes) -> str:
    if NO_TEMPLATES in body and b"template" in body:
        return "; this server has no search templates (its module lang-mustache is missing)"
    if NO_TEMPLATE in body:
        return "; the engine has no search template with that id, or cannot render it"
    return ""


def _malformed(sentence: str, answer: Answer) -> Failure:
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
        return Failure(FailureKind.MALFORMED, f"an answer should be an object, found {kind_of(item)}")
    try:
        return _failure(item) or read_ranking(item, entry, stopped_early=_stopped_early(item, entry))
    except MalformedAnswer as error:
        return Failure(FailureKind.MALFORMED, str(error), _status(item))


def retriable(response: Response, item: Json) -> bool:
    """Whether a retry may succeed: the engine was busy, and the query was neither wrong nor slow."""
    if not isinstance(response, Failure) or response.kind in (FailureKind.TIMEOUT, FailureKind.MALFORMED):
        return False
    return _status(item) in BUSY


def _failure(item: Mapping[str, Any]) -> Failure | None:
    status, error, timed_out = _status(item), item.get("error"), item.get("timed_out")
    if error is not None or (status is not None and status >= 400):
        return _error(error, status)
    if status != item.get("status") or status not in (None, 200):
        raise MalformedAnswer(f"`status` should be 200, or an error status, found {shown(item['status'])}")
    if not isinstance(timed_out, bool):
        raise MalformedAnswer(f"`timed_out` should be true or false, found {shown(timed_out)}")
    if timed_out:
        return Failure(FailureKind.TIMEOUT, "the search timed out and covered only a part of the index", status)
    return _lacking_clusters(item, status) or lacking_shards(item, status)


def _stopped_early(item: Mapping[str, Any], entry: Entry) -> bool:
    """Whether the engine stopped at `terminate_after` documents of a shard."""
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
    """Elasticsearch has a member for it, OpenSearch a sentence; both may use the status of another error."""
    return cause.get("timed_out") is True or cause.get("reason") == "Time exceeded"


def _no_shard_left(error: Json) -> bool:
    """All copies of a shard are missing: the engine then returns neither a root cause nor a failed shard."""
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
    Shards that failed or were not searched. Skipped shards have no match and count as successful.

    An engine answers a pattern that matches no index with no hits from no shards, which is not a result of zero hits.

    Raises:
        MalformedAnswer: *item* does not give the number of shards and their results.
    """
    shards = item.get("_shards")
    if not isinstance(shards, Mapping):
        raise MalformedAnswer(f"`_shards` should be an object, found {kind_of(shards)}")
    total, successful, failed = (count_of(shards, name) for name in ("total", "successful", "failed"))
    count_of(shards, "skipped", 0)
    failures = shards.get("failures")
    if not total and not failed:
        return Failure(FailureKind.ERROR, "nothing was searched: no index matches the target's pattern", status)
    if successful + failed > total:
        raise MalformedAnswer(f"`_shards` counts {successful} successful and {failed} failed of {total}")
    if successful == total and failures in (None, []):
        return None
    because = _first_reason(failures)
    if successful == total:
        return Failure(FailureKind.SHARDS, f"`_shards` lists failures but counts none{because}", status)
    return Failure(FailureKind.SHARDS, f"{total - successful} of {total} shards did not answer{because}", status)


def _lacking_clusters(item: Mapping[str, Any], status: int | None) -> Failure | None:
    """A search across clusters has status 200 even if an optional remote cluster is missing or incomplete."""
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
    broken = {name: each for name, each in details.items() if not _is_whole(each)}
    lacking = max(total - successful, counted, len(broken))
    if not lacking:
        return None
    reasons = (f": {name}{why}" for name, each in broken.items() if (why := _first_reason(_failures(each))))
    return Failure(
        FailureKind.SHARDS, f"{lacking} of {total} clusters did not answer in full{next(reasons, '')}", status
    )


def _first_reason(failures: Json) -> str:
    """The reason of the first of *failures* behind a colon; empty if there is none."""
    first = next(iter(failures), None) if isinstance(failures, list) else None
    return f": {reason_of(first['reason'])}" if isinstance(first, Mapping) and first.get("reason") else ""


def _failures(cluster: Json) -> Json:
    return cluster.get("failures") if isinstance(cluster, Mapping) else None


def _is_whole(cluster: Json) -> bool:
    return isinstance(cluster, Mapping) and cluster.get("status") == "successful"


def _status(item: Json) -> int | None:
    status = item.get("status") if isinstance(item, Mapping) else None
    return status if type(status) is int else None


DEEPEST = 12
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


def reason_of(error: Json) -> str:
    """
    Type and reason of the root cause, its place in the body, and the cause below it if that has more information.

    *error* is the ``error`` member of an answer: an object, or a plain text.

    >>> reason_of({"type": "parsing_exception", "reason": "unknown query [mtch]", "line": 1, "col": 18})
    'parsing_exception: unknown query [mtch], at line 1, column 18 of the request'
    """
    if not isinstance(error, Mapping):
        return (excerpt(str(error)) if error else "") or NO_REASON
    root = _root(error)
    parts = [_sentence(root)]
    line, column = root.get("line"), root.get("col")
    deeper = _deepest_reason(error)
    if isinstance(line, int) and isinstance(column, int) and line > 0:
        parts.append(f"at line {line}, column {column} of the request")
    elif deeper and deeper not in parts[0]:
        parts.append(f"because of {deeper}")
    hint = _hint(root)
    if hint:
        parts.append(hint)
    return excerpt(", ".join(parts)) or NO_REASON


def _hint(root: Mapping[str, Any]) -> str | None:
    kind = str(root.get("type"))
    if kind != "cluster_block_exception":
        return HINTS.get(kind)
    return next((remedy for part, remedy in BLOCKS.items() if part in str(root.get("reason"))), None)


def walk_causes(error: Json, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """*error* and every error inside it: root causes, reasons of failed shards, and their causes."""
    if not isinstance(error, Mapping) or depth > DEEPEST:
        return
    yield error
    for name in ("root_cause", "failed_shards", "failures"):
        inner = error.get(name)
        for one in inner if isinstance(inner, list) else ():
            yield from walk_causes(one, depth + 1)
    for name in ("caused_by", "reason"):
        yield from walk_causes(error.get(name), depth + 1)


def _root(error: Mapping[str, Any]) -> Mapping[str, Any]:
    causes = error.get("root_cause")
    if isinstance(causes, list) and causes and isinstance(causes[0], Mapping):
        return causes[0]
    return error


def _sentence(error: Mapping[str, Any]) -> str:
    kind, reason = error.get("type"), error.get("reason")
    if kind and isinstance(reason, str) and reason:
        return f"{kind}: {reason.rstrip(';')}"
    return str(kind or reason or NO_REASON)


def _deepest_reason(error: Mapping[str, Any]) -> str | None:
    """The last cause of the chain, often the most useful one, such as a script's exception."""
    link: Json = _first_shard_reason(error) or error
    depth = 0
    while isinstance(link, Mapping) and isinstance(link.get("caused_by"), Mapping) and depth < DEEPEST:
        link, depth = link["caused_by"], depth + 1
    reason = link.get("reason") if isinstance(link, Mapping) else None
    return reason if depth and isinstance(reason, str) else None


def _first_shard_reason(error: Mapping[str, Any]) -> Json:
    shards = error.get("failed_shards")
    if isinstance(shards, list) and shards and isinstance(shards[0], Mapping):
        return shards[0].get("reason")
    return None
