"""
What is still to be judged: the documents in the top of several rankings that nobody has graded.

Pooling is how test collections are built: the first hits of several systems are judged together, so that none of them
is measured against judgments that another one chose.
"""

from harness.pooling.coverage import Coverage, PooledRun, QueryCoverage
from harness.pooling.pool import Pool, PooledDocument, pool_runs, pooling_depth, with_texts

__all__ = [
    "Coverage",
    "Pool",
    "PooledDocument",
    "PooledRun",
    "QueryCoverage",
    "pool_runs",
    "pooling_depth",
    "with_texts",
]
