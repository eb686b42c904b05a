"""Runs that are kept in a history: which ones, where, and of which commit."""

import json
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import harness.run.keeping
import harness.search.dialects
import harness.store.history_files
from builders.extension_cases import needs_extension
from harness.api import Relevance
from harness.errors import EngineUnreachable, HistoryError, UsageError
from harness.masking import fingerprint
from harness.model.run import Engine, Hit, IndexState, Ranking, Run, Status
from harness.options import RunOptions
from harness.run import Matrix, run_suites
from harness.run.notes import explain_not_kept
from harness.search.testing import FakeSearch
from harness.store.commits import BRANCH_VARIABLES, COMMIT_VARIABLES, DIRTY, find_commit
from harness.store.history_files import put_last, read_history, select_of_file, write_entry
from harness.suites import load_suite

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
    (tmp_path / "relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture
def answers(monkeypatch):
    """What the cluster answers, by query; a text is the reason for which it does not answer."""
    known = {"shoes": ["a", "b"], "boots": ["a", "b"]}
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: FakeSearch(known))
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
    (suite.parent / "relevance.toml").write_text('history = "kept"\n[clusters.default]\nurl = "http://one:9200"\n')
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

    monkeypatch.setattr(harness.search.dialects, "open_search", refuse)
    report = run(suite, history=Path("kept"))
    why = "no answer came to 2 queries: shoes, boots"
    assert f"the run is not kept in the history: {why}" in report.suites[0].notes
    assert read_history(Path("kept"), "shop") == []


def test_a_run_on_an_index_that_changed_is_not_kept(suite, answers):
    loaded = load_suite(suite, {})
    states = IndexState({"a": "1"}, 10), IndexState({"a": "1"}, 9)
    responses = {query.id: Ranking((Hit("a", 1.0),)) for query in loaded.queries}
    run = Run(responses, Engine("fake"), "current", "products", states=states)
    why = "products changed during the run: it had 10 documents and has 9"
    assert explain_not_kept(loaded, run, RunOptions()) == why
    assert explain_not_kept(loaded, replace(run, states=states[:1]), RunOptions()) == ""


def test_a_skipped_query_is_no_reason_not_to_keep_a_run(suite, answers):
    suite.write_text(SUITE.replace("tags: [head]", "skip: {reason: winter}"))
    run(suite, history=Path("kept"))
    [entry] = read_history(Path("kept"), "shop")
    assert list(entry.queries) == ["boots"]


def test_without_a_history_nothing_is_written_or_said(suite, answers):
    report = run(suite, tags=("head",))
    assert not any("history" in note or "kept" in note for note in report.suites[0].notes)


def test_a_folder_that_cannot_be_written_is_refused_before_a_query_is_sent(suite, monkeypatch):
    monkeypatch.setattr(harness.search.dialects, "open_search", None)
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


