"""``relevance plan``: from two sides to what is printed, what is refused, and the exit status."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

import json
from dataclasses import replace
from pathlib import Path

from builders.engine import ScriptedEngine
from harness.cli import main
from harness.extensions.compare.forms import list_added_sides
from harness.extensions.compare.preparing import PreparedComparison

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
measures: ["RR@5", "P@1"]
queries:
"""
BEFORE, AFTER = ["x", "a"], ["a", "x"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """
    Eight queries, and a report with RR@5 0.5 for each; on the engine, RR@5 of three has become 1.

    The mean difference is 0.1875, and the standard deviation of the differences 0.2588.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    lines = [SUITE]
    with ScriptedEngine() as engine:
        for number in range(8):
            lines.append(f"  - {{id: q{number}, text: text {number}, tags: [t{number % 2}], judgments: {{a: 1}}}}\n")
            engine.rankings[f"text {number}"] = BEFORE
        Path("shop.relevance.yaml").write_text("".join(lines), encoding="utf-8")
        run = ["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--output", "json=before.json", "--report-only"]
        assert main(run) == 0
        for number in range(3):
            engine.rankings[f"text {number}"] = AFTER
        yield engine


@pytest.fixture
def plan(shop, capsys):
    """Runs the command; what it printed, its errors, and its exit status."""
    capsys.readouterr()

    def call(*words, effect="0.1"):
        sides = ["report:before.json", "request:current"]
        status = main(["plan", "shop.relevance.yaml", *sides, "--effect", effect, "--url", shop.url, "-q", *words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


def test_it_counts_the_queries_for_each_power(plan):
    status, printed, _ = plan("--measure", "RR@5")
    assert status == 0
    lines = [line.rstrip() for line in printed.splitlines()]
    assert lines[:9] == [
        "request:current against report:before.json",
        "  a difference of the mean by 0.1, in a paired t test at 0.05",
        "",
        "RR@5: 8 queries, difference +0.1875, standard deviation 0.2588",
        "  power  queries  at most  found with 8",
        "  50%         28       37        0.2080",
        "  80%         55       73        0.2992",
        "  90%         73       97        0.3472",
        "  95%         89      120        0.3871",
    ]


def test_json_has_the_same(plan):
    status, printed, _ = plan("--json", "--alternative", "greater", "--level", "0.01")
    assert status == 0
    report = json.loads(printed)
    assert (report["schema"], report["effect"], report["level"], report["alternative"]) == (1, 0.1, 0.01, "greater")
    assert [measure["measure"] for measure in report["measures"]] == ["RR@5", "P@1"]
    first = report["measures"][0]
    assert first["difference"] == 0.1875
    assert [planned["power"] for planned in first["plans"]] == [0.5, 0.8, 0.9, 0.95]
    assert first["plans"][1]["queries"] > 55, "a level of 0.01 needs more"


def test_tags_select_queries_and_too_few_have_no_plan(plan):
    status, printed, _ = plan("--tag", "t0")
    assert status == 0
    assert "RR@5: no plan, 4 queries with a score on both sides, expected 6 or more" in printed.splitlines()


def test_sides_that_do_not_differ_have_no_plan(plan, shop):
    for number in range(3):
        shop.rankings[f"text {number}"] = BEFORE
    status, printed, _ = plan()
    assert status == 0
    reason = "no plan, the difference is the same for each query, so that nothing is known of its spread"
    assert f"RR@5: {reason}" in printed.splitlines()


def test_a_query_without_an_answer_is_left_out_and_named(plan, shop):
    shop.broken["text 7"] = 400
    status, printed, _ = plan("--measure", "RR@5")
    assert status == 3
    assert "RR@5: 7 queries, difference +0.2143, standard deviation 0.2673" in printed.splitlines()
    assert "without an answer of request:current: 1 query (q7)" in printed.splitlines()


def test_without_any_answer_nothing_follows(plan, shop):
    shop.broken.update({f"text {number}": 400 for number in range(8)})
    status, printed, errors = plan()
    assert (status, printed) == (2, "")
    assert "no query has a score of both report:before.json and request:current" in errors


@pytest.mark.parametrize(
    ("words", "effect", "message"),
    [
        ((), "0", "found the effect 0, expected a difference of means above 0, such as 0.02"),
        (("--level", "0.5"), "0.1", "found level 0.5, expected one above 0 and below 0.5, such as 0.05"),
        (("--tag", "gone"), "0.1", "no query has the tag 'gone'"),
        (("--measure", "nope@5"), "0.1", "unknown measure"),
    ],
)
def test_mistakes_end_with_two_and_a_sentence(plan, words, effect, message):
    status, printed, errors = plan(*words, effect=effect)
    assert (status, printed) == (2, "")
    assert message in errors


def test_the_effect_is_required(plan, capsys):
    assert main(["plan", "shop.relevance.yaml", "report:before.json", "request:current"]) == 2
    assert "Missing option '--effect'" in capsys.readouterr().err


def test_weights_make_it_a_weighted_mean(plan):
    path = Path("shop.relevance.yaml")
    text = path.read_text().replace(", text:", ", weight: 1, text:").replace("q0, weight: 1", "q0, weight: 3")
    path.write_text(text)
    status, printed, errors = plan("--measure", "RR@5")
    assert status == 0, errors
    assert "a difference of the weighted mean by 0.1" in printed
    assert "difference +0.2500" in printed  # (3 + 1 + 1) * 0.5 / 10


def test_queries_that_are_not_selected_need_no_answer(plan, shop):
    shop.broken["text 7"] = 400
    report = ["--output", "json=before.json", "--report-only", "-q"]
    assert main(["run", "shop.relevance.yaml", "--url", shop.url, *report]) == 3
    status, printed, _ = plan("--tag", "t0")
    assert status == 0
    assert "without an answer of" not in printed


def test_documents_of_equal_score_are_in_the_order_of_the_reference(plan, monkeypatch):
    score_sides = PreparedComparison.score_sides

    def settle(prepared, candidate):
        pair, scored = score_sides(prepared, candidate)
        return pair, replace(scored, settled=scored.scores[0])

    monkeypatch.setattr(PreparedComparison, "score_sides", settle)
    _, printed, _ = plan("--measure", "RR@5")
    assert "RR@5: no plan, the difference is the same for each query" in printed


def test_the_help_has_all_forms_of_sides(capsys):
    """The help names the sides of other extensions too, as that of `relevance compare` does."""
    assert main(["plan", "--help"]) == 0
    printed = capsys.readouterr().out
    assert "{added}" not in printed
    assert "A and B are each one of" in printed
    for side in list_added_sides():
        assert f"{side.word}:{side.value}" in printed
