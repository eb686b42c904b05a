"""docs/tutorials/own-index.md from its first command to its last, as a reader types them, on an index of help pages."""

import csv
import json
import os
import re
import shutil
import subprocess
import webbrowser
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.pages import JudgingPage
from builders.typed_page import BLOCK, assert_shown, hold_index, split_commands, type_command
from harness.cli import main

pytest.importorskip("werkzeug", reason="the page of relevance judge needs the extra judge")
pytest.importorskip("waitress", reason="the page of relevance judge needs the extra judge")

PAGE = (Path(__file__).parents[4] / "docs" / "tutorials" / "own-index.md").read_text(encoding="utf-8")
DATA = Path(__file__).parent / "own_index"
SUITE = Path("articles.relevance.yaml")
EXAMPLE_URL = "http://127.0.0.1:9200"
TEXT = {"type": "text", "analyzer": "english"}
MAPPINGS = {"properties": {"id": {"type": "keyword"}, "section": {"type": "keyword"}, "title": TEXT, "text": TEXT}}


@pytest.fixture
def articles(opensearch_url):
    """An index of this name on the engine, as a reader has one."""
    lines = (DATA / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    articles = map(json.loads, lines)
    with hold_index(opensearch_url, "articles", {article["id"]: article for article in articles}, MAPPINGS):
        yield


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with the log, and a browser in which a judge gives the grades of `own_index/grades.csv`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.delenv("CI", raising=False)  # where no baseline is saved
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "anna")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "anna@example.org")
    shutil.copy(DATA / "searches.log", tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(open=grade_all))


def grade_all(url):
    with (DATA / "grades.csv").open(encoding="utf-8") as file:
        grades = {f"{row['query']}/{row['document']}": float(row["grade"]) for row in csv.DictReader(file)}
    page = JudgingPage(url)
    assert {f"{document['query']}/{document['document']}" for document in page.documents} == set(grades)
    page.grade(grades)
    page.ask("/finish", {"reread": False})
    return True


def edit_suite(block):
    """Put a block of the page where its text says."""
    text = SUITE.read_text(encoding="utf-8")
    if block.startswith("requests:"):
        place = r"^request:\n(?:  .*\n)*"
    elif block.startswith("grades:"):
        place = r"^# Nothing is judged.*\n(?:#.*\n){3}(?=thresholds:)"
    elif block.startswith("measures:"):
        place = r"(?<=bad: 0}\n)"
    elif block.startswith("thresholds:"):
        place = r"^thresholds:\n(?:  .*\n)*"
    else:
        block = block.removeprefix("queries:\n")
        place = rf"^{re.escape(block.split(',')[0])},.*\n"
    text, replaced = re.subn(place, lambda _: block, text, flags=re.MULTILINE)
    assert replaced == 1, block
    SUITE.write_text(text, encoding="utf-8")


@pytest.mark.embedded
@pytest.mark.skipif("RELEVANCE_TEST_OPENSEARCH" in os.environ, reason="the page shows the embedded node's scores")
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.usefixtures("articles", "repository")
def test_the_commands_lead_where_the_page_says(opensearch_url, capfd):
    commands = 0
    for language, block in BLOCK.findall(PAGE):
        if language == "json":
            Path("search.json").write_text(block, encoding="utf-8")
        if language == "yaml":
            edit_suite(block)
            assert main(["validate", str(SUITE)]) == 0, capfd.readouterr()
        if language != "console":
            continue
        for line, shown in split_commands(block):
            if line.startswith("pip install"):
                continue
            status, printed = type_command(line.replace(EXAMPLE_URL, opensearch_url), capfd)
            assert status == (1 if "FAILED" in shown else 0), f"{line}\n{printed}"
            if shown:
                assert_shown(shown, printed, line)
            commands += 1
    assert commands == 15
    assert Path("articles.judged-by.anna.jsonl").exists()
