"""``relevance judgments`` from suites in files, over a search that needs no server, to what is printed and written."""

import csv
import json

import jsonschema
import pytest

import harness.search.dialects
from builders.engine import ScriptedEngine
from harness.cli import main
from harness.cli.results import result_schema
from harness.errors import EngineUnreachable
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking
from harness.search.hits import drop_repeated_hits
from harness.search.testing import FakeSearch
from harness.search.texts import make_snippet

SUITE = """\
suite: shop
target: {index: products}
display: {title: title}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {index: products-next, body: {query: {match_phrase: {title: "{{text}}"}}}}
measures: ["nDCG@3"]
thresholds: ["mean Judged@3 >= 0.9"]
judgments: {files: [more.csv], ungraded: ignore}
queries:
  - {id: shoes, text: red shoes, tags: [head], judgments: {a: 2, b: 0}}
  - {id: boots, text: rubber boots, judgments: {d: 1}}
"""

API = """\
suite: api
target: {cluster: api}
request: {http: {method: GET, path: /search, params: {q: "{{text}}"}, ids: "$.ids[*]"}}
measures: ["P@2"]
queries:
  - {id: q, text: one, judgments: {a: 1}}
"""


class Index(FakeSearch):
    """
    Ranks queries as it was told to, by index, and finds *documents* by their ids.

    An id in *twice* is in two indexes. What is in *refusals* is the answer to a look-up, by index.
    """

    def __init__(self, rankings, documents, *, engine=None):
        super().__init__({}, engine=engine)
        self.rankings, self.documents, self.twice, self.refusals = rankings, documents, (), {}

    def _respond(self, request):
        ids = request.body.get("query", {}).get("ids") if request.http is None else None
        if ids is None and not request.query:
            return Ranking(total=len(self.documents))
        if ids is None:
            found = self.rankings[request.index, request.query]
            return found if isinstance(found, Failure) else Ranking(tuple(map(Hit, found))[: request.body["size"]])
        if request.index in self.refusals:
            return self.refusals[request.index]
        known = [one for one in ids["values"] if one in self.documents]
        hits, repeated = drop_repeated_hits(
            [self._hit(one, request) for one in known for _ in range(1 + (one in self.twice))],
            unique_ids=request.unique_ids,
        )
        return Ranking(hits, total=len(hits), duplicates=repeated)

    def _hit(self, document, request):
        source = self.documents[document]
        snippet = make_snippet(source, request.title_field) if request.has_snippet else None
        return Hit(document, title=source.get("title") if request.title_field else None, snippet=snippet)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    (tmp_path / "more.csv").write_text("query,document,grade\n")
    return tmp_path


@pytest.fixture
def engine(monkeypatch):
    documents = {
        name: {"title": f"Title of {name}", "text": f"The words of {name}."}
        for name in ("a", "b", "d", "x", "y", "=z", "007")
    }
    rankings = {
        ("products", "shoes"): ["x", "a", "y", "b"],
        ("products", "boots"): ["d", "=z"],
        ("products-next", "shoes"): ["y", "a", "b"],
        ("products-next", "boots"): ["007", "d"],
    }
    index = Index(rankings, documents)
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: index)
    return index


def pool(*words):
    return main(["judgments", "pool", "shop.relevance.yaml", "-q", *words])


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def grade_all(path, grade="1"):
    rows = table(path)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "grade": grade} for row in rows)


# ------------------------------------------------------------------------------------------------ pool


def test_what_nobody_judged_is_written_with_ranks_titles_and_snippets(folder, engine, capsys):
    assert pool("--all-requests", "--output", "csv=u.csv") == 0
    assert [list(row.values()) for row in table(folder / "u.csv")] == [
        ["boots", "'007", "", "rubber boots", "Title of 007", "The words of 007.", "", "1"],
        ["boots", "'=z", "", "rubber boots", "Title of =z", "The words of =z.", "2", ""],
        ["shoes", "x", "", "red shoes", "Title of x", "The words of x.", "1", ""],
        ["shoes", "y", "", "red shoes", "Title of y", "The words of y.", "3", "1"],
    ]
    out = capsys.readouterr().out
    assert "shop  4 documents to judge in 2 queries, of the top 3" in out
    # 1 of 3 and 1 of 2 hits are judged; nDCG@3 of shoes is 0.6309, of boots 1
    assert out.splitlines()[2].split() == ["current", "0.4167", "3", "of", "5", "0.8155", "0.8155", "0.8984"]


