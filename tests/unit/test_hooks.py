"""Hooks of installed packages, for the command and for Python."""

import pytest

pytest.importorskip("numpy")

import json
import math
import os
from collections import Counter
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy

from harness.api import Relevance
from harness.cli import main
from harness.errors import UsageError
from harness.hooks import HOOK_ENTRY_POINTS, load_installed_hooks
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking
from harness.model.suite import Query
from harness.search.protocol import StreamedResponse

SUITE = """\
suite: shop
target: {index: products}
request:
  query: {match: {title: "{{text}}"}}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= 0.9"]
queries:
  - {id: shoes, text: red shoes, judgments: {e: 1}}
"""


def rubber_boots(request, query):
    request.body["query"]["match"]["title"] = "rubber boots" if query.id == "shoes" else None


@pytest.fixture
def shop(working_folder, engine):
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    return engine


@pytest.fixture
def install(monkeypatch):
    """Has an installed package name what is given, or raise it, for the entry point group."""

    def offered(plugin):
        def load(_):
            if isinstance(plugin, BaseException):
                raise plugin
            return plugin

        entry_points = (EntryPoint("acme", "acme.search", HOOK_ENTRY_POINTS),)
        monkeypatch.setattr(EntryPoint, "load", load)
        monkeypatch.setattr("harness.hooks.find_hook_entry_points", lambda: entry_points)

    load_installed_hooks.cache_clear()
    yield offered
    load_installed_hooks.cache_clear()


def test_the_command_and_python_use_them(shop, install, capsys):
    install(SimpleNamespace(pytest_relevance_request=rubber_boots))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 0
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert suite["queries"][0]["sent"]["body"]["query"] == {"match": {"title": "rubber boots"}}
    assert suite["notes"][0].startswith("hooks: pytest_relevance_request (")
    with Relevance() as relevance:
        assert relevance.run("shop.relevance.yaml", url=shop.url).mean("nDCG@10") == 1
    assert shop.asked == {"rubber boots": 2}


def test_the_request_that_is_shown_is_the_one_that_is_sent(shop, install, capsys):
    install(SimpleNamespace(pytest_relevance_request=rubber_boots))
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", shop.url, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["sent"]["body"]
    assert shown["query"] == {"match": {"title": "rubber boots"}}
    assert shown["size"] == 10


def test_a_request_that_a_hook_changed_is_asked_for_again_as_such(shop, install, capsys):
    install(SimpleNamespace(pytest_relevance_request=rubber_boots))
    Path("shop.relevance.yaml").write_text(SUITE.replace("{e: 1}", "{a: 1}"), encoding="utf-8")
    bodies = []
    answer = shop.search
    shop.search = lambda body, index: bodies.append(body) or answer(body, index)
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 1
    texts = {json.dumps(body["query"]) for body in bodies if "match" in body["query"]}
    assert texts == {json.dumps({"match": {"title": "rubber boots"}})}
    assert {body["size"] for body in bodies} >= {10, 1000}


def test_a_hook_may_route_a_request(shop, install):
    install(SimpleNamespace(pytest_relevance_request=lambda request: replace(request, url_params={"routing": "north"})))
    headers = []
    answer = shop.search_all
    shop.search_all = lambda lines, index: headers.extend(map(json.loads, lines[::2])) or answer(lines, index)
    main(["run", "shop.relevance.yaml", "--url", shop.url])
    assert {header.get("routing") for header in headers} == {"north", None}  # look-ups by id are not routed


