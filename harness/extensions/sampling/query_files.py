"""A sample as a file of queries, which a suite reads with ``queries: FILE``."""

from __future__ import annotations

import csv
import json
import re
from hashlib import blake2b
from io import StringIO

from harness.extensions.sampling.draw import DrawnQuery, Sample
from harness.files.records import mark_as_text, mark_encoding
from harness.words import format_exactly

_WORD = re.compile(r"\w+")
_LONGEST_SLUG = 60


def make_query_id(key: str) -> str:
    """
    The id of the query with the folded text *key*: its words, and a fingerprint where these are not all of it.

    It depends on the query alone, so that judgments fit it in each sample.

    >>> make_query_id("red shoes"), make_query_id("c++")
    ('red-shoes', 'c-f4dc9948')
    """
    slug = "-".join(_WORD.findall(key))[:_LONGEST_SLUG]
    if slug.replace("-", " ") == key:
        return slug
    fingerprint = blake2b(key.encode(), digest_size=4).hexdigest()
    return f"{slug or 'query'}-{fingerprint}"


def round_weight(weight: float) -> float:
    """*weight* with four decimals, which is enough as weights are at least 1; a whole one as such."""
    rounded = round(weight, 4)
    return int(rounded) if rounded.is_integer() else rounded


def format_queries_csv(sample: Sample) -> str:
    """Columns id, text, weight, tags; cells that a spreadsheet would change are marked, as in files of judgments."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["id", "text", "weight", "tags"])
    for drawn in sample.queries:
        cells = [mark_as_text(make_query_id(drawn.query.key)), mark_as_text(drawn.query.text)]
        writer.writerow([*cells, format_exactly(round_weight(drawn.weight)), drawn.stratum])
    return mark_encoding(written.getvalue())


def format_queries_json_lines(sample: Sample) -> str:
    """An object on each line with id, text, weight and tags."""
    return "".join(f"{_dump_query(drawn)}\n" for drawn in sample.queries)


def _dump_query(drawn: DrawnQuery) -> str:
    query = {
        "id": make_query_id(drawn.query.key),
        "text": drawn.query.text,
        "weight": round_weight(drawn.weight),
        "tags": [drawn.stratum],
    }
    return json.dumps(query, ensure_ascii=False)