@pytest.mark.parametrize(
    ("empty", "words", "said"),
    [
        ([("products", "boots")], [], "zero hits: boots"),
        ([("products", "shoes"), ("products", "boots")], [], "zero hits: shoes, boots"),
        ([("products", "boots")], ["--all-requests"], "zero hits for current: boots"),
        ([("products", "boots"), ("products-next", "boots")], ["--all-requests"], "zero hits: boots"),
        ([("products", "shoes"), ("products-next", "boots")], ["--index", "products-next"], "zero hits: boots"),
    ],
)
def test_the_queries_with_zero_hits_are_named(folder, engine, capsys, empty, words, said):
    engine.rankings |= {place: [] for place in empty}
    assert pool(*words) == 0
    assert said in [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_where_every_query_has_hits_none_is_said_to_have_none(folder, engine, capsys):
    assert pool("--all-requests") == 0
    assert "zero hits" not in capsys.readouterr().out


def test_only_the_first_request_is_pooled_where_none_is_named(folder, engine):
    assert pool("--output", "csv=u.csv") == 0
    assert [(row["document"], row["rank"]) for row in table(folder / "u.csv")] == [("'=z", "2"), ("x", "1"), ("y", "3")]


@pytest.mark.parametrize("kind", ["csv", "yaml"])
def test_a_graded_file_makes_everything_judged(folder, engine, kind, capsys):
    file = folder / f"u.{kind}"
    pool("--all-requests", "--output", f"{kind}={file.name}")
    if kind == "csv":
        grade_all(file)
    else:
        file.write_text(
            "".join(f"{line} 1\n" if line.startswith('  "') else f"{line}\n" for line in file.read_text().splitlines())
        )
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace("more.csv", file.name))
    capsys.readouterr()
    assert main(["run", "shop.relevance.yaml", "-q", "--all-requests"]) == 0
    assert pool("--all-requests", "--output", "csv=none.csv") == 0
    assert "shop  no hit of the top 3 is unjudged" in capsys.readouterr().out
    assert (folder / "none.csv").read_text() == (
        "query,document,grade,text,title,snippet,rank current,rank candidate\n"
    )


def test_a_partly_graded_file_is_counted_and_never_silent(folder, engine, capsys):
    pool("--output", "csv=pool.csv")
    (folder / "pool.csv").replace(folder / "more.csv")
    capsys.readouterr()
    assert main(["validate", "shop.relevance.yaml"]) == 0
    assert "3 judgments (3 not graded yet)" in capsys.readouterr().out
    assert main(["run", "shop.relevance.yaml"]) == 1
    assert "3 documents have no grade in the judgment files and count as unjudged" in capsys.readouterr().out
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace(", ungraded: ignore", ""))
    assert main(["validate", "shop.relevance.yaml"]) == 2
    assert "more.csv:2:1: document '=z' has no grade yet for query 'boots'; " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "documents", "said"),
    [
        (["--depth", "1"], ["x"], "of the top 1"),
        (["--depth", "2"], ["'=z", "x"], "of the top 2"),
        (["--tag", "head"], ["x", "y"], "2 documents to judge in 1 query"),
        (["--request", "candidate"], ["'007", "y"], "2 documents to judge in 2 queries"),
        (["--index", "products-next"], ["'007", "y"], "2 documents"),
    ],
)
def test_what_is_pooled_is_chosen(folder, engine, capsys, words, documents, said):
    assert pool(*words, "--output", "csv=u.csv") == 0
    assert [row["document"] for row in table(folder / "u.csv")] == documents
    assert said in capsys.readouterr().out


def test_more_hits_are_asked_for_where_the_pool_is_deeper(folder, engine):
    assert pool("--depth", "4", "--output", "csv=u.csv") == 0
    assert {one.body["size"] for one in engine.requests if "match" in one.body["query"]} == {10}
    engine.requests.clear()
    assert pool("--depth", "25") == 0
    assert {one.body["size"] for one in engine.requests if "match" in one.body["query"]} == {25}


