import pytest

from harness.search.connection import Closing


class Held(Closing):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_block_is_given_the_thing_itself_and_closes_it():
    with Held() as held:
        assert held.closed == 0
    assert held.closed == 1


def test_an_error_closes_it_and_goes_on():
    held = Held()
    with pytest.raises(KeyError), held:
        raise KeyError
    assert held.closed == 1


def test_what_cannot_be_closed_cannot_be_made():
    with pytest.raises(TypeError, match="close"):
        Closing()  # type: ignore[abstract]
