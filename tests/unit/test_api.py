"""The Python API gives a number only where nothing is missing."""

import copy
import doctest
import pickle
import re
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path

import pytest

import harness.api.evaluation
import harness.search.dialects
from builders.suite_runs import make_suite_run
from harness.api import Options, Relevance, SuiteRun, evaluate
from harness.api.choices import ARGUMENT_KINDS
from harness.cli import main
from harness.errors import EngineUnreachable, InputError, MeasureError, SearchError, UndefinedScore, UsageError
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run, Status
from harness.model.suite import Gain, GainKind, Profile, Suite, Target
from harness.options import RunOptions
from harness.report.json import loads_report
from harness.run.finished import FinishedSuite
from harness.run.report import DecidedRun, assemble
from harness.search.testing import FakeSearch

DOCS = Path(__file__).parents[2] / "docs"
DAY = date(2026, 6, 1)
SECOND = 1 / 1.584962500721156


# ------------------------------------------------------------------------------------------------ evaluate


@pytest.mark.smoke("Python")
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


@pytest.mark.parametrize(
    ("gain", "same"),
    [
        ("linear", Gain(GainKind.LINEAR)),
        ("exponential", Gain(GainKind.EXPONENTIAL)),
        ({0: 0, 1: 1, 3: 7.5}, Gain(GainKind.MAP, ((0, 0), (1, 1), (3, 7.5)))),
        ("{1: 1, 3: 2}", {1: 1, 3: 2}),
        (Gain("linear"), "linear"),
        (Gain("map", ((3, 2), (1, 1))), {1: 1, 3: 2}),
    ],
)
def test_a_gain_is_given_as_in_a_suite(gain, same):
    rankings, judgments = {"q": ["b", "a"]}, {"q": {"a": 3, "b": 1}}
    evaluations = [evaluate(rankings, judgments, measures=["DCG@5"], gain=each) for each in (gain, same)]
    assert evaluations[0].suite.gain == evaluations[1].suite.gain
    assert evaluations[0].mean("DCG@5") == evaluations[1].mean("DCG@5")


def test_quepids_cg_is_of_grades():
    evaluation = evaluate({"q": ["a", "b"]}, {"q": {"a": 3, "b": 1}}, measures=["CG@5", "DCG@1"], profile="quepid")
    assert evaluation.means() == {"CG@5": 4, "DCG@1": 7}


def test_a_linear_gain_is_linear():
    assert evaluate({"q": ["a"]}, {"q": {"a": 3}}, measures=[], gain="linear").mean("CG@1") == 3
    assert evaluate({"q": ["a"]}, {"q": {"a": 3}}, measures=[], gain={3: 2.5}).mean("CG@1") == 2.5
    assert evaluate({"q": ["a"]}, {"q": {"a": 3}}, measures=[], profile="trec").mean("CG@1") == 3


