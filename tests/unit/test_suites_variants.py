"""The variants of a suite: written, made by rule, or other queries; what is refused, and where."""

import pytest

from builders.refusals import list_problems
from harness.model.suite import Variant
from harness.suites import load_suite
from harness.suites.variant_rules import change_number

SUITE = """\
suite: shop
target: {{index: products}}
{request}
{more}
queries:
{queries}
"""
REQUEST = 'request: {{query: {{match: {{title: "{{{{{used}}}}}"}}}}}}'


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load_queries(*queries, more="", used="text", request=REQUEST, environ=None):
        lines = "\n".join(f"  - {query}" for query in queries)
        path = tmp_path / "s.relevance.yaml"
        path.write_text(SUITE.format(request=request.format(used=used), more=more, queries=lines), encoding="utf-8")
        return load_suite(path.relative_to(tmp_path), environ or {}, needs_judgments=False)

    return load_queries


def list_variants(suite):
    return {
        query.id: [(variant.id, variant.text, variant.rule) for variant in query.variants] for query in suite.queries
    }


def test_written_variants_have_ids_of_their_query(load):
    suite = load(
        "{id: shoes, text: running shoes, variants: [runing shoes, RUNNING SHOES]}", "{id: boots, text: boots}"
    )
    assert list_variants(suite) == {
        "shoes": [("shoes~1", "runing shoes", ""), ("shoes~2", "RUNNING SHOES", "")],
        "boots": [],
    }


def test_rules_make_variants_after_those_that_are_written(load):
    suite = load(
        "{id: shoes, text: red shoes, variants: {written: [rd shoes], typos: 2, plural: true, case: true, order: true}}"
    )
    [query] = suite.queries
    assert [(variant.id, variant.rule) for variant in query.variants] == [
        ("shoes~1", ""), ("shoes~2", "typo"), ("shoes~3", "typo"), ("shoes~4", "plural"), ("shoes~5", "case"),
        ("shoes~6", "order"),
    ]  # fmt: skip
    assert [variant.text for variant in query.variants[3:]] == ["red shoe", "RED SHOES", "shoes red"]


def test_rules_of_the_suite_are_for_queries_that_say_nothing_of_variants(load):
    suite = load(
        "{id: a, text: red shoes}",
        "{id: b, text: red shoes, variants: []}",
        "{id: c, text: red shoes, variants: [rd shoes]}",
        more="variants: {case: true}",
    )
    texts = {query: [text for _, text, _ in variants] for query, variants in list_variants(suite).items()}
    assert texts == {"a": ["RED SHOES"], "b": [], "c": ["rd shoes"]}


def test_nothing_is_made_twice(load):
    suite = load("{id: a, text: shoes, variants: {written: [SHOES, shoe], plural: true, case: true}}")
    assert [text for _, text, _ in list_variants(suite)["a"]] == ["SHOES", "shoe"]


def test_same_as_makes_a_query_a_variant_of_another(load):
    suite = load("{id: schuhe, text: Schuhe, same_as: shoes}", "{id: shoes, text: shoes, variants: [shoos]}")
    [schuhe, shoes] = suite.queries
    assert schuhe.variants == ()
    assert shoes.variants == (Variant("shoes~1", "shoos"), Variant("schuhe", "Schuhe", "same as"))
    assert shoes.variants[1].is_query


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q_csv", "id,text,variants,same_as\na,red shoes,rd shoes;RED SHOES,\nb,rote Schuhe,,a\n"),
        (
            "q_jsonl",
            '{"id": "a", "text": "red shoes", "variants": ["rd shoes", "RED SHOES"]}\n'
            '{"id": "b", "text": "rote Schuhe", "same_as": "a"}\n',
        ),
    ],
)
def test_a_query_file_has_variants_too(load, tmp_path, name, content):
    path = tmp_path / name.replace("_", ".")
    path.write_text(content, encoding="utf-8")
    suite_path = tmp_path / "f.relevance.yaml"
    suite_path.write_text(
        f"suite: shop\nqueries: {path.name}\nrequest: {{query: {{match: {{title: '{{{{text}}}}'}}}}}}\n"
        "target: {index: products}\n"
    )
    suite = load_suite(suite_path, {}, needs_judgments=False)
    assert list_variants(suite)["a"] == [
        ("a~1", "rd shoes", ""), ("a~2", "RED SHOES", ""), ("b", "rote Schuhe", "same as"),
    ]  # fmt: skip


def test_the_suite_adds_variants_to_a_query_of_its_file(tmp_path):
    (tmp_path / "q.tsv").write_text("a\tred shoes\n")
    path = tmp_path / "f.relevance.yaml"
    path.write_text(
        "suite: shop\nqueries: {file: q.tsv, inline: [{id: a, variants: {case: true}}]}\n"
        "request: {query: {match: {title: '{{text}}'}}}\ntarget: {index: products}\n"
    )
    assert list_variants(load_suite(path, {}, needs_judgments=False)) == {"a": [("a~1", "RED SHOES", "case")]}


