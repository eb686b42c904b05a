import gc

import pytest

from harness.process import gc_paused


def test_the_collector_is_off_within_and_as_before_after_an_error():
    def fail():
        with gc_paused():
            assert not gc.isenabled()
            raise KeyError

    assert gc.isenabled()
    with pytest.raises(KeyError):
        fail()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
