"""``relevance baseline``: from suites in files over a search that needs no server to the files that are written."""

import errno
import json
import os
from dataclasses import replace
from datetime import date

import pytest

from builders.changing import (
    ANOTHER_QUESTION,
    SUITE,
    answer_changing,
    ask_otherwise,
    contradict,
    harness_baseline,
    kept,
    write_shop,
)
from builders.extension_cases import needs_extension
from harness.cli import main
from harness.model.run import Failure, FailureKind, Hit, Ranking


@pytest.fixture
def folder(working_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    return write_shop(working_folder)


@pytest.fixture
def engine(monkeypatch):
    return answer_changing(monkeypatch)


def test_a_suite_is_saved_and_what_was_saved_is_said(folder, engine, capsys):
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
    assert capsys.readouterr().out == (
        "shop.baseline.json: request current, 2 queries\n  RR@3 0.7500\n  not read of the index: settings\n"
    )
    assert set(kept(folder)["current"].queries) == {"q", "r"}
    assert kept(folder)["current"].index == engine.facts
    engine.now(r=["b"])
    harness_baseline("save", "shop.relevance.yaml", "-q")
    assert "RR@3 1.0000, was 0.7500" in capsys.readouterr().out


def test_programs_read_what_was_saved_and_what_there_is(folder, engine, capsys):
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    [saved] = result["facts"]["baselines"]
    assert result["files"] == ["shop.baseline.json"]
    assert (saved["request"], saved["queries"]) == ("current", 2)
    assert saved["means"] == {"RR@3": {"mean": 0.75, "counted": 2}}
    assert harness_baseline("show", "shop.relevance.yaml", "--json") == 0
    [shown] = json.loads(capsys.readouterr().out)["facts"]["baselines"]
    assert shown == {key: value for key, value in saved.items() if key != "notes"}


def test_a_mean_over_some_of_the_queries_says_over_how_many(folder, engine, capsys):
    path = folder / "shop.relevance.yaml"
    path.write_text(path.read_text().replace("{b: 1}", "{b: 0}").replace("thresholds:", "undefined: skip\nthresholds:"))
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
    assert "  RR@3 1.0000 of 1\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        ("", True),
        ('thresholds: ["mean RR@3 >= 0.1"]\n', True),
        ('thresholds: ["mean RBO >= 0.9"]\n', False),
        ('thresholds: ["worse RR@3 by 0.1 <= 3 queries"]\n', False),
    ],
)
def test_that_no_threshold_compares_with_it_is_said(folder, engine, capsys, thresholds, said):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.format(name="shop").replace('thresholds: ["drop RR@3 <= 0.1"]\n', thresholds))
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
    note = "no threshold compares with the baseline; add one, such as `drop RR@3 <= 0.02`"
    assert (note in capsys.readouterr().out) == said


@needs_extension("compare")
def test_means_are_weighted_and_say_so(folder, engine, capsys):
    pytest.importorskip("numpy")
    path = folder / "shop.relevance.yaml"
    path.write_text(path.read_text().replace("id: q,", "id: q, weight: 3,").replace("id: r,", "id: r, weight: 1,"))
    harness_baseline("save", path.name, "-q")
    assert "\n  RR@3 (weighted) 0.8750\n" in capsys.readouterr().out  # (3 * 1 + 0.5) / 4
    harness_baseline("show", path.name)
    shown = capsys.readouterr().out
    assert "mean (weighted)" in shown
    assert "0.8750" in shown
    engine.now(q=["x", "a"], r=["b"])
    harness_baseline("diff", path.name, "-q")
    printed = capsys.readouterr().out
    assert ["RR@3", "0.8750", "0.6250", "-0.2500"] in [line.split()[:4] for line in printed.splitlines()]
    assert "weighted means, sign-flip test" in printed
    assert "RR@3: changed most: q 1.0000 → 0.5000, r 0.5000 → 1.0000" in printed


