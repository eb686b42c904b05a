"""Suites that are run: the same through the command, pytest and Python, in each kind of report."""

from __future__ import annotations

import difflib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from builders.golden import json_lines, junit_lines, masked, page_lines
from harness.api import Relevance
from harness.report.json import dumps_report, loads_report

SUITES = Path(__file__).parents[2] / "suites"
KINDS = {"html": page_lines, "json": json_lines, "markdown": str, "codequality": json_lines}


@pytest.fixture
def reported(folder, harness):
    """Gives what a command prints, and its reports in every kind."""

    def run(*words):
        kinds = [word for kind in KINDS for word in ("--output", f"{kind}=report.{kind}")]
        found = {"terminal": harness(*words, *kinds)}
        for kind, lines in KINDS.items():
            path = folder / f"report.{kind}"
            found[path.name] = lines(path.read_text(encoding="utf-8"))
            path.unlink()
        return found

    return run


@pytest.fixture
def in_github(folder, harness, monkeypatch):
    """Gives what a command prints in a step of GitHub Actions; the step's summary is to be *summary*."""

    def run(*words, summary):
        with monkeypatch.context() as step:
            step.setenv("GITHUB_ACTIONS", "true")
            step.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
            step.setenv("GITHUB_WORKSPACE", str(folder))
            printed = harness(*words, "--quiet", "--github")
        written = (folder / "summary.md").read_text(encoding="utf-8")
        (folder / "summary.md").unlink()
        assert "".join(unlike(summary, written, folder)) == ""
        return printed

    return run


@pytest.fixture
def tested(folder, inner_pytest):
    """Gives what pytest prints, its JUnit XML, and the JSON report."""

    def run(*words):
        printed = inner_pytest("-v", *words, "--junit-xml=junit.xml", "--relevance-report=pytest.json")
        junit = junit_lines((folder / "junit.xml").read_text(encoding="utf-8"))
        return {"pytest": printed, "junit.xml": junit}, (folder / "pytest.json").read_text(encoding="utf-8")

    return run


@pytest.fixture
def every_way(engine, folder, reported, in_github, tested):
    """Runs *suite* by the command, pytest and Python, holds their reports to be the same, and gives all outputs."""

    def run(suite, *, url=engine.url, write=False):
        at = ("--url", url, *(["--allow-write"] if write else []))
        found = reported("run", suite, *at)
        found["github"] = in_github("run", suite, *at, summary=found["report.markdown"])
        printed, by_pytest = tested(suite, *(f"--relevance-{word[2:]}" if word[:2] == "--" else word for word in at))
        with Relevance() as relevance:
            by_python = relevance.run(suite, url=url, allow_write=write).report
        whole = loads_report(by_pytest)
        for other in (whole, replace(whole, suites=(by_python,))):
            assert "".join(unlike(found["report.json"], json_lines(dumps_report(other)), folder)) == ""
        return {**found, **printed}

    return run


def unlike(one, other, folder):
    """The lines in which two reports differ, but for how they name the suites' folder."""
    texts = [masked(text, folder).replace("<folder>/", "").splitlines(keepends=True) for text in (one, other)]
    return list(difflib.unified_diff(*texts, n=0))


# ------------------------------------------------------------------------------------------------ scripted suites


def test_outcomes(every_way, golden):
    golden(every_way("outcomes.relevance.yaml"))


def test_answers_that_are_none(every_way, golden):
    golden(every_way("broken.relevance.yaml"))


def test_weights(every_way, golden):
    golden(every_way("weights.relevance.yaml"))


def test_an_engine_that_is_not_there(reported, tested, golden):
    """The remedies name the options of whom they are said to."""
    nobody = "http://127.0.0.1:9"
    printed, _ = tested("weights.relevance.yaml", "--relevance-url", nobody)
    golden({**reported("run", "weights.relevance.yaml", "--url", nobody), **printed})


def test_requests_on_indexes(engine, reported, tested, golden):
    cells = ("--all-requests", "--index", "products", "--index", "next")
    printed, _ = tested(
        "weights.relevance.yaml",
        *("--relevance-url", engine.url, "--relevance-request", "current", "--relevance-request", "candidate"),
        *("--relevance-index", "products", "--relevance-index", "next"),
    )
    golden({**reported("run", "weights.relevance.yaml", "--url", engine.url, *cells), **printed})


