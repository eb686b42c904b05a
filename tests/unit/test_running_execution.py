"""One suite over a search that needs no server: what is sent, what is decided, what the report says."""

from dataclasses import replace
from datetime import date

import pytest

import harness.search.fixtures
from builders.executions import answered_by, cell_of
from builders.gating import threshold
from builders.suites import make_suite
from harness.errors import EngineUnreachable, FixtureError, UnansweredBaseline
from harness.gate.decide import compute_exit_status
from harness.gate.expectations import parse_expectation
from harness.masking import Masker
from harness.metrics import parse_measure
from harness.model.kept import BaselineFile
from harness.model.report import Absence, MissingDocument, Report
from harness.model.run import Definitions, Engine, Failure, FailureKind, Hit, IndexFacts, IndexState, Ranking, Status
from harness.model.scores import Outcome
from harness.model.suite import (
    Display,
    Fixture,
    Gain,
    GainKind,
    Query,
    RequestTemplate,
    Threshold,
    Waiver,
)
from harness.model.timing import ReportTiming, ShardCopy
from harness.options import RunOptions
from harness.report import json as report_json
from harness.report.run_sentences import describe_remarks
from harness.run.cell import conclude_cell
from harness.run.look_ups import QUERIES_LOCATED
from harness.run.recorded import make_rerun
from harness.run.tails import SEARCHED
from harness.search.protocol import in_order
from harness.search.testing import FakeSearch
from harness.store.baseline import make_baseline
from harness.store.baseline_files import write_baselines

DAY = date(2026, 6, 1)
REQUESTS = {
    "current": RequestTemplate("current", {"query": {"match": {"title": "{{text}}"}}}),
    "candidate": RequestTemplate("candidate", {"query": {"match_phrase": {"title": "{{text}}"}}}),
}


def query(name, *tags, judgments=None, **fields):
    return Query(name, f"text of {name}", tags=tags, judgments=judgments or {"a": 1}, **fields)


def make_run_suite(*queries, **fields):
    path = "folder/s.relevance.yaml"
    return make_suite(*queries, measures=["RR@3"], name="suite", path=path, requests=REQUESTS, depth=3, **fields)


def execute(suite, search, options=None, *, progress=None, targets=None, earlier=None, **fields):
    cell = cell_of(suite, options or RunOptions(today=DAY), **fields)
    record = None if earlier is None else make_rerun(cell, earlier)
    with answered_by(search, cell, progress=progress, targets=targets, record=record) as answered:
        return conclude_cell(answered, progress)


class Recorder:
    def __init__(self):
        self.events = []

    def suite_started(self, suite, queries, chosen):
        self.events.append(("started", suite.name, queries, chosen))

    def queries_done(self, count):
        self.events.append(("done", count))

    def suite_finished(self, run, verdicts):
        self.events.append(("finished", run.request, [verdict.status for verdict in verdicts]))


def test_a_suite_runs_from_its_requests_to_its_report():
    suite = make_run_suite(query("q"), query("r"), thresholds=["mean RR@3 >= 0.7"])
    search = FakeSearch({"q": ["x", "a"], "r": ["a"]})
    finished = execute(suite, search)
    assert [(request.query, request.index, request.body["size"]) for request in search.requests] == [
        ("q", "products", 4),
        ("r", "products", 4),
    ]
    assert finished.report.summaries[0].mean == 0.75
    assert [verdict.status for verdict in finished.report.verdicts] == [Status.PASSED]
    assert (finished.report.request, finished.report.index, str(finished.report.engine)) == (
        "current",
        "products",
        "elasticsearch 9.4.3",
    )
    assert finished.suite is suite
    assert {score.query: score.value for score in finished.scores} == {"q": 0.5, "r": 1.0}


def test_the_request_that_was_asked_for_is_sent():
    search = FakeSearch({"q": ["a"]})
    report = execute(make_run_suite(query("q")), search, RunOptions(request="candidate")).report
    assert report.request == "candidate"
    assert "match_phrase" in search.requests[0].body["query"]


def test_another_index_takes_the_place_of_the_target_s_and_of_a_template_s_own():
    search = FakeSearch({"q": ["x", "y", "z", "a"]})
    own = {"current": replace(REQUESTS["current"], index="products_old")}
    suite = replace(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), requests=own)
    finished = execute(suite, search, RunOptions(index="products_v2", today=DAY))
    assert [request.index for request in search.requests] == [
        "products_v2"
    ] * 3  # the run, what matches, the deeper one
    assert finished.report.index == "products_v2"
    assert finished.report.notes[0] == "index products_v2 was used instead of products_old"
    assert finished.suite is suite


