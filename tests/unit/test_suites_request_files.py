"""Requests in files of their own: read, checked and fingerprinted as if they stood in the suite."""

import json
from dataclasses import replace

import pytest

from harness.errors import SuiteError
from harness.options import RunOptions
from harness.store.what_changed import fingerprint_request
from harness.suites import load_suite
from harness.suites.inputs import RunInputs
from harness.suites.requests import build_requests

SUITE = """\
suite: shop
target: {index: products}
REQUEST
queries:
  - {id: tents, text: tent, judgments: {sku-2: 1}}
  - {id: rope, text: climbing rope, judgments: {sku-7: 1}}
"""
BODY = {"query": {"match": {"title": "{{text}}"}}, "size": 20}
YAML_BODY = 'query: {match: {title: "{{text}}"}}\nsize: 20\n'


@pytest.fixture
def write(tmp_path):
    def write(request="request: {file: search.json}", queries="", **files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(SUITE.replace("REQUEST", request) + queries, encoding="utf-8")
        return path

    return write


def problems(path, environ=None):
    with pytest.raises(SuiteError) as caught:
        load_suite(path, environ)
    assert caught.value.exit_status == 2
    return list(caught.value.problems)


def places(path):
    folder = f"{path.parent}/"
    return [
        f"{problem.path.removeprefix(folder)}:{problem.line}:{problem.column}: {problem.message.replace(folder, '')}"
        for problem in problems(path)
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("search.json", json.dumps(BODY)),
        ("search.json", json.dumps(BODY, indent="\t")),
        ("search.json", "\ufeff" + json.dumps(BODY, indent=4)),
        ("search.JSON", json.dumps(BODY)),
        ("search.yaml", YAML_BODY),
        ("search.yml", YAML_BODY),
        ("bodies/search.yaml", YAML_BODY),
    ],
)
def test_a_request_in_a_file_is_that_of_the_suite(write, tmp_path, name, content):
    inline = load_suite(write(f"request: {json.dumps(BODY)}"), {})
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    suite = load_suite(write(f"request: {{file: {name}}}"), {})
    assert [request.body for request in build_requests(suite, None)] == [
        request.body for request in build_requests(inline, None)
    ]
    assert fingerprint_request(suite, "request") == fingerprint_request(inline, "request")
    assert suite.depth == 20


def test_named_requests_have_files_too_with_their_own_index_and_routing(write):
    suite = load_suite(
        write(
            "requests:\n  current: {file: search.json}\n  next: {index: products-next, routing: a, file: search.json}\n"
            "  inline: {query: {match: {title: '{{text}}'}}}\n",
            search_json=json.dumps(BODY),
        ),
        {},
    )
    assert list(suite.requests) == ["current", "next", "inline"]
    request = build_requests(suite, "next")[1]
    assert (request.index, request.url_params) == ("products-next", {"routing": "a"})
    assert request.body["query"] == {"match": {"title": "climbing rope"}}


def test_a_file_may_have_what_a_body_has_beside_it(write):
    whole = "url_params: {preference: _local}\nbody: {query: {match: {title: '{{text}}'}}}\n"
    suite = load_suite(write("request: {file: whole.yaml, index: other}", whole_yaml=whole), {})
    assert suite.requests["request"].index == "other"
    assert suite.requests["request"].url_params == {"preference": "_local"}
    http = "http: {path: /search, params: {q: '{{text}}'}, ids: '$.ids'}\n"
    path = write("request: {file: api.yaml}", api_yaml=http)
    path.write_text(path.read_text().replace("{index: products}", "{cluster: 'http://localhost:8080'}"))
    assert load_suite(path, {}).requests["request"].http.path == "/search"


def test_values_of_json_keep_their_types_and_their_characters(write):
    body = {
        "query": {"terms": {"a/b": [1, -0.5, 1e30, True, False, None, "{{text}}", "012", "no", ""]}},
        "ext": {"": [], "x": {}, "long" * 400: '\u2028\x85\u00e9\U0001f600 \\ " / \t ${HOME} $$'},
    }
    for text in (json.dumps(body), json.dumps(body, ensure_ascii=False), json.dumps(body).replace(" / ", r" \/ ")):
        suite = load_suite(write(search_json=text), {})
        assert suite.requests["request"].body == body