def test_a_hook_that_fails_ends_with_3_and_a_sentence(shop, install, capsys):
    def fails(request):
        raise KeyError("tenant")

    install(SimpleNamespace(pytest_relevance_request=fails))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 3
    printed = capsys.readouterr()
    sentences = " ".join(printed.out.split())
    assert "failed in line" in sentences
    assert "KeyError: 'tenant'" in sentences
    assert "Traceback" not in printed.out + printed.err


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"size": 3}, "set the size to 3, where 10 hits are requested, for query 'shoes'"),
        ({"size": "3"}, "set the size to 3, where 10 hits are requested, for query 'shoes'"),
        ({"size": 3.0}, "set the size to 3.0, where 10 hits are requested, for query 'shoes'"),
        ({"from": 5}, "set `from`, which skips hits, for query 'shoes'"),
    ],
)
def test_a_hook_that_hides_the_best_hits_is_an_error(shop, install, capsys, changed, said):
    """`not in top` would pass for hits that nobody requested."""
    install(SimpleNamespace(pytest_relevance_request=lambda request: request.body.update(changed)))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 3
    assert said in " ".join(capsys.readouterr().out.split())


TWO = SUITE + "  - {id: boots, text: rubber boots, judgments: {d: 1}}\n"


def fails_for_boots(query):
    if query.id == "boots":
        raise KeyError("tenant")


@pytest.mark.parametrize("name", ["request", "response"])
def test_a_hook_that_fails_for_one_query_leaves_the_others_their_answers(shop, install, capsys, name):
    plugin = SimpleNamespace()
    setattr(plugin, f"pytest_relevance_{name}", fails_for_boots)
    install(plugin)
    Path("shop.relevance.yaml").write_text(TWO, encoding="utf-8")
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 3
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    queries = {query["id"]: query for query in suite["queries"]}
    assert [hit["id"] for hit in queries["shoes"]["ranking"]] == ["a", "b", "c"]
    assert f"engine error: the hook pytest_relevance_{name} (" in queries["boots"]["reason"]
    assert queries["boots"]["reason"].endswith("KeyError: 'tenant'")
    assert ("rubber boots" in shop.asked) == (name == "response")


@pytest.mark.parametrize("name", ["request", "response"])
@pytest.mark.parametrize("error", [SystemExit(0), pytest.skip.Exception("no"), pytest.exit.Exception("no")], ids=repr)
def test_what_a_hook_raises_does_not_end_the_command(shop, install, capsys, name, error):
    def fails(query):
        raise error

    install(SimpleNamespace(**{f"pytest_relevance_{name}": fails}))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 3
    assert f"line {fails.__code__.co_firstlineno + 1}: {type(error).__name__}: {error}" in " ".join(
        capsys.readouterr().out.split()
    )


def test_ctrl_c_in_a_hook_ends_the_command(shop, install):
    def fails(query):
        raise KeyboardInterrupt

    install(SimpleNamespace(pytest_relevance_request=fails))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 130


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hits": (Hit("a", math.nan),)}, "`hits[0].score` is nan, expected a finite number or None"),
        ({"hits": (Hit("a", 10**400),)}, "`hits[0].score` is 1000"),
        ({"hits": (Hit("a", True),)}, "`hits[0].score` is True"),
        ({"hits": (Hit("a"), Hit(5))}, "`hits[1].id` is 5, expected a text"),
        ({"hits": (Hit(""),)}, "`hits[0].id` is '', expected a text"),
        ({"hits": ("a", "b")}, "`hits[0]` is a value of type str, expected a Hit"),
        ({"hits": (Hit("a", title=5),)}, "`hits[0].title` is a value of type int, expected a text or None"),
        ({"hits": (Hit("a", snippet=["x"]),)}, "`hits[0].snippet` is a value of type list, expected a text or None"),
        ({"hits": (Hit("a", texts="x"),)}, "`hits[0].texts` is a value of type str, expected a mapping or None"),
        (
            {"hits": (Hit("a", texts={"name": b"x"}),)},
            "`hits[0].texts['name']` is a value of type bytes, expected a text by the name of a field",
        ),
        ({"tail": (Hit("a", title=5),)}, "`tail[0].title` is a value of type int"),
        ({"duplicates": None}, "`duplicates` is None, expected a tuple of texts"),
        ({"hits": None}, "`hits` is a value of type NoneType, expected a tuple"),
        ({"total": -3}, "`total` is -3, expected a whole number from 0 on or None"),
        ({"total": 1.5}, "`total` is 1.5"),
        ({"took": math.nan}, "`took` is nan"),
        ({"took": -1}, "`took` is -1, expected a number from 0 on or None"),
    ],
    ids=str,
)
def test_a_ranking_that_a_hook_returns_is_checked(shop, install, capsys, change, words):
    install(SimpleNamespace(pytest_relevance_response=lambda response: replace(response, **change)))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 3
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert f"returned a Ranking whose {words}" in suite["queries"][0]["reason"]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Failure(FailureKind.ERROR, KeyError("tenant")), "`reason` is a value of type KeyError, expected a text"),
        (Failure("gone", "x"), "`kind` is a value of type str, expected a FailureKind"),
    ],
    ids=str,
)
def test_a_failure_that_a_hook_returns_is_checked(shop, install, capsys, failure, words):
    install(SimpleNamespace(pytest_relevance_response=lambda: failure))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 3
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert f"returned a Failure whose {words}" in suite["queries"][0]["reason"]


