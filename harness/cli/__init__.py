"""The command line: options in, exit status out. One module a command, imported when it is called."""

from harness.cli.root import main

__all__ = ["main"]
