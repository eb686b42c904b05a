"""The example of docs/reference/pytest.md runs as it stands there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ITEMS = [
    "shop.relevance.yaml::mean-nDCG-10-ge-0.8",
    "shop.relevance.yaml::every-nDCG-10-ge-0.6-for-tail",
    "shop.relevance.yaml::query.shoes",
    "shop.relevance.yaml::query.boots",
]


def test_the_example_runs(pytester: pytest.Pytester, run: Callable[..., pytest.RunResult], engine: object) -> None:
    pytester.copy_example("shop")

    result = run()

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=5, xfailed=1)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_its_node_ids_are_those_of_the_page(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult], pytestconfig: pytest.Config
) -> None:
    pytester.copy_example("shop")
    page = (pytestconfig.rootpath / "docs" / "reference" / "pytest.md").read_text(encoding="utf-8")

    collected = [line for line in run("--collect-only", "-q", "shop.relevance.yaml").outlines if "::" in line]

    assert collected == ITEMS
    assert "\n".join(ITEMS) in page


def test_its_node_ids_with_two_requests_are_those_of_the_page(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult], pytestconfig: pytest.Config
) -> None:
    pytester.copy_example("shop")
    path = pytester.path / "shop.relevance.yaml"
    before, line, after = path.read_text(encoding="utf-8").partition("""  query: {match: {title: "{{text}}"}}\n""")
    named = f"requests:\n  current:\n  {line}  candidate:\n  {line}"
    path.write_text(before.removesuffix("request:\n") + named + after, encoding="utf-8")
    page = (pytestconfig.rootpath / "docs" / "reference" / "pytest.md").read_text(encoding="utf-8")

    both = ("--relevance-request", "current", "--relevance-request", "candidate")
    collected = [line for line in run("--collect-only", "-q", "shop.relevance.yaml", *both).outlines if "::" in line]

    assert collected == [f"{item}[{request}]" for request in ("current", "candidate") for item in ITEMS]
    assert "\n".join(collected) in page


def test_every_option_is_on_the_page(pytester: pytest.Pytester, pytestconfig: pytest.Config) -> None:
    page = (pytestconfig.rootpath / "docs" / "reference" / "pytest.md").read_text(encoding="utf-8")

    shown = pytester.runpytest("--help").stdout.str().split()

    options = {
        word.partition("=")[0].rstrip(",") for word in shown if word.startswith(("--relevance-", "--no-relevance"))
    }
    lines = {word for word in shown if word.startswith("relevance_")}
    missing = [name for name in options | {line.rstrip(":") for line in lines} if name not in page]
    assert len(options) >= 9
    assert missing == []
