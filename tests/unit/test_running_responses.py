"""What of a run is in memory: responses are in a file, requests and reports are built when they are asked for."""

from __future__ import annotations

import gc
import os
import pickle
from collections import Counter
from contextlib import suppress
from copy import deepcopy
from datetime import date
from weakref import finalize

import pytest

from builders.executions import finish
from harness.errors import UsageError
from harness.lazy import LazyMapping, LazySequence, chained
from harness.metrics import parse_measure
from harness.model import (
    Failure,
    FailureKind,
    Hit,
    Outcome,
    Query,
    QueryReport,
    Ranking,
    RequestTemplate,
    Response,
    Score,
    ScoreColumns,
    SearchRequest,
    Suite,
    Target,
)
from harness.options import RunOptions
from harness.report.json import parts_of_report
from harness.run import make_report, responses
from harness.run.responses import StoredResponses
from harness.search.testing import FakeSearch

RESPONSES: dict[str, Response] = {
    "all": Ranking(
        (
            Hit("a", 2.5, "A title", "a snippet", {"body": "text"}),
            Hit("é\udc80", float("-inf"), sort=(7, "acme", None)),
        ),
        total=7,
        took=1.5,
        total_is_lower_bound=True,
        duplicates=("a",),
        total_doubt="odd",
        took_doubt="slow",
        stopped_early=True,
        tail=(Hit("b", 2.5),),
        closed=True,
    ),
    "nothing": Ranking(),
    "failed": Failure(FailureKind.SHARDS, "1 of 2 shards failed", 503),
    "unasked": Failure(FailureKind.NOT_RUN, "no time"),
}

PLACES = {query: place for place, query in enumerate(RESPONSES)}


@pytest.fixture(params=[0, 2**20], ids=["in a file", "in memory"])
def stored(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StoredResponses:
    monkeypatch.setattr(responses, "IN_MEMORY", request.param or 1)
    return StoredResponses(PLACES)


def test_responses_are_read_as_they_were_kept_in_the_order_of_the_queries(stored: StoredResponses) -> None:
    for query in reversed(RESPONSES):
        stored.keep({query: RESPONSES[query]})

    assert stored == RESPONSES
    assert list(stored) == list(RESPONSES)
    assert isinstance(stored["failed"], Failure)
    assert stored["failed"].kind is FailureKind.SHARDS


def test_a_query_has_no_response_before_one_is_kept_and_the_last_one_afterwards(stored: StoredResponses) -> None:
    assert (len(stored), list(stored), "all" in stored, stored.get("all")) == (0, [], False, None)
    stored.keep({"all": RESPONSES["failed"], "failed": RESPONSES["failed"]})
    stored.keep({"all": RESPONSES["all"]})

    assert dict(stored) == {"all": RESPONSES["all"], "failed": RESPONSES["failed"]}
    assert (len(stored), "nothing" in stored, "stranger" in stored) == (2, False, False)


def test_a_file_that_cannot_be_written_is_an_error_for_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def seek(self, place: int) -> None: ...

        def write(self, data: bytes) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None: ...

    monkeypatch.setattr(responses, "IN_MEMORY", 1)
    monkeypatch.setattr(responses, "TemporaryFile", Full)
    with pytest.raises(UsageError, match="the answers cannot be written to a temporary file: No space left on device;"):
        StoredResponses(PLACES).keep(RESPONSES)


def test_without_a_folder_for_temporary_files_responses_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "IN_MEMORY", 1)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/nowhere"])
    stored = StoredResponses(PLACES)
    for query, response in RESPONSES.items():
        stored.keep({query: response})

    assert stored == RESPONSES


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_processes_that_were_forked_read_at_places_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "IN_MEMORY", 1)
    stored = StoredResponses({str(number): number for number in range(50)})
    stored.keep({str(number): Ranking((Hit("a" * number, 1.0),)) for number in range(50)})

    def read() -> bool:
        return all(stored[str(number)].hits[0].id == "a" * number for _ in range(40) for number in range(50))

    child = os.fork()
    if child == 0:
        status = 1
        with suppress(BaseException):
            status = 0 if read() else 1
        os._exit(status)
    assert read()
    assert os.waitpid(child, 0)[1] == 0


def test_the_text_of_what_is_lazy_is_short(stored: StoredResponses) -> None:
    stored.keep({"failed": RESPONSES["failed"]})
    assert repr(stored) == "<responses of 1 of 4 queries>"
    assert repr(LazySequence(range(2), str)) == "('0', '1')"
    assert repr(LazySequence(range(5000), str)) == "('0', '1', '2', and 4,997 more)"
    assert repr(LazyMapping({"one": 1}, str)) == "<mapping of 1>"


