"""
Decision 1 of the product, outcome by outcome, as docs/reference/outcomes.md has it: missing never passes.

Each row is one suite. It is run in pytest and by `relevance run`, and the row says what a user of either sees, with
which status they end, and what JUnit XML tells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from builders.shown import entries, kinds, one_line, properties
from builders.workers import IN_A_WORKER, IN_TWO_WORKERS
from harness.cli import main
from harness.model.scores import Outcome

BOOTS = "rubber boots"
PASSED, FAILED = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'
DROP = 'thresholds: ["drop nDCG@10 <= 0.02"]'
MISSING = "nDCG(missing=-1)@5"
HIT = {"_index": "i", "_id": "d", "_score": 1.0}
SHARDS = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}


def answer(*, status: int = 200, timed_out: bool = False, failed: int = 0, **others: object) -> dict[str, object]:
    """An engine's answer to one query of an `_msearch`, which as a whole has the status 200."""
    shards = SHARDS | {"successful": 2 - failed, "failed": failed}
    hits = {"total": {"value": 1, "relation": "eq"}, "hits": [HIT]}
    return {"took": 1, "timed_out": timed_out, "_shards": shards, "status": status, "hits": hits} | others


def boots_answered(raw: object) -> Callable[[object], None]:
    return lambda engine: engine.answers.update({BOOTS: raw})  # type: ignore[attr-defined]


def boots_without_hits(engine: object) -> None:
    engine.rankings[BOOTS] = []  # type: ignore[attr-defined]


def finds_others(engine: object) -> None:
    """The documents that are judged are not there, and others are."""
    engine.rankings = {"red shoes": ["A", "x"], BOOTS: ["y"]}  # type: ignore[attr-defined]


def finds_nothing(engine: object) -> None:
    engine.rankings = {"red shoes": [], BOOTS: []}  # type: ignore[attr-defined]


def documents_go(engine: object) -> None:
    """Each search finds a document less in the index."""
    left = iter(range(100, 0, -1))

    def one_less() -> None:
        count = {"count": next(left), "_shards": SHARDS}
        engine.gets["/products/_count?preference=relevance-harness"] = count  # type: ignore[attr-defined]

    one_less()
    engine.before_search = one_less  # type: ignore[attr-defined]


def shoes_turned_round(engine: object) -> None:
    engine.rankings["red shoes"] = ["c", "b", "a"]  # type: ignore[attr-defined]


def undefined(text: str) -> str:
    """Nothing that is judged for boots is relevant."""
    return text.replace("{d: 3}", "{d: 0}")


def nothing_is_right(text: str) -> str:
    """No result is right for boots."""
    assert "judgments: {d: 3}" in text
    return text.replace("judgments: {d: 3}", "nothing: true")


def blue_shoes(text: str) -> str:
    """The same id asks something else; the engine gives it the same answer."""
    return text.replace("text: red shoes", "text: blue shoes")


def shoes_edited(**facts: object) -> Callable[[str], str]:
    """The baseline with other *facts* of the query shoes."""

    def edited(text: str) -> str:
        content = json.loads(text)
        content["requests"]["request"]["queries"]["shoes"].update(facts)
        return json.dumps(content)

    return edited


def older(text: str) -> str:
    """A baseline from before the suite had boots."""
    content = json.loads(text)
    del content["requests"]["request"]["queries"]["boots"]
    return json.dumps(content)


@dataclass(frozen=True)
class Row:
    """
    One outcome.

    *more*, *shoes* and *boots* are lines of the suite, *edit* changes its text, *arrange* the engine. *baseline* makes
    of the baseline that was saved what lies beside the suite; where it is None, none does. *later* changes the suite
    after that. *budget* is in seconds.
    *status* is `relevance run`'s, *ended* pytest's, *counts* its items by outcome. *junit* is the element of the
    threshold's entry, None where it passed; *verdict* a property of the entry. *said* is told by pytest, by
    `relevance run`, and in the entry's message where it has one.
    """

    status: int
    ended: pytest.ExitCode
    counts: Mapping[str, int]
    said: tuple[str, ...]
    junit: str | None
    verdict: str
    more: str = MEAN
    shoes: str = ""
    boots: str = ""
    edit: Callable[[str], str] = str
    arrange: Callable[[object], None] = field(default=lambda engine: None)
    baseline: Callable[[str], str] | None = None
    later: Callable[[str], str] = str
    budget: str | None = None


