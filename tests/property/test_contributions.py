"""What the ranks add and lose comes to the DCG of the ranking and of the ideal one, whatever the measure says."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.metrics import parse_measure, score_query
from harness.metrics.run_scores import contributions_of
from harness.model.run import Hit, Ranking
from harness.model.suite import Gain, GainKind, Profile, Query, Suite, Target

DOCUMENTS = [f"d{number}" for number in range(12)]
HITS = st.lists(st.tuples(st.sampled_from(DOCUMENTS), st.integers(0, 3)), unique_by=lambda hit: hit[0], max_size=12)
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), max_size=12)
GAINS = st.sampled_from([
    Gain(GainKind.LINEAR),
    Gain(GainKind.EXPONENTIAL),
    Gain(GainKind.MAP, ((-1, -3), (0, -0.5), (1, 1), (2, 1.5), (3, 0), (4, 6))),
])  # fmt: skip
SETTINGS = st.sampled_from([
    "", "@3", "@10", "(discount=jarvelin)@5", "(log=10)@4", "(missing=-1)@6", "(gain=linear)@5", "(judged_only=true)@4",
])  # fmt: skip
BY_RANK = st.sampled_from([profile for profile in Profile if profile is not Profile.RRE])


def looked_at(measure, hits, grades, gain, profile):
    query = Query("q", "q", judgments=grades)
    suite = Suite(
        "s", "", Target(), {}, (parse_measure("P@3"), parse_measure(measure)), (query,), gain=gain, profile=profile
    )
    ranking = Ranking(tuple(Hit(document, float(score)) for document, score in hits))
    return contributions_of(suite, query, ranking)


def value_of(measure, hits, grades, gain, profile):
    documents, scores = [hit[0] for hit in hits], [float(hit[1]) for hit in hits]
    return score_query(parse_measure(measure), documents, grades, gain=gain, profile=profile, scores=scores)


@settings(deadline=None)
@given(parameters=SETTINGS, hits=HITS, grades=GRADES, gain=GAINS, profile=BY_RANK)
def test_what_ranks_add_is_the_dcg_and_with_what_they_lose_the_ideal_one(parameters, hits, grades, gain, profile):
    hits = sorted(hits, key=lambda hit: -hit[1])
    found = looked_at(f"nDCG{parameters}", hits, grades, gain, profile)
    added, lost = (math.fsum(getattr(rank, name) for rank in found.ranks) for name in ("adds", "loses"))
    assert added == pytest.approx(found.dcg)
    assert added + lost == pytest.approx(found.ideal, abs=1e-9)
    if not found.ideal:
        return  # undefined, or 0 by the rules of the profile
    dcg = value_of(f"DCG{parameters}", hits, grades, gain, profile)
    ndcg = value_of(f"nDCG{parameters}", hits, grades, gain, profile)
    assert found.dcg == pytest.approx(dcg)
    if ndcg:
        assert found.dcg / found.ideal == pytest.approx(ndcg)


@settings(deadline=None)
@given(hits=HITS, grades=GRADES, gain=GAINS)
def test_each_rank_is_there_once_with_the_document_that_is_scored_at_it(hits, grades, gain):
    ranks = looked_at("nDCG@5", hits, grades, gain, Profile.STANDARD).ranks
    assert [rank.rank for rank in ranks] == list(range(1, len(ranks) + 1))
    assert [rank.document for rank in ranks if rank.document] == [document for document, _ in hits[:5]]
    assert len(ranks) <= 5
    for rank in ranks:
        assert rank.grade == (grades.get(rank.document) if rank.document else None)
        assert rank.adds == rank.gain / rank.discount


def test_it_is_that_of_the_first_discounted_measure_and_else_of_ndcg_at_10():
    given_to = [("a", 2)], {"a": 2}, Gain(), Profile.STANDARD
    assert looked_at("DCG(gain=linear)@4", *given_to).measure == "DCG(gain=linear)@4"
    assert looked_at("DCG(gain=linear)@4", *given_to).gain == "linear"
    assert looked_at("RR", *given_to).measure == "nDCG@10"


def test_what_is_not_computed_by_rank_has_none():
    hits, grades = [("a", 2)], {"a": 2}
    assert looked_at("nDCG@4", hits, grades, Gain(), Profile.RRE) is None
    assert looked_at("nDCG@4", hits, {"a": 9}, Gain(GainKind.MAP, ((0, 0), (1, 1))), Profile.STANDARD) is None
