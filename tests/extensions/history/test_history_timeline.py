"""A history in order: figures by the judgments of today, what changed between runs, steps and drifts."""

from dataclasses import replace

import pytest

from builders.gating import TODAY, threshold
from builders.histories import QUERIES, entries_of, entry_of, make_kept_suite, ranking_of, run_of
from extensions.history.builders.planted_history import (
    DRIFT,
    JUDGED,
    RUNS,
    STEP_DOWN,
    STEP_UP,
    UPGRADE,
    make_history,
    make_suite,
    make_timelines,
)
from harness.extensions.history.model import ChangeKind
from harness.extensions.history.steps import find_drifts, find_steps
from harness.extensions.history.timeline import build_timelines, list_changes
from harness.gate.decide import decide
from harness.metrics.run_scores import score_run
from harness.model.kept import History, HistoryFigure
from harness.model.run import Status
from harness.model.suite import Gain, GainKind
from harness.store.history import rescore

SUITE = make_kept_suite()


@pytest.fixture(scope="module")
def planted():
    [timeline] = make_timelines()
    return timeline


def list_runs_with(timeline, kind):
    return [place for place, point in enumerate(timeline.points) if kind in {change.kind for change in point.changes}]


def test_the_planted_steps_are_found_and_no_others(planted):
    steps = planted.steps["nDCG@10"]
    assert [step.place for step in steps] == [STEP_DOWN, STEP_UP]
    assert [step.change > 0 for step in steps] == [False, True]


def test_the_planted_drift_is_found_between_the_steps_and_no_other(planted):
    [drift] = planted.drifts["nDCG@10"]
    assert drift.change < -0.01
    assert drift.first in DRIFT
    assert drift.last in DRIFT


def test_judgments_that_grow_move_the_figure_of_the_day_and_not_the_rescored_one(planted):
    of_day = find_steps([point.figures["nDCG@10"].of_day.mean for point in planted.points])
    rescored = find_steps([point.figures["nDCG@10"].rescored.mean for point in planted.points])
    assert {step.place for step in of_day} - {step.place for step in rescored} == set(JUDGED)
    # Both are the same from the last change on.
    last = planted.points[-1].figures["nDCG@10"]
    assert last.of_day.mean == last.rescored.mean
    assert last.band is not None


def test_changes_are_marked_where_they_were_planted(planted):
    assert list_runs_with(planted, ChangeKind.JUDGMENTS) == list(JUDGED)
    assert list_runs_with(planted, ChangeKind.REQUEST) == [STEP_DOWN, STEP_UP]
    assert list_runs_with(planted, ChangeKind.MAPPING) == [STEP_DOWN]
    assert list_runs_with(planted, ChangeKind.DOCUMENTS) == list(DRIFT)
    assert list_runs_with(planted, ChangeKind.VERSIONS) == [UPGRADE]
    [change] = planted.points[UPGRADE].changes
    assert change.text == "engine opensearch 3.9.0, before opensearch 3.8.0"


def test_tags_have_lines_of_their_own(planted):
    assert planted.tags == ("tail", "long words", "head")
    fall = [planted.points[place].find_mean("nDCG@3", "head") for place in (STEP_DOWN - 1, STEP_DOWN)]
    assert fall[0] > fall[1] + 0.2


def test_the_latest_runs_are_shown_and_the_older_ones_counted():
    entries = entries_of(SUITE, [run_of(SUITE)] * 5)
    [timeline] = build_timelines(entries, SUITE, most=2)
    assert (len(timeline.points), timeline.older) == (2, 3)
    assert timeline.points[0].entry.created.startswith("2026-11-04")


def test_each_request_and_chosen_index_has_a_timeline_the_latest_first():
    entries = [
        entry_of(SUITE, run_of(SUITE)),
        entry_of(SUITE, run_of(SUITE), day=2, chosen_index="products-next"),
        entry_of(SUITE, run_of(SUITE), day=1, request="candidate"),
    ]
    suite = replace(SUITE, requests={**SUITE.requests, "candidate": SUITE.requests["current"]})
    timelines = build_timelines(entries, suite)
    assert [(timeline.request, timeline.chosen_index) for timeline in timelines] == [
        ("current", "products-next"),
        ("candidate", ""),
        ("current", ""),
    ]


def test_a_query_that_is_asked_otherwise_by_now_is_left_out_of_the_rescored_figure():
    entry = entry_of(SUITE, run_of(SUITE, boots=ranking_of("x")))
    today = make_kept_suite(replace(QUERIES[0], text="rubber wellies"), QUERIES[1])
    [timeline] = build_timelines([entry], today)
    [point] = timeline.points
    assert point.changed_queries == ("boots",)
    figure = point.figures["nDCG@3"]
    assert (figure.of_day.queries, figure.rescored.queries, figure.rescored.mean) == (2, 1, 1.0)


def test_a_measure_that_the_suite_has_no_longer_keeps_its_figures_of_the_day():
    entry = entry_of(SUITE, run_of(SUITE))
    [timeline] = build_timelines([entry], replace(SUITE, measures=SUITE.measures[:1]))
    assert timeline.measures == ("nDCG@3", "RR@3")
    assert timeline.points[0].figures["RR@3"].rescored is None
    assert timeline.points[0].find_mean("RR@3") == 1.0


TIED = ranking_of(("x", 2.0), ("a", 1.0), ("b", 1.0))
LEAST, GREATEST = 0.5413402936435214, 0.6442869262030828
"""The nDCG@3 of TIED where the document of the lower grade comes first, and where that of the higher one does."""