def test_a_request_that_says_its_size_is_pooled_no_deeper_and_that_is_told(folder, engine, capsys):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace("current: {query", "current: {size: 3, query"))
    assert pool("--depth", "7") == 0
    assert "the request current asks for 3 hits itself, and is pooled no deeper" in capsys.readouterr().out


def test_one_request_on_two_indexes_has_two_ranks(folder, engine):
    assert pool("--index", "products", "--index", "products-next", "--output", "csv=u.csv") == 0
    assert list(table(folder / "u.csv")[0])[-2:] == ["rank current on products", "rank current on products-next"]


def test_a_suite_that_is_held_to_a_baseline_is_pooled_without_one(folder, engine, capsys):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace('thresholds: ["', 'thresholds: ["drop nDCG@3 <= 0.1", "'))
    assert pool() == 0
    assert "baseline" not in capsys.readouterr().out


def test_without_an_answer_to_the_look_up_there_are_rows_all_the_same(folder, engine, capsys):
    engine.refusals["products"] = Failure(FailureKind.ERROR, "no privilege", 403)
    assert pool("--output", "csv=u.csv") == 0
    assert [row["document"] for row in table(folder / "u.csv")] == ["'=z", "x", "y"]
    assert {row["snippet"] for row in table(folder / "u.csv")} == {""}
    assert "some documents of products have no snippet: engine error (403): no privilege" in capsys.readouterr().out


def test_a_query_without_an_answer_is_3_and_the_others_are_written(folder, engine, capsys):
    engine.rankings["products", "shoes"] = Failure(FailureKind.SHARDS, "one of two shards is gone")
    assert pool("--output", "csv=u.csv") == 3
    assert (folder / "u.csv").stat().st_mode & 0o777 == 0o600
    assert [row["document"] for row in table(folder / "u.csv")] == ["'=z"]
    assert "query shoes has no answer: failed shards: one of two shards is gone" in capsys.readouterr().out


def test_an_engine_that_is_down_is_3_and_writes_a_head(folder, monkeypatch, capsys):
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: _down())
    assert pool("--output", "csv=u.csv") == 3
    assert "shop  no query was answered" in capsys.readouterr().out
    assert len((folder / "u.csv").read_text().splitlines()) == 1


def _down():
    raise EngineUnreachable("nobody is there")


def test_a_service_brings_no_snippets_and_that_is_told(folder, monkeypatch, capsys):
    (folder / "api.relevance.yaml").write_text(API)
    (folder / "relevance.toml").write_text('[clusters.api]\nurl = "http://one:8080"\nservice = "http"\n')

    class Service(FakeSearch):
        def _respond(self, request):
            return Ranking((Hit("x", title="X"), Hit("a")))

    service = Service({}, engine=Engine("http"))
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: service)
    assert main(["judgments", "pool", "api.relevance.yaml", "-q", "--output", "csv=u.csv"]) == 0
    [row] = table(folder / "u.csv")
    assert (row["document"], row["title"], row["snippet"]) == ("x", "X", "")
    assert "there are no snippets: documents cannot be looked up by id in an HTTP service" in capsys.readouterr().out
    assert len(service.requests) == 1


