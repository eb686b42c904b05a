"""Runs that are kept in a history: which ones, where, and of which commit."""

import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import harness.run.earlier_runs
import harness.search
from harness.api import Relevance
from harness.errors import EngineUnreachable, HistoryError, UsageError
from harness.history import read_history, write_entry
from harness.history.commits import BRANCH_VARIABLES, COMMIT_VARIABLES, find_commit
from harness.model import Status
from harness.options import RunOptions
from harness.run import Matrix, run_suites
from harness.search.testing import FakeSearch

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  other: {query: {match: {name: "{{text}}"}}}
measures: ["P@1"]
thresholds: ["mean P@1 >= 0.5"]
queries:
  - {id: shoes, text: red shoes, tags: [head], judgments: {a: 1}}
  - {id: boots, text: rubber boots, judgments: {b: 1}}
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    (tmp_path / "harness.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture
def answers(monkeypatch):
    """What the cluster answers, by query; a text is the reason for which it does not answer."""
    known = {"shoes": ["a", "b"], "boots": ["a", "b"]}
    monkeypatch.setattr(harness.search, "open_search", lambda *_, **__: FakeSearch(known))
    return known


def run(path, environ=None, matrix=None, **options):
    return run_suites([path], RunOptions(today=date(2026, 6, 1), **options), environ=environ or {}, matrix=matrix)


def test_a_whole_run_is_kept_and_its_report_says_where(suite, answers):
    report = run(suite, history=Path("kept"))
    [entry] = read_history(Path("kept"), "shop")
    assert entry.queries["boots"].ranking == ("a", "b")
    assert entry.measures["P@1"].mean == 0.5
    [note] = [note for note in report.suites[0].notes if note.startswith("kept in ")]
    assert Path(note.removeprefix("kept in ")).is_file()


def test_each_run_adds_an_entry_and_a_failed_one_too(suite, answers):
    run(suite, history=Path("kept"))
    answers["shoes"] = ["b"]
    assert run(suite, history=Path("kept")).exit_status == 1
    assert [entry.measures["P@1"].mean for entry in read_history(Path("kept"), "shop")] == [0.5, 0.0]


def test_the_folder_may_stand_in_the_configuration(suite, answers):
    (suite.parent / "harness.toml").write_text('history = "kept"\n[clusters.default]\nurl = "http://one:9200"\n')
    run(suite)
    assert len(read_history(suite.parent / "kept", "shop")) == 1


def test_each_request_and_each_chosen_index_is_a_series_of_its_own(suite, answers):
    matrix = Matrix(requests=("current", "other"), indexes=("products", "products_v2"))
    run(suite, matrix=matrix, history=Path("kept"))
    series = sorted(entry.series for entry in read_history(Path("kept"), "shop"))
    requests = [("shop", "current"), ("shop", "other")]
    assert series == [(*request, index) for request in requests for index in ("", "products_v2")]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tags": ("head",)}, "it has no other queries than those with the tag head"),
        ({"queries": ("boots",)}, "it has no other queries than boots"),
        ({"body": {"query": {"match": {"name": "{{text}}"}}}}, "its body is not that of the suite"),
    ],
)
def test_a_part_of_a_suite_and_another_body_are_not_kept(suite, answers, options, why):
    report = run(suite, history=Path("kept"), **options)
    assert f"the run is not kept in the history: {why}" in report.suites[0].notes
    assert read_history(Path("kept"), "shop") == []


def test_a_run_with_an_error_is_not_kept(suite, monkeypatch):
    def refuse(*_, **__):
        raise EngineUnreachable("http://one:9200 does not answer")

    monkeypatch.setattr(harness.search, "open_search", refuse)
    report = run(suite, history=Path("kept"))
    why = "no answer came to 2 queries: shoes, boots"
    assert f"the run is not kept in the history: {why}" in report.suites[0].notes
    assert read_history(Path("kept"), "shop") == []


def test_a_skipped_query_is_no_reason_not_to_keep_a_run(suite, answers):
    suite.write_text(SUITE.replace("tags: [head]", "skip: {reason: winter}"))
    run(suite, history=Path("kept"))
    [entry] = read_history(Path("kept"), "shop")
    assert list(entry.queries) == ["boots"]


