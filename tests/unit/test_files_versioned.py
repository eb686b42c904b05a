"""The one form of JSON files: versions, and the place of what is wrong."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.errors import FormatError, UsageError
from harness.files.beside import BesideFile
from harness.files.json import PlacedJson, WrongJson, build_tree, parse_json
from harness.files.versioned import LineWriter, VersionedJson


@dataclass(frozen=True)
class Shelf:
    """A kind of file."""

    name: str
    books: tuple[str, ...] = ()
    width: float = 1
    schema: int = 1


FORM = VersionedJson(Shelf, "shelf", remedy="build it", is_merged=True, is_strict=True, had_no_version=True)
PRINTED = VersionedJson(Shelf, "shelf")
RAISED = VersionedJson(Shelf, "shelf", earlier={0: lambda shelf: replace(shelf, width=shelf.width * 100, schema=1)})
"""The first version had the width in metres, the next one has it in centimetres."""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "s:1:2: this is not JSON: Expecting property name enclosed in double quotes; build it"),
        ('{"name": "a",\n "width": NaN}', "s:2:11: this is not JSON: NaN is not a number that JSON has; build it"),
        ('{"name": "a",\n "name": "b"}', "s:2:2: the object has the key 'name' twice; build it"),
        ('{"name": "a",\n<<<<<<< mine\n', "this is not JSON: Expecting property name enclosed in double quotes; git"),
        ('{"width": ' + "9" * 5000 + "}", "s:1:11: a number has too many digits; build it"),
        ("[" * 100_000, "s:1:1: the JSON is nested too deeply; build it"),
        (b'{"name": "\xff"}', "s:1:11: byte 0xff is not UTF-8; expected a file in UTF-8; build it"),
        ("[]", "s:1:1: not a shelf: shelf: "),
        (
            '{"schema": 2}',
            "s:1:1: found schema version 2, expected 1: this version of the harness cannot",
        ),
        ('{"name": "a",\n "books": ["b", 3]}', "s:2:17: not a shelf: books.1: Input should be a valid string; build"),
        ('{"name": "a",\n "width": true}', "s:2:11: not a shelf: width: Input should be a valid number; build it"),
        ("{}", "s:1:1: not a shelf: name: Field required; build it"),
    ],
)
def test_what_is_wrong_has_its_place(text: str | bytes, sentence: str) -> None:
    with pytest.raises(FormatError) as caught:
        FORM.loads(text, path="s")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("name", ["a", "\\ud83d"])
def test_an_earlier_version_is_read_as_one_of_today(name: str) -> None:
    old = RAISED.loads(f'{{"name": "{name}", "width": 2, "schema": 0}}')
    assert old == RAISED.loads(f'{{"name": "{name}", "width": 200, "schema": 1}}')
    assert (old.width, old.schema) == (200, 1)


@pytest.mark.parametrize("version", ["2", "null"])
def test_a_version_that_is_neither_of_today_nor_an_earlier_one_is_refused(version: str) -> None:
    with pytest.raises(FormatError, match="expected 0 or 1: this version of the harness cannot read"):
        RAISED.loads(f'{{"name": "a", "schema": {version}}}')


def test_a_line_of_a_file_has_the_number_of_that_line() -> None:
    with pytest.raises(FormatError, match=r"s:7:10: not a shelf: name: "):
        FORM.loads('{"name": 1}', path="s", first_line=7)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    shelf = Shelf("Zelt „groß“ \x7f", ("a", "b"), 2.5)
    FORM.write(tmp_path / "s.json", shelf)
    assert "„groß“" in (tmp_path / "s.json").read_text(encoding="utf-8")
    assert FORM.read(tmp_path / "s.json") == FORM.read(BesideFile(tmp_path / "s.json")) == shelf
    assert PRINTED.dumps(shelf).isascii()
    assert PRINTED.loads(PRINTED.dumps(shelf)) == shelf


def test_a_key_of_a_later_harness_is_left_out_and_an_old_file_says_no_version() -> None:
    assert FORM.loads('{"name": "a", "color": {"deep": 1}}') == Shelf("a")
    with pytest.raises(FormatError, match="found no schema version, expected 1"):
        PRINTED.loads("{}")


def test_half_of_a_character_is_read() -> None:
    assert FORM.loads('{"name": "\\ud83d"}') == Shelf("\ud83d")


def test_a_file_that_is_missing_or_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"s\.json: there is no such file"):
        FORM.read(tmp_path / "s.json")
    with pytest.raises(UsageError, match="cannot be written: "):
        FORM.write(tmp_path / "none" / "s.json", Shelf("a"))


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ('{"a": "NaN", "b": [-Infinity]}', 20, "-Infinity is not a number that JSON has"),
        ('{"a": {"b": 1, "b": 2}}', 16, "the object has the key 'b' twice"),
        ('{"a": }', 7, "Expecting value"),
    ],
)
def test_a_wrong_text_has_its_column(text: str, column: int, sentence: str) -> None:
    with pytest.raises(WrongJson, match=sentence) as caught:
        parse_json(text)
    assert caught.value.column == column


@pytest.mark.parametrize("text", ['{"a": 1e999}', '{"a": "\\udead"}', "[" * 101 + "]" * 101])
def test_a_tree_has_what_a_file_can_hold(text: str) -> None:
    with pytest.raises(WrongJson):
        build_tree(text, PlacedJson)


@pytest.mark.parametrize("name", ["Zelt „groß“ \x7f", "##[x]", "half \ud83d"])
def test_a_line_has_what_a_file_has(name: str) -> None:
    shelf = Shelf(name, ("a",), float("inf"))
    line = LineWriter(Shelf).dump(shelf)
    assert line.isascii()
    assert json.loads(line) == json.loads(PRINTED.dumps(shelf))
    assert '"width":"Infinity"' in line