def test_a_service_brings_the_fields_that_the_request_has_paths_for(folder, httpserver, capsys):
    paths = {"name": "$.hits[*].name", "price": "$.hits[*].price", "grade": "$.hits[*].grade"}
    ids = 'ids: "$.ids[*]"'
    assert ids in API
    suite = API.replace(ids, f"ids: '$.hits[*].id', fields: {json.dumps(paths)}")
    answer = {"hits": [{"id": "x", "name": "X", "price": 9.5, "grade": "A"}, {"id": "y", "name": "Y", "price": None}]}
    httpserver.expect_request("/search").respond_with_json(answer)
    url = httpserver.url_for("").rstrip("/")
    (folder / "relevance.toml").write_text(f'[clusters.api]\nurl = "{url}"\nservice = "http"\n')
    command = ["judgments", "pool", "api.relevance.yaml", "-q", "--output", "csv=u.csv"]

    (folder / "api.relevance.yaml").write_text(suite + "display: {title: name}\n")
    assert main(command) == 0
    first, second = table(folder / "u.csv")
    assert [first[name] for name in ("document", "title", "field price", "field grade")] == ["x", "X", "'9.5", "A"]
    assert [second[name] for name in ("document", "title", "field price", "field grade")] == ["y", "Y", "", ""]

    (folder / "api.relevance.yaml").write_text(suite + "display: {title: name, fields: [price]}\n")
    (folder / "u.csv").unlink()
    assert main(command) == 0
    [first, _] = table(folder / "u.csv")
    assert (first["snippet"], first["field price"], "field grade" in first) == ("", "'9.5", False)
    assert "there are no snippets" not in capsys.readouterr().out


def test_a_suite_without_a_selected_query_is_left_out(folder, engine, capsys):
    (folder / "other.relevance.yaml").write_text(
        SUITE.replace("suite: shop", "suite: other").replace("[head]", "[tail]")
    )
    assert main(["judgments", "pool", ".", "-q", "--tag", "head"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if "to judge" in line] == ["shop"]


def test_an_engine_that_goes_away_after_the_run_leaves_rows_without_text(folder, engine, monkeypatch, capsys):
    def respond(request):
        if "ids" in request.body["query"]:
            raise EngineUnreachable("it went away")
        return Index._respond(engine, request)

    monkeypatch.setattr(engine, "_respond", respond)
    assert pool("--output", "csv=u.csv") == 0
    assert [(row["document"], row["snippet"]) for row in table(folder / "u.csv")] == [("'=z", ""), ("x", ""), ("y", "")]
    assert "some documents of products have no snippet: it went away" in capsys.readouterr().out


def test_what_was_written_is_said(folder, engine, capsys):
    assert main(["judgments", "pool", "shop.relevance.yaml", "--output", "csv=u.csv"]) == 0
    assert "wrote u.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shop.relevance.yaml", "--output", "html=u.html"], "there is no kind 'html', only csv or yaml"),
        (["shop.relevance.yaml", "--output", "u.csv"], "as in csv=unjudged.csv"),
        (["shop.relevance.yaml", "--depth", "0"], "0 is not in the range"),
        (["shop.relevance.yaml", "--request", "next"], "found no request 'next'"),
        (["shop.relevance.yaml", "--tag", "haed"], "did you mean 'head'"),
        ([".", "--output", "csv=u.csv"], "a file has the judgments of one suite, but 2 suites were given"),
    ],
)
def test_what_cannot_be_is_2(folder, engine, capsys, words, said):
    (folder / "other.relevance.yaml").write_text(SUITE)
    assert main(["judgments", "pool", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (folder / "u.csv").exists()


def test_an_id_that_csv_cannot_hold_is_refused_before_anything_is_written(folder, engine, capsys):
    engine.rankings["products", "boots"] = ["a\rb"]
    assert pool("--output", "yaml=u.yaml", "--output", "csv=u.csv") == 2
    assert "the id of document 'a\\rb' cannot be written to a CSV file; use yaml=FILE" in capsys.readouterr().err
    assert not (folder / "u.yaml").exists()


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (("csv=shop.relevance.yaml",), "shop.relevance.yaml is read by this run"),
        (("csv=more.csv",), "more.csv is read by this run"),
        (("yaml=./shop.relevance.yaml",), "shop.relevance.yaml is read by this run"),
        (("csv=new.csv", "yaml=new.csv"), "new.csv is named for two outputs"),
    ],
)
def test_a_pool_is_written_over_nothing_that_is_needed(folder, engine, capsys, outputs, said):
    words = [word for output in outputs for word in ("--output", output)]
    assert main(["judgments", "pool", "shop.relevance.yaml", *words]) == 2
    assert said in capsys.readouterr().err
    assert (folder / "shop.relevance.yaml").read_text() == SUITE
    assert not (folder / "new.csv").exists()
    assert engine.requests == []


