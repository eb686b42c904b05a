"""The JSON Schema of relevance.toml, by which editors complete and check it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from harness.config.shape import TOP_LEVEL, ClusterShape, JudgeShape


def settings_schema() -> dict[str, Any]:
    """
    JSON Schema of relevance.toml, of draft 7, which editors of TOML read.

    It describes the keys and their types. What the values may be, and which keys go together, is checked by the reader.
    """
    types: dict[str, dict[str, Any]] = {
        "clusters": {"type": "object", "additionalProperties": _describe_table(ClusterShape)},
        "variables": {"type": "array", "items": {"type": "string"}},
        "addresses": {"enum": ["any", "listed"]},
        "judge": {"type": "object", "additionalProperties": _describe_table(JudgeShape)},
        "intervals": {"type": "boolean"},
        "history": {"type": "string"},
    }
    properties = {name: {"description": key.description, **types[name]} for name, key in TOP_LEVEL.items()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "relevance.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _describe_table(shape: type[BaseModel]) -> dict[str, Any]:
    """The schema of a table, without the titles and nulls of Python: a key of TOML is text, a number, … or absent."""
    schema = shape.model_json_schema()
    properties = {}
    for name, prop in schema["properties"].items():
        [value] = [branch for branch in prop.get("anyOf", [prop]) if branch != {"type": "null"}]
        kept = {key: item for key, item in value.items() if key not in ("title", "default", "description")}
        properties[name] = {"description": prop["description"], **kept}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": schema.get("required", []),
    }
