"""
The one form of JSON files that the harness writes and reads back: reports, and what stands beside a suite.

A file follows a dataclass, field by field, and has its version under ``schema``. One of another version is refused with
a sentence, never read in part. A key that the version does not know is left out: a later harness may have added it.
JSON has no infinity and no NaN, so these are written as the strings "Infinity", "-Infinity" and "NaN".
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from harness.errors import FormatError, Problem, ProblemCode, UsageError
from harness.files.beside import BesideFile
from harness.files.json import PlacedJson, WrongJson, WrongNumber, build_tree, parse_json
from harness.files.opening import MOST_PROBLEMS, TextSource
from harness.files.writing import write_whole
from harness.model.suite import Json

# pydantic is imported by what reads and writes: a run without a file of JSON needs none of it: scripts/bench/startup.
if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import core_schema

MOST_READ = 2**30
"""Bytes of a file of JSON: the report of a hundred thousand queries has half of that, and a device may have no end."""

T = TypeVar("T")

_NOT_PLAIN = re.compile(r"[^\x00-\x7e]+")
_COMMAND = re.compile(r"#(?=#(?:vso|teamcity)?\[)")
"""The beginning of what CI systems execute anywhere in a line of a log. JSON has a `#` in strings only."""

_CONFLICT = re.compile(r"^<<<<<<< ", re.MULTILINE)


@dataclass(frozen=True)
class VersionedJson(Generic[T]):
    """The JSON files of a *kind*."""

    kind: type[T]
    noun: str
    """What errors call such a file."""
    remedy: str = "write it anew"
    """What to do about a file that cannot be used."""
    is_merged: bool = False
    """
    Whether people keep such files with a suite, read them in diffs, and merge them: then text is written as it is, and
    a key that is there twice is refused. To look for one takes longer than the reading.
    """
    is_strict: bool = False
    """Whether true is no number, and a number in quotes neither."""
    had_no_version: bool = False
    """Whether files of the first version do not say it."""
    unpack: Callable[[Json], Json] | None = None
    """Makes JSON that follows the dataclass of that of a file, where people read another form more easily."""
    earlier: Mapping[int, Callable[[T], T]] = field(default_factory=dict)
    """
    Earlier versions that are read too: the dataclass has a default for each key that they lack. Each has a function
    that makes a value of this version of what was read.
    """

    @cached_property
    def version(self) -> int:
        """The default of the field `schema`: the version that is written."""
        for part in fields(self.kind):  # type: ignore[arg-type]
            if part.name == "schema" and isinstance(part.default, int):
                return part.default
        return 1

    @cached_property
    def adapter(self) -> TypeAdapter[T]:
        """Makes values of JSON, and JSON of values."""
        from pydantic import BeforeValidator, TypeAdapter

        if self.unpack is None:
            return TypeAdapter(self.kind)
        return TypeAdapter(Annotated[self.kind, BeforeValidator(self.unpack)])  # type: ignore[arg-type]

    # Reading.

    def read(self, file: BesideFile | Path) -> T:
        """
        Read *file*; a path is that of a file that the user named, which may be a pipe.

        Raises:
            FormatError: It cannot be read, or as `loads` has it.
        """
        path = file.path if isinstance(file, BesideFile) else file
        try:
            content = file.read(MOST_READ) if isinstance(file, BesideFile) else read_limited(file)
        except FileNotFoundError:
            raise FormatError.at(path, 0, 0, "there is no such file", "unreadable-file") from None
        except OSError as error:
            raise FormatError.at(
                path, 0, 0, f"the file cannot be read: {error.strerror or error}", "unreadable-file"
            ) from None
        return self.loads(content, path=str(path))

    def loads(self, text: str | bytes, *, path: str | None = None, first_line: int = 1) -> T:
        """
        Read what `dumps` wrote.

        Args:
            text: The text of the file, or one line of it.
            path: The file's name in errors; that of the form if there is none.
            first_line: The line of the file where *text* begins.

        Raises:
            FormatError: It is not JSON, is of another version, or lacks fields, or these are of the wrong type; each of
                the first problems has its place.
        """
        from pydantic import ValidationError

        key = '"schema"' if isinstance(text, str) else b'"schema"'
        with suppress(ValidationError, WrongJson):
            if self.is_merged:
                parse_json(_decode(text))
            # This reads large files in half the time of `json`. Where it fails, the text is read again for the places.
            value = self.adapter.validate_json(text, strict=self.is_strict)
            # A field that the text does not have gets the default, which is this version.
            says_version = self.had_no_version or key in text  # type: ignore[operator]
            version = getattr(value, "schema", self.version)
            if says_version and (version == self.version or version in self.earlier):
                return self._bring_up_to_date(value)
        return self._load_checked(text, path or self.noun, first_line)

    def _load_checked(self, content: str | bytes, path: str, first_line: int) -> T:
        """As `loads`, slowly: for a text in which something is wrong."""
        from pydantic import ValidationError

        text = content if isinstance(content, str) else content.decode(errors="replace")
        source = TextSource(path, text)

        def make_problem(offset: int, message: str, code: ProblemCode = "invalid-value") -> Problem:
            line, column = source.find_place(offset)
            return Problem(path, first_line + line - 1, column, message, code=code)

        try:
            raw = parse_json(_decode(content))
        except WrongJson as error:
            advice = self.remedy
            if _CONFLICT.search(text):
                advice = "git left the marks of a conflict in it: keep one side"
            raise FormatError([make_problem(error.offset, f"{error}; {advice}", "syntax")]) from None
        version = raw.get("schema") if isinstance(raw, dict) else None
        is_unmarked = version is None and self.had_no_version
        # In Python true equals 1.
        readable = (*self.earlier, self.version)
        if not is_unmarked and (version not in readable or isinstance(version, bool)):
            found = "no schema version" if version is None else f"schema version {version!r}"
            reason = f"this version of the harness cannot read this {self.noun}; {self.remedy}"
            expected = " or ".join(map(str, readable))
            raise FormatError([make_problem(0, f"found {found}, expected {expected}: {reason}")])
        try:
            return self._bring_up_to_date(self._validate(text, raw))
        except ValidationError as error:
            faults = error.errors(include_url=False)[:MOST_PROBLEMS]
        faults_at: dict[int, list[str]] = {}
        try:
            tree = build_tree(text, PlacedJson)
        except WrongNumber as error:
            raise FormatError([make_problem(error.offset, f"{error}; {self.remedy}")]) from None
        except WrongJson:
            # No places are known of what has half of a character, or is nested deeply.
            tree = None
        for fault in faults:
            name = ".".join(map(str, fault["loc"])) or self.noun
            offset = 0 if tree is None else tree.find_offset(fault["loc"])
            faults_at.setdefault(offset, []).append(f"{name}: {fault['msg']}")
        problems = []
        for offset, sentences in faults_at.items():
            problems.append(make_problem(offset, f"not a {self.noun}: {'; '.join(sentences)}; {self.remedy}"))
        raise FormatError(problems)

    def _bring_up_to_date(self, value: T) -> T:
        version = getattr(value, "schema", self.version)
        return value if version == self.version else self.earlier[version](value)

    def _validate(self, text: str, raw: Json) -> T:
        """The value of *text*, which *raw* is; raises ValidationError."""
        from pydantic import ValidationError

        try:
            return self.adapter.validate_json(text, strict=self.is_strict)
        except ValidationError as error:
            if error.errors(include_url=False)[0]["type"] != "json_invalid":
                raise
        # The validator of texts refuses half of a character, which an id may have.
        return self.adapter.validate_python(raw)

    # Writing.

    def write(self, file: BesideFile | Path, value: T) -> None:
        """
        Write *value* to *file*, whole or not at all; a path is that of a file that the user named.

        Raises:
            UsageError: It cannot be written.
        """
        path = file.path if isinstance(file, BesideFile) else file
        try:
            if isinstance(file, BesideFile):
                file.write(self.dumps(value))
            else:
                write_whole(file, self.dumps(value))
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}", "unreadable-file") from None

    def dumps(self, value: T) -> str:
        """*value* as JSON text, two blanks a level, with a newline at its end; ASCII only, unless people merge it."""
        return self.encode(self.dump_plain(value))

    def dump_plain(self, value: T) -> Json:
        """*value* as values of JSON."""
        return self.adapter.dump_python(value, mode="json")

    def encode(self, plain: Json) -> str:
        """As `dumps`, of what `dump_plain` returned."""
        text = _encode(plain, indent=2) + "\n"
        return text if self.is_merged else escape_json(text)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of what `dumps` writes; docstrings below fields are their descriptions."""
        from pydantic import ConfigDict, TypeAdapter
        from pydantic.json_schema import GenerateJsonSchema

        class NumbersAsTexts(GenerateJsonSchema):
            """Allows for a number the three strings that replace infinities and NaN."""

            def float_schema(self, schema: core_schema.FloatSchema) -> dict[str, Any]:
                return {"anyOf": [super().float_schema(schema), {"enum": ["Infinity", "-Infinity", "NaN"]}]}

        # The adapter of a dataclass itself takes no configuration.
        adapter = TypeAdapter(list[self.kind], config=ConfigDict(use_attribute_docstrings=True))  # type: ignore[name-defined]
        definitions = adapter.json_schema(mode="serialization", schema_generator=NumbersAsTexts)["$defs"]
        root = definitions.pop(self.kind.__name__)
        root["properties"]["schema"] = {"const": self.version, "title": "Schema"}
        title = f"relevance-harness {self.noun}"
        return {"$schema": NumbersAsTexts.schema_dialect, "$defs": definitions, **root, "title": title}


