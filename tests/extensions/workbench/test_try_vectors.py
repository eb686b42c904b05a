"""Vectors that are written in a request: shown as a placeholder, sent and written whole."""

import json

import pytest

from extensions.workbench.builders.tried_shop import QUERIES, begin, open_actions, send, write_suite
from harness.errors import SuiteError
from harness.extensions.workbench.vectors import Vectors
from harness.local_server import RefusedAction
from harness.suites import load_suite

FIRST = [round(place / 100, 2) for place in range(64)]
SECOND = [-number for number in FIRST]
FLOW = f"[{', '.join(map(str, FIRST))}]"
BLOCK = "".join(f"\n            - {number}" for number in SECOND)
SUITE = f"""\
suite: shop
target: {{index: products}}
measures: [nDCG@5]
depth: 5
grades: {{bad: 0, fair: 1, good: 2}}
requests:
  current:
    query: {{multi_match: {{query: "{{{{text}}}}", fields: [title^3, brand]}}}}
    rescore:
      - query: {{rescore_query: {{knn: {{v: {{vector: {FLOW}, k: 5}}}}}}}}
      - query:
          vector:{BLOCK}

queries:
"""
SHOWN = """\
query: {multi_match: {query: "{{text}}", fields: [title^3, brand]}}
rescore:
  - query: {rescore_query: {knn: {v: {vector: [64 numbers], k: 5}}}}
  - query:
      vector:
        [64 numbers (2)]
"""


@pytest.fixture
def path(tmp_path):
    return write_suite(tmp_path, SUITE)


def test_what_is_sent_has_the_vectors(actions, engine):
    session = actions.show_session("", {})
    assert session["text"] == session["live_text"] == SHOWN
    assert [dial["name"] for dial in session["dials"]] == ["title^", "v k"]
    _, last = send(actions, SHOWN.replace("^3", "^6"))
    assert last["try"]["name"] == "title^3 → ^6"
    first, second = engine.bodies[-1]["rescore"]
    assert first["query"]["rescore_query"]["knn"]["v"] == {"vector": FIRST, "k": 5}
    assert second["query"]["vector"] == SECOND


def test_the_text_as_it_is_written_is_what_is_live(actions):
    assert begin(actions, SHOWN)["try"] == 0


def test_the_vectors_may_change_places(actions, engine):
    swapped = (
        SHOWN.replace("[64 numbers]", "X").replace("[64 numbers (2)]", "[64 numbers]").replace("X", "[64 numbers (2)]")
    )
    send(actions, swapped)
    assert engine.bodies[-1]["rescore"][1]["query"]["vector"] == FIRST


@pytest.mark.parametrize(
    ("old", "new", "line", "column"),
    [
        ("[64 numbers]", "[63 numbers]", 3, 47),
        ("[64 numbers]", "[64 number]", 3, 47),
        ("[64 numbers]", "64 numbers", 3, 47),
        ("[64 numbers]", "[64 numbers, 0.5]", 3, 48),
        ("[64 numbers (2)]", "[64 numbers (3)]", 6, 9),
    ],
)
def test_an_edit_of_a_placeholder_has_its_place(actions, engine, old, new, line, column):
    with pytest.raises(RefusedAction) as refused:
        begin(actions, SHOWN.replace(old, new))
    answer = refused.value.answer
    assert (answer["line"], answer["column"]) == (line, column)
    assert answer["error"].endswith("expected [64 numbers], [64 numbers (2)] as it was: a vector cannot be edited here")
    assert sum(engine.asked.values()) == len(QUERIES)


def test_a_problem_behind_a_vector_has_its_column(actions):
    with pytest.raises(RefusedAction) as refused:
        begin(actions, SHOWN.replace("k: 5", "k: '{{other}}'"))
    answer = refused.value.answer
    assert (answer["line"], answer["column"]) == (3, SHOWN.splitlines()[2].index("k: 5") + 4)


def test_neither_the_page_nor_the_file_of_tries_has_a_vector(engine, path):
    with open_actions(path, engine.url) as actions:
        session = actions.show_session("", {})
        _, last = send(actions, SHOWN.replace("^3", "^6"))
        shown = actions.show_try("", {"number": "1"})
        texts = [json.dumps(answer) for answer in (session, last, shown)]
    texts.append(path.with_name(".shop.tries.jsonl").read_text())
    for text in texts:
        assert "0.61" not in text


def test_the_written_request_has_the_vectors(engine, path):
    before = path.read_text()
    with open_actions(path, engine.url) as actions:
        send(actions, SHOWN.replace("^3", "^6"))
        plan = {"try": 1, "how": "request", "name": "better"}
        token = actions.write("", plan)["token"]
        actions.write("", {**plan, "token": token, "write": True})
    suite = load_suite(path, {})
    assert suite.requests["better"].body["rescore"] == suite.requests["current"].body["rescore"]
    assert f"vector: {FLOW}, k: 5" in path.read_text().partition("better:")[2]
    added = path.read_text()
    assert [line for line in before.splitlines() if line not in added.splitlines()] == []


def test_a_request_without_vectors_is_left_alone():
    vectors = Vectors.collect(["query: {match: {title: 3 numbers}}"])
    assert vectors.restore("query: 64 numbers") == "query: 64 numbers"
    assert vectors.hide("query: [1, 2]") == "query: [1, 2]"


def test_a_short_list_is_no_vector():
    assert Vectors.collect([f"x: {list(range(63))}"]).by_placeholder == {}


def test_what_is_no_yaml_is_left_to_its_reader():
    def refuse(text):
        raise SuiteError([])

    vectors = Vectors.collect([f"x: {FLOW}"])
    with pytest.raises(SuiteError):
        vectors.read("x: [64 numbers", refuse)
