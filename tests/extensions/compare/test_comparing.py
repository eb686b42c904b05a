"""The pure parts of a comparison: what a report tells of a run, by which scores two runs are compared, what is told."""

import pytest

pytest.importorskip("numpy")

from dataclasses import replace
from datetime import date

from builders.suites import make_suite
from harness.errors import MeasureError, UsageError
from harness.extensions.compare.assembly import assemble_report, sort_by_change
from harness.extensions.compare.document import build_comparison_facts
from harness.extensions.compare.forms import SideText
from harness.extensions.compare.model import QueryComparison, SideKind
from harness.extensions.compare.preparing import CompareOptions, assemble_comparison, read_thresholds
from harness.extensions.compare.scores import score_by_judgments, score_by_suite, use_stored_scores
from harness.extensions.compare.sides import add_empty_rankings, make_report_side, make_run_side
from harness.files.runs import FileScorer
from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.model.run import Engine, Failure, FailureKind, FoundQuotes, Hit, IndexState, Ranking, Run, Status
from harness.model.scores import Outcome
from harness.model.suite import Gain, GainKind, Profile, Query, Quote, Waiver
from harness.options import RunOptions
from harness.run.report import DecidedRun, assemble

OPTIONS = CompareOptions(date(2026, 5, 1))
MADE = "2026-05-01T00:00:00+00:00"
QUERIES = (
    Query("q", "one", tags=("head",), judgments={"a": 3, "b": 1}),
    Query("r", "two", judgments={"b": 2}),
    Query("s", "three", judgments={"c": 1}),
)
PLAIN = {"query": {"match": {"title": "{{text}}"}}}


def report_on(pair, scored, options=OPTIONS):
    """The report of a comparison of two sides."""
    return assemble_report(scored.suite.name, [assemble_comparison(pair, scored, options)], MADE)


def make_compared_suite(*queries, measures=("RR", "nDCG@3"), **fields):
    return make_suite(*queries, measures=measures, **fields)


def ranked(*names, scores=None):
    scores = scores or [float(len(names) - place) for place in range(len(names))]
    return Ranking(tuple(Hit(name, score, f"title of {name}") for name, score in zip(names, scores, strict=True)))


def run_of(**responses):
    return Run(responses, Engine("elasticsearch", "9.4.3"), "current", "products")


FIRST = run_of(q=ranked("a", "b"), r=ranked("b", "a"), s=ranked("c"))
SECOND = run_of(q=ranked("a", "b"), r=ranked("a", "b"), s=ranked("x", "c"))


def reported(run, suite=None, name="report:x.json"):
    suite = suite or make_compared_suite(*QUERIES)
    report = assemble(DecidedRun(suite, run, score_run(suite, run), ()), "c")
    return make_report_side(report, name, created="yesterday")


def whole(suite, run, name):
    return make_run_side(name, SideKind.PYTHON, replace(suite, requests={}), run)


def compared(first, second, suite=None, *, thresholds=(), options=OPTIONS, measures=()):
    suite = suite or make_compared_suite(*QUERIES)
    pair = (reported(first, suite, "A"), reported(second, suite, "B"))
    scored = score_by_suite(pair, suite, suite.queries, measures, read_thresholds(thresholds))
    return report_on(pair, scored, options)


@pytest.fixture
def judged(tmp_path):
    """Judgments in a TREC file of the lines that are given."""

    def written(*lines, gain=None, profile=Profile.STANDARD):
        path = tmp_path / "j.qrels"
        path.write_text("".join(f"{line}\n" for line in lines))
        return FileScorer(path, (parse_measure("RR"),), gain, profile)

    return written


# ------------------------------------------------------------------------------------------------ a report as a side


def test_a_report_tells_the_run_that_it_was_made_of():
    broken = run_of(q=FIRST.responses["q"], r=Ranking(), s=Failure(FailureKind.SHARDS, "1 of 5: gone", 200))
    side = reported(broken)
    assert side.run.responses == broken.responses
    assert (side.engine, side.request, side.index) == ("elasticsearch 9.4.3", "current", "products")
    assert dict(side.unanswered) == {"s": "failed shards (200): 1 of 5: gone"}
    outcomes = {(score.query, score.measure): (score.value, score.outcome) for score in side.scores}
    assert outcomes["q", "RR"] == (1.0, Outcome.SCORED)
    assert outcomes["r", "RR"] == (0.0, Outcome.ZERO_HITS)
    assert outcomes["s", "RR"] == (None, Outcome.ERROR)
    assert (side.depth, side.gain, side.profile) == (10, Gain(), Profile.STANDARD)
    assert {query.id: dict(query.judgments) for query in side.queries} == {
        query.id: dict(query.judgments) for query in QUERIES[:2]
    } | {"s": {"c": 1}}


