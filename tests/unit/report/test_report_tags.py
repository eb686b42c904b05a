"""The table by tag, as lines and on a terminal."""

from dataclasses import replace

import pytest

from builders.reports import plain_report, report_of
from builders.reports import tag_lines as lines
from harness.model.report import MeasureSummary, QueryReport, TagSummary
from harness.model.run import Status, Verdict
from harness.model.scores import Outcome
from harness.report import markdown
from harness.report.html import run as html
from harness.report.json import dumps_report, loads_report
from harness.report.overview import TAG_LINES, build_tag_table
from harness.report.run_sentences import describe_mean_interval


def summary(measure, mean, counted, *, left_out=0, weighted=False):
    return MeasureSummary(measure, "", mean, mean, mean, mean, counted, left_out, weighted)


def query(name, *tags, weight=1.0):
    return QueryReport(name, name, Outcome.SCORED, tags=tags, weight=weight)


@pytest.fixture
def tagged(suite):
    """Three tags: one held to thresholds, one of which queries were left out, one that a query shares."""
    queries = (query("a", "head"), query("b", "head", "new"), query("c", "tail"), query("d", "tail"), query("e"))
    verdicts = (
        Verdict("m", "mean nDCG@10 >= 0.9 for head", Status.FAILED, "too low", 0.8, 0.9, "nDCG@10", "head"),
        Verdict("e", "every nDCG@10 >= 0.1 for head", Status.PASSED, "", 0.5, 0.1, "nDCG@10", "head"),
    )
    return replace(
        suite,
        queries=queries,
        verdicts=verdicts,
        summaries=(summary("nDCG@10", 0.61, 5), summary("P@5", 0.3, 5)),
        tags=(
            TagSummary("head", 2, 0.4, (summary("nDCG@10", 0.8, 2), summary("P@5", 0.4, 2)), ("m", "e")),
            TagSummary("tail", 2, 0.4, (summary("nDCG@10", 0.5, 1, left_out=1), summary("P@5", None, 0, left_out=2))),
            TagSummary("new", 1, 0.2, (summary("nDCG@10", 0.25, 1), summary("P@5", 0.2, 1))),
            TagSummary(None, 1, 0.2, (summary("nDCG@10", 1.0, 1), summary("P@5", 0.0, 1))),
        ),
    )


def test_a_line_a_tag_and_a_column_a_measure(tagged):
    assert lines(tagged) == [
        "  mean by tag  queries      nDCG@10     P@5  thresholds",
        "  all                5       0.6100  0.3000",
        "  head               2       0.8000  0.4000  1 passed, 1 failed",
        "  tail               2  0.5000 of 1       –",
        "  new                1       0.2500  0.2000",
        "  no tag             1       1.0000  0.0000",
        "  1 query has several tags and is counted for each",
    ]


def test_weights_have_a_column_and_the_means_say_so(tagged):
    queries = tuple(replace(one, weight=float(number)) for number, one in enumerate(tagged.queries, start=1))
    table = lines(replace(tagged, queries=queries))
    assert table[0].split() == ["mean", "(weighted)", "by", "tag", "queries", "weight", "nDCG@10", "P@5", "thresholds"]
    assert table[2].split()[:4] == ["head", "2", "40.0%", "0.8000"]


def test_the_intervals_of_up_to_two_measures_have_columns(tagged):
    first, second = tagged.summaries
    bounded = replace(tagged, summaries=(replace(first, interval=(0.5, 0.72)), second))
    table = lines(bounded, width=120)
    assert table[0].split("  ")[-1] == "thresholds"
    assert table[0].count("95 % interval") == 2
    assert table[1].split() == ["all", "5", "0.6100", "0.5000", "to", "0.7200", "0.3000", "–"]
    tags = tuple(replace(tag, summaries=(*tag.summaries, second)) for tag in tagged.tags)
    three = replace(bounded, summaries=(*bounded.summaries, second), tags=tags)
    assert "interval" not in " ".join(lines(three, width=120))
    for render in (plain_report, markdown.render, html.render):
        report = report_of(bounded)
        assert "0.5000 to 0.7200" in render(report)
        assert "95 % interval" in render(report).replace("&nbsp;", " ")


