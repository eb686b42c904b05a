"""Runs of one suite after another, over connections that stay open from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.options import RunOptions
from harness.run import connections_for, run_with
from harness.run.connections import Connections
from harness.run.execution import FinishedSuite, Progress
from harness.search.connection import Closing

__all__ = ["SharedConnections"]


SERVER = ("url", "embedded", "engine_version", "cluster", "client")
"""The options that say where a suite runs; what is equal in them shares a connection, or an embedded node."""


class SharedConnections(Closing):
    """Opens what each run asks for, and closes everything in the end."""

    def __init__(self, environ: Mapping[str, str], progress: Progress | None = None) -> None:
        """
        Args:
            environ: Where variables and logins are looked up.
            progress: Told how far a run is.
        """
        self._environ = environ
        self._progress = progress
        self._open: list[tuple[RunOptions, Connections]] = []

    def run(self, path: Path, options: RunOptions) -> FinishedSuite:
        """Run the suite at *path*; raises as `harness.run.run_with`."""
        connections = self._connections_for(options)
        [finished] = run_with(connections, [path], options, environ=self._environ, progress=self._progress)
        return finished

    def close(self) -> None:
        """Close the connections, and end the embedded node."""
        while self._open:
            self._open.pop()[1].close()

    def _connections_for(self, options: RunOptions) -> Connections:
        wanted = RunOptions(**{name: getattr(options, name) for name in SERVER})
        for known, connections in self._open:
            if known == wanted and known.client is wanted.client:
                return connections
        opened = connections_for(wanted, self._environ)
        self._open.append((wanted, opened))
        return opened
