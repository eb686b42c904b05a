"""``relevance compare`` with more than two sides, each compared with the first."""

import pytest

pytest.importorskip("numpy")

import json
import shlex
from pathlib import Path

from builders.engine import ScriptedEngine
from builders.schemas import make_validator
from extensions.compare.builders.comparing import compare, refused, told
from harness.cli import main
from harness.extensions.compare.outputs import comparison_schema, loads_comparison
from harness.statistics.tests import holm

SUITE = """\
suite: shop
target: {index: products}
measures: ["RR@3", "P@1"]
queries:
  - {id: q, text: one, judgments: {a: 3, b: 1}}
  - {id: r, text: two, judgments: {b: 1}}
  - {id: s, text: three, judgments: {c: 1}}
requests:
"""
REQUEST = '  {}: {{query: {{match: {{{}: "{{{{text}}}}"}}}}}}\n'
FIRST = {"q": ["a", "b"], "r": ["b", "a"], "s": ["c"]}
SECOND = {"q": ["a", "b"], "r": ["a", "b"], "s": ["x", "c"]}
THIRD = {"q": ["x", "a"], "r": ["x", "b"], "s": ["x", "c"]}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three run files, and a suite for them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for name, rankings in (("a.run", FIRST), ("b.run", SECOND), ("c.run", THIRD)):
        lines = [
            f"{query} Q0 {document} 0 {10 - rank} t\n"
            for query, ranking in rankings.items()
            for rank, document in enumerate(ranking)
        ]
        Path(name).write_text("".join(lines), encoding="utf-8")
    Path("shop.relevance.yaml").write_text(SUITE + REQUEST.format("now", "title") + REQUEST.format("next", "brand"))


WORDS = ("a.run", "b.run", "c.run", "--suite", "shop.relevance.yaml")


def test_each_side_is_compared_with_the_first_as_if_alone(runs, capsys):
    status, report = told(capsys, *WORDS)
    assert (status, report.reference.name, report.suite) == (0, "run:a.run", "shop")
    assert [comparison.candidate.name for comparison in report.comparisons] == ["run:b.run", "run:c.run"]
    for comparison, side in zip(report.comparisons, ("run:b.run", "run:c.run"), strict=True):
        assert compare("a.run", side, *WORDS[3:], "--json") == 0
        alone = loads_comparison(capsys.readouterr().out)
        assert comparison.queries == alone.queries
        assert comparison.judged == alone.judged
        figures = [(row.measure, row.difference, row.p_value) for row in comparison.measures.measures]
        assert figures == [(row.measure, row.difference, row.p_value) for row in alone.measures.measures]


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_p_is_corrected_over_sides_and_measures(runs, capsys, correction):
    _, report = told(capsys, *WORDS, "--correction", correction)
    rows = [row for comparison in report.comparisons for row in comparison.measures.measures]
    p_values = [row.p_value for row in rows]
    assert len(p_values) == 4
    expected = holm(p_values) if correction == "holm" else p_values
    assert [row.adjusted for row in rows] == pytest.approx(expected)


def test_a_threshold_has_to_hold_for_each_side(runs, capsys):
    status, report = told(capsys, *WORDS, "--threshold", "drop RR@3 <= 0.4")
    assert status == report.exit_status == 1
    verdicts = [verdict for comparison in report.comparisons for verdict in comparison.verdicts]
    assert [verdict.status for verdict in verdicts] == ["passed", "failed"]
    assert compare(*WORDS, "--threshold", "drop RR@3 <= 0.4") == 1
    printed = capsys.readouterr().out
    assert "FAILED drop RR@3 <= 0.4 (run:c.run)" in printed
    assert "run:b.run)" not in printed