def set_clock(monkeypatch, *, day, month=11):
    """Let runs be made on that day of 2026."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2026, month, day, 3, tzinfo=tz)

    monkeypatch.setattr(harness.run.keeping, "datetime", Clock)


def test_nights_of_one_commit_are_compared_with_the_nights_before(suite, answers, monkeypatch):
    """Only the index changes: each night counts, and the reason names those that did."""
    suite.write_text(SUITE.replace("mean P@1 >= 0.5", "drop P@1 <= 0.1 since 3 runs"))
    environ = {"GITHUB_SHA": "same"}
    for day in range(1, 7):
        set_clock(monkeypatch, day=day)
        answers.update(shoes=["b"] if day <= 3 else ["a"], boots=["a"] if day <= 3 else ["b"])
        run(suite, environ=environ, history=Path("kept"))
    set_clock(monkeypatch, day=7)
    answers["boots"] = ["a"]
    [verdict] = run(suite, environ=environ, history=Path("kept")).suites[0].verdicts
    assert (verdict.status, verdict.observed, verdict.spread) == (Status.FAILED, 0.5, (1.0, 1.0))
    assert [(run.number, run.created[:10]) for run in verdict.runs] == [
        (4, "2026-11-04"),
        (5, "2026-11-05"),
        (6, "2026-11-06"),
    ]
    assert "the last 3 runs" in verdict.reason
    assert "4 to 6 (2026-11-04 to 2026-11-06)" in verdict.reason


def test_runs_that_are_passed_over_are_not_called_the_last(suite, answers, monkeypatch):
    suite.write_text(SINCE)
    for day, commit in enumerate(["one", "two", "bad", "bad", "bad"], start=1):
        set_clock(monkeypatch, day=day)
        answers["shoes"] = ["b"] if commit == "bad" else ["a"]
        [verdict] = run(suite, environ={"GITHUB_SHA": commit}, history=Path("kept")).suites[0].verdicts
    assert [run.number for run in verdict.runs] == [1, 2]
    assert "the median of 2 runs of the history" in verdict.reason
    assert "1 to 2 (2026-11-01 to 2026-11-02), but not 3, 4, which repeat this one" in verdict.reason


def test_a_run_that_a_later_one_of_its_commit_and_day_repeats_is_named(suite, answers):
    suite.write_text(SINCE)
    for commit in ("one", "two", "two", "three"):
        answers["shoes"] = ["c"] if commit == "three" else ["a"]
        [verdict] = run(suite, environ={"GITHUB_SHA": commit}, history=Path("kept")).suites[0].verdicts
    assert [run.number for run in verdict.runs] == [1, 3]
    assert "but not 2: a later run of the same commit and day counts" in verdict.reason


def test_repetitions_that_count_for_want_of_others_are_said(suite, answers, monkeypatch):
    suite.write_text(SINCE)
    for day in (1, 2, 3):
        set_clock(monkeypatch, day=day)
        [verdict] = run(suite, history=Path("kept")).suites[0].verdicts
    assert (verdict.status, [run.number for run in verdict.runs]) == (Status.PASSED, [1, 2])
    assert "of which 2 repeat this one" in verdict.reason


# The clock.


def list_kept():
    return [(entry.created[8:10], entry.measures["P@1"].mean) for entry in read_history(Path("kept"), "shop")]


def test_a_run_after_the_clock_went_back_is_the_last(suite, answers, monkeypatch):
    for day, hits in ((20, "a"), (21, "a"), (5, "b"), (5, "a"), (22, "b")):
        set_clock(monkeypatch, day=day)
        answers["shoes"] = [hits]
        run(suite, history=Path("kept"))
    assert list_kept() == [("20", 0.5), ("21", 0.5), ("05", 0.0), ("05", 0.5), ("22", 0.0)]


@needs_extension("history")
def test_the_order_stays_where_runs_were_packed(suite, answers, monkeypatch):
    from harness.extensions.history.packing import pack_suite

    for day in (20, 5, 21):
        set_clock(monkeypatch, day=day)
        run(suite, history=Path("kept"))
        pack_suite(Path("kept", "shop"), keep=0).write()
    assert list(Path("kept", "shop").glob("*.json")) == []
    set_clock(monkeypatch, day=4)
    run(suite, history=Path("kept"))
    assert [day for day, _ in list_kept()] == ["20", "05", "21", "04"]


@needs_extension("history")
def test_packed_files_of_earlier_versions_are_in_the_order_too(suite, answers, monkeypatch):
    from harness.extensions.history.packing import pack_suite

    set_clock(monkeypatch, day=20)
    run(suite, history=Path("kept"))
    packed = pack_suite(Path("kept", "shop"), keep=0)
    packed.write()
    packed.path.rename(packed.path.with_name(f"packed-{packed.path.stem[-8:]}.jsonl"))
    set_clock(monkeypatch, day=4)
    run(suite, history=Path("kept"))
    assert [day for day, _ in list_kept()] == ["20", "04"]


def test_where_the_clock_is_right_no_entry_is_read_and_the_order_is_that_of_the_times(suite, answers, monkeypatch):
    for day in (20, 21):
        set_clock(monkeypatch, day=day)
        with monkeypatch.context() as patched:
            patched.setattr(harness.store.history_files, "read_file", None)
            run(suite, history=Path("kept"))
    assert [entry.kept for entry in read_history(Path("kept"), "shop")] == [None, None]


def test_the_threshold_takes_what_was_kept_last(suite, answers, monkeypatch):
    suite.write_text(SUITE.replace("mean P@1 >= 0.5", "drop P@1 <= 0.1 since 1 run"))
    for day, hits in ((20, "b"), (5, "a")):
        set_clock(monkeypatch, day=day)
        answers["shoes"] = [hits]
        run(suite, history=Path("kept"))
    set_clock(monkeypatch, day=21)
    answers["shoes"] = ["b"]
    [verdict] = run(suite, history=Path("kept")).suites[0].verdicts
    assert (verdict.status, [(run.number, run.created[8:10]) for run in verdict.runs]) == (Status.FAILED, [(2, "05")])


@pytest.mark.parametrize(("month_of_today", "baseline"), [(11, "required"), (9, "optional")])
def test_no_threshold_passes_for_runs_that_a_clock_behind_hides(suite, answers, monkeypatch, month_of_today, baseline):
    """Runs of October and of the 20th; the clock says the 10th: which are the last is not known."""
    text = SUITE.replace("mean P@1 >= 0.5", "drop P@1 <= 0.1 since 1 run")
    suite.write_text(text if baseline == "required" else f"{text}baseline: {baseline}\n")
    for month, hits in ((10, "b"), (11, "a")):
        set_clock(monkeypatch, day=20, month=month)
        answers["shoes"] = [hits]
        run(suite, history=Path("kept"))
    set_clock(monkeypatch, day=10, month=month_of_today)
    answers["shoes"] = ["b"]
    report = run(suite, history=Path("kept"))
    [verdict] = report.suites[0].verdicts
    assert (verdict.status, report.exit_status) == (Status.INCONCLUSIVE, 3)
    assert "not count, dated later than now: " in verdict.reason
    assert "2026-11-20T03:00:00.000000+00:00" in verdict.reason


def test_an_entry_that_is_there_already_keeps_its_place(suite, answers, monkeypatch):
    """As when parts of a run are merged again."""
    set_clock(monkeypatch, day=20)
    run(suite, history=Path("kept"))
    [last] = read_history(Path("kept"), "shop")
    merged = replace(last, created="2026-11-03T03:00:00.000000+00:00")
    placed = put_last(Path("kept"), merged, datetime(2026, 11, 5, tzinfo=UTC))
    write_entry(Path("kept"), placed)
    assert placed.moment == "2026-11-18T06:00:00.000001+00:00"
    assert put_last(Path("kept"), merged, datetime(2026, 11, 6, tzinfo=UTC)) == placed
    assert put_last(Path("kept"), merged, datetime(2026, 11, 21, tzinfo=UTC)) == placed


# Two files with suites of one name.


def test_the_runs_of_another_file_with_a_suite_of_the_same_name_do_not_count(suite, answers):
    suite.write_text(SINCE)
    other = suite.with_name("other.relevance.yaml")
    other.write_text(SINCE)
    for _ in range(2):
        run(suite, history=Path("kept"))
    answers["shoes"] = ["b"]
    for _ in range(4):
        run(other, history=Path("kept"))
    [verdict] = run(suite, history=Path("kept")).suites[0].verdicts
    assert (verdict.status, verdict.spread, [run.number for run in verdict.runs]) == (
        Status.FAILED,
        (0.5, 0.5),
        [1, 2],
    )


def test_a_threshold_without_enough_runs_names_the_other_file(suite, answers):
    suite.write_text(SINCE)
    other = suite.with_name("other.relevance.yaml")
    other.write_text(SINCE)
    for _ in range(2):
        run(suite, history=Path("kept"))
    [verdict] = run(other, history=Path("kept")).suites[0].verdicts
    assert "kept has 0 runs of this suite and request, expected 2" in verdict.reason
    assert "runs of shop.relevance.yaml do not count" in verdict.reason


def count_own_runs(path, folder=Path("kept")):
    return len(select_of_file(read_history(folder, "shop"), path, folder)[0])


def test_a_file_is_the_same_from_any_folder_in_any_checkout_and_through_links(suite, answers, monkeypatch):
    kept = suite.parent / "kept"
    run(Path("shop.relevance.yaml"), history=kept)
    Path("deeper").mkdir()
    monkeypatch.chdir(suite.parent / "deeper")
    run(Path("../shop.relevance.yaml"), history=Path("../kept"))
    Path("link.relevance.yaml").symlink_to("../shop.relevance.yaml")
    run(Path("link.relevance.yaml"), history=Path("../kept"))
    assert {entry.file for entry in read_history(kept, "shop")} == {"shop.relevance.yaml"}
    with TemporaryDirectory() as name:
        checkout = Path(name, "project")
        shutil.copytree(suite.parent, checkout)
        assert count_own_runs(checkout / "shop.relevance.yaml", checkout / "kept") == 3


def test_a_renamed_file_takes_its_runs_with_it(suite, answers):
    run(suite, history=Path("kept"))
    Path("suites").mkdir()
    moved = suite.rename(Path("suites", "shoes.relevance.yaml").absolute())
    run(moved, history=Path("kept"))
    assert [entry.file for entry in read_history(Path("kept"), "shop")] == [
        "shop.relevance.yaml",
        "suites/shoes.relevance.yaml",
    ]
    assert count_own_runs(moved) == 2


def test_a_deleted_file_that_ran_beside_this_one_was_not_this_one(suite, answers):
    other = suite.with_name("other.relevance.yaml")
    other.write_text(SUITE)
    for path in (suite, other, suite, other):
        run(path, history=Path("kept"))
    other.unlink()
    assert count_own_runs(suite) == 2


def test_a_project_without_a_root_names_its_files_from_the_history(suite, answers):
    (suite.parent / "relevance.toml").unlink()
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "shop.relevance.yaml").write_text(SUITE)
        run(Path(name, "shop.relevance.yaml"), history=Path("one", "kept"), url="http://one:9200")
    files = [entry.file for entry in read_history(Path("one", "kept"), "shop")]
    assert files == ["../shop.relevance.yaml", "../../two/shop.relevance.yaml"]
    assert count_own_runs(Path("one", "shop.relevance.yaml"), Path("one", "kept")) == 1


def test_a_root_that_was_found_further_up_is_the_same_project(suite, answers):
    run(suite, history=Path("kept"))
    [entry] = read_history(Path("kept"), "shop")
    write_entry(
        Path("kept"), replace(entry, created="2026-11-01T03:00:00.000000+00:00", file="search/shop.relevance.yaml")
    )
    run(suite, history=Path("kept"))
    assert count_own_runs(suite) == 3


def test_entries_that_name_no_file_count_for_each(suite, answers):
    run(suite, history=Path("kept"))
    [path] = Path("kept", "shop").iterdir()
    entry = json.loads(path.read_text())
    del entry["file"], entry["kept"]
    path.unlink()
    name = f"{path.stem[:-8]}{fingerprint(json.dumps(entry, sort_keys=True))[:8]}.json"
    path.with_name(name).write_text(json.dumps(entry))
    other = suite.with_name("other.relevance.yaml")
    other.write_text(SUITE)
    assert (count_own_runs(suite), count_own_runs(other)) == (1, 1)


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
    with pytest.raises(HistoryError, match=r"kept/shop/.*\.json:1:2: this is not JSON"):
        run(suite, history=Path("kept"))


def test_a_file_that_cannot_be_read_is_found_before_a_query_is_sent(suite, answers, monkeypatch):
    suite.write_text(SINCE)
    run(suite, history=Path("kept"))
    next(Path("kept", "shop").iterdir()).write_text("{")
    monkeypatch.setattr(harness.search.dialects, "open_search", None)
    with pytest.raises(HistoryError, match="not JSON"):
        run(suite, history=Path("kept"))


def test_the_history_is_read_once_for_all_requests(suite, answers, monkeypatch):
    suite.write_text(SINCE)
    matrix = Matrix(requests=("current", "other"))
    for _ in range(2):
        run(suite, matrix=matrix, history=Path("kept"))
    folders = []
    monkeypatch.setattr(
        harness.run.keeping,
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
    assert "no history was named; `relevance run --history DIR` keeps runs in one" in verdict.reason


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


def test_a_commit_whose_files_were_changed_says_so(repository):
    (repository / "hooks.py").write_text("one")
    git(repository, "add", "hooks.py")
    git(repository, "commit", "-m", "first")
    commit, _ = find_commit({}, repository)
    (repository / "history.json").write_text("a file that git does not know")
    assert find_commit({}, repository)[0] == commit
    (repository / "hooks.py").write_text("two")
    assert find_commit({}, repository)[0] == f"{commit}{DIRTY}"
    assert find_commit({"GITHUB_SHA": "abc"}, repository)[0] == "abc"


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
    monkeypatch.setattr("harness.store.commits._SECONDS", 0.1)
    assert find_commit({}, tmp_path) == (None, None)


@pytest.mark.parametrize("commit", COMMIT_VARIABLES)
def test_the_variables_of_ci_count_first(tmp_path, commit):
    for branch in BRANCH_VARIABLES:
        assert find_commit({commit: "abc", branch: "main"}, tmp_path) == ("abc", "main"), branch


def test_a_pull_request_has_the_name_of_its_branch(tmp_path):
    environ = {"GITHUB_SHA": "abc", "GITHUB_REF_NAME": "12/merge", "GITHUB_HEAD_REF": "new-ranking"}
    assert find_commit(environ, tmp_path) == ("abc", "new-ranking")
    assert find_commit({**environ, "GITHUB_HEAD_REF": ""}, tmp_path) == ("abc", "12/merge")