def test_a_report_of_a_run_whose_target_changed_decides_nothing():
    moved = replace(SECOND, states=(IndexState(documents=9), IndexState(documents=4)))
    reason = "products changed during the run: it had 9 documents and has 4"
    for pair in ((FIRST, moved), (moved, FIRST)):
        comparison = compared(*pair, thresholds=["drop RR <= 0.9"])
        assert (comparison.verdicts[0].status, comparison.exit_status) == (Status.INCONCLUSIVE, 3)
        assert reason in comparison.verdicts[0].reason
        assert reason in comparison.notes


@pytest.mark.parametrize(
    "failure",
    [
        Failure(FailureKind.TIMEOUT, "too slow"),
        Failure(FailureKind.ERROR, "parsing_exception: a: b (400)\nline", 400),
        Failure(FailureKind.NOT_RUN, "the time budget of the run is used up"),
    ],
)
def test_a_failure_comes_back_from_a_report_as_it_was(failure):
    assert reported(run_of(q=failure, r=Ranking(), s=Ranking())).run.responses["q"] == failure


@pytest.mark.parametrize(
    ("outcome", "kind"), [(Outcome.ERROR, FailureKind.ERROR), (Outcome.NOT_RUN, FailureKind.NOT_RUN)]
)
def test_a_reason_without_a_failure_is_not_read_but_kept(outcome, kind):
    suite = make_compared_suite(*QUERIES)
    report = assemble(DecidedRun(suite, FIRST, score_run(suite, FIRST), ()), "c")
    odd = replace(report.queries[0], outcome=outcome, reason="timeout: of another version", ranking=())
    side = make_report_side(replace(report, queries=(odd,)), "old", created="")
    assert side.run.responses == {"q": Failure(kind, "timeout: of another version")}


def test_a_query_that_was_skipped_is_not_in_the_run():
    suite = make_compared_suite(QUERIES[0], replace(QUERIES[1], skip=Waiver("later")))
    assert list(reported(run_of(q=ranked("a")), suite).run.responses) == ["q"]


def test_one_undefined_score_leaves_the_others_what_they_are():
    suite = make_compared_suite(
        Query("q", "one", judgments={"a": 0}), measures=(parse_measure("nDCG@3"), parse_measure("Judged@1"))
    )
    scores = {score.measure: score for score in reported(run_of(q=ranked("a")), suite).scores}
    assert (scores["nDCG@3"].value, scores["nDCG@3"].outcome) == (None, Outcome.UNDEFINED)
    assert (scores["Judged@1"].value, scores["Judged@1"].outcome) == (1.0, Outcome.SCORED)


def test_a_report_has_the_sort_values_of_its_hits():
    hits = Hit("a", 2.0, sort=(2.0, "acme")), Hit("b", 2.0, sort=(2.0, "zeta"))
    assert reported(run_of(q=Ranking(hits), r=Ranking(), s=Ranking())).run.responses["q"].hits == hits


def test_a_run_knows_what_its_queries_asked():
    side = make_run_side("request:current", SideKind.REQUEST, make_compared_suite(*QUERIES, body=PLAIN), FIRST)
    assert (side.depth, side.index) == (10, "products")
    assert {query: asked.text for query, asked in side.questions.items()} == {"q": "one", "r": "two", "s": "three"}
    assert whole(make_compared_suite(*QUERIES), FIRST, "A").depth is None


# ------------------------------------------------------------------------------------------------ a side to be asked


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (SideText(SideKind.REQUEST, "new"), RunOptions(url="http://a", request="new")),
        (SideText(SideKind.INDEX, "v2"), RunOptions(url="http://a", request="asked", index="v2")),
        (SideText(SideKind.CLUSTER, "staging"), RunOptions(cluster="staging", request="asked")),
        (SideText(SideKind.CLUSTER, "https://b"), RunOptions(url="https://b", request="asked")),
        (SideText(SideKind.EMBEDDED), RunOptions(embedded=True, request="asked")),
        (SideText(SideKind.EMBEDDED, "2.19"), RunOptions(embedded=True, engine_version="2.19", request="asked")),
    ],
)
def test_what_a_form_asks_for_stands_beside_what_holds_for_both(form, expected):
    assert form.apply_to(RunOptions(url="http://a", request="asked")) == expected


