"""
How pages are made from templates: no network, no other file, readable without JavaScript; and the thresholds that they
list.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.report.figures import (
    counted_text,
    mean_heading,
    observed_text,
    plain_text,
    required_text,
    score_text,
    tally_text,
    untold_waiver,
)
from harness.report.html.plot import meter_marks, plotted
from harness.report.printable import printable
from harness.report.ranking_words import grade_text

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
        "counted": counted_text,
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
