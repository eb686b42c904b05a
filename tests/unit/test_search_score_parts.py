"""Explanations of scores: their parts add up to the score, and what an engine tells no more of is named."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.inspection import PartKind, ScoreDetail, ScoreFactor
from harness.search.hits import MalformedAnswer
from harness.search.score_parts import find_part_differences, find_score_parts


def node(value, description, *details):
    return {"value": value, "description": description, "details": list(details)}


def term(value, field="title", text="shoe", *, boost=2.2, named=None, freq="freq, occurrences of term within document"):
    """The weight of a term as both engines explain it; OpenSearch leaves a boost of 1 out."""
    details = [node(boost, "boost")] if boost is not None else []
    return node(
        value,
        f"weight({named or f'{field}:{text}'} in 7) [PerFieldSimilarity], result of:",
        node(
            value,
            "score(freq=2.0), computed as boost * idf * tf from:",
            *details,
            node(
                0.98,
                "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:",
                node(3, "n, number of documents containing term"),
                node(9, "N, total number of documents with field"),
            ),
            node(
                0.4,
                "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:",
                node(2.0, freq),
                node(1.2, "k1, term saturation parameter"),
                node(0.75, "b, length normalization parameter"),
                node(4.0, "dl, length of field"),
                node(2.5, "avgdl, average length of field"),
            ),
        ),
    )


def clauses(tree):
    return [(part.clause, part.score) for part in find_score_parts(tree)[1]]


def test_a_term_has_its_components():
    score, [part] = find_score_parts(term(0.8))
    assert (score, part.score, part.value, part.kind) == (0.8, 0.8, 0.8, PartKind.TERM)
    assert (part.field, part.term, part.clause) == ("title", "shoe", "title:shoe")
    assert (part.boost, part.idf, part.tf, part.frequency) == (2.2, 0.98, 0.4, 2.0)
    assert (part.length, part.average_length, part.containing) == (4.0, 2.5, 3)


def test_opensearch_leaves_a_boost_of_1_out():
    assert find_score_parts(term(0.8, boost=None))[1][0].boost is None


@pytest.mark.parametrize(
    ("named", "freq", "field", "text"),
    [
        ('title:"red shoe"', "phraseFreq=1.0", "title", '"red shoe"'),
        ("Synonym(title.en:shoe title.en:sneaker)", "termFreq=2.0", "title.en", "shoe, sneaker"),
        ("Synonym(title:shoe text:sneaker)", "termFreq=2.0", None, None),
        ("CombinedFieldQuery((title text)(shoe))", "termFreq=2.0", None, None),
    ],
)
def test_phrases_and_synonyms_are_named(named, freq, field, text):
    [part] = find_score_parts(term(0.8, named=named, freq=freq))[1]
    assert (part.field, part.term, part.frequency) == (field, text, 2.0)
    assert part.clause == (named if field is None else f"{field}:{text}")


def test_the_best_of_several_counts_and_the_others_are_shown():
    _, [best, other] = find_score_parts(node(3.0, "max of:", term(1.0, "text"), term(3.0)))
    assert (best.clause, best.score, best.factors) == ("title:shoe", 3.0, ())
    assert (other.clause, other.score, other.value) == ("text:shoe", 0.0, 1.0)
    assert other.factors == (ScoreFactor("not the best", 0.0),)


def test_a_tie_breaker_counts_a_share_of_the_others():
    tree = node(3.3, "max plus 0.3 times others of:", term(1.0, "text"), term(3.0))
    assert clauses(tree) == [("title:shoe", 3.0), ("text:shoe", pytest.approx(0.3))]


def test_weights_of_a_rescore_multiply():
    tree = node(
        2.6,
        "sum of:",
        node(1.4, "product of:", node(2.0, "sum of:", term(0.5), term(1.5, "text")), node(0.7, "primaryWeight")),
        node(1.2, "product of:", term(1.0, named='title:"red shoe"'), node(1.2, "secondaryWeight")),
    )
    _, parts = find_score_parts(tree)
    factors = {part.clause: [(one.name, one.value) for one in part.factors] for part in parts}
    assert factors == {
        'title:"red shoe"': [("rescore_query_weight", 1.2)],
        "text:shoe": [("query_weight", 0.7)],
        "title:shoe": [("query_weight", 0.7)],
    }


FUNCTION = node(2.5, "min of:", node(2.5, "field value function: log1p(doc['pop'].value)"), node(3.4e38, "maxBoost"))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (node(2.0, "function score, product of:", term(0.8), FUNCTION), [(PartKind.TERM, 2.0)]),
        (node(3.3, "sum of", term(0.8), FUNCTION), [(PartKind.FUNCTION, 2.5), (PartKind.TERM, 0.8)]),
        (node(1.65, "avg of", term(0.8), FUNCTION), [(PartKind.FUNCTION, 1.25), (PartKind.TERM, 0.4)]),
        (node(0.8, "min of", term(0.8), FUNCTION), [(PartKind.TERM, 0.8)]),
        (node(2.5, "max of", term(0.8), FUNCTION), [(PartKind.FUNCTION, 2.5), (PartKind.TERM, 0.0)]),
        (FUNCTION, [(PartKind.FUNCTION, 2.5)]),
    ],
)
def test_a_function_is_a_part_or_a_factor_and_is_named(tree, expected):
    score, parts = find_score_parts(tree)
    assert [(part.kind, pytest.approx(part.score)) for part in parts] == expected
    assert math.fsum(part.score for part in parts) == pytest.approx(score)
    named = [part.clause for part in parts] + [factor.name for part in parts for factor in part.factors]
    assert ("function score" in named) is (score != 0.8)


@pytest.mark.parametrize(
    ("description", "kind", "clause"),
    [
        ('script score function, computed with script:"Script{…}"', PartKind.SCRIPT, "script score"),
        ("within top k documents", PartKind.VECTOR, "vector similarity"),
        ("ConstantScore(brand:acme)^2.5", PartKind.CONSTANT, "brand:acme"),
        ("title:sh*", PartKind.CONSTANT, "title:sh*"),
        ("*:*^2.0", PartKind.CONSTANT, "*:*"),
        ("Saturation function on the _feature field", PartKind.OTHER, "Saturation function on the _feature field"),
    ],
)
def test_what_has_no_finer_parts_is_named(description, kind, clause):
    score, [part] = find_score_parts(node(2.5, description))
    assert (score, part.score, part.kind, part.clause) == (2.5, 2.5, kind, clause)


MAX_BOOST = node(3.4028235e38, "maxBoost")
LOG = node(1.5, "field value function: log1p(doc['rdeps'].value * factor=1.0)")
WEIGHTED = node(3.0, "product of:", LOG, node(2.0, "weight"))
FILTERED = node(
    3.0,
    "function score, product of:",
    node(1.0, "match filter: tag:y"),
    node(3.0, "product of:", node(1.0, "constant score 1.0 - no function provided"), node(3.0, "weight")),
)
SCRIPT = node(
    4.0,
    "script score function, computed with script:\"Script{type=inline, idOrCode='_score * 5'}\"",
    node(0.8, "_score: ", term(0.8)),
)
FUNCTIONS = node(10.0, "function score, score mode [sum]", WEIGHTED, FILTERED, SCRIPT)


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        (node(1.5, "min of:", LOG, MAX_BOOST), [(0, LOG, 1.5)]),
        (
            node(5.0, "min of:", FUNCTIONS, node(5.0, "maxBoost")),
            [
                (0, node(5.0, "min of:"), 5.0),
                (1, FUNCTIONS, 10.0),
                (2, WEIGHTED, 3.0),
                (3, LOG, 1.5),
                (3, node(2.0, "weight"), 2.0),
                (2, FILTERED, 3.0),
                (3, node(1.0, "match filter: tag:y"), 1.0),
                (3, node(3.0, "product of:"), 3.0),
                (4, node(1.0, "constant score 1.0 - no function provided"), 1.0),
                (4, node(3.0, "weight"), 3.0),
                (2, SCRIPT, 4.0),
                (3, node(0.8, "_score:"), 0.8),
                (1, node(5.0, "maxBoost"), 5.0),
            ],
        ),
    ],
    ids=["one function", "several functions with a limit"],
)
def test_each_function_of_a_function_score_is_told_as_a_factor_and_as_a_part(functions, expected):
    told = [ScoreDetail(detail["description"], value, level) for level, detail, value in expected]
    multiplied = node(0.8 * functions["value"], "function score, product of:", term(0.8), functions)
    _, [scored] = find_score_parts(multiplied)
    assert [list(factor.details) for factor in scored.factors] == [told]
    added = node(0.8 + functions["value"], "sum of", term(0.8), functions)
    _, [function, scored] = find_score_parts(added)
    assert (function.kind, list(function.details), scored.details) == (PartKind.FUNCTION, told, ())


SATURATION = "Saturation function on the _feature field for the pr feature, computed as w * S / (S + k) from:"


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        (node(1.2, SATURATION, node(2.0, "w, weight"), node(3.1, "k, pivot"), node(5.0, "S, feature value")), "other"),
        (node(0.4, "Distance score, computed as weight * pivotDistance / … from:", node(1.0, "weight")), "other"),
        (node(0.4, "rdeps is 41.0", node(1.0, "named by a script")), "other"),
        (SCRIPT, "script score"),
        (node(0.9, "rrf score: [0.9] computed for initial ranks [1, 2]", node(0.5, "rrf score: [0.5]")), "rank fusion"),
        (node(0.9, "the type of knn search executed was Approximate-NN", node(0.9, "at leaf")), "vector similarity"),
    ],
)
def test_whatever_the_engine_computes_a_clause_from_is_told(tree, kind):
    _, [part] = find_score_parts(tree)
    first, *inner = part.details
    assert (part.kind, first.description, first.value) == (kind, tree["description"], tree["value"])
    assert [(detail.description, detail.value, detail.level) for detail in inner] == [
        (child["description"].strip(), child["value"], 1) for child in tree["details"]
    ]


def test_the_query_behind_a_negative_boost_is_told():
    demoting = "Matched boosting query score(ConstantScore(tag:y))"
    tree = node(
        0.24,
        "weight(FunctionScoreQuery(title:red, scored by boost(…^0.3))), result of:",
        node(0.24, "product of:", term(0.8), node(0.3, demoting)),
    )
    [part] = find_score_parts(tree)[1]
    assert part.factors == (ScoreFactor("negative_boost", 0.3, (ScoreDetail(demoting, 0.3, 0),)),)


def test_a_script_is_not_taken_for_the_query_that_it_reads():
    tree = node(7.0, "script score function, computed with script:x", node(0.8, "_score: ", term(0.8)))
    assert clauses(tree) == [("script score", 7.0)]


def test_a_filter_is_no_part():
    tree = node(0.8, "sum of:", term(0.8), node(0.0, "match on required clause, product of:", node(0.0, "# clause")))
    assert clauses(tree) == [("title:shoe", 0.8)]


def test_a_sum_that_does_not_add_up_is_one_part():
    [part] = find_score_parts(node(5.0, "sum of:", term(0.8)))[1]
    assert (part.score, part.kind) == (5.0, PartKind.OTHER)


@pytest.mark.parametrize(
    "tree", [None, [], {"value": "1"}, {"value": True}, {"value": 1, "details": {}}, {"value": 1, "details": [3]}]
)
def test_what_is_no_explanation_is_refused(tree):
    with pytest.raises(MalformedAnswer):
        find_score_parts(tree)


def combined(children):
    """Every form in which an engine combines scores, with the value that it has then."""
    values = [child["value"] for child in children]
    best = max(values)
    return st.sampled_from([
        node(sum(values), "sum of:", *children),
        node(best, "max of:", *children),
        node(best + 0.4 * (sum(values) - best), "max plus 0.4 times others of:", *children),
        node(values[0] * 1.5, "product of:", children[0], node(1.5, "secondaryWeight")),
        node(values[0] * 2.5, "function score, product of:", children[0], FUNCTION),
        node(values[0] + 2.5, "sum of", children[0], FUNCTION),
        node(values[0] * 9, "something new", *children),
    ])  # fmt: skip


TREES = st.recursive(
    st.builds(term, st.floats(0.25, 64, width=32), st.sampled_from(["title", "text"]), st.sampled_from("ab")),
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(combined),
    max_leaves=8,
)


@settings(deadline=None)
@given(TREES)
def test_the_parts_of_any_explanation_add_up_to_the_score(tree):
    score, parts = find_score_parts(tree)
    assert math.fsum(part.score for part in parts) == pytest.approx(score, rel=1e-4)
    for part in parts:
        assert part.score == pytest.approx(part.value * math.prod(factor.value for factor in part.factors))


@settings(deadline=None)
@given(TREES, TREES)
def test_differences_add_up_to_that_of_the_scores_largest_first(first, second):
    (ours, our_parts), (theirs, their_parts) = find_score_parts(first), find_score_parts(second)
    found = find_part_differences(our_parts, their_parts)
    assert math.fsum(one.difference for one in found) == pytest.approx(
        ours - theirs, rel=1e-4, abs=1e-3 * max(ours, theirs)
    )
    sizes = [abs(one.difference) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert len({one.clause for one in found}) == len(found)
