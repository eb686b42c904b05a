"""Repeats of a run: whose ranking is not stable, why, how far figures move, and that what flips decides nothing."""

import pytest

pytest.importorskip("jsonschema")

import json
from itertools import count
from pathlib import Path

from builders.engine import SHARDS
from builders.reports import without_timing
from builders.schemas import make_validator
from harness.api import Relevance
from harness.cli import main
from harness.model.report import RepeatSummary
from harness.model.run import IndexState
from harness.options import RunOptions
from harness.report.json import loads_report, report_schema
from harness.run.watching import TargetWatch

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
thresholds: ["mean RR@3 >= 0.6", "every RR@3 >= 0.1", "p95 latency <= 10 s"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 1}, expect: [a in top 1]}
  - {id: boots, text: rubber boots, judgments: {e: 1}}
""".replace("10 s", "10000 ms")

FIRST = {"red shoes": [("a", 2.0), ("b", 2.0)], "rubber boots": [("e", 3.0), ("d", 1.0)]}
SWAPPED = {**FIRST, "red shoes": [("b", 2.0), ("a", 2.0)]}
RESCORED = {**FIRST, "red shoes": [("b", 2.5), ("a", 1.5)]}


@pytest.fixture
def engine(working_folder, engine):
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    return engine


@pytest.fixture
def repeated(engine, capsys):
    """Runs the suite with one of these rankings for each repeat; gives status, JSON and what is printed."""

    def run(*rankings, words=("--repeat", "3")):
        turns = iter(rankings)
        engine.before_search = lambda: engine.rankings.update(next(turns, rankings[-1]))
        status = main(
            [
                "run",
                "shop.relevance.yaml",
                "--url",
                engine.url,
                *words,
                "--output",
                "json=r.json",
                "--output",
                "html=r.html",
            ]
        )
        printed = " ".join(capsys.readouterr().out.split())
        text = Path("r.json").read_text(encoding="utf-8")
        make_validator(report_schema).validate(json.loads(text))
        return status, loads_report(text).suites[0], printed

    return run


def copies(engine, number, node):
    preference = "relevance-harness" + (f"-{number}" if number > 1 else "")
    held = {"state": "STARTED", "primary": node == "n1", "node": node, "index": "products", "shard": 0}
    other = {**held, "node": "n2" if node == "n1" else "n1", "primary": node != "n1"}
    engine.gets[f"/products/_search_shards?preference={preference}"] = {"shards": [[held, other]]}


def test_the_same_rankings_each_time_decide_as_once(repeated, engine):
    status, suite, printed = repeated(FIRST)
    assert status == 0
    assert (suite.repeats.repeats, suite.repeats.unstable) == (3, ())
    assert "each ranking is the same in 3 repeats" in printed
    assert {text: engine.asked[text] for text in FIRST} == {"red shoes": 3, "rubber boots": 3}


def test_a_decision_that_flips_is_inconclusive_and_ties_are_told_with_their_remedy(repeated):
    status, suite, printed = repeated(FIRST, SWAPPED, FIRST)
    mean, every, _, top = suite.verdicts
    assert status == 3
    assert [one.status for one in suite.verdicts] == ["passed", "passed", "passed", "inconclusive"]
    assert (mean.observed, mean.repeats) == (1.0, (0.75, 1.0))
    assert (every.repeats, top.repeats) == ((0.5, 1.0), (1.0, 2.0))
    assert top.reason.startswith(
        "the decision is not stable over 3 repeats: passed in 2, failed in 1, from rank 1 to 2; other rankings of "
        "shoes; break ties in the request (`sort: [_score, FIELD]`, if a field is unique); "
    )
    [unstable] = suite.repeats.unstable
    assert (unstable.query, unstable.cause, unstable.rankings) == ("shoes", "ties", 2)
    assert "1 of 2 queries has several rankings in 3 repeats, as tied documents change places: shoes" in printed
    assert "mean RR@3 >= 0.6: 0.7500 to 1.0000" in printed
    assert "tied documents change places" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("second", "cause"), [("n2", "other copies"), ("n1", "unknown")])
def test_other_scores_are_those_of_other_copies_where_another_one_answered(repeated, engine, second, cause):
    for number, node in ((1, "n1"), (2, second), (3, "n1")):
        copies(engine, number, node)
    _, suite, _ = repeated(FIRST, RESCORED, FIRST)
    [unstable] = suite.repeats.unstable
    assert (unstable.query, unstable.cause) == ("shoes", cause)
    assert [answered["products[0]"].node for answered in suite.timing.repeats] == [second, "n1"]
    remedy = "set `preference`, search a point in time" if cause == "other copies" else "functions a `seed`"
    assert remedy in suite.verdicts[-1].reason


def test_on_an_index_that_moves_that_is_the_cause(repeated, engine):
    counts = iter([3, 3])

    def written_to(answer):
        counted = {"count": next(counts, 2), "_shards": SHARDS}
        engine.gets["/products/_count?preference=relevance-harness"] = counted
        return answer

    engine.change_all = written_to
    written_to(None)
    status, suite, _ = repeated(FIRST, SWAPPED)
    assert status == 3
    assert [one.cause for one in suite.repeats.unstable] == ["moving index"]
    assert "products changed during the run: it had 3 documents and has 2" in suite.verdicts[0].reason


def test_each_repeat_may_reach_other_copies_unless_the_suite_says_which(repeated, engine):
    sent = []
    searched = engine.search_all
    engine.search_all = lambda lines, index: (
        sent.extend(json.loads(line).get("preference") for line in lines[::2]),
        searched(lines, index),
    )[1]
    repeated(FIRST)
    assert list(dict.fromkeys(sent)) == ["relevance-harness", "relevance-harness-2", "relevance-harness-3"]
    Path("shop.relevance.yaml").write_text(
        SUITE.replace("request: {", "request: {url_params: {preference: mine}, body: {").replace('"}}}', '"}}}}'),
        encoding="utf-8",
    )
    sent.clear()
    repeated(FIRST)
    assert {one for one in sent if one != "relevance-harness"} == {"mine"}


def test_a_query_that_fails_in_a_repeat_leaves_its_thresholds_undecided(repeated, engine):
    turns = iter([None, None])
    engine.answers.clear()

    def change(answer):
        if next(turns, "down") == "down":
            for item in answer["responses"]:
                item["status"], item["error"] = 400, {"type": "parsing_exception", "reason": "no such thing"}
        return answer

    engine.change_all = change
    status, suite, printed = repeated(FIRST)
    assert status == 3
    assert {one.status for one in suite.verdicts} == {"inconclusive"}
    assert "undecided in" in suite.verdicts[0].reason
    assert "a repeat has no answer" in printed


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", ""])
def test_a_number_of_repeats_is_one_from_1_on(repeated, capsys, number):
    assert main(["run", "shop.relevance.yaml", "--repeat", number]) == 2
    assert "expected a whole number from 1 on" in capsys.readouterr().err


def test_reports_with_the_same_repeats_are_equal_without_timing(repeated):
    texts = []
    for _ in range(2):
        repeated(FIRST, SWAPPED, FIRST)
        texts.append(without_timing(json.loads(Path("r.json").read_text(encoding="utf-8"))))
    assert texts[0] == texts[1]


def test_a_cluster_that_takes_seconds_to_say_its_state_is_not_asked_after_each_repeat(monkeypatch):
    now, asked = [0.0], []

    def read(seconds, preference):
        asked.append(preference)
        now[0] += seconds
        return IndexState()

    monkeypatch.setattr("harness.run.watching.perf_counter", lambda: now[0])
    watch = TargetWatch(read)
    watch.read_state()
    assert watch.read_copies("one") is None
    now[0] += 200.0
    watch.read_copies("two")
    watch.read_state_if_due()
    assert asked == [None, "two"]


def test_a_budget_that_is_used_up_leaves_out_the_repeats_and_says_so(repeated, monkeypatch):
    clock = count(step=10)
    monkeypatch.setattr("harness.run.watching.perf_counter", lambda: float(next(clock)))
    status, suite, printed = repeated(FIRST, words=("--repeat", "50", "--budget", "600"))
    assert status == 0
    assert 1 < suite.repeats.repeats < 50
    assert f"the time budget of the run sufficed for {suite.repeats.repeats} of 50 repeats" in printed


def test_repeats_are_asked_for_in_python_too(engine):
    with Relevance(options=RunOptions(url=engine.url)) as relevance:
        run = relevance.run("shop.relevance.yaml", repeat=2, warm_up=1)
    assert run.report.repeats == RepeatSummary(2)
    assert engine.asked["red shoes"] == 3


def test_a_query_that_fails_in_a_repeat_is_no_pass_without_thresholds(repeated, engine):
    path = Path("shop.relevance.yaml")
    text = "".join(line for line in SUITE.splitlines(keepends=True) if not line.startswith("thresholds"))
    path.write_text(text.replace(", expect: [a in top 1]", ""), encoding="utf-8")
    searches = iter([lambda: None, lambda: engine.broken.update({"red shoes": 400})])

    def change(rankings=FIRST):
        engine.rankings.update(rankings)
        next(searches, lambda: None)()

    engine.rankings.update(FIRST)
    engine.before_search = change
    assert main(["run", str(path), "--url", engine.url, "-q", "--no-checks", "--repeat", "2"]) == 3


@pytest.mark.parametrize("words", [("--repeat", "3"), ("--repeat", "1")])
def test_ties_below_the_last_hit_are_known_in_each_repeat(repeated, engine, words):
    suite = SUITE.replace('"mean RR@3 >= 0.6", "every RR@3 >= 0.1"', '"drop RR@3 <= 0.02"').replace(
        ", expect: [a in top 1]", ""
    )
    Path("shop.relevance.yaml").write_text(f"{suite}depth: 3\n", encoding="utf-8")
    tied = [(f"x{n}", 2.0) for n in range(6)]
    engine.rankings = {**FIRST, "red shoes": [("a", 2.0), *tied]}
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url]) == 0
    status, report, printed = repeated({**FIRST, "red shoes": [*tied, ("a", 2.0)]}, words=words)
    assert (status, report.verdicts[0].status) == (0, "passed"), printed
