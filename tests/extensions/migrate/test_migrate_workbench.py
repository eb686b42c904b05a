"""Query sets, judgments and configurations of the Search Relevance Workbench become suites, and come back."""

import json
from pathlib import Path

import pytest

from extensions.migrate.builders.moving import bodies, judgments, moved, write_files
from harness.cli import main

pytestmark = pytest.mark.usefixtures("request_body")

REQUEST = ("--index", "shop", "--request-file", "body.json")
QUERIES = {
    "name": "Shop queries",
    "description": "",
    "sampling": "manual",
    "querySetQueries": [
        {"queryText": "red shoes"},
        {"queryText": "rope", "referenceAnswer": "A climbing rope"},
        {"queryText": "torch"},
    ],
}
JUDGMENTS = {
    "name": "Imported",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red shoes", "ratings": [{"docId": "sku-1", "rating": "1.0"}, {"docId": "sku-2", "rating": "0.000"}]},
        {"query": "red shoes", "ratings": [{"docId": "sku-1", "rating": "1.0"}]},
        {"query": "rope", "ratings": [{"docId": "007", "rating": "0.7"}]},
    ],
}
CONFIGURATION = {
    "name": "baseline",
    "index": "shop",
    "query": json.dumps({"query": {"match": {"title": "%SearchText%"}}, "size": 5}),
    "searchPipeline": "rerank",
}
EXPECTED = {"red shoes": {"sku-1": 1, "sku-2": 0}, "rope": {"007": 0.7}}


def answer(*sources):
    """What the API returns for a list."""
    hits = [{"_index": ".plugins", "_id": f"{n}", "_score": 1, "_source": one} for n, one in enumerate(sources)]
    return {"took": 1, "timed_out": False, "_shards": {"total": 1}, "hits": {"total": {"value": 1}, "hits": hits}}


@pytest.mark.parametrize(
    "files",
    [
        {"q.json": QUERIES, "j.json": JUDGMENTS},
        {"q.json": answer({**QUERIES, "id": "a", "timestamp": "2026-01-01"}), "j.json": answer(JUDGMENTS)},
        {"all.json": [QUERIES, JUDGMENTS]},
        {"q.json": QUERIES, "ratings.json": JUDGMENTS["judgmentRatings"]},
        {
            "q.ndjson": "".join(json.dumps(one) + "\n" for one in QUERIES["querySetQueries"]),
            "j.csv": "query,docid,rating\nred shoes,sku-1,1.0\nred shoes,sku-2,0.0\nrope,007,0.7\n",
        },
        {"q.txt": "red shoes\nrope\ntorch\n", "j.csv": "red shoes,sku-1,1.0\nred shoes,sku-2,0\nrope,007,0.7\n"},
    ],
)
def test_each_form_gives_the_same_suite(files):
    write_files(files)
    suite = moved("opensearch-srw", list(files), *REQUEST)
    assert judgments(suite) == {**EXPECTED, "torch": {}}
    assert suite.profile == "opensearch-srw"
    assert [measure.text for measure in suite.measures] == ["nDCG@10", "P@10", "AP@10", "Judged@10"]


def test_a_configuration_is_the_request(capsys):
    write_files({"q.json": QUERIES, "j.json": JUDGMENTS, "c.json": CONFIGURATION})
    suite = moved("opensearch-srw", ["q.json", "j.json", "c.json"])
    assert suite.target.index == "shop"
    assert bodies(suite)[1] == {"query": {"match": {"title": "rope"}}, "search_pipeline": "rerank"}
    assert "# reference answer: A climbing rope" in Path("moved.relevance.yaml").read_text()
    said = capsys.readouterr().err
    assert "j.json:1:" in said
    assert "a document that is judged twice for its query, with the same grade" in said
    assert "'size' of a search configuration" in said


