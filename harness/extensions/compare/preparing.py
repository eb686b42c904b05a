"""The sides of a comparison: which are asked for, what they are read from or searched with, and what contradicts."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness.config import Configs
from harness.errors import Option, Sentence, UsageError
from harness.extensions.compare.assembly import (
    CompareOptions,
    assemble_comparison,
    assemble_report,
    check_thresholds,
    read_thresholds,
    remove_changed_queries,
)
from harness.extensions.compare.choosing import describe_choosing_queries
from harness.extensions.compare.coverage import write_pool_command
from harness.extensions.compare.forms import SideText, parse_side
from harness.extensions.compare.model import ComparisonReport, SideKind
from harness.extensions.compare.scores import (
    ScoredSides,
    add_threshold_measures,
    correct_together,
    make_depths,
    read_depths,
    require_packages,
    score_by_judgments,
    score_by_suite,
    use_stored_scores,
)
from harness.extensions.compare.sides import (
    MEASURE,
    QRELS,
    REQUEST,
    SUITE,
    AnswerSuite,
    ComparedSide,
    add_empty_rankings,
    make_baseline_side,
    make_run_side,
    read_baseline_side,
    read_report_side,
    read_run_side,
    search_side,
)
from harness.files.query_ids import check_common_queries
from harness.files.runs import FileScorer
from harness.gate.selection import QueryFilter, Selection, check_query_ids, check_tags, select
from harness.masking import Masker
from harness.metrics.measures import common_measures
from harness.model.suite import Gain, Measure, Profile, Suite, Threshold
from harness.options import RunOptions
from harness.redaction import redact
from harness.store.baseline import read_entry
from harness.store.kept import refuse_unanswered
from harness.store.what_changed import describe_changes_since, find_changed_questions, make_questions
from harness.words import count

if TYPE_CHECKING:
    from harness.run.cell import AnsweredCell

__all__ = [
    "CompareOptions",
    "ComparisonRequest",
    "PreparedComparison",
    "add_all_requests",
    "assemble_comparison",
    "compare_with_baseline",
    "prepare",
    "read_thresholds",
]


SideChoice: TypeAlias = str | ComparedSide
"""A side as text, or one that was read or run already."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """The sides to compare, two or more, and how."""

    sides: tuple[SideChoice, ...]
    """The first is the reference, with which the others are compared."""
    options: CompareOptions
    suite: Path | Suite | None = None
    """A file, or a loaded suite."""
    qrels: Path | None = None
    """Judgments for run files, in place of a suite; *profile* and *gain* go with it."""
    request: str | None = None
    """The request of index, cluster and embedded sides; chooses the entry of a baseline or a report."""
    measures: tuple[Measure, ...] = ()
    """Empty for the suite's own."""
    thresholds: tuple[Threshold, ...] = ()
    profile: Profile | None = None
    gain: Gain | None = None
    complete: bool = False
    """Whether queries that a run file lacks count as queries without hits."""
    remove_query: bool = False
    """Whether the document that has the id of its query is removed from each ranking of a run file."""
    run: RunOptions = field(default_factory=RunOptions)
    """The options of all sides where they are searched."""

    @property
    def named_measures(self) -> list[Measure]:
        """Every measure that the request names, those of thresholds too."""
        return add_threshold_measures(self.measures, self.thresholds)


