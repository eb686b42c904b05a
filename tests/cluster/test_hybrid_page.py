"""docs/guides/hybrid.md: the commands on the example suite, as a reader types them on the embedded node."""

import shutil
from pathlib import Path

import pytest

from builders.typed_page import assert_shown, find_blocks, split_commands, type_command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "hybrid.md").read_text(encoding="utf-8")
COMPARE = PAGE.partition("## Words, vectors and both\n")[2].partition("\n## ")[0]


@pytest.mark.embedded
@pytest.mark.usefixtures("embedded_node")
def test_words_vectors_and_both_compare_as_the_page_shows(tmp_path, monkeypatch, capfd):
    shutil.copytree(ROOT / "suites", tmp_path / "suites")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    [block] = find_blocks(COMPARE, "console")
    for line, shown in split_commands(block):
        status, printed = type_command(line, capfd)
        assert status == 0, line
        assert_shown(shown, printed, line)


def test_the_thresholds_of_the_page_are_those_of_the_example():
    example = (ROOT / "suites" / "hybrid.relevance.yaml").read_text(encoding="utf-8")
    [block] = find_blocks(PAGE, "yml")
    thresholds = [line.partition("  #")[0].rstrip() for line in block.splitlines() if "threshold:" in line]
    assert len(thresholds) == 3
    assert all(threshold in example for threshold in thresholds)
