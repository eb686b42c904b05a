"""
A report in the form of GitLab's code quality, so that a merge request shows which lines of suites do not hold.

The form is the part of Code Climate's that GitLab reads; its documentation describes it under Code Quality.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from harness.model import Report
from harness.report.ci.annotations import Annotation, Severity, path_in, report_annotations
from harness.report.sentences import printable

__all__ = ["render"]


CHECK = "relevance"

SEVERITIES = {
    Severity.ERROR: "critical",
    Severity.FAILURE: "major",
    Severity.WARNING: "minor",
    Severity.NOTICE: "info",
}


def render(report: Report, repository: Path) -> str:
    """
    The annotations of *report*, as JSON.

    Args:
        report: The report; one in which everything holds gives an empty list.
        repository: The root of the repository, to which paths are relative.
    """
    seen: dict[str, int] = {}
    entries = []
    for annotation in report_annotations(report):
        path = path_in(repository, annotation.mark.path)
        identity = f"{path}\n{annotation.key}"
        seen[identity] = seen.get(identity, 0) + 1
        entries.append(_entry(annotation, path, f"{identity}\n{seen[identity]}"))
    return json.dumps(entries, indent=2) + "\n"


def _entry(annotation: Annotation, path: str, identity: str) -> dict[str, object]:
    """An entry; its fingerprint has no figures and no lines, as GitLab finds new entries of a merge request by it."""
    return {
        "description": printable(f"{annotation.title}: {annotation.message}"),
        "check_name": CHECK,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest(),
        "severity": SEVERITIES[annotation.severity],
        "location": {"path": path, "lines": {"begin": annotation.mark.line or 1}},
    }
