"""A suite with a lexical, a branded and a vector request, its runs and its baselines."""

import json
from dataclasses import replace

from builders.executions import finish
from harness.model.kept import BaselineFile
from harness.model.run import IndexFacts
from harness.options import RunOptions
from harness.search.testing import FakeSearch
from harness.store.baseline import make_baseline
from harness.store.baseline_files import dumps, loads
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
vectors: {near: near.jsonl}
measures: ["RR@3"]
requests:
  lexical: {query: {match: {title: "{{text}}"}}}
  branded: {query: {bool: {must: {match: {title: "{{text}}"}}, filter: {term: {brand: "{{brand}}"}}}}}
  vector: {knn: {field: place, query_vector: "{{near}}", k: 3, num_candidates: 9}}
queries:
  - {id: tents, text: TEXT, params: {brand: BRAND}, judgments: {a: 1}}
  - {id: ropes, text: rope, params: {brand: Acme}, judgments: {b: 1}}
"""
WITHOUT_VECTORS = SUITE.replace("vectors: {near: near.jsonl}\n", "").partition("  vector:")[0]
WITHOUT_VECTORS += SUITE.partition("num_candidates: 9}}\n")[2]
ANSWERS = {"tents": ["a"], "ropes": ["b"]}
PLAIN = {"TEXT": "tent", "BRAND": "Acme", "near": [0.5, 1.5]}
LONG = [0.25] * 300


def load_questions(folder, text=SUITE, environ=None, **changed):
    """The suite in *folder*, with other words for its text, its brand or its vector."""
    values = {**PLAIN, **changed}
    near = values.pop("near")
    for name, value in values.items():
        text = text.replace(name, value)
    lines = [{"id": "tents", "vector": near}, {"id": "ropes", "vector": [1.5] * len(near)}]
    (folder / "near.jsonl").write_text("\n".join(map(json.dumps, lines)))
    path = folder / "shop.relevance.yaml"
    path.write_text(text)
    return load_suite(path, environ or {})


def run_of(suite, request, **options):
    """The run of *request*, finished."""
    return finish(suite, FakeSearch(ANSWERS), RunOptions(request=request, locate=False, **options))


def save(suite, request, **options):
    """The baseline of *request*, written and read."""
    done = run_of(suite, request, **options)
    run = replace(done.run, facts=IndexFacts())
    entry = make_baseline(suite, run, done.scores, created="2026-05-01", harness="1")
    return loads(dumps(BaselineFile("shop", {request: entry})), "b.json").requests[request]
