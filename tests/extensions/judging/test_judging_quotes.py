"""Texts that a judge marks as quotes: which are kept, and which of them the suite has afterwards."""

import pytest

from extensions.judging.builders.judging import make_view
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.page.session_json import build_document
from harness.extensions.judging.server.actions import record_grade, record_quote, undo_grade
from harness.extensions.judging.session import GradeChoice, RefusedGrade
from harness.extensions.judging.writing import GradedFiles
from harness.files.judge_files import JudgeFile, Questions, describe_outdated
from harness.metrics.quotes import make_quote
from harness.model.judging import JudgeAnswer
from harness.model.suite import Display, Query, Suite, Target

TEXT = "The relief valve opens at 13 bar, and it closes again below 2 bar …"
CHOICES = (GradeChoice(0.0, "", "0"), GradeChoice(1.0, "", "1"), GradeChoice(3.0, "", "3"))
MARK = {"query": "q", "document": "c-7", "text": "it closes again below 2 bar", "grade": 3}


@pytest.fixture
def view(tmp_path):
    suite = Suite(
        "manuals", "m.yaml", Target(), {}, (),
        (Query("q", "when does it open", quotes=(make_quote("The relief valve"),)),
         Query("none", "a rocket", nothing=True)),
        display=Display(text="body", fields=("manual", "body")),
    )  # fmt: skip
    documents = [
        PooledDocument(query, "", "c-7", {}, texts={"manual": "boiler", "body": TEXT}) for query in ("q", "none")
    ]
    return make_view(suite, documents, CHOICES, JudgeFile(tmp_path / "m.judged-by.anna.jsonl"))


def read_kept(view):
    """The quotes of the document in the file of the judge."""
    answer = JudgeFile.read(view.file.path).answers.get(("q", "c-7"), JudgeAnswer("q", "c-7", None))
    return [(quote.text, quote.grade, quote.document) for quote in answer.quotes]


def test_a_quote_is_kept_with_the_document_that_it_is_from_and_undone(view):
    record_quote(view, MARK | {"text": " it closes\n again below  2 bar", "from": "manual"})
    assert read_kept(view) == [("it closes again below 2 bar", 3.0, "boiler")]
    record_quote(view, MARK | {"text": "the relief VALVE opens", "grade": 1})
    assert read_kept(view)[1:] == [("the relief VALVE opens", 1.0, "c-7")]
    undo_grade(view, {})
    assert read_kept(view) == [("it closes again below 2 bar", 3.0, "boiler")]
    undo_grade(view, {})
    assert read_kept(view) == []


def test_a_quote_that_is_marked_again_has_the_new_grade_and_none_without_a_grade(view):
    record_quote(view, MARK)
    record_quote(view, MARK | {"text": "IT closes again below 2 bar", "grade": 1})
    assert read_kept(view) == [("IT closes again below 2 bar", 1.0, "c-7")]
    assert record_quote(view, MARK | {"grade": None})["quotes"] == []
    assert read_kept(view) == []


def test_grades_comments_and_quotes_stay_with_each_other(view):
    record_quote(view, MARK)
    record_grade(view, {"query": "q", "document": "c-7", "grade": 1, "comment": "Half of it."})
    record_quote(view, MARK | {"text": "relief valve"})
    shown = build_document(view, view.documents[0])
    assert (shown["grade"], shown["comment"]) == (1.0, "Half of it.")
    assert [quote["text"] for quote in shown["quotes"]] == ["it closes again below 2 bar", "relief valve"]
    record_grade(view, {"query": "q", "document": "c-7", "grade": None, "comment": ""})
    assert len(read_kept(view)) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "it closes at 4 bar"}, "expected whole words of the text in body"),
        ({"text": "3 bar"}, "expected whole words of the text in body"),
        ({"text": "boiler"}, "expected whole words of the text in body"),
        ({"text": "below 2 bar …"}, "the text goes on where the page cuts it"),
        ({"text": " \n"}, "found 0 characters, expected a quote of 1 to 2,000"),
        ({"text": "a " * 1001}, "found 2,001 characters, expected a quote of 1 to 2,000"),
        ({"text": "the relief valve"}, "the suite has this quote already"),
        ({"text": 7}, "expected the text of a quote with its grade"),
        ({"grade": 0}, "expected a grade above 0"),
        ({"grade": 2}, "found 2 as a grade, expected one of 0, 1, 3"),
        ({"grade": True}, "found True as a grade"),
        ({"from": "year"}, "found 'year', expected a field that names the document"),
        ({"query": "none"}, "the suite says that no result is right for 'none'"),
        ({"document": "c-8"}, "expected a document of this pool"),
    ],
)
def test_what_is_no_quote_of_the_document_is_refused_and_not_kept(view, change, said):
    with pytest.raises(RefusedGrade, match=said):
        record_quote(view, MARK | change)
    assert not view.file.path.exists()


def test_quotes_of_a_query_that_changed_are_left_out_and_counted(tmp_path):
    path = tmp_path / "m.judged-by.anna.jsonl"
    quotes = (make_quote("a b"), make_quote("c d"))
    JudgeFile(path, Questions("m", {"q": "1"})).record(JudgeAnswer("q", "x", 2.0, quotes=quotes))
    file = JudgeFile.read(path, Questions("m", {"q": "2"}))
    assert file.answers == {}
    said = "left out 1 grade and 2 quotes of anna, given before the text or params changed: 1 query (q); grade again"
    assert describe_outdated({"anna": file}) == [said]


HEAD = """\
suite: manuals   # its name
target: {index: chunks}
display: {text: body}
request: {query: {match: {body: "{{text}}"}}}
"""
NEW = '{text: "at $${3}: \\"3 bar\\"", document: "007", grade: 3}'