def test_what_was_saved_is_what_a_run_is_held_against(folder, engine, capsys):
    assert main(["run", "shop.relevance.yaml", "-q"]) == 1
    assert "`relevance baseline save shop.relevance.yaml` saves one" in capsys.readouterr().out.replace("\n", " ")
    harness_baseline("save", "shop.relevance.yaml", "-q")
    assert main(["run", "shop.relevance.yaml", "-q"]) == 0
    engine.now(q=["x", "y", "a"])
    assert main(["run", "shop.relevance.yaml", "-q"]) == 1
    assert "fell most: q 1.0000 -> 0.3333" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize("choice", [("--tag", "head"), ("--query", "q")])
def test_another_request_and_other_queries_stay(folder, engine, choice):
    harness_baseline("save", "shop.relevance.yaml")
    first = kept(folder)["current"]
    engine.now(q=["x", "a"], r=["b"])
    assert harness_baseline("save", "shop.relevance.yaml", "--request", "candidate") == 0
    assert kept(folder)["current"] == first
    assert harness_baseline("save", "shop.relevance.yaml", *choice) == 0
    now = kept(folder)["current"].queries
    assert (now["r"], now["q"].scores) == (first.queries["r"], {"RR@3": 0.5})


def test_a_mean_before_of_other_queries_is_told_as_such(folder, engine, capsys):
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--query", "q") == 0
    capsys.readouterr()
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
    assert ", was 1.0000 over other queries (1)" in capsys.readouterr().out


def test_several_requests_are_saved_an_entry_each(folder, engine, capsys):
    harness_baseline("save", "shop.relevance.yaml", "-q")
    first = kept(folder)["current"]
    engine.now(r=["b"])
    capsys.readouterr()
    words = ["--request", "candidate", "--request", "current"]
    assert harness_baseline("save", "shop.relevance.yaml", "-q", *words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "shop.baseline.json: request candidate, 2 queries"
    assert lines[3:5] == ["shop.baseline.json: request current, 2 queries", "  RR@3 1.0000, was 0.7500"]
    entries = kept(folder)
    assert set(entries) == {"current", "candidate"}
    assert entries["current"] != first
    assert entries["current"].template != entries["candidate"].template


def test_with_an_error_in_one_request_no_entry_is_written(folder, engine, capsys):
    engine.now(r=Failure(FailureKind.ERROR, "no such field", 400))
    assert harness_baseline("save", "shop.relevance.yaml", "--all-requests") == 3
    assert not list(folder.glob("*.json"))


def test_a_baseline_is_of_one_index(folder, engine, capsys):
    assert harness_baseline("save", "shop.relevance.yaml", "--index", "v1", "--index", "v2") == 2
    assert "a baseline has one run per request; give one --index" in capsys.readouterr().err
    assert harness_baseline("save", "shop.relevance.yaml", "--index", "v1") == 0
    assert {request.index for request in engine.requests} == {"v1"}


def test_with_an_error_in_any_suite_nothing_is_written(folder, engine, capsys):
    (folder / "store.relevance.yaml").write_text(SUITE.format(name="store").replace("id: q", "id: s"))
    engine.now(s=Failure(FailureKind.ERROR, "no such field", 400))
    assert harness_baseline("save", ".") == 3
    assert "1 query had no answer (s): engine error (400): no such field" in capsys.readouterr().err
    assert not list(folder.glob("*.json"))


@pytest.mark.parametrize("name", ["shop.relevance.yaml", "judged.qrels", "other.json", "own.json"])
def test_a_file_of_something_else_is_not_replaced(folder, engine, capsys, name):
    """The suite itself became a baseline."""
    path = folder / name
    if not path.exists():
        path.write_text({"other.json": '{"a": 1}', "own.json": '{\n "requests": {'}.get(name, "q 0 d 3\n"))
    before = path.read_text()
    own = name == "own.json"
    assert harness_baseline("save", "shop.relevance.yaml", "--baseline", name) == (0 if own else 2)
    if not own:
        assert "it is not replaced, as it is no file of baselines: name another file" in capsys.readouterr().err
    assert (path.read_text() == before) == (not own)


def test_a_file_of_another_version_is_replaced_by_a_whole_suite_and_not_by_a_part(folder, engine, capsys):
    path = folder / "shop.baseline.json"
    path.write_text('{"schema": 99}')
    assert harness_baseline("save", "shop.relevance.yaml", "--tag", "head") == 2
    assert "found schema version 99, expected 2" in capsys.readouterr().err
    assert path.read_text() == '{"schema": 99}'
    assert harness_baseline("save", "shop.relevance.yaml") == 0
    assert "it is replaced" in capsys.readouterr().out
    assert set(kept(folder)) == {"current"}


def test_a_part_of_the_queries_is_not_put_beside_entries_of_another_depth(folder, engine, capsys):
    harness_baseline("save", "shop.relevance.yaml")
    before = kept(folder)
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text() + "depth: 50\n")
    assert harness_baseline("save", "shop.relevance.yaml", "--query", "q") == 2
    assert "1 query (r) that were kept under another depth; save the whole suite" in capsys.readouterr().err
    assert kept(folder) == before