def test_texts_that_a_hook_gives_in_a_mapping_of_its_own_are_kept(shop, install, capsys):
    texts = MappingProxyType({"name": "Red shoes"})  # cannot be pickled
    install(SimpleNamespace(pytest_relevance_response=lambda: Ranking((Hit("e", 2.5, "Red", texts=texts),))))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 0
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert [hit["title"] for hit in suite["queries"][0]["ranking"]] == ["Red"]


def test_the_hits_of_a_hook_are_kept_as_those_of_an_engine(shop, install, capsys):
    suite_file = Path("shop.relevance.yaml")
    suite_file.write_text(suite_file.read_text().replace("index: ", "ids: unique, index: ", 1))
    hits = [Hit("e", numpy.float32(2.5)), Hit("a", 2), Hit("e", 1.0)]
    install(
        SimpleNamespace(pytest_relevance_response=lambda response: replace(response, hits=hits, total=numpy.int64(3)))
    )
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 0
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert [(hit["id"], hit["score"]) for hit in suite["queries"][0]["ranking"]] == [("e", 2.5), ("a", 2.0)]
    assert "documents returned twice are counted once: shoes" in suite["notes"]


def test_a_hook_that_repeats_a_document_is_an_error_as_of_an_engine(shop, install, capsys):
    hits = [Hit("e", 2.5), Hit("a", 2), Hit("e", 1.0)]
    install(SimpleNamespace(pytest_relevance_response=lambda response: replace(response, hits=hits)))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 3
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert '"e" is at rank 1 and at rank 3' in suite["queries"][0]["reason"]


@pytest.mark.parametrize(
    ("documents", "sort"),
    [
        ("abc", [(1,), (1,), (2,)]),
        ("ac", [(1,), (2,)]),
        ("bac", [(), (), ()]),
        ("abx", [(), (), ()]),
        ("xyz", [(), (), ()]),
    ],
    ids=["as they were", "without one", "in another order", "with another one", "others"],
)
def test_sort_values_do_not_outlive_the_order_they_gave(install, documents, sort):
    """Hits that a hook builds anew have none of their own."""
    hits = Hit("a", 1.0, sort=(1,)), Hit("b", 1.0, sort=(1,)), Hit("c", 1.0, sort=(2,))
    chosen = tuple(Hit(document, 1.0) for document in documents)
    install(SimpleNamespace(pytest_relevance_response=lambda response: replace(response, hits=chosen)))
    request = SearchRequest("q", None, {}, built_for=Query("q", "q"))
    found = load_installed_hooks().change_response(Ranking(hits), request)
    assert [hit.sort for hit in found.hits] == sort


NEAR = 2.0000001


