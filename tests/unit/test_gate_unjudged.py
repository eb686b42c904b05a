"""A threshold on Judged@k that does not hold names the documents that nobody has judged."""

from datetime import date

import pytest

from builders.gating import suite_of, threshold
from harness.gate import decide
from harness.metrics.score import score_run
from harness.model import Engine, Failure, FailureKind, Hit, Query, Ranking, Run, Status

REMEDY = "`harness judgments pool` collects them for grading"


def verdict_of(text, *, rankings, judgments, of_query=False, **fields):
    own = (threshold(text, of_query=True),) if of_query else ()
    queries = [Query(name, name, judgments=judgments.get(name, {}), thresholds=own) for name in rankings]
    suite = suite_of(queries, *([] if of_query else [threshold(text)]), **fields)
    responses = {
        name: found if isinstance(found, Failure) else Ranking(tuple(map(Hit, found)))
        for name, found in rankings.items()
    }
    run = Run(responses, Engine("fake"))
    return decide(suite, run, score_run(suite, run), today=date(2026, 1, 1))[0]


@pytest.mark.parametrize("statistic", ["mean", "median", "every", "95%"])
def test_every_kind_of_threshold_names_the_unjudged_hits_of_its_worst_queries(statistic):
    verdict = verdict_of(
        f"{statistic} Judged@3 >= 0.9",
        rankings={"p": ["a", "x", "b"], "q": ["y", "z"]},
        judgments={"p": {"a": 1, "b": 0}, "q": {"c": 1}},
    )
    assert verdict.status is Status.FAILED
    assert verdict.blamed == ("q", "p")
    assert verdict.reason.endswith(f"; unjudged hits of q: y (rank 1), z (rank 2); of p: x (rank 2); {REMEDY}")


def test_a_query_s_own_threshold_names_its_own():
    verdict = verdict_of("Judged@2 >= 1", rankings={"q": ["a", "x", "y"]}, judgments={"q": {"a": 1}}, of_query=True)
    assert verdict.reason == f"Judged@2 is 0.5000, required >= 1; unjudged hits of q: x (rank 2); {REMEDY}"


def test_only_the_worst_queries_and_the_first_of_many_documents_are_named():
    rankings = {f"q{n}": [f"d{rank}" for rank in range(20)] for n in range(5)}
    verdict = verdict_of("mean Judged@15 >= 0.9", rankings=rankings, judgments={})
    assert verdict.reason.count("; of q") == 2
    assert "q0: d0 (rank 1), d1 (rank 2), d2 (rank 3) and 12 more; of q1: " in verdict.reason
    assert f"d2 (rank 3) and 12 more; and of 2 more queries; {REMEDY}" in verdict.reason


def test_more_documents_are_named_of_a_query_by_itself():
    verdict = verdict_of("mean Judged@15 >= 0.9", rankings={"q": [f"d{rank}" for rank in range(20)]}, judgments={})
    assert f"d8 (rank 9), d9 (rank 10) and 5 more; {REMEDY}" in verdict.reason


@pytest.mark.parametrize(
    ("text", "rankings"),
    [
        ("mean Judged@3 >= 0.5", {"q": ["a"]}),  # holds
        ("mean Judged@3 >= 0.5", {"q": []}),  # nothing was returned, so nothing of it is unjudged
        ("mean Judged@3 >= 0.5", {"q": Failure(FailureKind.ERROR, "no")}),  # no answer
        ("mean P@3 >= 0.9", {"q": ["a", "x"]}),  # another measure
        ("mean Judged@3 <= 0.5", {"q": ["a"]}),  # too much is judged
    ],
)
def test_anything_else_names_none(text, rankings):
    assert "unjudged hits" not in verdict_of(text, rankings=rankings, judgments={"q": {"a": 1}}).reason
