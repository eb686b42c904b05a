"""The Python API gives a number only where nothing is missing."""

import doctest
from datetime import date
from pathlib import Path

import pytest

import harness.api.evaluating
import harness.search
from harness.api import Relevance, SuiteRun, evaluate
from harness.assembly import assemble
from harness.cli import main
from harness.errors import MeasureError, SearchError, UndefinedScore, UsageError
from harness.gate import decide
from harness.measures import parse_measure
from harness.model import (
    Engine,
    Failure,
    FailureKind,
    Gain,
    GainKind,
    Hit,
    Profile,
    Query,
    Ranking,
    Run,
    Status,
    Suite,
    Target,
    Threshold,
    Waiver,
)
from harness.running.execution import FinishedSuite
from harness.running.options import RunOptions
from harness.scoring import score_run
from harness.search.testing import FakeSearch
from harness.thresholds import parse_threshold

DOCS = Path(__file__).parents[2] / "docs"
DAY = date(2026, 6, 1)
SECOND = 1 / 1.584962500721156


# ------------------------------------------------------------------------------------------------ evaluate


def test_plain_rankings_are_scored_by_plain_judgments():
    rankings = {"q": ["b", "a"], "r": ["a"]}
    judgments = {"q": {"a": 1}, "r": {"a": 2, "b": 2}}
    evaluation = evaluate(rankings, judgments, measures=["nDCG@2", "P@2"])
    assert evaluation.score("q", "nDCG@2") == pytest.approx(SECOND)
    assert evaluation.scores("nDCG@2") == {"q": pytest.approx(SECOND), "r": pytest.approx(1 / (1 + SECOND))}
    assert evaluation.mean("P@2") == 0.5
    assert evaluation.means() == {
        "nDCG@2": pytest.approx((SECOND + 1 / (1 + SECOND)) / 2),
        "P@2": 0.5,
    }