def write(tmp_path, content, *judges):
    """The result of writing what *judges* marked to a suite with *content*, and the suite afterwards."""
    path = tmp_path / "m.relevance.yaml"
    path.write_bytes(content.encode())
    files = []
    for number, answers in enumerate(judges):
        files.append(JudgeFile(tmp_path / f"m.judged-by.j{number}.jsonl"))
        for answer in answers:
            files[-1].record(answer)
    grades = {pair: grade for file in files for pair, grade in file.grades.items()}
    return GradedFiles.read(path).write(grades, {}, files), path.read_bytes().decode()


def mark(text, grade=3.0, query="q", document="007", **said):
    return JudgeAnswer(query, "x", said.pop("graded", None), quotes=(make_quote(text, grade, document),), **said)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  - {id: q, text: x}   # one\n", f"  - {{id: q, text: x, quotes: [{NEW}]}}   # one\n"),
        ("  - id: q\n    text: x   # one\n\n  - {id: p, text: y}\n",
         f"  - id: q\n    text: x   # one\n    quotes:\n      - {NEW}\n\n  - {{id: p, text: y}}\n"),
        ("  - id: q\n    quotes:\n    - {text: a b}   # first\n    text: x\n",
         f"  - id: q\n    quotes:\n    - {{text: a b}}   # first\n    - {NEW}\n    text: x\n"),
        ("  - id: q\n    quotes: [{text: a b}, ]\n    text: x\n",
         f"  - id: q\n    quotes: [{{text: a b}}, {NEW}, ]\n    text: x\n"),
        ("  - id: q\n    quotes: []\n    text: x\n", f"  - id: q\n    quotes: [{NEW}]\n    text: x\n"),
        ("  - id: q\r\n    text: x\r\n", f"  - id: q\r\n    text: x\r\n    quotes:\r\n      - {NEW}\r\n"),
        ('  - {"id": "q", "text": "x"}\n',
         '  - {"id": "q", "text": "x", "quotes": '
         '[{"text": "at $${3}: \\"3 bar\\"", "document": "007", "grade": 3}]}\n'),
    ],
)  # fmt: skip
def test_only_the_new_quote_changes_the_suite(tmp_path, before, after):
    written, content = write(tmp_path, f"{HEAD}queries:\n{before}", [mark('at ${3}: "3 bar"')])
    assert content == f"{HEAD}queries:\n{after}"
    assert (written.added, written.quotes, dict(written.quotes_left_out)) == (0, 1, {})


def test_grades_and_quotes_of_a_query_are_written_together_and_once(tmp_path):
    content = f"{HEAD}queries:\n  - {{\n      id: q,\n      text: x # one\n    }}\n"
    answers = [mark("a b", graded=2.0), JudgeAnswer("q", "y", None, quotes=(make_quote("A  b", 3.0), make_quote("c")))]
    written, content = write(tmp_path, content, answers, [mark("a b")])
    assert (written.added, written.quotes) == (1, 2)
    assert content.count("text: ") == 3 + HEAD.count("text: ")
    assert "judgments: {x: 2}" in content
    again, after = write(tmp_path, content)
    assert (again.files, after) == ((), content)
    again = GradedFiles.read(tmp_path / "m.relevance.yaml").write(
        {}, {}, [JudgeFile.read(tmp_path / f"m.judged-by.j{number}.jsonl") for number in (0, 1)]
    )
    assert (again.files, again.quotes, dict(again.quotes_left_out)) == ((), 0, {})


@pytest.mark.parametrize(
    ("head", "queries", "judges", "reason"),
    [
        (HEAD, "\n  - {id: q, text: x}\n", [[mark("a")], [mark("a", 1.0)]], "judges gave it different grades"),
        (HEAD, "\n  - {id: q, text: x, quotes: [{text: a}]}\n", [[mark("a")]], "the suite has it with another grade"),
        (HEAD, "\n  - {id: p, text: x}\n", [[mark("a")]], "the suite does not have the query"),
        (HEAD, "\n  - {id: q, text: x, nothing: true, need: none}\n", [[mark("a")]],
         "the suite says that no result is right for the query"),
        (HEAD.replace("text: body", "title: body"), "\n  - {id: q, text: x}\n", [[mark("a")]],
         "the suite does not name the field `text` of `display`, in which quotes are looked for"),
        (HEAD, " all.tsv\n", [[mark("a")]], "the query is in a query file; write it there by hand"),
        (HEAD, "\n  - {id: p, text: y, quotes: &all [{text: b}]}\n  - {id: q, text: x, quotes: *all}\n", [[mark("a")]],
         "it cannot be put into the suite without changing more; write it by hand"),
    ],
)  # fmt: skip
def test_what_the_suite_cannot_be_given_is_left_out_with_the_reason(tmp_path, head, queries, judges, reason):
    (tmp_path / "all.tsv").write_text("q\tshoes\n")
    before = f"{head}queries:{queries}"
    written, after = write(tmp_path, before, *judges)
    assert (written.quotes, dict(written.quotes_left_out), after) == (0, {reason: 1}, before)


@pytest.mark.parametrize("line", ["[7]", '[{"text": "a", "grade": 1}]', '[{"text": " ", "grade": 1, "from": ""}]', "3"])
def test_a_line_with_no_quotes_is_an_error(tmp_path, line):
    path = tmp_path / "m.judged-by.anna.jsonl"
    path.write_text(f'{{"query": "q", "document": "d", "grade": null, "quotes": {line}}}\n')
    with pytest.raises(Exception, match="this is no grade that was kept"):
        JudgeFile.read(path)
