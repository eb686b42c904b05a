"""Texts that are tried: sent, scored and kept, the newest alone; and what a session shows of them."""

import json
import stat
import threading

import pytest

from builders.engine import Fault
from extensions.workbench.builders.tried_shop import (
    QUERIES,
    REQUEST,
    SUITE,
    begin,
    follow,
    open_actions,
    send,
    write_suite,
)
from harness.cli import main
from harness.errors import SearchError, UsageError
from harness.extensions.workbench.opening import NO_TITLES
from harness.extensions.workbench.rankings import LONGEST_TEXT
from harness.local_server import RefusedAction

TITLE = "/query/multi_match/fields/0^title"
GOOD, NEW = REQUEST.replace("^3", "^6"), REQUEST.replace("^3", "^8")
LIVE_SCORE = pytest.approx(0.7967, abs=1e-4)


def test_a_session_begins_with_the_request_as_it_is_written(actions, engine):
    session = actions.show_session("", {})
    assert session["text"] == session["live_text"] == REQUEST
    assert [(dial["pointer"], dial["value"]) for dial in session["dials"]] == [
        (TITLE, 3.0),
        ("/query/multi_match/tie_breaker", 0.2),
    ]
    assert [query["live"] for query in session["queries"]] == [LIVE_SCORE] * 12
    assert (session["live"], session["has_explain"], session["hold_out"]) == (LIVE_SCORE, True, None)
    assert sum(engine.asked.values()) == 12


def test_a_text_is_sent_and_each_query_has_its_row(actions):
    rows, last = send(actions, GOOD)
    assert rows["q0"] == {
        "query": "q0", "score": 1.0, "low": 1.0, "high": 1.0,
        "unjudged": 0, "live_unjudged": 0, "moved": True, "error": None, "agreement": None, "found": None,
    }  # fmt: skip
    summary = last["summary"]
    assert (summary["live"], summary["try"]) == (LIVE_SCORE, 1.0)
    assert [summary[name] for name in ("wins", "losses", "same", "searches", "is_grey")] == [12, 0, 0, 12, False]
    assert (last["try"]["number"], last["try"]["name"]) == (1, "title^3 → ^6")


def test_a_dial_is_set_in_the_text(actions):
    begun = begin(actions, REQUEST, values={TITLE: 8, "/query/multi_match/tie_breaker": 0.5})
    assert begun["text"] == NEW.replace("0.2", "0.5")
    _, last = follow(actions, begun["run"])
    assert last["try"]["name"] == "title^3 → ^8, multi_match tie_breaker 0.2 → 0.5"
    with pytest.raises(UsageError, match="the text has no number at /query/no"):
        begin(actions, REQUEST, values={"/query/no": 1})


def test_unjudged_hits_leave_a_range_and_make_it_grey(actions):
    _, last = send(actions, NEW)
    summary = last["summary"]
    assert (summary["unjudged"], summary["is_grey"], summary["losses"]) == (12, True, 12)
    low, high = summary["range"]
    assert low == pytest.approx(summary["difference"])
    assert high > 0.4
    assert "12 unjudged hits may make it" in summary["sentence"]
    assert [failing["live_too"] for failing in summary["failing"]] == [True]


def test_the_same_request_again_is_no_new_try(actions, engine):
    send(actions, GOOD)
    asked = sum(engine.asked.values())
    assert begin(actions, GOOD)["try"] == 1
    assert begin(actions, GOOD.replace("# The title counts most.", "# Comment."))["try"] == 1
    assert begin(actions, REQUEST)["try"] == 0
    assert sum(engine.asked.values()) == asked
    _, last = send(actions, GOOD, force=True)
    assert last["try"]["number"] == 1
    assert sum(engine.asked.values()) == asked + 12


