"""The cells of a report beside one another: what is compared with what, and how it is laid out."""

import pytest

pytest.importorskip("cmarkgfm")

import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from builders.cells import PRECISION, cell, two_requests
from builders.markdown import Page
from builders.reports import NDCG, plain_report, report_of
from harness.model.run import Status
from harness.report import markdown
from harness.report.html.run import render
from harness.report.overview import Figure, build_overview, count_suites, format_compared, name_cells
from harness.report.terminal.run import print_report


def figures(*cells, measure=NDCG):
    return [row.figures.get(measure) for row in build_overview(report_of(*cells)).rows]


# ------------------------------------------------------------------------------------------------ figures


def test_a_report_of_one_cell_needs_no_overview():
    assert build_overview(report_of(cell())) is None
    assert build_overview(report_of()) is None


def test_the_difference_is_that_to_the_first_cell_and_the_greatest_mean_is_best():
    first, second, third = figures(cell(), cell(request="b", scores=(0.9, 0.7)), cell(request="c", scores=(0.5, 0.5)))
    assert first == Figure(pytest.approx(0.6), 2)
    assert second == Figure(pytest.approx(0.8), 2, difference=pytest.approx(0.2), best=True)
    assert third == Figure(pytest.approx(0.5), 2, difference=pytest.approx(-0.1))


def test_the_first_cell_can_be_the_best():
    first, second = figures(cell(), cell(request="b", scores=(0.1, 0.1)))
    assert (first.best, second.best) == (True, False)


def test_where_all_are_equal_none_is_best_and_where_two_are_both_are():
    same = [cell(request=name) for name in "ab"]
    assert [figure.best for figure in figures(*same)] == [False, False]
    assert [figure.best for figure in figures(*same, cell(request="c", scores=(0.1, 0.1)))] == [True, True, False]
    nearly = cell(request="b", scores=(0.5, 0.7 + 1e-11))
    assert [figure.best for figure in figures(cell(), nearly)] == [False, False]


def test_a_mean_over_other_queries_is_not_compared():
    cells = [cell(), cell(request="b", scores=(None, 0.9)), cell(request="c", scores=(0.5, 0.8))]
    first, second, third = figures(*cells)
    assert second == Figure(0.9, 1, partial=True)
    assert (first.partial, third.difference, third.best) == (False, pytest.approx(0.05), True)
    other_way = figures(cells[1], cells[0])
    assert [(one.partial, one.difference, one.best) for one in other_way] == [(True, None, False), (False, None, False)]


def test_a_cell_without_any_score_has_no_mean_and_is_compared_with_nothing():
    first, second = figures(cell(scores=(None, None)), cell(request="b"))
    assert first == Figure(None, 0, partial=True)
    assert (second.mean, second.difference, second.best) == (pytest.approx(0.6), None, False)
    assert figures(cell(scores=(None, None)), cell(request="b", scores=(None, None)))[1] == Figure(None, 0)


def test_suites_are_not_compared_with_each_other():
    found = build_overview(report_of(cell("shop"), cell("store", scores=(0.9, 0.9), measures=(PRECISION,))))
    assert found.measures == (NDCG, PRECISION)
    assert [list(row.figures) for row in found.rows] == [[NDCG], [PRECISION]]
    assert all(figure.difference is None and not figure.best for row in found.rows for figure in row.figures.values())


def test_two_suites_of_one_name_are_told_apart_by_their_files():
    other = replace(cell(scores=(0.9, 0.9)), path="other.relevance.yaml")
    assert figures(cell(), other)[1].difference is None


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=2, max_size=6))
def test_no_cell_beats_the_best_and_differences_add_up(scores):
    found = figures(*(cell(request=str(number), scores=pair) for number, pair in enumerate(scores)))
    greatest = max(figure.mean for figure in found)
    assert all(figure.mean >= greatest - 1e-9 for figure in found if figure.best)
    assert any(figure.best for figure in found) == (greatest - min(figure.mean for figure in found) > 1e-9)
    for figure in found[1:]:
        assert found[0].mean + figure.difference == pytest.approx(figure.mean)


def test_thresholds_are_counted_as_held_failed_undecided_and_others():
    row = build_overview(report_of(cell(statuses=tuple(Status)), cell("store"))).rows[0]
    assert (row.held, row.failed, row.errors, row.other) == (2, 1, 2, 4)
    assert row.held + row.failed + row.errors + row.other == len(Status)


# ------------------------------------------------------------------------------------------------ names


