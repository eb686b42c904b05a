"""Calls of a language model on a server that fails in each way: what is a grade, asked again, or given up."""

import json
import re
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from builders.extras import skip_without

skip_without("openai")

from builders.ports import closed_port
from extensions.judging.builders.llm_server import Reply, ScriptedModel, grade, refuse
from harness.errors import UsageError
from harness.extensions.judging.machine.asking import MOST_FAILURES, Asking, fingerprint_asking
from harness.extensions.judging.machine.budget import Budget, Prices
from harness.extensions.judging.machine.client import ChatClient, build_options, read_body
from harness.extensions.judging.machine.pace import CallPace
from harness.extensions.judging.machine.prompt import OfferedGrade, Prompt, ShownPair
from harness.extensions.judging.machine.reading import Tokens
from harness.model.judging import MachineJudge
from harness.search.server_health import Clock, Retries

PROMPT = Prompt(tuple(OfferedGrade(float(number)) for number in range(4)))
QUICK = Retries(attempts=4, base=0.001, cap=0.001, patience=5.0)


def pairs_of(*documents):
    return [ShownPair("q", document, "red shoes", title=f"Title of {document}") for document in documents]


CLIENTS = []


@pytest.fixture(autouse=True)
def _close_clients():
    yield
    while CLIENTS:
        CLIENTS.pop().close()


def make_asking(model, environ=None, retries=QUICK, budget=None, pace=None, **given):
    judge = MachineJudge("gpt", getattr(model, "url", model), "scripted", **{"concurrency": 1, "timeout": 5.0} | given)
    chat = ChatClient(judge, PROMPT.grades, environ or {})
    CLIENTS.append(chat)
    return Asking(judge, PROMPT, chat, budget or Budget(), pace or CallPace(), retries)


def ask(model, *documents, **given):
    asking = make_asking(model, **given)
    return asking, list(asking.ask_all(pairs_of(*documents or ("a",))))


def test_a_grade_is_kept_with_all_that_says_how_it_came_about():
    with ScriptedModel(grade(2, "it fits")) as model:
        asking, [result] = ask(model)
    answer = result.answer
    assert (answer.query, answer.document, answer.grade, answer.comment) == ("q", "a", 2.0, "")
    machine = answer.machine
    assert (machine.model, machine.version, machine.reason) == ("scripted-2026", "fp_1", "it fits")
    assert (machine.input_tokens, machine.output_tokens) == (100, 10)
    assert machine.shown == pairs_of("a")[0].fingerprint
    assert machine.prompt == fingerprint_asking(asking.judge, PROMPT)
    assert asking.ended == ""


