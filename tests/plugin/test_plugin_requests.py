"""Several requests at once: an item each, with ids that choose, rerun and report like any other."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from builders.workers import IN_TWO_WORKERS
from harness.report.json import loads_report
from harness.suites.reading import read_suite_file

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'
EXPECTS = 'expect: ["a in top 1"]'
BOTH = ("--relevance-request", "current", "--relevance-request", "candidate")
IDS = [
    "shop.relevance.yaml::mean-nDCG-10-ge-0.8[current]",
    "shop.relevance.yaml::query.shoes[current]",
    "shop.relevance.yaml::mean-nDCG-10-ge-0.8[candidate]",
    "shop.relevance.yaml::query.shoes[candidate]",
]


@pytest.fixture
def two_requests(suite: Suite, engine: object) -> Path:
    """A suite whose `candidate` ranks worse: its nDCG@10 of `shoes` is 0.7098, and the mean 0.6704."""
    path = suite(MEAN, shoes=EXPECTS)
    text = path.read_text(encoding="utf-8")
    start, end = text.index("request:"), text.index("measures:")
    body = "    query: {{match: {{title: '{}'}}}}\n"
    named = f"requests:\n  current:\n{body.format('{{text}}')}  candidate:\n{body.format('new {{text}}')}"
    path.write_text(text[:start] + named + text[end:], encoding="utf-8")
    engine.rankings |= {"new red shoes": ["b", "a"], "new rubber boots": ["e", "d"]}
    return path


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_each_item_is_there_once_a_request(two_requests: Path, run: Run) -> None:
    assert collected(run("--collect-only", "-q", *BOTH)) == IDS


@pytest.mark.parametrize("options", [(), ("--relevance-request", "candidate"), 2 * ("--relevance-request", "current")])
def test_one_request_leaves_ids_as_they_are(two_requests: Path, run: Run, options: tuple[str, ...]) -> None:
    names = [name.partition("[")[0] for name in IDS[:2]]
    assert collected(run("--collect-only", "-q", *options)) == names


def test_a_suite_is_read_once_in_a_session(two_requests: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    environs = []

    def counted(path: Path, environ: Mapping[str, str] | None, *others: object) -> object:
        environs.append(environ is not None)
        return read_suite_file(path, environ, *others)

    monkeypatch.setattr("harness.suites.loading.read_suite_file", counted)
    run(*BOTH)
    assert environs == [False]


def test_every_request_is_sent_once_and_judged_by_itself(two_requests: Path, run: Run, engine: object) -> None:
    result = run(*BOTH)

    result.assert_outcomes(passed=2, failed=2)
    assert engine.asked == dict.fromkeys(("red shoes", "rubber boots", "new red shoes", "new rubber boots"), 1)
    result.stdout.fnmatch_lines(
        [
            "relevance: http*, requests current, candidate",
            "*shop: mean nDCG@10 >= 0.8, request candidate*",
            "mean nDCG@10 (gain exponential) is 0.6704, required >= 0.8*",
            "FAILED shop.relevance.yaml::mean-nDCG-10-ge-0.8?candidate? - *",
            "FAILED shop.relevance.yaml::query.shoes?candidate? - *",
        ]
    )
    summary = [line for line in result.outlines if line.startswith("shop: nDCG@10")]
    assert ["request current" in line for line in summary] == [True, False]


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        (("-k", "candidate"), {"failed": 2}),
        (("-k", "current and shoes"), {"passed": 1}),
        (("-k", "mean and not candidate"), {"passed": 1}),
        (("--deselect", IDS[2], "--deselect", IDS[3]), {"passed": 2}),
        (("-k", "head"), {"passed": 1, "failed": 1}),
    ],
)
def test_k_and_deselect_know_the_request(
    two_requests: Path, run: Run, options: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    found = run(*BOTH, *options).parseoutcomes()
    assert {name: found.get(name, 0) for name in ("passed", "failed")} == {"passed": 0, "failed": 0} | outcomes


def test_a_node_id_chooses_one_and_runs_only_its_request(two_requests: Path, run: Run, engine: object) -> None:
    result = run(*BOTH, IDS[3])

    result.assert_outcomes(failed=1)
    assert set(engine.asked) == {"new red shoes", "new rubber boots"}


def test_a_node_id_without_the_request_chooses_all_of_them(two_requests: Path, run: Run) -> None:
    run(*BOTH, "shop.relevance.yaml::query.shoes").assert_outcomes(passed=1, failed=1)


def test_lf_runs_again_what_failed(two_requests: Path, run: Run, engine: object) -> None:
    run(*BOTH).assert_outcomes(passed=2, failed=2)
    engine.asked.clear()
    engine.rankings["new red shoes"] = ["a", "b"]

    result = run(*BOTH, "--lf")

    result.assert_outcomes(passed=2)
    assert set(engine.asked) == {"new red shoes", "new rubber boots"}


def test_junit_tells_the_requests_apart(two_requests: Path, run: Run, pytester: pytest.Pytester) -> None:
    run(*BOTH, "--junitxml", "junit.xml")

    items = ET.parse(pytester.path / "junit.xml").findall(".//testcase")
    assert [item.get("name") for item in items] == [name.partition("::")[2] for name in IDS]
    properties = [{one.get("name"): one.get("value") for one in item.iter("property")} for item in items]
    assert [found["relevance.request"] for found in properties] == 2 * ["current"] + 2 * ["candidate"]
    assert [found["relevance.observed"][:6] for found in properties[::2]] == ["0.8154", "0.6703"]


def test_with_workers_each_request_is_sent_once(
    two_requests: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    result = run(*IN_TWO_WORKERS, *BOTH, "--relevance-report", "report.json")

    result.assert_outcomes(passed=2, failed=2)
    assert set(engine.asked.values()) == {1}
    assert len(engine.asked) == 4
    report = loads_report((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert [suite.request for suite in report.suites] == ["current", "candidate"]


def test_reports_hold_the_requests_in_the_order_they_were_named(
    two_requests: Path, run: Run, pytester: pytest.Pytester
) -> None:
    run("--relevance-request=current", "--relevance-request=candidate", "--relevance-report=a.json")
    run("--relevance-request=candidate", "--relevance-request=current", "--relevance-report=b.json")

    orders = [
        [suite.request for suite in loads_report((pytester.path / name).read_text(encoding="utf-8")).suites]
        for name in ("a.json", "b.json")
    ]
    assert orders == [["current", "candidate"], ["candidate", "current"]]


@pytest.mark.parametrize("line", ["current candidate", "\n  current\n  candidate"])
def test_the_line_of_the_ini_file_holds_several(
    two_requests: Path, run: Run, pytester: pytest.Pytester, line: str
) -> None:
    pytester.makeini(f"[pytest]\nrelevance_request = {line}\n")
    assert collected(run("--collect-only", "-q")) == IDS
    assert len(collected(run("--collect-only", "-q", "--relevance-request", "candidate"))) == 2


@pytest.mark.parametrize("workers", [(), IN_TWO_WORKERS])
def test_a_baseline_is_updated_with_an_entry_a_request(two_requests: Path, run: Run, workers: tuple[str, ...]) -> None:
    result = run(*BOTH, "--relevance-update-baseline=force", *workers)

    kept = json.loads(two_requests.with_name("shop.baseline.json").read_text(encoding="utf-8"))["requests"]
    assert list(kept) == ["candidate", "current"]
    assert kept["current"]["queries"]["shoes"]["scores"] == {"nDCG@10": 1.0}
    assert round(kept["candidate"]["queries"]["shoes"]["scores"]["nDCG@10"], 4) == 0.7098
    assert sum(line.startswith("baseline written to ") for line in result.outlines) == 1


def test_a_query_of_its_own_item_is_judged_by_its_request(two_requests: Path, run: Run, engine: object) -> None:
    """The mean over all is an error of both, and what a query alone came to is read from its own request's run."""
    text = two_requests.read_text(encoding="utf-8").replace("mean nDCG@10 >= 0.8", "every nDCG@10 >= 0.7")
    two_requests.write_text(text, encoding="utf-8")
    engine.broken = {"rubber boots": 400, "new rubber boots": 400}
    engine.rankings["new red shoes"] = ["b", "c", "a"]

    result = run(*BOTH, "--relevance-each-query", "-k", "shoes and not every", "-rA")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["PASSED *query.shoes?current?", "FAILED *query.shoes?candidate?*"])


