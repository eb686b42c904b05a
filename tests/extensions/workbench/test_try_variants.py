"""Variants of queries: sent and shown below their query, and in no figure of the queries."""

import json

import pytest

from extensions.workbench.builders.tried_shop import QUERIES, REQUEST, SUITE, ShopEngine, open_actions, send
from harness.errors import UsageError
from harness.files.judge_files import JudgeFile

GOOD = REQUEST.replace("^3", "^6")
VARIANTS = {
    "q0": "variants: [qq0, q00]",
    "q3": "variants: [qq3]",
    "q5": "same_as: q0",
}


class VariantsEngine(ShopEngine):
    """qq0 and qq3 find what their queries find with a weight below 5, and the good document last from 5 on."""

    def __init__(self):
        super().__init__()
        for query in ("q0", "q3"):
            self.rankings[f"q{query}"] = [f"{query}-b", f"{query}-a", f"{query}-c"]
            self.rankings[f"q{query} good"] = [f"{query}-b", f"{query}-c", f"{query}-x", f"{query}-a"]
        self.rankings["q00"] = self.rankings["q00 good"] = ["q0-a", "q0-b", "q0-c"]


@pytest.fixture
def engine():
    with VariantsEngine() as engine:
        yield engine


@pytest.fixture
def path(tmp_path):
    return write_variants(tmp_path, SUITE)


def write_variants(folder, text):
    path = folder / "shop.relevance.yaml"
    lines = []
    for query in QUERIES:
        variants = f", {VARIANTS[query]}" if query in VARIANTS else ""
        judgments = f"{{{query}-a: good, {query}-b: fair, {query}-c: bad}}"
        lines.append(f"  - {{id: {query}, text: {query}, judgments: {judgments}{variants}}}\n")
    path.write_text(text + "".join(lines))
    return path


def test_variants_are_below_their_query(actions, engine):
    queries = {query["id"]: query for query in actions.show_session("", {})["queries"]}
    assert list(queries) == QUERIES
    assert [variant["id"] for variant in queries["q0"]["variants"]] == ["q0~1", "q0~2"]
    assert queries["q5"]["variants"] == [], "a variant that is a query has a row of its own"
    first, second = queries["q0"]["variants"]
    assert (first["text"], first["agreement"], first["live_agreement"]) == ("qq0", "RBO", 1.0)
    assert first["live"] == queries["q0"]["live"]
    assert (second["live"], second["live_error"]) == (1.0, None)
    assert second["live_agreement"] < 1.0
    assert len(engine.bodies) == len(QUERIES) + 3


def test_variants_are_sent_and_in_no_mean(actions):
    rows, last = send(actions, GOOD)
    assert len(rows) == len(QUERIES) + 3
    assert (last["total"], last["since"], last["summary"]["searches"]) == (15, 15, 15)
    assert rows["q0"]["agreement"] is None
    assert rows["q0~1"]["score"] < rows["q0"]["score"] == 1.0
    assert 0 < rows["q0~1"]["agreement"] < 1
    assert (rows["q0~1"]["unjudged"], rows["q0~1"]["moved"]) == (1, True)
    assert (rows["q0~2"]["score"], rows["q0~2"]["agreement"], rows["q0~2"]["moved"]) == (1.0, 1.0, False)
    summary = last["summary"]
    assert (summary["try"], summary["wins"], summary["losses"], summary["unjudged"]) == (1.0, 12, 0, 0)


def test_a_variant_is_scored_as_a_threshold_on_its_loss(engine, tmp_path):
    thresholds = 'thresholds: ["loss nDCG@5 of variants <= 0.1"]'
    path = write_variants(tmp_path, SUITE.replace('thresholds: ["mean nDCG@5 >= 0.9"]', thresholds))
    path.write_text(path.read_text().replace(", same_as: q0", ""))
    with open_actions(path, engine.url) as actions:
        rows, last = send(actions, GOOD)
    losses = [1.0 - (rows["q0~1"]["score"] + 1.0) / 2, 1.0 - rows["q3~1"]["score"]]
    [failing] = last["summary"]["failing"]
    assert f"{sum(losses) / 2:.4f}" in failing["text"]
    assert failing["live_too"] is False


def test_a_threshold_that_needs_a_query_as_a_variant_is_not_decided(engine, tmp_path):
    thresholds = 'thresholds: ["loss nDCG@5 of variants <= 0.1"]'
    path = write_variants(tmp_path, SUITE.replace('thresholds: ["mean nDCG@5 >= 0.9"]', thresholds))
    with open_actions(path, engine.url) as actions:
        assert send(actions, GOOD)[1]["summary"]["failing"] == []


