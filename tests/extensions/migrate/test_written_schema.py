"""The schema beside a suite that is imported, or made by init."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from builders.schemas import make_outdated_schema
from builders.suites import BODY
from builders.terminals import run_on_terminal
from extensions.migrate.builders.moving import write_files
from harness.cli import main
from harness.suites.discovery import find_suites
from harness.suites.schema_file import SCHEMA_COMMENT, SCHEMA_NAME, render_schema

pytestmark = pytest.mark.usefixtures("working_folder")


def import_queries(output="new/shop.relevance.yaml"):
    write_files({"a.csv": "query,document,grade\nred shoes,sku-1,3\n", "body.json": BODY})
    return main(["import", "csv", "a.csv", "--output", output, "--index", "shop", "--request-file", "body.json"])


@pytest.mark.parametrize("write", [lambda: main(["init", "new"]), import_queries], ids=["init", "import"])
def test_a_suite_that_is_written_names_the_schema_beside_it(write, capsys):
    assert write() == 0
    assert f"wrote new/{SCHEMA_NAME}\n" in capsys.readouterr().out
    [suite] = find_suites([Path("new")]).suites
    text = suite.read_text(encoding="utf-8")
    assert text.startswith(SCHEMA_COMMENT)
    schema = json.loads(Path("new", SCHEMA_NAME).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(text))


def test_a_terminal_is_shown_that_an_import_and_an_export_go_on():
    write_files({"a.csv": "query,document,grade\nred shoes,sku-1,3\n", "body.json": BODY})
    suite = "new/shop.relevance.yaml"
    request = ("--index", "shop", "--request-file", "body.json")
    output, shown = run_on_terminal("import", "csv", "a.csv", "--output", suite, *request)
    assert f"wrote {suite}" in output
    assert "importing csv" in shown
    output, shown = run_on_terminal("export", "trec", suite, "--output", "trec")
    assert "wrote" in output
    assert "exporting 1 suite" in shown


def test_a_schema_that_is_there_is_not_written_again(capsys):
    assert main(["init", "new"]) == 0
    before = Path("new", SCHEMA_NAME).stat()
    capsys.readouterr()
    assert import_queries() == 0
    assert SCHEMA_NAME not in capsys.readouterr().out
    after = Path("new", SCHEMA_NAME).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_schema_of_another_version_is_brought_up_to_date(capsys):
    write_files({f"new/{SCHEMA_NAME}": make_outdated_schema()})
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


@pytest.mark.parametrize("content", ["mine", "[]", "{}", "\udcff", "[" * 100_000])
@pytest.mark.parametrize("write", [lambda: main(["init", "new"]), import_queries], ids=["init", "import"])
def test_another_file_of_that_name_stays_and_nothing_is_written(write, content, capsys):
    path = Path("new", SCHEMA_NAME)
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert write() == 2
    assert f"{path}: found another file, expected the schema of suites or none" in capsys.readouterr().err
    assert list(path.parent.iterdir()) == [path]
