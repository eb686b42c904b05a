"""Runs that go on and parts that are merged, on real engines: the index tells whether the answers are still its own."""

import random
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from builders.journaled import report_at
from harness.cli import main

pytestmark = pytest.mark.one_engine  # test_states_engines.py shows on each what an index tells

QUERIES = 40
COLOURS = ("red", "blue", "green", "black")
GOODS = ("boots", "gloves", "shoes")
SUITE = """\
suite: goods
target: {{cluster: "{url}", index: {index}}}
display: {{title: title}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}, sort: [{{_score: desc}}, {{sku: asc}}]}}
measures: ["nDCG@5"]
thresholds: ["mean nDCG@5 >= 0.99", "drop nDCG@5 <= 0.01"]
queries:
"""


@pytest.fixture
def goods(tmp_path, monkeypatch, index, engine_url):
    """A suite with a tie-break, in the folder of the test; the name of its index."""
    monkeypatch.chdir(tmp_path)
    documents = {f"d{n}": {"title": f"{COLOURS[n % 4]} {GOODS[n % 3]}", "sku": f"{n:02d}"} for n in range(3 * QUERIES)}
    name = index(documents, mappings={"properties": {"title": {"type": "text"}, "sku": {"type": "keyword"}}})
    lines = [
        f"  - {{id: q{n}, text: {COLOURS[n % 4]} {GOODS[n % 2]}, judgments: {{d{n}: 1}}}}\n" for n in range(QUERIES)
    ]
    text = SUITE.format(url=engine_url, index=name) + "".join(lines)
    Path("goods.relevance.yaml").write_text(text, encoding="utf-8")
    assert main(["baseline", "save", "goods.relevance.yaml"]) == 0
    return name


def run(*words):
    status = main(["run", "goods.relevance.yaml", "-q", *words, "--output", "json=r.json"])
    return status, report_at(Path("r.json"))


def test_a_killed_run_goes_on_unless_the_index_is_another(goods, call, capsys):
    whole = run("--journal", "j")
    content = Path("j").read_bytes()
    for size in random.Random(3).sample(range(len(content) - 20), 3):
        Path("j").write_bytes(content[:size])
        assert run("--journal", "j", "--resume") == whole
    Path("j").write_bytes(content[: len(content) // 2])
    call("PUT", f"/{goods}/_doc/new?refresh=true", {"title": "red boots", "sku": "000"})
    capsys.readouterr()
    run("--journal", "j", "--resume")
    assert "starting anew: " in capsys.readouterr().err


@needs_extension("distributed")
def test_the_parts_of_a_run_are_merged_to_the_whole(goods):
    whole = run()
    for part in ("1/2", "2/2"):
        assert main(["run", "goods.relevance.yaml", "-q", "--shard", part, "--journal", f"{part[0]}.journal"]) == 0
    status = main(["merge", "1.journal", "2.journal", "-q", "--output", "json=r.json"])
    assert (status, report_at(Path("r.json"))) == whole
