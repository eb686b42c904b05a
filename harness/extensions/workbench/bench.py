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
from datetime import UTC, datetime
from functools import partial

from harness.errors import HarnessError, UsageError
from harness.extensions.workbench.dials import PARAMETER, describe_change, put_numbers
from harness.extensions.workbench.figures import Row, ScoredSide, Summary, find_differences, make_row, summarize
from harness.extensions.workbench.guard import leave_out_unranked
from harness.extensions.workbench.opening import Material, fingerprint_index, read_states
from harness.extensions.workbench.tries import Fingerprints, TriesFile, Try
from harness.extensions.workbench.verdicts import Failing, find_failing
from harness.means import mean_of
from harness.model.run import Failure, FailureKind, Ranking, Response
from harness.model.suite import Json, Query, Suite
from harness.redaction import redact
from harness.run import Runner
from harness.run.ending import FollowedRun, RunEnded
from harness.store.what_changed import fingerprint_request

LONGEST_WAIT = 1.0
"""Seconds that a question for answers waits for more."""
LIVE = 0
"""The number under which the request that is live can be shown as a try."""


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
    responses: dict[str, Response] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    is_over: bool = False
    is_superseded: bool = False
    error: str = ""
    finished: Try | None = None
    followed: FollowedRun | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A try as it is shown: scored by the grades of now."""

    number: int
    suite: Suite
    side: ScoredSide
    text: str
    values: Mapping[str, Json]


class Bench:
    """Tries texts on *material* with *runner*, and keeps them in *tries*."""

    def __init__(self, material: Material, reopen: Callable[[], Material], runner: Runner, tries: TriesFile) -> None:
        """*reopen* loads the suite again, after a file of it was changed."""
        self.material = material
        self.tries = tries
        self.suite = material.suite
        """With the grades of now."""
        self._reopen = reopen
        self._runner = runner
        self._runs: dict[str, TextRun] = {}
        self._pending: TextRun | None = None
        self._current: TextRun | None = None
        self._failed: set[str] = set()
        """Fingerprints of texts that timed out, which are not sent again by themselves."""
        self._is_closed = False
        self._changed = threading.Condition()
        self._shown: dict[int, Shown] = {}
        self._summaries: dict[int, Summary] = {}
        self._failing_live: Failing | None = None
        """The thresholds that what is live does not hold; None until that was asked."""
        self.live = material.live.side
        """By the grades of now."""
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
        suite = leave_out_unranked(self.material.read_request(text, values))
        mark = fingerprint_request(suite, self.material.request) or ""
        with self._changed:
            known = self._find_same(mark)
            if known is not None and not force:
                self._end_older()
                return known, text, values
            if mark in self._failed and not force:
                raise UsageError("this text was not answered in time; Ctrl+Enter sends it again")
            run = TextRun(secrets.token_hex(8), text, values, _order_queries(suite, self.suite, first), again=known)
            self._add_run(run)
        return run, text, values

    def begin_again(self, number: int, query: str) -> TextRun:
        """
        Send one *query* of the try of a *number* once more.

        Raises:
            UsageError: There is no such try or query.
        """
        shown = self.find_shown(number)
        queries = tuple(known for known in self.suite.queries if known.id == query)
        if not queries:
            raise UsageError(f"found no query {query!r}")
        suite = leave_out_unranked(self.material.read_request(shown.text, shown.values))
        run = TextRun(secrets.token_hex(8), shown.text, shown.values, replace(suite, queries=queries), again=number)
        with self._changed:
            self._add_run(run)
        return run

    def _put_numbers(self, text: str, numbers: Mapping[str, float]) -> tuple[str, dict[str, Json]]:
        values = {
            pointer.removeprefix(PARAMETER): number
            for pointer, number in numbers.items()
            if pointer.startswith(PARAMETER)
        }
        in_text = {pointer: number for pointer, number in numbers.items() if not pointer.startswith(PARAMETER)}
        if in_text:
            try:
                text = put_numbers(text, in_text)
            except KeyError as error:
                raise UsageError(f"the text has no number at {error.args[0]}") from None
        return text, values

    def _find_same(self, mark: str) -> int | None:
        """The number of the try whose request has this fingerprint; that of what is live where it has it."""
        if mark == self.live_mark:
            return LIVE
        return next((one.number for one in reversed(self.tries.tries) if one.request == mark), None)

    @property
    def live_mark(self) -> str:
        """The fingerprint of the request that is live; empty for a baseline."""
        answered = self.material.live.answered
        if answered is None:
            return ""
        suite = leave_out_unranked(self.material.suite)
        return fingerprint_request(suite, self.material.live.name) or ""

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
                run.error = self.material.masker.mask(str(error))
            with self._changed:
                run.is_over = True
                self._current = None
                self._changed.notify_all()

    def _receive(self, run: TextRun, query: str, response: Response) -> None:
        """Score a response, in the thread that sends."""
        response = self._mask(response)
        of_query = replace(self.suite, queries=(self._find_query(query),))
        run_of_live = self.material.live.side.run
        tried = ScoredSide(of_query, self.material.measure, {query: response}, run_of_live)
        row = make_row(self.live, tried, *of_query.queries)
        with self._changed:
            if not run.is_superseded:
                run.responses[query] = response
                run.rows.append(row)
                self._changed.notify_all()

    def _mask(self, response: Response) -> Response:
        masker = self.material.masker
        if not masker:
            return response
        # A response is masked as a part of a run, whose texts are what servers return.
        run = redact(replace(self.material.live.side.run, responses={"": response}), masker.mask)
        return run.responses[""]

    def _answer(self, run: TextRun) -> None:
        assert run.followed is not None
        material = self.material
        options = material.list_options(len(run.suite.queries))
        begun = time.perf_counter()
        [answered] = self._runner.answer([run.suite], options, configs=material.configs, followed=run.followed)
        seconds = time.perf_counter() - begun
        result = answered.mask_run()
        if any(_is_timeout(response) for response in result.responses.values()):
            self._failed.add(fingerprint_request(run.suite, material.request) or "")
        with self._changed:
            if run.is_superseded:
                return
            run.responses = dict(result.responses)
        known = None if run.again in (None, LIVE) else self.tries.find(run.again)
        responses = run.responses
        if known is not None and len(run.suite.queries) < len(self.suite.queries):
            # One query once more: the others stay as they were.
            responses = {**known.restore(exact_scores=material.is_exact), **responses}
        side = ScoredSide(self.suite, material.measure, responses, result)
        summary = self._summarize(side, len(run.suite.queries), seconds)
        kept = self._keep(run, side, summary, known)
        with self._changed:
            if kept is not None:
                self._shown[kept.number] = Shown(kept.number, self.suite, side, kept.text, kept.values)
                self._summaries[kept.number] = summary
            run.finished = kept

    def _keep(self, run: TextRun, side: ScoredSide, summary: Summary, known: Try | None) -> Try | None:
        """Keep what was answered as a try; None for what is live, and where nothing was answered."""
        material = self.material
        if run.again == LIVE or not any(isinstance(response, Ranking) for response in side.responses.values()):
            return None
        rankings, failures, times = {}, {}, []
        for query, response in side.responses.items():
            if isinstance(response, Failure):
                failures[query] = (str(response.kind), response.reason, response.status)
            else:
                hits = zip(response.ids, response.scores, strict=True)
                rankings[query] = [(document, score) for document, score in hits][: self.suite.depth]
                times.append(response.took or 0.0)
        name = describe_change(material.live.text, run.text, self._live_values, {**self._live_values, **run.values})
        one = Try(
            number=0,
            name=material.masker.mask(name) or "other text",
            text=run.text,
            request=fingerprint_request(run.suite, material.request) or "",
            of=material.request,
            values=dict(run.values),
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            measure=material.measure.text,
            scores=side.scores,
            difference=summary.difference,
            is_grey=summary.is_grey,
            rankings=rankings,
            failures=failures,
            times=times,
            seconds=summary.seconds,
            fingerprints=Fingerprints(fingerprint_index(material.search, side.run.index), self.live_mark, ""),
        )
        if known is None:
            return self.tries.add(one)
        one = replace(one, number=known.number, name=known.name, kept=known.kept)
        self.tries.replace(one)
        return one

    @property
    def _live_values(self) -> dict[str, Json]:
        space = self.material.suite.tuning
        return {} if space is None else {one.name: one.today for one in space.parameters if not one.pointer}

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

    def find_shown(self, number: int) -> Shown:
        """
        The try of a *number*, or what is live, by the grades of now. Nothing is sent.

        Raises:
            UsageError: There is no such try.
        """
        if number == LIVE:
            material = self.material
            return Shown(LIVE, material.suite, self.live, material.live.text, {})
        with self._changed:
            if number in self._shown:
                return self._shown[number]
        one = self.tries.find(number)
        responses = one.restore(exact_scores=self.material.is_exact)
        run = replace(self.material.live.side.run, seconds=one.seconds)
        side = ScoredSide(self.suite, self.material.measure, self._select(responses), run)
        shown = Shown(number, self.suite, side, one.text, one.values)
        with self._changed:
            self._shown[number] = shown
        return shown

    def _select(self, responses: Mapping[str, Response]) -> dict[str, Response]:
        """Those of the queries that are shown; one that was not asked then did not run."""
        missing = Failure(FailureKind.NOT_RUN, "the query was not asked then")
        return {query.id: responses.get(query.id, missing) for query in self.suite.queries}

    def summarize_try(self, number: int) -> Summary:
        """The figures of the try of a *number*, by the grades of now."""
        if number in self._summaries:
            return self._summaries[number]
        side = self.find_shown(number).side
        summary = self._summarize(side, len(self.suite.queries), side.run.seconds or 0.0)
        self._summaries[number] = summary
        return summary

    def _summarize(self, side: ScoredSide, searches: int, seconds: float) -> Summary:
        """The figures of *side*, with the thresholds that it does not hold."""
        failing_live = self._failing_live
        if failing_live is None:
            failing_live = self._failing_live = find_failing(self.material, self.live)
        failing = find_failing(self.material, side)
        return replace(
            summarize(self.live, side),
            searches=searches,
            seconds=seconds,
            failing=[(text, threshold in failing_live) for threshold, text in failing.items()],
        )

    def list_rows(self, number: int) -> list[Row]:
        """The rows of the try of a *number*."""
        side = self.find_shown(number).side
        return [make_row(self.live, side, query) for query in self.suite.queries]

    def list_differences(self) -> dict[int, dict[str, float]]:
        """The differences by query of each try of today's live request, by the grades of now."""
        differences = {}
        for one in self.tries.tries:
            if not self.explain_stale(one):
                differences[one.number] = find_differences(self.live, self.find_shown(one.number).side)
        return differences

    def explain_stale(self, one: Try) -> str:
        """What changed since *one* was answered, so that it should be measured again; empty where nothing did."""
        reasons = []
        facts = self.material.facts
        if facts and one.fingerprints.index and one.fingerprints.index != facts:
            reasons.append("the index changed")
        if one.fingerprints.live != self.live_mark:
            reasons.append("the request that is live changed")
        if one.measure != self.material.measure.text:
            reasons.append(f"it was scored by {one.measure}")
        if not {query.id for query in self.suite.queries} <= {*one.rankings, *one.failures}:
            reasons.append("there are other queries")
        return " and ".join(reasons) + " since" if reasons else ""

    def compute_difference(self, number: int) -> float | None:
        """The mean difference of the try of a *number*, by the grades of now; None where no query has both scores."""
        differences = find_differences(self.live, self.find_shown(number).side)
        weights = {query.id: query.weight for query in self.suite.queries if query.id in differences}
        return mean_of(differences, weights) if differences else None

    def replace_judgments(self, judgments: Mapping[str, Mapping[str, float]]) -> None:
        """Score by other *judgments*, of the queries that have them there, from now on."""
        queries = tuple(
            replace(query, judgments=judgments[query.id]) if query.id in judgments else query
            for query in self.suite.queries
        )
        suite = replace(self.suite, queries=queries)
        with self._changed:
            self.suite = suite
            self.live = self.live.replace_suite(suite)
            self._forget_figures()
            for number, shown in self._shown.items():
                self._shown[number] = replace(shown, side=shown.side.replace_suite(suite))

    def reload_if_changed(self) -> bool:
        """Load the suite again where a file of it was changed; returns whether that was done. Raises as loading."""
        if not self.material.has_changed():
            return False
        material = self._reopen()
        with self._changed:
            self._end_older()
            self.material, self.suite, self.live = material, material.suite, material.live.side
            self._shown.clear()
            self._forget_figures()
        return True

    def _forget_figures(self) -> None:
        """What was computed by other judgments is computed again."""
        self._summaries.clear()
        self._failing_live = None

    def note_written(self) -> None:
        """Take the files of the suite as they are now: a request was added to it here, which changes nothing shown."""
        self.material = replace(self.material, states=read_states(self.material.suite.files))

    def _find_query(self, query_id: str) -> Query:
        return next(query for query in self.suite.queries if query.id == query_id)


def _order_queries(suite: Suite, shown: Suite, first: Sequence[str]) -> Suite:
    """*suite* with the queries of *shown*, those of *first* before the others."""
    by_id = {query.id: query for query in shown.queries}
    ids = dict.fromkeys([*(query for query in first if query in by_id), *by_id])
    return replace(suite, queries=tuple(by_id[query] for query in ids))


def _is_timeout(response: Response) -> bool:
    return isinstance(response, Failure) and response.kind in (FailureKind.TIMEOUT, FailureKind.NOT_RUN)
