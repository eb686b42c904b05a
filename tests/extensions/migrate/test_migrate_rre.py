"""Files of ratings of the Rated Ranking Evaluator become suites with the request of their template, and come back."""

import json
from pathlib import Path

import pytest
from hypothesis import strategies as st

from extensions.migrate.builders.moving import bodies, judgments, moved, write_files
from harness.cli import main

pytestmark = pytest.mark.usefixtures("working_folder")

RATINGS = {
    "index": "basses",
    "corpora_file": "basses.bulk",
    "id_field": "_id",
    "topics": [
        {
            "description": "Fender",
            "query_groups": [
                {
                    "name": "brand",
                    "description": "searches for the brand",
                    "queries": [
                        {"template": "match.json", "placeholders": {"$query": "fender", "$q": "name", "$n": 4}},
                        {"template": "match.json", "placeholders": {"$query": "Fender", "$q": "brand", "$n": 5}},
                    ],
                    "relevant_documents": {"3": ["1", "2"], "1": ["7"]},
                },
                {
                    "name": "model",
                    "queries": [
                        {
                            "template": "match.json",
                            "placeholders": {"$query": "jazz", "$q": "name", "$n": 4},
                            "relevant_documents": {"2": {"gain": 2}, "9": {"rating": 0.5}},
                        }
                    ],
                    "relevant_documents": {"1": {"gain": 3}},
                },
            ],
        }
    ],
}
TEMPLATE = """\
{
  "query": {"bool": {
    "must": {"match": {"$q": {"query": "$query", "minimum_should_match": "3<-75%"}}},
    "filter": [{"term": {"strings": $n}}, {"term": {"label": "$q $n"}}]
  }}
}
"""


def body_of(text, field, number):
    return {
        "query": {
            "bool": {
                "must": {"match": {field: {"query": text, "minimum_should_match": "3<-75%"}}},
                "filter": [{"term": {"strings": number}}, {"term": {"label": f"{field} {number}"}}],
            }
        }
    }


@pytest.mark.parametrize("source", ["etc", "etc/ratings/basses.json"])
def test_both_forms_of_relevant_documents_and_the_template(source, capsys):
    write_files({"etc/ratings/basses.json": RATINGS, "etc/templates/match.json": TEMPLATE})
    suite = moved("rre", [source])
    assert (suite.name, suite.target.index, suite.profile) == ("basses", "basses", "rre")
    assert judgments(suite) == {
        "fender": {"1": 3, "2": 3, "7": 1},
        "Fender": {"1": 3, "2": 3, "7": 1},
        "jazz": {"2": 2, "9": 0.5},
    }
    assert [query.id for query in suite.queries] == ["fender", "Fender", "jazz"]
    assert [query.tags for query in suite.queries] == [("Fender", "brand"), ("Fender", "brand"), ("Fender", "model")]
    assert bodies(suite) == [body_of("fender", "name", 4), body_of("Fender", "brand", 5), body_of("jazz", "name", 4)]
    assert "'corpora_file'" in capsys.readouterr().err
    assert main(["validate", "moved.relevance.yaml"]) == 0


def test_quepid_s_export_for_rre_has_no_topics(capsys):
    flat = {
        "id_field": "id",
        "index": "shop",
        "template": "template.json",
        "queries": [{"placeholders": {"$query": "tent"}, "relevant_documents": {"sku-1": {"gain": 3}}}],
    }
    write_files({"a.json": flat, "template.json": '{"query": {"match": {"title": "$query"}}}'})
    suite = moved("rre", ["a.json"])
    assert judgments(suite) == {"tent": {"sku-1": 3}}
    assert bodies(suite) == [{"query": {"match": {"title": "tent"}}}]
    assert suite.target.id_field == "id"


