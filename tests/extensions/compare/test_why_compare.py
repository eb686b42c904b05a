"""``relevance compare --why``: what is sent between two requests, and what is said of it."""

import pytest

pytest.importorskip("numpy")

import json
from dataclasses import replace
from pathlib import Path

from builders.engine import ScriptedEngine, item_of
from extensions.compare.builders.comparing import compare, refused, told
from harness.cli import main
from harness.extensions.compare.outputs import dumps_comparison, loads_comparison
from harness.extensions.compare.why.model import Finding
from harness.extensions.compare.why.sentences import describe_moved, describe_why, list_movers, write_why_headline
from harness.report.json import loads_report
from harness.report.run_sentences import list_next_commands
from harness.store.journal import Journal

QUERIES = [f"q{number}" for number in range(12)]
MATCH = 'query: {match: {title: "{{text}}"}}'
JUDGED = "".join(f"  - {{id: {query}, text: {query}, judgments: {{good: 1, bad: 0, worse: 0}}}}\n" for query in QUERIES)
SUITE = f"""\
suite: shop
target: {{index: products}}
measures: [RR]
checks: false
queries:
{JUDGED}requests:
"""
JOURNAL = Path(".shop.relevance.yaml.why.journal")


class Engine(ScriptedEngine):
    """Ranks by the keys of the body: `rank` gives the place of the good document, or says why it refuses."""

    def __init__(self):
        super().__init__()
        self.rank = lambda body, text: 3
        self.rank_on = lambda body, text, index: self.rank(body, text)
        self.bodies = []

    def reply(self, method, path, body):
        if path.partition("?")[0].endswith(("/_search", "/_analyze")):
            return 403, {"error": {"type": "security_exception", "reason": "no right to read"}, "status": 403}
        return super().reply(method, path, body)

    def search(self, body, index):
        self.bodies.append(body)
        place = self.rank_on(body, body["query"]["match"]["title"], index)
        if isinstance(place, str):
            return {"status": 400, "error": {"type": "parsing_exception", "reason": place}}
        ranking = ["bad", "worse"]
        ranking.insert(place - 1, "good")
        return item_of(ranking)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    with Engine() as engine:
        yield engine


def write(old, new):
    Path("shop.relevance.yaml").write_text(f"{SUITE}  old: {{{MATCH}{old}}}\n  new: {{{MATCH}{new}}}\n")


WORDS = ("request:old", "request:new", "--suite", "shop.relevance.yaml")


def explain(capsys, engine, *words):
    status, report = told(capsys, *WORDS, "--url", engine.url, "--why", *words)
    assert status == 0
    return report.why


def findings(why):
    return [difference.finding for difference in why.differences]


THREE = ", min_score: 1, track_scores: true, timeout: 5s"


def test_the_cause_is_named(engine, capsys):
    """One of three differences moves all queries: three arms of two, both ends twice; the report can be read back."""
    write("", THREE)
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    why = explain(capsys, engine)
    assert [difference.name for difference in why.differences] == [
        "min_score + 1",
        "track_scores + true",
        "timeout + 5s",
    ]
    assert findings(why) == [Finding.CAUSE, Finding.NOTHING, Finding.NOTHING]
    assert why.differences[0].places == ("/min_score",)
    assert why.whole.value == pytest.approx(2 / 3)
    assert (why.searches, len(engine.bodies)) == (10 * 12, 10 * 12)
    assert [query.causes for query in why.moved] == [((0,),)] * 12
    assert not JOURNAL.exists()


def test_all_printers_say_it(engine, capsys):
    write("", THREE)
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    files = [f"{kind}=report.{kind}" for kind in ("json", "markdown", "html")]
    outputs = [word for file in files for word in ("--output", file)]
    assert main(["compare", *WORDS, "--url", engine.url, "--why", *outputs]) == 0
    printed = capsys.readouterr()
    assert "1 cause among 3 differences: min_score + 1" in " ".join(printed.out.split())
    assert "12 of 12 queries that moved: by one difference" in printed.out
    assert "120 searches, 10 requests for 12 queries, and at most 0 more for pairs of differences" in printed.err
    for kind in ("markdown", "html"):
        assert "1 cause among 3 differences" in Path(f"report.{kind}").read_text().replace("<span>", "")
    text = Path("report.json").read_text()
    assert dumps_comparison(loads_comparison(text)) == text


