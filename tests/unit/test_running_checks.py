"""What a run checks of its target: that it holds documents, and that judged and expected ones are visible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from builders.executions import answered_by, cell_of, finish, run_suite, search_suite, with_hooks
from builders.suites import BODY, make_suite
from harness.errors import EngineUnreachable, LoginRefused, SearchError
from harness.gate.decide import decide
from harness.gate.expectations import parse_expectation
from harness.gate.selection import ALL, select
from harness.masking import Masker
from harness.model.request import SearchRequest
from harness.model.run import (
    CheckedField,
    Failure,
    FailureKind,
    Hit,
    IndexState,
    NamedField,
    Ranking,
    Response,
    Run,
    Status,
    TargetChecks,
    Verdict,
)
from harness.model.suite import Display, HttpRequest, Query, RequestTemplate, Suite, Target, Threshold
from harness.options import RunOptions
from harness.run.checks import Targets
from harness.run.plan import plan_searches
from harness.search import lookup
from harness.search.protocol import ResponseStream, StreamedResponse
from harness.search.testing import FakeSearch
from harness.store.header import make_header
from harness.store.journal import Journal, read_content
from harness.store.journal_lines import parse_journal


def expecting(*texts: str, **judgments: float) -> Query:
    expectations = tuple(Threshold(text, parse_expectation(text)) for text in texts)
    return Query("q", "red shoes", judgments=judgments, thresholds=expectations)


class Index(FakeSearch):
    """Holds *documents*, and finds *ranking*; `answers` are given to look-ups, in their order, before it looks."""

    def __init__(self, documents: str, ranking: str = "", **answers: Response) -> None:
        super().__init__({"q": ranking.split(), "others": documents.split()})
        self.answers = list(answers.values())

    def _respond(self, request: SearchRequest) -> Response:
        if not request.query and self.answers:
            return self.answers.pop(0)
        return super()._respond(request)


def run_on(
    search: FakeSearch,
    *queries: Query,
    targets: Targets | None = None,
    state: IndexState | None = None,
    **more: Any,
) -> Run:
    return search_suite(make_suite(*queries, **more), search, targets=targets or Targets(), state=state)


def why(run: Run) -> str:
    [response] = run.responses.values()
    assert isinstance(response, Failure)
    assert response.kind is FailureKind.TARGET
    return response.reason


def test_what_is_visible_is_known_and_nothing_is_said() -> None:
    search = Index("a b c", "a")
    run = run_on(search, expecting("c not in top 3", a=3, b=1, d=0))
    assert isinstance(run.responses["q"], Ranking)
    assert run.checks == TargetChecks("products", documents=3, examples=("a", "b", "c"), relevant=2)
    assert [(one.body["query"], one.body["size"]) for one in search.look_ups] == [
        ({"match_all": {}}, 3),
        ({"ids": {"values": ["a", "b"]}}, 0),
        ({"ids": {"values": ["c"]}}, 1),
    ]


def test_a_target_that_holds_nothing_answers_nothing() -> None:
    assert why(run_on(Index(""), expecting(a=1))) == (
        "products holds no document; index documents, or correct the target (an alias may filter documents, and a "
        "login may not see them)"
    )
    assert "holds no document" in why(run_on(Index(""), expecting("a in top 3")))


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (
            "SKU-1 x",
            "the only document judged relevant is not visible through products: 'sku-1' is not, 'SKU-1' is, which",
        ),
        ("x y", "products, such as 'sku-1'; it holds 2 documents, such as 'x', 'y'; correct the target or the ids (an"),
    ],
)
def test_a_target_without_any_relevant_document_answers_nothing(there: str, said: str) -> None:
    assert said in why(run_on(Index(there, "x"), expecting(**{"sku-1": 3, "x": 0})))


def test_what_came_back_is_not_overruled() -> None:
    """A document that was indexed meanwhile, or that look-ups do not find for another reason."""
    run = run_on(Index("", "a b"), expecting("b in top 3", a=1))
    assert isinstance(run.responses["q"], Ranking)
    assert run.checks is not None
    assert run.checks.absent == {}


def test_what_is_absent_in_part_is_known_with_what_expectations_were_likely_to_mean() -> None:
    run = run_on(Index("a SKU-2", "a"), expecting("sku-2 not in top 3", a=1, b=2))
    assert run.checks is not None
    assert run.checks.absent == {"b": None, "sku-2": "SKU-2"}


BROKEN = Failure(FailureKind.ERROR, "too many terms", 400)


@pytest.mark.parametrize("answers", [{"sample": BROKEN}, {"sample": BROKEN, "ids": BROKEN}])
def test_a_check_that_fails_is_a_remark(answers: dict[str, Response]) -> None:
    run = run_on(Index("", "x", **answers), expecting("nope in top 3", x=0))
    assert isinstance(run.responses["q"], Ranking)
    assert run.checks is not None
    assert run.checks.problems[0] == "its documents were not counted: engine error (400): too many terms"
    if len(answers) == 2:
        assert run.checks.absent == {}, "what was not looked up may be there"
        assert run.checks.unread == ("nope",)


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        ("nope not in top 3", Status.INCONCLUSIVE),
        ("x before nope", Status.INCONCLUSIVE),
        ("x in top 3", Status.PASSED),
        ("y not in top 3", Status.FAILED),
    ],
)
def test_an_expectation_does_not_pass_by_a_document_that_could_not_be_looked_up(expected: str, status: Status) -> None:
    query = expecting(expected, x=2)
    run = run_on(Index("x y", "x y", sample=Ranking(total=2), count=BROKEN, ids=BROKEN), query)
    [verdict] = decide(make_suite(query), run, [], today=date(2026, 1, 1))
    assert verdict.status is status
    if status is Status.INCONCLUSIVE:
        assert verdict.reason == "cannot be decided: whether nope is visible is unknown, as it could not be looked up"


def test_a_look_up_that_was_cut_says_nothing_of_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that several indexes have takes the place of another."""
    cut = Ranking(hits=(), total=3, duplicates=("a",))
    run = run_on(Index("", "x", sample=Ranking(total=5), count=Ranking(total=3), ids=cut), expecting(a=1, b=1))
    assert isinstance(run.responses["q"], Ranking)
    monkeypatch.setattr(lookup, "IDS_IN_BULK", 2)
    search = Index("a b c d e", "a")
    run = run_on(search, expecting(a=1, b=1, c=1, d=1, e=1))
    assert [one.body["size"] for one in search.look_ups] == [3, 0, 0, 0]
    assert run.checks == TargetChecks("products", documents=5, examples=("a", "b", "c"), relevant=5)


