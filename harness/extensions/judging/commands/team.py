"""``relevance judge --serve``: several judges at the same time, each through a personal link."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from harness.cli.exits import INTERRUPTED
from harness.extensions.judging.server import JudgingServer
from harness.extensions.judging.server.access import AccessFile, build_access_path
from harness.extensions.judging.server.addresses import Address, parse_address
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import JudgeView
from harness.extensions.judging.targets import GradeTarget
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile
from harness.report.sentences import make_loggable
from harness.words import count


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the page of *suite* is served, and to whom; grades are in *folder*, beside the suite where it is None."""

    suite: Path
    folder: Path | None
    address: Address
    judges: tuple[str, ...]
    """All of them, with the one who settles."""
    settler: str | None
    overlap: int | None
    keep_links: bool
    roots: Sequence[str] = ()
    """The folders that the file with the links may be in; *folder* where that is not None."""

    @property
    def access(self) -> BesideFile:
        """The file with the links."""
        return BesideFile(build_access_path(self.suite, self.folder), self.roots)

    def describe_writing(self, *, has_settled: bool) -> str:
        """The command that writes the grades; *has_settled* says whether the judge who settles has graded anything."""
        words = ["relevance judge", str(self.suite)]
        if self.folder is not None:
            words += ["--progress", str(self.folder)]
        if has_settled:
            words += ["--judge", str(self.settler), "--settle"]
        return f"{' '.join(words)} --write"

    def check_links(self) -> None:
        """
        Check that the links of the last start can be kept, where that is asked for.

        Raises:
            FormatError: Their file is none that counts.
        """
        if self.keep_links:
            AccessFile.read(self.access)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of the command for several judges, as they were given."""

    judges: tuple[str, ...]
    serve: str | None
    public_url: str | None
    overlap: int | None
    settler: str | None
    keep_links: bool

    def check_unused(self, *, names_may_repeat: bool) -> None:
        """
        Check that no option is given that needs ``--serve``, which several judges do unless *names_may_repeat*.

        Raises:
            click.UsageError: One is.
        """
        given = {
            "--public-url": self.public_url is not None,
            "--overlap": self.overlap is not None,
            # Of kept grades it says who had seen those of others.
            "--settler": self.settler is not None and not names_may_repeat,
            "--keep-links": self.keep_links,
            "more than one --judge": len(self.judges) > 1 and not names_may_repeat,
        }
        for name, is_given in given.items():
            if is_given:
                raise click.UsageError(f"{name} needs --serve HOST:PORT, such as 127.0.0.1:8000")

    def parse(self, suite: Path, folder: Path | None, port: int, roots: Sequence[str] = ()) -> Serving:
        """
        Where the page of *suite* is served, and to whom.

        Args:
            suite: The suite.
            folder: Where grades are kept; None for the folder of the suite.
            port: That of ``--port``, 0 if it is not given.
            roots: The folders that files beside the suite may be in.

        Raises:
            UsageError: An option asks for what cannot be.
        """
        if port:
            raise click.UsageError("--serve names the port already; remove --port")
        if not self.judges:
            raise click.UsageError("--serve needs --judge NAME for each judge, such as --judge anna --judge ben")
        for name in self.judges:
            if self.judges.count(name) > 1:
                raise click.UsageError(f"found --judge {name} twice, expected each judge once")
        if self.settler in self.judges:
            why = f"{self.settler} decides what the others grade differently, and grades nothing else"
            raise click.UsageError(f"{why}; remove --judge {self.settler}")
        if self.overlap is not None and self.overlap > len(self.judges):
            raise click.UsageError(
                f"found --overlap {self.overlap}, expected at most {len(self.judges)}, the number of --judge"
            )
        if self.settler is not None and (self.overlap or len(self.judges)) < 2:
            raise click.UsageError("--settler has nothing to decide unless two judges grade each document")
        judges = self.judges if self.settler is None else (*self.judges, self.settler)
        return Serving(
            suite=suite,
            folder=folder,
            address=parse_address(self.serve or "", self.public_url),
            judges=judges,
            settler=self.settler,
            overlap=self.overlap,
            keep_links=self.keep_links,
            roots=roots,
        )


def revoke_links(file: BesideFile, names: Sequence[str]) -> int:
    """End the links of the judges *names* in *file*; a page that is served sees it with the next request."""
    access = AccessFile.read(file)
    for name in names:
        access.revoke(name)
        click.echo(make_loggable(f"the link of {name} does not hold any more"))
    return 0


def serve_judges(
    views: Mapping[str, JudgeView], absent: Mapping[str, JudgeFile], target: GradeTarget, serving: Serving
) -> int:
    """
    Serve *views* until Ctrl-C, and print a link for each judge.

    Args:
        views: What each judge sees, by name.
        absent: The files of judges who are not served.
        target: Where the judge who settles writes the grades.
        serving: Where the page is served.
    """
    file = serving.access
    access = AccessFile.read(file) if serving.keep_links else AccessFile.start_anew(file)
    judges = ServedJudges.from_views(views, serving.settler, absent)
    server = JudgingServer(judges, access, target, serving.address, tell=_print_sentence)
    server.start()
    try:
        tokens = access.grant(serving.judges)
        task = next(iter(views.values())).task
        documents = count(len(task.documents), "document")
        click.echo(f"{documents} to judge on {server.address.url}; Ctrl-C ends, and all grades are kept")
        for name, view in views.items():
            link = "the link from before"
            if name in tokens:
                link = server.address.build_link(tokens[name])
            click.echo(make_loggable(f"{_describe_share(view, serving.settler)}: {link}"))
        wait_for_interrupt()
    except KeyboardInterrupt:
        for judge in judges.by_name.values():
            click.echo(make_loggable(_describe_graded(judge.view)), err=True)
        has_settled = serving.settler is not None and bool(views[serving.settler].file.grades)
        command = serving.describe_writing(has_settled=has_settled)
        click.echo(make_loggable(f"nothing more was written to the suite; {command} writes the grades"), err=True)
        return INTERRUPTED
    finally:
        server.close()
    return 0


def wait_for_interrupt() -> None:
    """Wait until Ctrl-C, which raises KeyboardInterrupt."""
    threading.Event().wait()


def _describe_share(view: JudgeView, settler: str | None) -> str:
    """What a judge is given, for the line of the link."""
    if view.judge == settler:
        return f"{view.judge} settles what the others grade differently, {len(view.documents):,} by now"
    return f"{view.judge} has {count(len(view.list_documents()), 'document')}, {view.graded_count:,} of them graded"


def _describe_graded(view: JudgeView) -> str:
    documents = count(len(view.list_documents()), "document")
    return f"{view.judge} graded {view.graded_count:,} of {documents}: {view.file.path}"


def _print_sentence(sentence: str) -> None:
    click.echo(make_loggable(sentence))