# ------------------------------------------------------------------------------------------------ by which scores


def test_with_a_suite_both_are_scored_by_it_whatever_they_hold():
    suite = make_compared_suite(*QUERIES)
    other = make_compared_suite(*(replace(query, judgments={"x": 1}) for query in QUERIES))
    pair = (reported(FIRST, other), reported(SECOND, suite))
    scored = score_by_suite(pair, suite, suite.queries, (), ())
    assert scored.scores == (score_run(suite, FIRST), score_run(suite, SECOND))
    assert scored.notes == ("the sides are scored with the judgments of the suite shop",)


def test_a_measure_that_cannot_score_a_ranking_is_refused_with_the_query():
    with pytest.raises(
        MeasureError, match=r"^A: ERR\(max=2\)@3 cannot score query 'q': grade 3 is above the top grade 2 of ERR"
    ):
        compared(FIRST, SECOND, measures=(parse_measure("ERR(max=2)@3"),))


def make_unequal_sides(suite):
    """Sides with the same hits, of which the second asked for three and the first for two."""
    run = run_of(q=ranked("x", "y", "a"), r=Ranking(), s=Ranking())
    shallow_run = run_of(q=ranked("x", "y", scores=[3.0, 2.0]), r=Ranking(), s=Ranking())
    shallow = replace(reported(shallow_run, suite, "A"), depth=2)
    return shallow, replace(reported(run, suite, "B"), depth=3)


@pytest.mark.parametrize("is_rescored", [True, False])
def test_a_measure_without_a_cutoff_counts_as_many_hits_as_each_side_asked_for(is_rescored):
    suite = make_compared_suite(*QUERIES, depth=5, measures=("RR", "RR@2"))
    for pair in (make_unequal_sides(suite), make_unequal_sides(suite)[::-1]):
        thresholds = read_thresholds(["drop RR <= 0", "drop RR@2 <= 0", "mean overlap@2 >= 1"])
        if is_rescored:
            scored = score_by_suite(pair, suite, suite.queries, (), thresholds)
        else:
            scored = use_stored_scores(pair, (), thresholds)
        report = report_on(pair, scored)
        is_deeper_first = pair[0].name == "B"
        values = (1 / 3, 0.0) if is_deeper_first else (0.0, 1 / 3)
        [query] = [query for query in report.queries if query.id == "q"]
        assert query.scores == {"RR": values, "RR@2": (0.0, 0.0)}
        assert (report.depth, report.own_depths) == (2, (3, 2) if is_deeper_first else (2, 3))
        assert query.rbo == 1.0, "rankings are compared over the ranks that both have"
        lost = Status.FAILED if is_deeper_first else Status.PASSED
        assert [verdict.status for verdict in report.verdicts] == [lost, Status.PASSED, Status.PASSED]


def test_a_measure_with_a_cutoff_below_the_hits_of_a_side_is_refused():
    suite = make_compared_suite(*QUERIES, depth=5)
    with pytest.raises(UsageError, match="nDCG@3 looks at more hits than the 2 a query that A"):
        score_by_suite(make_unequal_sides(suite), suite, suite.queries, (parse_measure("nDCG@3"),), ())


def test_a_side_that_says_no_depth_is_cut_at_that_of_the_other():
    suite = make_compared_suite(*QUERIES, measures=("RR",))
    shallow, deep = make_unequal_sides(suite)
    scored = score_by_suite((shallow, whole(suite, deep.run, "B")), suite, suite.queries, (), ())
    assert [score.value for score in scored.scores[1]] == [0.0] * 3
    assert report_on((shallow, whole(suite, deep.run, "B")), scored).own_depths == ()


