"""A baseline that contradicts itself is refused, with what contradicts what; one that was saved never is."""

from dataclasses import replace
from math import inf, nan

import pytest

from builders.suites import make_suite
from harness import __version__
from harness.errors import BaselineError
from harness.metrics import Definition, Needs, parse_measure, register_measure, registry
from harness.metrics.registry import DEFINITIONS, Registry
from harness.metrics.run_scores import score_run
from harness.model.kept import BaselineFile
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run
from harness.model.scores import Outcome
from harness.model.suite import Gain, GainKind, Profile, Query
from harness.store.baseline import find_reference, make_baseline
from harness.store.baseline_files import dumps, loads, write_baselines
from harness.store.contradictions import refuse_contradictions

QUERIES = (
    Query("shoes", "red shoes", params={"size": 1.5}, judgments={"a": 3, "b": 1}),
    Query("none", "no hits", judgments={"c": 1}),
    Query("unjudged", "unjudged", judgments={"x": 0}),
)
RANKINGS = {
    "shoes": Ranking((Hit("b", 5.0), Hit("a", 5.0), Hit("c", 1.0))),
    "none": Ranking(),
    "unjudged": Ranking((Hit("x", 1.0),)),
}
MEASURES = tuple(map(parse_measure, ("nDCG@10", "RR@10", "AP")))


def make_kept_suite(**fields):
    return make_suite(*QUERIES, measures=MEASURES, depth=3, **fields)


def saved(suite=None, run=None):
    suite = suite or make_kept_suite()
    run = run or Run(RANKINGS, Engine("fake"), "current", facts=IndexFacts())
    entry = make_baseline(suite, run, score_run(suite, run), created="2026-05-01", harness=__version__)
    return loads(dumps(BaselineFile("shop", {"current": entry})), "b.json").requests["current"]


def edited(query="shoes", entry=None, **facts):
    """A saved entry with other *facts* of a query; its ranking is given as the file has it, in pairs."""
    entry = entry or saved()
    if "ranking" in facts:
        ranking = facts["ranking"]
        facts["ranking"] = tuple(document for document, _ in ranking)
        facts["engine_scores"] = tuple(score for _, score in ranking)
    kept = replace(entry.queries[query], **facts)
    return replace(entry, queries={**entry.queries, query: kept})


def refusal(entry, suite=None):
    """What is said of *entry*, after the name of its file."""
    with pytest.raises(BaselineError) as caught:
        refuse_contradictions(entry, "b.json", "current", suite)
    sentence = str(caught.value)
    begin = "the baseline b.json contradicts itself: request current"
    assert sentence.startswith(begin)
    return sentence.removeprefix(begin)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (lambda entry: replace(entry, depth=0), ": its depth is 0"),
        (lambda entry: replace(entry, created="x"), ": its date is 'x', expected one such as '2026-05-01'"),
        (lambda entry: replace(entry, index=IndexFacts(documents=-1)), ": its index has -1 documents"),
    ],
)
def test_an_entry_with_impossible_facts_is_refused(entry, sentence):
    assert refusal(entry(saved())) == sentence


def test_what_was_saved_is_sound():
    for suite in (make_kept_suite(), None):
        refuse_contradictions(saved(), "b.json", "current", suite)


def test_a_query_that_no_measure_was_asked_of_has_no_score_and_is_sound():
    refuse_contradictions(edited(scores={}, bands={}), "b.json", "current", make_kept_suite())


@pytest.mark.parametrize("number", [1, 9])
def test_sort_values_of_another_number_of_hits_are_refused(number):
    """With a suite the ranking is scored again, and must be read for that."""
    entry = edited(sort=((1.0, "acme"),) * number)
    hits = len(entry.queries["shoes"].ranking)
    for suite in (None, make_kept_suite()):
        said = f"it has the sort values of {number} hit{'s' if number > 1 else ''}, and its ranking has {hits}"
        assert said in refusal(entry, suite)