def test_going_back_sends_nothing(actions, engine):
    send(actions, GOOD)
    send(actions, NEW)
    asked = sum(engine.asked.values())
    back = actions.show_try("", {"number": "1"})
    assert (back["text"], back["summary"]["try"], back["stale"]) == (GOOD, 1.0, None)
    assert [row["score"] for row in back["rows"]] == [1.0] * 12
    live = actions.show_try("", {"number": "0"})
    assert (live["text"], live["summary"]["difference"]) == (REQUEST, 0.0)
    assert sum(engine.asked.values()) == asked
    with pytest.raises(UsageError, match="found no try 7, there are 1 to 2"):
        actions.show_try("", {"number": "7"})


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("query: [", 2, "this is not YAML: did not find expected node content"),
        ("", 1, "found nothing, expected a request: a mapping"),
        ("query:\n  match: {title: red}\n", 1, "this request is the same for every query: expected {{text}} somewhere"),
        ("query:\n  match:\n    title: '{{txt}}'\n", 3, "unknown placeholder {{txt}}"),
    ],
)
def test_a_wrong_text_has_its_line(actions, engine, text, line, sentence):
    with pytest.raises(RefusedAction) as refused:
        begin(actions, text)
    assert refused.value.status == 422
    assert refused.value.answer["line"] == line
    assert refused.value.answer["error"].startswith(sentence)
    assert sum(engine.asked.values()) == 12


def test_a_query_without_an_answer_is_no_zero(actions, engine):
    engine.broken["q3 good"] = 400
    rows, last = send(actions, GOOD)
    assert (rows["q3"]["score"], rows["q3"]["error"]) == (None, "engine error (400): parsing_exception: no such thing")
    assert (last["summary"]["wins"], last["summary"]["try"]) == (11, 1.0)
    assert "1 query without an answer" in last["summary"]["sentence"]
    assert (
        actions.show_try("", {"number": "1"})["rows"][3]["error"]
        == "engine error (400): parsing_exception: no such thing"
    )


def test_a_text_that_the_engine_refuses_is_no_try(actions):
    rows, last = send(actions, REQUEST.replace("0.2", "2"))
    assert {row["error"] for row in rows.values()} == {"engine error (400): illegal: [tie_breaker] is above 1"}
    assert (last["try"], last["over"]) == (None, True)


def test_a_newer_text_ends_the_older(actions, engine):
    begun, may_answer = threading.Event(), threading.Event()
    engine.before_search = lambda: (begun.set(), may_answer.wait(30))
    older = begin(actions, GOOD)["run"]
    assert begun.wait(30)
    newer = begin(actions, NEW)["run"]
    rows, last = follow(actions, older)
    assert (rows, last["superseded"], last["try"]) == ({}, True, None)
    may_answer.set()
    _, last = follow(actions, newer)
    assert last["try"]["name"] == "title^3 → ^8"
    assert [row["name"] for row in actions.show_session("", {})["tries"]] == ["title^3 → ^8"]


def test_of_many_texts_the_last_is_shown(actions):
    runs = [begin(actions, REQUEST.replace("^3", f"^{weight}"))["run"] for weight in range(10, 30)]
    _, last = follow(actions, runs[-1])
    assert last["try"]["name"] == "title^3 → ^29"
    ended = [follow(actions, run)[1]["superseded"] for run in runs[:-1]]
    assert ended.count(True) >= 18


def test_the_queries_in_sight_are_sent_first(actions, engine):
    engine.bodies.clear()
    send(actions, GOOD, first=["q7", "q3", "q99"])
    texts = [body["query"]["multi_match"]["query"] for body in engine.bodies]
    assert texts == ["q7", "q3", *(query for query in QUERIES if query not in ("q3", "q7"))]


