"""A suite with every judgment that it and its files hold, also those for which it could not run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from harness.errors import InputError, Problem
from harness.files.judgments import read_grade
from harness.files.opening import JUDGMENTS, Findings, Form, form_of
from harness.files.records import check_ids, read_records
from harness.judging.findings import JudgedSuite, PlacedJudgment
from harness.model import FindingKind, JudgmentFinding, Mark
from harness.suites.fixtures import FixtureFile
from harness.suites.judgments import judgment_files, read_written_grade
from harness.suites.loading import LoadedSuite, load_unchecked
from harness.suites.reading import NamedFile
from harness.suites.yaml import ListNode, MappingNode, Repeat, Written, describe


def read_judged(path: Path, environ: Mapping[str, str] | None) -> tuple[JudgedSuite, FixtureFile | None]:
    """
    Read a suite for a look at its judgments, with what its fixture brings along.

    Args:
        path: The suite file.
        environ: Where variables are taken from; None leaves them as they are.

    Raises:
        SuiteError: Something else than the judgments is wrong; a document that stands twice for a query is not.
    """
    loaded = load_unchecked(path, environ)
    repeats = list(_repeats(loaded.reading.root))
    loaded.require_sound(but=[repeat.problem for _, repeat in repeats])
    named = judgment_files(loaded.reading.shape.judgments)
    problems: list[Problem] = []
    judged = [*_inline(loaded), *_repeated(repeats, loaded)]
    for file in loaded.judgments.named:
        judged += _from_file(file, loaded.suite.grades, problems)
    problems += _told_by_the_loader(loaded)
    unreadable = tuple(
        JudgmentFinding(Mark(one.path, one.line, one.column), FindingKind.UNREADABLE, one.message) for one in problems
    )
    return JudgedSuite(loaded.suite, tuple(judged), unreadable, named.strict, named.skip_ungraded), loaded.fixture_file


def _inline(loaded: LoadedSuite) -> Iterator[PlacedJudgment]:
    judgments = loaded.judgments
    for (query, document), mark in judgments.inline.items():
        yield PlacedJudgment(query, document, judgments.grades[query][document], mark)


def _repeats(root: MappingNode) -> Iterator[tuple[str, Repeat]]:
    """What is judged once more in the judgments of a query of the suite itself, with the query's id."""
    queries = root.child("queries")
    for entry in queries if isinstance(queries, ListNode) else ():
        query, judged = (entry.child(key) if isinstance(entry, MappingNode) else None for key in ("id", "judgments"))
        if isinstance(query, Written) and isinstance(judged, MappingNode):
            yield from ((str(query), repeat) for repeat in judged.repeats)


def _repeated(repeats: Iterable[tuple[str, Repeat]], loaded: LoadedSuite) -> Iterator[PlacedJudgment]:
    for query, repeat in repeats:
        if not isinstance(repeat.value, Written):
            found = f"found {describe(repeat.value)} as a grade, expected a number or the name of a grade"
            loaded.judgments.problems.at(repeat.value.mark, found)
            continue
        grade = read_written_grade(repeat.value, loaded.suite.grades, loaded.judgments.problems)
        if grade is not None:
            yield PlacedJudgment(query, str(repeat.key), grade, repeat.key.mark)


def _from_file(file: NamedFile, names: Mapping[str, float], problems: list[Problem]) -> Iterator[PlacedJudgment]:
    """Each judgment of the file, twice where it stands twice; what is none goes to *problems*, all of it."""
    findings = Findings(file.name, most=sys.maxsize)
    known = {} if form_of(file.path) is Form.TREC else names
    try:
        for record in read_records(file.path, JUDGMENTS, findings):
            grade = None if record.value == "" else read_grade(record, known, findings)
            if check_ids(record, findings) and (grade is not None or record.value == ""):
                yield PlacedJudgment(record.query, record.document, grade, Mark(file.name, record.line, record.column))
    except InputError as error:
        problems.extend(error.problems)
    problems.extend(findings.problems)


def _told_by_the_loader(loaded: LoadedSuite) -> Iterator[Problem]:
    """
    What the loader found in the suite itself: grades that are none, and what judgments mean for a measure or a gain.

    What it says of a file, and of documents that the fixture lacks, is found again, and in full.
    """
    inline = {(mark.line, mark.column) for mark in loaded.judgments.inline.values()}
    for problem in loaded.judgments.problems.found:
        if problem.path == loaded.suite.path and problem.line and (problem.line, problem.column) not in inline:
            yield problem