def test_several_configurations_are_requests_by_name():
    other = {**CONFIGURATION, "name": "candidate", "index": "shop-next", "searchPipeline": ""}
    write_files({"j.json": JUDGMENTS, "c.json": answer(CONFIGURATION, other)})
    suite = moved("opensearch-srw", ["j.json", "c.json"])
    assert {name: request.index for name, request in suite.requests.items()} == {
        "baseline": "shop",
        "candidate": "shop-next",
    }


def test_configurations_of_one_name_get_names_of_their_own(capsys):
    other = {**CONFIGURATION, "index": "shop-next"}
    write_files({"j.json": JUDGMENTS, "c.json": answer(CONFIGURATION, other)})
    suite = moved("opensearch-srw", ["j.json", "c.json"])
    indexes = {name: request.index for name, request in suite.requests.items()}
    assert indexes == {"baseline": "shop", "baseline-2": "shop-next"}
    assert "the name 'baseline', which is 'baseline-2' in the suite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("queries", "judged"),
    [
        ([{"queryText": "rope", "referenceAnswer": "To climb"}, {"queryText": "C# book"}], ["rope", "C# book"]),
        (
            [
                {"queryText": "rope", "customFields": {"referenceAnswer": "To climb"}},
                {"queryText": "C# book", "customFields": {}},
            ],
            ['rope#{"referenceAnswer":"To climb"}', "C# book"],
        ),
        ([{"queryText": "rope#To climb"}, {"queryText": "C"}], ["rope#To climb", "C"]),
        ([{"queryText": "rope", "referenceAnswer": "To climb"}, {"queryText": "C"}], ["rope#To climb", "C"]),
        ([{"queryText": 'rope#{"referenceAnswer":"To climb"}'}, {"queryText": "C"}], ["rope", "C"]),
    ],
    ids=["given", "stored", "stored by early versions", "given to early versions", "stored with JSON"],
)
def test_reference_answers_are_comments_however_a_version_stores_them(queries, judged):
    stored = {} if "referenceAnswer" in queries[0] else {"id": "a", "timestamp": "2026-01-01T00:00:00Z"}
    ratings = [{"query": text, "ratings": [{"docId": "d", "rating": "2.0"}]} for text in judged]
    write_files(
        {
            "j.json": answer({"type": "LLM_JUDGMENT", "judgmentRatings": ratings}),
            "q.json": answer({**stored, "name": "Shop", "querySetQueries": queries}),
        }
    )
    suite = moved("opensearch-srw", ["j.json", "q.json"], *REQUEST)
    other = queries[1]["queryText"]
    assert judgments(suite) == {"rope": {"d": 2}, other: {"d": 2}}
    assert "  # reference answer: To climb\n  - {id: rope" in Path("moved.relevance.yaml").read_text()


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["c# tutorial", "size #10 screws", "c"], ["c# tutorial", "size #10 screws", "c"]),
        (["c#net", "c#java"], ["c#net", "c#java"]),
        (["c", "c#net"], ["c", "c#net"]),
        (["c#net", 'rope#{"referenceAnswer":""}'], ["c#net", "rope"]),
        (['c# book#{"referenceAnswer":"A"}', "c#net"], ["c# book", "c#net"]),
    ],
    ids=["with blanks", "two that would be one", "one that would be another", "a set with JSON", "before JSON"],
)
def test_a_text_of_its_own_is_not_cut_at_its_number_sign(texts, whole, capsys):
    ratings = [{"query": text, "ratings": [{"docId": text, "rating": "1.0"}]} for text in texts]
    entries = [{"queryText": text} for text in texts]
    write_files(
        {
            "j.json": answer({"type": "LLM_JUDGMENT", "judgmentRatings": ratings}),
            "q.json": answer({"id": "a", "timestamp": "2026-01-01", "name": "Shop", "querySetQueries": entries}),
        }
    )
    suite = moved("opensearch-srw", ["j.json", "q.json"], *REQUEST)
    assert judgments(suite) == {text: {stored: 1} for text, stored in zip(whole, texts, strict=True)}
    assert "'#'" not in capsys.readouterr().err