def test_a_suite_without_any_judgment_is_pooled_for_its_first(folder, engine, capsys):
    bare = SUITE.replace("judgments: {files: [more.csv], ungraded: ignore}\n", "")
    bare = bare.replace(", judgments: {a: 2, b: 0}", "").replace(", judgments: {d: 1}", "")
    (folder / "shop.relevance.yaml").write_text(bare)
    assert main(["judgments", "pool", "shop.relevance.yaml", "--output", "csv=first.csv", "-q"]) == 0
    with (folder / "first.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row["query"] for row in csv.DictReader(file)} == {"shoes", "boots"}
    capsys.readouterr()
    assert main(["run", "shop.relevance.yaml"]) == 2
    assert "the suite has no judgments" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [("u.csv", "query,document,grade\nshoes,x,\nshoes,y,good\n"), ("u.yaml", "shoes:\n  x:\n  y: 1\n")],
)
def test_what_somebody_has_graded_is_not_written_over(folder, engine, capsys, name, content):
    (folder / name).write_text(content)
    assert pool("--output", f"{name[2:]}={name}") == 2
    assert f"{name} holds 1 grade; write to another file" in capsys.readouterr().err
    assert (folder / name).read_text() == content
    assert engine.requests == []


@pytest.mark.parametrize("content", ["query,document,grade\nshoes,x,\n", ""])
def test_a_file_without_grades_is_written_anew(folder, engine, content):
    (folder / "u.csv").write_text(content)
    assert pool("--output", "csv=u.csv") == 0
    assert len(table(folder / "u.csv")) == 3


# ------------------------------------------------------------------------------------------------ lint


def lint(*words):
    return main(["judgments", "lint", "shop.relevance.yaml", *words])


def test_good_judgments_are_0(folder, engine, capsys):
    assert lint() == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "3 judgments of 1 suite checked: no findings" in err
    assert "grades were not checked against a scale" in err


def test_everything_is_found_at_once(folder, engine, capsys):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace("measures:", "grades: {good: 2, bad: 0}\nmeasures:"))
    (folder / "more.csv").write_text(
        "query,document,grade,by\nshoes,a,2,kim\nshoes,a,1,lee\nshoes,A,1,\nboots,gone,god,\n"
        "boots,x,7,\nsheos,x,1,\nboots,y,,\nboots,x\n"
    )
    engine.twice = ("d", "b")
    assert lint() == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "more.csv:2:1: document 'a' for query 'shoes' is judged twice with grade 2, first at "
        "shop.relevance.yaml:12:60; "
        "remove one",
        "more.csv:3:1: document 'a' for query 'shoes' has grade 1 here and 2 at shop.relevance.yaml:12:60; "
        "keep the right one",
        "more.csv:4:1: document 'A' for query 'shoes' is not in index products or index products-next, but "
        "'a' is, which "
        "differs only in letter case; remove the judgment, or restore the document",
        "more.csv:5:1: found 'god' as the grade of document 'gone' for query 'boots', expected a number or "
        "the name of a "
        "grade; did you mean 'good'?",
        "more.csv:6:1: grade 7 of document 'x' for query 'boots' is above 2, the greatest of `grades`; "
        "correct the grade, "
        "or the scale",
        "more.csv:7:1: the suite has no query 'sheos', for which 1 document is judged; correct the id, or set "
        "'judgments: {files: …, other_queries: ignore}'; did you mean 'shoes'?",
        "more.csv:9:1: found 2 columns, expected 4 as in the header",
        "shop.relevance.yaml:2:1: 'products' leads to several indexes, and 2 judged documents are in more "
        "than one of them: "
        "'b', 'd'; a judgment cannot tell them apart: let it lead to one index, or say 'ids: unique' in the target "
        "where they are the same document",
        "shop.relevance.yaml:6:14: 'products-next' leads to several indexes, and 2 judged documents are in "
        "more than one of "
        "them: 'b', 'd'; a judgment cannot tell them apart: let it lead to one index, or say 'ids: unique' in the "
        "target where they are the same document",
    ]
    assert "shop.relevance.yaml: 1 document has no grade yet, which the suite ignores" in err
    assert "9 judgments of 1 suite checked: 9 findings" in err


