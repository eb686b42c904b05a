"""``relevance baseline diff``: what moved since what is kept."""

import pytest

import harness.extensions.compare.scores
import harness.search.dialects
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
from harness.model.run import Failure, FailureKind, IndexFacts


@pytest.fixture
def folder(working_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    return write_shop(working_folder)


@pytest.fixture
def engine(monkeypatch):
    return answer_changing(monkeypatch)


def test_diff_compares_each_request_on_each_index_with_the_request_s_entry(folder, engine, capsys):
    pytest.importorskip("numpy")
    harness_baseline("save", "shop.relevance.yaml", "-q", "--all-requests")
    capsys.readouterr()
    engine.now(q=["x", "a"])
    words = ["--all-requests", "--index", "v1", "--index", "v2"]
    assert harness_baseline("diff", "shop.relevance.yaml", "-q", *words) == 0
    lines = capsys.readouterr().out.splitlines()
    titles = [line for line in lines if line.startswith("shop")]
    assert titles == [
        f"shop  request:{request} on index {index} against baseline"
        for request in ("current", "candidate")
        for index in ("v1", "v2")
    ]
    assert [line.split()[:4] for line in lines if line.startswith("  RR@3 ")] == 4 * [
        ["RR@3", "0.7500", "0.5000", "-0.2500"]
    ]


def test_diff_compares_the_queries_that_ask_the_same_and_shows_what_the_others_asked(folder, engine, capsys):
    harness_baseline("save", "shop.relevance.yaml", "-q")
    ask_otherwise(folder)
    engine.now(q=["x", "a"])
    capsys.readouterr()
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"baseline asked something else for 1 query, not compared: {ANOTHER_QUESTION}" in text
    assert "RR@3 1.0000 → 0.5000" in text
    assert "2 queries: other documents 1, not compared 1" in text


@pytest.fixture
def contradicting(folder, engine, capsys):
    return contradict(folder, capsys)


def test_diff_compares_with_nothing_that_contradicts_itself(contradicting, capsys):
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 1
    assert contradicting in capsys.readouterr().err


def test_diff_shows_what_moved_and_decides_and_writes_nothing(folder, engine, capsys):
    pytest.importorskip("numpy")
    harness_baseline("save", "shop.relevance.yaml", "-q")
    before = (folder / "shop.baseline.json").read_bytes()
    engine.now(q=["x", "y", "a"])
    engine.facts = IndexFacts("m", None, 4, ("settings",))
    capsys.readouterr()
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 0
    text = capsys.readouterr().out
    assert "the index changed: it had 3 documents and has 4" in text
    [row] = [line.split() for line in text.splitlines() if line.startswith("  RR@3  ")]
    assert (row[:4], row[-2:]) == (["RR@3", "0.7500", "0.4167", "-0.3333"], ["0/1/1", "2"])
    assert "RR@3: changed most: q 1.0000 → 0.3333" in text
    assert (folder / "shop.baseline.json").read_bytes() == before


def test_a_query_that_is_skipped_is_not_new_to_diff(folder, engine, capsys):
    path = folder / "shop.relevance.yaml"
    path.write_text(path.read_text() + "  - {id: s, text: three, skip: {reason: later}, judgments: {c: 1}}\n")
    assert harness_baseline("save", "shop.relevance.yaml") == 0
    assert set(kept(folder)["current"].queries) == {"q", "r"}
    capsys.readouterr()
    assert harness_baseline("diff", "shop.relevance.yaml") == 0
    assert "only in" not in capsys.readouterr().out


def test_diff_names_queries_that_only_one_side_has(folder, engine, capsys):
    harness_baseline("save", "shop.relevance.yaml", "-q")
    suite = SUITE.format(name="shop").replace("id: r,", "id: s,")
    (folder / "shop.relevance.yaml").write_text(suite)
    engine.now(s=["b"])
    capsys.readouterr()
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 0
    text = capsys.readouterr().out
    assert "only in request:current: 1 query (s)\n" in text
    assert "baseline has 1 query that the suite does not have: r\n" in text


def test_diff_shows_the_means_where_nothing_can_be_tested(folder, engine, capsys, monkeypatch):
    monkeypatch.setattr(harness.extensions.compare.scores, "find_spec", lambda _: None)
    harness_baseline("save", "shop.relevance.yaml", "-q")
    engine.now(q=["x", "y", "a"])
    capsys.readouterr()
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "RR@3 0.7500 → 0.4167 (-0.3333) over 2 queries; it is not tested without numpy and scipy: pip" in text


def test_diff_leaves_out_a_measure_that_looks_below_what_is_kept(folder, engine, capsys):
    pytest.importorskip("numpy")
    harness_baseline("save", "shop.relevance.yaml", "-q")
    path = folder / "shop.relevance.yaml"
    path.write_text(path.read_text().replace('measures: ["RR@3"]', 'measures: ["RR@3", "P@10", "P@20"]'))
    capsys.readouterr()
    assert harness_baseline("diff", "shop.relevance.yaml", "-q") == 0
    text = capsys.readouterr().out
    assert "P@20 is not compared: the baseline keeps 10 hits a query" in text
    assert "\n  RR@3  " in text
    assert "\n  P@10  " in text


@pytest.mark.parametrize(
    ("ranking", "status", "sentence"),
    [(["a"], 1, "there is no baseline"), (Failure(FailureKind.TIMEOUT, "late"), 3, "nothing is compared")],
)
def test_diff_without_a_baseline_or_an_answer_ends_as_such(folder, engine, capsys, ranking, status, sentence):
    engine.now(q=ranking)
    assert harness_baseline("diff", "shop.relevance.yaml") == status
    assert sentence in capsys.readouterr().err