def test_what_is_sent_is_the_question_its_settings_and_the_schema():
    with ScriptedModel() as model:
        ask(model, seed=7, most_output_tokens=50)
    [call] = model.calls
    assert {name: call[name] for name in ("model", "temperature", "seed", "max_tokens")} == {
        "model": "scripted", "temperature": 0.0, "seed": 7, "max_tokens": 50,
    }  # fmt: skip
    schema = call["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["grade"]["enum"] == [0, 1, 2, 3]
    assert (schema["required"], schema["additionalProperties"]) == (["reason", "grade"], False)
    assert model.paths == ["/v1/chat/completions"]
    assert [message["role"] for message in call["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("judge", "options"),
    [
        ({"answers": "text"}, {"model": "m", "temperature": 0.0, "max_tokens": 300}),
        ({"answers": "text", "reasoning": "low"},
         {"model": "m", "reasoning_effort": "low", "max_completion_tokens": 300}),
    ],
)  # fmt: skip
def test_a_server_is_sent_only_what_it_takes(judge, options):
    assert build_options(MachineJudge("gpt", "http://x/v1", "m", **judge), None) == options


BAD_ANSWERS = {
    "prose": (Reply("The grade is 3."), "the answer is not one JSON object", "The grade is 3."),
    "off the scale": (grade(7), "the grade 7 is not on the scale", '"grade": 7'),
    "cut": (Reply('{"reason": "it fits", "gr', finish="length"), "the answer was cut", '"gr'),
    "cut though whole": (Reply('{"reason": "x", "grade": 3}', finish="length"), "the answer was cut", '"grade": 3'),
    "refused": (Reply(None, refusal="I cannot help with that."), "the model refused", "I cannot help with that."),
    "filtered": (Reply(None, finish="content_filter"), "the model refused", ""),
    "filtered before": (refuse(400, "The prompt was filtered.", "content_filter"), "the model refused", "was filtered"),
    "empty": (Reply(""), "the answer is not one JSON object", ""),
    "null": (Reply(None), "the answer is not one JSON object", ""),
    "not of a chat": (Reply(body=b'{"object": "list"}'), "the server did not answer as in a chat", "list"),
    "no choice": (Reply(body=b'{"choices": []}'), "the server did not answer as in a chat", "choices"),
    "wrong JSON": (Reply(body=b'{"choices": [{"mess'), "the server did not answer as in a chat", "mess"),
    "a page": (Reply(body=b"<html>login</html>"), "the server did not answer as in a chat", "login"),
    "nested": (Reply(body=b"[" * 90_000), "the server did not answer as in a chat", "[["),
    "a list": (Reply(body=b'{"choices": [{"message": {"content": ["x"]}}]}'),
               "the server did not answer as in a chat", "content"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "why", "text"), BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_an_answer_without_a_grade_is_asked_for_once_more_and_then_kept_as_none(reply, why, text):
    with ScriptedModel(reply, reply) as model:
        asking, [result] = ask(model)
        assert len(model.calls) == asking.calls == 2
    assert (result.answer.grade, result.answer.comment) == (None, f"no grade: {why}")
    assert text in result.answer.machine.reason
    with ScriptedModel(reply, grade(3)) as model:
        _, [result] = ask(model)
    assert (result.answer.grade, result.answer.comment) == (3.0, "")


def test_both_answers_count_as_tokens():
    with ScriptedModel(grade(7), grade(2)) as model:
        asking, [result] = ask(model)
    assert (result.answer.machine.input_tokens, result.answer.machine.output_tokens) == (200, 20)
    assert asking.budget.spent == Tokens(200, 20)


@pytest.mark.parametrize(
    "reply",
    [
        refuse(429), refuse(500), refuse(502), refuse(503), refuse(529), refuse(408),
        Reply(status=None), Reply(cut=30), Reply(status=503, body=b"<html>"), Reply(status=503, body=b""),
    ],
    ids=["429", "500", "502", "503", "529", "408", "closed", "broken off", "a page", "nothing"],
)  # fmt: skip
def test_a_busy_server_is_asked_again(reply):
    with ScriptedModel(reply, reply, grade(2)) as model:
        _, [result] = ask(model)
        assert len(model.calls) == 3
    assert result.answer.grade == 2.0


def test_a_slow_answer_is_given_up_in_time_though_it_comes_in_pieces():
    with ScriptedModel(Reply(pause=0.1), grade(2)) as model:
        began = time.monotonic()
        asking, [result] = ask(model, timeout=0.5)
        assert time.monotonic() - began < 5
        assert len(model.calls) == 2
    assert result.answer.grade == 2.0
    # Nobody knows whether the first one is paid for, so the most that it can cost is.
    assert asking.budget.spent.input > 500


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}], ids=["cut", "in a wrong form"])
def test_an_error_that_cannot_be_read_is_asked_again(headers):
    with ScriptedModel(Reply(status=500, cut=None if headers else 5, headers=headers), grade(2)) as model:
        [result] = ask(model)[1]
    assert result.answer.grade == 2.0


@pytest.mark.parametrize("body", [b"x" * 400, b"[" * 200_000])
def test_an_error_without_an_end_is_given_up_in_time(body):
    begun = time.monotonic()
    with ScriptedModel(*[Reply(status=500, body=body, pause=0.1)] * 4) as model:
        [result] = ask(model, timeout=0.3, retries=Retries(attempts=1, base=0.001, cap=0.001, patience=5.0))[1]
    assert time.monotonic() - begun < 2
    assert result.failure == "status 500: no reason was given"


def test_an_error_that_is_too_long_is_not_read_to_its_end():
    with ScriptedModel(Reply(status=500, body=b"x" * 2_000_000), grade(2)) as model:
        [result] = ask(model)[1]
    assert result.answer.grade == 2.0


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_documents_are_not_sent_on_to_another_server(status):
    with ScriptedModel() as other, ScriptedModel(Reply(status=status, headers={"Location": other.url})) as model:
        asking, [result] = ask(model)
        assert other.calls == other.headers == []
    sentence = f"status {status}: the server sends requests on to {other.url}, which is not followed; correct base_url"
    assert (result.failure, asking.ended) == (sentence, sentence)


def test_a_document_that_a_busy_server_never_answers_is_no_grade_and_is_not_kept():
    with ScriptedModel(*[refuse(503)] * 4) as model:
        asking, [first, second] = ask(model, "a", "b")
    assert (first.answer, first.failure) == (None, "status 503: come back later")
    assert second.answer.grade == 1.0
    assert asking.ended == ""


