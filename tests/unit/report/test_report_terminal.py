import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from builders.reports import plain_report
from harness.model.report import MissingDocument, QueryReport, RankedDocument
from harness.model.run import Engine, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Waiver
from harness.report.html.run import render
from harness.report.json import dumps_report, loads_report
from harness.report.markdown import render as render_markdown
from harness.report.run_document import build_query_section
from harness.report.terminal import print_query, render_plain
from harness.report.terminal.run import format_failure, format_query, print_report


def row_of(text, word):
    [line] = [line for line in text.splitlines() if word in line]
    return line


def cell_of(line, word):
    return cell_len(line[: line.index(word)])


def test_the_header_names_engine_index_request_gain_and_profile(report):
    text = plain_report(report)
    assert "engine   opensearch 3.8.0 at default, index products" in text
    assert "request  current, 10 hits requested" in text
    assert "gain     exponential, profile standard" in text
    assert "4 in 0.12 s, 2 more not selected" in text
    assert "The mapping may not be read." in text


def test_an_engine_that_was_not_asked_is_said_to_be_stated(report):
    stated = replace(report.suites[0], engine=Engine("elasticsearch", "9.4.3", stated=True))
    assert "elasticsearch 9.4.3 (as stated in the target)" in plain_report(replace(report, suites=(stated,)))


def test_each_measure_has_its_figures_and_its_gain_where_that_differs(report):
    assert row_of(plain_report(report), "P@5      ").split() == [
        "P@5",
        "0.2000",
        "0.2000",
        "0.0000",
        "0.4000",
        "3",
        "1",
        "linear",
    ]


def test_every_threshold_but_passed_ones_of_queries_has_a_line(report):
    text = plain_report(report)
    assert row_of(text, "FAILED            mean nDCG@10 >= 0.80").endswith("0.4707")
    assert "passed            median P@5 >= 0.1" in text
    assert "expected failure  sku-77 in top 3  (query red-shoes)" in text
    assert "hits >= 1" not in text
    assert "and 1 threshold of single queries passed" in text
    assert text.endswith(
        "1 suite, 5 thresholds: 2 passed, 1 failed, 1 error, 1 expected failure; 1 query without an answer"
    )


def test_what_makes_a_passed_threshold_tell_less_stands_below_it(report):
    few = "smallest detectable drop 0.06 (80 % power on average)"
    passed = Verdict("d", "drop nDCG@10 <= 0.02", Status.PASSED, f"It rose; {few}", -0.01, 0.02, caveat=few)
    failed = replace(passed, id="e", threshold="drop P@5 <= 0.02", status=Status.FAILED)
    text = plain_report(replace(report, suites=(replace(report.suites[0], verdicts=(passed, failed)),)))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[[line.startswith("passed  drop nDCG@10 <= 0.02") for line in lines].index(True) + 1] == few
    assert lines.count(few) == 1


def test_outcomes_are_grouped_by_reason(suite, report):
    broken = tuple(QueryReport(f"b{n}", "", Outcome.ERROR, "timeout after 30 s") for n in range(40))
    text = plain_report(replace(report, suites=(replace(suite, queries=suite.queries + broken),)))
    assert "40 queries with outcome error: timeout after 30 s (b0, b1, b2, …)" in text
    assert "1 query with outcome zero hits: no hits (q2)" in text


def test_a_failure_shows_numbers_rankings_and_missing_documents(suite):
    text = format_failure(suite, suite.verdicts[0])
    assert "FAILED  mean nDCG@10 >= 0.80  suites/products.relevance.yaml:14:5" in text
    assert "The mean over 3 queries is too low." in text
    assert "3 queries counted, 1 left out" in text
    assert text.index("query q2") < text.index("query red-shoes")
    assert row_of(text, "文書-17").split()[:6] == ["3", "文書-17", "3", "7", "11", "tied"]
    assert row_of(text, "sku-9").split()[2:4] == ["unjudged", "–"]
    assert row_of(text, "sku-77").endswith("at rank 37")
    assert row_of(text, "sku-78").endswith("not in the first 1,000")


