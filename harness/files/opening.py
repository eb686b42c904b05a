"""Opens judgment and run files: their bytes, unpacked for .gz and .zst, their format by name, and problems in them."""

from __future__ import annotations

import gzip
import io
import re
import unicodedata
import zlib
from bisect import bisect_right
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, BinaryIO, ClassVar

from harness.errors import FormatError, InputError, Problem, ProblemCode, missing_package

_PACKED = (".gz", ".zst")


class FileFormat(StrEnum):
    """The format of a file."""

    TREC = "trec"
    CSV = "csv"
    JSON_LINES = "jsonl"
    PARQUET = "parquet"
    YAML = "yaml"


_FORMATS = {
    ".csv": FileFormat.CSV,
    ".jsonl": FileFormat.JSON_LINES,
    ".ndjson": FileFormat.JSON_LINES,
    ".parquet": FileFormat.PARQUET,
    ".yaml": FileFormat.YAML,
    ".yml": FileFormat.YAML,
}

YAML_SUFFIXES = (".yaml", ".yml")


def detect_format(path: Path) -> FileFormat:
    """
    The format by the suffix, a .gz or .zst behind it left out; TREC's for any other suffix.

    >>> detect_format(Path("judgments.jsonl.gz")).value, detect_format(Path("qrels.dev.tsv")).value
    ('jsonl', 'trec')
    """
    return _FORMATS.get(find_inner_suffix(path), FileFormat.TREC)


def find_inner_suffix(path: Path) -> str:
    """
    The suffix in lower case, a .gz or .zst behind it left out.

    >>> find_inner_suffix(Path("judgments.CSV.gz"))
    '.csv'
    """
    inner = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return inner.suffix.lower()


@contextmanager
def open_bytes(path: Path, name: str) -> Iterator[IO[bytes]]:
    """
    The file's unpacked bytes.

    Raises:
        FormatError: There is no such file, it cannot be read, or its compressed data is damaged. Names the file *name*.
    """
    try:
        with _open(path) as file:
            yield file
    except FileNotFoundError:
        raise FormatError.at(name, 0, 0, "there is no such file", "unreadable-file") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError.at(name, 0, 0, f"the file cannot be read: {reason}", "unreadable-file") from None


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    suffix = path.suffix.lower()
    if suffix in _PACKED:
        with gzip.open(path, "rb") if suffix == ".gz" else _open_zstandard(path) as unpacked:
            yield io.BufferedReader(_LimitedStream(unpacked, path.stat().st_size), 1 << 17)
    else:
        with path.open("rb") as file:
            yield file


@contextmanager
def _open_zstandard(path: Path) -> Iterator[IO[bytes]]:
    try:
        import zstandard
    except ImportError:
        raise missing_package(f"{path}: .zst files need", "zstandard", "files") from None
    with path.open("rb") as file:
        try:
            yield io.BufferedReader(_FrameStream(file, zstandard.ZstdDecompressor().decompressobj))
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from None


MOST_UNPACKED = 16 * 2**20
"""Bytes that any packed file may hold."""

MOST_TIMES = 200
"""How many times its own size a packed file may hold beyond that: ids and grades are a tenth when they are packed."""

_LONGEST_LINE = 16 * 2**20
"""Bytes of a line of a packed file."""


