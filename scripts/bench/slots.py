"""
What scripts/bench/runner --slots and --by-hand measure on: an engine with four slots.

As a program it is the engine: each `_msearch` waits for one of four slots and keeps it for 20 ms, and 0.5 ms for each
search, unless it is told to be fast; *latency* seconds come on top, of the network, without a slot. Each search has as
many hits as its `size` says, or ten.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

SLOTS = 4
REQUEST = 0.020
SEARCH = 0.0005

SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
ROOT = b'{"version": {"number": "9.4.3", "build_flavor": "default"}, "tagline": "You Know, for Search"}'


SIZE = re.compile(rb'"size": ?([0-9]+)')


@cache
def make_item(count: int) -> bytes:
    """The answer to a search of *count* hits."""
    hits = [{"_index": "products", "_id": f"document-{rank}", "_score": count + 0.5 - rank} for rank in range(count)]
    found = {"total": {"value": 4711, "relation": "eq"}, "max_score": count + 0.5, "hits": hits}
    return json.dumps({"took": 3, "timed_out": False, "_shards": SHARDS, "hits": found, "status": 200}).encode()


def make_answer(body: bytes) -> bytes:
    """The answer to an `_msearch` with *body*: a line with the index, and one with the search, by turns."""
    items = []
    for search in body.splitlines()[1::2]:
        size = SIZE.search(search)
        items.append(make_item(10 if size is None else int(size[1])))
    return b'{"took":1,"responses":[%b]}' % b",".join(items)


async def serve(latency: float, *, is_fast: bool) -> None:
    slots = asyncio.Semaphore(SLOTS)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length:")[2].partition(b"\r")[0]
                body = await reader.readexactly(int(length or 0))
                content = ROOT
                if body:
                    searches = body.count(b"\n") // 2
                    async with slots:
                        if not is_fast:
                            await asyncio.sleep(REQUEST + searches * SEARCH)
                    await asyncio.sleep(latency)
                    content = make_answer(body)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Elastic-Product: Elasticsearch\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(content)
                )
                writer.write(content)
                await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextlib.contextmanager
def engine(latency: float, *, is_fast: bool = False) -> Iterator[int]:
    """The port of an engine in a process of its own."""
    command = [sys.executable, __file__, str(latency), *(["fast"] if is_fast else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(float(sys.argv[1]), is_fast="fast" in sys.argv[2:]))