def test_variables_are_not_replaced_in_a_file_and_give_its_name(write):
    path = write('request: {file: "${RELEVANCE_FILE}"}', search_yaml="query: {match: {title: '{{text}} ${HOME}'}}\n")
    assert "${HOME}" in str(load_suite(path, {"RELEVANCE_FILE": "search.yaml"}).requests["request"].body)
    # Collected without the environment: the request has its name, and nothing of it is checked.
    assert list(load_suite(path, None).requests) == ["request"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", "search.json:1:1: this is not JSON: Expecting value"),
        (
            '{"query": {"match": {"title": "{{text}}"} "b": 1}}',
            "search.json:1:43: this is not JSON: Expecting ',' delim",
        ),
        ('{\n  "query" {}\n}', "search.json:2:11: this is not JSON: Expecting ':' delimiter"),
        ('query: {match: {title: "{{text}}"}}', "search.json:1:1: this is not JSON: Expecting value"),
        ('{"size": NaN}', "search.json:1:10: this is not JSON: NaN is not a number that JSON has"),
        ('{"a": "\\ud83d {{text}}"}', "search.json:1:7: this text has half of a character; "),
        ("[1, 2]", "search.json:1:1: found a list, expected a request: a mapping such as the body of _search"),
        (
            '\n "token-s3cr3t"',
            "search.json:2:2: found a single value, expected a request: a mapping such as the body of",
        ),
        ("null", "search.json:1:1: found a single value, expected a request"),
        ('{"type": "service_account", "type": 1}', "search.json:1:1: found no key such as 'query', and no placeholder"),
        ("[" * 70 + "]" * 70, "search.json:1:65: the nesting is deeper than 64 levels"),
        ("[" * 100_000, "search.json:1:1: the JSON is nested too deeply"),
        (
            '{"query": {"match": {"title": "{{text}}"}},\n "query": {}}',
            "search.json:2:2: the key 'query' occurs twice, first in line 1, column 2",
        ),
        (
            '{"query": {"match": {\n  "title": "{{text}}", "title": 1}}}',
            "search.json:2:24: the key 'title' occurs twice, first in line 2, column 3",
        ),
        (b'{"query": "\xff"}', "search.json:1:12: "),
        ('{"file": "other.json", "query": "{{text}}"}', "search.json:1:2: found 'file' in the file of a request, "),
    ],
)
def test_a_file_that_is_no_request_is_an_error_with_its_place(write, content, place):
    [found] = places(write(search_json=content))
    assert found.startswith(place)
    assert "s3cr3t" not in found


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", "search.yaml:0:0: found an empty file, expected a request"),
        ("- a\n", "search.yaml:1:1: found a list, expected a request"),
        (
            "query: {match: {title: {{text}}}}\n",
            "search.yaml:1:25: found a mapping as a key, expected a word; YAML reads",
        ),
        ("query:\n  a: 1\n  a: '{{text}}'\n", "search.yaml:3:3: the key 'a' occurs twice, first in line 2, column 3"),
        ("query: [1\n", "search.yaml:2:1: expected ',' or ']' here, because the '['"),
        ("query: '{{text}}'\n---\na: 1\n", "search.yaml:2:1: a second YAML document begins here"),
    ],
)
def test_a_file_of_yaml_has_the_hints_of_a_suite(write, content, place):
    assert places(write("requests: {current: {file: search.yaml}}", search_yaml=content))[0].startswith(place)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (
            '"query": {"match": {"title": "{{txet}}"}}',
            "2:31: unknown placeholder {{txet}}, expected {{text}}, {{depth}}",
        ),
        ('"query": {"match_all": {}}', "1:1: this request is the same for every query: expected {{text}} somewhere"),
        ('"query": "{{text}}", "from": 10', "2:31: a ranking begins at its first hit; remove `from`, which skips hits"),
        ('"query": "{{text}}", "size": 0', "2:31: expected the number of hits as size: a whole number of at least 1"),
        (
            '"template": {"params": {"q": "{{text}}"}}',
            "2:14: found neither 'id' nor 'source', expected a search template",
        ),
        ('"query": {"match": {"title": "{{text}}", "b": 1e999}}', "2:48: found '1e999', which JSON cannot hold"),
        (
            '"current": {"query": "{{text}}"}',
            "1:1: found requests by name (current) in place of a body; expected the key",
        ),
        ('"body": {"query": "{{text}}"}, "url_params": {"q": "x"}', "2:48: 'q' belongs to a query in the URL; write"),
    ],
)
def test_a_request_in_a_file_has_the_checks_and_the_hints_of_one_in_the_suite(write, body, place):
    content = "{\n " + body + "\n}\n"
    [problem] = problems(write(search_json=content))
    assert f"{problem.line}:{problem.column}: {problem.message}".startswith(place)
    assert problem.path.endswith("search.json")
    assert f"{problem.line:>5} | " in problem.excerpt
    inline = write("request:\n " + content.replace("\n", "\n  "))
    assert problem.message in [other.message for other in problems(inline)]


