"""The report says what the run gave: rankings with grades and gains, ideals, what is missing, figures over queries."""

import pickle
from dataclasses import replace

import pytest

from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.model.report import MissingDocument, QueryReport, RankedDocument, Report
from harness.model.run import Engine, Failure, FailureKind, Hit, HitColumns, Ranking, Run, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Gain, GainKind, HttpRequest, Query, RequestTemplate, Suite, Target, Waiver
from harness.model.timing import ReportTiming
from harness.report.json import dumps_report, loads_report
from harness.report.run_sentences import describe_causes
from harness.report.terminal import render_plain
from harness.report.terminal.run import print_report
from harness.run.report import DecidedRun, assemble

MEASURES = (parse_measure("nDCG@3"), parse_measure("P(rel=2)@3"), parse_measure("Judged@3"))


def report_on(queries, responses, *, verdicts=(), located=None, **fields):
    suite = Suite("suite", "s.relevance.yaml", Target(), fields.pop("requests", {}), MEASURES, tuple(queries), **fields)
    run = Run(responses, Engine("opensearch", "3.8.0"), "current", "products", 0.25)
    scores = score_run(suite, run)
    return assemble(DecidedRun(suite, run, scores, verdicts, located=located or {}, notes=["first"]), "default")


QUERY = Query("shoes", "red shoes", tags=("head",), judgments={"a": 3, "b": 0, "c": 1, "d": 1, "e": 2})


def test_what_ran_where_is_in_the_report():
    report = report_on([QUERY], {"shoes": Ranking()}, gain=Gain(GainKind.LINEAR), depth=3)
    assert (report.name, report.path, report.request, report.cluster, report.index) == (
        "suite",
        "s.relevance.yaml",
        "current",
        "default",
        "products",
    )
    assert (str(report.engine), report.gain, report.depth, report.timing.search_seconds) == (
        "opensearch 3.8.0",
        "linear",
        3,
        0.25,
    )


def test_a_ranking_stands_beside_its_grades_gains_and_ties():
    hits = (Hit("b", 2.0, "Boot"), Hit("x", 1.0), Hit("a", 1.0), Hit("c", 0.5))
    [query] = report_on([QUERY], {"shoes": Ranking(hits, total=40, took=3)}).queries
    assert query.ranking == (
        RankedDocument(1, "b", 0, 0.0, 2.0, "Boot"),
        RankedDocument(2, "x", None, None, 1.0, None, tied=True),
        RankedDocument(3, "a", 3, 7.0, 1.0, None, tied=True),
        RankedDocument(4, "c", 1, 1.0, 0.5),
    )
    assert (query.total, query.timing.took, query.judged, query.tags) == (40, 3, 5, ("head",))


def test_rows_that_nothing_reads_are_not_made():
    queries = [QUERY, replace(QUERY, id="boots")]
    responses = {query.id: Ranking(total=2) for query in queries}
    for response in responses.values():
        response.make_late(HitColumns(("b", "a"), (2.0, 1.0)))
    report = report_on(queries, responses)
    assert "2 in 0.25 s" in render_plain(print_report(wrap(report)), 100)
    _, query = report.queries
    assert not any(is_made(query, name) for name in QueryReport.LATE)
    assert not is_made(responses["boots"], "hits")
    assert [document.id for document in query.ideal] == ["a", "e", "c", "d"]
    assert [name for name in QueryReport.LATE if is_made(query, name)] == ["ideal"]
    made = query.ideal
    assert query.ideal is made


def wrap(suite):
    return Report(ReportTiming("2026-01-01T00:00:00Z"), "1.0.0", (suite,), 0)


def is_made(value, name):
    """Whether the field *name* has a value; to read it by its name would make one."""
    try:
        getattr(type(value), name).__get__(value)
    except AttributeError:
        return False
    return True


