"""A suite file and the files that it names -> a checked `Suite`, or all problems."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from harness.config import Configs
from harness.errors import ConfigError, Problem, SuiteError
from harness.extensions import Remedy, find_remedy
from harness.files.border import Border
from harness.masking import Masker
from harness.metrics import parse_measure
from harness.metrics.measures import DEFAULT_MEASURE, DEFAULT_MEASURE_OF_QUOTES, get_measure
from harness.model.suite import (
    Display,
    FieldExpectation,
    Gain,
    KappaCondition,
    Measure,
    Profile,
    Query,
    RequestTemplate,
    Suite,
    Target,
    Threshold,
    TuningSpace,
    select_scored,
)
from harness.process import gc_paused
from harness.suites.depth import choose_depth
from harness.suites.display import add_title_paths, check_display_paths, read_display, read_guidelines
from harness.suites.files import SuiteFiles, find_roots
from harness.suites.fixtures import FixtureFile, check_documents, read_fixture
from harness.suites.given_body import GivenBody
from harness.suites.grades import (
    Judgments,
    ScoredMeasure,
    check_gain,
    check_measure_gains,
    check_measures,
    list_judgment_files,
    list_scored_measures,
    read_gain,
    read_grade_descriptions,
    read_grade_names,
    read_judges,
)
from harness.suites.nothing import check_no_right_results, check_nothing
from harness.suites.parameters import fill_today, find_unfit_texts, read_tuning
from harness.suites.placeholders import check_placeholders, find_parameters
from harness.suites.presets import add_field_paths
from harness.suites.queries import add_vectors, list_queries
from harness.suites.quotes import check_quote_field
from harness.suites.reading import Reading, read_suite_file
from harness.suites.requests import check_gates, list_request_nodes, read_templates
from harness.suites.scalars import format_optional
from harness.suites.targets import (
    check_own_addresses,
    check_services,
    check_targets,
    read_own_targets,
    read_target,
)
from harness.suites.thresholds import (
    ThresholdReader,
    check_compared_requests,
    check_field_paths,
    check_tags,
    read_measures,
)
from harness.suites.variants import check_variant_requests, check_variant_thresholds
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
    configs: Configs
    """Say which configuration counts."""

    @property
    def root(self) -> Path | None:
        """The folder into which links may lead, beside the suite's own root."""
        return self.configs.root

    @cached_property
    def suite(self) -> Suite:
        """The suite; use it only after checking that there are no problems."""
        shape, reading = self.reading.shape, self.reading
        self._require("suite", "the suite has no name; expected 'suite: NAME'")
        templates, display = self._templates, Display()
        if shape.display is not None:
            display = read_display(shape.display, reading.problems)
        if reading.presets:
            templates = add_field_paths(templates, reading.presets, self._list_fields(display))
        if shape.display is not None:
            check_display_paths(shape.display, templates, reading.problems)
            templates = add_title_paths(templates, display.title)
        suite = Suite(
            name=str(shape.suite),
            path=str(self.path),
            target=self._read_target(),
            requests=templates,
            measures=self._measures,
            queries=self._judged_queries,
            thresholds=self._thresholds + self._expectations,
            gain=self._gain,
            profile=self._profile,
            grades=self._grade_names,
            judges=read_judges(shape.judges, reading.problems),
            grade_descriptions=read_grade_descriptions(shape.grades),
            guidelines="" if shape.guidelines is None else read_guidelines(shape.guidelines, self._files),
            depth=choose_depth(reading, self._templates.values(), self._measures, self.all_thresholds),
            skip_undefined=shape.undefined == "skip",
            display=display,
            fixture=None if self.fixture_file is None else self.fixture_file.fixture,
            markers=tuple(map(str, shape.markers)),
            variables=reading.variables,
            has_variables=bool(reading.used),
            mark=reading.root.mark,
            baseline_optional=shape.baseline == "optional",
            checks=shape.checks,
            vectors=tuple(map(str, shape.vectors)),
            warm_up=shape.warm_up or 0,
            roots=tuple(map(str, self.roots)),
            ungraded=self.judgments.ungraded,
            tuning=self.tuning,
        )
        # Each file is found when what is in it is read, so this comes last.
        files = dict.fromkeys([self.path, *self.reading.request_files, *self._files.found])
        return replace(suite, files=tuple(map(str, files)))

    def _list_fields(self, display: Display) -> list[str]:
        """The fields of documents that *display* and expectations name."""
        shown = [display.title, *display.fields, display.image, display.link, display.text]
        conditions = [threshold.condition for threshold in self.all_thresholds]
        expected = [condition.field for condition in conditions if isinstance(condition, FieldExpectation)]
        return [*filter(None, shown), *expected]

    def find_as_written(self) -> Suite:
        """The suite with its variables as they are written, as those who judge are asked; perhaps without judgments."""
        if self.reading.checking or not self.reading.used:
            return self.suite
        written = LoadedSuite(read_suite_file(self.path, None, self.configs), self.path, self.configs)
        # Without the judgments, which are no part of a question and may be millions of lines.
        return replace(self.suite, name=str(written.reading.shape.suite), queries=written._queries or ())

    def require_sound(self, *, but: Collection[Problem] = ()) -> None:
        """
        Raise if there are problems, except those of *judgments* and those in *but*.

        Raises:
            SuiteError: With the first of all problems, with variables masked.
        """
        problems = self.reading.problems
        if all(problem in but for problem in problems.found):
            return
        # A message may quote what the suite took from the environment.
        masker = Masker(self.reading.variables)
        shown = problems.list_first(_MOST_PROBLEMS)
        raise SuiteError([replace(problem, message=masker.mask(problem.message)) for problem in shown])

    def are_sound(self, *keys: str) -> bool:
        """Whether there are no problems below any of the top *keys*, so that their values are complete."""
        return not self.reading.broken.intersection(keys)

    def _require(self, key: str, sentence: str) -> None:
        if getattr(self.reading.shape, key) is None and self.are_sound(key):
            self.reading.problems.note(self.reading.root.mark, sentence, "missing-key")

    @cached_property
    def _files(self) -> SuiteFiles:
        return SuiteFiles(Border(self.path.parent, self.roots), self.reading.problems)

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that files of the suite may be in."""
        return find_roots(self.path, self.root)

    @cached_property
    def _written_templates(self) -> dict[str, RequestTemplate]:
        """The requests with the places of parameters as they are written."""
        return read_own_targets(self.reading, read_templates(self.reading), list_request_nodes(self.reading))

    @cached_property
    def tuning(self) -> TuningSpace | None:
        """The parameters of the requests; None if there are none, or they or the requests have problems."""
        if self.reading.shape.tune is None or not self.are_sound("tune", "request", "requests"):
            return None
        return read_tuning(self.reading, self._written_templates)

    @cached_property
    def _templates(self) -> dict[str, RequestTemplate]:
        if self.tuning is None:
            return self._written_templates
        return fill_today(self.tuning)

    @cached_property
    def _profile(self) -> Profile:
        return Profile(self.reading.shape.profile)

    @cached_property
    def _grade_names(self) -> dict[str, float]:
        return read_grade_names(self.reading.shape.grades, self.reading.problems)

    @cached_property
    def _gain(self) -> Gain:
        if not self.are_sound("grades"):
            return Gain()
        return read_gain(self.reading.shape.gain, self._grade_names, self._profile, self.reading.problems)

    @cached_property
    def known_gain(self) -> Gain | None:
        """The suite's gain, None if it is unknown."""
        return self._gain if self.are_sound("gain", "grades", "profile") else None

    @cached_property
    def _thresholds(self) -> tuple[Threshold, ...]:
        reading = self.reading
        return self._threshold_reader.read_thresholds(reading.shape.thresholds, reading.problems, of_query=False)

    @cached_property
    def _expectations(self) -> tuple[Threshold, ...]:
        """What the suite expects of each query."""
        reading = self.reading
        if not reading.shape.expect:
            return ()
        return self._threshold_reader.read_expectations(reading.shape.expect, reading.problems, of_query=False)

    @cached_property
    def _threshold_reader(self) -> ThresholdReader:
        return ThresholdReader(
            gain=self.known_gain,
            profile=self._profile,
            requests=self._templates if self.are_sound("request", "requests") else None,
            checking=self.reading.checking,
        )

    @property
    def all_thresholds(self) -> list[Threshold]:
        """The thresholds of the suite, and the thresholds and expectations of its queries."""
        thresholds = [*self._thresholds, *self._expectations]
        for query in self._queries or ():
            thresholds += query.thresholds
        return thresholds

    @property
    def names_machines(self) -> bool:
        """Whether `judges` may have machines, or a threshold is on the kappa of one."""
        if self.reading.shape.judges:
            return True
        return any(isinstance(threshold.condition, KappaCondition) for threshold in self.all_thresholds)

    @property
    def scores_anything(self) -> bool:
        """Whether a threshold, the suite's or a query's own, is on a score."""
        return any(get_measure(threshold) is not None for threshold in self.all_thresholds)

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
        """The queries without judgments of files; None if they are unknown."""
        self._require("queries", "the suite has no 'queries'; expected a list of queries, or the path of a query file")
        grade_names = self._grade_names if self.are_sound("grades") else None
        queries = list_queries(self.reading, self._files, grade_names, self._threshold_reader, self.judgments)
        if queries:
            return add_vectors(queries, self.reading, self._files) if self.reading.shape.vectors else queries
        # An empty tuple is an empty list, unless the key is missing, or all queries were left out as invalid.
        if queries is not None and self.reading.shape.queries is not None and self.are_sound("queries"):
            mark = self.reading.find_mark("queries")
            self.reading.problems.note(mark, "the suite is empty; expected at least one query")
        return queries

    @cached_property
    def _judged_queries(self) -> tuple[Query, ...]:
        queries = self._queries or ()
        if self.are_sound("grades"):
            self._add_judgment_files({query.id: query.text for query in queries})
        grades = self.judgments.grades
        return tuple(replace(query, judgments=grades.get(query.id, {})) for query in queries)

    def _add_judgment_files(self, queries: Mapping[str, str]) -> None:
        """Add the judgment files; *queries* are the ids of the suite's, each with its text."""
        written = list_judgment_files(self.reading.shape.judgments)
        strict = written.strict and self.knows_queries
        for path in written.paths:
            file = self._files.find(path)
            if file is not None:
                self.judgments.add_file(
                    file, queries, self._grade_names, strict=strict, skip_ungraded=written.skip_ungraded
                )

    @property
    def knows_queries(self) -> bool:
        """Whether all queries of the suite could be read."""
        return self._queries is not None and self.are_sound("queries")

    @cached_property
    def _measures(self) -> tuple[Measure, ...]:
        """The suite's `measures`; without these and without a threshold over all queries, those of tags and queries."""
        reading = self.reading
        measures = read_measures(reading.shape.measures, reading.problems)
        if reading.shape.measures or not self.are_sound("measures", "thresholds"):
            return measures
        if any(get_measure(threshold) for threshold in self._thresholds if threshold.tag is None):
            return ()
        measures_by_text: dict[str, Measure] = {}
        for threshold in self.all_thresholds:
            measure = get_measure(threshold)
            if measure is not None:
                measures_by_text[measure.text] = measure
        if not measures_by_text and any(query.judgments for query in select_scored(self._judged_queries)):
            return (parse_measure(DEFAULT_MEASURE),)
        if not measures_by_text and any(query.quotes for query in select_scored(self._judged_queries)):
            return (parse_measure(DEFAULT_MEASURE_OF_QUOTES),)
        return tuple(measures_by_text.values())

    def _read_target(self) -> Target:
        reading = self.reading
        return read_target(reading, self._templates.values())

    @cached_property
    def fixture_file(self) -> FixtureFile | None:
        """The fixture with the ids of its documents, None if the suite has none."""
        shape = self.reading.shape.fixture
        if shape is None:
            return None
        target = self.reading.shape.target
        judged_field = None if target is None else format_optional(target.id_field)
        return read_fixture(shape, judged_field, self.reading, self._files)


