import json

import pytest

from harness.cli import main
from harness.errors import UsageError
from harness.scaffold import scaffold_files, write_scaffold


def test_the_suite_its_documents_and_judgments_are_written(tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    assert main(["init", str(folder)]) == 0
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == {
        "harness.toml",
        "products.relevance.yaml",
        "products/documents.jsonl",
        "products/judgments.qrels",
    }
    assert f"harness run {folder}/products.relevance.yaml --embedded --allow-write" in capsys.readouterr().out


def test_without_a_folder_it_writes_here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert (tmp_path / "products.relevance.yaml").is_file()
    assert "harness run products.relevance.yaml --embedded --allow-write" in capsys.readouterr().out


def test_nothing_is_replaced_and_nothing_half_written(tmp_path, capsys):
    (tmp_path / "products").mkdir()
    mine = tmp_path / "products" / "documents.jsonl"
    mine.write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert mine.read_text() == "mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert f"{mine}: this is there already, and nothing was written" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_counts_as_there(tmp_path):
    (tmp_path / "harness.toml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"harness\.toml: this is there already"):
        write_scaffold(tmp_path)


def test_a_folder_that_is_a_file_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_scaffold(tmp_path / "file" / "below")


def test_every_judged_document_is_in_the_catalogue():
    files = scaffold_files()
    documents = [json.loads(line) for line in files["products/documents.jsonl"].splitlines()]
    ids = {document["id"] for document in documents}
    assert len(ids) == len(documents) == 24
    judged = {line.split()[2] for line in files["products/judgments.qrels"].splitlines()}
    assert judged <= ids
