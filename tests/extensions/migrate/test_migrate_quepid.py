"""Quepid's exports become suites; ratings and cases come back as Quepid imports them."""

import csv
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from extensions.migrate.builders.moving import bodies, judgments, moved, write_files
from harness.cli import main
from harness.files.query_ids import make_query_id
from harness.metrics.run_scores import gain_text, score_run
from harness.model.run import Engine, Hit, Ranking, Run
from harness.suites import load_suite

REQUEST = ("--index", "shop", "--request-file", "body.json")
BODY = {"query": {"match": {"title": "{{text}}"}}}

RATINGS = {"red shoes": {"sku-1": 3, "sku-2": 0}, '=tent, "two"': {"007": 1}, "rope": {}}

BASIC = 'query,docid,rating\nred shoes,sku-1,3\nred shoes,sku-2,0\n" =tent, ""two""",007,1\nrope,,'

DETAILED = (
    "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,brand\r\n"
    "Search,Shop,6,red shoes,sku-1,1,Runner,3,Acme\r\n"
    "Search,Shop,6,red shoes,sku-2,2,Walker,0,Acme\r\n"
    "Search,Shop,6,red shoes,sku-3,3,Sock,,Acme\r\n"
    'Search,Shop,6, "=tent, ""two""",007,1,Tent,1,\r\n'.replace(', "=', ',"=')
    + "Search,Shop,6,rope\r\n"
)

LTR = '\n\n3 qid:1 # sku-1 red shoes\n\n\n0 qid:1 # sku-2 red shoes\n\n1\tqid:2\t# 007\t=tent, "two"\n'

CASE = {
    "case_name": "Shop",
    "owned": True,
    "owner_email": "kim@example.org",
    "public": False,
    "options": {},
    "scorer": {"name": "NDCG_CUT@10"},
    "queries": [
        {
            "query_text": "red shoes",
            "options": {"brand": "Acme", "unused": 1},
            "notes": "top seller",
            "information_need": "Shoes to run in",
            "arranged_at": 1,
            "ratings": [
                {"doc_id": "sku-1", "rating": 3.0, "user_email": "kim@example.org"},
                {"doc_id": "sku-2", "rating": 0},
                {"doc_id": "sku-3", "rating": None},
            ],
        },
        {"query_text": '=tent, "two"', "options": {"brand": "Bolt"}, "ratings": [{"doc_id": "007", "rating": 1}]},
        {"query_text": "rope", "options": {"brand": "x"}, "ratings": []},
    ],
    "try": {
        "escape_query": True,
        "field_spec": "id:_id, title:name, thumb:image",
        "name": "Try 7",
        "number_of_rows": 20,
        "query_params": (
            '{"query": {"bool": {"must": {"match": {"name": {"query": "#$query##", "boost": ##boost##}}},'
            ' "filter": {"term": {"brand": "#$qOption.brand##"}}}}, "size": 5}'
        ),
        "curator_variables": [{"name": "boost", "value": 2.5}],
        "search_endpoint": {
            "name": "es http://localhost:9200/shop/_search",
            "endpoint_url": "http://kim:hunter2secret@localhost:9200/shop/_search",
            "search_engine": "es",
            "api_method": "POST",
            "basic_auth_credential": "kim:hunter2secret",
        },
    },
}

SNAPSHOT = {
    "id": 5,
    "name": "Before synonyms",
    "time": "2026-01-02T03:04:05Z",
    "scorer": {"name": "P@10", "scorer_id": 3, "communal": True, "code": "setScore(1)", "scale": [0, 1, 2, 3]},
    "try": {
        "query_params": '{"query": {"match": {"name": "#$query##"}}}',
        "search_engine": "os",
        "search_url": "https://search.example.org/api/shop/_search",
        "curator_vars": {},
        "field_spec": "id:_id",
        "number_of_rows": 10,
    },
    "docs": {"11": [{"id": "sku-1", "rated_only": False, "fields": {}}], "12": []},
    "queries": [
        {"query_id": 11, "query_text": "red shoes", "ratings": {"sku-1": 3, "sku-2": 0}},
        {"query_id": 12, "query_text": '=tent, "two"', "ratings": {"007": 1}},
        {"query_id": 13, "query_text": "rope", "ratings": {}},
    ],
    "scores": [{"query_id": 11, "score": 0.5}],
}