def test_one_query_is_sent_once_more(actions, engine):
    send(actions, GOOD)
    engine.rankings["q3 good"] = ["q3-c", "q3-a"]
    engine.bodies.clear()
    rows, last = follow(actions, actions.again("", {"query": "q3", "try": 1})["run"])
    assert [body["query"]["multi_match"]["query"] for body in engine.bodies] == ["q3"]
    assert list(rows) == ["q3"]
    assert (last["try"]["number"], last["summary"]["wins"]) == (1, 11)
    assert [hit["document"] for hit in actions.show_query("", {"id": "q3", "try": "1"})["try"]] == ["q3-c", "q3-a"]


def test_tries_are_kept_for_their_owner_and_read_again(engine, path):
    with open_actions(path, engine.url) as actions:
        send(actions, GOOD)
        send(actions, NEW)
        assert actions.keep("", {"try": 1, "name": "heavier titles"})["kept"]
    file = path.with_name(".shop.tries.jsonl")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # A line that was cut off is left out, and the next one takes its place.
    file.write_bytes(file.read_bytes() + b'{"schema": 1, "num')
    with open_actions(path, engine.url) as actions:
        rows = actions.show_session("", {})["tries"]
        assert [(row["number"], row["name"], row["kept"]) for row in rows] == [
            (1, "heavier titles", True),
            (2, "title^3 → ^8", False),
        ]
        asked = sum(engine.asked.values())
        assert actions.show_try("", {"number": "1"})["summary"]["try"] == 1.0
        assert sum(engine.asked.values()) == asked
        send(actions, REQUEST.replace("^3", "^7"))
    assert [json.loads(line).get("number") for line in file.read_text().splitlines()] == [1, 2, None, 3]


def test_a_try_of_another_live_request_is_stale(engine, path):
    with open_actions(path, engine.url) as actions:
        send(actions, GOOD)
    with open_actions(path, engine.url, against="request:other", request="current") as actions:
        [row] = actions.show_session("", {})["tries"]
        assert row["stale"] == "the request that is live changed since: measure it again"


def test_the_best_of_several_tries_is_corrected(actions):
    send(actions, GOOD)
    send(actions, NEW)
    best = actions.show_try("", {"number": "1"})["summary"]["best"]
    assert best["of"] == 2
    assert best["interval"][0] <= actions.show_try("", {"number": "1"})["summary"]["difference"]
    assert actions.show_try("", {"number": "2"})["summary"]["best"] is None


def test_both_rankings_of_a_query(actions):
    send(actions, NEW)
    shown = actions.show_query("", {"id": "q1", "try": "1"})
    assert [(hit["document"], hit["move"], hit["is_gone"]) for hit in shown["live"]] == [
        ("q1-b", None, False),
        ("q1-a", None, False),
        ("q1-c", None, True),
    ]
    assert [(hit["document"], hit["move"], hit["is_new"], hit["grade"]) for hit in shown["try"]] == [
        ("q1-new", None, True, None),
        ("q1-a", 0, False, 2.0),
        ("q1-b", -2, False, 1.0),
    ]
    assert shown["missing"] == []
    assert actions.show_query("", {"id": "q1"})["try"] is None
    with pytest.raises(UsageError, match="found no query 'q99'"):
        actions.show_query("", {"id": "q99"})


def open_notes(path, engine):
    with open_actions(path, engine.url) as actions:
        return actions.show_session("", {})["notes"]


def test_the_fields_of_hits_that_the_suite_displays_are_shown(path, engine):
    assert open_notes(path, engine) == [NO_TITLES]
    path.write_text(path.read_text().replace("depth: 5\n", "depth: 5\ndisplay: {title: title, fields: [brand]}\n"))
    assert open_notes(path, engine) == []
    engine.sources |= {"q1-a": {"title": "A tent", "brand": "Peak " * 100}}
    with open_actions(path, engine.url) as actions:
        other, hit, _ = actions.show_query("", {"id": "q1"})["live"]
    assert (hit["title"], hit["texts"]) == ("A tent", {"brand": ("Peak " * 100)[: LONGEST_TEXT - 1] + "…"})
    assert (other["title"], other["texts"]) == (None, {})


