"""The options: which exclude each other, what the ini file may say, what the header shows."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--relevance-url=http://h:9200", "--relevance-embedded"], "--relevance-url and --relevance-embedded name"),
        (["--relevance-engine-version=2.19"], "give --relevance-embedded too"),
        (["--relevance-engine-version=2.19", "--relevance-url=http://h"], "give --relevance-embedded too"),
        (
            ["--relevance-report=report.pdf"],
            "--relevance-report report.pdf: the name of a report ends with .html, .codequality.json, .json, .md, .csv "
            "or .junit.xml",
        ),
        (
            ["--relevance-report=report"],
            "--relevance-report report: the name of a report ends with .html, ",
        ),
        (["--relevance-url=https://elastic:secret@h:9200"], "--relevance-url: a URL must not contain a login"),
        (["--relevance-url=elastic:secret@h:9200"], "--relevance-url: a URL must not contain a login"),
        (
            ["--relevance-url=http://h:9200/?api_key=secret"],
            "--relevance-url: the URL of a server must not have ? or #",
        ),
        (["--relevance-report=a\0.json"], "--relevance-report: found 'a?x00.json', expected the path of a file"),
        (["--relevance-baseline=a\0.json"], "--relevance-baseline: found 'a?x00.json', expected the path of a file"),
        (["--relevance-url=h:9200"], "--relevance-url: found 'h:9200', expected a URL with http:// or https://"),
        (["--relevance-url=http://[::1"], "--relevance-url: this is not a URL"),
    ],
)
def test_options_that_cannot_be_are_a_usage_error(pytester: pytest.Pytester, options: list[str], sentence: str) -> None:
    result = pytester.runpytest(*options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(f"ERROR: *{sentence}*")
    assert "secret" not in result.stderr.str() + result.stdout.str()
    assert "Traceback" not in result.stderr.str()


def test_a_report_may_not_be_a_folder(pytester: pytest.Pytester) -> None:
    pytester.mkdir("out.html")

    result = pytester.runpytest("--relevance-report", "out.html")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("ERROR: *out.html: is a folder*")


@pytest.mark.parametrize(
    ("options", "header"),
    [
        (["--relevance-url=http://h:9200"], "relevance: http://h:9200"),
        (["--relevance-embedded"], "relevance: embedded node"),
        (["--relevance-embedded", "--relevance-engine-version=2.19"], "relevance: embedded node 2.19"),
        (
            ["--relevance-tag=head", "--relevance-tag=tail", "--relevance-request=candidate"],
            "relevance: request candidate, tags head, tail",
        ),
        (["--relevance-query=shoes", "--relevance-query=boots"], "relevance: queries shoes, boots"),
        (
            ["--relevance-each-query", "--relevance-allow-write"],
            "relevance: an item for every query, may build indexes",
        ),
    ],
)
def test_the_header_says_what_was_asked_for(pytester: pytest.Pytester, options: list[str], header: str) -> None:
    result = pytester.runpytest(*options)

    assert result.ret == pytest.ExitCode.OK
    assert header in result.outlines


def test_without_options_there_is_no_header_line_and_no_summary(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest()

    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("relevance:*")
    result.stdout.no_fnmatch_line("*= relevance =*")


def test_the_ini_file_may_say_it_too(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        """
        [pytest]
        relevance_embedded = true
        relevance_engine_version = 2.19
        relevance_request = candidate
        relevance_each_query = true
        relevance_allow_write = true
        """
    )

    result = pytester.runpytest()

    assert (
        "relevance: embedded node 2.19, request candidate, an item for every query, may build indexes"
        in result.outlines
    )


def test_the_command_line_wins_over_the_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nrelevance_embedded = true\nrelevance_engine_version = 2.19\nrelevance_each_query = true\n"
    )

    result = pytester.runpytest("--relevance-url=http://h:9200", "--no-relevance-each-query")

    assert "relevance: http://h:9200" in result.outlines


def test_the_ini_file_may_not_name_two_servers(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrelevance_embedded = true\nrelevance_url = http://h:9200\n")

    result = pytester.runpytest()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("ERROR: relevance_url and relevance_embedded in the ini file exclude each other*")


def test_the_plugin_can_be_left_out(pytester: pytest.Pytester) -> None:
    pytester.makefile(".relevance.yaml", shop="suite: [")

    result = pytester.runpytest("-p", "no:relevance", "-W", "error")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1)


def test_the_help_names_every_option(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--help")

    options = (
        "url",
        "embedded",
        "engine-version",
        "request",
        "tag",
        "allow-write",
        "each-query",
        "report",
        "baseline",
        "update-baseline",
    )
    for option in options:
        result.stdout.fnmatch_lines(f"*--relevance-{option}*")
