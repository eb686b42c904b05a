"""Tries, figures and dials as the JSON values that the page reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from harness.extensions.workbench.dials import find_dials, list_parameters
from harness.extensions.workbench.figures import (
    ScoredSide,
    find_mean_difference,
    judge_queries,
    make_row,
    make_variant_row,
)
from harness.extensions.workbench.grading import Grading
from harness.extensions.workbench.scored_tries import LIVE, ScoredTries
from harness.extensions.workbench.tries import Try
from harness.gate.decide_variants import list_agreements
from harness.model.suite import Json, Query, Variant


class Answers:
    """Builds what the page is told of the tries in *scored*."""

    def __init__(self, scored: ScoredTries, grading: Grading) -> None:
        self._scored = scored
        self._grading = grading

    def build_query(self, query: Query) -> dict[str, Any]:
        """*query* with its score today, and its variants."""
        text = query.text
        if query.masked is not None and query.masked.get("text"):
            text = query.masked["text"]
        live = self._scored.live
        row = make_row(live, live, query)
        return {
            "id": query.id,
            "text": text or query.id,
            "tags": list(query.tags),
            "weight": query.weight,
            "live": row.score,
            "live_error": row.error,
            "live_found": row.found,
            "variants": [self._build_variant(query, variant) for variant in query.variants],
        }

    def _build_variant(self, query: Query, variant: Variant) -> dict[str, Any]:
        """A *variant* of *query*: its score today by the judgments of the query, and how far it finds the same."""
        row = make_variant_row(self._scored.live, self._scored.live, query, variant)
        return {
            "id": variant.id,
            "text": self._scored.material.masker.mask(variant.text),
            "rule": variant.rule,
            "live": row.score,
            "live_error": row.error,
            "agreement": list_agreements(self._scored.suite, query)[0].text,
            "live_agreement": row.agreement,
        }

    def list_dials(self, text: str, values: Mapping[str, Json]) -> list[dict[str, Any]]:
        """The dials of *text* with *values* of parameters, each with its number today."""
        material = self._scored.material
        dials = [*list_parameters(material.suite.tuning, values), *find_dials(text)]
        live_dials = [*list_parameters(material.suite.tuning, {}), *find_dials(material.live.text)]
        live = {dial.pointer: dial.value for dial in live_dials}
        return [
            {
                "pointer": dial.pointer,
                "name": dial.name,
                "value": dial.value,
                "live": live.get(dial.pointer, dial.value),
                "step": dial.step,
            }
            for dial in dials
        ]

    def list_tries(self) -> list[dict[str, Any]]:
        """The tries of the request that is changed, the oldest first."""
        return [self.build_try(one) for one in self._scored.tries.tries if one.of == self._scored.material.request]

    def build_try(self, one: Try) -> dict[str, Any]:
        """A try, by the grades of now."""
        stale = self._scored.explain_stale(one)
        difference = self._scored.compute_difference(one.number)
        line = "no query has a score of both" if difference is None else f"{difference:+.3f}"
        return {
            "number": one.number,
            "name": one.name,
            "kept": one.kept,
            "difference": difference,
            "is_grey": bool(stale) or one.is_grey,
            "summary_line": f"{one.name}: {line}",
            "time": one.time,
            "stale": f"{stale}: measure it again" if stale else None,
        }

    def build_live(self) -> dict[str, Any]:
        """What is live, as a try."""
        return {
            "number": LIVE,
            "name": f"as {self._scored.material.live.name}",
            "kept": False,
            "difference": 0.0,
            "is_grey": True,
            "summary_line": "what is live",
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "stale": None,
        }

    def build_summary(self, number: int) -> dict[str, Any]:
        """The figures of the try of a *number*, by the grades of now."""
        summary = self._scored.summarize_try(number)
        side = self._scored.find_shown(number).side
        best = self._scored.find_best()
        answer: dict[str, Any] = asdict(summary)
        answer["try"] = answer.pop("tried")
        answer["failing"] = [{"text": text, "live_too": live_too} for text, live_too in summary.failing]
        answer["best"] = None
        if best is not None and best.number == number:
            answer["best"] = {"of": best.of, "interval": best.interval}
        answer["graded_here"] = None
        if self._grading.given:
            answer["graded_here"] = {"count": len(self._grading.given), "without": self._find_without_own(side)}
        return answer

    def _find_without_own(self, side: ScoredSide) -> float | None:
        """The mean difference without the grades of this session."""
        suite = judge_queries(self._scored.suite, self._grading.list_judgments(is_without_own=True))
        return find_mean_difference(self._scored.live.replace_suite(suite), side.replace_suite(suite))
