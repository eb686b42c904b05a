"""
Two runs side by side, whatever they were read from or run on.

`sides` makes a side of a baseline, a report, a run file, or a request, index or cluster that is searched; `scores`
scores both alike; `rankings` says what entered, left and moved. Here they are put together, and thresholds are decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness import __version__
from harness.compare.rankings import SideBySide, most_moved_first, same_questions
from harness.compare.scores import (
    Depths,
    ScoredSides,
    by_judgments,
    by_stored_scores,
    by_suite,
    compare_measures,
    require_packages,
)
from harness.compare.sides import (
    ComparedSide,
    Form,
    FormKind,
    SuiteRunner,
    baseline_side,
    live_side,
    read_form,
    report_side,
    run_side,
    with_empty,
)
from harness.config import Configs
from harness.errors import GrammarError, UsageError, did_you_mean
from harness.files.scored_runs import FileScorer
from harness.gate import comparison_status, decide
from harness.gate.grammar import check_reach, parse_threshold
from harness.gate.scope import weights_of
from harness.gate.selection import Selection, check_tags, select
from harness.masking import Masker, redact_comparison
from harness.metrics.agreement import PERSISTENCE, RBO, mean_agreement
from harness.metrics.run_scores import common_measures, measure_named
from harness.model import (
    AgreementCondition,
    BaselineCondition,
    ComparisonReport,
    Condition,
    Gain,
    Measure,
    Profile,
    Reference,
    Run,
    Side,
    Suite,
    Threshold,
    Verdict,
)
from harness.options import RunOptions
from harness.run.matrix import Matrix
from harness.words import count, listed

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions

__all__ = [
    "USUAL_DEPTH",
    "CompareOptions",
    "ComparisonRequest",
    "Prepared",
    "SideChoice",
    "assemble_comparison",
    "prepare",
    "read_thresholds",
]


USUAL_DEPTH = 10
"""Ranks that are compared where the rankings are whole and nobody says how deep to look."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """
    How two runs are compared.

    *depth* is how many ranks are looked at, all that both have where it is None. *p* is the persistence of rank-biased
    overlap. *how* says how differences are tested. *today* is the day that skips are held against.
    """

    today: date
    depth: int | None = None
    p: float = PERSISTENCE
    how: ComparisonOptions | None = None

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise UsageError(f"found p {self.p:g}, expected a persistence above 0 and below 1, such as 0.9")
        if self.depth is not None and self.depth < 1:
            raise UsageError(f"found depth {self.depth}, expected at least 1")


SideChoice: TypeAlias = str | ComparedSide
"""A side as its text, or one that is there already."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """
    What is compared, by what and how.

    *suite* is a file, or one that is loaded. *request* is that of index, cluster and embedded sides, and says which
    entry of a baseline or a report is meant. *measures* are the suite's own where there are none. The comparison is
    held to *thresholds*. *profile*, *gain* and *complete* go with *qrels*. *run* is what holds for both sides where
    they are searched.
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
        """Every measure that is asked for, those of thresholds too."""
        return [*self.measures, *filter(None, map(measure_named, self.thresholds))]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Two sides that were read or run, and what is selected of the suite, or the judgments, that they are scored by."""

    request: ComparisonRequest
    pair: tuple[ComparedSide, ComparedSide]
    selection: Selection | None
    judgments: FileScorer | None

    def report(self, thresholds: Sequence[Threshold] | None = None) -> ComparisonReport:
        """
        The comparison as it is made now, held to *thresholds*, to those that were asked for where None.

        Raises:
            UsageError, StatisticError, MeasureError: as `assemble_comparison` and `by_suite`.
        """
        request, selection = self.request, self.selection
        held = request.thresholds if thresholds is None else tuple(thresholds)
        pair, notes = same_questions(self.pair, None if selection is None else selection.active)
        scored = replace(self, pair=pair)._scored(held)
        scored = replace(scored, notes=(*notes, *scored.notes))
        created = datetime.now(UTC).isoformat(timespec="seconds")
        report = assemble_comparison(pair, scored, request.options, created)
        return report if selection is None else redact_comparison(report, Masker(selection.suite.variables).mask)

    def _scored(self, thresholds: Sequence[Threshold]) -> ScoredSides:
        measures, selection = self.request.measures, self.selection
        if selection is not None:
            queries = selection.active.queries
            pair = self._filled([query.id for query in queries])
            return by_suite(pair, selection.suite, queries, measures, thresholds)
        if self.judgments is not None:
            return by_judgments(self._filled(self.judgments.judged_queries), self.judgments, measures, thresholds)
        return by_stored_scores(self.pair, measures, thresholds)

    def _filled(self, queries: Iterable[str]) -> tuple[ComparedSide, ComparedSide]:
        """Both sides; where it was asked for, run files with those of *queries* that they lack, without hits."""
        first, second = self.pair
        wanted = list(queries) if self.request.complete else []
        return with_empty(first, wanted), with_empty(second, wanted)


def prepare(request: ComparisonRequest, run: SuiteRunner, environ: Mapping[str, str]) -> Prepared:
    """
    Read or run both sides: files first, then what has to be searched, the reference before the candidate.

    All that can be refused without an engine is refused before the first query is sent.

    Args:
        request: What is compared.
        run: Runs a loaded suite.
        environ: Where a suite's variables are looked up.

    Raises:
        InputError: The suite, a run file, a report or a judgment file is wrong.
        UsageError: What is asked for cannot be; says all that is wrong with it.
        BaselineError: A baseline cannot be read.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs()
    suite = _loaded(request.suite, environ, configs)
    forms = [_form(wanted, suite) for wanted in (request.reference, request.candidate)]
    _refuse(request, [form for form in forms if isinstance(form, Form)], suite)
    judgments = _judgments(request)
    if suite is not None or judgments is not None:
        require_packages()
    read = [_read(form, request, suite) for form in forms]
    selection = None if suite is None else select(suite, request.run.tags, request.options.today)
    if selection is not None:
        depths = [selection.suite.depth if side is None else side.depth for side in read]
        _refuse_deeper(request, list(zip(map(_name, forms), depths, strict=True)), selection.selected)
    options = replace(request.run, tails=_may_be_of_one_request(forms))

    def searched(form: Form | ComparedSide) -> ComparedSide:
        assert suite is not None
        assert isinstance(form, Form)
        return live_side(form, suite, form.options(options, request.request), configs, run)

    first, second = (side or searched(form) for side, form in zip(read, forms, strict=True))
    return Prepared(request, (first, second), selection, judgments)


