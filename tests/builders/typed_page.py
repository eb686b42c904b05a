"""The commands of a page of the documentation, as a reader types them, and what the page shows of their output."""

import json
import re
import shlex
import subprocess
from contextlib import contextmanager
from pathlib import Path

from harness.cli import main
from harness.model.request import Cluster
from harness.search.dialects import open_search

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block: its language, empty for one that names none, and its text."""

FILE = re.compile(r"`([\w./-]+)`:\Z")
"""The end of a paragraph above a block that is a file, or a part of one."""
CHANGING = {
    r"\d+ ms": "N ms",
    r"\d{4}-\d\d-\d\d": "DAY",
    r"in \d+\.\d+ ?s": "in N s",
    r"\.yaml:\d+:\d+": ".yaml:PLACE",
    r"http://127\.0\.0\.1:\d+(/#token=\S+)?": "PAGE",
}
"""What another run of the same commands prints differently."""


def list_anchors(text):
    """The anchors of the headings of a page. A comment in a block is no heading."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def find_blocks(text, language):
    """The blocks of a page in *language*; an empty one finds those that name none."""
    return [block for name, block in BLOCK.findall(text) if name == language]


def split_commands(block):
    """Each command of a block with what the page shows of its output."""
    for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = text.rstrip("\n").partition("\n")
        yield line, shown


def follow_page(text):
    """
    Do what a page says, in the working directory: write its files, and give out each command with what it shows.

    A block below a paragraph that ends with `NAME`: is that file. Below "Append to" it is added to the file; below
    "writes" the file is there already, and has this content.
    """
    end = 0
    for block in BLOCK.finditer(text):
        paragraph = text[end : block.start()].rstrip("\n").rpartition("\n\n")[2]
        named = FILE.search(paragraph)
        end = block.end()
        if block[1] == "console":
            yield from split_commands(block[2])
        elif named:
            path = Path(named[1])
            if "writes" in paragraph:
                assert path.read_text(encoding="utf-8") == block[2]
            elif "Append to" in paragraph:
                path.write_text(path.read_text(encoding="utf-8") + block[2], encoding="utf-8")
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_text(block[2], encoding="utf-8")


def type_command(line, capfd):
    """The exit status of a command, and what it prints."""
    if line.startswith("relevance "):
        status = main(shlex.split(line)[1:])
    else:
        status = subprocess.run(["bash", "-o", "pipefail", "-c", line], check=False).returncode
    return status, capfd.readouterr().out


def normalize(text):
    for pattern, name in CHANGING.items():
        text = re.sub(pattern, name, text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def assert_shown(shown, printed, line):
    """Each part of what the page shows is printed as it stands, and in this order; `…` is what the page leaves out."""
    rest = "\n" + normalize(printed)
    for part in normalize(shown).removeprefix("…\n").removesuffix("\n…").split("\n…\n"):
        _, found, rest = rest.partition(f"\n{part}")
        assert found, f"{line}\n{part}\nis not in\n{printed}"


@contextmanager
def hold_index(url, name, documents, mappings):
    """An index of this name on the engine, as a reader of the page has one; *documents* are by id."""
    lines = []
    for document_id, document in documents.items():
        lines += [json.dumps({"index": {"_id": document_id}}), json.dumps(document)]
    bulk = "\n".join([*lines, ""]).encode()
    body = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": mappings}
    with open_search(Cluster("test", url=url, timeout=30.0), {}) as search:
        connection = search.connection
        connection.perform("DELETE", f"/{name}")
        assert connection.perform("PUT", f"/{name}", body=json.dumps(body).encode()).status == 200
        assert not json.loads(connection.perform("POST", f"/{name}/_bulk?refresh=true", body=bulk).body)["errors"]
        yield
        connection.perform("DELETE", f"/{name}")
