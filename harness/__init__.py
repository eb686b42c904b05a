"""Search relevance tests: YAML suites of judged queries, run on a real engine, gated by pytest."""

__version__ = "1.0.0rc1"
