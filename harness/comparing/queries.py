"""Each query of two runs, side by side. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from harness.comparing.basis import ScoredSides
from harness.comparing.documents import DocumentNotes, ranking_changes
from harness.comparing.measuring import score_tables
from harness.gate.grammar import TOLERANCE
from harness.metrics.agreement import RankPair, compare_rankings
from harness.model import Query, QueryComparison, Ranking

__all__ = ["SideBySide", "most_moved_first"]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """
    Compares queries one by one: *depth* ranks, with persistence *p*.

    *ties* says that documents of equal score stand in an order that nobody asked for.
    """

    basis: ScoredSides
    depth: int
    p: float
    ties: bool

    def pairs(self) -> dict[str, RankPair]:
        """The rankings of the queries that both sides answered."""
        answered = {query.id: self._rankings(query.id) for query in self.basis.suite.queries}
        return {
            query: compare_rankings(*(_documents(ranking) for ranking in rankings), depth=self.depth, p=self.p)
            for query, rankings in answered.items()
            if rankings is not None
        }

    def queries(self, pairs: Mapping[str, RankPair]) -> list[QueryComparison]:
        """Every query, in the suite's order; *pairs* are those that `pairs` gave."""
        titles = self._titles()
        tables = [score_tables(self.basis, scores) for scores in self.basis.scores]
        found = []
        for query in self.basis.suite.queries:
            scores = {measure: (tables[0][measure][query.id], tables[1][measure][query.id]) for measure in tables[0]}
            plain = QueryComparison(query.id, query.text, query.tags, scores if self.basis.is_judged else {})
            pair = pairs.get(query.id)
            found.append(plain if pair is None else self._compared(plain, query, pair, titles))
        return found

    def _compared(
        self, plain: QueryComparison, query: Query, pair: RankPair, titles: Mapping[str, str]
    ) -> QueryComparison:
        rankings = self._rankings(query.id)
        assert rankings is not None
        notes = DocumentNotes(query.judgments, self.basis.suite.gain, titles)
        changes = ranking_changes(*rankings, depth=self.depth, notes=notes, ties=self.ties)
        return replace(
            plain,
            documents=changes.documents,
            entered=changes.entered,
            left=changes.left,
            moved=changes.moved,
            rbo=pair.rbo,
            overlap=pair.overlap,
            tau=pair.tau,
            ties_only=changes.ties_only,
        )

    def _rankings(self, query: str) -> tuple[Ranking, Ranking] | None:
        first, second = (run.responses.get(query) for run in self.basis.runs)
        return (first, second) if isinstance(first, Ranking) and isinstance(second, Ranking) else None

    def _titles(self) -> dict[str, str]:
        """Every title that either run brought, the candidate's first."""
        responses = chain.from_iterable(run.responses.values() for run in self.basis.runs)
        hits = chain.from_iterable(one.hits for one in responses if isinstance(one, Ranking))
        return {hit.id: hit.title for hit in hits if hit.title is not None}


def most_moved_first(queries: Sequence[QueryComparison], measure: str | None) -> list[QueryComparison]:
    """
    *queries* by how far *measure* changed, then by how little their rankings agree; those without both rankings last.

    Equal ones stay as they stand.
    """

    def order(query: QueryComparison) -> tuple[bool, bool, float, float]:
        before, after = query.scores.get(measure or "", (None, None))
        change = None if before is None or after is None else abs(after - before)
        size = 0.0 if change is None or change <= TOLERANCE else change
        return query.rbo is None, change is None, -size, query.rbo or 0.0

    return sorted(queries, key=order)


def _documents(ranking: Ranking) -> list[str]:
    return [hit.id for hit in ranking.hits]
