"""Finished and failed runs of suites, in files of a folder that the workers of pytest-xdist share."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from harness.errors import Problem
from harness.files.writing import write_whole
from harness.lazy import LazySequence
from harness.model import Outcome, Query, QueryReport, QueryReports, Run, Suite, SuiteReport
from harness.report.json import dumps_report, loads_report
from harness.run import make_report


@dataclass(frozen=True, slots=True)
class Finished:
    """
    A suite that ran; *run* is read back on first access.

    *suite* is the suite with the queries that were selected, and *others* are its other queries; None and empty where
    another process ran it.
    """

    report: SuiteReport
    run: Callable[[], Run] = field(compare=False)
    suite: Suite | None = field(default=None, compare=False)
    others: Sequence[Query] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """A suite that could not run: *error* is the message, *sentence* one line of it, *problems* those in files."""

    path: str
    error: str
    sentence: str
    problems: tuple[Problem, ...] = ()


def read_folder(folder: Path) -> dict[Path, Finished | Failed]:
    """The runs in a shared folder, by their files."""
    return {file: read_run(file) for file in sorted(folder.glob("*.json"))}


def write_run(file: Path, done: Finished | Failed) -> None:
    """
    Write *done* to *file*, and the parts that only some readers need to other files beside it.

    Each call gives these new names, and *file*, which is written last, lists them. So a reader always sees files of the
    same run, even if the process is killed meanwhile, or the suite ran again since *file* was read. No file is removed
    here, as another process may still read it.
    """
    if isinstance(done, Failed):
        content = asdict(done)
    else:
        name = f"{file.stem}.{secrets.token_hex(4)}"
        _write_run(file.with_name(f"{name}.run"), done.run())
        begins, unscored = _write_queries(file.with_name(f"{name}.queries"), done.report.queries)
        report = dumps_report(make_report([replace(done.report, queries=())]))
        content = {"report": report, "name": name, "begins": begins, "unscored": unscored}
    write_whole(file, json.dumps(content))


def read_run(file: Path) -> Finished | Failed:
    """Read what `write_run` wrote; queries, and the run itself, are read on access."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if "error" in content:
        return Failed(**content | {"problems": tuple(Problem(**problem) for problem in content["problems"])})
    name = content["name"]
    queries = _read_queries(file.with_name(f"{name}.queries"), content["begins"], content["unscored"])
    report = replace(loads_report(content["report"], path=str(file)).suites[0], queries=queries)
    return Finished(report, lambda: _read_run(file.with_name(f"{name}.run")))


_QUERY = TypeAdapter(QueryReport)


def _write_queries(file: Path, queries: Iterable[QueryReport]) -> tuple[dict[str, int], list[int]]:
    """
    Write a query per line, as a worker needs only some of them.

    Returns:
        The byte at which each begins, by its id, and the places of those without a plain score.
    """
    begins: dict[str, int] = {}
    unscored: list[int] = []

    def lines() -> Iterator[str]:
        end = 0
        for place, query in enumerate(queries):
            line = json.dumps(_QUERY.dump_python(query, mode="json")) + "\n"
            begins[query.id], end = end, end + len(line)
            unscored.extend([place] if query.outcome is not Outcome.SCORED else [])
            yield line

    write_whole(file, lines())
    return begins, unscored


def _read_queries(file: Path, begins: Mapping[str, int], unscored: Sequence[int]) -> QueryReports:
    """The queries in *file*, which is open only while one of them is read; their outlines are cached."""
    lines = list(begins.values())

    def build(place: int) -> QueryReport:
        with file.open("rb") as opened:
            opened.seek(lines[place])
            return _QUERY.validate_python(json.loads(opened.readline()))

    outlines = LazySequence(range(len(lines)), lambda place: _outline(build(place)), keep=len(lines))
    return QueryReports(list(begins), build, outlines=outlines, unscored=unscored)


def _outline(query: QueryReport) -> QueryReport:
    return QueryReport(query.id, query.text, query.outcome, query.reason, query.tags, query.scores, weight=query.weight)


def _write_run(file: Path, run: Run) -> None:
    repeats = tuple(replace(repeat, responses=dict(repeat.responses)) for repeat in run.repeats)
    run = replace(run, responses=dict(run.responses), repeats=repeats)
    write_whole(file, json.dumps(TypeAdapter(Run).dump_python(run, mode="json")))


def _read_run(file: Path) -> Run:
    return TypeAdapter(Run).validate_python(json.loads(file.read_text(encoding="utf-8")))
