"""
The command line: options in, exit status out. One module a command, imported when it is called.

The help imports click and nothing else, so that it answers in an instant: the line that it says of a command stands
here.
"""

from harness.cli.root import main

__all__ = ["main"]