def test_the_suite_s_own_index_is_nothing_to_note():
    suite = make_run_suite(query("q"))
    named = execute(suite, FakeSearch({"q": ["a"]}), RunOptions(index="products", today=DAY)).report
    assert named.notes == execute(suite, FakeSearch({"q": ["a"]})).report.notes


def test_a_deeper_search_goes_where_a_template_of_its_own_index_went():
    search = FakeSearch({"q": ["x", "y", "z", "a"]})
    own = {"current": replace(REQUESTS["current"], index="products_old")}
    execute(replace(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), requests=own), search)
    assert [request.index for request in search.requests] == ["products_old"] * 3


def test_without_a_connection_the_report_still_says_what_was_asked_for():
    own = {**REQUESTS, "candidate": replace(REQUESTS["candidate"], index="products_new")}
    suite = replace(make_run_suite(query("q")), requests=own)
    for options, asked in [
        (RunOptions(request="candidate"), ("candidate", "products_new")),
        (RunOptions(request="candidate", index="products_v2"), ("candidate", "products_v2")),
    ]:
        report = execute(suite, EngineUnreachable("no route"), options).report
        assert (report.request, report.index) == asked


def test_progress_is_told_in_order():
    progress = Recorder()
    suite = make_run_suite(query("q"), query("r", skip=Waiver("winter")), thresholds=["mean RR@3 >= 0.7"])
    execute(suite, FakeSearch({"q": ["a"]}), RunOptions(request="current", today=DAY), progress=progress)
    assert progress.events == [
        ("started", "suite", 1, "request current"),
        ("done", 1),
        ("finished", "current", [Status.PASSED]),
    ]


def test_an_engine_that_cannot_be_reached_is_an_outcome_of_every_query():
    suite = make_run_suite(query("q"), query("r"), query("s", skip=Waiver("winter")), thresholds=["mean RR@3 >= 0"])
    report = execute(suite, FakeSearch({}, error=EngineUnreachable("no connection to host"))).report
    assert [(found.outcome, found.reason) for found in report.queries] == [
        (Outcome.ERROR, "engine error: no connection to host"),
        (Outcome.ERROR, "engine error: no connection to host"),
        (Outcome.SKIPPED, "winter"),
    ]
    assert [verdict.status for verdict in report.verdicts] == [Status.ERROR]
    assert "q, r (engine error: no connection to host)" in report.verdicts[0].reason
    assert compute_exit_status([report]) == 3


def test_one_query_that_fails_takes_its_thresholds_with_it_and_no_others():
    suite = make_run_suite(
        query("q", "head"), query("r", "tail"), thresholds=["mean RR@3 >= 0 for head", "mean RR@3 >= 0 for tail"]
    )
    failure = Failure(FailureKind.SHARDS, "1 of 5 shards failed", 200)
    report = execute(suite, FakeSearch({"q": ["a"], "r": failure})).report
    assert [verdict.status for verdict in report.verdicts] == [Status.PASSED, Status.ERROR]


def test_without_a_connection_every_query_fails_with_the_reason():
    progress = Recorder()
    suite = make_run_suite(query("q"), thresholds=["mean RR@3 >= 0"])
    report = execute(suite, EngineUnreachable("no route"), cluster="far", progress=progress).report
    assert (report.queries[0].outcome, report.queries[0].reason) == (Outcome.ERROR, "engine error: no route")
    assert (report.engine, report.cluster, report.request) == (Engine("not reached"), "far", "current")
    assert [verdict.status for verdict in report.verdicts] == [Status.ERROR]
    assert [event[0] for event in progress.events] == ["started", "finished"]


# ------------------------------------------------------------------------------------------------ selections


def test_tags_run_a_part_and_say_what_was_left_out():
    own = {"thresholds": (threshold("RR@3 >= 1", of_query=True),)}
    suite = make_run_suite(
        query("q", "head", **own), query("r", **own), thresholds=["mean RR@3 >= 1", "mean RR@3 >= 1 for head"]
    )
    search = FakeSearch({"q": ["a"]})
    finished = execute(suite, search, RunOptions(tags=("head",), today=DAY))
    report = finished.report
    assert [request.query for request in search.requests] == ["q"]
    assert [found.id for found in report.queries] == [found.id for found in finished.suite.queries] == ["q"]
    assert [verdict.id for verdict in report.verdicts] == ["mean-RR-3-ge-1-for-head", "query.q.RR-3-ge-1"]
    assert report.deselected == 1
    assert report.notes[0] == (
        "2 thresholds are not decided: they are about other queries than those with the tag head"
    )
    assert compute_exit_status([report]) == 0


