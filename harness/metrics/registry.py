"""
The measures that can be written by name: the harness's own, those of installed packages, and those registered.

Measures that are not the harness's own are user code. Their values are converted to float here, and their errors to
`MeasureError`, so that other modules need not handle other types or unexpected errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache, partial
from math import isfinite
from typing import TYPE_CHECKING, SupportsFloat, TypeVar

from harness.errors import HarnessError, MeasureError, UndefinedScore, UnknownMeasure, UsageError
from harness.metrics import binary, cumulative, diversity, incomplete, rank_correlation, sets, user_models
from harness.metrics.definition import BatchFormula, Definition, Range, Settings, read_gain
from harness.metrics.profiles import profile_gain, rules_of
from harness.model.suite import Gain, Measure, Profile

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.statistics.tests import FloatArray

MEASURE_ENTRY_POINTS = "relevance_harness.measures"
"""The entry point group in which a package offers its `Definition` objects."""

OTHER_NAMES = {
    "average_precision": "AP",
    "map": "AP",
    "map_cut": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "mean_reciprocal_rank": "RR",
    "prec": "P",
    "precision": "P",
    "recall": "R",
    "iprec_at_recall": "IPrec",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "setrelp": "SetP",
    "f1": "F",
    "ndcg_cut": "nDCG",
    "cumulative_gain": "CG",
    "hit": "Success",
    "hits": "Success",
    "hit_rate": "Success",
    "expected_reciprocal_rank": "ERR",
    "q": "Q",
    "qmeasure": "Q",
    "set_f": "SetF",
    "num_q": "NumQ",
}
"""Names of measures in other tools, in lower case; only for the hint in an error."""


LONGEST_SHOWN = 60
"""Characters of a user function's value that an error repeats."""


class Registry:
    """Definitions by name; packages' entry points are only loaded for a name that is not known otherwise."""

    def __init__(self, definitions: Iterable[Definition] = ()) -> None:
        """
        Args:
            definitions: The harness's own.
        """
        self._definitions = {definition.name: definition for definition in definitions}
        self._added: dict[str, Definition] = {}
        self._replaceable: set[str] = set()
        self._entry_points_read = False

    def add(self, definition: Definition) -> None:
        """
        Register a measure of the user.

        Raises:
            UsageError: the name is taken by another definition, or cannot be written in a measure's text.
        """
        name = definition.name
        if not (name.isascii() and name.isidentifier()):
            raise UsageError(
                f"{name!r} is not a valid name of a measure: expected letters, digits and _, with a letter first"
            )
        if self._added.get(name) is definition:
            return
        if name in self._definitions and name not in self._replaceable and not _is_interactive(definition):
            raise UsageError(f"a measure named {name} is already registered")
        self._replaceable.discard(name)
        self._added[name] = definition
        self._definitions[name] = _guard(definition)

    def let_replace(self) -> None:
        """Allow each measure added so far to be replaced, by code that is executed again."""
        self._replaceable.update(self._added)

    def find(self, name: str) -> Definition | None:
        """The definition of *name*, None where there is none."""
        if name not in self._definitions and not self._entry_points_read:
            self._read_entry_points()
        return self._definitions.get(name)

    def names(self) -> list[str]:
        """All known names, packages' own included."""
        if not self._entry_points_read:
            self._read_entry_points()
        return list(self._definitions)

    def find_nearest(self, name: str) -> str | None:
        """The known measure that *name* probably means."""
        names = {known.lower(): known for known in self.names()}
        # A measure of that spelling comes before what another tool calls so.
        meanings = {**OTHER_NAMES, **names}
        folded = name.lower()
        if folded in meanings:
            return meanings[folded]
        near = get_close_matches(folded, [*names, *OTHER_NAMES], n=1, cutoff=0.5)
        return meanings[near[0]] if near else None

    def _read_entry_points(self) -> None:
        from importlib.metadata import entry_points

        for entry_point in entry_points(group=MEASURE_ENTRY_POINTS):
            called = f"entry point {entry_point.name} of {MEASURE_ENTRY_POINTS} ({entry_point.value})"
            try:
                definition = entry_point.load()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # `pytest.importorskip` would skip the suite
                raise UsageError(f"{called} cannot be loaded: {_describe_error(error)}") from error
            if not isinstance(definition, Definition):
                raise UsageError(f"{called} is no measure Definition")
            self.add(definition)
        self._entry_points_read = True


