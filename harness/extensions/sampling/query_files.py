"""A sample as a file of queries, which a suite reads with ``queries: FILE``."""

from __future__ import annotations

from harness.extensions.sampling.draw import Sample
from harness.files.query_ids import make_query_id
from harness.files.tables import format_json_lines, format_table
from harness.model.suite import Json
from harness.words import simplify_number


def round_weight(weight: float) -> float:
    """*weight* with four decimals, which is enough as weights are at least 1; a whole one as such."""
    return simplify_number(round(weight, 4))


def format_queries_csv(sample: Sample) -> str:
    """Columns id, text, weight, tags; cells that a spreadsheet would change are marked, as in files of judgments."""
    queries = [(drawn.query, round_weight(drawn.weight), drawn.stratum) for drawn in sample.queries]
    rows = [(make_query_id(query.key), query.text, weight, stratum) for query, weight, stratum in queries]
    return format_table(["id", "text", "weight", "tags"], rows)


def format_queries_json_lines(sample: Sample) -> str:
    """An object on each line with id, text, weight and tags."""
    entries: list[Json] = []
    for drawn in sample.queries:
        identity = {"id": make_query_id(drawn.query.key), "text": drawn.query.text}
        entries.append({**identity, "weight": round_weight(drawn.weight), "tags": [drawn.stratum]})
    return format_json_lines(entries)
