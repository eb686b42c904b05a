"""relevance schema."""

import json

import pytest

from harness.cli import main


@pytest.mark.parametrize(
    ("kind", "title"), [("report", "relevance-harness report"), ("comparison", "relevance-harness comparison")]
)
def test_each_form_has_a_schema_that_names_it(kind, title, capsys):
    assert main(["schema", kind]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == title


def test_without_a_kind_it_is_that_of_suites(capsys):
    assert main(["schema"]) == 0
    assert "queries" in json.loads(capsys.readouterr().out)["properties"]
