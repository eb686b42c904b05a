"""What judging adds to the tests that hold for each command."""

from harness.options import Commands

URL = ["--url", "http://127.0.0.1:9"]

COMMANDS_WITH = [
    (Commands.WITH_A_SERVER, ("judgments pool", "judgments lint")),
    (Commands.OF_SUITES, ("judgments pool",)),
    (Commands.OF_CELLS, ("judgments pool",)),
]
REQUESTS = [["judgments", "pool", "shop.relevance.yaml"], ["judgments", "lint", "shop.relevance.yaml"]]
PRINTED = [(["judgments", "lint"], ["--json"]), (["judgments", "lint"], []), (["judgments", "pool"], ["--url"])]
UNQUOTED = [["judgments", "lint", "--offline"]]
LOGINS = {
    "pool": ["judgments", "pool"],
    "lint": ["judgments", "lint"],
    "judge": ["judge", "page", "--no-open"],
}
MASKED = {
    "pool": ["judgments", "pool", "shop.relevance.yaml", "--output", "pool.csv"],
    "lint": ["judgments", "lint", "shop.relevance.yaml"],
}
FOUND = [["judgments", "pool", "--url", "URL"], ["judgments", "lint", "--offline"]]
WITHOUT_VARIANTS = [["judgments", "pool", "shop.relevance.yaml", "--output", "csv=pool.csv"]]
BESIDE = {
    "shop.sample.json": ["judge", "shop.relevance.yaml", "--sample", "5", *URL],
    "shop.judged-by.anna.jsonl": ["judge", "agreement", "shop.relevance.yaml"],
    "shop.graded-documents.jsonl": ["judgments", "age", "shop.relevance.yaml", "--offline", "--before", "2026-01-31"],
    ".shop.judges.json": ["judge", "revoke", "shop.relevance.yaml", "anna"],
}
LOST = {"pool": (("judgments", "pool", "shop.relevance.yaml", "-q"), ("csv", "yaml"))}
REFUSED = {
    "a pool into a file with grades": ("judgments", "pool", "shop.relevance.yaml", "--output", "csv=graded.csv"),
    "a pool of two suites": (
        *("judgments", "pool", "shop.relevance.yaml", "since.relevance.yaml"),
        *("--output", "csv=new.csv"),
    ),
    "a pool of another request": (
        *("judgments", "pool", "shop.relevance.yaml", "--request", "curent"),
        *("--output", "csv=report.csv", "--output", "yaml=report.yaml"),
    ),
    "grades into a file with others": ("judge", "write", "shop.relevance.yaml", "--output", "csv=graded.csv"),
    "grades into one file twice": (
        *("judge", "write", "shop.relevance.yaml"),
        *("--output", "csv=new.csv", "--output", "jsonl=new.csv"),
    ),
    "a sample for another request": ("judge", "shop.relevance.yaml", "--sample", "1", "--request", "curent"),
    "a sample of too many": ("judge", "shop.relevance.yaml", "--sample", "7"),
}
NAMED = [
    ("relevance judge", ""),
    ("relevance judgments", ""),
    ("relevance judgments lend", "judgments has no command lend"),
]
OPENERS = {
    "extensions/judging/writing.py": "reads files of judgments, which are written again",
    "extensions/judging/remap/files.py": "writes a copy of a file of judgments into a folder of its own",
    "extensions/judging/remap/remapping.py": "sees whether files of judgments have their new ids",
    "extensions/judging/commands/machine.py": "reads the prompt that relevance.toml names",
}
OPENED_BESIDE = [
    "extensions/judging/graded_documents.py",
    "extensions/judging/server/access.py",
    "extensions/judging/judge_lock.py",
]
