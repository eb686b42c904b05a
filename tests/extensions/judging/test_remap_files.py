"""New ids in the files of judgments: by place, all at once, and with everything else as it was."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.extensions.judging.remap.files import IdFiles
from harness.extensions.judging.remap.id_edits import rewrite_expectation
from harness.extensions.judging.writing import GradedFiles
from harness.files.judge_files import read_judge_files

WHY = r'"why": "\"document\": \"a\""'
"""A member of an object whose text looks like a document."""

SWAPPED = {"a": "b", "b": "a", "7": "08", "c": "c,1"}

SUITE = """\
# The judgments of the shop.
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
judgments: [FILE]
queries:
  - id: tents            # the best seller
    text: a tent
    expect: ["a before b", 'a in top 3', {expect: "'b' not in top 5", severity: warn}, "a = b in top 3"]
    judgments: {a: 3, "b": 1, 7: 0}   # a is the best
  - id: ropes
    text: rope
    judgments: &shared
      # b is wrong
      b: 0
      other: 1
  - {id: cords, text: cord, judgments: *shared}
"""
EXPECTED = """\
# The judgments of the shop.
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
judgments: [FILE]
queries:
  - id: tents            # the best seller
    text: a tent
    expect: ["b before a", 'b in top 3', {expect: "'a' not in top 5", severity: warn}, "a = b in top 3"]
    judgments: {b: 3, "a": 1, 08: 0}   # a is the best
  - id: ropes
    text: rope
    judgments: &shared
      # b is wrong
      a: 0
      other: 1
  - {id: cords, text: cord, judgments: *shared}
"""


@pytest.fixture(autouse=True)
def _working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def edit(name: str, text: str, new_ids: dict[str, str] = SWAPPED) -> str:
    """The text of the judgment file *name* with new ids."""
    Path(name).write_bytes(text.encode())
    suite = "suite: shop\ntarget: {index: products}\nrequest: {query: {match: {title: '{{text}}'}}}\n"
    suite += f"judgments: {{files: {name}, other_queries: ignore, ungraded: ignore}}\n"
    Path("shop.relevance.yaml").write_text(f"{suite}queries: [{{id: tents, text: tent}}]\n", encoding="utf-8")
    files = IdFiles.read(GradedFiles.read(Path("shop.relevance.yaml")), {}, [])
    edited = files.edit(new_ids)
    return edited[Path(name)].decode() if Path(name) in edited else text


def test_a_suite_has_them_in_judgments_and_expectations() -> None:
    Path("more.qrels").write_text("tents 0 x 1\n", encoding="utf-8")
    Path("shop.relevance.yaml").write_text(SUITE.replace("FILE", "more.qrels"), encoding="utf-8")
    files = IdFiles.read(GradedFiles.read(Path("shop.relevance.yaml")), {}, [])

    assert {path: content.decode() for path, content in files.edit(SWAPPED).items()} == {
        Path("shop.relevance.yaml"): EXPECTED.replace("FILE", "more.qrels")
    }


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "j.qrels",
            "# a comment\ntents 0  a\t3\r\ntents 0 b 1\nropes 0 a 2",
            "# a comment\ntents 0  b\t3\r\ntents 0 a 1\nropes 0 b 2",
        ),
        (
            "j.csv",
            'query,document,grade,note\ntents,a,3,a\ntents,"b",1,\ntents,7,0,\n',
            'query,document,grade,note\ntents,b,3,a\ntents,"a",1,\ntents,\'08,0,\n',
        ),
        ("j.csv", "grade;document;query\n1;c;tents\n", "grade;document;query\n1;c,1;tents\n"),
        ("j.csv", "query,document,grade\ntents,c,1\n", 'query,document,grade\ntents,"c,1",1\n'),
        ("j.csv", "\ufeffquery,document,grade\ntents,a,\n", "\ufeffquery,document,grade\ntents,b,\n"),
        (
            "j.jsonl",
            f'{{"query": "tents", "document": "a", "grade": 3, {WHY}}}\n{{"document":7,"query":"tents","grade":1}}\n',
            f'{{"query": "tents", "document": "b", "grade": 3, {WHY}}}\n{{"document":"08","query":"tents","grade":1}}\n',  # noqa: E501
        ),
        ("j.yaml", "tents: {a: 3, 'b': 1}  # a\nropes:\n  b: 2\n", "tents: {b: 3, 'a': 1}  # a\nropes:\n  a: 2\n"),
        ("j.qrels", "tents 0 x 1\n", "tents 0 x 1\n"),
    ],
)
def test_a_judgment_file_has_them_in_their_places(name: str, before: str, after: str) -> None:
    assert edit(name, before) == after


def test_an_id_with_a_blank_does_not_fit_into_trec() -> None:
    with pytest.raises(UsageError, match="a TREC file cannot hold the id 'a b'"):
        edit("j.qrels", "tents 0 a 1\n", {"a": "a b"})


def test_a_packed_file_is_refused_and_stays() -> None:
    content = gzip.compress(b'{"query": "tents", "document": "a", "grade": 1}\n')
    Path("j.jsonl.gz").write_bytes(content)
    Path("shop.relevance.yaml").write_text(SUITE.replace("FILE", "j.jsonl.gz"), encoding="utf-8")
    files = IdFiles.read(GradedFiles.read(Path("shop.relevance.yaml")), {}, [])

    with pytest.raises(UsageError, match="ids cannot be edited in a file of this kind"):
        files.edit({"a": "b"})
    assert Path("j.jsonl.gz").read_bytes() == content


def test_files_of_judges_have_them_too() -> None:
    Path("shop.relevance.yaml").write_text(SUITE.replace("judgments: [FILE]\n", ""), encoding="utf-8")
    judged = Path("shop.judged-by.anna.jsonl")
    judged.write_text('{"query": "tents", "document": "a", "grade": 3, "comment": "a"}\n', encoding="utf-8")
    judges = read_judge_files(Path("shop.relevance.yaml"))
    files = IdFiles.read(GradedFiles.read(Path("shop.relevance.yaml")), judges, [])

    assert files.edit({"a": "b"})[judged] == b'{"query": "tents", "document": "b", "grade": 3, "comment": "a"}\n'


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a before b", "b before a"),
        ('"a" before b', '"b" before a'),
        ("c not in top 3", "c,1 not in top 3"),
        ("hits >= 1", "hits >= 1"),
        ("every hit in top 3 has a = a", "every hit in top 3 has a = a"),
        ("x before a", "x before b"),
        ("nonsense", "nonsense"),
    ],
)
def test_an_expectation_names_the_new_ids(text: str, after: str) -> None:
    assert rewrite_expectation(text, SWAPPED) == after
