"""TREC files, BEIR folders and datasets of ir_datasets become suites, and come back."""

import gzip
import importlib
import itertools
import json
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensions.migrate.builders.moving import bodies, exported, judgments, moved, write_files
from harness.cli import main
from harness.extensions.migrate.formats import FORMATS
from harness.extensions.migrate.trec import read as read_trec
from harness.suites import load_suite

pytestmark = pytest.mark.usefixtures("request_body")

REQUEST = ("--index", "shop", "--request-file", "body.json")
SGML = """\
<top>
<num> Number: 301
<title> International Organized Crime &amp; AT&T

<desc> Description:
Identify organizations that take part
in crime.

<narr> Narrative:
A relevant document names one.
</top>

<top>
<num>302</num>
<title> Poliomyelitis </title>
</top>
"""
WEB = """\
<?xml version="1.0"?>
<webtrack2012>
  <topic number="301" type="faceted">
    <query>International Organized Crime &amp; AT&T</query>
    <description>Identify organizations that take part in crime.</description>
    <subtopic number="1" type="inf">Where are they?</subtopic>
  </topic>
  <topic number="302" type="single"><query>Poliomyelitis</query></topic>
</webtrack2012>
"""
TEXTS = {"301": "International Organized Crime & AT&T", "302": "Poliomyelitis"}
ONE_A_LINE = "".join(f"{number}\t{text}\n" for number, text in TEXTS.items())
QRELS = "301 0 doc-1 2\n301 0 doc-2 0\n302 0 007 1\n"
RUN = "".join(f"301 Q0 doc-{rank} {rank} {100 - rank} bm25\n" for rank in range(1, 31))


@pytest.mark.parametrize(
    "topics", [SGML, SGML.lower().replace("&amp;", "&"), WEB, ONE_A_LINE, ONE_A_LINE.replace("\t", ":"),
               ONE_A_LINE.replace("\t", " "), f"\ufeff{ONE_A_LINE}"],
    ids=["sgml", "lower", "xml", "tabs", "colons", "blanks", "mark"],
)  # fmt: skip
def test_topics_in_each_form(topics):
    write_files({"topics.txt": topics, "qrels.txt": QRELS})
    suite = moved("trec", ["topics.txt", "qrels.txt"], *REQUEST)
    assert {query.id: query.text.casefold() for query in suite.queries} == {
        number: text.casefold() for number, text in TEXTS.items()
    }
    assert [dict(query.judgments) for query in suite.queries] == [{"doc-1": 2, "doc-2": 0}, {"007": 1}]
    assert suite.profile == "trec"


def test_descriptions_and_narratives_are_needs_and_subtopics_are_listed(capsys):
    write_files({"topics.sgml": SGML, "topics.xml": WEB})
    needs = [query.need for query in moved("trec", ["topics.sgml"], *REQUEST).queries]
    assert needs[0].startswith("Identify organizations that take part in crime. A relevant")
    moved("trec", ["topics.xml"], *REQUEST, output="xml.relevance.yaml")
    said = capsys.readouterr().err
    assert "topics.xml:3:3: subtopics; a suite judges documents for the whole query" in said
    assert "topics.xml:3:3: the attribute 'type' of topics (2 times)" in said


def test_a_second_text_or_number_of_a_topic_is_a_comment():
    topic = '<topic number="301"><title>Tent</title><query>Tent for two</query><id>x7</id></topic>'
    write_files({"topics.xml": topic})
    assert [query.text for query in moved("trec", ["topics.xml"], *REQUEST).queries] == ["Tent"]
    assert "  # query: Tent for two\n  # id: x7\n" in Path("moved.relevance.yaml").read_text()


@pytest.mark.parametrize(
    ("topics", "text", "listed"),
    [
        ("<title> Topic: maps", "maps", "the label of titles ('Topic: maps')"),
        ("<title>Definition: of maps</title>", "Definition: of maps", None),
        ("<query>Topic: maps</query>", "Topic: maps", None),
        ("<query>Number: 5</query>", "Number: 5", None),
        ("<title>Map</title> of the world", "Map", "text of topics outside of their tags ('of the world')"),
        ("of the <title>Map</title> world", "Map", "text of topics outside of their tags ('of the world')"),
        (
            "<title>the <b>old</b> map<br/>here</title>",
            "the old map here",
            "the tag <b> in the text of topics; what is",
        ),
        ("<title lang='en'>Map</title>", "Map", "the attribute 'lang' of <title>"),
        ("<!-- <title>Old</title> --><title>Map</title>", "Map", "comments of the XML ('<title>Old</title>')"),
        ("<title>c <!important> <?</title> x ?>", "c <!important> <?", "outside of their tags ('x ?>')"),
        ("<title><![CDATA[a <b> &amp; c]]></title>", "a <b> &amp; c", None),
        ("<desc> Description:\nAll maps", "All maps", "that the text of a topic is its description; it has no title"),
        ("", "None", "this topic has no title or query"),
    ],
)
def test_a_topic_loses_nothing_without_a_word(capsys, topics, text, listed):
    write_files({"topics": f"<topics>\n<topic number=7>\n{topics}\n</topic>\n</topics>\n"})
    status = main(["import", "trec", "topics", *REQUEST, "--output", "moved.relevance.yaml"])
    said = capsys.readouterr().err
    assert said == "" if listed is None else listed in said
    assert status == (2 if text == "None" else 0)
    if status == 0:
        [query] = load_suite(Path("moved.relevance.yaml"), {}, needs_judgments=False).queries
        assert (query.id, query.text) == ("7", text)


