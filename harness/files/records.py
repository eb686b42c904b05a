"""
Reads the lines of judgment and run files one by one, with all problems.

TREC files are read in bulk first (`trec.py`), and here only to find an invalid line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeAlias

from harness.errors import missing_package
from harness.extensions import Remedy, find_remedy
from harness.files.opening import (
    JUDGMENTS,
    MOST_TIMES,
    MOST_UNPACKED,
    RUNS,
    FileFormat,
    FileProblems,
    Layout,
    Record,
    detect_format,
    open_bytes,
)
from harness.files.parquet_pages import DICTIONARY, LENGTHS_FIRST, PLAIN, PLAIN_DICTIONARY, Page, WrongPages, list_pages
from harness.files.tables import (
    is_id,
    iterate_all_lines,
    iterate_lines,
    read_json_rows,
    read_number,
    read_table,
    remove_mark,
)
from harness.files.yaml import read_yaml
from harness.words import count, list_repeated, shorten

FOREIGN_COLUMNS = frozenset({"doc id", "doc_id", "docid", "rating"})
"""Columns of Quepid's ratings in lower case, which have the texts of queries in place of ids."""


MACHINE_COLUMN = "graded_by_machine"
"""
The column, or the key, of judgments that names the machine which gave a grade, empty for people's: an export writes it.
As judgments of a suite such grades would count as people's.
"""

COMMENT = "#"
"""The beginning of a comment line in a TREC file, as in trec_eval 10."""

_BLANKS = " \t\r\n\v\f"
_BREAK_INSIDE = re.compile(r"[\r\v\f]")


def read_records(path: Path, layout: Layout, findings: FileProblems) -> Iterator[Record]:
    """The records of the file; lines that are not records go to *findings*."""
    file_format = detect_format(path)
    if file_format is FileFormat.PARQUET:
        yield from _read_parquet(path, layout, findings)
        return
    readers = {
        FileFormat.TREC: _read_trec,
        FileFormat.CSV: _read_csv,
        FileFormat.JSON_LINES: _read_json_lines,
        FileFormat.YAML: read_yaml,
    }
    with open_bytes(path, findings.name) as file:
        yield from readers[file_format](file, layout, findings)


def check_ids(record: Record, findings: FileProblems) -> bool:
    """Whether both ids are not blank; a blank one goes to *findings*."""
    for column, text in (("query", record.query), ("document", record.document)):
        if not text.strip(_BLANKS):
            findings.add(record.line, f"the {column} is empty; expected an id")
            return False
    return True


def _read_trec(file: IO[bytes], layout: Layout, findings: FileProblems) -> Iterator[Record]:
    columns = layout.trec_columns
    document, value = columns.index("document"), columns.index(layout.value)
    # The first line of each number of columns, with its number in the file.
    examples: dict[int, tuple[int, str]] = {}
    for number, text in iterate_lines(file, findings):
        line_break = _BREAK_INSIDE.search(text)
        if line_break:
            message = f"found the character U+{ord(line_break[0]):04X}; "
            message += "expected blanks or tabs, and a line feed at the end"
            findings.add(number, message, text, line_break.start() + 1)
            continue
        if text.startswith(COMMENT):
            continue
        fields = split_blanks(text)
        examples.setdefault(len(fields), (number, text))
        if len(fields) != len(columns) and not (layout is RUNS and _has_remark(fields)):
            findings.add(number, f"found {count(len(fields), 'column')}, {_expect_columns(layout)}", text)
            continue
        yield Record(number, fields[0], fields[document], fields[value], fields[1])
    # A run in place of the judgments, or the other way round, is one mistake and not one in each line.
    other = RUNS if layout is JUDGMENTS else JUDGMENTS
    if set(examples) == {len(other.trec_columns)}:
        [(number, text)] = examples.values()
        found = f"found {len(other.trec_columns)} columns in every line"
        findings.have_one_cause(number, f"{found}, {_expect_columns(layout)}; is this the {other.kind} file?", text)


def _has_remark(fields: Sequence[str]) -> bool:
    """
    Whether a line of a run continues after its tag, which trec_eval ignores.

    If the rank is not a whole number, or the tag is a number, a blank in an id is more likely, and the line is refused.
    """
    if len(fields) <= len(RUNS.trec_columns):
        return False
    rank, tag = fields[RUNS.trec_columns.index("rank")], fields[RUNS.trec_columns.index("tag")]
    return rank.isascii() and rank.isdigit() and read_number(tag) is None


