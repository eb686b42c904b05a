"""
Compares two runs, from files, from a baseline or searched on an engine.

`sides` makes a side from a baseline, a report, a run file, or a request, index or cluster that is searched; `scores`
scores both alike; `report` decides thresholds and lists the documents that entered, left and moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness.baseline import read_entry
from harness.baseline.entries import changes_since, refuse_unanswered
from harness.compare.forms import Form, FormKind, read_form
from harness.compare.report import (
    CompareOptions,
    assemble_comparison,
    check_thresholds,
    read_thresholds,
    same_questions,
)
from harness.compare.scores import (
    Depths,
    ScoredSides,
    by_judgments,
    by_stored_scores,
    by_suite,
    compare_scores,
    require_packages,
)
from harness.compare.sides import (
    MEASURE,
    QRELS,
    REQUEST,
    SUITE,
    ComparedSide,
    RunLoaded,
    baseline_side,
    live_side,
    report_side,
    run_side,
    side_of_baseline,
    side_of_run,
    with_empty,
)
from harness.compare.ties import settle_stored, tell_all_ties
from harness.config import Configs
from harness.errors import Option, Sentence, UsageError
from harness.files.runs import FileOptions, FileScorer, read_run
from harness.gate.selection import QueryFilter, Selection, check_query_ids, check_tags, select
from harness.masking import Masker, redact
from harness.metrics.score import common_measures, measure_named
from harness.model import (
    Comparison,
    ComparisonReport,
    Gain,
    Measure,
    Profile,
    SideKind,
    Suite,
    Threshold,
)
from harness.options import RunOptions
from harness.words import count

if TYPE_CHECKING:
    from harness.run import Matrix
    from harness.run.cell import AnsweredCell
    from harness.statistics.compare import ComparisonOptions, Scores

__all__ = [
    "CompareOptions",
    "ComparisonRequest",
    "PreparedComparison",
    "SideChoice",
    "assemble_comparison",
    "compare_files",
    "compare_with_baseline",
    "prepare",
    "read_thresholds",
]


SideChoice: TypeAlias = str | ComparedSide
"""A side as text, or one that was read or run already."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """
    The two sides to compare, and how.

    *suite* is a file, or a loaded suite. *request* is the request of index, cluster and embedded sides, and chooses the
    entry of a baseline or a report. Without *measures* the suite's own are compared. *thresholds* decide the
    comparison. *profile*, *gain* and *complete* go with *qrels*. *run* has the options of both sides where they are
    searched.
    """

    reference: SideChoice
    candidate: SideChoice
    options: CompareOptions
    suite: Path | Suite | None = None
    qrels: Path | None = None
    request: str | None = None
    measures: tuple[Measure, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    profile: Profile | None = None
    gain: Gain | None = None
    complete: bool = False
    run: RunOptions = field(default_factory=RunOptions)

    @property
    def named(self) -> list[Measure]:
        """Every measure that the request names, those of thresholds too."""
        return [*self.measures, *filter(None, map(measure_named, self.thresholds))]


@dataclass(frozen=True, slots=True)
class PreparedComparison:
    """Two sides that were read or run, and the selected suite, or the judgments, to score them by."""

    request: ComparisonRequest
    pair: tuple[ComparedSide, ComparedSide]
    selection: Selection | None
    judgments: FileScorer | None

    def report(self, thresholds: Sequence[Threshold] | None = None) -> ComparisonReport:
        """
        The comparison, made now and decided by *thresholds*; None for those of the request.

        Raises:
            UsageError, StatisticError, MeasureError: as `assemble_comparison` and `by_suite`.
        """
        request, selection = self.request, self.selection
        thresholds = request.thresholds if thresholds is None else tuple(thresholds)
        pair, notes = same_questions(self.pair, None if selection is None else selection.active)
        scored = replace(self, pair=pair)._scored(thresholds)
        scored = replace(scored, notes=(*notes, *scored.notes))
        created = datetime.now(UTC).isoformat(timespec="seconds")
        report = assemble_comparison(pair, scored, request.options, created)
        return report if selection is None else redact(report, Masker(selection.suite.variables).mask)

    def _scored(self, thresholds: Sequence[Threshold]) -> ScoredSides:
        measures, selection = self.request.measures, self.selection
        if selection is not None:
            queries = selection.active.queries
            pair = self._filled([query.id for query in queries])
            if self.request.options.depth is None:
                Depths.of(pair, selection.suite).refuse_agreements(thresholds)
            return by_suite(pair, selection.suite, queries, measures, thresholds)
        if self.judgments is not None:
            return by_judgments(self._filled(self.judgments.judged_queries), self.judgments, measures, thresholds)
        return by_stored_scores(self.pair, measures, thresholds)

    def _filled(self, queries: Iterable[str]) -> tuple[ComparedSide, ComparedSide]:
        """Both sides; with `complete`, run files get those of *queries* that they lack, without hits."""
        first, second = self.pair
        added = list(queries) if self.request.complete else []
        return with_empty(first, added), with_empty(second, added)


def prepare(request: ComparisonRequest, run: RunLoaded, environ: Mapping[str, str]) -> PreparedComparison:
    """
    Read or run both sides: files first, then sides to search, the reference before the candidate.

    Errors that need no engine are raised before the first query is sent.

    Args:
        request: What is compared.
        run: Runs a loaded suite.
        environ: Where a suite's variables are looked up.

    Raises:
        InputError: The suite, a run file, a report or a judgment file is wrong.
        UsageError: The options contradict each other or the sides; names every problem.
        BaselineError: A baseline cannot be read.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.of(request.run, environ)
    suite = _loaded(request.suite, environ, configs)
    forms = [_form(choice, suite) for choice in (request.reference, request.candidate)]
    _refuse(request, [form for form in forms if isinstance(form, Form)], suite)
    judgments = _judgments(request)
    if suite is not None or judgments is not None:
        require_packages()
    read = [_read(form, request, suite) for form in forms]
    selection = None if suite is None else select(suite, QueryFilter.from_options(request.run), request.options.today)
    if selection is not None:
        depths = [selection.suite.depth if side is None else side.depth for side in read]
        _refuse_deeper(request, list(zip(map(_name, forms), depths, strict=True)), selection.selected)
    options = replace(request.run, tails=_may_be_of_one_request(forms), titled=_untitled(read))

    def searched(form: Form | ComparedSide) -> ComparedSide:
        assert suite is not None
        assert isinstance(form, Form)
        return live_side(form, suite, form.options(options, request.request), configs, run)

    first, second = (side or searched(form) for side, form in zip(read, forms, strict=True))
    return PreparedComparison(request, (first, second), selection, judgments)