def test_the_rankings_of_a_variant_are_shown_and_explained_by_its_query(actions):
    _, last = send(actions, GOOD)
    shown = actions.show_query("", {"id": "q0~1", "try": "1"})
    assert [(hit["document"], hit["grade"]) for hit in shown["try"]] == [
        ("q0-b", 1.0), ("q0-c", 0.0), ("q0-x", None), ("q0-a", 2.0),
    ]  # fmt: skip
    assert [hit["document"] for hit in shown["live"]] == ["q0-b", "q0-a", "q0-c"]
    assert last["try"]["number"] == 1


def test_a_grade_below_a_variant_is_one_of_its_query(engine, path):
    with open_actions(path, engine.url, judge="anna") as actions:
        rows, _ = send(actions, GOOD)
        answer = actions.grade("", {"query": "q0~1", "document": "q0-x", "grade": 2, "try": 1})
        assert (answer["query"], answer["ranking"]["query"]) == ("q0~1", "q0~1")
        assert [row["query"] for row in answer["rows"]] == ["q0", "q0~1", "q0~2"] == list(answer["live"])
        assert answer["rows"][1]["score"] != rows["q0~1"]["score"]
        [hit] = [hit for hit in answer["ranking"]["try"] if hit["document"] == "q0-x"]
        assert (hit["grade"], hit["is_own"]) == (2.0, True)
        assert actions.undo("", {"try": 1})["query"] == "q0"
        actions.grade("", {"query": "q0~1", "document": "q0-x", "grade": 2, "try": 1})
    kept = JudgeFile.read(path.with_name("shop.judged-by.anna.jsonl"))
    assert kept.grades == {("q0", "q0-x"): 2.0}


def test_going_back_shows_variants_without_a_search(engine, path):
    with open_actions(path, engine.url) as actions:
        rows, _ = send(actions, GOOD)
    with open_actions(path, engine.url) as actions:
        asked = sum(engine.asked.values())
        shown = actions.show_try("", {"number": "1"})
        assert {row["query"]: row for row in shown["rows"]} == rows
        assert sum(engine.asked.values()) == asked


def test_a_query_is_sent_again_with_its_variants(actions, engine):
    _, last = send(actions, GOOD)
    asked = sum(engine.asked.values())
    run = actions.again("", {"try": 1, "query": "q0~2"})["run"]
    answer = {"over": False}
    rows = []
    while not answer["over"]:
        answer = actions.wait_for_answers("", {"run": run, "since": str(len(rows))})
        rows += answer["rows"]
    assert sorted(row["query"] for row in rows) == ["q0", "q0~1", "q0~2"]
    assert (answer["part_of"], answer["summary"]["try"]) == (1, last["summary"]["try"])
    assert sum(engine.asked.values()) == asked + 3


def test_variants_of_queries_held_out_are_not_sent(engine, path):
    held_out = ["q0", "q5", "q7"]
    with open_actions(path, engine.url, hold_out=True):
        pass
    file = path.with_name("shop.holdout.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"queries": held_out}))
    engine.bodies.clear()
    with open_actions(path, engine.url, hold_out=True) as actions:
        session = actions.show_session("", {})
        assert not {query["id"] for query in session["queries"]} & set(held_out)
        rows, _ = send(actions, GOOD)
        assert set(rows) == {*QUERIES, "q3~1"} - set(held_out)
        with pytest.raises(UsageError, match="found no query"):
            actions.show_query("", {"id": "q0~1"})
        with pytest.raises(UsageError, match="found no query"):
            actions.grade("", {"query": "q0~1", "document": "q0-a", "grade": 2, "try": 1})
    texts = {body["query"]["multi_match"]["query"] for body in engine.bodies}
    assert not texts & {"q0", "qq0", "q00", "q5"}


def test_queries_that_are_the_same_are_held_out_together(engine, path):
    for _ in range(3):
        with open_actions(path, engine.url, hold_out=True) as actions:
            shown = {query["id"] for query in actions.show_session("", {})["queries"]}
        assert len(shown & {"q0", "q5"}) in (0, 2)


def test_a_variant_without_an_answer_is_no_zero(actions, engine):
    engine.answers["qq0 good"] = {"status": 400, "error": {"type": "illegal", "reason": "no such field"}}
    rows, last = send(actions, GOOD)
    assert rows["q0~1"]["score"] is rows["q0~1"]["agreement"] is None
    assert rows["q0~1"]["error"].endswith("no such field")
    assert (rows["q0"]["score"], last["summary"]["unanswered"]) == (1.0, 0)