def passes(*said: str, **others: object) -> Row:
    return Row(0, PASSED, {"passed": 1}, said, None, "passed", **others)


def fails(*said: str, **others: object) -> Row:
    return Row(1, FAILED, {"failed": 1}, said, "failure", "failed", **others)


def errs(*said: str, **others: object) -> Row:
    return Row(3, FAILED, {"errors": 1}, said, "error", "error", **others)


def warns(*said: str, **others: object) -> Row:
    return Row(0, PASSED, {"passed": 1, "warnings": 1}, said, None, "warned", **others)


SAVE = "`relevance baseline save shop.relevance.yaml --url http://"
NO_BASELINE = ("there is no baseline: shop.baseline.json does not exist", SAVE)
UNREADABLE = ("shop.baseline.json:1:2 cannot be read: this is not JSON", SAVE)
OLDER = ("is older than the suite: it does not have 1 query (boots)", SAVE)
CONTRADICTING = {
    "a ranking that scores otherwise": (
        {"ranking": [["x", 9.0]]},
        "query shoes: its nDCG@10 was kept as 1, and its ranking has 0",
    ),
    "an empty ranking of scored hits": (
        {"ranking": []},
        "query shoes: it is scored, and its ranking is empty",
    ),
    "an empty ranking with a score": (
        {"ranking": [], "outcome": "zero hits"},
        "query shoes: its nDCG@10 was kept as 1, and its ranking has 0",
    ),
}
REWORDED = ("asked something else for 1 query: shoes (its text was 'red shoes' and is 'blue shoes')", SAVE)
OPTIONAL = f"{DROP}\nbaseline: optional"
COMPARING = (
    "drop nDCG@10 <= 0.02",
    "drop every nDCG@10 <= 50%",
    "worse nDCG@10 by 0.1 <= 2 queries",
    "drop nDCG@10 is not significant at 5%",
    "mean RBO >= 0",
    "every overlap@3 >= 0",
    "drop nDCG@10 <= 0.02 for head",
)

