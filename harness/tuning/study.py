"""
The trials of a tuning in the storage of Optuna, and the values that its samplers propose.

The only module that imports Optuna. A trial is kept with its scores by query, so that a tuning that was killed goes on
with what it has, and sends nothing again.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError, missing_package
from harness.files.writing import write_whole
from harness.model import Json, ParameterKind, TunedParameter, TuningSpace
from harness.suites.parameters import format_choice
from harness.tuning.asking import TrialAnswer

if TYPE_CHECKING:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileOpenLock

DIGITS = 4
"""The significant digits of a proposed number: more make no difference to a ranking, and none can be read."""
MOST_OF_GRID = 100_000
"""The trials of a grid that are counted out; a grid of more is refused."""

ANSWER = "answer"
VALUES = "values"
REQUESTS = "requests"
BROKEN = "broken"
"""The names under which a trial is kept, among the user attributes of Optuna."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The values that the next trial tries."""

    number: int
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class KeptTrial:
    """A trial that was answered, with what is known of it."""

    number: int
    values: Mapping[str, Json]
    requests: str
    """A fingerprint of its request."""
    answer: TrialAnswer
    mean: float | None
    broken: tuple[str, ...] = ()


@dataclass(slots=True)
class StudySettings:
    """Which study is continued, and how further values are proposed."""

    name: str
    space: TuningSpace
    sampler: str
    seed: int


@dataclass(slots=True)
class Study:
    """The trials of a tuning, in the order in which they were made."""

    settings: StudySettings
    study: optuna.Study
    storage: Any
    """Where it is kept, with the earlier studies of the suite."""
    kept: list[KeptTrial] = field(default_factory=list)
    _asked: optuna.Trial | None = None
    """The trial that is being sent."""
    _grid: Iterator[dict[str, Json]] | None = None

    def propose(self) -> Proposal | None:
        """The next trial to send; None where all of a grid were. The first is today's request."""
        settings = self.settings
        # The seed of each trial follows from how many there are, so that a tuning that was killed goes on as if it had
        # not been.
        self.study.sampler = make_sampler(settings.sampler, settings.seed + len(self.kept))
        if not self.kept:
            self._enqueue(settings.space.today)
        elif settings.sampler == "grid":
            point = self._find_next_of_grid()
            if point is None:
                return None
            self._enqueue(point)
        with quiet_optuna():
            self._asked = self.study.ask()
            values = settings.space.today if not self.kept else suggest(self._asked, settings.space)
        self._asked.set_user_attr(VALUES, dict(values))
        return Proposal(self._asked.number, values)

    def _enqueue(self, values: Mapping[str, Json]) -> None:
        """Let the next trial have *values*."""
        with quiet_optuna():
            self.study.enqueue_trial(encode_values(self.settings.space, values))

    def _find_next_of_grid(self) -> dict[str, Json] | None:
        if self._grid is None:
            self._grid = iter(list_grid(self.settings.space, self.settings.seed))
        known = [dict(trial.values) for trial in self.kept]
        return next((point for point in self._grid if point not in known), None)

    def keep(self, trial: KeptTrial) -> None:
        """Store *trial*, which was proposed last."""
        assert self._asked is not None
        answer = trial.answer
        self._asked.set_user_attr(REQUESTS, trial.requests)
        self._asked.set_user_attr(BROKEN, list(trial.broken))
        content = {
            "scores": dict(answer.scores),
            "judged": answer.judged,
            "verdicts": dict(answer.verdicts),
            "greatest": dict(answer.greatest),
            "failure": answer.failure,
            "mean": trial.mean,
        }
        self._asked.set_user_attr(ANSWER, content)
        _tell(self.study, trial.number, trial.mean)
        self.kept.append(trial)

    def read_note(self, name: str) -> Json:
        """What `write_note` kept of the study under *name*; None if there is nothing."""
        return self.study.user_attrs.get(name)

    def write_note(self, name: str, value: Json) -> None:
        """Keep *value* with the study under *name*."""
        self.study.set_user_attr(name, value)

    def list_sent(self, suite: str) -> set[str]:
        """The queries that trials of any study of *suite* were sent, as far as they have a score."""
        sent: set[str] = set()
        for study in self._list_studies(suite):
            for trial in study.get_trials(deepcopy=False):
                content = trial.user_attrs.get(ANSWER)
                if content is not None:
                    sent.update(content["scores"])
        return sent

    def list_notes(self, suite: str, name: str) -> list[Json]:
        """What `write_note` kept under *name* of each study of *suite*."""
        notes = [study.user_attrs.get(name) for study in self._list_studies(suite)]
        return [note for note in notes if note is not None]

    def _list_studies(self, suite: str) -> list[optuna.Study]:
        import optuna

        with quiet_optuna():
            names = optuna.get_all_study_names(storage=self.storage)
            of_suite = [name for name in names if name.startswith(f"{suite} ")]
            return [optuna.load_study(study_name=name, storage=self.storage) for name in of_suite]

    def find_importance(self) -> dict[str, float]:
        """How much of the spread of the means each parameter explains; empty where there are too few trials."""
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        if sum(trial.mean is not None for trial in self.kept) < FEWEST_FOR_IMPORTANCE:
            return {}
        try:
            with quiet_optuna():
                importances = get_param_importances(self.study, evaluator=PedAnovaImportanceEvaluator())
        except (ValueError, RuntimeError):
            # All means are the same, or no parameter is in all trials.
            return {}
        return {name: float(value) for name, value in importances.items() if math.isfinite(value)}


