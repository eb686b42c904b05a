"""The schema beside suites, by which editors complete and check them: written, kept up to date, and named by suites."""

import errno
import os
from pathlib import Path

import pytest

from builders.changing import write_shop
from builders.schemas import make_outdated_schema
from harness.cli import main
from harness.errors import UsageError
from harness.suites.discovery import find_suites
from harness.suites.schema_file import SCHEMA_NAME, SchemaState, read_schema_state, render_schema

pytestmark = pytest.mark.usefixtures("working_folder")

SUITES = Path(__file__).parents[2] / "suites"


def test_the_schema_of_the_example_suites_is_that_of_today():
    written = (SUITES / SCHEMA_NAME).read_text(encoding="utf-8")
    assert written == render_schema(), f"relevance schema --output suites/{SCHEMA_NAME}"


@pytest.mark.parametrize(
    "path", [*find_suites([SUITES]).suites, *SUITES.glob("*/*.failing.yaml")], ids=lambda p: p.name
)
def test_the_first_line_of_each_example_suite_names_the_schema(path):
    first_line = path.read_text(encoding="utf-8").splitlines()[0]
    comment, _, name = first_line.partition("=")
    assert comment == "# yaml-language-server: $schema"
    assert (path.parent / name).samefile(SUITES / SCHEMA_NAME)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_of_that_name_is_not_read():
    Path("new").mkdir()
    os.mkfifo(Path("new", SCHEMA_NAME))
    # Reading it would wait for ever.
    assert read_schema_state(Path("new")) is SchemaState.FOREIGN


def test_a_folder_that_may_not_be_entered_is_left_to_what_writes_there(monkeypatch):
    def refuse(path, **_):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    # As for a user without rights; root may enter each folder.
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        patch.setattr(os, "lstat", refuse)
        assert read_schema_state(Path("new")) is SchemaState.MISSING


def test_a_folder_with_the_schema_alone_has_no_suite():
    assert main(["schema", "--output", SCHEMA_NAME]) == 0
    with pytest.raises(UsageError, match="found no suite in this folder"):
        find_suites([Path()])


def test_validate_names_a_schema_of_another_version_and_what_updates_it(capsys):
    Path("sp ace").mkdir()
    write_shop(Path("sp ace"))
    Path("sp ace", SCHEMA_NAME).write_text(make_outdated_schema(), encoding="utf-8")
    assert main(["validate", "sp ace"]) == 0
    command = f"relevance schema --output 'sp ace/{SCHEMA_NAME}'"
    told = capsys.readouterr().out
    assert f"sp ace/{SCHEMA_NAME} is the schema of another version of the harness; update it with {command}\n" in told

    assert main(["validate", "--quiet", "sp ace"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["schema", "--output", f"sp ace/{SCHEMA_NAME}"]) == 0
    assert main(["validate", "sp ace"]) == 0
    assert SCHEMA_NAME not in capsys.readouterr().out.partition("\n")[2]


def test_a_link_to_a_schema_stays_a_link(capsys):
    """As where init and import update it: several folders may share one schema."""
    Path(SCHEMA_NAME).write_text(make_outdated_schema(), encoding="utf-8")
    link = Path("link.json")
    link.symlink_to(SCHEMA_NAME)
    assert main(["schema", "--output", str(link)]) == 0
    assert link.is_symlink()
    assert Path(SCHEMA_NAME).read_text(encoding="utf-8") == render_schema()

    capsys.readouterr()
    assert main(["schema", "--output", "/dev/stdout"]) == 0
    Path("loop").symlink_to("loop")
    assert main(["schema", "--output", "loop"]) == 0
    assert Path("loop").read_text(encoding="utf-8") == render_schema()


def test_a_schema_that_cannot_be_written_is_a_sentence(capsys):
    assert main(["schema", "--output", "no/such/folder"]) == 2
    assert "no/such/folder: cannot be written" in capsys.readouterr().err
