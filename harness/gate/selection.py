"""
Which queries of a suite run, which of its thresholds are decided, and the ids of their verdicts.

Ids belong to the whole suite: a selection leaves some of them out and changes none.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest
from unicodedata import category, normalize

from harness.errors import UsageError
from harness.gate.conditions import is_for_request, iterate_thresholds
from harness.model.run import Status, Unit, Verdict
from harness.model.suite import (
    AgreementCondition,
    Condition,
    DropCondition,
    FalseHitsCondition,
    FieldExpectation,
    HitCount,
    LatencyCondition,
    LossCondition,
    Query,
    ScoreCondition,
    StatisticKind,
    Suite,
    Threshold,
    UnresolvedCondition,
    Waiver,
    WorseCondition,
    get_other_request,
    is_about_baseline,
    is_in_force,
    select_scored,
    select_tagged,
)
from harness.options import RunOptions
from harness.words import choose_unused, did_you_mean, listed

FALLS_SHORT = (Status.FAILED, Status.WARNED, Status.XFAILED, Status.NOT_DECIDED)
"""The statuses of a threshold that was measured and not met, whether it was forgiven or not decided."""


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """
    The queries that the user selected: those with one of *tags*, and those whose ids are in *queries*. Where both are
    given, a query must match both; where neither is, all queries are selected.
    """

    tags: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, options: RunOptions) -> QueryFilter:
        """The filter that *options* give."""
        return cls(options.tags, options.queries)

    @property
    def selects_part(self) -> bool:
        """Whether the user selected by tag or by id, so that queries of a suite may be left out."""
        return bool(self.tags or self.queries)

    def has(self, query: Query) -> bool:
        """Whether *query* is selected."""
        if self.queries and query.id not in self.queries:
            return False
        return not self.tags or not set(self.tags).isdisjoint(query.tags)

    def __str__(self) -> str:
        """The filter in words, to follow "other queries than": "shoes with the tag head", "those with the tag head"."""
        queries = "those"
        if self.queries:
            queries = listed(self.queries)
        return f"{queries}{self.tag_words}"

    @property
    def tag_words(self) -> str:
        """The tags in words, to follow the queries; empty where there are none."""
        return f" with the tag {', '.join(self.tags)}" if self.tags else ""


ALL = QueryFilter()
"""Every query of a suite."""


@dataclass(frozen=True, slots=True)
class GatedThreshold:
    """A threshold with the id of its verdict, and the *query* that it belongs to; None where it is the suite's."""

    id: str
    threshold: Threshold
    query: Query | None = None

    @property
    def condition(self) -> Condition:
        """What the threshold requires."""
        return self.threshold.condition

    @property
    def xfails(self) -> tuple[Waiver | None, ...]:
        """The threshold's own `xfail`, which is the nearest, then that of its query."""
        return self.threshold.xfail, self.query.xfail if self.query else None

    @property
    def skips(self) -> tuple[Waiver | None, ...]:
        """The threshold's own `skip`, which is the nearest, then that of its query."""
        return self.threshold.skip, self.query.skip if self.query else None


def collect_thresholds(suite: Suite) -> tuple[GatedThreshold, ...]:
    """
    Every threshold and rank expectation of *suite*, the suite's own first, then each query's, with unique ids.

    The ids are the same whether the suite was loaded with an environment or without one. A threshold that is repeated
    is numbered.
    """
    collected = _assign_threshold_ids("", suite.thresholds, None)
    queries_with_thresholds = [query for query in suite.queries if query.thresholds]
    if queries_with_thresholds:
        query_ids = make_query_ids(suite)
        for query in queries_with_thresholds:
            collected += _assign_threshold_ids(f"{query_ids[query.id]}.", query.thresholds, query)
    used_ids = {threshold.id for threshold in collected}
    seen_ids: set[str] = set()
    for index, threshold in enumerate(collected):
        if threshold.id in seen_ids:
            # The repeated threshold gets a number that is in no other id. The first of equal ones keeps its id, and so
            # does one whose text ends with such a number.
            collected[index] = replace(threshold, id=choose_unused(threshold.id, used_ids))
        seen_ids.add(threshold.id)
    return tuple(collected)


