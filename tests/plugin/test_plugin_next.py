"""What a failed item says to run next, in pytest and from the command alike; and what ranks add and lose under -vv."""

from __future__ import annotations

import shlex

import pytest

from builders.workers import IN_A_WORKER
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {query: {match: {title: "{{text}}"}}, min_score: 0.5}
measures: ["nDCG@3"]
thresholds: ["mean nDCG@3 >= 0.99", "mean P@1 >= 0"]
queries:
  - {id: "it's red", text: red shoes, judgments: {c: 3}}
  - {id: boots, text: rubber boots, judgments: {d: 3}, expect: ["d in top 1"]}
"""


@pytest.fixture
def suite(pytester):
    pytester.path.joinpath("suites").mkdir()
    path = pytester.path / "suites" / "shop.relevance.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return "suites/shop.relevance.yaml"


def next_lines(text):
    return [line.strip().removeprefix("next: ") for line in text.splitlines() if line.strip().startswith("next: ")]


def test_a_failed_item_says_what_to_run_next(suite, engine, pytester, capsys):
    found = next_lines(pytester.runpytest("--relevance-url", engine.url, suite).stdout.str())
    assert found == [
        f"""relevance show {suite} 'it'"'"'s red' --url {engine.url}""",
        f"relevance show {suite} boots --url {engine.url}",
    ]
    for line in found:
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0
        assert "ranking" in capsys.readouterr().out


def test_it_is_the_last_line_of_the_item(suite, engine, pytester):
    lines = pytester.runpytest("--relevance-url", engine.url, suite, "-k", "boots").stdout.lines
    at = next(number for number, line in enumerate(lines) if line.startswith("next: "))
    assert lines[at - 1] == ""
    assert lines[at + 1].startswith("===")


def test_the_command_says_the_same(suite, engine, pytester, capsys):
    in_pytest = next_lines(pytester.runpytest("--relevance-url", engine.url, suite).stdout.str())
    capsys.readouterr()
    assert main(["run", suite, "--url", engine.url]) == 1
    assert next_lines(capsys.readouterr().out) == in_pytest


def test_options_are_those_that_were_given(suite, engine, pytester, capsys):
    assert main(["run", suite, "--url", engine.url, "--request", "candidate", "--index", "next"]) == 1
    given = f" --url {engine.url} --request candidate --index next"
    found = next_lines(capsys.readouterr().out)
    assert all(line.endswith(given) for line in found)
    words = ("--relevance-url", engine.url, "--relevance-request", "candidate", "--relevance-index", "next")
    assert next_lines(pytester.runpytest(*words, suite).stdout.str()) == found


def test_what_is_not_reached_has_no_ranking_to_show(suite, engine, capsys):
    engine.broken = dict.fromkeys(engine.rankings, 400)
    assert main(["run", suite, "--url", engine.url]) == 3
    assert next_lines(capsys.readouterr().out) == []


def test_ranks_add_and_lose_under_vv(suite, engine, pytester):
    plain = pytester.runpytest("--relevance-url", engine.url, suite, "-v").stdout.str()
    detailed = pytester.runpytest("--relevance-url", engine.url, suite, "-vv").stdout.str()
    figures = "nDCG@3, gain exponential: the ranks add 3.5000 of the 7.0000 of the ideal ranking"
    assert figures not in plain
    assert figures in detailed
    rows = [line.split() for line in detailed.splitlines()]
    assert ["1", "a", "unjudged", "0.0000", "7.0000"] in rows
    assert ["3", "c", "3", "3.5000", "-3.5000"] in rows
    assert ["sum", "3.5000", "3.5000"] in rows


def test_the_same_is_said_where_a_worker_ran_the_suite(suite, engine, pytester):
    words = ("--relevance-url", engine.url, suite)
    alone = next_lines(pytester.runpytest(*words).stdout.str())
    shared = pytester.runpytest("-p", "no:xdist", *IN_A_WORKER, "-vv", *words)
    assert sorted(next_lines(shared.stdout.str())) == sorted(alone)
    assert "the ranks add 3.5000 of the 7.0000" in shared.stdout.str()


@pytest.mark.parametrize("hook", ["request", "response"])
def test_a_command_that_would_not_call_a_hook_of_conftest_py_is_not_offered(suite, engine, pytester, hook):
    pytester.makeconftest(f"def pytest_relevance_{hook}({hook}):\n    return None\n")
    result = pytester.runpytest("--relevance-url", engine.url, suite)
    assert result.ret == 1
    assert next_lines(result.stdout.str()) == []