@pytest.mark.parametrize(
    ("measure", "was", "depth"),
    [
        ("StRecall", ((3, 1.0),), "2 ranks; measures without a cutoff count 3 hits of A and 2 of B"),
        ("StRecall@2", (), "2 ranks"),
    ],
)
def test_a_quote_stands_at_its_ranks_in_the_hits_that_are_scored(measure, was, depth):
    quoted = Query("q", "one", quotes=(Quote("opens at 3 bar", "key", 3.0, "boiler"),))
    suite = make_compared_suite(quoted, measures=(measure,))
    found = FoundQuotes(("key",), {"a": {"key": 1.0}})
    deep = run_of(q=replace(ranked("x", "y", "a"), found_quotes=found))
    shallow = run_of(q=replace(ranked("x", "a"), found_quotes=found))
    pair = (replace(reported(deep, suite, "A"), depth=3), replace(reported(shallow, suite, "B"), depth=2))
    report = report_on(pair, score_by_suite(pair, suite, suite.queries, (), ()))
    facts = build_comparison_facts(report).facts
    assert ["".join(span.text for span in fact.text) for fact in facts if fact.name == "depth"] == [depth]
    [quote] = report.queries[0].quotes
    assert (quote.was, quote.hits) == (was, ((2, 1.0),))


def test_ties_below_the_depth_of_the_other_side_count_as_they_are():
    """The first two hits differ by the order of ties only; the third, which only one side asked for, is relevant."""
    suite = make_compared_suite(*QUERIES, measures=("RR",))
    first = run_of(q=ranked("x", "y", "a", scores=[2.0, 2.0, 1.0]), r=Ranking(), s=Ranking())
    closed = replace(ranked("y", "x", scores=[2.0, 2.0]), closed=True, total=3)
    second = run_of(q=closed, r=Ranking(), s=Ranking())
    pair = (replace(reported(first, suite, "A"), depth=3), replace(reported(second, suite, "B"), depth=2))
    thresholds = read_thresholds(["drop RR <= 0"])
    for scored in (score_by_suite(pair, suite, suite.queries, (), thresholds), use_stored_scores(pair, (), thresholds)):
        report = report_on(pair, scored)
        assert report.measures.measures[0].difference == pytest.approx(-1 / 9)
        [verdict] = report.verdicts
        assert (verdict.status, verdict.observed) == (Status.FAILED, pytest.approx(1 / 9))
        assert "fewer hits were returned" not in verdict.reason


def test_queries_that_the_suite_does_not_have_are_named():
    suite = make_compared_suite(*QUERIES)
    scored = score_by_suite((reported(FIRST), reported(SECOND)), make_compared_suite(QUERIES[0]), QUERIES[:1], (), ())
    assert scored.notes[1] == "report:x.json has 2 queries that the suite does not have: r, s"
    selected = score_by_suite((reported(FIRST), reported(SECOND)), suite, QUERIES[:1], (), ())
    assert len(selected.notes) == 1, "what a tag left out is no stranger"


def test_stored_scores_of_other_rules_or_measures_are_refused():
    linear = reported(FIRST, make_compared_suite(*QUERIES, gain=Gain(GainKind.LINEAR)))
    with pytest.raises(
        UsageError, match="gain exponential and linear; give suite or qrels to score both sides in the same way"
    ):
        use_stored_scores((reported(FIRST), linear), (), ())
    other = reported(FIRST, make_compared_suite(*QUERIES, measures=(parse_measure("P@1"),)))
    with pytest.raises(UsageError, match="both hold no measure; give suite"):
        use_stored_scores((reported(FIRST), other), (), ())
    with pytest.raises(UsageError, match="both hold RR, nDCG@3, and not P@1"):
        use_stored_scores((reported(FIRST), reported(SECOND)), (), read_thresholds(["drop P@1 <= 0.1"]))


def test_undefined_queries_of_stored_scores_are_left_out_and_counted():
    suite = make_compared_suite(*QUERIES, Query("u", "four"))
    pair = tuple(
        reported(run_of(**run.responses, u=ranked("z")), suite, name) for run, name in ((FIRST, "A"), (SECOND, "B"))
    )
    scored = use_stored_scores(pair, (), read_thresholds(["drop nDCG@3 <= 1"]))
    report = report_on(pair, scored)
    assert report.measures.left_out == {"RR": 1, "nDCG@3": 1}
    assert (report.verdicts[0].status, report.verdicts[0].counted, report.verdicts[0].left_out) == (Status.PASSED, 3, 1)
    assert report.agreement.queries == 4


