"""The one table of options: what the command, the plugin and Python have is what it says."""

import doctest
from dataclasses import fields

import click
import pytest

from builders.commands import list_unknown_arguments
from builders.extension_cases import list_cases
from harness import options
from harness.api.choices import Options
from harness.cli import root, run
from harness.cli.exits import COMMAND
from harness.cli.headings import Command
from harness.errors import EntryPoint, UsageError
from harness.options import FLAG, OPTIONS, Commands, Heading, RunOptions, check_servers, read_seconds

COMMANDS_WITH = {
    Commands.WITH_A_SERVER: ("run", "baseline save"),
    Commands.OF_SUITES: ("run", "baseline save"),
    Commands.OF_CELLS: ("run", "baseline save"),
    Commands.RUN: ("run",),
}


def list_commands_with(option):
    """The commands that have an *option* of the table, by their words."""
    words = list(COMMANDS_WITH.get(option.commands, ()))
    for commands, added in list_cases("COMMANDS_WITH"):
        if commands is option.commands:
            words += added
    return words


def command_of(words):
    name, *others = words.split()
    command = root.get_command(None, name)
    return command.commands[others[0]] if others else command


def test_docstring_examples_hold():
    assert doctest.testmod(options).failed == 0


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_the_commands_have_what_the_table_says(option):
    for words in list_commands_with(option):
        [parameter] = [one for one in command_of(words).params if option.name.name_in(COMMAND) in one.opts]
        if words not in list_cases("OWN_HELP"):
            assert (parameter.help, parameter.is_flag) == (option.help, option.kind is FLAG)


def test_what_run_passes_on_unread_are_options_of_a_run():
    assert list_unknown_arguments(run.command) == set()


def list_commands(command):
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from list_commands(command.get_command(click.Context(command), name))
    else:
        yield command


def test_each_help_has_its_options_under_headings_and_those_about_trust_under_theirs():
    trusted = {option.name.name_in(COMMAND) for option in OPTIONS.values() if option.heading is Heading.TRUST}
    assert trusted == {"--config", "--variable", "--root", "--listed-addresses", "--allow-write"}
    for command in list_commands(root):
        assert isinstance(command, Command), command.name
        for option in command.params:
            if trusted.intersection(option.opts):
                assert option.heading is Heading.TRUST, f"{command.name} {option.name}"


@pytest.mark.parametrize("option", [one for one in OPTIONS.values() if one.pytest], ids=lambda one: one.field)
def test_the_plugin_has_what_the_table_says(option, pytestconfig):
    key = option.name.name_in(EntryPoint.PYTEST).removeprefix("--").replace("-", "_")
    pytestconfig.getoption(key)  # an error where there is none
    if option.ini:
        pytestconfig.getini(key)


def test_python_takes_what_the_table_says_and_types_say_the_same():
    assert {one.field for one in OPTIONS.values() if one.python} == set(Options.__annotations__)
    assert list(OPTIONS) == [one.name for one in fields(RunOptions)]
    assert all(one.help for one in OPTIONS.values())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"url": "http://a", "embedded": True}, "--url and --embedded name two engines; give one of them"),
        ({"cluster": "a", "client": object()}, "--cluster and --client name two engines; give one of them"),
        ({"engine_version": "3.8"}, "--engine-version chooses the version of the embedded engine; give --embedded too"),
    ],
)
def test_two_engines_are_refused(given, sentence):
    with pytest.raises(UsageError) as caught:
        check_servers(RunOptions(**given))
    assert caught.value.text(COMMAND) == sentence


@pytest.mark.parametrize("given", [{}, {"url": "http://a"}, {"embedded": True, "engine_version": "2.19"}])
def test_one_engine_or_the_suites_own_is_none_of_that(given):
    check_servers(RunOptions(**given))


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon", "", "1e400"])
def test_what_is_no_span_of_time_is_refused(text):
    with pytest.raises(UsageError, match=r"expected a number of seconds above 0"):
        read_seconds(text)


def test_a_span_of_time_is_read():
    assert read_seconds("2.5") == 2.5
