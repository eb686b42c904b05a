"""Packing a history, git merges of two branches' histories, and exports of it."""

import json
import subprocess
from dataclasses import replace

import pytest

from builders.histories import entry_of, make_kept_suite, ranking_of, run_of
from harness.errors import HistoryError
from harness.extensions.history.exports import EXPORT_FORMATS, render_export, select_last_entries
from harness.extensions.history.packing import pack_suite as join_files
from harness.files.beside import BesideFile
from harness.model.kept import HistoryFigure
from harness.store.history_files import read_history, write_entry

SUITE = make_kept_suite()


def make_entries(days):
    """An entry of each of *days*, with another ranking each."""
    return [entry_of(SUITE, run_of(SUITE, shoes=ranking_of(f"x{day}", "a")), day=day) for day in days]


@pytest.fixture
def folder(tmp_path):
    for entry in make_entries(range(5)):
        write_entry(tmp_path, entry)
    return tmp_path


def pack_suite(folder, *, keep):
    """Joins the files and writes the packed one; returns it, None if there is nothing to pack."""
    packed = join_files(folder, keep=keep)
    if packed is not None:
        packed.write()
    return packed


def names(folder, pattern="*"):
    return sorted(path.name for path in (folder / "shop").glob(pattern))


def test_old_files_become_one_and_the_last_ones_stay(folder):
    packed = pack_suite(folder / "shop", keep=2)
    assert packed.entries == 3
    assert names(folder, "*.jsonl") == [packed.path.name]
    assert [name[:10] for name in names(folder, "*.json")] == ["2026-11-04", "2026-11-05"]
    assert len(packed.path.read_text().splitlines()) == 3
    assert read_history(folder, "shop") == make_entries(range(5))


def test_packing_again_changes_nothing(folder):
    pack_suite(folder / "shop", keep=2)
    before = names(folder)
    assert pack_suite(folder / "shop", keep=2) is None
    assert names(folder) == before


def test_runs_that_came_since_become_another_file(folder):
    first = pack_suite(folder / "shop", keep=2)
    for entry in make_entries([5, 6]):
        write_entry(folder, entry)
    second = pack_suite(folder / "shop", keep=2)
    assert (first.entries, second.entries) == (3, 2)
    assert read_history(folder, "shop") == make_entries(range(7))


def test_all_may_be_packed_and_no_folder_has_nothing_to_pack(folder):
    assert pack_suite(folder / "shop", keep=0).entries == 5
    assert pack_suite(folder / "missing", keep=0) is None


@pytest.mark.parametrize("removed", range(3))
def test_a_kill_in_between_loses_nothing_and_the_next_one_ends_the_work(folder, monkeypatch, removed):
    remove, calls = BesideFile.remove, []

    def remove_until_killed(file):
        calls.append(file)
        if len(calls) > removed:
            raise KeyboardInterrupt
        remove(file)

    with monkeypatch.context() as patched:
        patched.setattr(BesideFile, "remove", remove_until_killed)
        with pytest.raises(KeyboardInterrupt):
            pack_suite(folder / "shop", keep=2)
    assert read_history(folder, "shop") == make_entries(range(5))
    pack_suite(folder / "shop", keep=2)
    assert len(names(folder, "*.json")) == 2
    assert read_history(folder, "shop") == make_entries(range(5))


def test_nothing_is_packed_if_a_file_cannot_be_read(folder):
    (folder / "shop" / "2026-10-01.json").write_text("{")
    before = names(folder)
    with pytest.raises(HistoryError, match=r"2026-10-01.json:1:2: this is not JSON"):
        pack_suite(folder / "shop", keep=0)
    assert names(folder) == before


# git.


@pytest.fixture
def repository(folder):
    git(folder, "init", "--initial-branch", "main")
    commit(folder)
    return folder


def git(folder, *words):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "-m", "runs")


def keep_on(folder, branch, entries):
    """Keep *entries* on a new *branch* of main."""
    git(folder, "checkout", "-b", branch, "main")
    for entry in entries:
        write_entry(folder, entry)