class _LimitedStream(io.RawIOBase):
    """A stream of unpacked bytes with limits, against decompression bombs; a reader of lines would hold a long line."""

    def __init__(self, unpacked: Any, packed_size: int) -> None:
        self._unpacked = unpacked
        self._most = max(MOST_UNPACKED, MOST_TIMES * packed_size)
        self._read = 0
        self._line = 0

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As `io.RawIOBase` has it."""
        count: int = self._unpacked.readinto(buffer)
        self._read += count
        end = bytes(buffer[:count]).rfind(b"\n")
        if end < 0:
            self._line += count
        else:
            self._line = count - end - 1
        if self._read > self._most:
            raise OSError(f"it unpacks to more than {self._most // 2**20} MB, {MOST_TIMES} times its size")
        if self._line > _LONGEST_LINE:
            raise OSError(f"a line of it has more than {_LONGEST_LINE // 2**20} MB")
        return count


PACKED_STEP = 2048
"""Bytes that are unpacked at once: zstd makes 128 KB of four of them where a block is all the same."""


class _FrameStream(io.RawIOBase):
    """
    The content of all zstd frames, one after the other.

    The package's own stream reader ends quietly where a file was cut off; a part of the judgments is worse than none.
    """

    def __init__(self, file: IO[bytes], begin_frame: Callable[[], Any]) -> None:
        self._file = file
        self._begin_frame = begin_frame
        self._frame: Any = None
        self._unpacked = b""
        self._packed = b""

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As `io.RawIOBase` has it; 0 at the end of the last frame."""
        while not self._unpacked and self._feed():
            pass
        part = self._unpacked[: len(buffer)]
        buffer[: len(part)] = part
        self._unpacked = self._unpacked[len(part) :]
        return len(part)

    def _feed(self) -> bool:
        """Unpack some more; False at the end of the file."""
        if not self._packed:
            self._packed = self._file.read(PACKED_STEP)
        if not self._packed:
            if self._frame is not None:
                raise EOFError("the file ends inside a zstd frame")
            return False
        if self._frame is None:
            self._frame = self._begin_frame()
        self._unpacked = self._frame.decompress(self._packed)
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = None
        return True


# Files are UTF-8. What a text file cannot hold (bytes that are not UTF-8, NUL and other control characters) is an
# error with its place, not something to be repaired.


_LINE_BREAK = re.compile(r"\r\n|[\n\r]")
_YAML_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
NOT_TEXT = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""A character that a text file must not contain."""

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_EXCERPT_COLUMNS = 100


_BLOCK = 1 << 17
"""Bytes of a text file that are read at once; the memory of larger blocks is returned late, or never."""


class TextSource:
    """The text of a file, in parts that end where a line does; *path* is its name in errors."""

    line_break: ClassVar[re.Pattern[str]] = _LINE_BREAK

    def __init__(self, path: str, *parts: str, again: Callable[[], TextSource] | None = None) -> None:
        """*again* reads the file again; without it the text stays in memory."""
        self.path = path
        self._parts = list(parts)
        self._again = again

    @property
    def text(self) -> str:
        """The whole text; it is read again if its lines were drained."""
        if not self._parts and self._again is not None:
            with suppress(InputError):
                self._parts = [self._again().text]
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.line_break.split(self.text)

    def iterate_lines(self) -> Iterator[str]:
        """The same lines one after the other, of a text that may be long."""
        return _split_lines(self._parts, self.line_break)

    def drain_lines(self) -> Iterator[str]:
        """As `iterate_lines`, for one pass over a long file: the text that was passed does not stay in memory."""
        parts = deque(self._parts)
        if self._again is not None:
            self._parts = []
        return _split_lines(_drain(parts), self.line_break)

    def drain_written_lines(self) -> Iterator[tuple[int, str]]:
        """As `drain_lines`, of lines that are not blank, with their numbers."""
        for number, line in enumerate(self.drain_lines(), start=1):
            if line.strip():
                yield number, line

    def get_line(self, number: int) -> str:
        """Line *number*, from 1; empty beyond the end."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def find_place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of the character at *offset* from 0."""
        line = bisect_right(self._begins, offset)
        return line, offset - self._begins[line - 1] + 1

    @cached_property
    def _begins(self) -> list[int]:
        """The offset at which each line begins: places are looked up often."""
        return [0, *(match.end() for match in self.line_break.finditer(self.text))]

    def make_problem(self, line: int, column: int, message: str, code: ProblemCode = "invalid-value") -> Problem:
        """A problem at a place of this file, with its excerpt; line 0 for the file as a whole."""
        return Problem(self.path, line, column, message, self.make_excerpt(line, column), code=code)

    def make_error(self, line: int, column: int, message: str) -> FormatError:
        """The error for what is at a place of this file."""
        return FormatError([self.make_problem(line, column, message)])

    def make_excerpt(self, line: int, column: int) -> str:
        """The line with its number, and a caret under *column*; empty where there is no such line."""
        text = self.get_line(line)
        if not text.strip():
            return ""
        start, shown = _select_window(text, column)
        gutter = f"{line:>5} | "
        indent = sum(_measure_width(character) for character in shown[: column - 1 - start])
        return f"{gutter}{_make_printable(shown)}\n{' ' * (len(gutter) - 2)}| {' ' * indent}^"