RANKING = (("b", 5.0), ("a", 5.0), ("c", 1.0))
SCORES = saved().queries["shoes"].scores
OF_A_QUERY = {
    "scored without hits": ({"ranking": ()}, "it is scored, and its ranking is empty"),
    "zero hits with hits": ({"outcome": Outcome.ZERO_HITS}, "it had zero hits, and its ranking has 3 hits"),
    "undefined with a score": ({"outcome": Outcome.UNDEFINED}, "it is undefined, and has a score of AP"),
    "scored without a score": (
        {"scores": {"nDCG@10": None}, "bands": {}},
        "it is scored, and none of its scores has a value",
    ),
    "an outcome that is not kept": ({"outcome": Outcome.SKIPPED}, "skipped is not an outcome in a baseline"),
    "a document twice": ({"ranking": RANKING[:2] + RANKING[:1]}, "its ranking has b 2 times"),
    "a document of the ranking below it": ({"tail": ("x", "b")}, "its ranking has b 2 times"),
    "a tail of nothing": (
        {"ranking": (("b", None),), "tail": ("x",)},
        "it has a tail of ties, and no last hit with a score",
    ),
    "more hits than were asked for": (
        {"ranking": (*RANKING, ("d", 0.5))},
        "its ranking has 4 hits, and 3 were asked for",
    ),
    "an engine's score": ({"ranking": (("b", nan),)}, "the engine's score of b is nan"),
    "a score": ({"scores": {**SCORES, "AP": inf}}, "its AP is inf"),
    "out of range": ({"scores": {**SCORES, "AP": 1.5}}, "its AP is 1.5, which is out of range"),
    "below reach": ({"scores": {**SCORES, "AP": -0.1}}, "its AP is -0.1, which is out of range"),
    "a weight": ({"weight": 0.0}, "its weight is 0.0"),
    "a band that begins above its end": (
        {"bands": {"nDCG@10": (1.0, 0.5)}},
        "its nDCG@10 is 0.709809741397, and is not in its tie band from 1.0 to 0.5",
    ),
    "a band beside the score": (
        {"bands": {"RR@10": (0.25, 0.5)}},
        "its RR@10 is 1, and is not in its tie band from 0.25 to 0.5",
    ),
    "a band without bounds": (
        {"bands": {"RR@10": (-inf, inf)}},
        "its RR@10 is 1, and is not in its tie band from -inf to inf",
    ),
    "a band without a score": ({"bands": {"P@5": (0.2, 0.4)}}, "it has a tie band of P@5, and no score"),
    "another text": ({"text": "blue shoes"}, "the fingerprint of its text and params differs"),
    "other params": ({"params": {"size": 2}}, "the fingerprint of its text and params differs"),
}


@pytest.mark.parametrize(("facts", "sentence"), OF_A_QUERY.values(), ids=OF_A_QUERY)
def test_what_a_query_cannot_be(facts, sentence):
    assert refusal(edited(**facts)) == f", query shoes: {sentence}"


def test_what_a_score_can_be_is_a_matter_of_the_profile():
    """RRE gives an ERR of 1 to a query without hits, and no recall above 1."""
    rre = {"outcome": Outcome.ZERO_HITS, "ranking": (), "bands": {}, "short": True}
    entry = replace(edited(**rre, scores={"ERR": 1.0}), profile=Profile.RRE)
    refuse_contradictions(entry, "b.json", "current")
    assert refusal(replace(edited(**rre, scores={"R": 1.5}), profile=Profile.RRE)).endswith("which is out of range")


@pytest.mark.parametrize(
    ("depth", "sentence"),
    [
        (4, ", query shoes: its ranking has 3 hits where the depth is 4, and is not kept as a short one"),
        (100, ", query shoes: its ranking has 3 hits where the depth is 100, and is not kept as a short one"),
        (2, ", query shoes: its ranking has 3 hits, and 2 were asked for"),
    ],
)
@pytest.mark.parametrize("suite", [None, make_kept_suite()])
def test_a_depth_that_was_changed_by_hand_is_refused(depth, sentence, suite):
    assert refusal(replace(saved(), depth=depth), suite).startswith(sentence)


def test_a_depth_at_which_a_short_ranking_would_end_is_refused():
    run = Run({"unjudged": RANKINGS["unjudged"]}, Engine("fake"), "current", facts=IndexFacts())
    entry = saved(replace(make_kept_suite(), queries=QUERIES[2:]), run)
    sentence = ", query unjudged: its ranking is kept as shorter than the depth, and has 1 hit where the depth is 1"
    assert refusal(replace(entry, depth=1)) == sentence


def test_hits_that_were_removed_by_hand_are_refused():
    entry = edited(ranking=RANKING[:2], bands={}, scores={})
    assert (
        refusal(entry) == ", query shoes: its ranking has 2 hits where the depth is 3, and is not kept as a short one"
    )


OF_AN_ENTRY = {
    "depth": ({"depth": 0}, "its depth is 0"),
    "gain": ({"gain": "cubic"}, "found 'cubic' as gain, expected exponential, linear, or a map"),
    "request": ({"template": "0" * 16}, "the fingerprint of its request differs"),
    "mapping": (
        {"index": IndexFacts(mapping="0" * 16, mapping_json=[{}])},
        "the fingerprint of its mapping differs",
    ),
    "settings": (
        {"index": IndexFacts(settings="0" * 16, settings_json=[{}])},
        "the fingerprint of its settings differs",
    ),
}


