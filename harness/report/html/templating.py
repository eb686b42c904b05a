"""
How pages are made from templates: no network, no other file, readable without JavaScript; and the thresholds that they
list.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.model import Status, Verdict
from harness.report.html.charts import meter_marks, plotted
from harness.report.run_sentences import BAD, LOOKED_AT, grade_text
from harness.report.sentences import (
    mean_heading,
    observed_text,
    plain_text,
    printable,
    required_text,
    score_text,
    tally_text,
    untold_waiver,
)
from harness.words import count

__all__ = ["VerdictView", "VerdictViews", "verdict_views", "verdicts_left_out", "worst_status"]


# How pages are made from templates: no network, no other file, readable without JavaScript; and the thresholds that
# they list.


SCRIPT = "report.js"


def fill(environment: Environment, template: str, styles: Sequence[str], **values: object) -> str:
    """*template* with *values*, and with *styles* and the script of all pages in it; each is the name of a file."""
    style, script = "".join(map(_source, styles)), _source(SCRIPT)
    return environment.get_template(template).render(
        **values,
        style=Markup(style),
        script=Markup(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
    )


def environment(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """A new one, with *filters* and those that every page uses."""
    made = Environment(loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, finalize=_readable)
    made.filters |= {
        "clipped": _clipped,
        "counted": count,
        "tally": tally_text,
        "grade_text": grade_text,
        "listed": lambda texts: ", ".join(texts),  # jinja's own join gives markup, which is not neutralised any more
        "mean_heading": lambda weighted: mean_heading(weighted=weighted),
        "meter_marks": meter_marks,
        "number": lambda count: "–" if count is None else f"{count:,}",
        "observed": observed_text,
        "plain": plain_text,
        "plotted": plotted,
        "required": required_text,
        "score": score_text,
        "untold_waiver": untold_waiver,
        "status_class": lambda status: "status-" + status.replace(" ", "-"),
        **filters,
    }
    return made


@cache
def _source(name: str) -> str:
    return (resources.files("harness.report.html") / "templates" / name).read_text(encoding="utf-8")


def _readable(value: Any) -> Any:
    """What is put in a page is neutralised as on a terminal before it is escaped; markup of ours is left alone."""
    return value if isinstance(value, Markup | int | float) else printable(str(value))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# Which thresholds a page lists, in which order, and where it links to for the queries that they blame.


@dataclass(frozen=True, slots=True)
class VerdictView:
    """A threshold, and the queries to look at: their ids and the anchors of those that the page holds."""

    verdict: Verdict
    blamed: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class VerdictViews:
    """*held_by_queries* are passed thresholds of single queries: there may be hundreds, and nothing to look at."""

    foremost: tuple[VerdictView, ...]
    held_by_queries: tuple[VerdictView, ...]


def verdict_views(verdicts: Sequence[Verdict], anchors: Mapping[str, str], most: int) -> VerdictViews:
    """At most *most* of *verdicts*, with links to the queries of *anchors*."""
    views = [_view(verdict, anchors) for verdict in _listed(verdicts, most)]
    return VerdictViews(
        tuple(view for view in views if not _is_held_by_query(view.verdict)),
        tuple(view for view in views if _is_held_by_query(view.verdict)),
    )


def verdicts_left_out(verdicts: Sequence[Verdict], most: int) -> Iterator[str]:
    """What is not listed where *most* are, first of all those that did not hold."""
    bad = sum(verdict.status in BAD for verdict in verdicts)
    if bad > most:
        yield f"{count(bad - most, 'threshold')} that did not hold"
    if len(verdicts) > max(bad, most):
        yield f"{count(len(verdicts) - max(bad, most), 'threshold')} that held"


def worst_status(verdicts: Iterable[Verdict]) -> Status:
    """What is undecided before a failure, as in the exit status."""
    statuses = {verdict.status for verdict in verdicts}
    bad = (Status.ERROR, Status.INCONCLUSIVE, Status.FAILED)
    return next((status for status in bad if status in statuses), Status.PASSED)


def _is_held_by_query(verdict: Verdict) -> bool:
    return verdict.query is not None and verdict.status is Status.PASSED


def _view(verdict: Verdict, anchors: Mapping[str, str]) -> VerdictView:
    return VerdictView(verdict, tuple((name, anchors.get(name)) for name in verdict.blamed))


def _listed(verdicts: Sequence[Verdict], most: int) -> list[Verdict]:
    """All in the order of the suite; where they are too many, those to look at first, then the suite's own."""
    return list(verdicts) if len(verdicts) <= most else sorted(verdicts, key=_urgency)[:most]


def _urgency(verdict: Verdict) -> tuple[bool, bool, bool]:
    return (verdict.status not in BAD, verdict.status not in LOOKED_AT, verdict.query is not None)
