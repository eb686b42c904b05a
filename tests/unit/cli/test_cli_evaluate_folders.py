"""Runs in folders of Parquet files: the scores are those of one file, and a query in two files is refused."""

import json
import random
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from harness.cli import main
from harness.files.partitions import Partition
from harness.files.runs import FileOptions, read_measures

pyarrow = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
pytest.importorskip("pyarrow.parquet")

MEASURES = ["--measure", "nDCG@3", "--measure", "AP", "--measure", "NumRet"]
QUERIES = 40


def write(path, rows, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ["query", "document", value]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A run and judgments, whole and in three files each; one query is not in the run, and one not judged."""
    monkeypatch.chdir(tmp_path)
    chosen = random.Random(3)
    hits = [(f"q{n}", f"d{m}", chosen.random()) for n in range(1, QUERIES) for m in chosen.sample(range(20), 8)]
    grades = [(f"q{n}", f"d{m}", chosen.randrange(3)) for n in range(QUERIES - 1) for m in chosen.sample(range(20), 9)]
    write(Path("run.parquet"), hits, "score")
    write(Path("qrels.parquet"), grades, "grade")
    for part in range(3):
        for name, rows, value in (("run", hits, "score"), ("qrels", grades, "grade")):
            mine = [row for row in rows if int(row[0][1:]) % 3 == part]
            write(Path(name, f"bucket={part}", "part.parquet"), mine, value)
    Path("run/_metadata.parquet").write_bytes(b"")
    return tmp_path


def evaluated(capsys, *words):
    assert main(["evaluate", *words, *MEASURES, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("more", [[], ["--complete"]])
@pytest.mark.parametrize("judgments", ["qrels.parquet", "qrels"])
def test_the_files_of_a_folder_are_scored_as_one(folder, judgments, more, capsys):
    whole = evaluated(capsys, "--qrels", "qrels.parquet", "--run", "run.parquet", *more)
    assert evaluated(capsys, "--qrels", judgments, "--run", "run", *more) == whole
    assert len(whole["measures"]["AP"]["queries"]) == QUERIES - (0 if more else 1)


def refused(capsys, *words):
    capsys.readouterr()
    assert main(["evaluate", *words, *MEASURES]) == 2
    return capsys.readouterr().err


def test_a_query_in_two_files_is_refused(folder, capsys):
    write(Path("run/bucket=3/part.parquet"), [("q5", "d1", 0.5), ("q6", "d1", 0.5)], "score")
    told = refused(capsys, "--qrels", "qrels.parquet", "--run", "run")
    assert "run/bucket=3/part.parquet: the query 'q5' is in run/bucket=2/part.parquet too (as are 1 more)" in told
    assert "write all rows of a query to one file" in told


def test_a_folder_of_which_no_query_is_judged_is_refused(folder, capsys):
    write(Path("other.parquet"), [(f"{n:03}", "d1", 1) for n in range(500, 540)], "grade")
    assert main(["evaluate", "--qrels", "other.parquet", "--run", "run", *MEASURES]) == 2
    assert "run: no query of the run is judged in other.parquet: the run has 'q" in capsys.readouterr().err


def test_judgments_apart_from_their_hits_are_refused(folder, capsys):
    assert "run/bucket=3/part.parquet: there is no file of that name in the other folder" in (
        write(Path("run/bucket=3/part.parquet"), [("q99", "d1", 0.5)], "score")
        or refused(capsys, "--qrels", "qrels", "--run", "run")
    )
    write(Path("qrels/bucket=3/part.parquet"), [("q100", "d1", 1)], "grade")
    evaluated(capsys, "--qrels", "qrels", "--run", "run")
    write(Path("qrels/bucket=3/part.parquet"), [("q5", "d1", 1)], "grade")
    told = refused(capsys, "--qrels", "qrels", "--run", "run")
    assert "qrels/bucket=3/part.parquet: the judgments of the query 'q5' is in qrels/bucket=2/part.parquet too" in told
    write(Path("run/bucket=3/part.parquet"), [("q0", "d1", 0.5)], "score")
    write(Path("qrels/bucket=3/part.parquet"), [("q100", "d1", 1)], "grade")
    told = refused(capsys, "--qrels", "qrels", "--run", "run")
    assert "run/bucket=3/part.parquet: the query 'q0' has its judgments in qrels/bucket=0/part.parquet" in told


def test_the_first_of_many_files_alone_are_named(folder, capsys):
    for number in range(10, 17):
        write(Path(f"run/bucket={number}/part.parquet"), [(f"q{number}", "d1", 0.5)], "score")
    told = refused(capsys, "--qrels", "qrels", "--run", "run")
    assert "run/bucket=14/part.parquet and 2 more: there is no file of that name" in told
    assert "and 2 more and" not in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--qrels", "qrels", "--run", "run.parquet"], "run.parquet is a file"),
        pytest.param(
            ["--qrels", "qrels.parquet", "--run", "run.parquet", "--scheduler", "tcp://x:1"],
            "run.parquet is a file",
            marks=needs_extension("distributed"),
        ),
        (["--qrels", "qrels.parquet", "--run", "empty"], "empty: the folder has no .parquet file"),
    ],
)
def test_what_is_no_folder_of_files_is_refused(folder, words, told, capsys):
    Path("empty").mkdir()
    assert told in refused(capsys, *words)


@needs_extension("distributed")
def test_a_wrong_file_is_said_by_a_worker(folder):
    from harness.extensions.distributed.scheduler import score_part

    Path("run/bucket=0/part.parquet").write_bytes(b"no")
    part = Partition(Path("qrels.parquet"), Path("run/bucket=0/part.parquet"))
    said = score_part(folder, part, FileOptions(read_measures(["AP"])))
    assert isinstance(said, str)
    assert "this is not a Parquet file" in said
