"""A suite file and the files that it names -> a checked `Suite`, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.config import config_path
from harness.errors import Problem, SuiteError
from harness.masking import Masker
from harness.metrics import parse_measure
from harness.metrics.run_scores import measure_named
from harness.model import (
    Gain,
    Mark,
    Measure,
    Profile,
    Query,
    RequestTemplate,
    Suite,
    Threshold,
)
from harness.suites.depth import choose_depth
from harness.suites.fixtures import FixtureFile, check_documents, read_fixture
from harness.suites.judgments import (
    Judgments,
    check_gain,
    check_measure_gains,
    check_measures,
    judgment_files,
    measures_of,
    read_gain,
    read_grade_names,
)
from harness.suites.placeholders import check_placeholders
from harness.suites.queries import list_queries
from harness.suites.reading import Reading, SuiteFiles, read_suite_file
from harness.suites.requests import read_templates, request_nodes
from harness.suites.targets import check_config, check_indexes, check_service, read_target
from harness.suites.thresholds import check_tags, read_measures, read_thresholds
from harness.suites.yaml import Problems

DEFAULT_MEASURE = "nDCG@10"


@dataclass
class Parts:
    """The parts of one suite; one that others need is made once, when it is first asked for."""

    reading: Reading
    path: Path
    root: Path | None

    def suite(self) -> Suite:
        """The whole of it; not to be used before it was checked, and the problems were looked at."""
        shape, reading = self.reading.shape, self.reading
        self._require("suite", "the suite has no name; expected 'suite: NAME'")
        return Suite(
            name=str(shape.suite),
            path=str(self.path),
            target=self._target(),
            requests=self._templates,
            measures=self._measures,
            queries=self._judged_queries,
            thresholds=self._thresholds,
            gain=self._gain,
            profile=self._profile,
            grades=self._grade_names,
            depth=self._depth(),
            skip_undefined=shape.undefined == "skip",
            title_field=None if shape.title_field is None else str(shape.title_field),
            fixture=None if self.brought is None else self.brought.fixture,
            markers=tuple(map(str, shape.markers)),
            variables=reading.variables,
            mark=reading.root.mark,
            baseline_optional=shape.baseline == "optional",
            ungraded=self.judgments.ungraded,
        )

    def is_whole(self, *keys: str) -> bool:
        """Whether nothing is wrong below any of the top *keys*, so that what is there is all that was meant."""
        return not self.reading.broken.intersection(keys)

    def _require(self, key: str, sentence: str) -> None:
        if getattr(self.reading.shape, key) is None and self.is_whole(key):
            self.reading.problems.at(self.reading.root.mark, sentence)

    @cached_property
    def _files(self) -> SuiteFiles:
        folder = self.path.parent
        config = None if self.root is not None else config_path(folder)
        root = self.root or (config.parent if config else folder)
        return SuiteFiles(folder, root, self.reading.problems)

    @cached_property
    def _templates(self) -> dict[str, RequestTemplate]:
        return read_templates(self.reading)

    @cached_property
    def _profile(self) -> Profile:
        return Profile(self.reading.shape.profile)

    @cached_property
    def _grade_names(self) -> dict[str, float]:
        return read_grade_names(self.reading.shape.grades, self.reading.problems)

    @cached_property
    def _gain(self) -> Gain:
        if not self.is_whole("grades"):
            return Gain()
        return read_gain(self.reading.shape.gain, self._grade_names, self._profile, self.reading.problems)

    @cached_property
    def known_gain(self) -> Gain | None:
        """The suite's gain, None where it cannot be told."""
        return self._gain if self.is_whole("gain", "grades", "profile") else None

    @cached_property
    def _thresholds(self) -> tuple[Threshold, ...]:
        reading = self.reading
        return read_thresholds(
            reading.shape.thresholds,
            self.known_gain,
            reading.problems,
            of_query=False,
            checking=reading.checking,
            profile=self._profile,
        )

    @property
    def _own_thresholds(self) -> list[Threshold]:
        """What the queries hold themselves to, and what they expect of single documents."""
        return [threshold for query in self._queries or () for threshold in query.thresholds]

    @cached_property
    def judgments(self) -> Judgments:
        """What is judged so far; its problems are kept apart from those of the suite."""
        return Judgments(Problems(self.reading.problems.source))

    @cached_property
    def _queries(self) -> tuple[Query, ...] | None:
        self._require(
            "queries", "the suite has no 'queries'; expected a list of queries, or the path of a file of them"
        )
        names = self._grade_names if self.is_whole("grades") else None
        queries = list_queries(self.reading, self._files, names, self.known_gain, self.judgments)
        if queries == () and self.reading.shape.queries is not None and self.is_whole("queries"):
            self.reading.problems.at(
                self.reading.key_mark("queries"), "the suite is empty; expected at least one query"
            )
        return queries

    @cached_property
    def _judged_queries(self) -> tuple[Query, ...]:
        queries = self._queries or ()
        by_id = {query.id: query for query in queries}
        named = judgment_files(self.reading.shape.judgments)
        strict = named.strict and self.knows_queries
        for written in named.paths if self.is_whole("grades") else ():
            file = self._files.find(written)
            if file is not None:
                self.judgments.add_file(
                    file, by_id, self._grade_names, strict=strict, skip_ungraded=named.skip_ungraded
                )
        return self.judgments.join_to(queries)

    @property
    def knows_queries(self) -> bool:
        """Whether every query of the suite is known, so that what is missing is really missing."""
        return self._queries is not None and self.is_whole("queries")

    @cached_property
    def _measures(self) -> tuple[Measure, ...]:
        measures = read_measures(self.reading.shape.measures, self.reading.problems)
        unsaid = not self.reading.shape.measures and self.is_whole("measures", "thresholds")
        if unsaid and not self._scored() and any(query.judgments for query in self._judged_queries):
            return (parse_measure(DEFAULT_MEASURE),)
        return measures

    def _target(self) -> Any:
        target = read_target(self.reading, self._templates.values())
        if self.is_whole("target", "index", "fixture", "request", "requests"):
            check_indexes(target, self._templates.values(), self.reading)
        return target

    @cached_property
    def brought(self) -> FixtureFile | None:
        """What the suite brings along, None where it has no fixture."""
        return read_fixture(self.reading, self._files)

    def _depth(self) -> int:
        thresholds = [*self._thresholds, *self._own_thresholds]
        return choose_depth(self.reading, self._templates.values(), self._measures, thresholds)

    def _scored(self) -> list[Threshold]:
        """Every threshold on a score, the suite's and the queries' own."""
        everything = [*self._thresholds, *self._own_thresholds]
        return [threshold for threshold in everything if measure_named(threshold) is not None]


