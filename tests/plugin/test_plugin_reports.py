"""--relevance-report and the summary at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from builders.engine import ScriptedEngine
from builders.workers import IN_A_WORKER, IN_TWO_WORKERS
from harness.cli import main
from harness.model.run import Status
from harness.report.json import loads_report

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def test_reports_are_written_in_the_kind_their_names_say(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN)

    result = run("--relevance-report", "page.html", "--relevance-report=deep/er/report.json")

    assert result.ret == pytest.ExitCode.OK
    page = (pytester.path / "page.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "rubber boots" in page
    report = loads_report((pytester.path / "deep" / "er" / "report.json").read_text(encoding="utf-8"))
    assert [verdict.id for verdict in report.suites[0].verdicts] == ["mean-nDCG-10-ge-0.8"]
    assert report.exit_status == 0
    result.stdout.fnmatch_lines([f"report written to {pytester.path}/page.html", "report written to *report.json"])


def test_the_whole_suite_is_reported_whichever_items_were_chosen(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8", "median nDCG@10 >= 0.9"]')

    run("--relevance-report=report.json", "-k", "mean").assert_outcomes(passed=1, deselected=1)

    report = loads_report((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert [(verdict.status, verdict.observed is None) for verdict in report.suites[0].verdicts] == [
        (Status.PASSED, False),
        (Status.NOT_DECIDED, False),
    ]
    assert report.exit_status == 0


def test_the_ini_file_names_reports_from_the_rootdir(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrelevance_report =\n    out/report.json\n    out/report.html\n")
    suite(MEAN, name="sub/shop.relevance.yaml")
    here = pytester.mkdir("elsewhere")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        run("../sub", "-c", "../tox.ini").assert_outcomes(passed=1)

    assert {path.name for path in (pytester.path / "out").iterdir()} == {"report.json", "report.html"}


def test_a_report_that_cannot_be_written_is_said_and_ends_in_an_error(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.path.joinpath("file").write_text("in the way")

    result = run("--relevance-report", "file/report.json", "--relevance-report", "report.json")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines("*file/report.json: the json report could not be written: *")
    assert (pytester.path / "report.json").exists()
    assert "Traceback" not in result.stdout.str()


YESTERDAY = '{"timing": {}, "harness": "yesterday"}'


@pytest.fixture
def yesterdays(pytester: pytest.Pytester) -> Path:
    path = pytester.path / "report.json"
    path.write_text(YESTERDAY)
    return path


FULL_DISK = """
import resource, pytest

@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish():
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no sizes of files")
def test_of_a_report_that_does_not_fit_on_the_disk_no_half_is_left(
    suite: Suite, run: Run, pytester: pytest.Pytester, yesterdays: Path
) -> None:
    suite(MEAN)
    pytester.makeconftest(FULL_DISK)

    result = run("--relevance-report", "report.json", "-p", "no:cacheprovider")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines("*report.json: the json report could not be written: File too large")
    assert yesterdays.read_text() == YESTERDAY
    assert not list(pytester.path.glob(".report.json.*"))


