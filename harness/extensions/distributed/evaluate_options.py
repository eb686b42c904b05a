"""What ``relevance evaluate`` does with --scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.cli.evaluate import make_file_options, print_evaluation
from harness.errors import UsageError
from harness.extensions.distributed.scheduler import score_on_scheduler
from harness.files.partitions import join_evaluations, list_partitions


def command(scheduler: str, qrels: Path, run: Path, per_query: bool, as_json: bool, **choices: Any) -> None:
    """Score each file of the folder *run* on a worker."""
    options = make_file_options(**choices)
    if not run.is_dir():
        raise UsageError(f"{run} is a file, expected a folder of Parquet files, as for --scheduler")
    parts = list_partitions(qrels, run)
    evaluation = join_evaluations(parts, score_on_scheduler(scheduler, parts, options))
    print_evaluation(evaluation, options, qrels, run, per_query=per_query, as_json=as_json)
