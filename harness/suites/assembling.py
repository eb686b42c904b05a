"""The parts of a suite, from what was read of it: each made once, and put together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.config import config_path
from harness.metrics import parse_measure
from harness.metrics.run_scores import measure_named
from harness.model import Gain, Measure, Profile, Query, RequestTemplate, Suite, Threshold
from harness.suites.conditions import read_measures, read_thresholds
from harness.suites.depth import choose_depth
from harness.suites.entries import list_queries
from harness.suites.files import SuiteFiles
from harness.suites.fixtures import FixtureFile, read_fixture
from harness.suites.grading import read_gain, read_grade_names
from harness.suites.judging import Judgments, judgment_files
from harness.suites.problems import Problems
from harness.suites.reading import Reading
from harness.suites.targets import check_indexes, read_target
from harness.suites.templates import read_templates

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

    # ------------------------------------------------------------------------------------------------ parts

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
            reading.shape.thresholds, self.known_gain, reading.problems, of_query=False, checking=reading.checking
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
