"""Commands and options whose help has headings: first what the daily use needs, then what is about trust or rare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from harness.options import Heading
from harness.words import did_you_mean, one_of

T = TypeVar("T", bound="Callable[..., Any] | click.Command")


class Option(click.Option):
    """An option that the help lists under a *heading*."""

    def __init__(self, *args: Any, heading: Heading = Heading.DAILY, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.heading = heading


def rare_option(*names: str, **attributes: Any) -> Callable[[T], T]:
    """As `click.option`, for an option that few need."""
    return click.option(*names, cls=Option, heading=Heading.RARE, **attributes)


class Command(click.Command):
    """A command whose help lists its options by their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does, with a section for each heading."""
        for heading in Heading:
            rows = []
            for parameter in self.get_params(ctx):
                if not isinstance(parameter, click.Option):
                    continue
                row = parameter.get_help_record(ctx)
                if row is not None and getattr(parameter, "heading", Heading.DAILY) is heading:
                    rows.append(row)
            if rows:
                with formatter.section(heading.value):
                    formatter.write_dl(rows)


class Group(click.Group):
    """A group of such commands, of which one may be meant where none is named, as in ``relevance history SUITE``."""

    command_class = Command

    def __init__(self, *args: Any, short_for: str | None = None, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.short_for = short_for

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names in the order in which they were added."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with the name of the command that is meant where none is named."""
        if self.short_for and args and args[0] not in self.list_commands(ctx) and args[0] not in ctx.help_option_names:
            args = [self.short_for, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; the error for an unknown name suggests the nearest known one."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            known = f"only {one_of(names)}{did_you_mean(args[0], names)}"
            ctx.fail(f"there is no command '{ctx.info_name} {args[0]}', {known}")
        return super().resolve_command(ctx, args)
