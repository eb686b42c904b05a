"""Ids and texts that look like others and are not are listed by each import, with both spellings."""

import json

import pytest

from extensions.migrate.builders.moving import write_files
from harness.cli import main

pytestmark = pytest.mark.usefixtures("working_folder")

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
DIFFER = "queries that differ only in letter case, blanks or Unicode form; each is a query of the suite"
TRIMMED = "blanks around an id or text"


def make_source(kind, first, second, document="d1"):
    """A source of *kind* with two queries, which have these texts, or ids where judgments have ids."""
    csv = f"{{}}\n{first},{document},1\n{second},d2,1\n"
    rated = [{"query": first, "document": document, "grade": 1}, {"query": second, "document": "d2", "grade": 1}]
    sources = {
        "csv": ("a.csv", csv.format("query,document,grade")),
        "quepid": ("a.csv", csv.format("query,docid,rating")),
        "opensearch-srw": ("a.csv", csv.format("query,docid,rating")),
        "trec": ("a.qrels", f"{first} 0 {document} 1\n{second} 0 d2 1\n"),
        "jsonl": ("a.jsonl", "\n".join(json.dumps(line) for line in rated)),
        "rank_eval": (
            "a.json",
            {
                "requests": [
                    {
                        "id": name,
                        "request": {"query": {"match": {"title": name}}},
                        "ratings": [{"_index": "i", "_id": document, "rating": 1}],
                    }
                    for name in (first, second)
                ],
                "metric": {"precision": {}},
            },
        ),
    }
    name, content = sources[kind]
    write_files({name: content})
    return name


def import_source(kind, sources, output="moved.relevance.yaml"):
    assert main(["import", kind, *sources, "--output", output]) == 0


KINDS = ["csv", "quepid", "opensearch-srw", "trec", "jsonl", "rank_eval"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Tent", "tent"), (COMPOSED, DECOMPOSED), ("STRASSE", "straße"), ("x²", "x2"), ("Ⅳ", "iv")],
)
@pytest.mark.parametrize("kind", KINDS)
def test_queries_that_differ_in_their_spelling_are_listed(capsys, kind, first, second):
    import_source(kind, [make_source(kind, first, second)])
    said = capsys.readouterr().err
    shown = f"{first!a} and {second!a}" if first == COMPOSED else f"{first!r} and {second!r}"
    assert f"{DIFFER} ({shown})" in said
    assert said.count(DIFFER) == 1


@pytest.mark.parametrize(("first", "second"), [("icecream", "ice cream"), ("tent", "tents"), ("a-b", "a b")])
def test_other_queries_are_not(capsys, first, second):
    import_source("csv", [make_source("csv", first, second)])
    assert DIFFER not in capsys.readouterr().err


def test_several_queries_with_one_text_are_not(capsys):
    write_files({"q.csv": "id,text\n1,tent\n2,tent\n"})
    import_source("csv", ["q.csv"])
    assert DIFFER not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["csv", "quepid", "opensearch-srw"])
def test_blanks_that_are_trimmed_are_listed(capsys, kind):
    import_source(kind, [make_source(kind, " tent", "rope\u00a0")])
    assert f"a.csv:2:1: {TRIMMED} (2 times, first ' tent')" in capsys.readouterr().err


def test_blanks_around_an_id_in_json_are_listed(capsys):
    import_source("rank_eval", [make_source("rank_eval", " tent", "rope")])
    assert "have blanks around them (' tent', which is 'tent' in the suite)" in capsys.readouterr().err
    files = {
        "b/queries.jsonl": '{"_id": "1 ", "text": "tent"}\n',
        "b/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\t d1\t1\n",
    }
    write_files(files)
    import_source("beir", ["b"], output="b.relevance.yaml")
    said = capsys.readouterr().err
    assert f"{TRIMMED} ('1 ')" in said
    assert f"{TRIMMED} (' d1')" in said


@pytest.mark.parametrize(("character", "name"), [("\u200b", "U+200B"), ("\u00ad", "U+00AD"), ("\u2060", "U+2060")])
@pytest.mark.parametrize("kind", KINDS)
def test_an_id_with_a_character_that_does_not_show_is_listed(capsys, kind, character, name):
    import_source(kind, [make_source(kind, "tent", "rope", document=f"d{character}1")])
    said = capsys.readouterr().err
    assert f"an id or text with {name}, which does not show; it is kept as it is here (" in said
    assert ascii(f"d{character}1") in said


@pytest.mark.parametrize("kind", KINDS)
def test_no_id_has_a_byte_order_mark_without_a_word(capsys, kind):
    source = make_source(kind, "tent", "rope", document="d\ufeff1")
    status = main(["import", kind, source, "--output", "moved.relevance.yaml"])
    said = capsys.readouterr().err
    # A text file must not contain it, and JSON may have it escaped.
    if kind in ("jsonl", "rank_eval"):
        assert "an id or text with U+FEFF, which does not show; it is kept as it is here (" in said
        assert "'d\\ufeff1'" in said
    else:
        assert status == 2
        assert f"{source}:" in said
        assert "found the character U+FEFF, which a text file must not contain" in said


def test_a_text_with_a_character_that_does_not_show_is_listed_beside_its_other_spelling(capsys):
    import_source("jsonl", [make_source("jsonl", "tent", "te\ufeffnt")])
    said = capsys.readouterr().err
    assert "an id or text with U+FEFF" in said
    assert f"{DIFFER} ('tent' and 'te\\ufeffnt')" in said


def test_joiners_of_persian_show(capsys):
    import_source("csv", [make_source("csv", "می\u200cخواهم", "tent")])
    assert "does not show" not in capsys.readouterr().err