@pytest.mark.parametrize(
    ("given", "exact", "sort"),
    [
        ([("a", NEAR), ("b", 2.0), ("c", 1.0)], False, None),
        ([("a", NEAR), ("c", 1.0)], False, None),
        ([("b", 2.0), ("a", NEAR), ("c", 1.0)], False, ()),
        ([("a", 2.0), ("b", 2.0), ("c", 1.0)], True, None),
        ([("b", 2**60 + 1), ("a", 2**60)], True, None),
        ([("x", 2.0), ("a", NEAR)], True, None),
    ],
    ids=["as they were", "without one", "in another order", "another score", "all reranked", "with another one"],
)
def test_scores_that_a_hook_changed_are_exact_and_an_order_of_its_own_ties_nothing(install, given, exact, sort):
    hits = tuple(Hit(document, score) for document, score in given)
    install(SimpleNamespace(pytest_relevance_response=lambda: Ranking(hits)))
    request = SearchRequest("q", None, {}, built_for=Query("q", "q"))
    of_engine = Ranking((Hit("a", NEAR), Hit("b", 2.0), Hit("c", 1.0)))
    found = load_installed_hooks().change_response(of_engine, request)
    assert found.exact_scores is exact
    assert [(hit.id, hit.score, hit.sort) for hit in found.hits] == [(*pair, sort) for pair in given]


def test_a_ranking_that_a_hook_puts_in_the_place_of_a_failure_has_exact_scores(install):
    install(SimpleNamespace(pytest_relevance_response=lambda: Ranking((Hit("a", numpy.int64(2**60 + 1)),))))
    request = SearchRequest("q", None, {}, built_for=Query("q", "q"))
    found = load_installed_hooks().change_response(Failure(FailureKind.TIMEOUT, "late"), request)
    assert found == Ranking((Hit("a", 2**60 + 1),), exact_scores=True)
    assert type(found.hits[0].score) is int


def test_the_queries_that_are_sent_again_keep_their_places_beside_one_whose_hook_fails(install):
    def stream(requests, budget=None):
        for place, request in reversed(list(enumerate(requests))):
            yield StreamedResponse(place, request, Ranking(), "timeout" if place == 1 else "")

    install(SimpleNamespace(pytest_relevance_request=fails_for_boots))
    hooked = load_installed_hooks().wrap(SimpleNamespace(stream=stream, service="engine", engine=None))
    queries = [Query("shoes", "shoes", {}), Query("boots", "boots", {}), Query("hats", "hats", {})]
    requests = [SearchRequest(query.id, "products", {}, built_for=query) for query in queries]
    found = {one.position: (type(one.response), one.resent) for one in hooked.stream(requests)}
    assert found == {0: (Ranking, ""), 1: (Failure, ""), 2: (Ranking, "timeout")}


def test_a_login_in_the_text_of_a_hook_s_error_is_masked(shop, install, capsys, monkeypatch):
    def fails(request):
        raise RuntimeError(f"no tenant for {os.environ['TENANT_TOKEN']} in {os.environ['PWD']}, user: true")

    monkeypatch.setenv("TENANT_TOKEN", "s3cr3t-of-acme")
    monkeypatch.setenv("PWD", "/srv/shop")
    monkeypatch.setenv("USE_AUTH", "true")
    install(SimpleNamespace(pytest_relevance_request=fails))
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, "--json"]) == 3
    printed = capsys.readouterr()
    assert "RuntimeError: no tenant for ${TENANT_TOKEN} in /srv/shop, user: true" in printed.out
    assert "s3cr3t" not in printed.out + printed.err


def test_a_login_that_a_hook_puts_into_a_request_is_masked_in_reports(shop, install, capsys, monkeypatch):
    def in_tenant(request):
        request.body["ext"] = {"tenant": secret}

    secret = "s3cr3t-of-acme"
    monkeypatch.setenv("TENANT_TOKEN", secret)
    install(SimpleNamespace(pytest_relevance_request=in_tenant))
    for command in (["run", "shop.relevance.yaml"], ["show", "shop.relevance.yaml", "shoes"]):
        main([*command, "--url", shop.url, "--json"])
        printed = capsys.readouterr().out
        assert '"tenant":"${TENANT_TOKEN}"' in printed.replace(" ", "")
        assert secret not in printed


