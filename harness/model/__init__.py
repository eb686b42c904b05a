"""
The values that modules pass to each other: frozen dataclasses.

They flow one way::

    Suite(queries, judgments, thresholds) -> SearchRequest -> Response -> Run -> Score -> Verdict -> Report

No module here reads YAML, sends HTTP requests or prints. `Report` is written as JSON and read back, so it holds only
plain values.
"""
