"""The generated parts of the pages are what the code gives."""

import doctest
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.cli import root

SITE = Path(__file__).parents[2] / "scripts" / "site"
COMMAND = "python3 scripts/site/make-reference"


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(SITE)
    from reference import pages

    return pages


def test_the_generated_parts_of_pages_are_what_the_code_gives(pages):
    outdated = [page.relative_to(pages.DOCS).as_posix() for page in pages.find_outdated_pages()]
    assert not outdated, f"{', '.join(outdated)}: run {COMMAND}, and commit what it writes"


def test_docstring_examples_hold(pages):
    # pytest collects those of harness/ and tests/ only.
    for module in (pages.commands, pages.skill, pages.suite_keys):
        results = doctest.testmod(module)
        assert results.attempted
        assert not results.failed


def test_each_part_stands_on_one_page(pages):
    assert sorted(pages.find_generated_parts()) == sorted(pages.PARTS)


def test_a_part_that_nothing_makes_is_named(pages):
    match = pages.GENERATED.search("<!-- begin generated: relevance runs -->\n<!-- end generated -->")
    with pytest.raises(SystemExit, match="there is no part 'relevance runs', only "):
        pages.write_part(match)


def test_the_help_of_a_command_has_its_short_option_after_it_was_written(pages, monkeypatch):
    command = root.get_command(click.Context(root), "validate")
    monkeypatch.setattr(command, "_help_option", None)
    pages.PARTS["relevance validate"]()
    assert CliRunner().invoke(root, ["validate", "-h"]).exit_code == 0