def test_scores_are_gone_as_soon_as_nobody_has_them() -> None:
    gone: list[bool] = []
    gc.disable()
    try:
        finalize(ScoreColumns([Score("q", "RR", 0.5, Outcome.SCORED)]), gone.append, True)
        assert gone == [True]
    finally:
        gc.enable()


def test_what_is_lazy_equals_what_it_is_made_of() -> None:
    made = Counter[int]()

    def double(number: int) -> int:
        made[number] += 1
        return 2 * number

    doubles = LazySequence(range(5), double, keep=2)
    assert list(doubles) == list(doubles) == [0, 2, 4, 6, 8]
    assert made == {0: 1, 1: 1, 2: 2, 3: 2, 4: 2}
    assert (doubles[-1], list(doubles[1:3]), len(doubles)) == (8, [2, 4], 5)
    assert doubles == (0, 2, 4, 6, 8)
    assert doubles != [0, 2, 4, 6]
    assert chained(doubles[:1], (7, 9)) == (0, 7, 9)
    with pytest.raises(IndexError):
        doubles[5]
    assert LazyMapping({"a": 1}, double) == {"a": 2}


def test_a_copy_of_what_is_lazy_has_all_of_it_in_memory(stored: StoredResponses) -> None:
    stored.keep(RESPONSES)
    lazy = stored, LazySequence(range(3), str), LazyMapping({"one": 1}, str)
    plain = RESPONSES, ("0", "1", "2"), {"one": "1"}

    assert pickle.loads(pickle.dumps(lazy)) == plain
    assert deepcopy(lazy) == plain


def test_scores_in_columns_are_the_scores() -> None:
    plain = [Score("q", "P@1", 0.5, Outcome.SCORED), Score("q", "RR", 0.0, Outcome.ZERO_HITS, "none")]
    other = [Score("r", "RR", None, Outcome.UNDEFINED, "why"), Score("r", "P@1", 1.0, Outcome.SCORED)]
    scores = ScoreColumns.of([plain[0], *other, plain[1]])

    assert list(scores) == [*plain, *other]
    assert scores[-1] == other[1]
    assert list(scores.column("RR", ["r", "s", "q"])) == [other[0], None, plain[1]]
    assert list(scores.column("P@1", ["q", "r"])) == [0.5, 1.0]
    assert list(scores.column("AP", ["q"])) == [None]
    assert scores.values_of("r") == {"RR": None, "P@1": 1.0}
    assert (scores.exceptions_of("q"), scores.exceptions_of("s"), scores.values_of("s")) == ([plain[1]], [], {})


QUERIES = 3000


def test_a_run_of_many_queries_has_few_of_them_in_memory() -> None:
    queries = tuple(Query(f"q{one}", f"text {one}", judgments={"a": 1.0}) for one in range(QUERIES))
    templates = {"request": RequestTemplate("request", {"query": {"match": {"title": "{{text}}"}}})}
    measures = (parse_measure("RR@3"),)
    suite = Suite("large", "large.relevance.yaml", Target("default", "products"), templates, measures, queries, depth=2)
    search = Forgetful({})
    options = RunOptions(today=date(2026, 1, 1), no_checks=True)
    finished = finish(suite, search, options)

    text = "".join(parts_of_report(make_report([finished.report])))
    assert text.count('"title":null') >= QUERIES
    assert [len(finished.run.responses), len(finished.report.queries), finished.report.hits] == [QUERIES, QUERIES, 6000]
    assert [document.id for document in finished.report.queries[-1].ranking] == ["a", "q2999"]
    alive = Counter(type(one) for one in gc.get_objects())
    assert max(alive[kind] for kind in (SearchRequest, Ranking, Score)) < QUERIES / 2
    assert alive[QueryReport] < QUERIES / 2


class Forgetful(FakeSearch):
    """Answers each query with two hits, a hundred queries at once, and keeps nothing."""

    def search(self, requests, *, on_done=None, on_resent=None, budget=None):  # type: ignore[no-untyped-def]
        for begin in range(0, len(requests), 100):
            part = enumerate(requests[begin : begin + 100], start=begin)
            on_done({place: Ranking((Hit("a", 2.0), Hit(one.query, 1.0)), total=9) for place, one in part})
        return []
