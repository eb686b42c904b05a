"""Reports of suites that ran with several requests or on several indexes."""

from collections.abc import Sequence

from builders.reports import NDCG, report_of
from harness.model.report import MeasureSummary, QueryReport, Report, SuiteReport
from harness.model.run import Engine, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Profile

PRECISION = "P@5"


def cell(
    name: str = "shop",
    request: str = "current",
    index: str | None = "v1",
    *,
    scores: Sequence[float | None] = (0.5, 0.7),
    measures: Sequence[str] = (NDCG,),
    statuses: Sequence[Status] = (Status.PASSED,),
    gain: str = "exponential",
) -> SuiteReport:
    """A suite whose queries q0, q1, … have *scores* of each measure, and a threshold of each of *statuses*."""
    queries = tuple(
        QueryReport(
            f"q{number}",
            "shoes",
            Outcome.ERROR if score is None else Outcome.SCORED,
            scores=dict.fromkeys(measures, score),
        )
        for number, score in enumerate(scores)
    )
    known = [score for score in scores if score is not None]
    mean = sum(known) / len(known) if known else None
    left_out = len(scores) - len(known)
    return SuiteReport(
        name,
        f"{name}.relevance.yaml",
        request,
        "default",
        index,
        Engine("opensearch", "3.8.0"),
        Profile.STANDARD,
        gain,
        10,
        tuple(MeasureSummary(one, gain, mean, mean, 0.0, 1.0, len(known), left_out) for one in measures),
        tuple(Verdict(f"v{number}", f"hits >= {number}", status, "because") for number, status in enumerate(statuses)),
        queries,
    )


def two_requests() -> Report:
    """A suite with two requests, the second of which is better at one measure and a little worse at the other."""
    measures = (NDCG, PRECISION)
    first = cell(scores=(0.5, 0.7), measures=measures)
    second = cell(request="candidate", scores=(0.9, 0.6), measures=measures, statuses=(Status.FAILED, Status.ERROR))
    worse = MeasureSummary(PRECISION, "", 0.55, 0.55, 0.0, 1.0, 2, 0)
    second = SuiteReport(
        **{name: getattr(second, name) for name in second.__slots__} | {"summaries": (second.summaries[0], worse)}
    )
    return report_of(first, second)
