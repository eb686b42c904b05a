"""Errors and reports lead to the pages that explain them: each page and section exists, and is named once."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.extension_cases import needs_extension
from builders.typed_page import list_anchors
from harness import errors, pages
from harness.cli import main
from harness.errors import TOPICS_OF_PROBLEMS, HarnessError, Problem, ProblemCode, SuiteError
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.pages import Topic, find_site, format_link
from harness.report.topics import TOPICS_OF_OUTCOMES, TOPICS_OF_STATUSES

pytestmark = pytest.mark.usefixtures("working_folder")

DOCS = Path(__file__).parents[2] / "docs"

SELF_EXPLAINING = {
    "HarnessError": "the base class",
    "UsageError": "names the option, what was found, and the remedy",
    "InputError": "the base class of errors of files",
    "SuiteError": "by the kinds of its problems, below",
    "ConfigError": "by the kind of its problems, below",
    "FormatError": "has the place, what was found, and what was expected",
    "GrammarError": "of a command line: has the grammar's part that was expected; in a suite it is a problem",
    "MeasureError": "as GrammarError",
    "GradeError": "as GrammarError",
    "UnknownMeasure": "names the nearest known measures; in a suite it is a problem",
    "UndefinedScore": "says which judgments are missing",
    "StatisticError": "says how many queries, or which test, it needs",
    "SearchError": "the reason is the server's",
    "RequestRefused": "the reason is the server's",
    "UnwritableBaseline": "names the file and what is in its way",
    "HistoryError": "names the file and the remedy",
}

SELF_EXPLAINING_PROBLEMS = {
    "invalid-value",
    "unknown-key",
    "missing-key",
    "no-value",
    "no-text",
    "unknown-name",
    "duplicate",
    "unreadable-file",
}
SELF_EXPLAINING_OUTCOMES = {
    Outcome.SCORED,
    Outcome.ZERO_HITS,
    Outcome.SKIPPED,
    Outcome.NOTHING_FOUND,
    Outcome.FALSE_HITS,
}
SELF_EXPLAINING_STATUSES = {
    Status.PASSED,
    Status.FAILED,
    Status.WARNED,
    Status.XFAILED,
    Status.XPASSED,
    Status.SKIPPED,
    Status.NOT_DECIDED,
}

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
thresholds: [THRESHOLD]
queries: [{id: q, text: shoes, judgments: {sku-1: 1}}]
"""


@pytest.fixture
def site(monkeypatch):
    """Gives the documentation an address, as the metadata of a released package may."""
    monkeypatch.setattr(pages, "find_site", lambda: "https://docs.test/latest")


def write_suite(threshold, name="shop"):
    path = Path(f"{name}.relevance.yaml")
    path.write_text(SUITE.replace("THRESHOLD", threshold).replace("suite: shop", f"suite: {name}"), encoding="utf-8")
    return str(path)


def list_links(capsys):
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("see: ")]


def test_docstring_examples_hold():
    assert doctest.testmod(pages).failed == 0


TOPICS = [topic for topic in Topic if topic is not Topic.GRADING]
TOPICS.append(pytest.param(Topic.GRADING, marks=needs_extension("judging")))


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_each_topic_is_a_section_of_a_page(topic):
    page, _, anchor = topic.partition("#")
    path = DOCS / page
    assert path.is_file(), topic
    assert not anchor or anchor in list_anchors(path.read_text(encoding="utf-8")), topic


def test_each_topic_is_of_an_error_or_a_report():
    classes = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, HarnessError)]
    # `relevance doctor` names the privileges.
    used = {cls.topic for cls in classes} | {*TOPICS_OF_PROBLEMS.values(), Topic.UNJUDGED_DOCUMENTS, Topic.PRIVILEGES}
    used |= {*TOPICS_OF_OUTCOMES.values(), *TOPICS_OF_STATUSES.values()}
    assert set(Topic) == used - {None}


def test_each_class_of_errors_has_a_topic_or_explains_itself():
    classes = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, HarnessError)]
    assert {cls.__name__ for cls in classes if cls.topic is None} == set(SELF_EXPLAINING)


def test_each_kind_of_problem_outcome_and_verdict_has_a_topic_or_explains_itself():
    assert set(TOPICS_OF_PROBLEMS) | SELF_EXPLAINING_PROBLEMS == set(ProblemCode.__args__)
    assert set(TOPICS_OF_OUTCOMES) | SELF_EXPLAINING_OUTCOMES == set(Outcome)
    assert set(TOPICS_OF_STATUSES) | SELF_EXPLAINING_STATUSES == set(Status)


