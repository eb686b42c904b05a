"""Judgments from the suite and from its files, joined to their queries; names of grades, gains, and who judges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import InputError, MeasureError, Problem, UndefinedScore, UsageError
from harness.files.judgments import find_judgment_lines, find_query_line, read_judgments
from harness.files.opening import Record, add_excerpts
from harness.metrics import is_of_novelty, score_query
from harness.metrics.measures import get_measure
from harness.metrics.profiles import profile_gain
from harness.metrics.ranking import finite
from harness.model.suite import PEOPLE, Gain, GainKind, Mark, Measure, Profile, Query, Threshold, select_tagged
from harness.suites.files import NamedFile
from harness.suites.shape import GradeShape, JudgmentFilesShape
from harness.suites.yaml import Problems, ScalarNode, describe, resolve_number
from harness.words import did_you_mean, format_exactly, list_repeated, listed

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
        first_grade = self.grades.setdefault(query, {}).setdefault(document, grade)
        first = self.inline.setdefault((query, document), mark)
        # The grade of a variable without a value is NaN.
        is_unknown = math.isnan(first_grade) or math.isnan(grade)
        if first is not mark and first_grade != grade and not is_unknown:
            self.problems.note(
                mark, f"document {document!r} is judged twice for query {query!r}, first at {first}", "duplicate"
            )

    def add_file(
        self,
        file: NamedFile,
        queries: Mapping[str, str],
        names: Mapping[str, float],
        *,
        strict: bool,
        skip_ungraded: bool = False,
    ) -> None:
        """
        Add a judgment file.

        Args:
            file: What to read.
            queries: The ids of the suite's, each with its text.
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
        other_queries = [query for query in judgments if query not in queries]
        if strict and other_queries:
            self._note_other_queries(file, other_queries, queries)
        elif other_queries and len(other_queries) == len(judgments):
            # A file for more queries than the suite's has none of them: its ids may be the texts.
            texts = _find_texts(other_queries, queries)
            if texts:
                self._note_texts(file, texts)
        for query in other_queries:
            del judgments[query]
        repeated = self._merge(judgments)
        if repeated:
            self._note_repeated(file, repeated)
        self.files.append(file)

    def _merge(self, judgments: dict[str, dict[str, float]]) -> list[tuple[str, str]]:
        """Add a file's judgments; returns those that were judged before, which are not changed."""
        # Most suites have one judgment file, which may have millions of lines: it is not copied.
        if not self.grades:
            self.grades = judgments
            return []
        repeated: list[tuple[str, str]] = []
        for query, grades in judgments.items():
            grades_before = self.grades.get(query, {})
            repeated += [(query, document) for document in grades if document in grades_before]
            self.grades[query] = grades | grades_before
        return repeated

    def _note_other_queries(self, file: NamedFile, other_queries: list[str], queries: Mapping[str, str]) -> None:
        texts = _find_texts(other_queries, queries)
        if texts:
            self._note_texts(file, texts)
        unknown = [query for query in other_queries if query not in texts]
        if unknown:
            shown = listed(list(map(repr, unknown)), 5)
            remedy = "'judgments: {files: …, other_queries: ignore}' leaves them out"
            message = f"the suite has no query {shown}{did_you_mean(unknown[0], queries)}; {remedy}"
            self._note_at_query(file, unknown[0], message)

    def _note_texts(self, file: NamedFile, texts: Mapping[str, str]) -> None:
        """Note that *file* has *texts* of queries, each with its id, where ids belong."""
        shown = listed([f"{text!r} is the text of the query {query!r}" for text, query in texts.items()], 5)
        self._note_at_query(file, next(iter(texts)), f"{shown}; expected the ids of queries in their place")

    def _note_at_query(self, file: NamedFile, query: str, message: str) -> None:
        """Note *message* where *file* first names *query*."""
        # 0 in a file that can be read only once: the problem is then one of the whole file, which has no column either.
        line = find_query_line(file.path, query, name=file.name)
        column = 1 if line else 0
        self._note_in(file, [Problem(file.name, line, column, message)])

    def note(self, sentences: Mapping[tuple[str, str], str]) -> None:
        """Note a sentence about each judgment, by query and document, at its place."""
        for pair, sentence in sentences.items():
            if pair in self.inline:
                self.problems.note(self.inline[pair], sentence)
        pairs = sentences.keys() - self.inline.keys()
        if not pairs:
            return
        for file in self.files:
            lines = find_judgment_lines(file.path, pairs, name=file.name)
            self._note_in(file, [Problem(file.name, line, 1, sentences[pair]) for pair, line in lines.items()])

    def _note_repeated(self, file: NamedFile, repeated: list[tuple[str, str]]) -> None:
        """Note the judgments of *file* that were judged before, each with its first place."""
        pairs = set(repeated)
        first_places = {pair: mark for pair, mark in self.inline.items() if pair in pairs}
        for earlier_file in self.files:
            for pair, line in find_judgment_lines(earlier_file.path, pairs, name=earlier_file.name).items():
                first_places.setdefault(pair, Mark(earlier_file.name, line, 1))
        lines = find_judgment_lines(file.path, pairs, name=file.name)
        problems = []
        for pair in repeated[:_MOST_SHOWN]:
            query, document = pair
            place = first_places.get(pair, Mark(file.name))
            message = f"document {document!r} is judged twice for query {query!r}, first at {place}"
            problems.append(Problem(file.name, lines.get(pair, 0), 1, message))
        if len(repeated) > _MOST_SHOWN:
            message = f"{len(repeated)} documents are judged twice, of which the first {_MOST_SHOWN} are shown"
            problems.append(Problem(file.name, 0, 0, message))
        self._note_in(file, problems)

    def _note_in(self, file: NamedFile, problems: list[Problem]) -> None:
        self.problems.extend(add_excerpts(file.path, problems))