@dataclass(frozen=True, slots=True)
class PreparedComparison:
    """Sides that were read or run, and the selected suite, or the judgments, to score them by."""

    request: ComparisonRequest
    sides: tuple[ComparedSide, ...]
    selection: Selection | None
    judgments: FileScorer | None

    def make_report(self, thresholds: Sequence[Threshold] | None = None) -> ComparisonReport:
        """
        Each further side compared with the first, now, with p corrected over all of them.

        Args:
            thresholds: What decides; None for the thresholds of the request.

        Raises:
            UsageError, StatisticError, MeasureError: as `assemble_comparison` and `score_by_suite`.
        """
        if thresholds is None:
            thresholds = self.request.thresholds
        options = self.request.options
        suite = None if self.selection is None else self.selection.whole_suite
        pool_command = "" if suite is None else write_pool_command(self.sides, suite, options.searched)
        comparisons = []
        for side in self.sides[1:]:
            pair, scored = self.score_sides(side, thresholds)
            comparisons.append(assemble_comparison(pair, scored, options, pool_command))
        created = datetime.now(UTC).isoformat(timespec="seconds")
        name = "" if suite is None else suite.name
        report = assemble_report(name, correct_together(comparisons), created)
        return report if suite is None else redact(report, Masker(suite.variables).mask)

    def score_sides(
        self, candidate: ComparedSide, thresholds: Sequence[Threshold] = ()
    ) -> tuple[tuple[ComparedSide, ComparedSide], ScoredSides]:
        """
        The first side and *candidate*, without queries that ask something else on one of them, and their scores.

        Raises:
            UsageError, MeasureError: as `make_report`.
        """
        suite = None
        if self.selection is not None:
            suite = replace(self.selection.selected, queries=self.selection.active)
        pair, notes = remove_changed_queries((self.sides[0], candidate), suite)
        scored = self._score(pair, thresholds)
        warnings = tuple(describe_choosing_queries(pair, scored))
        return pair, replace(scored, notes=(*notes, *scored.notes), warnings=warnings)

    def _score(self, pair: tuple[ComparedSide, ComparedSide], thresholds: Sequence[Threshold]) -> ScoredSides:
        """Score both of *pair* by the suite, by the judgments, or else take the scores that both have."""
        measures = self.request.measures
        if self.selection is not None:
            suite, queries = self.selection.whole_suite, self.selection.active
            pair = self._complete(pair, [query.id for query in queries])
            if self.request.options.depth is None:
                read_depths(pair, suite).refuse_agreements(thresholds)
            return score_by_suite(pair, suite, queries, measures, thresholds)
        if self.judgments is not None:
            pair = self._complete(pair, self.judgments.judged_queries)
            return score_by_judgments(pair, self.judgments, measures, thresholds)
        return use_stored_scores(pair, measures, thresholds)

    def _complete(
        self, pair: tuple[ComparedSide, ComparedSide], queries: Iterable[str]
    ) -> tuple[ComparedSide, ComparedSide]:
        """*pair*; with `complete`, run files get those of *queries* that they lack, without hits."""
        if not self.request.complete:
            return pair
        ids = list(queries)
        return add_empty_rankings(pair[0], ids), add_empty_rankings(pair[1], ids)