def _assign_threshold_ids(prefix: str, thresholds: Sequence[Threshold], query: Query | None) -> list[GatedThreshold]:
    """*thresholds*, which are the suite's or those of *query*, with ids that begin with *prefix*."""
    ids = assign_ids(threshold.text for threshold in thresholds)
    return [GatedThreshold(prefix + ids[threshold.text], threshold, query) for threshold in thresholds]


def make_query_ids(suite: Suite) -> dict[str, str]:
    """An id for each query of *suite*, by the query's own id; no threshold of the whole suite has such an id."""
    slugs = assign_ids(query.id for query in suite.queries)
    return {query_id: f"query.{slug}" for query_id, slug in slugs.items()}


def assign_ids(names: Iterable[str]) -> dict[str, str]:
    """
    A different id for each of *names*: ids of queries, texts of thresholds, requests or indexes.

    The id is the slug of the name: its letters and digits, with `-` for other characters. A name that equals its slug
    always has it as its id. Any other name whose slug is that of several names gets a digest of itself at the end.

    >>> assign_ids(["a b", "a/b", "a-b", "c d"])
    {'a-b': 'a-b', 'a b': 'a-b-c8687a08', 'a/b': 'a-b-c14cddc0', 'c d': 'c-d'}
    """
    slugs = {name: _write_slug(name) for name in names}
    names_per_slug = Counter(slugs.values())
    unchanged = [name for name, slug in slugs.items() if name == slug]
    changed = [name for name, slug in slugs.items() if name != slug]
    used_ids: set[str] = set()
    ids = {}
    # Names that equal their slugs come first, so that no other name gets their ids.
    for name in unchanged:
        ids[name] = choose_unused(name, used_ids)
    for name in changed:
        candidate = slugs[name]
        if names_per_slug[candidate] > 1:
            candidate = f"{candidate}-{_digest(name)}"
        ids[name] = choose_unused(candidate, used_ids)
    return ids


def is_selected(threshold: GatedThreshold, query_filter: QueryFilter) -> bool:
    """
    Whether a run of the queries of *query_filter* can decide this threshold.

    A figure over a part of the queries is not the suite's figure, so a threshold over all queries is left out. Where
    queries are selected by id, a threshold over a tag is left out too.
    """
    if not query_filter.selects_part:
        return True
    if threshold.query is not None:
        return query_filter.has(threshold.query)
    return not query_filter.queries and threshold.threshold.tag in query_filter.tags


def select_scope(threshold: GatedThreshold, suite: Suite) -> Sequence[Query]:
    """The queries that a threshold is about, in the suite's order."""
    if threshold.query is not None:
        return (threshold.query,)
    tag = threshold.threshold.tag
    queries = suite.queries if tag is None else select_tagged(suite.queries, tag)
    return select_counted(threshold.condition, queries)


def select_counted(condition: Condition, queries: Sequence[Query]) -> Sequence[Query]:
    """
    Those of *queries* that a threshold of a suite with *condition* counts.

    Queries for which no result is right have no score, and are in no mean and no ``every``. They count for false hits,
    for which no other query does, and for latency.
    """
    if isinstance(condition, LatencyCondition):
        return queries
    if isinstance(condition, FalseHitsCondition):
        return tuple(query for query in queries if query.nothing)
    return select_scored(queries)


@dataclass(frozen=True, slots=True)
class Selection:
    """
    The part of *whole_suite* that runs: *selected* has the queries that the user selected, *active* are those of them
    that no skip leaves out. *others* are the queries that were not selected.
    """

    whole_suite: Suite
    selected: Suite
    active: tuple[Query, ...]
    others: Sequence[Query] = ()


