"""Parts of a run put together: the report of a whole run, and what cannot be put together."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.commands import list_unknown_arguments
from builders.journaled import QUERIES, SETTINGS, SUITE, engine_of_shop, report_at, set_index, suite_text
from harness.cli import main
from harness.extensions.distributed import merge_command
from harness.store.history_files import read_history
from harness.store.journal_lines import Seal

REPORT, WHOLE = Path("merged.json"), Path("whole.json")


@pytest.fixture
def engine(working_folder):
    with engine_of_shop() as engine:
        yield engine


def send_part(engine, part, *options, url=None):
    name = f"{part.replace('/', 'of')}.journal"
    status = main(["run", SUITE, "--url", url or engine.url, "-q", "--shard", part, "--journal", name, *options])
    return status, name


def send_all(engine, *options, parts=3):
    return [send_part(engine, f"{number}/{parts}", *options)[1] for number in range(1, parts + 1)]


def run_whole(engine, *options):
    return main(["run", SUITE, "--url", engine.url, "-q", "--output", f"json={WHOLE}", *options]), report_at(WHOLE)


def merge(*journals, options=()):
    status = main(["merge", *journals, "-q", "--output", f"json={REPORT}", *options])
    return status, report_at(REPORT) if REPORT.exists() else None


def refusal(capsys, *journals):
    capsys.readouterr()
    assert main(["merge", *journals]) == 2
    return capsys.readouterr().err


def test_passed_options_are_of_a_run():
    """What merge passes on without reading it are options of a run."""
    assert list_unknown_arguments(merge_command.command) == set()


@pytest.mark.parametrize("parts", [1, 3, QUERIES + 1])
def test_parts_equal_the_whole(engine, parts):
    """The parts of a run are reported and gated as the whole."""
    whole = run_whole(engine)
    engine.asked.clear()
    journals = send_all(engine, parts=parts)
    assert set(engine.asked.values()) == {1}
    assert len(engine.asked) == QUERIES
    engine.asked.clear()
    assert merge(*reversed(journals)) == whole
    assert not engine.asked


def test_parts_with_ties_and_a_baseline(engine):
    """Parts with ties are compared with a baseline as the whole is."""
    engine.score = 1.0
    Path(SUITE).write_text(suite_text("drop nDCG@3 <= 0.01", "mean nDCG@3 >= 0.9"), encoding="utf-8")
    assert main(["baseline", "save", SUITE, "--url", engine.url]) == 0
    engine.rankings["text 1"] = ["x1", "f1"]
    whole = run_whole(engine)
    assert whole[0] == 1
    assert merge(*send_all(engine)) == whole


def test_merged_run_in_the_history(engine):
    """A merged run is kept in the history as the whole is."""
    run_whole(engine, "--history", "of_whole")
    merge(*send_all(engine), options=("--history", "of_parts"))
    [whole] = read_history(Path("of_whole"), "shop")
    [merged] = read_history(Path("of_parts"), "shop")
    assert merged == replace(whole, created=merged.created)


def test_merging_again_keeps_no_other_run(engine):
    journals = send_all(engine)
    sent = datetime.now(UTC)
    for _ in range(3):
        merge(*journals, options=("--history", "kept"))
    [entry] = read_history(Path("kept"), "shop")
    assert datetime.fromisoformat(entry.created) < sent


def test_several_cells_merged(engine):
    """Several suites, requests and indexes are merged, each for itself."""
    Path("other.relevance.yaml").write_text(suite_text().replace("suite: shop", "suite: other"), encoding="utf-8")
    cells = ("other.relevance.yaml", "--index", "products", "--index", "second")
    set_index(engine, index="second")
    whole = run_whole(engine, *cells)
    journals = send_all(engine, *cells)
    status, report = merge(*journals)
    assert (status, report) == whole
    assert [(one["name"], one["index"]) for one in report["suites"]] == [
        ("shop", "products"), ("shop", "second"), ("other", "products"), ("other", "second"),
    ]  # fmt: skip


def test_report_without_the_engine(engine):
    """Without the engine the report says what is unknown."""
    engine.rankings["text 1"] = ["x1"]
    status, whole = run_whole(engine)
    journals = send_all(engine)
    engine.close()
    merged_status, merged = merge(*journals)
    assert merged_status == status == 1
    unknown = "the ranks of missing documents are unknown: there is no connection"
    assert unknown in merged["suites"][0]["notes"]
    assert [query["scores"] for query in merged["suites"][0]["queries"]] == [
        query["scores"] for query in whole["suites"][0]["queries"]
    ]


def test_unanswered_query(engine, capsys):
    """A query without an answer is one of the whole run."""
    engine.broken = {"text 7": 400}
    whole = run_whole(engine)
    first, second = send_part(engine, "1/2"), send_part(engine, "2/2")
    assert [first[0], second[0]] == [0, 3]
    assert "part 2/2: 14 of 15 queries answered, nothing was decided; `relevance merge` reads 2of2.journal" in (
        capsys.readouterr().out
    )
    assert merge(first[1], second[1]) == whole
    assert whole[0] == 3


def test_options_that_decide_are_given_to_merge(engine):
    journals = send_all(engine)
    assert merge(*journals)[0] == 1
    status, report = merge(*journals, options=["--report-only"])
    assert status == 0
    assert report["suites"][0]["report_only"] is True


def test_a_selection_of_queries_is_merged_as_it_ran(engine):
    choice = [word for n in (3, 4, 5, 6) for word in ("--query", f"q{n}")]
    whole = run_whole(engine, *choice)
    assert merge(*send_all(engine, *choice)) == whole


def test_gaps_and_overlaps_are_refused(engine, capsys):
    first, second, third = send_all(engine)
    assert "shop lacks part 2/3" in refusal(capsys, first, third)
    assert "shop lacks parts 2/3, 3/3" in refusal(capsys, first)
    assert "2of3.journal is given twice" in refusal(capsys, first, second, third, f"./{second}")
    copy = Path("copy.journal")
    copy.write_bytes(Path(second).read_bytes())
    assert "part 2/3 of shop is in 2of3.journal, copy.journal" in refusal(capsys, first, second, third, str(copy))
    other = send_part(engine, "1/2")[1]
    assert "1of2.journal: part 1/2 of shop is of another run than 1of3.journal: it is one of 2 parts" in (
        refusal(capsys, first, other)
    )


CHANGED = {
    "judgments": suite_text(grade=1),
    "request": suite_text(depth=4),
    "thresholds": suite_text("mean nDCG@3 >= 0.5"),
    "queries": suite_text().replace(f"text {QUERIES - 1}", "text 1"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_parts_of_different_suites_are_refused(engine, what, capsys):
    first = send_part(engine, "1/2")[1]
    Path(SUITE).write_text(CHANGED[what], encoding="utf-8")
    second = send_part(engine, "2/2")[1]
    told = refusal(capsys, first, second)
    assert f"2of2.journal: part 2/2 of shop is of another run than 1of2.journal: it differs in {what}\n" in told


@pytest.mark.parametrize("what", CHANGED)
def test_changed_suite_refused(engine, what, capsys):
    """A suite that was changed after it ran is refused."""
    journals = send_all(engine)
    Path(SUITE).write_text(CHANGED[what], encoding="utf-8")
    assert f"{SUITE}: the suite was changed after it ran; it differs in {what}\n" in refusal(capsys, *journals)


def test_parts_of_different_targets_are_refused(engine, tmp_path, capsys):
    first, second = (
        send_part(engine, "1/2")[1],
        send_part(engine, "2/2", url=engine.url.replace("127.0.0.1", "localhost"))[1],
    )
    assert "it differs in cluster" in refusal(capsys, first, second)
    set_index(engine, documents=100)
    send_part(engine, "2/2")
    told = refusal(capsys, first, second)
    assert "2of2.journal: part 2/2 of shop is of another target than 1of2.journal: " in told
    assert "it had 200 documents and has 100" in told


def test_replaced_documents_refused(engine, capsys):
    """Parts between which documents were replaced are refused."""
    set_index(engine, written=199)
    first = send_part(engine, "1/2")[1]
    set_index(engine, written=200)
    second = send_part(engine, "2/2")[1]
    assert "documents were replaced, or others added and deleted (1 write)" in refusal(capsys, first, second)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"visible": 200}, {"visible": 201}, "documents that were written before became visible to searches"),
        ({"visible": 210}, {"visible": 200}, ""),
        ({"mapping": {"properties": {}}}, {"mapping": {"properties": {"title": {}}}}, "mapping of products changed"),
        ({"mapping": {"properties": {}}}, {"mapping": {"properties": {"other": {}}}}, ""),
        ({"mapping": {"properties": {}}}, {}, ""),
    ],
)
def test_changed_target_refused(engine, capsys, before, after, reason):
    """Parts between which what is searched changed are refused."""
    set_index(engine, **before)
    first = send_part(engine, "1/2")[1]
    set_index(engine, **after)
    if not after:
        del engine.gets["/products/_mapping"]
    second = send_part(engine, "2/2")[1]
    if reason:
        assert reason in refusal(capsys, first, second)
    else:
        assert main(["merge", first, second]) == 1


@pytest.mark.parametrize("query", [0, 1])
def test_field_of_one_part_is_no_change(engine, query):
    """A field that only the queries of one part name is no change."""
    text = Path(SUITE).read_text(encoding="utf-8").replace(f"text: text {query},", "text: brand,")
    Path(SUITE).write_text(text, encoding="utf-8")
    engine.rankings["brand"] = engine.rankings[f"text {query}"]
    set_index(engine, mapping={"properties": {"title": {"type": "text"}, "brand": {"type": "text"}}})
    whole = run_whole(engine)
    assert merge(*send_all(engine, parts=2)) == whole


def test_hits_in_another_index(engine, capsys):
    """The alias was moved during the second part, and moved back before its end."""
    journals = []
    for part, index in (("1/2", "products"), ("2/2", "products-v2")):
        engine.stands_for["products"] = index
        journals.append(send_part(engine, part)[1])
    assert main(["merge", *journals]) == 3
    assert "some hits are in products-v2, for which it did not stand" in " ".join(capsys.readouterr().out.split())


def test_index_changed_during_a_part(engine):
    """An index that changed during a part makes the run inconclusive."""
    first = send_part(engine, "1/2")[1]
    engine.before_search = lambda: set_index(engine, documents=100)
    second = send_part(engine, "2/2")[1]
    status, report = merge(first, second)
    assert status == 3
    assert {verdict["status"] for verdict in report["suites"][0]["verdicts"]} == {"inconclusive"}


def test_unfinished_part_refused(engine, capsys):
    """A part that did not end is refused until it goes on."""
    first, second = send_part(engine, "1/2")[1], send_part(engine, "2/2")[1]
    whole = merge(first, second)
    content = Path(second).read_bytes()
    Path(second).write_bytes(content[:3000])
    assert "2of2.journal: part 2/2 of shop did not end, with " in refusal(capsys, first, second)
    send_part(engine, "2/2", "--resume")
    assert "going on with an earlier run" in capsys.readouterr().err
    assert merge(first, second) == whole


@pytest.mark.parametrize("number", [2, 5, 17])
def test_a_damaged_part_is_refused_until_it_goes_on(engine, number, capsys):
    whole = run_whole(engine)
    first, second = send_all(engine, parts=2)
    lines = Path(second).read_bytes().split(b"\n")
    content = lines[number - 1]
    lines[number - 1] = content[:-30] + bytes([content[-30] ^ 1]) + content[-29:]
    Path(second).write_bytes(b"\n".join(lines))
    told = refusal(capsys, first, second)
    assert f"{second}: the journal is damaged, line {number}; go on with --resume" in told
    send_part(engine, "2/2", "--resume")
    assert merge(first, second) == whole


def test_damaged_header_refused(engine, capsys):
    """A part whose header is damaged is refused until it ran again."""
    whole = run_whole(engine)
    first, second = send_all(engine, parts=2)
    content = Path(second).read_bytes()
    Path(second).write_bytes(content.replace(b'"name": "shop"', b'"name": "shoq"', 1))
    told = refusal(capsys, first, second)
    assert f"{second}:1:1: found no line of a journal of `relevance run` with the checksum of its content" in told
    send_part(engine, "2/2", "--resume")
    assert merge(first, second) == whole


def test_what_is_no_journal_is_refused(engine, capsys):
    Path("a.journal").write_text("{}\n", encoding="utf-8")
    Path("b.journal").write_text("", encoding="utf-8")
    Path("c.journal").write_text(json.dumps({"journal": 99}) + "\n", encoding="utf-8")
    assert "a.journal:1:1: found no line of a journal" in refusal(capsys, "a.journal")
    assert "b.journal: the journal is empty" in refusal(capsys, "b.journal")
    assert "c.journal:1:1: found version 99 of a journal, expected 1" in refusal(capsys, "c.journal")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shard", "1/2"], "--shard needs --journal FILE"),
        (["--shard", "1/2", "--journal", "j", "--json"], "--shard decides nothing"),
        (["--shard", "1/2", "--journal", "j", "--strict-xfail"], "--shard decides nothing"),
        (["--shard", "1/2", "--journal", "j", "--repeat", "2"], "a part of the queries is sent once; remove --repeat"),
        (["--shard", "3/2"], "found '3/2', expected a part such as 2/4"),
        (["--shard", "0/2"], "found '0/2'"),
        (["--shard", "x"], "found 'x'"),
    ],
)
def test_part_without_a_journal_refused(engine, options, words, capsys):
    """A part without a journal, or with a report, is refused."""
    assert main(["run", SUITE, "--url", engine.url, *options]) == 2
    assert words in capsys.readouterr().err


def test_unread_index_state_refused(engine, capsys):
    """Parts of which one could not read the state of its index are refused."""
    first = send_part(engine, "1/2")[1]
    engine.gets[SETTINGS] = {"error": "no", "status": 500}
    second = send_part(engine, "2/2")[1]
    told = refusal(capsys, first, second)
    assert "of another target than 1of2.journal: the state of the index could not be read each time" in told
    first = send_part(engine, "1/2")[1]
    notes = merge(first, second)[1]["suites"][0]["notes"]
    assert any("the state of products could not be compared" in note for note in notes)


@pytest.mark.parametrize(
    ("field", "name", "value", "words"),
    [
        ("options", "report_only", True, "found 'report_only' in options, expected one of url, "),
        ("options", "baseline", "/etc/passwd", "found 'baseline' in options"),
        ("options", "url", "http://127.0.0.2:1", "found the URL 'http://127.0.0.2:1', expected that of the cluster, "),
        ("options", "url", 5, "found 5 as options.url"),
        ("options", "tags", 5, "found 5 as options.tags"),
        ("options", "tags", [5], "found [5] as options.tags"),
        ("options", "queries", "q1", "found 'q1' as options.queries"),
        ("options", "budget", "x", "found 'x' as options.budget"),
        ("options", "budget", -1, "found -1 as options.budget"),
        ("matrix", "requests", 5, "found 5 as matrix.requests"),
        ("matrix", "zzz", 1, "found 'zzz' in matrix"),
        ("shard", "parts", 0, "found part 1/0"),
        ("shard", "number", 0, "found part 0/2"),
        ("shard", "number", "x", "found no line of a journal"),
    ],
)
def test_a_header_that_no_run_writes_is_refused(engine, field, name, value, words, capsys):
    first, second = send_all(engine, parts=2)
    header, _, rest = Path(first).read_text(encoding="utf-8").partition("\n")
    changed = json.loads(header)
    changed[field][name] = value
    del changed["crc32"]
    sealed = Seal().seal_line(f"{json.dumps(changed)}\n".encode())
    Path(first).write_bytes(sealed + rest.encode())
    told = refusal(capsys, first, second)
    assert f"{first}:1:1: {words}" in told


def test_named_and_unnamed_index_refused(engine, capsys):
    """Journals with and without a named index are refused, and the index is named."""
    first = send_part(engine, "1/1")[1]
    Path(first).rename("own.journal")
    second = send_part(engine, "1/1", "--index", "products")[1]
    told = refusal(capsys, "own.journal", second)
    assert (
        "1of1.journal: part 1/1 of shop, index products is of another run than part 1/1 of shop in own.journal" in told
    )
    assert "changed" not in told


@pytest.mark.parametrize("options", [["--shard", "2/3"], ["--shard", "1/2"], ["--shard", "1/1"], []])
@pytest.mark.parametrize("resumes", [False, True])
def test_unmerged_part_not_replaced(engine, options, resumes, capsys):
    """A part that is not merged yet is not replaced by another run."""
    _, name = send_part(engine, "1/3")
    before = Path(name).read_bytes()
    engine.asked.clear()
    capsys.readouterr()
    words = ["run", SUITE, "--url", engine.url, "-q", "--journal", name, *options]
    assert main([*words, *(["--resume"] if resumes else [])]) == 2
    told = capsys.readouterr().err
    assert f"{name} holds part 1/3 of shop (10 of 10 queries answered), which this run would replace" in told
    assert f"name another file with --journal, or remove {name} if `relevance merge` does not need it any more" in told
    assert Path(name).read_bytes() == before
    assert not engine.asked


def test_a_part_of_another_suite_is_not_replaced(engine, capsys):
    _, name = send_part(engine, "1/2")
    Path("other.relevance.yaml").write_text(suite_text().replace("suite: shop", "suite: other"), encoding="utf-8")
    words = ["--url", engine.url, "-q", "--shard", "1/2", "--journal", name]
    assert main(["run", "other.relevance.yaml", *words]) == 2
    assert "holds part 1/2 of shop (15 of 15 queries answered)" in capsys.readouterr().err
    assert main(["run", SUITE, "other.relevance.yaml", *words]) == 0
    assert main(["run", SUITE, *words]) == 2
    assert "holds part 1/2 of other (15 of 15 queries answered)" in capsys.readouterr().err


def test_the_same_part_may_run_again_or_go_on(engine):
    engine.broken = {"text 2": 400}
    _, name = send_part(engine, "1/2")
    engine.broken.clear()
    engine.asked.clear()
    assert send_part(engine, "1/2", "--resume")[0] == 0
    assert set(engine.asked) == {"text 2"}
    assert send_part(engine, "1/2")[0] == 0
    assert main(["merge", name, send_part(engine, "2/2")[1], "-q"]) == 1


def test_unanswered_part_replaced(engine):
    """The journal of a part without an answer may be replaced."""
    engine.broken = {f"text {number}": 400 for number in range(QUERIES)}
    _, name = send_part(engine, "1/2")
    engine.broken.clear()
    assert main(["run", SUITE, "--url", engine.url, "-q", "--shard", "2/2", "--journal", name]) == 0
