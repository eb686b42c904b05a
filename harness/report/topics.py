"""What of a report a page of the documentation explains: what is not said in full where it is reported."""

from __future__ import annotations

from harness.model.report import Report, SuiteReport
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.pages import Topic
from harness.report.attention import lacks_judgments

TOPICS_OF_OUTCOMES = {
    Outcome.UNDEFINED: Topic.OUTCOMES_OF_QUERIES,
    Outcome.ERROR: Topic.OUTCOMES_OF_QUERIES,
    Outcome.NOT_RUN: Topic.OUTCOMES_OF_QUERIES,
}

TOPICS_OF_STATUSES = {
    Status.ERROR: Topic.VERDICTS,
    Status.INCONCLUSIVE: Topic.VERDICTS,
}


def find_topics(report: Report) -> list[Topic]:
    """The topics of the suites of *report*."""
    topics: list[Topic] = []
    for suite in report.suites:
        topics += find_suite_topics(suite)
    return topics


def find_suite_topics(suite: SuiteReport) -> list[Topic]:
    """The topics of *suite*, as often as something has them."""
    topics = [TOPICS_OF_OUTCOMES[query.outcome] for query in suite.unscored if query.outcome in TOPICS_OF_OUTCOMES]
    topics += [TOPICS_OF_STATUSES[verdict.status] for verdict in suite.verdicts if verdict.status in TOPICS_OF_STATUSES]
    if lacks_judgments(suite):
        topics.append(Topic.UNJUDGED_DOCUMENTS)
    return topics
