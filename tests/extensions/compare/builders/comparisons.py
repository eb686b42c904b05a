"""Comparisons with every kind of line in them."""

from dataclasses import fields, replace

from harness.extensions.compare.model import ComparisonReport, QueryComparison, Side, SideComparison, SideKind
from harness.model.comparison import Agreement, Comparison, MeasureComparison, MovedDocument
from harness.model.kept import TextDiff
from harness.model.run import Status, Verdict
from harness.model.suite import Mark, Profile
from harness.model.timing import ReportTiming

NDCG = "nDCG@10"
ODD = (
    "a|b",
    "[bold]b[/bold]",
    "\x1b[31mred\x1b[0m",
    "line\nfeed",
    "\u202eevil\u202c",
    "עברית",
    "@someone #12",
    "**b** `c` <b>",
    "\ud800",
    "x" * 400,
    "",
)
"""Ids and titles that want to misbehave."""


def row(measure=NDCG, **changes) -> MeasureComparison:
    """A measure that rose, and of whose queries two moved."""
    usual = MeasureComparison(
        measure=measure,
        queries=4,
        reference=0.553,
        candidate=0.628,
        difference=0.075,
        low=-0.1,
        high=0.25,
        p_value=0.375,
        adjusted=0.75,
        least_p=0.0625,
        wins=1,
        ties=2,
        losses=1,
        effect=0.4,
        detectable=0.21,
        moved=(("red-shoes", 0.4121, 0.9121), ("boots", 0.7, 0.5)),
    )
    return replace(usual, **changes)


def red_shoes() -> QueryComparison:
    """Its documents entered, left, rose, fell, turned with equal scores and stayed."""
    documents = (
        MovedDocument("sku-17", 3, 1, 3, 7.0, "Red running shoes"),
        MovedDocument("sku-4", 1, 2, 0, 0.0, "Red [bold]paint[/bold] \x1b[31mtin"),
        MovedDocument("文書-22", None, 3, None, None, "走るための赤い靴"),
        MovedDocument("sku-9", 5, 4, None, None, None, tied=True),
        MovedDocument("sku-8", 4, 5, 1, 1.0, None, tied=True),
        MovedDocument("sku-6", 6, 6, 2, 3.0),
        MovedDocument("sku-2", 2, None, 1, 1.0, "Red socks"),
        MovedDocument("sku-3", 7, None, -1, -1.0),
    )
    scores = {NDCG: (0.4121, 0.9121), "P@5": (0.4, 0.4)}
    return QueryComparison(
        "red-shoes", "red running shoes", ("head",), scores, documents, 1, 2, 4, rbo=0.6123, overlap=0.7143, tau=0.2
    )


def boots() -> QueryComparison:
    """A query that fell, with another order of the same documents."""
    documents = (MovedDocument("b2", 2, 1, 0, 0.0), MovedDocument("b1", 1, 2, 3, 7.0))
    scores = {NDCG: (0.7, 0.5), "P@5": (0.2, 0.2)}
    return QueryComparison("boots", "winter boots", ("head",), scores, documents, 0, 0, 2, 0.9, 1.0, -1.0)


def turned_ties() -> QueryComparison:
    """A query of which only equal scores changed their order."""
    documents = (MovedDocument("t2", 2, 1, tied=True), MovedDocument("t1", 1, 2, tied=True))
    scores = {NDCG: (0.5, 0.5), "P@5": (0.2, 0.2)}
    return QueryComparison("ties", "green tea", ("tail",), scores, documents, 0, 0, 2, 0.9, 1.0, -1.0, ties_only=True)


def unchanged(query="hat", text="a hat") -> QueryComparison:
    """A query of which nothing changed."""
    scores = {NDCG: (0.6, 0.6), "P@5": (0.2, 0.2)}
    return QueryComparison(query, text, ("tail",), scores, (MovedDocument("h1", 1, 1, 3, 7.0),), 0, 0, 0, 1.0, 1.0)


def unanswered() -> QueryComparison:
    """A query that one side has no ranking for."""
    return QueryComparison("gloves", "gloves", (), {NDCG: (0.3, None), "P@5": (0.2, None)})


def verdicts() -> tuple[Verdict, ...]:
    """A drop that is too great, an agreement that is reached, and a query's own threshold that holds."""
    reason = "boots fell by 0.2, at most 0.1 is allowed"
    mark = Mark("suites/products.relevance.yaml", 14, 5)
    failed = Verdict(
        "d", "drop every nDCG@10 <= 0.1", Status.FAILED, reason, 0.2, 0.1, NDCG, blamed=("boots",), mark=mark
    )
    held = Verdict("r", "mean RBO >= 0.8", Status.PASSED, "the mean is 0.8531", 0.8531, 0.8)
    return failed, held, Verdict("q", "hits >= 1", Status.PASSED, "", 3, 1, query="hat")