BOOK = {
    "name": "Shop book",
    "scale_with_labels": {"0": "Poor", "1": "Fair", "3": "Perfect"},
    "query_doc_pairs": [
        {"query_text": "red shoes", "doc_id": "sku-1", "judgements": [{"rating": 3.0}, {"rating": 3.0}]},
        {"query_text": "red shoes", "doc_id": "sku-2", "judgements": [{"rating": 0.0, "explanation": "socks"}]},
        {"query_text": "red shoes", "doc_id": "sku-3", "judgements": [{"rating": 0.0}, {"rating": 3.0}]},
        {"query_text": '=tent, "two"', "doc_id": "007", "judgements": [{"rating": 1.0}, {"unrateable": True}]},
        {"query_text": "rope", "doc_id": "sku-9", "judgements": []},
    ],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files({"body.json": BODY})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("basic.csv", BASIC),
        ("basic.csv", "\ufeff" + BASIC.replace("docid", "doc_id") + "\r\n"),
        ("detailed.csv", DETAILED),
        ("ltr.txt", LTR + "\n0 qid:3 # none rope\n"),
        ("ratings.json", {"queries": [{"query": text, "ratings": rated} for text, rated in RATINGS.items()]}),
        ("case.json", CASE),
        ("snapshot.json", SNAPSHOT),
        ("book.json", BOOK),
        (
            "book.csv",
            "query,docid,Kim,Sam\nred shoes,sku-1,3,3\nred shoes,sku-2,,0\nred shoes,sku-3,0,3\n"
            '" =tent, ""two""",007,1,\nrope,sku-9,,\n',
        ),
    ],
)
def test_each_export_gives_the_same_queries_and_ratings(name, content):
    write_files({name: content})
    suite = moved("quepid", [name], *REQUEST)
    expected = {**RATINGS, "rope": {"none": 0}} if name == "ltr.txt" else RATINGS
    assert judgments(suite) == expected
    assert suite.profile == "quepid"
    assert [query.id for query in suite.queries] == ["red-shoes", make_query_id('=tent, "two"'), "rope"]
    assert main(["validate", "moved.relevance.yaml", "-q"]) == 0


def test_a_case_gives_a_suite_that_runs(capsys):
    write_files({"case.json": CASE})
    suite = moved("quepid", ["case.json"])
    assert (suite.name, suite.target.cluster, suite.target.index) == ("Shop", "http://localhost:9200", "shop")
    assert ([measure.text for measure in suite.measures], suite.depth) == (["nDCG(ideal=cut)@10"], 20)
    assert (suite.display.title, suite.display.image) == ("name", "image")
    assert suite.queries[0].need == "Shoes to run in"
    assert bodies(suite)[0] == {
        "query": {
            "bool": {
                "must": {"match": {"name": {"query": "red shoes", "boost": 2.5}}},
                "filter": {"term": {"brand": "Acme"}},
            }
        }
    }


def test_the_cg_of_a_case_is_of_grades():
    write_files({"case.json": {**CASE, "scorer": {"name": "CG@5"}}})
    suite = moved("quepid", ["case.json"])
    [cg] = suite.measures
    ranking = Ranking((Hit("sku-1"), Hit("sku-2")), total=2)
    assert score_run(suite, Run({"red-shoes": ranking}, Engine("fake")))[0].value == 3
    assert gain_text(cg, suite) == "linear"


def test_what_a_case_has_beside_is_listed_and_no_secret_is(capsys):
    write_files({"case.json": json.dumps(CASE, indent=1)})
    moved("quepid", ["case.json"], "--strict", status=1)
    said = capsys.readouterr().err
    assert "hunter2" not in said + Path("moved.relevance.yaml").read_text()
    listed = [line.split(": ", 1)[1] for line in said.splitlines()[1:-1]]
    assert sorted(listed) == sorted(
        [
            "'size' in 'query_params'; a suite's depth is the number of hits",
            "'escape_query', a backslash before characters such as those of '=tent, \"two\"'",
            "documents without a rating; they stay unjudged (document 'sku-3' of query 'red shoes')",
            "the login in the URL; relevance.toml names the variables that hold one",
            "'unused' of queries, which no request uses",
            *(f"'{key}'" for key in ("owned", "owner_email", "public", "queries[].arranged_at")),
            "'queries[].ratings[].user_email'",
            *(f"'try.{key}'" for key in ("name", "search_endpoint.name", "search_endpoint.api_method")),
            "'try.search_endpoint.basic_auth_credential'",
        ]
    )


def test_features_and_the_parameters_of_an_address_are_listed(capsys):
    write_files({"ltr.txt": "3 qid:1 1:0.5 2:7 # sku-1 red shoes\n0 qid:1 # sku-2 red shoes\n"})
    assert judgments(moved("quepid", ["ltr.txt"], *REQUEST)) == {"red shoes": {"sku-1": 3, "sku-2": 0}}
    assert "ltr.txt:1:1: features; a suite has grades alone\n" in capsys.readouterr().err
    address = "https://search.example.org/shop/_search?routing=7"
    write_files({"case.json": {**CASE, "try": {**CASE["try"], "search_url": address}}})
    moved("quepid", ["case.json"], output="case.relevance.yaml")
    assert "the parameters of the address of the search endpoint" in capsys.readouterr().err