def test_a_skipped_query_is_not_sent_until_its_skip_is_over():
    suite = make_run_suite(query("q"), query("r", skip=Waiver("winter", DAY)), thresholds=["mean RR@3 >= 0.9"])
    search = FakeSearch({"q": ["a"], "r": ["x", "a"]})
    report = execute(suite, search).report
    assert [request.query for request in search.requests] == ["q"]
    assert [found.outcome for found in report.queries] == [Outcome.SCORED, Outcome.SKIPPED]
    assert report.verdicts[0].status is Status.PASSED
    later = execute(suite, search, RunOptions(today=date(2026, 6, 2))).report
    assert [found.outcome for found in later.queries] == [Outcome.SCORED, Outcome.SCORED]
    assert (later.verdicts[0].status, later.verdicts[0].observed) == (Status.FAILED, 0.75)


def test_strict_waivers_reach_the_gate():
    own = Threshold("a in top 1", parse_expectation("a in top 1"), xfail=Waiver("soon"))
    suite = make_run_suite(query("q", thresholds=(own,)))
    search = FakeSearch({"q": ["a"]})
    assert execute(suite, search).report.verdicts[0].status is Status.XPASSED
    strict = execute(suite, search, RunOptions(strict_xfail=True)).report
    assert strict.verdicts[0].status is Status.FAILED


# ------------------------------------------------------------------------------------------------ missing documents


def test_missing_documents_of_what_failed_are_looked_for_deeper():
    suite = make_run_suite(query("q"), query("r", judgments={"a": 1, "b": 1}), thresholds=["every RR@3 >= 0.5"])
    search = FakeSearch({"q": ["x", "y", "z", "w", "a"], "r": ["a"]})
    first, second = execute(suite, search).report.queries
    assert first.missing == (MissingDocument("a", 1, rank=5, searched=1000),)
    assert second.missing == (MissingDocument("b", 1, absence=Absence.NOT_VISIBLE, target="products"),)
    assert [request.query for request in search.requests] == ["q", "r", "q", "q"]


@pytest.mark.parametrize(
    ("options", "text"), [(RunOptions(locate=False), "every RR@3 >= 0.5"), (RunOptions(), "every RR@3 >= 0")]
)
def test_nothing_is_looked_for_where_that_is_not_wanted_or_nothing_failed(options, text):
    search = FakeSearch({"q": ["x", "y", "z", "a"]})
    execute(make_run_suite(query("q"), thresholds=[text]), search, options)
    assert len(search.requests) == 1


def test_the_worst_of_each_threshold_are_looked_for_and_not_all():
    names = [f"q{number:03}" for number in range(2 * QUERIES_LOCATED)]
    own = threshold("RR@3 >= 0.9", of_query=True)
    last = query("last", thresholds=(own,), judgments={"a": 1, "c": 1})
    suite = make_run_suite(*(query(name) for name in names), last, thresholds=["mean RR@3 >= 0.9"])
    search = FakeSearch({name: ["x", "y", "z", "a"] for name in names} | {"last": ["x", "a"]})
    execute(suite, search)
    deeper = [one.query for one in search.requests[len(names) + 1 :] if "post_filter" not in one.body]
    assert len(deeper) == QUERIES_LOCATED
    assert {"q000", "last"} <= set(deeper)


class Late(FakeSearch):
    """Answers the queries whatever time is left, and no look-up after that."""

    def stream(self, requests, *, budget=None):
        return super().stream(requests)

    def search(self, requests, *, budget=None):
        return in_order(super().stream(requests, budget=budget))


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        ({"all_titles": False}, {"q": "Boots", "r": None}),
        ({}, {"q": "Boots", "r": "Shoes"}),
        ({"all_titles": False, "report_only": True}, {"q": "Boots", "r": "Shoes"}),
        ({"all_titles": False, "locate": False}, {"q": None, "r": None}),
        ({"all_titles": False, "budget": 1e-9}, {"q": None, "r": None}),
    ],
)
def test_titles_are_looked_up_for_what_is_shown(options, titles):
    suite = make_run_suite(
        query("q"), query("r", judgments={"b": 1}), thresholds=["every RR@3 >= 0.5"], display=Display(title="title")
    )
    search = Late({"q": [Hit("x", 1.0, "Boots")], "r": [Hit("b", 1.0, "Shoes")]})
    report = execute(suite, search, RunOptions(today=DAY, no_checks=True, **options)).report
    assert {one.id: one.ranking[0].title for one in report.queries} == titles
    assert not any(request.title_field for request in search.requests), "it costs each search more than a look-up"