def test_a_cell_is_called_by_what_tells_it_from_the_others_of_its_suite():
    assert name_cells([cell(), cell("store")]) == ("shop", "store")
    assert name_cells([cell(), cell(request="candidate"), cell("store")]) == (
        "shop, request current",
        "shop, request candidate",
        "store",
    )
    assert name_cells([cell(index="v1"), cell(index="v2")]) == ("shop, index v1", "shop, index v2")
    four = [cell(request=request, index=index) for request in "ab" for index in ("v1", "v2")]
    assert name_cells(four)[3] == "shop, request b, index v2"
    of_service = [cell(index="v1"), cell(request="app", index=None)]
    assert name_cells(of_service) == ("shop, request current, index v1", "shop, request app")


def test_cells_are_not_taken_for_suites():
    assert count_suites(report_of(cell())) == "1 suite"
    assert count_suites(report_of(cell(), cell("store"))) == "2 suites"
    assert count_suites(report_of(cell(), cell(index="v2"), cell("store"))) == "2 suites in 3 cells"


# ------------------------------------------------------------------------------------------------ on a terminal


def table_of(report, width=120):
    text = plain_report(report, width=width)
    return [line.split() for line in text[text.index("\nsuite ") :].splitlines()]


def test_the_table_has_a_line_a_cell_and_a_column_a_measure():
    assert table_of(two_requests())[1:4] == [
        ["suite", "request", "nDCG@10", "P@5", "queries", "held", "failed", "errors"],
        ["shop", "current", "0.6000", "0.6000*", "2", "1", "0", "0"],
        ["shop", "candidate", "0.7500*", "+0.1500", "0.5500", "-0.0500", "2", "0", "1", "1"],
    ]


def test_what_has_to_be_known_stands_below_the_table():
    text = plain_report(two_requests())
    for remark in ("* the greatest mean of a suite's cells", "differences are relative to the suite's first cell"):
        assert f"\n{remark}\n" in text
    assert "\ngain exponential\n" in text
    assert "not compared" not in text
    assert text.endswith("1 suite in 2 cells, 3 thresholds: 1 passed, 1 failed, 1 error")


def test_suites_whose_means_are_weighted_are_named():
    plain_one = cell()
    weighted = replace(plain_one, summaries=tuple(replace(one, weighted=True) for one in plain_one.summaries))
    text = plain_report(report_of(weighted, replace(weighted, request="b"), cell("store")))
    assert "\nmeans are weighted by query: shop\n" in text
    assert "are weighted" not in plain_report(two_requests())


def test_every_cell_s_own_part_says_which_it_is():
    text = plain_report(two_requests())
    assert "shop, request current  shop.relevance.yaml\n" in text
    assert "shop, request candidate  shop.relevance.yaml\n" in text
    quiet = "\n".join(str(line) for line in print_report(two_requests(), quiet=True))
    assert "shop, request candidate: FAILED hits >= 0: because" in quiet
    assert "nDCG" not in quiet


def test_columns_that_say_nothing_are_left_out_and_others_are_not():
    assert table_of(report_of(cell(), cell(index="v2")))[1][:3] == ["suite", "index", "nDCG@10"]
    headings = table_of(report_of(cell(), cell("store", request="b", index="w", gain="linear", statuses=())))[1]
    assert headings == ["suite", "request", "gain", "nDCG@10", "queries", "held", "failed", "errors"]
    waived = table_of(report_of(cell(statuses=(Status.XFAILED,)), cell("store")))[1]
    assert waived[-1] == "other"


def test_a_mean_over_fewer_queries_says_over_how_many():
    lines = table_of(report_of(cell(), cell(request="b", scores=(None, 0.9))))
    assert lines[3][:5] == ["shop", "b", "0.9000", "of", "1"]
    assert " ".join(lines[5]) == "a mean over fewer queries than another cell's is not compared"


@pytest.mark.parametrize("width", [50, 60, 80, 120])
def test_what_does_not_fit_stands_in_another_table_with_the_names_again(width):
    measures = tuple(f"nDCG@{cutoff}" for cutoff in range(1, 9))
    cells = [cell(measures=measures), cell(request="candidate", scores=(0.9, 0.7), measures=measures)]
    text = plain_report(report_of(*cells), width=width)
    part = text[text.index("\nsuite ") :]
    lines = part.splitlines()
    assert max(map(len, lines)) <= width
    tables = sum(line.startswith("suite ") for line in lines)
    assert tables == sum(line.split()[:2] == ["shop", "candidate"] for line in lines) > 1
    for measure in measures:
        assert part.count(f"{measure} ") + part.count(f"{measure}\n") == 1
    assert part.count("0.8000* +0.2000") == len(measures)