@pytest.mark.parametrize("words", [(), ("--baseline", "shop.baseline.json"), ("--baseline", "/dev/stdout")])
def test_nothing_is_saved_into_a_pipe_or_a_device(folder, engine, capsys, words):
    """A pipe would be read first, and nobody writes to it."""
    os.mkfifo(folder / "shop.baseline.json")
    assert harness_baseline("save", "shop.relevance.yaml", *words) == 2
    path = words[-1] if words else "shop.baseline.json"
    assert f"the baseline {path} cannot be written: it is not a regular file" in capsys.readouterr().err
    assert bool(engine.requests) == (not words)


def test_a_baseline_is_read_from_a_pipe(folder, engine):
    harness_baseline("save", "shop.relevance.yaml")
    reader, writer = os.pipe()
    os.write(writer, (folder / "shop.baseline.json").read_bytes())
    os.close(writer)
    assert harness_baseline("show", "shop.relevance.yaml", "--baseline", f"/dev/fd/{reader}") == 0
    os.close(reader)


def test_a_file_of_another_suite_is_not_written_over(folder, engine, capsys):
    (folder / "store.relevance.yaml").write_text(SUITE.format(name="store"))
    harness_baseline("save", "store.relevance.yaml")
    assert harness_baseline("save", "shop.relevance.yaml", "--baseline", "store.baseline.json") == 2
    assert "'store'" in capsys.readouterr().err
    assert harness_baseline("save", ".", "--baseline", "store.baseline.json") == 2


def test_a_suite_that_was_renamed_keeps_its_other_requests(folder, engine):
    harness_baseline("save", "shop.relevance.yaml", "--request", "candidate")
    (folder / "shop.relevance.yaml").write_text(SUITE.format(name="store"))
    assert harness_baseline("save", "shop.relevance.yaml") == 0
    assert set(kept(folder)) == {"current", "candidate"}


def test_a_file_that_cannot_be_written_is_wrong_use_and_its_folder_is_looked_for_first(
    folder, engine, capsys, monkeypatch
):
    missing = harness_baseline("save", "shop.relevance.yaml", "-q", "--baseline", "no/such/x.json")
    said = "--baseline no/such/x.json: the folder no/such does not exist; create it first"
    assert (missing, said in capsys.readouterr().err, engine.requests) == (2, True, [])

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("harness.store.baseline_files.BesideFile.write", refuse)
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 2
    assert "the baseline shop.baseline.json cannot be written: Permission denied" in capsys.readouterr().err


def test_show_prints_every_request_and_the_queries_that_ties_move(folder, engine, capsys):
    engine.now(q=Ranking((Hit("x", 2.0), Hit("a", 2.0))))
    harness_baseline("save", "shop.relevance.yaml", "-q")
    harness_baseline("save", "shop.relevance.yaml", "-q", "--request", "candidate")
    capsys.readouterr()
    assert harness_baseline("show", "shop.relevance.yaml") == 0
    text = capsys.readouterr().out
    assert text.startswith("shop  shop.baseline.json\n")
    assert "request candidate" in text
    assert "index    3 documents; not read: settings" in text
    assert ["RR@3", "0.5000", "2", "q"] in [line.split() for line in text.splitlines()]


