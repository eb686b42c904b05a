"""`markers:` in a suite are pytest markers, and only they."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'
MEAN_ITEM = "shop.relevance.yaml::mean-nDCG-10-ge-0.8"
SHOES_ITEM = "shop.relevance.yaml::query.shoes"

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


@pytest.fixture(params=["", "--strict-markers"])
def strictness(request: pytest.FixtureRequest, pytester: pytest.Pytester) -> str:
    pytester.makeini("[pytest]\nmarkers =\n    slow: takes long\n    nightly: by night\n")
    return str(request.param)


def test_m_chooses_by_the_markers_of_suites_and_queries(suite: Suite, run: Run, strictness: str) -> None:
    suite(f"{MEAN}\nmarkers: [nightly]", shoes='markers: [slow]\n    expect: ["a in top 1"]')
    collect = ("--collect-only", "-q", *filter(None, [strictness]))

    assert ids(run(*collect, "-m", "nightly")) == [MEAN_ITEM, SHOES_ITEM]
    assert ids(run(*collect, "-m", "slow")) == [SHOES_ITEM]
    assert ids(run(*collect, "-m", "not slow")) == [MEAN_ITEM]


def test_a_threshold_has_markers_of_its_own(suite: Suite, run: Run, strictness: str) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8", {threshold: "median nDCG@10 >= 0.8", markers: [slow]}]')

    result = run("--collect-only", "-q", "-m", "slow", *filter(None, [strictness]))

    assert ids(result) == ["shop.relevance.yaml::median-nDCG-10-ge-0.8"]


def test_a_marker_that_is_not_registered_is_an_error_with_its_place(suite: Suite, run: Run, strictness: str) -> None:
    suite(f"{MEAN}\nmarkers: [nightyl]")

    result = run(*filter(None, [strictness]))

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines("shop.relevance.yaml:*: marker 'nightyl' is not registered: *`markers`*`tags`*")
    assert "Traceback" not in result.stdout.str()


def test_without_strictness_it_is_pytests_warning(suite: Suite, run: Run) -> None:
    suite(f"{MEAN}\nmarkers: [nightyl]")

    result = run("-W", "default")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, warnings=1)


def test_a_conftest_can_mark_items_of_suites(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN, shoes='expect: ["b in top 1"]')
    pytester.makeconftest(
        """
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.name == "query.shoes":
                    item.add_marker(pytest.mark.xfail(reason="known"))
        """
    )

    run().assert_outcomes(passed=1, xfailed=1)
