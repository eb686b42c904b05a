"""
Whether a baseline is consistent: the outcome of each query, its ranking and its scores.

A baseline is written by the harness, and then merged by git and sometimes edited. An inconsistent entry is refused.
Scores of queries whose judgments changed since cannot be checked against their rankings. Pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date

from harness import __version__
from harness.baseline.entries import as_run, judgments_fingerprint
from harness.baseline.questions import fits_fingerprint, fits_fingerprints
from harness.errors import BaselineError, MeasureError, UsageError
from harness.gate.grammar import TOLERANCE
from harness.metrics import is_built_in, measure_range, parse_measure, read_gain
from harness.metrics.score import score_of
from harness.model import Baseline, BaselineQuery, Measure, Outcome, Suite
from harness.words import count

OF_A_SCORE = (Outcome.SCORED, Outcome.ZERO_HITS)


def refuse_contradictions(baseline: Baseline, path: str, request: str, suite: Suite | None = None) -> None:
    """
    Refuse a baseline that contradicts itself.

    An unknown measure, of a package that is not installed or of a later version, is not a contradiction. Nor is any
    value of a user's own measure, whose formula may have changed since.

    Args:
        baseline: The baseline, as read.
        path: The path of its file, for the message.
        request: The request of the entry, for the message.
        suite: Gives the judgments to score kept rankings anew, for queries whose judgments did not change. For other
            queries, and where it is None, scores are only checked against the range of their measures.

    Raises:
        BaselineError: Names the request, the first inconsistent query, and the contradiction.
    """
    entry = f"the baseline {path} contradicts itself: request {request}"
    for sentence in _of_entry(baseline):
        raise BaselineError(f"{entry}: {sentence}")
    measures = _measures(baseline)
    scored = {} if suite is None else _scored_anew(baseline, suite, measures)
    reach = _reach(baseline, measures)
    found = [
        (query, sentence)
        for query, kept in baseline.queries.items()
        if (sentence := next(_of_query(kept, baseline, scored.get(query, {}), reach), ""))
    ]
    for query, sentence in found:
        others = f"; and {count(len(found) - 1, 'other query')}" if len(found) > 1 else ""
        raise BaselineError(f"{entry}, query {query}: {sentence}{others}")


def _of_entry(baseline: Baseline) -> Iterator[str]:
    if baseline.depth < 1:
        yield f"its depth is {baseline.depth}"
    yield from _of_state(baseline.created, baseline.index.documents)
    try:
        read_gain(baseline.gain)
    except UsageError as error:
        yield str(error)
    index = baseline.index
    texts = {
        "request": (baseline.request, baseline.template),
        "mapping": (index.mapping_json, index.mapping),
        "settings": (index.settings_json, index.settings),
    }
    for name, (value, digest) in texts.items():
        if value is not None and not fits_fingerprint(value, digest):
            yield f"the fingerprint of its {name} differs"


def _of_state(created: str, documents: int | None) -> Iterator[str]:
    try:
        date.fromisoformat(created)
    except ValueError:
        yield f"its date is {created!r}, expected one such as '2026-05-01'"
    if documents is not None and documents < 0:
        yield f"its index has {documents:,} documents"


def _measures(baseline: Baseline) -> dict[str, Measure]:
    """The measures of the harness that *baseline* has scores of, by their text; others are left out, known or not."""
    found = {}
    for text in {text for kept in baseline.queries.values() for text in kept.scores}:
        with suppress(MeasureError):
            measure = parse_measure(text)
            if is_built_in(measure):
                found[text] = measure
    return found


def _reach(baseline: Baseline, measures: Mapping[str, Measure]) -> dict[str, tuple[float, float]]:
    """The least and the greatest value of each measure."""
    gain = read_gain(baseline.gain)
    ranges = {text: measure_range(measure, gain, baseline.profile) for text, measure in measures.items()}
    return {
        text: (-math.inf if least is None else least, math.inf if greatest is None else greatest)
        for text, (least, greatest) in ranges.items()
    }


def _scored_anew(
    baseline: Baseline, suite: Suite, measures: Mapping[str, Measure]
) -> dict[str, dict[str, float | None]]:
    """New scores of the kept rankings by query and measure, with the entry's gain, where judgments did not change."""
    then = replace(suite, gain=read_gain(baseline.gain), profile=baseline.profile)
    run = as_run(baseline, "", depth=baseline.depth)
    found: dict[str, dict[str, float | None]] = {}
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        if kept is None or kept.judgments != judgments_fingerprint(query):
            continue
        scores = {text: score_of(then, query, measures[text], run) for text in kept.scores if text in measures}
        found[query.id] = {text: score.value for text, score in scores.items() if score.outcome is not Outcome.ERROR}
    return found


