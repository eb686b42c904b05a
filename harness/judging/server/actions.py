"""What the judging page can ask of its server for one judge: each action takes the view and what the page sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.agreement import Pair
from harness.judging.page.session_json import build_session
from harness.judging.session import JudgeView, RefusedGrade


def show_session(view: JudgeView, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """All that the page shows."""
    return build_session(view)


def give_grade(view: JudgeView, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a grade, or take it away where it is null."""
    pair, grade = (str(given.get("query")), str(given.get("document"))), given.get("grade")
    if "grade" not in given:
        raise RefusedGrade("found no grade, expected a number, or null to take the grade away")
    view.check_grade(pair, grade)
    view.file.grade(pair, None if grade is None else float(grade))
    return describe_grade(view, pair)


def undo_grade(view: JudgeView, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Undo the last step of the judge."""
    pair = view.file.undo()
    return {} if pair is None else describe_grade(view, pair)


def describe_grade(view: JudgeView, pair: Pair) -> dict[str, Any]:
    """A document that changed, and its grade now."""
    return {"query": pair[0], "document": pair[1], "grade": view.file.grades.get(pair)}


ACTIONS: dict[tuple[str, str], Callable[[JudgeView, Mapping[str, Any]], dict[str, Any]]] = {
    ("GET", "/session"): show_session,
    ("POST", "/grade"): give_grade,
    ("POST", "/undo"): undo_grade,
}
"""By method and path; each is called while the judge's lock is held."""