def test_each_qid_of_ltr_is_a_query_and_is_listed_where_it_shares_its_text(capsys):
    write_files({"ltr.txt": "# from the log\n3 qid:1 # a tent\n0 qid:2 # a tent\n1 qid:2 # b tent\n"})
    suite = moved("quepid", ["ltr.txt"], *REQUEST)
    assert [(query.text, dict(query.judgments)) for query in suite.queries] == [
        ("tent", {"a": 3}), ("tent", {"a": 0, "b": 1}),
    ]  # fmt: skip
    said = capsys.readouterr().err
    assert "ltr.txt:3:1: a text with several qid; each is a query of its own (qid:2, 'tent')\n" in said
    assert "ltr.txt:1:1: lines that are comments\n" in said


HEADER = "# grade (0-4)\tqueryid\tdocId\ttitle\n#\n# qid:1: rambo\n# qid:2: rocky\n#\n"
TITLED = """\
4\tqid:1 #\t7555\tRambo
3\tqid:1 #\t1370\tRambo III
0\tqid:1 #\t1368\tFirst Blood
4\tqid:2 #\t1366\tRocky
0\tqid:2 #\t7555\tRambo
"""
FILMS = {"rambo": {"7555": 4, "1370": 3, "1368": 0}, "rocky": {"1366": 4, "7555": 0}}


@pytest.mark.parametrize(
    "content",
    [
        HEADER + TITLED,
        HEADER.replace(": ", ":\t").replace("# ", "#") + TITLED,
        f"{TITLED}{HEADER}",
        HEADER + TITLED.replace(" #", " 1:0.5 2:7 #"),
        HEADER.replace("rambo", "rambo*1").replace("rocky", "rocky*1") + TITLED,
        "".join(f"  {line}\n" for line in (HEADER + TITLED).splitlines()),
        HEADER + "".join(line.rpartition("\t")[0] + "\n" for line in TITLED.splitlines()),
    ],
    ids=["plain", "tabs", "behind", "features", "weights", "indented", "untitled"],
)
def test_a_header_of_ranklib_has_the_texts_and_each_qid_is_one_query(content):
    """The judgment lists of the Elasticsearch Learning to Rank plugin, with titles of documents behind their ids."""
    write_files({"judgments.txt": content})
    assert judgments(moved("quepid", ["judgments.txt"], *REQUEST)) == FILMS


def test_titles_behind_documents_are_listed(capsys):
    write_files({"judgments.txt": HEADER + TITLED})
    moved("quepid", ["judgments.txt"], *REQUEST)
    assert "judgments.txt:6:1: what stands behind the docid (5 times, first 'Rambo')\n" in capsys.readouterr().err


def test_the_text_before_a_title_is_that_of_the_query():
    lines = [line.split("\t") for line in TITLED.splitlines()]
    texts = {"qid:1 #": "rambo", "qid:2 #": "rocky"}
    content = "".join(f"{grade}\t{qid}\t{name}\t{texts[qid]}@{title}\n" for grade, qid, name, title in lines)
    write_files({"judgments.txt": content, "mail.txt": "1 qid:1 # a ann@shop.example\n1 qid:2 # a tent@night\n"})
    assert judgments(moved("quepid", ["judgments.txt"], *REQUEST)) == FILMS
    suite = moved("quepid", ["mail.txt"], *REQUEST, output="mail.relevance.yaml")
    assert judgments(suite) == {"ann@shop.example": {"a": 1}, "tent@night": {"a": 1}}


def test_a_qid_with_titles_and_no_header_is_one_query_without_a_text(capsys):
    write_files({"judgments.txt": TITLED})
    assert main(["import", "quepid", "judgments.txt", *REQUEST, "--output", "moved.relevance.yaml"]) == 0
    text = Path("moved.relevance.yaml").read_text()
    assert '- {id: "1", judgments: {"7555": 4, "1370": 3, "1368": 0}}' in text
    assert '- {id: "2", judgments: {"1366": 4, "7555": 0}}' in text
    said = "judgments.txt:1:1: what stands behind the docid, which differs in the lines of a qid; a header"
    assert said in capsys.readouterr().err


def test_weights_in_a_header_are_those_of_the_queries():
    content = HEADER.replace("rambo", "rambo*3").replace("rocky", "rocky ii*1.5") + TITLED
    write_files({"judgments.txt": content})
    suite = moved("quepid", ["judgments.txt"], *REQUEST)
    assert [(query.text, query.weight) for query in suite.queries] == [("rambo", 3), ("rocky ii", 1.5)]


def test_a_query_of_the_header_without_ratings_is_kept():
    write_files({"judgments.txt": f"{HEADER}# qid:3: tent*2\n{TITLED}"})
    assert judgments(moved("quepid", ["judgments.txt"], *REQUEST)) == {**FILMS, "tent*2": {}}


