"""
The trials of a tuning in the storage of Optuna, and the values that its samplers propose.

The only module that imports Optuna. A trial is kept with its scores by query, so that a tuning that was killed goes on
with what it has, and sends nothing again.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from harness.errors import UsageError, missing_package
from harness.extensions.tuning.asking import TrialAnswer
from harness.files.beside import BesideFile
from harness.files.locks import LockHeld
from harness.files.writing import PUBLIC
from harness.masking import Masker
from harness.model.suite import Json, ParameterKind, TunedParameter, TuningSpace
from harness.suites.parameters import format_choice

if TYPE_CHECKING:
    import optuna
    from optuna.storages.journal import BaseJournalBackend

_DIGITS = 4
"""The significant digits of a proposed number: more make no difference to a ranking, and none can be read."""
MOST_OF_GRID = 100_000
"""The trials of a grid that are counted out; a grid of more is refused."""

ANSWER = "answer"
VALUES = "values"
REQUESTS = "requests"
_BROKEN = "broken"
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


SIGNS = "signs"
"""The name of the note on the queries of a study; those of earlier versions have none."""


@dataclass(frozen=True, slots=True)
class SentQueries:
    """The queries that trials were sent, by their *signs*; by their *ids* where nothing else is known of them."""

    signs: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)


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
        """The next values of the grid that no trial has; None where all were tried."""
        if self._grid is None:
            self._grid = iter(list_grid(self.settings.space, self.settings.seed))
        tried = [dict(trial.values) for trial in self.kept]
        for values in self._grid:
            if values not in tried:
                return values
        return None

    def add_trial(self, trial: KeptTrial) -> None:
        """Store *trial*, which was proposed last."""
        assert self._asked is not None
        answer = trial.answer
        self._asked.set_user_attr(REQUESTS, trial.requests)
        self._asked.set_user_attr(_BROKEN, list(trial.broken))
        content = {
            "scores": dict(answer.scores),
            "judged": answer.judged,
            "verdicts": dict(answer.verdicts),
            "greatest": dict(answer.greatest),
            "failure": answer.failure,
            "false_hits": list(answer.false_hits),
            "mean": trial.mean,
        }
        self._asked.set_user_attr(ANSWER, content)
        _finish_trial(self.study, trial.number, trial.mean)
        self.kept.append(trial)

    def read_note(self, name: str) -> Json:
        """What `write_note` kept of the study under *name*; None if there is nothing."""
        return self.study.user_attrs.get(name)

    def write_note(self, name: str, value: Json) -> None:
        """Keep *value* with the study under *name*."""
        self.study.set_user_attr(name, value)

    def write_signs(self, signs: Mapping[str, Sequence[str]]) -> None:
        """Keep with the study by which *signs* the queries can be told that its trials are sent, by their ids."""
        if self.read_note(SIGNS) is None:
            self.write_note(SIGNS, {query: list(of_query) for query, of_query in signs.items()})

    def list_sent(self, suite: str) -> SentQueries:
        """
        The queries that trials of any study in the storage were sent, as far as they have a score.

        Of studies without signs, those of *suite* count: ids such as "q1" are those of other queries in other suites.
        """
        sent = SentQueries()
        for study in self._list_studies():
            signs_by_query = study.user_attrs.get(SIGNS)
            if signs_by_query is None and not self._may_be_of(study, suite):
                continue
            for trial in study.get_trials(deepcopy=False):
                content = trial.user_attrs.get(ANSWER)
                if content is None:
                    continue  # it was proposed, and has no answer
                for query in content["scores"]:
                    if signs_by_query is None:
                        sent.ids.add(query)
                    else:
                        sent.signs.update(signs_by_query.get(query, ()))
        return sent

    def list_notes(self, suite: str, name: str) -> list[tuple[Json, bool]]:
        """What `write_note` kept under *name* of each study in the storage, and whether that may be one of *suite*."""
        notes = [(study.user_attrs.get(name), self._may_be_of(study, suite)) for study in self._list_studies()]
        return [(note, may_be_of_suite) for note, may_be_of_suite in notes if note is not None]

    def _may_be_of(self, study: optuna.Study, suite: str) -> bool:
        """Whether *study* is one of *suite*: in a journal, which is of one suite, it had another name before."""
        is_shared = isinstance(self.storage, str)
        return not is_shared or study.study_name.startswith(f"{suite} ")

    def _list_studies(self) -> list[optuna.Study]:
        """All studies in the storage."""
        import optuna

        with quiet_optuna():
            names = optuna.get_all_study_names(storage=self.storage)
            return [optuna.load_study(study_name=name, storage=self.storage) for name in names]

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
            raise missing_package("`relevance tune` needs", package, "tune") from None


_SHORTEST_SECRET = 3
"""The characters that a part of a login has at least to be masked alone: less would be found in any word."""

_BEGIN = b'{"op_code":'
"""How each line of a journal of trials begins."""

MOST_OF_JOURNAL = 2**30
"""Bytes of a journal of trials: a thousand trials of ten thousand queries have a third of that."""


@contextmanager
def open_study(storage: str | BesideFile, settings: StudySettings) -> Iterator[Study]:
    """
    Open the study of *settings* in *storage*, with the trials that it has, until the end of the block.

    Args:
        storage: The URL of a database, or a journal file.
        settings: Say which study it is.

    Raises:
        UsageError: The storage cannot be opened, or another tuning writes to the file.
    """
    import optuna
    from optuna.storages import JournalStorage

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with open_storage(storage) as opened:
        length = 0 if isinstance(opened, str) else opened.seek(0, os.SEEK_END)
        try:
            with quiet_optuna():
                kept_in = opened if isinstance(opened, str) else JournalStorage(_make_journal(opened))
                study = optuna.create_study(
                    storage=kept_in, study_name=settings.name, direction="maximize", load_if_exists=True
                )
                kept = _read_trials(study)
        except Exception as error:
            # Optuna, SQLAlchemy and the driver of the database each have errors of their own.
            raise UsageError(describe_storage_error(storage, str(error))) from None
        number = len(kept)
        try:
            yield Study(settings, study, kept_in, kept)
        except UsageError:
            # A tuning that is refused leaves the journal as it was, without the study that was begun for it.
            if not isinstance(opened, str) and len(kept) == number:
                opened.truncate(length)
            raise


@contextmanager
def open_storage(storage: str | BesideFile) -> Iterator[str | IO[bytes]]:
    """The URL of a database, or an open journal file that nobody else writes to."""
    if isinstance(storage, str):
        yield storage
        return
    path = storage.path
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(f"{path} is a folder, or is in one that does not exist; expected the path of a journal")
    with ExitStack() as resources:
        try:
            resources.enter_context(replace(storage, path=path.with_name(f"{path.name}.lock")).hold_lock())
            file = resources.enter_context(storage.open_to_append(PUBLIC, MOST_OF_JOURNAL))
        except LockHeld:
            remedy = "wait for it, or give another file with --storage"
            raise UsageError(f"another tuning writes to {path}; {remedy}") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
        yield file


def _make_journal(file: IO[bytes]) -> BaseJournalBackend:
    """The journal in *file*, which this process alone writes. Optuna's own class would open it again, by its path."""
    from optuna.storages.journal import BaseJournalBackend

    # Not read as files of ours are: Optuna keeps NaN where a trial has no value.
    kept: list[dict[str, Any]] = []
    length = 0
    file.seek(0)
    for number, line in enumerate(file, start=1):
        is_whole = line.endswith(b"\n")
        if not is_whole and line[: len(_BEGIN)] == _BEGIN[: len(line)]:
            # What a killed process has half written: the next line would continue it.
            break
        if not is_whole or "op_code" not in json.loads(line):
            raise ValueError(f"line {number} is none of a journal of trials")
        kept.append(json.loads(line))
        length += len(line)
    file.truncate(length)

    class HeldJournal(BaseJournalBackend):
        """Logs as Optuna's JournalFileBackend writes them: an object of JSON a line."""

        def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
            yield from kept[log_number_from:]

        def append_logs(self, logs: list[dict[str, Any]]) -> None:
            for log in logs:
                line = json.dumps(log, separators=(",", ":")).encode() + b"\n"
                file.write(line)
                kept.append(json.loads(line))
            file.flush()
            os.fsync(file.fileno())

    return HeldJournal()


