"""The JSON Schema of a suite file, for editors that check and complete YAML while it is written."""

from __future__ import annotations

from typing import Any

from harness.suites.shape import SuiteShape

REQUIRED = ("suite", "queries")


def suite_schema() -> dict[str, Any]:
    """
    JSON Schema 2020-12 of `*.relevance.yaml`.

    It says what the loader says of the shape of a suite. What takes more than one place to tell, such as names of
    grades, is the loader's alone.
    """
    schema: dict[str, Any] = _tidied(SuiteShape.model_json_schema(by_alias=True))
    schema.update(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Suite",
            "description": "A search relevance suite: queries with graded judgments, requests and thresholds.",
            "required": list(REQUIRED),
            "oneOf": [{"required": ["request"]}, {"required": ["requests"]}],
        }
    )
    return schema


def _tidied(node: Any) -> Any:
    """
    The schema without what pydantic adds for Python's sake.

    A key that is left out is None in the models, and no key of a suite may be null; names of classes are no titles.
    """
    if isinstance(node, list):
        return [_tidied(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _tidied(value) for key, value in node.items() if not _is_noise(key, value)}
    branches = [branch for branch in kept.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        return {**{key: value for key, value in kept.items() if key != "anyOf"}, **branches[0]}
    return {**kept, "anyOf": branches} if branches else kept


def _is_noise(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value in (None, [], {}))