def test_the_need_of_a_query_is_in_each_report(report, suite, red_shoes):
    needed = replace(red_shoes, need="Shoes for women,\nto buy now.")
    assert "\n  need Shoes for women, to buy now.\n" in format_query(needed)
    needing = replace(report, suites=(replace(suite, queries=(needed,), verdicts=(failed(1, needed.id),)),))
    assert "need: Shoes for women, to buy now" in render_markdown(needing)
    assert "Shoes for women" in render(needing)
    assert loads_report(dumps_report(needing)).suites[0].queries[0].need == needed.need


def test_a_total_that_is_a_lower_bound_is_told_as_one(red_shoes):
    assert "; 213 matching)" in format_query(red_shoes)
    assert "; at least 213 matching)" in format_query(replace(red_shoes, total_is_lower_bound=True))


@pytest.mark.parametrize("quiet", [False, True])
def test_an_unexpected_pass_is_told_with_its_reason_once_however_quiet(suite, report, quiet):
    reason = "2 documents match; passed, though expected to fail: waits for synonyms; remove the xfail"
    verdict = Verdict("q", "hits >= 1", Status.XPASSED, reason, 2, 1, query="q4", waiver=Waiver("waits for synonyms"))
    unexpected = replace(report, suites=(replace(suite, verdicts=(verdict,)),), exit_status=0)
    text = render_plain(print_report(unexpected, quiet=quiet), 300)
    assert "UNEXPECTED PASS" in text
    assert text.count("waits for synonyms") == 1
    assert "did not hold" not in text


def test_a_waiver_is_told_with_the_failure(suite):
    assert "waived: waits for synonyms" in format_failure(suite, suite.verdicts[3])


def test_wide_characters_keep_the_columns_straight(red_shoes):
    text = format_query(red_shoes)
    columns = {cell_of(row_of(text, title), title) for title in ("走るための赤い靴", "Red running shoes")}
    assert len(columns) == 1


def test_markup_and_escapes_in_titles_are_shown_not_obeyed(report):
    text = plain_report(report)
    assert r"Red [bold]paint[/bold] \x1b[31mtin" in text
    assert "\x1b" not in text


def test_what_had_no_answer_is_told_once_and_not_with_every_threshold(suite, report):
    down = tuple(QueryReport(f"b{n}", "", Outcome.ERROR, "connection refused") for n in range(3))
    blamed = tuple(query.id for query in down)
    errors = tuple(
        replace(suite.verdicts[1], id=f"e{n}", reason="3 of 3 queries have no score", blamed=blamed) for n in range(9)
    )
    text = plain_report(replace(report, suites=(replace(suite, queries=down, verdicts=errors),)))
    assert text.count("connection refused") == text.count("ERROR") == 1
    assert "ERROR  9 thresholds: no query has an answer" in text
    assert "measure" not in text, "tables without a figure"
    assert len(text.splitlines()) <= 25
    down_report = replace(report, suites=(replace(suite, queries=down, verdicts=errors),))
    quiet = render_plain(print_report(down_report, quiet=True))
    assert quiet.count("connection refused") == quiet.count("ERROR") == 1
    assert "connection refused" in format_failure(replace(suite, queries=down), errors[0])


def test_an_error_with_another_reason_is_explained(suite, report):
    error = replace(suite.verdicts[1], reason="the engine tells no latency", blamed=())
    assert "the engine tells no latency" in plain_report(replace(report, suites=(replace(suite, verdicts=(error,)),)))


def test_colours_are_the_console_s_to_print(report):
    stream = io.StringIO()
    console = Console(file=stream, color_system="standard", force_terminal=True, width=120)
    for renderable in print_report(report):
        console.print(renderable)
    assert "\x1b[1;31m" in stream.getvalue()
    assert "\x1b[31mtin" not in stream.getvalue()


def test_quiet_leaves_what_did_not_hold_and_the_last_line(report):
    lines = render_plain(print_report(report, quiet=True)).splitlines()
    assert lines[0].startswith("products: ERROR every")
    assert lines[1] == "products: FAILED mean nDCG@10 >= 0.80: The mean over 3 queries is too low."
    assert len(lines) == 3


def quiet_lines(report, *verdicts_of_suites):
    """The lines of *report*, as quiet as can be, with a suite like its own for each list of verdicts."""
    own = report.suites[0]
    suites = tuple(replace(own, name=f"s{n}", verdicts=tuple(v)) for n, v in enumerate(verdicts_of_suites))
    return render_plain(print_report(replace(report, suites=suites), quiet=True), 400).splitlines()


