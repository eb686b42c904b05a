"""
Judgments from clicks: clicks over expected clicks (COEC), with intervals and cut points.

A user clicks a hit that the user has seen and finds attractive; whether it is seen depends on its position. For a query
and a document, the expected clicks are those that an average hit would have had at the same positions::

    expected = sum over positions p of impressions(p) * rate(p)        COEC = clicks / expected

rate(p) is the share of all impressions at p that were clicked. If propensities are given, it is the propensity of p
times a factor that is the same for all p: with it, the expected clicks at all positions with a propensity add up to the
clicks there. COEC is 1 for an average hit. It is 1 by construction for a document that was the only one at each of
its positions, as rate(p) is then its own.

Source: Zhang & Jones (2007), Comparing click logs and editorial labels for training query rewriting; the examination
hypothesis of Craswell et al. (2008), An experimental comparison of click position-bias models. The interval is that of
Wilson (1927) for the share of impressions that were clicked, multiplied by impressions / expected, which is constant
for given positions.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import NoReturn

from harness.drafts.draft import Draft
from harness.drafts.writing import DraftOptions, WrittenFiles, write_drafts, write_files
from harness.errors import UsageError
from harness.extensions.migrate.click_logs import (
    CLICKS,
    ClickLog,
    Documents,
    QueryDocument,
    normalize_text,
    read_csv,
    read_ubi,
)
from harness.extensions.migrate.table import import_table
from harness.files.opening import YAML_SUFFIXES
from harness.files.paths import refuse_repeated
from harness.files.tables import format_json_lines, format_table, is_unwritable
from harness.model.suite import Json, Mark, Profile, Suite
from harness.report.safe_text import printable
from harness.words import count, simplify_number

CUT_POINTS = (0.5, 1.0, 2.0)
LEAST_IMPRESSIONS = 20
_CONFIDENCE = 0.95
LEAST_EXPECTED = 2.0**-900
"""Fewer expected clicks are none: with them, COEC may be too large for a float."""


@dataclass(frozen=True, slots=True)
class ClickModel:
    """How clicks become grades."""

    cut_points: tuple[float, ...] = CUT_POINTS
    """The grade is the number of cut points that COEC reaches."""
    least_impressions: int = LEAST_IMPRESSIONS
    """A document that was shown less often for a query gets no grade."""
    propensities: Mapping[int, float] | None = None
    """Position to the probability that a hit there is seen, up to a common factor; None to estimate click rates."""
    actions: tuple[str, ...] = CLICKS
    """The actions that count as clicks."""

    def grade(self, coec: float) -> int:
        """
        The grade for *coec*: the number of cut points that it reaches.

        >>> [ClickModel().grade(coec) for coec in (0.49, 0.5, 1.9, 2.0)]
        [0, 1, 2, 3]
        """
        return sum(coec >= point for point in self.cut_points)


@dataclass(frozen=True, slots=True)
class ClickedDocument:
    """A document's grade for a query, and the figures that it was computed from."""

    query: str
    document: str
    grade: int
    impressions: int
    clicks: int
    expected: float
    coec: float
    low: float
    """The lower limit of the confidence interval of *coec*; *high* is the upper limit."""
    high: float


def wilson(clicks: int, impressions: int) -> tuple[float, float]:
    """
    The 95 % interval of Wilson (1927) for the share clicks / impressions, without continuity correction.

    Args:
        clicks: At most *impressions*.
        impressions: At least 1.

    Returns:
        The lower and the upper limit, in [0, 1].

    >>> [round(end, 4) for end in wilson(8, 20)]
    [0.2188, 0.6134]
    """
    z_squared = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2) ** 2
    share = clicks / impressions
    scale = 1 + z_squared / impressions
    middle = (share + z_squared / (2 * impressions)) / scale
    half = sqrt(z_squared * (share * (1 - share) + z_squared / (4 * impressions)) / impressions) / scale
    # Rounding may take an end out of the interval from 0 to 1 by a few units in the last place.
    return max(0.0, middle - half), min(1.0, middle + half)