def test_nothing_is_asked_of_a_target_twice() -> None:
    search, targets = Index("a b c", "a"), Targets()
    run_on(search, expecting(a=1), targets=targets)
    run = run_on(search, expecting(a=1, b=1, z=1), targets=targets)
    assert [(one.body["query"].get("ids"), one.body["size"]) for one in search.look_ups] == [
        (None, 3),
        ({"values": ["a"]}, 0),
        ({"values": ["b", "z"]}, 0),
        ({"values": ["b", "z"]}, 1000),  # one of them is there
    ]
    assert run.checks is not None
    assert (run.checks.documents, list(run.checks.absent)) == (3, ["z"])
    run_on(search, expecting(a=1), targets=targets, target=Target(index="others"))
    assert {one.index for one in search.look_ups[4:]} == {"others"}


def test_a_point_in_time_is_looked_into() -> None:
    pit = {"id": "abc"}
    search = Index("a", "a")
    run = run_on(search, expecting(a=1), body={**BODY, "pit": pit})
    assert [(one.index, one.body["pit"]) for one in search.look_ups] == [(None, pit), (None, pit)]
    assert run.checks is not None
    assert run.checks.target is None


def test_services_are_not_checked() -> None:
    search = Index("", "x")
    template = RequestTemplate("request", None, http=HttpRequest("GET", "/search", "$.ids"))
    assert run_on(search, expecting(a=1), requests={"request": template}, target=Target(service="http")).checks is None
    assert search.look_ups == []


