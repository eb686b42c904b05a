"""docs/guides/nothing-to-find.md: its suite and its commands, as a reader types them on the embedded node."""

from pathlib import Path

import pytest

from builders.typed_page import assert_shown, follow_page, type_command

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "nothing-to-find.md").read_text(encoding="utf-8")


@pytest.mark.embedded
@pytest.mark.usefixtures("embedded_node")
def test_the_commands_print_what_the_page_shows(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    statuses = []
    for line, shown in follow_page(PAGE):
        status, printed = type_command(line, capfd)
        statuses.append(status)
        assert_shown(shown, printed, line)
    assert statuses == [1, 0, 0]
