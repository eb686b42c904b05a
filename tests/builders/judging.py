"""What a judge sees, for tests of the judging page."""

from harness.judging.session import JudgeView, JudgingTask


def make_view(suite, documents, choices, kept, *, judge="anna", existing=None, **details):
    """The view of a judge who is given all *documents*, with grades kept in the file *kept*."""
    task = JudgingTask(suite, documents, choices, existing or {})
    return JudgeView(task, judge, kept, documents, **details)