ROWS = {
    "scored, above": passes("0.8155"),
    "scored, below": fails(
        "mean nDCG@10 (gain exponential) is 0.8155, required >= 0.9", more=MEAN.replace("0.8", "0.9")
    ),
    "zero hits, below": fails("is 0.5000, required >= 0.8", "zero hits: boots", arrange=boots_without_hits),
    "zero hits, above": passes("zero hits", more=MEAN.replace("0.8", "0.5"), arrange=boots_without_hits),
    "zero hits with a minimum gain, below": fails(
        "boots -0.4212", more=f'thresholds: ["every {MISSING} >= 0"]', arrange=boots_without_hits
    ),
    "zero hits with a minimum gain, above": passes(
        "zero hits", more=f'thresholds: ["every {MISSING} >= -0.4213"]', arrange=boots_without_hits
    ),
    "undefined": fails("is undefined for 1 of 2 queries: boots", edit=undefined),
    "undefined, left out": passes("undefined", more=f"undefined: skip\n{MEAN}", edit=undefined),
    "undefined, all left out": fails(
        "has nothing to decide: every query is left out (1 undefined)",
        more=f"undefined: skip\n{MEAN.replace('0.8', '0.8 for tail')}",
        edit=undefined,
    ),
    "nothing found": passes(
        "nothing found", more='thresholds: ["false hits <= 5%"]', edit=nothing_is_right, arrange=boots_without_hits
    ),
    "false hits": fails("false hits in 1 of 1 query", more='thresholds: ["false hits <= 5%"]', edit=nothing_is_right),
    "false hits without an answer": errs(
        "boots",
        "engine error (500)",
        more='thresholds: ["false hits <= 5%"]',
        edit=nothing_is_right,
        arrange=lambda engine: engine.broken.update({BOOTS: 500}),
    ),
    "engine error": errs(
        "boots", "engine error (400)", "no such thing", arrange=lambda engine: engine.broken.update({BOOTS: 400})
    ),
    "server error": errs(
        "boots", "engine error (500)", "no such thing", arrange=lambda engine: engine.broken.update({BOOTS: 500})
    ),
    "timeout": errs("boots", "timeout (200)", arrange=boots_answered(answer(timed_out=True))),
    "failed shard": errs(
        "boots", "failed shards (200): 1 of 2 shards did not answer", arrange=boots_answered(answer(failed=1))
    ),
    "missing shard": errs(
        "boots", "failed shards (200)", arrange=boots_answered(answer(_shards=SHARDS | {"successful": 1}))
    ),
    "malformed answer": errs("boots", "malformed answer (200)", arrange=boots_answered({"took": 1, "status": 200})),
    "malformed hit": errs(
        "boots", "malformed answer (200)", "`_id`", arrange=boots_answered(answer(hits={"hits": [{"_score": 1}]}))
    ),
    "error with status 200": errs(
        "boots", "engine error (200)", arrange=boots_answered({"status": 200, "error": {"type": "x", "reason": "y"}})
    ),
    "target without documents": errs("wrong target: products holds no document", arrange=finds_nothing),
    "target without a judged document": errs(
        "wrong target: none of the 3 documents judged relevant is visible through products: 'a' is not, 'A' is, which "
        "differs only in letter case",
        arrange=finds_others,
    ),
    "target without a judged document, unchecked": fails(
        "is 0.0000, required >= 0.8", more=f"checks: false\n{MEAN}", arrange=finds_others
    ),
    "expected document not visible": errs(
        "cannot be decided: C is not visible through products; 'c' is, which differs only in letter case",
        more="",
        shoes='expect: ["C not in top 3"]',
    ),
    "expected document not visible, before another": errs(
        "cannot be decided: nope is not visible through products", more="", shoes='expect: ["a before nope"]'
    ),
    "expected document not visible, unchecked": passes(more="checks: false", shoes='expect: ["C not in top 3"]'),
    "documents deleted during the run": replace(
        errs("products changed during the run: it had ", arrange=documents_go), verdict="inconclusive"
    ),
    "documents deleted during the run, unchecked": passes(more=f"checks: false\n{MEAN}", arrange=documents_go),
    "did not run": errs("did not run", "the time budget of the run is used up", budget="0.000001"),
    "baseline missing": fails(*NO_BASELINE, more=DROP),
    "baseline unreadable": fails(*UNREADABLE, more=DROP, baseline=lambda _: "{"),
    "baseline of another version": fails(
        "found schema version 7, expected", SAVE, more=DROP, baseline=lambda _: '{"schema": 7}'
    ),
    "baseline older": fails(*OLDER, more=DROP, baseline=older),
    "baseline there": passes("passed", more=DROP, baseline=str),
    **{
        f"another question, {threshold}": fails(
            *REWORDED, more=f'thresholds: ["{threshold}"]', baseline=str, later=blue_shoes
        )
        for threshold in COMPARING
    },
    "another question of a query that the threshold is not about": passes(
        "passed", more=DROP.replace("0.02", "0.02 for tail"), baseline=str, later=blue_shoes
    ),
    "another question, optional baseline": warns(*REWORDED, more=OPTIONAL, baseline=str, later=blue_shoes),
    **{
        f"a baseline that contradicts itself, {name}": fails(
            f"shop.baseline.json contradicts itself: request request, {said}",
            SAVE,
            more=DROP,
            baseline=shoes_edited(**facts),
        )
        for name, (facts, said) in CONTRADICTING.items()
    },
    **{
        f"a baseline that contradicts itself, {threshold}": fails(
            "contradicts itself", SAVE, more=f'thresholds: ["{threshold}"]', baseline=shoes_edited(ranking=[])
        )
        for threshold in COMPARING[4:]
    },
    "a baseline that contradicts itself, optional": warns(
        "contradicts itself: request request, query shoes", SAVE, more=OPTIONAL, baseline=shoes_edited(ranking=[])
    ),
    "a query's own drop from another question": fails(
        *REWORDED, more="", shoes='thresholds: ["drop nDCG@10 <= 1"]', baseline=str, later=blue_shoes
    ),
    "optional baseline missing": warns(*NO_BASELINE, more=OPTIONAL),
    "optional baseline unreadable": warns(*UNREADABLE, more=OPTIONAL, baseline=lambda _: "{"),
    "optional baseline older": warns(*OLDER, more=OPTIONAL, baseline=older),
    "optional baseline there, below": fails(
        "fell by", "shoes", more=OPTIONAL, baseline=str, arrange=shoes_turned_round
    ),
    "baseline missing and no answer": errs(
        "boots", "engine error (400)", more=DROP, arrange=lambda engine: engine.broken.update({BOOTS: 400})
    ),
    **{
        f"optional baseline missing and no answer, {threshold}": errs(
            "boots",
            "engine error (400)",
            more=f'baseline: optional\nthresholds: ["{threshold}"]',
            arrange=lambda engine: engine.broken.update({BOOTS: 400}),
        )
        for threshold in COMPARING[:1] + COMPARING[4:6]
    },
}


