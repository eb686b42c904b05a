"""README and docs: links lead somewhere, suites load, commands and options exist, sessions fit the suites."""

import re
from pathlib import Path

import click
import pytest

from builders.typed_page import list_anchors
from harness.cli import root

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
MAP = ROOT / "docs" / "index.md"
TUTORIALS = ROOT / "docs" / "tutorials"
OWN_INDEX = TUTORIALS / "own-index.md"
PAGES = [README, *sorted(TUTORIALS.glob("*.md"))]
ALL_PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks in *language*; one may be indented, in a list."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """What stands behind a prompt, comments left out."""
    lines = [line.strip() for block in blocks(page, "console") for line in block.splitlines()]
    return [line[2:].split("  #")[0] for line in lines if line.startswith("$ ")]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for text, target in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{text}: {target}"
        if anchor:
            assert anchor in list_anchors(file.read_text(encoding="utf-8")), target


def test_every_page_of_the_documentation_is_linked_from_its_map():
    linked = set(re.findall(r"\(([\w/-]+\.md)[)#]", MAP.read_text(encoding="utf-8")))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    # The page that each belongs to leads to it.
    pages = {page for page in pages if not page.startswith("evidence/")}
    assert pages - {"index.md"} <= linked


def test_the_readme_leads_to_the_map():
    assert f"({MAP.relative_to(ROOT).as_posix()})" in README.read_text(encoding="utf-8")


def test_the_page_that_most_users_need_is_linked_first():
    [first, *_] = re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert first == OWN_INDEX.relative_to(ROOT).as_posix()


@PAGE
def test_commands_and_their_options_exist(page, pytestconfig):
    assert commands(page)
    for line in commands(page):
        program, *words = line.split()
        options = {word for word in words if word.startswith("--")}
        if program == "relevance":
            command = root.get_command(None, words[0])
            if isinstance(command, click.Group):
                named = words[1] if words[1] in command.commands else command.short_for
                command = command.get_command(None, named)
            assert options <= {option for parameter in command.params for option in parameter.opts}, line
        elif program == "pytest":
            for option in options:
                pytestconfig.getoption(option.removeprefix("--").replace("-", "_"))  # an error where there is none
        elif program == "python3":
            # A page may have the reader write the script.
            is_written = f"`{words[0]}`:\n" in page.read_text(encoding="utf-8")
            assert is_written or (ROOT / words[0]).is_file(), line


@pytest.mark.parametrize("page", ["evidence/reliability.md", "evidence/security.md"])
def test_the_tests_that_a_page_names_exist(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:unit|plugin|property|cluster|extensions)/[\w/]+\.py)(?:::([\w:]+))?`", text)
    assert len(named) > 10
    for file, name in named:
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        for part in filter(None, name.split("::")):
            assert re.search(rf"^ *(?:async )?(?:def|class) {part}\b", source, re.MULTILINE), f"{file}::{name}"