def test_a_dry_run_sends_nothing(engine, capsys):
    write("", THREE)
    assert compare(*WORDS, "--url", engine.url, "--why", "--dry-run") == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "3 differences between the requests",
        "  /min_score  min_score + 1",
        "  /track_scores  track_scores + true",
        "  /timeout  timeout + 5s",
        "120 searches, 10 requests for 12 queries, and at most 0 more for pairs of differences",
    ]
    assert compare(*WORDS, "--url", engine.url, "--why", "--dry-run", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (len(plan["differences"]), plan["searches"], plan["pair_searches"]) == (3, 120, 0)
    assert engine.bodies == []


def test_a_pair_moves_queries(engine, capsys):
    """Two differences that act only together: no cause of the mean, but a pair, whose arms are those of the third."""
    write("", THREE)
    engine.rank = lambda body, text: 1 if {"min_score", "timeout"} <= body.keys() else 3
    why = explain(capsys, engine)
    assert findings(why) == [Finding.ONLY_BESIDE, Finding.NOTHING, Finding.ONLY_BESIDE]
    assert [query.causes for query in why.moved] == [((0, 2),)] * 12
    assert (why.pairs, why.pairs_left, why.searches) == (1, 0, 10 * 12)
    assert why.unexplained == pytest.approx((-2 / 3, 2 / 3))


@pytest.mark.parametrize(("searches", "pairs"), [(12 * 14, 1), (12 * 13, 0)])
def test_pairs_have_a_limit(engine, capsys, searches, pairs):
    write("", f"{THREE}, ext: {{}}")
    engine.rank = lambda body, text: 1 if {"min_score", "timeout"} <= body.keys() else 3
    why = explain(capsys, engine, "--searches", str(searches))
    assert (why.pairs, why.pairs_left) == (pairs, 1 - pairs)
    assert why.searches == (14 if pairs else 12) * 12
    assert [query.causes for query in why.moved] == [((0, 2),) if pairs else ()] * 12


def test_only_causes_are_taken_apart(engine, capsys):
    """Joined by their uppermost places, then the cause is parted; the rest stays joined."""
    write(
        ", rescore: {}, knn: {a: 1, b: 1, c: 1}, ext: {a: 1, b: 1}",
        ", rescore: {}, knn: {a: 2, b: 2, c: 2}, ext: {a: 2, b: 2}",
    )
    engine.rank = lambda body, text: 1 if body["knn"]["b"] == 2 else 3
    why = explain(capsys, engine, "--searches", str(12 * 14))
    assert [difference.name for difference in why.differences] == [
        "a: 1 → 2",
        "b: 1 → 2",
        "c: 1 → 2",
        "a: 1 → 2, b: 1 → 2",
    ]
    assert findings(why) == [Finding.NOTHING, Finding.CAUSE, Finding.NOTHING, Finding.NOTHING]
    assert why.searches == len(engine.bodies) <= 12 * 14
    assert why.notes == ("5 differences were joined to 4, as --searches 168 allow",)


def test_an_uncertain_mean_comes_after_what_moved_each_query(engine, capsys):
    """One query moves, by a pair; below 20 queries that says nothing of the mean, and all of the query."""
    write("", THREE)
    engine.rank = lambda body, text: 1 if text == "q3" and "min_score" in body and "timeout" in body else 3
    assert main(["compare", *WORDS, "--url", engine.url, "--why"]) == 0
    printed = capsys.readouterr().out
    assert "what moved each query is below; the mean may have moved by chance, so no cause of it is looked" in printed
    assert "finding" not in printed
    table = printed.split("1 of 1 query that moved: by a pair of differences")[1].split("beside the rest: ")[0]
    assert [line.split() for line in table.splitlines() if "+" in line] == [
        ["q3", "+0.6667", "1", "min_score", "+", "1", "+0.6667", "0.0000"],
        ["with", "3", "timeout", "+", "5s", "+0.6667", "0.0000"],
    ]


def test_what_no_difference_explains_has_those_that_move_it_in_part(engine, capsys):
    """All three are needed: each takes the score back, and none brings it forth, nor do two."""
    write("", THREE)
    engine.rank = lambda body, text: 1 if text == "q3" and {"min_score", "timeout", "track_scores"} <= set(body) else 3
    why = explain(capsys, engine)
    [query] = why.moved
    assert [mover.words for mover in list_movers(why, query)] == [
        "in part 1 min_score + 1",
        "in part 2 track_scores + true",
        "in part 3 timeout + 5s",
    ]
    assert {(mover.reverted, mover.alone) for mover in list_movers(why, query)} == {("+0.6667", "0.0000")}


def test_what_moves_a_query_alone_comes_before_what_moves_it_in_part(engine, capsys):
    """The first costs all that is lost; taken back, the third still costs some. No pair is sent."""
    write("", THREE)

    def rank(body, text):
        if text != "q3":
            return 1
        return 3 if "min_score" in body else 2 if "timeout" in body else 1

    engine.rank = rank
    why = explain(capsys, engine)
    [query] = why.moved
    assert (query.causes, query.alone, why.pairs) == ((), (0,), 0)
    assert [(mover.words, mover.reverted, mover.alone) for mover in list_movers(why, query)] == [
        ("alone 1 min_score + 1", "-0.1667", "-0.6667"),
        ("in part 3 timeout + 5s", "0.0000", "-0.5000"),
    ]
    assert list(describe_moved(why)) == [
        "0 of 1 query that moved: by one difference",
        "1 of 1 query that moved: by one difference alone, and others move it, too",
    ]


def test_where_nothing_moves_nothing_is_said_of_chance(engine, capsys):
    write("", THREE)
    why = explain(capsys, engine)
    assert write_why_headline(why) == "RR 0.0000: the mean did not move"


def test_what_is_refused_is_joined(engine, capsys):
    """The engine takes `min_score` and `timeout` only together."""
    write("", THREE)

    def rank(body, text):
        if ("min_score" in body) != ("timeout" in body):
            return "min_score needs a timeout"
        return 1 if "min_score" in body else 3

    engine.rank = rank
    why = explain(capsys, engine)
    assert findings(why) == [Finding.NOTHING, Finding.CAUSE]
    assert why.differences[1].places == ("/min_score", "/timeout")
    [note] = why.notes
    assert note.startswith("only together: min_score + 1; timeout + 5s")
    assert "min_score needs a timeout" in note


def test_what_is_always_refused_is_said(engine, capsys):
    write("", ", min_score: 1, track_scores: true, timeout: 5s, ext: {}")
    others = {"min_score", "track_scores", "timeout"}

    def rank(body, text):
        if "ext" in body and not others <= body.keys():
            return "ext needs all"
        return 1 if "min_score" in body else 3

    engine.rank = rank
    why = explain(capsys, engine)
    assert findings(why) == [Finding.REFUSED] * 4
    assert [difference.alone is None for difference in why.differences] == [False, False, False, True]
    assert why.differences[3].refusal.endswith("ext needs all")
    assert why.unexplained is None


def test_what_is_rebuilt_is_proven(engine, capsys):
    """An engine for which the short form ranks otherwise: that part is left whole."""
    write("", ", x: 1")
    suite = Path("shop.relevance.yaml")
    suite.write_text(
        suite.read_text()
        .replace(", x: 1}", ", min_score: 1}")
        .replace(f"new: {{{MATCH}", 'new: {query: {match: {title: {query: "{{text}}", boost: 2}}}')
    )

    def rank(body, text):
        if isinstance(text, dict):
            return 2 if "boost" in text else 3
        return 1

    engine.rank = rank
    why = explain(capsys, engine)
    assert why.notes == ("taken apart and put together, it does not rank as before, so it is left whole: /query",)
    assert [difference.places for difference in why.differences] == [("/query",), ("/min_score",)]
    assert findings(why) == [Finding.CAUSE, Finding.NOTHING]


def test_noise_is_a_floor(engine, capsys):
    """An engine that ranks one query otherwise each second time: no moved query, and a floor of the mean."""
    write("", THREE)
    seen = {}

    def rank(body, text):
        if text != "q0":
            return 1 if "min_score" in body else 3
        key = json.dumps(body)
        seen[key] = seen.get(key, 0) + 1
        return seen[key] % 2 + 1

    engine.rank = rank
    why = explain(capsys, engine)
    assert why.floor == pytest.approx(0.5 / 12)
    assert "q0" not in [query.id for query in why.moved]
    assert findings(why)[0] is Finding.CAUSE


def test_equal_requests_have_no_difference(engine, capsys):
    write("", "")
    why = explain(capsys, engine)
    assert (why.differences, why.whole.value, why.moved) == ((), 0, ())


def test_a_killed_run_goes_on(engine, capsys):
    """What was answered is not sent again; the journal is there while it is needed."""
    write("", THREE)
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    explain(capsys, engine)
    whole = len(engine.bodies)
    engine.bodies.clear()
    record = Journal.finish

    def keep(journal, *, is_complete):
        record(journal, is_complete=False)

    Journal.finish = keep
    try:
        first = explain(capsys, engine)
    finally:
        Journal.finish = record
    assert JOURNAL.exists()
    lines = JOURNAL.read_bytes().splitlines(keepends=True)
    JOURNAL.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:20])
    engine.bodies.clear()
    assert explain(capsys, engine).causes == first.causes
    assert 0 < len(engine.bodies) < whole * 0.6
    assert not JOURNAL.exists()


