"""docs/guides/agents.md: the commands, as an agent types them that makes a red gate green by the request alone."""

import json
import random
from pathlib import Path

import pytest

from builders.typed_page import follow_page, hold_index, type_command
from harness.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "agents.md").read_text(encoding="utf-8")

KINDS = ("jacket", "tent", "boots", "lamp", "mug", "rope", "saddle", "helmet", "gloves", "bottle")
TRAITS = ("waterproof", "light", "warm", "folding", "red", "steel")
MAPPINGS = {"properties": {"id": {"type": "keyword"}, "category": {"type": "keyword"}}}
SUITE = """\
suite: shop
target: {index: shop}
grades: {wanted: 2, related: 1, other: 0}
measures: [nDCG@10, Judged@10]
display: {title: title, fields: [text]}
request: {file: search.json}
judgments: [judgments.csv]
queries: queries.csv
thresholds:
  - mean nDCG@10 >= 0.9
  - drop every nDCG@10 <= 0.1
  - mean Judged@10 >= 1
"""
RED = {"multi_match": {"query": "{{text}}", "fields": ["title", "category"]}}
GREEN = {
    "bool": {
        "should": [
            {"match_phrase": {"text": {"query": "{{text}}", "boost": 10}}},
            {"match": {"title": {"query": "{{text}}", "boost": 6}}},
            {"match": {"text": {"query": "{{text}}", "boost": 0.5}}},
        ]
    }
}
PROTECTED = ("shop.relevance.yaml", "queries.csv", "judgments.csv", "shop.baseline.json")


def make_products():
    """200 products, a third of them without words in their titles."""
    draw = random.Random(7)
    products = {}
    for number in range(200):
        kind, trait = KINDS[number % 10], TRAITS[number // 10 % 6]
        title = f"{trait} {kind} {number}" if number % 3 else f"Model {number}"
        text = f"A {trait} {kind}. Goes well with a {draw.choice(KINDS)}."
        products[f"p{number}"] = {"id": f"p{number}", "title": title, "category": kind, "text": text}
    return products


def write_request(query):
    """What an agent may do."""
    Path("search.json").write_text(json.dumps({"query": query, "sort": ["_score", {"id": "asc"}]}), encoding="utf-8")


@pytest.fixture
def shop(tmp_path, opensearch_url, monkeypatch):
    """The suite with twelve queries and a grade of each product, its baseline, and the index; the URL of its engine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    products = make_products()
    draw = random.Random(3)
    queries = draw.sample([(kind, trait) for kind in KINDS for trait in TRAITS if kind != "boots"], 11)
    queries.append(("rope", "light"))
    assert len(set(queries)) == 12
    texts = [f"{trait}-{kind},{trait} {kind}\n" for kind, trait in queries]
    grades = []
    for kind, trait in queries:
        for product in products.values():
            wanted = product["text"].startswith(f"A {trait} {kind}.")
            grade = 2 if wanted else int(product["category"] == kind)
            grades.append(f"{trait}-{kind},{product['id']},{grade}\n")
    Path("queries.csv").write_text("".join(["id,text\n", *texts]), encoding="utf-8")
    Path("judgments.csv").write_text("".join(["query,document,grade\n", *grades]), encoding="utf-8")
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    write_request(RED)
    with hold_index(opensearch_url, "shop", products, MAPPINGS):
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", opensearch_url, "--quiet"]) == 0
        yield opensearch_url


def type_page(url, capfd, steps):
    """Each command with its status and what it printed; a step is done before the command that has its words."""
    capfd.readouterr()
    for line, _ in follow_page(PAGE.replace("http://localhost:9200", url)):
        for words, step in steps.items():
            if words in line:
                step()
        status, printed = type_command(line, capfd)
        result = json.loads(printed)
        assert result.get("exit_status", 0) == status, line
        yield line, status, result


def add_query():
    """What a person lets an agent do before the request changes: one more query."""
    write_request(RED)
    with Path("queries.csv").open("a", encoding="utf-8") as file:
        file.write("snow-boots,boots for the snow\n")


def grade_query():
    """What a person does with the hits of the new query."""
    lines = Path("new.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    graded = [lines[0], *(line.replace(",,", ",1,", 1) for line in lines[1:])]
    Path("new.csv").write_text("".join(graded), encoding="utf-8")
    suite = Path("shop.relevance.yaml")
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("[judgments.csv]", "[judgments.csv, new.csv]"), encoding="utf-8")


@pytest.mark.embedded
@pytest.mark.one_engine
def test_a_red_gate_gets_green_by_the_request_alone_and_a_query_is_added(shop, capfd):
    before = {name: Path(name).read_bytes() for name in PROTECTED}

    def change_request():
        assert {name: Path(name).read_bytes() for name in PROTECTED} == before
        write_request(GREEN)

    steps = {"compare baseline": change_request, "judgments pool": add_query, "judgments lint": grade_query}
    typed = list(type_page(shop, capfd, steps))
    assert [status for _, status, _ in typed] == [0, 1, 0, 0, 0, 0, 0, 0]
    results = [result for _, _, result in typed]

    [red] = results[1]["suites"]
    failed = [verdict for verdict in red["verdicts"] if verdict["status"] == "failed"]
    assert [(verdict["threshold"], verdict["cause"]) for verdict in failed] == [("mean nDCG@10 >= 0.9", None)]
    assert failed[0]["observed"] < failed[0]["required"]
    assert red["next"][0][:3] == ["relevance", "show", "shop.relevance.yaml"]

    shown = results[2]["query"]
    assert {"rank", "id", "grade", "score", "title"} <= set(shown["ranking"][0])
    assert shown["missing"][0]["absence"] == "no match"

    compared = results[3]
    [ndcg] = [measure for measure in compared["measures"]["measures"] if measure["measure"] == "nDCG@10"]
    assert ndcg["difference"] > 0.1
    assert {"low", "wins", "losses"} <= set(ndcg)
    assert compared["judged"]["candidate"]["unjudged"] == 0

    assert {document["query"] for document in results[5]["facts"]["pools"][0]["documents"]} == {"snow-boots"}
    saved = json.loads(Path("shop.baseline.json").read_text(encoding="utf-8"))["requests"]["request"]["queries"]
    assert len(saved) == 13


def test_the_file_for_tools_has_a_head_and_no_links():
    skill = (Path(__file__).parents[2] / "docs" / "examples" / "SKILL.md").read_text(encoding="utf-8")
    _, head, text = skill.split("---\n", 2)
    assert [line.partition(":")[0] for line in head.splitlines() if not line.startswith(" ")] == ["name", "description"]
    assert "](" not in text
    assert 550 < len(text.split()) < 700