def prepare(request: ComparisonRequest, run: AnswerSuite, environ: Mapping[str, str]) -> PreparedComparison:
    """
    Read or run all sides: files first, then sides to search, in the order of the request.

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
    configs = Configs.from_options(request.run, environ)
    suite = request.suite
    if isinstance(suite, Path):
        from harness.suites import load_suite

        suite = load_suite(suite, environ, configs=configs)
    choices = [_parse_choice(side, suite) for side in request.sides]
    texts = [choice for choice in choices if isinstance(choice, SideText)]
    _check_request(request, texts, suite)
    judgments = None
    if request.qrels is not None:
        profile = request.profile or Profile.STANDARD
        judgments = FileScorer(request.qrels, request.named_measures, request.gain, profile)
        judgments.read()
    if suite is not None or judgments is not None:
        require_packages()
    sides = [_read_side(choice, request, suite) for choice in choices]
    if judgments is not None:
        for side in sides:
            assert isinstance(side, ComparedSide)  # `_list_contradictions` refuses others without a suite
            check_common_queries(
                side.run.responses,
                judgments.judged_queries,
                judgments.judgments,
                side.name,
                complete=request.complete,
            )
    selection = None
    if suite is not None:
        selection = select(suite, QueryFilter.from_options(request.run), request.options.today)
        _refuse_deeper(request, sides, selection.selected)
    options = replace(
        request.run,
        request=request.request or request.run.request,
        tails=_may_share_request(texts),
        titled=_list_untitled(side for side in sides if isinstance(side, ComparedSide)),
    )
    compared = []
    for side in sides:
        if isinstance(side, SideText):
            assert suite is not None  # `_list_contradictions` refuses a side that is searched without a suite
            side = search_side(side, suite, _choose_options(side, suite, options, texts), configs, run)
        compared.append(side)
    return PreparedComparison(request, tuple(compared), selection, judgments)


def add_all_requests(request: ComparisonRequest, environ: Mapping[str, str]) -> ComparisonRequest:
    """
    *request* with each request of its suite as a side, after the sides that it has, each once; its suite is loaded.

    Raises:
        InputError: The suite is wrong.
        UsageError: There is no suite.
    """
    suite = request.suite
    if suite is None:
        raise UsageError(Option("all-requests"), " compares the requests of a suite; name it first, or with ", SUITE)
    if isinstance(suite, Path):
        from harness.suites import load_suite

        suite = load_suite(suite, environ, configs=Configs.from_options(request.run, environ))
    requests = (f"{SideKind.REQUEST}:{name}" for name in suite.requests)
    sides = (*request.sides, *(side for side in requests if side not in request.sides))
    return replace(request, sides=sides, suite=suite)


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
        # A baseline keeps no titles, so those of its documents are looked up in the index of today.
        kept_documents = chain.from_iterable(kept.ranking for kept in entry.queries.values())
        documents = islice(chain(find_untitled_hits(run), kept_documents), TITLES_AT_MOST)
        run = look_up_titles(suite, run, answered.search, documents, budget=answered.budget)
    run = replace(answered, run=run).mask_run()
    measures, notes = [], []
    for measure in common_measures(suite):
        if (measure.cutoff or 0) > entry.depth:
            kept_hits = count(entry.depth, "hit")
            notes.append(f"{measure.text} is not compared: the baseline keeps {kept_hits} a query")
        else:
            measures.append(measure)
    pair = (
        make_baseline_side("baseline", entry, run.request),
        make_run_side(name, SideKind.REQUEST, suite, run, answered.cell.masker.mask(answered.cluster)),
    )
    options = CompareOptions(today=answered.cell.options.day())
    request = ComparisonRequest(pair, options, measures=tuple(measures))
    prepared = PreparedComparison(request=request, sides=pair, selection=selection, judgments=None)
    report = prepared.make_report()
    changed_questions = find_changed_questions(entry, make_questions(suite, run.request, hooked=run.hooked))
    changes = describe_changes_since(entry, suite, run, changed_questions)
    return replace(report, notes=(*changes, *notes, *report.notes))


# The sides.


def _parse_choice(choice: SideChoice, suite: Suite | None) -> SideText | ComparedSide:
    if isinstance(choice, ComparedSide):
        return choice
    requests = suite.requests if suite is not None else ()
    return parse_side(choice, requests=requests)


def _read_side(
    choice: SideText | ComparedSide, request: ComparisonRequest, suite: Suite | None
) -> SideText | ComparedSide:
    """The side, if it was given or is read from a file; the text as it is where it has to be searched."""
    if isinstance(choice, ComparedSide):
        return choice
    if choice.added is not None:
        module = importlib.import_module(choice.added.module)
        side: ComparedSide = getattr(module, choice.added.function)(choice.value, suite)
        return side
    if choice.kind is SideKind.BASELINE:
        path = Path(choice.value) if choice.value else None
        return read_baseline_side(str(choice), path, suite, request.request)
    if choice.kind is SideKind.REPORT:
        return read_report_side(choice, suite, request.request)
    if choice.kind is SideKind.RUN:
        profile = suite.profile if suite is not None else request.profile
        return read_run_side(
            str(choice), Path(choice.value), profile or Profile.STANDARD, remove_query=request.remove_query
        )
    return choice


def _choose_options(side: SideText, suite: Suite, options: RunOptions, texts: Iterable[SideText]) -> RunOptions:
    """
    The options of *side*, one of *texts* that is searched.

    A side of the suite's requests and indexes may keep the cluster of its request; another side names its own server.
    """
    from harness.run.connections import keep_own_cluster

    of_suite = (SideKind.REQUEST, SideKind.INDEX)
    options_of_side = side.apply_to(options)
    if side.kind not in of_suite:
        return options_of_side
    requests = {text.apply_to(options).request for text in texts if text.kind in of_suite}
    return keep_own_cluster(options_of_side, suite, options_of_side.request, requests)


def _may_share_request(texts: Iterable[SideText]) -> bool:
    """Whether both sides may have the same request, so that their ties are comparable."""
    same_request = (SideKind.BASELINE, SideKind.INDEX, SideKind.CLUSTER, SideKind.EMBEDDED)
    return any(text.kind in same_request for text in texts)


def _list_untitled(sides: Iterable[ComparedSide]) -> tuple[str, ...]:
    """The documents without titles of sides from files; a side that is searched looks them up."""
    hits = chain.from_iterable(side.run.hits for side in sides)
    return tuple(dict.fromkeys(hit.id for hit in hits if hit.title is None))


# What is refused.


def _check_request(request: ComparisonRequest, texts: Sequence[SideText], suite: Suite | None) -> None:
    """Raise UsageError for every contradiction in the request, before anything is searched."""
    contradictions = list(_list_contradictions(request, texts, suite))
    if contradictions:
        raise UsageError.of_lines(contradictions)
    if suite is None:
        return
    from harness.run import Matrix

    check_tags([suite], request.run.tags)
    check_query_ids([suite], request.run.queries)
    requests = [text.value for text in texts if text.kind is SideKind.REQUEST]
    indexes = [text.value for text in texts if text.kind is SideKind.INDEX]
    # Sides that name their own request do not use the one of the comparison.
    if request.request is not None and any(text.is_live and text.kind is not SideKind.REQUEST for text in texts):
        requests.append(request.request)
    Matrix(tuple(requests), tuple(indexes)).check([suite])


def _list_contradictions(
    request: ComparisonRequest, texts: Sequence[SideText], suite: Suite | None
) -> Iterator[Sentence]:
    """A sentence for each two options that exclude each other."""
    for text in texts:
        if suite is None and text.is_live:
            yield f"{text} is asked with the queries and requests of a suite; give ", SUITE
        if suite is None and text.added is not None:
            yield f"{text} is of a suite; give ", SUITE
        if suite is None and text == SideText(SideKind.BASELINE):
            yield "baseline is that of a suite; give ", SUITE, ", or say baseline:FILE"
    if suite is not None and request.qrels is not None:
        yield "found ", SUITE, " and ", QRELS, ", expected one of them: a suite has its own judgments"
    if request.qrels is None and (request.profile is not None or request.gain is not None):
        own = ": a suite, a baseline and a report have their own"
        yield Option("profile"), " and ", Option("gain"), " go with ", QRELS, own
    if request.complete and suite is None and request.qrels is None:
        yield Option("complete"), " goes with ", SUITE, " or ", QRELS, ", which say what queries there are"
    takes_request = any(text.kind not in (SideKind.REQUEST, SideKind.RUN) for text in texts)
    if request.request is not None and not takes_request:
        yield REQUEST, f" {request.request} is for index, cluster, embedded, baseline and report sides; none is one"
    if request.qrels is not None and not request.named_measures:
        yield QRELS, " needs a ", MEASURE, " such as nDCG@10"


def _refuse_deeper(request: ComparisonRequest, sides: Iterable[SideText | ComparedSide], suite: Suite) -> None:
    """Refuse measures and agreements that are deeper than the sides, some of which are not searched yet."""
    named_depths: list[tuple[str, int | None]] = []
    for side in sides:
        if isinstance(side, ComparedSide):
            named_depths.append((side.name, side.depth))
        else:
            named_depths.append((str(side), suite.depth))
    depths = make_depths(named_depths, suite)
    depths.refuse_ranks(request.options.depth)
    depths.refuse_measures(request.named_measures)
    if request.options.depth is None:
        depths.refuse_agreements(request.thresholds)
    check_thresholds(replace(suite, thresholds=request.thresholds), judged=True, depth=depths.common)