class FakeTime:
    """A clock that moves where somebody waits; an event that is waited for moves it too."""

    def __init__(self):
        self.seconds, self.waits = 0.0, []
        self.clock = Clock(now=lambda: self.seconds, sleep=self.wait, chance=lambda: 1.0)

    def wait(self, seconds):
        self.waits.append(seconds)
        self.seconds += seconds

    def is_set(self):
        return False


def test_retry_after_holds_for_all_calls():
    time_, pace = FakeTime(), None
    pace = CallPace(clock=time_.clock)
    retries = Retries(attempts=4, base=0.0, cap=0.0, patience=100.0, clock=time_.clock)
    with ScriptedModel(refuse(429, Retry_After="20"), grade(2), grade(3)) as model:
        asking = make_asking(model, retries=retries, pace=pace)
        asking._stopped.wait = time_.wait
        results = list(asking.ask_all(pairs_of("a", "b")))
    assert [result.answer.grade for result in results] == [2.0, 3.0]
    assert sum(time_.waits) == 20.0
    # Another thread that asks meanwhile waits too.
    pace.pause(7.0)
    began = time_.seconds
    assert pace.wait(1, time_)
    assert time_.seconds - began == 7.0


def test_a_pause_that_is_longer_than_patience_ends_the_wait_at_once():
    with ScriptedModel(refuse(429, Retry_After="86400")) as model:
        _, [result] = ask(model)
        assert len(model.calls) == 1
    assert result.failure == "status 429: come back later"


@pytest.mark.parametrize(("limits", "seconds"), [((60, None), 1.0), ((None, 600), 10.0), ((600, 600), 10.0)])
def test_calls_are_spread_over_the_minute(limits, seconds):
    time_ = FakeTime()
    pace, begins = CallPace(*limits, time_.clock), []
    for _ in range(3):
        pace.wait(100, time_)
        begins.append(time_.seconds)
    assert begins == [0.0, seconds, 2 * seconds]


@pytest.mark.parametrize(
    ("reply", "ended"),
    [
        (refuse(401, "wrong key s3cret-key", "invalid_api_key"), "status 401: wrong key ${KEY}"),
        (refuse(404, "no such model"), "status 404: no such model"),
        (refuse(429, "you exceeded your quota", "insufficient_quota"), "status 429: you exceeded your quota"),
    ],
)
def test_nothing_more_is_sent_where_no_call_would_be_answered(reply, ended):
    with ScriptedModel(reply) as model:
        asking, [result] = ask(model, "a", "b", "c", environ={"KEY": "s3cret-key"}, api_key_env="KEY")
        assert len(model.calls) == 1
    assert (asking.ended, result.failure) == (ended, ended)


def test_one_document_that_is_refused_does_not_end_the_others_and_many_do():
    with ScriptedModel(refuse(400, "too long")) as model:
        asking, results = ask(model, "a", "b")
    assert [result.failure for result in results] == ["status 400: too long", ""]
    assert asking.ended == ""
    with ScriptedModel(*[refuse(400, "no schemas here")] * 20) as model:
        asking, results = ask(model, *"abcdefghij")
        assert len(model.calls) == MOST_FAILURES
    assert (
        asking.ended == f"{MOST_FAILURES} documents in a row got no answer; the last one: status 400: no schemas here"
    )


def test_a_server_that_is_not_there_is_told():
    with closed_port() as port:
        asking, _ = ask(f"http://127.0.0.1:{port}/v1", *"abcdef", retries=Retries(attempts=1))
    assert "in a row got no answer; the last one: no connection: " in asking.ended


COSTLY = {"prompt_tokens": 2000, "completion_tokens": 100}


def test_the_budget_is_checked_before_each_call_and_is_never_exceeded():
    with ScriptedModel(answer=lambda _: Reply(usage=COSTLY)) as model:
        budget = Budget(Prices(10.0, 10.0), limit=0.1)
        asking, results = ask(model, *map(str, range(30)), budget=budget, concurrency=3)
        sent = len(model.calls)
    assert asking.ended == "the budget is spent"
    assert 0 < len(results) == sent < 30
    assert asking.budget.cost <= 0.1
    assert asking.budget.reserved == Tokens()


def test_the_budget_holds_for_the_second_call_of_a_document_too():
    with ScriptedModel(Reply('{"grade": 7}', usage=COSTLY)) as model:
        asking, results = ask(model, budget=Budget(Prices(10.0, 10.0), limit=0.035))
        assert len(model.calls) == 1
    assert (results, asking.ended) == ([], "the budget is spent")


