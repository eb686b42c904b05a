"""The pipeline's sentences in pytest: options have the plugin's names, and nothing else changes."""

import pytest

from harness.cli.options import _ENGINE_OPTIONS
from harness.errors import UsageError
from harness.model import Engine, Outcome, Profile, QueryReport, Status, SuiteReport, Verdict
from harness.options import RunOptions
from harness.pytest_plugin.runs import OPTIONS, Failed, SuiteRuns, in_pytest, reworded


@pytest.mark.parametrize(
    ("sentence", "here"),
    [
        ("give --url or --embedded, or", "give --relevance-url or --relevance-embedded, or"),
        ("`--embedded` needs none", "`--relevance-embedded` needs none"),
        ("say --allow-write (--relevance-allow-write in pytest)", "say --relevance-allow-write"),
        ("run `harness baseline save --tag head s.yaml`", "run `harness baseline save --tag head s.yaml`"),
        ("`docker compose up --wait` starts one", "`docker compose up --wait` starts one"),
        ("give --relevance-url", "give --relevance-url"),
        ("--url-prefix and x--url", "--url-prefix and x--url"),
    ],
)
def test_an_option_has_the_plugin_s_name(sentence, here):
    assert in_pytest(sentence) == here


def test_every_option_of_the_engine_is_known(pytestconfig):
    import click

    @click.command()
    def command():
        pass

    for option in _ENGINE_OPTIONS:
        command = option(command)
    names = {parameter.opts[0].removeprefix("--") for parameter in command.params}
    assert names <= set(OPTIONS)
    for name in OPTIONS:
        pytestconfig.getoption(f"relevance_{name.replace('-', '_')}")  # an error where there is none


def test_what_the_suite_says_itself_is_left_alone():
    own = Verdict("v", "hits >= 1", Status.XFAILED, "no hits; expected to fail: waits for --url", 0, 1)
    missing = Verdict("w", "hits >= 1", Status.ERROR, "no answer: give --url")
    queries = (
        QueryReport("q", "--url", Outcome.ERROR, "refused: `--embedded` needs none"),
        QueryReport("r", "--url", Outcome.UNDEFINED, "--url"),
    )
    engine = Engine("elasticsearch", "9.4.3")
    report = SuiteReport(
        "s", "s.yaml", "r", "c", "i", engine, Profile.STANDARD, "linear", 10, (), (own, missing), queries
    )
    found = reworded(report)
    assert [verdict.reason for verdict in found.verdicts] == [own.reason, "no answer: give --relevance-url"]
    assert [query.reason for query in found.queries] == ["refused: `--relevance-embedded` needs none", "--url"]
    assert [query.text for query in found.queries] == ["--url", "--url"]


def test_an_error_of_the_run_is_reworded(tmp_path):
    def refuse(path, options, known):
        raise UsageError("give --url or --embedded")

    runs = SuiteRuns(refuse)
    with pytest.raises(Exception, match="give --relevance-url or --relevance-embedded"):
        runs.finished(tmp_path / "s.yaml", RunOptions())
    sentence = "give --relevance-url or --relevance-embedded"
    assert runs.all() == [Failed(str(tmp_path / "s.yaml"), sentence, sentence)]
