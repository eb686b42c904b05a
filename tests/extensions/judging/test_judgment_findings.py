"""Each check of judgments, with what must be found and what must not."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.extensions.judging.findings import (
    IndexKnowledge,
    JudgedSuite,
    PlacedJudgment,
    Scale,
    check_judgments,
    list_scales,
    parse_scale,
)
from harness.extensions.judging.model import FindingKind
from harness.id_forms import describe_difference, fold_id, list_spellings
from harness.metrics import parse_measure
from harness.model.suite import Gain, GainKind, Mark, Profile, Query, Suite, Target

TARGET = Target(index="products", mark=Mark("s.relevance.yaml", 2, 1))


def judgment(document, grade=1.0, query="q", line=1, path="j.csv"):
    return PlacedJudgment(query, document, grade, Mark(path, line, 1))


def judged_suite(*judged, queries=None, **fields):
    own = {key: fields.pop(key) for key in ("strict", "skip_ungraded", "unreadable") if key in fields}
    joined = {one.document: one.grade for one in judged if one.query == "q" and one.grade is not None}
    known = queries or (Query("q", "q", judgments=joined or {"r": 1}, mark=Mark("s.relevance.yaml", 9, 5)),)
    measures = fields.pop("measures", ("nDCG@10",))
    suite = Suite("s", "s.relevance.yaml", TARGET, {}, tuple(map(parse_measure, measures)), known, **fields)
    return JudgedSuite(suite, judged, **own)


def found(judged, *, scales=(), known=None):
    return [
        (finding.kind.value, str(finding.mark), finding.message) for finding in check_judgments(judged, scales, known)
    ]


def kinds(judged, **options):
    return [kind for kind, _, _ in found(judged, **options)]


def test_good_judgments_give_no_finding():
    judged = judged_suite(judgment("a", 3), judgment("b", 0, line=2))
    known = IndexKnowledge("index products", frozenset({"a", "b"}))
    assert found(judged, scales=[Scale(0, 3, "`grades`")], known=known) == []


def test_the_same_grade_twice_is_a_duplicate_and_another_grade_a_contradiction():
    judged = judged_suite(
        judgment("a", 2, line=2),
        judgment("a", 2, line=5),
        judgment("a", 1, line=3, path="k.yaml"),
        judgment("a", 2, "z"),
    )
    first = "first at j.csv:2:1"
    assert found(judged)[0] == (
        "unknown-query",
        "j.csv:1:1",
        "the suite has no query 'z', for which 1 document is judged; correct the id, or set "
        "'judgments: {files: …, other_queries: ignore}'",
    )
    assert found(judged)[1:] == [
        ("duplicate", "j.csv:5:1", f"document 'a' for query 'q' is judged twice with grade 2, {first}; remove one"),
        (
            "contradiction",
            "k.yaml:3:1",
            "document 'a' for query 'q' has grade 1 here and 2 at j.csv:2:1; keep the right one",
        ),
    ]


def test_the_same_document_of_two_queries_is_neither():
    queries = tuple(Query(name, name, judgments={"a": 1}) for name in "qr")
    assert kinds(judged_suite(judgment("a"), judgment("a", 3, "r"), queries=queries)) == []


def test_a_grade_that_is_not_known_yet_contradicts_nothing():
    judged = judged_suite(judgment("a", math.nan), judgment("a", 1, line=2), judgment("b", None, line=3))
    assert kinds(judged, scales=[Scale(0, 1, "x")]) == ["no-grade"]


def test_a_document_without_a_grade_is_told_unless_that_is_meant():
    assert kinds(judged_suite(judgment("a", None))) == ["no-grade"]
    assert kinds(judged_suite(judgment("a", None), skip_ungraded=True)) == []


@pytest.mark.parametrize(
    ("grade", "said"),
    [
        (4, "grade 4 of document 'a' for query 'q' is above 3, the greatest of `grades`"),
        (-0.5, "grade -0.5 of document 'a' for query 'q' is below 0, the least of `grades`"),
        (3, None),
        (2.5, None),
    ],
)
def test_a_grade_is_held_to_the_scale(grade, said):
    judged = judged_suite(judgment("a", grade), judgment("b", 1, line=2), grades={"good": 3, "bad": 0})
    messages = [message for _, _, message in found(judged, scales=list_scales(judged.suite))]
    assert [message.split(";")[0] for message in messages] == ([said] if said else [])


def test_the_scales_are_those_of_grades_and_of_measures_that_name_their_top():
    suite = judged_suite(measures=["nDCG@5", "ERR(max=2)@5", "ERR(max=2)@20", "P@3"], grades={"a": 1, "b": -1}).suite
    assert list_scales(suite) == (Scale(-1, 1, "`grades`"), Scale(-math.inf, 2, "ERR(max=2)@5"))
    assert [scale.greatest for scale in list_scales(judged_suite(measures=["ERR@5"], profile=Profile.RRE).suite)] == [
        3.0
    ]
    assert list_scales(judged_suite(measures=["nDCG@5"]).suite) == ()


@pytest.mark.parametrize("text", ["", "3", "0..", "3..0", "0...3", "a..b", "0,3", "nan..1"])
def test_what_is_no_scale_is_refused(text):
    with pytest.raises(UsageError, match=r"expected the least and the greatest grade, as in 0\.\.3"):
        parse_scale(text)


def test_a_scale_may_be_negative_and_fractional():
    assert parse_scale("-1..2.5") == Scale(-1.0, 2.5, "--scale")


def test_an_unknown_query_is_told_once_with_the_nearest_and_not_where_others_are_ignored():
    judged = [judgment("a"), judgment("x", 1, "shoos", 4), judgment("y", 1, "shoos", 5)]
    queries = (Query("shoes", "shoes", judgments={"a": 1}), Query("q", "q", judgments={"a": 1}))
    [(kind, place, message)] = found(judged_suite(*judged, queries=queries))
    assert (kind, place) == ("unknown-query", "j.csv:4:1")
    assert message == (
        "the suite has no query 'shoos', for which 2 documents are judged; correct the id, or set "
        "'judgments: {files: …, other_queries: ignore}'; did you mean 'shoes'?"
    )
    assert kinds(judged_suite(*judged, queries=queries, strict=False)) == []


@pytest.mark.parametrize(
    ("judgments", "said"), [({}, "no judgment"), ({"a": 0, "b": -1}, "only judgments without gain"), ({"a": 0.5}, None)]
)
def test_a_query_needs_a_positive_judgment(judgments, said):
    query = Query("q", "q", judgments=judgments, mark=Mark("s.relevance.yaml", 9, 5))
    told = found(judged_suite(queries=(query,)))
    assert [(kind, place) for kind, place, _ in told] == ([("no-positive", "s.relevance.yaml:9:5")] if said else [])
    assert all(f"query 'q' has {said}, " in message for _, _, message in told)


@pytest.mark.parametrize(("grade", "said"), [(2, []), (0, ["only judgments without gain"]), (None, ["no judgment"])])
def test_a_judgment_counts_though_its_file_is_refused(grade, said):
    """Another line of the file is wrong, so that the suite's queries were given none of it."""
    judged = judged_suite(judgment("a", grade), queries=(Query("q", "q"),), skip_ungraded=True)
    assert [message.split(" has ")[1].split(",")[0] for _, _, message in found(judged)] == said