def test_show_names_the_queries_that_ask_something_else_by_now(folder, engine, capsys, monkeypatch):
    harness_baseline("save", "shop.relevance.yaml", "-q")
    capsys.readouterr()
    assert harness_baseline("show", "shop.relevance.yaml") == 0
    assert "another question" not in capsys.readouterr().out
    ask_otherwise(folder)
    assert harness_baseline("show", "shop.relevance.yaml") == 0
    assert f"changed query: {ANOTHER_QUESTION}" in capsys.readouterr().out
    path = folder / "shop.relevance.yaml"
    path.write_text(path.read_text().replace("zwei", "${RELEVANCE_NOT_SET}"))
    assert harness_baseline("show", "shop.relevance.yaml") == 0
    assert "cannot check whether queries changed" in capsys.readouterr().out


def test_what_stays_of_another_question_is_said_and_compared_with_nothing(folder, engine, capsys):
    harness_baseline("save", "shop.relevance.yaml", "-q")
    ask_otherwise(folder)
    capsys.readouterr()
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--tag", "head") == 0
    said = f"what was kept of 1 query that did not run is of a changed query: {ANOTHER_QUESTION}"
    assert said in capsys.readouterr().out
    assert main(["run", "shop.relevance.yaml"]) == 1
    assert f"asked something else for 1 query: {ANOTHER_QUESTION}" in " ".join(capsys.readouterr().out.split())
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--tag", "tail") == 0
    assert "another question" not in capsys.readouterr().out
    assert main(["run", "shop.relevance.yaml"]) == 0


def today(monkeypatch, day):
    monkeypatch.setattr("harness.options.RunOptions.day", lambda _: date.fromisoformat(day))


@pytest.mark.parametrize("choice", [("--tag", "head"), ("--query", "q"), ()], ids=["tag", "query", "skip"])
def test_what_a_save_keeps_stays_with_the_day_and_the_documents_of_its_own(folder, engine, capsys, monkeypatch, choice):
    today(monkeypatch, "2026-05-01")
    harness_baseline("save", "shop.relevance.yaml", "-q")
    before = kept(folder)["current"]
    today(monkeypatch, "2026-05-02")
    engine.facts = replace(engine.facts, documents=5)
    if not choice:
        text = (folder / "shop.relevance.yaml").read_text()
        (folder / "shop.relevance.yaml").write_text(text.replace("tags: [tail]", "tags: [tail], skip: {reason: slow}"))
    capsys.readouterr()
    assert harness_baseline("save", "shop.relevance.yaml", "-q", *choice) == 0
    said = (
        "1 query (r) that did not run was saved on 2026-05-01 from an index of 3 documents, which has 5 documents now"
    )
    assert said in capsys.readouterr().out
    now = kept(folder)["current"]
    assert (now.created, now.index.documents) == ("2026-05-02", 5)
    assert now.queries["r"] == replace(before.queries["r"], created="2026-05-01", documents=3)
    assert now.queries["q"] == before.queries["q"]
    (folder / "shop.relevance.yaml").write_text(SUITE.format(name="shop"))

    changed = "since the baseline of 2026-05-01 of 1 query (r) the index changed: it had 3 documents and has 5"
    main(["run", "shop.relevance.yaml", "--json"])
    report = json.loads(capsys.readouterr().out)["suites"][0]
    assert [note for note in report["notes"] if "documents" in note] == [changed]
    assert list(report["baseline"]["changes"]) == [changed]
    main(["run", "shop.relevance.yaml", "--json", "--tag", "head"])
    assert "the index changed" not in capsys.readouterr().out
    harness_baseline("show", "shop.relevance.yaml")
    assert "of these 1 query (r) saved 2026-05-01 from 3 documents" in capsys.readouterr().out