def _expect_columns(layout: Layout) -> str:
    return f"expected {len(layout.trec_columns)}: {', '.join(layout.trec_columns)}"


def split_blanks(text: str) -> list[str]:
    """The columns of a TREC line, separated by ASCII blanks, so that an id may hold any other character."""
    return [column.decode() for column in text.encode().split()]


def _read_csv(file: IO[bytes], layout: Layout, findings: FileProblems) -> Iterator[Record]:
    table = read_table(iterate_all_lines(file, findings), findings, ["query"])
    if table is None:
        return
    hint = ""
    if layout is JUDGMENTS and not FOREIGN_COLUMNS.isdisjoint(name.lower() for name in table.columns):
        hint = find_remedy(Remedy.IMPORT_QUEPID, "; `{command}` writes a suite from ratings of Quepid")
    if not table.need(layout.named_columns, hint):
        return
    places = {column: place for place, column in enumerate(table.columns)}
    query_place, document_place, value_place = (places[name] for name in layout.named_columns)
    subtopic_place = places.get("subtopic")
    machine_place = places.get(MACHINE_COLUMN) if layout is JUDGMENTS else None
    for line, cells in table:
        if machine_place is not None and cells[machine_place].strip():
            table.note(line, cells, _refuse_machine(cells[machine_place]))
            continue
        query, document = remove_mark(cells[query_place]), remove_mark(cells[document_place])
        subtopic = "" if subtopic_place is None else cells[subtopic_place]
        yield Record(line, query, document, cells[value_place].strip(), subtopic)


def _refuse_machine(machine: str) -> str:
    """Why the grade of *machine* is no judgment of people."""
    remedy = find_remedy(Remedy.IMPORT, "`{command}` keeps whose it is; ")
    return f"found a grade of {shorten(machine)}, a machine; {remedy}without {MACHINE_COLUMN!r} it counts as people's"


def _read_json_lines(file: IO[bytes], layout: Layout, findings: FileProblems) -> Iterator[Record]:
    for line, entry, text in read_json_rows(iterate_lines(file, findings), findings, layout.named_columns):
        problem = _find_problem(entry, layout)
        if problem is not None:
            findings.add(line, problem, text)
            continue
        value = "" if entry[layout.value] is None else entry[layout.value]
        subtopic = str(entry.get("subtopic", ""))
        yield Record(line, str(entry["query"]), str(entry["document"]), value, subtopic)


def _find_problem(entry: Mapping[str, Any], layout: Layout) -> str | None:
    """What is wrong with the object of a line; None where nothing is."""
    if layout is JUDGMENTS and entry.get(MACHINE_COLUMN):
        return _refuse_machine(str(entry[MACHINE_COLUMN]))
    for name in ("query", "document"):
        if not is_id(entry[name]):
            return f"found {json.dumps(entry[name])} as {name}, expected a string or a whole number"
    value = entry[layout.value]
    if value is None and layout is JUDGMENTS:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return f"found {json.dumps(value)} as {layout.value}, expected a number"
    return None


ReadValue: TypeAlias = Callable[[Record, FileProblems], float | None]


def read_pairs(
    path: Path,
    layout: Layout,
    name: str,
    read_value: ReadValue,
    *,
    twice: str,
) -> dict[str, dict[str, float]]:
    """
    Read a file that has one value for each query and document.

    Args:
        path: The file.
        layout: What its lines hold.
        name: The file's name in errors.
        read_value: Returns the value of a record, or None where it has none, with a finding if that is wrong.
        twice: The words for a document with a second line: "is judged twice".

    Returns:
        Query to document to value, in the order of the file.

    Raises:
        FormatError: With each malformed line, wrong value, and document that comes twice for a query.
    """
    findings = FileProblems(name)
    values: dict[str, dict[str, float]] = {}
    repeated: list[Record] = []
    # The lines of a query mostly follow each other: its values are looked up once, and added when the next one begins.
    query, values_of_query = "", dict[str, float]()
    for record in read_records(path, layout, findings):
        value = read_value(record, findings)
        if value is None or not check_ids(record, findings):
            continue
        if record.query != query:
            if values_of_query:
                values[query] = values_of_query
            query, values_of_query = record.query, values.get(record.query, {})
        if record.document not in values_of_query:
            values_of_query[record.document] = value
        elif len(repeated) < findings.most:
            repeated.append(record)
        else:
            findings.others += 1
    if values_of_query:
        values[query] = values_of_query
    if repeated:
        # The file is read again for the first lines: to keep all of them would cost every file without such a fault.
        pairs = {(record.query, record.document) for record in repeated}
        lines = find_first_lines(path, layout, pairs, name=name)
        for record in repeated:
            line = lines[record.query, record.document]
            sentence = f"document {record.document!r} {twice} for query {record.query!r}, first in line {line}"
            findings.add(record.line, sentence, column=record.column)
    findings.raise_any(path)
    return values


