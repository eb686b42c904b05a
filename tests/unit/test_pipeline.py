"""Suites from files to a report, with the real loader, over a search that needs no server."""

from datetime import UTC, date, datetime

import pytest

import harness
import harness.search.dialects
import harness.search.fixtures
from harness.errors import EngineUnreachable, FixtureError, HarnessError, InputError, SuiteError, UsageError
from harness.model.run import Engine, Status
from harness.model.scores import Outcome
from harness.options import RunOptions
from harness.run import Matrix, run_suites
from harness.search.testing import FakeSearch
from harness.suites import load_suite
from harness.suites.discovery import find_suites

DAY = date(2026, 6, 1)


def suite_text(name, *, cluster="default", body="", tag="head", threshold='"mean P@1 >= 0.5"'):
    return f"""\
suite: {name}
target: {{cluster: {cluster}, index: products}}
request:
  query: {{match: {{title: "{{{{text}}}}"}}}}
measures: ["P@1"]
thresholds: [{threshold}]
queries:
  - {{id: q-{name}, text: query of {name}, tags: [{tag}], judgments: {{a: 1}}}}
{body}"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "relevance.toml").write_text(
        '[clusters.default]\nurl = "http://one:9200"\n[clusters.away]\nurl = "http://away:9200"\n'
    )
    return tmp_path


def write(folder, name, **fields):
    path = folder / f"{name}.relevance.yaml"
    path.write_text(suite_text(name, **fields))
    return path


@pytest.fixture
def search(monkeypatch):
    """What every cluster but the one named away answers with."""
    fake = FakeSearch({f"q-{name}": ["a", "b"] for name in ("one", "two", "far")} | {"q-bad": ["b", "a"]})

    def open_search(cluster, environ, *, engine=None, client=None, **_):
        if "away" in (cluster.url or ""):
            raise EngineUnreachable("http://away:9200 does not answer")
        return fake

    monkeypatch.setattr(harness.search.dialects, "open_search", open_search)
    return fake


def run(*paths, environ=None, progress=None, matrix=None, **options):
    asked = RunOptions(today=DAY, **options)
    suites = find_suites(paths).suites
    return run_suites(suites, asked, environ=environ or {}, progress=progress, matrix=matrix)


def test_suites_run_in_their_order_and_make_one_report(folder, search):
    report = run(write(folder, "two"), write(folder, "one"))
    assert [suite.name for suite in report.suites] == ["two", "one"]
    assert [request.query for request in search.requests] == ["q-two", "q-one"]
    assert (report.exit_status, report.harness) == (0, harness.__version__)
    created = datetime.fromisoformat(report.timing.created)
    assert created.tzinfo == UTC
    assert search.closed


def test_a_shortfall_is_exit_status_1(folder, search):
    report = run(write(folder, "one"), write(folder, "bad"))
    assert [suite.verdicts[0].status for suite in report.suites] == [Status.PASSED, Status.FAILED]
    assert report.exit_status == 1


def test_an_engine_that_is_away_fails_its_suites_and_no_others(folder, search):
    report = run(write(folder, "far", cluster="away"), write(folder, "bad"), write(folder, "one"))
    far, bad, one = report.suites
    assert (far.queries[0].outcome, far.verdicts[0].status) == (Outcome.ERROR, Status.ERROR)
    assert far.queries[0].reason == "engine error: http://away:9200 does not answer"
    assert (far.engine, far.cluster) == (Engine("not reached"), "away (http://away:9200)")
    assert (bad.verdicts[0].status, one.verdicts[0].status) == (Status.FAILED, Status.PASSED)
    assert report.exit_status == 3


def test_a_suite_without_thresholds_gates_nothing_and_says_so(folder, search):
    report = run(write(folder, "bad", threshold=""))
    assert report.exit_status == 0
    assert "no thresholds: nothing was gated" in report.suites[0].notes


def test_a_folder_stands_for_its_suites_and_each_runs_once(folder, search):
    one = write(folder, "one")
    (folder / "deep").mkdir()
    write(folder / "deep", "two")
    assert [suite.name for suite in run(folder, one).suites] == ["two", "one"]


def test_a_folder_without_suites_is_an_error(folder, search):
    with pytest.raises(UsageError, match="found no suite in this folder"):
        run(folder)


def test_a_link_to_a_suite_that_is_not_there_is_told_with_the_problems_of_others(folder, search):
    bad = write(folder, "two", threshold='"mean P@1 >= 7"')
    (folder / "gone.relevance.yaml").symlink_to("nowhere.yaml")
    with pytest.raises(SuiteError) as caught:
        run(folder)
    gone, other = caught.value.problems
    assert str(gone) == f"{folder}/gone.relevance.yaml: this is a link to nowhere.yaml, which does not exist"
    assert other.path == str(bad)
    assert search.requests == []


def test_the_problems_of_all_suites_are_told_before_anything_runs(folder, search):
    good = write(folder, "one")
    bad = write(folder, "two", threshold='"mean P@1 >= 7"')
    worse = write(folder, "far", body="surprise: 1\n")
    with pytest.raises(SuiteError) as caught:
        run(good, bad, worse)
    assert {problem.path for problem in caught.value.problems} == {str(bad), str(worse)}
    assert search.requests == []


def test_a_missing_file_is_a_suite_error_that_names_it(folder, search):
    with pytest.raises(InputError, match=r"nowhere\.relevance\.yaml"):
        run(folder / "nowhere.relevance.yaml")


def test_an_unknown_tag_or_request_or_cluster_stops_the_run_before_it_begins(folder, search):
    one, far = write(folder, "one"), write(folder, "far", cluster="defualt")
    for options, sentence in [
        ({"tags": ("haed",)}, "did you mean 'head'"),
        ({"queries": ("q-once",)}, "no query has the id 'q-once'; did you mean 'q-one'"),
        ({"request": "candidate"}, "found no request 'candidate'"),
        ({"tags": ("haed",), "request": "candidate"}, "(?s)no query has the tag.*found no request 'candidate'"),
        ({}, "defualt"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            run(one, far, **options)
    assert search.requests == []


def test_a_tag_of_one_suite_leaves_the_others_unasked(folder, search):
    report = run(write(folder, "one"), write(folder, "far", cluster="away", tag="tail"), tags=("head",))
    one, far = report.suites
    assert (one.deselected, len(one.queries)) == (0, 1)
    assert (far.deselected, far.queries, far.verdicts) == (1, (), ())
    assert far.engine == Engine("not asked")
    assert (report.exit_status, report.undecided) == (
        1,
        "no threshold applies to 'head'; add 'for TAG' to one, or select no tag",
    )


def test_a_query_of_one_suite_leaves_the_others_unasked_and_says_so(folder, search):
    report = run(write(folder, "one"), write(folder, "far", cluster="away"), queries=("q-one",))
    one, far = report.suites
    assert [query.id for query in one.queries] == ["q-one"]
    assert one.notes[0] == "1 threshold is not decided: it is about other queries than q-one"
    assert (far.deselected, far.queries, far.verdicts, far.engine) == (1, (), (), Engine("not asked"))
    assert far.notes[0] == "nothing was sent: the suite has no query q-one"
    assert (report.exit_status, report.undecided) == (1, "no threshold belongs to q-one; add one to a query")


def test_a_query_has_to_have_the_tag_too(folder, search):
    report = run(write(folder, "one"), write(folder, "two", tag="tail"), queries=("q-one", "q-two"), tags=("head",))
    assert [[query.id for query in suite.queries] for suite in report.suites] == [["q-one"], []]
    assert report.suites[1].notes[0] == "nothing was sent: the suite has no query q-one or q-two with the tag head"


def test_a_suite_whose_queries_are_all_skipped_is_not_asked_and_does_not_pass(folder, search):
    path = folder / "one.relevance.yaml"
    path.write_text(suite_text("one").replace("tags: [head]", "skip: {reason: winter}"))
    report = run(path)
    assert search.requests == []
    assert report.suites[0].queries[0].outcome is Outcome.SKIPPED
    assert report.suites[0].verdicts[0].status is Status.FAILED
    assert report.exit_status == 1


def test_variables_are_resolved_and_hidden(folder, search):
    path = write(folder, "one", threshold='"mean P@1 >= ${RELEVANCE_LEAST}"')
    path.write_text(path.read_text().replace("query of one", '"${RELEVANCE_PHRASE}"'))
    report = run(path, environ={"RELEVANCE_LEAST": "0.75", "RELEVANCE_PHRASE": "unreleased product"})
    [suite] = report.suites
    assert search.requests[0].body["query"] == {"match": {"title": "unreleased product"}}
    assert "unreleased" not in repr(report)
    assert suite.queries[0].text == "${RELEVANCE_PHRASE}"
    assert (suite.verdicts[0].required, suite.verdicts[0].id) == (0.75, "mean-P-1-ge-RELEVANCE_LEAST")
    assert "required >= 0.75" in suite.verdicts[0].reason
    with pytest.raises(SuiteError, match="RELEVANCE_LEAST"):
        run(path, environ={"RELEVANCE_PHRASE": "x"})


def test_ids_are_the_same_with_and_without_an_environment(folder):
    from harness.gate.selection import collect_thresholds

    path = write(folder, "one", threshold='"mean P@1 >= ${RELEVANCE_LEAST:-0.5}", "95% P@1 >= 0"')
    collected = load_suite(path, None)
    loaded = load_suite(path, {"RELEVANCE_LEAST": "0.25"})
    ids = [gated.id for gated in collect_thresholds(collected)]
    assert ids == [gated.id for gated in collect_thresholds(loaded)]
    assert ids == ["mean-P-1-ge-RELEVANCE_LEAST-0.5", "95pct-P-1-ge-0"]


def test_a_request_that_cannot_be_filled_is_told_before_anything_is_sent(folder, search):
    paths = [write(folder, "one")]
    for name in ("two", "bad"):
        path = write(folder, name)
        # The text of the query becomes the name of another key.
        path.write_text(
            path.read_text().replace("{match: {title:", f'{{match: {{"query of {name}": a, "{{{{text}}}}":')
        )
        paths.append(path)
    with pytest.raises(SuiteError) as caught:
        run(*paths)
    assert [problem.path for problem in caught.value.problems] == [str(path) for path in sorted(paths[1:])]
    assert search.requests == []


def test_no_mistake_is_anything_but_a_harness_error(folder, search):
    (folder / "relevance.toml").write_text("[clusters")
    with pytest.raises(HarnessError) as caught:
        run(write(folder, "one"))
    assert caught.value.exit_status == 2


def test_one_baseline_file_is_for_one_suite(folder, search):
    with pytest.raises(UsageError, match=r"kept.json is the baseline of one suite, but 2 suites were given"):
        run(write(folder, "one"), write(folder, "two"), baseline=folder / "kept.json")


def test_a_suite_with_a_drop_fails_for_want_of_a_baseline_and_warns_where_it_is_optional(folder, search):
    [required] = run(write(folder, "one", threshold='"drop P@1 <= 0"')).suites
    assert required.verdicts[0].status is Status.FAILED
    assert "relevance baseline save" in required.verdicts[0].reason
    optional = run(write(folder, "one", threshold='"drop P@1 <= 0"', body="baseline: optional"))
    assert (optional.suites[0].verdicts[0].status, optional.exit_status) == (Status.WARNED, 0)


# ------------------------------------------------------------------------------------------------ several cells

TWO_REQUESTS = """\
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {query: {match_phrase: {title: "{{text}}"}}}
"""


def write_two(folder, name, **fields):
    path = write(folder, name, **fields)
    lines = path.read_text().replace('request:\n  query: {match: {title: "{{text}}"}}\n', TWO_REQUESTS)
    path.write_text(lines)
    return path


def cells_of(report):
    return [(suite.name, suite.request, suite.index) for suite in report.suites]


def test_every_suite_runs_with_every_request_on_every_index_over_one_connection(folder, search, monkeypatch):
    opened = []
    open_search = harness.search.dialects.open_search
    monkeypatch.setattr(
        harness.search.dialects, "open_search", lambda *a, **k: opened.append(a) or open_search(*a, **k)
    )
    matrix = Matrix(("current", "candidate"), ("v1", "v2"))
    report = run(write_two(folder, "one"), write_two(folder, "bad"), matrix=matrix)
    four = [("current", "v1"), ("current", "v2"), ("candidate", "v1"), ("candidate", "v2")]
    assert cells_of(report) == [(name, *cell) for name in ("one", "bad") for cell in four]
    assert [suite.verdicts[0].status for suite in report.suites] == [Status.PASSED] * 4 + [Status.FAILED] * 4
    asked = [(request.index, *request.body["query"]) for request in search.requests if request.body["size"] == 11]
    assert asked == 2 * [("v1", "match"), ("v2", "match"), ("v1", "match_phrase"), ("v2", "match_phrase")]
    assert len(opened) == 1


def test_all_requests_run_suites_together_whose_requests_have_other_names(folder, search):
    report = run(write_two(folder, "two"), write(folder, "one"), matrix=Matrix(all_requests=True))
    assert [cell[:2] for cell in cells_of(report)] == [
        ("two", "current"),
        ("two", "candidate"),
        ("one", "request"),
    ]


def test_a_matrix_that_cannot_be_is_refused_before_anything_is_sent(folder, search):
    with pytest.raises(UsageError, match=r"one\.relevance\.yaml: found no request 'candidate', known are request"):
        run(write_two(folder, "two"), write(folder, "one"), matrix=Matrix(("candidate",)))
    (folder / "d.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(UsageError, match="builds its index itself, from its fixture"):
        run(write(folder, "one", body="fixture: {documents: d.jsonl}\n"), index="v2")
    assert search.requests == []


@pytest.mark.parametrize("error", [None, FixtureError("not ours")])
def test_a_fixture_is_built_once_for_all_cells(folder, search, monkeypatch, error):
    built = []

    def ensure_index(search, fixture, base, name, **_):
        built.append(name)
        if error:
            raise error
        return f"{name}-1234"

    monkeypatch.setattr(harness.search.fixtures, "ensure_index", ensure_index)
    (folder / "d.jsonl").write_text('{"id": "a"}\n')
    fixture = "fixture: {documents: d.jsonl}\n"
    report = run(
        write_two(folder, "one", body=fixture),
        write_two(folder, "two", body=fixture),
        matrix=Matrix(("current", "candidate")),
    )
    assert built == ["one", "two"]
    assert [suite.verdicts[0].status for suite in report.suites] == 4 * [Status.ERROR if error else Status.PASSED]
    if not error:
        assert [suite.index for suite in report.suites] == ["one-1234", "one-1234", "two-1234", "two-1234"]


def test_a_file_of_documents_that_cannot_be_used_is_told_before_anything_is_sent(folder, search):
    (folder / "d.jsonl").write_text('{"id": "a"}\n[]\n')
    broken = write_two(folder, "two", body="fixture: {documents: d.jsonl}\n")
    with pytest.raises(SuiteError) as caught:
        run(write_two(folder, "one"), broken, matrix=Matrix(("current", "candidate")))
    [problem] = caught.value.problems
    assert (problem.path, problem.line) == (str(folder / "d.jsonl"), 2)
    assert search.requests == []


def test_documents_that_the_engine_refuses_are_an_error_of_their_suite_alone(folder, search, monkeypatch):
    def ensure_index(*_, **__):
        raise SuiteError.at("d.jsonl", 1, 1, "the engine refuses the document")

    monkeypatch.setattr(harness.search.fixtures, "ensure_index", ensure_index)
    (folder / "d.jsonl").write_text('{"id": "a"}\n')
    report = run(write(folder, "one"), write(folder, "two", body="fixture: {documents: d.jsonl}\n"))
    one, two = report.suites
    assert (one.verdicts[0].status, two.verdicts[0].status) == (Status.PASSED, Status.ERROR)
    assert two.queries[0].reason == "engine error: d.jsonl:1:1: the engine refuses the document"
    assert report.exit_status == 3
