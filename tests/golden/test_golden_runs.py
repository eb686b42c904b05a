"""Suites that are run: the same through the command, pytest and Python, in each kind of report."""

from __future__ import annotations

import difflib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from builders.golden import json_lines, junit_lines, masked, page_lines
from harness.api import Relevance
from harness.report.json import dumps_report, loads_report

SUITES = Path(__file__).parents[2] / "suites"
KINDS = {
    "html": page_lines,
    "json": json_lines,
    "markdown": str,
    "csv": str,
    "junit": junit_lines,
    "codequality": json_lines,
}


@pytest.fixture
def run_command(folder, harness):
    """Runs a command, and gives what it prints and its reports in every kind."""

    def run(*words):
        kinds = [word for kind in KINDS for word in ("--output", f"{kind}=report.{kind}")]
        outputs = {"terminal": harness(*words, *kinds)}
        for kind, lines in KINDS.items():
            path = folder / f"report.{kind}"
            outputs[path.name] = lines(path.read_text(encoding="utf-8"))
            path.unlink()
        return outputs

    return run


@pytest.fixture
def run_in_github(folder, harness, monkeypatch):
    """Gives what a command prints in a step of GitHub Actions; the step's summary is to be *summary*."""

    def run(*words, summary):
        with monkeypatch.context() as step:
            step.setenv("GITHUB_ACTIONS", "true")
            step.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
            step.setenv("GITHUB_WORKSPACE", str(folder))
            printed = harness(*words, "--quiet", "--github")
        written = (folder / "summary.md").read_text(encoding="utf-8")
        (folder / "summary.md").unlink()
        assert compare_reports(summary, written, folder) == ""
        return printed

    return run


@pytest.fixture
def run_pytest(folder, inner_pytest):
    """Gives what pytest prints and its JUnit XML, and the JSON report."""

    def run(*words):
        printed = inner_pytest("-v", *words, "--junit-xml=junit.xml", "--relevance-report=pytest.json")
        junit = junit_lines((folder / "junit.xml").read_text(encoding="utf-8"))
        return {"pytest": printed, "junit.xml": junit}, (folder / "pytest.json").read_text(encoding="utf-8")

    return run


@pytest.fixture
def run_every_way(engine, folder, run_command, run_in_github, run_pytest):
    """Runs *suite* by the command, pytest and Python, holds their reports to be the same, and gives all outputs."""

    def run(suite, *, url=engine.url, allow_write=False):
        options = ("--url", url, *(["--allow-write"] if allow_write else []))
        outputs = run_command("run", suite, *options)
        outputs["github"] = run_in_github("run", suite, *options, summary=outputs["report.markdown"])
        of_pytest = [word.replace("--", "--relevance-") for word in options]
        printed, by_pytest = run_pytest(suite, *of_pytest)
        with Relevance() as relevance:
            by_python = relevance.run(suite, url=url, allow_write=allow_write).report
        report = loads_report(by_pytest)
        for other in (report, replace(report, suites=(by_python,))):
            assert compare_reports(outputs["report.json"], json_lines(dumps_report(other)), folder) == ""
        return {**outputs, **printed}

    return run


def compare_reports(report, other, folder):
    """The lines in which two reports differ, but for how they name the suites' folder."""
    texts = [masked(text, folder).replace("<folder>/", "").splitlines(keepends=True) for text in (report, other)]
    return "".join(difflib.unified_diff(*texts, n=0))


@pytest.fixture
def run_example(examples, folder, run_every_way):
    """Runs a suite of `suites/` in every way, in a copy of that folder."""
    shutil.copytree(SUITES, folder, dirs_exist_ok=True)
    return lambda name: run_every_way(name, url=examples.url, allow_write=True)


def test_lessons(run_example, golden):
    outputs = run_example("lessons.relevance.yaml")
    golden({"terminal": outputs["terminal"]})


def test_failing(run_example, golden):
    """The one scenario with all kinds of output."""
    golden(run_example("failing/products.failing.yaml"))


def test_outcomes(run_every_way, golden):
    """Each outcome of a query and each status of a threshold, on the screen and in pytest."""
    outputs = run_every_way("outcomes.relevance.yaml")
    golden({name: outputs[name] for name in ("terminal", "pytest")})


@needs_extension("compare")
def test_baseline(engine, folder, harness, run_every_way, golden):
    """A baseline is saved; then relevant documents fall, and one ranking comes in another order of equal scores."""
    saved = harness("baseline", "save", "held.relevance.yaml", "--url", engine.url)
    baseline = json_lines((folder / "held.baseline.json").read_text(encoding="utf-8"))
    for number, text in enumerate(("one", "two", "three", "four", "five", "six"), start=1):
        engine.rankings[text] = ["x", "y", f"q{number}-3", f"q{number}-2", f"q{number}-1"]
    engine.rankings["seven"] = [("q7-2", 9.0), ("q7-1", 9.0), ("q7-3", 7.0), ("q7-4", 6.0), ("q7-5", 5.0)]

    diff = harness("baseline", "diff", "held.relevance.yaml", "--url", engine.url)
    outputs = run_every_way("held.relevance.yaml")
    kept = {name: outputs[name] for name in ("terminal", "report.markdown", "pytest")}
    golden({"saved": saved, "held.baseline.json": baseline, "diff": diff, **kept})


@needs_extension("compare")
def test_compare(engine, folder, harness, golden):
    outputs = [word for name in ("html=c.html", "markdown=c.md") for word in ("--output", name)]
    printed = harness(
        "compare", "index:products", "index:next", "--suite", "weights.relevance.yaml", "--url", engine.url,
        "--request", "current", "--threshold", "drop nDCG@3 <= 0.01", *outputs,
    )  # fmt: skip
    page, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("c.html", "c.md"))
    golden({"terminal": printed, "c.html": page_lines(page), "c.md": markdown})


def test_show(engine, harness, golden):
    golden({"terminal": harness("show", "weights.relevance.yaml", "coats", "--url", engine.url)})