def test_answers_that_are_guessed_are_listed_with_the_place_of_the_first(capsys):
    entries = [{"queryText": "rope#To climb"}, {"queryText": "torch"}, {"queryText": "c#tutorial"}]
    write_files({"q.json": {"timestamp": "2026-01-01", "querySetQueries": entries}})
    suite = moved("opensearch-srw", ["q.json"], *REQUEST)
    assert list(judgments(suite)) == ["rope", "torch", "c"]
    what = "what stands behind '#', taken as a reference answer (2 times, first query 'rope')"
    assert capsys.readouterr().err == f"not carried over:\n  q.json:1:49: {what}\n1 thing\n"


def test_a_query_that_a_file_has_twice_is_listed(capsys):
    write_files({"q.txt": "rope\ntorch\n rope\n"})
    assert list(judgments(moved("opensearch-srw", ["q.txt"], *REQUEST))) == ["rope", "torch"]
    assert "q.txt:3:1: queries that a set has twice" in capsys.readouterr().err


def test_a_query_that_a_set_has_twice_is_listed(capsys):
    write_files({"q.json": {**QUERIES, "querySetQueries": [{"queryText": "rope"}, {"queryText": "rope"}]}})
    moved("opensearch-srw", ["q.json"], *REQUEST)
    assert "q.json:1:110: queries that a set has twice" in capsys.readouterr().err


MATCH = '{"query": {"match": {"title": "%s"}}}'
FIELDS = {"name": "s", "querySetQueries": [{"queryText": "rope", "brand": "Acme", "price": 7}, {"queryText": "torch"}]}


@pytest.mark.parametrize(
    "marker", ["%SearchText%", "%queryText%", "{{queryText}}", "{{{ queryText }}}", "{{&query_string}}"]
)
def test_the_text_of_a_configuration_as_each_version_marks_it(marker, capsys):
    write_files({"c.json": {**CONFIGURATION, "query": MATCH % f"{marker} {marker}"}, "q.json": FIELDS})
    suite = moved("opensearch-srw", ["c.json", "q.json"])
    assert bodies(suite)[0] == {"query": {"match": {"title": "rope rope"}}, "search_pipeline": "rerank"}
    assert capsys.readouterr().err == ""
    assert "  # brand: Acme\n  # price: 7\n  - {id: rope" in Path("moved.relevance.yaml").read_text()


@pytest.mark.parametrize("stored", [False, True])
def test_custom_fields_of_a_template_are_params(stored, capsys):
    query = (
        '{"query": {"bool": {"must": {"match": {"t": "{{queryText}}"}}, '
        '"filter": [{"term": {"b": "{{brand}} {{gone}}"}}, {"range": {"p": {"gte": {{price}}}}}]}}}'
    )
    fields = [{"brand": "Acme", "price": "7", "note": "x"}, {"price": "8"}]
    texts = ["rope", "torch"]
    entries = [
        {"queryText": text, **({"customFields": own} if stored else own)}
        for text, own in zip(texts, fields, strict=True)
    ]
    write_files({"c.json": {**CONFIGURATION, "query": query}, "q.json": {"name": "s", "querySetQueries": entries}})
    suite = moved("opensearch-srw", ["c.json", "q.json"])
    assert [body["query"]["bool"]["filter"] for body in bodies(suite)] == [
        [{"term": {"b": "Acme "}}, {"range": {"p": {"gte": 7}}}],
        [{"term": {"b": " "}}, {"range": {"p": {"gte": 8}}}],
    ]
    assert capsys.readouterr().err == (
        "not carried over:\n  c.json:1:48: variables of a search configuration that no query has; they are empty"
        " ('gone')\n1 thing\n"
    )
    assert "# note: x" in Path("moved.relevance.yaml").read_text()


