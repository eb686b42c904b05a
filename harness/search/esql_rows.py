"""The rows of an answer to ES|QL, as columns and values -> a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.model.run import Hit, Ranking
from harness.model.suite import Json
from harness.search.hits import (
    MalformedAnswer,
    describe_kind,
    describe_value,
    drop_repeated_hits,
    is_text,
    make_printable,
    make_storable,
    read_score,
    read_took,
)

if TYPE_CHECKING:
    from harness.search.esql import EsqlQuery
    from harness.search.msearch import Entry

SCORE = "_score"
"""The column of the score of a full-text search."""


def read_rows(answer: Mapping[str, Any], query: EsqlQuery, entry: Entry) -> Ranking:
    """
    The ranking that the rows of *answer* are, which must not be an error.

    Args:
        answer: Of `_query`, with `columns` and `values`.
        query: What was sent. Its last SORT says by which columns rows tie.
        entry: Says which column holds the id, and how many rows were asked for.

    Raises:
        MalformedAnswer: It is invalid, a row has no id, or one document has two rows.
    """
    columns, rows = _read_columns(answer.get("columns")), answer.get("values")
    if not isinstance(rows, list):
        raise MalformedAnswer(f"the answer should have a list `values`, found {describe_kind(rows)}")
    reader = _RowReader.prepare(columns, query, entry)
    hits = [reader.read_hit(row, number) for number, row in enumerate(rows)]
    if entry.size is not None and len(rows) > entry.size:
        raise MalformedAnswer(f"`values` has {len(rows)} rows, and the LIMIT is {entry.size}")
    hits_once, duplicates = drop_repeated_hits(hits, unique_ids=entry.unique_ids)
    took, took_doubt = read_took(answer.get("took"))
    has_all = query.lists_all and entry.size is not None and len(rows) < entry.size
    return Ranking(
        hits_once,
        total=len(rows) if has_all else None,
        took=took,
        duplicates=duplicates,
        took_doubt=took_doubt,
        # A column of the user's own has numbers of 64 bits.
        exact_scores=reader.has_own_score,
    )


def _read_columns(columns: Json) -> dict[str, int]:
    """The place of each column by its name."""
    if not isinstance(columns, list):
        raise MalformedAnswer(f"the answer should have a list `columns`, found {describe_kind(columns)}")
    places: dict[str, int] = {}
    for place, column in enumerate(columns):
        name = column.get("name") if isinstance(column, Mapping) else None
        if not isinstance(name, str):
            raise MalformedAnswer(f"`columns[{place}]` should have a text `name`, found {describe_value(name)}")
        if name in places:
            raise MalformedAnswer(f"`columns` has {make_printable(name)!r} twice")
        places[name] = place
    return places


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Reads rows of *width* values: the places of the id, the score, the title and the values that order them."""

    width: int
    id_column: str
    identity: int
    score: int | None
    has_own_score: bool
    """Whether the score is a column of the user's, and not that of a full-text search."""
    title: int | None
    sort: tuple[int, ...] | None
    """None where only the score orders them, or is the first of several keys that are not all known."""
    is_order_known: bool

    @classmethod
    def prepare(cls, columns: Mapping[str, int], query: EsqlQuery, entry: Entry) -> _RowReader:
        id_column = entry.id_field or "_id"
        if id_column not in columns:
            remedy = "keep it" if entry.id_field else "write METADATA _id behind FROM, and keep the column"
            raise MalformedAnswer(f"`columns` has no {id_column!r}, which holds the ids of documents: {remedy}")
        keys = query.sort_keys
        first = keys[0].column if keys else ""
        score = columns.get(SCORE)
        has_own_score = False
        if score is None and keys and keys[0].is_descending:
            score = columns.get(first)
            has_own_score = score is not None
        places = [columns[key.column] for key in keys if key.column in columns]
        sort = None
        if first != SCORE or len(keys) > 1:
            sort = tuple(places) if places and len(places) == len(keys) else None
        return cls(
            width=len(columns),
            id_column=id_column,
            identity=columns[id_column],
            score=score,
            has_own_score=has_own_score,
            title=None if entry.title_field is None else columns.get(entry.title_field),
            sort=sort,
            is_order_known=sort is not None or first == SCORE,
        )

    def read_hit(self, row: Json, number: int) -> Hit:
        """The hit that *row* is, the one at that *number* from 0 on."""
        name = f"`values[{number}]`"
        if not isinstance(row, list) or len(row) != self.width:
            raise MalformedAnswer(f"{name} should be a list of {self.width} values, as there are columns")
        identity = row[self.identity]
        if not is_text(identity) and type(identity) is not int:
            raise MalformedAnswer(
                f"{name} should have one text or whole number as {self.id_column!r}, which holds the ids of documents, "
                f"found {describe_value(identity)}"
            )
        score = None
        if self.score is not None:
            score = self._read_score(row[self.score], name)
        # Without the values that order rows, nothing says which of them tie.
        sort: tuple[Json, ...] | None = None if self.is_order_known else ()
        if self.sort is not None:
            sort = tuple(make_storable(row[place]) for place in self.sort)
        return Hit(str(identity), score, _read_title(row, self.title), sort=sort)

    def _read_score(self, value: Json, name: str) -> int | float | None:
        if self.has_own_score and (isinstance(value, bool) or not isinstance(value, int | float)):
            return None  # a date or a text, by which rows are sorted
        return read_score(value, f"the score of {name}")


def _read_title(row: Sequence[Json], place: int | None) -> str | None:
    """The title, the first where there are several."""
    value = None if place is None else row[place]
    if isinstance(value, list) and value:
        value = value[0]
    return make_printable(str(value)) if isinstance(value, str | int | float) else None
