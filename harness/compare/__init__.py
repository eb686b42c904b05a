"""
Two runs side by side, whatever they were read from or run on.

`sides` makes a side of a baseline, a report, a run file, or a request, index or cluster that is asked; `scores` scores
both alike; `rankings` says what entered, left and moved. Here they are put together, and thresholds are decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness import __version__
from harness.compare.forms import Form, FormKind, read_form
from harness.compare.questions import same_questions
from harness.compare.rankings import SideBySide, most_moved_first
from harness.compare.scores import (
    Depths,
    Judgments,
    ScoredSides,
    by_judgments,
    by_stored_scores,
    by_suite,
    compare_measures,
    require_packages,
)
from harness.compare.sides import (
    ComparedSide,
    SuiteRunner,
    baseline_side,
    live_side,
    options_of,
    report_side,
    run_side,
    with_empty,
)
from harness.compare.thresholds import check_thresholds, deepest_looks, read_thresholds, with_defaults
from harness.errors import UsageError
from harness.files.scored_runs import read_measures
from harness.gate import comparison_status, decide
from harness.gate.scope import weights_of
from harness.gate.selection import check_tags, queries_to_run, select_queries
from harness.masking import Masker, redact_comparison
from harness.metrics.agreement import PERSISTENCE, mean_agreement
from harness.metrics.run_scores import common_measures, measure_named
from harness.model import ComparisonReport, Gain, Measure, Profile, Reference, Run, Side, Suite, Threshold, Verdict
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
    "ReportOrigin",
    "SideChoice",
    "assemble_comparison",
    "prepare",
]


# Two sides and the basis that they are compared on -> the report. Pure.


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


@dataclass(frozen=True, slots=True)
class ReportOrigin:
    """When a report is made, and by which version."""

    created: str
    harness: str


def assemble_comparison(
    pair: tuple[ComparedSide, ComparedSide], basis: ScoredSides, options: CompareOptions, made: ReportOrigin
) -> ComparisonReport:
    """
    Compare the second of *pair* with the first, and decide the thresholds of *basis*.

    Raises:
        UsageError: There is no query to compare, more ranks are asked for than there are, a threshold cannot be
            decided, or the packages for statistics are not installed.
        StatisticError: The t test was asked for and no query differs.
    """
    if not basis.suite.queries:
        raise UsageError(f"there is no query to compare {pair[1].side.name} with {pair[0].side.name} on")
    Depths.of(pair, basis.suite).refuse_ranks(options.depth)
    depth = options.depth or basis.depth or USUAL_DEPTH
    check_thresholds(basis.suite, judged=basis.is_judged, depth=basis.depth)
    by_side = SideBySide(basis, depth, options.p, ties=not any(one.orders_ties for one in pair))
    rankings = by_side.pairs()
    measures, untested = compare_measures((pair[0].side.name, pair[1].side.name), basis, options.how)
    first = next((measure.text for measure in common_measures(basis.suite)), None)
    sides = [_within(one.side, basis) for one in pair]
    verdicts = _verdicts(pair, basis, depth, options)
    runs = basis.runs
    return ComparisonReport(
        created=made.created,
        harness=made.harness,
        suite=basis.suite.name,
        reference=sides[0],
        candidate=sides[1],
        gain=str(basis.suite.gain) if basis.is_judged else "",
        profile=basis.suite.profile,
        depth=depth,
        measures=measures,
        agreement=mean_agreement(
            rankings, depth=depth, p=options.p, weights=weights_of(basis.suite.queries, rankings.keys())
        ),
        queries=tuple(most_moved_first(by_side.queries(rankings), first)),
        verdicts=verdicts,
        notes=(*basis.notes, *untested, *_changes(pair), *_in_neither(basis)),
        only_reference=_only(basis, runs[0], runs[1]),
        only_candidate=tuple(one for one in _only(basis, runs[1], runs[0]) if one not in pair[0].changed_questions),
        exit_status=comparison_status(verdicts, unanswered=any(side.unanswered for side in sides)),
    )


def _verdicts(
    pair: tuple[ComparedSide, ComparedSide], basis: ScoredSides, depth: int, options: CompareOptions
) -> tuple[Verdict, ...]:
    """The gate's, the first side in the place of a baseline."""
    reference, candidate = pair
    thresholds = with_defaults(basis.suite.thresholds, depth=depth, p=options.p)
    suite = replace(basis.suite, thresholds=thresholds)
    if basis.depth is None:  # whole rankings have all the hits that a cutoff may look at, however few they are
        suite = replace(suite, depth=max(suite.depth, *deepest_looks(thresholds)))
    held_against = Reference(
        run=basis.runs[0],
        scores=basis.scores[0],
        depth=suite.depth,
        same_request=reference.template is not None and reference.template == candidate.template,
        name=reference.side.name,
        changed_questions=reference.changed_questions,
    )
    return decide(suite, basis.runs[1], basis.scores[1], today=options.today, reference=held_against)


