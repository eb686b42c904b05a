"""One run in several parts: shards with their journals, and workers of a Dask scheduler."""

from harness.extensions import AddedCommand, AddedOption, AddedOptions, Extension, Remedy

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "merge",
            "Others",
            "Report as one run what several machines sent in parts, by run --shard.",
            "harness.extensions.distributed.merge_command",
            before="schema",
        ),
    ),
    options=(
        AddedOptions(
            "run",
            "harness.extensions.distributed.run_options",
            (
                AddedOption(
                    "shard",
                    "I/N",
                    "Send this part of the queries only, such as 2/4, and decide nothing; `relevance merge` joins the"
                    " journals.",
                ),
                AddedOption(
                    "scheduler",
                    "ADDRESS",
                    "Send the queries from the workers of this Dask cluster, such as tls://10.0.0.1:8786.",
                ),
            ),
        ),
        AddedOptions(
            "evaluate",
            "harness.extensions.distributed.evaluate_options",
            (AddedOption("scheduler", "ADDRESS", "Score the files of a folder on the workers of this Dask cluster."),),
        ),
    ),
    pages=("guides/scale.md", "evidence/scale.md"),
    remedies={Remedy.MERGE: "relevance merge"},
)
