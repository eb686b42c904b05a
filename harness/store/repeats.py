"""
Runs that repeat another one: pure.

A failed run is often started again, by a service of CI or by hand. If each of these counted, they would soon be most of
the last runs, and the drop would be that from itself. A nightly job is no repetition: it runs the same commit each
night, and what it finds depends on the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.gate.ties import group_ties, replace_scores, truncate_ranking
from harness.model.kept import HistoryEntry
from harness.model.run import IndexFacts, Ranking, Run
from harness.model.suite import Suite
from harness.store.commits import DIRTY
from harness.store.history import fingerprint_content
from harness.store.kept import restore_ranking
from harness.store.what_changed import fingerprint_request, list_changed_facts


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What says whether an entry repeats the run that is judged now."""

    suite: Suite
    run: Run
    commit: str | None
    """None if it is unknown."""
    day: str = ""
    """The day on which it ran, in UTC, as `HistoryEntry.created` begins."""

    def is_repeated_by(self, entry: HistoryEntry) -> bool:
        """
        Whether *entry* has the same rankings of all queries of the run, by the same commit or one that is not known.

        Or it is of the same commit, the same content of the index and the same day: an engine may answer otherwise when
        it is asked again. On another day something else changed the rankings, such as a model or a list of synonyms.
        A request, mapping or settings that changed make it another run.
        """
        if entry.state.request != (fingerprint_request(self.suite, self.run.request) or ""):
            return False
        facts = self.run.facts or IndexFacts()
        commit, entry_commit = get_known_commit(self.commit), get_known_commit(entry.commit)
        before = {"mapping": entry.state.mapping, "settings": entry.state.settings, "commit": entry_commit}
        if list_changed_facts(before, {"mapping": facts.mapping, "settings": facts.settings, "commit": commit}):
            return False
        if self._has_same_rankings(entry):
            return True
        content = fingerprint_content(self.suite, self.run)
        is_same_content = content is not None and entry.state.content == content
        is_same_system = is_same_content and entry.engine == str(self.run.engine)
        return commit is not None and commit == entry_commit and is_same_system and entry.created[:10] == self.day

    def _has_same_rankings(self, entry: HistoryEntry) -> bool:
        for query, response in self.run.responses.items():
            kept = entry.queries.get(query)
            if not isinstance(response, Ranking) or kept is None:
                return False
            today = replace_scores(truncate_ranking(response, entry.depth), self.suite.profile)
            if _list_groups(today) != _list_groups(restore_ranking(kept)):
                return False
        return True


def get_known_commit(commit: str | None) -> str | None:
    """*commit*, if it says what was run: None if files of its working tree were changed."""
    if commit is None or commit.endswith(DIRTY):
        return None
    return commit


def _list_groups(ranking: Ranking) -> list[list[str]]:
    """The documents of each group of ties, of which the order says nothing."""
    return [sorted(group.shown) for group in group_ties(ranking)]


def choose_entries(entries: Iterable[HistoryEntry], judged: JudgedRun, most: int) -> list[HistoryEntry]:
    """
    At most *most* of *entries*, which come in the order in which they were kept, to compare *judged* with; the last
    ones count first.

    Entries that repeat it count only if there are not enough others: a run that failed never takes the place of one
    before it. The last of them counts first. Of the entries that repeat one another on one day the last counts, and the
    others of them only if there are not enough.
    """
    repeats, others = [], []
    for entry in entries:
        if judged.is_repeated_by(entry):
            repeats.append(entry)
        else:
            others.append(entry)
    last_of_day = _select_last_of_day(others, judged.commit)
    chosen_ids = {id(entry) for entry in last_of_day}
    earlier = [entry for entry in others if id(entry) not in chosen_ids]
    # What counts least comes first: a threshold that looks back less far takes the end.
    return [*repeats, *earlier, *last_of_day][-most:]


def _select_last_of_day(entries: Sequence[HistoryEntry], judged_commit: str | None) -> list[HistoryEntry]:
    """
    *entries* without those that a later one of the same day repeats; all of those without a commit.

    That is one of the same commit, request, mapping and settings, with the same content of the index. For another
    commit than *judged_commit* the same rankings do as well.
    """
    selected: list[HistoryEntry] = []
    later_by_day: dict[tuple[str, str], list[HistoryEntry]] = {}
    for entry in reversed(entries):
        commit = get_known_commit(entry.commit)
        if commit is not None:
            later = later_by_day.setdefault((commit, entry.created[:10]), [])
            if any(_repeats(entry, other, may_differ=commit != judged_commit) for other in later):
                continue
            later.append(entry)
        selected.append(entry)
    return selected[::-1]


def _repeats(first: HistoryEntry, second: HistoryEntry, *, may_differ: bool) -> bool:
    """
    Whether two entries of one commit have the same state of the request and of the index.

    The content of the index *may_differ*, or be unknown, if all rankings are the same.
    """
    state, other = first.state, second.state
    if (state.request, state.mapping, state.settings) != (other.request, other.mapping, other.settings):
        return False
    if state.content is not None and state.content == other.content and first.engine == second.engine:
        return True
    return may_differ and _list_kept_groups(first) == _list_kept_groups(second)


def _list_kept_groups(entry: HistoryEntry) -> dict[str, list[list[str]]]:
    return {query: _list_groups(restore_ranking(kept)) for query, kept in entry.queries.items()}
