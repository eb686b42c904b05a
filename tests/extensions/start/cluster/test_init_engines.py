"""``relevance init`` writes a suite from a live index that validates and runs, on each engine."""

import uuid
from pathlib import Path

import pytest
import yaml

from harness.cli import main
from harness.search import index_sample
from harness.search.server_health import Retries
from harness.suites import load_suite

MAPPINGS = {
    "properties": {
        "sku": {"type": "keyword"},
        "brand": {"type": "keyword", "fields": {"words": {"type": "text"}}},
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}, "plain": {"type": "text"}}},
        "maker": {"properties": {"name": {"type": "text"}}},
        "body": {"type": "text"},
        "image_url": {"type": "text"},
        "never": {"type": "text"},
        "hidden": {"type": "text", "index": False},
        "parts": {"type": "nested", "properties": {"label": {"type": "text"}}},
        "price": {"type": "float"},
    }
}
LONG = "light shoes with a soft sole for road and track in all weathers"
DOCUMENTS = {
    name: {
        "sku": f"s-{name}",
        "brand": "Nix",
        "title": f"Red shoes {name}",
        "maker": {"name": "A B"},
        "body": LONG,
        "image_url": "http://x/1.png",
        "hidden": "x",
        "parts": [{"label": "sole"}],
        "price": 1.5,
    }
    for name in ("a", "b", "c")
}