def _may_be_of_one_request(forms: Iterable[Form | ComparedSide]) -> bool:
    """Whether the same request stands on both sides, so that ties of the one are held against those of the other."""
    elsewhere = (FormKind.BASELINE, FormKind.INDEX, FormKind.CLUSTER, FormKind.EMBEDDED)
    return any(isinstance(form, Form) and form.kind in elsewhere for form in forms)


def _loaded(suite: Path | Suite | None, environ: Mapping[str, str], configs: Configs) -> Suite | None:
    if not isinstance(suite, Path):
        return suite
    from harness.suites import load_suite

    return load_suite(suite, environ, configs=configs)


def _form(wanted: SideChoice, suite: Suite | None) -> Form | ComparedSide:
    return wanted if isinstance(wanted, ComparedSide) else read_form(wanted, requests=suite.requests if suite else ())


def _name(form: Form | ComparedSide) -> str:
    return form.side.name if isinstance(form, ComparedSide) else str(form)


def _refuse(request: ComparisonRequest, forms: Sequence[Form], suite: Suite | None) -> None:
    """Refuse what cannot be, before anything is searched."""
    refusals = list(_refusals(request, forms, suite))
    if refusals:
        raise UsageError("\n".join(refusals))
    if suite is not None:
        check_tags([suite], request.run.tags)
        _cells_of(forms, request.request).check([suite])


def _refuse_deeper(request: ComparisonRequest, sides: Sequence[tuple[str, int | None]], suite: Suite) -> None:
    """Refuse what looks deeper than the sides, of which some are still to be searched."""
    depths = Depths.named(sides, suite)
    depths.refuse_ranks(request.options.depth)
    depths.refuse_measures(request.named)
    check_thresholds(replace(suite, thresholds=request.thresholds), judged=True, depth=depths.common)


def _cells_of(forms: Sequence[Form], request: str | None) -> Matrix:
    """The requests and indexes of the suite that are to be searched."""
    requests = [form.value for form in forms if form.kind is FormKind.REQUEST]
    if request is not None and any(form.is_live and form.kind is not FormKind.REQUEST for form in forms):
        requests.append(request)
    return Matrix(tuple(requests), tuple(form.value for form in forms if form.kind is FormKind.INDEX))


