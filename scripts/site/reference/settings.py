"""The keys of relevance.toml, from the shape that it is read by."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel

from harness.config.shape import PLAIN_KEYS, TOP_LEVEL, ClusterShape, JudgeShape
from reference.markdown import write_table


def write_top_level_keys() -> str:
    rows = [(f"`{name}`", key.description) for name, key in TOP_LEVEL.items()]
    return write_table(("key", "meaning"), rows)


def write_keys(shape: type[BaseModel]) -> str:
    """A table of the keys of one kind of table, in the order of the shape."""
    rows = [(f"`{name}`", field.description or "") for name, field in shape.model_fields.items()]
    return write_table(("key", "meaning"), rows)


def list_plain_keys() -> str:
    names = [f"`{name}`" for name in ClusterShape.model_fields if name in PLAIN_KEYS]
    return f"A cluster in such a file may have only {', '.join(names[:-1])} and {names[-1]}."


PARTS = {
    "keys at the top of relevance.toml": write_top_level_keys,
    "keys of a cluster": partial(write_keys, ClusterShape),
    "keys of a judge": partial(write_keys, JudgeShape),
    "keys of a cluster beside a suite": list_plain_keys,
}
