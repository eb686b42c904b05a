"""Two runs compared from Python: what `Relevance.compare` does and returns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.api.choices import (
    RUN_ARGUMENTS,
    AnyGain,
    Options,
    merge_options,
    read_argument,
    refuse,
    refuse_unknown,
)
from harness.api.evaluation import Scores
from harness.api.frames import ColumnType, TypedColumn, make_columns, make_frame, read_content
from harness.api.running import Caller
from harness.errors import UsageError
from harness.extensions.compare import printers
from harness.extensions.compare.model import ComparisonReport, QueryComparison, SideKind
from harness.extensions.compare.preparing import (
    CompareOptions,
    ComparisonRequest,
    PreparedComparison,
    prepare,
    read_thresholds,
)
from harness.extensions.compare.scores import list_absent_packages
from harness.extensions.compare.sides import ComparedSide, make_run_side
from harness.files.runs import read_measures
from harness.metrics import parse_measure
from harness.model.comparison import TEST_OPTIONS, Agreement, MeasureComparison
from harness.model.suite import Profile, Suite
from harness.options import RunOptions
from harness.words import did_you_mean

AnySide: TypeAlias = "str | os.PathLike[str] | Scores"
"""A side: its text, the path of a file, or scores from Python."""


class CompareChoices(Options, total=False):
    """The options of `Relevance.compare`."""

    qrels: str | os.PathLike[str] | None
    measures: Sequence[str]
    depth: int | None
    profile: Profile | str | None
    gain: AnyGain | None
    complete: bool
    test: str
    alternative: Literal["two-sided", "less", "greater"]
    level: float
    correction: str
    seed: int


class ComparedRuns:
    """Two runs that were compared."""

    def __init__(self, prepared: PreparedComparison) -> None:
        """
        Args:
            prepared: The two runs, and how they are compared.

        Raises:
            UsageError: A measure is deeper than the rankings of a side, or there are no judgments or scores for it.
        """
        self._prepared = prepared
        self.report: ComparisonReport = prepared.make_report()

    @property
    def agreement(self) -> Agreement:
        """
        How far the rankings agree.

        Raises:
            UsageError: No query has a ranking on both sides.
        """
        if self.report.agreement is None:
            raise UsageError("no query has a ranking on both sides")
        return self.report.agreement

    def difference(self, measure: str) -> MeasureComparison:
        """
        The difference of the means of *measure*, such as ``nDCG@10``, with its interval and p.

        Raises:
            MeasureError: The measure is not known.
            UsageError: It was not compared.
        """
        text = parse_measure(read_argument("measure", measure)).text
        differences = self.report.measures.measures if self.report.measures else ()
        by_measure = {difference.measure: difference for difference in differences}
        if text not in by_measure:
            compared = ", ".join(by_measure) or "none"
            raise UsageError(f"{text} was not compared, only {compared}; name it in measures=[{text!r}]")
        return by_measure[text]

    def query(self, query: str) -> QueryComparison:
        """
        One query in both runs, by its id.

        Raises:
            UsageError: There is no such query.
        """
        by_id = {report.id: report for report in self.report.queries}
        if read_argument("query", query) not in by_id:
            raise UsageError(f"there is no query {query!r}{did_you_mean(query, by_id)}")
        return by_id[query]

    def to_frame(self, content: str = "scores", *, package: str | None = None) -> Any:
        """
        The comparison as a data frame.

        Args:
            content: ``"scores"`` for a row a query, with both scores of each measure and the candidate's minus the
                reference's; ``"rankings"`` for a row a document, with its rank on both sides.
            package: As in `Scores.to_frame`.

        Raises:
            UsageError: an argument is wrong, or the package is not installed.
        """
        if read_content(content) == "rankings":
            return make_frame(list_compared_ranking_columns(self.report), package)
        return make_frame(list_compared_score_columns(self.report), package)

    def _repr_html_(self) -> str:
        """The comparison in short, for notebooks."""
        return printers.render_for_notebook(self.report)

    def assert_thresholds(self, *thresholds: str) -> None:
        """
        Raise AssertionError unless *thresholds*, such as ``drop nDCG@10 <= 0.02`` or ``mean RBO >= 0.9``, hold.

        Raises:
            AssertionError: One failed or could not be judged, or a query has no answer; the message shows the worst
                queries' rankings side by side.
            UsageError: None is given, or one cannot be decided.
        """
        if not thresholds:
            raise UsageError("there are no thresholds")
        conditions = read_thresholds([read_argument("threshold", text) for text in thresholds])
        report = self._prepared.make_report(conditions)
        if report.exit_status != 0:
            raise AssertionError(printers.format_comparison_failure(report))


def compare_sides(
    caller: Caller, sides: tuple[AnySide, AnySide], suite: Path | None, options: Mapping[str, Any]
) -> ComparedRuns:
    """
    Compare the second of *sides* with the first, as `Relevance.compare` says; *options* are `CompareChoices`.

    Raises:
        InputError, UsageError, BaselineError, EngineStartError: as there.
    """
    refuse_unknown(options, [*CompareChoices.__annotations__, *RUN_ARGUMENTS])
    arguments = {name: read_argument(name, value) for name, value in options.items()}
    if arguments.get("body") is not None:
        raise UsageError("compare takes no body; give what run(suite, body=…) returned as a side")
    if arguments.get("history") is not None:
        raise UsageError("compare keeps no history; give what run(suite, history=…) returned as a side")
    # A side names its request itself; the option is for sides that name none.
    of_run = {name: arguments[name] for name in arguments if name in RUN_ARGUMENTS and name != "request"}
    run_options = replace(merge_options(caller.options, of_run), body=None, history=None)
    reference, candidate = sides
    request = ComparisonRequest(
        (_read_side(reference, "reference"), _read_side(candidate, "candidate")),
        _read_compare_options(arguments, run_options),
        suite=suite or _find_common_suite(sides),
        qrels=arguments.get("qrels"),
        request=arguments.get("request"),
        measures=tuple(read_measures(arguments.get("measures", ())).values()),
        profile=arguments.get("profile"),
        gain=arguments.get("gain"),
        complete=arguments.get("complete", False),
        run=run_options,
    )
    return ComparedRuns(prepare(request, caller.answer, caller.environ))


def _find_common_suite(sides: Sequence[AnySide]) -> Suite | None:
    """
    The suite of the first of *sides* that was scored in Python, for both to be scored by; None where none was.

    Raises:
        UsageError: The two were scored with different judgments, so that it is not clear which to use.
    """
    suites = [side.suite for side in sides if isinstance(side, Scores)]
    if not suites:
        return None
    first, *others = suites
    judgments = {query.id: query.judgments for query in first.queries}
    for other in others:
        # A query of one side only is scored by its own judgments.
        unlike = [query.id for query in other.queries if judgments.get(query.id, query.judgments) != query.judgments]
        difference = None
        if unlike:
            difference = f"queries {', '.join(unlike)} are judged differently"
        elif (other.gain, other.profile) != (first.gain, first.profile):
            difference = "gain or profile differ"
        if difference is not None:
            raise UsageError(f"the two were not scored alike: {difference}; give suite=… to score both")
    return first


def _read_side(side: object, name: str) -> str | ComparedSide:
    if isinstance(side, Scores):
        return make_run_side(side.title or f"the {name} rankings", SideKind.PYTHON, side.suite, side.rankings)
    if not isinstance(side, str | os.PathLike):
        refuse(name, side, "a text such as baseline, the path of a file, or what run or evaluate returned")
    return os.fspath(side)


def _read_compare_options(arguments: Mapping[str, Any], run_options: RunOptions) -> CompareOptions:
    """How the two are compared; without the packages for statistics only rankings can be."""
    test_options = None
    if not list_absent_packages():
        from harness.statistics.compare import ComparisonOptions

        test_options = ComparisonOptions(**{name: arguments[name] for name in TEST_OPTIONS if name in arguments})
    return CompareOptions(run_options.day(), arguments.get("depth"), test_options)


# Data frames.


def list_compared_score_columns(report: ComparisonReport) -> list[TypedColumn]:
    """A row for each query of *report*, with both scores of each measure and their difference."""
    queries = report.queries
    columns = [
        TypedColumn("query", ColumnType.TEXT, [query.id for query in queries]),
        TypedColumn("text", ColumnType.TEXT, [query.text for query in queries]),
        TypedColumn("tags", ColumnType.TEXTS, [list(query.tags) for query in queries]),
    ]
    measures = dict.fromkeys(measure for query in queries for measure in query.scores)
    for measure in measures:
        references: list[float | None] = []
        candidates: list[float | None] = []
        differences: list[float | None] = []
        for query in queries:
            reference, candidate = query.scores.get(measure, (None, None))
            references.append(reference)
            candidates.append(candidate)
            if reference is None or candidate is None:
                differences.append(None)
            else:
                differences.append(candidate - reference)
        columns += [
            TypedColumn(f"{measure}_reference", ColumnType.NUMBER, references),
            TypedColumn(f"{measure}_candidate", ColumnType.NUMBER, candidates),
            TypedColumn(f"{measure}_difference", ColumnType.NUMBER, differences),
        ]
    columns.append(TypedColumn("rbo", ColumnType.NUMBER, [query.rbo for query in queries]))
    return columns


def list_compared_ranking_columns(report: ComparisonReport) -> list[TypedColumn]:
    """A row for each document of either ranking of each query of *report*."""
    heads = (
        ("query", ColumnType.TEXT),
        ("document", ColumnType.TEXT),
        ("rank_reference", ColumnType.RANK),
        ("rank_candidate", ColumnType.RANK),
        ("grade", ColumnType.NUMBER),
        ("gain", ColumnType.NUMBER),
        ("title", ColumnType.TEXT),
    )
    rows: list[tuple[Any, ...]] = []
    for query in report.queries:
        for hit in query.documents:
            row = (query.id, hit.id, hit.reference, hit.candidate, hit.grade, hit.gain, hit.title)
            rows.append(row)
    return make_columns(heads, rows)
