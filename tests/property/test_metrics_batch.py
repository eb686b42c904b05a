"""The batch path gives what the one-query path gives, to 1e-12, for every measure that it has."""

import pytest

pytest.importorskip("numpy")

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UndefinedScore
from harness.metrics import parse_measure, score_query
from harness.metrics.bulk import batches_of_ids, ids, texts
from harness.metrics.evaluate import evaluate
from harness.metrics.registry import DEFINITIONS
from harness.model.suite import Gain, GainKind, Profile

DOCUMENTS = [f"d{number}" for number in range(12)]
WHOLE = st.integers(-2, 4).map(float)
FRACTIONS = st.floats(-2, 4, allow_nan=False).map(lambda grade: round(grade, 3))
MAP = Gain(GainKind.MAP, tuple((float(grade), worth) for grade, worth in enumerate([-3, -1, 0.5, 1, 0, 2, 7], -2)))

TEXTS = [
    "CG",
    "CG@3",
    "CG(missing=-1)@6",
    "DCG",
    "DCG@4",
    "DCG(log=e)@5",
    "DCG(discount=jarvelin,log=3)",
    "DCG(missing=-2)@7",
    "nDCG",
    "nDCG@1",
    "nDCG@5",
    "nDCG(gain=linear)@5",
    "nDCG(missing=-0.5)@9",
    "nDCG(discount=jarvelin)@4",
    "nDCG(judged_only=true)@3",
    "P",
    "P@1",
    "P@5",
    "P(rel=2)@5",
    "P(rel=0.5,judged_only=true)@3",
    "R",
    "R@4",
    "R(rel=3)@9",
    "F",
    "F@5",
    "F(beta=2)@5",
    "F(beta=0)@2",
    "RR",
    "RR@2",
    "RR(rel=2)",
    "AP",
    "AP@3",
    "AP(rel=2)@5",
    "AP(judged_only=true)",
    "Rprec",
    "Rprec(rel=2)",
    "Success",
    "Success@2",
    "IPrec@0",
    "IPrec@0.35",
    "IPrec(rel=2,judged_only=true)@1",
    "IPrec(rounding=nearest)@0.5",
    "SetP",
    "SetP(rel=2,relative=true,judged_only=true)",
    "SetR(rel=2)",
    "SetF",
    "SetF(beta=0)",
    "SetF(beta=3)",
    "SetAP",
    "SetAP(judged_only=true)",
    "NumQ",
    "Judged",
    "Judged@3",
    "NumRet",
    "NumRet@2",
    "NumRel",
    "NumRel(rel=2)",
    "NumRelRet",
    "NumRelRet(rel=2)@3",
    "Bpref",
    "Bpref(rel=2)",
    "Bpref(negative=skipped)",
    "infAP",
    "infAP(rel=2)",
    "ERR",
    "ERR@3",
    "ERR(max=5,judged_only=true)@2",
    "RBP",
    "RBP(p=0.5)@4",
    "RBP(rel=2)",
    "RBP(p=0.9,max=4)",
    "RBPResidual",
    "RBPResidual(p=0.95)@3",
    "RBPResidual(negative=skipped)",
    "RBPResidual(tail=unjudged)@2",
    "nDCG(ideal=all)@2",
    "nDCG(ideal=returned)@5",
    "P(over=hits)@5",
]
MEASURES = [parse_measure(text) for text in TEXTS]
PROFILES = st.sampled_from(Profile)


@pytest.fixture(autouse=True, scope="module")
def _batch_however_few_hits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.metrics.evaluate.WORTH_NUMPY", 0)
        yield


@st.composite
def collections(draw, grades):
    queries = [f"q{number}" for number in range(draw(st.integers(1, 4)))]
    rankings = {query: draw(st.lists(st.sampled_from(DOCUMENTS), max_size=14)) for query in queries}
    judgments = {query: draw(st.dictionaries(st.sampled_from(DOCUMENTS), grades, max_size=10)) for query in queries}
    return judgments, rankings


