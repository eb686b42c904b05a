"""Replies to the searches of one request."""

import json

import pytest

from harness.model.run import Failure, FailureKind
from harness.search.answers import read_answer
from harness.search.connection import Answer
from harness.search.msearch import Entry

DISABLED = "unable to fetch fields from _source field: _source is disabled in the mappings for index [products]"


def reply_to(entry, reason):
    cause = {"type": "illegal_argument_exception", "reason": reason}
    item = {"error": {"root_cause": [cause], "type": "search_phase_execution_exception"}, "status": 400}
    [reply] = read_answer(Answer(200, json.dumps({"responses": [item]}).encode()), [entry])
    return reply


@pytest.mark.parametrize("entry", [Entry(0, b""), Entry(0, b"", title_field="title")])
def test_the_engine_has_the_last_word_on_a_field_that_cannot_be_read(entry):
    reply = reply_to(entry, DISABLED)
    assert reply.response == Failure(FailureKind.ERROR, f"illegal_argument_exception: {DISABLED}", 400)
    assert not reply.may_retry
