import json
from pathlib import Path

import pytest
import yaml

from builders.engine import Fault, ScriptedEngine
from harness.cli import main
from harness.errors import UsageError
from harness.extensions.migrate.scaffold import list_scaffold_files, write_scaffold
from harness.suites import load_suite


def test_first_suite_written(tmp_path, capsys):
    """The suite, its documents and its judgments are written."""
    folder = tmp_path / "new" / "folder"
    assert main(["init", str(folder)]) == 0
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == {
        ".gitignore",
        "relevance.toml",
        "products.relevance.yaml",
        "products/documents.jsonl",
        "products/judgments.qrels",
        "relevance.schema.json",
    }
    assert f"relevance run {folder}/products.relevance.yaml --embedded --allow-write" in capsys.readouterr().out


def test_the_next_step_is_quoted_for_a_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "sp ace"]) == 0
    assert "  relevance run 'sp ace/products.relevance.yaml' --embedded --allow-write\n" in capsys.readouterr().out


def test_without_a_folder_it_writes_here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert (tmp_path / "products.relevance.yaml").is_file()
    assert "relevance run products.relevance.yaml --embedded --allow-write" in capsys.readouterr().out


def test_nothing_is_replaced_and_nothing_half_written(tmp_path, capsys):
    (tmp_path / "products").mkdir()
    mine = tmp_path / "products" / "documents.jsonl"
    mine.write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert mine.read_text() == "mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert f"{mine}: this is there already, and nothing was written" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_counts_as_there(tmp_path):
    (tmp_path / "relevance.toml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"relevance\.toml: this is there already"):
        write_scaffold(tmp_path)


def test_a_folder_that_is_a_file_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_scaffold(tmp_path / "file" / "below")


def test_every_judged_document_is_in_the_catalogue():
    files = list_scaffold_files()
    documents = [json.loads(line) for line in files["products/documents.jsonl"].splitlines()]
    ids = {document["id"] for document in documents}
    assert len(ids) == len(documents) == 24
    judged = {line.split()[2] for line in files["products/judgments.qrels"].splitlines()}
    assert judged <= ids


def test_suite_of_an_index_has_no_login(tmp_path, monkeypatch, capsys):
    """A suite that is made from an index names the cluster, and holds no login."""
    monkeypatch.chdir(tmp_path)
    text = {"text": {"searchable": True, "aggregatable": False}}
    monkeypatch.setenv("SHOP_KEY", "sentinel:secret")
    with ScriptedEngine() as engine:
        engine.gets["/i/_field_caps?fields=*&include_unmapped=true"] = {"fields": {"title": text, "a.body": text}}
        engine.faults.append(Fault("/i/_search", status=400, body=b'{"error": "no sample for you"}'))
        (tmp_path / "relevance.toml").write_text(f'[clusters.shop]\nurl = "{engine.url}"\napi_key_env = "SHOP_KEY"\n')
        (tmp_path / "queries.txt").write_text("red ${SHOP_KEY}\n")
        queries = ["--queries", str(tmp_path / "queries.txt")]
        for options in (["--cluster", "shop"], ["--url", engine.url]):
            folder = tmp_path / options[0].strip("-")
            assert main(["init", str(folder), *options, "--index", "i", *queries]) == 0
            written = (folder / "i.relevance.yaml").read_text()
            assert "cluster: shop\n" in written
            assert "fields: [title^3, a.body]" in written
            [query] = load_suite(folder / "i.relevance.yaml", {}, needs_judgments=False).queries
            assert query.text == "red ${SHOP_KEY}"
            assert "sentinel" not in written + "".join(capsys.readouterr())
        (tmp_path / "queries.json").write_text('["red"]')
        words = [
            "init",
            str(tmp_path),
            "--cluster",
            "shop",
            "--index",
            "i",
            "--queries",
            str(tmp_path / "queries.json"),
        ]
        assert main(words) == 2
        assert "found JSON, expected JSON lines" in capsys.readouterr().err
        monkeypatch.delenv("SHOP_KEY")
        assert main(["init", str(tmp_path), "--cluster", "shop", "--index", "i"]) == 2
        assert "takes its login from SHOP_KEY, which is not set" in capsys.readouterr().err


def test_queries_without_an_index_are_refused(tmp_path, capsys):
    (tmp_path / "q.txt").write_text("red\n")
    assert main(["init", str(tmp_path), "--queries", str(tmp_path / "q.txt")]) == 2
    assert "give --index too" in capsys.readouterr().err


@pytest.fixture
def init(tmp_path, monkeypatch, capsys):
    """Writes a suite from an index with these fields of text; the exit status, and what was said."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queries.txt").write_text("red shoes\n")

    def run(names, index="i"):
        caps = {"fields": {name: {"text": {"type": "text", "searchable": True}} for name in names}}
        with ScriptedEngine() as engine:
            engine.faults.append(Fault("/i/_field_caps", status=200, body=json.dumps(caps).encode(), times=9))
            engine.faults.append(Fault("/i/_search", status=200, body=b'{"hits": {"hits": []}}', times=9))
            status = main(["init", "--url", engine.url, "--index", index, "--queries", "queries.txt"])
        return status, capsys.readouterr().err

    return run


def write_suite_of(fields, mappings, documents):
    """The suite that `init` writes for an index with these fields, mappings and documents."""
    hits = [{"_id": str(place), "fields": document} for place, document in enumerate(documents)]
    with ScriptedEngine() as engine:
        engine.gets["/i/_field_caps?fields=*&include_unmapped=true"] = {"fields": fields}
        engine.gets["/i/_mapping"] = mappings
        found = json.dumps({"hits": {"hits": hits}}).encode()
        engine.faults.append(Fault("/i/_search", status=200, body=found, times=9))
        assert main(["init", "--url", engine.url, "--index", "i"]) == 0
    text = Path("i.relevance.yaml").read_text()
    return text, yaml.safe_load(text)["request"]


TEXT = {"text": {"searchable": True, "aggregatable": False}}
KEYWORD = {"keyword": {"searchable": True, "aggregatable": True}}


@pytest.mark.parametrize("is_alias_everywhere", [True, False])
def test_field_alias_not_searched(tmp_path, monkeypatch, is_alias_everywhere):
    """An alias of a field is not searched beside its field."""
    monkeypatch.chdir(tmp_path)
    alias = {"type": "alias", "path": "maker.name"}
    properties = {"title": {"type": "text"}, "maker": {"properties": {"name": {"type": "text"}, "label": alias}}}
    mappings = {"i-1": {"mappings": {"properties": {**properties, "brand": alias}}}}
    if not is_alias_everywhere:
        mappings["i-2"] = {"mappings": {"properties": {"brand": {"type": "text"}}}}
    documents = [{"title": ["red shoes"], "maker.name": ["Nix"], "maker.label": ["Nix"], "brand": ["Nix"]}]
    names = ("title", "maker.name", "maker.label", "brand")

    _, request = write_suite_of(dict.fromkeys(names, TEXT), mappings, documents)

    fields = request["query"]["multi_match"]["fields"]
    searched = {field.partition("^")[0] for field in fields}
    assert searched == {"title", "maker.name"} | (set() if is_alias_everywhere else {"brand"})


def test_distinct_keyword_breaks_ties(tmp_path, monkeypatch):
    """A keyword that tells documents apart breaks ties, whatever its name."""
    monkeypatch.chdir(tmp_path)
    fields = {"title": TEXT, "title.raw": KEYWORD, "colour": KEYWORD, "article_number": KEYWORD}
    documents = [
        {"title": [f"shoe {n}"], "title.raw": [f"shoe {n}"], "colour": ["red"], "article_number": [f"n{n}"]}
        for n in range(3)
    ]

    text, request = write_suite_of(fields, {}, documents)

    assert request["sort"] == ["_score", {"article_number": "asc"}]
    assert "sorted by article_number, so that runs repeat; it tells the 3 documents apart" in text


def test_a_keyword_that_repeats_breaks_no_ties(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = [{"title": [f"shoe {n}"], "colour": ["red"]} for n in range(3)]

    text, request = write_suite_of({"title": TEXT, "colour": KEYWORD}, {}, documents)

    assert "sort" not in request
    assert "# No field tells documents apart" in text


@pytest.mark.parametrize("odd", ["{{brand}}", "{{text", "title^9", "*", "tit*", "${HOME}", "$${x}"])
def test_misread_field_left_out(init, capsys, odd):
    """A field that a request would misread is left out, with a comment."""
    status, told = init(["title", odd])
    assert status == 0
    assert "note: the index shows no documents" in told
    text = Path("i.relevance.yaml").read_text()
    assert f"# Not searched, as *, ^, {{{{, ${{ and $$ have a meaning in a suite: {odd}." in text
    suite = yaml.safe_load(text)
    assert suite["request"] == {"query": {"multi_match": {"query": "{{text}}", "fields": ["title^3"]}}}
    assert main(["validate", "i.relevance.yaml"]) == 0


def test_an_index_with_no_other_field_is_an_error(init):
    status, told = init(["title^9"])
    assert status == 2
    assert "no field with text to search whose name can stand in a suite; its fields are title^9" in told


@pytest.mark.parametrize("index", ["", " "])
def test_an_empty_name_of_an_index_is_refused(init, index):
    status, told = init(["title"], index)
    assert status == 2
    assert "--index is empty" in told


def test_empty_index_name_refused(init):
    """An empty name in a list of indexes is refused."""
    status, told = init(["title"], "books,")
    assert status == 2
    assert "--index: found 'books,', expected the name of an index before and after each comma" in told


def test_result_for_programs(tmp_path, capsys):
    folder = tmp_path / "shop"
    assert main(["init", str(folder), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    suite = str(folder / "products.relevance.yaml")
    assert suite in result["files"]
    assert all(Path(file).exists() for file in result["files"])
    assert result["next"] == [["relevance", "run", suite, "--embedded", "--allow-write"]]
