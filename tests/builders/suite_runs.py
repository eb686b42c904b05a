"""Suites that ran, as `Relevance.run` returns them, from responses that are given."""

from collections.abc import Mapping
from typing import Any

from builders.gating import TODAY, threshold
from harness.api import SuiteRun
from harness.gate.decide import decide
from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.model.run import Engine, Response, Run
from harness.model.suite import Query, RequestTemplate, Suite, Target, Waiver
from harness.options import RunOptions
from harness.run.finished import FinishedSuite
from harness.run.report import DecidedRun, assemble


def make_suite_run(
    responses: Mapping[str, Response],
    *texts: str,
    depth: int = 3,
    weights: Mapping[str, float] | None = None,
    asked: Mapping[str, str] | None = None,
    **fields: Any,
) -> SuiteRun:
    """A run with *responses* held to thresholds of these *texts*; a query asks what *asked* says, else its own id."""
    judgments, weights, asked = {"a": 1.0}, weights or {}, asked or {}
    queries = tuple(
        Query(
            name,
            asked.get(name, name),
            judgments=judgments,
            skip=Waiver("winter") if name == "skipped" else None,
            weight=weights.get(name, 1.0),
        )
        for name in [*responses, *fields.pop("more", ())]
    )
    thresholds = tuple(threshold(text) for text in texts)
    measures = (parse_measure("P@1"),)
    requests = {"request": RequestTemplate("request", {})}
    suite = Suite("s", "s.yaml", Target(), requests, measures, queries, thresholds, depth=depth, **fields)
    run = Run(responses, Engine("fake"))
    scores = score_run(suite, run)
    verdicts = decide(suite, run, scores, today=TODAY)
    report = assemble(DecidedRun(suite, run, scores, verdicts), "default")
    return SuiteRun(FinishedSuite(suite, run, scores, report), RunOptions(today=TODAY))
