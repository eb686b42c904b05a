"""What a new import changes in the queries and judgments that an earlier one wrote beside a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.drafts.draft import DraftQuery
from harness.drafts.suite_yaml import name_tables
from harness.errors import UsageError
from harness.files.judgments import read_judgments
from harness.suites.grades import list_judgment_files
from harness.suites.loading import LoadedSuite, load_unchecked
from harness.suites.shape import QueryFileShape
from harness.suites.yaml import ScalarNode
from harness.words import count, listed


@dataclass(frozen=True, slots=True)
class TableChanges:
    """How the queries and judgments of *suite* changed."""

    suite: str
    changed_grades: int
    """The judgments that have another grade."""
    new_grades: int
    gone_grades: int
    new_queries: tuple[str, ...]
    gone_queries: tuple[str, ...]

    def __str__(self) -> str:
        sentence = f"{self.suite}: {count(self.changed_grades, 'grade')} changed"
        sentence += f", {self.new_grades:,} new, {self.gone_grades:,} gone"
        if self.new_queries:
            sentence += f"; {count(len(self.new_queries), 'new query')}: {listed(self.new_queries)}"
        if self.gone_queries:
            sentence += f"; {count(len(self.gone_queries), 'query')} gone: {listed(self.gone_queries)}"
        return sentence


def compare_tables(queries: Sequence[DraftQuery], path: Path) -> TableChanges:
    """
    Compare *queries* with the files of the suite at *path*, which is there.

    Raises:
        UsageError: The suite does not name the files.
        InputError: The suite or the file of judgments cannot be read.
    """
    loaded = load_unchecked(path, None)
    query_file, judgment_file = name_tables(path)
    if not {query_file.name, judgment_file.name} <= _list_named_files(loaded):
        raise UsageError(
            f"{path}: this is there already with queries or judgments of its own, and nothing was written\n"
            f"put these lines in their place, and import again:\n"
            f"  queries: {query_file.name}\n  judgments: {judgment_file.name}"
        )
    in_file = [query for query in loaded.suite.queries if query.mark.path == str(query_file)]
    old_queries = dict.fromkeys(query.id for query in in_file)
    old_judgments = read_judgments(judgment_file) if judgment_file.exists() else {}
    old_grades = _list_grades(old_judgments)
    new_grades = _list_grades({query.id: query.judgments for query in queries})
    in_both = old_grades.keys() & new_grades.keys()
    new_queries = dict.fromkeys(query.id for query in queries)
    return TableChanges(
        str(path),
        changed_grades=sum(1 for pair in in_both if old_grades[pair] != new_grades[pair]),
        new_grades=len(new_grades) - len(in_both),
        gone_grades=len(old_grades) - len(in_both),
        new_queries=tuple(query for query in new_queries if query not in old_queries),
        gone_queries=tuple(query for query in old_queries if query not in new_queries),
    )


def _list_grades(judgments: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], float]:
    """The grades by query and document."""
    grades = {}
    for query, documents in judgments.items():
        for document, grade in documents.items():
            grades[query, document] = grade
    return grades


def _list_named_files(loaded: LoadedSuite) -> set[str]:
    """The files of queries and judgments, as the suite names them."""
    shape = loaded.reading.shape
    queries = shape.queries.file if isinstance(shape.queries, QueryFileShape) else shape.queries
    names = {str(name) for name in list_judgment_files(shape.judgments).paths}
    if isinstance(queries, ScalarNode):
        names.add(str(queries))
    return names