def test_a_request_that_a_suite_lacks_is_refused_beside_one_that_it_has(two_requests: Path, run: Run) -> None:
    result = run("--relevance-request", "current", "--relevance-request", "candidat")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert text.count("found no request 'candidat', known are current, candidate; did you mean 'candidate'?") == 1


def test_a_name_that_no_node_id_can_hold_gets_an_id(two_requests: Path, run: Run) -> None:
    text = two_requests.read_text(encoding="utf-8").replace("  candidate:", "  'new [v2]::é':")
    two_requests.write_text(text, encoding="utf-8")

    result = run("--collect-only", "-q", "--relevance-request", "current", "--relevance-request", "new [v2]::é")

    last = collected(result)[-1]
    assert last.startswith("shop.relevance.yaml::query.shoes[new-v2-")
    run("--relevance-request", "current", "--relevance-request", "new [v2]::é", last).assert_outcomes(failed=1)


def test_the_fixture_sends_the_first_and_any_that_a_call_names(
    two_requests: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        """
        def test_it(relevance):
            first, second = (relevance.run("shop.relevance.yaml", request=name) for name in ("candidate", "current"))
            assert relevance.run("shop.relevance.yaml").report.request == "candidate"
            assert first.mean("nDCG@10") < second.mean("nDCG@10")
        """
    )

    result = run("--relevance-request", "candidate", "--relevance-request", "current")

    result.assert_outcomes(passed=3, failed=2)
    assert set(engine.asked.values()) == {1}


def test_the_fixture_searches_another_index_where_a_call_names_one(
    two_requests: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        """
        def test_it(relevance):
            assert relevance.run("shop.relevance.yaml", index="products_v2").report.index == "products_v2"
        """
    )

    run().assert_outcomes(passed=3)
    assert engine.asked == {"red shoes": 2, "rubber boots": 2}


def test_a_request_in_a_file_is_collected_and_run_and_its_mistakes_are_those_of_the_suite(
    two_requests: Path, run: Run, engine: object
) -> None:
    text = two_requests.read_text(encoding="utf-8")
    start, end = text.index("  candidate:"), text.index("measures:")
    two_requests.write_text(f"{text[:start]}  candidate: {{file: new.json}}\n{text[end:]}", encoding="utf-8")
    file = two_requests.parent / "new.json"
    file.write_text('{"query": {"match": {"title": "new {{text}}"}}}', encoding="utf-8")

    run(*BOTH).assert_outcomes(passed=2, failed=2)
    file.write_text('{"query": {"match": {"title": "{{txet}}"}}}', encoding="utf-8")

    result = run(*BOTH)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*new.json:1:31: unknown placeholder {{txet}}*"])
