"""The files of another system that a suite is exported to, and what they cannot hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from harness.drafts.draft import Leftovers
from harness.metrics import profile_gain
from harness.metrics.measures import common_measures
from harness.model.suite import PEOPLE, Mark, Profile, Query, Suite, Threshold
from harness.words import listed


def choose_grades(suite: Suite) -> Suite:
    """*suite* with people's grades only: in the files of another system those of machines would be people's."""
    queries = []
    for query in suite.queries:
        grades = query.judgments if query.people_grades is None else query.people_grades
        queries.append(replace(query, judgments=grades, machine_graded=frozenset()))
    return replace(suite, queries=tuple(queries))


def find_machine(suite: Suite, query: Query, document: str) -> str:
    """The machine whose grade of *document* counts; empty where that is people's."""
    if document not in query.machine_graded:
        return ""
    return next(judge for judge in suite.judges if document in query.machine_grades.get(judge, {}))


def note_machine_grades(suite: Suite, exported: Exported, *, are_written: bool, names_machines: bool) -> None:
    """
    Note the grades of machines that *exported* does not have, or does not distinguish from people's.

    Args:
        suite: The suite with the grades of all its judges.
        exported: Its files.
        are_written: Whether the files have the grades of machines.
        names_machines: Whether the format says whose they are.
    """
    number = 0
    for query in suite.queries:
        if are_written:
            number += len(query.machine_graded)
        else:
            number += len(query.machine_graded - (query.people_grades or {}).keys())
    if not number or (are_written and names_machines):
        return
    what = f"grades of {listed([judge for judge in suite.judges if judge != PEOPLE])}"
    if are_written:
        what += " are written as people's: the format does not say whose a grade is"
    else:
        what += ", no person's; --machine-grades writes them too"
    exported.add_leftover(suite.mark, what, number)


@dataclass(slots=True)
class Exported:
    """The texts of the *files* of one exported suite, by file name, and what they do not hold, in *leftovers*."""

    files: dict[str, str] = field(default_factory=dict)
    leftovers: Leftovers = field(default_factory=Leftovers)

    def add_leftover(self, mark: Mark, what: str, count: int = 1, first: str = "") -> None:
        """Note that *what* at *mark* is not in the files; *first* describes the first occurrence."""
        self.leftovers.add(mark, what, count, first)

    def note_missing_parts(
        self,
        suite: Suite,
        profile: Profile | None,
        *,
        carried: Collection[str] = (),
    ) -> None:
        """
        Note what the files do not hold of *suite*.

        Args:
            suite: The exported suite.
            profile: The profile that reproduces the other system's scores; None if it computes none.
            carried: Keys of the suite's queries that the files hold besides texts and judgments.
        """
        if suite.profile is not profile:
            rules = f"; the system has those of '{profile}'" if profile else ""
            self.add_leftover(suite.mark, f"'profile: {suite.profile}'{rules}")
        if suite.gain != profile_gain(suite.profile):
            self.add_leftover(suite.mark, f"'gain: {suite.gain}'")
        measures = [measure.text for measure in common_measures(suite)]
        if measures:
            self.add_leftover(suite.mark, f"'measures' {', '.join(measures)}")
        for name, request in suite.requests.items():
            self.add_leftover(request.mark, f"the request {name!r}")
        self._note_keys(suite)
        self._note_queries(suite, carried)

    def _note_keys(self, suite: Suite) -> None:
        """Note the keys of *suite* that no format has."""
        values = {
            "target": suite.target.index,
            "id_field": suite.target.id_field,
            "display.title": suite.display.title,
            "display.fields": suite.display.fields,
            "display.image": suite.display.image,
            "display.link": suite.display.link,
            "guidelines": suite.guidelines,
            "description of grades": suite.grade_descriptions,
            "undefined: skip": suite.skip_undefined,
            "baseline: optional": suite.baseline_optional,
            "markers": suite.markers,
            "grades": suite.grades,
            "fixture": suite.fixture,
        }
        for key, value in values.items():
            if value:
                self.add_leftover(suite.mark, repr(key))
        if suite.thresholds:
            self.add_leftover(suite.thresholds[0].mark, "'thresholds'", len(suite.thresholds))
        if suite.ungraded:
            self.add_leftover(suite.mark, "documents without a grade", suite.ungraded)

    def _note_queries(self, suite: Suite, carried: Collection[str]) -> None:
        defaults = {
            "need": "",
            "nothing": False,
            "tags": (),
            "params": {},
            "weight": 1.0,
            "xfail": None,
            "skip": None,
            "markers": (),
        }
        for key, default in defaults.items():
            queries = [query for query in suite.queries if getattr(query, key) != default]
            if queries and key not in carried:
                self.add_leftover(queries[0].mark, f"{key!r} of queries", len(queries))
        thresholds: list[Threshold] = []
        for query in suite.queries:
            thresholds += query.thresholds
        if thresholds:
            self.add_leftover(thresholds[0].mark, "thresholds and expectations of single queries", len(thresholds))
