"""The commands and their options, from what click knows of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache, partial

import click

from harness.cli import COMMAND_GROUPS, COMMANDS, root
from harness.options import Heading
from reference.markdown import mark_code, write_block, write_paragraph, write_table

HEADINGS = {Heading.DAILY: "option", Heading.TRUST: "about trust", Heading.RARE: "rarely needed"}

CONTEXT = click.Context(root, info_name="relevance", **root.context_settings)
"""As of a call: a command keeps the option for its help that it makes for the first context, such as -h."""


def write_list_of_commands() -> str:
    """All commands, each with what it does and a link to its options."""
    tables = []
    for title, commands in COMMAND_GROUPS.items():
        rows = [
            (f"[`relevance {name}`](#relevance-{name})", mark_code(sentence)) for name, sentence in commands.items()
        ]
        tables.append(write_table((title.lower(), "what it does"), rows))
    return "\n\n".join(tables)


def write_command(name: str) -> str:
    """What the help of a command says; of a group, the help of each of its commands under a heading."""
    command = root.get_command(CONTEXT, name)
    assert command is not None
    if not isinstance(command, click.Group):
        return describe_command(f"relevance {name}", command)
    sections = [write_paragraph(paragraph) for paragraph in split_paragraphs(command.help or "")]
    for word, subcommand in command.commands.items():
        full_name = f"relevance {name} {word}"
        sections.append(f"### {full_name}\n\n{describe_command(full_name, subcommand)}")
    return "\n\n".join(sections)


def describe_command(full_name: str, command: click.Command) -> str:
    """The help of a command as Markdown: its first sentence, usage, examples, the rest, and the options."""
    first, *others = split_paragraphs(command.help or "")
    usage = " ".join([full_name, *command.collect_usage_pieces(CONTEXT)]).strip()
    *notes, examples = split_paragraphs(command.epilog or "")
    parts = [
        write_paragraph(first),
        write_block("text", [usage]),
        write_block("console", [f"$ {line.strip()}" for line in examples.splitlines()[1:]]),
    ]
    parts.extend(write_paragraph(paragraph) for paragraph in others)
    parts.extend(write_block("text", note.splitlines()) for note in notes)
    parts.extend(describe_options(full_name, command))
    return "\n\n".join(parts)


def split_paragraphs(text: str) -> list[str]:
    """The paragraphs of a help, without click's mark above those that keep their line ends."""
    paragraphs = re.split(r"\n\n+", inspect.cleandoc(text).strip())
    return [paragraph.removeprefix("\b\n") for paragraph in paragraphs]


def list_options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def describe_options(full_name: str, command: click.Command) -> Iterator[str]:
    """A table of the options of a command, and a sentence with those that another command has too."""
    rows: dict[Heading, list[tuple[str, str]]] = {heading: [] for heading in Heading}
    shared: dict[str, list[str]] = {}
    for option in list_options(command):
        other_name = find_describing_commands()[make_key(option)]
        if other_name == full_name:
            heading = getattr(option, "heading", Heading.DAILY)
            rows[heading].append((f"`{spell_option(option)}`", describe_option(option)))
        else:
            shared.setdefault(other_name, []).append(f"`{max(option.opts, key=len)}`")
    for heading, table in rows.items():
        if table:
            yield write_table((HEADINGS[heading], "meaning"), table)
    sentences = []
    for other_name, names in shared.items():
        anchor = other_name.replace(" ", "-")
        sentences.append(f"As for [`{other_name}`](#{anchor}): {', '.join(names)}.")
    if sentences:
        yield write_paragraph(" ".join(sentences))


def make_key(option: click.Option) -> tuple[str, str]:
    """Two options of the same key are described once."""
    return spell_option(option), describe_option(option)


@cache
def find_describing_commands() -> dict[tuple[str, str], str]:
    """For each option the command that describes it: `relevance run`, else the first one that has it."""
    commands = {}
    for name in ["run", *COMMANDS]:
        command = root.get_command(CONTEXT, name)
        assert command is not None
        if isinstance(command, click.Group):
            for word, subcommand in command.commands.items():
                commands[f"relevance {name} {word}"] = subcommand
        else:
            commands[f"relevance {name}"] = command
    found: dict[tuple[str, str], str] = {}
    for full_name, command in commands.items():
        for option in list_options(command):
            found.setdefault(make_key(option), full_name)
    return found


def spell_option(option: click.Option) -> str:
    """
    How an option is written, with a word for its value.

    >>> spell_option(click.Option(["-p", "--port"], type=int))
    '-p, --port N'
    """
    names = ", ".join(sorted(option.opts, key=len))
    if option.is_flag:
        return names
    return f"{names} {option.metavar or name_value(option)}"


def name_value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return max(option.opts, key=len).removeprefix("--").upper()
    if isinstance(option.type, click.types.IntParamType):
        return "N"
    if isinstance(option.type, click.types.FloatParamType):
        return "NUMBER"
    if isinstance(option.type, click.Path):
        return "FILE"
    return option.type.name.upper()


def describe_option(option: click.Option) -> str:
    """The help of an option, its choices, its least value and its default."""
    sentences = [mark_code(" ".join((option.help or "").split()))]
    default = option.default if option.show_default is True else option.show_default or None
    if isinstance(option.type, click.Choice):
        choices = [f"`{choice}`" for choice in option.type.choices]
        sentences.append(f"One of {', '.join(choices)}.")
    if isinstance(option.type, click.IntRange | click.FloatRange) and (option.type.min or option.type.min_open):
        sentences.append(f"{'Above' if option.type.min_open else 'At least'} {option.type.min:g}.")
    if default is not None:
        sentences.append(f"Default: {mark_code(str(default))}.")
    if option.required:
        sentences.append("Required.")
    return " ".join(sentences)


PARTS = {
    "the commands": write_list_of_commands,
    **{f"relevance {name}": partial(write_command, name) for name in COMMANDS},
}