def test_of_a_search_template_the_documents_are_checked_and_no_fields() -> None:
    search = Index("b", "b")
    search.fields = []
    template = RequestTemplate("request", {"template": {"id": "products", "params": {"match": {"titel": "x"}}}})
    run = run_on(search, expecting("z not in top 3", b=1), requests={"request": template})
    assert run.checks is not None
    assert (list(run.checks.absent), run.checks.unknown_fields) == (["z"], ())


@pytest.mark.parametrize(
    "target",
    [
        Target(index="products", id_field="sku"),
        Target(index="products", unique_ids=True),
        Target(index="products-*"),
        Target(index="products,others"),
    ],
)
def test_documents_that_may_share_an_id_are_not_counted(target: Target) -> None:
    """Two documents with the id `a` are as many as `a` and `b` would be."""
    search = Index("a c", "a", sample=Ranking(total=3), ids=Ranking((Hit("a"),), total=2, duplicates=("a",)))
    run = run_on(search, expecting(a=1, b=1), target=target)
    assert run.checks is not None
    assert (run.checks.absent, run.checks.problems) == ({"b": None}, ())
    assert search.look_ups[1].body["size"] == 2


@pytest.mark.parametrize(
    ("types", "refused", "absent"),
    [
        ({"integer"}, ["zeta", "99999999999"], ["9", "99999999999", "zeta"]),
        ({"long"}, ["zeta"], ["9", "99999999999", "zeta"]),
        ({"keyword"}, ["zeta"], []),  # the engine has another reason to refuse
        ({"keyword", "long"}, ["zeta"], []),
        ({"integer"}, ["1"], ["99999999999", "zeta"]),  # whether 9 is there is open
    ],
)
def test_ids_that_a_field_of_numbers_cannot_hold_are_absent(
    types: set[str], refused: list[str], absent: list[str]
) -> None:
    class Numbers(Index):
        def _respond(self, request: SearchRequest) -> Response:
            named = request.body["query"].get("terms", {}).get("n", ())
            if set(refused) & set(named):
                return Failure(FailureKind.ERROR, "For input string", 400)
            return super()._respond(request)

        def field_types(self, *_: Any) -> Any:
            return {"n": frozenset(types)}

    search = Numbers("1 2", "1")
    wanted = expecting("zeta not in top 3", "99999999999 not in top 3", **{"1": 1, "9": 1})
    run = run_on(search, wanted, target=Target(index="products", id_field="n"))
    assert run.checks is not None
    assert list(run.checks.absent) == absent
    assert bool(run.checks.problems) == ("9" not in absent)


def test_the_type_of_an_id_field_is_asked_for_only_where_ids_are_refused() -> None:
    class Counting(Index):
        asked = 0

        def field_types(self, *given: Any) -> Any:
            self.asked += given[1] == ["sku"]
            return super().field_types(*given)

    search = Counting("a b", "a")
    run_on(search, expecting(a=1), target=Target(index="products", id_field="sku"))
    assert search.asked == 0
    search = Counting("a b", "a", sample=Ranking(total=2), ids=BROKEN)
    run_on(search, expecting(a=1, b=1), target=Target(index="products", id_field="sku"))
    assert search.asked == 1


def test_what_is_known_of_a_target_counts_only_in_the_same_state() -> None:
    """A later suite passed on an index that was emptied meanwhile."""
    search, targets = Index("a b", "a"), Targets()
    run_on(search, expecting(a=1), targets=targets, state=IndexState({"i": "1"}, 2))
    asked = len(search.look_ups)
    run_on(search, expecting(a=1), targets=targets, state=IndexState({"i": "1"}, 2, copies={}))
    assert len(search.look_ups) == asked
    run_on(search, expecting(a=1), targets=targets, state=None)
    assert len(search.look_ups) == asked
    run_on(search, expecting(a=1), targets=targets, state=IndexState({"i": "1"}, 0))
    assert len(search.look_ups) == 2 * asked


