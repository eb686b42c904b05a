"""``relevance compare``: what the two sides may be, what is refused with which sentence, and the exit status."""

import pytest

pytest.importorskip("numpy")

import html
import json
import os
import re
import threading
from collections import Counter
from pathlib import Path

import harness.config
import harness.extensions.compare.assembly
import harness.extensions.compare.command
import harness.extensions.compare.scores
import harness.extensions.compare.sides
import harness.run.cell
import harness.search.dialects
import harness.store.baseline
import harness.suites.loading
from extensions.compare.builders.comparing import compare, refused, told
from harness.cli import main
from harness.errors import EngineUnreachable
from harness.extensions.compare.forms import WORDS
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.outputs import loads_comparison
from harness.model.run import Engine, Failure, FailureKind, Hit
from harness.search.testing import FakeSearch
from harness.store.baseline_files import read_baselines

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {query: {match_phrase: {title: "{{text}}"}}}
measures: ["RR@3"]
thresholds: ["drop RR@3 <= 0.1", "mean RR@3 >= 0.9"]
queries:
  - {id: q, text: one, tags: [head], judgments: {a: 3, b: 1}}
  - {id: r, text: two, tags: [tail], judgments: {b: 1}}
  - {id: s, text: three, tags: [tail], judgments: {c: 1}}