def test_each_template_is_a_suite(capsys):
    ratings = json.loads(json.dumps(RATINGS))
    ratings["topics"][0]["query_groups"][1]["queries"][0]["template"] = "other.json"
    write_files({"ratings/a.json": ratings, "templates/match.json": TEMPLATE})
    assert main(["import", "rre", "ratings/a.json", "--output", "out"]) == 0
    assert sorted(path.name for path in Path("out").glob("*.yaml")) == [
        "a-match.relevance.yaml",
        "a-other.relevance.yaml",
    ]
    said = capsys.readouterr().err
    assert "the mean over all queries: each template is a suite, 2 in all" in said
    assert "the template 'other.json', which is in no folder 'templates'" in said


def test_a_template_with_versions_names_the_one_that_is_taken(capsys):
    ratings = {"index": "i", "queries": [{"template": "${version}/m.json", "placeholders": {"$query": "a"}}]}
    one = '{"query": {"match": {"t%s": "$query"}}}'
    write_files({"r/a.json": ratings, "templates/v1/m.json": one % 1, "templates/v2/m.json": one % 2})
    suite = moved("rre", ["r/a.json"])
    assert bodies(suite) == [{"query": {"match": {"t2": "a"}}}]
    assert "the other versions of the template" in capsys.readouterr().err


def test_a_template_of_which_there_are_several_names_the_one_that_is_taken(capsys):
    ratings = {"index": "i", "queries": [{"template": "m.json", "placeholders": {"$query": "a"}}]}
    one = '{"query": {"match": {"t%s": "$query"}}}'
    write_files({"r/a.json": ratings, "templates/v1/m.json": one % 1, "templates/v2/m.json": one % 2})
    assert bodies(moved("rre", ["r/a.json"])) == [{"query": {"match": {"t1": "a"}}}]
    assert "the other files 'm.json' below the same folder; templates/v1/m.json is" in capsys.readouterr().err


def test_a_template_of_solr_is_listed(capsys):
    ratings = {"index": "i", "queries": [{"template": "m.json", "placeholders": {"$query": "a", "$lang": "en"}}]}
    write_files({"r/a.json": ratings, "templates/m.json": '{"q": "$query", "fq": "language:$lang"}'})
    assert main(["import", "rre", "r/a.json", "--output", "moved.relevance.yaml"]) == 0
    said = capsys.readouterr().err
    assert "the template, which is not a body of _search" in said
    assert "'lang' of queries, which no request uses" in said
    assert main(["validate", "moved.relevance.yaml"]) == 2


def test_a_placeholder_that_a_query_lacks_is_a_problem(capsys):
    queries = [
        {"template": "m.json", "placeholders": given} for given in ({"$query": "a", "$lang": "en"}, {"$query": "b"})
    ]
    template = '{"query": {"match": {"t": "$query $lang"}}}'
    write_files({"r/a.json": {"index": "i", "queries": queries}, "templates/m.json": template})
    assert main(["import", "rre", "r/a.json", "--strict", "--output", "moved.relevance.yaml"]) == 2
    assert "moved.relevance.yaml:15:10: query 'b' has no param 'lang', which the request" in capsys.readouterr().err


def test_placeholders_that_differ_in_punctuation_stay_apart(capsys):
    given = {"$query-a": "1", "$query_a": "2", "$query.a": "3", "$größe": "4", "$text": "5", "$query": "a"}
    ratings = {"index": "i", "queries": [{"template": "m.json", "placeholders": given}]}
    names = '", "'.join(given)
    write_files({"r/a.json": ratings, "templates/m.json": f'{{"query": {{"terms": {{"t": ["{names}"]}}}}}}'})
    assert bodies(moved("rre", ["r/a.json"])) == [{"query": {"terms": {"t": list(given.values())}}}]
    assert capsys.readouterr().err == (
        "moved.relevance.yaml has no judgments: no grade of a document was read; grade with `relevance judge`\n"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"$q": "x", "$query": "y"}, "first '$q' in '$query'"),
        ({"$query": "for $b", "$b": "y"}, "first '$b' in the value of '$query'"),
        ({"$query": "y", "$q": "x"}, ""),
        ({"$b": "y", "$query": "for $b"}, ""),
    ],
)
def test_what_rre_replaces_within_other_placeholders_is_listed(capsys, given, said):
    ratings = {"index": "i", "queries": [{"template": "m.json", "placeholders": given}] * 2}
    write_files({"r/a.json": ratings, "templates/m.json": json.dumps({"query": {"match": {"t": " ".join(given)}}})})
    assert bodies(moved("rre", ["r/a.json"]))[0] == {"query": {"match": {"t": " ".join(given.values())}}}
    what = "placeholders that RRE replaces within other ones; a suite fills each by itself (2 times, "
    assert capsys.readouterr().err.count(f"{what}{said})" if said else what) == bool(said)