def test_an_id_field_that_the_request_defines_is_looked_up_with_its_definition() -> None:
    runtime = {"sku": {"type": "keyword", "script": "emit('r1')"}}
    search = Index("a", "a")
    run_on(search, expecting(a=1), body={**BODY, "runtime_mappings": runtime}, target=Target(id_field="sku"))
    assert [one.body["runtime_mappings"] for one in search.look_ups] == [runtime] * 2


def test_a_query_that_failed_says_more_than_a_check() -> None:
    search = FakeSearch({"q": BROKEN})
    assert run_on(search, expecting(a=1)).responses == {"q": BROKEN}


@pytest.mark.parametrize(
    ("judged", "note"),
    [
        ("ab", "1 of 2 documents judged relevant is not visible through products: b"),
        ("abc", "2 of 3 documents judged relevant are not visible through products: b, c"),
    ],
)
def test_the_notes_name_judged_documents_that_are_not_visible(judged: str, note: str) -> None:
    report = run_suite(make_suite(expecting(**dict.fromkeys(judged, 1))), Index("a", "a"), RunOptions())
    assert note in report.notes


def test_the_report_has_them() -> None:
    from harness.options import RunOptions
    from harness.report.json import dumps_report, loads_report
    from harness.run import make_report

    report = run_suite(make_suite(expecting(a=1, b=1)), Index("a", "a"), RunOptions())
    assert report.checks == TargetChecks("products", documents=1, examples=("a",), relevant=2, absent={"b": None})
    assert loads_report(dumps_report(make_report([report]))).suites[0].checks == report.checks
    assert run_suite(make_suite(expecting(a=1)), Index("a", "a"), RunOptions(no_checks=True)).checks is None


# ------------------------------------------------------------------------------------------------ fields


def test_a_field_that_no_index_has_is_known_with_the_one_that_was_meant() -> None:
    search = Index("a", "a")
    search.fields = ("title", "brand", "_source")
    body = {"query": {"multi_match": {"query": "{{text}}", "fields": ["titel^3", "brand", "xyz"]}}}
    run = run_on(search, expecting(a=1), body=body)
    assert run.checks is not None
    assert run.checks.unknown_fields == (
        NamedField("titel", "query.multi_match.fields[0]", "title"),
        NamedField("xyz", "query.multi_match.fields[2]"),
    )
    assert isinstance(run.responses["q"], Ranking), "no verdict depends on it"


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ({"query": {"match": {"title_{{text}}": "x"}}}, Query("q", "de")),
        ({"query": {"match": {"title": "{{text}}"}}, "sort": "{{by}}"}, Query("q", "x", params={"by": "title_de"})),
        ({"query": {"bool": {"must": "{{all}}"}}}, Query("q", "", params={"all": [{"match": {"title_de": "x"}}]})),
        ({"query": {"bool": {"must": "{{all}}"}}}, Query("q", "", params={"all": {"match": {"title_de": "x"}}})),
        ({"query": {"multi_match": {"fields": "{{all}}"}}}, Query("q", "", params={"all": ["title_de^2"]})),
        ({"query": {"{{kind}}": {"title_de": "x"}}}, Query("q", "", params={"kind": "match"})),
    ],
)
def test_a_field_that_only_the_last_query_names_is_found(body: Any, last: Query) -> None:
    search = FakeSearch({"p": ["a"], "q": ["a"]})
    search.fields = ("title", "title_en")
    first = Query("p", "en", params={"by": "title_en", "all": [], "kind": "match_all"}, judgments={"a": 1})
    checks = run_on(search, first, last, body=body).checks
    assert checks is not None
    assert [one.name for one in checks.unknown_fields] == ["title_de"]


def test_a_field_is_known_too_where_the_engine_refuses_the_query_for_it() -> None:
    search = FakeSearch({"q": Failure(FailureKind.ERROR, "No mapping found for [prise]", 400)})
    search.fields = ("price",)
    run = run_on(search, expecting(a=1), body={**BODY, "sort": ["prise"]})
    assert run.checks is not None
    assert NamedField("prise", "sort[0]", "price") in run.checks.unknown_fields


