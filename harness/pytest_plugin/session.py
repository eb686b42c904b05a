"""
The state of one pytest session: options, collected and ignored paths, and problems to report at its end.

A path that pytest ignores although it is named like a suite, or holds suites, becomes a collector beside the others of
its folder, so that it is reported if the whole folder is collected, and not if only one of its files was named.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from harness.errors import Problem
from harness.files.paths import shorten_path
from harness.options import explain_baseline_refusal
from harness.suites.names import describe_misnamed, is_suite_name

if TYPE_CHECKING:
    from harness.model.suite import Suite
    from harness.pytest_plugin.node import NodeHost
    from harness.pytest_plugin.plugin_options import PluginOptions
    from harness.report.output_files import FileState


_PLACE = "relevance.place"
"""A property that each item of a suite has, and no other item."""

DUE = "due"
"""The file in the shared folder of workers that says which suites are to run."""

FAILURE, ERROR = 1, 3
"""The exit statuses that an item that failed, or is an error, gives the suite in the reports."""

SuiteCell: TypeAlias = tuple[str, str | None, str | None]
"""A suite to run: its path, and the request and the index if the session has several."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """The item *nodeid*, a test in Python, asserted the thresholds of a *run*, by its name; *status* came of it."""

    nodeid: str
    run: str
    status: int


class RelevanceSession:
    """
    The state that the hooks share.

    Without pytest-xdist one process does all. With it the workers run suites, and the controller owns the folder that
    they share, the embedded node, the reports and the summary.
    """

    def __init__(self, options: PluginOptions, folder: Path | None = None) -> None:
        """
        Args:
            options: The options of the session.
            folder: In a worker, the folder that the controller made.
        """
        self.options = options
        self.today = date.today()
        self.is_worker = folder is not None
        self.folder = folder
        self.collector: pytest.Session | None = None

        # Collecting.
        self.command_line_paths: frozenset[Path] = frozenset()
        """The paths of the command line."""
        self.suites_collected: list[Suite] = []
        self.uncollected: dict[str, str] = {}
        """Why suites were not collected, by their paths."""
        self.refusals: list[Problem] = []
        self.ignored: dict[Path, list[Path]] = {}
        """The paths that pytest ignores, by their folders."""
        self.left_out: list[Path] = []
        """The ignored paths in folders that are collected whole."""
        self.suites_without_items: list[Path] = []
        """The suites without an item."""
        self.ungated: list[str] = []
        """The requests without an item, as they gate nothing, in sentences."""

        # Running.
        self.expects_runs = False
        """Whether a suite is to run, so that a session without a report has failed. A worker may tell only this."""
        self.due_items: dict[SuiteCell, dict[str, tuple[str, ...]]] = {}
        """The suites to run, each with its items by their node ids and the ids of the verdicts that these decide."""
        self.item: pytest.Item | None = None
        """The item that was set up last."""
        self.runs_again = False
        """Whether the item was also the one before."""
        self.outcomes: dict[str, int] = {}
        """The items that ran, by their node ids, as exit statuses."""
        self.assertions: list[Assertion] = []

        # For the summary.
        self.written: list[Path] = []
        self.earlier_reports: Mapping[Path, FileState] = {}
        """The reports that were there when the session began."""
        if options.reports:
            from harness.report.output_files import read_states

            self.earlier_reports = read_states(options.reports)
        self.removed: list[Path] = []
        self.kept: list[Path] = []
        """The reports of earlier sessions that stay, as this one was refused."""
        self.updated: list[str] = []
        self.problems: list[str] = []

        self._host: NodeHost | None = None
        self._resources = ExitStack()

    def record_refusals(self, problems: Iterable[Problem]) -> None:
        """Record problems in suites, each once, however many processes found it."""
        self.refusals.extend(problem for problem in problems if problem not in self.refusals)

    def explain_baseline_refusal(self, suites: int) -> str:
        """As `harness.options.explain_baseline_refusal`, of the baseline that the options name."""
        file = self.options.run.baseline
        shown_file = None if file is None else shorten_path(file)
        refusal = explain_baseline_refusal(shown_file, suites, "chosen")
        if not refusal:
            return ""
        return f"--relevance-baseline: {refusal}"

    def has_named_suites(self, path: Path) -> bool:
        """
        Whether *path*, or a path in it, is on the command line and holds suites.

        pytest 9 would collect only the first of ``. build`` otherwise, as it ignores a folder named build.
        """
        for named_path in self.command_line_paths:
            if not named_path.is_relative_to(path):
                continue
            if named_path.is_dir():
                from harness.suites.discovery import find_suites_left_in

                if find_suites_left_in(named_path):
                    return True
            elif named_path.suffix in (".yaml", ".yml"):
                return True
        return False

    def record_ignored(self, path: Path) -> None:
        """Record a path that pytest ignores."""
        self.ignored.setdefault(path.parent, []).append(path)

    def explain_link_refusal(self, path: Path, rootdir: Path) -> str | None:
        """
        Why the suite at *path* must not be read, as it is a link out of *rootdir* and of the folders of the command
        line; None if it may be.
        """
        if path in self.command_line_paths:
            return None
        folders = [rootdir]
        named_folders = filter(Path.is_dir, self.command_line_paths)
        folders += [folder for folder in named_folders if path.is_relative_to(folder)]
        if self.options.run.root is not None:
            folders.append(self.options.run.root)
        from harness.suites.discovery import explain_refusal

        return explain_refusal(path, folders)

    def record_setup(self, item: pytest.Item) -> None:
        """Record the item that runs, and whether it runs again, as with pytest-rerunfailures."""
        self.runs_again = self.item is not None and item.nodeid == self.item.nodeid
        self.item = item

    def open_folder(self) -> Path:
        """The folder that workers share, made by the controller for its first worker."""
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="relevance-session-"))
            if self.options.reports or self.options.run.embedded:
                from harness.process import terminated_as_interrupted

                # SIGTERM must not leave the node running, nor the report of an earlier session in place.
                self._resources.enter_context(terminated_as_interrupted())
            if self.options.run.embedded:
                from harness.pytest_plugin.node import LocalNode, NodeHost

                self._host = NodeHost(LocalNode(self.options.run.engine_version), self.folder)
        return self.folder

    @property
    def knows_due_items(self) -> bool:
        """Whether *due_items* can be relied on: not where suites are to run and it names none."""
        # A worker that could not write its items says only that there are some: see `write_due_items`. Without them
        # every threshold would be shown as one that no item decides.
        return bool(self.due_items) or not self.expects_runs

    @property
    def has_shared_runs(self) -> bool:
        """Whether a suite ran, or could not, in a process that shares the folder."""
        return self.folder is not None and any(self.folder.glob("*.json"))

    def count_left_out(self) -> dict[Path, int]:
        """The number of suites in each path that pytest left out, for paths with any."""
        from harness.suites.discovery import find_suites_left_in

        counts: dict[Path, int] = {}
        for path in sorted(set(self.left_out)):
            number = 1
            if path.is_dir():
                # A link to / would be a search of the whole machine.
                number = 0 if path.is_symlink() else len(find_suites_left_in(path))
            if number:
                counts[shorten_path(path)] = number
        return counts

    def close(self) -> None:
        """Stop the node that workers share, and remove their folder."""
        if self._host is not None:
            self._host.close()
        if self.folder is not None and not self.is_worker:
            shutil.rmtree(self.folder, ignore_errors=True)
        self._resources.close()

    def write_due_items(self) -> None:
        """Let the controller know which suites are to run: a worker may end without a word."""
        if self.is_worker and self.expects_runs and self.folder is not None:
            from harness.files.writing import write_whole

            file = self.folder / DUE
            # The disk may be full. The empty file alone says that there are some.
            with suppress(OSError):
                file.touch()
                write_whole(file, json.dumps(list(self.due_items.items())))

    def read_due_items(self) -> None:
        """Learn which suites are to run in workers."""
        if self.folder is None or not (self.folder / DUE).exists():
            return
        self.expects_runs = True
        content = (self.folder / DUE).read_text(encoding="utf-8")
        if content:
            for (path, request, index), items in json.loads(content):
                self.due_items[path, request, index] = items

    def record_outcome(self, report: pytest.TestReport) -> None:
        """Record how a phase of an item of a suite ended, and that of another test if it failed."""
        has_place = any(name == _PLACE for name, _ in report.user_properties)
        if report.when == "setup":
            # An item that runs again begins anew.
            self.outcomes.pop(report.nodeid, None)
        if report.failed:
            status = FAILURE if report.when == "call" else ERROR
            self.outcomes[report.nodeid] = max(status, self.outcomes.get(report.nodeid, 0))
        elif has_place and (report.skipped or report.when == "call"):
            self.outcomes.setdefault(report.nodeid, 0)


class RelevanceWarning(pytest.PytestWarning):
    """A threshold of severity warning that fails; or a file that only its name keeps from being a suite."""


class MisnamedFile(pytest.File):
    """A file with almost the suffix of a suite: a warning, and no item."""

    def collect(self) -> Iterator[pytest.Item]:
        """
        Warn of it.

        Raises:
            CollectError: warnings are errors in this session.
        """
        try:
            self.warn(RelevanceWarning(describe_misnamed(Path(self.nodeid))))
        except RelevanceWarning as warning:
            raise self.CollectError(str(warning)) from None
        yield from ()


class LeftOutPath(pytest.File):
    """A folder or a suite that pytest ignores: no item."""

    def __init__(self, *, relevance_session: RelevanceSession, **others: Any) -> None:
        super().__init__(**others)
        self.relevance_session = relevance_session

    def collect(self) -> Iterator[pytest.Item]:
        """Record the path for the summary."""
        self.relevance_session.left_out.append(self.path)
        yield from ()


def collect_left_out(folder: pytest.Directory, relevance_session: RelevanceSession) -> Iterator[pytest.Collector]:
    """Collectors of the paths that pytest ignored in *folder*, after the folder was collected."""
    for path in relevance_session.ignored.pop(folder.path, ()):
        if path.is_dir() or is_suite_name(path.name):
            yield LeftOutPath.from_parent(folder, path=path, relevance_session=relevance_session)