def _refusals(request: ComparisonRequest, forms: Sequence[Form], suite: Suite | None) -> Iterator[str]:
    """A sentence for each two options that do not go together."""
    for form in forms:
        if suite is None and form.is_live:
            yield f"{form} is asked with the queries and requests of a suite; give --suite"
        if suite is None and form == Form(FormKind.BASELINE):
            yield "baseline is that of a suite; give --suite, or say baseline:FILE"
    if suite is not None and request.qrels is not None:
        yield "found --suite and --qrels, expected one of them: a suite has its own judgments"
    if request.qrels is None and (request.profile is not None or request.gain is not None):
        yield "--profile and --gain go with --qrels: a suite, a baseline and a report have their own"
    if request.complete and suite is None and request.qrels is None:
        yield "--complete goes with --suite or --qrels, which say what queries there are"
    takes_request = [form for form in forms if form.kind not in (FormKind.REQUEST, FormKind.RUN)]
    if request.request is not None and not takes_request:
        yield f"--request {request.request} is for index, cluster, embedded, baseline and report sides; none is one"
    if request.qrels is not None and not request.named:
        yield "--qrels needs a --measure such as nDCG@10"


def _judgments(request: ComparisonRequest) -> FileScorer | None:
    if request.qrels is None:
        return None
    scorer = FileScorer(request.qrels, request.named, request.gain, request.profile or Profile.STANDARD)
    scorer.read()
    return scorer


def _read(form: Form | ComparedSide, request: ComparisonRequest, suite: Suite | None) -> ComparedSide | None:
    """The side that is there already or stands in a file; None where it has to be searched."""
    if isinstance(form, ComparedSide):
        return form
    path, name = Path(form.value), str(form)
    if form.kind is FormKind.BASELINE:
        return baseline_side(name, path if form.value else None, suite, request.request)
    if form.kind is FormKind.REPORT:
        return report_side(name, path, suite, request.request)
    if form.kind is FormKind.RUN:
        profile = suite.profile if suite else request.profile
        return run_side(name, path, profile or Profile.STANDARD)
    return None


# Two sides and their scores -> the report. Pure.


def assemble_comparison(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, options: CompareOptions, created: str
) -> ComparisonReport:
    """
    Compare the second of *pair* with the first, and decide the thresholds of *scored*.

    Args:
        pair: The reference and the candidate.
        scored: Their scores.
        options: How they are compared.
        created: The time that the report bears.

    Raises:
        UsageError: There is no query to compare, more ranks are asked for than there are, a threshold cannot be
            decided, or the packages for statistics are not installed.
        StatisticError: The t test was asked for and no query differs.
    """
    suite, names = scored.suite, (pair[0].side.name, pair[1].side.name)
    if not suite.queries:
        raise UsageError(f"there is no query to compare {names[1]} with {names[0]} on")
    Depths.of(pair, suite).refuse_ranks(options.depth)
    depth = options.depth or scored.depth or USUAL_DEPTH
    check_thresholds(suite, judged=scored.is_judged, depth=scored.depth)
    by_side = SideBySide(scored, depth, options.p, ties=not any(one.orders_ties for one in pair))
    rankings = by_side.pairs()
    measures, untested = compare_measures(names, scored, options.how)
    first = next((measure.text for measure in common_measures(suite)), None)
    sides = [_within(one.side, suite) for one in pair]
    verdicts = _verdicts(pair, scored, depth, options)
    runs = scored.runs
    return ComparisonReport(
        created=created,
        harness=__version__,
        suite=suite.name,
        reference=sides[0],
        candidate=sides[1],
        gain=str(suite.gain) if scored.is_judged else "",
        profile=suite.profile,
        depth=depth,
        measures=measures,
        agreement=mean_agreement(rankings, depth=depth, p=options.p, weights=weights_of(suite.queries, rankings)),
        queries=tuple(most_moved_first(by_side.queries(rankings), first)),
        verdicts=verdicts,
        notes=(*scored.notes, *untested, *_changes(pair), *_in_neither(scored)),
        only_reference=_only(scored, runs[0], runs[1]),
        only_candidate=tuple(one for one in _only(scored, runs[1], runs[0]) if one not in pair[0].changed_questions),
        exit_status=comparison_status(verdicts, unanswered=any(side.unanswered for side in sides)),
    )


def _verdicts(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, depth: int, options: CompareOptions
) -> tuple[Verdict, ...]:
    """The gate's, the first side in the place of a baseline."""
    reference, candidate = pair
    thresholds = tuple(_with_defaults(one, depth, options.p) for one in scored.suite.thresholds)
    suite = replace(scored.suite, thresholds=thresholds)
    if scored.depth is None:  # whole rankings have all the hits that a cutoff may look at, however few they are
        suite = replace(suite, depth=max(suite.depth, *_deepest_looks(thresholds)))
    held_against = Reference(
        run=scored.runs[0],
        scores=scored.scores[0],
        depth=suite.depth,
        same_request=reference.template is not None and reference.template == candidate.template,
        name=reference.side.name,
        changed_questions=reference.changed_questions,
    )
    return decide(suite, scored.runs[1], scored.scores[1], today=options.today, reference=held_against)


