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
    # Where the parts do not add up, something was taken apart that is no sum: the score is then one part.
    if not _is_near(math.fsum(part.score for part in parts), root.value):
        parts = [_make_unsplit_part(root, ())]
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
    """*tree*, which is an explanation as JSON, and all below it; raises MalformedAnswer if it is none."""
    if not isinstance(tree, Mapping):
        raise MalformedAnswer("an explanation should be an object")
    value, details = tree.get("value"), tree.get("details", [])
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(details, list):
        raise MalformedAnswer("an explanation should have a number as `value` and a list as `details`")
    return _Node(float(value), str(tree.get("description", "")), tuple(map(_read_node, details)))


def _is_near(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=_EXACT, abs_tol=_EXACT)


# Each function takes one form of explanation apart, and returns None for any other.

Split: TypeAlias = Sequence[tuple[_Node, Factors]]
"""The children that a node is taken apart into, each with the factors by which the engine multiplies its value."""


def _list_parts(node: _Node, factors: Factors) -> Iterator[ScorePart]:
    """
    The parts of the score of *node*, down to nodes that no function below takes apart.

    *factors* are those of the nodes above it, by which its value is multiplied in the score of the document.
    """
    split_functions = (
        _split_function,
        _split_weight,
        _split_sum,
        _split_best,
        _split_product,
        _split_average,
        _split_least,
        _split_wrapper,
    )
    for split_node in split_functions:
        children = split_node(node)
        if children is not None:
            for child, factors_of_child in children:
                yield from _list_parts(child, (*factors, *factors_of_child))
            return
    part = _make_term_part(node, factors)
    if part is None:
        part = _make_unsplit_part(node, factors)
    yield part


_MULTIPLIED_BY: Mapping[str, str] = {
    "primaryWeight": "query_weight",
    "secondaryWeight": "rescore_query_weight",
    "min of:": "function score",
}
"""The words of a request for terms that an explanation names differently."""


def _split_function(node: _Node) -> Split | None:
    """A query whose score is multiplied by a function."""
    if node.description != "function score, product of:" or len(node.details) != 2:
        return None
    if not _is_function(node.details[1]):
        return None
    return _split_multiplied(node)


def _is_function(node: _Node) -> bool:
    """Whether it is the value of the functions of a function_score, which an engine limits by `max_boost`."""
    return node.description.startswith("min of") and any(child.description == "maxBoost" for child in node.details)


def _split_weight(node: _Node) -> Split | None:
    """A query with a constant weight."""
    if node.description.startswith("weight(FunctionScoreQuery") and len(node.details) == 1:
        return [(node.details[0], ())]
    return None


def _split_sum(node: _Node) -> Split | None:
    """A query whose score is the sum of those of its clauses, such as a `bool`."""
    if not re.match(r"sum of:?$", node.description):
        return None
    return _check_total([(child, ()) for child in node.details], node)


def _split_best(node: _Node) -> Split | None:
    """A `dis_max`: the best of several clauses counts, and a share of each other one if there is a tie breaker."""
    match = re.match(r"max(?: plus ([\d.eE+-]+) times others)? of:?$", node.description)
    if match is None or not node.details:
        return None
    factor_of_others = ScoreFactor("not the best", 0.0)
    tie_breaker = match[1]
    if tie_breaker:
        factor_of_others = ScoreFactor("tie_breaker", float(tie_breaker))
    best = max(node.details, key=lambda child: child.value)
    children: list[tuple[_Node, Factors]] = []
    for child in node.details:
        if child is best:
            children.append((child, ()))
        else:
            children.append((child, (factor_of_others,)))
    return _check_total(children, node)


def _split_product(node: _Node) -> Split | None:
    """A query whose score is multiplied, as by the weight of a rescore."""
    if not re.match(r"product of:?$", node.description) or not node.details:
        return None
    return _split_multiplied(node)


