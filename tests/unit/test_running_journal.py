"""Runs that were killed and go on: what the journal holds, what is asked again, and that the report is the same."""

import json
import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlencode

import pytest

import harness.search.fixtures
from builders.extension_cases import needs_extension
from builders.journaled import QUERIES, SETTINGS, engine_of_shop, report_at, set_index, suite_text
from harness.cli import main
from harness.errors import SearchError
from harness.search.engine_state import SHARD_STATS
from harness.store.journal_lines import parse_journal

JOURNAL = Path("run.journal")
REPORT = Path("report.json")


@pytest.fixture
def engine(working_folder):
    with engine_of_shop() as engine:
        yield engine


def run(engine, *options, report=REPORT):
    """The exit status of a run, and its report without what time and transport move."""
    status = main(["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--output", f"json={report}", *options])
    return status, report_at(report)


def cut_in_the_middle() -> None:
    content = JOURNAL.read_bytes()
    JOURNAL.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("is_compared", [False, True])
def test_a_run_cut_short_anywhere_goes_on_to_the_same_report(engine, is_compared, capsys):
    if is_compared:
        engine.score = 1.0  # all tie, so that the tails are searched
        Path("shop.relevance.yaml").write_text(suite_text("drop nDCG@3 <= 0.01"), encoding="utf-8")
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url]) == 0
    whole = run(engine, "--journal", str(JOURNAL))
    content = JOURNAL.read_bytes()
    chosen = random.Random(7)
    for size in [0, 40, len(content) - 20, len(content) - 19, *chosen.sample(range(len(content) - 19), 4)]:
        JOURNAL.write_bytes(content[:size])
        kept = content[:size].count(b"}\n") - 1  # without the header
        engine.asked.clear()
        assert run(engine, "--journal", str(JOURNAL), "--resume") == whole, size
        if not is_compared:  # the deeper searches for tails are made again
            assert sum(engine.asked.values()) == QUERIES - min(QUERIES, max(0, kept)), size


def test_a_run_that_is_killed_leaves_a_journal_that_only_its_user_reads(engine, capfd):
    whole = run(engine)
    beside = Path("report.json.journal")

    def kill_when_some_are_answered():
        while not beside.exists() or beside.read_bytes().count(b"\n") < 2:
            engine.closing.wait(0.01)
        process.send_signal(signal.SIGKILL)
        is_counted.clear()

    def note_that_it_is_counted(answer):
        is_counted.set()
        return answer

    is_counted = threading.Event()
    searches = iter([lambda: None, kill_when_some_are_answered])
    engine.before_search = lambda: next(searches, lambda: None)()
    engine.change_all = note_that_it_is_counted
    command = [sys.executable, "-m", "harness", "run", "shop.relevance.yaml", "--url", engine.url]
    process = subprocess.Popen([*command, "--output", f"json={REPORT}"], stderr=subprocess.DEVNULL)
    assert process.wait() == -signal.SIGKILL
    assert beside.stat().st_mode & 0o777 == 0o600
    assert is_counted.wait(10)  # what the killed process asked for is counted before that is forgotten
    engine.asked.clear()
    assert run(engine, "--resume") == whole
    assert sum(engine.asked.values()) < QUERIES
    assert not beside.exists()


def test_what_had_no_answer_is_asked_again_by_the_next_run(engine, capsys):
    whole = run(engine)
    engine.broken = {"text 7": 400, "text 8": 400}
    assert run(engine)[0] == 3
    assert Path("report.json.journal").exists()
    engine.broken.clear()
    engine.asked.clear()
    capsys.readouterr()
    assert run(engine, "--resume") == whole
    assert set(engine.asked) == {"text 7", "text 8"}
    assert "relevance: shop: going on with an earlier run: 28 of 30 queries answered" in capsys.readouterr().err
    assert not Path("report.json.journal").exists()


