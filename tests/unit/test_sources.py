"""Places in a text file, and the excerpts that errors show."""

import pytest

from harness.errors import InputError
from harness.files import opening
from harness.files.opening import TextSource, YamlSource, decode, read_source


def test_a_place_counts_lines_and_columns_from_1():
    source = TextSource("a", "ab\ncd\r\nef\rgh")
    assert [source.find_place(offset) for offset in (0, 2, 3, 7, 10)] == [(1, 1), (1, 3), (2, 1), (3, 1), (4, 1)]


def test_the_line_separators_of_yaml_part_the_lines_of_yaml_alone():
    text = "1\x852\u20283\u20294"
    assert YamlSource("a", text).lines == ["1", "2", "3", "4"]
    assert YamlSource("a", text).find_place(6) == (4, 1)
    assert TextSource("a", text).lines == [text]
    assert TextSource("a", text).find_place(6) == (1, 7)


def test_an_excerpt_shows_the_line_with_a_caret_below():
    assert TextSource("a", "x\nab cd\n").make_excerpt(2, 4) == "    2 | ab cd\n      |    ^"


def test_the_caret_stands_right_below_wide_and_combining_characters():
    assert TextSource("a", "漢字e\u0301x").make_excerpt(1, 5) == "    1 | 漢字e\u0301x\n      |      ^"


def test_a_long_line_is_shown_around_its_place():
    line, caret = TextSource("a", "a" * 300 + "X" + "b" * 300).make_excerpt(1, 301).splitlines()
    assert len(line) == len("    1 | ") + 100
    assert line[caret.index("^")] == "X"


def test_characters_that_would_steer_a_terminal_are_blanks():
    assert TextSource("a", "a\x9b31mb").make_excerpt(1, 1) == "    1 | a 31mb\n      | ^"


@pytest.mark.parametrize("place", [(0, 0), (9, 1), (2, 1)])
def test_where_there_is_no_line_there_is_no_excerpt(place):
    assert TextSource("a", "x\n \ny").make_excerpt(*place) == ""


def test_a_byte_order_mark_is_left_out():
    assert decode(b"\xef\xbb\xbfsuite: x", "a").text == "suite: x"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ok\nb\xc3(", "a:2:2: byte 0xc3 is not UTF-8; expected a file in UTF-8"),
        (b"\xff", "a:1:1: byte 0xff is not UTF-8; expected a file in UTF-8"),
        (b"a\0b", "a:1:2: found a NUL byte; which a text file must not contain"),
        (b"a\n\x1b[31m", "a:2:1: found the character U+001B, which a text file must not contain"),
        ("a\ufeffb".encode(), "a:1:2: found the character U+FEFF, which a text file must not contain"),
        (b"\xfe\xffa", "a:1:1: the file is UTF-16; expected UTF-8"),
    ],
)
def test_what_is_no_text_is_told_with_its_place(content, message):
    with pytest.raises(InputError) as caught:
        decode(content, "a")
    assert str(caught.value).splitlines()[0] == message


def test_a_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 2**20)
    assert len(read_source(path, "a", limit=2**20).text) == 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(InputError, match="a: the file is larger than 1 MiB"):
        read_source(path, "a", limit=2**20)


TEXT = "id\ttext\r\na\tred\n\nb\tblue\u2028c\rd\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", ["", "\n", "e", "e\r"])
def test_a_file_that_is_read_in_blocks_has_the_lines_of_its_text(tmp_path, monkeypatch, size, end):
    monkeypatch.setattr(opening, "_BLOCK", size)
    (tmp_path / "a").write_bytes((TEXT + end).encode())
    whole = TextSource("a", TEXT + end)
    for lines in (TextSource.iterate_lines, TextSource.drain_lines, lambda source: source.lines):
        source = read_source(tmp_path / "a", "a", limit=100)
        assert list(lines(source)) == whole.lines
        assert source.make_excerpt(4, 3) == whole.make_excerpt(4, 3), "read again where it was drained"
        assert source.text == whole.text


def test_drained_lines_of_a_file_that_is_gone_have_no_excerpt(tmp_path):
    (tmp_path / "a").write_text("a\nb")
    source = read_source(tmp_path / "a", "a", limit=100)
    lines = source.drain_lines()
    (tmp_path / "a").unlink()
    assert (list(lines), source.make_excerpt(1, 1)) == (["a", "b"], "")


@pytest.mark.parametrize("wrong", [b"\xff", b"\x00"])
def test_what_is_no_text_has_its_place_in_the_whole_file(tmp_path, monkeypatch, wrong):
    monkeypatch.setattr(opening, "_BLOCK", 4)
    (tmp_path / "a").write_bytes(b"ab\ncd\nef" + wrong + b"g\n")
    with pytest.raises(InputError) as caught:
        read_source(tmp_path / "a", "a", limit=100)
    [problem] = caught.value.problems
    assert (problem.line, problem.column) == (3, 3)
