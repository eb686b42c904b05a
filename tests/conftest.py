"""What all tests share."""

import signal

pytest_plugins = ["pytester"]


def pytest_configure() -> None:
    """
    Let Ctrl-C reach the processes that tests start.

    A shell starts jobs in the background with SIGINT ignored, and every process below inherits that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
