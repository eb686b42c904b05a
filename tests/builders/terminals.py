"""Commands whose standard error is a terminal."""

import os
import subprocess
import sys
import threading

import pytest

WITHOUT_PATIENCE = """
import sys, time
import harness.waits

class Now:
    def __init__(self, seconds, act):
        self.start = act

    def cancel(self):
        pass

    def join(self):
        pass

harness.waits.Timer = Now
"""
"""Shows each step at once, however short it is."""

COMMAND = """
from harness.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run_on_terminal(*arguments):
    """
    What a command prints on standard output, which is a pipe, and on standard error, which is a terminal.

    Each step that may take a while is shown at once.
    """
    return run_code_on_terminal(WITHOUT_PATIENCE + COMMAND, *map(str, arguments))


def run_code_on_terminal(code, *arguments):
    """What Python code prints on standard output and, on a terminal, on standard error."""
    if os.name == "nt":
        pytest.skip("Windows has no pseudo-terminals")
    import pty

    leader, follower = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    command = [sys.executable, "-c", code, *arguments]
    seen = []
    reader = threading.Thread(target=_read_all, args=(leader, seen))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environ) as process:
        os.close(follower)
        reader.start()
        output = process.stdout.read()
    reader.join()
    os.close(leader)
    return output.decode(), b"".join(seen).decode(errors="replace")


def _read_all(leader, seen):
    try:
        while chunk := os.read(leader, 65536):
            seen.append(chunk)
    except OSError:
        pass  # Linux says so when the other end is closed
