"""Which request and how much time: named requests, the shared run, the budget, the words of messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.workers import IN_A_WORKER, IN_TWO_WORKERS

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'


@pytest.fixture
def two_requests(suite: Suite) -> Path:
    """A suite that sends `current` unless told otherwise."""
    path = suite(MEAN)
    body = "    query: {match: {title: '{{text}}'}}\n"
    text = path.read_text(encoding="utf-8")
    start, end = text.index("request:"), text.index("measures:")
    named = f"requests:\n  current:\n{body}  candidate:\n{body}"
    path.write_text(text[:start] + named + text[end:], encoding="utf-8")
    return path


@pytest.mark.parametrize("options", [(), ("--relevance-request", "current"), IN_A_WORKER])
def test_the_first_request_is_the_same_run_named_or_not(
    two_requests: Path, run: Run, engine: object, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    pytester.makepyfile(
        """
        def test_it(relevance):
            assert relevance.run("shop.relevance.yaml", request="current").report.request == "current"
            assert relevance.run("shop.relevance.yaml", request=None).report.request == "current"
        """
    )

    result = run(*options)

    result.assert_outcomes(passed=2)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}
    assert sum(line.startswith("shop: ") for line in result.outlines) == 1


OWN_INDEX = """
def test_it(relevance):
    for options in ({}, {"index": "products"}, {"request": "current", "index": "products"}):
        assert relevance.run("shop.relevance.yaml", **options).mean("nDCG@10") > 0.8