def _within(side: Side, suite: Suite) -> Side:
    """*side* with only what is wrong with queries that are compared."""
    known = {query.id for query in suite.queries}
    return replace(side, unanswered={query: why for query, why in side.unanswered.items() if query in known})


def _only(scored: ScoredSides, here: Run, there: Run) -> tuple[str, ...]:
    ids = (query.id for query in scored.suite.queries)
    return tuple(query for query in ids if query in here.responses and query not in there.responses)


def _in_neither(scored: ScoredSides) -> Iterator[str]:
    first, second = (run.responses for run in scored.runs)
    absent = [one.id for one in scored.suite.queries if one.id not in first and one.id not in second]
    if absent:
        yield f"on neither side: {count(len(absent), 'query')} ({listed(absent)})"


def _changes(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    """The same name of a request, and no longer the same request."""
    first, second = pair
    known = first.template is not None and second.template is not None
    if known and first.template != second.template and first.side.request == second.side.request:
        yield f"the request {first.side.request} is not the same on both sides"


# The thresholds that a comparison is held to.


EXPECTED = "a drop, such as 'drop nDCG@10 <= 0.02', 'worse … by …', or an agreement such as 'mean RBO >= 0.9'"


def read_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """
    The thresholds, read by the grammar of suites.

    Raises:
        UsageError: A text is out of the grammar, or is not about a difference; names all such.
    """
    thresholds, refusals = [], []
    for text in texts:
        try:
            condition, tag = parse_threshold(text, of_query=False)
        except GrammarError as error:
            refusals.append(f"threshold {text!r}: {error}")
            continue
        if isinstance(condition, BaselineCondition | AgreementCondition):
            thresholds.append(Threshold(text, condition, tag))
        else:
            refusals.append(
                f"threshold {text!r} is about one run and not about a difference; expected {EXPECTED}; "
                "harness run holds a run to it"
            )
    if refusals:
        raise UsageError("\n".join(refusals))
    return tuple(thresholds)


def check_thresholds(suite: Suite, *, judged: bool, depth: int | None) -> None:
    """
    Refuse thresholds that cannot be decided.

    Args:
        suite: Holds them, and the queries that are compared with their tags.
        judged: Whether there are scores.
        depth: How many hits of a query there are, None where the rankings are whole.

    Raises:
        UsageError: A tag that no query has, a number out of reach, an agreement that looks too deep, or a drop of
            scores where there are none.
    """
    refusals = [
        f"threshold {one.text!r}: {sentence}"
        for one in suite.thresholds
        if (sentence := _refusal(one, suite, judged, depth))
    ]
    if refusals:
        raise UsageError("\n".join(refusals))


def _refusal(threshold: Threshold, suite: Suite, judged: bool, depth: int | None) -> str | None:
    tags = {tag for query in suite.queries for tag in query.tags}
    condition = threshold.condition
    if threshold.tag is not None and threshold.tag not in tags:
        return f"no query has the tag {threshold.tag!r}{did_you_mean(threshold.tag, tags)}"
    if not judged and isinstance(condition, BaselineCondition):
        return "there are no scores to compare; give --suite, or --qrels and --measure, or ask for an RBO or overlap"
    if isinstance(condition, AgreementCondition) and depth is not None and (condition.agreement.cutoff or 0) > depth:
        return f"{condition.agreement} looks at more hits than the {depth} a query that both sides have"
    return check_reach(condition, suite.gain, suite.profile)


def _deepest_looks(thresholds: Iterable[Threshold]) -> list[int]:
    """The cutoffs of what *thresholds* name, and at least one number."""
    conditions = [one.condition for one in thresholds]
    agreements = [one.agreement for one in conditions if isinstance(one, AgreementCondition)]
    measures = [one.measure for one in conditions if isinstance(one, BaselineCondition)]
    return [1, *(measure.cutoff or 1 for measure in [*agreements, *measures])]


def _with_defaults(threshold: Threshold, depth: int, p: float) -> Threshold:
    """*threshold*; an agreement looks as deep, and with the same persistence, as the report unless it says."""
    condition: Condition = threshold.condition
    if not isinstance(condition, AgreementCondition):
        return threshold
    written = condition.agreement
    parameters = written.parameters or ((("p", p),) if written.name == RBO else ())
    agreement = replace(written, cutoff=written.cutoff or depth, parameters=parameters)
    return replace(threshold, condition=replace(condition, agreement=agreement))