def test_a_stored_score_whose_judgments_are_gone_is_not_left_out():
    judged, bare = (
        make_compared_suite(*QUERIES),
        make_compared_suite(QUERIES[0], QUERIES[1], Query("s", "three"), skip_undefined=True),
    )
    sides = (reported(FIRST, judged, "A"), reported(SECOND, bare, "B"))
    for pair, reason in (
        (sides, "no score for 1 of 3 queries: s (undefined, where A has a score: its judgments are missing)"),
        (sides[::-1], "B has no score for 1 query: s"),
    ):
        scored = use_stored_scores(pair, (), read_thresholds(["drop nDCG@3 <= 1"]))
        report = report_on(pair, scored)
        assert (report.verdicts[0].status, report.exit_status) == (Status.ERROR, 3)
        assert reason in report.verdicts[0].reason


def test_a_stored_score_that_is_no_number_is_an_error():
    pair = (reported(FIRST, name="A"), reported(SECOND, name="B"))
    first, *others = pair[1].scores
    broken = replace(pair[1], scores=(replace(first, value=float("nan")), *others))
    scored = use_stored_scores((pair[0], broken), (), read_thresholds(["drop RR <= 1"]))
    report = report_on((pair[0], broken), scored)
    assert report.verdicts[0].status is Status.ERROR
    assert "the score is nan, which is not a finite number" in report.verdicts[0].reason
    assert {row.measure: row.queries for row in report.measures.measures} == {"RR": 2, "nDCG@3": 3}


def test_two_runs_without_a_query_are_not_compared(judged):
    pair = (reported(run_of(), make_compared_suite(), "A"), reported(run_of(), make_compared_suite(), "B"))
    with pytest.raises(UsageError, match="there is no query on which to compare B with A"):
        report_on(pair, score_by_judgments(pair, judged("q 0 a 1"), (), ()))


def test_judgments_without_a_suite_give_scores_to_what_they_judge(judged):
    suite = make_compared_suite(*QUERIES)
    pair = (whole(suite, FIRST, "A"), whole(suite, SECOND, "B"))
    judgments = judged("q 0 b 1", "gone 0 z 1", gain=Gain(GainKind.LINEAR), profile=Profile.TREC)
    scored = score_by_judgments(pair, judgments, (parse_measure("RR"),), ())
    assert [(score.query, score.value) for score in scored.scores[0]][:1] == [("q", 0.5)]
    assert (scored.suite.profile, str(scored.suite.gain)) == (Profile.TREC, "linear")
    assert scored.notes == (
        f"the sides are scored with the judgments of {judgments.judgments}",
        "judged and in neither run: 1 query (gone)",
    )


def test_judgments_score_a_measure_that_only_a_threshold_on_a_tag_names(judged):
    pair = (reported(FIRST, name="A"), reported(SECOND, name="B"))
    held = read_thresholds(["drop P@1 <= 0 for head"])
    scored = score_by_judgments(pair, judged("q 0 a 1", "r 0 b 1"), (parse_measure("RR"),), held)
    [verdict] = report_on(pair, scored).verdicts
    assert (verdict.status, verdict.counted) == (Status.PASSED, 1)


def test_only_a_run_file_is_filled_with_queries_without_hits():
    plain = whole(make_compared_suite(*QUERIES), FIRST, "A")
    of_file = replace(plain, kind=SideKind.RUN)
    assert "new" not in add_empty_rankings(plain, ["q", "new"]).run.responses
    filled = add_empty_rankings(of_file, ["q", "new"])
    assert filled.run.responses["new"] == Ranking()
    assert [query.id for query in filled.queries] == ["q", "r", "s", "new"]


# ------------------------------------------------------------------------------------------------ what is told


def test_a_measure_of_one_query_is_not_tested_and_that_is_said():
    report = compared(FIRST, SECOND, make_compared_suite(QUERIES[0], *(Query(name, name) for name in "rs")))
    assert report.measures is None
    assert "RR is not tested: 1 query has a score on both sides" in report.notes
    assert report.queries[-1].scores["RR"] == (1.0, 1.0) or report.queries[0].scores["RR"] == (1.0, 1.0)


def test_queries_of_one_side_or_of_none_are_named():
    first, second = run_of(q=ranked("a"), r=ranked("b")), run_of(q=ranked("a"))
    suite = make_compared_suite(*QUERIES)
    pair = (whole(suite, first, "A"), whole(suite, second, "B"))
    scored = score_by_suite(pair, suite, suite.queries, (), ())
    report = report_on(pair, scored)
    assert (report.only_reference, report.only_candidate) == (("r",), ())
    assert "on neither side: 1 query (s)" in report.notes
    assert (report.exit_status, report.agreement.queries) == (0, 1)