def _find_texts(names: Iterable[str], queries: Mapping[str, str]) -> dict[str, str]:
    """Those of *names* that are the text of one of *queries* but for case and blanks, each with the query's id."""
    ids_by_text: dict[str, str] = {}
    for query, text in queries.items():
        ids_by_text.setdefault(_fold_text(text), query)
    texts = {}
    for name in names:
        folded = _fold_text(name)
        if folded in ids_by_text:
            texts[name] = ids_by_text[folded]
    return texts


def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split())


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The *paths* under `judgments`; *strict* refuses other queries, *skip_ungraded* leaves out what has no grade."""

    paths: Sequence[ScalarNode] = ()
    strict: bool = True
    skip_ungraded: bool = False


def list_judgment_files(shape: Any) -> WrittenFiles:
    """The value of `judgments`: nothing, a path, several, or a mapping."""
    if shape is None:
        return WrittenFiles()
    if isinstance(shape, JudgmentFilesShape):
        paths = list_judgment_files(shape.files).paths
        return WrittenFiles(paths, strict=shape.other_queries == "refuse", skip_ungraded=shape.ungraded == "ignore")
    if isinstance(shape, ScalarNode):
        return WrittenFiles([shape])
    return WrittenFiles(shape)


GREATEST_EXPONENTIAL = 1000.0
"""The greatest grade for 2^grade - 1; a 64-bit float overflows above 1023."""


def read_grade_names(grades: Mapping[ScalarNode, float | GradeShape], problems: Problems) -> dict[str, float]:
    """The grades by name; a name must not look like a number."""
    names: dict[str, float] = {}
    for name, written in grades.items():
        if resolve_number(name) is not None or not name.strip():
            problems.note(name.mark, f"found {str(name)!r} as the name of a grade, expected a word such as good")
        names[str(name)] = written.grade if isinstance(written, GradeShape) else written
    return names


def read_grade_descriptions(grades: Mapping[ScalarNode, float | GradeShape]) -> dict[float, str]:
    """The descriptions of grades, by grade; of two names for one grade, the first description counts."""
    descriptions: dict[float, str] = {}
    for written in grades.values():
        if isinstance(written, GradeShape) and written.description is not None:
            descriptions.setdefault(written.grade, str(written.description))
    return descriptions


def read_judges(written: Sequence[ScalarNode], problems: Problems) -> tuple[str, ...]:
    """The value of `judges`; a name that stands there twice is a problem."""
    names = [str(name) for name in written]
    for repeated in list_repeated(names):
        second = [name for name in written if name == repeated][1]
        problems.note(second.mark, f"the judge {repeated!r} is named twice", "duplicate")
    return tuple(names) or (PEOPLE,)


def read_written_grade(written: ScalarNode, names: Mapping[str, float] | None, problems: Problems) -> float | None:
    """
    The grade that is written, by number or by name; None with a problem if it is neither.

    *names* is None if the suite's own are invalid; then every name is accepted. NaN represents a variable that is not
    set yet.
    """
    if written.unset:
        return math.nan
    number = resolve_number(written) if written.plain or written.whole else None
    # YAML writes .inf and .nan. Without the dot they would be taken for the name of a grade.
    if number is None and written.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        number = math.inf
    if number is not None:
        if finite(number) is not None:
            return float(number)
        problems.note(written.mark, f"found {describe(written)}, expected a finite grade")
        return None
    if names is None:
        return math.nan
    if written in names:
        return names[written]
    expected = f"expected a number or one of {', '.join(names)}" if names else "expected a number"
    problems.note(written.mark, f"found {describe(written)} as a grade, {expected}{did_you_mean(written, names)}")
    return None


def read_gain(written: Any, names: Mapping[str, float], profile: Profile, problems: Problems) -> Gain:
    """The suite's gain: by name, a map, or its profile's."""
    if written is None:
        return profile_gain(profile)
    if isinstance(written, str):
        return Gain(GainKind(written))
    gains: dict[float, float] = {}
    marks: dict[float, Mark] = {}
    for key, gain in written.items():
        grade = read_written_grade(key, names, problems)
        if grade is None:
            continue
        if grade in gains:
            first = marks[grade]
            message = (
                f"grade {format_exactly(grade)} has two gains, the first in line {first.line}, column {first.column}"
            )
            problems.note(key.mark, message)
        gains[grade], marks[grade] = gain, key.mark
    return Gain(GainKind.MAP, tuple(sorted(gains.items())))


def check_gain(gain: Gain, mark: Mark, queries: Sequence[Query], problems: Problems) -> None:
    """Check that the suite's gain is defined for every grade in use; *mark* is its place."""
    sentence = _find_gain_problem(gain, queries)
    if sentence:
        problems.note(mark, sentence)


