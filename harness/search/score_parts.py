"""The explanation of a score, as Elasticsearch and OpenSearch give it -> the parts that add up to the score. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.model import Json, PartDifference, PartKind, ScoreFactor, ScorePart
from harness.search.hits import MalformedAnswer, make_excerpt
from harness.words import grouped

EXACT = 1e-5
"""
Relative; how far the sum of parts may differ from the engine's value, which is computed with 32-bit floats. A part
whose sum differs more is not taken apart.
"""

LONGEST_CLAUSE = 160
"""Characters of a clause that are shown, of its JSON or of the engine's description."""

Factors = tuple[ScoreFactor, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """One node of an explanation."""

    value: float
    description: str
    details: tuple[_Node, ...]

    def component(self, *names: str) -> _Node | None:
        """The first node below whose description begins with one of *names*."""
        return next((node for node in self.walk() if node.description.startswith(names)), None)

    def walk(self) -> Iterator[_Node]:
        """All nodes below, depth first."""
        for node in self.details:
            yield node
            yield from node.walk()


def find_score_parts(tree: Json) -> tuple[float, tuple[ScorePart, ...]]:
    """
    The score that *tree* explains, and its parts, the greatest first.

    Sums, the maximum of several with or without a tie breaker, and products are taken apart down to terms of fields.
    A clause that the engine does not explain further is one part, named by its kind.

    Raises:
        MalformedAnswer: *tree* is no explanation.
    """
    root = _read_node(tree)
    parts = [part for part in _list_parts(root, ()) if part.value]  # a filter adds nothing
    if not _is_near(math.fsum(part.score for part in parts), root.value):
        parts = [_make_whole_part(root, ())]
    return root.value, tuple(sorted(parts, key=lambda part: -part.score))


def find_part_differences(first: Iterable[ScorePart], second: Iterable[ScorePart]) -> tuple[PartDifference, ...]:
    """What each clause adds to two scores, the largest difference first."""
    ours, theirs = _sum_by_clause(first), _sum_by_clause(second)
    found = [
        PartDifference(
            clause, ours.get(clause, 0.0), theirs.get(clause, 0.0), ours.get(clause, 0.0) - theirs.get(clause, 0.0)
        )
        for clause in dict.fromkeys([*ours, *theirs])
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.difference)))


def _sum_by_clause(parts: Iterable[ScorePart]) -> dict[str, float]:
    scores = grouped((part.clause, part.score) for part in parts)
    return {clause: math.fsum(found) for clause, found in scores.items()}


def _read_node(tree: Json) -> _Node:
    if not isinstance(tree, Mapping):
        raise MalformedAnswer("an explanation should be an object")
    value, details = tree.get("value"), tree.get("details", [])
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(details, list):
        raise MalformedAnswer("an explanation should have a number as `value` and a list as `details`")
    return _Node(float(value), str(tree.get("description", "")), tuple(map(_read_node, details)))


def _is_near(found: float, said: float) -> bool:
    return math.isclose(found, said, rel_tol=EXACT, abs_tol=EXACT)


# Each function takes one form of explanation apart, and gives None for any other.


def _list_parts(node: _Node, factors: Factors) -> Iterator[ScorePart]:
    for take_apart in (
        _take_function,
        _take_weight,
        _take_sum,
        _take_best,
        _take_product,
        _take_average,
        _take_least,
        _take_wrapper,
    ):
        found = take_apart(node)
        if found is not None:
            for child, more in found:
                yield from _list_parts(child, (*factors, *more))
            return
    yield _make_term_part(node, factors) or _make_whole_part(node, factors)


Taken = Sequence[tuple[_Node, Factors]]

_MULTIPLIED_BY: Mapping[str, str] = {
    "primaryWeight": "query_weight",
    "secondaryWeight": "rescore_query_weight",
    "min of:": "function score",
}
"""The words of a request for terms that an explanation names differently."""


def _take_function(node: _Node) -> Taken | None:
    """A query whose score is multiplied by a function."""
    if node.description == "function score, product of:" and len(node.details) == 2 and _is_function(node.details[1]):
        return _take_multiplied(node)
    return None


def _is_function(node: _Node) -> bool:
    """Whether it is the value of the functions of a function_score, which an engine limits by `max_boost`."""
    return node.description.startswith("min of") and any(one.description == "maxBoost" for one in node.details)


def _take_weight(node: _Node) -> Taken | None:
    if node.description.startswith("weight(FunctionScoreQuery") and len(node.details) == 1:
        return [(node.details[0], ())]
    return None


def _take_sum(node: _Node) -> Taken | None:
    if not re.match(r"sum of:?$", node.description):
        return None
    return (
        [(one, ()) for one in node.details]
        if _is_near(math.fsum(one.value for one in node.details), node.value)
        else None
    )


def _take_best(node: _Node) -> Taken | None:
    """The best of several counts, and a share of each other one if there is a tie breaker."""
    found = re.match(r"max(?: plus ([\d.eE+-]+) times others)? of:?$", node.description)
    if found is None or not node.details:
        return None
    best = max(node.details, key=lambda one: one.value)
    rest = ScoreFactor("tie_breaker", float(found[1])) if found[1] else ScoreFactor("not the best", 0.0)
    taken = [(one, () if one is best else (rest,)) for one in node.details]
    return taken if _is_near(_sum_taken(taken), node.value) else None


def _take_product(node: _Node) -> Taken | None:
    return _take_multiplied(node) if re.match(r"product of:?$", node.description) and node.details else None