class Refusing(Index):
    def field_types(self, index: str, names: Any, url_params: Any) -> Any:
        self.look_ups.append(SearchRequest("", index, list(names)))
        raise SearchError("status 403: no permission")


def test_fields_that_cannot_be_looked_up_are_a_remark_and_asked_for_once() -> None:
    search, targets = Refusing("a", "a"), Targets()
    for _ in range(2):
        run = run_on(search, expecting(a=1), targets=targets)
        assert run.checks is not None
        assert run.checks.problems == (
            "the fields that the request names were not looked up: status 403: no permission",
        )
    assert len([one for one in search.look_ups if isinstance(one.body, list)]) == 1


@pytest.mark.parametrize(
    ("title", "known", "untitled"),
    [
        (None, ("title", "name"), NamedField("titel", "display.title", "title")),
        (None, ("titel",), NamedField("titel", "display.title")),
        ("Red shoe", ("title",), None),
    ],
)
def test_a_title_that_no_hit_has_is_known(
    title: str | None, known: tuple[str, ...], untitled: NamedField | None
) -> None:
    search = FakeSearch({"q": [Hit("a", 1.0, title)]})
    search.fields = known
    run = run_on(search, expecting(a=1), display=Display(title="titel"))
    assert run.checks is not None
    assert run.checks.untitled == untitled
    without_hits = run_on(FakeSearch({"q": [], "r": ["a"]}), expecting(a=1), display=Display(title="titel"))
    assert without_hits.checks is not None
    assert without_hits.checks.untitled is None


FORBIDDEN = Failure(FailureKind.ERROR, "forbidden", 403)


