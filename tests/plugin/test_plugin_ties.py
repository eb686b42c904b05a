"""
Ten documents of equal score, all replaced by worthless ones, in pytest, on the command line and in JUnit.

Whether that is a drop depends on what else has their score, which an exact total or a deeper hit can show.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main

GOOD, BAD = ([f"{kind}{n}" for n in range(10)] for kind in ("good", "bad"))
OTHERS = [f"other{n:04}" for n in range(1200)]
TEXTS = [f"text {n}" for n in range(6)]

THRESHOLDS = {
    "mean": "drop nDCG@10 <= 0.02",
    "every": "drop every nDCG@10 <= 0.02",
    "worse": "worse nDCG@10 by 0 <= 0 queries",
    "chance": "drop nDCG@10 is not significant at 5%",
}


@dataclass(frozen=True)
class Row:
    """
    *before* and *after* are what every query is answered with; the rest as in test_plugin_decision_one.
    """

    before: list[tuple[str, float]]
    after: list[tuple[str, float]]
    status: int
    counts: dict[str, int]
    junit: str | None
    verdict: str
    said: str


def scored(names: list[str], score: float = 1.0) -> list[tuple[str, float]]:
    return [(name, score) for name in names]


FAILS = (1, {"failed": 1}, "failure", "failed")
PASSES = (0, {"passed": 1}, None, "passed")
OPEN = (3, {"errors": 1}, "error", "inconclusive")
LOWER = scored(["low"], 0.5)
LAST = [(name, 30.0 - place) for place, name in enumerate(OTHERS[:9])]

ROWS = {
    "an exact total shows that no other ties": Row(scored(GOOD), scored(BAD), *FAILS, "1.0000 -> 0.0000"),
    "a deeper hit shows it": Row(scored(GOOD) + LOWER, scored(BAD) + LOWER, *FAILS, "1.0000 -> 0.0000"),
    "some left a group that the depth cuts": Row(
        scored(GOOD + OTHERS[:40]), scored(BAD + OTHERS[:40]), *FAILS, "1.0000 -> 0.0000"
    ),
    "more than a thousand tie": Row(
        scored(GOOD + OTHERS),
        scored(BAD + OTHERS),
        *OPEN,
        "more documents may tie with the last hit in 6 queries",
    ),
    "the same fifty documents in another order": Row(
        scored(GOOD + BAD + OTHERS[:30]),
        scored(OTHERS[:30] + BAD + GOOD),
        *PASSES,
        "only the order of ties changed in 6",
    ),
    "the last hit alone in its score": Row([*LAST, ("good0", 1.0)], [*LAST, ("bad0", 1.0)], *FAILS, "fell"),
}
"""In the last row only the last hit is judged."""


def write_suite(folder: Path, threshold: str, request: str = '{query: {match: {title: "{{text}}"}}}') -> Path:
    judgments = ", ".join([*(f"{name}: 3" for name in GOOD), *(f"{name}: 0" for name in BAD)])
    queries = "".join(f"  - {{id: q{n}, text: {text}, judgments: {{{judgments}}}}}\n" for n, text in enumerate(TEXTS))
    path = folder / "shop.relevance.yaml"
    path.write_text(
        f"suite: shop\ntarget: {{index: products}}\nrequest: {request}\nthresholds: ['{threshold}']\n"
        f"queries:\n{queries}",
        encoding="utf-8",
    )
    return path


def answer_all(engine: ScriptedEngine, found: list[tuple[str, float]]) -> None:
    engine.rankings = dict.fromkeys(TEXTS, found)


@pytest.fixture
def saved(pytester: pytest.Pytester, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]) -> Callable[..., Path]:
    """Saves the baseline of a row, and makes the engine answer as it does after it."""

    def save(row: Row, threshold: str) -> Path:
        path = write_suite(pytester.path, threshold)
        answer_all(engine, row.before)
        assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
        capsys.readouterr()
        answer_all(engine, row.after)
        return path

    return save


CASES = [
    pytest.param(row, text, id=f"{name}-{kind}")
    for name, row in ROWS.items()
    for kind, text in THRESHOLDS.items()
    if kind in ("mean", "every") or row.status != 0
]


@pytest.mark.parametrize(("row", "threshold"), CASES)
def test_in_pytest_and_in_junit(
    row: Row,
    threshold: str,
    saved: Callable[..., Path],
    run: Callable[..., pytest.RunResult],
    pytester: pytest.Pytester,
) -> None:
    saved(row, threshold)

    result = run("--junit-xml=junit.xml", "-W", "default::harness.pytest_plugin.items.RelevanceWarning")

    result.assert_outcomes(**row.counts)
    [entry] = ET.parse(pytester.path / "junit.xml").iter("testcase")
    assert [child.tag for child in entry if child.tag != "properties"] == ([row.junit] if row.junit else [])
    properties = {one.get("name"): one.get("value") for one in entry.iter("property")}
    assert properties["relevance.verdict"] == row.verdict


@pytest.mark.parametrize(("row", "threshold"), CASES)
def test_on_the_command_line(
    row: Row,
    threshold: str,
    saved: Callable[..., Path],
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(row, threshold)

    status = main(["run", path.name, "--url", engine.url, "--json"])

    [report] = json.loads(capsys.readouterr().out)["suites"]
    [verdict] = report["verdicts"]
    assert (status, verdict["status"]) == (row.status, row.verdict), verdict["reason"]
    assert row.said in verdict["reason"]
