"""Judgments and runs as Parquet tables with the columns query, document, and grade or score."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.formats.findings import JUDGMENTS, Findings, Layout, Record
from harness.formats.opening import open_bytes


def parquet_records(path: Path, layout: Layout, findings: Findings) -> Iterator[Record]:
    """The rows of the table, numbered from 1; what is no record goes to *findings*."""
    for number, (query, document, value) in enumerate(_rows(path, layout, findings), start=1):
        if value is None and layout is JUDGMENTS:
            value = ""
        if query is None or document is None or value is None:
            findings.add(number, "a value is null; expected a query, a document and a number")
        elif isinstance(value, bool) or not isinstance(value, (int, float, str)):
            findings.add(number, f"found {value!r} as {layout.value}, expected a number")
        else:
            yield Record(number, _text(query), _text(document), value)


def _rows(path: Path, layout: Layout, findings: Findings) -> Iterator[tuple[Any, Any, Any]]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise UsageError(
            f"{path}: Parquet files need the package pyarrow: pip install 'relevance-harness[files]'"
        ) from None
    names = list(layout.named_columns)
    with open_bytes(path, findings.name) as file:
        try:
            source = parquet.ParquetFile(arrow.BufferReader(file.read()))
            missing = [name for name in names if name not in source.schema_arrow.names]
            if missing:
                findings.add(0, f"the table lacks {', '.join(missing)}; expected the columns {', '.join(names)}")
                return
            for batch in source.iter_batches(columns=names):
                columns = batch.to_pydict()
                yield from zip(*(columns[name] for name in names), strict=True)
        except arrow.ArrowException as error:
            findings.add(0, f"this is not a Parquet file: {error}")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
