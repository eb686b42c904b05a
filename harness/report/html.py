"""
A report as one HTML page: no network, no other file, readable without JavaScript.

The content security policy of the page allows the one style sheet and the one script that stand in it, by their
digests, so that text from an index could not run even if it slipped through the escaping. `harness.report.page` says
what the page holds.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.model import Report, Status, Verdict
from harness.report.figures import (
    counted_text,
    matching_text,
    observed_text,
    plain_text,
    required_text,
    score_text,
    tally_text,
    untold_waiver,
)
from harness.report.histogram import share_of
from harness.report.page import Limits, MeasureView, suite_views
from harness.report.printable import printable
from harness.report.ranking_text import grade_text, missing_place
from harness.report.verdict_text import BAD

METER_WIDTH = 120
PLOT_WIDTH = 320
PLOT_BASE = 92
PLOT_HEIGHT = 72


def render(report: Report, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    style, script = _source("report.css"), _source("report.js")
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            report=report,
            suites=suite_views(report, limits or Limits()),
            headline=_headline(report),
            closing=_closing(report),
            style=Markup(style),
            script=Markup(script),
            style_hash=_digest(style),
            script_hash=_digest(script),
        )
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram in the coordinates of its drawing, and the interval it stands for as text."""

    x: float
    y: float
    width: float
    height: float
    count: int
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A histogram as drawn; *mean* is where its line stands."""

    bars: tuple[Bar, ...]
    low: str
    high: str
    most: int
    mean: float | None


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, finalize=_readable
    )
    environment.filters |= {
        "clipped": _clipped,
        "counted": counted_text,
        "tally": tally_text,
        "grade_text": grade_text,
        "listed": lambda texts: ", ".join(texts),  # jinja's own join gives markup, which is not neutralised any more
        "matching": matching_text,
        "meter_marks": _meter_marks,
        "missing_place": missing_place,
        "number": lambda count: "–" if count is None else f"{count:,}",
        "observed": observed_text,
        "plain": plain_text,
        "plotted": _plotted,
        "required": required_text,
        "score": score_text,
        "untold_waiver": untold_waiver,
        "status_class": lambda status: "status-" + status.replace(" ", "-"),
    }
    return environment


def _source(name: str) -> str:
    return (resources.files("harness.report") / "templates" / name).read_text(encoding="utf-8")


def _readable(value: Any) -> Any:
    """What is put in a page is neutralised as on a terminal before it is escaped; markup of ours is left alone."""
    return value if isinstance(value, Markup | int | float) else printable(str(value))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _headline(report: Report) -> str:
    counts = Counter(verdict.status for suite in report.suites for verdict in suite.verdicts)
    bad = sum(counts[status] for status in BAD)
    if bad:
        return f"{counted_text(bad, 'threshold')} of {sum(counts.values()):,} did not hold"
    if not counts:
        return "No threshold was decided"
    if report.exit_status != 0:
        return "Not all is well"
    waived = counts[Status.XFAILED]
    held = f"{counted_text(sum(counts.values()), 'threshold')}, all hold"
    return f"{held} but {counted_text(waived, 'expected failure')}" if waived else held


def _closing(report: Report) -> str:
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    queries = sum(len(suite.queries) for suite in report.suites)
    return f"{counted_text(len(report.suites), 'suite')}, {counted_text(queries, 'query')}: {tally_text(statuses)}"


def _meter_marks(verdict: Verdict) -> tuple[float, float] | None:
    """Where the bar ends and where the required value stands, for measures between 0 and 1."""
    observed, required = verdict.observed, verdict.required
    if verdict.measure is None or observed is None or required is None:
        return None
    if not (0 <= observed <= 1 and 0 <= required <= 1):
        return None
    return round(observed * METER_WIDTH, 1), round(required * METER_WIDTH, 1)


def _plotted(view: MeasureView) -> Plot:
    bins = view.bins
    low, high = bins[0].low, bins[-1].high
    most = max(one.count for one in bins)
    step = PLOT_WIDTH / len(bins)
    bars = []
    for index, one in enumerate(bins):
        height = round(PLOT_HEIGHT * one.count / most, 1)
        if one.count:
            place = (round(index * step + 1, 1), round(PLOT_BASE - height, 1), round(step - 2, 1), height)
            bars.append(Bar(*place, one.count, plain_text(round(one.low, 4)), plain_text(round(one.high, 4))))
    mean = view.summary.mean
    position = None
    if mean is not None and low <= mean <= high:
        position = round(share_of(mean, low, high) * PLOT_WIDTH, 1)
    return Plot(tuple(bars), plain_text(round(low, 4)), plain_text(round(high, 4)), most, position)
