"""
What was asked for -> two sides with their rankings, ready to be compared.

All that can be refused without an engine is refused before the first query is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from harness import __version__
from harness.comparing.assembling import CompareOptions, ReportOrigin, assemble_comparison
from harness.comparing.basis import Judgments, ScoredSides, by_judgments, by_suite
from harness.comparing.depths import Depths
from harness.comparing.forms import Form, FormKind, read_form
from harness.comparing.held_to import check_thresholds, read_thresholds
from harness.comparing.live import SuiteRunner, live_side, options_of
from harness.comparing.measuring import require_packages
from harness.comparing.questions import same_questions
from harness.comparing.reading import baseline_side, report_side, run_side
from harness.comparing.sides import ComparedSide, with_empty
from harness.comparing.stored import by_stored_scores
from harness.errors import UsageError
from harness.files.scored_runs import read_measures
from harness.gate.selection import check_tags, queries_to_run, select_queries
from harness.masking import Masker, redact_comparison
from harness.metrics.run_scores import measure_named
from harness.model import ComparisonReport, Gain, Measure, Profile, Suite, Threshold
from harness.run.options import Matrix, RunOptions

__all__ = ["ComparisonRequest", "Prepared", "SideChoice", "prepare"]


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