def test_choices(engine, harness, inner_pytest, golden):
    """What selects, limits and hardens a run."""
    at = ("--url", engine.url)
    outcomes, weights = "outcomes.relevance.yaml", "weights.relevance.yaml"
    theirs = ("--relevance-url", engine.url, "--tb=line", "-rA")
    golden(
        {
            "quiet": harness("run", outcomes, "-q", *at),
            "json-on-stdout": harness("run", weights, *at, "--json"),
            "tag": harness("run", outcomes, *at, "--tag", "tail"),
            "tag-that-decides-nothing": harness("run", "broken.relevance.yaml", *at, "--tag", "nobody"),
            "query": harness("run", outcomes, *at, "--query", "best-order"),
            "report-only": harness("run", outcomes, *at, "--report-only"),
            "strict-xfail": harness("run", outcomes, *at, "--strict-xfail", "-q"),
            "budget": harness("run", weights, *at, "--budget", "0.0000001"),
            "one-request": harness("run", weights, *at, "--request", "candidate"),
            "several-suites": harness("run", outcomes, weights, *at, "-q"),
            "pytest-tag": inner_pytest(outcomes, *theirs, "--relevance-tag", "tail"),
            "pytest-query": inner_pytest(outcomes, *theirs, "--relevance-query", "best-order"),
            "pytest-each-query": inner_pytest(weights, *theirs, "--relevance-each-query"),
            "pytest-collect": inner_pytest(".", "--co", "-q"),
            "pytest-keyword": inner_pytest(outcomes, *theirs, "-k", "median or tied"),
            "pytest-strict": inner_pytest(outcomes, *theirs, "-o", "xfail_strict=true", "-k", "for-tail"),
        }
    )


# ------------------------------------------------------------------------------------------------ baselines


@pytest.fixture
def held(engine, folder, harness):
    """The suite that compares with a baseline, which is saved; and what was printed of that."""
    saved = harness("baseline", "save", "held.relevance.yaml", "--url", engine.url)
    kept = json_lines((folder / "held.baseline.json").read_text(encoding="utf-8"))
    return {"saved": saved, "held.baseline.json": kept}


def test_baseline_that_holds(engine, held, harness, every_way, golden):
    shown = harness("baseline", "show", "held.relevance.yaml")
    same = harness("baseline", "diff", "held.relevance.yaml", "--url", engine.url)
    golden({**held, "shown": shown, "diff": same, **every_way("held.relevance.yaml")})


def test_baseline_that_drops(engine, held, harness, every_way, golden):
    drop(engine)
    diff = harness("baseline", "diff", "held.relevance.yaml", "--url", engine.url)
    golden({"diff": diff, **every_way("held.relevance.yaml")})


def drop(engine):
    """Each query's relevant documents fall, most of them far; one comes in another order of equal scores."""
    for number, text in enumerate(("one", "two", "three", "four", "five", "six"), start=1):
        engine.rankings[text] = ["x", "y", f"q{number}-3", f"q{number}-2", f"q{number}-1"]
    engine.rankings["seven"] = [("q7-2", 9.0), ("q7-1", 9.0), ("q7-3", 7.0), ("q7-4", 6.0), ("q7-5", 5.0)]


def test_baseline_that_rises(engine, folder, harness, every_way, golden):
    drop(engine)
    saved = harness("baseline", "save", "held.relevance.yaml", "--url", engine.url)
    for number, text in enumerate(("one", "two", "three", "four", "five", "six"), start=1):
        engine.rankings[text] = [f"q{number}-{rank}" for rank in range(1, 7)]
    golden({"saved": saved, **every_way("held.relevance.yaml")})


def test_baseline_of_ties(engine, harness, every_way, golden):
    """Equal scores throughout, in another order than was kept."""
    engine.score = 1.0
    saved = harness("baseline", "save", "held.relevance.yaml", "--url", engine.url)
    for text in ("one", "two", "three"):
        engine.rankings[text] = engine.rankings[text][::-1]
    golden({"saved": saved, **every_way("held.relevance.yaml")})


