"""A run over HTTP whose suite says how documents are asked for by their ids, and where the number of hits stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.catalogue_service import CatalogueService
from builders.commands import run_to_report
from builders.extension_cases import needs_extension
from harness.cli import main
from harness.options import RunOptions
from harness.run import Matrix

SEARCH = """\
    path: /search
    params: {q: "{{text}}"}
    hits: $.hits
    ids: $.id
    scores: $.score
    total: $.total
"""
TITLES = "    titles: $.title\n"
DOCUMENTS = '    documents: {path: /documents, params: {id: "{{ids}}", rows: "{{count}}"}}\n'
SIZE = "    size: rows\n"

QUERY = "{id: tents, text: tent, judgments: {d1: 3, d30: 2}"


@pytest.fixture
def shop(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CatalogueService:
    """A service with 40 documents, d1 to d40, all of which match in this order."""
    monkeypatch.chdir(tmp_path)
    toml = f'[clusters.default]\nurl = "{httpserver.url_for("/api")}"\nservice = "http"\n'
    Path("relevance.toml").write_text(toml, encoding="utf-8")
    ids = [f"d{number}" for number in range(1, 41)]
    service = CatalogueService({id: {"title": f"Tent {id}"} for id in ids})
    service.rankings["tent"] = [(id, 100.0 - place) for place, id in enumerate(ids)]
    service.serve(httpserver)
    return service


def write(*keys: str, query: str = QUERY, threshold: str = "mean nDCG@10 >= 0.99") -> None:
    text = f"suite: shop\nrequest:\n  http:\n{SEARCH}{''.join(keys)}"
    if "judgments" in query:
        text += f'measures: ["nDCG@10"]\nthresholds: ["{threshold}"]\n'
    Path("shop.relevance.yaml").write_text(f"{text}queries:\n  - {query}}}\n", encoding="utf-8")


def searches(service: CatalogueService) -> list[dict[str, list[str]]]:
    return [params for params in service.asked if "q" in params]


NOT_IN_TOP = '{id: tents, text: tent, expect: ["d1 not in top 3"]'


def test_not_in_top_passes_on_an_empty_index_where_nothing_looks_documents_up(shop: CatalogueService) -> None:
    shop.documents = {}
    write(query=NOT_IN_TOP)
    assert run_to_report()[0] == 0


def test_not_in_top_is_an_error_on_an_empty_index(shop: CatalogueService) -> None:
    shop.documents = {}
    write(DOCUMENTS, query=NOT_IN_TOP)
    status, suite = run_to_report()
    assert status == 3
    [verdict] = suite["verdicts"]
    assert (verdict["status"], verdict["reason"]) == (
        "error",
        "cannot be decided: d1 is not visible through the target",
    )


def test_none_of_the_judged_documents_is_an_error_of_the_target(shop: CatalogueService) -> None:
    shop.documents = {f"D{number}": {} for number in range(1, 41)}
    shop.rankings["tent"] = [("D1", 1.0), ("D2", 0.5)]
    write(DOCUMENTS)
    status, suite = run_to_report()
    assert status == 3
    assert suite["queries"][0]["reason"] == (
        "wrong target: none of the 2 documents judged relevant is visible through the target: 'd1' is not, 'D1' is, "
        "which differs only in letter case; correct the target or the ids (a service may filter "
        "documents, and a login may not see them)"
    )


def test_a_judged_document_that_is_not_there_is_named(shop: CatalogueService) -> None:
    del shop.documents["d30"]
    write(DOCUMENTS, SIZE)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert (missing["id"], missing["absence"]) == ("d30", "not visible")
    assert suite["checks"]["absent"] == {"d30": None}


def test_a_missing_document_is_found_deeper_with_its_title(shop: CatalogueService) -> None:
    write(TITLES, DOCUMENTS, SIZE)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert (missing["id"], missing["rank"], missing["title"]) == ("d30", 30, "Tent d30")


def test_a_missing_document_has_its_title_without_a_deeper_search(shop: CatalogueService) -> None:
    write(TITLES, DOCUMENTS)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert (missing["id"], missing["rank"], missing["title"]) == ("d30", None, "Tent d30")
    assert len(searches(shop)) == 1


@pytest.mark.parametrize(("limit", "searched"), [("    max_size: 20\n", 20), ("", 25)])
def test_a_page_limit_is_how_deep_was_searched(shop: CatalogueService, limit: str, searched: int) -> None:
    shop.page = 25
    write(DOCUMENTS, SIZE, limit)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert (missing["rank"], missing["absence"], missing["searched"]) == (None, "beyond", searched)
    assert searches(shop)[-1]["rows"] == [str(20 if limit else 1000)]


def test_without_look_ups_a_deeper_search_tells_ranks_and_no_causes(shop: CatalogueService) -> None:
    del shop.documents["d30"]
    write(SIZE)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert (missing["rank"], missing["absence"], missing["searched"]) == (None, None, 39)


def test_no_hit_more_is_asked_for_than_the_service_returns(shop: CatalogueService) -> None:
    write(SIZE, "    max_size: 10\n", query="{id: tents, text: tent, judgments: {d1: 3}")
    run_to_report()
    assert searches(shop) == [{"q": ["tent"], "rows": ["10"]}]


def test_what_matches_not_at_all_is_known_by_the_total(shop: CatalogueService) -> None:
    del shop.rankings["tent"][29]
    write(DOCUMENTS, SIZE)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert missing["absence"] == "no match"


FILTERED = DOCUMENTS.replace('"}}\n', '"}, filter: {only: "{{ids}}"}}\n')


@pytest.mark.parametrize(
    ("matches", "absence", "text"), [(True, "below", "matches, not in the first 1,000"), (False, "no match", "")]
)
def test_a_filtered_search_tells_what_matches_below_the_deepest_rank(
    shop: CatalogueService, matches: bool, absence: str, text: str
) -> None:
    shop.page = 2000
    for number in range(41, 1501):
        shop.documents[f"d{number}"] = {}
        shop.rankings["tent"].append((f"d{number}", 0.01))
    if not matches:
        shop.rankings["tent"].remove(("d1400", 0.01))
    write(FILTERED, SIZE, query="{id: tents, text: tent, judgments: {d1: 3, d1400: 2}")
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert missing["absence"] == absence
    assert [params for params in searches(shop) if "only" in params] == [
        {"q": ["tent"], "only": ["d1400"], "rows": ["1"]}
    ]
    if text:
        page = Path("report.html")
        assert main(["run", "shop.relevance.yaml", "-q", "--output", f"html={page}"]) == 1
        assert text in page.read_text(encoding="utf-8")


def test_a_filtered_search_that_a_page_limit_cuts_tells_nothing(shop: CatalogueService) -> None:
    shop.page = 11
    judged = ", ".join(f"d{number}: 1" for number in range(20, 35))
    write(FILTERED, SIZE, query=f"{{id: tents, text: tent, judgments: {{{judged}}}")
    _, suite = run_to_report()
    absences = {missing["id"]: missing["absence"] for missing in suite["queries"][0]["missing"]}
    assert set(absences.values()) == {"beyond", None}
    assert sum(absence == "beyond" for absence in absences.values()) == 11


def test_a_size_is_filled_with_one_more_hit_than_needed(shop: CatalogueService) -> None:
    write(SIZE, query="{id: tents, text: tent, judgments: {d1: 3}")
    _, suite = run_to_report()
    assert searches(shop) == [{"q": ["tent"], "rows": ["11"]}]
    assert len(suite["queries"][0]["ranking"]) == 10


def test_a_size_of_the_suite_is_sent_as_it_is(shop: CatalogueService) -> None:
    write(SIZE, query="{id: tents, text: tent, judgments: {d1: 3}")
    text = Path("shop.relevance.yaml").read_text(encoding="utf-8")
    Path("shop.relevance.yaml").write_text(text.replace('"{{text}}"}', '"{{text}}", rows: 12}'), encoding="utf-8")
    _, suite = run_to_report()
    assert searches(shop) == [{"q": ["tent"], "rows": ["12"]}]
    assert len(suite["queries"][0]["ranking"]) == 12


def write_own_size(hits: int) -> None:
    """A suite whose query gives the number of hits."""
    write(SIZE, query=f"{{id: tents, text: tent, params: {{n: {hits}}}, judgments: {{d1: 3}}")
    text = Path("shop.relevance.yaml").read_text(encoding="utf-8")
    Path("shop.relevance.yaml").write_text(text.replace('"{{text}}"}', '"{{text}}", rows: "{{n}}"}'), encoding="utf-8")


def test_a_size_that_a_query_gives_is_sent_as_it_is(shop: CatalogueService) -> None:
    write_own_size(25)
    run_to_report()
    assert searches(shop) == [{"q": ["tent"], "rows": ["25"]}]


def test_a_size_that_a_query_gives_is_no_less_than_the_suite_needs(
    shop: CatalogueService, capsys: pytest.CaptureFixture[str]
) -> None:
    write_own_size(5)
    assert main(["run", "shop.relevance.yaml", "-q"]) == 2
    assert "'rows' becomes 5, but the suite needs 10 hits: write {{depth}}" in capsys.readouterr().err


def test_documents_that_tie_with_the_last_hit_are_looked_up(shop: CatalogueService) -> None:
    shop.rankings["tent"] = [(id, max(score, 95.0)) for id, score in shop.rankings["tent"]][:30]
    write(SIZE, query="{id: tents, text: tent, judgments: {d1: 3}", threshold="drop nDCG@10 <= 0.01")
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    assert [params["rows"] for params in searches(shop)] == [["11"], ["100"]]
    kept = json.loads(Path("shop.baseline.json").read_text(encoding="utf-8"))["requests"]["request"]["queries"]["tents"]
    assert kept["tail"] == [f"d{number}" for number in range(11, 31)]


def test_expectations_read_fields_that_only_the_request_by_ids_returns(shop: CatalogueService) -> None:
    for number, document in enumerate(shop.documents.values(), start=1):
        document["in_stock"] = number != 3
    shop.hidden_fields = frozenset({"in_stock"})
    by_ids = DOCUMENTS.replace('"}}\n', '"}, fields: {in_stock: $.in_stock}}\n')
    expect = "in_stock = true in top 3, every hit in top 2 has in_stock = true, every hit in top 3 has in_stock = true"
    write(by_ids, query=f"{{id: tents, text: tent, expect: {[*expect.split(', ')]}")
    status, suite = run_to_report()
    assert status == 1
    assert [verdict["status"] for verdict in suite["verdicts"]] == ["passed", "passed", "failed"]


def test_reports_show_fields_of_hits_that_only_the_request_by_ids_returns(shop: CatalogueService) -> None:
    shop.documents["d1"]["brand"] = "Acme"
    shop.hidden_fields = frozenset({"brand"})
    write(TITLES, DOCUMENTS.replace('"}}\n', '"}, fields: {brand: $.brand}}\n'))
    _, suite = run_to_report()
    first = suite["queries"][0]["ranking"][0]
    assert first["title"] == "Tent d1"
    assert [(shown["field"], shown["text"]) for shown in first["texts"]["fields"]] == [("brand", "Acme")]


def test_reports_show_fields_of_missing_documents(shop: CatalogueService) -> None:
    shop.documents["d30"]["brand"] = "Acme"
    write(TITLES, "    fields: {brand: $.brand}\n", DOCUMENTS)
    _, suite = run_to_report()
    [missing] = suite["queries"][0]["missing"]
    assert [(shown["field"], shown["text"]) for shown in missing["texts"]["fields"]] == [("brand", "Acme")]


def test_ids_that_cannot_be_written_are_not_missing(shop: CatalogueService) -> None:
    by_ids = '    documents: {path: /documents, params: {id: "{{ids}}"}, join: "0"}\n'
    write(by_ids, query=NOT_IN_TOP.replace("d1 ", "d30 "))
    status, suite = run_to_report()
    assert status == 3
    [verdict] = suite["verdicts"]
    assert verdict["reason"] == ("cannot be decided: whether d30 is visible is unknown, as it could not be looked up")
    assert "the id 'd30' has '0', at which the service would end it" in str(suite["checks"]["problems"])


@needs_extension("judging")
def test_lint_names_judged_documents_that_the_service_does_not_have(
    shop: CatalogueService, capsys: pytest.CaptureFixture[str]
) -> None:
    del shop.documents["d30"]
    write(DOCUMENTS)
    assert main(["judgments", "lint", "shop.relevance.yaml"]) == 1
    assert "document 'd30' for query 'tents' is not in the service" in capsys.readouterr().out


@needs_extension("judging")
def test_documents_that_no_request_returned_are_shown_to_a_judge(shop: CatalogueService) -> None:
    from harness.extensions.judging.pools_and_lint import PoolOptions, pool_suites

    for id, document in shop.documents.items():
        document["brand"] = f"Brand {id}"
    shop.hidden_fields = frozenset({"brand", "title"})
    by_ids = DOCUMENTS.replace('"}}\n', '"}, fields: {brand: $.brand}}\n')
    write(TITLES, by_ids, query="{id: tents, text: tent, judgments: {d1: 1}")
    options = PoolOptions(RunOptions(), Matrix(), depth=2, added=frozenset({("tents", "d30")}))
    [pool] = pool_suites([Path("shop.relevance.yaml")], options, environ={})
    assert [(shown.document, shown.title, shown.texts) for shown in pool.documents] == [
        ("d2", "Tent d2", {"brand": "Brand d2"}),
        ("d30", "Tent d30", {"brand": "Brand d30"}),
    ]
    assert pool.notes == ()


@needs_extension("judging")
def test_documents_of_a_pool_that_no_request_can_look_up_have_what_the_search_returned(shop: CatalogueService) -> None:
    from harness.extensions.judging.pools_and_lint import PoolOptions, pool_suites

    write(TITLES, query="{id: tents, text: tent, judgments: {d1: 1}")
    options = PoolOptions(RunOptions(), Matrix(), depth=2, added=frozenset({("tents", "d30")}))
    [pool] = pool_suites([Path("shop.relevance.yaml")], options, environ={})
    assert [(shown.document, shown.title) for shown in pool.documents] == [("d2", "Tent d2"), ("d30", None)]


@needs_extension("judging")
def test_a_document_that_no_search_returns_is_noticed_when_it_changes(
    shop: CatalogueService, capsys: pytest.CaptureFixture[str]
) -> None:
    write(TITLES, DOCUMENTS)
    assert main(["judgments", "age", "shop.relevance.yaml", "--record"]) == 0
    assert searches(shop)[1:] == []
    shop.documents["d30"]["title"] = "Boots"
    capsys.readouterr()
    assert main(["judgments", "age", "shop.relevance.yaml"]) == 1
    assert "document 'd30' for query 'tents' changed in title" in capsys.readouterr().out


def test_each_request_is_checked_by_its_own_request_by_ids(shop: CatalogueService, httpserver: HTTPServer) -> None:
    other = CatalogueService({"d1": {}}, {"tent": [("d1", 1.0)]})
    httpserver.expect_request("/api/other").respond_with_handler(other.respond)
    http = "".join(f"  {line}\n" for line in f"{SEARCH}{DOCUMENTS}".splitlines())
    text = f"suite: shop\nrequests:\n  shop:\n    http:\n{http}  other:\n    http:\n"
    text += http.replace("/search", "/other").replace("/documents", "/other")
    text += f'measures: ["nDCG@10"]\nqueries:\n  - {QUERY}}}\n'
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    main(["run", "shop.relevance.yaml", "-q", "--all-requests", "--output", "json=report.json"])
    suites = json.loads(Path("report.json").read_text(encoding="utf-8"))["suites"]
    assert [(suite["request"], suite["checks"]["absent"]) for suite in suites] == [
        ("shop", {}),
        ("other", {"d30": None}),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("headers: {X-Tenant: a}", "headers: {X-Tenant: b}"),
        ("hits: $.hits, ids: $.id", "hits: $.hits_of_b, ids: $.id"),
        ("hits: $.hits, ids: $.id", "hits: $.hits, ids: $.id_of_b"),
        ('join: ","', 'join: ";"'),
    ],
)
def test_what_one_request_by_ids_finds_does_not_count_for_another(
    httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    """The two differ in nothing but *first* and *second*, and only the first finds the document."""

    def respond(request: Request) -> Response:
        finds = request.headers.get("X-Tenant") != "b" and ";" not in request.args.get("ids", "")
        found = [{"id": id, "id_of_b": f"b-{id}"} for id in ("d9", "d8")] if finds else []
        if request.path == "/api/search":
            found = [{"id": "d1", "score": 2.0}, {"id": "d2", "score": 1.0}]
        content = {"hits": found, "hits_of_b": [], "total": len(found)}
        return Response(json.dumps(content), content_type="application/json")

    monkeypatch.chdir(tmp_path)
    httpserver.expect_request(re.compile("/api/.*")).respond_with_handler(respond)
    toml = f'[clusters.default]\nurl = "{httpserver.url_for("/api")}"\nservice = "http"\n'
    Path("relevance.toml").write_text(toml, encoding="utf-8")
    text = "suite: shop\nrequests:\n"
    for name, differing in (("ra", first), ("rb", second)):
        join = "" if "join" in differing else ', join: ","'
        documents = f'{{path: /documents, params: {{ids: "{{{{ids}}}}"}}, {differing}{join}}}'
        search = "".join(f"  {line}\n" for line in SEARCH.splitlines())
        text += f"  {name}:\n    http:\n{search}      documents: {documents}\n"
    text += 'queries:\n  - {id: tents, text: tent, expect: ["d9 not in top 3", "d8 not in top 3"]}\n'
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    main(["run", "shop.relevance.yaml", "-q", "--all-requests", "--output", "json=report.json"])
    suites = json.loads(Path("report.json").read_text(encoding="utf-8"))["suites"]
    statuses = {suite["request"]: {verdict["status"] for verdict in suite["verdicts"]} for suite in suites}
    assert statuses["ra"] == {"passed"}
    assert statuses["rb"] in ({"error"}, {"inconclusive"})


def test_a_baseline_stands_where_a_suite_adds_a_request_by_ids(shop: CatalogueService) -> None:
    query = "{id: tents, text: tent, judgments: {d1: 3}"
    write(SIZE, query=query, threshold="drop nDCG@10 <= 0.01")
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    write(SIZE, "    max_size: 100\n", DOCUMENTS, query=query, threshold="drop nDCG@10 <= 0.01")
    status, suite = run_to_report()
    assert status == 0
    assert suite["baseline"]["changes"] == []


def validate(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["validate", "shop.relevance.yaml"]) == 2
    return capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (
            "    documents: {params: {rows: '{{count}}'}}\n",
            "10:16: in 'documents': expected {{ids}} in a value of params or json",
        ),
        (
            "    documents: {params: {id: '{{ids}}', l: '{{l}}'}}\n",
            "10:16: in 'documents': found {{l}}, expected {{ids}} and {{count}} only: these are documents of no query",
        ),
        (
            "    documents: {path: ../documents, params: {id: '{{ids}}'}}\n",
            "10:23: the path may leave the URL of the service; expected no segment . or .. in it, encoded or not",
        ),
        (
            "    documents: {params: {id: '{{ids}}', _method: DELETE}}\n",
            "10:41: the parameter _method may replace the method; expected `method`",
        ),
        (
            "    documents: {params: {id: '{{ids}}'}, ids: id}\n",
            "10:47: found 'id', expected a JSONPath such as $.hits[*].id: it should begin with $",
        ),
        (
            "    documents: {params: {id: '{{ids}}'}, hits: $.docs, ids: '$.docs[*].id'}\n",
            "10:61: found '$.docs[*].id', expected a path in a hit such as '$.id': with `hits`, `$` is the hit",
        ),
        ("    max_size: 50\n", "4:11: 'max_size' needs 'size', which says where the number of hits stands"),
        (
            "    size: /limit\n",
            "10:11: '/limit' is a place in the body, and a GET request without `json` has none; expected a parameter",
        ),
        ("    size: rows\n    max_size: 5\n", "3:3: the request 'request' has max_size 5, but the suite needs 10 hits"),
    ],
)
def test_a_mistake_is_told_with_its_place(
    shop: CatalogueService, capsys: pytest.CaptureFixture[str], keys: str, problem: str
) -> None:
    write(keys)
    assert validate(capsys) == f"shop.relevance.yaml:{problem}"


def test_a_request_by_ids_may_change_data_only_with_permission(
    shop: CatalogueService, capsys: pytest.CaptureFixture[str]
) -> None:
    write("    documents: {method: POST, path: /documents, json: {ids: '{{ids}}'}}\n")
    assert main(["run", "shop.relevance.yaml", "-q"]) == 3
    assert shop.asked == []
    assert "POST /documents was not sent: the method POST may change data" in " ".join(capsys.readouterr().out.split())
