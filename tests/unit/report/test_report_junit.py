"""Reports as JUnit XML: a test case for each threshold."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from builders.reports import NDCG, products, report_of
from harness.model.report import MissingSuite, QueryReport, RankedDocument, SuiteReport
from harness.model.run import Status, Unit, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Mark, Operator, Waiver
from harness.model.timing import SuiteTiming
from harness.report.junit import MOST_MESSAGE, render
from harness.report.output_files import write_report
from harness.report.outputs import Output

HIT = RankedDocument(1, "d", 3, 7.0)
BOOTS = QueryReport("boots", "rubber boots", Outcome.SCORED, scores={NDCG: 0.25}, ranking=(HIT,))


def make_suite_report(*verdicts: Verdict, queries=(BOOTS,), **changes) -> SuiteReport:
    return replace(products(), verdicts=verdicts, queries=queries, tags=(), **changes)


def read_suites(*suites: SuiteReport, **changes) -> list[ElementTree.Element]:
    text = render(replace(report_of(*suites), **changes))
    return list(ElementTree.fromstring(text))


def read_cases(*suites: SuiteReport, **changes) -> dict[str, ElementTree.Element]:
    return {case.get("name"): case for suite in read_suites(*suites, **changes) for case in suite}


def read_properties(case: ElementTree.Element) -> dict[str, str]:
    return {entry.get("name"): entry.get("value") for entry in case.iter("property")}


WAIVER = Waiver("waits for synonyms", "2027-01-31")

ELEMENTS = [
    (Status.PASSED, None, None),
    (Status.WARNED, None, None),
    (Status.XPASSED, None, None),
    (Status.FAILED, "failure", None),
    (Status.ERROR, "error", None),
    (Status.INCONCLUSIVE, "error", None),
    (Status.SKIPPED, "skipped", "pytest.skip"),
    (Status.XFAILED, "skipped", "pytest.xfail"),
]


@pytest.mark.parametrize(("status", "element", "kind"), ELEMENTS)
def test_a_status_is_an_element_and_is_counted(status, element, kind):
    waiver = WAIVER if kind else None
    [suite] = read_suites(make_suite_report(Verdict("v", "mean nDCG@10 >= 0.8", status, "it is low", waiver=waiver)))

    [case] = suite
    outcomes = [child for child in case if child.tag != "properties"]
    assert [outcome.tag for outcome in outcomes] == ([element] if element else [])
    assert read_properties(case)["relevance.verdict"] == str(status)
    counted = {"errors": "error", "failures": "failure", "skipped": "skipped"}
    assert {name: suite.get(name) for name in counted} == {
        name: "1" if tag == element else "0" for name, tag in counted.items()
    }
    assert suite.get("tests") == "1"
    if kind:
        assert outcomes[0].attrib == {"type": kind, "message": "waits for synonyms (until 2027-01-31)"}
    elif element:
        assert outcomes[0].get("message") == "it is low"


def test_every_status_has_an_element_or_passes():
    assert {status for status, _, _ in ELEMENTS} == set(Status) - {Status.NOT_DECIDED}


def test_a_failure_has_its_figures_its_reason_and_the_worst_queries():
    mark = Mark("shop.relevance.yaml", 6, 14)
    figures = (0.25, 0.8, NDCG)
    verdict = Verdict("mean", "mean nDCG@10 >= 0.8", Status.FAILED, "it is 0.25", *figures, mark=mark)
    verdict = replace(verdict, blamed=("boots",), operator=Operator.AT_LEAST)
    case = read_cases(make_suite_report(verdict, path="suites/shop.relevance.yaml"))["mean"]

    failure = case.find("failure")
    assert failure.get("message").startswith("0.25")
    assert failure.get("message").endswith("; it is 0.25")
    assert failure.text.startswith("it is 0.25\n--- mean nDCG@10 >= 0.8 (shop.relevance.yaml:6:14) ---\nquery boots")
    assert case.get("classname") == "suites.shop.relevance.yaml"
    found = read_properties(case)
    assert (found["relevance.observed"], found["relevance.required"]) == ("0.25", "0.8")
    assert found["relevance.place"] == "shop.relevance.yaml:6:14"
    assert "relevance.query" not in found


def test_an_expectation_has_its_query_its_outcome_and_scores():
    verdict = Verdict("query.boots.x", "'a' in top 1", Status.PASSED, "", 1, 1, query="boots", unit=Unit.RANK)
    found = read_properties(read_cases(make_suite_report(verdict))["query.boots.x"])
    expected = {"query": "boots", "text": "rubber boots", "outcome": "scored", NDCG: "0.25", "unit": "rank"}
    assert {name: found[f"relevance.{name}"] for name in expected} == expected


def test_cells_of_a_suite_have_their_request_and_index_in_names():
    verdict = Verdict("mean", "mean nDCG@10 >= 0.8", Status.PASSED, "")
    one = make_suite_report(verdict)
    cells = [replace(one, request=request, index=index) for request in ("a b", "c") for index in ("x", "y")]
    assert list(read_cases(*cells)) == ["mean[a-b@x]", "mean[a-b@y]", "mean[c@x]", "mean[c@y]"]
    assert list(read_cases(*cells[:2])) == ["mean[x]", "mean[y]"]
    assert [suite.get("name") for suite in read_suites(*cells[::2])] == [
        f"{one.name}, request a b",
        f"{one.name}, request c",
    ]


def test_a_missing_answer_is_an_error_though_every_threshold_passes():
    lost = QueryReport("flask", "thermos", Outcome.ERROR, "status 500")
    passed = Verdict("mean", "mean nDCG@10 >= 0.8", Status.PASSED, "")
    cases = read_cases(make_suite_report(passed, queries=(BOOTS, lost)))
    assert cases["answers"].find("error").get("message").startswith("no answer to 1 query that no threshold is about")
    assert "flask" in cases["answers"].find("error").text


def test_a_missing_answer_that_an_error_blames_is_told_once():
    lost = QueryReport("flask", "thermos", Outcome.ERROR, "status 500")
    error = Verdict("mean", "mean nDCG@10 >= 0.8", Status.ERROR, "no answer", blamed=("flask",))
    assert list(read_cases(make_suite_report(error, queries=(BOOTS, lost)))) == ["mean"]


def test_a_request_that_gates_nothing_has_no_cases():
    lost = QueryReport("flask", "thermos", Outcome.ERROR, "status 500")
    [suite] = read_suites(make_suite_report(queries=(lost,), gates=False))
    assert (suite.get("tests"), len(suite)) == ("0", 0)


def test_a_suite_that_did_not_run_and_a_run_without_decisions_do_not_pass():
    missing = (MissingSuite("b.relevance.yaml", "wrong"),)
    cases = read_cases(make_suite_report(), undecided="no query has the tag", missing=missing)
    assert cases["nothing-was-decided"].find("failure").get("message") == "no query has the tag"
    assert cases["did-not-run"].find("error").get("message") == "wrong"
    assert cases["did-not-run"].get("classname") == "b.relevance.yaml"


HOSTILE = "a\x00b\x1b[2J\x9b\u202e\ufffe\ud800]]><![CDATA[</failure>&amp;\"'\n::error::x\n##vso[x]"


def test_hostile_texts_stay_texts(tmp_path):
    verdict = Verdict("v", f"mean {HOSTILE}", Status.FAILED, HOSTILE, blamed=(HOSTILE,), mark=Mark(HOSTILE, 1, 1))
    skipped = Verdict("s", HOSTILE, Status.SKIPPED, HOSTILE, waiver=Waiver(HOSTILE), query=HOSTILE)
    query = QueryReport(HOSTILE, HOSTILE, Outcome.UNDEFINED, HOSTILE, scores={HOSTILE: 0.5})
    suite = make_suite_report(
        verdict, skipped, queries=(query,), name=HOSTILE, path=HOSTILE, request=HOSTILE, index=HOSTILE
    )
    path = tmp_path / "junit.xml"
    write_report(report_of(suite), Output("junit", path))

    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert [element.tag for element in root.iter() if element.tag not in ("properties", "property")] == [
        "testsuites", "testsuite", "testcase", "failure", "testcase", "skipped",
    ]  # fmt: skip
    assert not set("\x00\x1b\x9b\u202e\ufffe") & set(text)
    assert "##vso[" not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]


def test_a_long_message_is_cut_and_the_text_is_whole():
    reason = "x" * 9999
    failure = read_cases(make_suite_report(Verdict("v", "t", Status.FAILED, reason)))["v"].find("failure")
    assert len(failure.get("message")) < MOST_MESSAGE + 60
    assert reason in failure.text


def test_the_time_is_that_of_the_suite():
    [suite] = read_suites(make_suite_report(timing=SuiteTiming(1.25)))
    assert suite.get("time") == "1.250"
    assert suite.get("timestamp")