def one_by_one(measure, judgments, rankings, query, **options):
    try:
        return score_query(measure, rankings[query], judgments[query], **options)
    except UndefinedScore:
        return None


def assert_equal_paths(collection, **options):
    judgments, rankings = collection
    batch = evaluate(rankings, judgments, MEASURES, **options).scores
    for measure in MEASURES:
        expected = {
            query: one_by_one(measure, judgments, rankings, query, **options)
            for query in rankings
            if options.get("profile") is not Profile.TREC or judgments[query]
        }
        assert batch[measure.text] == {
            query: None if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)
            for query, value in expected.items()
        }, measure


@settings(max_examples=60, deadline=None)
@given(collection=collections(WHOLE | FRACTIONS), profile=PROFILES)
def test_fractional_grades(collection, profile):
    assert_equal_paths(collection, profile=profile)


@settings(max_examples=60, deadline=None)
@given(collection=collections(WHOLE), profile=PROFILES)
def test_negative_gains(collection, profile):
    assert_equal_paths(collection, gain=MAP, profile=profile)


LONG = "http://example.org/" + "section/" * 40
ODD = [
    "", "a", "aaaaaaaa", "aaaaaaaab", "aaaaaaaa\x1f", LONG + "1", LONG + "2", LONG, "\u00fc", "u\u0308",
    "\U0001f600", "\ud83d\ude00", "#", "########",
]  # fmt: skip
UNFIT = ["a\nb", "b\n", "\n", "a\0", "\0", 7, 2.5, ("a", 1), None]


@settings(max_examples=75, deadline=None)
@given(data=st.data(), unfit=st.booleans())
def test_ids_of_every_kind(data, unfit):
    names = st.sampled_from(ODD + UNFIT if unfit else ODD)
    queries = [f"q{number}" for number in range(data.draw(st.integers(1, 4)))]
    rankings = {query: data.draw(st.lists(names, max_size=14)) for query in queries}
    judgments = {query: data.draw(st.dictionaries(names, WHOLE, max_size=10)) for query in queries}
    assert_equal_paths((judgments, rankings))


@settings(max_examples=60, deadline=None)
@given(collection=collections(WHOLE), at_once=st.integers(1, 30), depth=st.none() | st.integers(1, 9))
def test_blocks_of_any_size_and_ids_one_by_one_give_the_same(collection, at_once, depth):
    rankings, judgments = ([part[query] for query in collection[0]] for part in reversed(collection))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "_join_bytes", ids._look_up_ranks)
        expected = columns_of(batches_of_ids(rankings, judgments, depth=depth))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "_IDS_AT_ONCE", at_once)
        assert columns_of(batches_of_ids(rankings, judgments, depth=depth)) == expected


@settings(max_examples=60, deadline=None)
@given(collection=collections(WHOLE), kept=st.sampled_from([0, 1, 0xFF]))
def test_documents_of_the_same_hash_are_told_apart(collection, kept):
    rankings, judgments = ([part[query] for query in collection[0]] for part in reversed(collection))
    expected = columns_of(batches_of_ids(rankings, judgments))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "mix", lambda bits: bits & np.uint64(kept) << np.uint64(56))
        assert columns_of(batches_of_ids(rankings, judgments)) == expected


def columns_of(batches):
    (batch,) = batches
    return [column.tolist() for column in (batch.returned, batch.query, batch.rank, batch.grade, batch.judged_grade)]


def test_every_measure_of_the_batch_path_is_covered():
    assert {measure.name for measure in MEASURES} == {one.name for one in DEFINITIONS if one.batch}


@settings(max_examples=60, deadline=None)
@given(collection=collections(WHOLE))
def test_measures_together_give_what_each_gives_alone(collection):
    judgments, rankings = collection
    together = evaluate(rankings, judgments, MEASURES).scores
    for measure in MEASURES:
        assert together[measure.text] == evaluate(rankings, judgments, [measure]).scores[measure.text]