def grade_clicks(log: ClickLog, model: ClickModel) -> tuple[list[ClickedDocument], dict[int, Fraction]]:
    """
    Grade the documents of *log* for its queries. COEC is rounded once, so that it reaches a cut point that it equals.

    Args:
        log: The leftovers of *log* get what is not graded.
        model: How clicks become grades.

    Returns:
        The graded documents, and the click rate at each position that their expected clicks are computed from.

    Raises:
        UsageError: No document that was shown was clicked.
    """
    impressions_by_pair: dict[QueryDocument, Counter[int]] = {}
    for pair, shown in log.shown.items():
        # A share above 1 has no interval. Such a log counts a hit once and each click on it.
        if _count_clicks(log, pair) > shown.total():
            _add_leftover(log, "documents with more clicks than impressions")
        else:
            impressions_by_pair[pair] = shown
    rates = _estimate_rates(log, impressions_by_pair, model)
    documents_at: Counter[int] = Counter()
    for shown in impressions_by_pair.values():
        documents_at.update(position for position, times in shown.items() if times)
    documents = []
    for pair, shown in impressions_by_pair.items():
        impressions, clicks = shown.total(), _count_clicks(log, pair)
        positions = [position for position, times in shown.items() if times]
        without_rate = [position for position in positions if position not in rates]
        if without_rate:
            _add_leftover(log, f"documents at a position without a propensity, such as {without_rate[0]}")
            continue
        if impressions < model.least_impressions:
            _add_leftover(log, _describe_rare(model))
            continue
        exact = sum((shown[position] * rates[position] for position in positions), Fraction(0))
        expected = float(exact)
        if expected < LEAST_EXPECTED:
            _add_leftover(log, "documents at positions where nothing was clicked")
            continue
        coec = clicks * exact.denominator / exact.numerator
        if model.propensities is None and all(documents_at[position] == 1 for position in positions):
            _add_leftover(
                log,
                "what clicks say of documents that were alone at each of their positions: COEC is 1 by construction",
            )
        low, high = (end * impressions / expected for end in wilson(clicks, impressions))
        documents.append(ClickedDocument(*pair, model.grade(coec), impressions, clicks, expected, coec, low, high))
    return documents, rates


def _count_clicks(log: ClickLog, pair: QueryDocument) -> int:
    """The clicks on the document of *pair* for its query, at all positions."""
    return log.clicked.get(pair, Counter()).total()


def _estimate_rates(
    log: ClickLog, impressions_by_pair: Mapping[QueryDocument, Counter[int]], model: ClickModel
) -> dict[int, Fraction]:
    """
    The click rate at each position, from the documents in *impressions_by_pair*.

    Without propensities it is the share of impressions there that were clicked. With propensities it is these, times
    the factor with which the expected clicks add up to the clicks.

    Raises:
        UsageError: There is no click.
    """
    shown: Counter[int] = Counter()
    clicked: Counter[int] = Counter()
    for pair, impressions in impressions_by_pair.items():
        shown.update(impressions)
        clicked.update(log.clicked.get(pair, {}))
    if not clicked.total():
        sentence = "the sources have no click on a document that was shown, so there is nothing to grade by"
        raise UsageError("\n  ".join([sentence, *map(str, log.leftovers.values())]))
    if model.propensities is None:
        return {position: Fraction(clicked[position], times) for position, times in sorted(shown.items()) if times}
    # Fractions of the decimals as written, so that no rounding decides whether COEC reaches a cut point.
    propensities = {position: Fraction(str(value)) for position, value in sorted(model.propensities.items())}
    examined = sum((shown[position] * propensity for position, propensity in propensities.items()), Fraction(0))
    clicks = sum(clicked[position] for position in propensities)
    # See the top of the module.
    factor = clicks / examined if examined else Fraction(0)
    return {position: propensity * factor for position, propensity in propensities.items()}


