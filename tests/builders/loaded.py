"""
Loads what an inner pytest would be the first to import, for the modules that import this one.

pytester forgets the modules that an inner run was the first to import, and some cannot be loaded twice.
"""

import importlib

for _name in (
    "harness.api",
    "harness.api.running",
    "harness.compare",
    "harness.statistics.compare",
    "harness.pytest_plugin.fixture",
    "harness.pytest_plugin.summary",
    "harness.run",
    "harness.report.annotations",
    "harness.report.html",
    "harness.report.json",
    "harness.report.markdown",
    "harness.report.terminal.comparison",
    "harness.report.terminal.run",
    "harness.run.sent_requests",
    "harness.search.fixtures",
    "harness.search.engine",
    "harness.search.http_service",
    "harness.suites.loading",
    "harness.suites.requests",
    "scipy.optimize",
    "scipy.stats",
):
    importlib.import_module(_name)