@pytest.mark.parametrize(
    ("weight", "band"),
    [(1.0, ((1 + LEAST) / 2, (1 + GREATEST) / 2)), (3.0, ((1 + 3 * LEAST) / 4, (1 + 3 * GREATEST) / 4))],
)
def test_the_band_of_ties_is_computed_of_the_ranking_that_was_kept(weight, band):
    suite = make_kept_suite(QUERIES[0], replace(QUERIES[1], weight=weight))
    entry = entry_of(suite, run_of(suite, shoes=TIED))
    for today in (suite, replace(suite, measures=suite.measures[1:])):
        # Without the measure, the band of the day is shown.
        [timeline] = build_timelines([entry], today)
        figures = timeline.points[0].figures
        assert (figures["nDCG@3"].rescored is None) == (today is not suite)
        assert figures["nDCG@3"].band == pytest.approx(band)
        assert figures["RR@3"].band is None
        assert timeline.points[0].tags["tail"]["nDCG@3"].band is None
        assert timeline.points[0].tags["head"]["nDCG@3"].band[0] == pytest.approx(LEAST)


@pytest.mark.parametrize(
    "today",
    [
        make_kept_suite(QUERIES[0], replace(QUERIES[1], judgments={"a": 3}), measures=("RR@3",)),
        make_kept_suite(QUERIES[0], measures=("RR@3",)),
        make_kept_suite(measures=("RR@3",), gain=Gain(GainKind.LINEAR)),
    ],
)
def test_the_band_of_the_day_is_unknown_where_the_suite_scores_otherwise_by_now(today):
    entry = entry_of(SUITE, run_of(SUITE, shoes=TIED))
    [timeline] = build_timelines([entry], today)
    figure = timeline.points[0].figures["nDCG@3"]
    assert (figure.of_day.mean, figure.band) == (pytest.approx((1 + GREATEST) / 2), None)


def test_a_measure_that_this_version_does_not_know_has_its_figure_of_the_day_and_no_band():
    entry = entry_of(SUITE, run_of(SUITE, shoes=TIED))
    shoes = replace(entry.queries["shoes"], scores={"New@3": 0.5})
    entry = replace(entry, measures={"New@3": HistoryFigure(0.5, 1)}, queries={"shoes": shoes})
    [timeline] = build_timelines([entry], SUITE)
    figure = timeline.points[0].figures["New@3"]
    assert (figure.of_day.mean, figure.band) == (0.5, None)


def changed(before, **fields):
    state = {name: fields.pop(name) for name in ("documents", "content", "settings") if name in fields}
    return list_changes(before, replace(before, state=replace(before.state, **state), **fields))


def test_what_changed_is_said_in_words():
    entry = entry_of(SUITE, run_of(SUITE))
    assert [change.text for change in changed(entry, documents=1_200, settings="s2", harness="9.9")] == [
        "the settings of the index",
        "1,200 documents, before 10",
        f"harness 9.9, before {entry.harness}",
    ]
    written = changed(replace(entry, state=replace(entry.state, content="c1")), content="c2")
    assert [(change.kind, change.text) for change in written] == [(ChangeKind.DOCUMENTS, "documents were written")]
    assert [change.text for change in changed(entry, index="products-2", depth=5)] == [
        "depth 5, before 3",
        "index products-2, before products",
    ]
    # What is unknown did not change.
    assert changed(entry, documents=None, settings=None) == ()


def test_queries_that_came_and_went_are_counted():
    more = make_kept_suite(*QUERIES, replace(QUERIES[0], id="wellies"))
    before, after = entry_of(SUITE, run_of(SUITE)), entry_of(more, run_of(more))
    assert [change.text for change in list_changes(before, after)] == ["1 query more"]
    assert [change.text for change in list_changes(after, before)] == ["1 query fewer"]


def test_a_line_of_equal_runs_has_no_step_and_one_odd_run_makes_none():
    assert find_steps([0.5] * 30) == find_steps([0.5] * 3) == find_steps([None] * 30) == ()
    assert find_steps([0.5] * 15 + [0.1] + [0.5] * 15) == ()


def test_runs_without_a_value_are_passed_over():
    [step] = find_steps([0.5] * 6 + [None] * 3 + [0.4] * 6)
    assert (step.place, step.before, step.after) == (9, 0.5, 0.4)


def test_a_drift_is_no_step_and_a_step_no_drift():
    drifting = [0.5 - run / 1_000 for run in range(100)]
    assert find_steps(drifting) == ()
    [drift] = find_drifts(drifting, ())
    assert (drift.first, drift.last, drift.change < 0) == (13, 90, True)
    stepping = [0.5] * 40 + [0.4] * 40
    assert find_drifts(stepping, find_steps(stepping)) == ()


def test_all_of_the_planted_history_counts(planted):
    assert len(planted.points) == RUNS
    assert len(planted.texts) == len(planted.grades) == 40


def test_the_gate_fails_on_the_planted_step_alone_until_most_of_the_five_runs_have_it():
    entries = make_history()
    around = [place for planted in (STEP_DOWN, STEP_UP, *JUDGED) for place in range(planted - 2, planted + 6)]
    failed = []
    for place in sorted({*range(5, RUNS, 11), *around}):
        suite = replace(make_suite(place), thresholds=(threshold("drop nDCG@10 <= 0.05 since 5 runs"),))
        [rescored] = rescore([entries[place]], suite)
        run = rescored.run
        history = History(rescore(entries[place - 5 : place], suite), "history")
        [verdict] = decide(suite, run, score_run(suite, run), today=TODAY, history=history)
        if verdict.status is not Status.PASSED:
            failed.append((place, verdict.status))
    # More judgments are no drop, and a drift is too slow for it: the page tells of that.
    assert failed == [(place, Status.FAILED) for place in range(STEP_DOWN, STEP_DOWN + 3)]