def describe_no_judgments(path: Path) -> str:
    """
    The problem of a suite that scores, unless it is loaded to pool its first judgments.

    >>> describe_no_judgments(Path("shop.relevance.yaml")).split("; ")[0]
    'the suite has no judgments'
    """
    remedy = find_remedy(Remedy.GRADE, f"; grade hits with `{{command}} {shlex.quote(str(path))}`")
    expected = "expected 'judgments' in its queries, or files under 'judgments'"
    return f"the suite has no judgments; {expected}{remedy}"


def _check(loaded: LoadedSuite) -> None:
    """
    Note contradictions between parts that are valid separately.

    A check that needs all of a part is skipped if that part has problems: the message would name the wrong line.
    """
    if loaded.are_sound("target", "fixture", "request", "requests"):
        check_targets(loaded.suite, loaded.reading)
    if loaded.knows_queries:
        if loaded.fixture_file is not None:
            _check_documents(loaded, loaded.fixture_file)
        _check_judgments(loaded)
        _check_queries(loaded)
    if loaded.are_sound("request", "requests"):
        check_gates(loaded.suite.requests.values(), loaded.all_thresholds, loaded.reading)
        check_field_paths(loaded.all_thresholds, loaded.suite.requests, loaded.reading.problems)
        check_compared_requests(loaded.all_thresholds, loaded.suite.requests, loaded.reading.problems)
    check_services(loaded.suite, loaded.reading)


