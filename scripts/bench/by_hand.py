"""
What scripts/bench/runner --by-hand measures `relevance run` beside: the evaluation that a user would write by hand.

As a program it reads queries.tsv and judgments.qrels in the current folder, sends the queries with elasticsearch-py,
and prints the mean of each measure of pytrec_eval: by_hand.py URL HITS MEASURE [MEASURE ...]. It has no thresholds and
shows no query.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import elasticsearch
import pytrec_eval

BATCH = 500


def evaluate(url: str, hits: int, measures: Sequence[str]) -> dict[str, float]:
    """The mean of each of *measures*, of which the queries have so many *hits*."""
    with Path("queries.tsv").open(encoding="utf-8") as file:
        queries = dict(line.rstrip("\n").split("\t") for line in file)
    with Path("judgments.qrels").open(encoding="utf-8") as file:
        judgments = pytrec_eval.parse_qrel(file)

    client = elasticsearch.Elasticsearch(url)
    run: dict[str, dict[str, float]] = {}
    ids = list(queries)
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        searches: list[dict[str, object]] = []
        for query in batch:
            body = {"query": {"match": {"title": queries[query]}}, "size": hits, "_source": False}
            searches += [{"index": "products"}, body]
        responses = client.msearch(searches=searches)["responses"]
        for query, response in zip(batch, responses, strict=True):
            run[query] = {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}

    scores = pytrec_eval.RelevanceEvaluator(judgments, set(measures)).evaluate(run)
    return {measure: fmean(of_query[measure] for of_query in scores.values()) for measure in measures}


if __name__ == "__main__":
    started = time.perf_counter()
    for name, mean in evaluate(sys.argv[1], int(sys.argv[2]), sys.argv[3:]).items():
        print(f"{name:20s}{mean:8.4f}")
    print(time.perf_counter() - started)