def test_two_texts_of_a_qid_in_the_header_are_an_error(capsys):
    write_files({"judgments.txt": f"{HEADER}# qid:2: tent\n{TITLED}"})
    assert main(["import", "quepid", "judgments.txt", "--output", "a.relevance.yaml"]) == 2
    said = "judgments.txt:6:1: qid:2 has the text 'tent' here, and 'rocky' in line 4; keep the right one"
    assert said in capsys.readouterr().err


def test_letor_names_documents_and_has_no_texts(capsys):
    write_files({"letor.txt": "2 qid:10 1:0.03 2:0.5 #docid = GX008-86 inc = 1 prob = 0.08\n0 qid:10 1:0 # GX1\n"})
    assert main(["import", "quepid", "letor.txt", *REQUEST, "--output", "moved.relevance.yaml"]) == 0
    assert '- {id: "10", judgments: {GX008-86: 2, GX1: 0}}' in Path("moved.relevance.yaml").read_text()
    assert "letor.txt:1:1: what stands behind the docid ('inc = 1 prob = 0.08')\n" in capsys.readouterr().err


def test_a_snapshot_gives_the_request_and_lists_its_rankings(capsys):
    write_files({"snapshot.json": SNAPSHOT})
    suite = moved("quepid", ["snapshot.json"])
    assert (suite.target.cluster, suite.target.index) == ("https://search.example.org/api", "shop")
    assert [measure.text for measure in suite.measures] == ["P@10"]
    assert bodies(suite)[2] == {"query": {"match": {"name": "rope"}}}
    said = capsys.readouterr().err
    assert "'docs'" in said
    assert "'scores'" in said


def test_names_of_grades_come_from_a_book(capsys):
    write_files({"book.json": BOOK})
    suite = moved("quepid", ["book.json"], *REQUEST)
    assert suite.grades == {"Poor": 0, "Fair": 1, "Perfect": 3}
    said = capsys.readouterr().err
    assert "documents on which judges differ; they stay unjudged (document 'sku-3' of query 'red shoes': 0, 3)" in said


def test_the_first_of_many_documents_without_a_rating_is_named(capsys):
    write_files({"a.csv": "query,docid,rating\nred shoes,sku-1,\nred shoes,sku-2,3\nrope,sku-1,\n"})
    moved("quepid", ["a.csv"], *REQUEST)
    what = "documents without a rating; they stay unjudged"
    assert f"a.csv:2:1: {what} (2 times, first document 'sku-1' of query 'red shoes')" in capsys.readouterr().err


def test_queries_of_a_case_with_the_same_text_stay_apart():
    again = {"query_text": "red shoes", "options": {"brand": "Bolt"}, "ratings": [{"doc_id": "sku-1", "rating": 1}]}
    write_files({"case.json": {**CASE, "queries": [*CASE["queries"], again]}})
    suite = moved("quepid", ["case.json"])
    found = {query.id: (query.params["brand"], query.judgments.get("sku-1")) for query in suite.queries}
    assert found["red-shoes"] == ("Acme", 3)
    assert found["red-shoes-2"] == ("Bolt", 1)


def test_the_field_with_ids_is_the_one_of_the_case():
    write_files({"case.json": {**CASE, "try": {**CASE["try"], "field_spec": "id:sku, title:name"}}})
    assert moved("quepid", ["case.json"]).target.id_field == "sku"


def test_information_needs_join_the_ratings_of_the_same_query():
    write_files({"basic.csv": BASIC, "needs.csv": "query,information_need\nrope,To climb\ntorch,Light\n"})
    suite = moved("quepid", ["basic.csv", "needs.csv"], *REQUEST)
    assert judgments(suite) == {**RATINGS, "torch": {}}
    assert {query.id: query.need for query in suite.queries if query.need} == {"rope": "To climb", "torch": "Light"}


