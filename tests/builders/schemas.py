"""The schema beside suites, as an earlier version wrote it."""

import json

from harness.suites.schema_file import render_schema


def make_outdated_schema():
    """The text of a schema that lacks a key of today's."""
    schema = json.loads(render_schema())
    del schema["properties"]["tune"]
    return json.dumps(schema)
