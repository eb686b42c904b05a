"""What `--why` is about to send, before anything is sent, and the report with its result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.config import Configs
from harness.errors import Option, UsageError
from harness.extensions.compare.forms import SideText, parse_side
from harness.extensions.compare.model import ComparisonReport, SideKind
from harness.extensions.compare.preparing import ComparisonRequest, PreparedComparison
from harness.extensions.compare.sides import SUITE, ComparedSide, make_run_side, read_baseline_side
from harness.extensions.compare.why.arms import count_pair_searches, count_searches, fit_first
from harness.extensions.compare.why.asking import (
    ArmSender,
    SuiteRunner,
    explain_refusal,
    read_kept_request,
    read_request,
    refuse_unlike,
)
from harness.extensions.compare.why.differences import Difference, Splitting, split_requests
from harness.extensions.compare.why.explaining import WhyOptions, estimate_difference, explain_requests
from harness.gate.selection import QueryFilter, select
from harness.masking import Masker
from harness.model.suite import Suite
from harness.redaction import redact
from harness.store.journal import Journal

WHY = Option("why")


@dataclass(frozen=True, slots=True)
class WhyPlan:
    """The differences between two requests of a suite, and what is sent for them."""

    request: ComparisonRequest
    """With the loaded suite."""
    suite: Suite
    """With the queries that are sent."""
    request_name: str
    """The new request."""
    baseline: ComparedSide | None
    """The side whose request is the old one; None where both are of the suite."""
    splitting: Splitting
    finest: tuple[Difference, ...]
    differences: tuple[Difference, ...]
    """Those of *finest*, joined where the searches do not allow for all."""
    options: WhyOptions

    @property
    def searches(self) -> int:
        """Those that are sent for both ends and for all differences."""
        return count_searches(self.splitting, self.differences, len(self.suite.queries))

    @property
    def arm_searches(self) -> int:
        """Those that are sent after both ends were, once."""
        return self.searches - 2 * len(self.suite.queries)

    @property
    def pair_searches(self) -> int:
        """The most that are sent for pairs."""
        most = count_pair_searches(self.differences, len(self.suite.queries))
        return max(0, min(most, self.options.searches - self.searches))


def plan_why(request: ComparisonRequest, options: WhyOptions, environ: Mapping[str, str]) -> WhyPlan:
    """
    Take the requests of both sides apart; nothing is sent.

    Raises:
        InputError: The suite is wrong.
        UsageError: The sides are not two requests of a suite on one target, or the searches are too few.
    """
    from harness.suites import load_suite

    if request.suite is None:
        raise UsageError(WHY, " compares two requests of a suite; give ", SUITE)
    suite = request.suite
    if isinstance(suite, Path):
        suite = load_suite(suite, environ, configs=Configs.from_options(request.run, environ))
    reference, candidate = _read_sides(request, suite)
    new = suite.requests[candidate.value]
    baseline = None
    if reference.kind is SideKind.BASELINE:
        path = Path(reference.value) if reference.value else None
        baseline = read_baseline_side(str(reference), path, suite, request.request)
        old = read_kept_request(baseline.request_json, str(reference))
    else:
        refuse_unlike(suite, (reference.value, candidate.value))
        old = read_request(suite.requests[reference.value])
    active = select(suite, QueryFilter.from_options(request.run), request.options.today).active
    splitting = split_requests(old, read_request(new))
    finest = splitting.list_differences(each=options.each)
    differences = fit_first(finest, len(active), options.searches)
    selected = replace(suite, queries=active)
    return WhyPlan(
        replace(request, suite=suite), selected, candidate.value, baseline, splitting, finest, differences, options
    )


def _read_sides(request: ComparisonRequest, suite: Suite) -> tuple[SideText, SideText]:
    """Both sides: a request, or a baseline, which keeps its request, and a request."""
    texts = [parse_side(side, requests=suite.requests) for side in request.sides if isinstance(side, str)]
    kinds = [text.kind for text in texts]
    if len(texts) != 2 or kinds[1] is not SideKind.REQUEST or kinds[0] not in (SideKind.REQUEST, SideKind.BASELINE):
        raise UsageError(
            "found the sides ",
            ", ".join(map(str, request.sides)) or "none",
            ", expected two requests with ",
            WHY,
            ", such as request:current request:candidate, or a baseline and a request",
        )
    from harness.run import Matrix

    # The same sentence as without the option.
    Matrix(tuple(text.value for text in texts if text.kind is SideKind.REQUEST)).check([suite])
    return texts[0], texts[1]


def add_why(
    plan: WhyPlan, prepared: PreparedComparison, runner: SuiteRunner, environ: Mapping[str, str]
) -> ComparisonReport:
    """
    The report of *prepared* with the explanation of its difference.

    Raises:
        UsageError, EngineUnreachable, SuiteError: as `explain_requests`.
    """
    report = prepared.make_report()
    unanswered = next((side for side in prepared.sides if side.unanswered), None)
    if unanswered is not None:
        note = f"no cause is looked for: {unanswered.name} has queries without an answer"
        return replace(report, notes=(*report.notes, note))
    run_options = replace(plan.request.run, request=None, tags=(), queries=(), all_titles=False)
    sender = ArmSender(
        runner=runner,
        suite=plan.suite,
        template=plan.suite.requests[plan.request_name],
        options=run_options,
        configs=Configs.from_options(plan.request.run, environ),
    )
    reference, candidate = prepared.sides
    elsewhere = None
    if plan.baseline is not None:
        # What lies between the requests is sent to the index of today, so the old request is, too.
        [run] = sender.send([plan.splitting.old])
        today = make_run_side(f"the request of {reference.name}, sent today", SideKind.REQUEST, plan.suite, run)
        refusal = explain_refusal(run)
        if refusal:
            return replace(report, notes=(*report.notes, f"no cause is looked for: {today.name}: {refusal}"))
        _, scored = replace(prepared, sides=(reference, today)).score_sides(today)
        elsewhere = estimate_difference(scored, plan.options.level)
        reference = today
    _, scored = replace(prepared, sides=(reference, candidate)).score_sides(candidate)
    why = explain_requests(plan.splitting, scored, sender, (reference.run, candidate.run), plan.options)
    why = replace(why, elsewhere=elsewhere)
    return replace(report, why=redact(why, Masker(plan.suite.variables).mask))


@contextmanager
def open_why_journal(plan: WhyPlan) -> Iterator[Journal]:
    """
    The journal beside the suite, which has the responses of an explanation that was killed; removed when all went well.

    Raises:
        UsageError: It cannot be written, or another explanation writes it.
    """
    suite = Path(plan.suite.path)
    path = suite.with_name(f".{suite.name}.why.journal")
    journal = Journal(path, resume=os.path.lexists(path), is_kept=False)
    try:
        yield journal
    except BaseException:
        journal.close()
        raise
    journal.finish(is_complete=True)
