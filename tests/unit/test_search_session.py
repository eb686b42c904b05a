"""Whether a server may be asked, and for how long: told by a clock that only moves when it is told to."""

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind
from harness.search.answers import TIME_SPENT
from harness.search.connection import ConnectionClosed
from harness.search.retries import Clock, Retries
from harness.search.session import MOST_SILENCES, ServerHealth


class HeldClock:
    """Time goes on only in `sleep`; chance always draws the longest wait."""

    def __init__(self) -> None:
        self.time = 0.0

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def retries(self) -> Retries:
        return Retries(clock=Clock(now=lambda: self.time, sleep=self.sleep, chance=lambda: 1.0))


LOSS = EngineUnreachable("cannot reach the engine")


def test_a_request_may_take_its_timeout_and_no_more_than_the_run_has_left():
    clock = HeldClock()
    course = ServerHealth(clock.retries(), timeout=30, budget=40)
    assert course.seconds() == 30
    clock.sleep(25)
    assert course.seconds() == 15
    clock.sleep(15)
    assert course.seconds() == TIME_SPENT


def test_nothing_is_sent_once_it_is_given_up():
    course = ServerHealth(HeldClock().retries(), timeout=30)
    course.given_up = Failure(FailureKind.ERROR, "nobody answers")
    assert course.seconds() == course.given_up


def test_many_silences_in_a_row_are_the_end():
    course = ServerHealth(HeldClock().retries(), timeout=30)
    for _ in range(MOST_SILENCES - 1):
        assert course.silent(LOSS).kind is FailureKind.TIMEOUT
    assert course.given_up is None
    course.heard()
    for _ in range(MOST_SILENCES - 1):
        course.silent(LOSS)
    assert course.given_up is None
    last = course.silent(LOSS)
    assert course.given_up == last


def test_an_answer_makes_good_a_loss():
    course = ServerHealth(HeldClock().retries(), timeout=30)
    assert course.lost(LOSS) == Failure(FailureKind.ERROR, "cannot reach the engine")
    assert (course.loss, course.answered) == (LOSS, False)
    course.heard()
    assert (course.loss, course.answered) == (None, True)


def test_where_nobody_answered_yet_each_node_is_tried_once_and_at_once():
    clock = HeldClock()
    course = ServerHealth(clock.retries(), timeout=30)
    assert [course.wait(attempt, begun=0, wished=0, nodes=3) for attempt in (1, 2, 3)] == [True, True, False]
    assert clock.time == 0


def test_who_hangs_up_is_there_and_is_asked_again_a_few_times():
    clock = HeldClock()
    course = ServerHealth(clock.retries(), timeout=30)
    course.lost(ConnectionClosed("it closed the connection"))
    assert (course.reached, course.answered) == (True, False)
    assert [course.wait(attempt, begun=0, wished=0) for attempt in (1, 2, 3)] == [True, True, False]
    assert clock.time == 1.5
    course.heard()
    assert course.wait(3, begun=0, wished=0)


def test_a_busy_server_is_spared_for_a_while():
    clock = HeldClock()
    course = ServerHealth(clock.retries(), timeout=30, budget=10)
    course.heard()
    assert course.wait(1, begun=0, wished=0)
    assert clock.time == 0.5
    assert course.wait(2, begun=0, wished=4)
    assert clock.time == 5.0
    assert not course.wait(3, begun=0, wished=6)  # it would wake after the run's end
    assert clock.time == 5.0
