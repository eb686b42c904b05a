"""What a session begins with: the suite, the queries that are shown and those held out, and the side that is live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from harness.config import Configs
from harness.errors import FormatError, SearchError, UsageError
from harness.extensions.compare.sides import read_baseline_side
from harness.extensions.tuning.hold_outs import build_hold_out_path, keep_hold_out, load_hold_out
from harness.extensions.tuning.model import TUNING_SEED, HoldOut
from harness.extensions.tuning.preparing import find_request
from harness.extensions.workbench.figures import ScoredSide
from harness.extensions.workbench.guard import Guard, find_size
from harness.extensions.workbench.vectors import Vectors
from harness.gate.selection import QueryFilter, select
from harness.gate.variants import remove_variants
from harness.local_server.addresses import Address
from harness.masking import Masker, fingerprint
from harness.metrics import is_of_novelty, parse_measure
from harness.metrics.measures import DEFAULT_MEASURE, common_measures
from harness.metrics.run_scores import failure_text
from harness.model.run import Engine, Failure, Ranking, Run
from harness.model.suite import Json, Measure, Query, Suite, Threshold, select_scored
from harness.options import RunOptions
from harness.run import Runner
from harness.run.cell import AnsweredCell
from harness.search.dialects import find_dialect
from harness.search.protocol import Search
from harness.statistics.planning import FEWEST_QUERIES
from harness.suites import load_suite
from harness.suites.request_texts import RequestTexts
from harness.suites.requests import list_request_nodes
from harness.suites.variants import is_of_variants
from harness.words import count, counted

SECONDS = 5.0
"""How long a try of up to `QUERIES_OF_BUDGET` queries may take, unless the user says it."""
QUERIES_OF_BUDGET = 100

NO_TITLES = "Hits are shown by their ids: `display: {title: FIELD, fields: [FIELD]}` in the suite says what to show."


@dataclass(frozen=True, slots=True)
class TryOptions:
    """What the user asked for."""

    path: Path
    run: RunOptions
    request: str | None = None
    """The request whose text is changed; by default the one that is live."""
    against: str = ""
    """``request:NAME`` or ``baseline``; by default the suite's first request."""
    judge: str | None = None
    manual: bool = False
    hold_out: bool = True

    def list_run_options(self, request: str, budget: float | None = None) -> RunOptions:
        """How *request* is sent, in so many seconds; which queries are sent was decided at the start."""
        return replace(self.run, request=request, no_checks=True, tags=(), queries=(), budget=budget)


@dataclass(frozen=True, slots=True)
class Live:
    """The side that is live, answered."""

    name: str
    text: str
    side: ScoredSide
    answered: AnsweredCell | None
    """None for a baseline, which is not searched."""