def compare_with_baseline(answered: AnsweredCell, file: Path | None, name: str) -> ComparisonReport:
    """
    Compare a run with the baseline of its request; no threshold is decided.

    Args:
        answered: The run, with the facts on its index.
        file: The file of baselines; None takes the one beside the suite.
        name: The name of the run in the report.

    Raises:
        UnansweredBaseline: A query has no ranking.
        BaselineError: There is no baseline, or it cannot be read.
        StatisticError: as `assemble_comparison`.
    """
    from harness.run.look_ups import TITLES_AT_MOST, find_untitled_hits, look_up_titles

    selection, run = answered.cell.selection, answered.run
    suite = selection.selected
    refuse_unanswered(suite, answered.mask_run(), "nothing is compared with a run with errors")
    entry = read_entry(suite, run.request, file)
    if answered.search is not None:
        kept = (document for query in entry.queries.values() for document, _ in query.ranking)
        documents = islice(chain(find_untitled_hits(run), kept), TITLES_AT_MOST)
        run = look_up_titles(suite, run, answered.search, documents, budget=answered.budget)
    run = replace(answered, run=run).mask_run()
    deeper = [measure.text for measure in common_measures(suite) if (measure.cutoff or 0) > entry.depth]
    measures = tuple(measure for measure in common_measures(suite) if measure.text not in deeper)
    notes = [f"{text} is not compared: the baseline keeps {count(entry.depth, 'hit')} a query" for text in deeper]
    pair = (side_of_baseline("baseline", entry, run.request, suite), side_of_run(name, SideKind.REQUEST, suite, run))
    options = CompareOptions(answered.cell.options.day())
    prepared = PreparedComparison(ComparisonRequest(*pair, options, measures=measures), pair, selection, None)
    report = prepared.report()
    return replace(report, notes=(*changes_since(entry, suite, run), *notes, *report.notes))


def compare_files(
    judgments: Path, reference: Path, candidates: Sequence[Path], options: FileOptions, how: ComparisonOptions
) -> tuple[Comparison, ...]:
    """
    Compare the scores of each of several run files with *reference*, measure by measure; not their rankings.

    Raises:
        FormatError: A file is wrong; holds all its problems.
        UsageError, StatisticError: as `compare_scores`, or a package is not installed.
    """
    require_packages()
    scorer = options.scorer(judgments)

    def table(scores: Scores) -> Scores:
        return {text: scores[measure.text] for text, measure in options.measures.items()}

    returned = [table(scorer.score(path).scores) for path in (reference, *candidates)]
    settled = list(returned)
    # The trec profile orders documents of equal score itself, in the same way on both sides.
    if options.profile is not Profile.TREC:
        before = read_run(reference)
        for place, path in enumerate(candidates, start=1):
            rankings = settle_stored(before, read_run(path))
            settled[place] = table(scorer.score_rankings(rankings, scorer.measures).scores)
    names = [str(path) for path in (reference, *candidates)]
    compared = compare_scores(list(zip(names, settled, strict=True)), how)
    return tuple(
        tell_all_ties(comparison, settled[0], in_order, as_returned, {})
        for comparison, in_order, as_returned in zip(compared, settled[1:], returned[1:], strict=True)
    )


