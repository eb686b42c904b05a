"""What docs/reference/suites.md shows is true: its suites load; the list of keys is whole."""

import json
import re
from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suites import load_suite
from harness.suites.shape import suite_schema

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "suites.md"
TEXT = DOCS.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
SUITES = [block for block in BLOCKS if block.startswith("suite:")]
PARTS = [block for block in BLOCKS if not block.startswith("suite:")]
IN_USE = next(suite for suite in SUITES if "\ngrades:" in suite)


def load(text, folder):
    path = folder / "shop.relevance.yaml"
    path.write_text(text, encoding="utf-8")
    (folder / "requests").mkdir(exist_ok=True)
    (folder / "requests" / "search.json").write_text('{"query": {"match": {"title": "{{text}}"}}}')
    (folder / "requests" / "next.yaml").write_text("query: {match: {title: '{{text}}'}}\n")
    return load_suite(path, {})


@pytest.mark.parametrize("text", SUITES, ids=lambda text: text.split("\n")[0].removeprefix("suite: "))
def test_a_suite_of_the_reference_loads(tmp_path, text):
    (tmp_path / "guidelines.md").write_text("Think of the shopper.\n")
    # What a machine graded for the suite that names one.
    how = {
        "model": "m",
        "version": "",
        "prompt": "p",
        "shown": "s",
        "reason": "",
        "input_tokens": 1,
        "output_tokens": 1,
    }
    grade = {"query": "tents", "document": "sku-3", "grade": 0, "machine": how}
    (tmp_path / "shop.judged-by.gpt.jsonl").write_text(json.dumps(grade) + "\n")
    assert load(text, tmp_path).queries


def find_part(key):
    """The part of a suite that begins with *key*."""
    [part] = [part for part in PARTS if part.startswith(f"{key}:")]
    return part


def test_the_parts_of_suites_in_the_reference_load(tmp_path):
    (tmp_path / "judgments").mkdir()
    (tmp_path / "judgments" / "head.qrels").write_text("red-shoes 0 sku-1 1\nother 0 sku-1 1\n")
    (tmp_path / "judgments" / "tail.csv").write_text("query,document,grade\nred-shoes,sku-2,good\n")
    (tmp_path / "products.jsonl").write_text("".join(f'{{"sku": "sku-{n}"}}\n' for n in (1, 2, 4, 9, 17)))
    suite = load(IN_USE + find_part("judgments") + find_part("fixture"), tmp_path)
    assert suite.queries[0].judgments["sku-2"] == 2.0
    assert suite.fixture is not None


def test_the_error_of_the_reference_is_the_loaders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(IN_USE.replace("- mean", "- maen"), encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suite(Path("shop.relevance.yaml"), {})
    assert f"```\n{caught.value}\n```" in TEXT


def test_the_list_of_keys_has_each_place_of_the_schema(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts" / "site")
    from reference.suite_keys import MORE, PLACES

    schema = suite_schema()
    shapes = {"SuiteShape": schema, **schema["$defs"]}
    assert sorted(place.shape for place in PLACES) == sorted(shapes)
    assert [link for link in MORE if link[1] not in shapes[link[0]]["properties"]] == []
