"""``relevance judge machine --batch``: on a scripted server that loses and repeats, and killed at each step."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from builders.extras import skip_without

skip_without("openai")

import harness.extensions.judging.commands.machine as machine_command
import harness.search.dialects
from extensions.judging.builders.batch_server import ScriptedBatches
from extensions.judging.builders.judged_shop import DOCUMENTS, SUITE, Index, set_up_shop
from extensions.judging.builders.llm_server import Reply, ScriptedModel, grade, refuse
from harness.cli import main
from harness.extensions.judging.machine import batches
from harness.extensions.judging.machine.batch_client import BatchClient
from harness.extensions.judging.machine.batches import BatchAsking, SentBatches, split_sizes
from harness.files.judge_files import JudgeFile
from harness.search.server_health import Retries

QUICK = Retries(attempts=4, base=0.001, cap=0.001, patience=5.0)
STATE = Path("shop.judged-by.gpt.batches.json")
GRADES = Path("shop.judged-by.gpt.jsonl")
ALL = {"shoes x": 2, "shoes y": 1, "boots z": 1}


def grade_by_text(document):
    return grade(2 if " x" in document else 1, document)


@pytest.fixture
def server():
    with ScriptedBatches(grade_by_text) as scripted:
        yield scripted


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, server):
    monkeypatch.chdir(tmp_path)
    set_up_shop(tmp_path, monkeypatch)
    hurry(monkeypatch.setattr)
    configure(server.url)
    return tmp_path


def hurry(replace):
    """Let *replace* shorten all pauses."""
    replace(batches, "FIRST_PAUSE", 0.01)
    replace(machine_command, "BatchAsking", partial(BatchAsking, retries=QUICK))


def configure(url, **keys):
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in keys.items()]
    Path("relevance.toml").write_text(
        '[clusters.default]\nurl = "http://one:9200"\n'
        f'[judge.gpt]\nbase_url = "{url}"\nmodel = "scripted"\n{"".join(lines)}'
    )


def run(*words, batch=True):
    return main(["judge", "machine", "shop.relevance.yaml", "-q", "--judge", "gpt", *["--batch"][: int(batch)], *words])


def grades():
    lines = [json.loads(line) for line in GRADES.read_text().splitlines()] if GRADES.exists() else []
    return {f"{line['query']} {line['document']}": line["grade"] for line in lines if "query" in line}


def test_a_batch_is_sent_once_waited_for_and_kept(server, capsys):
    server.polls = 2
    assert run() == 0
    assert grades() == ALL
    assert not STATE.exists()
    out, err = capsys.readouterr()
    assert "  calls      3, in 1 batch\n" in out
    assert "  3 calls: 300 tokens sent, 30 of answers\n" in out
    assert "relevance: the batch batch-1 was sent, with 3 documents\n" in err
    assert [call for call in server.calls if call != "GET /batches/ID"] == [
        "POST /files", "POST /batches", "GET /files/ID/content",
    ]  # fmt: skip
    batch = server.batches["batch-1"]
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")
    assert GRADES.read_text().splitlines()[-1] == '{"end": 3}'
    calls = len(server.calls)
    assert run() == 0
    assert len(server.calls) == calls, "nothing is left to ask for"


def test_a_question_of_a_batch_is_that_of_a_single_call_and_so_is_what_is_kept(server):
    assert run() == 0
    kept = sorted(line for line in GRADES.read_text().splitlines() if "query" in line)
    GRADES.unlink()
    with ScriptedModel(answer=grade_by_text) as model:
        configure(model.url)
        assert run(batch=False) == 0
    bodies = [question["body"] for question in server.questions]
    assert sorted(json.dumps(body, sort_keys=True) for body in bodies) == sorted(
        json.dumps(call, sort_keys=True) for call in model.calls
    )
    single = sorted(line for line in GRADES.read_text().splitlines() if "query" in line)
    assert [json.loads(line) | {"time": ""} for line in kept] == [json.loads(line) | {"time": ""} for line in single]


def test_only_the_key_of_the_judge_is_sent(server, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "s3cret-of-openai")
    monkeypatch.setenv("MODEL_KEY", "mine-123")
    configure(server.url, api_key_env="MODEL_KEY")
    server.polls = 1
    assert run() == 0
    assert "s3cret" not in json.dumps(server.headers)
    assert {headers["authorization"] for headers in server.headers} == {"Bearer mine-123"}


@pytest.mark.parametrize(
    ("prices", "cost", "note"),
    [
        ({"input_price": 1000, "output_price": 0, "batch_input_price": 500, "batch_output_price": 0}, "0.15", False),
        ({"input_price": 1000, "output_price": 0}, "0.30", True),
        ({"batch_input_price": 500, "batch_output_price": 0}, "0.15", False),
    ],
)
def test_the_cost_is_that_of_a_batch_where_its_prices_are_known(server, prices, cost, note, capsys):
    configure(server.url, **prices)
    assert run() == 0
    out = capsys.readouterr().out
    assert ("by the prices of single calls, as relevance.toml has no batch_input_price" in out) is note
    assert f"30 of answers, cost {cost}\n" in out


def test_a_dry_run_says_the_cost_by_the_prices_of_a_batch_and_sends_nothing(server, capsys):
    costs = {}
    for price in (10, 5):
        configure(server.url, input_price=10, output_price=10, batch_input_price=price, batch_output_price=price)
        assert run("--dry-run") == 0
        [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  cost")]
        costs[price] = float(line.split()[2].strip(","))
    assert costs[5] == pytest.approx(costs[10] / 2, rel=0.1)
    assert server.calls == []


def test_the_budget_sends_what_it_has_room_for_and_the_next_command_goes_on(server, capsys):
    configure(server.url, input_price=10, output_price=10, budget=0.03)
    assert run() == 3
    [first] = server.documents
    assert "2 documents of 3 got no answer: the budget is spent\n" in capsys.readouterr().err
    assert run() == 3
    assert run() == 0
    assert grades() == ALL
    assert len(server.batches) == 3
    assert server.documents.count(first) == 1


def spoil_third(line):
    """Replace the last answer by *line*."""
    return lambda lines: [*lines[:2], line]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (spoil_third('{"custom_id": '), "have 1 line that cannot be read"),
        (spoil_third('"text"'), "have 1 line that cannot be read"),
        (spoil_third('{"custom_id": ["x"], "response": null}'), "have 1 line that cannot be read"),
        (spoil_third('{"custom_id": "other-1", "response": null, "error": null}'), "with an id that it does not have"),
        (lambda lines: lines[:2], "no line with its answer came"),
    ],
    ids=["cut", "text", "id", "unknown", "lost"],
)
def test_a_line_that_is_lost_or_wrong_leaves_one_document_for_the_next_command(server, spoil, told, capsys):
    server.spoil = spoil
    assert run() == 3
    err = capsys.readouterr().err
    assert told in err
    assert "1 document of 3 got no answer\n" in err
    assert len(grades()) == 2
    server.spoil = lambda lines: lines
    assert run() == 0
    assert grades() == ALL
    assert len(server.questions) == 4, "only the one is asked for, and paid, again"


def test_lines_come_in_any_order_and_more_than_once(server, capsys):
    repeated = lambda line: line.replace('\\"grade\\": 1', '\\"grade\\": 0')  # noqa: E731
    server.spoil = lambda lines: [*lines[::-1], *map(repeated, lines), ""]
    assert run() == 0
    assert grades() == ALL
    told = "have 3 lines with another answer to the same question, of which the first counts\n"
    assert told in capsys.readouterr().err


def error_line(question, code="batch_expired", message="it took too long"):
    return json.dumps({"custom_id": question, "response": None, "error": {"code": code, "message": message}})


def test_what_a_batch_has_when_it_expires_is_kept_and_the_rest_asked_for_by_the_next_command(server, capsys):
    def expire(lines):
        server.error_lines = [error_line(json.loads(line)["custom_id"]) for line in lines[1:]]
        return lines[:1]

    server.ending, server.spoil = "expired", expire
    assert run() == 3
    err = capsys.readouterr().err
    assert "the batch batch-1 is expired; 1 of 3 documents answered\n" in err
    assert err.count("batch_expired: it took too long") == 2
    assert len(grades()) == 1
    assert len(server.batches) == 1
    server.ending, server.spoil, server.error_lines = "completed", lambda lines: lines, []
    assert run() == 0
    assert grades() == ALL
    assert (len(server.batches), len(server.questions)) == (2, 5)


@pytest.mark.parametrize("ending", ["failed", "cancelled", "expired"])
def test_a_batch_without_any_answer_is_told_with_its_reason(server, ending, capsys):
    server.ending, server.spoil, server.problems = ending, lambda lines: [], ["Too many tokens are enqueued."]
    assert run() == 3
    err = capsys.readouterr().err
    assert f"the batch batch-1 is {ending}: Too many tokens are enqueued.; 0 of 3 documents answered\n" in err
    assert not STATE.exists()


def test_answers_that_are_no_grade_refused_or_errors_are_those_of_single_calls(server, capsys):
    def answer(document):
        if " x" in document:
            return Reply("I would say 2.")
        if " y" in document:
            return refuse(400, "The prompt was filtered.", "content_filter")
        return refuse(429, "slow down")

    server.answer = answer
    assert run() == 3
    err = capsys.readouterr().err
    assert "no grade: document x of query shoes: the answer is not one JSON object; the answer: I would say 2.\n" in err
    assert "no grade: document y of query shoes: the model refused; the answer: The prompt was filtered.\n" in err
    assert "not asked to the end: document z of query boots: status 429: slow down\n" in err
    assert grades() == {"shoes x": None, "shoes y": None}
    server.answer = grade_by_text
    assert run("--again") == 0
    assert grades() == ALL


CALLS = ["POST /files", "POST /batches", "GET /batches/ID", "GET /files/ID/content"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", [429, 500, 0, -500, -1000], ids=["429", "500", "closed", "500 though done", "lost"])
def test_a_call_that_fails_is_made_again_and_nothing_is_paid_twice(server, call, fault):
    server.faults[call] = [fault]
    assert run() == 0
    assert grades() == ALL
    assert len(server.batches) == 1


@pytest.mark.parametrize("body", [b"<html>", b'{"id": 7}', b"[]", b'{"data": {}}'])
@pytest.mark.parametrize("call", CALLS[:3])
def test_an_answer_that_is_none_of_a_server_with_batches_is_no_answer(server, call, body):
    carry_out, bodies = server._carry_out, [body]

    def answer(name, *rest):
        status, content = carry_out(name, *rest)
        return (200, bodies.pop()) if name == call and bodies else (status, content)

    server._carry_out = answer
    assert run() == 0
    assert grades() == ALL
    assert len(server.batches) == 1


def test_a_batch_that_was_created_though_the_call_failed_is_found_in_a_long_list(server, capsys):
    for _ in range(5):
        server._create({"input_file_id": server._add_file("other", b"")["id"], "metadata": None})
    server.faults["POST /batches"] = [-500]
    server.keeps_metadata = False
    assert run() == 0
    assert grades() == ALL
    assert len(server.batches) == 6
    # What follows is newer than the batch that was created.
    server.faults["POST /batches"] = [-500] * 9
    GRADES.unlink()
    assert run() == 0
    assert len(server.batches) == 7


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [429, 500, 0])
def test_a_server_that_stays_away_ends_the_command_and_the_next_one_goes_on(server, call, status, capsys):
    server.faults[call] = [status] * 50
    assert run() == 3
    assert "3 documents of 3 got no answer: " in capsys.readouterr().err
    assert grades() == {}
    server.faults.clear()
    assert run() == 0
    assert grades() == ALL
    assert len(server.batches) == 1
    assert not STATE.exists()


@pytest.mark.parametrize("status", [404, 405, 501])
@pytest.mark.parametrize("call", CALLS[:2])
def test_a_server_without_batches_is_told_in_a_sentence(server, status, call, capsys):
    server.faults[call] = [status] * 9
    assert run() == 3
    err = capsys.readouterr().err
    assert f"{server.url} has no batches (status {status}: as scripted); ask in single calls, without --batch\n" in err
    assert not STATE.exists()
    assert server.files == {}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("POST /files", "no batch was sent: status 401: as scripted"),
        ("GET /batches/ID", "the answers of the batch batch-1 cannot be had: status 401: as scripted; start the comm"),
        ("GET /files/ID/content", "the answers of the batch batch-1 cannot be had: status 401: as scripted; start the"),
    ],
)
def test_a_login_that_is_refused_loses_nothing(server, call, told, capsys):
    server.faults[call] = [401]
    assert run() == 3
    assert told in capsys.readouterr().err
    assert run() == 0
    assert len(server.batches) == 1


@pytest.mark.parametrize("content", [b"<html>a login</html>", b"", b"[]"])
def test_a_file_without_any_answer_is_not_taken_for_that_of_the_batch(server, content, capsys):
    taken = server._carry_out
    server._carry_out = lambda call, *rest: (200, content) if call.endswith("content") else taken(call, *rest)
    assert run() == 3
    assert "the answers of the batch batch-1 cannot be had: no answer of it is there" in capsys.readouterr().err
    server._carry_out = taken
    assert run() == 0
    assert (grades(), len(server.batches)) == (ALL, 1)


def test_where_nobody_knows_whether_a_batch_was_created_none_is_sent(server, capsys):
    server.faults = {"POST /batches": [-500] * 9, "GET /batches": [404] * 9}
    assert run() == 3
    said = capsys.readouterr().err
    assert f"was created cannot be seen at {server.url}: status 404: as scripted; start the command again, or" in said
    assert run() == 3
    assert len(server.batches) == 1
    server.faults = {}
    assert run() == 0
    assert (grades(), len(server.batches)) == (ALL, 1)


def test_none_is_sent_again_while_the_file_of_one_that_may_be_created_cannot_be_removed(server, capsys):
    server.faults = {"POST /batches": [500] * 9, "DELETE /files/ID": [503] * 9}
    assert run() == 3
    assert "was created cannot be seen" in capsys.readouterr().err
    [(name, _)] = server.files.values()
    assert name.startswith("relevance-"), "no second file that may be paid for too"
    server.faults = {}
    assert run() == 0
    assert (grades(), len(server.batches)) == (ALL, 1)


def test_a_batch_that_is_created_while_its_file_is_removed_is_not_sent_again(server, monkeypatch):
    """The call that created it failed, and was carried out only after the server was asked for it."""
    server.faults = {"POST /batches": [500]}
    delete = BatchClient.delete_file

    def delete_late(client, file):
        key = json.loads(STATE.read_text())["batches"][0]["key"]
        server._create({"input_file_id": file, "metadata": {"relevance_harness": key}})
        return delete(client, file)

    monkeypatch.setattr(BatchClient, "delete_file", delete_late)
    assert run() == 0
    assert (grades(), len(server.batches)) == (ALL, 1)


def test_ctrl_c_ends_the_waiting_and_the_same_command_picks_the_batch_up(server, monkeypatch, capsys):
    server.polls = 1

    def interrupt(_seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        clock = batches.RETRIES.clock.__class__(sleep=interrupt)
        patch.setattr(machine_command, "BatchAsking", partial(BatchAsking, retries=Retries(clock=clock)))
        assert run() == 130
    err = capsys.readouterr().err
    assert "relevance: waiting for batch-1; Ctrl-C ends that, and the same command goes on\n" in err
    assert "0 answers kept in shop.judged-by.gpt.jsonl; batches go on at the server, and the same command" in err
    assert len(json.loads(STATE.read_text())["batches"]) == 1
    # Single calls do not ask for what is paid for already.
    assert run(batch=False) == 0
    assert "3 documents sent in batches before; --batch picks them up\n" in capsys.readouterr().out
    assert run("--dry-run") == 0
    assert "  documents  3 documents, 0 answered before, 0 to ask for\n" in capsys.readouterr().out
    assert run() == 0
    assert (grades(), len(server.batches)) == (ALL, 1)


def leave_batch(server, monkeypatch):
    """Send a batch, and do not wait for it."""
    with monkeypatch.context() as patch:
        patch.setattr(BatchAsking, "_wait", lambda _: iter(()))
        assert run() == 3


def test_a_batch_is_picked_up_though_other_documents_are_selected_the_next_day(server, monkeypatch):
    leave_batch(server, monkeypatch)
    assert run("--documents", "graded") == 0
    assert grades() == ALL | {"shoes a": 1, "shoes b": 1, "boots d": 1}
    assert len(server.questions) == 6


def test_answers_count_for_what_was_shown_when_they_were_asked_for(server, monkeypatch, capsys):
    leave_batch(server, monkeypatch)
    Path("shop.relevance.yaml").write_text(SUITE.replace("red shoes", "blue shoes"))
    monkeypatch.setitem(DOCUMENTS, "z", {"title": "Another title", "text": "Other words."})
    assert run() == 3
    err = capsys.readouterr().err
    assert "document x of query shoes: the query changed after it was sent; the answer is left out\n" in err
    assert grades() == {"boots z": 1}
    assert run() == 0
    assert "1 grade old, not used: the query or the document changed\n" in capsys.readouterr().err
    assert set(grades()) == set(ALL)
    assert len(server.questions) == 6


def test_a_batch_of_another_prompt_is_kept_and_its_grades_are_old(server, monkeypatch, capsys):
    leave_batch(server, monkeypatch)
    configure(server.url, temperature=1.0)
    assert run() == 0
    said = "the batch batch-1 was asked with another model, prompt or setting, so its grades are old\n"
    assert said in capsys.readouterr().err
    assert run() == 0
    assert len(server.questions) == 6


def test_the_suite_can_be_run_while_a_batch_is_waited_for(server, monkeypatch):
    assert run() == 0
    configure(server.url, temperature=1.0)
    leave_batch(server, monkeypatch)
    assert set(grades().values()) == {None}, "old grades count no more"
    assert not JudgeFile.read(GRADES).is_open


def test_batches_at_another_server_are_told(server, monkeypatch, capsys):
    leave_batch(server, monkeypatch)
    configure("http://127.0.0.1:9/v1")
    assert run() == 2
    assert f"batches wait at {server.url}, and base_url of the judge 'gpt' is http://127" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', '{"schema": 1, "server": 1, "batches": [{}]}'])
def test_a_list_of_batches_that_is_none_is_told(text, capsys):
    STATE.write_text(text)
    assert run() == 2
    assert "shop.judged-by.gpt.batches.json:1:" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [{"MOST_LINES": 2}, {"MOST_BYTES": 6000}])
def test_more_than_a_batch_may_have_are_several(server, limit, monkeypatch, capsys):
    for name, value in limit.items():
        monkeypatch.setattr(batches, name, value)
    assert run() == 0
    assert "  calls      3, in 2 batches\n" in capsys.readouterr().out
    assert grades() == ALL
    assert [len(batch["lines"]) for batch in server.batches.values()] == [2, 1]


@pytest.mark.parametrize(
    ("sizes", "lengths"),
    [
        ([], []),
        ([10] * 50_001, [50_000, 1]),
        ([4_000] * 50_000, [50_000]),
        ([4_001] * 50_000, [49_987, 13]),
        ([150_000_000] * 2, [1, 1]),
    ],
)
def test_a_batch_is_within_both_limits(sizes, lengths):
    assert [len(batch) for batch in split_sizes(sizes)] == lengths


# Killed.

STEPS = [
    *[(BatchClient, name) for name in ("upload", "create", "retrieve", "download")],
    *[(SentBatches, name) for name in ("keep", "remove")],
    *[(JudgeFile, name) for name in ("begin_run", "record", "end_run")],
]


DRIVER = """
import os, sys
sys.path[:0] = {paths!r}
import openai
import test_machine_batches as tests

