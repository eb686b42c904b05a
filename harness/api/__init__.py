"""
Suites and scores from Python, for notebooks and behind the pytest fixture ``relevance``.

::

    with Relevance() as relevance:
        assert relevance.run("products.relevance.yaml", embedded=True).mean("nDCG@10") >= 0.8

    evaluate({"shoes": ["sku-4", "sku-17"]}, {"shoes": {"sku-17": 3}}, measures=["nDCG@10"]).mean("nDCG@10")

Nothing here returns a number where something is missing: see `Scores`.
"""

from harness.api.arrays import evaluate_arrays, evaluate_frames
from harness.api.choices import Options
from harness.api.evaluation import Evaluation, Scores, evaluate
from harness.api.running import Relevance, SuiteRun
from harness.model.suite import Gain, GainKind, Profile
from harness.options import RunOptions

__all__ = [
    "Evaluation",
    "Gain",
    "GainKind",
    "Options",
    "Profile",
    "Relevance",
    "RunOptions",
    "Scores",
    "SuiteRun",
    "evaluate",
    "evaluate_arrays",
    "evaluate_frames",
]
