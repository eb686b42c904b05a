"""docs/examples/SKILL.md: the page for agents as a file that their tools load."""

from __future__ import annotations

import re

LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")

FOR_PEOPLE = "## For those who let agents work"
"""The last section of the page, which agents need not read."""

HEAD = """\
---
name: search-relevance
description: >-
  Change how a search engine ranks, and prove with relevance-harness (the command relevance, files *.relevance.yaml)
  that it is better: read a red gate, change the request, compare, add queries. Use it for search quality, nDCG,
  relevance suites and their thresholds.
---

<!-- scripts/site/make-reference makes this file from docs/guides/agents.md. -->

"""


def make_skill(page: str) -> str:
    r"""
    The file for the text of the *page*: links lead nowhere where it is copied to.

    >>> make_skill("# Page\n\nSee [this](that.md).\n\n## For those who let agents work\n").endswith("See this.\n")
    True
    """
    text, _, _ = page.partition(FOR_PEOPLE)
    return HEAD + LINK.sub(r"\1", text).rstrip() + "\n"