@dataclass(frozen=True, slots=True)
class ScoredMeasure:
    """A measure, the *mark* of what names it, and the *queries* that it scores there."""

    measure: Measure
    mark: Mark
    queries: Sequence[Query]


def list_scored_measures(queries: Sequence[Query], thresholds: Iterable[Threshold]) -> list[ScoredMeasure]:
    """The measures of *thresholds*, which are about *queries* or those of a tag."""
    scored = []
    for threshold in thresholds:
        measure = get_measure(threshold)
        if measure is not None:
            scope = queries if threshold.tag is None else select_tagged(queries, threshold.tag)
            scored.append(ScoredMeasure(measure, threshold.mark, scope))
    return scored


def check_measure_gains(measures: Iterable[ScoredMeasure], problems: Problems) -> None:
    """Check that the gain in a measure's own text is defined for every grade of its queries."""
    for scored in measures:
        gain = dict(scored.measure.parameters).get("gain")
        if isinstance(gain, Gain):
            sentence = _find_gain_problem(gain, scored.queries)
            if sentence:
                problems.note(scored.mark, f"{scored.measure}: {sentence}")


def check_measures(measures: Iterable[ScoredMeasure], gain: Gain, profile: Profile, problems: Problems) -> None:
    """
    Check that each measure can score its queries: for example, no grade is above its scale.

    The measure scores a ranking of the best and the worst document of each query, once for queries with equal grades.
    """
    for scored in measures:
        sentences: dict[tuple[float, ...], str | None] = {}
        is_of_quotes = is_of_novelty(scored.measure)
        if is_of_quotes and scored.queries and not any(query.quotes for query in scored.queries):
            problems.note(scored.mark, f"{scored.measure} needs 'quotes', and no query that it scores has any")
            continue
        for query in scored.queries:
            # A measure of quotes takes any grade that has a gain.
            grades = () if is_of_quotes else tuple(sorted(query.judgments.values()))
            if grades not in sentences:
                sentences[grades] = _explain_refusal(scored.measure, grades, gain, profile)
            sentence = sentences[grades]
            if sentence:
                problems.note(scored.mark, f"{scored.measure} cannot score query {query.id!r}: {sentence}")
                break


def _explain_refusal(measure: Measure, grades: Sequence[float], gain: Gain, profile: Profile) -> str | None:
    """Why *measure* cannot score documents of *grades*, in ascending order."""
    if not grades or any(map(math.isnan, grades)):
        return None
    judgments = {str(place): grade for place, grade in enumerate(grades)}
    best, worst = str(len(grades) - 1), "0"
    ranking = [best] if best == worst else [best, worst]
    try:
        score_query(measure, ranking, judgments, gain=gain, profile=profile)
    except UndefinedScore:
        return None
    except (MeasureError, UsageError) as error:
        return str(error)
    return None


def _find_gain_problem(gain: Gain, queries: Sequence[Query]) -> str | None:
    """A sentence about the grades in use without a gain, with one document for each."""
    if gain.kind is GainKind.LINEAR:
        return None
    mapped = {grade for grade, _ in gain.table}
    uses: dict[float, str] = {}
    for query in queries:
        for document, grade in query.judgments.items():
            has_gain = grade in mapped if gain.kind is GainKind.MAP else grade <= GREATEST_EXPONENTIAL
            if not has_gain and not math.isnan(grade):
                uses.setdefault(grade, f"grade {format_exactly(grade)}, given to {document!r} for query {query.id!r}")
        for quote in query.quotes:
            has_gain = quote.grade in mapped if gain.kind is GainKind.MAP else quote.grade <= GREATEST_EXPONENTIAL
            if not has_gain and not math.isnan(quote.grade):
                described = f"grade {format_exactly(quote.grade)}, given to a quote of query {query.id!r}"
                uses.setdefault(quote.grade, described)
    if not uses:
        return None
    shown = "; ".join(uses[grade] for grade in sorted(uses)[:5])
    if gain.kind is GainKind.MAP:
        return f"the gain map has no gain for {shown}"
    return f"an exponential gain cannot be computed for {shown}; grades go up to {GREATEST_EXPONENTIAL:g}"