def _check_documents(loaded: LoadedSuite, fixture_file: FixtureFile) -> None:
    """Check that documents that the suite names are in its fixture, unless a request searches elsewhere."""
    if not loaded.are_sound("request", "requests"):
        return
    suite = loaded.suite
    if not any(template.index or template.target for template in suite.requests.values()):
        check_documents(fixture_file, suite.queries, loaded.judgments, loaded.reading.problems)


def _check_judgments(loaded: LoadedSuite) -> None:
    """Check that a suite that scores has judgments; one with expectations or hit counts only needs none."""
    suite = loaded.suite
    if not suite.queries or not loaded.are_sound("judgments") or loaded.has_problems:
        return
    scored = select_scored(suite.queries)
    # Where no result is right for any query, there is nothing to judge.
    if not scored or any(query.judgments or query.quotes for query in scored):
        return
    if suite.measures or not loaded.all_thresholds or loaded.scores_anything:
        message = describe_no_judgments(loaded.path)
        loaded.judgments.problems.note(loaded.reading.find_mark("queries"), message, "no-judgments")


def _check_queries(loaded: LoadedSuite) -> None:
    """Check tags, gains, measures and placeholders against the queries."""
    suite, reading, judgment_problems = loaded.suite, loaded.reading, loaded.judgments.problems
    check_tags(suite.thresholds, suite.queries, reading.problems)
    if loaded.are_sound("display"):
        check_quote_field(suite.queries, suite.display, reading.problems)
    check_variant_thresholds(suite.thresholds, suite.queries, reading.problems)
    if loaded.known_gain is not None:
        check_gain(loaded.known_gain, reading.find_mark("gain"), suite.queries, judgment_problems)
        check_no_right_results(suite.queries, loaded.known_gain, loaded.judgments)
    check_nothing(suite.thresholds, suite.queries, reading.problems)
    queries = select_scored(suite.queries)
    scored = [ScoredMeasure(measure, reading.find_mark("measures"), queries) for measure in suite.measures]
    scored += list_scored_measures(queries, suite.thresholds)
    for query in queries:
        scored += list_scored_measures([query], query.thresholds)
    check_measure_gains(scored, judgment_problems)
    # Only a suite without problems is scored: wrong grades, say, are noted already, and each measure would note them
    # again.
    if not loaded.has_problems:
        check_measures(scored, suite.gain, suite.profile, judgment_problems)
    if loaded.are_sound("request", "requests"):
        _check_request_placeholders(loaded)
        if any(query.variants for query in suite.queries):
            check_variant_requests(suite, reading.problems)


