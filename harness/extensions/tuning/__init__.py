"""
Tunes the parameters of a request: trials on a part of the queries, and a decision on those that no trial has seen.

`preparing` draws the hold-out, and `looking` counts what was seen of it; `trials` makes trials, which `study` proposes
and keeps by Optuna, and `asking` sends as a run sends a suite; `decision` chooses one of them; `concluding` compares it
on the hold-out, and reports. `tune` does all of that.
"""

from harness.extensions import AddedChooser, AddedCommand, AddedSchema, Extension

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "tune",
            "Analysis",
            "Tune the parameters of a request, and decide on queries held out.",
            "harness.extensions.tuning.command",
            before="evaluate",
        ),
    ),
    schemas=(AddedSchema("tuning", "harness.extensions.tuning.outputs", "tuning_schema"),),
    choosers=(AddedChooser("harness.extensions.tuning.hold_outs", "list_choosing_queries"),),
    pages=(
        "guides/tuning.md",
        "explanation/hold-out.md",
    ),
)