@pytest.mark.parametrize("command", [["run"], ["show", "shoes"]])
def test_the_request_hook_is_called_once_for_each_search_of_a_query(shop, install, capsys, command):
    def numbered(request, query):
        calls[query.id] += 1
        request.body["ext"] = {"call": calls[query.id]}

    calls = Counter()
    install(SimpleNamespace(pytest_relevance_request=numbered))
    Path("shop.relevance.yaml").write_text(TWO.replace("e: 1", "a: 1").replace("d: 1", "e: 1"), encoding="utf-8")
    name, *query = command
    assert main([name, "shop.relevance.yaml", *query, "--url", shop.url, "--json"]) == 0
    assert calls == ({"shoes": 1} if query else {"shoes": 1, "boots": 1})
    printed = json.loads(capsys.readouterr().out)
    sent = [printed["sent"]] if query else [one["sent"] for one in printed["suites"][0]["queries"]]
    assert [one["body"]["ext"] for one in sent] == [{"call": 1}] * len(calls)


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (ImportError("no module named acme"), "cannot be loaded: ImportError: no module named acme"),
        (RuntimeError("not s3cr3t-of-acme"), "cannot be loaded: RuntimeError: not ${TENANT_TOKEN}"),
        (SimpleNamespace(), "has no hook, expected functions pytest_relevance_client, pytest_relevance_request or"),
        (SimpleNamespace(pytest_relevance_clint=lambda cluster: None), "has a wrong hook: unknown hook"),
        (SimpleNamespace(pytest_relevance_client=lambda clutser: None), "has a wrong hook: Argument(s) {'clutser'}"),
    ],
)
def test_a_wrong_entry_point_is_told_before_anything_is_sent(shop, install, capsys, monkeypatch, plugin, said):
    monkeypatch.setenv("TENANT_TOKEN", "s3cr3t-of-acme")
    install(plugin)
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 2
    assert f"entry point acme of {HOOK_ENTRY_POINTS} (acme.search) {said}" in capsys.readouterr().err
    with Relevance() as relevance, pytest.raises(UsageError, match="entry point acme"):
        relevance.run("shop.relevance.yaml", url=shop.url)
    assert not shop.sent


def test_suites_on_one_target_check_it_once_with_hooks_too(shop, install, capsys):
    install(SimpleNamespace(pytest_relevance_request=rubber_boots))
    Path("store.relevance.yaml").write_text(SUITE.replace("suite: shop", "suite: store"), encoding="utf-8")
    bodies = []
    answer = shop.search
    shop.search = lambda body, index: bodies.append(body) or answer(body, index)
    assert main(["run", ".", "--url", shop.url]) == 0
    assert sum("match_all" in body["query"] for body in bodies) == 1


def test_why_a_document_is_missing_is_asked_of_the_request_that_the_hook_left(shop, install, capsys):
    def in_blue(request):
        match = request.body["query"]["match"]
        assert match["title"] == "red shoes", "the hook has had this request"
        match["title"] = "blue shoes"

    install(SimpleNamespace(pytest_relevance_request=in_blue))
    shop.rankings["blue shoes"] = ["b", "c"]
    Path("shop.relevance.yaml").write_text(SUITE.replace("{e: 1}", "{b: 1, a: 3}"), encoding="utf-8")
    bodies = []
    answer = shop.search
    shop.search = lambda body, index: bodies.append(body) or answer(body, index)
    assert main(["run", "shop.relevance.yaml", "--url", shop.url]) == 1
    assert "the ranks of missing documents are unknown" not in capsys.readouterr().out
    filtered = [body for body in bodies if "post_filter" in body]
    assert [body["query"]["match"]["title"] for body in filtered] == ["blue shoes"]


def test_the_fields_that_are_checked_are_those_of_the_request_that_a_hook_left(shop, install, capsys):
    def other_field(request):
        request.body["collapse"] = {"field": "titel"}

    install(SimpleNamespace(pytest_relevance_request=other_field))
    shop.unmapped = {"titel"}
    main(["run", "shop.relevance.yaml", "--url", shop.url])
    assert "the request names the field titel, which no searched index has" in capsys.readouterr().out