def find_first_lines(
    path: Path, layout: Layout, pairs: Collection[tuple[str, str]], *, name: str
) -> dict[tuple[str, str], int]:
    """The first line of each of *pairs*, a query and a document; pairs without a line are left out."""
    lines: dict[tuple[str, str], int] = {}
    for record in read_records(path, layout, FileProblems(name)):
        pair = (record.query, record.document)
        if pair in pairs and record.value != "":
            lines.setdefault(pair, record.line)
    return lines


def _read_parquet(path: Path, layout: Layout, findings: FileProblems) -> Iterator[Record]:
    """The rows of the table, numbered from 1; rows that are not records go to *findings*."""
    for number, (query, document, value) in enumerate(_iterate_rows(path, layout, findings), start=1):
        if value is None and layout is JUDGMENTS:
            value = ""
        elif isinstance(value, Decimal):
            value = float(value)
        if query is None or document is None or value is None:
            findings.add(number, "a value is null; expected a query, a document and a number")
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            findings.add(number, f"found {value!r} as {layout.value}, expected a number")
            continue
        try:
            record = Record(number, _decode_id(query), _decode_id(document), value)
        except UnicodeDecodeError:
            findings.add(number, "an id is not UTF-8")
            continue
        yield record


def _iterate_rows(path: Path, layout: Layout, findings: FileProblems) -> Iterator[tuple[Any, Any, Any]]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise missing_package(f"{path}: Parquet files need", "pyarrow", "files") from None
    names = list(layout.named_columns)
    with open_bytes(path, findings.name) as file:
        try:
            content = file.read()
            metadata = parquet.read_metadata(arrow.BufferReader(content))
            # A value that is repeated stands in the file once, and is left so until its size is known.
            chunks = {name: _list_chunks(metadata, name) for name in names}
            pages = {name: [list_pages(content, chunk) for chunk in chunks[name]] for name in names}
            packed = [name for name in names if _is_dictionary(chunks[name], pages[name])]
            source = parquet.ParquetFile(arrow.BufferReader(content), metadata=metadata, read_dictionary=packed)
            problem = _find_size_problem(metadata, pages, len(content))
            problem = problem or _find_column_problem(source.schema_arrow, names)
            if problem:
                findings.add(0, problem)
                return
            most, decoded = max(MOST_DECODED, MOST_TIMES * len(content)), 0
            for batch in source.iter_batches(_count_rows(chunks, pages, packed), columns=names):
                decoded += sum(_measure_column(batch.column(name)) for name in names)
                if decoded > most:
                    size = f"{most // 2**20:,} MB"
                    findings.add(
                        0, f"the table has ids and values of more than {size} when what is repeated is decoded"
                    )
                    return
                columns = [_decode_column(batch.column(name)) for name in names]
                yield from zip(*columns, strict=True)
        except UnicodeDecodeError:
            findings.add(0, "the table has text that is not UTF-8")
        except (arrow.ArrowException, WrongPages) as error:
            findings.add(0, f"this is not a Parquet file: {error}")


_ID_TYPES = re.compile(r"u?int\d+|(?:large_)?(?:string|binary)|(?:string|binary)_view|fixed_size_binary\[\d+\]|null")
"""Types of columns with texts or whole numbers; a column without a value has the type null."""

_FLOAT_TYPES = re.compile(r"halffloat|float|double")


def _find_column_problem(schema: Any, names: Sequence[str]) -> str:
    """Why the columns *names* of a table are not those of a query, a document and a value; empty where they are."""
    missing = [name for name in names if name not in schema.names]
    all_repeated = list_repeated(schema.names)
    repeated = [name for name in names if name in all_repeated]
    if missing:
        return f"the table lacks {', '.join(missing)}; expected the columns {', '.join(names)}"
    if repeated:
        return f"the table names {', '.join(repeated)} twice"
    for name in ("query", "document"):
        column_type = schema.field(name).type
        if str(column_type).startswith("dictionary<"):
            column_type = column_type.value_type
        text = str(column_type)
        if _FLOAT_TYPES.fullmatch(text):
            return f"the column {name!r} has floating-point numbers; write it as integers or strings"
        if not _ID_TYPES.fullmatch(text):
            return f"the column {name!r} has values of the type {text}; expected strings or whole numbers"
    value = schema.field(names[-1]).type
    if value.num_fields:
        return f"the column {names[-1]!r} has values of the type {value}; expected numbers"
    return ""