def test_what_the_suite_does_not_say_of_variants_stays_as_in_the_file(tmp_path):
    (tmp_path / "q.jsonl").write_text(
        '{"id": "a", "text": "red shoes", "variants": ["rd shoes"]}\n{"id": "b", "text": "rote", "same_as": "a"}\n'
    )
    path = tmp_path / "f.relevance.yaml"
    path.write_text(
        "suite: shop\nqueries: {file: q.jsonl, inline: [{id: a, tags: [x]}, {id: b, tags: [x]}]}\n"
        "request: {query: {match: {title: '{{text}}'}}}\ntarget: {index: products}\n"
    )
    [query, _] = load_suite(path, {}, needs_judgments=False).queries
    assert [variant.id for variant in query.variants] == ["a~1", "b"]


def test_a_threshold_on_variants_decides_how_many_hits_are_requested(load):
    more = 'thresholds: ["mean overlap@25 of variants >= 0.8"]'
    assert load("{id: a, text: shoes, variants: [shoos]}", more=more).depth == 25


def test_a_request_that_is_not_gated_may_do_without_the_text(load):
    requests = (
        "requests: {x: {gate: false, body: {query: {match: {t: '{{x}}'}}}}, text: {query: {match: {t: '{{text}}'}}}}"
    )
    suite = load("{id: a, text: shoes, params: {x: shoe}, variants: [shoos]}", more=requests, request="")
    assert list(suite.requests) == ["x", "text"]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (
            "{id: a, text: shoes, variants: [shoos, shoes]}",
            "6:44 found the text of its query: 'shoes'; expected another text, which should find the same",
        ),
        (
            "{id: a, text: shoes, variants: [shoos, shoos]}",
            "6:44 found a variant twice: 'shoos'; expected another text, which should find the same",
        ),
        ("{id: a, text: shoes, variants: shoos}", "found 'shoos', expected a list of texts, or a mapping with typos"),
        ("{id: a, text: shoes, variants: {typo: 2}}", "unknown key 'typo'"),
        ("{id: a, text: shoes, variants: {typos: 0}}", "found '0', expected a whole number of at least 1"),
        ("{id: a, text: shoes, variants: ['']}", "found blank text, expected a text"),
        ("{id: a, text: shoes, same_as: shoe}", "6:35 no query has the id 'shoe'"),
        ("{id: a, text: shoes, same_as: a}", "6:35 the query 'a' is 'same_as' itself"),
        ("{id: a, text: shoes, thresholds: [RBO of variants >= 1]}", "6:39 the query 'a' has no variants"),
    ],
)
def test_wrong_variants_are_refused_at_their_place(load, query, problem):
    [found] = list_problems(load, query)
    assert problem in found


def test_a_chain_of_same_as_is_refused(load):
    problems = list_problems(load, "{id: a, text: a}", "{id: b, text: b, same_as: a}", "{id: c, text: c, same_as: b}")
    assert problems == ["8:31 the query 'b' is 'same_as' 'a' itself; expected 'a' here too"]


def test_an_id_that_a_variant_has_is_refused(load):
    problems = list_problems(load, "{id: a, text: shoes, variants: [shoos]}", "{id: a~1, text: boots}")
    assert problems == ["7:10 the query id 'a~1' is that of a variant of 'a'; expected another id"]


def test_a_threshold_needs_a_query_with_variants_in_its_scope(load):
    more = 'thresholds: ["mean RBO of variants >= 0.8 for head"]'
    queries = ("{id: a, text: shoes, variants: [shoos]}", "{id: b, text: boots, tags: [head]}")
    assert list_problems(load, *queries, more=more) == [
        "4:14 no query with the tag 'head' has variants; expected `variants` in a query or in the suite, or `same_as`"
    ]


def test_a_request_without_the_text_is_refused(load):
    queries = ("{id: a, text: shoes, params: {x: shoe}, variants: [shoos]}", "{id: b, params: {x: shoe}, same_as: a}")
    [problem] = list_problems(load, *queries, used="x")
    assert problem == (
        "3:10 the request 'request' does not use {{text}}, so that variants change nothing; write a variant as a query "
        "of its own with `same_as`, or set `gate: false` for the request"
    )
    assert refuse_nothing(load, "{id: a, params: {x: shoe}}", "{id: b, params: {x: shoes}, same_as: a}", used="x")


def refuse_nothing(load, *queries, **more):
    return load(*queries, **more).queries


def test_a_request_with_a_vector_of_its_query_is_refused(load, tmp_path):
    (tmp_path / "v.jsonl").write_text('{"id": "a", "vector": [0.5, 1.0]}\n')
    queries = ["{id: a, text: shoes, variants: [shoos]}"]
    [problem] = list_problems(load, *queries, more="vectors: {near: v.jsonl}", used="near")
    assert "the request 'request' uses the vector 'near', which variants do not have" in problem


def test_nothing_is_made_of_a_text_with_a_value_from_the_environment(load):
    suite = load(
        '{id: a, text: "${RELEVANCE_TEXT} shoes", variants: {case: true, written: [shoos]}}',
        environ={"RELEVANCE_TEXT": "secret"},
    )
    assert [text for _, text, _ in list_variants(suite)["a"]] == ["shoos"]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("apple pies", "apple pie"),
        ("fishing flies", "fishing fly"),
        ("ties", "tie"),
        ("toy", "toys"),
        ("baby", "babies"),
        ("boxes", "box"),
        ("lamp", "lamps"),
    ],
)
def test_the_last_word_has_its_other_number(text, other):
    assert list(change_number(text)) == [other]