def test_a_failed_test_is_not_hidden_by_a_report_that_cannot_be_written(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(MEAN.replace("0.8", "0.9"))
    pytester.path.joinpath("file").write_text("in the way")

    assert run("--relevance-report", "file/report.json").ret == pytest.ExitCode.TESTS_FAILED


def test_without_a_run_there_is_no_report_and_no_summary(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN)

    result = run("--collect-only", "--relevance-report", "report.json")

    assert not (pytester.path / "report.json").exists()
    result.stdout.no_fnmatch_line("*= relevance =*")


def broken(pytester: pytest.Pytester, suite: Suite) -> None:
    suite(MEAN)
    pytester.makepyfile(test_broken="import nothing_of_that_name")


def wrong(pytester: pytest.Pytester, suite: Suite) -> None:
    suite("thresholds: [mean]")


def unmet(pytester: pytest.Pytester, suite: Suite) -> None:
    suite(MEAN)
    pytester.makeini("[pytest]\nrelevance_request = candidate\n")


def stopped(pytester: pytest.Pytester, suite: Suite) -> None:
    pytester.makepyfile(test_first="def test_fails():\n    assert False")
    pytester.makeini("[pytest]\naddopts = --maxfail=1 test_first.py shop.relevance.yaml\n")
    suite(MEAN)


def down(pytester: pytest.Pytester, suite: Suite) -> None:
    suite(MEAN.replace("0.8", "${RELEVANCE_LEAST}"))


@pytest.mark.parametrize(
    ("grief", "workers"),
    [
        (broken, ()),  # pytest-xdist runs what else could be collected
        *((grief, ()) for grief in (stopped, down)),
        (stopped, IN_A_WORKER),
    ],
)
def test_where_what_should_run_does_not_no_earlier_report_is_left(
    suite: Suite, run: Run, pytester: pytest.Pytester, yesterdays: Path, grief: Any, workers: tuple[str, ...]
) -> None:
    grief(pytester, suite)

    result = run("--relevance-report", "report.json", *workers)

    assert result.ret != pytest.ExitCode.OK
    assert not yesterdays.exists()
    result.stdout.fnmatch_lines([f"no suite ran: removed the report of an earlier session from {yesterdays}"])


@pytest.mark.parametrize("workers", [(), IN_A_WORKER])
@pytest.mark.parametrize("grief", [wrong, unmet])
def test_a_session_that_is_refused_leaves_an_earlier_report_and_says_so(
    suite: Suite, run: Run, pytester: pytest.Pytester, yesterdays: Path, grief: Any, workers: tuple[str, ...]
) -> None:
    grief(pytester, suite)
    before = yesterdays.read_bytes()

    result = run("--relevance-report", "report.json", *workers)

    assert result.ret != pytest.ExitCode.OK
    assert yesterdays.read_bytes() == before
    said = result.stdout.str() + result.stderr.str()
    assert f"no suite ran: {yesterdays} is as it was, the report of an earlier session" in said


def test_a_report_that_cannot_be_written_costs_no_other_and_no_item(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    (pytester.path / "file").write_text("in the way")
    (pytester.path / "kept").mkdir()
    (pytester.path / "kept" / "shop").write_text("in the way of the history")

    options = ("--relevance-report", "file/r.json", "--relevance-report", "page.html", "--relevance-history", "kept")
    result = run(*options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(passed=1)
    assert (pytester.path / "page.html").exists()
    result.stdout.fnmatch_lines(["the history *kept/shop/* cannot be written: *", "*r.json: * could not be written: *"])


@pytest.mark.parametrize("workers", [(), IN_A_WORKER])
@pytest.mark.parametrize("text", ["judgments: graded.json", "judgments: [graded.json"])  # either is an error
@pytest.mark.parametrize("name", ["graded.json", "linked.json"])
def test_what_a_session_reads_is_neither_removed_nor_overwritten(
    suite: Suite, run: Run, pytester: pytest.Pytester, name: str, text: str, workers: tuple[str, ...]
) -> None:
    suite(text)
    graded = pytester.path / "graded.json"
    graded.write_text("{}")
    (pytester.path / "linked.json").symlink_to(graded)

    result = run("--relevance-report", name, "--relevance-report", "page.html", *workers)

    assert result.ret != pytest.ExitCode.OK
    said = result.stdout.str() + result.stderr.str()
    assert f"--relevance-report: {pytester.path / name} is read by this run" in said
    assert graded.read_text() == "{}"
    assert not (pytester.path / "page.html").exists()


@pytest.mark.parametrize("workers", [(), IN_A_WORKER])
def test_a_baseline_is_no_report_and_any_other_file_is_overwritten(
    suite: Suite, run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite(MEAN)
    kept = pytester.path / "shop.baseline.json"
    kept.write_text("{}")
    (pytester.path / "page.html").write_text("<p>mine</p>")

    result = run("--relevance-report", "shop.baseline.json", *workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert kept.read_text() == "{}"
    assert run("--relevance-report", "page.html", *workers).ret == pytest.ExitCode.OK
    assert "mine" not in (pytester.path / "page.html").read_text()


def one_is_wrong(pytester: pytest.Pytester) -> tuple[str, ...]:
    path = pytester.path / "b.relevance.yaml"
    path.write_text(path.read_text().replace("0.8", "eight"))
    return ("--continue-on-collection-errors",)


def one_lacks_a_variable(pytester: pytest.Pytester) -> tuple[str, ...]:
    path = pytester.path / "b.relevance.yaml"
    path.write_text(path.read_text().replace("0.8", "${RELEVANCE_LEAST}"))
    return ()


def stopped_before_one(pytester: pytest.Pytester) -> tuple[str, ...]:
    pytester.makepyfile(test_between="def test_fails():\n    assert False")
    return "-x", "a.relevance.yaml", "test_between.py", "b.relevance.yaml"


def ended_before_one(pytester: pytest.Pytester) -> tuple[str, ...]:
    pytester.makepyfile(test_between="import pytest\n\ndef test_ends():\n    pytest.exit('enough')")
    return "a.relevance.yaml", "test_between.py", "b.relevance.yaml"


def worker_ends_in_one(pytester: pytest.Pytester) -> tuple[str, ...]:
    pytester.makeconftest(
        """
        import os

        def pytest_runtest_protocol(item):
            if item.nodeid.startswith("b."):
                os._exit(1)
        """
    )
    return "-p", "xdist", "-n1", "--max-worker-restart", "0"


NOT_REACHED = "the session ended before it ran"


@pytest.mark.parametrize(
    ("grief", "reason"),
    [
        (one_is_wrong, "b.relevance.yaml:6:"),
        (one_lacks_a_variable, "RELEVANCE_LEAST"),
        (stopped_before_one, NOT_REACHED),
        (ended_before_one, NOT_REACHED),
        (worker_ends_in_one, NOT_REACHED),
    ],
)
def test_no_report_holds_where_a_suite_did_not_run(
    suite: Suite, run: Run, pytester: pytest.Pytester, grief: Any, reason: str
) -> None:
    suite(MEAN, name="a.relevance.yaml")
    suite(MEAN, name="b.relevance.yaml")
    kinds = ("report.json", "report.md", "report.html", "report.codequality.json")

    result = run(*(f"--relevance-report={kind}" for kind in kinds), *grief(pytester))

    assert result.ret != pytest.ExitCode.OK
    report, markdown, page, quality = ((pytester.path / kind).read_text(encoding="utf-8") for kind in kinds)
    read = loads_report(report)
    [missing] = read.missing
    assert (missing.path, read.exit_status, len(read.suites)) == ("b.relevance.yaml", 3, 1)
    assert reason in missing.reason
    headline = "1 suite did not run; the others: 1 threshold, all hold"
    assert markdown.startswith(f"## ❌ {headline}\n")
    assert reason in markdown
    assert f"<h1>{headline}</h1>" in page
    assert reason in page
    [entry] = json.loads(quality)
    assert (entry["severity"], entry["location"]["path"]) == ("critical", "b.relevance.yaml")
    assert ("b.relevance.yaml: did not run: the session ended" in result.stdout.str()) == (reason == NOT_REACHED)


@pytest.mark.parametrize("workers", [(), IN_A_WORKER])
def test_a_suite_that_is_skipped_or_not_chosen_is_not_missing(
    suite: Suite, run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite(MEAN, name="a.relevance.yaml")
    suite('thresholds: [{threshold: "mean nDCG@10 >= 0.8", skip: {reason: later}}]', name="b.relevance.yaml")
    suite(MEAN.replace("mean", "median"), name="c.relevance.yaml")

    result = run("--relevance-report=report.json", "-k", "mean", *workers)

    assert result.ret == pytest.ExitCode.OK
    report = loads_report((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert (report.missing, report.exit_status, len(report.suites)) == ((), 0, 1)


@pytest.mark.parametrize(("options", "times"), [(IN_A_WORKER, 1), (IN_TWO_WORKERS, 2)])
def test_where_workers_cannot_share_a_run_each_sends_it_once_and_says_why(
    suite: Suite, run: Run, pytester: pytest.Pytester, engine: Any, options: tuple[str, ...], times: int
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8", "median nDCG@10 >= 0.8", "every nDCG@10 >= 0.1"]')
    pytester.makeconftest(
        """
        import errno, os
        import pytest

        def write_cached(file, entry):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def pytest_configure(config):
            patch = pytest.MonkeyPatch()
            patch.setattr("harness.pytest_plugin.run_cache.write_cached", write_cached)
            config.add_cleanup(patch.undo)
        """
    )

    result = run(*options)

    result.assert_outcomes(errors=3)
    assert engine.asked["red shoes"] == times
    assert "Traceback" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*cannot be written for the other workers: No space left on device; TMPDIR names*"])


@pytest.mark.parametrize("options", [("--collect-only",), ("-k", "test_other"), ("test_other.py",)])
def test_where_no_suite_is_to_run_an_earlier_report_stays(
    suite: Suite, run: Run, pytester: pytest.Pytester, yesterdays: Path, options: tuple[str, ...]
) -> None:
    suite(MEAN)
    pytester.makepyfile(test_other="def test_other(): pass")

    assert run("--relevance-report", "report.json", *options).ret == pytest.ExitCode.OK

    assert yesterdays.read_text() == YESTERDAY


def test_a_wrong_suite_that_is_only_collected_removes_nothing(
    suite: Suite, run: Run, pytester: pytest.Pytester, yesterdays: Path
) -> None:
    wrong(pytester, suite)

    run("--relevance-report", "report.json", "--collect-only")

    assert yesterdays.read_text() == YESTERDAY


def test_the_summary_adds_the_path_of_suites_that_have_the_same_name(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    for name in ("one/shop.relevance.yaml", "two/shop.relevance.yaml"):
        suite(MEAN, name=name)
    other = suite(MEAN, name="two/books.relevance.yaml")
    other.write_text(other.read_text(encoding="utf-8").replace("suite: shop", "suite: books"), encoding="utf-8")

    result = run()

    lines = [line.partition(": nDCG@10 ")[0] for line in result.outlines if ": nDCG@10 " in line]
    assert lines == ["shop (one/shop.relevance.yaml)", "books", "shop (two/shop.relevance.yaml)"]


def test_the_summary_has_a_line_for_each_suite(suite: Suite, run: Run, engine: object) -> None:
    engine.rankings["rubber boots"] = []
    suite(MEAN.replace("0.8", "0.5"))
    suite('measures: ["P@5", "RR@10"]', name="z.relevance.yaml").write_text(
        suite(MEAN, name="z.relevance.yaml")
        .read_text()
        .replace('["nDCG@10"]', '["P@5", "RR@10"]')
        .replace(MEAN, "gain: linear")
        .replace("suite: shop", "suite: zoo")
        .replace("judgments: {a: 3, b: 1}", "judgments: {a: 1}\n    thresholds: ['RR@10 >= 1']")
    )

    result = run()

    assert result.ret == pytest.ExitCode.OK
    lines = [line for line in result.outlines if line.startswith(("shop:", "zoo:"))]
    assert lines == [
        "shop: nDCG@10 0.5000; 2 queries, zero hits: 1, 33.3% of hits unjudged; gain exponential; elasticsearch 9.4.3",
        "zoo: P@5 0.1000, RR@10 0.5000; 2 queries, zero hits: 1, 66.7% of hits unjudged; elasticsearch 9.4.3",
    ]


class TitledEngine(ScriptedEngine):
    """Thirty queries with ten documents each; *titled* are those whose title was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.rankings = {f"text {n}": [f"d{n}-{rank}" for rank in range(10)] for n in range(30)}
        self.titled: list[str] = []

    def search(self, body: dict[str, Any], index: str) -> object:
        item: Any = super().search(body, index)
        for hit in item["hits"]["hits"] if body["_source"] == ["title"] else ():
            assert "ids" in body["query"], "a search for a query returns no title"
            hit["_source"] = {"title": f"title of {hit['_id']}"}
            self.titled.append(hit["_id"])
        return item


@pytest.fixture
def titled_engine() -> Iterator[TitledEngine]:
    with TitledEngine() as server:
        yield server


ALL, SOME_AND_WORST = 300, 97


@pytest.mark.parametrize(
    ("is_command", "words", "titled"),
    [
        (True, [], SOME_AND_WORST),
        (True, ["--output", "markdown=r.md"], SOME_AND_WORST),
        (True, ["--output", "html=r.html"], ALL),
        (True, ["--json"], ALL),
        (False, [], SOME_AND_WORST),
        (False, ["--relevance-report=r.json"], ALL),
        (False, ["--relevance-each-query"], ALL),
    ],
)
def test_titles_are_asked_for_once_and_where_they_are_shown(
    titled_engine: TitledEngine,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_command: bool,
    words: list[str],
    titled: int,
) -> None:
    lines = [f"  - {{id: q{n}, text: text {n}, judgments: {{d{n}-{9 if n == 29 else 0}: 1}}}}\n" for n in range(30)]
    head = "suite: s\ntarget: {index: i}\ndisplay: {title: title}\nrequest: {query: {match: {title: '{{text}}'}}}\n"
    gate = "measures: ['RR@10']\nthresholds: ['every RR@10 >= 0.5']\nqueries:\n"
    (pytester.path / "s.relevance.yaml").write_text(head + gate + "".join(lines), encoding="utf-8")
    if is_command:
        assert main(["run", "s.relevance.yaml", "--url", titled_engine.url, *words]) == 1
        shown = capsys.readouterr().out
    else:
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        result = pytester.runpytest("-p", "relevance", "--relevance-url", titled_engine.url, *words)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        shown = result.stdout.str()
    assert "title of d29-9" in shown
    assert len(titled_engine.titled) == len(set(titled_engine.titled)) == titled
