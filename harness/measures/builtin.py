"""The registry as it starts: all of the harness's own measures."""

from __future__ import annotations

from harness.errors import MeasureError
from harness.measures import binary_measures, cumulative_measures, user_measures
from harness.measures.definition import Definition
from harness.measures.registry import Registry
from harness.model import Measure

__all__ = [
    "DEFINITIONS",
    "definition_named",
    "definition_of",
    "is_built_in",
    "let_measures_be_replaced",
    "register_measure",
]


DEFINITIONS: tuple[Definition, ...] = (
    *cumulative_measures.CUMULATIVE_MEASURES,
    *binary_measures.BINARY_MEASURES,
    *user_measures.USER_MODEL_MEASURES,
)

_REGISTRY = Registry(DEFINITIONS)


def register_measure(definition: Definition) -> None:
    """
    Make a measure of your own known, so that suites can name it; in a conftest.py, or by an entry point.

    A measure that an earlier pytest session of the process registered, or a cell of a notebook, is replaced.

    Raises:
        UsageError: the name is taken, or cannot stand in a measure's text.
    """
    _REGISTRY.add(definition)


def let_measures_be_replaced() -> None:
    """Let measures that are registered be registered anew: each pytest session of a process reads its conftest.py."""
    _REGISTRY.let_replace()


def definition_of(measure: Measure) -> Definition:
    """What the registry knows of *measure*."""
    return definition_named(measure.name)


def is_built_in(measure: Measure) -> bool:
    """Whether *measure* is one of the harness, and none that a package or a conftest.py brought."""
    definition = definition_of(measure)
    return any(definition is one for one in DEFINITIONS)


def definition_named(name: str, offset: int = 0) -> Definition:
    """
    What the registry knows by *name*, which stands at *offset* in what the user wrote.

    Raises:
        MeasureError: nothing, with the nearest name it knows.
    """
    definition = _REGISTRY.find(name)
    if definition is None:
        near = _REGISTRY.nearest(name)
        hint = f"did you mean {near}?" if near else f"known are {', '.join(_REGISTRY.names())}"
        raise MeasureError(f"unknown measure {name}; {hint}", offset)
    return definition
