"""
What becomes of a query whose answer is not as an engine gives it, or comes late, or not at once.

Each row is one answer to the query `boots`, in a suite with a threshold on the rankings, one on the engine's time and
one on the number of hits. What ranks nothing makes the threshold that needs it inconclusive; what makes the ranking
doubtful is an error of the query. It is so in pytest, in JUnit XML and on the command line alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from builders.engine import Fault, ScriptedEngine, item_of
from builders.shown import entries, kinds, one_line, properties
from harness.cli import main

BOOTS = "rubber boots"
THRESHOLDS = 'thresholds: ["mean nDCG@10 >= 0.8", "max latency <= 1000 ms"]'
HITS = 'expect: ["hits <= 5"]'
JUNIT = {"passed": [], "failed": ["failure"], "error": ["error"], "inconclusive": ["error"]}

PASSED = ("passed", "passed", "passed")
ERROR = ("error", "error", "error")
NO_TIME = ("passed", "inconclusive", "passed")
NO_TOTAL = ("passed", "passed", "inconclusive")


@dataclass(frozen=True)
class Row:
    """
    One answer.

    *verdicts* are those of the thresholds on rankings, time and number of hits. *outcome* is the query's. *said* is
    told wherever the query or its thresholds are. *arrange* makes the engine answer so, *edit* changes the suite.
    *budget* is in seconds.
    """

    verdicts: tuple[str, str, str]
    outcome: str
    said: str
    arrange: Callable[[ScriptedEngine], None]
    edit: Callable[[str], str] = field(default=str)
    budget: str | None = None


def item(**members: Any) -> dict[str, Any]:
    """The sound item of `boots`, with *members* in place of its own; what is None is left out."""
    return {name: value for name, value in {**item_of(["e", "d"]), **members}.items() if value is not None}


def hits(*found: Mapping[str, Any], total: object = "2") -> dict[str, Any]:
    counted = {"value": 2, "relation": "eq"} if total == "2" else total
    default = [hit("e", 9.0), hit("d", 8.0)]
    return {
        "hits": [{**ours, **theirs} for ours, theirs in zip(default, found or default, strict=True)],
        "total": counted,
    }


def hit(name: str, score: object) -> dict[str, Any]:
    return {"_index": "products", "_id": name, "_score": score}


def shards(**members: object) -> dict[str, Any]:
    return {"total": 2, "successful": 2, "skipped": 0, "failed": 0, **members}


def boots(raw: object) -> Callable[[ScriptedEngine], None]:
    return lambda engine: engine.answers.update({BOOTS: raw})


def whole(change: Callable[[dict[str, Any]], object]) -> Callable[[ScriptedEngine], None]:
    return lambda engine: setattr(engine, "change_all", change)


def fault(*faults: Fault) -> Callable[[ScriptedEngine], None]:
    return lambda engine: engine.faults.extend(map(replace, faults))


def sound(raw: object = None, *, edit: Callable[[str], str] = str, said: str = "") -> Row:
    return Row(PASSED, "scored", said, boots(item() if raw is None else raw), edit)


def untimed(took: object) -> Row:
    said = "the answer has no `took`" if took is None else "`took` is"
    return Row(NO_TIME, "scored", said, boots(item(took=took)))


def uncounted(total: object, said: str) -> Row:
    return Row(NO_TOTAL, "scored", said, boots(item(hits=hits(total=total))))


def malformed(raw: object, said: str) -> Row:
    return Row(ERROR, "error", f"malformed answer (200): {said}", boots(raw))


def lacking(raw: object, said: str) -> Row:
    return Row(ERROR, "error", f"failed shards (200): {said}", boots(raw))


def unique(text: str) -> str:
    return text.replace("{index: products}", "{index: products, ids: unique}")


def stopping(text: str) -> str:
    return text.replace("request:\n", "request:\n  terminate_after: 100\n")


IN_TWO = item(hits=hits({}, {"_id": "e", "_index": "archive"}))
FAILURES = [{"shard": 0, "reason": {"type": "script_exception", "reason": "no price"}}]
ABSURD = 10**400

ROWS = {
    "sound": sound(),
    "skipped shards": sound(item(_shards=shards(total=5, successful=5, skipped=4))),
    "clusters that all answered": sound(item(_clusters={"total": 2, "successful": 2, "skipped": 0})),
    "not stopped early": sound(item(terminated_early=False)),
    "no score": sound(item(hits=hits({"_score": None}, {"_score": None}))),
    "stopped early as the request says": Row(
        NO_TOTAL, "scored", "`terminate_after`", boots(item(terminated_early=True)), stopping
    ),
    "took is missing": untimed(None),
    "took below 0": untimed(-1),
    "took NaN": untimed(math.nan),
    "took infinite": untimed(math.inf),
    "took true": untimed(True),
    "took a text": untimed("3"),
    "took absurd": untimed(ABSURD),
    "hits not counted": uncounted(None, "the answer has no number of matching documents"),
    "total without a value": uncounted({"relation": "eq"}, "`hits.total.value` is nothing"),
    "total without a relation": uncounted({"value": 2}, "`hits.total.relation` is nothing"),
    "total below 0": uncounted({"value": -1, "relation": "eq"}, "`hits.total.value` is -1"),
    "total below the hits": uncounted(
        {"value": 1, "relation": "eq"}, "`hits.total.value` is 1, but 2 hits were returned"
    ),
    "total true": uncounted(True, "`hits.total` is true"),
    "total NaN": uncounted({"value": math.nan, "relation": "eq"}, "`hits.total.value` is NaN"),
    "total absurd": uncounted({"value": ABSURD, "relation": "eq"}, "`hits.total.value` is 1000"),
    "no shards": malformed(item(_shards=None), "`_shards` should be an object, found nothing"),
    "shards uncounted": malformed(item(_shards={}), "`total` should be a whole number, found nothing"),
    "more shards than there are": malformed(item(_shards=shards(successful=3)), "`_shards` counts 3 successful"),
    "failures beside failed 0": lacking(item(_shards=shards(failures=FAILURES)), "`_shards` lists failures"),
    "a cluster skipped": lacking(item(_clusters={"total": 2, "successful": 1, "skipped": 1}), "1 of 2 clusters"),
    "a cluster in part": lacking(
        item(_clusters={"total": 1, "successful": 1, "details": {"r": {"status": "partial"}}}), "1 of 1 clusters"
    ),
    "timed_out missing": malformed(item(timed_out=None), "`timed_out` should be true or false, found nothing"),
    "timed_out a text": malformed(item(timed_out="false"), '`timed_out` should be true or false, found "false"'),
    "stopped early unasked": malformed(item(terminated_early=True), "`terminated_early` is true"),
    "a score NaN": malformed(item(hits=hits({"_score": math.nan}, {})), "`hits.hits[0]._score`"),
    "a score infinite": malformed(item(hits=hits({"_score": "Infinity"}, {})), "`hits.hits[0]._score`"),
    "a score absurd": malformed(item(hits=hits({"_score": ABSURD}, {})), "`hits.hits[0]._score`"),
    "an id empty": malformed(item(hits=hits({"_id": ""}, {})), "`hits.hits[0]` should have a text `_id`"),
    "an id of half a character": malformed(item(hits=hits({"_id": "\ud800"}, {})), "`hits.hits[0]` should have a text"),
    "an index missing": malformed(item(hits=hits({"_index": None}, {})), "`hits.hits[0]` should have a text `_index`"),
    "an item with status 206": Row(ERROR, "error", "malformed answer (206): `status`", boots(item(status=206))),
    "an empty error": Row(ERROR, "error", "engine error (200): the engine gave no reason", boots(item(error={}))),
    "an id in two indexes": Row(
        ERROR, "error", 'ambiguous id: "e" is in products at rank 1 and in archive at rank 2', boots(IN_TWO)
    ),
    "an id in two indexes, said to be unique": sound(
        item(hits=hits({"_id": "d"}, {"_id": "d", "_index": "archive"})),
        edit=unique,
        said="documents returned twice are counted once: boots",
    ),
    "an error beside responses": Row(
        ERROR,
        "error",
        "engine error: x_exception: half of it is gone",
        whole(lambda answer: {**answer, "error": {"type": "x_exception", "reason": "half of it is gone"}}),
    ),
    "a status 206": Row(
        ERROR,
        "error",
        "malformed answer (206): the server did not return a complete answer",
        fault(Fault("/_msearch", status=206, body=None, times=99)),
    ),
    "an answer that trickles": Row(
        ERROR,
        "did not run",
        "the time budget of the run is used up",
        fault(Fault("/_msearch", status=200, body=None, pause=0.05)),
        budget="0.5",
    ),
    "busy at first": Row(
        PASSED, "scored", "sent again: status 502 (2)", fault(Fault("/", 503), Fault("/", 429), Fault("/_msearch", 502))
    ),
    "closed at first": Row(
        PASSED, "scored", "2 of 2 queries were sent again: connection closed (2)", fault(Fault("/_msearch", None))
    ),
    "closed and busy before it says what it is": Row(PASSED, "scored", "", fault(Fault("/", None), Fault("/", 502))),
}


@pytest.fixture
def arranged(suite: Callable[..., Path], engine: ScriptedEngine) -> Callable[[Row], Path]:
    """Writes the suite of a row, and makes the engine answer as it says."""

    def write(row: Row) -> Path:
        path = suite(THRESHOLDS, boots=HITS)
        path.write_text(row.edit(path.read_text(encoding="utf-8")), encoding="utf-8")
        row.arrange(engine)
        return path

    return write


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_in_pytest(
    row: Row, arranged: Callable[[Row], Path], run: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    arranged(row)

    result = run("--junit-xml=junit.xml", *(["--relevance-budget", row.budget] if row.budget else []))

    errors = sum(verdict in ("error", "inconclusive") for verdict in row.verdicts)
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if errors else pytest.ExitCode.OK)
    result.assert_outcomes(passed=3 - errors, errors=errors)
    assert "Traceback" not in result.stdout.str()
    told = entries(pytester.path / "junit.xml")
    assert [properties(entry)["relevance.verdict"] for entry in told] == list(row.verdicts)
    assert [kinds(entry) for entry in told] == [JUNIT[verdict] for verdict in row.verdicts]
    messages = [child.get("message", "") for entry in told for child in entry if child.tag == "error"]
    assert all(row.said in message for message in messages)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_on_the_command_line(
    row: Row, arranged: Callable[[Row], Path], engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    path = arranged(row)
    report_file = path.with_name("report.json")

    budget = ["--budget", row.budget] if row.budget else []
    status = main(["run", path.name, "--url", engine.url, "--output", f"json={report_file}", *budget])

    printed = capsys.readouterr()
    report = json.loads(report_file.read_text(encoding="utf-8"))
    assert status == report["exit_status"] == (0 if row.verdicts == PASSED else 3)
    assert row.said in one_line(printed.out)
    assert "Traceback" not in printed.out + printed.err
    [told] = report["suites"]
    assert tuple(verdict["status"] for verdict in told["verdicts"]) == row.verdicts
    assert [query["outcome"] for query in told["queries"] if query["id"] == "boots"] == [row.outcome]