FEWEST_FOR_IMPORTANCE = 10
"""Trials below whose number nothing is said of the importance of parameters."""


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Without what Optuna warns of: experimental functions, and lists among choices, which are kept as texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def require_optuna() -> None:
    """Raise UsageError where the packages of the extra are not installed."""
    for package in ("numpy", "scipy", "optuna", "cmaes"):
        try:
            __import__(package)
        except ImportError:
            raise missing_package("`harness tune` needs", package, "tune") from None


@contextmanager
def open_study(storage: str, settings: StudySettings) -> Iterator[Study]:
    """
    Open the study of *settings* in *storage*, with the trials that it has, until the end of the block.

    Args:
        storage: The URL of a database, or the path of a journal file.
        settings: Say which study it is.

    Raises:
        UsageError: The storage cannot be opened, or another tuning writes to the file.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with open_storage(storage) as opened:
        try:
            with quiet_optuna():
                study = optuna.create_study(
                    storage=opened, study_name=settings.name, direction="maximize", load_if_exists=True
                )
                kept = _read_trials(study)
        except Exception as error:
            # Optuna, SQLAlchemy and the driver of the database each have errors of their own.
            raise UsageError(f"the storage {hide_login(storage)} cannot be used: {hide_login(str(error))}") from None
        yield Study(settings, study, opened, kept)


@contextmanager
def open_storage(storage: str) -> Iterator[Any]:
    """What Optuna takes as its storage: the URL of a database, or a journal file that nobody else writes to."""
    if "://" in storage:
        yield storage
        return
    from filelock import FileLock, Timeout

    path = Path(storage)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(f"{path} is a folder, or is in one that does not exist; expected the path of a journal")
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(f"another tuning writes to {path}; wait for it, or give another file with --storage") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    try:
        yield _open_journal(path)
    finally:
        lock.release()
        Path(f"{path}.lock").unlink(missing_ok=True)


def _open_journal(path: Path) -> JournalStorage:
    """The journal in *path*, which is made where there is none."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        _cut_torn_line(path)
        with quiet_optuna():
            return JournalStorage(JournalFileBackend(str(path), lock_obj=_make_held_lock(path)))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def _make_held_lock(path: Path) -> JournalFileOpenLock:
    """A lock of a journal that this process holds anyway: Optuna's own would stay behind a process that is killed."""
    from optuna.storages.journal import JournalFileOpenLock

    class HeldLock(JournalFileOpenLock):
        def acquire(self) -> bool:
            return True

        def release(self) -> None:
            pass

    return HeldLock(str(path))


def _cut_torn_line(path: Path) -> None:
    """Remove a last line without end: Optuna would append to what a killed process has half written."""
    if not path.exists():
        return
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        write_whole(path, content[: content.rfind(b"\n") + 1])


def hide_login(text: str) -> str:
    """
    *text* without the password of a URL.

    >>> hide_login("cannot open postgresql://me:secret@host/studies")
    'cannot open postgresql://…@host/studies'
    """
    before, separator, rest = text.partition("://")
    login, at, host = rest.partition("@")
    if not separator or not at or " " in login or "/" in login:
        return text
    return f"{before}://…@{host}"


