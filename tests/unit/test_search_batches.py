"""How searches are cut into requests: how large they are, and when they grow and shrink."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.run import Failure, FailureKind
from harness.search.batches import HUGE_ANSWER, Batches, SearchBatch
from harness.search.msearch import Entry, join_lines
from harness.search.server_health import Clock, Retries, ServerHealth


def health() -> ServerHealth:
    return ServerHealth(Retries(clock=Clock(now=lambda: 0.0)), timeout=30.0)


def batches_of(entries: Sequence[Entry], state: ServerHealth, **more: Any) -> Batches:
    return Batches(entries, len(entries), state, **more)


def searches(number: int) -> list[Entry]:
    return [Entry(place, b"x") for place in range(number)]


def next_size(batches: Batches) -> int:
    batch = batches.take()
    assert batch is not None
    batches.release(answered=len(batch.entries))
    return len(batch.entries)


def test_after_a_huge_answer_one_batch_at_a_time_is_sent() -> None:
    batches = batches_of(searches(1000), health(), senders=4)
    taken = [batches.take() for _ in range(3)]
    batches.record_answer(25, 1.0, HUGE_ANSWER)
    for _ in taken:
        batches.release(answered=25)

    assert batches.take() is not None
    waiting = Thread(target=batches.take, daemon=True)
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    batches.record_answer(25, 1.0, 1000)
    batches.release(answered=25)
    waiting.join(5)
    assert not waiting.is_alive()


@given(
    kinds=st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60),
    most=st.integers(1, 9),
    most_bytes=st.integers(1, 100),
    ahead=st.booleans(),
)
def test_every_search_is_in_one_batch_and_no_batch_is_too_large_or_mixed(
    kinds: list[tuple[bool, int]], most: int, most_bytes: int, *, ahead: bool
) -> None:
    entries = [Entry(place, b"x" * size, is_template) for place, (is_template, size) in enumerate(kinds)]
    source = batches_of(entries, health(), most=most, most_bytes=most_bytes)
    batches: list[list[Entry]] = []
    while (batch := source.take()) is not None:
        batches.append(batch.entries)
        source.release(answered=len(batch.entries))
        while ahead and source.read_ahead():
            pass

    assert sorted(one.position for batch in batches for one in batch) == list(range(len(kinds)))
    for batch in batches:
        assert 1 <= len(batch) <= most
        assert len({one.is_template for one in batch}) == 1
        assert len(batch) == 1 or len(join_lines(batch)) <= most_bytes


def test_the_searches_of_one_batch_are_read_ahead_and_no_more() -> None:
    read: list[int] = []

    class Watched(list[Entry]):
        def __iter__(self) -> Iterator[Entry]:
            return (read.append(one.position) or one for one in super().__iter__())

    batches = batches_of(Watched(searches(250)), health(), most=100)
    assert next_size(batches) == 100
    while batches.read_ahead():
        pass
    assert read == list(range(200))
    assert [next_size(batches), next_size(batches)] == [100, 50]
    assert not batches.read_ahead()


@pytest.mark.parametrize(("size", "read"), [(1, 100), (100_000, 25)])
def test_no_more_is_read_ahead_than_one_of_several_senders_takes(size: int, read: int) -> None:
    entries = [Entry(place, b"x" * size) for place in range(400)]
    batches = batches_of(entries, health(), senders=4, most_bytes=2_500_000)
    next_size(batches)
    next_size(batches)
    while batches.read_ahead():
        pass
    held = sum(len(one.lines) for one in batches._ahead)
    assert held == min(read * size, 2_500_000)


def test_templates_among_others_are_in_one_batch() -> None:
    batches = batches_of([Entry(place, b"x", is_template=place in (0, 2, 4)) for place in range(5)], health())
    assert [next_size(batches), next_size(batches), batches.take()] == [3, 2, None]


@pytest.mark.parametrize(
    ("number", "first"), [(1, 1), (25, 25), (26, 25), (100, 25), (225, 57), (400, 100), (20_000, 100)]
)
def test_a_small_suite_is_one_request_and_a_larger_one_is_shared_by_the_senders(number: int, first: int) -> None:
    assert next_size(batches_of(searches(number), health(), senders=4)) == first


def test_the_last_batches_are_shares_of_what_is_left() -> None:
    batches = batches_of(searches(1100), health(), senders=4)
    batches.record_answer(100, 0.1, 1)
    batches.record_answer(400, 0.1, 1)

    assert [next_size(batches) for _ in range(4)] == [275, 250, 250, 250]


class TestGrowing:
    def test_batches_grow_to_four_times_while_requests_are_very_quick_up_to_the_most(self) -> None:
        batches = batches_of(searches(10_000), health())
        sizes = []
        for _ in range(4):
            sizes.append(next_size(batches))
            batches.record_answer(sizes[-1], 0.1, 1)

        assert sizes == [100, 400, 1000, 1000]

    def test_batches_double_while_requests_are_quick(self) -> None:
        batches = batches_of(searches(10_000), health())
        sizes = []
        for seconds in (0.3, 0.45, 0.7):
            sizes.append(next_size(batches))
            batches.record_answer(sizes[-1], seconds, 1)

        assert sizes == [100, 200, 400]

    def test_where_each_request_costs_much_larger_ones_are_worth_it(self) -> None:
        batches = batches_of(searches(10_000), health())
        for _ in range(5):
            size = next_size(batches)
            batches.record_answer(size, 0.55 + size * 0.0005, 1)

        assert next_size(batches) == 1000

    def test_where_each_search_costs_much_larger_ones_are_not(self) -> None:
        batches = batches_of(searches(10_000), health())
        for _ in range(5):
            size = next_size(batches)
            batches.record_answer(size, size * 0.01, 1)

        assert next_size(batches) == 200

    @pytest.mark.parametrize(("seconds", "answer"), [(5.0, 1), (0.1, 16 * 1024 * 1024)])
    def test_slow_and_large_answers_do_not_grow(self, seconds: float, answer: int) -> None:
        batches = batches_of(searches(10_000), health())
        batches.record_answer(next_size(batches), seconds, answer)

        assert next_size(batches) == 100


class TestShrinking:
    def test_what_was_refused_is_halved_and_grows_slowly_until_that_size_is_answered(self) -> None:
        batches = batches_of(searches(10_000), health())
        batches.record_answer(100, 0.1, 1)
        batches.record_refusal(200)
        sizes = []
        for _ in range(10):
            sizes.append(next_size(batches))
            batches.record_answer(sizes[-1], 0.1, 1)

        assert sizes == [100, 112, 126, 141, 158, 177, 199, 223, 892, 1000]

    def test_several_requests_of_one_size_are_one_refusal(self) -> None:
        batches = batches_of(searches(10_000), health())
        for _ in range(4):
            batches.record_refusal(100)

        assert next_size(batches) == 50

    def test_parts_are_sent_first_and_what_is_sent_again_last(self) -> None:
        batches = batches_of(searches(102), health())
        first = batches.take()
        assert first is not None
        batches.release(parts=[SearchBatch(first.entries[:1])], again=[SearchBatch(first.entries[1:])])

        assert [next_size(batches) for _ in range(3)] == [1, 2, 99]
        assert batches.take() is None

    def test_during_an_outage_one_request_is_under_way(self) -> None:
        state = health()
        state.record_answer()
        batches = batches_of(searches(1000), state, senders=2)
        assert batches.take() is not None
        state.record_outage(Failure(FailureKind.ERROR, "busy", 503), seen=0)
        batches.release(answered=100)
        assert batches.take() is not None
        batches.stop()  # or it would wait for the answer to the request that is under way

        assert batches.take() is None


def test_a_probe_that_had_no_answer_is_halved() -> None:
    batches = batches_of(searches(100), health())
    batches.probe(halve=False)
    assert batches.size == 25
    batches.probe(halve=True)
    assert batches.size == 12
