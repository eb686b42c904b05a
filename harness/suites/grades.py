"""Judgments from the suite and from its files, joined to their queries; names of grades, and gains."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import InputError, MeasureError, Problem, UndefinedScore, UsageError
from harness.files.judgments import judgment_lines, query_line, read_judgments
from harness.files.opening import Record, add_excerpts
from harness.metrics import score_query
from harness.metrics.profiles import profile_gain
from harness.metrics.ranking import finite
from harness.metrics.score import measure_named
from harness.model import Gain, GainKind, Mark, Measure, Profile, Query, select_tagged
from harness.suites.reading import NamedFile
from harness.suites.shape import JudgmentFilesShape
from harness.suites.yaml import Problems, ScalarNode, describe, resolve_number
from harness.words import did_you_mean, listed

_MOST_SHOWN = 20


@dataclass(slots=True)
class Judgments:
    """
    The judgments so far, query to document to grade.

    *inline* has the places of judgments in the suite itself. The places of judgments in files are looked up if needed,
    so that nothing is kept for each of their lines. *named* are all files, including those that cannot be read.
    *ungraded* counts the documents in files that have no grade yet and are left out.
    """

    problems: Problems
    grades: dict[str, dict[str, float]] = field(default_factory=dict)
    inline: dict[tuple[str, str], Mark] = field(default_factory=dict)
    files: list[NamedFile] = field(default_factory=list)
    named: list[NamedFile] = field(default_factory=list)
    ungraded: int = 0

    def add_inline(self, query: str, document: str, grade: float, mark: Mark) -> None:
        """Add a judgment written with its query; if a query file and the suite both have it, they must agree."""
        known = self.grades.setdefault(query, {}).setdefault(document, grade)
        first = self.inline.setdefault((query, document), mark)
        if first is not mark and known != grade and not math.isnan(known + grade):
            self.problems.note(mark, f"document {document!r} is judged twice for query {query!r}, first at {first}")

    def add_file(
        self,
        file: NamedFile,
        queries: Collection[str],
        names: Mapping[str, float],
        *,
        strict: bool,
        skip_ungraded: bool = False,
    ) -> None:
        """
        Add a judgment file.

        Args:
            file: What to read.
            queries: The ids of the suite's.
            names: Names of grades.
            strict: Whether judgments for other queries are a problem; else they are left out.
            skip_ungraded: Whether documents without a grade are left out and counted; else they are a problem.
        """
        self.named.append(file)
        ungraded: list[Record] | None = [] if skip_ungraded else None
        try:
            judgments = read_judgments(file.path, name=file.name, grade_names=names, ungraded=ungraded)
        except InputError as error:
            self.problems.extend(error.problems)
            return
        self.ungraded += sum(record.query in queries for record in ungraded or ())
        others = [query for query in judgments if query not in queries]
        if strict and others:
            self._note_other_queries(file, others, queries)
        for query in others:
            del judgments[query]
        twice: list[tuple[str, str]] = []
        if self.grades:
            twice = [pair for query in judgments for pair in self._join(query, judgments[query])]
        else:
            self.grades = judgments
        if twice:
            self._note_repeated(file, twice)
        self.files.append(file)

    def _join(self, query: str, judged: dict[str, float]) -> list[tuple[str, str]]:
        """Add a file's judgments of one query; returns those that were judged before, which are not changed."""
        known = self.grades.get(query)
        if not known:
            self.grades[query] = judged
            return []
        twice = [(query, document) for document in judged if document in known]
        self.grades[query] = judged | known
        return twice

    def _note_other_queries(self, file: NamedFile, others: list[str], queries: Iterable[str]) -> None:
        line = query_line(file.path, others[0], name=file.name)
        shown = listed(list(map(repr, others)), 5)
        remedy = "'judgments: {files: …, other_queries: ignore}' leaves them out"
        message = f"the suite has no query {shown}{did_you_mean(others[0], queries)}; {remedy}"
        self._note_in(file, [Problem(file.name, line, 1 if line else 0, message)])

    def note(self, sentences: Mapping[tuple[str, str], str]) -> None:
        """Note a sentence about each judgment, by query and document, at its place."""
        for pair, sentence in sentences.items():
            if pair in self.inline:
                self.problems.note(self.inline[pair], sentence)
        wanted = sentences.keys() - self.inline.keys()
        for file in self.files if wanted else ():
            lines = judgment_lines(file.path, wanted, name=file.name)
            self._note_in(file, [Problem(file.name, line, 1, sentences[pair]) for pair, line in lines.items()])

    def _note_repeated(self, file: NamedFile, twice: list[tuple[str, str]]) -> None:
        wanted = set(twice)
        first: dict[tuple[str, str], Mark] = {}
        for earlier in self.files:
            for pair, line in judgment_lines(earlier.path, wanted, name=earlier.name).items():
                first.setdefault(pair, Mark(earlier.name, line, 1))
        here = judgment_lines(file.path, wanted, name=file.name)
        problems = []
        for query, document in twice[:_MOST_SHOWN]:
            place = self.inline.get((query, document)) or first.get((query, document), Mark(file.name))
            message = f"document {document!r} is judged twice for query {query!r}, first at {place}"
            problems.append(Problem(file.name, here.get((query, document), 0), 1, message))
        if len(twice) > _MOST_SHOWN:
            more = f"{len(twice)} documents are judged twice, of which the first {_MOST_SHOWN} are shown"
            problems.append(Problem(file.name, 0, 0, more))
        self._note_in(file, problems)

    def _note_in(self, file: NamedFile, problems: list[Problem]) -> None:
        self.problems.extend(add_excerpts(file.path, problems))


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The *paths* under `judgments`; *strict* refuses other queries, *skip_ungraded* leaves out what has no grade."""

    paths: Sequence[ScalarNode] = ()
    strict: bool = True
    skip_ungraded: bool = False


def judgment_files(shape: Any) -> WrittenFiles:
    """The value of `judgments`: nothing, a path, several, or a mapping."""
    if shape is None:
        return WrittenFiles()
    if isinstance(shape, JudgmentFilesShape):
        paths = judgment_files(shape.files).paths
        return WrittenFiles(paths, shape.other_queries == "refuse", shape.ungraded == "ignore")
    return WrittenFiles((shape,) if isinstance(shape, ScalarNode) else shape)


GREATEST_EXPONENTIAL = 1000.0
"""The greatest grade for 2^grade - 1; a 64-bit float overflows above 1023."""


def read_grade_names(grades: Mapping[ScalarNode, float], problems: Problems) -> dict[str, float]:
    """The grades by name; a name must not look like a number."""
    names: dict[str, float] = {}
    for name, grade in grades.items():
        if resolve_number(name) is not None or not name.strip():
            problems.note(name.mark, f"found {str(name)!r} as the name of a grade, expected a word such as good")
        names[str(name)] = grade
    return names


def read_written_grade(written: ScalarNode, names: Mapping[str, float] | None, problems: Problems) -> float | None:
    """
    The grade that is written, by number or by name; None with a problem if it is neither.

    *names* is None if the suite's own are invalid; then every name is accepted. NaN represents a variable that is not
    set yet.
    """
    if written.unset:
        return math.nan
    number = resolve_number(written) if written.plain or written.whole else None
    if number is None and written.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        number = math.inf
    if number is not None:
        if finite(number) is not None:
            return float(number)
        problems.note(written.mark, f"found {describe(written)}, expected a finite grade")
    elif names is None:
        return math.nan
    elif written in names:
        return names[written]
    else:
        known = f"expected a number or one of {', '.join(names)}" if names else "expected a number"
        problems.note(written.mark, f"found {describe(written)} as a grade, {known}{did_you_mean(written, names)}")
    return None


def read_gain(written: Any, names: Mapping[str, float], profile: Profile, problems: Problems) -> Gain:
    """The suite's gain: by name, a map, or its profile's."""
    if written is None:
        return profile_gain(profile)
    if isinstance(written, str):
        return Gain(GainKind(written))
    table: dict[float, tuple[float, ScalarNode]] = {}
    for key, gain in written.items():
        grade = read_written_grade(key, names, problems)
        if grade is None:
            continue
        if grade in table:
            first = table[grade][1].mark
            problems.note(
                key.mark, f"grade {grade:g} has two gains, the first in line {first.line}, column {first.column}"
            )
        table[grade] = (gain, key)
    return Gain(GainKind.MAP, tuple(sorted((grade, gain) for grade, (gain, _) in table.items())))


def check_gain(gain: Gain, mark: Mark, queries: Sequence[Query], problems: Problems) -> None:
    """Check that the suite's gain is defined for every grade in use; *mark* is its place."""
    sentence = _gap(gain, queries)
    if sentence:
        problems.note(mark, sentence)