_Pages: TypeAlias = Mapping[str, Sequence[Sequence[Page]]]
"""By the name of a column: the pages of each of its parts."""

MOST_ROWS, ROWS_A_BYTE = 1_000_000, 100
"""Rows that any file may have, and those that a larger one may have for each byte: pairs of ids need more than that."""


def _find_size_problem(metadata: Any, pages: _Pages, size: int) -> str:
    """Why a table is refused that is small in the file and large in memory; empty for any other."""
    declared = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    unpacked = max(declared, sum(map(_sum_sizes, chain.from_iterable(pages.values()))))
    if unpacked > max(MOST_UNPACKED, MOST_TIMES * size):
        return f"the table unpacks to {unpacked // 2**20:,} MB, more than {MOST_TIMES} times the size of the file"
    if metadata.num_rows > max(MOST_ROWS, ROWS_A_BYTE * size):
        return f"the table has {metadata.num_rows:,} rows in a file of {size:,} bytes, so most of them are the same"
    return ""


MOST_DECODED = 2**28
"""Bytes of the ids and values that any table may have, each as often as it stands in a row."""

MOST_BATCH_ROWS = 2**16


def _list_chunks(metadata: Any, name: str) -> list[Any]:
    """The parts of the column *name*, as the metadata of the file describes them."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if not groups:
        return []
    columns = groups[0].num_columns
    places = [place for place in range(columns) if groups[0].column(place).path_in_schema == name]
    return [group.column(place) for group in groups for place in places]


def _is_text(chunks: Sequence[Any]) -> bool:
    return all(chunk.physical_type == "BYTE_ARRAY" for chunk in chunks)


def _sum_sizes(pages: Sequence[Page]) -> int:
    return sum(page.size for page in pages)


def _list_encodings(pages: Sequence[Sequence[Page]]) -> set[int | None]:
    return {page.encoding for page in chain.from_iterable(pages)}


def _is_dictionary(chunks: Sequence[Any], pages: Sequence[Sequence[Page]]) -> bool:
    """Whether a column has texts, of which each stands once in a part of the file."""
    encodings = _list_encodings(pages) - {None}
    # Of other encodings no dictionary can be made.
    return _is_text(chunks) and DICTIONARY in encodings and encodings <= {PLAIN, PLAIN_DICTIONARY, DICTIONARY}


def _count_rows(chunks: Mapping[str, Sequence[Any]], pages: _Pages, packed: Sequence[str]) -> int:
    """The rows that can be decoded at once, however long their values are."""
    rows = MOST_BATCH_ROWS
    for name, parts in pages.items():
        # With other encodings a short part may stand for a long value too: that of which a value differs from the last.
        is_whole = _list_encodings(parts) <= {PLAIN, LENGTHS_FIRST}
        is_fixed = any(chunk.physical_type == "FIXED_LEN_BYTE_ARRAY" for chunk in chunks[name])
        is_longer = _is_text(chunks[name]) and name not in packed and not is_whole
        if is_fixed or is_longer:
            longest = max(map(_sum_sizes, parts), default=0)
            rows = min(rows, max(1, MOST_DECODED // 4 // max(1, longest)))
    return rows


def _measure_column(column: Any) -> int:
    """The bytes of the values of *column*, those that are repeated too."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    if not arrow.types.is_dictionary(column.type):
        return int(column.nbytes)
    values = column.dictionary
    if not (arrow.types.is_string(values.type) or arrow.types.is_binary(values.type)):
        return int(values.nbytes) + int(column.indices.nbytes)
    lengths = compute.binary_length(values).take(column.indices)
    return int(compute.sum(compute.cast(lengths, arrow.int64())).as_py() or 0)


def _decode_column(column: Any) -> list[Any]:
    import pyarrow as arrow

    values: list[Any] = (column.dictionary_decode() if arrow.types.is_dictionary(column.type) else column).to_pylist()
    return values


def _decode_id(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
