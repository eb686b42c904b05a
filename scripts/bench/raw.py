"""
What scripts/bench/runner measures `relevance run` beside: a client that sends bodies and only parses the answers.

As a program it sends the `Bodies` that are pickled in a file: raw.py FILE BATCH CONCURRENCY, and prints the seconds.
"""

from __future__ import annotations

import http.client
import itertools
import json
import pickle
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


class Refused(Exception):
    """The server does not take requests of that form or size."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """
    Requests to *urls* by turns, each for some *parts*: one of *heads*, the parts with *joint* between them, *tail*. All
    parts are sent after each head. An answer has a member *answered*.
    """

    urls: Sequence[str]
    path: str
    mime: str
    answered: str
    parts: Sequence[bytes]
    heads: Sequence[bytes] = (b"",)
    joint: bytes = b""
    tail: bytes = b""

    def of(self, batch: int) -> list[bytes]:
        """The bodies for *batch* parts each."""
        cuts = [self.parts[start : start + batch] for start in range(0, len(self.parts), batch)]
        return [head + self.joint.join(cut) + self.tail for head in self.heads for cut in cuts]


def send(bodies: Bodies, batch: int, concurrency: int) -> float:
    """
    The seconds in which *bodies* are sent and the answers parsed, so many parts a request, so many requests at once.

    Raises:
        Refused: A request, or a part of one, was not answered.
    """
    written, turns, refusals = bodies.of(batch), itertools.count(), []

    def work() -> None:
        connections = [http.client.HTTPConnection(urlsplit(url).netloc) for url in bodies.urls]
        while (turn := next(turns)) < len(written) and not refusals:
            connection = connections[turn % len(connections)]
            try:
                connection.request("POST", bodies.path, written[turn], {"content-type": bodies.mime})
                content = json.loads(connection.getresponse().read())
            except (OSError, ValueError, http.client.HTTPException) as error:
                content = {"failures": repr(error)}
            failures = content.get("failures") or [one for one in content.get("responses", ()) if "error" in one]
            if failures or bodies.answered not in content:
                refusals.append(json.dumps(content)[:300])
        for connection in connections:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(concurrency)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if refusals:
        raise Refused(refusals[0])
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(send(pickle.loads(Path(sys.argv[1]).read_bytes()), *map(int, sys.argv[2:])))