REFUSED = {
    "no suite": (("request:old", "request:new"), "--why compares two requests of a suite; give --suite"),
    "a run file": (("run:a.run", *WORDS[1:]), "expected two requests with --why"),
    "three": (("request:old", *WORDS), "expected two requests with --why"),
    "an unknown request": (("request:odl", *WORDS[1:]), "found no request 'odl'"),
    "few searches": ((*WORDS, "--searches", "100"), "found 100 searches, expected at least 120 for 12 queries"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(engine, capsys, name):
    write("", THREE)
    Path("a.run").write_text("q0 Q0 good 0 1 t\n")
    words, sentence = REFUSED[name]
    assert sentence in refused(capsys, *words, "--url", engine.url, "--why")
    assert engine.bodies == []


def test_dry_run_alone_is_refused(engine, capsys):
    write("", THREE)
    assert "--dry-run goes with --why" in refused(capsys, *WORDS, "--url", engine.url, "--dry-run")


def write_indexes(old, new):
    """Two requests on two indexes."""
    requests = f"  old: {{index: before, body: {{{MATCH}{old}}}}}\n  new: {{index: after, body: {{{MATCH}{new}}}}}\n"
    Path("shop.relevance.yaml").write_text(SUITE + requests)


def test_index_against_request(engine, capsys):
    """Four runs: what the request does, what the index does, and what both do together."""
    write_indexes("", THREE)
    engine.rank_on = lambda body, text, index: 3 - ("min_score" in body) - (index == "after")
    why = explain(capsys, engine)
    assert [difference.name for difference in why.differences][-1] == "index: before → after"
    assert [part.name for part in why.parts] == ["the request", "the index"]
    assert [part.finding for part in why.parts] == [Finding.CAUSE, Finding.CAUSE]
    for part in why.parts:
        assert part.alone.mean.value == pytest.approx(1 / 2 - 1 / 3)
        assert part.reverted.mean.value == pytest.approx(1 - 1 / 2)
    assert why.together.value == pytest.approx(1 - 1 / 2 - 1 / 2 + 1 / 3)
    assert why.searches == len(engine.bodies)
    said = " ".join(describe_why(why))
    assert "the index as a whole: +0.1667" in said
    assert "the request and the index together, beyond each alone: +0.3333" in said
    # A login that may only search is told what it may not.
    refusals = why.indexes[-3:]
    assert [refusal.partition(" not compared: ")[0] for refusal in refusals] == [
        *("documents are", "tokens are", "statistics are"),
    ]
    assert all("no right to read" in refusal for refusal in refusals)


def test_one_part_has_no_four_runs(engine, capsys):
    write_indexes("", "")
    engine.rank_on = lambda body, text, index: 3 - (index == "after")
    why = explain(capsys, engine)
    assert (len(why.differences), why.parts, why.together) == (1, (), None)


def test_two_servers_are_refused(engine, capsys):
    write("", THREE)
    suite = Path("shop.relevance.yaml")
    text = suite.read_text().replace(
        f"new: {{{MATCH}{THREE}}}", f"new: {{target: {{cluster: other}}, body: {{{MATCH}}}}}"
    )
    suite.write_text(text)
    said = refused(capsys, *WORDS, "--url", engine.url, "--why")
    assert "search different targets" in said
    assert "request:old request:new cluster:OLD cluster:NEW" in said


# Two indexes or two clusters as sides.


def list_parts(why):
    return [(part.name, part.alone.mean.value, part.reverted.mean.value) for part in why.parts]


PARTS = [
    ("the request", pytest.approx(1 / 2 - 1 / 3), pytest.approx(1 - 1 / 2)),
    ("the index", pytest.approx(1 / 2 - 1 / 3), pytest.approx(1 - 1 / 2)),
]


def test_two_requests_on_two_indexes(engine, capsys):
    """Four runs; the first request is sent to the first index, the second to the second."""
    write("", THREE)
    engine.rank_on = lambda body, text, index: 3 - ("min_score" in body) - (index == "after")
    sides = ("request:old", "request:new", "index:before", "index:after", "--suite", "shop.relevance.yaml")
    status, report = told(capsys, *sides, "--url", engine.url, "--why")
    why = report.why
    assert (status, list_parts(why)) == (0, PARTS)
    assert why.together.value == pytest.approx(1 / 3)
    assert why.whole.value == pytest.approx(2 / 3)
    assert (report.reference.name, report.reference.index) == ("request:old index:before", "before")
    assert (report.candidate.name, report.candidate.index) == ("request:new index:after", "after")
    assert why.searches == len(engine.bodies)


def test_one_request_on_two_indexes(engine, capsys):
    """The index is the only difference; --request names the request, which is the first by default."""
    write("", THREE)
    engine.rank_on = lambda body, text, index: 3 - ("min_score" in body) - (index == "after")
    sides = ("index:before", "index:after", "--suite", "shop.relevance.yaml", "--url", engine.url, "--why")
    for more, value in (((), 1 / 2 - 1 / 3), (("--request", "new"), 1 - 1 / 2)):
        status, report = told(capsys, *sides, *more)
        [difference] = report.why.differences
        assert (status, difference.name, difference.finding) == (0, "index: before → after", Finding.CAUSE)
        assert report.why.whole.value == pytest.approx(value)
        assert report.why.indexes


def test_two_requests_on_two_clusters(engine, capsys):
    """Each arm is sent to the server that it names."""
    write("", THREE)
    engine.rank_on = lambda body, text, index: 3 - ("min_score" in body)
    with Engine() as other:
        other.rank_on = lambda body, text, index: 2 - ("min_score" in body)
        sides = ("request:old", "request:new", f"cluster:{engine.url}", f"cluster:{other.url}")
        status, report = told(capsys, *sides, "--suite", "shop.relevance.yaml", "--why")
        why = report.why
        assert (status, list_parts(why)) == (0, PARTS)
        assert why.differences[-1].name == f"server: cluster:{engine.url} → cluster:{other.url}"
        assert why.searches == len(engine.bodies) + len(other.bodies)
        # Both ends twice, the index alone and reverted, three differences of the request on each, and a pair.
        assert (len(engine.bodies), len(other.bodies)) == (12 * 7, 12 * 7)
        status, report = told(capsys, *sides[2:], "--suite", "shop.relevance.yaml", "--why")
        assert (status, [len(report.why.differences), report.why.parts]) == (0, [1, ()])


def test_the_old_request_on_an_old_index(engine, capsys):
    """With --old-suite the old request is that of the other suite, on the first index."""
    write("", THREE)
    old = Path("old.relevance.yaml")
    old.write_text(f"{SUITE}  new: {{{MATCH}}}\n")
    engine.rank_on = lambda body, text, index: 3 - ("min_score" in body) - (index == "after")
    sides = ("index:before", "index:after", "--request", "new", "--suite", "shop.relevance.yaml")
    status, report = told(capsys, *sides, "--old-suite", str(old), "--url", engine.url, "--why")
    assert (status, list_parts(report.why)) == (0, PARTS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("index:a", "cluster:b"), "expected two requests with --why"),
        (("baseline", "request:new", "index:a", "index:b"), "expected two requests with --why"),
        (
            ("request:old", "request:new", "cluster:http://a", "cluster:http://b"),
            "name servers, and so does an option; expected one of them",
        ),
        (("index:a", "index:b", "--request", "odd"), "found no request 'odd'"),
    ],
)
def test_wrong_places_are_refused(engine, capsys, words, sentence):
    write("", THREE)
    assert sentence in refused(capsys, *words, "--suite", "shop.relevance.yaml", "--url", engine.url, "--why")
    assert engine.bodies == []