def test_a_report_whose_rows_are_not_made_yet_equals_one_with_rows():
    report = report_on([QUERY], {"shoes": Ranking((Hit("b", 2.0), Hit("a", 1.0)))})
    [query] = report_on([QUERY], {"shoes": Ranking((Hit("b", 2.0), Hit("a", 1.0)))}).queries
    assert report.queries[0] == query
    assert replace(query, text="boots").ranking == query.ranking
    assert pickle.loads(pickle.dumps(report)).queries == (query,)
    assert loads_report(dumps_report(wrap(report))).suites[0].queries == (query,)
    with pytest.raises(AttributeError, match="'QueryReport' has no attribute 'rank'"):
        _ = query.rank


def test_a_total_that_is_a_lower_bound_stays_one():
    answers = {"shoes": Ranking(total=2, total_is_lower_bound=True)}
    [query] = report_on([QUERY], answers).queries
    assert (query.total, query.total_is_lower_bound) == (2, True)


def test_hits_without_scores_are_not_tied():
    [query] = report_on([QUERY], {"shoes": Ranking((Hit("a"), Hit("b")))}).queries
    assert [document.tied for document in query.ranking] == [False, False]


def test_the_ideal_holds_the_best_judged_documents_down_to_the_depth():
    hits = (Hit("c", 1.0, "Clog"),)
    [query] = report_on([QUERY], {"shoes": Ranking(hits)}, depth=3).queries
    assert query.ideal == (
        RankedDocument(1, "a", 3, 7.0),
        RankedDocument(2, "e", 2, 3.0),
        RankedDocument(3, "c", 1, 1.0, None, "Clog"),
    )


def test_neither_ideal_nor_missing_holds_a_document_of_no_gain():
    table = Gain(GainKind.MAP, ((0, 0), (1, -1), (2, 5), (3, 5)))
    [query] = report_on([QUERY], {"shoes": Ranking()}, gain=table).queries
    assert [document.id for document in query.ideal] == ["a", "e"]
    assert query.missing == (MissingDocument("a", 3), MissingDocument("e", 2))


def test_where_missing_documents_rank_comes_from_the_deeper_search():
    found = (MissingDocument("a", 3, rank=57, searched=1000),)
    [query] = report_on([QUERY], {"shoes": Ranking()}, located={"shoes": found}).queries
    assert query.missing == found


def test_a_title_that_any_ranking_or_the_deeper_search_brought_is_shown_wherever_the_document_is():
    boots = Query("boots", "boots", judgments={"e": 2})
    responses = {"shoes": Ranking((Hit("c", 1.0, "Clog"),)), "boots": Ranking((Hit("e", 1.0, "Espadrille"),))}
    located = {"shoes": (MissingDocument("a", 3, 57, 1000, "Ankle boot"), MissingDocument("e", 2, None, 1000))}
    query, _ = report_on([QUERY, boots], responses, located=located).queries
    assert [(one.id, one.title) for one in query.missing] == [("a", "Ankle boot"), ("e", "Espadrille")]
    assert [(one.id, one.title) for one in query.ideal] == [
        ("a", "Ankle boot"),
        ("e", "Espadrille"),
        ("c", "Clog"),
        ("d", None),
    ]
    query, _ = report_on([QUERY, boots], responses).queries
    assert query.missing == (
        MissingDocument("a", 3),
        MissingDocument("e", 2, title="Espadrille"),
        MissingDocument("d", 1),
    )


def test_a_query_without_an_answer_has_no_missing_documents():
    [query] = report_on([QUERY], {"shoes": Failure(FailureKind.TIMEOUT, "30 s")}).queries
    assert (query.outcome, query.reason) == (Outcome.ERROR, "timeout: 30 s")
    assert (query.ranking, query.missing) == ((), ())
    assert query.scores == {"nDCG@3": None, "P(rel=2)@3": None, "Judged@3": None}


