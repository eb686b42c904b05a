"""Laws of baselines: what is written is read, what is kept scores the same, and a drop is decided as one expects."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from builders.gating import TODAY, threshold
from builders.suites import make_suite
from harness.errors import BaselineError
from harness.gate.decide import decide
from harness.masking import fingerprint
from harness.metrics import Cutoff, parse_measure
from harness.metrics.registry import DEFINITIONS
from harness.metrics.run_scores import score_run
from harness.model.kept import BaselineFile, Reference
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run, Status
from harness.model.scores import Outcome, Score
from harness.model.suite import Gain, GainKind, Profile, Query, Suite, Target
from harness.store.baseline import make_baseline, make_reference, merge_entry
from harness.store.baseline_files import dumps, loads
from harness.store.contradictions import refuse_contradictions
from harness.store.kept import restore_run

MEASURES = tuple(map(parse_measure, ("nDCG@3", "RR", "AP@5", "P(rel=2)@2", "Judged@3", "ERR@4")))
DOCUMENTS = "abcdefgh"
SCORES = st.sampled_from([3.0, 2.5, 1.0, 0.1 + 0.2]) | st.floats(0, 1e6)

rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=6).flatmap(
    lambda ids: st.lists(SCORES, min_size=len(ids), max_size=len(ids)).map(
        lambda scores: Ranking(tuple(map(Hit, ids, sorted(scores, reverse=True))))
    )
)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
params = st.dictionaries(st.text(max_size=3), jsons, max_size=3)
judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3).map(float), max_size=6)
names = st.text(min_size=1, max_size=5)


@st.composite
def runs(draw):
    """A suite and a run of it that answered every query."""
    ids = draw(st.lists(names, unique=True, min_size=1, max_size=4))
    queries = tuple(Query(name, draw(st.text()), draw(params), judgments=draw(judged)) for name in ids)
    suite = replace(make_suite(*queries, depth=6), measures=MEASURES)
    mapping = draw(jsons)
    facts = IndexFacts(fingerprint(mapping), "s", 8, mapping_json=mapping)
    run = Run({name: draw(rankings) for name in ids}, Engine("fake", "1"), "current", facts=facts)
    return suite, run


def made(suite, run):
    return make_baseline(suite, run, score_run(suite, run), created="2026-05-01", harness="1")


@given(runs(), names)
def test_what_is_written_is_read_again(suite_and_run, name):
    file = BaselineFile(name, {name: made(*suite_and_run)})
    assert loads(dumps(file), "x") == file
    assert loads(dumps(file, ascii_only=True), "x") == file
    assert dumps(loads(dumps(file), "x")) == dumps(file)


GAINS = (
    Gain(),
    Gain(GainKind.LINEAR),
    Gain(GainKind.MAP, ((0.0, -0.1234567891), (1.0, 0.0), (2.0, 1 / 3), (3.0, 4.0))),
)
EVERY = tuple(
    parse_measure(text) for one in DEFINITIONS if one.formula for text in ([f"{one.name}@1"] if one.at else [one.name])
)
DEEP = tuple(parse_measure(f"{one.name}@3") for one in DEFINITIONS if one.formula and one.cutoff is Cutoff.OPTIONAL)


@given(runs(), st.sampled_from(GAINS), st.sampled_from(Profile))
def test_what_was_saved_never_contradicts_itself(suite_and_run, gain, profile):
    suite, run = suite_and_run
    suite = replace(suite, measures=(*EVERY, *DEEP), gain=gain, profile=profile)
    entry = loads(dumps(BaselineFile("s", {"current": made(suite, run)})), "x").requests["current"]
    refuse_contradictions(entry, "x", "current", suite)
    refuse_contradictions(entry, "x", "current")
    assert make_reference(entry, suite, run).changed_questions == {}


@given(runs(), st.data())
def test_another_score_than_that_of_the_ranking_is_refused(suite_and_run, data):
    suite, run = suite_and_run
    entry = made(suite, run)
    query = data.draw(st.sampled_from(sorted(entry.queries)))
    kept = entry.queries[query]
    measure = data.draw(st.sampled_from(sorted(kept.scores)))
    value = data.draw(st.floats(0, 1) | st.none())
    before = kept.scores[measure]
    assume(value is not before if None in (value, before) else abs(value - before) > 1e-6)
    changed = replace(kept, scores={**kept.scores, measure: value})
    with pytest.raises(BaselineError, match="contradicts itself"):
        refuse_contradictions(replace(entry, queries={**entry.queries, query: changed}), "x", "current", suite)


@given(runs())
def test_with_the_same_judgments_the_kept_rankings_give_the_kept_scores(suite_and_run):
    suite, run = suite_and_run
    entry = loads(dumps(BaselineFile("s", {"current": made(suite, run)})), "x").requests["current"]
    again = score_run(suite, restore_run(entry, "current", depth=suite.depth))
    kept = {(query, name): value for query, one in entry.queries.items() for name, value in one.scores.items()}
    assert {(score.query, score.measure): score.value for score in again} == kept
    assert again == score_run(suite, run)


@given(runs())
def test_a_run_held_against_itself_changed_nothing_and_fell_by_nothing(suite_and_run):
    suite, run = suite_and_run
    gated = [threshold(f"drop {measure} <= 0") for measure in suite.measures]
    gated += [threshold(f"drop every {measure} <= 0%") for measure in suite.measures]
    suite = replace(suite, thresholds=tuple(gated), skip_undefined=True)
    reference = make_reference(made(suite, run), suite, run)
    assert reference.changes == ()
    for verdict in decide(suite, run, score_run(suite, run), today=TODAY, reference=reference):
        assert verdict.status is Status.PASSED or "no query is left to compare" in verdict.reason
        assert verdict.observed in (0.0, None)


@given(runs(), st.randoms(use_true_random=False))
def test_another_order_of_ties_never_counts_and_lies_in_the_band(suite_and_run, random):
    suite, run = suite_and_run
    shuffled = {}
    for query, ranking in run.responses.items():
        hits = sorted(ranking.hits, key=lambda hit: (-hit.score, random.random()))
        shuffled[query] = Ranking(tuple(hits))
    other = replace(run, responses=shuffled)
    suite = replace(
        suite,
        thresholds=tuple(threshold(f"drop every {measure} <= 0") for measure in suite.measures),
        skip_undefined=True,
    )
    entry = made(suite, run)
    scores = score_run(suite, other)
    for verdict in decide(suite, other, scores, today=TODAY, reference=make_reference(entry, suite, other)):
        assert verdict.status is Status.PASSED or "no query is left to compare" in verdict.reason
    for score in scores:
        kept = entry.queries[score.query]
        if score.value is not None:
            least, greatest = kept.bands.get(score.measure, (kept.scores[score.measure],) * 2)
            assert least - 1e-9 <= score.value <= greatest + 1e-9


@given(runs(), st.data())
def test_a_partial_run_changes_no_other_entry(suite_and_run, data):
    suite, run = suite_and_run
    chosen = data.draw(st.sets(st.sampled_from(suite.queries).map(lambda query: query.id), min_size=1))
    part = replace(suite, queries=tuple(query for query in suite.queries if query.id in chosen))
    again = replace(run, responses={query: data.draw(rankings) for query in sorted(chosen)})
    old, new = made(suite, run), made(part, again)
    file = merge_entry(BaselineFile("shop", {"current": old, "other": old}), part, "current", new, partial=True)
    assert file.requests["other"] == old
    for query, kept in old.queries.items():
        assert file.requests["current"].queries[query] == (new.queries[query] if query in chosen else kept)


values = st.floats(0, 1, width=16)


@given(
    st.lists(st.tuples(values, values, values), min_size=1, max_size=8),
    values,
    st.sampled_from(["drop P@3 <= {}", "drop P@3 <= {}%", "drop every P@3 <= {}", "drop every P@3 <= {}%"]),
)
def test_what_passes_still_passes_where_every_query_is_better_and_where_more_is_allowed(triples, allowed, form):
    """Rankings apart, for ties are none of the numbers' business."""

    def status(after, limit):
        gated = threshold(form.format(f"{limit:.6f}"))
        queries = tuple(Query(str(place), "") for place in range(len(triples)))
        suite = Suite("s", "s", Target(), {}, (), queries, (gated,))
        run = Run({query.id: Ranking() for query in queries}, Engine("fake"))

        def scored(numbers):
            return [Score(str(place), "P@3", value, Outcome.SCORED) for place, value in enumerate(numbers)]

        reference = Reference(run, tuple(scored(first for first, _, _ in triples)), depth=10)
        [verdict] = decide(suite, run, scored(after), today=TODAY, reference=reference)
        return verdict.status

    worse = [min(second, third) for _, second, third in triples]
    better = [max(second, third) for _, second, third in triples]
    if status(worse, allowed) is Status.PASSED:
        assert status(better, allowed) is Status.PASSED
        assert status(worse, allowed + 0.25) is Status.PASSED
    else:
        assume(allowed >= 0.25)
        assert status(worse, allowed - 0.25) is Status.FAILED
