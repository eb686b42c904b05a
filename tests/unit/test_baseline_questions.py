"""What a request uses of a query is what it asked: nothing else ends a baseline, or a grade that a person gave."""

import json
from dataclasses import replace

import pytest
from pluggy import PluginManager

from builders.executions import finish, run_suite
from builders.judging import make_view
from harness import hookspecs
from harness.errors import BaselineError
from harness.extensions.compare.assembly import remove_changed_queries
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.sides import make_baseline_side, make_report_side, make_run_side
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.page.session_json import build_session
from harness.files.judge_files import JudgeFile, fingerprint_questions
from harness.gate.finding import describe_changed_question
from harness.gate.selection import QueryFilter, select
from harness.hooks import Hooks
from harness.masking import Masker
from harness.model.kept import BaselineFile
from harness.model.run import IndexFacts
from harness.model.suite import HttpRequest, RequestTemplate
from harness.model.suite import Query as PlainQuery
from harness.options import RunOptions
from harness.search.testing import FakeSearch
from harness.store.baseline import make_baseline, make_reference
from harness.store.baseline_files import dumps, loads
from harness.store.contradictions import refuse_contradictions
from harness.store.header import make_header
from harness.store.what_changed import select_request_values
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
vectors: {near: near.jsonl}
measures: ["RR@3"]
requests:
  lexical: {query: {match: {title: "{{text}}"}}}
  branded: {query: {bool: {must: {match: {title: "{{text}}"}}, filter: {term: {brand: "{{brand}}"}}}}}
  vector: {knn: {field: place, query_vector: "{{near}}", k: 3, num_candidates: 9}}
queries:
  - {id: tents, text: TEXT, params: {brand: BRAND}, judgments: {a: 1}}
  - {id: ropes, text: rope, params: {brand: Acme}, judgments: {b: 1}}
