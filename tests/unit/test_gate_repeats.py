"""How far a figure moves over the repeats of a run."""

from __future__ import annotations

import pytest

from harness.gate.finding import Finding
from harness.gate.stability import decide_repeats, find_unstable_queries
from harness.model.run import (
    Engine,
    Failure,
    FailureKind,
    Hit,
    IndexState,
    Instability,
    Ranking,
    Repeat,
    Response,
    Run,
    Status,
    Unit,
    UnstableQuery,
)
from harness.model.suite import Query, RequestTemplate
from harness.model.timing import ShardCopy
from harness.report.run_sentences import WHY_UNSTABLE


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

    failed = decide_repeats(first, [*others, finding(Status.FAILED, 0.31, Unit.DROP)], (), (), None)
    flips = decide_repeats(first, [*others, finding(Status.PASSED, 0.31, Unit.DROP)], (), (), None)

    assert (failed.status, failed.repeats) == (Status.FAILED, repeats)
    assert (flips.status, flips.repeats) == (Status.INCONCLUSIVE, repeats)
    assert flips.reason.startswith(
        f"the decision is not stable over {len(p_values) + 1} repeats: failed in {len(p_values)}, passed in 1{moves}; "
    )


def test_a_share_moves_in_percent() -> None:
    first, other = finding(Status.FAILED, 0.5, Unit.SHARE), finding(Status.PASSED, 0.75, Unit.SHARE)
    flips = decide_repeats(first, [other], (), (), None)
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


RANKING = Ranking((Hit("a", 3.0), Hit("b", 1.0)))
EMPTY = Ranking(())
GONE = Failure(FailureKind.ERROR, "gone", 500)
SWAPPED_TIES = Ranking((Hit("b", 3.0), Hit("a", 3.0)))
WORDS = {
    Instability.ZERO_HITS: "a search found no hits and another one did",
    Instability.DOCUMENTS: "other documents were found",
    Instability.UNKNOWN: "scores or the order differ",
}


@pytest.mark.parametrize(
    ("rankings", "cause"),
    [
        ((RANKING, EMPTY), Instability.ZERO_HITS),
        ((EMPTY, RANKING), Instability.ZERO_HITS),
        ((RANKING, Ranking((Hit("a", 2.0), Hit("b", 1.0), Hit("c", 0.5))), EMPTY), Instability.ZERO_HITS),
        ((RANKING, Ranking((Hit("a", 3.0),))), Instability.DOCUMENTS),
        ((RANKING, Ranking((Hit("a", 3.0), Hit("c", 0.5)))), Instability.DOCUMENTS),
        ((RANKING, Ranking((Hit("c", 9.0),))), Instability.DOCUMENTS),
        ((Ranking((Hit("a"), Hit("b"))), Ranking((Hit("a"), Hit("c")))), Instability.DOCUMENTS),
        ((RANKING, Ranking((Hit("b", 2.0), Hit("a", 1.0)))), Instability.UNKNOWN),
        ((RANKING, Ranking((Hit("c", 4.0), Hit("a", 2.0)))), Instability.UNKNOWN),
        ((Ranking((Hit("a"), Hit("b"))), Ranking((Hit("b"), Hit("a")))), Instability.UNKNOWN),
        ((Ranking((Hit("a", 3.0), Hit("b", 3.0))), SWAPPED_TIES), Instability.TIES),
        ((Ranking((Hit("a", 3.0), Hit("b", 3.0))), SWAPPED_TIES, GONE), Instability.UNANSWERED),
    ],
)
def test_a_repeat_is_told_by_what_it_found(rankings: tuple[Response, ...], cause: Instability) -> None:
    first, *others = rankings
    repeats = tuple(Repeat({"shoes": other}) for other in others)

    [unstable] = find_unstable_queries(Run({"shoes": first}, Engine("fake"), repeats=repeats))

    assert unstable.cause is cause
    for known, words in WORDS.items():
        assert (words in WHY_UNSTABLE[unstable.cause]) == (known is cause)


def test_a_missing_answer_is_told_on_an_index_that_moves_too() -> None:
    states = (IndexState(documents=3), IndexState(documents=4))
    repeats = (Repeat({"shoes": EMPTY, "boots": GONE}),)
    run = Run({"shoes": RANKING, "boots": RANKING}, Engine("fake"), states=states, repeats=repeats)

    causes = [query.cause for query in find_unstable_queries(run)]

    assert causes == [Instability.MOVING, Instability.UNANSWERED]


def test_a_decision_that_flips_without_hits_says_so() -> None:
    first, other = finding(Status.PASSED, 1.0, None), finding(Status.FAILED, 0.0, None)
    unstable = [UnstableQuery("shoes", Instability.ZERO_HITS, 2), UnstableQuery("boots", Instability.UNKNOWN, 2)]
    queries = (Query("shoes", "shoes"), Query("boots", "boots"))

    flips = decide_repeats(first, [other], queries, unstable, RequestTemplate("request", {}))

    assert "; no hits in some repeats for shoes; other rankings of boots; " in flips.reason
    assert "a copy of a shard may lag behind" in flips.reason
