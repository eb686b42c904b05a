"""
Runs that repeat another one: pure.

A failed run is often started again, by a service of CI or by hand. If each of these counted, they would soon be most of
the last runs, and the drop would be that from itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.baseline.entries import fingerprint_request
from harness.gate.ties import group_ties, replace_scores, truncate_ranking
from harness.history.entries import restore_ranking
from harness.model import HistoryEntry, IndexFacts, Ranking, Run, Suite


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What says whether an entry repeats the run that is judged now."""

    suite: Suite
    run: Run
    commit: str | None
    """None if it is unknown."""

    def is_repeated_by(self, entry: HistoryEntry) -> bool:
        """
        Whether *entry* is of the same commit, request, mapping and settings.

        Without a commit, whether it has the same rankings of all queries of the run.
        """
        if entry.state.request != (fingerprint_request(self.suite, self.run.request) or ""):
            return False
        if self.commit is None or entry.commit is None:
            return self._has_same_rankings(entry)
        facts = self.run.facts or IndexFacts()
        is_same_mapping = _may_be_same(entry.state.mapping, facts.mapping)
        return entry.commit == self.commit and is_same_mapping and _may_be_same(entry.state.settings, facts.settings)

    def _has_same_rankings(self, entry: HistoryEntry) -> bool:
        for query, response in self.run.responses.items():
            kept = entry.queries.get(query)
            if not isinstance(response, Ranking) or kept is None:
                return False
            today = replace_scores(truncate_ranking(response, entry.depth), self.suite.profile)
            if _list_groups(today) != _list_groups(restore_ranking(kept)):
                return False
        return True


def _may_be_same(first: str | None, second: str | None) -> bool:
    return first is None or second is None or first == second


def _list_groups(ranking: Ranking) -> list[list[str]]:
    """The documents of each group of ties, of which the order says nothing."""
    return [sorted(group.shown) for group in group_ties(ranking)]


def choose_entries(entries: Iterable[HistoryEntry], judged: JudgedRun, most: int) -> list[HistoryEntry]:
    """
    At most *most* of *entries*, which come oldest first, to compare *judged* with; the last ones count first.

    Entries that repeat it count only if there are not enough others, and then the first ones: a run that failed never
    takes the place of one before it. Of the entries of another commit on one day the last counts, and the others of
    them only if there are not enough.
    """
    repeats, others = [], []
    for entry in entries:
        if judged.is_repeated_by(entry):
            repeats.append(entry)
        else:
            others.append(entry)
    last_of_day = _select_last_of_day(others)
    chosen_ids = {id(entry) for entry in last_of_day}
    earlier = [entry for entry in others if id(entry) not in chosen_ids]
    # What counts least comes first: a threshold that looks back less far takes the end.
    return [*reversed(repeats), *earlier, *last_of_day][-most:]


def _select_last_of_day(entries: Iterable[HistoryEntry]) -> list[HistoryEntry]:
    """*entries* with the last one of each commit, state and day; all of those without a commit."""
    last: dict[object, HistoryEntry] = {}
    for place, entry in enumerate(entries):
        state = entry.state
        key: object = place
        if entry.commit is not None:
            key = (entry.commit, entry.created[:10], state.request, state.mapping, state.settings)
        # Assigning to a known key would keep its old place.
        last.pop(key, None)
        last[key] = entry
    return list(last.values())