@pytest.fixture
def init(engine_url, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = main(["init", *words, "--url", engine_url])
        told = capsys.readouterr()
        return status, told

    return run


def written(name):
    path = Path(f"{name}.relevance.yaml")
    return path, yaml.safe_load(path.read_text())


def test_suite_searches_text_fields(kept_index, init, engine_url, capsys):
    """The suite searches the fields with text, and runs."""
    name = kept_index(DOCUMENTS, mappings=MAPPINGS)
    Path("queries.txt").write_text("red shoes\n\n42 inch soles\nred  shoes\n")
    status, told = init("--index", name, "--queries", "queries.txt")
    assert status == 0
    assert "queries.txt:4:1: a query that is there twice" in told.err
    path, suite = written(name)
    multi_match = suite["request"]["query"]["multi_match"]
    assert multi_match["fields"] == ["title^3", "body", "brand.words^2", "maker.name^2"]
    assert suite["request"]["sort"] == ["_score", {"sku": "asc"}]
    assert (suite["display"], suite["target"]) == ({"title": "title"}, {"cluster": engine_url, "index": name})
    assert [query["text"] for query in suite["queries"]] == ["red shoes", "42 inch soles"]
    text = path.read_text()
    assert "# Not searched, as empty in the 3 documents that were looked at: never." in text
    assert "# Not searched, as ids, addresses and the like by their names: image_url." in text
    assert main(["validate", str(path)]) == 0
    assert main(["run", str(path)]) == 0
    assert main(["judgments", "pool", str(path), "-q", "--output", "csv=judged.csv"]) == 0
    assert "red-shoes,a,,red shoes,Red shoes a," in Path("judged.csv").read_text()
    capsys.readouterr()
    assert init("--index", name, "--queries", "queries.txt")[0] == 2  # nothing is replaced


def test_a_suite_with_judged_queries_has_measures(kept_index, init):
    name = kept_index(DOCUMENTS, mappings=MAPPINGS)
    Path("judged.csv").write_text("query,document,grade\nred shoes,a,2\n")
    assert init("--index", name, "--queries", "judged.csv")[0] == 0
    path, suite = written(name)
    assert suite["measures"] == ["nDCG@10"]
    assert load_suite(path, {}).queries[0].judgments == {"a": 2}
    assert main(["run", str(path)]) == 0


@pytest.mark.parametrize(
    ("file", "content", "queries"),
    [
        ("q.csv", "query\nred shoes\n'=1+1\n", {"red-shoes": "red shoes", "1-1-c69e930d": "=1+1"}),
        ("q.jsonl", '{"id": "q1", "text": "red shoes", "tags": ["head"]}\n', {"q1": "red shoes"}),
        ("topics.txt", "301\tred shoes\n302\ttents\n", {"301": "red shoes", "302": "tents"}),
        ("topics.txt", "1:red shoes\n2: tents\n", {"1": "red shoes", "2": "tents"}),
        ("plain", "size: large\n42 inch\n", {"size-large-af5ba7a7": "size: large", "42-inch": "42 inch"}),
        ("topics.xml", "<top>\n<num> Number: 7\n<title> red shoes\n</top>\n", {"7": "red shoes"}),
    ],
)
@pytest.mark.one_engine
def test_queries_of_each_form(kept_index, init, file, content, queries):
    name = kept_index(DOCUMENTS, mappings=MAPPINGS)
    Path(file).write_text(content)
    assert init("--index", name, "--queries", file)[0] == 0
    assert {
        query.id: query.text for query in load_suite(written(name)[0], {}, needs_judgments=False).queries
    } == queries


def test_without_a_file_titles_stand_in_for_queries(kept_index, init):
    name = kept_index(DOCUMENTS, mappings=MAPPINGS)
    assert init("--index", name)[0] == 0
    path, suite = written(name)
    assert {query["text"] for query in suite["queries"]} == {"Red shoes a", "Red shoes b", "Red shoes c"}
    assert "# TODO: the title of document a; replace it by what your users type." in path.read_text()
    assert main(["run", str(path)]) == 0


def test_alias_over_two_indexes(index, init, call):
    """An alias over two indexes, with a field that tells no documents apart."""
    first = index(DOCUMENTS, mappings=MAPPINGS)
    second = index({"d": {"title": "Tent"}})
    alias = f"relevance-test-{uuid.uuid4().hex[:8]}"
    actions = [{"add": {"index": one, "alias": alias}} for one in (first, second)]
    call("POST", "/_aliases", {"actions": actions})
    assert init("--index", alias)[0] == 0
    path, suite = written(alias)
    assert "sort" not in suite["request"]
    assert "# No field tells documents apart" in path.read_text()
    assert main(["run", str(path)]) == 0


def test_small_window(index, init):
    """An index with a small window is looked at as far as that."""
    name = index(DOCUMENTS, mappings=MAPPINGS, settings={"max_result_window": 2})
    assert init("--index", name)[0] == 0
    _, suite = written(name)
    assert len(suite["queries"]) == 2
    assert suite["request"]["sort"] == ["_score", {"sku": "asc"}]


@pytest.mark.parametrize(
    ("documents", "source", "why"),
    [
        (DOCUMENTS, False, "its documents show no values of their fields, as in an index without `_source`"),
        ({}, True, "the index shows no documents"),
    ],
)
def test_what_no_document_shows_is_told_as_that(index, init, call, documents, source, why):
    name = index(documents, mappings={**MAPPINGS, "_source": {"enabled": source}})
    if documents and call("GET", "/")["version"].get("distribution") == "opensearch":
        why = (
            "the documents of the index cannot be read: status 400: illegal_argument_exception: Unable to retrieve the "
            f"requested [fields] since _source is disabled in the mappings for index [{name}]"
        )
    status, told = init("--index", name)
    begin = f"relevance: no queries can be made from documents of index {name!r}: {why}; "
    assert (status, told.err) == (2, f"{begin}give queries with --queries FILE\n")
    Path("queries.txt").write_text("red shoes\n")
    status, told = init("--index", name, "--queries", "queries.txt")
    assert status == 0
    assert f"note: {why}; the request is made from the names and types of the fields alone\n" in told.err
    text = written(name)[0].read_text()
    assert f"sku may tell them apart, which was not seen: {why}.\n" in text
    assert "No field tells documents apart" not in text


def test_a_refused_look_at_documents_is_told(kept_index, init, monkeypatch):
    name = kept_index(DOCUMENTS, mappings=MAPPINGS)
    monkeypatch.setattr(index_sample, "SAMPLED", -1)
    status, told = init("--index", name)
    assert status == 2
    assert f"from documents of index {name!r}: the documents of the index cannot be read: status 400: " in told.err


def test_a_closed_index_is_told_as_that(index, init, call):
    name = index(DOCUMENTS, mappings=MAPPINGS)
    call("POST", f"/{name}/_close")
    status, told = init("--index", name)
    assert (status, told.err) == (
        3,
        f"relevance: --index {name}: the index is closed; open it, or name another index\n",
    )


def test_index_without_shards(init, call, monkeypatch):
    """An index without its shards is told as that, and no other name is suggested."""
    monkeypatch.setattr(Retries, "draw_pause", lambda *_: 0.0)
    name = f"relevance-test-{uuid.uuid4().hex[:12]}"
    settings = {"number_of_replicas": 0, "index.routing.allocation.require._name": "nowhere"}
    call("PUT", f"/{name}?wait_for_active_shards=0", {"settings": settings, "mappings": MAPPINGS})
    try:
        status, told = init("--index", name)
    finally:
        call("DELETE", f"/{name}")
    assert status == 3
    assert told.err.startswith(f"relevance: --index {name}: a shard of the index is not available (status 503: ")
    assert told.err.endswith("; wait until `GET /_cat/shards` shows all as started, or name another index\n")


def test_indexes_listed(index, init):
    """Indexes are listed, and what is not there is told."""
    name = index({"a": {"price": 3}})
    status, told = init()
    assert (status, f"{name}  (index)" in told.out) == (0, True)
    status, told = init("--index", f"{name}x")
    assert status == 3
    assert f"did you mean {name!r}?" in told.err
    status, told = init("--index", name)
    assert status == 2
    assert f"index {name!r} has no field with text to search; its fields are price" in told.err
