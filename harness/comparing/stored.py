"""Scores that both sides hold, where no judgments are given. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.comparing.basis import ScoredSides, deepest_ranking, plain_suite
from harness.comparing.depths import Depths
from harness.comparing.sides import ComparedSide, cut_at
from harness.errors import UsageError
from harness.gate.scope import count, listed
from harness.metrics import parse_measure
from harness.metrics.run_scores import measure_named
from harness.model import Gain, Measure, Outcome, Profile, Score, Threshold

__all__ = ["by_stored_scores"]


def by_stored_scores(
    pair: tuple[ComparedSide, ComparedSide], measures: Sequence[Measure], thresholds: Sequence[Threshold]
) -> ScoredSides:
    """
    Take the scores that both sides hold; where one has none, only the rankings are compared.

    Args:
        pair: What is compared.
        measures: What is looked at; all that both hold where it is empty.
        thresholds: What the comparison is held to.

    Raises:
        UsageError: They were made with another gain or profile, or there are none of a measure that was asked for.
    """
    reference, candidate = pair
    profile, gain = reference.profile or candidate.profile, reference.gain or candidate.gain
    suite = plain_suite(pair, profile or Profile.STANDARD, gain or Gain())
    depth = Depths.of(pair, None).common
    runs = (cut_at(reference.run, depth), cut_at(candidate.run, depth))
    suite = replace(suite, thresholds=tuple(thresholds), depth=depth or deepest_ranking(*runs))
    if not reference.scores or not candidate.scores:
        _refuse_without_scores(pair, measures)
        return ScoredSides(suite, runs, ((), ()), depth, (f"{_unscored(pair)}, so only the rankings are compared",))
    _refuse_unlike(pair)
    shared = _shared_measures(pair, [*measures, *filter(None, map(measure_named, thresholds))])
    suite = replace(suite, measures=tuple(measures) or tuple(map(parse_measure, shared)))
    notes = ["the scores are those that both hold", *_judged_otherwise(pair), *_weighed_otherwise(pair)]
    scores = (_judged_by_both(reference, candidate), _judged_by_both(candidate, reference))
    return ScoredSides(suite, runs, scores, depth, tuple(notes))


def _judged_by_both(one: ComparedSide, other: ComparedSide) -> tuple[Score, ...]:
    """
    The scores of *one*, an error for what is undefined there and scored in *other*.

    Whether a score is defined, the judgments alone say. So those of *one* have gone missing, and such a query must not
    be left out as one that nobody ever judged.
    """
    there = {(score.query, score.measure) for score in other.scores if score.value is not None}
    gone = f"undefined, where {other.side.name} has a score: its judgments are gone"
    return tuple(
        replace(score, outcome=Outcome.ERROR, reason=gone)
        if score.outcome is Outcome.UNDEFINED and (score.query, score.measure) in there
        else score
        for score in one.scores
    )


def _unscored(pair: Iterable[ComparedSide]) -> str:
    without = [one.side.name for one in pair if not one.scores]
    return f"{' and '.join(without)} {'have' if len(without) > 1 else 'has'} no scores"


def _refuse_without_scores(pair: Iterable[ComparedSide], measures: Sequence[Measure]) -> None:
    if measures:
        names = ", ".join(measure.text for measure in measures)
        raise UsageError(f"{names} cannot be compared, as {_unscored(pair)}; give --suite or --qrels")


def _refuse_unlike(pair: tuple[ComparedSide, ComparedSide]) -> None:
    first, second = pair
    unlike = [
        f"{what} {ours} and {theirs}"
        for what, ours, theirs in (
            ("gain", str(first.gain), str(second.gain)),
            ("profile", str(first.profile), str(second.profile)),
        )
        if ours != theirs
    ]
    if unlike:
        raise UsageError(
            f"the scores of {first.side.name} and {second.side.name} were made with other rules: "
            f"{', '.join(unlike)}; give --suite or --qrels to score both alike"
        )


def _shared_measures(pair: tuple[ComparedSide, ComparedSide], wanted: Iterable[Measure]) -> list[str]:
    first, second = ({score.measure: None for score in one.scores} for one in pair)
    shared = [measure for measure in first if measure in second]
    lacking = [measure.text for measure in wanted if measure.text not in shared]
    if lacking or not shared:
        held = f"{pair[0].side.name} and {pair[1].side.name} both hold {', '.join(shared) or 'no measure'}"
        others = f", and not {', '.join(dict.fromkeys(lacking))}" if lacking else ""
        raise UsageError(f"{held}{others}; give --suite or --qrels to compute what is wanted")
    return shared


def _judged_otherwise(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    """Scores that were made with other judgments differ for that reason too."""
    first, second = pair
    if first.fingerprints and second.fingerprints:
        both = first.fingerprints.keys() & second.fingerprints.keys()
        changed = sorted(query for query in both if first.fingerprints[query] != second.fingerprints[query])
    elif first.fingerprints or second.fingerprints:
        yield "whether both were judged alike cannot be told; --suite scores both anew"
        return
    else:
        grades = {query.id: query.judgments for query in second.queries}
        changed = [query.id for query in first.queries if _differ(query.judgments, grades.get(query.id, {}))]
    if changed:
        yield (
            f"{count(len(changed), 'query')} not judged alike ({listed(changed)}), so scores may differ for that; "
            "--suite scores both anew"
        )


def _weighed_otherwise(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    before = {query.id: query.weight for query in pair[0].queries}
    changed = [query.id for query in pair[1].queries if before.get(query.id, query.weight) != query.weight]
    if changed:
        yield f"the weights of {pair[1].side.name} hold: {count(len(changed), 'query')} had another ({listed(changed)})"


def _differ(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    return any(first[document] != second[document] for document in first.keys() & second.keys())
