"""What sampling adds to the tests that hold for each command."""

REFUSED = {
    "queries into a file that is there": ("queries", "sample", "log.csv", "--output", "graded.csv"),
    "queries of another column": ("queries", "sample", "log.csv", "--query-column", "words", "--output", "new.csv"),
    "queries into a suite that is there": ("queries", "sample", "log.csv", "--output", "shop.relevance.yaml"),
}
