"""The schema beside suites as an earlier version wrote it, and what checks values by a schema of ours."""

import json
from functools import cache

from harness.suites.schema_file import render_schema


def make_outdated_schema():
    """The text of a schema that lacks a key of today's."""
    schema = json.loads(render_schema())
    del schema["properties"]["tune"]
    return json.dumps(schema)


@cache
def make_validator(make_schema):
    """What checks values by the schema that *make_schema* returns; to make and to check one takes longer than a run."""
    from jsonschema import Draft202012Validator

    schema = make_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