def _take_multiplied(node: _Node) -> Taken | None:
    scored, *others = node.details
    factors = tuple(
        ScoreFactor(_MULTIPLIED_BY.get(one.description) or _name_factor(one.description), one.value) for one in others
    )
    taken = [(scored, factors)]
    return taken if _is_near(_sum_taken(taken), node.value) else None


def _name_factor(description: str) -> str:
    return "negative_boost" if description.startswith("Matched boosting query") else make_excerpt(description, 60)


def _take_average(node: _Node) -> Taken | None:
    if not re.match(r"avg of:?$", node.description):
        return None
    share = ScoreFactor("average", 1 / len(node.details))
    taken = [(one, (share,)) for one in node.details]
    return taken if _is_near(_sum_taken(taken), node.value) else None


def _take_least(node: _Node) -> Taken | None:
    """The lesser of a query and a function counts."""
    if not node.description.startswith("min of") or _is_function(node):
        return None
    least = min(node.details, key=lambda one: one.value, default=None)
    return None if least is None or not _is_near(least.value, node.value) else [(least, ())]


def _take_wrapper(node: _Node) -> Taken | None:
    """A node with the same value as its only child."""
    is_wrapper = node.description.startswith(("_score", "ConstantScore", "score of")) or not node.description
    if len(node.details) == 1 and is_wrapper and _is_near(node.details[0].value, node.value):
        return [(node.details[0], ())]
    return None


def _sum_taken(taken: Taken) -> float:
    return math.fsum(one.value * _multiply(factors) for one, factors in taken)


def _multiply(factors: Factors) -> float:
    return math.prod(factor.value for factor in factors)


# The parts.


_WEIGHT = re.compile(r"weight\((.*) in \d+\)(?: \[[^\]]*\])?, result of:?$", re.DOTALL)
_NAMED = re.compile(r"([\w.@-]+):(.+)$", re.DOTALL)
_SYNONYMS = re.compile(r"Synonym\((.*)\)$", re.DOTALL)


def _make_term_part(node: _Node, factors: Factors) -> ScorePart | None:
    """The weight of a term, a phrase or synonyms in a field."""
    found = _WEIGHT.match(node.description)
    if found is None:
        return None
    field, term = _split_field_and_term(found[1])
    frequency = node.component("freq,", "termFreq=", "phraseFreq=", "freq=")
    containing = None if node.component("phraseFreq=") else node.component("n,")
    return ScorePart(
        kind=PartKind.TERM,
        clause=f"{field}:{term}" if field else make_excerpt(found[1], LONGEST_CLAUSE),
        score=node.value * _multiply(factors),
        value=node.value,
        factors=factors,
        field=field,
        term=term,
        boost=_read_value(node.component("boost")),
        idf=_read_value(node.component("idf")),
        tf=_read_value(node.component("tf,", "tf(", "tfNorm")),
        frequency=_read_value(frequency),
        length=_read_value(node.component("dl,", "fieldLength")),
        average_length=_read_value(node.component("avgdl,", "avgFieldLength")),
        containing=None if containing is None else int(containing.value),
    )


def _split_field_and_term(text: str) -> tuple[str | None, str | None]:
    """The field and the term in the engine's words for a query; synonyms are separated by commas."""
    synonyms = _SYNONYMS.match(text)
    if synonyms is not None:
        named = [_NAMED.match(one) for one in synonyms[1].split()]
        pairs = [(one[1], one[2]) for one in named if one is not None]
        if len(pairs) == len(named) and len({field for field, _ in pairs}) == 1:
            return pairs[0][0], ", ".join(term for _, term in pairs)
        return None, None
    found = _NAMED.match(text)
    return (found[1], found[2]) if found is not None else (None, None)


def _read_value(node: _Node | None) -> float | None:
    return None if node is None else node.value


_PATTERNS: Sequence[tuple[PartKind, re.Pattern[str]]] = (
    (PartKind.SCRIPT, re.compile("script score")),
    (PartKind.FUNCTION, re.compile("function score|field value function|Function for field|random score")),
    (PartKind.FUSION, re.compile("rrf|reciprocal rank|.*normalization", re.IGNORECASE)),
    (PartKind.VECTOR, re.compile(r"within top|.*(vector|\bknn\b|k nearest|similarity score)", re.IGNORECASE)),
)
"""The beginnings of explanations without finer parts."""


def _make_whole_part(node: _Node, factors: Factors) -> ScorePart:
    """A part that is not taken apart."""
    kind = _find_kind(node)
    is_named = kind in (PartKind.CONSTANT, PartKind.OTHER)
    return ScorePart(
        kind=kind,
        clause=make_excerpt(_strip_wrapper(node.description), LONGEST_CLAUSE) if is_named else str(kind),
        score=node.value * _multiply(factors),
        value=node.value,
        factors=factors,
    )


def _find_kind(node: _Node) -> PartKind:
    description = node.description
    if _is_function(node):
        return PartKind.FUNCTION
    for kind, pattern in _PATTERNS:
        if pattern.match(description):
            return kind
    is_constant = description.startswith(("ConstantScore(", "*:*")) or _NAMED.match(description) is not None
    return PartKind.CONSTANT if is_constant and not node.details else PartKind.OTHER


def _strip_wrapper(description: str) -> str:
    """The clause of a constant score without its wrapper and its boost."""
    found = re.match(r"ConstantScore\((.*)\)(?:\^[\d.]+)?$", description, re.DOTALL)
    return found[1] if found is not None else re.sub(r"\^[\d.]+$", "", description)
