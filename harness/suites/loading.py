"""A suite file and the files that it names -> a checked `Suite`, or all problems."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from harness.config import Configs, config_path
from harness.errors import ConfigError, Problem, SuiteError
from harness.files.border import Border
from harness.masking import Masker
from harness.metrics import parse_measure
from harness.metrics.score import DEFAULT_MEASURE, measure_named
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
from harness.process import gc_paused
from harness.search import find_dialect
from harness.suites.depth import choose_depth
from harness.suites.fixtures import FixtureFile, check_documents, read_fixture
from harness.suites.grades import (
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
from harness.suites.queries import add_vectors, list_queries
from harness.suites.reading import Reading, SuiteFiles, read_suite_file
from harness.suites.requests import (
    check_indexes,
    check_own_address,
    check_point_in_time,
    check_service,
    list_request_nodes,
    read_target,
    read_templates,
)
from harness.suites.thresholds import check_tags, read_measures, read_thresholds
from harness.suites.yaml import Problems


@dataclass
class LoadedSuite:
    """
    A suite with its parts, each made once, on first use.

    Problems of its judgments, and their consequences, are in the problems of *judgments*, all others in those of its
    *reading*.
    """

    reading: Reading
    path: Path
    root: Path | None = None
    """The folder into which links may lead, beside the suite's own root."""

    @cached_property
    def suite(self) -> Suite:
        """The suite; use it only after checking that there are no problems."""
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
            depth=choose_depth(self.reading, self._templates.values(), self._measures, self.all_thresholds),
            skip_undefined=shape.undefined == "skip",
            title_field=None if shape.title_field is None else str(shape.title_field),
            fixture=None if self.fixture_file is None else self.fixture_file.fixture,
            markers=tuple(map(str, shape.markers)),
            variables=reading.variables,
            mark=reading.root.mark,
            baseline_optional=shape.baseline == "optional",
            checks=shape.checks,
            vectors=tuple(map(str, shape.vectors)),
            warm_up=shape.warm_up or 0,
            roots=tuple(map(str, self.roots)),
            ungraded=self.judgments.ungraded,
        )

    def require_sound(self, *, but: Collection[Problem] = ()) -> None:
        """
        Raise if there are problems, except those of *judgments* and those in *but*.

        Raises:
            SuiteError: With the first of all problems, with variables masked.
        """
        problems = self.reading.problems
        if any(one not in but for one in problems.found):
            masker = Masker(self.reading.variables)
            raise SuiteError(
                [replace(one, message=masker.mask(one.message)) for one in problems.list_first(MOST_PROBLEMS)]
            )

    def is_whole(self, *keys: str) -> bool:
        """Whether there are no problems below any of the top *keys*, so that their values are complete."""
        return not self.reading.broken.intersection(keys)

    def _require(self, key: str, sentence: str) -> None:
        if getattr(self.reading.shape, key) is None and self.is_whole(key):
            self.reading.problems.note(self.reading.root.mark, sentence)

    @cached_property
    def _files(self) -> SuiteFiles:
        return SuiteFiles(Border(self.path.parent, self.roots), self.reading.problems)

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """
        The folders that files of the suite may be in: that of the harness.toml above it, else its own; and the one that
        the user named.
        """
        folder = self.path.parent
        config = config_path(folder)
        own = config.parent if config else folder.resolve()
        return (own,) if self.root is None else (own, self.root)

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
        """The suite's gain, None if it is unknown."""
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
    def all_thresholds(self) -> list[Threshold]:
        """The thresholds of the suite, and the thresholds and expectations of its queries."""
        own = [query.thresholds for query in self._queries or ()]
        return [*self._thresholds, *chain.from_iterable(own)]

    @property
    def scores_anything(self) -> bool:
        """Whether a threshold, the suite's or a query's own, is on a score."""
        return any(measure_named(threshold) is not None for threshold in self.all_thresholds)

    @property
    def has_problems(self) -> bool:
        """Whether there are any problems so far."""
        return bool(self.reading.problems.found or self.judgments.problems.found)

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments so far; their problems are separate from those of the suite."""
        problems = self.reading.problems
        return Judgments(Problems(problems.source, concealed=problems.concealed))

    @cached_property
    def _queries(self) -> tuple[Query, ...] | None:
        self._require("queries", "the suite has no 'queries'; expected a list of queries, or the path of a query file")
        names = self._grade_names if self.is_whole("grades") else None
        queries = list_queries(self.reading, self._files, names, self.known_gain, self.judgments)
        if queries:
            queries = add_vectors(queries, self.reading, self._files)
        if queries is not None and not queries and self.reading.shape.queries is not None and self.is_whole("queries"):
            self.reading.problems.note(
                self.reading.find_mark("queries"), "the suite is empty; expected at least one query"
            )
        return queries

    @cached_property
    def _judged_queries(self) -> tuple[Query, ...]:
        queries = self._queries or ()
        query_ids = {query.id for query in queries}
        named = judgment_files(self.reading.shape.judgments)
        strict = named.strict and self.knows_queries
        for written in named.paths if self.is_whole("grades") else ():
            file = self._files.find(written)
            if file is not None:
                self.judgments.add_file(
                    file, query_ids, self._grade_names, strict=strict, skip_ungraded=named.skip_ungraded
                )
        grades = self.judgments.grades
        return tuple(replace(query, judgments=grades.get(query.id, {})) for query in queries)

    @property
    def knows_queries(self) -> bool:
        """Whether all queries of the suite could be read."""
        return self._queries is not None and self.is_whole("queries")

    @cached_property
    def _measures(self) -> tuple[Measure, ...]:
        """The suite's `measures`; without these and without a threshold over all queries, those of tags and queries."""
        measures = read_measures(self.reading.shape.measures, self.reading.problems)
        if self.reading.shape.measures or not self.is_whole("measures", "thresholds"):
            return measures
        if any(measure_named(threshold) for threshold in self._thresholds if threshold.tag is None):
            return ()
        named = {measure.text: measure for measure in map(measure_named, self.all_thresholds) if measure is not None}
        if not named and any(query.judgments for query in self._judged_queries):
            return (parse_measure(DEFAULT_MEASURE),)
        return tuple(named.values())

    def _target(self) -> Any:
        target = read_target(self.reading, self._templates.values())
        if target.id_field is not None and self.reading.shape.fixture is not None:
            message = "'id_field' is for an index that exists; the fixture's `id` names the field with its ids"
            self.reading.problems.note(target.mark, message)
        if self.is_whole("target", "index", "fixture", "request", "requests"):
            check_indexes(target, self._templates.values(), self.reading)
            check_point_in_time(target, self._templates.values(), self.reading)
        return target

    @cached_property
    def fixture_file(self) -> FixtureFile | None:
        """The fixture with the ids of its documents, None if the suite has none."""
        return read_fixture(self.reading, self._files)


