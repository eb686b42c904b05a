"""
The tries of a suite as they are shown: scored by the grades of now, beside what is live. Nothing is sent for them.

What was computed of a try is kept until grades, the suite or its answers change.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness.extensions.workbench.dials import describe_change
from harness.extensions.workbench.figures import (
    Best,
    Row,
    ScoredSide,
    Summary,
    count_searches,
    find_best,
    find_differences,
    find_mean_difference,
    judge_queries,
    make_rows,
    summarize,
)
from harness.extensions.workbench.guard import leave_out_unranked
from harness.extensions.workbench.opening import Material, fingerprint_index, read_states
from harness.extensions.workbench.tries import Fingerprints, TriesFile, Try
from harness.extensions.workbench.verdicts import Failing, find_failing
from harness.masking import fingerprint
from harness.model.run import Failure, Ranking
from harness.model.suite import Json, Query, Suite
from harness.store.what_changed import fingerprint_request

FACTS_HOLD = 30.0
"""Seconds for which the index counts as the same."""

LIVE = 0
"""The number under which the request that is live can be shown as a try."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A text that was answered: what a try is made of."""

    text: str
    values: Mapping[str, Json]
    suite: Suite
    """With the text as its request."""
    side: ScoredSide
    searches: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Shown:
    """A try as it is shown: scored by the grades of now."""

    number: int
    suite: Suite
    side: ScoredSide
    text: str
    values: Mapping[str, Json]


