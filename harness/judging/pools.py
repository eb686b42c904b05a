"""
Work on judgments: suites in, what is to be judged out.

Everything is asked over the same connections as a run, and decided in `harness.pooling`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.model import ANY_TEXT, Hit, Suite
from harness.pooling import Pool, PooledDocument, PooledRun, pool_runs, pooling_depth, with_texts
from harness.run import connections_for, run_with
from harness.run.execution import FinishedSuite, Progress
from harness.run.options import Matrix, RunOptions
from harness.search.lookup import find_texts, pinned_of

if TYPE_CHECKING:
    from harness.run.connections import Connections, OpenCluster
    from harness.search import Search

__all__ = ["PoolOptions", "pool_suites"]


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """
    Where suites run (*run*, *matrix*), down to which rank they are pooled, and which field a *snippet* is cut from.

    *depth* is a suite's deepest cutoff where it is None, and *snippet* the field of a document's longest text.
    """

    run: RunOptions
    matrix: Matrix
    depth: int | None = None
    snippet: str | None = None


def pool_suites(
    paths: Sequence[Path],
    options: PoolOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
) -> list[Pool]:
    """
    Run suites with each of their requests that are asked for, and pool what nobody has judged.

    Nothing is compared or decided. A query without an answer is named in the pool, and nothing of it is pooled. A suite
    of which the tags select no query has no pool.

    Args:
        paths: Suite files, or folders of them.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Told how far the runs are.

    Raises:
        InputError: A suite or harness.toml is wrong; holds all problems of all files.
        UsageError: An option asks for what cannot be.
        EngineStartError: The embedded node could not be started.
    """
    asked = replace(options.run, depth=options.depth, locate=False, unjudged=True)
    with connections_for(asked, environ) as connections:
        finished = run_with(connections, paths, asked, environ=environ, progress=progress, matrix=options.matrix)
        selected = [one for one in finished if one.suite.queries]
        return [
            _Pooling(list(cells), options, connections, environ).pool()
            for _, cells in groupby(selected, key=lambda one: one.suite.path)
        ]


@dataclass(frozen=True, slots=True)
class _Pooling:
    """All cells of one suite, and the connections that they came over."""

    cells: Sequence[FinishedSuite]
    options: PoolOptions
    connections: Connections
    environ: Mapping[str, str]

    @property
    def suite(self) -> Suite:
        return self.cells[0].suite

    def pool(self) -> Pool:
        """The pool of all cells, with titles and snippets as far as they can be read."""
        runs = [PooledRun(name, cell.run) for name, cell in zip(self._names(), self.cells, strict=True)]
        pool = pool_runs(self.suite, runs, self.options.depth or pooling_depth(self.suite))
        [door] = self.connections.open_all([self.suite])
        found, notes = self._texts(pool, runs, door)
        mask = door.masker(self.suite, self.environ).mask
        unanswered = {place: mask(reason) for place, reason in pool.unanswered.items()}
        pool = replace(pool, unanswered=unanswered, notes=(*self._shallow(pool), *map(mask, notes)))
        return with_texts(pool, found)

    def _names(self) -> list[str]:
        """The requests' names, with the indexes behind them where one request was sent to several."""
        names = [cell.run.request for cell in self.cells]
        if len(set(names)) == len(names):
            return names
        return [f"{cell.run.request} on {cell.run.index}" for cell in self.cells]

    def _shallow(self, pool: Pool) -> list[str]:
        """A sentence for each request that says itself how many hits it wants, and wants fewer than are pooled."""
        from harness.suites.templates import size_of

        sizes = {name: size_of(self.suite.requests[name]) for name in {cell.run.request for cell in self.cells}}
        return [
            f"the request {name} asks for {size} hits itself, and is pooled no deeper"
            for name, size in sorted(sizes.items())
            if size is not None and size < pool.depth
        ]

    def _texts(
        self, pool: Pool, runs: Sequence[PooledRun], door: OpenCluster
    ) -> tuple[dict[tuple[str, str], Hit], list[str]]:
        """Title and snippet of each document, by query and document, and why there are none."""
        if door.search is None or not pool.documents:
            return {}, []
        if self.suite.target.service == "http":
            return {}, ["there are no snippets: an HTTP service is not asked for documents by their ids"]
        wanted: dict[tuple[str | None, str], list[PooledDocument]] = {}
        for document in pool.documents:
            best = min(document.ranks, key=lambda name: document.ranks[name])
            run = next(one.run for one in runs if one.name == best)
            wanted.setdefault((run.index, run.request), []).append(document)
        try:
            return self._read(wanted, door.search)
        except SearchError as error:
            return {}, [f"there are no snippets: {error}"]

    def _read(
        self, wanted: Mapping[tuple[str | None, str], Sequence[PooledDocument]], search: Search
    ) -> tuple[dict[tuple[str, str], Hit], list[str]]:
        found: dict[tuple[str, str], Hit] = {}
        notes: dict[str, None] = {}
        for (index, request), documents in wanted.items():
            template = self.suite.requests[request]
            ids = list(dict.fromkeys(one.document for one in documents))
            hits, reasons = find_texts(
                search,
                index,
                ids,
                pinned=pinned_of(template.body),
                title_field=self.suite.title_field,
                snippet=self.options.snippet or ANY_TEXT,
            )
            found |= {(one.query, one.document): hits[one.document] for one in documents if one.document in hits}
            notes |= dict.fromkeys(f"some documents of {index} have no snippet: {reason}" for reason in reasons)
        return found, list(notes)
