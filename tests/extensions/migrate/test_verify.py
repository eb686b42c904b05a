"""``relevance verify`` where `_rank_eval` answers what no sound cluster would, or nothing."""

import json

import pytest

from builders.engine import Fault
from harness.cli import main

SUITE = """\
suite: shoes
target: {{index: i}}
profile: rank_eval
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}, size: {size}}}
measures: ["P@2"]
queries: [{{id: red, text: red shoes, judgments: {{a: 1, b: 0}}}}]
"""
HOMES = {"hits": {"hits": [{"_index": "i", "_id": "a"}]}}


def rated(score, hits, failure=None, ratings=None):
    """An answer of `_rank_eval`; *hits* are ids with scores."""
    ratings = {"a": 1, "b": 0} if ratings is None else ratings
    found = [
        {"hit": {"_index": "i", "_id": name, "_score": value}, "rating": ratings.get(name)} for name, value in hits
    ]
    details = {"red": {"metric_score": score, "unrated_docs": [], "hits": found}}
    content = {"metric_score": score, "details": details, "failures": {"red": failure} if failure else {}}
    return Fault("/i/_rank_eval", status=200, body=json.dumps(content).encode(), times=9)


@pytest.fixture
def verify(engine, tmp_path, capsys):
    def run(fault, size=2, *options, suite=SUITE, homes=HOMES):
        engine.faults += [fault, Fault("/i/_search", status=200, body=json.dumps(homes).encode(), times=9)]
        path = tmp_path / "shoes.relevance.yaml"
        path.write_text(suite.format(size=size))
        status = main(["verify", str(path), "--url", engine.url, "-q", *options])
        return status, capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("hits", "theirs", "status", "reason"),
    [
        ([("a", 9.0), ("b", 8.0)], 0.5, 0, "all equal"),
        ([("a", 9.0), ("b", 8.0)], 0.75, 1, "no known reason (+0.2500)"),
        ([("b", 9.0), ("c", 8.0)], 0.0, 0, "the engine gave these documents other scores"),
        ([("y", 9.0), ("z", 8.0)], 0.0, 1, "no known reason (-0.5000)"),
        ([("y", 9.0), ("b", 8.0)], 0.0, 1, "no known reason (-0.5000)"),
        ([("b", 7.0), ("c", 6.0)], 0.0, 0, "the engine gave these documents other scores"),
        ([("y", 9.5), ("z", 9.2)], 0.0, 1, "no known reason (-0.5000)"),
        ([("a", 9.0), ("a", 9.0)], 1.0, 0, "these documents are in several indexes"),
    ],
)
def test_the_reason_of_a_difference(verify, hits, theirs, status, reason):
    found, told = verify(rated(theirs, hits))
    assert found == status
    assert reason in told.out


def test_tied_documents_in_another_order_are_a_reason(engine, verify):
    engine.rankings["red shoes"] = [("c", 9.0), ("a", 8.0), ("b", 8.0)]
    status, told = verify(rated(0.0, [("c", 9.0), ("b", 8.0)]))
    assert status == 0
    assert "documents with the same score are in another order" in " ".join(told.out.split())


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity"])
def test_a_score_that_is_no_finite_number_is_different(verify, score):
    status, told = verify(rated(score, [("a", 9.0), ("b", 8.0)]))
    assert status == 1
    assert "1 score compared within 1e-09: 1 different, 1 without a known reason" in told.out
    assert "P@2 0.5000 – 1 1" in " ".join(told.out.split())  # the mean of _rank_eval is none


def test_a_grade_too_large_for_2_to_its_power_is_the_reason_of_nan(verify):
    suite = SUITE.replace("P@2", "nDCG@2").replace("profile: rank_eval", "gain: linear").replace("a: 1", "a: 2000")
    status, told = verify(rated("NaN", [("a", 9.0), ("b", 8.0)]), suite=suite)
    assert status == 0
    said = " ".join(told.out.split())
    assert "2^grade is too large for a number of _rank_eval, so it has no sound score: a" in said
    assert "1 different, all explained" in said


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"details": 5}, "malformed answer: `details` of `_rank_eval` should be an object, found a number"),
        (
            {"details": {}, "failures": [1]},
            "malformed answer: `failures` of `_rank_eval` should be an object, found a list",
        ),
        ({"details": {"red": 5}}, "malformed answer: `_rank_eval` has no score and hits for it"),
        ({"details": {"red": {"metric_score": 10**400, "hits": []}}}, "malformed answer: `_rank_eval` has no score"),
        ({"details": {"red": {"metric_score": 1.0, "hits": [{"hit": [1]}]}}}, "malformed answer: `_rank_eval` has no"),
    ],
)
def test_a_malformed_answer_is_an_error_and_nothing_is_compared(verify, content, reason):
    status, told = verify(Fault("/i/_rank_eval", status=200, body=json.dumps(content).encode(), times=9))
    assert (status, told.err) == (3, "")
    said = " ".join(told.out.split())
    assert f"query red is not compared: {reason}" in said
    assert said.endswith("nothing was compared")
    assert "all equal" not in said