def comparison(*rows: MeasureComparison) -> Comparison:
    """How *rows* were tested, or nDCG@10 and P@5 where none are given."""
    still = row("P@5", reference=0.25, candidate=0.25, difference=0.0, low=0.0, high=0.0, p_value=1.0, adjusted=1.0)
    usual = (row(), replace(still, wins=0, ties=4, losses=0, detectable=None, moved=()))
    return Comparison(
        "baseline", "candidate", "sign-flip", "two-sided", 0.05, "holm", rows or usual, {NDCG: 1}, 10_000, 20_020_101
    )


def comparison_report(**changes) -> ComparisonReport:
    """A request against its baseline: five queries, one of each change."""
    usual = ComparisonReport(
        timing=ReportTiming("2026-11-21T06:00:00Z"),
        harness="0.1.0",
        suite="products",
        reference=Side("baseline", SideKind.BASELINE, "opensearch 3.7.0", "current", "products", "2026-11-01"),
        candidate=Side(
            "candidate",
            SideKind.REQUEST,
            "opensearch 3.8.0",
            "candidate",
            "products",
            unanswered={"gloves": "failed shards: 1 of 5"},
        ),
        gain="exponential",
        profile=Profile.STANDARD,
        depth=10,
        measures=comparison(),
        agreement=Agreement(10, 0.9, 4, 0.8531, 0.9286, -0.6, 3, 1, 3, 2),
        queries=(red_shoes(), boots(), turned_ties(), unchanged(), unanswered()),
        verdicts=verdicts(),
        notes=("the judgments changed since the baseline: 2 queries",),
        only_reference=("socks",),
        only_candidate=("scarf", "mittens"),
        exit_status=3,
    )
    return replace(usual, **changes)


def sides_report(*comparisons: ComparisonReport) -> ComparisonReport:
    """One report of several sides: *comparisons* with one reference."""
    parts = []
    for one in comparisons:
        parts.append(SideComparison(**{part.name: getattr(one, part.name) for part in fields(SideComparison)}))
    status = max(one.exit_status for one in comparisons)
    return replace(comparisons[0], further=tuple(parts[1:]), exit_status=status)


def hostile_report(text: str) -> ComparisonReport:
    """*text* wherever a report has one."""
    documents = tuple(replace(document, id=text, title=text) for document in red_shoes().documents)
    query = replace(red_shoes(), id=text, text=text, tags=(text,), scores={text: (0.1, 0.2)}, documents=documents)
    side = Side(text, SideKind.RUN, text, text, text, text, {text: text})
    tested = replace(comparison(row(text, moved=((text, 0.1, 0.2),))), reference=text, candidate=text, test=text)
    verdict = replace(
        verdicts()[0], threshold=text, reason=text, measure=text, query=text, blamed=(text,), mark=Mark(text, 1, 1)
    )
    return comparison_report(
        timing=ReportTiming(text),
        harness=text,
        suite=text,
        reference=side,
        candidate=side,
        gain=text,
        measures=replace(tested, left_out={text: 2}),
        queries=(query,),
        verdicts=(verdict,),
        notes=(text,),
        only_reference=(text,),
        only_candidate=(text,),
        request_diff=TextDiff("request", (f"-{text}", f"+{text}")),
    )


def unjudged_report(**changes) -> ComparisonReport:
    """Only rankings, and so no measures: two engines with the same queries."""
    queries = tuple(replace(query, scores={}) for query in comparison_report().queries)
    usual = comparison_report(measures=None, gain="", verdicts=(), suite="", queries=queries, exit_status=0)
    return replace(usual, **changes)


def large_report(queries: int, ranks: int = 10) -> ComparisonReport:
    """So many queries, each with a document that entered and one that left."""
    documents = (
        MovedDocument("new", None, 1, 3, 7.0, "A title of usual length for a product"),
        *(
            MovedDocument(f"document-{rank}", rank, rank + 1, 1, 1.0, "A title of usual length")
            for rank in range(1, ranks)
        ),
        MovedDocument("old", ranks, None),
    )
    many = tuple(
        QueryComparison(
            f"query-{number:05}",
            f"the text of query {number}",
            (),
            {NDCG: (0.5, (number * 7 % 1000) / 1000), "P@5": (0.5, 0.5)},
            documents,
            1,
            1,
            ranks - 1,
            0.8,
            0.9,
            1.0,
        )
        for number in range(queries)
    )
    return comparison_report(queries=many)
