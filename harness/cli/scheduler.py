"""
``--scheduler``: runs the parts of a run, or scores the files of a run, as tasks of a Dask cluster.

A worker needs the harness, the files of the suites in the same folder, and the variables of its logins: no secret is
sent to it. The part of a worker that is killed is done by another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.exits import COMMAND, NO_ANSWER
from harness.config import CONFIG_VARIABLE, find_trusted
from harness.errors import HarnessError, SearchError, UsageError, missing_package
from harness.files.partitions import Partition
from harness.files.runs import FileOptions, evaluate_files
from harness.metrics.evaluate import Evaluation
from harness.options import FLAG, OPTIONS, SENT_BY, RunOptions, Shard

if TYPE_CHECKING:
    from distributed import Client

    from harness.run import Matrix

PARTS_OF_A_THREAD = 2
"""Parts for each thread of the workers: the work of one that is killed is small, and each part opens connections."""

SECONDS_FOR_ANSWER = 30.0
"""How long to wait for the scheduler, and for a first worker."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The result of a part on a worker: the exit status of its command, its output, and its journal."""

    status: int
    said: str
    journal: bytes


def run_on_scheduler(
    address: str, suites: Sequence[Path], options: RunOptions, matrix: Matrix, tell: Callable[[str], None]
) -> list[tuple[str, bytes]]:
    """
    Send the queries of *suites* from the workers of the scheduler at *address*.

    Args:
        address: Such as tcp://10.0.0.1:8786.
        suites: Their paths, which workers have too.
        options: The options of the run.
        matrix: The requests and indexes that each suite runs with.
        tell: Called with a line for each finished part.

    Returns:
        A name for each part, and the content of its journal.

    Raises:
        UsageError: distributed is not installed, or a worker refuses the suites or the options.
        SearchError: the scheduler does not answer, has no worker, or lost several in a row.
    """
    if options.embedded:
        raise UsageError("an embedded node answers on its own machine only; give --url instead of --embedded")
    options = replace(options, config=find_trusted(options.config, os.environ))
    words = list(command_words(options, matrix))
    with _client_of(address) as client:
        threads = sum(client.nthreads().values())
        parts = [Shard(number, threads * PARTS_OF_A_THREAD) for number in range(1, threads * PARTS_OF_A_THREAD + 1)]
        paths = [str(path) for path in suites]
        tasks = {client.submit(send_part, str(Path.cwd()), words, paths, str(part), pure=False): part for part in parts}
        return [(f"part {part}", _journal_of(part, task, tell)) for task, part in tasks.items()]


def command_words(options: RunOptions, matrix: Matrix) -> Iterator[str]:
    """The arguments of `harness run` that send the same as *options* and *matrix*."""
    given = {name: getattr(options, name) for name in (*SENT_BY, "root")} | {
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
        # The configuration is that of the machine that asks, never one that the worker's own environment names.
        environ = {name: value for name, value in os.environ.items() if name != CONFIG_VARIABLE}
        try:
            done = subprocess.run(
                [*command, "--", *suites],
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
                errors="replace",
            )
        except OSError as error:
            return PartAnswer(2, f"{folder}: {error.strerror or error}", b"")
        return PartAnswer(done.returncode, done.stderr.strip(), journal.read_bytes() if journal.exists() else b"")


def score_on_scheduler(address: str, parts: Sequence[Partition], options: FileOptions) -> list[Evaluation]:
    """
    The scores of each of *parts*, computed on the workers of the scheduler at *address*, which have the files.

    Raises:
        UsageError: distributed is not installed, or a file is wrong.
        SearchError: the scheduler does not answer, has no worker, or lost several in a row.
    """
    with _client_of(address) as client:
        tasks = [client.submit(score_part, Path.cwd(), part, options, pure=False) for part in parts]
        found = [_result_of(str(part.run), task) for part, task in zip(parts, tasks, strict=True)]
    problems = [one for one in found if isinstance(one, str)]
    if problems:
        raise UsageError("\n".join(problems))
    return found


def score_part(folder: Path, part: Partition, options: FileOptions) -> Evaluation | str:
    """The scores of *part*, whose paths start from *folder*, or what is wrong with it; runs on a worker."""
    try:
        return evaluate_files(folder / part.judgments, folder / part.run, options)
    except HarnessError as error:
        return error.text(COMMAND)


def _result_of(what: str, task: Any) -> Any:
    """The result of *task*, which is called *what* in errors."""
    from distributed import KilledWorker

    try:
        return task.result()
    except KilledWorker:
        raise SearchError(f"{what}: each worker that it was sent to was lost") from None


@contextmanager
def _client_of(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        raise missing_package("--scheduler needs", "distributed", "dask") from None
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
    answer: PartAnswer = _result_of(f"part {part}", task)
    if answer.status not in (0, NO_ANSWER) or not answer.journal:
        kind = SearchError if answer.status == NO_ANSWER else UsageError
        raise kind(f"part {part} ended with {answer.status} on a worker: {answer.said}")
    tell(f"part {part} is done")
    return answer.journal
