"""
What the pages of a Parquet file are: their sizes and encodings, from the header of each page.

The end of the file says both too, and readers do not hold it to that: a file that says less there than its pages have
would pass a limit that trusts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

PLAIN, PLAIN_DICTIONARY, LENGTHS_FIRST, DICTIONARY = 0, 2, 6, 8
"""Numbers of encodings; that of the lengths first is called DELTA_LENGTH_BYTE_ARRAY."""

_DATA, _DICTIONARY_PAGE, _DATA_V2 = 0, 2, 3
_DETAILS = {_DATA: (5, 2), _DATA_V2: (8, 4)}
"""By the type of a page: the field of its details in the header, and that of its encoding in those."""

_MOST_DEPTH = 16
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_WHOLE_NUMBERS = (4, 5, 6)

_Struct: TypeAlias = dict[int, Any]


class WrongPages(ValueError):
    """The header of a page is not one."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of *size* bytes when it is unpacked; the *encoding* of its values, None where it has none of a column."""

    size: int
    encoding: int | None


def list_pages(content: bytes, chunk: Any) -> list[Page]:
    """
    The pages of *chunk*, the metadata of a part of a column, in the *content* of its file.

    Raises:
        WrongPages: They cannot be read.
    """
    try:
        return list(_iterate_pages(content, chunk))
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise WrongPages("the header of a page is damaged") from error


def _iterate_pages(content: bytes, chunk: Any) -> Iterator[Page]:
    begin = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < begin:
        begin = chunk.dictionary_page_offset
    end = min(begin + chunk.total_compressed_size, len(content))
    reader, values = _Reader(content, begin), 0
    # As readers do: what is behind the last value is not looked at.
    while reader.place < end and values < chunk.num_values:
        header = reader.read_struct(0)
        kind, size, packed_size = header[1], header[2], header[3]
        if size < 0 or packed_size < 0:
            raise WrongPages("the size of a page is less than 0")
        reader.place += packed_size
        encoding = None
        if kind in _DETAILS:
            field, place = _DETAILS[kind]
            encoding = header[field][place]
            values += header[field][1]
        elif kind == _DICTIONARY_PAGE:
            encoding = DICTIONARY
        yield Page(size, encoding)


class _Reader:
    """Reads what Thrift's compact protocol wrote in *content*, from *place* on."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content = content
        self.place = place

    def read_struct(self, depth: int) -> _Struct:
        if depth > _MOST_DEPTH:
            raise WrongPages("the header of a page is nested too deeply")
        fields: _Struct = {}
        number = 0
        while True:
            begin = self._read_byte()
            if begin == 0:
                return fields
            number = number + (begin >> 4) if begin >> 4 else self._read_whole_number()
            fields[number] = self._read_value(begin & 15, depth)

    def _read_value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in _WHOLE_NUMBERS:
            return self._read_whole_number()
        if kind == _STRUCT:
            return self.read_struct(depth + 1)
        if kind in (_LIST, _SET):
            self._skip_list(depth)
        elif kind == _MAP:
            self._skip_map(depth)
        elif kind == _BINARY:
            size = self._read_size()
            self.place += size
        elif kind == _DOUBLE:
            self.place += 8
        elif kind == _BYTE:
            self.place += 1
        else:
            raise WrongPages("the header of a page has a value of no known type")
        return None

    def _skip_list(self, depth: int) -> None:
        begin = self._read_byte()
        size = begin >> 4 if begin >> 4 < 15 else self._read_size()
        for _ in range(size):
            self._skip_element(begin & 15, depth)

    def _skip_map(self, depth: int) -> None:
        size = self._read_size()
        kinds = self._read_byte() if size else 0
        for _ in range(size):
            self._skip_element(kinds >> 4, depth)
            self._skip_element(kinds & 15, depth)

    def _skip_element(self, kind: int, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise WrongPages("the header of a page is nested too deeply")
        # A truth value in a list takes a byte, unlike one of a field.
        self._read_value(_BYTE if kind in (_TRUE, _FALSE) else kind, depth + 1)
        if self.place > len(self.content):
            raise WrongPages("the header of a page is damaged")

    def _read_byte(self) -> int:
        byte = self.content[self.place]
        self.place += 1
        return byte

    def _read_size(self) -> int:
        size = shift = 0
        while True:
            byte = self._read_byte()
            size |= (byte & 127) << shift
            if byte < 128:
                return size
            shift += 7
            if shift > 63:
                raise WrongPages("a number in the header of a page is too large")

    def _read_whole_number(self) -> int:
        number = self._read_size()
        return (number >> 1) ^ -(number & 1)
