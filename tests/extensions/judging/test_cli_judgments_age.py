"""``relevance judgments age``: grades of documents that changed, and grades that are old."""

import json
import re

import pytest

import harness.search.dialects
from extensions.judging.builders.judged_shop import DOCUMENTS, SUITE, set_up_shop
from harness.cli import main
from harness.errors import EngineUnreachable
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.texts import fingerprint_texts
from harness.files.judge_files import JudgeFile, build_judge_path, fingerprint_questions
from harness.model.judging import JudgeAnswer
from harness.model.run import Hit, Ranking
from harness.model.suite import Display, Query, Suite, Target
from harness.search.testing import FakeSearch


@pytest.fixture
def documents(monkeypatch):
    """What the index holds, to be changed by a test."""
    documents = {name: dict(source) for name, source in DOCUMENTS.items()}
    monkeypatch.setattr("extensions.judging.builders.judged_shop.DOCUMENTS", documents)
    return documents


@pytest.fixture
def folder(working_folder, monkeypatch, documents):
    set_up_shop(working_folder, monkeypatch)
    return working_folder


@pytest.fixture
def age(folder, capsys):
    def run(*words):
        status = main(["judgments", "age", "shop.relevance.yaml", "-q", *words])
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err.splitlines()

    return run


def give(folder, document, grade, *, judge="anna", time="2026-03-01T08:00:00+00:00", query="shoes", **texts):
    """Let *judge* grade a document that was shown with *texts*."""
    shown = fingerprint_texts(PooledDocument(query, "", document, {}, **texts), Display(title="title"))
    file = JudgeFile(build_judge_path(folder / "shop.relevance.yaml", judge))
    file.record(JudgeAnswer(query, document, grade, time=time, shown=shown))


def test_a_document_that_changed_since_it_was_graded_is_listed_with_the_fields_that_changed(folder, age, documents):
    give(folder, "a", 2.0, title="Title of a", snippet="The words of a.")
    give(folder, "b", 0.0, title="Title of b", snippet="The words of b.")
    assert age()[:2] == (0, [])
    documents["a"]["title"] = "Another title"
    status, out, _ = age()
    assert (status, out) == (
        1,
        [
            "shop.relevance.yaml:8:46: document 'a' for query 'shoes' changed in title since anna gave it grade 2 on "
            "2026-03-01; grade it again with relevance judge SUITE --regrade"
        ],
    )
    documents["a"]["text"] = "Other words."
    assert "changed in its longest text, title since" in age()[1][0]
    give(folder, "a", 2.0, time="2026-04-01T00:00:00+00:00", title="Another title", snippet="Other words.")
    assert age()[:2] == (0, [])


def test_fields_that_are_shown_no_longer_are_compared_and_others_are_not(folder, age, documents):
    give(folder, "a", 2.0, title="Title of a", texts={"shop.city": "Bern"})
    assert age()[:2] == (0, [])
    documents["a"]["text"] = "Other words."
    assert age()[:2] == (0, [])
    documents["a"]["shop"] = {"city": "Basel"}
    assert "changed in shop.city since" in age()[1][0]


def test_grades_of_nobody_are_recorded_once_and_changes_are_noticed_from_then_on(folder, age, documents):
    status, out, err = age()
    assert (status, out) == (0, [])
    assert "nothing says what the documents of 3 of 3 grades were like; --record keeps what they are today" in err[0]
    status, out, err = age("--record")
    assert (status, out, err[0]) == (0, [], "recorded 3 documents in shop.graded-documents.jsonl")
    lines = (folder / "shop.graded-documents.jsonl").read_text().splitlines()
    assert [json.loads(line)["document"] for line in lines] == ["d", "a", "b"]  # by query, then document
    before = (folder / "shop.graded-documents.jsonl").stat().st_mtime_ns
    documents["d"]["title"] = "Another title"
    status, out, _ = age("--record")
    assert status == 1
    assert "document 'd' for query 'boots' changed in title since grade 1 was recorded on" in out[0]
    assert (folder / "shop.graded-documents.jsonl").stat().st_mtime_ns == before


def test_a_grade_that_was_corrected_since_is_recorded_anew(folder, age, documents):
    age("--record")
    documents["d"]["title"] = "Another title"
    (folder / "shop.relevance.yaml").write_text(SUITE.replace("{d: 1}", "{d: 2}"))
    assert age()[:2] == (0, [])
    assert age("--record")[2][0] == "recorded 1 document in shop.graded-documents.jsonl"


def test_grades_older_than_a_day_are_listed_and_those_without_a_day_are_counted(folder, age):
    give(folder, "a", 2.0, title="Title of a")
    give(folder, "b", 0.0, judge="bob", time="2026-06-01T00:00:00+00:00", title="Title of b")
    status, out, err = age("--before", "2026-05-01", "--offline")
    assert (status, out) == (
        1,
        [
            "shop.relevance.yaml:8:46: grade 2 of document 'a' for query 'shoes', of anna, of 2026-03-01, is older "
            "than 2026-05-01; grade it again with relevance judge SUITE --regrade"
        ],
    )
    assert "nothing says when 1 of 3 grades were given" in err[0]


