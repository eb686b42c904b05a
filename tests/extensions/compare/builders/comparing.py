"""`relevance compare` as tests call it."""

from harness.cli import main
from harness.extensions.compare.outputs import loads_comparison


def compare(*words):
    """The exit status of a comparison."""
    return main(["compare", *words, "-q"])


def told(capsys, *words):
    """The exit status, and the comparison as JSON tells it."""
    status = compare(*words, "--json")
    return status, loads_comparison(capsys.readouterr().out)


def refused(capsys, *words):
    """The sentence that a wrong command ends with."""
    assert compare(*words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return " ".join(captured.err.split())
