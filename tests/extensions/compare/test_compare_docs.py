"""What docs/guides/compare.md shows is so: two files give its figures, and its forms and thresholds exist."""

import pytest

pytest.importorskip("numpy")

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


RUNS = {
    "old.run": "shoes Q0 sku-17 1 9.5 old\nshoes Q0 sku-4 2 7.1 old\nshoes Q0 sku-9 3 7.1 old\n"
    "boots Q0 sku-2 1 4.0 old\nboots Q0 sku-8 2 3.5 old\n",
    "new.run": "shoes Q0 sku-17 1 20.9 new\nshoes Q0 sku-9 2 15.62 new\nshoes Q0 sku-4 3 15.62 new\n"
    "boots Q0 sku-8 1 8.8 new\nboots Q0 sku-5 2 7.7 new\n",
}
"""Two run files: one query moves by ties alone, the other by more."""


def test_two_files_agree_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, content in RUNS.items():
        Path(name).write_text(content, encoding="utf-8")
    [(command, output)] = [(command, output) for command, output in sessions() if "old.run new.run" in command]
    assert main(shlex.split(command)[1:]) == 1
    assert_shown(capsys.readouterr().out, output)


def test_every_form_is_in_the_table_and_no_other():
    table = TEXT.split("## The two sides")[1].split("\n\n")[1]
    assert set(re.findall(r"`([a-z]+)[:`]", "\n".join(line.split(" | ")[0] for line in table.splitlines()[2:]))) == {
        str(kind) for kind in WORDS
    }


@pytest.mark.parametrize("text", re.findall(r"`((?:drop|worse|mean|every|95%) [^`]+)`", TEXT.split("## Thresholds")[1]))
def test_every_threshold_of_the_page_is_one(text):
    assert read_thresholds([text])
