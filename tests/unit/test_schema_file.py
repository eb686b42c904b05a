"""The schema beside suites, by which editors complete and check them: written, kept up to date, and named by suites."""

import errno
import json
import os
from pathlib import Path

import jsonschema
import pytest
import yaml

from builders.moving import write_files
from builders.suites import BODY
from harness.cli import main
from harness.errors import UsageError
from harness.suites.discovery import find_suites
from harness.suites.schema_file import SCHEMA_COMMENT, SCHEMA_NAME, SchemaState, read_schema_state, render_schema

pytestmark = pytest.mark.usefixtures("working_folder")

SUITES = Path(__file__).parents[2] / "suites"


def import_queries(output="new/shop.relevance.yaml"):
    write_files({"a.csv": "query,document,grade\nred shoes,sku-1,3\n", "body.json": BODY})
    return main(["import", "csv", "a.csv", "--output", output, "--index", "shop", "--request-file", "body.json"])


def read_outdated():
    schema = json.loads(render_schema())
    del schema["properties"]["tune"]
    return json.dumps(schema)


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


@pytest.mark.parametrize("write", [lambda: main(["init", "new"]), import_queries], ids=["init", "import"])
def test_a_suite_that_is_written_names_the_schema_beside_it(write, capsys):
    assert write() == 0
    assert f"wrote new/{SCHEMA_NAME}\n" in capsys.readouterr().out
    [suite] = find_suites([Path("new")]).suites
    text = suite.read_text(encoding="utf-8")
    assert text.startswith(SCHEMA_COMMENT)
    schema = json.loads(Path("new", SCHEMA_NAME).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(text))


def test_a_schema_that_is_there_is_not_written_again(capsys):
    assert main(["init", "new"]) == 0
    before = Path("new", SCHEMA_NAME).stat()
    capsys.readouterr()
    assert import_queries() == 0
    assert SCHEMA_NAME not in capsys.readouterr().out
    after = Path("new", SCHEMA_NAME).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_schema_of_another_version_is_brought_up_to_date(capsys):
    write_files({f"new/{SCHEMA_NAME}": read_outdated()})
    assert import_queries() == 0
    assert f"wrote new/{SCHEMA_NAME}\n" in capsys.readouterr().out
    assert Path("new", SCHEMA_NAME).read_text(encoding="utf-8") == render_schema()


@pytest.mark.parametrize("indent", [None, 4])
def test_a_schema_that_a_formatter_has_laid_out_anew_is_that_of_today(indent, capsys):
    write_files({f"new/{SCHEMA_NAME}": json.dumps(json.loads(render_schema()), indent=indent)})
    before = Path("new", SCHEMA_NAME).read_bytes()
    assert import_queries() == 0
    assert main(["validate", "new"]) == 0
    assert SCHEMA_NAME not in capsys.readouterr().out
    assert Path("new", SCHEMA_NAME).read_bytes() == before


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


@pytest.mark.parametrize("content", ["mine", "[]", "{}", "\udcff", "[" * 100_000])
@pytest.mark.parametrize("write", [lambda: main(["init", "new"]), import_queries], ids=["init", "import"])
def test_another_file_of_that_name_stays_and_nothing_is_written(write, content, capsys):
    path = Path("new", SCHEMA_NAME)
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert write() == 2
    assert f"{path}: found another file, expected the schema of suites or none" in capsys.readouterr().err
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_with_the_schema_alone_has_no_suite():
    assert main(["schema", "--output", SCHEMA_NAME]) == 0
    with pytest.raises(UsageError, match="found no suite in this folder"):
        find_suites([Path()])


def test_validate_names_a_schema_of_another_version_and_what_updates_it(capsys):
    assert import_queries("sp ace/shop.relevance.yaml") == 0
    Path("sp ace", SCHEMA_NAME).write_text(read_outdated(), encoding="utf-8")
    capsys.readouterr()

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
    write_files({SCHEMA_NAME: read_outdated()})
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