class GoneAfterwards(FakeSearch):
    def stream(self, requests, **fields):
        yield from super().stream(requests, **fields)
        self._error = EngineUnreachable("gone with hunter2")


def test_a_deeper_search_that_fails_costs_no_verdict():
    suite = make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"])
    report = execute(suite, GoneAfterwards({"q": ["x"], "other": ["a"]}), masker=Masker({"PASSWORD": "hunter2"})).report
    assert report.verdicts[0].status is Status.FAILED
    assert report.notes[0] == "the ranks of missing documents are unknown: gone with ${PASSWORD}"
    assert report.queries[0].missing == (MissingDocument("a", 1),)


@pytest.mark.parametrize(("expired", "is_unknown"), [({"q", "r"}, True), ({"q"}, False)])
def test_ranks_that_no_deeper_search_could_find_are_said_to_be_unknown(expired, is_unknown):
    class Expired(FakeSearch):
        def _respond(self, request):
            if request.query in expired and request.body["size"] == SEARCHED:
                return Failure(FailureKind.ERROR, "no search context hunter2")
            return super()._respond(request)

    suite = make_run_suite(query("q"), query("r"), thresholds=["every RR@3 >= 0.5"])
    search = Expired({"q": ["x"], "r": ["x"], "other": ["a"]})
    report = execute(suite, search, masker=Masker({"PASSWORD": "hunter2"})).report
    unknown = "the ranks of missing documents are unknown: no search context ${PASSWORD}"
    assert (unknown in report.notes) is is_unknown
    assert [one.missing[0].id for one in report.queries] == ["a", "a"]


def test_missing_documents_are_not_looked_for_when_the_budget_is_used_up():
    suite = make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"])
    search = Late({"q": ["x"], "other": ["a"]})
    report = execute(suite, search, RunOptions(budget=1e-9)).report
    assert report.verdicts[0].status is Status.FAILED
    assert "the ranks of missing documents are unknown: the time budget of the run is used up" in report.notes
    assert [one.query for one in search.requests].count("q") == 1


# ------------------------------------------------------------------------------------------------ fixtures and secrets


@pytest.mark.parametrize(
    ("options", "allowed"),
    [(RunOptions(), False), (RunOptions(allow_write=True), True), (RunOptions(embedded=True), True)],
)
def test_a_fixture_builds_the_index_that_is_searched(monkeypatch, options, allowed):
    built = []

    def ensure_index(search, fixture, base, name, *, allow_write):
        built.append((fixture, str(base), name, allow_write))
        return "relevance-suite-1234"

    monkeypatch.setattr(harness.search.fixtures, "ensure_index", ensure_index)
    fixture = Fixture("products.jsonl")
    search = FakeSearch({"q": ["a"]})
    report = execute(make_run_suite(query("q"), fixture=fixture), search, options).report
    assert built == [(fixture, "folder", "suite", allowed)]
    assert search.requests[0].index == report.index == "relevance-suite-1234"


def test_a_fixture_that_cannot_be_built_fails_every_query(monkeypatch):
    def ensure_index(*_, **__):
        raise FixtureError("products is not ours to replace")

    monkeypatch.setattr(harness.search.fixtures, "ensure_index", ensure_index)
    search = FakeSearch({"q": ["a"]})
    suite = make_run_suite(query("q"), fixture=Fixture("products.jsonl"), thresholds=["mean RR@3 >= 0"])
    report = execute(suite, search).report
    assert (report.queries[0].reason, search.requests) == ("engine error: products is not ours to replace", [])
    assert report.index is None
    assert report.verdicts[0].status is Status.ERROR


def test_an_index_that_was_built_is_named_though_its_searches_fail(monkeypatch):
    monkeypatch.setattr(harness.search.fixtures, "ensure_index", lambda *_, **__: "relevance-suite-1234")
    suite = make_run_suite(query("q"), fixture=Fixture("products.jsonl"))
    assert execute(suite, FakeSearch({}, error=EngineUnreachable("gone"))).report.index == "relevance-suite-1234"