def test_without_a_history_nothing_is_written_or_said(suite, answers):
    report = run(suite, tags=("head",))
    assert not any("history" in note or "kept" in note for note in report.suites[0].notes)


def test_a_folder_that_cannot_be_written_is_refused_before_a_query_is_sent(suite, monkeypatch):
    monkeypatch.setattr(harness.search, "open_search", None)
    Path("kept").write_text("")
    with pytest.raises(HistoryError, match="the history kept cannot be written"):
        run(suite, history=Path("kept"))


def test_no_secret_is_kept(suite, answers):
    text = SUITE.replace("text: red shoes", 'text: "red ${RELEVANCE_BRAND}"')
    suite.write_text(text.replace("products}", '"${RELEVANCE_INDEX}"}'))
    environ = {"RELEVANCE_BRAND": "Hemlich77", "RELEVANCE_INDEX": "geheim88", "GITHUB_SHA": "1", "GITHUB_REF_NAME": "m"}
    run(suite, environ=environ, history=Path("kept"))
    [file] = Path("kept", "shop").iterdir()
    assert "Hemlich77" not in file.read_text()
    assert "geheim88" not in file.read_text()
    assert "red ${RELEVANCE_BRAND}" in file.read_text()


def test_a_call_from_python_keeps_its_run(suite, answers):
    with Relevance(environ={}) as relevance:
        relevance.run(suite, history="kept")
    assert len(read_history(Path("kept"), "shop")) == 1


# Thresholds that compare with earlier runs.

SINCE = SUITE.replace("mean P@1 >= 0.5", "drop P@1 <= 0.1 since 2 runs")


def test_a_run_is_compared_with_those_that_were_there_before_it(suite, answers):
    suite.write_text(SINCE)
    assert run(suite, history=Path("kept")).exit_status == 1
    assert run(suite, history=Path("kept")).exit_status == 1
    assert run(suite, history=Path("kept")).exit_status == 0
    answers["shoes"] = ["b"]
    # The runs before it are two good ones. A bad one among three would be outvoted too.
    [verdict] = run(suite, history=Path("kept")).suites[0].verdicts
    assert (verdict.status, verdict.observed, verdict.spread) == (Status.FAILED, 0.5, (0.5, 0.5))
    assert verdict.blamed == ("shoes",)


@pytest.mark.parametrize("environ", [{}, {"GITHUB_SHA": "bad"}])
def test_a_failed_run_that_is_started_again_never_passes(suite, answers, environ):
    suite.write_text(SINCE)
    for number in range(2):
        run(suite, environ={"GITHUB_SHA": f"good{number}"} if environ else {}, history=Path("kept"))
    answers["shoes"] = ["b"]
    for _ in range(4):
        [verdict] = run(suite, environ=environ, history=Path("kept")).suites[0].verdicts
        assert (verdict.status, verdict.spread) == (Status.FAILED, (0.5, 0.5))


def test_a_run_of_the_future_does_not_count_and_is_named(suite, answers):
    suite.write_text(SINCE)
    for _ in range(3):
        run(suite, history=Path("kept"))
    entry = read_history(Path("kept"), "shop")[0]
    write_entry(Path("kept"), replace(entry, created="2099-01-01T00:00:00.000000+00:00"))
    [verdict] = run(suite, history=Path("kept")).suites[0].verdicts
    later = "1 run does not count, dated later than now: 2099-01-01T00:00:00.000000+00:00"
    assert (verdict.status, verdict.caveat) == (Status.PASSED, later)
    assert later in verdict.reason


def test_a_part_of_the_queries_is_compared_with_that_part_of_the_runs(suite, answers):
    suite.write_text(SINCE.replace("since 2 runs", "since 2 runs for head"))
    for _ in range(2):
        run(suite, history=Path("kept"))
    [verdict] = run(suite, history=Path("kept"), tags=("head",)).suites[0].verdicts
    assert (verdict.status, verdict.spread) == (Status.PASSED, (1.0, 1.0))


