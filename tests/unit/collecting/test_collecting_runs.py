"""A suite runs once, whoever asks."""

from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from builders.reports import numbered_query
from harness.errors import Problem, SuiteError
from harness.files.folders import Folder
from harness.model.report import QueryReport, SuiteReport
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run
from harness.model.scores import Outcome
from harness.model.suite import Profile, Suite, Target
from harness.options import RunOptions
from harness.pytest_plugin.run_cache import CachedError, CachedRun, RunCache, RunFailed
from harness.run.finished import FinishedSuite

OPTIONS = RunOptions(url="http://127.0.0.1:9200", tags=("head",))
RUN = Run(
    {
        "ranked": Ranking((Hit("a", 1.5, "A title"), Hit("b")), total=2, took=3.0, duplicates=("a",)),
        "nothing": Ranking(),
        "odd": Ranking((Hit("a", math.inf),), total_is_lower_bound=True),
        "failed": Failure(FailureKind.SHARDS, "one of two failed", 200),
    },
    Engine("elasticsearch", "9.4.3", stated=True),
    "candidate",
    "products",
    0.25,
)


def finished(path: Path, run: Run = RUN, outcome: Outcome = Outcome.SCORED) -> FinishedSuite:
    queries = (QueryReport("q", "red shoes", outcome, ""),)
    report = SuiteReport(
        "shop", str(path), run.request, "default", None, run.engine, Profile.STANDARD, "linear", 10, (), (), queries
    )
    return FinishedSuite(Suite("shop", str(path), Target(), {}, (), ()), run, (), report)


class Runner:
    """Counts its calls, and does what it was told: raises, or answers with an outcome; the last goes for all others."""

    def __init__(self, *does: Exception | Outcome) -> None:
        self.calls: list[tuple[Path, RunOptions]] = []
        self.known: list[CachedRun | None] = []
        self._does = list(does) or [Outcome.SCORED]

    def __call__(self, path: Path, options: RunOptions, known: CachedRun | None) -> FinishedSuite:
        self.calls.append((path, options))
        self.known.append(known)
        does = self._does.pop(0) if len(self._does) > 1 else self._does[0]
        if isinstance(does, Exception):
            raise does
        return finished(path, outcome=does)


def test_in_one_process_it_runs_once_for_each_path_and_options(tmp_path: Path) -> None:
    runner = Runner()
    runs = RunCache(runner)

    for options in (OPTIONS, OPTIONS, RunOptions(request="candidate")):
        runs.run_once(tmp_path / "a.yaml", options)
    runs.run_once(tmp_path / "sub" / ".." / "a.yaml", OPTIONS)

    assert runner.calls == [(tmp_path / "a.yaml", OPTIONS), (tmp_path / "a.yaml", RunOptions(request="candidate"))]
    assert len(list(runs.list_entries().values())) == 2


def test_a_link_in_another_folder_is_a_suite_of_its_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "s.yaml").touch()
    (tmp_path / "b" / "s.yaml").symlink_to(tmp_path / "a" / "s.yaml")
    runner = Runner()
    runs = RunCache(runner)

    for name in ("a", "b"):
        runs.run_once(tmp_path / name / "s.yaml", OPTIONS)

    assert [path for path, _ in runner.calls] == [tmp_path / "a" / "s.yaml", tmp_path / "b" / "s.yaml"]


def test_processes_that_share_a_folder_share_what_ran(tmp_path: Path) -> None:
    first, second = Runner(), Runner()

    there = RunCache(first, tmp_path / "shared").run_once(tmp_path / "a.yaml", OPTIONS)
    here = RunCache(second, tmp_path / "shared").run_once(tmp_path / "a.yaml", OPTIONS)

    assert (len(first.calls), len(second.calls)) == (1, 0)
    assert here.report == there.report
    assert here.load_run() == RUN


def test_another_process_reads_the_same_report(tmp_path: Path) -> None:
    queries = tuple(numbered_query(number, math.inf if number == 2 else 0.5, text="é\n") for number in range(5))
    queries += (QueryReport("away", "boots", Outcome.ERROR, "closed"),)
    done = finished(tmp_path / "a.yaml")
    report = replace(done.report, queries=queries)
    RunCache(lambda *_: replace(done, report=report), tmp_path).run_once(tmp_path / "a.yaml", OPTIONS)

    here = RunCache(Runner(), tmp_path).run_once(tmp_path / "a.yaml", OPTIONS).report
    assert here == report
    assert here.unanswered == {"away": queries[5]}


