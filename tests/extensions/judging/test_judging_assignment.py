"""Which judge is given which documents."""

from collections import Counter

import pytest

from harness.extensions.judging.assignment import assign_documents

PAIRS = [(f"q{number // 10}", f"d{number}") for number in range(600)]
JUDGES = ["anna", "ben", "carol", "dan"]


def assign(judges=JUDGES, answered=None, overlap=2, seed=0):
    return assign_documents(PAIRS, judges, answered or {}, overlap=overlap, seed=seed)


@pytest.mark.parametrize("overlap", [1, 2, 4])
def test_each_document_is_given_to_as_many_judges_as_asked(overlap):
    given = assign(overlap=overlap)
    times = Counter(pair for pairs in given.values() for pair in pairs)
    assert times == dict.fromkeys(PAIRS, overlap)


def test_each_judge_is_given_about_as_many_and_not_always_with_the_same_other():
    given = assign()
    # 300 each, give or take four standard deviations.
    assert all(250 < len(pairs) < 350 for pairs in given.values())
    together = [len(given["anna"] & given[other]) for other in JUDGES[1:]]
    assert all(60 < number < 140 for number in together)


def test_one_more_judge_takes_a_share_and_moves_nothing_else():
    before, after = assign(), assign([*JUDGES, "eve"])
    for judge in JUDGES:
        assert after[judge] < before[judge]
    assert len(after["eve"]) == sum(len(before[judge]) - len(after[judge]) for judge in JUDGES)


def test_the_order_of_the_judges_says_nothing_and_the_seed_does():
    assert assign(JUDGES[::-1]) == assign()
    assert assign(seed=1) != assign()


def test_who_has_answered_keeps_a_document_and_nobody_is_asked_once_more():
    answered = {"anna": set(PAIRS[:50]), "ben": set(PAIRS[:50]), "carol": set(PAIRS[:1])}
    given = assign(answered=answered)
    for pair in PAIRS[1:50]:
        assert [judge for judge in JUDGES if pair in given[judge]] == ["anna", "ben"]
    # All three keep what they have answered for.
    assert [judge for judge in JUDGES if PAIRS[0] in given[judge]] == ["anna", "ben", "carol"]


def test_who_judged_before_and_has_left_counts():
    given = assign(answered={"zoe": set(PAIRS)})
    assert Counter(pair for pairs in given.values() for pair in pairs) == dict.fromkeys(PAIRS, 1)


def test_names_and_ids_that_run_into_each_other_are_told_apart():
    given = [
        assign_documents([pair], ["1", "11", "111"], {}, overlap=1, seed=seed)
        for pair in (("a", "bc"), ("ab", "c"))
        for seed in range(20)
    ]
    halves = [[[judge for judge in one if one[judge]] for one in part] for part in (given[:20], given[20:])]
    assert halves[0] != halves[1]