NO_JUDGMENTS = "the suite has no judgments; expected 'judgments' in its queries, or files under 'judgments'"
"""The problem of a suite that scores, unless it is loaded to pool its first judgments."""


def _check(parts: LoadedSuite) -> None:
    """
    Note contradictions between parts that are valid separately.

    A check that needs all of a part is skipped if that part has problems: the message would name the wrong line.
    """
    if parts.knows_queries:
        _check_documents(parts)
        _check_judgments(parts)
        _check_queries(parts)
    if not find_dialect(parts.suite.target.service).has_indexes:
        check_service(parts.all_thresholds, parts.reading)


def _check_documents(parts: LoadedSuite) -> None:
    """Documents that the suite names are in its fixture, unless a request has another index."""
    elsewhere = not parts.is_whole("request", "requests") or any(one.index for one in parts.suite.requests.values())
    if parts.fixture_file is not None and not elsewhere:
        check_documents(parts.fixture_file, parts.suite.queries, parts.judgments, parts.reading.problems)


def _check_judgments(parts: LoadedSuite) -> None:
    """A suite that scores needs judgments; one with expectations or hit counts only does not."""
    suite = parts.suite
    if not suite.queries or not parts.is_whole("judgments") or parts.has_problems:
        return
    if any(query.judgments for query in suite.queries):
        return
    if suite.measures or not parts.all_thresholds or parts.scores_anything:
        parts.judgments.problems.note(parts.reading.find_mark("queries"), NO_JUDGMENTS, "no judgments")


def _check_queries(parts: LoadedSuite) -> None:
    """Check tags, gains, measures and placeholders against the queries."""
    suite, reading, wrong = parts.suite, parts.reading, parts.judgments.problems
    check_tags(suite.thresholds, suite.queries, reading.problems)
    if parts.known_gain is not None:
        check_gain(suite.gain, reading.find_mark("gain"), suite.queries, wrong)
    measures = _measures_with_places(suite, reading.find_mark("measures"))
    check_measure_gains(measures, wrong)
    if not parts.has_problems:
        check_measures(measures, suite.gain, suite.profile, wrong)
    if parts.is_whole("request", "requests"):
        check_placeholders(list_request_nodes(reading), suite.queries, reading.problems)


def _measures_with_places(suite: Suite, mark: Mark) -> list[tuple[Measure, Mark, Sequence[Query]]]:
    scored: list[tuple[Measure, Mark, Sequence[Query]]] = [(measure, mark, suite.queries) for measure in suite.measures]
    scored += measures_of(suite.queries, suite.thresholds)
    for query in suite.queries:
        scored += measures_of([query], query.thresholds)
    return scored


MOST_PROBLEMS = 50
"""Problems of one suite that an error lists; it gives the number of the others."""


@gc_paused()
def load_unchecked(path: Path, environ: Mapping[str, str] | None, *, configs: Configs | None = None) -> LoadedSuite:
    """The suite as far as it can be read, with its problems; arguments are those of `harness.suites.load_suite`."""
    configs = configs or Configs()
    try:
        configs.read_trusted()
    except ConfigError as error:
        raise SuiteError(error.problems) from None
    loaded = LoadedSuite(read_suite_file(path, environ, configs), path, configs.root)
    _check(loaded)
    check_own_address(loaded.reading, path.parent, configs)
    return loaded
