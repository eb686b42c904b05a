"""What is to be judged, worked out by hand from small rankings."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.suites import make_suite
from harness.extensions.judging.pool import PooledRun, add_texts, find_pooling_depth, pool_runs
from harness.gate.grammar import parse_threshold
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run
from harness.model.suite import Display, Gain, GainKind, Query

SHOES = Query("shoes", "red shoes", judgments={"a": 2, "b": 0})
BOOTS = Query("boots", "rubber boots", judgments={"d": 1})


def make_pooled_suite(*queries, measures=("P@2",), **fields):
    return make_suite(*(queries or (SHOES, BOOTS)), measures=measures, **fields)


def run_of(name="current", **rankings):
    responses = {
        name: found
        if isinstance(found, Failure)
        else Ranking(tuple(Hit(one, title=f"title of {one}") for one in found))
        for name, found in rankings.items()
    }
    return PooledRun(name, Run(responses, Engine("fake"), name))


def test_unjudged_hits_of_the_top_are_pooled_by_query_and_best_rank():
    runs = [
        run_of(shoes=["x", "a", "y", "z"], boots=["d", "e"]),
        run_of("candidate", shoes=["y", "x", "b"], boots=["e"]),
    ]
    pool = pool_runs(make_pooled_suite(), runs, 3)
    found = [(one.query, one.text, one.document, dict(one.ranks), one.best) for one in pool.documents]
    assert found == [
        ("boots", "rubber boots", "e", {"current": 2, "candidate": 1}, 1),
        ("shoes", "red shoes", "x", {"current": 1, "candidate": 2}, 1),
        ("shoes", "red shoes", "y", {"current": 3, "candidate": 1}, 1),
    ]
    assert [one.title for one in pool.documents] == ["title of e", "title of x", "title of y"]


def test_the_coverage_of_a_run_is_what_a_threshold_on_judged_counts():
    [coverage] = pool_runs(make_pooled_suite(), [run_of(shoes=["x", "a", "y", "z"], boots=["d"])], 3).coverage
    assert (coverage.hits, coverage.unjudged, coverage.queries) == (4, 2, 1)
    assert coverage.judged == pytest.approx((1 / 3 + 1) / 2)
    # P@2: of shoes 1/2 as judged and at worst, 1 at best; of boots 1/2 in each case, as there is one hit
    assert (coverage.if_worst, coverage.as_judged, coverage.if_best) == pytest.approx((0.5, 0.5, 0.75))


def test_the_bounds_are_those_of_the_first_measure_that_depends_on_grades():
    rankings = {"shoes": ["x", "a", "y", "z"], "boots": ["d"]}
    suites = make_pooled_suite(measures=("Judged@3", "P@2")), make_pooled_suite(measures=("P@2",))
    first, second = (pool_runs(suite, [run_of(**rankings)], 3).coverage for suite in suites)
    assert first == second


def test_weights_count_in_the_means():
    suite = make_pooled_suite(replace(SHOES, weight=3.0), BOOTS)
    [coverage] = pool_runs(suite, [run_of(shoes=["x", "a"], boots=["d"])], 2).coverage
    assert coverage.judged == pytest.approx((3 * 0.5 + 1) / 4)


def test_the_query_whose_score_may_change_most_comes_first():
    runs = [run_of(shoes=["a", "x"], boots=["e", "f"]), run_of("candidate", shoes=["a", "b"], boots=["d"])]
    pool = pool_runs(make_pooled_suite(), runs, 2)
    assert [(one.query, one.run, one.unjudged, one.spread) for one in pool.queries] == [
        ("boots", "current", 2, 1.0),
        ("shoes", "current", 1, 0.5),
    ]


def test_a_query_without_a_score_goes_before_all_others():
    pool = pool_runs(
        make_pooled_suite(Query("new", "new"), SHOES, measures=["nDCG@2"]), [run_of(new=["x"], shoes=["y"])], 2
    )
    assert [one.query for one in pool.queries] == ["new", "shoes"]
    assert pool.queries[0].bounds.as_judged is None
    assert pool.coverage[0].as_judged == 0.0  # of shoes alone: the other has no value


def test_nothing_is_to_be_judged_where_all_hits_are():
    pool = pool_runs(make_pooled_suite(), [run_of(shoes=["a", "b"], boots=["d"])], 5)
    assert (pool.documents, pool.queries, pool.coverage[0].judged) == ((), (), 1.0)


def test_a_query_without_an_answer_is_named_and_pools_what_another_run_returned():
    failure = Failure(FailureKind.TIMEOUT, "too slow", 504)
    runs = [run_of(shoes=failure, boots=["d"]), run_of("candidate", shoes=["x"], boots=failure)]
    pool = pool_runs(make_pooled_suite(), runs, 2)
    assert [(one.document, dict(one.ranks)) for one in pool.documents] == [("x", {"candidate": 1})]
    assert dict(pool.unanswered) == {
        ("boots", "candidate"): "timeout (504): too slow",
        ("shoes", "current"): "timeout (504): too slow",
    }
    none = pool_runs(make_pooled_suite(), [run_of(shoes=failure, boots=failure)], 2).coverage[0]
    assert (none.judged, none.as_judged, none.hits) == (None, None, 0)


def test_a_skipped_query_is_neither_pooled_nor_unanswered():
    pool = pool_runs(make_pooled_suite(), [run_of(boots=["d"])], 2)
    assert (pool.documents, pool.unanswered) == ((), {})


def test_the_depth_is_the_deepest_cutoff_of_all_that_is_measured():
    tagged, _ = parse_threshold("mean Judged@20 >= 0.9", of_query=False)
    from harness.model.suite import Threshold

    assert find_pooling_depth(make_pooled_suite(measures=["nDCG@5", "P@10"])) == 10
    assert find_pooling_depth(make_pooled_suite(measures=["nDCG@5"], thresholds=(Threshold("t", tagged),))) == 20
    assert find_pooling_depth(make_pooled_suite(measures=["AP"], depth=50)) == 50


@pytest.mark.parametrize(
    ("fields", "ends"),
    [
        ({}, (0.0, 1.0)),
        ({"grades": {"perfect": 3, "bad": 0}}, (0.0, 1.0)),
        ({"gain": Gain(GainKind.MAP, ((0.0, -1.0), (1.0, 0.0), (2.0, 5.0)))}, (-1.0, 5.0)),
    ],
)
def test_bounds_are_those_of_the_scale(fields, ends):
    """CG@1 of one unjudged hit is its gain, cut to the greatest gain of the scale for a plain measure."""
    suite = make_pooled_suite(
        Query("q", "q", judgments={"a": 2}), measures=["CG@1" if "gain" in fields else "P@1"], **fields
    )
    [query] = pool_runs(suite, [run_of(q=["x"])], 1).queries
    assert (query.bounds.if_worst, query.bounds.if_best) == ends


@pytest.mark.parametrize("measure", ["ERR(max=2)@3", "nDCG(gain={1: 1, 2: 3})@3", "P@3", "AP", "RBP(p=0.8)", "Bpref"])
def test_a_measure_is_only_asked_about_grades_that_it_takes(measure):
    suite = make_pooled_suite(Query("q", "q", judgments={"a": 1}), measures=[measure], grades={"perfect": 5, "bad": 0})
    [query] = pool_runs(suite, [run_of(q=["x", "a"])], 3).queries
    assert query.bounds.if_best is not None


def test_where_no_grade_is_known_a_document_is_relevant_or_not():
    suite = make_pooled_suite(Query("q", "q"), measures=[])
    pool = pool_runs(suite, [run_of(q=["x", "a"])], 3)
    assert pool.measure == "nDCG@3"
    assert (pool.queries[0].bounds.if_worst, pool.queries[0].bounds.if_best) == (None, 1.0)


def test_titles_and_snippets_are_put_to_the_documents():
    pool = pool_runs(make_pooled_suite(), [run_of(shoes=["x"])], 1)
    texts = {("shoes", "x"): Hit("x", title="another", snippet="Light.")}
    [told] = add_texts(pool, texts, Display(), ()).documents
    assert (told.title, told.snippet) == ("title of x", "Light.")
    [untold] = add_texts(pool, {}, Display(), ()).documents
    assert untold.snippet is None


def test_fields_and_urls_are_put_to_the_documents_as_the_suite_names_them():
    pool = pool_runs(make_pooled_suite(), [run_of(shoes=["x"])], 1)
    page, picture = "https://shop.example/x", "https://shop.example/x.png"
    hit = Hit("x", texts={"price": "10", "url": page, "img": picture}, urls={"url": page, "img": picture})
    found = {("shoes", "x"): hit}
    [told] = add_texts(pool, found, Display(image="img", link="url"), ("brand", "price")).documents
    assert (told.texts, told.image, told.link) == ({"price": "10"}, picture, page)
    [without] = add_texts(pool, found, Display(), ("url",)).documents
    assert (without.texts, without.image, without.link) == ({"url": page}, None, None)


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(IDS, IDS, st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1), st.integers(1, 9))
def test_judging_the_pool_leaves_nothing_unjudged(first, second, judgments, depth):
    query = Query("q", "q", judgments=judgments)
    runs = [run_of(q=first), run_of("candidate", q=second)]
    pool = pool_runs(make_pooled_suite(query), runs, depth)
    graded = replace(query, judgments={**judgments, **{one.document: 0 for one in pool.documents}})
    after = pool_runs(make_pooled_suite(graded), runs, depth)
    assert after.documents == ()
    assert all(one.judged == 1.0 for one in after.coverage if one.hits)
    assert {one.document for one in pool.documents} == {*first[:depth], *second[:depth]} - judgments.keys()
