"""
Set-ups that are broken, each in one way: what the first screen of output says, the exit status, and JUnit's message.

The ranking is the cause in none of them, so that each has to be told by its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

import builders.loaded  # noqa: F401
from builders.engine import Fault, ScriptedEngine
from builders.shown import entries, kinds, one_line
from harness.cli import main
from harness.report.json import loads_report
from harness.search.server_health import Retries

DOCUMENTS = {
    "s1": {"title": "Red shoes", "brand": "alpha", "price": 10, "shop": "open"},
    "s2": {"title": "Blue shoes", "brand": "alpha", "price": 20, "shop": "open"},
    "b1": {"title": "Rubber boots", "brand": "beta", "price": 30, "shop": "open"},
    "x1": {"title": "Hat", "brand": "gamma", "price": 5, "shop": "closed"},
}
KEYWORD = {"type": "keyword"}
MAPPINGS = {
    "properties": {"title": {"type": "text"}, "brand": KEYWORD, "price": {"type": "integer"}, "shop": KEYWORD},
}
MATCH = '{match: {title: "{{text}}"}}'
REQUEST = f"{{query: {MATCH}}}"
SUITE = """\
suite: shop
target: {{index: {index}}}
display: {{title: {title}}}
request: {request}
thresholds: ["mean nDCG@10 >= {least}"]
queries:
  - {{id: shoes, text: "{prefix}red shoes", judgments: {{{one}: 3, {two}: 1}}, expect: [{expect}]}}
  - {{id: boots, text: "{prefix}rubber boots", judgments: {{{three}: 3}}}}
