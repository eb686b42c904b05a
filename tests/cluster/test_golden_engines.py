"""What the golden outputs take for the embedded node's answers; `--update-golden` records them anew."""

import json
import os
import urllib.request
from pathlib import Path

import pytest

from builders.recorded import RECORDED, RecordedEngine, read_recorded, written
from harness.cli import main

SUITES = Path(__file__).parents[2] / "suites"
RECORDED_SUITES = (
    "lessons.relevance.yaml",
    "products.relevance.yaml",
    "traffic.relevance.yaml",
    "failing/products.failing.yaml",
)
"""Those of the golden outputs; the requests of hybrid.relevance.yaml hold vectors, and no golden output runs it."""
RUN = ["run", *(str(SUITES / name) for name in RECORDED_SUITES), "--all-requests", "--allow-write"]


@pytest.mark.embedded
@pytest.mark.skipif("RELEVANCE_TEST_OPENSEARCH" in os.environ, reason="the recorded scores are the embedded node's")
def test_the_recorded_answers_are_the_embedded_nodes(opensearch_url, pytestconfig):
    def find(index, ranks):
        body = json.dumps({**ranks, "size": 1000, "_source": False}).encode()
        request = urllib.request.Request(
            f"{opensearch_url}/{index}/_search", body, {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request) as answer:
            hits = json.load(answer)["hits"]["hits"]
        return [(hit["_id"], hit["_score"]) for hit in hits]

    assert main([*RUN, "--url", opensearch_url]) == 1  # builds the indexes that are searched below
    with RecordedEngine({}, find) as engine:
        assert main([*RUN, "--url", engine.url]) == 1
    if pytestconfig.getoption("update_golden"):
        RECORDED.write_text(written(engine.finds), encoding="utf-8", newline="\n")
    assert engine.finds == read_recorded(RECORDED.read_text(encoding="utf-8"))
