"""Laws of thresholds `since` some runs: what one run decides, and what several do."""

from statistics import median

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.executions import search_suite
from builders.gating import TODAY
from builders.histories import entry_of
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.gate.ties import compute_bands, truncate_ranking
from harness.metrics import parse_measure
from harness.metrics.measures import measures_of
from harness.metrics.run_scores import score_run
from harness.model.kept import History
from harness.model.run import Hit, Ranking, Status
from harness.model.suite import Query
from harness.run.tails import search_tails
from harness.search.testing import FakeSearch
from harness.store.baseline import make_baseline, make_reference
from harness.store.history import rescore
from harness.store.history_files import dump_line, load_entry

DOCUMENTS = "abcdefg"
MEASURES = ("nDCG@3", "nDCG", "RR@2", "AP", "P@3", "R@4", "ERR", "nDCG(judged_only=true)@2")
LIMITS = (0, 0.1, 0.3, 0.6)
SCORES = st.sampled_from([3.0, 2.0, 1.0])
FOUND = st.dictionaries(st.sampled_from(DOCUMENTS), SCORES, max_size=7)
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1)


def make_measured_suite(grades, *texts, depth):
    queries = [
        Query(name, name, judgments=of_query | {"elsewhere": 1}, weight=weight)
        for (name, of_query), weight in zip(grades.items(), (1.0, 2.5, 1.0), strict=False)
    ]
    return make_suite(*queries, thresholds=texts, depth=depth)


def draw_run(draw, suite, documents):
    """A run over an engine that returns *documents*, by query, in an order that is drawn where scores are equal."""
    found = {}
    for query, scores in documents.items():
        order = draw(st.permutations(sorted(scores)))
        found[query] = [Hit(name, scores[name]) for name in sorted(order, key=lambda name: -scores[name])]
    engine = FakeSearch(found)
    return search_tails(suite, search_suite(suite, engine), engine)


def keep(suite, run, day=0):
    """The entry of *run*, written and read."""
    return load_entry(dump_line(entry_of(suite, run, day=day)), "x.jsonl")


def decide_all(suite, run, **others):
    return decide(suite, run, score_run(suite, run), today=TODAY, **others)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_drop_since_one_run_is_one_since_that_run_as_a_baseline(data):
    depth = data.draw(st.integers(2, 5))
    grades = data.draw(st.fixed_dictionaries({"q": GRADES, "r": GRADES}))
    measures = [text for text in MEASURES if (parse_measure(text).cutoff or 0) <= depth]
    forms = [
        f"{word} {measure} <= {limit}" for word in ("drop", "drop every") for measure in measures for limit in LIMITS
    ]
    with_baseline = make_measured_suite(grades, *forms, depth=depth)
    since_one = make_measured_suite(grades, *(f"{form} since 1 run" for form in forms), depth=depth)
    was = data.draw(st.fixed_dictionaries({"q": FOUND, "r": FOUND}))
    now = data.draw(st.just(was) | st.fixed_dictionaries({"q": FOUND, "r": FOUND}))
    before, after = draw_run(data.draw, with_baseline, was), draw_run(data.draw, with_baseline, now)
    kept = make_baseline(with_baseline, before, score_run(with_baseline, before), created="2026-05-01", harness="1")
    reference = make_reference(kept, with_baseline, after)
    history = History(rescore([keep(since_one, before)], since_one), "kept")
    expected = decide_all(with_baseline, after, reference=reference)
    found = decide_all(since_one, after, history=history)
    assert [(verdict.status, verdict.observed) for verdict in found] == [
        (verdict.status, verdict.observed) for verdict in expected
    ]


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_without_ties_the_drop_is_that_below_the_median_of_the_means(data):
    runs = data.draw(st.integers(1, 6))
    ranks = st.fixed_dictionaries({name: st.integers(1, 5) for name in "abc"})
    grades = {name: {"r": 1} for name in "abc"}
    suite = make_measured_suite(
        grades, f"drop RR <= 0.1 since {runs} runs", f"drop every RR <= 0.1 since {runs} runs", depth=5
    )

    def run_with(ranks):
        hits = {}
        for name, rank in ranks.items():
            documents = ["r" if place == rank else f"x{place}" for place in range(1, 6)]
            hits[name] = [Hit(document, 9.0 - place) for place, document in enumerate(documents)]
        return search_suite(suite, FakeSearch(hits))

    past = data.draw(st.lists(ranks, min_size=runs, max_size=runs + 2))
    today = data.draw(ranks)
    history = History(rescore([keep(suite, run_with(each), day) for day, each in enumerate(past)], suite), "kept")
    mean, every = decide_all(suite, run_with(today), history=history)
    weights = {query.id: query.weight for query in suite.queries}

    def mean_of(ranks):
        return sum(weights[name] / ranks[name] for name in ranks) / sum(weights.values())

    drop = median(mean_of(each) for each in past[-runs:]) - mean_of(today)
    assert abs(mean.observed - drop) < 1e-9
    assert mean.status is (Status.PASSED if drop <= 0.1 + 1e-9 else Status.FAILED)
    drops = [median(1 / each[name] for each in past[-runs:]) - 1 / today[name] for name in "abc"]
    assert abs(every.observed - max(drops)) < 1e-9
    assert every.status is (Status.PASSED if max(drops) <= 0.1 + 1e-9 else Status.FAILED)
    means = [mean_of(each) for each in past[-runs:]]
    assert abs(mean.spread[0] - min(means)) + abs(mean.spread[1] - max(means)) < 1e-9


@settings(max_examples=50, deadline=None)
@given(FOUND, GRADES, st.booleans(), st.data())
def test_what_is_kept_of_a_ranking_has_its_scores_and_its_bands(found, grades, has_scores, data):
    suite = make_measured_suite({"q": grades}, *(f"mean {measure} >= 0" for measure in MEASURES), depth=5)
    run = draw_run(data.draw, suite, {"q": found})
    if not has_scores:
        run.responses["q"] = Ranking(tuple(Hit(hit.id) for hit in run.responses["q"].hits))
    entry = keep(suite, run)
    [rescored] = rescore([entry], suite)
    kept = entry.queries["q"]
    assert {score.measure: score.value for score in rescored.scores} == dict(kept.scores)
    again = entry_of(suite, rescored.run).queries["q"]
    assert (again.ties, again.tail, again.ranking) == (kept.ties, kept.tail, kept.ranking)
    [query] = suite.queries
    rankings = truncate_ranking(run.responses["q"], suite.depth), rescored.run.responses["q"]
    bands = [compute_bands(suite, query, ranking, measures_of(suite, query)) for ranking in rankings]
    assert bands[0] == bands[1]
