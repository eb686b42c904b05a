"""
Decides whose configuration counts: which relevance.toml is trusted, and what one that comes with a suite may add.

A suite, and a relevance.toml beside it, may come from a stranger's pull request. So only the file of the person who
runs the harness may name logins, proxies, certificates and services, and the variables that suites may read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.addresses import VARIABLE_PATTERN, find_url_problem, lacks_scheme
from harness.config.reading import Config, read_config
from harness.errors import ConfigError, Option, UsageError
from harness.files.border import is_quotable
from harness.files.paths import CONFIG_NAME, config_path, shorten_path
from harness.masking import names_login
from harness.model.request import AddressOrigin, Cluster
from harness.options import RunOptions
from harness.words import did_you_mean, listed

if TYPE_CHECKING:
    from harness.model.judging import MachineJudge
    from harness.model.suite import Target

CONFIG_VARIABLE = "RELEVANCE_CONFIG"
"""The environment variable that names the trusted file."""

SUITE_PREFIX = "RELEVANCE_"
"""Begins the names of the variables that every suite may read."""

NOT_FOLLOWED = (
    "this link is not followed: what it leads to is hidden, or its name does not end in .toml; if it is yours, run "
    "with --config FILE"
)

FILES_OF_A_CLUSTER = ("ca_certs", "client_cert", "client_key")
"""The keys of a cluster that name files, relative to the folder of the configuration."""


def find_trusted(named: Path | None, environ: Mapping[str, str]) -> Path | None:
    """
    The trusted configuration: the file that is *named*, else that of ``RELEVANCE_CONFIG``, else the relevance.toml of
    the working directory or the nearest folder above it; None where there is none.

    Raises:
        UsageError: The file that is named does not exist.
    """
    from_environ = environ.get(CONFIG_VARIABLE)
    if named is None and not from_environ:
        return config_path(Path.cwd())
    path = named or Path(from_environ or "")
    if not path.is_file():
        raise UsageError(CONFIG_VARIABLE if named is None else Option("config"), f": there is no file {path}")
    return path.absolute()


class Configs:
    """
    The configuration of one command, session or call.

    *path* is the trusted file, None where there is none. A relevance.toml found from a suite's folder upwards that is
    another file is *beside* the suite: it adds plain addresses. Each file is read once. *root* is the folder into which
    links of suites and their files may lead, beside the roots of suites.
    """

    def __init__(
        self,
        named: Path | None = None,
        variables: Sequence[str] = (),
        *,
        environ: Mapping[str, str] | None = None,
        root: Path | None = None,
    ) -> None:
        """
        Args:
            named: The trusted file, as the person who runs the harness named it.
            variables: Names and patterns of further variables that suites may read.
            environ: May name the trusted file; the process's own where None.
            root: The folder that the person who runs the harness named for links.

        Raises:
            UsageError: There is no such file, or *variables* has no name of a variable.
        """
        self.path = find_trusted(named, os.environ if environ is None else environ)
        for name in variables:
            if not VARIABLE_PATTERN.fullmatch(name):
                expected = "expected the name of an environment variable, or a pattern such as SHOP_*"
                raise UsageError(Option("variable", "variables"), f": found {name!r}, {expected}")
        self._variables = tuple(variables)
        self.root = root
        self._read: dict[Path, Config] = {}

    @classmethod
    def from_options(cls, options: RunOptions, environ: Mapping[str, str]) -> Configs:
        """The configuration that *options* name, else *environ*."""
        return cls(options.config, options.variables, environ=environ, root=options.root)

    def read_trusted(self) -> Config | None:
        """
        The trusted configuration, None where there is none.

        Raises:
            ConfigError: With everything that is wrong in it.
        """
        return None if self.path is None else self._read_once(self.path)

    def shows_intervals(self) -> bool:
        """
        Whether reports show means with their intervals; a file beside a suite does not decide it.

        Raises:
            ConfigError: The trusted configuration is wrong.
        """
        trusted = self.read_trusted()
        return trusted is None or trusted.intervals

    def find_history(self, options: RunOptions) -> Path | None:
        """
        The folder in which runs with *options* are kept: theirs, else that of the trusted configuration; None where
        they are not. A file beside a suite does not decide it.

        Raises:
            ConfigError: The trusted configuration is wrong, or its folder is a link that leads out of its own.
        """
        trusted = self.read_trusted()
        if options.history is not None or trusted is None or trusted.history is None:
            return options.history
        folder = trusted.path.parent / trusted.history
        # A stranger's pull request may put a link where the folder was. One that is named elsewhere is what it says.
        own = Path(os.path.realpath(trusted.path.parent))
        is_inside = Path(os.path.normpath(own / trusted.history)).is_relative_to(own)
        if is_inside and not Path(os.path.realpath(folder)).is_relative_to(own):
            found = f"the history {trusted.history!r} is a link that leads out of {trusted.path.parent}"
            raise ConfigError.at(str(trusted.path), 0, 0, f"{found}, expected a folder; name another with --history")
        return folder

    def read_beside(self, folder: Path) -> Config | None:
        """
        The relevance.toml beside a suite in *folder*, None where there is none or it is the trusted one.

        Its addresses are those of a suite: nobody who may use a login has written them.

        Raises:
            ConfigError: With everything that is wrong in it; or it is a link to another kind of file, which is not
                opened.
        """
        path = config_path(folder)
        if path is None:
            return None
        is_trusted = self.path is not None and path.exists() and path.samefile(self.path)
        if is_trusted:
            return None
        # Errors name keys, and those of a file of secrets are nobody else's business.
        if not is_quotable(path, [path.suffix]):
            raise ConfigError.at(str(path), 0, 0, NOT_FOLLOWED)
        return self._read_once(path)

    def _read_once(self, path: Path) -> Config:
        if path not in self._read:
            self._read[path] = read_config(path)
        return self._read[path]

    def name_files(self, cluster: Cluster | None) -> tuple[str, ...]:
        """The files that were read for a suite on *cluster*, as reports show them: the trusted one first."""
        paths = [] if self.path is None else [self.path]
        if cluster is not None and cluster.mark.path:
            paths.append(Path(cluster.mark.path))
        return tuple(dict.fromkeys(str(shorten_path(path)) for path in paths))

    def is_own_address(self, cluster: str, folder: Path) -> bool:
        """
        Whether *cluster*, the target of a suite in *folder*, is an address of the suite's own or of a file beside it.

        Raises:
            ConfigError: The configuration beside the suite is wrong.
        """
        trusted = self.read_trusted()
        if "://" in cluster or lacks_scheme(cluster):
            return self.find_cluster(cluster) is None
        if trusted is not None and cluster in trusted.clusters:
            return False
        beside = self.read_beside(folder)
        return beside is not None and cluster in beside.clusters

    def find_cluster(self, address: str) -> Cluster | None:
        """The cluster of the trusted configuration that has *address* as its name or its URL; None if none has."""
        trusted = self.read_trusted()
        if trusted is None:
            return None
        if "://" in address or lacks_scheme(address):
            return _find_by_url(trusted, address)
        return trusted.clusters.get(address)

    def find_cluster_beside(self, address: str, folder: Path) -> Cluster | None:
        """
        The same of the configuration beside the suites in *folder*, which is not trusted.

        Raises:
            ConfigError: The configuration is wrong.
        """
        beside = self.read_beside(folder)
        if beside is None:
            return None
        if "://" in address:
            return _find_by_url(beside, address)
        return beside.clusters.get(address)

    def find_refusal(self, variable: str, folder: Path) -> str:
        """Why a suite in *folder* may not read *variable*; empty if it may."""
        refused = f"the suite may not read the variable {variable}: "
        if variable == CONFIG_VARIABLE:
            return f"{refused}it names the configuration of the harness"
        trusted = self.read_trusted()
        patterns = self._variables
        if trusted is not None:
            patterns = (*trusted.variables, *patterns)
            # Names of variables that differ in case only are the same on Windows.
            for cluster in trusted.clusters.values():
                if variable.upper() in map(str.upper, cluster.variables):
                    return f"{refused}it holds a login of the cluster {cluster.name!r} in {self.path}"
            for judge in trusted.judge.values():
                if judge.api_key_env is not None and variable.upper() == judge.api_key_env.upper():
                    return f"{refused}it holds the key of the judge {judge.name!r} in {self.path}"
        if variable.startswith(SUITE_PREFIX) or _is_listed(variable, patterns):
            return ""
        return refused + self._say_how_to_list(variable, trusted, folder)

    def _say_how_to_list(self, variable: str, trusted: Config | None, folder: Path) -> str:
        if trusted is None:
            place, patterns = f"a {CONFIG_NAME} in the folder that you run in", [variable]
        else:
            place, patterns = str(trusted.path), [*trusted.variables, variable]
        line = ", ".join(f'"{pattern}"' for pattern in patterns)
        sentence = f"name it {SUITE_PREFIX}…, or list it in {place}: variables = [{line}]"
        with suppress(ConfigError):
            beside = self.read_beside(folder)
            if beside is not None and _is_listed(variable, beside.variables):
                sentence += f"; the list in {beside.path} counts if you run with --config {beside.path}"
        return sentence


def find_machine_judge(name: str, configs: Configs, folder: Path) -> MachineJudge:
    """
    The language model *name*, with the path of its prompt resolved against the folder of relevance.toml.

    Only the trusted configuration has any: who names a model decides where documents are sent, with which key.

    Args:
        name: Of a table such as ``[judge.gpt]``.
        configs: The configurations of the command.
        folder: The suite's folder; a table in a file beside it is named in the error.

    Raises:
        ConfigError: A configuration is wrong.
        UsageError: There is no such judge, or no file with its prompt.
    """
    trusted = configs.read_trusted()
    judge = None if trusted is None else trusted.judge.get(name)
    if judge is None or trusted is None:
        raise _make_unknown_judge_error(name, trusted, configs.read_beside(folder))
    if judge.prompt is None:
        return judge
    path = trusted.path.parent / judge.prompt
    if not path.is_file():
        raise UsageError(f"{trusted.path}: prompt of the judge {name!r}: there is no file {path}")
    return replace(judge, prompt=str(path))


def _make_unknown_judge_error(name: str, trusted: Config | None, beside: Config | None) -> UsageError:
    if beside is not None and name in beside.judge:
        return UsageError(
            f"the judge {name!r} is described in {beside.path}, which comes with a suite and is not the configuration "
            "that you run with; if it is yours, give ",
            Option("config"),
            f" {beside.path}",
        )
    table = f'[judge.{name}] with base_url = "https://api.openai.com/v1" and model = "…"'
    if trusted is None:
        place = "in the working directory or above"
        return UsageError(f"there is no {CONFIG_NAME} {place}, which describes the judge {name!r}: {table}")
    has = f", which has {', '.join(trusted.judge)}" if trusted.judge else ""
    nearest = did_you_mean(name, trusted.judge) or ";"
    return UsageError(f"the judge {name!r} is not described in {trusted.path}{has}{nearest} add {table}")


def _is_listed(variable: str, patterns: Sequence[str]) -> bool:
    """Whether *variable* is among *patterns*; one that is named like a login is listed by its whole name only."""
    if names_login(variable):
        return variable in patterns
    return any(fnmatchcase(variable, pattern) for pattern in patterns)


def resolve_cluster(target: Target, configs: Configs, folder: Path, *, url: str | None) -> Cluster:
    """
    The cluster that a suite runs on.

    Args:
        target: The suite's target.
        configs: The trusted configuration, which comes first, and that beside the suite.
        folder: The suite's folder.
        url: The URL on the command line, which replaces the target's. A URL in the trusted configuration has the login
            given there; a login is never sent to another URL.

    Raises:
        ConfigError: A configuration is wrong.
        UsageError: No cluster has the name, the URL cannot be used, a certificate's file is missing, or the
            configuration beside the suite has more than plain addresses.
    """
    trusted = configs.read_trusted()
    address = target.cluster if url is None else url
    is_url = url is not None or "://" in address
    sentence = find_url_problem(address) if is_url else None
    if sentence:
        raise UsageError(sentence)
    cluster = configs.find_cluster(address)
    if cluster is not None and trusted is not None:
        return _resolve_certificates(cluster, trusted)
    if url is not None:
        return Cluster(url, url, service=target.service, origin=AddressOrigin.COMMAND_LINE)
    beside = configs.read_beside(folder)
    cluster = configs.find_cluster_beside(address, folder)
    if cluster is not None and beside is not None:
        _refuse_private_keys(beside)
        return replace(cluster, service=target.service, origin=AddressOrigin.SUITE)
    if is_url:
        return Cluster(address, address, service=target.service, origin=AddressOrigin.SUITE)
    raise _make_unknown_cluster_error(address, trusted, beside)


def _find_by_url(config: Config, url: str) -> Cluster | None:
    for cluster in config.clusters.values():
        if cluster.url is not None and cluster.url.rstrip("/") == url.rstrip("/"):
            return cluster
    return None


def _refuse_private_keys(beside: Config) -> None:
    if not beside.private_keys:
        return
    names = listed(tuple(dict.fromkeys(name for name, _ in beside.private_keys)))
    place = beside.private_keys[0][1]
    raise UsageError(
        f"{place}: found {names}, expected plain addresses only, as the file comes with a suite and is not the "
        "configuration that you run with; if it is yours, give ",
        Option("config"),
        f" {beside.path}",
    )


def _make_unknown_cluster_error(name: str, trusted: Config | None, beside: Config | None) -> UsageError:
    configs = [config for config in (trusted, beside) if config is not None]
    if configs:
        # Both files may define a cluster.
        known_names = list(dict.fromkeys(chain.from_iterable(config.clusters for config in configs)))
        has = f", which has {', '.join(known_names)}" if known_names else ""
        files = " and ".join(str(config.path) for config in configs)
        found = f"the cluster {name!r} is not defined in {files}{has}{did_you_mean(name, known_names) or ';'}"
    else:
        place = "in the working directory, beside the suite, or above"
        found = f"the cluster {name!r} is not defined, as there is no {CONFIG_NAME} {place};"
    table = f'[clusters.{name}] with url = "http://localhost:9200"'
    define = f", or define it in {CONFIG_NAME}: {table}"
    return UsageError(f"{found} give ", Option("url"), " or ", Option("embedded"), define)


def _resolve_certificates(cluster: Cluster, config: Config) -> Cluster:
    """The cluster with the paths of its certificates resolved against the folder of relevance.toml."""
    paths: dict[str, str] = {}
    for key in FILES_OF_A_CLUSTER:
        name = getattr(cluster, key)
        if name:
            path = config.path.parent / name
            if not path.is_file():
                raise UsageError(f"{cluster.mark}: {key} of the cluster {cluster.name!r}: there is no file {path}")
            paths[key] = str(path)
    return replace(cluster, **paths) if paths else cluster  # type: ignore[arg-type]
