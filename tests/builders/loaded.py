"""
Loads what an inner pytest would be the first to import, for the modules that import this one.

pytester forgets the modules that an inner run was the first to import, and some cannot be loaded twice.
"""

import importlib

from harness.extensions import load_extensions

for _name in (
    "_pytest.stepwise",
    *(method.module for extension in load_extensions() for method in extension.methods),
    "harness.api",
    "harness.api.running",
    "harness.cli.baseline",
    "harness.cli.run",
    "harness.cli.running",
    "harness.config.shape",
    "harness.statistics.compare",
    "harness.files.query_samples",
    "harness.pytest_plugin.fixture",
    "harness.pytest_plugin.items",
    "harness.pytest_plugin.summary",
    "harness.run",
    "harness.store.baseline_files",
    "harness.store.journal_lines",
    "harness.report.annotations",
    "harness.report.html",
    "harness.report.json",
    "harness.report.markdown",
    "harness.report.terminal.run",
    "harness.run.look_ups",
    "harness.run.sent_requests",
    "harness.search.client_object",
    "harness.search.engine",
    "harness.search.fixtures",
    "harness.search.http_service",
    "harness.search.transport",
    "harness.suites.judges",
    "harness.suites.loading",
    "harness.suites.requests",
    "rich._emoji_codes",
    "rich.progress",
    "scipy.optimize",
    "scipy.stats",
    "xdist.dsession",
):
    importlib.import_module(_name)
