"""Exports carry people's grades, and say whose the others are where they are asked for; imports keep whose they are."""

import json
from pathlib import Path

import pytest

from extensions.migrate.builders.moving import write_files
from harness.cli import main
from harness.files.judge_files import JudgeFile, build_judge_path
from harness.files.judgments import read_judgments
from harness.model.judging import JudgeAnswer, MachineAnswer
from harness.suites import load_suite

pytestmark = pytest.mark.usefixtures("request_body")

SUITE = """\
suite: shop
target: {index: products}
judges: [JUDGES]
request: {query: {match: {name: "{{text}}"}}}
measures: ["nDCG@10"]
queries:
  - {id: tents, text: tent 2, judgments: {sku-1: 2, sku-2: 0}}
  - {id: boots, text: boots, judgments: {sku-9: 1}}
"""
HOW = MachineAnswer("judge-1", "", "p", "s", "It is one.", 200, 10)
PEOPLE_GAVE = {"tents": {"sku-1": 2, "sku-2": 0}, "boots": {"sku-9": 1}}
GRADES = {"csv": "out/shop.judgments.csv", "jsonl": "out/shop.judgments.jsonl", "trec": "out/shop.qrels"}


def write_suite(judges="people, gpt"):
    path = Path("shop.relevance.yaml")
    path.write_text(SUITE.replace("JUDGES", judges))
    file = JudgeFile(build_judge_path(path, "gpt"))
    file.begin_run()
    for query, document, grade in (("tents", "sku-1", 1.0), ("tents", "sku-3", 1.0), ("boots", "sku-4", 2.0)):
        file.record(JudgeAnswer(query, document, grade, machine=HOW))
    file.end_run()


def export(kind, *words, status=0):
    assert main(["export", kind, "shop.relevance.yaml", "--output", "out", *words]) == status


@pytest.mark.parametrize("judges", ["people, gpt", "gpt, people", "gpt"])
@pytest.mark.parametrize("kind", list(GRADES))
def test_an_export_has_people_s_grades_and_says_how_many_it_lacks(capsys, kind, judges):
    write_suite(judges)
    export(kind)
    assert read_judgments(Path(GRADES[kind])) == PEOPLE_GAVE
    assert "machine" not in Path(GRADES[kind]).read_text()
    said = capsys.readouterr().err
    assert "grades of gpt, no person's; --machine-grades writes them too (2 times)" in said


@pytest.mark.parametrize("judges", ["people, gpt", "gpt, people"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_grades_of_a_machine_stay_a_machine_s_on_the_way_out_and_back(capsys, kind, judges):
    write_suite(judges)
    before = load_suite(Path("shop.relevance.yaml"), {})
    export(kind, "--machine-grades")
    assert "grades of gpt" not in capsys.readouterr().err
    sources = sorted(map(str, Path("out").iterdir()))
    words = ["--output", "back/shop.relevance.yaml", "--index", "shop", "--request-file", "body.json"]
    assert main(["import", kind, *sources, *words]) == 0
    back = load_suite(Path("back/shop.relevance.yaml"), {})
    assert back.judges == ("people", "gpt")
    for query, again in zip(before.queries, back.queries, strict=True):
        assert (again.judgments, again.machine_graded) == (query.judgments, query.machine_graded)
    assert not JudgeFile.read(Path("back/shop.judged-by.gpt.jsonl")).is_open


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_such_a_file_is_no_file_of_people_s_judgments(capsys, kind):
    write_suite()
    export(kind, "--machine-grades")
    text = SUITE.replace("JUDGES", "people").replace(", judgments: {sku-1: 2, sku-2: 0}", "")
    text = text.replace(", judgments: {sku-9: 1}", "") + f"judgments: {GRADES[kind]}\n"
    Path("other.relevance.yaml").write_text(text)
    capsys.readouterr()
    assert main(["validate", "other.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert said.count("found a grade of gpt, a machine; `relevance import` keeps whose it is") == 2


def test_a_format_without_a_place_for_it_says_that_the_grades_become_people_s(capsys):
    write_suite()
    export("trec", "--machine-grades")
    assert read_judgments(Path(GRADES["trec"])) == {
        "tents": {"sku-1": 2, "sku-2": 0, "sku-3": 1},
        "boots": {"sku-9": 1, "sku-4": 2},
    }
    assert "grades of gpt are written as people's: the format does not say whose a grade is (2 times)" in (
        capsys.readouterr().err
    )


def test_a_suite_without_machines_has_no_column_and_no_sentence(capsys):
    write_suite("people")
    export("csv", "--machine-grades")
    assert Path(GRADES["csv"]).read_text().startswith("query,document,grade\n")
    assert "machine" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["tent,a,1,../x"], "a.csv:2:1: found '../x' as the name of a machine, expected letters, digits"),
        (["tent,a,1,gpt", "tent,a,2,gpt"], "a.csv:3:1: document 'a' has two grades of gpt for query 'tent'"),
    ],
)
def test_a_wrong_grade_of_a_machine_is_an_error_with_its_place(capsys, rows, message):
    write_files({"a.csv": "\n".join(["query,document,grade,graded_by_machine", *rows])})
    assert main(["import", "csv", "a.csv", "--output", "a.relevance.yaml"]) == 2
    assert message in capsys.readouterr().err


def test_people_and_a_machine_may_grade_one_document_and_people_count_first():
    entries = [
        {"query": "tent", "document": "a", "grade": 3},
        {"query": "tent", "document": "a", "grade": 1, "graded_by_machine": "gpt"},
        {"query": "tent", "document": "b", "grade": 2, "graded_by_machine": "people"},
    ]
    write_files({"a.jsonl": "\n".join(map(json.dumps, entries))})
    words = ["--output", "a.relevance.yaml", "--index", "shop", "--request-file", "body.json"]
    assert main(["import", "jsonl", "a.jsonl", *words]) == 0
    [query] = load_suite(Path("a.relevance.yaml"), {}).queries
    assert (query.judgments, query.machine_graded) == ({"a": 3, "b": 2}, frozenset())
    assert query.machine_grades == {"gpt": {"a": 1}}
