"""What a terminal is shown of a step that takes a while."""

import json
import subprocess
import sys

import pytest

from builders.terminals import WITHOUT_PATIENCE, run_code_on_terminal, run_on_terminal

STEP = """
with harness.waits.show_work("counting [red] things", quiet={quiet}):
    pass
print("done")
"""
LONG_STEP = WITHOUT_PATIENCE + STEP.format(quiet=False)
QUIET_STEP = WITHOUT_PATIENCE + STEP.format(quiet=True)
SHORT_STEP = "import harness.waits" + STEP.format(quiet=False)


def test_a_terminal_is_told_what_goes_on_and_for_how_long():
    output, shown = run_code_on_terminal(LONG_STEP)
    assert "counting [red] things" in shown
    assert "0:00:0" in shown
    assert output == "done\n"


@pytest.mark.parametrize("step", [SHORT_STEP, QUIET_STEP], ids=["short", "quiet"])
def test_a_terminal_is_told_nothing_of_a_short_step_and_where_it_is_to_be_quiet(step):
    assert run_code_on_terminal(step) == ("done\n", "")


def test_nothing_is_shown_where_there_is_no_terminal():
    done = subprocess.run([sys.executable, "-c", LONG_STEP], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_a_second_line_is_not_shown_below_a_bar():
    code = """
from harness.cli.terminal import run_progress
with run_progress(quiet=False) as progress:
    progress._bars.refresh()
    with harness.waits.show_work("loading a node"):
        pass
"""
    _, shown = run_code_on_terminal(WITHOUT_PATIENCE + code)
    assert "starting" in shown
    assert "loading a node" not in shown


def test_a_result_goes_where_it_is_sent_while_a_terminal_shows_the_step(tmp_path):
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.0 x\n")
    output, shown = run_on_terminal(
        "evaluate", "--qrels", tmp_path / "a.qrels", "--run", tmp_path / "a.run", "--measure", "nDCG@10", "--json"
    )
    assert json.loads(output)
    assert "scoring" in shown
