"""The page of a tuning."""

import re
from dataclasses import replace

import pytest

from builders.html import Page
from builders.reports import HOSTILE
from extensions.tuning.builders.tunings import BOOST, MATCH, make_trials, tuning_report, undecided_report
from harness.extensions.tuning.model import TuningDecision, TuningGain, TuningTrial
from harness.extensions.tuning.page import (
    Columns,
    CostTable,
    GainInterval,
    TrialChart,
    TrialKey,
    build_tuning_blocks,
    choose_kind,
    draw_gain,
    draw_history,
    draw_judged,
    draw_optimum,
    list_left_out,
    place_value,
    render,
)
from harness.extensions.tuning.scatter import Axis, Dot, make_plane
from harness.report.document import Details, Table, join_spans


def find_all(kind, blocks):
    """The blocks of *kind*, also those within others."""
    found = []
    for block in blocks:
        if isinstance(block, kind):
            found.append(block)
        if isinstance(block, Details):
            found += find_all(kind, block.blocks)
        if isinstance(block, Columns):
            found += [inside for blocks in block.columns for inside in find_all(kind, blocks)]
    return found


def draw_slices(report):
    """The charts of parameters by their names, in the order of the page."""
    [slices, *_] = [block for block in build_tuning_blocks(report) if isinstance(block, Columns)]
    return {join_spans(chart.title): chart.chart for chart in find_all(TrialChart, [slices])}


def test_decision_values_and_costs():
    """The page has the decision, the values, and what it costs whom."""
    page = Page(render(tuning_report()))
    assert "a gain in nDCG@10: +0.0520 (95 % interval +0.0110 to +0.0940, p 0.0123)" in page.text
    assert "the hold-out was looked at before" in page.text
    assert "5 folds, no evidence" in page.text
    assert "query-0" in page.text
    assert "no constraint, as today's request does not hold it" in page.text
    labels = [svg["aria-label"] for svg in page.all("svg", role="img")]
    assert any(label.startswith("The nDCG@10 of 41 trials") for label in labels)
    assert sum(label.startswith("Scores by the value of") for label in labels) == 4


def test_tags_are_in_the_page_the_losing_ones_first():
    page = Page(render(tuning_report()))
    assert "By tag" in page.text
    assert page.text.index("head") < page.text.index("-0.0400") < page.text.index("tail")
    assert "By tag" not in Page(render(undecided_report())).text


def test_the_change_of_the_suite_is_shown_as_a_diff():
    text = render(tuning_report(), change=["--- a/shop", "+++ b/shop", "-  today: 2", "+  today: 4"])
    assert "<del>-  today: 2</del>" in text
    assert "<ins>+  today: 4</ins>" in text
    assert "The change of the suite" not in render(tuning_report())


def test_tuning_without_a_gain():
    """A tuning without a gain has its trials, and no optimum."""
    report = undecided_report()
    blocks = build_tuning_blocks(report)
    assert draw_optimum(report) is None
    assert find_all(GainInterval, blocks) == find_all(CostTable, blocks) == []
    assert {chart.band for chart in draw_slices(report).values()} == {None}
    [key] = find_all(TrialKey, blocks)
    assert "chosen" not in key.kinds
    page = Page(render(report))
    assert "no trial of 40 is better than today's request" in page.text
    assert "What it costs whom" not in page.text


def test_trials_are_drawn_by_kind():
    """Every trial with a score is drawn once, by its kind."""
    report = tuning_report()
    history = draw_history(report)
    assert len(history.dots) == 40
    kinds = [dot.kind for dot in history.dots]
    assert (kinds.count("today"), kinds.count("chosen"), kinds.count("flat")) == (1, 1, 7)
    assert kinds[-2:] == ["today", "chosen"]
    failed = report.trials[-1]
    table = find_all(Table, build_tuning_blocks(report))[-1]
    rows = [list(map(join_spans, row)) for row in table.rows]
    assert [row[-1] for row in rows if row[0] == str(failed.number)] == ["2 queries have no answer"]


