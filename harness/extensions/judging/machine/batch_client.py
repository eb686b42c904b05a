"""Sends, finds and fetches batches by the files and batches of OpenAI's API; one call each, and nothing is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

from harness.extensions.judging.machine.client import Busy, ChatClient, ErrorAnswer, Refused, read_all
from harness.files.json import parse_json
from harness.words import shorten

ENDPOINT = "/v1/chat/completions"
"""Where the server sends the questions of a batch; it is named so whatever the address of the server is."""

WINDOW = "24h"
"""The time that a batch may take; providers have no other."""

METADATA = "relevance_harness"
"""Under which a batch has its key."""

DAY = 86_400
"""Seconds; the clock of a server is not further from that of this machine."""

_LONGEST_TRANSFER = 3600.0
"""Seconds of one call, which may send or fetch a large file; each piece of it has the limit of the judge."""

_LARGEST_DOWNLOAD = 2**29
"""Bytes of a file of answers: ten times as many as fifty thousand answers with long reasons have."""

_PAGE = 100
"""Batches, or files, that are listed with one call; servers list no more."""

_MOST_PAGES = 100

NO_BATCHES = frozenset({404, 405, 501})
"""Statuses of a server that has no batches."""

_ENDED = frozenset({"completed", "expired", "failed", "cancelled"})

Failed: TypeAlias = Busy | Refused

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """What the server says of a batch."""

    id: str
    status: str
    created: int
    """In seconds since 1970, by the clock of the server."""
    input_file: str
    key: str
    """That of `METADATA`; empty where the server keeps none."""
    output_file: str
    """With answers; empty while there are none."""
    error_file: str
    """With questions that got no answer; empty if there are none."""
    done: int
    """The number of questions that were answered, or failed."""
    problems: tuple[str, ...]
    """Why it failed."""

    @property
    def has_ended(self) -> bool:
        """Whether no more answers come; a status that nobody knows is one of a batch that goes on."""
        return self.status in _ENDED

    @classmethod
    def read(cls, content: Any) -> Self:
        """What *content* says, an object of the API; TypeError, KeyError or the like for what is none."""
        counts = content.get("request_counts") or {}
        errors = (content.get("errors") or {}).get("data") or []
        return cls(
            id=_read_id(content),
            status=str(content["status"]),
            created=int(content.get("created_at") or 0),
            input_file=str(content.get("input_file_id") or ""),
            key=str((content.get("metadata") or {}).get(METADATA) or ""),
            output_file=str(content.get("output_file_id") or ""),
            error_file=str(content.get("error_file_id") or ""),
            done=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            problems=tuple(shorten(str(error.get("message")), 300) for error in errors),
        )


class BatchClient:
    """Sends batches through the connection of *chat*."""

    def __init__(self, chat: ChatClient) -> None:
        """
        Args:
            chat: The connection, with the login and the limits of the judge.
        """
        self.chat = chat

    def upload(self, name: str, content: bytes) -> str | Failed:
        """Send the file *name* with questions; returns its id there."""
        return self._ask(
            lambda client: client.files.with_streaming_response.create(file=(name, content), purpose="batch"), _read_id
        )

    def delete_file(self, file: str) -> str | Failed:
        """Remove the *file* with that id; returns the id."""
        return self._ask(lambda client: client.files.with_streaming_response.delete(file), _read_id)

    def create(self, file: str, key: str) -> RemoteBatch | Failed:
        """Let the questions of *file* be answered, for money. Where this is `Busy`, it may be so all the same."""
        return self._ask(
            lambda client: client.batches.with_streaming_response.create(
                input_file_id=file, endpoint=ENDPOINT, completion_window=WINDOW, metadata={METADATA: key}
            ),
            RemoteBatch.read,
        )

    def retrieve(self, batch: str) -> RemoteBatch | Failed:
        """What became of the *batch* with that id."""
        return self._ask(lambda client: client.batches.with_streaming_response.retrieve(batch), RemoteBatch.read)

    def download(self, file: str) -> str | Failed:
        """The text of the *file* with that id."""
        return self._fetch(lambda client: client.files.with_streaming_response.content(file), _LARGEST_DOWNLOAD)

    def find_batch(self, file: str, key: str, since: int) -> RemoteBatch | Failed | None:
        """The batch with *key*, or of the uploaded *file*, that was created after *since*; None if there is none."""

        def is_searched(entry: Any) -> bool:
            batch = RemoteBatch.read(entry)
            return key == batch.key or file == batch.input_file

        found = self._find(lambda client: client.batches, {}, is_searched, since)
        return RemoteBatch.read(found) if isinstance(found, Mapping) else found

    def find_file(self, name: str, since: int) -> str | Failed | None:
        """The id of the uploaded file *name*, of after *since*; None if there is none."""
        query = {"purpose": "batch", "order": "desc"}
        found = self._find(lambda client: client.files, query, lambda entry: entry["filename"] == name, since)
        return _read_id(found) if isinstance(found, Mapping) else found

    def _find(
        self, find_list: Callable[[Any], Any], query: Mapping[str, str], is_searched: Callable[[Any], bool], since: int
    ) -> Mapping[str, Any] | Failed | None:
        """The first entry of a list of the server that *is_searched*; newer ones come first."""
        sent: dict[str, Any] = {**query, "limit": _PAGE}
        for _ in range(_MOST_PAGES):
            page = self._ask(
                lambda client: find_list(client).with_streaming_response.list(extra_query=dict(sent)),
                lambda content: _Page.read(content, is_searched),
            )
            if not isinstance(page, _Page):
                return page
            if page.found is not None or not page.last or page.oldest < since - DAY:
                return page.found
            sent["after"] = page.last
        return Refused(f"the server lists more than {_PAGE * _MOST_PAGES:,}", is_fatal=False)

    def _ask(self, send: Callable[[Any], Any], read: Callable[[Any], T]) -> T | Failed:
        """What *read* makes of the JSON that answers the request of *send*."""
        text = self._fetch(send)
        if not isinstance(text, str):
            return text
        try:
            return read(parse_json(text))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            why = f"the server did not answer as one with batches: {shorten(text, 200)}"
            return Busy(why, may_cost=True)

    def _fetch(self, send: Callable[[Any], Any], most: int | None = None) -> str | Failed:
        """The text that answers the request of *send*, masked."""
        limits = {} if most is None else {"most": most}
        end = time.monotonic() + _LONGEST_TRANSFER

        def receive(client: Any) -> str:
            with send(client) as response:
                return read_all(response.iter_bytes(), end, **limits).decode(errors="replace")

        result = self.chat.exchange(receive)
        if isinstance(result, ErrorAnswer):
            error = self.chat.read_error(result)
            if isinstance(error, Busy) and result.status in NO_BATCHES:
                return Refused(error.why, is_fatal=True, status=result.status)
            return error
        return self.chat.masker.mask(result) if isinstance(result, str) else result


@dataclass(frozen=True, slots=True)
class _Page:
    """A part of a list: what was *found* in it, the id of its *last* entry if more follow, and when it was created."""

    found: Mapping[str, Any] | None
    last: str
    oldest: int

    @classmethod
    def read(cls, content: Any, is_searched: Callable[[Any], bool]) -> Self:
        entries = content["data"]
        found = next((entry for entry in entries if is_searched(entry)), None)
        has_more = bool(entries) and content.get("has_more") is True
        last = _read_id(entries[-1]) if has_more else ""
        return cls(found, last, int(entries[-1].get("created_at") or 0) if has_more else 0)


def _read_id(content: Any) -> str:
    """The id of *content*, an object of the API; TypeError, KeyError or ValueError for what has none."""
    if not isinstance(content["id"], str) or not content["id"]:
        raise ValueError
    return str(content["id"])
