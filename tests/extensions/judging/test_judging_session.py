"""What a judge has before them: the order, the grades to choose from, and what is kept of what was given."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builders.suites import make_suite
from extensions.judging.builders.judging import make_view
from harness.errors import FormatError, UsageError
from harness.extensions.judging.findings import parse_scale
from harness.extensions.judging.model import Pool, PooledDocument
from harness.extensions.judging.page.session_json import build_session
from harness.extensions.judging.session import check_on_scale, list_choices, shuffle_documents, sort_by_query
from harness.files.judge_files import (
    JudgeFile,
    build_judge_path,
    collect_given,
    fingerprint_questions,
    read_judge_files,
)
from harness.metrics import parse_measure
from harness.model.judging import JudgeAnswer, MachineAnswer
from harness.model.suite import Gain, GainKind, Query

A, B = ("q", "a"), ("q", "b")


def make_graded_suite(judgments=None, **fields):
    return make_suite(Query("q", "red shoes", judgments=judgments or {}), **fields)


@pytest.mark.parametrize(
    ("given", "scale", "expected"),
    [
        ({}, None, [(0, "", "0"), (1, "", "1"), (2, "", "2"), (3, "", "3")]),
        ({"judgments": {"a": 1.0}}, None, [(0, "", "0"), (1, "", "1")]),
        ({"judgments": {"a": 1.0}, "measures": (parse_measure("ERR(max=2)@5"),)}, None,
         [(0, "", "0"), (1, "", "1"), (2, "", "2")]),
        ({"judgments": {"a": 0.5}}, None, [(0, "", "1"), (0.5, "", "2")]),
        ({"grades": {"good": 2.0, "bad": -2.0}}, None, [(-2, "bad", "1"), (2, "good", "2")]),
        ({"grades": {"good": 10.0, "bad": 0.0}}, None, [(0, "bad", "1"), (10, "good", "2")]),
        ({"gain": Gain(GainKind.MAP, ((0.0, 0.0), (4.0, 9.0)))}, None, [(0, "", "0"), (4, "", "4")]),
        ({"judgments": {"a": 9.0}}, "1..2", [(1, "", "1"), (2, "", "2")]),
        ({"grades": {"good": 1.0}}, "0..1", [(0, "", "0"), (1, "good", "1")]),
    ],
)  # fmt: skip
def test_the_grades_to_choose_from_are_those_of_the_suite_s_scale(given, scale, expected):
    choices = list_choices(make_graded_suite(**given), scale and parse_scale(scale))
    assert [(one.grade, one.name, one.key) for one in choices] == expected


def test_a_scale_of_a_hundred_grades_is_none_for_people():
    with pytest.raises(UsageError, match="found grades from 0 to 99 in --scale, expected at most 11 whole numbers"):
        list_choices(make_graded_suite(), parse_scale("0..99"))


# ------------------------------------------------------------------------------------------------ what is kept


@pytest.fixture
def kept(tmp_path):
    return JudgeFile(tmp_path / "shop.judged-by.anna.jsonl")


def test_what_was_given_is_there_after_a_restart_and_can_be_undone(kept):
    kept.grade(A, 2.0)
    kept.grade(B, 0.5)
    kept.grade(A, 3.0)
    again = JudgeFile.read(kept.path)
    assert (again.grades, again.given) == ({A: 3.0, B: 0.5}, {A: {2.0, 3.0}, B: {0.5}})
    assert [again.undo(), again.grades] == [A, {A: 2.0, B: 0.5}]
    assert [JudgeFile.read(kept.path).grades, again.undo(), again.undo(), again.undo()] == [
        {A: 2.0, B: 0.5},
        B,
        A,
        None,
    ]
    assert (again.grades, JudgeFile.read(kept.path).grades, JudgeFile.read(kept.path).steps) == ({}, {}, [])


def test_each_grade_is_a_line_of_the_file_before_anything_else_happens(kept):
    kept.grade(A, 2.0)
    assert json.loads(kept.path.read_text()) == {"query": "q", "document": "a", "grade": 2}
    kept.grade(A, None)
    assert kept.path.read_text().count("\n") == 2
    assert JudgeFile.read(kept.path).grades == {}


def test_a_line_that_was_cut_off_is_not_counted_and_the_next_grade_stands_by_itself(kept):
    kept.grade(A, 2.0)
    with kept.path.open("a") as file:
        file.write('{"query": "q", "docu')
    again = JudgeFile.read(kept.path)
    assert again.grades == {A: 2.0}
    again.grade(B, 1.0)
    assert JudgeFile.read(kept.path).grades == {A: 2.0, B: 1.0}


def test_a_last_line_that_lacks_only_its_end_is_a_grade_and_stays(kept):
    kept.path.write_text('{"query": "q", "document": "a", "grade": 2}\n{"query":"q","document":"b","grade":1}')
    again = JudgeFile.read(kept.path)
    assert again.grades == {A: 2.0, B: 1.0}
    again.grade(A, 3.0)
    assert JudgeFile.read(kept.path).grades == {A: 3.0, B: 1.0}


@pytest.mark.parametrize("content", ["precious", '{"query": "shoes"}', "[[[", "1", "precious\n", "text: {\n{"])
def test_a_file_of_something_else_is_left_as_it_is(kept, content):
    kept.path.write_text(content)
    with pytest.raises(FormatError, match=r"anna\.jsonl:1:1: "):
        JudgeFile.read(kept.path)
    with pytest.raises(FormatError, match=r"anna\.jsonl:1:1: "):
        kept.grade(A, 1.0)
    assert kept.path.read_text() == content
    assert (kept.grades, kept.steps) == ({}, [])


def test_an_id_that_is_no_text_is_refused_before_it_is_kept(kept):
    with pytest.raises(UsageError, match="has an id or a comment that is no valid text"):
        kept.grade(("q", "\ud800"), 1.0)
    assert not kept.path.exists()


HUGE = '{"query": "q", "document": "a", "grade": 1' + "0" * 400 + "}"
SURROGATE = '{"query": "q", "document": "\\ud800", "grade": 1}'


@pytest.mark.parametrize(
    "line",
    [
        HUGE,
        "[" * 100_000,
        SURROGATE,
        "[1]",
        "{",
        '{"query": "q", "document": "a", "grade": "x"}',
        '{"query": "q", "document": "a", "grade": true}',
        '{"query": "q", "document": "a", "grade": 1e999}',
        '{"query": "q"}',
        "3",
    ],
)
def test_a_file_of_something_else_is_an_error_with_its_line(kept, line):
    kept.path.write_text(f'{{"query": "q", "document": "a", "grade": 1}}\n{line}\n')
    with pytest.raises(FormatError, match=r"anna\.jsonl:2:1: this is no grade that was kept; expected a line such as"):
        JudgeFile.read(kept.path)


def test_each_judge_has_a_file(tmp_path):
    suite = tmp_path / "shop.relevance.yaml"
    for judge, grade in (("anna", 1.0), ("bob", 2.0)):
        JudgeFile(build_judge_path(suite, judge)).grade(A, grade)
    (tmp_path / "other.judged-by.eve.jsonl").write_text("{}\n")
    judges = read_judge_files(suite)
    assert {name: one.grades for name, one in judges.items()} == {"anna": {A: 1.0}, "bob": {A: 2.0}}
    assert collect_given(judges.values()) == {A: {1.0, 2.0}}


@pytest.mark.parametrize(
    ("given", "scale", "wrong", "expected"),
    [
        ({}, None, [99999, -5, 1e300, 4], "a grade from 0 to 3"),
        ({"judgments": {"a": 1.0}}, None, [4], "a grade from 0 to 3"),
        ({"judgments": {"a": 40.0}}, None, [41, -1], "a grade from 0 to 40"),
        ({"grades": {"good": 1.0, "bad": -1.0}}, None, [2, -2, 0, 0.5], "one of -1 (bad), 1 (good)"),
        ({"measures": (parse_measure("ERR(max=2)@5"),)}, None, [3], "a grade from 0 to 2"),
        ({}, "1..4", [0, 5, 1.5], "one of 1, 2, 3, 4"),
        ({"grades": {"good": 1.0}}, "0..1", [2, 0.5], "one of 0, 1 (good)"),
        ({"gain": Gain(GainKind.MAP, ((0.0, 0.0), (1.0, 1.0), (4.0, 9.0)))}, None, [2, 5], "one of 0, 1, 4"),
    ],
)
def test_kept_grades_outside_of_the_scale_are_refused_with_their_lines(kept, given, scale, wrong, expected):
    grades = [1, *wrong]
    lines = [json.dumps({"query": "q", "document": str(n), "grade": grade}) for n, grade in enumerate(grades)]
    kept.path.write_text("\n".join(lines))
    with pytest.raises(FormatError) as failure:
        check_on_scale([JudgeFile.read(kept.path)], make_graded_suite(**given), scale and parse_scale(scale))
    assert [(one.line, one.message) for one in failure.value.problems] == [
        (n + 1, f"found grade {grade:g} of document {n} of query q, expected {expected}; "
         "correct it, or give --scale")
        for n, grade in enumerate(wrong, start=1)
    ]  # fmt: skip
    kept.path.write_text(lines[0])
    check_on_scale([JudgeFile.read(kept.path)], make_graded_suite(**given), scale and parse_scale(scale))


def asked(text, suite="shop"):
    return fingerprint_questions(replace(make_graded_suite(), name=suite, queries=(Query("q", text),)))


def test_each_line_says_what_was_judged_and_a_line_that_does_not_counts(kept):
    kept.grade(A, 2.0)
    shop = JudgeFile.read(kept.path, asked("red shoes"))
    shop.grade(B, 1.0)
    line = json.loads(kept.path.read_text().splitlines()[1])
    assert (line["suite"], len(line["question"])) == ("shop", 16)
    for questions in (None, asked("red shoes")):
        assert JudgeFile.read(kept.path, questions).grades == {A: 2.0, B: 1.0}


def test_a_file_of_another_suite_is_refused_with_its_line_and_stays(kept):
    kept.grade(A, 2.0)
    other = JudgeFile.read(kept.path, asked("red shoes", "othershop"))
    JudgeFile.read(kept.path, asked("red shoes")).grade(B, 1.0)
    before = kept.path.read_bytes()
    said = r"anna\.jsonl:2:1: found a grade of the suite 'shop', expected grades of 'othershop'; choose another folder"
    with pytest.raises(FormatError, match=said):
        JudgeFile.read(kept.path, asked("red shoes", "othershop"))
    with pytest.raises(FormatError, match=r"anna\.jsonl:2:1: "):
        other.grade(A, 1.0)
    assert kept.path.read_bytes() == before


def test_a_grade_of_a_query_that_changed_does_not_count_until_it_is_given_again(kept):
    JudgeFile.read(kept.path, asked("red shoes")).grade(A, 2.0)
    now = JudgeFile.read(kept.path, asked("red boots"))
    assert (now.grades, now.outdated, now.given) == ({}, {A}, {A: {2.0}})
    now.grade(A, 1.0)
    assert (now.grades, now.outdated) == ({A: 1.0}, set())
    assert JudgeFile.read(kept.path, asked("red boots")).grades == {A: 1.0}
    assert JudgeFile.read(kept.path, asked("red shoes")).outdated == {A}


def test_a_grade_that_was_taken_back_does_not_return_with_a_change_of_the_query(kept):
    kept.grade(A, 2.0)
    assert JudgeFile.read(kept.path, asked("red shoes")).undo() == A
    assert JudgeFile.read(kept.path, asked("red boots")).grades == {}


@pytest.mark.parametrize("judge", ["", "../eve", "a b", "a.b", "x" * 65])
def test_a_name_that_is_none_for_a_file_is_refused(judge):
    with pytest.raises(UsageError, match="as the name of a judge"):
        build_judge_path(Path("shop.relevance.yaml"), judge)


# ------------------------------------------------------------------------------------------------ what is shown


def pool_of(*documents):
    pooled = tuple(PooledDocument(*one.split("/"), ranks={"current": 1}) for one in documents)
    return Pool("shop", "s.yaml", 10, "nDCG@10", pooled, (), ())


def names(documents):
    return [one.document for one in documents]


def test_a_blind_order_is_the_same_each_time_and_keeps_queries_together():
    pool = pool_of(*(f"{query}/text/{query}{number}" for query in "pq" for number in range(8)))
    documents = sort_by_query(pool)
    blind = names(shuffle_documents(documents, seed="0:anna"))
    assert names(documents) == names(pool.documents) != blind
    assert blind == names(shuffle_documents(documents, seed="0:anna"))
    assert blind != names(shuffle_documents(documents, seed="0:bob"))
    assert [one[0] for one in blind] == ["p"] * 8 + ["q"] * 8
    assert sorted(blind) == sorted(names(pool.documents))


def test_a_blind_judge_sees_neither_ranks_nor_the_suite_s_grades(kept):
    documents = pool_of("q/red shoes/a").documents
    view = make_view(make_graded_suite(), documents, list_choices(make_graded_suite()), kept, existing={A: 1.0})
    [seen] = build_session(view)["documents"]
    assert (seen["ranks"], seen["existing"]) == ({"current": 1}, 1.0)
    [seen] = build_session(replace(view, blind=True))["documents"]
    assert (seen["ranks"], seen["existing"]) == ({}, None)


MACHINE = MachineAnswer("judge-1", "fp_7", "p1", "s1", "It has both words.", 210, 12)


def test_comments_doubts_and_the_reasons_of_a_machine_are_kept(kept):
    said = [
        JudgeAnswer(*A, 2.0, comment="Too small – “but” red."),
        JudgeAnswer(*B, None, cannot_tell=True),
        JudgeAnswer("q", "c", 1.0, machine=MACHINE),
    ]
    for answer in said:
        kept.record(answer)
    again = JudgeFile.read(kept.path)
    assert list(again.answers.values()) == said
    assert again.grades == {A: 2.0, ("q", "c"): 1.0}
    assert (again.is_machine, JudgeFile(kept.path).is_machine) == (True, False)


def test_undo_restores_the_comment_and_the_doubt_too(kept):
    kept.record(JudgeAnswer(*A, None, cannot_tell=True, comment="Which size?"))
    kept.grade(A, 1.0)
    assert kept.undo() == A
    assert JudgeFile.read(kept.path).answers == kept.answers
    assert (kept.answers[A].cannot_tell, kept.answers[A].comment, kept.grades) == (True, "Which size?", {})
    assert kept.undo() == A
    assert (kept.answers, JudgeFile.read(kept.path).answers) == ({}, {})


def test_a_line_that_somebody_else_appended_and_cut_is_seen_before_the_next_one(kept):
    kept.grade(A, 2.0)
    with kept.path.open("ab") as file:
        file.write(b'{"query": "q", "docum')
    kept.grade(B, 1.0)
    assert JudgeFile.read(kept.path).grades == {A: 2.0, B: 1.0}
    kept.path.write_text("something else\n")
    with pytest.raises(FormatError, match="this is no grade that was kept"):
        kept.grade(B, 2.0)


@pytest.mark.parametrize("machine", ["gpt", {"model": "gpt"}, [1]])
def test_a_machine_that_does_not_say_how_it_graded_is_an_error_of_the_line(kept, machine):
    kept.path.write_text(json.dumps({"query": "q", "document": "d", "grade": 1, "machine": machine}) + "\n")
    with pytest.raises(FormatError, match=":1:1: this is no grade that was kept"):
        JudgeFile.read(kept.path)