class YamlSource(TextSource):
    """The text of a YAML file, whose lines and places are those that a YAML reader counts."""

    line_break = _YAML_LINE_BREAK


def _drain(parts: deque[str]) -> Iterator[str]:
    while parts:
        yield parts.popleft()


def _split_lines(parts: Iterable[str], line_break: re.Pattern[str]) -> Iterator[str]:
    text, begin = "", 0
    for text in parts:
        begin = 0
        for match in line_break.finditer(text):
            yield text[begin : match.start()]
            begin = match.end()
    yield text[begin:]


def read_source(path: Path, name: str, *, limit: int, kind: type[TextSource] = TextSource) -> TextSource:
    """
    Read a text file.

    Args:
        path: The file.
        name: What errors call it.
        limit: The greatest size in bytes that is read.
        kind: The class of the result, which says where lines end.

    Raises:
        InputError: The file is missing, cannot be read, is too large, is not UTF-8, or holds control characters.
    """
    with open_file(path, name) as file:
        again = partial(read_source, path, name, limit=limit, kind=kind)
        return _decode_blocks(_read_blocks(file, name, limit), name, kind, again)


def _read_blocks(file: BinaryIO, name: str, limit: int) -> Iterator[bytes]:
    """The bytes of *file*, in blocks of whole lines; the last one may end anywhere."""
    parts_of_line: list[bytes] = []
    size = 0
    for chunk in iter(partial(file.read, _BLOCK), b""):
        size += len(chunk)
        if size > limit:
            raise InputError.at(
                name, 0, 0, f"the file is larger than {limit // 2**20} MiB, the limit", "unreadable-file"
            )
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*parts_of_line, chunk[:end]])
            parts_of_line = []
        parts_of_line.append(chunk[end:])
    yield b"".join(parts_of_line)


@contextmanager
def open_file(path: Path, name: str) -> Iterator[BinaryIO]:
    """
    A file opened to read bytes; *name* is its name in errors.

    Raises:
        InputError: The file is missing, is not a file, or cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError.at(name, 0, 0, "this is not a file", "unreadable-file")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError.at(name, 0, 0, _describe_absence(path), "unreadable-file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.at(name, 0, 0, f"the file cannot be read: {reason}", "unreadable-file") from None


def _describe_absence(path: Path) -> str:
    if path.is_symlink():
        return f"this is a link to {path.readlink()}, which does not exist"
    return "there is no such file"


def decode(content: bytes, name: str) -> TextSource:
    """The text of *content*, a leading byte order mark left out; errors as `read_source` has them."""
    return _decode_blocks([content], name, TextSource)


def _decode_blocks(
    blocks: Iterable[bytes], name: str, kind: type[TextSource], again: Callable[[], TextSource] | None = None
) -> TextSource:
    parts: list[str] = []
    for place, block in enumerate(blocks):
        content = block
        if place == 0:
            if block.startswith(_UTF16_MARKS):
                raise InputError.at(name, 1, 1, "the file is UTF-16; expected UTF-8", "unreadable-file")
            content = block.removeprefix(BOM_UTF8)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            valid = kind(name, *parts, content[: error.start].decode())
            line, column = valid.find_place(len(valid.text))
            message = f"byte 0x{content[error.start]:02x} is not UTF-8; expected a file in UTF-8"
            raise InputError([valid.make_problem(line, column, message, "unreadable-file")]) from None
        control = NOT_TEXT.search(text)
        if control:
            source = kind(name, *parts, text)
            line, column = source.find_place(sum(map(len, parts)) + control.start())
            raise InputError([source.make_problem(line, column, _describe_control(control.group()), "unreadable-file")])
        parts.append(text)
    return kind(name, *parts, again=again)


def _describe_control(character: str) -> str:
    if character == "\0":
        return "found a NUL byte; which a text file must not contain"
    return f"found the character U+{ord(character):04X}, which a text file must not contain"


def _select_window(text: str, column: int) -> tuple[int, str]:
    """The part of a long line that is shown around *column*, and where it starts."""
    if len(text) <= _EXCERPT_COLUMNS:
        return 0, text
    start = max(0, min(column - 1 - _EXCERPT_COLUMNS // 2, len(text) - _EXCERPT_COLUMNS))
    return start, text[start : start + _EXCERPT_COLUMNS]


def _make_printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _measure_width(character: str) -> int:
    """Columns that a terminal gives to the character as `_make_printable` shows it."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


