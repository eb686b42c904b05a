"""``relevance tune`` on a real engine: Cranfield, with BM25's k1 and b, a boost and a minimum_should_match."""

import json
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from builders.extras import skip_without

skip_without("optuna", "cmaes")

from harness.cli import main

SCRIPT = Path(__file__).parents[4] / "scripts" / "bench" / "tune-cranfield"
QUERIES = 225


@pytest.fixture
def suite(cranfield, tmp_path) -> Path:
    """The suite of scripts/bench/tune-cranfield with two values of each parameter, and too many words required."""
    loader = SourceFileLoader("tune_cranfield", str(SCRIPT))
    script = module_from_spec(spec_from_loader("tune_cranfield", loader))
    loader.exec_module(script)
    script.K1 = {"0_8": 0.8, "1_2": 1.2}
    script.B = {"0_25": 0.25, "0_75": 0.75}
    path = script.write_suite(tmp_path, cranfield)
    text = path.read_text(encoding="utf-8")
    text = text.replace("grid: 5, today: 1", "grid: 2, today: 4").replace(
        '["0%", "25%", "50%"], today: "0%"', '["0%", "75%"], today: "75%"'
    )
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.cranfield
@pytest.mark.one_engine
def test_sampler_finds_what_the_grid_finds(suite, engine_url, capsys):
    """What a sampler finds is within the interval of the grid."""

    def tune(*words):
        command = ["tune", str(suite), "--url", engine_url, "--allow-write", "--force", "-q", "--json", *words]
        status = main(command)
        printed, told = capsys.readouterr()
        assert status == 0, told
        return json.loads(printed)

    grid = tune("--sampler", "grid")
    assert len(grid["trials"]) == 16
    assert grid["tuning_queries"] + len(grid["hold_out"]["queries"]) == QUERIES
    assert grid["optimum"]["best"] != 0
    gain = grid["held_out_gain"]
    assert grid["decision"] == "gain"
    assert gain["low"] < gain["difference"] < gain["high"]
    best = max(trial["score"] for trial in grid["trials"])
    found = tune("--sampler", "random", "--trials", "12", "--storage", str(suite.with_name("random.journal")))
    assert best - found["trials"][found["optimum"]["best"]]["score"] < 0.02
    assert gain["low"] <= found["held_out_gain"]["difference"] <= gain["high"]
    # Nothing is sent again but the two requests on the hold-out.
    again = tune("--sampler", "grid")
    assert again["sent"] == 2 * len(grid["hold_out"]["queries"])
    assert [trial["score"] for trial in again["trials"]] == [trial["score"] for trial in grid["trials"]]
