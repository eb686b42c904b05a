"""The rank_eval profile gives what an engine's own `_rank_eval` gives, on random judgments."""

import random
import uuid

import pytest

from builders.engine_fixtures import send_to
from harness.metrics import parse_measure, score_query
from harness.model.suite import Profile

pytestmark = pytest.mark.embedded

DOCUMENTS = [f"d{number}" for number in range(12)]
METRICS = {
    "nDCG@10": {"dcg": {"k": 10, "normalize": True}},
    "nDCG@3": {"dcg": {"k": 3, "normalize": True}},
    "nDCG(unjudged=2)@10": {"dcg": {"k": 10, "normalize": True, "unknown_doc_rating": 2}},
    "DCG@4": {"dcg": {"k": 4}},
    "P@10": {"precision": {"k": 10}},
    "P(rel=2)@3": {"precision": {"k": 3, "relevant_rating_threshold": 2}},
    "P(judged_only=true)@3": {"precision": {"k": 3, "ignore_unlabeled": True}},
    "R@4": {"recall": {"k": 4}},
    "RR(rel=2)@5": {"mean_reciprocal_rank": {"k": 5, "relevant_rating_threshold": 2}},
    "ERR(max=3)@10": {"expected_reciprocal_rank": {"maximum_relevance": 3, "k": 10}},
    "DCG(unjudged=2)@4": {"dcg": {"k": 4, "unknown_doc_rating": 2}},
    "ERR(max=3,unjudged=1)@5": {"expected_reciprocal_rank": {"maximum_relevance": 3, "unknown_doc_rating": 1, "k": 5}},
}


@pytest.fixture(scope="module")
def numbered(opensearch_url):
    """An index whose documents come in the order of their numbers."""
    index = f"{opensearch_url}/rank-eval-{uuid.uuid4().hex[:8]}"
    for number, document in enumerate(DOCUMENTS):
        send_to("PUT", f"{index}/_doc/{document}?refresh=true", {"number": number})
    yield index
    send_to("DELETE", index)


def in_order(hits):
    return {
        "function_score": {
            "query": {"range": {"number": {"lt": hits}}},
            "script_score": {"script": "100 - doc['number'].value"},
            "boost_mode": "replace",
        }
    }


@pytest.mark.parametrize("best", [3, 0], ids=["graded", "nothing relevant"])
@pytest.mark.parametrize("seed", range(6))
def test_rank_eval(numbered, seed, best):
    draw = random.Random(seed)
    hits = draw.choice([1, 3, 6, 10])
    judgments = {document: draw.randint(0, best) for document in draw.sample(DOCUMENTS, draw.randint(1, 10))}
    index = numbered.rsplit("/", 1)[1]
    ratings = [{"_index": index, "_id": document, "rating": grade} for document, grade in judgments.items()]
    for text, metric in METRICS.items():
        request = {"id": "q", "request": {"query": in_order(hits)}, "ratings": ratings}
        theirs = send_to("POST", f"{numbered}/_rank_eval", {"requests": [request], "metric": metric})
        assert not theirs["failures"]
        ours = score_query(parse_measure(text), DOCUMENTS[:hits], judgments, profile=Profile.RANK_EVAL)
        assert ours == pytest.approx(theirs["metric_score"], abs=1e-9), text
