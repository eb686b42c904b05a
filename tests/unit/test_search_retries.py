"""When something is asked again."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.search.answers import read_retry_after
from harness.search.server_health import Clock, Retries


def patient(chance: float, **more: float) -> Retries:
    return Retries(clock=Clock(now=lambda: 100.0, chance=lambda: chance), **more)  # type: ignore[arg-type]


def test_the_limit_of_the_wait_doubles_up_to_the_cap() -> None:
    retries = patient(1.0, base=0.5, cap=3.0)

    assert [retries.draw_pause(attempt, None) for attempt in (1, 2, 3, 4, 9)] == [0.5, 1.0, 2.0, 3.0, 3.0]


@given(chance=st.floats(0, 1, exclude_max=True), attempt=st.integers(1, 60))
def test_full_jitter_draws_from_nothing_to_the_limit(chance: float, attempt: int) -> None:
    retries = patient(chance)

    assert retries.draw_pause(attempt, None) == pytest.approx(chance * min(20.0, 0.5 * 2.0 ** (attempt - 1)))


@given(chance=st.floats(0, 1, exclude_max=True), attempt=st.integers(1, 60), server_pause=st.floats(0, 600))
def test_a_server_that_says_when_is_never_asked_earlier_nor_much_later(
    chance: float, attempt: int, server_pause: float
) -> None:
    assert server_pause <= patient(chance).draw_pause(attempt, server_pause) <= server_pause + 0.5


def test_the_last_attempt_is_the_last() -> None:
    retries = patient(0.0, attempts=3)

    pauses = [retries.find_pause(attempt, started=100.0, server_pause=None, end=None) for attempt in (1, 2, 3)]

    assert pauses == [0.0, 0.0, None]


def test_no_wait_goes_beyond_the_patience() -> None:
    retries = patient(0.0, patience=30.0)

    assert retries.find_pause(1, started=80.0, server_pause=10.0, end=None) == 10.0
    assert retries.find_pause(1, started=80.0, server_pause=11.0, end=None) is None


def test_no_wait_goes_beyond_the_end_of_the_run() -> None:
    retries = patient(0.0)

    assert retries.find_pause(1, started=100.0, server_pause=4.0, end=105.0) == 4.0
    assert retries.find_pause(1, started=100.0, server_pause=5.0, end=105.0) is None


class TestRetryAfter:
    NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("120", 120.0),
            (" 0 ", 0.0),
            ("Wed, 21 Oct 2026 07:28:30 GMT", 30.0),
            ("Wed, 21 Oct 2026 07:27:00 GMT", 0.0),
            ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
            ("9" * 5000, math.inf),
            ("soon", None),
            ("-5", None),
            ("٣", None),
            ("", None),
        ],
    )
    def test_seconds_or_a_date(self, text: str, seconds: float | None) -> None:
        assert read_retry_after({"retry-after": text}, self.NOW) == seconds

    def test_no_header(self) -> None:
        assert read_retry_after({}) is None
