"""What the tests of several commands share."""

import pytest

import harness.cli.running


@pytest.fixture
def stand_in(monkeypatch):
    """Takes the place of the pipeline: gives its *answer*, or raises it, and keeps what it was asked."""

    class StandIn:
        def __call__(self, paths, options, *, environ, progress, matrix, journal):
            self.paths, self.options, self.environ, self.progress = paths, options, environ, progress
            self.matrix = matrix
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer

    pipeline = StandIn()
    monkeypatch.setattr(harness.cli.running, "run_suites", pipeline)
    return pipeline
