"""``relevance history`` from a folder of entries to what is printed and written."""

import json
import re
from pathlib import Path

import pytest

from builders.histories import entries_of, entry_of, make_kept_suite, ranking_of, run_of
from builders.terminals import run_on_terminal
from harness.cli import main
from harness.store.history_files import write_entry

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}, size: 3}
measures: ["nDCG@3", "RR@3"]
queries:
  - {id: boots, text: rubber boots, tags: [tail], judgments: {d: 2}}
  - {id: shoes, text: red shoes, tags: [head], judgments: {a: 3, b: 1}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    suite = make_kept_suite()
    runs = [run_of(suite)] * 6 + [run_of(suite, shoes=ranking_of("x", "b", "a"))] * 6
    for entry in entries_of(suite, runs):
        write_entry(tmp_path / "history", entry)
    return tmp_path


@pytest.fixture
def history(folder, capsys):
    def run(*words):
        status = main(["history", *words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_the_runs_of_a_suite_are_shown(history):
    status, out, err = history("shop.relevance.yaml", "--history", "history")
    assert (status, err) == (0, "")
    assert re.search(r"nDCG@3 +all queries +██████▁▁▁▁▁▁ +0\.7\d+", out)
    assert "nDCG@3 fell by 0.2" in out
    assert "with run 7 (2026-11-07, commit 0123abc), before which nothing is known to have changed" in re.sub(
        r"\s+", " ", out
    )


def test_the_word_show_may_be_said_and_relevance_toml_names_the_folder(history, folder):
    (folder / "relevance.toml").write_text('history = "history"\n')
    assert history("shop.relevance.yaml") == history("show", "shop.relevance.yaml")


def test_a_page_is_written(history, folder):
    status, _, err = history("shop.relevance.yaml", "--history", "history", "--output", "html=history.html")
    assert (status, err) == (0, "wrote history.html\n")
    assert "<title>shop: nDCG@3 0." in (folder / "history.html").read_text()


def test_json_is_printed_and_no_output(history):
    status, _, err = history("shop.relevance.yaml", "--history", "history", "--output", "json=history.json")
    assert status == 2
    assert "there is no kind 'json', only html; --json prints it" in err


def test_runs_of_a_suite_of_the_same_name_are_named_beside_its_own_file(history, folder):
    (folder / ".git").mkdir()
    for name in ("old", "new"):
        (folder / name).mkdir()
        (folder / name / "shop.relevance.yaml").write_text(SUITE)
    suite = make_kept_suite()
    for day, name in enumerate(("old", "new")):
        write_entry(folder / "kept", entry_of(suite, run_of(suite), day=day, file=f"{name}/shop.relevance.yaml"))
    err = history("new/shop.relevance.yaml", "--history", "kept")[2]
    assert err == (
        "note: runs of old/shop.relevance.yaml do not count: a suite of the same name, in another file than "
        "new/shop.relevance.yaml\n"
    )


def test_judgments_of_today_are_those_that_count(history, folder):
    path = folder / "shop.relevance.yaml"
    path.write_text(SUITE.replace("{a: 3, b: 1}", "{a: 3, b: 1, x: 3}"))
    out = history(str(path), "--history", "history")[1]
    assert "nDCG@3 rose by" in out


def test_a_page_in_place_of_the_suite_is_refused(history):
    words = ("shop.relevance.yaml", "--history", "history", "--output", "html=shop.relevance.yaml")
    status, _, err = history(*words)
    assert status == 2
    assert "is read by this run" in err
    assert Path("shop.relevance.yaml").read_text() == SUITE


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "no history is named: give its folder with --history DIR, or as `history` in relevance.toml"),
        (("--history", "other"), "the history other has no run of the suite 'shop'; keep runs with relevance run"),
        (
            ("--history", "history", "--request", "curent"),
            "no run has the request 'curent', only current; did you mean",
        ),
        (("--history", "history", "--index", "x"), "no run has the index 'x' in place of the suite's own, all search"),
    ],
)
def test_what_is_missing_is_named(history, words, reason):
    status, out, err = history("shop.relevance.yaml", *words)
    assert (status, out) == (2, "")
    assert reason in err


