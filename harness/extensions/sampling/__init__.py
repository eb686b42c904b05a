"""Queries drawn from a log of searches, with their weights."""

from harness.extensions import AddedCommand, Extension

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "queries",
            "Queries and judgments",
            "Draw queries for a suite from a log of searches.",
            "harness.extensions.sampling.command",
        ),
    ),
    pages=("guides/queries.md",),
)