def test_an_index_beside_a_fixture_is_refused(engine, capsys):
    write("", THREE)
    suite = Path("shop.relevance.yaml")
    suite.write_text(suite.read_text().replace("measures:", "fixture: {documents: d.jsonl}\nmeasures:"))
    Path("d.jsonl").write_text('{"id": "good"}\n{"id": "bad"}\n{"id": "worse"}\n')
    words = ("index:a", "index:b", "--suite", str(suite), "--url", engine.url)
    assert "has a fixture, which is the index that it searches" in refused(capsys, *words, "--why")


# Another suite.


def test_the_old_request_of_another_suite(engine, capsys):
    """The suite of another branch has the first request; queries and judgments are those of `--suite`."""
    write("", "")
    old = Path("old.relevance.yaml")
    old.write_text(Path("shop.relevance.yaml").read_text())
    write("", THREE)
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    words = ("request:new", "request:new", *WORDS[2:], "--url", engine.url, "--old-suite", str(old))
    status, report = told(capsys, *words, "--why")
    assert (status, report.reference.name) == (0, "request:new of old.relevance.yaml")
    assert findings(report.why) == [Finding.CAUSE, Finding.NOTHING, Finding.NOTHING]
    assert report.why.searches == len(engine.bodies) == 10 * 12


def test_the_first_requests_of_two_suites(engine, capsys):
    """Without sides the first request of each is compared."""
    write(THREE, "")
    old = Path("old.relevance.yaml")
    old.write_text(Path("shop.relevance.yaml").read_text())
    write("", "")
    status, report = told(capsys, *WORDS[2:], "--url", engine.url, "--old-suite", str(old), "--why")
    assert (status, report.candidate.name) == (0, "request:old")
    assert len(report.why.differences) == 3


