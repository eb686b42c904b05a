"""What calls from Python may ask for: what each argument takes, and how that joins what holds for all calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, TypedDict

from harness.errors import EntryPoint, UsageError, did_you_mean
from harness.metrics import read_gain, read_profile
from harness.metrics.ranking import finite
from harness.model import Gain, Profile
from harness.options import RunOptions

__all__ = [
    "OF_RUN",
    "OF_TEST",
    "AnyGain",
    "CompareChoices",
    "Options",
    "check_options",
    "merged",
    "read_argument",
    "refuse",
    "refuse_unknown",
]


AnyGain: TypeAlias = Gain | str | Mapping[float, float]
"""A gain as a suite has it: ``"linear"``, ``"exponential"`` or a map from grade to gain; or a `Gain`."""


class Options(TypedDict, total=False):
    """What one call of `Relevance.run` may ask for otherwise; see `harness.options.RunOptions`."""

    url: str | None
    embedded: bool
    engine_version: str | None
    request: str | None
    index: str | None
    cluster: str | None
    tags: tuple[str, ...] | list[str]
    allow_write: bool
    locate: bool
    baseline: str | os.PathLike[str] | None
    today: date | None
    strict_xfail: bool
    budget: float | None
    client: Any


class CompareChoices(Options, total=False):
    """What one call of `Relevance.compare` may ask for beside; see `harness.compare` and the options there."""

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


OF_RUN = tuple(Options.__annotations__)
OF_TEST = ("test", "alternative", "level", "correction", "samples", "seed")


@dataclass(frozen=True, slots=True)
class Kind:
    """What an argument takes: *expected* in words, what *fits*, what is *made* of that; None too where *optional*."""

    expected: str
    fits: Callable[[Any], bool]
    made: Callable[[Any], Any] = lambda given: given
    optional: bool = False


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, types)


def _is_texts(given: Any) -> bool:
    """A text would be taken for its letters, and a set has no order."""
    return isinstance(given, Sequence) and not isinstance(given, str | bytes) and all(map(_is(str), given))


def _is_whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _is_day(given: Any) -> bool:
    return isinstance(given, date) and not isinstance(given, datetime)


TEXT = Kind("a text", _is(str))
TEXT_OR_NONE = Kind("a text", _is(str), optional=True)
FLAG = Kind("True or False", _is(bool))
NUMBER = Kind("a number", lambda given: finite(given) is not None, float)
FILE = Kind("the path of a file", _is(str, os.PathLike), lambda given: Path(os.fspath(given)), optional=True)

KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("url", "engine_version", "request", "index", "cluster"), TEXT_OR_NONE),
    **dict.fromkeys(("embedded", "allow_write", "locate", "strict_xfail", "save_baseline", "unjudged", "tails"), FLAG),
    **dict.fromkeys(("complete", "skip_undefined"), FLAG),
    **dict.fromkeys(("test", "alternative", "correction", "measure", "query", "threshold"), TEXT),
    **dict.fromkeys(("p", "level"), NUMBER),
    **dict.fromkeys(("baseline", "qrels"), FILE),
    **dict.fromkeys(("samples", "seed"), Kind("a whole number", _is_whole)),
    "suite": Kind("the path of a suite", _is(str, os.PathLike)),
    "root": Kind("the path of a folder", _is(str, os.PathLike), Path, optional=True),
    "tags": Kind("a sequence of tags, such as ['head']", _is_texts, tuple),
    "measures": Kind("a sequence of measures, such as ['nDCG@10']", _is_texts, tuple),
    "depth": Kind("a whole number", _is_whole, optional=True),
    "budget": Kind("a number of seconds above 0", lambda given: (finite(given) or 0) > 0, float, optional=True),
    "today": Kind("a datetime.date without a time", _is_day, optional=True),
    "gain": Kind("a gain", lambda _: True, read_gain, optional=True),
    "profile": Kind("a profile", lambda _: True, read_profile, optional=True),
    "entry": Kind("an EntryPoint", _is(EntryPoint)),
    "client": Kind("a client object", lambda _: True, optional=True),
}
"""By the name of an argument, what it takes."""


def read_argument(name: str, given: Any) -> Any:
    """
    What is *given* for the argument *name*, as the harness has it.

    Raises:
        UsageError: it is not of its kind.
    """
    kind = KINDS[name]
    if given is None and kind.optional:
        return None
    if not kind.fits(given):
        refuse(name, given, kind.expected + (" or None" if kind.optional else ""))
    return kind.made(given)


def refuse(name: str, found: object, expected: str) -> NoReturn:
    """Raise UsageError: the argument *name* takes something else than what was *found*."""
    if isinstance(found, str):
        shown = f"the text {found!r}"
    elif found is None or isinstance(found, bool | float):
        shown = str(found)
    else:
        shown = f"of type {type(found).__name__}" if finite(found) is None else f"{finite(found):g}"
    raise UsageError(f"{name} is {shown}, expected {expected}")


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise UsageError where an option is none of *known*; names each, and the nearest known one."""
    unknown = [f"unknown option {name!r}{did_you_mean(name, known)}" for name in given if name not in known]
    if unknown:
        raise UsageError("; ".join(unknown))


def check_options(options: object) -> RunOptions:
    """
    *options*, each of its kind.

    Raises:
        UsageError: they are none, or one is not of its kind.
    """
    if not isinstance(options, RunOptions):
        refuse("options", options, "RunOptions, as harness.api has them")
    read: dict[str, Any] = {one.name: read_argument(one.name, getattr(options, one.name)) for one in fields(options)}
    return replace(options, **read)


def merged(defaults: RunOptions, given: Mapping[str, Any]) -> RunOptions:
    """
    *defaults* with what a call has *given*.

    Raises:
        UsageError: an option is not known, or is not of its kind.
    """
    refuse_unknown(given, OF_RUN)
    given = {name: read_argument(name, value) for name, value in given.items()}
    servers: dict[str, Any] = {"url": None, "cluster": None, "embedded": False, "client": None}
    chosen = [name for name in servers if given.get(name) not in (None, False, "")]
    if chosen:
        version = defaults.engine_version if "embedded" in chosen else None
        defaults = replace(defaults, **servers, engine_version=version)
    return replace(defaults, **given)