def failed_verdict(number, *, threshold="hits >= 1", query=None, status=Status.FAILED, reason="too low"):
    return Verdict(f"v{number}", threshold, status, reason, 0.1, 1, query=query)


def test_quiet_counts_the_queries_of_one_threshold(report):
    verdicts = [failed_verdict(n, query=f"q{n}") for n in range(70)]
    other = failed_verdict(70, query="q1", threshold="hits >= 2", reason="0 documents match")
    lines = quiet_lines(report, [*verdicts, other])
    assert lines[:2] == [
        "s0: FAILED hits >= 1 for 70 queries (q0, q1, q2 and 67 more)",
        "s0: FAILED hits >= 2  (query q1): 0 documents match",
    ]
    assert len(lines) == 3


@pytest.mark.parametrize("suites", [1, 3, 12, 40])
def test_quiet_is_a_few_lines_however_many_thresholds_and_suites_fail(report, suites):
    verdicts = [failed_verdict(n, threshold=f"hits >= {n}") for n in range(20)]
    lines = quiet_lines(report, *[verdicts] * suites)
    assert len(lines) == 12
    assert lines[-2] == f"and {20 * suites - 10:,} more; without --quiet each is explained"
    assert f"{20 * suites:,} failed" in lines[-1]
    assert len({line.split(":")[0] for line in lines[:-2]}) == min(suites, 10)
    assert lines[:-2] == sorted(lines[:-2], key=lambda line: int(line.split(":")[0][1:]))


@pytest.mark.parametrize("length", [1_000, 100_000])
def test_quiet_cuts_what_a_server_quotes_and_a_long_name(report, length):
    verdicts = [failed_verdict(0, reason="x" * length), failed_verdict(1, query="q" * length)]
    lines = quiet_lines(report, verdicts)
    assert [line[-1] for line in lines[:2]] == ["…", "…"]
    assert all(cell_len(line) <= 240 for line in lines)


def test_quiet_says_why_queries_have_no_answer_where_no_threshold_does(suite, report):
    down = QueryReport("b", "", Outcome.ERROR, "connection refused")
    lone = replace(report, suites=(replace(suite, queries=(down,), verdicts=()),), exit_status=3)
    text = render_plain(print_report(lone, quiet=True), 300)
    assert "products: 1 query with outcome error: connection refused (b)" in text


def test_no_line_ends_in_blanks(report):
    assert all(line == line.rstrip() for line in plain_report(report).splitlines())


def test_long_rankings_and_many_missing_documents_are_counted_not_dropped(red_shoes):
    long = replace(
        red_shoes,
        ranking=tuple(RankedDocument(rank, f"d{rank}") for rank in range(1, 101)),
        missing=tuple(MissingDocument(f"m{number}", 1) for number in range(13)),
    )
    text = format_query(long)
    assert "and 90 hits more" in text
    assert "and 3 relevant documents more missing" in text
    assert "d11 " not in text


def test_only_the_worst_queries_of_a_threshold_are_shown(suite, red_shoes):
    many = tuple(replace(red_shoes, id=f"q-{number}") for number in range(8))
    verdict = replace(suite.verdicts[0], blamed=tuple(query.id for query in many))
    text = format_failure(replace(suite, queries=many), verdict)
    assert "query q-2 " in text
    assert "query q-3 " not in text
    assert "and 5 more queries" in text


def test_many_failures_are_all_listed_and_fifty_explained(suite, report):
    verdicts = tuple(Verdict(f"v{n}", f"threshold {n}", Status.FAILED, f"reason {n}.") for n in range(52))
    text = plain_report(replace(report, suites=(replace(suite, verdicts=verdicts),)))
    assert all(f"threshold {n}" in text for n in range(52))
    assert "reason 49." in text
    assert "reason 50." not in text
    assert "2 more thresholds are not explained here" in text


def failed(number, *blamed, query=None):
    return Verdict(f"v{number}", f"threshold {number}", Status.FAILED, f"reason {number}.", query=query, blamed=blamed)


def report_on(report, queries, *verdicts):
    return plain_report(replace(report, suites=(replace(report.suites[0], queries=queries, verdicts=verdicts),)))


