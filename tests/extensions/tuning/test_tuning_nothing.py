"""A floor is tuned by two figures: the scores of queries with results, and the false hits of those without."""

import pytest

from builders.extras import skip_without

skip_without("optuna", "cmaes")

from pathlib import Path

from builders.engine import ScriptedEngine
from harness.cli import main
from harness.extensions.tuning.decision import compare_false_hits, decide_with_false_hits
from harness.extensions.tuning.hold_outs import draw_hold_out
from harness.extensions.tuning.model import FalseHitsChange, TuningDecision
from harness.extensions.tuning.outputs import loads_tuning
from harness.model.suite import Query

SUITE = """\
suite: shop
target: {index: products}
tune:
  parameters:
    floor: {choices: [low, middle, high], today: low}
request: {query: {match: {title: "{{text}} {{param:floor}}"}}}
measures: ["RR@5"]
THRESHOLDS
queries:
"""
FOUND = {"low": ["a", "x"], "middle": ["a"], "high": []}
"""By the floor; a is the relevant document."""
FALSE = {"low": ["x", "y"], "middle": [], "high": []}
"""What queries find for which no result is right."""
SCORED, NOTHING = 30, 20


@pytest.fixture
def tune(tmp_path, monkeypatch, capsys):
    """
    Tunes a suite by a grid; each query finds what *found* or *false_hits* has, by the floor.

    Queries that are *wrong* have a false hit with the floor `middle`.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")

    def run_tuning(thresholds, *words, found=FOUND, false_hits=FALSE, wrong=()):
        lines = [SUITE.replace("THRESHOLDS", thresholds)]
        with ScriptedEngine() as engine:
            for number in range(SCORED + NOTHING):
                is_nothing = number >= SCORED
                what = "nothing: true" if is_nothing else "judgments: {a: 1}"
                lines.append(f"  - {{id: q{number}, text: text {number}, {what}}}\n")
                for floor, ranking in (false_hits if is_nothing else found).items():
                    engine.rankings[f"text {number} {floor}"] = list(ranking)
                if f"q{number}" in wrong:
                    engine.rankings[f"text {number} middle"] = ["x"]
            Path("shop.relevance.yaml").write_text("".join(lines), encoding="utf-8")
            words = ["--url", engine.url, "--sampler", "grid", "-q", "--output", "json=t.json", *words]
            status = main(["tune", "shop.relevance.yaml", *words])
        return status, loads_tuning(Path("t.json").read_text(encoding="utf-8")), capsys.readouterr().out

    return run_tuning


LIMIT = "thresholds: [false hits <= 10%]"


def test_a_floor_is_raised_to_what_is_allowed(tune):
    status, report, printed = tune(LIMIT, "--apply")
    assert status == 0
    assert report.decision is TuningDecision.GAIN
    assert report.chosen.values == {"floor": "middle"}
    assert report.constraints == ("false hits <= 10%",)
    assert report.not_held == ()
    held_out = report.held_out_false_hits
    assert (held_out.queries, held_out.today, held_out.chosen) == (8, 8, 0)
    assert held_out.p_value < 0.05
    assert (report.tuned_false_hits.queries, report.tuned_false_hits.today, report.tuned_false_hits.chosen) == (
        12,
        12,
        0,
    )
    assert (report.held_out_gain.queries, report.held_out_gain.difference) == (12, 0)
    assert "a gain: RR@5 0.0000" in printed
    assert "and false hits 8 → 0 of 8 (p 0.0078)" in printed
    assert "today: middle" in Path("shop.relevance.yaml").read_text(encoding="utf-8")


def test_no_threshold_allows_no_more_than_today(tune):
    better = {"low": ["x", "a"], "middle": ["a"], "high": ["a"]}
    false_hits = {"low": [], "middle": ["x"], "high": []}
    _, report, _ = tune("", found=better, false_hits=false_hits)
    assert report.constraints == ("no more false hits than today's request",)
    assert report.chosen.values == {"floor": "high"}
    assert report.decision is TuningDecision.GAIN
    [broken] = [trial for trial in report.trials if trial.values == {"floor": "middle"}]
    assert broken.broken == ("no more false hits than today's request: 12, and 0 today",)
    assert broken.false_hits == 12


def test_too_many_on_the_hold_out_are_no_gain(tune):
    better = {"low": ["x", "a"], "middle": ["a"], "high": ["x", "a"]}
    held_out = tune(LIMIT, found=better, false_hits=dict.fromkeys(FALSE, ()))[1].hold_out.queries
    Path("shop.tune.journal").unlink()
    wrong = [query for query in held_out if int(query[1:]) >= SCORED][:2]
    _, report, printed = tune(LIMIT, "--force", found=better, false_hits=dict.fromkeys(FALSE, ()), wrong=wrong)
    assert report.chosen.values == {"floor": "middle"}
    assert report.decision is TuningDecision.UNDECIDED
    assert "more false hits on the hold-out than are allowed, 2 of 8 (today 0): it is no gain" in " ".join(
        printed.split()
    )


def test_a_loss_of_the_others_is_a_loss(tune):
    found = {"low": ["a"], "middle": ["x", "a"], "high": []}
    _, report, printed = tune(LIMIT, found=found)
    assert report.chosen.values == {"floor": "middle"}, "the best of those that the threshold allows"
    assert report.decision is TuningDecision.LOSS
    assert "a loss: RR@5 -0.5000" in printed


def test_where_no_floor_is_high_enough_today_stays(tune):
    false_hits = {floor: ["x"] for floor in FALSE}
    _, report, printed = tune(LIMIT, false_hits=false_hits)
    assert report.decision is TuningDecision.TODAY
    assert "no trial has as few false hits as the suite allows" in printed


def test_trials_are_kept_with_their_false_hits(tune):
    first = tune(LIMIT)[1]
    second = tune(LIMIT)[1]
    assert [trial.false_hits for trial in second.trials] == [trial.false_hits for trial in first.trials]
    assert second.tuned_false_hits == first.tuned_false_hits


def test_the_page_and_the_text_have_both_figures(tune):
    _, _, printed = tune(LIMIT, "--output", "html=t.html")
    page = Path("t.html").read_text(encoding="utf-8")
    for text in (printed, page):
        assert "no result is right" in text
        assert "false hits today" in text


def test_the_hold_out_has_its_share_of_them():
    queries = [Query(f"q{number}", f"text {number}", nothing=number >= 30) for number in range(50)]
    for seed in range(20):
        drawn = draw_hold_out(queries, 0.4, seed).queries
        assert sum(int(query[1:]) >= 30 for query in drawn) == 8


@pytest.mark.parametrize(
    ("decision", "change", "is_allowed", "expected"),
    [
        (TuningDecision.UNDECIDED, FalseHitsChange(20, 10, 0, 0.002), True, TuningDecision.GAIN),
        (TuningDecision.UNDECIDED, FalseHitsChange(20, 10, 8, 0.5), True, TuningDecision.UNDECIDED),
        (TuningDecision.UNDECIDED, FalseHitsChange(20, 0, 10, 0.002), False, TuningDecision.LOSS),
        (TuningDecision.GAIN, FalseHitsChange(20, 2, 3, 1.0), False, TuningDecision.UNDECIDED),
        (TuningDecision.GAIN, FalseHitsChange(20, 2, 3, 1.0), True, TuningDecision.GAIN),
        (TuningDecision.GAIN, FalseHitsChange(20, 0, 10, 0.002), True, TuningDecision.LOSS),
        (TuningDecision.LOSS, FalseHitsChange(20, 10, 0, 0.002), True, TuningDecision.LOSS),
        (TuningDecision.OPEN, FalseHitsChange(20, 10, 0, 0.002), True, TuningDecision.OPEN),
        (TuningDecision.GAIN, None, True, TuningDecision.GAIN),
    ],
)
def test_both_figures_decide(decision, change, is_allowed, expected):
    assert decide_with_false_hits(decision, change, is_allowed=is_allowed) is expected


def test_the_test_is_that_of_the_gate():
    queries = [f"q{number}" for number in range(8)]
    assert compare_false_hits(queries, queries, [], is_tested=True) == FalseHitsChange(8, 8, 0, 2 / 2**8)
    assert compare_false_hits([], [], [], is_tested=True) is None
