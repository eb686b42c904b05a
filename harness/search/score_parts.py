"""The explanation of a score, as Elasticsearch and OpenSearch give it -> the parts that add up to the score. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.model.inspection import PartDifference, PartKind, ScoreDetail, ScoreFactor, ScorePart
from harness.model.suite import Json
from harness.search.hits import MalformedAnswer, make_excerpt
from harness.words import grouped

_EXACT = 1e-5
"""
Relative; how far the sum of parts may differ from the engine's value, which is computed with 32-bit floats. A part
whose sum differs more is not taken apart.
"""

LONGEST_CLAUSE = 160
"""Characters of a clause that are shown, of its JSON or of the engine's description."""

LONGEST_DETAIL = 1000
"""Characters of a detail that are shown: the source of a script is one."""

Factors: TypeAlias = tuple[ScoreFactor, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """One node of an explanation."""

    value: float
    description: str
    details: tuple[_Node, ...]

    def find_component(self, *names: str) -> _Node | None:
        """The first node below whose description begins with one of *names*."""
        for node in self.walk():
            if node.description.startswith(names):
                return node
        return None

    def walk(self) -> Iterator[_Node]:
        """All nodes below, depth first."""
        for node in self.details:
            yield node
            yield from node.walk()


def find_score_parts(tree: Json) -> tuple[float, tuple[ScorePart, ...]]:
    """
    The score that *tree* explains, and its parts, the greatest first.

    Sums, the maximum of several with or without a tie breaker, and products are taken apart down to terms of fields.
    Any other clause is one part, named by its kind, with what the engine computes it from as details.

    Raises:
        MalformedAnswer: *tree* is no explanation.
    """
    root = _read_node(tree)
    parts = [part for part in _list_parts(root, ()) if part.value]  # a filter adds nothing
    # Where the parts do not add up, something was taken apart that is no sum: the whole is then the only part.
    if not _is_near(math.fsum(part.score for part in parts), root.value):
        parts = [_make_whole_part(root, ())]
    return root.value, tuple(sorted(parts, key=lambda part: -part.score))


def find_part_differences(first: Iterable[ScorePart], second: Iterable[ScorePart]) -> tuple[PartDifference, ...]:
    """What each clause adds to two scores, the largest difference first."""
    ours, theirs = _sum_by_clause(first), _sum_by_clause(second)
    differences = []
    for clause in dict.fromkeys([*ours, *theirs]):
        our_score, their_score = ours.get(clause, 0.0), theirs.get(clause, 0.0)
        differences.append(PartDifference(clause, our_score, their_score, our_score - their_score))
    return tuple(sorted(differences, key=lambda difference: -abs(difference.difference)))


def _sum_by_clause(parts: Iterable[ScorePart]) -> dict[str, float]:
    """What each clause adds; a clause may have several parts."""
    scores = grouped((part.clause, part.score) for part in parts)
    return {clause: math.fsum(scores_of_clause) for clause, scores_of_clause in scores.items()}


def _read_node(tree: Json) -> _Node:
    if not isinstance(tree, Mapping):
        raise MalformedAnswer("an explanation should be an object")
    value, details = tree.get("value"), tree.get("details", [])
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(details, list):
        raise MalformedAnswer("an explanation should have a number as `value` and a list as `details`")
    return _Node(float(value), str(tree.get("description", "")), tuple(map(_read_node, details)))


def _is_near(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=_EXACT, abs_tol=_EXACT)


# Each function takes one form of explanation apart, and gives None for any other.


def _list_parts(node: _Node, factors: Factors) -> Iterator[ScorePart]:
    """The parts of *node*, whose value is multiplied by *factors*."""
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
        taken = take_apart(node)
        if taken is not None:
            for child, factors_of_child in taken:
                yield from _list_parts(child, (*factors, *factors_of_child))
            return
    yield _make_term_part(node, factors) or _make_whole_part(node, factors)


Taken: TypeAlias = Sequence[tuple[_Node, Factors]]
"""The nodes that a node is taken apart into, each with what its value is multiplied by."""

_MULTIPLIED_BY: Mapping[str, str] = {
    "primaryWeight": "query_weight",
    "secondaryWeight": "rescore_query_weight",
    "min of:": "function score",
}
"""The words of a request for terms that an explanation names differently."""


def _take_function(node: _Node) -> Taken | None:
    """A query whose score is multiplied by a function."""
    if node.description != "function score, product of:" or len(node.details) != 2:
        return None
    return _take_multiplied(node) if _is_function(node.details[1]) else None


def _is_function(node: _Node) -> bool:
    """Whether it is the value of the functions of a function_score, which an engine limits by `max_boost`."""
    return node.description.startswith("min of") and any(child.description == "maxBoost" for child in node.details)


def _take_weight(node: _Node) -> Taken | None:
    """A query with a constant weight."""
    if node.description.startswith("weight(FunctionScoreQuery") and len(node.details) == 1:
        return [(node.details[0], ())]
    return None


def _take_sum(node: _Node) -> Taken | None:
    if not re.match(r"sum of:?$", node.description):
        return None
    return _check_taken([(child, ()) for child in node.details], node)


def _take_best(node: _Node) -> Taken | None:
    """The best of several counts, and a share of each other one if there is a tie breaker."""
    match = re.match(r"max(?: plus ([\d.eE+-]+) times others)? of:?$", node.description)
    if match is None or not node.details:
        return None
    tie_breaker = ScoreFactor("tie_breaker", float(match[1])) if match[1] else ScoreFactor("not the best", 0.0)
    best = max(node.details, key=lambda child: child.value)
    taken = [(child, () if child is best else (tie_breaker,)) for child in node.details]
    return _check_taken(taken, node)


def _take_product(node: _Node) -> Taken | None:
    if not re.match(r"product of:?$", node.description) or not node.details:
        return None
    return _take_multiplied(node)


def _take_multiplied(node: _Node) -> Taken | None:
    """The first child is scored, the others are factors of it."""
    scored, *others = node.details
    factors = []
    for child in others:
        name = _name_factor(child.description)
        factors.append(ScoreFactor(name, child.value, _list_details(child, name)))
    return _check_taken([(scored, tuple(factors))], node)


def _name_factor(description: str) -> str:
    if description in _MULTIPLIED_BY:
        return _MULTIPLIED_BY[description]
    if description.startswith("Matched boosting query"):
        return "negative_boost"
    return make_excerpt(description, 60)


def _take_average(node: _Node) -> Taken | None:
    if not re.match(r"avg of:?$", node.description):
        return None
    share = ScoreFactor("average", 1 / len(node.details))
    return _check_taken([(child, (share,)) for child in node.details], node)


def _take_least(node: _Node) -> Taken | None:
    """The lesser of a query and a function counts."""
    if not node.description.startswith("min of") or not node.details or _is_function(node):
        return None
    least = min(node.details, key=lambda child: child.value)
    return _check_taken([(least, ())], node)


def _take_wrapper(node: _Node) -> Taken | None:
    """A node with the same value as its only child."""
    is_wrapper = node.description.startswith(("_score", "ConstantScore", "score of")) or not node.description
    if not is_wrapper or len(node.details) != 1:
        return None
    return _check_taken([(node.details[0], ())], node)


def _check_taken(taken: Taken, node: _Node) -> Taken | None:
    """*taken*, if it adds up to the value of *node*; else the engine did something that its words do not say."""
    total = math.fsum(child.value * _multiply(factors) for child, factors in taken)
    return taken if _is_near(total, node.value) else None


def _multiply(factors: Factors) -> float:
    return math.prod(factor.value for factor in factors)


# The parts.


_WEIGHT = re.compile(r"weight\((.*) in \d+\)(?: \[[^\]]*\])?, result of:?$", re.DOTALL)
_NAMED = re.compile(r"([\w.@-]+):(.+)$", re.DOTALL)
_SYNONYMS = re.compile(r"Synonym\((.*)\)$", re.DOTALL)


def _make_term_part(node: _Node, factors: Factors) -> ScorePart | None:
    """The weight of a term, a phrase or synonyms in a field."""
    match = _WEIGHT.match(node.description)
    if match is None:
        return None
    field, term = _split_field_and_term(match[1])
    frequency = node.find_component("freq,", "termFreq=", "phraseFreq=", "freq=")
    containing = node.find_component("n,")
    if node.find_component("phraseFreq="):
        containing = None  # it is of one term of the phrase
    return ScorePart(
        kind=PartKind.TERM,
        clause=f"{field}:{term}" if field else make_excerpt(match[1], LONGEST_CLAUSE),
        score=node.value * _multiply(factors),
        value=node.value,
        factors=factors,
        field=field,
        term=term,
        boost=_read_value(node.find_component("boost")),
        idf=_read_value(node.find_component("idf")),
        tf=_read_value(node.find_component("tf,", "tf(", "tfNorm")),
        frequency=_read_value(frequency),
        length=_read_value(node.find_component("dl,", "fieldLength")),
        average_length=_read_value(node.find_component("avgdl,", "avgFieldLength")),
        containing=None if containing is None else int(containing.value),
    )


def _split_field_and_term(text: str) -> tuple[str | None, str | None]:
    """The field and the term in the engine's words for a query; synonyms are separated by commas."""
    synonyms = _SYNONYMS.match(text)
    if synonyms is None:
        match = _NAMED.match(text)
        return (None, None) if match is None else (match[1], match[2])
    fields: set[str] = set()
    terms = []
    for synonym in synonyms[1].split():
        match = _NAMED.match(synonym)
        if match is None:
            return None, None
        fields.add(match[1])
        terms.append(match[2])
    if len(fields) != 1:
        return None, None
    return fields.pop(), ", ".join(terms)


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
    clause = str(kind)
    details: tuple[ScoreDetail, ...] = ()
    if kind in (PartKind.CONSTANT, PartKind.OTHER):
        clause = make_excerpt(_strip_wrapper(node.description), LONGEST_CLAUSE)
    if kind is not PartKind.CONSTANT:
        details = _list_details(node, clause)
    return ScorePart(
        kind=kind,
        clause=clause,
        score=node.value * _multiply(factors),
        value=node.value,
        factors=factors,
        details=details,
    )


def _list_details(node: _Node, name: str) -> tuple[ScoreDetail, ...]:
    """What the engine computes *node* from, which is shown as *name*; nothing where the name says all."""
    if not node.details and (name == node.description or node.description in _MULTIPLIED_BY):
        return ()
    if _is_function(node) and node.value == node.details[0].value:
        node = node.details[0]  # max_boost, which is always there, does not limit it
    return tuple(_walk_details(node, 0))


def _walk_details(node: _Node, level: int) -> Iterator[ScoreDetail]:
    """*node* and what it is computed from. The query is left out, which a script may read: it is a part by itself."""
    yield ScoreDetail(make_excerpt(node.description.strip(), LONGEST_DETAIL), node.value, level)
    if not _WEIGHT.match(node.description) and not node.description.startswith("_score:"):
        for child in node.details:
            yield from _walk_details(child, level + 1)


def _find_kind(node: _Node) -> PartKind:
    """What kind of query *node* explains, by the engine's words."""
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
    match = re.match(r"ConstantScore\((.*)\)(?:\^[\d.]+)?$", description, re.DOTALL)
    if match is not None:
        return match[1]
    return re.sub(r"\^[\d.]+$", "", description)