def check_measure_gains(measures: Iterable[tuple[Measure, Mark, Sequence[Query]]], problems: Problems) -> None:
    """Check that the gain in a measure's own text is defined for every grade of its queries."""
    for measure, mark, queries in measures:
        gain = dict(measure.parameters).get("gain")
        sentence = _gap(gain, queries) if isinstance(gain, Gain) else None
        if sentence:
            problems.note(mark, f"{measure}: {sentence}")


def check_measures(
    measures: Iterable[tuple[Measure, Mark, Sequence[Query]]], gain: Gain, profile: Profile, problems: Problems
) -> None:
    """
    Check that each measure can score its queries: for example, no grade is above its scale.

    The measure scores a ranking of the best and the worst document of each query, once for queries with equal grades.
    """
    for measure, mark, queries in measures:
        known: dict[tuple[float, ...], str | None] = {}
        for query in queries:
            grades = tuple(sorted(query.judgments.values()))
            if grades not in known:
                known[grades] = _refusal(measure, grades, gain, profile)
            sentence = known[grades]
            if sentence:
                problems.note(mark, f"{measure} cannot score query {query.id!r}: {sentence}")
                break


def measures_of(queries: Sequence[Query], thresholds: Iterable[Any]) -> list[tuple[Measure, Mark, Sequence[Query]]]:
    """Each measure of *thresholds*, its place, and the queries that it scores there."""
    return [
        (measure, threshold.mark, queries if threshold.tag is None else select_tagged(queries, threshold.tag))
        for threshold in thresholds
        if (measure := measure_named(threshold)) is not None
    ]


