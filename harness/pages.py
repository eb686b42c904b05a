"""The pages of the documentation to which errors and reports lead, and their addresses."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path

PACKAGE = "relevance-harness"

DOCS = Path(__file__).parents[1] / "docs"
"""The pages, in a checkout of the repository."""


class Topic(StrEnum):
    """What a section of the documentation explains; its value is the page below ``docs/``, with the anchor."""

    GRAMMAR = "reference/thresholds.md#the-grammar"
    MEASURES = "reference/measures.md"
    QUOTES_IN_YAML = "reference/suites.md#yaml"
    SETTINGS = "reference/settings.md"
    CLUSTERS = "engines/index.md#clusters"
    PRIVILEGES = "engines/index.md#the-least-privilege"
    FIXTURES = "engines/index.md#fixtures"
    EMBEDDED_ENGINE = "engines/embedded.md"
    HOOKS = "guides/clients.md#hooks"
    UNUSABLE_BASELINES = "reference/baselines.md#when-the-baseline-cannot-be-used"
    OUTCOMES_OF_QUERIES = "reference/outcomes.md#a-query"
    VERDICTS = "reference/outcomes.md#a-threshold"
    UNJUDGED_DOCUMENTS = "reference/judgments.md#unjudged-documents"
    GRADING = "guides/judging.md"

    @property
    def page(self) -> str:
        """The page without the anchor."""
        return self.partition("#")[0]


@cache
def find_site() -> str | None:
    """The address of the documentation in the metadata of the installed package; None if it has none."""
    # The help of a command imports this module, and has to be fast.
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls: list[str] = metadata(PACKAGE).get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    for entry in urls:
        label, _, url = entry.partition(",")
        if label.strip().lower() == "documentation" and url.strip():
            return url.strip().rstrip("/")
    return None


def format_link(topic: Topic, site: str | None) -> str:
    """
    Where *topic* is explained: an address on *site*, or the path in the repository.

    >>> format_link(Topic.VERDICTS, None)
    'docs/reference/outcomes.md#a-threshold'
    >>> format_link(Topic.CLUSTERS, "https://docs.test/latest")
    'https://docs.test/latest/engines/#clusters'
    """
    if site is None:
        return f"docs/{topic}"
    page, mark, anchor = topic.partition("#")
    return f"{site}/{page.removesuffix('index.md').removesuffix('.md').rstrip('/')}/{mark}{anchor}"


def choose_one_of_each_page(topics: Iterable[Topic]) -> list[Topic]:
    """
    The first of *topics* on each page.

    >>> choose_one_of_each_page([Topic.OUTCOMES_OF_QUERIES, Topic.VERDICTS, Topic.GRADING])
    [<Topic.OUTCOMES_OF_QUERIES: 'reference/outcomes.md#a-query'>, <Topic.GRADING: 'guides/judging.md'>]
    """
    by_page: dict[str, Topic] = {}
    for topic in topics:
        by_page.setdefault(topic.page, topic)
    return list(by_page.values())


def format_links(topics: Iterable[Topic]) -> list[str]:
    """
    A line for each page of *topics*, to print below errors or a report.

    If the documentation has no address, only pages that are there have a line: a package without a site has none, and a
    checkout without an extension lacks its pages.
    """
    shown = choose_one_of_each_page(topics)
    if not shown:
        return []
    site = find_site()
    if site is None:
        shown = [topic for topic in shown if (DOCS / topic.page).is_file()]
    return [f"see: {format_link(topic, site)}" for topic in shown]
