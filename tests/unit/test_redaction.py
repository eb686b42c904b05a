"""No text of a report keeps a secret, wherever it came from."""

from harness.model import (
    Engine,
    MeasureSummary,
    MissingDocument,
    Outcome,
    Profile,
    QueryReport,
    RankedDocument,
    Status,
    SuiteReport,
    Verdict,
    Waiver,
)
from harness.redaction import redact

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
