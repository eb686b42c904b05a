"""Moves a sample in and out as a user does."""

import json
from pathlib import Path

from harness.cli import main
from harness.suites import load_suite
from harness.suites.requests import build_requests


def write_files(files, folder=Path()):
    """Writes *files*, name to text or JSON value."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((content if isinstance(content, str) else json.dumps(content)).encode())


def moved(kind, sources, *words, status=0, output="moved.relevance.yaml"):
    """Imports *sources*, as written by `write_files`, and loads the suite."""
    assert main(["import", kind, *sources, "--output", output, *words]) == status
    return load_suite(Path(output), {}, needs_judgments=False)


def exported(kind, suite="moved.relevance.yaml", output="back", status=None):
    """Exports a suite; *status* where it must be that of --strict."""
    words = ["export", kind, suite, "--output", output]
    assert main([*words, *(["--strict"] if status is not None else [])]) == (status or 0)
    return Path(output)


def judgments(suite):
    """Text, or the id where there is none, to document to grade."""
    return {query.text or query.id: dict(query.judgments) for query in suite.queries}


def bodies(suite):
    """The request of each query, filled, without its size."""
    return [{key: part for key, part in one.body.items() if key != "size"} for one in build_requests(suite, None)]
