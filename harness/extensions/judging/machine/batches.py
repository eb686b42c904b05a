"""
Asks a language model in batches, which providers answer within a day for less.

What was sent stands in a file beside that of the judge from before the first call until the answers are kept, so that a
command that was killed anywhere is completed by the next one, and nothing is paid for twice: a batch is created only
when its uploaded file is known here, and where it is not clear whether it was created, it is looked for by that file
and by its key, and if it is not there, the file is removed before another is sent.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from harness.agreement import Pair
from harness.errors import UsageError
from harness.extensions.judging.machine.asking import (
    BUDGET_SPENT,
    RETRIES,
    AskedPair,
    PairResult,
    fingerprint_asking,
)
from harness.extensions.judging.machine.batch_client import (
    ENDPOINT,
    NO_BATCHES,
    BatchClient,
    Failed,
    RemoteBatch,
)
from harness.extensions.judging.machine.budget import Budget, bound_input
from harness.extensions.judging.machine.client import Busy, Refused, build_call
from harness.extensions.judging.machine.prompt import Message, Prompt, ShownPair
from harness.extensions.judging.machine.reading import Completion, Tokens, read_completion
from harness.files.beside import BesideFile
from harness.files.json import parse_json
from harness.files.judge_files import JudgeFile
from harness.files.versioned import VersionedJson
from harness.model.judging import MachineJudge
from harness.model.suite import Json
from harness.search.server_health import Retries
from harness.words import count, listed

MOST_LINES = 50_000
"""Questions of one batch, the limit of providers."""

MOST_BYTES = 200_000_000
"""Bytes of the file of one batch, the limit of providers."""

FIRST_PAUSE = 2.0
"""Seconds until the server is asked for a batch again; each next pause is twice as long."""

LONGEST_PAUSE = 60.0

_KEY_BYTES = 8

T = TypeVar("T")


# What was sent.


@dataclass(frozen=True, slots=True)
class SentBatch:
    """A batch that was sent, or is about to be."""

    key: str
    """Drawn at random; the server is sent it with the batch and in the name of the file."""
    created: int
    """In seconds since 1970."""
    model: str
    grades: tuple[float, ...]
    """Those that an answer may have."""
    most: int
    """Tokens of the longest question, at most."""
    most_output: int
    pairs: Mapping[str, AskedPair]
    """By the id of the question in the batch."""
    questions: Mapping[str, str]
    """As of `Questions.fingerprints`, of each query."""
    file: str = ""
    """The id of the uploaded file; empty before it was uploaded. A batch is created only after it was kept."""
    id: str = ""
    """That of the batch; empty before it is known that it was created."""


@dataclass(frozen=True, slots=True)
class _BatchList:
    """The content of the file."""

    server: str
    batches: tuple[SentBatch, ...]
    schema: int = 1


_FORM = VersionedJson(
    _BatchList,
    "list of batches",
    remedy="restore the file, or remove it to ask for these documents again",
    is_strict=True,
)


@dataclass(slots=True)
class SentBatches:
    """The batches of a judge whose answers are not kept yet, in the file *place*; no file if there are none."""

    place: BesideFile
    server: str
    batches: dict[str, SentBatch] = field(default_factory=dict)
    """By their keys."""

    @classmethod
    def read(cls, file: JudgeFile, judge: MachineJudge) -> SentBatches:
        """
        Read the batches of *judge*, which stand beside its *file*.

        Raises:
            FormatError: The file cannot be read, or is none with batches.
            UsageError: They are at another server.
        """
        place = replace(file.place, path=file.path.with_suffix(".batches.json"))
        sent = cls(place, judge.base_url)
        if place.exists():
            content = _FORM.read(place)
            if content.server != judge.base_url:
                raise UsageError(
                    f"{place.path}: batches wait at {content.server}, and base_url of the judge {judge.name!r} is "
                    f"{judge.base_url}; set it back to pick them up, or remove the file to ask again"
                )
            sent.batches = {batch.key: batch for batch in content.batches}
        return sent

    def keep(self, batch: SentBatch) -> None:
        """Keep *batch*, in place of what was known of it; raises UsageError where it cannot be written."""
        self.batches[batch.key] = batch
        self._write()

    def remove(self, batch: SentBatch) -> None:
        """Forget *batch*; raises UsageError where that cannot be written."""
        del self.batches[batch.key]
        self._write()

    def list_waiting(self, *, includes_unsure: bool = True) -> frozenset[Pair]:
        """The documents in batches; of those that may not have been created only if *includes_unsure*."""
        waiting: set[Pair] = set()
        for batch in self.batches.values():
            if batch.id or includes_unsure:
                waiting.update((pair.query, pair.document) for pair in batch.pairs.values())
        return frozenset(waiting)

    def _write(self) -> None:
        if self.batches:
            _FORM.write(self.place, _BatchList(self.server, tuple(self.batches.values())))
            return
        try:
            self.place.remove()
        except OSError as error:
            raise UsageError(f"{self.place.path} cannot be removed: {error.strerror or error}") from None


# What is sent.


def split_sizes(sizes: Sequence[int]) -> list[range]:
    """Divide lines of these *sizes* in bytes into batches within the limits of providers; each has a range of them."""
    batches: list[range] = []
    total = 0
    for number, size in enumerate(sizes):
        if not batches or len(batches[-1]) == MOST_LINES or total + size > MOST_BYTES:
            batches.append(range(number, number))
            total = 0
        batches[-1] = range(batches[-1].start, number + 1)
        total += size
    return batches


def measure_line(judge: MachineJudge, schema: Json, messages: Sequence[Message]) -> int:
    """The bytes of the line that asks *messages*."""
    return len(_write_line("0" * 2 * _KEY_BYTES + f"-{MOST_LINES}", build_call(judge, schema, messages)))


def _write_line(name: str, call: Mapping[str, Any]) -> bytes:
    """The line of a batch's file that sends *call*, the body of a single call, under the id *name*."""
    line = {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": call}
    return json.dumps(line, ensure_ascii=False).encode(errors="replace") + b"\n"


@dataclass(frozen=True, slots=True)
class _Question:
    """A document to ask for, with the *size* of its line in bytes, and the *most* tokens that are sent for it."""

    pair: ShownPair
    size: int
    most: int


# What happens.


@dataclass(frozen=True, slots=True)
class Waiting:
    """The model has *done* so many questions of the batches."""

    done: int


@dataclass(slots=True)
class BatchAsking:
    """The batches of one command: those sent before, and one or several of what is asked for now."""

    judge: MachineJudge
    prompt: Prompt
    server: BatchClient
    sent: SentBatches
    file: JudgeFile
    """The judge's; its questions are those of now."""
    budget: Budget = field(default_factory=Budget)
    retries: Retries = RETRIES
    calls: int = 0
    """The number of questions that were answered."""
    ended: str = ""
    """Why documents are left; empty while none are."""

    def ask_all(self, pairs: Sequence[ShownPair]) -> Generator[PairResult | Waiting | str]:
        """
        Send *pairs*, wait for all batches, and yield what comes of each document, with sentences on what happens.

        A batch is forgotten when the caller asks for more after its last document. Where the caller stops before, the
        next command goes on.
        """
        is_sure = True
        for batch in list(self.sent.batches.values()):
            if not batch.id:
                created = self._find_created(batch)
                if isinstance(created, SentBatch):
                    yield f"the batch {created.id} was created before; it is not sent again"
                is_sure = is_sure and (created is None or isinstance(created, SentBatch))
        if is_sure:
            yield from self._send_all(pairs)
        yield from self._wait()

    def _send_all(self, pairs: Sequence[ShownPair]) -> Iterator[str]:
        """Send those of *pairs* that are in no batch, as many as the budget has room for."""
        waiting = self.sent.list_waiting()
        to_ask = [pair for pair in pairs if (pair.query, pair.document) not in waiting]
        questions = self._choose_within_budget(to_ask)
        for numbers in split_sizes([question.size for question in questions]):
            batch = self._send(questions[numbers.start : numbers.stop])
            if batch is None:
                return
            yield f"the batch {batch.id} was sent, with {count(len(numbers), 'document')}"

    def _choose_within_budget(self, pairs: Sequence[ShownPair]) -> list[_Question]:
        """The first of *pairs*, as many as the budget has room for at the most that they can cost."""
        schema = self.server.chat.schema
        questions: list[_Question] = []
        for pair in pairs:
            messages = self.prompt.write_messages(pair)
            most = bound_input(messages, schema)
            if not self.budget.reserve(Tokens(most, self.judge.most_output_tokens)):
                self._end(BUDGET_SPENT)
                break
            questions.append(_Question(pair, measure_line(self.judge, schema, messages), most))
        return questions

    def _send(self, questions: Sequence[_Question]) -> SentBatch | None:
        """Upload *questions* and create a batch of them; None if it is not known that there is one."""
        started, attempt = self.retries.clock.now(), 0
        while True:
            attempt += 1
            batch = self._build_batch(questions)
            # From here on a command that is killed leaves behind what was about to be sent.
            self.sent.keep(batch)
            file = self._repeat(self.server.upload, _name_file(batch.key), self._write_content(batch, questions))
            if not isinstance(file, str):
                self._discard(batch)
                self._end_unsent(file)
                return None
            batch = replace(batch, file=file)
            self.sent.keep(batch)
            result = self.server.create(file, batch.key)
            if isinstance(result, RemoteBatch):
                return self._keep_created(batch, result)
            if isinstance(result, Refused):
                self._discard(batch)
                self._end_unsent(result)
                return None
            # It may have been created all the same.
            pause = self.retries.find_pause(attempt, started=started, server_pause=result.pause, end=None)
            if pause is None:
                self._end(f"{result.why}; if the batch was created all the same, the next command finds it")
                return None
            self.retries.clock.sleep(pause)
            created = self._find_created(batch)
            if created is not None:
                return created if isinstance(created, SentBatch) else None

    def _write_content(self, batch: SentBatch, questions: Sequence[_Question]) -> bytes:
        """The file of *batch*, which asks *questions*."""
        lines = []
        for name, question in zip(batch.pairs, questions, strict=True):
            call = build_call(self.judge, self.server.chat.schema, self.prompt.write_messages(question.pair))
            lines.append(_write_line(name, call))
        return b"".join(lines)

    def _build_batch(self, questions: Sequence[_Question]) -> SentBatch:
        key, way = secrets.token_hex(_KEY_BYTES), fingerprint_asking(self.judge, self.prompt)
        pairs = {}
        for number, question in enumerate(questions, start=1):
            pairs[f"{key}-{number}"] = AskedPair.build(question.pair, way)
        return SentBatch(
            key=key,
            created=int(time.time()),
            model=self.judge.model,
            grades=tuple(grade.grade for grade in self.prompt.grades),
            most=max(question.most for question in questions),
            most_output=self.judge.most_output_tokens,
            pairs=pairs,
            questions={pair.query: self._fingerprint_question(pair.query) for pair in pairs.values()},
        )

    def _fingerprint_question(self, query: str) -> str:
        """The fingerprint of what is asked with *query* now; empty if it is not known."""
        return "" if self.file.questions is None else self.file.questions.fingerprints.get(query, "")

    def _find_created(self, batch: SentBatch) -> SentBatch | Failed | None:
        """
        Look for *batch*, of which it is not known whether it was created.

        Returns:
            The batch; why nobody knows; None if it was not created, and is forgotten.
        """
        if not batch.file:
            self._discard(batch)
            return None
        find = (self.server.find_batch, batch.file, batch.key, batch.created)
        found = self._repeat(*find)
        if found is None:
            # A call on its way may create it as long as its file is there, and may have done so meanwhile.
            removed = self._repeat(self.server.delete_file, batch.file)
            found = removed if isinstance(removed, Busy) else self._repeat(*find)
        if isinstance(found, RemoteBatch):
            return self._keep_created(batch, found)
        if found is None:
            self.sent.remove(batch)
            return None
        self._end(
            f"whether the batch {batch.key} was created cannot be seen at {self.judge.base_url}: {found.why}; "
            f"start the command again, or remove {self.sent.place.path} to ask again if there is none"
        )
        return found

    def _keep_created(self, batch: SentBatch, remote: RemoteBatch) -> SentBatch:
        created = replace(batch, id=remote.id)
        self.sent.keep(created)
        return created

    def _discard(self, batch: SentBatch) -> None:
        """Forget *batch*, which was not created; without its file it cannot be any more."""
        file: str | Failed | None = batch.file
        if not file:
            file = self.server.find_file(_name_file(batch.key), batch.created)
        if isinstance(file, str):
            # A server may keep what was uploaded: nothing is paid for it.
            self.server.delete_file(file)
        self.sent.remove(batch)

    def _wait(self) -> Iterator[PairResult | Waiting | str]:
        """Ask for the batches until each has ended, and yield what came."""
        pause, is_told = FIRST_PAUSE, False
        waiting = [batch for batch in self.sent.batches.values() if batch.id]
        while waiting:
            done, running = 0, []
            for batch in waiting:
                remote = self._repeat(self.server.retrieve, batch.id)
                if not isinstance(remote, RemoteBatch):
                    self._end_unread(batch, remote)
                    if isinstance(remote, Busy):
                        return
                elif remote.has_ended:
                    yield from self._take_answers(batch, remote)
                else:
                    done += remote.done
                    running.append(batch)
            waiting = running
            if waiting:
                if not is_told:
                    names = listed([batch.id for batch in waiting])
                    yield f"waiting for {names}; Ctrl-C ends that, and the same command goes on"
                    is_told = True
                yield Waiting(self.calls + done)
                self.retries.clock.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _take_answers(self, batch: SentBatch, remote: RemoteBatch) -> Iterator[PairResult | str]:
        """What came of *batch*, which has ended; it is forgotten then, unless its answers cannot be had."""
        lines = self._fetch_lines(batch, remote)
        if not isinstance(lines, _BatchLines):
            self._end_unread(batch, lines)
            return
        reason = "no line with its answer came"
        if remote.status != "completed":
            reason = f"the batch {remote.id} is {remote.status}"
            if remote.problems:
                reason += f": {remote.problems[0]}"
            yield f"{reason}; {len(lines.completions):,} of {count(len(batch.pairs), 'document')} answered"
        yield from lines.describe_oddities(remote.id)
        way = fingerprint_asking(self.judge, self.prompt)
        if any(pair.prompt != way for pair in batch.pairs.values()):
            yield f"the batch {remote.id} was asked with another model, prompt or setting, so its grades are old"
        for name, pair in batch.pairs.items():
            completion = lines.completions.get(name)
            if completion is None:
                yield PairResult(pair, failure=lines.failures.get(name, reason))
            else:
                yield self._read_answer(batch, pair, completion)
        self.sent.remove(batch)

    def _fetch_lines(self, batch: SentBatch, remote: RemoteBatch) -> _BatchLines | Failed:
        """All lines of the files of *batch*."""
        lines = _BatchLines(batch)
        for file in (remote.output_file, remote.error_file):
            if file:
                content = self._repeat(self.server.download, file)
                if not isinstance(content, str):
                    return content
                for line in content.split("\n"):
                    if line.strip():
                        lines.read(self.server, line)
        has_none = not lines.completions and not lines.failures
        if has_none and (lines.oddities or remote.status == "completed"):
            # What was paid for may be there later, as where a page of a proxy came in place of the file.
            return Refused("no answer of it is there", is_fatal=False)
        return lines

    def _read_answer(self, batch: SentBatch, pair: AskedPair, completion: Completion) -> PairResult:
        used = completion.tokens or Tokens(batch.most, batch.most_output)
        self.budget.charge(Tokens(), used)
        self.calls += 1
        if batch.questions.get(pair.query) != self._fingerprint_question(pair.query):
            # The file would say that it answers what the query is now.
            return PairResult(pair, failure="the query changed after it was sent; the answer is left out")
        reading = read_completion(completion, batch.grades)
        return PairResult(pair, pair.build_answer(completion, batch.model, used, reading))

    def _repeat(self, call: Callable[..., T | Failed], *arguments: Any) -> T | Failed:
        """The result of *call*, which is made again while the server is busy; it must do no harm twice."""
        started, attempt = self.retries.clock.now(), 0
        while True:
            attempt += 1
            result = call(*arguments)
            if not isinstance(result, Busy):
                return result
            pause = self.retries.find_pause(attempt, started=started, server_pause=result.pause, end=None)
            if pause is None:
                return result
            self.retries.clock.sleep(pause)

    def _end_unsent(self, failed: Failed) -> None:
        if isinstance(failed, Refused) and failed.status in NO_BATCHES:
            self._end(f"{self.judge.base_url} has no batches ({failed.why}); ask in single calls, without --batch")
        else:
            self._end(f"no batch was sent: {failed.why}")

    def _end_unread(self, batch: SentBatch, failed: Failed) -> None:
        why = f"the answers of the batch {batch.id} cannot be had: {failed.why}; start the command again"
        if isinstance(failed, Refused):
            why += f", or remove {self.sent.place.path} to ask, and pay, again"
        self._end(why)

    def _end(self, why: str) -> None:
        """Keep the first reason."""
        self.ended = self.ended or why


def _name_file(key: str) -> str:
    return f"relevance-{key}.jsonl"


@dataclass(slots=True)
class _BatchLines:
    """The lines of the files of a *batch*, which come in any order."""

    batch: SentBatch
    completions: dict[str, Completion] = field(default_factory=dict)
    """The first answer of each question, by its id."""
    failures: dict[str, str] = field(default_factory=dict)
    oddities: Counter[str] = field(default_factory=Counter)

    def read(self, server: BatchClient, text: str) -> None:
        """Read a line."""
        try:
            line = parse_json(text)
            name, response, error = line["custom_id"], line.get("response"), line.get("error")
            if name not in self.batch.pairs:
                self.oddities["with an id that it does not have"] += 1
                return
            result = self._read_response(server, response, error)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self.oddities["that cannot be read"] += 1
            return
        if not isinstance(result, Completion):
            self.failures.setdefault(name, result)
        elif name in self.completions:
            self.oddities["with another answer to the same question, of which the first counts"] += 1
        else:
            self.completions[name] = result

    def _read_response(self, server: BatchClient, response: Any, error: Any) -> Completion | str:
        """The answer of a line, or why there is none."""
        if not response:
            return f"{error['code']}: {error['message']}"
        result = server.chat.read_answer(int(response["status_code"]), json.dumps(response["body"]))
        return result if isinstance(result, Completion) else result.why

    def describe_oddities(self, batch: str) -> Iterator[str]:
        """A sentence on lines that nobody expects."""
        if self.oddities:
            kinds = [f"{count(number, 'line')} {what}" for what, number in self.oddities.items()]
            yield f"the files of the batch {batch} have {listed(kinds)}"
