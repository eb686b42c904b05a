"""What docs/coming-from/index.md shows is what the commands write."""

import re
import shlex
from pathlib import Path

import pytest

from harness.cli import main
from harness.migrate import FORMATS

TEXT = (Path(__file__).parents[2] / "docs" / "coming-from" / "index.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]}
SAMPLE = re.compile(r"such\s+as `([\w./-]+)`:\n\n```\w*\n(.*?)```", re.DOTALL)
WRITTEN = re.compile(r"^`harness ((?:im|ex)port [^`]*)` writes:\n\n```\w+\n(.*?)```", re.DOTALL | re.MULTILINE)


def test_every_format_has_a_row():
    rows = re.findall(r"^\| (`.*?) \|", TEXT.split("\n\n**Profile")[0], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(.+?)`", row)} == set(FORMATS)


@pytest.mark.parametrize("section", [name for name, text in SECTIONS.items() if WRITTEN.search(text)])
def test_the_example_of_a_section_is_what_is_written(section, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in SAMPLE.findall(TEXT[: TEXT.index(SECTIONS[section])] + SECTIONS[section]):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    commands = WRITTEN.findall(SECTIONS[section])
    for line, text in commands:
        words = shlex.split(line)
        assert main(words) == 0, capsys.readouterr().err
        assert Path(words[words.index("--output") + 1]).read_text(encoding="utf-8") == text
