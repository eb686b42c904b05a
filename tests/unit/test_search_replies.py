"""Replies to the searches of one request: what is said beside the engine's own words."""

import json

import pytest

from harness.model import Failure, FailureKind
from harness.search.answers import read_answer
from harness.search.connection import Answer
from harness.search.msearch import Entry

DISABLED = "unable to fetch fields from _source field: _source is disabled in the mappings for index [products]"


def reply_to(entry, reason):
    cause = {"type": "illegal_argument_exception", "reason": reason}
    item = {"error": {"root_cause": [cause], "type": "search_phase_execution_exception"}, "status": 400}
    [reply] = read_answer(Answer(200, json.dumps({"responses": [item]}).encode()), [entry])
    return reply


def test_an_index_that_keeps_no_source_cannot_give_titles_and_the_remedy_is_told():
    reply = reply_to(Entry(0, b"", title_field="title"), DISABLED)
    assert reply.response == Failure(
        FailureKind.ERROR,
        f"illegal_argument_exception: {DISABLED}, so titles cannot be read: remove the suite's `title_field: title`",
        400,
    )
    assert not reply.again


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Entry(0, b""), DISABLED),
        (Entry(0, b"", title_field="title", snippet="body"), DISABLED),
        (Entry(0, b"", title_field="title"), "no mapping found for [x]"),
    ],
)
def test_where_the_title_is_not_the_cause_the_engine_has_the_last_word(entry, reason):
    assert reply_to(entry, reason).response == Failure(FailureKind.ERROR, f"illegal_argument_exception: {reason}", 400)
