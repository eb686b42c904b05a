"""
``harness run --scheduler``: the parts of a run as tasks of a Dask cluster, each the command that sends one part.

A worker needs the harness, the files of the suites in the same folder, and the variables of its logins: no secret is
sent to it. The part of a worker that is killed is done by another one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import COMMAND, NO_ANSWER
from harness.errors import SearchError, UsageError
from harness.options import FLAG, OPTIONS, RunOptions, Shard
from harness.run import Matrix
from harness.run.journal import SEARCHED_WITH
from harness.run.merging import MergedJournal

if TYPE_CHECKING:
    from distributed import Client

PARTS_OF_A_THREAD = 2
"""Parts for each thread of the workers: the work of one that is killed is small, and each part opens connections."""

SECONDS_FOR_ANSWER = 30.0
"""How long the scheduler, and a first worker, is waited for."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """What became of a part on a worker: the exit status of its command, what that said, and its journal."""

    status: int
    said: str
    journal: bytes


def run_on_scheduler(
    address: str, suites: Sequence[Path], options: RunOptions, matrix: Matrix, tell: Callable[[str], None]
) -> MergedJournal:
    """
    Send the queries of *suites* from the workers of the scheduler at *address*.

    Args:
        address: Such as tcp://10.0.0.1:8786.
        suites: Their paths, which workers have too.
        options: What was asked for.
        matrix: The requests and indexes that each suite runs with.
        tell: Is given a line for each part that is done.

    Raises:
        UsageError: distributed is not installed, or a worker refuses the suites or the options.
        SearchError: the scheduler does not answer, has no worker, or lost several in a row.
    """
    if options.embedded:
        raise UsageError("an embedded node answers on its own machine only; give --url instead of --embedded")
    words = list(command_words(options, matrix))
    with _client_of(address) as client:
        threads = sum(client.nthreads().values())
        parts = [Shard(number, threads * PARTS_OF_A_THREAD) for number in range(1, threads * PARTS_OF_A_THREAD + 1)]
        paths = [str(path) for path in suites]
        tasks = {client.submit(send_part, str(Path.cwd()), words, paths, str(part), pure=False): part for part in parts}
        return MergedJournal([(f"part {part}", _journal_of(part, task, tell)) for task, part in tasks.items()])


def command_words(options: RunOptions, matrix: Matrix) -> Iterator[str]:
    """The words of `harness run` for what *options* and *matrix* send where."""
    given = {name: getattr(options, name) for name in SEARCHED_WITH} | {
        "request": matrix.requests,
        "index": matrix.indexes,
    }
    for name, value in given.items():
        row = OPTIONS[name]
        word = row.name.name_in(COMMAND)
        if row.kind is FLAG:
            yield from [word] if value else []
        else:
            yield from (f"{word}={one}" for one in (value if isinstance(value, tuple) else (value,)) if one is not None)
    if matrix.all_requests:
        yield "--all-requests"


def send_part(folder: str, words: Sequence[str], suites: Sequence[str], part: str) -> PartAnswer:
    """Send *part* of the queries of *suites*, whose paths start from *folder*; runs on a worker."""
    with tempfile.TemporaryDirectory() as temporary:
        journal = Path(temporary) / "part.journal"
        command = [sys.executable, "-m", "harness", "run", *words, f"--shard={part}", f"--journal={journal}", "--quiet"]
        try:
            done = subprocess.run(
                [*command, "--", *suites], cwd=folder, capture_output=True, text=True, check=False, errors="replace"
            )
        except OSError as error:
            return PartAnswer(2, f"{folder}: {error.strerror or error}", b"")
        return PartAnswer(done.returncode, done.stderr.strip(), journal.read_bytes() if journal.exists() else b"")


@contextmanager
def _client_of(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs the package distributed: pip install 'relevance-harness[dask]'") from None
    try:
        client = Client(address, timeout=SECONDS_FOR_ANSWER, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SearchError(f"the scheduler {address} does not answer: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS_FOR_ANSWER)
        except TimeoutError:
            raise SearchError(f"the scheduler {address} has no worker") from None
        yield client


def _journal_of(part: Shard, task: Any, tell: Callable[[str], None]) -> bytes:
    """The journal of *part* when its *task* is done."""
    from distributed import KilledWorker

    try:
        answer: PartAnswer = task.result()
    except KilledWorker:
        raise SearchError(f"part {part}: each worker that it was sent to was lost") from None
    if answer.status not in (0, NO_ANSWER) or not answer.journal:
        kind = SearchError if answer.status == NO_ANSWER else UsageError
        raise kind(f"part {part} ended with {answer.status} on a worker: {answer.said}")
    tell(f"part {part} is done")
    return answer.journal
