"""
The engines that the suites of one run share: one connection per cluster, one embedded node, and the indexes that
suites build for themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Config, Configs, resolve_cluster
from harness.errors import ConfigError, FixtureError, InputError, Problem, SearchError, SuiteError, UsageError
from harness.hooks import CLIENT_HOOK, Hooks, load_installed_hooks
from harness.model.request import AddressOrigin, Cluster
from harness.model.suite import Fixture, Suite, Target
from harness.options import RunOptions, check_servers
from harness.search.connection import Closing
from harness.search.dialects import find_dialect

if TYPE_CHECKING:
    from harness.masking import Masker
    from harness.search.protocol import Search


def _refuse_engine(cluster: Cluster, suite: Suite, target: Target) -> None:
    """Refuse a *cluster* that the configuration takes for an engine, where the requests of *suite* go over HTTP."""
    goes_over_http = find_dialect(target.service).takes_http_requests
    if goes_over_http and not find_dialect(cluster.service).takes_http_requests:
        raise UsageError(
            f"{cluster.mark}: the cluster {cluster.name!r} is an engine, and the requests of {suite.path} go over "
            f'HTTP; expected service = "{target.service}" in [clusters.{cluster.name}]'
        )


@dataclass(frozen=True, slots=True)
class OpenCluster:
    """
    Where a suite runs: *search* is open, or *error* says why it could not be opened.

    *given_name* is the user's name for the server, a URL or a name in relevance.toml; None where the user gave none.
    """

    cluster: Cluster
    search: Search | None = None
    error: SearchError | None = None
    given_name: str | None = None

    @property
    def name(self) -> str:
        """
        The server's name in the report: a URL stays a URL, even if relevance.toml has the login of that server; a name
        is followed by its URL.
        """
        name, url = self.given_name or self.cluster.name, self.cluster.url
        return name if url is None or "://" in name else f"{name} ({url})"


def make_masker(suite: Suite, clusters: Iterable[Cluster], environ: Mapping[str, str], hooks: Hooks) -> Masker:
    """
    A masker of values from the environment: the logins of the *clusters* that *suite* is sent to, also as headers have
    them, the variables of *suite* that may be secrets, and with *hooks* whatever these may have read.
    """
    from harness.masking import Masker, find_encoded_logins, find_login_secrets, find_login_values

    # Hooks may have read any variable.
    read_by_hooks = find_login_values(environ) if any(hooks.describe()) else {}
    logins: dict[str, str] = {}
    encoded: dict[str, str] = {}
    for cluster in clusters:
        logins |= find_login_secrets(cluster, environ)
        encoded |= find_encoded_logins(cluster, environ)
    return Masker({**read_by_hooks, **suite.variables}, logins, encoded)


def keep_own_cluster(
    options: RunOptions, suite: Suite, request: str | None, requests: Collection[str | None]
) -> RunOptions:
    """
    *options* without the server that they name, if *request* keeps a cluster of its own.

    The server that a user names takes the place of the cluster that is searched. Where *requests*, those that are sent,
    are for several clusters, it takes that of the suite's.
    """
    clusters = {suite.find_target(name).cluster for name in requests}
    has_own = suite.find_target(request).cluster != suite.target.cluster
    if has_own and len(clusters) > 1 and options.names_server:
        return replace(options.without_server(), keeps_cluster=True)
    return options


@dataclass(frozen=True, slots=True)
class StatedEngine:
    """What suite and configuration say of the engine of a server; see `harness.search.dialects.open_search`."""

    engine: str | None = None
    """What the target says of its own server, which is not asked then."""
    assumed: str | None = None
    """What is said of the server whose place another one takes. It counts if that one does not say what it is."""

    def may_share(self, search: Search | None, of_search: StatedEngine) -> bool:
        """Whether *search*, for which *of_search* was stated, is one for this too; None if it could not be opened."""
        if self.engine != of_search.engine:
            return False
        if self.assumed == of_search.assumed:
            return True
        return search is not None and bool(search.engine.version) and not search.engine.stated


def find_stated_engine(target: Target, server: Cluster, configs: Configs, folder: Path) -> StatedEngine:
    """
    What is known of the engine of *server*, which the user named in place of the cluster of *target*.

    Args:
        target: Of a suite in *folder*.
        server: It may be the cluster of *target* all the same.
        configs: They may say what engine that cluster is.
        folder: Of the suite.

    Raises:
        ConfigError: The configuration beside the suite is wrong.
    """
    if target.cluster.rstrip("/") in (server.name.rstrip("/"), (server.url or "").rstrip("/")):
        return StatedEngine(target.engine)
    if target.engine is not None:
        return StatedEngine(assumed=target.engine)
    replaced = configs.find_cluster(target.cluster) or configs.find_cluster_beside(target.cluster, folder)
    return StatedEngine(assumed=None if replaced is None else replaced.engine)


_SECONDS_TO_IDENTIFY = 1.0
"""How long a server may take at least to say what it is, however short the time budget of the searches."""


class Connections(Closing):
    """Opens the clusters of suites, keeps them open for the suites that follow, and closes all of them at the end."""

    def __init__(self, environ: Mapping[str, str], options: RunOptions) -> None:
        """
        Args:
            environ: Holds the logins.
            options: Say what replaces every suite's own cluster.

        Raises:
            UsageError: the options contradict each other, or the hooks of an installed package cannot be used.
        """
        check_servers(options)
        self._environ = environ
        self._options = options
        self.hooks: Hooks = options.hooks or load_installed_hooks()
        self._node: str | None = None
        self._opened: list[tuple[StatedEngine, OpenCluster]] = []
        """With what was stated of the engine."""
        self._resources = ExitStack()

    @property
    def _url(self) -> str | None:
        return self._options.url or self._node

    def open_all(self, suites: Sequence[Suite], configs: Configs, *, budget: float | None = None) -> list[OpenCluster]:
        """
        Open the cluster of each of *suites*, which is that of its target, before any of them runs, so that a mistake in
        the last does not cost the others.

        A cluster that could not be opened in an earlier call is tried again. *configs* say which configuration counts.
        *budget* is the seconds that each server may take to report its engine.

        Raises:
            ConfigError: relevance.toml is wrong; holds the problems of all files that were read.
            UsageError: a suite names a cluster that is not known, or a variable that holds a login is not set.
            EngineStartError: the embedded node could not be started.
        """
        from harness.masking import Masker

        self._opened = [(stated, cluster) for stated, cluster in self._opened if cluster.search is not None]
        clusters: list[OpenCluster] = []
        problems: set[Problem] = set()
        refusals: dict[str, Suite] = {}
        for suite in suites:
            try:
                clusters.append(self._open(suite, configs, budget))
            except InputError as error:
                problems.update(error.problems)
            except UsageError as error:
                # The suite may name its cluster by a variable.
                sentence = Masker(suite.variables).mask(error.text(self._options.entry))
                refusals.setdefault(sentence, suite)
        if problems:
            problems.update(Problem(suite.path, 0, 0, sentence) for sentence, suite in refusals.items())
            raise ConfigError(sorted(problems))
        if refusals:
            raise UsageError("\n".join(refusals))
        return clusters

    def open_chosen(self, path: Path, configs: Configs) -> OpenCluster:
        """
        Open the cluster that the options name, by default `default`, as for a suite at *path* that states none.

        Raises:
            ConfigError, UsageError, EngineStartError: As `open_all`.
        """
        [opened] = self.open_all([Suite(path.name, str(path), Target(), {}, (), ())], configs)
        return opened

    def _open(self, suite: Suite, configs: Configs, budget: float | None) -> OpenCluster:
        if self._options.embedded and self._node is None:
            self._node = self._start_node()
        target = suite.target
        if self._options.cluster is not None:
            target = replace(target, cluster=self._options.cluster)
        cluster = self._choose_cluster(suite, target, configs)
        stated = StatedEngine(target.engine)
        if self._node is not None:
            stated = StatedEngine()  # it says what it is
        elif self._options.url is not None or self._options.cluster is not None:
            stated = find_stated_engine(suite.target, cluster, configs, Path(suite.path).parent)
        given_name = self._url or target.cluster
        if self._options.client is not None:
            given_name = cluster.name
        for of_opened, opened in self._opened:
            if opened.cluster == cluster and stated.may_share(opened.search, of_opened):
                return opened if opened.given_name == given_name else replace(opened, given_name=given_name)
        opened = replace(self._connect(cluster, stated, budget), given_name=given_name)
        self._opened.append((stated, opened))
        return opened

    def _choose_cluster(self, suite: Suite, target: Target, configs: Configs) -> Cluster:
        """The suite's cluster; a client object knows its server, so relevance.toml need not define it."""
        if self._options.client is not None:
            return Cluster("client")
        cluster = resolve_cluster(target, configs, Path(suite.path).parent, url=self._url)
        _refuse_engine(cluster, suite, target)
        self._refuse_addresses(cluster, target, configs.read_trusted())
        return cluster

    def _refuse_addresses(self, cluster: Cluster, target: Target, trusted: Config | None) -> None:
        """Before a hook is called, whose client connects by itself, and may sign what it sends."""
        from harness.search.addresses import refuse_cluster

        lists_addresses = trusted is not None and trusted.addresses == "listed"
        try:
            refuse_cluster(cluster, only_listed=self._options.listed_addresses or lists_addresses)
        except UsageError as error:
            place = ""
            if cluster.origin is AddressOrigin.SUITE and target.mark.line:
                place = f"{target.mark}: "
            raise UsageError(place, *error.parts) from None

    def _connect(self, cluster: Cluster, stated: StatedEngine, budget: float | None) -> OpenCluster:
        from harness.search.dialects import open_search

        client, of_hook = self._options.client, None
        try:
            if client is None and find_dialect(cluster.service).takes_client:
                client = of_hook = self.hooks.make_client(cluster)
            search = open_search(
                cluster,
                self._environ,
                engine=stated.engine,
                assumed_engine=stated.assumed,
                client=client,
                allow_write=self._options.allow_write,
                budget=None if budget is None else max(budget, _SECONDS_TO_IDENTIFY),
            )
        except SearchError as error:
            return OpenCluster(cluster, error=error)
        except UsageError as error:
            if of_hook is None:
                raise
            return OpenCluster(
                cluster, error=self.hooks.make_error(CLIENT_HOOK, f"returned what is no client: {error}")
            )
        return OpenCluster(cluster, search=self._resources.enter_context(search))

    def _start_node(self) -> str:
        from harness.embedded import DEFAULT_VERSION, open_node

        return self._resources.enter_context(open_node(self._options.engine_version or DEFAULT_VERSION))

    def close(self) -> None:
        """Close the connections, then end the embedded node."""
        self._opened.clear()
        self._resources.close()