def test_a_table_of_other_measures_leaves_a_suite_out():
    many = tuple(f"P@{cutoff}" for cutoff in range(1, 9))
    text = plain_report(report_of(cell("shop"), cell("store", measures=many)), width=60)
    shop = [line for line in text[text.index("\nsuite ") :].splitlines() if line.startswith("shop")]
    assert len(shop) == 2  # with its measure, and with the counts


def test_the_best_is_marked_by_a_sign_and_in_colour():
    console = Console(file=io.StringIO(), width=120, color_system="standard", force_terminal=True)
    for renderable in print_report(two_requests()):
        console.print(renderable, highlight=False)
    assert "\x1b[1;32m0.7500\x1b[0m*" in console.file.getvalue()


def test_names_of_others_cannot_write_on_the_terminal():
    text = plain_report(report_of(cell("\x1b[31mshop"), cell("\x1b[31mshop", request="[bold]b")))
    assert "\x1b" not in text
    assert "[bold]b" in text


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(0.5, 3), ""),
        (Figure(0.5, 3, difference=0.12345), "+0.1235"),
        (Figure(0.5, 3, difference=-0.25), "-0.2500"),
        (Figure(0.5, 3, difference=-0.00001), "="),
        (Figure(0.5, 3, difference=0.0), "="),
        (Figure(0.5, 1234, partial=True), "of 1,234"),
    ],
)
def test_what_stands_beside_a_mean(figure, text):
    assert format_compared(figure) == text


# ------------------------------------------------------------------------------------------------ on the page


def test_the_page_has_the_table_on_top_with_a_link_to_each_cell():
    page = render(two_requests())
    first, table = page[page.index('id="first-suites"') : page.index("</section>")].split("All suites")
    assert first.count('href="#shop:') == 1
    assert 'class="part" open>' in first
    assert table.index('href="#shop:current/"') < table.index('href="#shop:candidate/"')
    assert 'aria-label="shop, request candidate">shop</a></th>' in table
    assert '<span class="strong rise">0.7500</span>*<span class="rise"> +0.1500</span>' in table
    assert '0.5500<span class="fall"> -0.0500</span>' in table
    assert "the greatest mean of a suite&#39;s cells" in table
    assert "<nav" not in page


def test_anchors_of_cells_do_not_clash():
    page = render(two_requests())
    anchors = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(anchors) == len(set(anchors))
    assert '<h2 id="s2-name"><span>shop, request candidate ' in page


def test_a_page_of_one_cell_has_no_such_table():
    page = render(report_of(cell()))
    assert "<nav" not in page
    assert "first-suites" not in page


def test_names_of_others_are_escaped_in_the_table():
    page = render(report_of(cell("<script>x"), cell("<script>x", request="<b>", index="<i>")))
    assert "<b>" not in page[page.index("<nav") : page.index("</nav>")]
    assert "<i>" not in page[page.index("<nav") : page.index("</nav>")]


# ------------------------------------------------------------------------------------------------ in a job summary


def test_a_job_summary_begins_with_the_table():
    page = Page(markdown.render(two_requests()))
    assert [[one.split("\n")[0].strip() for one in row] for row in page.rows[:3]] == [
        ["suite", "request", "nDCG@10", "P@5", "queries", "held", "failed", "errors"],
        ["shop", "current", "0.6000", "0.6000*", "2", "1", "0", "0"],
        ["shop", "candidate", "0.7500* +0.1500", "0.5500 -0.0500", "2", "0", "1", "1"],
    ]
    text = markdown.render(two_requests())
    assert text.index("### shop, request current") < text.index("### shop, request candidate")
    assert (
        "greatest mean of a suite's cells; differences are relative to the suite's first cell; gain exponential" in text
    )


def test_a_job_summary_of_one_cell_has_no_such_table():
    assert "held" not in markdown.render(report_of(cell()))


def test_what_a_mean_lacks_and_names_of_others_are_told_safely_in_a_job_summary():
    cells = [cell("a|b", index="x|y"), cell("a|b", index="z", scores=(None, 0.9)), cell("store", measures=(PRECISION,))]
    rows = [[one.strip() for one in row] for row in Page(markdown.render(report_of(*cells))).rows[:4]]
    assert rows[2][:3] == ["a|b", "z", "0.9000 of 1"]
    assert rows[1][:2] == ["a|b", "x|y"]
    assert [len(row) for row in rows] == 4 * [8]
