"""Which differences are named as causes, by made scores, and which requests are sent to find out."""

import pytest

pytest.importorskip("numpy")

from dataclasses import replace

from harness.errors import UsageError
from harness.extensions.compare.why.arms import (
    build_arms,
    count_pair_searches,
    count_searches,
    fit_differences,
    fit_first,
    list_rebuilt,
    split_causes,
)
from harness.extensions.compare.why.causes import ArmPair, Ends, ScoredArm, decide_causes
from harness.extensions.compare.why.differences import split_requests
from harness.extensions.compare.why.model import Finding
from harness.extensions.compare.why.queries import explain_queries, find_moved, list_pairs, name_alone

QUERIES = [f"q{number:02}" for number in range(20)]
OLD = dict.fromkeys(QUERIES, 0.3)


def raise_by(scores, gains):
    return {query: score + gains[place] for place, (query, score) in enumerate(scores.items())}


def spread(mean):
    """Gains of the 20 queries around *mean*."""
    return [mean + (0.02 if place % 2 else -0.02) for place in range(20)]


def score(old, switched, effects, together=()):
    """The scores with the differences *switched*; *together* is added where the first two are."""
    for number in switched:
        old = raise_by(old, effects[number])
    return raise_by(old, together) if together and {0, 1} <= set(switched) else old


def make(effects, together=()):
    """The ends and the arms of differences that have *effects* on the queries."""
    numbers = list(range(len(effects)))
    ends = Ends(OLD, score(OLD, numbers, effects, together), {})
    pairs = []
    for number in numbers:
        rest = [other for other in numbers if other != number]
        arms = [ScoredArm(score(OLD, switched, effects, together)) for switched in (rest, [number])]
        pairs.append(ArmPair(*arms))
    return ends, pairs


NOTHING = [0.0] * 20
DOUBTFUL = [0.2 if place % 2 else -0.19 for place in range(20)]


def test_a_cause_is_named():
    decided = decide_causes(*make([spread(0.2), NOTHING, DOUBTFUL]))
    assert decided.findings == (Finding.CAUSE, Finding.NOTHING, Finding.UNCERTAIN)
    assert decided.whole.value == pytest.approx(0.205)
    for effect in decided.effects[0]:
        assert effect.mean.value == pytest.approx(0.2)
        assert 0.15 < effect.mean.low < 0.2 < effect.mean.high < 0.25
        assert effect.share.value == pytest.approx(0.2 / 0.205)
    assert decided.unexplained == pytest.approx((0, 0))


def test_a_loss_has_a_cause_too():
    decided = decide_causes(*make([spread(-0.2), NOTHING]))
    assert decided.findings == (Finding.CAUSE, Finding.NOTHING)
    assert decided.effects[0][0].share.value == pytest.approx(1)
    assert decided.effects[0][0].share.low <= 1 <= decided.effects[0][0].share.high


def test_either_of_two_is_enough():
    """Two differences that do the same: without one the other still does it."""
    decided = decide_causes(*make([spread(0.2), spread(0.2)], [-gain for gain in spread(0.2)]))
    assert decided.findings == (Finding.ONLY_ALONE, Finding.ONLY_ALONE)
    assert decided.unexplained == pytest.approx((-0.2, 0.2))


def test_two_act_only_together():
    decided = decide_causes(*make([NOTHING, NOTHING], spread(0.2)))
    assert decided.findings == (Finding.ONLY_BESIDE, Finding.ONLY_BESIDE)


def test_arms_of_two_signs_are_no_cause():
    decided = decide_causes(*make([spread(-0.1), spread(0.3)], spread(0.3)))
    assert decided.findings == (Finding.OPPOSED, Finding.CAUSE)


def test_an_uncertain_whole_has_no_cause():
    decided = decide_causes(*make([DOUBTFUL, NOTHING]))
    assert decided.findings == (None, None)
    assert decided.effects[0][0].share is None


def test_noise_names_nothing():
    ends, pairs = make([spread(0.2), spread(0.05)])
    assert decide_causes(replace(ends, floor=0.1), pairs).findings == (Finding.CAUSE, Finding.NOISE)
    assert decide_causes(replace(ends, floor=0.3), pairs).findings == (None, None)


@pytest.mark.parametrize(("limits", "finding"), [((0.01, 0.4), Finding.CAUSE), ((-0.01, 0.4), Finding.UNJUDGED)])
def test_unjudged_hits_may_undo_a_cause(limits, finding):
    ends, [first, second] = make([spread(0.2), NOTHING])
    for arm in ("reverted", "alone"):
        pair = replace(first, **{arm: replace(getattr(first, arm), limits=limits)})
        assert decide_causes(ends, [pair, second]).findings[0] is finding


def test_a_refused_arm_names_nothing():
    ends, [first, second] = make([spread(0.2), NOTHING])
    decided = decide_causes(ends, [replace(first, alone=None), second])
    assert decided.findings == (Finding.REFUSED, Finding.NOTHING)
    assert decided.effects[0][1] is None
    assert decided.unexplained is None


def test_weights_count():
    ends, pairs = make([spread(0.2), NOTHING])
    weights = {query: 1.0 if place % 2 else 3.0 for place, query in enumerate(QUERIES)}
    decided = decide_causes(replace(ends, weights=weights), pairs)
    assert decided.whole.value == pytest.approx(0.19)
    assert decided.effects[0][1].mean.value == pytest.approx(0.19)


# By query.