def retarget(suite: Suite, index: str | None) -> Suite:
    """*suite* with *index* as its own."""
    return replace(suite, target=replace(suite.target, index=index))


def move_to_target(suite: Suite, request: str | None) -> Suite:
    """
    *suite* with the target of *request*, None for its first, as its own.

    Over HTTP no index of the suite is searched, so that its fixture is left out.
    """
    if not any(template.target for template in suite.requests.values()):
        return suite
    # Each request keeps its target, whatever is that of the suite from now on.
    requests = {name: replace(template, target=suite.find_target(name)) for name, template in suite.requests.items()}
    moved = replace(suite, target=suite.find_target(request), requests=requests)
    if find_dialect(moved.target.service).takes_http_requests:
        moved = replace(moved, fixture=None)
    return moved


class FixtureBuilds:
    """Builds each index once on each server, however many requests search it; its error is raised for each of them."""

    def __init__(self) -> None:
        self._built: dict[tuple[str, Search], str | SearchError] = {}

    def forget(self) -> None:
        """Look for each index again: the files of a fixture changed, or the cluster."""
        self._built.clear()

    def index_of(self, suite: Suite, fixture: Fixture, search: Search, *, allow_write: bool) -> str:
        """
        The index of *fixture*, the fixture of *suite*, on the server of *search*.

        *allow_write* is whether the user said that the harness may write there.

        Raises:
            SearchError: As `ensure_index`, also where the engine refuses what the files have.
        """
        key = (suite.path, search)
        if key not in self._built:
            self._built[key] = _build_index(suite, fixture, search, allow_write=allow_write)
        built = self._built[key]
        if isinstance(built, SearchError):
            raise built
        return built


def _build_index(suite: Suite, fixture: Fixture, search: Search, *, allow_write: bool) -> str | SearchError:
    from harness.search.fixtures import ensure_index

    base = Path(suite.path).parent
    try:
        return ensure_index(search, fixture, base, suite.name, allow_write=allow_write)
    except SearchError as error:
        return error
    except SuiteError as error:
        # The files are sound since the suite was loaded: the engine refuses what they have.
        return FixtureError(str(error))