def _add_leftover(log: ClickLog, what: str) -> None:
    """Note one more occurrence of *what*, which is not graded."""
    log.leftovers.add(Mark(log.source), what)


def read_propensities(path: Path) -> dict[int, float]:
    """
    Read a CSV file with the columns position and propensity.

    Returns:
        Position to propensity.

    Raises:
        InputError: The file cannot be read, a position is not a whole number or is repeated, or a propensity is not
            above 0.
    """
    table = import_table(path)
    position_column = table.require("position", "rank")
    propensity_column = table.require("propensity", "bias", "examination")
    propensities: dict[int, float] = {}
    for row in table.rows:
        position, propensity = row.grade(position_column), row.grade(propensity_column)
        if position is None or position != int(position) or propensity is None or propensity <= 0:
            row.refuse("expected a whole number as position and a number above 0 as propensity")
        if position in propensities:
            row.refuse(f"position {int(position)} has a propensity already; keep one of the two")
        propensities[int(position)] = propensity
    return propensities


@dataclass(frozen=True, slots=True)
class ClickSources:
    """What clicks are read from."""

    kind: str
    """``ubi`` or ``clicks``."""
    names: Sequence[str]
    """Files, or, with *documents*, names of indexes."""
    documents: Documents | None = None
    """The documents of ``ubi``, each with its place; the files are read if None."""

    def read(self, actions: Sequence[str]) -> ClickLog:
        """The impressions, and the clicks, which are events with one of *actions*."""
        if self.kind == "ubi":
            return read_ubi(self.names, actions, documents=self.documents)
        return read_csv(self.names, actions)

    def describe(self) -> list[Json]:
        """The name of each source, with the digest of a file."""
        if self.documents is not None:
            return [{"index": name} for name in self.names]
        return [{"file": name, "sha256": _compute_digest(name)} for name in self.names]


def import_clicks(
    sources: ClickSources, output: Path, model: ClickModel, given: DraftOptions, *, suite: Suite | None = None
) -> WrittenFiles:
    """
    Write grades computed from clicks, and a provenance file that describes how they were computed.

    Args:
        sources: What is read.
        output: A judgment file (.csv or .jsonl), or a suite (.yaml or .yml).
        model: How clicks become grades.
        given: Replaces the name, the index and the request of a new suite.
        suite: Judgments get the ids of its queries, matched by text; judgments of other queries are left out. None to
            keep the texts.

    Returns:
        The files that were written, and what was left out.

    Raises:
        InputError: A source cannot be read.
        UsageError: A source is given twice, no document that was shown was clicked, a file to write exists already or
            cannot be written, or *output* has another suffix.
    """
    refuse_repeated(sources.names, are_files=sources.documents is None)
    log = sources.read(model.actions)
    documents, rates = grade_clicks(log, model)
    if suite is not None:
        documents = _assign_ids(documents, suite, log)
    if not documents:
        _refuse_empty(log, model)
    suffix = output.suffix.lower()
    provenance = {
        output.with_name(f"{output.name}.provenance.json"): _format_provenance(sources, log, model, rates, documents)
    }
    if suffix in YAML_SUFFIXES:
        migrated = write_drafts([_make_draft(documents, output)], output, given, beside=provenance)
        return replace(migrated, leftovers=(*log.leftovers.values(), *migrated.leftovers))
    if suffix == ".csv":
        judgments = _format_judgments_csv(documents, log)
    elif suffix == ".jsonl":
        judgments = format_json_lines(_list_figures(document) for document in documents)
    else:
        raise UsageError(f"{output}: expected a file .csv or .jsonl for judgments, or .relevance.yaml for a suite")
    files = {output: judgments, **provenance}
    write_files(files)
    return WrittenFiles(tuple(files), tuple(log.leftovers.values()))