"""

Call = Callable[..., Any]


def nothing(call: Call, index: str) -> None:
    """The index is searched as it is made."""


@dataclass(frozen=True)
class Broken:
    """
    One set-up: *said* is on the first screen, *below* anywhere in the output, *junit* in the message of an item that
    did not pass; every item passed where it is None. *arrange* changes the index, and names what is searched instead.
    """

    said: str
    status: int = 3
    junit: str | None = None
    below: str = ""
    arrange: Callable[[Call, str], str | None] = nothing
    request: str = REQUEST
    expect: str = ""
    title: str = "title"
    ids: tuple[str, str, str] = ("s1", "s2", "b1")
    least: float = 0.8
    prefix: str = ""
    documents: bool = True
    url: Callable[[str], str] = str


def closed(call: Call, index: str) -> None:
    call("POST", f"/{index}/_close")


def alias(query: dict[str, Any]) -> Callable[[Call, str], str]:
    def arrange(call: Call, index: str) -> str:
        name = f"{index}-alias"
        call("POST", "/_aliases", {"actions": [{"add": {"index": index, "alias": name, "filter": query}}]})
        return name

    return arrange


def without_shard(call: Call, index: str) -> str:
    """An index that no node may hold; it goes with those of the test, by its name."""
    name = f"{index}-red"
    settings = {"index.routing.allocation.require._name": "nobody", "number_of_replicas": 0}
    call("PUT", f"/{name}?wait_for_active_shards=0&timeout=1s", {"settings": settings})
    return name


def names(field: str, meant: str, place: str) -> str:
    return f"the request names the field {field}, which no searched index has; did you mean {meant!r}? (in {place})"


def filtered(clause: str) -> str:
    return f"{{query: {{bool: {{must: [{MATCH}], filter: [{clause}]}}}}}}"


NO_HITS = "all 2 queries have 0 hits"
LOW = "required >= 0.8"

SET_UPS = {
    "an index that is not there": Broken(
        "no such index [nowhere-at-all], the index in the target's `index:` does not exist",
        junit="no such index",
        arrange=lambda call, index: "nowhere-at-all",
    ),
    "a pattern that matches no index": Broken(
        "nothing was searched: no index matches the target's pattern",
        junit="no index matches",
        arrange=lambda call, index: "nowhere-at-all-*",
    ),
    "an index without documents": Broken(
        "holds no document; index documents, or correct the target", junit="holds no document", documents=False
    ),
    "an alias whose filter hides everything": Broken(
        "-alias holds no document; index documents, or correct the target (an alias may filter documents",
        junit="holds no document",
        arrange=alias({"term": {"shop": "nobody"}}),
    ),
    "an alias whose filter hides what is judged": Broken(
        "none of the 3 documents judged relevant is visible through",
        junit="none of the 3 documents judged relevant is visible through",
        arrange=alias({"term": {"shop": "closed"}}),
    ),
    "an alias whose filter hides one": Broken(
        "1 query with outcome zero hits",
        status=1,
        junit=LOW,
        below="b1 3 not visible through",
        arrange=alias({"term": {"brand": "alpha"}}),
    ),
    "ids in other letters": Broken(
        "'B1' is not, 'b1' is, which differs only in letter case; correct the target or the ids",
        junit="'B1' is not, 'b1' is",
        ids=("S1", "S2", "B1"),
    ),
    "ids with a blank": Broken(
        "'b1 ' is not, 'b1' is, which differs only in blanks",
        junit="differs only in blanks",
        ids=('"s1 "', '"s2 "', '"b1 "'),
    ),
    "ids of another catalogue": Broken(
        "such as 'p1'; it holds 4 documents, such as",
        junit="such as 'p1'; it holds 4 documents",
        ids=("p1", "p2", "p3"),
    ),
    "one id in other letters": Broken(
        "nDCG@10",
        status=1,
        junit=LOW,
        below="'b1' is, which differs only in letter case",
        ids=("s1", "s2", "B1"),
    ),
    "a wrong field in match": Broken(
        f"{NO_HITS} {names('titel', 'title', 'query.match')}",
        status=1,
        junit=f"{NO_HITS} {names('titel', 'title', 'query.match')}",
        below="does not match",
        request=REQUEST.replace("title:", "titel:"),
    ),
    "a wrong field in match_phrase": Broken(
        names("titel", "title", "query.match_phrase"),
        status=1,
        junit=names("titel", "title", "query.match_phrase"),
        request='{query: {match_phrase: {titel: "{{text}}"}}}',
    ),
    "a wrong field in multi_match, which changes no verdict": Broken(
        names("brnd", "brand", "query.multi_match.fields[1]"),
        status=0,
        request='{query: {multi_match: {query: "{{text}}", fields: ["title", "brnd^3", "*_en"]}}}',
    ),
    "a wrong field in term": Broken(
        names("shp", "shop", "query.bool.filter[0].term"),
        status=1,
        junit=names("shp", "shop", "query.bool.filter[0].term"),
        request=filtered("{term: {shp: open}}"),
    ),
    "a wrong field in terms": Broken(
        names("brandd", "brand", "query.bool.filter[0].terms"),
        status=1,
        junit=names("brandd", "brand", "query.bool.filter[0].terms"),
        request=filtered("{terms: {brandd: [alpha, beta]}}"),
    ),
    "a wrong field in range": Broken(
        names("prize", "price", "query.bool.filter[0].range"),
        status=1,
        junit=names("prize", "price", "query.bool.filter[0].range"),
        request=filtered("{range: {prize: {gte: 1}}}"),
    ),
    "a wrong field in sort": Broken(
        names("prise", "price", "sort[1]"),
        below="2 queries with outcome error: ",
        junit="No mapping found for [prise]",
        request=f"{{query: {MATCH}, sort: [_score, prise]}}",
    ),
    "a wrong field in collapse": Broken(
        names("brnad", "brand", "collapse.field"),
        junit="brnad",
        request=f"{{query: {MATCH}, collapse: {{field: brnad}}}}",
    ),
    "a multi-field that is not there": Broken(
        names("title.raw", "title", "query.bool.should[0].term"),
        status=0,
        request=f'{{query: {{bool: {{must: [{MATCH}], should: [{{term: {{title.raw: "{{{{text}}}}"}}}}]}}}}}}',
    ),
    "a title that no hit has": Broken(
        "no hit has the field titel, which the suite names as its display.title; did you mean 'title'?",
        status=0,
        title="titel",
    ),
    "a closed index": Broken(
        "engine error (400): index_closed_exception", junit="index_closed_exception", arrange=closed
    ),
    "queries that find nothing": Broken(
        NO_HITS,
        status=1,
        junit=NO_HITS,
        below="does not match",
        request='{query: {match_phrase: {title: "{{text}}"}}}',
        prefix="of no shop ",
    ),
    "collapse hides what is judged": Broken(
        "nDCG@10",
        status=1,
        junit="required >= 0.99",
        below="s2 1 hidden by collapse",
        request=f"{{query: {MATCH}, collapse: {{field: brand}}}}",
        least=0.99,
    ),
    "an expectation of a document that is not there": Broken(
        "nDCG@10",
        junit="cannot be decided: S1 is not visible through",
        below="'s1' is, which differs only in letter case",
        expect='"S1 not in top 3"',
    ),
    "an expectation of a document that does not match": Broken(
        "nDCG@10", status=1, junit="required in the top 3", below="x1 unjudged does not match", expect='"x1 in top 3"'
    ),
    "an unknown query": Broken(
        "unknown query [mtch]", junit="unknown query [mtch]", request='{query: {mtch: {title: "{{text}}"}}}'
    ),
    "an engine that is not there": Broken(
        "connection refused; is it running?", junit="connection refused", url=lambda url: "http://127.0.0.1:9"
    ),
    "TLS where there is none": Broken(
        "should the URL begin with http://?",
        junit="should the URL begin with http://?",
        url=lambda url: url.replace("http://", "https://"),
    ),
    "an index without its shard": Broken("failed shards", junit="failed shards", arrange=without_shard),
}


@pytest.mark.parametrize("broken", SET_UPS.values(), ids=SET_UPS)
def test_a_broken_set_up_is_told_by_its_cause(
    broken: Broken,
    index: Callable[..., str],
    kept_index: Callable[..., str],
    call: Call,
    engine_url: str,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make = kept_index if broken.arrange is nothing else index
    made = make(DOCUMENTS if broken.documents else {}, mappings=MAPPINGS)
    searched = broken.arrange(call, made) or made
    try:
        told(broken, searched, broken.url(engine_url), pytester, monkeypatch, capsys)
    finally:
        if searched.endswith("-red"):
            call("DELETE", f"/{searched}")


def told(
    broken: Broken,
    searched: str,
    url: str,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command and pytest say it, and end alike."""
    one, two, three = broken.ids
    text = SUITE.format(
        index=searched,
        title=broken.title,
        request=broken.request,
        expect=broken.expect,
        least=broken.least,
        prefix=broken.prefix,
        one=one,
        two=two,
        three=three,
    )
    (pytester.path / "shop.relevance.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(
        "harness.search.server_health.Retries", partial(Retries, attempts=2, patience=1.0)
    )  # what is lost stays lost
    status = main(["run", "shop.relevance.yaml", "--url", url])
    printed = capsys.readouterr().out
    assert status == broken.status, printed
    assert broken.said in one_line("\n".join(printed.splitlines()[:20])), printed
    assert broken.below in one_line(printed), printed
    assert "Traceback" not in printed
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest("-p", "relevance", "--relevance-url", url, "--junit-xml=junit.xml", "-W", "error")
    found = [child for entry in entries(pytester.path / "junit.xml") for child in entry if child.tag in kinds(entry)]
    if broken.junit is None:
        assert (result.ret, found) == (pytest.ExitCode.OK, [])
        assert broken.said in one_line(result.stdout.str())
        return
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert {child.tag for child in found} <= {"failure", "error"}
    assert any(broken.junit in one_line(child.attrib["message"]) for child in found), [child.attrib for child in found]