def _split_multiplied(node: _Node) -> Split | None:
    """The first child is scored, the others are factors of it."""
    scored, *others = node.details
    factors = []
    for child in others:
        name = _name_factor(child.description)
        factors.append(ScoreFactor(name, child.value, _list_details(child, name)))
    return _check_total([(scored, tuple(factors))], node)


def _name_factor(description: str) -> str:
    """The name under which a factor is shown: a term of the request where there is one, else the engine's words."""
    if description in _MULTIPLIED_BY:
        return _MULTIPLIED_BY[description]
    if description.startswith("Matched boosting query"):
        return "negative_boost"
    return make_excerpt(description, 60)


def _split_average(node: _Node) -> Split | None:
    """A query whose score is the mean of several, as `score_mode: avg` makes it."""
    if not re.match(r"avg of:?$", node.description):
        return None
    share = ScoreFactor("average", 1 / len(node.details))
    return _check_total([(child, (share,)) for child in node.details], node)


def _split_least(node: _Node) -> Split | None:
    """The lesser of a query and a function counts."""
    if not node.description.startswith("min of") or not node.details or _is_function(node):
        return None
    least = min(node.details, key=lambda child: child.value)
    return _check_total([(least, ())], node)


def _split_wrapper(node: _Node) -> Split | None:
    """A node with the same value as its only child."""
    is_wrapper = node.description.startswith(("_score", "ConstantScore", "score of")) or not node.description
    if not is_wrapper or len(node.details) != 1:
        return None
    return _check_total([(node.details[0], ())], node)


def _check_total(children: Split, node: _Node) -> Split | None:
    """*children*, if they add up to the value of *node*; else the engine did something that its words do not say."""
    total = math.fsum(child.value * _multiply(factors) for child, factors in children)
    if not _is_near(total, node.value):
        return None
    return children


def _multiply(factors: Factors) -> float:
    return math.prod(factor.value for factor in factors)


# The parts.


_WEIGHT = re.compile(r"weight\((.*) in \d+\)(?: \[[^\]]*\])?, result of:?$", re.DOTALL)
_FIELD_AND_TERM = re.compile(r"([\w.@-]+):(.+)$", re.DOTALL)
_SYNONYMS = re.compile(r"Synonym\((.*)\)$", re.DOTALL)


def _make_term_part(node: _Node, factors: Factors) -> ScorePart | None:
    """The weight of a term, a phrase or synonyms in a field."""
    match = _WEIGHT.match(node.description)
    if match is None:
        return None
    field, term = _split_field_and_term(match[1])
    frequency = node.find_component("freq,", "termFreq=", "phraseFreq=", "freq=")
    containing = _read_value(node.find_component("n,"))
    if node.find_component("phraseFreq="):
        containing = None  # it is of one term of the phrase
    clause = make_excerpt(match[1], LONGEST_CLAUSE)
    if field:
        clause = f"{field}:{term}"
    return ScorePart(
        kind=PartKind.TERM,
        clause=clause,
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
        containing=None if containing is None else int(containing),
    )


def _split_field_and_term(text: str) -> tuple[str | None, str | None]:
    """
    The field and the term in the engine's words for a query, such as "title:shoe"; None twice where it has neither.

    The terms of synonyms are separated by commas.
    """
    synonyms = _SYNONYMS.match(text)
    texts = [text] if synonyms is None else synonyms[1].split()
    fields: set[str] = set()
    terms = []
    for field_and_term in texts:
        match = _FIELD_AND_TERM.match(field_and_term)
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


def _make_unsplit_part(node: _Node, factors: Factors) -> ScorePart:
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
    is_constant = description.startswith(("ConstantScore(", "*:*")) or _FIELD_AND_TERM.match(description) is not None
    if is_constant and not node.details:
        return PartKind.CONSTANT
    return PartKind.OTHER


def _strip_wrapper(description: str) -> str:
    """The clause of a constant score without its wrapper and its boost."""
    match = re.match(r"ConstantScore\((.*)\)(?:\^[\d.]+)?$", description, re.DOTALL)
    if match is not None:
        return match[1]
    return re.sub(r"\^[\d.]+$", "", description)