def test_without_a_request_validate_names_the_places(capsys):
    write_files({"basic.csv": BASIC})
    assert main(["import", "quepid", "basic.csv", "--output", "moved.relevance.yaml"]) == 0
    assert main(["validate", "moved.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert "moved.relevance.yaml:4:9: found nothing, expected text" in said
    assert "moved.relevance.yaml:7:9: found nothing, expected a mapping" in said


def test_the_rank_of_a_document_is_no_rating(capsys):
    write_files({"a.csv": "Query Text,Doc ID,Doc Position,Title\nred shoes,sku-1,1,Runner\n"})
    assert judgments(moved("quepid", ["a.csv"], *REQUEST)) == {"red shoes": {}}
    said = capsys.readouterr().err
    assert "the column 'Doc Position'" in said
    assert "documents without a rating" in said


def test_a_book_s_columns_of_text_are_no_judges(capsys):
    write_files({"a.csv": "query,docid,name,Kim\nred shoes,sku-1,Runner,3\n"})
    assert judgments(moved("quepid", ["a.csv"], *REQUEST)) == {"red shoes": {"sku-1": 3}}
    assert "the column 'name'" in capsys.readouterr().err


def test_few_rows_beside_a_scorer_of_their_own_are_listed(capsys):
    own = {**CASE, "scorer": {"name": "ours"}, "try": {**CASE["try"], "number_of_rows": 5}}
    write_files({"case.json": own})
    moved("quepid", ["case.json"])
    said = capsys.readouterr().err
    assert "the scorer 'ours', which is not one of Quepid's own; nDCG@10 is measured" in said
    assert "'number_of_rows' 5, fewer hits than nDCG@10 looks at" in said


def test_a_request_of_solr_is_listed_and_left_to_fill_in(capsys):
    solr = {**CASE, "try": {"query_params": "q=#$query##", "search_endpoint": {"search_engine": "solr"}}}
    write_files({"case.json": solr})
    assert main(["import", "quepid", "case.json", "--output", "moved.relevance.yaml"]) == 0
    assert "the request, which is for solr" in capsys.readouterr().err
    assert "request:   # TODO" in Path("moved.relevance.yaml").read_text()


def listed(capsys):
    """What was not carried over, without places."""
    return [line.split(": ", 1)[1] for line in capsys.readouterr().err.splitlines()[1:-1]]


@pytest.mark.parametrize(
    ("labels", "grades", "said"),
    [
        ({"0": "Poor", "1": "Poor", "2": "Good"}, {"Poor": 0, "Good": 2}, "given twice ('Poor' of grade 1)"),
        ({"1": "Fair", "01": "Middling"}, {"Fair": 1}, "given twice ('Middling' of grade 1)"),
        ({"-1": "Bad", "0.5": "Half", "1": "", "2": None}, {"Bad": -1, "Half": 0.5}, ""),
        ({"low": "Poor", "1": "Good"}, {"Good": 1}, "labels that cannot name a grade ('Poor' of 'low')"),
        ({"0": "0", "1": "3", "2": " yes\n"}, {"yes": 2}, "labels that cannot name a grade ('3' of '1')"),
        ('{"0": "Poor", "1": "Good"}', {"Poor": 0, "Good": 1}, ""),
        (["Poor", "Good"], {}, "'scale_with_labels'"),
        ({"0": ["Poor"]}, {}, "'scale_with_labels.0'"),
    ],
    ids=["a name twice", "a grade twice", "no name", "no grade", "numbers", "as a text", "a list", "lists"],
)
@pytest.mark.parametrize("holder", ["book", "scorer"])
def test_labels_of_a_scale_are_names_of_grades_or_listed(capsys, holder, labels, grades, said):
    pairs = [{"query_text": "x", "doc_id": "d", "judgements": [{"rating": 1}]}]
    own = {
        "book": {"name": "b", "scale_with_labels": labels, "query_doc_pairs": pairs},
        "scorer": {**SNAPSHOT, "scorer": {"name": "P@10", "scale_with_labels": labels}},
    }
    write_files({"a.json": own[holder]})
    assert moved("quepid", ["a.json"], *REQUEST).grades == grades
    found = [line for line in listed(capsys) if "label" in line]
    assert len(found) == bool(said)
    assert not said or said.strip("'") in found[0]


def test_labels_of_two_files_that_are_the_same_are_not_listed(capsys):
    write_files(
        {
            "book.json": BOOK,
            "case.json": {**SNAPSHOT, "scorer": {**SNAPSHOT["scorer"], "scale_with_labels": BOOK["scale_with_labels"]}},
        }
    )
    assert moved("quepid", ["book.json", "case.json"], *REQUEST).grades == {"Poor": 0, "Fair": 1, "Perfect": 3}
    assert not [line for line in listed(capsys) if line.startswith("labels")]


def test_what_a_book_says_of_its_queries_is_written_once(capsys):
    pair = {"query_text": "x", "information_need": "To climb", "notes": "top", "judgements": [{"rating": 1}]}
    write_files({"a.json": {"name": "b", "query_doc_pairs": [{**pair, "doc_id": "d"}, {**pair, "doc_id": "e"}]}})
    [query] = moved("quepid", ["a.json"], *REQUEST).queries
    assert query.need == "To climb"
    assert Path("moved.relevance.yaml").read_text().count("# notes: top\n") == 1
    assert capsys.readouterr().err == ""


ADDRESS = "the address of the search endpoint, which"


@pytest.mark.parametrize(
    ("address", "cluster", "index", "said"),
    [
        ("https://h/proxy/es/shop/_search", "https://h/proxy/es", "shop", []),
        ("https://h/_search/x/_search/", "https://h/_search", "x", []),
        ("http://h:9200/a%2Cb/_search/template", "http://h:9200", "a,b", []),
        ("http://h:9200/_search", "http://h:9200", None, []),
        ("https://h/proxy/es/myindex", "https://h", None, ["the path '/proxy/es/myindex' of the search endpoint"]),
        ("https://h/api/v1/find", "https://h", None, ["the path '/api/v1/find' of the search endpoint"]),
        (
            "https://h/shop/_search/scroll",
            "https://h",
            None,
            ["the path '/shop/_search/scroll' of the search endpoint"],
        ),
        ("http://h", "http://h", None, []),
        ("http://[::1/shop/_search", None, None, [f"{ADDRESS} is no URL"]),
        ("", None, None, [f"{ADDRESS} has no scheme or no host"]),
    ],
)
def test_the_address_of_an_endpoint_is_carried_over_or_listed(capsys, address, cluster, index, said):
    endpoint = {"endpoint_url": address, "search_engine": "es"}
    attempt = {"query_params": '{"query": {"match": {"t": "#$query##"}}}', "search_endpoint": endpoint}
    query = {"query_text": "tent", "ratings": [{"doc_id": "d", "rating": 1}]}
    write_files({"a.json": {"case_name": "a", "queries": [query], "try": attempt}})
    assert main(["import", "quepid", "a.json", "--output", "a.relevance.yaml"]) == 0
    target = yaml.safe_load(Path("a.relevance.yaml").read_text())["target"]
    assert (target.get("cluster"), target["index"]) == (cluster, index)
    found = listed(capsys)
    assert len(found) == len(said)
    assert all(line.startswith(one) for line, one in zip(found, said, strict=True))


def test_a_search_template_stays_one(capsys):
    params = '{"id": "shop-search", "params": {"q": "#$query##"}}'
    write_files({"case.json": {**CASE, "try": {**CASE["try"], "query_params": params}}})
    suite = moved("quepid", ["case.json"])
    assert suite.requests["request"].body == {"template": {"id": "shop-search", "params": {"q": "{{text}}"}}}
    assert any("the number of hits, which a search template has" in line for line in listed(capsys))


def test_options_of_the_case_and_its_endpoint_are_those_of_each_query_that_has_none(capsys):
    params = '{"query": {"match": {"#$qOption.field##": "#$query## #$qOption.brand## #$qOption.shop##"}}}'
    endpoint = {**CASE["try"]["search_endpoint"], "options": {"field": "name", "unused": 1}}
    attempt = {**CASE["try"], "query_params": params, "search_endpoint": endpoint}
    own = {**CASE, "options": '{"field": "title", "shop": "eu", "old": 2}', "try": attempt}
    write_files({"case.json": own})
    suite = moved("quepid", ["case.json"])
    assert bodies(suite)[0] == {"query": {"match": {"name": "red shoes Acme eu"}}}
    assert bodies(suite)[1] == {"query": {"match": {"name": '=tent, "two" Bolt eu'}}}
    found = listed(capsys)
    assert {"'options.old'", "'options.field'", "'try.search_endpoint.options.unused'"} <= set(found)


def test_options_that_are_a_text_are_read_and_others_listed(capsys):
    queries = [{**CASE["queries"][0], "options": '{"brand": "Acme"}'}, {**CASE["queries"][2], "options": ["brand"]}]
    queries[1]["ratings"] = []
    params = '{"query": {"match": {"t": "#$query##"}}}'
    write_files({"case.json": {**CASE, "queries": queries, "try": {**CASE["try"], "query_params": params}}})
    moved("quepid", ["case.json"])
    found = listed(capsys)
    assert "'queries[].options'" in found
    assert "'brand' of queries, which no request uses" in found


@pytest.mark.parametrize(("scorer", "said"), [("NDCG@10", True), ("CG@10", True), ("P@10", False), ("RR@10", False)])
def test_grades_below_0_are_listed_where_they_have_a_gain(capsys, scorer, said):
    query = {"query_text": "rope", "ratings": [{"doc_id": "a", "rating": -1}, {"doc_id": "b", "rating": 1}]}
    write_files({"a.json": {"case_name": "a", "scorer": {"name": scorer}, "queries": [query]}})
    moved("quepid", ["a.json"], *REQUEST)
    what = "the gain of grades below 0; in a suite it is 0 (document 'a' of query 'rope': -1)"
    assert listed(capsys) == [what] * said


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ('{"query": 1, "query": 2}', "which is not JSON: the object has the key 'query' twice"),
        ('{"query": 1e999}', "which is not JSON: found 1e999, expected a number that a 64-bit float can hold"),
        ('{"a":' * 300 + "1" + "}" * 300, "which is not JSON: the JSON is nested too deeply"),
    ],
)
def test_a_request_that_is_no_json_is_listed(capsys, params, said):
    write_files({"case.json": {**CASE, "try": {**CASE["try"], "query_params": params}}})
    assert main(["import", "quepid", "case.json", "--output", "a.relevance.yaml"]) == 0
    assert f"the request in 'query_params', {said}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", '{"queries":' + "[" * 300 + "]" * 300 + "}", "a.json:1:111: the JSON is nested too deeply"),
        ("a.json", {**CASE, "try": {"number_of_rows": 1e300}}, "found 1e+300, expected a number of at most 2147483647"),
        ("a.csv", "query,docid,rating\nx,d,good\n", "a.csv:2:1: found 'good' as rating, expected a finite number"),
        (
            "a.csv",
            "query,docid,rating\nx,d,1\nx,d,2\n",
            "a.csv:3:1: document 'd' has grade 2 for query 'x' here, and 1",
        ),
        ("a.csv", "query,docid,rating\n,d,1\n", "a.csv:2:1: the query is empty"),
        ("a.csv", "query,docid,rating\nx,,1\n", "a.csv:2:1: the document is empty beside a rating"),
        ("a.csv", "query,docid,rating\nx,d,1,9\n", "a.csv:2:1: found 4 columns, expected 3"),
        ("a.csv", 'query,docid,rating\n"x,d,1\n', "a.csv:2:1: a quote in this row is not closed"),
        ("a.csv", "who,what\n1,2\n", "a.csv:1:1: found the columns who, what, expected one named query or Query Text"),
        ("a.csv", "", "a.csv: the file is empty"),
        ("a.csv", "query,docid,rating\nx,d\0,1\n", "a.csv:2:4: found a NUL byte"),
        ("a.txt", "nan qid:1 # d x\n", "a.txt:1:1: found 'nan', expected a rating, a finite number"),
        ("a.txt", "1 0 d 3\n", "a.txt:1:1: expected a line such as"),
        ("a.json", {"queries": [{"ratings": {}}]}, "found an object without 'query_text' or 'query'"),
        ("a.json", {"queries": [{"query": "x", "ratings": {"d": "?"}}]}, 'found "?", expected a finite number'),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(capsys, name, content, said):
    write_files({name: content})
    assert main(["import", "quepid", name, "--output", "moved.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err


def test_options_keep_their_types_and_a_name_of_ours_is_changed():
    options = {"n": 3, "brands": ["a", "b"], "text": "x"}
    params = '{"query": {"bool": {"must": [{"match": {"t": "#$query## #$qOption.text##"}}, '
    params += '{"terms": {"b": #$qOption.brands##}}, {"range": {"n": {"gte": #$qOption.n##}}}]}}}'
    endpoint = {"endpoint_url": "http://localhost:9200/shop/_search", "search_engine": "os"}
    attempt = {"query_params": params, "search_endpoint": endpoint}
    query = {"query_text": "tent", "options": options, "ratings": [{"doc_id": "d", "rating": 1}]}
    write_files({"case.json": {"case_name": "a", "queries": [query], "try": attempt}})
    first = moved("quepid", ["case.json"])
    clauses = [{"match": {"t": "tent x"}}, {"terms": {"b": ["a", "b"]}}, {"range": {"n": {"gte": 3}}}]
    assert bodies(first) == [{"query": {"bool": {"must": clauses}}}]


CELLS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufeff") | st.sampled_from("=+-@,;\"'\n"),
    min_size=1,
    max_size=9,
)
NAMES = CELLS.filter(lambda text: text == text.strip())


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.sampled_from([0, 1, 2.5, -1]), max_size=3), min_size=1))
def test_ratings_of_any_text_are_read_as_they_are(tmp_path_factory, ratings):
    folder = tmp_path_factory.mktemp("trip")
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [[text, name, grade] for text, rated in ratings.items() for name, grade in rated.items()]
        empty = [[text, "", ""] for text, rated in ratings.items() if not rated]
        csv.writer(file).writerows([["query", "docid", "rating"], *rows, *empty])
    first = moved("quepid", [str(folder / "a.csv")], *REQUEST, output=str(folder / "a.relevance.yaml"))
    assert judgments(first) == ratings