"""


@pytest.mark.parametrize("options", [(), ("--relevance-index", "products"), IN_A_WORKER])
@pytest.mark.parametrize("index", ["products", "${RELEVANCE_INDEX}"])
def test_the_suite_s_own_index_is_the_same_run_named_or_not(
    two_requests: Path,
    run: Run,
    engine: object,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    index: str,
) -> None:
    monkeypatch.setenv("RELEVANCE_INDEX", "products")
    text = two_requests.read_text(encoding="utf-8")
    two_requests.write_text(text.replace("index: products", f'index: "{index}"'), encoding="utf-8")
    pytester.makepyfile(OWN_INDEX)

    run(*options).assert_outcomes(passed=2)

    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_the_index_of_another_request_is_another_run(
    two_requests: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    text = two_requests.read_text(encoding="utf-8")
    query = "    query: {match: {title: '{{text}}'}}\n"
    elsewhere = "    index: articles\n    body: {query: {match: {title: '{{text}}'}}}\n"
    two_requests.write_text(text.replace(f"candidate:\n{query}", f"candidate:\n{elsewhere}"), encoding="utf-8")
    pytester.makepyfile(
        """
        def test_it(relevance):
            assert relevance.run("shop.relevance.yaml", index="articles").report.index == "articles"
            for index in (None, "articles"):
                options = {"index": index} if index else {}
                run = relevance.run("shop.relevance.yaml", request="candidate", **options)
                assert run.report.index == "articles"
        """
    )

    run().assert_outcomes(passed=2)

    assert engine.asked == {"red shoes": 3, "rubber boots": 3}


def test_another_request_is_another_run(
    two_requests: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile("def test_it(relevance): relevance.run('shop.relevance.yaml', request='candidate')")

    result = run()

    result.assert_outcomes(passed=2)
    assert engine.asked == {"red shoes": 2, "rubber boots": 2}


@pytest.mark.parametrize(("named", "workers"), [("current", ()), ("candidate", ()), ("candidate", IN_A_WORKER)])
def test_a_baseline_is_updated_under_the_request_that_was_named(
    two_requests: Path, run: Run, pytester: pytest.Pytester, named: str, workers: tuple[str, ...]
) -> None:
    pytester.makepyfile("def test_it(relevance): relevance.run('shop.relevance.yaml', request='current')")

    result = run("--relevance-request", named, "--relevance-update-baseline=force", *workers)

    result.assert_outcomes(passed=2)
    kept = json.loads(two_requests.with_name("shop.baseline.json").read_text(encoding="utf-8"))
    assert list(kept["requests"]) == [named]


def test_a_request_that_a_suite_does_not_have_is_one_usage_error(suite: Suite, run: Run) -> None:
    suite(MEAN, shoes="expect: ['a in top 3']")

    result = run("--relevance-request", "requst", "--relevance-tag", "haed")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str()
    assert text.count("found no request 'requst', known are request") == 1
    assert "--relevance-request: " in text
    assert "--relevance-tag: no query has the tag 'haed'" in text


def test_workers_tell_a_request_that_a_suite_does_not_have_too(suite: Suite, run: Run) -> None:
    suite(MEAN)

    result = run("--relevance-request", "requst", *IN_A_WORKER)

    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines("--relevance-request: *found no request 'requst', known are request*")


def test_a_suite_that_is_wrong_tells_so_whatever_request_was_named(
    two_requests: Path, run: Run, pytester: pytest.Pytester
) -> None:
    two_requests.write_text("suite: [", encoding="utf-8")
    test = pytester.makepyfile("def test_it(relevance): relevance.run('shop.relevance.yaml', request='current')")

    result = run(str(test))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines("*RunFailed: shop.relevance.yaml:2:1: this is not YAML*")


def test_messages_name_the_plugin_s_options(suite: Suite, pytester: pytest.Pytester) -> None:
    suite(MEAN)

    result = pytester.runpytest()

    result.assert_outcomes(errors=1)
    assert "--relevance-url" in result.stdout.str()
    assert " --url" not in result.stdout.str()
    assert " --embedded" not in result.stdout.str()


def test_of_a_server_that_is_not_there_it_says_what_starts_one(suite: Suite, pytester: pytest.Pytester) -> None:
    suite(MEAN)

    result = pytester.runpytest("--relevance-url", "http://127.0.0.1:9")

    result.assert_outcomes(errors=1)
    assert "`relevance engine up` starts an OpenSearch on this machine" in result.stdout.str()
    assert "--embedded" not in result.stdout.str()


@pytest.mark.parametrize("where", ["option", "ini"])
def test_after_its_budget_nothing_more_is_sent(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester, where: str
) -> None:
    suite(MEAN)
    if where == "ini":
        pytester.makeini("[pytest]\nrelevance_budget = 0.000001\n")

    result = run(*(["--relevance-budget", "0.000001"] if where == "option" else []))

    result.assert_outcomes(errors=1)
    assert engine.asked == {}
    assert "did not run: 2" in result.stdout.str()
    assert "at most 1e-06 s a suite" in result.stdout.str()


def test_a_budget_that_is_long_enough_changes_nothing(suite: Suite, run: Run) -> None:
    suite(MEAN)

    run("--relevance-budget", "600").assert_outcomes(passed=1)


@pytest.mark.parametrize("budget", ["0", "-3", "nan", "inf", "soon"])
def test_a_budget_is_a_number_of_seconds(suite: Suite, run: Run, budget: str) -> None:
    suite(MEAN)

    result = run(f"--relevance-budget={budget}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(f"ERROR: --relevance-budget: found '{budget}', expected a number of seconds*")


def test_what_flips_between_repeats_is_an_error_in_pytest_too(
    suite: Suite, run: Run, engine: ScriptedEngine, pytester: pytest.Pytester
) -> None:
    suite("thresholds: [mean nDCG@10 >= 0.9]")
    orders = iter([["d", "e"], ["e", "d"]])
    engine.before_search = lambda: engine.rankings.update({"rubber boots": next(orders, ["d", "e"])})

    result = run("--relevance-repeat=3", "--junitxml=junit.xml")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines("*not stable over 3 repeats: passed in 2, failed in 1, from 0.8155 to 1.0000;*")
    result.stdout.fnmatch_lines("shop: 1 of 2 queries has several rankings in 3 repeats, as *: boots")
    assert '<property name="relevance.repeats" value="0.815465 to 1"' in (pytester.path / "junit.xml").read_text()


def test_a_number_of_repeats_is_a_number(suite: Suite, run: Run) -> None:
    suite(MEAN)
    result = run("--relevance-repeat=often")
    result.stderr.fnmatch_lines("ERROR: --relevance-repeat: found 'often', expected a whole number from 1 on*")


def test_a_query_is_judged_alone_after_repeats_too(suite: Suite, run: Run, engine: ScriptedEngine) -> None:
    suite("thresholds: [every nDCG@10 >= 0.9]")
    engine.broken["red shoes"] = 400

    result = run("--relevance-repeat=2", "--relevance-each-query")

    result.assert_outcomes(errors=2, failed=1)


def test_a_query_that_fails_in_a_repeat_is_an_error_without_thresholds_too(
    suite: Suite, run: Run, engine: ScriptedEngine
) -> None:
    suite("depth: 20")
    searches = iter([lambda: None, lambda: engine.broken.update({"red shoes": 400})])
    engine.before_search = lambda: next(searches, lambda: None)()

    result = run("--relevance-repeat=2", "--relevance-each-query", "--relevance-no-checks")

    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines("*query shoes: a repeat has no ranking of it*")


WITH_A_BODY = """
import pytest

@pytest.mark.parametrize("number", [1, 2, 3])
def test_it(relevance, number):
    body = {"query": {"match": {"title": "{{text}}"}}, "min_score": 0.5}
    before, after = relevance.run("shop.relevance.yaml"), relevance.run("shop.relevance.yaml", body=body)
    for run, is_given in ((before, False), (after, True)):
        assert ("min_score" in run.query("shoes").sent.body) == is_given
        assert ("min_score" in run.suite.requests["request"].body) == is_given
    assert relevance.compare(before, after).agreement.queries == 2
"""


@pytest.mark.parametrize("options", [(), IN_TWO_WORKERS], ids=["alone", "workers"])
def test_a_body_of_the_call_is_another_run_in_each_process_and_no_baseline(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    pytest.importorskip("numpy")
    path = suite(MEAN)
    pytester.makepyfile(WITH_A_BODY)

    result = run(*options, "--relevance-update-baseline")

    result.assert_outcomes(passed=4)
    assert engine.asked == {"red shoes": 2, "rubber boots": 2}
    assert [file.name for file in path.parent.glob("*.json")] == ["shop.baseline.json"]
    assert "min_score" not in (path.parent / "shop.baseline.json").read_text(encoding="utf-8")
