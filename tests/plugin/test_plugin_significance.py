"""A threshold on a significant drop, as command, pytest and JUnit XML show it: they decide alike, and say alike."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from harness.cli import main

FIVE_PER_CENT = "drop P@20 is not significant at 5%"
RELEVANT = [f"d{rank}" for rank in range(20)]


@pytest.fixture
def held(pytester: pytest.Pytester, engine, capsys) -> Callable[..., None]:
    """
    Writes a suite of so many queries, keeps its baseline, and then lets the engine answer otherwise: of the 20 hits of
    the first queries, so many were not relevant in the baseline, and so many are not today.
    """

    def answer(queries: int, lost: list[int]) -> None:
        for n, hits in enumerate(lost + [0] * (queries - len(lost))):
            engine.rankings[f"text {n}"] = RELEVANT[hits:] + [f"x{rank}" for rank in range(hits)]

    def write(queries: int, lost: list[int], lost_before: list[int]) -> None:
        judgments = {**dict.fromkeys(RELEVANT, 1), **{f"x{rank}": 0 for rank in range(20)}}
        suite = {
            "suite": "shop",
            "target": {"index": "products"},
            "depth": 20,
            "request": {"query": {"match": {"title": "{{text}}"}}},
            "measures": ["P@20"],
            "thresholds": [FIVE_PER_CENT],
            "queries": [{"id": f"q{n}", "text": f"text {n}", "judgments": judgments} for n in range(queries)],
        }
        (pytester.path / "shop.relevance.yaml").write_text(json.dumps(suite), encoding="utf-8")
        answer(queries, lost_before)
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
        answer(queries, lost)
        capsys.readouterr()

    return write


@pytest.mark.parametrize(
    ("queries", "lost_before", "lost", "told"),
    [
        pytest.param(30, [], [], None, id="none of 30 moved"),
        pytest.param(1, [], [], None, id="none of 1 moved"),
        pytest.param(2, [1, 1], [0, 0], None, id="2 of 2 rose"),
        pytest.param(
            225,
            [],
            [1],
            r"smallest detectable drop 0\.008\d \(80 % power on average\) if all 225 queries changed "
            r"\(rough: only 1 did\)",
            id="1 of 225 fell by 0.05",
        ),
        pytest.param(
            30,
            [3, 3, 2, 2, 1],
            [0, 0, 0, 0, 0, 2, 3, 3, 4, 1, 1],
            r"smallest detectable drop 0\.05\d? \(80 % power on average\)",
            id="5 of 30 rose, 6 fell more",
        ),
    ],
)
def test_what_holds_says_what_could_have_been_found(
    held,
    run,
    engine,
    pytester: pytest.Pytester,
    capsys,
    queries: int,
    lost_before: list[int],
    lost: list[int],
    told: str | None,
) -> None:
    held(queries, lost, lost_before)

    assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    result = run("--junit-xml=junit.xml", "-rA")

    result.assert_outcomes(passed=1)
    [entry] = ET.parse(pytester.path / "junit.xml").iter("testcase")
    assert [child.tag for child in entry if child.tag != "properties"] == []
    caveat = {one.get("name"): one.get("value") for one in entry.iter("property")}.get("relevance.caveat")
    if told is None:
        assert caveat is None
        assert "detectable" not in shown + result.stdout.str()
    else:
        assert caveat is not None
        assert re.fullmatch(told, caveat)
        assert caveat in shown
        assert caveat in " ".join(result.stdout.str().split())


@pytest.mark.parametrize(
    ("queries", "lost", "told"),
    [
        pytest.param(
            5,
            [20, 20, 20, 20],
            "4 of 5 queries changed, and p cannot be below 0.0625; it fell by 0.8000, more than the "
            "smallest detectable drop",
            id="4 of 5 fell from 1 to 0",
        ),
        pytest.param(
            4,
            [1],
            "1 of 4 queries changed, and p cannot be below 0.5, so no drop is detectable: compare more queries, or use "
            "`drop P@20 <= …`",
            id="a fall of 4 queries",
        ),
        pytest.param(30, [2, 3, 1, 4, 2], "is significant at 5%: p is 0.0312", id="5 of 30 fell"),
    ],
)
def test_what_does_not_hold_says_why(
    held, run, engine, pytester: pytest.Pytester, capsys, queries: int, lost: list[int], told: str
) -> None:
    held(queries, lost, [])

    assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    result = run("--junit-xml=junit.xml")

    result.assert_outcomes(failed=1)
    [entry] = ET.parse(pytester.path / "junit.xml").iter("testcase")
    [failure] = entry.iter("failure")
    assert told in shown
    assert told in " ".join(result.stdout.str().split())
    assert told in " ".join(f"{failure.get('message')} {failure.text}".split())