def test_a_query_has_its_cause():
    gains = [[0.5 if place == number else 0.0 for place in range(20)] for number in range(2)]
    ends, pairs = make(gains)
    moved = find_moved(ends, {})
    assert [(query.id, query.change) for query in moved] == [("q00", 0.5), ("q01", 0.5)]
    singles = {frozenset({number}): pair for number, pair in enumerate(pairs)}
    explained = explain_queries(moved, ends, singles, {})
    assert [query.causes for query in explained] == [(frozenset({0}),), (frozenset({1}),)]
    assert find_moved(ends, {"q00": 0.6}) == moved[1:]


@pytest.mark.parametrize(("other", "is_cause"), [(0.04, True), (0.2, False)])
def test_a_cause_comes_near_enough(other, is_cause):
    ends, pairs = make([[0.5] * 20, [other] * 20])
    singles = {frozenset({number}): pair for number, pair in enumerate(pairs)}
    [first, *_] = explain_queries(find_moved(ends, {}), ends, singles, {})
    assert first.causes == ((frozenset({0}),) if is_cause else ())


@pytest.mark.parametrize(
    ("other", "together", "alone"),
    [
        # As for `trainers` of the product suite: beside the rest the first leaves what the second costs.
        pytest.param(-0.1, 0.1, [0], id="the other costs, too, and nothing beside it"),
        pytest.param(-0.5, 0.5, [0, 1], id="each costs all"),
        pytest.param(-0.1, 0.0, [], id="the first costs less than all"),
        pytest.param(-1.2, 1.2, [0], id="the other costs more, and beside it the first helps"),
    ],
)
def test_a_difference_may_move_a_query_alone(other, together, alone):
    ends, pairs = make([[-0.5] * 20, [other] * 20], [together] * 20)
    singles = {frozenset({number}): pair for number, pair in enumerate(pairs)}
    [first, *_] = name_alone(explain_queries(find_moved(ends, {}), ends, singles, {}), ends, pairs, {})
    assert (first.causes, first.alone) == ((), frozenset(alone))


def test_a_difference_that_takes_the_score_back_needs_no_second_word():
    ends, pairs = make([[-0.5] * 20, NOTHING])
    singles = {frozenset({number}): pair for number, pair in enumerate(pairs)}
    [first, *_] = name_alone(explain_queries(find_moved(ends, {}), ends, singles, {}), ends, pairs, {})
    assert (first.causes, first.alone) == ((frozenset({0}),), frozenset())


def test_pairs_for_queries_left():
    """The second and the third are never a pair: the third moves nothing."""
    ends, pairs = make([NOTHING, NOTHING, NOTHING], [0.5] * 20)
    assert list_pairs(QUERIES, ends, pairs) == [frozenset({0, 1})]


# Arms.

OLD_BODY = {"query": {"match": {"title": "{{text}}"}}, "sort": ["_score"]}
NEW_BODY = {
    "query": {"bool": {"must": {"match": {"title": {"query": "{{text}}", "boost": 2}}}, "should": [{"exists": {}}]}},
    "sort": ["_score", "price"],
    "min_score": 1,
}


@pytest.fixture
def splitting():
    return split_requests({"body": OLD_BODY}, {"body": NEW_BODY})


def test_two_arms_of_a_difference(splitting):
    differences = splitting.list_differences()
    arms = build_arms(splitting, differences, [differences[-1]])
    assert arms.reverted["body"] == {name: value for name, value in NEW_BODY.items() if name != "min_score"}
    assert arms.alone["body"]["min_score"] == 1
    assert arms.alone["body"]["query"] == {"match": {"title": {"query": "{{text}}"}}}


def test_searches_are_counted(splitting):
    """Four differences of two arms, both ends twice, and the old one rebuilt: its text has become an object."""
    differences = splitting.list_differences()
    assert [difference.pointer for difference in differences] == [
        *("/query/bool/must/match/title/boost", "/query/bool/should/0", "/sort/1", "/min_score")
    ]
    assert [request["body"]["query"] for request in list_rebuilt(splitting, differences)] == [
        {"match": {"title": {"query": "{{text}}"}}}
    ]
    assert count_searches(splitting, differences, 10) == (2 * 4 + 4 + 1) * 10
    assert count_pair_searches(differences, 10) == 2 * 6 * 10


def test_one_difference_needs_no_arms():
    splitting = split_requests({"body": {}}, {"body": {"min_score": 1}})
    assert count_searches(splitting, splitting.list_differences(), 10) == 4 * 10
    assert count_pair_searches(splitting.list_differences(), 10) == 0


@pytest.mark.parametrize(("most", "groups"), [(4, [1, 1, 1, 1]), (3, [2, 1, 1]), (2, [4]), (1, [4])])
def test_differences_are_joined_by_place(splitting, most, groups):
    joined = fit_differences(splitting.list_differences(), most)
    assert [len(difference.changes) for difference in joined] == groups


def test_only_causes_are_parted(splitting):
    finest = splitting.list_differences()
    joined = fit_differences(finest, 3)
    assert split_causes(joined, {0}, finest, 10) == finest
    assert split_causes(joined, {0}, finest, 3) is None
    assert split_causes(joined, {1}, finest, 10) is None


def test_too_few_searches_are_refused(splitting):
    finest = splitting.list_differences()
    assert len(fit_first(finest, 10, 140)) == 4
    assert len(fit_first(finest, 10, 120)) == 3
    with pytest.raises(UsageError, match="found 20 searches, expected at least 100 for 10 queries"):
        fit_first(finest, 10, 20)
