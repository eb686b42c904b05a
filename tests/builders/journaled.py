"""A suite with more queries than a request takes, its engine, and reports without what time and transport move."""

import json
from pathlib import Path
from urllib.parse import urlencode

from builders.engine import SHARDS, ScriptedEngine
from harness.search.engine_state import SHARD_STATS

QUERIES = 30
"""A first request takes 25."""
SUITE = "shop.relevance.yaml"
SETTINGS = "/products/_settings/index.uuid"


def suite_text(*thresholds: str, grade: int = 2, depth: int = 3) -> str:
    lines = [
        "suite: shop",
        "target: {index: products}",
        'request: {query: {match: {title: "{{text}}"}}}',
        f"depth: {depth}",
        "measures: [RR@3, nDCG@3]",
        f"thresholds: {json.dumps(thresholds or ('mean nDCG@3 >= 0.95', 'every RR@3 >= 0.2'))}",
        "queries:",
    ]
    lines += [
        f"  - {{id: q{n}, text: text {n}, judgments: {{d{n}: {grade}, e{n}: 1, gone{n}: 1}}}}" for n in range(QUERIES)
    ]
    return "\n".join(lines) + "\n"


def set_index(engine, uuid="one", documents=200, index="products", written=None, visible=None, mapping=None):
    """
    The state of the *index*; *written* is the sequence number of its shard, *visible* the number of documents in it,
    *mapping* its fields. What is None cannot be read.
    """
    engine.gets[f"/{index}/_settings/index.uuid"] = {index: {"settings": {"index": {"uuid": uuid}}}}
    engine.gets[f"/{index}/_count?preference=relevance-harness"] = {"count": documents, "_shards": SHARDS}
    copy = {"state": "STARTED", "primary": True, "node": "n1", "index": index, "shard": 0}
    searched = {"indices": {index: {}}, "shards": [[copy]]}
    engine.gets[f"/{index}/_search_shards?preference=relevance-harness"] = searched
    docs = {"count": documents, "deleted": None if visible is None else visible - documents}
    shards = {"0": [{"routing": {"node": "n1"}, "docs": docs, "seq_no": {"max_seq_no": written}}]}
    stats = {"indices": {index: {"uuid": uuid, "shards": shards}}}
    engine.gets[f"/{index}/_stats/docs?{urlencode(SHARD_STATS)}"] = stats
    engine.gets[f"/{index}/_settings"] = {index: {"settings": {"index": {"uuid": uuid, "number_of_replicas": "1"}}}}
    if mapping is not None:
        engine.gets[f"/{index}/_mapping"] = {index: {"mappings": mapping}}


def engine_of_shop() -> ScriptedEngine:
    """An engine that answers the queries of `suite_text`; the suite is written beside."""
    Path(SUITE).write_text(suite_text(), encoding="utf-8")
    engine = ScriptedEngine()
    for n in range(QUERIES):
        engine.rankings[f"text {n}"] = [f"x{n}", f"d{n}", f"e{n}", f"f{n}"] if n % 3 else [f"d{n}", f"e{n}"]
    set_index(engine)
    return engine


def without_timing(value):
    if isinstance(value, dict):
        return {
            key: without_timing(one)
            for key, one in value.items()
            if key not in ("created", "seconds", "timing", "took")
        }
    return [without_timing(one) for one in value] if isinstance(value, list) else value


def report_at(path: Path):
    """The report at *path* without what time and transport move."""
    return without_timing(json.loads(path.read_text(encoding="utf-8")))
