"""Which hits a body asks for: a ranking begins at its first hit, and is as deep as what the suite looks at."""

from __future__ import annotations

from collections.abc import Mapping

from harness.model import Json

BEGINS_LATER = "a ranking begins at its first hit; leave `{key}` out, which turns to a later page"
"""Said of a body that skips hits: they would be scored as if the best had never been there."""

SKIPPING = ("from", "search_after")
"""Keys of a body that skip hits."""


def skips_hits(key: str, value: Json) -> bool:
    """Whether *value* under *key*, one of `SKIPPING`, leaves out the first hits; what turns to no page does not."""
    return value is not None and (key == "search_after" or isinstance(value, bool) or value != 0)


def window_problem(template: Json, body: Json, depth: int) -> str | None:
    """
    What keeps the answer to *body* from being the best *depth* hits.

    Args:
        template: The body before it was filled: a size that stands there as a number was held to the suite already.
        body: As it is sent.
        depth: How many hits the suite asks for.
    """
    if not isinstance(template, Mapping) or not isinstance(body, Mapping):
        return None
    for key in SKIPPING:
        if skips_hits(key, body.get(key)):
            return BEGINS_LATER.format(key=key)
    size = body.get("size")
    if not isinstance(template.get("size"), str):
        return None
    if isinstance(size, bool) or not isinstance(size, int):
        return f"the size becomes {size!r}, expected a whole number"
    if size < depth:
        return f"the size becomes {size}, and the suite looks at {depth} hits: write {{{{depth}}}}, or set 'depth'"
    return None
