"""A measure made ready to be computed: defaults filled in, by profile; the gain in force; how far it can go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from harness.measures.builtin import definition_of
from harness.measures.definition import Definition, Range, Settings
from harness.measures.parameters import read_gain
from harness.measures.profiles import rules_of
from harness.model import Gain, Measure, Profile

__all__ = ["deepest_cutoff", "gain_in_force", "measure_range", "settings_for", "settings_of", "takes_level"]


def settings_of(measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD) -> Settings:
    """*measure* made ready: what its text gives, else what the profile has, else the defaults; the gain in force."""
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
    """As `settings_of`, for one query: under some profiles its *judgments* say from which grade on it is relevant."""
    settings, level = settings_of(measure, gain, profile), rules_of(profile).level
    if level is None or not takes_level(measure, settings):
        return settings
    return replace(settings, values={**settings.values, "rel": level(judgments.values())})


def takes_level(measure: Measure, settings: Settings) -> bool:
    """Whether *measure* asks from which grade on a document is relevant, and its text does not say."""
    return "rel" in settings.values and "rel" not in dict(measure.parameters) and not settings.given("max")


def gain_in_force(measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD) -> Gain:
    """
    The gain that a score is computed with: the measure's own, else *gain*, else the profile's.

    Raises:
        UsageError: *gain* is something else than a gain, which must not be taken for none.
    """
    given = dict(measure.parameters).get("gain", gain)
    if given is not None:
        return given if isinstance(given, Gain) else read_gain(given)
    profiled = dict(rules_of(profile).defaults_of(measure.name)).get("gain")
    return profiled if isinstance(profiled, Gain) else Gain(rules_of(profile).gain)


def measure_range(measure: Measure, gain: Gain | None = None) -> Range:
    """
    The least and the greatest value that *measure* can reach under any profile, None where there is no such bound.

    *gain* is the suite's, used where the measure's text gives none; None stands for the standard one.
    """
    return definition_of(measure).reach(settings_of(measure, gain))


def deepest_cutoff(measures: Iterable[Measure]) -> int | None:
    """The largest cutoff among *measures*, None where none of them has one."""
    return max((measure.cutoff for measure in measures if measure.cutoff is not None), default=None)
