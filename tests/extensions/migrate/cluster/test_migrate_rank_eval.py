"""A suite that was moved from `_rank_eval` gives the number that the engine's own `_rank_eval` gives."""

import json
import random
import uuid

import pytest

from builders.engine_fixtures import send_to
from harness.cli import main
from harness.report.json import loads_report

pytestmark = pytest.mark.embedded

WORDS = ["tent", "rope", "stove", "lamp", "red", "blue", "light", "warm", "large", "small"]
METRICS = {
    "precision": {"precision": {"k": 5, "relevant_rating_threshold": 2}},
    "precision of labeled": {"precision": {"k": 7, "ignore_unlabeled": True}},
    "recall": {"recall": {"k": 4}},
    "mean reciprocal rank": {"mean_reciprocal_rank": {"k": 8, "relevant_rating_threshold": 2}},
    "dcg": {"dcg": {"k": 6}},
    "normalized dcg": {"dcg": {"k": 20, "normalize": True}},
    "dcg of unknown": {"dcg": {"k": 4, "unknown_doc_rating": 1}},
    "expected reciprocal rank": {"expected_reciprocal_rank": {"maximum_relevance": 3, "k": 10}},
    "default k": {"precision": {}},
}


@pytest.fixture(scope="module")
def index(opensearch_url):
    """Sixty documents of random words, numbered so that no two have the same place."""
    name, draw = f"migrate-{uuid.uuid4().hex[:8]}", random.Random(7)
    for number in range(60):
        body = {"title": " ".join(draw.choices(WORDS, k=draw.randint(2, 9))), "number": number}
        send_to("PUT", f"{opensearch_url}/{name}/_doc/sku-{number}", body)
    send_to("POST", f"{opensearch_url}/{name}/_refresh")
    yield name
    send_to("DELETE", f"{opensearch_url}/{name}")


def ratings(index, draw):
    documents = draw.sample(range(60), draw.randint(3, 25))
    return [{"_index": index, "_id": f"sku-{number}", "rating": draw.randint(0, 3)} for number in documents]


def of_requests(index, draw):
    return {
        "requests": [
            {
                "id": f"query {number}",
                "request": {
                    "query": {"match": {"title": " ".join(draw.sample(WORDS, draw.randint(1, 3)))}},
                    "sort": ["_score", {"number": draw.choice(["asc", "desc"])}],
                    "size": 3,
                },
                "ratings": ratings(index, draw) if number else [],
            }
            for number in range(8)
        ]
    }


def of_templates(index, draw):
    source = {"query": {"match": {"{{field}}": "{{words}}"}}, "sort": ["_score", "number"]}
    return {
        "templates": [{"id": "by-word", "template": {"source": source}}],
        "requests": [
            {
                "id": f"q{number}",
                "template_id": "by-word",
                "params": {"field": "title", "words": " ".join(draw.sample(WORDS, 2))},
                "ratings": ratings(index, draw),
            }
            for number in range(5)
        ],
    }


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("spec", [of_requests, of_templates])
def test_a_moved_suite_gives_its_number(opensearch_url, index, tmp_path, capsys, spec, metric):
    body = {**spec(index, random.Random(metric)), "metric": METRICS[metric]}
    theirs = send_to("POST", f"{opensearch_url}/{index}/_rank_eval", body)
    assert not theirs["failures"]
    (tmp_path / "eval.json").write_text(json.dumps(body))
    suite = tmp_path / "moved.relevance.yaml"
    assert main(["import", "rank_eval", str(tmp_path / "eval.json"), "--output", str(suite)]) == 0
    capsys.readouterr()

    assert main(["run", str(suite), "--url", opensearch_url, "--json", "-q"]) == 0

    [report] = loads_report(capsys.readouterr().out).suites
    [summary] = report.summaries
    assert summary.mean == pytest.approx(theirs["metric_score"], abs=1e-9)
    scores = {query.id: query.scores[summary.measure] for query in report.queries}
    details = {name: detail["metric_score"] for name, detail in theirs["details"].items()}
    assert scores == pytest.approx(details, abs=1e-9)