def test_a_measure_that_was_not_named_can_be_asked_for_and_the_median_too():
    evaluation = evaluate(
        {"q": ["a"], "r": ["b", "a"], "s": []}, {"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 1}}, measures=[]
    )
    assert evaluation.median("RR") == 0.5
    assert evaluation.mean("RR") == pytest.approx(0.5)


def test_the_gain_is_what_was_asked_for_else_the_profile_s():
    rankings, judgments = {"q": ["b", "a"]}, {"q": {"a": 3, "b": 1}}
    linear = (1 + 3 * SECOND) / (3 + SECOND)
    exponential = (1 + 7 * SECOND) / (7 + SECOND)

    def ndcg(**fields):
        return evaluate(rankings, judgments, measures=[], **fields).mean("nDCG@5")

    assert ndcg() == pytest.approx(exponential)
    assert ndcg(gain=Gain(GainKind.LINEAR)) == pytest.approx(linear)
    assert ndcg(profile=Profile.TREC) == pytest.approx(linear)
    assert ndcg(profile=Profile.TREC, gain=Gain(GainKind.EXPONENTIAL)) == pytest.approx(exponential)


def test_a_judged_query_without_a_ranking_is_missing_not_zero():
    evaluation = evaluate({"q": ["a"]}, {"q": {"a": 1}, "r": {"a": 1}}, measures=["P@1"])
    with pytest.raises(SearchError, match=r"P@1 is not known for 1 of 2 queries: r \(the query was not sent\)"):
        evaluation.mean("P@1")
    assert evaluation.scores("P@1") == {"q": 1.0, "r": None}


def test_a_ranking_without_judgments_is_undefined_unless_left_out():
    rankings, judgments = {"q": ["a"], "r": ["a"]}, {"q": {"a": 1}}
    with pytest.raises(UndefinedScore, match="P@1 is undefined for 1 of 2 queries: r; judge a relevant document"):
        evaluate(rankings, judgments, measures=["P@1"]).means()
    assert evaluate(rankings, judgments, measures=["P@1"], skip_undefined=True).mean("P@1") == 1.0


def test_a_mean_of_nothing_is_no_number():
    with pytest.raises(UndefinedScore, match="no query has a score of P@1"):
        evaluate({}, {}, measures=["P@1"]).mean("P@1")
    with pytest.raises(UndefinedScore, match="no query has a score of P@1: 1 query, all left out"):
        evaluate({"q": []}, {}, measures=["P@1"], skip_undefined=True).median("P@1")


def test_a_document_that_comes_twice_counts_once():
    assert evaluate({"q": ["x", "x", "a"]}, {"q": {"a": 1}}, measures=[]).mean("RR") == 0.5


def test_a_text_is_no_ranking():
    with pytest.raises(UsageError, match="the ranking of query 'q' is the text 'abc', expected a sequence"):
        evaluate({"q": "abc"}, {"q": {"a": 1}}, measures=["P@1"])


def test_unknown_names_are_errors_with_the_nearest():
    evaluation = evaluate({"shoes": ["a"]}, {"shoes": {"a": 1}}, measures=["P@1"])
    with pytest.raises(UsageError, match="there is no query 'shoe'; did you mean 'shoes'"):
        evaluation.score("shoe", "P@1")
    with pytest.raises(MeasureError, match="nDCG"):
        evaluation.mean("NDCG@1")
    with pytest.raises(MeasureError):
        evaluate({}, {}, measures=["P@0"])


@pytest.mark.parametrize("name", ["python.md"])
def test_the_page_s_examples_give_what_they_show(name):
    outcome = doctest.testfile(str(DOCS / name), module_relative=False)
    assert (outcome.failed, outcome.attempted > 3) == (0, True)


def test_the_docstring_s_example():
    outcome = doctest.testmod(harness.api.evaluating)
    assert (outcome.failed, outcome.attempted) == (0, 1)


# ------------------------------------------------------------------------------------------------ a suite's run


def threshold(text):
    condition, tag = parse_threshold(text, of_query=False)
    return Threshold(text, condition, tag)


def suite_run(responses, *texts, depth=3, weights=None, **fields):
    judgments, weights = {"a": 1}, weights or {}
    queries = tuple(
        Query(
            name,
            name,
            judgments=judgments,
            skip=Waiver("winter") if name == "skipped" else None,
            weight=weights.get(name, 1.0),
        )
        for name in [*responses, *fields.pop("more", ())]
    )
    thresholds = tuple(threshold(text) for text in texts)
    measures = (parse_measure("P@1"),)
    suite = Suite("s", "s.yaml", Target(), {}, measures, queries, thresholds, depth=depth, **fields)
    run = Run(responses, Engine("fake"))
    scores = score_run(suite, run)
    verdicts = decide(suite, run, scores, today=DAY)
    report = assemble(suite, run, scores, verdicts, located={}, cluster="default")
    return SuiteRun(FinishedSuite(suite, run, scores, report), DAY)


GOOD = Ranking((Hit("a"), Hit("x")))
BAD = Ranking((Hit("x"), Hit("y"), Hit("a")))
GONE = Failure(FailureKind.ERROR, "gone", 500)


def test_a_suite_run_gives_figures_queries_and_verdicts():
    run = suite_run({"q": GOOD, "r": BAD}, "mean P@1 >= 0.5")
    assert (run.mean("P@1"), run.median("P@1"), run.score("r", "RR")) == (0.5, 0.5, pytest.approx(1 / 3))
    assert [query.id for query in run.queries] == ["q", "r"]
    assert [verdict.status for verdict in run.verdicts] == [Status.PASSED]
    assert run.report.name == "s"
    run.assert_thresholds()


def test_a_mean_is_weighted_as_the_suite_says_and_a_median_is_not():
    weights = {"q": 9.0, "r": 1.0, "s": 2.0}
    run = suite_run({"q": GOOD, "r": BAD, "s": BAD}, weights=weights)
    assert (run.mean("P@1"), run.median("P@1")) == (0.75, 0.0)
    assert run.report.summaries[0].mean == 0.75


def test_a_skipped_query_is_left_out():
    run = suite_run({"q": GOOD}, more=["skipped"])
    assert run.mean("P@1") == 1.0
    with pytest.raises(UndefinedScore, match="query skipped has no P@1: skipped: winter"):
        run.score("skipped", "P@1")


def test_an_unanswered_query_is_an_error_wherever_it_is_asked_for():
    run = suite_run({"q": GOOD, "r": GONE}, skip_undefined=True)
    with pytest.raises(SearchError, match=r"engine error \(500\): gone"):
        run.mean("P@1")
    with pytest.raises(SearchError, match=r"query r has no P@1: error: engine error \(500\): gone"):
        run.score("r", "P@1")
    assert run.score("q", "P@1") == 1.0


def test_a_cutoff_deeper_than_the_hits_is_an_error_that_says_what_to_set():
    run = suite_run({"q": GOOD}, depth=3)
    assert run.mean("P@3") == pytest.approx(1 / 3)
    with pytest.raises(UsageError, match=r"P@4 looks at 4 hits, and only 3 were asked for; set `depth: 4`"):
        run.mean("P@4")


def test_a_threshold_that_fails_shows_the_worst_queries_with_their_rankings():
    run = suite_run({"q": GOOD, "r": BAD}, "mean P@1 >= 0.9", "mean P@1 >= 0.1")
    with pytest.raises(AssertionError) as caught:
        run.assert_thresholds()
    message = str(caught.value)
    assert "mean P@1 is 0.5000, required >= 0.9" in message
    assert "query r" in message
    assert ">= 0.1" not in message


def test_a_query_without_an_answer_fails_the_assertion_though_no_threshold_is_about_it():
    run = suite_run({"q": GOOD, "r": GONE}, "mean P@1 >= 0.9 for head")
    assert [verdict.status for verdict in run.verdicts] == [Status.FAILED]
    with pytest.raises(AssertionError, match=r"r: engine error \(500\): gone"):
        run.assert_thresholds()


def test_a_suite_without_thresholds_asserts_nothing_and_says_so():
    with pytest.raises(UsageError, match=r"s.yaml: there are no thresholds"):
        suite_run({"q": GOOD}).assert_thresholds()


# ------------------------------------------------------------------------------------------------ Relevance


class Recorder(Relevance):
    """Runs nothing, and remembers what was asked for."""

    def _finish(self, path, asked):
        self.asked = (path, asked)
        suite = Suite("s", str(path), Target(), {}, (), ())
        report = assemble(suite, Run({}, Engine("fake")), (), (), located={}, cluster="c")
        return FinishedSuite(suite, Run({}, Engine("fake")), (), report)


def test_options_of_a_call_win_over_those_of_the_object():
    relevance = Recorder(Path("/suites"), options=RunOptions(request="current", tags=("head",)))
    relevance.run("a.yaml", request="candidate", today=DAY)
    assert relevance.asked == (
        Path("/suites/a.yaml"),
        RunOptions(request="candidate", tags=("head",), today=DAY),
    )
    relevance.run(Path("/elsewhere/b.yaml"))
    assert relevance.asked[0] == Path("/elsewhere/b.yaml")


def test_a_url_takes_the_place_of_the_embedded_node_and_the_other_way():
    relevance = Recorder(options=RunOptions(embedded=True, engine_version="2.19"))
    relevance.run("a.yaml", url="http://127.0.0.1:9200")
    assert relevance.asked[1] == RunOptions(url="http://127.0.0.1:9200")
    relevance = Recorder(options=RunOptions(url="http://127.0.0.1:9200"))
    relevance.run("a.yaml", embedded=True)
    assert relevance.asked[1] == RunOptions(embedded=True)
    client = object()
    relevance.run("a.yaml", client=client)
    assert relevance.asked[1] == RunOptions()
    assert relevance.asked[1].client is client


def test_an_unknown_option_is_an_error_with_the_nearest():
    with pytest.raises(UsageError, match="unknown option 'tag'; did you mean 'tags'"):
        Recorder().run("a.yaml", tag="head")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"url": "http://a", "embedded": True}, "found the URL http://a and the embedded engine, expected one of them"),
        ({"url": "http://a", "client": object()}, "found the URL http://a and a client, expected one of them"),
        ({"engine_version": "2.19"}, "an engine version was given"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, sentence):
    with pytest.raises(UsageError, match=sentence), Relevance(options=RunOptions(**options)) as relevance:
        relevance.run("a.yaml")