@pytest.mark.parametrize(
    ("fields", "kinds"), [(["skus", "_id"], ["missing-document"]), (["sku"], ["missing-document"] * 3)]
)
def test_an_id_field_that_the_index_has_not_is_told_instead_of_each_document(
    folder, monkeypatch, capsys, fields, kinds
):
    engine = FakeSearch({"": Ranking()})
    engine.fields = fields
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: engine)
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace("index: products}", "index: products, id_field: sku}").replace("-next", ""))
    assert lint("--json") == 1
    findings = json.loads(capsys.readouterr().out)["facts"]["findings"]
    assert [one["kind"] for one in findings] == kinds
    assert ("has no field 'sku', the `id_field`" in findings[0]["message"]) == (fields != ["sku"])
    assert findings[0]["message"].endswith("; did you mean 'skus'?") == (fields != ["sku"])


def test_json_stands_alone(folder, engine, capsys):
    (folder / "more.csv").write_text("query,document,grade\nshoes,gone,1\n")
    assert lint("--json") == 1
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, result_schema())
    assert (result["command"], result["exit_status"]) == ("judgments lint", 1)
    [finding] = result["facts"]["findings"]
    assert "products-next" in finding.pop("message")
    assert finding == {"path": "more.csv", "line": 2, "column": 1, "kind": "missing-document"}
    (folder / "more.csv").write_text("query,document,grade\n")
    assert lint("--json") == 0
    assert json.loads(capsys.readouterr().out)["facts"] == {"findings": []}


def test_where_a_suite_is_wrong_its_problems_are_the_one_object(folder, engine, capsys):
    (folder / "more.csv").write_text("query,document,grade\nshoes,gone,1\n")
    (folder / "wrong.relevance.yaml").write_text("suite: wrong\nthresholdz: []\n")
    assert main(["judgments", "lint", ".", "--json"]) == 2
    out, err = capsys.readouterr()
    assert "unknown-key" in {problem["code"] for problem in json.loads(out)["problems"]}
    assert "more.csv:2:1: " in err


def test_offline_asks_nobody_and_says_so(folder, engine, capsys):
    (folder / "more.csv").write_text("query,document,grade\nshoes,A,1\n")
    assert lint("--offline", "--scale", "0..1") == 1
    out, err = capsys.readouterr()
    assert engine.requests == []
    assert [line.split(":")[0:2] for line in out.splitlines()] == [["more.csv", "2"], ["shop.relevance.yaml", "11"]]
    assert "differs from 'a', judged at shop.relevance.yaml:11:60, only in letter case" in out
    assert "the judged documents were not looked up" in err


def test_a_document_in_one_of_the_requests_indexes_is_there(folder, engine, monkeypatch):
    only_next = Index({}, {name: {} for name in "abd"})
    only_next.documents, everything = {}, only_next.documents

    def respond(request):
        only_next.documents = everything if request.index == "products-next" else {}
        return Index._respond(only_next, request)

    monkeypatch.setattr(only_next, "_respond", respond)
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: only_next)
    assert lint() == 0
    assert {one.index for one in only_next.look_ups} == {"products", "products-next"}


def test_an_engine_without_an_answer_is_3_and_the_rest_is_told(folder, engine, capsys):
    (folder / "more.csv").write_text("query,document,grade\nshoes,a,1\n")
    engine.refusals["products-next"] = Failure(FailureKind.ERROR, "no such index", 404)
    assert lint() == 3
    out, err = capsys.readouterr()
    assert [line.split(": ")[0] for line in out.splitlines()] == ["more.csv:2:1"]
    assert "cannot look up documents in products-next: engine error (404): no such index" in err


