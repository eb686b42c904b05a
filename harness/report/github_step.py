"""A step of GitHub Actions: its repository, its summary, and the commands in its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import Problem, UsageError

if TYPE_CHECKING:
    from harness.model.report import Report
    from harness.report.annotations import Annotation


def is_in_github_actions(environ: Mapping[str, str]) -> bool:
    """Whether this process runs in a step of GitHub Actions, or of a system that imitates it."""
    return environ.get("GITHUB_ACTIONS") == "true"


def find_github_step(environ: Mapping[str, str], *, option: str, markdown: str) -> GitHubStep:
    """
    The step that this process runs in.

    Args:
        environ: Holds the variables of the runner.
        option: The option that needs the step, for the message.
        markdown: The option that writes a report as Markdown, for the message.

    Raises:
        UsageError: this is not a step of GitHub Actions, so nobody would see the output.
    """
    if not is_in_github_actions(environ):
        raise UsageError(
            f"{option} works only in GitHub Actions, and GITHUB_ACTIONS is not set: remove it; {markdown} writes a "
            "report in Markdown"
        )
    if not environ.get("GITHUB_STEP_SUMMARY"):
        raise UsageError(
            f"{option}: GITHUB_STEP_SUMMARY is not set, so there is no job summary: pass the variable to the "
            "container, or to the shell of the other user"
        )
    return GitHubStep(Path(environ.get("GITHUB_WORKSPACE") or "."), Path(environ["GITHUB_STEP_SUMMARY"]))


@dataclass(frozen=True, slots=True)
class GitHubStep:
    """*repository* is its root folder, *summary* the file that GitHub shows as the step's part of the job's summary."""

    repository: Path
    summary: Path

    def annotations(self, report: Report) -> list[str]:
        """The lines to print for what does not hold in *report*."""
        from harness.report.annotations import annotate_report

        return self._commands(annotate_report(report))

    def problems(self, problems: Sequence[Problem]) -> list[str]:
        """The lines to print for problems in files."""
        from harness.report.annotations import annotate_problems

        return self._commands(annotate_problems(problems))

    def summarize(self, report: Report) -> None:
        """
        Add *report* to the summary.

        Raises:
            UsageError: it could not be written.
        """
        from harness.report.markdown import render

        self._append(render(report, limit=self._measure_room()))

    def summarize_refusal(self, sentences: str) -> None:
        """Add to the summary why nothing was decided; raises as `summarize`."""
        from harness.report.markdown import render_refusal

        self._append(render_refusal(sentences))

    def _commands(self, annotations: Sequence[Annotation]) -> list[str]:
        """The workflow commands of *annotations*, a line each."""
        from harness.report.annotations import format_workflow_commands

        return list(format_workflow_commands(annotations, self.repository))

    def _measure_room(self) -> int:
        """The bytes that GitHub still shows: what other commands of the step wrote counts towards its limit."""
        from harness.report.markdown.escape import LARGEST_SUMMARY

        used = self.summary.stat().st_size if self.summary.exists() else 0
        return LARGEST_SUMMARY - used - 1

    def _append(self, text: str) -> None:
        """Add *text* to the summary; raises as `summarize`."""
        try:
            if len(text.encode()) > self._measure_room():
                raise UsageError(f"{self.summary}: the job summary of this step is full")
            with self.summary.open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"\n{text}" if file.tell() else text)
        except OSError as error:
            raise UsageError(f"{self.summary}: the job's summary could not be written: {error.strerror}") from None


@contextmanager
def stop_commands(print_line: Callable[[str], None]) -> Iterator[None]:
    """
    Stop GitHub's runner from executing workflow commands in what is printed meanwhile.

    Reports hold text from indexes, and a title that reads like a command would be executed. *print_line* prints the
    two commands that begin and end this.
    """
    import secrets

    token = secrets.token_hex(16)
    print_line(f"::stop-commands::{token}")
    try:
        yield
    finally:
        print_line(f"::{token}::")
