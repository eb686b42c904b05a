"""Whose grades are the judgments of a suite: people's, and those of machines in the order of `judges`."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SuiteError
from harness.files.judge_files import JudgeFile, build_judge_path, fingerprint_questions
from harness.model import JudgeAnswer, MachineAnswer, Suite
from harness.suites import load_suite
from harness.suites.loading import load_unchecked

SUITE = """\
suite: shop
target: {index: products}
grades: {exact: 2, related: 1, wrong: 0}
judges: [people, gpt]
request: {query: {match: {name: "{{text}}"}}}
measures: ["nDCG@10"]
queries:
  - {id: tents, text: tent 2, judgments: {sku-1: exact, sku-2: wrong}}
  - {id: boots, text: "${RELEVANCE_WORD:-boots}"}
"""
HOW = MachineAnswer("judge-1", "", "p", "s", "It is one.", 200, 10)


def write_suite(folder: Path, text: str = SUITE) -> Path:
    path = folder / "shop.relevance.yaml"
    path.write_text(text)
    return path


def answer(path: Path, *answers: tuple[str, str, float], machine: str = "gpt", by: MachineAnswer | None = HOW) -> None:
    file = JudgeFile(build_judge_path(path, machine), fingerprint_questions(load_unchecked(path, None).suite))
    for query, document, grade in answers:
        file.record(JudgeAnswer(query, document, grade, machine=by))


def load(path: Path, environ: dict[str, str] | None = None, **options: Any) -> Suite:
    return load_suite(path, {} if environ is None else environ, **options)


def list_judgments(suite: Suite) -> dict[str, dict[str, float]]:
    return {query.id: dict(query.judgments) for query in suite.queries}


@pytest.mark.parametrize(
    ("judges", "tents", "by_machine"),
    [
        ("[people, gpt]", {"sku-1": 2.0, "sku-2": 0.0, "sku-3": 1.0}, {"sku-3"}),
        ("[gpt, people]", {"sku-1": 1.0, "sku-3": 1.0, "sku-2": 0.0}, {"sku-1", "sku-3"}),
        ("[gpt]", {"sku-1": 1.0, "sku-3": 1.0}, {"sku-1", "sku-3"}),
        ("[people]", {"sku-1": 2.0, "sku-2": 0.0}, set()),
    ],
)
def test_the_first_judge_who_graded_a_document_counts(
    tmp_path: Path, judges: str, tents: dict[str, float], by_machine: set[str]
) -> None:
    path = write_suite(tmp_path, SUITE.replace("[people, gpt]", judges))
    answer(path, ("tents", "sku-1", 1.0), ("tents", "sku-3", 1.0))
    [query, _] = load(path).queries
    assert (query.judgments, query.machine_graded) == (tents, by_machine)
    if by_machine:
        assert query.people_grades == {"sku-1": 2.0, "sku-2": 0.0}
        assert query.machine_grades == {"gpt": {"sku-1": 1.0, "sku-3": 1.0}}


def test_by_default_people_alone_judge(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE.replace("judges: [people, gpt]\n", ""))
    answer(path, ("tents", "sku-3", 1.0))
    suite = load(path)
    assert suite.judges == ("people",)
    assert list_judgments(suite) == {"tents": {"sku-1": 2.0, "sku-2": 0.0}, "boots": {}}
    assert suite.queries[0].people_grades is None


def test_those_who_judge_see_what_people_have_not_graded(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("tents", "sku-3", 1.0))
    assert list_judgments(load(path, machines=False))["tents"] == {"sku-1": 2.0, "sku-2": 0.0}


def test_a_suite_that_machines_alone_judged_has_judgments(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE.replace(", judgments: {sku-1: exact, sku-2: wrong}", ""))
    answer(path, ("boots", "sku-9", 2.0))
    assert list_judgments(load(path)) == {"tents": {}, "boots": {"sku-9": 2.0}}


def test_a_grade_for_another_text_is_left_out_and_told(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("tents", "sku-3", 1.0), ("boots", "sku-9", 2.0))
    path.write_text(SUITE.replace("text: tent 2", "text: tent 3"))
    suite = load(path)
    assert list_judgments(suite)["tents"] == {"sku-1": 2.0, "sku-2": 0.0}
    assert suite.judge_notes == (
        "left out 1 grade of gpt, given before the text or params changed: 1 query (tents); grade again",
    )


def test_a_variable_of_the_environment_makes_no_grade_old(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("boots", "sku-9", 2.0))
    suite = load(path, {"RELEVANCE_WORD": "wellies"})
    assert suite.queries[1].text == "wellies"
    assert list_judgments(suite)["boots"] == {"sku-9": 2.0}


@pytest.mark.parametrize(
    ("judges", "answers", "sentence"),
    [
        ("[people, gpt]", [], "relevance.yaml:4:18: the machine 'gpt' has graded nothing in "),
        ("[people, gpt, gpt]", [("tents", "a", 1.0)], "relevance.yaml:4:23: the judge 'gpt' is named twice"),
        ("[people, ../gpt]", [], "relevance.yaml:4:18: found '../gpt' as the name of a judge"),
        ("[people, gpt]", [("tents", "a", 3.0)], "judged-by.gpt.jsonl:1:1: found grade 3 of document 'a' for query"),
    ],
)
def test_what_is_wrong_with_a_machine_is_named(
    tmp_path: Path, judges: str, answers: list[tuple[str, str, float]], sentence: str
) -> None:
    path = write_suite(tmp_path, SUITE.replace("[people, gpt]", judges))
    if answers:
        answer(path, *answers)
    with pytest.raises(SuiteError) as caught:
        load(path)
    assert sentence in str(caught.value)


def test_the_grades_of_a_person_are_no_machines(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE.replace("gpt", "anna"))
    answer(path, ("tents", "a", 1.0), machine="anna", by=None)
    with pytest.raises(SuiteError, match=r"the grades of 'anna' in .* are a person's, who counts under 'people'"):
        load(path)


def test_a_file_that_is_none_and_a_link_are_errors(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    file = build_judge_path(path, "gpt")
    file.write_text(json.dumps({"grade": 1}) + "\n")
    with pytest.raises(SuiteError, match=r"judged-by\.gpt\.jsonl:1:1: this is no grade that was kept"):
        load(path)
    file.unlink()
    file.symlink_to("/etc/passwd")
    with pytest.raises(SuiteError, match="this is a link"):
        load(path)


def test_a_machine_need_not_have_graded_where_it_is_to_be_asked(tmp_path: Path) -> None:
    assert list_judgments(load(write_suite(tmp_path), needs_judgments=False))["tents"] == {"sku-1": 2.0, "sku-2": 0.0}