def test_runs_of_another_request_or_index_do_not_count(suite, answers):
    suite.write_text(SINCE)
    for options in ({"request": "other"}, {"index": "products_v2"}, {"index": "products"}):
        run(suite, history=Path("kept"), **options)
    [verdict] = run(suite, history=Path("kept")).suites[0].verdicts
    assert "kept has 1 run of this suite and request, expected 2" in verdict.reason


def test_a_file_that_cannot_be_read_ends_the_run(suite, answers):
    suite.write_text(SINCE)
    run(suite, history=Path("kept"))
    next(Path("kept", "shop").iterdir()).write_text("{")
    with pytest.raises(HistoryError, match=r"kept/shop/.*\.json:1:2 cannot be read: not JSON"):
        run(suite, history=Path("kept"))


def test_a_file_that_cannot_be_read_is_found_before_a_query_is_sent(suite, answers, monkeypatch):
    suite.write_text(SINCE)
    run(suite, history=Path("kept"))
    next(Path("kept", "shop").iterdir()).write_text("{")
    monkeypatch.setattr(harness.search, "open_search", None)
    with pytest.raises(HistoryError, match="not JSON"):
        run(suite, history=Path("kept"))


def test_the_history_is_read_once_for_all_requests(suite, answers, monkeypatch):
    suite.write_text(SINCE)
    matrix = Matrix(requests=("current", "other"))
    for _ in range(2):
        run(suite, matrix=matrix, history=Path("kept"))
    folders = []
    monkeypatch.setattr(
        harness.run.earlier_runs,
        "read_history",
        lambda folder, name: folders.append(folder) or read_history(folder, name),
    )
    report = run(suite, matrix=matrix, history=Path("kept"))
    assert [verdict.status for part in report.suites for verdict in part.verdicts] == [Status.PASSED, Status.PASSED]
    assert folders == [Path("kept")]


def test_two_suites_of_one_name_are_refused(suite, answers):
    other = suite.with_name("other.relevance.yaml")
    other.write_text(SUITE)
    options = RunOptions(today=date(2026, 6, 1), history=Path("kept"))
    with pytest.raises(UsageError, match=r"other.relevance.yaml: its name is 'shop', as that of .*shop.relevance.yaml"):
        run_suites([suite, other], options, environ={})
    assert read_history(Path("kept"), "shop") == []
    run_suites([suite, other], replace(options, history=None), environ={})


def test_without_a_history_such_a_threshold_fails(suite, answers):
    suite.write_text(SINCE)
    [verdict] = run(suite).suites[0].verdicts
    assert verdict.status is Status.FAILED
    assert "no history was named; `harness run --history DIR` keeps runs in one" in verdict.reason


# The commit.


def git(folder, *words):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "--initial-branch", "new/ranking")
    return tmp_path


def test_the_commit_and_the_branch_are_those_of_git(repository):
    git(repository, "commit", "--allow-empty", "-m", "first")
    commit, branch = find_commit({}, repository)
    assert (len(commit), branch) == (40, "new/ranking")
    git(repository, "checkout", "--detach")
    assert find_commit({}, repository) == (commit, None)


def test_without_a_commit_or_git_nothing_is_known(repository, monkeypatch):
    assert find_commit({}, repository) == (None, None)
    assert find_commit({}, repository / "missing") == (None, None)
    monkeypatch.setenv("PATH", "")
    assert find_commit({}, repository) == (None, None)


def test_git_is_not_waited_for(tmp_path, monkeypatch):
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr("harness.history.commits.SECONDS", 0.1)
    assert find_commit({}, tmp_path) == (None, None)


@pytest.mark.parametrize("branch", BRANCH_VARIABLES)
@pytest.mark.parametrize("commit", COMMIT_VARIABLES)
def test_the_variables_of_ci_count_first(tmp_path, commit, branch):
    assert find_commit({commit: "abc", branch: "main"}, tmp_path) == ("abc", "main")


def test_a_pull_request_has_the_name_of_its_branch(tmp_path):
    environ = {"GITHUB_SHA": "abc", "GITHUB_REF_NAME": "12/merge", "GITHUB_HEAD_REF": "new-ranking"}
    assert find_commit(environ, tmp_path) == ("abc", "new-ranking")
    assert find_commit({**environ, "GITHUB_HEAD_REF": ""}, tmp_path) == ("abc", "12/merge")