GAINS = "expected exponential, linear, or a map of grades as in {0: 0, 1: 1}"
PROFILES = "expected one of standard, trec, rank_eval, opensearch-srw, opensearch-srw-3.5, quepid, rre"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"gain": "nonsense"}, f"found 'nonsense' as gain, {GAINS}"),
        ({"gain": 42}, f"found 42 as gain, {GAINS}"),
        ({"gain": True}, f"found True as gain, {GAINS}"),
        ({"gain": {"a": 1}}, f"found {{'a': 1}} as gain, {GAINS}"),
        ({"gain": {1: float("nan")}}, f"found {{1: nan}} as gain, {GAINS}"),
        ({"gain": Gain("nonsense")}, "as gain, expected exponential, linear, or a map"),
        ({"gain": Gain(GainKind.MAP, (3,))}, "as gain, expected exponential, linear, or a map"),
        ({"profile": "nonsense"}, f"found 'nonsense' as profile, {PROFILES}"),
        ({"profile": "Trec"}, f"found 'Trec' as profile, {PROFILES}; did you mean 'trec'?"),
        ({"profile": 3}, f"found 3 as profile, {PROFILES}"),
        ({"skip_undefined": "no"}, "skip_undefined is the text 'no', expected True or False"),
        ({"measures": "P@1"}, "measures is the text 'P@1', expected a sequence of measures, such as ['nDCG@10']"),
        ({"measures": {"P@1"}}, "measures is of type set, expected a sequence of measures"),
        ({"measures": [1]}, "measures[0] is 1, expected a text"),
        ({"measures": ["P@1", None]}, "measures[1] is None, expected a text"),
        ({"rankings": [("q", ["a"])]}, "rankings is of type list, expected a mapping by query id"),
        ({"rankings": {1: ["a"]}}, "a query id of rankings is 1, expected a text"),
        (
            {"rankings": {"q": {"a", "b"}}},
            "the ranking of query 'q' is of type set, expected a sequence of document ids",
        ),
        ({"rankings": {"q": {"a": 1.0}}}, "the ranking of query 'q' is of type dict, expected a sequence"),
        ({"rankings": {"q": None}}, "the ranking of query 'q' is None, expected a sequence of document ids"),
        ({"rankings": {"q": [1, 2]}}, "a document id in the ranking of query 'q' is 1, expected a text"),
        ({"judgments": {"q": ["a"]}}, "judgments of query 'q' is of type list, expected a mapping from document id"),
        ({"judgments": {"q": {1: 1}}}, "a document id in the judgments of query 'q' is 1, expected a text"),
        (
            {"judgments": {"q": {"a": "3"}}},
            "the grade of document 'a' for query 'q' is the text '3', expected a finite",
        ),
        (
            {"judgments": {"q": {"a": None}}},
            "the grade of document 'a' for query 'q' is None, expected a finite number",
        ),
        (
            {"judgments": {"q": {"a": True}}},
            "the grade of document 'a' for query 'q' is True, expected a finite number",
        ),
        (
            {"judgments": {"q": {"a": float("inf")}}},
            "the grade of document 'a' for query 'q' is inf, expected a finite",
        ),
        ({"judgments": {"q": {"a": 10**5000}}}, "the grade of document 'a' for query 'q' is of type int, expected a"),
    ],
)
def test_what_is_no_argument_of_evaluate_is_refused(wrong, sentence):
    given = {"rankings": {"q": ["a"]}, "judgments": {"q": {"a": 1}}, "measures": ["P@1"], **wrong}
    with pytest.raises(UsageError) as refusal:
        evaluate(given.pop("rankings"), given.pop("judgments"), **given)
    assert sentence in str(refusal.value)


def test_numbers_and_texts_of_numpy_are_taken_and_come_out_as_python_s():
    numpy = pytest.importorskip("numpy")
    ranking = numpy.array(["b", "a"])
    evaluation = evaluate({"q": ranking}, {"q": {"a": numpy.int64(3), "b": numpy.float32(0.5)}}, measures=["DCG@2"])
    assert evaluation.mean("DCG@2") == pytest.approx(2**0.5 - 1 + 7 * SECOND)
    [query] = evaluation.suite.queries
    assert {type(grade) for grade in query.judgments.values()} == {float}
    assert {type(hit.id) for hit in evaluation._run.responses["q"].hits} == {str}


@pytest.mark.parametrize("ask", ["mean", "median", "scores"])
def test_a_measure_is_asked_for_by_its_text(ask):
    evaluation = evaluate({"q": ["a"]}, {"q": {"a": 1}}, measures=["P@1"])
    with pytest.raises(UsageError, match="measure is 1, expected a text"):
        getattr(evaluation, ask)(1)
    with pytest.raises(UsageError, match="query is None, expected a text"):
        evaluation.score(None, "P@1")


def test_a_judged_query_without_a_ranking_is_missing_not_zero():
    evaluation = evaluate({"q": ["a"]}, {"q": {"a": 1}, "r": {"a": 1}}, measures=["P@1"])
    with pytest.raises(SearchError, match=r"P@1 is unknown for 1 of 2 queries: r \(the query was not sent\)"):
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


@pytest.mark.parametrize("name", ["reference/python.md"])
def test_the_page_s_examples_give_what_they_show(name):
    for package in ("numpy", "pandas", "polars"):
        pytest.importorskip(package)
    outcome = doctest.testfile(str(DOCS / name), module_relative=False)
    assert (outcome.failed, outcome.attempted > 3) == (0, True)


def test_the_docstring_s_example():
    outcome = doctest.testmod(harness.api.evaluation)
    assert (outcome.failed, outcome.attempted) == (0, 1)


# ------------------------------------------------------------------------------------------------ a suite's run


GOOD = Ranking((Hit("a"), Hit("x")))
BAD = Ranking((Hit("x"), Hit("y"), Hit("a")))
GONE = Failure(FailureKind.ERROR, "gone", 500)


