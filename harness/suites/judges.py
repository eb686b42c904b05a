"""
Whose grades are the judgments of a suite: those of people, which stand in its files of judgments, and those of
machines, each in a file of its own beside the suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import InputError, Problem, UsageError
from harness.files.judge_files import (
    JudgeFile,
    build_judge_path,
    describe_outdated,
    fingerprint_questions,
)
from harness.model import PEOPLE, GainKind, Query, Suite
from harness.suites.yaml import Problems, ScalarNode
from harness.words import format_exactly, list_repeated

if TYPE_CHECKING:
    from harness.suites.loading import LoadedSuite


def read_judges(written: Sequence[ScalarNode], problems: Problems) -> tuple[str, ...]:
    """The value of `judges`; a name that stands there twice is a problem."""
    names = [str(name) for name in written]
    for repeated in list_repeated(names):
        second = [name for name in written if name == repeated][1]
        problems.note(second.mark, f"the judge {repeated!r} is named twice")
    return tuple(names) or (PEOPLE,)


def read_machine_files(loaded: LoadedSuite, *, is_required: bool) -> dict[str, JudgeFile]:
    """
    The files of the machines that *loaded* names, by name; what is wrong with them is added to its problems.

    *is_required*: whether a machine must have graded something.
    """
    files: dict[str, JudgeFile] = {}
    machines = [name for name in loaded.reading.shape.judges if name != PEOPLE]
    if not machines or not loaded.knows_queries:
        return files
    questions = fingerprint_questions(loaded.find_as_written())
    for name in machines:
        problems = loaded.reading.problems
        try:
            file = JudgeFile.read(build_judge_path(loaded.path, name), questions)
        except UsageError as error:
            problems.note(name.mark, str(error))
            continue
        except InputError as error:
            problems.extend(error.problems)
            continue
        if file.answers and not file.is_machine:
            message = f"the grades of {str(name)!r} in {file.path} are a person's, who counts under '{PEOPLE}'"
            problems.note(name.mark, message)
        elif is_required and not file.grades and not file.outdated:
            command = f"`harness judge {loaded.path} --machine {name}`"
            problems.note(name.mark, f"the machine {str(name)!r} has graded nothing in {file.path}; {command} asks it")
        else:
            problems.extend(_find_off_scale(file, loaded.suite))
            files[str(name)] = file
    return files


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


def add_machine_grades(suite: Suite, files: Mapping[str, JudgeFile]) -> Suite:
    """*suite* with the grades of *files*, in the order of its `judges`."""
    if not files:
        return suite
    grades_by_query: dict[str, dict[str, dict[str, float]]] = {}
    for machine, file in files.items():
        for (query, document), grade in file.grades.items():
            grades_by_query.setdefault(query, {}).setdefault(machine, {})[document] = grade
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
