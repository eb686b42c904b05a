"""``relevance info``: what an issue report has to say of an installation, without secrets."""

from __future__ import annotations

import platform
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points, version
from pathlib import Path

import click

from harness import __version__
from harness.cli.examples import format_examples
from harness.cli.headings import Command
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import json_option
from harness.config import Config, Configs
from harness.embedded import status as running_nodes
from harness.errors import HarnessError
from harness.hooks import HOOK_ENTRY_POINTS
from harness.metrics.registry import MEASURE_ENTRY_POINTS
from harness.pages import PACKAGE
from harness.report.safe_text import make_loggable

SHOWN_PACKAGES = ("elasticsearch", "elastic-transport", "requests", "urllib3", "pytest", "pyyaml", "pydantic", "numpy")
"""The packages whose versions explain most problems."""

_REQUIREMENT = re.compile(r"""(?P<package>[A-Za-z0-9._-]+).*;.*extra == ["'](?P<extra>[A-Za-z0-9._-]+)["']""")
"""A requirement of an extra in a package's metadata: ``numpy>=2; extra == "arrays"``."""


@click.command("info", cls=Command, epilog=format_examples("relevance info"))
@json_option
def command(as_json: bool) -> None:
    """
    Print versions, extras, plugins and the configuration that counts, for an issue report.

    No secret is printed: of relevance.toml only the names of its clusters, and no value of a variable.
    """
    lines = {
        "harness": f"{__version__}, Python {platform.python_version()}, {platform.platform()}",
        "packages": ", ".join(f"{name} {_find_version(name)}" for name in SHOWN_PACKAGES),
        "extras": _describe_extras(),
        "measures": _describe_plugins(MEASURE_ENTRY_POINTS),
        "hooks": _describe_plugins(HOOK_ENTRY_POINTS),
        "relevance.toml": _describe_configuration(),
        "embedded": _describe_nodes(),
    }
    if as_json:
        print_result(CommandResult("info", facts=lines))
        return
    width = max(map(len, lines))
    for name, text in lines.items():
        click.echo(make_loggable(f"{name:{width}}  {text}"))


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "is not installed"


def _describe_extras() -> str:
    """The extras whose packages are all there, and what the others lack."""
    try:
        missing = _list_missing_packages(distribution(PACKAGE))
    except PackageNotFoundError:
        return "unknown, because the package is not installed"
    complete = [extra for extra, packages in missing.items() if not packages]
    parts = [", ".join(complete) or "none"]
    parts += [f"{extra} lacks {', '.join(packages)}" for extra, packages in missing.items() if packages]
    return "; ".join(parts)


def _list_missing_packages(harness: Distribution) -> dict[str, list[str]]:
    """The packages of each extra that are not installed."""
    missing: dict[str, list[str]] = {}
    for requirement in harness.requires or ():
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            continue
        packages = missing.setdefault(match["extra"], [])
        try:
            version(match["package"])
        except PackageNotFoundError:
            packages.append(match["package"])
    return missing


def _describe_plugins(group: str) -> str:
    """The entry points of *group*, each with its package; they are not loaded."""
    plugins = []
    for entry_point in entry_points(group=group):
        package = entry_point.dist
        origin = "" if package is None else f" ({package.name} {package.version})"
        plugins.append(f"{entry_point.name}{origin}")
    return ", ".join(sorted(plugins)) or f"none (entry points of {group})"


def _describe_configuration() -> str:
    try:
        configs = Configs()
        config = configs.read_trusted()
    except HarnessError as error:
        # The problems of a file quote its lines.
        return f"has a problem ({type(error).__name__}), which `relevance validate` tells"
    if configs.path is None or config is None:
        return "none in this folder or above it"
    return f"{_shorten_home(configs.path)}: {_describe_clusters(config)}"


def _describe_clusters(config: Config) -> str:
    names = [f"{name} ({cluster.service})" for name, cluster in config.clusters.items()]
    return f"clusters {', '.join(names)}" if names else "no clusters"


def _shorten_home(path: Path) -> str:
    """*path*, with ~ for the home folder, whose name may be that of a person."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _describe_nodes() -> str:
    nodes = [f"OpenSearch {node.version} runs" for node in running_nodes()]
    return ", ".join(nodes) or "no node runs"