@pytest.mark.parametrize("counted", [None, 10**400, -1, 1e300])
def test_an_answer_whose_tokens_nobody_counted_costs_the_most_that_it_can(counted):
    usage = None if counted is None else {"prompt_tokens": counted, "completion_tokens": 1}
    with ScriptedModel(Reply(usage=usage)) as model:
        asking, [result] = ask(model, most_output_tokens=77, budget=Budget(Prices(1.0, 1.0), 5.0))
    assert result.answer.machine.output_tokens == 77
    assert asking.budget.spent.input > 1000


def test_as_many_calls_are_under_way_as_the_judge_may_have():
    with ScriptedModel(answer=lambda _: (time.sleep(0.05), Reply())[1]) as model:
        _, results = ask(model, *map(str, range(12)), concurrency=4)
    assert sorted(result.pair.document for result in results) == sorted(map(str, range(12)))
    assert 2 <= model.most_under_way <= 4


def test_who_stops_listening_ends_the_calls():
    release = threading.Event()
    with ScriptedModel(answer=lambda _: (release.wait(0.05), Reply())[1]) as model:
        asking = make_asking(model, concurrency=2)
        results = asking.ask_all(pairs_of(*map(str, range(50))))
        next(results)
        results.close()
        release.set()
        time.sleep(0.3)
        assert len(model.calls) <= 6


def test_the_key_of_another_server_is_never_sent(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "s3cret-of-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with ScriptedModel() as model:
        ask(model)
        ask(model, environ={"KEY": "mine-123"}, api_key_env="KEY")
    assert "s3cret" not in json.dumps(model.headers)
    assert [headers["authorization"] for headers in model.headers] == ["Bearer none", "Bearer mine-123"]


@pytest.mark.parametrize(
    "header",
    [
        "Authorization: Bearer s3cret",
        "authorization: s3cret",
        "X-Team-Token: s3cret",
        "Cookie: s3cret",
        "api-key: s3cret",
    ],
)
@pytest.mark.parametrize("key", [{}, {"environ": {"KEY": "mine-123"}, "api_key_env": "KEY"}])
def test_headers_of_the_environment_are_not_sent(monkeypatch, header, key):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"{header}\nX-Other: s3cret too")
    with ScriptedModel() as model:
        ask(model, **key)
    assert "s3cret" not in json.dumps(model.headers)
    assert [headers["authorization"] for headers in model.headers] == ["Bearer mine-123" if key else "Bearer none"]


def test_no_variable_that_the_client_reads_reaches_the_server(monkeypatch):
    """All names in its sources that begin like one of its variables, in whatever version is installed."""
    [folder] = find_spec("openai").submodule_search_locations
    texts = [path.read_text(encoding="utf-8") for path in Path(folder).rglob("*.py")]
    names = {name for text in texts for name in re.findall(r"""["']((?:OPENAI|AZURE|AWS)_[A-Z0-9_]+)["']""", text)}
    assert {"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID"} <= names
    for name in names - {"OPENAI_LOG"}:
        monkeypatch.setenv(name, f"X-From-{name.replace('_', '-')}: s3cret")
    with ScriptedModel() as model:
        ask(model)
    assert len(model.headers) == 1
    assert "s3cret" not in json.dumps([model.headers, model.calls], default=str)


@pytest.mark.parametrize(("environ", "message"), [({}, "is not set"), ({"KEY": "a\nb"}, "holds no key")])
def test_a_key_that_is_none_is_told_before_anything_is_sent(environ, message):
    with ScriptedModel() as model:
        with pytest.raises(UsageError, match=message):
            make_asking(model, environ=environ, api_key_env="KEY")
        assert model.calls == []


def test_an_answer_that_repeats_the_key_is_kept_without_it():
    with ScriptedModel(grade(2, "your key is s3cret-key")) as model:
        _, [result] = ask(model, environ={"KEY": "s3cret-key"}, api_key_env="KEY")
    assert result.answer.machine.reason == "your key is ${KEY}"


@pytest.mark.parametrize("changed", [{"model": "n"}, {"temperature": 0.5}, {"seed": 1}, {"reasoning": "low"}])
def test_another_model_or_setting_is_another_way_to_ask(changed):
    given = {"name": "gpt", "base_url": "http://x/v1", "model": "m"}
    prints = {fingerprint_asking(MachineJudge(**given | one), PROMPT) for one in ({}, changed)}
    assert len(prints) == 2
    # Where and how fast it is asked does not matter.
    assert fingerprint_asking(MachineJudge(**given | {"base_url": "http://y/v1", "concurrency": 9}), PROMPT) in prints


def test_half_a_character_in_an_answer_can_be_kept():
    body = json.dumps({"choices": [{"message": {"content": "\ud800"}, "finish_reason": "stop"}], "model": "m"})
    assert read_body(body).text == "?"