class Gateway(FakeSearch):
    """Refuses the whole of what holds a search that is none of a query's."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__({"q": ["a"]})
        self.refusal = error

    def stream(self, requests: Any, **more: Any) -> ResponseStream:
        if all(request.query for request in requests):
            yield from super().stream(requests, **more)
            return
        if self.refusal is not None:
            raise self.refusal
        for place, request in enumerate(requests):
            yield StreamedResponse(place, request, FORBIDDEN)


@pytest.mark.parametrize("error", [None, LoginRefused("the engine refuses the login")])
def test_queries_are_sent_without_the_checks_where_these_are_refused(error: Exception | None) -> None:
    run = run_on(Gateway(error), expecting("nope not in top 3", a=1))

    assert isinstance(run.responses["q"], Ranking)
    assert run.checks is not None
    assert run.checks.problems
    assert run.checks.absent == {}


@pytest.mark.parametrize("error", [None, LoginRefused("the engine refuses the login")])
def test_queries_that_are_sent_again_without_the_checks_are_counted_once(error: Exception | None) -> None:
    class Counter:
        queries = done = 0

        def suite_started(self, suite: Suite, queries: int, chosen: str) -> None:
            self.queries = queries

        def queries_done(self, count: int) -> None:
            self.done += count

        def suite_finished(self, run: Run, verdicts: Sequence[Verdict] | None) -> None:
            pass

    class Refusing(Gateway):
        def stream(self, requests: Any, **more: Any) -> ResponseStream:
            yield from super().stream(requests, **more)
            if error is not None and not all(request.query for request in requests):
                raise error

    progress = Counter()
    cell = cell_of(make_suite(expecting("nope not in top 3", a=1)), RunOptions(repeat=2))
    with answered_by(Refusing(None), cell, progress=progress) as answered:
        assert isinstance(answered.run.responses["q"], Ranking)
    assert progress.done == progress.queries == 2


def test_queries_are_not_sent_again_where_the_index_is_blocked() -> None:
    blocked = Failure(FailureKind.ERROR, "cluster_block_exception: blocked by: [FORBIDDEN/7/index read (api)]", 403)
    sent: list[int] = []

    class Blocked(FakeSearch):
        def stream(self, requests: Any, **more: Any) -> ResponseStream:
            sent.append(len(requests))
            for place, request in enumerate(requests):
                yield StreamedResponse(place, request, blocked)

    run = run_on(Blocked({}), expecting(a=1))

    assert run.responses["q"] == blocked
    assert len(sent) == 1


@pytest.mark.parametrize("error", [None, LoginRefused("the engine refuses the login")])
def test_a_journal_has_the_answers_without_the_checks(error: Exception | None, tmp_path: Path) -> None:
    tested, options = make_suite(expecting("nope not in top 3", a=1)), with_hooks(RunOptions())
    selection = select(tested, ALL, date(2026, 1, 1))
    journal = Journal(tmp_path / "run.journal")
    section = journal.open_section(make_header(selection, options, {}, "default", Masker({})), Masker({}))
    with answered_by(Gateway(error), cell_of(tested, options), record=section):
        pass
    journal.finish(is_complete=True)

    [recorded] = parse_journal(read_content(tmp_path / "run.journal"), "run.journal").cells
    assert isinstance(recorded.responses["q"], Ranking)


@pytest.mark.parametrize("error", [EngineUnreachable("gone"), LoginRefused("the engine refuses the login")])
def test_answers_are_kept_where_the_others_fail_again_without_the_checks(error: SearchError) -> None:
    class Leaving(Gateway):
        def stream(self, requests: Any, **more: Any) -> ResponseStream:
            if all(request.query for request in requests):
                raise error
            for place, request in enumerate(requests):
                response = Ranking((Hit("a", 1.0),)) if request.query == "q" else FORBIDDEN
                yield StreamedResponse(place, request, response)

    run = run_on(Leaving(), expecting(a=1), Query("r", "blue shoes", judgments={"a": 1}))

    assert isinstance(run.responses["q"], Ranking)
    assert run.responses["r"] == FORBIDDEN


def test_a_login_that_is_refused_for_the_queries_too_is_an_error() -> None:
    search = FakeSearch({}, error=LoginRefused("no"))
    with pytest.raises(LoginRefused):
        run_on(search, Query("q", "red shoes", judgments={"a": 1}))


@pytest.mark.parametrize(("budget", "titles"), [(None, {"a": "Red shoe"}), (0.0, {})])
def test_titles_are_not_looked_up_when_the_budget_is_used_up(budget: float | None, titles: dict[str, str]) -> None:
    search = FakeSearch({"q": [Hit("a", 1.0, "Red shoe")]})
    tested = make_suite(expecting(a=1), display=Display(title="title"))
    check = Targets().prepare_check(tested, plan_searches(tested), search)
    assert check is not None
    found = check.conclude(Run({"q": Ranking((Hit("a", 1.0),))}, search.engine), search.search(check.requests), budget)
    assert found.titles == titles
    assert found.checks is not None
    assert found.checks.untitled is None
    assert any(problem.startswith("titles were not looked up: ") for problem in found.checks.problems) is not bool(
        titles
    )


# The fields that expectations read.


def test_the_types_of_fields_that_expectations_read_are_known() -> None:
    search = FakeSearch({"q": [Hit("a", 1.0, values={})]})
    search.fields = ("title", "brand", "offers.shop")
    run = run_on(
        search,
        expecting("brand = Acme in top 3", "no repeated brnad in top 3", "distinct offers >= 1 in top 3", a=1),
    )
    assert run.checks is not None
    [brand, misspelled, offers] = run.checks.read_fields
    assert brand == CheckedField("brand", brand.types)
    assert brand.types
    assert misspelled == CheckedField("brnad", (), "brand")
    assert offers == CheckedField("offers", ("object",)), "an engine lists the parts of an object, not the object"


def test_of_a_point_in_time_the_documents_are_checked_and_not_the_fields_that_expectations_read() -> None:
    search = FakeSearch({"q": [Hit("a", 1.0, values={})], "others": ["a"]})
    run = run_on(search, expecting("brand = Acme in top 3", a=1), body={**BODY, "pit": {"id": "abc"}})
    assert run.checks is not None
    assert (run.checks.target, run.checks.read_fields) == (None, ())


def test_a_field_that_the_request_defines_is_in_no_mapping() -> None:
    search = FakeSearch({"q": ["a"]})
    search.fields = ("title",)
    body = {**BODY, "runtime_mappings": {"margin": {"type": "double"}}}
    run = run_on(search, expecting("margin >= 1 in top 3", a=1), body=body)
    assert run.checks is not None
    assert run.checks.read_fields == ()


def test_types_that_cannot_be_looked_up_leave_the_fields_of_expectations_open() -> None:
    run = run_on(Refusing("a", "a"), expecting("brand = Acme in top 3", a=1))
    assert run.checks is not None
    assert (run.checks.read_fields, len(run.checks.problems)) == ((), 1)


def test_requests_return_the_fields_that_expectations_read() -> None:
    search = FakeSearch({"q": ["a"]})
    run_on(search, expecting("brand = Acme in top 3", "no repeated group in top 3", a=1))
    assert [request.value_fields for request in search.requests] == [("brand", "group")]


class Templates(FakeSearch):
    """Returns no fields with a ranking, and those of *known* documents in look-ups."""

    def __init__(self, known: dict[str, dict[str, Any]] | Exception) -> None:
        super().__init__({"q": [Hit("a", values={}), Hit("b", values={"brand": ("Nike",)}), Hit("c", values={})]})
        self.known = known

    def _respond(self, request: SearchRequest) -> Response:
        if not request.query and request.value_fields:
            if isinstance(self.known, Exception):
                raise self.known
            ids = request.body["query"]["ids"]["values"]
            assert ids == ["a", "c"], "hits that came with all fields are not looked up"
            return Ranking(tuple(Hit(name, values=values) for name, values in self.known.items()), total=1)
        return super()._respond(request)


def run_template(known: dict[str, dict[str, Any]] | Exception) -> list[Any]:
    """The values of each hit of a search template that returns a brand for one only."""
    query = expecting("brand = Acme in top 3", b=1)
    body = {"template": {"id": "products", "params": {"q": "{{text}}"}}}
    response = finish(make_suite(query, body=body), Templates(known), RunOptions()).run.responses["q"]
    assert isinstance(response, Ranking)
    return [hit.values for hit in response.hits]


def test_what_a_search_template_does_not_return_is_looked_up_by_id() -> None:
    assert run_template({"a": {"brand": ("Acme",)}}) == [{"brand": ("Acme",)}, {"brand": ("Nike",)}, None]
    assert run_template({"a": {}, "c": {"brand": ("Acme",)}}) == [{}, {"brand": ("Nike",)}, {"brand": ("Acme",)}]


def test_what_came_with_the_ranking_counts_before_what_is_looked_up() -> None:
    class Both(Templates):
        def _respond(self, request: SearchRequest) -> Response:
            if not request.query and request.value_fields:
                return Ranking((Hit("b", values={"brand": ("Acme",), "group": ("x",)}),), total=1)
            return super()._respond(request)

    query = expecting("brand = Acme in top 3", "no repeated group in top 3", b=1)
    body = {"template": {"id": "products", "params": {"q": "{{text}}"}}}
    response = finish(make_suite(query, body=body), Both({}), RunOptions()).run.responses["q"]
    assert isinstance(response, Ranking)
    assert [hit.values for hit in response.hits] == [None, {"brand": ("Nike",), "group": ("x",)}, None]


def test_values_that_cannot_be_looked_up_are_unknown() -> None:
    assert run_template(SearchError("gone")) == [None, {"brand": ("Nike",)}, None]


def test_a_value_from_the_environment_is_compared_and_masked() -> None:
    wanted = Threshold("brand = ${RELEVANCE_BRAND} in top 3", parse_expectation("brand = Acme-Secret in top 3"))
    shop = make_suite(Query("q", "red shoes", judgments={"a": 1}, thresholds=(wanted,)))
    shop = replace(shop, variables={"RELEVANCE_BRAND": "Acme-Secret"})
    search = FakeSearch({"q": [Hit("a", values={"brand": ("Acme-Secret",)})]})
    [verdict] = finish(shop, search, RunOptions()).report.verdicts
    assert verdict.status is Status.PASSED
    assert verdict.reason == "a at rank 1 has brand = ${RELEVANCE_BRAND}, required in the top 3"
