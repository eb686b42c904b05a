"""The arguments of calls from Python: the types that they take, and their merge with the default options."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypedDict

from harness.errors import UsageError
from harness.metrics import read_gain, read_profile
from harness.metrics.ranking import finite
from harness.model.suite import Gain
from harness.options import (
    FILE,
    FLAG,
    MEASURE_NAMES,
    OPTIONS,
    TEXT,
    WHOLE_NUMBER,
    ArgumentKind,
    RunOptions,
    accept_all,
    is_given,
)
from harness.words import did_you_mean


class Options(TypedDict, total=False):
    """The types of the options of one call of `Relevance.run`."""

    url: str | None
    embedded: bool
    engine_version: str | None
    listed_addresses: bool
    request: str | None
    index: str | None
    config: str | os.PathLike[str] | None
    variables: tuple[str, ...] | list[str]
    cluster: str | None
    tags: tuple[str, ...] | list[str]
    queries: tuple[str, ...] | list[str]
    allow_write: bool
    locate: bool
    no_checks: bool
    baseline: str | os.PathLike[str] | None
    history: str | os.PathLike[str] | None
    today: date | None
    strict_xfail: bool
    no_intervals: bool
    budget: float | None
    repeat: int | None
    warm_up: int | None
    client: Any
    body: Mapping[str, Any] | None


AnyGain: TypeAlias = Gain | str | Mapping[float, float]
"""A gain: ``"linear"``, ``"exponential"``, a map from grade to gain, or a `Gain`."""


RUN_ARGUMENTS = tuple(option.field for option in OPTIONS.values() if option.python)
"""The options of `Relevance.run`."""

_NUMBER = ArgumentKind("a number", lambda given: finite(given) is not None, float)

ARGUMENT_KINDS: Mapping[str, ArgumentKind] = {
    **{option.field: replace(option.kind, optional=option.optional) for option in OPTIONS.values()},
    **dict.fromkeys(("complete", "skip_undefined"), FLAG),
    **dict.fromkeys(("test", "alternative", "correction", "measure", "query", "threshold"), TEXT),
    "level": _NUMBER,
    "seed": WHOLE_NUMBER,
    "qrels": replace(FILE, optional=True),
    "suite": ArgumentKind("the path of a suite", FILE.accepts),
    "path": FILE,
    "root": ArgumentKind("the path of a folder", FILE.accepts, Path, optional=True),
    "measures": MEASURE_NAMES,
    "gain": ArgumentKind("a gain", accept_all, read_gain, optional=True),
    "profile": ArgumentKind("a profile", accept_all, read_profile, optional=True),
}
"""The type that each argument takes, by its name."""


def read_argument(name: str, value: Any) -> Any:
    """
    *value*, that of the argument *name*, converted.

    Raises:
        UsageError: the value has the wrong type.
    """
    kind = ARGUMENT_KINDS[name]
    if value is None and kind.optional:
        return None
    if not kind.accepts(value):
        expected = kind.expected
        if kind.optional:
            expected += " or None"
        refuse(name, value, expected)
    if kind.element is not None:
        for number, element in enumerate(value):
            if not kind.element.accepts(element):
                refuse(f"{name}[{number}]", element, kind.element.expected)
    return kind.convert(value)


def refuse(name: str, value: object, expected: str) -> NoReturn:
    """Raise UsageError: the argument *name* does not take *value*."""
    number = finite(value)
    if isinstance(value, str):
        found = f"the text {value!r}"
    elif value is None or isinstance(value, bool | float):
        found = str(value)
    elif number is not None:
        # A number of numpy, say, whose own text has its type.
        found = f"{number:g}"
    else:
        found = f"of type {type(value).__name__}"
    raise UsageError(f"{name} is {found}, expected {expected}")


def refuse_unknown(names: Iterable[str], known_names: Collection[str]) -> None:
    """Raise UsageError for *names* of options that are not known; has each, and the nearest known one."""
    unknown = [name for name in names if name not in known_names]
    if unknown:
        raise UsageError("; ".join(f"unknown option {name!r}{did_you_mean(name, known_names)}" for name in unknown))


def check_options(options: object) -> RunOptions:
    """
    *options*, with every value checked.

    Raises:
        UsageError: *options* are not RunOptions, or a value has the wrong type.
    """
    if not isinstance(options, RunOptions):
        refuse("options", options, "RunOptions, as harness.api has them")
    names = [field.name for field in fields(options)]
    values: dict[str, Any] = {name: read_argument(name, getattr(options, name)) for name in names}
    return replace(options, **values)


def merge_options(defaults: RunOptions, arguments: Mapping[str, Any]) -> RunOptions:
    """
    *defaults* with the *arguments* of a call.

    Raises:
        UsageError: an option is not known, or has the wrong type.
    """
    refuse_unknown(arguments, RUN_ARGUMENTS)
    values = {name: read_argument(name, value) for name, value in arguments.items()}
    no_server: dict[str, Any] = {"url": None, "cluster": None, "embedded": False, "client": None}
    # A call that names a server replaces the default one: both together would be refused.
    if any(is_given(values.get(name)) for name in no_server):
        defaults = replace(defaults, **no_server)
        # A version is that of the embedded node.
        if not is_given(values.get("embedded")):
            defaults = replace(defaults, engine_version=None)
    return replace(defaults, **values)
