"""What a request uses of a query is what it asked: nothing else ends a baseline, or a grade that a person gave."""

from dataclasses import replace
from functools import partial

import pytest
from pluggy import PluginManager

from builders.executions import run_suite
from builders.questions import ANSWERS, LONG, PLAIN, SUITE, WITHOUT_VECTORS, load_questions, run_of, save
from harness import hookspecs
from harness.errors import BaselineError
from harness.gate.finding import describe_changed_question
from harness.gate.selection import QueryFilter, select
from harness.hooks import Hooks
from harness.masking import Masker
from harness.model.suite import HttpRequest, RequestTemplate
from harness.options import RunOptions
from harness.search.testing import FakeSearch
from harness.store.baseline import make_reference
from harness.store.contradictions import refuse_contradictions
from harness.store.header import make_header
from harness.store.what_changed import select_request_values

CHANGES = {
    "text": {"TEXT": "family tent"},
    "param": {"BRAND": "Other"},
    "vector": {"near": [0.5, 2.5]},
}
USES = {"lexical": {"text"}, "branded": {"text", "param"}, "vector": {"vector"}}


@pytest.fixture
def load(tmp_path):
    return partial(load_questions, tmp_path)


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


def test_a_report_says_what_its_request_used(load):
    suite = load()
    report = run_suite(suite, FakeSearch(ANSWERS), RunOptions(request="vector", locate=False))
    used = select_request_values(suite, "vector")
    assert [query.question for query in report.queries] == [used.fingerprint(query) for query in suite.queries]
    assert report.queries[0].sent.body["knn"]["query_vector"] == "2 numbers (fingerprint ac6f844c89adc7ca)"
