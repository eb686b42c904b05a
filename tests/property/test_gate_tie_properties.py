"""Laws of ties: what two engines with few distinct scores answer, from the searches to the verdict."""

from dataclasses import dataclass, replace
from itertools import groupby, permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.executions import search_suite
from builders.gating import TODAY
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.metrics import parse_measure, score_query
from harness.metrics.run_scores import score_run
from harness.model.kept import BaselineFile
from harness.model.run import Hit, Ranking, Status, Verdict
from harness.model.suite import Query
from harness.run.tails import search_tails
from harness.search.testing import FakeSearch
from harness.store.baseline import make_baseline, make_reference
from harness.store.baseline_files import dumps, loads

DOCUMENTS = "abcdefg"
MEASURES = ("nDCG@3", "nDCG", "RR@2", "AP", "P@3", "R@4", "ERR", "nDCG(judged_only=true)@2")
LIMITS = (0, 0.1, 0.3, 0.6)
SCORES = st.sampled_from([3.0, 2.0, 1.0])


class Engine(FakeSearch):
    """Gives at most *most* of its hits, and says how many match where it *counts*."""

    def __init__(self, found, *, most, counts):
        super().__init__({"q": found})
        self.most, self.counts = most, counts

    def _respond(self, request):
        answer = super()._respond(request)
        return replace(answer, hits=answer.hits[: self.most], total=answer.total if self.counts else None)


@dataclass
class Case:
    """
    A baseline and a run of today, of engines that hold the documents *was* and *now* with their scores.

    *rows* are thresholds on a drop, each with its measure, its limit and its verdict.
    """

    was: dict[str, float]
    now: dict[str, float]
    before: Ranking
    after: Ranking
    rows: list[tuple[str, float, Verdict]]


@st.composite
def cases(draw, *, same):
    """Two runs of one suite: the *same* documents, tied ones in another order, or with others in their place."""
    was = draw(st.dictionaries(st.sampled_from(DOCUMENTS), SCORES, max_size=7))
    changes = {} if same else draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.none() | SCORES, max_size=3))
    now = {name: score for name, score in {**was, **changes}.items() if score is not None}
    grades = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1)) | {"elsewhere": 1}
    depth = draw(st.integers(2, 5))
    most, counts = draw(st.sampled_from([depth, depth + 1, 6, 100])), draw(st.booleans())
    measures = [text for text in MEASURES if (parse_measure(text).cutoff or 0) <= depth]
    gated = [(measure, limit) for measure in measures for limit in LIMITS]
    suite = make_suite(
        Query("q", "q", judgments=grades),
        thresholds=[f"drop {measure} <= {limit}" for measure, limit in gated],
        depth=depth,
    )
    runs = []
    for scores in (was, now):
        order = draw(st.permutations(sorted(scores)))
        found = [Hit(name, scores[name]) for name in sorted(order, key=lambda name: -scores[name])]
        engine = Engine(found, most=most, counts=counts)
        runs.append(search_tails(suite, search_suite(suite, engine), engine))
    first, second = runs
    kept = make_baseline(suite, first, score_run(suite, first), created="2026-05-01", harness="1")
    entry = loads(dumps(BaselineFile("shop", {"current": kept})), "x").requests["current"]
    reference = make_reference(entry, suite, second)
    verdicts = decide(suite, second, score_run(suite, second), today=TODAY, reference=reference)
    rows = [(*one, verdict) for one, verdict in zip(gated, verdicts, strict=True)]
    return Case(was, now, first.responses["q"], second.responses["q"], rows), grades


def ids(ranking):
    return [hit.id for hit in ranking.hits]


@settings(deadline=None)
@given(cases(same=True))
def test_the_same_documents_in_another_order_never_fail_and_pass_where_all_that_tie_are_known(drawn):
    case, _ = drawn
    known = all(one.closed or not one.hits for one in (case.before, case.after))
    for _, _, verdict in case.rows:
        assert verdict.status is not Status.FAILED, verdict.reason
        if known:
            assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)