def _check_request_placeholders(loaded: LoadedSuite) -> None:
    """Check the placeholders of the requests against the queries and the parameters."""
    reading = loaded.reading
    nodes = list_request_nodes(reading)
    written = {} if reading.shape.tune is None else dict.fromkeys(map(str, reading.shape.tune.parameters), "")
    if loaded.tuning is not None:
        written = {parameter.name: find_unfit_texts(parameter) for parameter in loaded.tuning.parameters}
        used = find_parameters(nodes)
        for parameter in loaded.tuning.parameters:
            if not parameter.pointer and parameter.name not in used:
                message = f"no request has {{{{param:{parameter.name}}}}}; write it there, or give a 'pointer'"
                reading.problems.note(parameter.mark, message)
    check_placeholders(nodes, loaded.suite.queries, written, reading.problems)


_MOST_PROBLEMS = 50
"""Problems of one suite that an error lists; it gives the number of the others."""


@gc_paused()
def load_unchecked(
    path: Path, environ: Mapping[str, str] | None, *, configs: Configs | None = None, body: GivenBody | None = None
) -> LoadedSuite:
    """The suite as far as it can be read, with its problems; arguments are those of `harness.suites.load_suite`."""
    configs = configs or Configs()
    try:
        configs.read_trusted()
    except ConfigError as error:
        raise SuiteError(error.problems) from None
    loaded = LoadedSuite(read_suite_file(path, environ, configs, body), path, configs)
    _check(loaded)
    check_own_addresses(loaded.reading, loaded.suite, configs)
    return loaded
