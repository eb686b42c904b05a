"""``relevance run`` beside a baseline that no threshold needs: what it shows, and what it may not cost."""

import json
from pathlib import Path

import pytest

import harness.search.dialects
from harness.cli import main
from harness.masking import fingerprint
from harness.model.run import Failure, FailureKind, Hit, IndexFacts
from harness.report.json import loads_report
from harness.search.testing import FakeSearch

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["RR@3"]
thresholds: ["mean RR@3 >= 0.9"]
queries:
  - {id: q, text: one, tags: [head], judgments: {a: 1}}
  - {id: r, text: two, tags: [tail], judgments: {b: 1}}
"""
SAVED = {"q": ["a", "y", "z"], "r": ["b", "x"]}


class Changing(FakeSearch):
    """Its rankings may be changed between two commands."""

    def now(self, **rankings):
        self._rankings.update(rankings)


def facts(fields, shards):
    mapping, settings = {"properties": fields}, {"shards": shards}
    return IndexFacts(fingerprint(mapping), fingerprint(settings), 3, (), mapping, settings)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A suite, and a baseline beside it in which every query has RR 1."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture
def engine(monkeypatch):
    fake = Changing(SAVED)
    fake.facts = facts({"title": {"type": "text"}}, 1)
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: fake)
    return fake


@pytest.fixture
def saved(shop, engine):
    assert main(["baseline", "save", shop.name, "-q"]) == 0
    engine.requests.clear()
    return shop.with_name("shop.baseline.json")


def shown(capsys, *options):
    """The exit status, what a terminal shows, and the one suite of the JSON report."""
    capsys.readouterr()
    status = main(["run", "shop.relevance.yaml", "--output", "json=report.json", *options])
    [suite] = loads_report(Path("report.json").read_text()).suites
    return status, capsys.readouterr().out, suite


def test_every_run_shows_the_difference_by_suite_tag_and_query(saved, engine, capsys):
    engine.now(r=[Hit("x", 3.0, "Boots for rain"), Hit("b", 2.0)])
    status, text, suite = shown(capsys, "--output", "markdown=report.md")
    assert status == 1
    [summary] = suite.summaries
    assert summary.change is not None
    assert (summary.change.baseline, summary.change.now, summary.change.difference) == (1.0, 0.75, -0.25)
    assert {one.tag: one.summaries[0].change.difference for one in suite.tags} == {"head": 0.0, "tail": -0.5}
    assert {query.id: query.baseline.scores for query in suite.queries} == {"q": {"RR@3": 1.0}, "r": {"RR@3": 1.0}}
    assert f", 2 compared with the baseline of {suite.baseline.created}" in text
    assert "RR@3     0.7500  0.7500  0.5000    1.0000        2         0      -0.2500" in text
    assert "tail               1  0.5000 -0.5000" in text
    assert "query r  two  (RR@3 0.5000 (-0.5000 vs baseline); scored; 2 matching)" in text
    markdown = Path("report.md").read_text()
    assert "| vs baseline |" in markdown
    assert "0.5000 -0.5000" in markdown


def test_a_failed_query_shows_its_old_ranking_beside_the_new(saved, engine, capsys):
    engine.now(q=["n", "y", "a", "m"])
    _, text, suite = shown(capsys, "--output", "markdown=report.md")
    [changed, same] = suite.queries
    moves = [(one.id, one.reference, one.candidate) for one in changed.baseline.documents]
    assert moves == [("n", None, 1), ("a", 1, 3), ("z", 3, None)]
    assert (changed.baseline.depth, same.baseline.documents) == (3, ())
    rows = [line.split()[:3] for line in text.split("query q")[1].splitlines()[2:]]
    assert rows[:4] == [["rank", "was", "document"], ["1", "new", "n"], ["2", "y", "unjudged"], ["3", "1", "a"]]
    assert "left since the baseline     grade  was" in text
    table = "| left since the baseline | grade | was |\n| --- | ---: | ---: |\n| <code>z</code> |"
    assert table in Path("report.md").read_text()


def test_only_another_order_of_ties_is_said_to_be_that(saved, engine, capsys):
    tied = [Hit("a", 1.0), Hit("y", 1.0), Hit("z", 1.0)]
    engine.now(q=tied)
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    engine.now(q=tied[::-1])
    _, text, suite = shown(capsys)
    assert suite.queries[0].baseline.ties_only
    assert "only the order of ties changed in 1 query (q)" in text


def test_a_baseline_that_only_informs_starts_no_deeper_search(saved, engine, capsys):
    engine.now(q=[Hit("a", 1.0), Hit("y", 1.0), Hit("z", 1.0), Hit("k", 1.0), Hit("m", 1.0)])
    shown(capsys)
    beside = [request.body["size"] for request in engine.requests]
    engine.requests.clear()
    saved.unlink()
    shown(capsys)
    assert [request.body["size"] for request in engine.requests] == beside


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read: this is not JSON"),
        ('{"schema": 1}', "found schema version 1, expected 2"),
        ('{"schema": 2, "suite": "other", "requests": {}}', "holds the baseline of the suite 'other', not of 'shop'"),
        ('{"schema": 2, "suite": "shop", "requests": {}}', "there is no baseline of the request 'request'"),
    ],
)
def test_a_file_that_no_threshold_needs_and_nothing_can_be_read_from_is_a_remark(saved, text, why, capsys):
    saved.write_text(text)
    status, printed, suite = shown(capsys)
    assert (status, suite.baseline) == (0, None)
    [note] = [note for note in suite.notes if "baseline" in note]
    assert note.startswith("not compared with a baseline: ")
    assert why in note
    assert note.split(": ", 2)[1] in " ".join(printed.split())


def test_without_a_file_nothing_is_said_unless_one_was_named(shop, engine, capsys):
    status, text, suite = shown(capsys)
    assert (status, suite.baseline, "baseline" in text) == (0, None, False)
    status, text, _ = shown(capsys, "--baseline", "other.json")
    assert status == 0
    assert "not compared with a baseline: there is no baseline: other.json does not exist" in text


def test_what_cannot_be_compared_is_left_out_on_both_sides_and_said(saved, shop, engine, capsys):
    more = "  - {id: s, text: three, tags: [tail], judgments: {c: 1}}\n"
    shop.write_text(SUITE.replace("text: one", "text: uno").replace('["RR@3"]', '["RR@3", "P@20"]') + more)
    engine.now(r=["x", "b"], s=["c"])
    _, text, suite = shown(capsys)
    change = suite.summaries[0].change
    assert (change.baseline, change.now, change.queries) == (1.0, 0.5, 1)
    assert (suite.summaries[0].counted, suite.summaries[1].change, suite.queries[0].baseline) == (3, None, None)
    assert "-0.5000 over 1" in text
    left_out = (
        "1 query (q), of which the text or params changed; 1 query (s), which it does not have; "
        "P@20, which looks at more than the 10 hits that it keeps per query"
    )
    assert f"not compared with the baseline of {suite.baseline.created}: {left_out}" in suite.notes


def test_a_measure_of_all_hits_is_not_compared_with_a_baseline_of_more_hits(saved, shop, engine, capsys):
    shop.write_text(SUITE.replace('["RR@3"]', '["RR@3", "RR"]') + "depth: 5\n")
    _, _, suite = shown(capsys)
    assert (suite.summaries[0].change.now, suite.summaries[1].change) == (1.0, None)
    left_out = "RR, which counts all hits: it keeps 10 hits per query, but the suite asks for 5"
    assert f"not compared with the baseline of {suite.baseline.created}: {left_out}" in suite.notes


def test_today_s_judgments_score_both_sides(saved, shop, capsys):
    shop.write_text(SUITE.replace("judgments: {a: 1}", "judgments: {y: 1}"))
    status, _, suite = shown(capsys)
    assert (status, suite.summaries[0].change.difference) == (1, 0.0)
    assert suite.queries[0].baseline.scores == {"RR@3": 0.5}


def test_a_changed_request_mapping_and_settings_are_shown_as_diffs(saved, shop, engine, capsys):
    shop.write_text(SUITE.replace("match:", "match_phrase:"))
    engine.facts = facts({"title": {"type": "keyword"}}, 2)
    _, text, suite = shown(capsys, "--output", "markdown=report.md", "--output", "html=report.html")
    assert [diff.name for diff in suite.baseline.diffs] == ["request", "mapping", "settings"]
    for file in ("report.md", None):
        printed = text if file is None else Path(file).read_text()
        assert "the request changed (- baseline, + now)" in printed
        for line in ('-      "match": {', '+      "match_phrase": {', '+      "type": "keyword"', '-  "shards": 1'):
            assert line in printed


def test_a_long_diff_says_how_many_lines_it_leaves_out(saved, engine, capsys):
    fields = {f"field_{number:03}": {"type": "text"} for number in range(60)}
    engine.facts = facts(fields, 1)
    _, text, suite = shown(capsys)
    [diff] = suite.baseline.diffs
    assert len(diff.lines) == 40
    assert f"and {diff.left_out} more lines" in text


def test_secrets_are_masked_in_a_diff(shop, engine, capsys, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "s3cret")
    shop.write_text(SUITE.replace('title: "{{text}}"', 'title: "{{text}} ${RELEVANCE_TOKEN}"'))
    assert main(["baseline", "save", shop.name, "-q"]) == 0
    shop.write_text(SUITE.replace('title: "{{text}}"', 'title: "${RELEVANCE_TOKEN} {{text}}"'))
    _, text, suite = shown(capsys)
    assert suite.baseline.diffs
    assert '+        "title": "${RELEVANCE_TOKEN} {{text}}"' in suite.baseline.diffs[0].lines
    assert "s3cret" not in text + Path("report.json").read_text()


def test_a_run_without_an_answer_says_nothing_of_a_baseline(saved, engine, capsys):
    dead = Failure(FailureKind.ERROR, "gone")
    engine.now(q=dead, r=dead)
    status, text, suite = shown(capsys)
    assert (status, suite.baseline, "baseline" in text) == (3, None, False)


def test_weighted_means_are_compared_by_today_s_weights(saved, shop, engine, capsys):
    shop.write_text(SUITE.replace("{id: q,", "{id: q, weight: 3,").replace("{id: r,", "{id: r, weight: 1,"))
    engine.now(r=["x", "b"])
    _, _, suite = shown(capsys)
    assert suite.summaries[0].change.difference == pytest.approx(-0.125)


def test_the_schema_of_the_report_has_the_difference(capsys):
    assert main(["schema", "report"]) == 0
    schema = json.loads(capsys.readouterr().out)["$defs"]
    assert schema["MeanChange"]["properties"]["difference"]["description"] == "*now* minus *baseline*."
    assert {"scores", "documents", "depth", "ties_only"} == set(schema["QueryBaseline"]["properties"])
    assert {"name", "lines", "left_out"} == set(schema["TextDiff"]["properties"])
