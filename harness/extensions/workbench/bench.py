"""
Tries texts, one at a time: a text is read, compared with what was tried, sent, and scored as its answers arrive.

A newer text ends the older: what was not sent of it is not sent, and its answers are shown nowhere. One thread sends;
any thread may ask what there is.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from harness.errors import HarnessError, UsageError
from harness.extensions.workbench.dials import PARAMETER, put_numbers
from harness.extensions.workbench.figures import Row, ScoredSide, count_searches, make_row, make_variant_row
from harness.extensions.workbench.guard import leave_out_unranked
from harness.extensions.workbench.opening import Material
from harness.extensions.workbench.scored_tries import LIVE, Answered, ScoredTries
from harness.extensions.workbench.tries import Try
from harness.metrics.run_scores import failure_text
from harness.model.run import Failure, FailureKind, Response
from harness.model.suite import Json, Suite
from harness.redaction import redact
from harness.run import Runner
from harness.run.ending import FollowedRun, RunEnded
from harness.store.what_changed import fingerprint_request
from harness.suites.request_texts import check_text

LONGEST_WAIT = 1.0
"""Seconds that a question for answers waits for more."""


@dataclass
class TextRun:
    """A text that is sent, and what was answered so far."""

    id: str
    text: str
    values: Mapping[str, Json]
    suite: Suite
    """With the text as its request, and the queries in the order in which they are sent."""
    again: int | None = None
    """The number of the try of which a part, or all, is measured once more."""
    is_part: bool = False
    """Whether it is one query of it."""
    responses: dict[str, Response] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    is_over: bool = False
    is_superseded: bool = False
    error: str = ""
    finished: Try | None = None
    followed: FollowedRun | None = None

    @property
    def searches(self) -> int:
        """How many queries and variants are sent."""
        return count_searches(self.suite)


class Bench:
    """Sends texts in the place of the request of a suite by *runner*, and keeps what is answered in *scored*."""

    def __init__(self, scored: ScoredTries, reopen: Callable[[], Material], runner: Runner) -> None:
        """*reopen* loads the suite again, after a file of it was changed."""
        self.scored = scored
        self._reopen = reopen
        self._runner = runner
        self._runs: dict[str, TextRun] = {}
        self._pending: TextRun | None = None
        self._current: TextRun | None = None
        self._failed: set[str] = set()
        """Fingerprints of texts that timed out, which are not sent again by themselves."""
        self._is_closed = False
        self.values: dict[str, Json] = {}
        """Those of the parameters that have no place in the text, as the page shows them."""
        self._changed = threading.Condition()
        self._reload_lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="relevance-try", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End what is sent, and send nothing more."""
        with self._changed:
            self._is_closed = True
            self._end_older()
            self._changed.notify_all()
        self._thread.join(LONGEST_WAIT)

    # Texts.

    def begin(
        self, text: str, numbers: Mapping[str, float], first: Sequence[str], *, force: bool
    ) -> tuple[TextRun | int, str, dict[str, Json]]:
        """
        Send *text* with *numbers* in the places of its dials, the queries *first* before the others.

        Returns:
            The run, or the number of the try that the text was already; the text with the numbers, and the values of
            parameters.

        Raises:
            SuiteError: The text is wrong.
            UsageError: A dial is none of the text, or the text timed out before and is not forced.
        """
        text, values = self._put_numbers(text, numbers)
        suite = leave_out_unranked(self.scored.material.read_request(text, values))
        mark = fingerprint_request(suite, self.scored.material.request) or ""
        self.values = values
        with self._changed:
            known = self.scored.find_same(mark)
            if known is not None and not force:
                self._end_older()
                return known, text, values
            if mark in self._failed and not force:
                raise UsageError("this text was not answered in time; Ctrl+Enter sends it again")
            run = TextRun(secrets.token_hex(8), text, values, _order_queries(suite, first), again=known)
            self._add_run(run)
        return run, text, values

    def begin_again(self, number: int, query: str) -> TextRun:
        """
        Send one *query* of the try of a *number*, or that of a variant, with its variants once more.

        Raises:
            UsageError: There is no such try or query.
        """
        shown = self.scored.find_shown(number)
        owner = self.scored.find_owner(query)
        if owner is None:
            raise UsageError(f"found no query {query!r}")
        suite = leave_out_unranked(self.scored.material.read_request(shown.text, shown.values))
        queries = tuple(known for known in suite.queries if known.id == owner.id)
        suite = replace(suite, queries=queries)
        run = TextRun(secrets.token_hex(8), shown.text, shown.values, suite, again=number, is_part=True)
        with self._changed:
            self._add_run(run)
        return run

    def _put_numbers(self, text: str, numbers: Mapping[str, float]) -> tuple[str, dict[str, Json]]:
        # What was set before stays set while the text is typed.
        values = dict(self.values)
        space = self.scored.material.suite.tuning
        known = {} if space is None else {f"{PARAMETER}{one.name}": one for one in space.parameters}
        for pointer, number in numbers.items():
            if pointer.startswith(PARAMETER):
                if pointer not in known:
                    raise UsageError(f"the suite has no parameter {pointer.removeprefix(PARAMETER)!r} to set")
                values[pointer.removeprefix(PARAMETER)] = number
        in_text = {pointer: number for pointer, number in numbers.items() if not pointer.startswith(PARAMETER)}
        if in_text:
            check_text(text)
            try:
                text = put_numbers(text, in_text)
            except KeyError as error:
                raise UsageError(f"the text has no number at {error.args[0]}") from None
        return text, values

    def _add_run(self, run: TextRun) -> None:
        self._end_older()
        self._runs[run.id] = run
        # Runs that nobody asks for any more are forgotten.
        for old in list(self._runs)[:-20]:
            del self._runs[old]
        self._pending = run
        self._changed.notify_all()

    def _end_older(self) -> None:
        """End the run that is under way, and the one that waits; the caller holds the lock."""
        for run in (self._current, self._pending):
            if run is not None and not run.is_over:
                run.is_superseded = run.is_over = True
                if run.followed is not None:
                    run.followed.end()
        self._pending = None
        self._changed.notify_all()

    # The thread that sends.

    def _work(self) -> None:
        while True:
            with self._changed:
                while self._pending is None and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    return
                run, self._pending = self._pending, None
                self._current = run
                assert run is not None
                run.followed = FollowedRun(partial(self._receive, run))
            try:
                self._answer(run)
            except RunEnded:
                run.is_superseded = True
            except (HarnessError, OSError) as error:
                run.error = self.scored.material.masker.mask(str(error))
            with self._changed:
                run.is_over = True
                self._current = None
                self._changed.notify_all()

    def _receive(self, run: TextRun, query: str, response: Response) -> None:
        """Score a response, in the thread that sends."""
        response = self._mask(response)
        owner = self.scored.find_owner(query)
        if owner is None:
            # The suite was loaded again meanwhile, without the query.
            return
        ids = (owner.id, *(variant.id for variant in owner.variants))
        responses = {known: run.responses[known] for known in ids if known in run.responses} | {query: response}
        run_of_live = self.scored.material.live.side.run
        of_query = replace(self.scored.suite, queries=(owner,))
        tried = ScoredSide(of_query, self.scored.material.measure, responses, run_of_live)
        # A variant is compared with its query: its row waits for both.
        variants = [variant for variant in owner.variants if owner.id in responses and variant.id in responses]
        if query == owner.id:
            rows = [make_row(self.scored.live, tried, owner)]
        else:
            rows, variants = [], [variant for variant in variants if variant.id == query]
        rows += [make_variant_row(self.scored.live, tried, owner, variant) for variant in variants]
        with self._changed:
            if not run.is_superseded:
                run.responses[query] = response
                run.rows += rows
                self._changed.notify_all()

    def _mask(self, response: Response) -> Response:
        masker = self.scored.material.masker
        if not masker:
            return response
        # A response is masked as a part of a run, whose texts are what servers return.
        run = redact(replace(self.scored.material.live.side.run, responses={"": response}), masker.mask)
        return run.responses[""]

    def _answer(self, run: TextRun) -> None:
        assert run.followed is not None
        material, suite = self.scored.material, self.scored.suite
        options = material.list_options(run.searches)
        begun = time.perf_counter()
        [answered] = self._runner.answer(
            [run.suite], options, configs=material.configs, variants=True, followed=run.followed
        )
        seconds = time.perf_counter() - begun
        result = answered.mask_run()
        if any(_is_timeout(response) for response in result.responses.values()):
            self._failed.add(fingerprint_request(run.suite, material.request) or "")
        # What an engine that is away did not answer was not received.
        for query in result.responses.keys() - run.responses.keys():
            self._receive(run, query, result.responses[query])
        with self._changed:
            if run.is_superseded:
                return
            run.responses = dict(result.responses)
        if not result.has_rankings:
            failures = [response for response in result.responses.values() if isinstance(response, Failure)]
            run.error = f"no query has an answer: {failure_text(failures[0])}"
            return
        known = None if run.again in (None, LIVE) else self.scored.tries.find(run.again)
        responses = run.responses
        if known is not None and run.is_part:
            # The other queries stay as they were.
            responses = {**known.restore(exact_scores=material.is_exact), **responses}
        if run.again == LIVE:
            return
        known_scores: dict[str, float | None] = {}
        if suite is self.scored.suite:
            # Nothing was graded meanwhile: the rows have the scores.
            known_scores = {row.query: row.score for row in run.rows}
        side = ScoredSide(self.scored.suite, material.measure, responses, result, known_scores)
        answers = Answered(run.text, run.values, run.suite, side, run.searches, seconds)
        run.finished = self.scored.keep(answers, known)

    # What there is.

    def wait(self, run_id: str, since: int) -> TextRun:
        """
        The run of an id, as soon as it has more rows than *since*, is over, or after a second.

        Raises:
            UsageError: There is no such run any more.
        """
        deadline = time.monotonic() + LONGEST_WAIT
        with self._changed:
            run = self.find_run(run_id)
            while len(run.rows) <= since and not run.is_over and time.monotonic() < deadline:
                self._changed.wait(deadline - time.monotonic())
            return run

    def find_run(self, run_id: str) -> TextRun:
        """The run of an id; raises UsageError where there is none any more."""
        if run_id not in self._runs:
            raise UsageError("this run is not known any more")
        return self._runs[run_id]

    def reload_if_changed(self) -> bool:
        """Load the suite again where a file of it was changed; returns whether that was done. Raises as loading."""
        # Each window asks for it.
        with self._reload_lock:
            if not self.scored.material.has_changed() and not self.scored.is_outdated:
                return False
            material = self._reopen()
            with self._changed:
                self._end_older()
                self.scored.take_material(material)
            return True


def _order_queries(suite: Suite, first: Sequence[str]) -> Suite:
    """*suite* with the queries of *first* before the others."""
    by_id = {query.id: query for query in suite.queries}
    ids = dict.fromkeys([*(query for query in first if query in by_id), *by_id])
    return replace(suite, queries=tuple(by_id[query] for query in ids))


def _is_timeout(response: Response) -> bool:
    return isinstance(response, Failure) and response.kind in (FailureKind.TIMEOUT, FailureKind.NOT_RUN)