def describe_storage_error(storage: str | BesideFile, problem: str) -> str:
    """
    Why *storage* cannot be used: *problem*, in the words of a library, without the passwords of a URL.

    >>> describe_storage_error("mysql://me:pa/ss word@host/studies?ssl_key=abc", "no login of me with pa/ss word")
    'the storage mysql://…@host/studies?… cannot be used: no login of me with ${password}'
    """
    if isinstance(storage, BesideFile):
        return f"the storage {storage.path} cannot be used: {problem}"
    return (
        f"the storage {hide_login(storage)} cannot be used: {Masker({}, find_storage_secrets(storage)).mask(problem)}"
    )


def hide_login(url: str) -> str:
    """
    The *url* of a database without its login and its options; of one that is not clear, nothing but its scheme.

    >>> hide_login("postgresql://me:secret@host/studies"), hide_login("postgresql://me:what?@host/studies")
    ('postgresql://…@host/studies', 'postgresql://…')
    """
    scheme, _, rest = url.partition("://")
    address, question_mark, options = rest.partition("?")
    _, at, place = address.rpartition("@")
    port = place.partition("/")[0].rpartition(":")[2]
    has_other_port = ":" in place.partition("/")[0] and not port.isdigit()
    if "@" in options or has_other_port or not scheme.replace("+", "").replace("_", "").isalnum():
        return f"{scheme if scheme.isalnum() else ''}://…"
    shown = f"…@{place}" if at else place
    return f"{scheme}://{shown}?…" if question_mark else f"{scheme}://{shown}"


