"""What a user sees of each outcome of a baseline: the item, the exit status, the entry in JUnit XML."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main

DROP = 'thresholds: ["drop nDCG@10 <= 0.02"]'
Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def save(pytester: pytest.Pytester, engine, capsys) -> Callable[[Path], Path]:
    """Saves the baseline of a suite on the engine's server."""

    def save_baseline(path: Path) -> Path:
        assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
        capsys.readouterr()
        return path.with_name("shop.baseline.json")

    return save_baseline


@pytest.fixture
def junit(pytester: pytest.Pytester, run: Run) -> Callable[..., tuple[pytest.RunResult, ET.Element]]:
    """Runs, and gives the entry of the one test in JUnit XML too."""

    def with_entry(*options: str) -> tuple[pytest.RunResult, ET.Element]:
        result = run("--junit-xml=junit.xml", *options)
        [entry] = ET.parse(pytester.path / "junit.xml").iter("testcase")
        return result, entry

    return with_entry


def kinds(entry: ET.Element) -> list[str]:
    return [child.tag for child in entry if child.tag != "properties"]


def properties(entry: ET.Element) -> dict[str | None, str | None]:
    return {one.get("name"): one.get("value") for one in entry.iter("property")}


def fails_with(result: pytest.RunResult, entry: ET.Element, *sentences: str) -> None:
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1)
    message = entry.find("failure").get("message")  # type: ignore[union-attr]
    for sentence in sentences:
        assert sentence in message
    assert "harness baseline save" in message


def test_a_drop_within_its_limit_passes(suite: Suite, save, junit) -> None:
    save(suite(DROP))
    result, entry = junit()
    result.assert_outcomes(passed=1)
    assert (result.ret, kinds(entry)) == (pytest.ExitCode.OK, [])
    assert float(properties(entry)["relevance.observed"]) == 0.0
    assert properties(entry)["relevance.required"] == "0.02"


def test_a_drop_beyond_its_limit_fails_and_shows_the_query_that_fell(suite: Suite, save, junit, engine) -> None:
    save(suite(DROP))
    engine.rankings["red shoes"] = ["c", "b", "a"]
    result, entry = junit()
    result.assert_outcomes(failed=1)
    assert (result.ret, kinds(entry)) == (pytest.ExitCode.TESTS_FAILED, ["failure"])
    result.stdout.fnmatch_lines(["*fell by *, allowed 0.02, over 2 queries; fell most: shoes 1.0000 -> 0.*"])
    result.stdout.fnmatch_lines(["query shoes*red shoes*"])
    assert float(properties(entry)["relevance.observed"]) > 0.02


def test_without_a_baseline_a_drop_fails_with_the_command_that_makes_one(suite: Suite, junit) -> None:
    suite(DROP)
    fails_with(*junit(), "there is no baseline: shop.baseline.json is not there", "shop.relevance.yaml")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("{", "cannot be read: not JSON"), ('{"schema": 7}', "has schema version 7, expected 1")],
)
def test_a_baseline_that_cannot_be_read_fails_likewise(suite: Suite, junit, content: str, sentence: str) -> None:
    suite(DROP).with_name("shop.baseline.json").write_text(content)
    fails_with(*junit(), sentence)


def test_a_baseline_that_is_older_than_its_suite_fails_likewise(suite: Suite, save, junit) -> None:
    path = save(suite(DROP))
    content = json.loads(path.read_text())
    del content["requests"]["request"]["queries"]["boots"]
    path.write_text(json.dumps(content))
    fails_with(*junit(), "is older than the suite: it does not have 1 query (boots)")


def test_where_it_is_optional_a_missing_baseline_is_a_warning(suite: Suite, pytester: pytest.Pytester, engine) -> None:
    suite(f"{DROP}\nbaseline: optional")
    result = pytester.runpytest_subprocess("--relevance-url", engine.url, "--junit-xml=junit.xml")
    result.assert_outcomes(passed=1, warnings=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines("*RelevanceWarning: nDCG@10 * there is no baseline: *harness baseline save*")
    [entry] = ET.parse(pytester.path / "junit.xml").iter("testcase")
    assert kinds(entry) == []


def test_an_engine_error_is_an_error_with_or_without_a_baseline(suite: Suite, save, junit, engine) -> None:
    path = save(suite(DROP))
    engine.broken["red shoes"] = 400
    for _ in range(2):
        result, entry = junit()
        result.assert_outcomes(errors=1)
        assert kinds(entry) == ["error"]
        path.unlink(missing_ok=True)


def test_changed_judgments_are_no_failure_and_are_named(suite: Suite, save, run: Run) -> None:
    path = suite(DROP)
    save(path)
    path.write_text(path.read_text().replace("judgments: {a: 3, b: 1}", "judgments: {c: 3}"))
    result = run("--relevance-report", "report.json")
    result.assert_outcomes(passed=1)
    [report] = json.loads((path.parent / "report.json").read_text())["suites"]
    assert any("the judgments changed: 1 query (shoes)" in note for note in report["notes"])


def test_a_query_s_own_drop_is_the_query_s_item(suite: Suite, save, run: Run, engine) -> None:
    save(suite(shoes='thresholds: ["drop nDCG@10 <= 0.1"]'))
    engine.rankings["red shoes"] = ["c", "b", "a"]
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nDCG@10 (gain exponential) fell by * from 1.0000 to *, allowed 0.1*"])