@dataclass(frozen=True, slots=True)
class Material:
    """A suite that is tried on: what was loaded and answered once."""

    options: TryOptions
    configs: Configs
    suite: Suite
    """With the queries that are shown, and the request whose text is changed as its own."""
    request: str
    measure: Measure
    texts: RequestTexts
    vectors: Vectors
    """Those in the request, and in what is live."""
    guard: Guard
    text: str
    """The request as the suite has it, with placeholders for vectors."""
    live: Live
    hold_out: HoldOut | None
    held_out: tuple[Query, ...]
    notes: tuple[str, ...]
    masker: Masker
    search: Search | None
    service: str
    """The kind of server, as in `Cluster.service`."""
    facts: str
    """A fingerprint of the index; empty where it is unknown."""
    states: Mapping[str, int]
    """When each file of the suite was changed, in nanoseconds."""

    @property
    def explains(self) -> bool:
        """Whether scores can be explained."""
        return self.search is not None and find_dialect(self.service).explains_scores

    @property
    def is_manual(self) -> bool:
        """Whether texts are sent on Ctrl+Enter alone: the user said so, or the server is that of others."""
        answered = self.live.answered
        if self.options.manual or answered is None:
            return self.options.manual
        url = None if answered.cell.server is None else answered.cell.server.url
        return url is None or not Address(urlsplit(url).hostname or "").is_local

    @property
    def is_exact(self) -> bool:
        """Whether scores that differ in their last digits are different."""
        return not find_dialect(self.service).has_indexes

    def has_changed(self) -> bool:
        """Whether a file of the suite was changed since it was read."""
        return read_states(self.suite.files) != self.states

    def read_request(self, text: str, values: Mapping[str, Json]) -> Suite:
        """
        The suite with *text* as its only request.

        Raises:
            SuiteError: The text is wrong; its problems have places in it.
            UsageError: A value is none that the text may have.
        """
        read = self.vectors.read(text, lambda filled: self.texts.read(filled, values, self.guard.check))
        # A parameter of `tune` may be the size.
        problem = self.guard.explain_size(find_size(read.requests[self.request]))
        if problem:
            raise UsageError(problem)
        return _fit_variants(replace(read, queries=self.suite.queries), self.request)

    def list_options(self, searches: int) -> RunOptions:
        """The options of a try of so many searches."""
        budget = self.options.run.budget
        if budget is None:
            budget = SECONDS * -(-searches // QUERIES_OF_BUDGET)
        return self.options.list_run_options(self.request, budget)


def read_states(files: Sequence[str]) -> dict[str, int]:
    """When each of *files* was changed; one that is not there is left out."""
    states = {}
    for file in files:
        path = Path(file)
        if path.exists():
            states[file] = path.stat().st_mtime_ns
    return states


def open_material(options: TryOptions, environ: Mapping[str, str], runner: Runner) -> Material:
    """
    Load the suite, draw or read its hold-out, and answer the side that is live once.

    Raises:
        InputError: The suite, the hold-out or relevance.toml is wrong.
        UsageError: There is no such request or baseline, or no query to try on.
        SearchError: Nothing is answered.
    """
    configs = Configs.from_options(options.run, environ)
    suite = load_suite(options.path, environ, configs=configs, needs_judgments=False)
    states = read_states(suite.files)
    kind, _, live_name = options.against.partition(":")
    if options.against and kind not in ("request", "baseline"):
        raise UsageError(f"found {options.against!r}, expected request:NAME or baseline")
    live_request = find_request(suite, live_name or None) if kind != "baseline" else None
    request = find_request(suite, options.request or live_request)
    measures = common_measures(suite) or (parse_measure(DEFAULT_MEASURE),)
    scored = [measure for measure in measures if not is_of_novelty(measure)]
    if not scored:
        # What a try found is kept without the texts of hits.
        raise UsageError(
            f"{options.path}: {measures[0]} reads quotes, which a try does not score; name a measure of ids"
        )
    measure = scored[0]
    suite = replace(suite, depth=max(suite.depth, measure.cutoff or 0))
    active = select(suite, QueryFilter.from_options(options.run), options.run.day()).active
    hold_out, notes = _load_hold_out(options, suite)
    held_out = tuple(query for query in active if hold_out is not None and query.id in hold_out.queries)
    shown = tuple(query for query in active if query not in held_out)
    if not shown:
        raise UsageError(f"{options.path}: no query is left to try requests on; --no-hold-out holds out none")
    suite = _leave_out_same(replace(suite, queries=shown))
    texts = RequestTexts.prepare(suite, request, configs, environ)
    if live_request is None:
        live = _read_baseline(suite, options, measure, request, texts)
        answered = None
    else:
        live = _answer_live(texts, options, runner, measure, live_request)
        answered = live.answered
    vectors = Vectors.collect([texts.written, live.text])
    live = replace(live, text=vectors.hide(live.text))
    masker = Masker(suite.variables) if answered is None else answered.cell.masker
    search = None if answered is None else answered.search
    notes += _describe_live(live)
    service = suite.target.service if answered is None else answered.cell.searched.target.service
    if suite.display.title is None and search is not None and find_dialect(service).has_indexes:
        notes.append(NO_TITLES)
    return Material(
        options=options,
        configs=configs,
        suite=suite,
        request=request,
        measure=measure,
        texts=texts,
        vectors=vectors,
        guard=Guard(texts.node, tuple(list_request_nodes(texts.reading).values()), suite.depth),
        text=vectors.hide(texts.written),
        live=live,
        hold_out=hold_out,
        held_out=held_out,
        notes=tuple(notes),
        masker=masker,
        search=search,
        service=service,
        facts=fingerprint_index(search, live.side.run.index),
        states=states,
    )


def fingerprint_index(search: Search | None, index: str | None) -> str:
    """A fingerprint of what is known of *index*; empty where that is nothing."""
    if search is None:
        return ""
    facts = search.index_facts(index)
    known = [facts.documents, facts.mapping, facts.settings]
    return "" if known == [None, None, None] else fingerprint(known)


def answer_queries(
    material: Material, suite: Suite, queries: Sequence[Query], runner: Runner, request: str
) -> ScoredSide:
    """*request* of *suite*, answered for *queries*; raises as `Runner.answer`."""
    options = replace(material.list_options(len(queries)), request=request)
    asked = replace(suite, queries=tuple(queries))
    [answered] = runner.answer([asked], options, configs=material.configs)
    run = answered.mask_run()
    return ScoredSide(asked, material.measure, run.responses, run)


def _leave_out_same(suite: Suite) -> Suite:
    """
    *suite* without the variants that are queries themselves, and without the thresholds that need them.

    These have rows of their own where they are shown, and are nobody's business where they are held out.
    """
    queries = []
    for query in suite.queries:
        variants = tuple(variant for variant in query.variants if not variant.is_query)
        if variants != query.variants:
            query = replace(query, variants=variants, thresholds=_leave_out_of_variants(query.thresholds))
        queries.append(query)
    if queries == list(suite.queries):
        return suite
    return replace(suite, queries=tuple(queries), thresholds=_leave_out_of_variants(suite.thresholds))


def _leave_out_of_variants(thresholds: Sequence[Threshold]) -> tuple[Threshold, ...]:
    return tuple(threshold for threshold in thresholds if not is_of_variants(threshold))


def _fit_variants(suite: Suite, request: str) -> Suite:
    """*suite* without variants where its *request* uses a vector, which variants do not have."""
    if suite.vectors and suite.requests[request].placeholders.intersection(suite.vectors):
        return remove_variants(suite)
    return suite


def _load_hold_out(options: TryOptions, suite: Suite) -> tuple[HoldOut | None, list[str]]:
    """The hold-out of *suite*, which is drawn and kept where there is none, and what is to be said of it."""
    if not options.hold_out:
        return None, []
    path = build_hold_out_path(options.path)
    try:
        hold_out = load_hold_out(path, suite.queries, TUNING_SEED, suite.roots)
        keep_hold_out(path, hold_out, suite.roots)
    except (FormatError, UsageError) as error:
        raise UsageError(f"{error}; or go on without a verdict, with --no-hold-out") from None
    notes = []
    if len(hold_out.queries) < FEWEST_QUERIES:
        found = count(len(hold_out.queries), "query")
        notes.append(f"{found} held out are too few for a verdict, which needs at least {FEWEST_QUERIES}.")
    return hold_out, notes


def _answer_live(texts: RequestTexts, options: TryOptions, runner: Runner, measure: Measure, request: str) -> Live:
    suite = texts.suite
    sent = _fit_variants(suite, request)
    [answered] = runner.answer([sent], options.list_run_options(request), configs=texts.configs, variants=True)
    run = answered.mask_run()
    if not run.has_rankings:
        failures = [response for response in run.responses.values() if isinstance(response, Failure)]
        raise SearchError(f"the request {request!r} has no answer: {failure_text(failures[0])}")
    text = replace(texts, name=request).written
    return Live(request, text, ScoredSide(suite, measure, run.responses, run), answered)


def _read_baseline(suite: Suite, options: TryOptions, measure: Measure, request: str, texts: RequestTexts) -> Live:
    side = read_baseline_side("baseline", None, suite, request)
    kept = {query: response for query, response in side.run.responses.items() if isinstance(response, Ranking)}
    responses = {query.id: kept[query.id] for query in suite.queries if query.id in kept}
    run = Run(responses, Engine(side.engine), request, options.run.index)
    return Live("baseline", texts.written, ScoredSide(suite, measure, responses, run), None)


def _describe_live(live: Live) -> list[str]:
    suite, scores = live.side.suite, live.side.scores
    failed = [query.id for query in suite.queries if not isinstance(live.side.responses.get(query.id), Ranking)]
    notes = []
    if failed:
        notes.append(f"{live.name} has no answer for {counted(failed, 'query')}.")
    scored = select_scored(suite.queries)
    undefined = [query.id for query in scored if query.id not in scores and query.id not in failed]
    if undefined:
        notes.append(f"{counted(undefined, 'query')} have no score of {live.side.measure}.")
    nothing = [query.id for query in suite.queries if query.nothing]
    if nothing:
        notes.append(f"No result is right for {counted(nothing, 'query')}: their hits are counted, not scored.")
    return notes