def test_git_merges_the_histories_of_two_branches(repository):
    keep_on(repository, "one", make_entries([5, 7]))
    commit(repository)
    keep_on(repository, "two", make_entries([6, 8]))
    commit(repository)
    git(repository, "merge", "one", "-m", "both")
    assert git(repository, "status", "--porcelain") == ""
    assert read_history(repository, "shop") == make_entries(range(9))


@pytest.mark.parametrize(("keep_of_two", "strategy"), [(None, ()), (1, ("-s", "resolve")), (3, ("-s", "resolve"))])
def test_git_merges_a_branch_that_packed_and_two_without_regard_to_renames(repository, keep_of_two, strategy):
    pack_suite(repository / "shop", keep=3)
    commit(repository)
    keep_on(repository, "one", make_entries([5]))
    pack_suite(repository / "shop", keep=1)
    commit(repository)
    keep_on(repository, "two", make_entries([6, 7]))
    if keep_of_two is not None:
        pack_suite(repository / "shop", keep=keep_of_two)
    commit(repository)
    git(repository, "merge", *strategy, "one", "-m", "both")
    assert git(repository, "status", "--porcelain") == ""
    assert read_history(repository, "shop") == make_entries(range(8))


def test_git_merges_branches_that_packed_the_same(repository):
    for branch in ("one", "two"):
        keep_on(repository, branch, [])
        pack_suite(repository / "shop", keep=1)
        commit(repository)
    git(repository, "merge", "one", "-m", "both")
    assert len(names(repository, "*.jsonl")) == 1
    assert read_history(repository, "shop") == make_entries(range(5))


# Exports.

FIGURES = {"nDCG@3": HistoryFigure(0.75, 50, (0.7, 0.8)), "RR@3": HistoryFigure(None, 0)}


def make_exported():
    entry = replace(make_entries([0])[0], measures=FIGURES, tags={"head": {"nDCG@3": HistoryFigure(0.9, 5)}})
    other = replace(entry, request="other", chosen_index="products_v2", tags={})
    return [make_entries([-1])[0], entry, other]


def test_the_last_entry_of_each_series_is_exported():
    entries = make_exported()
    assert select_last_entries(entries) == entries[1:]


def test_github_action_benchmark_gets_a_list_of_what_is_better_if_bigger():
    first, head, other = json.loads(render_export(make_exported()[1:], "github-action-benchmark"))
    assert first == {
        "name": "shop, request current: nDCG@3",
        "unit": "score",
        "value": 0.75,
        "range": "± 0.0500",
        "extra": "mean over 50 queries\nrun of 2026-11-01T03:00:00Z\ncommit 0123abc\nopensearch 3.8.0",
    }
    assert (head["name"], head["value"]) == ("shop, request current, tag head: nDCG@3", 0.9)
    assert "range" not in head
    assert other["name"] == "shop, request other, index products_v2: nDCG@3"


def test_bencher_gets_a_benchmark_of_measures_with_their_bounds():
    assert json.loads(render_export(make_exported()[1:], "bencher")) == {
        "shop, request current": {"nDCG@3": {"value": 0.75, "lower_value": 0.7, "upper_value": 0.8}},
        "shop, request current, tag head": {"nDCG@3": {"value": 0.9}},
        "shop, request other, index products_v2": {"nDCG@3": {"value": 0.75, "lower_value": 0.7, "upper_value": 0.8}},
    }


BMF = {
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
                    "required": ["value"],
                }
            },
        }
    },
}
"""The schema that https://bencher.dev/docs/reference/bencher-metric-format/ shows."""


def test_what_bencher_gets_is_of_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(render_export(make_exported(), "bencher")), BMF)


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_no_entry_is_an_empty_export(name):
    assert json.loads(render_export([], name)) in ([], {})


@pytest.mark.parametrize("change", [lambda text: "", lambda text: text[: text.index("\n") + 1]])
def test_a_packed_file_that_lost_entries_is_refused(tmp_path, change):
    for day in range(2):
        write_entry(tmp_path, entry_of(SUITE, run_of(SUITE), day=day))
    path = pack_suite(tmp_path / "shop", keep=0).path
    text = path.read_text()
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert len(read_history(tmp_path, "shop")) == 2
    path.write_text(change(text))
    with pytest.raises(HistoryError, match="so it was edited or renamed; restore the file, or remove it"):
        read_history(tmp_path, "shop")
