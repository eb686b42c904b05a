"""Whether a server may be asked, and for how long: told by a clock that only moves when it is told to."""

from harness.errors import EngineUnreachable
from harness.model.run import Failure, FailureKind
from harness.search.answers import TIME_SPENT
from harness.search.connection import ConnectionClosed, NameUnresolved
from harness.search.server_health import MOST_SILENCES, SECONDS_TO_RESOLVE, Clock, Retries, ServerHealth


class HeldClock:
    """Time goes on only in `sleep`; chance always draws the longest wait."""

    def __init__(self) -> None:
        self.time = 0.0

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def retries(self) -> Retries:
        return Retries(clock=Clock(now=lambda: self.time, sleep=self.sleep, chance=lambda: 1.0))


LOSS = EngineUnreachable("cannot reach the engine")
LATE = Failure(FailureKind.TIMEOUT, "no answer")


def test_a_request_may_take_its_timeout_and_no_more_than_the_run_has_left():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30, budget=40)
    assert health.seconds() == 30
    clock.sleep(25)
    assert health.seconds() == 15
    clock.sleep(15)
    assert health.seconds() == TIME_SPENT


def test_nothing_is_sent_once_it_is_given_up():
    health = ServerHealth(HeldClock().retries(), timeout=30)
    health.given_up = Failure(FailureKind.ERROR, "nobody answers")
    assert health.seconds() == health.given_up


def test_many_silences_in_a_row_are_the_end():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30)
    for _ in range(MOST_SILENCES - 1):
        health.record_timeout(LATE)
    assert health.given_up is None
    health.record_answer()
    for _ in range(MOST_SILENCES - 1):
        health.record_timeout(LATE)
    health.record_timeout(LATE)
    assert health.given_up is None  # it had answered: a cluster needs time to go on without a node
    clock.sleep(120)
    health.record_timeout(LATE)
    assert health.given_up == LATE


def test_batches_that_wait_side_by_side_are_one_silence():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=5)
    for _ in range(MOST_SILENCES - 1):
        sent = clock.time
        clock.sleep(5)
        for _ in range(4):
            health.record_timeout(LATE, sent=sent)
    assert health.given_up is None
    health.record_timeout(LATE, sent=clock.time)
    assert health.given_up == LATE


def test_a_server_that_never_answered_is_given_up_after_as_many_silences():
    health = ServerHealth(HeldClock().retries(), timeout=5)
    for _ in range(MOST_SILENCES):
        health.record_timeout(LATE)
    assert health.given_up == LATE


def test_a_loss_is_no_answer():
    health = ServerHealth(HeldClock().retries(), timeout=30)
    assert health.record_loss(LOSS) == Failure(FailureKind.ERROR, "cannot reach the engine")
    assert not health.answered


def test_where_nobody_answered_yet_each_node_is_tried_once_and_at_once():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30, nodes=3)
    assert [health.wait(attempt, started=0, server_pause=0) for attempt in (1, 2, 3)] == [True, True, False]
    assert clock.time == 0


def test_who_hangs_up_is_there_and_is_asked_again_a_few_times():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30)
    health.record_loss(ConnectionClosed("it closed the connection"))
    assert (health.reached, health.answered) == (True, False)
    assert [health.wait(attempt, started=0, server_pause=0) for attempt in (1, 2, 3)] == [True, True, False]
    assert clock.time == 1.5
    health.record_answer()
    assert health.wait(3, started=0, server_pause=0)


def test_a_busy_server_is_spared_for_a_while():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30, budget=10)
    health.record_answer()
    assert health.wait(1, started=0, server_pause=0)
    assert clock.time == 0.5
    assert health.wait(2, started=0, server_pause=4)
    assert clock.time == 5.0
    assert not health.wait(3, started=0, server_pause=6)  # it would wake after the run's end
    assert clock.time == 5.0


def test_a_name_that_no_server_resolves_now_is_waited_for_half_a_minute_before_the_first_answer():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30)
    health.record_loss(NameUnresolved("cannot reach the engine"))
    attempt = 1
    while health.wait(attempt, started=0.0, server_pause=0.0):
        attempt += 1
    assert SECONDS_TO_RESOLVE / 2 <= clock.time <= SECONDS_TO_RESOLVE
    assert attempt > 4


def test_a_name_that_no_server_resolves_now_is_waited_for_no_longer_than_the_budget():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30, budget=2.0)
    health.record_loss(NameUnresolved("cannot reach the engine"))
    attempt = 1
    while health.wait(attempt, started=0.0, server_pause=0.0):
        attempt += 1
    assert clock.time < 2.0


def test_a_server_that_refuses_the_connection_once_its_name_is_resolved_is_not_waited_for():
    clock = HeldClock()
    health = ServerHealth(clock.retries(), timeout=30)
    health.record_loss(NameUnresolved("cannot reach the engine"))
    assert health.wait(1, started=0.0, server_pause=0.0)
    health.record_loss(LOSS)
    assert not health.wait(2, started=0.0, server_pause=0.0)
