"""What `relevance init` sees in an index that exists, and what it says where it was run before."""

from contextlib import contextmanager
from pathlib import Path

import pytest

import harness.extensions.migrate.live_index
from builders.extension_cases import needs_extension
from harness.cli import main
from harness.extensions.migrate.scaffold import IGNORED
from harness.search.protocol import IndexField, SampledDocument

KEYWORD, TEXT = frozenset({"keyword"}), frozenset({"text"})
NO_KEY = "No field tells documents apart"


class Index:
    """An index with *fields*, by their types, and documents with *values* of them."""

    def __init__(self, fields, values):
        self.fields = {}
        for name, types in fields.items():
            is_value = not types & {"object", "nested"}
            self.fields[name] = IndexField(name, types, is_value, is_value and types != TEXT)
        self.values = values

    def read_fields(self, index):
        return self.fields

    def read_sample(self, index, names):
        documents = []
        for number, values in enumerate(self.values):
            known = {name: tuple(texts) for name, texts in values.items() if name in names}
            documents.append(SampledDocument(str(number), known))
        return documents

    def read_names(self):
        return {}


@pytest.fixture
def init(tmp_path, monkeypatch):
    """Writes a suite of an index; returns its text."""
    monkeypatch.chdir(tmp_path)

    def call(fields, *values):
        @contextmanager
        def open_cluster(folder, options, environ):
            yield "default", Index(fields, values)

        monkeypatch.setattr(harness.extensions.migrate.live_index, "open_cluster", open_cluster)
        status = main(["init", "--index", "shop"])
        return status, Path("shop.relevance.yaml").read_text()

    return call


def documents(*rows):
    return [{name: [value] if isinstance(value, str) else value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize(
    ("fields", "rows", "key"),
    [
        # A subfield of a field with text, whatever it is called.
        ({"title": TEXT, "title.keyword": KEYWORD}, [("a b", "a b"), ("c", "c")], "title.keyword"),
        ({"headline": TEXT, "headline.kw": KEYWORD}, [("a b", "a b"), ("c", "c")], "headline.kw"),
        ({"sku": TEXT, "sku.untouched": KEYWORD}, [("x 1", "x 1"), ("x 2", "x 2")], "sku.untouched"),
        # One that repeats, or that a long title lacks, tells nothing apart.
        ({"title": TEXT, "title.keyword": KEYWORD}, [("a", "a"), ("a", "a")], None),
        ({"title": TEXT, "title.keyword": KEYWORD}, [("a", "a"), ("b", [])], None),
        ({"title": TEXT, "title.keyword": KEYWORD}, [("a", "a"), ("b", ["b", "c"])], None),
    ],
)
def test_a_keyword_subfield_that_is_unique_breaks_ties(init, fields, rows, key):
    status, text = init(fields, *documents(*(dict(zip(fields, row, strict=True)) for row in rows)))
    assert status == 0
    assert (f"{key}: asc" in text) is (key is not None)
    assert (NO_KEY in text) is (key is None)


def test_a_field_that_is_named_as_an_id_comes_before_a_subfield_of_a_title(init):
    fields = {"title": TEXT, "title.keyword": KEYWORD, "maker": KEYWORD, "product_sku.raw": KEYWORD}
    rows = documents(*({"title": f"t {n}", "title.keyword": f"t {n}", "maker": f"m{n}"} for n in range(3)))
    for number, row in enumerate(rows):
        row["product_sku.raw"] = [f"s{number}"]
    assert "product_sku.raw: asc" in init(fields, *rows)[1]
    del fields["product_sku.raw"]
    Path("shop.relevance.yaml").unlink()
    assert "maker: asc" in init(fields, *rows)[1]


def test_a_part_of_an_object_is_no_subfield(init):
    """`id.city` is no id because it stands below an object of that name."""
    fields = {"title": TEXT, "id": frozenset({"object"}), "id.city": KEYWORD, "maker": KEYWORD}
    rows = documents(*({"title": f"t {n}", "id.city": f"c{n}", "maker": f"m{n}"} for n in range(3)))
    assert "maker: asc" in init(fields, *rows)[1]


# Again.


def test_a_second_time_says_what_is_there_and_how_to_go_on(init, capsys):
    rows = documents({"title": "a"}, {"title": "b"})
    assert init({"title": TEXT}, *rows)[0] == 0
    before = Path("shop.relevance.yaml").read_bytes()
    capsys.readouterr()
    assert init({"title": TEXT}, *rows)[0] == 2
    said = capsys.readouterr().err
    assert "shop.relevance.yaml: this is there already, and nothing was written" in said
    assert "to go on with this suite, run\n  relevance run shop.relevance.yaml\n" in said
    assert "to write them anew, name another folder, or remove these files" in said
    assert Path("shop.relevance.yaml").read_bytes() == before


def test_the_first_suite_a_second_time(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "first"]) == 0
    capsys.readouterr()
    assert main(["init", "first"]) == 2
    said = capsys.readouterr().err
    assert "first/relevance.toml: this is there already" in said
    assert "relevance run first/products.relevance.yaml --embedded --allow-write" in said


# git.


def test_what_is_of_this_machine_only_is_kept_out_of_git(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert "wrote .gitignore" in capsys.readouterr().out
    lines = Path(".gitignore").read_text().splitlines()
    assert set(IGNORED) <= set(lines)


def test_a_file_for_git_that_is_there_stays_and_what_it_lacks_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [line for line in IGNORED if line != ".*.judges.json"]
    Path(".gitignore").write_text("\n".join(["/build/", *lines, ""]))
    before = Path(".gitignore").read_bytes()
    assert main(["init"]) == 0
    printed = capsys.readouterr()
    assert "wrote .gitignore" not in printed.out
    assert printed.err.rstrip().endswith("what relevance keeps for this machine only: .*.judges.json")
    assert Path(".gitignore").read_bytes() == before


@needs_extension("tuning")
@needs_extension("judging")
def test_git_ignores_each_private_file_and_none_that_is_committed(tmp_path, monkeypatch):
    import subprocess

    from harness.extensions.judging.server.access import build_access_path
    from harness.extensions.tuning.hold_outs import build_hold_out_path
    from harness.extensions.tuning.preparing import build_journal_path
    from harness.files.judge_files import build_judge_path
    from harness.store.baseline_files import build_baseline_path

    monkeypatch.chdir(tmp_path)
    main(["init"])
    suite = Path("products.relevance.yaml")
    private = [build_access_path(suite), build_journal_path(suite), Path("report.html.journal"), Path("1of4.journal")]
    private += [Path(".products.judged-by.anna.jsonl.lock"), Path(".products.baseline.json.0a1b2c3d.part")]
    shared = [suite, build_baseline_path(suite), build_hold_out_path(suite), build_judge_path(suite, "anna")]
    subprocess.run(["git", "init", "--quiet"], check=True)
    for path in (*private, *shared):
        done = subprocess.run(["git", "check-ignore", "--quiet", str(path)], check=False)
        assert done.returncode == (0 if path in private else 1), path
