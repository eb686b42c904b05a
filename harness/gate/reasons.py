"""The parts of a threshold's reason: numbers, and queries with what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from unicodedata import normalize

from harness.gate.scope import holds
from harness.model import Json, Operator, Question
from harness.words import count, listed

_FEWEST_DIGITS = 4
_MOST_DIGITS = 17
_MOST_QUOTED = 120


def number(value: float) -> str:
    """A number as a person would write it: ``0.8``, ``200``, ``0.0001``."""
    return f"{value:.12g}"


def number_beside(observed: float, operator: Operator, required: float) -> str:
    """
    *observed* with four decimals, and with more where four would read as the opposite of what was decided.

    >>> number_beside(0.79996, Operator.AT_LEAST, 0.8)
    '0.79996'
    >>> number_beside(0.73124, Operator.AT_LEAST, 0.8)
    '0.7312'
    >>> number_beside(-0.0, Operator.AT_LEAST, 0.0)
    '0.0000'
    """
    decided = holds(observed, operator, required)
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        shown = f"{observed:z.{digits}f}"
        if holds(float(shown), operator, required) == decided:
            return shown
    return repr(observed)


def mean_word(weights: Mapping[str, float]) -> str:
    """The word for a mean, weighted or not; *weights* are empty where all queries weigh the same."""
    return "weighted mean" if weights else "mean"


def weight_aside(query: str, weights: Mapping[str, float]) -> str:
    """The weight of *query*, to follow its name; empty where all queries weigh the same."""
    return f" (weight {number(weights[query])})" if weights else ""


def by_cause(reasons: Mapping[str, str]) -> str:
    """
    List queries with the reason of each, every reason once.

    >>> by_cause({"a": "timeout", "b": "refused", "c": "timeout"})
    'a, c (timeout), b (refused)'
    """
    queries: dict[str, list[str]] = {}
    for query, reason in reasons.items():
        queries.setdefault(reason, []).append(query)
    return listed([f"{listed(affected)} ({reason})" for reason, affected in queries.items()])


def excused_ties(ties: Sequence[str], mixed: Sequence[str]) -> list[str]:
    """Which queries count as unchanged because only their ties are in another order, and which do so in part."""
    found = []
    if ties:
        found.append(f"only the order of ties changed in {count(len(ties), 'query')}: {listed(ties)}")
    if mixed:
        found.append(f"beside other changes the order of ties changed in {count(len(mixed), 'query')}: {listed(mixed)}")
    return found


def changed_question(query: str, before: Question, now: Question) -> str:
    """
    How the text and params of *query* changed; params that are not known are named only where the texts are the same.

    >>> changed_question("shoes", Question("1", "red shoes"), Question("2", "blue shoes"))
    "shoes (its text was 'red shoes' and is 'blue shoes')"
    """
    said = []
    if before.text != now.text:
        look_alike = normalize("NFC", before.text) == normalize("NFC", now.text)
        write = ascii if look_alike else repr
        said.append("its text was {} and is {}".format(*_where_they_differ(write(before.text), write(now.text))))
    params = _params_text(before.params), _params_text(now.params)
    if params[0] != params[1] and (not said or None not in (before.params, now.params)):
        said.append("its params were {} and are {}".format(*_where_they_differ(*params)))
    if not said:
        large = now.params is None
        said.append("its params, which are too large to be stored" if large else "a variable in it has another value")
    return f"{query} ({', '.join(said)})"


def _params_text(params: Json) -> str:
    return "not known" if params is None else json.dumps(params, ensure_ascii=False, sort_keys=True)


def _where_they_differ(first: str, second: str) -> tuple[str, str]:
    """Both texts; of long ones the part that begins shortly before they differ."""
    if max(len(first), len(second)) <= _MOST_QUOTED:
        return first, second
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    begin = max(0, same - _MOST_QUOTED // 4)
    return _cut(first, begin), _cut(second, begin)


def _cut(text: str, begin: int) -> str:
    end = begin + _MOST_QUOTED
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