def test_what_was_read_stays_when_the_suite_runs_again(tmp_path: Path) -> None:
    again = replace(RUN, request="again")
    ran = iter((finished(tmp_path, RUN, Outcome.ERROR), finished(tmp_path, again, Outcome.SCORED)))
    RunCache(lambda *_: next(ran), tmp_path).run_once(tmp_path / "a.yaml", OPTIONS)
    runs = RunCache(lambda *_: next(ran), tmp_path)
    before = runs.run_once(tmp_path / "a.yaml", OPTIONS)

    after = runs.run_once(tmp_path / "a.yaml", OPTIONS, again=True)

    assert [one.report.queries[0].outcome for one in (before, after)] == [Outcome.ERROR, Outcome.SCORED]
    assert [one.load_run() for one in (before, after)] == [RUN, again]


@pytest.mark.parametrize("suffix", [".run", ".json"])
def test_what_a_killed_process_did_not_finish_is_not_mixed_with_what_ran_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    ran = iter((finished(tmp_path, RUN, Outcome.ERROR), finished(tmp_path, replace(RUN, request="again"))))
    runs = RunCache(lambda *_: next(ran), tmp_path)
    runs.run_once(tmp_path / "a.yaml", OPTIONS)
    put = Folder.replace

    def die(folder: Folder, part: str, name: str) -> None:
        if name.endswith(suffix):
            raise KeyboardInterrupt
        put(folder, part, name)

    monkeypatch.setattr(Folder, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        runs.run_once(tmp_path / "a.yaml", OPTIONS, again=True)

    [here] = list(RunCache(Runner(), tmp_path).list_entries().values())
    assert isinstance(here, CachedRun)
    assert (here.report, here.load_run()) == (finished(tmp_path, RUN, Outcome.ERROR).report, RUN)


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="counts descriptors as POSIX shows them")
def test_no_file_stays_open_for_what_was_read(tmp_path: Path) -> None:
    for number in range(3):
        RunCache(Runner(), tmp_path).run_once(tmp_path / f"{number}.yaml", OPTIONS)
    before = len(list(Path("/dev/fd").iterdir()))

    read = list(RunCache(Runner(), tmp_path).list_entries().values())

    assert [one.report.queries[0].id for one in read if isinstance(one, CachedRun)] == ["q"] * 3
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_folder_keeps_other_options_apart(tmp_path: Path) -> None:
    runner = Runner()
    for options in (OPTIONS, RunOptions(), RunOptions(embedded=True)):
        RunCache(runner, tmp_path).run_once(tmp_path / "a.yaml", options)

    assert [options for _, options in runner.calls] == [OPTIONS, RunOptions(), RunOptions(embedded=True)]
    assert len(list(RunCache(runner, tmp_path).list_entries().values())) == 3


@pytest.mark.parametrize("folder", [None, "shared"])
def test_what_went_wrong_is_said_to_all_who_ask(tmp_path: Path, folder: str | None) -> None:
    runner = Runner(SuiteError.at("a.yaml", 3, 5, "variable INDEX is not set"))
    runs = RunCache(runner, tmp_path / folder if folder else None)
    others = RunCache(runner, tmp_path / folder) if folder else runs

    for asked in (runs, runs, others):
        with pytest.raises(RunFailed, match=r"^a\.yaml:3:5: variable INDEX is not set$"):
            asked.run_once(tmp_path / "a.yaml", OPTIONS)

    assert len(runner.calls) == 1
    sentence = "a.yaml:3:5: variable INDEX is not set"
    problems = (Problem("a.yaml", 3, 5, "variable INDEX is not set"),)
    assert list(others.list_entries().values()) == [CachedError(str(tmp_path / "a.yaml"), sentence, sentence, problems)]


def test_a_defect_is_told_with_its_traceback_and_not_tried_again(tmp_path: Path) -> None:
    runner = Runner(ZeroDivisionError("of ours"))
    runs = RunCache(runner)

    for _ in range(2):
        with pytest.raises(RunFailed, match=r"(?s)Traceback.*ZeroDivisionError: of ours"):
            runs.run_once(tmp_path / "a.yaml", OPTIONS)

    assert len(runner.calls) == 1