@pytest.mark.parametrize(
    ("query", "response", "outcome", "reason"),
    [
        (Query("q", "q", judgments={"a": 2}), Ranking((Hit("a"),)), Outcome.SCORED, ""),
        (Query("q", "q", judgments={"a": 2}), Ranking(), Outcome.ZERO_HITS, "the engine returned no document"),
        (
            Query("q", "q", judgments={"a": 1}),
            Ranking((Hit("a"),)),
            Outcome.UNDEFINED,
            "P(rel=2)@3: no judged document has a grade of at least 2",
        ),
        (
            Query("q", "q"),
            Ranking(),
            Outcome.UNDEFINED,
            "nDCG@3, P(rel=2)@3: no judged document has a positive gain",
        ),
        (Query("q", "q", skip=Waiver("winter")), None, Outcome.SKIPPED, "winter"),
        (Query("q", "q"), None, Outcome.NOT_RUN, "the query was not sent"),
    ],
    ids=lambda value: str(value) if isinstance(value, Outcome) else "",
)
def test_a_query_has_one_outcome(query, response, outcome, reason):
    [found] = report_on([query], {} if response is None else {"q": response}).queries
    assert (found.outcome, found.reason) == (outcome, reason)


def test_a_summary_counts_who_went_in_and_who_did_not():
    names = ("a", "b", "c", "d")
    queries = [Query(name, name, judgments={"x": 3}) for name in names] + [Query("e", "e")]
    responses = {
        "a": Ranking((Hit("x"),)),
        "b": Ranking((Hit("y"), Hit("x"))),
        "c": Ranking(),
        "d": Failure(FailureKind.ERROR, "gone"),
        "e": Ranking((Hit("y"),)),
    }
    ndcg, relevant, judged = report_on(queries, responses).summaries
    second = 1 / 1.584962500721156
    assert ndcg.mean == pytest.approx((1 + second) / 3)
    assert (ndcg.median, ndcg.least, ndcg.greatest) == (pytest.approx(second), 0.0, 1.0)
    assert (ndcg.measure, ndcg.gain, ndcg.counted, ndcg.left_out) == ("nDCG@3", "exponential", 3, 2)
    assert (relevant.gain, relevant.counted) == ("", 3)
    assert (judged.counted, judged.left_out) == (4, 1)


def test_a_summary_of_nothing_has_no_figures():
    [summary, *_] = report_on([QUERY], {}).summaries
    assert (summary.mean, summary.median, summary.least, summary.greatest) == (None, None, None, None)
    assert (summary.counted, summary.left_out) == (0, 1)


def test_the_number_of_judged_hits_is_counted_over_all_queries():
    report = report_on([QUERY], {"shoes": Ranking((Hit("a"), Hit("x"), Hit("y")))})
    assert (report.hits, report.judged_hits) == (3, 1)


def test_notes_say_what_a_reader_must_know():
    ranking = Ranking((Hit("a"), Hit("x"), Hit("y")), duplicates=("a",))
    assert report_on([QUERY], {"shoes": ranking}).notes == (
        "first",
        "no thresholds: nothing was gated",
        "documents returned twice are counted once: shoes",
    )
    verdict = Verdict("v", "t", Status.PASSED, "r")
    assert report_on([QUERY], {"shoes": Ranking()}, verdicts=[verdict]).notes == ("first",)


def test_a_note_names_three_of_the_queries_whose_ties_move_a_gated_figure():
    tied, untied = Ranking((Hit("a", 1.0), Hit("b", 1.0))), Ranking((Hit("a", 2.0), Hit("b", 1.0)))
    queries = [replace(QUERY, id=name) for name in "pqrst"]
    responses = {"p": tied, "q": untied, "r": tied, "s": tied, "t": tied}
    report = report_on(queries, responses, verdicts=[Verdict("v", "t", Status.PASSED, "r", ties=(0.5, 1.0))])
    assert report.notes[1:] == (
        "the order of tied documents affects 1 gated figure in 4 queries (p, r, s and 1 more): "
        "break ties in the request (`sort: [_score, FIELD]`, if a field is unique)",
    )


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (Failure(FailureKind.SHARDS, "1 of 2"), Outcome.ERROR),
        (Failure(FailureKind.NOT_RUN, "stopped"), Outcome.NOT_RUN),
        (None, Outcome.NOT_RUN),
        (Ranking(), Outcome.ZERO_HITS),
        (Ranking((Hit("a"),)), Outcome.SCORED),
    ],
)
def test_a_query_of_which_no_measure_is_asked_has_its_outcome_too(response, outcome):
    suite = Suite("suite", "s", Target(), {}, (), (Query("q", "q", judgments={"a": 1}),))
    run = Run({} if response is None else {"q": response}, Engine("fake"))
    report = assemble(DecidedRun(suite, run, score_run(suite, run), ()), "default")
    assert report.queries[0].outcome is outcome