def test_an_index_to_be_built_has_no_name_without_a_connection():
    suite = make_run_suite(query("q"), fixture=Fixture("products.jsonl"))
    report = execute(suite, EngineUnreachable("no route")).report
    assert report.index is None


def test_secrets_are_masked_in_the_report():
    failure = Failure(FailureKind.ERROR, "login elastic:hunter2 refused")
    suite = make_run_suite(query("q"), thresholds=["mean RR@3 >= 0"])
    report = execute(suite, FakeSearch({"q": failure}), masker=Masker({"PASSWORD": "hunter2"})).report
    assert "hunter2" not in repr(report)
    assert "${PASSWORD}" in report.verdicts[0].reason


def test_queries_that_the_budget_leaves_no_time_for_did_not_run_and_pass_nothing():
    suite = make_run_suite(query("q"), thresholds=["mean RR@3 >= 0"])
    report = execute(suite, FakeSearch({"q": ["a"]}), RunOptions(budget=0)).report
    assert report.queries[0].outcome is Outcome.NOT_RUN
    assert report.verdicts[0].status is Status.ERROR
    assert compute_exit_status([report]) == 3


# ------------------------------------------------------------------------------------------------ baselines


@pytest.fixture
def kept(tmp_path):
    """A suite with a drop, and the file with the baseline that `search` made of it."""
    suite = replace(
        make_run_suite(query("q"), query("r"), thresholds=["drop RR@3 <= 0.1"]), path=str(tmp_path / "s.yaml")
    )
    search = FakeSearch({"q": ["a"], "r": ["x", "a"]})
    search.facts = IndexFacts("m", "s", 7)
    finished = execute(suite, search, RunOptions(today=DAY, save_baseline=True))
    assert finished.run.facts == search.facts
    assert [verdict.status for verdict in finished.report.verdicts] == [Status.SKIPPED]
    entry = make_baseline(finished.suite, finished.run, finished.scores, created="2026-05-01", harness="1")
    write_baselines(tmp_path / "s.baseline.json", BaselineFile("suite", {"current": entry}))
    return suite, search


def test_a_drop_is_held_against_the_file_beside_the_suite(kept):
    suite, search = kept
    [same] = execute(suite, search).report.verdicts
    assert (same.status, same.reason) == (
        Status.PASSED,
        "mean RR@3 is 0.7500 as in the baseline, allowed 0.1, over 2 queries",
    )
    [worse] = execute(suite, FakeSearch({"q": ["x", "y", "a"], "r": ["x", "a"]})).report.verdicts
    assert (worse.status, worse.blamed) == (Status.FAILED, ("q",))
    assert "fell most: q 1.0000 -> 0.3333" in worse.reason


def test_a_service_that_gives_more_hits_than_it_was_asked_for_is_held_to_those(tmp_path):
    more = Ranking(tuple(map(Hit, "xyza")))
    drops = ["drop AP <= 0", "drop every AP <= 0"]
    suite = replace(make_run_suite(query("q"), thresholds=drops), path=str(tmp_path / "s.yaml"))
    finished = execute(suite, FakeSearch({"q": more}), RunOptions(today=DAY, save_baseline=True))
    assert len(finished.run.responses["q"].hits) == suite.depth == 3
    entry = make_baseline(finished.suite, finished.run, finished.scores, created="2026-05-01", harness="1")
    write_baselines(tmp_path / "s.baseline.json", BaselineFile("suite", {"current": entry}))
    for same in execute(suite, FakeSearch({"q": more})).report.verdicts:
        assert (same.status, same.observed) == (Status.PASSED, 0.0)


def test_the_file_that_is_named_takes_the_place_of_the_one_beside_the_suite(kept, tmp_path):
    suite, search = kept
    moved = (tmp_path / "s.baseline.json").rename(tmp_path / "other.json")
    [missing] = execute(suite, search).report.verdicts
    assert missing.status is Status.FAILED
    assert "s.baseline.json does not exist; `relevance baseline save" in missing.reason
    [found] = execute(suite, search, RunOptions(today=DAY, baseline=moved)).report.verdicts
    assert found.status is Status.PASSED


def test_what_changed_stands_in_the_notes_of_the_report(kept):
    suite, search = kept
    search.facts = IndexFacts("m", "s", 8)
    notes = execute(suite, search).report.notes
    assert "since the baseline of 2026-05-01 the index changed: it had 7 documents and has 8" in notes


