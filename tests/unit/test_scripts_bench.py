"""The benchmarks take from the harness what it has: no test runs them, and no type checker reads them."""

import pytest

pytest.importorskip("numpy")

import ast
import runpy
from importlib import import_module
from pathlib import Path

from harness.metrics.evaluate import evaluate
from harness.metrics.grammar import parse_measure
from harness.model.suite import Gain, GainKind

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
SCRIPTS = sorted(path for path in BENCH.iterdir() if path.is_file())
OURS = ("harness", "builders")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_what_a_benchmark_imports_exists(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS)]
    missing = []
    for node in imports:
        module = import_module(node.module)
        missing += [f"{node.module}.{name.name}" for name in node.names if not hasattr(module, name.name)]
    assert missing == []


def test_the_evaluation_by_hand_has_the_measures_that_it_is_compared_with(monkeypatch):
    """`runner --by-hand` compares what two clients cost; both compute the same scores."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    monkeypatch.syspath_prepend(BENCH)
    measures = runpy.run_path(str(BENCH / "runner"))["BY_HAND_MEASURES"]
    judgments = {"q0": {"document-0": 3, "document-9": 1, "document-12": 2}, "q1": {"document-1": 2}}
    ranking = [f"document-{rank}" for rank in range(10)]
    ours = [parse_measure(name.format(hits=10)) for name in measures]
    scores = evaluate(dict.fromkeys(judgments, ranking), judgments, ours, gain=Gain(GainKind.LINEAR)).scores

    by_hand = [name.format(hits=10) for name in measures.values()]
    run = {query: {document: 10.5 - rank for rank, document in enumerate(ranking)} for query in judgments}
    found = pytrec_eval.RelevanceEvaluator(judgments, set(by_hand)).evaluate(run)
    for measure, name in zip(ours, by_hand, strict=True):
        assert scores[measure.text] == pytest.approx({query: found[query][name] for query in judgments}), name