CHANGED = {
    "judgments": suite_text(grade=1),
    "request": suite_text(depth=4),
    "thresholds": suite_text("mean nDCG@3 >= 0.5"),
    "queries": suite_text().replace(f"text {QUERIES - 1}", "text 1"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_another_suite_starts_anew_and_says_what_differs(engine, what, capsys):
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    Path("shop.relevance.yaml").write_text(CHANGED[what], encoding="utf-8")
    engine.asked.clear()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    told = capsys.readouterr().err
    assert f"relevance: shop: starting anew: the run in run.journal differs in {what}\n" in told


@pytest.mark.parametrize(
    ("uuid", "documents", "written", "change"),
    [
        ("two", 200, 199, "products was deleted and created again"),
        ("one", 150, 249, "it had 200 documents and has 150"),
        ("one", 200, 202, "documents were replaced, or others added and deleted (3 writes)"),
    ],
)
def test_an_index_that_is_another_by_now_is_asked_whole(engine, uuid, documents, written, change, capsys):
    set_index(engine, written=199)
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    set_index(engine, uuid, documents, written=written)
    engine.asked.clear()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    assert change in capsys.readouterr().err


def test_writes_that_can_be_read_only_once_are_not_compared(engine, capsys):
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    set_index(engine, written=202)
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert "going on with an earlier run" in capsys.readouterr().err


def test_documents_that_are_replaced_while_queries_run_make_it_inconclusive(engine):
    set_index(engine, written=199)
    engine.before_search = lambda: set_index(engine, written=200)
    status, report = run(engine, "--journal", str(JOURNAL))
    assert status == 3
    [reason, *_] = [verdict["reason"] for verdict in report["suites"][0]["verdicts"]]
    assert reason.startswith(
        "products changed during the run: documents were replaced, or others added and deleted (1 write); "
    )


def test_a_finished_run_is_not_taken_for_a_new_one(engine, capsys):
    run(engine, "--journal", str(JOURNAL))
    engine.asked.clear()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    assert "starting anew: the run in run.journal is finished" in capsys.readouterr().err


def set_fixture():
    """Let the suite build its index."""
    fixture = "fixture: {documents: d.jsonl}"
    documents = [f"{name}{n}" for n in range(QUERIES) for name in ("d", "e", "gone")]
    Path("d.jsonl").write_text("".join(json.dumps({"id": one}) + "\n" for one in documents), encoding="utf-8")
    Path("shop.relevance.yaml").write_text(suite_text().replace("depth:", f"{fixture}\ndepth:"), encoding="utf-8")


def test_a_run_whose_index_could_not_be_built_leaves_a_journal_to_go_on_with(engine, monkeypatch, capsys):
    def refuse(*_, **__):
        raise SearchError("the harness writes only with --allow-write")

    set_fixture()
    monkeypatch.setattr(harness.search.fixtures, "ensure_index", refuse)
    assert run(engine)[0] == 3
    assert run(engine)[0] == 3
    monkeypatch.setattr(harness.search.fixtures, "ensure_index", lambda *_, **__: "products")
    resumed = run(engine, "--resume")
    assert "relevance: shop: going on with an earlier run: 0 of 30 queries answered" in capsys.readouterr().err
    assert not Path("report.json.journal").exists()
    assert resumed == run(engine)


@pytest.mark.parametrize("is_ended", [False, True])
def test_an_index_that_the_suite_builds_again_is_the_same(engine, is_ended, monkeypatch):
    monkeypatch.setattr(harness.search.fixtures, "ensure_index", lambda *_, **__: "products")
    set_fixture()
    whole = run(engine, "--allow-write")
    engine.broken = {"text 7": 400} if is_ended else {}
    run(engine, "--allow-write", "--journal", str(JOURNAL))
    engine.broken.clear()
    if not is_ended:
        cut_in_the_middle()
    set_index(engine, uuid="two")
    engine.asked.clear()
    assert run(engine, "--allow-write", "--journal", str(JOURNAL), "--resume") == whole
    assert 0 < sum(engine.asked.values()) < QUERIES


ODD = [[("a", 1e308), ("b", None)], [("null", 2.0), ("\x7f\u2028é", 1.0)], []]


@pytest.mark.parametrize("hits", ODD)
def test_any_answer_comes_back_as_it_was(engine, hits):
    for n in range(QUERIES):
        engine.rankings[f"text {n}"] = hits
    whole = run(engine, "--journal", str(JOURNAL))
    JOURNAL.write_bytes(JOURNAL.read_bytes().rpartition(b'{"end"')[0])
    assert run(engine, "--journal", str(JOURNAL), "--resume") == whole


def test_a_run_that_was_killed_before_its_report_is_finished_by_the_next(engine, capsys):
    whole = run(engine)
    for named, journal in ((("--journal", str(JOURNAL)), JOURNAL), ((), Path("report.json.journal"))):
        run(engine, "--journal", str(journal))
        journal.write_bytes(journal.read_bytes().rpartition(b'{"reported": true')[0])
        engine.asked.clear()
        assert run(engine, *named, "--resume") == whole
        assert not engine.asked
        assert journal.exists() == bool(named)
    capsys.readouterr()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert "the run in run.journal is finished" in capsys.readouterr().err


def test_each_cell_goes_on_by_itself(engine, capsys):
    cells = ("--index", "products", "--index", "other", "--journal", str(JOURNAL))
    set_index(engine, index="other")
    whole = run(engine, *cells)
    content = JOURNAL.read_bytes()
    second = content.index(b'{"journal"', 10)
    JOURNAL.write_bytes(content[: (second + len(content)) // 2])
    engine.asked.clear()
    assert run(engine, *cells, "--resume") == whole
    assert 0 < sum(engine.asked.values()) < QUERIES


def test_a_file_that_is_no_journal_stays(engine, capsys):
    JOURNAL.write_text("precious\n", encoding="utf-8")
    assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--journal", str(JOURNAL)]) == 2
    assert "run.journal is there and is no journal; remove it, or name another file" in capsys.readouterr().err
    assert JOURNAL.read_text(encoding="utf-8") == "precious\n"


@pytest.mark.parametrize("line", ['{"query": "q1"}', '{"query": "q1", "ranking": {"hits": 3}}'])
def test_a_journal_with_a_wrong_line_is_not_gone_on_with(engine, line, capsys):
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    content = JOURNAL.read_bytes()
    seal = parse_journal(content, "run.journal").seal
    JOURNAL.write_bytes(content.rpartition(b"\n")[0] + b"\n" + seal.seal_line(f"{line}\n".encode()))
    engine.asked.clear()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    assert "found no line of a journal" in capsys.readouterr().err


def leave_unreported_run(engine):
    """The report of a run, whose journal is left as if the process had been killed before it was written."""
    whole = run(engine, "--journal", str(JOURNAL))
    JOURNAL.write_bytes(JOURNAL.read_bytes().rpartition(b'{"reported": true')[0])
    engine.asked.clear()
    return whole


def test_a_flipped_bit_is_noticed_and_what_it_hit_is_asked_again(engine, capsys):
    whole = leave_unreported_run(engine)
    content = JOURNAL.read_bytes()
    first_line, last_line = content.index(b"\n"), content.rindex(b"\n", 0, -1)
    chosen = random.Random(11)
    for place in chosen.sample(range(first_line + 1, last_line), 10):
        damaged = bytearray(content)
        damaged[place] ^= 1 << chosen.randrange(8)
        JOURNAL.write_bytes(damaged)
        engine.asked.clear()
        capsys.readouterr()
        assert run(engine, "--journal", str(JOURNAL), "--resume") == whole, place
        assert 1 <= sum(engine.asked.values()) <= 2, place  # 2 where the line break is gone
        number = content[:place].count(b"\n") + 1
        said = capsys.readouterr().err
        assert "relevance: run.journal: left out what is damaged, line" in said
        assert f" {number}" in said
        assert not parse_journal(JOURNAL.read_bytes(), "run.journal").damaged


def test_a_score_with_another_digit_is_no_answer(engine):
    whole = leave_unreported_run(engine)
    content = JOURNAL.read_bytes()
    place = content.index(b'"score": ', content.index(b'{"query"')) + len(b'"score": ')
    other = b"1" if content[place : place + 1] != b"1" else b"3"
    JOURNAL.write_bytes(content[:place] + other + content[place + 1 :])
    assert run(engine, "--journal", str(JOURNAL), "--resume") == whole
    assert sum(engine.asked.values()) == 1


@pytest.mark.parametrize("joined", [False, True])
def test_a_line_that_is_cut_short_in_the_middle_is_asked_again(engine, joined):
    whole = leave_unreported_run(engine)
    lines = JOURNAL.read_bytes().split(b"\n")
    cut = lines[5][: len(lines[5]) // 2]
    lines[5:7] = [cut + lines[6]] if joined else [cut, lines[6]]
    JOURNAL.write_bytes(b"\n".join(lines))
    assert run(engine, "--journal", str(JOURNAL), "--resume") == whole
    assert sum(engine.asked.values()) == (2 if joined else 1)


def test_answers_behind_a_damaged_header_are_of_no_other_cell(engine):
    set_index(engine, index="second")
    cells = ("--index", "products", "--index", "second")
    whole = run(engine, *cells, "--journal", str(JOURNAL))
    content = JOURNAL.read_bytes().rpartition(b'{"reported": true')[0]
    engine.rankings["text 1"] = ["x1", "f1"]  # only what is asked again sees it
    begin = content.rindex(b'{"journal"')
    JOURNAL.write_bytes(content[:begin] + content[begin:].replace(b'"name": "shop"', b'"name": "shoq"', 1))
    engine.asked.clear()
    _, report = run(engine, *cells, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    first, second = [[query["scores"] for query in suite["queries"]] for suite in report["suites"]]
    first_before, second_before = [[query["scores"] for query in suite["queries"]] for suite in whole[1]["suites"]]
    assert first == first_before
    assert second != second_before


def test_a_journal_without_checksums_is_none(engine, capsys):
    leave_unreported_run(engine)
    JOURNAL.write_bytes(re.sub(rb', "crc32": "[0-9a-f]{8}"', b"", JOURNAL.read_bytes()))
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    assert "starting anew: run.journal:1:1: found no line of a journal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"visible": 200}, {"visible": 201}, "documents that were written before became visible to searches"),
        ({"visible": 210}, {"visible": 200}, ""),
        ({"mapping": {"properties": {}}}, {"mapping": {"properties": {"title": {}}}}, "mapping of products changed"),
        ({"mapping": {"properties": {}}}, {"mapping": {"properties": {"other": {}}}}, ""),
        ({"visible": 200}, {}, ""),
    ],
)
def test_what_is_searched_by_now_is_compared(engine, capsys, before, after, reason):
    set_index(engine, **before)
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    set_index(engine, **after)
    run(engine, "--journal", str(JOURNAL), "--resume")
    told = capsys.readouterr().err
    assert reason in told if reason else "going on with an earlier run" in told
    assert ("starting anew" in told) == bool(reason)


def test_hits_of_another_index_before_a_run_was_killed_are_seen_when_it_goes_on(engine):
    engine.stands_for["products"] = "products-v2"
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    engine.stands_for.clear()
    status, report = run(engine, "--journal", str(JOURNAL), "--resume")
    assert status == 3
    assert "some hits are in products-v2, for which it did not stand" in json.dumps(report)


def test_no_secret_is_in_a_journal(engine, monkeypatch, capsys):
    monkeypatch.setenv("RELEVANCE_TENANT_TOKEN", "s3cr3t-of-acme")
    text = (
        suite_text()
        .replace("text 5,", '"${RELEVANCE_TENANT_TOKEN}",')
        .replace("suite: shop", "suite: shop ${RELEVANCE_TENANT_TOKEN}")
    )
    text = text.replace("index: products", 'index: "p-${RELEVANCE_TENANT_TOKEN}"')
    index = {"p-s3cr3t-of-acme": {"settings": {"index": {"uuid": "one"}}}}
    engine.gets["/p-s3cr3t-of-acme/_settings/index.uuid"] = index
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    engine.answers["s3cr3t-of-acme"] = {"error": {"type": "x", "reason": "no s3cr3t-of-acme"}, "status": 400}
    assert run(engine, "--journal", str(JOURNAL))[0] == 3
    content = JOURNAL.read_text(encoding="utf-8")
    assert "${RELEVANCE_TENANT_TOKEN}" in content
    assert "s3cr3t" not in content
    assert '"p-${RELEVANCE_TENANT_TOKEN}": "one"' in content
    cut_in_the_middle()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert "going on with an earlier run" in (told := capsys.readouterr().err)
    assert "s3cr3t" not in told + JOURNAL.read_text(encoding="utf-8")
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert "29 of 30 queries answered" in capsys.readouterr().err


def test_no_secret_of_the_name_of_an_index_is_in_what_a_run_leaves(engine, monkeypatch, capsys):
    monkeypatch.setenv("RELEVANCE_TENANT_TOKEN", "s3cr3t-of-acme")
    Path("shop.relevance.yaml").write_text(
        suite_text().replace("index: products", 'index: "p-${RELEVANCE_TENANT_TOKEN}"'), encoding="utf-8"
    )
    one, two = "p-s3cr3t-of-acme-1", "p-s3cr3t-of-acme-2"
    copy = {"state": "STARTED", "primary": True, "node": "n-s3cr3t-of-acme", "index": one, "shard": 0}
    path = "/p-s3cr3t-of-acme/"

    def stands_for(*names):
        engine.gets[f"{path}_settings/index.uuid"] = {
            name: {"settings": {"index": {"uuid": name[-1]}}} for name in names
        }

    for preference in ("relevance-harness", "relevance-harness-2"):
        searched = {"nodes": {}, "indices": {one: {}}, "shards": [[copy]]}
        engine.gets[f"{path}_search_shards?preference={preference}"] = searched
    shards = {"0": [{"seq_no": {"max_seq_no": 3}}]}
    engine.gets[f"{path}_stats/docs?{urlencode(SHARD_STATS)}"] = {"indices": {one: {"uuid": "1", "shards": shards}}}
    stands_for(one)
    engine.before_search = lambda: stands_for(one, two)
    others = ["--repeat", "2", "--output", "html=r.html", "--output", "markdown=r.md"]
    status, report = run(engine, "--journal", str(JOURNAL), *others)
    assert status == 3
    assert "it stood for p-${RELEVANCE_TENANT_TOKEN}-1 and stands for " in json.dumps(report)
    printed = "".join(capsys.readouterr())
    left = [path.read_text(encoding="utf-8") for path in Path().iterdir() if path.is_file()]
    assert len(left) >= 5
    assert not [text for text in [printed, *left] if "s3cr3t" in text]


def test_another_path_of_a_service_is_another_run(engine, capsys):
    suite = Path("shop.relevance.yaml")
    service = "request: {http: {method: GET, path: /v1/search, params: {q: '{{text}}'}, ids: '$.ids[*]'}}"
    lines = suite_text().splitlines()
    suite.write_text("\n".join([lines[0], service, *lines[3:]]), encoding="utf-8")
    run(engine, "--journal", str(JOURNAL))
    suite.write_text(suite.read_text(encoding="utf-8").replace("/v1/", "/v2/"), encoding="utf-8")
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert "starting anew: the run in run.journal differs in request\n" in capsys.readouterr().err


def test_another_value_of_a_variable_is_another_run(engine, monkeypatch, capsys):
    text = suite_text().replace("index: products", 'index: "${RELEVANCE_INDEX}"')
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("RELEVANCE_INDEX", "products_v1")
    run(engine, "--journal", str(JOURNAL))
    cut_in_the_middle()
    monkeypatch.setenv("RELEVANCE_INDEX", "products_v2")
    engine.asked.clear()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    assert "differs in variables of the environment\n" in capsys.readouterr().err


def test_without_a_place_for_a_journal_a_resumed_run_starts_anew(engine, capsys):
    assert main(["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--resume"]) == 1
    assert "relevance: starting anew: without --journal and --output no run leaves a journal" in capsys.readouterr().err


def test_an_index_from_the_environment_is_masked_in_the_journal_and_known_to_the_run_that_goes_on(engine, monkeypatch):
    monkeypatch.setenv("RELEVANCE_INDEX", "products")
    path = Path("shop.relevance.yaml")
    path.write_text(suite_text().replace("index: products", 'index: "${RELEVANCE_INDEX}"'), encoding="utf-8")
    whole = run(engine, "--journal", str(JOURNAL))
    content = JOURNAL.read_bytes()
    assert b'"index": "${RELEVANCE_INDEX}"' in content
    engine.sent.clear()
    JOURNAL.write_bytes(content[: content.rindex(b'{"reported"')])
    assert run(engine, "--journal", str(JOURNAL), "--resume") == whole
    assert not [path for _, path in engine.sent if "RELEVANCE_INDEX" in path]


@needs_extension("distributed")
def test_headers_of_few_or_usual_letters_spoil_no_journal(engine, monkeypatch):
    headers = []
    for number, tenant in enumerate(["1", "ee", "name", "suite", "kind", "state", "products", "journal"]):
        monkeypatch.setenv(f"TENANT_{number}", tenant)
        headers.append(f'X-Tenant-{number} = "TENANT_{number}"')
    Path("relevance.toml").write_text(
        f'[clusters.default]\nurl = "{engine.url}"\nheaders_env = {{{", ".join(headers)}}}\n', encoding="utf-8"
    )
    command = ["run", "shop.relevance.yaml", "-q", "--journal", str(JOURNAL), "--output", "json=report.json"]
    assert main(command) == 1
    leave_unreported()
    engine.asked.clear()
    assert main([*command, "--resume"]) == 1
    assert not engine.asked
    assert main(["merge", str(JOURNAL), "-q"]) == 1


def leave_unreported() -> None:
    JOURNAL.write_bytes(JOURNAL.read_bytes().rpartition(b'{"reported": true')[0])


UNCOMPARED = (
    "answers of an earlier run or of another part were kept, and the state of products could not be compared: "
    "it may have changed between them"
)


def test_a_finished_section_is_asked_anew_when_its_index_was_replaced(engine, capsys):
    run(engine, "--journal", str(JOURNAL))
    leave_unreported()
    set_index(engine, "two")
    engine.rankings["text 1"] = ["bad"]
    engine.asked.clear()
    again = run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) == QUERIES
    told = capsys.readouterr().err
    assert "relevance: shop: starting anew: the target changed during the run: products was deleted" in told
    assert again == run(engine)


def test_a_finished_section_whose_engine_is_gone_says_that_its_target_was_not_compared(engine):
    status, whole = run(engine, "--journal", str(JOURNAL))
    leave_unreported()
    url = engine.url
    engine.close()
    again = main(["run", "shop.relevance.yaml", "--url", url, "-q", "--output", f"json={REPORT}",
                  "--journal", str(JOURNAL), "--resume"])  # fmt: skip
    assert again == status
    assert UNCOMPARED in report_at(REPORT)["suites"][0]["notes"]
    assert UNCOMPARED not in whole["suites"][0]["notes"]


@pytest.mark.parametrize("is_ended", [False, True])
def test_an_index_whose_state_can_be_read_no_more_is_asked_whole(engine, is_ended, capsys):
    run(engine, "--journal", str(JOURNAL))
    leave_unreported() if is_ended else cut_in_the_middle()
    engine.gets[SETTINGS] = {"error": "no", "status": 403}
    engine.asked.clear()
    run(engine, "--journal", str(JOURNAL), "--resume")
    assert sum(engine.asked.values()) >= QUERIES
    assert "starting anew: the state of the index could not be read each time" in capsys.readouterr().err


@pytest.mark.parametrize("is_ended", [False, True])
def test_an_index_whose_state_can_never_be_read_is_said_not_to_be_compared(engine, is_ended):
    engine.gets[SETTINGS] = {"error": "no", "status": 403}
    run(engine, "--journal", str(JOURNAL))
    leave_unreported() if is_ended else cut_in_the_middle()
    _, report = run(engine, "--journal", str(JOURNAL), "--resume")
    assert UNCOMPARED in report["suites"][0]["notes"]


def test_a_second_run_on_the_same_journal_is_refused_whether_or_not_it_resumes(engine, capsys):
    named = ["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--journal", str(JOURNAL)]
    code = f"from harness.cli import main; print(main({named}), main({[*named, '--resume']}))"
    others = []

    def run_others():
        engine.before_search = lambda: None
        others.append(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True))

    engine.before_search = run_others
    assert main(named) == 1
    [process] = others
    assert process.stdout == "2 2\n"
    said = "run.journal: another run writes this journal; wait for it, or name another file"
    assert process.stderr.count(said) == 2
    assert main([*named, "--resume"]) == 1
    assert "the run in run.journal is finished" in capsys.readouterr().err


@pytest.mark.parametrize("rights", [0o600, 0o644])
def test_a_journal_that_the_user_lets_others_read_stays_so(engine, rights):
    JOURNAL.touch()
    JOURNAL.chmod(rights)
    left = Path(".run.journal.deadbeef.part")
    left.touch()
    run(engine, "--journal", str(JOURNAL))
    assert JOURNAL.stat().st_mode & 0o777 == rights
    assert not left.exists()