def test_relevant_documents_that_are_missing_are_looked_for(actions, engine):
    engine.rankings["q1 new"] = [*(f"x{number}" for number in range(7)), "q1-a"]
    send(actions, NEW)
    missing = {one["document"]: one for one in actions.show_query("", {"id": "q1", "try": "1"})["missing"]}
    assert (missing["q1-a"]["where"], missing["q1-a"]["grade"]) == ("live rank 2, try rank 8", 2.0)
    assert missing["q1-b"]["where"] == "live rank 1, try not found: does not match"


def test_a_missing_document_has_one_side_before_a_try(path, engine):
    engine.rankings["q1"] = [*(f"x{number}" for number in range(7)), "q1-a"]
    with open_actions(path, engine.url) as actions:
        assert [one["where"] for one in actions.show_query("", {"id": "q1"})["missing"]] == [
            "live rank 8",
            "live not found: does not match",
        ]


def test_a_suite_that_was_changed_is_loaded_again(actions, path, engine):
    send(actions, GOOD)
    assert actions.show_changes("", {}) == {"said": None, "reload": False}
    write_suite(path.parent, SUITE.replace("depth: 5", "depth: 6"))
    assert actions.show_changes("", {})["reload"]
    assert actions.show_session("", {})["depth"] == 6
    path.write_text("suite: [")
    changed = actions.show_changes("", {})
    assert changed["said"].startswith("The suite was changed, and cannot be used now:")
    assert not changed["reload"]
    assert actions.show_changes("", {}) == {"said": None, "reload": False}


def test_a_query_that_is_gone_meanwhile_ends_no_session(actions, path, engine, monkeypatch):
    text = path.read_text()
    masked = []

    def mask(response):
        if not masked:
            # A response was received, and the suite is loaded again without its query before it is scored.
            masked.append(response)
            path.write_text("".join(line for line in text.splitlines(keepends=True) if "id: q0," not in line))
            loading = threading.Thread(target=actions.bench.reload_if_changed)
            loading.start()
            loading.join()
        return response

    monkeypatch.setattr(actions.bench, "_mask", mask)
    _, last = send(actions, GOOD)
    assert last["superseded"]
    rows, last = send(actions, NEW)
    assert len(rows) == 11
    assert last["over"]


def test_a_fixture_is_checked_again_after_a_change_of_its_files(engine, tmp_path, monkeypatch):
    checked = []
    monkeypatch.setattr(
        "harness.run.connections._build_index", lambda suite, *_, **__: checked.append(suite.name) or "products"
    )
    documents = tmp_path / "documents.jsonl"
    ids = [f"{query}-{letter}" for query in QUERIES for letter in "abc"]
    documents.write_text("".join(f'{{"id": "{document}", "title": "x"}}\n' for document in ids))
    fixture = "fixture: {documents: documents.jsonl, mappings: {properties: {title: {type: text}}}}"
    path = write_suite(tmp_path, SUITE.replace("target: {index: products}", fixture))
    with open_actions(path, engine.url, run={"allow_write": True}) as actions:
        send(actions, GOOD)
        assert (checked, actions.show_changes("", {})["reload"]) == (["shop"], False)
        documents.write_text(documents.read_text().replace('"x"', '"y"'))
        assert actions.show_changes("", {})["reload"]
        send(actions, GOOD.replace("^6", "^7"))
        assert checked == ["shop", "shop"]


def test_a_live_request_without_answers_ends_the_command(engine, path):
    engine.rankings.clear()
    with pytest.raises(SearchError, match="the request 'current' has no answer"), open_actions(path, engine.url):
        pass


def test_a_baseline_can_be_what_is_live(engine, path, tmp_path):
    with pytest.raises(UsageError, match="expected request:NAME or baseline"):
        open_actions(path, engine.url, against="report:x").__enter__()


