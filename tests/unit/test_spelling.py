"""The nearest known name."""

from harness.words import did_you_mean, find_nearest


def test_letter_case_does_not_keep_a_name_from_being_near():
    assert find_nearest("NDCG", ["nDCG", "P"]) == "nDCG"


def test_a_name_that_is_like_no_other_has_no_nearest():
    assert find_nearest("latency", ["nDCG", "P"]) is None
    assert did_you_mean("latency", ["nDCG", "P"]) == ""


def test_the_nearest_of_several_is_named():
    assert did_you_mean("querys", ["query", "queries", "grades"]) == "; did you mean 'query'?"