def test_an_engine_that_is_down_is_3(folder, monkeypatch, capsys):
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: _down())
    assert lint() == 3
    assert "shop.relevance.yaml: nobody is there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scale", "3"], "found '3' as a scale, expected the least and the greatest grade, as in 0..3"),
        (["--offline", "--embedded"], "--offline uses no engine; remove --url and --embedded"),
        (["--url", "http://one", "--embedded"], "--url and --embedded name two engines"),
    ],
)
def test_a_wrong_command_line_is_2(folder, engine, capsys, words, said):
    assert lint(*words) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_suite_that_is_wrong_otherwise_is_2_with_what_was_found_in_the_others(folder, engine, capsys):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace("mean Judged", "maen Judged"))
    (folder / "other.relevance.yaml").write_text(SUITE.replace("{a: 2, b: 0}", "{a: 2, a: 1}"))
    assert main(["judgments", "lint", ".", "--offline"]) == 2
    out, err = capsys.readouterr()
    assert [line.split(": ")[0] for line in out.splitlines()] == ["other.relevance.yaml:11:66"]
    assert "shop.relevance.yaml:8:" in err
    assert "3 judgments of 1 suite checked: 1 finding" in err


def test_a_suite_with_other_mistakes_is_told_with_its_duplicates(folder, engine, capsys):
    text = SUITE.replace("mean Judged", "maen Judged").replace("{a: 2, b: 0}", "{a: 2, a: 1}")
    (folder / "shop.relevance.yaml").write_text(text)
    assert lint("--offline") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "did you mean 'mean'?" in err
    assert "the key 'a' occurs twice" in err


def test_a_document_twice_in_the_suite_itself_is_found_with_all_else(folder, engine, capsys):
    text = SUITE.replace("{a: 2, b: 0}", "{a: 2, b: 0, a: 2, gone: 1, b: 3, a: [1]}")
    (folder / "shop.relevance.yaml").write_text(text)
    (folder / "more.csv").write_text("query,document,grade\nshoes,a,7\n")
    assert lint("--scale", "0..3", "--json") == 1
    findings = json.loads(capsys.readouterr().out)["facts"]["findings"]
    assert [(one["path"], one["line"], one["column"], one["kind"]) for one in findings] == [
        ("more.csv", 2, 1, "contradiction"),
        ("more.csv", 2, 1, "off-scale"),
        ("shop.relevance.yaml", 11, 72, "duplicate"),
        ("shop.relevance.yaml", 11, 78, "missing-document"),
        ("shop.relevance.yaml", 11, 87, "contradiction"),
        ("shop.relevance.yaml", 11, 96, "unreadable"),
    ]


def test_a_service_is_not_asked_for_documents(folder, monkeypatch, capsys):
    (folder / "api.relevance.yaml").write_text(API)
    (folder / "relevance.toml").write_text('[clusters.api]\nurl = "http://one:8080"\nservice = "http"\n')
    service = FakeSearch({}, engine=Engine("http"))
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: service)
    assert main(["judgments", "lint", "api.relevance.yaml"]) == 0
    assert "documents cannot be looked up by id in an HTTP service" in capsys.readouterr().err
    assert service.requests == []


def test_documents_of_a_fixture_are_known_without_an_engine(folder, engine, capsys):
    suite = folder / "shop.relevance.yaml"
    own = SUITE.replace("index: products-next, body: ", "body: ").replace("target: {index: products}\n", "")
    suite.write_text(own + "fixture: {documents: d.jsonl}\n")
    (folder / "d.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n{"id": "D"}\n')
    assert lint("--offline") == 1
    [line] = capsys.readouterr().out.splitlines()
    assert "document 'd' for query 'boots' is not in d.jsonl, but 'D' is, which differs only in letter case; " in line
    assert lint() == 1
    assert engine.requests == []


def test_without_a_right_result_nothing_is_to_judge(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.relevance.yaml"
    path.write_text(
        """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["P@2"]
queries:
  - {id: shoes, text: shoes, judgments: {a: 1}}
  - {id: xq, text: none, nothing: true}
""",
        encoding="utf-8",
    )
    with ScriptedEngine() as engine:
        engine.rankings = {"shoes": ["a", "b"], "none": ["c", "d"]}
        words = ["s.relevance.yaml", "--url", engine.url]
        assert main(["judgments", "pool", *words, "--output", "csv=p.csv"]) == 0
        assert main(["judgments", "lint", *words]) == 0
    pooled = (tmp_path / "p.csv").read_text(encoding="utf-8")
    assert "shoes" in pooled
    assert "xq" not in pooled
    assert "xq" not in capsys.readouterr().out
