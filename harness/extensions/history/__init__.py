"""How measures went over the kept runs."""

from harness.extensions import AddedCommand, Extension

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "history",
            "Analysis",
            "Show how measures went over the runs that were kept.",
            "harness.extensions.history.command",
            before="evaluate",
        ),
    ),
    pages=("guides/history.md",),
)