@pytest.fixture
def arranged(suite: Callable[..., Path], engine: object, capsys: pytest.CaptureFixture[str]) -> Callable[[Row], Path]:
    """Writes the suite of a row with its baseline, and makes the engine answer as it says."""

    def write(row: Row) -> Path:
        path = suite(row.more, shoes=row.shoes, boots=row.boots)
        path.write_text(row.edit(path.read_text(encoding="utf-8")), encoding="utf-8")
        if row.baseline is not None:
            assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
            file = path.with_name("shop.baseline.json")
            file.write_text(row.baseline(file.read_text(encoding="utf-8")), encoding="utf-8")
            path.write_text(row.later(path.read_text(encoding="utf-8")), encoding="utf-8")
        capsys.readouterr()
        engine.rankings["blue shoes"] = engine.rankings["red shoes"]
        row.arrange(engine)
        return path

    return write


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_in_pytest(
    row: Row, arranged: Callable[[Row], Path], run: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    arranged(row)
    budget = ["--relevance-budget", row.budget] if row.budget else []

    result = run("--junit-xml=junit.xml", "-W", "default::harness.pytest_plugin.items.RelevanceWarning", *budget)

    assert result.ret == row.ended
    result.assert_outcomes(**row.counts)
    shown = result.stdout.str()
    assert [words for words in row.said if words not in one_line(shown)] == []
    assert "Traceback" not in shown
    [entry] = entries(pytester.path / "junit.xml")
    assert kinds(entry) == ([row.junit] if row.junit else [])
    if row.junit:
        message = entry.find(row.junit).get("message")  # type: ignore[union-attr]
        assert [words for words in row.said if words not in message] == []
    told = properties(entry)
    assert told["relevance.verdict"] == row.verdict
    assert told["relevance.suite"] == "shop"
    assert told["relevance.place"].startswith("shop.relevance.yaml:")


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_on_the_command_line(
    row: Row, arranged: Callable[[Row], Path], engine: object, capsys: pytest.CaptureFixture[str]
) -> None:
    path = arranged(row)
    budget = ["--budget", row.budget] if row.budget else []

    status = main(["run", path.name, "--url", engine.url, *budget])

    printed = capsys.readouterr()
    assert status == row.status
    assert [words for words in row.said if words not in one_line(printed.out)] == []
    assert "Traceback" not in printed.out + printed.err
    assert main(["run", path.name, "--url", engine.url, *budget, "--json"]) == row.status
    report = json.loads(capsys.readouterr().out)
    assert [verdict["status"] for verdict in report["suites"][0]["verdicts"]] == [row.verdict]
    assert report["exit_status"] == row.status


# ------------------------------------------------------------------------------------------------ more than one outcome


def test_where_1_and_3_both_hold_3_wins(
    suite: Callable[..., Path],
    engine: object,
    run: Callable[..., pytest.RunResult],
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = suite(MEAN, shoes='expect: ["b in top 1"]')
    engine.broken[BOOTS] = 400

    result = run("--junit-xml=junit.xml")

    assert result.ret == FAILED
    result.assert_outcomes(failed=1, errors=1)
    assert {entry.get("name"): kinds(entry) for entry in entries(pytester.path / "junit.xml")} == {
        "mean-nDCG-10-ge-0.8": ["error"],
        "query.shoes": ["failure"],
    }
    assert main(["run", path.name, "--url", engine.url]) == 3
    printed = one_line(capsys.readouterr().out)
    assert "1 failed, 1 error" in printed
    assert "b is at rank 2, required in the top 1" in printed
    del engine.broken[BOOTS]
    assert main(["run", path.name, "--url", engine.url]) == 1, "the shortfall alone"


@pytest.mark.parametrize("workers", [(), IN_TWO_WORKERS], ids=["alone", "workers"])
def test_no_answer_to_a_query_of_which_nothing_is_asked_is_3_and_an_error_of_the_first_item(
    suite: Callable[..., Path],
    engine: object,
    run: Callable[..., pytest.RunResult],
    pytester: pytest.Pytester,
    workers: tuple[str, ...],
) -> None:
    path = suite(MEAN.replace('"]', ' for head"]'), shoes='expect: ["a in top 1"]')
    engine.broken[BOOTS] = 400

    result = run("--junit-xml=junit.xml", *workers)

    assert result.ret == FAILED
    result.assert_outcomes(errors=1, passed=1)
    assert "no answer to 1 query that no threshold is about: boots (error: engine error (400)" in one_line(
        result.stdout.str()
    )
    assert sorted(map(kinds, entries(pytester.path / "junit.xml"))) == [[], ["error"]]
    one_worker = IN_A_WORKER if workers else ()
    result = run("-k", "query.shoes", *one_worker)
    result.assert_outcomes(errors=1, deselected=0 if workers else 1)
    assert run("--relevance-each-query", *one_worker).ret == FAILED
    assert main(["run", path.name, "--url", engine.url]) == 3


@pytest.mark.parametrize(
    ("first", "said", "workers"),
    [
        ("mean P@5 >= 0.9 for head", "required >= 0.9", ()),
        ("mean P@5 >= 0.9 for head", "required >= 0.9", IN_TWO_WORKERS),
        ("{threshold: mean P@5 >= 0.9 for head, xfail: {reason: later}}", "", ()),
        ("drop nDCG@10 <= 0 for head", "there is no baseline", ()),
    ],
)
def test_no_answer_to_a_query_is_an_error_of_the_first_item_also_where_that_does_not_hold(
    suite: Callable[..., Path],
    engine: object,
    run: Callable[..., pytest.RunResult],
    pytester: pytest.Pytester,
    first: str,
    said: str,
    workers: tuple[str, ...],
) -> None:
    first = first if first.startswith("{") else f'"{first}"'
    path = suite(f"thresholds: [{first}]", shoes='expect: ["b in top 1"]')
    engine.broken[BOOTS] = 400  # type: ignore[attr-defined]

    result = run("--junit-xml=junit.xml", "--relevance-report=report.json", *workers)

    result.assert_outcomes(errors=1, failed=1)
    printed = one_line(result.stdout.str())
    assert "no answer to 1 query that no threshold is about: boots (error: engine error (400)" in printed
    assert said in printed, "what the item itself found is not lost"
    assert sorted(map(kinds, entries(pytester.path / "junit.xml"))) == [["error"], ["failure"]]
    assert json.loads((pytester.path / "report.json").read_text())["exit_status"] == 3
    assert main(["run", path.name, "--url", engine.url]) == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("options", [(), ("--relevance-each-query",), IN_TWO_WORKERS])
def test_no_answer_to_a_query_whose_own_item_is_skipped_is_an_error_of_an_item_that_runs(
    suite: Callable[..., Path], engine: object, run: Callable[..., pytest.RunResult], options: tuple[str, ...]
) -> None:
    suite(MEAN.replace('"]', ' for head"]'), boots='expect: [{expect: "d in top 1", skip: {reason: flaky}}]')
    engine.broken[BOOTS] = 400  # type: ignore[attr-defined]

    result = run(*options)

    assert result.ret == FAILED
    assert result.parseoutcomes()["errors"] == 1
    assert "no answer to 1 query that no threshold is about: boots" in one_line(result.stdout.str())


def test_no_answer_to_a_query_is_an_error_although_the_threshold_that_it_is_about_is_deselected(
    suite: Callable[..., Path], engine: object, run: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\nmarkers = slow\n")
    suite('thresholds: [{threshold: "mean nDCG@10 >= 0.8", markers: [slow]}, "every nDCG@10 >= 0.1 for head"]')
    engine.broken[BOOTS] = 400  # type: ignore[attr-defined]

    result = run("-m", "not slow")

    result.assert_outcomes(errors=1, deselected=1)
    assert result.ret == FAILED
    own = run("--relevance-each-query", "-k", "query.shoes")
    assert own.ret == PASSED, "the item of boots would tell it, and was left out"


def test_no_answer_in_a_repeat_to_a_query_that_no_threshold_is_about_is_an_error(
    suite: Callable[..., Path], engine: object, run: Callable[..., pytest.RunResult]
) -> None:
    suite(MEAN.replace('"]', ' for head"]'))
    searches = iter(range(3))

    def breaks_later() -> None:
        if next(searches, 0):
            engine.broken[BOOTS] = 400  # type: ignore[attr-defined]

    engine.before_search = breaks_later  # type: ignore[attr-defined]

    result = run("--relevance-repeat", "2")

    result.assert_outcomes(errors=1)
    assert "boots (a repeat has no ranking of it)" in one_line(result.stdout.str())


def test_an_engine_that_is_not_there_is_an_error_of_every_item(
    suite: Callable[..., Path], pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    path = suite(MEAN, shoes='expect: ["a in top 1"]')

    result = pytester.runpytest("--relevance-url", "http://127.0.0.1:9", "--junit-xml=junit.xml")

    assert result.ret == FAILED
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines("*http://127.0.0.1:9*")
    assert "Traceback" not in result.stdout.str()
    assert [kinds(entry) for entry in entries(pytester.path / "junit.xml")] == [["error"], ["error"]]
    assert main(["run", path.name, "--url", "http://127.0.0.1:9"]) == 3
    assert "http://127.0.0.1:9" in capsys.readouterr().out


def test_a_wrong_suite_is_2_and_an_error_where_it_is_collected(
    suite: Callable[..., Path],
    run: Callable[..., pytest.RunResult],
    pytester: pytest.Pytester,
    engine: object,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = suite(MEAN.replace("mean", "meen"))

    result = run("--junit-xml=junit.xml")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*shop.relevance.yaml:6:*meen*"])
    assert [kinds(entry) for entry in entries(pytester.path / "junit.xml")] == [["error"]]
    assert main(["run", path.name, "--url", engine.url]) == 2
    assert "shop.relevance.yaml:6:" in capsys.readouterr().err
    assert not engine.asked


def test_every_outcome_of_the_page_has_a_row() -> None:
    """A column of docs/reference/outcomes.md that grows needs a row here."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "outcomes.md").read_text(encoding="utf-8")
    table = page.split("## A query\n")[1].split("\n## ")[0]
    named = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    assert named == {str(outcome) for outcome in Outcome}
    said = " ".join(word for row in ROWS.values() for word in row.said)
    assert named - {"scored", "skipped", "error"} <= {outcome for outcome in named if outcome in said}
