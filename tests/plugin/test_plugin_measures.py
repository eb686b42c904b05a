"""Measures that a conftest.py registers: sessions of one process, and what their functions may give."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_A_WORKER
from harness.metrics import registry
from harness.metrics.registry import Registry

CONFTEST = """\
from decimal import Decimal
from fractions import Fraction

import numpy as np

from harness.metrics import (Definition, Needs, register_measure)

def formula(ranking, settings):
    return {value}

register_measure(Definition("Mine", formula, needs=Needs.NOTHING, reach=lambda _: (0, None)))
"""
AT_LEAST = 'thresholds: ["mean Mine@5 >= 0.2"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sessions of this process register is forgotten with the test."""
    monkeypatch.setattr(registry, "_REGISTRY", Registry(registry.DEFINITIONS))


@pytest.mark.parametrize("inside", ["conftest.py", "suites/conftest.py"])
@pytest.mark.parametrize("package", [False, True], ids=["folder", "package"])
def test_every_session_of_a_process_has_the_measures_of_its_conftest(
    suite: Suite, run: Run, pytester: pytest.Pytester, inside: str, package: bool
) -> None:
    path = suite(AT_LEAST, name=str(Path(inside).with_name("shop.relevance.yaml")))
    conftest = pytester.path / inside
    conftest.write_text(CONFTEST.format(value=0.5))
    if package:
        conftest.with_name("__init__.py").touch()

    run().assert_outcomes(passed=1)
    run().assert_outcomes(passed=1)

    assert path.is_file()


def test_a_session_has_the_measure_as_it_is_written_now(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(AT_LEAST)
    pytester.makeconftest(CONFTEST.format(value=0.5))
    run().assert_outcomes(passed=1)
    pytester.makeconftest("# longer than before, lest Python takes its compiled file\n" + CONFTEST.format(value=0.1))
    run().assert_outcomes(failed=1)


def test_two_of_one_name_are_refused_in_one_session(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(AT_LEAST)
    pytester.makeconftest(CONFTEST.format(value=0.5) * 2)
    for _ in range(2):
        result = run()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*a measure named Mine is already registered*"])


@pytest.mark.parametrize(
    ("value", "workers"),
    [
        ("np.float32(0.25)", ()),
        ("np.float32(0.25)", IN_A_WORKER),
        ("np.bool_(True)", ()),
        ("Decimal('0.25')", ()),
        ("Fraction(1, 4)", ()),
        ("True", ()),
    ],
)
def test_a_number_of_any_kind_is_reported_as_a_number(
    suite: Suite, run: Run, pytester: pytest.Pytester, value: str, workers: tuple[str, ...]
) -> None:
    suite(AT_LEAST, shoes='thresholds: ["Mine@5 >= 0.2"]')
    pytester.makeconftest(CONFTEST.format(value=value))

    result = run(*workers, "--relevance-report", "report.json", "--relevance-update-baseline", "--junit-xml=junit.xml")

    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK
    [report] = json.loads((pytester.path / "report.json").read_text())["suites"]
    score = 1.0 if value in ("np.bool_(True)", "True") else 0.25
    assert [query["scores"]["Mine@5"] for query in report["queries"]] == [score, score]
    kept = json.loads((pytester.path / "shop.baseline.json").read_text())["requests"]["request"]["queries"]
    assert {query["scores"]["Mine@5"] for query in kept.values()} == {score}
    assert f'name="relevance.observed" value="{score}"' in (pytester.path / "junit.xml").read_text()


@pytest.mark.parametrize(
    ("value", "sentence", "workers"),
    [
        ("float('nan')", "the formula of Mine gave nan, expected a finite number", ()),
        ("float('nan')", "the formula of Mine gave nan, expected a finite number", IN_A_WORKER),
        ("Decimal('NaN')", "the formula of Mine gave Decimal('NaN'), expected a finite number", ()),
        ("None", "the formula of Mine gave None, expected a finite number", ()),
        ("1 / 0", "the formula of Mine raised ZeroDivisionError: division by zero", ()),
        ("exit(3)", "the formula of Mine raised SystemExit: 3", ()),
    ],
)
def test_what_is_no_number_is_an_error_of_the_items_that_need_it(
    suite: Suite, run: Run, pytester: pytest.Pytester, value: str, sentence: str, workers: tuple[str, ...]
) -> None:
    suite('thresholds: ["mean Mine@5 >= 0.2", "mean nDCG@10 >= 0.8"]')
    pytester.makeconftest(CONFTEST.format(value=f"{value} if None in ranking.grades else 0.5"))

    result = run(*workers)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"*{sentence}*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_formula_that_gives_no_number_for_what_is_judged_is_told_where_it_is_asked_for(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(AT_LEAST)
    pytester.makeconftest(CONFTEST.format(value="1 / 0"))

    result = run()

    result.assert_outcomes(errors=1)
    sentence = "Mine@5 cannot score query 'shoes': the formula of Mine raised ZeroDivisionError: division by zero"
    result.stdout.fnmatch_lines([f"*shop.relevance.yaml:6:14: {sentence}"])


def test_a_reach_that_is_none_is_told_where_the_threshold_stands(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(AT_LEAST)
    pytester.makeconftest(CONFTEST.format(value=0.5).replace("(0, None)", "(0, '1')"))

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*shop.relevance.yaml:6:14: the reach of Mine holds '1', expected a finite number*"])