def test_changed_judgments_are_no_drop(kept):
    suite, search = kept
    judged = replace(suite, queries=(suite.queries[0], replace(suite.queries[1], judgments={"y": 1})))
    report = execute(judged, search).report
    [verdict] = report.verdicts
    assert report.summaries[0].mean == 0.5
    assert (verdict.status, verdict.observed) == (Status.PASSED, 0.0)
    assert "since the baseline of 2026-05-01 the judgments changed: 1 query (r)" in report.notes


def test_a_suite_that_compares_with_nothing_asks_nothing_of_the_index():
    search = FakeSearch({"q": ["a"]})
    search.index_facts = None
    assert execute(make_run_suite(query("q"), thresholds=["mean RR@3 >= 0.1"]), search).run.facts is None


def test_what_only_warns_is_explained_like_a_failure():
    gated = replace(threshold("every RR@3 >= 0.5"), warns=True)
    suite = replace(make_run_suite(query("q")), thresholds=(gated,))
    search = FakeSearch({"q": ["x", "y", "z", "a"]})
    report = execute(suite, search).report
    assert report.verdicts[0].status is Status.WARNED
    assert report.queries[0].missing == (MissingDocument("a", 1, rank=4, searched=1000),)


def test_a_baseline_of_one_index_serves_for_another_and_says_what_differs(kept):
    suite, _ = kept
    other = FakeSearch({"q": ["a"], "r": ["x", "a"]})
    other.facts = IndexFacts("m2", "s", 8)
    report = execute(suite, other, RunOptions(today=DAY, index="products_v2")).report
    assert report.verdicts[0].status is Status.PASSED
    assert [note for note in report.notes if "since the baseline" in note or "was used instead" in note] == [
        "index products_v2 was used instead of products",
        "since the baseline of 2026-05-01 the mapping of the index changed",
        "since the baseline of 2026-05-01 the index changed: it had 7 documents and has 8",
    ]


def test_a_request_with_an_index_of_its_own_is_the_same_request_on_another(tmp_path):
    own = {"current": replace(REQUESTS["current"], index="products_old")}
    suite = make_run_suite(query("q"), thresholds=["drop RR@3 <= 0.1"])
    suite = replace(suite, path=str(tmp_path / "s.yaml"), requests=own)
    first = execute(suite, FakeSearch({"q": ["a"]}), RunOptions(today=DAY, save_baseline=True))
    entry = make_baseline(first.suite, first.run, first.scores, created="2026-05-01", harness="1")
    write_baselines(tmp_path / "s.baseline.json", BaselineFile("suite", {"current": entry}))
    report = execute(suite, FakeSearch({"q": ["a"]}), RunOptions(today=DAY, index="products_v2")).report
    assert not any("the request changed" in note for note in report.notes)


def test_a_score_that_is_no_number_costs_its_query_and_not_the_run():
    """Two documents of so great a gain have a sum beyond all numbers; the query that finds one of them has none."""
    measures = (parse_measure("CG@3"), parse_measure("RR@3"))
    judgments = {"a": 2, "b": 2}
    suite = replace(
        make_run_suite(
            query("both", judgments=judgments),
            query("none", judgments=judgments),
            thresholds=("mean CG@3 >= 0", "mean RR@3 >= 0.4"),
        ),
        measures=measures,
        gain=Gain(GainKind.MAP, ((2, 1e308),)),
    )
    finished = execute(suite, FakeSearch({"both": ["a", "b"], "none": ["x"]}))
    first, second = finished.report.verdicts
    assert (first.status, second.status) == (Status.ERROR, Status.PASSED)
    assert "the score of CG@3 is inf" in first.reason
    assert compute_exit_status([finished.report]) == 3
    assert "Infinity" not in report_json.dumps_report(
        Report(ReportTiming("2026-06-01T00:00:00+00:00"), "0", (finished.report,), 3)
    )


def test_a_query_that_a_measure_has_no_number_for_is_an_error_with_a_threshold_or_without():
    suite = replace(
        make_run_suite(query("both", judgments={"a": 2, "b": 2})),
        measures=(parse_measure("RR@3"), parse_measure("CG@3")),
        gain=Gain(GainKind.MAP, ((2, 1e308),)),
    )
    finished = execute(suite, FakeSearch({"both": ["a", "b"]}))
    [found] = finished.report.queries
    assert (found.outcome, found.scores) == (Outcome.ERROR, {"RR@3": 1.0, "CG@3": None})
    assert found.reason.startswith("CG@3: the score of CG@3 is inf")
    assert compute_exit_status([finished.report]) == 3
    with pytest.raises(UnansweredBaseline, match="from a run with errors: CG@3 of query 'both': the score of CG@3 is"):
        make_baseline(finished.suite, finished.run, finished.scores, created="2026-06-01", harness="0")


