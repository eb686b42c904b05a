"""
``--scheduler``: runs the parts of a run, or scores the files of a run, as tasks of a Dask cluster.

A worker needs the harness, the files of the suites in the same folder, and the variables of its logins: no secret is
sent to it. The part of a worker that is killed is done by another one.

The scheduler and its workers are trusted as this machine is: Dask unpickles what they return, which runs their code.
Its option for deserializers without pickle does not change that for exceptions and for messages of the scheduler.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from harness.cli.exits import COMMAND, NO_ANSWER
from harness.config import CONFIG_VARIABLE, find_trusted
from harness.errors import HarnessError, SearchError, UsageError, missing_package
from harness.files.partitions import Partition
from harness.files.runs import FileOptions, evaluate_files
from harness.metrics.evaluate import RunScores
from harness.options import FLAG, OPTIONS, SENDING_OPTIONS, RunOptions, Shard
from harness.report.safe_text import make_loggable
from harness.search.login import is_this_machine

if TYPE_CHECKING:
    from distributed import Client

    from harness.run import Matrix

PARTS_OF_A_THREAD = 2
"""Parts for each thread of the workers: the work of one that is killed is small, and each part opens connections."""

SECONDS_FOR_ANSWER = 30.0
"""How long to wait for the scheduler, and for a first worker."""

ENCRYPTED = ("tls", "wss")
"""The schemes of addresses that show who the scheduler is."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The result of a part on a worker: the exit status of its command, its output, and its journal."""

    status: int
    output: str
    journal: bytes


def send_on_scheduler(
    address: str, suites: Sequence[Path], options: RunOptions, matrix: Matrix
) -> Iterator[tuple[str, bytes]]:
    """
    Send the queries of *suites* from the workers of the scheduler at *address*.

    Args:
        address: Such as tls://10.0.0.1:8786.
        suites: Their paths, which workers have too.
        options: The options of the run.
        matrix: The requests and indexes that each suite runs with.

    Yields:
        A name for each part, and the content of its journal, when it is done.

    Raises:
        UsageError: distributed is not installed, or a worker refuses the suites or the options.
        SearchError: the scheduler does not answer, has no worker, or lost several in a row.
    """
    if options.embedded:
        raise UsageError("an embedded node answers on its own machine only; give --url instead of --embedded")
    options = replace(options, config=find_trusted(options.config, os.environ))
    words = list_command_words(options, matrix)
    paths = [str(path) for path in suites]
    with _connect(address) as client:
        threads = sum(client.nthreads().values())
        number_of_parts = threads * PARTS_OF_A_THREAD
        tasks = {}
        for number in range(1, number_of_parts + 1):
            part = f"{Shard(number, number_of_parts)}"
            # Not pure: the scheduler would answer with what a task of the same arguments returned in an earlier run.
            tasks[f"part {part}"] = client.submit(send_part, str(Path.cwd()), words, paths, part, pure=False)
        for name, task in tasks.items():
            yield name, _wait_for_journal(name, task)


def list_command_words(options: RunOptions, matrix: Matrix) -> list[str]:
    """The arguments of `relevance run` that send the same as *options* and *matrix*."""
    values = {name: getattr(options, name) for name in (*SENDING_OPTIONS, "root")}
    values |= {"request": matrix.requests, "index": matrix.indexes}
    words = []
    for name, value in values.items():
        option = OPTIONS[name]
        word = option.name.name_in(COMMAND)
        if option.kind is FLAG:
            words += [word] if value else []
        elif isinstance(value, tuple):
            words += [f"{word}={element}" for element in value]
        elif value is not None:
            words.append(f"{word}={value}")
    if matrix.all_requests:
        words.append("--all-requests")
    return words