def test_what_was_kept_twice_keeps_its_state_until_it_is_saved_again(folder, engine, capsys, monkeypatch):
    for day, documents, choice in (("01", 3, ()), ("02", 5, ("--tag", "head")), ("03", 7, ("--tag", "head"))):
        today(monkeypatch, f"2026-05-{day}")
        engine.facts = replace(engine.facts, documents=documents)
        assert harness_baseline("save", "shop.relevance.yaml", "-q", *choice) == 0
    assert (kept(folder)["current"].queries["r"].created, kept(folder)["current"].queries["r"].documents) == (
        "2026-05-01",
        3,
    )
    engine.facts = replace(engine.facts, documents=8)
    capsys.readouterr()
    main(["run", "shop.relevance.yaml", "--json"])
    assert json.loads(capsys.readouterr().out)["suites"][0]["baseline"]["changes"] == [
        "since the baseline of 2026-05-03 of 1 query (q) the index changed: it had 7 documents and has 8",
        "since the baseline of 2026-05-01 of 1 query (r) the index changed: it had 3 documents and has 8",
    ]
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--tag", "tail") == 0
    assert kept(folder)["current"].queries["r"].created is None
    assert kept(folder)["current"].queries["q"].documents == 7


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"created": "yesterday"}, "its date is 'yesterday', expected one such as '2026-05-01'"),
        ({"created": "2026-05-01", "documents": -1}, "its index has -1 documents"),
        ({"documents": 3}, "it has the number of documents of an index, and no date"),
    ],
)
def test_a_state_of_a_query_that_cannot_be_is_a_contradiction(folder, engine, capsys, state, words):
    harness_baseline("save", "shop.relevance.yaml", "-q")
    path = folder / "shop.baseline.json"
    content = json.loads(path.read_text())
    content["requests"]["current"]["queries"]["r"] |= state
    path.write_text(json.dumps(content))
    capsys.readouterr()
    assert harness_baseline("show", "shop.relevance.yaml") == 1
    assert f"request current, query r: {words}" in capsys.readouterr().err


@pytest.fixture
def contradicting(folder, engine, capsys):
    return contradict(folder, capsys)


def test_show_says_which_baseline_contradicts_itself_and_prints_the_others(contradicting, capsys):
    assert harness_baseline("show", "shop.relevance.yaml") == 1
    printed = capsys.readouterr()
    assert contradicting in printed.err
    assert "request candidate" in printed.out
    assert "request current" not in printed.out


def test_a_baseline_that_contradicts_itself_is_replaced_and_no_part_is_put_beside_it(contradicting, folder, capsys):
    before = kept(folder)
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--tag", "head") == 2
    assert f"{contradicting}; save the whole suite" in capsys.readouterr().err
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--tag", "head", "--request", "candidate") == 0
    assert kept(folder)["current"] == before["current"]
    capsys.readouterr()
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
    assert f"{contradicting}; it is replaced" in capsys.readouterr().out
    after = kept(folder)
    assert after["current"].queries["r"].ranking
    assert after["candidate"] == before["candidate"]


def test_show_says_which_suites_have_none(folder, engine, capsys):
    (folder / "store.relevance.yaml").write_text(SUITE.format(name="store"))
    harness_baseline("save", "shop.relevance.yaml", "-q")
    assert harness_baseline("show", ".") == 1
    printed = capsys.readouterr()
    assert "shop  shop.baseline.json" in printed.out
    assert "store.baseline.json" in printed.err


@pytest.mark.parametrize(("variable", "value"), [("CI", "true"), ("JENKINS_URL", "http://ci/"), ("TF_BUILD", "True")])
def test_in_ci_nothing_is_saved_unless_that_is_forced(folder, engine, capsys, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)

    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"relevance: baseline save: {variable} is set, and a job that saves its own ")
    assert said.err.endswith("or say --force\n")
    assert (engine.requests, list(folder.glob("*.json"))) == ([], [])
    assert harness_baseline("save", "shop.relevance.yaml", "-q", "--force") == 0
    assert set(kept(folder)["current"].queries) == {"q", "r"}


@needs_extension("compare")
def test_in_ci_what_is_kept_is_shown_and_compared(folder, engine, monkeypatch):
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
    monkeypatch.setenv("CI", "true")
    assert harness_baseline("show", "shop.relevance.yaml") == 0
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 0


@pytest.mark.parametrize("environ", [{}, {"CI": ""}, {"CI": "false"}, {"CI": "0", "BUILD_NUMBER": "7"}, {"TRAVIS": ""}])
def test_elsewhere_saving_needs_no_force(folder, engine, monkeypatch, environ):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert harness_baseline("save", "shop.relevance.yaml", "-q") == 0
