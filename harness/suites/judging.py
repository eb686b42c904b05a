"""Judgments from the suite and from its files, joined to their queries; none of them may say a thing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.errors import InputError, Problem, did_you_mean
from harness.files.judgments import judgment_lines, query_line, read_judgments
from harness.files.opening import Record, with_excerpts
from harness.model import Mark, Query
from harness.suites.files import NamedFile
from harness.suites.nodes import Written
from harness.suites.problems import Problems
from harness.suites.shape import JudgmentFilesShape

_MOST_TOLD = 20


@dataclass(slots=True)
class Judgments:
    """
    What is judged so far, query to document to grade.

    *inline* holds the places of what stands in the suite itself. What came from files is looked up again where a
    place is needed, so that nothing is kept for each of their lines. *named* are all files, also those that could not
    be read. *ungraded* counts the documents of files that have no grade yet and are left out.
    """

    problems: Problems
    grades: dict[str, dict[str, float]] = field(default_factory=dict)
    inline: dict[tuple[str, str], Mark] = field(default_factory=dict)
    files: list[NamedFile] = field(default_factory=list)
    named: list[NamedFile] = field(default_factory=list)
    ungraded: int = 0

    def add_inline(self, query: str, document: str, grade: float, mark: Mark) -> None:
        """Take in one judgment of the suite itself; the reader of the mapping has told documents that stand twice."""
        self.grades.setdefault(query, {})[document] = grade
        self.inline[query, document] = mark

    def add_file(
        self,
        file: NamedFile,
        queries: Mapping[str, Query],
        names: Mapping[str, float],
        *,
        strict: bool,
        skip_ungraded: bool = False,
    ) -> None:
        """
        Take in a judgment file.

        Args:
            file: What to read.
            queries: The suite's, by id.
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
            self._tell_others(file, others, queries)
        twice = [pair for query in judgments if query in queries for pair in self._join(query, judgments[query])]
        if twice:
            self._tell_twice(file, twice)
        self.files.append(file)

    def join_to(self, queries: Sequence[Query]) -> tuple[Query, ...]:
        """The queries, each with its judgments."""
        return tuple(replace(query, judgments=self.grades.get(query.id, {})) for query in queries)

    def _join(self, query: str, judged: dict[str, float]) -> list[tuple[str, str]]:
        """Add a file's judgments of one query; what was judged before is given back and stays as it was."""
        known = self.grades.get(query)
        if not known:
            self.grades[query] = judged
            return []
        twice = [(query, document) for document in judged if document in known]
        self.grades[query] = judged | known
        return twice

    def _tell_others(self, file: NamedFile, others: list[str], queries: Mapping[str, Query]) -> None:
        line = query_line(file.path, others[0], name=file.name)
        shown = ", ".join(map(repr, others[:5])) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        remedy = "'judgments: {files: …, other_queries: ignore}' leaves them out"
        message = f"the suite has no query {shown}{did_you_mean(others[0], queries)}; {remedy}"
        self._tell(file, [Problem(file.name, line, 1 if line else 0, message)])

    def tell(self, sentences: Mapping[tuple[str, str], str]) -> None:
        """Note a sentence about each judgment, by query and document, at the place where it stands."""
        for pair, sentence in sentences.items():
            if pair in self.inline:
                self.problems.at(self.inline[pair], sentence)
        wanted = sentences.keys() - self.inline.keys()
        for file in self.files if wanted else ():
            lines = judgment_lines(file.path, wanted, name=file.name)
            self._tell(file, [Problem(file.name, line, 1, sentences[pair]) for pair, line in lines.items()])

    def _tell_twice(self, file: NamedFile, twice: list[tuple[str, str]]) -> None:
        wanted = set(twice)
        first: dict[tuple[str, str], Mark] = {}
        for earlier in self.files:
            for pair, line in judgment_lines(earlier.path, wanted, name=earlier.name).items():
                first.setdefault(pair, Mark(earlier.name, line, 1))
        here = judgment_lines(file.path, wanted, name=file.name)
        told = []
        for query, document in twice[:_MOST_TOLD]:
            place = self.inline.get((query, document)) or first.get((query, document), Mark(file.name))
            message = f"document {document!r} is judged twice for query {query!r}, first at {place}"
            told.append(Problem(file.name, here.get((query, document), 0), 1, message))
        if len(twice) > _MOST_TOLD:
            more = f"{len(twice)} documents are judged twice, of which the first {_MOST_TOLD} are told"
            told.append(Problem(file.name, 0, 0, more))
        self._tell(file, told)

    def _tell(self, file: NamedFile, problems: list[Problem]) -> None:
        self.problems.extend(with_excerpts(file.path, problems))


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The *paths* under `judgments`; *strict* refuses other queries, *skip_ungraded* leaves out what has no grade."""

    paths: Sequence[Written] = ()
    strict: bool = True
    skip_ungraded: bool = False


def judgment_files(shape: Any) -> WrittenFiles:
    """What stands under `judgments`: nothing, a path, several, or a mapping that says more."""
    if shape is None:
        return WrittenFiles()
    if isinstance(shape, JudgmentFilesShape):
        paths = judgment_files(shape.files).paths
        return WrittenFiles(paths, shape.other_queries == "refuse", shape.ungraded == "ignore")
    return WrittenFiles((shape,) if isinstance(shape, Written) else shape)
