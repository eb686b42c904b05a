"""``relevance run`` with several requests and indexes: from suites in files to what is printed and written."""

from pathlib import Path

import pytest

import harness.search.dialects
from harness.cli import main
from harness.model.run import Hit, Ranking
from harness.report.json import loads_report
from harness.search.testing import FakeSearch

SUITE = """\
suite: {name}
target: {{index: products}}
{more}
requests:
  current: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  {second}: {{query: {{match_phrase: {{title: "{{{{text}}}}"}}}}}}
measures: ["RR@3"]
thresholds: ["mean RR@3 >= 0.6"]
queries:
  - {{id: q, text: one, judgments: {{a: 1}}}}
  - {{id: r, text: two, judgments: {{b: 1}}}}
"""


class ByRequest(FakeSearch):
    """Finds what is wanted second with the request in use, first with the other, and on v2 not at all."""

    def _respond(self, request):
        if not request.query:
            return Ranking(tuple(map(Hit, "ab")), total=2)
        wanted = {"q": "a", "r": "b"}[request.query]
        found = {"match": ["x", wanted], "match_phrase": [wanted]}[next(iter(request.body["query"]))]
        self._rankings[request.query] = ["x"] if request.index == "v2" else found
        return super()._respond(request)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    write("shop")
    return tmp_path


def write(name, *, second="candidate", more=""):
    text = SUITE.format(name=name, second=second, more=more)
    Path(f"{name}.relevance.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def opened(monkeypatch):
    """What every connection that was opened answers with."""
    opened = []

    def open_search(*_, **__):
        opened.append(ByRequest({}))
        return opened[-1]

    monkeypatch.setattr(harness.search.dialects, "open_search", open_search)
    return opened


BOTH = ("--request", "current", "--request", "candidate")


def test_a_change_is_seen_beside_what_is_there(folder, opened, capsys):
    assert main(["run", "shop.relevance.yaml", *BOTH]) == 1
    printed = capsys.readouterr()
    lines = [line.split() for line in printed.out.splitlines()]
    start = lines.index(["suite", "request", "RR@3", "queries", "held", "failed", "errors"])
    assert lines[start + 1 : start + 3] == [
        ["shop", "current", "0.5000", "2", "0", "1", "0"],
        ["shop", "candidate", "1.0000*", "+0.5000", "2", "1", "0", "0"],
    ]
    assert printed.out.endswith("1 suite in 2 cells, 2 thresholds: 1 passed, 1 failed\n")
    assert "shop, request current: 2 queries to run" in printed.err
    assert "shop, request candidate: 1 passed in" in printed.err
    assert len(opened) == 1


def test_every_request_on_every_index_is_in_the_reports(folder, opened, capsys):
    write("store")
    words = [*BOTH, "--index", "v1", "--index", "v2", "--output", "json=r.json", "--output", "html=r.html", "-q"]
    assert main(["run", ".", *words]) == 1
    report = loads_report((folder / "r.json").read_text(encoding="utf-8"))
    cells = [(suite.name, suite.request, suite.index, suite.summaries[0].mean) for suite in report.suites]
    four = [("current", "v1", 0.5), ("current", "v2", 0.0), ("candidate", "v1", 1.0), ("candidate", "v2", 0.0)]
    assert cells == [(name, *cell) for name in ("shop", "store") for cell in four]
    assert report.exit_status == 1
    assert "shop, request candidate, index v2" in (folder / "r.html").read_text(encoding="utf-8")
    assert "shop, request current, index v2: FAILED mean RR@3 >= 0.6" in capsys.readouterr().out


def test_suites_whose_requests_have_other_names_run_together(folder, opened, capsys):
    write("store", second="trial")
    assert main(["run", ".", "--request", "candidate"]) == 2
    error = capsys.readouterr().err
    assert error == "relevance: store.relevance.yaml: found no request 'candidate', known are current, trial\n"
    assert main(["run", ".", "--all-requests"]) == 1
    assert "2 suites in 4 cells" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "reason"),
    [("fixture: {documents: d.jsonl}", "the suite builds its index itself, from its fixture")],
)
def test_an_index_that_cannot_be_searched_is_refused_before_anything_is(folder, opened, capsys, more, reason):
    (folder / "d.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
    write("shop", more=more)
    assert main(["run", "shop.relevance.yaml", "--index", "v2"]) == 2
    assert capsys.readouterr().err == (
        f"relevance: shop.relevance.yaml: {reason}, so that no other index can be asked for\n"
    )
    assert opened == []


def test_one_cell_prints_no_table(folder, opened, capsys):
    assert main(["run", "shop.relevance.yaml", "--request", "candidate", "--index", "v1"]) == 0
    out = capsys.readouterr().out
    assert "index v1 was used instead of products" in out
    assert out.endswith("1 suite, 1 threshold: 1 passed\n")
    assert "suite " not in out.replace("1 suite, ", "")
