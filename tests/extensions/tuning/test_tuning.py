"""Laws of a tuning: what a hold-out draws, what a grid counts out, and what a choice is worth where it was tuned."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.extensions.tuning.decision import TunedQueries, choose_optimum
from harness.extensions.tuning.hold_outs import draw_hold_out, group_same_queries
from harness.extensions.tuning.model import TuningTrial
from harness.extensions.tuning.study import list_grid
from harness.model.suite import ParameterCondition, ParameterKind, Query, TunedParameter, TuningSpace
from harness.suites.parameters import explain_impossible, format_choice

QUERIES = st.lists(
    st.builds(
        lambda text, tag, weight: (text, tag, weight),
        st.sampled_from(["", "a", "b", "c", "d"]),
        st.sampled_from(["head", "tail"]),
        st.floats(0.1, 10),
    ),
    min_size=2,
    max_size=40,
).map(lambda rows: [Query(f"q{n}", text, tags=(tag,), weight=weight) for n, (text, tag, weight) in enumerate(rows)])


@given(QUERIES, st.floats(0.05, 0.95), st.integers(0, 99))
def test_hold_out_divides_the_queries(queries, share, seed):
    """A hold-out divides the queries, and leaves the same ones together."""
    families = group_same_queries(queries)
    if len(families) < 2:
        return
    held_out = set(draw_hold_out(queries, share, seed).queries)
    assert held_out < {query.id for query in queries}
    drawn = 0
    for family in families:
        sides = {query.id in held_out for query in family}
        assert len(sides) == 1
        drawn += sides == {True}
    assert drawn == min(max(round(len(families) * share), 1), len(families) - 1)
    assert set(draw_hold_out(queries[::-1], share, seed).queries) == held_out or len(families) < len(queries)


FLOAT = st.builds(
    lambda low, width, grid, log: TunedParameter(
        "float", ParameterKind.FLOAT, today=low, low=low, high=low + width, grid=grid, log=log
    ),
    st.floats(0.01, 100),
    st.floats(0.1, 100),
    st.integers(2, 6),
    st.booleans(),
)


@settings(max_examples=50)
@given(FLOAT, st.integers(0, 99))
def test_a_grid_has_each_possible_point_once(parameter, seed):
    switch = TunedParameter("switch", ParameterKind.SWITCH, today=False, choices=(False, True))
    conditions = (ParameterCondition("switch", (True,)),)
    dependent = TunedParameter(
        parameter.name, parameter.kind, parameter.today, parameter.low, parameter.high, parameter.log, (), conditions
    )
    space = TuningSpace((switch, dependent), {})
    points = list_grid(space, seed)
    assert len({format_choice(point) for point in points}) == len(points)
    assert sum(not point["switch"] for point in points) == 1
    for point in points:
        assert space.settle(point) == point
        assert explain_impossible(dependent, point["float"]) == ""


@settings(max_examples=50)
@given(st.integers(1, 6), st.integers(2, 8), st.data())
def test_choice_is_better_or_today(trials, queries, data):
    """A choice is better than today on the tuning queries, or it is today."""
    boost = TunedParameter("boost", ParameterKind.INTEGER, today=0, low=0, high=10)
    score = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    table = {}
    listed = []
    for number in range(trials + 1):
        row = data.draw(st.lists(score, min_size=queries, max_size=queries))
        table[number] = {f"q{place}": value for place, value in enumerate(row)}
        listed.append(TuningTrial(number, {"boost": number}, sum(row) / queries, 1.0))
    weights = {f"q{place}": 1.0 for place in range(queries)}
    optimum = choose_optimum(TunedQueries(TuningSpace((boost,), {}), listed, table, weights))
    best, chosen, today = (listed[number].score for number in (optimum.best, optimum.chosen, 0))
    assert best == max(trial.score for trial in listed)
    assert optimum.chosen == 0 or today < chosen <= best
    assert optimum.chosen in optimum.flat
    assert [optimum.distances[number] for number in optimum.flat] == sorted(optimum.distances.values())
