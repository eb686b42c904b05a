"""
Judgments from clicks: clicks over expected clicks (COEC), with intervals and cut points.

A user clicks a hit that the user has seen and finds attractive; whether it is seen depends on its position. For a query
and a document, the expected clicks are those that an average hit would have had at the same positions::

    expected = sum over positions p of impressions(p) * rate(p)        COEC = clicks / expected

rate(p) is the share of all impressions at p that were clicked. If propensities are given, it is the propensity of p
times a factor that is the same for all p: with it, the expected clicks at all positions with a propensity add up to the
clicks there. COEC is 1 for an average hit.

Source: Zhang & Jones (2007), Comparing click logs and editorial labels for training query rewriting; the examination
hypothesis of Craswell et al. (2008), An experimental comparison of click position-bias models. The interval is that of
Wilson (1927) for the share of impressions that were clicked, multiplied by impressions / expected, which is constant
for given positions.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from pathlib import Path
from statistics import NormalDist

from harness.errors import UsageError
from harness.files.records import for_spreadsheets, mark_as_text
from harness.migrate import ImportOptions, MigrationResult, refuse_repeated, write_drafts, write_files
from harness.migrate.click_logs import CLICKS, ClickLog, Documents, Pair, normalized_text, read_csv, read_ubi
from harness.migrate.draft import Draft, Leftover
from harness.migrate.exported import json_lines
from harness.migrate.table import csv_text, read_table, unwritable
from harness.model import Json, Mark, Profile, Suite
from harness.report.sentences import printable

CUT_POINTS = (0.5, 1.0, 2.0)
LEAST_IMPRESSIONS = 20
CONFIDENCE = 0.95
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
    z2 = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
    share, spread = clicks / impressions, 1 + z2 / impressions
    middle = (share + z2 / (2 * impressions)) / spread
    half = sqrt(z2 * (share * (1 - share) + z2 / (4 * impressions)) / impressions) / spread
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
    sound = {pair: shown for pair, shown in log.shown.items() if _clicks(log, pair) <= shown.total()}
    for _ in range(len(log.shown) - len(sound)):
        _leave(log, "documents with more clicks than impressions")
    rates = _rates(log, sound, model)
    found = []
    for pair, shown in sound.items():
        impressions, clicks = shown.total(), _clicks(log, pair)
        if missing := [position for position, count in shown.items() if count and position not in rates]:
            _leave(log, f"documents at a position without a propensity, such as {missing[0]}")
        elif impressions < model.least_impressions:
            _leave(log, f"documents with fewer than {model.least_impressions} impressions for their query")
        elif (expected := float(exact := _expected(shown, rates))) < LEAST_EXPECTED:
            _leave(log, "documents at positions where nothing was clicked")
        else:
            coec = clicks * exact.denominator / exact.numerator
            low, high = (end * impressions / expected for end in wilson(clicks, impressions))
            found.append(ClickedDocument(*pair, model.grade(coec), impressions, clicks, expected, coec, low, high))
    return found, rates


def _clicks(log: ClickLog, pair: Pair) -> int:
    return log.clicked.get(pair, Counter()).total()


def _expected(shown: Mapping[int, int], rates: Mapping[int, Fraction]) -> Fraction:
    return sum((count * rates[position] for position, count in shown.items() if count), Fraction(0))


def _rates(log: ClickLog, counted: Mapping[Pair, Counter[int]], model: ClickModel) -> dict[int, Fraction]:
    """The click rate at each position, from the documents in *counted*."""
    shown = _by_position(counted.values())
    clicked = _by_position(log.clicked[pair] for pair in counted if pair in log.clicked)
    if not clicked.total():
        sentence = "the sources have no click on a document that was shown, so there is nothing to grade by"
        raise UsageError("\n  ".join([sentence, *map(str, log.leftovers.values())]))
    if model.propensities is None:
        return {position: Fraction(clicked[position], count) for position, count in sorted(shown.items()) if count}
    propensities = {position: Fraction(str(given)) for position, given in sorted(model.propensities.items())}
    seen = sum(count * propensities.get(position, 0) for position, count in shown.items())
    known = sum(count for position, count in clicked.items() if position in propensities)
    factor = Fraction(known, seen) if seen else Fraction(0)
    return {position: propensity * factor for position, propensity in propensities.items()}


def _by_position(counts: Iterable[Counter[int]]) -> Counter[int]:
    total: Counter[int] = Counter()
    for one in counts:
        total.update(one)
    return total


def _leave(log: ClickLog, what: str) -> None:
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
    table = read_table(path)
    position, propensity = table.need("position", "rank"), table.need("propensity", "bias", "examination")
    found: dict[int, float] = {}
    for row in table.rows:
        at, value = row.grade(position), row.grade(propensity)
        if at is None or at != int(at) or value is None or value <= 0:
            row.refuse("expected a whole number as position and a number above 0 as propensity")
        if at in found:
            row.refuse(f"position {int(at)} has a propensity already; keep one of the two")
        found[int(at)] = value
    return found


def import_clicks(
    kind: str,
    sources: Sequence[str],
    output: Path,
    model: ClickModel,
    given: ImportOptions,
    *,
    suite: Suite | None = None,
    documents: Documents | None = None,
) -> MigrationResult:
    """
    Write grades computed from clicks, and a provenance file that describes how they were computed.

    Args:
        kind: ``ubi`` or ``clicks``.
        sources: Files, or, for ``ubi`` with *documents*, names of indexes.
        output: A judgment file (.csv or .jsonl), or a suite (.yaml or .yml).
        model: How clicks become grades.
        given: Replaces the name, the index and the request of a new suite.
        suite: Judgments get the ids of its queries, matched by text; judgments of other queries are left out. None to
            keep the texts.
        documents: The documents of *sources*, each with its place; the files are read if None.

    Returns:
        The files that were written, and what was left out.

    Raises:
        InputError: A source cannot be read.
        UsageError: A source is given twice, no document that was shown was clicked, a file to write exists already or
            cannot be written, or *output* has another suffix.
    """
    refuse_repeated(sources, are_files=documents is None)
    log = read_ubi(sources, model.actions, documents=documents) if kind == "ubi" else read_csv(sources, model.actions)
    found, rates = grade_clicks(log, model)
    if suite is not None:
        found = _with_ids(found, suite, log)
    suffix = output.suffix.lower()
    provenance = output.with_name(f"{output.name}.provenance.json")
    names = [{"index": one} if documents is not None else {"file": one, "sha256": _digest(one)} for one in sources]
    texts = {provenance: _provenance(names, log, model, rates, found)}
    if suffix in (".yaml", ".yml"):
        migrated = write_drafts([_draft(found, output)], output, given, beside=texts)
        return replace(migrated, leftovers=(*log.leftovers.values(), *migrated.leftovers))
    if suffix not in (".csv", ".jsonl"):
        raise UsageError(f"{output}: expected a file .csv or .jsonl for judgments, or .relevance.yaml for a suite")
    files = {output: (_csv(found, log) if suffix == ".csv" else _lines(found)), **texts}
    write_files(files)
    return MigrationResult(tuple(files), tuple(log.leftovers.values()))


def _with_ids(found: Sequence[ClickedDocument], suite: Suite, log: ClickLog) -> list[ClickedDocument]:
    """*found* with the ids of the queries of *suite* that have the same texts; without documents of other queries."""
    ids: dict[str, str] = {}
    for query in suite.queries:
        if query.text and ids.setdefault(normalized_text(query.text), query.id) != query.id:
            _leave(log, f"queries of {suite.path} with the text of another one, which gets the grades")
    kept = []
    for one in found:
        identity = ids.get(normalized_text(one.query))
        if identity is None:
            _leave(log, f"documents of queries that {suite.path} does not have")
        else:
            kept.append(replace(one, query=identity))
    return kept


def _draft(found: Sequence[ClickedDocument], output: Path) -> Draft:
    draft = Draft(Profile.STANDARD)
    for one in found:
        draft.judge(draft.of_text(one.query), one.document, one.grade, Mark(str(output)))
    return draft


_COLUMNS = ("query", "document", "grade", "impressions", "clicks", "expected", "coec", "low", "high")


def _csv(found: Sequence[ClickedDocument], log: ClickLog) -> str:
    rows = []
    for one in found:
        if unwritable(one.query) or unwritable(one.document):
            _leave(log, "documents and queries with control characters, which CSV does not keep")
            continue
        figures = [f"{value:.6g}" for value in (one.expected, one.coec, one.low, one.high)]
        counts = [str(value) for value in (one.grade, one.impressions, one.clicks)]
        rows.append([mark_as_text(one.query), mark_as_text(one.document), *counts, *figures])
    return for_spreadsheets(csv_text(_COLUMNS, rows))


def _lines(found: Sequence[ClickedDocument]) -> str:
    return json_lines(
        {name: round(value, 6) if isinstance(value := getattr(one, name), float) else value for name in _COLUMNS}
        for one in found
    )


def _provenance(
    sources: Json, log: ClickLog, model: ClickModel, rates: Mapping[int, Fraction], found: Sequence[ClickedDocument]
) -> str:
    """JSON with everything that is needed to compute the grades again."""
    uncertain = sum(model.grade(one.low) != model.grade(one.high) for one in found)
    content: dict[str, Json] = {
        "model": "COEC: clicks / sum over positions of impressions * click rate of the position",
        "sources": sources,
        "impressions_from": log.basis,
        "click_actions": list(model.actions),
        "position_bias": "estimated from the log" if model.propensities is None else "given",
        "click_rate_by_position": {str(position): float(rate) for position, rate in rates.items()},
        "interval": f"Wilson, {CONFIDENCE:.0%}, of clicks of impressions, times impressions / expected",
        "least_impressions": model.least_impressions,
        "grade_cut_points": list(model.cut_points),
        "judgments": len(found),
        "grade_uncertain": uncertain,
        "left_out": [_leftover(one) for one in log.leftovers.values()],
    }
    return json.dumps(content, indent=2) + "\n"


def _leftover(one: Leftover) -> Json:
    return {"what": printable(one.what), "times": one.count}


def _digest(source: str) -> str:
    with Path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
