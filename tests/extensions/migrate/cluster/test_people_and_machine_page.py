"""docs/tutorials/people-and-machine.md, as two people, one who settles and a machine go it."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from builders.extras import skip_without
from builders.pages import JudgingPage
from builders.typed_page import BLOCK, assert_shown, hold_index, split_commands, type_command
from extensions.judging.builders.llm_server import ScriptedModel, grade

skip_without("werkzeug", "waitress", "krippendorff", "openai")

DOCS = Path(__file__).parents[4] / "docs"
PAGE = (DOCS / "tutorials" / "people-and-machine.md").read_text(encoding="utf-8")
DATA = Path(__file__).parent / "from_quepid"
SUITE = Path("kitchen.relevance.yaml")
TEXT = {"type": "text", "analyzer": "english"}
MAPPINGS = {
    "properties": {"sku": {"type": "keyword"}, "category": {"type": "keyword"}, "name": TEXT, "description": TEXT}
}
PRODUCTS = [json.loads(line) for line in (DATA / "documents.jsonl").read_text(encoding="utf-8").splitlines()]
with (DATA / "grades.csv").open(encoding="utf-8") as _file:
    GRADES = list(csv.DictReader(_file))


def list_grades(judge):
    """The grades that a judge gives, by query and document."""
    return {f"{row['query']}/{row['document']}": float(row[judge]) for row in GRADES if row[judge]}


@pytest.fixture
def kitchen(opensearch_url):
    """The index of the shop on the engine."""
    with hold_index(opensearch_url, "kitchen", {product["sku"]: product for product in PRODUCTS}, MAPPINGS):
        yield


@pytest.fixture
def model():
    """A machine that gives the grades of `grades.csv`, whichever text of a product it is shown."""
    grades = list_grades("machine")
    ids = {product["name"]: product["sku"] for product in PRODUCTS}

    class Model(ScriptedModel):
        def take_reply(self, body):
            prompt = json.loads(body)["messages"][-1]["content"]
            query = re.search(r"BEGIN QUERY \w+\n(.*)\n", prompt)[1].replace(" ", "-")
            document = ids[re.search(r"BEGIN DOCUMENT \w+\ntitle: (.*)\n", prompt)[1]]
            return grade(int(grades[f"{query}/{document}"]))

    with Model() as started:
        yield started


@pytest.fixture
def repository(tmp_path, monkeypatch, opensearch_url):
    """A folder with the export, whose search endpoint is the engine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    export = (DATA / "kitchen.json").read_text(encoding="utf-8")
    Path("kitchen.json").write_text(export.replace("http://localhost:9200", opensearch_url), encoding="utf-8")


def judge_together(line):
    """The output of the command that serves the page, while all grade through their links."""
    command = [sys.executable, "-m", "harness", *line.replace("127.0.0.1:8000", "127.0.0.1:0").split()[1:]]
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            pages = {}
            while set(pages) != {"anna", "ben", "carol"}:
                printed.append(server.stdout.readline())
                assert printed[-1], "".join(printed)
                link = re.match(r"(\w+) (?:has|settles) .*: (http\S+)", printed[-1])
                if link:
                    pages[link[1]] = JudgingPage(link[2])
            for judge, page in pages.items():
                grades = list_grades(judge)
                assert {f"{document['query']}/{document['document']}" for document in page.documents} == set(grades)
                page.grade(grades)
                page.ask("/finish", {"reread": False})
        finally:
            server.send_signal(signal.SIGINT)
        printed.append(server.stdout.read())
    return server.returncode, "".join(printed)


def edit_suite(block):
    """Put a block of the section in the suite where its text says."""
    text = SUITE.read_text(encoding="utf-8")
    if block.startswith("request:"):
        place = r"^request: .*\n"
    elif block.startswith("grades:"):
        place = r"^(?=display:)"
    else:
        place = r"^# The source has no thresholds.*\n#.*\n"
    text, replaced = re.subn(place, lambda _: block, text, count=1, flags=re.MULTILINE)
    assert replaced == 1, block
    SUITE.write_text(text, encoding="utf-8")


@pytest.mark.embedded
@pytest.mark.skipif("RELEVANCE_TEST_OPENSEARCH" in os.environ, reason="the page shows the embedded node's scores")
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is a signal of POSIX here")
@pytest.mark.usefixtures("kitchen", "repository")
def test_the_commands_lead_where_the_page_says(model, capfd):
    commands = 0
    for language, block in BLOCK.findall(PAGE):
        if language == "yaml":
            edit_suite(block)
        if language == "toml":
            Path("relevance.toml").write_text(block.replace("https://api.openai.com/v1", model.url), encoding="utf-8")
        if language != "console":
            continue
        for line, shown in split_commands(block):
            if "--serve" in line:
                status, printed = judge_together(line)
                assert status == 130, printed
            else:
                status, printed = type_command(line, capfd)
                assert status == (1 if "FAILED" in shown else 0), f"{line}\n{printed}"
            if shown:
                assert_shown(shown, printed, line)
            commands += 1
    assert commands == 10
