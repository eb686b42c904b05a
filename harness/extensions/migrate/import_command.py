"""``relevance import``: a suite from another system's files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.exits import COMMAND
from harness.cli.headings import Command, Group, rare_option
from harness.cli.shared_options import add_options, config_options, existing_file, json_option
from harness.cli.written_files import print_written
from harness.config import Configs
from harness.extensions.migrate.clicks import (
    LEAST_IMPRESSIONS,
    ClickModel,
    ClickSources,
    import_clicks,
    read_propensities,
)
from harness.extensions.migrate.formats import FORMATS, Format, ImportOptions, import_suites
from harness.extensions.migrate.json_nodes import read_node
from harness.extensions.migrate.live_index import read_live_documents
from harness.extensions.migrate.matching import IdMatching
from harness.files.tables import read_number
from harness.options import RunOptions
from harness.suites import load_suite
from harness.waits import show_work


class CutPoints(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes no argument here
    """Increasing numbers above 0, separated by commas."""

    name = "A,B,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Parse *value*."""
        points = []
        last = 0.0
        for part in str(value).split(","):
            point = read_number(part.strip())
            if point is None or not last < point < inf:
                self.fail(f"found {value!r}, expected numbers above 0 that rise, such as 0.5,1,2", param, ctx)
            points.append(point)
            last = point
        return tuple(points)


