"""What tests of imports share."""

import pytest

from extensions.migrate.builders.moving import write_files


@pytest.fixture
def request_body(working_folder):
    """A working folder with the body of a request in body.json."""
    write_files({"body.json": {"query": {"match": {"title": "{{text}}"}}}})
