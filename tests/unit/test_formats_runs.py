"""Run files of every form, and each line that is wrong in one."""

import gzip
import math
from pathlib import Path

import pytest

from harness.errors import FormatError
from harness.files.runs import StoredRanking, read_run

EXPECTED = {"q1": StoredRanking(["d2", "d1"], [1.5, 2.0]), "q2": StoredRanking(["d1"], [-0.25])}
FILES = {
    "r.run": "q1 Q0 d2 1 1.5 tag\nq2\tQ0\td1\t1\t-0.25\ttag\n\nq1 Q0  d1 9 2 tag\n",
    "r.csv": "query,document,score,rank\nq1,d2,1.5,1\nq2,d1,-0.25,1\nq1,d1,2,9\n",
    "r.jsonl": '{"query": "q1", "document": "d2", "score": 1.5}\n{"query": "q2", "document": "d1", "score": -0.25}\n'
    '{"query": "q1", "document": "d1", "score": "2"}\n',
}


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("name", FILES)
def test_every_form_gives_the_same_rankings_in_the_order_of_the_file(tmp_path, name):
    assert read_run(write(tmp_path, name, FILES[name])) == EXPECTED


@pytest.mark.parametrize("times", [1, 20_000], ids=["few lines", "many"])
def test_what_stands_behind_the_tag_is_left_alone_as_trec_eval_does(tmp_path, times):
    lines = [f"q{number} Q0 a 1 2.5 tag more junk\nq{number} Q0 b 2 1.5 tag\n" for number in range(times)]
    run = read_run(write(tmp_path, "r.run", "".join(lines)))
    assert len(run) == times
    assert run["q0"] == StoredRanking(["a", "b"], [2.5, 1.5])


@pytest.mark.parametrize("line", ["q Q0 red shoe 1 2.5 tag", "q Q0 sku 17 1 2.5 tag", "q Q0 a 1.5 2.5 tag more"])
def test_a_blank_in_an_id_is_no_remark(tmp_path, line):
    with pytest.raises(FormatError, match="found 7 columns, expected 6: query, Q0, document, rank, score, tag"):
        read_run(write(tmp_path, "r.run", f"{line}\nq Q0 b 2 1.5 tag\n"))


def test_packed_files_are_unpacked(tmp_path):
    (tmp_path / "r.run.gz").write_bytes(gzip.compress(FILES["r.run"].encode()))
    assert read_run(tmp_path / "r.run.gz") == EXPECTED


def test_parquet_gives_the_same_rankings(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    columns = {"query": ["q1", "q2", "q1"], "document": ["d2", "d1", "d1"], "score": [1.5, -0.25, 2.0]}
    pyarrow.parquet.write_table(
        pyarrow.table(columns).cast(
            pyarrow.schema(
                [
                    ("query", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
                    ("document", pyarrow.binary()),
                    ("score", pyarrow.float64()),
                ]
            )
        ),
        tmp_path / "r.parquet",
    )
    assert read_run(tmp_path / "r.parquet") == EXPECTED


def test_scores_are_64_bit_floats_and_may_be_infinite(tmp_path):
    text = "q Q0 a 1 inf t\nq Q0 b 2 -Infinity t\nq Q0 c 3 16777217 t\nq Q0 d 4 0.1 t\nq Q0 e 5 1e400 t\n"
    (ranking,) = read_run(write(tmp_path, "r.run", text)).values()
    assert ranking.scores == [math.inf, -math.inf, 16777217.0, 0.1, math.inf]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "r.run",
            "q Q0 a 1 1 t\nq Q0 b 2 nan t\n",
            ":2:1: the score of document 'b' for query 'q' is NaN, expected a number",
        ),
        ("r.run", "q Q0 a 1 x t\n", ":1:1: found 'x' as the score of document 'a' for query 'q', expected a number"),
        (
            "r.run",
            "q Q0 a 1 1_0 t\n",
            ":1:1: found '1_0' as the score of document 'a' for query 'q', expected a number",
        ),
        ("r.run", "q Q0 a 1 1\n", ":1:1: found 5 columns, expected 6: query, Q0, document, rank, score, tag"),
        (
            "r.run",
            "q Q0 a 1 1 t\np Q0 a 1 1 t\nq Q0 a 2 1 t\n",
            ":3:1: document 'a' comes twice for query 'q', first in line 1",
        ),
        (
            "r.csv",
            "query,document,score\nq,a,1\nq,a,1\n",
            ":3:1: document 'a' comes twice for query 'q', first in line 2",
        ),
        (
            "r.csv",
            "query,document,grade\nq,a,1\n",
            ":1:1: the header lacks score; expected the columns query, document, score",
        ),
        (
            "r.jsonl",
            '{"query": "q", "document": "d", "score": NaN}\n',
            ":1:42: this is not JSON: NaN is not a number that JSON has",
        ),
        (
            "r.jsonl",
            '{"query": "p", "query": "q", "document": "d", "score": 1}\n',
            ":1:16: the object has the key 'query' twice",
        ),
    ],
)
def test_a_wrong_line_is_told(tmp_path, monkeypatch, name, content, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, name, content)
    with pytest.raises(FormatError) as caught:
        read_run(Path(name))
    assert str(caught.value).startswith(name + message)
