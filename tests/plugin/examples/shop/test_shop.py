import pytest


@pytest.fixture(scope="module")
def shop(relevance):
    return relevance.run("shop.relevance.yaml")


def test_the_first_hit_is_mostly_a_good_one(shop):
    assert shop.mean("RR@10") >= 0.7


def test_rankings_from_anywhere(relevance):
    scores = relevance.evaluate({"shoes": ["b", "a"]}, {"shoes": {"a": 3, "b": 1}}, measures=["nDCG@10"])
    assert scores.mean("nDCG@10") < 1
