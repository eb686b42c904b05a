"""What docs/guides/compare.md shows is so: its files give its figures, and its forms and options exist."""

import pytest

pytest.importorskip("numpy")

import doctest
import re
import shlex
from pathlib import Path

from harness.cli import main
from harness.extensions.compare.forms import WORDS
from harness.extensions.compare.preparing import read_thresholds

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "compare.md"
TEXT = PAGE.read_text(encoding="utf-8")


def sessions():
    """By command, what the page shows of its output; those of one block in their order."""
    for block in re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def assert_shown(output, shown):
    """Each passage of *shown* stands in *output* as it is, one after another; an ellipsis parts them."""
    position = 0
    for passage in re.split(r"^…\n", shown, flags=re.MULTILINE):
        assert passage in output[position:], f"not printed, or not there:\n{passage}"
        position = output.index(passage, position) + len(passage)


def test_the_files_of_the_page_give_its_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = list(sessions())
    for command, content in shown:
        if command.startswith("cat "):
            Path(command.removeprefix("cat ")).write_text(content, encoding="utf-8")
    [(command, output)] = [(command, output) for command, output in shown if "old.run new.run" in command]
    assert main(shlex.split(command)[1:]) == 1
    assert_shown(capsys.readouterr().out, output)


def test_the_plain_rankings_of_the_page_give_its_figures():
    found = doctest.DocTestParser().get_doctest(TEXT, {}, "compare.md", str(PAGE), 0)
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0


def test_every_form_is_in_the_table_and_no_other():
    table = TEXT.split("## The two sides")[1].split("\n\n")[1]
    assert set(re.findall(r"`([a-z]+)[:`]", "\n".join(line.split(" | ")[0] for line in table.splitlines()[2:]))) == {
        str(kind) for kind in WORDS
    }


@pytest.mark.parametrize("text", re.findall(r"`((?:drop|worse|mean|every|95%) [^`]+)`", TEXT.split("## Thresholds")[1]))
def test_every_threshold_of_the_page_is_one(text):
    assert read_thresholds([text])
