"""What a score's reason says of a failure is read back as the failure that it was."""

from hypothesis import given
from hypothesis import strategies as st

from harness.metrics.run_scores import failure_text, read_failure
from harness.model import Failure, FailureKind

failures = st.builds(Failure, st.sampled_from(FailureKind), st.text(), st.none() | st.integers(0, 999))


@given(failures)
def test_a_failure_comes_back_from_its_text(failure):
    assert read_failure(failure_text(failure)) == failure


@given(st.text())
def test_any_other_text_is_the_reason_of_an_error(text):
    read = read_failure(text)
    assert read == Failure(FailureKind.ERROR, text) or failure_text(read) == text
