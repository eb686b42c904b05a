"""Scores of a run as CSV."""

import csv
from dataclasses import replace

from builders.reports import NDCG, products, report_of
from harness.model.report import MeasureSummary, MissingSuite, QueryReport
from harness.model.scores import Outcome
from harness.report.csv import COLUMNS, render


def summary(measure: str) -> MeasureSummary:
    return MeasureSummary(measure, "exponential", 0.5, 0.5, 0.5, 0.5, 1, 0)


def make_suite_report(*queries: QueryReport, measures=(NDCG,), **changes):
    return replace(products(), queries=queries, summaries=tuple(map(summary, measures)), **changes)


def read_rows(*suites, **changes) -> list[dict[str, str]]:
    text = render(replace(report_of(*suites), **changes))
    return list(csv.DictReader(text.removeprefix("\ufeff").splitlines()))


def test_each_query_of_each_request_has_a_row_with_all_digits_of_its_scores():
    scores = {NDCG: 1 / 3, "P@5": 0.4}
    query = QueryReport("q", "boots", Outcome.SCORED, tags=("head", "shoes"), scores=scores, weight=2.5)
    cells = [make_suite_report(query, measures=(NDCG, "P@5"), request=request) for request in ("now", "next")]
    rows = read_rows(*cells)
    assert [row["request"] for row in rows] == ["now", "next"]
    first = rows[0]
    assert (float(first[NDCG]), first["P@5"], first["weight"]) == (1 / 3, "0.4", "2.5")
    assert (first["query"], first["text"], first["tags"]) == ("q", "boots", "head;shoes")
    assert list(first) == [*COLUMNS, NDCG, "P@5"]


def test_no_score_is_an_empty_cell_as_is_a_measure_of_another_suite():
    undefined = QueryReport("q", "boots", Outcome.UNDEFINED, "no\njudgment", scores={NDCG: None})
    other = QueryReport("q", "boots", Outcome.SCORED, scores={"P@5": 0.0})
    first, second = read_rows(make_suite_report(undefined), make_suite_report(other, measures=("P@5",)))
    assert (first[NDCG], first["P@5"], first["outcome"], first["reason"]) == ("", "", "undefined", "no judgment")
    assert (second[NDCG], second["P@5"]) == ("", "0.0")


def test_formulas_numbers_and_controls_of_texts_are_no_cells_of_a_spreadsheet():
    query = QueryReport('=HYPERLINK("x")', "+1\x1b[2J", Outcome.ERROR, "@SUM(1)", tags=("-a", "=b"))
    text = render(report_of(make_suite_report(query, QueryReport("007", "１;=1", Outcome.SCORED), name="=1+1")))
    rows = list(csv.DictReader(text.removeprefix("\ufeff").splitlines()))
    assert [row["suite"] for row in rows] == ["'=1+1", "'=1+1"]
    assert [row["query"] for row in rows] == ['\'=HYPERLINK("x")', "'007"]
    assert rows[0]["text"] == "'+1\\x1b[2J"
    assert (rows[0]["tags"], rows[0]["reason"]) == ("'-a;'=b", "'@SUM(1)")
    assert rows[1]["text"] == "１;'=1"
    assert text.startswith("\ufeff")


def test_a_suite_that_did_not_run_has_a_row():
    [row] = read_rows(missing=(MissingSuite("b.relevance.yaml", "wrong\nkey"),))
    assert (row["suite"], row["outcome"], row["reason"]) == ("b.relevance.yaml", "did not run", "wrong key")


def test_an_ascii_file_has_no_byte_order_mark():
    assert render(report_of()) == ",".join(COLUMNS) + "\n"
