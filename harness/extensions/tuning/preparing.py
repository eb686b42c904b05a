"""What a tuning is made of: the suite in two parts, the measure, the study, and what is refused before a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.config import Configs
from harness.errors import SuiteError, UsageError
from harness.extensions.tuning.asking import SuiteRunner, TrialSender, fingerprint_requests
from harness.extensions.tuning.hold_outs import build_hold_out_path, load_hold_out
from harness.extensions.tuning.model import EFFECT, SAMPLERS, TRIALS, TUNING_SEED, HoldOut
from harness.files.beside import BesideFile
from harness.files.paths import cut_suffix
from harness.gate.selection import QueryFilter, select
from harness.masking import fingerprint
from harness.metrics.measures import common_measures
from harness.model.suite import Json, Measure, Query, Suite, TuningSpace, select_scored
from harness.options import RunOptions
from harness.statistics.planning import FEWEST_QUERIES
from harness.suites.parameters import choose_today
from harness.suites.requests import choose_template
from harness.words import count, did_you_mean, listed

PILOT = 5
"""The trials beside today's request from which the spread of differences is estimated."""


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """How a request is tuned."""

    run: RunOptions
    """Where the suite is searched, and with which request."""
    trials: int = TRIALS
    """How many, with today's request, the study has in the end."""
    sampler: str = SAMPLERS[0]
    seed: int = TUNING_SEED
    measure: Measure | None = None
    """None for the suite's first."""
    folds: int = 0
    """0 for no estimate by folds."""
    effect: float = EFFECT
    """The smallest gain worth having."""
    budget: float | None = None
    """Seconds after which no further trial is begun."""
    storage: str = ""
    """The URL of a database, or the path of a journal; empty for the journal beside the suite."""
    force: bool = False
    """Whether to go on though the queries are too few to show *effect*."""


def build_journal_path(suite: Path) -> Path:
    """
    The journal of the trials of *suite*.

    >>> str(build_journal_path(Path("shop.relevance.yaml")))
    'shop.tune.journal'
    """
    return suite.with_name(f"{cut_suffix(suite)}.tune.journal")


def choose_storage(path: Path, suite: Suite, storage: str) -> str | BesideFile:
    """The *storage* that the user named, a URL or a file; else the journal of *suite*, which is at *path*."""
    if "://" in storage:
        return storage
    if storage:
        return BesideFile(Path(storage))
    return BesideFile(build_journal_path(path), suite.roots, follows_links=True)


