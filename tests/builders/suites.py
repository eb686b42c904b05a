"""Suites as values: what a suite file says once it is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from builders.gating import threshold
from harness.metrics import parse_measure
from harness.model.suite import Measure, Query, RequestTemplate, Suite, Target, Threshold

BODY = {"query": {"match": {"title": "{{text}}"}}}


def make_suite(
    *queries: Query,
    measures: Iterable[str | Measure] = (),
    thresholds: Iterable[str | Threshold] = (),
    body: Any = None,
    **fields: Any,
) -> Suite:
    """
    A suite `shop` with one request, `current`, on the index `products`.

    Measures and thresholds are values, or the texts that a suite file has for them; *fields* are those of `Suite`.
    """
    known = {
        "name": "shop",
        "path": "shop.relevance.yaml",
        "target": Target(index="products"),
        "requests": {"current": RequestTemplate("current", body or BODY)},
        **fields,
    }
    return Suite(
        queries=queries,
        measures=tuple(parse_measure(measure) if isinstance(measure, str) else measure for measure in measures),
        thresholds=tuple(threshold(gated) if isinstance(gated, str) else gated for gated in thresholds),
        **known,
    )


def write_changed(text: str, *changes: tuple[str, str]) -> None:
    """Write the suite *text* to shop.relevance.yaml of the working folder, with each of *changes*, old and new."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