def test_a_named_request_of_two_suites(engine, capsys):
    write("", "")
    old = Path("old.relevance.yaml")
    old.write_text(Path("shop.relevance.yaml").read_text())
    write("", THREE)
    words = ("--old-suite", str(old), "--request", "new", "--why")
    status, report = told(capsys, *WORDS[2:], "--url", engine.url, *words)
    assert (status, report.candidate.name) == (0, "request:new")
    assert len(report.why.differences) == 3


def test_an_old_suite_goes_with_why(engine, capsys):
    write("", THREE)
    words = (*WORDS, "--url", engine.url, "--old-suite", "shop.relevance.yaml")
    said = refused(capsys, *words)
    assert "--old-suite goes with --why" in said
    assert "`relevance compare old.json new.json` compares two reports" in said


def test_a_query_without_an_answer(engine, capsys):
    write("", THREE)
    engine.rank = lambda body, text: "no" if text == "q3" and "min_score" in body else 2
    status, report = told(capsys, *WORDS, "--url", engine.url, "--why")
    assert (status, report.why) == (3, None)
    assert "no cause is looked for: request:new has queries without an answer" in report.notes


def test_secrets_are_masked(engine, capsys, monkeypatch):
    monkeypatch.setenv("RELEVANCE_MARK", "tellnobody")
    write("", ', min_score: 1, ext: {mark: "${RELEVANCE_MARK}"}')
    _, report = told(capsys, *WORDS, "--url", engine.url, "--why")
    assert [difference.name for difference in report.why.differences][1] == 'ext + {mark: "${RELEVANCE_MARK}"}'
    assert "tellnobody" not in dumps_comparison(report)
    assert any(body.get("ext") == {"mark": "tellnobody"} for body in engine.bodies)