@dataclass(frozen=True, slots=True)
class Tuning:
    """A suite whose request is tuned: its parts, and what sends them."""

    path: Path
    suite: Suite
    options: TuningOptions
    space: TuningSpace
    measure: Measure
    request: str
    hold_out: HoldOut
    tuning_queries: Sequence[Query]
    """The queries that trials are sent, without those that are skipped."""
    held_out_queries: Sequence[Query]
    sender: TrialSender
    is_seen: bool = False
    """Whether trials were sent queries of the hold-out."""

    @property
    def scored_queries(self) -> Sequence[Query]:
        """The queries that trials are scored by: those of them for which some result is right."""
        return select_scored(self.tuning_queries)

    @property
    def scored_held_out(self) -> Sequence[Query]:
        """The queries of the hold-out that have scores."""
        return select_scored(self.held_out_queries)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each query."""
        return {query.id: query.weight for query in (*self.tuning_queries, *self.held_out_queries)}


def prepare_tuning(path: Path, suite: Suite, options: TuningOptions, configs: Configs, runner: SuiteRunner) -> Tuning:
    """Draw the hold-out of *suite*, or read it, and check what needs no engine; raises as `tune`."""
    if suite.tuning is None:
        sentence = (
            "the suite has no parameters to tune; expected 'tune: {parameters: …}', and {{param:NAME}} in a request"
        )
        raise SuiteError.at(path, suite.mark.line, suite.mark.column, sentence)
    request = find_request(suite, options.run.request)
    space = choose_today(suite.tuning, request)
    suite = replace(suite, tuning=space)
    refuse_unused_parameters(suite, request)
    measure = options.measure or find_measure(suite)
    depth = max(suite.depth, measure.cutoff or 0)
    suite = replace(suite, measures=(measure, *suite.measures), depth=depth)
    hold_out_path = build_hold_out_path(path)
    hold_out = load_hold_out(hold_out_path, suite.queries, options.seed, suite.roots)
    active = select(suite, QueryFilter(), options.run.day()).active
    held_out = [query for query in active if query.id in hold_out.queries]
    others = [query for query in active if query.id not in hold_out.queries]
    refuse_few_queries(select_scored(others), select_scored(held_out), force=options.force)
    sender = TrialSender(runner, suite, measure, replace(options.run, request=request), configs)
    return Tuning(path, suite, options, space, measure, request, hold_out, others, held_out, sender)


def find_request(suite: Suite, request: str | None) -> str:
    """
    The name of the request to tune; the first where *request* is None.

    Raises:
        UsageError: *suite* has no such request.
    """
    if request is not None and request not in suite.requests:
        known = ", ".join(suite.requests)
        guess = did_you_mean(request, suite.requests)
        raise UsageError(f"{suite.path}: found no request {request!r}, known are {known}{guess}")
    return choose_template(suite, request).name


def find_measure(suite: Suite) -> Measure:
    """
    The first measure of *suite*.

    Raises:
        UsageError: It has none.
    """
    measures = common_measures(suite)
    if not measures:
        raise UsageError(f"{suite.path}: the suite has no measure to tune by; give one with --measure")
    return measures[0]


def refuse_unused_parameters(suite: Suite, request: str) -> None:
    """Raise UsageError where no parameter changes *request*, so that all trials would be the same."""
    assert suite.tuning is not None
    today = suite.tuning.today
    for parameter in suite.tuning.parameters:
        choices = parameter.choices or (parameter.low, parameter.high)
        for value in choices:
            tried = {**today, parameter.name: value}
            if fingerprint_requests(suite, tried, request) != fingerprint_requests(suite, today, request):
                return
    names = listed([parameter.name for parameter in suite.tuning.parameters])
    raise UsageError(f"the request {request!r} has no place for a parameter; those of the suite are {names}")


def refuse_few_queries(tuning: Sequence[Query], held_out: Sequence[Query], *, force: bool) -> None:
    """
    Raise UsageError where a part has too few queries to know anything from it.

    With *force* there need only be one in each.
    """
    fewest = 1 if force else FEWEST_QUERIES
    if min(len(tuning), len(held_out)) >= fewest:
        return
    found = f"{count(len(tuning), 'query')} to tune on and {len(held_out)} held out"
    remedy = "" if force else "; add queries, or use --force, which only shows how it is done"
    raise UsageError(f"found {found}, expected at least {fewest} of each{remedy}")


def list_judged(query: Query) -> Json:
    """What is right for *query*, to tell whether that changed: its judgments, or that no result is right."""
    return "nothing" if query.nothing else dict(query.judgments)


def name_study(tuning: Tuning) -> str:
    """The name of the study in its storage: trials of another request, measure or set of queries are in another one."""
    suite, run = tuning.suite, tuning.options.run
    template, target = tuning.space.templates[tuning.request], suite.find_target(tuning.request)
    queries = [
        [query.id, query.text, dict(query.params) if query.masked is None else query.masked, list_judged(query)]
        for query in tuning.tuning_queries
    ]
    parts: list[Json] = [
        template.body if template.masked is None else template.masked,
        repr(template.http) if template.masked is None else "",
        [run.index, run.cluster, target.cluster, target.index, template.index],
        [repr(replace(parameter, mark=suite.mark)) for parameter in tuning.space.parameters],
        # Earlier studies have scores of one order of ties in place of the least.
        "least of ties",
        [tuning.measure.text, str(suite.gain), str(suite.profile), suite.depth],
        queries,
        [query.weight for query in tuning.tuning_queries],
    ]
    return f"{suite.name} {tuning.request} {fingerprint(parts)}"
