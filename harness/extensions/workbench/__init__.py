"""
A page on which a request is changed, and its results stand beside those of today at once.

`guard` says what a text may ask for, `dials` finds the numbers in it; `opening` loads the suite and answers the side
that is live; `bench` sends texts, one at a time, and `figures` compares them; `tries` keeps what was answered;
`holding_out`, `grading` and `writing` do what their names say, and `actions` is what the page asks for.
"""

from harness.extensions import AddedCommand, AddedSide, Extension

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "try",
            "Daily",
            "Change a request on a page, and see the results of all queries at once.",
            "harness.extensions.workbench.command",
        ),
    ),
    sides=(
        AddedSide(
            "try",
            "N",
            "what relevance try kept by that number",
            "harness.extensions.workbench.compared",
            "read_try_side",
        ),
    ),
    pages=("guides/try.md",),
)