"""
WITHOUT_VECTORS = SUITE.replace("vectors: {near: near.jsonl}\n", "").partition("  vector:")[0]
WITHOUT_VECTORS += SUITE.partition("num_candidates: 9}}\n")[2]
ANSWERS = {"tents": ["a"], "ropes": ["b"]}
PLAIN = {"TEXT": "tent", "BRAND": "Acme", "near": [0.5, 1.5]}
LONG = [0.25] * 300

CHANGES = {
    "text": {"TEXT": "family tent"},
    "param": {"BRAND": "Other"},
    "vector": {"near": [0.5, 2.5]},
}
USES = {"lexical": {"text"}, "branded": {"text", "param"}, "vector": {"vector"}}


@pytest.fixture
def load(tmp_path):
    def load(text=SUITE, environ=None, **changed):
        values = {**PLAIN, **changed}
        near = values.pop("near")
        for name, value in values.items():
            text = text.replace(name, value)
        lines = [{"id": "tents", "vector": near}, {"id": "ropes", "vector": [1.5] * len(near)}]
        (tmp_path / "near.jsonl").write_text("\n".join(map(json.dumps, lines)))
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(text)
        return load_suite(path, environ or {})

    return load


def run_of(suite, request, **options):
    return finish(suite, FakeSearch(ANSWERS), RunOptions(request=request, locate=False, **options))


def save(suite, request, **options):
    """The baseline of *request*, written and read."""
    done = run_of(suite, request, **options)
    run = replace(done.run, facts=IndexFacts())
    entry = make_baseline(suite, run, done.scores, created="2026-05-01", harness="1")
    return loads(dumps(BaselineFile("shop", {request: entry})), "b.json").requests[request]


def changed_since(entry, suite, request, **options):
    reference = make_reference(entry, suite, run_of(suite, request, **options).run)
    return reference.changed_questions


# ----------------------------------------------------------------------------------------------- what is used


TEMPLATES = {
    "a key and a value": (RequestTemplate("r", {"{{field}}": ["{{ text }}", 5, None]}), {"field", "text"}),
    "a list in a list": (RequestTemplate("r", {"a": [[{"b": "x {{one}} {{two}}"}]]}), {"one", "two"}),
    "the URL": (RequestTemplate("r", {}, url_params={"routing": "{{shop}}", "q": ["{{tag}}"]}), {"shop", "tag"}),
    "a stored template": (RequestTemplate("r", {"template": {"id": "t", "params": {"q": "{{text}}"}}}), {"text"}),
    "a section of a source": (
        RequestTemplate("r", {"template": {"source": "{{#brand}}{{q}}{{other}}{{/brand}}",
                                           "params": {"q": "{{text}}", "brand": "{{brand}}"}}}), {"text", "brand"}),
    "a service": (
        RequestTemplate("r", {"j": "{{a}}"}, http=HttpRequest("POST", "/{{b}}", "$.ids", {"p": "{{c}}"},
                                                             {"h": "{{d}}"}, {"j": "{{a}}"})), set("abcd")),
}  # fmt: skip


@pytest.mark.parametrize("case", TEMPLATES)
def test_a_request_uses_the_placeholders_that_a_query_fills(case):
    template, names = TEMPLATES[case]
    assert template.placeholders == names


def test_a_baseline_keeps_what_the_request_used(load):
    suite = load()
    kept = {request: save(suite, request).queries["tents"] for request in suite.requests}
    assert [kept[name].params for name in kept] == [
        {},
        {"brand": "Acme"},
        {"near": "2 numbers (fingerprint ac6f844c89adc7ca)"},
    ]
    names = [[part.partition(":")[0] for part in kept[name].question.split()] for name in kept]
    assert names == [["text"], ["brand", "text"], ["near"]]
    assert {each.text for each in kept.values()} == {"tent"}, "it is kept for readers of the file"


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("request_name", USES)
@pytest.mark.parametrize("near", [PLAIN["near"], LONG], ids=["short", "long"])
def test_a_baseline_ends_where_a_value_that_its_request_uses_changes(load, request_name, change, near):
    suite = load(near=near)
    entry = save(suite, request_name)
    assert changed_since(entry, suite, request_name) == {}
    changed = {"near": [*near[1:], 2.5]} if change == "vector" else {"near": near, **CHANGES[change]}
    found = changed_since(entry, load(**changed), request_name)
    assert set(found) == ({"tents"} if change in USES[request_name] else set())
    for query, questions in found.items():
        said = describe_changed_question(query, *questions)
        assert "0.5" not in said or near is LONG
        assert said.count("0.25") <= 6


@pytest.mark.parametrize("request_name", ["lexical", "branded"])
def test_vectors_may_be_added_after_a_baseline_was_saved(load, request_name):
    entry = save(load(WITHOUT_VECTORS), request_name)
    assert changed_since(entry, load(), request_name) == {}


def test_params_may_be_added_after_a_baseline_was_saved(load):
    less = SUITE.replace(", params: {brand: BRAND}", "").replace(", params: {brand: Acme}", "")
    less = "\n".join(line for line in less.splitlines() if "branded" not in line)
    for request in ("lexical", "vector"):
        assert changed_since(save(load(less), request), load(), request) == {}


def test_a_request_that_changes_is_still_compared_and_its_values_where_both_use_them(load):
    hybrid = 'lexical: {query: {match: {title: "{{text}}"}}, knn: {field: p, query_vector: "{{near}}", k: 3}}'
    lexical = 'lexical: {query: {match: {title: "{{text}}"}}}'
    alone = 'lexical: {knn: {field: p, query_vector: "{{near}}", k: 3}}'
    both, only = SUITE.replace(lexical, hybrid), SUITE.replace(lexical, alone)
    for then, now in ((SUITE, both), (both, SUITE), (SUITE, only), (only, SUITE), (both, only), (only, both)):
        entry = save(load(then), "lexical")
        assert changed_since(entry, load(now), "lexical") == {}
        assert set(changed_since(entry, load(now, TEXT="family tent"), "lexical")) == {"tents"}
    entry = save(load(both), "lexical")
    assert set(changed_since(entry, load(only, near=[9.5, 9.5]), "lexical")) == {"tents"}


@pytest.mark.parametrize("name", ["shop brand", "shop:brand"])
def test_the_name_of_a_param_may_hold_blanks_and_colons(load, name):
    text = SUITE.replace('"{{brand}}"', f'"{{{{{name}}}}}"').replace("{brand:", f'{{"{name}":')
    entry = save(load(text), "branded")
    refuse_contradictions(entry, "b.json", "branded")
    assert changed_since(entry, load(text), "branded") == {}
    assert set(changed_since(entry, load(text, BRAND="Other"), "branded")) == {"tents"}


class Brands:
    """A plugin whose hook reads a param that the request need not name."""

    @staticmethod
    def pytest_relevance_request(request, query):
        return replace(request, body={**request.body, "post_filter": {"term": {"brand": query.params["brand"]}}})


def test_hooks_may_use_any_value_of_a_query(load):
    manager = PluginManager("pytest")
    manager.add_hookspecs(hookspecs)
    manager.parse_hookimpl_opts = lambda plugin, name: {} if name.startswith("pytest_relevance") else None
    manager.register(Brands)
    hooks = Hooks(manager.hook)
    suite = load()
    entry = save(suite, "vector", hooks=hooks)
    assert changed_since(entry, suite, "vector", hooks=hooks) == {}
    for change in CHANGES.values():
        assert set(changed_since(entry, load(**change), "vector", hooks=hooks)) == {"tents"}
    assert changed_since(save(suite, "vector"), load(BRAND="Other"), "vector", hooks=hooks) == {}


def test_a_variable_counts_where_its_value_is_used(load):
    brand = '"${RELEVANCE_OWN}"'
    suite = load(environ={"RELEVANCE_OWN": "Acme"}, BRAND=brand)
    other = load(environ={"RELEVANCE_OWN": "Other"}, BRAND=brand)
    assert changed_since(save(suite, "lexical"), other, "lexical") == {}
    [(then, now)] = changed_since(save(suite, "branded"), other, "branded").values()
    assert describe_changed_question("q", then, now) == "q (a variable in it has another value)"


EDITS = {
    "another text": {"text": "blue tent"},
    "another param": {"params": {"brand": "Other"}},
    "a param more": {"params": {"brand": "Acme", "size": 1}},
    "a param less": {"params": {}},
    "a fingerprint without the name of its value": {"question": "a66c04a3661eb02f"},
    "no fingerprint": {"question": ""},
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_entry_that_was_edited_contradicts_itself(load, edit):
    entry = save(load(), "branded")
    refuse_contradictions(entry, "b.json", "branded")
    kept = replace(entry.queries["tents"], **EDITS[edit])
    with pytest.raises(BaselineError, match="the fingerprint of its text and params differs"):
        refuse_contradictions(replace(entry, queries={**entry.queries, "tents": kept}), "b.json", "branded")


# ----------------------------------------------------------------------------------------------- two sides


def sides_of(suite, request):
    run = run_of(suite, request).run
    report = run_suite(suite, FakeSearch(ANSWERS), RunOptions(request=request, locate=False))
    return {
        "run": make_run_side(f"request:{request}", SideKind.REQUEST, suite, run),
        "baseline": make_baseline_side("baseline", save(suite, request), request),
        "report": make_report_side(report, "report", created="2026-05-01"),
    }


@pytest.mark.parametrize("kind", ["run", "baseline", "report"])
@pytest.mark.parametrize("pair", [("lexical", "vector"), ("vector", "lexical"), ("branded", "vector")])
def test_two_requests_of_a_suite_ask_the_same_whatever_each_of_them_uses(load, kind, pair):
    suite = load()
    first, second = (sides_of(suite, request) for request in pair)
    assert remove_changed_queries((first[kind], second["run"]), suite)[1] == ()
    assert remove_changed_queries((first["report"], second[kind]), None)[1] == ()
    changed = load(near=[7.5, 7.5])
    notes = remove_changed_queries((first[kind], sides_of(changed, pair[1])["run"]), changed)[1]
    assert bool(notes) is (pair[0] == "vector"), "the vectors of the other request are not its own"
    other = load(TEXT="family tent")
    if pair[0] != "vector":
        assert remove_changed_queries((first[kind], sides_of(other, pair[1])["run"]), other)[1]


def test_a_resumed_run_goes_on_if_only_another_request_has_other_vectors(load):
    def header(suite, request):
        options = RunOptions(request=request, hooks=Hooks())
        return make_header(
            select(suite, QueryFilter.from_options(options), options.day()), options, {}, "c", Masker({})
        )

    for request, used in USES.items():
        before = header(load(), request)
        for change, values in CHANGES.items():
            found = before.list_differences(header(load(**values), request))
            expected = ["queries"] if change in used or change == "text" else []
            assert found == expected, (request, change)
    assert header(load(WITHOUT_VECTORS), "lexical").list_differences(header(load(), "lexical")) == []


# ----------------------------------------------------------------------------------------------- what a person sees


def session_of(suite, path):
    documents = [PooledDocument("tents", "tent", "a", {"lexical": 1})]
    return make_view(suite, documents, (), JudgeFile(path, fingerprint_questions(suite)))


@pytest.mark.parametrize("near", [PLAIN["near"], LONG], ids=["short", "long"])
def test_the_page_shows_no_vector_and_grades_do_not_depend_on_one(load, tmp_path, near):
    path, suite = tmp_path / "shop.judged-by.anna.jsonl", load(near=near)
    [shown] = build_session(session_of(suite, path))["queries"]
    assert (shown["text"], shown["params"]) == ("tent", {"brand": "Acme"})
    JudgeFile(path, fingerprint_questions(suite)).grade(("tents", "a"), 1.0)
    for changed in (load(near=[*near[1:], 7.5]), load(WITHOUT_VECTORS), suite):
        now = JudgeFile.read(path, fingerprint_questions(changed))
        assert (now.grades, now.outdated) == ({("tents", "a"): 1.0}, set())
    for changed in (load(TEXT="family tent", near=near), load(BRAND="Other", near=near)):
        assert JudgeFile.read(path, fingerprint_questions(changed)).outdated == {("tents", "a")}


def test_a_vector_among_the_params_is_not_shown_either(load, tmp_path):
    suite = load(WITHOUT_VECTORS)
    query = PlainQuery("tents", "tent", {"brand": "Acme", "sizes": [1, 2.5], "near": LONG, "deep": {"near": LONG}})
    [shown] = build_session(session_of(replace(suite, queries=(query,)), tmp_path / "x.jsonl"))["queries"]
    assert set(shown["params"]) == {"brand", "sizes", "deep"}
    assert shown["params"]["deep"].count("0.25") == 3


def test_a_report_says_what_its_request_used(load):
    suite = load()
    report = run_suite(suite, FakeSearch(ANSWERS), RunOptions(request="vector", locate=False))
    used = select_request_values(suite, "vector")
    assert [query.question for query in report.queries] == [used.fingerprint(query) for query in suite.queries]
    assert report.queries[0].sent.body["knn"]["query_vector"] == "2 numbers (fingerprint ac6f844c89adc7ca)"
