"""How far a figure moves over the repeats of a run."""

from __future__ import annotations

import pytest

from harness.gate.finding import Finding
from harness.gate.stability import find_unstable_queries, judge_repeats
from harness.model import Engine, Hit, IndexState, Instability, Ranking, Repeat, Run, ShardCopy, Status, Unit


def finding(status: Status, observed: float, unit: Unit | None) -> Finding:
    return Finding(status, "a reason", observed=observed, unit=unit)


@pytest.mark.parametrize(
    ("p_values", "repeats", "moves"),
    [((0.012,), None, ""), ((0.012, 0.04), (0.012, 0.04), ", from p 0.0120 to 0.0400")],
)
def test_a_figure_moves_among_those_of_its_unit(
    p_values: tuple[float, ...], repeats: tuple[float, float] | None, moves: str
) -> None:
    first, *others = [finding(Status.FAILED, p, Unit.P_VALUE) for p in p_values]

    failed = judge_repeats(first, [*others, finding(Status.FAILED, 0.31, Unit.DROP)], (), (), None)
    flips = judge_repeats(first, [*others, finding(Status.PASSED, 0.31, Unit.DROP)], (), (), None)

    assert (failed.status, failed.repeats) == (Status.FAILED, repeats)
    assert (flips.status, flips.repeats) == (Status.INCONCLUSIVE, repeats)
    assert flips.reason.startswith(
        f"the decision is not stable over {len(p_values) + 1} repeats: failed in {len(p_values)}, passed in 1{moves}; "
    )


def test_a_share_moves_in_percent() -> None:
    first, other = finding(Status.FAILED, 0.5, Unit.SHARE), finding(Status.PASSED, 0.75, Unit.SHARE)
    flips = judge_repeats(first, [other], (), (), None)
    assert flips.repeats == (0.5, 0.75)
    assert "failed in 1, passed in 1, from 50% to 75%; " in flips.reason


FIRST_NODE, SECOND_NODE, THIRD_NODE = ShardCopy("n1", "x", primary=True), ShardCopy("n2", "y"), ShardCopy("n3", "z")


@pytest.mark.parametrize(
    ("copies", "cause"),
    [
        ((FIRST_NODE, SECOND_NODE, THIRD_NODE), Instability.UNKNOWN),
        ((FIRST_NODE, THIRD_NODE, SECOND_NODE), Instability.UNKNOWN),
        ((FIRST_NODE,), Instability.UNKNOWN),
        ((SECOND_NODE, FIRST_NODE, THIRD_NODE), Instability.COPIES),
    ],
)
def test_only_the_copy_that_answers_explains_another_ranking(copies: tuple[ShardCopy, ...], cause: Instability) -> None:
    ranking, other = Ranking((Hit("a", 3.0), Hit("b", 1.0))), Ranking((Hit("b", 2.0), Hit("a", 1.0)))
    state = IndexState(copies={"products[0]": (FIRST_NODE, SECOND_NODE, THIRD_NODE)})
    repeat = Repeat({"shoes": other}, copies={"products[0]": copies})

    [unstable] = find_unstable_queries(Run({"shoes": ranking}, Engine("fake"), states=(state,), repeats=(repeat,)))

    assert unstable.cause is cause
