"""A command that is refused leaves every file as it was, whatever it would have written."""

import importlib.util
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import harness.search.dialects
from builders.extension_cases import map_cases
from builders.histories import entry_of, make_kept_suite, ranking_of, run_of
from harness.cli import main
from harness.report.outputs import OUTPUT_KINDS
from harness.search.testing import FakeSearch
from harness.store.history_files import write_entry

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  other: {query: {match: {name: "{{text}}"}}}
measures: ["P@1"]
thresholds: ["mean P@1 >= 0.5"]
queries:
  - {id: shoes, text: red shoes, tags: [head], judgments: {a: 1}}
  - {id: boots, text: rubber boots, judgments: {b: 1}}
"""
TUNED = """\
suite: tuned
target: {index: products}
tune: {parameters: {field: {choices: [a, b], today: a}}}
request: {query: {match: {title: "{{text}} {{param:field}}"}}}
measures: ["RR@5"]
queries:
"""
RUN = ("run", "shop.relevance.yaml")
OUTPUTS: list[str] = []
for kind in OUTPUT_KINDS:
    OUTPUTS += ["--output", f"{kind}=report.{kind}"]
REFUSED = {
    # run
    "a wrong suite": ("run", "wrong.relevance.yaml", *OUTPUTS),
    "a suite that is not there": ("run", "none.relevance.yaml", *OUTPUTS),
    "no YAML": ("run", "broken.relevance.yaml", *OUTPUTS, "--history", "new/history"),
    "a wrong suite and a new history": ("run", "wrong.relevance.yaml", "--history", "new/history"),
    "a wrong suite beside a sound one": ("run", ".", *OUTPUTS, "--history", "kept"),
    "a variable without a value": ("run", "variable.relevance.yaml", *OUTPUTS),
    "a tag": (*RUN, *OUTPUTS, "--tag", "haed"),
    "a query": (*RUN, *OUTPUTS, "--query", "shoos"),
    "a request": (*RUN, *OUTPUTS, "--request", "curent"),
    "an index of two": (*RUN, *OUTPUTS, "--index", "products", "--index", ""),
    "a cluster": ("run", "elsewhere.relevance.yaml", *OUTPUTS),
    "a configuration": (*RUN, *OUTPUTS, "--config", "wrong.toml"),
    "two servers": (*RUN, *OUTPUTS, "--url", "http://one:9200", "--embedded"),
    "an address": (*RUN, *OUTPUTS, "--url", "one:9200:9200"),
    "a history that is a file": (*RUN, *OUTPUTS, "--history", "report.json"),
    "a history with a damaged file": ("run", "since.relevance.yaml", *OUTPUTS, "--history", "damaged"),
    "an output that is read": (*RUN, *OUTPUTS, "--output", "csv=graded.csv", "--baseline", "graded.csv"),
    "an output that is named twice": (*RUN, *OUTPUTS, "--output", "csv=report.json"),
    "an output for nothing": (*RUN, "--output", "junit=report.junit", "--report-only"),
    "a journal that is none": (*RUN, *OUTPUTS, "--journal", "graded.csv"),
    "a journal that another run writes": (*RUN, "--output", "json=locked.json"),
    "a journal that another run writes, by name": (*RUN, *OUTPUTS, "--journal", "locked.json.journal"),
    "a journal that another run goes on with": (*RUN, "--output", "json=locked.json", "--resume"),
    "GitHub elsewhere": (*RUN, *OUTPUTS, "--github"),
    # baseline
    "a baseline of a wrong suite": ("baseline", "save", "shop.relevance.yaml", "wrong.relevance.yaml", "--force"),
    "a baseline of a part without an answer": ("baseline", "save", "unanswered.relevance.yaml", "--force"),
    "one baseline of two suites": (
        *("baseline", "save", "shop.relevance.yaml", "since.relevance.yaml"),
        *("--force", "--baseline", "shop.baseline.json"),
    ),
    # schema
    "a schema into a folder": ("schema", "--output", "taken"),
    # those of extensions
    **map_cases("REFUSED"),
}
NEEDS_OPTUNA = [name for name, words in REFUSED.items() if words[0] == "tune"]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A folder with files of each kind that a command may replace."""
    folder = tmp_path_factory.mktemp("original")
    queries = "".join(f"  - {{id: q{n}, text: text {n}, judgments: {{a: 1}}}}\n" for n in range(40))
    few = "".join(f"  - {{id: q{n}, text: text {n}, judgments: {{a: 1}}}}\n" for n in range(3))
    since = SUITE.replace("suite: shop", "suite: since").replace("mean P@1 >= 0.5", "drop P@1 <= 0.1 since 2 runs")
    files = {
        "relevance.toml": '[clusters.default]\nurl = "http://one:9200"\n',
        "wrong.toml": "[clusters.default]\nurll = 3\n",
        "shop.relevance.yaml": SUITE,
        "wrong.relevance.yaml": SUITE.replace("measures", "mesures").replace("suite: shop", "suite: wrong"),
        "broken.relevance.yaml": "suite: [shop\n",
        "variable.relevance.yaml": SUITE.replace("red shoes", "${RELEVANCE_NOT_SET}"),
        "unanswered.relevance.yaml": SUITE.replace("id: boots", "id: wellies"),
        "since.relevance.yaml": since,
        "elsewhere.relevance.yaml": SUITE.replace("{index", "{cluster: nowhere, index"),
        "tuned.relevance.yaml": TUNED + queries,
        "few.relevance.yaml": TUNED.replace("suite: tuned", "suite: few") + few,
        "drawn.relevance.yaml": TUNED.replace("suite: tuned", "suite: drawn") + queries,
        "drawn.holdout.json": '{"seed": 0, "share": 0.4, "queries": ["q1"], "population": "another", "looks": []}',
        "graded.csv": "query,document,grade\nshoes,x,3\n",
        "graded.qrels": "shoes 0 x 3\n",
        "log.csv": "query,count\nred shoes,3\nboots,2\n",
        "shop.baseline.json": "{}",
        "locked.json": "of the run that goes on",
        "locked.json.journal": '{"journal": 1, "of": "a run that goes on"}\n',
        "tuned.tune.journal": "",
        "taken/products.relevance.yaml": "suite: mine\n",
        "foreign/relevance.schema.json": '{"mine": true}',
        "blocked/products": "a file where a folder would be made",
        "report.yaml": "of an earlier run",
        **{f"report.{kind}": "of an earlier run" for kind in OUTPUT_KINDS},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("another", "shop", "since"):
        suite = replace(make_kept_suite(), name=name)
        for day in range(3):
            entry = entry_of(suite, run_of(suite, shoes=ranking_of(f"x{day}", "a")), day=day)
            write_entry(folder / "kept", entry)
            write_entry(folder / "damaged", entry)
    (folder / "damaged" / "since" / "2026-01-01T000000Z-current-00000000.json").write_text("{")
    return folder


@pytest.fixture
def folder(original, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(original, copy)
    monkeypatch.chdir(copy)
    monkeypatch.delenv("CI", raising=False)
    answers = {"shoes": ["a", "b"], "boots": ["a", "b"]}
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: FakeSearch(answers))
    return copy


def read_tree(folder):
    """All that is in *folder*: what each path is, and its content."""
    tree = {}
    for path in sorted(folder.rglob("*")):
        tree[path.relative_to(folder).as_posix()] = path.read_bytes() if path.is_file() else "folder"
    return tree


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_command_leaves_every_file_as_it_was(folder, capsys, name):
    import fcntl

    if name in NEEDS_OPTUNA and importlib.util.find_spec("optuna") is None:
        pytest.skip("needs optuna")
    before = read_tree(folder)
    with Path("locked.json.journal").open("rb") as journal, Path("tuned.tune.journal.lock").open("wb") as lock:
        for file in (journal, lock):
            fcntl.flock(file, fcntl.LOCK_EX)
        status = main(list(REFUSED[name]))
    Path("tuned.tune.journal.lock").unlink(missing_ok=True)
    printed = capsys.readouterr()
    assert status in (1, 2, 3), printed.out
    assert "internal error" not in printed.err
    assert read_tree(folder) == before, printed.err


def test_what_stands_there_is_told_not_to_be_of_this_run(folder, capsys):
    assert main(["run", "wrong.relevance.yaml", "--output", "json=report.json", "--output", "csv=new.csv"]) == 2
    said = capsys.readouterr().err
    assert "report.json is as it was, the report of an earlier run" in said
    assert "new.csv" not in said


@pytest.mark.parametrize("error", [OSError, RuntimeError])
def test_a_run_that_has_begun_and_fails_takes_the_earlier_report_with_it(folder, monkeypatch, capsys, error):
    """Nobody takes the report of yesterday for that of the run that failed."""

    def fail(*_, **__):
        raise error("out of order")

    monkeypatch.setattr(harness.run, "conclude_cell", fail)
    assert main([*RUN, "--output", "json=report.json", "--output", "html=report.html"]) == 3
    assert not Path("report.json").exists()
    assert not Path("report.html").exists()
    assert "removed report.json, the report of an earlier run" in capsys.readouterr().err


def test_a_run_that_cannot_write_its_journal_any_more_has_begun(folder, monkeypatch, capsys):
    from harness.store.journal import Section

    def fill_disk(self, run):
        raise harness.errors.UsageError("report.json.journal: the journal could not be written: No space left")

    monkeypatch.setattr(Section, "end", fill_disk)
    assert main([*RUN, "--output", "json=report.json"]) == 2
    assert not Path("report.json").exists()
    assert "No space left" in capsys.readouterr().err


def test_a_report_that_another_run_writes_meanwhile_stays(folder, monkeypatch):
    def fail(*_, **__):
        Path("report.json").unlink()
        Path("report.json").write_text("of the other run", encoding="utf-8")
        raise RuntimeError

    monkeypatch.setattr(harness.run, "conclude_cell", fail)
    assert main([*RUN, "--output", "json=report.json"]) == 3
    assert Path("report.json").read_text(encoding="utf-8") == "of the other run"
