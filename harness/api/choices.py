"""The arguments of calls from Python: the types that they take, and their merge with the default options."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

from harness.errors import UsageError
from harness.metrics import read_gain, read_profile
from harness.metrics.ranking import finite
from harness.model import Gain, Profile
from harness.options import FILE, FLAG, MEASURES, OPTIONS, TEXT, WHOLE_NUMBER, Kind, Options, RunOptions, is_given
from harness.words import did_you_mean

AnyGain: TypeAlias = Gain | str | Mapping[float, float]
"""A gain: ``"linear"``, ``"exponential"``, a map from grade to gain, or a `Gain`."""


class CompareChoices(Options, total=False):
    """The further options of `Relevance.compare`; see `harness.compare`."""

    qrels: str | os.PathLike[str] | None
    measures: Sequence[str]
    depth: int | None
    p: float
    profile: Profile | str | None
    gain: AnyGain | None
    complete: bool
    test: str
    alternative: Literal["two-sided", "less", "greater"]
    level: float
    correction: str
    samples: int
    seed: int


OF_RUN = tuple(option.field for option in OPTIONS.values() if option.python)

NUMBER = Kind("a number", lambda given: finite(given) is not None, float)

KINDS: Mapping[str, Kind] = {
    **{option.field: replace(option.kind, optional=option.optional) for option in OPTIONS.values()},
    **dict.fromkeys(("complete", "skip_undefined"), FLAG),
    **dict.fromkeys(("test", "alternative", "correction", "measure", "query", "threshold"), TEXT),
    **dict.fromkeys(("p", "level"), NUMBER),
    **dict.fromkeys(("samples", "seed"), WHOLE_NUMBER),
    "qrels": replace(FILE, optional=True),
    "suite": Kind("the path of a suite", FILE.fits),
    "path": FILE,
    "root": Kind("the path of a folder", FILE.fits, Path, optional=True),
    "measures": MEASURES,
    "gain": Kind("a gain", lambda _: True, read_gain, optional=True),
    "profile": Kind("a profile", lambda _: True, read_profile, optional=True),
}
"""The type that each argument takes, by its name."""


def read_argument(name: str, given: Any) -> Any:
    """
    *given*, the value of the argument *name*, converted.

    Raises:
        UsageError: the value has the wrong type.
    """
    kind = KINDS[name]
    if given is None and kind.optional:
        return None
    if not kind.fits(given):
        refuse(name, given, kind.expected + (" or None" if kind.optional else ""))
    if kind.each is not None:
        for place, element in enumerate(given):
            if not kind.each.fits(element):
                refuse(f"{name}[{place}]", element, kind.each.expected)
    return kind.made(given)


def refuse(name: str, found: object, expected: str) -> NoReturn:
    """Raise UsageError: the argument *name* does not take what was *found*."""
    if isinstance(found, str):
        shown = f"the text {found!r}"
    elif found is None or isinstance(found, bool | float):
        shown = str(found)
    else:
        shown = f"of type {type(found).__name__}" if finite(found) is None else f"{finite(found):g}"
    raise UsageError(f"{name} is {shown}, expected {expected}")


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise UsageError for options that are not *known*; names each, and the nearest known one."""
    unknown = [f"unknown option {name!r}{did_you_mean(name, known)}" for name in given if name not in known]
    if unknown:
        raise UsageError("; ".join(unknown))


def check_options(options: object) -> RunOptions:
    """
    *options*, with every value checked.

    Raises:
        UsageError: *options* are not RunOptions, or a value has the wrong type.
    """
    if not isinstance(options, RunOptions):
        refuse("options", options, "RunOptions, as harness.api has them")
    read: dict[str, Any] = {one.name: read_argument(one.name, getattr(options, one.name)) for one in fields(options)}
    return replace(options, **read)


def merged(defaults: RunOptions, given: Mapping[str, Any]) -> RunOptions:
    """
    *defaults* with the options *given* to a call.

    Raises:
        UsageError: an option is not known, or has the wrong type.
    """
    refuse_unknown(given, OF_RUN)
    given = {name: read_argument(name, value) for name, value in given.items()}
    servers: dict[str, Any] = {"url": None, "cluster": None, "embedded": False, "client": None}
    chosen = [name for name in servers if is_given(given.get(name))]
    if chosen:
        version = defaults.engine_version if "embedded" in chosen else None
        defaults = replace(defaults, **servers, engine_version=version)
    return replace(defaults, **given)
