"""``relevance tune`` on a real engine: Cranfield, with BM25's k1 and b, a boost and a minimum_should_match."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from builders.extras import skip_without

skip_without("optuna", "cmaes")

ROOT = Path(__file__).parents[4]
QUERIES = 225


@pytest.fixture
def suite(cranfield, tmp_path) -> Path:
    """The suite of scripts/bench/tune-cranfield with two values of each parameter, and too many words required."""
    script = ROOT / "scripts/bench/tune-cranfield"
    write = (
        "import importlib.machinery, pathlib, sys\n"
        f"script = importlib.machinery.SourceFileLoader('tune_cranfield', {str(script)!r}).load_module()\n"
        "script.K1 = {'0_8': 0.8, '1_2': 1.2}\n"
        "script.B = {'0_25': 0.25, '0_75': 0.75}\n"
        "print(script.write_suite(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", write, tmp_path, cranfield], capture_output=True, text=True, check=True
    )
    path = Path(done.stdout.strip())
    text = path.read_text(encoding="utf-8")
    text = text.replace("grid: 5, today: 1", "grid: 2, today: 4").replace(
        '["0%", "25%", "50%"], today: "0%"', '["0%", "75%"], today: "75%"'
    )
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.cranfield
def test_sampler_finds_what_the_grid_finds(suite, engine_url):
    """What a sampler finds is within the interval of the grid."""

    def tune(*words):
        command = [
            sys.executable,
            "-m",
            "harness",
            "tune",
            suite,
            "--url",
            engine_url,
            "--allow-write",
            "--force",
            "-q",
        ]
        done = subprocess.run([*command, "--json", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

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
