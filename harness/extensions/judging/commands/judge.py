"""``relevance judge``: documents get grades, from one judge, from a team, or from a language model."""

from __future__ import annotations

import click

from harness.cli.headings import Group
from harness.extensions.judging.commands import agreement, machine, page, team, write


@click.group("judge", cls=Group, short_for="page")
def command() -> None:
    """
    Grade documents: on a page in the browser, alone or as a team, or by a language model.

    `relevance judge SUITE` is short for `relevance judge page SUITE`.
    """


command.add_command(page.command)
command.add_command(team.command)
command.add_command(team.revoke)
command.add_command(machine.command)
command.add_command(agreement.command)
command.add_command(write.command)