def _untitled(sides: Iterable[ComparedSide | None]) -> tuple[str, ...]:
    """The documents without titles of sides from files; a side that is searched looks them up."""
    hits = (hit for side in sides if side is not None for hit in side.run.hits)
    return tuple(dict.fromkeys(hit.id for hit in hits if hit.title is None))


def _may_be_of_one_request(forms: Iterable[Form | ComparedSide]) -> bool:
    """Whether both sides may have the same request, so that their ties are comparable."""
    elsewhere = (FormKind.BASELINE, FormKind.INDEX, FormKind.CLUSTER, FormKind.EMBEDDED)
    return any(isinstance(form, Form) and form.kind in elsewhere for form in forms)


def _loaded(suite: Path | Suite | None, environ: Mapping[str, str], configs: Configs) -> Suite | None:
    if not isinstance(suite, Path):
        return suite
    from harness.suites import load_suite

    return load_suite(suite, environ, configs=configs)


def _form(choice: SideChoice, suite: Suite | None) -> Form | ComparedSide:
    return choice if isinstance(choice, ComparedSide) else read_form(choice, requests=suite.requests if suite else ())


def _name(form: Form | ComparedSide) -> str:
    return form.side.name if isinstance(form, ComparedSide) else str(form)


def _refuse(request: ComparisonRequest, forms: Sequence[Form], suite: Suite | None) -> None:
    """Raise UsageError for every contradiction in the request, before anything is searched."""
    refusals = list(_refusals(request, forms, suite))
    if refusals:
        raise UsageError.of_lines(refusals)
    if suite is not None:
        check_tags([suite], request.run.tags)
        check_query_ids([suite], request.run.queries)
        _cells_of(forms, request.request).check([suite])


def _refuse_deeper(request: ComparisonRequest, sides: Sequence[tuple[str, int | None]], suite: Suite) -> None:
    """Refuse measures and agreements that are deeper than the sides, some of which may not be searched yet."""
    depths = Depths.named(sides, suite)
    depths.refuse_ranks(request.options.depth)
    depths.refuse_measures(request.named)
    if request.options.depth is None:
        depths.refuse_agreements(request.thresholds)
    check_thresholds(replace(suite, thresholds=request.thresholds), judged=True, depth=depths.common)


def _cells_of(forms: Sequence[Form], request: str | None) -> Matrix:
    """The requests and indexes of the suite to search."""
    from harness.run import Matrix

    requests = [form.value for form in forms if form.kind is FormKind.REQUEST]
    if request is not None and any(form.is_live and form.kind is not FormKind.REQUEST for form in forms):
        requests.append(request)
    return Matrix(tuple(requests), tuple(form.value for form in forms if form.kind is FormKind.INDEX))


def _refusals(request: ComparisonRequest, forms: Sequence[Form], suite: Suite | None) -> Iterator[Sentence]:
    """A sentence for each two options that exclude each other."""
    for form in forms:
        if suite is None and form.is_live:
            yield f"{form} is asked with the queries and requests of a suite; give ", SUITE
        if suite is None and form == Form(FormKind.BASELINE):
            yield "baseline is that of a suite; give ", SUITE, ", or say baseline:FILE"
    if suite is not None and request.qrels is not None:
        yield "found ", SUITE, " and ", QRELS, ", expected one of them: a suite has its own judgments"
    if request.qrels is None and (request.profile is not None or request.gain is not None):
        own = ": a suite, a baseline and a report have their own"
        yield Option("profile"), " and ", Option("gain"), " go with ", QRELS, own
    if request.complete and suite is None and request.qrels is None:
        yield Option("complete"), " goes with ", SUITE, " or ", QRELS, ", which say what queries there are"
    takes_request = [form for form in forms if form.kind not in (FormKind.REQUEST, FormKind.RUN)]
    if request.request is not None and not takes_request:
        yield REQUEST, f" {request.request} is for index, cluster, embedded, baseline and report sides; none is one"
    if request.qrels is not None and not request.named:
        yield QRELS, " needs a ", MEASURE, " such as nDCG@10"


def _judgments(request: ComparisonRequest) -> FileScorer | None:
    if request.qrels is None:
        return None
    scorer = FileScorer(request.qrels, request.named, request.gain, request.profile or Profile.STANDARD)
    scorer.read()
    return scorer


def _read(form: Form | ComparedSide, request: ComparisonRequest, suite: Suite | None) -> ComparedSide | None:
    """The side, if it was given or is read from a file; None where it has to be searched."""
    if isinstance(form, ComparedSide):
        return form
    path, name = Path(form.value), str(form)
    if form.kind is FormKind.BASELINE:
        return baseline_side(name, path if form.value else None, suite, request.request)
    if form.kind is FormKind.REPORT:
        return report_side(form, suite, request.request)
    if form.kind is FormKind.RUN:
        profile = suite.profile if suite else request.profile
        return run_side(name, path, profile or Profile.STANDARD)
    return None