"""
CURRENT = {"q": ["a", "b"], "r": ["b", "a"], "s": ["c"]}
CANDIDATE = {"q": ["a", "b"], "r": ["a", "b"], "s": ["x", "c"]}
"""RR falls from 1 to 1/2 for two of the three queries: the mean from 1 to 2/3."""


class Shop:
    """Engines by URL: each answers a request by its name with the rankings that it was given."""

    def __init__(self):
        self.answers = {"match": CURRENT, "match_phrase": CANDIDATE}
        self.opened, self.asked = [], []

    def open(self, cluster, *_, **__):
        self.opened.append(cluster.url)
        return _Door(self, cluster.url)


class _Door(FakeSearch):
    def __init__(self, shop, url):
        super().__init__({}, engine=Engine("opensearch" if "two" in url else "elasticsearch", "9"))
        self.shop = shop

    def stream(self, requests, *, budget=None):
        queries = [one for one in requests if one.query]
        [kind] = {next(iter(one.body["query"])) for one in queries}
        self.shop.asked.append((self.engine.kind, requests[0].index, kind, [one.query for one in queries]))
        self._rankings = dict(self.shop.answers.get(requests[0].index, self.shop.answers[kind]))
        return super().stream(requests, budget=budget)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    toml = '[clusters.default]\nurl = "http://one:9200"\n[clusters.staging]\nurl = "http://two:9200"\n'
    (tmp_path / "relevance.toml").write_text(toml)
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    shop = Shop()
    monkeypatch.setattr(harness.search.dialects, "open_search", shop.open)
    return shop


SUITE_WORDS = ("--suite", "shop.relevance.yaml")
PAIR = ("request:current", "request:candidate", *SUITE_WORDS)


def write_run(name, rankings):
    lines = [
        f"{query} Q0 {document} 0 {10 - rank} t\n"
        for query, ranking in rankings.items()
        for rank, document in enumerate(ranking)
    ]
    Path(name).write_text("".join(lines), encoding="utf-8")


# ------------------------------------------------------------------------------------------------ what is compared


@pytest.mark.smoke("relevance compare")
def test_two_requests_are_scored_alike_and_those_that_moved_most_come_first(shop, capsys):
    status, report = told(capsys, *PAIR)
    assert (status, report.exit_status, report.suite, report.gain) == (0, 0, "shop", "exponential")
    assert (report.reference.kind, report.reference.request) == (SideKind.REQUEST, "current")
    assert (report.candidate.name, report.candidate.request) == ("request:candidate", "candidate")
    [row] = report.measures.measures
    assert (row.measure, row.queries, row.losses, row.ties) == ("RR@3", 3, 2, 1)
    assert (row.reference, row.candidate, row.difference) == (1.0, pytest.approx(2 / 3), pytest.approx(-1 / 3))
    assert [query.id for query in report.queries] == ["s", "r", "q"], "r and s fell alike, and s agrees less"
    query = next(one for one in report.queries if one.id == "s")
    assert query.scores == {"RR@3": (1.0, 0.5)}
    assert (query.text, query.tags, query.entered, query.moved) == ("three", ("tail",), 1, 1)
    assert [(one.id, one.reference, one.candidate, one.grade, one.gain) for one in query.documents] == [
        ("x", None, 1, None, None),
        ("c", 1, 2, 1.0, 1.0),
    ]
    assert report.agreement.queries == 3
    assert (report.agreement.same_ranking, report.agreement.same_documents, report.agreement.same_first) == (1, 2, 1)


# ------------------------------------------------------------------------------------------------ other questions

ANOTHER = "s (its text was 'three' and is 'drei')"


def asks_otherwise():
    Path("shop.relevance.yaml").write_text(SUITE.replace("text: three", "text: drei"), encoding="utf-8")


def save_all(capsys):
    """The same run as a baseline, a report and a run file."""
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    main(["run", "shop.relevance.yaml", "--output", "json=old.json", "-q"])
    write_run("old.run", CURRENT)
    capsys.readouterr()


@pytest.mark.parametrize("first", ["baseline", "baseline:shop.baseline.json", "report:old.json"])
def test_a_query_that_asks_something_else_is_one_that_the_first_side_does_not_have(shop, capsys, first):
    save_all(capsys)
    asks_otherwise()
    drop = ("--threshold", "drop RR@3 <= 1", "--threshold", "mean RBO >= 0", "--threshold", "drop RR@3 <= 1 for head")
    status, report = told(capsys, first, "request:candidate", *SUITE_WORDS, *drop)
    assert (status, [str(one.status) for one in report.verdicts]) == (1, ["failed", "failed", "passed"])
    assert f"{first} asked something else for 1 query: {ANOTHER}" in report.verdicts[0].reason
    assert f"{first} asked something else for 1 query, not compared: {ANOTHER}" in report.notes
    assert (report.measures.measures[0].queries, report.agreement.queries) == (2, 2)
    assert (report.only_reference, report.only_candidate) == ((), ())
    query = next(one for one in report.queries if one.id == "s")
    assert (query.text, query.scores, query.documents) == ("drei", {"RR@3": (None, 0.5)}, ())


@pytest.mark.parametrize("other", ["request:candidat", "nothing.run"])
def test_a_comparison_that_is_refused_leaves_an_earlier_one_and_says_so(shop, capsys, other):
    save_all(capsys)
    words = [*SUITE_WORDS, "--output", "json=c.json"]
    assert main(["compare", "baseline", "request:candidate", *words]) == 0
    before = Path("c.json").read_bytes()
    assert main(["compare", "baseline", other, *words]) == 2
    assert Path("c.json").read_bytes() == before
    assert "c.json is as it was, the report of an earlier run" in capsys.readouterr().err


def test_a_comparison_that_fails_leaves_none_of_an_earlier_one(shop, capsys, monkeypatch):
    save_all(capsys)
    words = ["compare", "baseline", "request:candidate", *SUITE_WORDS, "--output", "json=c.json"]
    assert main(words) == 0

    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(harness.extensions.compare.command, "prepare", fail)
    assert main(words) == 3
    assert not Path("c.json").exists()
    assert "removed c.json, the report of an earlier run" in capsys.readouterr().err


@pytest.mark.parametrize("side", ["report:old.json", "old.json", "report:old.json#products", "report:./old.json"])
def test_a_report_that_is_compared_is_not_replaced(shop, capsys, side):
    save_all(capsys)
    before = Path("old.json").read_bytes()
    assert main(["compare", side, "request:candidate", *SUITE_WORDS, "--output", "json=./old.json"]) == 2
    assert "old.json is read by this run" in capsys.readouterr().err
    assert Path("old.json").read_bytes() == before


def test_so_it_is_of_two_files_without_a_suite(shop, capsys):
    save_all(capsys)
    asks_otherwise()
    main(["run", "shop.relevance.yaml", "--request", "candidate", "--output", "json=new.json", "-q"])
    capsys.readouterr()
    for first in ("shop.baseline.json", "old.json"):
        status, report = told(capsys, first, "new.json", "--threshold", "drop RR@3 <= 1")
        assert (status, report.measures.measures[0].queries) == (1, 2)
        assert ANOTHER in report.verdicts[0].reason


def test_answers_to_an_older_question_are_not_scored_with_the_judgments_of_todays(shop, capsys):
    save_all(capsys)
    asks_otherwise()
    drop = ("--threshold", "drop RR@3 <= 1")
    status, report = told(capsys, "baseline", "report:old.json", *SUITE_WORDS, *drop)
    assert (status, report.measures.measures[0].queries) == (1, 2)
    assert ANOTHER in report.verdicts[0].reason
    status, report = told(capsys, "old.run", "report:old.json", *SUITE_WORDS, *drop)
    assert (status, str(report.verdicts[0].status)) == (3, "error")
    assert f"another text or params: {ANOTHER}" in report.verdicts[0].reason


@pytest.mark.parametrize("words", [("baseline", *SUITE_WORDS), ("shop.baseline.json",)], ids=["suite", "alone"])
def test_a_baseline_that_contradicts_itself_is_compared_with_nothing(shop, capsys, words):
    save_all(capsys)
    path = Path("shop.baseline.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["requests"]["current"]["queries"]["s"]["ranking"] = []
    path.write_text(json.dumps(content), encoding="utf-8")
    first, *rest = words
    assert compare(first, "old.json", *rest) == 1
    said = "shop.baseline.json contradicts itself: request current, query s: it is scored, and its ranking is empty"
    assert said in capsys.readouterr().err


def test_what_a_run_file_was_asked_is_not_known(shop, capsys):
    save_all(capsys)
    asks_otherwise()
    status, report = told(capsys, "old.run", "request:candidate", *SUITE_WORDS, "--threshold", "drop RR@3 <= 1")
    assert (status, report.measures.measures[0].queries) == (0, 3)


def test_of_a_report_that_has_no_fingerprints_the_texts_are_compared(shop, capsys):
    save_all(capsys)
    asks_otherwise()
    report = json.loads(Path("old.json").read_text(encoding="utf-8"))
    for query in report["suites"][0]["queries"]:
        del query["question"]
    Path("older.json").write_text(json.dumps(report), encoding="utf-8")
    _, compared = told(capsys, "older.json", "request:candidate", *SUITE_WORDS)
    assert ANOTHER in "".join(compared.notes)


def test_a_question_of_a_query_that_is_not_compared_is_not_told(shop, capsys):
    save_all(capsys)
    asks_otherwise()
    for candidate in ("request:candidate", "report:old.json"):
        _, report = told(capsys, "baseline", candidate, *SUITE_WORDS, "--tag", "head")
        assert "something else" not in "".join(report.notes)


def test_what_a_suite_took_from_the_environment_is_not_told(shop, capsys, monkeypatch):
    monkeypatch.setenv("RELEVANCE_BRAND", "hunter2")
    Path("shop.relevance.yaml").write_text(
        SUITE.replace("text: one", 'text: "one ${RELEVANCE_BRAND}"'), encoding="utf-8"
    )
    _, report = told(capsys, *PAIR)
    assert [query.text for query in report.queries if query.id == "q"] == ["one ${RELEVANCE_BRAND}"]
    assert compare(*PAIR, "--output", "html=page.html") == 0
    assert "hunter2" not in capsys.readouterr().out + Path("page.html").read_text(encoding="utf-8")


def test_a_side_compared_with_itself_has_no_difference(shop, capsys):
    status, report = told(capsys, "request:current", "request:current", *SUITE_WORDS, "--threshold", "every RBO >= 1")
    assert (status, report.measures.measures[0].difference, report.agreement.same_ranking) == (0, 0.0, 3)
    assert shop.opened == ["http://one:9200"], "both sides share a connection"


def test_a_baseline_and_a_report_stand_for_what_was_run_then(shop, capsys):
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    assert main(["run", "shop.relevance.yaml", "--request", "candidate", "--output", "json=new.json", "-q"]) == 1
    capsys.readouterr()
    shop.asked.clear()
    for first in ("baseline", "baseline:shop.baseline.json", "shop.baseline.json"):
        status, report = told(capsys, first, "new.json", *SUITE_WORDS)
        assert (status, report.reference.kind, report.candidate.kind) == (0, SideKind.BASELINE, SideKind.REPORT)
        assert report.measures.measures[0].difference == pytest.approx(-1 / 3)
        assert (report.reference.engine, report.reference.request) == ("elasticsearch 9", "current")
    assert shop.asked == []


def test_scores_that_two_files_hold_serve_without_a_suite(shop, capsys):
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    main(["run", "shop.relevance.yaml", "--request", "candidate", "--output", "json=new.json", "-q"])
    capsys.readouterr()
    status, report = told(capsys, "shop.baseline.json", "new.json", "--threshold", "drop RR@3 <= 0.1")
    assert (status, report.exit_status, report.suite) == (1, 1, "")
    assert report.measures.measures[0].difference == pytest.approx(-1 / 3)
    query = next(one for one in report.queries if one.id == "s")
    assert (query.text, query.tags) == ("three", ("tail",))
    assert next(one.grade for one in query.documents if one.id == "c") == 1.0
    assert "whether both were judged alike cannot be told; with a suite both are scored anew" in report.notes


def test_reports_that_were_judged_otherwise_are_told_apart(shop, capsys, tmp_path):
    main(["run", "shop.relevance.yaml", "--output", "json=old.json", "-q"])
    (tmp_path / "shop.relevance.yaml").write_text(SUITE.replace("{c: 1}", "{c: 2}"))
    main(["run", "shop.relevance.yaml", "--output", "json=new.json", "-q"])
    capsys.readouterr()
    _, report = told(capsys, "old.json", "new.json")
    assert any(note.startswith("1 query not judged alike (s), so scores may differ for that") for note in report.notes)
    _, anew = told(capsys, "old.json", "new.json", *SUITE_WORDS)
    assert not any("judged alike" in note for note in anew.notes)


def test_baselines_that_were_judged_otherwise_are_told_apart(shop, capsys, tmp_path):
    main(["baseline", "save", "shop.relevance.yaml", "-q"])
    (tmp_path / "shop.baseline.json").rename("old.json")
    (tmp_path / "shop.relevance.yaml").write_text(SUITE.replace("{c: 1}", "{c: 2}"))
    main(["baseline", "save", "shop.relevance.yaml", "-q"])
    capsys.readouterr()
    _, report = told(capsys, "old.json", "shop.baseline.json")
    assert any(note.startswith("1 query not judged alike (s)") for note in report.notes)
    _, same = told(capsys, "old.json", "old.json")
    assert not any("judged" in note for note in same.notes)


def test_run_files_are_scored_with_a_judgment_file(shop, capsys, tmp_path):
    write_run("old.run", CURRENT)
    write_run("new.run", CANDIDATE)
    (tmp_path / "j.qrels").write_text("q 0 a 3\nr 0 b 1\ns 0 c 1\nt 0 d 1\n")
    words = ("--qrels", "j.qrels", "--measure", "RR@3")
    status, report = told(capsys, "run:old.run", "new.run", *words)
    assert (status, report.reference.kind, report.measures.measures[0].queries) == (0, SideKind.RUN, 3)
    assert report.measures.measures[0].difference == pytest.approx(-1 / 3)
    assert "judged and in neither run: 1 query (t)" in report.notes
    _, complete = told(capsys, "run:old.run", "new.run", *words, "--complete")
    assert complete.measures.measures[0].queries == 4
    assert complete.agreement.same_ranking == 2, "the query that neither run holds has no hits in both"


def test_run_files_without_judgments_are_compared_for_their_agreement(shop, capsys):
    write_run("old.run", CURRENT)
    write_run("new.run", {**CANDIDATE, "only": ["a"]})
    words = ("--threshold", "mean overlap@1 >= 0.3", "--threshold", "every RBO(p=0.5) >= 0.1")
    status, report = told(capsys, "old.run", "new.run", *words[:2])
    assert (status, report.measures, report.gain) == (1, None, ""), "a query of one side only is no agreement"
    assert (report.only_reference, report.only_candidate) == ((), ("only",))
    assert "run:old.run and run:new.run have no scores, so only the rankings are compared" in report.notes
    write_run("new.run", CANDIDATE)
    status, report = told(capsys, "old.run", "new.run", *words)
    assert (status, [verdict.status.value for verdict in report.verdicts]) == (0, ["passed", "passed"])
    assert report.verdicts[0].observed == pytest.approx(1 / 3)


def test_a_run_may_come_out_of_a_pipe(shop, capsys):
    write_run("x.run", CURRENT)
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(Path("x.run").read_bytes()), daemon=True)
    writer.start()
    status, report = told(capsys, "run:pipe", "run:x.run")
    writer.join(timeout=10)
    assert (status, report.agreement.same_ranking) == (0, 3)


def test_a_cutoff_may_be_deeper_than_the_rankings_of_a_run_file(shop, tmp_path):
    write_run("old.run", CURRENT)
    (tmp_path / "j.qrels").write_text("q 0 a 3\nr 0 b 1\ns 0 c 1\n")
    words = ("--qrels", "j.qrels", "--threshold", "drop nDCG@20 <= 0", "--threshold", "every RBO@30 >= 1")
    assert compare("old.run", "old.run", *words) == 0


def test_single_queries_are_compared(shop, capsys):
    _, report = told(capsys, "request:current", "request:candidate", *SUITE_WORDS, "--query", "s", "--query", "q")
    assert {query.id for query in report.queries} == {"q", "s"}


def test_an_index_and_a_cluster_are_asked_with_the_suites_request(shop, capsys):
    shop.answers["products_v2"] = CANDIDATE
    status, report = told(capsys, "index:products", "index:products_v2", *SUITE_WORDS)
    assert (status, report.candidate.kind, report.candidate.index) == (0, SideKind.INDEX, "products_v2")
    assert report.measures.measures[0].difference == pytest.approx(-1 / 3)
    assert [asked[1] for asked in shop.asked] == ["products", "products_v2"]
    shop.asked.clear()
    words = ("cluster:default", "cluster:staging", *SUITE_WORDS, "--request", "candidate", "--tag", "tail")
    status, report = told(capsys, *words)
    assert (status, report.candidate.kind, report.candidate.engine) == (0, SideKind.CLUSTER, "opensearch 9")
    assert shop.asked == [
        ("elasticsearch", "products", "match_phrase", ["r", "s"]),
        ("opensearch", "products", "match_phrase", ["r", "s"]),
    ]
    _, by_url = told(capsys, "http://one:9200", "cluster:http://two:9200", *SUITE_WORDS)
    assert (by_url.reference.name, by_url.candidate.engine) == ("cluster:http://one:9200", "opensearch 9")


def test_ties_are_excused_where_the_request_is_the_same(shop, capsys):
    def tied(*names):
        return [Hit(name, 2.0) for name in names]

    shop.answers |= {"v1": {**CURRENT, "r": tied("b", "a")}, "v2": {**CURRENT, "r": tied("a", "b")}}
    words = ("index:v1", "index:v2", *SUITE_WORDS, "--threshold", "drop every RR@3 <= 0.1")
    status, report = told(capsys, *words)
    assert status == 0
    assert "only the order of ties changed in 1 query: r" in report.verdicts[0].reason
    assert next(one for one in report.queries if one.id == "r").ties_only
    shop.answers = {"match": shop.answers["v1"], "match_phrase": shop.answers["v2"]}
    assert told(capsys, *PAIR, "--threshold", "drop every RR@3 <= 0.1")[0] == 1, "another request may have meant it"


# ------------------------------------------------------------------------------------------------ thresholds


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("drop RR@3 <= 0.4", 0),
        ("drop RR@3 <= 0.3", 1),
        ("drop RR@3 <= 0.1 for head", 0),
        ("worse RR@3 by 0.1 <= 1 query", 1),
        ("worse RR@3 by 0.1 <= 2 queries", 0),
        ("mean RBO >= 0.99", 1),
        ("every overlap@1 >= 0", 0),
        ("drop RR@3 is not significant at 5%", 1),
    ],
)
def test_thresholds_decide_the_exit_status(shop, text, status):
    assert compare(*PAIR, "--threshold", text) == status


def test_sentences_name_the_side_and_no_baseline(shop, capsys):
    _, report = told(capsys, "request:current", "request:current", *SUITE_WORDS, "--threshold", "drop RR@3 <= 0.1")
    assert report.verdicts[0].reason == "mean RR@3 is 1.0000 as in request:current, allowed 0.1, over 3 queries"
    _, report = told(capsys, *PAIR, "--threshold", "mean overlap@1 >= 0.5")
    assert report.verdicts[0].reason.endswith("compared with request:current")


def test_the_suites_own_thresholds_are_left_aside(shop, capsys):
    status, report = told(capsys, *PAIR)
    assert (status, report.verdicts) == (0, ())


def test_an_agreement_looks_as_deep_as_the_report_unless_it_says(shop, capsys):
    words = ("--depth", "1", "--threshold", "mean RBO >= 0", "--threshold", "mean RBO@2 >= 0")
    _, report = told(capsys, *PAIR, *words)
    assert (report.depth, report.agreement.p) == (1, 0.9)
    assert report.verdicts[0].observed == report.agreement.rbo
    assert report.verdicts[1].observed != report.agreement.rbo


def test_an_agreement_holds_a_suite_to_its_baseline_too(shop, capsys, tmp_path):
    held = 'thresholds: ["mean overlap@1 >= 0.9"]'
    text = SUITE.replace('thresholds: ["drop RR@3 <= 0.1", "mean RR@3 >= 0.9"]', held)
    (tmp_path / "shop.relevance.yaml").write_text(text)
    assert main(["run", "shop.relevance.yaml", "-q"]) == 1
    assert "shop.baseline.json" in capsys.readouterr().out
    main(["baseline", "save", "shop.relevance.yaml", "-q"])
    assert main(["run", "shop.relevance.yaml", "-q"]) == 0
    shop.answers["match"] = CANDIDATE
    capsys.readouterr()
    assert main(["run", "shop.relevance.yaml", "-q"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "mean overlap@1 is 0.3333, required >= 0.9, over 3 queries; worst: r 0.0000, s 0.0000" in said
    (tmp_path / "shop.relevance.yaml").write_text(text.replace("@1", "@20") + "depth: 10\n")
    assert main(["validate", "shop.relevance.yaml"]) == 2
    assert "depth 10 is too shallow for 'mean overlap@20 >= 0.9', which needs 20 hits" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ what is missing


@pytest.mark.parametrize("broken", ["match", "match_phrase"])
def test_a_query_without_an_answer_is_named_and_the_status_is_3(shop, capsys, broken):
    answers = {**shop.answers[broken], "r": Failure(FailureKind.ERROR, "no such field", 400)}
    shop.answers[broken] = answers
    status, report = told(capsys, *PAIR)
    side = report.reference if broken == "match" else report.candidate
    assert (status, dict(side.unanswered)) == (3, {"r": "engine error (400): no such field"})
    assert report.queries[-1].id == "r"
    assert (report.queries[-1].documents, report.agreement.queries) == ((), 2)
    status, report = told(capsys, *PAIR, "--threshold", "drop RR@3 <= 1")
    assert (status, report.verdicts[0].status.value) == (3, "error")


def test_an_engine_that_is_away_is_3_and_no_traceback(shop, capsys, monkeypatch):
    def away(cluster, *_, **__):
        if "two" in cluster.url:
            raise EngineUnreachable("nobody answers")
        return _Door(shop, cluster.url)

    monkeypatch.setattr(harness.search.dialects, "open_search", away)
    status, report = told(capsys, "cluster:default", "cluster:staging", *SUITE_WORDS)
    assert (status, len(report.candidate.unanswered), report.agreement) == (3, 3, None)


def test_a_baseline_that_is_not_there_is_1(shop, capsys):
    assert compare("baseline", "request:current", *SUITE_WORDS) == 1
    assert "shop.baseline.json" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ what is refused

FORMS = (
    "expected baseline, baseline:FILE, report:FILE, report:FILE#INDEX, run:FILE, request:NAME, index:NAME, "
    "cluster:NAME, cluster:URL, embedded or embedded:VERSION"
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("current", *PAIR[1:]), "found 'current', which is no file; the request of that name is 'request:current'"),
        (("candidat", *PAIR[1:]), "which is no file; did you mean 'request:candidate'?"),
        (("zzz", *PAIR[1:]), f"found 'zzz', which is no file; {FORMS}"),
        (("reqest:current", *PAIR[1:]), "neither a known form nor a file; did you mean 'request:current'?"),
        (("request:", *PAIR[1:]), "found 'request:', expected request:NAME"),
        (("request", *PAIR[1:]), "found 'request', expected request:NAME"),
        (("cluster", *PAIR[1:]), "found 'cluster', expected cluster:NAME or cluster:URL"),
        (("embedded:", *PAIR[1:]), "found 'embedded:', expected embedded:VERSION, or embedded alone"),
        (("run:none.run", *PAIR[1:]), "run:none.run: the file none.run does not exist"),
        (("report:.", *PAIR[1:]), "report:.: the file . is a folder"),
        (("relevance.toml", *PAIR[1:]), "the name of relevance.toml does not determine its type; write run:rele"),
        (("odd.json", *PAIR[1:]), "odd.json is neither a JSON report of relevance run nor a baseline; write report:"),
        (("report:latin.json", *PAIR[1:]), "latin.json:1:2: byte 0xe9 is not UTF-8"),
        (("broken.json", *PAIR[1:]), "broken.json cannot be read as JSON"),
        (("request:candidat", *PAIR[1:]), "found no request 'candidat', known are current, candidate; did you mean"),
        (("request:current", "index:v2"), "index:v2 is asked with the queries and requests of a suite; give --suite"),
        (("baseline", "x.run"), "baseline is that of a suite; give --suite, or say baseline:FILE"),
        ((*PAIR, "--qrels", "j"), "found --suite and --qrels, expected one of them"),
        (("x.run", "x.run", "--qrels", "j"), "--qrels needs a --measure such as nDCG@10"),
        (("x.run", "x.run", "--gain", "linear"), "--profile and --gain go with --qrels"),
        (("x.run", "x.run", "--complete"), "--complete goes with --suite or --qrels"),
        (("x.run", "x.run", "--tag", "head"), "--tag selects queries of a suite; give --suite"),
        (("x.run", "x.run", "--query", "shoes"), "--query selects queries of a suite; give --suite"),
        ((*PAIR, "--query", "Q"), "no query has the id 'Q'; did you mean 'q'?"),
        (("x.run", "x.run", "--url", "http://a"), "--url needs a request: or index: side, and none is one"),
        (("x.run", "x.run", "--embedded"), "--embedded needs a request: or index: side"),
        ((*PAIR, "--request", "current"), "--request current is for index, cluster, embedded, baseline and report"),
        ((*PAIR, "--tag", "hed"), "no query has the tag 'hed', known are head, tail; did you mean 'head'?"),
        ((*PAIR, "--measure", "nDGC@3"), "measure 'nDGC@3'"),
        ((*PAIR, "--measure", "RR@20"), "RR@20 looks at more hits than the 10 a query that request:current and"),
        ((*PAIR, "--depth", "11"), "depth 11 is deeper than the 10 hits a query that request:current and request:cand"),
        ((*PAIR, "--level", "2"), "found level 2"),
        ((*PAIR, "--threshold", "drop RR@3"), "threshold 'drop RR@3'"),
        ((*PAIR, "--threshold", "drop RR@3 <= 0.1 since 5 runs"), "is about a history, of which a comparison has none"),
        ((*PAIR, "--threshold", "mean RR@3 >= 0.8"), "applies to one run and not to a difference; expected a drop"),
        ((*PAIR, "--threshold", "drop RR@3 <= 0.1 for hed"), "no query has the tag 'hed'; did you mean 'head'?"),
        ((*PAIR, "--threshold", "drop RR@3 <= 7"), "7 is out of range: RR@3 is 0 to 1"),
        ((*PAIR, "--threshold", "mean RBO@20 >= 0.1"), "RBO@20 looks at more hits than the 10 a query"),
        (("x.run", "x.run", "--measure", "RR@3"), "RR@3 cannot be compared, as run:x.run and run:x.run have no scores"),
        (("x.run", "x.run", "--threshold", "drop RR@3 <= 0.1"), "there are no scores to compare; give --suite"),
        ((*PAIR, "--output", "pdf=x.pdf"), "there is no kind 'pdf', only html, json"),
        (("cluster:stagin", *PAIR[1:]), "the cluster 'stagin' is not defined in"),
        (("http://u:pw@one:9200", *PAIR[1:]), "password"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_sentence(shop, capsys, tmp_path, words, said):
    write_run("x.run", CURRENT)
    (tmp_path / "j").write_text("q 0 a 1\n")
    (tmp_path / "odd.json").write_text("{}")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "latin.json").write_bytes(b"{\xe9}")
    assert said in refused(capsys, *words)


def test_nothing_is_asked_for_a_command_that_is_wrong(shop, capsys):
    refused(capsys, *PAIR, "--threshold", "drop RR@3 <= 7")
    refused(capsys, "request:current", "request:candidat", *SUITE_WORDS)
    refused(capsys, "request:current", "run:none.run", *SUITE_WORDS)
    refused(capsys, *PAIR, "--measure", "RR@20")
    Path("bad.run").write_text("q Q0 a 1\n", encoding="utf-8")
    assert "bad.run:1" in refused(capsys, "request:current", "run:bad.run", *SUITE_WORDS)
    assert shop.asked == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--depth", "9"), "depth 9 is deeper than the 8 hits a query that baseline asked for"),
        (("--threshold", "mean RBO@9 >= 0.1"), "RBO@9 looks at more hits than the 8 a query that both sides have"),
        (
            ("--threshold", "mean RBO >= 0.1", "--threshold", "every overlap >= 0.1"),
            "RBO, overlap looks at the 10 hits a query that the suite asks for, more than the 8 that baseline asked "
            "for: say RBO@8",
        ),
        (("--threshold", "drop RR@9 <= 0.1"), "RR@9 looks at more hits than the 8 a query that baseline asked for"),
        (("--measure", "RR@9"), "RR@9 looks at more hits than the 8 a query that baseline asked for"),
    ],
)
def test_nothing_is_asked_for_what_looks_deeper_than_a_side(shop, capsys, words, said):
    suite = Path("shop.relevance.yaml")
    suite.write_text(SUITE + "depth: 8\n", encoding="utf-8")
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    suite.write_text(SUITE, encoding="utf-8")
    shop.asked.clear()
    capsys.readouterr()
    assert said in refused(capsys, "baseline", "request:current", *SUITE_WORDS, *words)
    assert shop.asked == []


def test_an_agreement_down_to_a_depth_that_was_named_needs_no_cutoff(shop, capsys):
    suite = Path("shop.relevance.yaml")
    suite.write_text(SUITE + "depth: 8\n", encoding="utf-8")
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    suite.write_text(SUITE, encoding="utf-8")
    words = ("compare", "baseline", "request:current", *SUITE_WORDS, "--threshold", "mean RBO >= 0.1")
    assert main([*words, "--depth", "8"]) == 0
    capsys.readouterr()


def test_the_progress_does_not_count_thresholds_that_are_left_aside(shop, capsys):
    shop.answers["match_phrase"] = {**CANDIDATE, "q": Failure(FailureKind.ERROR, "no")}
    assert main(["compare", *PAIR, "--json"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" in ")[0] for line in lines] == [
        "shop, request current: 3 queries to run",
        "shop, request current: 3 of 3 queries answered",
        "shop, request candidate: 3 queries to run",
        "shop, request candidate: 2 of 3 queries answered",
    ]


def test_all_that_is_wrong_is_told_at_once(shop, capsys):
    write_run("x.run", CURRENT)
    sentence = refused(capsys, "index:a", "baseline", "--gain", "linear", "--complete")
    assert sentence.count("give --suite") == 2
    assert "--complete goes with" in sentence
    both = refused(capsys, *PAIR, "--threshold", "nonsense", "--threshold", "mean RR@3 >= 1")
    assert "nonsense" in both
    assert "applies to one run" in both


def test_scores_made_by_other_rules_are_refused(shop, capsys, tmp_path):
    main(["run", "shop.relevance.yaml", "--output", "json=old.json", "-q"])
    (tmp_path / "shop.relevance.yaml").write_text(SUITE + "gain: linear\nprofile: trec\n")
    main(["run", "shop.relevance.yaml", "--output", "json=new.json", "-q"])
    capsys.readouterr()
    sentence = refused(capsys, "old.json", "new.json")
    assert "old.json and report:new.json were computed with different settings: gain exponential and linear" in sentence
    assert "profile standard and trec; give --suite or --qrels" in sentence
    assert told(capsys, "old.json", "new.json", *SUITE_WORDS)[0] == 0


def test_files_that_hold_several_say_which_are_meant(shop, capsys):
    words = ["shop.relevance.yaml", "--all-requests", "-q"]
    main(["baseline", "save", *words])
    main(["run", *words, "--output", "json=both.json"])
    capsys.readouterr()
    sentence = refused(capsys, "shop.baseline.json", "both.json")
    assert "baseline:shop.baseline.json holds the requests candidate, current; say which with --request" in sentence
    sentence = refused(capsys, "report:both.json", "report:both.json")
    assert "report:both.json has several possible entries: shop (request current on products)" in sentence
    assert "--request says which" in sentence
    _, report = told(capsys, "shop.baseline.json", "both.json", "--request", "candidate")
    assert (report.reference.request, report.candidate.request) == ("candidate", "candidate")
    sentence = refused(capsys, "shop.baseline.json", "both.json", "--request", "candidat")
    assert "holds no request 'candidat', only candidate, current; did you mean 'candidate'?" in sentence
    write_run("x.run", CURRENT)
    sentence = refused(capsys, "x.run", "both.json", "--request", "other")
    assert (
        "report:both.json does not hold the request 'other'; it holds shop (request current on products), " in sentence
    )


def test_an_entry_of_a_report_is_chosen_by_its_index(shop, capsys):
    cells = ["--all-requests", "--index", "one", "--index", "two"]
    main(["run", "shop.relevance.yaml", *cells, "-q", "--output", "json=i.json"])
    capsys.readouterr()
    sentence = refused(capsys, "i.json", "i.json")
    assert sentence.endswith("; --request and a side such as report:i.json#one say which")
    sentence = refused(capsys, "i.json", "i.json", "--request", "current", *SUITE_WORDS)
    assert sentence.endswith("; a side such as report:i.json#one says which")
    for first, second in (("i.json#one", "report:i.json#two"), ("report:i.json#one", "i.json#two")):
        _, report = told(capsys, first, second, "--request", "current")
        assert (report.reference.index, report.candidate.index) == ("one", "two")
        assert (report.reference.name, report.candidate.name) == ("report:i.json#one", "report:i.json#two")
    sentence = refused(capsys, "i.json#on", "i.json#two", "--request", "current")
    assert "report:i.json does not hold the request 'current' and the index 'on'; it holds shop (request" in sentence
    assert sentence.endswith("; did you mean 'one'?")
    assert "report:gone.json#one: the file gone.json does not exist" in refused(
        capsys, "report:gone.json#one", "i.json"
    )


def test_measures_that_a_file_does_not_hold_are_named(shop, capsys):
    main(["run", "shop.relevance.yaml", "--output", "json=old.json", "-q"])
    capsys.readouterr()
    sentence = refused(capsys, "old.json", "old.json", "--measure", "nDCG@3")
    assert "both hold RR@3, and not nDCG@3; give --suite or --qrels to compute other measures" in sentence


def test_what_has_to_be_installed_is_said_before_anything_is_asked(shop, capsys, monkeypatch):
    monkeypatch.setattr(harness.extensions.compare.scores, "find_spec", lambda name: None)
    assert "pip install 'relevance-harness[statistics]' brings what is needed" in refused(capsys, *PAIR)
    assert shop.asked == []
    write_run("x.run", CURRENT)
    assert told(capsys, "x.run", "x.run")[0] == 0, "rankings alone need no statistics"


@pytest.mark.parametrize(
    ("words", "scored", "decided"),
    [
        (["compare", *PAIR, "--threshold", "drop RR@3 <= 1"], 2, 1),
        (["run", "shop.relevance.yaml", "--request", "current", "--request", "candidate"], 2, 2),
    ],
)
def test_what_was_loaded_read_scored_and_decided_is_handed_on(shop, capsys, monkeypatch, words, scored, decided):
    calls = Counter()

    def counted(module, name):
        function = getattr(module, name)

        def call(*arguments, **named):
            calls[name] += 1
            return function(*arguments, **named)

        monkeypatch.setattr(module, name, call)

    counted(harness.config.trust, "read_config")
    counted(harness.suites.loading, "read_suite_file")
    for module in (harness.extensions.compare.scores, harness.run.cell):
        counted(module, "score_run")
    for module in (harness.extensions.compare.assembly, harness.run.cell):
        counted(module, "decide")
    main(words)
    assert calls == {"read_config": 1, "read_suite_file": 1, "score_run": scored, "decide": decided}


def test_a_baseline_is_read_once(shop, capsys, monkeypatch):
    main(["baseline", "save", "shop.relevance.yaml", "-q"])
    reads = []

    def counted(path, roots):
        reads.append(path.name)
        return read_baselines(path, roots)

    monkeypatch.setattr(harness.extensions.compare.sides, "read_baselines", counted)
    monkeypatch.setattr(harness.store.baseline, "read_baselines", counted)
    assert compare("baseline", "request:candidate", *SUITE_WORDS) == 0
    assert reads == ["shop.baseline.json"]


def test_a_login_that_a_server_repeats_is_masked(shop, capsys, monkeypatch, tmp_path):
    toml = '[clusters.default]\nurl = "http://one:9200"\nusername_env = "USER_NAME"\npassword_env = "PASS"\n'
    (tmp_path / "relevance.toml").write_text(toml)
    monkeypatch.setenv("USER_NAME", "shop-user")
    monkeypatch.setenv("PASS", "s3cr3t-value")
    shop.answers["match_phrase"] = {**CANDIDATE, "r": Failure(FailureKind.ERROR, "s3cr3t-value is refused", 403)}
    status, report = told(capsys, *PAIR)
    assert (status, report.candidate.unanswered) == (3, {"r": "engine error (403): ${PASS} is refused"})
    assert "s3cr3t" not in repr(report)


# ------------------------------------------------------------------------------------------------ what is printed


def test_people_see_the_measures_the_agreement_and_the_queries_side_by_side(shop, capsys):
    assert main(["compare", *PAIR, "--queries", "1"]) == 0
    captured = capsys.readouterr()
    assert "request:candidate against request:current" in captured.out
    assert "RR@3" in captured.out
    assert "-0.3333" in captured.out
    assert captured.out.count("\nquery ") == 1
    assert "shop" in captured.err, "how far the runs are goes to standard error"


def test_files_are_written_beside(shop, capsys):
    words = ("--output", "html=c.html", "--output", "json=c.json")
    assert main(["compare", *PAIR, *words]) == 0
    captured = capsys.readouterr()
    assert "wrote c.html\nwrote c.json\n" in captured.err
    assert loads_comparison(Path("c.json").read_text(encoding="utf-8")).candidate.name == "request:candidate"
    assert "request:candidate" in Path("c.html").read_text(encoding="utf-8")


def test_the_help_lists_every_form_a_line(capsys):
    assert main(["compare", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for kind in WORDS:
        assert any(line.strip().startswith(str(kind)) for line in lines), kind


def test_quiet_prints_what_does_not_hold(shop, capsys):
    assert compare(*PAIR, "--threshold", "drop RR@3 <= 0.1", "--threshold", "mean RBO >= 0") == 1
    captured = capsys.readouterr()
    assert "drop RR@3 <= 0.1" in captured.out
    assert "mean RBO" not in captured.out
    assert captured.err == ""


def test_a_secret_of_the_environment_is_masked(shop, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("RELEVANCE_TOKEN", "s3cr3t-value")
    text = SUITE.replace("index: products", 'index: "${RELEVANCE_TOKEN}"')
    (tmp_path / "shop.relevance.yaml").write_text(text)
    shop.answers["match_phrase"] = {**CANDIDATE, "r": Failure(FailureKind.ERROR, "no index s3cr3t-value", 404)}
    words = ("--threshold", "drop RR@3 <= 0.1", "--output", "json=c.json", "--output", "html=c.html")
    assert compare(*PAIR, *words) == 3
    written = [
        capsys.readouterr().out,
        *((tmp_path / name).read_text(encoding="utf-8") for name in ("c.json", "c.html")),
    ]
    assert all("s3cr3t" not in text for text in written)
    assert all("${RELEVANCE_TOKEN}" in text for text in written[:2])


@pytest.mark.parametrize(
    ("other", "said"), [({}, "the run has no query"), ({"gone": ["a"]}, "no query of the run is judged")]
)
def test_sides_without_a_query_in_common_are_not_compared(shop, capsys, tmp_path, other, said):
    (tmp_path / "judgments.qrels").write_text("q 0 a 3\nr 0 b 1\n")
    write_run("one.run", {"q": ["a"], "r": ["b"]})
    write_run("two.run", other)
    words = ("one.run", "two.run", "--qrels", "judgments.qrels", "--measure", "RR@2")

    assert compare(*words) == 2
    assert f"run:two.run: {said}" in capsys.readouterr().err


# --------------------------------------------------------------------------------------------- how the requests differ

MATCH = '-      "match": {'
PHRASE = '+      "match_phrase": {'


def test_two_requests_are_shown_with_what_differs_between_them(shop, capsys):
    _, report = told(capsys, *PAIR)
    assert report.request_diff.lines == (
        "@@ -1,7 +1,7 @@",
        " {",
        '   "body": {',
        '     "query": {',
        MATCH,
        PHRASE,
        '         "title": "{{text}}"',
        "       }",
        "     }",
    )
    assert report.request_diff.left_out == 0


@pytest.mark.parametrize("output", ["terminal", "markdown", "html"])
def test_every_output_shows_how_the_requests_differ(shop, capsys, output):
    if output == "terminal":
        main(["compare", *PAIR])
        text = capsys.readouterr().out
    else:
        compare(*PAIR, "--output", f"{output}=out")
        text = html.unescape(re.sub("</?span>", "", Path("out").read_text(encoding="utf-8")))
    assert "the requests differ (- request:current, + request:candidate)" in text
    for line in (MATCH, PHRASE):
        assert line in text


@pytest.mark.parametrize(
    "sides",
    [("request:current", "request:current"), ("index:products", "index:other"), ("baseline", "request:current")],
)
def test_the_same_request_has_no_difference(shop, capsys, sides):
    shop.answers["other"] = CURRENT
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    capsys.readouterr()
    _, report = told(capsys, *sides, *SUITE_WORDS)
    assert report.request_diff is None


def test_a_request_that_changed_since_the_baseline_is_shown(shop, capsys):
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    capsys.readouterr()
    Path("shop.relevance.yaml").write_text(
        SUITE.replace('match: {title: "{{text}}"}', 'match_phrase: {title: "{{text}}"}')
    )
    _, report = told(capsys, "baseline", "request:current", *SUITE_WORDS)
    assert {MATCH, PHRASE} <= set(report.request_diff.lines)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ([0.25] * 384, [0.5] * 384, "384 numbers: 0.25, 0.25, 0.25, …"),
        (["a"] * 5000, ["b"] * 5000, "… 5,000 in all"),
        ("a" * 1_000_000, "b" * 1_000_000, "… 1,000,000 characters in all"),
    ],
    ids=["vector", "list", "text"],
)
def test_what_is_very_large_in_a_request_is_shortened(shop, capsys, before, now, said):
    suite = {"suite": "shop", "target": {"index": "products"}}
    suite["requests"] = {
        name: {"query": {kind: {"title": "{{text}}"}}, "ext": {"long": value}}
        for name, kind, value in (("current", "match", before), ("candidate", "match_phrase", now))
    }
    suite["queries"] = [{"id": "q", "text": "one", "judgments": {"a": 1}}]
    Path("shop.relevance.yaml").write_text(json.dumps(suite))
    _, report = told(capsys, *PAIR)
    lines = report.request_diff.lines
    assert sum(map(len, lines)) < 2_000
    assert said in "\n".join(line for line in lines if line.startswith("-"))
    assert len({line[1:] for line in lines if "in all" in line or "numbers" in line}) == 2, "they differ"