class LabelGrades(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes no argument here
    """Words with their grades, separated by commas."""

    name = "NAME=NUMBER,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float]:
        """Parse *value*."""
        if isinstance(value, dict):
            return value
        grades: dict[str, float] = {}
        for part in str(value).split(","):
            word, separator, text = part.rpartition("=")
            grade = read_number(text.strip())
            name = word.strip()
            if not separator or not name or grade is None or not -inf < grade < inf:
                self.fail(f"found {part!r}, expected a label and its grade, such as Exact=2,Partial=1", param, ctx)
            if name in grades:
                self.fail(f"the label {name!r} has two grades; give it once", param, ctx)
            grades[name] = grade
        return grades


strict_option = click.option("--strict", is_flag=True, help="Exit with 1 if anything is not carried over.")


OUTPUT_OPTIONS = (
    click.argument("sources", metavar="SOURCE…", nargs=-1, required=True),
    click.option(
        "--output",
        required=True,
        metavar="FILE|DIR",
        type=click.Path(path_type=Path),
        help="The suite that is written, *.relevance.yaml, or its folder.",
    ),
    click.option("--name", help="The suite's name; by default the source's."),
    click.option("--index", metavar="NAME", help="The index to search, if the source does not name it."),
    click.option(
        "--request-file", type=existing_file, help="JSON with the body of _search; {{text}} is the query's text."
    ),
    strict_option,
    json_option,
)

SEPARATE_OPTION = click.option(
    "--separate",
    is_flag=True,
    help="Write queries and judgments to files beside the suite; if the suite is there, replace only these files.",
)

MATCHING_OPTION = rare_option(
    "--match-ids",
    "matching",
    type=click.Choice([str(matching) for matching in IdMatching]),
    help="How ids of queries in judgments are matched; loose: whatever their letter case, letters before a number and "
    "zeros in front of it. By default exactly, unless most queries find no judgment.",
)

GRADES_OPTION = click.option(
    "--grades",
    metavar="NAME=NUMBER,…",
    type=LabelGrades(),
    help="The grades of labels in words, such as Exact=2,Partial=1,Irrelevant=0.",
)

CLICK_OPTIONS = (
    click.option("--suite", "suite_path", metavar="FILE", type=existing_file, help="Grade the queries of this suite."),
    rare_option(
        "--cut-points",
        metavar="A,B,…",
        type=CutPoints(),
        help="The COEC from which on each grade above 0 is given; 0.5,1,2 by default.",
    ),
    rare_option(
        "--least-impressions",
        metavar="NUMBER",
        type=click.IntRange(min=1),
        help=f"Leave out what was shown less often for a query; {LEAST_IMPRESSIONS} by default.",
    ),
    rare_option(
        "--propensities",
        metavar="FILE",
        type=existing_file,
        help="CSV with position and propensity; by default estimated from the clicks.",
    ),
    rare_option("--click-action", "actions", metavar="NAME", multiple=True, help="An action that is a click."),
    config_options,
)

_SERVER_OPTIONS = (
    click.option("--url", metavar="URL", help="The sources are indexes of this server."),
    click.option("--cluster", metavar="NAME", help="The sources are indexes of this cluster in relevance.toml."),
)


@click.group("import", cls=Group)
def command() -> None:
    """
    Write a suite from the files of another system, or grades from clicks.

    What a suite has no place for is listed on standard error, with its place. What the source does not say, such as the
    request, is a line with TODO to fill in; `relevance validate` names its place. No file is replaced, but
    by --separate, and an older relevance.schema.json, by which editors complete suites.
    The exit status is 2 if a source cannot be read, most queries find no judgment, or the suite would be wrong.
    """


def _add_command(kind: str, migration_format: Format) -> None:
    """Add the command that imports from *migration_format*, with the options that it has a use for."""
    options = [*OUTPUT_OPTIONS]
    if migration_format.has_labels:
        options.append(GRADES_OPTION)
    if migration_format.has_query_ids:
        options.append(MATCHING_OPTION)
    read: Callable[..., int] = partial(_import_files, kind)
    if migration_format.module == "clicks":
        read = partial(_import_clicks, kind)
        options += CLICK_OPTIONS
        if kind == "ubi":
            options += _SERVER_OPTIONS
    else:
        options.append(SEPARATE_OPTION)
    make_command = click.command(
        kind,
        cls=Command,
        help=f"Import from {migration_format.summary}.",
        short_help=migration_format.summary,
        epilog=format_examples(f"relevance import {kind} {migration_format.example}"),
    )
    command.add_command(make_command(add_options(read, options)))


def _import_files(
    kind: str,
    *,
    sources: Sequence[str],
    output: Path,
    strict: bool,
    as_json: bool,
    separate: bool,
    matching: str | None = None,
    grades: dict[str, float] | None = None,
    **arguments: Any,
) -> int:
    options = _read_options(**arguments)
    options = replace(
        options,
        is_separate=separate,
        matching=None if matching is None else IdMatching(matching),
        grades=grades,
    )
    with show_work(f"importing {kind}"):
        migrated = import_suites(kind, sources, output, options)
    return print_written(migrated, strict=strict, command=f"import {kind}" if as_json else "")


def _import_clicks(
    kind: str,
    *,
    sources: Sequence[str],
    output: Path,
    strict: bool,
    as_json: bool,
    name: str | None,
    index: str | None,
    request_file: Path | None,
    suite_path: Path | None,
    config: Path | None,
    variables: tuple[str, ...],
    url: str | None = None,
    cluster: str | None = None,
    **click_arguments: Any,
) -> int:
    options = RunOptions(url=url, cluster=cluster, config=config, variables=variables, entry=COMMAND)
    documents = None
    if url is not None or cluster is not None:
        with show_work("reading the documents of the indexes"):
            documents = read_live_documents(output.parent, sources, options, environ=os.environ)
    suite = None
    if suite_path is not None:
        suite = load_suite(suite_path, None, needs_judgments=False, configs=Configs.from_options(options, os.environ))
    model = _make_click_model(click_arguments)
    import_options = _read_options(name, index, request_file)
    with show_work(f"importing {kind}"):
        migrated = import_clicks(ClickSources(kind, sources, documents), output, model, import_options, suite=suite)
    return print_written(migrated, strict=strict, command=f"import {kind}" if as_json else "")


def _read_options(name: str | None, index: str | None, request_file: Path | None) -> ImportOptions:
    request = None if request_file is None else read_node(request_file).object()
    return ImportOptions(name, index, request)


def _make_click_model(arguments: Mapping[str, Any]) -> ClickModel:
    """The model of the options that were given; the others are as `ClickModel` has them."""
    settings = {name: value for name, value in arguments.items() if value}
    if "propensities" in settings:
        settings["propensities"] = read_propensities(settings["propensities"])
    return ClickModel(**settings)


for _kind, _format in FORMATS.items():
    _add_command(_kind, _format)