def test_a_label_that_only_some_titles_have_is_text():
    write_files({"a": "<top><num>1<title>Topic: maps</top><top><num>2<title>rope</top>"})
    assert [query.text for query in moved("trec", ["a"], *REQUEST).queries] == ["Topic: maps", "rope"]


def test_what_is_repeated_in_a_topic_is_a_comment_and_what_is_outside_of_topics_is_listed(capsys):
    topic = "<top number=7><title lang=en>Map<title lang=fr>Carte<desc>Old<desc>New</top>"
    write_files({"topics.txt": f"Topics of\n2026\n{topic}\n<end year='2026'>the end</end>"})
    queries = moved("trec", ["topics.txt"], *REQUEST).queries
    assert [(query.id, query.text, query.need) for query in queries] == [("7", "Map", "Old")]
    assert "  # title: Carte\n  # desc: New\n" in Path("moved.relevance.yaml").read_text()
    said = capsys.readouterr().err
    assert "topics.txt:1:1: text outside of topics (2 times, first 'Topics of 2026')" in said
    assert "topics.txt:3:1: the attribute 'lang' of <title> (2 times)" in said
    assert "the attribute 'year' of <end>" in said


def test_columns_behind_the_text_are_needs_or_comments_and_a_header_names_them():
    write_files({"a.tsv": "qid\tquery\tdescription\n1\tmaps\tAll maps\told\n2\trope\n"})
    suite = moved("trec", ["topics=a.tsv"], *REQUEST)
    assert {query.id: query.text for query in suite.queries} == {"1": "maps", "2": "rope"}
    assert [query.need for query in suite.queries] == ["All maps", ""]
    assert '  # column 4: old\n  - {id: "1"' in Path("moved.relevance.yaml").read_text()


def test_text_behind_a_sign_that_opens_no_tag_is_kept():
    write_files(
        {"a": '<topics>\n<topic number="1">A tumour < 5 cm</topic>\n<topic number="2"><query>a<5 b</query></topic>'}
    )
    assert [query.text for query in moved("trec", ["a"], *REQUEST).queries] == ["A tumour < 5 cm", "a<5 b"]


def test_packed_files_are_told_apart_by_their_lines():
    for name, text in (("04.testset.gz", SGML), ("a.gz", QRELS)):
        Path(name).write_bytes(gzip.compress(text.encode()))
    suite = moved("trec", ["04.testset.gz", "a.gz"], *REQUEST)
    assert judgments(suite) == {TEXTS["301"]: {"doc-1": 2, "doc-2": 0}, "Poliomyelitis": {"007": 1}}


def test_columns_of_csv_judgments_are_listed(capsys):
    write_files({"topics": ONE_A_LINE, "qrels.csv": "query,document,grade,judge\n301,a,1,Kim\n"})
    moved("trec", ["topics", "qrels.csv"], *REQUEST)
    assert "qrels.csv:1:1: the column 'judge'" in capsys.readouterr().err


def test_a_digit_before_a_colon_is_a_priority_in_every_line_or_none():
    write_files({"a": "1:4:3 screens\n2:maps\n"})
    assert [query.text for query in moved("trec", ["a"], *REQUEST).queries] == ["4:3 screens", "maps"]


def test_the_priority_of_topics_is_listed(capsys):
    write_files({"a": "20001:1:horse hooves\n20002:4:avp\n"})
    assert [query.text for query in moved("trec", ["a"], *REQUEST).queries] == ["horse hooves", "avp"]
    assert "a:1:1: the priority of topics (2 times)" in capsys.readouterr().err


def test_a_run_gives_the_depth_and_is_listed(capsys):
    write_files({"topics": ONE_A_LINE, "qrels": QRELS, "bm25.run": RUN})
    suite = moved("trec", ["topics", "qrels", "bm25.run"], *REQUEST)
    assert (suite.depth, [measure.text for measure in suite.measures]) == (30, ["nDCG@10", "AP"])
    assert "bm25.run: rankings of the run; score them with 'relevance evaluate'" in capsys.readouterr().err