def test_a_grade_that_is_not_in_the_suite_yet_has_the_place_of_its_line(folder, age, documents):
    give(folder, "x", 1.0, title="Title of x")
    documents["x"]["title"] = "Another title"
    [line] = age()[1]
    assert line.startswith("shop.judged-by.anna.jsonl:1:1: document 'x' for query 'shoes' changed in title since anna")


def test_a_document_that_is_gone_is_a_matter_of_lint(folder, age, documents):
    give(folder, "a", 2.0, title="Title of a")
    del documents["a"]
    status, out, err = age()
    assert (status, out) == (0, [])
    assert any("1 graded document not found; see relevance judgments lint" in line for line in err)


def test_json_has_the_kind_of_each_finding(folder, age, documents):
    give(folder, "a", 2.0, title="Title of a")
    documents["a"]["title"] = "Another title"
    _, out, _ = age("--json", "--before", "2026-05-01")
    assert [finding["kind"] for finding in json.loads("\n".join(out))["facts"]["findings"]] == [
        "changed-document",
        "old-grade",
    ]


def test_a_server_that_does_not_answer_leaves_the_days(folder, age, monkeypatch):
    def refuse(*_, **__):
        raise EngineUnreachable("cannot connect to http://one:9200")

    monkeypatch.setattr(harness.search.dialects, "open_search", refuse)
    give(folder, "a", 2.0, title="Title of a")
    status, out, err = age("--before", "2026-05-01")
    assert status == 3
    assert "is older than" in out[0]
    assert any("cannot connect" in line for line in err)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--offline"], "needs --before DATE"),
        (["--offline", "--before", "2026-01-01", "--record"], "remove --url, --embedded and --record"),
        (["--before", "yesterday"], "does not match the format"),
    ],
)
def test_options_that_contradict_each_other_are_refused(age, words, reason):
    status, _, err = age(*words)
    assert status == 2
    assert reason in " ".join(err)


@pytest.mark.parametrize(
    "line", ["{}", '{"query": "q", "document": "d", "grade": 1, "day": "May", "shown": {}}', "[1]"]
)
def test_a_record_that_is_none_is_refused_with_its_line(folder, age, line):
    (folder / "shop.graded-documents.jsonl").write_text(f"{line}\n")
    status, _, err = age()
    assert status == 2
    assert any(
        re.match(r"shop\.graded-documents\.jsonl:1:\d+: not a record of a graded document: ", line) for line in err
    )


def test_a_record_that_is_a_link_is_not_followed(folder, age):
    (folder / "other.jsonl").write_text("")
    (folder / "shop.graded-documents.jsonl").symlink_to("other.jsonl")
    status, _, err = age("--record")
    assert status == 2
    assert "this is a link" in " ".join(err)
    assert (folder / "other.jsonl").read_text() == ""


def test_a_grade_for_another_text_of_the_query_is_no_evidence(folder, age, documents):
    suite = Suite("shop", "s.yaml", Target(), {}, (), (Query("shoes", "blue shoes"),))
    file = JudgeFile(build_judge_path(folder / "shop.relevance.yaml", "anna"), fingerprint_questions(suite))
    file.record(JudgeAnswer("shoes", "a", 2.0, shown={"title": "0" * 16}))
    status, out, err = age()
    assert (status, out) == (0, [])
    assert any("left out 1 grade of anna" in line for line in err)


API = """\
suite: api
target: {cluster: api}
display: {fields: [brand]}
request: {http: {method: GET, path: /search, params: {q: "{{text}}"}, ids: "$.ids[*]", fields: {brand: "$.brands[*]"}}}
measures: ["P@2"]
queries:
  - {id: q, text: one, judgments: {a: 1, b: 0}}
"""


class Service(FakeSearch):
    """Returns the document a alone, with its *brand*."""

    service = "http"
    brand = "Acme"

    def _respond(self, request):
        return Ranking((Hit("a", texts={"brand": self.brand}),))


def test_of_a_service_the_documents_that_it_returns_are_compared(folder, monkeypatch, capsys):
    service = Service({})
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: service)
    (folder / "relevance.toml").write_text(
        '[clusters.api]\nurl = "http://one:8000"\nservice = "http"\nrequests = ["GET /search"]\n'
    )
    path = folder / "api.relevance.yaml"
    path.write_text(API)
    for document in ("a", "b"):
        shown = fingerprint_texts(PooledDocument("q", "", document, {}, texts={"brand": "Acme"}), Display())
        JudgeFile(build_judge_path(path, "anna")).record(JudgeAnswer("q", document, 1.0, shown=shown))
    assert main(["judgments", "age", "api.relevance.yaml", "-q"]) == 0
    service.brand = "Other"
    capsys.readouterr()
    assert main(["judgments", "age", "api.relevance.yaml", "-q"]) == 1
    out = capsys.readouterr().out
    assert "document 'a' for query 'q' changed in brand since anna gave it grade 1; grade it again" in out
    assert "'b'" not in out
