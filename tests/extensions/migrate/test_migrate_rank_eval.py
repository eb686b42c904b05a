"""`_rank_eval` bodies become suites and come back; what does not fit is listed with its place."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extensions.migrate.builders.moving import bodies
from harness.cli import main
from harness.extensions.migrate.rank_eval import find_metric
from harness.model.suite import Display
from harness.suites import load_suite
from harness.suites.requests import build_requests

BODY = """\
{
  "requests": [
    {"id": "tents", "request": {"query": {"match": {"title": "tent"}}, "size": 50},
     "ratings": [{"_index": "shop", "_id": "007", "rating": 3}, {"_index": "shop", "_id": "sku-2", "rating": 0}],
     "summary_fields": ["title", "brand"]},
    {"id": "ropes", "request": {"query": {"match": {"title": "{{rope}} 1e3 ${HOME}"}}}, "ratings": []}
  ],
  "metric": {"dcg": {"k": 20, "normalize": true}},
  "max_concurrent_searches": 2
}
"""


@pytest.fixture
def moved(tmp_path, monkeypatch):
    """Imports a body and loads the suite that was written."""
    monkeypatch.chdir(tmp_path)

    def move(text, *words):
        (tmp_path / "eval.json").write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        assert main(["import", "rank_eval", "eval.json", "--output", "shop.relevance.yaml", *words]) == 0
        return load_suite(tmp_path / "shop.relevance.yaml", {})

    return move


RATINGS = [{"_id": "sku-1", "rating": 1}]


def one_request(query, **more):
    return {
        "requests": [{"id": "q", "request": {"query": query}, "ratings": RATINGS, **more}],
        "metric": {"recall": {}},
    }


def test_numbers_are_cut_as_the_engines_do_it(moved, capsys):
    body = one_request(
        {"match": {"title": "tent"}}, ratings=[{"_index": "i", "_id": "a", "rating": 3.7}, {"_id": "b", "rating": "2"}]
    )
    suite = moved({**body, "metric": {"precision": {"k": "5", "relevant_rating_threshold": 2.5}}})
    assert suite.queries[0].judgments == {"a": 3, "b": 2}
    assert [measure.text for measure in suite.measures] == ["P(rel=2)@5"]
    assert "which _rank_eval cuts off (document 'a' of query 'tent': 3.7)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ({"dcg": {}}, True),
        ({"dcg": {"normalize": True}}, True),
        ({"expected_reciprocal_rank": {"maximum_relevance": 3}}, True),
        ({"precision": {}}, False),
        ({"recall": {}}, False),
        ({"mean_reciprocal_rank": {}}, False),
    ],
)
def test_ratings_below_0_are_listed_where_they_have_a_gain(moved, capsys, metric, said):
    ratings = [{"_index": "i", "_id": f"d{grade}", "rating": grade} for grade in (1, -1, 0, -2)]
    suite = moved({**one_request({"match": {"title": "tent"}}, ratings=ratings), "metric": metric})
    assert suite.queries[0].judgments == {"d1": 1, "d-1": -1, "d0": 0, "d-2": -2}
    what = "the gain of grades below 0; in a suite it is 0"
    first = "(2 times, first document 'd-1' of query 'tent': -1)"
    assert (f"eval.json:1:157: {what} {first}\n1 thing\n" in capsys.readouterr().err) == said


def test_a_rating_below_0_for_unjudged_documents_is_listed(moved, capsys):
    body = one_request({"match": {"title": "tent"}}, ratings=[{"_index": "i", "_id": "a", "rating": 1}])
    suite = moved({**body, "metric": {"dcg": {"k": 5, "unknown_doc_rating": -1}}})
    assert [measure.text for measure in suite.measures] == ["DCG@5"]
    assert "'unknown_doc_rating' -1; a measure's 'unjudged' is at least 0" in capsys.readouterr().err


def test_queries_requests_and_the_metric_are_carried_over(moved, capsys):
    suite = moved(BODY)
    assert (suite.target.index, suite.depth) == ("shop", 20)
    assert suite.display == Display(title="title", fields=("brand",))
    assert [measure.text for measure in suite.measures] == ["nDCG@20"]
    assert suite.profile == "rank_eval"
    assert [query.text for query in suite.queries] == ["tent", "{{rope}} 1e3 ${HOME}"]
    assert suite.queries[0].judgments == {"007": 3, "sku-2": 0}
    assert [one.body["query"] for one in build_requests(suite, None)] == [
        {"match": {"title": "tent"}},
        {"match": {"title": "{{rope}} 1e3 ${HOME}"}},
    ]


def test_what_is_not_carried_over_is_listed_with_its_place(moved, capsys):
    moved(BODY)
    assert capsys.readouterr().err == (
        "not carried over:\n"
        "  eval.json:3:5: 'size', which _rank_eval replaces by k = 20\n"
        "  eval.json:9:30: 'max_concurrent_searches'\n"
        "2 things\n"
    )


def test_strict_ends_with_1_where_something_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.json").write_text(BODY)
    words = ["import", "rank_eval", "eval.json", "--strict", "--output"]
    assert main([*words, "shop.relevance.yaml"]) == 1
    (tmp_path / "eval.json").write_text(json.dumps(one_request({"match": {"title": "tent"}})))
    assert main([*words, "other.relevance.yaml"]) == 0


@pytest.mark.parametrize("words", [[], ["--strict"]])
def test_a_suite_that_validate_refuses_is_written_with_its_problems(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    metric = {"expected_reciprocal_rank": {"maximum_relevance": 1, "k": 3}}
    body = {**one_request({"match": {"title": "tent"}}), "metric": metric}
    body["requests"][0]["ratings"] = [{"_index": "shop", "_id": "a", "rating": 2}]
    (tmp_path / "eval.json").write_text(json.dumps(body))
    assert main(["import", "rank_eval", "eval.json", "--output", "shop.relevance.yaml", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "wrote shop.relevance.yaml\nwrote relevance.schema.json\n"
    assert err.startswith("relevance validate refuses what was written; the files stay, to be corrected by hand:\n")
    assert main(["validate", "shop.relevance.yaml"]) == 2
    refused = capsys.readouterr().err
    assert "shop.relevance.yaml:10:1: ERR(max=1)@3 cannot score query" in refused
    assert err.endswith(refused)


def test_nothing_is_replaced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.json").write_text(BODY)
    (tmp_path / "shop.relevance.yaml").write_text("mine")
    assert main(["import", "rank_eval", "eval.json", "--output", "shop.relevance.yaml"]) == 2
    assert (tmp_path / "shop.relevance.yaml").read_text() == "mine"
    assert "shop.relevance.yaml: this is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"requests": [', "eval.json:1:15: this is not JSON"),
        ("[]", "eval.json:1:1: found a list, expected an object"),
        ('{"metric": {"recall": {}}}', "eval.json:1:1: found an object without 'requests'"),
        ('{"requests": [], "metric": {"map": {}}}', "eval.json:1:28: found an object, expected an object with one of"),
        ('{"a": 1,\n "a": 2}', "eval.json:2:2: the object has the key 'a' twice"),
        ('{"a": "\\ud800"}', "eval.json:1:7: this text has half of a character"),
        ('{"a": NaN}', "this is not JSON"),
        ('{"a": 1e999}', "eval.json:1:7: found 1e999, expected a number that a 64-bit float can hold"),
        ('{"a": ' + "[" * 900 + "]" * 900 + "}", "eval.json:1:106: the JSON is nested too deeply"),
        (
            '{"requests": [], "metric": {"dcg": {"k": 3000000000}}}',
            "eval.json:1:42: found 3000000000, expected a number of at most 2147483647",
        ),
        (
            '{"requests": [], "metric": {"recall": {"relevant_rating_threshold": -1}}}',
            "eval.json:1:69: found -1, expected a number of at least 0, which the engines require",
        ),
        (
            '{"requests": [{"id": "q", "request": {"query": {}}, "ratings": [{"_id": "d", "rating": "good"}]}],'
            ' "metric": {"recall": {}}}',
            'eval.json:1:88: found "good", expected a finite number',
        ),
        (
            '{"requests": [{"id": "q", "request": {"query": {}},\n"ratings": [{"_id": "d", "rating": 1},'
            '{"_id": "d", "rating": 2}]}], "metric": {"recall": {}}}',
            "eval.json:2:47: document 'd' has grade 2 for query 'q' here, and 1 at eval.json:2:21; keep the right one",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(tmp_path, monkeypatch, capsys, text, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.json").write_text(text)
    assert main(["import", "rank_eval", "eval.json", "--output", "shop.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "shop.relevance.yaml").exists()


def test_the_only_request_gets_its_text_as_a_placeholder(moved):
    suite = moved(one_request({"multi_match": {"query": "red tent", "fields": ["title"]}}), "--index", "shop")
    assert suite.queries[0].text == "red tent"
    assert suite.requests["request"].body == {"query": {"multi_match": {"query": "{{text}}", "fields": ["title"]}}}


def test_requests_that_have_nothing_in_common_are_params(moved):
    bodies = [{"match_all": {}}, {"bool": {"filter": [{"term": {"a": 1}}]}}]
    requests = [{"id": f"q{n}", "request": {"query": body}, "ratings": RATINGS} for n, body in enumerate(bodies)]
    suite = moved({"requests": requests, "metric": {"recall": {"k": 3}}}, "--index", "shop")
    assert [one.body["query"] for one in build_requests(suite, None)] == bodies


@pytest.mark.parametrize(("grade", "status"), [(2, 2), (3, 0)])
def test_one_id_with_two_grades_in_two_indexes_needs_a_body_for_each(tmp_path, monkeypatch, capsys, grade, status):
    monkeypatch.chdir(tmp_path)
    ratings = [{"_index": "shop", "_id": "a", "rating": 3}, {"_index": "news", "_id": "a", "rating": grade}]
    body = one_request({"match": {"title": "tent"}}, ratings=ratings)
    (tmp_path / "eval.json").write_text(json.dumps(body))
    assert main(["import", "rank_eval", "eval.json", "--output", "a.relevance.yaml"]) == status
    said = capsys.readouterr().err
    if status:
        assert "document 'a' of query 'q' is rated in the index 'news' here, and in 'shop' at eval.json:1:" in said
        assert "; a suite's judgments name documents by '_id' alone: import a body for each index" in said
        assert "keep the right one" not in said
    else:
        assert "the '_index' of ratings, shop, news: a suite's judgments name documents by '_id' alone" in said


def test_without_an_index_validate_names_the_place(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.json").write_text(json.dumps(one_request({"match": {"title": "tent"}})))
    assert main(["import", "rank_eval", "eval.json", "--output", "shop.relevance.yaml"]) == 0
    assert main(["validate", "shop.relevance.yaml"]) == 2
    assert "shop.relevance.yaml:4:9: found nothing, expected text" in capsys.readouterr().err


def test_the_line_of_a_console_names_the_index(moved, capsys):
    suite = moved("POST /shop-alias/_rank_eval?search_type=dfs_query_then_fetch&pretty=true\n" + BODY)
    assert suite.target.index == "shop-alias"
    assert suite.requests["request"].url_params == {"search_type": "dfs_query_then_fetch"}
    assert bodies(suite)[0] == {"query": {"match": {"title": "tent"}}}
    said = capsys.readouterr().err
    assert "eval.json:4:5: 'size'" in said
    assert "eval.json:1:1: the parameter 'pretty' of the address" in said


def test_ids_that_are_changed_are_listed_once(moved, capsys):
    ids = ["q", "q", "q", " "]
    requests = [{"id": one, "request": {"query": {"match": {"t": "x"}}}, "ratings": RATINGS} for one in ids]
    suite = moved({"requests": requests, "metric": {"recall": {}}}, "--index", "shop")
    assert [query.id for query in suite.queries] == ["q", "q-2", "q-3", "query"]
    what = "ids of queries that are repeated, empty, not printable, or have blanks around them"
    what += " (3 times, first 'q', which is 'q-2' in the suite)"
    assert f"{what}\n1 thing\n" in capsys.readouterr().err


def test_a_stored_template_stays_one(moved, capsys):
    template = {"id": "t", "template": {"id": "stored"}}
    request = {"id": "q", "template_id": "t", "params": {"q": "tent"}, "ratings": RATINGS}
    suite = moved({"templates": [template], "requests": [request], "metric": {"recall": {"k": 20}}}, "--index", "shop")
    assert suite.requests["request"].body == {"template": {"id": "stored", "params": {"q": "{{text}}"}}}
    assert "k = 20 as the number of hits" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [("[1]", "body.json:1:1: found a list, expected an object"), ('{"a": }', "body.json:1:7: this is not JSON")],
)
def test_a_wrong_file_of_a_request_is_an_error_with_its_place(tmp_path, monkeypatch, capsys, text, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.json").write_text(BODY)
    (tmp_path / "body.json").write_text(text)
    words = ["import", "rank_eval", "eval.json", "--request-file", "body.json", "--output", "a.relevance.yaml"]
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_requests_with_different_keys_are_several_suites(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plain = {"query": {"match": {"title": "tent"}}}
    requests = [{"id": "a", "request": plain, "ratings": []}, {"id": "b", "request": {**plain, "sort": []}}]
    (tmp_path / "eval.json").write_text(json.dumps({"requests": requests, "metric": {"recall": {}}}))
    assert main(["import", "rank_eval", "eval.json", "--index", "shop", "--output", "out"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.yaml")) == [
        "eval-2.relevance.yaml",
        "eval.relevance.yaml",
    ]
    assert "the mean over all requests" in capsys.readouterr().err


@pytest.mark.parametrize("words", [(), ("--name", "../../shop")])
def test_no_name_of_a_source_leads_out_of_the_folder(tmp_path, monkeypatch, words):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "..x.json").write_text(json.dumps(one_request({"match": {"title": "tent"}})))
    (folder / "y.json").write_text(json.dumps(one_request({"match": {"title": "rope"}})))
    assert main(["import", "rank_eval", "..x.json", "y.json", "--output", "out", "--index", "shop", *words]) == 0
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.relevance.yaml"))
    assert len(written) == 2
    assert all(path.startswith("a/b/out/") for path in written)


def test_two_suites_of_one_name_are_not_written_over_each_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eval.json").write_text(json.dumps(one_request({"match": {"title": "tent"}})))
    for folder in ("one", "two"):
        assert main(["import", "rank_eval", "eval.json", "--index", "i", "--output", f"{folder}/a.relevance.yaml"]) == 0
    assert main(["export", "trec", "one", "two", "--output", "back"]) == 2
    assert "two of the suites would be written there" in capsys.readouterr().err
    assert not (tmp_path / "back").exists()


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(str.strip)
LEAVES = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 1e-7, "1e3", "no", "{{x}}", "$$"]) | TEXTS
)
QUERIES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    queries=st.lists(st.tuples(QUERIES, st.dictionaries(TEXTS, st.integers(0, 3), max_size=3)), min_size=1, max_size=4),
    metric=st.sampled_from(
        [
            {"precision": {"k": 3, "relevant_rating_threshold": 2, "ignore_unlabeled": True}},
            {"dcg": {"k": 20, "normalize": True, "unknown_doc_rating": 1}},
            {"expected_reciprocal_rank": {"k": 4, "maximum_relevance": 3}},
        ]
    ),
)
def test_an_import_sends_the_same_requests(tmp_path_factory, queries, metric):
    folder = tmp_path_factory.mktemp("trip")
    requests = [
        {
            "id": f"q{number}",
            "request": {"query": {"wrapper": query}},
            "ratings": [{"_index": "shop", "_id": name, "rating": grade} for name, grade in grades.items()],
        }
        for number, (query, grades) in enumerate(queries)
    ]
    (folder / "eval.json").write_text(json.dumps({"requests": requests, "metric": metric}))
    suite = str(folder / "shop.relevance.yaml")
    assert main(["import", "rank_eval", str(folder / "eval.json"), "--index", "shop", "--output", suite]) == 0
    loaded = load_suite(folder / "shop.relevance.yaml", {}, needs_judgments=False)
    for request, query, sent in zip(requests, loaded.queries, build_requests(loaded, None), strict=True):
        assert sent.body["query"] == request["request"]["query"]
        assert query.judgments == {rating["_id"]: rating["rating"] for rating in request["ratings"]}
    [measure] = loaded.measures
    [(name, given)] = find_metric(measure, loaded).items()
    assert {key: given[key] for key in metric[name]} == metric[name]
