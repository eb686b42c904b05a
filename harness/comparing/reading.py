"""Sides that stand in files: baselines, JSON reports, run files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import as_run
from harness.baseline.files import baseline_path, read_baselines
from harness.baseline.reference import read_entry
from harness.comparing.reported import contender_of
from harness.comparing.sides import ComparedSide
from harness.errors import UsageError, did_you_mean
from harness.files.runs import read_run
from harness.metrics import read_gain
from harness.metrics.profiles import by_score
from harness.model import (
    Baseline,
    Engine,
    Hit,
    Outcome,
    Profile,
    Query,
    Question,
    Ranking,
    Report,
    Run,
    Score,
    Side,
    SideKind,
    Suite,
    SuiteReport,
)

__all__ = ["baseline_side", "report_side", "run_side"]


def baseline_side(name: str, path: Path | None, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    A baseline: *path*, or that of *suite* where it is None.

    Raises:
        BaselineError: It is not there, cannot be read, contradicts itself, is another suite's, or has no entry of the
            request.
        UsageError: It has several entries and *request* does not say which.
    """
    if suite is not None:
        chosen = request or _request_of(path or baseline_path(suite.path), suite)
        return _of_baseline(name, read_entry(suite, chosen, path), chosen)
    assert path is not None
    entries = read_baselines(path).requests
    chosen = _choose(name, entries, request)
    refuse_contradictions(entries[chosen], path.as_posix(), chosen)
    return _of_baseline(name, entries[chosen], chosen)


def _request_of(path: Path, suite: Suite) -> str:
    """The only entry there is, else the suite's first request."""
    entries = read_baselines(path).requests
    return next(iter(entries)) if len(entries) == 1 else next(iter(suite.requests))


def _choose(name: str, known: Iterable[str], request: str | None) -> str:
    names = sorted(known)
    if request is None and len(names) == 1:
        return names[0]
    if request in names:
        return str(request)
    if request is None:
        raise UsageError(f"{name} holds the requests {', '.join(names)}; say which with --request")
    raise UsageError(
        f"{name} holds no request {request!r}, only {', '.join(names) or 'none'}{did_you_mean(request, names)}"
    )


def _of_baseline(name: str, entry: Baseline, request: str) -> ComparedSide:
    run = as_run(entry, request, depth=entry.depth)
    side = Side(name, SideKind.BASELINE, entry.engine, request, created=entry.created)
    scores = (
        Score(query, measure, value, Outcome.UNDEFINED if value is None else kept.outcome)
        for query, kept in entry.queries.items()
        for measure, value in kept.scores.items()
    )
    return ComparedSide(
        side,
        run,
        entry.depth,
        tuple(Query(query, kept.text, weight=kept.weight) for query, kept in entry.queries.items()),
        tuple(scores),
        read_gain(entry.gain),
        entry.profile,
        template=entry.template or None,
        fingerprints={query: kept.judgments for query, kept in entry.queries.items()},
        questions={query: Question(one.question, one.text, one.params) for query, one in entry.queries.items()},
    )


def report_side(name: str, path: Path, suite: Suite | None, request: str | None) -> ComparedSide:
    """
    One suite of a JSON report.

    Raises:
        FormatError: The file is no report.
        UsageError: It does not hold the suite, or holds several that could be meant.
    """
    from harness.report.json import loads_report

    report = loads_report(_text(path), path=str(path))
    found = _choose_report(name, report, suite, request)
    return contender_of(found, name, SideKind.REPORT, created=report.created)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None


def _choose_report(name: str, report: Report, suite: Suite | None, request: str | None) -> SuiteReport:
    of_suite = [one for one in report.suites if suite is None or one.name == suite.name]
    fitting = [one for one in of_suite if request is None or one.request == request]
    if len(fitting) == 1:
        return fitting[0]
    held = ", ".join(f"{one.name} ({_which(one)})" for one in report.suites) or "no suite"
    wanted = " and ".join(
        f"the {what} {value!r}"
        for what, value in (("suite", suite and suite.name), ("request", request))
        if value is not None
    )
    if not fitting:
        raise UsageError(f"{name} does not hold {wanted or 'a suite'}; it holds {held}")
    which = "--request says which" if len({one.request for one in fitting}) == len(fitting) else "--suite says which"
    raise UsageError(f"{name} holds several that could be meant: {held}; {which}")


def _which(report: SuiteReport) -> str:
    return f"request {report.request}" + (f" on {report.index}" if report.index else "")


def run_side(name: str, path: Path, profile: Profile) -> ComparedSide:
    """
    A run file: documents by their score, the highest first, equal ones as `harness.files.scored_runs.evaluate_files` orders them.

    Raises:
        FormatError: The file is wrong; holds all its problems.
        UsageError: It needs a package that is not installed.
    """
    rankings = {}
    for query, stored in read_run(path).items():
        scores = dict(zip(stored.documents, stored.scores, strict=True))
        trec = profile is Profile.TREC
        documents: Sequence[str] = by_score(stored.documents, stored.scores) if trec else stored.in_order()
        rankings[query] = Ranking(tuple(map(Hit, documents, map(scores.__getitem__, documents))))
    run = Run(rankings, Engine("run"), "run")
    return ComparedSide(Side(name, SideKind.RUN), run, None, tuple(Query(query, query) for query in rankings))
