"""Whatever a file of another system holds: it becomes a suite that can be read, or an error with its place."""

import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.errors import SuiteError
from harness.suites import load_suite

SAMPLES = {
    "rank_eval": {
        "templates": [{"id": "t", "template": {"source": {"query": {"match": {"title": "{{q}}"}}}}}],
        "requests": [
            {
                "id": "a",
                "request": {"query": {"match": {"title": "tent"}}, "size": 3},
                "ratings": [{"_index": "i", "_id": "d", "rating": 1}],
                "summary_fields": ["title"],
            },
            {"id": "b", "template_id": "t", "params": {"q": "rope"}, "ratings": []},
        ],
        "metric": {"dcg": {"k": 5, "normalize": True, "unknown_doc_rating": 1}},
    },
    "quepid": {
        "case_name": "Shop",
        "scorer": {"name": "P@10", "scale": [0, 3]},
        "queries": [
            {"query_text": "a", "options": {"n": 1}, "notes": "x", "ratings": [{"doc_id": "d", "rating": 1}]},
            {"query": "b", "ratings": {"d": 2}},
        ],
        "try": {
            "query_params": '{"query": {"match": {"t": "#$query##", "n": #$qOption.n##}}}',
            "field_spec": "id:_id, title:t",
            "number_of_rows": 20,
            "escape_query": True,
            "curator_variables": [{"name": "v", "value": 1}],
            "search_endpoint": {"endpoint_url": "http://localhost:9200/shop/_search", "search_engine": "es"},
        },
    },
    "rre": {
        "index": "i",
        "id_field": "_id",
        "topics": [
            {
                "name": "t",
                "query_groups": [
                    {
                        "name": "g",
                        "queries": [{"template": "t.json", "placeholders": {"$query": "a", "$n": 1}}],
                        "relevant_documents": {"3": ["d"], "1": ["e"]},
                    }
                ],
            }
        ],
    },
    "opensearch-srw": [
        {"querySetQueries": [{"queryText": "a", "referenceAnswer": "b"}]},
        {
            "hits": {
                "hits": [{"_source": {"judgmentRatings": [{"query": "a", "ratings": [{"docId": "d", "rating": "1"}]}]}}]
            }
        },
        {"name": "c", "index": "i", "query": '{"query": {"match": {"t": "%SearchText%"}}}', "searchPipeline": "p"},
    ],
    "jsonl": {"id": "q", "text": "a", "tags": ["t"], "weight": 2, "params": {"x": 1}, "judgments": {"d": 1}},
}
LEAVES = st.sampled_from(
    [None, True, 0, -1, 2.5, "", " ", "tent", "3", "#$query##", "{{x}}", "a\nb", "\x1b", [], {}, [1], {"a": "${B}"}]
)


def places(value, path=()):
    """The path of every value in *value*."""
    yield path
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(child, (*path, key))


def changed(value, path, other):
    """*value* with *other* at *path*; without what is there where it is ..."""
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and other is ...:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(value[path[0]], path[1:], None if other is ... else other)
    return copy


LINES = st.lists(
    st.text(st.sampled_from("01aQ tent<top>num:/\t,;\"'=+-@\0\u2028é\x1b{}[]"), max_size=20)
    | st.sampled_from(
        ["query,docid,rating", "tent,d1,3", "1 0 d 2", "1 Q0 d 1 2.5 t", "<top>", "</top>", "<num> 1", "id,text"]
    ),
    max_size=8,
)


def check(kind, path, folder, capsys):
    """Imports *path*; what is written has no problem but what is to be filled in, or its problems are told."""
    suite = folder / "out" / "moved.relevance.yaml"
    status = main(["import", kind, str(path), "--output", str(suite.parent), "--name", "moved"])
    said = capsys.readouterr().err
    assert status in (0, 2), said
    assert "internal error" not in said
    refused = "relevance validate refuses what was written" in said
    if status == 2 and not refused:
        assert said.startswith((str(path), "relevance: ")), said
        assert not suite.parent.exists()
        return
    assert (status == 2) == refused
    for written in suite.parent.glob("*.relevance.yaml"):
        codes = set()
        try:
            load_suite(written, {}, needs_judgments=False)
        except SuiteError as error:
            codes = {problem.code for problem in error.problems}
        assert refused or codes <= {"no-value", "no-text"}
        assert isinstance(yaml.safe_load(written.read_text(encoding="utf-8")), dict)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_sample_with_something_wrong_in_it(tmp_path_factory, capsys, kind, data):
    folder = tmp_path_factory.mktemp("any")
    (folder / "t.json").write_text('{"query": {"match": {"t": "$query", "n": $n}}}')
    value = SAMPLES[kind]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(value))))
        value = changed(value, path, data.draw(LEAVES | (st.just(...) if path else st.nothing())))
    path = folder / ("a.jsonl" if kind == "jsonl" else "a.json")
    path.write_text(json.dumps(value) + "\n")
    check(kind, path, folder, capsys)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES)
@pytest.mark.parametrize(
    ("kind", "name"),
    [("quepid", "a.csv"), ("quepid", "a.txt"), ("trec", "a"), ("csv", "a.csv"), ("opensearch-srw", "a.csv")],
)
def test_any_lines(tmp_path_factory, capsys, kind, name, lines):
    folder = tmp_path_factory.mktemp("any")
    (folder / name).write_text("\n".join(lines))
    check(kind, folder / name, folder, capsys)
