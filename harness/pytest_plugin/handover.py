"""A suite that ran, or could not, in files of a folder that the workers of pytest-xdist share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path

from pydantic import TypeAdapter

from harness.errors import Problem
from harness.files.writing import write_whole
from harness.lazy import LazySequence
from harness.model import Outcome, Query, QueryReport, QueryReports, Run, Suite, SuiteReport
from harness.report.json import dumps_report, loads_report
from harness.run import make_report

__all__ = ["Failed", "Finished", "read_folder", "read_run", "write_run"]


@dataclass(frozen=True, slots=True)
class Finished:
    """
    A suite that ran; *run* is not read back before somebody asks for it.

    *suite* is what ran, with the queries that were selected, and *others* are its other queries; None, and none, where
    another process ran it.
    """

    report: SuiteReport
    run: Callable[[], Run] = field(compare=False)
    suite: Suite | None = field(default=None, compare=False)
    others: tuple[Query, ...] = field(default=(), compare=False)

    @property
    def lacks_answers(self) -> bool:
        """Whether a query had none."""
        return bool(self.report.unanswered)


@dataclass(frozen=True, slots=True)
class Failed:
    """
    A suite that did not, and why: *error* is all that is known, *sentence* one line of it, *problems* what is wrong in
    files.
    """

    path: str
    error: str
    sentence: str
    problems: tuple[Problem, ...] = ()

    @property
    def lacks_answers(self) -> bool:
        """Nothing was answered."""
        return True


def read_folder(folder: Path) -> list[Finished | Failed]:
    """What is in a shared folder."""
    return [read_run(file) for file in sorted(folder.glob("*.json"))]


def write_run(file: Path, done: Finished | Failed) -> None:
    """Leave *done* in *file*, and in others beside it what only some need; *file* comes last."""
    if isinstance(done, Failed):
        text = json.dumps(asdict(done))
    else:
        _write_run(file.with_suffix(".run"), done.run())
        write_whole(file.with_suffix(".queries"), _lines_of(done.report.queries))
        text = dumps_report(make_report([replace(done.report, queries=())]))
    write_whole(file, text)


def read_run(file: Path) -> Finished | Failed:
    """What `write_run` left in *file*; queries, and the run itself, are read when somebody asks for them."""
    text = file.read_text(encoding="utf-8")
    raw = json.loads(text)
    if "error" in raw:
        return Failed(**raw | {"problems": tuple(Problem(**problem) for problem in raw["problems"])})
    report = replace(loads_report(text, path=str(file)).suites[0], queries=_read_queries(file.with_suffix(".queries")))
    return Finished(report, lambda: _read_run(file.with_suffix(".run")))


_QUERY = TypeAdapter(QueryReport)


def _lines_of(queries: Iterable[QueryReport]) -> Iterator[str]:
    """A query a line, then where they begin and which have no plain score: a worker needs some queries, not all."""
    begins: dict[str, int] = {}
    unscored, end = [], 0
    for place, query in enumerate(queries):
        line = json.dumps(_QUERY.dump_python(query, mode="json")) + "\n"
        begins[query.id], end = end, end + len(line)
        unscored += [place] if query.outcome is not Outcome.SCORED else []
        yield line
    yield json.dumps([begins, unscored])


def _read_queries(file: Path) -> QueryReports:
    with file.open("rb") as opened:
        content = mmap(opened.fileno(), 0, access=ACCESS_READ)  # it stays as it is when the file is replaced
    begins, unscored = json.loads(content[content.rfind(b"\n") + 1 :])
    lines = list(begins.values())

    def build(place: int) -> QueryReport:
        return _QUERY.validate_python(json.loads(content[lines[place] : content.find(b"\n", lines[place])]))

    return QueryReports(list(begins), build, outlines=LazySequence(range(len(lines)), build), unscored=unscored)


def _write_run(file: Path, run: Run) -> None:
    repeats = tuple(replace(repeat, responses=dict(repeat.responses)) for repeat in run.repeats)
    run = replace(run, responses=dict(run.responses), repeats=repeats)
    file.write_text(json.dumps(TypeAdapter(Run).dump_python(run, mode="json")), encoding="utf-8")


def _read_run(file: Path) -> Run:
    return TypeAdapter(Run).validate_python(json.loads(file.read_text(encoding="utf-8")))