def import_ids(*texts):
    """The id of each query that is imported from a file with *texts*, in this order, by its text."""
    write_files({"body.json": BODY, "ids.csv": "query,docid,rating\n" + "".join(f"{text},1,3\n" for text in texts)})
    Path("moved.relevance.yaml").unlink(missing_ok=True)
    return {query.text: query.id for query in moved("quepid", ["ids.csv"], *REQUEST).queries}


def test_an_id_depends_on_the_text_of_its_query_alone():
    """In the export of the next month queries have another order, and more of them are alike."""
    begin = "which laws must be obeyed in models of heated "
    ids = import_ids(f"{begin}aircraft", f"{begin}engines", "red tent", "Tent", "tent?")
    assert ids == {
        f"{begin}aircraft": "which-laws-must-be-obeyed-in-models-of-h-95e060ec",
        f"{begin}engines": "which-laws-must-be-obeyed-in-models-of-h-8c91c40e",
        "red tent": "red-tent",
        "Tent": "Tent",
        "tent?": "tent-8423d8b8",
    }
    later = import_ids("red-tent", "tent", "tent?", "Tent", f"{begin}engines", "red tent", f"{begin}aircraft")
    assert later.items() > ids.items()


RATED = "query,docid,rating\ntent,p07,3\ntent,p08,1\nlamp,p21,3\nred tent,p01,2\n"
RATED_LATER = "query,docid,rating\nrope,p30,1\ntent,p07,2\ntent,p08,1\ntent,p09,3\nred tent,p01,2\n"
KEPT = """\
  file: shop.queries.jsonl
  inline:
    - {id: tent, tags: [head]}
"""