def test_a_parameter_without_effect_has_no_dot():
    slices = draw_slices(tuning_report())
    with_phrase = [trial for trial in make_trials() if trial.values["phrase"] and trial.score is not None]
    assert len(slices["slop"].dots) == len(with_phrase)
    assert len(slices["phrase"].dots) == 40


def test_parameters_come_by_importance():
    assert list(draw_slices(tuning_report())) == ["title_boost", "must_match", "phrase", "slop"]


def test_judged_hits_that_are_alike_are_not_drawn():
    alike = tuple(replace(trial, judged=1.0) for trial in make_trials())
    assert draw_judged(tuning_report(trials=alike)) is None
    assert draw_judged(tuning_report()) is not None


@pytest.mark.parametrize("decision", list(TuningDecision))
def test_every_decision_has_a_page(decision):
    report = undecided_report() if decision is TuningDecision.TODAY else tuning_report(decision=decision)
    if decision is TuningDecision.OPEN:
        report = replace(report, held_out_gain=None, optimistic_gain=None)
    assert f">{decision}<" in render(report).replace("&#39;", "'")


def test_equal_scores_and_two_trials():
    """All trials may have the same score, and there may be two."""
    trials = tuple(replace(trial, score=0.5, judged=None, broken=()) for trial in make_trials()[:3])
    report = replace(undecided_report(), trials=trials)
    assert draw_history(report).below == 0
    Page(render(report))


def test_texts_of_an_index_are_no_markup():
    text = render(tuning_report(HOSTILE))
    assert "<img" not in text
    assert not re.search(r"<script>(?!.*copy)", text[: text.index("<main")], re.DOTALL)


def test_the_page_has_limits():
    report = tuning_report()
    many = [replace(report.costs[0], query=f"q{place}") for place in range(300)]
    trials = (*report.trials[:-1], *(replace(report.trials[1], number=place) for place in range(100, 1200)))
    large = replace(report, costs=tuple(many), trials=trials)
    blocks = build_tuning_blocks(large)
    assert sum(len(table.rows) for table in find_all(CostTable, blocks)) == 200
    assert len(find_all(Table, blocks)[-1].rows) == 1000
    assert list(list_left_out(large)) == ["the rows of 140 trials", "100 queries that lose less"]


# Charts.


def test_an_interval_with_one_limit_is_not_drawn():
    assert draw_gain(TuningGain(5, 0.1, 0.2, 0.1, None, 0.2, 0.5)) is None
    drawn = draw_gain(TuningGain(5, 0.1, 0.2, 0.1, -0.1, 0.2, 0.5))
    assert (drawn.low, drawn.high, drawn.end) == (40.0, 160.0, "0.2")


def test_a_value_stands_where_its_range_has_it():
    trial = TuningTrial(1, {"title_boost": 2, "must_match": "100%"}, 0.5, 1.0)
    assert place_value(BOOST, trial) == 0.5
    assert 2 / 3 < place_value(MATCH, trial) < 1


def test_a_few_low_scores_do_not_squeeze_the_others():
    dots = [Dot(place, 0.8 + place / 1000, "other", "") for place in range(20)] + [Dot(20, 0.0, "other", "")]
    plane = make_plane(620, 190, dots)
    assert plane.up.low > 0.7
    assert plane.place(dots[-1]).kind == "other below"
    assert plane.place(dots[-1]).y == plane.up.place(plane.up.low)
    assert make_plane(620, 190, dots, [0.1]).up.low == 0.1


def test_axis_without_a_span():
    """An axis without a span has its values in the middle."""
    assert Axis(0.5, 0.5, 0, 100).place(0.5) == 50


def test_today_is_today_where_no_trial_is_better():
    report = undecided_report()
    assert choose_kind(report, report.trials[0]) == "today"
