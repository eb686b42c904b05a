"""
A report as JSON, and back.

The form is that of `harness.model.Report`, field by field. Its version stands under ``schema``; a file of another
version is refused with a sentence, never read half. JSON has no infinity and no NaN, so these are written as the
strings "Infinity", "-Infinity" and "NaN".
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from harness.errors import FormatError
from harness.model import Json, Report

SCHEMA = 1
"""The version that is written, and the only one that is read."""


@cache
def _adapter() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def dumps(report: Report) -> str:
    """*report* as JSON text, two blanks a level, ASCII only, with a newline at its end."""
    plain = _adapter().dump_python(report, mode="json")
    return json.dumps(_portable(plain), indent=2, allow_nan=False) + "\n"


def loads(text: str, *, path: str = "report") -> Report:
    """
    The report that `dumps` wrote; *path* is named in errors.

    Raises:
        FormatError: not JSON, another schema version, or fields that are missing or of the wrong type; all are named.
    """
    raw = _parse(text, path)
    version = raw.get("schema") if isinstance(raw, dict) else None
    if version != SCHEMA or isinstance(version, bool):
        found = "no schema version" if version is None else f"schema version {version!r}"
        raise FormatError.at(
            path, 0, 0, f"{found} found, {SCHEMA} expected: this is not a report that this version reads"
        )
    try:
        return _adapter().validate_python(raw)
    except ValidationError as error:
        faults = (f"{_place(fault['loc'])}: {fault['msg']}" for fault in error.errors(include_url=False))
        raise FormatError.at(path, 0, 0, "not a report: " + "; ".join(faults)) from None


def report_schema() -> dict[str, Any]:
    """The JSON Schema of what `dumps` writes."""
    schema = _adapter().json_schema(mode="serialization", schema_generator=_Schema)
    schema["properties"]["schema"] = {"const": SCHEMA, "title": "Schema"}
    return {"$schema": _Schema.schema_dialect, "title": "relevance-harness report", **schema}


class _Schema(GenerateJsonSchema):
    """Says that a number may be one of the three strings that stand for what JSON has no number for."""

    def float_schema(self, schema: core_schema.FloatSchema) -> dict[str, Any]:
        return {"anyOf": [super().float_schema(schema), {"enum": ["Infinity", "-Infinity", "NaN"]}]}


def _parse(text: str, path: str) -> Json:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError.at(path, error.lineno, error.colno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise FormatError.at(path, 0, 0, "not a report: nested too deeply") from None


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "report"


def _portable(value: Json) -> Json:
    """*value* with each float that JSON lacks as a string, and U+FFFD for half a surrogate pair, which UTF-8 lacks."""
    if isinstance(value, dict):
        return {_portable(key): _portable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_portable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value
