"""No text of a report keeps a secret, wherever it came from."""

from dataclasses import dataclass, fields, replace

from builders.comparisons import comparison_report, unjudged_report, verdicts
from harness.masking import KEPT, redact
from harness.model import (
    Engine,
    MeasureSummary,
    MissingDocument,
    MovedDocument,
    Outcome,
    Profile,
    QueryReport,
    RankedDocument,
    Status,
    SuiteReport,
    Verdict,
    Waiver,
)

SECRET = "hunter2"


def mask(text):
    return text.replace(SECRET, "${PASSWORD}")


def report(secret):
    document = RankedDocument(1, "a", 1, 1.0, 2.0, f"title {secret}")
    return SuiteReport(
        name="suite",
        path="s.relevance.yaml",
        request="request",
        cluster=f"https://user:{secret}@host",
        index=f"index-{secret}",
        engine=Engine("fake"),
        profile=Profile.STANDARD,
        gain="exponential",
        depth=10,
        summaries=(MeasureSummary("P@1", "", 1.0, 1.0, 1.0, 1.0, 1, 0),),
        verdicts=(
            Verdict("v", f"threshold {secret}", Status.XFAILED, f"reason {secret}", waiver=Waiver(f"waits {secret}")),
            Verdict("w", "threshold", Status.PASSED, "reason"),
        ),
        queries=(
            QueryReport(
                "q",
                f"text {secret}",
                Outcome.SCORED,
                f"reason {secret}",
                scores={"P@1": 1.0},
                ranking=(document, RankedDocument(2, "b")),
                ideal=(document,),
                missing=(MissingDocument("c", 1, title=f"title {secret}"), MissingDocument("d", 1)),
            ),
        ),
        notes=(f"note {secret}",),
    )


def test_every_text_is_masked_and_nothing_else_changes():
    assert redact(report(SECRET), mask) == report("${PASSWORD}")


def test_an_index_that_is_not_there_stays_so():
    service = SuiteReport("s", "s", "r", "c", None, Engine("http"), Profile.STANDARD, "linear", 10, (), (), ())
    assert redact(service, mask) == service


def comparison(secret):
    usual = comparison_report()
    side = replace(usual.reference, index=f"index-{secret}", unanswered={"q": f"reason {secret}"})
    documents = (MovedDocument("a", 1, 2, title=f"title {secret}"), MovedDocument("b", 2, 1))
    return replace(
        usual,
        reference=side,
        candidate=replace(side, index=None),
        queries=(replace(usual.queries[0], text=f"text {secret}", documents=documents),),
        verdicts=(replace(verdicts()[0], reason=f"reason {secret}", threshold=f"threshold {secret}"),),
        notes=(f"note {secret}",),
    )


def test_every_text_of_a_comparison_is_masked_and_nothing_else_changes():
    assert redact(comparison(SECRET), mask) == comparison("${PASSWORD}")
    assert redact(unjudged_report(), mask) == unjudged_report()


@dataclass(frozen=True)
class Added:
    """A type that `KEPT` does not have."""

    text: str
    more: tuple[dict[str, str | None], ...]
    number: int | None = None


def test_what_nobody_named_is_masked():
    assert redact(Added(SECRET, ({"a": SECRET, "b": None},)), mask) == Added(
        "${PASSWORD}", ({"a": "${PASSWORD}", "b": None},)
    )


def test_what_is_not_masked_exists():
    for kind, names in KEPT.items():
        assert set(names) <= {one.name for one in fields(kind)}, kind
