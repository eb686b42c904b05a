"""Annotations: which there are, in which order, and as GitHub and GitLab take them."""

import pytest

pytest.importorskip("jsonschema")

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from builders.reports import report_of
from harness.errors import Problem
from harness.model.report import QueryReport
from harness.model.run import NamedField, Status, TargetChecks
from harness.model.scores import Outcome
from harness.model.suite import Mark
from harness.report.annotations import (
    Annotation,
    Severity,
    annotate_problems,
    annotate_report,
    dump_code_quality,
    format_workflow_commands,
)

REPOSITORY = Path.cwd()
LINE = re.compile(r"::(error|warning|notice) ((?:\w+=[^:,]*)(?:,\w+=[^:,]*)*)::(.*)", re.DOTALL)


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as GitHub's runner takes it apart: the kind, its properties, its message."""
    found = LINE.fullmatch(line)
    assert found is not None, line
    assert "\n" not in line
    assert "\r" not in line
    pairs = (pair.split("=", 1) for pair in found[2].split(","))
    return found[1], {name: unescape(value, "\r\n:,%") for name, value in pairs}, unescape(found[3], "\r\n%")


def unescape(text: str, characters: str) -> str:
    for character in characters:
        text = text.replace(f"%{ord(character):02X}", character)
    return text


def lines(report) -> list[tuple[str, dict[str, str], str]]:
    return [read(line) for line in format_workflow_commands(annotate_report(report), REPOSITORY)]


def with_verdicts(suite, *verdicts):
    answered = tuple(query for query in suite.queries if query.outcome is not Outcome.ERROR)
    return report_of(replace(suite, verdicts=verdicts, queries=answered))


def test_a_failed_threshold_is_an_error_on_its_line(suite):
    [(kind, place, message)] = lines(with_verdicts(suite, suite.verdicts[0]))
    assert kind == "error"
    assert place == {
        "file": "suites/products.relevance.yaml",
        "line": "14",
        "col": "5",
        "title": "products: mean nDCG@10 >= 0.80",
    }
    assert message == "The mean over 3 queries is too low."


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.FAILED, "error"),
        (Status.ERROR, "error"),
        (Status.WARNED, "warning"),
        (Status.XPASSED, "notice"),
        (Status.PASSED, None),
        (Status.XFAILED, None),
        (Status.SKIPPED, None),
    ],
)
def test_the_kind_is_that_of_the_verdict(suite, status, kind):
    found = lines(with_verdicts(suite, replace(suite.verdicts[0], status=status)))
    assert [one[0] for one in found] == ([kind] if kind else [])


@pytest.mark.parametrize(("status", "is_named"), [(Status.FAILED, True), (Status.ERROR, False), (Status.WARNED, False)])
def test_a_failure_names_what_probably_lowers_all_scores(suite, status, is_named):
    checks = TargetChecks("products", unknown_fields=(NamedField("titel", "query.match", "title"),))
    verdict = replace(suite.verdicts[0], status=status)
    [(_, _, message)] = lines(with_verdicts(replace(suite, checks=checks), verdict))
    cause = "the request names the field titel, which no searched index has; did you mean 'title'? (in query.match)"
    assert message == "The mean over 3 queries is too low." + (f"; {cause}" if is_named else "")


def test_queries_without_an_answer_are_told_once_for_all_thresholds_that_need_them(suite):
    broken = tuple(
        QueryReport(f"q{place}", "", Outcome.ERROR, "engine error: the server is down") for place in range(5)
    )
    verdict = replace(suite.verdicts[0], status=Status.ERROR, blamed=("q0", "q1"))
    verdicts = tuple(replace(verdict, id=str(place), mark=Mark("s.yaml", 7 + place, 3)) for place in range(3))
    [(kind, place, message)] = lines(report_of(replace(suite, queries=broken, verdicts=verdicts)))
    assert (kind, place["file"], place["line"]) == ("error", "s.yaml", "7")
    assert place["title"] == "products: 5 queries without an answer"
    assert message == (
        "5 queries with outcome error: engine error: the server is down (q0, q1, q2, …); "
        "3 thresholds could not be decided"
    )


def test_a_query_without_an_answer_is_told_where_no_threshold_is_about_it(suite):
    [found] = lines(report_of(replace(suite, verdicts=())))
    assert found[0] == "error"
    assert found[1] == {"file": suite.path, "title": "products: 1 query without an answer"}


def test_a_selection_that_leaves_nothing_to_decide_is_told_and_is_in_the_code_quality(suite, tmp_path):
    empty = report_of(replace(suite, verdicts=(), queries=(), deselected=3))
    assert lines(empty) == [], "a suite without thresholds gates nothing"
    undecided = replace(empty, undecided="no threshold applies to 'head'")
    [found] = lines(undecided)
    assert found[1] == {"file": suite.path, "title": "products: nothing was decided"}
    [entry] = json.loads(dump_code_quality(undecided, tmp_path))
    assert entry["description"].endswith("nothing was decided: no threshold applies to 'head'")


def test_the_worst_come_first(suite):
    one = suite.verdicts[0]
    statuses = [Status.XPASSED, Status.WARNED, Status.FAILED, Status.FAILED, Status.ERROR]
    verdicts = [replace(one, id=str(place), status=status) for place, status in enumerate(statuses)]
    verdicts[2] = replace(verdicts[2], query="red-shoes")
    found = annotate_report(with_verdicts(suite, *verdicts))
    assert [annotation.key[-1] for annotation in found] == ["4", "3", "2", "1", "0"]


