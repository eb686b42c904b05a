"""Reports with every kind of line in them, and ids and titles that want to misbehave."""

from dataclasses import replace

from harness.model.report import MeasureSummary, MissingDocument, QueryReport, RankedDocument, Report, SuiteReport
from harness.model.run import Engine, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Mark, Profile, Waiver
from harness.model.timing import QueryTiming, ReportTiming, SuiteTiming
from harness.report.overview import build_tag_table
from harness.report.run_document import build_tags_table
from harness.report.terminal import WIDTH, print_block, render_plain
from harness.report.terminal.run import print_report

NDCG = "nDCG@10"
HOSTILE = (
    """<script>document.title='owned'</script>"'><img src=x onerror="document.title='owned'">"""
    """{{ 7 * 7 }}</style></script>"""
)


def red_shoes() -> QueryReport:
    """A query with ties, an unjudged hit, an escape in a title, and relevant documents that are missing."""
    return QueryReport(
        "red-shoes",
        "red running shoes",
        Outcome.SCORED,
        tags=("head",),
        scores={NDCG: 0.41213, "P@5": 0.4},
        ranking=(
            RankedDocument(1, "sku-4", 0, 0.0, 12.25, "Red [bold]paint[/bold] \x1b[31mtin"),
            RankedDocument(2, "sku-9", None, None, 11.0, "走るための赤い靴", tied=True),
            RankedDocument(3, "文書-17", 3, 7.0, 11.0, "Red running shoes", tied=True),
            RankedDocument(4, "sku-2", 1, 1.0, 3.14159),
        ),
        ideal=(
            RankedDocument(1, "文書-17", 3, 7.0),
            RankedDocument(2, "sku-77", 3, 7.0),
            RankedDocument(3, "sku-2", 1, 1),
        ),
        missing=(MissingDocument("sku-77", 3, rank=37, searched=1000), MissingDocument("sku-78", 2, None, 1000)),
        total=213,
        judged=5,
        timing=QueryTiming(3.0),
    )


def numbered_query(number: int, score: float | None, tags=(), text: str | None = None) -> QueryReport:
    """One of many: q1, q2, … with hostile titles, *number* documents that match, and one that is missing."""
    ranking = tuple(RankedDocument(rank, f"d{rank}", rank % 3, float(rank % 3), 1.0, HOSTILE) for rank in range(1, 5))
    return QueryReport(
        f"q{number}",
        text or f"text {number}",
        Outcome.SCORED,
        "",
        tags,
        {NDCG: score},
        ranking,
        ranking,
        (MissingDocument("m1", 2, 14, 100),),
        number,
    )


def products_verdicts() -> tuple[Verdict, ...]:
    """A failure, an error, two that hold, and an expected failure."""
    waiver = Waiver("waits for synonyms")
    failed = Verdict(
        "mean-nDCG-10-ge-0.8",
        "mean nDCG@10 >= 0.80",
        Status.FAILED,
        "The mean over 3 queries is too low.",
        observed=0.47071,
        required=0.8,
        measure=NDCG,
        blamed=("q2", "red-shoes"),
        counted=3,
        left_out=1,
        mark=Mark("suites/products.relevance.yaml", 14, 5),
    )
    unscored = "1 query has no ranking"
    expected = Verdict(
        "query.red-shoes.x",
        "sku-77 in top 3",
        Status.XFAILED,
        "sku-77 is at rank 37",
        37,
        3,
        query="red-shoes",
        blamed=("red-shoes",),
        waiver=waiver,
    )
    return (
        failed,
        Verdict("every", "every nDCG@10 >= 0.3", Status.ERROR, unscored, None, 0.3, NDCG, blamed=("q3",)),
        Verdict("p5", "median P@5 >= 0.1", Status.PASSED, "It holds.", 0.2, 0.1, "P@5", counted=3),
        expected,
        Verdict("query.q4.y", "hits >= 1", Status.PASSED, "", 1, 1, query="q4"),
    )


def products() -> SuiteReport:
    """A suite of four queries, one of each outcome that is usual."""
    script = "<script>alert(1)</script>"
    zero = QueryReport("q2", script, Outcome.ZERO_HITS, "no hits", (), {NDCG: 0.0, "P@5": 0.0}, total=0, judged=2)
    broken = QueryReport("q3", "boots", Outcome.ERROR, "failed shards: 1 of 5", (), {NDCG: None, "P@5": None})
    ranking = (RankedDocument(1, "a", 3, 7.0, 1.0),)
    hat = QueryReport("q4", "hat", Outcome.SCORED, "", ("tail",), {NDCG: 1.0, "P@5": 0.2}, ranking, total=1)
    return SuiteReport(
        "products",
        "suites/products.relevance.yaml",
        "current",
        "default",
        "products",
        Engine("opensearch", "3.8.0"),
        Profile.STANDARD,
        "exponential",
        10,
        (
            MeasureSummary(NDCG, "exponential", 0.4707, 0.4121, 0.0, 1.0, 3, 1),
            MeasureSummary("P@5", "linear", 0.2, 0.2, 0.0, 0.4, 3, 1),
        ),
        products_verdicts(),
        (red_shoes(), zero, broken, hat),
        ("The mapping may not be read.",),
        2,
        timing=SuiteTiming(search_seconds=0.123),
    )


def report_of(*suites: SuiteReport, exit_status: int = 3) -> Report:
    """A report of *suites*."""
    return Report(ReportTiming("2026-11-21T06:00:00Z"), "0.1.0", suites, exit_status)


def measured(report: Report, measures) -> Report:
    """The first suite of *report* with *measures* alone, each 0.5 for each query."""
    suite = report.suites[0]
    summaries = tuple(replace(suite.summaries[0], measure=name) for name in measures)
    queries = tuple(replace(one, scores=dict.fromkeys(measures, 0.5)) for one in suite.queries)
    return replace(report, suites=(replace(suite, summaries=summaries, queries=queries),))


def plain_report(report: Report, *, width: int = WIDTH) -> str:
    """*report* as a terminal of *width* columns shows it, without colours."""
    return render_plain(print_report(report), width)


def tag_lines(suite: SuiteReport, width: int = 100) -> list[str]:
    """The table by tag of *suite* as a terminal of *width* columns shows it; none where no query has a tag."""
    tags = build_tag_table(suite)
    if tags is None:
        return []
    return [line.rstrip() for line in render_plain(print_block(build_tags_table(tags)), width).splitlines()]


def without_timing(value):
    """What `dumps_report` and its like wrote, as JSON values, without all that time and transport move."""
    if isinstance(value, dict):
        return {key: without_timing(held) for key, held in value.items() if key != "timing"}
    return [without_timing(held) for held in value] if isinstance(value, list) else value
