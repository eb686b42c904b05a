"""Asks a language model for grades, several at once; what it says is handed on as it comes, and kept by the caller."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Protocol, Self

from harness.extensions.judging.machine.budget import Budget, bound_input, estimate_input
from harness.extensions.judging.machine.client import Busy, CallResult, Refused
from harness.extensions.judging.machine.pace import CallPace
from harness.extensions.judging.machine.prompt import Message, Prompt, ShownPair
from harness.extensions.judging.machine.reading import Completion, GivenGrade, NoGrade, Tokens, read_completion
from harness.masking import fingerprint
from harness.model.judging import JudgeAnswer, MachineAnswer, MachineJudge
from harness.model.suite import Json
from harness.search.server_health import Retries
from harness.words import shorten

TIMES_ASKED = 2
"""How often a document is asked for until the answer is a grade."""

MOST_FAILURES = 5
"""Consecutive documents without any answer after which no more are sent."""

LONGEST_KEPT = 1000
"""Characters of a reason, or of an answer that is no grade, that are kept."""

RETRIES = Retries(attempts=8, base=1.0, cap=30.0, patience=180.0)
"""More patient than with an engine: limits are those of a minute."""

BUDGET_SPENT = "the budget is spent"


class Chat(Protocol):
    """What answers: `ChatClient`, or what stands in for it."""

    schema: Json

    def ask(self, messages: Sequence[Message]) -> CallResult:
        """Send *messages* once."""
        ...


def fingerprint_asking(judge: MachineJudge, prompt: Prompt) -> str:
    """Of all that a grade depends on beside the query and the document: the prompt, the model, and how it is asked."""
    return fingerprint(
        {
            "prompt": prompt.fingerprint,
            "model": judge.model,
            "temperature": judge.temperature if judge.reasoning is None else None,
            "reasoning": judge.reasoning,
            "seed": judge.seed,
            "answers": judge.answers,
        }
    )


@dataclass(frozen=True, slots=True)
class AskedPair:
    """What is kept of a document with the answer of a model, as fingerprints; *query* and *document* are ids."""

    query: str
    document: str
    prompt: str
    """As of `fingerprint_asking`."""
    shown: str
    texts: Mapping[str, str]
    """By the name of the field."""

    @classmethod
    def build(cls, pair: ShownPair, prompt: str) -> Self:
        """What is kept of *pair*, which is asked for in the way *prompt*."""
        return cls(pair.query, pair.document, prompt, pair.fingerprint, pair.text_fingerprints)

    def build_answer(
        self, completion: Completion, model: str, used: Tokens, reading: GivenGrade | NoGrade
    ) -> JudgeAnswer:
        """What is kept of the answer *completion* of *model*, which took *used* tokens, and of which *reading* came."""
        if isinstance(reading, GivenGrade):
            grade, comment, reason = reading.grade, "", reading.reason
        else:
            grade, comment, reason = None, f"no grade: {reading.why}", reading.text
        machine = MachineAnswer(
            model=completion.model or model,
            version=completion.version,
            prompt=self.prompt,
            shown=self.shown,
            reason=shorten(reason, LONGEST_KEPT),
            input_tokens=used.input,
            output_tokens=used.output,
        )
        return JudgeAnswer(
            self.query,
            self.document,
            grade,
            comment=comment,
            machine=machine,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            shown=self.texts,
        )


@dataclass(frozen=True, slots=True)
class PairResult:
    """What came of a document: an *answer* to be kept, or why there is none (*failure*)."""

    pair: AskedPair
    answer: JudgeAnswer | None = None
    failure: str = ""


@dataclass(slots=True)
class Asking:
    """The calls of one command."""

    judge: MachineJudge
    prompt: Prompt
    chat: Chat
    budget: Budget = field(default_factory=Budget)
    pace: CallPace = field(default_factory=CallPace)
    retries: Retries = RETRIES
    calls: int = 0
    """The number that were sent."""
    ended: str = ""
    """Why nothing more is sent, though documents are left; empty while that is not so."""
    _stopped: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)
    _failures: int = 0
    """Consecutive documents without an answer."""

    def ask_all(self, pairs: Sequence[ShownPair]) -> Generator[PairResult]:
        """
        Ask for the grades of *pairs*, and yield what comes of each, in the order in which it comes.

        A document that was not asked for when the calls ended yields nothing. Where the caller stops, what is under way
        is given up.
        """
        waiting: SimpleQueue[ShownPair] = SimpleQueue()
        for pair in pairs:
            waiting.put(pair)
        results: SimpleQueue[PairResult | BaseException | None] = SimpleQueue()
        threads = min(self.judge.concurrency, len(pairs))
        for _ in range(threads):
            # Daemons, so that Ctrl-C does not wait for an answer.
            Thread(target=self._work, args=(waiting, results), daemon=True).start()
        try:
            while threads:
                result = results.get()
                if result is None:
                    threads -= 1
                elif isinstance(result, BaseException):
                    raise result
                else:
                    yield result
        finally:
            self._stopped.set()

    def _work(self, waiting: SimpleQueue[ShownPair], results: SimpleQueue[PairResult | BaseException | None]) -> None:
        """Ask for what is *waiting* until nothing is, or the calls have ended; a last None says so."""
        try:
            while not self._stopped.is_set():
                result = self._ask_for_grade(waiting.get_nowait())
                if result is not None:
                    results.put(result)
        except Empty:
            pass
        except BaseException as error:  # raised again by who waits for results
            results.put(error)
        results.put(None)

    def _ask_for_grade(self, pair: ShownPair) -> PairResult | None:
        """Ask for *pair* until the answer is a grade; None if the calls ended before."""
        messages = self.prompt.write_messages(pair)
        asked = AskedPair.build(pair, fingerprint_asking(self.judge, self.prompt))
        grades = [grade.grade for grade in self.prompt.grades]
        used = Tokens()
        completion = Completion("", "")
        reading: GivenGrade | NoGrade = NoGrade("", "")
        for _ in range(TIMES_ASKED):
            result = self._call(messages)
            if result is None:
                return None
            if isinstance(result, str):
                return PairResult(asked, failure=result)
            completion, tokens = result
            used += tokens
            reading = read_completion(completion, grades)
            if isinstance(reading, GivenGrade):
                break
        return PairResult(asked, asked.build_answer(completion, self.judge.model, used, reading))

    def _call(self, messages: Sequence[Message]) -> tuple[Completion, Tokens] | str | None:
        """
        Send *messages*, again where the server is busy.

        Returns:
            The answer and its tokens; why there is none; None if the calls have ended.
        """
        most = Tokens(bound_input(messages, self.chat.schema), self.judge.most_output_tokens)
        likely = estimate_input(messages, self.chat.schema) + self.judge.most_output_tokens
        started, attempt = self.retries.clock.now(), 0
        while True:
            attempt += 1
            if not self.pace.wait(likely, self._stopped) or not self._reserve(most):
                return None
            result = self.chat.ask(messages)
            if isinstance(result, Completion):
                tokens = result.tokens or most
                self._charge(most, tokens, answered=True)
                return result, tokens
            may_cost = isinstance(result, Busy) and result.may_cost
            self._charge(most, most if may_cost else Tokens(), answered=False)
            if isinstance(result, Refused):
                if result.is_fatal:
                    self._end(result.why)
                return self._fail(result.why)
            pause = self.retries.find_pause(attempt, started=started, server_pause=result.pause, end=None)
            if pause is None:
                return self._fail(result.why)
            if result.pause is not None:
                # It holds for all calls, not only for the one that was told.
                self.pace.pause(result.pause)
            self._stopped.wait(pause)

    def _reserve(self, most: Tokens) -> bool:
        """Whether a call of at most *most* tokens may be sent; if not, no other is either."""
        with self._lock:
            if self.budget.reserve(most):
                self.calls += 1
                return True
        self._end(BUDGET_SPENT)
        return False

    def _charge(self, most: Tokens, used: Tokens, *, answered: bool) -> None:
        """Record that a call, for which *most* tokens were reserved, has *used* these, and whether it was answered."""
        with self._lock:
            self.budget.charge(most, used)
            if answered:
                self._failures = 0

    def _fail(self, why: str) -> str:
        """Count a document without an answer, for the reason *why*, which is returned."""
        with self._lock:
            self._failures += 1
            gives_up = self._failures >= MOST_FAILURES
        if gives_up:
            self._end(f"{MOST_FAILURES} documents in a row got no answer; the last one: {why}")
        return why

    def _end(self, why: str) -> None:
        """Send nothing more; what is under way is waited for."""
        with self._lock:
            self.ended = self.ended or why
        self._stopped.set()