def test_ten_of_a_kind_are_shown_and_the_others_counted(suite):
    ten = [replace(suite.verdicts[0], id=str(place)) for place in range(10)]
    assert [found[1].get("line") for found in lines(with_verdicts(suite, *ten))] == ["14"] * 10
    thirteen = [replace(suite.verdicts[0], id=str(place)) for place in range(13)]
    warned = replace(suite.verdicts[0], status=Status.WARNED)
    found = lines(with_verdicts(suite, *thirteen, warned))
    assert [one[0] for one in found] == ["error"] * 10 + ["warning"]
    assert found[9][1] == {"title": "4 more annotations"}


def test_two_requests_of_a_suite_are_told_apart(suite):
    both = [replace(suite, request=name, queries=(), verdicts=suite.verdicts[:1]) for name in ("current", "new")]
    titles = [found[1]["title"] for found in lines(report_of(*both))]
    assert titles == [
        "products, request current: mean nDCG@10 >= 0.80",
        "products, request new: mean nDCG@10 >= 0.80",
    ]


def test_problems_of_suites_are_errors_on_their_lines():
    problems = [Problem("a.relevance.yaml", 3, 7, "found 'mesures', expected 'measures'"), Problem("b.yaml", 0, 0, "x")]
    found = [read(line) for line in format_workflow_commands(annotate_problems(problems), REPOSITORY)]
    assert found[0] == (
        "error",
        {"file": "a.relevance.yaml", "line": "3", "col": "7", "title": "relevance"},
        "found 'mesures', expected 'measures'",
    )
    assert found[1][1] == {"file": "b.yaml", "title": "relevance"}


HOSTILE = st.text(st.sampled_from("%:,\r\n=0ADx") | st.characters(), max_size=30)


@given(HOSTILE, HOSTILE.filter(lambda text: "\0" not in text and text.strip("./ ")), HOSTILE)
def test_no_text_gets_out_of_its_place(title, path, message):
    annotation = Annotation(Severity.ERROR, f"t{title}", message, Mark(f"f{path}", 1, 2), "")
    [line] = format_workflow_commands([annotation], REPOSITORY)
    kind, place, said = read(line)
    assert kind == "error"
    assert set(place) == {"file", "line", "col", "title"}
    assert [place["line"], place["col"]] == ["1", "2"]
    if title.isprintable() and message.isprintable():
        assert (place["title"], said) == (f"t{title}", message)


def test_files_are_named_from_the_repository_wherever_the_command_was_given(tmp_path, monkeypatch):
    (tmp_path / "repository" / "suites").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "repository")
    monkeypatch.chdir(tmp_path / "repository" / "suites")

    def named(path: str, repository: Path) -> str:
        annotation = Annotation(Severity.ERROR, "t", "m", Mark(path, 1, 1), "")
        return read(next(format_workflow_commands([annotation], repository)))[1]["file"]

    for repository in (tmp_path / "repository", tmp_path / "link"):
        assert named("shop.yaml", repository) == "suites/shop.yaml"
        assert named("../shop.yaml", repository) == "shop.yaml"
        assert named(str(tmp_path / "repository" / "a.yaml"), repository) == "a.yaml"
    assert named(str(tmp_path / "elsewhere.yaml"), tmp_path / "repository") == str(tmp_path / "elsewhere.yaml")


# ------------------------------------------------------------------------------------------------ GitLab

CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^./]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""What GitLab's documentation asks for."""


def quality(report) -> list[dict]:
    entries = json.loads(dump_code_quality(report, REPOSITORY))
    jsonschema.validate(entries, CODE_QUALITY)
    return entries


def test_code_quality_names_what_does_not_hold_and_where(suite, report):
    [unanswered, failed] = quality(report)
    assert unanswered["severity"] == "critical"
    assert unanswered["location"] == {"path": "suites/products.relevance.yaml", "lines": {"begin": 1}}
    assert (failed["severity"], failed["check_name"]) == ("major", "relevance")
    assert failed["location"] == {"path": "suites/products.relevance.yaml", "lines": {"begin": 14}}
    assert failed["description"] == "products: mean nDCG@10 >= 0.80: The mean over 3 queries is too low."


def test_nothing_is_an_empty_list(suite):
    assert quality(with_verdicts(suite, suite.verdicts[2])) == []


@pytest.mark.parametrize(
    ("status", "severity"), [(Status.WARNED, "minor"), (Status.XPASSED, "info"), (Status.ERROR, "critical")]
)
def test_severities(suite, status, severity):
    [entry] = quality(with_verdicts(suite, replace(suite.verdicts[0], status=status)))
    assert entry["severity"] == severity


def test_a_fingerprint_survives_other_figures_and_other_lines_and_is_no_other_s(suite):
    one = suite.verdicts[0]
    moved = replace(one, reason="The mean is lower still.", observed=0.1, mark=replace(one.mark, line=99))
    [before], [after] = quality(with_verdicts(suite, one)), quality(with_verdicts(suite, moved))
    assert before["fingerprint"] == after["fingerprint"]
    assert before["description"] != after["description"]
    several = [one, replace(one, id="other")]
    cells = [replace(suite, request=name, verdicts=several) for name in ("a", "b")]
    prints = [entry["fingerprint"] for entry in quality(report_of(*cells))]
    assert len(set(prints)) == len(prints) == 6
