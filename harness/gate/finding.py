"""What is found about a threshold: the scores that count for it, how numbers compare, and the parts of a reason."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from unicodedata import normalize

from harness.gate.grammar import TOLERANCE
from harness.means import are_weighted
from harness.model.kept import Question
from harness.model.run import Cause, ComparedRun, Status, Unit
from harness.model.scores import Outcome, Score, ScoreTable
from harness.model.suite import Json, Operator, Query, is_in_force
from harness.words import count, grouped, listed

_FEWEST_DIGITS = 4
_MOST_DIGITS = 17
_MOST_QUOTED = 120


@dataclass(frozen=True, slots=True)
class Finding:
    """
    The outcome of a threshold's condition, before waivers.

    *caveat* is a part of the reason: why a pass means less than it seems to.
    """

    status: Status
    reason: str
    observed: float | None = None
    required: float | None = None
    measure: str | None = None
    blamed: tuple[str, ...] = ()
    counted: int = 0
    left_out: int = 0
    unit: Unit | None = None
    caveat: str = ""
    operator: Operator | None = None
    ties: tuple[float, float] | None = None
    repeats: tuple[float, float] | None = None
    spread: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    if_judged: tuple[float, float] | None = None
    runs: tuple[ComparedRun, ...] = ()
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """
    The scores of one measure over the queries of one threshold, grouped by how they count.

    *counted* maps a query's id to its value; *zero_hits* are the counted queries without hits. *unanswered* maps a
    query's id to what went wrong; *undefined* and *skipped* hold ids. *weights* are those of the counted queries, empty
    where they all weigh the same.
    """

    counted: Mapping[str, float]
    zero_hits: tuple[str, ...]
    unanswered: Mapping[str, str]
    undefined: tuple[str, ...]
    skipped: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many queries the threshold is about."""
        return len(self.counted) + len(self.unanswered) + len(self.undefined) + len(self.skipped)

    @property
    def no_score(self) -> str:
        """Which queries are unanswered, and why, in words."""
        size = count(self.size, "query")
        return f"no score for {len(self.unanswered):,} of {size}: {list_by_cause(self.unanswered)}"


def scope_scores(queries: Sequence[Query], measure: str, scores: ScoreTable, today: date) -> Scope:
    """
    Group *queries* by their scores of *measure*: those with one, and those that are unanswered, undefined or skipped.

    Args:
        queries: The queries that the threshold is about.
        measure: The measure's canonical text.
        scores: All scores of the run.
        today: Decides which skips are in force.

    Returns:
        Every query in exactly one group. A score that is absent or not a finite number is unanswered, never 0.
    """
    counted: dict[str, float] = {}
    unanswered: dict[str, str] = {}
    undefined, skipped, zero_hits = [], [], []
    for query in queries:
        score = scores.get(query.id, {}).get(measure)
        if is_in_force(query.skip, today):
            skipped.append(query.id)
        elif score is not None and score.outcome is Outcome.UNDEFINED:
            undefined.append(query.id)
        elif score is None or score.value is None or not math.isfinite(score.value):
            unanswered[query.id] = _explain_missing(score)
        else:
            counted[query.id] = score.value
            if score.outcome is Outcome.ZERO_HITS:
                zero_hits.append(query.id)
    weights = read_weights(queries, counted)
    return Scope(counted, tuple(zero_hits), unanswered, tuple(undefined), tuple(skipped), weights)


def split_skipped(queries: Sequence[Query], today: date) -> tuple[list[Query], tuple[str, ...]]:
    """Those of *queries* that count, and the ids of those that a skip in force leaves out."""
    active: list[Query] = []
    skipped: list[str] = []
    for query in queries:
        if is_in_force(query.skip, today):
            skipped.append(query.id)
        else:
            active.append(query)
    return active, tuple(skipped)


def read_weights(queries: Sequence[Query], counted: Collection[str]) -> dict[str, float]:
    """The weights of those *queries* whose ids are in *counted*; empty where they all weigh the same."""
    weights = {query.id: query.weight for query in queries if query.id in counted}
    if not are_weighted(weights.values()):
        return {}
    return weights