def test_an_index_that_changed_is_noticed(actions, engine, monkeypatch):
    monkeypatch.setattr("harness.extensions.workbench.scored_tries.FACTS_HOLD", -1.0)
    monkeypatch.setattr("harness.extensions.workbench.scored_tries.fingerprint_index", lambda *_: "other")
    send(actions, GOOD)
    asked = sum(engine.asked.values())
    changed = actions.show_changes("", {})
    assert changed["reload"]
    assert changed["said"].startswith("The suite or its index was changed")
    assert sum(engine.asked.values()) == asked + 12


def test_only_searches_and_reads_reach_the_engine(actions, engine):
    send(actions, NEW)
    actions.show_query("", {"id": "q1", "try": "1"})
    actions.write("", {"try": 1, "how": "request", "name": "better"})
    sent = {(method, path.partition("?")[0].rpartition("/")[2]) for method, path in engine.sent}
    assert {path for method, path in sent if method == "POST"} == {"_msearch"}
    assert {method for method, _ in sent} <= {"GET", "HEAD", "POST"}


def test_a_text_that_timed_out_is_not_sent_again_by_itself(tmp_path, engine):
    path = write_suite(tmp_path)
    with open_actions(path, engine.url, run={"budget": 0.5}) as actions:
        may_answer = threading.Event()
        engine.before_search = lambda: may_answer.wait(30)
        rows, last = send(actions, GOOD)
        may_answer.set()
        assert {row["score"] for row in rows.values()} == {None}
        assert (last["try"], last["over"]) == (None, True)
        with pytest.raises(UsageError, match="this text was not answered in time"):
            begin(actions, GOOD)
        assert send(actions, GOOD, force=True)[1]["summary"]["wins"] == 12


def test_the_saved_baseline_can_be_what_is_live(engine, path):
    assert main(["baseline", "save", str(path), "--url", engine.url]) == 0
    engine.asked.clear()
    with open_actions(path, engine.url, against="baseline") as actions:
        session = actions.show_session("", {})
        assert (session["against"], session["live"]) == ("baseline", LIVE_SCORE)
        assert sum(engine.asked.values()) == 0
        _, last = send(actions, GOOD)
        assert (last["summary"]["wins"], last["summary"]["live"]) == (12, LIVE_SCORE)
        assert actions.show_query("", {"id": "q1", "try": "1"})["try"][0]["document"] == "q1-a"
        _, last = send(actions, REQUEST)
        assert last["summary"]["same"] == 12


def test_an_engine_that_goes_away_and_comes_back(engine, path):
    with open_actions(path, engine.url, run={"budget": 0.3}) as actions:
        engine.faults.append(Fault(status=None, times=1000))
        rows, last = send(actions, GOOD)
        assert {row["score"] for row in rows.values()} == {None}
        assert len(rows) == 12
        assert all(row["error"] for row in rows.values())
        assert last["error"].startswith("no query has an answer: ")
        assert last["try"] is None
        engine.faults.clear()
        _, last = send(actions, GOOD, force=True)
        assert (last["error"], last["summary"]["wins"]) == (None, 12)


def test_a_suite_without_judgments_shows_what_moves(engine, tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    head = SUITE.replace('thresholds: ["mean nDCG@5 >= 0.9"]\n', "").replace("measures: [nDCG@5]\n", "")
    path.write_text(head + "  - {id: q0, text: q0}\n  - {id: q1, text: q1}\n")
    with open_actions(path, engine.url, judge="anna") as actions:
        assert actions.show_session("", {})["live"] is None
        rows, last = send(actions, GOOD)
        assert [row["moved"] for row in rows.values()] == [True, True]
        assert last["summary"]["difference"] is None
        assert last["summary"]["sentence"] == "nDCG@10: no query has a score of both"
        answer = actions.grade("", {"query": "q0", "document": "q0-a", "grade": 2, "try": 1})
        assert (answer["rows"][0]["score"], answer["summary"]["wins"]) == (1.0, 1)
