"""What runs in parts add to the tests that hold for each command."""

from harness.report.outputs import OUTPUT_KINDS

NUL_BYTES = [["merge", "a\0b"]]
LOST = {"merge": (("merge", "part.journal"), ("html", "json"))}
OUTPUTS = [word for kind in OUTPUT_KINDS for word in ("--output", f"{kind}=report.{kind}")]
RUN = ("run", "shop.relevance.yaml")
REFUSED = {
    "a part without a journal": (*RUN, "--shard", "1/2"),
    "a part with a report": (*RUN, *OUTPUTS, "--shard", "1/2", "--journal", "new.journal"),
    "a scheduler with a journal": (*RUN, *OUTPUTS, "--scheduler", "tcp://x:1", "--journal", "new.journal"),
    "a journal to merge that is none": ("merge", "graded.csv", *OUTPUTS),
    "a journal that is given twice": ("merge", "locked.json.journal", "locked.json.journal", *OUTPUTS),
}
OPENERS = {"extensions/distributed/scheduler.py": "reads a journal in a folder of its own"}
