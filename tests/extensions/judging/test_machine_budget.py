"""What calls may cost: reserved before each, settled after it."""

import pytest

from harness.extensions.judging.machine.budget import Budget, Prices, bound_input, estimate_input
from harness.extensions.judging.machine.prompt import Message
from harness.extensions.judging.machine.reading import Tokens

PRICES = Prices(1.0, 2.0)


def test_a_call_is_sent_only_if_the_most_that_it_can_cost_is_left():
    budget = Budget(PRICES, limit=0.001)
    call = Tokens(300, 50)
    assert [budget.reserve(call) for _ in range(3)] == [True, True, False]
    # It used less than it could have.
    budget.charge(call, Tokens(100, 0))
    assert budget.reserve(call)
    assert not budget.reserve(call)
    assert budget.cost == pytest.approx(0.0001)


def test_calls_under_way_cannot_exceed_the_limit_together():
    budget, sent = Budget(PRICES, limit=0.01), 0
    call = Tokens(90, 5)
    while budget.reserve(call):
        sent += 1
    for _ in range(sent):
        budget.charge(call, call)
    assert sent == 100
    assert budget.cost <= 0.01
    assert budget.reserved == Tokens()


@pytest.mark.parametrize("budget", [Budget(), Budget(PRICES), Budget(limit=0.0)])
def test_without_prices_or_limit_nothing_is_refused(budget):
    assert budget.reserve(Tokens(10**9, 10**9))


def test_a_budget_of_nothing_sends_nothing():
    assert not Budget(PRICES, limit=0.0).reserve(Tokens(1, 0))


@pytest.mark.parametrize("text", ["", "tent", "自転車 用品", "🏕" * 50])
def test_the_estimate_is_below_the_bound_which_counts_each_byte(text):
    messages = [Message("system", "Grade."), Message("user", text)]
    assert estimate_input(messages, {"type": "object"}) <= bound_input(messages, {"type": "object"})
    assert bound_input(messages) >= len(text.encode())