def needs_baseline(suite: Suite, request: str | None) -> bool:
    """
    Whether a threshold of *suite* or of one of its queries compares a run with *request* with a baseline; None is the
    suite's first request.
    """
    if request is None:
        request = next(iter(suite.requests), "")
    for threshold in iterate_thresholds(suite):
        condition = threshold.condition
        if not is_about_baseline(condition):
            continue
        uses_history = count_runs(condition) > 0
        if not uses_history and is_for_request(threshold, suite, request):
            return True
    return False


def list_compared_requests(suite: Suite, request: str, query_filter: QueryFilter = ALL) -> tuple[str, ...]:
    """The requests of *suite* with which its thresholds compare a run of *request* with the queries of a filter."""
    names: dict[str, None] = {}
    for threshold in collect_thresholds(suite):
        other = get_other_request(threshold.condition)
        if other is None or not is_selected(threshold, query_filter):
            continue
        if is_for_request(threshold.threshold, suite, request):
            names[other] = None
    return tuple(names)


def count_history_runs(suite: Suite, request: str) -> int:
    """How many runs of the history the thresholds of *suite* and of its queries for *request* look back, at most."""
    most = 0
    for threshold in iterate_thresholds(suite):
        if is_for_request(threshold, suite, request):
            most = max(most, count_runs(threshold.condition))
    return most


def count_runs(condition: Condition) -> int:
    """How many runs of the history *condition* compares with; 0 if it does not."""
    if not isinstance(condition, DropCondition | WorseCondition) or condition.since is None:
        return 0
    return condition.since


def list_read_fields(suite: Suite, request: str) -> tuple[str, ...]:
    """
    The fields of hits that *suite* reads in a run with *request*: those of its expectations and those of its queries,
    and the field in which quotes are looked for.
    """
    fields: dict[str, None] = {}
    for threshold in iterate_thresholds(suite):
        if isinstance(threshold.condition, FieldExpectation) and is_for_request(threshold, suite, request):
            fields[threshold.condition.field] = None
    quoted_field = find_quoted_field(suite)
    if quoted_field is not None:
        fields[quoted_field] = None
    return tuple(fields)


def find_quoted_field(suite: Suite) -> str | None:
    """The field in which quotes are looked for; None where no query of *suite* has quotes."""
    return suite.display.text if any(query.quotes for query in suite.queries) else None


def is_per_query(condition: Condition) -> bool:
    """Whether *condition* checks each query by itself."""
    if isinstance(condition, DropCondition):
        return condition.every
    if isinstance(condition, UnresolvedCondition):
        return condition.is_expectation
    if isinstance(condition, HitCount | FieldExpectation):
        return True
    if isinstance(condition, ScoreCondition | AgreementCondition | LossCondition):
        return condition.statistic is StatisticKind.EVERY
    return False


def select(suite: Suite, query_filter: QueryFilter, today: date) -> Selection:
    """
    Select the queries of *suite* that run.

    Args:
        suite: The whole suite.
        query_filter: The queries that the user selected.
        today: Decides which skips are in force; an expired skip is removed from its query in *active*.
    """
    selected_queries: list[Query] = []
    other_queries: list[Query] = []
    active_queries: list[Query] = []
    for query in suite.queries:
        if not query_filter.has(query):
            other_queries.append(query)
            continue
        selected_queries.append(query)
        if query.skip is None:
            active_queries.append(query)
        elif not is_in_force(query.skip, today):
            active_queries.append(replace(query, skip=None))
    selected = suite
    if other_queries or query_filter.selects_part:
        selected = replace(suite, queries=tuple(selected_queries))
    return Selection(suite, selected, tuple(active_queries), tuple(other_queries))


