"""JUnit XML of `relevance run` beside that of pytest."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main

SUITE = """thresholds:
  - mean nDCG@10 >= 0.8
  - every nDCG@10 >= 0.9
  - {threshold: "90% nDCG@10 >= 0.99", severity: warn}
  - {threshold: "median nDCG@10 >= 0.99", xfail: {reason: synonyms, until: 2099-01-31}}
  - {threshold: "mean P@1 >= 0.5", skip: {reason: later}}
"""


def read_cases(path: object) -> dict[str, ElementTree.Element]:
    return {case.attrib["name"]: case for case in ElementTree.parse(str(path)).iter("testcase")}


def read_outcome(case: ElementTree.Element) -> list[tuple[str, str | None, str, str]]:
    """
    What became of *case*: the element, its type, its message and its text, without what pytest adds to them.

    The text of a query's case names the place of an expectation, that of pytest's item the place of the query.
    """
    outcome = []
    for element in case:
        if element.tag == "properties":
            continue
        message = element.attrib["message"].removeprefix('failed on setup with "').removesuffix('"')
        # pytest has no rankings of an error, and the line of the suite for a skip.
        text = re.sub("-{3,}", "---", element.text or "") if element.tag == "failure" else ""
        text = re.sub(r"^next: .*", "", text, flags=re.MULTILINE)
        text = re.sub(r"(^--- query \w+) .*", r"\1", text, flags=re.MULTILINE)
        outcome.append((element.tag, element.get("type"), message.removeprefix("Failed: "), text.rstrip("-\n ")))
    return outcome


def read_properties(case: ElementTree.Element) -> dict[str | None, str | None]:
    return {entry.get("name"): entry.get("value") for entry in case.iter("property")}


REQUEST = 'request:\n  query: {match: {title: "{{text}}"}}\n'
REQUESTS = (
    'requests:\n  now: {query: {match: {title: "{{text}}"}}}\n  next: {query: {match: {title: "{{text}}"}}, size: 20}\n'
)


@pytest.mark.parametrize("broken", [False, True], ids=["answered", "broken"])
@pytest.mark.parametrize("requests", [(), ("now", "next")], ids=["one", "two"])
def test_the_command_writes_the_cases_of_pytest(
    suite: Callable[..., Path],
    run: Callable[..., pytest.RunResult],
    engine: ScriptedEngine,
    requests: tuple[str, ...],
    broken: bool,
) -> None:
    if broken:
        engine.broken["red shoes"] = 400
    path = suite(SUITE, boots='expect: ["d in top 3"]', shoes="expect: [\"'b' in top 1\"]")
    if requests:
        path.write_text(path.read_text().replace(REQUEST, REQUESTS))
    run("-W", "default", "--junit-xml=pytest.xml", *(f"--relevance-request={name}" for name in requests))
    words = [word for name in requests for word in ("--request", name)]
    main(["run", path.name, "--url", engine.url, "-q", "--output", "junit=run.xml", *words])

    by_pytest, by_run = read_cases("pytest.xml"), read_cases("run.xml")

    own = {"query.boots": "query.boots.d-in-top-3", "query.shoes": "query.shoes.b-in-top-1"}
    assert len(by_run) == len(by_pytest) == 7 * max(1, len(requests))
    for name, case in by_pytest.items():
        item, bracket, cell = name.partition("[")
        other = by_run[own.get(item, item) + bracket + cell]
        assert other.get("classname") == case.get("classname")
        assert read_outcome(other) == read_outcome(case)
        # A skipped item does not run, so that pytest has only what it was planned with.
        planned = {name: value for name, value in read_properties(case).items() if name != "relevance.place"}
        assert planned.items() <= read_properties(other).items()
