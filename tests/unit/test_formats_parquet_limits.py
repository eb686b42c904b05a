"""A Parquet file that is small on the disk and large in memory is refused before it is decoded."""

import pytest

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from harness.errors import FormatError
from harness.files import records
from harness.files.judgments import read_judgments

ROWS = 300
ID = "x" * 40_000
LIMIT = 2**20

# Made in the test: together they are 60 MB, in each process that collects.
TYPES = {
    "texts": lambda: pyarrow.array([ID] * ROWS),
    "large texts": lambda: pyarrow.array([ID] * ROWS, pyarrow.large_string()),
    "bytes": lambda: pyarrow.array([ID.encode()] * ROWS),
    "bytes of one length": lambda: pyarrow.array([ID.encode()] * ROWS, pyarrow.binary(len(ID))),
    "a dictionary": lambda: pyarrow.array([ID] * ROWS).dictionary_encode(),
}


def write(path, queries, **options):
    documents = [f"d{number}" for number in range(ROWS)]
    table = pyarrow.table({"query": queries, "document": documents, "grade": [1] * ROWS})
    parquet.write_table(table, path, compression="zstd", **options)
    return path


@pytest.mark.parametrize("kind", TYPES)
def test_one_long_id_in_many_rows_is_refused(tmp_path, monkeypatch, kind):
    path = write(tmp_path / "q.parquet", TYPES[kind](), dictionary_pagesize_limit=2**30)
    assert path.stat().st_size < 2500
    monkeypatch.setattr(records, "MOST_DECODED", LIMIT)
    with pytest.raises(
        FormatError, match="ids and values of more than 1 MB when what is repeated is decoded"
    ) as refusal:
        read_judgments(path)
    assert "not a Parquet" not in str(refusal.value)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_an_encoding_of_differences_is_no_way_around_it(tmp_path, monkeypatch, encoding):
    encodings = {"query": encoding}
    path = write(tmp_path / "q.parquet", TYPES["texts"](), use_dictionary=False, column_encoding=encodings)
    monkeypatch.setattr(records, "MOST_DECODED", LIMIT)
    with pytest.raises(FormatError, match=r"more than 1 MB when what is repeated|unpacks to"):
        read_judgments(path)


def test_the_values_of_grades_count_too(tmp_path, monkeypatch):
    path = tmp_path / "q.parquet"
    columns = {"query": ["q"] * ROWS, "document": [f"d{number}" for number in range(ROWS)], "grade": TYPES["texts"]()}
    parquet.write_table(pyarrow.table(columns), path, compression="zstd", dictionary_pagesize_limit=2**30)
    monkeypatch.setattr(records, "MOST_DECODED", LIMIT)
    with pytest.raises(FormatError, match="more than 1 MB when what is repeated"):
        read_judgments(path)


@pytest.mark.parametrize("use_dictionary", [True, False, ["query"]])
@pytest.mark.parametrize("limit", [64, 2**20])
def test_what_is_decoded_in_parts_is_read_whole(tmp_path, monkeypatch, use_dictionary, limit):
    monkeypatch.setattr(records, "MOST_BATCH_ROWS", 7)
    queries = [f"q{number % 9}" for number in range(ROWS)]
    path = write(tmp_path / "q.parquet", queries, use_dictionary=use_dictionary, row_group_size=limit)
    judgments = read_judgments(path)
    assert sum(map(len, judgments.values())) == ROWS
    assert judgments["q4"]["d13"] == 1


@pytest.mark.parametrize("grade", [[[1]], [{"a": 1}]])
def test_grades_that_hold_other_values_are_refused(tmp_path, grade):
    path = tmp_path / "q.parquet"
    parquet.write_table(pyarrow.table({"query": ["q"], "document": ["d"], "grade": grade}), path)
    with pytest.raises(FormatError, match="the column 'grade' has values of the type"):
        read_judgments(path)


DECLARED = {"plain": 0, "a dictionary": 8, "the lengths first": 6}
"""Encodings by their number, as the end of a file declares them."""


def redeclare(path, encoding):
    """Let the end of the file say *encoding* of its first column, whose pages hold differences (7)."""
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    # Numbers are written twice as large there.
    place = content.index(14, end)
    path.write_bytes(content[:place] + bytes([2 * encoding]) + content[place + 1 :])
    declared = parquet.read_metadata(path).row_group(0).column(0).encodings
    assert "DELTA_BYTE_ARRAY" not in declared


@pytest.mark.parametrize("declared", DECLARED)
def test_what_the_end_of_the_file_says_of_its_pages_is_not_trusted(tmp_path, monkeypatch, declared):
    path = tmp_path / "q.parquet"
    columns = {"query": [f"{ID}{number}" for number in range(ROWS)], "document": ["d"] * ROWS, "grade": [1] * ROWS}
    encodings = {"query": "DELTA_BYTE_ARRAY", "document": "PLAIN", "grade": "PLAIN"}
    options = {"use_dictionary": False, "column_encoding": encodings, "write_statistics": False, "store_schema": False}
    parquet.write_table(pyarrow.table(columns), path, compression="zstd", **options)
    redeclare(path, DECLARED[declared])
    monkeypatch.setattr(records, "MOST_DECODED", LIMIT)
    largest = []
    measure = records._measure_column
    monkeypatch.setattr(records, "_measure_column", lambda column: largest.append(measure(column)) or largest[-1])
    with pytest.raises(FormatError, match="more than 1 MB when what is repeated"):
        read_judgments(path)
    assert max(largest) < LIMIT


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
def test_pages_of_each_kind_are_read(tmp_path, version, compression):
    queries = [f"q{number % 9}" for number in range(ROWS)]
    columns = {"query": queries, "document": [f"d{number}" for number in range(ROWS)], "grade": [1] * ROWS}
    path = tmp_path / "q.parquet"
    options = {"data_page_version": version, "compression": compression, "data_page_size": 64, "write_page_index": True}
    parquet.write_table(pyarrow.table(columns), path, **options, write_batch_size=16)
    assert sum(map(len, read_judgments(path).values())) == ROWS


def test_a_damaged_header_of_a_page_is_a_finding(tmp_path):
    path = write(tmp_path / "q.parquet", ["q"] * ROWS)
    content = bytearray(path.read_bytes())
    content[4:20] = bytes(range(0xF0, 0x100))
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"q\.parquet"):
        read_judgments(path)
