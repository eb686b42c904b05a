"""Other indexes than the suites' own, one or several: an item for each, told apart in ids and reports."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_A_WORKER
from harness.report.json import loads_report

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'
TWO = ("--relevance-index", "products_v1", "--relevance-index", "products_v2")
ID = "shop.relevance.yaml::mean-nDCG-10-ge-0.8"


@pytest.fixture
def shop(suite: Suite, engine: object) -> Path:
    """A suite that holds on every index but `products_v2`, where the mean is below 0.8."""
    engine.on_index["products_v2", "red shoes"] = ["c", "b", "a"]
    return suite(MEAN)


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_one_index_is_searched_and_leaves_ids_as_they_are(shop: Path, run: Run, pytester: pytest.Pytester) -> None:
    assert collected(run("--collect-only", "-q", "--relevance-index", "products_v2")) == [ID]

    result = run("--relevance-index", "products_v2", "--relevance-report", "report.json")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["relevance: http*, index products_v2", "shop: nDCG@10 *, index products_v2"])
    [report] = loads_report((pytester.path / "report.json").read_text(encoding="utf-8")).suites
    assert report.index == "products_v2"


@pytest.mark.parametrize("workers", [(), IN_A_WORKER])
def test_each_index_is_judged_by_itself_in_the_order_they_were_named(
    shop: Path, run: Run, engine: object, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    result = run(*TWO, "--relevance-report", "report.json", "--junitxml", "junit.xml", *workers)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([f"FAILED {ID}?products_v2? - *"])
    assert set(engine.asked.values()) == {2}
    report = loads_report((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert [suite.index for suite in report.suites] == ["products_v1", "products_v2"]
    found = ET.parse(pytester.path / "junit.xml").findall(".//testcase")
    names = {
        item.get("name"): [one.get("value") for one in item.iter("property") if one.get("name") == "relevance.index"]
        for item in found
    }
    assert {name: set(values) for name, values in names.items()} == {
        "mean-nDCG-10-ge-0.8[products_v1]": {"products_v1"},
        "mean-nDCG-10-ge-0.8[products_v2]": {"products_v2"},
    }


def test_requests_and_indexes_make_a_matrix(shop: Path, run: Run) -> None:
    text = shop.read_text(encoding="utf-8")
    body = '{query: {match: {title: "{{text}}"}}}'
    start, end = text.index("request:"), text.index("measures:")
    shop.write_text(f"{text[:start]}requests:\n  a: {body}\n  b: {body}\n{text[end:]}", encoding="utf-8")
    words = ("--relevance-request", "a", "--relevance-request", "b", *TWO)

    cells = ["a@products_v1", "a@products_v2", "b@products_v1", "b@products_v2"]
    assert collected(run("--collect-only", "-q", *words)) == [f"{ID}[{cell}]" for cell in cells]
    run(*words, "-k", "b and products_v2").assert_outcomes(failed=1)
    run(*words, f"{ID}[b@products_v1]").assert_outcomes(passed=1)
    run(*words).assert_outcomes(passed=2, failed=2)
    run(*words, "--lf").assert_outcomes(failed=2)


def test_the_ini_file_holds_several_and_the_command_line_wins(shop: Path, run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrelevance_index = products_v1 products_v2\n")
    assert len(collected(run("--collect-only", "-q"))) == 2
    run("--relevance-index", "products_v1").assert_outcomes(passed=1)


def test_the_fixture_searches_the_first_and_any_that_a_call_names(
    shop: Path, run: Run, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        """
        def test_it(relevance):
            assert relevance.run("shop.relevance.yaml").report.index == "products_v1"
            assert relevance.run("shop.relevance.yaml", index="products_v2").report.index == "products_v2"
        """
    )
    run(*TWO).assert_outcomes(passed=2, failed=1)


def test_a_baseline_is_kept_from_one_index_and_not_from_several(shop: Path, run: Run) -> None:
    refused = run(*TWO, "--relevance-update-baseline=force")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*a baseline has one run per request; give one --relevance-index*"])
    run("--relevance-index", "products_v1", "--relevance-update-baseline=force")
    assert shop.with_name("shop.baseline.json").is_file()


def test_a_suite_that_searches_its_own_index_is_refused_with_all_else(suite: Suite, run: Run) -> None:
    path = suite(f"{MEAN}\nfixture: {{documents: d.jsonl}}")
    path.with_name("d.jsonl").write_text("".join(f'{{"id": "{one}"}}\n' for one in "abcde"), encoding="utf-8")

    result = run("--relevance-index", "products_v1", "--relevance-request", "none")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*--relevance-request: shop.relevance.yaml: found no request 'none'*",
            "--relevance-index: shop.relevance.yaml: the suite builds its index itself, from its fixture, so that*",
        ]
    )