class ScoredTries:
    """The *tries* of the suite of *material*."""

    def __init__(self, material: Material, tries: TriesFile) -> None:
        self.material = material
        self.tries = tries
        self.suite = material.suite
        """With the grades of now, as has *live*."""
        self.live = material.live.side
        self._shown: dict[int, Shown] = {}
        self._summaries: dict[int, Summary] = {}
        self._owners: dict[str, Query] = {}
        self._owners_of: Suite | None = None
        """The suite of which these are the owners."""
        self._best: tuple[Best | None] | None = None
        """What `find_best` found, if it was asked since figures changed."""
        self._judgments = _fingerprint_judgments(material.suite)
        self._facts_read = time.monotonic()
        self.is_outdated = False
        """Whether the index is another one than that which gave the answers of what is live."""
        self._failing_live: Failing | None = None
        """The thresholds that what is live does not hold; None until that was asked."""
        self._lock = threading.RLock()

    def take_material(self, material: Material) -> None:
        """Go on with a suite that was loaded again."""
        with self._lock:
            self.material, self.suite, self.live = material, material.suite, material.live.side
            self._judgments = _fingerprint_judgments(material.suite)
            self._facts_read, self.is_outdated = time.monotonic(), False
            self._shown.clear()
            self._forget_figures()

    @property
    def live_mark(self) -> str:
        """The fingerprint of the request that is live; empty for a baseline."""
        answered = self.material.live.answered
        if answered is None:
            return ""
        suite = leave_out_unranked(self.material.suite)
        return fingerprint_request(suite, self.material.live.name) or ""

    def find_same(self, mark: str) -> int | None:
        """The number of the try whose request has this fingerprint; that of what is live where it has it."""
        if mark == self.live_mark:
            return LIVE
        return next((one.number for one in reversed(self.tries.tries) if one.request == mark), None)

    def find_owner(self, query_id: str) -> Query | None:
        """The query of an id, or that of which a variant has the id; None where neither is shown."""
        if self._owners_of is not self.suite:
            self._owners_of = self.suite
            self._owners = {query.id: query for query in self.suite.queries}
            for query in self.suite.queries:
                self._owners |= {variant.id: query for variant in query.variants}
        return self._owners.get(query_id)

    def has_document(self, query: Query, document: str) -> bool:
        """Whether a *document* is judged for *query*, or found by what is live or by a try, for it or a variant."""
        if document in query.judgments:
            return True
        ids = [query.id, *(variant.id for variant in query.variants)]
        is_exact = self.material.is_exact
        for responses in (self.live.responses, *(one.restore(exact_scores=is_exact) for one in self.tries.tries)):
            for response in map(responses.get, ids):
                if isinstance(response, Ranking) and document in response.ids[: self.suite.depth]:
                    return True
        return False

    def keep(self, answered: Answered, known: Try | None) -> Try | None:
        """
        Keep what was answered as a try, in the place of the *known* one that was measured again; None for no answers.

        Raises:
            UsageError: It cannot be written.
        """
        material, side = self.material, answered.side
        if not any(isinstance(response, Ranking) for response in side.responses.values()):
            return None
        summary = self._summarize(side, answered.searches, answered.seconds)
        rankings, failures, times = {}, {}, {}
        for query, response in side.responses.items():
            if isinstance(response, Failure):
                failures[query] = (str(response.kind), response.reason, response.status)
            else:
                hits = zip(response.ids, response.scores, strict=True)
                rankings[query] = [(sys.intern(document), score) for document, score in hits][: self.suite.depth]
                if response.took is not None:
                    times[query] = response.took
        name = describe_change(
            material.live.text, answered.text, self._live_values, {**self._live_values, **answered.values}
        )
        marks = Fingerprints(self._read_facts(side.run.index), self.live_mark, self._judgments)
        one = Try(
            number=0,
            name=material.masker.mask(name) or "other text",
            text=answered.text,
            request=fingerprint_request(answered.suite, material.request) or "",
            of=material.request,
            values=dict(answered.values),
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            measure=material.measure.text,
            scores=side.scores,
            difference=summary.difference,
            is_grey=summary.is_grey,
            rankings=rankings,
            failures=failures,
            times=times,
            seconds=summary.seconds,
            fingerprints=marks,
        )
        if known is None:
            one = self.tries.add(one)
        else:
            one = replace(one, number=known.number, name=known.name, kept=known.kept)
            self.tries.replace(one)
        with self._lock:
            self._shown.pop(one.number, None)
            self._best = None
            self._summaries[one.number] = summary
        return one

    def _read_facts(self, index: str | None) -> str:
        """A fingerprint of the index as it was a short time ago at most: to read it takes three requests."""
        if time.monotonic() > self._facts_read + FACTS_HOLD:
            self._facts_read = time.monotonic()
            facts = fingerprint_index(self.material.search, index)
            self.is_outdated = facts not in ("", self.material.facts)
            return facts
        return self.material.facts

    @property
    def _live_values(self) -> dict[str, Json]:
        space = self.material.suite.tuning
        return {} if space is None else {one.name: one.today for one in space.parameters if not one.pointer}

    def find_shown(self, number: int) -> Shown:
        """
        The try of a *number*, or what is live, by the grades of now. Nothing is sent.

        Raises:
            UsageError: There is no such try.
        """
        if number == LIVE:
            material = self.material
            return Shown(LIVE, material.suite, self.live, material.live.text, {})
        with self._lock:
            if number in self._shown:
                return self._shown[number]
        one = self.tries.find(number)
        responses = one.restore(exact_scores=self.material.is_exact)
        run = replace(self.material.live.side.run, seconds=one.seconds)
        known: dict[str, float | None] = {}
        if one.fingerprints.judgments == self._judgments and one.measure == self.material.measure.text:
            known = {query.id: one.scores.get(query.id) for query in self.suite.queries}
        side = ScoredSide(self.suite, self.material.measure, responses, run, known)
        shown = Shown(number, self.suite, side, one.text, one.values)
        with self._lock:
            self._shown[number] = shown
        return shown

    def summarize_try(self, number: int) -> Summary:
        """The figures of the try of a *number*, by the grades of now."""
        if number in self._summaries:
            return self._summaries[number]
        side = self.find_shown(number).side
        summary = self._summarize(side, count_searches(self.suite), side.run.seconds or 0.0)
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
        rows = []
        for query in self.suite.queries:
            rows += make_rows(self.live, side, query)
        return rows

    def find_best(self) -> Best | None:
        """The best of the tries of today's live request, by the grades of now; None where there is no choice."""
        if self._best is None:
            weights = {query.id: query.weight for query in self.suite.queries}
            self._best = (find_best(self.list_differences(), weights),)
        return self._best[0]

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
        return find_mean_difference(self.live, self.find_shown(number).side)

    def replace_judgments(self, judgments: Mapping[str, Mapping[str, float]]) -> None:
        """Score by other *judgments*, of the queries that have them there, from now on."""
        suite = judge_queries(self.suite, judgments)
        with self._lock:
            self.suite, self._judgments = suite, _fingerprint_judgments(suite)
            self.live = self.live.replace_suite(suite)
            self._forget_figures()
            for number, shown in self._shown.items():
                self._shown[number] = replace(shown, side=shown.side.replace_suite(suite))

    def note_written(self) -> None:
        """Take the files of the suite as they are now: a request was added to it here, which changes nothing shown."""
        self.material = replace(self.material, states=read_states(self.material.suite.files))

    def _forget_figures(self) -> None:
        """What was computed by other judgments is computed again."""
        self._summaries.clear()
        self._best = None
        self._failing_live = None


def _fingerprint_judgments(suite: Suite) -> str:
    """A fingerprint of all judgments of *suite*."""
    return fingerprint([[query.id, dict(query.judgments)] for query in suite.queries])
