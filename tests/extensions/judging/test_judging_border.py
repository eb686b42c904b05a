"""No file of a judge leads out of its folder."""

from pathlib import Path

import pytest

from builders.stranger import KEY, SECRET, make_tree, printed, write
from harness.cli import main


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(make_tree(tmp_path))
    return Path.cwd()


def test_a_linked_judges_file_ends_the_command(tree, tmp_path, capsys):
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "a.judged-by.bob.jsonl").symlink_to(write(tmp_path / "secret", KEY))
    assert main(["judge", "agreement", "a.relevance.yaml", "--progress", str(tmp_path / "grades")]) == 2
    text = printed(capsys)
    assert "a.judged-by.bob.jsonl: the file cannot be read: this is a link" in text
    assert SECRET not in text
