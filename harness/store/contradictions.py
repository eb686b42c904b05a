"""
Whether a baseline is consistent: the outcome of each query, its ranking and its scores.

A baseline is written by the harness, and then merged by git and sometimes edited. An inconsistent entry is refused.
Scores of queries whose judgments changed since cannot be checked against their rankings. Pure.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date

from harness import __version__
from harness.errors import BaselineError, MeasureError, UsageError
from harness.gate.grammar import TOLERANCE
from harness.masking import fingerprint
from harness.metrics import is_built_in, measure_range, parse_measure, read_gain
from harness.metrics.run_scores import score_of
from harness.model.kept import TEXT_PLACEHOLDER, Baseline, KeptQuery
from harness.model.scores import Outcome
from harness.model.suite import Json, Measure, Suite
from harness.store.kept import restore_run
from harness.store.what_changed import fingerprint_judgments
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
    sentence = next(iter(_check_entry(baseline)), None)
    if sentence is not None:
        raise BaselineError(f"{entry}: {sentence}")
    measures = _parse_measures(baseline)
    computed: dict[str, dict[str, float | None]] = {}
    if suite is not None:
        computed = _compute_scores(baseline, suite, measures)
    ranges = _compute_ranges(baseline, measures)
    contradictions = {}
    for query, kept in baseline.queries.items():
        sentences = [
            *_check_query(kept, baseline.depth),
            *_check_scores(kept, baseline, computed.get(query), ranges),
            *_check_depth(kept, baseline.depth),
        ]
        if sentences:
            contradictions[query] = sentences[0]
    if not contradictions:
        return
    query, sentence = next(iter(contradictions.items()))
    others = ""
    if len(contradictions) > 1:
        others = f"; and {count(len(contradictions) - 1, 'other query')}"
    raise BaselineError(f"{entry}, query {query}: {sentence}{others}")


# The entry.


def _check_entry(baseline: Baseline) -> Iterator[str]:
    """The contradictions in what is kept beside the queries, a sentence each."""
    if baseline.depth < 1:
        yield f"its depth is {baseline.depth}"
    yield from _check_state(baseline.created, baseline.index.documents)
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
    for name, (text, digest) in texts.items():
        # A text that was too large to be kept has a fingerprint only.
        if text is not None and not _fits_fingerprint(text, digest):
            yield f"the fingerprint of its {name} differs"


def _check_state(created: str, documents: int | None) -> Iterator[str]:
    """The contradictions in the day of a save, and the number of documents of the index on that day."""
    try:
        date.fromisoformat(created)
    except ValueError:
        yield f"its date is {created!r}, expected one such as '2026-05-01'"
    if documents is not None and documents < 0:
        yield f"its index has {documents:,} documents"


# Queries.


def _check_query(kept: KeptQuery, depth: int) -> Iterator[str]:
    """The contradictions in *kept* apart from its scores, a sentence each; *depth* is the number of hits requested."""
    if kept.created is not None:
        yield from _check_state(kept.created, kept.documents)
    elif kept.documents is not None:
        yield "it has the number of documents of an index, and no date"
    yield from _check_numbers(kept)
    yield from _check_outcome(kept)
    yield from _check_ranking(kept, depth)
    if not _fits_question(kept):
        yield "the fingerprint of its text and params differs"


def _check_numbers(kept: KeptQuery) -> Iterator[str]:
    for document, score in zip(kept.ranking, kept.engine_scores or (), strict=True):
        if score is not None and not math.isfinite(score):
            yield f"the engine's score of {document} is {score}"
    for measure, value in kept.scores.items():
        if value is not None and not math.isfinite(value):
            yield f"its {measure} is {value}"
    if not (math.isfinite(kept.weight) and kept.weight > 0):
        yield f"its weight is {kept.weight}"


def _check_outcome(kept: KeptQuery) -> Iterator[str]:
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


def _check_ranking(kept: KeptQuery, depth: int) -> Iterator[str]:
    for document, times in Counter([*kept.ranking, *kept.tail]).items():
        if times > 1:
            yield f"its ranking has {document} {times} times"
    if len(kept.ranking) > depth:
        yield f"its ranking has {count(len(kept.ranking), 'hit')}, and {depth} were asked for"
    if kept.sort and len(kept.sort) != len(kept.ranking):
        yield f"it has the sort values of {count(len(kept.sort), 'hit')}, and its ranking has {len(kept.ranking)}"
    if kept.tail and (not kept.ranking or ((kept.engine_scores or (None,))[-1] is None and not kept.sort)):
        yield "it has a tail of ties, and no last hit with a score"


def _fits_question(kept: KeptQuery) -> bool:
    """Whether the fingerprints of *kept* are those of its text and params, as far as these are known and not masked."""
    fingerprints = kept.asked.fingerprints
    # Every request uses a value, so one without fingerprints was not written by the harness.
    if not fingerprints:
        return False
    if kept.params is None:
        return True
    if not kept.params.keys() <= fingerprints.keys():
        return False
    values = {**kept.params, TEXT_PLACEHOLDER: kept.text}
    return all(name in values and _fits_fingerprint(values[name], digest) for name, digest in fingerprints.items())


def _fits_fingerprint(value: Json, expected: str | None) -> bool:
    """Whether *expected* is the fingerprint of *value*; true if a part of it is masked, which cannot be checked."""
    return "${" in json.dumps(value) or fingerprint(value) == expected


def _check_depth(kept: KeptQuery, depth: int) -> Iterator[str]:
    """Whether *depth* is the number of hits that were requested, which the ranking says in its own way."""
    hits = count(len(kept.ranking), "hit")
    if kept.short and len(kept.ranking) >= depth:
        yield f"its ranking is kept as shorter than the depth, and has {hits} where the depth is {depth}"
    if not kept.short and len(kept.ranking) < depth:
        yield f"its ranking has {hits} where the depth is {depth}, and is not kept as a short one"


# Scores.


def _parse_measures(baseline: Baseline) -> dict[str, Measure]:
    """The measures of the harness that *baseline* has scores of, by their text; others are left out, known or not."""
    texts: set[str] = set()
    for kept in baseline.queries.values():
        texts.update(kept.scores)
    measures = {}
    for text in texts:
        with suppress(MeasureError):
            measure = parse_measure(text)
            if is_built_in(measure):
                measures[text] = measure
    return measures


def _compute_ranges(baseline: Baseline, measures: Mapping[str, Measure]) -> dict[str, tuple[float, float]]:
    """The least and the greatest value of each measure."""
    gain = read_gain(baseline.gain)
    ranges = {}
    for text, measure in measures.items():
        least, greatest = measure_range(measure, gain, baseline.profile)
        ranges[text] = (-math.inf if least is None else least, math.inf if greatest is None else greatest)
    return ranges


def _compute_scores(
    baseline: Baseline, suite: Suite, measures: Mapping[str, Measure]
) -> dict[str, dict[str, float | None]]:
    """The scores of the kept rankings by query and measure, with the entry's gain, where judgments did not change."""
    suite_then = replace(suite, gain=read_gain(baseline.gain), profile=baseline.profile)
    run = restore_run(baseline, "", depth=baseline.depth)
    computed = {}
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        # A query for which no result is right by now has no score that could be compared with the kept one.
        if kept is None or query.nothing or kept.judgments != fingerprint_judgments(query):
            continue
        values = {}
        for text in kept.scores:
            if text not in measures:
                continue
            score = score_of(suite_then, query, measures[text], run)
            if score.outcome is not Outcome.ERROR:
                values[text] = score.value
        computed[query.id] = values
    return computed