def _refusal(measure: Measure, grades: Sequence[float], gain: Gain, profile: Profile) -> str | None:
    """Why *measure* cannot score documents of *grades*, in ascending order."""
    if not grades or any(map(math.isnan, grades)):
        return None
    judged = {str(place): grade for place, grade in enumerate(grades)}
    try:
        score_query(measure, list(dict.fromkeys([str(len(grades) - 1), "0"])), judged, gain=gain, profile=profile)
    except UndefinedScore:
        return None
    except (MeasureError, UsageError) as error:
        return str(error)
    return None


def _gap(gain: Gain, queries: Sequence[Query]) -> str | None:
    """A sentence about the grades in use without a gain, with one document for each."""
    if gain.kind is GainKind.LINEAR:
        return None
    covered = {grade for grade, _ in gain.table}
    uncovered: dict[float, str] = {}
    for query in queries:
        for document, grade in query.judgments.items():
            if not math.isnan(grade) and not _covers(gain.kind, covered, grade):
                uncovered.setdefault(grade, f"grade {grade:g}, given to {document!r} for query {query.id!r}")
    if not uncovered:
        return None
    uses = "; ".join(uncovered[grade] for grade in sorted(uncovered)[:5])
    if gain.kind is GainKind.MAP:
        return f"the gain map has no gain for {uses}"
    return f"an exponential gain cannot be computed for {uses}; grades go up to {GREATEST_EXPONENTIAL:g}"


def _covers(kind: GainKind, covered: set[float], grade: float) -> bool:
    if kind is GainKind.MAP:
        return grade in covered
    return grade <= GREATEST_EXPONENTIAL
