"""docs/engines/elasticsearch.md and opensearch.md: the suite and the commands of each page, typed on that engine."""

import re
from pathlib import Path

import pytest

from builders.typed_page import BLOCK, assert_shown, hold_index, split_commands, type_command
from harness.search.engine import EngineSearch

ENGINES = Path(__file__).parents[2] / "docs" / "engines"
EXAMPLE_URL = "http://localhost:9200"
TEXT = {"type": "text", "analyzer": "english"}
FIELDS = {"sku": {"type": "keyword"}, "title": TEXT, "description": TEXT, "price": {"type": "integer"}}
PRODUCTS = {
    "sku-2": {"sku": "sku-2", "title": "Tent for two", "description": "Two poles, 2 kg", "price": 240},
    "sku-3": {"sku": "sku-3", "title": "Steel pegs", "description": "For any tent", "price": 9},
    "sku-7": {"sku": "sku-7", "title": "Climbing rope, 60 m", "description": "For rock and ice", "price": 150},
    "sku-8": {"sku": "sku-8", "title": "Cord", "description": "A thin rope, not for climbing", "price": 12},
}


@pytest.fixture
def products(engine_url, tmp_path, monkeypatch):
    """The index of the pages, a relevance.toml with its server, and a folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("CI", raising=False)
    Path("relevance.toml").write_text(f'[clusters.default]\nurl = "{engine_url}"\n', encoding="utf-8")
    with hold_index(engine_url, "products", PRODUCTS, {"properties": FIELDS}):
        yield


def list_commands(page):
    """Each command of *page* for the harness with what the page shows of its output."""
    for language, text in BLOCK.findall(page):
        if language == "console":
            yield from ((line, shown) for line, shown in split_commands(text) if line.startswith("relevance "))


@pytest.mark.usefixtures("products")
def test_the_suite_of_a_page_is_run_as_the_page_shows(engine_url, search: EngineSearch, capfd):
    page = (ENGINES / f"{search.engine.kind}.md").read_text(encoding="utf-8")
    suite, *others = re.findall(r"^```yaml\n(suite: .*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert all("esql:" in other for other in others), "only requests that no node of the tests answers are not run"
    Path("shop.relevance.yaml").write_text(suite, encoding="utf-8")
    commands = list(list_commands(page))
    assert commands
    for line, shown in commands:
        status, printed = type_command(line, capfd)
        assert status == 0, f"{line}\n{printed}"
        shown = re.sub(r"(?<=search )[\d.]+(?= at)", search.engine.version, shown)
        assert_shown(shown, printed.replace(engine_url, EXAMPLE_URL), line)


@pytest.mark.usefixtures("products")
def test_the_doctor_prints_what_the_page_of_all_engines_shows(engine_url, search: EngineSearch, capfd):
    page = (ENGINES / "index.md").read_text(encoding="utf-8")
    [(line, shown)] = list_commands(page)
    status, printed = type_command(line.replace(EXAMPLE_URL, engine_url), capfd)
    assert status == 0
    if search.engine.kind == "elasticsearch":
        shown = shown.replace("9.4.3", search.engine.version)
        clock = re.compile(r"[\d.]+ s (behind|ahead of) the clock")
        assert_shown(clock.sub("N s", shown), clock.sub("N s", printed).replace(engine_url, EXAMPLE_URL), line)