def _of_query(
    kept: BaselineQuery,
    baseline: Baseline,
    scored: Mapping[str, float | None],
    reach: Mapping[str, tuple[float, float]],
) -> Iterator[str]:
    """The contradictions in *kept*; *scored* are its ranking's scores, *reach* the ranges, by measure where known."""
    if kept.created is not None:
        yield from _of_state(kept.created, kept.documents)
    elif kept.documents is not None:
        yield "it has the number of documents of an index, and no date"
    yield from _of_numbers(kept)
    yield from _of_outcome(kept)
    yield from _of_ranking(kept, baseline.depth)
    if not fits_fingerprints(kept):
        yield "the fingerprint of its text and params differs"
    version = "" if baseline.harness == __version__ else f" by version {baseline.harness}"
    for measure, value in kept.scores.items():
        if measure in scored:
            if not _same(value, scored[measure]):
                now = _number(scored[measure])
                yield f"its {measure} was kept as {_number(value)}{version}, and its ranking has {now}"
        elif value is not None and not _within(value, reach.get(measure, (-math.inf, math.inf))):
            yield f"its {measure} is {_number(value)}, which is out of range"
    yield from _of_bands(kept)


def _of_numbers(kept: BaselineQuery) -> Iterator[str]:
    for document, score in kept.ranking:
        if score is not None and not math.isfinite(score):
            yield f"the engine's score of {document} is {score}"
    for measure, value in kept.scores.items():
        if value is not None and not math.isfinite(value):
            yield f"its {measure} is {value}"
    if not (math.isfinite(kept.weight) and kept.weight > 0):
        yield f"its weight is {kept.weight}"


def _of_outcome(kept: BaselineQuery) -> Iterator[str]:
    scored = [measure for measure, value in kept.scores.items() if value is not None]
    if kept.outcome not in (*OF_A_SCORE, Outcome.UNDEFINED):
        yield f"{kept.outcome} is not an outcome in a baseline"
    if kept.outcome is Outcome.SCORED and not kept.ranking:
        yield f"it is {kept.outcome}, and its ranking is empty"
    if kept.outcome is Outcome.ZERO_HITS and kept.ranking:
        yield f"it had {kept.outcome}, and its ranking has {count(len(kept.ranking), 'hit')}"
    if kept.outcome is Outcome.UNDEFINED and scored:
        yield f"it is {kept.outcome}, and has a score of {scored[0]}"
    if kept.outcome in OF_A_SCORE and kept.scores and not scored:
        yield f"it is {kept.outcome}, and none of its scores has a value"


def _of_ranking(kept: BaselineQuery, depth: int) -> Iterator[str]:
    times = Counter([*(document for document, _ in kept.ranking), *kept.tail])
    twice = next((document for document, number in times.items() if number > 1), None)
    if twice is not None:
        yield f"its ranking has {twice} {times[twice]} times"
    if len(kept.ranking) > depth:
        yield f"its ranking has {count(len(kept.ranking), 'hit')}, and {depth} were asked for"
    if kept.sort and len(kept.sort) != len(kept.ranking):
        yield f"it has the sort values of {count(len(kept.sort), 'hit')}, and its ranking has {len(kept.ranking)}"
    if kept.tail and (not kept.ranking or (kept.ranking[-1][1] is None and not kept.sort)):
        yield "it has a tail of ties, and no last hit with a score"


def _same(kept: float | None, scored: float | None) -> bool:
    if kept is None or scored is None:
        return kept is scored
    return math.isclose(kept, scored, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] - TOLERANCE <= value <= limits[1] + TOLERANCE


def _of_bands(kept: BaselineQuery) -> Iterator[str]:
    for measure, (least, greatest) in kept.bands.items():
        value = kept.scores.get(measure)
        if value is None:
            yield f"it has a tie band of {measure}, and no score"
        elif not (math.isfinite(greatest - least) and _within(value, (least, greatest))):
            yield f"its {measure} is {_number(value)}, and is not in its tie band from {least} to {greatest}"


def _number(value: float | None) -> str:
    return "no value" if value is None else f"{value:.12g}"