def test_a_suite_run_gives_figures_queries_and_verdicts():
    run = make_suite_run({"q": GOOD, "r": BAD}, "mean P@1 >= 0.5")
    assert (run.mean("P@1"), run.median("P@1"), run.score("r", "RR")) == (0.5, 0.5, pytest.approx(1 / 3))
    assert [query.id for query in run.queries] == ["q", "r"]
    assert [verdict.status for verdict in run.verdicts] == [Status.PASSED]
    assert run.report.name == "s"
    run.assert_thresholds()


def test_a_mean_is_weighted_as_the_suite_says_and_a_median_is_not():
    weights = {"q": 9.0, "r": 1.0, "s": 2.0}
    run = make_suite_run({"q": GOOD, "r": BAD, "s": BAD}, weights=weights)
    assert (run.mean("P@1"), run.median("P@1")) == (0.75, 0.0)
    assert run.report.summaries[0].mean == 0.75


def test_a_skipped_query_is_left_out():
    run = make_suite_run({"q": GOOD}, more=["skipped"])
    assert run.mean("P@1") == 1.0
    with pytest.raises(UndefinedScore, match="query skipped has no P@1: skipped: winter"):
        run.score("skipped", "P@1")


def test_an_unanswered_query_is_an_error_wherever_it_is_asked_for():
    run = make_suite_run({"q": GOOD, "r": GONE}, skip_undefined=True)
    with pytest.raises(SearchError, match=r"engine error \(500\): gone"):
        run.mean("P@1")
    with pytest.raises(SearchError, match=r"query r has no P@1: error: engine error \(500\): gone"):
        run.score("r", "P@1")
    assert run.score("q", "P@1") == 1.0


def test_a_cutoff_deeper_than_the_hits_is_an_error_that_says_what_to_set():
    run = make_suite_run({"q": GOOD}, depth=3)
    assert run.mean("P@3") == pytest.approx(1 / 3)
    with pytest.raises(UsageError, match=r"P@4 looks at 4 hits, and only 3 were asked for; set `depth: 4`"):
        run.mean("P@4")


def test_a_threshold_that_fails_shows_the_worst_queries_with_their_rankings():
    run = make_suite_run({"q": GOOD, "r": BAD}, "mean P@1 >= 0.9", "mean P@1 >= 0.1")
    with pytest.raises(AssertionError) as caught:
        run.assert_thresholds()
    message = str(caught.value)
    assert "mean P@1 is 0.5000, required >= 0.9" in message
    assert "query r" in message
    assert ">= 0.1" not in message


def test_a_query_without_an_answer_fails_the_assertion_though_no_threshold_is_about_it():
    run = make_suite_run({"q": GOOD, "r": GONE}, "mean P@1 >= 0.9 for head")
    assert [verdict.status for verdict in run.verdicts] == [Status.FAILED]
    with pytest.raises(AssertionError, match=r"r: engine error \(500\): gone"):
        run.assert_thresholds()


def test_a_run_writes_its_report_as_the_name_of_the_file_says(tmp_path):
    run = make_suite_run({"q": GOOD})
    run.write_report(tmp_path / "new" / "report.json")
    assert loads_report((tmp_path / "new" / "report.json").read_text()).suites == (run.report,)
    run.write_report(str(tmp_path / "report.html"))
    assert "<!doctype html>" in (tmp_path / "report.html").read_text().lower()
    with pytest.raises(UsageError, match=r"report\.pdf: a report's name ends with \.html, "):
        run.write_report(tmp_path / "report.pdf")


@pytest.mark.parametrize(
    ("path", "shown"),
    [(None, "None"), (3, "3"), (b"o.html", "of type bytes"), ("a\0.html", r"the text 'a\x00.html'")],
)
def test_a_report_is_not_written_to_what_is_no_path(path, shown):
    with pytest.raises(UsageError, match=f"^path is {re.escape(shown)}, expected the path of a file$"):
        make_suite_run({"q": GOOD}).write_report(path)


def test_a_suite_without_thresholds_asserts_nothing_and_says_so():
    with pytest.raises(UsageError, match=r"s.yaml: there are no thresholds"):
        make_suite_run({"q": GOOD}).assert_thresholds()


# ------------------------------------------------------------------------------------------------ Relevance