def test_an_interrupt_is_nobodys_result(tmp_path: Path) -> None:
    def interrupted(_path: Path, _options: RunOptions, _known: CachedRun | None) -> FinishedSuite:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RunCache(interrupted, tmp_path).run_once(tmp_path / "a.yaml", OPTIONS)

    runner = Runner()
    RunCache(runner, tmp_path).run_once(tmp_path / "a.yaml", OPTIONS)
    assert len(runner.calls) == 1


@pytest.mark.parametrize("first", [Outcome.ERROR, Outcome.NOT_RUN, SuiteError.at("a.yaml", 3, 5, "not set")], ids=str)
@pytest.mark.parametrize("folder", [None, "shared"])
def test_what_has_no_answer_is_asked_again_where_that_is_wanted(
    tmp_path: Path, folder: str | None, first: Exception | Outcome
) -> None:
    runner = Runner(first, Outcome.ERROR, Outcome.SCORED)
    runs = RunCache(runner, tmp_path / folder if folder else None)
    with contextlib.suppress(RunFailed):
        runs.run_once(tmp_path / "a.yaml", OPTIONS)

    second = runs.run_once(tmp_path / "a.yaml", OPTIONS, again=True)
    assert second.report.unanswered
    assert runs.run_once(tmp_path / "a.yaml", OPTIONS) is second
    third = runs.run_once(tmp_path / "a.yaml", OPTIONS, again=True)
    assert not third.report.unanswered
    assert runs.run_once(tmp_path / "a.yaml", OPTIONS, again=True) is third

    assert len(runner.calls) == 3
    assert [known is None for known in runner.known] == [True, isinstance(first, Exception), False]
    assert runner.known[2] == second
    assert list(runs.list_entries().values()) == [third]


def test_of_processes_that_share_a_folder_one_asks_again(tmp_path: Path) -> None:
    first, second = Runner(Outcome.ERROR, Outcome.SCORED), Runner()
    here, there = (RunCache(runner, tmp_path) for runner in (first, second))
    for runs in (here, there):
        assert runs.run_once(tmp_path / "a.yaml", OPTIONS).report.unanswered

    assert not here.run_once(tmp_path / "a.yaml", OPTIONS, again=True).report.unanswered
    assert there.run_once(tmp_path / "a.yaml", OPTIONS).report.unanswered
    assert not there.run_once(tmp_path / "a.yaml", OPTIONS, again=True).report.unanswered

    assert (len(first.calls), len(second.calls)) == (2, 0)


PROCESS = """
import os, signal, sys
from pathlib import Path
from harness.pytest_plugin.run_cache import RunCache
from harness.run.finished import FinishedSuite
from harness.options import RunOptions
from harness.model.report import SuiteReport
from harness.model.run import Engine, Run
from harness.model.suite import Profile, Suite, Target

folder, task = Path(sys.argv[1]), sys.argv[2]

def run(path, options, known):
    with (folder / "calls").open("ab") as calls:
        calls.write(b"x")
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    engine = Engine("elasticsearch", "9.4.3")
    report = SuiteReport("s", "s", "r", "c", None, engine, Profile.STANDARD, "linear", 10, (), (), ())
    return FinishedSuite(Suite("s", "s", Target(), {}, (), ()), Run({}, engine), (), report)

print("ready", flush=True)
sys.stdin.readline()
RunCache(run, folder / "shared").run_once(Path("/a.yaml"), RunOptions())
"""


def process(folder: Path, task: str) -> subprocess.Popen[str]:
    """One that waits for a line before it asks for the run."""
    command = [sys.executable, "-c", PROCESS, str(folder), task]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process as only POSIX can")
def test_the_lock_of_a_killed_process_is_let_go(tmp_path: Path) -> None:
    killed = process(tmp_path, "die")
    killed.communicate("go\n")
    assert killed.returncode == -signal.SIGKILL

    runner = Runner()
    assert isinstance(RunCache(runner, tmp_path / "shared").run_once(Path("/a.yaml"), RunOptions()), CachedRun)
    assert len(runner.calls) == 1


def test_of_processes_that_ask_at_once_one_runs_it(tmp_path: Path) -> None:
    together = [process(tmp_path, "run") for _ in range(2)]
    for each in together:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    for each in together:
        each.communicate()

    assert [each.returncode for each in together] == [0] * 2
    assert (tmp_path / "calls").read_bytes() == b"x"