def test_an_error_has_each_topic_of_its_problems_once():
    problems = [
        Problem("a", line, 1, "no", code=code)
        for line, code in enumerate(["grammar", "invalid-value", "grammar", "syntax"])
    ]
    assert SuiteError(problems).topics == (Topic.GRAMMAR, Topic.QUOTES_IN_YAML)


def test_many_equal_problems_have_one_link_below_their_number(capsys):
    for name in ("a", "b", "c"):
        write_suite("mean nDCG@10 is 0.8, mean nDCG@10 => 0.8", name)
    assert main(["validate", "."]) == 2
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "relevance: 6 problems",
        "see: docs/reference/thresholds.md#the-grammar",
    ]


@pytest.mark.parametrize(
    ("threshold", "topic"),
    [
        ("mean nDGC@10 >= 0.8", Topic.MEASURES),
        ("[", Topic.QUOTES_IN_YAML),
        ("{threshold: mean nDCG@10 >= 0.8, severty: warn}", None),
    ],
)
def test_a_problem_that_says_all_has_no_link(threshold, topic, capsys):
    assert main(["validate", "--quiet", write_suite(threshold)]) == 2
    assert list_links(capsys) == ([] if topic is None else [f"see: docs/{topic}"])


def test_a_configuration_that_cannot_be_used_leads_to_its_keys(capsys):
    Path("relevance.toml").write_text("[clusters.default]\nurll = 1\n", encoding="utf-8")
    assert main(["validate", write_suite("mean nDCG@10 >= 0.8")]) == 2
    assert list_links(capsys) == ["see: docs/reference/settings.md"]


def test_a_run_without_answers_leads_to_outcomes_once(capsys):
    suites = [write_suite("mean nDCG@10 >= 0.8", name) for name in ("a", "b")]
    assert main(["run", *suites, "--url", "http://127.0.0.1:9"]) == 3
    assert list_links(capsys) == ["see: docs/reference/outcomes.md#a-query"]
    assert main(["run", "--quiet", *suites, "--url", "http://127.0.0.1:9"]) == 3
    assert list_links(capsys) == []


def test_a_run_that_passes_and_one_that_fails_say_all(capsys):
    with ScriptedEngine() as engine:
        for ranking, status in ((["sku-1"], 0), (["x", "sku-1"], 1)):
            engine.rankings["shoes"] = ranking
            assert main(["run", write_suite("mean nDCG@10 >= 0.8"), "--url", engine.url]) == status
            assert list_links(capsys) == []


def test_a_site_takes_the_place_of_the_repository(site, capsys):
    assert main(["validate", write_suite("mean nDCG@10 => 0.8")]) == 2
    assert list_links(capsys) == ["see: https://docs.test/latest/reference/thresholds/#the-grammar"]


def test_a_package_without_a_site_and_without_the_pages_names_no_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pages, "find_site", lambda: None)
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    assert main(["validate", write_suite("mean nDCG@10 => 0.8")]) == 2
    assert list_links(capsys) == []


def test_the_address_of_the_site_is_that_of_the_package_s_metadata(monkeypatch):
    class Metadata:
        def get_all(self, name):
            return (
                ["Source, https://source.test", "Documentation, https://docs.test/"] if name == "Project-URL" else None
            )

    monkeypatch.setattr("importlib.metadata.metadata", lambda _: Metadata())
    find_site.cache_clear()
    assert find_site() == "https://docs.test"
    find_site.cache_clear()
    assert re.fullmatch(r"https://docs.test/engines/embedded/", format_link(Topic.EMBEDDED_ENGINE, "https://docs.test"))


@needs_extension("start")
def test_doctor_leads_to_what_explains_its_findings(capsys):
    assert main(["doctor", "--url", "http://127.0.0.1:9"]) == 3
    assert list_links(capsys) == ["see: docs/engines/index.md#clusters"]


def test_a_page_has_the_link_only_where_the_documentation_has_an_address(monkeypatch):
    words = ["run", write_suite("mean nDCG@10 >= 0.8"), "--url", "http://127.0.0.1:9", "--output", "html=report.html"]
    assert main(words) == 3
    assert "docs/reference" not in Path("report.html").read_text(encoding="utf-8")

    monkeypatch.setattr("harness.report.html.run.find_site", lambda: "https://docs.test")
    assert main(words) == 3
    link = "https://docs.test/reference/outcomes/#a-query"
    assert f'<p class="muted">See <a href="{link}">{link}</a>.</p>' in Path("report.html").read_text(encoding="utf-8")
