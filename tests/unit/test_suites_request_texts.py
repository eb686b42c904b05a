"""Another text in the place of a suite's request: read in milliseconds, checked as in the suite, with its own lines."""

import pytest

from harness.config import Configs
from harness.errors import SuiteError
from harness.suites import load_suite
from harness.suites.request_texts import RequestTexts

SUITE = """\
suite: shop
target: {index: products}
measures: ["nDCG@5"]
requests:
  current:
    # Words in the title.
    query:
      match: {title: "{{text}}"}

    size: 10   # hits
  flow: {query: {match: {brand: "{{text}}"}}}
  anchored:
    query: &shared {match: {title: "{{text}}"}}
  alias:
    query: *shared
  named: {file: named.json}
queries:
  - {id: q, text: red, judgments: {a: 1}}
"""
BLOCK = """\
# Words in the title.
query:
  match: {title: "{{text}}"}

size: 10   # hits
"""


@pytest.fixture
def read(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE)
    (tmp_path / "named.json").write_text('{"query": {"match": {"title": "{{text}} $5"}}}')
    suite = load_suite(path, {})
    return lambda name: RequestTexts.prepare(suite, name, Configs(), {})


def no_check(node, problems):
    pass


def test_the_text_is_as_it_is_written(read):
    # A comment above the first key belongs to the key of the request.
    assert read("current").written == BLOCK.partition("\n")[2]


@pytest.mark.parametrize("name", ["current", "flow", "anchored", "alias", "named"])
def test_the_text_of_a_request_is_read_as_that_request(read, name):
    texts = read(name)
    suite = texts.read(texts.written, {}, no_check)
    assert list(suite.requests) == [name]
    assert suite.requests[name].body == texts.suite.requests[name].body


def test_json_is_a_text_too(read):
    suite = read("current").read('{"query": {"match": {"title": "{{text}}"}}}', {}, no_check)
    assert suite.requests["current"].body == {"query": {"match": {"title": "{{text}}"}}}


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("", (1, 1), "found nothing, expected a request: a mapping"),
        ("red", (1, 1), "found 'red', expected a request: a mapping"),
        ("- red", (1, 1), "found a list, expected a request: a mapping"),
        ("query:\n\t- x", (2, 1), "found a tab; YAML is indented with spaces"),
        ("query: {}\nquery: {}", (2, 1), "the key 'query' occurs twice, first in line 1"),
        ("query:\n  match: {title: '{{txet}}'}", (2, 18), "unknown placeholder {{txet}}, expected"),
        ("query: {match_all: {}}", (1, 1), "this request is the same for every query"),
        ("query: {match: {title: '{{text}} ${SECRET}'}}", (1, 34), "found the variable SECRET, expected no variable"),
        ("size: -1\nquery: {match: {title: '{{text}}'}}", (1, 7), "expected the number of hits as size"),
    ],
)
def test_a_problem_has_its_place_in_the_text(read, text, place, sentence):
    with pytest.raises(SuiteError) as error:
        read("current").read(text, {}, no_check)
    problem = error.value.problems[0]
    assert (problem.line, problem.column) == place
    assert problem.message.startswith(sentence)


def test_a_check_of_the_caller_is_noted_with_its_place(read):
    def refuse_size(node, problems):
        problems.note(node.find_key("size").mark, "no size here")

    with pytest.raises(SuiteError, match="request:2:1: no size here"):
        read("current").read("query: {match: {title: '{{text}}'}}\nsize: 3", {}, refuse_size)


def test_a_dollar_sign_means_itself_in_a_file_of_its_own(read):
    texts = read("named")
    assert texts.is_in_file
    body = texts.read("query: {match: {title: '{{text}} ${x}'}}", {}, no_check).requests["named"].body
    assert body == {"query": {"match": {"title": "{{text}} ${x}"}}}