def test_a_query_is_shown_once_after_the_verdicts_with_the_thresholds_it_concerns(report, red_shoes):
    other = replace(red_shoes, id="boots", scores={"nDCG@10": 0.25})
    text = report_on(
        report,
        (red_shoes, other),
        failed(1, "boots", "red-shoes"),
        failed(2, "red-shoes"),
        failed(3, "red-shoes", query="red-shoes"),
    )
    assert (text.count("query boots "), text.count("query red-shoes  red running shoes")) == (1, 1)
    assert text.index("reason 3.") < text.index("query boots ") < text.index("query red-shoes  red")
    boots, shoes = text.split("query boots ")[1].split("query red-shoes  red")
    assert "concerns threshold 1\n" in boots
    assert "concerns threshold 1; threshold 2; threshold 3\n" in shoes
    assert "(nDCG@10 0.4121, P@5 0.4000; scored; 213 matching)" in shoes


def test_the_worst_query_of_each_threshold_comes_before_the_second_of_any(report, red_shoes):
    queries = tuple(replace(red_shoes, id=f"q{n}") for n in range(4))
    text = report_on(report, queries, failed(1, "q0", "q1"), failed(2, "q2", "q3"))
    assert re.findall("^ *query (q.) ", text, re.MULTILINE) == ["q0", "q2", "q1", "q3"]


def test_ten_queries_are_shown_and_three_of_one_threshold(report, red_shoes):
    queries = tuple(replace(red_shoes, id=f"q{n}") for n in range(30))
    names = [query.id for query in queries]
    one = report_on(report, queries, failed(1, *names))
    assert re.findall("^ *query (q[0-9]*) ", one, re.MULTILINE) == ["q0", "q1", "q2"]
    assert "27 more queries are affected, with nDCG@10: q" in one
    many = report_on(report, queries, *(failed(n, *names[2 * n : 2 * n + 2]) for n in range(15)))
    assert len(re.findall("^ *query (q[0-9]*) ", many, re.MULTILINE)) == 10
    assert "20 more queries are affected, with nDCG@10: q" in many


def test_a_query_that_concerns_very_many_thresholds_names_a_few(report, red_shoes):
    text = report_on(report, (red_shoes,), *(failed(n, "red-shoes") for n in range(9)))
    assert "concerns threshold 0; threshold 1; threshold 2; threshold 3; threshold 4; and 4 more thresholds" in text


def test_a_missing_document_shows_its_title(suite, red_shoes):
    titled = replace(red_shoes, missing=(MissingDocument("sku-77", 3, 37, 1000, title="Flame \x1b[31mrunner"),))
    assert row_of(format_query(titled), "sku-77").endswith(r"at rank 37   Flame \x1b[31mrunner")
    assert "title" not in row_of(format_query(red_shoes), "missing relevant document")


def test_a_latency_has_its_unit(suite, report):
    verdict = Verdict("p95", "p95 latency <= 20 ms", Status.FAILED, "p95 latency is 34 ms", 34.0, 20.0, unit="ms")
    text = plain_report(replace(report, suites=(replace(suite, verdicts=(verdict,)),)))
    assert "FAILED  p95 latency <= 20 ms  34 ms\n" in text


def test_a_waiver_that_the_reason_tells_is_not_told_again(suite):
    verdict = replace(suite.verdicts[3], reason="sku-77 is at rank 37; expected to fail: waits for synonyms")
    assert format_failure(suite, verdict).count("waits for synonyms") == 1


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_asked(report, width):
    assert max(map(cell_len, plain_report(report, width=width).splitlines())) <= width


def test_an_id_is_never_cut(suite, red_shoes):
    identity = "x" * 90
    odd = replace(red_shoes, ranking=(RankedDocument(1, identity, 1, 1.0, title="t" * 200),), missing=())
    assert render_plain(print_query(build_query_section(odd)), 60).count("x") == 90


@pytest.mark.parametrize("quiet", [False, True])
def test_a_warning_is_told_with_its_reason_however_quiet(suite, report, quiet):
    warned = replace(suite, verdicts=(replace(failed(1), status=Status.WARNED),))
    text = render_plain(print_report(replace(report, suites=(warned,)), quiet=quiet), 300)
    assert "WARNED" in text
    assert text.count("reason 1.") == 1