def _is_interactive(definition: Definition) -> bool:
    """Whether it was written in a notebook or at a prompt, where a cell is executed as often as its author likes."""
    formula = definition.formula or definition.diverse
    return getattr(formula, "__module__", None) == "__main__" and not hasattr(sys.modules["__main__"], "__file__")


Given = TypeVar("Given")


def _guard(definition: Definition) -> Definition:
    """*definition* with its functions wrapped: they return values of the expected types, or raise MeasureError."""
    name = definition.name
    reach, check = partial(_call_for_range, name, definition.reach), partial(_call, name, "check", definition.check)
    guarded = replace(definition, reach=reach, check=check)
    if definition.formula is not None:
        guarded.formula = partial(_call_for_score, name, "formula", definition.formula)
    if definition.diverse is not None:
        guarded.diverse = partial(_call_for_score, name, "formula", definition.diverse)
    if definition.batch is not None:
        guarded.batch = partial(_call_for_scores, name, definition.batch)
    if definition.worth is not None:
        guarded.worth = partial(_call_for_score, name, "worth", definition.worth)
    return guarded


def _call_for_score(name: str, what: str, function: Callable[..., object], *given: object) -> float:
    return _convert_number(_call(name, what, function, *given), f"the {what} of {name} gave")


def _call_for_scores(name: str, formula: BatchFormula, batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    try:
        result = _call(name, "batch formula", formula, batch, settings)
    except UndefinedScore as error:  # of all queries at once
        raise MeasureError(f"the batch formula of {name} raised {_describe_error(error)}") from error
    expected = f"expected one number for each of {batch.queries} queries"
    try:
        values = np.asarray(result, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MeasureError(f"the batch formula of {name} gave {_format_value(result)}, {expected}") from None
    if values.shape != (batch.queries,):
        raise MeasureError(f"the batch formula of {name} gave an array of shape {values.shape}, {expected}")
    return values


def _call_for_range(name: str, reach: Callable[[Settings], object], settings: Settings) -> Range:
    ends = _call(name, "reach", reach, settings)
    if not isinstance(ends, tuple) or len(ends) != 2:
        raise MeasureError(f"the reach of {name} is {_format_value(ends)}, expected the least and the greatest value")
    least, greatest = ends
    return _convert_end(name, least), _convert_end(name, greatest)


def _convert_end(name: str, end: object) -> float | None:
    return None if end is None else _convert_number(end, f"the reach of {name} holds")


def _call(name: str, what: str, function: Callable[..., Given], *given: object) -> Given:
    """Call a user's function; errors of the harness, such as `UndefinedScore`, pass through."""
    try:
        return function(*given)
    except (HarnessError, KeyboardInterrupt):
        raise
    except BaseException as error:  # `pytest.skip` would skip the items of the suite
        raise MeasureError(f"the {what} of {name} raised {_describe_error(error)}") from error


def _convert_number(value: object, subject: str) -> float:
    """
    *value* as a float; numbers of numpy, Decimal, Fraction, True and False are converted too.

    Raises:
        MeasureError: *value* is not a number, such as a text or an array, or is not finite.
    """
    number = None
    # An array of one number would be converted too, and hide that the formula is one for batches.
    if isinstance(value, SupportsFloat) and not hasattr(value, "__len__"):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if number is None or not isfinite(number):
        raise MeasureError(f"{subject} {_format_value(value)}, expected a finite number")
    return number


def _format_value(value: object) -> str:
    """As Python writes it, if it can and that is short."""
    try:
        text = repr(value)
    except Exception:
        text = ""
    return text if 0 < len(text) <= LONGEST_SHOWN else f"an object of type {type(value).__name__}"


def _describe_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


DEFINITIONS: tuple[Definition, ...] = (
    *cumulative.MEASURES,
    *rank_correlation.MEASURES,
    *binary.MEASURES,
    *sets.MEASURES,
    *incomplete.MEASURES,
    *user_models.MEASURES,
    *diversity.MEASURES,
)

_REGISTRY = Registry(DEFINITIONS)


def register_measure(definition: Definition) -> None:
    """
    Register a measure of your own, so that suites can name it; in a conftest.py, or by an entry point.

    A measure that an earlier pytest session of the process registered, or a cell of a notebook, is replaced.

    Raises:
        UsageError: the name is taken, or cannot stand in a measure's text.
    """
    _REGISTRY.add(definition)


def let_measures_be_replaced() -> None:
    """Allow registered measures to be replaced: each pytest session of a process reads its conftest.py again."""
    _REGISTRY.let_replace()


def definition_of(measure: Measure) -> Definition:
    """The definition of *measure*."""
    return find_definition(measure.name)


def batch_formula_of(measure: Measure, profile: Profile) -> BatchFormula | None:
    """The formula of *measure* for many queries at once under *profile*; None where it is scored query by query."""
    rules, given = rules_of(profile), dict(measure.parameters)
    if measure.name in rules.formulas or "unjudged" in given or (rules.cuts_first and given.get("judged_only")):
        return None
    return definition_of(measure).batch


def is_built_in(measure: Measure) -> bool:
    """Whether *measure* is the harness's own, and not from a package or a conftest.py."""
    definition = definition_of(measure)
    return any(definition is built_in for built_in in DEFINITIONS)


def find_definition(name: str, offset: int = 0) -> Definition:
    """
    The definition of *name*, found at *offset* in the user's text.

    Raises:
        UnknownMeasure: there is none; suggests the nearest known name.
    """
    definition = _REGISTRY.find(name)
    if definition is None:
        near = _REGISTRY.find_nearest(name)
        hint = f"did you mean {near}?" if near else f"known are {', '.join(_REGISTRY.names())}"
        raise UnknownMeasure(f"unknown measure {name}; {hint}", offset)
    return definition


def settings_of(measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD) -> Settings:
    """The settings of *measure*: parameters of its text, else of the profile, else the defaults; the gain in force."""
    return _settings(definition_of(measure), measure, gain, profile)


@lru_cache(maxsize=512)
def _settings(definition: Definition, measure: Measure, gain: Gain | None, profile: Profile) -> Settings:
    defaults = {name: kind.default for name, kind in definition.parameters.items()}
    profiled = {name: value for name, value in rules_of(profile).defaults_of(measure.name) if name in defaults}
    values = {**defaults, **profiled, **dict(measure.parameters)}
    return Settings(measure.cutoff, gain_in_force(measure, gain, profile), values)


def settings_for(
    measure: Measure,
    judgments: Mapping[str, float],
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> Settings:
    """As `settings_of`, for one query: under some profiles the least relevant grade depends on its *judgments*."""
    settings, level = settings_of(measure, gain, profile), rules_of(profile).level
    if level is None or not needs_level(measure, settings):
        return settings
    return replace(settings, values={**settings.values, "rel": level(judgments.values())})


def needs_level(measure: Measure, settings: Settings) -> bool:
    """Whether *measure* depends on the least relevant grade, and its text does not give it."""
    return "rel" in settings.values and "rel" not in dict(measure.parameters) and not settings.given("max")


def gain_in_force(measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD) -> Gain:
    """
    The gain that a score is computed with: the measure's own, else *gain*, else the profile's.

    A *gain* equal to the profile's general one leaves the profile's gain for this measure in force: suites, reports and
    baselines hold the general gain, whether it was named or not.

    Raises:
        UsageError: *gain* is not a gain; it must not be treated as None.
    """
    own_gain = dict(measure.parameters).get("gain")
    if own_gain is not None:
        return own_gain if isinstance(own_gain, Gain) else read_gain(own_gain)
    general = profile_gain(profile)
    if gain is not None:
        given = gain if isinstance(gain, Gain) else read_gain(gain)
        if given != general:
            return given
    # Such as Quepid's CG, which sums the grades themselves.
    gain_of_measure = dict(rules_of(profile).defaults_of(measure.name)).get("gain")
    return gain_of_measure if isinstance(gain_of_measure, Gain) else general


def measure_range(measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD) -> Range:
    """
    The least and the greatest value that *measure* can reach under *profile*, None where there is no such bound.

    *gain* is the suite's, used where the measure's text gives none; None stands for the profile's own.
    """
    reach = rules_of(profile).ranges.get(measure.name, definition_of(measure).reach)
    return reach(settings_of(measure, gain, profile))


def deepest_cutoff(measures: Iterable[Measure]) -> int | None:
    """The largest cutoff among *measures*, None where none of them has one."""
    return max((measure.cutoff for measure in measures if measure.cutoff is not None), default=None)