def send_part(folder: str, words: Sequence[str], suites: Sequence[str], part: str) -> PartAnswer:
    """Send *part* of the queries of *suites*, whose paths start from *folder*; runs on a worker."""
    with tempfile.TemporaryDirectory() as temporary:
        journal = Path(temporary) / "part.journal"
        command = [sys.executable, "-m", "harness", "run", *words, f"--shard={part}", f"--journal={journal}", "--quiet"]
        # The configuration is that of the machine that asks, never one that the worker's own environment names.
        environ = {name: value for name, value in os.environ.items() if name != CONFIG_VARIABLE}
        try:
            process = subprocess.run(
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
        content = journal.read_bytes() if journal.exists() else b""
        return PartAnswer(process.returncode, process.stderr.strip(), content)


def score_on_scheduler(address: str, parts: Sequence[Partition], options: FileOptions) -> list[RunScores]:
    """
    The scores of each of *parts*, computed on the workers of the scheduler at *address*, which have the files.

    Raises:
        UsageError: distributed is not installed, or a file is wrong.
        SearchError: the scheduler does not answer, has no worker, or lost several in a row.
    """
    with _connect(address) as client:
        tasks = [client.submit(score_part, Path.cwd(), part, options, pure=False) for part in parts]
        answers = [_wait_for_result(str(part.run), task) for part, task in zip(parts, tasks, strict=True)]
    problems = [answer for answer in answers if isinstance(answer, str)]
    if problems:
        raise UsageError("\n".join(problems))
    return answers


def score_part(folder: Path, part: Partition, options: FileOptions) -> RunScores | str:
    """The scores of *part*, whose paths start from *folder*, or what is wrong with it; runs on a worker."""
    try:
        return evaluate_files(folder / part.judgments, folder / part.run, options)
    except HarnessError as error:
        return error.text(COMMAND)


def _wait_for_result(name: str, task: Any) -> Any:
    """The result of *task*, which is called *name* in errors."""
    from distributed import KilledWorker

    try:
        return task.result()
    except KilledWorker:
        raise SearchError(f"{name}: each worker that it was sent to was lost") from None


def is_scheduler_verified(address: str) -> bool:
    """
    Whether no other machine can take the place of the scheduler at *address*: by certificates, or as it is this one.

    >>> [is_scheduler_verified(address) for address in ("tls://10.0.0.1:8786", "localhost:8786", "tcp://10.0.0.1:8786")]
    [True, True, False]
    """
    scheme, separator, location = address.rpartition("://")
    if separator and scheme in ENCRYPTED:
        return True
    try:
        return is_this_machine(urlsplit(f"//{location}").hostname or "")
    except ValueError:
        return False


@contextmanager
def _connect(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError:
        raise missing_package("--scheduler needs", "distributed", "dask") from None
    if not is_scheduler_verified(address):
        warning = (
            f"relevance: warning: nothing shows that {address} is your scheduler, and it and its workers can run code "
            "on this machine; give the address of a scheduler with certificates, tls://HOST:PORT"
        )
        click.echo(make_loggable(warning), err=True)
    try:
        client = Client(address, timeout=SECONDS_FOR_ANSWER, set_as_default=False)
    except TypeError as error:
        # Dask's word for an address of tls:// without certificates in its configuration.
        raise UsageError(
            f"the scheduler {address} needs certificates in Dask's configuration: distributed.comm.tls.ca-file, and"
            f" cert and key of distributed.comm.tls.client ({error})"
        ) from None
    except (OSError, ValueError, TimeoutError) as error:
        raise SearchError(f"the scheduler {address} does not answer: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS_FOR_ANSWER)
        except TimeoutError:
            raise SearchError(f"the scheduler {address} has no worker") from None
        yield client


def _wait_for_journal(name: str, task: Any) -> bytes:
    """The journal of the part *name* when its *task* is done."""
    answer: PartAnswer = _wait_for_result(name, task)
    if answer.status in (0, NO_ANSWER) and answer.journal:
        return answer.journal
    message = f"{name} ended with {answer.status} on a worker: {answer.output}"
    if answer.status == NO_ANSWER:
        raise SearchError(message)
    raise UsageError(message)
