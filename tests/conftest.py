"""What all tests share."""

import signal
from collections.abc import Iterator

import pytest

from harness.baseline.saving import CI_VARIABLES

pytest_plugins = ["pytester"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden outputs anew")


def pytest_configure() -> None:
    """
    Let Ctrl-C and the end of a terminal reach the processes that tests start.

    A shell starts jobs in the background with SIGINT ignored, nohup starts them with SIGHUP ignored, and every process
    below inherits that.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(autouse=True, scope="session")
def _outside_of_ci() -> Iterator[None]:
    """What saves a baseline is refused in CI, and the tests of it run there."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CI_VARIABLES:
            patch.delenv(name, raising=False)
        yield