def test_two_requests_share_a_file_and_its_problems(write):
    path = write("requests: {a: {file: s.yaml}, b: {file: ./s.yaml}}", s_yaml="query: '{{text}} {{txet}}'\n")
    assert [place.partition(": ")[0] for place in places(path)] == ["s.yaml:1:18"]


@pytest.mark.parametrize(
    ("request_line", "sentence"),
    [
        ("request: {file: none.json}", "3:17: the file 'none.json' does not exist: "),
        (
            "request: {file: ../search.json}",
            "3:17: the file '../search.json' is outside of the suite's root, the folder",
        ),
        ("request: {file: /etc/passwd}", "3:17: found '/etc/passwd', expected a path relative to the suite"),
        ("request: {file: .hidden/search.json}", "3:17: the file '.hidden/search.json' is hidden: "),
        ("request: {file: .}", "3:17: the file '.' is not a file"),
        (
            "request: {file: search.txt}",
            "3:17: found 'search.txt', expected the file of a request with the suffix .json",
        ),
        ("request: {file: }", "3:17: found nothing, expected text"),
        ("request: {file: {query: '{{text}}'}}", "3:17: found a mapping, expected text"),
        ("request: {file: search.json, body: {}}", "3:30: found 'body' beside 'file', which has it too; expected one"),
        (
            "request: {file: search.json, http: {path: /, ids: $.a}}",
            "3:10: found both 'body' and 'http', expected one of",
        ),
        ("request: {index: a}", "3:10: found neither 'body', 'file' nor 'http', expected one of them"),
        ("requests: {a: {file: none.json}, b: {file: search.json}}", "3:22: the file 'none.json' does not exist: "),
        ("requests: {file: search.json}", "3:18: found 'search.json', expected a mapping"),
    ],
)
def test_a_name_that_leads_to_no_request_is_an_error_in_the_suite(write, tmp_path, request_line, sentence):
    (tmp_path.parent / "search.json").write_text(json.dumps(BODY))
    path = write(request_line, search_json=json.dumps(BODY), search_txt="")
    [found] = places(path)
    assert found.startswith(f"shop.relevance.yaml:{sentence}")


def test_a_link_out_of_the_root_is_not_followed(write, tmp_path):
    outside = tmp_path.parent / "outside.json"
    outside.write_text(json.dumps(BODY))
    (tmp_path / "search.json").symlink_to(outside)
    [found] = places(write())
    assert "is outside of the suite's root" in found


def test_a_link_to_a_file_of_another_format_is_not_quoted(write, tmp_path):
    (tmp_path / "token").write_text('{"query": "{{s3cr3t}}"}')
    (tmp_path / "search.json").symlink_to(tmp_path / "token")
    [problem] = problems(write())
    assert problem.message.startswith("this is not as expected; what was found is not shown")
    assert problem.excerpt == ""


def test_a_changed_file_is_another_request_and_an_input_of_the_run(write, tmp_path):
    path = write(search_json=json.dumps(BODY))
    before = fingerprint_request(load_suite(path, {}), "request")
    write(search_json=json.dumps({**BODY, "min_score": 1}))
    assert fingerprint_request(load_suite(path, {}), "request") != before
    inputs = RunInputs([path], RunOptions(), {})
    assert tmp_path / "search.json" in inputs.list_files()
    write(search_json="{")
    assert tmp_path / "search.json" in replace(inputs).list_files()