MOST_PROBLEMS = 20
"""Problems of one file that are listed; the others are counted."""


@dataclass(frozen=True, slots=True)
class Record:
    """
    One line: *value* is the grade or score as in the file, text or a number, and empty for a document without a grade;
    *subtopic* is empty in a run. *column* is where the record begins.
    """

    line: int
    query: str
    document: str
    value: str | float
    subtopic: str = ""
    column: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a *kind* of file: those of TREC's format, and the name of the value column."""

    kind: str
    value: str
    trec_columns: tuple[str, ...]

    @property
    def named_columns(self) -> tuple[str, str, str]:
        """The columns of a file that names them."""
        return ("query", "document", self.value)


JUDGMENTS = Layout("judgment", "grade", ("query", "iteration", "document", "grade"))
RUNS = Layout("run", "score", ("query", "Q0", "document", "rank", "score", "tag"))


@dataclass(slots=True)
class FileProblems:
    """Problems of one file, the first *most* of them in full."""

    name: str
    problems: list[Problem] = field(default_factory=list)
    others: int = 0
    most: int = MOST_PROBLEMS

    def add(self, line: int, message: str, text: str = "", column: int = 1) -> None:
        """Add a problem in *line*, whose text is *text*."""
        if len(self.problems) >= self.most:
            self.others += 1
            return
        excerpt = make_line_excerpt(line, column, text) if text else ""
        self.problems.append(Problem(self.name, line, column if line else 0, message, excerpt))

    def have_one_cause(self, line: int, message: str, text: str) -> None:
        """Replace the problems so far by one problem of the whole file, of which *line* is an example."""
        self.problems, self.others = [], 0
        self.add(line, message, text)

    def raise_any(self, path: Path) -> None:
        """
        Fail where anything was found in the file *path*.

        Raises:
            FormatError: With all that was found, each with its line.
        """
        self.problems = add_excerpts(path, self.problems)
        problems = self.list_all()
        if problems:
            raise FormatError(problems)

    def list_all(self) -> list[Problem]:
        """The problems, the last of them one that counts those which are not shown."""
        if not self.others:
            return self.problems
        subject = "1 more problem is" if self.others == 1 else f"{self.others} more problems are"
        return [*self.problems, Problem(self.name, 0, 0, f"{subject} not shown", count=self.others)]


def add_excerpts(path: Path, problems: list[Problem]) -> list[Problem]:
    """The problems of a file of text, those without an excerpt with their line, which is read again for that."""
    numbers = {problem.line for problem in problems if problem.line and not problem.excerpt}
    file_format = detect_format(path)
    if not numbers or file_format is FileFormat.PARQUET:
        return problems
    lines: dict[int, str] = {}
    with open_bytes(path, problems[0].path) as file:
        for number, line in enumerate(_iterate_lines(file, file_format), start=1):
            if number in numbers:
                lines[number] = line
            if len(lines) == len(numbers):
                break
    completed = []
    for problem in problems:
        if problem.line in lines:
            excerpt = make_line_excerpt(problem.line, problem.column, lines[problem.line])
            problem = replace(problem, excerpt=excerpt)
        completed.append(problem)
    return completed


def _iterate_lines(file: IO[bytes], file_format: FileFormat) -> Iterator[str]:
    if file_format is FileFormat.YAML:
        yield from YamlSource("", file.read().decode(errors="replace")).lines
        return
    for line in file:
        yield line.decode(errors="replace").rstrip("\r\n")


def make_line_excerpt(line: int, column: int, text: str) -> str:
    """The excerpt of one line, whose text is known."""
    return TextSource("", "\n" * (line - 1) + text).make_excerpt(line, column)