@pytest.mark.parametrize(("facts", "sentence"), OF_AN_ENTRY.values(), ids=OF_AN_ENTRY)
def test_what_an_entry_cannot_be(facts, sentence):
    assert refusal(replace(saved(), **facts)).startswith(f": {sentence}")


WITH_JUDGMENTS = {
    "another ranking": (
        {"ranking": (("b", 5.0), ("c", 5.0), ("a", 1.0)), "bands": {}},
        "its AP was kept as 1, and its ranking has 0.833333333333",
    ),
    "an empty ranking": (
        {"ranking": (), "outcome": Outcome.ZERO_HITS, "bands": {}, "short": True},
        "its AP was kept as 1, and its ranking has 0",
    ),
    "a score within reach": (
        {"scores": {**SCORES, "RR@10": 0.5}},
        "its RR@10 was kept as 0.5, and its ranking has 1",
    ),
    "a score that does not exist": (
        {"scores": {**SCORES, "RR@10": None}},
        "its RR@10 was kept as no value, and its ranking has 1",
    ),
}


@pytest.mark.parametrize(("facts", "sentence"), WITH_JUDGMENTS.values(), ids=WITH_JUDGMENTS)
def test_the_ranking_is_scored_by_the_judgments_that_did_not_change(facts, sentence):
    entry = edited(**facts)
    assert refusal(entry, make_kept_suite()) == f", query shoes: {sentence}"
    refuse_contradictions(entry, "b.json", "current")
    judged_anew = replace(make_kept_suite(), queries=(replace(QUERIES[0], judgments={"a": 1}), *QUERIES[1:]))
    refuse_contradictions(entry, "b.json", "current", judged_anew)
    gone = replace(make_kept_suite(), queries=QUERIES[1:])
    refuse_contradictions(entry, "b.json", "current", gone)


def test_a_score_where_nothing_is_judged_relevant_is_none():
    entry = edited("unjudged", outcome=Outcome.SCORED, scores={"RR@10": 1.0})
    assert (
        refusal(entry, make_kept_suite()) == ", query unjudged: its RR@10 was kept as 1, and its ranking has no value"
    )


def test_the_gain_and_the_profile_of_then_score_it():
    table = Gain(GainKind.MAP, ((0.0, 0.0), (1.0, 0.1234567891234), (3.0, 7.7654321987)))
    for then in (make_kept_suite(gain=table), make_kept_suite(gain=Gain(GainKind.LINEAR), profile=Profile.TREC)):
        entry = saved(then)
        refuse_contradictions(entry, "b.json", "current", make_kept_suite())
        assert "its nDCG@10 was kept as" in refusal(
            edited(entry=entry, bands={}, scores={"nDCG@10": 0.5}), make_kept_suite()
        )


def test_the_version_that_kept_a_score_is_told_where_it_is_another():
    entry = replace(edited(scores={**SCORES, "RR@10": 0.5}), harness="0.0.9")
    assert refusal(entry, make_kept_suite()).endswith(
        "its RR@10 was kept as 0.5 by version 0.0.9, and its ranking has 1"
    )


def test_of_several_queries_the_first_is_told_and_the_others_are_counted():
    entry = edited("none", entry=edited(weight=0.0), weight=nan)
    assert refusal(entry) == ", query none: its weight is nan; and 1 other query"


def test_what_is_masked_cannot_be_checked():
    refuse_contradictions(edited(text="shoes of ${RELEVANCE_KEY}"), "b.json", "current", make_kept_suite())


def test_a_measure_that_is_not_known_or_is_the_users_own_is_no_contradiction(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRY", Registry(DEFINITIONS))
    register_measure(Definition("Moody", formula=lambda *_: 0.5, needs=Needs.NOTHING))
    of_others = {"Moody": 12.0, "OfAPackage(x=1)@5": 12.0, "nDCG(of_a_later_version=1)@5": 12.0}
    refuse_contradictions(edited(scores={**SCORES, **of_others}), "b.json", "current", make_kept_suite())
    assert refusal(edited(scores={**SCORES, "OfAPackage": nan})) == ", query shoes: its OfAPackage is nan"


def test_it_is_as_one_that_cannot_be_read(tmp_path):
    path = tmp_path / "shop.baseline.json"
    write_baselines(path, BaselineFile("shop", {"current": edited(ranking=())}))
    run = Run(RANKINGS, Engine("fake"), "current", facts=IndexFacts())
    reference = find_reference(make_kept_suite(), run, path)
    assert reference.run is None
    assert reference.problem == (
        f"the baseline {path} contradicts itself: request current, query shoes: it is scored, and its ranking is "
        f"empty; `relevance baseline save shop.relevance.yaml --baseline {path}` saves one"
    )
