"""``relevance queries sample`` from a log to a file that a suite reads."""

import csv
import json
import random

import pytest

from builders.terminals import run_on_terminal
from harness.cli import main
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {{index: products}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
measures: ["nDCG@3"]
queries: {file}
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Two hundred queries, some in two spellings, with an address and an order number, in the working directory."""
    monkeypatch.chdir(tmp_path)
    lines = [(f"tent {place}", max(1, 1000 // (place + 1))) for place in range(200)]
    lines += [("Tent  0", 50), ("anna@example.com", 7), ("order 20260101234", 3), ("=1+1", 90), ("c++", 80)]
    path = tmp_path / "searches.csv"
    path.write_text("q,count\n" + "".join(f"{text},{traffic}\n" for text, traffic in lines))
    return path


def sample(capsys, *words):
    status = main(["queries", "sample", *map(str, words)])
    out, err = capsys.readouterr()
    return status, out, err


def test_summary_printed(capsys, log):
    """The strata, what was drawn and what was left out are printed."""
    status, out, err = sample(capsys, log.name, "--size", 9)
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0].startswith("searches.csv CSV: queries in 'q', searches in 'count', ")
    assert " for 202 queries in 203 spellings" in lines[1]
    assert lines[3] == "stratum each sent queries searches share sampled covers"
    strata = {line.split()[0]: line.split() for line in lines[4:8]}
    assert list(strata) == ["head", "torso", "tail", "all"]
    assert [strata[name][-2] for name in ("head", "torso", "tail", "all")] == ["3", "3", "3", "9"]
    assert "9 queries, drawn from each stratum in proportion to traffic, seed 1" in lines
    assert "a weighted mean estimates the mean over all searches" in lines
    assert "left out: 1 query with an email address, 7 searches: xxxx@xxxxxxx.xxx" in lines
    assert "left out: 1 query with a long number, 3 searches: xxxxx 00000000000" in lines
    assert "anna" not in out
    assert "20260101234" not in out


@pytest.mark.parametrize("way", ["frequency", "random", "traffic", "strata"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_suite_reads_what_was_written(capsys, log, way, suffix):
    file = log.with_name(f"queries{suffix}")
    status, out, _ = sample(capsys, log.name, "--by", way, "--size", 40, "--output", file.name)
    assert status == 0
    assert out.endswith(f"wrote {file.name}\n")
    path = log.with_name("shop.relevance.yaml")
    path.write_text(SUITE.format(file=file.name))
    queries = load_suite(path, {}, needs_judgments=False).queries
    assert len(queries) == 40
    assert {tag for query in queries for tag in query.tags} <= {"head", "torso", "tail"}
    assert all(query.weight >= 1 for query in queries)
    if way == "frequency":
        texts = {query.text: query for query in queries}
        assert texts["tent 0"].weight == 1050
        assert (texts["=1+1"].weight, texts["c++"].weight) == (90, 80)
        assert texts["tent 9"].id == "tent-9"


def test_a_suite_is_written_to_begin_with(capsys, log):
    status, out, _ = sample(capsys, log.name, "--size", 6, "--output", "shop.relevance.yaml", "--index", "products")
    assert status == 0
    assert out.endswith("wrote shop.relevance.yaml\nwrote relevance.schema.json\n")
    text = log.with_name("shop.relevance.yaml").read_text()
    assert "index: products" in text
    assert "request:   # TODO" in text
    assert text.count("tags: [") == 6


def test_same_seed_draws_the_same(capsys, log):
    """The same log and seed draw the same, whatever the order of the lines."""
    header, *lines = log.read_text().splitlines(keepends=True)
    shuffled = log.with_name("shuffled.csv")
    shuffled.write_text(header + "".join(random.Random(4).sample(lines, len(lines))))
    for number, name in enumerate([log.name, shuffled.name]):
        assert sample(capsys, name, "--output", f"{number}.csv")[0] == 0
    assert sample(capsys, log.name, "--seed", 2, "--output", "2.csv")[0] == 0
    first, second, third = (log.with_name(f"{number}.csv").read_text() for number in range(3))
    assert first == second != third


def test_without_a_file_the_queries_are_printed(capsys, log):
    status, out, _ = sample(capsys, log.name, "--by", "frequency", "--size", 2)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert status == 0
    assert "query stratum searches weight" in lines
    assert "tent 0 head 1,050 1050" in lines
    assert "of the searches; --by traffic or strata estimates that of all" in " ".join(lines)


def test_a_small_log_is_taken_whole(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text('{"query": "tent", "count": 3}\n{"query": "rope", "count": 1}\n')
    status, out, _ = sample(capsys, "log.jsonl", "--output", "q.jsonl")
    assert status == 0
    assert "2 queries, all of the log; the weight of each is its number of searches" in out
    written = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert written == [
        {"id": "tent", "text": "tent", "weight": 3, "tags": ["head"]},
        {"id": "rope", "text": "rope", "weight": 1, "tags": ["tail"]},
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "searches.csv"], "searches.csv exists already; remove it, or name another file"),
        (["--output", "q.txt"], "--output: found 'q.txt', expected a file that ends in .csv, .jsonl, .yaml or .yml"),
        (["--index", "products"], "--index belongs to a suite; give --output NAME.relevance.yaml too"),
        (["--count-lines", "--count-column", "count"], "remove one of them"),
        (["--size", "2"], "--size 2 has no query for each stratum; give at least 3"),
        (["--query-column", "words"], "expected one named 'words', as --query-column says"),
        (["searches.csv"], "searches.csv is given twice, and would count twice; give it once"),
    ],
)
def test_what_cannot_be_done_is_refused(capsys, log, words, message):
    status, _, err = sample(capsys, log.name, *words)
    assert status == 2
    assert message in err


def test_wrong_lines(capsys, log):
    """Wrong lines are errors with their places, unless they are left out."""
    log.write_text("q,count\ntent,3\nrope of anna,many\n")
    status, _, err = sample(capsys, log.name)
    assert status == 2
    assert "searches.csv:3:14: found 'many' as 'count', expected a whole number from 0 to 2^53" in err
    status, out, err = sample(capsys, log.name, "--skip-wrong-lines")
    assert status == 0
    assert "searches.csv:3:14: found 'many'" in err
    assert "anna" not in err
    assert "searches.csv: 1 line left out" in err
    assert "1 query, all of the log" in out


def test_log_of_private_queries(capsys, log):
    """A log of private queries has nothing to draw from."""
    log.write_text("q\nanna@example.com\n")
    status, _, err = sample(capsys, log.name)
    assert status == 2
    assert "no query is left to draw from: 1 query with an email address" in err


def test_a_spreadsheet_reads_the_file_as_text(capsys, log):
    assert sample(capsys, log.name, "--by", "frequency", "--size", 20, "--output", "q.csv")[0] == 0
    with log.with_name("q.csv").open() as file:
        rows = {row["text"]: row for row in csv.DictReader(file)}
    assert "'=1+1" in rows
    assert rows["tent 1"] == {"id": "tent-1", "text": "tent 1", "weight": "500", "tags": "head"}


def test_what_found_nothing_is_drawn_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("query,count,results\ntent,90,5\nxq 1,7,0\nflights,3,0\n", encoding="utf-8")
    assert main(["queries", "sample", "log.csv", "--zero-hits", "--output", "q.csv"]) == 0
    assert "those with no result by 'results' alone, 10 searches" in " ".join(capsys.readouterr().out.split())
    written = (tmp_path / "q.csv").read_text(encoding="utf-8").splitlines()
    assert written == ["id,text,weight,tags", "xq-1,xq 1,7,head", "flights,flights,3,tail"]
    assert main(["queries", "sample", "log.csv", "--results-column", "results"]) == 2
    assert "--results-column belongs to --zero-hits" in capsys.readouterr().err


def test_a_terminal_is_shown_that_a_log_is_read(log):
    output, shown = run_on_terminal("queries", "sample", log.name, "--json")
    assert json.loads(output)
    assert "reading 1 log" in shown


def test_programs_read_what_was_drawn_and_written(capsys, log):
    status, out, _ = sample(capsys, log.name, "--size", 3, "--by", "frequency", "--output", "queries.csv", "--json")
    result = json.loads(out)
    assert (status, result["files"]) == (0, ["queries.csv"])
    assert result["facts"]["queries"][0] == {"text": "tent 0", "searches": 1050, "stratum": "head", "weight": 1050}
    assert log.with_name("queries.csv").exists()
