"""What ``relevance validate`` does: suites are loaded, and what they have is printed."""

from __future__ import annotations

import math
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from harness.cli.found_suites import find_given_suites, print_left_out
from harness.cli.github import open_github_step, report_errors_to
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import make_run_options
from harness.config import Configs
from harness.gate.conditions import gates_anything
from harness.means import are_weighted
from harness.metrics.measures import measures_of
from harness.model.suite import Json, Measure, Suite, select_scored
from harness.report.safe_text import make_loggable
from harness.suites import load_suites
from harness.suites.schema_file import SCHEMA_NAME, SchemaState, read_schema_state
from harness.words import count, grouped, listed

_TAGS_SHOWN = 12

_NOUNS = {
    "queries": "query",
    "judgments": "judgment",
    "quotes": "quote",
    "measures": "measure",
    "thresholds": "threshold",
    "requests": "request",
}
"""What a line about a suite counts, in its order."""


def check_suites(suites: Sequence[Path], *, github: bool, quiet: bool, as_json: bool, **arguments: Any) -> None:
    """Load the suites of the paths *suites*, and print what each has."""
    with report_errors_to(open_github_step(github)):
        options = make_run_options(**arguments)
        found = find_given_suites(suites, options.root)
        loaded_suites = load_suites(found.suites, None, configs=Configs.from_options(options, os.environ))
    if as_json:
        print_result(CommandResult("validate", facts={"suites": [_count_contents(suite) for suite in loaded_suites]}))
        return
    if quiet:
        return
    for suite in loaded_suites:
        click.echo(f"{make_loggable(suite.path)}: {_describe_contents(suite)}")
        for line in (*_describe_groups(suite), *_suggest_collapse(suite)):
            click.echo(f"  {make_loggable(line)}")
    click.echo(f"{count(len(loaded_suites), 'suite')} checked: no problems")
    for folder in sorted({path.parent for path in found.suites}):
        if read_schema_state(folder) is SchemaState.OUTDATED:
            _print_outdated_schema(folder / SCHEMA_NAME)
    print_left_out(found)


def _print_outdated_schema(path: Path) -> None:
    refresh = shlex.join(["relevance", "schema", "--output", str(path)])
    click.echo(make_loggable(f"{path} is the schema of another version of the harness; update it with {refresh}"))


def _count_contents(suite: Suite) -> dict[str, Json]:
    """How many queries, judgments, measures, thresholds and requests *suite* has."""
    queries = suite.queries
    measures: set[Measure] = set()
    for query in queries:
        measures.update(measures_of(suite, query))
    return {
        "file": suite.path,
        "suite": suite.name,
        "queries": len(queries),
        "unjudged": sum(not (query.judgments or query.quotes) for query in select_scored(queries)),
        "judgments": sum(len(query.judgments) for query in queries),
        "ungraded": suite.ungraded,
        "quotes": sum(len(query.quotes) for query in queries),
        "measures": len(measures),
        "thresholds": len(suite.thresholds) + sum(len(query.thresholds) for query in queries),
        "requests": len(suite.requests),
    }


def _describe_contents(suite: Suite) -> str:
    """As `_count_contents`, in words."""
    numbers = _count_contents(suite)
    hidden = "quotes"
    if numbers["quotes"]:
        hidden = "" if numbers["judgments"] else "judgments"
    counts = [count(cast("int", numbers[key]), noun) for key, noun in _NOUNS.items() if key != hidden]
    if numbers["unjudged"]:
        counts[0] += f" ({numbers['unjudged']:,} unjudged)"
    if numbers["ungraded"]:
        counts[1] += f" ({numbers['ungraded']:,} not graded yet)"
    return ", ".join(counts)


def _suggest_collapse(suite: Suite) -> list[str]:
    """That the engine itself may return a document once, for each request whose documents have several hits."""
    lines = []
    for name, template in suite.requests.items():
        target = suite.find_target(name)
        if target.id_field is None or not target.unique_ids or not isinstance(template.body, Mapping):
            continue
        if "collapse" not in template.body:
            lines.append(
                f"request {name}: a document counts at its best hit, and runs ask for more hits where documents "
                f"repeat; `collapse: {{field: {target.id_field}}}` in the request lets the engine do so, at less cost"
            )
    return lines


def _describe_groups(suite: Suite) -> list[str]:
    """The number of queries of each tag, the clusters, the requests that gate nothing, the range of weights."""
    lines = []
    tags = Counter(tag for query in suite.queries for tag in query.tags)
    if tags:
        counts = [f"{tag} {size:,}" for tag, size in tags.most_common(_TAGS_SHOWN)]
        if len(tags) > _TAGS_SHOWN:
            counts.append(f"and {len(tags) - _TAGS_SHOWN:,} more")
        untagged = sum(not query.tags for query in suite.queries)
        line = f"tags: {', '.join(counts)}"
        if untagged:
            line += f"; no tag {untagged:,}"
        lines.append(line)
    requests_by_cluster = grouped((suite.find_target(name).cluster, name) for name in suite.requests)
    if len(requests_by_cluster) > 1:
        texts = [f"{cluster} ({', '.join(names)})" for cluster, names in requests_by_cluster.items()]
        lines.append(f"clusters: {', '.join(texts)}")
    ungated = [name for name in suite.requests if not gates_anything(suite, name)]
    if ungated:
        lines.append(f"requests that gate nothing: {listed(ungated)}")
    weights = [query.weight for query in suite.queries]
    # A weight of a variable has no value here: variables need not be set.
    if are_weighted(weights) and not any(map(math.isnan, weights)):
        from harness.report.sentences import format_value

        lines.append(f"weights: from {format_value(min(weights))} to {format_value(max(weights))}")
    return lines
