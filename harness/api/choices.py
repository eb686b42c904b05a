"""What calls from Python may ask for, and how that joins what holds for all calls."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypedDict

from harness.errors import UsageError
from harness.model import Profile
from harness.running.options import RunOptions
from harness.spelling import did_you_mean

__all__ = ["OF_RUN", "OF_TEST", "CompareChoices", "Options", "merged", "refuse_unknown"]


class Options(TypedDict, total=False):
    """What one call of `Relevance.run` may ask for otherwise; see `harness.running.options.RunOptions`."""

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
    """What one call of `Relevance.compare` may ask for beside; see `harness.comparing` and the options there."""

    qrels: str | os.PathLike[str] | None
    measures: Sequence[str]
    depth: int | None
    p: float
    profile: Profile | None
    gain: str | None
    complete: bool
    test: str
    alternative: Literal["two-sided", "less", "greater"]
    level: float
    correction: str
    samples: int
    seed: int


OF_RUN = tuple(Options.__annotations__)
OF_TEST = ("test", "alternative", "level", "correction", "samples", "seed")


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise UsageError where an option is none of *known*; names each, and the nearest known one."""
    unknown = [f"unknown option {name!r}{did_you_mean(name, known)}" for name in given if name not in known]
    if unknown:
        raise UsageError("; ".join(unknown))


def _tags_of(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """A text would be taken for its letters."""
    tags = given.get("tags", ())
    if isinstance(tags, str):
        raise UsageError(f"tags is the text {tags!r}, expected a sequence of tags: tags=[{tags!r}]")
    return {"tags": tuple(tags)} if "tags" in given else {}


def _baseline_of(given: Mapping[str, Any]) -> dict[str, Path]:
    return {"baseline": Path(given["baseline"])} if given.get("baseline") is not None else {}


def merged(defaults: RunOptions, given: Mapping[str, Any]) -> RunOptions:
    """
    *defaults* with what a call has *given*.

    Raises:
        UsageError: an option is not known, or is not of its kind.
    """
    refuse_unknown(given, [field.name for field in fields(RunOptions)])
    given = {**given, **_tags_of(given), **_baseline_of(given)}
    servers: dict[str, Any] = {"url": None, "cluster": None, "embedded": False, "client": None}
    chosen = [name for name in servers if given.get(name) not in (None, False, "")]
    if chosen:
        version = defaults.engine_version if "embedded" in chosen else None
        defaults = replace(defaults, **servers, engine_version=version)
    return replace(defaults, **given)
