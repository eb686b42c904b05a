"""
The leaves of a suite: text, names, numbers, dates and JSON values, as kinds.

The type of a leaf depends on its key: if an id is expected, `007` is the id "007"; if a number is expected, "abc" is
an error. A number whose variable is not set yet is NaN, a whole number None. That happens only when a suite is checked
without an environment, and nothing is computed then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date

from harness.config import find_index_problem
from harness.model.suite import Json
from harness.suites.kinds import Leaf, Refused, expect_scalar, refuse
from harness.suites.yaml import ListNode, MappingNode, Node, ScalarNode, describe, resolve, resolve_number

EXPECTED_WEIGHT = "expected a finite number above 0"


def is_weight(number: float) -> bool:
    """Whether *number* is a valid weight: finite and above 0."""
    return math.isfinite(number) and number > 0


def format_optional(value: object) -> str | None:
    """*value* as a plain text, without its place; None if there is none."""
    return None if value is None else str(value)


def read_text(node: Node) -> ScalarNode:
    """Text as written; not blank."""
    text = expect_scalar(node, "text")
    if not text.strip():
        refuse("found blank text, expected a text", text.mark)
    return text


def read_characters(node: Node) -> ScalarNode:
    """Text as written, which may be blank."""
    return expect_scalar(node, "text")


def read_indexes(node: Node) -> ScalarNode:
    """The name of an index, or several with a comma between."""
    text = read_text(node)
    sentence = find_index_problem(text)
    if sentence:
        refuse(f"found {describe(text)}, {sentence}", text.mark)
    return text


def read_name(node: Node) -> ScalarNode:
    """A name: text without variables, because it must be the same during collection and run."""
    name = read_text(node)
    if name.variables:
        refuse(f"found {name.raw!r}, expected a name without variables", name.mark)
    if not str(name).isprintable():
        refuse(f"found {str(name)!r}, expected a name of printable characters", name.mark)
    return name


PYTESTS_OWN = frozenset({"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"})
"""Markers with a meaning in pytest; those of a suite only select."""


def read_marker(node: Node) -> ScalarNode:
    """The name of a pytest marker; not one that skips or xfails in pytest only."""
    name = read_name(node)
    if not name.isidentifier():
        refuse(f"found {str(name)!r}, expected the name of a pytest marker: letters, digits and _", name.mark)
    if name in PYTESTS_OWN:
        is_waiver = name in ("skip", "xfail")
        waiver = f"; write `{name}: {{reason: …, until: …}}` instead" if is_waiver else ""
        refuse(f"found {str(name)!r}, expected a custom marker{waiver}", name.mark)
    return name


def read_number(node: Node) -> float:
    """A finite number; NaN while its variable is not set."""
    scalar = expect_scalar(node, "a number")
    if scalar.unset:
        return math.nan
    number = _resolve_value(scalar)
    if isinstance(number, bool) or not isinstance(number, int | float):
        refuse(f"found {describe(scalar)}, expected a number{_suggest_number(scalar)}", scalar.mark)
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        refuse(f"found {describe(scalar)}, expected a finite number", scalar.mark)
    return value


def _resolve_value(scalar: ScalarNode) -> str | int | float | bool | None:
    """The value of *scalar*; None for a text: in quotes, or with a variable among other characters."""
    return resolve(scalar) if scalar.plain or scalar.whole else None


def read_weight(node: Node) -> float:
    """The weight of a query; NaN while its variable is not set."""
    weight = read_number(node)
    if not math.isnan(weight) and not is_weight(weight):
        refuse(f"found {describe(node)}, {EXPECTED_WEIGHT}", node.mark)
    return weight


def read_positive(node: Node) -> int | None:
    """A whole number from 1 on; None while its variable is not set."""
    scalar = expect_scalar(node, "a whole number")
    if scalar.unset:
        return None
    number = _resolve_value(scalar)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        refuse(f"found {describe(scalar)}, expected a whole number of at least 1{_suggest_number(scalar)}", scalar.mark)
    return number


def read_truth(node: Node) -> bool:
    """True or false; true while its variable is not set."""
    scalar = expect_scalar(node, "true or false")
    if scalar.unset:
        return True
    value = _resolve_value(scalar)
    if not isinstance(value, bool):
        refuse(f"found {describe(scalar)}, expected true or false", scalar.mark)
    return value


def read_gate(node: Node) -> bool:
    """True or false, without variables: it decides which tests there are."""
    scalar = expect_scalar(node, "true or false")
    if scalar.variables:
        refuse(f"found {scalar.raw!r}, expected true or false, without variables: it selects tests", scalar.mark)
    return read_truth(scalar)


def read_date(node: Node) -> date | None:
    """A day, written 2027-01-31; None while its variable is not set."""
    scalar = expect_scalar(node, "a date such as 2027-01-31")
    if scalar.unset:
        return None
    try:
        day = date.fromisoformat(scalar)
    except ValueError:
        day = None
    if day is None or day.isoformat() != scalar:
        refuse(f"found {describe(scalar)}, expected a date such as 2027-01-31", scalar.mark)
    return day


def read_json(node: Node) -> Json:
    """The JSON value that the YAML below *node* writes."""
    if isinstance(node, MappingNode):
        return {str(key): read_json(value) for key, value in node.items()}
    if isinstance(node, ListNode):
        return [read_json(item) for item in node]
    is_text = not node.plain or (node.variables and not node.whole)
    if is_text or node.unset:
        return str(node)
    value = resolve(node)
    if isinstance(value, float) and not math.isfinite(value):
        refuse(f"found {describe(node)}, which JSON cannot hold; expected a finite number", node.mark)
    return value


def iterate_masked_variables(node: Node | None) -> Iterator[str]:
    """The variables of all scalars at *node* and below it that hold a value which may be a secret."""
    if node is None:
        return
    if isinstance(node, ScalarNode):
        if node.masked != node:
            yield from node.variables
        return
    children = node.values() if isinstance(node, MappingNode) else node
    for child in children:
        yield from iterate_masked_variables(child)


def read_masked(node: Node) -> Json:
    """As `read_json`, with ``${NAME}`` instead of values from the environment that may be secret."""
    if isinstance(node, MappingNode):
        return {str(key): read_masked(value) for key, value in node.items()}
    if isinstance(node, ListNode):
        return [read_masked(item) for item in node]
    if node.masked != node:
        return node.masked
    try:
        return read_json(node)
    except Refused:
        # A path or a header of an HTTP request may be .inf, which is no value of JSON.
        return str(node)


def read_json_object(node: Node) -> dict[str, Json]:
    """A JSON object."""
    if not isinstance(node, MappingNode):
        refuse(f"found {describe(node)}, expected a mapping", node.mark)
    value: dict[str, Json] = read_json(node)
    return value


def read_grade(node: Node) -> ScalarNode:
    """A grade, by number or by name; it is resolved when the names are known."""
    return expect_scalar(node, "a grade")


def _suggest_number(scalar: ScalarNode) -> str:
    """A hint for a number that YAML reads as text; empty for other texts."""
    if not scalar.plain and resolve_number(scalar) is not None:
        return "; remove the quotes"
    if len(scalar) > 1 and scalar.isdigit() and scalar.startswith("0"):
        return "; a number has no leading zero"
    return ""


DEFAULT_NAME = "request"
"""The name of the only request of a suite."""

BESIDE_A_BODY = ("index", "body", "file", "http", "routing", "url_params", "target")
"""The keys of a request that is not just a body of _search."""

_SCALAR = {"type": ["string", "number", "boolean"]}
_VARIABLE = {"type": "string", "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$"}

Text = Leaf(read_text, _SCALAR)
Characters = Leaf(read_characters, _SCALAR)
Indexes = Leaf(read_indexes, _SCALAR)
Name = Leaf(read_name, _SCALAR)
Marker = Leaf(read_marker, {"type": "string"})
Number = Leaf(read_number, {"anyOf": [{"type": "number"}, _VARIABLE]})
Weight = Leaf(read_weight, {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _VARIABLE]})
Positive = Leaf(read_positive, {"anyOf": [{"type": "integer", "minimum": 1}, _VARIABLE]})
Truth = Leaf(read_truth, {"anyOf": [{"type": "boolean"}, _VARIABLE]})
Gate = Leaf(read_gate, {"type": "boolean"})
Day = Leaf(
    read_date, {"anyOf": [{"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}, _VARIABLE]}
)

JsonValue = Leaf(read_json, {})
JsonObject = Leaf(read_json_object, {"type": "object"})
RequestBody = Leaf(
    read_json_object,
    {
        "type": "object",
        "properties": {
            "gate": {
                "description": "A part of the body. For `gate: false`, write the body below the key `body`.",
                "type": ["array", "object"],
            },
            "esql": {
                "description": "A text of ES|QL, in place of the body of `_search`. `?text` is the query's text.",
                "type": "string",
            },
        },
        "not": {"anyOf": [{"required": [key]} for key in BESIDE_A_BODY]},
    },
)

Grade = Leaf(read_grade, {"type": ["number", "string"]})
Key = Leaf(lambda key: key, {"type": "string"})