def _refuse_empty(log: ClickLog, model: ClickModel) -> NoReturn:
    """Raise UsageError, with why no document has a grade."""
    sentence = "no document gets a grade, so nothing was written"
    rare = sum(leftover.count for leftover in log.leftovers.values() if leftover.what == _describe_rare(model))
    if rare:
        least = count(model.least_impressions, "impression")
        sentence += (
            f": {count(rare, 'document')} had fewer than {least} for the query; --least-impressions sets another number"
        )
    raise UsageError("\n  ".join([sentence, *map(str, log.leftovers.values())]))


def _describe_rare(model: ClickModel) -> str:
    return f"documents with fewer than {count(model.least_impressions, 'impression')} for their query"


def _assign_ids(documents: Sequence[ClickedDocument], suite: Suite, log: ClickLog) -> list[ClickedDocument]:
    """*documents* with the ids of the queries of *suite* with the same texts; without those of other queries."""
    ids: dict[str, str] = {}
    for query in suite.queries:
        if query.text and ids.setdefault(normalize_text(query.text), query.id) != query.id:
            _add_leftover(log, f"queries of {suite.path} with the text of another one, which gets the grades")
    documents_of_suite = []
    for document in documents:
        query_id = ids.get(normalize_text(document.query))
        if query_id is None:
            _add_leftover(log, f"documents of queries that {suite.path} does not have")
        else:
            documents_of_suite.append(replace(document, query=query_id))
    return documents_of_suite


def _make_draft(documents: Sequence[ClickedDocument], output: Path) -> Draft:
    draft = Draft(Profile.STANDARD)
    for document in documents:
        query = draft.find_or_add_text(document.query)
        draft.add_judgment(query, document.document, document.grade, Mark(str(output)))
    return draft


_COLUMNS = ("query", "document", "grade", "impressions", "clicks", "expected", "coec", "low", "high")


def _format_judgments_csv(documents: Sequence[ClickedDocument], log: ClickLog) -> str:
    rows = []
    for document in documents:
        if is_unwritable(document.query) or is_unwritable(document.document):
            _add_leftover(log, "documents and queries with control characters, which CSV does not keep")
            continue
        counts = [document.grade, document.impressions, document.clicks]
        figures = (document.expected, document.coec, document.low, document.high)
        six_digits = [simplify_number(float(f"{figure:.6g}")) for figure in figures]
        rows.append([document.query, document.document, *counts, *six_digits])
    return format_table(_COLUMNS, rows)


def _list_figures(document: ClickedDocument) -> dict[str, Json]:
    """*document* as an object of JSON, with figures of at most 6 decimals."""
    figures: dict[str, Json] = {}
    for name in _COLUMNS:
        value = getattr(document, name)
        figures[name] = round(value, 6) if isinstance(value, float) else value
    return figures


def _format_provenance(
    sources: ClickSources,
    log: ClickLog,
    model: ClickModel,
    rates: Mapping[int, Fraction],
    documents: Sequence[ClickedDocument],
) -> str:
    """JSON with everything that is needed to compute the grades again."""
    uncertain = [document for document in documents if model.grade(document.low) != model.grade(document.high)]
    left_out = [{"what": printable(leftover.what), "times": leftover.count} for leftover in log.leftovers.values()]
    content: dict[str, Json] = {
        "model": "COEC: clicks / sum over positions of impressions * click rate of the position",
        "sources": sources.describe(),
        "impressions_from": log.basis,
        "click_actions": list(model.actions),
        "position_bias": "estimated from the log" if model.propensities is None else "given",
        "click_rate_by_position": {str(position): float(rate) for position, rate in rates.items()},
        "interval": f"Wilson, {_CONFIDENCE:.0%}, of clicks of impressions, times impressions / expected",
        "least_impressions": model.least_impressions,
        "grade_cut_points": list(model.cut_points),
        "judgments": len(documents),
        "grade_uncertain": len(uncertain),
        "left_out": left_out,
    }
    return json.dumps(content, indent=2) + "\n"


def _compute_digest(source: str) -> str:
    with Path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
