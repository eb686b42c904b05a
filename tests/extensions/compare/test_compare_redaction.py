"""What a comparison says of secrets."""

from dataclasses import replace

from extensions.compare.builders.comparisons import comparison_report, unjudged_report, verdicts
from harness.masking import redact
from harness.model.comparison import MovedDocument

SECRET = "hunter2"


def mask(text):
    return text.replace(SECRET, "${PASSWORD}")


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