def test_baseline_that_cannot_be_compared_with(engine, held, folder, harness, inner_pytest, golden):
    suite, baseline = folder / "held.relevance.yaml", folder / "held.baseline.json"
    asked, kept = suite.read_text(encoding="utf-8"), baseline.read_text(encoding="utf-8")
    at = ("--url", engine.url, "-q")
    run = ("run", suite.name, *at)
    found = {}

    suite.write_text(asked.replace("text: two", "text: zwei").replace("id: q8", "id: q9"), encoding="utf-8")
    engine.rankings["zwei"] = engine.rankings["two"]
    found["another-text-and-another-query"] = harness(*run)
    suite.write_text(asked.replace("depth: 5", "depth: 10").replace("nDCG@5", "nDCG@10"), encoding="utf-8")
    found["a-greater-depth"] = harness(*run)
    suite.write_text(asked.replace("q3-1: 3", "q3-1: 2"), encoding="utf-8")
    found["other-judgments"] = harness(*run)
    suite.write_text(asked, encoding="utf-8")

    for name, text in {
        "not-json": kept[:100],
        "no-baseline": '{"a": 1}',
        "a-later-version": kept.replace('"version": ', '"version": 9').replace('"schema": ', '"schema": 9'),
        "another-suite": kept.replace('"held"', '"other"'),
    }.items():
        baseline.write_text(text, encoding="utf-8")
        found[name] = harness(*run)
        found[f"show-{name}"] = harness("baseline", "show", suite.name)
    baseline.unlink()
    found["none"] = harness(*run)
    found["show-none"] = harness("baseline", "show", suite.name)
    found["diff-none"] = harness("baseline", "diff", suite.name, *at)
    found["pytest-none"] = inner_pytest(suite.name, "--relevance-url", engine.url, "--tb=line", "-rA")
    suite.write_text(f"baseline: optional\n{asked}", encoding="utf-8")
    found["none-and-optional"] = harness(*run)
    found["pytest-none-and-optional"] = inner_pytest(suite.name, "--relevance-url", engine.url, "--tb=line", "-rA")
    golden(found)


def test_baseline_that_pytest_keeps(engine, folder, inner_pytest, golden):
    at = ("held.relevance.yaml", "--relevance-url", engine.url, "-rA")
    saved = inner_pytest(*at, "--relevance-update-baseline")
    kept = json_lines((folder / "held.baseline.json").read_text(encoding="utf-8"))
    golden({"saved": saved, "held.baseline.json": kept, "run": inner_pytest(*at)})


def test_show(engine, folder, harness, golden):
    at = ("show", "weights.relevance.yaml")
    to = ("--url", engine.url)
    golden(
        {
            "terminal": harness(*at, "coats", *to),
            "on-an-index": harness(*at, "shoes", "--request", "candidate", "--index", "next", *to),
            "json": harness(*at, "boots", "--json", *to),
            "unknown": harness(*at, "shoe", *to),
            "saved": harness("baseline", "save", at[1], *to),
            "since-the-baseline": harness(*at, "boots", "--index", "next", *to),
        }
    )


def test_baseline_in_ci(engine, harness, inner_pytest, monkeypatch, golden):
    at = ("held.relevance.yaml", "--url", engine.url)
    with monkeypatch.context() as ci:
        ci.setenv("CI", "true")
        refused = harness("baseline", "save", *at)
        forced = harness("baseline", "save", *at, "--force")
        by_pytest = inner_pytest(at[0], "--relevance-url", engine.url, "--relevance-update-baseline")
    golden({"refused": refused, "forced": forced, "pytest": by_pytest})


# ------------------------------------------------------------------------------------------------ the example suites


@pytest.fixture
def example(examples, folder, every_way):
    """Runs a suite of `suites/` in every way, in a copy of that folder."""
    shutil.copytree(SUITES, folder, dirs_exist_ok=True)
    return lambda name: every_way(name, url=examples.url, write=True)


def test_lessons(example, golden):
    golden(example("lessons.relevance.yaml"))


def test_products(example, golden):
    golden(example("products.relevance.yaml"))


def test_traffic(example, golden):
    golden(example("traffic.relevance.yaml"))


def test_failing(example, golden):
    golden(example("failing/products.failing.yaml"))


def test_products_with_both_requests(examples, folder, reported, golden):
    shutil.copytree(SUITES, folder, dirs_exist_ok=True)
    asked = ("--all-requests", "--url", examples.url, "--allow-write")
    found = reported("run", "products.relevance.yaml", *asked)
    golden({name: found[name] for name in ("terminal", "report.markdown")})