def list_blamed_queries(verdicts: Iterable[Verdict]) -> list[str]:
    """
    The queries blamed for rankings that fall short: the worst of each threshold, then the second of each, and so on.

    A slow query is not among them.
    """
    short = [verdict for verdict in verdicts if verdict.status in FALLS_SHORT and verdict.unit is not Unit.MILLISECONDS]
    return interleave_blamed([verdict.blamed for verdict in short])


def interleave_blamed(blamed: Iterable[Sequence[str]]) -> list[str]:
    """
    The worst query of each threshold, then the second of each, and so on, each query once.

    >>> interleave_blamed([["a", "b"], ["c", "a", "d"]])
    ['a', 'c', 'b', 'd']
    """
    interleaved: dict[str, None] = {}  # a dictionary keeps the order of its keys, and each key once
    for queries_of_one_rank in zip_longest(*blamed):
        for query in queries_of_one_rank:
            if query is not None:
                interleaved[query] = None
    return list(interleaved)


def check_tags(suites: Sequence[Suite], tags: Iterable[str]) -> None:
    """
    Refuse tags that no query of *suites* has.

    Raises:
        UsageError: names every unknown tag, the nearest known one, and the known ones.
    """
    tags_of_queries: set[str] = set()
    for suite in suites:
        for query in suite.queries:
            tags_of_queries.update(query.tags)
    sorted_tags = sorted(tags_of_queries)
    problems = []
    for tag in tags:
        if tag in tags_of_queries:
            continue
        if sorted_tags:
            nearest = did_you_mean(tag, sorted_tags)
            problems.append(f"no query has the tag {tag!r}, known are {', '.join(sorted_tags)}{nearest}")
        else:
            problems.append(f"no query has the tag {tag!r}: no query of these suites has a tag")
    if problems:
        raise UsageError("\n".join(problems))


def check_query_ids(suites: Sequence[Suite], ids: Collection[str]) -> None:
    """
    Refuse ids that no query of *suites* has.

    Raises:
        UsageError: names every unknown id, and the nearest known one.
    """
    ids_of_queries: set[str] = set()
    for suite in suites:
        ids_of_queries.update(query.id for query in suite.queries)
    unknown_ids = [query_id for query_id in ids if query_id not in ids_of_queries]
    problems = [f"no query has the id {query_id!r}{did_you_mean(query_id, ids_of_queries)}" for query_id in unknown_ids]
    if problems:
        raise UsageError("\n".join(problems))


_OPERATOR_WORDS = ((">=", " ge "), ("<=", " le "), (">", " gt "), ("<", " lt "), ("=", " eq "), ("%", "pct "))
_MARKS_OF_A_VARIABLE = re.compile(r"\$\{|:-|\$\$|\}")


def _write_slug(text: str) -> str:
    """
    *text* in letters and digits of any script, `_`, `.` and `-`; a digest stands for other characters beyond ASCII.

    >>> _write_slug("mean P@1 >= 0.5 for 红鞋"), _write_slug("👟")
    ('mean-P-1-ge-0.5-for-红鞋', 'abd4b74f')
    """
    words = _MARKS_OF_A_VARIABLE.sub(" ", normalize("NFC", text))
    for operator, word in _OPERATOR_WORDS:
        words = words.replace(operator, word)
    removed = {character for character in words if not _may_be_in_slug(character)}
    slug = words
    if removed:
        slug = re.sub(f"[{re.escape(''.join(removed))}]+", "-", words)
    slug = slug.strip("-")
    if not slug:
        return _digest(text)
    # Two names may differ only by an emoji or another symbol, and would lose it. Names that differ only by blanks and
    # punctuation are rare, so that a digest for these would only make ids hard to read.
    if not "".join(removed).isascii():
        return f"{slug}-{_digest(text)}"
    return slug


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _may_be_in_slug(character: str) -> bool:
    """Whether *character* is a letter of any script, a mark on one, a digit, `_`, `.` or `-`."""
    return character.isalnum() or character in "_.-" or category(character).startswith("M")
