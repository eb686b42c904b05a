"""A try as a side of ``relevance compare``: ``try:3``."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.sides import ComparedSide
from harness.extensions.workbench.tries import TriesFile
from harness.metrics.run_scores import failure_text
from harness.model.run import Engine, Failure, Run
from harness.model.suite import Suite
from harness.search.dialects import find_dialect


def read_try_side(value: str, suite: Suite) -> ComparedSide:
    """
    The try of the number *value* of *suite*.

    Raises:
        FormatError: The file of the tries cannot be read.
        UsageError: It is no number, or there is no such try.
    """
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise UsageError(f"found 'try:{value}', expected the number of a try, such as try:3")
    kept = TriesFile.read(Path(suite.path), suite.roots).find(int(value))
    is_exact = not find_dialect(suite.find_target(kept.of if kept.of in suite.requests else None).service).has_indexes
    kept_responses = kept.restore(exact_scores=is_exact)
    # Variants of queries are not compared.
    responses = {query.id: kept_responses[query.id] for query in suite.queries if query.id in kept_responses}
    unanswered = {query: failure_text(one) for query, one in responses.items() if isinstance(one, Failure)}
    return ComparedSide(
        f"try:{kept.number}",
        SideKind.RUN,
        request=f"{kept.of} (try {kept.number})",
        created=kept.time,
        unanswered=unanswered,
        run=Run(responses, Engine("try"), kept.of),
        depth=suite.depth,
        queries=tuple(query for query in suite.queries if query.id in responses),
        template=kept.request,
    )