def test_evaluate_is_at_hand_on_the_object_too():
    assert Relevance().evaluate({"q": ["a"]}, {"q": {"a": 1}}, measures=["P@1"]).mean("P@1") == 1.0


SUITE = """\
suite: small
request: {query: {match: {title: "{{text}}"}}}
measures: ["P@1"]
thresholds: ["mean P@1 >= 0.5"]
queries: [{id: q, text: shoe, judgments: {a: 1}}]
target: {cluster: "http://one:9200", index: products}
"""


def test_suites_run_one_after_another_share_their_connection(tmp_path, monkeypatch):
    opened = []

    def open_search(cluster, environ, *, engine=None, client=None):
        opened.append((cluster.url, client, FakeSearch({"q": ["a"]})))
        return opened[-1][-1]

    monkeypatch.setattr(harness.search, "open_search", open_search)
    (tmp_path / "small.relevance.yaml").write_text(SUITE)
    client = object()
    with Relevance(tmp_path, environ={}) as relevance:
        assert relevance.run("small.relevance.yaml").mean("P@1") == 1.0
        relevance.run("small.relevance.yaml", locate=False).assert_thresholds()
        relevance.run("small.relevance.yaml", url="http://two:9200")
        relevance.run("small.relevance.yaml", client=client)
        relevance.run("small.relevance.yaml", client=object())
        assert [url for url, _, _ in opened] == ["http://one:9200", "http://two:9200", None, None]
        assert [given is client for _, given, _ in opened] == [False, False, True, False]
        assert not any(search.closed for _, _, search in opened)
    assert all(search.closed for _, _, search in opened)