def test_runs_on_another_index_are_a_timeline_of_their_own(history, folder):
    entry = entry_of(make_kept_suite(), run_of(make_kept_suite()), day=20, chosen_index="products-next")
    write_entry(folder / "history", entry)
    out = history("shop.relevance.yaml", "--history", "history")[1]
    assert re.findall(r"^shop  request (.*)$", out, re.M) == ["current on products-next", "current"]
    out = history("shop.relevance.yaml", "--history", "history", "--index", "products-next")[1]
    assert re.findall(r"^shop  request (.*)$", out, re.M) == ["current on products-next"]


def test_a_file_that_is_no_entry_is_refused_with_its_place(history, folder):
    (folder / "history" / "shop" / "x.json").write_text("{")
    status, _, err = history("shop.relevance.yaml", "--history", "history")
    assert status == 2
    assert "history/shop/x.json:1:2: this is not JSON" in err


# Packing, and exports.


def test_old_runs_are_packed_and_shown_as_before(history, folder):
    shown = history("shop.relevance.yaml", "--history", "history")
    status, out, _ = history("pack", "--history", "history", "--keep", "5")
    [packed] = (folder / "history" / "shop").glob("packed-*.jsonl")
    assert (status, out) == (0, f"packed 7 runs into history/shop/{packed.name}\n")
    assert history("shop.relevance.yaml", "--history", "history") == shown
    nothing = "nothing to pack: no suite in history has more than 5 runs in files of their own\n"
    assert history("pack", "--history", "history", "--keep", "5") == (0, nothing, "")


def test_packing_needs_a_history(history):
    assert history("pack")[0] == 2
    status, _, err = history("pack", "--history", "missing")
    assert (status, "the history missing cannot be read: No such file or directory" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "start"),
    [("github-action-benchmark", '[\n  {\n    "name": "shop, request current: RR@3"'), ("bencher", "{")],
)
def test_the_last_run_is_exported(history, name, start):
    status, out, err = history("export", "shop.relevance.yaml", "--history", "history", "--format", name)
    assert (status, err) == (0, "")
    assert out.startswith(start)
    assert "shop, request current, tag head" in out


def test_an_export_needs_a_run(history, folder):
    (folder / "shop.relevance.yaml").write_text(SUITE.replace("suite: shop", "suite: other"))
    status, _, err = history("export", "shop.relevance.yaml", "--history", "history", "--format", "bencher")
    assert (status, "has no run of the suite 'other'; keep runs with relevance run" in err) == (2, True)


def test_programs_read_the_runs_and_the_steps(history):
    status, out, _ = history("show", "shop.relevance.yaml", "--history", "history", "--json")
    [timeline] = json.loads(out)["facts"]["timelines"]
    assert (status, timeline["suite"], timeline["request"], len(timeline["runs"])) == (0, "shop", "current", 12)
    [step] = [step for step in timeline["steps"] if step["measure"] == "nDCG@3"]
    means = [run["means"]["nDCG@3"] for run in timeline["runs"]]
    assert (step["run"], step["before"], step["after"]) == (6, means[0], means[-1])
    status, out, _ = history("pack", "--history", "history", "--keep", "5", "--json")
    result = json.loads(out)
    assert (status, result["facts"], len(result["files"])) == (0, {"runs": [7]}, 1)


def test_a_terminal_is_shown_that_runs_are_scored(folder):
    output, shown = run_on_terminal("history", "shop.relevance.yaml", "--history", "history", "--json")
    assert json.loads(output)
    assert "reading the history" in shown
    assert "scoring 12 runs by the judgments of today" in shown