class Recorder(Relevance):
    """Runs nothing, and remembers what was asked for."""

    def _run(self, path, options):
        self.asked = (path, options)
        suite = Suite("s", str(path), Target(), {}, (), ())
        report = assemble(DecidedRun(suite, Run({}, Engine("fake")), (), ()), "c")
        return SuiteRun(FinishedSuite(suite, Run({}, Engine("fake")), (), report), options)


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


def test_a_client_object_needs_no_truth_value():
    class Odd:
        def __bool__(self):
            raise ValueError("no truth value")

        __eq__ = __ne__ = lambda self, other: self
        __hash__ = None

    client = Odd()
    relevance = Recorder(options=RunOptions(embedded=True))
    relevance.run("a.yaml", client=client)
    assert relevance.asked[1].client is client
    assert not relevance.asked[1].embedded


def test_an_unknown_option_is_an_error_with_the_nearest():
    with pytest.raises(UsageError, match="unknown option 'tag'; did you mean 'tags'"):
        Recorder().run("a.yaml", tag="head")


WRONG_OPTIONS = [
    ({"url": 5}, "url is 5, expected a text or None"),
    ({"cluster": ["main"]}, "cluster is of type list, expected a text or None"),
    ({"config": 5}, "config is 5, expected the path of a file or None"),
    ({"variables": "SHOP_NOTE"}, "variables is the text 'SHOP_NOTE', expected a sequence of names of variables"),
    ({"request": True}, "request is True, expected a text or None"),
    ({"index": 1}, "index is 1, expected a text or None"),
    ({"engine_version": 2.19}, "engine_version is 2.19, expected a text or None"),
    ({"embedded": "no"}, "embedded is the text 'no', expected True or False"),
    ({"listed_addresses": 1}, "listed_addresses is 1, expected True or False"),
    ({"allow_write": 1}, "allow_write is 1, expected True or False"),
    ({"locate": None}, "locate is None, expected True or False"),
    ({"no_checks": 1}, "no_checks is 1, expected True or False"),
    ({"strict_xfail": "yes"}, "strict_xfail is the text 'yes', expected True or False"),
    ({"no_intervals": 0}, "no_intervals is 0, expected True or False"),
    ({"tags": {"head"}}, r"tags is of type set, expected a sequence of tags, such as \['head'\]"),
    ({"tags": [1]}, r"tags\[0\] is 1, expected a text"),
    ({"queries": "red-shoes"}, "queries is the text .red-shoes., expected a sequence of query ids"),
    ({"baseline": 5}, "baseline is 5, expected the path of a file or None"),
    ({"history": 5}, "history is 5, expected the path of a folder, new or not or None"),
    ({"baseline": "a\0b"}, r"baseline is the text 'a\\x00b', expected the path of a file or None"),
    ({"today": "2026-06-01"}, "today is the text '2026-06-01', expected a datetime.date without a time or None"),
    ({"today": datetime(2026, 6, 1)}, "today is of type datetime, expected a datetime.date without a time or None"),
    ({"budget": "10"}, "budget is the text '10', expected a number of seconds above 0 or None"),
    ({"budget": 0}, "budget is 0, expected a number of seconds above 0 or None"),
    ({"budget": float("nan")}, "budget is nan, expected a number of seconds above 0 or None"),
    ({"repeat": 0}, "repeat is 0, expected a whole number from 1 on or None"),
    ({"body": "{}"}, "body is the text '{}', expected the body of _search as a dict or None"),
    ({"warm_up": "1"}, "warm_up is the text '1', expected a whole number from 1 on or None"),
]


