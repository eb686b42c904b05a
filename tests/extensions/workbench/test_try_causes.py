"""Which change of a try did it: listed before anything is sent, and found with the queries that are shown."""

import pytest

from extensions.workbench.builders.tried_shop import REQUEST, open_actions, send, write_suite
from harness.cli import main
from harness.errors import UsageError

CHANGED = REQUEST.replace("^3", "^6").replace("0.2", "0.4")


@pytest.fixture
def actions(engine, path):
    with open_actions(path, engine.url) as actions:
        send(actions, CHANGED)
        yield actions


def test_what_is_sent_is_said_before_and_nothing_is_sent(actions, engine):
    sent = len(engine.bodies)
    planned = actions.find_causes("", {"try": 1})
    assert len(engine.bodies) == sent
    assert planned["lines"][0] == "2 differences between the requests"
    assert planned["searches"] == 48
    assert planned["lines"][-1] == "24 of these were sent already: those of the try and of what is live"


def test_the_change_that_did_it_is_named(actions, engine):
    sent = len(engine.bodies)
    lines = actions.find_causes("", {"try": 1, "send": True})["lines"]
    assert len(engine.bodies) - sent == 48
    assert lines[0] == "nDCG@5 +0.2033 [+0.2033 to +0.2033]: 1 cause among 2 differences: title^3 → title^6"
    assert lines[2].startswith("2  tie_breaker: 0.2 → 0.4: moves nothing")
    assert "q3 +0.203: 1 title^3 → title^6 (+0.2033 beside the rest, +0.2033 alone)" in lines


def test_a_comment_is_no_difference(actions):
    with pytest.raises(UsageError, match="the requests do not differ in what they send"):
        actions.find_causes("", {"try": 0})


def test_a_baseline_has_no_causes(engine, tmp_path):
    path = write_suite(tmp_path)
    assert main(["baseline", "save", str(path), "--url", engine.url]) == 0
    with open_actions(path, engine.url, against="baseline") as actions:
        send(actions, CHANGED)
        assert actions.show_session("", {})["has_why"] is False
        with pytest.raises(UsageError, match="try against a request"):
            actions.find_causes("", {"try": 1})