@pytest.mark.parametrize("tags", ["head", ""])
def test_a_text_is_no_sequence_of_tags(tags):
    with pytest.raises(UsageError, match=f"tags is the text '{tags}', expected a sequence of tags"):
        Relevance().run("s.relevance.yaml", tags=tags)


def test_a_list_of_tags_is_as_good_as_a_tuple(monkeypatch):
    asked = []
    monkeypatch.setattr(Relevance, "_finish", lambda self, path, options: asked.append(options))
    monkeypatch.setattr("harness.api.running.SuiteRun", lambda finished, today: None)
    Relevance(options=RunOptions(tags=("tail",))).run("s.relevance.yaml", tags=["head"])
    Relevance(options=RunOptions(tags=("tail",))).run("s.relevance.yaml")
    assert [options.tags for options in asked] == [("head",), ("tail",)]


def test_another_file_of_baselines_may_be_compared_with(tmp_path, monkeypatch):
    suite, kept = tmp_path / "shop.relevance.yaml", tmp_path / "mine.json"
    suite.write_text(SUITE.replace("mean P@1 >= 0.5", "drop P@1 <= 0"))
    monkeypatch.setattr(harness.search, "open_search", lambda *_, **__: FakeSearch({"q": ["a"]}))
    assert main(["baseline", "save", str(suite), "--baseline", str(kept), "--quiet"]) == 0
    with Relevance(environ={}) as relevance:
        with pytest.raises(AssertionError, match="there is no baseline"):
            relevance.run(suite).assert_thresholds()
        relevance.run(suite, baseline=str(kept)).assert_thresholds()