def test_qrels_alone_lack_the_texts_and_validate_says_so(capsys):
    write_files({"qrels.txt": QRELS + "".join(f"{query} 0 d 1\n" for query in range(400, 500))})
    assert main(["import", "trec", "qrels.txt", *REQUEST, "--output", "moved.relevance.yaml"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["validate", "moved.relevance.yaml"]) == 2
    assert "301" in capsys.readouterr().err


def test_subtopics_of_qrels_are_listed_and_the_highest_grade_is_kept(capsys):
    write_files({"topics": ONE_A_LINE, "qrels": "301 1 a 0\n301 2 a 2\n301 2 b 1\n302 0 c 1\n"})
    suite = moved("trec", ["topics", "qrels"], *REQUEST)
    assert [dict(query.judgments) for query in suite.queries] == [{"a": 2, "b": 1}, {"c": 1}]
    said = capsys.readouterr().err
    assert "qrels: the second column of qrels, an iteration or a subtopic (4 times, first '1' of document 'a'" in said
    name = TEXTS["301"]
    assert f"qrels: other grades of a document; the highest is kept (document 'a' of query {name!r}: 0, 2)" in said


def test_a_second_column_of_qrels_that_says_nothing_is_not_listed(capsys):
    write_files({"topics": ONE_A_LINE, "qrels": "301 Q0 a 1\n302 0 c 1\n"})
    moved("trec", ["topics", "qrels"], *REQUEST)
    assert capsys.readouterr().err == ""


def test_judgments_of_other_queries_are_listed(capsys):
    write_files({"topics.txt": ONE_A_LINE, "qrels.txt": QRELS + "999 0 d 1\n999 0 e 1\n"})
    moved("trec", ["topics.txt", "qrels.txt"], *REQUEST)
    said = capsys.readouterr().err
    assert "qrels.txt: judgments of queries that the topics do not have (2 times, first query '999')" in said


def make_collection(kind, query_ids, judged_ids):
    """Files of *kind* with queries and judgments, one of each id, and the sources to import."""
    if kind == "trec":
        topics = "".join(f"{name}\tquery {name}\n" for name in query_ids)
        qrels = "".join(f"{name} 0 d{place} 1\n" for place, name in enumerate(judged_ids))
        return {"topics.txt": topics, "qrels.txt": qrels}, ["topics=topics.txt", "qrels=qrels.txt"]
    if kind == "beir":
        queries = "".join(json.dumps({"_id": name, "text": f"query {name}"}) + "\n" for name in query_ids)
        rows = "".join(f"{name}\td{place}\t1\n" for place, name in enumerate(judged_ids))
        return {"b/queries.jsonl": queries, "b/qrels/test.tsv": f"query-id\tcorpus-id\tscore\n{rows}"}, ["b"]
    if kind == "csv":
        queries = "".join(f"{name},query {name}\n" for name in query_ids)
        rows = "".join(f"{name},d{place},1\n" for place, name in enumerate(judged_ids))
        files = {"queries.csv": f"id,text\n{queries}", "judgments.csv": f"query,document,grade\n{rows}"}
        return files, list(files)
    queries = "".join(json.dumps({"id": name, "text": f"query {name}"}) + "\n" for name in query_ids)
    rows = [{"query_id": name, "document": f"d{place}", "grade": 1} for place, name in enumerate(judged_ids)]
    files = {"q.jsonl": queries, "j.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}
    return files, list(files)


KINDS = ["trec", "beir", "csv", "jsonl"]
FORMS = [
    (["MB001", "MB002", "MB110"], ["1", "2", "110"]),
    (["051", "052", "053"], ["51", "52", "53"]),
    (["1", "2", "3"], ["01", "02", "3"]),
    (["AR26", "AR27"], ["26", "27"]),
    (["tent", "Rope", "axe"], ["Tent", "rope", "axe"]),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("query_ids", "judged_ids"), FORMS)
def test_queries_that_mostly_find_no_judgment_are_an_error_with_both_ids(capsys, kind, query_ids, judged_ids):
    files, sources = make_collection(kind, query_ids, judged_ids)
    write_files(files)
    assert main(["import", kind, *sources, *REQUEST, "--output", "moved.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert f"without a judgment, {query_ids[0]!r}, " in said
    assert f"and judgments of {judged_ids[0]!r}" in said
    assert f"; --match-ids loose takes {judged_ids[0]!r} for {query_ids[0]!r}, --match-ids exact takes none" in said
    assert not Path("moved.relevance.yaml").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("query_ids", "judged_ids"), FORMS)
def test_ids_are_matched_loosely_where_that_is_asked_for(kind, query_ids, judged_ids):
    files, sources = make_collection(kind, query_ids, judged_ids)
    write_files(files)
    suite = moved(kind, sources, *REQUEST, "--match-ids", "loose")
    assert judgments(suite) == {f"query {name}": {f"d{place}": 1} for place, name in enumerate(query_ids)}


@pytest.mark.parametrize("kind", ["trec", "beir"])
def test_judgments_that_match_no_query_are_left_out_where_that_is_asked_for(capsys, kind):
    files, sources = make_collection(kind, ["051", "052", "7"], ["51", "52", "7"])
    write_files(files)
    suite = moved(kind, sources, *REQUEST, "--match-ids", "exact")
    assert [document for query in suite.queries for document in query.judgments] == ["d2"]
    assert "not have (2 times, first query '51')" in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_of_queries_that_nothing_resembles_are_an_error(capsys, kind):
    files, sources = make_collection(kind, ["tent", "rope"], ["501", "502"])
    write_files(files)
    assert main(["import", kind, *sources, *REQUEST, "--output", "a.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert "found 2 queries without a judgment, 'tent', 'rope', and judgments of '501', '502'; give files in" in said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("query_ids", "judged_ids"),
    [
        (["301", "302"], ["301", "302", *map(str, range(400, 450))]),
        ([str(number) for number in range(300, 350)], ["301"]),
        (["301", "302", "303"], ["301", "302", "999"]),
    ],
    ids=["judgments of more queries", "few judged queries", "one stranger"],
)
def test_queries_without_judgments_or_judgments_of_others_alone_are_usual(kind, query_ids, judged_ids):
    files, sources = make_collection(kind, query_ids, judged_ids)
    write_files(files)
    assert main(["import", kind, *sources, "--index", "shop", "--output", "moved.relevance.yaml"]) == 0


def test_an_id_that_matches_two_queries_is_an_error(capsys):
    files, sources = make_collection("trec", ["MB1", "AR1", "7"], ["1", "7"])
    write_files(files)
    words = ["--match-ids", "loose", "--output", "a.relevance.yaml"]
    assert main(["import", "trec", *sources, *words]) == 2
    assert "qrels.txt: judgments of '1' match several queries, 'MB1', 'AR1'; rename them" in capsys.readouterr().err


def test_one_file_has_queries_with_and_without_judgments():
    write_files({"a.csv": "query,document,grade\ntent,,\nrope,d,1\naxe,d,1\n"})
    assert judgments(moved("csv", ["a.csv"], *REQUEST)) == {"tent": {}, "rope": {"d": 1}, "axe": {"d": 1}}


def test_a_corpus_without_most_of_the_judged_documents_is_an_error(capsys):
    write_files({**BEIR, "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tD1\t1\nq2\tD2\t0\n"})
    assert main(["import", "beir", "scifact", "--output", "a.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert "scifact/qrels/test.tsv:2:1: found judgments of 'D1', 'D2', which corpus.jsonl does not have" in said
    assert ": it has 'd1', 'd2'; 2 queries of 2 would have no judgment; give the corpus that was judged" in said


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"topics=a": "301\n"}, "a:1:1: found a line that is no topic"),
        ({"a": "<top>\n<num> 3\n</top>"}, "a:1:1: this topic has no title or query"),
        (
            {"a": "<topic number='1' query='a'/>\n<topic number='2' type='f'/>"},
            "a:2:1: this topic has no title or query",
        ),
        ({"a": "<top><num>1<title>a\n<top><num>2<title>b</top>"}, "a:1:1: this <top> is not closed"),
        ({"a": "<top><num>1<title>a</top>\n<top><num>2<title>b"}, "a:2:1: this <top> is not closed"),
        ({"topics=a": '[{"id":"1", "text":"map"}]\n'}, "a:1:1: this looks like JSON"),
        ({"topics=a": '{"id": "1", "text": "map"}\n'}, "a:1:1: this looks like JSON lines"),
        ({"a": "<topics><x/></topics>"}, "a:1:1: found no <top> or <topic> that is closed"),
        ({"a": ONE_A_LINE + "301\tagain\n"}, "a:3:1: topic '301' is there twice"),
        ({"a": ""}, "a: the file is empty"),
        ({"qrels=a": "301 0 d x\n"}, "a:1"),
        ({"a": QRELS + "301 0 doc-1 1\n"}, "document 'doc-1' is judged twice"),
        ({"a": RUN}, "a run alone has no queries to judge"),
        ({"a.qrels": "301 0 doc-1\n"}, "a.qrels:1:1: found 3 columns"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(capsys, files, said):
    write_files({name.split("=")[-1]: text for name, text in files.items()})
    assert main(["import", "trec", *files, "--output", "moved.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err


IDS = st.text(
    st.characters(exclude_categories=("C", "Zs", "Zl", "Zp")) | st.sampled_from("#\"'"), min_size=1, max_size=8
)
QUERY_IDS = IDS.filter(lambda text: not text.startswith("#"))  # such a line of TREC files is a comment
GRADES = st.dictionaries(IDS, st.sampled_from([0, 1, 3, -1]), min_size=1, max_size=3)


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(QUERY_IDS, st.tuples(IDS, GRADES), min_size=1, max_size=4))
@pytest.mark.parametrize("kind", ["trec", "csv", "jsonl"])
def test_a_round_trip_keeps_ids_texts_and_grades(tmp_path_factory, kind, queries):
    folder = tmp_path_factory.mktemp("trip")
    entries = [{"id": name, "text": text, "judgments": grades} for name, (text, grades) in queries.items()]
    (folder / "a.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    first = moved("jsonl", [str(folder / "a.jsonl")], *REQUEST, output=str(folder / "a.relevance.yaml"))
    back = exported(kind, str(folder / "a.relevance.yaml"), str(folder / "back"))
    sources = sorted(str(path) for path in back.iterdir())
    if kind == "trec":
        sources = [f"topics={back}/a.topics.tsv", f"qrels={back}/a.qrels"]
    again = moved(kind, sources, *REQUEST, "--match-ids", "exact", output=str(folder / "b.relevance.yaml"))
    for suite in (first, again):
        assert {query.id: (query.text, dict(query.judgments)) for query in suite.queries} == queries


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("trec", ["back/large.topics.tsv", "back/large.qrels"]),
        ("csv", ["back/large.queries.csv", "back/large.judgments.csv"]),
        ("jsonl", ["back/large.queries.jsonl", "back/large.judgments.jsonl"]),
    ],
)
def test_a_grade_of_more_than_six_digits_is_exported_exactly(kind, files):
    """As in grades of clicks or of revenue; the format ``g`` would write 1.23457e+06."""
    grades = {"large": 1234567, "long": 12345678901, "fraction": 0.12345678}
    query = {"id": "q", "text": "tent", "judgments": grades}
    request = {"query": {"match": {"title": "{{text}}"}}}
    suite = {"suite": "large", "target": {"index": "shop"}, "request": request, "gain": "linear"}
    write_files({"large.relevance.yaml": {**suite, "measures": ["P@10"], "queries": [query]}})
    exported(kind, "large.relevance.yaml", output="back")
    [draft] = importlib.import_module(f"harness.extensions.migrate.{FORMATS[kind].module}").read(files)
    assert [query.judgments for query in draft.queries] == [grades]


def test_a_message_shows_a_grade_with_all_its_digits(capsys):
    write_files({"qrels.csv": "query,docid,rating\ntent,d,1234567\ntent,d,1234568\n"})
    assert main(["import", "quepid", "qrels.csv", "--output", "a.relevance.yaml"]) == 2
    assert "has grade 1234568 for query 'tent' here, and 1234567 at qrels.csv:2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "listed"),
    [
        ("trec", ["query 'red shoes'; an id in TREC", "document 'a b' of query 'q'", "fractional grades"]),
        ("csv", ["document 'bell\\x07' of query 'q'"]),
    ],
)
def test_what_a_format_has_no_place_for_is_listed(capsys, kind, listed):
    grades = {"a b": 1, "x\ty": 1, "bell\a": 1, "d": 2.5, "#c": 1}
    entries = [{"id": "q", "text": "tent", "judgments": grades}, {"id": "red shoes", "text": "shoe"}]
    write_files({"a.jsonl": "".join(json.dumps(entry) + "\n" for entry in entries)})
    moved("jsonl", ["a.jsonl"], *REQUEST)
    exported(kind, status=1)
    said = capsys.readouterr().err
    assert [one for one in listed if one not in said] == []


DOCUMENTS = {"#1": 1, 'a"b': 2, '"c"': 3, "c#": 0, "'d'": 1}


@pytest.mark.parametrize("kind", ["trec", "csv", "jsonl"])
def test_ids_with_a_number_sign_or_quotes_are_exported(capsys, kind):
    write_files({"a.jsonl": {"id": 'q"1#', "text": "tent", "judgments": DOCUMENTS}})
    moved("jsonl", ["a.jsonl"], *REQUEST)
    capsys.readouterr()
    back = exported(kind)
    assert not re.search("document|id has|ids have", capsys.readouterr().err)
    sources = sorted(str(path) for path in back.iterdir())
    [draft] = importlib.import_module(f"harness.extensions.migrate.{FORMATS[kind].module}").read(sources)
    assert [(query.id, query.judgments) for query in draft.queries] == [('q"1#', DOCUMENTS)]


@pytest.mark.parametrize(
    ("query_id", "document", "said"),
    [
        ("#1", "d", "query '#1'; a line of TREC files that begins with # is a comment"),
        ("q 1", "d", "query 'q 1'; an id in TREC files has no blank"),
        ("q", "d 1", "document 'd 1' of query 'q'; an id in TREC files has no blank"),
        ("q", "d\0", "document 'd\\x00' of query 'q'; a text file has no NUL"),
    ],
)
def test_the_reason_why_an_id_cannot_be_exported_is_the_true_one(capsys, query_id, document, said):
    write_files({"a.jsonl": {"id": query_id, "text": "tent", "judgments": {document: 1, "e": 1}}})
    moved("jsonl", ["a.jsonl"], *REQUEST)
    exported("trec")
    assert said in capsys.readouterr().err


BEIR = {
    "scifact/queries.jsonl": '{"_id": "q1", "text": "tent", "metadata": {"a": 1}}\n{"_id": "q2", "text": "x"}\n',
    "scifact/corpus.jsonl": '{"_id": "d1", "title": "Tent", "text": "for two", "metadata": {}}\n'
    '{"_id": "d2", "title": "", "text": "Rope"}\n',
    "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n",
    "scifact/qrels/train.tsv": "query-id\tcorpus-id\tscore\nq2\td1\t1\n",
}


def test_a_beir_folder_is_a_suite_with_its_own_index(capsys):
    write_files(BEIR)
    suite = moved("beir", ["scifact"])
    assert judgments(suite) == {"tent": {"d1": 1, "d2": 0}}
    assert (suite.name, suite.fixture.documents, suite.profile) == ("scifact", "moved.documents.jsonl", "trec")
    documents = [json.loads(line) for line in Path("moved.documents.jsonl").read_text().splitlines()]
    assert documents[0] == {"id": "d1", "title": "Tent", "text": "for two", "metadata": {}}
    said = capsys.readouterr().err
    assert "scifact/qrels/train.tsv: the split 'train'; to import it, name this file" in said
    assert "scifact/queries.jsonl: queries that the split does not judge" in said
    assert "scifact/queries.jsonl:1:43: 'metadata' of queries" in said


def test_the_id_of_a_beir_document_is_that_of_beir(capsys):
    write_files({**BEIR, "scifact/corpus.jsonl": '{"_id": "d1", "id": "other", "text": "Tent"}\n'})
    suite = moved("beir", ["scifact"])
    assert json.loads(Path("moved.documents.jsonl").read_text()) == {"id": "d1", "text": "Tent"}
    assert judgments(suite) == {"tent": {"d1": 1}}
    said = capsys.readouterr().err
    assert "corpus.jsonl:1:1: the field 'id' of documents" in said
    assert (
        "test.tsv:3:1: judgments of documents that corpus.jsonl does not have (document 'd2' of query 'tent')" in said
    )


def test_a_column_of_a_split_that_is_not_read_is_listed(capsys):
    qrels = "query-id\tcorpus-id\tscore\tjudge\nq1\td1\t1\tKim\n"
    write_files({**BEIR, "scifact/qrels/test.tsv": qrels})
    moved("beir", ["scifact"])
    assert "scifact/qrels/test.tsv:1:1: the column 'judge'" in capsys.readouterr().err


def test_a_query_of_beir_that_is_a_document_does_not_find_itself():
    """As in ArguAna and Quora; BEIR's evaluation ignores identical ids."""
    queries = '{"_id": "d1", "text": "for two"}\n{"_id": "q2", "text": "x"}\n'
    write_files({**BEIR, "scifact/queries.jsonl": queries,
                 "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\nd1\td2\t1\nq2\td1\t1\n"})  # fmt: skip
    suite = moved("beir", ["scifact"])
    left_out = [body["query"]["bool"]["must_not"] for body in bodies(suite)]
    assert left_out == [[{"ids": {"values": [query_id]}}] for query_id in ("d1", "q2")]
    assert "# As BEIR does, the request leaves out the document that has" in Path("moved.relevance.yaml").read_text()


def test_the_request_of_beir_is_plain_where_no_query_is_a_document():
    write_files(BEIR)
    assert list(bodies(moved("beir", ["scifact"]))[0]["query"]) == ["multi_match"]
    assert "As BEIR does" not in Path("moved.relevance.yaml").read_text()


def test_another_split_is_named_by_its_file():
    write_files(BEIR)
    assert judgments(moved("beir", ["scifact/qrels/train.tsv"])) == {"x": {"d1": 1}}


def test_a_given_index_takes_the_place_of_the_corpus():
    write_files(BEIR)
    suite = moved("beir", ["scifact"], "--index", "papers")
    assert (suite.target.index, suite.fixture) == ("papers", None)
    assert not Path("moved.documents.jsonl").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\tx\n"}, "test.tsv:2:1: found 'x' as score"),
        ({"scifact/qrels/test.tsv": "q1\td1\t1\n"}, "test.tsv:1:1: found the columns q1, d1, 1, expected one named"),
        ({"scifact/queries.jsonl": '{"_id": "q1"}\n'}, "queries.jsonl:1:1: found an object without 'text'"),
        ({"scifact/queries.jsonl": '\n{"_id": "q1",\n'}, "queries.jsonl:2:14: this is not JSON"),
        ({"scifact/queries.jsonl": BEIR["scifact/queries.jsonl"] * 2}, "queries.jsonl:3:9: the id 'q1' is there twice"),
        ({"scifact/queries.jsonl": '{"_id": "q1", "text": " "}\n'}, 'queries.jsonl:1:23: found " ", expected a text'),
        ({"scifact/corpus.jsonl": BEIR["scifact/corpus.jsonl"] * 2}, "corpus.jsonl:3:9: the id 'd1' is there twice"),
        (
            {"scifact/qrels/test.tsv": BEIR["scifact/qrels/test.tsv"] + "q1\td1\t2\n"},
            "test.tsv:4:1: document 'd1' has grade 2 for query 'q1' here, and 1 at",
        ),
    ],
)
def test_a_wrong_beir_file_is_an_error_with_its_place(capsys, changed, said):
    write_files({**BEIR, **changed})
    assert main(["import", "beir", "scifact", "--output", "moved.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err


def test_a_dataset_of_ir_datasets(capsys):
    ir_datasets = pytest.importorskip("ir_datasets")
    write_files({"docs.tsv": "d1\tTent\n", "queries.tsv": ONE_A_LINE, "qrels": QRELS})
    dataset = ir_datasets.create_dataset(docs_tsv="docs.tsv", queries_tsv="queries.tsv", qrels_trec="qrels")
    ir_datasets.registry.register("harness-test/shop", dataset)
    suite = moved("ir_datasets", ["harness-test/shop"], *REQUEST)
    assert {query.id: query.text for query in suite.queries} == TEXTS
    assert judgments(suite) == {TEXTS["301"]: {"doc-1": 2, "doc-2": 0}, "Poliomyelitis": {"007": 1}}
    assert "the documents; index them" in capsys.readouterr().err


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str
    narrative: str
    turn: int
    subtopics: tuple[str, ...]

    def default_text(self):
        return self.title


class OfDocument(NamedTuple):
    query_id: str
    doc_id: str
    url: str


class Judged(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str
    iteration: str = "0"


@pytest.fixture
def registered():
    """Registers a dataset of these queries and judgments, and gives its name."""
    package = pytest.importorskip("ir_datasets")

    def register(queries, judgments):
        class Queries(package.formats.BaseQueries):
            def queries_iter(self):
                return queries() if callable(queries) else iter(queries)

        class Judgments(package.formats.BaseQrels):
            def qrels_iter(self):
                return iter(judgments)

        name = f"harness-test/{next(NUMBERS)}"
        package.registry.register(name, package.Dataset(Queries(), Judgments()))
        return name

    return register


NUMBERS = itertools.count()


def test_descriptions_of_a_dataset_are_needs_other_fields_comments_and_lists_are_listed(registered, capsys):
    topics = [
        Topic("1", "tents", "Which tents are\nthere?", "All of them.", 0, ("two persons", "four")),
        Topic("2", "rope", "", "", 3, ()),
    ]
    name = registered(topics, [Judged("1", "d", 1, "")])
    suite = moved("ir_datasets", [name], *REQUEST)
    assert judgments(suite) == {"tents": {"d": 1}, "rope": {}}
    assert [query.need for query in suite.queries] == ["Which tents are there? All of them.", ""]
    written = Path("moved.relevance.yaml").read_text()
    comments = [line.strip() for line in written.splitlines() if line.startswith("  #")]
    assert comments == ["# turn: 0", "# turn: 3"]
    assert capsys.readouterr().err == f"not carried over:\n  {name}: 'subtopics' of queries (query '1')\n1 thing\n"


def test_judgments_by_subtopic_are_listed_and_the_highest_grade_is_kept(registered, capsys):
    found = [("a", 0, "1"), ("a", 2, "2"), ("b", 1, "1"), ("b", 1, "2"), ("c", 0, "1")]
    name = registered([Topic("1", "tents", "", "", 0, ())], [Judged("1", *one) for one in found])
    assert judgments(moved("ir_datasets", [name], *REQUEST)) == {"tents": {"a": 2, "b": 1, "c": 0}}
    said = capsys.readouterr().err
    assert f"{name}: 'subtopic_id' of judgments (5 times, first '1' of document 'a' for query '1')" in said
    assert f"{name}: other grades of a document; the highest is kept (document 'a' of query 'tents': 0, 2)" in said
    assert "2 things" in said


def test_iterations_of_a_dataset_are_listed_where_they_differ(registered, capsys):
    found = [Judged("1", "a", 1, "", "1"), Judged("1", "b", 1, "", "2.5"), Judged("9", "b", 1, "", "1")]
    name = registered([Topic("1", "tents", "", "", 0, ())], found)
    moved("ir_datasets", [name], *REQUEST)
    said = capsys.readouterr().err
    assert f"{name}: 'iteration' of judgments (2 times, first '1' of document 'a' for query '1')" in said
    assert f"{name}: judgments of queries that the dataset does not have (query '9')" in said


def test_a_dataset_may_have_queries_without_a_text(registered):
    queries = [OfDocument("1", "d7", "https://news.example/7"), Topic("2", None, None, "", 0, ())]
    name = registered(queries, [Judged("1", "d", 1, "")])
    assert main(["import", "ir_datasets", name, *REQUEST, "--output", "moved.relevance.yaml"]) == 0
    assert '- {id: "1", judgments: {d: 1}}\n' in Path("moved.relevance.yaml").read_text()
    assert '- {id: "2"}\n' in Path("moved.relevance.yaml").read_text()
    assert "  # doc_id: d7\n  # url: https://news.example/7\n" in Path("moved.relevance.yaml").read_text()


def test_a_dataset_that_cannot_be_downloaded_is_a_sentence(registered, capsys):
    def fail():
        raise RuntimeError("All download sources failed", [])

    name = registered(fail, [])
    assert main(["import", "ir_datasets", name, "--output", "moved.relevance.yaml"]) == 2
    assert f"ir_datasets cannot read the dataset '{name}': All download sources failed\n" in capsys.readouterr().err


def test_a_dataset_without_queries_names_one_below_it(capsys):
    pytest.importorskip("ir_datasets")
    assert main(["import", "ir_datasets", "wikir", "--output", "moved.relevance.yaml"]) == 2
    said = "the dataset 'wikir' has no queries; some below it have, such as wikir/en1k/"
    assert said in capsys.readouterr().err


def test_a_folder_that_ir_datasets_cannot_make_is_a_sentence(capsys, monkeypatch):
    pytest.importorskip("ir_datasets")
    write_files({"file": "x"})
    for name in [name for name in sys.modules if name.partition(".")[0] == "ir_datasets"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setenv("IR_DATASETS_HOME", "file/folder")
    assert main(["import", "ir_datasets", "vaswani", "--output", "moved.relevance.yaml"]) == 2
    assert "ir_datasets cannot use its folder: " in capsys.readouterr().err


def test_an_unknown_dataset_and_a_missing_extra_are_sentences(capsys, monkeypatch):
    pytest.importorskip("ir_datasets")
    words = ["import", "ir_datasets", "nowhere/nothing", "--output", "moved.relevance.yaml"]
    assert main(words) == 2
    assert "ir_datasets has no dataset 'nowhere/nothing'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert main(words) == 2
    assert "pip install 'relevance-harness[datasets]'" in capsys.readouterr().err


N = 200_000
SOUND = "<top><num>1</num><title>tent</title></top>"
LONG_TOPICS = {
    "tags that are not closed": "<top><num>1</num><title>tent</title>" + "<a" * N + "</top>",
    "a tag with a long name": "<top><num>1</num><title>tent</title><" + "a" * N + "</top>",
    "tags of topics that are not closed": "<top " * N + "\n" + SOUND,
    "titles that are not closed": "<top><num>1</num><query>tent</query>" + "<title>" * N + "</top>",
    "titles whose closing tag is not": "<top><num>1</num><query>tent</query><title>" + "</title" * N + "</top>",
    "tags in a title that are not closed": "<top><num>1</num><title>tent" + "<b" * N + "</title></top>",
    "comments that are not closed": SOUND + "<!--" * N,
    "CDATA that is not closed": "<top><num>1</num><title>tent</title>" + "<![CDATA[" * N + "</top>",
    "declarations that are not closed": SOUND + "<?xml " * N,
    "document types that are not closed": "<!DOCTYPE [" * N + SOUND,
    "a long name of an attribute": "<top " + "a" * N + "><num>1</num><title>tent</title></top>",
    "names of attributes": "<top " + "a." * N + "\n><num>1</num><title>tent</title></top>",
    "an attribute and blanks": "<top a" + " " * N + "><num>1</num><title>tent</title></top>",
    "text before topics": "<" * N + "\n" + SOUND,
    "open tags before topics": "<a" * N + "\n" + SOUND,
    "entities": "<top><num>1</num><title>tent" + "&a" * N + "</title></top>",
    "blanks after a label": "<top><num>1</num><title>Topic" + " " * N + "tent</title></top>",
    "blanks in a line": "1\ttent" + " " * N + "tent\n",
    "blanks at the end of a line": "1\ttent" + " " * N + "\n",
    "tabs in a line": "1" + "\t" * N + "tent\n",
    "blanks behind a colon": "1:" + " " * N + "tent" + " " * N + "x\n",
    "blanks behind a priority": "1:2:tent" + " " * N + "x\n",
}


@pytest.mark.parametrize("content", LONG_TOPICS.values(), ids=LONG_TOPICS)
def test_long_topics_are_read_in_the_time_of_their_length(tmp_path, content):
    path = tmp_path / "topics"
    path.write_text(content)
    begun = time.process_time()
    [draft] = read_trec([f"topics={path}"])
    assert time.process_time() - begun < 5
    assert [query.id for query in draft.queries] == ["1"]


@pytest.mark.parametrize(
    ("topics", "form"),
    [
        ("Number: 7\nTitle: ropes\nDescription: all\n7_1\tWhat is a rope?\n7_2\tHow long?\n", "conversational topics"),
        ("Number: 7\nTitle: ropes\n\nNumber: 8\nTitle: tents\n", 'blocks with labels such as "Number:"'),
        ("- number: 7\n  title: ropes\n", "blocks with labels"),
        ('[{"number": 7, "turn": [{"raw_utterance": "ropes"}]}]', "JSON, as conversational tracks"),
        ('{\n  "7": "ropes"\n}\n', "JSON, as conversational tracks"),
        ('{"query_id": 7, "text": "ropes"}\n{"query_id": 8, "text": "tents"}\n', "JSON lines"),
        ("query_id,query\n7,ropes\n", "CSV with commas"),
    ],
)
def test_topics_in_a_form_that_is_not_read_are_named_with_the_forms_that_are(capsys, topics, form):
    write_files({"topics.txt": topics, "a.qrels": "7 0 d1 1\n"})
    assert main(["import", "trec", "topics=topics.txt", "qrels=a.qrels", "--output", "a.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert form in said
    assert "which is not read; topics are read as SGML or XML (<top> or <topic>), or one on each line" in said
    assert not Path("a.relevance.yaml").exists()


def test_a_query_may_look_like_a_label():
    write_files({"topics.txt": "number: one\n2: title: x\n"})
    assert [query.text for query in read_trec(["topics=topics.txt"])[0].queries] == ["one", "title: x"]


def test_tags_of_topics_without_a_text_are_named(capsys):
    write_files({"topics.xml": "<topics><topic number='7'><gene>BRAF</gene></topic></topics>"})
    assert main(["import", "trec", "topics=topics.xml", "--output", "a.relevance.yaml"]) == 2
    assert "this topic has no title or query; found <number>, <gene>, expected <title>" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("documents", "request_", "title"),
    [
        ([{"text": "a rope"}, {"title": " ", "text": "b"}], {"match": {"text": "rope"}}, None),
        ([{"title": "rope"}, {"title": "b", "text": ""}], {"match": {"title": "rope"}}, "title"),
        (
            [{"text": "a rope"}, {"title": "b", "text": "c"}],
            {"multi_match": {"query": "rope", "fields": ["title", "text"], "tie_breaker": 0.5}},
            "title",
        ),
    ],
)
def test_a_corpus_is_searched_in_the_fields_that_it_has(documents, request_, title):
    corpus = "".join(json.dumps({"_id": f"d{place}", **fields}) + "\n" for place, fields in enumerate(documents))
    write_files(
        {
            "c/corpus.jsonl": corpus,
            "c/queries.jsonl": '{"_id": "q7", "text": "rope"}\n',
            "c/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq7\td0\t1\n",
        }
    )
    suite = moved("beir", ["c"])
    assert bodies(suite) == [{"query": request_}]
    assert suite.display.title == title


@pytest.mark.parametrize(("text", "is_told"), [("", True), ("2 0 d9 1\n1 0 d1 1\n", False)])
def test_judgments_that_are_named_and_empty_are_told(tmp_path, monkeypatch, capsys, text, is_told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.tsv").write_text("1\ttent\n2\tlamp\n")
    (tmp_path / "all.qrels").write_text(text)
    assert main(["import", "trec", "topics=topics.tsv", "qrels=all.qrels", "--output", "a.relevance.yaml"]) == 0
    assert ("a.relevance.yaml has no judgments" in capsys.readouterr().err) is is_told
