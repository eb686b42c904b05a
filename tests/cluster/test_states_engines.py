"""What changes on a real engine while a suite runs, between a kill and `--resume`, and between parts of a run."""

import json
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from builders.journaled import report_at
from harness.cli import main
from harness.run.watching import TargetWatch
from harness.search.engine import EngineSearch

QUERIES = 12
COLOURS = ("red", "blue", "green", "black")
MAPPINGS = {"properties": {"title": {"type": "text"}, "sku": {"type": "keyword"}, "stock": {"type": "long"}}}
MATCH = {"query": {"match": {"title": "{{text}}"}}}
SCRIPT = {"lang": "painless", "source": "doc['stock'].value"}
BY_SCRIPT = {"query": {"script_score": {"query": {"match": {"title": "{{text}}"}}, "script": {"id": "SCRIPT"}}}}
SECONDS_WITHOUT_REFRESH = {"refresh_interval": "-1"}


def write_suite(url, index, body, **target):
    """The suite `goods`, whose queries all pass on the documents of `goods`."""
    queries = [{"id": f"q{n}", "text": COLOURS[n % 4], "judgments": {f"d{n}": 1}} for n in range(QUERIES)]
    suite = {
        "suite": "goods",
        "target": {"cluster": url, "index": index, **target},
        "request": body,
        "measures": ["nDCG@5"],
        "thresholds": ["mean nDCG@5 >= 0.0"],
        "queries": queries,
    }
    Path("goods.relevance.yaml").write_text(json.dumps(suite), encoding="utf-8")


@pytest.fixture
def goods(tmp_path, monkeypatch, index, engine_url):
    """An index that is not refreshed by itself, and the suite `goods` that matches its titles."""
    monkeypatch.chdir(tmp_path)
    documents = {f"d{n}": {"title": f"{COLOURS[n % 4]} shoes", "sku": f"{n:02d}", "stock": n} for n in range(QUERIES)}
    name = index(documents, mappings=MAPPINGS, settings=SECONDS_WITHOUT_REFRESH)
    write_suite(engine_url, name, MATCH)
    return name


@pytest.fixture
def while_searching(monkeypatch):
    """Makes one change before the queries of the next run are sent, and another when they are answered."""

    def arrange(before, after):
        pending, stream = [before, after], EngineSearch.stream

        def stream_and_change(self, requests, **options):
            begin, end = [pending.pop(0), pending.pop(0)] if pending else [lambda: None] * 2
            begin()
            yield from stream(self, requests, **options)
            end()

        monkeypatch.setattr(EngineSearch, "stream", stream_and_change)
        monkeypatch.setattr(TargetWatch, "read_state_if_due", lambda self: None)

    return arrange


def run(*words):
    status = main(["run", "goods.relevance.yaml", "-q", *words, "--output", "json=r.json"])
    [suite] = report_at(Path("r.json"))["suites"]
    return status, suite


def run_while(while_searching, change):
    """The verdict and the remarks of a run during which *change* is made."""
    while_searching(lambda: None, change)
    _, suite = run()
    [verdict] = suite["verdicts"]
    return verdict, suite["notes"]


def assert_changed(while_searching, change, reason):
    verdict, _ = run_while(while_searching, change)
    assert verdict["status"] == "inconclusive"
    assert reason in verdict["reason"]


def assert_quiet(while_searching, change):
    verdict, notes = run_while(while_searching, change)
    assert (verdict["status"], verdict["reason"].partition(" ")[0]) == ("passed", "mean")
    assert not [note for note in notes if "could not be read" in note or "changed" in note]


# Writes that become visible.

REPLACED = {"title": "red red red boots", "sku": "99", "stock": 1}
BECAME_VISIBLE = "documents that were written before became visible to searches"


def replace_unseen(call, name, *, documents=("d0",)):
    """Replace *documents*, which searches do not see before a refresh."""
    for document in documents:
        call("PUT", f"/{name}/_doc/{document}", REPLACED)


def test_a_document_written_before_the_run_that_becomes_visible_is_seen(goods, call, while_searching):
    replace_unseen(call, goods)
    assert_changed(while_searching, lambda: call("POST", f"/{goods}/_refresh"), BECAME_VISIBLE)


def test_it_is_seen_where_the_engine_has_it_in_a_segment_already(goods, call, while_searching):
    """A look-up by id makes the engine write it to a segment that searches do not see."""
    replace_unseen(call, goods)
    call("GET", f"/{goods}/_doc/d0")
    assert_changed(while_searching, lambda: call("POST", f"/{goods}/_refresh"), BECAME_VISIBLE)


def test_it_is_seen_where_a_merge_drops_more_than_was_added(goods, call, while_searching):
    for _ in range(5):
        replace_unseen(call, goods, documents=[f"d{n}" for n in range(QUERIES)])
        call("POST", f"/{goods}/_refresh")
    replace_unseen(call, goods)

    def refresh_and_merge():
        call("POST", f"/{goods}/_refresh")
        call("POST", f"/{goods}/_forcemerge?max_num_segments=1")
        call("POST", f"/{goods}/_refresh")

    assert_changed(while_searching, refresh_and_merge, BECAME_VISIBLE)