# A baseline.

ONE = """\
suite: shop
target: {{index: products}}
measures: [RR]
checks: false
thresholds: ["drop RR <= 0.1"]
queries:
{queries}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}{more}}}
"""
BASELINE = ("baseline", "request:request", "--suite", "shop.relevance.yaml")


def write_one(more):
    Path("shop.relevance.yaml").write_text(ONE.format(queries=JUDGED, more=more))


def save(engine, more):
    write_one(more)
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url]) == 0
    engine.bodies.clear()


def test_a_baseline_has_its_request(engine, capsys):
    """The request that the baseline keeps is sent today; what it scores beside the baseline is no cause."""
    save(engine, THREE)
    write_one("")
    engine.rank = lambda body, text: 2 if "min_score" in body else 3
    capsys.readouterr()
    status, report = told(capsys, *BASELINE, "--url", engine.url, "--why")
    why = report.why
    assert status == 0
    names = [difference.name for difference in why.differences]
    assert names == ["min_score − 1", "timeout − 5s", "track_scores − true"]
    assert findings(why) == [Finding.CAUSE, Finding.NOTHING, Finding.NOTHING]
    assert (why.whole.value, why.elsewhere.value) == (pytest.approx(1 / 3 - 1 / 2), pytest.approx(1 / 2 - 1 / 3))
    assert why.searches == len(engine.bodies) == 10 * 12
    said = list(describe_why(why))
    assert any("consistent with a change of the index" in sentence for sentence in said)