def test_values_and_gains_are_those_that_rre_takes(capsys):
    query = {
        "template": "m.json",
        "placeholders": {"$query": "a", "$none": None, "$list": [1], "": "x"},
        "relevant_documents": {"d": {}, "e": {"gain": 1}},
    }
    ratings = {"index": "i", "queries": [query, {**query, "relevant_documents": []}]}
    write_files({"r/a.json": ratings, "templates/m.json": '{"query": {"match": {"t": "$query $none[$list]"}}}'})
    suite = moved("rre", ["r/a.json"])
    assert bodies(suite)[0] == {"query": {"match": {"t": "a null[]"}}}
    assert [dict(one.judgments) for one in suite.queries] == [{"d": 2, "e": 1}, {}]
    assert "documents without a gain; they get 2, RRE's default (document 'd' of query 'a')" in capsys.readouterr().err


def test_rre_sends_the_query_of_a_template_alone(capsys):
    ratings = {"index": "i", "queries": [{"template": "/m.json", "placeholders": {"$query": "a"}}]}
    body = {"query": {"match": {"t": "$query"}}, "size": 5, "from": 3, "sort": ["n"]}
    write_files({"r/a.json": ratings, "templates/m.json": body})
    assert bodies(moved("rre", ["r/a.json"])) == [{"query": {"match": {"t": "a"}}}]
    assert "'from', 'size', 'sort' of the template, as RRE sends its query alone" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["**", "*.json", "[m].json", "/", "", "..", "m\0.json"])
def test_a_name_that_is_no_file_s_is_listed(capsys, name):
    ratings = {"index": "i", "queries": [{"template": name, "placeholders": {"$query": "a"}}]}
    write_files({"r/a.json": ratings, "templates/m.json": '{"query": {"match": {"t": "$query"}}}'})
    assert main(["import", "rre", "r/a.json", "--output", "moved.relevance.yaml"]) == 0
    assert bool(name) == (f"the template {name!r}, which is in no folder 'templates'" in capsys.readouterr().err)
    assert "request:   # TODO" in Path("moved.relevance.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"index": "i"}', "a.json:1:1: found an object without 'queries'"),
        (
            '{"name": "Ratings", "metrics": {}, "corpora": []}',
            "expected ratings; this is the evaluation that RRE writes",
        ),
        ('{"topics": []}', "a.json:1:1: found an object, expected topics, query groups or queries"),
        (
            '{"queries": [{"placeholders": {"$q": 1}}]}',
            "a.json:1:31: found an object, expected the placeholder '$query'",
        ),
        ('{"queries": [\n{"relevant_documents": {}}]}', "a.json:2:1: found an object without 'placeholders'"),
        (
            '{"queries": [{"placeholders": {"$query": "a"},\n"relevant_documents": {"good": ["d"]}}]}',
            "a.json:2:32: found the key 'good', expected a gain",
        ),
        (
            '{"queries": [{"placeholders": {"$query": "a"},\n"relevant_documents": {"d": {"gain": "?"}}}]}',
            'a.json:2:38: found "?", expected a finite number',
        ),
        (
            '{"queries": [{"placeholders": {"$query": "a"},\n"relevant_documents": {"3": ["d"], "2": ["d"]}}]}',
            "document 'd' has grade 2 for query 'a' here, and 3 at a.json:2:30; keep the right one",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(capsys, text, said):
    write_files({"a.json": text})
    assert main(["import", "rre", "a.json", "--output", "moved.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=9).filter(str.strip)