def test_a_login_that_is_refused(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedEngine() as engine:
        body = (
            b'{"error": {"type": "security_exception", "reason": "missing authentication credentials"}, "status": 401}'
        )
        engine.faults.append(Fault("/", status=401, times=99, body=body))
        broken = Broken("the engine refuses the request (status 401: security_exception", junit="no login was sent")
        told(broken, "products", engine.url, pytester, monkeypatch, capsys)


def test_fields_of_any_kind_that_are_there_are_not_named(
    index: Callable[..., str],
    engine_url: str,
    call: Call,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Multi-fields, aliases, objects, parts of an open-ended field, runtime fields of request and mapping."""
    is_opensearch = call("GET", "/")["version"].get("distribution") == "opensearch"
    properties = {
        **MAPPINGS["properties"],
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "maker": {"type": "alias", "path": "brand"},
        "attributes": {"type": "flat_object" if is_opensearch else "flattened"},
        "offer": {"properties": {"seller": {"type": "keyword"}}},
    }
    wanted = ["title.raw", "maker", "attributes.color", "attributes.size.unit", "offer.seller", "_id"]
    mappings: dict[str, Any] = {"properties": properties}
    beside = ""
    if not is_opensearch:
        mappings["runtime"] = {"day": {"type": "keyword"}}
        wanted += ["day", "own"]
        beside = ", runtime_mappings: {own: {type: keyword}}"
    should = ", ".join(f"{{term: {{{name}: x}}}}" for name in wanted)
    made = index({**DOCUMENTS, "s3": {"attributes": {"color": "red"}}}, mappings=mappings)
    request = f"{{query: {{bool: {{must: [{MATCH}], should: [{should}]}}}}{beside}}}"
    text = SUITE.format(
        index=made, title="title", request=request, expect="", least=0.8, prefix="", one="s1", two="s2", three="b1"
    )
    (pytester.path / "shop.relevance.yaml").write_text(text, encoding="utf-8")
    assert main(["run", "shop.relevance.yaml", "--url", engine_url, "--json"]) == 0
    [suite] = loads_report(capsys.readouterr().out).suites
    assert suite.checks is not None
    assert (suite.checks.unknown_fields, suite.checks.untitled, suite.checks.problems) == ((), None, ())
    assert (suite.checks.documents, suite.checks.relevant, suite.checks.absent) == (5, 3, {})


def test_an_index_that_keeps_no_source_costs_its_titles_and_nothing_else(
    index: Callable[..., str], engine_url: str, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    made = index(DOCUMENTS, mappings={**MAPPINGS, "_source": {"enabled": False}})
    text = SUITE.format(
        index=made, title="title", request=REQUEST, expect="", least=0.8, prefix="", one="s1", two="s2", three="b1"
    )
    (pytester.path / "shop.relevance.yaml").write_text(text, encoding="utf-8")
    for words in ([], ["--json"]):
        assert main(["run", "shop.relevance.yaml", "--url", engine_url, *words]) == 0
        assert "titles were not looked up: " in one_line(capsys.readouterr().out)


NAMED = """\
suite: shop
target: {{{target}}}
request: {request}
thresholds: ["mean nDCG@10 >= 0"]
queries: [{{id: shoes, text: shoes, judgments: {{{judged}}}, expect: [{expect}]}}]
"""
TEMPLATE = '{template: {source: {query: {match: {title: "{{q}}"}}, size: "{{size}}"}, params: {q: "{{text}}"}}}'


@dataclass(frozen=True)
class Ids:
    """What is judged and expected in three documents with an id and a number of their own, two of one brand."""

    target: str
    judged: str
    expect: str
    said: str
    request: str = REQUEST


IDS = {
    "a field that several documents share": Ids(
        "index: {index}, id_field: brand, ids: unique",
        "alpha: 2",
        '"zeta not in top 10"',
        "zeta is not visible through",
        '{query: {match: {title: "{{text}}"}}, collapse: {field: brand}}',
    ),
    "an id that two indexes have": Ids(
        'index: "{index}-*"', "s1: 2", '"b1 not in top 10", "zeta not in top 10"', "zeta is not visible through"
    ),
    "a number in another form": Ids(
        "index: {index}, id_field: price", '"010": 3', "", "the only document judged relevant is not visible through"
    ),
    "a word in a field of numbers": Ids(
        "index: {index}, id_field: price", "10: 3", '"999 not in top 10", "zeta not in top 10"', "999 is not visible"
    ),
    "a number that the field cannot hold": Ids(
        "index: {index}, id_field: price", "10: 3", '"99999999999 not in top 10"', "99999999999 is not visible through"
    ),
    "words only in a field of numbers": Ids(
        "index: {index}, id_field: price", "zeta: 3, eta: 2", "", "none of the 2 documents judged relevant is visible"
    ),
    "a document that a template does not reach": Ids(
        "index: {index}", "s1: 3", '"zeta not in top 10"', "zeta is not visible through", TEMPLATE
    ),
    "a template on another index": Ids(
        "index: {index}", "p1: 3", "", "the only document judged relevant is not visible through", TEMPLATE
    ),
}


@pytest.mark.parametrize("named", IDS.values(), ids=IDS)
def test_an_id_that_no_hit_can_have_is_an_error_in_whatever_field_it_is(
    named: Ids,
    index: Callable[..., str],
    kept_index: Callable[..., str],
    call: Call,
    engine_url: str,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if named.request is TEMPLATE and call("GET", "/")["version"].get("distribution") != "opensearch":
        pytest.skip("this Elasticsearch has no module for search templates")
    make = index if "*" in named.target else kept_index
    made = make(DOCUMENTS, mappings=MAPPINGS)
    others = [f"{made}-1", f"{made}-2"] if "*" in named.target else []
    try:
        for other in others:
            call("PUT", f"/{other}/_doc/b1?refresh=true", DOCUMENTS["b1"])
        if others:
            call("PUT", f"/{others[0]}/_doc/s1?refresh=true", DOCUMENTS["s1"])
        target = named.target.replace("{index}", made)
        text = NAMED.format(target=target, request=named.request, judged=named.judged, expect=named.expect)
        (pytester.path / "shop.relevance.yaml").write_text(text, encoding="utf-8")
        assert main(["run", "shop.relevance.yaml", "--url", engine_url]) == 3
        assert named.said in one_line(capsys.readouterr().out)
    finally:
        for other in others:
            call("DELETE", f"/{other}")


def test_judged_documents_are_looked_up_in_an_index_that_returns_few_hits_at_once(
    index: Callable[..., str],
    engine_url: str,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With `max_result_window` below their number, the look-ups were refused, and `not in top` passed."""
    documents = {f"d{n}": {"title": "red shoes", "brand": f"d{n}"} for n in range(30)}
    made = index(documents, mappings=MAPPINGS, settings={"index.max_result_window": 20})
    judged = ", ".join(f"{one}: 1" for one in documents)
    text = NAMED.format(
        target=f"index: {made}, id_field: brand", request=REQUEST, judged=judged, expect='"zeta not in top 3"'
    )
    (pytester.path / "shop.relevance.yaml").write_text(text, encoding="utf-8")
    assert main(["run", "shop.relevance.yaml", "--url", engine_url]) == 3
    assert f"zeta is not visible through {made}" in one_line(capsys.readouterr().out)