@pytest.mark.parametrize("homes", [{"hits": 5}, {"hits": {"hits": [{"_id": "a"}]}}, {"hits": {"hits": [7]}}, {}])
def test_a_malformed_look_up_of_documents_is_an_error(verify, homes):
    status, told = verify(rated(0.5, [("a", 9.0), ("b", 8.0)]), homes=homes)
    assert status == 3
    assert "malformed answer: the look-up of judged documents" in " ".join(told.err.split())


def test_a_judged_hit_without_a_rating_is_a_reason(verify):
    status, told = verify(rated(0.0, [("a", 9.0), ("b", 8.0)], ratings={}))
    assert status == 0
    said = " ".join(told.out.split())
    assert "in several indexes: a rating belongs to one, and each hit counts (-0.5000): a, b" in said


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b'{"error": "no handler found for uri [/i/_rank_eval] and method [POST]"}'),
        (405, b'{"error": "Incorrect HTTP method", "status": 405}'),
    ],
)
def test_an_engine_that_has_none_is_told(verify, status, body):
    found, told = verify(Fault("/i/_rank_eval", status=status, body=body, times=9))
    assert (found, told.out) == (3, "")
    assert "this node of elasticsearch 9.4.3 lacks the module rank-eval" in told.err


def test_a_login_that_may_not_is_told(verify):
    found, told = verify(Fault("/i/_rank_eval", status=403, body=b'{"error": {"type": "security", "reason": "no"}}'))
    assert found == 3
    assert "the engine refuses the request" in told.err


def test_a_look_up_that_the_window_of_the_index_refuses_is_told(verify):
    error = b'{"error": {"type": "x", "reason": "[10] but was [70], see [index.max_result_window]"}, "status": 400}'
    found, told = verify(Fault("/i/_search", status=400, body=error, times=9))
    assert found == 3
    assert "cannot be looked up: " in told.err
    assert "the harness chose that number of hits" in told.err


def test_a_block_of_the_index_is_told_once(verify):
    error = b'{"error": {"type": "cluster_block_exception", "reason": "blocked by: [FORBIDDEN/7/index read (api)];"}}'
    found, told = verify(Fault("/i/_rank_eval", status=403, body=error))
    assert found == 3
    assert "remove this block" in told.err
    assert "login" not in told.err


@pytest.mark.parametrize(
    "fault",
    [
        rated(0.0, [], {"error": {"type": "parsing_exception", "reason": "no such thing"}}),
        Fault("/i/_rank_eval", status=400, body=b'{"error": {"type": "x", "reason": "no such thing"}}', times=9),
    ],
)
def test_a_query_that_it_could_not_answer_is_named(verify, fault):
    found, told = verify(fault)
    assert found == 3
    assert "query red is not compared: " in told.out
    assert "no such thing" in told.out


def test_a_comparison_of_nothing_does_not_pass(verify, tmp_path):
    skipped = SUITE.replace("judgments:", "skip: {{reason: later}}, judgments:")
    fault = rated(0.5, [("a", 9.0), ("b", 8.0)])
    status, told = verify(fault, 2, "--no-checks", "--query", "red", suite=skipped)
    assert status == 1
    assert told.out.rstrip().endswith("nothing was compared")
    status, told = verify(fault, 2, "--no-checks", "--json", suite=skipped)
    assert (status, json.loads(told.out)["exit_status"]) == (1, 1)
    sound = tmp_path / "sound.relevance.yaml"
    sound.write_text(SUITE.format(size=2))
    status, told = verify(fault, 2, "--no-checks", str(sound), suite=skipped)
    assert status == 0
    assert "nothing was compared" in told.out


def test_what_can_be_compared_with_nothing_is_refused(engine, tmp_path, capsys):
    path = tmp_path / "ap.relevance.yaml"
    path.write_text(SUITE.format(size=2).replace("P@2", "AP@2"))
    assert main(["verify", str(path), "--url", engine.url]) == 2
    assert "_rank_eval has none of the suite's measures: AP@2" in capsys.readouterr().err
    path.write_text(
        SUITE.format(size=2)
        .replace('measures: ["P@2"]', "thresholds: [false hits <= 5%]")
        .replace("judgments: {a: 1, b: 0}", "nothing: true")
    )
    assert main(["verify", str(path), "--url", engine.url]) == 2
    assert "the suite has no measure to verify" in capsys.readouterr().err
    path.write_text(SUITE.format(size=2).replace("target: {", "target: {id_field: sku, "))
    assert main(["verify", str(path), "--url", engine.url]) == 2
    assert "'id_field' sku, and _rank_eval knows documents by _id only" in capsys.readouterr().err
    assert engine.sent == []


def test_the_same_reason_is_printed_once_for_all_queries_that_are_not_compared(verify):
    queries = "queries: [{id: red, text: red shoes, judgments: {a: 1}}, {id: blue, text: red shoes, judgments: {a: 1}}]"
    suite = SUITE.partition("queries:")[0] + queries.replace("{", "{{").replace("}", "}}")
    content = {"details": {"red": {"metric_score": 1.0, "hits": [7]}, "blue": {"metric_score": 1.0, "hits": [7]}}}
    fault = Fault("/i/_rank_eval", status=200, body=json.dumps(content).encode(), times=9)
    status, told = verify(fault, suite=suite)
    said = " ".join(told.out.split())
    assert status == 3
    assert "2 queries (red, blue) are not compared: malformed answer: `_rank_eval` has no score and hits" in said
