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
    schema = SuiteShape.model_json_schema(by_alias=True)
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
