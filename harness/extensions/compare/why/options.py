"""The options of ``relevance compare --why``, and what is printed before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from harness.cli.shared_options import Decorated, add_options, existing_file
from harness.extensions.compare.why.arms import SEARCHES
from harness.extensions.compare.why.planning import WhyPlan
from harness.extensions.compare.why.sentences import describe_plan, name_difference
from harness.masking import Masker

WHY_OPTIONS = (
    click.option(
        "--why", is_flag=True, help="Send what lies between two requests, and name the differences that did it."
    ),
    click.option("--why-each", is_flag=True, help="As --why; the same change at several places is taken apart."),
    click.option(
        "--old-suite",
        type=existing_file,
        metavar="FILE",
        help="With --why, the suite as it was, such as that of another branch: its request, the first one where no "
        "sides are named, and its fixture.",
    ),
    click.option(
        "--searches",
        type=click.IntRange(min=1),
        default=SEARCHES,
        show_default=True,
        help="The most searches that --why sends.",
    ),
    click.option(
        "--dry-run", is_flag=True, help="Print the differences for --why and the number of searches; send none."
    ),
)


def why_options(command: Decorated) -> Decorated:
    """Give *command* the options on causes."""
    return add_options(command, WHY_OPTIONS)


def list_plan_lines(plan: WhyPlan) -> Iterator[str]:
    """The differences and the number of searches, with secrets masked."""
    masker = Masker(plan.suite.variables)
    queries = len(plan.suite.queries)
    for line in describe_plan(plan.differences, len(plan.finest), plan.searches, plan.pair_searches, queries):
        yield masker.mask(line)
    if plan.indexes:
        yield f"{plan.indexes:,} indexes of fixtures are searched; what is built for this is removed after"


def dump_plan(plan: WhyPlan) -> str:
    """The same as JSON."""
    differences = []
    for difference in plan.differences:
        places = [change.pointer for change in difference.changes]
        differences.append({"name": name_difference(difference), "places": places})
    content = {
        "differences": differences,
        "queries": len(plan.suite.queries),
        "searches": plan.searches,
        "pair_searches": plan.pair_searches,
        "indexes": plan.indexes,
    }
    return json.dumps(Masker(plan.suite.variables).mask_json(content), ensure_ascii=False, indent=2)
