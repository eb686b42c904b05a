"""Where figures are drawn."""

import math

import pytest

from harness.report.html.charts import (
    PLOT_BASE,
    PLOT_HEIGHT,
    PLOT_WIDTH,
    WHISKER_WIDTH,
    count_bins,
    draw_whisker,
    plot_bins,
)


def test_the_tallest_bar_fills_the_drawing_and_empty_ones_are_not_drawn():
    plot = plot_bins(count_bins([0.1, 0.1, 0.9]), 0.5)
    assert [(bar.height, bar.count) for bar in plot.bars] == [(PLOT_HEIGHT, 2), (PLOT_HEIGHT / 2, 1)]
    assert plot.bars[0].y == PLOT_BASE - PLOT_HEIGHT
    assert (plot.mean, plot.low, plot.high, plot.most) == (PLOT_WIDTH / 2, "0", "1", 2)


def test_a_mean_outside_the_bars_is_not_drawn():
    assert plot_bins(count_bins([0.1]), 2.0).mean is None
    assert plot_bins(count_bins([0.1]), None).mean is None


def test_differences_have_zero_in_the_middle():
    plot = plot_bins(count_bins([-0.03, 0.01], around_zero=True), -0.01)
    assert (plot.low, plot.high) == ("-0.05", "0.05")
    fell, rose = plot.bars
    assert fell.x + fell.width <= PLOT_WIDTH / 2 <= rose.x
    assert plot.mean == pytest.approx(PLOT_WIDTH * 0.4)


def test_an_interval_stands_on_its_axis():
    drawn = draw_whisker(-0.5, 0.25, 0.0, 0.5)
    assert (drawn.low, drawn.point, drawn.high) == (0.0, WHISKER_WIDTH / 2, WHISKER_WIDTH * 0.75)
    assert drawn.end == "0.5"


def test_what_reaches_beyond_the_axis_ends_with_it():
    drawn = draw_whisker(-3.0, 3.0, 0.0, 1.0)
    assert (drawn.low, drawn.high) == (0.0, WHISKER_WIDTH)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_not_drawn(value):
    assert draw_whisker(value, 0.5, 0.0, 1.0) is None
    assert draw_whisker(0.0, 0.5, value, 1.0) is None
