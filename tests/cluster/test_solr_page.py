"""docs/engines/solr.md, its commands as a reader types them, on a Solr with the product catalogue."""

import re
import shutil
from pathlib import Path

import pytest

from builders.typed_page import BLOCK, assert_shown, split_commands, type_command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "engines" / "solr.md").read_text(encoding="utf-8")
PRODUCTS = ROOT / "suites" / "products.relevance.yaml"
REPLACED = re.compile(r"^target:.*?(?=^grades:)", re.MULTILINE | re.DOTALL)
"""What stands between the name of the product suite and its grades: target, fixture and requests."""
EXAMPLE_URL = "http://localhost:8983"


@pytest.fixture
def folder(tmp_path, solr_url, monkeypatch):
    """A folder with the product suite as the page has it, and the page's relevance.toml."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    blocks = BLOCK.findall(PAGE)
    [configuration] = [text for language, text in blocks if language == "toml"]
    requests = next(text for language, text in blocks if language == "yaml")
    Path("relevance.toml").write_text(configuration.replace(EXAMPLE_URL, solr_url), encoding="utf-8")
    suite, replaced = REPLACED.subn(lambda _: requests + "\n", PRODUCTS.read_text(encoding="utf-8"))
    assert replaced == 1
    Path(PRODUCTS.name).write_text(suite, encoding="utf-8")
    shutil.copytree(PRODUCTS.parent / "products", "products")


@pytest.mark.usefixtures("folder")
def test_the_commands_print_what_the_page_shows(solr_url, capfd):
    commands = [
        command for language, text in BLOCK.findall(PAGE) if language == "console" for command in split_commands(text)
    ]
    for line, shown in commands:
        status, printed = type_command(line, capfd)
        assert status == 0, f"{line}\n{printed}"
        assert_shown(shown, printed.replace(solr_url, EXAMPLE_URL), line)
    assert len(commands) == 3