def test_a_mean_without_an_interval_for_its_weights_says_so_with_their_number(tagged):
    first, second = tagged.summaries
    unequal = replace(first, counted=30, weighted=True, counts_as=4)
    of_tag, *others = tagged.tags[0].summaries
    head = replace(tagged.tags[0], summaries=(replace(of_tag, counted=12, counts_as=3), *others))
    suite = replace(tagged, summaries=(unequal, second), tags=(head, *tagged.tags[1:]))
    why = "its 30 queries count as 4 by their weights, expected at least 20"
    for render in (plain_report, markdown.render):
        rendered = " ".join(render(report_of(suite)).split()).lower()
        assert "no 95 % interval of the mean of " in rendered
        assert why in rendered
        assert "no 95 % interval of head (its 12 queries count as 3 by their weights, expected at least 8)" in rendered
    assert f"no interval: {why}" in html.render(report_of(suite))
    assert loads_report(dumps_report(report_of(suite))).suites[0].summaries[0].counts_as == 4
    of_head, _ = suite.verdicts
    of_all = replace(of_head, tag=None, observed=unequal.mean)
    assert describe_mean_interval(suite, of_all) == f"no 95 % interval of this mean: {why}"


def test_the_interval_of_a_verdict_is_that_of_its_tag_and_of_the_mean_that_was_observed(tagged):
    everywhere = replace(tagged.summaries[0], interval=(0.5, 0.72))
    head = replace(tagged.tags[0], summaries=(replace(tagged.tags[0].summaries[0], interval=(0.7, 0.9)),))
    bounded = replace(tagged, summaries=(everywhere,), tags=(head, *tagged.tags[1:]))
    of_head, least_of_head = bounded.verdicts
    of_all = replace(of_head, tag=None, observed=0.61)
    assert describe_mean_interval(bounded, of_head) == "95 % interval of this mean: 0.7000 to 0.9000, over 2 queries"
    assert describe_mean_interval(bounded, of_all) == "95 % interval of this mean: 0.5000 to 0.7200, over 5 queries"
    others = [
        least_of_head,
        replace(of_head, tag="tail", observed=0.5),  # no interval
        replace(of_all, query="a"),
        replace(of_all, measure="P@5"),
        replace(of_all, tag="gone"),
    ]
    assert [describe_mean_interval(bounded, verdict) for verdict in others] == [""] * len(others)


def test_it_stands_below_the_measures(tagged, report):
    text = plain_report(replace(report, suites=(tagged,)))
    assert text.index("FAILED") < text.index("left out") < text.index("mean by tag")


def test_without_tags_there_is_no_table(suite, report):
    assert build_tag_table(suite) is None
    assert lines(suite) == []
    assert "by tag" not in plain_report(report)


def test_a_measure_whose_mean_is_weighted_says_so_in_its_heading(suite, report):
    weighted = replace(suite, summaries=(replace(suite.summaries[0], weighted=True), suite.summaries[1]))
    for shown in (plain_report, markdown.render):
        assert "mean (weighted)" in shown(replace(report, suites=(weighted,)))
        assert "weighted" not in shown(report)


def many(tagged, count):
    tags = [TagSummary(f"t{n:02}", 1, 1 / count, (summary("nDCG@10", 0.5, 1),)) for n in range(count)]
    tags[-1] = replace(tags[-1], verdicts=("m",))
    return replace(tagged, tags=tuple(tags), summaries=tagged.summaries[:1])


def test_many_tags_are_counted_and_those_with_thresholds_are_shown(tagged):
    table = build_tag_table(many(tagged, 40))
    shown = [row.tag for row in table.rows if row.tag is not None]
    assert shown == [*(f"t{n:02}" for n in range(TAG_LINES - 1)), "t39"]
    assert table.remarks[-1] == "28 more tags in the JSON report"


def test_many_measures_are_counted(tagged):
    names = [f"P@{k}" for k in range(1, 9)]
    of_all = tuple(summary(name, 0.5, 5) for name in names)
    table = build_tag_table(replace(tagged, summaries=of_all))
    assert table.measures == tuple(names[:5])
    assert table.remarks[-1] == "3 more measures in the JSON report"


def test_a_narrow_terminal_folds_names_and_never_figures(tagged):
    renamed = replace(
        tagged, summaries=tuple(replace(s, measure=f"nDCG(gain=linear, max=3)@{s.counted}") for s in tagged.summaries)
    )
    text = "\n".join(lines(renamed, width=56))
    assert "0.8000" in text
    assert "0.4000" in text


def test_tags_cannot_draw_on_the_terminal(tagged):
    wild = replace(tagged, tags=(replace(tagged.tags[0], tag="\x1b[31mhead"), *tagged.tags[1:]))
    text = "\n".join(lines(wild))
    assert "\x1b" not in text
    assert "\\x1b[31mhead" in text


def test_json_holds_it_and_reads_it_again(tagged, report):
    whole = replace(report, suites=(tagged,))
    assert loads_report(dumps_report(whole)) == whole


def test_a_report_that_was_written_without_tags_and_weights_is_read(report):
    import json

    raw = json.loads(dumps_report(report))
    for suite in raw["suites"]:
        del suite["tags"]
        for one in suite["queries"]:
            del one["weight"]
        for one in suite["summaries"]:
            del one["weighted"]
    assert loads_report(json.dumps(raw)) == report