def test_it_is_seen_in_any_shard(index, call, while_searching, engine_url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = {f"d{n}": {"title": f"{COLOURS[n % 4]} shoes"} for n in range(QUERIES)}
    name = index(documents, settings={**SECONDS_WITHOUT_REFRESH, "number_of_shards": 3})
    write_suite(engine_url, name, MATCH)
    for document in ("d0", "d1", "d2", "d3", "d4"):
        replace_unseen(call, name, documents=[document])
        assert_changed(while_searching, lambda: call("POST", f"/{name}/_refresh"), BECAME_VISIBLE)


def test_it_is_seen_behind_the_filter_of_an_alias(goods, call, while_searching, engine_url):
    add = {"index": goods, "alias": f"{goods}-few", "filter": {"range": {"stock": {"lt": 5}}}}
    call("POST", "/_aliases", {"actions": [{"add": add}]})
    write_suite(engine_url, f"{goods}-few", MATCH)
    call("PUT", f"/{goods}/_doc/d11", {"title": "boots", "stock": 11})
    assert_quiet(while_searching, lambda: call("POST", f"/{goods}/_refresh"))
    replace_unseen(call, goods)
    assert_changed(while_searching, lambda: call("POST", f"/{goods}/_refresh"), BECAME_VISIBLE)


def test_a_merge_and_a_refresh_of_nothing_are_no_change(goods, call, while_searching):
    for _ in range(3):
        replace_unseen(call, goods, documents=["d1", "d2", "d3"])
        call("POST", f"/{goods}/_refresh")

    def merge():
        call("POST", f"/{goods}/_forcemerge?max_num_segments=1")
        call("POST", f"/{goods}/_refresh")
        call("POST", f"/{goods}/_flush?force=true")
        call("POST", f"/{goods}/_cache/clear")

    assert_quiet(while_searching, merge)


def test_a_point_in_time_sees_no_refresh(goods, call, while_searching, engine_url):
    write_suite(engine_url, goods, MATCH, point_in_time=True)
    replace_unseen(call, goods)
    verdict, notes = run_while(while_searching, lambda: call("POST", f"/{goods}/_refresh"))
    if verdict["status"] == "error":
        pytest.skip("this engine has no point in time")
    assert verdict["status"] == "passed"
    assert not [note for note in notes if "could not be read" in note]


# Between parts of a run, and between a kill and `--resume`.


@pytest.fixture
def changes(goods, call, engine_url):
    """Changes by name, with the reason that a run gives, for a request that all of them concern."""
    call("PUT", f"/_scripts/{goods}", {"script": SCRIPT})
    body = json.loads(json.dumps(BY_SCRIPT).replace("SCRIPT", goods))
    write_suite(engine_url, goods, body)

    def refresh():
        call("POST", f"/{goods}/_refresh")

    def store_script():
        call("PUT", f"/_scripts/{goods}", {"script": {**SCRIPT, "source": "100 - doc['stock'].value"}})

    def change_similarity():
        call("POST", f"/{goods}/_close")
        call("PUT", f"/{goods}/_settings", {"index": {"similarity": {"default": {"type": "boolean"}}}})
        call("POST", f"/{goods}/_open")

    def map_title():
        call("PUT", f"/{goods}/_mapping", {"properties": {"title": {"type": "text", "search_analyzer": "keyword"}}})

    yield {
        "refresh": (refresh, BECAME_VISIBLE),
        "script": (store_script, f"the stored script {goods} changed"),
        "similarity": (change_similarity, f"the settings of {goods} changed (similarity)"),
        "mapping": (map_title, f"the mapping of {goods} changed (title)"),
    }
    call("DELETE", f"/_scripts/{goods}")


CHANGES = pytest.mark.parametrize("name", ["refresh", "script", "similarity", "mapping"])


@CHANGES
def test_what_changes_during_a_run_makes_it_inconclusive(goods, call, while_searching, changes, name):
    if name == "refresh":
        replace_unseen(call, goods)
    assert_changed(while_searching, *changes[name])


@CHANGES
def test_what_changes_before_a_run_goes_on_makes_it_start_anew(goods, call, changes, capsys, name):
    if name == "refresh":
        replace_unseen(call, goods)
    run("--journal", "j")
    content = Path("j").read_bytes()
    Path("j").write_bytes(content[: len(content) // 2])
    change, reason = changes[name]
    capsys.readouterr()
    run("--journal", "j", "--resume")
    assert "going on with an earlier run" in capsys.readouterr().err
    Path("j").write_bytes(content[: len(content) // 2])
    change()
    run("--journal", "j", "--resume")
    told = capsys.readouterr().err
    assert "starting anew" in told
    assert reason in told


@needs_extension("distributed")
@pytest.mark.one_engine
@CHANGES
def test_parts_between_which_something_changed_are_refused(goods, call, changes, capsys, name):
    if name == "refresh":
        replace_unseen(call, goods)
    change, reason = changes[name]
    for part in (1, 2):
        assert main(["run", "goods.relevance.yaml", "-q", "--shard", f"{part}/2", "--journal", f"{part}.j"]) == 0
    assert main(["merge", "1.j", "2.j", "-q"]) == 0
    change()
    assert main(["run", "goods.relevance.yaml", "-q", "--shard", "2/2", "--journal", "2.j"]) == 0
    capsys.readouterr()
    assert main(["merge", "1.j", "2.j", "-q"]) == 2
    assert reason in capsys.readouterr().err


def test_what_changes_no_ranking_is_no_change(goods, call, while_searching, changes):
    def change_storage():
        mapping = {"_meta": {"version": 2}, "properties": {"colour": {"type": "keyword"}, "sku": {"type": "keyword"}}}
        mapping["properties"]["sku"]["ignore_above"] = 20
        call("PUT", f"/{goods}/_mapping", mapping)
        call("PUT", f"/{goods}/_settings", {"index": {"number_of_replicas": 1, "refresh_interval": "7s"}})
        call("PUT", f"/_scripts/{goods}-other", {"script": SCRIPT})
        call("DELETE", f"/_scripts/{goods}-other")

    assert_quiet(while_searching, change_storage)


def test_a_runtime_field_that_a_request_names_is_compared(goods, call, while_searching, engine_url, search):
    if search.engine.kind != "elasticsearch":
        pytest.skip("runtime fields of a mapping are Elasticsearch's")

    def define(name, script):
        call("PUT", f"/{goods}/_mapping", {"runtime": {name: {"type": "long", "script": {"source": script}}}})

    define("boosting", "emit(1)")
    define("inner", "emit(1)")
    define("outer", "emit(doc['inner'].value)")
    write_suite(engine_url, goods, {**MATCH, "sort": [{"boosting": "desc"}, {"outer": "desc"}]})
    assert_quiet(while_searching, lambda: define("another", "emit(1)"))
    for name in ("boosting", "inner"):
        change = f"the mapping of {goods} changed ({name})"
        assert_changed(while_searching, lambda name=name: define(name, "emit(2)"), change)


def test_a_stored_template_and_a_search_pipeline_are_compared(goods, call, while_searching, engine_url, search):
    if search.engine.kind != "opensearch":
        pytest.skip("this Elasticsearch has no search templates")
    source = {"query": {"match": {"title": "{{q}}"}}}
    call("PUT", f"/_scripts/{goods}", {"script": {"lang": "mustache", "source": source}})
    write_suite(engine_url, goods, {"template": {"id": goods, "params": {"q": "{{text}}"}}})
    other = {"lang": "mustache", "source": {"query": {"match": {"title": "shoes {{q}}"}}}}
    place = f"the search template {goods} changed"
    assert_changed(while_searching, lambda: call("PUT", f"/_scripts/{goods}", {"script": other}), place)
    call("DELETE", f"/_scripts/{goods}")

    path = f"/_search/pipeline/{goods}"
    pipeline = {"response_processors": []}
    call("PUT", path, {"request_processors": []})
    call("PUT", f"/{goods}/_settings", {"index": {"search": {"default_pipeline": goods}}})
    write_suite(engine_url, goods, MATCH)
    place = f"the search pipeline {goods} changed"
    assert_changed(while_searching, lambda: call("PUT", path, pipeline), place)
    write_suite(engine_url, goods, {**MATCH, "search_pipeline": goods})
    assert_changed(while_searching, lambda: call("PUT", path, {"request_processors": []}), place)
    call("PUT", f"/{goods}/_settings", {"index": {"search": {"default_pipeline": "_none"}}})
    call("DELETE", path)


# An alias.


def test_an_alias_that_is_moved_and_back_between_two_looks_is_seen(goods, index, call, while_searching, engine_url):
    documents = {f"d{n}": {"title": f"{COLOURS[n % 4]} boots"} for n in range(QUERIES)}
    other, alias = index(documents), f"{goods}-live"

    def move(source, target):
        actions = [{"remove": {"index": source, "alias": alias}}, {"add": {"index": target, "alias": alias}}]
        call("POST", "/_aliases", {"actions": actions})

    call("POST", "/_aliases", {"actions": [{"add": {"index": goods, "alias": alias}}]})
    write_suite(engine_url, alias, MATCH)
    assert_quiet(while_searching, lambda: None)
    while_searching(lambda: move(goods, other), lambda: move(other, goods))
    [verdict] = run()[1]["verdicts"]
    assert verdict["status"] == "inconclusive"
    assert f"some hits are in {other}, for which it did not stand" in verdict["reason"]