def read_limited(path: Path) -> bytes:
    """
    The content of the file at *path*, which may be a pipe.

    Raises:
        OSError: It cannot be read, or is larger than `MOST_READ`.
    """
    with path.open("rb") as file:
        content = file.read(MOST_READ + 1)
    if len(content) > MOST_READ:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_READ // 2**20} MiB, the limit")
    return content


def _decode(content: str | bytes) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        offset = len(content[: error.start].decode())
        raise WrongJson(f"byte 0x{content[error.start]:02x} is not UTF-8; expected a file in UTF-8", offset) from None


class LineWriter(Generic[T]):
    """Writes values of a *kind*, each as JSON text on one line, as `escape_json` gives it."""

    def __init__(self, kind: type[T]) -> None:
        from pydantic import ConfigDict, TypeAdapter
        from pydantic_core import PydanticSerializationError

        # The adapter of a dataclass itself takes no configuration.
        self._adapter = TypeAdapter(list[kind], config=ConfigDict(ser_json_inf_nan="strings"))  # type: ignore[valid-type]
        self._refusal = PydanticSerializationError

    def dump(self, value: T) -> str:
        """*value* as a line, without a line break."""
        try:
            # Writing text at once takes half of the time of making plain values first: scripts/bench/report-page.
            text = self._adapter.dump_json([value]).decode()
        except self._refusal:
            text = _encode(self._adapter.dump_python([value], mode="json"), indent=None)
        return escape_json(text[1:-1])


def _encode(plain: Json, indent: int | None) -> str:
    """*plain* as JSON text; indented here, as the encoder of the standard library takes ten times as long to indent."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(plain, indent=indent, inf_nan_mode="strings").decode()
    except PydanticSerializationError:
        return to_json(_replace_surrogates(plain), indent=indent, inf_nan_mode="strings").decode()


def _replace_surrogates(value: Json) -> Json:
    """*value* with U+FFFD for each lone surrogate, which UTF-8 cannot encode."""
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def escape_json(text: str) -> str:
    """JSON *text* with an escape for DEL and everything but ASCII, and for what a CI system executes in a log."""
    if not text.isascii() or "\x7f" in text:
        # These occur in strings only.
        text = _NOT_PLAIN.sub(lambda found: json.dumps(found[0])[1:-1], text)
    return escape_json_commands(text)


def escape_json_commands(text: str) -> str:
    r"""
    The same JSON in a *text* that no CI system executes when it is printed into a log.

    >>> escape_json_commands('{"title": "##[stop-commands]x"}')
    '{"title": "\\u0023#[stop-commands]x"}'
    """
    return _COMMAND.sub(r"\\u0023", text) if "##" in text else text
