"""The action's step on a real engine: the product suite passes, and a threshold that is too high is annotated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from builders.action import ROOT, RUN, Step

pytestmark = pytest.mark.one_engine
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """A step whose repository holds the example suites."""
    made = Step(tmp_path)
    shutil.copytree(ROOT / "suites", made.workspace / "suites")
    return made


@needs_bash
def test_a_gate_that_holds_ends_with_0_and_leaves_its_reports(step: Step, engine_url: str) -> None:
    done = step.run(RUN, suites="suites/products.relevance.yaml", url=engine_url, allow_write="true")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "::error" not in done.stdout
    assert step.files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8").startswith("## ✅ ")
    report = json.loads(Path(step.outputs()["report"], "report.json").read_text(encoding="utf-8"))
    assert (report["exit_status"], step.outputs()["exit-status"]) == (0, "0")


@needs_bash
def test_a_gate_that_does_not_hold_is_annotated_on_its_line(step: Step, engine_url: str) -> None:
    suite = step.workspace / "suites" / "products.relevance.yaml"
    text = suite.read_text(encoding="utf-8")
    assert "mean nDCG@10 >= 0.68" in text
    suite.write_text(text.replace("mean nDCG@10 >= 0.68", "mean nDCG@10 >= 0.98"), encoding="utf-8")
    [line] = [number for number, one in enumerate(text.splitlines(), start=1) if "mean nDCG@10 >= 0.68" in one]

    done = step.run(RUN, suites="suites/products.relevance.yaml", url=engine_url, allow_write="true")

    assert done.returncode == 1, done.stdout + done.stderr
    [annotation] = [one for one in done.stdout.splitlines() if one.startswith("::error ")]
    assert annotation.startswith(
        f"::error file=suites/products.relevance.yaml,line={line},col=5,title=products%3A mean "
    )
    assert step.files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8").startswith("## ❌ 1 threshold of ")