def find_storage_secrets(url: str) -> dict[str, str]:
    """All parts of the *url* of a database that may be a secret, by what they are; in what is not clear, all parts."""
    rest = url.partition("://")[2]
    address, _, options = rest.partition("?")
    login = address.rpartition("@")[0]
    # What is not clear may be a secret as a whole.
    parts = [rest if hide_login(url).endswith("://…") else login, options]
    texts = [*parts, *(unquote_plus(part) for part in parts)]
    secrets = {"storage": url, "login": login, "password": login.partition(":")[2]}
    for text in texts:
        # A library that takes the text for something else says a part of it: what it takes for a host, or an option.
        for word in re.split(r"[:/@?&=;,#\s]", text):
            if len(word) >= _SHORTEST_SECRET:
                secrets[f"part {len(secrets)}"] = word
    for option in options.split("&"):
        name, _, value = option.partition("=")
        secrets |= {name: value, f"{name}, decoded": unquote_plus(value)}
    return {name: value for name, value in secrets.items() if value}


def _finish_trial(study: optuna.Study, number: int, mean: float | None) -> None:
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
            _finish_trial(study, trial.number, None if content is None else content["mean"])
        if content is None:
            continue
        answer = TrialAnswer(
            scores=content["scores"],
            judged=content["judged"],
            verdicts=content["verdicts"],
            greatest=content.get("greatest", {}),
            failure=content["failure"],
            false_hits=tuple(content.get("false_hits", ())),
        )
        broken = tuple(attributes[_BROKEN])
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
    return [float(len(trial.user_attrs.get(_BROKEN, ())))]


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
        rounded = min(max(float(f"{value:.{_DIGITS}g}"), parameter.low), parameter.high)
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
    for point in product(*axes):
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