NO_JUDGMENTS = "the suite has no judgments; expected 'judgments' at its queries, or files under 'judgments'"
"""What is wrong with a suite that scores, unless it is read to find what is to be judged first."""


def check_suite(suite: Suite, parts: Parts) -> None:
    """
    Tell the problems of *parts* what does not go together in *suite*.

    Where a part could not be read whole, what needs all of it is not checked: the wrong line would be blamed.
    """
    if parts.knows_queries:
        _check_documents(suite, parts)
        _check_judgments(suite, parts)
        _check_queries(suite, parts)
    if suite.target.service == "http":
        own = [threshold for query in suite.queries for threshold in query.thresholds]
        check_service([*suite.thresholds, *own], parts.reading)


def _check_documents(suite: Suite, parts: Parts) -> None:
    """What the suite says of documents is about those it brings along, where no request goes elsewhere."""
    elsewhere = not parts.is_whole("request", "requests") or any(one.index for one in suite.requests.values())
    if parts.brought is not None and not elsewhere:
        check_documents(parts.brought, suite.queries, parts.judgments, parts.reading.problems)


def _check_judgments(suite: Suite, parts: Parts) -> None:
    """A suite that scores has judgments; one that only expects documents or counts hits needs none."""
    if not suite.queries or not parts.is_whole("judgments") or _is_wrong(parts):
        return
    if any(query.judgments for query in suite.queries):
        return
    thresholds = [*suite.thresholds, *(threshold for query in suite.queries for threshold in query.thresholds)]
    if suite.measures or not thresholds or any(measure_named(threshold) is not None for threshold in thresholds):
        parts.judgments.problems.at(parts.reading.key_mark("queries"), NO_JUDGMENTS)


def _check_queries(suite: Suite, parts: Parts) -> None:
    """Tags, gains, measures and placeholders against the queries that they are for."""
    reading, wrong = parts.reading, parts.judgments.problems
    check_tags(suite.thresholds, suite.queries, reading.problems)
    if parts.known_gain is not None:
        check_gain(suite.gain, reading.key_mark("gain"), suite.queries, wrong)
    measures = _measures_with_places(suite, reading.key_mark("measures"))
    check_measure_gains(measures, wrong)
    if not _is_wrong(parts):
        check_measures(measures, suite.gain, suite.profile, wrong)
    if parts.is_whole("request", "requests"):
        check_placeholders(request_nodes(reading), suite.queries, reading.problems)


def _is_wrong(parts: Parts) -> bool:
    return bool(parts.reading.problems.found or parts.judgments.problems.found)


def _measures_with_places(suite: Suite, mark: Mark) -> list[tuple[Measure, Mark, Sequence[Query]]]:
    scored: list[tuple[Measure, Mark, Sequence[Query]]] = [(measure, mark, suite.queries) for measure in suite.measures]
    scored += measures_of(suite.queries, suite.thresholds)
    for query in suite.queries:
        scored += measures_of([query], query.thresholds)
    return scored


MOST_TOLD = 50
"""Problems of one suite that are told; who has more of them mends the first."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """
    A *suite* with all that is wrong with it, so that it must not run before that was looked at.

    What is wrong with its judgments, and follows from them, is in the problems of *judgments*, all else in those of
    its *reading*. *brought* is what its fixture holds.
    """

    suite: Suite
    reading: Reading
    judgments: Judgments
    brought: FixtureFile | None

    def require_sound(self, *, but: Collection[Problem] = ()) -> None:
        """
        Fail where anything is wrong but what is in the problems of *judgments*, and what is among *but*.

        Raises:
            SuiteError: With the first of all problems, variables masked.
        """
        problems = self.reading.problems
        if any(one not in but for one in problems.found):
            masker = Masker(self.reading.variables)
            raise SuiteError([replace(one, message=masker.mask(one.message)) for one in problems.first(MOST_TOLD)])


def load(
    path: Path, environ: Mapping[str, str] | None, *, root: Path | None = None, needs_judgments: bool = True
) -> Suite:
    """As `harness.suites.load_suite` says."""
    assembled = assemble(path, environ, root=root)
    found = assembled.judgments.problems.found
    assembled.reading.problems.extend(one for one in found if needs_judgments or one.message != NO_JUDGMENTS)
    assembled.require_sound()
    return assembled.suite


def assemble(path: Path, environ: Mapping[str, str] | None, *, root: Path | None = None) -> Assembled:
    """The suite as far as it can be read, with its problems; arguments are those of `harness.suites.load_suite`."""
    reading = read_suite_file(path, environ)
    parts = Parts(reading, path, root)
    suite = parts.suite()
    check_suite(suite, parts)
    check_config(path.parent, reading.problems)
    return Assembled(suite, reading, parts.judgments, parts.brought)
