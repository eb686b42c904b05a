"""
Compares two runs or more, each with the first, from files, from a baseline or searched on an engine.

`forms` reads how a side is written; `sides` makes a side from a baseline, a report, a run file, or a request, index or
cluster that is searched; `preparing` finds the sides of a comparison; `scores` scores both alike; `assembly` decides
thresholds and lists the documents that entered, left and moved.
"""

from harness.extensions import AddedCommand, AddedMethod, AddedSchema, AddedSubcommand, Extension, Remedy

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "compare",
            "Daily",
            "Compare two runs side by side, with tests of significance.",
            "harness.extensions.compare.command",
        ),
        AddedCommand(
            "plan",
            "Analysis",
            "Count the queries that would show an effect, from two sides.",
            "harness.extensions.compare.plan_command",
            before="evaluate",
        ),
    ),
    subcommands=(AddedSubcommand("baseline", "diff", "harness.extensions.compare.diff_command"),),
    schemas=(
        AddedSchema("comparison", "harness.extensions.compare.outputs", "comparison_schema"),
        AddedSchema("plan", "harness.extensions.compare.outputs", "plan_schema"),
    ),
    methods=(AddedMethod("compare", "harness.extensions.compare.api", "compare_sides"),),
    pages=("guides/compare.md", "guides/why.md"),
    remedies={
        Remedy.EXPLAIN: "relevance compare baseline{file} request:{request} --request {request} --suite {suite} --why",
        Remedy.EXPLAIN_FIXTURE: "relevance compare --suite {suite} --old-suite {old} --why",
    },
)