def test_a_template_with_sections_is_for_the_engine(capsys):
    query = (
        '{"query": {"match": {"t": "{{queryText}}"}}{{#brand}}, "post_filter": {"term": {"b": "{{brand}}"}}{{/brand}}}'
    )
    write_files({"c.json": {**CONFIGURATION, "query": query}, "q.json": FIELDS})
    suite = moved("opensearch-srw", ["c.json", "q.json"])
    assert [body["template"]["params"] for body in bodies(suite)] == [
        {"queryText": "rope", "brand": "Acme"},
        {"queryText": "torch", "brand": ""},
    ]
    assert bodies(suite)[0]["template"]["source"] == query
    said = capsys.readouterr().err
    assert "the number of hits, which a search template has" in said
    assert "the search pipeline 'rerank' beside a search template" in said


def test_functions_of_a_template_are_no_variables(capsys):
    query = '{"query": {"terms": {"b": {{#toJson}}brand{{/toJson}}}}, "_source": "{{queryText}}"}'
    write_files({"c.json": {**CONFIGURATION, "query": query, "searchPipeline": ""}, "q.json": FIELDS})
    suite = moved("opensearch-srw", ["c.json", "q.json"])
    assert bodies(suite)[0]["template"]["params"] == {"brand": "Acme", "queryText": "rope"}


def test_grades_below_0_are_listed_once(capsys):
    write_files({"j.csv": "query,docid,rating\nrope,a,-1\nrope,b,-0.5\nrope,c,2\n"})
    moved("opensearch-srw", ["j.csv"], *REQUEST)
    what = "the gain of grades below 0; in a suite it is 0 (2 times, first document 'a' of query 'rope': -1)"
    assert f"j.csv:2:1: {what}\n1 thing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "name", "others"),
    [
        ({"j.json": JUDGMENTS, "q.json": QUERIES}, "Shop queries", ["names of further lists ('Imported')"]),
        ({"j.json": JUDGMENTS}, "Imported", []),
        ({"q.json": {**QUERIES, "name": ""}, "j.json": {**JUDGMENTS, "name": None}}, "q", []),
    ],
)
def test_the_suite_has_the_name_of_the_query_set_and_other_names_are_listed(files, name, others, capsys):
    write_files(files)
    assert moved("opensearch-srw", list(files), *REQUEST).name == name
    assert [line.split(": ", 1)[1] for line in capsys.readouterr().err.splitlines() if "names of" in line] == others


def test_what_users_wrote_beside_is_listed(capsys):
    judgments = {**JUDGMENTS, "description": "by Kim", "metadata": {"modelId": "m"}}
    judgments["judgmentRatings"] = [{**JUDGMENTS["judgmentRatings"][2], "failures": [{"docId": "x", "error": "y"}]}]
    write_files(
        {"j.json": judgments, "c.json": {**CONFIGURATION, "query": MATCH % "%queryText%", "description": "old"}}
    )
    moved("opensearch-srw", ["j.json", "c.json"])
    said = [line.split(": ", 1)[1] for line in capsys.readouterr().err.splitlines()[1:-1]]
    assert said == ["'judgmentRatings[].failures'", "'description'", "'metadata'", "'description'"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", {"querySetQueries": [{"queryText": " "}]}, 'a.json:1:36: found " ", expected a text'),
        ("a.json", {"name": "x"}, "a.json:1:1: found an object, expected an object with querySetQueries"),
        ("a.json", {"judgmentRatings": [{"query": "x", "ratings": [{"docId": "d", "rating": "x"}]}]}, 'found "x"'),
        ("a.json", {"name": "x", "index": "i", "query": "{"}, "a.json:1:38: the query is not JSON"),
        ("a.json", [{"name": "x", "index": "i", "query": '{"query": NaN}'}], "the query is not JSON: NaN is not a"),
        ("a.csv", "query,docid,rating\nx,d,?\n", "a.csv:2:1: found '?' as rating"),
        ("a.ndjson", '{"queryText": "x"}\n{"text": "y"}\n', "a.ndjson:2:1: found an object without 'queryText'"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(capsys, name, content, said):
    write_files({name: content})
    assert main(["import", "opensearch-srw", name, "--output", "moved.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err
