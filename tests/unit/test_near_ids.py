"""Hits that are judged under another form of their id: files, Python, a comparison and a run say so."""

import json
import warnings

import pytest

from builders.extension_cases import needs_extension
from builders.suites import make_suite
from harness.api import evaluate
from harness.cli import main
from harness.files.runs import LARGE
from harness.id_forms import describe_difference, find_near_documents
from harness.metrics.near_ids import QUERIES, JudgedRanking, describe_near_ids
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.suite import Query
from harness.run.notes import describe_near_hits

FORMS = [
    ("Gerät", "Gera\u0308t", "Unicode normalization"),
    ("Ｎo-9", "No-9", "Unicode normalization"),
    ("ART-77b", "art-77B", "letter case"),
    ("000815", "815", "leading zeros"),
    ("shop:007:01", "shop:7:1", "leading zeros"),
    ("p_00012", "P_12", "leading zeros"),
    ("doc-12#3", "doc-12", "the suffix of a passage"),
    ("doc_12_p4", "doc_12", "the suffix of a passage"),
    ("report-0009_chunk_17", "REPORT-9", "the suffix of a passage"),
    ("wiki/Tent.2", "wiki/Tent", "the suffix of a passage"),
    ("msmarco_doc_0_10#100", "msmarco_doc_0_10", "the suffix of a passage"),
    ("manual[3]", "manual", "the suffix of a passage"),
    ("a-1_0_512", "a-1", "the suffix of a passage"),
    ("caf%C3%A9/4", "café/4", "the form of a URL"),
    ("books%2f17", "books/17", "the form of a URL"),
    ("/tents/dome/", "/tents/dome", "the form of a URL"),
    ("shop.example/p/", "shop.example/p", "the form of a URL"),
    ("\ufeffT-9", "T-9", "characters that do not show"),
    ("T\u200b-9", "t-9", "characters that do not show"),
    ("4711.0", "4711", "decimals"),
    ("http://shop.example/a/", "https://shop.example/a", "the form of a URL"),
]


@pytest.mark.parametrize(("document", "other", "difference"), [*FORMS, *((b, a, what) for a, b, what in FORMS)])
def test_each_difference_is_known_in_both_directions(document, other, difference):
    assert find_near_documents([document], [other, "another"]) == {document: other}
    assert describe_difference(document, other) == difference


@pytest.mark.parametrize(
    ("document", "other"),
    [
        ("d#1", "d#2"),
        ("sku-1", "sku-10"),
        ("10", "1"),
        ("sku-17", "sku-18"),
        ("tent", "tents"),
        ("1.05", "1.5"),
        ("1.10", "1.1"),
        ("20.0", "2"),
        ("50%", "50"),
        ("/", "a"),
        ("", "0"),
    ],
)
def test_other_documents_are_no_forms_of_each_other(document, other):
    assert find_near_documents([document], [other]) == {}


def test_a_judged_document_that_is_returned_is_no_other_form_of_a_hit():
    assert describe_near_ids([JudgedRanking(["a", "A", "a#1"], {"a": 1})]) == ""
    assert "'A' is judged as 'a'" in describe_near_ids([JudgedRanking(["A"], {"a": 1})])


def test_forms_that_look_alike_are_shown_by_their_escapes():
    sentence = describe_near_ids([JudgedRanking(["Gerät", "x"], {"Gera\u0308t": 1})])
    assert sentence.startswith("1 unjudged hit of 1 query ")
    assert r"'Ger\xe4t' is judged as 'Gera\u0308t' (Unicode normalization)" in sentence


def test_each_difference_has_one_example():
    rankings = [JudgedRanking([f"0{number}", f"D{number}#1"], {f"{number}", f"d{number}"}) for number in range(5)]
    sentence = describe_near_ids(rankings)
    assert sentence.startswith("10 unjudged hits of 5 queries ")
    assert sentence.count("is judged as") == 2


def test_of_many_queries_the_first_are_looked_at():
    assert describe_near_ids([JudgedRanking(["A"], {"a"})] * (QUERIES + 50)).startswith(
        f"at least {QUERIES} unjudged hits"
    )


# Where it is said.


def write_files(folder, queries=3, document="SKU-{}", judged="sku-{}", padding=0):
    run, qrels = folder / "r.run", folder / "j.qrels"
    documents = [document.format(number) for number in range(4)]
    lines = [f"q{q} Q0 {name} {rank} {9 - rank} t\n" for q in range(queries) for rank, name in enumerate(documents)]
    run.write_text("".join(lines) + "".join(f"z{number} Q0 other 1 1 t\n" for number in range(padding)))
    qrels.write_text("".join(f"q{q} 0 {judged.format(n)} 1\n" for q in range(queries) for n in range(4)))
    return ["--qrels", str(qrels)], str(run)


@pytest.mark.parametrize("profile", ["standard", "trec"])
@pytest.mark.parametrize("padding", [0, LARGE // 16])
def test_evaluate_says_so_also_of_a_large_file(tmp_path, capsys, profile, padding):
    qrels, run = write_files(tmp_path, padding=padding)
    assert main(["evaluate", *qrels, "--run", run, "--measure", "P@3", "--profile", profile, "--json"]) == 0
    printed = capsys.readouterr()
    assert "12 unjudged hits of 3 queries nearly match ids of judgments: 'SKU-0' is judged as 'sku-0'" in printed.err
    assert "'SKU-0' is judged as 'sku-0' (letter case)" in json.loads(printed.out)["near_ids"]


def test_evaluate_is_silent_where_ids_have_one_form(tmp_path, capsys):
    qrels, run = write_files(tmp_path, judged="SKU-{}")
    assert main(["evaluate", *qrels, "--run", run, "--measure", "P@3", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "near_ids" not in json.loads(printed.out)


@needs_extension("compare")
def test_a_comparison_has_a_note_for_each_side(tmp_path, capsys):
    pytest.importorskip("numpy")
    qrels, run = write_files(tmp_path, document="0{}", judged="{}")
    assert main(["compare", run, run, *qrels, "--measure", "P@3", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert sum("'00' is judged as '0' (leading zeros)" in note for note in notes) == 2


def test_python_warns():
    with pytest.warns(UserWarning, match="'d1#2' is judged as 'd1'"):
        evaluate({"q": ["d1#2"]}, {"q": {"d1": 1}}, measures=["P@1"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate({"q": ["d1", "d1#2"]}, {"q": {"d1": 1}}, measures=["P@1"])


def test_a_run_has_a_note():
    suite = make_suite(Query("q", "q", judgments={"Tent": 1}), Query("r", "r", judgments={"x": 1}))
    run = Run({"q": Ranking((Hit("tent"), Hit("y"))), "r": Ranking((Hit("x"),))}, Engine("fake"))
    [note] = describe_near_hits(suite, run)
    assert "1 unjudged hit of 1 query nearly matches" in note
