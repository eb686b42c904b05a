"""Kept runs of a request that has another name in the suite by now, as where `request:` became `requests:`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from harness.baseline.entries import fingerprint_request
from harness.model.baseline import BaselineFile
from harness.model.suite import Suite


def match_renamed(before: Mapping[str, str], now: Mapping[str, str], *, is_only: bool) -> dict[str, str]:
    """
    The name of today of each request that has another name.

    Args:
        before: The fingerprint of each request that the suite has no longer, by its name.
        now: The fingerprint of each request that may be one of these, by its name.
        is_only: Whether there was one request, and there is one now: then it is the same, however it was changed.

    Returns:
        Nothing where several are alike.

    >>> match_renamed({"request": "f1"}, {"current": "f1", "candidate": "f2"}, is_only=False)
    {'request': 'current'}
    >>> match_renamed({"request": "f1"}, {"current": "f1", "candidate": "f1"}, is_only=False)
    {}
    """
    if is_only and len(before) == len(now) == 1:
        return {next(iter(before)): next(iter(now))}
    occurrences_before, occurrences_now = Counter(before.values()), Counter(now.values())
    names = {fingerprint: name for name, fingerprint in now.items()}
    renamed = {}
    for name, fingerprint in before.items():
        is_known = bool(fingerprint) and occurrences_before[fingerprint] == occurrences_now[fingerprint] == 1
        if is_known:
            renamed[name] = names[fingerprint]
    return renamed


def find_renamed_baselines(baselines: BaselineFile, suite: Suite) -> dict[str, str]:
    """The name of today of each request of *baselines* that *suite* has under another name."""
    before = {name: entry.template for name, entry in baselines.requests.items() if name not in suite.requests}
    now = {}
    for name in suite.requests:
        if name not in baselines.requests:
            now[name] = fingerprint_request(suite, name) or ""
    is_only = len(baselines.requests) == 1 and len(suite.requests) == 1
    return match_renamed(before, now, is_only=is_only)


def rename_baselines(baselines: BaselineFile, suite: Suite) -> BaselineFile:
    """*baselines*, with the requests that *suite* has under another name by these names."""
    renamed = find_renamed_baselines(baselines, suite)
    if not renamed:
        return baselines
    requests = {renamed.get(name, name): entry for name, entry in baselines.requests.items()}
    return replace(baselines, requests=requests)
