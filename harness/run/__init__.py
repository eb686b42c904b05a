"""The one composition: suites in, a report out. Command line, pytest plugin and Python API all use it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness import __version__
from harness.config import Configs, find_index_problem
from harness.errors import InputError, Problem, SearchError, SuiteError, UsageError
from harness.gate.decide import compute_exit_status
from harness.gate.selection import ALL, QueryFilter, check_query_ids, check_tags, select
from harness.gate.variants import remove_variants
from harness.masking import Masker
from harness.model.kept import HistoryEntry
from harness.model.report import MissingSuite, Report, SuiteReport
from harness.model.request import Cluster
from harness.model.run import Run
from harness.model.suite import Suite
from harness.model.timing import ReportTiming
from harness.options import RunOptions, explain_baseline_refusal
from harness.run.cell import (
    AnsweredCell,
    Cell,
    Progress,
    SharedState,
    answer_cell,
    answer_without_connection,
    choose_searched,
    conclude_cell,
)
from harness.run.checks import Targets
from harness.run.compared import AnsweredCells, add_compared, list_compared
from harness.run.connections import (
    Connections,
    FixtureBuilds,
    OpenCluster,
    keep_own_cluster,
    make_masker,
    move_to_target,
)
from harness.run.ending import FollowedRun
from harness.run.finished import FinishedSuite
from harness.run.plan import plan_searches
from harness.search.connection import Closing
from harness.search.dialects import find_dialect
from harness.store.commits import find_commit
from harness.store.header import make_header
from harness.words import did_you_mean, grouped, one_of

if TYPE_CHECKING:
    from harness.store.journal import RunRecord, RunRecords

__all__ = [
    "FinishedSuite",
    "Matrix",
    "Runner",
    "choose_history",
    "make_report",
    "run_suites",
]


def run_suites(
    paths: Sequence[Path],
    options: RunOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
    matrix: Matrix | None = None,
    journal: RunRecords | None = None,
) -> Report:
    """
    Run suites and decide their thresholds.

    Args:
        paths: Suite files, as `harness.suites.discovery.find_suites` finds them.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Receives how far the run is.
        matrix: The requests and indexes that each suite runs with, in place of those of *options*.
        journal: Stores the responses, and has those of an earlier run that this one resumes.

    Raises:
        InputError: a suite or relevance.toml is wrong; holds all problems of all files.
        UsageError: an option asks for what cannot be, or a variable that holds a login is not set.
        EngineStartError: the embedded node could not be started.
        HistoryError: nothing can be written into the folder of the history, which is found before a query is sent.
    """
    configs = Configs.from_options(options, environ)
    options = choose_history(options, configs)
    with Runner(environ, progress, journal) as runner:
        finished_suites = runner.run(paths, options, matrix=matrix, configs=configs)
    if options.history is not None:
        from harness.run.keeping import keep_suite

        begun = None if journal is None else journal.begun
        finished_suites = [keep_suite(finished, environ, begun) for finished in finished_suites]
    reports = [finished.report for finished in finished_suites]
    return make_report(reports, undecided=explain_undecided(reports, QueryFilter.from_options(options)))


def choose_history(options: RunOptions, configs: Configs) -> RunOptions:
    """
    *options* with the folder of the history, which relevance.toml names where they do not.

    Raises:
        ConfigError: relevance.toml is wrong.
        HistoryError: No file can be created there. Without this the run would end before that is noticed.
    """
    folder = configs.find_history(options)
    if folder is not None:
        from harness.store.history_files import check_writable

        check_writable(folder)
    return replace(options, history=folder)


def make_report(reports: Sequence[SuiteReport], missing: Sequence[MissingSuite] = (), *, undecided: str = "") -> Report:
    """
    The report of a whole run, made now.

    Args:
        reports: Of the suites that ran.
        missing: The suites that did not, and so are undecided.
        undecided: Why no threshold was decided, if the run fails for that: see `explain_undecided`.
    """
    timing = ReportTiming(datetime.now(UTC).isoformat(timespec="seconds"))
    status = SearchError.exit_status if missing else compute_exit_status(reports)
    if undecided:
        status = max(status, 1)
    return Report(timing, __version__, tuple(reports), status, tuple(missing), undecided)


def explain_undecided(reports: Sequence[SuiteReport], query_filter: QueryFilter) -> str:
    """
    Why *query_filter*, or the requests that ran, left no threshold to decide; empty if some are, or none was to be.

    A gate that decides nothing must not pass.
    """
    is_decided = any(suite.verdicts or suite.report_only for suite in reports)
    if is_decided:
        return ""
    requests = list(dict.fromkeys(suite.request for suite in reports if suite.for_other_requests))
    if requests:
        noun = "request" if len(requests) == 1 else "requests"
        return f"no threshold is for the {noun} {one_of(requests)}; select another request, or all of them"
    if not query_filter.selects_part:
        return ""
    if query_filter.queries:
        return f"no threshold belongs to {one_of(query_filter.queries)}{query_filter.tag_words}; add one to a query"
    tags = " or ".join(map(repr, query_filter.tags))
    return f"no threshold applies to {tags}; add 'for TAG' to one, or select no tag"


def _check_choices(suites: Sequence[Suite], options: RunOptions, matrix: Matrix, *, compares: bool) -> None:
    """Refuse tags, queries, requests and indexes that suites do not have or cannot search, all in one error."""
    refusals = []
    refusal = explain_baseline_refusal(options.baseline, len(suites))
    if refusal:
        refusals.append(refusal)
    checks: list[Callable[[], None]] = []
    if options.tags:
        checks.append(partial(check_tags, suites, options.tags))
    if options.queries:
        checks.append(partial(check_query_ids, suites, options.queries))
    if matrix != Matrix():
        checks.append(partial(matrix.check, suites, compares=compares))
    for check in checks:
        try:
            check()
        except UsageError as error:
            refusals.append(str(error))
    if refusals:
        raise UsageError("\n".join(refusals))


@dataclass(frozen=True, slots=True)
class Matrix:
    """
    The *requests* and *indexes* that every suite runs with; its own first request, or its own index, where none is
    named. With *all_requests* a suite runs with each of its own requests.
    """

    requests: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    all_requests: bool = False

    @classmethod
    def from_options(cls, options: RunOptions) -> Matrix:
        """The matrix that *options* describe: one cell per suite."""
        requests = () if options.request is None else (options.request,)
        indexes = () if options.index is None else (options.index,)
        return cls(requests, indexes)

    def list_cells(self, suite: Suite, options: RunOptions, *, compares: bool = False) -> tuple[RunOptions, ...]:
        """
        The options of each cell of *suite*: every index for the first request, then for the next.

        Each is *options* with another request or index, and without the server that they name if the request keeps a
        cluster of its own. Where it *compares*, the requests with which thresholds compare these are sent too.
        """
        requests: list[str | None] = list(dict.fromkeys(self.requests))
        if self.all_requests:
            # The only request of a suite is its own anyway.
            requests = list(suite.requests) if len(suite.requests) > 1 else []
        requests = requests or [None]
        sent = requests
        if compares:
            sent = [*requests, *list_compared(suite, requests, QueryFilter.from_options(options))]
        indexes: list[str | None] = list(dict.fromkeys(self.indexes)) or [None]
        cells: list[RunOptions] = []
        for request in requests:
            options_of_request = options
            if len(sent) > 1 and options.names_server:
                options_of_request = keep_own_cluster(options, suite, request, sent)
            cells += [replace(options_of_request, request=request, index=index) for index in indexes]
        return tuple(cells)

    def check(self, suites: Sequence[Suite], *, compares: bool = False) -> None:
        """
        Refuse what one of *suites* cannot be run with, or compared with where it *compares*.

        Raises:
            UsageError: named requests are combined with all requests, or a suite lacks a request or cannot search
                another index; names every such suite.
        """
        if self.all_requests and self.requests:
            raise UsageError(f"found all requests and {', '.join(self.requests)}, expected one or the other")
        if "" in self.indexes:
            raise UsageError("an index without a name was asked for")
        for index in self.indexes:
            sentence = find_index_problem(index)
            if sentence:
                raise UsageError(f"found the index {index!r}, {sentence}")
        problems = [*self._find_missing_requests(suites), *self._find_bound_suites(suites, compares=compares)]
        if problems:
            raise UsageError("\n".join(problems))

    def _find_missing_requests(self, suites: Sequence[Suite]) -> Iterator[str]:
        """A sentence for each suite and each named request that it lacks."""
        for suite in suites:
            for request in dict.fromkeys(self.requests):
                if request not in suite.requests:
                    known = ", ".join(suite.requests)
                    guess = did_you_mean(request, suite.requests)
                    yield f"{suite.path}: found no request {request!r}, known are {known}{guess}"

    def _find_bound_suites(self, suites: Sequence[Suite], *, compares: bool) -> Iterator[str]:
        """A sentence for each suite that cannot search another index than its own."""
        if not self.indexes:
            return
        for suite in suites:
            names = tuple(suite.requests) if self.all_requests else self.requests or tuple(suite.requests)[:1]
            if compares:
                names = (*names, *list_compared(suite, names, ALL))
            reason = _explain_own_index(suite, names)
            if reason:
                yield f"{suite.path}: {reason}, so that no other index can be asked for"


def _explain_own_index(suite: Suite, requests: Iterable[str]) -> str | None:
    """Why *suite* cannot search another index than its own with one of *requests*, names; None where it can."""
    for name in requests:
        moved, template = move_to_target(suite, name), suite.requests.get(name)
        dialect = find_dialect(moved.target.service)
        if moved.fixture is not None:
            return "the suite builds its index itself, from its fixture"
        if not dialect.has_indexes:
            return f"the request {name!r} is for an HTTP service, which has no index to choose"
        if template is not None and dialect.is_pinned(template):
            return f"the request {name!r} searches a point in time, which is one of its own index"
    return None


def _plan_cells(
    suites: Sequence[Suite], options: RunOptions, matrix: Matrix, configs: Configs, *, compares: bool
) -> list[Cell]:
    """
    All cells of *suites*, in their order; their servers are not open yet.

    Where it *compares*, the cells of each suite are followed by those of requests that thresholds compare these with.
    """
    options = replace(options, no_intervals=options.no_intervals or not configs.shows_intervals())
    query_filter = QueryFilter.from_options(options)
    all_cells = []
    for suite in suites:
        cells = []
        for cell_options in matrix.list_cells(suite, options, compares=compares):
            moved = move_to_target(suite, cell_options.request)
            selection = select(moved, query_filter, options.day())
            cells.append(Cell(selection, choose_searched(selection, cell_options), cell_options, moved.target.cluster))
        all_cells += add_compared(cells, suite, options) if compares else cells
    return all_cells


def _take_service(cell: Cell, service: str) -> Cell:
    """
    *cell*, whose requests are in the dialect of *service*.

    A suite does not say to which kind of server its bodies are sent: relevance.toml does. HTTP requests are of one
    kind.
    """
    selection = cell.selection
    own_service = selection.whole_suite.target.service
    if own_service == service or find_dialect(own_service).takes_http_requests:
        return cell
    if find_dialect(service).takes_http_requests:
        return cell
    target = replace(selection.whole_suite.target, service=service)
    selection = replace(
        selection,
        whole_suite=replace(selection.whole_suite, target=target),
        selected=replace(selection.selected, target=target),
    )
    searched_target = replace(cell.searched.target, service=service)
    return replace(cell, selection=selection, searched=replace(cell.searched, target=searched_target))


def _check_requests(cells: Sequence[Cell]) -> None:
    """
    Refuse requests of *cells* that cannot be sent, before those of any cell are.

    Raises:
        SuiteError: With the problems of all cells.
    """
    if len(cells) < 2:
        return  # a cell builds all of its requests before it sends one
    problems: dict[Problem, None] = {}
    for cell in cells:
        try:
            plan_searches(cell.searched, cell.options.request, further=cell.asks_for_more)
        except InputError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems:
        raise SuiteError(list(problems))


def _answer_cell(
    cell: Cell,
    shared_state: SharedState,
    cluster: OpenCluster | None,
    resources: ExitStack,
    record: RunRecord | None,
) -> AnsweredCell:
    """The answers of *cluster*, or those of *record* if it leaves no query to send."""
    search, error = None, None
    if cluster is not None:
        search, error = cluster.search, cluster.error
    if record is not None:
        from harness.run.recorded import reuse_recorded_run

        recorded = reuse_recorded_run(cell, shared_state, record, search)
        if recorded is not None:
            return recorded
    if search is None:
        return answer_without_connection(cell, shared_state, error, record)
    return answer_cell(cell, shared_state, search, resources, record)


SERVER = ("url", "listed_addresses", "embedded", "engine_version", "cluster", "client", "hooks", "allow_write", "entry")
"""The options of connections: what is equal in them shares a connection, or an embedded node."""


@dataclass(frozen=True, slots=True)
class AnsweringPlan:
    """What is sent for *suites*, with which requests and indexes, and on which servers."""

    suites: Sequence[Suite]
    options: RunOptions
    matrix: Matrix | None
    """None for what the options name."""
    configs: Configs
    compares: bool = False
    """Whether the requests are sent too that thresholds compare others with."""
    earlier: FinishedSuite | None = None
    """A run of the same suite, of which only the queries without a response are sent again."""
    followed: FollowedRun | None = None
    """Receives the responses of the only cell, and can end it."""


class Runner(Closing):
    """Runs suites; connections stay open from one call to the next, and are closed in the end."""

    def __init__(
        self,
        environ: Mapping[str, str],
        progress: Progress | None = None,
        journal: RunRecords | None = None,
        builds: FixtureBuilds | None = None,
    ) -> None:
        """
        Args:
            environ: Where variables and logins are looked up.
            progress: Receives how far a run is.
            journal: Stores the responses, and has those of an earlier run that this one resumes.
            builds: Knows which indexes of fixtures are there; by default each run looks for its own.
        """
        self._builds = builds
        self._journal = journal
        self._environ = environ
        self._progress = progress
        self._connections: list[tuple[RunOptions, Connections]] = []

    def run(
        self,
        paths: Sequence[Path],
        options: RunOptions,
        *,
        matrix: Matrix | None = None,
        earlier: FinishedSuite | None = None,
        configs: Configs | None = None,
    ) -> list[FinishedSuite]:
        """
        As `run_suites`, but returns all that the reports were made from, and keeps nothing in a history.

        Where *earlier* has the same suite under the same options, only the queries that had no response are sent; the
        others keep theirs. *configs* holds what was read of relevance.toml already.
        """
        suites, configs = self._load(paths, options, configs)
        return self.run_loaded(suites, options, matrix=matrix, earlier=earlier, configs=configs)

    def run_loaded(
        self,
        suites: Sequence[Suite],
        options: RunOptions,
        *,
        matrix: Matrix | None = None,
        earlier: FinishedSuite | None = None,
        configs: Configs,
    ) -> list[FinishedSuite]:
        """As `run`, for suites that were loaded with the environment of this runner, or have no variables."""
        finished = []
        plan = AnsweringPlan(suites, options, matrix, configs, compares=True, earlier=earlier)
        with closing(self._answer_cells(plan)) as answered_cells:
            for answered in answered_cells:
                concluded = conclude_cell(answered, self._progress)
                report = replace(concluded.report, configuration=configs.name_files(answered.cell.server))
                finished.append(replace(concluded, report=report))
        return finished

    def answer(
        self,
        suites: Sequence[Suite],
        options: RunOptions,
        *,
        matrix: Matrix | None = None,
        configs: Configs,
        variants: bool = False,
        followed: FollowedRun | None = None,
    ) -> list[AnsweredCell]:
        """
        Send the queries of loaded suites once, with their *variants* or without, and decide nothing; raises as
        `run_suites`.

        Points in time are closed by then, since judges may take longer than an engine keeps one: what is looked up
        later is from the index as it then is. *configs* holds what was read of relevance.toml already. A run of one
        cell may be *followed*; the call raises RunEnded where that is ended.
        """
        suites = suites if variants else [remove_variants(suite) for suite in suites]
        plan = AnsweringPlan(suites, replace(options, repeat=None), matrix, configs, followed=followed)
        return list(self._answer_each(plan))

    def answer_whole(
        self, suites: Sequence[Suite], options: RunOptions, *, matrix: Matrix | None = None, configs: Configs
    ) -> Generator[AnsweredCell]:
        """
        As `answer`, with all that thresholds compare with, but yields cell by cell, each while its point in time is
        open.
        """
        return self._answer_each(AnsweringPlan(suites, replace(options, repeat=None), matrix, configs, compares=True))

    def _answer_each(self, plan: AnsweringPlan) -> Generator[AnsweredCell]:
        with closing(self._answer_cells(plan)) as answered_cells:
            for answered in answered_cells:
                if self._progress is not None:
                    self._progress.suite_finished(answered.run, None)
                yield answered

    def answer_files(
        self, paths: Sequence[Path], options: RunOptions, *, matrix: Matrix | None = None, whole: bool = False
    ) -> list[AnsweredCell]:
        """As `answer`, or as `answer_whole` if *whole*, for suites that are not loaded; raises as `run_suites`."""
        suites, configs = self._load(paths, options)
        if whole:
            return list(self.answer_whole(suites, options, matrix=matrix, configs=configs))
        return self.answer(suites, options, matrix=matrix, configs=configs)

    def answer_suite(self, suite: Suite, options: RunOptions, configs: Configs) -> tuple[Run, str]:
        """As `answer`, for one suite with one request: its run and the name of its server, secrets masked."""
        [answered] = self.answer([suite], options, configs=configs)
        return answered.mask_run(), answered.cell.masker.mask(answered.cluster)

    def _load(
        self, paths: Sequence[Path], options: RunOptions, configs: Configs | None = None
    ) -> tuple[Sequence[Suite], Configs]:
        """The suites at *paths* and what was read of relevance.toml; contradictions of *options* are refused first."""
        from harness.suites import load_suites

        configs = configs or Configs.from_options(options, self._environ)
        # Only for what it refuses, before a suite is read: options that contradict each other, and hooks that cannot be
        # used. It opens nothing yet, and `_answer_cells` finds the same connections.
        self._find_connections(options)
        body = None
        if options.body is not None:
            from harness.suites.given_body import read_given_body

            body = read_given_body(options)
        suites = load_suites(
            paths,
            self._environ,
            needs_judgments=not options.unjudged,
            configs=configs,
            body=body,
        )
        return suites, configs

    def close(self) -> None:
        """Close the connections, and end the embedded node."""
        while self._connections:
            _, connections = self._connections.pop()
            connections.close()

    def _answer_cells(self, plan: AnsweringPlan) -> Generator[AnsweredCell]:
        """
        Yield cell by cell, while its connection and its point in time are open: what decides may look things up.

        What is wrong in a suite is raised before anything is sent. What only a server finds is an error of its cell.
        """
        suites, options, configs = plan.suites, plan.options, plan.configs
        matrix = plan.matrix or Matrix.from_options(options)
        if options.depth is not None:
            suites = [replace(suite, depth=max(suite.depth, options.depth)) for suite in suites]
        _check_choices(suites, options, matrix, compares=plan.compares)
        histories: dict[str, list[HistoryEntry]] = {}
        if options.history is not None:
            from harness.run.keeping import read_histories

            histories = read_histories(suites, options)
        planned_cells = _plan_cells(suites, options, matrix, configs, compares=plan.compares)
        clusters = self._open_clusters(planned_cells, configs, budget=options.budget)
        cells = self._connect(planned_cells, clusters, configs)
        if options.history is not None:
            cells = [self._add_history(cell, histories) for cell in cells]
        if self._journal is None or self._journal.sends_queries:
            connected = zip(cells, clusters, strict=True)
            _check_requests([cell for cell, cluster in connected if cluster is not None and cluster.search])
        shared_state = SharedState(self._builds or FixtureBuilds(), Targets(), self._progress, plan.followed)

        def answer(place: int, resources: ExitStack) -> AnsweredCell:
            if plan.followed is not None:
                resources.callback(plan.followed.finish)
            cell = cells[place]
            record = self._open_record(cell, matrix, configs, plan.earlier)
            answered = _answer_cell(cell, shared_state, clusters[place], resources, record)
            if self._progress is not None and not cell.is_reported:
                self._progress.suite_finished(answered.run, None)
            return answered

        with closing(AnsweredCells(cells, answer)) as answered_cells:
            for place, cell in enumerate(cells):
                if cell.is_reported:
                    with answered_cells.answer(place) as answered:
                        yield answered

    def _open_record(
        self, cell: Cell, matrix: Matrix, configs: Configs, earlier: FinishedSuite | None
    ) -> RunRecord | None:
        """What has an earlier run of *cell*, and keeps this one; None where nothing does."""
        if self._journal is not None:
            options = replace(cell.options, config=configs.path)
            header = make_header(cell.selection, options, asdict(matrix), cell.cluster, cell.masker)
            return self._journal.open_section(header, cell.masker)
        if earlier is not None and cell.is_reported:
            from harness.run.recorded import make_rerun

            return make_rerun(cell, earlier)
        return None

    def _open_clusters(
        self, cells: Sequence[Cell], configs: Configs, *, budget: float | None
    ) -> list[OpenCluster | None]:
        """The cluster of each of *cells*; None for one without queries to send. A merge needs none."""
        clusters: list[OpenCluster | None] = [None] * len(cells)
        sends_queries = self._journal is None or self._journal.sends_queries
        if self._journal is not None and self._journal.is_offline:
            return clusters
        places = [place for place, cell in enumerate(cells) if cell.selection.active]
        places_by_connections = grouped((self._find_connections(cells[place].options), place) for place in places)
        try:
            for connections, places_there in places_by_connections.items():
                suites = [cells[place].selection.whole_suite for place in places_there]
                opened = connections.open_all(suites, configs, budget=budget)
                for place, cluster in zip(places_there, opened, strict=True):
                    clusters[place] = cluster
        except (InputError, UsageError):
            # A merge sends nothing, and may be made where the clusters of its parts are not known.
            if sends_queries:
                raise
            return [None] * len(cells)
        return clusters

    def _connect(self, cells: Sequence[Cell], clusters: Sequence[OpenCluster | None], configs: Configs) -> list[Cell]:
        """
        *cells* with their servers, hooks and maskers.

        A masker hides the logins of all clusters that a suite names or is sent to: what one server returned is shown
        beside what another did, perhaps by another command.
        """
        servers_by_path: dict[str, list[Cluster]] = {}
        for cell, cluster in zip(cells, clusters, strict=True):
            servers = servers_by_path.setdefault(cell.selection.whole_suite.path, [])
            if cluster is not None:
                servers.append(cluster.cluster)
        maskers: dict[str, Masker] = {}
        connected = []
        for cell, cluster in zip(cells, clusters, strict=True):
            suite, hooks = cell.selection.whole_suite, self._find_connections(cell.options).hooks
            if suite.path not in maskers:
                servers = servers_by_path[suite.path]
                for name in suite.requests:
                    named = configs.find_cluster(suite.find_target(name).cluster)
                    if named is not None and named not in servers:
                        servers.append(named)
                maskers[suite.path] = make_masker(suite, servers, self._environ, hooks)
            cell = replace(cell, options=replace(cell.options, hooks=hooks), masker=maskers[suite.path])
            if cluster is not None:
                cell = _take_service(cell, cluster.cluster.service)
                cell = replace(cell, cluster=cluster.name, server=cluster.cluster)
            connected.append(cell)
        return connected

    def _add_history(self, cell: Cell, histories: Mapping[str, Sequence[HistoryEntry]]) -> Cell:
        """*cell* with its commit, and those of *histories* that its thresholds compare with."""
        suite = cell.selection.whole_suite
        commit, _ = find_commit(self._environ, Path(suite.path).parent)
        return replace(cell, commit=commit, history=histories.get(suite.name))

    def _find_connections(self, options: RunOptions) -> Connections:
        """The open connections of the same servers, or new ones."""
        servers = RunOptions(**{name: getattr(options, name) for name in SERVER})
        for known, connections in self._connections:
            # Clients and hooks may be equal without being the same.
            if known == servers and known.client is servers.client and known.hooks is servers.hooks:
                return connections
        connections = Connections(self._environ, servers)
        self._connections.append((servers, connections))
        return connections