def _tell(study: optuna.Study, number: int, mean: float | None) -> None:
    """End the trial *number* with its *mean*; None where it has none."""
    import optuna

    with quiet_optuna():
        if mean is None:
            study.tell(number, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(number, mean)


def _read_trials(study: optuna.Study) -> list[KeptTrial]:
    """The trials that were answered; those that a killed process left are ended."""
    import optuna

    kept = []
    for trial in study.get_trials(deepcopy=False):
        attributes = trial.user_attrs
        content = attributes.get(ANSWER)
        if trial.state is optuna.trial.TrialState.RUNNING:
            _tell(study, trial.number, None if content is None else content["mean"])
        if content is None:
            continue
        answer = TrialAnswer(
            scores=content["scores"],
            judged=content["judged"],
            verdicts=content["verdicts"],
            greatest=content.get("greatest", {}),
            failure=content["failure"],
        )
        broken = tuple(attributes[BROKEN])
        values, requests = attributes[VALUES], attributes[REQUESTS]
        kept.append(KeptTrial(trial.number, values, requests, answer, content["mean"], broken))
    return kept


# Samplers.


def make_sampler(name: str, seed: int) -> optuna.samplers.BaseSampler:
    """The sampler of that *name*; a grid is counted out beside it."""
    import optuna

    with quiet_optuna():
        if name == "cmaes":
            return optuna.samplers.CmaEsSampler(
                seed=seed,
                independent_sampler=optuna.samplers.RandomSampler(seed=seed),
                warn_independent_sampling=False,
            )
        if name == "tpe":
            return optuna.samplers.TPESampler(seed=seed, warn_independent_sampling=False, constraints_func=count_broken)
        return optuna.samplers.RandomSampler(seed=seed)


def count_broken(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
    """How many constraints *trial* breaks, as a sampler wants it."""
    return [float(len(trial.user_attrs.get(BROKEN, ())))]


def suggest(trial: optuna.Trial, space: TuningSpace) -> dict[str, Json]:
    """The values that *trial* tries; a parameter without effect has its value of today."""
    values: dict[str, Json] = {}
    for parameter in space.parameters:
        values[parameter.name] = parameter.today
        if parameter.is_in_force(values):
            values[parameter.name] = _suggest_one(trial, parameter)
    return values


def _suggest_one(trial: optuna.Trial, parameter: TunedParameter) -> Json:
    if parameter.has_choices:
        texts = [format_choice(choice) for choice in parameter.choices]
        return json.loads(trial.suggest_categorical(parameter.name, texts))
    if parameter.kind is ParameterKind.INTEGER:
        return trial.suggest_int(parameter.name, int(parameter.low), int(parameter.high), log=parameter.log)
    return round_value(parameter, trial.suggest_float(parameter.name, parameter.low, parameter.high, log=parameter.log))


def round_value(parameter: TunedParameter, value: float) -> int | float:
    """
    *value* with as many digits as matter, within the range of *parameter*.

    >>> round_value(TunedParameter("boost", ParameterKind.FLOAT, 2, low=1, high=8), 2.718281828)
    2.718
    """
    if value == parameter.today:
        rounded = value
    else:
        rounded = min(max(float(f"{value:.{DIGITS}g}"), parameter.low), parameter.high)
    return int(rounded) if float(rounded).is_integer() else rounded


def encode_values(space: TuningSpace, values: Mapping[str, Json]) -> dict[str, Any]:
    """*values* as Optuna stores them: choices as texts, and without parameters that have no effect."""
    encoded: dict[str, Any] = {}
    for parameter in space.parameters:
        if not parameter.is_in_force(values):
            continue
        value = values[parameter.name]
        if parameter.has_choices:
            encoded[parameter.name] = format_choice(value)
        elif parameter.kind is ParameterKind.FLOAT:
            encoded[parameter.name] = float(value)
        else:
            encoded[parameter.name] = value
    return encoded


def list_grid(space: TuningSpace, seed: int) -> list[dict[str, Json]]:
    """
    The points of the grid, each once, in random order: where there are more than trials, these are a fair part of it.

    Raises:
        UsageError: It has more than `MOST_OF_GRID` points.
    """
    axes = [list_grid_values(parameter) for parameter in space.parameters]
    size = math.prod(map(len, axes))
    if size > MOST_OF_GRID:
        raise UsageError(
            f"the grid has {size:,} points, expected at most {MOST_OF_GRID:,}; lower 'grid' of some parameters, or "
            "take another sampler"
        )
    names = [parameter.name for parameter in space.parameters]
    points: dict[str, dict[str, Json]] = {}
    for point in itertools.product(*axes):
        settled = space.settle(dict(zip(names, point, strict=True)))
        points.setdefault(format_choice(settled), settled)
    listed = list(points.values())
    random.Random(seed).shuffle(listed)
    return listed


def list_grid_values(parameter: TunedParameter) -> list[Json]:
    """
    The values of *parameter* in a grid, evenly spread, or by their logarithm.

    >>> list_grid_values(TunedParameter("boost", ParameterKind.FLOAT, 2, low=1, high=16, log=True))
    [1, 2, 4, 8, 16]
    """
    if parameter.has_choices:
        return list(parameter.choices)
    values: dict[Json, None] = {}
    for step in range(parameter.grid):
        share = step / (parameter.grid - 1)
        if parameter.log:
            value = parameter.low * (parameter.high / parameter.low) ** share
        else:
            value = parameter.low + (parameter.high - parameter.low) * share
        values[round(value) if parameter.kind is ParameterKind.INTEGER else round_value(parameter, value)] = None
    return list(values)