def import_ratings(*words):
    """The exit status of an import of `ratings.csv` that keeps the suite."""
    return main(["import", "quepid", "ratings.csv", *REQUEST, "--output", "shop.relevance.yaml", *words])


def test_the_next_export_replaces_queries_and_ratings_and_leaves_the_suite(capsys):
    write_files({"ratings.csv": RATED, "body.json": BODY})
    assert import_ratings("--separate") == 0
    said = capsys.readouterr().out
    assert said == "".join(
        f"wrote {name}\n"
        for name in ("shop.relevance.yaml", "shop.queries.jsonl", "shop.judgments.jsonl", "relevance.schema.json")
    )
    suite = Path("shop.relevance.yaml")
    text = suite.read_text().replace("queries: shop.queries.jsonl\n", f"queries:\n{KEPT}")
    suite.write_text(text)
    write_files({"ratings.csv": RATED_LATER})
    assert import_ratings("--separate") == 0
    assert capsys.readouterr().out == (
        "wrote shop.queries.jsonl\n"
        "wrote shop.judgments.jsonl\n"
        "shop.relevance.yaml: 1 grade changed, 2 new, 1 gone; 1 new query: rope; 1 query gone: lamp\n"
    )
    assert suite.read_text() == text
    loaded = load_suite(suite, {})
    assert judgments(loaded) == {"rope": {"p30": 1}, "tent": {"p07": 2, "p08": 1, "p09": 3}, "red tent": {"p01": 2}}
    assert [query.tags for query in loaded.queries] == [(), ("head",), ()]