@pytest.mark.parametrize(("wrong", "sentence"), WRONG_OPTIONS)
def test_what_is_no_option_of_a_run_is_refused_wherever_it_is_given(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        Recorder().run("a.yaml", **wrong)
    with pytest.raises(UsageError, match=sentence):
        Relevance(options=RunOptions(**wrong))


def test_every_option_is_of_some_kind():
    assert {field.name for field in fields(RunOptions)} <= set(ARGUMENT_KINDS)
    assert {name for wrong, _ in WRONG_OPTIONS for name in wrong} == set(Options.__annotations__) - {"client"}


@pytest.mark.parametrize("name", ["save_baseline", "unjudged", "depth"])
def test_what_is_no_option_of_a_call_is_unknown_to_it(name):
    with pytest.raises(UsageError, match=f"unknown option '{name}'"):
        Recorder().run("a.yaml", **{name: True})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"root": 5}, "root is 5, expected the path of a folder or None"),
        ({"options": {"url": "http://a"}}, "options is of type dict, expected RunOptions, as harness.api has them"),
        ({"environ": [("A", "b")]}, "environ is of type list, expected a mapping from variable to value, or None"),
        ({"progress": print}, "progress is of type builtin_function_or_method, expected an object with the methods"),
    ],
)
def test_what_is_no_argument_of_relevance_is_refused(arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        Relevance(**arguments)


def test_a_folder_and_a_suite_may_be_texts_or_paths():
    relevance = Recorder("/suites")
    relevance.run("a.yaml")
    assert relevance.asked[0] == Path("/suites/a.yaml")
    with pytest.raises(UsageError, match="suite is None, expected the path of a suite"):
        relevance.run(None)


def test_a_folder_is_no_suite(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.relevance.yaml").write_text("suite: a")
    for given in (tmp_path, "", "."):
        with pytest.raises(UsageError, match=f"{tmp_path} is a folder, expected the file of a suite"):
            Relevance(tmp_path).run(given)


def test_a_name_that_is_too_long_for_the_system_is_refused():
    long = "x" * 5000
    with pytest.raises((UsageError, InputError), match="too long"):  # Python 3.14 opens it to see that
        Relevance().run(long)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"url": "http://a", "embedded": True}, "url and embedded name two engines; give one of them"),
        ({"url": "http://a", "client": object()}, "url and client name two engines; give one of them"),
        ({"engine_version": "2.19"}, "engine_version chooses the version of the embedded engine; give embedded too"),
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

    def open_search(cluster, environ, *, client, **_):
        opened.append((cluster.url, client, FakeSearch({"q": ["a"]})))
        return opened[-1][-1]

    monkeypatch.setattr(harness.search.dialects, "open_search", open_search)
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


def test_a_run_can_be_copied_and_sent_to_another_process(tmp_path, monkeypatch):
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: FakeSearch({"q": ["a"]}))
    match = '{title: {query: "{{text}}", operator: and}}'
    (tmp_path / "small.relevance.yaml").write_text(SUITE.replace('{title: "{{text}}"}', match))
    run = Relevance(tmp_path, environ={}).run("small.relevance.yaml")
    for copied in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert copied.report == run.report
        assert copied.mean("P@1") == 1.0


def test_a_server_that_was_away_is_asked_again_by_the_next_call(tmp_path, monkeypatch):
    away = [EngineUnreachable("http://one:9200 does not answer")]

    def open_search(cluster, environ, **_):
        if away:
            raise away.pop()
        return FakeSearch({"q": ["a"]})

    monkeypatch.setattr(harness.search.dialects, "open_search", open_search)
    (tmp_path / "small.relevance.yaml").write_text(SUITE)
    with Relevance(tmp_path, environ={}) as relevance:
        with pytest.raises(AssertionError, match="does not answer"):
            relevance.run("small.relevance.yaml").assert_thresholds()
        relevance.run("small.relevance.yaml").assert_thresholds()


@pytest.mark.parametrize("tags", ["head", ""])
def test_a_text_is_no_sequence_of_tags(tags):
    with pytest.raises(UsageError, match=f"tags is the text '{tags}', expected a sequence of tags"):
        Relevance().run("s.relevance.yaml", tags=tags)


def test_a_list_of_tags_is_as_good_as_a_tuple(monkeypatch):
    asked = []
    monkeypatch.setattr(Relevance, "_run", lambda self, path, options: asked.append(options))
    Relevance(options=RunOptions(tags=("tail",))).run("s.relevance.yaml", tags=["head"])
    Relevance(options=RunOptions(tags=("tail",))).run("s.relevance.yaml")
    assert [options.tags for options in asked] == [("head",), ("tail",)]


def test_another_file_of_baselines_may_be_compared_with(tmp_path, monkeypatch):
    suite, kept = tmp_path / "shop.relevance.yaml", tmp_path / "mine.json"
    suite.write_text(SUITE.replace("mean P@1 >= 0.5", "drop P@1 <= 0"))
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: FakeSearch({"q": ["a"]}))
    assert main(["baseline", "save", str(suite), "--baseline", str(kept), "--quiet"]) == 0
    with Relevance(environ={}) as relevance:
        with pytest.raises(AssertionError, match="there is no baseline"):
            relevance.run(suite).assert_thresholds()
        relevance.run(suite, baseline=str(kept)).assert_thresholds()
