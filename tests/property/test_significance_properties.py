"""A threshold on a significant drop, whatever the scores: what did not fall passes, what cannot be known is said."""

import pytest

pytest.importorskip("numpy")

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.gating import TODAY, empty_run, queries_of, reference_of, scores_of
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.model.run import Status
from harness.statistics.tests import least_p, sign_flip

levels = st.sampled_from([20, 5, 1])
scores = st.integers(0, 10).map(lambda tenths: tenths / 10)
pairs = st.lists(st.tuples(scores, scores), min_size=1, max_size=12)
simulated = settings(deadline=None, max_examples=25)
FIGURE = "smallest detectable drop "


def verdict_on(before_and_after, level):
    names = [f"q{place:02}" for place in range(len(before_and_after))]
    before, after = (dict(zip(names, values, strict=True)) for values in zip(*before_and_after, strict=True))
    suite = make_suite(*queries_of(names), thresholds=[f"drop P@10 is not significant at {level}%"])
    [verdict] = decide(
        suite, empty_run(names), scores_of(after, "P@10"), today=TODAY, reference=reference_of(before, "P@10")
    )
    return verdict


def fall_of(before_and_after):
    """In tenths, exact."""
    return sum(round(10 * before) - round(10 * after) for before, after in before_and_after)


@simulated
@given(scores=pairs, level=levels)
def test_what_did_not_fall_never_fails(scores, level):
    verdict = verdict_on(scores, level)
    if fall_of(scores) <= 0:
        assert (verdict.status, verdict.caveat) == (Status.PASSED, "")


@simulated
@given(scores=pairs, level=levels)
def test_what_fell_fails_or_says_what_could_have_been_found(scores, level):
    verdict = verdict_on(scores, level)
    if fall_of(scores) > 0:
        assert (verdict.status is Status.FAILED) == (not verdict.caveat.startswith(FIGURE))


@simulated
@given(scores=pairs, level=levels)
def test_where_enough_moved_p_decides(scores, level):
    moved = sum(before != after for before, after in scores)
    if least_p(moved, "less") <= level / 100:
        p_value = sign_flip([after - before for before, after in scores], alternative="less").p_value
        assert verdict_on(scores, level).status is (Status.FAILED if p_value <= level / 100 else Status.PASSED)


@simulated
@given(scores=pairs, level=levels, more=st.integers(1, 12))
def test_queries_that_do_not_move_never_make_a_pass_a_failure(scores, level, more):
    if verdict_on(scores, level).status is Status.PASSED:
        assert verdict_on(scores + [(0.5, 0.5)] * more, level).status is Status.PASSED
