"""What a comparison says of secrets."""

from dataclasses import replace

from builders.secret_texts import SECRET, find_staying, mask
from extensions.compare.builders.comparisons import comparison_report, unjudged_report, verdicts
from harness.extensions.compare.model import ComparisonReport
from harness.model.comparison import MovedDocument
from harness.redaction import redact


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


STAYING = {
    "Comparison": {"alternative", "candidate", "correction", "left_out", "reference", "test"},
    "ComparisonReport": {"gain", "harness", "only_candidate", "only_reference", "suite"},
    "ExplainedQuery": {"id"},
    "LatencyFigures": {"blamed", "reason"},
    "Mark": {"path"},
    "MeasureComparison": {"measure", "moved"},
    "MovedDocument": {"id"},
    "QueryComparison": {"id", "scores", "tags"},
    "ReorderedTies": {"queries"},
    "ReportTiming": {"created"},
    "Side": {"created", "engine", "name", "request", "unanswered"},
    "SideComparison": {"gain", "only_candidate", "only_reference"},
    "TextDiff": {"name"},
    "Verdict": {"blamed", "caveat", "id", "markers", "measure", "query", "tag"},
    "WhyReport": {"measure"},
}
"""By class, the fields whose texts stay."""


def test_ids_and_names_stay_and_every_other_text_is_masked():
    assert find_staying(ComparisonReport) == STAYING