def _check_scores(
    kept: KeptQuery,
    baseline: Baseline,
    computed: Mapping[str, float | None] | None,
    ranges: Mapping[str, tuple[float, float]],
) -> Iterator[str]:
    """
    The contradictions in the scores of *kept*, a sentence each.

    Args:
        kept: The query of the baseline.
        baseline: Its entry.
        computed: The scores of its ranking by measure; None, or without a measure, where they are not known.
        ranges: The least and the greatest value of each known measure.
    """
    version = "" if baseline.harness == __version__ else f" by version {baseline.harness}"
    for measure, value in kept.scores.items():
        if computed is not None and measure in computed:
            if not _are_same(value, computed[measure]):
                computed_text = _format_value(computed[measure])
                yield f"its {measure} was kept as {_format_value(value)}{version}, and its ranking has {computed_text}"
        elif value is not None and measure in ranges and not _is_within(value, ranges[measure]):
            yield f"its {measure} is {_format_value(value)}, which is out of range"
    for measure, (least, greatest) in kept.bands.items():
        value = kept.scores.get(measure)
        if value is None:
            yield f"it has a tie band of {measure}, and no score"
        elif not (math.isfinite(greatest - least) and _is_within(value, (least, greatest))):
            yield f"its {measure} is {_format_value(value)}, and is not in its tie band from {least} to {greatest}"


def _are_same(kept: float | None, computed: float | None) -> bool:
    if kept is None or computed is None:
        return kept is computed
    return math.isclose(kept, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _is_within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] - TOLERANCE <= value <= limits[1] + TOLERANCE


def _format_value(value: float | None) -> str:
    return "no value" if value is None else f"{value:.12g}"
