"""
Whose grades are the judgments of a suite: those of people, which stand in its files of judgments, and those of
machines, each in a file of its own beside the suite; and the sample of queries that people grade.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.agreement import group_by_query
from harness.errors import InputError, Problem, UsageError
from harness.extensions import Remedy, find_remedy
from harness.files.beside import BesideFile
from harness.files.judge_files import (
    JudgeFile,
    build_judge_path,
    describe_outdated,
    fingerprint_questions,
)
from harness.files.query_samples import build_sample_path, fingerprint_population, is_drawn, read_sample
from harness.model.suite import PEOPLE, GainKind, KappaCondition, Mark, Query, QuerySample, Suite
from harness.suites.nothing import describe_right_result, is_right
from harness.words import format_exactly

if TYPE_CHECKING:
    from harness.suites.loading import LoadedSuite


def read_machine_files(loaded: LoadedSuite, *, is_required: bool) -> dict[str, JudgeFile]:
    """
    The files of the machines that *loaded* names in `judges` or whose kappa it requires, by name.

    What is wrong with them is added to the problems of *loaded*. *is_required*: whether a machine must have graded
    something.
    """
    files: dict[str, JudgeFile] = {}
    machines = _find_machines(loaded)
    if not machines or not loaded.knows_queries:
        return files
    problems = loaded.reading.problems
    questions = fingerprint_questions(loaded.find_as_written())
    for name, mark in machines.items():
        try:
            file = JudgeFile.read(build_judge_path(loaded.path, name), questions, loaded.suite.roots)
        except UsageError as error:
            problems.note(mark, str(error))
            continue
        except InputError as error:
            problems.extend(error.problems)
            continue
        if file.answers and not file.is_machine:
            message = f"the grades of {name!r} in {file.path} are a person's, who counts under '{PEOPLE}'"
            problems.note(mark, message)
        elif is_required and not file.grades and not file.outdated:
            remedy = find_remedy(Remedy.ASK_MACHINE, "; `{command}` asks it", suite=str(loaded.path), judge=name)
            message = f"{name!r} has graded nothing in {file.path}, and only machines are named here"
            problems.note(mark, f"{message}: people count under '{PEOPLE}'{remedy}")
        else:
            problems.extend(_find_off_scale(file, loaded.suite))
            problems.extend(_find_right_results(file, loaded.suite))
            problems.extend(_find_missing_end(file))
            files[name] = file
    return files


def _find_machines(loaded: LoadedSuite) -> dict[str, Mark]:
    """The machines that *loaded* names, each with its first place."""
    machines: dict[str, Mark] = {}
    for name in loaded.reading.shape.judges:
        if name != PEOPLE:
            machines.setdefault(str(name), name.mark)
    for threshold in loaded.all_thresholds:
        if isinstance(threshold.condition, KappaCondition):
            machines.setdefault(threshold.condition.machine, threshold.mark)
    return machines


def _find_missing_end(file: JudgeFile) -> tuple[Problem, ...]:
    """The problem of a *file* whose end is missing: a kappa and shares over a part of the grades say nothing."""
    try:
        file.check_whole()
    except InputError as error:
        return tuple(error.problems)
    return ()


def _find_off_scale(file: JudgeFile, suite: Suite) -> list[Problem]:
    """The lines of *file* with a grade that the suite's names, or its gains, do not have."""
    scale = set(suite.grades.values())
    if not scale and suite.gain.kind is GainKind.MAP:
        scale = {grade for grade, _ in suite.gain.table}
    expected = ", ".join(format_exactly(grade) for grade in sorted(scale))
    problems = []
    for pair, grade in file.grades.items():
        if scale and grade not in scale:
            query, document = pair
            message = (
                f"found grade {format_exactly(grade)} of document {document!r} for query {query!r}, "
                f"expected one of {expected}"
            )
            problems.append(Problem(str(file.path), file.lines[pair], 1, message))
    return problems


def _find_right_results(file: JudgeFile, suite: Suite) -> list[Problem]:
    """The lines of *file* that find a document right for a query for which the suite says that no result is."""
    queries = {query.id for query in suite.queries if query.nothing}
    problems = []
    for (query, document), grade in file.grades.items():
        if query in queries and is_right(suite.gain, grade):
            message = describe_right_result(query, document, grade)
            problems.append(Problem(str(file.path), file.lines[query, document], 1, message))
    return problems


def add_machine_grades(suite: Suite, files: Mapping[str, JudgeFile]) -> Suite:
    """*suite* with the grades of *files*, in the order of its `judges`."""
    grades_by_query: dict[str, dict[str, dict[str, float]]] = {}
    for machine, file in files.items():
        for query, grades in group_by_query(file.grades).items():
            grades_by_query.setdefault(query, {})[machine] = grades
    queries = [_combine_grades(query, suite.judges, grades_by_query.get(query.id, {})) for query in suite.queries]
    return replace(suite, queries=tuple(queries), judge_notes=tuple(describe_outdated(files)))


def _combine_grades(query: Query, judges: Sequence[str], by_machine: Mapping[str, Mapping[str, float]]) -> Query:
    """*query* with the grade of each document by the first of *judges* who graded it."""
    judgments: dict[str, float] = {}
    by_machines: set[str] = set()
    for judge in judges:
        grades = query.judgments if judge == PEOPLE else by_machine.get(judge, {})
        for document, grade in grades.items():
            if document in judgments:
                continue
            judgments[document] = grade
            if judge != PEOPLE:
                by_machines.add(document)
    return replace(
        query,
        judgments=judgments,
        people_grades=query.judgments,
        machine_grades=by_machine,
        machine_graded=frozenset(by_machines),
    )


def read_needed_sample(loaded: LoadedSuite, *, is_required: bool) -> QuerySample | None:
    """
    The sample of queries from which thresholds of *loaded* are estimated; None if none is.

    What is wrong is added to the problems of *loaded*. *is_required*: whether a sample must have been drawn.
    """
    estimated = next((threshold for threshold in loaded.all_thresholds if threshold.is_estimated), None)
    if estimated is None or not loaded.knows_queries or not loaded.are_sound("judges"):
        return None
    problems, suite = loaded.reading.problems, loaded.suite
    if all(judge == PEOPLE for judge in suite.judges):
        problems.note(estimated.mark, "an estimate needs a machine's grades of all queries; name one in 'judges'")
        return None
    path = build_sample_path(loaded.path)
    if not BesideFile(path).exists():
        if is_required:
            remedy = find_remedy(
                Remedy.DRAW_SAMPLE, "; `{command}` draws one", suite=str(loaded.path), size="N", seed="S"
            )
            problems.note(estimated.mark, f"an estimate needs a sample, and {path} does not exist{remedy}")
        return None
    try:
        sample = read_sample(path, suite.roots)
    except InputError as error:
        problems.extend(error.problems)
        return None
    if is_required and sample.population != fingerprint_population(query.id for query in suite.queries):
        remedy = find_remedy(
            Remedy.DRAW_SAMPLE, "; draw another with `{command}`", suite=str(loaded.path), size="N", seed="S"
        )
        message = f"the sample was drawn from other queries than the suite has now{remedy}"
        problems.extend([Problem(str(path), 0, 0, message)])
    elif is_required and not is_drawn(sample, [query.id for query in suite.queries]):
        remedy = find_remedy(
            Remedy.DRAW_SAMPLE, "; draw them with `{command}`", suite=str(loaded.path), size="N", seed="S"
        )
        message = f"found other queries than seed {sample.seed} draws, expected those{remedy}"
        problems.extend([Problem(str(path), 0, 0, message)])
    return sample