@settings(max_examples=60, deadline=None)
@given(cases(same=False))
def test_a_fall_beyond_the_limit_passes_only_where_documents_that_tie_on_both_engines_changed_places(drawn):
    """Told by what the engines hold, of which the runs know a part."""
    case, grades = drawn
    for measure, limit, verdict in case.rows:
        was, came, excused = (
            score_query(parse_measure(measure), order, grades)
            for order in (ids(case.before), ids(case.after), excusable(case))
        )
        if verdict.status is Status.PASSED:
            assert was - came <= limit + 1e-9 or was - excused <= limit + 1e-9, verdict.reason
        if verdict.status is Status.FAILED:
            assert was - came > limit + 1e-9 or was - excused > limit + 1e-9, verdict.reason


def excusable(case):
    """Today's documents; those of a group that truly tie on both engines in the order of the baseline."""
    order, old = [], groups_of(case.before)
    for place, (score, group) in groups_of(case.after).items():
        before = old.get(place, (0.0, []))[1]
        # The score may be another one than in the baseline: the documents tie with each other, then and now.
        scores_before = {case.was.get(name) for name in (*group, *before)}
        tied = len(scores_before) == 1 and all(case.now.get(name) == score for name in (*group, *before))
        order += before if tied and len(before) == len(group) else group
    return order


def groups_of(ranking):
    """By its first place, the score of each group and its documents in the ranking."""
    found, place = {}, 0
    for score, hits in groupby(ranking.hits, key=lambda hit: hit.score):
        found[place] = score, [hit.id for hit in hits]
        place += len(found[place][1])
    return found


@settings(max_examples=60, deadline=None)
@given(cases(same=False))
def test_each_order_that_the_documents_may_have_is_looked_at(drawn):
    case, grades = drawn
    for measure, limit, verdict in case.rows:
        was = score_query(parse_measure(measure), ids(case.before), grades)
        drops = [was - score_query(parse_measure(measure), order, grades) for order in possible(case)]
        statuses = {Status.PASSED if drop <= limit + 1e-9 else Status.FAILED for drop in drops}
        assert verdict.status is (Status.INCONCLUSIVE if len(statuses) > 1 else statuses.pop()), verdict.reason


def possible(case):
    """Every ranking of today, one by one, by the rule of docs/reference/baselines.md."""
    if ids(case.before) == ids(case.after):
        return [ids(case.after)]
    parts, old = [], groups_of(case.before)
    for place, (score, group) in groups_of(case.after).items():
        score_before, before = old.get(place, (score, None))
        known, is_closed = known_of(case.after, score)
        known_before, was_closed = known_of(case.before, score)
        if before and score_before != score:
            # Documents that had today's score in the baseline may tie with a group that is not closed.
            may_have_others = not is_closed and not known_before - {*ids(case.after)} <= known
            are_alike = sorted(before) == sorted(group)
            if are_alike and not may_have_others:
                parts.append([before])
                continue
            before = None
        if before and len(before) == len(group) and {*before} <= known and {*group} <= known_before:
            parts.append([before])
        elif is_closed and (before is None or was_closed):
            parts.append([group])
        else:
            more = set() if is_closed else known_before - {*ids(case.after)}
            parts.append(list(permutations(sorted(known | more), len(group))))
    return [[name for part in order for name in part] for order in product(*parts)]


def known_of(ranking, score):
    """The documents of a score that a run knows, and whether there are no others."""
    shown = {hit.id for hit in ranking.hits if hit.score == score}
    if not shown or ranking.hits[-1].score != score:
        return shown, True
    return shown | {hit.id for hit in ranking.tail}, ranking.closed


def test_what_an_engine_gives_and_counts_closes_the_last_group():
    engine = Engine([Hit(name, 1.0) for name in DOCUMENTS], most=100, counts=False)
    suite = make_suite(Query("q", "q", judgments={"a": 1}), depth=3)
    first = search_tails(suite, search_suite(suite, engine), engine)
    tied = [tuple(Hit(name, 1.0) for name in names) for names in ("abc", "defg")]
    assert first.responses["q"] == Ranking(tied[0], took=1.0, tail=tied[1], closed=False)
    engine.counts = True
    second = search_tails(suite, search_suite(suite, engine), engine)
    assert second.responses["q"] == Ranking(tied[0], total=7, took=1.0, tail=tied[1], closed=True)
