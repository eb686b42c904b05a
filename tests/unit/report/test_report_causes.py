"""Thresholds that fail for the same queries without a score: reports say the cause once."""

import json
from dataclasses import replace

import pytest

from harness.model.report import QueryReport
from harness.model.run import Status, Verdict
from harness.model.scores import Outcome
from harness.report.attention import find_repeated_causes
from harness.report.html.run import render as render_html
from harness.report.json import dumps_report
from harness.report.markdown import render as render_markdown
from harness.report.run_document import build_thresholds
from harness.report.run_sentences import describe_shared_causes
from harness.report.terminal import render_plain
from harness.report.terminal.run import print_report

TEXTS = ("mean nDCG@5 >= 0.7", "median nDCG@5 >= 0.6", "every P@5 >= 0.1", "drop nDCG@5 <= 0.02")


def fail(number, text, *blamed, measure="nDCG@5", **fields):
    reason = f"{text.partition('@')[0]} is undefined for 1 of 9 queries: {', '.join(blamed)}; judge a document for each"
    return Verdict(f"v{number}", text, Status.FAILED, reason, measure=measure, blamed=blamed, **fields)


@pytest.fixture
def undefined(suite):
    """A suite of which the one query has no score by two measures, and one by a third."""
    query = QueryReport("tents", "tents", Outcome.UNDEFINED, scores={"nDCG@5": None, "P@5": None, "Judged@5": 0.0})
    verdicts = [
        fail(number, text, "tents", measure="P@5" if "P@5" in text else "nDCG@5") for number, text in enumerate(TEXTS)
    ]
    return replace(suite, queries=(query,), verdicts=tuple(verdicts), baseline=None)


def test_the_first_explains_all(undefined):
    thresholds = build_thresholds(undefined)
    assert [line.verdict.threshold for line in thresholds.thresholds] == list(TEXTS)
    [explained] = thresholds.explained
    assert explained.details[0] == undefined.verdicts[0].reason
    assert explained.details[1] == f"for the same reason: {', '.join(TEXTS[1:])}"
    others = [line.details for line in thresholds.thresholds[1:]]
    assert others == [(f"no score for tents, as for {TEXTS[0]}",)] * 3


def test_each_output_has_the_sentence_once_and_each_threshold(report, undefined):
    run = replace(report, suites=(undefined,), exit_status=1)
    sentence = "judge a document for each"
    for quiet in (False, True):
        terminal = " ".join(render_plain(print_report(run, quiet=quiet)).split())
        assert terminal.count(sentence) == 1
    assert render_markdown(run).count(sentence) == 1
    assert render_html(run).count(sentence) == 1
    for text in (render_html(run), render_plain(print_report(run))):
        assert all(threshold.split(" ")[0] in text for threshold in TEXTS)
    verdicts = json.loads(dumps_report(run))["suites"][0]["verdicts"]
    assert [verdict["reason"] for verdict in verdicts] == [verdict.reason for verdict in undefined.verdicts]


def test_the_summary_of_a_session_has_one_line(undefined):
    [line] = describe_shared_causes(undefined)
    assert line.startswith("4 thresholds fail for one reason: ")
    assert list(describe_shared_causes(replace(undefined, verdicts=undefined.verdicts[:1]))) == []


@pytest.mark.parametrize(
    "other",
    [
        fail(9, "mean Judged@5 >= 1", "tents", measure="Judged@5"),  # has a score
        fail(9, "mean nDCG@5 >= 0.9", "tents", observed=0.2),  # is no query without a score
        fail(9, "mean nDCG@5 >= 0.9", "boots"),  # another query
        fail(9, "mean nDCG@5 >= 0.9", "tents", "boots"),
        fail(9, "nDCG@5 >= 0.9", "tents", query="tents"),  # of the query alone
        replace(fail(9, "mean nDCG@5 >= 0.9", "tents"), status=Status.WARNED),
        fail(9, "hits >= 1"),
    ],
)
def test_another_cause_is_explained_by_itself(undefined, other):
    suite = replace(undefined, verdicts=(undefined.verdicts[0], other))
    assert find_repeated_causes(suite) == {}
    assert len(build_thresholds(suite).explained) == 2


def test_queries_without_an_answer_are_no_such_cause(undefined):
    [query] = undefined.queries
    suite = replace(undefined, queries=(replace(query, outcome=Outcome.ERROR),))
    assert find_repeated_causes(suite) == {}
