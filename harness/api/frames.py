"""Scores and rankings as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from importlib import import_module
from typing import Any

from harness.api.choices import refuse
from harness.errors import UsageError, pip_install
from harness.model.report import RankedDocument
from harness.words import one_of

PACKAGES = ("pandas", "polars")
"""The packages of data frames, each the name of its extra too; the first that is installed is taken."""

CONTENTS = ("scores", "rankings")
"""What the rows of a frame are: one a query, or one a hit."""


class ColumnType(Enum):
    """The type of the values of a column; a number and a text may be missing."""

    TEXT = auto()
    TEXTS = auto()
    RANK = auto()
    NUMBER = auto()


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column of a frame; None stands for a missing value."""

    name: str
    type: ColumnType
    values: Sequence[Any]


def read_content(content: object) -> str:
    """
    *content*, which is one of `CONTENTS`.

    Raises:
        UsageError: It is not.
    """
    if content not in CONTENTS:
        refuse("content", content, one_of(CONTENTS))
    return str(content)


def make_frame(columns: Sequence[TypedColumn], package: object) -> Any:
    """
    A data frame with *columns*.

    Args:
        columns: Columns with as many values each.
        package: One of `PACKAGES`; None for the first that is installed.

    Raises:
        UsageError: *package* is not one of them or not installed, or neither is.
    """
    if package is not None and package not in PACKAGES:
        refuse("package", package, f"{one_of(PACKAGES)}, or None for the one that is installed")
    name, module = _import_package(PACKAGES if package is None else (str(package),))
    columns = [replace(column, values=_escape_halves(column)) for column in columns]
    if name == "polars":
        types = {
            ColumnType.TEXT: module.String,
            ColumnType.TEXTS: module.List(module.String),
            ColumnType.RANK: module.Int64,
            ColumnType.NUMBER: module.Float64,
        }
        series = [module.Series(column.name, list(column.values), dtype=types[column.type]) for column in columns]
        return module.DataFrame(series)
    # The types are named: pandas would guess another one for a column that is empty, or has no value.
    types = {
        ColumnType.TEXT: "string",
        ColumnType.TEXTS: "object",
        ColumnType.RANK: "Int64",
        ColumnType.NUMBER: "float64",
    }
    return module.DataFrame({column.name: module.Series(column.values, dtype=types[column.type]) for column in columns})


def _escape_halves(column: TypedColumn) -> Sequence[Any]:
    r"""
    The values of *column*, with an escape such as ``\\ud800`` in place of each half of a character.

    Both packages refuse a text with half of a character (a lone surrogate), which JSON may have.
    """
    if column.type is ColumnType.TEXT:
        return [_escape_text(text) for text in column.values]
    if column.type is ColumnType.TEXTS:
        return [list(map(_escape_text, texts)) for texts in column.values]
    return column.values


def _escape_text(text: str | None) -> str | None:
    """*text* with escapes for halves of characters; None stays a missing value."""
    if text is None:
        return None
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _import_package(names: Sequence[str]) -> tuple[str, Any]:
    """The name of the first package of *names* that is installed, and its module; raises UsageError if none is."""
    for name in names:
        try:
            return name, import_module(name)
        except ImportError:
            continue
    installs = " or ".join(pip_install(name) for name in names)
    raise UsageError(f"a data frame needs the package {one_of(names)}: {installs}")


def list_ranking_columns(rankings: Iterable[tuple[str, Sequence[RankedDocument]]]) -> list[TypedColumn]:
    """A row for each hit of *rankings*, each with the id of its query; the names are those of `evaluate_frames`."""
    heads = (
        ("query", ColumnType.TEXT),
        ("rank", ColumnType.RANK),
        ("document", ColumnType.TEXT),
        ("score", ColumnType.NUMBER),
        ("grade", ColumnType.NUMBER),
        ("gain", ColumnType.NUMBER),
        ("title", ColumnType.TEXT),
    )
    rows: list[tuple[Any, ...]] = []
    for query, documents in rankings:
        rows += [(query, hit.rank, hit.id, hit.score, hit.grade, hit.gain, hit.title) for hit in documents]
    return make_columns(heads, rows)


def make_columns(heads: Sequence[tuple[str, ColumnType]], rows: Sequence[tuple[Any, ...]]) -> list[TypedColumn]:
    """A column for each of *heads*, its name and type; each of *rows* has a value for each column, in their order."""
    columns = []
    for number, (name, column_type) in enumerate(heads):
        columns.append(TypedColumn(name, column_type, [row[number] for row in rows]))
    return columns