def _within(side: Side, basis: ScoredSides) -> Side:
    """*side* with only what is wrong with queries that are compared."""
    known = {query.id for query in basis.suite.queries}
    return replace(side, unanswered={query: why for query, why in side.unanswered.items() if query in known})


def _only(basis: ScoredSides, here: Run, there: Run) -> tuple[str, ...]:
    ids = (query.id for query in basis.suite.queries)
    return tuple(query for query in ids if query in here.responses and query not in there.responses)


def _in_neither(basis: ScoredSides) -> Iterator[str]:
    first, second = (run.responses for run in basis.runs)
    absent = [one.id for one in basis.suite.queries if one.id not in first and one.id not in second]
    if absent:
        yield f"on neither side: {count(len(absent), 'query')} ({listed(absent)})"


def _changes(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    """The same name of a request, and no longer the same request."""
    first, second = pair
    known = first.template is not None and second.template is not None
    if known and first.template != second.template and first.side.request == second.side.request:
        yield f"the request {first.side.request} is not the same on both sides"


# What was asked for -> two sides with their rankings, ready to be compared.
#
# All that can be refused without an engine is refused before the first query is sent.


SideChoice: TypeAlias = str | ComparedSide
"""A side as its text, or one that is there already."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """
    What is compared, and by what.

    *suite* is a file, or one that is loaded. *request* is that of index, cluster and embedded sides, and says which
    entry of a baseline or a report is meant. *profile*, *gain* and *complete* go with *qrels*. *depth* is how many
    ranks are to be compared. *run* is what holds for both sides where they are asked.
    """

    reference: SideChoice
    candidate: SideChoice
    suite: Path | Suite | None = None
    qrels: Path | None = None
    request: str | None = None
    measures: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    profile: Profile | None = None
    gain: Gain | None = None
    complete: bool = False
    depth: int | None = None
    run: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Two sides that were read or run, and the suite or the judgments that they are scored by."""

    pair: tuple[ComparedSide, ComparedSide]
    suite: Suite | None
    judgments: Judgments | None
    complete: bool
    tags: tuple[str, ...]

    def report(
        self, options: CompareOptions, *, measures: Sequence[Measure] = (), thresholds: Sequence[Threshold] = ()
    ) -> ComparisonReport:
        """The comparison as it is made now, held to *thresholds*; raises as `assemble_comparison`."""
        made = ReportOrigin(datetime.now(UTC).isoformat(timespec="seconds"), __version__)
        active = self.suite and queries_to_run(select_queries(self.suite, self.tags), options.today)
        pair, notes = same_questions(self.pair, active)
        basis = replace(self, pair=pair)._basis(active, measures, thresholds)
        basis = replace(basis, notes=(*notes, *basis.notes))
        report = assemble_comparison(pair, basis, options, made)
        return report if self.suite is None else redact_comparison(report, Masker(self.suite.variables).mask)

    def _filled(self, queries: Iterable[str]) -> tuple[ComparedSide, ComparedSide]:
        """Both sides; where it was asked for, run files with those of *queries* that they lack, without hits."""
        first, second = self.pair
        wanted = list(queries) if self.complete else []
        return with_empty(first, wanted), with_empty(second, wanted)

    def _basis(self, active: Suite | None, measures: Sequence[Measure], thresholds: Sequence[Threshold]) -> ScoredSides:
        """*active* is the suite with the queries that are compared."""
        if active is not None and self.suite is not None:
            pair = self._filled([query.id for query in active.queries])
            return by_suite(pair, self.suite, active.queries, measures, thresholds)
        if self.judgments is not None:
            return by_judgments(self._filled(self.judgments.grades), self.judgments, measures, thresholds)
        return by_stored_scores(self.pair, measures, thresholds)


def prepare(asked: ComparisonRequest, run: SuiteRunner, environ: Mapping[str, str]) -> Prepared:
    """
    Read or run both sides: files first, then what has to be asked, the reference before the candidate.

    Args:
        asked: What is compared.
        run: Runs a suite.
        environ: Where a suite's variables are looked up.

    Raises:
        InputError: The suite, a run file, a report or a judgment file is wrong.
        UsageError: What is asked for cannot be; says all that is wrong with it.
        BaselineError: A baseline cannot be read.
        EngineStartError: The embedded node could not be started.
    """
    suite = _loaded(asked.suite, environ)
    forms = [_form(wanted, suite) for wanted in (asked.reference, asked.candidate)]
    _refuse(asked, [form for form in forms if isinstance(form, Form)], suite)
    judgments = _judgments(asked)
    if suite is not None or judgments is not None:
        require_packages()
    read = [_read(form, asked, suite) for form in forms]  # a wrong file is told before anything is asked
    if suite is not None:
        sides = zip(map(_name, forms), read, strict=True)
        _refuse_deeper(asked, [(name, side.depth if side else suite.depth) for name, side in sides], suite)
    asked = replace(asked, run=replace(asked.run, tails=_may_be_of_one_request(forms)))
    first, second = (side or _ask(form, asked, suite, run) for side, form in zip(read, forms, strict=True))
    return Prepared((first, second), suite, judgments, asked.complete, asked.run.tags)


def _may_be_of_one_request(forms: Iterable[Form | ComparedSide]) -> bool:
    """Whether the same request stands on both sides, so that ties of the one are held against those of the other."""
    elsewhere = (FormKind.BASELINE, FormKind.INDEX, FormKind.CLUSTER, FormKind.EMBEDDED)
    return any(isinstance(form, Form) and form.kind in elsewhere for form in forms)


def _loaded(suite: Path | Suite | None, environ: Mapping[str, str]) -> Suite | None:
    if not isinstance(suite, Path):
        return suite
    from harness.suites import load_suite

    return load_suite(suite, environ)


def _form(wanted: SideChoice, suite: Suite | None) -> Form | ComparedSide:
    return wanted if isinstance(wanted, ComparedSide) else read_form(wanted, requests=suite.requests if suite else ())


def _name(form: Form | ComparedSide) -> str:
    return form.side.name if isinstance(form, ComparedSide) else str(form)


def _refuse(asked: ComparisonRequest, forms: Sequence[Form], suite: Suite | None) -> None:
    """Refuse what cannot be, before anything is asked."""
    measures = read_measures(asked.measures)
    thresholds = read_thresholds(asked.thresholds)
    refusals = list(_refusals(asked, forms, suite))
    if asked.qrels is not None and not measures and not any(map(measure_named, thresholds)):
        refusals.append("--qrels needs a --measure such as nDCG@10")
    if refusals:
        raise UsageError("\n".join(refusals))
    if suite is not None:
        check_tags([suite], asked.run.tags)
        _cells_of(forms, asked.request).check([suite])


def _refuse_deeper(asked: ComparisonRequest, sides: Sequence[tuple[str, int | None]], suite: Suite) -> None:
    """Refuse what looks deeper than the sides, of which some are still to be asked."""
    depths = Depths.named(sides, suite)
    thresholds = read_thresholds(asked.thresholds)
    depths.refuse_ranks(asked.depth)
    depths.refuse_measures([*read_measures(asked.measures).values(), *filter(None, map(measure_named, thresholds))])
    selected = select_queries(suite, asked.run.tags)
    check_thresholds(replace(selected, thresholds=thresholds), judged=True, depth=depths.common)


def _cells_of(forms: Sequence[Form], request: str | None) -> Matrix:
    """The requests and indexes of the suite that are to be asked."""
    requests = [form.value for form in forms if form.kind is FormKind.REQUEST]
    if request is not None and any(form.is_live and form.kind is not FormKind.REQUEST for form in forms):
        requests.append(request)
    return Matrix(tuple(requests), tuple(form.value for form in forms if form.kind is FormKind.INDEX))


def _refusals(asked: ComparisonRequest, forms: Sequence[Form], suite: Suite | None) -> list[str]:
    """A sentence for each two options that do not go together."""
    found = []
    for form in forms:
        if suite is None and form.is_live:
            found.append(f"{form} is asked with the queries and requests of a suite; give --suite")
        if suite is None and form == Form(FormKind.BASELINE):
            found.append("baseline is that of a suite; give --suite, or say baseline:FILE")
    if suite is not None and asked.qrels is not None:
        found.append("found --suite and --qrels, expected one of them: a suite has its own judgments")
    if asked.qrels is None and (asked.profile is not None or asked.gain is not None):
        found.append("--profile and --gain go with --qrels: a suite, a baseline and a report have their own")
    if asked.complete and suite is None and asked.qrels is None:
        found.append("--complete goes with --suite or --qrels, which say what queries there are")
    takes_request = [form for form in forms if form.kind not in (FormKind.REQUEST, FormKind.RUN)]
    if asked.request is not None and not takes_request:
        found.append(
            f"--request {asked.request} is for index, cluster, embedded, baseline and report sides; none is one"
        )
    return found


def _judgments(asked: ComparisonRequest) -> Judgments | None:
    if asked.qrels is None:
        return None
    from harness.files.judgments import read_judgments

    profile = asked.profile or Profile.STANDARD
    return Judgments(str(asked.qrels), read_judgments(asked.qrels), asked.gain, profile)


def _read(form: Form | ComparedSide, asked: ComparisonRequest, suite: Suite | None) -> ComparedSide | None:
    """The side that is there already or stands in a file; None where it has to be asked."""
    if isinstance(form, ComparedSide):
        return form
    path, name = Path(form.value), str(form)
    if form.kind is FormKind.BASELINE:
        return baseline_side(name, path if form.value else None, suite, asked.request)
    if form.kind is FormKind.REPORT:
        return report_side(name, path, suite, asked.request)
    if form.kind is FormKind.RUN:
        profile = suite.profile if suite else asked.profile
        return run_side(name, path, profile or Profile.STANDARD)
    return None


def _ask(form: Form | ComparedSide, asked: ComparisonRequest, suite: Suite | None, run: SuiteRunner) -> ComparedSide:
    assert suite is not None
    assert isinstance(form, Form)
    return live_side(form, suite, options_of(form, asked.run, asked.request), run)
