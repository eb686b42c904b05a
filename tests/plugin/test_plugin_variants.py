"""Thresholds on variants are items like others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

THRESHOLDS = 'thresholds: ["mean overlap@3 of variants >= 0.9", "loss every nDCG@10 of variants <= 0.5"]'
VARIANTS = "variants: [red shoos]"

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def test_a_threshold_on_variants_is_an_item_and_fails_with_its_reason(suite: Suite, run: Run, engine: Any) -> None:
    suite(THRESHOLDS, shoes=VARIANTS)
    engine.rankings["red shoos"] = ["b", "a"]

    result = run("-rA")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*mean overlap@3 of variants is 0.*; 1 variant, worst: shoes~1 'red shoos'*", "*shoes~1*red shoos*"]
    )


def test_a_query_alone_is_held_to_every_variant(suite: Suite, run: Run, engine: Any) -> None:
    suite('thresholds: ["every overlap@3 of variants >= 1"]', shoes=VARIANTS, boots="variants: [rubber boot]")
    engine.rankings["red shoos"] = ["x", "y"]
    engine.rankings["rubber boot"] = engine.rankings["rubber boots"]

    result = run("--relevance-each-query", "-k", "query", "-rA")

    result.assert_outcomes(passed=1, failed=1, deselected=1)


def test_a_variant_without_an_answer_is_an_error(suite: Suite, run: Run, engine: Any) -> None:
    suite(THRESHOLDS, shoes=VARIANTS)
    engine.broken["red shoos"] = 400

    run().assert_outcomes(errors=2)
