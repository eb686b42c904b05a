"""Sides that have to be asked: a request, an index, a cluster or the embedded engine, each through the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from harness.baseline.entries import request_fingerprint
from harness.comparing.forms import Form, FormKind
from harness.comparing.reported import contender_of
from harness.comparing.sides import ComparedSide
from harness.gate.ties import leaves_ties
from harness.model import SideKind, Suite, SuiteReport
from harness.run.execution import FinishedSuite
from harness.run.options import RunOptions

__all__ = ["SuiteRunner", "live_side", "of_run", "options_of"]


SuiteRunner: TypeAlias = Callable[[Path, RunOptions], FinishedSuite]
"""Runs the suite at a path."""

SIDE_KINDS = {FormKind.REQUEST: SideKind.REQUEST, FormKind.INDEX: SideKind.INDEX}


def options_of(form: Form, options: RunOptions, request: str | None) -> RunOptions:
    """
    What *form* asks for, beside what holds for both sides.

    Args:
        form: A live one.
        options: Of both sides.
        request: The request that an index or a cluster is asked with; the suite's first where None.
    """
    if form.kind is FormKind.REQUEST:
        return replace(options, request=form.value)
    options = replace(options, request=request or options.request)
    if form.kind is FormKind.INDEX:
        return replace(options, index=form.value)
    elsewhere = replace(options, url=None, cluster=None, embedded=False, engine_version=None, client=None)
    if form.kind is FormKind.EMBEDDED:
        return replace(elsewhere, embedded=True, engine_version=form.value or None)
    if "://" in form.value:
        return replace(elsewhere, url=form.value)
    return replace(elsewhere, cluster=form.value)


def live_side(form: Form, suite: Suite, options: RunOptions, run: SuiteRunner) -> ComparedSide:
    """
    Run *suite* as *form* has it. An engine that does not answer is no error: its queries are unanswered.

    Raises:
        UsageError: The suite has no such request, or no cluster of that name is known.
        SuiteError: The suite is wrong.
        EngineStartError: The embedded node could not be started.
    """
    report = run(Path(suite.path), options).report
    return of_run(suite, report, str(form), SIDE_KINDS.get(form.kind, SideKind.CLUSTER))


def of_run(suite: Suite, report: SuiteReport, name: str, kind: SideKind) -> ComparedSide:
    """What *report* tells of a run of *suite* that was made just now, whose request is known."""
    template = suite.requests.get(report.request)
    return replace(
        contender_of(report, name, kind),
        template=request_fingerprint(suite, report.request),
        orders_ties=template is not None and not leaves_ties(template),
    )