# ------------------------------------------------------------------------------------------------ asked again

DOWN = Failure(FailureKind.ERROR, "come back later", 503)


def test_only_what_had_no_answer_is_asked_again():
    suite = make_run_suite(query("q"), query("r"), query("s"), thresholds=["mean RR@3 >= 0.7"])
    first = execute(suite, FakeSearch({"q": ["x", "a"], "r": DOWN, "s": ["a"]}))
    again = FakeSearch({"q": ["a"], "r": ["x", "y", "a"], "s": ["x"]})

    second = execute(suite, again, earlier=first)

    assert [request.query for request in again.requests] == ["r"]
    assert {score.query: score.value for score in second.scores} == {"q": 0.5, "r": 1 / 3, "s": 1.0}
    assert list(second.run.responses) == ["q", "r", "s"]
    assert (first.report.verdicts[0].status, second.report.verdicts[0].status) == (Status.ERROR, Status.FAILED)
    assert second.run.seconds > first.run.seconds


@pytest.mark.parametrize("error", [EngineUnreachable("down"), None])
def test_what_was_answered_stays_where_nothing_is_answered_any_more(error):
    suite = make_run_suite(query("q"), query("r"), thresholds=["every RR@3 >= 0.5"])
    first = execute(suite, FakeSearch({"q": ["a"], "r": DOWN}))

    second = execute(suite, EngineUnreachable("gone") if error is None else FakeSearch({}, error=error), earlier=first)

    assert second.run.responses["q"] == first.run.responses["q"]
    assert second.run.engine == first.run.engine
    assert [one.outcome for one in second.report.queries] == [Outcome.SCORED, Outcome.ERROR]
    assert second.report.queries[1].reason == f"engine error: {'gone' if error is None else 'down'}"


def test_what_was_found_out_about_the_target_stays_when_some_are_asked_again():
    suite = make_run_suite(query("q", judgments={"a": 1}), query("r", judgments={"gone": 1}))
    before = FakeSearch({"q": ["a"], "r": DOWN})
    before.states = [IndexState(documents=2), IndexState(documents=2)]
    first = execute(suite, before)
    again = FakeSearch({"r": ["a"]})
    again.states = [IndexState(documents=1), IndexState(documents=1)]

    second = execute(suite, again, earlier=first)
    third = execute(suite, FakeSearch({}, error=EngineUnreachable("gone")), earlier=first)

    assert (list(second.run.checks.absent), second.run.checks.relevant) == (["gone"], 2)
    assert isinstance(second.run.responses["r"], Ranking)
    assert [state.documents for state in second.run.states] == [2, 1]
    assert (third.run.checks, third.run.states) == (first.run.checks, first.run.states)


@pytest.fixture
def looks_are_due(monkeypatch):
    """No time passes for the watch: its next look is due at once, however long a thread of this machine waited."""
    monkeypatch.setattr("harness.run.watching.perf_counter", lambda: 0.0)


@pytest.mark.usefixtures("looks_are_due")
def test_a_change_that_is_taken_back_while_queries_run_is_seen():
    search = FakeSearch({"q": ["a"]})
    search.states = [IndexState({"i": "1"}, documents) for documents in (9, 4, 9)]
    finished = execute(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), search)
    [verdict] = finished.report.verdicts
    assert verdict.status is Status.INCONCLUSIVE
    assert "changed during the run: it had 9 documents, then 4 and has 9" in verdict.reason


def test_a_state_that_cannot_be_read_after_the_searches_is_a_remark():
    known, remark = IndexState({"i": "1"}, 9), "the state of products could not be read after the searches"
    for states, is_said in (((known, IndexState()), True), ((known, known), False), ((), False)):
        search = FakeSearch({"q": ["a"]})
        search.states = list(states)
        report = execute(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), search).report
        assert [verdict.status for verdict in report.verdicts] == [Status.PASSED]
        assert any(remark in line for line in describe_remarks(report)) is is_said


