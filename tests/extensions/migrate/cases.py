"""What importers and exporters add to the tests that hold for each command."""

from harness.extensions.migrate.click_logs import read_csv, read_ubi
from harness.extensions.migrate.clicks import ClickModel, grade_clicks, read_propensities
from harness.options import Commands

COMMANDS_WITH = [
    (Commands.WITH_A_SERVER, ("verify",)),
    (Commands.OF_SUITES, ("verify",)),
    (Commands.OF_CELLS, ("verify",)),
]
REQUESTS = [["verify", "shop.relevance.yaml"]]
UNQUOTED = [["export", "trec", "--output", "out"]]
LOGINS = {"verify": ["verify"]}
UNSENT_LOGINS = [["init", "suites", "--index", "products"]]
UNLISTED = {"export": ["export", "trec", "suites/shop.relevance.yaml", "--output", "out"]}
NUL_BYTES = [["init", "a\0b"]]
REFUSED = {
    "an import into a file that is there": ("import", "trec", "graded.qrels", "--output", "shop.relevance.yaml"),
    "an import of nothing": ("import", "quepid", "none.json", "--output", "new"),
    "an import below a file": ("import", "trec", "graded.qrels", "--output", "report.json/new.relevance.yaml"),
    "an import beside another schema": ("import", "trec", "graded.qrels", "--output", "foreign/new.relevance.yaml"),
    "an export into a file that is there": ("export", "csv", "since.relevance.yaml", "--output", "graded.csv"),
    "an export of a wrong suite": ("export", "csv", "wrong.relevance.yaml", "--output", "new.csv"),
    "a first suite over another": ("init", "taken"),
    "a first suite beside another schema": ("init", "foreign"),
    "a first suite below a file": ("init", "blocked"),
    "a suite of an index without a server": ("init", "new", "--index", "products", "--cluster", "nowhere"),
}
READERS = {
    "clicks.csv": lambda path: grade_clicks(read_csv([str(path)]), ClickModel(least_impressions=1)),
    "ubi.json": lambda path: grade_clicks(read_ubi([str(path)]), ClickModel(least_impressions=1)),
    "ubi.jsonl": lambda path: grade_clicks(read_ubi([str(path)]), ClickModel(least_impressions=1)),
    "propensities.csv": read_propensities,
}
OPENERS = {
    "extensions/migrate/clicks.py": "reads the log that the user named",
    "extensions/migrate/scaffold/__init__.py": "reads files of the package, and writes those of `relevance init`",
}
