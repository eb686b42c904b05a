"""``harness validate``: are these suites right, without asking an engine."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.shared_options import (
    config_options,
    find_given_suites,
    github_option,
    make_run_options,
    open_github_step,
    print_left_out,
    report_errors_to,
    root_option,
    suites_argument,
)
from harness.config import Configs
from harness.means import are_weighted
from harness.metrics.score import measures_of
from harness.model import Suite
from harness.report.sentences import plain_text, printable
from harness.suites import load_suites
from harness.words import count

TAGS_SHOWN = 12


@click.command("validate")
@suites_argument
@config_options
@root_option
@github_option
@click.option("--quiet", "-q", is_flag=True, help="Print problems only.")
def command(suites: Sequence[Path], github: bool, quiet: bool, **given: Any) -> None:
    """
    Check suites, and the judgment files that they name, without an engine.

    SUITE is a file, or a folder: then all *.relevance.yaml under it. Every problem of every file is printed, with its
    line, on standard error. Variables from the environment need not be set.
    """
    with report_errors_to(open_github_step(github)):
        options = make_run_options(**given)
        found, configs = find_given_suites(suites, options.root), Configs.of(options, os.environ)
        checked = load_suites(found.suites, None, configs=configs)
    if quiet:
        return
    for suite in checked:
        click.echo(f"{printable(suite.path)}: {_contents(suite)}")
        for line in _groups(suite):
            click.echo(f"  {printable(line)}")
    click.echo(f"{count(len(checked), 'suite')} checked: no problems")
    print_left_out(found)


def _groups(suite: Suite) -> Iterator[str]:
    """The number of queries of each tag, and the range of weights where these differ."""
    tags = Counter(tag for query in suite.queries for tag in query.tags)
    if tags:
        without = sum(not query.tags for query in suite.queries)
        counts = [f"{tag} {size:,}" for tag, size in tags.most_common(TAGS_SHOWN)]
        counts += [f"and {len(tags) - TAGS_SHOWN:,} more"] if len(tags) > TAGS_SHOWN else []
        yield f"tags: {', '.join(counts)}{f'; no tag {without:,}' if without else ''}"
    weights = [query.weight for query in suite.queries]
    if are_weighted(weights) and not any(map(math.isnan, weights)):
        yield f"weights: from {plain_text(min(weights))} to {plain_text(max(weights))}"


def _contents(suite: Suite) -> str:
    queries = suite.queries
    judged = sum(1 for query in queries if query.judgments)
    counts = [
        count(len(queries), "query") + ("" if judged == len(queries) else f" ({len(queries) - judged:,} unjudged)"),
        count(sum(len(query.judgments) for query in queries), "judgment")
        + (f" ({suite.ungraded:,} not graded yet)" if suite.ungraded else ""),
        count(len({measure for query in queries for measure in measures_of(suite, query)}), "measure"),
        count(len(suite.thresholds) + sum(len(query.thresholds) for query in queries), "threshold"),
        count(len(suite.requests), "request"),
    ]
    return ", ".join(counts)