def test_the_terminal_has_one_table_coverage_and_strips(runs, capsys):
    assert main(["compare", *WORDS]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "shop run:b.run, run:c.run against run:a.run"
    assert any("corrected over 4 differences, all sides and measures" in line for line in lines)
    rows = [line.split()[:4] for line in lines if line.startswith("RR@3 ")]
    assert rows[:2] == [["RR@3", "run:b.run", "1.0000", "0.6667"], ["RR@3", "run:c.run", "1.0000", "0.5000"]]
    assert any(line.startswith("run:b.run: Judged@3 ") for line in lines)
    assert "r 1.0000 0.5000 -0.5000 0.5000 -0.5000" in lines
    assert "q 1.0000 1.0000 0.5000 -0.5000" in lines


def test_files_have_the_same_figures(runs, capsys):
    outputs = ("--output", "html=c.html", "--output", "markdown=c.md", "--output", "json=c.json")
    assert compare(*WORDS, *outputs) == 0
    assert loads_comparison(Path("c.json").read_text()).comparisons[1].candidate.name == "run:c.run"
    markdown = Path("c.md").read_text()
    assert (
        "| <code>RR<span>@</span>3</code> | <code>run<span>:</span>c.run</code> | 1.0000 | 0.5000 | -0.5000 |"
        in markdown
    )
    page = Path("c.html").read_text()
    assert page.count("fall-4") >= 3
    assert "<small>-0.5000</small>" in page


def test_without_scores_the_rankings_alone_are_compared(runs, capsys):
    status, report = told(capsys, "a.run", "b.run", "c.run")
    assert status == 0
    assert [comparison.measures for comparison in report.comparisons] == [None, None]
    assert main(["compare", "a.run", "b.run", "c.run"]) == 0
    printed = capsys.readouterr().out
    assert "agreement" in printed
    assert "corrected" not in printed
    assert compare("a.run", "b.run", "c.run", "--output", "html=c.html", "--output", "markdown=c.md") == 0


def test_a_query_that_a_side_lacks_is_told_with_the_side(runs, capsys):
    text = Path("c.run").read_text()
    Path("c.run").write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("s ")))
    assert main(["compare", *WORDS]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "only in run:a.run, of run:a.run and run:c.run: 1 query (s)" in printed


class TestAllRequests:
    @pytest.fixture
    def searched(self, runs, monkeypatch):
        """Engines that answer each request by the field that it searches; gives the fields, as they were searched."""
        import harness.search.dialects
        from harness.search.testing import FakeSearch

        answers = {"title": FIRST, "brand": SECOND, "tags": THIRD}
        asked = []

        class Shop(FakeSearch):
            def stream(self, requests, *, budget=None):
                queries = [request for request in requests if request.query]
                [field] = {next(iter(request.body["query"]["match"])) for request in queries}
                asked.append(field)
                self._rankings = dict(answers[field])
                return super().stream(requests, budget=budget)

        monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: Shop({}))
        suite = Path("shop.relevance.yaml")
        suite.write_text(suite.read_text() + REQUEST.format("last", "tags"))
        return asked

    @pytest.mark.parametrize(
        "words",
        [
            ("shop.relevance.yaml", "--all-requests"),
            ("--suite", "shop.relevance.yaml", "--all-requests"),
            ("request:now", "request:next", "request:last", "--suite", "shop.relevance.yaml"),
        ],
    )
    def test_the_requests_of_a_suite_are_compared_with_its_first(self, searched, capsys, words):
        status, report = told(capsys, *words, "--url", "http://one:9200", "--no-checks")
        assert status == 0
        assert report.reference.name == "request:now"
        assert [comparison.candidate.name for comparison in report.comparisons] == ["request:next", "request:last"]
        assert list(dict.fromkeys(searched)) == ["title", "brand", "tags"]
        assert all(comparison.request_diff is not None for comparison in report.comparisons)

    def test_a_side_that_is_named_is_the_reference_of_all_requests(self, searched, capsys):
        words = ("c.run", "--suite", "shop.relevance.yaml", "--all-requests", "--url", "http://one:9200", "--no-checks")
        _, report = told(capsys, *words)
        assert report.reference.name == "run:c.run"
        assert len(report.comparisons) == 3

    def test_a_request_that_is_named_is_a_side_once(self, searched, capsys):
        words = ("request:next", "--suite", "shop.relevance.yaml", "--all-requests")
        _, report = told(capsys, *words, "--url", "http://one:9200", "--no-checks")
        assert report.reference.name == "request:next"
        assert [comparison.candidate.name for comparison in report.comparisons] == ["request:now", "request:last"]

    def test_two_requests_are_a_comparison_of_two(self, searched, capsys):
        suite = Path("shop.relevance.yaml")
        suite.write_text(suite.read_text().replace(REQUEST.format("last", "tags"), ""))
        words = (str(suite), "--all-requests", "--url", "http://one:9200", "--no-checks", "--json")
        assert compare(*words) == 0
        assert loads_comparison(capsys.readouterr().out).candidate.name == "request:next"


def test_what_cannot_be_compared_is_refused(runs, capsys):
    assert "found 0 sides, expected at least two to compare" in refused(capsys)
    assert "found 1 side, expected at least two to compare" in refused(capsys, "a.run")
    assert "--all-requests compares the requests of a suite; name it first" in refused(capsys, "--all-requests")
    assert "name it first, or with --suite" in refused(capsys, "a.run", "--all-requests")
    assert "neither a known form nor a file" in refused(capsys, "a.run", "b.run", "requst:x")
    Path("one.relevance.yaml").write_text(SUITE + REQUEST.format("now", "title"))
    assert "found 1 side" in refused(capsys, "one.relevance.yaml", "--all-requests", "--url", "http://one:9200")


def test_the_schema_describes_what_is_written(runs, capsys):
    pytest.importorskip("jsonschema")
    assert compare(*WORDS, "--json") == 0
    make_validator(comparison_schema).validate(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("sides", [("now", "next"), ("now", "next", "last")])
def test_the_command_that_collects_unjudged_hits_searches_where_the_sides_were_searched(runs, capsys, sides):
    requests = "".join(REQUEST.format(name, "title") for name in sides)
    Path("shop.relevance.yaml").write_text(SUITE + requests)
    with ScriptedEngine() as engine:
        engine.rankings = {"one": ["a", "x"], "two": ["y"], "three": ["c"]}
        words = [f"request:{name}" for name in sides]
        assert compare(*words, "--suite", "shop.relevance.yaml", "--url", engine.url, "--allow-write", "--json") == 0
        report = json.loads(capsys.readouterr().out)
        found = report["judged"]["pool_command"]
        assert f"--url {engine.url} --allow-write" in found
        assert main(shlex.split(found)[1:]) == 0
    assert "x" in Path("unjudged.csv").read_text()