def test_what_a_side_lacks_never_passes():
    suite = make_compared_suite(*QUERIES)
    lacking = run_of(q=ranked("a"), r=ranked("b"))
    held = read_thresholds(["drop RR <= 1", "mean RBO >= 0"])
    for runs, statuses in (((FIRST, lacking), [Status.ERROR] * 2), ((lacking, FIRST), [Status.FAILED] * 2)):
        pair = tuple(whole(suite, run, name) for run, name in zip(runs, "AB", strict=True))
        report = report_on(pair, score_by_suite(pair, suite, suite.queries, (), held))
        assert [verdict.status for verdict in report.verdicts] == statuses
    assert report.verdicts[0].reason == "RR cannot be compared with A: A does not have 1 query (s)"
    assert report.verdicts[1].reason == "RBO cannot be decided: A does not have 1 query (s)"


def test_a_query_that_failed_in_the_reference_makes_a_drop_an_error():
    broken = run_of(**{**FIRST.responses, "s": Failure(FailureKind.ERROR, "gone")})
    report = compared(broken, SECOND, thresholds=["drop RR <= 1"])
    assert (report.exit_status, report.verdicts[0].status) == (3, Status.ERROR)
    assert "A has no score for 1 query: s" in report.verdicts[0].reason


def test_only_failures_of_queries_that_are_compared_count():
    broken = run_of(**{**FIRST.responses, "s": Failure(FailureKind.ERROR, "gone")})
    suite = make_compared_suite(*QUERIES)
    pair = (reported(broken), reported(SECOND))
    report = report_on(pair, score_by_suite(pair, suite, QUERIES[:2], (), ()))
    assert (report.exit_status, dict(report.reference.unanswered)) == (0, {})


def test_a_request_that_is_another_by_the_same_name_is_noted():
    suite = make_compared_suite(*QUERIES)
    pair = (replace(reported(FIRST), template="old"), replace(reported(SECOND), template="new"))
    report = report_on(pair, score_by_suite(pair, suite, suite.queries, (), ()))
    assert "the request current is not the same on both sides" in report.notes


def test_weights_count_in_the_means_of_measures_and_of_the_agreement_alike():
    suite = make_compared_suite(*(replace(query, weight=8.0 if query.id == "q" else 1.0) for query in QUERIES))
    report = compared(FIRST, SECOND, suite, thresholds=["mean overlap@1 >= 0"], options=replace(OPTIONS, depth=1))
    assert report.measures.measures[0].difference == pytest.approx(-0.5 * 2 / 10)
    assert report.agreement.overlap == report.verdicts[0].observed == pytest.approx(0.8)


def test_stored_scores_are_weighed_as_the_candidate_says():
    pair = []
    for run, weight, name in ((FIRST, 1.0, "A"), (SECOND, 8.0, "B")):
        suite = make_compared_suite(*(replace(query, weight=weight if query.id == "q" else 1.0) for query in QUERIES))
        pair.append(reported(run, suite, name))
    report = report_on(tuple(pair), use_stored_scores(tuple(pair), (), ()))
    assert report.measures.measures[0].difference == pytest.approx(-0.5 * 2 / 10)
    assert "the weights of B hold: 1 query had another (q)" in report.notes


def test_queries_stand_by_what_moved_then_by_how_little_they_agree_and_last_those_without_both():
    def query(name, before, after, rbo):
        return QueryComparison(name, name, scores={"RR": (before, after)}, rbo=rbo)

    given = [
        query("unanswered", 1.0, None, None),
        query("undefined", None, None, 0.2),
        query("same", 0.5, 0.5, 1.0),
        query("summed-otherwise", 0.3, 0.3 + 1e-12, 0.4),
        query("fell", 0.5, 0.1, 0.9),
        query("rose", 0.1, 0.9, 0.9),
    ]
    order = [one.id for one in sort_by_change(given, "RR")]
    assert order == ["rose", "fell", "summed-otherwise", "same", "undefined", "unanswered"]
    assert [one.id for one in sort_by_change(given, None)][:2] == ["undefined", "summed-otherwise"]


def test_titles_of_either_run_are_known_on_both():
    untitled = run_of(
        **{name: Ranking(tuple(Hit(hit.id) for hit in one.hits)) for name, one in FIRST.responses.items()}
    )
    report = compared(untitled, SECOND)
    titles = {document.id: document.title for query in report.queries for document in query.documents}
    assert titles["c"] == "title of c"