def _explain_missing(score: Score | None) -> str:
    """Why *score* is no number that can be compared."""
    if score is None or score.outcome is Outcome.SKIPPED:
        return "did not run"
    if score.value is not None:
        return f"the score is {score.value}, which is not a finite number"
    if score.reason:
        return score.reason
    return str(score.outcome)


def is_met(observed: float, operator: Operator, required: float) -> bool:
    """
    Whether the comparison of *observed* with *required* by *operator* holds.

    >>> is_met(0.1 + 0.2, Operator.AT_MOST, 0.3), is_met(0.1 + 0.2, Operator.ABOVE, 0.3)
    (True, False)
    """
    if operator is Operator.EQUAL:
        return abs(observed - required) <= TOLERANCE
    if operator is Operator.AT_LEAST:
        return observed >= required - TOLERANCE
    if operator is Operator.AT_MOST:
        return observed <= required + TOLERANCE
    if operator is Operator.ABOVE:
        return observed > required + TOLERANCE
    return observed < required - TOLERANCE


def compute_merit(observed: float, operator: Operator, required: float) -> float:
    """A number to sort values by: the greater, the better *observed* meets the comparison."""
    if operator is Operator.EQUAL:
        return -abs(observed - required)
    if operator in (Operator.AT_LEAST, Operator.ABOVE):
        return observed
    return -observed


# The parts of a reason: numbers, and queries with what is wrong with them.


def format_number(value: float) -> str:
    """A number as a person would write it: ``0.8``, ``200``, ``0.0001``."""
    return f"{value:.12g}"


def format_observed(observed: float, operator: Operator, required: float) -> str:
    """
    *observed* with four decimals, and with more where four would read as the opposite of what was decided.

    >>> format_observed(0.79996, Operator.AT_LEAST, 0.8)
    '0.79996'
    >>> format_observed(0.73124, Operator.AT_LEAST, 0.8)
    '0.7312'
    >>> format_observed(-0.0, Operator.AT_LEAST, 0.0)
    '0.0000'
    """
    decision = is_met(observed, operator, required)
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        text = f"{observed:z.{digits}f}"  # "z" writes 0.0000 where a number is rounded to -0.0000
        if is_met(float(text), operator, required) == decision:
            return text
    return repr(observed)


def describe_if_judged(low: float, high: float) -> str:
    """
    How far the unjudged hits of two runs may move the difference of their means.

    >>> describe_if_judged(-0.3346, 0.0)
    'the difference may be -0.3346 to 0.0000 if the unjudged hits are the worst or the best'
    """
    low_text = _format_difference(low)
    high_text = _format_difference(high)
    return f"the difference may be {low_text} to {high_text} if the unjudged hits are the worst or the best"


def _format_difference(difference: float) -> str:
    """*difference* with its sign and four decimals; 0.0000, without a sign, if it is rounded to 0."""
    if abs(difference) < 5e-5:
        return "0.0000"
    return f"{difference:+.4f}"


def name_mean(weights: Mapping[str, float]) -> str:
    """The word for a mean, weighted or not; *weights* are empty where all queries weigh the same."""
    return "weighted mean" if weights else "mean"


def format_weight(query: str, weights: Mapping[str, float]) -> str:
    """The weight of *query*, to follow its name; empty where all queries weigh the same."""
    return f" (weight {format_number(weights[query])})" if weights else ""


def list_by_cause(reasons: Mapping[str, str]) -> str:
    """
    List queries with the reason of each, every reason once.

    >>> list_by_cause({"a": "timeout", "b": "refused", "c": "timeout"})
    'a, c (timeout), b (refused)'
    """
    queries_by_reason = grouped((reason, query) for query, reason in reasons.items())
    return listed([f"{listed(queries)} ({reason})" for reason, queries in queries_by_reason.items()])


def describe_undefined(undefined: Sequence[str], size: int) -> str:
    """That queries have no defined score, of the *size* that there are, and what to do about it."""
    return (
        f"is undefined for {len(undefined)} of {count(size, 'query')}: {listed(undefined)}; "
        "judge a relevant document for each, or set `undefined: skip` to leave such queries out"
    )