def test_a_baseline_of_the_same_index(engine, capsys):
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    save(engine, THREE)
    write_one("")
    capsys.readouterr()
    _, report = told(capsys, *BASELINE, "--url", engine.url, "--why")
    assert report.why.elsewhere.value == 0
    assert any("nothing but the request moved the mean" in sentence for sentence in describe_why(report.why))


def test_a_red_run_says_what_is_next(engine, capsys):
    """A run that fails against its baseline names the command, which can be run as it is."""
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    save(engine, THREE)
    write_one("")
    capsys.readouterr()
    report = ["--output", "markdown=report.md", "--output", "junit=report.xml"]
    assert main(["run", "shop.relevance.yaml", "--url", engine.url, *report]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    words = f"compare baseline request:request --request request --suite shop.relevance.yaml --why --url {engine.url}"
    assert f"next: `relevance {words}` finds which difference of the request moved the results" in printed
    assert main(words.split()) == 0
    assert "1 cause among 3 differences: min_score − 1" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("path", "is_known"), [("a b/shop.relevance.yaml", True), ("../shop.relevance.yaml", False)])
def test_a_changed_fixture_is_compared_with_that_of_the_base_branch(engine, path, is_known):
    """
    A baseline keeps a request and no index: where the fixture changed, the next step takes both suites apart.

    Where the suite is in the worktree of the base branch is known only below the working directory.
    """
    engine.rank = lambda body, text: 1 if "min_score" in body else 3
    save(engine, THREE)
    write_one("")
    assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--output", "json=report.json"]) == 1
    [suite] = loads_report(Path("report.json").read_text()).suites
    assert suite.baseline.fixture_changed is False
    commands = list_next_commands(replace(suite, path=path, baseline=replace(suite.baseline, fixture_changed=True)))
    explaining = [command for command in commands if "--why" in command]
    if not is_known:
        assert [command[1:4] for command in explaining] == [("compare", "baseline", "request:request")]
        return
    assert commands[0] == ("git", "worktree", "add", "../main", "main")
    words = ("compare", "--suite", path, "--old-suite", f"../main/{path}", "--why", "--url", engine.url)
    assert explaining == [("relevance", *words)]


@pytest.mark.parametrize("more", [THREE, ""])
def test_no_next_step_without_a_change(engine, capsys, more):
    """The request is the same, or no threshold fails."""
    save(engine, THREE)
    write_one(more)
    engine.rank = lambda body, text: 3 if not more else 1
    capsys.readouterr()
    main(["run", "shop.relevance.yaml", "--url", engine.url])
    assert "--why" not in capsys.readouterr().out


def test_a_baseline_with_variables_is_refused(engine, capsys, monkeypatch):
    monkeypatch.setenv("RELEVANCE_MARK", "tellnobody")
    save(engine, ', ext: {mark: "${RELEVANCE_MARK}"}')
    write_one("")
    capsys.readouterr()
    assert "without the values of its variables" in refused(capsys, *BASELINE, "--url", engine.url, "--why")
    assert engine.bodies == []
