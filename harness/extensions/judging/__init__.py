"""Pools of unjudged hits, errors in judgments, and the page on which documents are graded."""

from harness.extensions import AddedCommand, Extension, Remedy

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "judge",
            "Daily",
            "Grade unjudged documents: on a page in the browser, as a team, by a model.",
            "harness.extensions.judging.commands.judge",
        ),
        AddedCommand(
            "judgments",
            "Queries and judgments",
            "Collect unjudged documents, and find errors in judgments.",
            "harness.extensions.judging.commands.judgments",
        ),
    ),
    pages=(
        "guides/judging.md",
        "guides/judging-together.md",
        "guides/machine-judges.md",
        "evidence/machine-judges.md",
    ),
    remedies={
        Remedy.GRADE: "relevance judge",
        Remedy.POOL: "relevance judgments pool",
        Remedy.ASK_MACHINE: "relevance judge machine {suite} --judge {judge}",
        Remedy.DRAW_SAMPLE: "relevance judge {suite} --sample {size} --seed {seed}",
    },
)
