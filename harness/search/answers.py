"""The answer to one `_msearch` to a reply for each of its searches."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.model import Failure, FailureKind, Json, Response
from harness.search.hits import excerpt, kind_of, reason_of
from harness.search.items import read_item, retriable
from harness.search.retries import retry_after
from harness.search.wire import Answer, Entry

__all__ = [
    "BUSY",
    "TIME_SPENT",
    "WHOLE",
    "Reply",
    "failure_of",
    "json_of",
    "may_be_one_at_fault",
    "read_answer",
    "refusal_of_all",
    "refusal_text",
]


BUSY = frozenset({429, 502, 503})
"""Statuses of a whole answer after which the same request may be answered."""

WHOLE = frozenset({200, 201, 203})
"""Statuses of an answer that is there in full: 202 comes later, 206 is a part."""

TOO_SLOW = frozenset({408, 504})
"""What stands between us and the engine gave up waiting for it."""

OF_ALL = frozenset({401, 403, 404, 405, 406, 410, 415})
"""Statuses that no single search of a batch can be the reason of."""

REFUSED = frozenset({401, 403})
NO_TEMPLATES = b"no handler found"
NO_TEMPLATE = b"no requests added"
"""What OpenSearch says where it could fill in none of the templates of a request."""

NO_SOURCE = "_source is disabled"
"""What engines say where an index does not keep what was indexed, and a part of that is asked for."""

TIME_SPENT = Failure(FailureKind.NOT_RUN, "the time given to this run is spent")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one search: *again* where another try is worth it, *after* how many seconds if the engine said."""

    response: Response
    again: bool = False
    after: float | None = None

    def noted(self, attempt: int) -> Response:
        """The response, which says how often it was asked for where that is more than once, and in vain."""
        if attempt == 1 or not self.again or not isinstance(self.response, Failure):
            return self.response
        return replace(self.response, reason=f"{self.response.reason} (asked {attempt} times)")


def may_be_one_at_fault(answer: Answer) -> bool:
    """Whether a part of the batch may be answered although the whole was not: one bad body refuses all of them."""
    if answer.status < 400 or answer.status in BUSY | OF_ALL:
        return False
    return not any(words in answer.body for words in (NO_TEMPLATES, NO_TEMPLATE))


def read_answer(answer: Answer, entries: Sequence[Entry]) -> list[Reply]:
    """A reply for each of *entries*, in their order; what is wrong with the whole answer is wrong with each."""
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
    if isinstance(response, Failure) and NO_SOURCE in response.reason and entry.title_field and not entry.snippet:
        remedy = f"so that no title can be read: leave out the suite's `title_field: {entry.title_field}`"
        response = replace(response, reason=f"{response.reason}, {remedy}")
    return Reply(response, retriable(response, item), after)


def _items(content: Json | Failure, answer: Answer, expected: int) -> list[Json] | Failure:
    if isinstance(content, Failure):
        return content
    items = content.get("responses") if isinstance(content, Mapping) else None
    if not isinstance(items, list):
        return _malformed(f"the answer should hold a list `responses`, found {kind_of(items)}", answer)
    if len(items) != expected:
        return _malformed(f"{expected} searches were sent, found {len(items)} responses", answer)
    return items


def json_of(answer: Answer) -> Json | Failure:
    """What the body of *answer* holds; a Failure where it is no JSON."""
    try:
        return _loads(answer.body)
    except (ValueError, RecursionError) as error:
        text = excerpt(answer.body[:400].decode("utf-8", "replace"), 120)
        found = f'found "{text}"' if text else "it is empty"
        return _malformed(f"the answer is not JSON ({error}): {found}", answer)


def _loads(body: bytes) -> Json:
    """The JSON in *body*; only where Python refuses to read a number, each number is read by itself."""
    try:
        return json.loads(body)
    except ValueError:
        return json.loads(body, parse_int=_whole_number)


def _whole_number(digits: str) -> float:
    """Python reads no more than 4,300 digits; a number of more is wrong where it stands, and nowhere else."""
    try:
        return int(digits)
    except ValueError:
        return math.inf


def failure_of(answer: Answer) -> Failure:
    """Why *answer*, whose status is no success, is none, in the engine's words where it has any."""
    if answer.status < 400:
        return _malformed("the server gives something else than a whole answer", answer)
    kind = FailureKind.TIMEOUT if answer.status in TOO_SLOW else FailureKind.ERROR
    return Failure(kind, _words(answer), answer.status)


def refusal_text(answer: Answer) -> str:
    """The same as a text that begins with the status, where no failure carries it."""
    return f"status {answer.status}: {failure_of(answer).reason}"


def _words(answer: Answer) -> str:
    content = json_of(answer)
    if isinstance(content, Mapping) and content.get("error"):
        reason = reason_of(content["error"])
        return reason + _template_hint(answer.body)
    text = excerpt(answer.body[:2000].decode("utf-8", "replace"), 200)
    return text or "the server gives no reason"


def refusal_of_all(responses: Sequence[Response]) -> Failure | None:
    """The first refusal of the login, where each of *responses* is one."""
    refusals = [one for one in responses if isinstance(one, Failure) and one.status in REFUSED]
    return refusals[0] if refusals and len(refusals) == len(responses) else None


def _template_hint(body: bytes) -> str:
    if NO_TEMPLATES in body and b"template" in body:
        return "; this server has no search templates (its module lang-mustache is missing)"
    if NO_TEMPLATE in body:
        return "; the engine has no search template of that id, or cannot fill it in"
    return ""


def _malformed(sentence: str, answer: Answer) -> Failure:
    return Failure(FailureKind.MALFORMED, sentence, answer.status)