def test_what_could_not_be_read_of_the_target_is_a_remark():
    unread = Definitions({}, {}, ("the settings", "the mapping"))
    whole = IndexState({"products": "1"}, 9, visible={"1[0] n1": 9})
    nothing = "of products could not be read: "
    for state, definitions, told in (
        (whole, Definitions({"settings of products": {}}), ""),
        (IndexState(None, 9), unread, "the indexes that it stands for, the documents of each shard (`_stats`), "),
        (IndexState({"products": "1"}, 9), Definitions(), "the documents of each shard (`_stats`)"),
        (IndexState({"products": "1"}, 9, filters={"products": "f"}), Definitions(), ""),
        (whole, unread, "the settings, the mapping; a change of that during the run is not noticed"),
        (IndexState(), unread, ""),
    ):
        search = FakeSearch({"q": ["a"]})
        search.states, search.definitions = [state], [definitions]
        report = execute(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), search).report
        assert [verdict.status for verdict in report.verdicts] == [Status.PASSED]
        lines = [line for line in describe_remarks(report) if nothing in line]
        assert [told in line for line in lines] == [True] * bool(told), (state, definitions)


def test_definitions_are_read_before_and_after_the_searches_only():
    """A look while queries run is about documents; that a mapping may be large must not slow it."""
    search = FakeSearch({"q": ["a"]})
    search.states = [IndexState({"products": "1"}, number) for number in (9, 9, 9)]
    one, other = (Definitions({"stored script boost": {"": value}}) for value in "ab")
    search.definitions = [one, other]
    finished = execute(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), search)
    [verdict] = finished.report.verdicts
    assert verdict.status is Status.INCONCLUSIVE
    assert "the stored script boost changed" in verdict.reason
    assert [state.definitions for state in finished.run.states] == [one, other]


def test_hits_of_an_index_that_the_target_does_not_stand_for_decide_nothing():
    for index, status in (("old", Status.PASSED), ("new", Status.INCONCLUSIVE)):
        search = FakeSearch({"q": Ranking((Hit("a", 1.0),), 1, 1.0, indexes=(index,))})
        search.states = [IndexState({"old": "1"}, 9)]
        suite = make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"])
        assert [verdict.status for verdict in execute(suite, search).report.verdicts] == [status]


@pytest.mark.usefixtures("looks_are_due")
def test_a_node_that_left_while_queries_ran_is_named_and_decides_nothing():
    one, other = ShardCopy("es-1", "x", primary=True), ShardCopy("es-2", "y")
    search = FakeSearch({"q": ["a"]})
    both, alone = {"products[0]": (one, other)}, {"products[0]": (one,)}
    search.states = [IndexState(copies=copies) for copies in (both, alone, both)]
    report = execute(make_run_suite(query("q"), thresholds=["every RR@3 >= 0.5"]), search).report
    assert report.timing.copies == (both, alone, both)
    assert [verdict.status for verdict in report.verdicts] == [Status.PASSED]
    [line] = [line for line in describe_remarks(report) if "copies" in line]
    assert line == (
        "while the queries ran, node es-2 left the cluster or lost its copies of products, then node es-2 got copies "
        "of products: rankings may differ where copies of a shard have other deleted documents"
    )


def test_a_suite_that_is_another_by_now_is_asked_whole():
    first = execute(make_run_suite(query("q"), query("r")), FakeSearch({"q": ["x", "a"], "r": DOWN}))
    again = FakeSearch({"q": ["a"], "r": ["a"]})

    second = execute(make_run_suite(query("q", judgments={"b": 1}), query("r")), again, earlier=first)

    assert [request.query for request in again.requests] == ["q", "r"]
    assert second.run.responses["q"].hits[0].id == "a"


def test_where_all_was_answered_nothing_is_asked_again():
    suite = make_run_suite(query("q"))
    first = execute(suite, FakeSearch({"q": ["a"]}))
    again = FakeSearch({"q": ["x"]})
    assert execute(suite, again, earlier=first).scores == first.scores
    assert again.requests == []


def test_the_queries_of_a_tag_are_asked_again_by_themselves():
    suite = make_run_suite(query("q", "head"), query("r", "head"), query("s", "tail"))
    options = RunOptions(today=DAY, tags=("head",))
    first = execute(suite, FakeSearch({"q": ["a"], "r": DOWN}), options)
    again = FakeSearch({"q": ["a"], "r": ["a"]})

    second = execute(suite, again, options, earlier=first)

    assert [request.query for request in again.requests] == ["r"]
    assert list(second.run.responses) == ["q", "r"]