def test_it_is_the_gain_map_that_says_what_is_positive():
    gain = Gain(GainKind.MAP, ((0.0, 1.0), (1.0, 0.0), (2.0, -1.0)))
    for grades, expected in (({"a": 1, "b": 2}, ["no-positive"]), ({"a": 0}, []), ({"a": 7}, ["no-positive"])):
        assert kinds(judged_suite(queries=(Query("q", "q", judgments=grades),), gain=gain)) == expected


def test_a_query_that_nothing_measures_needs_none():
    assert kinds(judged_suite(queries=(Query("q", "q"),), measures=())) == []


# ------------------------------------------------------------------------------------------------ the index


def known(*ids, repeated=()):
    return IndexKnowledge("index products", frozenset(ids), {"products": frozenset(repeated)})


def test_a_document_that_is_gone_is_told_at_each_of_its_judgments():
    queries = tuple(Query(name, name, judgments={"a": 1}) for name in "qr")
    judged = judged_suite(judgment("a"), judgment("b", line=2), judgment("b", 1, "r", 3), queries=queries)
    assert found(judged, known=known("a")) == [
        (
            "missing-document",
            f"j.csv:{line}:1",
            f"document 'b' for query {query!r} is not in index products; remove the judgment, or restore the document",
        )
        for line, query in ((2, "q"), (3, "r"))
    ]


def test_where_none_of_many_documents_is_there_the_place_is_told_once():
    judged = judged_suite(*(judgment(f"d{n}", line=n) for n in range(20)))
    [(kind, place, message)] = found(judged, known=known())
    assert (kind, place) == ("missing-document", "s.relevance.yaml:2:1")
    assert message == "none of the 20 judged documents is in index products; is this the right index?"
    assert len(kinds(judged, known=known("d0"))) == 19
    assert len(kinds(judged_suite(*(judgment(f"d{n}", line=n) for n in range(19))), known=known())) == 19


def test_the_id_that_is_there_under_another_form_is_named():
    [(kind, _, message)] = found(judged_suite(judgment("SKU-1")), known=known("sku-1"))
    assert kind == "missing-document"
    assert "is not in index products, but 'sku-1' is, which differs only in letter case; " in message


def test_a_document_in_several_indexes_is_told_once_at_the_target():
    judged = judged_suite(*(judgment(f"d{n}", line=n) for n in range(1, 9)))
    ids = [f"d{n}" for n in range(1, 9)]
    [(kind, place, message)] = found(judged, known=known(*ids, repeated=[*ids[:7], "other"]))
    assert (kind, place) == ("several-indexes", "s.relevance.yaml:2:1")
    assert message.startswith(
        "'products' leads to several indexes, and 7 judged documents are in more than one of them: "
    )
    assert ": 'd1', 'd2', 'd3', 'd4', 'd5', …; a judgment cannot tell them apart" in message
    assert kinds(judged, known=known(*ids, repeated=["other"])) == []
    said = replace(judged, suite=replace(judged.suite, target=replace(judged.suite.target, unique_ids=True)))
    assert kinds(said, known=known(*ids, repeated=ids)) == []


