"""The words of messages in pytest: an option of `harness run` has another name there."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.model import QueryReport, SuiteReport, Verdict

__all__ = ["in_pytest", "reworded"]


OPTIONS = ("url", "embedded", "engine-version", "request", "index", "tag", "allow-write", "baseline", "budget")
"""Those that the plugin has too, as ``--relevance-…``."""

_HERE_TOO = re.compile(rf" \(--relevance-(?:{'|'.join(OPTIONS)}) in pytest\)")
_OPTION = re.compile(rf"`harness [^`]*`|(?<![\w-])--({'|'.join(OPTIONS)})(?![\w-])")


def in_pytest(sentence: str) -> str:
    """
    *sentence* with the plugin's names of options; a command ``harness …`` in it stays what it is.

    >>> in_pytest("give --url or --embedded")
    'give --relevance-url or --relevance-embedded'
    """
    return _OPTION.sub(lambda found: f"--relevance-{found[1]}" if found[1] else found[0], _HERE_TOO.sub("", sentence))


def reworded(report: SuiteReport) -> SuiteReport:
    """*report* with what it says of missing answers in the plugin's words; what a suite says itself is left alone."""
    return replace(report, verdicts=tuple(map(_verdict, report.verdicts)), queries=tuple(map(_query, report.queries)))


def _verdict(verdict: Verdict) -> Verdict:
    return replace(verdict, reason=in_pytest(verdict.reason)) if verdict.status.is_undecided else verdict


def _query(query: QueryReport) -> QueryReport:
    unanswered = query.outcome.is_unanswered
    return replace(query, reason=in_pytest(query.reason)) if unanswered else query
