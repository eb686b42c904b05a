"""relevance schema."""

import json

import pytest

from harness.cli import main


@pytest.mark.parametrize(
    ("options", "title"),
    [
        (["--report"], "relevance-harness report"),
        (["--comparison"], "relevance-harness comparison"),
        (["--report", "--comparison"], "relevance-harness comparison"),
    ],
)
def test_each_form_has_a_schema_that_names_it(options, title, capsys):
    assert main(["schema", *options]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == title


def test_without_an_option_it_is_that_of_suites(capsys):
    assert main(["schema"]) == 0
    assert "queries" in json.loads(capsys.readouterr().out)["properties"]