@pytest.mark.parametrize(
    ("scores", "tied"),
    [
        ([5, 5, 4], [True, True, False]),
        ([6, 5, 5, 5, 4], [False, True, True, True, False]),
        ([1, 2, 1, 1], [False, False, True, True]),  # sorted by something else: only neighbors can be exchanged
        ([3], [False]),
    ],
)
def test_a_document_is_tied_where_a_neighbor_has_its_score(scores, tied):
    hits = tuple(Hit(f"d{number}", float(score)) for number, score in enumerate(scores))
    [query] = report_on([QUERY], {"shoes": Ranking(hits)}).queries
    assert [document.tied for document in query.ranking] == tied


@pytest.mark.parametrize(
    ("sort", "tied"),
    [
        ([(1.0, "acme"), (1.0, "zeta"), (1.0, "zeta")], [False, True, True]),
        ([(1.0, 1), (1.0, 2), (1.0, 3)], [False, False, False]),
        ([(None,), (None,), (7,)], [True, True, False]),
    ],
)
def test_where_the_request_sorts_a_document_is_tied_where_a_neighbor_has_its_sort_values(sort, tied):
    hits = tuple(Hit(f"d{number}", 1.0, sort=values) for number, values in enumerate(sort))
    [query] = report_on([QUERY], {"shoes": Ranking(hits)}).queries
    assert [(document.tied, document.sort) for document in query.ranking] == [*zip(tied, sort, strict=True)]


HTTP = HttpRequest("GET", "/search", "$.ids", scores="$.scores")
FALLING, RISING, MIXED, EQUAL = [3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 2.0000001, 2.0]


@pytest.mark.parametrize(
    ("scores", "template", "rise"),
    [
        (FALLING, RequestTemplate("current", {"query": {}}), False),
        (RISING, RequestTemplate("current", {"query": {}}), True),
        (MIXED, RequestTemplate("current", {"query": {"hybrid": {}}}), True),
        ([-4.4e9, -9.5e9, 1.0], RequestTemplate("current", {"query": {"hybrid": {}}}), True),
        (MIXED, RequestTemplate("current", {"template": {"id": "stored"}}), True),
        (EQUAL, RequestTemplate("current", {"query": {}}), False),
        (RISING, RequestTemplate("current", {"sort": [{"_score": "asc"}]}), False),
        (RISING, RequestTemplate("current", {"template": {"source": {"sort": {"_score": "asc"}}}}), False),
        ([None, None, None], RequestTemplate("current", {"query": {}}), False),
        (FALLING, RequestTemplate("current", None, http=HTTP), False),
        (RISING, RequestTemplate("current", None, http=HTTP), False),
        (MIXED, RequestTemplate("current", None, http=HTTP), True),
        ([2**60, 2**60 + 1, 1], RequestTemplate("current", None, http=HTTP), True),
    ],
)
def test_scores_that_rise_without_a_sort_are_a_headline(scores, template, rise):
    hits = tuple(Hit(str(place), score) for place, score in enumerate(scores))
    ranking = Ranking(hits, exact_scores=template.http is not None)
    report = report_on([QUERY], {"shoes": ranking}, requests={"current": template})
    assert report.queries[0].scores_rise is rise
    lines = list(describe_causes(report.queries, report.checks))
    assert lines == rise * [
        "the scores of 1 query (shoes) rise from one rank to the next, and the request has no `sort`: the hits are not "
        "in the order of their scores"
    ]


def test_scores_that_rise_where_the_hits_were_sorted_by_values_are_none():
    """As of a template that the engine stores, and of a hook that ordered the hits by something else."""
    ranking = Ranking((Hit("a", 1.0, sort=(1,)), Hit("b", 2.0, sort=())))
    assert not report_on([QUERY], {"shoes": ranking}).queries[0].scores_rise
