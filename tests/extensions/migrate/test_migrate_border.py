"""What is imported leads to no other folder."""

import json
from pathlib import Path

import pytest

from builders.stranger import KEY, SECRET, make_tree, printed, write
from harness.cli import main


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(make_tree(tmp_path))
    return Path.cwd()


def test_the_name_of_a_template_of_rre_leads_to_no_other_folder(tree, capsys):
    write(tree / "../../secret.json", json.dumps({"query": {"match": {"title": SECRET}}}))
    write(tree / "rre" / "templates" / ".hidden.json", json.dumps({"query": {"match": {"title": SECRET}}}))
    (tree / "rre" / "templates" / "link.json").symlink_to(tree / "../../secret.json")
    for name in ("../../../../secret.json", "link.json", ".hidden.json"):
        query = {"template": name, "placeholders": {"$query": "shoes"}, "relevant_documents": {"1": ["a"]}}
        write(tree / "rre" / "ratings" / "shop.json", json.dumps({"index": "products", "queries": [query]}))
        main(["import", "rre", "rre/ratings/shop.json", "--output", f"out-{len(name)}"])
        assert f"the template '{name}', which is in no folder 'templates' beside the ratings" in printed(capsys)
    assert not [path for path in tree.glob("out-*/*") if SECRET in path.read_text()]


@pytest.mark.parametrize(
    ("kind", "link"),
    [("rre", "ratings/x.json"), ("beir", "queries.jsonl"), ("beir", "corpus.jsonl"), ("beir", "qrels/test.tsv")],
)
def test_what_an_import_finds_in_a_folder_leads_not_out_of_it(tree, capsys, kind, link):
    write(tree / "../../secret", KEY)
    write(tree / "set" / "queries.jsonl", '{"_id": "1", "text": "a"}\n')
    write(tree / "set" / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\n")
    (tree / "set" / link).unlink(missing_ok=True)
    (tree / "set" / link).parent.mkdir(exist_ok=True)
    (tree / "set" / link).symlink_to(tree / "../../secret")
    assert main(["import", kind, "set", "--output", "out"]) == 2
    text = printed(capsys)
    assert f"set/{link}: this is not read, as what it leads to is outside of" in text
    assert SECRET not in text
