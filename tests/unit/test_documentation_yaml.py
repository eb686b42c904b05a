"""Every YAML block of every page but workflows is a suite that loads, or a part that a suite takes."""

import re
from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suites import load_suite

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```yaml\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FILES = re.compile(r"does not exist[:;] |the suite has no judgments|has graded nothing in ")
"""All that may be wrong with an example whose files are not beside it."""

NEEDED = {
    "suite": "suite: example\n",
    "target": "target: {index: products}\n",
    "request": 'request: {query: {match: {title: "{{text}}"}}}\n',
    "queries": (
        "queries: [{id: red-shoes, text: red, params: {lang: en}, tags: [head], judgments: {sku-1: 1}, "
        'expect: ["sku-1 in top 3"]}]\n'
    ),
}


def blocks():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for number, match in enumerate(FENCE.finditer(page.read_text(encoding="utf-8")), start=1):
            text = re.sub(f"^{match[1]}", "", match[2], flags=re.MULTILINE)
            entries = "queries:\n" if text.lstrip().startswith("- id:") else ""
            if re.search(r"^ *[^#\s]", text, re.MULTILINE) and "jobs" not in top_keys(text):
                yield pytest.param(entries + text, id=f"{page.name}-{number}")


def top_keys(text):
    return set(re.findall(r"^(\w+):", text, re.MULTILINE))


def completed(text):
    """*text* with what a suite needs beside it, with placeholders and tags that fit."""
    keys = top_keys(text) | ({"request"} if "requests" in top_keys(text) else set())
    whole = text + "".join(part for key, part in NEEDED.items() if key not in keys)
    return whole if "{{lang}}" in whole else whole.replace("params: {lang: en}, ", "")


@pytest.mark.parametrize("text", list(blocks()))
def test_a_block_of_yaml_is_right(text, tmp_path):
    path = tmp_path / "example.relevance.yaml"
    path.write_text(completed(text), encoding="utf-8")
    try:
        load_suite(path, None)
    except SuiteError as error:
        others = [str(problem) for problem in error.problems if not FILES.search(problem.message)]
        assert others == []