def by_sku(*judged):
    suite = judged_suite(*judged)
    return replace(suite, suite=replace(suite.suite, target=replace(suite.suite.target, id_field="sku")))


def test_an_id_of_several_documents_is_told_as_that_and_not_as_several_indexes():
    judged = by_sku(judgment("d1"), judgment("d2", line=2))
    [(kind, place, message)] = found(judged, known=known("d1", "d2", repeated=["d1"]))
    assert (kind, place) == ("repeated-id", "s.relevance.yaml:2:1")
    assert message == (
        "1 judged id is the 'sku' of several documents of 'products': 'd1'; a judgment cannot tell them apart: name an "
        "'id_field' whose values differ, let the target lead to one index, or say 'ids: unique' in the target where "
        "they are the same document"
    )
    [(_, _, message)] = found(judged, known=known("d1", "d2", repeated=["d1", "d2"]))
    assert message.startswith("2 judged ids are each the 'sku' of several documents of 'products': 'd1', 'd2'; ")


def test_an_id_field_that_no_index_has_is_told_once():
    judged = by_sku(judgment("d1"), judgment("d2", line=2))
    lacking = IndexKnowledge("index products", frozenset(), {}, {"products": "skus"})
    assert found(judged, known=lacking) == [
        (
            "missing-document",
            "s.relevance.yaml:2:1",
            "no judged document can be found by its id in index products, which has no field 'sku', the `id_field` of "
            "the target; name a field that it has; did you mean 'skus'?",
        )
    ]


# ------------------------------------------------------------------------------------------------ aliases


ALIASES = [
    ("sku-1", "SKU-1", "letter case"),
    ("sku 1", "sku1", "blanks"),
    (" sku-1", "sku-1", "blanks"),
    ("caf\u00e9", "cafe\u0301", "Unicode normalization"),
    ("\uff41", "a", "Unicode normalization"),
    ("Sku 1", "sku1", "letter case, spaces or Unicode normalization"),
    ("http://x.y/a", "https://x.y/a", "the form of a URL"),
    ("http://x.y/a", "http://www.x.y/a/", "the form of a URL"),
    ("http://x.y:80/a", "http://x.y/a#top", "the form of a URL"),
    ("http://x.y/a%20b", "http://x.y/a b", "the form of a URL"),
]


@pytest.mark.parametrize(("one", "other", "what"), ALIASES)
def test_ids_that_differ_in_their_form_only_are_aliases(one, other, what):
    judged = judged_suite(judgment(one), judgment(other, line=2), judgment(other, line=3, query="q2"))
    [message] = [message for kind, _, message in found(judged) if kind == "alias"]
    assert message.startswith(f"document {other!r} differs from {one!r}, judged at j.csv:1:1, only in {what}; ")
    assert describe_difference(one, other) == describe_difference(other, one) == what


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("sku-1", "sku1"),
        ("x.y/a", "x.y/a/"),
        ("http://x.y/a", "http://x.y/b"),
        ("http://x.y:81", "http://x.y"),
    ],
)
def test_other_ids_are_not(one, other):
    assert kinds(judged_suite(judgment(one), judgment(other, line=2))) == []


def test_two_that_the_index_both_holds_are_two_documents():
    judged = judged_suite(judgment("a"), judgment("A", line=2))
    assert kinds(judged, known=known("a", "A")) == []
    assert kinds(judged, known=known("a")) == ["missing-document"]


@given(st.text())
def test_folding_is_idempotent_where_there_is_no_escape(text):
    plain = text.replace("%", "").replace("://", "")
    assert fold_id(fold_id(plain)) == fold_id(plain)


@given(st.text(min_size=1))
def test_an_id_is_among_its_own_spellings_and_all_of_them_fold_to_it_where_it_is_plain(text):
    assert text in list_spellings(text)
    if text.isascii() and "://" not in text:
        assert {fold_id(one) for one in list_spellings(text)} <= {fold_id(text)}


@pytest.mark.parametrize(("one", "other", "what"), ALIASES[:4] + ALIASES[6:7])
def test_the_likely_spellings_are_looked_for(one, other, what):
    assert other in list_spellings(one) or one in list_spellings(other), what


def test_findings_are_sorted_by_place():
    judged = judged_suite(
        judgment("b", None, line=10), judgment("a", None, line=9), judgment("c", None, line=1, path="i.csv")
    )
    assert [place for _, place, _ in found(judged)] == ["i.csv:1:1", "j.csv:9:1", "j.csv:10:1"]


def test_every_kind_has_a_row_in_the_documentation():
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "reference" / "judgments.md").read_text(encoding="utf-8")
    assert [kind for kind in FindingKind if f"| `{kind}` |" not in text] == []
