"""What was found in judgments, as lines that editors and CI systems find their way by, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.judging.findings import JudgmentFinding
from harness.report.figures import counted_text
from harness.report.printable import printable

__all__ = ["closing_line", "finding_lines", "findings_json"]


def finding_lines(findings: Sequence[JudgmentFinding]) -> Iterator[str]:
    """A line each, which begins with its place."""
    return (printable(str(finding)) for finding in findings)


def findings_json(findings: Sequence[JudgmentFinding]) -> str:
    """A list of objects with path, line, column, kind and message; *line* and *column* are 0 for a whole file."""
    return json.dumps(
        [
            {
                "path": finding.mark.path,
                "line": finding.mark.line,
                "column": finding.mark.column,
                "kind": str(finding.kind),
                "message": finding.message,
            }
            for finding in findings
        ],
        indent=2,
        ensure_ascii=False,
    )


def closing_line(findings: Sequence[JudgmentFinding], judgments: int, suites: int) -> str:
    """How much was looked at, and how much was found."""
    looked_at = f"{counted_text(judgments, 'judgment')} of {counted_text(suites, 'suite')} looked at"
    return f"{looked_at}: {counted_text(len(findings), 'finding') if findings else 'nothing found'}"