def describe_left_out(skipped: Sequence[str], undefined: Sequence[str] = ()) -> str:
    """
    How many queries are left out, and why; empty where none is.

    >>> describe_left_out(["a", "b"], ["c"])
    '2 skipped, 1 undefined'
    """
    parts = []
    if skipped:
        parts.append(f"{len(skipped)} skipped")
    if undefined:
        parts.append(f"{len(undefined)} undefined")
    return ", ".join(parts)


def explain_nothing_left(skipped: Sequence[str], undefined: Sequence[str] = ()) -> str:
    """Why a threshold has nothing to decide, where it has no query but those that are left out."""
    left_out = describe_left_out(skipped, undefined)
    if not left_out:
        return "no query is in its scope"
    return f"every query is left out ({left_out})"


def add_left_out(finding: Finding, skipped: Sequence[str], undefined: Sequence[str] = ()) -> Finding:
    """*finding*, whose reason also says how many queries are left out, as it was found without them."""
    left_out = describe_left_out(skipped, undefined)
    if not left_out:
        return finding
    return replace(finding, reason=f"{finding.reason}; left out: {left_out}")


def describe_tie_changes(only_ties: Sequence[str], ties_and_more: Sequence[str]) -> list[str]:
    """Which queries count as unchanged because only their ties are in another order, and which do so in part."""
    sentences = []
    if only_ties:
        sentences.append(f"only the order of ties changed in {count(len(only_ties), 'query')}: {listed(only_ties)}")
    if ties_and_more:
        size = count(len(ties_and_more), "query")
        sentences.append(f"beside other changes the order of ties changed in {size}: {listed(ties_and_more)}")
    return sentences


def describe_changed_question(query: str, before: Question, now: Question) -> str:
    """
    How the text and params of *query* changed; params that are not known are named only where the texts are the same.

    Params that only one of two different requests uses did not change.

    >>> describe_changed_question("shoes", Question("1", "red shoes"), Question("2", "blue shoes"))
    "shoes (its text was 'red shoes' and is 'blue shoes')"
    """
    changes = []
    if before.text != now.text:
        old_text, new_text = repr(before.text), repr(now.text)
        if normalize("NFC", before.text) == normalize("NFC", now.text):
            # Two Unicode forms of the same letters look alike: only their escapes show the difference.
            old_text, new_text = ascii(before.text), ascii(now.text)
        old_text, new_text = _shorten_both(old_text, new_text)
        changes.append(f"its text was {old_text} and is {new_text}")
    are_params_known = before.params is not None and now.params is not None
    old_params = _format_params(before.params, now.params)
    new_params = _format_params(now.params, before.params)
    if old_params != new_params and (are_params_known or not changes):
        old_params, new_params = _shorten_both(old_params, new_params)
        changes.append(f"its params were {old_params} and are {new_params}")
    if not changes and now.params is None:
        changes.append("its params, which are too large to be stored")
    elif not changes:
        changes.append("a variable in it has another value")
    return f"{query} ({', '.join(changes)})"


def _format_params(params: Json, params_of_other: Json) -> str:
    """*params* as text, without those that the other run lacks; a run whose params are not known lacks none."""
    if params is None:
        return "not known"
    if params_of_other is not None:
        params = {name: value for name, value in params.items() if name in params_of_other}
    return json.dumps(params, ensure_ascii=False, sort_keys=True)


def _shorten_both(first: str, second: str) -> tuple[str, str]:
    """Both texts; of long ones the part that begins shortly before they differ."""
    if max(len(first), len(second)) <= _MOST_QUOTED:
        return first, second
    same_characters = 0
    for first_character, second_character in zip(first, second, strict=False):
        if first_character != second_character:
            break
        same_characters += 1
    begin = max(0, same_characters - _MOST_QUOTED // 4)
    return _quote_part(first, begin), _quote_part(second, begin)


def _quote_part(text: str, begin: int) -> str:
    """The part of *text* from *begin* on that is quoted, with an ellipsis where text is left out."""
    end = begin + _MOST_QUOTED
    part = text[begin:end]
    if begin > 0:
        part = f"…{part}"
    if end < len(text):
        part = f"{part}…"
    return part