for point in map(int, sys.stdin):
    process = os.fork()
    if process == 0:
        tests.run_until(point)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


def run_until(point):
    """Run the command in this process, with two batches; it ends without any ado before the *point*-th step."""
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    harness.search.dialects.open_search = lambda *_, **__: Index({})
    hurry(setattr)
    batches.MOST_LINES = 2
    passed = 0

    def watch(step):
        def watched(*arguments):
            nonlocal passed
            if passed == point:
                os._exit(99)
            passed += 1
            return step(*arguments)

        return watched

    for kind, name in STEPS:
        setattr(kind, name, watch(getattr(kind, name)))
    os._exit(run())


def test_a_command_that_is_killed_at_any_step_is_completed_by_the_next_one_and_paid_for_once(server, monkeypatch):
    monkeypatch.setattr(batches, "MOST_LINES", 2)
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(paths=paths)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    point, status = 0, 99
    with driver:
        while status == 99:
            driver.stdin.write(f"{point}\n")
            driver.stdin.flush()
            status = int(driver.stdout.readline())
            assert run() == 0, point
            assert grades() == ALL, point
            assert len(server.questions) == 3, point
            assert not STATE.exists(), point
            assert len(server.batches) == 2, point
            assert len(server.files) == 4, (point, "no file of questions is left that nobody asked")
            GRADES.unlink()
            server.batches.clear()
            server.files.clear()
            point += 1
    assert status == 0
    assert point > 20