def test_changes_are_told_to_scripts(capsys):
    write_files({"ratings.csv": RATED, "body.json": BODY})
    import_ratings("--separate")
    write_files({"ratings.csv": RATED_LATER})
    capsys.readouterr()
    assert import_ratings("--separate", "--json") == 0
    assert json.loads(capsys.readouterr().out)["facts"]["changes"] == [
        {
            "suite": "shop.relevance.yaml",
            "changed_grades": 1,
            "new_grades": 2,
            "gone_grades": 1,
            "new_queries": ["rope"],
            "gone_queries": ["lamp"],
        }
    ]


def test_a_query_that_left_the_export_and_has_tags_is_named_with_its_file(capsys):
    write_files({"ratings.csv": RATED, "body.json": BODY})
    import_ratings("--separate")
    suite = Path("shop.relevance.yaml")
    suite.write_text(suite.read_text().replace("queries: shop.queries.jsonl\n", f"queries:\n{KEPT}"))
    write_files({"ratings.csv": "query,docid,rating\nlamp,p21,3\n"})
    assert import_ratings("--separate") == 2
    assert "query 'tent' is not in shop.queries.jsonl, and has no text here" in capsys.readouterr().err


def test_a_suite_that_is_there_is_not_replaced_and_the_remedy_is_named(capsys):
    write_files({"ratings.csv": RATED, "body.json": BODY})
    assert import_ratings() == 0
    text = Path("shop.relevance.yaml").read_text()
    assert import_ratings() == 2
    assert capsys.readouterr().err == (
        "relevance: shop.relevance.yaml: this is there already, and nothing was written\n"
        "--separate replaces only queries and judgments that an import wrote\n"
    )
    assert import_ratings("--separate") == 2
    said = capsys.readouterr().err
    assert "shop.relevance.yaml: this is there already with queries or judgments of its own, and nothing" in said
    lines = "queries: shop.queries.jsonl\njudgments: shop.judgments.jsonl\n"
    assert [line.strip() for line in said.splitlines()[-2:]] == lines.splitlines()
    assert Path("shop.relevance.yaml").read_text() == text
    # With these lines the import goes on, though there are no such files yet.
    Path("shop.relevance.yaml").write_text(text.partition("queries:")[0] + lines)
    assert import_ratings("--separate") == 0
    assert judgments(load_suite(Path("shop.relevance.yaml"), {})) == {
        "tent": {"p07": 3, "p08": 1}, "lamp": {"p21": 3}, "red tent": {"p01": 2},
    }  # fmt: skip
